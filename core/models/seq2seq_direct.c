#include "core/models/direct.h"

#include <stdlib.h>
#include <string.h>

#include "core/kernels/map_exact.h"

/* The weights of one block, or of none (layer 0). */
typedef struct From {
    const Seq2seqConfig *c;
    const Weights *w;
    int layer;
    const float *chosen; /* as in seq2seq_direct_block */
} From;

/* NULL where the model has no such weight. */
static const WeightTensor *tensor(const From *f, Seq2seqRole r)
{
    return seq2seq_has_in(f->c, r, f->layer) ? seq2seq_weight(f->c, f->w, r, f->layer) : NULL;
}

/* Of those that are floats in any model: all but matrices. */
static const float *weight(const From *f, Seq2seqRole r)
{
    const WeightTensor *t = tensor(f, r);
    return t ? t->data : NULL;
}

/* y[n,outputs] from x[n,inputs]; the bias' role follows the weight's. */
static void linear(const From *f, Seq2seqRole w, const double *x, int n, size_t inputs, double *y, size_t outputs)
{
    direct_linear(tensor(f, w), weight(f, (Seq2seqRole)(w + 1)), x, (size_t)n, inputs, y, outputs);
}

/* Each of `rows` rows of `width` numbers. */
static void norm_rows(const From *f, const float *gamma, const float *beta, const double *x, size_t rows, size_t width,
                      double *y)
{
    const Seq2seqConfig *c = f->c;
    float *plus = c->gamma_plus ? xfloats(width) : NULL;
    for (size_t i = 0; plus && i < width; i++)
        plus[i] = 1; /* the whole is γ times, and once more by itself */
    double *bare = plus ? direct_zeros(rows, width) : NULL;
    if (plus)
        direct_norm(plus, NULL, c->rms_norm, (double)c->eps, x, rows, width, bare);
    direct_norm(gamma, beta, c->rms_norm, (double)c->eps, x, rows, width, y);
    for (size_t i = 0; plus && i < rows * width; i++)
        y[i] += bare[i];
    free(plus);
    free(bare);
}

