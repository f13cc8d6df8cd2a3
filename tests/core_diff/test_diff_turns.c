/* Mistakes with rotary positions, planted in recordings whose angles the test computes by their definitions: any
 * base, another scaling of the frequencies, bases and windows of two kinds of blocks. What is named is right, or
 * nothing is. */
#include "tests/core_models/text_bench.h"

#include "core/base/mem.h"
#include "core/diff/diff.h"
#include "tests/core_models/oracle.h"
#include "tests/every.h"

/* Pair k of a head turns by place · rate. */
typedef enum Scaled { PLAIN, LINEAR, LLAMA3, YARN } Scaled;
typedef struct Angles {
    double base;
    Scaled scaled;
    double factor, trained;
    double local;   /* base of blocks with a window, which nothing scales; 0: there are none */
    bool exchanged; /* each kind of block turns as the other should */
    double slopes;  /* each pair by a factor of its own, up to that: nobody's cause */
    int part;       /* of neighbours: so many numbers of a head are turned; 0: all */
    bool flat;      /* cos and sin are not stretched */
    int rows;       /* of W_Q and W_K in each head: 1 as Meta has them, 2 as if these were Meta's; 0: as they are */
    bool keys;      /* of W_K alone */
} Angles;

/* As the papers and transformers have them: wavelengths for Llama 3.1, a ramp over pairs for YaRN. */
static double rate_of(const Angles *a, int k, int width)
{
    const double turn = 2 * acos(-1.0), rate = pow(a->base, -2.0 * k / width), wave = turn / rate;
    if (a->slopes > 0)
        return rate * (1 + (a->slopes - 1) * (k * 5 % 7) / 7);
    if (a->scaled == LINEAR)
        return rate / a->factor;
    if (a->scaled == LLAMA3) {
        const double longest = a->trained / 1, shortest = a->trained / 4;
        if (wave < shortest)
            return rate;
        if (wave > longest)
            return rate / a->factor;
        const double smooth = (a->trained / wave - 1) / (4 - 1);
        return (1 - smooth) * rate / a->factor + smooth * rate;
    }
    if (a->scaled == YARN) {
        double from = floor(width * log(a->trained / (32 * turn)) / (2 * log(a->base))),
               to = ceil(width * log(a->trained / (1 * turn)) / (2 * log(a->base)));
        from = fmax(from, 0);
        to = fmin(to, width - 1);
        const double ramp = fmin(fmax((k - from) / (to > from ? to - from : 0.001), 0), 1);
        return rate / a->factor * ramp + rate * (1 - ramp);
    }
    return rate;
}

/* cos and sin [tokens,width], sin negative for the first of a pair; halves: e is turned with e + width/2. */
static void fill_tables(const Angles *a, bool halves, int tokens, int width, float *cosine, float *sine)
{
    const double stretch = a->scaled == YARN && !a->flat ? 0.1 * log(a->factor) + 1 : 1;
    const int part = a->part ? a->part : width;
    for (int p = 0; p < tokens; p++)
        for (int e = 0; e < width; e++) {
            const bool first = halves ? e < width / 2 : e % 2 == 0;
            const double angle = e < part ? p * rate_of(a, halves ? e % (width / 2) : e / 2, part) : 0;
            cosine[p * width + e] = (float)(stretch * cos(angle));
            sine[p * width + e] = (float)(stretch * sin(angle) * (first ? -1 : 1));
        }
}

/* --- a model and a text --- */

enum { TOKENS_MOST = 256, WIDTH = 16 };

typedef struct TurnBench {
    Model model;
    int word[TOKENS_MOST];
    Graph graph;
    Run *run;
} TurnBench;

typedef enum Kind { LLAMA, OF_LINEAR, OF_LLAMA3, OF_YARN, GEMMA, NEIGHBOURS, ENCODER } Kind;

