/* The tributaries of a ledger as a list, the largest first, each with a bar. */
#include <math.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/river.h"

enum { NAME = 20, NAME_SHORT = 15, BAR_LEAST = 8, BAR_MOST = 48 };

/* How far they reach to that side of zero. */
static float least_of(const Tributary *const in[], int n, int sign)
{
    float most = 0;
    for (int i = 0; i < n; i++)
        most = isfinite(in[i]->wrote) ? fmaxf(most, (float)sign * in[i]->wrote) : most;
    return most;
}

/* Bars of A and B are compared: one reach to either side of zero. */
static void reach_of(const LedgerView *v, float *low, float *high)
{
    *low = *high = 0;
    for (int side = SIDE_A; side <= SIDE_DIFF; side++) {
        River river;
        const Tributary *in[RIVER_MOST];
        const bool own = side == (int)v->side, twin = session_compares(v->s) && !v->less && side != SIDE_DIFF;
        if (!own && !twin)
            continue;
        const LedgerView of = ledger_view(v->s, (Side)side);
        if (!of.l || !river_of_all(&of, &river))
            continue;
        const int n = river_sorted(&river, in);
        *low = fmaxf(*low, least_of(in, n, -1));
        *high = fmaxf(*high, least_of(in, n, 1));
    }
}

/* Of what it wrote, in the river's colours; the number beside it has the Ref. */
static void put_bar(const Paint *p, const Tributary *t, Rect r, int left, float cells)
{
    if (!r.w || !isfinite(t->wrote))
        return;
    canvas_bar_around(p->c, r.y, r.x, left, r.w - left - 1, (double)(t->wrote * cells), STYLE_GOOD, STYLE_NEGATIVE,
                      (Ref){0});
    for (int x = r.x; x < r.x + r.w && p->mode >= MODE_256 && !p->c->ascii; x++) {
        Cell *k = canvas_at(p->c, r.y, x);
        if (k && k->ch > ' ')
            k->fg = river_colour(p, t->wrote);
    }
}

void river_name(const Graph *g, const LedgerEntry *e, int head, int room, Buf *out)
{
    const LedgerLine l = {.entry = e, .head = head};
    ledger_part_text(g, &l, out);
    for (int brief = 0; brief < 2 && head >= 0 && utf8_cells(buf_str(out)) > room; brief++) {
        char name[ATTENTION_NAME];
        session_attention_name(g, anatomy_of(g, graph_node(g, e->part)->path), name);
        const char *number = brief ? strchr(name, ' ') : NULL;
        buf_clear(out);
        buf_printf(out, "%s h%d", number ? number + 1 : name, head);
    }
}

static void put_name(const LedgerView *v, const Tributary *t, int room, Buf *out)
{
    river_name(v->g, t->e, t->head, room, out);
}

/* Columns of the longest: what it needs less than NAME is the bars'. */
static int longest_name(const LedgerView *v, const Tributary *const in[], int n)
{
    int most = NAME_SHORT - 1;
    for (int i = 0; i < n; i++) {
        Buf part = {0};
        put_name(v, in[i], NAME, &part);
        most = utf8_cells(buf_str(&part)) > most ? utf8_cells(buf_str(&part)) : most;
        buf_free(&part);
    }
    return most < NAME ? most : NAME;
}

void ledger_draw_largest(const Paint *p, const LedgerView *v, Rect r)
{
    River river;
    const Tributary *in[RIVER_MOST];
    Rect line = rect_cut(&r, 't', 1);
    if (!river_of_all(v, &river) || line.w < NAME_SHORT + LEDGER_WIDE)
        return;
    const int n = river_sorted(&river, in), full = line.w < NAME + LEDGER_WIDE ? line.w - LEDGER_WIDE : NAME,
              effect = line.w >= NAME + 2 * LEDGER_WIDE + 1 ? LEDGER_WIDE + 1 : 0, lost = v->measured ? effect : 0,
              both = session_compares(v->s) && !v->less ? effect : lost, /* of either side: bars begin alike */
        beside = LEDGER_WIDE + both + 3;                                 /* … of the bars */
    int name = full;
    if (full == NAME && r.w - full - beside < BAR_LEAST && r.w - longest_name(v, in, n) - beside >= BAR_LEAST)
        name = longest_name(v, in, n);
    canvas_text(p->c, line.y, line.x, name, STYLE_AXIS, "the largest");
    canvas_right(p->c, line.y, line.x + name, LEDGER_WIDE, STYLE_AXIS, v->less ? "A − B" : "wrote");
    canvas_right(p->c, line.y, line.x + name + LEDGER_WIDE, lost, STYLE_AXIS, lost ? "lost" : "");
    int here = ledger_here(v->s, v->side);
    const int numbers = name + beside;
    float low, high;
    reach_of(v, &low, &high);
    const int bar = r.w - numbers < BAR_LEAST || !(high + low > 0) ? 0
                    : r.w - numbers < BAR_MOST                     ? r.w - numbers
                                                                   : BAR_MOST,
              left = bar ? (int)((float)(bar - 1) * low / (high + low) + 0.5f) : 0;
    if (both) /* what stands beside them is not what they are of */
        canvas_text(p->c, line.y, line.x + numbers, bar, STYLE_AXIS, "wrote");
    int at = 0;
    while (at < n && in[at]->number != here)
        at++;
    for (int k = 0; k < n && r.h > 0; k++) {
        const int i = r.h == 1 && at < n && at > k ? at
                                                   : k; /* that of the cursor last, where it is smaller than those */
        Buf part = {0};
        line = rect_cut(&r, 't', 1);
        put_name(v, in[i], name, &part);
        Style style = in[i]->number == here ? STYLE_CURSOR : STYLE_TEXT;
        canvas_label(p->c, line.y, line.x, name, style, buf_str(&part));
        buf_free(&part);
        ledger_put_number(p, v, in[i]->node, in[i]->cell, line.y, line.x + name, LEDGER_WIDE, style);
        if (lost)
            ledger_put_effect(p, v, in[i]->e, in[i]->head, line.y, line.x + name + LEDGER_WIDE + 1, LEDGER_WIDE);
        put_bar(p, in[i], (Rect){line.y, line.x + numbers, 1, bar}, left, (float)(bar - 1) / (high + low));
    }
}

float ledger_most(const LedgerView *v)
{
    River river;
    float most = 0;
    if (!river_of_all(v, &river))
        return 0;
    for (int i = 0; i < river.count; i++)
        most = fmaxf(most, river.at[i].size);
    return most;
}
