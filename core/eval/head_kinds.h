/* Which heads of a text model are of the kinds that are known by name, measured on texts of random tokens, in which
 * nothing but the place and the repetition can be looked for: induction heads, previous-token heads, and heads whose
 * weight sinks into the first token (Elhage et al. 2021, Olsson et al. 2022; Xiao et al. 2023 for sinks). Each share
 * is a mean over the texts with its interval, beside what uniform attention gives, and beside a control, so that no
 * head gets a name for its place alone. */
#ifndef VITRINE_EVAL_HEAD_KINDS_H
#define VITRINE_EVAL_HEAD_KINDS_H
#include "core/base/interval.h"
#include "core/base/pool.h"
#include "core/eval/dataset.h"
#include "core/graph/graph.h"
#include "core/models/model.h"
#include "core/models/text_model.h"

/* A share of a token's attention weight. A text is HEAD_KINDS_TOKENS tokens (fewer where the model reads or has fewer),
 * all different and none of them special, between the model's own special tokens; what a decoder reads is these twice.
 */
typedef enum HeadKind {
    HEAD_INDUCTION, /* decoder: of a token of the second half, on the token behind its first occurrence. Control: the
                       same places in the same text with its second half shuffled */
    HEAD_PREVIOUS,  /* on the token before. Control: on the one before that */
    HEAD_NEXT,      /* encoder: on the token behind. Control: on the one behind that */
    HEAD_SINK,      /* on the special tokens, on the first token where there are none. Control: on as many tokens right
                       behind the first ones */
    HEAD_KINDS
} HeadKind;

enum {
    HEAD_KINDS_TEXTS = 50,
    HEAD_KINDS_TOKENS = 25,
    HEAD_KIND_POINTS = 10, /* of a kind: so far over what is uniform and over the control */
    HEAD_KINDS_LEAST = 4,
    HEAD_KINDS_AROUND = 16,
    HEAD_KINDS_WORDS = 2 * HEAD_KINDS_TOKENS + 2 * HEAD_KINDS_AROUND
};

/* Arrays by attention (anatomy_attention) and head. */
typedef struct HeadKindsResult {
    size_t texts;                  /* so far */
    int attentions, heads, tokens; /* tokens: of a text, without repetition and special ones */
    bool (*applies)[HEAD_KINDS];   /* [attentions] can a head of it be of that kind? Its window may end before */
    double (*uniform)[HEAD_KINDS]; /* [attentions] the same share where all that may be looked at weighs the same */
    struct HeadRows {
        int first, last;
    } (*rows)[HEAD_KINDS];         /* [attentions] each is a mean over these tokens of a text, counted from 0 */
    MeanOver (*share)[HEAD_KINDS]; /* [attentions, heads] */
    MeanOver (*control)[HEAD_KINDS];
    int nan;          /* the first attention whose weights are NaN; attentions: only the logits are; −1: neither */
    MeanOver *copies; /* [attentions, heads] of a decoder's own attention, where the answer is a ledger's: what the head
                         would write by looking at the token behind the first occurrence raises that token above the
                         text's other ones; the share of the first half's other tokens that raise it less. By chance
                         0.5. mean NaN: not measured */
} HeadKindsResult;

typedef struct HeadKinds HeadKinds;

/* model, which reads texts, and pool must outlive it. NULL with err where its texts are too short. */
HeadKinds *head_kinds_new(const Model *model, size_t texts, Pool *pool, Err *err);
void head_kinds_free(HeadKinds *k);                           /* NULL is allowed */
bool head_kinds_step(HeadKinds *k, int64_t deadline_ns);      /* true when done */
size_t head_kinds_done(const HeadKinds *k);                   /* texts */
const HeadKindsResult *head_kinds_result(const HeadKinds *k); /* NULL before two texts are done */
/* The numbers of a text, for whoever measures it again: what the encoder reads, or the decoder, with its second half
 * shuffled or not. Returns how many; 0: the model has none. */
int head_kinds_text(const HeadKinds *k, bool target, size_t text, bool shuffled, int word[HEAD_KINDS_WORDS]);
/* Does that attention of a decoder read its text twice? One whose window is too short for induction does too. */
bool head_kinds_twice(const HeadKindsResult *r, int attention);
/* Is that head of the kind? Its share less its interval is above uniform and above the control with its interval, by a
 * tenth of the weight at least. */
bool head_kinds_is(const HeadKindsResult *r, int cell, HeadKind kind);
const char *head_kind_word(HeadKind kind);    /* "induction" */
const char *head_kind_about(HeadKind kind);   /* "on the token behind the first occurrence of its own" */
const char *head_kind_control(HeadKind kind); /* what the control is */

/* Where every head looks, over many pictures or sentences of a translator: how far, and how a token's weight is spread
 * over places as seen from it; each mean with its interval over the inputs, beside what a head would show that gives
 * all it may look at the same weight. */

/* What is looked at, as seen from a patch that asks. Every token is in one of them. */
typedef enum HeadPlace {
    PLACE_ITSELF,
    PLACE_NEIGHBOURS, /* the patches that touch it, corners too: at most 8 */
    PLACE_ROW,        /* farther along its row of the grid */
    PLACE_COLUMN,
    PLACE_PREFIX, /* tokens without a place: the class token, registers */
    PLACE_FARTHER,
    HEAD_PLACES
} HeadPlace;

/* …from the place of a word; in cross-attention by its number in the other text. */
typedef enum WordPlace {
    WORD_ITSELF, /* the same place */
    WORD_BEFORE, /* the one before */
    WORD_AFTER,
    WORD_MARK, /* the start or the end, where it is none of these */
    WORD_FARTHER,
    WORD_PLACES
} WordPlace;

/* Attentions are a picture model's blocks; of a translator those of anatomy_attention. */
typedef struct HeadPlacesResult {
    size_t inputs;                  /* pictures, or sentences */
    int attentions, heads, places;  /* places: HEAD_PLACES, or WORD_PLACES */
    MeanOver *distance;             /* [attentions, heads] in pixels, or words; a mean over the tokens that ask */
    MeanOver (*share)[HEAD_PLACES]; /* [attentions, heads]; the shares add up to 1 */
    double *uniform;                /* [attentions] the same where all that may be looked at gets the same weight */
    double (*even)[HEAD_PLACES];    /* [attentions] */
} HeadPlacesResult;

typedef struct HeadPlaces HeadPlaces;

/* graph: the model's for one input, with probes. model (of sentences: dataset_unsuited_sentences), dataset and pool
 * must outlive it. NULL with err if the model has no heads that look at patches. */
HeadPlaces *head_places_new(const Model *model, const Graph *graph, Dataset *dataset, Pool *pool, Err *err);
void head_places_free(HeadPlaces *h);                            /* NULL is allowed */
bool head_places_step(HeadPlaces *h, int64_t deadline_ns);       /* true when done */
size_t head_places_done(const HeadPlaces *h);                    /* inputs */
const HeadPlacesResult *head_places_result(const HeadPlaces *h); /* NULL before it is done */
/* The place that gets most beyond what equal weights would give it; r->places where none gets more by at least its
 * margin and a fiftieth of the weight. */
int head_places_most(const HeadPlacesResult *r, int cell);
#endif