static Seq2seqConfig config_of(Kind kind)
{
    Seq2seqConfig c = seq2seq_config_base();
    c.form = kind == ENCODER ? SEQ2SEQ_ENCODER_ONLY : SEQ2SEQ_DECODER_ONLY;
    c.width = 32;
    c.heads = 4;
    c.head_dim = WIDTH;
    c.key_heads = kind == ENCODER ? 0 : 2;
    c.scale = 0.25f;
    c.embed_scale = 1;
    c.mlp = 48;
    c.encoder_layers = kind == ENCODER ? 2 : 0;
    c.decoder_layers = kind == ENCODER ? 0 : kind == GEMMA ? 6 : 2;
    c.source_words = kind == ENCODER ? 41 : 0;
    c.target_words = kind == ENCODER ? 0 : 41;
    c.positions = 4096;
    c.pos = SEQ2SEQ_POS_ROPE;
    c.rope = (Seq2seqRope){.base = 10000, .half = kind != NEIGHBOURS};
    if (kind == OF_LINEAR || kind == OF_LLAMA3 || kind == OF_YARN) {
        c.rope.scaling = kind == OF_LINEAR ? ROPE_LINEAR : kind == OF_LLAMA3 ? ROPE_LLAMA3 : ROPE_YARN;
        c.rope.factor = kind == OF_LLAMA3 ? 8 : 4;
        c.rope.trained = 1024;
        c.rope.low = 1;
        c.rope.high = kind == OF_YARN ? 32 : 4;
        c.rope.stretch = kind == OF_YARN ? seq2seq_yarn_stretch(4) : 0;
    }
    c.pre_norm = c.final_norm = c.rms_norm = c.gated = true;
    c.qkv_bias = c.out_bias = c.mlp_bias = false;
    c.act = MAP_SILU;
    if (kind == GEMMA) {
        c.rope.base = 1000000;
        c.rope.local_base = 10000;
        c.window = 6;
        c.windowed[0] = 0x1b; /* every third block sees all tokens */
    }
    return c;
}

static void bench_of(TurnBench *b, const Seq2seqConfig *c, int tokens)
{
    Err err = {""};
    memset(b, 0, sizeof *b);
    if (!seq2seq_check(c, &err))
        fail_msg("%s", err.text);
    text_model_seeded(&b->model, c, 11);
    /* attention that looks at some tokens more than at others, as learned models' does */
    static const Seq2seqRole SHARP[] = {SEQ2SEQ_DEC_W_Q, SEQ2SEQ_DEC_W_K, SEQ2SEQ_ENC_W_Q, SEQ2SEQ_ENC_W_K};
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < (k < 2 ? c->decoder_layers : c->encoder_layers); l++) {
            const float *w = seq2seq_weight(c, &b->model.weights, SHARP[k], l)->data;
            float *own = b->model.block + (w - b->model.block);
            for (size_t i = 0; i < seq2seq_role_cells(c, SHARP[k]); i++)
                own[i] *= 2;
        }
    for (int i = 0; i < tokens; i++)
        b->word[i] = (3 + i * 17 + i * i % 11) % 41;
    Seq2seqInput in = {.source = {.word = b->word, .n = seq2seq_has_encoder(c) ? tokens : 0},
                       .target = {.word = b->word, .n = seq2seq_has_decoder(c) ? tokens : 0}};
    graph_init(&b->graph);
    seq2seq_build(&b->graph, c, &b->model.weights, &in, NULL);
    b->run = run_new(&b->graph, NULL, NULL);
}

static void bench_close(TurnBench *b)
{
    run_free(b->run);
    graph_free(&b->graph);
    model_free(&b->model);
}

static const char *trace_path(void)
{
    static char path[256];
    char dir[200];
    scratch_dir(dir, sizeof dir, "diffturns");
    snprintf(path, sizeof path, "%s/trace.safetensors", dir);
    return path;
}

/* Paths that end in one of these words, in any block; the last token's logits alone; NULL: every computed tensor. */
static const char LAST[] = "the last token";
static bool listed(const char *list, const Node *node)
{
    if (!list)
        return node->op != OP_LEAF && !(node->flags & NODE_DERIVED);
    for (const char *w = list == LAST ? "logits" : list; *w;) {
        size_t n = strcspn(w, " "), length = strlen(node->path);
        if (length >= n && strncmp(node->path + length - n, w, n) == 0 &&
            (length == n || node->path[length - n - 1] == '.'))
            return true;
        w += n + (w[n] == ' ');
    }
    return false;
}

