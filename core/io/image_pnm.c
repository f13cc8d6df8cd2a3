/* Portable grey- and pixmaps (netpbm's pgm(5) and ppm(5)), plain and raw. The parser is total: every byte string gives
 * a picture or an error, no number is believed before it is compared with the length of the file. */
#include <string.h>

#include "core/io/image_parts.h"

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
