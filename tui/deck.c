#include "tui/deck.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/session/command.h"
#include "core/session/state.h"
#include "lessons/layout.h"
#include "tui/aside.h"

/* was: the deck before; its lesson lets go of the model once this one is known to be sound. */
static bool open_lesson(Deck *d, Deck *was, Session *s, const char *which, bool file, Err *err)
{
    Lesson lesson = {0};
    LessonFile f;
    bool ok = file ? lesson_read(&lesson, which, 0, err)
                   : lesson_named(which, &f) && lesson_parse(&lesson, f.name, f.text, f.size, 0, err);
    if (!ok) {
        lesson_free(&lesson);
        return false;
    }
    deck_close(was);
    d->title = xstrdup(lesson.title);
    d->count = lesson.count;
    d->lesson = true;
    d->allowed = LINE_FOREIGN;
    if (player_open(&d->player, s, &lesson, err)) {
        d->player.hall = true;
        for (int i = 0; i < d->player.lesson.count; i++) /* nobody types an answer: the next card says what it is */
            d->player.answers[i].skipped = true;
        return true;
    }
    player_close(&d->player);
    return false;
}

static bool open_script(Deck *d, const char *which, bool file, Err *err)
{
    if (!(file ? script_read(&d->script, which, err) : demo_open(which, &d->script, err)))
        return false;
    d->title = xstrdup(d->script.title);
    d->count = d->script.count;
    d->allowed = (file ? LINE_REPLAY : LINE_FOREIGN) | COMMAND_UI;
    return true;
}

bool deck_open(Deck *d, Session *s, const char *which, Err *err)
{
    LessonFile f;
    bool file = file_exists(which) && !file_is_dir(which);
    Deck new = {.at = -1};
    bool ok;
    if (file && !(which = permit_read(s, which, err)))
        return false;
    if (file)
        ok = file_is(which, "md") ? open_lesson(&new, d, s, which, true, err) : open_script(&new, which, true, err);
    else if (lesson_named(which, &f))
        ok = open_lesson(&new, d, s, which, false, err);
    else if (demo_find(which, NULL))
        ok = open_script(&new, which, false, err);
    else
        ok = err_set(err,
                     "'%.200s' is no file here, no lesson and no demonstration; `vitrine lessons` and `vitrine demo` "
                     "list them",
                     which);
    if (!ok) {
        script_free(&new.script);
        free(new.title);
        return false;
    }
    deck_close(d);
    *d = new;
    d->open = true;
    d->which = xstrdup(which);
    d->count += *d->title != 0; /* the title step */
    d->kept = xcalloc((size_t)d->count, sizeof *d->kept);
    d->plays = xcalloc((size_t)d->count, sizeof *d->plays);
    return true;
}

void deck_close(Deck *d)
{
    if (d->open && d->lesson)
        player_close(&d->player);
    script_free(&d->script);
    for (int i = 0; i < d->count; i++)
        free(d->kept[i]);
    free(d->kept);
    free(d->plays);
    free(d->title);
    free(d->which);
    buf_free(&d->caption);
    buf_free(&d->notes);
    *d = (Deck){.at = -1};
}

bool deck_is_title(const Deck *d, int step)
{
    return d->open && step == 0 && *d->title;
}

/* Number of the step in its file, -1 for the title. */
static int in_file(const Deck *d, int step)
{
    return step - (*d->title != 0);
}

/* The card as text, a paragraph a line. */
static bool put_card(Deck *d, Err *err)
{
    enum { WIDE = 4000 };
    Laid laid;
    if (!card_lay(&d->player, WIDE, &laid, err))
        return false;
    laid_text(&laid, &d->caption);
    laid_free(&laid);
    return true;
}

static void put_notes(Deck *d, int i)
{
    buf_clear(&d->notes);
    if (i >= 0 && d->lesson)
        for (int k = 0; k < d->player.lesson.cards[i].notes.count; k++)
            buf_printf(&d->notes, "%s%s", k ? "\n" : "", d->player.lesson.cards[i].notes.at[k].text);
    else if (i >= 0)
        buf_puts(&d->notes, d->script.steps[i].notes);
}

static bool put_caption(Deck *d, Session *s, int i, Err *err)
{
    buf_clear(&d->caption);
    d->told = false;
    put_notes(d, i);
    if (i < 0)
        return true;
    if (d->lesson) {
        d->player.card = i;
        return put_card(d, err);
    }
    return script_caption(&d->script, i, s, &d->caption, err);
}

/* The commands of one step, from the state that the step before leads to. */
static bool enter_step(Deck *d, Session *s, const Commands *c, int step, Err *err)
{
    int i = in_file(d, step);
    if (step == 0 && !command_do(s, c, "pin off; reset edits", LINE_FOREIGN, err))
        return false;
    if (i >= 0 && d->lesson)
        return player_enter(&d->player, i, err);
    return i < 0 || script_run(&d->script, i, s, c, d->allowed, err);
}

