#include "tui/views/shown.h"

#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/edit/edits.h"

enum { LABELS_ALL = 256, LABELS_ENDS = 8 };

const Graph *shown_graph(const Session *s, Side side)
{
    return session_graph(s, side == SIDE_DIFF ? SIDE_B : side);
}

const Input *shown_input(const Session *s, Side side)
{
    return session_input(s, side);
}

const char *shown_site(const Session *s, Side side, Site site)
{
    return site_path_any(shown_graph(s, side), site);
}

const char *shown_attention(const Session *s, Side side, int block, Site site)
{
    return session_attention_site(s, shown_graph(s, side), block, site);
}

bool shown_attention_off(const Session *s, int part, int head)
{
    char line[SESSION_PATH + 32];
    const Graph *g = session_base(s);
    const char *path = site_path(g, part, SITE_Z);
    int axis = path ? node_role(g, graph_find(g, path), ROLE_HEAD) : AXIS_NONE;
    if (axis == AXIS_NONE)
        return false;
    snprintf(line, sizeof line, "ablate %s[%s=%d]", path, g->axes[axis].sym, head);
    return edits_has(s, line);
}

bool shown_head_off(const Session *s, int block, int head)
{
    return shown_attention_off(s, session_attention(s, session_base(s), block), head);
}

bool shown_open(const Session *s, Side side, const char *path, Shown *out)
{
    *out = (Shown){.side = side, .graph = shown_graph(s, side), .node = session_node(s, side, path)};
    if (out->node == NO_NODE)
        return false;
    const Graph *g = out->graph;
    session_at(s, side, out->at);
    Dims d = graph_node(g, out->node)->dims;
    int index[DIMS_MAX] = {0};
    for (int k = 0; k < d.n; k++)
        index[k] = out->at[d.axis[k]];
    out->count = graph_cells(g, out->node);
    out->cell = dims_ravel(g->axes, d, index);
    out->values = session_peek(s, side, path);
    return true;
}

bool shown_beside(const Session *s, const Shown *v, Shown *out)
{
    return s->compare == COMPARE_SIDES && session_compares(s) && s->look.range != RANGE_OWN && v->side != SIDE_DIFF &&
           shown_open(s, v->side == SIDE_A ? SIDE_B : SIDE_A, graph_node(v->graph, v->node)->path, out) && out->values;
}

bool shown_ends_apart(const Session *s)
{
    const Text *a = shown_input(s, SIDE_A)->text, *b = shown_input(s, SIDE_B)->text;
    const char *path = shown_site(s, SIDE_B, SITE_PROBS);
    NodeId n = path ? session_node(s, SIDE_B, path) : NO_NODE;
    if (!session_compares(s) || n == NO_NODE || a[TEXT_SOURCE].count || b[TEXT_SOURCE].count ||
        a[TEXT_TARGET].count == b[TEXT_TARGET].count)
        return false;
    const Graph *g = shown_graph(s, SIDE_B);
    const Dims d = graph_node(g, n)->dims;
    const int rows = g->axes[d.axis[0]].n;
    return d.n == 2 && rows == b[TEXT_TARGET].count &&
           session_cell(s, SIDE_B, n) / (size_t)g->axes[d.axis[1]].n == (size_t)rows - 1;
}

bool shown_answer(const Session *s, Side side, const char *path, Shown *out)
{
    if (!shown_open(s, side, path, out))
        return false;
    Dims d = graph_node(out->graph, out->node)->dims;
    if (d.n < 2 || out->graph->axes[d.axis[d.n - 1]].role != ROLE_ANSWER)
        return true;
    size_t words = (size_t)out->graph->axes[d.axis[d.n - 1]].n;
    out->first = out->cell / words * words;
    out->cell -= out->first;
    if (d.n == 2 && side == SIDE_A && shown_ends_apart(s)) {
        out->at[d.axis[0]] = out->graph->axes[d.axis[0]].n - 1;
        out->first = (size_t)out->at[d.axis[0]] * words;
    }
    out->count = words;
    out->values = out->values ? out->values + out->first : NULL;
    return true;
}

Ref shown_ref(const Shown *v, size_t cell)
{
    return session_ref(v->side, v->node, v->first + cell);
}

const Axis *shown_vocabulary(const Shown *v)
{
    int axis = anatomy_vocabulary(v->graph, v->node);
    return axis != AXIS_NONE ? &v->graph->axes[axis] : NULL;
}

