/* Where the card goes, and its frame. */
#include <stdio.h>

#include "tui/desk_parts.h"

enum { BESIDE_WIDTH = 100, BESIDE_HEIGHT = 30 };

bool desk_beside(int h, int w)
{
    return w >= BESIDE_WIDTH && h >= BESIDE_HEIGHT;
}

/* The card has something to show: a command, or an example. */
bool desk_has_screen(const Desk *d)
{
    const Card *c = player_card(&d->player);
    return c->commands.count || c->show.count || c->picture.count;
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
    if (desk_beside(h, w))
        *card = rect_cut(screen, 'r', w >= 180 ? 60 : w >= 140 ? 50 : 42);
    else if (d->front)
        *card = rect_cut(screen, 'b', h);
}

static void keys_line(const Desk *d, bool wide, char *out, size_t n)
{
    const Question *q = player_card(&d->player)->question;
    char ask[32] = "";
    if (q && q->kind == QUESTION_CHOICE)
        snprintf(ask, sizeof ask, "1-%d answer  ", q->count);
    else if (q && q->kind == QUESTION_NUMBER)
        snprintf(ask, sizeof ask, "digits answer  ");
    bool hint = q && player_card(&d->player)->hints.count;
    snprintf(out, n, "%s%s%s⌫ back  %s? words  q leave", ask, hint ? "! hint  " : "",
             wide                 ? player_waits(&d->player) ? "Space: see it change  " : "Space on  "
             : desk_has_screen(d) ? "Space look  "
                                  : "Space on  ",
             wide ? "" : "Tab screen  ");
}

static CardSaid said_of(const Desk *d, bool wide, char *keys, size_t n)
{
    keys_line(d, wide, keys, n);
    return (CardSaid){buf_str(&d->said), d->right, d->wrong, keys, d->term};
}

bool desk_click(const Desk *d, int h, int w, int y, int x, Buf *command)
{
    Rect card, screen;
    char keys[120];
    desk_layout(d, h, w, &card, &screen);
    if (!rect_has(card, y, x))
        return false;
    CardSaid said = said_of(d, screen.h > 0, keys, sizeof keys);
    return card_click(card, &d->player, &said, y, x, command);
}

void desk_draw(const Desk *d, Canvas *c, Rect card, Rect screen)
{
    if (card.h > 0 && card.w > 0) {
        char keys[120];
        CardSaid said = said_of(d, screen.h > 0, keys, sizeof keys);
        card_draw(c, card, &d->player, &said);
    }
}
