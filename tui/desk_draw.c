/* Where the card goes, and its frame. */
#include <stdio.h>

#include "tui/desk_parts.h"

enum { BESIDE_WIDTH = 100, BESIDE_HEIGHT = 30, BELOW_WIDTH = 72, BELOW_HEIGHT = 22 };

bool desk_takes_turns(int h, int w)
{
    return w < BELOW_WIDTH || h < BELOW_HEIGHT;
}

/* The card has something to show: a command, or an example. */
bool desk_has_screen(const Desk *d)
{
    const Card *c = player_card(&d->player);
    return c->commands.count || c->show.count || c->picture.count;
}

bool desk_is_away(const Desk *d)
{
    return d->player.s->back_count > 0;
}

bool desk_shows_worked(const Desk *d)
{
    Address to;
    return d->open && player_shows(&d->player, &to);
}

void desk_layout(const Desk *d, int h, int w, Rect *card, Rect *screen)
{
    *screen = (Rect){0, 0, h, w};
    *card = (Rect){0, 0, 0, 0};
    if (!d->open)
        return;
    if (w >= BESIDE_WIDTH && h >= BESIDE_HEIGHT)
        *card = rect_cut(screen, 'r', w >= 180 ? 60 : w >= 140 ? 50 : 42);
    else if (!desk_takes_turns(h, w))
        *card = rect_cut(screen, 'b', desk_has_screen(d) ? h / 3 : h);
    else if (d->front)
        *card = rect_cut(screen, 'b', h);
}

/* What is said of the card in that rectangle; the line of its keys goes into `keys`. */
static CardSaid said_of(const Desk *d, Rect card, bool turns, char *keys, size_t n)
{
    const Player *p = &d->player;
    const Question *q = player_card(p)->question;
    CardSaid said = {.text = buf_str(&d->said),
                     .right = d->right,
                     .wrong = d->wrong,
                     .again = *d->then != 0,
                     .keys = "Space reads on  ⌫ back  ? words  q leave",
                     .term = d->term,
                     .first = d->first};
    bool more = card_next_page(card, p, &said) >= 0, asks = q && !more && !d->ended;
    char answer[24] = "";
    LessonFile next;
    if (asks && q->kind == QUESTION_CHOICE && desk_stands(d))
        snprintf(answer, sizeof answer, "1-%d answer  ", q->count);
    else if (asks && q->kind == QUESTION_NUMBER && desk_stands(d))
        snprintf(answer, sizeof answer, "0-9 answer  ");
    const char *space = more                          ? "Space reads on  "
                        : turns && desk_has_screen(d) ? "Space look  "
                        : desk_awaits(d)              ? "n skip  "
                        : player_waits(p)             ? "Space: see it change  "
                        : player_owes(p)              ? "Space: the answer  "
                        : d->ended && desk_next_lesson(d, &next)
                            ? *d->from ? "Space: back to the lesson  " : "Space: the next lesson  "
                        : d->ended ? "The end  t lessons  "
                                   : "Space on  ";
    const Answer *a = &p->answers[p->card];
    bool kept = q && q->predict && a->given, /* whether it was right is not told yet */
        hints = asks && a->hints < player_card(p)->hints.count && !a->right && !a->told && !kept; /* left, of use */
    snprintf(keys, n, "%s%s%s%s  %s? words  = numbers%s", answer, hints ? "! hint  " : "", space,
             desk_is_away(d) ? "q to the card"
             : *d->typed     ? "⌫ edit"
                             : "⌫ back",
             turns ? "Tab screen  " : "", desk_is_away(d) ? "" : "  q leave");
    said.keys = keys;
    return said;
}

bool desk_click(const Desk *d, int h, int w, int y, int x, Buf *command)
{
    Rect card, screen;
    char keys[160];
    desk_layout(d, h, w, &card, &screen);
    if (!rect_has(card, y, x))
        return false;
    CardSaid said = said_of(d, card, desk_takes_turns(h, w), keys, sizeof keys);
    return card_click(card, &d->player, &said, y, x, command);
}

int desk_next_page(const Desk *d, int h, int w)
{
    Rect card, screen;
    char keys[160];
    desk_layout(d, h, w, &card, &screen);
    CardSaid said = said_of(d, card, desk_takes_turns(h, w), keys, sizeof keys);
    return card.h ? card_next_page(card, &d->player, &said) : -1;
}

void desk_draw(const Desk *d, Canvas *c, Rect card)
{
    if (card.h > 0 && card.w > 0) {
        char keys[160];
        CardSaid said = said_of(d, card, desk_takes_turns(c->h, c->w), keys, sizeof keys);
        card_draw(c, card, &d->player, &said);
    }
}
