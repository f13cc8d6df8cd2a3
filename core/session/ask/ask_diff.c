#include "core/session/ask/ask_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/diff/diff.h"
#include "core/graph/anatomy.h"
#include "core/io/json.h"
#include "core/session/address.h"
#include "core/session/command.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/session.h"

enum { WEIGHT_LINES = 12 };

/* What is compared with, however it came about. */
typedef struct Against {
    DiffReference reference;
    bool is_model;
    Model model;
    Exhibit exhibit;
    DiffSetting setting[DIFF_SETTINGS];
    int settings;
    DiffWeights weights;
    Buf weight_lines;
} Against;

static DiffSubject subject_of(Session *s, VitConfig *config)
{
    const Graph *g = session_graph(s, SIDE_B);
    DiffSubject subject = {.graph = g,
                           .run = session_run(s, SIDE_B),
                           .pool = s->pool,
                           .image = NO_NODE,
                           .text = model_text(s->now->model)};
    if (subject.text)
        subject.weights = session_edited(s) ? NULL : &s->now->model->weights;
    if (!model_equations(s->now->model) || model_way(s->now->model))
        return subject;
    *config = s->now->model->vit;
    if (session_input(s, SIDE_B)->ready)
        config->input = VIT_INPUT_READY;
    subject.config = config;
    subject.image = graph_find(g, site_path_any(session_base(s), SITE_IMAGE));
    subject.preprocess = &s->model.preprocess;
    subject.picture = session_input(s, SIDE_B)->original.data ? &session_input(s, SIDE_B)->original : NULL;
    return subject;
}

/* A trace that lies in a model's folder is not that model. */
bool ask_diff_is_model(const char *reference)
{
    const char *slash = strrchr(reference, '/'), *name = slash ? slash + 1 : reference;
    const bool other = file_is(reference, "safetensors npz npy") && strcmp(name, "model.safetensors") != 0 &&
                       !file_is_dir(reference);
    return diff_is_model(reference) || (!other && (text_asked(reference) || photos_asked(reference)));
}

static bool loading(void *context, uint64_t done, uint64_t total)
{
    Session *s = context;
    return !s->progress ||
           s->progress(s->progress_context, "reading the weights", total ? (double)done / (double)total : 1);
}

static bool load_other(Against *x, Session *s, const char *path, Err *err)
{
    bool words = text_asked(path);
    if (words != (model_way(s->now->model) != 0))
        return err_set(err, "%s %s, and %s does not: there is nothing to compare", path,
                       words ? "reads words" : "looks at pictures", s->now->model->name);
    if (photos_asked(path))
        return photos_open(&x->model, err);
    if (!words)
        return (s->assume ? model_load_assuming : model_load)(&x->model, path, loading, s, err);
    return text_open(&x->model, path, err);
}

/* Source and target as ours has them: not what the other model would write itself. */
static bool same_words(Input *in, Session *s, const Model *m, Err *err)
{
    const Text *text = s->now->input.text;
    Buf spec = {0};
    for (int k = 0; k < TEXTS; k++) {
        if (k == TEXT_TARGET && text[TEXT_SOURCE].count && text[TEXT_TARGET].count)
            buf_puts(&spec, "> ");
        const int *part = text[k].segment;
        const Vocabulary *v = k == TEXT_TARGET ? &m->target : &m->source;
        bool numbers = v->cutter || !v->word || !text[k].label;
        /* the start, which opening puts in front */
        const int first = k == TEXT_TARGET && text[k].count && model_starts(s->now->model) && model_starts(m);
        for (int i = first; i < text[k].count; i++)
            if (numbers)
                buf_printf(&spec, "%s%d",
                           i == first                       ? "ids:"
                           : part && part[i] != part[i - 1] ? " | ids:"
                                                            : ",",
                           text[k].word[i]);
            else if (*text[k].label[i] != '<')
                buf_printf(&spec, "%.*s ", (int)strcspn(text[k].label[i], "#"), text[k].label[i]);
    }
    bool ok = input_open(in, m, buf_str(&spec), err);
    buf_free(&spec);
    return ok;
}

