/* Writing one word at a time: greedy choice, beam search, sampling. Every step is a graph of its own, over the words so
 * far, and its run is kept: what the screen shows of a step is what the step computed. With the cache a step computes
 * the newest token alone and reads the keys and values of those before it from their own runs; the words, scores and
 * every cell that both ways compute are the same bits. */
#ifndef VITRINE_MODELS_DECODE_H
#define VITRINE_MODELS_DECODE_H
#include "core/base/buf.h"
#include "core/base/pool.h"
#include "core/base/rng.h"
#include "core/graph/edit.h"
#include "core/graph/run.h"
#include "core/models/text_model.h"

enum { DECODE_WIDTH_MAX = 64, DECODE_WORDS_MAX = 4096 };

typedef enum DecodeKind {
    DECODE_GREEDY, /* the word with the largest share, every time */
    DECODE_BEAM,  /* the `width` best beginnings are carried on side by side (Graves 2012); ended ones leave the beam */
    DECODE_SAMPLE /* a word is drawn by its share */
} DecodeKind;

/* Changes in force while a text is written. Where they name a token of what is written, it is counted as in `of`: the
 * graph that they were made for, of the same model and a text that begins alike. */
typedef struct DecodeEdits {
    const Edit *edit;
    int count;
    const Graph *of;
} DecodeEdits;

typedef struct DecodeOptions {
    DecodeKind kind;
    int most; /* words at most, with the end; ≥ 1 */
    bool cache;
    bool forget;        /* only the newest steps keep their graphs and runs, with an encoder the first too; with the
                           cache, where one beginning is alive, of what is given but the last word keys and values
                           alone are computed */
    size_t memory;      /* bytes of the steps' values at most (run_budget), weights and what is kept for the next step
                            not counted; 0: no limit */
    int width;          /* DECODE_BEAM: 1 … 64 */
    double alpha;       /* DECODE_BEAM: score = log share / ((5 + words) / 6)^alpha (Wu et al. 2016, equation 14) */
    double temperature; /* DECODE_SAMPLE: logits are divided by it; 0: greedy */
    int top_k;          /* DECODE_SAMPLE: of so many words with the largest shares; 0: of all */
    double top_p;  /* DECODE_SAMPLE: …of the fewest that together have this share (Holtzman et al. 2020); 1: all */
    uint64_t seed; /* DECODE_SAMPLE: the n-th word of a text has the n-th number, so it is written on as it was begun */
    const int
        *begin; /* [begin_n]: with an encoder, how the answer begins, without the start; must outlive the search */
    int begin_n;
    DecodeEdits edits; /* must outlive the search; count 0: the model as trained */
} DecodeOptions;
/* Greedy, 64 words, cached; a beam would be 4 wide with alpha 0.6, a sample at temperature 1. */
DecodeOptions decode_options_default(void);
bool decode_options_check(const DecodeOptions *o, Err *err);

/* What left a word out of a draw. */
typedef enum DecodeRule { DECODE_DRAWABLE, DECODE_TOP_K, DECODE_TOP_P } DecodeRule;

/* A word that could be drawn next. */
typedef struct DecodeChoice {
    int word;
    float share;  /* at temperature 1, among all: the trace's own */
    double drawn; /* the probability that it is drawn with; 0 where a rule left it out */
    DecodeRule out;
} DecodeChoice;

/* What a word was drawn from. */
enum { DECODE_CHOICES = 24 };
typedef struct DecodeDraw {
    DecodeChoice choice[DECODE_CHOICES]; /* [count]: those with the largest logits, largest first */
    int count;
    double taken;           /* the probability that the drawn word was drawn with: it may stand further down */
    int words, top_k, left; /* how many there were, how many of them top-k left, and how many of these top-p */
} DecodeDraw;

/* A word that a greedy choice passed over. */
enum { DECODE_RIVALS = 3 };
typedef struct DecodeRival {
    int word;
    double share; /* among all */
} DecodeRival;

/* A word that was written: a node of the tree of beginnings. Number 0 is the start. */
typedef struct DecodeNode {
    int word, parent;       /* −1 for the start */
    int length;             /* words from the start to here, the start not counted */
    double share;           /* of this word among all, by the step before */
    double log_share;       /* log of the product of all shares so far */
    double score;           /* what the beam compares: log_share by the length penalty */
    bool ended;             /* it is the end, or the text was cut here */
    bool cut;               /* it ended because no more words were allowed: the model had not come to an end */
    bool forced;            /* the vocabulary says which word stands here: it takes nothing off log_share */
    const DecodeDraw *draw; /* what the word behind it was drawn from; NULL: none was drawn */
    DecodeRival rival[DECODE_RIVALS]; /* [rivals]: next to the word behind it, where that was the largest; largest
                                         first */
    int rivals;
    /* The step that read this beginning and says what may follow; run NULL where it was never carried on, or forgotten.
     */
    Graph *graph;
    Run *run;
    Seq2seqNodes nodes;
    Graph *plain; /* what graph is an edited copy of; NULL without changes */
    Run *plain_run;
} DecodeNode;

