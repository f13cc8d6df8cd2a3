/* PNG (ISO 15948): every chunk inside the file, every checksum right, IHDR first and once. The library reads neither
 * checksums nor palette limits, hence it gets a new file: IHDR, the palette filled up to all colours an index can name,
 * tRNS, one IDAT, IEND. */
#include <string.h>
#include <zlib.h>

#include "core/io/image_parts.h"

typedef struct Png {
    ImagePlan *plan;
    unsigned depth, colour, interlaced;
    const uint8_t *palette, *alpha;
    size_t palette_n, alpha_n;
    Buf data; /* all IDAT chunks */
} Png;

typedef struct Chunk {
    char type[5];
    const uint8_t *data;
    size_t n;
} Chunk;

static bool ihdr(Png *p, const Chunk *c, Err *err)
{
    if (p->depth)
        return err_set(err, "a damaged PNG: it has two IHDR chunks. Export it again");
    if (c->n != 13)
        return err_set(err, "a damaged PNG: its IHDR chunk has %zu bytes instead of 13. Export it again", c->n);
    if (!image_check_sides(be32(c->data), be32(c->data + 4), err))
        return false;
    p->plan->width = (int)be32(c->data);
    p->plan->height = (int)be32(c->data + 4);
    p->depth = c->data[8];
    p->colour = c->data[9];
    p->interlaced = c->data[12];
    static const unsigned depths[] = {
        [0] = 1 | 2 | 4 | 8 | 16, [2] = 8 | 16, [3] = 1 | 2 | 4 | 8, [4] = 8 | 16, [6] = 8 | 16};
    bool one_bit = p->depth && (p->depth & (p->depth - 1)) == 0;
    if (p->colour > 6 || !one_bit || !(depths[p->colour] & p->depth) || c->data[10] || c->data[11] || p->interlaced > 1)
        return err_set(err, "a damaged PNG: no such picture type (colour type %u with %u bits). Export it again",
                       p->colour, p->depth);
    return true;
}

static bool plte(Png *p, const Chunk *c, Err *err)
{
    if (p->palette || p->data.len || c->n == 0 || c->n > 768 || c->n % 3)
        return err_set(err, "a damaged PNG: its palette is wrong (%zu bytes). Export it again", c->n);
    p->palette = c->data;
    p->palette_n = c->n / 3;
    return true;
}

static bool trns(Png *p, const Chunk *c, Err *err)
{
    size_t allowed = p->colour == 0 ? 2 : p->colour == 2 ? 6 : p->palette_n;
    bool fits = p->colour == 3 ? c->n > 0 && c->n <= allowed : c->n == allowed;
    if (p->alpha || p->data.len || p->colour >= 4 || !fits)
        return err_set(err, "a damaged PNG: its tRNS chunk is wrong (%zu bytes). Export it again", c->n);
    p->alpha = c->data;
    p->alpha_n = c->n;
    return true;
}

static bool idat(Png *p, const Chunk *c, Err *err)
{
    if (p->colour == 3 && !p->palette)
        return err_set(err, "a damaged PNG: a palette picture without a palette. Export it again");
    buf_add(&p->data, c->data, c->n);
    return true;
}

static bool exif(Png *p, const Chunk *c, Err *err)
{
    (void)err;
    p->plan->orientation = image_exif(c->data, c->n);
    return true;
}

static const struct {
    char type[5];
    bool (*take)(Png *, const Chunk *, Err *);
} takers[] = {{"IHDR", ihdr}, {"PLTE", plte}, {"tRNS", trns}, {"IDAT", idat}, {"eXIf", exif}};

