#include "core/train/text_batch.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/models/lexicon.h"

TextBatch text_batch_new(const Seq2seqConfig *c)
{
    size_t places = (size_t)TEXT_MICRO * TEXT_LENGTH_MAX;
    return (TextBatch){.source = xfloats(size_mul(places, (size_t)c->source_words)),
                       .target = xfloats(size_mul(places, (size_t)c->target_words)),
                       .answer = xfloats(size_mul(places, (size_t)c->target_words)),
                       .padding = xfloats(places),
                       .weight = xfloats(places)};
}

void text_batch_free(TextBatch *b)
{
    free(b->source);
    free(b->target);
    free(b->answer);
    free(b->padding);
    free(b->weight);
    *b = (TextBatch){0};
}

int text_batch_length(const Sentence *s)
{
    int n = (s->en_n > s->fr_n ? s->en_n : s->fr_n) + 1;
    return (n + TEXT_LENGTH_STEP - 1) / TEXT_LENGTH_STEP * TEXT_LENGTH_STEP;
}

int text_batch_answer(const Sentence *s, int t)
{
    return t < s->fr_n ? s->fr[t] : t == s->fr_n ? FR_END : -1;
}

static void fill_one(TextBatch *b, const Seq2seqConfig *c, const Sentence *s, int i, double smoothing, float weight)
{
    size_t first = (size_t)i * (size_t)b->length, words = (size_t)c->target_words;
    float rest = (float)(smoothing / c->target_words), most = (float)(1 - smoothing + smoothing / c->target_words);
    for (int t = 0; t <= s->en_n; t++) {
        size_t at = first + (size_t)t;
        b->source[at * (size_t)c->source_words + (size_t)(t < s->en_n ? s->en[t] : EN_END)] = 1;
        b->padding[at] = 1;
    }
    for (int t = 0; t <= s->fr_n; t++) {
        size_t at = first + (size_t)t;
        b->target[at * words + (size_t)(t ? s->fr[t - 1] : FR_START)] = 1;
        for (size_t v = 0; v < words; v++)
            b->answer[at * words + v] = rest;
        b->answer[at * words + (size_t)text_batch_answer(s, t)] = most;
        b->weight[at] = weight;
    }
}

void text_batch_fill(TextBatch *b, const Seq2seqConfig *c, const Sentence *const *s, int n, int length,
                     double smoothing, float weight)
{
    REQUIRE(n <= TEXT_MICRO && length <= TEXT_LENGTH_MAX);
    size_t places = (size_t)TEXT_MICRO * (size_t)length;
    b->length = length;
    memset(b->source, 0, places * (size_t)c->source_words * sizeof *b->source);
    memset(b->target, 0, places * (size_t)c->target_words * sizeof *b->target);
    memset(b->answer, 0, places * (size_t)c->target_words * sizeof *b->answer);
    memset(b->padding, 0, places * sizeof *b->padding);
    memset(b->weight, 0, places * sizeof *b->weight);
    for (int i = 0; i < TEXT_MICRO; i++) {
        if (i < n)
            fill_one(b, c, s[i], i, smoothing, weight);
        else
            b->padding[(size_t)i * (size_t)length] = 1; /* an empty place looks at its first token, not at nothing */
    }
}
