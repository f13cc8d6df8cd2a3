/* Which parts are tributaries of a river of so many columns. */
#include <math.h>

#include "tui/views/explain/river.h"

enum { ALIKE = 4 }; /* columns by which panels of A and B that are compared are counted */

/* How many heads are larger. */
static int rank_of(const Tributary *at, int count, int i)
{
    int larger = 0;
    for (int k = 0; k < count; k++)
        larger += at[k].head >= 0 && (at[k].size > at[i].size || (at[k].size == at[i].size && k < i));
    return larger;
}

/* What a block's heads and MLP wrote is one. */
static void choose_blocks(River *r, const Tributary *all, int count)
{
    Tributary block = {.wrote = 0};
    r->blocks = true;
    for (int i = 0; i < count; i++) {
        block = (Tributary){all[i].e, -1, -1, block.wrote + all[i].wrote, NAN, 0, NO_NODE, 0, 0, 0};
        if (i + 1 < count && all[i + 1].e->layer == all[i].e->layer)
            continue;
        r->at[r->count++] = block;
        block.wrote = 0;
    }
}

void river_choose(River *r, const Tributary *all, int count, int columns)
{
    int here = ledger_here(r->v->s, r->v->side), mlps = 0, attentions = 0;
    if (r->v->twins && columns >= 2 * ALIKE) /* of panels a column or two apart */
        columns -= columns % ALIKE;
    for (int i = 0; i < count; i++) {
        mlps += all[i].head < 0;
        attentions += all[i].head == 0;
    }
    int room = columns / 2 > mlps + attentions ? columns / 2 : columns;
    room -= room == columns && room > mlps + 2 * attentions ? attentions : 0; /* blocks stand apart */
    int kept = count <= columns ? count : room - mlps - attentions;
    for (int i = 0; i < count; i++) /* that of the cursor takes a column of one of the largest */
        kept -= all[i].number == here && all[i].head >= 0 && kept < count && rank_of(all, count, i) >= kept - 1;
    if (kept < 0) {
        choose_blocks(r, all, count);
        return;
    }
    Tributary rest = {.number = -1};
    for (int i = 0; i < count; i++) {
        if (all[i].head < 0 || all[i].number == here || rank_of(all, count, i) < kept)
            r->at[r->count++] = all[i];
        else
            rest = (Tributary){all[i].e, -1, -1, rest.wrote + all[i].wrote, NAN, 0, NO_NODE, 0, 0, 0};
        if (rest.e && (i + 1 == count || all[i + 1].e != all[i].e)) {
            r->at[r->count++] = rest;
            rest = (Tributary){.number = -1};
        }
    }
}
