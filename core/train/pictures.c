#include "core/train/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/models/drawn.h"
#include "core/train/folder.h"

/* Series of drawn pictures, none of which is the program's own nor one of those that are learnt from, whose first bit
 * is set. */
enum { SERIES_HELD_OUT = 999, SERIES_CHECK = 1000 };
_Static_assert((int)DRAWN_SERIES != (int)SERIES_HELD_OUT && (int)DRAWN_SERIES != (int)SERIES_CHECK,
               "the pictures of the menu are in no set");

struct Pictures {
    Preprocess p, mask; /* mask: the same for one channel */
    bool as_drawn;      /* nothing needs resizing */
    uint64_t series;    /* of the drawn pictures that are learnt from */
    Folder folder;      /* without classes: pictures are drawn */
};

/* A bijection of 64 bits (the finaliser of SplitMix64; Steele, Lea and Flood 2014, "Fast Splittable Pseudorandom Number
 * Generators"). */
static uint64_t scatter(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static Pictures *new_pictures(const Preprocess *p)
{
    Pictures *s = xcalloc(1, sizeof *s);
    s->p = s->mask = *p;
    s->mask.channels = 1;
    return s;
}

Pictures *pictures_drawn(const Preprocess *p, uint64_t seed)
{
    REQUIRE(p->channels == 1 || p->channels == 3);
    Pictures *s = new_pictures(p);
    s->series = scatter(seed + 1) | UINT64_C(1) << 63;
    s->as_drawn = p->width == DRAWN_SIDE && p->height == DRAWN_SIDE && p->resize_w == DRAWN_SIDE &&
                  p->resize_h == DRAWN_SIDE && p->channels == 3;
    return s;
}

Pictures *pictures_folder(const char *folder, const Preprocess *p,
                          bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    return pictures_folder_by(folder, p, &(FolderRule){.split = FOLDER_BY_CONTENT}, progress, context, err);
}

Pictures *pictures_folder_by(const char *folder, const Preprocess *p, const FolderRule *rule,
                             bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    Pictures *s = new_pictures(p);
    if (folder_read(&s->folder, folder, p, rule, progress, context, err))
        return s;
    pictures_free(s);
    return NULL;
}

bool pictures_write_learnt(const Pictures *p, const char *path, Err *err)
{
    return !p->folder.classes || folder_write_learnt(&p->folder, path, err);
}

uint64_t pictures_learnt_hash(const Pictures *p)
{
    uint64_t h = 0, *content = p->folder.classes ? folder_learnt(&p->folder) : NULL;
    for (size_t i = 0; content && i < p->folder.learnt; i++)
        h = scatter(h ^ content[i]);
    free(content);
    return h;
}

size_t pictures_learnt(const Pictures *p)
{
    return p->folder.learnt;
}

void pictures_free(Pictures *p)
{
    if (p)
        folder_free(&p->folder);
    free(p);
}

int pictures_classes(const Pictures *p)
{
    return p->folder.classes ? p->folder.classes : DRAWN_CLASSES;
}

const char *const *pictures_names(const Pictures *p)
{
    return p->folder.classes ? p->folder.class_name : SHAPES_NAMES;
}

size_t pictures_count(const Pictures *p, PictureSet set)
{
    return set == PICTURES_TRAIN ? p->folder.learnt : p->folder.held;
}

bool pictures_have_masks(const Pictures *p)
{
    return !p->folder.classes;
}

/* Interleaved bytes to planes of floats. */
static void spread(const uint8_t *bytes, size_t plane, size_t channels, float *pixels)
{
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < plane; i++)
            pixels[c * plane + i] = (float)bytes[i * channels + c];
}

/* What was drawn, in the model's size; out (may be NULL) gets the bytes, pixels (may be NULL) the floats. */
static void resize_drawn(const Preprocess *p, uint8_t *drawn, int channels, uint8_t *out, float *pixels)
{
    Err err = {{0}};
    Image resized, in = {.width = DRAWN_SIDE, .height = DRAWN_SIDE, .channels = channels, .data = drawn};
    if (!preprocess_run(p, &in, &resized, pixels, &err))
        UNREACHABLE("a drawn picture that no model's size suits");
    if (out)
        memcpy(out, resized.data, size_mul((size_t)p->width, (size_t)p->height));
    image_free(&resized);
}

