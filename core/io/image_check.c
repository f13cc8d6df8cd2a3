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

static bool png_walk(Png *p, const uint8_t *bytes, size_t n, Err *err)
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
    bool ok = png_walk(&p, bytes, n, err);
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

/* --- JPEG --- */

/* JPEG (ITU-T T.81): the segments in the order in which the library will meet them. Entropy-coded data is skipped by
 * the same rule: it ends at the first FF that is followed by neither 00 nor a restart marker. */
enum {
    SOF0 = 0xc0,
    SOF1 = 0xc1,
    SOF2 = 0xc2,
    DHT = 0xc4,
    SOI = 0xd8,
    EOI = 0xd9,
    SOS = 0xda,
    DQT = 0xdb,
    DNL = 0xdc,
    DRI = 0xdd,
    APP0 = 0xe0,
    APP1 = 0xe1,
    APP15 = 0xef,
    COM = 0xfe
};
enum { SCANS_MAX = 64 };

typedef struct Jpeg {
    ImagePlan *plan;
    const uint8_t *bytes;
    size_t n, at;
    bool framed, progressive, oriented;
    unsigned components, scans;
    uint8_t id[3], table[3];      /* of each component: its name and quantisation table */
    bool huffman[2][4], quant[4]; /* which tables exist */
} Jpeg;

static bool damaged(Err *err, const char *what)
{
    return err_set(err, "a damaged JPEG: %s. Get it again or export it again", what);
}

static bool cut_off(const Jpeg *j, Err *err)
{
    return err_set(err, "a JPEG that is cut off after %zu bytes. Get the whole file again", j->n);
}

/* SOF: what is not read is said by name, for each has another remedy */
static bool frame(Jpeg *j, const uint8_t *s, size_t n, Err *err)
{
    if (j->framed || n < 6)
        return damaged(err, "its frame header is wrong");
    if (s[0] != 8)
        return err_set(err,
                       "a JPEG with %u bits a sample; only 8 are read. Convert it to 8-bit PNG, for example with djpeg",
                       s[0]);
    if (be16(s + 1) == 0 && be16(s + 3) != 0)
        return err_set(
            err, "a JPEG that gives its height after its pixels, which is not read. Save it anew in a picture editor");
    if (!image_check_sides(be16(s + 3), be16(s + 1), err))
        return false;
    j->components = s[5];
    if (j->components == 4)
        return err_set(
            err,
            "a CMYK JPEG (for printing), which Vitrine does not read. Convert it: convert IN -colorspace sRGB OUT.png");
    if ((j->components != 1 && j->components != 3) || n != 6 + 3 * (size_t)j->components)
        return damaged(err, "its frame header is wrong");
    for (unsigned i = 0; i < j->components; i++) {
        j->id[i] = s[6 + 3 * i];
        j->table[i] = s[8 + 3 * i];
        if (j->table[i] > 3)
            return damaged(err, "a component names a quantisation table above 3");
        for (unsigned k = 0; k < i; k++)
            if (j->id[k] == j->id[i])
                return damaged(err, "two components have the same name");
    }
    j->plan->height = (int)be16(s + 1);
    j->plan->width = (int)be16(s + 3);
    return j->framed = true;
}

/* At most 256 codes, and never all ones (T.81 C.2): then every code has its place in the library's tables. */
static bool huffman_tables(Jpeg *j, const uint8_t *s, size_t n, Err *err)
{
    while (n > 0) {
        if (n < 17 || s[0] >> 4 > 1 || (s[0] & 15) > 3)
            return damaged(err, "a Huffman table is wrong");
        unsigned count = 0, code = 0;
        for (unsigned length = 1; length <= 16; length++, code <<= 1) {
            count += s[length];
            code += s[length];
            if (s[length] && code >= 1u << length)
                return damaged(err, "a Huffman table has more codes than fit");
        }
        if (count > 256 || n < 17 + (size_t)count)
            return damaged(err, "a Huffman table has too many codes");
        j->huffman[s[0] >> 4][s[0] & 15] = true;
        s += 17 + count;
        n -= 17 + (size_t)count;
    }
    return true;
}

static bool quantisation_tables(Jpeg *j, const uint8_t *s, size_t n, Err *err)
{
    while (n > 0) {
        size_t size = s[0] >> 4 ? 129 : 65;
        if (s[0] >> 4 > 1 || (s[0] & 15) > 3 || n < size)
            return damaged(err, "a quantisation table is wrong");
        j->quant[s[0] & 15] = true;
        s += size;
        n -= size;
    }
    return true;
}

static bool scan_component(const Jpeg *j, const uint8_t *s, bool dc, bool ac, Err *err)
{
    unsigned i = 0;
    while (i < j->components && j->id[i] != s[0])
        i++;
    if (i == j->components)
        return damaged(err, "a scan names a component that does not exist");
    if (s[1] >> 4 > 3 || (s[1] & 15) > 3 || (dc && !j->huffman[0][s[1] >> 4]) || (ac && !j->huffman[1][s[1] & 15]))
        return damaged(err, "a scan uses a Huffman table that is missing");
    return j->quant[j->table[i]] || damaged(err, "a quantisation table is missing");
}

