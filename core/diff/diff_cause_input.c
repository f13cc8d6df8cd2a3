/* Mistakes before the model: how a picture became the input, and how recorded axes are to be read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/diff/diff_trial.h"

/* Does what is recorded next and made from the target follow from it as it was read? Then it was read rightly. */
static bool read_rightly(const Trial *t)
{
    const Graph *g = t->s->graph;
    bool *in = xcalloc((size_t)g->count, sizeof *in), found = false, follows = false;
    for (int i = 0; t->report && i < t->report->count && !found; i++) {
        NodeId n = t->report->row[i].tensor->node;
        if (n <= t->target->node)
            continue;
        diff_segment(g, t->r, n, in);
        for (NodeId k = t->target->node + 1; k <= n && !found; k++)
            for (int a = 0; in[k] && a < op_inputs(graph_node(g, k)->op); a++)
                found = found || graph_node(g, k)->in[a] == t->target->node;
        follows = found && t->report->row[i].state != DIFF_BEGINS;
    }
    free(in);
    return follows;
}

/* The recorded cells read in another order that fits the shape. Values are compared the other way round: ours, put as
 * the reference's cells would then lie. */
void trial_axes(Trial *t)
{
    const DiffTensor *x = t->target;
    const Graph *g = t->s->graph;
    DiffLayout all[DIFF_LAYOUTS];
    size_t shape[TENSOR_RANK_MAX], cells = graph_cells(g, x->node);
    if (!x->layout.n || read_rightly(t)) /* the first: it was worked out, not recorded */
        return;
    memcpy(shape, x->shape, sizeof shape);
    if (x->parts > 1)
        shape[x->rank - 1] /= (size_t)x->parts;
    int count = diff_layout_all(g, x->node, shape, x->rank, all);
    const float *ours = trial_values(t, x->node);
    size_t *place = xcalloc(cells, sizeof *place);
    float *index = xfloats(cells), *moved = xfloats(cells);
    for (size_t i = 0; i < cells; i++)
        index[i] = (float)i; /* exact below 2^24; larger tensors are left out */
    for (int k = 0; cells < (size_t)1 << 24 && k < count; k++) {
        char text[sizeof t->text];
        if (strcmp(all[k].axes, x->layout.axes) == 0)
            continue;
        /* recorded cell r is read as node cell now[r], and would be then[r] */
        diff_layout_apply(&x->layout, index, moved);
        for (size_t c = 0; c < cells; c++)
            place[c] = (size_t)moved[c];
        diff_layout_apply(&all[k], index, moved);
        float *swapped = xfloats(cells), *at = xfloats(cells);
        for (size_t c = 0; c < cells; c++)
            at[(size_t)moved[c]] = ours[c];
        for (size_t c = 0; c < cells; c++)
            swapped[c] = at[place[c]];
        snprintf(text, sizeof text, "its axes are [%s], not [%s]: say so in a file for --map", all[k].axes,
                 x->layout.axes);
        trial_judge(t, swapped, text);
        free(swapped);
        free(at);
    }
    free(place);
    free(index);
    free(moved);
}

/* --- the picture --- */

typedef struct Statistics {
    const char *name;
    float range, mean[3], std[3];
} Statistics;

static const Statistics KNOWN[] = {
    {"mean and deviation 0.5", 255, {0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}},
    {"ImageNet's mean and deviation", 255, {0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}},
    {"CLIP's mean and deviation", 255, {0.48145466f, 0.4578275f, 0.40821073f}, {0.26862954f, 0.26130258f, 0.27577711f}},
    {"no mean and deviation, only /255", 255, {0, 0, 0}, {1, 1, 1}},
    {"ImageNet's mean and deviation without /255", 1, {0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}},
    {"raw pixels 0 to 255", 1, {0, 0, 0}, {1, 1, 1}},
};
enum { STATISTICS = sizeof KNOWN / sizeof *KNOWN };

static const struct {
    Filter filter;
    const char *name;
} FILTERS[] = {{FILTER_BILINEAR, "bilinear"},
               {FILTER_BICUBIC, "bicubic"},
               {FILTER_LANCZOS, "Lanczos"},
               {FILTER_NEAREST, "nearest"},
               {FILTER_BOX, "box"}};
enum { FILTER_COUNT = sizeof FILTERS / sizeof *FILTERS };

/* A way of resizing, and what is said about it where it is not ours. */
typedef struct Geometry {
    Preprocess p;
    int plain; /* without antialias: 1 the sampled values as they are, 2 rounded to whole ones; 0: as Pillow does it */
    char text[120];
} Geometry;
enum { GEOMETRIES = 6 * FILTER_COUNT };

