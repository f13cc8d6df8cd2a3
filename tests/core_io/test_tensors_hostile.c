/* Hostile, damaged and mistaken files: each is refused with one line that says why, and nothing is read past its end.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/io/tensor_parts.h"

#define DATA "tests/data/tensors/"

static char path[100];

static void put(const void *bytes, size_t n)
{
    Err e = {{0}};
    if (!file_write(path, bytes, n, &e))
        fail_msg("%s", e.text);
}

/* What only a member's last byte can show is told when it is read: then that must fail. */
static bool accepted(const char *file, Err *e)
{
    TensorFile f, zero = {0};
    if (!tensors_open(&f, file, e)) {
        assert_memory_equal(&f, &zero, sizeof f);
        return false;
    }
    bool all = true;
    for (size_t i = 0; all && i < f.count; i++) {
        float *x = xfloats(f.tensors[i].cells);
        all = !f.tensors[i].member || f.tensors[i].dtype == DT_OTHER || tensors_read_f32(&f, &f.tensors[i], x, e);
        free(x);
    }
    tensors_close(&f);
    return all;
}

static void refused(const char *file, const char *why)
{
    Err e = {{0}};
    if (accepted(file, &e))
        fail_msg("accepted although: %s", why ? why : file);
    if ((why && (!strstr(e.text, why) || !strstr(e.text, file))) || strchr(e.text, '\n') || strchr(e.text, '\x1b'))
        fail_msg("'%s' does not say '%s'", e.text, why ? why : "a clean line");
    size_t n = strlen(e.text);
    if (n + 1 == sizeof e.text || !strchr(".E", e.text[n - 1])) /* ends a sentence, or the command for a FILE */
        fail_msg("cut short: %s", e.text);
}

/* A file with this header and so many bytes of data. */
static void put_safetensors(const char *header, size_t length, size_t data)
{
    Buf b = {0};
    for (int i = 0; i < 8; i++)
        buf_putc(&b, (char)(unsigned char)(length >> (8 * i) & 0xff));
    buf_add(&b, header, length);
    for (size_t i = 0; i < data; i++)
        buf_putc(&b, (char)i);
    put(b.data, b.len);
    buf_free(&b);
}

#define T(dtype, shape, offsets) "{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define F32_4(offsets) T("\"F32\"", "[4]", offsets)
#define ONE(dtype, shape, offsets) "{\"a\":" T(dtype, shape, offsets) "}"

