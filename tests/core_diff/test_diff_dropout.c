/* Dropout left on in models of words, planted by the test's own masks where the families' programs have it: in a
 * decoder with its norms first and in an encoder whose norms stand behind. Named from the modules' outputs, never
 * otherwise. */
#include "tests/core_models/text_bench.h"

#include "core/base/mem.h"
#include "core/diff/diff.h"
#include "tests/core_models/oracle.h"

enum { TOKENS = 16, EDITS = 64 };

/* Decoders: as GPT-2's, whose heads share keys, with attention and MLP side by side, and without positions to add. */
typedef enum Kind { DECODER, ENCODER, PRE_NORM_ENCODER, GROUPED, PARALLEL, TURNED } Kind;

static Seq2seqConfig config_of(Kind kind)
{
    Seq2seqConfig c = text_variant(kind == ENCODER || kind == PRE_NORM_ENCODER ? 5 : 4);
    c.width = 32;
    c.heads = 4;
    c.head_dim = 8;
    c.mlp = 64;
    c.positions = 32;
    c.embed_norm = kind == ENCODER;
    c.key_heads = kind == GROUPED ? 2 : 0;
    c.parallel = kind == PARALLEL ? PARALLEL_TWO_NORMS : PARALLEL_NOT;
    if (kind == TURNED) {
        c.learned_positions = false;
        c.embed_scale = 1;
        c.pos = SEQ2SEQ_POS_ROPE;
        c.rope = (Seq2seqRope){.base = 10000, .half = true};
    }
    if (kind == PRE_NORM_ENCODER)
        c.pre_norm = c.final_norm = true;
    return c;
}

static void open_bench(TextBench *b, Kind kind)
{
    const Seq2seqConfig c = config_of(kind);
    text_bench_seeded(b, &c, 5, TOKENS, TOKENS);
}

static const char *trace_path(void)
{
    static char path[256];
    char dir[200];
    scratch_dir(dir, sizeof dir, "diffdropout");
    snprintf(path, sizeof path, "%s/trace.safetensors", dir);
    return path;
}

/* --- the plot --- */

typedef struct Plot {
    TextBench *b;
    Edit edit[EDITS];
    int count;
    uint32_t state;
    double share;
    Arena arena;
} Plot;

static bool ends(const char *path, const char *list)
{
    for (const char *w = list; *w;) {
        size_t n = strcspn(w, " "), length = strlen(path);
        if (length >= n && strncmp(path + length - n, w, n) == 0 && (length == n || path[length - n - 1] == '.'))
            return true;
        w += n + (w[n] == ' ');
    }
    return false;
}

/* A node's values with what has been planted so far. */
static float *planted(Plot *p, NodeId n)
{
    Graph g = {.count = 0};
    Err err = {""};
    const char *path = graph_node(&p->b->graph, n)->path;
    const size_t cells = graph_cells(&p->b->graph, n);
    if (!graph_edit(&g, &p->b->graph, p->edit, p->count, &err))
        fail_msg("%s", err.text);
    Run *run = run_new(&g, p->b->run, NULL);
    float *x = arena_alloc(&p->arena, cells * sizeof *x);
    memcpy(x, run_need(run, graph_find(&g, path)), cells * sizeof *x);
    run_free(run);
    graph_free(&g);
    return x;
}

static double alone; /* the factor, where it does not go with the share; 0: it does */
static void drop(Plot *p, float *x, size_t cells)
{
    const double factor = alone > 0 ? alone : 1 / (1 - p->share);
    for (size_t i = 0; i < cells; i++) {
        p->state = p->state * 1664525u + 1013904223u;
        x[i] = (double)(p->state >> 8) / (1 << 24) < p->share ? 0 : (float)((double)x[i] * factor);
    }
}