static void write_run(Run *run, const char *list)
{
    const Graph *g = run_graph(run);
    TensorOut *out = calloc((size_t)g->count, sizeof *out);
    size_t count = 0;
    Err err = {""};
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (!listed(list, node) || strstr(node->path, ".unedited") || strstr(node->path, ".edit_"))
            continue;
        TensorOut t = {.name = node->path, .rank = node->dims.n, .data = run_need(run, n)};
        for (int i = 0; i < node->dims.n; i++)
            t.shape[i] = (size_t)g->axes[node->dims.axis[i]].n;
        if (list == LAST) {
            t.data = (const float *)t.data + (t.shape[0] - 1) * t.shape[1];
            t.shape[0] = 1;
        }
        out[count++] = t;
    }
    if (!count || !tensors_write(trace_path(), TF_SAFETENSORS, out, count, NULL, &err))
        fail_msg("%zu tensors: %s", count, err.text);
    free(out);
}

/* The rows of every head's q and k in another order: two that are turned together stand side by side in Meta's. */
static void reorder(TurnBench *b, const Seq2seqConfig *c, const Angles *a)
{
    static const Seq2seqRole ROLES[] = {SEQ2SEQ_DEC_W_K, SEQ2SEQ_DEC_W_Q};
    const size_t width = (size_t)c->width;
    float head[WIDTH * 32];
    for (int k = 0; a->rows && k < (a->keys ? 1 : 2); k++)
        for (int l = 0; l < c->decoder_layers; l++) {
            float *own = b->model.block + (seq2seq_weight(c, &b->model.weights, ROLES[k], l)->data - b->model.block);
            for (size_t h = 0; h < seq2seq_role_cells(c, ROLES[k]) / (WIDTH * width); h++) {
                float *w = own + h * WIDTH * width;
                memcpy(head, w, WIDTH * width * sizeof *w);
                for (size_t j = 0; j < WIDTH / 2; j++)
                    for (size_t i = 0; i < 2; i++) {
                        const size_t apart = j + i * (WIDTH / 2), beside = 2 * j + i;
                        memcpy(w + (a->rows == 1 ? beside : apart) * width,
                               head + (a->rows == 1 ? apart : beside) * width, width * sizeof *w);
                    }
            }
        }
}

/* The model of these settings, turned by these angles. */
static void record(const Seq2seqConfig *c, const Angles *a, int tokens, const char *list)
{
    TurnBench b;
    Arena arena = {0};
    Edit edit[4];
    Graph edited = {.count = 0};
    Err err = {""};
    int count = 0;
    bench_of(&b, c, tokens);
    reorder(&b, c, a);
    const char *scope = seq2seq_has_decoder(c) ? "decoder" : "encoder";
    for (int local = 0; local < (a->local > 0 ? 2 : 1); local++) {
        const size_t cells = (size_t)(tokens * WIDTH);
        float *table[2] = {arena_alloc(&arena, cells * sizeof(float)), arena_alloc(&arena, cells * sizeof(float))};
        const Angles near = {.base = a->local};
        fill_tables(local != (int)a->exchanged ? &near : a, c->rope.half, tokens, WIDTH, table[0], table[1]);
        for (int k = 0; k < 2; k++)
            edit[count++] = (Edit){.kind = EDIT_VALUES,
                                   .path = arena_printf(&arena, "%s.rope_%s%s", scope, k ? "sin" : "cos",
                                                        local ? "_local" : ""),
                                   .data = table[k],
                                   .origin = "planted"};
    }
    if (!graph_edit(&edited, &b.graph, edit, count, &err))
        fail_msg("%s", err.text);
    Run *run = run_new(&edited, b.run, NULL);
    write_run(run, list);
    run_free(run);
    graph_free(&edited);
    arena_free(&arena);
    bench_close(&b);
}

/* The verdict of a model of these settings on what is recorded; is it the same? */
static bool compare(const Seq2seqConfig *c, int tokens, Buf *verdict)
{
    TurnBench b;
    DiffReference r;
    DiffReport d;
    Err err = {""};
    const DiffOptions o = {.tolerance = DIFF_TOLERANCE};
    bench_of(&b, c, tokens);
    const DiffSubject s = {
        .graph = &b.graph, .run = b.run, .text = &b.model.text, .weights = &b.model.weights, .image = NO_NODE};
    if (!diff_reference_open(&r, trace_path(), NULL, s.graph, &err) || !diff_compare(&d, &s, &r, &o, &err))
        fail_msg("%s", err.text);
    const DiffNamed n = {"ours", &s, &r, &o, &d};
    diff_verdict(&n, verdict);
    bool same = d.same;
    diff_report_free(&d);
    diff_reference_free(&r);
    bench_close(&b);
    return same;
}

