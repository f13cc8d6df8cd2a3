/* The figures of `vitrine evaluate` as tables. */
#include "tui/cli/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"

enum {
    HEADS_ACROSS = 8,
    LOST_ACROSS = 4,
    SHARES_ACROSS = 6,
    LABEL_CELLS = 42,
    BASE_CELLS = 47,
    NAME_CELLS = 24,
    NAME_BYTES = 4 * NAME_CELLS
};

static void heading(Buf *out, const char *text)
{
    buf_printf(out, "\n%s\n", text);
}

/* A class' name in less than NAME_CELLS cells. */
static const char *class_label(char out[NAME_BYTES], const char *name, int cells)
{
    char clean[512];
    return utf8_fit(out, NAME_BYTES, utf8_clean(clean, sizeof clean, name), cells - 1);
}

/* A label in so many cells, whatever its bytes. */
static void label(Buf *out, const char *text, int cells)
{
    buf_printf(out, "%s%*s", text, cells > utf8_cells(text) ? cells - utf8_cells(text) : 0, "");
}

/* Ends a line, without blanks at its end. */
static void trim_line(Buf *out)
{
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = 0;
    buf_putc(out, '\n');
}

/* "99.1 % (98.9–99.3)" */
static void put_share(Buf *out, size_t right, size_t n)
{
    Interval i = interval_wilson(right, n);
    char between[40];
    utf8_print(between, sizeof between, "(%.1f–%.1f)", 100 * i.low, 100 * i.high);
    buf_printf(out, "%6.1f %% ", n ? 100 * (double)right / (double)n : 0);
    label(out, between, 13);
}

/* A share beside that of the model as trained, over the same pictures: how many points less, and what that is worth.
 * NaN: nothing is written. */
static void share_line(Buf *out, const char *text, double share, Paired pair)
{
    if (isnan(share))
        return;
    buf_puts(out, "  ");
    label(out, text, LABEL_CELLS);
    put_share(out, (size_t)(share * (double)pair.n + 0.5), pair.n);
    buf_printf(out, "%6.1f ±%.1f\n", 100 * paired_lost(pair), 100 * paired_margin(pair));
}

/* One number per head, HEADS_ACROSS heads at a time: value(e, i) of [layers, heads]. */
typedef double (*HeadValue)(const Evaluation *e, int i);

static void head_grid(Buf *out, const Evaluation *e, HeadValue value, const char *format)
{
    for (int first = 0; first < e->heads; first += HEADS_ACROSS) {
        int end = first + HEADS_ACROSS < e->heads ? first + HEADS_ACROSS : e->heads;
        buf_printf(out, "  %-9s", "");
        for (int h = first; h < end; h++)
            buf_printf(out, "%*s%d", h < 10 ? 7 : h < 100 ? 6 : 5, "h", h);
        buf_putc(out, '\n');
        for (int layer = 0; layer < e->layers; layer++) {
            buf_printf(out, "  block %-3d", layer);
            for (int h = first; h < end; h++)
                buf_printf(out, format, value(e, layer * e->heads + h));
            buf_putc(out, '\n');
        }
    }
}

static double distance_of(const Evaluation *e, int i)
{
    return attention_stats_result(e->with)->distance[i];
}
static double entropy_with(const Evaluation *e, int i)
{
    return attention_stats_result(e->with)->entropy[i];
}
static double entropy_without(const Evaluation *e, int i)
{
    return attention_stats_result(e->without)->entropy[i];
}
static double largest_with(const Evaluation *e, int i)
{
    return attention_stats_result(e->with)->largest[i];
}
static double largest_without(const Evaluation *e, int i)
{
    return attention_stats_result(e->without)->largest[i];
}

