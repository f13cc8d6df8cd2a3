/* What is written beside the river: the names of its tributaries and blocks, and the path that `w` found. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/river.h"

enum { NAME = 20, PATH_NAME = 14 /* columns of a head that is no tributary */ };

/* "head 3", "h3", "3" as there is room; MLP, others. */
static void name_of(const Tributary *t, int wide, char out[NAME])
{
    if (t->number < 0)
        snprintf(out, NAME, "%s", wide >= 7 ? "others" : "+");
    else if (t->head < 0)
        snprintf(out, NAME, "%s", wide >= 4 ? "MLP" : "M");
    else
        snprintf(out, NAME, "%s%d", wide >= 7 ? "head " : wide >= 4 ? "h" : "", t->head);
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
        snprintf(out, ATTENTION_NAME, "%d", of->e->layer);
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
        int w = group_name(r, room, i, group_end(r, i), length, name);
        canvas_text(p->c, y, river_column(r, room, i), w + 1, STYLE_DIM, name);
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
        name_of(t, r->wide, name);
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

/* The path that `w` drew: from the head whose value was read to the head that spoke, over their tributaries. */
typedef struct RiverPath {
    LedgerVia via;
    int from, to; /* of r->at */
} RiverPath;

static bool river_path(const River *r, RiverPath *out)
{
    const LedgerTarget *of = &r->v->s->ledger;
    *out = (RiverPath){.from = -1, .to = -1};
    if (r->v->less || !ledger_via(r->v->s, r->v->side, &out->via))
        return false;
    for (int i = 0; i < r->count; i++) {
        const Tributary *t = &r->at[i];
        out->from = t->head == out->via.head && t->e->part == out->via.entry->part ? i : out->from;
        out->to = t->head == of->head && strcmp(ledger_view_path(r->v, t->e->total), of->via) == 0 ? i : out->to;
    }
    return out->to >= 0; /* from a block of another text it comes from the left */
}

void river_put_path(const Paint *p, const River *r, Rect line)
{
    RiverPath path;
    char label[64], text[64], of[2][16];
    if (!river_path(r, &path))
        return;
    const Graph *g = r->v->g;
    const Axis *u = &g->axes[node_role(g, path.via.entry->tokens, ROLE_KEY)];
    int x0 = path.from < 0 ? line.x + river_left(line) + PATH_NAME : river_column(r, line, path.from),
        x1 = river_column(r, line, path.to) + river_own(r, &r->at[path.to]) - 1;
    for (int x = x0; x <= x1; x++)
        canvas_glyph(p->c, line.y, x, STYLE_STRONG,
                     x == x0   ? (p->c->ascii ? '.' : 0x256d)
                     : x == x1 ? (p->c->ascii ? 'v' : 0x25bc)
                               : (p->c->ascii ? '-' : 0x2500));
    axis_label(u, path.via.token, label, sizeof label);
    if (path.from < 0) {
        Buf part = {0};
        LedgerLine of_part = {.entry = path.via.entry, .head = path.via.head};
        ledger_part_text(g, &of_part, &part);
        canvas_label(p->c, line.y, line.x, x0 - line.x - 1, STYLE_STRONG, buf_str(&part));
        buf_free(&part);
    } else if (x0 - line.x > utf8_cells(label))
        canvas_text(p->c, line.y, x0 - utf8_cells(label) - 1, utf8_cells(label), STYLE_STRONG, label);
    axis_label(u, r->v->s->ledger.token, label, sizeof label);
    canvas_label(p->c, line.y, x1 + 2, line.x + line.w - x1 - 2, STYLE_STRONG, label);
    number_text(of[0], sizeof of[0], path.via.wrote, 7);
    number_text(of[1], sizeof of[1], path.via.vote, 7);
    utf8_print(text, sizeof text, " %s of %s ", of[0], of[1]);
    int w = utf8_cells(text), room = x1 - x0 - 1;
    if (w > room)
        w = utf8_print(text, sizeof text, " %s ", of[0]);
    if (w <= room)
        canvas_text(p->c, line.y, x0 + 1 + (room - w) / 2, w, STYLE_STRONG, text);
}
