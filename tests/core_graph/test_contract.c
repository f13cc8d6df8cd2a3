/* Contractions as they come: axes in any order, ragged right edges, several k blocks, tensors that must be copied
 * first, a bias in odd places. Every cell against the definition, written out naively, for every kernel table, through
 * a run of 1, 2 and 3 threads and through a plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/graph/plan.h"
#include "core/graph/run.h"

enum { AXES = 8 };

typedef struct Case {
    const char *a, *b, *out, *bias; /* one letter an axis; bias NULL: none */
    const char *letters;
    int len[AXES];
} Case;

static const Case CASES[] = {
    {"mk", "nk", "mn", NULL, "mnk", {15, 33, 64}},  /* weights as stored */
    {"mk", "nk", "mn", "n", "mnk", {29, 70, 300}},  /* two k blocks and a bias */
    {"mk", "kn", "mn", "n", "mnk", {14, 16, 257}},  /* b's columns are neighbours, exactly one vector */
    {"mk", "kn", "nm", NULL, "mnk", {20, 37, 513}}, /* the output turned round: sums are scattered */
    {"km", "kn", "mn", NULL, "mnk", {33, 47, 260}}, /* a's k cells far apart, as in a weight's gradient */
    {"km", "nk", "nm", "n", "mnk", {9, 35, 40}},
    {"mk", "nk", "mn", "n", "mnk", {17, 40, 1024}}, /* rows of a 4 KiB apart: copied */
    {"mk", "nk", "mn", NULL, "mnk", {1, 40, 1024}}, /* …but not a single one */
    {"tk", "uk", "tu", NULL, "tuk", {13, 7, 2048}},
    {"thk", "uhk", "htu", NULL, "htuk", {3, 31, 21, 16}}, /* attention scores, heads in the middle */
    {"htu", "uhk", "thk", NULL, "htuk", {5, 19, 23, 17}}, /* and values */
    {"bthk", "buhk", "bhtu", NULL, "bhtuk", {2, 3, 9, 11, 8}},
    {"td", "hed", "the", "he", "tdhe", {21, 48, 3, 16}},          /* columns of two axes, biased by both */
    {"td", "hed", "the", "eh", "tdhe", {21, 48, 3, 16}},          /* a bias in another order */
    {"td", "hed", "het", "e", "tdhe", {21, 48, 3, 17}},           /* a bias of one of them, the output turned */
    {"the", "dhe", "td", "d", "tdhe", {21, 48, 3, 16}},           /* k of two axes */
    {"the", "deh", "td", "d", "tdhe", {21, 48, 5, 60}},           /* in different orders: b gathered */
    {"cyixj", "dcij", "yxd", "d", "cyixjd", {3, 5, 4, 3, 4, 37}}, /* a patch embedding: a gathered */
    {"btk", "bk", "bt", NULL, "btk", {3, 17, 300}},               /* one column */
    {"k", "nk", "n", "n", "kn", {300, 45}},                       /* one row */
    {"k", "nk", "n", NULL, "kn", {515, 101}},                     /* … an odd one */
    {"k", "nk", "n", "n", "kn", {1024, 64}},                      /* … whole blocks of whole panels */
    {"hk", "uhk", "hu", NULL, "hku", {3, 72, 43}},                /* … of each head */
    {"hk", "uhk", "uh", "u", "hku", {3, 5, 43}},
    {"btk", "btn", "bkn", NULL, "btkn", {2, 65, 33, 18}},
    {"mk", "nk", "mn", "n", "mnk", {700, 3, 20}}, /* more rows than one block */
    {"mk", "nk", "mn", "n", "mnk", {3, 400, 30}}, /* more panels than one item has */
};

static int index_of(const Case *c, char letter)
{
    return (int)(strchr(c->letters, letter) - c->letters);
}

static bool has(const char *axes, char letter)
{
    return axes && strchr(axes, letter);
}

