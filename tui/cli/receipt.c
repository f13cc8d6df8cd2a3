/* `vitrine receipt`: what somebody's answer was about, and whether it is right, without asking anybody. */

#include "core/base/stop.h"
#include "core/base/utf8.h"
#include "core/session/ask/quiz.h"
#include "lessons/play.h"
#include "tui/cli/verbs.h"

static bool check(const Options *o, const Link *l, Err *err)
{
    Receipt r;
    (void)l;
    if (o->word_count < 2)
        return err_set(err, "which receipt? vitrine receipt v1-…");
    return receipt_read(&r, o->word[1], err);
}

static void put_right(Work *w, const Quiz *q, int given)
{
    if (q->right < 0)
        buf_puts(&w->out, "right     no one of them: two answers have the same value\n");
    else if (given - 1 == q->right)
        buf_puts(&w->out, "right     yes\n");
    else
        buf_printf(&w->out, "right     no: %s\n", q->answer[q->right]);
}

/* The words of a question that was asked on the spot. */
static bool words(Work *w, const Receipt *r, Err *err)
{
    const Options *o = w->options;
    const char *last = o->word[o->word_count - 1]; /* "least=EXPRESSION", where the question was asked so */
    bool keyed = o->word_count > 5 && quiz_is_key(last);
    Quiz q;
    if (!quiz_ask(&q, o->word[2], o->word + 3, o->word_count - 3 - keyed, keyed ? last : "", err))
        return false;
    if (q.seed != r->seed)
        return err_set(err, "the receipt is for another question than \"%.100s\"", o->word[2]);
    if (r->answer < 1 || r->answer > q.count)
        return err_set(err, "that question has no answer %d", r->answer);
    buf_printf(&w->out, "question  %s\nanswer    %d: %s\n", q.text, r->answer, q.answer[r->answer - 1]);
    if (keyed && !quiz_settle(&q, &w->session, err))
        return false;
    if (keyed)
        put_right(w, &q, r->answer);
    return true;
}

/* ---- a card's question: its seed is that of its words, and the card says which run it is about ---- */

static uint32_t seed_of(const Question *q)
{
    const char *answer[QUIZ_ANSWERS];
    if (q->kind != QUESTION_CHOICE || q->count > QUIZ_ANSWERS)
        return 0;
    for (int i = 0; i < q->count; i++)
        answer[i] = q->choices[i].text;
    return quiz_seed(q->text, answer, q->count);
}

/* The lesson and card that ask it; numbers that are live in the words make it another question, which is not found. */
static bool find_card(const Receipt *r, Lesson *l, int *card, Err *err)
{
    LessonFile f;
    for (int i = 0; lesson_at(i, &f); i++) {
        *l = (Lesson){0};
        if (!lesson_parse(l, f.name, f.text, f.size, 0, err)) {
            lesson_free(l);
            return false;
        }
        for (*card = 0; *card < l->count; ++*card)
            if (l->cards[*card].question && seed_of(l->cards[*card].question) == r->seed)
                return true;
        lesson_free(l);
    }
    return false;
}

/* The card is entered again, as everybody saw it. */
static int of_card(Work *w, const Receipt *r, Lesson *l, int card, Err *err)
{
    Player p;
    uint64_t hash = 0;
    int status = STATUS_BAD;
    bool ok = player_open(&p, &w->session, l, err) && player_enter(&p, card, err); /* it asks before its pauses */
    ok = ok && work_complete(w, err);
    if (ok && !session_hash(&w->session, SIDE_B, &hash))
        ok = err_set(err, "this run has no trace hash");
    if (ok) {
        const Question *q = p.lesson.cards[card].question;
        bool known = r->answer >= 1 && r->answer <= q->count;
        const Choice *c = &q->choices[known ? r->answer - 1 : 0];
        status = hash == r->hash && known ? STATUS_DONE : STATUS_NO;
        buf_printf(&w->out, "about     %s, card %d; trace hash %016llx: %s\nquestion  %s\n", p.lesson.file, card + 1,
                   (unsigned long long)r->hash, hash == r->hash ? "its run" : "another run than the card's", q->text);
        if (known)
            buf_printf(&w->out, "answer    %d: %s\nright     %s%s\n", r->answer, c->text,
                       c->right ? "yes" : "no: ", c->right ? "" : c->why);
        if (!known)
            err_set(err, "that question has no answer %d", r->answer);
        else if (hash != r->hash)
            err_set(err, "the answer was given about another run than this card's (%016llx)", (unsigned long long)hash);
    }
    player_close(&p);
    return status;
}

