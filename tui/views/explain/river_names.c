/* What is written beside the river: the names of its tributaries and blocks, and the path that `w` found. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/river.h"

enum {
    NAME = 20,
    PATH_NAME = 14, /* columns of a head that is no tributary */
    NUMBER_LEAST = 4,
    LETTERS = 36 /* heads that have a digit or a letter where there is one column: a is 10 */
};

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
    if (wide == 1 && t->head >= 10 && t->head < LETTERS)
        snprintf(out, NAME, "%c", 'a' + t->head - 10);
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

/* "0.712 of 0.812": what a head wrote of a vote. What is more than the whole, or against it, is no part of it: others
 * wrote against it. In fewer columns than that has: the first number. Returns its columns; *whole: are both there? */
static int part_text(const LedgerVia *via, int room, char out[64], bool *whole)
{
    static const char *const BETWEEN[] = {" of ", "; all together ", ", in all "};
    const bool part = via->wrote * via->vote >= 0 && fabsf(via->wrote) <= fabsf(via->vote);
    char of[2][16];
    number_text(of[0], sizeof of[0], via->wrote, 7);
    number_text(of[1], sizeof of[1], via->vote, 7);
    int w = room + 1;
    for (int i = !part; w > room && i < (part ? 1 : 3); i++)
        w = utf8_print(out, 64, "%s%s%s", of[0], BETWEEN[i], of[1]);
    *whole = w <= room;
    if (*whole)
        return w;
    number_text(of[0], sizeof of[0], via->wrote, room < 7 ? room : 7);
    return utf8_print(out, 64, "%s", *of[0] == '#' || room < NUMBER_LEAST ? "" : of[0]);
}

/* The head where a piece begins, in as many columns; named: also where a name stands below it. */
static void head_name(const River *r, const RiverPath *path, int i, bool named, int room, Buf *out)
{
    const LedgerVia *via = &path->via[i - 1];
    buf_clear(out);
    if (named || path->at[i] < 0 || r->at[path->at[i]].number < 0)
        river_name(r->v->g, via->entry, via->head, room, out);
    if (utf8_cells(buf_str(out)) > room)
        buf_clear(out);
}

/* Piece i of the line, in its middle what was written along it; is that all told? A head that has no name below it is
 * named here, but for the first, which is named in front of it. */
static bool put_piece(const Paint *p, const River *r, const RiverPath *path, int i, int y, const int x[])
{
    const int room = x[i - 1] - x[i] - 1;
    char number[64], text[96];
    bool whole;
    Buf name = {0};
    part_text(&path->via[i - 1], NUMBER_LEAST, number, &whole);
    if (i < path->steps)
        head_name(r, path, i, false, room - utf8_cells(number) - 1, &name);
    const int named = name.len ? utf8_cells(buf_str(&name)) + 1 : 0;
    part_text(&path->via[i - 1], room - named, number, &whole);
    int w = utf8_print(text, sizeof text, "%s%s%s", buf_str(&name), named ? " " : "", number);
    if (w > 0 && w + 2 <= room)
        w = utf8_print(text, sizeof text, " %s%s%s ", buf_str(&name), named ? " " : "", number);
    canvas_text(p->c, y, x[i] + 1 + (room - w) / 2, w, STYLE_STRONG, text);
    buf_free(&name);
    return whole;
}

/* In front of the line the head that wrote first (unless it is named above it), by looking at which token, and where
 * `all` is asked for what that is a part of: as much of it as there is room for. Is the part told? */
static bool start_text(const River *r, const RiverPath *path, int room, bool named, bool all, Buf *out)
{
    const LedgerVia *last = &path->via[path->steps - 1];
    const Axis *u = &r->v->g->axes[node_role(r->v->g, last->entry->tokens, ROLE_KEY)];
    char label[64], number[64];
    bool whole = false;
    axis_label(u, last->token, label, sizeof label);
    const int cells = utf8_cells(label), w = all ? part_text(last, room, number, &whole) : 0;
    if (whole)
        head_name(r, path, path->steps, true, room - cells - w - 3, out);
    whole = out->len > 0;
    if (!whole && !named)
        head_name(r, path, path->steps, true, room - cells - 1, out);
    if (!out->len && !named) /* rather than the token one that stands nowhere else */
        head_name(r, path, path->steps, false, room, out);
    const bool before = out->len > 0;
    if (utf8_cells(buf_str(out)) + before + cells <= room)
        buf_printf(out, "%s%s", before ? " " : "", label);
    if (whole)
        buf_printf(out, ": %s", number);
    return whole;
}

