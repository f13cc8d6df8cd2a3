#include "core/session/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets/scenes.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/tensors.h"
#include "core/models/drawn.h"
#include "core/models/text_model.h"
#include "core/train/grammar.h"
#include "core/train/sentences.h"

void input_free(Input *in)
{
    image_free(&in->original);
    image_free(&in->resized);
    free(in->values);
    free((void *)(uintptr_t)in->mask);
    arena_free(&in->arena);
    *in = (Input){0};
}

static size_t cells_of(const Model *m)
{
    const PictureGrid g = model_grid(m);
    REQUIRE(g.rows);
    return grid_values(&g);
}

static bool finish(Input *out, Input *in, const Model *m, Err *err)
{
    in->cells = cells_of(m);
    in->values = xfloats(in->cells);
    if (!preprocess_run(&m->preprocess, &in->original, &in->resized, in->values, err)) {
        err_prefix(err, "%s", in->name);
        input_free(in);
        return false;
    }
    *out = *in;
    return true;
}

static bool open_scene(Input *out, const Model *m, int scene, Err *err)
{
    Input in = {.kind = INPUT_PICTURE, .label = -1, .rendered = true};
    snprintf(in.name, sizeof in.name, "#%s", scene_name(scene));
    snprintf(in.path, sizeof in.path, "#%s", scene_name(scene));
    image_init(&in.original, SCENE_SIDE, SCENE_SIDE, 3);
    scene_render(scene, in.original.data);
    return finish(out, &in, m, err);
}

static bool open_drawn(Input *out, const Model *m, const char *number, Err *err)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(number, &end, 10);
    if (*number < '0' || *number > '9' || *end || errno == ERANGE)
        return err_set(err,
                       "'#%s' is no picture: a drawn picture is # and a number from 0, for example #17, a rendered "
                       "scene # and what it shows, for example #ship",
                       number);
    Input in = {.kind = INPUT_PICTURE, .drawn = true};
    uint8_t *mask = xmalloc(DRAWN_SIDE * DRAWN_SIDE);
    snprintf(in.name, sizeof in.name, "#%llu", n);
    snprintf(in.path, sizeof in.path, "#%llu", n);
    image_init(&in.original, DRAWN_SIDE, DRAWN_SIDE, 3);
    in.label = drawn_picture(n, in.original.data, mask);
    in.mask = mask;
    return finish(out, &in, m, err);
}

static bool is_drawn(Input *in, uint64_t number, uint8_t *drawn, uint8_t *mask)
{
    int label = drawn_picture(number, drawn, mask);
    if (memcmp(drawn, in->original.data, (size_t)DRAWN_SIDE * DRAWN_SIDE * 3) != 0)
        return false;
    in->drawn = true;
    in->label = label;
    in->mask = mask;
    return true;
}

/* A drawn picture that was saved as a file is still that picture, if its pixels are: the number in the file's name is
 * tried, then the first ones (a third of a second, and only for pictures of that size). */
static void recognise(Input *in)
{
    enum { TRIED = 1000 };
    const Image *im = &in->original;
    if (im->width != DRAWN_SIDE || im->height != DRAWN_SIDE || im->channels != 3)
        return;
    uint8_t *drawn = xmalloc((size_t)DRAWN_SIDE * DRAWN_SIDE * 3), *mask = xmalloc(DRAWN_SIDE * DRAWN_SIDE);
    const char *digits = in->name + strcspn(in->name, "0123456789");
    bool found = *digits && is_drawn(in, strtoull(digits, NULL, 10), drawn, mask);
    for (uint64_t n = 0; !found && n < TRIED; n++)
        found = is_drawn(in, n, drawn, mask);
    if (!found)
        free(mask);
    free(drawn);
}

/* How a tensor of ready values is laid out: how many pictures, and whether channels come last. */
typedef struct StoredLayout {
    size_t pictures;
    bool last, beyond;
} StoredLayout;

/* Can the shape, some axes perhaps cut in several, be read as a × b × rest? */
static bool begins(const size_t *shape, int rank, size_t a, size_t b)
{
    size_t cells = 1;
    bool one = a == 1, two = a * b == 1;
    for (int i = 0; i < rank; i++) {
        if (!size_mul_ok(cells, shape[i], &cells))
            return false;
        one = one || cells == a;
        two = two || cells == a * b;
    }
    return one && two;
}

