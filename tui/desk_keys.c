/* The keys of a lesson. */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "core/session/ask/ask.h"
#include "lessons/check.h"
#include "lessons/layout.h"
#include "tui/desk_parts.h"

bool desk_next_lesson(const Desk *d, LessonFile *out)
{
    int number = d->player.lesson.number;
    return d->bundled && (*d->from ? lesson_named(d->from, out) : number >= 0 && lesson_by_number(number + 1, out));
}

/* Was it not right, or not at the first try? */
static bool wants_another_look(const Player *p, int card)
{
    const Answer *a = &p->answers[card];
    return p->lesson.cards[card].question && (!a->right || a->missed || a->skipped);
}

/* Behind the last card: what was answered, what to look at again, which lesson comes. */
static void say_end(const Desk *d, Buf *out)
{
    const Player *p = &d->player;
    enum { NAMED = 3 }; /* so many cards by their titles too */
    int asked = 0, right = 0, later = 0, wrong = 0, again = 0, look = 0;
    for (int i = 0; i < p->lesson.count; i++) {
        const Answer *a = &p->answers[i];
        asked += p->lesson.cards[i].question != NULL;
        right += a->right;
        later += a->right && (a->missed || a->skipped);
        wrong += !a->right && (a->given || a->missed);
        look += wants_another_look(p, i);
    }
    buf_puts(out, "That was the last card. ");
    if (asked)
        buf_printf(out, "Of %d questions: %d right", asked, right);
    if (later)
        buf_printf(out, " (%d not at once)", later);
    if (wrong)
        buf_printf(out, ", %d wrong", wrong);
    if (asked > right + wrong)
        buf_printf(out, ", %d without an answer", asked - right - wrong);
    buf_puts(out, asked ? ". " : "");
    for (int i = 0; i < p->lesson.count; i++)
        if (wants_another_look(p, i)) {
            buf_printf(out, "%s%d", again++ ? ", " : "To look at again, cards: ", i + 1);
            if (look <= NAMED)
                buf_printf(out, " (%s)", p->lesson.cards[i].title);
        }
    LessonFile next;
    buf_puts(out, again ? ". " : "");
    for (int i = 0; 2 * right < asked && i < p->lesson.needs.count; i++)
        buf_printf(out, "%s%s%s", i ? ", " : "It builds on: ", p->lesson.needs.at[i].text,
                   i + 1 < p->lesson.needs.count ? "" : ". ");
    if (desk_next_lesson(d, &next))
        buf_printf(out, "Space: %slesson %d. ", *d->from ? "back to " : "", next.number);
    buf_puts(out, "q goes back to where you were.");
}

static bool turn(Desk *d, int by)
{
    int card = d->player.card + by;
    if (*d->then && card != d->again) {
        if (by > 0)
            desk_open_next(d, d->then);
        return true;
    }
    LessonFile next;
    if (by > 0 && d->ended && desk_next_lesson(d, &next)) {
        desk_open_next(d, next.name);
        return true;
    }
    if (card < 0 || card >= d->player.lesson.count) {
        desk_clear_said(d);
        d->ended = card > 0;
        if (card < 0)
            buf_puts(&d->said, "This is the first card. Space goes on; q leaves the lesson.");
        else
            say_end(d, &d->said);
        d->front = true;
        d->first = INT_MAX;
        return true;
    }
    desk_go(d, card);
    desk_keep_progress(d);
    return true;
}

/* What came back waits for its answer too. */
bool desk_awaits(const Desk *d)
{
    const Answer *a = &d->player.answers[d->player.card];
    return player_awaits(&d->player) || (*d->then && !a->given && !a->skipped);
}

/* Tells what is right before the card is left: no question that was skipped or answered wrong stays open. */
static bool settles(Desk *d)
{
    Err err = {{0}};
    if (!player_owes(&d->player))
        return false;
    desk_clear_said(d);
    if (!player_settle(&d->player, &d->said, &err)) {
        buf_puts(&d->said, err.text);
        d->wrong = true;
    }
    desk_untried(d);
    desk_keep_progress(d);
    d->first = INT_MAX;
    return d->front = true;
}

