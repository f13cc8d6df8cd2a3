/* What can be said of heads, their matrices, rows, weights and scores. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/session/ask/say.h"
#include "core/session/learned/measures.h"

enum { TOP = 5 };

static double highest_entropy(const Teller *t)
{
    return dm_log((double)teller_length(t, ROLE_KEY));
}

/* Mean over the rows of one head. */
static double mean_entropy(const float *entropy, int head, int rows)
{
    double sum = 0;
    for (int i = 0; i < rows; i++)
        sum += (double)entropy[head * rows + i];
    return sum / rows;
}

bool say_sheet(const Teller *t)
{
    NodeId n;
    const float *entropy = teller_values(t, teller_site(t, SITE_ENTROPY), &n);
    if (!entropy)
        return false;
    int heads = teller_length(t, ROLE_HEAD), rows = teller_length(t, ROLE_QUERY), sharp = 0, flat = 0,
        block = session_block(t->s);
    for (int h = 1; h < heads; h++) {
        sharp = mean_entropy(entropy, h, rows) < mean_entropy(entropy, sharp, rows) ? h : sharp;
        flat = mean_entropy(entropy, h, rows) > mean_entropy(entropy, flat, rows) ? h : flat;
    }
    int at = teller_index(t, ROLE_HEAD);
    buf_printf(t->out,
               "Block %d: head %d has the sharpest rows (mean entropy %.2f of at most %.2f nats), head %d the flattest "
               "(%.2f); head %d has %.2f.",
               block < 0 ? 0 : block, sharp, mean_entropy(entropy, sharp, rows), highest_entropy(t), flat,
               mean_entropy(entropy, flat, rows), at, mean_entropy(entropy, at, rows));
    return session_head_places(t->s) ? say_head_over_pictures(t) : true;
}