/* "2,5,6 …, 7 tokens" */
static void put_tokens(const Text *t, char *out, size_t size)
{
    enum { SHOWN = 8 };
    Buf b = {0};
    for (int i = 0; i < t->count && i < SHOWN; i++)
        buf_printf(&b, "%s%d", i ? "," : "", t->word[i]);
    utf8_print(out, size, "%s%s (%d tokens)", buf_str(&b), t->count > SHOWN ? ",…" : "", t->count);
    buf_free(&b);
}

/* Where the two tokenisers make other numbers of the text: a setting that differs. Both read the numbers that the one
 * here makes. */
static void compare_cutters(Against *x, Session *s)
{
    const Model *m = s->now->model;
    const int given = model_given(m);
    const Vocabulary *v = model_vocabulary(m), *w = given == TEXT_TARGET ? &x->model.target : &x->model.source;
    const Input *in = session_input(s, SIDE_B);
    const Text *own = &in->text[given];
    Input other;
    DiffSetting *d = &x->setting[x->settings];
    if (!v->cutter || !w->cutter || strncmp(in->name, "ids:", 4) == 0 || x->settings == DIFF_SETTINGS ||
        !input_copy(&other, in, &x->model, NULL))
        return;
    const Text *theirs = &other.text[given];
    *d = (DiffSetting){.name = "tokens of this text"};
    put_tokens(own, d->ours, sizeof d->ours);
    put_tokens(theirs, d->theirs, sizeof d->theirs);
    x->settings += own->count != theirs->count ||
                   memcmp(own->word, theirs->word, (size_t)own->count * sizeof *own->word) != 0;
    input_free(&other);
}

/* The other model on the same picture, or the same words. */
static bool open_model(Against *x, Session *s, const DiffAsk *a, double tolerance, Err *err)
{
    Input in;
    if (!load_other(x, s, a->reference, err))
        return false;
    x->is_model = true;
    x->settings = diff_settings(&s->model, &x->model, x->setting);
    x->weights = diff_weights(&s->model, &x->model, tolerance, WEIGHT_LINES, &x->weight_lines);
    const PictureGrid grid = model_grid(&x->model);
    size_t wants = grid_values(&grid);
    if (session_input(s, SIDE_B)->ready && wants != session_input(s, SIDE_B)->cells)
        return err_set(err, "%s takes %zu values and the input has %zu: give both a picture with -i", a->reference,
                       wants, session_input(s, SIDE_B)->cells);
    if (!(model_way(&x->model) ? same_words(&in, s, &x->model, err)
                               : input_copy(&in, session_input(s, SIDE_B), &x->model, err)))
        return model_way(&x->model) ? err_prefix(err, "%s can't read the numbers that are read here", a->reference)
                                    : false;
    if (model_way(&x->model))
        compare_cutters(x, s);
    exhibit_init(&x->exhibit, &x->model, &in, s->pool);
    return diff_reference_of_run(&x->reference, a->reference, exhibit_run(&x->exhibit), session_graph(s, SIDE_B), err);
}

/* The shape of what the recording calls pixel_values or image; "" where there is none. */
static void put_pixels(const char *path, Buf *out)
{
    static const char *const NAMES[] = {"pixel_values", "image", "pixels", "images"};
    TensorFile f = {0};
    if (!tensors_open(&f, path, NULL))
        return;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES && !out->len; i++) {
        const TensorInfo *t = tensors_find(&f, NAMES[i]);
        for (int k = 0; t && k < t->rank; k++)
            buf_printf(out, "%s%zu", k ? ", " : "'", t->shape[k]);
        if (t) {
            char shape[128];
            utf8_print(shape, sizeof shape, "%s", buf_str(out) + 1);
            buf_free(out);
            buf_printf(out, "'%s' is [%s]", NAMES[i], shape);
        }
    }
    tensors_close(&f);
}

