/* What the files that read a picture share, in the order in which its bytes pass them: image_kind.c, image_check.c,
 * image_plain.c, image_child.c, image_decode.c, image.c. Only these, their tests and their fuzz target include this. */
#ifndef VITRINE_IO_IMAGE_PARTS_H
#define VITRINE_IO_IMAGE_PARTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/io/image.h"

/* --- recognising (image_kind.c) */
typedef enum ImageFormat { IMAGE_NOT_READ, IMAGE_PNG, IMAGE_JPEG, IMAGE_BMP, IMAGE_PNM } ImageFormat;

typedef struct ImageKind {
    const char *name;   /* "PNG", "HEIC", "git-LFS pointer", … */
    const char *phrase; /* "a HEIC picture", for messages */
    ImageFormat format;
    const char *tool, *pick, *to, *suffix; /* the converter: `tool FILE+pick to NAME+suffix`; NULL when there is none */
    const char *advice;                    /* instead of a converter */
} ImageKind;

/* What the bytes are, whatever the name says; NULL when unknown. */
const ImageKind *image_kind_find(const uint8_t *bytes, size_t n);
/* "…: a HEIC picture, which Vitrine does not read. Convert it: heif-convert a.heic a.png", without the name in front.
 */
bool image_kind_refuse(const ImageKind *k, const char *name, Err *err);

/* --- checking before anything is decoded (image.c, image_check.c, image_plain.c) */
typedef struct ImagePlan {
    ImageFormat format;
    int width, height; /* as stored, before the orientation */
    int orientation;   /* 1 … 8 */
    bool was_16_bit;
    size_t memory; /* bytes: what a decoder of an honest file of this size needs; the arena has no more */
    Buf clean;     /* PNG and BMP: the file written anew with only what makes pixels; empty: decode the file itself */
} ImagePlan;

/* False when the library must not see these bytes. plan is zeroed first; plan_free in either case. Linear time. */
bool image_check(ImagePlan *plan, ImageFormat format, const uint8_t *bytes, size_t n, Err *err);
void image_plan_free(ImagePlan *plan);
bool image_check_sides(uint64_t width, uint64_t height, Err *err); /* 1 … IMAGE_SIDE_MAX, ≤ IMAGE_PIXELS_MAX */
bool image_check_png(ImagePlan *plan, const uint8_t *bytes, size_t n, Err *err);
bool image_check_jpeg(ImagePlan *plan, const uint8_t *bytes, size_t n, Err *err);
bool image_check_bmp(ImagePlan *plan, const uint8_t *bytes, size_t n, Err *err);

/* --- decoding (image_decode.c): stb_image on what image_check let through */
typedef struct DecodeOut {
    int width, height, channels;
    bool done, had_alpha;
    char reason[64]; /* why not, in the library's words */
} DecodeOut;
/* The pixels go to out_pixels (3·width·height bytes), allocations come from the zeroed arena; calls nothing of the
 * system. Returns how many bytes of the arena were used: they are zeroed again before the next picture. */
size_t image_decode_plan(DecodeOut *out, uint8_t *out_pixels, const ImagePlan *plan, const uint8_t *bytes, size_t n,
                         uint8_t *arena);

/* --- the same in a confined child process (image_child.c) */
/* Confines this process for good, as the child does itself: 2 strictly, 1 by a filter, 0 not at all. */
int image_confine(void);
/* Bytes that image_check let through. They and the plan outlive the decoding. */
typedef struct ImageItem {
    ImagePlan plan;
    const uint8_t *bytes;
    size_t n;
} ImageItem;
/* A child that decodes count items, one after the other. */
typedef struct ImageChild {
    const ImageItem *item;
    int count;
    struct Shared *shared; /* with the child */
    size_t *at;            /* [count]: where in it an item's pixels are */
    size_t size, memory;
    unsigned seconds; /* of processor time */
    int pid, fd;      /* fd: closed when the child ends; -1: none runs */
} ImageChild;
bool image_child_start(ImageChild *d, const ImageItem *item, int count, Err *err);
/* Waits. *done: how many items it came to the end of. False when it did not end by itself: the next item is to blame,
 * and err says of it what a reader can do. */
bool image_child_end(ImageChild *d, int *done, Err *err);
bool image_child_take(const ImageChild *d, int i, Image *out, Err *err); /* not yet upright */
void image_child_free(ImageChild *d);                                    /* ends the child; also after a failed start */
/* All of it for one picture. */
bool image_decode_confined(Image *out, const ImagePlan *plan, const uint8_t *bytes, size_t n, Err *err);

/* --- portable anymaps (image_plain.c): P2, P3, P5, P6, samples scaled to 8 bits with rounding */
bool image_pnm(Image *out, const uint8_t *bytes, size_t n, Err *err);

/* --- orientation (image.c) */
int image_exif(const uint8_t *tiff,
               size_t n); /* 1 … 8 from a TIFF header with its first directory; 1 when there is none */
void image_orient(Image *im, int orientation); /* turns the pixels upright and notes what was applied */

static inline unsigned be16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}
static inline uint32_t be32(const uint8_t *p)
{
    return (uint32_t)be16(p) << 16 | be16(p + 2);
}
static inline unsigned le16(const uint8_t *p)
{
    return (unsigned)p[1] << 8 | p[0];
}
static inline uint32_t le32(const uint8_t *p)
{
    return (uint32_t)le16(p + 2) << 16 | le16(p);
}
#endif
