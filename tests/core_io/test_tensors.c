/* Tensor files: numpy's own files, recorded checkpoints, and what we write ourselves. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/io/json.h"
#include "core/io/tensors.h"

#define DATA "tests/data/tensors/"

static TensorFile opened(const char *path)
{
    Err e = {{0}};
    TensorFile f;
    if (!tensors_open(&f, path, &e))
        fail_msg("%s", e.text);
    return f;
}

static float *values(const TensorFile *f, const char *name, int rank, size_t cells)
{
    Err e = {{0}};
    const TensorInfo *t = tensors_find(f, name);
    if (!t)
        fail_msg("no tensor '%s' in %s", name, f->path);
    assert_int_equal(t->rank, rank);
    assert_int_equal(t->cells, cells);
    float *x = xfloats(cells);
    if (!tensors_read_f32(f, t, x, &e))
        fail_msg("%s", e.text);
    return x;
}

static void check_plain(const TensorFile *f, const char *name)
{
    float *x = values(f, name, 2, 6);
    for (int i = 0; i < 6; i++)
        assert_true(x[i] == (float)i - 2.5f);
    free(x);
}

static void numpy_arrays_are_read(void **state)
{
    (void)state;
    static const char *const same[] = {DATA "plain.npy", DATA "version2.npy", DATA "fortran.npy"};
    for (size_t i = 0; i < 3; i++) {
        TensorFile f = opened(same[i]);
        assert_int_equal(f.count, 1);
        assert_int_equal(f.tensors[0].shape[0], 2);
        assert_int_equal(f.tensors[0].shape[1], 3);
        check_plain(&f, "array");
        tensors_close(&f);
        assert_null(f.path);
        tensors_close(&f);
    }
    TensorFile f = opened(DATA "scalar.npy");
    float *x = values(&f, "array", 0, 1);
    assert_true(x[0] == 7.25f);
    free(x);
    tensors_close(&f);
    f = opened(DATA "empty.npy");
    free(values(&f, "array", 2, 0));
    tensors_close(&f);
}

/* Three axes, stored with the first running fastest: whole in both widths, and the first few of them. */
static void columns_become_rows(void **state)
{
    (void)state;
    Err e = {{0}};
    double exact[24];
    float first[5];
    TensorFile f = opened(DATA "fortran3.npy");
    float *x = values(&f, "array", 3, 24);
    assert_true(tensors_read_f64(&f, f.tensors, exact, &e));
    assert_true(tensors_read_first_f32(&f, f.tensors, first, 5, &e));
    for (int i = 0; i < 24; i++) {
        assert_true(exact[i] == (double)(i * i) / 7 && x[i] == (float)exact[i]);
        assert_true(i >= 5 || first[i] == x[i]);
    }
    free(x);
    tensors_close(&f);
}

static void doubles_round_to_nearest(void **state)
{
    (void)state;
    TensorFile f = opened(DATA "double.npy");
    float *x = values(&f, "array", 1, 5);
    assert_true(x[0] == 1 / 3.0f && isinf(x[1]) && x[2] == 0 && signbit(x[2]) && x[3] == 1 && x[4] == 1 + 0x1p-22f);
    free(x);
    double d[5];
    Err e = {{0}};
    assert_true(tensors_read_f64(&f, &f.tensors[0], d, &e));
    assert_true(d[0] == 1 / 3.0 && d[1] == 1e300 && d[3] == 1 + 0x1p-24);
    tensors_close(&f);
}

static void every_type_is_read(void **state)
{
    (void)state;
    static const char *const names[] = {"f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1"};
    static const char *const files[] = {DATA "types.npz", DATA "types_deflated.npz"};
    for (size_t k = 0; k < 2; k++) {
        TensorFile f = opened(files[k]);
        assert_int_equal(f.count, 12);
        for (size_t i = 0; i < 12; i++) {
            bool natural = strchr("ub", names[i][0]) != NULL, truth = names[i][0] == 'b';
            float *x = values(&f, names[i], 1, 4), want[4] = {natural ? 0 : -3, 1, truth ? 1 : 2, truth ? 1 : 100};
            double d[4];
            Err e = {{0}};
            assert_memory_equal(x, want, sizeof want);
            assert_true(tensors_read_f64(&f, tensors_find(&f, names[i]), d, &e));
            for (int c = 0; c < 4; c++)
                assert_true((float)d[c] == want[c]);
            free(x);
        }
        tensors_close(&f);
    }
}

