#include "core/eval/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/tokenizer.h"
#include "core/models/drawn.h"
#include "core/models/lexicon.h"
#include "core/train/sentences.h"
#include "core/train/trainer.h"

enum { NOT_DRAWN = -1, FILE_MOST = 32 << 20 };

struct Dataset {
    const Pictures *pictures; /* NULL: given as bytes */
    PictureSet set;
    int *class; /* of the model, for every class of the pictures; NULL: labels are the model's */
    uint64_t first;
    size_t count, plane, cells; /* cells: of a picture, all channels */
    uint8_t
        *bytes; /* [count, cells + plane]: pixels and mask as drawn, or pixels as given; NULL where they were read */
    int *label; /* [count], or NOT_DRAWN */
    ParallelSentence *sentence; /* [count], or NULL */
    Folder folder;              /* whose pictures they are, their pixels moved to bytes; else empty */
    size_t all;                 /* how many lie in it */
    int *token, length, front;  /* [count, length] of windows, whose first `front` the model puts there; or NULL */
};

/* Class of the model with the name of class o of names[classes], or -1. */
static int same_class(const Model *m, const char *const *names, int classes, int o)
{
    if (!m->class_names)
        return classes == model_grid(m).classes ? o : -1;
    for (int k = 0; k < model_grid(m).classes; k++)
        if (m->class_names[k] && strcmp(m->class_names[k], names[o]) == 0)
            return k;
    return -1;
}

static bool takes_pictures(const Model *m, Err *err)
{
    const PictureGrid grid = model_grid(m);
    if (grid.ready || (grid.channels != 1 && grid.channels != 3))
        return err_set(err, "this model takes values that were standardised elsewhere, not pictures");
    return true;
}

Dataset *dataset_new(const Pictures *pictures, const Model *m, PictureSet set, uint64_t first, size_t count)
{
    if (model_way(m))
        return dataset_sentences(first, count);
    Dataset *s = xcalloc(1, sizeof *s);
    const Preprocess *p = &m->preprocess;
    size_t held = pictures_count(pictures, set);
    int classes = pictures_classes(pictures);
    s->pictures = pictures;
    s->set = set;
    s->first = first;
    s->count = held && held < count ? held : count;
    s->plane = size_mul((size_t)p->width, (size_t)p->height);
    s->cells = size_mul(s->plane, (size_t)p->channels);
    s->class = xcalloc((size_t)classes, sizeof *s->class);
    for (int o = 0; o < classes; o++) {
        s->class[o] = same_class(m, pictures_names(pictures), classes, o);
        REQUIRE(s->class[o] >= 0);
    }
    if (held)
        return s;
    s->bytes = xmalloc(size_mul(s->count, size_add(s->cells, s->plane)));
    s->label = xcalloc(s->count + 1, sizeof *s->label);
    for (size_t i = 0; i < s->count; i++)
        s->label[i] = NOT_DRAWN;
    return s;
}

Dataset *dataset_of_bytes(const Model *m, uint8_t *pixels, const int *label, size_t count)
{
    Dataset *s = xcalloc(1, sizeof *s);
    const Preprocess *p = &m->preprocess;
    const size_t plane = size_mul((size_t)p->width, (size_t)p->height);
    *s = (Dataset){.count = count, .plane = plane, .cells = size_mul(plane, (size_t)p->channels), .bytes = pixels};
    s->label = xcalloc(count + 1, sizeof *s->label);
    memcpy(s->label, label, count * sizeof *label);
    return s;
}

Dataset *dataset_sentences(uint64_t first, size_t count)
{
    Dataset *s = xcalloc(1, sizeof *s);
    *s = (Dataset){.first = first, .count = count, .sentence = xcalloc(count + 1, sizeof *s->sentence)};
    for (size_t i = 0; i < count; i++)
        sentence_make(SENTENCES_COMBINATIONS, 0, first + i, &s->sentence[i]);
    return s;
}

const ParallelSentence *dataset_sentence(const Dataset *s, size_t i)
{
    return s->sentence ? s->sentence + i : NULL;
}

/* Interleaved bytes to planes, in their place. */
static void part_channels(Dataset *s)
{
    const size_t channels = s->cells / s->plane;
    uint8_t *one = xmalloc(s->cells);
    for (size_t i = 0; i < s->count; i++) {
        uint8_t *at = s->bytes + i * s->cells;
        memcpy(one, at, s->cells);
        for (size_t k = 0; k < s->cells; k++)
            at[k % channels * s->plane + k / channels] = one[k];
    }
    free(one);
}