/* Goes through the cards of a lesson, with their pauses, until one shows the receipt's run: the session stays there. */
static bool card_shows(Work *w, const Receipt *r, Player *p, Err *err)
{
    uint64_t hash;
    for (int card = 0; card < p->lesson.count; card++) {
        bool there = player_enter(p, card, err);
        while (there) {
            if (!work_complete(w, err))
                return false;
            if (session_hash(&w->session, SIDE_B, &hash) && hash == r->hash)
                return true;
            there = player_on(p, err);
        }
    }
    return false;
}

/* A question asked on the spot in front of a lesson is about what its card shows: a worked example, or a change. The
 * player stays open where true. */
static bool find_shown(Work *w, const Receipt *r, Player *p, Err *err)
{
    LessonFile f;
    for (int i = 0; lesson_at(i, &f); i++) {
        Lesson l = {0};
        Err ignored = {{0}};
        if (!lesson_parse(&l, f.name, f.text, f.size, 0, &ignored)) {
            lesson_free(&l);
            continue;
        }
        if (player_open(p, &w->session, &l, &ignored) && card_shows(w, r, p, &ignored))
            return true;
        player_close(p);
        if (stop_asked())
            return stop_refuse(err);
    }
    return false;
}

/* A question made from the trace is made again. */
static bool made(Work *w, const Receipt *r, Err *err)
{
    Quiz q;
    if (r->seed > QUIZ_MADE)
        return err_set(err, "the receipt is for a question that was asked on the spot: give its words and answers");
    if (!quiz_make(&w->session, r->seed, &q, err))
        return false;
    if (r->answer < 1 || r->answer > q.count)
        return err_set(err, "the question made from seed %u has no answer %d", r->seed, r->answer);
    buf_printf(&w->out, "question  %s\nanswer    %d: %s\n", q.text, r->answer, q.answer[r->answer - 1]);
    put_right(w, &q, r->answer);
    return true;
}

/* What was asked about the run on show, and what was answered. */
static int about(Work *w, const Receipt *r, const char *run, Err *err)
{
    buf_printf(&w->out, "receipt   well formed\nabout     trace hash %016llx: %s\n", (unsigned long long)r->hash, run);
    return (w->options->word_count > 2 ? words(w, r, err) : made(w, r, err)) ? STATUS_DONE : STATUS_NO;
}

/* No run was named, and #17 is not the one. */
static int about_shown(Work *w, const Receipt *r, Err *err)
{
    Player p;
    char run[160];
    if (!find_shown(w, r, &p, err))
        return *err->text ? STATUS_BAD : STATUS_NO;
    utf8_print(run, sizeof run, "what %.100s, card %d shows", p.lesson.file, p.card + 1);
    int status = about(w, r, run, err);
    player_close(&p);
    return status;
}

static int receipt(Work *w, Err *err)
{
    Receipt r;
    uint64_t hash;
    const Options *o = w->options;
    Lesson lesson;
    int card, status;
    *err = (Err){{0}};
    if (!receipt_read(&r, o->word[1], err) || !work_open(w, LINE_OWN, err))
        return STATUS_BAD;
    if (o->word_count == 2 && find_card(&r, &lesson, &card, err)) {
        buf_puts(&w->out, "receipt   well formed\n");
        return of_card(w, &r, &lesson, card, err);
    }
    if (*err->text || !work_complete(w, err))
        return STATUS_BAD;
    if (!session_hash(&w->session, SIDE_B, &hash)) {
        err_set(err, "this run has no trace hash");
        return STATUS_BAD;
    }
    if (hash == r.hash)
        return about(w, &r, "this run", err);
    if (!o->input && !o->model && !o->commands.len &&
        (status = about_shown(w, &r, err), status == STATUS_DONE || *err->text))
        return status;
    buf_printf(&w->out, "receipt   well formed\nabout     trace hash %016llx: another run than this one\n",
               (unsigned long long)r.hash);
    err_set(err,
            "the answer was given about another picture, model or edit: name them with -i, -m and -c (this run has "
            "%016llx)",
            (unsigned long long)hash);
    return STATUS_NO;
}

const Verb VERB_RECEIPT = {
    .name = "receipt",
    .usage = "receipt RECEIPT [QUESTION ANSWERS [least=EXPRESSION]] [-i INPUT] [-c COMMANDS]",
    .summary = "what an answer was, about which run, and whether it is right",
    .details = "A receipt holds the seed of a question, the number of the answer and the trace hash of the run it was "
               "about, in at most 60 characters. The run is made again: #17 without edits, or what -i, -m and -c say. "
               "A question that was made from the trace (ask seed=N) is made again too and graded; the words of one "
               "that was asked on the spot have to be given, with its most=, least= or right= where it had one. A "
               "question of a lesson's card is found by itself, and the card's run with it. It is no signature: "
               "anybody can write one who knows the answer.",
    .example = "vitrine receipt v1-00000007-2-1cc1e37e9104eb92-518e",
    .flags = VERB_ALONE,
    .check = check,
    .run = receipt};
