/* A model put through its paces: how many pictures it names right, as trained and with one thing after the other taken
 * away, and what its attention does meanwhile. */
#ifndef VITRINE_EVAL_EVALUATION_H
#define VITRINE_EVAL_EVALUATION_H
#include "core/base/interval.h"
#include "core/base/pool.h"
#include "core/eval/ablation.h"
#include "core/eval/batch_run.h"
#include "core/eval/dataset.h"
#include "core/graph/edit.h"
#include "core/models/model.h"
#include "core/models/probe_positions.h"
#include "core/train/sentences.h"

/* --- an examination --- */

/* An examination: a model, as trained or edited, names many pictures, or translates many sentences. A little at a time,
 * in as many threads as there are; the result does not depend on how many. */

typedef struct AccuracySetup {
    const Model *model;
    const Edit *edits; /* as made for one input (batch_run.h) */
    int edit_count;
    const Graph *graph;           /* which the edits were made for; NULL without edits */
    Dataset *dataset;             /* suits the model (dataset_suits) */
    bool other;                   /* the read-out that the model does not use, too */
    Pool *pool;                   /* may be NULL */
    bool keeps;                   /* what others may begin at is kept, where it is not too much; not with edits */
    size_t keep_most;             /* bytes; 0: 256 MB. What needs more is not kept */
    const struct Accuracy *front; /* done, with `keeps`, of the same model and dataset; NULL: from the input on */
} AccuracySetup;

/* Complete when the exam is done. Sentences count as pictures of two classes: label 1 for each, named 1 where no word
 * is wrong. */
typedef struct AccuracyResult {
    size_t pictures, right;
    bool has_other;
    size_t other_right; /* by the read-out that the model does not use */
    MeanOver loss;      /* cross entropy in nats; 0 of sentences */
    int classes;
    size_t *confusion;  /* [true class, class named] */
    int *label, *named; /* [pictures] */
    int *other_named;   /* [pictures], or NULL */
    float *sure;        /* [pictures] the probability of the class named; 0 of sentences */
} AccuracyResult;

typedef struct Accuracy Accuracy;

/* model, dataset and pool must outlive it; the rest of the setup need not. NULL with err when an edit names what the
 * model lacks. */
Accuracy *accuracy_new(const AccuracySetup *setup, Err *err);
void accuracy_free(Accuracy *e); /* NULL is allowed */
/* Works until the deadline (clock_ns), at least one batch. True when done. One exam of a dataset at a time. */
bool accuracy_step(Accuracy *e, int64_t deadline_ns);
size_t accuracy_pictures_done(const Accuracy *e);
const AccuracyResult *accuracy_result(const Accuracy *e); /* NULL before it is done */
/* Pictures by the probability of the answer: bin i has those of at least ACCURACY_SURE[i], and less than the one
 * before. */
enum { ACCURACY_SURES = 5 };
extern const float ACCURACY_SURE[ACCURACY_SURES];
typedef struct AccuracySure {
    size_t right, pictures;
} AccuracySure;
void accuracy_by_sure(const AccuracyResult *r, AccuracySure out[ACCURACY_SURES]);
double accuracy_share(const AccuracyResult *r); /* named right, 0 … 1 */
double accuracy_share_other(const AccuracyResult *r);
size_t accuracy_of_class(const AccuracyResult *r, int label,
                         size_t *right); /* pictures of that class; *right of them named right */

/* --- attention over many inputs --- */

/* What attention does, over many pictures: how far heads look, how evenly, and whether at the object. The quantities
 * are the nodes of probes.h; the means over pictures are made in double, in the pictures' order. */

/* Patches that the object covers to more than this share of their area are the object's. */
#define SURVEY_COVER 0.08

typedef struct AttentionStatsSetup {
    const Model *model;
    const Edit *edits; /* as made for one picture */
    int edit_count;
    const Graph *graph; /* the model's for one picture, with probes: which the edits were made for */
    Dataset *dataset;
    size_t most; /* of its pictures, the first ones; 0: all */
    Pool *pool;
} AttentionStatsSetup;