/* Has it the numbers of words that somebody's text model read? */
static bool reads_words(const char *path)
{
    TensorFile f = {0};
    bool words = tensors_open(&f, path, NULL) &&
                 (tensors_find(&f, "input_ids") || tensors_find(&f, "decoder_input_ids"));
    tensors_close(&f);
    return words;
}

/* Whose input it is not: the model that is compared with, and how it was chosen. */
static bool no_input(const Session *s, const DiffAsk *a, Err *err)
{
    const Model *m = s->now->model;
    const Preprocess *p = &m->preprocess;
    Buf pixels = {0};
    put_pixels(a->reference, &pixels);
    if (pixels.len)
        err_set(err,
                "%s: its input fits another model: %s, and %s%.60s, which it was compared with, takes %d × %d × %d%s",
                a->reference, buf_str(&pixels), a->bundled ? "the model in the program, " : "", m->name, p->channels,
                p->height, p->width,
                a->bundled ? "; is -m MODEL missing?" : ": choose the model of the recording with -m");
    else if (reads_words(a->reference))
        err_set(err, "%s: it is of a text (input_ids), and %.60s looks at pictures: name its model with -m",
                a->reference, m->name);
    else
        err_set(err,
                "%s: it has no input values (pixel_values) for %s%.60s: say what it looked at with -i PICTURE or -i "
                "FILE:tensor, or in a --map line NAME = image",
                a->reference, a->bundled ? "the model in the program, " : "", m->name);
    buf_free(&pixels);
    return false;
}

/* The input that the trace was made from, if it is in it and wanted. */
static bool take_input(Session *s, const DiffAsk *a, const DiffMap *map, Err *err)
{
    Arena arena = {0};
    DiffInput found;
    VitConfig config;
    DiffSubject subject = subject_of(s, &config);
    if (!a->own_input)
        return true;
    if (model_way(s->now->model))
        return ask_diff_take_words(s, a, map, err);
    if (subject.image == NO_NODE)
        return err_set(err, "%s: what it read is not looked for in recordings of such a model: say it with -i",
                       a->reference);
    bool ok = diff_reference_input(a->reference, map, subject.graph, subject.image, &arena, &found, err);
    if (ok && !found.name)
        ok = no_input(s, a, err);
    Buf spec = {0};
    if (ok && map->item >= found.batch && found.batch > 1)
        ok = err_set(err, "%s: '%.100s' holds %zu pictures: --item is 0 to %zu", a->reference, found.name, found.batch,
                     found.batch - 1);
    buf_printf(&spec, "%s:%s", a->reference, ok ? found.name : "");
    if (ok && found.batch > 1)
        buf_printf(&spec, "[%zu]", map->item);
    ok = ok && session_open_input(s, buf_str(&spec), err);
    buf_free(&spec);
    arena_free(&arena);
    return ok;
}

static bool find_item(const char *text, size_t *out, Err *err)
{
    char *end;
    unsigned long n = text ? strtoul(text, &end, 10) : 0;
    if (text && (*text < '0' || *text > '9' || *end || n > 1000000))
        return err_set(err, "--item '%.40s': expected the number of a picture in the batch, from 0", text);
    *out = n;
    return true;
}

static bool open_trace(Against *x, Session *s, const DiffAsk *a, Err *err)
{
    DiffMap map = {.count = 0};
    const Graph *g = session_graph(s, SIDE_B);
    bool ok = (!a->map || diff_map_read(&map, a->map, g, err)) && find_item(a->item, &map.item, err);
    Buf modules = {0};
    if (model_way(s->now->model))
        text_modules(s->now->model, &modules);
    diff_map_modules(&map, buf_str(&modules), g);
    buf_free(&modules);
    map.picture = model_grid(s->now->model).rows ? &s->now->model->preprocess : NULL;
    ok = ok && take_input(s, a, &map, err);
    if (ok && model_way(s->now->model))
        ask_diff_find_bare(s, &map);
    ok = ok && diff_reference_open(&x->reference, a->reference, &map, session_graph(s, SIDE_B), err);
    diff_map_free(&map);
    return ok;
}

