/* make_vit --size b16|b16-384|l16|h14|tiny --seed N -o DIR: a Vision Transformer of that size with weights from a seed,
 * in Hugging Face form. For trying out size: its answers mean nothing. Weights are written as they are made; no size
 * needs more memory than one matrix. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/models/family.h"

typedef struct Source {
    VitConfig config;
    uint64_t seed;
} Source;

static void fill(void *context, const WeightPlace *w, float *out)
{
    const Source *s = context;
    weight_seeded(w, s->seed, out);
}

static int usage(void)
{
    fprintf(stderr, "usage: make_vit --size b16|b16-384|l16|h14|tiny [--seed N] -o DIR\n");
    return 2;
}

int main(int argc, char **argv)
{
    const char *size = NULL, *dir = NULL;
    Source s = {.seed = 1};
    Err err = {""};
    for (int i = 1; i < argc; i += 2) {
        char *end = "";
        if (i + 1 == argc)
            return usage();
        if (strcmp(argv[i], "--size") == 0)
            size = argv[i + 1];
        else if (strcmp(argv[i], "-o") == 0)
            dir = argv[i + 1];
        else if (strcmp(argv[i], "--seed") == 0)
            s.seed = strtoull(argv[i + 1], &end, 10);
        else
            return usage();
        if (*end)
            return usage();
    }
    if (!size || !dir || !model_size(size, &s.config))
        return usage();
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "make_vit: %s: %s\n", dir, strerror(errno));
        return 1;
    }
    Model m = {.family = &FAMILY_VIT, .vit = s.config, .preprocess = preprocess_default(&s.config)};
    if (!model_save_filled(&m, dir, fill, &s, &err)) {
        fprintf(stderr, "make_vit: %s\n", err.text);
        return 1;
    }
    printf("%s: %zu parameters\n", dir, vit_params(&s.config));
    return 0;
}