static int larger_first(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* "gives its largest weight, .212, to r4c3; the 5 largest of 65 weights carry 63 %" */
static void put_row(const Teller *t, const float *row, size_t count)
{
    char label[64];
    size_t best = largest_of(row, count), top = count < TOP ? count : TOP;
    float *sorted = xmalloc(size_mul(count, sizeof *sorted));
    double sum = 0;
    memcpy(sorted, row, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, larger_first);
    for (size_t i = 0; i < top; i++)
        sum += (double)sorted[i];
    free(sorted);
    buf_puts(t->out, "gives its largest weight, ");
    ask_put_short(t->out, row[best]);
    buf_printf(t->out, ", to %s; the %zu largest of %zu weights carry %.0f %%",
               teller_label(t, ROLE_KEY, (int)best, label), top, count, sum * 100);
}

static void put_head(const Teller *t)
{
    if (t->s->look.average)
        buf_printf(t->out, "The mean of the %d heads of block %d", teller_length(t, ROLE_HEAD), session_block(t->s));
    else
        buf_printf(t->out, "Head %d of block %d", teller_index(t, ROLE_HEAD), session_block(t->s));
}

/* Is every score of the focused row −∞? A row of zeros may also have been set. False when cancelled. */
static bool masked_everywhere(const Teller *t, bool *masked)
{
    NodeId n = graph_find(t->g, teller_site(t, SITE_SCORES_MASKED));
    *masked = n != NO_NODE;
    if (!*masked)
        return true;
    const float *x = ask_need(t->s, t->side, n, t->err);
    size_t count;
    if (!x)
        return false;
    const float *row = teller_row(t, x, n, session_cell(t->s, t->side, n), &count);
    for (size_t i = 0; i < count; i++)
        *masked = *masked && isinf(row[i]) && row[i] < 0;
    return true;
}

/* Was this node of the block made as the model makes it? An edit may have put something else there. */
static bool as_made(const Teller *t, Site site)
{
    NodeId n = graph_find(t->g, teller_site(t, site));
    return n != NO_NODE && !(graph_node(t->g, n)->flags & NODE_EDITED);
}

bool say_row(const Teller *t)
{
    NodeId n = t->n;
    const float *x = t->s->look.average ? teller_values(t, teller_site(t, SITE_MEAN_PATTERN), &n) : t->x;
    float entropy = 0;
    if (!x || (!t->s->look.average && !teller_value(t, teller_site(t, SITE_ENTROPY), &entropy)))
        return false;
    size_t count;
    const float *row = teller_row(t, x, n, session_cell(t->s, t->side, n), &count);
    put_head(t);
    buf_puts(t->out, ", asked from ");
    teller_put_token(t, ROLE_QUERY);
    if (row[largest_of(row, count)] == 0.0f) {
        bool masked;
        if (!masked_everywhere(t, &masked))
            return false;
        buf_printf(t->out, ", gives no weight to any token%s.", masked ? ": the row is masked everywhere" : "");
        return true;
    }
    buf_puts(t->out, ", ");
    put_row(t, row, count);
    if (!t->s->look.average)
        buf_printf(t->out, " (entropy %.2f of at most %.2f nats)", (double)entropy, highest_entropy(t));
    buf_putc(t->out, '.');
    if (!t->s->look.average)
        say_without_scale(t);
    return true;
}

bool say_matrix(const Teller *t)
{
    char from[64], to[64];
    NodeId n;
    size_t rows = (size_t)teller_length(t, ROLE_QUERY), cols = (size_t)teller_length(t, ROLE_KEY);
    const float *entropy = teller_values(t, teller_site(t, SITE_ENTROPY), &n);
    if (!entropy)
        return false;
    if (!t->s->look.average) {
        const float *head = t->x + t->cell / (rows * cols) * (rows * cols);
        size_t best = largest_of(head, rows * cols);
        put_head(t);
        buf_printf(t->out, ": its %zu rows have a mean entropy of %.2f of at most %.2f nats; its largest weight, ",
                   rows, mean_entropy(entropy, teller_index(t, ROLE_HEAD), (int)rows), highest_entropy(t));
        ask_put_short(t->out, head[best]);
        buf_printf(t->out, ", goes from %s to %s. ", teller_label(t, ROLE_QUERY, (int)(best / cols), from),
                   teller_label(t, ROLE_KEY, (int)(best % cols), to));
    }
    return say_row(t);
}

/* "In head 2 of block 1, asked from patch r3c4," */
static void put_place(const Teller *t)
{
    buf_printf(t->out, "In head %d of block %d, asked from ", teller_index(t, ROLE_HEAD), session_block(t->s));
    teller_put_token(t, ROLE_QUERY);
    buf_puts(t->out, ", ");
}

bool say_weight(const Teller *t)
{
    char label[64];
    float score, exponential, sum;
    bool masks = graph_find(t->g, teller_site(t, SITE_SCORES_MASKED)) != NO_NODE;
    Site scores = site_scores(t->g, anatomy_of(t->g, t->s->place.path));
    if (!teller_value(t, teller_site(t, masks ? SITE_SCORES_MASKED : scores), &score) ||
        !teller_value(t, teller_site(t, SITE_EXP), &exponential) ||
        !teller_value(t, teller_site(t, SITE_EXP_SUM), &sum))
        return false;
    size_t count;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    put_place(t);
    buf_printf(t->out, "%s gets a weight of ", teller_label(t, ROLE_KEY, teller_index(t, ROLE_KEY), label));
    ask_put_short(t->out, t->x[t->cell]);
    buf_printf(t->out, ", place %zu of %zu in its row. Its score is ",
               place_of(row, count, (size_t)(t->x + t->cell - row)), count);
    ask_put_short(t->out, score);
    buf_puts(t->out, ", the exponential of score minus row maximum is ");
    ask_put_short(t->out, exponential);
    buf_puts(t->out, ", and the exponentials of the row add up to ");
    ask_put_short(t->out, sum);
    buf_putc(t->out, '.');
    return true;
}

bool say_score(const Teller *t)
{
    char label[64];
    float raw, scaled, scale, weight, with_bias = 0;
    bool biased = graph_find(t->g, teller_site(t, SITE_SCORES_BIASED)) != NO_NODE;
    if (biased && !teller_value(t, teller_site(t, SITE_SCORES_BIASED), &with_bias))
        return false;
    if (!teller_value(t, teller_site(t, SITE_SCORES_RAW), &raw) ||
        !teller_value(t, teller_site(t, SITE_SCORES_SCALED), &scaled) ||
        !teller_value(t, teller_site(t, SITE_SCALE), &scale) || !teller_value(t, teller_site(t, SITE_PATTERN), &weight))
        return false;
    size_t count;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    put_place(t);
    buf_printf(t->out, "%s has a raw score of ", teller_label(t, ROLE_KEY, teller_index(t, ROLE_KEY), label));
    ask_put_short(t->out, raw);
    if (as_made(t, SITE_SCORES_SCALED)) {
        buf_puts(t->out, "; times ");
        ask_put_short(t->out, scale);
        buf_puts(t->out, " it is ");
    } else
        buf_puts(t->out, "; the scaled score was changed to ");
    ask_put_short(t->out, scaled);
    if (biased) {
        buf_puts(t->out, "; with the bias of their places it is ");
        ask_put_short(t->out, with_bias);
    }
    if (isinf(t->x[t->cell]))
        buf_puts(t->out, ", and it is masked");
    else
        buf_printf(t->out, ", place %zu of %zu in its row", place_of(row, count, (size_t)(t->x + t->cell - row)),
                   count);
    buf_puts(t->out, as_made(t, SITE_PATTERN) ? "; softmax makes it a weight of " : "; its weight is ");
    ask_put_short(t->out, weight);
    buf_putc(t->out, '.');
    return true;
}

bool say_score_row(const Teller *t)
{
    char high[64], low[64];
    float variance;
    if (!teller_value(t, teller_site(t, SITE_SCORE_VARIANCE), &variance))
        return false;
    size_t count, best, worst = SIZE_MAX;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    best = largest_of(row, count);
    for (size_t i = 0; i < count; i++)
        if (isfinite(row[i]) && (worst == SIZE_MAX || row[i] < row[worst]))
            worst = i;
    put_place(t);
    if (worst == SIZE_MAX) {
        buf_puts(t->out, "every score is masked.");
        return true;
    }
    buf_printf(t->out, "the largest score is that of %s (", teller_label(t, ROLE_KEY, (int)best, high));
    ask_put_short(t->out, row[best]);
    buf_printf(t->out, ") and the smallest that of %s (", teller_label(t, ROLE_KEY, (int)worst, low));
    ask_put_short(t->out, row[worst]);
    buf_puts(t->out, "). What enters the softmax has a variance of ");
    ask_put_short(t->out, variance);
    buf_puts(t->out, " in this row.");
    return true;
}
