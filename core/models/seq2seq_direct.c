#include "core/models/seq2seq_direct.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/kernels/map_exact.h"

/* The weights of one block, or of none (layer 0). */
typedef struct From {
    const Seq2seqConfig *c;
    const Weights *w;
    int layer;
} From;

/* NULL where the model has no such weight. */
static const float *weight(const From *f, Seq2seqRole r)
{
    return seq2seq_has(f->c, r) ? seq2seq_weight(f->c, f->w, r, f->layer)->data : NULL;
}

static double *doubles(size_t a, size_t b)
{
    return xcalloc(size_mul(a, b) + 1, sizeof(double));
}

/* y[n,outputs] = x[n,inputs] · Wᵀ + b; b may be NULL. */
static void linear(const float *w, const float *b, const double *x, int n, size_t inputs, double *y, size_t outputs)
{
    for (size_t t = 0; t < (size_t)n; t++)
        for (size_t o = 0; o < outputs; o++) {
            double sum = b ? (double)b[o] : 0;
            for (size_t i = 0; i < inputs; i++)
                sum += x[t * inputs + i] * (double)w[o * inputs + i];
            y[t * outputs + o] = sum;
        }
}

/* (x − mean) / √(variance + ε) · γ + β, token by token. */
static void layer_norm(const From *f, Seq2seqRole gamma, Seq2seqRole beta, const double *x, int n, double *y)
{
    size_t d = (size_t)f->c->width;
    const float *scale = weight(f, gamma), *shift = weight(f, beta);
    for (int t = 0; t < n; t++, x += d, y += d) {
        double mean = 0, var = 0;
        for (size_t i = 0; i < d; i++)
            mean += x[i] / (double)d;
        for (size_t i = 0; i < d; i++)
            var += (x[i] - mean) * (x[i] - mean) / (double)d;
        double rstd = map_exact(MAP_RSQRT, var + (double)f->c->eps);
        for (size_t i = 0; i < d; i++)
            y[i] = (x[i] - mean) * rstd * (double)scale[i] + (double)shift[i];
    }
}

/* In place, over the first n. */
static void softmax(double *x, int n)
{
    double most = x[0], sum = 0;
    for (int i = 1; i < n; i++)
        most = x[i] > most ? x[i] : most;
    for (int i = 0; i < n; i++)
        sum += x[i] = map_exact(MAP_EXP, x[i] - most);
    for (int i = 0; i < n; i++)
        x[i] /= sum;
}

/* --- words to tokens --- */

/* sin and cos of a small angle by their series. */
static void series(double x, double *sine, double *cosine)
{
    double term = 1;
    *sine = *cosine = 0;
    for (int k = 0; k < 40; k++) {
        *(k % 2 ? sine : cosine) += k % 4 < 2 ? term : -term;
        term *= x / (k + 1);
    }
}

/* x[place, i] += sin(place · rate), x[place, i + 1] += cos of the same, rate = 10000^(−i/d), place by place: each turns
 * the one before by the same angle. */
static void add_sinusoids(int d, int n, double *x)
{
    for (int i = 0; i < d; i += 2) {
        double turn_sin, turn_cos, s = 0, c = 1, rate = map_exact(MAP_EXP, -(double)i / d * 9.210340371976184);
        series(rate, &turn_sin, &turn_cos);
        for (int t = 0; t < n; t++) {
            double next = s * turn_cos + c * turn_sin;
            x[t * d + i] += s;
            if (i + 1 < d)
                x[t * d + i + 1] += c;
            c = c * turn_cos - s * turn_sin;
            s = next;
        }
    }
}

