/* Models of words that are wired otherwise, planted by the test's own graphs and numbers: norms left out, heads split
 * without a transpose, a fused weight read in the other shape, a mask turned over, text read one place late, keys or
 * positions of another stack, a memory that no block has seen. Each is named from the logits, from the blocks and from
 * the modules, and by no other name. */
#include "tests/core_models/text_bench.h"

#include "core/base/mem.h"
#include "core/diff/diff.h"
#include "tests/core_models/oracle.h"

enum { TOKENS = 12, EDITS = 32 };

typedef enum Kind { PLAIN, GROUPED, BOTH, BOTH_LEARNED } Kind; /* LEARNED: positions */

static Seq2seqConfig config_of(Kind kind)
{
    Seq2seqConfig c = kind >= BOTH ? text_tiny() : text_variant(4);
    if (kind == BOTH_LEARNED) {
        c.learned_positions = true;
        c.positions = 32;
        c.first_position = 2;
    }
    if (kind >= BOTH)
        return c;
    c.width = 32;
    c.heads = 4;
    c.head_dim = 8;
    c.mlp = 48;
    c.positions = 32;
    if (kind == GROUPED) {
        c.key_heads = 2;
        c.rms_norm = true;
        c.window = 4;
        c.windowed[0] = 1;
    }
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
    scratch_dir(dir, sizeof dir, "diffwired");
    snprintf(path, sizeof path, "%s/trace.safetensors", dir);
    return path;
}

typedef struct Plot {
    TextBench *b;
    Edit edit[EDITS];
    int count;
    Arena arena;
} Plot;

static Edit *plant(Plot *p, EditKind kind, const char *path)
{
    assert_true(p->count < EDITS);
    Edit *e = &p->edit[p->count++];
    *e = (Edit){.kind = kind, .path = path, .origin = "planted"};
    return e;
}

static const char *in_block(Plot *p, int block, const char *name)
{
    return arena_printf(&p->arena, "decoder.blocks.%d.%s", block, name);
}

/* A copy of a node's values with what has been planted so far. */
static float *planted(Plot *p, const char *path)
{
    Graph g = {.count = 0};
    Err err = {""};
    const size_t cells = graph_cells(&p->b->graph, text_bench_node(p->b, path));
    if (!graph_edit(&g, &p->b->graph, p->edit, p->count, &err))
        fail_msg("%s", err.text);
    Run *run = run_new(&g, p->b->run, NULL);
    float *x = arena_alloc(&p->arena, cells * sizeof *x);
    memcpy(x, run_need(run, graph_find(&g, path)), cells * sizeof *x);
    run_free(run);
    graph_free(&g);
    return x;
}

/* --- the plants --- */

static void without(Plot *p, const char *norm, const char *reads)
{
    const char *kind = p->b->model.text.rms_norm ? "rms" : "ln";
    for (int l = 0; l < 2; l++)
        plant(p, EDIT_REDIRECT, in_block(p, l, arena_printf(&p->arena, "%s%s", kind, norm)))->other = in_block(p, l,
                                                                                                               reads);
}
static void no_first_norm(Plot *p)
{
    without(p, "1.out", "resid_pre");
}
static void no_second_norm(Plot *p)
{
    without(p, "2.out", "resid_mid");
}
static void no_norms(Plot *p)
{
    no_first_norm(p);
    no_second_norm(p);
}

/* The numbers of [t,h,e] as they lie, cut as [h,t,e]. */
static void untransposed(Plot *p)
{
    static const char *const OF[] = {"self_attn.q", "self_attn.k", "self_attn.v"};
    for (int l = 0; l < 2; l++)
        for (int k = 0; k < 3; k++) {
            const char *path = in_block(p, l, OF[k]);
            const size_t e = (size_t)p->b->model.text.head_dim,
                         heads = graph_cells(&p->b->graph, text_bench_node(p->b, path)) / e / TOKENS;
            const float *x = planted(p, path);
            float *out = arena_alloc(&p->arena, TOKENS * heads * e * sizeof *out);
            for (size_t h = 0; h < heads; h++)
                for (size_t t = 0; t < TOKENS; t++)
                    for (size_t i = 0; i < e; i++)
                        out[(t * heads + h) * e + i] = x[(h * TOKENS + t) * e + i];
            plant(p, EDIT_VALUES, path)->data = out;
        }
}