/* A node itself; of a sum of the residual stream what is added to it, which is recorded before its dropout. */
static void plant(Plot *p, NodeId n)
{
    const Graph *g = &p->b->graph;
    const Node *node = graph_node(g, n);
    const size_t cells = graph_cells(g, n);
    float *x;
    if (ends(node->path, "resid_mid resid_post")) {
        const float *stream = planted(p, node->in[0]);
        x = planted(p, node->in[1]);
        drop(p, x, cells);
        for (size_t i = 0; i < cells; i++)
            x[i] += stream[i];
    } else {
        x = planted(p, n);
        drop(p, x, cells);
    }
    assert_true(p->count < EDITS);
    p->edit[p->count++] = (Edit){.kind = EDIT_VALUES, .path = node->path, .data = x, .origin = "planted"};
}

static void record(Kind kind, const char *where, double share, const char *list)
{
    TextBench b;
    Plot *p = calloc(1, sizeof *p);
    Graph edited = {.count = 0};
    Err err = {""};
    open_bench(&b, kind);
    p->b = &b;
    p->share = share;
    p->state = 5;
    for (NodeId n = 0; n < b.graph.count; n++)
        if (ends(graph_node(&b.graph, n)->path, where))
            plant(p, n);
    if (!graph_edit(&edited, &b.graph, p->edit, p->count, &err))
        fail_msg("%s", err.text);
    Run *run = run_new(&edited, b.run, NULL);
    const Graph *g = &edited;
    TensorOut *out = calloc((size_t)g->count, sizeof *out);
    size_t count = 0;
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (strstr(node->path, ".unedited") || strstr(node->path, ".edit_") || node->flags & NODE_DERIVED ||
            (list ? !ends(node->path, list) : node->op == OP_LEAF && !(node->flags & NODE_EDITED)))
            continue;
        out[count] = (TensorOut){.name = node->path, .rank = node->dims.n, .data = run_need(run, n)};
        for (int i = 0; i < node->dims.n; i++)
            out[count].shape[i] = (size_t)g->axes[node->dims.axis[i]].n;
        count++;
    }
    if (!count || !tensors_write(trace_path(), TF_SAFETENSORS, out, count, NULL, &err))
        fail_msg("%zu tensors: %s", count, err.text);
    free(out);
    run_free(run);
    graph_free(&edited);
    arena_free(&p->arena);
    free(p);
    text_bench_free(&b);
}

static bool compare(Kind kind, Buf *verdict)
{
    TextBench b;
    DiffReference r;
    DiffReport d;
    Err err = {""};
    const DiffOptions o = {.tolerance = DIFF_TOLERANCE};
    open_bench(&b, kind);
    const DiffSubject s = {
        .graph = &b.graph, .run = b.run, .text = &b.model.text, .weights = &b.model.weights, .image = NO_NODE};
    if (!diff_reference_open(&r, trace_path(), NULL, s.graph, &err) || !diff_compare(&d, &s, &r, &o, &err))
        fail_msg("%s", err.text);
    const DiffNamed n = {"ours", &s, &r, &o, &d};
    diff_verdict(&n, verdict);
    bool same = d.same;
    diff_report_free(&d);
    diff_reference_free(&r);
    text_bench_free(&b);
    return same;
}

/* --- what is planted --- */

/* What the modules of each give, and the blocks. */
#define INNER "full_embed ln1.out ln2.out q k v self_attn.z self_attn.out mlp.pre mlp.post mlp.out logits "
static const char *const MODULES[] = {[DECODER] = INNER "resid_post ln_final.out",
                                      [ENCODER] = INNER "ln_embed.out",
                                      [PRE_NORM_ENCODER] = INNER "resid_post",
                                      [GROUPED] = INNER "resid_post ln_final.out",
                                      [PARALLEL] = INNER "resid_post ln_final.out",
                                      [TURNED] = "embed ln1.out ln2.out self_attn.out mlp.out resid_post logits"};
static const char *const BLOCKS[] = {
    [DECODER] = "full_embed resid_post logits",          [ENCODER] = "ln_embed.out ln2.out logits",
    [PRE_NORM_ENCODER] = "full_embed resid_post logits", [GROUPED] = "full_embed resid_post logits",
    [PARALLEL] = "full_embed resid_post logits",         [TURNED] = "embed resid_post logits"};

