/* What a model is examined on, over and over: labelled pictures, drawn ones drawn once and kept as bytes; or sentences
 * whose translation is known. */
#ifndef VITRINE_EVAL_DATASET_H
#define VITRINE_EVAL_DATASET_H
#include "core/models/family.h"
#include "core/train/pictures.h"

typedef struct Dataset Dataset;
struct ParallelSentence; /* core/train/sentences.h */

/* Of a picture model: pictures first … first+count-1 of a set, fewer where the set has fewer; drawn ones at full
 * difficulty. They suit m (dataset_suits) and were made with its preprocessing. pictures must outlive it. Of a text
 * model: dataset_sentences. */
Dataset *dataset_new(const Pictures *pictures, const Model *m, PictureSet set, uint64_t first, size_t count);
/* Pictures that are at hand as bytes, [count, c,y,x], which are taken over; each is of class label[i] of the model. No
 * masks. */
Dataset *dataset_of_bytes(const Model *m, uint8_t *pixels, const int *label, size_t count);
/* Sentences of unseen combinations, from number `first` on. */
Dataset *dataset_sentences(uint64_t first, size_t count);
const struct ParallelSentence *dataset_sentence(const Dataset *s,
                                                size_t i); /* …and those behind it; NULL of pictures */
void dataset_free(Dataset *s);                             /* NULL is allowed */
size_t dataset_count(const Dataset *s);
bool dataset_have_masks(const Dataset *s);
/* Picture i: pixels[c,y,x] 0 … 255; mask[y,x] (may be NULL) 0 … 255, zeros where none is known. Returns its class, as
 * the model numbers them. Any thread, as long as no two ask for the same picture at once. */
int dataset_get(Dataset *s, size_t i, float *pixels, uint8_t *mask);

/* Can m be examined on drawn shapes, on these pictures? False with one line that says what is needed. Classes go by
 * their names; a model without names must have as many as the pictures. */
bool dataset_suits_drawn(const Model *m, Err *err);
bool dataset_suits(const Model *m, const Pictures *pictures, Err *err);
/* Is it a translator with the lexicon's words, for which sentences with known translations are there? NULL, or why
 * not. */
const char *dataset_unsuited_sentences(const Model *m);
#endif
