/* Five steps of training a small model on drawn pictures: one line with the loss of each step and a hash of the
 * weights, which must be the same (train.txt) for every compiler, optimisation level, instruction set, thread count and
 * C library. Links base, kernels, graph, models and train only, and draws its pictures itself, so that musl and aarch64
 * need no other library. usage: train [threads]; with VITRINE_ISA=scalar and so on in the environment. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/graph/run.h"
#include "core/models/drawn.h"
#include "core/train/trainer.h"
#include "tests/portable/no_files.h"

enum { SERIES = 77, CELLS = DRAWN_SIDE * DRAWN_SIDE };

/* The drawn pictures without what folders and resizing would need. */
int pictures_classes(const Pictures *p)
{
    (void)p;
    return DRAWN_CLASSES;
}

const char *const *pictures_names(const Pictures *p)
{
    (void)p;
    return SHAPES_NAMES;
}

bool pictures_have_masks(const Pictures *p)
{
    (void)p;
    return true;
}

int pictures_get(const Pictures *p, PictureSet set, uint64_t number, double difficulty, float *pixels, uint8_t *mask)
{
    uint8_t drawn[CELLS * 3];
    (void)p;
    int label = drawn_series(SERIES + (uint64_t)set, number, difficulty, drawn, mask);
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < CELLS; i++)
            pixels[c * CELLS + i] = (float)drawn[i * 3 + c];
    return label;
}

size_t pictures_count(const Pictures *p, PictureSet set)
{
    (void)p;
    (void)set;
    return 0;
}

size_t pictures_learnt(const Pictures *p)
{
    (void)p;
    return 0;
}

uint64_t pictures_learnt_hash(const Pictures *p)
{
    (void)p;
    return 0;
}

bool pictures_write_learnt(const Pictures *p, const char *path, Err *err)
{
    (void)p;
    (void)path;
    (void)err;
    return true;
}

Pictures *pictures_drawn(const Preprocess *p, uint64_t seed)
{
    (void)p;
    (void)seed;
    return NULL;
}

Pictures *pictures_folder(const char *folder, const Preprocess *p,
                          bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    (void)p;
    (void)progress;
    (void)context;
    err_set(err, "%s: no files are read here", folder);
    return NULL;
}

void pictures_free(Pictures *p)
{
    (void)p;
}

/* Four steps of a small translator. */
static void train_translator(Pool *pool)
{
    Recipe r = SENTENCES_TASK.recipe(4);
    Seq2seqConfig c = text_model_bundled_config();
    r.batch = 16;
    r.check = 8;
    r.average = 2;
    r.average_every = 1;
    c.encoder_layers = 1;
    c.decoder_layers = 2;
    Trainer *t = trainer_new(&r, &c, NULL, pool);
    printf("words");
    while (!trainer_done(t))
        printf(" %.9g", trainer_step(t).loss);
    const Model *m = &t->model;
    printf("\nweights %016" PRIx64 "\n", run_hash_values(m->block, m->block_cells));
    trainer_free(t);
}

int main(int argc, char **argv)
{
    Recipe r = PICTURES_TASK.recipe(5);
    VitConfig c = model_bundled_config();
    c.input = VIT_INPUT_PER_IMAGE;
    c.width = 32;
    c.layers = 2;
    c.heads = 2;
    c.mlp = 48;
    c.mask_token = c.reconstruct = true;
    r.batch = 8;
    r.check = 8;
    Pool *pool = pool_new(argc > 1 ? atoi(argv[1]) : 1);
    Trainer *t = trainer_new(&r, &c, NULL, pool);
    printf("loss");
    while (!trainer_done(t))
        printf(" %.9g", trainer_step(t).loss);
    const Model *m = &t->model;
    const History *h = &t->history;
    printf("\nweights %016" PRIx64 " history %016" PRIx64 "\n", run_hash_values(m->block, m->block_cells),
           run_hash_values(h->row, (size_t)h->row_count * history_width(h)));
    trainer_free(t);
    train_translator(pool);
    pool_free(pool);
    return 0;
}
