#include "tui/views/attention/attend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/play.h"
#include "core/session/screens.h"
#include "tui/views/spread.h"

enum { PAIR = 20, PAIR_BRIEF = 8 }; /* cells of a word of A and one of B, in a title */

static bool is_attention(const Session *s, Side side, const char *path)
{
    NodeId n = session_node(s, side, path);
    const Graph *g = shown_graph(s, side);
    return node_role(g, n, ROLE_QUERY) != AXIS_NONE && node_role(g, n, ROLE_KEY) != AXIS_NONE;
}

bool attend_path(const Session *s, Side side, int block, char out[SESSION_PATH])
{
    const Graph *g = shown_graph(s, side);
    const char *pattern = shown_attention(s, side, block, SITE_PATTERN);
    if (is_attention(s, side, s->place.path))
        session_in_block(g, s->place.path, block < 0 ? session_block(s) : block, out);
    else
        snprintf(out, SESSION_PATH, "%s", pattern ? pattern : "");
    const char *all = attention_over_heads(s, g, block);
    if (all)
        snprintf(out, SESSION_PATH, "%s", all);
    return *out != '\0';
}

const char *attend_cursor(const Session *s, Side side)
{
    return attention_over_heads(s, shown_graph(s, side), -1);
}

const char *attend_probe(const Session *s, Side side, Site site)
{
    return shown_attention(s, side, -1, site);
}

static float whole_of(const Graph *g, const Attend *a)
{
    int heads = graph_role(g, ROLE_HEAD, SEQUENCE_ANY); /* the sum itself has lost the axis */
    if (site_is(g, a->path, SITE_HEADS_SUM))
        return heads == AXIS_NONE ? 1 : (float)g->axes[heads].n;
    return a->pattern || site_is(g, a->path, SITE_MEAN_PATTERN) || site_is(g, a->path, SITE_ROLLOUT) ? 1 : 0;
}

/* What the softmax of these shares got, where something is masked there. */
static const char *masked_path(const Session *s, Side side, const char *path)
{
    const Graph *g = shown_graph(s, side);
    const int part = side == SIDE_DIFF || !g ? -1 : anatomy_of(g, path);
    return part < 0 ? NULL : site_path(g, part, SITE_SCORES_MASKED);
}

bool attend_masked_at(const Attend *a, int t, int u)
{
    if (!a->masked.values)
        return false;
    const Graph *g = a->masked.graph;
    const Dims d = graph_node(g, a->masked.node)->dims;
    int index[DIMS_MAX] = {0};
    for (int i = 0; i < d.n; i++) {
        const int axis = d.axis[i];
        index[i] = &g->axes[axis] == a->u_axis ? u : &g->axes[axis] == a->t_axis ? t : a->masked.at[axis];
    }
    const float x = a->masked.values[dims_ravel(g->axes, d, index)];
    return isinf(x) && x < 0;
}

bool attend_masked(const Attend *a, int u)
{
    return attend_masked_at(a, a->at_t, u);
}

