/* What is written beside the river: the names of its tributaries and blocks, and the path that `w` found. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/river.h"

enum { NAME = 20, PATH_NAME = 14 /* columns of a head that is no tributary */ };

/* The first letter of "self" in "dec 2 self". */
static char kind_of(const River *r, int i)
{
    char whole[ATTENTION_NAME];
    session_attention_name(r->v->g, anatomy_of(r->v->g, graph_node(r->v->g, r->at[i].e->part)->path), whole);
    const char *last = strrchr(whole, ' ');
    return last ? last[1] : '+';
}

/* "head 3", "h3", "3" as there is room; MLP, others; of an attention that is one tributary the letter of its kind, self
 * or cross. */
static void name_of(const River *r, int i, int wide, char out[NAME])
{
    const Tributary *t = &r->at[i];
    const bool whole = (i == 0 || r->at[i - 1].group != t->group || r->at[i - 1].head < 0) &&
                       (i + 1 == r->count || r->at[i + 1].group != t->group || r->at[i + 1].head < 0);
    if (t->number < 0 && r->v->several && whole && wide < 7)
        snprintf(out, NAME, "%c", kind_of(r, i));
    else if (t->number < 0)
        snprintf(out, NAME, "%s", wide >= 7 ? "others" : "+");
    else if (t->head < 0)
        snprintf(out, NAME, "%s", wide >= MLP_FROM ? "MLP" : "M");
    else
        snprintf(out, NAME, "%s%d", wide >= 7 ? "head " : wide >= 4 ? "h" : "", t->head);
    if (utf8_cells(out) > wide) /* no name rather than one that is cut: several would have it */
        out[0] = '\0';
}

enum { WHOLE, SHORT, NUMBER };

/* "dec 2 cross", "2 cross" or "2": the name of the block or attention whose tributaries are `first` … `last`, and the
 * columns that it has. */
static int group_name(const River *r, Rect room, int first, int last, int length, char out[ATTENTION_NAME])
{
    char whole[ATTENTION_NAME];
    const Tributary *of = &r->at[first];
    session_attention_name(r->v->g, anatomy_of(r->v->g, graph_node(r->v->g, of->e->part)->path), whole);
    if (length == NUMBER)
        snprintf(out, ATTENTION_NAME, r->v->several && of->e->heads != NO_NODE && first < last ? "%d%c" : "%d",
                 of->e->layer, kind_of(r, first));
    else
        snprintf(out, ATTENTION_NAME, "%s", whole + (length == SHORT && r->v->several ? strcspn(whole, " ") + 1 : 0));
    return river_column(r, room, last + 1) - river_column(r, room, first) - 1;
}

static int group_end(const River *r, int i)
{
    while (i + 1 < r->count && r->at[i + 1].group == r->at[i].group)
        i++;
    return i;
}

/* Under all of them in the same length. */
static void put_groups(const Paint *p, const River *r, Rect room, int y)
{
    char name[ATTENTION_NAME];
    int length = WHOLE, i = 0;
    while (i < r->count && length < NUMBER) {
        bool fits = group_name(r, room, i, group_end(r, i), length, name) >= utf8_cells(name);
        i = fits ? group_end(r, i) + 1 : 0;
        length += !fits;
    }
    for (i = 0; i < r->count; i = group_end(r, i) + 1) {
        const int w = group_name(r, room, i, group_end(r, i), length, name) + 1;
        canvas_text(p->c, y, river_column(r, room, i), w, STYLE_DIM, utf8_cells(name) > w ? "" : name);
    }
}

void river_put_names(const Paint *p, const River *r, Rect room, int y, bool focus)
{
    int here = ledger_here(r->v->s, r->v->side);
    if (room.w >= RIVER_NARROW)
        canvas_text(p->c, y, room.x, RIVER_SPRING - 1, STYLE_AXIS, "start");
    for (int i = 0; i < r->count; i++) {
        const Tributary *t = &r->at[i];
        char name[NAME];
        int x = river_column(r, room, i);
        bool at = t->number == here && here >= 0;
        name_of(r, i, r->wide, name);
        if (at)
            canvas_fill(p->c, (Rect){y, x, 1, r->wide > 2 ? r->wide - 1 : r->wide}, STYLE_CURSOR, ' ');
        canvas_text(p->c, y, x, r->wide, at ? STYLE_CURSOR : STYLE_AXIS, name);
        if (at)
            focus_cursor(p, focus, y, x);
    }
    put_groups(p, r, room, y + 1);
    if (room.w >= RIVER_NARROW) {
        int x = river_column(r, room, r->count) + 2;
        ledger_put_number(p, r->v, r->v->l->start, 0, y + 1, room.x, RIVER_SPRING - 1, STYLE_DIM);
        ledger_put_number(p, r->v, r->v->l->value, 0, y, x, RIVER_ENDS - RIVER_SPRING - 2, STYLE_STRONG);
    }
}

/* The path that `w` drew: from the heads whose values were read, the last first, to the head that spoke, over their
 * tributaries. */
typedef struct RiverPath {
    LedgerVia via[LEDGER_STEPS];
    int at[LEDGER_STEPS + 1]; /* of r->at: the head that spoke, then those that it read, one by the other; −1: none */
    int steps;
} RiverPath;

