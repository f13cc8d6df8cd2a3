/* Number types: their names, widths and conversion. Bytes are put together by shifts: data may lie at odd offsets,
 * hosts may be big-endian. */
#include <string.h>

#include "core/io/tensor_parts.h"

uint16_t le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

uint32_t le32(const uint8_t *p)
{
    return le16(p) | (uint32_t)le16(p + 2) << 16;
}

uint64_t le64(const uint8_t *p)
{
    return le32(p) | (uint64_t)le32(p + 4) << 32;
}

void put_le(Buf *out, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++, v >>= 8)
        buf_putc(out, (char)(unsigned char)(v & 0xff));
}

void put_floats(uint8_t *out, const float *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t u;
        memcpy(&u, in + i, 4);
        for (int k = 0; k < 4; k++, u >>= 8)
            *out++ = (uint8_t)(u & 0xff);
    }
}

static float from_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}

static uint32_t to_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}

float f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7fff;
    if (rest >= 0x7c00) /* infinity and NaN: the exponent is all ones in both types */
        return from_bits(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    if (rest >= 0x400)
        return from_bits(sign | ((rest << 13) + (112u << 23)));
    float tiny = (float)rest * 0x1p-24f; /* subnormal: exact */
    return sign ? -tiny : tiny;
}

/* u / 2^shift to nearest, ties to even; 1 ≤ shift ≤ 24. */
static uint32_t shift_even(uint32_t u, unsigned shift)
{
    uint32_t half = 1u << (shift - 1), rest = u & (2 * half - 1), q = u >> shift;
    return q + (rest > half || (rest == half && (q & 1)));
}

uint16_t f32_to_f16(float x)
{
    uint32_t u = to_bits(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff, h;
    if (a > 0x7f800000) {
        h = 0x7c00 | (a >> 13 & 0x3ff);
        h += h == 0x7c00;         /* a payload of low bits only must not become infinity */
    } else if (a >= 0x477ff000) { /* 65520 and above round to infinity */
        h = 0x7c00;
    } else if (a >= 0x38800000) { /* from 2^-14 on: normal; a carry runs into the exponent, as it should */
        h = shift_even(a - (112u << 23), 13);
    } else if (a >= 0x33000000) { /* from 2^-25 on: multiples of 2^-24 */
        h = shift_even((a & 0x7fffff) | 0x800000, 126 - (a >> 23));
    } else {
        h = 0;
    }
    return (uint16_t)(sign | h);
}

float bf16_to_f32(uint16_t h)
{
    return from_bits((uint32_t)h << 16);
}

uint16_t f32_to_bf16(float x)
{
    uint32_t u = to_bits(x), h = u >> 16;
    if ((u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(h & 0x7f ? h : h | 1);
    return (uint16_t)shift_even(u, 16);
}

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [DT_F64] = {"F64", 8},   [DT_F32] = {"F32", 4},     [DT_F16] = {"F16", 2}, [DT_BF16] = {"BF16", 2},
    [DT_I64] = {"I64", 8},   [DT_I32] = {"I32", 4},     [DT_I16] = {"I16", 2}, [DT_I8] = {"I8", 1},
    [DT_U64] = {"U64", 8},   [DT_U32] = {"U32", 4},     [DT_U16] = {"U16", 2}, [DT_U8] = {"U8", 1},
    [DT_BOOL] = {"BOOL", 1}, [DT_OTHER] = {"OTHER", 0},
};
_Static_assert(sizeof types / sizeof *types == DT_OTHER + 1, "one row per type");

const char *dtype_name(Dtype d)
{
    return types[d].name;
}

size_t dtype_size(Dtype d)
{
    return types[d].size;
}

bool dtype_named(const char *name, Dtype *d, const char **type, unsigned *bits)
{
    static const struct {
        const char *name;
        unsigned bits;
    } others[] = {
        {"F4", 4},      {"F6_E2M3", 6},     {"F6_E3M2", 6},     {"F8_E5M2", 8}, {"F8_E4M3", 8},
        {"F8_E8M0", 8}, {"F8_E5M2FNUZ", 8}, {"F8_E4M3FNUZ", 8}, {"C64", 64},
    };
    for (int i = 0; i < DT_OTHER; i++)
        if (strcmp(types[i].name, name) == 0) {
            *d = (Dtype)i;
            *type = types[i].name;
            *bits = (unsigned)types[i].size * 8;
            return true;
        }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].name, name) == 0) {
            *d = DT_OTHER;
            *type = others[i].name;
            *bits = others[i].bits;
            return true;
        }
    return false;
}

static double f64_from_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, 8);
    return x;
}

/* Two's complement without relying on the host's conversion: the value of a `bits`-wide integer. */
static int64_t sign_extend(uint64_t u, unsigned bits)
{
    uint64_t top = (uint64_t)1 << (bits - 1);
    return u & top ? -(int64_t)(top - (u & (top - 1)) - 1) - 1 : (int64_t)(u & (top - 1));
}

/* One loop per type and destination, so that the type is not asked for every cell. */
#define EACH(T, step, value)                                                                                           \
    for (size_t i = 0; i < n; i++, bytes += (step))                                                                    \
        out[i] = (T)(value);                                                                                           \
    return;
#define CONVERT(T)                                                                                                     \
    switch (d) {                                                                                                       \
    case DT_F64: EACH(T, 8, f64_from_bits(le64(bytes)))                                                                \
    case DT_F32: EACH(T, 4, from_bits(le32(bytes)))                                                                    \
    case DT_F16: EACH(T, 2, f16_to_f32(le16(bytes)))                                                                   \
    case DT_BF16: EACH(T, 2, bf16_to_f32(le16(bytes)))                                                                 \
    case DT_I64: EACH(T, 8, sign_extend(le64(bytes), 64))                                                              \
    case DT_I32: EACH(T, 4, sign_extend(le32(bytes), 32))                                                              \
    case DT_I16: EACH(T, 2, sign_extend(le16(bytes), 16))                                                              \
    case DT_I8: EACH(T, 1, sign_extend(*bytes, 8))                                                                     \
    case DT_U64: EACH(T, 8, le64(bytes))                                                                               \
    case DT_U32: EACH(T, 4, le32(bytes))                                                                               \
    case DT_U16: EACH(T, 2, le16(bytes))                                                                               \
    case DT_U8: EACH(T, 1, *bytes)                                                                                     \
    case DT_BOOL: EACH(T, 1, *bytes != 0)                                                                              \
    case DT_OTHER: break;                                                                                              \
    }                                                                                                                  \
    REQUIRE(d != DT_OTHER)

void dtype_to_f32(Dtype d, const uint8_t *bytes, size_t n, float *out)
{
    CONVERT(float);
}

void dtype_to_f64(Dtype d, const uint8_t *bytes, size_t n, double *out)
{
    CONVERT(double);
}
