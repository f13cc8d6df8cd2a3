/* What a model is examined on, over and over: labelled pictures, drawn ones drawn once and kept as bytes; sentences
 * whose translation is known; or, of a decoder, windows of a text. */
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
/* Pictures of a folder, of no class, for any model that takes pictures (folder_read_loose); dataset_get calls each of
 * class 0. NULL with err. Which file picture i is, and how many lie there, not all of which may be taken: NULL and 0 of
 * others. */
Dataset *dataset_folder(const Model *m, const char *folder, size_t most,
                        bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err);
const char *dataset_path(const Dataset *s, size_t i);
size_t dataset_lying(const Dataset *s);
/* Sentences of unseen combinations, from number `first` on. */
Dataset *dataset_sentences(uint64_t first, size_t count);
const struct ParallelSentence *dataset_sentence(const Dataset *s,
                                                size_t i); /* …and those behind it; NULL of pictures */
/* Windows of a text, one behind the other, for a decoder alone: each as long as the model reads, at most WINDOW_TOKENS
 * tokens, with what the model puts in front of a text at its beginning; what is left at the end is left out, where
 * there is one window. Of the text the first WINDOW_BYTES are read. count: so many windows at most. path: a file, cut
 * by the model's tokeniser (bytes that are no UTF-8 as it takes them), of a model without one numbers of words. NULL
 * with err that names the file. */
enum { WINDOW_TOKENS = 64, WINDOW_BYTES = 1 << 20 };
Dataset *dataset_texts(const Model *m, const char *path, size_t count, Err *err);
/* The file of texts that the model in that folder (or the file in it) was trained beside: out[n]; false: none. */
bool dataset_held_path(const char *model, char *out, size_t n);
/* Window i, *n tokens of which those from *first on are asked for; NULL of others. */
const int *dataset_window(const Dataset *s, size_t i, int *n, int *first);
int dataset_front(const Dataset *s); /* how many the model puts in front of each */
void dataset_free(Dataset *s);       /* NULL is allowed */
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