static void deflated_members_and_long_names(void **state)
{
    (void)state;
    TensorFile f = opened(DATA "names.npz");
    assert_int_equal(f.count, 3);
    float *x = values(&f, "Transformer/encoderblock_0/kernel", 2, 16 * 24);
    for (int i = 0; i < 16 * 24; i++)
        assert_true(x[i] == (float)(i / 24 % 2 * 3 + i % 3) - 2.5f);
    free(x);
    free(values(&f, "cls", 3, 3));
    Err e = {{0}};
    float one;
    const TensorInfo *word = tensors_find(&f, "word");
    assert_non_null(word);
    assert_int_equal(word->dtype, DT_OTHER);
    assert_false(tensors_read_f32(&f, word, &one, &e));
    assert_non_null(strstr(e.text, "'word' is of a number type that is not read"));
    assert_null(tensors_find(&f, "cls.npy"));
    tensors_close(&f);
}

static void recorded_checkpoints_are_read(void **state)
{
    (void)state;
    static const char *const folders[] = {"tests/data/oracle/tiny", "tests/data/oracle/nobias"};
    int files = 0;
    for (size_t k = 0; k < 2; k++) {
        DIR *d = opendir(folders[k]);
        assert_non_null(d);
        for (struct dirent *entry; (entry = readdir(d));) {
            if (strcmp(file_suffix(entry->d_name), "safetensors") != 0)
                continue;
            char path[400];
            snprintf(path, sizeof path, "%s/%s", folders[k], entry->d_name);
            TensorFile f = opened(path);
            uint64_t at = f.tensors[0].offset;
            for (size_t i = 0; i < f.count; i++) {
                const TensorInfo *t = &f.tensors[i];
                assert_int_equal(t->offset, at);
                at += t->bytes;
                float *x = values(&f, t->name, t->rank, t->cells);
                for (size_t c = 0; c < t->cells; c++)
                    assert_true(isfinite(x[c]));
                free(x);
            }
            assert_int_equal(at, f.size);
            tensors_close(&f);
            files++;
        }
        closedir(d);
    }
    assert_int_equal(files, 21);
    /* The three precisions of one model agree as far as their mantissas go. */
    TensorFile f32 = opened("tests/data/oracle/tiny/model.safetensors"),
               f16 = opened("tests/data/oracle/tiny/model_f16.safetensors"),
               bf16 = opened("tests/data/oracle/tiny/model_bf16.safetensors");
    for (size_t i = 0; i < f32.count; i++) {
        const TensorInfo *t = &f32.tensors[i];
        float *x = values(&f32, t->name, t->rank, t->cells), *h = values(&f16, t->name, t->rank, t->cells),
              *b = values(&bf16, t->name, t->rank, t->cells);
        for (size_t c = 0; c < t->cells; c++) {
            assert_true(h[c] == f16_to_f32(f32_to_f16(x[c])));
            assert_true(b[c] == bf16_to_f32(f32_to_bf16(x[c])));
        }
        free(x), free(h), free(b);
    }
    tensors_close(&f32), tensors_close(&f16), tensors_close(&bf16);
}

/* ---- writing */

enum { CELLS = 2 * 3 * 5 };
static float some[CELLS];

static void fill(void)
{
    Rng r = rng_seed(7, 1);
    for (int i = 0; i < CELLS; i++) {
        uint32_t u = rng_u32(&r);
        memcpy(&some[i], &u, 4); /* any bits at all */
        if (isnan(some[i]))
            some[i] = 0x1p-149f;
    }
    some[0] = -0.0f, some[1] = INFINITY, some[2] = -INFINITY, some[3] = NAN, some[4] = 0.1f, some[5] = 3.4028235e38f,
    some[6] = 16777216;
}