static const char *filter_name(Filter f)
{
    for (int i = 0; i < FILTER_COUNT; i++)
        if (FILTERS[i].filter == f)
            return FILTERS[i].name;
    return "?";
}

/* Ours first, then other filters, then other ways to fit the picture in, each with every filter. */
static int geometries(const Preprocess *ours, Geometry out[GEOMETRIES])
{
    static const struct {
        ResizeMode mode;
        int keeps; /* thousandths of the resized picture that the crop keeps */
        const char *text;
    } WAYS[] = {{RESIZE_SQUASH, 1000, "without keeping proportions"},
                {RESIZE_COVER, 1000, "to the shorter side, then crops the centre"},
                {RESIZE_COVER, 900, "to 1/0.9 of the size, then crops the centre"},
                {RESIZE_COVER, 875, "to 1/0.875 of the size, then crops the centre"}};
    int n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < FILTER_COUNT; i++)
            if ((FILTERS[i].filter == ours->filter) == (pass == 0)) {
                out[n] = (Geometry){.p = *ours};
                out[n].p.filter = FILTERS[i].filter;
                if (pass)
                    snprintf(out[n].text, sizeof out[n].text, "resizes with the %s filter, not %s", FILTERS[i].name,
                             filter_name(ours->filter));
                n++;
            }
    for (int k = 0; k < 4; k++, n++) {
        out[n] = (Geometry){.p = *ours, .plain = 1 + k % 2};
        out[n].p.filter = k < 2 ? FILTER_BILINEAR : FILTER_BICUBIC;
        snprintf(out[n].text, sizeof out[n].text, "resizes without antialias (%s%s)", filter_name(out[n].p.filter),
                 k % 2 ? ", rounded to whole values" : "");
    }
    for (size_t w = 0; w < sizeof WAYS / sizeof *WAYS && n < GEOMETRIES; w++) {
        Preprocess p = *ours;
        p.mode = WAYS[w].mode;
        p.resize_w = (p.width + p.beyond_w) * 1000 / WAYS[w].keeps;
        p.resize_h = (p.height + p.beyond_h) * 1000 / WAYS[w].keeps;
        if (p.mode == ours->mode && p.resize_w == ours->resize_w && p.resize_h == ours->resize_h)
            continue;
        for (int i = 0; i < FILTER_COUNT && n < GEOMETRIES; i++, n++) {
            out[n] = (Geometry){.p = p};
            out[n].p.filter = FILTERS[i].filter;
            snprintf(out[n].text, sizeof out[n].text, "resizes %s (%s)", WAYS[w].text, FILTERS[i].name);
        }
    }
    return n;
}

/* (x / range − mean) / std, each step rounded, as the graph has it. */
static void standardise(const VitConfig *c, const Statistics *s, const float *pixels, float *out)
{
    size_t plane = (size_t)c->image_h * (size_t)c->image_w;
    for (size_t i = 0; i < plane * (size_t)c->channels; i++) {
        size_t ch = i / plane < 3 ? i / plane : 2;
        out[i] = (pixels[i] / s->range - s->mean[ch]) / s->std[ch];
    }
}

/* The target with that input: the input itself, or what the stretch makes of it. */
static double attempt_input(Trial *t, const float *values, const char *text)
{
    if (t->target->node == t->s->image)
        return trial_judge(t, values, text);
    float *copy = arena_alloc(&t->arena, size_mul(graph_cells(t->s->graph, t->s->image), sizeof *copy));
    memcpy(copy, values, graph_cells(t->s->graph, t->s->image) * sizeof *copy);
    trial_begin(t);
    trial_add(t, EDIT_VALUES, graph_node(t->s->graph, t->s->image)->path)->data = copy;
    return trial_attempt(t, "%s", text);
}

/* Per channel, the straight line through (pixel, recorded value): mean and deviation that nobody told us. False unless
 * the recorded tensor is the input itself. */
static bool fit_statistics(const Trial *t, const float *pixels, Statistics *out)
{
    const VitConfig *c = t->s->config;
    size_t plane = (size_t)c->image_h * (size_t)c->image_w;
    if (t->target->node != t->s->image || c->channels > 3)
        return false;
    *out = (Statistics){.range = 255};
    for (int ch = 0; ch < c->channels; ch++) {
        double sx = 0, sy = 0, sxx = 0, sxy = 0, n = (double)plane;
        for (size_t i = 0; i < plane; i++) {
            double x = (double)pixels[(size_t)ch * plane + i] / 255,
                   y = (double)t->target->values[(size_t)ch * plane + i];
            sx += x, sy += y, sxx += x * x, sxy += x * y;
        }
        double down = n * sxx - sx * sx, slope = down > 0 ? (n * sxy - sx * sy) / down : 0;
        if (!(slope > 1e-9))
            return false;
        out->std[ch] = (float)(1 / slope);
        out->mean[ch] = (float)(-(sy - slope * sx) / n / slope);
    }
    return true;
}

