/* Any tensor: its values as heat, numbers, strip or histogram, with axes, colour bar and the focused value. */
#include "tui/views/tensor/tensor.h"

#include <string.h>

#include "core/base/utf8.h"
#include "core/session/address.h"

enum { LABEL_MAX = 9 };

/* Are these axes one run of cells with a constant stride? */
static bool one_stride(const Graph *g, Dims whole, Dims part, size_t *stride)
{
    *stride = part.n ? dims_stride(g->axes, whole, part.axis[part.n - 1]) : 0;
    for (int k = 0; k + 1 < part.n; k++) {
        size_t inner = dims_stride(g->axes, whole, part.axis[k + 1]) * (size_t)g->axes[part.axis[k + 1]].n;
        if (dims_stride(g->axes, whole, part.axis[k]) != inner)
            return false;
    }
    return true;
}

static void complete(Tensor *t)
{
    const Graph *g = t->v.graph;
    Dims d = graph_node(g, t->v.node)->dims;
    plane_cursor(g, &t->plane, t->v.at, &t->row, &t->col);
    t->first = plane_cell(g, t->v.node, &t->plane, t->v.at, 0, 0);
    t->linear = one_stride(g, d, t->plane.rows, &t->row_stride) && one_stride(g, d, t->plane.cols, &t->col_stride);
    if (t->v.values)
        t->spread = spread_of(t->v.values, t->v.count);
}

bool tensor_open(const Session *s, Side side, const char *path, Tensor *out)
{
    *out = (Tensor){0};
    if (!shown_open(s, side, path, &out->v))
        return false;
    out->plane = plane_make(out->v.graph, out->v.node);
    complete(out);
    Shown other;
    if (out->v.values && shown_beside(s, &out->v, &other))
        spread_share(&out->spread, other.values, other.count);
    return true;
}

Tensor tensor_plane(const Shown *v, Dims rows, Dims cols)
{
    const Graph *g = v->graph;
    Tensor t = {.v = *v, .plane = {.rows = rows, .cols = cols}};
    t.plane.held = dims_minus(dims_minus(graph_node(g, v->node)->dims, rows), cols);
    t.plane.row_count = graph_dims_cells(g, rows);
    t.plane.col_count = graph_dims_cells(g, cols);
    complete(&t);
    return t;
}

Tensor tensor_rows(const Tensor *t, size_t from, size_t count)
{
    Tensor part = *t;
    part.row0 += from;
    part.plane.row_count = count;
    part.row = t->row < from ? count : t->row - from;
    return part;
}

Tensor tensor_columns(const Tensor *t, size_t from, size_t count)
{
    Tensor part = *t;
    part.col0 += from;
    part.plane.col_count = count;
    part.col = t->col < from ? count : t->col - from;
    if (part.col >= count)
        part.row = t->plane.row_count;
    return part;
}

size_t tensor_cell(const Tensor *t, size_t row, size_t col)
{
    row += t->row0;
    col += t->col0;
    if (t->linear)
        return t->first + row * t->row_stride + col * t->col_stride;
    return plane_cell(t->v.graph, t->v.node, &t->plane, t->v.at, row, col);
}

int tensor_label_width(const Tensor *t, int width)
{
    if (width < TENSOR_LABELS_FROM || t->plane.rows.n == 0 || t->no_rows)
        return 0;
    int widest = shown_widest(t->v.graph, t->plane.rows);
    widest = (widest < LABEL_MAX ? widest : LABEL_MAX) + 1;
    return widest > t->label_least ? widest : t->label_least;
}

const TensorHow *tensor_how(View view)
{
    static const TensorHow *const HOW[] = {[VIEW_HEAT] = &TENSOR_HEAT,
                                           [VIEW_NUMBERS] = &TENSOR_NUMBERS,
                                           [VIEW_STRIP] = &TENSOR_STRIP,
                                           [VIEW_HISTOGRAM] = &TENSOR_HISTOGRAM};
    _Static_assert(sizeof HOW / sizeof *HOW == VIEW_COUNT, "one way of drawing per view");
    return HOW[view < VIEW_COUNT ? view : VIEW_HEAT];
}