/* The card's next page, past its next pause, what is right where that was not found, to the next card. */
static bool go_on(Desk *d, bool skips, int height, int width)
{
    Player *p = &d->player;
    int page = desk_next_page(d, height, width);
    *d->typed = 0;
    if (page >= 0) {
        d->first = page;
        return true;
    }
    if (desk_takes_turns(height, width) && d->front && desk_has_screen(d) && !(skips && desk_awaits(d))) {
        d->front = false;
        return true;
    }
    if (desk_awaits(d) && !skips) {
        desk_clear_said(d);
        const Question *q = player_card(p)->question;
        bool act = q->kind == QUESTION_PLACE || q->kind == QUESTION_CHANGE;
        buf_puts(&d->said, q->predict ? "First say what you expect; n skips the question."
                           : act      ? "Try it first; n skips the task."
                                      : "Answer first; n skips the question.");
        d->first = INT_MAX; /* below the last page */
        return d->front = true;
    }
    if (desk_awaits(d))
        p->answers[p->card].skipped = true;
    if (!player_waits(p))
        return settles(d) || turn(d, 1);
    Err err = {{0}};
    desk_clear_said(d);
    if (!player_on(&d->player, &err)) {
        buf_puts(&d->said, err.text);
        d->wrong = d->front = true;
    }
    desk_untried(d);
    return true;
}

bool desk_stands(const Desk *d)
{
    const Question *q = player_card(&d->player)->question;
    const Answer *a = &d->player.answers[d->player.card];
    return q && (q->kind == QUESTION_CHOICE || q->kind == QUESTION_NUMBER) && !a->skipped && !a->told &&
           !(a->given && (a->right || q->predict));
}

static bool speaks_of(const Card *c, const char *key)
{
    for (int i = 0; i < c->item_count; i++)
        for (int k = 0; k < c->items[i].count; k++)
            if (c->items[i].spans[k].style == SPAN_CODE && strcmp(c->items[i].spans[k].text, key) == 0)
                return true;
    return false;
}

static bool answer_key(Desk *d, const char *key, Buf *command)
{
    const Question *q = player_card(&d->player)->question;
    bool digit = !key[1] && key[0] >= '0' && key[0] <= '9';
    bool begins = q && q->kind == QUESTION_NUMBER && /* ".4"; answered, the point plays the arithmetic again */
                  (strcmp(key, "-") == 0 || (desk_stands(d) && (strcmp(key, ".") == 0 || strcmp(key, "(") == 0 ||
                                                                (strcmp(key, "s") == 0 && /* sqrt(64) */
                                                                 !speaks_of(player_card(&d->player), key)))));
    if (!q || !(digit || begins))
        return false;
    if (q->kind == QUESTION_CHOICE && key[0] >= '1' && key[0] - '1' < q->count)
        buf_printf(command, "answer %s", key);
    else if (q->kind == QUESTION_NUMBER) {
        buf_printf(command, "prompt answer %s", key);
        d->first = INT_MAX; /* what is asked comes into sight */
    }
    return command->len > 0;
}

/* While a question stands a digit or a letter that is no answer to it does not act on what is shown: a letter moves
 * about in it at most, or is a key that the card speaks of. */
static bool stray(Desk *d, const char *key)
{
    static const char MOVES[] = "hjklHJKLt";
    const Card *c = player_card(&d->player);
    const Question *q = c->question;
    if (!desk_stands(d) || key[1] || !isalnum((unsigned char)*key) || strchr(MOVES, *key) || speaks_of(c, key))
        return false;
    desk_clear_said(d);
    buf_printf(&d->said, "%s is no answer here. ", key);
    if (q->kind == QUESTION_NUMBER)
        buf_puts(&d->said, "Type a number, such as 12 or -0.5, then Enter; n skips the question.");
    else
        buf_printf(&d->said, "Type a digit from 1 to %d; n skips the question.", q->count);
    d->first = INT_MAX;
    return d->front = true;
}