/* What was computed, all steps together. */
typedef struct DecodeCost {
    double multiply_adds; /* of contractions */
    double bytes;         /* of values computed */
    double cache_bytes;   /* the most that keys and values kept for later took; 0 without the cache */
    int steps;
} DecodeCost;

typedef struct Decode {
    DecodeNode *node; /* [count]: parents stand before their children */
    int count;
    size_t cap;
    int best;  /* the node at which the best text ends */
    int *word; /* [length]: that text, without the start, with the end where one was written */
    int length;
    DecodeCost cost;
    size_t needed; /* of options.memory, where a step held more than its share: what would have been enough */
    bool stopped;  /* decode_run's progress ended it: the text is the best of what was written by then */
    bool anew;     /* a change reaches other rows than its own: from there on nothing is kept, whatever `cache` says */
    Graph source;  /* the encoder and its run; run NULL in a decoder alone */
    Run *source_run;
    Seq2seqNodes source_nodes;
    Graph plain_source; /* as in DecodeNode */
    Run *plain_source_run;
    Words read;  /* the source, with its labels */
    Arena arena; /* what the graphs of the steps read */
} Decode;

/* source: numbers of words (with the end, where the model was trained so), n ≥ 1; in a decoder alone the beginning that
 * is carried on, n ≥ 0. m and pool must outlive the result. progress (may be NULL) hears the words so far, several
 * times a second, and returns false to stop. False with err: the text is too long for the model, or it was stopped;
 * then d holds what was written by that time, if anything was (length > 0). */
bool decode_run(Decode *d, const Model *m, const int *source, int n, const DecodeOptions *o, Pool *pool,
                bool (*progress)(void *context, int words), void *context, Err *err);
void decode_free(Decode *d); /* zeroed allowed */
/* The words that a model can write at most after that source or beginning: as many as it takes, and one more, since the
 * last is not read. Less than 1: the beginning is too long already. */
int decode_room(const Model *m, int n);
/* Was the best text cut at DecodeOptions.most words, before the model had come to an end by itself or was stopped? */
static inline bool decode_cut(const Decode *d)
{
    return d->node[d->best].cut && !d->stopped;
}

/* The same, a step at a time. */
typedef struct Decoder Decoder;
typedef enum DecoderState { DECODER_MORE, DECODER_DONE, DECODER_FAILED } DecoderState;
/* o is copied. NULL with err: the text is none for that model. */
Decoder *decoder_new(const Model *m, const int *source, int n, const DecodeOptions *o, Pool *pool, Err *err);
void decoder_free(Decoder *x); /* NULL is allowed */
/* Reads one beginning more, and after the last of a length chooses what is carried on. */
DecoderState decoder_step(Decoder *x, Err *err);
/* Bytes of values that its runs hold now. */
size_t decoder_held(const Decoder *x); /* NULL: 0 */
/* What there is so far; best and word are set when it is done. */
const Decode *decoder_text(const Decoder *x);

/* --- inside core/models only: choosing --- */

/* A word that could follow a beginning. */
typedef struct DecodeCandidate {
    int parent, word;
    double share, log_share;
    bool forced;
} DecodeCandidate;

/* Puts c into the list of the `most` best, best first. */
void decode_offer(DecodeCandidate *list, int *n, int most, DecodeCandidate c);
/* A word drawn by its share: logit[words] over the temperature, the largest top_k of them, of these the fewest with
 * top_p; p[words]: the shares at temperature 1. Returns it, and in out what it was drawn from; −1: some logit is not a
 * number. */
int decode_draw(DecodeDraw *out, const float *logit, const float *p, const bool *may, int words, const DecodeOptions *o,
                Rng *rng);

/* --- inside core/models only: changes made for one pass (core/graph/edit.h), in a step of writing --- */

/* Does every change fit a step that computes the newest token alone: is its node there, and is what it does to a row of
 * tokens the same however long the text is? Otherwise keys and values must not be kept. */
bool decode_edits_fit(const DecodeEdits *e, const Graph *step);
/* The step under the changes; out must be zeroed. first: the token that its first row is (0: it has all rows). Those of
 * another stack are left out. False with err: a change can't be made in a text that grows. */
bool decode_edits_make(const DecodeEdits *e, const Graph *step, int first, Graph *out, Err *err);
#endif
