/* Mistakes with the order of heads: how the width is cut into q, k, v, heads and the inside of a head, and how heads
 * are put together; and with experts: how the weights of those that a token gets are made, and which experts they
 * meet. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/diff/diff_trial.h"

typedef enum Excerpt {
    CUT_INTERLEAVED,   /* [e,h]: a head is every H-th column */
    CUT_HEAD_THEN_QKV, /* of a fused q k v: [h,3,e] */
    CUT_HEAD_LAST_QKV, /* [h,e,3] */
    CUT_QKV_OF_HEADS,  /* [3,h,e] of what is fused [h,3,e] */
    CUT_EXCHANGED,     /* q and k */
    CUT_ROTATED,       /* q is k, k is v, v is q */
    CUT_ROTATED_BACK,  /* q is v, k is q, v is k */
    CUT_Q_AND_V,
    CUT_K_AND_V,
    CUT_COUNT
} Excerpt;

static const char *const NODES[] = {"attn.q", "attn.k", "attn.v"};
static const char *const WEIGHTS[] = {"attn.w_q", "attn.w_k", "attn.w_v"};
static const char *const BIASES[] = {"attn.b_q", "attn.b_k", "attn.b_v"};

/* Column of q, k and v side by side that is number `at` of a tensor which is fused head by head, [h,3,e]. */
static size_t of_heads(size_t at, size_t width, size_t all)
{
    return at / width % 3 * all + at / (3 * width) * width + at % width;
}

/* Column of q (0), k (1) or v (2) that column (h,e) of `which` really is: an index into all three side by side.
 * by_head: the file has them fused head by head. */
static size_t source(Excerpt cut, bool by_head, size_t which, size_t h, size_t e, size_t heads, size_t width)
{
    size_t all = heads * width, column = (h * width + e) * 3 + which;
    switch (cut) {
    case CUT_INTERLEAVED: return which * all + e * heads + h;
    case CUT_HEAD_THEN_QKV: return (h * 3 + which) * width + e;
    case CUT_HEAD_LAST_QKV: return by_head ? of_heads(column, width, all) : column;
    case CUT_QKV_OF_HEADS: return of_heads(which * all + h * width + e, width, all);
    case CUT_EXCHANGED: return (which < 2 ? 1 - which : which) * all + h * width + e;
    case CUT_ROTATED: return (which + 1) % 3 * all + h * width + e;
    case CUT_ROTATED_BACK: return (which + 2) % 3 * all + h * width + e;
    case CUT_Q_AND_V: return (2 - which) * all + h * width + e;
    case CUT_K_AND_V: return (which ? 3 - which : 0) * all + h * width + e;
    default: UNREACHABLE("a cut of no kind");
    }
}

/* Are the three tensors needed to fill `which`? Interleaving stays within one. */
static bool needs(Excerpt cut, int which, int from)
{
    if (cut == CUT_INTERLEAVED)
        return which == from;
    return cut != CUT_EXCHANGED || (which < 2 && from == 1 - which);
}

/* Are q, k and v stored as one tensor, head by head? Programs that do so, after Megatron's, call it query_key_value. */
static bool stored_by_head(const Trial *t)
{
    for (NodeId n = 0; t->s->text && n <= t->target->node; n++) {
        const Node *node = graph_node(t->s->graph, n);
        if (node->op == OP_LEAF && path_ends(node->path, WEIGHTS[0]))
            return node->leaf.origin && strstr(node->leaf.origin, "query_key_value");
    }
    return false;
}

/* Something [rows, (h,e)] or [(h,e), rows] of q, k or v with its columns taken from where the cut has them; of weights
 * a column is `inner` long. from[i] may be NULL where the cut does not need it. */
static const float *recut(Trial *t, Excerpt cut, int which, const float *const from[3], size_t rows, size_t heads,
                          size_t inner)
{
    size_t width = (size_t)t->size.head_dim, all = heads * width;
    const bool by_head = stored_by_head(t);
    float *out = arena_alloc(&t->arena, size_mul(size_mul(rows, all), inner * sizeof *out));
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < all; c++) {
            size_t at = source(cut, by_head, (size_t)which, c / width, c % width, heads, width);
            memcpy(out + (r * all + c) * inner, from[at / all] + (r * all + at % all) * inner, inner * sizeof *out);
        }
    return out;
}

