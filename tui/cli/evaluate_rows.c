/* What `vitrine evaluate` found, row by row. */
#include <math.h>
#include <stdio.h>

#include "core/base/utf8.h"
#include "core/models/lexicon.h"
#include "core/session/session.h"
#include "tui/cli/evaluate.h"
#include "tui/cli/rows.h"

enum {
    ACROSS = 4, /* heads in a line */
    OBJECT_LABEL = 47,
    SHARE_CELLS = 16, /* of " % (98.8–99.4) " behind the number */
    NAME_CELLS = 24,
    NAME_BYTES = 4 * NAME_CELLS
};

/* A class' name in less than so many cells. */
static const char *class_label(char out[NAME_BYTES], const char *name, int cells)
{
    char clean[512];
    return utf8_fit(out, NAME_BYTES, utf8_clean(clean, sizeof clean, name), cells - 1);
}

/* Pictures that only one of the two names right: [as trained, without]. */
static void pair_at(Buf *out, const void *of, int i)
{
    const Paired *p = of;
    buf_printf(out, "[%zu,%zu]", p[i].lost, p[i].won);
}

static void name_at(Buf *out, const void *of, int i)
{
    buf_json(out, ((const char *const *)of)[i]);
}

static void count_at(Buf *out, const void *of, int i)
{
    buf_printf(out, "%zu", ((const size_t *)of)[i]);
}

static void lens_at(Buf *out, const void *of, int i)
{
    const AttentionStatsResult *a = of;
    buf_printf(out, "%.9g", (double)a->lens_right[i] / (double)(a->pictures ? a->pictures : 1));
}

/* A share beside that of the model as trained, over the same pictures: how many points less, and what that is worth.
 * NaN: nothing on the page. */
static void without(Rows *r, const char *key, const char *label, double share, const Paired *pair)
{
    rows_cells(r, key, 0, 0, pair_at, pair);
    if (isnan(share))
        return;
    page_label(&r->page, label, ROWS_LABEL);
    page_share(&r->page, (size_t)(share * (double)pair->n + 0.5), pair->n);
    buf_printf(&r->page, "%6.1f ±%.1f\n", 100 * paired_lost(*pair), 100 * paired_margin(*pair));
}

static void put_lost(Buf *page, Paired p)
{
    char margin[16];
    utf8_print(margin, sizeof margin, "±%.1f", 100 * paired_margin(p));
    buf_printf(page, "%8.1f ", 100 * paired_lost(p));
    buf_printf(page, "%s%*s", margin, 5 - utf8_cells(margin), "");
}

/* " ±0.08"; of one picture nothing. */
static void put_margin(Buf *page, MeanOver m, bool one)
{
    if (!one)
        buf_printf(page, " ±%.3f", m.margin);
}

/* "  12.40 ±0.08", so wide that four stand in a line. */
static void put_mean(Buf *page, MeanOver m, bool one, int digits)
{
    char margin[32] = "";
    if (!one)
        utf8_print(margin, sizeof margin, "±%.*f", digits, m.margin);
    buf_printf(page, "%7.*f %s%*s", digits, m.mean, margin, 6 - utf8_cells(margin), "");
}

/* Head by head, so many at a time: points lost, or means with that many digits. */
static void put_heads(Buf *page, const Evaluation *e, const Paired *lost, const MeanOver *x, int digits)
{
    for (int first = 0; first < e->heads; first += ACROSS) {
        int end = first + ACROSS < e->heads ? first + ACROSS : e->heads;
        buf_printf(page, "  %-9s", "");
        for (int h = first; h < end; h++)
            buf_printf(page, "%7s%-7d", "h", h);
        page_end(page);
        for (int layer = 0; layer < e->layers; layer++) {
            buf_printf(page, "  block %-3d", layer);
            for (int i = layer * e->heads + first; i < layer * e->heads + end; i++)
                if (lost)
                    put_lost(page, lost[i]);
                else
                    put_mean(page, x[i], e->pictures == 1, digits);
            page_end(page);
        }
    }
}

