/* Trying mistakes: the stretch of our graph between the reference's values and one of its tensors, computed again with
 * a mistake made on purpose. Inside core/diff only. */
#ifndef VITRINE_DIFF_DIFF_TRIAL_H
#define VITRINE_DIFF_DIFF_TRIAL_H
#include <stdbool.h>
#include <stddef.h>

#include "core/diff/diff.h"

/* What mistakes need to know of a model, whatever it reads. */
typedef struct TrialSizes {
    int width, heads, head_dim, layers; /* layers: of the deepest stack */
    float eps, scale;
    MapFn act;
    bool post_norm;
} TrialSizes;

/* A number that was searched, and how it is said around it. */
typedef struct TrialFit {
    const char *before, *after;
} TrialFit;

/* A mistake that was tried, kept with its edits: a second one can be tried on top of it. */
typedef struct Tried {
    const char *family; /* its name in the table */
    Edit *edit;
    int count;
    double rms;
    float *values;       /* some cells of what it made of the target */
    bool made;           /* its edits hold values that the stretch made: beside another mistake they would be others */
    const TrialFit *fit; /* its number was searched, or NULL */
    char text[DIFF_WORDS];
} Tried;
enum { TRIAL_BASES = 4, TRIAL_SINGLES = 512, TRIAL_CELLS = 96 };
/* By how much the rms error must fall for a mistake to be worth a word. */
enum { TRIAL_NEARER = 4 };

typedef struct Trial {
    const DiffSubject *s;
    TrialSizes size;
    const DiffReference *r;
    const DiffOptions *o;
    const DiffReport *report; /* its rows: what differs elsewhere; NULL where only the target is known */
    const DiffTensor *target;
    double allowed, allowed_rms;
    bool *in;    /* [nodes]: the stretch */
    Edit *given; /* the reference's values at its edge */
    int given_count;
    Edit *mistake;
    size_t mistake_cap;
    int mistake_count;
    Arena arena;        /* of paths and values that edits hold */
    int steps;          /* computed nodes of the stretch, */
    double flops;       /* and the operations of computing it once */
    const char *family; /* the one being tried, */
    char id[80];        /* …more exactly, the row of the table: "missing:attn.b_v", */
    const char *next;   /* what to record where another explains as much, of that one… */
    const char *only;   /* "blocks.2.": mistakes are made in that part alone; NULL: wherever they can be */
    const Tried *base;  /* a mistake that is made already, of which the next is the second; NULL: none */
    Tried *single;      /* the single mistakes that were tried */
    size_t single_cap;
    int single_count;
    Tried number[2]; /* that are searched beside another mistake: the factor on the scores, ε */
    int number_count;
    bool strict;  /* what does not explain is not kept as the nearest: a number that is free comes near by chance */
    bool fitting; /* a number is being searched: its tries are no mistakes of their own, */
    const TrialFit *fit; /* what is found is one */
    bool first_agrees;   /* the first token is as it is here, and sees no other: what changes every token is no cause */
    bool first_known;    /* its error without a mistake, */
    double first_before; /* as the root of the sum of squares */
    bool decided;       /* of many attempts the first token tells which are computed; so of numbers that are searched */
    bool made;          /* the mistake being put together holds values of the stretch */
    const char *wanted; /* only the mistake that is called so is made; NULL: all */
    double last;        /* rms error of the last attempt */
    double attempts;
    char what[96];   /* what differs and how it is looked into, */
    double share;    /* how much of that is done, */
    bool stopped;    /* and that somebody stopped it: nothing is tried any more */
    bool unpaired;   /* two at once were tried in few pairs, as the stretch is long */
    char where[200]; /* found where only a part of the stretch was searched */
    DiffFigures before, best;
    bool any;              /* something was better than nothing, */
    bool best_fitted;      /* with a number that was searched */
    bool partial;          /* `best` is of some rows: what the others hold can't be told */
    char text[DIFF_WORDS]; /* what made `best` */
    const char *best_next; /* …and of that */
    char best_id[80];      /* …which row it was, or both, */
    int best_only;         /* the block it was made in alone, −1 in all, */
    bool best_outside;     /* and that it was made in no block */
    DiffFigures second;    /* of the best attempt with another text that explains too */
    char also[DIFF_WORDS];
    bool again;            /* a cause that was found before explains this too, */
    DiffFigures repeated;  /* and leaves that: */
    const DiffCause *same; /* this one */
} Trial;