/* A − B of two words is no number: they are the same one, or not. */
static void value_text(const Shown *v, size_t cell, int width, bool full, char out[64])
{
    const Axis *words = shown_vocabulary(v);
    float x = v->values[cell];
    if (words && v->side == SIDE_DIFF)
        snprintf(out, 64, "%s", x == 0 ? "same" : "other");
    else if (words && x >= 0 && x < (float)words->n)
        axis_label(words, (int)x, out, 64);
    else
        (full ? number_full_text : number_text)(out, 64, x, width < 12 ? width : 12);
}

int shown_number(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style)
{
    char text[64];
    value_text(v, cell, width, false, text);
    int used = canvas_text(p->c, y, x, width, style, text);
    canvas_ref(p->c, y, x, used, shown_ref(v, cell));
    return used;
}

int shown_full(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style)
{
    char text[64];
    value_text(v, cell, width, true, text);
    int used = canvas_text(p->c, y, x, width, style, text);
    canvas_ref(p->c, y, x, used, shown_ref(v, cell));
    return used;
}

int shown_full_cells(const Shown *v, size_t cell, int width)
{
    char text[64];
    value_text(v, cell, width, true, text);
    return utf8_cells(text);
}

static void put_right(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style,
                      const char *text)
{
    int used = utf8_cells(text) < width ? utf8_cells(text) : width;
    canvas_text(p->c, y, x + width - used, used, style, text);
    canvas_ref(p->c, y, x + width - used, used, shown_ref(v, cell));
}

void shown_number_right(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style)
{
    char text[64];
    value_text(v, cell, width, false, text);
    put_right(p, v, cell, y, x, width, style, text);
}

bool shown_is_share(const Shown *v)
{
    static const Site SHARES[] = {SITE_PATTERN, SITE_MEAN_PATTERN, SITE_HEADS_SUM,
                                  SITE_PROBS,   SITE_LENS_PROBS,   SITE_OTHER_PROBS};
    for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++)
        if (site_is(v->graph, graph_node(v->graph, v->node)->path, SHARES[i]))
            return true;
    return false;
}

void shown_share_right(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style)
{
    shown_share_to(p, v, cell, y, x, width, style, 1);
}

void shown_share_to(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style, int decimals)
{
    char text[32];
    bool points = v->side == SIDE_DIFF;
    (points ? points_text_to : share_text_to)(text, sizeof text, v->values[cell], decimals);
    char *gap = strchr(text, ' ');
    if (gap && utf8_cells(text) > width)
        memmove(gap, gap + 1, strlen(gap));
    if (utf8_cells(text) > width)
        utf8_print(text, sizeof text, points ? "%.0f" : "%.0f%%", 100 * (double)v->values[cell]);
    if (utf8_cells(text) > width)
        number_text(text, sizeof text, v->values[cell], width);
    put_right(p, v, cell, y, x, width, style, text);
}

const char *shown_label(const Graph *g, Dims d, size_t joint, char *out, size_t n)
{
    int index[DIMS_MAX] = {0};
    dims_unravel(g->axes, d, joint, index);
    size_t used = 0;
    out[0] = '\0';
    for (int k = 0; k < d.n && used < n; k++) {
        const Axis *a = &g->axes[d.axis[k]];
        char label[64];
        axis_label(a, index[k], label, sizeof label);
        bool plain = label[0] >= '0' && label[0] <= '9';
        int more = utf8_print(out + used, n - used, "%s%s", d.n > 1 && plain ? a->sym : "", label);
        used += more > 0 ? (size_t)more : 0;
    }
    return out;
}

int shown_widest(const Graph *g, Dims d)
{
    size_t n = graph_dims_cells(g, d), ends = n > LABELS_ALL ? LABELS_ENDS : n;
    int widest = 0;
    for (size_t i = 0; i < n; i += i + 1 == ends && ends < n ? n - 2 * ends + 1 : 1) {
        char label[64];
        int cells = utf8_cells(shown_label(g, d, i, label, sizeof label));
        widest = cells > widest ? cells : widest;
    }
    return widest;
}

