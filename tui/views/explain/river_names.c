/* What is written beside the river: the names of its tributaries and blocks, and the path that `w` found. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/river.h"

enum {
    NAME = 20,
    LINE_NAME = 40,                         /* columns of a name that is told whole */
    PATH_NAME = 14,                         /* … of a head that is no tributary */
    NUMBER_END = RIVER_ENDS - RIVER_SPRING, /* … from the last tributary to the end of the number */
    SUM = 4,                                /* … of the word under it, and a blank */
    LETTERS = 36                            /* heads that have a digit or a letter where there is one column: a is 10 */
};

/* The first letter of "self" in "dec 2 self". */
static char kind_of(const River *r, int i)
{
    char whole[ATTENTION_NAME];
    session_attention_name(r->v->g, anatomy_of(r->v->g, graph_node(r->v->g, r->at[i].e->part)->path), whole);
    const char *last = strrchr(whole, ' ');
    return last ? last[1] : '+';
}

/* Is an attention one tributary, and has it but a letter? */
static bool is_letter(const River *r, int i, int wide)
{
    const Tributary *t = &r->at[i];
    const bool whole = (i == 0 || r->at[i - 1].group != t->group || r->at[i - 1].head < 0) &&
                       (i + 1 == r->count || r->at[i + 1].group != t->group || r->at[i + 1].head < 0);
    return t->number < 0 && r->v->several && whole && wide < 7;
}

/* "head 3", "h3", "3" as there is room; MLP, others; of an attention that is one tributary the letter of its kind, self
 * or cross. */