/* The card's words one after the other, then the page that has them all. */
static bool next_word(Desk *d, Buf *command)
{
    LaidTerm terms[LAID_TERMS];
    Laid laid;
    bool laid_out = card_lay(&d->player, CHECK_COLUMNS, &laid, NULL);
    int was = d->term, count = laid_out ? laid_terms(&laid, terms) : 0;
    desk_clear_said(d);
    if (was + 1 >= count) {
        buf_puts(command, "lesson help");
    } else {
        d->term = was + 1;
        d->front = true;
        ask_glossary(d->player.s, terms[d->term].word, &d->said, NULL);
        buf_printf(&d->said, "(word %d of %d; ? %s)", d->term + 1, count,
                   d->term + 1 < count ? "the next one" : "the keys of a lesson");
    }
    if (laid_out)
        laid_free(&laid);
    return true;
}

/* From what the reader went into, q and Backspace come back to the card's own screen first. */
static bool comes_back(const Desk *d, const char *key)
{
    return desk_is_away(d) && d->term < 0 && (strcmp(key, "q") == 0 || strcmp(key, "Backspace") == 0);
}

bool desk_key(Desk *d, const char *key, int width, int height, Buf *command)
{
    static const char *const ON[] = {"Space", "n", "PgDn"}, *const BACK[] = {"Backspace", "p", "PgUp"};
    bool turns = desk_takes_turns(height, width), leaves = d->leaving;
    d->leaving = false;
    if (comes_back(d, key)) {
        buf_puts(command, "back");
        return true;
    }
    if (*d->typed && strcmp(key, "Backspace") == 0) { /* what was typed is there again, without its last character */
        size_t n = strlen(d->typed);
        while (n > 1 && ((unsigned char)d->typed[n - 1] & 0xc0) == 0x80)
            n--;
        buf_printf(command, "prompt answer %.*s", (int)n - 1, d->typed);
        *d->typed = 0;
        return true;
    }
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(key, ON[i]) == 0)
            return go_on(d, i > 0, height, width);
        if (strcmp(key, BACK[i]) == 0) {
            bool at_first = d->first == 0;
            d->first = 0;
            return (at_first && d->player.card > 0) || desk_next_page(d, height, width) < 0 ? turn(d, -1) : true;
        }
    }
    if (strcmp(key, "Tab") == 0 && turns) {
        d->front = !d->front;
        return true;
    }
    if (strcmp(key, "!") == 0) {
        buf_puts(command, "hint");
        d->front = true;
        return true;
    }
    bool closes = strcmp(key, "q") == 0;
    if (d->term >= 0 && (closes || strcmp(key, "Esc") == 0)) { /* a word that ? explains is what is open */
        desk_clear_said(d);
        return true;
    }
    if (closes && *d->typed && desk_stands(d) && !leaves) { /* an answer is being worked at */
        static const char AGAIN[] = " q again leaves the lesson.";
        if (!strstr(buf_str(&d->said), AGAIN))
            buf_puts(&d->said, AGAIN);
        d->first = INT_MAX;
        return d->leaving = d->front = true;
    }
    if (closes) {
        buf_puts(command, "lesson close");
        return true;
    }
    if (strcmp(key, "?") == 0)
        return next_word(d, command);
    if (strcmp(key, "=") == 0) {
        buf_puts(command, "lesson numbers");
        return true;
    }
    if (strcmp(key, "N") == 0) {
        buf_puts(command, "lesson notes");
        return true;
    }
    const Question *q = player_card(&d->player)->question;
    bool digit = !key[1] && key[0] >= '0' && key[0] <= '9', later = digit && desk_next_page(d, height, width) >= 0;
    if (later) /* what is asked on a later page comes into sight; a choice that nobody has read is none */
        d->first = INT_MAX;
    if ((later && !(q && q->kind == QUESTION_NUMBER)) || answer_key(d, key, command) || stray(d, key))
        return d->front = true;
    if (turns && d->front &&
        (strcmp(key, "Enter") == 0 || strlen(key) == 1 || strcmp(key, "Up") == 0 || strcmp(key, "Down") == 0 ||
         strcmp(key, "Left") == 0 || strcmp(key, "Right") == 0) &&
        *key != ':' && *key != 't')
        d->front = false; /* what the key does can be seen */
    return false;
}
