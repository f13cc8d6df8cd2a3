/* The numbers beside the river: what each tributary wrote, at its bar or with a line to it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/river.h"

enum {
    LINES_AWAY = 8 /* … of the river between a bar and its number */
};

/* Are they empty, and no word touches them? */
static bool blank(const Paint *p, int y, int x, int w)
{
    for (int i = -1; i <= w; i++) {
        const Cell *k = canvas_at(p->c, y, x + i);
        bool inside = i >= 0 && i < w;
        if ((inside && !k) || (k && k->ch > ' ' && (inside || k->ch < 0x7f || river_is_mark(p, k)))) /* no minus */
            return false;
    }
    return true;
}

static int by_size(const void *a, const void *b)
{
    const Tributary *x = *(const Tributary *const *)a, *y = *(const Tributary *const *)b;
    float p = fabsf(x->wrote), q = fabsf(y->wrote);
    return p != q ? (p > q ? -1 : 1) : (x > y) - (x < y);
}

int river_sorted(const River *r, const Tributary *to[RIVER_MOST])
{
    int n = 0;
    for (int i = 0; i < r->count; i++)
        if (r->at[i].number >= 0 || r->blocks)
            to[n++] = &r->at[i];
    qsort(to, (size_t)n, sizeof *to, by_size);
    return n;
}

/* From a value to its tributary, where nothing but the mark of its loss stands between them and no other value beside:
 * y of the value, `near` beside the water. */
static bool put_leader(const Paint *p, int x, int y, int near)
{
    const int by = y < near ? 1 : -1;
    for (int at = y + by; y != near && at != near + by; at += by)
        if (!river_is_mark(p, canvas_at(p->c, at, x)) && !blank(p, at, x, 1))
            return false;
    for (int at = y + by; y != near && at != near + by; at += by)
        if (!river_is_mark(p, canvas_at(p->c, at, x)))
            canvas_glyph(p->c, at, x, STYLE_DIM, p->c->ascii ? ':' : p->mode < MODE_256 ? 0x250a : 0x2502);
    return true;
}

/* Would a number over so many columns stand nearer to the bar of another part, which goes further? */
static bool crowded(const River *r, const Bed *b, const Tributary *t, int x, int w)
{
    const float sign = t->wrote > 0 ? 1 : -1;
    const float own = fmaxf(sign * t->before, 0) + sign * t->wrote;
    for (int i = 0; i < r->count; i++) {
        const Tributary *o = &r->at[i];
        const int column = river_column(r, b->r, i);
        if (o != t && sign * o->wrote > 0 && column >= x && column < x + w &&
            fmaxf(sign * o->before, 0) + sign * o->wrote > own)
            return true;
    }
    return false;
}

/* The number alone, without a name before it, is the part's value. */
static void put_number(const Paint *p, const River *r, const Tributary *t, int y, int x, const char *text)
{
    const char *blank_at = strchr(text, ' ');
    const int w = (int)strlen(text), name = blank_at ? (int)(blank_at - text) + 1 : 0;
    canvas_text(p->c, y, x, w, STYLE_TEXT, text);
    canvas_ref(p->c, y, x + name, w - name, river_ref(r->v, t->node, t->cell));
}

/* Beyond the bed from its bar, under which is water down to it: where only that is free, and a name says whose. */
static void put_across(const Paint *p, const River *r, const Bed *b, const Tributary *t, const char *text)
{
    const int w = (int)strlen(text), bed = b->r.y + b->r.h - 1 - b->zero / RIVER_PARTS,
              y = bed + (t->wrote > 0 ? 1 : -1), left = river_column(r, b->r, (int)(t - r->at)),
              last = b->r.x + b->r.w - w, x = left - w / 2 < last ? left - w / 2 : last;
    if (strchr(text, ' ') && x >= b->r.x && y >= b->r.y - 1 && y <= b->r.y + b->r.h && blank(p, y, x, w))
        put_number(p, r, t, y, x, text);
}

/* Straight over or under its bar, or lines from there with a line to it; where that is nowhere free aside, if the line
 * says whose it is. y of the nearest line. False: nowhere. */
static bool put_value(const Paint *p, const River *r, const Bed *b, const Tributary *t, int near, const char *text)
{
    const int w = (int)strlen(text), left = river_column(r, b->r, (int)(t - r->at)),
              middle = left + river_own(r, t) / 2,
              over = r->wide / 2 < w / 2 ? (r->wide - 1) / 2 : w / 2; /* further it stood over another's bar */
    const bool faint = fabsf(t->wrote) * b->scale < RIVER_PARTS / 2 &&
                       w > r->wide;        /* no bar to tell whose without a line */
    const int beside = !strchr(text, ' '); /* without a name it is taken for that of a taller bar that it touches */
    enum { OVER, ENDS_OVER, ASIDE };
    for (int way = OVER; way <= ASIDE; way++) {
        const int aside = way == ASIDE;
        if (way == ENDS_OVER) { /* over the last of its digits, beside a taller bar */
            const int x = t->before * t->wrote >= 0 ? middle - w + 1 : middle;
            if (r->wide > 1 || (faint && beside) || x < b->r.x || near < b->r.y - 1 || near > b->r.y + b->r.h ||
                !blank(p, near, x, w) || crowded(r, b, t, x - beside, w + 2 * beside))
                continue;
            put_number(p, r, t, near, x, text);
            return true;
        }
        const int end = t->wrote > 0 ? near + 1 : near - 1; /* a name says whose it is beside the bar's end, too */
        if (aside && strchr(text, ' ') && left - w >= b->r.x && blank(p, end, left - w, w)) {
            put_number(p, r, t, end, left - w, text);
            return true;
        }
        for (int k = 0, places = 2 * (aside ? w / 2 : over) + 1; k < places * LINES_AWAY; k++) {
            const int at = k % places, x = middle - w / 2 + (at % 2 ? -(at + 1) / 2 : at / 2),
                      away = k / places + 2 * aside, y = t->wrote > 0 ? near - away : near + away;
            if (x < b->r.x || y < b->r.y - 1 || y > b->r.y + b->r.h ||
                ((faint || (r->wide == 1 && crowded(r, b, t, x - beside, w + 2 * beside))) && !away) ||
                !blank(p, y, x, w) || !put_leader(p, middle, y, near))
                continue;
            put_number(p, r, t, y, x, text);
            return true;
        }
    }
    return false;
}

