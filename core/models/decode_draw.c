/* The next word among many: the best of a list, and one drawn by its share. */
#include <math.h>
#include <stdlib.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/models/decode.h"

static bool before(const DecodeCandidate *a, const DecodeCandidate *b)
{
    if (a->log_share > b->log_share || a->log_share < b->log_share)
        return a->log_share > b->log_share;
    return a->parent != b->parent ? a->parent < b->parent : a->word < b->word;
}

void decode_offer(DecodeCandidate *list, int *n, int most, DecodeCandidate c)
{
    int at = *n < most ? (*n)++ : most;
    if (at == most && (most == 0 || !before(&c, &list[most - 1])))
        return;
    if (at == most)
        at--;
    for (; at > 0 && before(&c, &list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = c;
}

/* The first of the list, for the screen. */
static void keep(DecodeDraw *out, const DecodeCandidate *list, const float *p, double kept_sum)
{
    for (int i = 0; i < out->count; i++)
        out->choice[i] = (DecodeChoice){.word = list[i].word,
                                        .share = p[list[i].word],
                                        .drawn = i < out->left ? list[i].share / kept_sum : 0,
                                        .out = i >= out->top_k  ? DECODE_TOP_K
                                               : i >= out->left ? DECODE_TOP_P
                                                                : DECODE_DRAWABLE};
}

int decode_draw(DecodeDraw *out, const float *logit, const float *p, const bool *may, int words, const DecodeOptions *o,
                Rng *rng)
{
    const int k = o->top_k > 0 && o->top_k < words ? o->top_k : words,
              most = k > DECODE_CHOICES       ? k
                     : words < DECODE_CHOICES ? words
                                              : DECODE_CHOICES; /* some are shown that top-k leaves out */
    DecodeCandidate *list = xcalloc((size_t)words + 1, sizeof *list);
    int n = 0, left = 0, i = 0;
    *out = (DecodeDraw){0};
    for (int w = 0; w < words; w++) {
        out->words += may[w];
        if (may[w])
            decode_offer(list, &n, most, (DecodeCandidate){0, w, 0, (double)logit[w], false});
    }
    out->count = n < DECODE_CHOICES ? n : DECODE_CHOICES;
    n = n < k ? n : k;
    double top = list[0].log_share, sum = 0, kept_sum = 0;
    for (int j = 0; j < n; j++) {
        double less = (list[j].log_share - top) / o->temperature;
        list[j].share = less < -700 ? 0 : dm_exp(less);
        sum += list[j].share;
    }
    while (left < n && (left == 0 || kept_sum < o->top_p * sum))
        kept_sum += list[left++].share;
    out->top_k = n;
    out->left = left;
    int word = -1;
    if (n && isfinite(sum)) { /* else NaN among the logits: nothing can be drawn */
        keep(out, list, p, kept_sum);
        double u = (double)rng_unit(rng) * kept_sum;
        while (i + 1 < left && u >= list[i].share)
            u -= list[i++].share;
        word = list[i].word;
        out->taken = list[i].share / kept_sum;
    }
    free(list);
    return word;
}
