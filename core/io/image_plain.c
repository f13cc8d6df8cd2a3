/* BMP: of the many header versions one is made. The library takes only some of them, reads past short palettes and does
 * not notice a missing row; it is given a new file with a complete palette or explicit channel masks and all rows. */
#include <string.h>

#include "core/io/image_parts.h"

typedef struct Bmp {
    const uint8_t *palette;
    size_t colours, entry; /* entries, bytes of one */
    const uint8_t *rows;
    size_t stride;
    unsigned bits;
    uint32_t mask[4];      /* red, green, blue, alpha: of 16 and 32 bits */
    int32_t width, height; /* height < 0: top row first */
} Bmp;

static bool damaged(Err *err, const char *what)
{
    return err_set(err, "a damaged BMP: %s. Export it again", what);
}

/* One to eight bits in a row, none shared: the library's scaling holds for those only. */
static bool masks_ok(const uint32_t mask[4])
{
    uint32_t seen = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t m = mask[i];
        if ((m == 0 && i < 3) || (m & seen))
            return false;
        seen |= m;
        while (m && !(m & 1))
            m >>= 1;
        if (m > 255 || (m & (m + 1)))
            return false;
    }
    return true;
}

static bool read_masks(Bmp *b, const uint8_t *bytes, size_t n, uint32_t header, uint32_t packing, Err *err)
{
    static const uint32_t usual[][4] = {{31u << 10, 31u << 5, 31u, 0}, {0xffu << 16, 0xffu << 8, 0xffu, 0}};
    memcpy(b->mask, usual[b->bits == 32], sizeof b->mask); /* the fourth byte is unused, not alpha */
    if (packing == 0)
        return true;
    size_t count = header >= 56 || packing == 6 ? 4 : 3;
    if (n < 54 + 4 * count)
        return damaged(err, "it ends in its header");
    b->mask[3] = 0;
    for (size_t i = 0; i < count; i++)
        b->mask[i] = le32(bytes + 54 + 4 * i);
    return masks_ok(b->mask) || err_set(err, "a BMP with unusual channel masks. Convert it: convert IN OUT.png");
}

/* Is it a kind that is read? packing as the header says it. */
static bool kind_ok(const Bmp *b, uint32_t packing, Err *err)
{
    static const uint32_t depths[] = {1, 4, 8, 16, 24, 32};
    bool masked = packing == 3 || packing == 6, known = false;
    if (packing == 1 || packing == 2)
        return err_set(err, "a run-length coded BMP, which is not read. Convert it: convert IN OUT.png");
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        known |= b->bits == depths[i];
    if ((packing != 0 && !masked) || (masked && b->bits != 16 && b->bits != 32) || !known)
        return err_set(err,
                       "a BMP of a rare kind (%u bits, packing %u), which is not read. Convert it: convert IN OUT.png",
                       b->bits, packing);
    return true;
}

/* Between the header and the rows; used: how many colours the header says there are, 0 for all of that depth. */
static void read_palette(Bmp *b, const uint8_t *palette, const uint8_t *end, size_t entry, uint32_t used)
{
    size_t room = (size_t)(end - palette) / entry;
    if (b->bits > 8)
        return;
    b->palette = palette;
    b->entry = entry;
    b->colours = (size_t)1 << b->bits;
    if (used && used < b->colours)
        b->colours = used;
    if (b->colours > room)
        b->colours = room;
}

static bool read_header(Bmp *b, const uint8_t *bytes, size_t n, Err *err)
{
    uint32_t header = n >= 26 ? le32(bytes + 14) : 0;
    if (header < 12 || n < 14 + (size_t)header || (header < 40 && header != 12))
        return damaged(err, "it ends in its header or has an unknown one");
    bool old = header == 12;
    uint32_t packing = old ? 0 : le32(bytes + 30), used = old ? 0 : le32(bytes + 46);
    b->width = old ? (int32_t)le16(bytes + 18) : (int32_t)le32(bytes + 18);
    b->height = old ? (int32_t)le16(bytes + 20) : (int32_t)le32(bytes + 22);
    b->bits = le16(bytes + (old ? 24 : 28));
    if (le16(bytes + (old ? 22 : 26)) != 1)
        return damaged(err, "its header is wrong");
    if (!kind_ok(b, packing, err))
        return false;
    int64_t height = b->height;
    if (!image_check_sides(b->width < 0 ? 0 : (uint64_t)b->width, (uint64_t)(height < 0 ? -height : height), err))
        return false;
    if (b->bits >= 16 && b->bits != 24 && !read_masks(b, bytes, n, header, packing, err))
        return false;
    size_t start = 14 + (size_t)header, offset = le32(bytes + 10), rows = (size_t)(height < 0 ? -height : height);
    b->stride = ((size_t)b->width * b->bits + 31) / 32 * 4;
    if (offset < start || offset > n || (n - offset) / b->stride < rows)
        return err_set(
            err,
            "a BMP that is cut off: its rows need %zu bytes from byte %zu, the file has %zu. Get the whole file again",
            b->stride * rows, offset, n);
    b->rows = bytes + offset;
    read_palette(b, bytes + start, bytes + offset, old ? 3 : 4, used);
    return b->colours || b->bits > 8 || damaged(err, "it has no palette");
}

static void put16(Buf *out, unsigned v)
{
    buf_putc(out, (char)(v & 255));
    buf_putc(out, (char)(v >> 8 & 255));
}

static void put32(Buf *out, uint32_t v)
{
    put16(out, v & 0xffff);
    put16(out, v >> 16);
}