static void by_head(Rows *r, const Evaluation *e, const char *key, const char *heading, const MeanOver *x, int digits)
{
    rows_means(r, key, x, e->layers, e->heads);
    if (isnan(x[0].mean))
        return;
    buf_printf(&r->page, "\n%s\n", heading);
    put_heads(&r->page, e, NULL, x, digits);
}

static void rows_answers(Rows *r, const Evaluation *e, const Evaluated *of)
{
    const AccuracyResult *a = accuracy_result(e->trained);
    const Readout used = readout_used(of->model);
    const bool class_token = used == READOUT_CLASS_TOKEN;
    const double other = a->has_other ? accuracy_share_other(a) : (double)NAN,
                 own = used == READOUT_NEITHER ? (double)NAN : e->accuracy;
    rows_share(r, "accuracy", "named right", a->right, a->pictures);
    buf_puts(&r->page, "points lost\n");
    rows_number(r, "accuracy_without_scale", e->scale_off);
    without(r, "discordant_without_scale", "without the scale 1/√d_k", e->scale_off, &e->scale_pair);
    rows_number(r, "accuracy_without_positions", e->positions_off);
    without(r, "discordant_without_positions", "without position embeddings", e->positions_off, &e->positions_pair);
    rows_number(r, "accuracy_from_class_token", class_token ? own : other);
    rows_number(r, "accuracy_from_mean", class_token ? other : own);
    without(r, "discordant_other_read_out",
            class_token ? "read from the mean of the patches instead" : "read from the class token instead", other,
            &e->other_pair);
    rows_means(r, "cross_entropy", &a->loss, 0, 0);
    page_label(&r->page, "mean cross entropy", ROWS_LABEL);
    buf_printf(&r->page, "%8.3f", a->loss.mean);
    put_margin(&r->page, a->loss, r->one);
    buf_puts(&r->page, " nats\n");
}

/* Per class how many are right, and what the wrong ones are most often taken for. */
static void rows_classes(Rows *r, const Evaluation *e, const Evaluated *of)
{
    const AccuracyResult *a = accuracy_result(e->trained);
    rows_cells(r, "classes", a->classes, 0, name_at, of->class_names);
    rows_cells(r, "confusion", a->classes, a->classes, count_at, a->confusion);
    buf_puts(&r->page, "\nClasses (true class, named right, most often taken for)\n");
    for (int o = 0; o < a->classes; o++) {
        char name[NAME_BYTES];
        const size_t *named = a->confusion + (size_t)o * (size_t)a->classes;
        size_t right, n = accuracy_of_class(a, o, &right), most = 0;
        int other = -1;
        for (int k = 0; k < a->classes; k++)
            if (k != o && named[k] > most)
                most = named[other = k];
        if (!n)
            continue;
        page_label(&r->page, class_label(name, of->class_names[o], NAME_CELLS), NAME_CELLS);
        page_share(&r->page, right, n);
        buf_printf(&r->page, "of %-6zu", n);
        if (other >= 0)
            buf_printf(&r->page, "%s, %zu", class_label(name, of->class_names[other], NAME_CELLS - 4), most);
        page_end(&r->page);
    }
}

static void sure_at(Buf *out, const void *of, int i)
{
    const AccuracySure *s = of;
    buf_printf(out, "[%.9g,%zu,%zu]", (double)ACCURACY_SURE[i], s[i].right, s[i].pictures);
}

/* How much an answer's probability is worth. */
static void rows_sure(Rows *r, const Evaluation *e)
{
    AccuracySure sure[ACCURACY_SURES];
    accuracy_by_sure(accuracy_result(e->trained), sure);
    rows_cells(r, "right_by_probability", ACCURACY_SURES, 0, sure_at, sure);
    buf_puts(&r->page, "\nNamed right, by the probability of the answer\n");
    for (int i = 0; i < ACCURACY_SURES; i++) {
        char label[48];
        const double least = 100 * (double)ACCURACY_SURE[i];
        if (i == 0)
            utf8_print(label, sizeof label, "at least %.0f %%", least);
        else if (i == ACCURACY_SURES - 1)
            utf8_print(label, sizeof label, "less than %.0f %%", 100 * (double)ACCURACY_SURE[i - 1]);
        else
            utf8_print(label, sizeof label, "%.0f to %.0f %%", least, 100 * (double)ACCURACY_SURE[i - 1]);
        page_label(&r->page, label, ROWS_LABEL);
        if (sure[i].pictures)
            page_share(&r->page, sure[i].right, sure[i].pictures);
        else
            buf_printf(&r->page, "%6s%*s", "-", SHARE_CELLS, "");
        buf_printf(&r->page, "of %zu\n", sure[i].pictures);
    }
}