static void put_answers(const Evaluation *e, const Evaluated *of, Buf *out)
{
    const AccuracyResult *r = accuracy_result(e->trained);
    bool class_token = readout_used(&of->model->vit) == READOUT_CLASS_TOKEN;
    buf_puts(out, "  ");
    label(out, "named right", LABEL_CELLS);
    put_share(out, r->right, r->pictures);
    buf_puts(out, "points lost\n");
    share_line(out, "without the scale 1/√d_k", e->scale_off, e->scale_pair);
    share_line(out, "without position embeddings", e->positions_off, e->positions_pair);
    if (r->has_other)
        share_line(out, class_token ? "read from the mean of the patches instead" : "read from the class token instead",
                   accuracy_share_other(r), e->other_pair);
    buf_puts(out, "  ");
    label(out, "mean cross entropy", LABEL_CELLS);
    buf_printf(out, "%8.3f nats\n", r->loss);
}

/* Per class how many are right, and what the wrong ones are most often taken for. */
static void put_classes(const Evaluation *e, const Evaluated *of, Buf *out)
{
    const AccuracyResult *r = accuracy_result(e->trained);
    heading(out, "Classes (true class, named right, most often taken for)");
    for (int o = 0; o < r->classes; o++) {
        char name[NAME_BYTES];
        size_t right, n = accuracy_of_class(r, o, &right), most = 0;
        int other = -1;
        for (int k = 0; k < r->classes; k++) {
            size_t count = r->confusion[(size_t)o * (size_t)r->classes + (size_t)k];
            if (k != o && count > most) {
                most = count;
                other = k;
            }
        }
        if (!n)
            continue;
        buf_puts(out, "  ");
        label(out, class_label(name, of->class_names[o], NAME_CELLS), NAME_CELLS);
        put_share(out, right, n);
        buf_printf(out, "of %-6zu", n);
        if (other >= 0)
            buf_printf(out, "%s, %zu", class_label(name, of->class_names[other], NAME_CELLS - 4), most);
        trim_line(out);
    }
}

static void put_lost(Buf *out, Paired p)
{
    char margin[16];
    utf8_print(margin, sizeof margin, "±%.1f", 100 * paired_margin(p));
    buf_printf(out, "%8.1f ", 100 * paired_lost(p));
    label(out, margin, 5);
}

static void put_heads_lost(const Evaluation *e, Buf *out)
{
    for (int first = 0; first < e->heads; first += LOST_ACROSS) {
        int end = first + LOST_ACROSS < e->heads ? first + LOST_ACROSS : e->heads;
        buf_printf(out, "  %-9s", "");
        for (int h = first; h < end; h++)
            buf_printf(out, "%*s%-*d", 7, "h", 7, h);
        trim_line(out);
        for (int layer = 0; layer < e->layers; layer++) {
            buf_printf(out, "  block %-3d", layer);
            for (int h = first; h < end; h++)
                put_lost(out, e->head_pair[layer * e->heads + h]);
            trim_line(out);
        }
    }
}

/* Heads that stand alone at the top of the ranking, then how many the pictures can't put in order. */
static void put_order(const Evaluation *e, Buf *out)
{
    int count = e->layers * e->heads, tied = 0, sure = 0, none = 0;
    for (int i = 0; i < count; i++) {
        int first, last;
        evaluation_places(e, i, &first, &last);
        sure += first == last;
        tied += first != last;
        none += !paired_differs(e->head_pair[i]);
    }
    buf_printf(out, "  in order: %d of %d heads; %d overlap with others; of %d the interval has 0\n", sure, count, tied,
               none);
}

static void put_parts(const Evaluation *e, Buf *out)
{
    heading(out, "Points lost without one head (its z is 0)");
    put_heads_lost(e, out);
    put_order(e, out);
    heading(out, "Points lost without one sub-layer");
    buf_printf(out, "  %-9s%11s%14s\n", "", "attention", "MLP");
    for (int layer = 0; layer < e->layers; layer++) {
        buf_printf(out, "  block %-3d", layer);
        put_lost(out, e->attention_pair[layer]);
        put_lost(out, e->mlp_pair[layer]);
        trim_line(out);
    }
}