static void safetensors_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        const char *why;
    } cases[] = {
        {"{\"a\":" F32_4("[0,16]") ",\"a\":" F32_4("[16,32]") "}", 32, "duplicate"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"shape\":[4],\"data_offsets\":[0,16]}}", 16, "duplicate"},
        {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "duplicate"},
        {"{\"a\\u0000b\":" F32_4("[0,16]") "}", 16, "character \\u0000"},
        {"{\"a\":" F32_4("[0,16]") "} {}", 16, "end of file expected"},
        {"{\"a\":" F32_4("[0,16]"), 16, "line 1"},
        {"{\"a\":" F32_4("[0,16]") ",}", 16, "line 1"},
        {"{\"\xff\":" F32_4("[0,16]") "}", 16, "unable to decode byte 0xff"},
        {"{\"a\":" F32_4("[0,16]") ",\"b\":" F32_4("[8,24]") "}", 24, "shares bytes"},
        {"{\"a\":" F32_4("[0,16]") ",\"b\":" F32_4("[0,16]") "}", 16, "shares bytes"},
        {"{\"a\":" F32_4("[0,16]") ",\"b\":" F32_4("[20,36]") "}", 36, "bytes before it belong to no tensor"},
        {"{\"a\":" F32_4("[4,20]") "}", 20, "bytes before it belong to no tensor"},
        {"{\"a\":" F32_4("[0,16]") "}", 17, "1 bytes at its end"},
        {"{}", 1, "1 bytes at its end"},
        {"{\"a\":" F32_4("[0,16]") "}", 15, "download that stopped early"},
        {"{\"a\":" F32_4("[16,0]") "}", 16, "end before they begin"},
        {"{\"a\":" F32_4("[0,15]") "}", 15, "disagree"},
        {"{\"a\":" F32_4("[0,32]") "}", 32, "disagree"},
        {"{\"a\":" F32_4("[-16,0]") "}", 16, "not two whole numbers"},
        {"{\"a\":" F32_4("[0.5,16]") "}", 16, "not two whole numbers"},
        {"{\"a\":" F32_4("[\"0\",16]") "}", 16, "not two whole numbers"},
        {"{\"a\":" F32_4("[0]") "}", 16, "not two whole numbers"},
        {"{\"a\":" F32_4("[0,8,16]") "}", 16, "not two whole numbers"},
        {"{\"a\":" F32_4("{\"x\":0,\"y\":16}") "}", 16, "not two whole numbers"},
        {"{\"a\":" F32_4("null") "}", 16, "not two whole numbers"},
        {"{\"a\":" F32_4("[0,9223372036854775807]") "}", 16, "beyond the end"},
        {"{\"a\":" F32_4("[0,18446744073709551616]") "}", 16, "not two whole numbers"},
        {"{\"a\":" F32_4("[9223372036854775800,9223372036854775807]") "}", 16, "beyond the end"},
        {ONE("\"F32\"", "[-4]", "[0,16]"), 16, "no whole number"},
        {ONE("\"F32\"", "[4.5]", "[0,16]"), 16, "no whole number"},
        {ONE("\"F32\"", "[true]", "[0,16]"), 16, "no whole number"},
        {ONE("\"F32\"", "4", "[0,16]"), 16, "has no shape"},
        {ONE("\"F32\"", "[1,1,1,1,1,1,1,1,4]", "[0,16]"), 16, "more than 8 axes"},
        {ONE("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0, "product overflows"},
        {ONE("\"F32\"", "[4294967296,4294967296,0]", "[0,0]"), 0, "product overflows"},
        {ONE("\"F32\"", "[4611686018427387905]", "[0,4]"), 4,
         "overflows"}, /* 2^62 + 1 cells: 4 bytes if the product wraps */
        {ONE("\"F64\"", "[2305843009213693952]", "[0,0]"), 0, "overflows"},
        {ONE("\"F33\"", "[4]", "[0,16]"), 16, "no dtype that the format knows"},
        {ONE("\"f32\"", "[4]", "[0,16]"), 16, "no dtype that the format knows"},
        {ONE("\"OTHER\"", "[4]", "[0,0]"), 0, "no dtype that the format knows"},
        {ONE("5", "[4]", "[0,16]"), 16, "no dtype that the format knows"},
        {ONE("\"F4\"", "[3]", "[0,1]"), 1, "disagree"}, /* 12 bits end inside a byte */
        {"{\"a\":[]}", 0, "not described by an object"},
        {"{\"a\":{}}", 0, "no dtype"},
        {"{\"\":" F32_4("[0,16]") "}", 16, "a tensor's name has 0 bytes"},
        {"{\"__metadata__\":[]}", 0, "__metadata__ is not an object of strings"},
        {"{\"__metadata__\":{\"k\":1}}", 0, "__metadata__ is not an object of strings"},
        {"{\"__metadata__\":{\"k\":{}}}", 0, "__metadata__ is not an object of strings"},
        {"{\"\\u001b[2J\":" F32_4("[0,1]") "}", 16, "'?[2J'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_safetensors(cases[i].header, strlen(cases[i].header), cases[i].data);
        refused(path, cases[i].why);
    }
}

static void safetensors_that_are_unusual_but_right(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data, count;
    } cases[] = {
        {"{}", 0, 0},
        {"{}      ", 0, 0},
        {"{\"__metadata__\":{}}", 0, 0},
        {ONE("\"F32\"", "[]", "[0,4]"), 4, 1},
        {ONE("\"F32\"", "[0,7]", "[0,0]"), 0, 1},
        {ONE("\"F8_E4M3\"", "[3]", "[0,3]"), 3, 1},
        {ONE("\"F4\"", "[4]", "[0,2]"), 2, 1},
        {"{\"b\":" F32_4("[16,32]") ",\"z\":" T("\"F32\"", "[0]", "[16,16]") ",\"a\":" F32_4("[0,16]") "}", 32, 3},
        {"{\"a\":" T("\"U8\"", "[1]", "[0,1]") ",\"b\":" F32_4("[1,17]") "}", 17, 2}, /* an odd offset */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Err e = {{0}};
        TensorFile f;
        put_safetensors(cases[i].header, strlen(cases[i].header), cases[i].data);
        if (!tensors_open(&f, path, &e))
            fail_msg("%s: %s", cases[i].header, e.text);
        assert_int_equal(f.count, cases[i].count);
        for (size_t k = 0; k < f.count; k++) {
            float x[8];
            bool other = f.tensors[k].dtype == DT_OTHER;
            assert_true(tensors_read_f32(&f, &f.tensors[k], x, &e) != other);
            assert_non_null(strstr(cases[i].header, f.tensors[k].type)); /* F8_E4M3 is called so, not OTHER */
        }
        tensors_close(&f);
    }
}

static void safetensors_sizes(void **state)
{
    (void)state;
    put_safetensors("{ ", 2, 0);
    refused(path, "line 1");
    Buf b = {0};
    buf_puts(&b, "{\"");
    for (int i = 0; i < 1025; i++)
        buf_putc(&b, 'n');
    buf_puts(&b, "\":" F32_4("[0,16]") "}");
    put_safetensors(b.data, b.len, 16);
    refused(path, "a tensor's name has 1025 bytes");
    buf_clear(&b);
    for (int i = 0; i < 100001; i++)
        buf_printf(&b, "%s\"%d\":" T("\"U8\"", "[0]", "[0,0]"), i ? "," : "{", i);
    buf_putc(&b, '}');
    put_safetensors(b.data, b.len, 0);
    refused(path, "more than 100000 tensors");
    buf_clear(&b);
    buf_puts(&b, "{}");
    while (b.len <= (16 << 20))
        buf_puts(&b, "                                                                ");
    put_safetensors(b.data, b.len, 0);
    refused(path, "at most 16777216 are read");
    buf_clear(&b);
    buf_puts(&b, "{\"a\":");
    for (int i = 0; i < 100000; i++)
        buf_putc(&b, '[');
    put_safetensors(b.data, b.len, 0);
    refused(path, "maximum parsing depth");
    buf_free(&b);
    put("\xff\xff\x0f\0\0\0\0\0{}", 10); /* a header longer than the file */
    refused(path, "header claims 1048575 bytes but the file has only 10");
}

#define PIECE "\0\0\0\0\1\0\0\0a"
#define PIECES PIECE PIECE PIECE PIECE PIECE PIECE PIECE PIECE
static void files_of_other_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *why;
    } cases[] = {
        {"", 0, "is empty"},
        {"x", 1, "holds no tensors that are known here"},
        {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 346293852\n", 75, "'git lfs pull'"},
        {"<!DOCTYPE html><html>", 21, "is a web page"},
        {"\n  <HTML lang=en>", 17, "is a web page"},
        {"\x80\x02\x8a\nl\xfc\x9c"
         "F\xf9 j\xa8P\x19.",
         15, "is a PyTorch pickle"},
        {"\x80\x04\x95\x10", 4, "is a PyTorch pickle"},
        {"GGUF\3\0\0\0", 8, "is a GGUF file"},
        {"\x89HDF\r\n\x1a\n........", 16, "HDF5"},
        {"\x1f\x8b\x08\0", 4, "gunzip"},
        {"\xfd"
         "7zXZ\0",
         6, "unxz"},
        {"{\"a\": 1, \"architectures\": []}", 29, "holds no tensors"},
        {"\10\0\0\0\20\0\0\0\1\0\0\0\2\0\0\0\1\0\0\0\20\0\0\0\4\0\0\0....", 32, "begins like a model of llama2.c of "},
        {"\10\0\0\0\20\0\0\0\1\0\0\0\3\0\0\0\1\0\0\0\20\0\0\0\4\0\0\0....", 32, /* 8 in 3 heads */
         "holds no tensors"},
        {"\2\0\0\0" PIECES, 76, "looks like a tokeniser of llama2.c"},
        {"\0\0\0\0" PIECES, 76, "holds no tensors"}, /* pieces of no bytes */
        {"\2\0\0\0" PIECES, 65, "holds no tensors"},
        {"PK\3\4", 4, "too short"},
        {"PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22, "without .npy members"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(cases[i].bytes, cases[i].n);
        refused(path, cases[i].why);
    }
    refused(DATA "torch.pt", "torch.load");
    refused(DATA "torch.pth", "torch.load"); /* as PyTorch 1.13 writes them, now and formerly */
    refused(DATA "legacy.pt", "torch.load");
    refused(DATA "script.pt", "torch.jit.load");
    char far[300], target[4096];
    snprintf(far, sizeof far, "/tmp/vitrine-%ld-%0150d.pt", (long)getpid(),
             0); /* the longest message with the longest name */
    assert_non_null(realpath(DATA "torch.pt", target));
    assert_int_equal(symlink(target, far), 0);
    refused(far, NULL);
    unlink(far);
    refused(DATA "other.zip", "without .npy members");
    refused(DATA "bzip2.npz", "other than deflate");
    refused(DATA "big.npy", "astype('<f4')");
    refused(DATA "record.npy", "records");
    refused(DATA "version3.npy", "version other than 1 and 2");
    refused(DATA "missing.npy", "no such file");
    refused("/dev/zero", "is a device");
    TensorFile f;
    Err e = {{0}};
    static const char *const unread[] = {DATA "text.npy", DATA "complex.npy"};
    for (size_t i = 0; i < 2; i++) {
        float x[8];
        assert_true(tensors_open(&f, unread[i], &e));
        assert_false(tensors_read_f32(&f, &f.tensors[0], x, &e));
        assert_non_null(strstr(e.text, "Save it as float32"));
        tensors_close(&f);
    }
}

/* A header of 640 = 0x0280 bytes begins with the bytes of a pickle. */
static void a_safetensors_file_that_looks_like_a_pickle(void **state)
{
    (void)state;
    char header[640];
    memset(header, ' ', sizeof header);
    static const char text[] = "{\"a\":" F32_4("[0,16]") "}";
    memcpy(header, text, strlen(text));
    put_safetensors(header, sizeof header, 16);
    TensorFile f;
    Err e = {{0}};
    assert_true(tensors_open(&f, path, &e));
    assert_int_equal(f.count, 1);
    tensors_close(&f);
}

static void npy_headers(void **state)
{
    (void)state;
    static const struct {
        const char *dict;
        size_t data;
        const char *why; /* NULL: right */
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 8, NULL},
        {"{\"shape\":(2,1),\"fortran_order\":False,\"descr\":\"<f4\"}", 8, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }\n", 8, NULL},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }\n", 8, NULL},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n", 2, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 7, "less data than its shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 9, "data after its last number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }\n", 8, "can't be understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }\n", 8, "can't be understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }\n", 8, "can't be understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (,), }\n", 8, "can't be understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }\n", 4, "can't be understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n", 4, "can't be understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296,4294967296), }\n", 4, "product overflows"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905,), }\n", 4, "less data"},
        {"{'descr': '<f4', 'fortran_order': False, }\n", 4, "can't be understood"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }\n", 4, "can't be understood"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, "can't be understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'extra': 1}\n", 4, "can't be understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x\n", 4, "can't be understood"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n\n", 4, "can't be understood"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,), }\n", 4, "can't be understood"},
        {"{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (1,), }\n", 4, "can't be understood"},
        {"__import__('os').system('true')\n", 4, "can't be understood"},
        {"{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }\n", 8, "big-endian"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,1), }\n", 8, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf b = {0};
        size_t n = strlen(cases[i].dict);
        buf_add(&b, "\x93NUMPY\1\0", 8);
        buf_putc(&b, (char)n);
        buf_putc(&b, 0);
        buf_puts(&b, cases[i].dict);
        for (size_t k = 0; k < cases[i].data; k++)
            buf_putc(&b, 0);
        put(b.data, b.len);
        buf_free(&b);
        if (cases[i].why) {
            refused(path, cases[i].why);
        } else {
            TensorFile f;
            Err e = {{0}};
            if (!tensors_open(&f, path, &e))
                fail_msg("%s", e.text);
            tensors_close(&f);
        }
    }
    put("\x93NUMPY\1\0\xff\xff{", 11);
    refused(path, "does not begin like a .npy");
    put("\x93NUMPY\1\0\xff\xff{'descr'", 18);
    refused(path, "longer than numpy itself reads");
    put("\x93NUMPY\2\0\x80\0\0\0{'descr'", 20);
    refused(path, "cut short in its header");
}