static const TensorOut two[] = {
    {"blocks.0.q", 3, {2, 3, 5}, "[t=2,h=3,e=5]", some, NULL},
    {"caf\xc3\xa9 \"x\"", 1, {7}, NULL, some, NULL},
};
static const char *const about[] = {"program", "test", "line", "a\nb", NULL};

static char *temporary(const char *suffix)
{
    static char path[100];
    snprintf(path, sizeof path, "/tmp/vitrine-tensors-%ld.%s", (long)getpid(), suffix);
    return path;
}

static void check_two(const TensorFile *f)
{
    assert_int_equal(f->count, 2);
    for (size_t i = 0; i < 2; i++) {
        size_t cells = i ? 7 : CELLS;
        float *x = values(f, two[i].name, two[i].rank, cells);
        assert_memory_equal(f->tensors[i].shape, two[i].shape, (size_t)two[i].rank * sizeof(size_t));
        assert_memory_equal(x, some, cells * sizeof(float));
        free(x);
    }
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    static const TensorFormat formats[] = {TF_SAFETENSORS, TF_NPZ};
    for (size_t i = 0; i < 2; i++) {
        Err e = {{0}};
        char *path = temporary(i ? "npz" : "safetensors");
        TensorFormat format;
        assert_true(tensor_format(path, &format, &e));
        assert_int_equal(format, formats[i]);
        if (!tensors_write(path, format, two, 2, about, &e))
            fail_msg("%s", e.text);
        TensorFile f = opened(path);
        check_two(&f);
        Buf encoded = {0}, written = {0};
        assert_true(tensors_encode(&encoded, format, two, 2, about, &e));
        assert_true(file_read(path, 1 << 20, &written, &e));
        assert_int_equal(encoded.len, written.len);
        assert_memory_equal(encoded.data, written.data, encoded.len);
        buf_free(&encoded);
        buf_free(&written);
        if (!i) {
            assert_string_equal(f.metadata,
                                "{\"program\":\"test\",\"line\":\"a\\u000ab\",\"axes:blocks.0.q\":\"[t=2,h=3,e=5]\"}");
            assert_int_equal(f.tensors[0].offset % 8, 0);
        }
        tensors_close(&f);
        unlink(path);
    }
}

/* The bytes that numpy itself wrote. */
static void npy_equals_numpy(void **state)
{
    (void)state;
    static const float plain[] = {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f}, scalar[] = {7.25f}, vector[] = {1, 2, 3};
    static const struct {
        const char *path;
        TensorOut t;
    } cases[] = {
        {DATA "plain.npy", {"a", 2, {2, 3}, NULL, plain, NULL}},
        {DATA "scalar.npy", {"a", 0, {0}, NULL, scalar, NULL}},
        {DATA "vector.npy", {"a", 1, {3}, NULL, vector, NULL}},
        {DATA "empty.npy", {"a", 2, {0, 3}, NULL, plain, NULL}},
    };
    for (size_t i = 0; i < 4; i++) {
        Err e = {{0}};
        Buf ours = {0}, theirs = {0};
        assert_true(tensors_encode(&ours, TF_NPY, &cases[i].t, 1, NULL, &e));
        assert_true(file_read(cases[i].path, 1000, &theirs, &e));
        assert_int_equal(ours.len, theirs.len);
        assert_memory_equal(ours.data, theirs.data, ours.len);
        buf_free(&ours);
        buf_free(&theirs);
    }
}