/* [c,h,w] or [h,w,c], any number of pictures before. Channels come first where both fit. */
static bool find_stored_layout(const TensorInfo *t, const Model *m, size_t cells, StoredLayout *out)
{
    const PictureGrid g = model_grid(m);
    size_t ch = (size_t)g.channels, h = (size_t)g.height, w = (size_t)g.width;
    size_t trimmed[TENSOR_RANK_MAX], all = t->cells;
    const size_t *shape = t->shape;
    int rank = t->rank;
    bool channels_last, beyond = preprocess_beyond(&m->preprocess, shape, rank, trimmed, &channels_last);
    if (beyond) { /* as its program feeds it, with what fills no patch */
        shape = trimmed;
        all = 1;
        for (int i = 0; i < rank; i++)
            all = size_mul(all, trimmed[i]);
    }
    *out = (StoredLayout){.pictures = cells ? all / cells : 0, .beyond = beyond};
    if (!out->pictures || all % cells != 0 || rank < 2)
        return false;
    if (rank > 2 && *shape == out->pictures)
        shape++, rank--;
    else if (out->pictures > 1)
        return false;
    bool first = begins(shape, rank, ch, h), last = begins(shape, rank, h, w);
    out->last = last && !first;
    return first || last;
}

/* "name[3]": cuts the number off. False when there is none. */
static bool cut_item(char *name, size_t *item)
{
    char *open = strrchr(name, '['), *end;
    if (!open || open == name || open[1] < '0' || open[1] > '9')
        return false;
    *item = strtoul(open + 1, &end, 10);
    if (strcmp(end, "]") != 0)
        return false;
    *open = '\0';
    return true;
}

static bool refuse_shape(const TensorInfo *t, const PictureGrid *g, const char *file, Err *err)
{
    Buf shape = {0};
    for (int i = 0; i < t->rank; i++)
        buf_printf(&shape, "%s%zu", i ? "," : "", t->shape[i]);
    err_set(err,
            "%s: tensor '%.100s' has %zu values in the shape [%.100s]; this model takes %d × %d × %d = %zu: "
            "[channels, rows, columns] or [rows, columns, channels], perhaps with a batch in front",
            file, t->name, t->cells, buf_str(&shape), g->channels, g->height, g->width, grid_values(g));
    buf_free(&shape);
    return false;
}

static bool read_values(const TensorFile *f, const TensorInfo *t, const Model *m, StoredLayout stored, size_t item,
                        float *out, Err *err)
{
    const PictureGrid g = model_grid(m);
    size_t ch = (size_t)g.channels, plane = (size_t)g.height * (size_t)g.width, pictures = item + 1;
    size_t wanted = t->cells / stored.pictures * pictures; /* none behind the one that is meant */
    float *all = xfloats(wanted), *trimmed = stored.beyond ? xfloats(size_mul(pictures, ch * plane)) : NULL;
    bool ok = tensors_read_first_f32(f, t, all, wanted, err);
    if (ok && trimmed)
        preprocess_trim(&m->preprocess, all, pictures, stored.last, trimmed);
    const float *from = (trimmed ? trimmed : all) + item * ch * plane;
    for (size_t i = 0; ok && i < ch * plane; i++)
        out[i] = stored.last ? from[i % plane * ch + i / plane] : from[i];
    free(trimmed);
    free(all);
    return ok;
}

static bool open_values(Input *out, const Model *m, const char *file, const char *spec, Err *err)
{
    TensorFile f = {0};
    char tensor[1024];
    const PictureGrid grid = model_grid(m);
    size_t item = 0, cells = cells_of(m);
    StoredLayout stored = {0};
    snprintf(tensor, sizeof tensor, "%s", spec);
    if (!tensors_open(&f, file, err))
        return false;
    const TensorInfo *t = tensors_find(&f, tensor);
    bool said = !t && cut_item(tensor, &item);
    if (said)
        t = tensors_find(&f, tensor);
    bool ok = true;
    if (!t)
        ok = err_set(err, "%s: there is no tensor '%s' in it (%zu tensors; the first is '%s')", file, tensor, f.count,
                     f.count ? f.tensors[0].name : "");
    else if (!find_stored_layout(t, m, cells, &stored))
        ok = refuse_shape(t, &grid, file, err);
    else if (item >= stored.pictures)
        ok = err_set(err, "%s: tensor '%s' holds %zu pictures: say which with %s:%s[0] to [%zu]", file, tensor,
                     stored.pictures, file, tensor, stored.pictures - 1);
    if (ok) {
        Input in = {.kind = INPUT_PICTURE, .label = -1, .ready = true, .cells = cells, .values = xfloats(cells)};
        char name[160];
        utf8_print(name, sizeof name, "%.80s:%.40s%s", file, spec, stored.last ? " (channels last)" : "");
        if (stored.pictures > 1)
            snprintf(name + strlen(name), sizeof name - strlen(name), " (picture %zu of %zu)", item, stored.pictures);
        utf8_clean(in.name, sizeof in.name, name);
        utf8_print(in.path, sizeof in.path, "%.800s:%.200s", file, spec);
        in.unchecked = tensors_unchecked(t, t->cells / stored.pictures * (item + 1));
        ok = read_values(&f, t, m, stored, item, in.values, err);
        if (ok)
            *out = in;
        else
            input_free(&in);
    }
    tensors_close(&f);
    return ok;
}

