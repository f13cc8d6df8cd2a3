/* What a file is before it is a reference: which tensor is the model's input, whether it is a model, and whether its
 * program counts blocks from 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/diff/diff_reference.h"

static const char CHANNELS_LAST[] = "y,i,x,j,c"; /* as the image's layout says rows, columns, channels */

bool diff_reference_input(const char *path, const DiffMap *map, const Graph *g, NodeId image, Arena *arena,
                          DiffInput *out, Err *err)
{
    TensorFile f = {0};
    bool ok = true;
    *out = (DiffInput){.name = NULL};
    if (!tensors_open(&f, path, err))
        return false;
    for (size_t i = 0; ok && i < f.count && !out->name; i++) {
        const TensorInfo *t = &f.tensors[i];
        DiffTarget to[DIFF_PARTS];
        DiffLayout l;
        size_t trimmed[TENSOR_RANK_MAX];
        bool last, beyond = map && map->picture && preprocess_beyond(map->picture, t->shape, t->rank, trimmed, &last);
        if (diff_name_targets(map, g, t->name, to) != 1 || to[0].node != image ||
            diff_layout_find(g, image, beyond ? trimmed : t->shape, t->rank, to[0].axes, &l, NULL, 0) != DIFF_FIT)
            continue;
        if (!l.ours && strcmp(l.axes, CHANNELS_LAST) != 0)
            ok = err_set(err, "%s: the axes of '%.100s' are [%s]; an input is read with its channels first or last",
                         path, t->name, l.axes);
        *out = (DiffInput){.name = ok ? arena_strdup(arena, t->name) : NULL, .batch = l.batch};
    }
    tensors_close(&f);
    return ok;
}

bool diff_is_model(const char *path)
{
    TensorFile f = {0};
    Err err;
    Buf inside = {0};
    buf_printf(&inside, "%s/model.safetensors", path);
    bool folder = file_is_dir(path),
         model = folder &&
                 (file_exists(buf_str(&inside)) || (buf_puts(&inside, ".index.json"), file_exists(buf_str(&inside))));
    buf_free(&inside);
    if (folder || !tensors_open(&f, path, &err))
        return model;
    size_t weights = 0;
    for (size_t i = 0; i < f.count; i++) {
        size_t n = strlen(f.tensors[i].name);
        weights += n > 7 && strcmp(f.tensors[i].name + n - 7, ".weight") == 0;
    }
    model = file_is(path, "safetensors") && weights >= 4 && weights * 3 >= f.count;
    tensors_close(&f);
    return model;
}

const char *diff_known_as(const TensorFile *f, const char *name)
{
    size_t n = strlen(name);
    if (n < 7 || strcmp(name + n - 7, "encoder") != 0 || (n > 7 && name[n - 8] != '.'))
        return name;
    for (size_t i = 0; i < f->count; i++)
        if (strstr(f->tensors[i].name, "encoder.layers.encoder_layer_"))
            return "encoder.ln";
    return name;
}

bool diff_is_bare(const DiffMap *m, const char *file, const char *name, size_t tokens, Err *err)
{
    if (!m || !m->bare || tokens != m->bare)
        return false;
    err_set(err,
            "%s: '%.100s' has %zu tokens, as many as this text has without those of the tokeniser's template: it left "
            "the template out. What it read is -i ids:%s; or record it with the template",
            file, name, tokens, m->bare_ids);
    return true;
}

/* --- blocks counted from 1 --- */

enum { LINES_MOST = 6 };

/* The name with another number from `at` on, where so many digits stand; false when it is too long. */
static bool renumbered(const char *name, size_t at, size_t digits, const char *number, char out[DIFF_PATH])
{
    int n = utf8_print(out, DIFF_PATH, "%.*s%s%s", (int)at, name, number, name + at + digits);
    return n > 0 && n < DIFF_PATH;
}

/* A number in the name, with one less than which the name means something here and as it stands nothing: where it
 * stands, how many digits it has. */
static bool one_too_many(const DiffMap *map, const Graph *g, const char *name, size_t *at, size_t *digits,
                         DiffTarget to[DIFF_PARTS], int *parts)
{
    char less[DIFF_PATH], number[24];
    if (diff_name_targets(map, g, name, to) != 0)
        return false;
    for (*at = 0; name[ *at += strcspn(name + *at, "0123456789")]; *at += *digits) {
        *digits = strspn(name + *at, "0123456789");
        long n = *digits < 6 ? atol(name + *at) : 0;
        snprintf(number, sizeof number, "%ld", n - 1);
        if (n > 0 && renumbered(name, *at, *digits, number, less) && (*parts = diff_name_targets(map, g, less, to)) > 0)
            return true;
    }
    return false;
}

