/* Mistakes in loading: a block, a layer or a single weight that has another's values, weights that were rounded or
 * quantised, attention in half precision. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/diff/diff_trial.h"

enum { BLOCKS_MOST = 24 };

static bool is_weight(const Trial *t, NodeId n)
{
    const Node *node = graph_node(t->s->graph, n);
    return t->in[n] && node->op == OP_LEAF && node->leaf.kind == LEAF_TENSOR;
}

/* --- blocks --- */

/* Is the name, after its block, one of the words, or begins with one that ends in a dot? Any is one of "". */
static bool among(const char *name, const char *words)
{
    bool any = !*words;
    while (*words && !any) {
        size_t n = strcspn(words, " ");
        any = strncmp(name, words, n) == 0 && (words[n - 1] == '.' || !name[n]);
        words += n + strspn(words + n, " ");
    }
    return any;
}

/* Block `to` of a stack ("decoder.") takes the weights of block `from` that are among `names`. Fills what was taken, a
 * list of names cut short. */
static int add_block(Trial *t, const char *stack, int to, int from, const char *names, char seen[64])
{
    const Graph *g = t->s->graph;
    char prefix[48];
    int taken = 0;
    size_t n = (size_t)snprintf(prefix, sizeof prefix, "%sblocks.%d.", stack, to);
    seen[0] = '\0';
    for (NodeId i = 0; i <= t->target->node; i++) {
        const char *path = graph_node(g, i)->path;
        if (!is_weight(t, i) || strncmp(path, prefix, n) != 0 || !among(path + n, names))
            continue;
        NodeId other = graph_find(g, arena_printf(&t->arena, "%sblocks.%d.%s", stack, from, path + n));
        if (other == NO_NODE || graph_cells(g, other) != graph_cells(g, i))
            continue;
        trial_add(t, EDIT_VALUES, path)->data = run_need(t->s->run, other);
        size_t used = strlen(seen);
        if (taken++ < 4)
            snprintf(seen + used, 64 - used, "%s%s", used ? ", " : "", path + n);
    }
    return taken;
}

static void attempt_stack(Trial *t, const char *stack, const char *called)
{
    int layers = t->size.layers < BLOCKS_MOST ? t->size.layers : BLOCKS_MOST;
    char seen[64], part[80];
    for (int a = 0; a < layers; a++)
        for (int b = 0; b < layers; b++) {
            if (a == b)
                continue;
            trial_begin(t);
            int taken = add_block(t, stack, a, b, "", seen);
            snprintf(part, sizeof part, " (seen in %s)", seen);
            if (taken > 4) /* a step shows some of them only */
                part[0] = '\0';
            trial_attempt(t, "%sblock %d has the weights of block %d in the recording%s", called, a, b, part);
            if (a > b || trial_solved(t))
                continue;
            int only = t->mistake_count;
            add_block(t, stack, b, a, "", seen);
            if (only && t->mistake_count > only)
                trial_attempt(t, "%sblocks %d and %d are exchanged in the recording", called, a, b);
        }
}

void trial_blocks(Trial *t)
{
    if (t->s->config)
        attempt_stack(t, "", "");
    else {
        attempt_stack(t, "encoder.", "encoder ");
        attempt_stack(t, "decoder.", "decoder ");
    }
}

/* --- one layer, one weight --- */

/* In block a, `to` has the values of `from` in the same block. */
static void attempt_within(Trial *t, const char *const to[2], const char *const from[2], const char *text)
{
    const Graph *g = t->s->graph;
    for (NodeId n = trial_find(t, to[0], 0); n != NO_NODE; n = trial_find(t, to[0], n + 1)) {
        const char *path = graph_node(g, n)->path;
        trial_begin(t);
        for (int k = 0; k < 2; k++) {
            NodeId a = trial_beside(t, path, to[k]), b = trial_beside(t, path, from[k]);
            if (a != NO_NODE && b != NO_NODE && graph_cells(g, a) == graph_cells(g, b))
                trial_add(t, EDIT_VALUES, graph_node(g, a)->path)->data = run_need(t->s->run, b);
        }
        trial_attempt(t, "in %.*s %s",
                      (int)(strcspn(strstr(path, "blocks.") + 7, ".") + (size_t)(strstr(path, "blocks.") - path) + 7),
                      path, text);
    }
}

static void attempt_names(Trial *t, const char *stack, const char *called, const char *name, const char *what)
{
    int layers = t->size.layers < BLOCKS_MOST ? t->size.layers : BLOCKS_MOST;
    char seen[64];
    for (int a = 0; a < layers; a++)
        for (int b = 0; b < layers; b++) {
            trial_begin(t);
            if (a != b && add_block(t, stack, a, b, name, seen))
                trial_attempt(t, "%s of %sblock %d is loaded into block %d too in the recording", what, called, b, a);
        }
}