Text text_copy(Arena *arena, Text t)
{
    size_t n = (size_t)t.count;
    if (!n)
        return (Text){0};
    int *word = arena_alloc(arena, size_mul(n, sizeof *word));
    int *segment = t.segment ? arena_alloc(arena, size_mul(n, sizeof *segment)) : NULL;
    const char **label = t.label ? arena_alloc(arena, size_mul(n, sizeof *label)) : NULL;
    for (size_t i = 0; i < n; i++) {
        word[i] = t.word[i];
        if (segment)
            segment[i] = t.segment[i];
        if (label)
            label[i] = arena_strdup(arena, t.label[i]);
    }
    return (Text){word, label, t.count, NULL, segment, t.asked, t.cut};
}

/* in->path: the input that is read when none was asked for, as somebody would have typed it. */
static void name_first(const Model *m, Input *in)
{
    const Text *text = &in->text[model_given(m)];
    Buf b = {0};
    const Vocabulary *v = model_vocabulary(m);
    in->invented = v->cutter || !v->word;
    for (int i = 0; v->cutter && i < text->count; i++)
        buf_printf(&b, "%s%d", i ? "," : "ids:", text->word[i]);
    if (v->word && !v->cutter)
        words_text(v, text->word, text->count, &b);
    for (int i = 0; !v->word && i < text->count; i++)
        if (text->word[i] != v->pad && text->word[i] != v->start && text->word[i] != v->end)
            buf_printf(&b, "%s%d", b.len ? " " : "", text->word[i]);
    snprintf(in->path, sizeof in->path, "%s", buf_str(&b));
    buf_free(&b);
}

/* unlike its training sentences from "sees" on: never measured; left out: "," "." (not among its words); cut at 64
 * words: the model had not come to an end */
static void note_texts(const Model *m, Input *in)
{
    Buf all = {0}, outside = {0};
    const Text *source = &in->text[TEXT_SOURCE];
    const int cut = in->text[TEXT_TARGET].cut;
    for (int k = 0; k < TEXTS; k++)
        for (const char *p = in->text[k].left_out, *from = p; p && *p; from = p) {
            char mark[8], quoted[16];
            utf8_next(&p);
            utf8_take(mark, sizeof mark, from, (size_t)(p - from));
            snprintf(quoted, sizeof quoted, " \"%s\"", mark);
            if (!all.len || !strstr(buf_str(&all), quoted))
                buf_printf(&all, "%s%s", all.len ? "" : "left out:", quoted);
        }
    if (all.len)
        buf_puts(&all, " (not among its words)");
    if (cut)
        buf_printf(&all, "%scut at %d words: %s", all.len ? "; " : "", cut, vocabulary_endless(&m->target));
    if (m->text_limit && source->count > m->text_limit)
        buf_printf(&all, "%sread whole: its own program cuts these %d tokens at %d", all.len ? "; " : "", source->count,
                   m->text_limit);
    const Vocabulary *v = model_vocabulary(m);
    if (v->cutter && words_look_numbered(in->path))
        buf_printf(&all, "%sread as a text of digits; by number it is -i ids:1,2,3", all.len ? "; " : "");
    bool strange = m->trained && grammar_outside(m, source->word, source->count, true, &outside);
    utf8_print(in->note, sizeof in->note, "%s%s%s%s", all.len && !m->trained ? "untrained; " : "", buf_str(&outside),
               strange && all.len ? "; " : "", buf_str(&all));
    buf_free(&outside);
    buf_free(&all);
}

