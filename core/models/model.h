/* A model that is ready to be shown: its family, configuration, weights, what must be done to a picture, names of the
 * answers, and what had to be assumed because the checkpoint does not say it. */
#ifndef VITRINE_MODELS_MODEL_H
#define VITRINE_MODELS_MODEL_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/models/preprocess.h"
#include "core/models/seq2seq.h"
#include "core/models/vit.h"

/* Cuts texts into the words of a vocabulary and puts them together again: what a model's folder brings for it. Whoever
 * reads files fills it in, so that a program without files has none of it. */
typedef struct Cutter {
    struct Tokenizer *own;
    /* At most `most` numbers of a text, *n of them; where there are more, false without a message, and *n says how many
     * there are, else 0 on failure. left[size]: the characters that no piece stands for, each once, as
     * many as fit; "" where there are none; may be NULL. */
    bool (*cut)(const struct Tokenizer *own, const char *text, int most, int *number, int *n, char *left, size_t size,
                Err *err);
    /* The same of two texts in one row, and which of the model's segments each number belongs to. */
    bool (*cut_pair)(const struct Tokenizer *own, const char *const text[2], int most, int *number, int *segment,
                     int *n, Err *err);
    void (*join)(const struct Tokenizer *own, const int *number, int n, Buf *out);
    void (*free)(struct Tokenizer *own);
} Cutter;

enum { VOCABULARY_ALSO = 7 };
/* Words by number. pad, start and end are numbers of words that stand for no word of a text, or −1. */
typedef struct Vocabulary {
    const char *const *word; /* [n]; NULL: words are called by their numbers */
    int n, pad, start, end;
    /* What a model of both stacks must write first, and last where its text is cut: a word's number + 1; 0: anything */
    int first, last;
    int longest;               /* tokens of a text that its model takes; 0: not known */
    const Cutter *cutter;      /* NULL: words stand between blanks */
    int also[VOCABULARY_ALSO]; /* other words that end a text, a word's number + 1; 0: none */
    /* [n]; of byte-level BPE, whose words are called after their text: as its file stores them; else NULL */
    const char *const *piece;
} Vocabulary;

/* The words as the model's files have them; NULL: they have no names. */
static inline const char *const *vocabulary_stored(const Vocabulary *v)
{
    return v->piece ? v->piece : v->word;
}

/* Does that word end a text? */
static inline bool vocabulary_ends(const Vocabulary *v, int word)
{
    bool ends = word == v->end;
    for (int i = 0; i < VOCABULARY_ALSO; i++)
        ends = ends || v->also[i] == word + 1;
    return ends && word >= 0;
}

/* Of a text that was cut: why it has no end. */
static inline const char *vocabulary_endless(const Vocabulary *v)
{
    bool has = v->end >= 0;
    for (int i = 0; i < VOCABULARY_ALSO; i++)
        has = has || v->also[i] > 0;
    return has ? "the model had not come to an end" : "this model has no end word";
}

/* What pictures that a model learned from look like behind one of its blocks (probe_picture.c). */
typedef struct ModelSeen {
    int block;
    const float *mean, *metric; /* [width], [width, width]; mean NULL: not known */
    float limit;                /* 95 % of the held-out ones are nearer than that */
} ModelSeen;

typedef struct Model {
    const struct Family *family; /* family.h; NULL: there is no model */
    void *data;                  /* what a family outside this folder keeps, and frees */
    const char *name;            /* "shapes-vit", or the folder's or file's name */
    const char *layout;          /* "Hugging Face ViT", "timm", "torchvision", "seeded", "bundled" */
    VitConfig vit;               /* of a Vision Transformer: model_vit (family.h) */
    Seq2seqConfig text;          /* of a text model: model_text */
    Vocabulary source, target;   /* …the target's alone in a decoder, the source's alone in an encoder */
    Weights weights;
    Preprocess preprocess;
    const char *const *class_names; /* [classes], or NULL */
    const char **assumptions;       /* lines: what the files do not say and was taken for granted */
    int assumption_count;
    int guesses;            /* …of them those that another value would change the answer of: they stand first */
    const char *guess_note; /* "3 things are assumed (info)", for where the answer stands, or NULL */
    bool trained;           /* false: weights from a seed; its predictions mean nothing */
    bool drawn_shapes;      /* was made for drawn shapes: about any other picture its answer means nothing */
    ModelSeen seen;         /* in arena */
    Cutter *cutter;         /* of the target, in arena, or NULL */
    int text_limit;         /* tokens of a text that its own program reads, where the model takes more; 0: all */
    float *block;           /* all weights, one allocation */
    size_t block_cells;
    Arena arena; /* strings and tables */
} Model;