/* What the lens names by itself: "it names star from block 0 on" says little while that is often wrong. */
static void put_lens(const Evaluation *e, Buf *out)
{
    const AttentionStatsResult *s = attention_stats_result(e->with);
    if (!s->lens_right)
        return;
    heading(out, "Named right by the logit lens (the last norm and head put behind a block)");
    for (int i = 0; i <= e->layers; i++) {
        char name[48];
        snprintf(name, sizeof name, i ? "after block %d" : "before block 0", i - 1);
        buf_puts(out, "  ");
        label(out, name, LABEL_CELLS);
        put_share(out, s->lens_right[i], s->pictures);
        trim_line(out);
    }
}

static void put_positions(const Evaluation *e, Buf *out)
{
    if (!e->has_grid)
        return;
    heading(out, "Position embeddings against the patch grid");
    buf_printf(out, "  rank correlation of likeness and nearness      %.2f\n", e->grid.rank);
    buf_printf(out, "  …with the mean vector taken away               %.2f\n", e->grid.rank_centred);
    buf_printf(out, "  the most alike patch is one of 4 neighbours    %.1f %% (by chance %.1f)\n", 100 * e->grid.near4,
               100 * e->grid.chance4);
    buf_printf(out, "  …one of 8, corners too                         %.1f %% (by chance %.1f)\n", 100 * e->grid.near8,
               100 * e->grid.chance8);
}

static void put_attention(const Evaluation *e, Buf *out)
{
    const AttentionStatsResult *s = attention_stats_result(e->with);
    buf_printf(out, "\nAttention distance in pixels (uniform attention %.1f, at most %.1f)\n", s->uniform, s->maximal);
    head_grid(out, e, distance_of, "%8.1f");
    if (!isnan(s->entropy[0])) {
        heading(out, "Entropy of a row, as a share of ln(tokens)");
        head_grid(out, e, entropy_with, "%8.2f");
        heading(out, "…without the scale");
        head_grid(out, e, entropy_without, "%8.2f");
    }
    heading(out, "Largest weight of a row");
    head_grid(out, e, largest_with, "%8.2f");
    heading(out, "…without the scale");
    head_grid(out, e, largest_without, "%8.2f");
}

static void base_line(Buf *out, const char *text, double share)
{
    buf_puts(out, "  ");
    label(out, text, BASE_CELLS);
    buf_printf(out, "%.3f\n", share);
}

static void peak_line(Buf *out, const char *text, size_t right, size_t n)
{
    buf_puts(out, "  ");
    label(out, text, LABEL_CELLS);
    put_share(out, right, n);
    trim_line(out);
}

static void put_object(const Evaluation *e, Buf *out)
{
    const AttentionStatsResult *s = attention_stats_result(e->with);
    const RandomSpread rollout = random_rollout(&e->random), peak = random_peak(&e->random);
    char what[64];
    if (!s->objects || !s->seen)
        return;
    buf_printf(out, "\nWhere it looks: weight on the patches that the object covers to more than %.0f %%\n",
               100 * SURVEY_COVER);
    base_line(out, "rollout (½ heads' mean + ½ residual)", s->rollout);
    if (e->random.seen) {
        buf_puts(out, "  ");
        snprintf(what, sizeof what, "  …before any training: mean of %d seeds", (int)RANDOM_SEEDS);
        label(out, what, BASE_CELLS);
        buf_printf(out, "%.3f (%.3f to %.3f)\n", rollout.mean, rollout.least, rollout.most);
    }
    base_line(out, "  …the mean of all rollouts, for every picture", s->fixed);
    base_line(out, "  …brightness above the picture's mean", s->bright);
    base_line(out, "  …all patches alike: their share of patches", s->area);
    base_line(out, "  (share of the pixels that the object covers)", s->covered);
    for (int h = 0; s->read && h < s->heads; h += SHARES_ACROSS) {
        buf_printf(out, "  %-47s", h ? "" : "class token's row in the last block, by head");
        for (int k = h; k < h + SHARES_ACROSS && k < s->heads; k++)
            buf_printf(out, "%s%.2f", k > h ? " " : "", s->read[k]);
        buf_putc(out, '\n');
    }
    buf_puts(out, "\nIn how many pictures the heaviest patch is one of those\n");
    peak_line(out, "rollout", s->rollout_peak, s->seen);
    if (e->random.seen) {
        buf_puts(out, "  ");
        label(out, what, LABEL_CELLS);
        buf_printf(out, "%6.1f %% (%.1f to %.1f)\n", 100 * peak.mean, 100 * peak.least, 100 * peak.most);
    }
    peak_line(out, "  …the patch most often the object's", s->fixed_peak, s->seen);
    peak_line(out, "  …the brightest patch", s->bright_peak, s->seen);
    if (e->random.seen)
        buf_printf(out,
                   "Before any training: the weights that training begins with, from %d seeds,\n"
                   "over %zu of the pictures each; in brackets the seeds with the least and the\n"
                   "most. A patch is as bright as the mean of its pixels, all colours.\n",
                   (int)RANDOM_SEEDS, e->random.pictures);
}