/* q, k and v as a Conv1D keeps them, [in,out], read as [out,in]. */
static void fused_reshaped(Plot *p)
{
    static const char *const OF[] = {"self_attn.w_q", "self_attn.w_k", "self_attn.w_v"};
    const size_t in = (size_t)p->b->model.text.width, out = 3 * in;
    for (int l = 0; l < 2; l++) {
        float *stored = arena_alloc(&p->arena, in * out * sizeof *stored);
        for (int k = 0; k < 3; k++) {
            const float *w = text_bench_values(p->b, in_block(p, l, OF[k]));
            for (size_t o = 0; o < in; o++)
                for (size_t i = 0; i < in; i++)
                    stored[i * out + (size_t)k * in + o] = w[o * in + i];
        }
        for (int k = 0; k < 3; k++)
            plant(p, EDIT_VALUES, in_block(p, l, OF[k]))->data = stored + (size_t)k * in * in;
    }
}

static void turned_over(Plot *p)
{
    static const char *const MASKS[] = {"decoder.causal_mask", "decoder.window_mask"};
    float *later = arena_alloc(&p->arena, sizeof *later * TOKENS * TOKENS);
    for (int i = 0; i < TOKENS * TOKENS; i++)
        later[i] = i % TOKENS >= i / TOKENS;
    for (int k = 0; k < 2; k++)
        if (graph_find(&p->b->graph, MASKS[k]) != NO_NODE)
            plant(p, EDIT_VALUES, MASKS[k])->data = later;
}

static void late(int *word, int first)
{
    for (int i = TOKENS - 1; i > 0; i--)
        word[i] = word[i - 1];
    word[0] = first;
}
static void again(TextBench *b)
{
    run_free(b->run);
    graph_free(&b->graph);
    text_bench_start(b);
}
static void one_late(Plot *p)
{
    late(p->b->target, p->b->target[0]);
    again(p->b);
}
static void source_late(Plot *p)
{
    late(p->b->source, 0);
    again(p->b);
}

/* Of the first block: what lies before it is as it was. */
static void own_keys(Plot *p)
{
    TextBench other;
    Seq2seqConfig c = config_of(BOTH);
    const char *path = in_block(p, 0, "cross_attn.k");
    const size_t cells = graph_cells(&p->b->graph, text_bench_node(p->b, path));
    float *k = arena_alloc(&p->arena, cells * sizeof *k);
    c.cross_own = true;
    text_bench_seeded(&other, &c, 5, TOKENS, TOKENS);
    memcpy(k, text_bench_values(&other, path), cells * sizeof *k);
    text_bench_free(&other);
    plant(p, EDIT_VALUES, path)->data = k;
}

/* What the encoder's first block reads. */
static void memory_first(Plot *p)
{
    const float *first = planted(p, "encoder.blocks.0.resid_pre");
    plant(p, EDIT_VALUES, "encoder.blocks.1.ln2.out")->data = first;
}
static void encoders_places(Plot *p)
{
    const float *rows = planted(p, "encoder.pos_embed");
    plant(p, EDIT_VALUES, "decoder.pos_embed")->data = rows;
}

typedef enum Recorded { LOGITS, OF_BLOCKS, OF_MODULES, RECORDINGS } Recorded;

/* behind: q, k and v are recorded as they were, before they are split. */
static const struct {
    const char *name;
    Kind kind;
    void (*plant)(Plot *p);
    bool behind;
    const char *says[RECORDINGS];
} PLANTED[] = {
#define SAME(text)                                                                                                     \
    {                                                                                                                  \
        text, text, text                                                                                               \
    }
    {"no first norm", PLAIN, no_first_norm, false, SAME("has no LayerNorm in front of attention.")},
    {"no second norm", PLAIN, no_second_norm, false, SAME("has no LayerNorm in front of the MLP.")},
    {"no first norm", GROUPED, no_first_norm, false, SAME("has no RMSNorm in front of attention.")},
    {"no norms",
     GROUPED,
     no_norms,
     false,
     {"in front of attention, and none", "in front of attention, and none", "has no RMSNorm"}},
    {"split", PLAIN, untransposed, true, SAME("heads without a transpose")},
    {"split", GROUPED, untransposed, true, SAME("heads without a transpose")},
    {"fused", PLAIN, fused_reshaped, false, SAME("the fused weight of q, k and v is reshaped from [in,out]")},
    {"mask", PLAIN, turned_over, false, SAME("mask is transposed: tokens")},
    {"mask and window", GROUPED, turned_over, false, SAME("is transposed and its window ends nothing")},
    {"late", PLAIN, one_late, false, SAME("reads the text one token late")},
    {"source late", BOTH, source_late, false, SAME("recording's encoder reads the text one token late")},
    {"keys", BOTH, own_keys, false, SAME("takes its keys from the decoder")},
    {"memory", BOTH, memory_first, false, SAME("looks at the encoder's tokens before its first block")},
    {"places", BOTH_LEARNED, encoders_places, false, SAME("decoder adds the encoder's position embeddings")},
#undef SAME
};