/* Means over the pictures, each with its margin. [layers, heads] arrays: */
typedef struct AttentionStatsResult {
    size_t pictures;
    int layers, heads;
    MeanOver *distance; /* attention distance in pixels */
    MeanOver *entropy;  /* of a row, divided by ln(tokens); NaN where there is one token */
    MeanOver *largest;  /* largest weight of a row */
    double uniform,
        maximal;        /* the distance of a head that looks at all patches alike; of one that looks as far as it can */
    size_t *lens_right; /* [1 + layers] pictures that the logit lens names right before the first block and after each;
                            NULL where the model has no lens */
    bool objects;       /* are the masks known? else what follows is 0 */
    size_t seen;        /* pictures with an object's patch; the shares below are over these */
    MeanOver area;      /* share of the patches that are the object's: what looking at all patches alike would give */
    MeanOver covered;   /* share of the pixels that the object covers */
    MeanOver rollout;   /* share of the last rollout's weight over the patches that is on the object's */
    size_t rollout_peak; /* pictures whose heaviest patch is the object's */
    MeanOver *
        read; /* [heads] share of the reading token's weight over patches in the last block; NULL without class token */
    /* What maps that know nothing of the model would give: */
    MeanOver fixed;     /* the mean of all pictures' rollouts, the same for each picture */
    MeanOver bright;    /* every patch by how much brighter than the picture's mean it is, 0 where it is darker */
    size_t fixed_peak;  /* pictures in which the patch that is the object's most often is the object's */
    size_t bright_peak; /* pictures whose brightest patch is the object's */
} AttentionStatsResult;

typedef struct AttentionStats AttentionStats;

/* Has it the analyses that this is made of? */
bool attention_stats_has(const Graph *g);
/* model, dataset and pool must outlive it; the rest of the setup need not. NULL with err when an edit names what the
 * model lacks. */
AttentionStats *attention_stats_new(const AttentionStatsSetup *setup, Err *err);
void attention_stats_free(AttentionStats *s);                      /* NULL is allowed */
bool attention_stats_step(AttentionStats *s, int64_t deadline_ns); /* true when done */
size_t attention_stats_pictures_done(const AttentionStats *s);
const AttentionStatsResult *attention_stats_result(const AttentionStats *s); /* NULL before it is done */

/* Which patches are the object's: object[p] 1 or 0, from mask[y,x]. Returns how many. */
size_t attention_stats_object(const VitConfig *c, const uint8_t *mask, uint8_t *object);

/* --- the evaluation --- */

/* What rollout says of models that never learned anything: weights as training begins with them, from several seeds,
 * each over the first RANDOM_PICTURES pictures. The base rate of what it says of the model; how far it depends on the
 * seed is more than what the number of pictures leaves open. */
enum { RANDOM_SEEDS = 10, RANDOM_PICTURES = 1000 };
typedef struct RandomWeights {
    size_t pictures; /* looked at per seed; 0 where no objects are known */
    size_t seen;     /* with an object's patch */
    double rollout[RANDOM_SEEDS];
    size_t peak[RANDOM_SEEDS]; /* of those seen: the heaviest patch is the object's */
} RandomWeights;

/* Over the seeds. */
typedef struct RandomSpread {
    double mean, least, most;
} RandomSpread;
RandomSpread random_rollout(const RandomWeights *r);
RandomSpread random_peak(const RandomWeights *r); /* shares of those seen */

typedef struct Evaluation {
    size_t pictures;
    int layers, heads;
    Accuracy *trained; /* as trained, both read-outs; done */
    double accuracy;   /* of it: shares, 0 … 1, like all that follow */
    double scale_off;
    double positions_off;    /* NaN where no positions are added */
    double *head;            /* [layers, heads] with that head's z at 0 */
    double *attention, *mlp; /* [layers] with that sub-layer adding nothing */
    /* The same over the same pictures, against `trained`: what the difference is worth. */
    Paired scale_pair, positions_pair, other_pair; /* other: the read-out that the model does not use */
    Paired *head_pair, *attention_pair, *mlp_pair;
    AttentionStats *with, *without; /* attention as trained, and without the scale; done. NULL: no analyses of it */
    RandomWeights random;
    PositionGrid grid; /* of the position table, where has_grid */
    bool has_grid;
} Evaluation;

/* Called now and then; false cancels. */
typedef bool (*EvaluationProgress)(void *context, const char *what, double share);

/* Which places head layer·heads + h can have among all, 1: missed most; heads of no more than the noise share places.
 */
void evaluation_places(const Evaluation *e, int head, int *first, int *last);

/* The dataset suits the model. On failure (cancelled) nothing is to be freed. */
bool evaluation_run(Evaluation *e, const Model *m, Dataset *dataset, Pool *pool, EvaluationProgress progress,
                    void *context, Err *err);
void evaluation_free(Evaluation *e); /* accepts a zeroed one */

/* --- where taking the scale away shows most --- */

/* Finds, by measurement, the picture, block, head and query where taking the scale away most visibly collapses a row of
 * attention and changes the answer, the picture where it changes least, and the one in the middle, without which the
 * first would pass for the rule. Only rows that reach the answer count. */