static void close_against(Against *x)
{
    diff_reference_free(&x->reference);
    if (x->exhibit.pass.base)
        exhibit_free(&x->exhibit);
    model_free(&x->model);
    buf_free(&x->weight_lines);
}

static void put_models(const Against *x, Buf *out)
{
    const bool cut = x->settings && strcmp(x->setting[x->settings - 1].name, "tokens of this text") == 0;
    if (!x->settings)
        buf_puts(out, "settings   the same\n");
    for (int i = 0; i < x->settings; i++)
        buf_printf(out, "%s %-28s %s  |  %s\n", i ? "          " : "settings  ", x->setting[i].name, x->setting[i].ours,
                   x->setting[i].theirs);
    if (cut)
        buf_puts(out,
                 "           Their tokenisers cut this text otherwise. Both were given the numbers at the left, so "
                 "that what follows compares the models alone.\n");
    buf_printf(out, "weights    %d compared, %d different%s\n%s", x->weights.compared, x->weights.different,
               x->weights.rounded ? ": what rounding to a shorter type makes" : "", buf_str(&x->weight_lines));
    if (x->weights.different > WEIGHT_LINES)
        buf_printf(out, "  and %d more\n", x->weights.different - WEIGHT_LINES);
}

static void put_models_json(const Against *x, Buf *out)
{
    json_open(out, NULL, '{');
    json_open(out, "settings", '[');
    for (int i = 0; i < x->settings; i++) {
        json_open(out, NULL, '{');
        json_put_text(out, "name", x->setting[i].name);
        json_put_text(out, "ours", x->setting[i].ours);
        json_put_text(out, "theirs", x->setting[i].theirs);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
    json_put(out, "weights_compared", "%d", x->weights.compared);
    json_put(out, "weights_different", "%d", x->weights.different);
    json_put_bool(out, "weights_rounded", x->weights.rounded);
    json_put_text(out, "first_weight", x->weights.different ? x->weights.first : NULL);
    buf_puts(out, ",\n\"activations\":");
}

static void put_verdict(const Against *x, const DiffNamed *n, Buf *out)
{
    bool apart = x->is_model && (x->settings || x->weights.different);
    if (apart && n->d->same)
        buf_puts(out, "Different in what the files say, though not in these numbers. ");
    diff_verdict(n, out);
}

static void put_report(const Against *x, const DiffNamed *n, bool json, Buf *out)
{
    if (json) {
        if (x->is_model)
            put_models_json(x, out);
        diff_json(n, out);
        if (x->is_model)
            buf_puts(out, "}\n");
        return;
    }
    if (x->is_model) {
        put_models(x, out);
        buf_putc(out, '\n');
    }
    diff_table(n, out);
    put_verdict(x, n, out);
    buf_putc(out, '\n');
}

static bool choose_precision(const DiffAsk *a, const DiffReference *r, Precision *p, Err *err)
{
    *p = r->stored;
    return !a->precision || precision_find(a->precision, p) ||
           err_set(err, "precision '%.40s': expected f32, bf16 or f16", a->precision);
}

/* Is every node of the list compared? A value that was recorded but can't be read is not. */
static bool check_required(const char *list, const DiffReference *r, const Graph *g, Err *err)
{
    for (const char *w = list; w && *w;) {
        char path[SESSION_PATH];
        size_t n = strcspn(w, ",");
        utf8_print(path, sizeof path, "%.*s", (int)(n < sizeof path ? n : sizeof path - 1), w);
        NodeId node = graph_find(g, path);
        if (n && node == NO_NODE)
            return err_set(err, "--require %.100s: this model has no such node; `vitrine info --nodes` lists them",
                           path);
        if (n && !diff_reference_find(r, node))
            return err_set(err, "%s: %.100s is required and not among the %d tensors compared: record it too", r->name,
                           path, r->count);
        w += n + (w[n] == ',');
    }
    return true;
}

static const char *ours_text(const Session *s, bool json, Buf *out)
{
    const Input *in = session_input(s, SIDE_B);
    char model[160];
    buf_printf(out, "%s, %s", json ? s->model.name : utf8_clean(model, sizeof model, s->model.name),
               json ? input_whole(in) : in->name);
    for (int i = 0; i < s->edits.count; i++)
        buf_printf(out, "%s%s", i ? "; " : "; edits: ", s->edits.line[i]);
    return buf_str(out);
}

bool ask_diff(Session *s, const DiffAsk *a, Buf *report, Buf *verdict, DiffAnswer *answer, Err *err)
{
    Against x = {.is_model = false};
    DiffOptions o = {.tolerance = a->tolerance > 0 ? a->tolerance : DIFF_TOLERANCE,
                     .progress = s->progress,
                     .context = s->progress_context};
    DiffReport d = {.count = 0};
    VitConfig config;
    DiffAsk permitted = *a;
    permitted.reference = permit_read(s, a->reference, err);
    permitted.map = a->map && permitted.reference ? permit_read(s, a->map, err) : NULL;
    if (!permitted.reference || (a->map && !permitted.map))
        return false;
    a = &permitted;
    if (!s->now->model)
        return err_set(err, "there is no model here to compare with");
    bool ok = ask_diff_is_model(a->reference) ? open_model(&x, s, a, o.tolerance, err) : open_trace(&x, s, a, err);
    DiffSubject subject = subject_of(s, &config);
    ok = ok && check_required(a->require, &x.reference, subject.graph, err) &&
         choose_precision(a, &x.reference, &o.precision, err) && diff_compare(&d, &subject, &x.reference, &o, err);
    if (ok && !x.is_model && model_way(s->now->model))
        ask_diff_look_at_ids(s, d.note, sizeof d.note);
    if (ok) {
        Buf ours = {0};
        DiffNamed n = {ours_text(s, a->json, &ours), &subject, &x.reference, &o, &d};
        NodeId node;
        *answer = (DiffAnswer){.stopped = d.stopped,
                               .same = d.same && !x.settings && !(x.is_model && x.weights.different)};
        if (diff_first_cell(&d, &node, &answer->cell))
            snprintf(answer->path, sizeof answer->path, "%s", graph_node(subject.graph, node)->path);
        if (report)
            put_report(&x, &n, a->json, report);
        if (verdict)
            put_verdict(&x, &n, verdict);
        buf_free(&ours);
    }
    diff_report_free(&d);
    close_against(&x);
    return ok;
}

bool diff_tolerance(const char *text, double *out, Err *err)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !(v > 0 && v <= 1))
        return err_set(err,
                       "tolerance '%.40s': expected a share of a tensor's largest value such as 1e-4, greater than 0 "
                       "and at most 1",
                       text);
    *out = v;
    return true;
}