static NodeId node_of(Trial *t, const char *block, const char *name)
{
    return graph_find(t->s->graph, block_path(&t->arena, block, name));
}

/* Adds the edit of one leaf or value node, taking its cells from the three of its kind. False when one of them is not
 * to be had. */
static bool add_recut(Trial *t, const char *block, Excerpt cut, int which, const char *const names[3], size_t rows,
                      size_t inner, bool recorded)
{
    const float *from[3] = {NULL, NULL, NULL};
    NodeId target = node_of(t, block, names[which]);
    if (target == NO_NODE)
        return true; /* a model without these biases */
    for (int i = 0; i < 3; i++) {
        NodeId n = node_of(t, block, names[i]);
        if (!needs(cut, which, i))
            continue;
        const DiffTensor *x = recorded ? diff_reference_find(t->r, n) : NULL;
        if (n == NO_NODE || (recorded && !x))
            return false;
        if (graph_cells(t->s->graph, n) != graph_cells(t->s->graph, target))
            return false; /* of a source and a target of other lengths, or of shared keys */
        from[i] = recorded ? x->values : run_need(t->s->run, n);
    }
    /* of shared keys there are fewer heads */
    const size_t cells = graph_cells(t->s->graph, target), heads = cells / (rows * (size_t)t->size.head_dim * inner);
    if (!heads || heads * rows * (size_t)t->size.head_dim * inner != cells)
        return false;
    trial_add(t, EDIT_VALUES, graph_node(t->s->graph, target)->path)->data = recut(t, cut, which, from, rows, heads,
                                                                                   inner);
    return true;
}

/* q, k and v of one block cut otherwise: where the stretch makes them, through their weights; where the reference has
 * them, themselves. */
static bool add_block(Trial *t, const char *block, Excerpt cut)
{
    const Graph *g = t->s->graph;
    size_t width = (size_t)t->size.width;
    for (int which = 0; which < (cut == CUT_EXCHANGED ? 2 : 3); which++) {
        NodeId n = node_of(t, block, NODES[which]);
        bool made = n <= t->target->node && t->in[n];
        if (made && (!add_recut(t, block, cut, which, WEIGHTS, 1, width, false) ||
                     !add_recut(t, block, cut, which, BIASES, 1, 1, false)))
            return false;
        if (!made && trial_has(t, n) &&
            !add_recut(t, block, cut, which, NODES, (size_t)g->axes[graph_node(g, n)->dims.axis[0]].n, 1, true))
            return false;
    }
    return true;
}

/* Heads put side by side as [e,h]: the columns of W_O in that order. */
static void add_merge(Trial *t, NodeId w_o)
{
    size_t heads = (size_t)t->size.heads, width = (size_t)t->size.head_dim, all = heads * width;
    const float *w = run_need(t->s->run, w_o);
    size_t rows = graph_cells(t->s->graph, w_o) / all;
    float *out = arena_alloc(&t->arena, size_mul(size_mul(rows, all), sizeof *out));
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < all; c++)
            out[r * all + c] = w[r * all + c % width * heads + c / width];
    trial_add(t, EDIT_VALUES, graph_node(t->s->graph, w_o)->path)->data = out;
}

/* The first node of the stretch in each attention that has to do with heads. Fills path; false past the last block. */
static bool next_block(const Trial *t, NodeId *from, const char **path)
{
    const char *last = *path;
    for (NodeId n = *from; n <= t->target->node; n++) {
        const char *p = graph_node(t->s->graph, n)->path;
        if (!t->in[n] || !(path_ends(p, "attn.q") || path_ends(p, "attn.k") || path_ends(p, "attn.v") ||
                           path_ends(p, "attn.scores_raw") || path_ends(p, "attn.z")))
            continue;
        size_t scope = (size_t)(strrchr(p, '.') - p) + 1;
        if ((last && strncmp(last, p, scope) == 0) || !trial_here(t, p))
            continue;
        *path = p;
        *from = n + 1;
        return true;
    }
    return false;
}