void tensor_value_line(const Paint *p, int y, int x, int width, const Shown *v)
{
    Buf where = {0};
    address_put(v->graph, v->node, v->cell, &where);
    const char *text = buf_str(&where), *bracket = strchr(text, '[');
    const char *end = bracket ? bracket : text + where.len, *name = end;
    while (name > text && name[-1] != '.')
        name--;
    const char *const shorter[] = {text, name, end, ""};
    const char *words = "";
    const int cells = v->values ? shown_full_cells(v, v->cell, width) : 1;
    for (size_t k = 0; k < sizeof shorter / sizeof *shorter; k++) {
        words = shorter[k];
        if (!*words || utf8_cells(words) + 3 + cells <= width)
            break;
    }
    int at = x;
    if (*words) {
        at += canvas_text(p->c, y, at, x + width - at, STYLE_TEXT, words);
        at += canvas_text(p->c, y, at, x + width - at, STYLE_DIM, " = ");
    }
    if (v->values)
        shown_full(p, v, v->cell, y, at, x + width - at, STYLE_STRONG);
    else
        canvas_text(p->c, y, at, x + width - at, STYLE_DIM, "…");
    buf_free(&where);
}

/* What is where in the pane: the values' part; the lines below it, 0 where there is no room. */
typedef struct Parts {
    Rect body;
    int caption, bar, value; /* their rows on the canvas, −1 when absent */
} Parts;

static Parts parts_of(const Paint *p, Rect r, const TensorHow *how)
{
    bool bar = how->bar &&
               (how != &TENSOR_NUMBERS || p->mode >= MODE_256); /* numbers have no ground with few colours */
    Parts parts = {.caption = -1, .bar = -1, .value = -1};
    if (r.h >= 1)
        parts.value = rect_cut(&r, 'b', 1).y;
    if (r.h >= 4 && bar)
        parts.bar = rect_cut(&r, 'b', 1).y;
    if (r.h >= 5)
        parts.caption = rect_cut(&r, 'b', 1).y;
    parts.body = r;
    return parts;
}

/* A vector that is longer than a line is drawn over several lines instead of being pooled. */
static const TensorHow *how_for(const LookAt *look, const Tensor *t, Rect body)
{
    if (shown_vocabulary(&t->v))
        return &TENSOR_WORDS;
    bool vector = t->plane.row_count == 1 && t->plane.col_count > (size_t)(body.w > 0 ? body.w : 0);
    return tensor_how(look->view == VIEW_HEAT && look->pool == 0 && vector ? VIEW_STRIP : look->view);
}

/* "rows t, columns h,e"; brief: "t × h,e". Of one row in several lines what goes along them. */
static void put_axes(const Tensor *t, const TensorHow *how, bool brief, Buf *out)
{
    const Graph *g = t->v.graph;
    const bool strip = how == &TENSOR_STRIP, rows = how->plane && !strip && t->plane.rows.n,
               cols = how->plane && t->plane.cols.n;
    if (rows) {
        buf_puts(out, brief ? "" : "rows ");
        shown_axes(g, t->plane.rows, out);
    }
    if (rows && cols)
        buf_puts(out, brief ? " × " : ", ");
    if (cols) {
        buf_puts(out, brief || strip ? "" : "columns ");
        shown_axes(g, t->plane.cols, out);
        buf_puts(out, strip ? " line by line" : "");
    }
}

/* brief 2: only what a drawn cell is, which the axes' labels do not say. */
static void put_caption(const Paint *p, const Parts *parts, const TensorHow *how, const Tensor *t, int brief, Buf *out)
{
    const Graph *g = t->v.graph;
    if (brief < 2)
        put_axes(t, how, brief, out);
    for (int k = 0; brief < 2 && how->plane && k < t->plane.held.n; k++) {
        const Axis *a = &g->axes[t->plane.held.axis[k]];
        char label[64];
        buf_printf(out, ", %s=%s", a->sym, axis_label(a, t->v.at[t->plane.held.axis[k]], label, sizeof label));
    }
    Buf cell = {0};
    how->caption(p, parts->body, t, &cell);
    if (cell.len)
        buf_printf(out, "%s%s", out->len ? "   " : "", buf_str(&cell));
    buf_free(&cell);
}