/* --- what is planted --- */

/* What is written; which of them, bit by bit: of a long text a few. */
static const char *const RECORDINGS[] = {"logits", "resid_post logits", "q_turned k_turned",
                                         LAST,     "pattern",           "scores_scaled",
                                         NULL};
enum {
    RECORDINGS_COUNT = sizeof RECORDINGS / sizeof *RECORDINGS,
    LOGITS = 1,
    BY_BLOCK = 0x42,
    LONG_TEXT = 7,
    NOT_LAST = 0x77,
    ALL = 0x7f
};

typedef struct Planted {
    Kind kind;
    int tokens;
    unsigned recordings;
    const char *says; /* NULL: nobody's cause */
    Angles theirs;
    unsigned windowed; /* blocks that have a window there, bit by bit; 0: as here */
} Planted;

#define TURNED(kind_, says_, ...)                                                                                      \
    {                                                                                                                  \
        .kind = kind_, .tokens = 24, .recordings = ALL, .says = says_, .theirs = { __VA_ARGS__ }                       \
    }
#define LONG(says_, ...)                                                                                               \
    {                                                                                                                  \
        .kind = LLAMA, .tokens = 200, .recordings = LONG_TEXT, .says = says_, .theirs = { __VA_ARGS__ }                \
    }
#define WINDOWED(recordings_, says_, windowed_)                                                                        \
    {                                                                                                                  \
        .kind = GEMMA, .tokens = 24, .recordings = recordings_, .says = says_, .theirs = {.base = 1e6, .local = 1e4},  \
        .windowed = windowed_                                                                                          \
    }

static const Planted BASES[] = {
    TURNED(LLAMA, "have base about 12300, here it is 10000", .base = 12345),
    TURNED(LLAMA, "have base about 160000, here it is 10000", .base = 160000),
    TURNED(LLAMA, "have base about 250000, here it is 10000", .base = 250000),
    TURNED(LLAMA, "have base about 8000000, here it is 10000", .base = 8e6),
    TURNED(LLAMA, "have base about 10100, here it is 10000", .base = 10100),
    TURNED(LLAMA, "have base about 10030, here it is 10000", .base = 10030),
    TURNED(LLAMA, "have base about 37, here it is 10000", .base = 37),
    TURNED(LLAMA, "have base 500000, here it is 10000", .base = 500000),
    TURNED(NEIGHBOURS, "have base about 160000, here it is 10000", .base = 160000),
    TURNED(LLAMA, NULL, .base = 10000, .slopes = 1.2),
    TURNED(LLAMA, NULL, .base = 12345, .slopes = 1.05),
    LONG("have base about 12300, here it is 10000", .base = 12345),
    LONG("have base about 220, here it is 10000", .base = 220),
    LONG("have base about 8000000, here it is 10000", .base = 8e6),
    LONG(NULL, .base = 10000, .slopes = 1.2),
    {.kind = ENCODER,
     .tokens = 20,
     .recordings = NOT_LAST,
     .says = "have base about 160000, here it is 10000",
     .theirs = {.base = 160000}},
};