static void attempt_cut(Trial *t, Excerpt cut, bool merged, const char *text)
{
    const char *block = NULL;
    NodeId from = 0;
    trial_begin(t);
    while (next_block(t, &from, &block))
        if (!add_block(t, block, cut))
            return;
    if (!t->mistake_count)
        return;
    for (NodeId n = trial_find(t, "attn.w_o", 0); merged && n != NO_NODE; n = trial_find(t, "attn.w_o", n + 1))
        add_merge(t, n);
    trial_attempt(t, "%s", text);
}

/* z[t,h,e] laid down in another order of its axes and read as [t,(h e)]: heads put together without moving the token
 * axis in front of the head axis, or with another transpose. */
typedef struct Order {
    int axis[3]; /* of t 0, h 1, e 2: how the cells lie */
    const char *text;
} Order;

static bool make_merged(Trial *t, NodeId z, const void *context, float *out)
{
    const Order *o = context;
    const float *x = diff_reference_find(t->r, z) == t->target ? NULL : trial_known(t, z);
    size_t heads = (size_t)t->size.heads, width = (size_t)t->size.head_dim;
    size_t n[3] = {graph_cells(t->s->graph, z) / (heads * width), heads, width}, stride[3] = {heads * width, width, 1};
    const int *a = o->axis;
    if (!x)
        x = trial_values_with(t, z);
    for (size_t i = 0; i < n[a[0]]; i++)
        for (size_t j = 0; j < n[a[1]]; j++)
            for (size_t k = 0; k < n[a[2]]; k++)
                *out++ = x[i * stride[a[0]] + j * stride[a[1]] + k * stride[a[2]]];
    return true;
}

/* z of every block where the stretch makes it or reads it. */
static void attempt_merged(Trial *t, const Order *o)
{
    const Graph *g = t->s->graph;
    trial_begin(t);
    if (!trial_wanted(t, o->text))
        return;
    t->made = true;
    for (NodeId n = 0; n <= t->target->node; n++) {
        const char *path = graph_node(g, n)->path;
        bool z = path_ends(path, "attn.z"), w_o = path_ends(path, "attn.w_o");
        if ((!z && !w_o) || !t->in[n] || !trial_here(t, path))
            continue;
        NodeId made = z ? n : trial_beside(t, path, "attn.z");
        if (!trial_has(t, made) || (w_o && t->in[made])) /* that one is found by itself */
            continue;
        float *out = arena_alloc(&t->arena, size_mul(graph_cells(g, made), sizeof *out));
        if (!make_merged(t, made, o, out))
            return;
        trial_add(t, EDIT_VALUES, graph_node(g, made)->path)->data = out;
    }
    trial_attempt(t, "%s", o->text);
}

void trial_merged(Trial *t)
{
    static const Order ORDERS[] = {
        {{1, 0, 2}, "the recording joins the heads without first moving the token axis before the head axis"},
        {{0, 2, 1}, "the recording joins the heads interleaved, (e h) instead of (h e)"},
        {{1, 2, 0}, "the recording joins the heads with a wrong transpose, stored as [h,e,t]"},
        {{2, 0, 1}, "the recording joins the heads with a wrong transpose, stored as [e,t,h]"},
        {{2, 1, 0}, "the recording joins the heads with a wrong transpose, stored as [e,h,t]"}};
    for (size_t i = 0; i < sizeof ORDERS / sizeof *ORDERS; i++)
        attempt_merged(t, &ORDERS[i]);
}

/* What the queries of a block may look at, [rows,keys], 0: not. NULL where it has no mask; *ok: or none of that shape.
 */
static const float *seen_by(const Trial *t, NodeId masked, size_t cells, bool *ok)
{
    const Graph *g = t->s->graph;
    *ok = masked == NO_NODE;
    for (int i = 0; !*ok && i < op_inputs(graph_node(g, masked)->op); i++) {
        NodeId mask = graph_node(g, masked)->in[i];
        *ok = strstr(graph_node(g, mask)->path, "_mask") && graph_cells(g, mask) == cells;
        if (*ok)
            return run_need(t->s->run, mask);
    }
    return NULL;
}