/* Every one-byte change and every truncation of a good file: refused, or the same values (a change may hit a date). */
static void check_mutants(const char *good)
{
    Err e = {{0}};
    TensorFile f;
    Buf whole = {0};
    assert_true(file_read(good, 1 << 20, &whole, &e));
    assert_true(tensors_open(&f, good, &e));
    const TensorInfo *t = &f.tensors[0];
    float *want = xfloats(t->cells), *got = xfloats(t->cells);
    assert_true(tensors_read_f32(&f, t, want, &e));
    uint8_t *mutant = xmalloc(whole.len);
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    for (size_t i = 0; i < 4 * whole.len; i++) {
        size_t at = i / 4, n = i % 4 == 3 ? at : whole.len;
        memcpy(mutant, whole.data, whole.len);
        if (i % 4 < 3)
            mutant[at] ^= masks[i % 4];
        put(mutant, n);
        TensorFile m;
        if (!tensors_open(&m, path, &e))
            continue;
        if (n < whole.len)
            fail_msg("%s: accepted when cut at byte %zu", good, at);
        for (size_t k = 0; k < m.count; k++)
            if (m.tensors[k].dtype != DT_OTHER && m.tensors[k].cells == t->cells &&
                strcmp(m.tensors[k].name, t->name) == 0)
                if (tensors_read_f32(&m, &m.tensors[k], got, &e) && memcmp(got, want, t->cells * sizeof(float)) != 0)
                    fail_msg("%s: other values when byte %zu is changed", good, at);
        tensors_close(&m);
    }
    free(mutant);
    free(want);
    free(got);
    buf_free(&whole);
    tensors_close(&f);
}