static void rows_parts(Rows *r, const Evaluation *e)
{
    int count = e->layers * e->heads, sure = 0, none = 0;
    rows_numbers(r, "accuracy_without_head", e->head, e->layers, e->heads);
    rows_cells(r, "discordant_without_head", e->layers, e->heads, pair_at, e->head_pair);
    buf_puts(&r->page, "\nPoints lost without one head (its z is 0)\n");
    put_heads(&r->page, e, e->head_pair, NULL, 0);
    /* Heads that stand alone at the top of the ranking, then how many the pictures can't put in order. */
    for (int i = 0; i < count; i++) {
        int first, last;
        evaluation_places(e, i, &first, &last);
        sure += first == last;
        none += !paired_differs(e->head_pair[i]);
    }
    buf_printf(&r->page, "  in order: %d of %d heads; %d overlap with others; of %d the interval has 0\n", sure, count,
               count - sure, none);
    rows_numbers(r, "accuracy_without_attention", e->attention, e->layers, 0);
    rows_numbers(r, "accuracy_without_mlp", e->mlp, e->layers, 0);
    rows_cells(r, "discordant_without_attention", e->layers, 0, pair_at, e->attention_pair);
    rows_cells(r, "discordant_without_mlp", e->layers, 0, pair_at, e->mlp_pair);
    buf_puts(&r->page, "\nPoints lost without one sub-layer\n             attention           MLP\n");
    for (int layer = 0; layer < e->layers; layer++) {
        buf_printf(&r->page, "  block %-3d", layer);
        put_lost(&r->page, e->attention_pair[layer]);
        put_lost(&r->page, e->mlp_pair[layer]);
        page_end(&r->page);
    }
}

/* What the lens names by itself: "it names star from block 0 on" says little while that is often wrong. */
static void rows_lens(Rows *r, const Evaluation *e)
{
    const AttentionStatsResult *s = attention_stats_result(e->with);
    rows_cells(r, "accuracy_lens", 1 + e->layers, 0, lens_at, s->lens_right ? s : NULL);
    if (s->lens_right)
        buf_puts(&r->page, "\nNamed right by the logit lens (the last norm and head put behind a block)\n");
    for (int i = 0; s->lens_right && i <= e->layers; i++) {
        char name[48];
        snprintf(name, sizeof name, i ? "after block %d" : "before block 0", i - 1);
        page_label(&r->page, name, ROWS_LABEL);
        page_share(&r->page, s->lens_right[i], s->pictures);
        page_end(&r->page);
    }
}

static void rows_positions(Rows *r, const Evaluation *e, const Evaluated *of)
{
    const PositionGrid *g = &e->grid;
    const PictureGrid grid = model_grid(of->model);
    const double none = (double)NAN;
    rows_number(r, "position_rank_correlation", e->has_grid ? g->rank : none);
    rows_number(r, "position_rank_correlation_centred", e->has_grid ? g->rank_centred : none);
    rows_number(r, "position_neighbour_share_4", e->has_grid ? g->near4 : none);
    rows_number(r, "position_neighbour_share_8", e->has_grid ? g->near8 : none);
    if (e->has_grid)
        buf_printf(&r->page,
                   "\nPosition embeddings against the patch grid (all %d positions)\n"
                   "  rank correlation of likeness and nearness      %.2f\n"
                   "  …with the mean vector taken away               %.2f\n"
                   "  the most alike patch is one of 4 neighbours    %.1f %% (by chance %.1f)\n"
                   "  …one of 8, corners too                         %.1f %% (by chance %.1f)\n",
                   grid_patches(&grid), g->rank, g->rank_centred, 100 * g->near4, 100 * g->chance4, 100 * g->near8,
                   100 * g->chance8);
}

