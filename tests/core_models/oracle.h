/* Shared by the tests of core/models: running a model and comparing it with recorded float64 activations. */
#ifndef VITRINE_TESTS_CORE_MODELS_ORACLE_H
#define VITRINE_TESTS_CORE_MODELS_ORACLE_H
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/graph/edit.h"
#include "core/graph/run.h"
#include "core/io/tensors.h"
#include "core/models/model.h"

#define ORACLE "tests/data/oracle/"

/* A model with a graph over an input. */
typedef struct Bench {
    Model model;
    float *pixels;
    Graph graph;
    VitNodes nodes;
    Run *run;
} Bench;

static inline size_t bench_pixels(const VitConfig *c)
{
    return (size_t)c->channels * (size_t)c->image_h * (size_t)c->image_w;
}

/* Builds and starts a run; the model is loaded and pixels (malloc) are set. */
static inline void bench_start(Bench *b)
{
    graph_init(&b->graph);
    vit_build(&b->graph, &b->model.vit, &b->model.weights, b->model.class_names, b->pixels, &b->nodes);
    b->run = run_new(&b->graph, NULL, NULL);
}

/* Pixels 0 … 255 that differ everywhere, the same each time. */
static inline void bench_noise(Bench *b)
{
    size_t n = bench_pixels(&b->model.vit);
    uint32_t x = 12345;
    b->pixels = malloc(n * sizeof(float));
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        b->pixels[i] = (float)(x >> 24);
    }
}

static inline void bench_seeded(Bench *b, const VitConfig *c, uint64_t seed)
{
    Err err = {""};
    *b = (Bench){0};
    if (!vit_check(c, &err))
        fail_msg("%s", err.text);
    model_seeded(&b->model, c, seed);
    bench_noise(b);
    bench_start(b);
}

static inline uint64_t bench_hash(Bench *b)
{
    uint64_t hash = 0;
    assert_true(run_step_all(b->run, CLOCK_NEVER));
    assert_true(run_hash(b->run, &hash));
    return hash;
}

static inline void bench_free(Bench *b)
{
    run_free(b->run);
    graph_free(&b->graph);
    model_free(&b->model);
    free(b->pixels);
    *b = (Bench){0};
}

/* Loads a model and the picture image.ppm of an oracle folder, preprocessed as the model wants it. */
static inline void bench_load(Bench *b, const char *model, const char *picture)
{
    Err err = {""};
    Image in, resized;
    *b = (Bench){0};
    if (!model_load(&b->model, model, NULL, NULL, &err) || !image_read(&in, picture, &err))
        fail_msg("%s", err.text);
    b->pixels = malloc(bench_pixels(&b->model.vit) * sizeof(float));
    if (!preprocess_run(&b->model.preprocess, &in, &resized, b->pixels, &err))
        fail_msg("%s", err.text);
    image_free(&in);
    image_free(&resized);
    bench_start(b);
}

static inline const float *bench_values(Bench *b, const char *path)
{
    NodeId n = graph_find(&b->graph, path);
    if (n == NO_NODE)
        fail_msg("no node '%s'", path);
    return run_need(b->run, n);
}

/* A folder and the files in it. */
static inline void remove_dir(const char *dir)
{
    char path[512];
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(dir);
}

enum { SCRATCH_MOST = 64 };
static struct {
    char dir[SCRATCH_MOST][512];
    int count;
    pid_t owner; /* a child that ends takes nothing away */
} scratch;

static inline void scratch_leave(void)
{
    for (int i = 0; i < scratch.count && scratch.owner == getpid(); i++)
        remove_dir(scratch.dir[i]);
}

/* A folder of its own for a test that writes files; gone when the program ends. */
static inline const char *scratch_dir(char *out, size_t n, const char *name)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(out, n, "%s/vitrine-test-%ld-%s", tmp && *tmp ? tmp : "/tmp", (long)getpid(), name);
    mkdir(out, 0700);
    if (!scratch.count)
        atexit(scratch_leave);
    scratch.owner = getpid();
    if (scratch.count < SCRATCH_MOST && (!scratch.count || strcmp(scratch.dir[scratch.count - 1], out) != 0))
        snprintf(scratch.dir[scratch.count++], sizeof *scratch.dir, "%s", out);
    return out;
}

static inline void put_file(const char *dir, const char *name, const void *data, size_t n)
{
    char path[512];
    Err err = {""};
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (!file_write(path, data, n, &err))
        fail_msg("%s", err.text);
}

static inline void copy_file(const char *from, const char *dir, const char *name)
{
    Buf b = {0};
    Err err = {""};
    if (!file_read(from, 64 << 20, &b, &err))
        fail_msg("%s", err.text);
    put_file(dir, name, b.data, b.len);
    buf_free(&b);
}

/* Weights that a changed configuration has and the model had not: nothing is added by them. */
static inline void without_effect(Bench *b)
{
    static const float NOTHING[512] = {0};
    const VitConfig *c = &b->model.vit;
    for (int layer = -1; layer < c->layers; layer++)
        for (int r = 0; r < VIT_ROLES; r++) {
            WeightTensor *w = vit_weight(&b->model.weights, (VitRole)r, layer < 0 ? 0 : layer);
            if (vit_role_in_block((VitRole)r) != (layer >= 0) || !vit_has(c, (VitRole)r) || w->data)
                continue;
            assert_true(vit_role_cells(c, (VitRole)r) <= sizeof NOTHING / sizeof *NOTHING);
            *w = (WeightTensor){.data = NOTHING, .origin = "zeros"};
        }
}
#endif