void evaluate_table(const Evaluation *e, const Evaluated *of, Buf *out)
{
    buf_printf(out, "%s: %zu %s\n", of->name, e->pictures, of->pictures);
    if (of->note)
        buf_printf(out, "%s\n", of->note);
    buf_puts(out, "In brackets and behind ±: 95 % intervals; losses are over the same pictures.\n\n");
    put_answers(e, of, out);
    put_classes(e, of, out);
    put_parts(e, out);
    put_lens(e, out);
    put_positions(e, out);
    put_attention(e, out);
    put_object(e, out);
}

const char *evaluate_token(const Evaluated *of, int token, char *out, size_t n)
{
    const VitConfig *c = &of->model->vit;
    int prefix = vit_prefix(c), cols = c->image_w / c->patch_w, p = token - prefix;
    if (p >= 0)
        snprintf(out, n, "r%dc%d", p / cols, p % cols);
    else if (c->cls && token == 0)
        snprintf(out, n, "cls");
    else
        snprintf(out, n, "%d", token);
    return out;
}

static void put_row(const ScaleSearchRow *r, const Evaluated *of, const char *what, Buf *out)
{
    char token[32], name[3][NAME_BYTES];
    buf_printf(out, "%s\n", what);
    if (!r->found) {
        buf_puts(out, "  none of these pictures\n");
        return;
    }
    const int class[] = {r->label, r->with, r->without};
    for (int i = 0; i < 3; i++)
        class_label(name[i], of->class_names[class[i]], NAME_CELLS);
    evaluate_token(of, r->query, token, sizeof token);
    buf_printf(out, "  picture #%llu, class %s\n", (unsigned long long)r->number, name[0]);
    buf_printf(out, "  named %s; without the scale %s\n", name[1], name[2]);
    buf_printf(out, "  block %d, head %d, query %s: entropy %.3f; without the scale %.3f nats\n", r->layer, r->head,
               token, (double)r->entropy_with, (double)r->entropy_without);
    buf_printf(out, "  mean change over all its rows %.3f nats\n", r->change);
    buf_printf(out, "  vitrine '#%llu' --at '%s[h=%d,t=%s]' -c 'set scale off'\n", (unsigned long long)r->number,
               r->pattern, r->head, token);
}

void showcase_table(const ScaleSearch *s, const Evaluated *of, Buf *out)
{
    buf_printf(out, "%s: %zu drawn pictures; without the scale %zu answers change\n", of->name, s->pictures,
               s->changed);
    buf_puts(out, "The first and the last are the ends of these pictures, chosen for that; the\n"
                  "typical one lies in the middle. None tells how often an answer changes.\n\n");
    put_row(&s->collapse, of, "The deepest fall of a row that goes with another answer", out);
    buf_putc(out, '\n');
    put_row(&s->typical, of, "The typical picture: the median change, and the row with the median fall", out);
    buf_putc(out, '\n');
    put_row(&s->steady, of, "The least change", out);
}
