/* One traced forward pass of a seeded ViT per line read, for a driver that interleaves it with another engine. Prints
 * "wall cpu" in ms. Usage: serve_forward [SIZE [THREADS]] (b16, 1) */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/graph/run.h"
#include "core/models/model.h"

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    const char *size = argc > 1 ? argv[1] : "b16";
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    VitConfig c;
    Model m = {0};
    Graph g;
    VitNodes nodes;
    char line[64];
    if (!model_size(size, &c)) {
        fprintf(stderr, "serve_forward: there is no size '%s': tiny, b16, l16 or h14\n", size);
        return 2;
    }
    model_seeded(&m, &c, 1);
    size_t cells = (size_t)c.channels * (size_t)c.image_h * (size_t)c.image_w;
    float *picture = xfloats(cells);
    for (size_t i = 0; i < cells; i++)
        picture[i] = (float)(i * 7919 % 256);
    graph_init(&g);
    vit_build(&g, &c, &m.weights, NULL, picture, &nodes);
    Pool *pool = pool_new(threads);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        Run *r = run_new(&g, NULL, pool);
        double cpu = cpu_ms();
        int64_t wall = clock_ns();
        while (!run_step_all(r, CLOCK_NEVER))
            ;
        printf("%.3f %.3f\n", (double)(clock_ns() - wall) / 1e6, cpu_ms() - cpu);
        fflush(stdout);
        run_free(r);
    }
    pool_free(pool);
    graph_free(&g);
    model_free(&m);
    free(picture);
    return 0;
}
