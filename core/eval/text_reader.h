/* A text model, as trained or edited, over many sentences whose translation is known: graphs of TEXT_MICRO sentences of
 * one length, and plans of its own for every thread. Cell for cell the same bits as for each sentence alone. */
#ifndef VITRINE_EVAL_TEXT_READER_H
#define VITRINE_EVAL_TEXT_READER_H
#include "core/base/pool.h"
#include "core/graph/edit.h"
#include "core/models/text_model.h"
#include "core/train/sentences.h"
#include "core/train/text_batch.h"

typedef struct TextReader TextReader;

/* What is changed: a head of an attention is switched off, at z, before W_O mixes it with the others; or, where scope
 * is NULL, the factor on the scores of every attention multiplied (0: nothing is changed). */
typedef struct TextHead {
    const char *scope; /* "decoder.blocks.2.cross_attn" */
    int head;
    float factor;
} TextHead;

/* m must outlive it, and was trained on the words of the lexicon; watch[count]: paths of nodes whose values are wanted
 * besides the logits. NULL with err when a path is none of the model's. */
TextReader *text_reader_new(const Model *m, const TextHead *off, const char *const *watch, int count, Pool *pool,
                            Err *err);
void text_reader_free(TextReader *r); /* NULL is allowed */

/* One sentence's values: of node watch[i] its own part (without the axis b); length is that of its axes. */
typedef struct TextValues {
    const float *logits; /* [length, words] */
    const float *const *watched;
    int length;
} TextValues;
/* Called once for every sentence, from any thread, sentences in any order. */
typedef void (*TextVisit)(void *context, size_t i, const Sentence *s, const TextValues *v);
/* Reads n sentences, the French ones as the decoder's input (each row sees only the words before it). progress may be
 * NULL; false when it stopped. */
bool text_reader_run(TextReader *r, const Sentence *s, size_t n, TextVisit visit, void *context,
                     bool (*progress)(void *context, const char *what, double share), void *progress_context);
/* Goes on from sentence `done` of s[n] until the deadline (clock_ns), at least a batch for every thread; visit is given
 * a sentence's number in s. Returns how many are done then. */
size_t text_reader_go_on(TextReader *r, const Sentence *s, size_t done, size_t n, TextVisit visit, void *context,
                         int64_t deadline_ns);
/* The word that comes first in row t. */
int text_first_word(const TextReader *r, const TextValues *v, int t);
#endif