static int get_drawn(const Pictures *p, uint64_t series, uint64_t number, double difficulty, float *pixels,
                     uint8_t *mask)
{
    enum { PLANE = DRAWN_SIDE * DRAWN_SIDE };
    uint8_t bytes[PLANE * 3], cover[PLANE];
    if (p->as_drawn) {
        int label = drawn_series(series, number, difficulty, bytes, mask);
        spread(bytes, PLANE, 3, pixels);
        return label;
    }
    int label = drawn_series(series, number, difficulty, bytes, mask ? cover : NULL);
    resize_drawn(&p->p, bytes, 3, NULL, pixels);
    if (mask)
        resize_drawn(&p->mask, cover, 1, mask, NULL);
    return label;
}

/* Place `at` of a shuffled row of n: a Feistel network of four rounds is a bijection of the next power of four; what
 * falls outside is sent through again until it lands inside. No table, hence nothing to share between threads. */
static size_t shuffled(size_t at, size_t n, uint64_t key)
{
    unsigned half = 1;
    while (half < 31 && (UINT64_C(1) << (2 * half)) < n)
        half++;
    uint64_t mask = (UINT64_C(1) << half) - 1, x = at;
    do {
        uint64_t left = x >> half, right = x & mask;
        for (uint64_t round = 0; round < 4; round++) {
            uint64_t next = left ^ (scatter(key + (round << 32) + right + 1) & mask);
            left = right;
            right = next;
        }
        x = left << half | right;
    } while (x >= n);
    return (size_t)x;
}

static const FolderPicture *picture_at(const Pictures *p, PictureSet set, uint64_t number)
{
    const Folder *f = &p->folder;
    size_t n = pictures_count(p, set);
    return &f->picture[shuffled((size_t)(number % n), n, scatter(number / n + 1)) +
                       (set == PICTURES_TRAIN ? 0 : f->learnt)];
}

const char *pictures_path(const Pictures *p, PictureSet set, uint64_t number)
{
    return p->folder.classes ? picture_at(p, set, number)->path : NULL;
}

static int get_read(const Pictures *p, PictureSet set, uint64_t number, float *pixels, uint8_t *mask)
{
    const Folder *f = &p->folder;
    const FolderPicture *picture = picture_at(p, set, number);
    size_t plane = size_mul((size_t)p->p.width, (size_t)p->p.height);
    spread(f->pixels + picture->at * f->size, plane, (size_t)p->p.channels, pixels);
    if (mask)
        memset(mask, 0, plane);
    return picture->label;
}

int pictures_get(const Pictures *p, PictureSet set, uint64_t number, double difficulty, float *pixels, uint8_t *mask)
{
    const uint64_t series[] = {
        [PICTURES_TRAIN] = p->series, [PICTURES_HELD_OUT] = SERIES_HELD_OUT, [PICTURES_CHECK] = SERIES_CHECK};
    return p->folder.classes ? get_read(p, set, number, pixels, mask)
                             : get_drawn(p, series[set], number, difficulty, pixels, mask);
}

/* --- changed a little before they are learned from --- */

static const float WHITE = 255, GREY = 127.5f;

bool augment_any(const Augment *a)
{
    return a->flip > 0 || a->shift > 0 || a->colour > 0 || a->mix > 0 || a->cut > 0 || a->erase > 0;
}

/* Every draw takes its number whether or not it is used: one choice does not change the others. */
static bool chance(Rng *r, double p)
{
    return (double)rng_unit(r) < p;
}

/* −1 is 0's other side: … 2 1 0 0 1 2 … n−1 n−1 n−2 … */
static int reflected(int i, int n)
{
    i = i < 0 ? -1 - i : i;
    return i >= n ? 2 * n - 1 - i : i;
}

static void move(int channels, int height, int width, bool flip, int down, int right, float *pixels, float *scratch)
{
    size_t plane = (size_t)height * (size_t)width;
    if (!flip && !down && !right)
        return;
    memcpy(scratch, pixels, (size_t)channels * plane * sizeof *pixels);
    for (int c = 0; c < channels; c++)
        for (int y = 0; y < height; y++) {
            const float *row = scratch + (size_t)c * plane + (size_t)reflected(y - down, height) * (size_t)width;
            float *to = pixels + (size_t)c * plane + (size_t)y * (size_t)width;
            for (int x = 0; x < width; x++) {
                int from = reflected(x - right, width);
                to[x] = row[flip ? width - 1 - from : from];
            }
        }
}

