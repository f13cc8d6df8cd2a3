/* Files of tensors as other programs write them, made by the test itself: archives of .npy in Fortran order or with the
 * fields of zip64, halves of floats in safetensors, the beginnings of what PyTorch saves. */
#ifndef VITRINE_TESTS_CORE_MODELS_CONTAINERS_H
#define VITRINE_TESTS_CORE_MODELS_CONTAINERS_H
#include "tests/core_models/tensor_set.h"

static inline void put_number(Buf *b, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_putc(b, (char)(unsigned char)(i < 8 ? x >> (8 * i) : 0));
}

static inline uint32_t crc_of(const char *p, size_t n)
{
    uint32_t c = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        c ^= (unsigned char)p[i];
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
    }
    return ~c;
}

/* Cell i in C order of a shape, as the place in Fortran's order. */
static inline size_t fortran_place(const TensorOut *t, size_t i)
{
    size_t place = 0, stride = 1, index[TENSOR_RANK_MAX] = {0};
    for (int k = t->rank - 1; k >= 0; k--) {
        index[k] = i % t->shape[k];
        i /= t->shape[k];
    }
    for (int k = 0; k < t->rank; k++) {
        place += index[k] * stride;
        stride *= t->shape[k];
    }
    return place;
}

static inline size_t cells_in(const TensorOut *t)
{
    size_t cells = 1;
    for (int k = 0; k < t->rank; k++)
        cells *= t->shape[k];
    return cells;
}

static inline void put_npy(Buf *b, const TensorOut *t, bool fortran)
{
    Buf head = {0};
    size_t cells = cells_in(t), from = b->len;
    buf_printf(&head, "{'descr': '<f4', 'fortran_order': %s, 'shape': (", fortran ? "True" : "False");
    for (int k = 0; k < t->rank; k++)
        buf_printf(&head, "%zu,%s", t->shape[k], k + 1 < t->rank ? " " : "");
    buf_puts(&head, "), }");
    while ((10 + head.len + 1) % 64)
        buf_putc(&head, ' ');
    buf_putc(&head, '\n');
    buf_putc(b, (char)0x93);
    buf_puts(b, "NUMPY\001");
    put_number(b, 0, 1);
    put_number(b, head.len, 2);
    buf_puts(b, buf_str(&head));
    buf_free(&head);
    float *x = calloc(cells + 1, sizeof *x);
    for (size_t i = 0; i < cells; i++)
        x[fortran ? fortran_place(t, i) : i] = t->data[i];
    for (size_t i = 0; i < cells; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        put_number(b, bits, 4);
    }
    free(x);
    assert_int_equal((b->len - from - cells * 4) % 64, 0);
}

/* A member of an archive: its local head and bytes; what the directory says of it is appended to `directory`. */
static inline void put_member(Buf *out, Buf *directory, const char *name, const Buf *data, bool zip64)
{
    uint64_t at = out->len, size = data->len, n = strlen(name);
    uint32_t crc = crc_of(data->data, data->len);
    put_number(out, 0x04034b50, 4);
    put_number(out, zip64 ? 45 : 20, 2);
    put_number(out, 0, 2 + 2);
    put_number(out, 0x00210000, 4);
    put_number(out, crc, 4);
    put_number(out, zip64 ? 0xffffffffu : size, 4);
    put_number(out, zip64 ? 0xffffffffu : size, 4);
    put_number(out, n, 2);
    put_number(out, zip64 ? 20 : 0, 2);
    buf_puts(out, name);
    if (zip64) {
        put_number(out, 1, 2);
        put_number(out, 16, 2);
        put_number(out, size, 8);
        put_number(out, size, 8);
    }
    for (size_t i = 0; i < data->len; i++)
        buf_putc(out, data->data[i]);
    put_number(directory, 0x02014b50, 4);
    put_number(directory, zip64 ? 45 : 20, 2);
    put_number(directory, zip64 ? 45 : 20, 2);
    put_number(directory, 0, 2 + 2);
    put_number(directory, 0x00210000, 4);
    put_number(directory, crc, 4);
    put_number(directory, zip64 ? 0xffffffffu : size, 4);
    put_number(directory, zip64 ? 0xffffffffu : size, 4);
    put_number(directory, n, 2);
    put_number(directory, zip64 ? 28 : 0, 2);
    put_number(directory, 0, 2 + 2 + 2 + 4);
    put_number(directory, zip64 ? 0xffffffffu : at, 4);
    buf_puts(directory, name);
    if (zip64) {
        put_number(directory, 1, 2);
        put_number(directory, 24, 2);
        put_number(directory, size, 8);
        put_number(directory, size, 8);
        put_number(directory, at, 8);
    }
}

