/* Mistakes in loading: a block, a layer or a single weight that has another's values, weights that were rounded or
 * quantised. */
#include <stdio.h>
#include <stdlib.h>
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

/* "self_attn.w_q" is called attn.w_q here: cross-attention is another layer. */
static const char *own_name(const char *name)
{
    return name + (strncmp(name, "self_attn.", 10) == 0 ? 5 : 0);
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
        if (!is_weight(t, i) || strncmp(path, prefix, n) != 0 || !among(own_name(path + n), names))
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

/* Of one block: `to` has the weights of `from`; what is said, and what where both have each other's (in one of the two
 * rows of a pair). */
typedef struct Within {
    const char *to[2], *from[2], *text, *exchanged;
} Within;

#define Q                                                                                                              \
    {                                                                                                                  \
        "attn.w_q", "attn.b_q"                                                                                         \
    }
#define K                                                                                                              \
    {                                                                                                                  \
        "attn.w_k", "attn.b_k"                                                                                         \
    }
#define V                                                                                                              \
    {                                                                                                                  \
        "attn.w_v", "attn.b_v"                                                                                         \
    }
#define LN1                                                                                                            \
    {                                                                                                                  \
        "ln1.gamma", "ln1.beta"                                                                                        \
    }
#define LN2                                                                                                            \
    {                                                                                                                  \
        "ln2.gamma", "ln2.beta"                                                                                        \
    }
#define LN3                                                                                                            \
    {                                                                                                                  \
        "ln3.gamma", "ln3.beta"                                                                                        \
    }
#define RMS1                                                                                                           \
    {                                                                                                                  \
        "rms1.gamma", ""                                                                                               \
    }
#define RMS2                                                                                                           \
    {                                                                                                                  \
        "rms2.gamma", ""                                                                                               \
    }
static const Within WITHIN[] = {
    {Q, K, "q has the weights of k in the recording", "q and k are exchanged in the recording"},
    {Q, V, "q has the weights of v in the recording", "q and v are exchanged in the recording"},
    {K, Q, "k has the weights of q in the recording", NULL},
    {K, V, "k has the weights of v in the recording", "k and v are exchanged in the recording"},
    {V, Q, "v has the weights of q in the recording", NULL},
    {V, K, "v has the weights of k in the recording", NULL},
    {LN1, LN2, "the first LayerNorm has the second's weights in the recording",
     "the first and the second LayerNorm are exchanged in the recording"},
    {LN2, LN1, "the second LayerNorm has the first's weights in the recording", NULL},
    {RMS1, RMS2, "the first RMSNorm has the second's weights in the recording",
     "the first and the second RMSNorm are exchanged in the recording"},
    {RMS2, RMS1, "the second RMSNorm has the first's weights in the recording", NULL},
    /* a decoder of words without cross-attention */
    {LN1, LN3, "the first norm has the second's weights in the recording",
     "the first and the second norm are exchanged in the recording"},
    {LN3, LN1, "the second norm has the first's weights in the recording", NULL},
};
enum { WITHINS = sizeof WITHIN / sizeof *WITHIN };

/* Of two blocks. */
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
             {"ln3.", "the second norm"},
             {"rms1.", "the first RMSNorm"},
             {"rms2.", "the second RMSNorm"},
             {"attn.", "attention"},
             {"mlp.", "the MLP"}};
enum { NAMES_COUNT = sizeof NAMES / sizeof *NAMES };

/* Block a has the weights of block b that are among names; or, within one block (a; −1: in each), what `within` says.
 */
typedef struct Loading {
    const char *stack, *names;
    const Within *within;
    int a, b;
    bool exchanged; /* and the other way round */
    bool permuted;  /* …or its rows in another order, way a */
    char text[DIFF_WORDS];
} Loading;

/* Puts it together. False where nothing of it is in the stretch. seen: the names of a few that are, "" of many. */
static bool load(Trial *t, const Loading *l, char seen[64])
{
    char only[48], other_seen[64];
    bool all = true;
    int taken = 0;
    trial_begin(t);
    if (l->permuted) {
        const char *text;
        return trial_add_permuted(t, l->a, &text) != 0;
    }
    snprintf(only, sizeof only, "%sblocks.%d.", l->stack ? l->stack : "", l->a);
    for (int turn = 0; turn <= l->exchanged; turn++) {
        int before = t->mistake_count;
        if (!l->within) {
            taken = add_block(t, l->stack, turn ? l->b : l->a, turn ? l->a : l->b, l->names, turn ? other_seen : seen);
            all = all && taken;
            continue;
        }
        const char *const *to = turn ? l->within->from : l->within->to;
        const char *const *from = turn ? l->within->to : l->within->from;
        t->only = l->a < 0 ? NULL : only;
        for (int k = 0; k < 2; k++)
            for (NodeId n = trial_find(t, to[k], 0); n != NO_NODE; n = trial_find(t, to[k], n + 1)) {
                NodeId other = trial_beside(t, graph_node(t->s->graph, n)->path, from[k]);
                if (other != NO_NODE && graph_cells(t->s->graph, other) == graph_cells(t->s->graph, n))
                    trial_add(t, EDIT_VALUES, graph_node(t->s->graph, n)->path)->data = run_need(t->s->run, other);
            }
        t->only = NULL;
        all = all && t->mistake_count > before;
    }
    if (l->within || taken > 4)
        seen[0] = '\0';
    return all;
}

