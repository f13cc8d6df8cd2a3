/* What goes into the history: figures of the steps, and what attention looks like on the first check pictures. */
#include <stdlib.h>
#include <string.h>

#include "core/graph/anatomy.h"
#include "core/train/trainer_parts.h"

void trainer_look_open(Trainer *t)
{
    const VitConfig *c = &t->model.vit;
    size_t cells = size_mul(size_mul((size_t)c->image_h, (size_t)c->image_w), (size_t)c->channels);
    t->look_pixels = xfloats(size_mul(MICRO_BATCH, cells));
    for (size_t i = 0; i < MICRO_BATCH; i++)
        pictures_get(t->pictures, PICTURES_CHECK, i, 1, t->look_pixels + i * cells, NULL);
    t->pattern = xcalloc((size_t)c->layers, sizeof *t->pattern);
    const Graph *g = &t->clean.graph;
    for (int l = 0, a = NO_PART; l < c->layers; l++) {
        a = anatomy_next(g, a, PART_ATTENTION);
        t->pattern[l] = site_node(g, a, SITE_PATTERN);
        REQUIRE(t->pattern[l] != NO_NODE);
    }
    t->look = plan_new(&t->clean.graph, t->pattern, c->layers);
    plan_leaf(t->look, t->clean.nodes.input, t->look_pixels);
}

void trainer_look_close(Trainer *t)
{
    plan_free(t->look);
    free(t->pattern);
    free(t->look_pixels);
}

/* Mean over the rows of heads first … first+count-1 of pattern[b,h,t,u] flattened over b and h. */
static float mean_entropy(const float *pattern, int tokens, size_t first, size_t count)
{
    size_t rows = count * (size_t)tokens;
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += history_row_entropy(pattern + (first * (size_t)tokens + i) * (size_t)tokens, tokens);
    return (float)(sum / (double)rows);
}

static void take_snapshot(Trainer *t)
{
    const VitConfig *c = &t->model.vit;
    size_t tokens = (size_t)vit_tokens(c);
    Snapshot *s = history_snap(&t->history, t->step);
    if (s->positions)
        memcpy(s->positions, vit_weight(&t->model.weights, VIT_POS, 0)->data,
               vit_role_cells(c, VIT_POS) * sizeof(float));
    memcpy(s->filters, vit_weight(&t->model.weights, VIT_PATCH_W, 0)->data,
           vit_role_cells(c, VIT_PATCH_W) * sizeof(float));
    for (int l = 0; l < c->layers; l++)
        for (int h = 0; h < c->heads; h++) {
            const float *pattern = plan_values(t->look, t->pattern[l]);
            size_t head = (size_t)l * (size_t)c->heads + (size_t)h;
            memcpy(s->rows + head * tokens, pattern + (size_t)h * tokens * tokens, tokens * sizeof(float));
            s->entropy[head] = mean_entropy(pattern, (int)tokens, (size_t)h, 1);
        }
}

void trainer_note(Trainer *t, const TrainStep *f)
{
    const VitConfig *c = &t->model.vit;
    bool snapshot = history_wants(t->step, t->recipe.steps),
         row = f && (t->step % t->recipe.log_every == 0 || trainer_done(t));
    if (!snapshot && !row)
        return;
    plan_compute(t->look);
    if (snapshot)
        take_snapshot(t);
    if (!row)
        return;
    bool check = t->recipe.check > 0 && (t->step % (10 * t->recipe.log_every) == 0 || trainer_done(t));
    double accuracy = check ? trainer_accuracy(t, PICTURES_CHECK, 0, (size_t)t->recipe.check) : -1;
    const double figures[HISTORY_FIXED] = {
        [HISTORY_STEP] = t->step,
        [HISTORY_LOSS] = f->loss,
        [HISTORY_ACCURACY] = f->accuracy,
        [HISTORY_GUESS] = f->guess,
        [HISTORY_GRADIENT] = f->gradient_norm,
        [HISTORY_RATE] = f->rate,
        [HISTORY_CHECK] = accuracy,
    };
    float *entropy = history_note(&t->history, figures);
    for (int l = 0; l < c->layers; l++)
        entropy[l] = mean_entropy(plan_values(t->look, t->pattern[l]), vit_tokens(c), 0,
                                  (size_t)MICRO_BATCH * (size_t)c->heads);
}
