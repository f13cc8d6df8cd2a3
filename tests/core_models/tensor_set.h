/* Shared by the tests of checkpoints: files of tensors made, changed and refused. */
#ifndef VITRINE_TESTS_CORE_MODELS_TENSOR_SET_H
#define VITRINE_TESTS_CORE_MODELS_TENSOR_SET_H
#include "tests/core_models/oracle.h"

/* Tensors in memory that can be renamed, dropped, reshaped and written. */
typedef struct Set {
    TensorOut t[256];
    char name[256][160];
    size_t count;
} Set;

static inline void set_add(Set *s, const char *name, int rank, const size_t *shape, float *data)
{
    assert_true(s->count < 256);
    TensorOut *t = &s->t[s->count];
    snprintf(s->name[s->count], sizeof s->name[0], "%s", name);
    *t = (TensorOut){.name = s->name[s->count], .rank = rank, .data = data};
    memcpy(t->shape, shape, (size_t)rank * sizeof *shape);
    s->count++;
}

static inline void set_read(Set *s, const char *path)
{
    TensorFile f;
    Err err = {""};
    s->count = 0;
    if (!tensors_open(&f, path, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < f.count; i++) {
        const TensorInfo *t = &f.tensors[i];
        float *data = malloc(t->cells * sizeof *data);
        assert_true(tensors_read_f32(&f, t, data, &err));
        set_add(s, t->name, t->rank, t->shape, data);
    }
    tensors_close(&f);
}

static inline void set_free(Set *s)
{
    for (size_t i = 0; i < s->count; i++)
        free((void *)(uintptr_t)s->t[i].data);
    s->count = 0;
}

static inline void set_write(const Set *s, const char *dir)
{
    char path[512];
    Err err = {""};
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    if (!tensors_write(path, TF_SAFETENSORS, s->t, s->count, NULL, &err))
        fail_msg("%s", err.text);
}

static inline size_t set_find(const Set *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->name[i], name) == 0)
            return i;
    fail_msg("no tensor '%s' in the test's own data", name);
    return 0;
}

static inline void set_drop(Set *s, const char *name)
{
    size_t i = set_find(s, name);
    free((void *)(uintptr_t)s->t[i].data);
    for (; i + 1 < s->count; i++) {
        s->t[i] = s->t[i + 1];
        memcpy(s->name[i], s->name[i + 1], sizeof s->name[0]);
        s->t[i].name = s->name[i];
    }
    s->count--;
}

/* Every occurrence of `from` in every name becomes `to`. */
static inline void set_rename(Set *s, const char *from, const char *to)
{
    for (size_t i = 0; i < s->count; i++) {
        char *at = strstr(s->name[i], from), rest[160];
        if (!at)
            continue;
        snprintf(rest, sizeof rest, "%s", at + strlen(from));
        snprintf(at, sizeof s->name[0] - (size_t)(at - s->name[i]), "%s%s", to, rest);
    }
}

static inline void start(Set *s, char *dir, size_t n, const char *name, const char *model)
{
    char path[256];
    scratch_dir(dir, n, name);
    snprintf(path, sizeof path, "%s/model.safetensors", model);
    set_read(s, path);
    snprintf(path, sizeof path, "%s/config.json", model);
    copy_file(path, dir, "config.json");
    snprintf(path, sizeof path, "%s/preprocessor_config.json", model);
    copy_file(path, dir, "preprocessor_config.json");
}

/* The recorded model's config.json into a folder, its first `from` made `to`. */
static inline void put_config_with(const char *dir, const char *from, const char *to)
{
    Buf config = {0}, out = {0};
    Err err = {""};
    assert_true(file_read(ORACLE "tiny/config.json", 1 << 20, &config, &err));
    const char *at = strstr(buf_str(&config), from);
    assert_non_null(at);
    buf_add(&out, config.data, (size_t)(at - config.data));
    buf_puts(&out, to);
    buf_puts(&out, at + strlen(from));
    put_file(dir, "config.json", out.data, out.len);
    buf_free(&config);
    buf_free(&out);
}
#define HEADLESS(dir) put_config_with(dir, "ViTForImageClassification", "ViTModel")

static inline uint64_t hash_of(const char *path)
{
    Bench b;
    bench_load(&b, path, ORACLE "tiny/image.ppm");
    uint64_t h = bench_hash(&b);
    bench_free(&b);
    return h;
}

/* Every word must stand in the one line that says why the folder cannot be opened. */
static inline void refused(const char *path, const char *const *words)
{
    Model m = {.name = "untouched"};
    Err err = {""};
    assert_false(model_load(&m, path, NULL, NULL, &err));
    assert_string_equal(m.name, "untouched");
    assert_null(strchr(err.text, '\n'));
    for (; *words; words++)
        if (!strstr(err.text, *words))
            fail_msg("'%s' is not in: %s", *words, err.text);
}
#define REFUSED(path, ...) refused(path, (const char *const[]){__VA_ARGS__, NULL})
#endif
