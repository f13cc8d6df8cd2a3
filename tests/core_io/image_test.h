/* What the picture tests share: files as bytes, pictures against pictures, errors by a part of their text. */
#ifndef VITRINE_TESTS_CORE_IO_IMAGE_TEST_H
#define VITRINE_TESTS_CORE_IO_IMAGE_TEST_H
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/buf.h"
#include "core/io/image.h"

/* A whole file of tests/data, appended to b. */
static inline void slurp(Buf *b, const char *name)
{
    char path[256], chunk[4096];
    snprintf(path, sizeof path, "tests/data/%s", name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s can't be opened; run the tests from the root of the repository", path);
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_add(b, chunk, n);
    fclose(f);
    assert_true(b->len > 0);
}

static inline const uint8_t *bytes_of(const Buf *b)
{
    return (const uint8_t *)buf_str(b);
}

static inline Image must_decode(const char *name)
{
    Buf b = {0};
    Err err = {""};
    Image im = {0};
    slurp(&b, name);
    if (!image_decode(&im, name, bytes_of(&b), b.len, &err))
        fail_msg("%s", err.text);
    buf_free(&b);
    return im;
}

/* The decoding fails, leaves out alone, and says `part` in a line that begins with the name. */
static inline void must_refuse(const char *name, const void *bytes, size_t n, const char *part)
{
    Err err = {""};
    Image im = {.width = -7};
    if (image_decode(&im, name, bytes, n, &err))
        fail_msg("%s: decoded, although it should say \"%s\"", name, part);
    assert_int_equal(im.width, -7);
    assert_null(im.data);
    if (!strstr(err.text, part) || strchr(err.text, '\n') || strncmp(err.text, name, strlen(name)) != 0)
        fail_msg("said \"%s\", should say \"%s: … %s …\"", err.text, name, part);
}

/* Same size and channels, no sample further away than `within`. */
static inline void must_equal(const char *what, const Image *a, const Image *b, int within)
{
    if (a->width != b->width || a->height != b->height || a->channels != b->channels)
        fail_msg("%s: %d x %d x %d instead of %d x %d x %d", what, a->width, a->height, a->channels, b->width,
                 b->height, b->channels);
    for (size_t i = 0; i < image_bytes(a); i++)
        if (abs(a->data[i] - b->data[i]) > within)
            fail_msg("%s: sample %zu is %d, should be %d within %d", what, i, a->data[i], b->data[i], within);
}
#endif
