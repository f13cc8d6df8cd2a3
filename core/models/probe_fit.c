/* A position table on the picture's grid, fitted in every way there is, where the model's was made for another grid:
 * what interpolation makes of it can be compared. The model's own way is in its pass (vit_embed.c). */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/models/probe_parts.h"

static NodeId weights_leaf(Probes *b, const VitConfig *c, const char *word, char direction, int to, int from)
{
    Graph *g = b->g;
    char name[32];
    size_t n = size_mul((size_t)g->axes[to].n, (size_t)g->axes[from].n);
    double *exact = xcalloc(n, sizeof *exact);
    float *weights = arena_alloc(&g->arena, size_mul(n, sizeof *weights));
    vit_fit_weights(c, g->axes[from].n, g->axes[to].n, exact);
    for (size_t i = 0; i < n; i++)
        weights[i] = (float)exact[i];
    free(exact);
    snprintf(name, sizeof name, "%s_%c", word, direction);
    return graph_leaf(g, name, DIMS(to, from), (Leaf){LEAF_CONST, weights, "how much an old row counts in a new one"});
}

void probe_fit(Probes *b)
{
    static const struct {
        VitFit fit;
        const char *word;
    } WAYS[] = {{VIT_FIT_NEAREST, "nearest"}, {VIT_FIT_BILINEAR, "bilinear"}, {VIT_FIT_BICUBIC, "bicubic"}};
    Graph *g = b->g;
    if (!vit_resizes(b->c))
        return;
    NodeId grid = graph_find(g, "pos_fit.grid");
    Dims old = graph_node(g, grid)->dims; /* [y0,x0,d] */
    graph_scope(g, "pos_fit.probe");
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        VitConfig c = *b->c;
        char name[32];
        c.fit = WAYS[i].fit;
        snprintf(name, sizeof name, "%s_rows", WAYS[i].word);
        NodeId down = weights_leaf(b, &c, WAYS[i].word, 'y', b->axis.y, old.axis[0]);
        NodeId rows = probe_passing(g, graph_contract(g, name, grid, down, DIMS(b->axis.y, old.axis[1], b->axis.d)));
        NodeId across = weights_leaf(b, &c, WAYS[i].word, 'x', b->axis.x, old.axis[1]);
        graph_contract(g, WAYS[i].word, rows, across, DIMS(b->axis.y, b->axis.x, b->axis.d));
    }
}