static const struct {
    const char *name;
    Kind kind;
    const char *where;
    double share;
} PLANTED[] = {
    {"embeddings", DECODER, "full_embed", 0.1},
    {"shares", DECODER, "self_attn.pattern", 0.1},
    {"attention", DECODER, "self_attn.out", 0.1},
    {"MLP", DECODER, "mlp.out", 0.1},
    {"hidden layer", DECODER, "mlp.post", 0.1},
    {"what attention adds", DECODER, "resid_mid", 0.1},
    {"what the MLP adds", DECODER, "resid_post", 0.1},
    {"all, GPT-2", DECODER, "full_embed self_attn.pattern self_attn.out mlp.out", 0.1},
    {"all, OPT", DECODER, "full_embed self_attn.pattern resid_mid resid_post", 0.1},
    {"shares", GROUPED, "self_attn.pattern", 0.1},
    {"what both add", PARALLEL, "resid_mid resid_post", 0.1},
    {"embeddings behind their recording", TURNED, "full_embed", 0.1},
    {"embeddings", ENCODER, "ln_embed.out", 0.1},
    {"shares", ENCODER, "self_attn.pattern", 0.1},
    {"attention", ENCODER, "self_attn.out", 0.1},
    {"what attention adds", ENCODER, "resid_mid", 0.1},
    {"what attention adds, a half", ENCODER, "resid_mid", 0.5},
    {"what the MLP adds", ENCODER, "resid_post", 0.1},
    {"all, BERT", ENCODER, "ln_embed.out self_attn.pattern resid_mid resid_post", 0.1},
    {"what attention adds", PRE_NORM_ENCODER, "resid_mid", 0.1},
    {"all, pre-norm", PRE_NORM_ENCODER, "full_embed self_attn.pattern resid_mid resid_post", 0.1},
};

/* From everything and from the modules' outputs all of it; a block's output alone tells of two masks at once, and z has
 * as many unknown shares as tokens: there it may stay unnamed. */
static void dropout_is_named(void **state)
{
    (void)state;
    enum { WHOLE, OF_MODULES, OF_BLOCKS, RECORDINGS };
    int unnamed = 0;
    for (size_t i = 0; i < sizeof PLANTED / sizeof *PLANTED; i++)
        for (int how = 0; how < RECORDINGS; how++) {
            const Kind kind = PLANTED[i].kind;
            const bool shares = strcmp(PLANTED[i].name, "shares") == 0 && how == OF_MODULES;
            Buf verdict = {0};
            record(kind, PLANTED[i].where, PLANTED[i].share,
                   how == WHOLE        ? NULL
                   : how == OF_MODULES ? MODULES[kind]
                                       : BLOCKS[kind]);
            assert_false(compare(kind, &verdict));
            const char *cause = strstr(buf_str(&verdict), "Likely cause: ");
            unnamed += shares && !cause;
            bool right = cause || how == OF_BLOCKS || shares;
            for (; cause && right; cause = strstr(cause + 1, "Likely cause: ")) /* each of them is that one */
                right = strstr(cause, "Likely cause: dropout is on") == cause;
            if (!right || (how != OF_BLOCKS && !shares && strstr(buf_str(&verdict), "none of the mistakes")))
                fail_msg("%s, recording %d: %s", PLANTED[i].name, how, buf_str(&verdict));
            buf_free(&verdict);
        }
    assert_true(unnamed <= 1);
}

/* A factor without zeros, or zeros without their factor, is no dropout. */
static void what_is_no_dropout(void **state)
{
    (void)state;
    static const double FACTOR[] = {1.11, 1};
    for (int k = 0; k < 2; k++)
        for (Kind kind = DECODER; kind <= TURNED; kind++) {
            Buf verdict = {0};
            alone = FACTOR[k];
            record(kind, kind == TURNED ? "full_embed" : "resid_mid", k ? 0.1 : 0, MODULES[kind]);
            alone = 0;
            assert_false(compare(kind, &verdict));
            if (strstr(buf_str(&verdict), "Likely cause: dropout"))
                fail_msg("%d: %s", k, buf_str(&verdict));
            buf_free(&verdict);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dropout_is_named), cmocka_unit_test(what_is_no_dropout)};
    return cmocka_run_group_tests_name("diff dropout", tests, NULL, NULL);
}