static void say(char *text, size_t size, const char *resizing, const Statistics *s, const char *name)
{
    char numbers[120];
    if (!name && s) {
        snprintf(numbers, sizeof numbers, "mean %.3g %.3g %.3g and deviation %.3g %.3g %.3g", (double)s->mean[0],
                 (double)s->mean[1], (double)s->mean[2], (double)s->std[0], (double)s->std[1], (double)s->std[2]);
        name = numbers;
    }
    snprintf(text, size, "the recording %s%s%s%s", resizing, *resizing && name ? "; it " : "",
             !name                          ? ""
             : strncmp(name, "raw", 3) == 0 ? "is fed "
                                            : "standardises with ",
             name ? name : "");
}

/* Does what is recorded behind the input not follow from it, but from ours, which is standardised? */
static bool fed_ours(const Trial *t)
{
    for (int i = 0; t->report && i < t->report->count; i++) {
        const DiffRow *row = &t->report->row[i];
        if (row->tensor->node > t->s->image && graph_node(t->s->graph, row->tensor->node)->op != OP_LEAF)
            return row->state == DIFF_BEGINS && !row->through.any;
    }
    return false;
}

/* Recorded pixels as they were before they were standardised, up to 255 or to 1. */
static void say_fed(const Trial *t, int range, char text[DIFF_WORDS])
{
    utf8_print(text, DIFF_WORDS,
               "the pixels in %.100s are not standardised (0 to %d); the recorded model was fed standardised ones",
               diff_reference_find(t->r, t->s->image)->name, range);
}

static bool same_statistics(const VitConfig *c, const Statistics *s)
{
    bool same = c->range == s->range;
    for (int i = 0; i < c->channels && i < 3; i++)
        same = same && c->mean[i] == s->mean[i] && c->std[i] == s->std[i];
    return same;
}

/* One way of resizing with our own statistics, known ones and fitted ones. */
static void attempt_geometry(Trial *t, const Geometry *way, const float *pixels, float *values)
{
    const VitConfig *c = t->s->config;
    Statistics own = {.range = c->range}, fitted;
    char text[sizeof t->text];
    for (int i = 0; i < 3; i++) {
        own.mean[i] = c->mean[i];
        own.std[i] = c->std[i];
    }
    if (*way->text) {
        say(text, sizeof text, way->text, NULL, NULL);
        standardise(c, &own, pixels, values);
        attempt_input(t, values, text);
    }
    for (int i = 0; i < STATISTICS; i++) {
        say(text, sizeof text, way->text, &KNOWN[i], KNOWN[i].name);
        if (KNOWN[i].std[0] == 1 && t->target->node == t->s->image && !*way->text && fed_ours(t))
            say_fed(t, KNOWN[i].range == 1 ? 255 : 1, text);
        standardise(c, &KNOWN[i], pixels, values);
        if (!same_statistics(c, &KNOWN[i]))
            attempt_input(t, values, text);
    }
    if (!trial_solved(t) && fit_statistics(t, pixels, &fitted)) {
        say(text, sizeof text, way->text, &fitted, NULL);
        standardise(c, &fitted, pixels, values);
        attempt_input(t, values, text);
    }
}

