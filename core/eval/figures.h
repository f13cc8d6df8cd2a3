/* The figures that are stated about the bundled model, in one place: counts over FIGURES_PICTURES held-out pictures,
 * measured by `make figures` (assets/make_figures.c) and shipped in figures.def. Screens, sentences and help read them
 * from here, `vitrine evaluate` measures the same ones again, and a test recomputes the first FIGURES_PART pictures of
 * each. */
#ifndef VITRINE_EVAL_FIGURES_H
#define VITRINE_EVAL_FIGURES_H
#include "core/base/pool.h"
#include "core/eval/evaluation.h"
#include "core/models/model.h"

enum { FIGURES_PICTURES = 5000, FIGURES_PART = 500, FIGURES_BLOCKS = 4, FIGURES_HEADS = 4 };

/* FIGURE(symbol, how many of it) */
#define FIGURE_KINDS(X)                                                                                                \
    X(TRAINED, 1)      /* named right as trained */                                                                    \
    X(SCALE_OFF, 1)    /* without 1/√d_k in any block */                                                             \
    X(POSITIONS, 1)    /* without position embeddings */                                                               \
    X(OTHER, 1)        /* read from the mean of the patches instead of the class token */                              \
    X(HEAD, 16)        /* without one head, block by block */                                                          \
    X(ATTENTION, 4)    /* without the attention of a block */                                                          \
    X(MLP, 4)          /* without its MLP */                                                                           \
    X(FACTOR, 11)      /* the scale of every block times ablation_factor */                                            \
    X(LENS, 5)         /* by the logit lens before block 0 and after each block */                                     \
    X(TWIN, 1)         /* the twin, trained without 1/√d_k */                                                        \
    X(TWIN_SCALED, 1)  /* the twin with 1/√d_k put on */                                                             \
    X(PEAK, 1)         /* pictures in which rollout's heaviest patch is the object's */                                \
    X(PEAK_RANDOM, 10) /* … before any training, by seed: of RANDOM_PICTURES at most */                              \
    X(PEAK_FIXED, 1)   /* … the patch that is most often the object's */                                             \
    X(PEAK_BRIGHT, 1)  /* … the brightest patch */
typedef enum FigureKind {
#define X(symbol, count) FIGURE_##symbol,
    FIGURE_KINDS(X)
#undef X
        FIGURE_KIND_COUNT
} FigureKind;

/* Means over the pictures; shares. */
#define FIGURE_MEANS(X)                                                                                                \
    X(ROLLOUT, "weight of rollout on the object's patches")                                                            \
    X(ROLLOUT_RANDOM, "… before any training: the mean over seeds")                                                    \
    X(ROLLOUT_RANDOM_LEAST, "… of the seed with the least")                                                            \
    X(ROLLOUT_RANDOM_MOST, "… of the seed with the most")                                                              \
    X(ROLLOUT_FIXED, "… of the mean of all rollouts")                                                                  \
    X(BRIGHTNESS, "… of brightness above the mean")                                                                    \
    X(AREA, "the object's share of the patches")                                                                       \
    X(COVERED, "the object's share of the pixels")
typedef enum FigureMean {
#define X(symbol, text) FIGURE_MEAN_##symbol,
    FIGURE_MEANS(X)
#undef X
        FIGURE_MEAN_COUNT
} FigureMean;

typedef struct Figure {
    size_t right;
    Paired pair; /* against the model as trained over the same pictures; lost = won = 0 for the lens and the peaks */
} Figure;

enum { FIGURES_MOST = 59 };
typedef struct Figures {
    size_t pictures;
    Figure figure[FIGURES_MOST];
    double mean[FIGURE_MEAN_COUNT];
} Figures;

int figures_at(FigureKind kind, int i); /* its place in figure[] */
int figures_count(FigureKind kind);
const char *figures_name(FigureKind kind);

/* As shipped, over all pictures. */
Figure figures_get(FigureKind kind, int i);
/* Of how many pictures a figure of `pictures` is: fewer before any training. */
size_t figures_over(FigureKind kind, size_t pictures);
double figures_mean(FigureMean mean);
/* How often rollout's heaviest patch is the object's before any training, over the seeds. */
RandomSpread figures_random_peak(void);

/* Measures them over the first `pictures` held-out drawn ones. m is the bundled model or one of its shape; twin (may be
 * NULL: those two stay 0). False when cancelled. */
bool figures_measure(Figures *out, const Model *m, const Model *twin, size_t pictures, Pool *pool,
                     bool (*progress)(void *context, const char *what, double share), void *context, Err *err);

/* --- photos --- */

/* The figures that are stated about photos, the model in the program that has seen photographs: counts over the
 * photographs that it did not learn from, measured by `make figures-photos` (assets/make_photos.c) and shipped in
 * photos.def. Screens and sentences read them from here. */

enum { PHOTOS_CLASSES = 10 };
size_t photos_pictures(void); /* over how many the figures are */
/* One of those that both models have (not the twin's, and none of objects, which no photograph says); pair.n 0: not
 * measured. */
Figure photos_figure(FigureKind kind, int i);
/* [label, named]: photographs of a class that were given the name of a class. */
const size_t *photos_confusion(void);
/* Named right and all, of the answers of a bin of ACCURACY_SURE. */
AccuracySure photos_sure(int bin);
MeanOver photos_distance(int head); /* attention distance in pixels of head block · heads + h */
MeanOver photos_entropy(int head);  /* share of ln(tokens) */

/* A quarter of the patches, chosen so, was painted grey: what got lost. */
typedef enum PhotosGreyed { GREYED_ROLLOUT, GREYED_COLOUR, GREYED_LOT, GREYED_LEAST, GREYED_COUNT } PhotosGreyed;
Paired photos_greyed(PhotosGreyed which);

/* Pictures that are no photographs, and how many of them lie farther from what was learned from than 95 % of the
 * held-out photographs do. UNLIKE(symbol, what they are) */
#define PHOTOS_UNLIKE(X)                                                                                               \
    X(SHAPES, "drawn shapes")                                                                                          \
    X(NOISE, "noise, every pixel for itself")                                                                          \
    X(FLAT, "one colour all over")                                                                                     \
    X(STRIPES, "stripes of two colours")                                                                               \
    X(SHUFFLED, "held-out photographs cut into 16 pieces, mixed up")
typedef enum PhotosUnlike {
#define X(symbol, text) UNLIKE_##symbol,
    PHOTOS_UNLIKE(X)
#undef X
        UNLIKE_COUNT
} PhotosUnlike;
AccuracySure photos_unlike(PhotosUnlike which); /* right: farther away */
const char *photos_unlike_text(PhotosUnlike which);
#endif
