/* libFuzzer: any bytes as a tensor file. Whatever opens must be readable to its last cell and survive being written and
 * read again. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40];
    Err e;
    TensorFile f;
    TensorOut out[TENSORS];
    float *values[TENSORS];
    size_t n = 0;
    int fd = memory_file(data, size, path);
    if (tensors_open(&f, path, &e)) {
        for (size_t i = 0; i < f.count && n < TENSORS; i++) {
            const TensorInfo *t = &f.tensors[i];
            if (t->dtype == DT_OTHER || t->cells > CELLS_MAX || !strcmp(t->name, "__metadata__"))
                continue;
            values[n] = xfloats(t->cells);
            if (!tensors_read_f32(&f, t, values[n], &e)) { /* a zip's checksums are tested here */
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
        tensors_close(&f);
    } else if (!e.text[0] || strchr(e.text, '\n')) {
        abort();
    }
    close(fd);
    return 0;
}