static bool open_path(const Session *s, Side side, const char *path, Attend *out)
{
    Attend a = {0};
    snprintf(a.path, sizeof a.path, "%s", path);
    if (!shown_open(s, side, a.path, &a.v))
        return false;
    const Graph *g = a.v.graph;
    Dims d = graph_node(g, a.v.node)->dims;
    int t = dims_role(g, d, ROLE_QUERY), u = dims_role(g, d, ROLE_KEY), h = dims_role(g, d, ROLE_HEAD);
    if (t == AXIS_NONE || u == AXIS_NONE)
        return false;
    a.t_axis = &g->axes[t];
    a.u_axis = &g->axes[u];
    a.t_of_a = shown_axis_of_a(s, &a.v, dims_find(d, t));
    a.u_of_a = shown_axis_of_a(s, &a.v, dims_find(d, u));
    a.t = lattice_of(a.t_axis);
    a.u = lattice_of(a.u_axis);
    a.at_t = a.v.at[t];
    a.at_u = a.v.at[u];
    a.heads = h == AXIS_NONE ? 1 : g->axes[h].n;
    a.head = h == AXIS_NONE ? 0 : a.v.at[h];
    int index[DIMS_MAX] = {0};
    for (int i = 0; i < d.n; i++)
        index[i] = d.axis[i] == t || d.axis[i] == u || d.axis[i] == h ? 0 : a.v.at[d.axis[i]];
    a.base = dims_ravel(g->axes, d, index);
    a.t_step = dims_stride(g->axes, d, t);
    a.u_step = dims_stride(g->axes, d, u);
    a.h_step = h == AXIS_NONE ? 0 : dims_stride(g->axes, d, h);
    a.pattern = h != AXIS_NONE && site_is(g, a.path, SITE_PATTERN);
    a.whole = whole_of(g, &a);
    a.in_share = a.whole == 1 || (side == SIDE_DIFF && a.whole > 0);
    const char *masked = a.whole > 0 ? masked_path(s, side, path) : NULL;
    if (!masked || !shown_open(s, side, masked, &a.masked) || !a.masked.values)
        a.masked = (Shown){.values = NULL};
    a.seen = a.u_axis->n;
    for (int k = 0; a.masked.values && k < a.u_axis->n; k++)
        a.seen -= attend_masked(&a, k);
    *out = a;
    return true;
}

bool attend_open(const Session *s, Side side, int block, Attend *out)
{
    char path[SESSION_PATH];
    return attend_path(s, side, block, path) && open_path(s, side, path, out);
}

void attend_needs(const Session *s, Side side, bool probes, Needs *out)
{
    static const Site PROBES[] = {SITE_ROW_SUM, SITE_ENTROPY, SITE_LARGEST};
    char path[SESSION_PATH];
    if (!attend_path(s, side, -1, path))
        return;
    needs_add(out, side, path);
    const char *masked = masked_path(s, side, path);
    if (masked && (site_is(shown_graph(s, side), path, SITE_PATTERN) || attend_cursor(s, side)))
        needs_add(out, side, masked);
    if (s->compare == COMPARE_SIDES && side != SIDE_DIFF) /* one scale for both */
        needs_add(out, side == SIDE_A ? SIDE_B : SIDE_A, path);
    if (!probes || side == SIDE_DIFF || !site_is(shown_graph(s, side), path, SITE_PATTERN))
        return;
    for (size_t i = 0; i < sizeof PROBES / sizeof *PROBES; i++)
        needs_add(out, side, attend_probe(s, side, PROBES[i]));
}

size_t attend_cell(const Attend *a, int head, int t, int u)
{
    return a->base + (size_t)head * a->h_step + (size_t)t * a->t_step + (size_t)u * a->u_step;
}

int attend_largest(const Attend *a, int head)
{
    int best = a->v.values ? 0 : -1;
    for (int u = 1; best >= 0 && u < a->u_axis->n; u++)
        if (fabsf(a->v.values[attend_cell(a, head, a->at_t, u)]) >
            fabsf(a->v.values[attend_cell(a, head, a->at_t, best)]))
            best = u;
    return best;
}

static Tiling tiling_for_rows(const Attend *a, Tiling tiling)
{
    bool same = a->t.prefix == a->u.prefix && a->t.rows == a->u.rows && a->t.cols == a->u.cols;
    return same ? tiling : (Tiling){.gy = 1, .gx = 1};
}

float attend_tile(const Attend *a, int head, Tiling tiling, int tile_t, int tile_u, PoolKind kind, Ref *ref)
{
    return attend_tiles(a, head, tiling_for_rows(a, tiling), tiling, tile_t, tile_u, kind, ref);
}

typedef struct Pooled {
    size_t best;
    double sum;
    int n;
} Pooled;

/* One cell more; a NaN stays the best. */
static void pool(const Attend *a, size_t cell, PoolKind kind, Pooled *p)
{
    float x = a->v.values[cell], top = p->n ? a->v.values[p->best] : 0;
    bool more = kind == POOL_ABSMAX ? fabsf(x) > fabsf(top) : x > top;
    if (!p->n++ || (!isnan(top) && (isnan(x) || more)))
        p->best = cell;
    p->sum += (double)x;
}