void seq2seq_direct_embed(const Seq2seqConfig *c, const Weights *w, bool decoder, const float *word, int n, double *x)
{
    const From f = {c, w, 0};
    size_t d = (size_t)c->width;
    const float *table = weight(&f, decoder ? SEQ2SEQ_TARGET_EMBED : SEQ2SEQ_SOURCE_EMBED),
                *place = weight(&f, decoder ? SEQ2SEQ_TARGET_POS : SEQ2SEQ_SOURCE_POS);
    for (size_t t = 0; t < (size_t)n; t++)
        for (size_t i = 0; i < d; i++)
            x[t * d + i] = (double)table[(size_t)word[t] * d + i] * (double)c->embed_scale +
                           (place ? (double)place[t * d + i] : 0);
    if (!place)
        add_sinusoids(c->width, n, x);
}

/* --- a block --- */

/* out[n,d] = softmax(q kᵀ · scale) v through W_O, q from x, k and v from seen; token t sees those before it and itself
 * where causal. first: W_Q, from which the others follow in the table. */
static void attention(const From *f, Seq2seqRole first, const double *x, int n, const double *seen, int m, bool causal,
                      double *out)
{
    const Seq2seqConfig *c = f->c;
    size_t d = (size_t)c->width, e = (size_t)c->head_dim, inner = (size_t)c->heads * e;
    const float *part[8];
    for (int i = 0; i < 8; i++)
        part[i] = weight(f, (Seq2seqRole)((int)first + i));
    double *q = doubles((size_t)n, inner), *k = doubles((size_t)m, inner), *v = doubles((size_t)m, inner),
           *z = doubles((size_t)n, inner), *row = doubles((size_t)m, 1);
    linear(part[0], part[1], x, n, d, q, inner);
    linear(part[2], part[3], seen, m, d, k, inner);
    linear(part[4], part[5], seen, m, d, v, inner);
    for (int t = 0; t < n; t++)
        for (size_t h = 0; h < inner; h += e) {
            int sees = causal ? t + 1 : m;
            for (int u = 0; u < sees; u++) {
                row[u] = 0;
                for (size_t i = h; i < h + e; i++)
                    row[u] += q[(size_t)t * inner + i] * k[(size_t)u * inner + i] * (double)c->scale;
            }
            softmax(row, sees);
            for (int u = 0; u < sees; u++)
                for (size_t i = h; i < h + e; i++)
                    z[(size_t)t * inner + i] += row[u] * v[(size_t)u * inner + i];
        }
    linear(part[6], part[7], z, n, inner, out, d);
    free(q);
    free(k);
    free(v);
    free(z);
    free(row);
}

static void mlp(const From *f, bool decoder, const double *x, int n, double *out)
{
    const Seq2seqConfig *c = f->c;
    size_t d = (size_t)c->width, m = (size_t)c->mlp;
    double *hidden = doubles((size_t)n, m);
    linear(weight(f, decoder ? SEQ2SEQ_DEC_W_UP : SEQ2SEQ_ENC_W_UP),
           weight(f, decoder ? SEQ2SEQ_DEC_B_UP : SEQ2SEQ_ENC_B_UP), x, n, d, hidden, m);
    for (size_t i = 0; i < (size_t)n * m; i++)
        hidden[i] = map_exact(c->act, hidden[i]);
    linear(weight(f, decoder ? SEQ2SEQ_DEC_W_DOWN : SEQ2SEQ_ENC_W_DOWN),
           weight(f, decoder ? SEQ2SEQ_DEC_B_DOWN : SEQ2SEQ_ENC_B_DOWN), hidden, n, m, out, d);
    free(hidden);
}

/* Which of the sub-layers, and its norm. */
typedef enum Kind { SELF, CROSS, THINK } Kind;
typedef struct Step {
    Kind kind;
    Seq2seqRole first, gamma, beta;
} Step;