static bool ends(const char *path, const char *list)
{
    for (const char *w = list; *w;) {
        const size_t n = strcspn(w, " "), length = strlen(path);
        if (length >= n && strncmp(path + length - n, w, n) == 0 && (length == n || path[length - n - 1] == '.'))
            return true;
        w += n + (w[n] == ' ');
    }
    return false;
}

static const char MODULES[] =
    "self_attn.q self_attn.k self_attn.v self_attn.out cross_attn.q cross_attn.k cross_attn.v "
    "cross_attn.out mlp.pre mlp.out resid_post ln3.out logits";
static const char *const LISTS[RECORDINGS] = {"logits", "resid_post ln3.out logits", MODULES};

static void record(size_t i, Recorded how)
{
    TextBench b;
    Plot *p = calloc(1, sizeof *p);
    Graph g = {.count = 0};
    Err err = {""};
    TensorOut out[64];
    size_t count = 0;
    open_bench(&b, PLANTED[i].kind);
    p->b = &b;
    PLANTED[i].plant(p);
    if (!graph_edit(&g, &b.graph, p->edit, p->count, &err))
        fail_msg("%s", err.text);
    Run *run = run_new(&g, b.run, NULL);
    for (NodeId n = 0; n < g.count; n++) {
        const char *path = graph_node(&g, n)->path;
        if (!ends(path, LISTS[how]) || (PLANTED[i].kind < BOTH && ends(path, "ln3.out")))
            continue;
        NodeId from = PLANTED[i].behind ? graph_find(&g, arena_printf(&p->arena, "%s.unedited", path)) : NO_NODE;
        from = from == NO_NODE ? n : from;
        assert_true(count < sizeof out / sizeof *out);
        out[count] = (TensorOut){.name = path, .rank = graph_node(&g, n)->dims.n, .data = run_need(run, from)};
        for (int k = 0; k < out[count].rank; k++)
            out[count].shape[k] = (size_t)g.axes[graph_node(&g, n)->dims.axis[k]].n;
        count++;
    }
    if (!count || !tensors_write(trace_path(), TF_SAFETENSORS, out, count, NULL, &err))
        fail_msg("%zu tensors: %s", count, err.text);
    run_free(run);
    graph_free(&g);
    arena_free(&p->arena);
    free(p);
    text_bench_free(&b);
}

static void compare(Kind kind, Buf *verdict)
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
    assert_false(d.same);
    diff_report_free(&d);
    diff_reference_free(&r);
    text_bench_free(&b);
}

static void wiring_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof PLANTED / sizeof *PLANTED; i++)
        for (int how = 0; how < RECORDINGS; how++) {
            Buf verdict = {0};
            record(i, (Recorded)how);
            compare(PLANTED[i].kind, &verdict);
            const char *cause = strstr(buf_str(&verdict), "Likely cause: ");
            bool right = cause && !strstr(buf_str(&verdict), "one of the mistakes") &&
                         !strstr(buf_str(&verdict), "can't tell it from another");
            for (; cause && right; cause = strstr(cause + 1, "Likely cause: ")) { /* each of them is that one */
                const char *said = strstr(cause, PLANTED[i].says[how]), *end = strstr(cause, " With the same");
                right = said && end && said < end;
            }
            if (!right)
                fail_msg("%s, %d, recording %d: %s", PLANTED[i].name, (int)PLANTED[i].kind, how, buf_str(&verdict));
            buf_free(&verdict);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wiring_is_named)};
    return cmocka_run_group_tests_name("diff wired", tests, NULL, NULL);
}
