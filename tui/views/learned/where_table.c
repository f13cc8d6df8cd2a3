/* The numbers below the maps of "where did it look?": the picked patch in each of them, the share on the object, and in
 * words what each is made of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/learned/gradient.h"
#include "tui/views/learned/where_view.h"

enum {
    NUMBER_LEAST = 8,
    WIDE_NOTE = 50,
    NOTE_LEAST = 16,
    SUMS_LINE = 32, /* the width of a rollout's sums */
    BRIEF = WHERE_NAME_BRIEF + WHERE_NUMBER_BRIEF + WHERE_MASS_BRIEF
};

size_t where_cell(const Where *w, int m, int patch)
{
    const Shown *v = &w->map[m];
    return v->cell / (size_t)w->p->n * (size_t)w->p->n + (size_t)patch;
}

float where_value(const Where *w, int m, int patch)
{
    if (m == WHERE_OCCLUSION)
        return where_fall(&w->occlusion, patch);
    return w->there[m] && w->map[m].values ? w->map[m].values[where_cell(w, m, patch)] : NAN;
}

static PictureGrid grid_of(const Where *w)
{
    return model_grid(session_exhibit(w->s, w->side)->model);
}

static int put_part(const Paint *p, const Shown *v, size_t cell, const char *before, Rect line, int used)
{
    char number[32];
    number_text(number, sizeof number, v->values[cell], 8);
    if (used + (int)strlen(before) + (int)strlen(number) > line.w)
        return line.w;
    used += canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, before);
    return used + shown_number(p, v, cell, line.y, line.x + used, 8, STYLE_TEXT);
}

/* Each side's answer may be another class. */
static void put_fall_of_both(const Where *w, Buf *text)
{
    const WhereOccluded *o = &w->occlusion;
    const Graph *g = session_base(w->s);
    const int classes = graph_role(g, ROLE_ANSWER, SEQUENCE_ANY);
    char a[64], b[64];
    if (!o->of || o->of->answer == o->less->answer || classes == AXIS_NONE)
        buf_puts(text, "A's fall of the answer's logit, less B's");
    else
        buf_printf(text, "A's fall of %s, less B's of %s", axis_label(&g->axes[classes], o->of->answer, a, sizeof a),
                   axis_label(&g->axes[classes], o->less->answer, b, sizeof b));
}

/* What is left is left of both sides, of which B comes first. */
static int seconds_left(const Paint *p, const Where *w, size_t left)
{
    size_t done, total;
    if (!p->seconds_left || w->side != SIDE_B || !measures_progress(w->s, &done, &total) || total - done <= left)
        return p->seconds_left;
    return 1 + (int)((double)p->seconds_left * (double)left / (double)(total - done));
}

bool where_put_progress(const Paint *p, const Where *w, Buf *text)
{
    size_t done, total;
    if (!where_occluded_progress(&w->occlusion, &done, &total) || done >= total)
        return false;
    const int seconds = seconds_left(p, w, total - done);
    buf_printf(text, "%zu of %zu", done, total);
    if (seconds)
        buf_printf(text, ", %d s left", seconds);
    return true;
}

/* How far it is, or what its numbers are. */
static void put_occlusion_note(const Paint *p, const Where *w, bool brief, Buf *text)
{
    Buf far = {0};
    if (where_put_progress(p, w, &far)) {
        buf_printf(text, "measured %s%s", buf_str(&far), brief && p->seconds_left ? "" : "; x greys a patch");
    } else if (w->side == SIDE_DIFF)
        put_fall_of_both(w, text);
    else
        buf_printf(text, "%sthe answer's logit falls%s; x greys it", brief ? "" : "how far ",
                   w->object && w->focus == WHERE_OCCLUSION ? "; on object: of falls" : "");
    buf_free(&far);
}

bool where_partly(const Session *s, Side side)
{
    const int blocks = session_blocks_on(s, side);
    return where_depth(s, blocks) < blocks;
}

