/* What differs between families of models: what they look at, and how a model and an input become a graph. One row per
 * family; whoever needs to know more asks the graph's anatomy and axes. */
#ifndef VITRINE_MODELS_FAMILY_H
#define VITRINE_MODELS_FAMILY_H
#include "core/graph/graph.h"
#include "core/models/model.h"

typedef enum InputKind {
    INPUT_NONE,
    INPUT_PICTURE,
    INPUT_TEXT,    /* one sequence of words or two, each as numbers with names */
    INPUT_MATRICES /* named matrices: a worked example, made into a graph without a model */
} InputKind;
const char *input_kind_name(InputKind k); /* "picture", "text" … */

/* A row of words: their numbers in the vocabulary, and what each is called on an axis. */
typedef struct Text {
    const int *word;
    const char *const *label; /* [count]; NULL: words are called by their places */
    int count;
    const char *left_out; /* marks that were typed and are none of its words; NULL: none */
    const int *segment;   /* [count] which of several texts a word is of; NULL: there is one */
    int asked;            /* the place of its first mask, a word that is asked for, from 1; 0: none */
    int cut;              /* the model wrote so many words and had not come to an end; 0: it had, or was not asked */
} Text;
enum { TEXT_SOURCE, TEXT_TARGET, TEXTS };

/* What a model is built for. Nothing is owned; all of it must outlive the graph. */
typedef struct ModelInput {
    InputKind kind;
    /* INPUT_PICTURE */
    const float *values;
    bool ready;          /* values that somebody else standardised */
    const float *object; /* [places]: 1 where the object is known to be, or NULL */
    /* INPUT_TEXT; a text that the model has no use for has no words */
    Text text[TEXTS];
} ModelInput;

/* A fact of a model: its key for programs and for people, and one line. */
typedef void (*FactFn)(void *context, const char *key, const char *label, const char *text);

/* The pictures that a model takes, and how they are cut. */
typedef struct PictureGrid {
    int channels, height, width;         /* in pixels */
    int patch_h, patch_w, rows, columns; /* of a patch in pixels; patches */
    int classes;                         /* that its answer names; 0: none */
    bool ready;                          /* it takes values that somebody else standardised */
    int prefix;                          /* tokens in front of the patches */
    bool class_token;                    /* …is the first of them the class token? */
    bool class_read;                     /* …and is the answer read from it? */
    bool fitted;                         /* its positions were learned on another grid and are fitted to this one … */
    VitFit fit;                          /* … in this way */
} PictureGrid;

typedef struct Family {
    const char *name; /* "Vision Transformer" */
    InputKind input;
    /* Appends the model with its anatomy, and the analyses behind it. The input is one that the model takes: its maker
     * checked it. */
    void (*build)(const Model *m, Graph *g, const ModelInput *in);
    /* Several pictures at once, over an axis b in front, without the analyses: in->values has one behind the other.
     * NULL: one after the other. */
    void (*build_batch)(const Model *m, Graph *g, const ModelInput *in, int pictures);
    /* Numbers to words: `spec` as the user gave it (NULL: the family's first) to texts in an arena. NULL where the
     * input is no text. */
    bool (*read_text)(const Model *m, const char *spec, Arena *arena, Text out[TEXTS], Err *err);
    /* What a reader may want to know of a model, fact by fact. */
    void (*facts)(const Model *m, FactFn put, void *context);
    size_t (*params)(const Model *m);
    /* How many places for weights there are, and the i-th of them in the order of the block; false: no weight there. */
    size_t (*places)(const Model *m);
    bool (*place)(const Model *m, size_t i, WeightPlace *p);
    /* What the graph calls it. */
    void (*weight_path)(const Model *m, const WeightPlace *p, char *out, size_t n);
    /* Is the checkpoint at path one of this family's? Cheap; a wrong yes is told apart by load. NULL: what no other
     * family claims. */
    bool (*claims)(const char *path);
    bool (*load)(Model *m, const char *path, ModelProgress progress, void *context, Err *err);
    bool (*save)(const Model *m, const char *dir, Err *err);
    void (*free)(Model *m);          /* m->data and what it holds; NULL where there is none */
    unsigned (*way)(const Model *m); /* model_way; NULL: 0 */
    bool by_attention;               /* attentions are told apart by stack and number, not by their block alone */
    void (*wiring)(const Model *m, Buf *out); /* model_wiring; NULL: its forms are not drawn */
    PictureGrid (*grid)(const Model *m);      /* NULL: it takes no pictures */
    bool equations;                           /* model_equations */
} Family;

/* For a family's facts: one of them, as printf has it. */
typedef struct FactSink {
    FactFn put;
    void *context;
} FactSink;
void fact_put(const FactSink *f, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

extern const Family FAMILY_VIT, FAMILY_TEXT;

/* Reads a checkpoint of whichever family it is. On failure *m is untouched. */
bool family_load(Model *m, const char *path, ModelProgress progress, void *context, Err *err);
/* The same, taking a picture model whose architecture is not known by name for a plain ViT. */
bool family_load_assuming(Model *m, const char *path, ModelProgress progress, void *context, Err *err);

/* Its way with words: MODEL_READS, a text is read at once (an encoder alone); MODEL_WRITES, one word after the other (a
 * decoder alone); or both. 0: it has none that decoding (decode.h) knows; so of NULL. */
enum { MODEL_READS = 1, MODEL_WRITES = 2 };
unsigned model_way(const Model *m);
/* The text that it is given first, TEXT_SOURCE or TEXT_TARGET: what it reads, or where it only writes, what it carries
 * on; and the words of that. */
int model_given(const Model *m);
const Vocabulary *model_vocabulary(const Model *m);

/* Are its equations written a second time (direct.h), and mistakes in them tried (core/diff)? */
bool model_equations(const Model *m);

/* What it takes for a picture; no rows where it takes none, and of NULL. */
PictureGrid model_grid(const Model *m);
int grid_patches(const PictureGrid *g);
size_t grid_values(const PictureGrid *g); /* of a picture: channels · height · width */
/* The same for what needs one: false, "this is for picture models …". */
bool model_grid_needed(const Model *m, PictureGrid *g, Err *err);

/* Its attentions and blocks beside those of the other forms of its family, in lines; false: it has no such. */
bool model_wiring(const Model *m, Buf *out, Err *err);

/* A picture model's configuration; NULL for a model of another family, or for none. */
const VitConfig *model_vit(const Model *m);
const Seq2seqConfig *model_text(const Model *m); /* the same of a model of words */
#endif
