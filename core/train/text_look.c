#include "core/train/text_look.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/graph/anatomy.h"

void text_look_open(TextLook *l, const Model *m, const History *h, const Seq2seqInput *in)
{
    int lines = history_lines(h);
    graph_init(&l->graph);
    seq2seq_build(&l->graph, &m->text, &m->weights, in, NULL);
    REQUIRE(anatomy_attentions(&l->graph) == lines);
    l->pattern = xcalloc((size_t)lines, sizeof *l->pattern);
    for (int i = 0; i < lines; i++)
        l->pattern[i] = site_node(&l->graph, anatomy_attention(&l->graph, i), SITE_PATTERN);
    l->plan = plan_new(&l->graph, l->pattern, lines);
}

void text_look_close(TextLook *l)
{
    plan_free(l->plan);
    graph_free(&l->graph);
    free(l->pattern);
}

/* Mean entropy of a head's rows, each over the tokens that it may look at; a row with one such token says nothing. */
static double head_entropy(const float *pattern, int queries, int keys, bool causal)
{
    double sum = 0;
    int rows = 0;
    for (int i = 0; i < queries; i++) {
        int open_to = causal ? i + 1 : keys;
        if (open_to < 2)
            continue;
        sum += history_row_entropy(pattern + (size_t)i * (size_t)keys, open_to);
        rows++;
    }
    return rows ? sum / rows : 0;
}

void text_look(TextLook *l, const History *of, float *lines, Snapshot *s)
{
    const Graph *g = &l->graph;
    int heads = of->text.heads;
    size_t at = 0;
    plan_compute(l->plan);
    for (int a = 0; a < history_lines(of); a++) {
        Dims d = graph_node(g, l->pattern[a])->dims; /* [h, queries, keys] */
        int queries = g->axes[d.axis[1]].n, keys = g->axes[d.axis[2]].n;
        size_t head = (size_t)queries * (size_t)keys, cells = (size_t)heads * head;
        const float *pattern = plan_values(l->plan, l->pattern[a]);
        bool causal = history_texts(&of->text, a).target_keys;
        double sum = 0;
        for (int h = 0; h < heads; h++) {
            double entropy = head_entropy(pattern + (size_t)h * head, queries, keys, causal);
            sum += entropy;
            if (s)
                s->entropy[a * heads + h] = (float)entropy;
        }
        if (lines)
            lines[a] = (float)(sum / heads);
        if (s)
            memcpy(s->rows + at, pattern, cells * sizeof *pattern);
        at += cells;
    }
}
