/* The one place that calls stb_image, on bytes that image_check let through. Memory comes from an arena that is only
 * ever zero or written by this decoding, so even a damaged picture gives the same pixels every time, and nothing here
 * calls the system. */
#include <string.h>

#include "core/base/mem.h"
#include "core/io/image_parts.h"

/* stb_image takes its allocator as macros without a context, hence a variable; it is set for the time of one call. */
typedef struct DecodeArena {
    uint8_t *base, *last;    /* last: the newest block, which alone can grow in place */
    size_t used, most, size; /* most: that was ever used */
} DecodeArena;
static _Thread_local DecodeArena arena_now;

static void *arena_take(size_t n)
{
    DecodeArena *a = &arena_now;
    if (n > a->size - a->used || a->size - a->used - n < 16)
        return NULL;
    a->last = a->base + a->used;
    a->used += (n + 15) / 16 * 16;
    a->most = a->used > a->most ? a->used : a->most;
    return a->last;
}

static void *arena_retake(void *p, size_t old, size_t n)
{
    DecodeArena *a = &arena_now;
    if (p && p == a->last) {
        size_t start = (size_t)(a->last - a->base);
        if (n > a->size - start || a->size - start - n < 16)
            return NULL;
        a->used = start + (n + 15) / 16 * 16;
        a->most = a->used > a->most ? a->used : a->most;
        return p;
    }
    void *made = arena_take(n);
    if (made && p)
        memcpy(made, p, old < n ? old : n);
    return made;
}

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#define STBI_NO_SIMD /* one sequence of integer operations on every machine */
#define STBI_NO_LINEAR
#define STBI_MAX_DIMENSIONS 16384
#define STBI_ASSERT(condition)                                                                                         \
    ((void)0) /* they guard tables that image_check has checked; abort would need a system call */
#define STBI_MALLOC(n) arena_take(n)
#define STBI_REALLOC(p, n) arena_retake(p, n, n)
#define STBI_REALLOC_SIZED(p, old, n) arena_retake(p, old, n)
#define STBI_FREE(p) ((void)(p))
#include <stb/stb_image.h>
_Static_assert(STBI_MAX_DIMENSIONS == IMAGE_SIDE_MAX, "the library and image.h disagree about the largest side");

/* Straight alpha over white, rounded to nearest: a·v + (255 − a)·255, over 255. */
static uint8_t over_white(uint8_t v, uint8_t alpha)
{
    return (uint8_t)((v * alpha + 255 * (255 - alpha) + 127) / 255);
}

static bool blend(uint8_t *to, const uint8_t *from, size_t pixels, size_t channels)
{
    uint8_t all = 255;
    size_t colours = channels - 1;
    for (size_t i = 0; i < pixels; i++, from += channels) {
        uint8_t alpha = from[colours];
        all &= alpha;
        for (size_t c = 0; c < colours; c++)
            *to++ = over_white(from[c], alpha);
    }
    return all != 255;
}

size_t image_decode_plan(DecodeOut *out, uint8_t *out_pixels, const ImagePlan *plan, const uint8_t *bytes, size_t n,
                         uint8_t *arena)
{
    *out = (DecodeOut){0};
    arena_now = (DecodeArena){.base = arena, .size = plan->memory};
    if (plan->clean.len) {
        bytes = (const uint8_t *)plan->clean.data;
        n = plan->clean.len;
    }
    int width = 0, height = 0, channels = 0;
    const uint8_t *pixels = stbi_load_from_memory(bytes, (int)n, &width, &height, &channels, 0);
    if (!pixels) {
        const char *reason = stbi_failure_reason();
        strncpy(out->reason, reason ? reason : "unknown", sizeof out->reason - 1);
    } else if (width == plan->width && height == plan->height && channels >= 1 && channels <= 4) {
        size_t count = (size_t)width * (size_t)height;
        out->width = width;
        out->height = height;
        out->channels = channels < 3 ? 1 : 3;
        if (channels == out->channels)
            memcpy(out_pixels, pixels, count * (size_t)channels);
        else
            out->had_alpha = blend(out_pixels, pixels, count, (size_t)channels);
        out->done = true;
    }
    size_t used = arena_now.most;
    arena_now = (DecodeArena){0};
    return used;
}