static bool scan(Jpeg *j, const uint8_t *s, size_t n, Err *err)
{
    unsigned count = n ? s[0] : 0;
    if (!j->framed || count < 1 || count > j->components || n != 4 + 2 * (size_t)count)
        return damaged(err, "a scan header is wrong");
    if (++j->scans > SCANS_MAX)
        return err_set(err, "a JPEG with more than %d scans. Save it anew in a picture editor", SCANS_MAX);
    unsigned first = s[n - 3], last = s[n - 2], high = s[n - 1] >> 4, low = s[n - 1] & 15;
    if (j->progressive
            ? first > last || last > 63 || high > 13 || low > 13 || (first == 0 && last != 0) || (first && count > 1)
            : first != 0 || high != 0 || low != 0)
        return damaged(err, "a scan header is wrong");
    bool dc = !j->progressive || (first == 0 && high == 0), ac = !j->progressive || first > 0;
    for (unsigned i = 0; i < count; i++)
        if (!scan_component(j, s + 1 + 2 * i, dc, ac, err))
            return false;
    while (j->at < j->n) {
        if (j->bytes[j->at++] != 0xff)
            continue;
        size_t mark = j->at - 1;
        while (j->at < j->n && j->bytes[j->at] == 0xff)
            j->at++;
        if (j->at == j->n)
            break;
        uint8_t marker = j->bytes[j->at++];
        if (marker != 0 && (marker < 0xd0 || marker > 0xd7)) {
            j->at = mark;
            return true;
        }
    }
    return cut_off(j, err);
}

static bool segment(Jpeg *j, uint8_t marker, const uint8_t *s, size_t n, Err *err)
{
    switch (marker) {
    case SOF0:
    case SOF1:
    case SOF2: j->progressive = marker == SOF2; return frame(j, s, n, err);
    case DHT: return huffman_tables(j, s, n, err);
    case DQT: return quantisation_tables(j, s, n, err);
    case DRI: return n == 2 || damaged(err, "its restart interval is wrong");
    case DNL: return (j->framed && n == 2 && (int)be16(s) == j->plan->height) || damaged(err, "it states two heights");
    case SOS: return scan(j, s, n, err);
    case APP1: /* Exif or XMP; the first Exif counts */
        if (!j->oriented && n > 6 && !memcmp(s, "Exif\0\0", 6)) {
            j->oriented = true;
            j->plan->orientation = image_exif(s + 6, n - 6);
        }
        return true;
    default: break;
    }
    if ((marker >= APP0 && marker <= APP15) || marker == COM)
        return true;
    if (marker >= 0xc9 && marker <= 0xcf) /* SOF9 … SOF15 and DAC */
        return err_set(err, "a JPEG with arithmetic coding, which is not read. Convert it: djpeg IN > OUT.ppm");
    if (marker >= 0xc3 && marker <= 0xc7)
        return err_set(err, "a lossless or hierarchical JPEG, which is not read. Convert it to PNG");
    return damaged(err, "it has an unknown segment");
}

static bool next_marker(Jpeg *j, uint8_t *marker, Err *err)
{
    /* before the frame the library looks for the next FF, after it FF has to follow at once */
    while (!j->framed && j->at < j->n && j->bytes[j->at] != 0xff)
        j->at++;
    if (j->at < j->n && j->bytes[j->at] != 0xff)
        return damaged(err, "a segment does not begin where the last one ends");
    while (j->at < j->n && j->bytes[j->at] == 0xff)
        j->at++;
    if (j->at >= j->n)
        return cut_off(j, err);
    *marker = j->bytes[j->at++];
    return true;
}

static bool jpeg_walk(Jpeg *j, Err *err)
{
    for (;;) {
        uint8_t marker = 0;
        if (!next_marker(j, &marker, err))
            return false;
        if (marker == EOI)
            return (j->scans > 0) || damaged(err, "it has no picture data");
        if (marker == 0 || marker == 1 || (marker >= 0xd0 && marker <= SOI))
            return damaged(err, "it has a marker in the wrong place");
        if (j->n - j->at < 2)
            return cut_off(j, err);
        size_t length = be16(j->bytes + j->at);
        if (length < 2)
            return damaged(err, "it has a segment without a length");
        if (length > j->n - j->at)
            return cut_off(j, err);
        const uint8_t *s = j->bytes + j->at + 2;
        j->at += length;
        if (!segment(j, marker, s, length - 2, err))
            return false;
    }
}

bool image_check_jpeg(ImagePlan *plan, const uint8_t *bytes, size_t n, Err *err)
{
    Jpeg j = {.plan = plan, .bytes = bytes, .n = n, .at = 2};
    if (!jpeg_walk(&j, err))
        return false;
    /* planes padded to the largest unit (32 x 32), their coefficients when progressive, rows for upsampling, the
     * picture */
    size_t width = ((size_t)plan->width + 31) / 32 * 32, height = ((size_t)plan->height + 31) / 32 * 32;
    plan->memory = width * height * j.components * (j.progressive ? 4 : 2) + width * 16 + (1 << 20);
    return true;
}
