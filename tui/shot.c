#include "tui/shot.h"

#include "core/io/font.h"
#include "core/io/image.h"
#include "tui/canvas/export.h"

static void glyph(void *font, uint32_t ch, int cells, uint8_t *alpha)
{
    font_glyph(font, ch, cells, alpha);
}

bool shot_png(const Canvas *c, ColourMode mode, bool light, Buf *out, Err *err)
{
    Image im;
    Font *font = font_open(PIXELS_W, PIXELS_H, err);
    if (!font)
        return false;
    image_init(&im, export_width(c), export_height(c), 3);
    export_pixels(c, mode, light, glyph, font, im.data);
    bool ok = image_png(&im, out, err);
    image_free(&im);
    font_close(font);
    return ok;
}