static void rows_attention(Rows *r, const Evaluation *e)
{
    const AttentionStatsResult *a = attention_stats_result(e->with), *b = attention_stats_result(e->without);
    char heading[120];
    rows_number(r, "distance_uniform", a->uniform);
    rows_number(r, "distance_maximal", a->maximal);
    utf8_print(heading, sizeof heading, "Attention distance in pixels (uniform attention %.1f, at most %.1f)",
               a->uniform, a->maximal);
    by_head(r, e, "distance", heading, a->distance, 2);
    by_head(r, e, "entropy_share", "Entropy of a row, as a share of ln(tokens)", a->entropy, 3);
    by_head(r, e, "entropy_share_without_scale", "…without the scale", b->entropy, 3);
    by_head(r, e, "largest_weight", "Largest weight of a row", a->largest, 3);
    by_head(r, e, "largest_weight_without_scale", "…without the scale", b->largest, 3);
}

/* A figure of the object's patches; NULL: nothing on the page. */
static void object(Rows *r, const char *key, const char *label, const MeanOver *x)
{
    rows_means(r, key, x, 0, 0);
    if (!x)
        return;
    page_label(&r->page, label, OBJECT_LABEL);
    buf_printf(&r->page, "%.3f", x->mean);
    put_margin(&r->page, *x, r->one);
    buf_putc(&r->page, '\n');
}

/* In how many pictures a heaviest patch is the object's. */
static void peak(Rows *r, const char *key, const char *label, size_t right, size_t n)
{
    rows_share(r, key, label, right, n);
    if (n)
        page_end(&r->page);
}

/* A figure of weights from several seeds: their mean, and between which it lies. */
static void seeds(Rows *r, const char *key, bool known, RandomSpread s, int cells)
{
    char label[64];
    const double by = cells == ROWS_LABEL ? 100 : 1;
    rows_number(r, key, known ? s.mean : (double)NAN);
    if (!known)
        return;
    rows_interval(r, key, "_range", (Interval){s.least, s.most});
    snprintf(label, sizeof label, "  …before any training: mean of %d seeds", (int)RANDOM_SEEDS);
    page_label(&r->page, label, cells);
    buf_printf(&r->page, cells == ROWS_LABEL ? "%6.1f %% (%.1f to %.1f)\n" : "%.3f (%.3f to %.3f)\n", by * s.mean,
               by * s.least, by * s.most);
}

static void rows_object(Rows *r, const Evaluation *e)
{
    const AttentionStatsResult *s = attention_stats_result(e->with);
    const bool objects = s->objects && s->seen, random = objects && e->random.seen;
    const size_t seen = objects ? s->seen : 0;
    if (objects)
        buf_printf(&r->page, "\nWhere it looks: weight on the patches that the object covers to more than %.0f %%\n",
                   100 * SURVEY_COVER);
    object(r, "object_rollout", "rollout (½ heads' mean + ½ residual)", objects ? &s->rollout : NULL);
    seeds(r, "object_rollout_random_weights", random, random_rollout(&e->random), OBJECT_LABEL);
    object(r, "object_rollout_mean_map", "  …the mean of all rollouts, for every picture", objects ? &s->fixed : NULL);
    object(r, "object_brightness", "  …brightness above the picture's mean", objects ? &s->bright : NULL);
    object(r, "object_area", "  …all patches alike: their share of patches", objects ? &s->area : NULL);
    object(r, "object_covered", "  (share of the pixels that the object covers)", objects ? &s->covered : NULL);
    rows_means(r, "object_class_token", objects ? s->read : NULL, e->heads, 0);
    for (int h = 0; objects && s->read && h < s->heads; h++) {
        char label[64];
        snprintf(label, sizeof label, "class token's row in the last block, head %d", h);
        page_label(&r->page, label, OBJECT_LABEL);
        buf_printf(&r->page, "%.3f", s->read[h].mean);
        put_margin(&r->page, s->read[h], r->one);
        buf_putc(&r->page, '\n');
    }
    if (objects)
        buf_puts(&r->page, "\nIn how many pictures the heaviest patch is one of those\n");
    peak(r, "object_rollout_peak", "rollout", s->rollout_peak, seen);
    seeds(r, "object_rollout_peak_random_weights", random, random_peak(&e->random), ROWS_LABEL);
    peak(r, "object_commonest_patch", "  …the patch most often the object's", s->fixed_peak, seen);
    peak(r, "object_brightest_patch", "  …the brightest patch", s->bright_peak, seen);
    if (!random)
        return;
    rows_number(r, "random_weights_seeds", RANDOM_SEEDS);
    rows_number(r, "random_weights_pictures", (double)e->random.pictures);
    buf_printf(&r->page,
               "Before any training: the weights that training begins with, from %d seeds,\n"
               "over %zu of the pictures each; in brackets the seeds with the least and the\n"
               "most. A patch is as bright as the mean of its pixels, all colours.\n",
               (int)RANDOM_SEEDS, e->random.pictures);
}

