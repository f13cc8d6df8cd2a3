/* How fast the engine is against what this processor can do, measured in one run: single contractions (and OpenBLAS's,
 * where it is installed), whole forward passes cold and warm, a small graph again and again as in training, memory,
 * growth over tokens and blocks. A table for people on standard output, JSON in a file. Usage: bench JSON [SIZE…] SIZE:
 * tiny b16 l16 h14 (b16 when none is given) */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/graph/grad.h"
#include "core/graph/plan.h"
#include "core/graph/run.h"
#include "core/models/model.h"
#include "tests/bench/peak.h"

enum { ROUNDS = 7, SHAPE_ROUNDS = 12 };

/* How the operands lie: a[m,k] and b[k,n]; b[n,k], as weights are stored; a[k,m], as gradients of weights read it. */
typedef enum Form { PLAIN, K_LAST, A_TRANSPOSED } Form;

typedef struct Shape {
    const char *name;
    int batch, m, n, k;
    Form form;
} Shape;

/* of ViT-B/16 and H/14; of B/16 at 384; of a step of training the bundled model with four pictures at once */
static const Shape SHAPES[] = {
    {"q, k, v, out", 1, 197, 768, 768, K_LAST},        {"MLP up", 1, 197, 3072, 768, K_LAST},
    {"MLP down", 1, 197, 768, 3072, K_LAST},           {"MLP up (H/14)", 1, 257, 5120, 1280, K_LAST},
    {"q · k, 12 heads", 12, 197, 197, 64, K_LAST},     {"pattern · v", 12, 197, 64, 197, PLAIN},
    {"MLP up, 577 tokens", 1, 577, 3072, 768, K_LAST}, {"small: q, k, v, out", 1, 260, 64, 64, K_LAST},
    {"small: MLP up", 1, 260, 256, 64, K_LAST},        {"small: q · k", 16, 65, 65, 16, K_LAST},
    {"small: pattern · v", 16, 65, 16, 65, PLAIN},     {"small: weight gradient", 1, 64, 64, 260, A_TRANSPOSED},
    {"small: input gradient", 1, 260, 64, 256, PLAIN},
};

typedef void Sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                   const float *b, int ldb, float beta, float *c, int ldc);
typedef char *Corename(void);

static struct {
    Sgemm *sgemm;
    const char *kernels;
} blas;