/* The factor on the scores of heads of another width: 1/√width where it is that here. */
static double factor_of(const Trial *t, size_t width)
{
    bool by_width = dm_abs((double)t->size.scale * dm_sqrt((double)t->size.head_dim) - 1) < 1e-5;
    return by_width ? 1 / dm_sqrt((double)width) : (double)t->size.scale;
}

/* q or k turned to the tokens' places in heads of that width; itself where nothing is turned here. NULL where it can't
 * be. */
static const float *turned(Trial *t, const float *x, size_t rows, size_t heads)
{
    const VitConfig *own = t->s->config;
    const size_t all = (size_t)t->size.heads * (size_t)t->size.head_dim;
    if (!x || !own || own->rope == VIT_ROPE_NONE)
        return x;
    VitConfig c = *own;
    c.heads = (int)heads;
    c.head_dim = (int)(all / heads);
    if (own->rope == VIT_ROPE_LEARNED || c.head_dim % 4 || rows != (size_t)vit_tokens(&c))
        return NULL;
    const size_t width = (size_t)c.head_dim;
    const float *cosine, *sine;
    const int *partner;
    trial_rope_tables(t, &c, &cosine, &sine, &partner);
    float *out = arena_alloc(&t->arena, size_mul(size_mul(rows, all), sizeof *out));
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < all; i++) {
            const size_t e = i % width, at = r * width + e;
            out[r * all + i] = x[r * all + i] * cosine[at] + x[r * all + i - e + (size_t)partner[e]] * sine[at];
        }
    return out;
}

/* Attention over q, k and v cut into another number of heads: z[t,(h e)]. */
static bool make_z(Trial *t, NodeId z, const void *context, float *out)
{
    const Graph *g = t->s->graph;
    const char *path = graph_node(g, z)->path;
    size_t heads = *(const size_t *)context, all = (size_t)t->size.heads * (size_t)t->size.head_dim,
           width = all / heads;
    NodeId nq = trial_beside(t, path, "attn.q"), nk = trial_beside(t, path, "attn.k"),
           nv = trial_beside(t, path, "attn.v");
    const float *q = trial_known(t, nq), *k = trial_known(t, nk), *v = trial_known(t, nv);
    size_t rows = graph_cells(g, nq) / all, keys = (size_t)g->axes[graph_node(g, nk)->dims.axis[0]].n;
    q = turned(t, q, rows, heads);
    k = turned(t, k, keys, heads);
    if (!q || !k || !v)
        return false;
    bool ok = keys * all == graph_cells(g, nk); /* not of keys that heads share */
    const float *seen = ok ? seen_by(t, trial_beside(t, path, "attn.scores_masked"), rows * keys, &ok) : NULL;
    if (!ok)
        return false;
    double *score = xcalloc(keys, sizeof *score), scale = factor_of(t, width);
    for (size_t h = 0; h < heads; h++)
        for (size_t r = 0; r < rows; r++) {
            double most = -HUGE_VAL, sum = 0;
            for (size_t u = 0; u < keys; u++) {
                score[u] = 0;
                for (size_t e = h * width; e < (h + 1) * width; e++)
                    score[u] += (double)q[r * all + e] * (double)k[u * all + e];
                score[u] = seen && seen[r * keys + u] == 0 ? -HUGE_VAL : score[u] * scale;
                most = score[u] > most ? score[u] : most;
            }
            for (size_t u = 0; u < keys; u++)
                sum += score[u] = dm_exp(score[u] - most);
            for (size_t e = h * width; e < (h + 1) * width; e++) {
                double x = 0;
                for (size_t u = 0; u < keys; u++)
                    x += score[u] / sum * (double)v[u * all + e];
                out[r * all + e] = (float)x;
            }
        }
    free(score);
    return true;
}