static inline void put_end(Buf *out, const Buf *directory, size_t count, bool zip64)
{
    uint64_t at = out->len, end = at + directory->len;
    for (size_t i = 0; i < directory->len; i++)
        buf_putc(out, directory->data[i]);
    if (zip64) {
        put_number(out, 0x06064b50, 4);
        put_number(out, 44, 8);
        put_number(out, 45, 2);
        put_number(out, 45, 2);
        put_number(out, 0, 4 + 4);
        put_number(out, count, 8);
        put_number(out, count, 8);
        put_number(out, directory->len, 8);
        put_number(out, at, 8);
        put_number(out, 0x07064b50, 4);
        put_number(out, 0, 4);
        put_number(out, end, 8);
        put_number(out, 1, 4);
    }
    put_number(out, 0x06054b50, 4);
    put_number(out, 0, 2 + 2);
    put_number(out, zip64 ? 0xffff : count, 2);
    put_number(out, zip64 ? 0xffff : count, 2);
    put_number(out, zip64 ? 0xffffffffu : directory->len, 4);
    put_number(out, zip64 ? 0xffffffffu : at, 4);
    put_number(out, 0, 2);
}

static inline void put_npz(const Set *s, const char *dir, bool fortran, bool zip64)
{
    Buf out = {0}, directory = {0};
    for (size_t i = 0; i < s->count; i++) {
        Buf npy = {0};
        char name[200];
        snprintf(name, sizeof name, "%s.npy", s->name[i]);
        put_npy(&npy, &s->t[i], fortran);
        put_member(&out, &directory, name, &npy, zip64);
        buf_free(&npy);
    }
    put_end(&out, &directory, s->count, zip64);
    put_file(dir, "model.npz", out.data, out.len);
    buf_free(&out);
    buf_free(&directory);
}

/* What torch.save writes: an archive of pickles, or with its older format one pickle. */
static inline void put_pickle(const char *dir, const char *file, bool archive)
{
    static const char OLD[] = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.";
    Buf out = {0}, directory = {0}, pickle = {0};
    for (size_t i = 0; i + 1 < sizeof OLD; i++)
        buf_putc(&pickle, OLD[i]);
    if (archive) {
        put_member(&out, &directory, "archive/data.pkl", &pickle, false);
        put_member(&out, &directory, "archive/data/0", &pickle, false);
        put_end(&out, &directory, 2, false);
    }
    put_file(dir, file, archive ? out.data : pickle.data, archive ? out.len : pickle.len);
    buf_free(&out);
    buf_free(&directory);
    buf_free(&pickle);
}

/* The 16 bits of a number, halves to even: bf16, or f16 of numbers that it has as normal ones (others become 0). */
static inline uint16_t halved(float x, bool bf16)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (bf16)
        return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    uint32_t sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest < 0x38800000)
        return (uint16_t)sign;
    return (uint16_t)(sign | ((rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13));
}

static inline float whole_again(uint16_t x, bool bf16)
{
    uint32_t bits = (uint32_t)x << 16;
    float out;
    if (!bf16)
        bits = x & 0x7fff ? (uint32_t)(x & 0x8000) << 16 | (((uint32_t)(x & 0x7fff) << 13) + 0x38000000)
                          : (uint32_t)x << 16;
    memcpy(&out, &bits, sizeof out);
    return out;
}

/* safetensors of 16-bit numbers; the set's become what they stand for. */
static inline void put_halves(Set *s, const char *dir, bool bf16)
{
    Buf head = {0}, data = {0}, out = {0};
    for (size_t i = 0; i < s->count; i++) {
        size_t cells = cells_in(&s->t[i]), from = data.len;
        float *x = (float *)(uintptr_t)s->t[i].data;
        for (size_t k = 0; k < cells; k++) {
            put_number(&data, halved(x[k], bf16), 2);
            x[k] = whole_again(halved(x[k], bf16), bf16);
        }
        buf_printf(&head, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", i ? "," : "{", s->name[i], bf16 ? "BF16" : "F16");
        for (int k = 0; k < s->t[i].rank; k++)
            buf_printf(&head, "%s%zu", k ? "," : "", s->t[i].shape[k]);
        buf_printf(&head, "],\"data_offsets\":[%zu,%zu]}", from, data.len);
    }
    buf_putc(&head, '}');
    put_number(&out, head.len, 8);
    for (size_t i = 0; i < head.len; i++)
        buf_putc(&out, head.data[i]);
    for (size_t i = 0; i < data.len; i++)
        buf_putc(&out, data.data[i]);
    put_file(dir, "model.safetensors", out.data, out.len);
    buf_free(&head);
    buf_free(&data);
    buf_free(&out);
}
#endif
