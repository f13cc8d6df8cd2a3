#include "core/eval/photos.h"

/* photos.def defines what is not defined here as nothing, and forgets it at its end: each list takes its own rows. */
enum {
    COUNT = 0
#define PICTURES(n) +(n)
#include "core/eval/photos.def"
};

#define FIGURE(kind, i, right, lost, won) {FIGURE_##kind, i, {right, {lost, won, COUNT}}},
static const struct {
    FigureKind kind;
    int i;
    Figure figure;
} FIGURES[] = {
#include "core/eval/photos.def"
};

#define CONFUSION(label, named, count) [label][named] = count,
static const size_t CONFUSED[PHOTOS_CLASSES][PHOTOS_CLASSES] = {
#include "core/eval/photos.def"
};

#define SURE(bin, right, count) [bin] = {right, count},
static const AccuracySure SURES[ACCURACY_SURES] = {
#include "core/eval/photos.def"
};

#define HEAD(head, distance, distance_margin, entropy, entropy_margin)                                                 \
    [head] = {{distance, distance_margin}, {entropy, entropy_margin}},
static const struct {
    MeanOver distance, entropy;
} HEADS[] = {
#include "core/eval/photos.def"
};

#define UNLIKE(which, right, count) [UNLIKE_##which] = {right, count},
static const AccuracySure FAR[UNLIKE_COUNT] = {
#include "core/eval/photos.def"
};

#define GREYED(which, right, lost, won) [GREYED_##which] = {lost, won, COUNT},
static const Paired GREY[GREYED_COUNT] = {
#include "core/eval/photos.def"
};

size_t photos_pictures(void)
{
    return COUNT;
}

Figure photos_figure(FigureKind kind, int i)
{
    for (size_t k = 0; k < sizeof FIGURES / sizeof *FIGURES; k++)
        if (FIGURES[k].kind == kind && FIGURES[k].i == i)
            return FIGURES[k].figure;
    return (Figure){0};
}

const size_t *photos_confusion(void)
{
    return CONFUSED[0];
}

AccuracySure photos_sure(int bin)
{
    return SURES[bin];
}

MeanOver photos_distance(int head)
{
    return head >= 0 && (size_t)head < sizeof HEADS / sizeof *HEADS ? HEADS[head].distance : (MeanOver){0, 0};
}

MeanOver photos_entropy(int head)
{
    return head >= 0 && (size_t)head < sizeof HEADS / sizeof *HEADS ? HEADS[head].entropy : (MeanOver){0, 0};
}

Paired photos_greyed(PhotosGreyed which)
{
    return GREY[which];
}

AccuracySure photos_unlike(PhotosUnlike which)
{
    return FAR[which];
}

const char *photos_unlike_text(PhotosUnlike which)
{
    static const char *const TEXT[UNLIKE_COUNT] = {
#define X(symbol, text) text,
        PHOTOS_UNLIKE(X)
#undef X
    };
    return TEXT[which];
}