/* [t,(h e)] whose numbers are read as [h,t,e]. */
bool trial_make_untransposed(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const Graph *g = t->s->graph;
    const Dims d = graph_node(g, n)->dims;
    const float *x = d.n == 3 ? trial_known(t, n) : NULL;
    if (!x)
        return false;
    const size_t tokens = (size_t)g->axes[d.axis[0]].n, heads = (size_t)g->axes[d.axis[1]].n,
                 width = (size_t)g->axes[d.axis[2]].n;
    for (size_t i = 0; i < tokens * heads; i++)
        memcpy(out + i * width, x + (i % heads * tokens + i / heads) * width, width * sizeof *out);
    return true;
}

bool trial_heads_recorded(const Trial *t)
{
    static const char *const TABLES[] = {"attn.scores_raw",    "attn.scores_scaled", "attn.scores_capped",
                                         "attn.scores_biased", "attn.scores_masked", "attn.pattern"};
    for (int i = 0; i < t->r->count; i++)
        for (size_t k = 0; k < sizeof TABLES / sizeof *TABLES; k++)
            if (path_ends(graph_node(t->s->graph, t->r->tensor[i].node)->path, TABLES[k]))
                return true;
    for (int i = 0; t->report && i < t->report->count; i++)
        if (t->report->row[i].state != DIFF_BEGINS && t->report->row[i].tensor->node != t->target->node &&
            path_ends(graph_node(t->s->graph, t->report->row[i].tensor->node)->path, "attn.z"))
            return true;
    return false;
}

void trial_head_counts(Trial *t)
{
    static const size_t COUNTS[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
    size_t all = (size_t)t->size.heads * (size_t)t->size.head_dim;
    double cost = 0;
    if (trial_heads_recorded(t) || trial_find_edge(t, "attn.scores_biased", 0) != NO_NODE ||
        (t->s->text && trial_find_edge(t, "attn.q_turned", 0) != NO_NODE)) /* of texts trial_settings tries them */
        return;
    for (NodeId n = trial_find(t, "attn.z", 0); n != NO_NODE; n = trial_find(t, "attn.z", n + 1))
        cost += (double)graph_cells(t->s->graph, n) * (double)graph_cells(t->s->graph, n) / (double)all;
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS && cost > 0 && cost < 5e8; i++)
        if (COUNTS[i] != (size_t)t->size.heads && all % COUNTS[i] == 0)
            trial_each(t, "attn.z", false, make_z, &COUNTS[i],
                       arena_printf(&t->arena, "the recording has %zu head%s of %zu, here there are %d of %d",
                                    COUNTS[i], COUNTS[i] == 1 ? "" : "s", all / COUNTS[i], t->size.heads,
                                    t->size.head_dim));
}

void trial_heads(Trial *t)
{
    static const char *const TEXTS[CUT_COUNT] = {
        [CUT_INTERLEAVED] = "the recording splits q, k and v into heads interleaved, (e h) instead of (h e)",
        [CUT_HEAD_THEN_QKV] = "the recording splits the fused q, k, v head by head, (h qkv e) instead of (qkv h e)",
        [CUT_HEAD_LAST_QKV] = "the recording splits the fused q, k, v column by column, (h e qkv) instead of (qkv h e)",
        [CUT_QKV_OF_HEADS] =
            "the recording splits the fused q, k, v whole, (qkv h e) instead of head by head, (h qkv e)",
        [CUT_EXCHANGED] = "q and k are exchanged in the recording",
        [CUT_ROTATED] = "in the recording q has the weights of k, k those of v, and v those of q",
        [CUT_ROTATED_BACK] = "in the recording q has the weights of v, k those of q, and v those of k",
        [CUT_Q_AND_V] = "q and v are exchanged in the recording",
        [CUT_K_AND_V] = "k and v are exchanged in the recording",
    };
    static const char LAST_OF_HEADS[] =
        "the recording splits the fused q, k, v column by column, (h e qkv) instead of head by head, (h qkv e)";
    /* of q alone, or of k alone, no more is known than whose weights it has */
    const char *path = graph_node(t->s->graph, t->target->node)->path;
    const char *exchanged = path_ends(path, "attn.q")   ? "q has the weights of k in the recording"
                            : path_ends(path, "attn.k") ? "k has the weights of q in the recording"
                                                        : TEXTS[CUT_EXCHANGED];
    bool alone = trial_find(t, "attn.scores_raw", 0) == NO_NODE || trial_find(t, "attn.z", 0) == NO_NODE;
    const bool by_head = stored_by_head(
        t); /* to do as the file has it is no mistake; of three heads both are the same */
    for (int cut = 0; cut < (alone ? CUT_ROTATED : CUT_COUNT); cut++)
        if (cut != CUT_HEAD_THEN_QKV || !by_head)
            attempt_cut(t, (Excerpt)cut, false,
                        cut == CUT_EXCHANGED                  ? exchanged
                        : cut == CUT_HEAD_LAST_QKV && by_head ? LAST_OF_HEADS
                                                              : TEXTS[cut]);
    attempt_cut(
        t, CUT_INTERLEAVED, true,
        "the recording splits q, k and v into heads interleaved, (e h) instead of (h e), and joins them likewise");
    trial_begin(t);
    for (NodeId n = trial_find(t, "attn.w_o", 0); n != NO_NODE; n = trial_find(t, "attn.w_o", n + 1))
        add_merge(t, n);
    trial_attempt(t, "the recording joins the heads interleaved, (e h) instead of (h e)");
}