/* Called now and then while a model is read: done of total bytes. False cancels. */
typedef bool (*ModelProgress)(void *context, uint64_t done, uint64_t total);

/* Reads a checkpoint. path is a folder (model.safetensors, config.json, perhaps preprocessor_config.json) or a
 * .safetensors file (config.json beside it is used when present). Every tensor of the file is used exactly once or
 * known to be of no use; missing and left-over ones are named. On failure *m is untouched. progress may be NULL. */
bool model_load(Model *m, const char *path, ModelProgress progress, void *context, Err *err);
/* The same, but a model whose architecture is not known by name is taken for a plain ViT: a guess (model_guess), said
 * where the answer stands. */
bool model_load_assuming(Model *m, const char *path, ModelProgress progress, void *context, Err *err);
/* The same of a folder that is in memory, a model in the binary: its layout is "bundled". */
typedef struct ModelBytes {
    const void *data;
    size_t size;
} ModelBytes;
typedef struct ModelFiles {
    const char *name;
    ModelBytes weights, config, processor; /* model.safetensors, config.json, preprocessor_config.json */
    ModelBytes seen;                       /* seen.safetensors; data NULL: not known */
} ModelFiles;
bool model_load_files(Model *m, const ModelFiles *files, Err *err);
/* The model in the binary that names shapes: weights is the asset "shapes-vit.f32" (every weight in role order, block
 * by block). Cannot fail for the asset of the same build; false and err when the size is another. */
bool model_bundled(Model *m, const void *weights, size_t bytes, Err *err);
VitConfig model_bundled_config(void);
enum { MODEL_BUNDLED_CLASSES = 10 };

/* Weights from a seed, the same on every machine; attention sharp enough for rows to differ. c passed vit_check. */
void model_seeded(Model *m, const VitConfig *c, uint64_t seed);
/* One weight of such a model alone, w->cells floats: for writing a model too large to be held. */
void weight_seeded(const WeightPlace *w, uint64_t seed, float *out);
/* The same for any family: model_alloc, and all weights. */
void model_fill_seeded(Model *m, const struct Family *family, uint64_t seed);
/* *m is *is with weights from the binary, each in the order of model_weight, without gaps. False, m untouched, when the
 * size is another: err says so of `what`. */
bool model_fill_bundled(Model *m, const Model *is, const struct Family *family, const char *what, const void *weights,
                        size_t bytes, Err *err);
/* "tiny", "b16", "l16", "h14": configurations of the paper (tiny: 32 × 32, for tests). False when there is no such
 * size. */
bool model_size(const char *size, VitConfig *c);

/* The model for pictures of another size: its position table is fitted to their grid, its preparation yields them.
 * False, m untouched, where that is no whole number of patches or too large. */
bool model_fit(Model *m, int height, int width, Err *err);

/* Goes through the weights in the order of the block: for (WeightPlace w = {0}; model_weight(m, &w);). */
bool model_weight(const Model *m, WeightPlace *w);
/* Room for all weights in m->block, m->weights pointing into it in that order. */
void model_alloc(Model *m, const struct Family *family);
/* The same with some weights in 16 bits: form says which, before there is any. */
typedef LeafForm ModelForm(void *context, const WeightPlace *w);
bool model_alloc_stored(Model *m, const struct Family *family, ModelForm *form, void *context, Err *err);
/* Notes a line in m->assumptions. A guess is one that the answer depends on: m->guess_note counts them. */
void model_assume(Model *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void model_guess(Model *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void model_free(Model *m); /* accepts a zeroed Model */

/* Writes dir/model.safetensors and dir/config.json (Hugging Face names, plus head_dim and the knobs that family lacks,
 * as keys of their own) and dir/preprocessor_config.json. The folder must exist. */
bool model_save(const Model *m, const char *dir, Err *err);
/* The same for weights that are made one at a time: fill writes one weight's cells. NULL: the model has them. */
typedef void (*ModelFill)(void *context, const WeightPlace *w, float *out);
bool model_save_filled(const Model *m, const char *dir, ModelFill fill, void *context, Err *err);

/* A number that tells models apart: by family, settings, what is done to a picture first, names of classes and every
 * weight; not by where the files lie. Equal ones show equal models as far as 64 bits can; it is no signature. Reads all
 * weights once. */
uint64_t model_digest(const Model *m);
#endif
