/* libFuzzer: any bytes as a tensor file, or a text that begins with { as the index of two: a.safetensors, which is what
 * follows its NUL, and b.safetensors with one tensor, b. Whatever opens must be readable to its last cell and survive
 * being written and read again. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/io/tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CELLS_MAX = 1 << 20, TENSORS = 64 };
#define INDEX "model.safetensors.index.json"

/* A file in memory that has a path. */
static int memory_file(const void *data, size_t size, char path[40])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, 40, "/proc/self/fd/%d", fd);
    return fd;
}

static void check_again(const TensorOut *t, size_t n)
{
    Err e;
    Buf b = {0};
    char path[40];
    TensorFile f;
    if (!tensors_encode(&b, TF_SAFETENSORS, t, n, NULL, &e))
        abort();
    int fd = memory_file(b.data, b.len, path);
    if (!tensors_open(&f, path, &e) || f.count != n)
        abort();
    for (size_t i = 0; i < n; i++) {
        const TensorInfo *info = tensors_find(&f, t[i].name);
        if (!info || info->rank != t[i].rank)
            abort();
        float *x = xfloats(info->cells);
        if (!tensors_read_f32(&f, info, x, &e) || memcmp(x, t[i].data, info->cells * sizeof(float)) != 0)
            abort();
        free(x);
    }
    tensors_close(&f);
    close(fd);
    buf_free(&b);
}

static void read_all(TensorFile *f)
{
    TensorOut out[TENSORS];
    float *values[TENSORS];
    size_t n = 0;
    Err e = {""};
    for (size_t i = 0; i < f->count && n < TENSORS; i++) {
        const TensorInfo *t = &f->tensors[i];
        if (t->dtype == DT_OTHER || t->cells > CELLS_MAX || !strcmp(t->name, "__metadata__"))
            continue;
        values[n] = xfloats(t->cells);
        if (!tensors_read_f32(f, t, values[n], &e)) { /* a zip's checksums are tested here */
            if (!t->member || !e.text[0])
                abort();
            free(values[n]);
            continue;
        }
        out[n] = (TensorOut){.name = t->name, .rank = t->rank, .data = values[n]};
        memcpy(out[n++].shape, t->shape, sizeof t->shape);
    }
    bool text = true; /* npz names are any bytes; JSON keys are not */
    for (size_t i = 0; i < n; i++)
        for (const char *c = out[i].name; *c; c++)
            text = text && *c >= ' ' && *c < 0x7f;
    if (n && text)
        check_again(out, n);
    for (size_t i = 0; i < n; i++)
        free(values[i]);
}

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(in_folder(name), "w");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        abort();
}

static void tidy(void)
{
    unlink(in_folder(INDEX));
    unlink(in_folder("a.safetensors"));
    unlink(in_folder("b.safetensors"));
    rmdir(folder);
}

static void start(void)
{
    Err e;
    Buf b = {0};
    const float one = 1;
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/vitrine-fuzz-XXXXXX" : "/tmp/vitrine-fuzz-XXXXXX");
    if (!mkdtemp(folder) ||
        !tensors_encode(&b, TF_SAFETENSORS, &(TensorOut){.name = "b", .rank = 1, .shape = {1}, .data = &one}, 1, NULL,
                        &e))
        abort();
    atexit(tidy);
    put("b.safetensors", b.data, b.len);
    buf_free(&b);
}

static void open_index(const uint8_t *data, size_t size)
{
    if (!*folder)
        start();
    const uint8_t *cut = memchr(data, 0, size);
    const size_t n = cut ? (size_t)(cut - data) : size;
    Err e = {""};
    TensorFile f;
    put(INDEX, data, n);
    put("a.safetensors", data + (cut ? n + 1 : n), size - (cut ? n + 1 : n));
    if (tensors_open_shards(&f, in_folder(INDEX), &e)) {
        read_all(&f);
        tensors_close(&f);
    } else if (!e.text[0] || strchr(e.text, '\n')) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40];
    Err e;
    TensorFile f;
    if (size > 1 && data[0] == '{' && data[1]) { /* a safetensors file of so short a header has a 0 there */
        open_index(data, size);
        return 0;
    }
    int fd = memory_file(data, size, path);
    if (tensors_open(&f, path, &e)) {
        read_all(&f);
        tensors_close(&f);
    } else if (!e.text[0] || strchr(e.text, '\n')) {
        abort();
    }
    close(fd);
    return 0;
}