void where_note_text(const Paint *p, const Where *w, int m, bool brief, Buf *text)
{
    const Session *s = w->s;
    const char *who = grid_of(w).class_read ? "CLS" : "patch mean";
    int last = session_blocks_on(s, w->side) - 1;
    if (m == WHERE_ROLLOUT && where_partly(s, w->side))
        buf_printf(text, brief ? "½ heads + ½ itself" : "%s, the first %d of %d blocks, ½ heads + ½ itself%s", who,
                   where_depth(s, last + 1), last + 1, w->object ? "; on object: for all blocks only" : "");
    else if (m == WHERE_ROLLOUT)
        buf_printf(text, brief ? "½ heads + ½ itself" : "%s, all blocks, ½ heads + ½ itself", who);
    else if (m == WHERE_ATTENTION && s->look.where.one_head)
        buf_printf(text, "%s, block %d, head %zu; a: mean of heads", who, last, w->map[m].cell / (size_t)w->p->n);
    else if (m == WHERE_ATTENTION)
        buf_printf(text, "%s, block %d, mean of heads; a: one head", who, last);
    else if (m == WHERE_GRADIENT) {
        bool answer = site_is(session_base(s), s->target.path, SITE_WHERE_ANSWER);
        buf_puts(text, brief ? "sum over it, of " : "sum over the patch, of ");
        if (answer)
            buf_puts(text, "the answer's logit");
        else
            gradient_text(s, text);
        buf_puts(text, w->object && m == w->focus ? "; on object: share of what is > 0" : "");
    } else
        put_occlusion_note(p, w, brief, text);
}

int where_draw_sums(const Paint *p, const Where *w, Rect r, int used)
{
    if (r.h < 1 || !w->has_sums || !w->row_sum.values || !w->patches_sum.values)
        return 0;
    bool two = !used && r.w < SUMS_LINE && r.h > 1;
    const PictureGrid grid = grid_of(w);
    size_t row = grid.class_read ? 0 : (size_t)grid.prefix; /* of the first row that is read */
    used = put_part(p, &w->row_sum, row, used ? "; row sum " : "row sum ", r, used);
    if (two)
        rect_cut(&r, 't', 1);
    put_part(p, &w->patches_sum, 0, two ? "on patches " : ", on patches ", r, two ? 0 : used);
    return 1 + two;
}

void where_draw_note(const Paint *p, const Where *w, Rect line, int m)
{
    Buf text = {0};
    where_note_text(p, w, m, line.w < WIDE_NOTE, &text);
    bool fits = utf8_cells(buf_str(&text)) <= line.w; /* half a note tells nothing of a map that nobody asked for */
    bool shown = fits || (m == w->focus && w->side != SIDE_DIFF &&
                          line.w >= NOTE_LEAST); /* nor of a difference, whose sides have it whole */
    int used = shown ? canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, buf_str(&text)) : 0;
    if (m == WHERE_ROLLOUT && shown)
        where_draw_sums(p, w, line, used);
    buf_free(&text);
}

static void draw_number(const Paint *p, const Shown *v, size_t cell, float x, Rect at)
{
    char text[32];
    if (v) {
        shown_number_right(p, v, cell, at.y, at.x, at.w, STYLE_TEXT);
        return;
    }
    if (isnan(x))
        snprintf(text, sizeof text, "—");
    else
        number_text(text, sizeof text, x, at.w - 1);
    canvas_right(p->c, at.y, at.x, at.w, STYLE_TEXT, text);
}

/* Where name, value and share stand in a row of the table; in a narrow column the name has a line of its own. Returns
 * what is left of the line. */
typedef struct Row {
    Rect name, value, mass;
} Row;

bool where_narrow(const Where *w, int width)
{
    return width < (w->object ? WHERE_NAME + 2 * WHERE_NUMBER : WHERE_NAME_BRIEF + WHERE_NUMBER);
}

static Rect row_cut(const Where *w, Rect r, bool narrow, Row *out)
{
    int cells = narrow ? (r.w < 2 * WHERE_NUMBER ? r.w / 2 : WHERE_NUMBER) : WHERE_NUMBER;
    const bool brief = !narrow && w->object && r.w < WHERE_NAME + 2 * WHERE_NUMBER && r.w >= BRIEF;
    const bool short_name = brief || (!w->object && r.w < WHERE_NAME + WHERE_NUMBER);
    out->name = narrow ? rect_cut(&r, 't', r.h - 1) : rect_cut(&r, 'l', short_name ? WHERE_NAME_BRIEF : WHERE_NAME);
    out->value = rect_cut(&r, 'l', brief ? WHERE_NUMBER_BRIEF : cells);
    out->mass = rect_cut(&r, 'l', !w->object ? 0 : brief ? WHERE_MASS_BRIEF : cells);
    rect_cut(&r, 'l', 2);
    return r;
}

