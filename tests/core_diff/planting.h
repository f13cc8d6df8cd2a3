/* Mistakes as a test plants them: in a copy of the model's weights and configuration, or as values that the test itself
 * makes otherwise, block after block, so that nothing of the search's own writing is used. */
#ifndef VITRINE_TESTS_CORE_DIFF_PLANTING_H
#define VITRINE_TESTS_CORE_DIFF_PLANTING_H
#include "tests/core_diff/diffing.h"

enum { EVERYWHERE = -1, PLANT_EDITS = 512 };

/* What a plant needs to know: the block (EVERYWHERE: all), and a number or two of its own. */
typedef struct Arg {
    int block, n, m;
    double x;
} Arg;

typedef struct Plot {
    Side *s;
    const VitConfig *c;
    Edit edit[PLANT_EDITS];
    int count;
    Arena arena;
} Plot;

static inline float *weight_of(Model *m, VitRole r, int layer)
{
    const float *w = vit_weight(&m->weights, r, layer)->data;
    return m->block + (w - m->block);
}

static inline bool in_block(const Arg *a, int layer)
{
    return a->block == EVERYWHERE || a->block == layer;
}

static inline const char *path_in(Plot *p, int layer, const char *name)
{
    return arena_printf(&p->arena, "blocks.%d.%s", layer, name);
}

static inline size_t cells_of(const Plot *p, const char *path)
{
    return graph_cells(p->s->subject.graph, graph_find(p->s->subject.graph, path));
}

static inline Edit *plant(Plot *p, EditKind kind, const char *path)
{
    assert_true(p->count < PLANT_EDITS);
    Edit *e = &p->edit[p->count++];
    *e = (Edit){.kind = kind, .path = arena_strdup(&p->arena, path), .origin = "planted"};
    return e;
}

static inline float *plant_values(Plot *p, const char *path)
{
    float *x = arena_alloc(&p->arena, cells_of(p, path) * sizeof *x);
    plant(p, EDIT_VALUES, path)->data = x;
    return x;
}

/* A copy of a node's values as they are with what has been planted so far. */
static inline float *planted(Plot *p, const char *path)
{
    Graph g = {.count = 0};
    Err err = {""};
    if (!graph_edit(&g, p->s->subject.graph, p->edit, p->count, &err))
        fail_msg("%s", err.text);
    Run *run = run_new(&g, p->s->bench.run, NULL);
    float *x = arena_alloc(&p->arena, cells_of(p, path) * sizeof *x);
    memcpy(x, run_need(run, graph_find(&g, path)), cells_of(p, path) * sizeof *x);
    run_free(run);
    graph_free(&g);
    return x;
}

static inline double noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24);
}
#endif