typedef struct ScaleSearchRow {
    bool found;
    uint64_t number;                     /* of the picture in the program's own series: #17 */
    int label, with, without;            /* its class, the one named as trained, the one named without the scale */
    int layer, head, query;              /* query: token that asks */
    char pattern[96];                    /* path of that head's pattern */
    float entropy_with, entropy_without; /* of that row, in nats */
    double change;                       /* mean over all rows of the picture of |entropy as trained − without| */
} ScaleSearchRow;

typedef struct ScaleSearch {
    size_t pictures, changed; /* how many answers change */
    ScaleSearchRow
        collapse; /* named right as trained, another class without: the row with the largest drop in entropy */
    ScaleSearchRow
        steady; /* named right both times: the picture with the least change, and its row that changes least */
    ScaleSearchRow typical; /* the picture with the median change, whatever is named, and its row with the median drop
                               in entropy (of an even number the lower of the two in the middle) */
} ScaleSearch;

/* Pictures numbers[count]; the first of equals wins, in the order of pictures, blocks, heads, queries. The model is one
 * of drawn shapes. False when progress (may be NULL) returns false. */
bool scale_search_find(ScaleSearch *out, const Model *m, const uint64_t *numbers, size_t count, Pool *pool,
                       bool (*progress)(void *context, const char *what, double share), void *context, Err *err);

/* --- a translator --- */

/* How well the translator translates, and which of its heads knows what "it" stands for: measured over all minimal
 * pairs (core/train/sentences.h), found by the program, with the honest counterpart: what happens when that head is
 * switched off. */

/* A row of attention that could show the antecedent. */
typedef enum AskingRow {
    ASKS_PRONOUN,   /* encoder: the row of "it" */
    ASKS_ADJECTIVE, /* encoder: the row of what is said of it */
    ASKS_CHOICE     /* cross-attention: the row that chooses il or elle */
} AskingRow;
const char *asking_row_about(AskingRow r); /* "the row of the pronoun" */

/* One head at one kind of row, over the pairs. */
typedef struct HeadFound {
    char scope[48]; /* "decoder.blocks.2.cross_attn" */
    int head;
    AskingRow row;
    Tally subject, object, both; /* largest weight on the right noun: in the first sentence, the second, in both */
    double on_right, on_other;   /* mean weight on the noun that is meant and on the other */
} HeadFound;

/* What comes out of a model, as trained or with a head switched off. */
typedef struct PairFigures {
    Tally pronoun;   /* il or elle chosen rightly, given the right words before it; of 2 · pairs */
    Tally freely;    /* …given only what it wrote itself: the first il or elle that it writes */
    Tally agreement; /* the adjective's form as well */
    Tally exact;     /* whole sentence */
    Tally both;      /* pairs of which both sentences have no fault */
} PairFigures;

/* The same count over the same sentences with something switched off: what both got right or wrong says nothing. */
typedef struct TallyPair {
    Tally tally;
    Paired pair; /* against the model as trained */
} TallyPair;

enum { TRANSLATION_SETS = SENTENCE_SETS - 1, STAR_WORDS = SENTENCE_WORDS + 1 };

typedef struct Translation {
    Tally exact[TRANSLATION_SETS]; /* of SENTENCES_LIKE_TRAIN, SENTENCES_COMBINATIONS, SENTENCES_PAIRS */
    size_t pairs;
    PairFigures as_trained;
    HeadFound chosen, measured, all; /* the head that does best on every other pair; on the rest; on all */
    int heads, alike;                /* how many rows were compared; how many do as well on the half that chose */
    double row_mean, row_middle;     /* on the rest: `both` of a row taken at random, and of the middle one by it */
    Tally constant, wider_constant;  /* the right pronoun if it were always the commoner one: in the pairs, elsewhere */
    Tally wider, wider_base; /* sentences with "it" of unseen combinations: its largest weight on the right noun; …
                                and if it always took the noun that is right most often */
    Tally wider_pronoun;     /* …the right pronoun in them, */
    TallyPair wider_pronoun_off, exact_off; /* and with the head off; unseen combinations without a fault with it off */
    TallyPair pronoun_off, freely_off, both_off; /* the pairs with it off */
    /* What any other head of the model costs when it is off: shares of right pronouns in the pairs. */
    int others;
    double other_mean, other_least; /* the least without this one: */
    char other_scope[48];
    int other_head;
    /* Pair 0: what is written, and the chosen head's row over the source's words. */
    int star_words[2], star_word[2][STAR_WORDS];
    float star_row[2][SENTENCE_WORDS];
    ParallelSentence star[2];
} Translation;

/* count: sentences of each set. False when progress (may be NULL) stopped it. */
bool translation_run(Translation *t, const Model *m, size_t count, Pool *pool,
                     bool (*progress)(void *context, const char *what, double share), void *context, Err *err);
#endif
