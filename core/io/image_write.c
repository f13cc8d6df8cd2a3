/* Pictures out: PNG by stb_image_write (the same bytes on every machine), portable anymaps by hand. */
#include "core/io/image.h"

#include <stdlib.h>

#include "core/base/file.h"
#include "core/base/mem.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#define STBIW_MALLOC(n) xmalloc(n)
#define STBIW_REALLOC(p, n) xrealloc(p, n)
#define STBIW_FREE(p) free(p)
#include <stb/stb_image_write.h>

static void add(void *context, void *data, int n)
{
    buf_add(context, data, (size_t)n);
}

bool image_png(const Image *im, Buf *out, Err *err)
{
    /* the library counts bytes in int; our own limit is far below */
    if (im->width < 1 || im->height < 1 || im->width > IMAGE_SIDE_MAX || im->height > IMAGE_SIDE_MAX ||
        (int64_t)im->width * im->height > IMAGE_PIXELS_MAX)
        return err_set(err, "a PNG of %d x %d pixels is too large to write", im->width, im->height);
    REQUIRE(im->channels == 1 || im->channels == 3);
    if (!stbi_write_png_to_func(add, out, im->width, im->height, im->channels, im->data, im->width * im->channels))
        return err_set(err, "a PNG of %d x %d pixels can't be made", im->width, im->height);
    return true;
}

bool image_write_png(const Image *im, const char *path, Err *err)
{
    Buf b = {0};
    bool ok = image_png(im, &b, err) ? file_write(path, b.data, b.len, err) : err_prefix(err, "%s", path);
    buf_free(&b);
    return ok;
}

bool image_write_pnm(const Image *im, const char *path, Err *err)
{
    REQUIRE(im->channels == 1 || im->channels == 3);
    Buf b = {0};
    buf_printf(&b, "P%d\n%d %d\n255\n", im->channels == 3 ? 6 : 5, im->width, im->height);
    buf_add(&b, im->data, size_mul(size_mul((size_t)im->width, (size_t)im->height), (size_t)im->channels));
    bool ok = file_write(path, b.data, b.len, err);
    buf_free(&b);
    return ok;
}