/* Where the end has no column for it, and a step's number would be read as the level there: over its end. */
static void put_end(const Paint *p, const River *r, const Bed *b)
{
    char text[16];
    number_text(text, sizeof text, r->end, 7);
    const int w = (int)strlen(text), x = b->r.x + b->r.w - w, level = river_level(b, r->end),
              y = b->r.y +
                  (r->end < 0 ? b->r.h - level / RIVER_PARTS : b->r.h - (level + RIVER_PARTS - 1) / RIVER_PARTS - 1);
    if (y < b->r.y - 1 || y > b->r.y + b->r.h || !blank(p, y, x, w))
        return;
    canvas_text(p->c, y, x, w, STYLE_STRONG, text);
    canvas_ref(p->c, y, x, w, river_ref(r->v, r->v->l->value, 0));
}

/* What is lost without the part that most is lost without, where that goes further than what any wrote: beside the end
 * of its bar; of a mark over or under it, or a column right of it: left it stood over the mark of another. */
static void put_lost(const Paint *p, const River *r, const Bed *b)
{
    const Tributary *most = NULL;
    float wrote = 0;
    for (int i = 0; i < r->count; i++) {
        const Tributary *t = &r->at[i];
        wrote = fmaxf(wrote, fabsf(t->wrote));
        if (!isnan(t->lost) && (!most || fabsf(t->lost) > fabsf(most->lost)))
            most = t;
    }
    if (!most || fabsf(most->lost) <= wrote || (r->wide == 1 && b->r.w < RIVER_MARKED))
        return;
    char text[24], number[16];
    number_text(number, sizeof number, most->lost, 6);
    utf8_print(text, sizeof text, r->wide == 1 ? "lost %s" : "%s", number); /* its mark is white, as written ones are */
    const bool up = most->lost > 0;
    const float from = up ? fmaxf(most->before, 0) : fminf(most->before, 0);
    const bool mark = r->wide == 1;
    const int w = (int)strlen(text), level = river_level(b, from + most->lost),
              y = b->r.y + b->r.h - 1 - (level - up) / RIVER_PARTS,
              bar = river_column(r, b->r, (int)(most - r->at)) + (mark ? 0 : river_own(r, most)),
              x[] = {mark ? bar - w / 2 : bar - w, mark ? bar + 2 : bar + 1};
    for (int k = 0; k < 2; k++) {
        const int line = !mark || k ? y : up ? y - 1 : y + 1;
        if (x[k] >= b->r.x && line >= b->r.y - 1 && line <= b->r.y + b->r.h && blank(p, line, x[k], w)) {
            canvas_text(p->c, line, x[k], w, STYLE_DIM, text);
            return;
        }
    }
}

/* After the largest that of the cursor, before others take the room beside it. */
static void here_second(const River *r, const Tributary *in[], int n)
{
    int at = 1;
    while (at < n && !river_is_here(r, in[at]))
        at++;
    if (at >= n)
        return;
    const Tributary *here = in[at];
    memmove(in + 2, in + 1, (size_t)(at - 1) * sizeof *in);
    in[1] = here;
}

/* What each wrote: the largest first; of those that are hardly to be seen that of the cursor. */
void river_put_values(const Paint *p, const River *r, const Bed *b)
{
    const Tributary *in[RIVER_MOST];
    const bool named = r->wide <= 2 && b->r.w < RIVER_MARKED && !r->blocks;
    if (named)
        put_end(p, r, b);
    const int n = river_sorted(r, in);
    here_second(r, in, n);
    for (int i = 0; i < n; i++) {
        const Tributary *t = in[i];
        char text[32];
        river_wrote_text(r, t, named, text);
        float up = fmaxf(t->before, 0) + fmaxf(t->wrote, 0), down = fminf(t->before, 0) + fminf(t->wrote, 0);
        const int over = b->r.h - (river_level(b, up) + RIVER_PARTS - 1) / RIVER_PARTS - 1,
                  under = b->r.h - river_level(b, down) / RIVER_PARTS;
        if (fabsf(t->wrote) * b->scale < (river_is_here(r, t) ? 1 : RIVER_PARTS / 2))
            continue;
        if (!put_value(p, r, b, t, b->r.y + (t->wrote > 0 ? over : under), text) && i == 0)
            put_across(p, r, b, t, text);
    }
    put_lost(p, r, b);
}