typedef void LoadingTry(void *context, Loading *l);

/* Each block with another's weights, or any two exchanged. */
static void each_of_blocks(const Trial *t, bool exchanged, LoadingTry *try, void *context)
{
    static const char *const STACKS[] = {"", "encoder.", "decoder."}, *const CALLED[] = {"", "encoder ", "decoder "};
    int layers = t->size.layers < BLOCKS_MOST ? t->size.layers : BLOCKS_MOST, first = t->s->config ? 0 : 1;
    for (int k = first; k <= 2 * first; k++)
        for (int a = 0; a < layers; a++)
            for (int b = exchanged ? a + 1 : 0; b < layers; b++) {
                Loading l = {.stack = STACKS[k], .names = "", .a = a, .b = b, .exchanged = exchanged};
                snprintf(l.text, sizeof l.text,
                         exchanged ? "%sblocks %d and %d are exchanged in the recording"
                                   : "%sblock %d has the weights of block %d in the recording",
                         CALLED[k], a, b);
                if (a != b)
                    try(context, &l);
            }
}

/* Stack k as its paths begin, and as it is called; false past the last. A picture's model has one. */
static bool stack_of(const Trial *t, int k, const char **stack, const char **called)
{
    static const char *const STACKS[] = {"encoder.", "decoder."}, *const CALLED[] = {"encoder ", "decoder "};
    *stack = t->s->config ? "" : STACKS[k % 2];
    *called = t->s->config ? "" : CALLED[k % 2];
    return k < (t->s->config ? 1 : 2);
}

/* Each layer with another's weights in its block, or any two exchanged; from: −1 begins with all blocks at once. */
static void each_within(const Trial *t, int from, bool exchanged, LoadingTry *try, void *context)
{
    const Seq2seqConfig *c = t->s->text;
    const char *stack, *called;
    for (size_t i = 0; i < WITHINS; i++)
        for (int k = 0; stack_of(t, k, &stack, &called); k++)
            for (int a = k ? 0 : from; a < t->size.layers && a < BLOCKS_MOST; a++) {
                const char *text = exchanged ? WITHIN[i].exchanged : WITHIN[i].text;
                Loading l = {.stack = stack, .within = &WITHIN[i], .a = a, .exchanged = exchanged};
                bool third = strncmp(WITHIN[i].to[0], "ln3", 3) == 0 || strncmp(WITHIN[i].from[0], "ln3", 3) == 0;
                if (!text || (third && (!c || (c->encoder_layers && c->decoder_layers))))
                    continue;
                if (a < 0)
                    snprintf(l.text, sizeof l.text, "%s", text);
                else
                    snprintf(l.text, sizeof l.text, "in %sblocks.%d %s", stack, a, text);
                try(context, &l);
            }
}

/* Each layer with the weights of the same in another block. */
static void each_of_names(const Trial *t, LoadingTry *try, void *context)
{
    const Seq2seqConfig *c = t->s->text;
    int layers = t->size.layers < BLOCKS_MOST ? t->size.layers : BLOCKS_MOST;
    const char *stack, *called;
    for (size_t i = 0; i < NAMES_COUNT; i++)
        for (int k = 0; stack_of(t, k, &stack, &called); k++)
            for (int pair = 0; pair < layers * layers; pair++) {
                Loading l = {.stack = stack, .names = NAMES[i].name, .a = pair / layers, .b = pair % layers};
                snprintf(l.text, sizeof l.text, "%s of %sblock %d is loaded into block %d too in the recording",
                         NAMES[i].what, called, l.b, l.a);
                if (l.a != l.b && !(c && c->encoder_layers && c->decoder_layers && strcmp(l.names, "ln3.") == 0))
                    try(context, &l);
            }
}

/* --- in one stretch --- */

static void attempt_loading(void *context, Loading *l)
{
    Trial *t = context;
    char seen[64];
    if (!load(t, l, seen))
        return;
    if (*seen && !*l->names && !l->exchanged) /* a step shows some of them only */
        trial_attempt(t, "%s (seen in %s)", l->text, seen);
    else
        trial_attempt(t, "%s", l->text);
}