/* x[n,d] in place. Post-norm: LN(x + sublayer(x)); pre-norm: x + sublayer(LN(x)). */
static void sublayer(const From *f, bool decoder, const Step *s, Seq2seqDirectMemory memory, double *x, int n)
{
    size_t cells = (size_t)n * (size_t)f->c->width;
    double *in = doubles(cells, 1), *found = doubles(cells, 1);
    if (f->c->pre_norm)
        layer_norm(f, s->gamma, s->beta, x, n, in);
    else
        memcpy(in, x, cells * sizeof *in);
    if (s->kind == THINK)
        mlp(f, decoder, in, n, found);
    else
        attention(f, s->first, in, n, s->kind == CROSS ? memory.x : in, s->kind == CROSS ? memory.n : n,
                  decoder && s->kind == SELF, found);
    for (size_t i = 0; i < cells; i++)
        x[i] += found[i];
    if (!f->c->pre_norm) {
        layer_norm(f, s->gamma, s->beta, x, n, in);
        memcpy(x, in, cells * sizeof *x);
    }
    free(in);
    free(found);
}

void seq2seq_direct_block(const Seq2seqConfig *c, const Weights *w, bool decoder, int layer, const float *x, int n,
                          Seq2seqDirectMemory memory, double *out)
{
    static const Step ENCODER[] = {{SELF, SEQ2SEQ_ENC_W_Q, SEQ2SEQ_ENC_LN1_GAMMA, SEQ2SEQ_ENC_LN1_BETA},
                                   {THINK, SEQ2SEQ_ENC_W_UP, SEQ2SEQ_ENC_LN2_GAMMA, SEQ2SEQ_ENC_LN2_BETA}},
                      DECODER[] = {{SELF, SEQ2SEQ_DEC_W_Q, SEQ2SEQ_DEC_LN1_GAMMA, SEQ2SEQ_DEC_LN1_BETA},
                                   {CROSS, SEQ2SEQ_CROSS_W_Q, SEQ2SEQ_DEC_LN2_GAMMA, SEQ2SEQ_DEC_LN2_BETA},
                                   {THINK, SEQ2SEQ_DEC_W_UP, SEQ2SEQ_DEC_LN3_GAMMA, SEQ2SEQ_DEC_LN3_BETA}};
    const From f = {c, w, layer};
    for (size_t i = 0; i < (size_t)n * (size_t)c->width; i++)
        out[i] = (double)x[i];
    for (int i = 0; i < (decoder ? 3 : 2); i++) {
        const Step *s = decoder ? &DECODER[i] : &ENCODER[i];
        if (s->kind != CROSS || memory.n)
            sublayer(&f, decoder, s, memory, out, n);
    }
}

/* --- the answer --- */

void seq2seq_direct_stack_out(const Seq2seqConfig *c, const Weights *w, bool decoder, const float *x, int n,
                              double *out)
{
    const From f = {c, w, 0};
    size_t cells = (size_t)n * (size_t)c->width;
    double *from = doubles(cells, 1);
    for (size_t i = 0; i < cells; i++)
        out[i] = from[i] = (double)x[i];
    if (c->final_norm)
        layer_norm(&f, decoder ? SEQ2SEQ_TARGET_FINAL_GAMMA : SEQ2SEQ_SOURCE_FINAL_GAMMA,
                   decoder ? SEQ2SEQ_TARGET_FINAL_BETA : SEQ2SEQ_SOURCE_FINAL_BETA, from, n, out);
    free(from);
}

void seq2seq_direct_answer(const Seq2seqConfig *c, const Weights *w, const double *x, int n, double *logits,
                           double *probs)
{
    const From f = {c, w, 0};
    bool decoder = seq2seq_has_decoder(c);
    size_t words = (size_t)(decoder ? c->target_words : c->source_words);
    const float *table = weight(&f, !c->tied ? SEQ2SEQ_HEAD_W : decoder ? SEQ2SEQ_TARGET_EMBED : SEQ2SEQ_SOURCE_EMBED);
    linear(table, weight(&f, SEQ2SEQ_HEAD_B), x, n, (size_t)c->width, logits, words);
    memcpy(probs, logits, (size_t)n * words * sizeof *probs);
    for (int t = 0; t < n; t++)
        softmax(probs + (size_t)t * words, (int)words);
}