static void damaged_zips_never_give_other_values(void **state)
{
    (void)state;
    Err e = {{0}};
    static const float x[] = {1, 2, 3};
    static const TensorOut t[] = {{"first", 1, {3}, NULL, x, NULL}, {"second", 1, {2}, NULL, x, NULL}};
    char good[120];
    snprintf(good, sizeof good, "%s.npz", path);
    assert_true(tensors_write(good, TF_NPZ, t, 2, NULL, &e));
    check_mutants(good);
    unlink(good);
    check_mutants(DATA "names.npz");
}

/* A zip whose directory says what the test wants: one member a.npy with a flag or a field overwritten. */
static void zip_fields(void **state)
{
    (void)state;
    Err e = {{0}};
    static const float x[] = {1, 2, 3};
    static const TensorOut t[] = {{"a", 1, {3}, NULL, x, NULL}};
    Buf good = {0};
    assert_true(tensors_encode(&good, TF_NPZ, t, 1, NULL, &e));
    size_t directory = good.len - 22 - 46 - 5, end = good.len - 22;
    const struct {
        size_t at;
        const char *bytes;
        size_t n;
        const char *why;
    } cases[] = {
        {directory + 8, "\1", 1, "encrypted"},
        {directory + 10, "\x63", 1, "described differently"},
        {directory + 16, "\0\0\0\0", 4, "does not match its checksum"},
        {directory + 20, "\xff\xff\xff\xff", 4, "zip64"},
        {directory + 20, "\0\0\1\0", 4, "overlaps"},
        {directory + 24, "\0\0\1\0", 4, "two sizes differ"},
        {directory + 28, "\xff\xff", 2, "cut short"},
        {directory + 34, "\1", 1, "another disk"},
        {directory + 42, "\x02", 1, "described differently"},
        {directory + 42, "\xff\xff\0\0", 4, "overlaps"},
        {directory + 46, "\0", 1, "NUL"},
        {directory, "XX", 2, "damaged directory"},
        {end + 8, "\2\0\2\0", 4, "damaged directory"},
        {end + 8, "\0\0\0\0", 4, "belong to no member"},
        {end + 8, "\xff\xff\xff\xff", 4, "zip64"},
        {end + 12, "\xff\xff\0\0", 4, "contradicts itself"},
        {end + 16, "\0\0\0\0", 4, "contradicts itself"},
        {end + 20, "\1", 1, "no directory at its end"},
        {30, "b", 1, "described differently"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf b = {0};
        buf_add(&b, good.data, good.len);
        memcpy(b.data + cases[i].at, cases[i].bytes, cases[i].n);
        put(b.data, b.len);
        refused(path, cases[i].why);
        buf_free(&b);
    }
    buf_free(&good);
}

/* One member a.npy whose size, place and directory stand in 64 bits, and what damaged ones are refused with. */
static void put_zip64(const Buf *plain, size_t spoil, const char *bytes, size_t n)
{
    size_t directory = plain->len - 22 - 46 - 5, end = plain->len - 22;
    Buf b = {0};
    buf_add(&b, plain->data, directory + 46 + 5);
    memcpy(b.data + directory + 20, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    memcpy(b.data + directory + 30, "\x21\0", 2); /* an unknown field of 1 byte, then sizes and place */
    memcpy(b.data + directory + 42, "\xff\xff\xff\xff", 4);
    buf_add(&b, "\xee\x77\1\0x\1\0\x18\0", 9);
    put_le(&b, le32((const uint8_t *)plain->data + directory + 24), 8);
    put_le(&b, le32((const uint8_t *)plain->data + directory + 20), 8);
    put_le(&b, le32((const uint8_t *)plain->data + directory + 42), 8);
    size_t bytes_of = b.len - directory, record = b.len;
    buf_add(&b, "PK\6\6", 4);
    put_le(&b, 44, 8);
    put_le(&b, 45, 2);
    put_le(&b, 45, 2);
    put_le(&b, 0, 8);
    put_le(&b, 1, 8);
    put_le(&b, 1, 8);
    put_le(&b, bytes_of, 8);
    put_le(&b, directory, 8);
    buf_add(&b, "PK\6\7\0\0\0\0", 8);
    put_le(&b, record, 8);
    put_le(&b, 1, 4);
    buf_add(&b, plain->data + end, 22);
    memset(b.data + b.len - 14, 0xff, 12);
    if (n)
        memcpy(b.data + directory + spoil, bytes, n);
    put(b.data, b.len);
    buf_free(&b);
}

static void zip64(void **state)
{
    (void)state;
    Err e = {{0}};
    static const float x[] = {1, 2, 3};
    static const TensorOut t[] = {{"a", 1, {3}, NULL, x, NULL}};
    enum { EXTRA = 46 + 5, RECORD = EXTRA + 33, LOCATOR = RECORD + 56 };
    const struct {
        size_t at;
        const char *bytes;
        size_t n;
        const char *why;
    } cases[] = {
        {EXTRA + 5, "\2", 1, "in 64 bits (zip64)"},
        {EXTRA + 7, "\x10", 1, "in 64 bits (zip64)"},
        {EXTRA + 16, "\1", 1, "larger than the file"},
        {EXTRA + 24, "\xff\xff\xff\xff\xff", 5, "larger than the file"},
        {EXTRA + 32, "\xff", 1, "larger than the file"},
        {RECORD, "X", 1, "zip64 record"},
        {RECORD + 4, "\xff", 1, "zip64 record"},
        {RECORD + 32, "\2", 1, "zip64 record"},
        {RECORD + 40, "\1", 1, "contradicts itself"},
        {RECORD + 47, "\xff", 1, "contradicts itself"},
        {LOCATOR, "X", 1, "zip64 record"},
        {LOCATOR + 8, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, "zip64 record"},
    };
    Buf good = {0};
    TensorFile f;
    assert_true(tensors_encode(&good, TF_NPZ, t, 1, NULL, &e));
    put_zip64(&good, 0, NULL, 0);
    if (!tensors_open(&f, path, &e))
        fail_msg("%s", e.text);
    float got[3];
    assert_true(tensors_read_f32(&f, tensors_find(&f, "a"), got, &e));
    assert_memory_equal(got, x, sizeof x);
    tensors_close(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_zip64(&good, cases[i].at, cases[i].bytes, cases[i].n);
        refused(path, cases[i].why);
    }
    buf_free(&good);
}

/* Deflated zeros: a member that claims more than deflate can hold, or more than it inflates to. */
static void zip_bombs(void **state)
{
    (void)state;
    Err e = {{0}};
    Buf good = {0};
    assert_true(file_read(DATA "types_deflated.npz", 1 << 20, &good, &e));
    size_t directory = 0;
    for (size_t i = 0; !directory; i++)
        if (memcmp(good.data + i, "PK\1\2", 4) == 0)
            directory = i;
    static const struct {
        const char *size, *why;
    } cases[] = {
        {"\xfe\xff\xff\xff", "deflate can't reach"},
        {"\0\x40\0\0", "can't be inflated to what it should be"},
        {"\x10\0\0\0", "can't be inflated to what it should be"},
    };
    for (size_t i = 0; i < 3; i++) {
        memcpy(good.data + directory + 24, cases[i].size, 4);
        put(good.data, good.len);
        refused(path, cases[i].why);
    }
    buf_free(&good);
}

static void a_file_that_shrinks_is_noticed(void **state)
{
    (void)state;
    static const char header[] = "{\"a\":" F32_4("[0,16]") "}";
    put_safetensors(header, strlen(header), 16);
    TensorFile f;
    Err e = {{0}};
    float x[4];
    assert_true(tensors_open(&f, path, &e));
    assert_int_equal(truncate(path, (off_t)f.size - 4), 0);
    assert_false(tensors_read_f32(&f, &f.tensors[0], x, &e));
    assert_non_null(strstr(e.text, "cut short"));
    tensors_close(&f);
}

static int forget(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/vitrine-hostile-%ld", (long)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safetensors_headers),
        cmocka_unit_test(safetensors_that_are_unusual_but_right),
        cmocka_unit_test(safetensors_sizes),
        cmocka_unit_test(files_of_other_kinds),
        cmocka_unit_test(a_safetensors_file_that_looks_like_a_pickle),
        cmocka_unit_test(npy_headers),
        cmocka_unit_test(damaged_zips_never_give_other_values),
        cmocka_unit_test(zip_fields),
        cmocka_unit_test(zip64),
        cmocka_unit_test(zip_bombs),
        cmocka_unit_test(a_file_that_shrinks_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
