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
    member(out, "object_rollout_peak", objects ? a->rollout_peak : (double)NAN);
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
    buf_printf(out, ",\n  \"count\": %zu", e->pictures);
    member(out, "accuracy", e->accuracy);
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
    put_row(&s->steady, of, "steady", out);
    buf_puts(out, "\n}\n");
}