static void name_of(const River *r, int i, int wide, char out[NAME])
{
    const Tributary *t = &r->at[i];
    const int number = r->blocks ? t->e->layer : t->head;
    if (r->blocks)
        snprintf(out, NAME, "%d", number);
    else if (is_letter(r, i, wide))
        snprintf(out, NAME, "%c", kind_of(r, i));
    else if (t->number < 0)
        snprintf(out, NAME, "%s", wide >= 7 ? "others" : wide == 2 && i > 0 && r->at[i - 1].head >= 10 ? " +" : "+");
    else if (t->head < 0)
        snprintf(out, NAME, "%s", wide >= MLP_FROM ? "MLP" : "M");
    else
        snprintf(out, NAME, "%s%d", wide >= 7 ? "head " : wide >= 4 ? "h" : "", t->head);
    if (wide == 1 && number >= 10 && number < LETTERS)
        snprintf(out, NAME, "%c", 'a' + number - 10);
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

/* Of all names: the same. */
static int group_length(const River *r, Rect room)
{
    char name[ATTENTION_NAME];
    int length = WHOLE, i = 0;
    while (i < r->count && length < NUMBER) {
        bool fits = group_name(r, room, i, group_end(r, i), length, name) >= utf8_cells(name);
        i = fits ? group_end(r, i) + 1 : 0;
        length += !fits;
    }
    return length;
}

bool river_numbered(const River *r, Rect room)
{
    bool letter = r->v->several && !r->blocks && group_length(r, room) == NUMBER;
    for (int i = 0; i < r->count && !r->blocks && !letter; i++)
        letter = is_letter(r, i, r->wide);
    return letter;
}

/* Where no column is between two blocks, every other one has another tint. */
static Style tint(const River *r, int group, Style style)
{
    return !r->apart && r->groups && !r->blocks && group % 2 ? STYLE_TEXT : style;
}

/* Behind the last block's name, before the word under the number at the end: beside that it would be read as one. */
static void put_mlp(const Paint *p, const River *r, Rect room, int y, int end)
{
    static const char *const MLP[] = {" M: MLP", " M=MLP"};
    const bool wide = room.w >= RIVER_NARROW;
    const int to = wide ? river_column(r, room, r->count) + NUMBER_END - SUM : room.x + room.w;
    for (size_t k = 0; k < sizeof MLP / sizeof *MLP && !r->mlp_told && r->wide < MLP_FROM; k++)
        if (utf8_cells(MLP[k]) <= to - end) {
            if (wide)
                canvas_text(p->c, y, end, to - end, STYLE_DIM, MLP[k]);
            else
                canvas_right(p->c, y, end, to - end, STYLE_DIM, MLP[k]);
            return;
        }
}

static void put_groups(const Paint *p, const River *r, Rect room, int y)
{
    char name[ATTENTION_NAME];
    const int length = group_length(r, room);
    int end = room.x;
    for (int i = 0; i < r->count; i = group_end(r, i) + 1) {
        const int w = group_name(r, room, i, group_end(r, i), length, name) + 1;
        end = river_column(r, room, i);
        end += canvas_text(p->c, y, end, w, tint(r, r->at[i].group, STYLE_DIM), utf8_cells(name) > w ? "" : name);
    }
    if (room.w < RIVER_NARROW && length == NUMBER && r->count && river_column(r, room, 0) > room.x + 1)
        canvas_text(p->c, y, room.x, 1, STYLE_DIM, "b"); /* block */
    put_mlp(p, r, room, y, end);
}

void river_put_names(const Paint *p, const River *r, Rect room, int y, bool focus)
{
    if (room.w >= RIVER_NARROW)
        canvas_text(p->c, y, room.x, RIVER_SPRING - 1, STYLE_AXIS, "rest");
    for (int i = 0; i < r->count; i++) {
        const Tributary *t = &r->at[i];
        char name[NAME];
        int x = river_column(r, room, i);
        bool at = river_is_here(r, t);
        name_of(r, i, r->wide, name);
        if (at)
            canvas_fill(p->c, (Rect){y, x, 1, r->wide > 2 ? r->wide - 1 : r->wide}, STYLE_CURSOR, ' ');
        canvas_text(p->c, y, x, r->wide, at ? STYLE_CURSOR : tint(r, t->group, STYLE_AXIS), name);
        if (at)
            focus_cursor(p, focus, y, x);
    }
    if (r->blocks)
        canvas_text(p->c, y + 1, room.x, room.w, STYLE_DIM,
                    r->wide == 1 && r->groups >= 10 ? "blocks, heads+MLP; a: 10" : "blocks: heads + MLP");
    else
        put_groups(p, r, room, y + 1);
    if (!r->blocks && room.w < RIVER_NARROW && r->wide < MLP_FROM && river_column(r, room, 0) > room.x + 1)
        canvas_text(p->c, y, room.x, 1, STYLE_DIM, "h"); /* its heads */
    if (room.w >= RIVER_NARROW) {
        int x = river_column(r, room, r->count) + 2;
        ledger_put_number(p, r->v, r->v->l->start, 0, y + 1, room.x, RIVER_SPRING - 1, STYLE_TEXT);
        ledger_put_number(p, r->v, r->v->l->value, 0, y, x, RIVER_ENDS - RIVER_SPRING - 2, STYLE_STRONG);
        canvas_right(p->c, y + 1, x, RIVER_ENDS - RIVER_SPRING - 2, STYLE_AXIS, "sum");
    }
}

static void token_label(const River *r, const LedgerEntry *e, int token, char out[64])
{
    axis_label(&r->v->g->axes[node_role(r->v->g, e->tokens, ROLE_KEY)], token, out, 64);
}

/* The path that `w` drew: from the heads whose values were read, the last first, to the head that spoke, over their
 * tributaries. */
typedef struct RiverPath {
    LedgerVia via[LEDGER_STEPS];
    int at[LEDGER_STEPS + 1]; /* of r->at: the head that spoke, then those that it read, one by the other; −1: none */
    int told, steps;          /* in via; with a column in the river, the last perhaps without: of another text */
    char tip[64];             /* the token that the head that spoke looked at */
} RiverPath;

static bool river_path(const River *r, RiverPath *out)
{
    const LedgerStep *of = &r->v->s->ledger.step[0];
    *out = (RiverPath){.steps = 0};
    if (r->v->less)
        return false;
    for (int k = 0; k <= LEDGER_STEPS; k++)
        out->at[k] = -1;
    while (out->told < LEDGER_STEPS && ledger_via(r->v->s, r->v->side, out->told, &out->via[out->told]))
        out->told++;
    for (int i = 0; i < r->v->l->count && out->told; i++) {
        const LedgerEntry *e = &r->v->l->entry[i];
        if (e->kind == LEDGER_HEADS && strcmp(ledger_view_path(r->v, e->total), of->via) == 0)
            token_label(r, e, of->token, out->tip);
    }
    for (int i = 0; i < r->count; i++)
        if (r->at[i].head == of->head && strcmp(ledger_view_path(r->v, r->at[i].e->total), of->via) == 0)
            out->at[0] = i;
    while (out->at[0] >= 0 && out->steps < out->told) {
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
    return out->told > 0;
}

/* "0.712 of 0.812": what a head wrote of a vote. What is more than the whole, or against it, is no part of it: others
 * wrote against it. */
static void part_text(const LedgerVia *via, char out[64])
{
    const bool part = via->wrote * via->vote >= 0 && fabsf(via->wrote) <= fabsf(via->vote);
    char of[2][16];
    number_text(of[0], sizeof of[0], via->wrote, 7);
    number_text(of[1], sizeof of[1], via->vote, 7);
    utf8_print(out, 64, "%s%s%s", of[0], part ? " of " : ", in all ", of[1]);
}

/* Step i of the path, the head that spoke excepted, in one of its forms. The token that it wrote into is the one whose
 * vote it is a part of. Those that follow have the words of the first: a number without its base says nothing. */
enum { STEP_FORMS = 5, STEP_FORMS_AFTER = 2, STEP_GAP = 2 };
static void step_text(const River *r, const RiverPath *path, int i, int form, Buf *out)
{
    static const bool WHOLE_NAME[STEP_FORMS] = {true, true, false, false, false};
    const LedgerVia *via = &path->via[i];
    char number[64], from[64], into[64];
    Buf name = {0};
    river_name(r->v->g, via->entry, via->head, WHOLE_NAME[form] ? LINE_NAME : 0, &name);
    part_text(via, number);
    token_label(r, via->entry, via->token, from);
    if (i)
        token_label(r, path->via[i - 1].entry, path->via[i - 1].token, into);
    else
        snprintf(into, sizeof into, "%s", path->tip);
    if (form <= 2 && form != 1)
        buf_printf(out, "%s wrote %s into %s, from %s", buf_str(&name), number, into, from);
    else if (form == 1)
        buf_printf(out, "%s: %s into %s, from %s", buf_str(&name), number, into, from);
    else if (form == 3)
        buf_printf(out, "%s: %s, from %s", buf_str(&name), number, from);
    else
        buf_printf(out, "%s: %s", buf_str(&name), number);
    buf_free(&name);
}

/* "block 2 head 1 wrote 0.325 of 2.002 into r1c2, from r1c3; block 1 head 0 wrote 0.050 of 0.268 into r1c3, from r2c2":
 * of what the head that spoke read, as many steps as there is room for, none in part; how many. Draws where p is not
 * NULL. lines: how many have words. */
static int put_steps(const Paint *p, const River *r, const RiverPath *path, Rect room, int *lines)
{
    int used = 0, told = 0;
    *lines = 1;
    for (bool fits = true; fits && told < path->told; told += fits) {
        Buf text = {0};
        fits = false;
        for (int line = *lines; line <= room.h && !fits; line++) {
            const int gap = line == *lines && told ? STEP_GAP : 0, from = line == *lines ? used : 0;
            for (int form = 0; form < (told ? STEP_FORMS_AFTER : STEP_FORMS) && !fits; form++) {
                buf_clear(&text);
                step_text(r, path, told, form, &text);
                fits = utf8_cells(buf_str(&text)) <= room.w - from - gap;
            }
            if (!fits)
                continue;
            if (p && gap)
                canvas_text(p->c, room.y + line - 1, room.x + from, gap, STYLE_STRONG, "; ");
            if (p)
                canvas_text(p->c, room.y + line - 1, room.x + from + gap, room.w - from - gap, STYLE_STRONG,
                            buf_str(&text));
            used = from + gap + utf8_cells(buf_str(&text));
            *lines = line;
        }
        buf_free(&text);
    }
    return told;
}

int river_path_lines(const River *r, int w, int most)
{
    RiverPath path;
    int lines = 1;
    if (river_path(r, &path))
        put_steps(NULL, r, &path, (Rect){0, 0, most, w}, &lines);
    return lines;
}

/* The tokens between, each before the head that read it: between two names the line would seem to go from the first to
 * the last. */
static void put_stops(const Paint *p, const River *r, const RiverPath *path, Rect line, const int x[])
{
    char label[64], text[72];
    for (int i = 1; i < path->steps; i++) {
        token_label(r, path->via[i - 1].entry, path->via[i - 1].token, label);
        const int cells = utf8_print(text, sizeof text, " %s ", label);
        if (path->at[i] >= 0 && cells < x[i] - x[i + 1] - 1)
            canvas_text(p->c, line.y, x[i] - cells, cells, STYLE_STRONG, text);
    }
}

/* In front of the line the token that the first head looked at, of one that is of another text, and so has no column,
 * its name; behind the tip, or on the line before it, the token that the head that spoke looked at. */
static void put_ends(const Paint *p, const River *r, const RiverPath *path, Rect line, const int x[])
{
    const LedgerVia *first = &path->via[path->steps - 1];
    const int front = x[path->steps] - line.x - 1, room = line.x + line.w - x[0] - 1, before = x[0] - x[1] - 1,
              cells = utf8_cells(path->tip);
    char label[64];
    Buf start = {0};
    token_label(r, first->entry, first->token, label);
    buf_puts(&start, label);
    if (path->at[path->steps] < 0) {
        buf_clear(&start);
        river_name(r->v->g, first->entry, first->head, front, &start);
        const int used = canvas_label(p->c, line.y, line.x, front, STYLE_STRONG, buf_str(&start));
        for (int at = line.x + used + 1; at < x[path->steps]; at++)
            canvas_glyph(p->c, line.y, at, STYLE_STRONG, p->c->ascii ? '-' : 0x2500);
    } else if (utf8_cells(label) <= front)
        canvas_text(p->c, line.y, line.x + front - utf8_cells(label), utf8_cells(label), STYLE_STRONG, label);
    buf_free(&start);
    if (room < cells && cells <= before)
        canvas_text(p->c, line.y, x[0] - cells, cells, STYLE_STRONG, path->tip);
    else
        canvas_label(p->c, line.y, x[0] + 1 + (room > cells), room - (room > cells), STYLE_STRONG, path->tip);
}

void river_put_path(const Paint *p, const River *r, Rect line)
{
    RiverPath path;
    if (!river_path(r, &path))
        return;
    int lines;
    const int told = put_steps(p, r, &path, rect_cut(&line, 't', line.h > 1 ? line.h - 1 : 1), &lines);
    path.steps = path.steps < told ? path.steps : told; /* the line goes no further than the words */
    if (!line.h || !path.steps)
        return;
    int x[LEDGER_STEPS + 1] = {river_column(r, line, path.at[0]) + river_own(r, &r->at[path.at[0]]) - 1};
    for (int i = 1; i <= path.steps; i++)
        x[i] = path.at[i] < 0 ? line.x + river_left(line) + PATH_NAME : river_column(r, line, path.at[i]);
    for (int at = x[path.steps]; at <= x[0]; at++)
        canvas_glyph(p->c, line.y, at, STYLE_STRONG, p->c->ascii ? '-' : 0x2500);
    for (int i = path.steps; i > 0; i--) /* what stands in no column begins with its name, over none */
        if (path.at[i] >= 0)
            canvas_glyph(p->c, line.y, x[i], STYLE_STRONG, p->c->ascii ? '.' : i == path.steps ? 0x256d : 0x252c);
    canvas_glyph(p->c, line.y, x[0], STYLE_STRONG, p->c->ascii ? 'v' : 0x25bc);
    put_stops(p, r, &path, line, x);
    put_ends(p, r, &path, line, x);
}