static Dims dims_of(const Case *c, const int *axis, const char *letters)
{
    Dims d = DIMS_SCALAR;
    for (; *letters; letters++)
        d.axis[d.n++] = axis[index_of(c, *letters)];
    return d;
}

/* Where the cell at the place `at` of all axes is in a row-major tensor over `axes`. */
static size_t cell_of(const Case *c, const char *axes, const int *at)
{
    size_t cell = 0;
    for (; *axes; axes++)
        cell = cell * (size_t)c->len[index_of(c, *axes)] + (size_t)at[index_of(c, *axes)];
    return cell;
}

static size_t cells_of(const Case *c, const char *axes)
{
    size_t n = 1;
    for (; *axes; axes++)
        n *= (size_t)c->len[index_of(c, *axes)];
    return n;
}

/* The next place over `axes`, the last one fastest; false after the last. */
static bool next(const Case *c, const char *axes, int *at)
{
    for (size_t i = strlen(axes); i-- > 0;) {
        int x = index_of(c, axes[i]);
        if (++at[x] < c->len[x])
            return true;
        at[x] = 0;
    }
    return false;
}

typedef struct Tensors {
    float *a, *b, *bias, *out, *sum;
    LeafStore store; /* b once more, in 16 bits */
} Tensors;

/* The definition: k in the order of a's axes, blocks of KERNEL_K, one chain in each, block sums added in order. */
static void define(const Case *c, Tensors *t)
{
    char reduced[AXES + 1] = "";
    for (size_t i = 0, n = 0; c->a[i]; i++)
        if (!has(c->out, c->a[i]))
            reduced[n++] = c->a[i];
    int at[AXES] = {0};
    size_t cell = 0, depth = cells_of(c, reduced);
    do {
        float total = 0;
        for (size_t k = 0; k < depth;) {
            float chain = 0;
            do {
                chain = kernel_fma(t->a[cell_of(c, c->a, at)], t->b[cell_of(c, c->b, at)], chain);
                next(c, reduced, at);
            } while (++k % KERNEL_K && k < depth);
            total += chain;
        }
        t->out[cell] = kernel_canonical(total);
        t->sum[cell] = c->bias ? kernel_canonical(total + t->bias[cell_of(c, c->bias, at)]) : 0;
        cell++;
    } while (next(c, c->out, at));
}

static float nasty(Rng *r)
{
    static const float some[] = {0.0f,      -0.0f,      __builtin_inff(), -__builtin_inff(), __builtin_nanf(""),
                                 0x1p-149f, -0x1p-149f, 0x1p+127f,        0x1p-80f};
    return rng_below(r, 400) ? rng_normal(r) : some[rng_below(r, sizeof some / sizeof *some)];
}

static float *random_values(Rng *r, size_t n, bool wild)
{
    float *v = xfloats(n);
    for (size_t i = 0; i < n; i++)
        v[i] = wild ? nasty(r) : rng_normal(r);
    return v;
}

typedef struct Built {
    Graph g;
    NodeId out, sum; /* sum: out + bias, in which out is only a step; or NO_NODE */
} Built;

static void build(Built *u, const Case *c, const Tensors *t, bool derived)
{
    int axis[AXES];
    graph_init(&u->g);
    for (int i = 0; c->letters[i]; i++) {
        Axis a = {.name = "axis", .n = c->len[i]};
        a.sym[0] = c->letters[i];
        axis[i] = graph_axis(&u->g, a);
    }
    NodeId a = graph_leaf(&u->g, "a", dims_of(c, axis, c->a), (Leaf){LEAF_TENSOR, t->a, "a"});
    const Dims of_b = dims_of(c, axis, c->b);
    NodeId b = t->store.form ? graph_leaf_stored(&u->g, "b", of_b, (Leaf){LEAF_TENSOR, NULL, "b"}, t->store)
                             : graph_leaf(&u->g, "b", of_b, (Leaf){LEAF_TENSOR, t->b, "b"});
    u->out = graph_contract(&u->g, "out", a, b, dims_of(c, axis, c->out));
    u->sum = NO_NODE;
    if (!c->bias)
        return;
    if (derived)
        graph_flag(&u->g, u->out, NODE_DERIVED);
    NodeId bias = graph_leaf(&u->g, "bias", dims_of(c, axis, c->bias), (Leaf){LEAF_TENSOR, t->bias, "bias"});
    u->sum = graph_zip(&u->g, "sum", OP_ADD, u->out, bias);
}