/* Which weights a stretch over many blocks could have of one another: too many to be tried where a pass is long. */
static bool many(const Trial *t)
{
    static const double AFFORDED = 2e10;
    return 16.0 * t->size.layers * t->size.layers * t->flops > AFFORDED;
}

void trial_twice(Trial *t)
{
    static const struct {
        const char *to[2], *from[2], *text;
    } WITHIN[] = {
        {{"attn.w_q", "attn.b_q"}, {"attn.w_k", "attn.b_k"}, "q has the weights of k in the recording"},
        {{"attn.w_q", "attn.b_q"}, {"attn.w_v", "attn.b_v"}, "q has the weights of v in the recording"},
        {{"attn.w_k", "attn.b_k"}, {"attn.w_q", "attn.b_q"}, "k has the weights of q in the recording"},
        {{"attn.w_k", "attn.b_k"}, {"attn.w_v", "attn.b_v"}, "k has the weights of v in the recording"},
        {{"attn.w_v", "attn.b_v"}, {"attn.w_q", "attn.b_q"}, "v has the weights of q in the recording"},
        {{"attn.w_v", "attn.b_v"}, {"attn.w_k", "attn.b_k"}, "v has the weights of k in the recording"},
        {{"ln1.gamma", "ln1.beta"},
         {"ln2.gamma", "ln2.beta"},
         "the first LayerNorm has the second's weights in the recording"},
        {{"ln2.gamma", "ln2.beta"},
         {"ln1.gamma", "ln1.beta"},
         "the second LayerNorm has the first's weights in the recording"},
        {{"rms1.gamma", ""}, {"rms2.gamma", ""}, "the first RMSNorm has the second's weights in the recording"},
        {{"rms2.gamma", ""}, {"rms1.gamma", ""}, "the second RMSNorm has the first's weights in the recording"},
    };
    static const struct {
        const char *name, *what;
    } NAMES[] = {{"attn.w_q", "W_Q"},
                 {"attn.w_k", "W_K"},
                 {"attn.w_v", "W_V"},
                 {"attn.w_o", "W_O"},
                 {"mlp.w_up", "the MLP's first weight"},
                 {"mlp.w_down", "the MLP's second weight"},
                 {"mlp.w_gate", "the gate's weight"},
                 {"attn.w_q attn.b_q attn.w_k attn.b_k attn.w_v attn.b_v", "the layer of q, k and v"},
                 {"attn.w_o attn.b_o", "the layer W_O"},
                 {"mlp.w_up mlp.b_up", "the MLP's first layer"},
                 {"mlp.w_down mlp.b_down", "the MLP's second layer"},
                 {"ln1.", "the first LayerNorm"},
                 {"ln2.", "the second LayerNorm"},
                 {"rms1.", "the first RMSNorm"},
                 {"rms2.", "the second RMSNorm"},
                 {"attn.", "attention"},
                 {"mlp.", "the MLP"}};
    if (!t->s->config || many(t))
        return;
    for (size_t i = 0; i < sizeof WITHIN / sizeof *WITHIN; i++)
        attempt_within(t, WITHIN[i].to, WITHIN[i].from, WITHIN[i].text);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        attempt_names(t, "", "", NAMES[i].name, NAMES[i].what);
}

/* --- fewer digits --- */

void trial_rounded(Trial *t)
{
    const Graph *g = t->s->graph;
    for (int p = PRECISION_BF16; p < PRECISIONS; p++) {
        trial_begin(t);
        for (NodeId n = 0; n <= t->target->node; n++)
            if (is_weight(t, n))
                *trial_add(t, EDIT_MAP, graph_node(g, n)->path) = precision_edit(g, n, (Precision)p);
        trial_attempt(t, "the recording's weights were rounded to %s", precision_name((Precision)p));
    }
}

static double largest(const float *w, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = dm_abs((double)w[i]) > most ? dm_abs((double)w[i]) : most;
    return most;
}

/* Of q's, k's and v's weight in a block, which many programs store as one. */
static double largest_of_three(Trial *t, const char *path)
{
    static const char *const THREE[] = {"attn.w_q", "attn.w_k", "attn.w_v"};
    double most = 0;
    for (int i = 0; i < 3; i++) {
        NodeId n = trial_beside(t, path, THREE[i]);
        double one = n == NO_NODE ? 0 : largest(run_need(t->s->run, n), graph_cells(t->s->graph, n));
        most = one > most ? one : most;
    }
    return most;
}

