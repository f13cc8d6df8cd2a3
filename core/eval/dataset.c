#include "core/eval/dataset.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/models/drawn.h"
#include "core/models/lexicon.h"
#include "core/train/sentences.h"

enum { NOT_DRAWN = -1 };

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

void dataset_free(Dataset *s)
{
    if (!s)
        return;
    free(s->bytes);
    free(s->label);
    free(s->class);
    free(s->sentence);
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

static bool takes_pictures(const Model *m, Err *err)
{
    const PictureGrid grid = model_grid(m);
    if (!grid.classes)
        return err_set(err, "this model names no classes, so there is nothing to be right or wrong about");
    if (grid.ready || (grid.channels != 1 && grid.channels != 3))
        return err_set(err, "this model takes values that were standardised elsewhere, not pictures");
    return true;
}

bool dataset_suits_drawn(const Model *m, Err *err)
{
    if (!takes_pictures(m, err))
        return false;
    bool same = m->drawn_shapes;
    for (int o = 0; same && o < DRAWN_CLASSES; o++)
        same = same_class(m, SHAPES_NAMES, DRAWN_CLASSES, o) >= 0;
    return same || err_set(err, "no labelled pictures are known for this model");
}

bool dataset_suits(const Model *m, const Pictures *pictures, Err *err)
{
    int classes = pictures_classes(pictures);
    if (!takes_pictures(m, err))
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