static void check(const Case *c, const char *what, const float *got, const float *want)
{
    size_t n = cells_of(c, c->out);
    for (size_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0)
            fail_msg("%s,%s->%s, %s, %s: cell %zu of %zu is %a, not %a", c->a, c->b, c->out, kernels()->isa, what, i, n,
                     (double)got[i], (double)want[i]);
}

static void check_case(const Case *c, const Tensors *t)
{
    for (int derived = 0; derived < 2; derived++) {
        Built u;
        build(&u, c, t, derived);
        NodeId wanted = c->bias ? u.sum : u.out;
        const float *want = c->bias ? t->sum : t->out;
        for (int threads = 1; threads <= 3; threads++) {
            Pool *pool = pool_new(threads);
            Run *r = run_new(&u.g, NULL, pool);
            while (!run_step(r, wanted, clock_ns() + (threads == 2 ? 0 : 1000000000))) /* 0: stops after every item */
                continue;
            check(c, "run", run_peek(r, wanted), want);
            check(c, "the sum before the bias", run_need(r, u.out), t->out);
            run_free(r);
            pool_free(pool);
        }
        Plan *p = plan_new(&u.g, &wanted, 1);
        for (int again = 0; again < 2; again++) {
            plan_compute(p);
            check(c, "plan", plan_values(p, wanted), want);
        }
        plan_free(p);
        graph_free(&u.g);
    }
}

/* Numbers of 16 bits, and b as what they are. */
static uint16_t *store_in_16(Rng *r, Tensors *t, size_t n, LeafForm form, bool wild)
{
    uint16_t *half = xmalloc(n * sizeof *half);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = rng_u32(r), usual = form == LEAF_F16 ? (bits & 0x8fff) | 0x3000 : (bits & 0x81ff) | 0x3e00;
        half[i] = (uint16_t)(wild && rng_below(r, 40) == 0 ? bits : usual);
    }
    kernels_reference()->widen[form == LEAF_F16 ? HALF_F16 : HALF_BF16](t->b, half, n);
    t->store = (LeafStore){.form = form, .half = half};
    return half;
}

static void every_layout_matches_the_definition(void **state)
{
    (void)state;
    Rng r = rng_seed(5, 2);
    for (size_t i = 0; i < 2 * sizeof CASES / sizeof *CASES; i++) {
        const Case *c = &CASES[i / 2];
        const bool wild = i % 2;
        Tensors t = {random_values(&r, cells_of(c, c->a), wild),
                     random_values(&r, cells_of(c, c->b), wild),
                     random_values(&r, c->bias ? cells_of(c, c->bias) : 1, wild),
                     xfloats(cells_of(c, c->out)),
                     xfloats(cells_of(c, c->out)),
                     {.form = LEAF_FLOATS}};
        for (LeafForm form = LEAF_FLOATS; form <= LEAF_F16; form = (LeafForm)(form + 1)) {
            uint16_t *half = form ? store_in_16(&r, &t, cells_of(c, c->b), form, wild) : NULL;
            define(c, &t);
            for (int k = 0; kernels_variant(k); k++) {
                Err err;
                assert_true(kernels_select(kernels_variant(k)->isa, &err));
                check_case(c, &t);
            }
            free(half);
        }
        free(t.a);
        free(t.b);
        free(t.bias);
        free(t.out);
        free(t.sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_layout_matches_the_definition)};
    return cmocka_run_group_tests_name("contract", tests, NULL, NULL);
}