/* w to the nearest of 2·levels + 1 values that lie evenly about 0, one distance for each of `rows`, from
 * its largest or from most_of_all. */
static const float *quantised(Trial *t, const float *w, size_t rows, size_t row, double levels, double most_of_all)
{
    float *out = arena_alloc(&t->arena, size_mul(size_mul(rows, row), sizeof *out));
    for (size_t r = 0; r < rows; r++) {
        double most = largest(w + r * row, row);
        most = most_of_all > most ? most_of_all : most;
        float step = (float)(most / levels);
        for (size_t i = 0; i < row && step > 0; i++) {
            double q = (double)(w[r * row + i] / step), down = dm_floor(q), part = q - down;
            bool up = part > 0.5 || (part >= 0.5 && dm_floor(down / 2) * 2 < down); /* halves to the even one */
            out[r * row + i] = (float)(down + (up ? 1 : 0)) * step;
        }
    }
    return out;
}

void trial_quantised(Trial *t)
{
    enum { BY_TENSOR, BY_THREE, BY_ROW, SCALES };
    static const char *const SCALE[SCALES] = {
        [BY_TENSOR] = "tensor", [BY_THREE] = "tensor, q, k and v being one", [BY_ROW] = "row"};
    static const struct {
        double levels;
        int bits;
    } WAYS[] = {{127, 8}, {7, 4}};
    const Graph *g = t->s->graph;
    for (size_t k = 0; k < SCALES * (sizeof WAYS / sizeof *WAYS); k++)
        for (int all = 0; all < 2; all++) { /* the blocks' alone, or patch projection and head too */
            int scale = (int)k % SCALES, outside = 0;
            double levels = WAYS[k / SCALES].levels;
            trial_begin(t);
            for (NodeId n = 0; n <= t->target->node; n++) {
                const char *path = graph_node(g, n)->path, *name = strrchr(path, '.');
                bool linear = name && (strncmp(name, ".w_", 3) == 0 || strcmp(name, ".weight") == 0),
                     inside = strstr(path, "blocks.") != NULL;
                if (!is_weight(t, n) || !linear || (!inside && !all))
                    continue;
                outside += !inside;
                bool one_of_three = path_ends(path, "attn.w_q") || path_ends(path, "attn.w_k") ||
                                    path_ends(path, "attn.w_v");
                size_t cells = graph_cells(g, n), row = (size_t)t->size.width;
                if (path_ends(path, "attn.w_o") || path_ends(path, "w_down") || strcmp(path, "patch_embed.weight") == 0)
                    row = cells / (size_t)t->size.width;
                if (cells % row == 0)
                    trial_add(t, EDIT_VALUES, path)->data = quantised(
                        t, run_need(t->s->run, n), scale == BY_ROW ? cells / row : 1, scale == BY_ROW ? row : cells,
                        levels, scale == BY_THREE && one_of_three ? largest_of_three(t, path) : 0);
            }
            if (!all || outside)
                trial_attempt(t, "the recording's weights were quantised to %d bits, with one scale for each %s",
                              WAYS[k / SCALES].bits, SCALE[scale]);
        }
}

void trial_half(Trial *t)
{
    static const struct {
        const char *endings, *text;
    } WAYS[] = {{"attn.q attn.k attn.v attn.scores_raw attn.scores_scaled attn.scores_biased attn.pattern attn.z",
                 "attention"},
                {"attn.q attn.k attn.v attn.scores_raw attn.scores_scaled attn.scores_biased attn.pattern",
                 "the attention weights"},
                {"attn.q attn.k attn.v attn.pattern attn.z", "attention (q, k, v, its weights and z)"},
                {"attn.q attn.k attn.v attn.z", "attention (q, k, v and z)"},
                {"attn.scores_scaled attn.pattern", "the softmax of attention"}};
    const Graph *g = t->s->graph;
    for (int p = PRECISION_BF16; p < PRECISIONS; p++)
        for (size_t k = 0; k < sizeof WAYS / sizeof *WAYS; k++) {
            trial_begin(t);
            for (NodeId n = 0; n <= t->target->node; n++)
                for (const char *w = WAYS[k].endings; *w;) {
                    char ending[32];
                    size_t length = strcspn(w, " ");
                    utf8_print(ending, sizeof ending, "%.*s", (int)length, w);
                    const char *path = graph_node(g, n)->path;
                    if (path_ends(path, ending) && trial_here(t, path) && trial_has(t, n))
                        *trial_add(t, EDIT_MAP, path) = precision_edit(g, n, (Precision)p);
                    w += length + strspn(w + length, " ");
                }
            trial_attempt(t, "the recording computes %s in %s", WAYS[k].text, precision_name((Precision)p));
        }
}
