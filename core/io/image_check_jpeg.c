/* JPEG (ITU-T T.81): the segments in the order in which the library will meet them. Entropy-coded data is skipped by
 * the same rule: it ends at the first FF that is followed by neither 00 nor a restart marker. */
#include <string.h>

#include "core/io/image_parts.h"

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

static bool walk(Jpeg *j, Err *err)
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
    if (!walk(&j, err))
        return false;
    /* planes padded to the largest unit (32 x 32), their coefficients when progressive, rows for upsampling, the
     * picture */
    size_t width = ((size_t)plan->width + 31) / 32 * 32, height = ((size_t)plan->height + 31) / 32 * 32;
    plan->memory = width * height * j.components * (j.progressive ? 4 : 2) + width * 16 + (1 << 20);
    return true;
}