/* Of a map; known: as a number of the trace. NaN: not there (yet). */
static float mass_of(const Where *w, int m, bool *known)
{
    float x = NAN;
    *known = m != WHERE_OCCLUSION && w->has_mass[m] && w->mass[m].values;
    if (m == WHERE_OCCLUSION && !where_occluded_mass(w->s, w->side, &x))
        x = NAN;
    return *known ? w->mass[m].values[w->mass[m].cell] : x;
}

int where_draw_mass(const Paint *p, const Where *w, Rect line)
{
    static const char WHAT[] = "object "; /* rather its scale than "on" */
    bool known;
    const int m = w->large;
    const float x = w->object ? mass_of(w, m, &known) : NAN;
    if (line.w >= BRIEF || line.w < (int)strlen(WHAT) + NUMBER_LEAST || isnan(x))
        return 0;
    int used = canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, WHAT);
    if (known)
        return used + shown_number(p, &w->mass[m], w->mass[m].cell, line.y, line.x + used, NUMBER_LEAST, STYLE_TEXT);
    char text[32];
    number_text(text, sizeof text, x, NUMBER_LEAST - 1);
    used += canvas_text(p->c, line.y, line.x + used, NUMBER_LEAST, STYLE_TEXT, text);
    return used;
}

Rect where_draw_row(const Paint *p, const Where *w, Rect line, int m)
{
    bool here = m == w->focus, node = m != WHERE_OCCLUSION, patch = node && w->there[m] && w->map[m].values;
    Row row;
    Rect rest = row_cut(w, line, line.h > 1, &row);
    canvas_printf(p->c, row.name.y, row.name.x, row.name.w, here ? STYLE_TITLE : STYLE_TEXT, "%s%s", here ? ">" : " ",
                  where_word((WhereMethod)m));
    if (row.value.w >= NUMBER_LEAST)
        draw_number(p, patch ? &w->map[m] : NULL, where_cell(w, patch ? m : 0, w->at), where_value(w, m, w->at),
                    row.value);
    if (row.mass.w >= NUMBER_LEAST) {
        bool known;
        const float x = mass_of(w, m, &known);
        draw_number(p, known ? &w->mass[m] : NULL, w->mass[m].cell, x, row.mass);
    }
    return rest;
}

void where_draw_share(const Paint *p, const Where *w, Rect line)
{
    static const char UNKNOWN[] = "where its object lies is not known";
    if (!w->object && w->side != SIDE_DIFF)
        canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM,
                    line.w >= (int)strlen(UNKNOWN) ? UNKNOWN : "no object known");
    if (!w->object || !w->has_share || !w->share.values)
        return;
    static const char WHAT[] = " of the patches", ON[] = "; on object: of what is > 0";
    int used = put_part(p, &w->share, 0, "outlined object: ", line, 0);
    if (line.w - used >= (int)strlen(WHAT))
        used += canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, WHAT);
    else if (line.h >= 2)
        canvas_text(p->c, line.y + 1, line.x, line.w, STYLE_DIM, WHAT + 1);
    if (line.w - used >= (int)strlen(ON))
        canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, ON);
}

Rect where_draw_header(const Paint *p, const Where *w, Rect line, bool narrow)
{
    char label[32];
    Row row;
    Rect rest = row_cut(w, line, narrow, &row);
    if (row.value.w >= NUMBER_LEAST)
        canvas_right(p->c, row.value.y, row.value.x, row.value.w, STYLE_HEADER,
                     axis_label(w->p, w->at, label, sizeof label));
    if (row.mass.w >= NUMBER_LEAST)
        canvas_right(p->c, row.mass.y, row.mass.x, row.mass.w, STYLE_HEADER, "on object");
    return rest;
}