/* --- experts --- */

static int by_text(const void *a, const void *b)
{
    char one[24], other[24];
    snprintf(one, sizeof one, "%zu", *(const size_t *)a);
    snprintf(other, sizeof other, "%zu", *(const size_t *)b);
    return strcmp(one, other);
}

/* Each place of the router's meets another expert: the one next to it, or that in the order of their numbers as text.
 * Seen from the experts, the weights lie elsewhere. */
bool trial_make_moved(Trial *t, NodeId n, const void *how, float *out)
{
    const float *x = trial_known(t, n);
    size_t cells = graph_cells(t->s->graph, n), count = (size_t)t->s->text->experts.count;
    size_t step = strcmp(how, "next") == 0 ? 1 : strcmp(how, "before") == 0 ? count - 1 : 0;
    if (!x || (!step && count < 11))
        return false;
    size_t *meets = arena_alloc(&t->arena, size_mul(count, sizeof *meets));
    for (size_t i = 0; i < count; i++)
        meets[i] = (i + step) % count;
    if (!step)
        qsort(meets, count, sizeof *meets, by_text);
    for (size_t i = 0; i < cells; i++)
        out[i - i % count + meets[i % count]] = x[i];
    return true;
}

/* The weights from the router's probabilities with `by` experts more for each token; divided by their sum or not. */
static bool weigh(Trial *t, NodeId n, int by, bool normalised, float *out)
{
    const Graph *g = t->s->graph;
    const float *p = trial_known(t, trial_beside(t, graph_node(g, n)->path, "mlp.router_probs"));
    size_t cells = graph_cells(g, n), count = (size_t)t->s->text->experts.count;
    int chosen = t->s->text->experts.chosen + by;
    if (!p || chosen < 1 || (size_t)chosen > count)
        return false;
    memset(out, 0, cells * sizeof *out);
    for (size_t row = 0; row < cells; row += count) {
        double sum = 0;
        for (int k = 0; k < chosen; k++) {
            size_t best = count;
            for (size_t i = 0; i < count; i++)
                if (out[row + i] <= 0 && (best == count || p[row + i] > p[row + best]))
                    best = i;
            if (best == count)
                return false; /* probabilities of 0 */
            out[row + best] = p[row + best];
            sum += (double)p[row + best];
        }
        for (size_t i = 0; normalised && i < count; i++)
            out[row + i] = (float)((double)out[row + i] / sum);
    }
    return true;
}

bool trial_make_normalised(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    return !t->s->text->experts.normalised && weigh(t, n, 0, true, out);
}

bool trial_make_chosen(Trial *t, NodeId n, const void *by, float *out)
{
    return weigh(t, n, strcmp(by, "less") == 0 ? -1 : 1, t->s->text->experts.normalised, out);
}