int shown_axis_widest(const Axis *a, int most)
{
    int widest = 1;
    for (int i = 0; i < a->n; i++) {
        char label[64];
        int cells = utf8_cells(axis_label(a, i, label, sizeof label));
        widest = cells > widest ? cells : widest;
    }
    return widest < most ? widest : most;
}

const Axis *shown_axis_of_a(const Session *s, const Shown *v, int k)
{
    Shown of;
    if (v->side != SIDE_DIFF || !shown_open(s, SIDE_A, graph_node(v->graph, v->node)->path, &of))
        return NULL;
    const Dims d = graph_node(of.graph, of.node)->dims;
    return k >= 0 && k < d.n ? &of.graph->axes[d.axis[k]] : NULL;
}

const char *shown_pair(const Axis *of_a, const Axis *axis, int i, int width, char *out, size_t n)
{
    char own[64], other[64], cut[2][64];
    const char *b = axis_label(axis, i, own, sizeof own),
               *a = of_a && i < of_a->n ? axis_label(of_a, i, other, sizeof other) : b;
    if (strcmp(a, b) == 0) {
        utf8_print(out, n, "%s", b);
        return out;
    }
    const int room = width - 1, half = room / 2, left = room - utf8_cells(b), most = left > half ? left : half,
              cells = utf8_cells(a) < most ? utf8_cells(a) : most;
    utf8_print(out, n, "%s/%s", utf8_fit(cut[0], sizeof cut[0], a, cells),
               utf8_fit(cut[1], sizeof cut[1], b, room - cells));
    return out;
}

int shown_pairs_widest(const Axis *of_a, const Axis *a, int most)
{
    enum { MORE = 4 };
    const int own = shown_axis_widest(a, most);
    int widest = own;
    for (int i = 0; of_a && i < a->n; i++) {
        char label[64];
        const int cells = utf8_cells(shown_pair(of_a, a, i, own + MORE, label, sizeof label));
        widest = cells > widest && cells <= own + MORE ? cells : widest;
    }
    return widest;
}

void shown_axes(const Graph *g, Dims d, Buf *out)
{
    for (int k = 0; k < d.n; k++)
        buf_printf(out, "%s%s", k ? "," : "", g->axes[d.axis[k]].sym);
}

const char *shown_lengths(const Graph *g, Dims d, char *out, size_t n)
{
    size_t used = 0;
    snprintf(out, n, "%s", d.n ? "" : "1");
    for (int k = 0; k < d.n && used < n; k++) {
        int more = snprintf(out + used, n - used, "%s%d", k ? "×" : "", g->axes[d.axis[k]].n);
        used += more > 0 ? (size_t)more : 0;
    }
    return out;
}

void shown_computing(const Paint *p, Rect r)
{
    if (r.h > 0)
        canvas_text(p->c, r.y + (r.h - 1) / 2, r.x, r.w, STYLE_DIM, "computing…");
}

int shown_clauses(const Paint *p, int y, int x, int width, Style style, const char *text)
{
    Buf part = {0};
    size_t n = strlen(text);
    buf_puts(&part, text);
    while (utf8_cells(buf_str(&part)) > width) {
        while (n > 0 && text[n] != ',' && text[n] != ';')
            n--;
        if (!n)
            break;
        buf_clear(&part);
        buf_printf(&part, "%.*s", (int)n--, text);
    }
    const int used = canvas_text(p->c, y, x, width, style, n ? buf_str(&part) : text);
    buf_free(&part);
    return used;
}

size_t scroll_first(size_t total, size_t here, size_t room)
{
    if (total <= room)
        return 0;
    size_t first = here > room / 2 ? here - room / 2 : 0;
    return first > total - room ? total - room : first;
}

size_t scroll_both(size_t total, size_t here, size_t also, size_t room)
{
    const size_t first = scroll_first(total, here, room);
    if (also < first && here - also < room)
        return also;
    return also >= first + room && also - here < room ? also - room + 1 : first;
}

void focus_cursor(const Paint *p, bool focus, int y, int x)
{
    if (focus && rect_has(p->c->clip, y, x)) {
        p->c->cursor_y = y;
        p->c->cursor_x = x;
    }
}

void click_cell(const Paint *p, const Shown *v, size_t cell, Buf *command)
{
    (void)p;
    if (cell == v->cell) {
        buf_puts(command, "in");
        return;
    }
    buf_puts(command, "goto ");
    address_put(v->graph, v->node, v->first + cell, command);
}