static bool next_chunk(const uint8_t *bytes, size_t n, size_t *at, Chunk *c, Err *err)
{
    if (n - *at < 12)
        return err_set(err, "a PNG that is cut off after %zu bytes. Get the whole file again", n);
    const uint8_t *p = bytes + *at;
    uint32_t length = be32(p);
    for (int i = 0; i < 4; i++) {
        c->type[i] = (char)p[4 + i];
        if (!((p[4 + i] | 32) >= 'a' && (p[4 + i] | 32) <= 'z'))
            return err_set(err, "a damaged PNG: byte %zu should begin a chunk. Get it again", *at);
    }
    c->type[4] = 0;
    if (length > n - *at - 12)
        return err_set(err,
                       "a PNG that is cut off: its chunk %s needs %u bytes, the file has %zu. Get the whole file again",
                       c->type, length, n - *at - 12);
    c->data = p + 8;
    c->n = length;
    if (crc32(0, p + 4, (uInt)length + 4) != be32(c->data + c->n))
        return err_set(err, "a damaged PNG: the checksum of its chunk %s is wrong. Get it again", c->type);
    *at += c->n + 12;
    return true;
}

static bool walk(Png *p, const uint8_t *bytes, size_t n, Err *err)
{
    size_t at = 8;
    for (Chunk c = {0}; strcmp(c.type, "IEND") != 0;) {
        if (!next_chunk(bytes, n, &at, &c, err))
            return false;
        if (!strcmp(c.type, "CgBI"))
            return err_set(err,
                           "a PNG in Apple's private form. Convert it: pngcrush -revert-iphone-optimizations IN OUT");
        if (!p->depth && strcmp(c.type, "IHDR") != 0)
            return err_set(err, "a damaged PNG: it begins with chunk %s instead of IHDR. Export it again", c.type);
        size_t i = 0, count = sizeof takers / sizeof *takers;
        while (i < count && strcmp(takers[i].type, c.type) != 0)
            i++;
        if (i < count && !takers[i].take(p, &c, err))
            return false;
        bool critical = !(c.type[0] & 32);
        if (i == count && critical && strcmp(c.type, "IEND") != 0)
            return err_set(err, "a PNG with the unknown chunk %s, without which it can't be shown. Export it again",
                           c.type);
    }
    return p->data.len || err_set(err, "a damaged PNG: it has no picture data. Export it again");
}

static void put_chunk(Buf *out, const char *type, const void *data, size_t n)
{
    const uint8_t length[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
    static const uint8_t no_checksum[4]; /* checked above; the library skips it */
    buf_add(out, length, 4);
    buf_add(out, type, 4);
    if (n)
        buf_add(out, data, n);
    buf_add(out, no_checksum, 4);
}

static void write_clean(const Png *p, const uint8_t *header)
{
    Buf *out = &p->plan->clean;
    buf_add(out, "\x89PNG\r\n\x1a\n", 8);
    put_chunk(out, "IHDR", header, 13);
    if (p->colour == 3) {
        uint8_t all[768] = {0}; /* an index beyond the palette is black */
        memcpy(all, p->palette, p->palette_n * 3);
        size_t colours = (size_t)1 << p->depth;
        put_chunk(out, "PLTE", all, 3 * (p->palette_n > colours ? p->palette_n : colours));
    }
    if (p->alpha)
        put_chunk(out, "tRNS", p->alpha, p->alpha_n);
    put_chunk(out, "IDAT", p->data.data, p->data.len);
    put_chunk(out, "IEND", NULL, 0);
}

bool image_check_png(ImagePlan *plan, const uint8_t *bytes, size_t n, Err *err)
{
    Png p = {.plan = plan};
    bool ok = walk(&p, bytes, n, err);
    if (ok) {
        plan->was_16_bit = p.depth == 16;
        write_clean(&p, bytes + 16);
        /* the data doubled once while growing, rows unfiltered (twice with interlacing), expanded, reduced to 8 bits */
        size_t pixels = (size_t)plan->width * (size_t)plan->height, wide = p.depth == 16 ? 8 : 4;
        plan->memory = 2 * p.data.len + (pixels + (size_t)plan->height * 8) * wide * 5 + (1 << 20);
    }
    buf_free(&p.data);
    return ok;
}
