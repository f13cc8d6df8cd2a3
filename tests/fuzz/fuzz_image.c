/* libFuzzer: every reader of pictures in one process: recognising, checking, decoding, anymaps, orientation, messages.
 * A PNG is also tried with its checksums put right. Build with clang -fsanitize=fuzzer,address,undefined; seeds:
 * tests/data/image, tests/data/resize. */
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/io/image_parts.h"
#include "tests/core_io/png_seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void decode(const ImagePlan *plan, const uint8_t *bytes, size_t n)
{
    size_t pixels = (size_t)plan->width * (size_t)plan->height;
    if (pixels > 1 << 18) /* large pictures are slow, not different */
        return;
    DecodeOut out;
    uint8_t *arena = xcalloc(plan->memory, 1);
    Image im;
    image_init(&im, plan->width, plan->height, 3);
    image_decode_plan(&out, im.data, plan, bytes, n, arena);
    REQUIRE(!out.done || (out.width == plan->width && out.height == plan->height));
    if (out.done) {
        im.channels = out.channels;
        image_orient(&im, plan->orientation);
    }
    image_free(&im);
    free(arena);
}

static void read_picture(const uint8_t *bytes, size_t n)
{
    Err err = {""};
    const ImageKind *kind = image_kind_find(bytes, n);
    REQUIRE(!kind || (kind->name && kind->phrase));
    if (!kind)
        return;
    if (kind->format == IMAGE_NOT_READ) {
        REQUIRE(!image_kind_refuse(kind, "photo.x", &err) && err.text[0]);
    } else if (kind->format == IMAGE_PNM) {
        Image im = {0};
        bool ok = image_pnm(&im, bytes, n, &err);
        REQUIRE(ok == (im.data != NULL));
        image_free(&im);
    } else {
        ImagePlan plan;
        if (image_check(&plan, kind->format, bytes, n, &err))
            decode(&plan, bytes, n);
        else
            REQUIRE(err.text[0] && !strchr(err.text, '\n'));
        image_plan_free(&plan);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    int orientation = image_exif(bytes, n);
    REQUIRE(orientation >= 1 && orientation <= 8);
    read_picture(bytes, n);
    if (n > 8 && !memcmp(bytes, "\x89PNG", 4)) {
        uint8_t *copy = xmalloc(n);
        memcpy(copy, bytes, n);
        seal_png(copy, n);
        read_picture(copy, n);
        free(copy);
    }
    return 0;
}