static void *symbol(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

/* Debian's OpenBLAS takes its slowest kernels for processors it does not know: tell it which to take. */
static void find_blas(void)
{
    const char *isa = kernels()->isa;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OPENBLAS_CORETYPE", strcmp(isa, "avx512") == 0 ? "SkylakeX" : "Haswell", 0);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    void *sgemm = symbol(library, "cblas_sgemm"), *name = symbol(library, "openblas_get_corename");
    Corename *corename;
    if (!sgemm || !name)
        return;
    memcpy(&blas.sgemm, &sgemm, sizeof sgemm);
    memcpy(&corename, &name, sizeof name);
    blas.kernels = corename();
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double wall_ms(void)
{
    return (double)clock_ns() * 1e-6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_size);
    return x[n / 2];
}

static float *random_floats(size_t n, uint64_t seed)
{
    Rng rng = rng_seed(seed, 0);
    float *x = xfloats(n);
    for (size_t i = 0; i < n; i++)
        x[i] = rng_range(&rng, -1.0f, 1.0f);
    return x;
}

static int axis(Graph *g, const char *sym, int n)
{
    Axis a = {.name = sym, .n = n};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

typedef struct Ours {
    Graph graph;
    NodeId node;
} Ours;

static Ours ours_new(const Shape *s, const float *x, const float *y)
{
    Ours o;
    Graph *g = &o.graph;
    graph_init(g);
    int h = axis(g, "h", s->batch), m = axis(g, "m", s->m), n = axis(g, "n", s->n), k = axis(g, "k", s->k);
    NodeId a = graph_leaf(g, "a", s->form == A_TRANSPOSED ? DIMS(h, k, m) : DIMS(h, m, k), (Leaf){LEAF_TENSOR, x, "a"});
    NodeId b = graph_leaf(g, "b", s->form == K_LAST ? DIMS(h, n, k) : DIMS(h, k, n), (Leaf){LEAF_TENSOR, y, "b"});
    o.node = graph_contract(g, "c", a, b, DIMS(h, m, n));
    return o;
}

static double time_ours(const Ours *o, int times, Pool *pool)
{
    double start = cpu_ms();
    for (int i = 0; i < times; i++) {
        Run *run = run_new(&o->graph, NULL, pool);
        while (!run_step(run, o->node, CLOCK_NEVER))
            continue;
        run_free(run);
    }
    return (cpu_ms() - start) / times;
}

static double time_blas(const Shape *s, const float *x, const float *y, float *out, int times)
{
    enum { ROW_MAJOR = 101, AS_IS = 111, TRANSPOSED = 112 };
    size_t m = (size_t)s->m, n = (size_t)s->n, k = (size_t)s->k;
    bool a_turned = s->form == A_TRANSPOSED, b_turned = s->form == K_LAST;
    double start = cpu_ms();
    for (int i = 0; i < times; i++)
        for (size_t h = 0; h < (size_t)s->batch; h++)
            blas.sgemm(ROW_MAJOR, a_turned ? TRANSPOSED : AS_IS, b_turned ? TRANSPOSED : AS_IS, s->m, s->n, s->k, 1.0f,
                       x + h * m * k, a_turned ? s->m : s->k, y + h * n * k, b_turned ? s->k : s->n, 0.0f,
                       out + h * m * n, s->n);
    return (cpu_ms() - start) / times;
}

/* The best of many rounds, ours and OpenBLAS's in turn: what other programs take away falls on both. */
static void time_shape(const Shape *s, Pool *pool, double *ours, double *theirs)
{
    size_t batch = (size_t)s->batch, m = (size_t)s->m, n = (size_t)s->n, k = (size_t)s->k;
    float *x = random_floats(batch * m * k, 1), *y = random_floats(batch * n * k, 2), *out = xfloats(batch * m * n);
    const int times = 1 + (int)(2e8 / (2.0 * s->batch * s->m * (double)s->n * s->k));
    Ours o = ours_new(s, x, y);
    *ours = *theirs = 1e9;
    for (int r = 0; r < SHAPE_ROUNDS; r++) {
        double a = time_ours(&o, times, pool), b = blas.sgemm ? time_blas(s, x, y, out, times) : 1e9;
        *ours = a < *ours ? a : *ours;
        *theirs = b < *theirs ? b : *theirs;
    }
    graph_free(&o.graph);
    free(x);
    free(y);
    free(out);
}

static double peak_now(void)
{
    double p[3];
    for (int i = 0; i < 3; i++)
        p[i] = peak_gflops(kernels()->isa);
    return median(p, 3);
}

static void bench_shapes(FILE *json)
{
    Pool *pool = pool_new(1);
    printf("Contractions, one thread, CPU time, best of many, packed in every call   (OpenBLAS kernels: %s)\n",
           blas.kernels ? blas.kernels : "not installed");
    printf("  %-22s %-20s %9s %8s %10s %7s\n", "", "batch × m × n × k", "GFLOP/s", "of peak", "OpenBLAS", "ratio");
    fprintf(json, "  \"openblas\": \"%s\",\n  \"contractions\": [", blas.kernels ? blas.kernels : "");
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        const Shape *s = &SHAPES[i];
        double gflop = 2e-9 * s->batch * s->m * (double)s->n * s->k, peak = peak_now();
        double ours, theirs;
        time_shape(s, pool, &ours, &theirs);
        ours = gflop / ours * 1e3;
        theirs = blas.sgemm ? gflop / theirs * 1e3 : 0;
        char text[40];
        snprintf(text, sizeof text, "%d × %d × %d × %d", s->batch, s->m, s->n, s->k);
        printf("  %-22s %-23s %9.1f %7.0f%% %10.1f %7.2f\n", s->name, text, ours, peak > 0 ? 100 * ours / peak : 0,
               theirs, theirs > 0 ? ours / theirs : 0);
        fprintf(json,
                "%s\n    {\"name\": \"%s\", \"batch\": %d, \"m\": %d, \"n\": %d, \"k\": %d, \"gflops\": %.2f, "
                "\"peak\": %.2f, \"openblas_gflops\": %.2f}",
                i ? "," : "", s->name, s->batch, s->m, s->n, s->k, ours, peak, theirs);
    }
    fprintf(json, "\n  ],\n");
    printf("\n");
    pool_free(pool);
}

typedef struct Forward {
    double cold, warm, cpu, gflops, peak;
    size_t bytes;
    uint64_t hash;
} Forward;

/* One pass with new memory, then ROUNDS with the memory of the pass before. */
static Forward time_forward(const Graph *g, int threads)
{
    Forward f = {0};
    double wall[ROUNDS], cpu[ROUNDS];
    Pool *pool = pool_new(threads);
    for (int r = -1; r < ROUNDS; r++) {
        Run *run = run_new(g, NULL, pool);
        double start = wall_ms(), spent = cpu_ms();
        while (!run_step_all(run, CLOCK_NEVER))
            continue;
        double ms = wall_ms() - start;
        spent = cpu_ms() - spent;
        if (r < 0)
            f.cold = threads == 1 ? spent : ms;
        else
            wall[r] = ms, cpu[r] = spent;
        f.bytes = run_bytes(run);
        run_hash(run, &f.hash);
        run_free(run);
    }
    f.warm = median(wall, ROUNDS);
    f.cpu = median(cpu, ROUNDS);
    if (threads == 1)
        f.warm = f.cpu; /* nobody else's load is in it */
    f.peak = peak_now() * threads;
    f.gflops = graph_scope_cost(g, "").flops * 1e-6 / f.warm;
    pool_free(pool);
    return f;
}

/* What keeping and hashing every tensor costs over the same pass with buffers reused, in turn, the best of some. */
static void bench_keeping(FILE *json, const Graph *g, NodeId logits, const char *size)
{
    Pool *pool = pool_new(1);
    Plan *p = plan_new(g, &logits, 1);
    double keep = 1e9, reuse = 1e9;
    size_t held = 0;
    for (int r = 0; r <= ROUNDS; r++) { /* the first round of a run is cold */
        double start = cpu_ms();
        plan_compute(p);
        double between = cpu_ms();
        Run *run = run_new(g, NULL, pool);
        while (!run_step_all(run, CLOCK_NEVER))
            continue;
        double end = cpu_ms();
        reuse = between - start < reuse ? between - start : reuse;
        keep = end - between < keep ? end - between : keep;
        held = run_bytes(run);
        run_free(run);
    }
    printf("  %-6s keeping all: %.1f ms and %.0f MB; buffers reused: %.1f ms and %.0f MB: keeping costs %.1f %%\n",
           size, keep, (double)held * 1e-6, reuse, (double)plan_bytes(p) * 1e-6, 100 * (keep / reuse - 1));
    fprintf(json,
            ",\n    {\"model\": \"%s\", \"threads\": 1, \"keep_ms\": %.2f, \"keep_bytes\": %zu, \"reuse_ms\": %.2f, "
            "\"reuse_bytes\": %zu}",
            size, keep, held, reuse, plan_bytes(p));
    plan_free(p);
    pool_free(pool);
}

static void bench_forward(FILE *json, const char *size, bool first)
{
    Model m = {0};
    VitConfig c;
    if (!model_size(size, &c))
        die("no model size '%s': choose of tiny, b16, l16, h14", size);
    model_seeded(&m, &c, 1);
    float *input = random_floats((size_t)c.channels * (size_t)c.image_h * (size_t)c.image_w, 3);
    Graph g;
    graph_init(&g);
    VitNodes nodes;
    vit_build(&g, &c, &m.weights, NULL, input, &nodes);
    Pool *all = pool_new(0);
    int most = pool_threads(all);
    pool_free(all);
    double one = 0;
    for (int threads = 1; threads <= most; threads *= 2) {
        Forward f = time_forward(&g, threads);
        struct rusage use;
        getrusage(RUSAGE_SELF, &use);
        one = threads == 1 ? f.warm : one;
        printf("  %-6s %7d %9.1f %9.1f %9.1f %8.0f%% %8.2f %9.0f %9.0f   %016llx\n", size, threads, f.cold, f.warm,
               f.gflops, f.peak > 0 ? 100 * f.gflops / f.peak : 0, one / f.warm, (double)f.bytes * 1e-6,
               (double)use.ru_maxrss / 1024, (unsigned long long)f.hash);
        fprintf(json,
                "%s\n    {\"model\": \"%s\", \"threads\": %d, \"cold_ms\": %.2f, \"warm_ms\": %.2f, \"cpu_ms\": %.2f, "
                "\"gflops\": %.2f, \"peak\": %.2f, \"trace_bytes\": %zu, \"max_rss_kib\": %ld, \"hash\": \"%016llx\"}",
                first && threads == 1 ? "" : ",", size, threads, f.cold, f.warm, f.cpu, f.gflops, f.peak, f.bytes,
                use.ru_maxrss, (unsigned long long)f.hash);
    }
    bench_keeping(json, &g, nodes.logits, size);
    graph_free(&g);
    free(input);
    model_free(&m);
}

enum { PICTURES = 4, AGAIN = 60, WANTED = 600 };

static size_t find_weights(const Graph *g, NodeId weights[WANTED])
{
    size_t n = 0;
    for (NodeId i = 0; i < g->count && n < WANTED - 1; i++)
        if (graph_node(g, i)->op == OP_LEAF && graph_node(g, i)->leaf.kind == LEAF_TENSOR)
            weights[n++] = i;
    return n;
}

/* Appends the loss and its gradient by every weight; returns how many nodes are wanted. */
static int add_training(Graph *g, NodeId logits, NodeId wanted[WANTED])
{
    NodeId weights[WANTED];
    const Dims d = graph_node(g, logits)->dims;
    size_t cells = graph_cells(g, logits), n = find_weights(g, weights);
    float *target = arena_alloc(&g->arena, cells * sizeof *target);
    for (size_t i = 0; i < cells; i += (size_t)g->axes[d.axis[d.n - 1]].n)
        target[i] = 1;
    graph_scope(g, "%s", "");
    NodeId to = graph_leaf(g, "target", d, (Leaf){LEAF_INPUT, target, "target"});
    NodeId loss = grad_cross_entropy(g, logits, to, d.axis[d.n - 1]);
    const NodeId *gradient = grad_add(g, loss, graph_const(g, "share", graph_node(g, loss)->dims, 1.0f / PICTURES),
                                      weights, (int)n, "grad.");
    int count = 0;
    wanted[count++] = loss;
    for (size_t i = 0; i < n; i++)
        if (gradient[weights[i]] != NO_NODE)
            wanted[count++] = gradient[weights[i]];
    return count;
}

/* Planned once and computed again and again, beside new runs that keep everything. The best of many: they are short. */
static void bench_again(FILE *json, bool training)
{
    const VitConfig c = model_bundled_config();
    Model m = {0};
    Graph g;
    VitNodes nodes;
    NodeId wanted[WANTED];
    model_seeded(&m, &c, 1);
    float *input = random_floats(PICTURES * (size_t)c.channels * (size_t)c.image_h * (size_t)c.image_w, 3);
    graph_init(&g);
    vit_build_batch(&g, &c, &m.weights, NULL, input, (VitBatch){.pictures = PICTURES}, &nodes);
    int count = training ? add_training(&g, nodes.logits, wanted) : 1;
    if (!training)
        wanted[0] = nodes.logits;
    Pool *pool = pool_new(1);
    Plan *p = plan_new(&g, wanted, count);
    double plan_ms = 1e9, run_ms = 1e9, mflop = 0, peak = peak_now();
    size_t held = 0;
    for (NodeId n = 0; n < g.count; n++)
        mflop += graph_node(&g, n)->op == OP_CONTRACT ? graph_cost(&g, n).flops * 1e-6 : 0;
    for (int i = 0; i < AGAIN; i++) {
        double start = cpu_ms();
        plan_compute(p);
        double between = cpu_ms();
        Run *run = run_new(&g, NULL, pool);
        for (int k = 0; k < count; k++)
            run_need(run, wanted[k]);
        double end = cpu_ms();
        plan_ms = between - start < plan_ms ? between - start : plan_ms;
        run_ms = end - between < run_ms ? end - between : run_ms;
        held = run_bytes(run);
        run_free(run);
    }
    const char *what = training ? "loss and gradients" : "forward";
    printf("  %-19s %7d %7zu %9.3f %9.3f %9.1f %8.0f%% %9.1f %9.1f\n", what, (int)g.count, plan_jobs(p), plan_ms,
           run_ms, mflop / plan_ms, peak > 0 ? 100 * mflop / plan_ms / peak : 0, (double)plan_bytes(p) * 1e-6,
           (double)held * 1e-6);
    fprintf(json,
            "%s\n    {\"what\": \"%s\", \"pictures\": %d, \"jobs\": %zu, \"plan_ms\": %.4f, \"run_ms\": %.4f, "
            "\"contraction_mflop\": %.2f, \"peak\": %.2f, \"plan_bytes\": %zu, \"run_bytes\": %zu}",
            training ? "," : "", what, (int)PICTURES, plan_jobs(p), plan_ms, run_ms, mflop, peak, plan_bytes(p), held);
    plan_free(p);
    pool_free(pool);
    graph_free(&g);
    free(input);
    model_free(&m);
}

/* ViT-B/16 cut down to a few blocks, over picture sizes and over blocks: what grows how. */
static void bench_growth(FILE *json)
{
    static const struct {
        int pixels, layers;
    } points[] = {{112, 1}, {224, 1}, {384, 1}, {512, 1}, {224, 2}, {224, 4}, {224, 8}};
    Pool *pool = pool_new(1);
    printf("\nGrowth, ViT-B/16 with fewer blocks, one thread, CPU time, the best of some passes\n");
    printf("  %-8s %7s %7s %9s %9s %9s\n", "pixels", "tokens", "blocks", "ms", "GFLOP", "trace MB");
    fprintf(json, ",\n  \"growth\": [");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        VitConfig c = vit_config_base();
        c.image_h = c.image_w = points[i].pixels;
        c.layers = points[i].layers;
        Model m = {0};
        model_seeded(&m, &c, 1);
        float *input = random_floats((size_t)c.channels * (size_t)c.image_h * (size_t)c.image_w, 3);
        Graph g;
        graph_init(&g);
        vit_build(&g, &c, &m.weights, NULL, input, NULL);
        double best = 1e9, gflop = graph_scope_cost(&g, "").flops * 1e-9;
        size_t bytes = 0;
        for (int r = 0; r < ROUNDS; r++) {
            Run *run = run_new(&g, NULL, pool);
            double start = cpu_ms();
            while (!run_step_all(run, CLOCK_NEVER))
                continue;
            double ms = cpu_ms() - start;
            best = ms < best ? ms : best;
            bytes = run_bytes(run);
            run_free(run);
        }
        printf("  %-8d %7d %7d %9.1f %9.2f %9.1f\n", points[i].pixels, vit_tokens(&c), c.layers, best, gflop,
               (double)bytes * 1e-6);
        fprintf(json,
                "%s\n    {\"pixels\": %d, \"tokens\": %d, \"blocks\": %d, \"ms\": %.2f, \"gflop\": %.3f, "
                "\"trace_bytes\": %zu}",
                i ? "," : "", points[i].pixels, vit_tokens(&c), c.layers, best, gflop, bytes);
        graph_free(&g);
        free(input);
        model_free(&m);
    }
    fprintf(json, "\n  ]");
    pool_free(pool);
}

