/* Pictures: decoding (PNG, JPEG, BMP by stb in a sandboxed child; PPM/PGM by our own reader), orientation, conversion.
 */
#ifndef VITRINE_IO_IMAGE_H
#define VITRINE_IO_IMAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

/* 8-bit, rows top to bottom, channels interleaved. */
typedef struct Image {
    int width, height;
    int channels;    /* 1 grey or 3 RGB; alpha is blended onto white when decoding (the caller is told) */
    uint8_t *data;   /* height·width·channels; owned; image_free */
    bool had_alpha;  /* some pixel was not opaque */
    bool was_16_bit; /* samples were reduced to 8 bits: the high byte (PNG), rounded (PNM) */
    int orientation; /* EXIF orientation that was applied, 1 … 8; 1 = none */
} Image;

enum { IMAGE_SIDE_MAX = 16384, IMAGE_PIXELS_MAX = 64 << 20, IMAGE_FILE_MAX = 64 << 20 };

void image_init(Image *im, int width, int height, int channels); /* zeroed pixels */
void image_free(Image *im);                                      /* zeroed Image allowed */
size_t image_bytes(const Image *im);                             /* of data */

/* Reads and decodes a file ("-" = standard input). The error names the file, the problem and the remedy, with the
 * command that converts a kind that is not read. At most 2 s of processor time and 1 s more for every four million
 * pixels; a hostile file can do no more than fail. */
bool image_read(Image *out, const char *path, Err *err);
bool image_decode(Image *out, const char *name, const uint8_t *bytes, size_t n, Err *err); /* name: for messages */
/* Is given picture i, upright; image_free is the caller's. False, with err, ends the reading. */
typedef bool ImageTake(void *context, size_t i, Image *im, Err *err);
/* image_read of every path, in their order, each given to take; many small ones in the time of few. It ends at the
 * first that can't be read, with the error of image_read. */
bool image_read_all(const char *const *path, size_t count, ImageTake *take, void *context, Err *err);
/* Which sandbox the decoder child gets here: "seccomp…", or "limits only" with the reason; for `info` and `:term`. */
const char *image_sandbox(void);

/* Grey → RGB by repetition, RGB → grey by PIL's ITU-R 601-2 luma, (19595 R + 38470 G + 7471 B + 0x8000) >> 16. */
void image_convert(Image *im, int channels);

typedef enum Filter { FILTER_NEAREST, FILTER_BILINEAR, FILTER_BICUBIC, FILTER_LANCZOS, FILTER_BOX } Filter;
/* PIL's Image.resize, byte for byte (antialiased when shrinking). */
void image_resize(Image *out, const Image *in, int width, int height, Filter f);
/* The same without rounding, as torch's interpolate does it on floats: [height,width,channels] from 0 to 255, a little
 * beyond with bicubic and Lanczos; free(). */
float *image_resize_exact(const Image *in, int width, int height, Filter f);
void image_crop(Image *out, const Image *in, int x, int y, int width, int height); /* outside is black */

/* PNG bytes by stb_image_write, appended to out. channels 1 or 3. */
struct Buf;
bool image_png(const Image *im, struct Buf *out, Err *err);
/* Bytes as a zlib stream, appended to out: quick rather than small. */
void image_deflate(const void *bytes, size_t n, struct Buf *out);
bool image_write_png(const Image *im, const char *path, Err *err);
bool image_write_pnm(const Image *im, const char *path, Err *err);
#endif