/* Keys' cubic with a = −3/4, as torch and OpenCV have it. */
static double cubic(double x)
{
    const double a = -0.75;
    x = dm_abs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* The value of channel c at a place between pixels, borders repeated. */
static double sample(const Image *im, Filter f, double x, double y, int c)
{
    int reach = f == FILTER_BICUBIC ? 2 : 1;
    double sum = 0, x0 = dm_floor(x), y0 = dm_floor(y);
    for (int j = 1 - reach; j <= reach; j++)
        for (int i = 1 - reach; i <= reach; i++) {
            double dx = x - (x0 + i), dy = y - (y0 + j);
            double w = reach == 2 ? cubic(dx) * cubic(dy) : (1 - dm_abs(dx)) * (1 - dm_abs(dy));
            int px = (int)x0 + i, py = (int)y0 + j;
            px = px < 0 ? 0 : px >= im->width ? im->width - 1 : px;
            py = py < 0 ? 0 : py >= im->height ? im->height - 1 : py;
            sum += w *
                   (double)im->data[((size_t)py * (size_t)im->width + (size_t)px) * (size_t)im->channels + (size_t)c];
        }
    return sum;
}

/* Pixels taken at the centres of where they come from and nowhere else. False for a picture of other channels. */
static bool sample_all(const Geometry *way, const Image *im, float *pixels)
{
    const Preprocess *p = &way->p;
    if (im->channels != p->channels)
        return false;
    for (int c = 0; c < p->channels; c++)
        for (int y = 0; y < p->height; y++)
            for (int x = 0; x < p->width; x++) {
                SourceRect r = preprocess_source(p, im->width, im->height, x, y);
                double v = sample(im, p->filter, (r.x0 + r.x1) / 2 - 0.5, (r.y0 + r.y1) / 2 - 0.5, c);
                if (way->plain == 2) {
                    v = dm_floor(v + 0.5);
                    v = v < 0 ? 0 : v > 255 ? 255 : v;
                }
                pixels[((size_t)c * (size_t)p->height + (size_t)y) * (size_t)p->width + (size_t)x] = (float)v;
            }
    return true;
}

/* The model's pixels made in that way; false where it can't be. */
static bool make_pixels(const Geometry *way, const Image *picture, float *pixels)
{
    Image resized;
    Err err;
    if (way->plain)
        return sample_all(way, picture, pixels);
    if (!preprocess_run(&way->p, picture, &resized, pixels, &err))
        return false;
    image_free(&resized);
    return true;
}

void trial_picture(Trial *t)
{
    const DiffSubject *s = t->s;
    bool reads = s->picture && s->picture->data && s->config->input == VIT_INPUT_STANDARD && s->config->channels <= 3 &&
                 s->image <= t->target->node && t->in[s->image];
    if (!reads)
        return;
    Geometry way[GEOMETRIES];
    int count = geometries(s->preprocess, way);
    size_t cells = graph_cells(s->graph, s->image);
    float *pixels = xfloats(cells), *values = xfloats(cells);
    for (int i = 0; i < count && !(i && trial_solved(t)); i++) {
        if (make_pixels(&way[i], s->picture, pixels))
            attempt_geometry(t, &way[i], pixels, values);
    }
    free(pixels);
    free(values);
}

/* The input was recorded before it was standardised: what follows is computed from it as our model would be fed. */
void trial_fed(Trial *t)
{
    const VitConfig *c = t->s->config;
    const DiffTensor *x = t->s->image == NO_NODE ? NULL : diff_reference_find(t->r, t->s->image);
    if (!x || t->target->node == t->s->image || !trial_has(t, t->s->image) || c->channels > 3)
        return;
    for (int k = 0; k < 2; k++) {
        Statistics own = {.range = k ? 1 : c->range};
        char text[DIFF_WORDS];
        float *values = arena_alloc(&t->arena, size_mul(graph_cells(t->s->graph, t->s->image), sizeof *values));
        memcpy(own.mean, c->mean, sizeof own.mean);
        memcpy(own.std, c->std, sizeof own.std);
        standardise(c, &own, x->values, values);
        say_fed(t, k ? 1 : 255, text);
        trial_begin(t);
        trial_add(t, EDIT_VALUES, graph_node(t->s->graph, t->s->image)->path)->data = values;
        trial_attempt(t, "%s", text);
    }
}

/* --- as it was turned --- */

static void add_reversed(Trial *t, int axis)
{
    int n = t->s->graph->axes[axis].n;
    int *index = arena_alloc(&t->arena, size_mul((size_t)n, sizeof *index));
    for (int i = 0; i < n; i++)
        index[i] = n - 1 - i;
    Edit *e = trial_add(t, EDIT_GATHER, graph_node(t->s->graph, t->s->image)->path);
    e->axis = axis;
    e->index = index;
}

void trial_turned(Trial *t)
{
    static const struct {
        const char *axes, *text;
    } TURNS[] = {{"xj", "the recording's picture is mirrored, left for right"},
                 {"yi", "the recording's picture is upside down"},
                 {"c", "the recording has the colour channels in the opposite order (BGR)"}};
    if (t->s->image == NO_NODE)
        return;
    const Node *image = graph_node(t->s->graph, t->s->image);
    if (!trial_has(t, t->s->image))
        return;
    for (size_t i = 0; i < sizeof TURNS / sizeof *TURNS; i++) {
        trial_begin(t);
        for (int k = 0; k < image->dims.n; k++)
            if (strchr(TURNS[i].axes, *t->s->graph->axes[image->dims.axis[k]].sym))
                add_reversed(t, image->dims.axis[k]);
        trial_attempt(t, "%s", TURNS[i].text);
    }
    trial_begin(t);
    trial_add(t, EDIT_SCALE, image->path)->factor = -1;
    trial_attempt(t, "the recording's picture is a negative: every value has the other sign");
}
