#include "core/train/pictures.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/models/drawn.h"

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