Dataset *dataset_folder(const Model *m, const char *folder, size_t most,
                        bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    const Preprocess *p = &m->preprocess;
    if (!takes_pictures(m, err))
        return NULL;
    Dataset *s = xcalloc(1, sizeof *s);
    if (!folder_read_loose(&s->folder, folder, p, most, &s->all, progress, context, err)) {
        free(s);
        return NULL;
    }
    s->count = s->folder.held;
    s->plane = size_mul((size_t)p->width, (size_t)p->height);
    s->cells = size_mul(s->plane, (size_t)p->channels);
    s->bytes = s->folder.pixels;
    s->folder.pixels = NULL;
    s->label = xcalloc(s->count + 1, sizeof *s->label);
    part_channels(s);
    return s;
}

const char *dataset_path(const Dataset *s, size_t i)
{
    return s->folder.picture ? s->folder.picture[i].path : NULL;
}

size_t dataset_lying(const Dataset *s)
{
    return s->all;
}

/* --- windows of a text --- */

/* Numbers of a text of so many bytes, *n of them, freed by the caller; NULL with err. */
static int *numbers_of(const Model *m, const Buf *text, size_t *n, Err *err)
{
    const Vocabulary *v = &m->target;
    Tokens k = {.at = NULL};
    Words w = {0};
    int *number = NULL;
    *n = 0;
    if (v->cutter ? !tokenizer_encode(v->cutter->own, text->data, text->len, false, false, &k, err)
                  : !words_parse(&w, v, buf_str(text), false, err))
        return NULL;
    *n = v->cutter ? k.n : (size_t)w.n;
    number = xcalloc(*n + 1, sizeof *number);
    for (size_t i = 0; number && i < *n; i++) {
        number[i] = v->cutter ? k.at[i].id : w.number[i];
        if (number[i] < 0 || number[i] >= v->n) {
            err_set(err, "the tokeniser makes %d of a part of it, and the model has %d words", number[i], v->n);
            free(number);
            number = NULL;
        }
    }
    tokens_free(&k);
    words_free(&w);
    return number;
}

/* What the model puts in front of a text that somebody types: its start, and what its template has there. */
static int front_of(const Model *m, int out[WINDOW_TOKENS / 2])
{
    const Vocabulary *v = &m->target;
    Tokens with = {.at = NULL}, bare = {.at = NULL};
    int n = 0;
    if (model_starts(m))
        out[n++] = model_start(m);
    if (v->cutter && tokenizer_encode(v->cutter->own, "", 0, true, false, &with, NULL) &&
        tokenizer_encode(v->cutter->own, "", 0, false, false, &bare, NULL) && with.n > bare.n)
        for (size_t i = 0; i < (with.n - bare.n + 1) / 2 && n < WINDOW_TOKENS / 2 && with.at[i].id < v->n; i++)
            out[n++] = with.at[i].id;
    tokens_free(&with);
    tokens_free(&bare);
    return n;
}

static bool cut_windows(Dataset *s, const Model *m, const Buf *text, size_t count, Err *err)
{
    int front[WINDOW_TOKENS / 2];
    const int longest = seq2seq_longest(&m->text);
    size_t n, room;
    int *number = numbers_of(m, text, &n, err);
    if (!number)
        return false;
    s->front = front_of(m, front);
    s->length = longest < WINDOW_TOKENS ? longest : WINDOW_TOKENS;
    room = s->length > s->front ? (size_t)(s->length - s->front) : 0;
    room = n < room ? n : room; /* a text shorter than a window is one */
    s->length = s->front + (int)room;
    s->count = room && s->length > 1 ? n / room : 0;
    s->count = s->count < count ? s->count : count;
    s->token = xcalloc(size_mul(s->count + 1, (size_t)s->length + 1), sizeof *s->token);
    for (size_t i = 0; i < s->count; i++) {
        memcpy(s->token + i * (size_t)s->length, front, (size_t)s->front * sizeof *front);
        memcpy(s->token + i * (size_t)s->length + s->front, number + i * room, room * sizeof *number);
    }
    free(number);
    return s->count || err_set(err, "a text of %zu token%s has none to ask for", n, n == 1 ? "" : "s");
}