static float pooled(const Attend *a, const Pooled *p, PoolKind kind, Ref *ref)
{
    bool mean = kind == POOL_MEAN && p->n > 1;
    *ref = mean ? (Ref){0} : shown_ref(&a->v, p->best);
    return mean ? (float)(p->sum / p->n) : a->v.values[p->best];
}

float attend_tiles(const Attend *a, int head, Tiling rows, Tiling tiling, int tile_t, int tile_u, PoolKind kind,
                   Ref *ref)
{
    int n = tiling_size(a->t, rows, tile_t), m = tiling_size(a->u, tiling, tile_u);
    Pooled p = {0};
    for (int i = 0; i < n; i++) {
        int t = tiling_token(a->t, rows, tile_t, i);
        for (int j = 0; j < m; j++)
            pool(a, attend_cell(a, head, t, tiling_token(a->u, tiling, tile_u, j)), kind, &p);
    }
    return pooled(a, &p, kind, ref);
}

float attend_row_patches(const Attend *a, int head, int row, int row_end, int col, int col_end, PoolKind kind, Ref *ref)
{
    Pooled p = {0};
    for (int y = row; y < row_end; y++)
        for (int x = col; x < col_end; x++)
            pool(a, attend_cell(a, head, a->at_t, a->u.prefix + y * a->u.cols + x), kind, &p);
    return pooled(a, &p, kind, ref);
}

float attend_row_value(const void *attend_row, int row, int col, Ref *ref)
{
    const AttendRow *r = attend_row;
    size_t cell = attend_cell(r->a, r->head, r->a->at_t, r->a->u.prefix + row * r->a->u.cols + col);
    *ref = shown_ref(&r->a->v, cell);
    return r->a->v.values[cell];
}

static void widen(const float *values, size_t count, float range[2], bool *any)
{
    Spread spread = spread_of(values, count);
    if (!spread.finite)
        return;
    range[0] = *any ? fminf(range[0], spread.min) : spread.min;
    range[1] = *any ? fmaxf(range[1], spread.max) : spread.max;
    *any = true;
}

/* By what is shown of it: a row, a head, or everything; by nothing while its values are still being computed. */
static void widen_by(const Attend *a, bool one_row, float range[2], bool *any)
{
    if (!a->v.values)
        return;
    size_t from = 0, count = a->v.count, row = (size_t)a->u_axis->n;
    for (int u = 0, y, x; one_row && a->placed && u < a->u_axis->n; u++)
        if (attend_place(a, u, &y, &x))
            widen(a->v.values + attend_cell(a, a->head, a->at_t, u), 1, range, any);
    if (one_row && a->placed)
        return;
    if (a->u_step == 1 && one_row) {
        from = attend_cell(a, a->head, a->at_t, 0);
        count = row;
    } else if (a->u_step == 1 && a->t_step == row) {
        from = attend_cell(a, a->head, 0, 0);
        count = row * (size_t)a->t_axis->n;
    }
    widen(a->v.values + from, count, range, any);
}

/* In what is shown of it. */
static bool has_nan(const Attend *a, bool one_row)
{
    const int rows = one_row ? 1 : a->t_axis->n;
    for (int t = 0; a->v.values && t < rows; t++)
        for (int u = 0; u < a->u_axis->n; u++)
            if (isnan(a->v.values[attend_cell(a, a->head, one_row ? a->at_t : t, u)]))
                return true;
    return false;
}

/* Of a head's weights, does hardly one come near the largest, so that all but a few would be dark? */
static bool few_far(const Paint *p, const Attend *a, float most)
{
    enum { FAR = 5, VALUES_MOST = 1 << 16 };
    const size_t row = (size_t)a->u_axis->n, count = row * (size_t)a->t_axis->n;
    if (!a->v.values || a->whole <= 0 || a->u_step != 1 || a->t_step != row || count > VALUES_MOST ||
        p->s->look.range == RANGE_LOG)
        return false;
    const float common = spread_common(a->v.values + attend_cell(a, a->head, 0, 0), count, 1);
    return common > 0 && FAR * common < most;
}