void trial_blocks(Trial *t)
{
    each_of_blocks(t, false, attempt_loading, t);
    if (!trial_solved(t))
        each_of_blocks(t, true, attempt_loading, t);
}

/* Which weights a stretch over many blocks could have of one another: too many to be tried where a pass is long. */
static bool many(const Trial *t)
{
    static const double AFFORDED = 2e10;
    return 16.0 * t->size.layers * t->size.layers * t->flops > AFFORDED;
}

void trial_twice(Trial *t)
{
    if (many(t))
        return;
    each_within(t, t->s->text ? -1 : 0, false, attempt_loading, t);
    each_of_names(t, attempt_loading, t);
}

/* --- in the whole recording --- */

/* A trial of each row, opened when it is asked for. */
typedef struct Whole {
    const DiffReport *report;
    Trial *row;
    int first; /* of those that differ */
    int found;
    DiffCause *cause;
} Whole;

/* Does row i follow with it, as it did where nothing of its step is concerned? */
static bool follows(Whole *w, int i, const Loading *l, DiffFigures *f)
{
    Trial *t = &w->row[i];
    char seen[64];
    if (!t->in)
        trial_open(t);
    ArenaMark mark = arena_mark(&t->arena);
    load(t, l, seen);
    bool same = t->mistake_count ? trial_fits(t, f) : w->report->row[i].state != DIFF_BEGINS;
    arena_rewind(&t->arena, mark);
    return same;
}

/* Keeps what explains all: the first is the cause, another one stands beside it. */
static void attempt_whole(void *context, Loading *l)
{
    Whole *w = context;
    DiffCause *c = w->cause;
    DiffFigures f, first;
    if (w->found > 1 || !trial_going(&w->row[w->first], "weights of another?", 0))
        return;
    c->tried++;
    bool all = follows(w, w->first, l, &first);
    for (int begins = 1; begins >= 0; begins--) /* most fail at one that differs */
        for (int i = 0; all && i < w->report->count; i++)
            if (i != w->first && (w->report->row[i].state == DIFF_BEGINS) == begins)
                all = follows(w, i, l, &f);
    if (!all || (w->found && strstr(l->text, c->text)))
        return;
    const char *text = l->within && c->agreeing ? strstr(l->text, l->exchanged ? l->within->exchanged : l->within->text)
                                                : l->text; /* which block it is is said behind it */
    snprintf(w->found++ ? c->also : c->text, DIFF_WORDS, "%s", text);
    if (w->found > 1)
        return;
    c->after = first;
    snprintf(c->id, sizeof c->id, "loaded");
    if (l->exchanged && !l->within) /* it names its blocks */
        c->block = -1;
}

/* Rows of the cause's kind, a node under several names being one. */
static int rows_of_kind(const DiffReport *d, const Graph *g, int first)
{
    int count = 0;
    NodeId last = NO_NODE;
    for (int i = first; i < d->count; i++) {
        NodeId n = d->row[i].tensor->node;
        const char *a = strstr(graph_node(g, n)->path, "blocks."),
                   *b = strstr(graph_node(g, d->row[first].tensor->node)->path, "blocks.");
        count += n != last && d->row[i].state == DIFF_BEGINS && a && b &&
                 strcmp(strchr(a + 7, '.'), strchr(b + 7, '.')) == 0;
        last = n;
    }
    return count;
}