Dataset *dataset_texts(const Model *m, const char *path, size_t count, Err *err)
{
    Buf text = {0};
    char shown[200];
    Dataset *s = xcalloc(1, sizeof *s);
    REQUIRE(model_way(m) == MODEL_WRITES);
    bool ok = file_read(path, FILE_MOST, &text, err);
    if (ok && text.len > WINDOW_BYTES)
        text.data[text.len = WINDOW_BYTES] = '\0';
    if (ok && !cut_windows(s, m, &text, count, err))
        ok = err_prefix(err, "%s", utf8_clean(shown, sizeof shown, path));
    buf_free(&text);
    if (ok)
        return s;
    dataset_free(s);
    return NULL;
}

bool dataset_held_path(const char *model, char *out, size_t n)
{
    const char *slash = strrchr(model, '/');
    const int folder = file_is_dir(model) ? (int)strlen(model) : slash ? (int)(slash - model) : 0;
    utf8_print(out, n, "%.*s%s" TRAINER_HELD, folder, model, folder ? "/" : "");
    return *model && file_exists(out);
}

const int *dataset_window(const Dataset *s, size_t i, int *n, int *first)
{
    *n = s->length;
    *first = s->front ? s->front : 1;
    return s->token ? s->token + i * (size_t)s->length : NULL;
}

int dataset_front(const Dataset *s)
{
    return s->front;
}

void dataset_free(Dataset *s)
{
    if (!s)
        return;
    free(s->bytes);
    free(s->label);
    free(s->class);
    free(s->sentence);
    free(s->token);
    folder_free(&s->folder);
    free(s);
}

size_t dataset_count(const Dataset *s)
{
    return s->count;
}

bool dataset_have_masks(const Dataset *s)
{
    return s->pictures && pictures_have_masks(s->pictures);
}

int dataset_get(Dataset *s, size_t i, float *pixels, uint8_t *mask)
{
    REQUIRE(i < s->count);
    if (!s->bytes)
        return s->class[pictures_get(s->pictures, s->set, s->first + i, 1, pixels, mask)];
    uint8_t *at = s->bytes + i * (s->cells + (s->pictures ? s->plane : 0));
    if (s->label[i] == NOT_DRAWN) { /* pixels are whole numbers: a byte holds each */
        s->label[i] = pictures_get(s->pictures, s->set, s->first + i, 1, pixels, at + s->cells);
        for (size_t k = 0; k < s->cells; k++)
            at[k] = (uint8_t)pixels[k];
    } else
        for (size_t k = 0; k < s->cells; k++)
            pixels[k] = (float)at[k];
    if (mask && s->pictures)
        memcpy(mask, at + s->cells, s->plane);
    else if (mask)
        memset(mask, 0, s->plane);
    return s->class ? s->class[s->label[i]] : s->label[i];
}

static bool names_pictures(const Model *m, Err *err)
{
    if (!model_grid(m).classes)
        return err_set(err, "this model names no classes, so there is nothing to be right or wrong about");
    return takes_pictures(m, err);
}

bool dataset_suits_drawn(const Model *m, Err *err)
{
    if (!names_pictures(m, err))
        return false;
    bool same = m->drawn_shapes;
    for (int o = 0; same && o < DRAWN_CLASSES; o++)
        same = same_class(m, SHAPES_NAMES, DRAWN_CLASSES, o) >= 0;
    return same || err_set(err, "no labelled pictures are known for this model");
}

bool dataset_suits(const Model *m, const Pictures *pictures, Err *err)
{
    int classes = pictures_classes(pictures);
    if (!names_pictures(m, err))
        return false;
    if (!m->class_names && classes != model_grid(m).classes)
        return err_set(err,
                       "the pictures have %d classes and the model %d, without names: give the folder that the model "
                       "was trained on, or one with the same classes",
                       classes, model_grid(m).classes);
    for (int o = 0; o < classes; o++)
        if (same_class(m, pictures_names(pictures), classes, o) < 0)
            return err_set(
                err, "the model has no class '%.80s': name the folders of pictures as its classes are named (%.80s, …)",
                pictures_names(pictures)[o], m->class_names[0] ? m->class_names[0] : "");
    return true;
}

const char *dataset_unsuited_sentences(const Model *m)
{
    bool suits = m->text.source_words == EN_WORDS && m->text.target_words == FR_WORDS;
    return suits ? NULL : "the program has no labelled texts in its words";
}