ColourScale attend_scale(const Paint *p, const Attend *a, bool one_row)
{
    enum { FAINT = 4 };
    const float TOLD_LEAST = 1e-3f;
    float range[2] = {0, 0}, whole[2] = {0, 0};
    bool any = false;
    widen_by(a, one_row, range, &any);
    bool sides = p->s->compare == COMPARE_SIDES && a->v.side != SIDE_DIFF, shared = p->s->look.range != RANGE_OWN;
    float own = range[1], beside[2] = {0, 0};
    bool faint = false; /* would one of the two be all dark? */
    Attend other;
    bool two = false;
    if (sides && shared) {
        any = false;
        if ((two = open_path(p->s, a->v.side == SIDE_A ? SIDE_B : SIDE_A, a->path, &other))) {
            other.head = a->head < other.heads ? a->head : other.head; /* which need not be the focused one */
            other.placed = a->placed;
            widen_by(&other, one_row, beside, &any);
        }
        range[0] = fminf(range[0], any ? beside[0] : range[0]);
        range[1] = fmaxf(range[1], any ? beside[1] : range[1]);
        faint = any && range[0] >= 0 && FAINT * fminf(own, beside[1]) < range[1];
    }
    if (a->v.side == SIDE_DIFF && a->in_share &&
        attend_listed(a)) { /* a word that is told as <0.1 points is not bright */
        range[0] = fminf(range[0], -TOLD_LEAST);
        range[1] = fmaxf(range[1], TOLD_LEAST);
    }
    ColourScale scale = colour_scale_for(p, a->v.side, a->v.node, range, 2);
    scale.log = p->s->look.range == RANGE_LOG;
    const bool all = !one_row ||
                     (a->v.side == SIDE_DIFF && !attend_listed(a)); /* a row of A − B has its matrix's tone */
    if (one_row && all) {
        any = false;
        widen_by(a, false, whole, &any);
    }
    const bool few = all && (few_far(p, a, fmaxf(fmaxf(range[1], whole[1]), -fminf(range[0], whole[0]))) ||
                             (two && few_far(p, &other, range[1])));
    scale.root = (faint || few) && (a->v.side == SIDE_DIFF || !scale.is_signed) && !scale.log && !p->s->look.locked;
    scale.own = sides && !shared;
    scale.nans = has_nan(a, one_row);
    scale.points = a->v.side == SIDE_DIFF && a->in_share;
    scale.shared = sides && shared;
    return scale;
}

ColourScale attend_heads_scale(const Paint *p, const Attend *a)
{
    float range[2] = {INFINITY, -INFINITY};
    for (int h = 0; h < a->heads; h++)
        for (int u = 0; u < a->u_axis->n; u++) {
            range[0] = fminf(range[0], a->v.values[attend_cell(a, h, a->at_t, u)]);
            range[1] = fmaxf(range[1], a->v.values[attend_cell(a, h, a->at_t, u)]);
        }
    ColourScale scale = colour_scale_for(p, a->v.side, a->v.node, range, 2);
    scale.log = p->s->look.range == RANGE_LOG;
    return scale;
}

bool attend_asks(const Attend *a, int u)
{
    return u == a->at_t && a->t_axis->sequence == a->u_axis->sequence && a->t_axis->n == a->u_axis->n;
}

bool attend_listed(const Attend *a)
{
    int row, col;
    return a->u.rows == 1 && !axis_patch(a->u_axis, a->u_axis->n - 1, &row, &col);
}

bool attend_place(const Attend *a, int u, int *row, int *col)
{
    *row = 0;
    *col = u;
    return attend_listed(a) || axis_patch(a->u_axis, u, row, col);
}

bool attend_is_mask(const Attend *a)
{
    return graph_node(a->v.graph, a->v.node)->op == OP_LEAF;
}

