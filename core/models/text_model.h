/* Text models: where their weights come from, and words as numbers. */
#ifndef VITRINE_MODELS_TEXT_MODEL_H
#define VITRINE_MODELS_TEXT_MODEL_H
#include <stdint.h>

#include "core/base/buf.h"
#include "core/io/json.h"
#include "core/models/model.h"

/* The number of a word of `length` bytes, else of what a file stores so, or −1. */
int vocabulary_find(const Vocabulary *v, const char *word, size_t length);

/* Weights from a seed, the same on every machine; attention sharp enough for rows to differ. c passed seq2seq_check. */
void text_model_seeded(Model *m, const Seq2seqConfig *c, uint64_t seed);
/* The translator in the binary: weights is the asset "translator.f32", every weight in the order of model_weight,
 * without gaps. False and err when the size is another. */
bool text_model_bundled(Model *m, const void *weights, size_t bytes, Err *err);
Seq2seqConfig text_model_bundled_config(void);

/* A folder, or the model.safetensors in it: with config.json and, where words have names, vocabulary.json. Read are
 * this program's own names of weights (those of the graph), PyTorch's nn.Transformer with src_embed, tgt_embed and
 * generator, and the families of the Hugging Face hub that text_hub.c lists. Every tensor is used exactly once; missing
 * and left-over ones are named. On failure *m is untouched. */
bool text_model_load(Model *m, const char *path, ModelProgress progress, void *context, Err *err);
/* Does config.json there, or beside the file there, name a text model, be it one that is refused? False when there is
 * none or it can't be read. */
bool text_model_is(const char *path);
/* Writes the three files, of a model whose words a tokeniser cuts without the words; the folder must exist. */
bool text_model_save(const Model *m, const char *folder, Err *err);

/* --- texts --- */

/* Is a word put in front of what is written, and which? A decoder alone may do without. */
bool model_starts(const Model *m);
int model_start(const Model *m);

/* A text as numbers, with names for its axis: a word that comes twice is "the#2" the second time. Owned by its
 * arena. */
enum { WORDS_LEFT = 64 };
typedef struct Words {
    int *number;
    const char **label;
    int n;
    int *segment;              /* [n] of words_parse_pair, else NULL */
    char left_out[WORDS_LEFT]; /* the marks that stood in it and are no words of the vocabulary, each once */
    int cut;                   /* written by the model, which had not come to an end: so many words; else 0 */
    Arena arena;
} Words;
/* Splits at blanks. The vocabulary decides what a word is: what stands between blanks, or a mark (a stop, quote,
 * bracket, dash, apostrophe), if it is a word there. Else marks around words are passed over (left_out says which),
 * capitals are made small, ’ is ', and an elided word ("l'animal") or a hyphenated one is several. Every word must be
 * in the vocabulary: the message names those that are not, and for a single one the nearest that is. Words without
 * names are given by number. end: the word that means end is put behind, where words have names. */
bool words_parse(Words *w, const Vocabulary *v, const char *text, bool end, Err *err);
/* What of an input somebody typed as that text (TEXT_SOURCE, TEXT_TARGET); NULL where the model wrote it. In arena. */
const char *text_typed(const Model *m, const char *input, int text, Arena *arena);
/* The words of a text that a model writes, as they were typed, without the start: what is behind the > of both. */
bool text_begin(const Model *m, const char *typed, Words *out, Err *err);
/* Two texts in one row, as what an encoder reads: cut by the model's tokeniser, with what its template puts around and
 * between them, or by number (both begin with ids:), then as they are. segments: of the model's table. */
bool words_parse_pair(Words *w, const Vocabulary *v, const char *const text[2], int segments, Err *err);
/* From numbers: copied. */
void words_set(Words *w, const Vocabulary *v, const int *number, int n);
void words_free(Words *w);
/* Has a text nothing but numbers, in a list or behind id, ids or input_ids, and is no `ids:` that reads them? Where a
 * tokeniser cuts texts it is cut into digits. */
bool words_look_numbered(const char *text);
/* The words of a text, pad, start and end left out; no blank after an apostrophe. */
void words_text(const Vocabulary *v, const int *number, int n, Buf *out);
/* What a word adds to a text behind the word `before` (−1: none): " cat", "ing". Special ones as they are named. */
void words_piece(const Vocabulary *v, int before, int number, Buf *out);
void words_piece_line(const Vocabulary *v, int before, int number,
                      Buf *out); /* …in one line as byte_text_shown has it */
/* Bytes that those from number[first] on add to the text of all n; 0: no tokeniser says what text they are. */
size_t words_bytes(const Vocabulary *v, const int *number, int n, int first);
/* One surprise in its three units: "3.0968 nats a token = perplexity 22.13 = 1.915 bits a byte" (with the bytes of a
 * token, 0: not known). margin: half of its 95 % interval, NaN where none is said. */
void words_put_rate(double nats, double margin, double bytes, Buf *out);

/* Lines NAME = NODE|NODE …: what the modules of the model's own program are called and which node is what they give; of
 * a model from the hub, else none. */
void text_modules(const Model *m, Buf *out);

/* --- inside core/models only --- */

/* model_type of the program's own form. */
#define TEXT_MODEL_TYPE "encoder-decoder-transformer"
/* The settings of m from config.json in that form, and which words mean padding, start and end. False: no such model.
 */
bool text_config_read(Model *m, const Json *j, const char *path, Err *err);
/* Every setting, so that what is read again is the same model. */
void text_config_put(Buf *b, const Model *m);

/* The three forms of the Transformer beside one another, read off graphs that are built for it: what each attention
 * looks at and through which mask, and in which operations a block of one form differs from a block of another. Lines
 * of at most 78 cells, appended. m: of any form; the others are built at its sizes with
 * weights from a seed, for the wiring does not depend on them. */
void wiring_put(const Model *m, Buf *out);
#endif