bool diff_command(Session *s, const Args *a, Err *err)
{
    const char *tolerance = args_named(a, "tolerance"), *input = args_named(a, "input");
    if (a->count != 1)
        return err_set(err, "expected `diff FILE`: a trace (.safetensors, .npz, a folder of .npy) or a model, perhaps "
                            "with map=FILE, tolerance=1e-4, precision=bf16, require=logits, item=0, input=own");
    if (input && strcmp(input, "own") != 0)
        return err_set(err, "expected input=own: the input that is in the trace; `open` shows another");
    DiffAsk ask = {.reference = a->word[0],
                   .map = args_named(a, "map"),
                   .precision = args_named(a, "precision"),
                   .require = args_named(a, "require"),
                   .item = args_named(a, "item"),
                   .own_input = input != NULL};
    DiffAnswer answer;
    Buf verdict = {0};
    bool ok = (!tolerance || diff_tolerance(tolerance, &ask.tolerance, err)) &&
              ask_diff(s, &ask, NULL, &verdict, &answer, err);
    ok = ok && (!*answer.path || session_go(s, answer.path, SCREEN_EXPLAIN, err));
    if (ok && *answer.path) {
        const Graph *g = session_graph(s, SIDE_B);
        plane_set(g, graph_node(g, graph_find(g, answer.path))->dims, answer.cell, s->place.at);
    }
    if (ok)
        session_say(s, "%s", buf_str(&verdict));
    buf_free(&verdict);
    return ok;
}