static bool restore(Deck *d, Session *s, const Commands *c, int step, Err *err)
{
    char *now = aside_lines(s);
    int card = in_file(d, step);
    bool same = strcmp(now, d->kept[step]) == 0;
    free(now);
    if (!d->lesson || card < 0)
        return same || session_read(s, c, d->kept[step], LINE_REPLAY, err);
    if (same && d->player.card == card)
        return true;
    int pauses = step == d->at ? d->player.pause : 0;
    bool ok = player_enter(&d->player, card, err); /* a card is entered anew: the same comes of it */
    while (ok && pauses-- > 0)
        ok = player_on(&d->player, err);
    return ok;
}

bool deck_asked(Deck *d, Err *err)
{
    Card *c = &d->player.lesson.cards[d->player.card];
    Question *q = c->question;
    c->question = NULL;
    buf_clear(&d->caption);
    bool ok = put_card(d, err);
    c->question = q;
    return ok;
}

/* What the card asks, and below it what is right: the card's own words have been read. */
static bool tell_answer(Deck *d, Err *err)
{
    Buf text = {0};
    const Question *q = player_card(&d->player)->question;
    bool ok = d->told || !q || q->predict || player_answer(&d->player, &text, err), tells = ok && text.len;
    if (tells) {
        d->told = true;
        buf_clear(&d->caption);
        ok = player_text(&d->player, q->text, &d->caption, err);
        buf_printf(&d->caption, "\n%s", buf_str(&text));
    }
    buf_free(&text);
    return ok && tells;
}

bool deck_on(Deck *d, Session *s, Err *err)
{
    err->text[0] = 0;
    if (!d->open || !d->lesson || deck_is_title(d, d->at))
        return false;
    if (!player_waits(&d->player))
        return tell_answer(d, err);
    if (!player_on(&d->player, err))
        return false;
    free(d->kept[d->at]);
    d->kept[d->at] = aside_lines(s);
    buf_clear(&d->caption);
    return put_card(d, err); /* its live values */
}

bool deck_go(Deck *d, Session *s, const Commands *c, int step, Err *err)
{
    REQUIRE(d->open && step >= 0 && step < d->count);
    int from = step - d->plays[step];
    while (from >= 0 && !d->kept[from])
        from--;
    if (from >= 0 && !restore(d, s, c, from, err))
        return false;
    d->at = from;
    for (int i = from + 1; i <= step; i++) {
        if (!enter_step(d, s, c, i, err))
            return false;
        if (d->settle)
            d->settle(d->context, s, c);
        d->plays[i] = s->look.playing && !d->lesson;
        free(d->kept[i]);
        d->kept[i] = aside_lines(s);
        d->at = i;
    }
    return put_caption(d, s, in_file(d, step), err);
}

bool deck_return(Deck *d, Session *s, const Commands *c, Err *err)
{
    return d->at < 0 || restore(d, s, c, d->at, err);
}

void deck_label(const Deck *d, int step, Buf *out)
{
    int i = in_file(d, step);
    if (i < 0) {
        buf_printf(out, "Title: %s", d->title);
        return;
    }
    if (d->lesson) {
        buf_puts(out, d->player.lesson.cards[i].title);
        return;
    }
    const ScriptStep *s = &d->script.steps[i];
    const char *text = *s->caption.text ? s->caption.text : s->count ? s->commands[0].text : "";
    size_t n = strcspn(text, ".:{");
    buf_printf(out, "%.*s", (int)(n > 70 ? 70 : n), text);
}

double deck_seconds(const Deck *d, int step)
{
    int i = in_file(d, step);
    return i < 0 || d->lesson ? 0 : d->script.steps[i].seconds;
}

const Question *deck_question(const Deck *d)
{
    int i = d->open ? in_file(d, d->at) : -1;
    return i >= 0 && d->lesson ? d->player.lesson.cards[i].question : NULL;
}

bool deck_quiz(const Deck *d, Quiz *quiz, Err *err)
{
    const Question *q = deck_question(d);
    const char *word[QUIZ_ANSWERS + 1];
    Buf live[QUIZ_ANSWERS + 1] = {{0}}; /* numbers in it are evaluated */
    if (!q || q->kind != QUESTION_CHOICE)
        return err_set(err, q ? "this card has no answers to choose from, so the class can't give them: ask for hands"
                              : "ask what? " QUIZ_EXAMPLE);
    int count = q->count < QUIZ_ANSWERS ? q->count : QUIZ_ANSWERS;
    bool ok = true;
    for (int i = 0; ok && i <= count; i++) { /* the question behind its answers */
        const char *text = i < count ? q->choices[i].text : q->text;
        ok = player_text(&d->player, text, &live[i], err);
        word[i] = buf_str(&live[i]);
    }
    ok = ok && quiz_ask(quiz, word[count], word, count, "", err);
    for (int i = 0; i <= count; i++) {
        if (i < count && q->choices[i].right)
            quiz->right = i;
        buf_free(&live[i]);
    }
    return ok;
}