static bool has_first(const TensorFile *f, const char *name, size_t at)
{
    for (size_t i = 0; i < f->count; i++) {
        const char *other = f->tensors[i].name;
        if (strlen(other) > at && strncmp(other, name, at) == 0 && other[at] == '0' &&
            (other[at + 1] < '0' || other[at + 1] > '9'))
            return true;
    }
    return false;
}

/* `encoder.layer.*.q = blocks.<.attn.q` */
static bool put_line(const Graph *g, const char *pattern, const DiffTarget *to, int parts, Buf *out)
{
    buf_printf(out, "`%s = ", pattern);
    for (int i = 0; i < parts; i++) {
        const char *path = graph_node(g, to[i].node)->path, *blocks = strstr(path, "blocks.");
        if (!blocks)
            return false;
        const char *rest = blocks + 7 + strspn(blocks + 7, "0123456789");
        buf_printf(out, "%s%.*s<%s", i ? " + " : "", (int)(blocks + 7 - path), path, rest);
        if (*to[i].axes)
            buf_printf(out, "[%s]", to[i].axes);
    }
    buf_putc(out, '`');
    return true;
}

bool diff_counted_from_one(const TensorFile *f, const DiffMap *map, const Graph *g, const char *name, Err *err)
{
    Buf lines = {0};
    char first[DIFF_PATH] = "";
    int count = 0;
    for (size_t i = 0; i < f->count; i++) {
        const char *tensor = f->tensors[i].name;
        char pattern[DIFF_PATH];
        DiffTarget to[DIFF_PARTS], told[DIFF_PARTS];
        size_t at, digits;
        int parts;
        if ((map && diff_name_targets(map, g, tensor, told) != 0) ||
            !one_too_many(map, g, tensor, &at, &digits, to, &parts) || has_first(f, tensor, at) ||
            !renumbered(tensor, at, digits, "*", pattern))
            continue;
        Buf line = {0};
        bool blocks = put_line(g, pattern, to, parts, &line);
        if (blocks && !*first)
            snprintf(first, sizeof first, "%s", tensor);
        if (blocks && ++count <= LINES_MOST)
            buf_printf(&lines, "%s%s", count > 1 ? ", " : "", buf_str(&line));
        buf_free(&line);
    }
    if (count > LINES_MOST)
        buf_printf(&lines, " and %d more", count - LINES_MOST);
    if (count)
        err_set(err, "%s: its blocks are counted from 1 ('%.60s', and none is 0): write into a file for --map %s", name,
                first, buf_str(&lines));
    buf_free(&lines);
    return count > 0;
}

bool diff_counted_from_zero(const DiffReference *r, const Graph *g, Run *run, double tolerance, Err *err)
{
    const DiffTensor *first = NULL;
    NodeId before = NO_NODE;
    for (int i = 0; i < r->count; i++) {
        const DiffTensor *t = &r->tensor[i];
        const char *path = graph_node(g, t->node)->path, *at = strstr(path, "blocks.");
        char other[DIFF_PATH];
        if (!at || t->family != DIFF_MAP || first)
            continue;
        int block = atoi(at + 7);
        utf8_print(other, sizeof other, "%.*s%d%s", (int)(at + 7 - path), path, block - 1,
                   at + 7 + strspn(at + 7, "0123456789"));
        first = t;
        before = block > 0 ? graph_find(g, other) : NO_NODE;
    }
    if (before == NO_NODE || graph_cells(g, before) != graph_cells(g, first->node))
        return true;
    const float *x = run_need(run, before);
    double largest = 0, apart = 0;
    for (size_t i = 0; i < graph_cells(g, before); i++) {
        largest = fmax(largest, fabs((double)x[i]));
        apart = fmax(apart, fabs((double)x[i] - (double)first->values[i]));
    }
    if (!(apart <= tolerance * largest))
        return true;
    return err_set(err,
                   "%s: '%.100s' is what %s gives here, and --map calls it %s: its blocks are counted from 1, the "
                   "model's from 0. Write < where the file for --map has * behind the equals sign",
                   r->name, first->name, graph_node(g, before)->path, graph_node(g, first->node)->path);
}
