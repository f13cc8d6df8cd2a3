#include "core/io/font.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/file.h"
#include "core/base/mem.h"

/* Only outlines are filled here, which needs floor, sqrt and fabs; the rest of what the library takes from libm belongs
 * to distance fields. */
static double not_called(double x, double y)
{
    return x + y;
}
#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#define STBTT_ifloor(x) ((int)dm_floor(x))
#define STBTT_iceil(x) (-(int)dm_floor(-(x)))
#define STBTT_sqrt(x) sqrt(x)
#define STBTT_pow(x, y) not_called(x, y)
#define STBTT_fmod(x, y) not_called(x, y)
#define STBTT_cos(x) not_called(x, 0)
#define STBTT_acos(x) not_called(x, 0)
#define STBTT_fabs(x) dm_abs(x)
#define STBTT_malloc(n, context) ((void)(context), xmalloc(n))
#define STBTT_free(p, context) ((void)(context), free(p))
#define STBTT_assert(condition) ((void)0)
#include <math.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <stb/stb_truetype.h>
#pragma GCC diagnostic pop

enum { FONT_BYTES = 32 * 1024 * 1024 };

struct Font {
    Buf bytes;
    stbtt_fontinfo info;
    float scale;
    int baseline, w, h; /* of a cell; where its letters stand, from its top */
};

/* Debian and its relatives, Fedora, Arch, FreeBSD, macOS. */
static const char *const PLACES[] = {"/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
                                     "/usr/share/fonts/dejavu-sans-mono-fonts/DejaVuSansMono.ttf",
                                     "/usr/share/fonts/TTF/DejaVuSansMono.ttf",
                                     "/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf",
                                     "/usr/share/fonts/liberation-mono/LiberationMono-Regular.ttf",
                                     "/usr/local/share/fonts/dejavu/DejaVuSansMono.ttf",
                                     "/Library/Fonts/DejaVuSansMono.ttf"};

static const char *place(Err *err)
{
    const char *own = getenv("VITRINE_FONT");
    if (own && *own)
        return own;
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++)
        if (file_exists(PLACES[i]))
            return PLACES[i];
    err_set(err, "a PNG needs a monospaced TrueType font, and none of those known is on this machine: install DejaVu "
                 "(Debian: fonts-dejavu-core), or name a .ttf in VITRINE_FONT; .svg needs none");
    return NULL;
}

Font *font_open(int cell_w, int cell_h, Err *err)
{
    const char *path = place(err);
    if (!path)
        return NULL;
    Font *f = xcalloc(1, sizeof *f);
    f->w = cell_w;
    f->h = cell_h;
    int ascent, descent, gap, advance, bearing;
    bool ok = file_read(path, FONT_BYTES, &f->bytes, err);
    if (ok && (f->bytes.len < 1024 || stbtt_GetFontOffsetForIndex((unsigned char *)f->bytes.data, 0) != 0 ||
               !stbtt_InitFont(&f->info, (unsigned char *)f->bytes.data, 0)))
        ok = err_set(err, "%.300s is not a TrueType font", path);
    if (ok) {
        stbtt_GetFontVMetrics(&f->info, &ascent, &descent, &gap);
        stbtt_GetCodepointHMetrics(&f->info, 'M', &advance, &bearing);
        if (advance < 1 || ascent < 1 || ascent - descent < 1)
            ok = err_set(err, "%.300s does not give the size of its letters: name another font", path);
    }
    if (!ok) {
        font_close(f);
        return NULL;
    }
    float by_width = (float)cell_w / (float)advance, by_height = (float)cell_h / (float)(ascent - descent);
    f->scale = by_width < by_height ? by_width : by_height;
    int used = (int)((float)(ascent - descent) * f->scale);
    f->baseline = (cell_h - used) / 2 + (int)((float)ascent * f->scale + 0.5f);
    return f;
}

void font_close(Font *f)
{
    if (f)
        buf_free(&f->bytes);
    free(f);
}

bool font_glyph(const Font *f, uint32_t ch, int cells, uint8_t *alpha)
{
    int glyph = stbtt_FindGlyphIndex(&f->info, (int)ch), w, h, left, top;
    int width = f->w * cells;
    memset(alpha, 0, (size_t)width * (size_t)f->h);
    unsigned char *bits = stbtt_GetGlyphBitmap(&f->info, f->scale, f->scale, glyph, &w, &h, &left, &top);
    for (int y = 0; bits && y < h; y++)
        for (int x = 0; x < w; x++) {
            int to_y = f->baseline + top + y, to_x = left + x;
            if (to_y >= 0 && to_y < f->h && to_x >= 0 && to_x < width)
                alpha[(size_t)to_y * (size_t)width + (size_t)to_x] = bits[(size_t)y * (size_t)w + (size_t)x];
        }
    stbtt_FreeBitmap(bits, NULL);
    return glyph != 0;
}