/* Place of (t, u) in its row, 1 = largest. */
static int attend_rank(const Attend *a)
{
    float here = a->v.values[attend_cell(a, a->head, a->at_t, a->at_u)];
    int rank = 1;
    for (int u = 0; u < a->u_axis->n; u++)
        rank += a->v.values[attend_cell(a, a->head, a->at_t, u)] > here;
    return rank;
}

int attend_sum(const Paint *p, const Shown *v, size_t cell, int y, int x, int width, Style style)
{
    static const char ONE[] = "1.000";
    if (!(fabsf(v->values[cell] - 1) < 5e-4F) || width < (int)sizeof ONE - 1)
        return shown_number(p, v, cell, y, x, width, style);
    const int used = canvas_text(p->c, y, x, width, style, ONE);
    canvas_ref(p->c, y, x, used, shown_ref(v, cell));
    return used;
}

static int row_sum(const Paint *p, const Attend *a, int y, int x, int width)
{
    Shown sum;
    const char *path = attend_probe(p->s, a->v.side, SITE_ROW_SUM);
    if (!a->pattern || a->v.side == SIDE_DIFF || width < 20 || !shown_open(p->s, a->v.side, path, &sum) || !sum.values)
        return 0;
    int used = canvas_text(p->c, y, x, width, STYLE_DIM, "   row sum ");
    return used + attend_sum(p, &sum, sum.cell, y, x + used, width - used, STYLE_TEXT);
}

int attend_value(const Paint *p, const Attend *a, int y, int x, int width)
{
    const size_t cell = attend_cell(a, a->head, a->at_t, a->at_u);
    const bool points = a->v.side == SIDE_DIFF && a->in_share;
    char number[32];
    points ? points_text(number, sizeof number, a->v.values[cell])
           : number_full_text(number, sizeof number, a->v.values[cell], 12);
    const int cells = canvas_text(p->c, y, x, width, STYLE_STRONG, number);
    canvas_ref(p->c, y, x, cells, shown_ref(&a->v, cell));
    return cells + canvas_text(p->c, y, x + cells, width - cells, STYLE_DIM, points ? " points" : "");
}

void attend_value_line(const Paint *p, const Attend *a, int y, int x, int width)
{
    size_t cell = attend_cell(a, a->head, a->at_t, a->at_u);
    const bool diff = a->v.side == SIDE_DIFF, points = diff && a->in_share && a->v.values[cell] != 0;
    char t[32], u[32], head[16] = "", number[32], words[4][160], tail[48] = "";
    axis_label(a->t_axis, a->at_t, t, sizeof t);
    axis_label(a->u_axis, a->at_u, u, sizeof u);
    if (a->h_step)
        snprintf(head, sizeof head, "h=%d,", a->head);
    const char *of = diff ? "A−B of " : ""; /* the pattern itself is another number */
    utf8_print(words[0], sizeof words[0], "%s%.60s[%s%s=%s,%s=%s] = ", of, node_name(graph_node(a->v.graph, a->v.node)),
               head, a->t_axis->sym, t, a->u_axis->sym, u);
    utf8_print(words[1], sizeof words[1], diff ? "A−B of %s,%s = " : "%s,%s ", t, u);
    utf8_print(words[2], sizeof words[2], diff ? "A−B = " : "");
    words[3][0] = '\0';
    points ? points_text(number, sizeof number, a->v.values[cell])
           : number_full_text(number, sizeof number, a->v.values[cell], 12);
    if (diff)
        snprintf(tail, sizeof tail, "%s", a->v.values[cell] == 0 ? "   no difference" : points ? " points" : "");
    else if (!attend_is_mask(a) && play_share(p->s) >= 1) /* of a row that is being filled nobody knows it yet */
        attend_masked(a, a->at_u) ? utf8_print(tail, sizeof tail, "   masked")
                                  : utf8_print(tail, sizeof tail, "   rank %d of %d", attend_rank(a), a->seen);
    int need = (int)strlen(number) + (diff ? (int)strlen(tail) : 0), pick = 0;
    while (pick < 3 && utf8_cells(words[pick]) + need > width)
        pick++;
    int used = canvas_text(p->c, y, x, width, STYLE_TEXT, words[pick]);
    int cells = canvas_text(p->c, y, x + used, width - used, STYLE_STRONG, number);
    canvas_ref(p->c, y, x + used, cells, shown_ref(&a->v, cell));
    used += cells;
    if (utf8_cells(tail) <= width - used)
        used += canvas_text(p->c, y, x + used, width - used, STYLE_DIM, tail);
    row_sum(p, a, y, x + used, width - used);
}