/* "block 2 head 1: 0.325 of 2.002", in a line of its own: of what the head that spoke read. */
static void put_words(const Paint *p, const River *r, const RiverPath *path, Rect line)
{
    char number[64];
    bool whole;
    Buf name = {0};
    part_text(&path->via[0], line.w, number, &whole);
    head_name(r, path, 1, true, line.w - utf8_cells(number) - 2, &name);
    canvas_printf(p->c, line.y, line.x, line.w, STYLE_STRONG, "%s%s%s", buf_str(&name), name.len ? ": " : "", number);
    buf_free(&name);
}

/* At its end the token that was looked at, and, where that stands nowhere else, all that it gave. */
static void put_tip(const Paint *p, const River *r, const RiverPath *path, Rect line, const int x[], bool whole)
{
    const Axis *first = &r->v->g->axes[node_role(r->v->g, r->at[path->at[0]].e->tokens, ROLE_KEY)];
    char label[64], number[16];
    axis_label(first, r->v->s->ledger.step[0].token, label, sizeof label);
    const int room = line.x + line.w - x[0] - 1, before = x[0] - x[1] - 1;
    int cells = utf8_cells(label);
    number_text(number, sizeof number, path->via[0].vote, 7);
    if (!whole && room > cells + 1 + (int)strlen(number)) /* what the last piece is a part of stands at the tip */
        cells += utf8_print(label + strlen(label), sizeof label - strlen(label), " %s", number);
    if (room < cells && cells <= before) /* no room behind the tip: on the last piece */
        canvas_text(p->c, line.y, x[0] - cells, cells, STYLE_STRONG, label);
    else
        canvas_label(p->c, line.y, x[0] + 1 + (room > cells), room - (room > cells), STYLE_STRONG, label);
}

void river_put_path(const Paint *p, const River *r, Rect line)
{
    RiverPath path;
    if (!river_path(r, &path))
        return;
    const bool words = line.h > 1;
    if (words)
        put_words(p, r, &path, rect_cut(&line, 't', 1));
    int x[LEDGER_STEPS + 1] = {river_column(r, line, path.at[0]) + river_own(r, &r->at[path.at[0]]) - 1};
    for (int i = 1; i <= path.steps; i++)
        x[i] = path.at[i] < 0 ? line.x + river_left(line) + PATH_NAME : river_column(r, line, path.at[i]);
    const int x0 = x[path.steps], front = x0 - line.x - 1;
    for (int at = x0; at <= x[0]; at++)
        canvas_glyph(p->c, line.y, at, STYLE_STRONG, p->c->ascii ? '-' : 0x2500);
    bool whole = words;
    Buf start = {0};
    for (int i = 1; i <= path.steps; i++) {
        const bool told = (words && i == 1) || put_piece(p, r, &path, i, line.y, x);
        whole = i == 1 ? told : whole;
        if (i == path.steps && path.at[i] >= 0 && start_text(r, &path, front, words && i == 1, !told, &start)) {
            for (int at = x0 + 1; at < x[i - 1]; at++) /* the number does not stand there twice */
                canvas_glyph(p->c, line.y, at, STYLE_STRONG, p->c->ascii ? '-' : 0x2500);
            whole = whole || i == 1;
        }
    }
    for (int i = path.steps; i > 0; i--)
        canvas_glyph(p->c, line.y, x[i], STYLE_STRONG, p->c->ascii ? '.' : i == path.steps ? 0x256d : 0x252c);
    canvas_glyph(p->c, line.y, x[0], STYLE_STRONG, p->c->ascii ? 'v' : 0x25bc);
    if (path.at[path.steps] < 0) { /* of another text: no room for the token */
        head_name(r, &path, path.steps, true, front, &start);
        canvas_label(p->c, line.y, line.x, front, STYLE_STRONG, buf_str(&start));
    } else
        canvas_text(p->c, line.y, x0 - utf8_cells(buf_str(&start)) - 1, utf8_cells(buf_str(&start)), STYLE_STRONG,
                    buf_str(&start));
    buf_free(&start);
    put_tip(p, r, &path, line, x, whole);
}