/* Token by token; gamma's role is followed by beta's. */
static void norm(const From *f, Seq2seqRole gamma, const double *x, int n, double *y)
{
    norm_rows(f, weight(f, gamma), weight(f, (Seq2seqRole)(gamma + 1)), x, (size_t)n, (size_t)f->c->width, y);
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
static void add_sinusoids(const Seq2seqConfig *c, int n, double *x)
{
    const int d = c->width, sines = (d + 1) / 2;
    for (int i = 0; i < d; i += 2) {
        double turn_sin, turn_cos, s = 0, cosine = 1, rate = map_exact(MAP_EXP, -(double)i / d * 9.210340371976184);
        series(rate, &turn_sin, &turn_cos);
        for (int t = 0; t < n; t++) {
            double next = s * turn_cos + cosine * turn_sin;
            x[t * d + (c->halves ? i / 2 : i)] += s;
            if (i + 1 < d)
                x[t * d + (c->halves ? sines + i / 2 : i + 1)] += cosine;
            cosine = cosine * turn_cos - s * turn_sin;
            s = next;
        }
    }
}

void seq2seq_direct_embed(const Seq2seqConfig *c, const Weights *w, bool decoder, const float *word, const int *segment,
                          int n, double *out)
{
    const From f = {.c = c, .w = w};
    size_t d = (size_t)seq2seq_word_width(c), wide = (size_t)c->width;
    double *x = direct_zeros((size_t)n, d);
    const Seq2seqRole gamma = decoder ? SEQ2SEQ_TARGET_NORM_GAMMA : SEQ2SEQ_SOURCE_NORM_GAMMA;
    const float *kind = c->segments ? weight(&f, SEQ2SEQ_SOURCE_SEGMENT) : NULL;
    const WeightTensor *table = tensor(&f, seq2seq_embed_role(c, decoder));
    const float *place = weight(&f, decoder ? SEQ2SEQ_TARGET_POS : SEQ2SEQ_SOURCE_POS);
    float *room = xfloats(d);
    for (size_t t = 0; t < (size_t)n; t++) {
        const float *row = weight_floats(table, (size_t)word[t] * d, d, room);
        for (size_t i = 0; i < d; i++)
            x[t * d + i] = (double)row[i] * (double)c->embed_scale;
    }
    free(room);
    if (c->word_width && decoder) {
        double *y = direct_zeros((size_t)n, wide);
        direct_linear(tensor(&f, SEQ2SEQ_TARGET_PROJECT_W), NULL, x, (size_t)n, d, y, wide);
        free(x);
        x = y;
        d = wide;
    }
    if (c->embed_norm && c->pos != SEQ2SEQ_POS_ADDED)
        norm(&f, gamma, x, n, x);
    for (size_t i = 0; kind && i < (size_t)n * d; i++)
        x[i] += (double)kind[(segment ? (size_t)segment[i / d] * d : 0) + i % d];
    for (size_t i = 0; place && i < (size_t)n * d; i++)
        x[i] += (double)place[(size_t)c->first_position * d + i];
    if (!place && c->pos == SEQ2SEQ_POS_ADDED)
        add_sinusoids(c, n, x);
    if (c->embed_norm && c->pos == SEQ2SEQ_POS_ADDED)
        norm_rows(&f, weight(&f, gamma), weight(&f, (Seq2seqRole)(gamma + 1)), x, (size_t)n, d, x);
    if (c->word_width && !decoder)
        linear(&f, SEQ2SEQ_SOURCE_PROJECT_W, x, n, d, out, wide);
    else
        memcpy(out, x, (size_t)n * d * sizeof *x);
    free(x);
}

/* --- a block --- */

/* x[n,heads,e]: every pair of numbers of a head turned by its place. */
static void turn(const From *f, bool local, double *x, int n, size_t heads)
{
    const Seq2seqConfig *c = f->c;
    double stretch = c->rope.stretch > 0 && !(local && c->rope.local_base > 0) ? (double)c->rope.stretch : 1;
    for (int t = 0; t < n; t++)
        for (int k = 0; k < seq2seq_rope_pairs(c); k++) {
            double angle = t * seq2seq_rope_rate(c, local, k, n);
            double cosine = stretch * map_exact(MAP_COS, angle), sine = stretch * map_exact(MAP_SIN, angle);
            int one, two;
            seq2seq_rope_pair(c, k, &one, &two);
            for (size_t h = 0; h < heads; h++) {
                double *pair = x + ((size_t)t * heads + h) * (size_t)c->head_dim, first = pair[one];
                pair[one] = first * cosine - pair[two] * sine;
                pair[two] = pair[two] * cosine + first * sine;
            }
        }
}

/* The norm of queries or keys x[n,heads,e], where the model has one. */
static void norm_heads(const From *f, Seq2seqRole each, Seq2seqRole all, double *x, int n, size_t heads)
{
    const Seq2seqConfig *c = f->c;
    size_t e = (size_t)c->head_dim;
    if (c->head_norm == HEAD_NORM_EACH)
        norm_rows(f, weight(f, each), NULL, x, (size_t)n * heads, e, x);
    if (c->head_norm == HEAD_NORM_ALL)
        norm_rows(f, weight(f, all), NULL, x, (size_t)n, heads * e, x);
}

/* What every head reads of keys or values x[m,groups,e]: out[m,heads,e]. */
static double *every_head(const Seq2seqConfig *c, const double *x, size_t m)
{
    size_t heads = (size_t)c->heads, groups = (size_t)seq2seq_key_heads(c), e = (size_t)c->head_dim;
    double *out = direct_zeros(m * heads, e);
    for (size_t i = 0; i < m * heads; i++)
        memcpy(out + i * e, x + (i / heads * groups + i % heads / (heads / groups)) * e, e * sizeof *out);
    return out;
}

/* For ALiBi: the token that asks, and the first that it sees. */
typedef struct Distance {
    int heads;
    double most;
    size_t asks, first;
} Distance;

/* A stack's table of distances, and the token that asks. */
typedef struct Ranges {
    const Seq2seqConfig *c;
    const float *table; /* [heads, rows] */
    bool decoder;
    int asks;
} Ranges;

static double range(const void *of, size_t head, size_t u)
{
    const Ranges *d = of;
    int row = seq2seq_distance_row(d->c, d->decoder, (int)u - d->asks);
    return (double)d->table[head * (size_t)d->c->distances + (size_t)row];
}

static double distance(const void *of, size_t head, size_t u)
{
    const Distance *d = of;
    return -seq2seq_alibi_slope(d->heads, (int)head, d->most) * (double)(d->asks - d->first - u);
}

static void clip(double most, double *x, size_t n)
{
    for (size_t i = 0; most > 0 && i < n; i++)
        x[i] = x[i] > most ? most : x[i] < -most ? -most : x[i];
}

/* out[n,d] = softmax(q kᵀ · scale) v through W_O, q from x, k and v from seen; in the decoder's own attention (self)
 * token t sees those before it and itself. first: W_Q, from which the others follow in the table. */
static void attention(const From *f, Seq2seqRole first, const double *x, int n, const double *seen, int m, bool self,
                      double *out)
{
    const Seq2seqConfig *c = f->c;
    size_t d = (size_t)c->width, e = (size_t)c->head_dim, heads = (size_t)c->heads, inner = heads * e,
           groups = (size_t)seq2seq_key_heads(c);
    double *q = direct_zeros((size_t)n, inner), *z = direct_zeros((size_t)n, inner),
           *k = direct_zeros((size_t)m, groups * e), *v = direct_zeros((size_t)m, groups * e);
    const From stack = {.c = c, .w = f->w};
    bool own = first != SEQ2SEQ_CROSS_W_Q, windowed = own && seq2seq_windowed(c, f->layer),
         alibi = self && c->pos == SEQ2SEQ_POS_ALIBI;
    linear(f, first, x, n, d, q, inner);
    linear(f, (Seq2seqRole)(first + 2), seen, m, d, k, groups * e);
    linear(f, (Seq2seqRole)(first + 4), seen, m, d, v, groups * e);
    clip((double)c->clip, q, (size_t)n * inner);
    clip((double)c->clip, k, (size_t)m * groups * e);
    clip((double)c->clip, v, (size_t)m * groups * e);
    if (self) {
        norm_heads(f, SEQ2SEQ_DEC_Q_EACH, SEQ2SEQ_DEC_Q_ALL, q, n, heads);
        norm_heads(f, SEQ2SEQ_DEC_K_EACH, SEQ2SEQ_DEC_K_ALL, k, n, groups);
    }
    if (own && c->pos == SEQ2SEQ_POS_ROPE) {
        turn(f, windowed, q, n, heads);
        turn(f, windowed, k, n, groups);
    }
    double *keys = every_head(c, k, (size_t)m), *values = every_head(c, v, (size_t)m);
    for (size_t t = 0; t < (size_t)n; t++) {
        size_t before = (size_t)(self ? c->window - 1 : c->window / 2), from = windowed && t > before ? t - before : 0,
               last = self                                     ? t
                      : windowed && t + before < (size_t)m - 1 ? t + before
                                                               : (size_t)m - 1;
        const Distance far = {c->heads, seq2seq_alibi_most(c), t, from};
        const DirectSeen sees = {heads,
                                 e,
                                 last + 1 - from,
                                 keys + from * inner,
                                 values + from * inner,
                                 (double)c->scale,
                                 (double)c->score_cap,
                                 self ? weight(f, SEQ2SEQ_DEC_SINKS) : NULL};
        const Seq2seqRole of = self ? SEQ2SEQ_TARGET_DISTANCE : SEQ2SEQ_SOURCE_DISTANCE;
        const Ranges ranges = {c, c->distances && own ? weight(&stack, of) : NULL, self, (int)t};
        direct_attend(&sees, q + t * inner,
                      ranges.table ? range
                      : alibi      ? distance
                                   : NULL,
                      ranges.table ? (const void *)&ranges : &far, z + t * inner);
    }
    linear(f, (Seq2seqRole)(first + 6), z, n, inner, out, d);
    free(q);
    free(k);
    free(v);
    free(z);
    free(keys);
    free(values);
}

/* first: W_UP, which its bias, W_DOWN and that one's bias follow in the table. */
static void mlp(const From *f, Seq2seqRole first, const double *x, int n, double *out)
{
    const Seq2seqRole gate = first == SEQ2SEQ_DEC_W_UP ? SEQ2SEQ_DEC_W_GATE : SEQ2SEQ_ENC_W_GATE;
    const DirectMlp p = {.act = f->c->act,
                         .width = (size_t)f->c->width,
                         .hidden = (size_t)f->c->mlp,
                         .up = tensor(f, first),
                         .up_bias = weight(f, (Seq2seqRole)(first + 1)),
                         .gate = tensor(f, gate),
                         .gate_bias = weight(f, (Seq2seqRole)(gate + 1)),
                         .down = tensor(f, (Seq2seqRole)(first + 2)),
                         .down_bias = weight(f, (Seq2seqRole)(first + 3))};
    direct_mlp(&p, x, (size_t)n, out);
}

/* out[width] += share of what an expert makes of a token. */
static void add_expert(const DirectMlp *p, const double *x, double share, double *out)
{
    double *own = direct_zeros(p->width, 1);
    direct_mlp(p, x, 1, own);
    for (size_t i = 0; i < p->width; i++)
        out[i] += share * own[i];
    free(own);
}

/* Which are the `most` largest of p[count], of equal ones the first: yes[count]. The graph's choice, where none that it
 * left out is larger than one that it took by more than rounding. */
static void choose(const double *p, size_t count, int most, const float *graph, bool *yes)
{
    double least_in = 1, most_out = 0;
    for (size_t i = 0; i < count; i++) {
        size_t before = 0;
        for (size_t j = 0; j < count; j++)
            before += p[j] > p[i] || (j < i && !(p[j] < p[i]));
        yes[i] = before < (size_t)most;
    }
    int taken = 0;
    for (size_t i = 0; graph && i < count; i++) {
        bool in = graph[i] > 0;
        taken += in;
        least_in = in && p[i] < least_in ? p[i] : least_in;
        most_out = !in && p[i] > most_out ? p[i] : most_out;
    }
    for (size_t i = 0; graph && taken == most && most_out <= least_in * (1 + 1e-5) && i < count; i++)
        yes[i] = graph[i] > 0;
}

/* The experts that the router chooses for each token, each times its probability, and the one that all have. */
static void experts(const From *f, const double *x, int n, double *out)
{
    const Seq2seqExperts *e = &f->c->experts;
    size_t d = (size_t)f->c->width, m = (size_t)e->width, count = (size_t)e->count, more = (size_t)e->shared;
    const WeightTensor *gate = tensor(f, SEQ2SEQ_EXPERT_W_GATE), *up = tensor(f, SEQ2SEQ_EXPERT_W_UP),
                       *down = tensor(f, SEQ2SEQ_EXPERT_W_DOWN);
    const DirectMlp all = {.act = f->c->act,
                           .width = d,
                           .hidden = more,
                           .up = tensor(f, SEQ2SEQ_SHARED_W_UP),
                           .gate = tensor(f, SEQ2SEQ_SHARED_W_GATE),
                           .down = tensor(f, SEQ2SEQ_SHARED_W_DOWN)};
    double *p = direct_zeros(count, 1);
    bool *yes = xcalloc(count, sizeof *yes);
    for (size_t t = 0; t < (size_t)n; t++) {
        const double *token = x + t * d;
        double *to = out + t * d, sum = 0, open;
        memset(to, 0, d * sizeof *to);
        direct_linear(tensor(f, SEQ2SEQ_ROUTER_W), NULL, token, 1, d, p, count);
        direct_softmax(p, count);
        choose(p, count, e->chosen, f->chosen ? f->chosen + t * count : NULL, yes);
        for (size_t i = 0; i < count; i++)
            sum += yes[i] ? p[i] : 0;
        for (size_t i = 0; i < count; i++) {
            const size_t at = i * m * d;
            const WeightTensor own[] = {weight_from(gate, at), weight_from(up, at), weight_from(down, at)};
            const DirectMlp one = {
                .act = f->c->act, .width = d, .hidden = m, .gate = &own[0], .up = &own[1], .down = &own[2]};
            if (yes[i])
                add_expert(&one, token, e->normalised ? p[i] / sum : p[i], to);
        }
        if (!more)
            continue;
        direct_linear(tensor(f, SEQ2SEQ_SHARED_W_OPEN), NULL, token, 1, d, &open, 1);
        add_expert(&all, token, map_exact(MAP_SIGMOID, open), to);
    }
    free(p);
    free(yes);
}

/* Which of the sub-layers, its norm, and the second one behind it. */
typedef enum Kind { SELF, CROSS, MLP } Kind;
typedef struct Step {
    Kind kind;
    Seq2seqRole first, gamma, after;
} Step;

/* found[n,d]: what the sub-layer makes of in[n,d]. */
static void make(const From *f, bool decoder, const Step *s, Seq2seqDirectMemory memory, const double *in, int n,
                 double *found)
{
    if (s->kind == MLP && decoder && seq2seq_has_experts(f->c, f->layer))
        experts(f, in, n, found);
    else if (s->kind == MLP)
        mlp(f, s->first, in, n, found);
    else
        attention(f, s->first, in, n, s->kind == CROSS ? memory.x : in, s->kind == CROSS ? memory.n : n,
                  decoder && s->kind == SELF, found);
}

/* x[n,d] in place. Post-norm: LN(x + sublayer(x)); pre-norm: x + sublayer(LN(x)); with a norm behind: x +
 * LN(sublayer(x)), x + LN(sublayer(LN(x))). */
static void sublayer(const From *f, bool decoder, const Step *s, Seq2seqDirectMemory memory, double *x, int n)
{
    const Seq2seqConfig *c = f->c;
    size_t cells = (size_t)n * (size_t)c->width;
    double *in = direct_zeros(cells, 1), *found = direct_zeros(cells, 1);
    if (c->pre_norm && weight(f, s->gamma))
        norm(f, s->gamma, x, n, in);
    else
        memcpy(in, x, cells * sizeof *in);
    make(f, decoder, s, memory, in, n, found);
    if (c->after_norm)
        norm(f, c->pre_norm ? s->after : s->gamma, found, n, found);
    for (size_t i = 0; i < cells; i++)
        x[i] += found[i];
    if (!c->pre_norm && !c->after_norm)
        norm(f, s->gamma, x, n, x);
    free(in);
    free(found);
}

/* x + attention(LN(x)) + MLP(LN′(x)) */
static void side_by_side(const From *f, const Step *self, const Step *then, double *x, int n)
{
    size_t cells = (size_t)n * (size_t)f->c->width;
    double *in = direct_zeros(cells, 1), *found = direct_zeros(cells, 1), *too = direct_zeros(cells, 1);
    norm(f, self->gamma, x, n, in);
    make(f, true, self, (Seq2seqDirectMemory){NULL, 0}, in, n, found);
    if (f->c->parallel == PARALLEL_TWO_NORMS)
        norm(f, then->gamma, x, n, in);
    make(f, true, then, (Seq2seqDirectMemory){NULL, 0}, in, n, too);
    for (size_t i = 0; i < cells; i++)
        x[i] += found[i] + too[i];
    free(in);
    free(found);
    free(too);
}

void seq2seq_direct_block(const Seq2seqConfig *c, const Weights *w, bool decoder, int layer, const float *x, int n,
                          Seq2seqDirectMemory memory, const float *chosen, double *out)
{
    static const Step ENCODER[] = {{.kind = SELF, .first = SEQ2SEQ_ENC_W_Q, .gamma = SEQ2SEQ_ENC_LN1_GAMMA},
                                   {.kind = MLP, .first = SEQ2SEQ_ENC_W_UP, .gamma = SEQ2SEQ_ENC_LN2_GAMMA}},
                      DECODER[] = {{SELF, SEQ2SEQ_DEC_W_Q, SEQ2SEQ_DEC_LN1_GAMMA, SEQ2SEQ_DEC_AFTER1_GAMMA},
                                   {.kind = CROSS, .first = SEQ2SEQ_CROSS_W_Q, .gamma = SEQ2SEQ_DEC_LN2_GAMMA},
                                   {MLP, SEQ2SEQ_DEC_W_UP, SEQ2SEQ_DEC_LN3_GAMMA, SEQ2SEQ_DEC_AFTER2_GAMMA}};
    const From f = {c, w, layer, chosen};
    direct_widen(x, (size_t)n * (size_t)c->width, out);
    if (c->parallel) {
        side_by_side(&f, &DECODER[0], &DECODER[2], out, n);
        return;
    }
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
    const From f = {.c = c, .w = w};
    direct_widen(x, (size_t)n * (size_t)c->width, out);
    if (c->final_norm)
        norm(&f, decoder ? SEQ2SEQ_TARGET_FINAL_GAMMA : SEQ2SEQ_SOURCE_FINAL_GAMMA, out, n, out);
}

void seq2seq_direct_sentence(const Seq2seqConfig *c, const double *x, int n, double *out)
{
    size_t d = (size_t)c->width, rows = c->sentence == SENTENCE_FIRST ? 1 : (size_t)n;
    for (size_t i = 0; i < d; i++) {
        out[i] = 0;
        for (size_t t = 0; t < rows; t++)
            out[i] += x[t * d + i] / (double)rows;
    }
}

void seq2seq_direct_answer(const Seq2seqConfig *c, const Weights *w, const double *x, int n, double *logits,
                           double *probs)
{
    const From f = {.c = c, .w = w};
    bool decoder = seq2seq_has_decoder(c);
    size_t words = (size_t)(decoder ? c->target_words : c->source_words);
    const WeightTensor *table = tensor(&f, c->tied ? seq2seq_embed_role(c, decoder) : SEQ2SEQ_HEAD_W);
    size_t width = (size_t)seq2seq_word_width(c), cells = (size_t)n * width;
    double *y = direct_zeros(cells, 1);
    if (c->transform) {
        linear(&f, SEQ2SEQ_TRANSFORM_W, x, n, (size_t)c->width, y, width);
        for (size_t i = 0; i < cells; i++)
            y[i] = map_exact(c->transform_act, y[i]);
        norm_rows(&f, weight(&f, SEQ2SEQ_TRANSFORM_GAMMA), weight(&f, SEQ2SEQ_TRANSFORM_BETA), y, (size_t)n, width, y);
    } else if (c->word_width && decoder)
        direct_linear(tensor(&f, SEQ2SEQ_TARGET_NARROW_W), NULL, x, (size_t)n, (size_t)c->width, y, width);
    else
        memcpy(y, x, cells * sizeof *y);
    for (size_t i = 0; c->read_scale > 0 && i < cells; i++)
        y[i] *= (double)c->read_scale;
    direct_linear(table, weight(&f, SEQ2SEQ_HEAD_B), y, (size_t)n, width, logits, words);
    free(y);
    for (size_t i = 0; c->logit_cap > 0 && i < (size_t)n * words; i++)
        logits[i] = (double)c->logit_cap * map_exact(MAP_TANH, logits[i] / (double)c->logit_cap);
    memcpy(probs, logits, (size_t)n * words * sizeof *probs);
    for (int t = 0; t < n; t++)
        direct_softmax(probs + (size_t)t * words, words);
}