static void csv_floats_return(void **state)
{
    (void)state;
    Err e = {{0}};
    Buf b = {0};
    assert_true(tensors_encode(&b, TF_CSV, two, 1, NULL, &e));
    assert_memory_equal(b.data, "0,1,2,3,4\n-0,inf,-inf,nan,0.100000001\n3.40282347e+38,16777216,", 62);
    char *at = strchr(b.data, '\n') + 1;
    for (int i = 0; i < CELLS; i++) {
        float x = strtof(at, &at);
        assert_true(isnan(some[i]) ? isnan(x) : memcmp(&x, &some[i], 4) == 0);
        assert_int_equal(*at++, i % 5 == 4 ? '\n' : ',');
    }
    assert_int_equal(*at, 0);
    buf_free(&b);
    TensorOut scalar = {"s", 0, {0}, NULL, some + 4, NULL}, empty = {"e", 2, {3, 0}, NULL, some, NULL};
    assert_true(tensors_encode(&b, TF_CSV, &scalar, 1, NULL, &e));
    assert_string_equal(b.data, "0\n0.100000001\n");
    buf_clear(&b);
    assert_true(tensors_encode(&b, TF_CSV, &empty, 1, NULL, &e));
    assert_string_equal(b.data, "\n");
    buf_clear(&b);
    /* labels: a column for each axis but the last, numbers bare, text in quotes */
    static const char *const HEADS[] = {"0", "1"}, *const TOKENS[] = {"a,b", "say \"no\""}, *const ENDS[] = {"x", "=2"};
    static const float EIGHT[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const TensorAxis axis[] = {{"h", HEADS}, {"t", TOKENS}, {"u", ENDS}};
    TensorOut cube = {.name = "c", .rank = 3, .shape = {2, 2, 2}, .data = EIGHT, .axis = axis};
    assert_true(tensors_encode(&b, TF_CSV, &cube, 1, NULL, &e));
    assert_string_equal(b.data, "\"h\",\"t\",\"x\",\"=2\"\n0,\"a,b\",1,2\n0,\"say \"\"no\"\"\",3,4\n"
                                "1,\"a,b\",5,6\n1,\"say \"\"no\"\"\",7,8\n");
    buf_free(&b);
}

static void json_floats_return(void **state)
{
    (void)state;
    Err e = {{0}};
    Buf b = {0};
    assert_true(tensors_encode(&b, TF_JSON, two, 2, about, &e));
    Json *v = json_parse("out", b.data, b.len, &e);
    assert_non_null(v);
    assert_string_equal(json_text(json_get(json_get(v, "metadata"), "line"), ""), "a\nb");
    const Json *all = json_get(v, "tensors");
    assert_int_equal(json_count(all), 2);
    for (size_t k = 0; k < 2; k++) {
        const Json *t = json_at(all, k), *data = json_get(t, "data");
        assert_string_equal(json_text(json_get(t, "name"), ""), two[k].name);
        assert_string_equal(json_text(json_get(t, "axes"), "none"), k ? "none" : "[t=2,h=3,e=5]");
        assert_int_equal(json_count(json_get(t, "shape")), two[k].rank);
        assert_int_equal(json_count(data), k ? 7 : CELLS);
        assert_string_equal(json_text(json_at(data, 1), ""), "Infinity");
        assert_string_equal(json_text(json_at(data, 2), ""), "-Infinity");
        assert_string_equal(json_text(json_at(data, 3), ""), "NaN");
        for (size_t i = 4; i < json_count(data); i++) {
            double x = 0;
            assert_true(json_number(json_at(data, i), &x));
            assert_true((float)x == some[i]);
        }
    }
    json_free(v);
    buf_free(&b);
}

static void numbers_have_points_in_every_locale(void **state)
{
    (void)state;
    static const char *const places[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
    bool set = false;
    for (size_t i = 0; i < 3 && !set; i++)
        set = setlocale(LC_NUMERIC, places[i]) != NULL;
    if (!set) {
        print_message("  not tried: numbers under a locale whose point is a comma; none is here\n");
        skip();
    }
    Err e = {{0}};
    Buf b = {0};
    TensorOut t = {"s", 1, {2}, NULL, some + 4, NULL};
    assert_true(tensors_encode(&b, TF_CSV, &t, 1, NULL, &e));
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(b.data, "0,1\n0.100000001,3.40282347e+38\n");
    buf_free(&b);
}

static void no_encode(TensorFormat f, const TensorOut *t, size_t count, const char *why)
{
    Err e = {{0}};
    Buf b = {0};
    buf_puts(&b, "kept");
    assert_false(tensors_encode(&b, f, t, count, NULL, &e));
    assert_string_equal(buf_str(&b), "kept");
    buf_free(&b);
    if (!strstr(e.text, why))
        fail_msg("'%s' does not say '%s'", e.text, why);
    assert_false(tensors_write(temporary("none"), f, t, count, NULL, &e));
    assert_false(file_exists(temporary("none")));
}

static void what_no_reader_takes_is_not_written(void **state)
{
    (void)state;
    static const TensorOut twins[] = {{"a", 1, {1}, NULL, some, NULL},
                                      {"b", 1, {1}, NULL, some, NULL},
                                      {"a", 1, {2}, NULL, some, NULL}};
    static const TensorOut huge[] = {
        {"a", 2, {1 << 15, 1 << 15}, NULL, some, NULL}}; /* refused before a value is looked at */
    static const TensorOut reserved[] = {{"__metadata__", 1, {1}, NULL, some, NULL}},
                           nameless[] = {{"", 1, {1}, NULL, some, NULL}};
    no_encode(TF_NPY, two, 2, "2 tensors can't go into one .npy file. Name one tensor");
    no_encode(TF_CSV, two, 2, "one .csv file");
    no_encode(TF_SAFETENSORS, two, 0, "Name at least one");
    no_encode(TF_SAFETENSORS, twins, 3, "two tensors are named 'a'");
    no_encode(TF_NPZ, twins, 3, "two tensors are named 'a'");
    no_encode(TF_NPZ, huge, 1, "Write .safetensors instead");
    no_encode(TF_JSON, reserved, 1, "can't be named");
    no_encode(TF_NPZ, nameless, 1, "can't be named");
    Err e = {{0}};
    TensorFormat f;
    assert_false(tensor_format("a.bin", &f, &e));
    assert_string_equal(e.text,
                        "a.bin: its ending names no format. End it in .safetensors, .npz, .npy, .csv or .json.");
    assert_false(tensor_format("npy", &f, &e));
    assert_true(tensor_format("x.NPY", &f, &e));
    assert_int_equal(f, TF_NPY);
    assert_false(tensors_write("/dev/full", TF_NPZ, two, 2, NULL, &e));
    assert_false(tensors_write("missing/a.npz", TF_NPZ, two, 2, NULL, &e));
}

static void folders_of_arrays_are_read(void **state)
{
    (void)state;
    Err e = {{0}};
    char folder[] = "/tmp/vitrine-arrays-XXXXXX", path[100];
    assert_non_null(mkdtemp(folder));
    TensorFile f;
    assert_false(tensors_open(&f, folder, &e));
    assert_non_null(strstr(e.text, "holds no .npy files"));
    static const char *const names[] = {"b.npy", "a.npy", "notes.txt", ".hidden.npy"};
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        TensorOut t = {"x", 1, {i + 4}, NULL, some, NULL};
        assert_true(tensors_write(path, TF_NPY, &t, 1, NULL, &e));
    }
    f = opened(folder);
    assert_int_equal(f.count, 2);
    assert_string_equal(f.tensors[0].name, "a");
    float *x = values(&f, "a", 1, 5);
    assert_memory_equal(x, some, 5 * sizeof(float));
    free(x);
    free(values(&f, "b", 1, 4));
    snprintf(path, sizeof path, "%s/a.npy", folder);
    assert_true(file_write(path, "short", 5, &e));
    float out[5];
    assert_false(tensors_read_f32(&f, tensors_find(&f, "a"), out, &e));
    assert_non_null(strstr(e.text, "has changed since"));
    tensors_close(&f);
    assert_false(tensors_open(&f, folder, &e));
    assert_non_null(strstr(e.text, "does not begin like a .npy file"));
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

int main(void)
{
    fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numpy_arrays_are_read),
        cmocka_unit_test(columns_become_rows),
        cmocka_unit_test(doubles_round_to_nearest),
        cmocka_unit_test(every_type_is_read),
        cmocka_unit_test(deflated_members_and_long_names),
        cmocka_unit_test(recorded_checkpoints_are_read),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(npy_equals_numpy),
        cmocka_unit_test(csv_floats_return),
        cmocka_unit_test(json_floats_return),
        cmocka_unit_test(numbers_have_points_in_every_locale),
        cmocka_unit_test(what_no_reader_takes_is_not_written),
        cmocka_unit_test(folders_of_arrays_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
