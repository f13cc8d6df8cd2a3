/* The figures of `vitrine evaluate` as JSON. What does not exist for a model is null. */
#include <math.h>

#include "tui/cli/evaluate.h"

static void number(Buf *out, double x)
{
    if (isfinite(x))
        buf_printf(out, "%.9g", x);
    else
        buf_puts(out, "null");
}

static void member(Buf *out, const char *name, double x)
{
    buf_printf(out, ",\n  \"%s\": ", name);
    number(out, x);
}

static void list(Buf *out, const double *x, int n)
{
    buf_putc(out, '[');
    for (int i = 0; i < n; i++) {
        buf_puts(out, i ? "," : "");
        number(out, x[i]);
    }
    buf_putc(out, ']');
}

static void interval(Buf *out, const char *name, Interval i)
{
    buf_printf(out, ",\n  \"%s_interval\": ", name);
    list(out, (const double[]){i.low, i.high}, 2);
}

/* A count of n: the share and its interval. */
static void share(Buf *out, const char *name, size_t right, size_t n)
{
    member(out, name, n ? (double)right / (double)n : (double)NAN);
    if (n)
        interval(out, name, interval_wilson(right, n));
}

/* Pictures that only one of the two names right: [as trained, without]. */
static void pairs(Buf *out, const char *name, const Paired *p, int rows, int cols)
{
    buf_printf(out, ",\n  \"discordant_%s\": %s", name, rows ? "[" : "");
    for (int i = 0; i < (rows ? rows : 1); i++) {
        buf_puts(out, i ? "," : "");
        buf_puts(out, cols ? "[" : "");
        for (int k = 0; k < (cols ? cols : 1); k++)
            buf_printf(out, "%s[%zu,%zu]", k ? "," : "", p[i * (cols ? cols : 1) + k].lost,
                       p[i * (cols ? cols : 1) + k].won);
        buf_puts(out, cols ? "]" : "");
    }
    buf_puts(out, rows ? "]" : "");
}

static void blocks(Buf *out, const char *name, const double *x, int layers, int heads)
{
    buf_printf(out, ",\n  \"%s\": [", name);
    for (int layer = 0; layer < layers; layer++) {
        buf_puts(out, layer ? "," : "");
        list(out, x + layer * heads, heads);
    }
    buf_putc(out, ']');
}

static void put_confusion(const AccuracyResult *r, const Evaluated *of, Buf *out)
{
    buf_puts(out, ",\n  \"classes\": [");
    for (int o = 0; o < r->classes; o++) {
        buf_puts(out, o ? "," : "");
        buf_json(out, of->class_names[o]);
    }
    buf_puts(out, "],\n  \"confusion\": [");
    for (int o = 0; o < r->classes; o++) {
        buf_puts(out, o ? ",[" : "[");
        for (int k = 0; k < r->classes; k++)
            buf_printf(out, "%s%zu", k ? "," : "", r->confusion[(size_t)o * (size_t)r->classes + (size_t)k]);
        buf_putc(out, ']');
    }
    buf_putc(out, ']');
}

/* A figure of weights from several seeds: their mean, and between which it lies. */
static void spread(Buf *out, const char *name, bool known, RandomSpread s)
{
    member(out, name, known ? s.mean : (double)NAN);
    if (!known)
        return;
    buf_printf(out, ",\n  \"%s_range\": ", name);
    list(out, (const double[]){s.least, s.most}, 2);
}

static void put_base_rates(const Evaluation *e, bool objects, Buf *out)
{
    const AttentionStatsResult *a = attention_stats_result(e->with);
    const RandomSpread rollout = random_rollout(&e->random), peak = random_peak(&e->random);
    bool random = objects && e->random.seen;
    member(out, "object_covered", objects ? a->covered : (double)NAN);
    spread(out, "object_rollout_random_weights", random, rollout);
    member(out, "object_rollout_mean_map", objects ? a->fixed : (double)NAN);
    member(out, "object_brightness", objects ? a->bright : (double)NAN);
    spread(out, "object_rollout_peak_random_weights", random, peak);
    if (random)
        buf_printf(out, ",\n  \"random_weights_seeds\": %d,\n  \"random_weights_pictures\": %zu", (int)RANDOM_SEEDS,
                   e->random.pictures);
    share(out, "object_commonest_patch", a->fixed_peak, objects ? a->seen : 0);
    share(out, "object_brightest_patch", a->bright_peak, objects ? a->seen : 0);
}

static void put_lens(const Evaluation *e, Buf *out)
{
    const AttentionStatsResult *a = attention_stats_result(e->with);
    buf_puts(out, ",\n  \"accuracy_lens\": ");
    if (!a->lens_right) {
        buf_puts(out, "null");
        return;
    }
    buf_putc(out, '[');
    for (int i = 0; i <= e->layers; i++) {
        buf_puts(out, i ? "," : "");
        number(out, (double)a->lens_right[i] / (double)(a->pictures ? a->pictures : 1));
    }
    buf_putc(out, ']');
}