static void draw_caption(const Paint *p, Rect r, const Parts *parts, const TensorHow *how, const Tensor *t)
{
    Buf text = {0};
    for (int brief = 0; brief == 0 || (brief < 3 && utf8_cells(buf_str(&text)) > r.w); brief++) {
        buf_clear(&text);
        put_caption(p, parts, how, t, brief, &text);
    }
    shown_clauses(p, parts->caption, r.x, r.w, STYLE_AXIS, buf_str(&text));
    buf_free(&text);
}

static float common_of(const Paint *p, const Tensor *t, double per_cell)
{
    Shown other;
    float common = spread_common(t->v.values, t->v.count, per_cell),
          beside = shown_beside(p->s, &t->v, &other) ? spread_common(other.values, other.count, per_cell) : 0;
    return beside > common ? beside : common;
}

/* What is drawn is told apart, whatever the few largest are; returns its scale. */
static ColourScale settle(const Paint *p, Rect body, const TensorHow *how, Tensor *t)
{
    t->spread.common = common_of(p, t, how->per_cell ? how->per_cell(p, body, t) : 1);
    const ColourScale scale = how->scale ? how->scale(p, body, t) : colour_scale_of_spread(p, t->v.side, &t->spread);
    t->upward = how == &TENSOR_HEAT && t->spread.least < 0 && !scale.is_signed && !*p->s->look.map;
    return scale;
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Tensor t;
    bool open = tensor_open(p->s, side, p->s->place.path, &t);
    const TensorHow *how = open && shown_vocabulary(&t.v) ? &TENSOR_WORDS : tensor_how(p->s->look.view);
    Parts parts = parts_of(p, r, how);
    if (!open) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "this side has no such node");
    } else {
        how = how_for(&p->s->look, &t, parts.body);
        if (parts.value >= 0) {
            focus_cursor(p, focus && parts.body.h < 1, parts.value, r.x);
            tensor_value_line(p, parts.value, r.x, r.w, &t.v);
        }
        ColourScale scale = {0};
        if (t.v.values && how->bar)
            scale = settle(p, parts.body, how, &t);
        t.scale = t.v.values && how == &TENSOR_HEAT ? &scale : NULL; /* which looks at all values */
        if (!t.v.values)
            shown_computing(p, parts.body);
        else if (parts.body.h > 0)
            how->draw(p, parts.body, &t, focus);
        if (t.v.values && parts.bar >= 0)
            colour_scale_bar(p, &scale, parts.bar, r.x, r.w);
        if (parts.caption >= 0)
            draw_caption(p, r, &parts, how, &t);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    needs_add(out, side, s->place.path);
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Tensor t;
    size_t cell;
    bool open = tensor_open(p->s, side, p->s->place.path, &t) && t.v.values;
    Parts parts = parts_of(p, r, open && shown_vocabulary(&t.v) ? &TENSOR_WORDS : tensor_how(p->s->look.view));
    if (!open || !rect_has(parts.body, y, x))
        return false;
    const TensorHow *how = how_for(&p->s->look, &t, parts.body);
    if (how->bar)
        settle(p, parts.body, how, &t);
    if (!how->hit(p, parts.body, &t, y, x, &cell))
        return false;
    click_cell(p, &t.v, cell, command);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    const Graph *g = shown_graph(s, side);
    NodeId n = session_node(s, side, s->place.path);
    buf_puts(out, s->place.path);
    if (n == NO_NODE)
        return;
    buf_putc(out, ' ');
    graph_shape_text(g, graph_node(g, n)->dims, out);
    const char *inside = anatomy_inside_block(g, s->place.path); /* the block stands in the header */
    buf_printf(out, "\n%s%s%s", s->place.path, inside == s->place.path ? "" : "\n",
               inside == s->place.path ? "" : inside);
}

VIEW_SPEC(TENSOR, .name = "tensor");