static float clamped(float v)
{
    return v < 0 ? 0 : v > WHITE ? WHITE : v;
}

/* Brightness; contrast about the picture's mean grey; saturation about each pixel's grey. The weights are those of
 * ITU-R BT.601. */
static void recolour(int channels, size_t plane, float brightness, float contrast, float saturation, float *pixels)
{
    static const float LUMA[3] = {0.299f, 0.587f, 0.114f};
    double sum = 0;
    for (size_t i = 0; i < (size_t)channels * plane; i++)
        pixels[i] *= brightness;
    for (size_t i = 0; i < plane; i++)
        for (int c = 0; c < channels; c++)
            sum += (double)(pixels[(size_t)c * plane + i] * (channels == 3 ? LUMA[c] : 1));
    float mean = (float)(sum / (double)plane);
    for (size_t i = 0; i < plane; i++) {
        float grey = 0;
        for (int c = 0; c < channels; c++)
            grey += pixels[(size_t)c * plane + i] * (channels == 3 ? LUMA[c] : 1);
        for (int c = 0; c < channels; c++) {
            float *v = &pixels[(size_t)c * plane + i];
            *v = grey + (*v - grey) * saturation;
            *v = clamped(mean + (*v - mean) * contrast);
        }
    }
}

void augment_picture(const Augment *a, Rng *r, int channels, int height, int width, float *pixels, float *scratch)
{
    bool flip = chance(r, a->flip);
    int most = 2 * a->shift + 1, down = (int)rng_below(r, (uint32_t)most) - a->shift,
        right = (int)rng_below(r, (uint32_t)most) - a->shift;
    float low = (float)(1 - a->colour), high = (float)(1 + a->colour), factor[3];
    for (int i = 0; i < 3; i++)
        factor[i] = rng_range(r, low, high);
    move(channels, height, width, flip, down, right, pixels, scratch);
    if (a->colour > 0)
        recolour(channels, (size_t)height * (size_t)width, factor[0], factor[1], factor[2], pixels);
}

typedef struct Box {
    int y, x, height, width;
} Box;

/* About `area` of the picture, wholly inside it; aspect: height over width, for a square picture. */
static Box some_box(Rng *r, int height, int width, float area, float aspect)
{
    float side = sqrtf(area), slant = sqrtf(aspect);
    Box b = {.height = (int)((float)height * side * slant + 0.5f), .width = (int)((float)width * side / slant + 0.5f)};
    b.height = b.height < height ? b.height : height;
    b.width = b.width < width ? b.width : width;
    b.y = (int)rng_below(r, (uint32_t)(height - b.height + 1));
    b.x = (int)rng_below(r, (uint32_t)(width - b.width + 1));
    return b;
}

/* other NULL: grey. */
static void fill(Box b, int channels, int height, int width, float *pixels, const float *other)
{
    for (int c = 0; c < channels; c++)
        for (int y = b.y; y < b.y + b.height; y++)
            for (int x = b.x; x < b.x + b.width; x++) {
                size_t at = ((size_t)c * (size_t)height + (size_t)y) * (size_t)width + (size_t)x;
                pixels[at] = other ? other[at] : GREY;
            }
}

double augment_mix(const Augment *a, Rng *r, int channels, int height, int width, float *pixels, const float *other)
{
    bool mix = chance(r, a->mix), cut = chance(r, a->cut), erase = chance(r, a->erase);
    float share = rng_unit(r), erased = rng_range(r, 0.02f, 0.33f), aspect = rng_range(r, 1, 3);
    Box b = some_box(r, height, width, 1 - share, 1), grey;
    size_t cells = (size_t)channels * (size_t)height * (size_t)width;
    double own = 1;
    if (mix) {
        for (size_t i = 0; i < cells; i++)
            pixels[i] = share * pixels[i] + (1 - share) * other[i];
        own = (double)share;
    } else if (cut) {
        fill(b, channels, height, width, pixels, other);
        own = 1 - (double)b.height * b.width / ((double)height * width);
    }
    grey = some_box(r, height, width, erased, chance(r, 0.5) ? aspect : 1 / aspect);
    if (erase)
        fill(grey, channels, height, width, pixels, NULL);
    return own;
}