static void put_attention(const Evaluation *e, Buf *out)
{
    const AttentionStatsResult *a = attention_stats_result(e->with), *b = attention_stats_result(e->without);
    bool objects = a->objects && a->seen;
    member(out, "distance_uniform", a->uniform);
    member(out, "distance_maximal", a->maximal);
    blocks(out, "distance", a->distance, e->layers, e->heads);
    blocks(out, "entropy_share", a->entropy, e->layers, e->heads);
    blocks(out, "entropy_share_without_scale", b->entropy, e->layers, e->heads);
    blocks(out, "largest_weight", a->largest, e->layers, e->heads);
    blocks(out, "largest_weight_without_scale", b->largest, e->layers, e->heads);
    member(out, "object_area", objects ? a->area : (double)NAN);
    member(out, "object_rollout", objects ? a->rollout : (double)NAN);
    share(out, "object_rollout_peak", a->rollout_peak, objects ? a->seen : 0);
    put_base_rates(e, objects, out);
    buf_puts(out, ",\n  \"object_class_token\": ");
    if (objects && a->read)
        list(out, a->read, e->heads);
    else
        buf_puts(out, "null");
}

void evaluate_json(const Evaluation *e, const Evaluated *of, Buf *out)
{
    const AccuracyResult *r = accuracy_result(e->trained);
    bool class_token = readout_used(&of->model->vit) == READOUT_CLASS_TOKEN;
    double other = r->has_other ? accuracy_share_other(r) : (double)NAN;
    buf_puts(out, "{\n  \"model\": ");
    buf_json(out, of->name);
    buf_puts(out, ",\n  \"pictures\": ");
    buf_json(out, of->pictures);
    buf_puts(out, ",\n  \"which\": ");
    if (of->note)
        buf_json(out, of->note);
    else
        buf_puts(out, "null");
    buf_printf(out, ",\n  \"count\": %zu", e->pictures);
    share(out, "accuracy", r->right, r->pictures);
    member(out, "cross_entropy", r->loss);
    member(out, "accuracy_without_scale", e->scale_off);
    member(out, "accuracy_without_positions", e->positions_off);
    member(out, "accuracy_from_class_token", class_token ? e->accuracy : other);
    member(out, "accuracy_from_mean", class_token ? other : e->accuracy);
    blocks(out, "accuracy_without_head", e->head, e->layers, e->heads);
    buf_puts(out, ",\n  \"accuracy_without_attention\": ");
    list(out, e->attention, e->layers);
    buf_puts(out, ",\n  \"accuracy_without_mlp\": ");
    list(out, e->mlp, e->layers);
    pairs(out, "without_scale", &e->scale_pair, 0, 0);
    pairs(out, "without_positions", &e->positions_pair, 0, 0);
    pairs(out, "other_read_out", &e->other_pair, 0, 0);
    pairs(out, "without_head", e->head_pair, e->layers, e->heads);
    pairs(out, "without_attention", e->attention_pair, e->layers, 0);
    pairs(out, "without_mlp", e->mlp_pair, e->layers, 0);
    put_lens(e, out);
    put_confusion(r, of, out);
    member(out, "position_rank_correlation", e->has_grid ? e->grid.rank : (double)NAN);
    member(out, "position_rank_correlation_centred", e->has_grid ? e->grid.rank_centred : (double)NAN);
    member(out, "position_neighbour_share_4", e->has_grid ? e->grid.near4 : (double)NAN);
    member(out, "position_neighbour_share_8", e->has_grid ? e->grid.near8 : (double)NAN);
    put_attention(e, out);
    buf_puts(out, "\n}\n");
}

static void put_row(const ScaleSearchRow *r, const Evaluated *of, const char *name, Buf *out)
{
    char token[32];
    buf_printf(out, ",\n  \"%s\": ", name);
    if (!r->found) {
        buf_puts(out, "null");
        return;
    }
    buf_printf(out, "{\"picture\": %llu, \"class\": ", (unsigned long long)r->number);
    buf_json(out, of->class_names[r->label]);
    buf_puts(out, ", \"named\": ");
    buf_json(out, of->class_names[r->with]);
    buf_puts(out, ", \"named_without_scale\": ");
    buf_json(out, of->class_names[r->without]);
    buf_printf(out, ", \"block\": %d, \"head\": %d, \"query\": \"%s\", \"entropy\": ", r->layer, r->head,
               evaluate_token(of, r->query, token, sizeof token));
    number(out, (double)r->entropy_with);
    buf_puts(out, ", \"entropy_without_scale\": ");
    number(out, (double)r->entropy_without);
    buf_puts(out, ", \"mean_change\": ");
    number(out, r->change);
    buf_putc(out, '}');
}

void showcase_json(const ScaleSearch *s, const Evaluated *of, Buf *out)
{
    buf_puts(out, "{\n  \"model\": ");
    buf_json(out, of->name);
    buf_printf(out, ",\n  \"pictures\": %zu,\n  \"changed\": %zu", s->pictures, s->changed);
    put_row(&s->collapse, of, "collapse", out);
    put_row(&s->typical, of, "typical", out);
    put_row(&s->steady, of, "steady", out);
    buf_puts(out, "\n}\n");
}
