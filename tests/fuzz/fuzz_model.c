/* libFuzzer: any text as the config.json (first byte even) or the preprocessor_config.json beside real weights. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/models/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static char folder[64], config[96], preprocessor[96];

static void tidy(void)
{
    char weights[96];
    snprintf(weights, sizeof weights, "%s/model.safetensors", folder);
    unlink(weights);
    unlink(config);
    unlink(preprocessor);
    rmdir(folder);
}

static void put(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        abort();
}

static void start(void)
{
    char weights[96], *real = realpath("tests/data/oracle/tiny/model.safetensors", NULL);
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/vitrine-fuzz-XXXXXX" : "/tmp/vitrine-fuzz-XXXXXX");
    if (!real || !mkdtemp(folder))
        abort();
    snprintf(weights, sizeof weights, "%s/model.safetensors", folder);
    snprintf(config, sizeof config, "%s/config.json", folder);
    snprintf(preprocessor, sizeof preprocessor, "%s/preprocessor_config.json", folder);
    if (symlink(real, weights) != 0)
        abort();
    free(real);
    atexit(tidy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static Buf good;
    Err err = {{0}};
    Model m = {0};
    if (!*folder) {
        start();
        if (!file_read("tests/data/oracle/tiny/config.json", 1 << 20, &good, &err))
            abort();
    }
    if (n < 2)
        return 0;
    bool first = bytes[0] % 2 == 0;
    put(config, first ? (const void *)(bytes + 1) : good.data, first ? n - 1 : good.len);
    unlink(preprocessor);
    if (!first)
        put(preprocessor, bytes + 1, n - 1);
    if (model_load(&m, folder, NULL, NULL, &err))
        model_free(&m);
    else if (!*err.text || strchr(err.text, '\n') || strchr(err.text, '\x1b'))
        abort();
    return 0;
}