bool diff_cause_loaded(DiffCause *c, const DiffSubject *s, const DiffReference *r, const DiffOptions *o,
                       const DiffReport *d)
{
    if (d->begins < 2 || r->misfits.count)
        return false;
    DiffCause found = *c;
    Whole w = {.report = d, .row = xcalloc((size_t)d->count, sizeof *w.row), .first = c->row, .cause = &found};
    Trial *first = &w.row[w.first];
    for (int i = 0; i < d->count; i++)
        w.row[i] = trial_new(s, r, o, d, &d->row[i]);
    trial_open(first);
    for (int exchanged = 0; exchanged < 2 && !w.found; exchanged++) { /* both ways where neither alone explains it */
        each_of_blocks(first, exchanged, attempt_whole, &w);
        each_within(first, -1, exchanged, attempt_whole, &w);
        for (int way = 0; way < TRIAL_PERMUTED && !exchanged; way++) {
            Loading l = {.permuted = true, .a = way};
            const char *text;
            trial_begin(first);
            if (trial_add_permuted(first, way, &text)) {
                utf8_print(l.text, sizeof l.text, "%s", text);
                attempt_whole(&w, &l);
            }
        }
        if (!exchanged)
            each_of_names(first, attempt_whole, &w);
    }
    for (int i = 0; i < d->count; i++)
        trial_free(&w.row[i]);
    free(w.row);
    if (!w.found)
        return false;
    found.whole = true;
    found.steps = 1; /* there is nothing to halve */
    found.before = d->row[c->row].local;
    found.allowed = d->row[c->row].allowed;
    found.rows = found.block < 0 ? 1 : rows_of_kind(d, s->graph, c->row);
    snprintf(found.places, sizeof found.places, "the other %d step%s", d->begins - 1,
             d->begins == 2 ? " that differs" : "s that differ");
    *c = found;
    return true;
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

/* --- weights whose two sides are exchanged by reading their numbers in another shape --- */

/* The weights of these words beside the one at path, taken as the parts of one, whose numbers are read in the other
 * shape and cut into parts again. dense: they come from a Dense layer, or GPT-2's Conv1D, which keep [in,out]; else
 * from a linear layer, which keeps [out,in] as we do, and are read by a Dense one. */
static bool reshape(Trial *t, const char *path, const char *words, bool dense)
{
    enum { PARTS_MOST = 3 };
    const Graph *g = t->s->graph;
    NodeId part[PARTS_MOST];
    size_t count = 0, in = 0, out = 0, from = 0, here = 0;
    for (char word[TRIAL_WORD]; trial_word(&words, word); count++) {
        part[count] = trial_beside(t, path, word);
        if (part[count] == NO_NODE)
            return false;
        here += t->in[part[count]];
        const size_t cells = graph_cells(g, part[count]), width = (size_t)t->size.width;
        in = path_ends(path, "attn.w_o") || path_ends(path, "w_down") ? cells / width : width;
        out += cells / in;
    }
    if (!here)
        return false;
    float *whole = arena_alloc(&t->arena, size_mul(size_mul(in, out), sizeof *whole)),
          *read = arena_alloc(&t->arena, size_mul(size_mul(in, out), sizeof *read));
    for (size_t i = 0; i < count; from += graph_cells(g, part[i++]))
        memcpy(whole + from, run_need(t->s->run, part[i]), graph_cells(g, part[i]) * sizeof *whole);
    for (size_t i = 0; i < in * out; i++)
        read[i] = dense ? whole[i % out * in + i / out] : whole[i % in * out + i / in];
    for (size_t i = 0; i < count; read += graph_cells(g, part[i++]))
        if (t->in[part[i]])
            trial_add(t, EDIT_VALUES, graph_node(g, part[i])->path)->data = read;
    return true;
}

void trial_reshaped(Trial *t)
{
    static const char QKV[] = "attn.w_q attn.w_k attn.w_v";
    static const struct {
        bool fused;
        const char *words, *said; /* a square one that is read so is transposed, which is another row */
    } SETS[] = {{true, "", "the fused weight of q, k and v is"},
                {false, "mlp.w_up", "the MLP's first weight is"},
                {false, "mlp.w_down", "the MLP's second weight is"},
                {false, "mlp.w_up mlp.w_down", "the MLP's weights are"},
                {true, "attn.w_o mlp.w_up mlp.w_down", "the weights of all linear layers, q, k and v in one, are"},
                {false, "attn.w_q attn.w_k attn.w_v attn.w_o mlp.w_up mlp.w_down",
                 "the weights of all linear layers are"}};
    const Graph *g = t->s->graph;
    for (size_t k = 0; k < 2 * (sizeof SETS / sizeof *SETS); k++) {
        const bool dense = k % 2 == 0;
        const char *words = SETS[k / 2].words;
        char word[TRIAL_WORD];
        bool all = true;
        trial_begin(t);
        const char *first = NULL, *one = QKV; /* of the three that the stretch has */
        while (!first && trial_word(&one, word))
            first = trial_find(t, word, 0) == NO_NODE ? NULL : arena_strdup(&t->arena, word);
        for (NodeId n = first ? trial_find(t, first, 0) : NO_NODE; SETS[k / 2].fused && n != NO_NODE;
             n = trial_find(t, first, n + 1))
            all = reshape(t, graph_node(g, n)->path, QKV, dense) && all;
        all = all && (!SETS[k / 2].fused || t->mistake_count);
        while (all && trial_word(&words, word)) {
            NodeId n = trial_find(t, word, 0);
            all = n != NO_NODE;
            for (; n != NO_NODE; n = trial_find(t, word, n + 1))
                all = reshape(t, graph_node(g, n)->path, word, dense) && all;
        }
        if (all)
            trial_attempt(t, "%s reshaped from %s in the recording, not transposed", SETS[k / 2].said,
                          dense ? "[in,out] to [out,in]" : "[out,in] to [in,out]");
    }
}