bool attend_click(const Attend *a, int u, Buf *command)
{
    char label[32];
    if (u == a->at_u)
        buf_puts(command, "in");
    else
        buf_printf(command, "looked %s", axis_label(a->u_axis, u, label, sizeof label));
    return true;
}

bool attend_ready(const Paint *p, Rect r, Side side, Attend *out)
{
    if (r.h < 1 || r.w < 1)
        return false;
    if (!attend_open(p->s, side, -1, out)) {
        canvas_wrap(p->c, r, STYLE_DIM,
                    side == SIDE_DIFF ? "A and B have no such scores of one shape to subtract."
                                      : "This step does not exist in this model.");
        return false;
    }
    if (!out->v.values)
        shown_computing(p, r);
    return out->v.values != NULL;
}

bool attend_off(const Session *s, const Attend *a, int head)
{
    return a->v.side != SIDE_A && a->h_step && shown_attention_off(s, anatomy_of(session_base(s), a->path), head);
}

void attend_title(const Session *s, Side side, bool one_head, bool one_row, const char *what, Buf *out)
{
    Attend a;
    if (!attend_open(s, side, -1, &a)) {
        buf_puts(out, what);
        return;
    }
    Buf cells = {0};
    char t[32], brief[32];
    shown_pair(a.t_of_a, a.t_axis, a.at_t, PAIR, t, sizeof t);
    shown_pair(a.t_of_a, a.t_axis, a.at_t, PAIR_BRIEF, brief, sizeof brief);
    const bool points = side == SIDE_DIFF && a.in_share;
    const char *name = node_name(graph_node(a.v.graph, a.v.node));
    const char *off = one_head && attend_off(s, &a, a.head) ? "off: " : "";
    buf_printf(&cells, "%s%s%s[", off, points ? "points of " : "", name);
    if (a.h_step && one_head)
        buf_printf(&cells, "h=%d,", a.head);
    else if (a.h_step)
        buf_puts(&cells, "h,");
    if (one_row)
        buf_printf(&cells, "%s=%s,%s]", a.t_axis->sym, t, a.u_axis->sym);
    else
        buf_printf(&cells, "%s,%s]", a.t_axis->sym, a.u_axis->sym);
    for (size_t n; *what; what += n + (what[n] == '\n')) {
        n = strcspn(what, "\n");
        buf_printf(out, "%s %.*s\n", buf_str(&cells), (int)n, what);
        if (!one_row) /* rather what is what than the axes' letters */
            buf_printf(out, "%s%s%s: %.*s\n", off, points ? "points of " : "", name, (int)n, what);
        if (!one_row && points)
            buf_printf(out, "%spoints: %.*s\n", off, (int)n, what);
    }
    buf_printf(out, "%s\n", buf_str(&cells));
    if (one_row && one_head && a.h_step)
        buf_printf(out, "%s%s%s, %s, head %d\n", off, points ? "points of " : "", name, t, a.head);
    if (one_row && strcmp(brief, t) != 0)
        buf_printf(out, "%s%s, %s\n", off, points ? "points" : name, t);
    if (one_row)
        buf_printf(out, "%s%s, %s", off, points ? "points" : name, brief);
    else
        buf_printf(out, "%s%s%s", off, !points ? "" : *off ? "points" : "points of ", *off && points ? "" : name);
    buf_free(&cells);
}
