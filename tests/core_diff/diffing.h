/* Shared by the tests of core/eval: a reference is our own model with a mistake built into its weights, configuration
 * or graph, run and written to a file; comparing with it must find the mistake. */
#ifndef VITRINE_TESTS_CORE_DIFF_DIFFING_H
#define VITRINE_TESTS_CORE_DIFF_DIFFING_H
#include "tests/core_models/oracle.h"

#include "core/base/mem.h"
#include "core/diff/diff.h"

#define TINY ORACLE "tiny"

/* Ours: the model of a folder with its picture. */
typedef struct Side {
    Bench bench;
    Image picture;
    DiffSubject subject;
} Side;

static inline void side_subject(Side *s)
{
    s->subject = (DiffSubject){.graph = &s->bench.graph,
                               .run = s->bench.run,
                               .config = &s->bench.model.vit,
                               .image = s->bench.nodes.image,
                               .preprocess = &s->bench.model.preprocess,
                               .picture = &s->picture};
}

static inline void side_open(Side *s, const char *model, const char *picture)
{
    Err err = {""};
    *s = (Side){.picture = {.data = NULL}};
    bench_load(&s->bench, model, picture);
    if (!image_read(&s->picture, picture, &err))
        fail_msg("%s", err.text);
    side_subject(s);
}

/* A seeded model whose picture is noise of another size, so that it has to be resized. */
static inline void side_seeded(Side *s, const VitConfig *c, int width, int height)
{
    Err err = {""};
    Image resized;
    uint32_t x = 99;
    *s = (Side){.picture = {.data = NULL}};
    model_seeded(&s->bench.model, c, 7);
    s->bench.model.preprocess = preprocess_default(c);
    image_init(&s->picture, width, height, 3);
    for (int i = 0; i < width * height * 3; i++) { /* smooth with some noise: as filters see photographs */
        x = x * 1664525u + 1013904223u;
        s->picture.data[i] = (uint8_t)((i / 3 % width * 3 + i / 3 / width * 2 + i % 3 * 40 + (int)(x >> 26)) % 256);
    }
    s->bench.pixels = malloc(bench_pixels(c) * sizeof(float));
    if (!preprocess_run(&s->bench.model.preprocess, &s->picture, &resized, s->bench.pixels, &err))
        fail_msg("%s", err.text);
    image_free(&resized);
    bench_start(&s->bench);
    side_subject(s);
}

static inline void side_close(Side *s)
{
    image_free(&s->picture);
    bench_free(&s->bench);
}

/* --- writing a reference --- */

static inline const char *trace_path(void)
{
    static char path[256];
    char dir[200];
    scratch_dir(dir, sizeof dir, "diff");
    snprintf(path, sizeof path, "%s/trace.safetensors", dir);
    return path;
}

/* Does a list of words hold the path? "blocks.*.attn.q" any block; a NULL list holds every stored node. */
static inline bool listed(const char *list, const char *path)
{
    char squeezed[200];
    size_t n = 0;
    for (const char *p = path; *p && n + 2 < sizeof squeezed; p++) {
        bool block = strncmp(path, "blocks.", 7) == 0 && p == path + 7;
        squeezed[n++] = block ? '*' : *p;
        if (block)
            p += strspn(p, "0123456789") - 1;
    }
    squeezed[n] = '\0';
    for (const char *w = list; w && *w;) {
        size_t length = strcspn(w, " ");
        if ((length == n && strncmp(w, squeezed, n) == 0) || (length == strlen(path) && strncmp(w, path, length) == 0))
            return true;
        w += length + strspn(w + length, " ");
    }
    return false;
}

/* Writes the nodes of a run that are listed (NULL: every one that is computed and stored), under their own names and
 * shapes. */
static inline void write_trace(Run *run, const char *list, const char *path)
{
    const Graph *g = run_graph(run);
    TensorOut *out = calloc((size_t)g->count, sizeof *out);
    size_t count = 0;
    Err err = {""};
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (strstr(node->path, ".unedited") || strstr(node->path, ".edit_") ||
            (!list && ((node->op == OP_LEAF && !(node->flags & NODE_EDITED)) || (node->flags & NODE_DERIVED))) ||
            (list && !listed(list, node->path)))
            continue;
        TensorOut t = {.name = node->path, .rank = node->dims.n, .data = run_need(run, n)};
        for (int i = 0; i < node->dims.n; i++)
            t.shape[i] = (size_t)g->axes[node->dims.axis[i]].n;
        out[count++] = t;
    }
    if (!count || !tensors_write(path, TF_SAFETENSORS, out, count, NULL, &err))
        fail_msg("%zu tensors: %s", count, err.text);
    free(out);
}

/* The run of s with edits, every stored node rounded behind them, written. */
static inline void write_edited(Side *s, const Edit *edits, int count, Precision p, const char *list, const char *path)
{
    const Graph *g = &s->bench.graph;
    Edit *all = calloc((size_t)(count + g->count) + 1, sizeof *all);
    Graph edited = {.count = 0};
    Err err = {""};
    if (count)
        memcpy(all, edits, (size_t)count * sizeof *all);
    for (NodeId n = 0; n < g->count && p != PRECISION_F32; n++)
        if (precision_rounds(g, n))
            all[count++] = precision_edit(g, n, p);
    if (!graph_edit(&edited, g, all, count, &err))
        fail_msg("%s", err.text);
    Run *run = run_new(&edited, s->bench.run, NULL);
    write_trace(run, list, path);
    run_free(run);
    graph_free(&edited);
    free(all);
}

/* --- comparing --- */

typedef struct Compared {
    DiffReference reference;
    DiffReport report;
    DiffOptions options;
    DiffNamed named;
    Buf verdict;
} Compared;

static inline void compare_with(Compared *c, Side *s, const char *path, const DiffMap *map, Precision p)
{
    Err err = {""};
    *c = (Compared){.options = {.tolerance = DIFF_TOLERANCE, .precision = p}};
    if (!diff_reference_open(&c->reference, path, map, s->subject.graph, &err) ||
        !diff_compare(&c->report, &s->subject, &c->reference, &c->options, &err))
        fail_msg("%s", err.text);
    c->named = (DiffNamed){"ours", &s->subject, &c->reference, &c->options, &c->report};
    diff_verdict(&c->named, &c->verdict);
    if (getenv("DIFF_PRINT")) {
        Buf text = {0};
        diff_table(&c->named, &text);
        fprintf(stderr, "%s\n", buf_str(&text));
        buf_free(&text);
    }
}

static inline void compare_free(Compared *c)
{
    buf_free(&c->verdict);
    diff_report_free(&c->report);
    diff_reference_free(&c->reference);
}

static inline const DiffRow *row_of(const Compared *c, const char *path)
{
    for (int i = 0; i < c->report.count; i++)
        if (strcmp(graph_node(c->named.s->graph, c->report.row[i].tensor->node)->path, path) == 0)
            return &c->report.row[i];
    fail_msg("no row '%s'", path);
    return NULL;
}
#endif
