/* Orientation: one tag of the first directory of a TIFF structure (Exif 2.32, tag 0x0112), found in JPEG APP1 and PNG
 * eXIf. */
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/io/image_parts.h"

int image_exif(const uint8_t *tiff, size_t n)
{
    if (n < 8)
        return 1;
    bool big = !memcmp(tiff, "MM\0*", 4);
    if (!big && memcmp(tiff, "II*\0", 4) != 0)
        return 1;
    unsigned (*get16)(const uint8_t *) = big ? be16 : le16;
    uint32_t (*get32)(const uint8_t *) = big ? be32 : le32;
    size_t at = get32(tiff + 4);
    if (at > n - 2)
        return 1;
    size_t entries = get16(tiff + at);
    enum { ENTRY = 12, TAG = 0x0112, SHORT = 3 };
    for (at += 2; entries > 0 && n - at >= ENTRY; entries--, at += ENTRY) {
        const uint8_t *e = tiff + at;
        if (get16(e) != TAG)
            continue;
        unsigned value = get16(e + 8);
        return get16(e + 2) == SHORT && get32(e + 4) == 1 && value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

/* Where stored row 0 and stored column 0 are on the upright picture, as in the Exif table: the upright pixel (x, y) is
 * the stored pixel whose column is x or y (swapped), counted from the left or from the right. */
static const struct {
    bool swapped, from_right, from_bottom;
} turns[9] = {
    [1] = {false, false, false}, [2] = {false, true, false}, [3] = {false, true, true}, [4] = {false, false, true},
    [5] = {true, false, false},  [6] = {true, false, true},  [7] = {true, true, true},  [8] = {true, true, false},
};

void image_orient(Image *im, int orientation)
{
    REQUIRE(orientation >= 1 && orientation <= 8);
    if (orientation == 1) {
        im->orientation = 1;
        return;
    }
    bool swapped = turns[orientation].swapped;
    Image up;
    image_init(&up, swapped ? im->height : im->width, swapped ? im->width : im->height, im->channels);
    size_t depth = (size_t)im->channels;
    uint8_t *to = up.data;
    for (int y = 0; y < up.height; y++)
        for (int x = 0; x < up.width; x++, to += depth) {
            int column = swapped ? y : x, row = swapped ? x : y;
            if (turns[orientation].from_right)
                column = im->width - 1 - column;
            if (turns[orientation].from_bottom)
                row = im->height - 1 - row;
            memcpy(to, im->data + ((size_t)row * (size_t)im->width + (size_t)column) * depth, depth);
        }
    up.had_alpha = im->had_alpha;
    up.was_16_bit = im->was_16_bit;
    up.orientation = orientation;
    image_free(im);
    *im = up;
}
