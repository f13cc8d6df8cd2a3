/* make_figures [PICTURES]: measures every figure that is stated about the bundled model (core/eval/figures.h), over
 * FIGURES_PICTURES held-out pictures and over the first FIGURES_PART of them, and writes core/eval/figures.def to
 * standard output. `make figures` runs it and compares with the shipped file. */
#include <stdio.h>

#include "assets/assets.h"
#include "core/eval/figures.h"

#define TWIN "assets/trained/twin"

static bool show(void *context, const char *what, double share)
{
    fprintf(stderr, "\r%s %s: %.0f %%\033[K", (const char *)context, what, 100 * share);
    return true;
}

static void put(const char *macro, const Figures *f)
{
    for (int k = 0; k < FIGURE_KIND_COUNT; k++)
        for (int i = 0; i < figures_count((FigureKind)k); i++) {
            const Figure *x = &f->figure[figures_at((FigureKind)k, i)];
            printf("%s(%s, %d, %zu, %zu, %zu)\n", macro, figures_name((FigureKind)k), i, x->right, x->pair.lost,
                   x->pair.won);
        }
}

static void put_means(const char *macro, const Figures *f)
{
    static const char *const NAMES[] = {
#define X(symbol, text) #symbol,
        FIGURE_MEANS(X)
#undef X
    };
    for (int i = 0; i < FIGURE_MEAN_COUNT; i++)
        printf("%s(%s, %.6f)\n", macro, NAMES[i], f->mean[i]);
}

int main(void)
{
    const Asset *a = asset_find("shapes-vit.f32");
    Model model, twin;
    Err err = {""};
    Figures all, part;
    Pool *pool = pool_new(0);
    if (!a || !model_bundled(&model, a->data, a->size, &err) || !model_load(&twin, TWIN, NULL, NULL, &err) ||
        !figures_measure(&part, &model, &twin, FIGURES_PART, pool, show, "the first ones,", &err) ||
        !figures_measure(&all, &model, &twin, FIGURES_PICTURES, pool, show, "all,", &err)) {
        fprintf(stderr, "make_figures: %s\n", a ? err.text : "no bundled model");
        return 1;
    }
    fputs("\r\033[K", stderr);
    puts("/* Measured by `make figures`; see core/eval/figures.h. FIGURE: over FIGURES_PICTURES held-out pictures, "
         "PART: over\n"
         " * the first FIGURES_PART of them: kind, which, named right, right only as trained, right only so. */");
    put("FIGURE", &all);
    put("PART", &part);
    put_means("MEAN", &all);
    put_means("PART_MEAN", &part);
    pool_free(pool);
    model_free(&model);
    model_free(&twin);
    return 0;
}