static bool river_path(const River *r, RiverPath *out)
{
    const LedgerStep *of = &r->v->s->ledger.step[0];
    *out = (RiverPath){.steps = 0};
    if (r->v->less)
        return false;
    for (int k = 0; k <= LEDGER_STEPS; k++)
        out->at[k] = -1;
    for (int i = 0; i < r->count; i++)
        if (r->at[i].head == of->head && strcmp(ledger_view_path(r->v, r->at[i].e->total), of->via) == 0)
            out->at[0] = i;
    while (out->at[0] >= 0 && out->steps < LEDGER_STEPS &&
           ledger_via(r->v->s, r->v->side, out->steps, &out->via[out->steps])) {
        const LedgerVia *via = &out->via[out->steps++];
        for (int i = 0; i < r->count; i++)
            if (r->at[i].head == via->head && r->at[i].e->part == via->entry->part)
                out->at[out->steps] = i;
        for (int i = 0; out->at[out->steps] < 0 && i < r->count; i++)
            if (r->at[i].number < 0 && r->at[i].e->part == via->entry->part)
                out->at[out->steps] = i; /* one of the heads that are drawn together */
        if (out->at[out->steps] < 0)     /* it comes from the left: of another text */
            break;
    }
    return out->steps > 0;
}

/* "0.712 of 0.812", or the first of them, in the middle of its piece of the line. What is more than the whole, or
 * against it, is no part of it: others wrote against it. Is the whole told? */
static bool put_piece(const Paint *p, const LedgerVia *via, int y, int x0, int x1)
{
    static const char *const BETWEEN[] = {" of ", ", with all others ", ", in all "};
    const bool part = via->wrote * via->vote >= 0 && fabsf(via->wrote) <= fabsf(via->vote);
    const int room = x1 - x0 - 1;
    char text[64], of[2][16];
    number_text(of[0], sizeof of[0], via->wrote, 7);
    number_text(of[1], sizeof of[1], via->vote, 7);
    int w = room + 1;
    for (int i = !part; w > room && i < (part ? 1 : 3); i++)
        w = utf8_print(text, sizeof text, " %s%s%s ", of[0], BETWEEN[i], of[1]);
    const bool whole = w <= room;
    if (!whole)
        w = utf8_print(text, sizeof text, " %s ", of[0]);
    if (w <= room)
        canvas_text(p->c, y, x0 + 1 + (room - w) / 2, w, STYLE_STRONG, text);
    return whole;
}

void river_put_path(const Paint *p, const River *r, Rect line)
{
    RiverPath path;
    char label[64], number[16];
    bool whole = false;
    if (!river_path(r, &path))
        return;
    const Graph *g = r->v->g;
    const LedgerVia *last = &path.via[path.steps - 1];
    const Axis *u = &g->axes[node_role(g, last->entry->tokens, ROLE_KEY)];
    const bool outside = path.at[path.steps] < 0;
    int x[LEDGER_STEPS + 1] = {river_column(r, line, path.at[0]) + river_own(r, &r->at[path.at[0]]) - 1};
    for (int i = 1; i <= path.steps; i++)
        x[i] = path.at[i] < 0 ? line.x + river_left(line) + PATH_NAME : river_column(r, line, path.at[i]);
    const int x0 = x[path.steps];
    for (int at = x0; at <= x[0]; at++)
        canvas_glyph(p->c, line.y, at, STYLE_STRONG, p->c->ascii ? '-' : 0x2500);
    for (int i = path.steps; i > 0; i--) {
        whole = put_piece(p, &path.via[i - 1], line.y, x[i], x[i - 1]);
        canvas_glyph(p->c, line.y, x[i], STYLE_STRONG, p->c->ascii ? '.' : i == path.steps ? 0x256d : 0x252c);
    }
    canvas_glyph(p->c, line.y, x[0], STYLE_STRONG, p->c->ascii ? 'v' : 0x25bc);
    axis_label(u, last->token, label, sizeof label);
    if (outside) {
        Buf part = {0};
        LedgerLine of_part = {.entry = last->entry, .head = last->head};
        ledger_part_text(g, &of_part, &part);
        if (utf8_cells(buf_str(&part)) > x0 - line.x - 1) { /* "enc 2 self h0" */
            char name[ATTENTION_NAME];
            session_attention_name(g, anatomy_of(g, graph_node(g, last->entry->part)->path), name);
            buf_clear(&part);
            buf_printf(&part, "%s h%d", name, last->head);
        }
        canvas_label(p->c, line.y, line.x, x0 - line.x - 1, STYLE_STRONG, buf_str(&part));
        buf_free(&part);
    } else if (x0 - line.x > utf8_cells(label))
        canvas_text(p->c, line.y, x0 - utf8_cells(label) - 1, utf8_cells(label), STYLE_STRONG, label);
    const Axis *first = &g->axes[node_role(g, r->at[path.at[0]].e->tokens, ROLE_KEY)];
    axis_label(first, r->v->s->ledger.step[0].token, label, sizeof label);
    const int room = line.x + line.w - x[0] - 1, before = x[0] - x[1] - 1;
    int cells = utf8_cells(label);
    number_text(number, sizeof number, path.via[0].vote, 7);
    if (!whole && room > cells + 1 + (int)strlen(number)) /* what the last piece is a part of stands at the tip */
        cells += utf8_print(label + strlen(label), sizeof label - strlen(label), " %s", number);
    if (room < cells && cells <= before) /* no room behind the tip: on the last piece */
        canvas_text(p->c, line.y, x[0] - cells, cells, STYLE_STRONG, label);
    else
        canvas_label(p->c, line.y, x[0] + 1 + (room > cells), room - (room > cells), STYLE_STRONG, label);
}