static const Planted SCALINGS[] = {
    TURNED(LLAMA, "all rotary frequencies by 4, as linear", .base = 1e4, .scaled = LINEAR, .factor = 4),
    TURNED(LLAMA, "all rotary frequencies by about 3.7, as linear", .base = 1e4, .scaled = LINEAR, .factor = 3.7),
    TURNED(LLAMA, "\"llama3\" with factor 8 and an original length of 8192", .base = 1e4, .scaled = LLAMA3, .factor = 8,
           .trained = 8192),
    TURNED(LLAMA, "\"llama3\" with factor 32 and an original length of 8192", .base = 1e4, .scaled = LLAMA3,
           .factor = 32, .trained = 8192),
    TURNED(LLAMA, "\"yarn\" with factor 4 and an original length of 32768", .base = 1e4, .scaled = YARN, .factor = 4,
           .trained = 32768),
    LONG("all rotary frequencies by about 12.5, as linear", .base = 1e4, .scaled = LINEAR, .factor = 12.5),
    LONG("\"yarn\" with factor 8 and an original length of 4096", .base = 1e4, .scaled = YARN, .factor = 8,
         .trained = 4096),
    LONG("\"llama3\" with factor 8 and an original length of 8192", .base = 1e4, .scaled = LLAMA3, .factor = 8,
         .trained = 8192),
    TURNED(OF_LLAMA3, "factor of rope_scaling in the recording is 4, here it is 8", .base = 1e4, .scaled = LLAMA3,
           .factor = 4, .trained = 1024),
    TURNED(OF_LLAMA3, "factor of rope_scaling in the recording is about 5.5, here it is 8", .base = 1e4,
           .scaled = LLAMA3, .factor = 5.5, .trained = 1024),
    TURNED(OF_LLAMA3, "original length of 256 tokens, here it is 1024", .base = 1e4, .scaled = LLAMA3, .factor = 8,
           .trained = 256),
    TURNED(OF_LLAMA3, "have base about 20000, here it is 10000", .base = 2e4, .scaled = LLAMA3, .factor = 8,
           .trained = 1024),
    TURNED(OF_YARN, "factor of rope_scaling in the recording is 8, here it is 4", .base = 1e4, .scaled = YARN,
           .factor = 8, .trained = 1024),
    TURNED(OF_YARN, "factor of rope_scaling in the recording is about 6.5, here it is 4", .base = 1e4, .scaled = YARN,
           .factor = 6.5, .trained = 1024),
    TURNED(OF_YARN, "original length of 16384 tokens, here it is 1024", .base = 1e4, .scaled = YARN, .factor = 4,
           .trained = 16384),
    TURNED(OF_LINEAR, "factor of rope_scaling in the recording is 2, here it is 4", .base = 1e4, .scaled = LINEAR,
           .factor = 2),
    TURNED(OF_LINEAR, "factor of rope_scaling in the recording is about 7.25, here it is 4", .base = 1e4,
           .scaled = LINEAR, .factor = 7.25),
    TURNED(OF_LINEAR, "multiplies positions by the factor", .base = 1e4, .scaled = LINEAR, .factor = 0.25),
    TURNED(OF_LLAMA3, "multiplies positions by the factor", .base = 1e4, .scaled = LINEAR, .factor = 0.125),
    TURNED(OF_YARN, "multiplies positions by the factor", .base = 1e4, .scaled = LINEAR, .factor = 0.25),
    TURNED(OF_LINEAR, NULL, .base = 1e4, .slopes = 1.2),
    TURNED(OF_LLAMA3, "multiplies positions by the factor", .base = 1e4, .scaled = LINEAR, .factor = 0.125),
    TURNED(OF_YARN, "multiplies positions by the factor", .base = 1e4, .scaled = LINEAR, .factor = 0.25),
    TURNED(OF_YARN, "Likely cause: the recording does not stretch cos and sin", .base = 1e4, .scaled = YARN,
           .factor = 4, .trained = 1024, .flat = true),
    TURNED(NEIGHBOURS, "rotates the first half of a head alone", .base = 1e4, .part = WIDTH / 2),
    TURNED(NEIGHBOURS, "rotates the first quarter of a head alone", .base = 1e4, .part = WIDTH / 4),
};

static const Planted ROWS[] = {
    TURNED(LLAMA, "the rows of W_Q and W_K stand in Meta's order", .base = 1e4, .rows = 1),
    TURNED(LLAMA, "the rows of W_Q and W_K are permuted in the recording", .base = 1e4, .rows = 2),
    TURNED(LLAMA, "the rows of W_K stand in Meta's order", .base = 1e4, .rows = 1, .keys = true),
};

