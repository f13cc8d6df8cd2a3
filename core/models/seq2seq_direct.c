#include "core/models/direct.h"

#include <stdlib.h>
#include <string.h>

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

/* y[n,outputs] from x[n,inputs]; the bias' role follows the weight's. */
static void linear(const From *f, Seq2seqRole w, const double *x, int n, size_t inputs, double *y, size_t outputs)
{
    direct_linear(weight(f, w), weight(f, (Seq2seqRole)(w + 1)), x, (size_t)n, inputs, y, outputs);
}

/* Token by token; gamma's role is followed by beta's. */
static void norm(const From *f, Seq2seqRole gamma, const double *x, int n, double *y)
{
    direct_norm(weight(f, gamma), weight(f, (Seq2seqRole)(gamma + 1)), false, (double)f->c->eps, x, (size_t)n,
                (size_t)f->c->width, y);
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
    double *q = direct_zeros((size_t)n, inner), *k = direct_zeros((size_t)m, inner),
           *v = direct_zeros((size_t)m, inner), *z = direct_zeros((size_t)n, inner);
    linear(f, first, x, n, d, q, inner);
    linear(f, (Seq2seqRole)(first + 2), seen, m, d, k, inner);
    linear(f, (Seq2seqRole)(first + 4), seen, m, d, v, inner);
    for (size_t t = 0; t < (size_t)n; t++) {
        const DirectSeen sees = {(size_t)c->heads, e, causal ? t + 1 : (size_t)m, k, v, (double)c->scale};
        direct_attend(&sees, q + t * inner, NULL, NULL, z + t * inner);
    }
    linear(f, (Seq2seqRole)(first + 6), z, n, inner, out, d);
    free(q);
    free(k);
    free(v);
    free(z);
}

/* first: W_UP. */
static void mlp(const From *f, Seq2seqRole first, const double *x, int n, double *out)
{
    const Seq2seqConfig *c = f->c;
    size_t d = (size_t)c->width, m = (size_t)c->mlp;
    double *hidden = direct_zeros((size_t)n, m);
    linear(f, first, x, n, d, hidden, m);
    for (size_t i = 0; i < (size_t)n * m; i++)
        hidden[i] = map_exact(c->act, hidden[i]);
    linear(f, (Seq2seqRole)(first + 2), hidden, n, m, out, d);
    free(hidden);
}

/* Which of the sub-layers, and its norm. */
typedef enum Kind { SELF, CROSS, MLP } Kind;
typedef struct Step {
    Kind kind;
    Seq2seqRole first, gamma;
} Step;

/* x[n,d] in place. Post-norm: LN(x + sublayer(x)); pre-norm: x + sublayer(LN(x)). */
static void sublayer(const From *f, bool decoder, const Step *s, Seq2seqDirectMemory memory, double *x, int n)
{
    size_t cells = (size_t)n * (size_t)f->c->width;
    double *in = direct_zeros(cells, 1), *found = direct_zeros(cells, 1);
    if (f->c->pre_norm)
        norm(f, s->gamma, x, n, in);
    else
        memcpy(in, x, cells * sizeof *in);
    if (s->kind == MLP)
        mlp(f, s->first, in, n, found);
    else
        attention(f, s->first, in, n, s->kind == CROSS ? memory.x : in, s->kind == CROSS ? memory.n : n,
                  decoder && s->kind == SELF, found);
    for (size_t i = 0; i < cells; i++)
        x[i] += found[i];
    if (!f->c->pre_norm)
        norm(f, s->gamma, x, n, x);
    free(in);
    free(found);
}

void seq2seq_direct_block(const Seq2seqConfig *c, const Weights *w, bool decoder, int layer, const float *x, int n,
                          Seq2seqDirectMemory memory, double *out)
{
    static const Step ENCODER[] = {{SELF, SEQ2SEQ_ENC_W_Q, SEQ2SEQ_ENC_LN1_GAMMA},
                                   {MLP, SEQ2SEQ_ENC_W_UP, SEQ2SEQ_ENC_LN2_GAMMA}},
                      DECODER[] = {{SELF, SEQ2SEQ_DEC_W_Q, SEQ2SEQ_DEC_LN1_GAMMA},
                                   {CROSS, SEQ2SEQ_CROSS_W_Q, SEQ2SEQ_DEC_LN2_GAMMA},
                                   {MLP, SEQ2SEQ_DEC_W_UP, SEQ2SEQ_DEC_LN3_GAMMA}};
    const From f = {c, w, layer};
    direct_widen(x, (size_t)n * (size_t)c->width, out);
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
    direct_widen(x, (size_t)n * (size_t)c->width, out);
    if (c->final_norm)
        norm(&f, decoder ? SEQ2SEQ_TARGET_FINAL_GAMMA : SEQ2SEQ_SOURCE_FINAL_GAMMA, out, n, out);
}

void seq2seq_direct_answer(const Seq2seqConfig *c, const Weights *w, const double *x, int n, double *logits,
                           double *probs)
{
    const From f = {c, w, 0};
    bool decoder = seq2seq_has_decoder(c);
    size_t words = (size_t)(decoder ? c->target_words : c->source_words);
    const float *table = weight(&f, !c->tied ? SEQ2SEQ_HEAD_W : decoder ? SEQ2SEQ_TARGET_EMBED : SEQ2SEQ_SOURCE_EMBED);
    direct_linear(table, weight(&f, SEQ2SEQ_HEAD_B), x, (size_t)n, (size_t)c->width, logits, words);
    memcpy(probs, logits, (size_t)n * words * sizeof *probs);
    for (int t = 0; t < n; t++)
        direct_softmax(probs + (size_t)t * words, words);
}