void evaluate_print(const Evaluation *e, const Evaluated *of, bool json, Buf *out)
{
    Rows r = {.one = e->pictures == 1};
    rows_text(&r, "model", of->name);
    rows_text(&r, "pictures", of->pictures);
    rows_text(&r, "which", of->note);
    rows_number(&r, "count", (double)e->pictures);
    buf_printf(&r.page, "%s: %zu %s\n%s%s", of->name, e->pictures, of->pictures, of->note ? of->note : "",
               of->note ? "\n" : "");
    buf_puts(&r.page, "In brackets and behind ±: 95 % intervals; losses are over the same pictures.\n\n");
    rows_answers(&r, e, of);
    rows_classes(&r, e, of);
    rows_sure(&r, e);
    rows_parts(&r, e);
    if (e->with)
        rows_lens(&r, e);
    rows_positions(&r, e, of);
    if (e->with) {
        rows_attention(&r, e);
        rows_object(&r, e);
    }
    rows_print(&r,
               "model pictures which count accuracy cross_entropy accuracy_without_scale accuracy_without_positions "
               "accuracy_from_class_token accuracy_from_mean accuracy_without_head accuracy_without_attention "
               "accuracy_without_mlp discordant_without_scale discordant_without_positions discordant_other_read_out "
               "discordant_without_head discordant_without_attention discordant_without_mlp accuracy_lens classes "
               "confusion right_by_probability position_rank_correlation position_rank_correlation_centred "
               "position_neighbour_share_4 position_neighbour_share_8 distance_uniform distance_maximal distance "
               "entropy_share entropy_share_without_scale largest_weight largest_weight_without_scale object_area "
               "object_rollout object_rollout_peak object_covered object_rollout_random_weights "
               "object_rollout_mean_map object_brightness object_rollout_peak_random_weights random_weights_seeds "
               "random_weights_pictures object_commonest_patch object_brightest_patch object_class_token",
               json, out);
}

const char *evaluate_token(const Evaluated *of, int token, char *out, size_t n)
{
    const PictureGrid grid = model_grid(of->model);
    const int p = token - grid.prefix;
    if (p >= 0)
        snprintf(out, n, "r%dc%d", p / grid.columns, p % grid.columns);
    else if (grid.class_token && token == 0)
        snprintf(out, n, "cls");
    else
        snprintf(out, n, "%d", token);
    return out;
}