/* Is it one of the pictures in the program, #17 or #ship? */
static bool is_picture(const char *spec)
{
    return *spec == '#' && spec[1] && (input_scene(spec) >= 0 || !spec[1 + strspn(spec + 1, "0123456789")]);
}

bool input_lacks_file(const char *spec)
{
    static const char *const ROOTS[] = {"/", "./", "../", "~/"};
    bool rooted = false;
    for (size_t i = 0; i < sizeof ROOTS / sizeof *ROOTS; i++)
        rooted = rooted || (strncmp(spec, ROOTS[i], strlen(ROOTS[i])) == 0 && spec[strlen(ROOTS[i])]);
    const bool ends = file_is(spec, "txt png jpg jpeg bmp npy npz safetensors json"), one = !strpbrk(spec, " \t\n");
    return (one ? rooted || ends : rooted && ends) && !file_exists(spec);
}

/* Words, as the model's family reads them. */
static bool open_text(Input *out, const Model *m, const char *spec, Err *err)
{
    Input in = {.kind = INPUT_TEXT, .label = -1};
    if (!m->family->read_text)
        return err_set(err, "this model takes no words");
    if (spec && strlen(spec) >= sizeof in.path)
        return err_set(err, "that text is longer than %zu bytes: shorten it", sizeof in.path - 1);
    const bool file = spec && strpbrk(spec, "./") && file_exists(spec) && !file_is_dir(spec);
    if (!m->family->read_text(m, spec, &in.arena, in.text, err)) {
        arena_free(&in.arena);
        char name[64];
        Err why = err ? *err : (Err){""};
        if (spec && is_picture(spec))
            return err_set(err, "'%.40s' is a picture, and this model reads words: %s", spec,
                           model_vocabulary(m)->word ? "give a sentence in quotes" : why.text);
        if (spec && input_lacks_file(spec))
            return err_set(err, "%s; " INPUT_NO_FILE, why.text, utf8_clean(name, sizeof name, spec));
        return file ? err_set(err, "%s; " INPUT_OF_FILE, why.text, utf8_clean(name, sizeof name, spec)) : false;
    }
    snprintf(in.path, sizeof in.path, "%s", spec ? spec : "");
    if (!spec && model_way(m))
        name_first(m, &in);
    char clean[2 * sizeof in.name]; /* where the text is longer, so is this */
    utf8_fit(in.name, sizeof in.name, utf8_clean(clean, sizeof clean, in.path), -1);
    note_texts(m, &in);
    if (file)
        utf8_print(in.note, sizeof in.note, INPUT_OF_FILE, in.name);
    else if (spec && input_lacks_file(spec))
        utf8_print(in.note, sizeof in.note, INPUT_NO_FILE, in.name);
    *out = in;
    return true;
}

const char *input_whole(const Input *in)
{
    return in->text[TEXT_SOURCE].count || in->text[TEXT_TARGET].count ? in->path : in->name;
}

/* Nothing to look at: the matrices are the graph's own. */
static Input nothing(const Input *from)
{
    Input in = {.kind = from->kind, .label = -1};
    memcpy(in.name, from->name, sizeof in.name);
    memcpy(in.path, from->path, sizeof in.path);
    return in;
}

bool input_copy(Input *out, const Input *from, const Model *m, Err *err)
{
    InputKind takes = m ? m->family->input : from->kind;
    if (takes != from->kind)
        return err_set(err, "%s is a %s, and this model takes a %s", from->name, input_kind_name(from->kind),
                       input_kind_name(takes));
    if (from->kind == INPUT_TEXT)
        return open_text(out, m, *from->path ? from->path : NULL, err);
    if (from->kind != INPUT_PICTURE) {
        *out = nothing(from);
        return true;
    }
    Input in = *from;
    in.original = in.resized = (Image){0};
    in.values = NULL;
    in.mask = NULL;
    if (from->mask) {
        uint8_t *mask = xmalloc(DRAWN_SIDE * DRAWN_SIDE);
        memcpy(mask, from->mask, DRAWN_SIDE * DRAWN_SIDE);
        in.mask = mask;
    }
    if (from->ready) {
        in.values = xfloats(in.cells);
        memcpy(in.values, from->values, in.cells * sizeof *in.values);
        *out = in;
        return true;
    }
    const Image *im = &from->original;
    image_init(&in.original, im->width, im->height, im->channels);
    memcpy(in.original.data, im->data, image_bytes(im));
    return finish(out, &in, m, err);
}