static void write_clean(Buf *out, const Bmp *b, size_t rows)
{
    bool masked = b->bits == 16 || b->bits == 32;
    uint32_t header = masked ? 108 : 40, colours = b->bits <= 8 ? 1u << b->bits : 0;
    buf_add(out, "BM", 2);
    put32(out, 0); /* the length, which nobody reads */
    put32(out, 0);
    put32(out, 14 + header + 4 * colours);
    put32(out, header);
    put32(out, (uint32_t)b->width);
    put32(out, (uint32_t)b->height);
    put16(out, 1);
    put16(out, b->bits);
    put32(out, masked ? 3 : 0);
    for (int i = 0; i < 5; i++)
        put32(out, 0);
    for (int i = 0; masked && i < 4; i++)
        put32(out, b->mask[i]);
    for (int i = 0; masked && i < 13; i++)
        put32(out, 0);
    for (uint32_t i = 0; i < colours; i++) { /* colours beyond the palette are black */
        const uint8_t *c = b->palette + i * b->entry;
        put32(out, i < b->colours ? (uint32_t)c[2] << 16 | (uint32_t)c[1] << 8 | c[0] : 0);
    }
    buf_add(out, b->rows, b->stride * rows);
}

bool image_check_bmp(ImagePlan *plan, const uint8_t *bytes, size_t n, Err *err)
{
    Bmp b = {0};
    if (!read_header(&b, bytes, n, err))
        return false;
    plan->width = b.width;
    plan->height = b.height < 0 ? -b.height : b.height;
    write_clean(&plan->clean, &b, (size_t)plan->height);
    plan->memory = (size_t)plan->width * (size_t)plan->height * 4 + (1 << 20);
    return true;
}

/* --- PNM --- */

/* Portable grey- and pixmaps (netpbm's pgm(5) and ppm(5)), plain and raw. The parser is total: every byte string gives
 * a picture or an error, no number is believed before it is compared with the length of the file. */

typedef struct Pnm {
    const uint8_t *at, *end;
} Pnm;

static bool pnm_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next decimal number after spaces and comments; −1 when there is none or it is above 10^7. */
static int32_t pnm_number(Pnm *p)
{
    while (p->at < p->end && (pnm_space(*p->at) || *p->at == '#'))
        if (*p->at++ == '#')
            while (p->at < p->end && *p->at != '\n' && *p->at != '\r')
                p->at++;
    int32_t value = -1;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
        value = (value < 0 ? 0 : value) * 10 + (*p->at - '0');
        if (value > 10000000)
            return -1;
    }
    return value;
}

static bool pnm_cut_off(Err *err)
{
    return err_set(err, "a PNM picture that ends before its last pixel. Get the whole file again");
}

static bool pnm_raw(Image *im, Pnm *p, uint32_t max, Err *err)
{
    size_t count = image_bytes(im), wide = max > 255 ? 2 : 1;
    if ((size_t)(p->end - p->at) / wide < count)
        return pnm_cut_off(err);
    for (size_t i = 0; i < count; i++, p->at += wide) {
        uint32_t v = wide == 2 ? be16(p->at) : *p->at;
        if (v > max)
            return err_set(err, "a damaged PNM picture: sample %zu is %u, its maximum is %u. Write it again", i, v,
                           max);
        im->data[i] = (uint8_t)((v * 255 + max / 2) / max);
    }
    return true;
}

static bool pnm_plain(Image *im, Pnm *p, uint32_t max, Err *err)
{
    size_t count = image_bytes(im);
    for (size_t i = 0; i < count; i++) {
        int32_t v = pnm_number(p);
        if (v < 0 && p->at == p->end)
            return pnm_cut_off(err);
        if (v < 0 || (uint32_t)v > max)
            return err_set(err, "a damaged PNM picture: sample %zu is not a number from 0 to %u. Write it again", i,
                           max);
        im->data[i] = (uint8_t)(((uint32_t)v * 255 + max / 2) / max);
    }
    return true;
}

bool image_pnm(Image *out, const uint8_t *bytes, size_t n, Err *err)
{
    if (n < 3 || bytes[0] != 'P' || !strchr("2356", bytes[1] ? bytes[1] : '?'))
        return err_set(err, "not a PGM or PPM picture");
    bool raw = bytes[1] >= '5';
    int channels = bytes[1] == '3' || bytes[1] == '6' ? 3 : 1;
    Pnm p = {bytes + 2, bytes + n};
    int32_t width = pnm_number(&p), height = pnm_number(&p), max = pnm_number(&p);
    if (width < 0 || height < 0 || max < 0)
        return err_set(err, "a damaged PNM header: width, height and maximum must be decimal numbers. Write it again");
    if (max == 0 || max > 65535)
        return err_set(err, "a damaged PNM header: the maximum is %d, allowed is 1 to 65535. Write it again", max);
    if (!image_check_sides((uint64_t)width, (uint64_t)height, err))
        return false;
    if (raw && (p.at == p.end || !pnm_space(*p.at++)))
        return pnm_cut_off(err);
    /* a plain sample takes a digit and a space at least: memory is taken only for a file that can fill it */
    size_t count = (size_t)width * (size_t)height * (size_t)channels, left = (size_t)(p.end - p.at);
    if (raw ? left < count : (left + 1) / 2 < count)
        return pnm_cut_off(err);
    Image im;
    image_init(&im, width, height, channels);
    im.was_16_bit = max > 255;
    if (!(raw ? pnm_raw : pnm_plain)(&im, &p, (uint32_t)max, err)) {
        image_free(&im);
        return false;
    }
    *out = im;
    return true;
}