int main(int argc, char **argv)
{
    FILE *json = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (!json)
        die("usage: bench JSON [SIZE…], where JSON is a file that can be written");
    find_blas();
    double peak = peak_now();
    printf("FMA peak of one thread, %s: %.1f GFLOP/s\n\n", kernels()->isa, peak);
    fprintf(json, "{\n  \"isa\": \"%s\",\n  \"peak_gflops\": %.2f,\n", kernels()->isa, peak);
    bench_shapes(json);
    printf("Whole forward passes, every tensor kept and hashed (one thread: CPU time; more: wall time)\n");
    printf("  %-6s %7s %9s %9s %9s %9s %8s %9s %9s   %s\n", "model", "threads", "first ms", "next ms", "GFLOP/s",
           "of peak", "speed-up", "trace MB", "RSS MiB", "trace hash");
    fprintf(json, "  \"forwards\": [");
    for (int i = 2; i < argc || i == 2; i++)
        bench_forward(json, i < argc ? argv[i] : "b16", i == 2);
    printf("\nAgain and again: the bundled size, %d pictures at once, one thread, CPU time; a plan with buffers reused "
           "beside runs that keep all\n",
           (int)PICTURES);
    printf("  %-19s %7s %7s %9s %9s %9s %9s %9s %9s\n", "", "nodes", "jobs", "plan ms", "run ms", "GFLOP/s", "of peak",
           "plan MB", "run MB");
    fprintf(json, "\n  ],\n  \"again\": [");
    bench_again(json, false);
    bench_again(json, true);
    fprintf(json, "\n  ]");
    bench_growth(json);
    fprintf(json, "\n}\n");
    if (fclose(json) != 0)
        die("%s: could not be written", argv[1]);
    return 0;
}