int input_scene(const char *spec)
{
    for (int i = 0; *spec == '#' && scene_name(i); i++)
        if (strcmp(scene_name(i), spec + 1) == 0)
            return i;
    return -1;
}

const char *input_scene_name(int scene)
{
    return scene_name(scene);
}

bool input_sentence(const Model *m, int i, Buf *out)
{
    enum { MEASURED = 8 };
    ParallelSentence pair[2], made;
    if (i < 0 || i >= 2 + MEASURED)
        return false;
    sentence_pair(0, pair);
    if (i >= 2)
        sentence_make(SENTENCES_COMBINATIONS, 0, (uint64_t)i - 2, &made);
    const ParallelSentence *s = i < 2 ? &pair[i] : &made;
    words_text(&m->source, s->en, s->en_n, out);
    return true;
}

bool input_open(Input *out, const Model *m, const char *spec, Err *err)
{
    char number[32];
    if (m->family->input == INPUT_TEXT)
        return open_text(out, m, spec, err);
    snprintf(number, sizeof number, "%d", INPUT_FIRST);
    if (!spec && m->seen.mean) /* it has learned from photographs: a drawn shape is none of its classes */
        return open_scene(out, m, input_scene(INPUT_SCENE), err);
    if (!spec)
        return open_drawn(out, m, number, err);
    if (*spec == '#' && input_scene(spec) >= 0)
        return open_scene(out, m, input_scene(spec), err);
    if (*spec == '#')
        return open_drawn(out, m, spec + 1, err);
    const char *colon = strrchr(spec, ':');
    if (colon && colon > spec && colon[1] && !file_exists(spec)) {
        char file[1024];
        utf8_print(file, sizeof file, "%.*s", (int)(colon - spec), spec);
        if (file_exists(file))
            return open_values(out, m, file, colon + 1, err);
    }
    Input in = {.kind = INPUT_PICTURE, .label = -1};
    const char *slash = strrchr(spec, '/');
    utf8_clean(in.name, sizeof in.name, strcmp(spec, "-") == 0 ? "standard input" : slash ? slash + 1 : spec);
    if (strlen(spec) >= sizeof in.path)
        return err_set(err, "that path is longer than %zu bytes", sizeof in.path - 1);
    snprintf(in.path, sizeof in.path, "%s", spec);
    if (!image_read(&in.original, spec, err)) {
        bool digits = *spec && !spec[strspn(spec, "0123456789")] && !file_exists(spec);
        return digits && err_set(err, "no file is called '%.40s': #%.40s is a drawn picture, in a shell '#%.40s'", spec,
                                 spec, spec);
    }
    recognise(&in);
    return finish(out, &in, m, err);
}

/* Share of the rectangle's mask pixels that the object covers; a mask pixel counts where its centre lies inside. */
static double covered(const uint8_t *mask, const SourceRect *r)
{
    double sum = 0, count = 0;
    for (int y = 0; y < DRAWN_SIDE; y++)
        for (int x = 0; x < DRAWN_SIDE; x++) {
            double cy = y + 0.5, cx = x + 0.5;
            if (cy < r->y0 || cy >= r->y1 || cx < r->x0 || cx >= r->x1)
                continue;
            sum += mask[y * DRAWN_SIDE + x] / 255.0;
            count++;
        }
    return count > 0 ? sum / count : 0;
}

bool object_patches(const Input *in, const Model *m, float *object)
{
    const PictureGrid g = model_grid(m);
    bool any = false;
    if (!in->mask)
        return false;
    for (int row = 0; row < g.rows; row++)
        for (int col = 0; col < g.columns; col++) {
            int y = row * g.patch_h, x = col * g.patch_w;
            SourceRect r = preprocess_source(&m->preprocess, DRAWN_SIDE, DRAWN_SIDE, x, y);
            SourceRect last = preprocess_source(&m->preprocess, DRAWN_SIDE, DRAWN_SIDE, x + g.patch_w - 1,
                                                y + g.patch_h - 1);
            r.x1 = last.x1;
            r.y1 = last.y1;
            bool on = covered(in->mask, &r) > OBJECT_PERCENT / 100.0;
            object[row * g.columns + col] = on ? 1.0f : 0.0f;
            any |= on;
        }
    return any;
}