static void rows_found(Rows *r, const ScaleSearchRow *f, const Evaluated *of, const char *key, const char *title)
{
    static const char *const as[] = {"\"class\": ", ", \"named\": ", ", \"named_without_scale\": "};
    const int class[] = {f->label, f->with, f->without};
    const unsigned long long number = f->number;
    const double with = (double)f->entropy_with, plain = (double)f->entropy_without;
    char token[32], name[3][NAME_BYTES];
    rows_key(r, key);
    buf_printf(&r->page, "\n%s\n", title);
    if (!f->found) {
        buf_puts(&r->json, "null");
        buf_puts(&r->page, "  none of these pictures\n");
        return;
    }
    evaluate_token(of, f->query, token, sizeof token);
    buf_printf(&r->json, "{\"picture\": %llu, ", number);
    for (int i = 0; i < 3; i++) {
        buf_puts(&r->json, as[i]);
        buf_json(&r->json, of->class_names[class[i]]);
        class_label(name[i], of->class_names[class[i]], NAME_CELLS);
    }
    buf_printf(&r->json,
               ", \"block\": %d, \"head\": %d, \"query\": \"%s\", \"entropy\": %.9g, \"entropy_without_scale\": %.9g, "
               "\"mean_change\": %.9g}",
               f->layer, f->head, token, with, plain, f->change);
    buf_printf(&r->page, "  picture #%llu, class %s\n  named %s; without the scale %s\n", number, name[0], name[1],
               name[2]);
    buf_printf(&r->page, "  block %d, head %d, query %s: entropy %.3f; without the scale %.3f nats\n", f->layer,
               f->head, token, with, plain);
    buf_printf(&r->page, "  mean change over all its rows %.3f nats\n", f->change);
    buf_printf(&r->page, "  vitrine '#%llu' --at '%s[h=%d,t=%s]' -c 'set scale off'\n", number, f->pattern, f->head,
               token);
}

void showcase_print(const ScaleSearch *s, const Evaluated *of, bool json, Buf *out)
{
    Rows r = {.n = 0};
    rows_text(&r, "model", of->name);
    rows_number(&r, "pictures", (double)s->pictures);
    rows_number(&r, "changed", (double)s->changed);
    buf_printf(&r.page,
               "%s: %zu drawn pictures; without the scale %zu answers change\n"
               "The first and the last are the ends of these pictures, chosen for that; the\n"
               "typical one lies in the middle. None tells how often an answer changes.\n",
               of->name, s->pictures, s->changed);
    rows_found(&r, &s->collapse, of, "collapse", "The deepest fall of a row that goes with another answer");
    rows_found(&r, &s->typical, of, "typical",
               "The typical picture: the median change, and the row with the median fall");
    rows_found(&r, &s->steady, of, "steady", "The least change");
    rows_print(&r, "model pictures changed collapse typical steady", json, out);
}

static void put_star(Buf *page, const Translation *t, int k)
{
    const ParallelSentence *s = &t->star[k];
    buf_puts(page, "  ");
    words_text(lexicon_english(), s->en, s->en_n, page);
    buf_puts(page, "\n  ");
    words_text(lexicon_french(), t->star_word[k], t->star_words[k], page);
    buf_puts(page, "\n   ");
    for (int i = 0; i < s->en_n; i++)
        if ((double)t->star_row[k][i] >= 0.0005)
            buf_printf(page, " %s %.3f", lexicon_english()->word[s->en[i]], (double)t->star_row[k][i]);
    buf_putc(page, '\n');
}

static void tally(Rows *r, const char *key, const char *label, Tally t)
{
    rows_tally(r, key, label, t, NULL);
}

static void off(Rows *r, const char *key, const char *label, const TallyPair *t)
{
    rows_tally(r, key, label, t->tally, &t->pair);
}

static void rows_head(Rows *r, const Translation *t)
{
    const HeadFound *h = &t->chosen;
    const char *row = asking_row_about(h->row);
    rows_key(r, "head");
    buf_printf(&r->json, "{\"attention\":\"%s\",\"head\":%d,\"row\":\"%s\",\"rows_compared\":%d,\"alike\":%d}",
               h->scope, h->head, row, t->heads, t->alike);
    buf_printf(&r->page,
               "\nThe head that tells best: %s, head %d, %s\n"
               "(the best of %d combinations of head and row on half of the pairs%s; measured on the other half)\n",
               h->scope, h->head, row, t->heads, t->alike ? ", where others do as well" : "");
    tally(r, "head_subject", "largest weight on the noun, subject meant", t->measured.subject);
    tally(r, "head_object", "largest weight on the noun, object meant", t->measured.object);
    tally(r, "head_both", "both: it switches with the adjective", t->measured.both);
    rows_number(r, "row_mean", t->row_mean);
    rows_number(r, "row_middle", t->row_middle);
    buf_printf(&r->page, "    …of a row taken at random %.1f %%, of the middle one of the %d %.1f %%\n",
               100 * t->row_mean, t->heads, 100 * t->row_middle);
    tally(r, "head_both_all", "the same over all pairs, the choosing ones too", t->all.both);
    rows_number(r, "weight_right", t->all.on_right);
    rows_number(r, "weight_other", t->all.on_other);
    buf_printf(&r->page, "  mean weight on the noun that is meant %.3f, on the other %.3f\n", t->all.on_right,
               t->all.on_other);
    buf_puts(&r->page, "\nThe same head in other unseen sentences with \"it\"\n");
    tally(r, "head_wider", "largest weight on the noun that is meant", t->wider);
    tally(r, "head_wider_base", "if it always took the commonest kind of noun", t->wider_base);
    tally(r, "wider_pronoun", "il or elle chosen rightly in them", t->wider_pronoun);
    tally(r, "wider_pronoun_constant", "  …if it were always the same one", t->wider_constant);
}