static const Planted KINDS_OF_BLOCKS[] = {
    TURNED(GEMMA, "of blocks with a window have base about 12300, here it is 10000", .base = 1e6, .local = 12345),
    TURNED(GEMMA, "rotations have base about 3200000, here it is 1000000", .base = 3.2e6, .local = 1e4),
    TURNED(GEMMA, "their rotations are exchanged", .base = 1e6, .local = 1e4, .exchanged = true),
    TURNED(GEMMA, "one base in all blocks", .base = 1e6, .local = 1e6),
    TURNED(GEMMA, "base of blocks with a window everywhere", .base = 1e4, .local = 1e4),
    WINDOWED(LOGITS | BY_BLOCK,
             "every 2nd block from 1 on sees all tokens in the recording, the others have a window; here every 3rd "
             "from 2 on",
             0x15),
    WINDOWED(LOGITS | BY_BLOCK, "every 6th block from 5 on sees all tokens", 0x1f),
    WINDOWED(LOGITS | BY_BLOCK, "every 3rd block from 0 on sees all tokens", 0x36),
    WINDOWED(LOGITS, NULL, 0x0b),
    WINDOWED(BY_BLOCK, "no window in block 4, where there is one here", 0x0b),
    WINDOWED(BY_BLOCK, "a window in block 2 and none in block 4; here it is the other way round", 0x0f),
};

/* Is what is recorded named, and by no other name? */
static void name(const Planted *list, size_t count)
{
    const int every = cases_every(4);
    int number = 0;
    for (const Planted *p = list; p < list + count; p++)
        for (int how = 0; how < RECORDINGS_COUNT; how++) {
            const Seq2seqConfig c = config_of(p->kind);
            Seq2seqConfig theirs = c;
            Buf verdict = {0};
            if (!(p->recordings >> how & 1) || number++ % every)
                continue;
            theirs.windowed[0] = p->windowed ? p->windowed : c.windowed[0];
            record(&theirs, &p->theirs, p->tokens, RECORDINGS[how]);
            assert_false(compare(&c, p->tokens, &verdict));
            const char *cause = strstr(buf_str(&verdict), "Likely cause: ");
            bool right = !p->says == !cause;
            for (; cause && right; cause = strstr(cause + 1, "Likely cause: ")) /* each of them is that one */
                right = strstr(cause, p->says) != NULL;
            if (!right)
                fail_msg("%s, from %s: %s", p->says ? p->says : "no cause", RECORDINGS[how] ? RECORDINGS[how] : "all",
                         buf_str(&verdict));
            buf_free(&verdict);
        }
}

/* The test's angles are the model's, where they should be. */
static void right_angles_are_the_same(void **state)
{
    (void)state;
    static const struct {
        Kind kind;
        Angles angles;
    } RIGHT[] = {{LLAMA, {.base = 1e4}},
                 {NEIGHBOURS, {.base = 1e4}},
                 {ENCODER, {.base = 1e4}},
                 {OF_LINEAR, {.base = 1e4, .scaled = LINEAR, .factor = 4}},
                 {OF_LLAMA3, {.base = 1e4, .scaled = LLAMA3, .factor = 8, .trained = 1024}},
                 {OF_YARN, {.base = 1e4, .scaled = YARN, .factor = 4, .trained = 1024}},
                 {GEMMA, {.base = 1e6, .local = 1e4}}};
    for (size_t i = 0; i < sizeof RIGHT / sizeof *RIGHT; i++) {
        const Seq2seqConfig c = config_of(RIGHT[i].kind);
        Buf verdict = {0};
        record(&c, &RIGHT[i].angles, 24, NULL);
        if (!compare(&c, 24, &verdict))
            fail_msg("%zu: %s", i, buf_str(&verdict));
        buf_free(&verdict);
    }
}

static void any_base_is_found(void **state)
{
    (void)state;
    name(BASES, sizeof BASES / sizeof *BASES);
}

static void scalings_are_named(void **state)
{
    (void)state;
    name(SCALINGS, sizeof SCALINGS / sizeof *SCALINGS);
}

static void orders_of_rows(void **state)
{
    (void)state;
    name(ROWS, sizeof ROWS / sizeof *ROWS);
}

static void kinds_of_blocks(void **state)
{
    (void)state;
    name(KINDS_OF_BLOCKS, sizeof KINDS_OF_BLOCKS / sizeof *KINDS_OF_BLOCKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(right_angles_are_the_same), cmocka_unit_test(any_base_is_found),
                                       cmocka_unit_test(scalings_are_named), cmocka_unit_test(orders_of_rows),
                                       cmocka_unit_test(kinds_of_blocks)};
    return cmocka_run_group_tests_name("diff turns", tests, NULL, NULL);
}
