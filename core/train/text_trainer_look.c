/* What goes into the history of a text model: figures of the steps, and what attention looks like in one sentence. */
#include <stdlib.h>
#include <string.h>

#include "core/graph/anatomy.h"
#include "core/train/text_trainer_parts.h"

enum { LOOK_WORDS = SENTENCE_WORDS + 1 };

/* The sentence that the pronoun is about, and its translation behind the start. */
static void put_words(const Model *m, int source[LOOK_WORDS], int target[LOOK_WORDS], Seq2seqInput *in)
{
    Sentence pair[2];
    sentence_pair(0, pair);
    const Sentence *s = &pair[0];
    memcpy(source, s->en, (size_t)s->en_n * sizeof *source);
    source[s->en_n] = m->source.end;
    target[0] = m->target.start;
    memcpy(target + 1, s->fr, (size_t)s->fr_n * sizeof *target);
    *in = (Seq2seqInput){.source = {source, s->en_n + 1, NULL}, .target = {target, s->fr_n + 1, NULL}};
}

void text_trainer_look_open(TextTrainer *t)
{
    TextLook *l = &t->look;
    int source[LOOK_WORDS], target[LOOK_WORDS], lines = history_lines(&t->history);
    Seq2seqInput in;
    put_words(&t->model, source, target, &in);
    graph_init(&l->graph);
    seq2seq_build(&l->graph, &t->model.text, &t->model.weights, &in, NULL);
    REQUIRE(anatomy_attentions(&l->graph) == lines);
    l->pattern = xcalloc((size_t)lines, sizeof *l->pattern);
    for (int i = 0; i < lines; i++)
        l->pattern[i] = site_node(&l->graph, anatomy_attention(&l->graph, i), SITE_PATTERN);
    l->plan = plan_new(&l->graph, l->pattern, lines);
}

void text_trainer_look_close(TextTrainer *t)
{
    plan_free(t->look.plan);
    graph_free(&t->look.graph);
    free(t->look.pattern);
}

/* Mean entropy of a head's rows, each over the tokens that it may look at; a row with one such token says nothing. */
static double head_entropy(const float *pattern, int asks, int keys, bool causal)
{
    double sum = 0;
    int rows = 0;
    for (int i = 0; i < asks; i++) {
        int seen = causal ? i + 1 : keys;
        if (seen < 2)
            continue;
        sum += history_row_entropy(pattern + (size_t)i * (size_t)keys, seen);
        rows++;
    }
    return rows ? sum / rows : 0;
}

/* entropy[attentions, heads] of the pass just computed. */
static void entropies(const TextTrainer *t, double *entropy)
{
    const Graph *g = &t->look.graph;
    int heads = t->history.text.heads;
    for (int a = 0; a < history_lines(&t->history); a++) {
        Dims d = graph_node(g, t->look.pattern[a])->dims; /* [h, asks, keys] */
        int asks = g->axes[d.axis[1]].n, keys = g->axes[d.axis[2]].n;
        const float *pattern = plan_values(t->look.plan, t->look.pattern[a]);
        for (int h = 0; h < heads; h++)
            entropy[a * heads + h] = head_entropy(
                pattern + (size_t)h * (size_t)asks * (size_t)keys, asks, keys,
                seq2seq_attention_texts(t->history.text.encoder_layers, a).target_keys);
    }
}

static void take_snapshot(TextTrainer *t, const double *entropy)
{
    Snapshot *s = history_snap(&t->history, t->step);
    size_t at = 0;
    for (int a = 0; a < history_lines(&t->history); a++) {
        size_t cells = graph_cells(&t->look.graph, t->look.pattern[a]);
        memcpy(s->rows + at, plan_values(t->look.plan, t->look.pattern[a]), cells * sizeof(float));
        at += cells;
    }
    for (int i = 0; i < history_lines(&t->history) * t->history.text.heads; i++)
        s->entropy[i] = (float)entropy[i];
}

static void add_row(TextTrainer *t, const TextStep *s, const double *entropy)
{
    const TextRecipe *r = &t->recipe;
    int heads = t->history.text.heads;
    bool check = r->check > 0 && (text_trainer_done(t) || t->step % (10 * r->log_every) == 0);
    double exact = check ? (double)text_trainer_exact(t, SENTENCES_COMBINATIONS, 1u << 30, (size_t)r->check) / r->check
                         : -1;
    const double figures[HISTORY_FIXED] = {
        [HISTORY_STEP] = t->step,
        [HISTORY_LOSS] = s->loss,
        [HISTORY_ACCURACY] = s->words,
        [HISTORY_GUESS] = -1,
        [HISTORY_GRADIENT] = s->gradient_norm,
        [HISTORY_RATE] = s->rate,
        [HISTORY_CHECK] = exact,
    };
    float *to = history_note(&t->history, figures);
    for (int a = 0; a < history_lines(&t->history); a++) {
        double sum = 0;
        for (int h = 0; h < heads; h++)
            sum += entropy[a * heads + h];
        to[a] = (float)(sum / heads);
    }
}

void text_trainer_note(TextTrainer *t, const TextStep *s)
{
    bool snapshot = history_wants(t->step, t->recipe.steps),
         row = s && (t->step % t->recipe.log_every == 0 || text_trainer_done(t));
    if (!snapshot && !row)
        return;
    double *entropy = xcalloc(size_mul((size_t)history_lines(&t->history), (size_t)t->history.text.heads),
                              sizeof *entropy);
    plan_compute(t->look.plan);
    entropies(t, entropy);
    if (snapshot)
        take_snapshot(t, entropy);
    if (row)
        add_row(t, s, entropy);
    free(entropy);
}