static void rows_off(Rows *r, const Translation *t)
{
    buf_puts(&r->page, "\nWith that head switched off, and how many points less that is over the same sentences\n");
    off(r, "off_pronoun", "il or elle chosen rightly in the pairs", &t->pronoun_off);
    off(r, "off_pronoun_freely", "  …given only what it wrote itself", &t->freely_off);
    rows_number(r, "other_heads", t->others);
    rows_number(r, "off_others_mean", t->other_mean);
    rows_number(r, "off_others_least", t->other_least);
    if (t->others)
        buf_printf(&r->page,
                   "    …with any other of the %d heads off %.1f %% on average, the least %.1f %%:\n"
                   "      %s, head %d\n",
                   t->others + 1, 100 * t->other_mean, 100 * t->other_least, t->other_scope, t->other_head);
    off(r, "off_both", "both sentences without a fault", &t->both_off);
    off(r, "off_wider_pronoun", "il or elle in other unseen sentences", &t->wider_pronoun_off);
    off(r, "off_unseen_combinations", "unseen combinations without a fault", &t->exact_off);
    buf_puts(&r->page, "  Where it looks is not yet why the answer comes out: other heads may know it too.\n\n");
}

void translation_print(const Translation *t, const char *name, size_t n, bool json, Buf *out)
{
    static const char *const key[TRANSLATION_SETS] = {"like_training", "unseen_combinations", "unseen_pairs"};
    Rows r = {.tight = true};
    rows_text(&r, "model", name);
    buf_printf(&r.page, "%s, %zu sentences of each kind; in brackets the 95 %% interval\n\n", name, n);
    buf_puts(&r.page, "translated without a fault\n");
    for (int k = 0; k < TRANSLATION_SETS; k++)
        tally(&r, key[k], sentence_set_about((SentenceSet)(k + SENTENCES_LIKE_TRAIN)), t->exact[k]);
    buf_printf(&r.page,
               "\n%zu pairs that differ in what \"it\" stands for; each word is given the right ones before it\n",
               t->pairs);
    tally(&r, "pronoun", "il or elle chosen rightly", t->as_trained.pronoun);
    tally(&r, "pronoun_freely", "  …given only what it wrote itself", t->as_trained.freely);
    tally(&r, "pronoun_constant", "  …if it were always the same one", t->constant);
    tally(&r, "agreement", "and the adjective agrees", t->as_trained.agreement);
    tally(&r, "both", "both sentences without a fault", t->as_trained.both);
    rows_head(&r, t);
    rows_off(&r, t);
    put_star(&r.page, t, 0);
    put_star(&r.page, t, 1);
    rows_print(&r,
               "model like_training unseen_combinations unseen_pairs pronoun pronoun_freely agreement both head "
               "head_subject head_object head_both head_both_all weight_right weight_other head_wider head_wider_base "
               "wider_pronoun pronoun_constant wider_pronoun_constant row_mean row_middle other_heads off_others_mean "
               "off_others_least off_pronoun off_pronoun_freely off_both off_wider_pronoun off_unseen_combinations",
               json, out);
}