/* A mistake is a list of edits: begin one, add to it, attempt it. Strings and values must live as long as the trial
 * (t->arena). */
void trial_begin(Trial *t);
Edit *trial_add(Trial *t, EditKind kind, const char *path);
/* Computes the target with the mistake made, compares, and keeps text if nothing was nearer so far. Returns the rms
 * error. */
double trial_attempt(Trial *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Compares values (of the target, cells as the node's) that were made otherwise. */
double trial_judge(Trial *t, const float *values, const char *text);
/* A cause that was proved row by row, with its figures over those rows; partial: they are not all. */
void trial_prove(Trial *t, const DiffFigures *f, const char *text, bool partial);
/* The cause that was found at an earlier tensor, and explained all of it, in these words; NULL: none was. */
const DiffCause *trial_found(const Trial *t, const char *text);
/* Is what was found within what is allowed? Or so near, DIFF_EXPLAINED times that, that only what grows over a stretch
 * can be left? */
bool trial_solved(const Trial *t);
bool trial_close(const Trial *t);
/* A copy of a node's values as the stretch makes them without a mistake, in the arena. */
const float *trial_values(Trial *t, NodeId n);
/* …or as they are recorded; NULL where they are neither in the stretch nor at its edge. */
const float *trial_stretch_values(Trial *t, NodeId n);
/* The same with the mistake as far as it has been put together. */
const float *trial_values_with(Trial *t, NodeId n);
/* Node n of a block ("blocks.1.") where node `at` has those values, whatever of the block is known. */
const float *trial_with(Trial *t, const char *block, NodeId n, NodeId at, const float *values);
/* The next block of the stretch that computes something, "decoder.blocks.1."; false past the last. */
enum { TRIAL_PREFIX = 48 };
bool trial_next_block(const Trial *t, NodeId *from, char out[TRIAL_PREFIX]);
/* What the norm whose end has that path reads; NO_NODE where it is no norm. */
NodeId trial_norm_reads(Trial *t, const char *out);
/* Is the node in the stretch, or at its edge? */
bool trial_has(const Trial *t, NodeId n);

/* Does a node of the stretch have a path that ends in this (at a dot; "attn.q" is self_attn.q and cross_attn.q too)?
 * Its id, looking from `from` on; NO_NODE past the last. */
NodeId trial_find(const Trial *t, const char *ending, NodeId from);
/* The same with the values at its edge, which the reference has: a mistake may lie between them and their use. */
NodeId trial_find_edge(const Trial *t, const char *ending, NodeId from);
bool path_ends(const char *path, const char *ending);
/* Path of another node of the same block: block_path(a, "blocks.3.attn.scale", "attn.w_q") is "blocks.3.attn.w_q"; of
 * "decoder.blocks.3.cross_attn.scale" it is "decoder.blocks.3.cross_attn.w_q". */
const char *block_path(Arena *a, const char *path, const char *name);

/* Is the mistake made at nodes of this path: everywhere, or in the one block that is tried? */
bool trial_here(const Trial *t, const char *path);
/* What the reference has of a node, or what the stretch makes of it with the mistake so far; NULL where neither knows
 * the node. */
const float *trial_known(Trial *t, NodeId n);
/* Node NAME of the same block as the node at path. */
NodeId trial_beside(Trial *t, const char *path, const char *name);
/* Values that are made in each block of what the blocks before make with the mistake: make fills out[cells of n], false
 * where it can't. endings: a list of words. edge: of values there too. */
typedef bool TrialMake(Trial *t, NodeId n, const void *context, float *out);
void trial_each(Trial *t, const char *endings, bool edge, TrialMake *make, const void *context, const char *text);
/* The next word of a list; NULL behind the last. */
enum { TRIAL_WORD = 48 };
const char *trial_word(const char **words, char out[TRIAL_WORD]);

/* Says what is being looked into; false when it is to be left. */
bool trial_going(Trial *t, const char *what, double share);
/* Keeps a single mistake, its edits and what it made. */
void trial_keep(Trial *t, const float *values, double rms, const char *text);
/* The x between low and high where try, an rms error, is least, by golden section; ends early where a cause is
 * found. */
double trial_least(Trial *t, double low, double high, int turns, double (*try)(Trial *t, const void *context, double x),
                   const void *context);
/* All mistakes of the table, or those of one name. */
void trial_all(Trial *t, const char *what);
void trial_family(Trial *t, const char *family);
/* Where the target is a sum with the residual stream: what is added, and in *stream what it is added to; else the
 * target and NO_NODE. */
NodeId trial_branch(const Trial *t, NodeId *stream);
/* The MLP's half of a block taken back from its output: what the first half must have been is searched alone. */
void trial_halved(Trial *t);
/* Two at once, with so many operations. */
void trial_pairs(Trial *t, double afforded);
/* Is that the mistake to be made, or are all? */
bool trial_wanted(const Trial *t, const char *text);

/* A trial whose target is that row; it is opened next. */
Trial trial_new(const DiffSubject *s, const DiffReference *r, const DiffOptions *o, const DiffReport *d,
                const DiffRow *row);
/* Does the target follow with the mistake that was put together? Nothing is kept of it but its figures. */
bool trial_fits(Trial *t, DiffFigures *out);
/* in, flops, given and family of a stretch whose target is set. */
void trial_open(Trial *t);
void trial_free(Trial *t);

/* The mistakes that are no edit of some nodes (diff_causes.c), in their order there. */
void trial_picture(Trial *t);
void trial_fed(Trial *t);
void trial_axes(Trial *t);
void trial_scale(Trial *t);
void trial_eps(Trial *t);
void trial_activation(Trial *t);
void trial_heads(Trial *t);
void trial_merged(Trial *t);
void trial_head_counts(Trial *t); /* another number of heads */
/* Is a table of scores or weights recorded, which has the model's own number of heads? Or is what the heads give
 * recorded and as it follows from the model's own number of them? */
bool trial_heads_recorded(const Trial *t);
/* cos and sin [t,e] of a picture's tokens, sin negative for the first number of a pair, and the partner of every
 * number, for another configuration. */
void trial_rope_tables(Trial *t, const VitConfig *c, const float **cosine, const float **sine, const int **partner);
void trial_mask(Trial *t);
void trial_sinusoids(Trial *t);
void trial_patches(Trial *t);
void trial_readout(Trial *t);
void trial_order(Trial *t);
void trial_positions(Trial *t);
void trial_other_positions(Trial *t);
void trial_class_last(Trial *t);
void trial_value(Trial *t);
void trial_rope(Trial *t);
void trial_fitted(Trial *t);
void trial_turned(Trial *t);
void trial_dropout(Trial *t);
void trial_half(Trial *t);
void trial_blocks(Trial *t);
void trial_twice(Trial *t);
void trial_rounded(Trial *t);
void trial_quantised(Trial *t);
void trial_reshaped(Trial *t);
void trial_probabilities(Trial *t);
void trial_rolled(Trial *t);
void trial_norms_lost(Trial *t);
void trial_bias(Trial *t);
void trial_unit(Trial *t);
void trial_factor(Trial *t);
void trial_branch_factors(Trial *t);
void trial_norm_twice(Trial *t);
/* …of models of words (diff_cause_text.c) */
/* The words that the graph was built for, read back from its leaf; */
Seq2seqText trial_words(Trial *t, const char *path);
/* …and which of them are of the second segment; NULL where nothing is told apart. */
const int *trial_segments(const Trial *t);
/* What is read otherwise. */
typedef struct TrialReads {
    int roll;      /* words whose numbers are so much higher */
    int shift;     /* the word that stands so many places on… */
    int beyond;    /* …and from where none does this one; −1: those of the other end, −2: what stands there */
    bool source;   /* the encoder's, of a model that has a decoder too */
    bool segments; /* another split into segments: */
    int second;    /* the second begins here; 0: there is none */
} TrialReads;
/* The model built once more (diff_trial_model.c): does the target follow where it has these settings, and reads so? The
 * rms error. */
double trial_reading(Trial *t, const Seq2seqConfig *c, const TrialReads *how, const char *text);
double trial_config(Trial *t, const Seq2seqConfig *c, const char *text);
/* …the same of a decoder that reads the first `tokens` words alone, which is judged by nothing but *out. False where
 * that can't be computed. */
bool trial_config_short(Trial *t, const Seq2seqConfig *c, int tokens, DiffFigures *out);
/* Does the first token follow with the mistake that was put together? The rms error that it leaves there, as a share of
 * the one before, in *left. True where it can't be told: of text models that look back alone the first token needs a
 * pass over itself, with edits of weights and numbers. */
bool trial_first_follows(Trial *t, double *left);
/* Is one attempt a matter of a tenth of a second? */
bool trial_long(const Trial *t);
/* The first token whose values differ, of a score the later of its two; −1 where that is not recorded. */
int trial_first_other(Trial *t);
/* Two kinds of blocks (diff_cause_windows.c). Do just those rows differ that these settings change, of a model that has
 * them? */
bool trial_blocks_suit(const Trial *t, const Seq2seqConfig *c);
void trial_window_blocks(Trial *t);
void trial_exchanged(Trial *t);
/* Rotary positions (diff_cause_rope.c). */
void trial_usual_bases(Trial *t);
void trial_bases(Trial *t);
void trial_scalings(Trial *t);
void trial_settings(Trial *t);
void trial_tiled(Trial *t);
/* Rows of W_Q and W_K, with their biases, in another order: the pairs of a head side by side or a half apart. Adds the
 * edits of one way to the mistake; which of the two it found. */
enum { TRIAL_PERMUTED = 6, TRIAL_PERMUTED_Q = 1, TRIAL_PERMUTED_K = 2 };
unsigned trial_add_permuted(Trial *t, int way, const char **text);
void trial_permuted(Trial *t);
/* Two at once: other settings on top of the single mistakes of that family. */
void trial_settings_beside(Trial *t, const char *family);
void trial_mask_side(Trial *t);
void trial_windows(Trial *t);
void trial_mask_values(Trial *t);
void trial_keys_moved(Trial *t);
void trial_counted(Trial *t);     /* rotary places counted from another than 0 */
void trial_fused_order(Trial *t); /* of heads that share keys: a fused q, k, v read in another order */
/* Of a node beside the target, q_turned of its block: is it recorded, and does it follow from what it is made of? */
typedef enum TrialBeside { BESIDE_UNKNOWN, BESIDE_AGREES, BESIDE_DIFFERS } TrialBeside;
TrialBeside trial_row_beside(Trial *t, const char *name);
void trial_embedding_scaled(Trial *t);
void trial_slopes(Trial *t);
void trial_ranges(Trial *t);
void trial_memory(Trial *t);
void trial_dropout_behind(Trial *t);
void trial_tied(Trial *t);
void trial_dropped(Trial *t);
void trial_shorter(Trial *t);
/* Values that are another operation's, for trial_each. */
TrialMake trial_make_other_axis, trial_make_outside, trial_make_centred, trial_make_sum, trial_make_unnormed,
    trial_make_squared, trial_make_scaled_sum, trial_make_scaled_branch, trial_make_exchanged, trial_make_moved,
    trial_make_normalised, trial_make_chosen, trial_make_masked_late, trial_make_other_stretch, trial_make_each_head,
    trial_make_rotated_value, trial_make_own_memory, trial_make_unit, trial_make_untransposed;
#define TRIAL_OWN_KEYS "the recording's cross-attention takes its keys from the decoder, not from the memory"
/* "LayerNorm" or "RMSNorm", as the model has it. */
const char *trial_norm_word(const Trial *t);
/* The tokens that the answer is read from, all of them. */
NodeId trial_tokens_read(Trial *t, NodeId readout);

/* Which of a set of vectors add up to a given one: a sum of real numbers tells, when it has enough of them, which of
 * its terms were left out. */
typedef enum SubsetAnswer {
    SUBSET_FOUND, /* these add up to it */
    SUBSET_NONE,  /* no subset does */
    SUBSET_OPEN   /* not told within the work allowed */
} SubsetAnswer;

typedef struct Subset {
    int count, rows;     /* vectors, and numbers in each */
    const double *terms; /* [count,rows] */
    const double *sum;   /* [rows] */
    double within;       /* of each number */
} Subset;

/* Fills taken[count], the nearest that was found where the answer is not SUBSET_FOUND. Terms that are too small to be
 * told are taken. *work counts floating-point operations up and the search ends beyond `most` of them. The relaxed
 * problem, shares from 0 to 1, is solved by active sets (Stark and Parker, Bounded-Variable Least-Squares, 1995); where
 * its solution is no subset the search branches. */
SubsetAnswer subset_find(const Subset *s, bool *taken, double *work, double most);

/* log2 of how many vectors can be told apart in the region where the sums of the terms lie, each taken with the
 * likelihood `share`: ½ log2 det(I + C / within²), C the sums' covariance. */
double subset_distinct(const Subset *s, double share);
/* log2 of how many subsets leave out at most `out` of n. */
double subset_choices(int n, int out);
#endif
