/* Mistakes in the computation: values that the test makes otherwise, block after block. */
#ifndef VITRINE_TESTS_CORE_DIFF_PLANTS_VALUES_H
#define VITRINE_TESTS_CORE_DIFF_PLANTS_VALUES_H
#include "tests/core_diff/planting.h"

#define EACH_BLOCK(p, a, l)                                                                                            \
    for (int l = 0; l < (p)->c->layers; l++)                                                                           \
        if (in_block(a, l))

/* --- the answer --- */

static void read_mean(Plot *p, const Arg *a)
{
    const float *x = planted(p, "ln_final.out");
    int d = p->c->width, tokens = vit_tokens(p->c);
    float *out = plant_values(p, "readout");
    for (int i = 0; i < d; i++) {
        double sum = 0;
        for (int t = a->n; t < tokens; t++)
            sum += (double)x[t * d + i];
        out[i] = (float)(sum / (tokens - a->n));
    }
}
static void read_token(Plot *p, const Arg *a)
{
    int tokens = vit_tokens(p->c), d = p->c->width;
    const float *x = planted(p, "ln_final.out") + (a->n < 0 ? tokens + a->n : a->n) * d;
    memcpy(plant_values(p, "readout"), x, (size_t)d * sizeof *x);
}
static void read_largest(Plot *p, const Arg *a) /* max pooling: nobody's cause */
{
    (void)a;
    const float *x = planted(p, "ln_final.out");
    float *out = plant_values(p, "readout");
    for (int i = 0; i < p->c->width; i++) {
        out[i] = x[i];
        for (int t = 1; t < vit_tokens(p->c); t++)
            out[i] = fmaxf(out[i], x[t * p->c->width + i]);
    }
}
static void no_final_norm(Plot *p, const Arg *a)
{
    (void)a;
    plant(p, EDIT_REDIRECT, "ln_final.out")->other = path_in(p, p->c->layers - 1, "resid_post");
}
static void final_norm_twice(Plot *p, const Arg *a)
{
    (void)a;
    const float *x = planted(p, "ln_final.out"), *gamma = bench_values(&p->s->bench, "ln_final.gamma"),
                *beta = bench_values(&p->s->bench, "ln_final.beta");
    float *out = plant_values(p, "ln_final.out");
    size_t d = (size_t)p->c->width;
    for (int t = 0; t < vit_tokens(p->c); t++) {
        double mean = 0, variance = 0;
        for (size_t i = 0; i < d; i++)
            mean += (double)x[(size_t)t * d + i] / (double)d;
        for (size_t i = 0; i < d; i++)
            variance += pow((double)x[(size_t)t * d + i] - mean, 2) / (double)d;
        for (size_t i = 0; i < d; i++)
            out[(size_t)t * d + i] = (float)(((double)x[(size_t)t * d + i] - mean) /
                                                 sqrt(variance + (double)p->c->eps) * (double)gamma[i] +
                                             (double)beta[i]);
    }
}
static void shares(Plot *p, const Arg *a)
{
    const float *x = planted(p, "logits");
    float *out = plant_values(p, "logits");
    double sum = 0;
    for (int i = 0; i < p->c->classes; i++)
        sum += exp((double)x[i]);
    for (int i = 0; i < p->c->classes; i++)
        out[i] = (float)(a->n == 0   ? exp((double)x[i]) / sum
                         : a->n == 1 ? (double)x[i] - log(sum)
                                     : 1 / (1 + exp(-(double)x[i])));
}
static void warm_logits(Plot *p, const Arg *a) /* a temperature: nobody's cause */
{
    plant(p, EDIT_SCALE, "logits")->factor = (float)a->x;
}

/* --- norms --- */

static void exchange_norm(Plot *p, const char *scope)
{
    const char *gamma = arena_printf(&p->arena, "%s.gamma", scope), *beta = arena_printf(&p->arena, "%s.beta", scope);
    plant(p, EDIT_VALUES, gamma)->data = bench_values(&p->s->bench, beta);
    plant(p, EDIT_VALUES, beta)->data = bench_values(&p->s->bench, gamma);
}
static void gamma_beta(Plot *p, const Arg *a)
{
    EACH_BLOCK(p, a, l)
    {
        exchange_norm(p, path_in(p, l, "ln1"));
        exchange_norm(p, path_in(p, l, "ln2"));
    }
    if (a->block == EVERYWHERE)
        exchange_norm(p, "ln_final");
}
static void rms_norm(Plot *p, const Arg *a)
{
    EACH_BLOCK(p, a, l)
    {
        plant(p, EDIT_SET, path_in(p, l, "ln1.mean"));
        plant(p, EDIT_SET, path_in(p, l, "ln2.mean"));
    }
    if (a->block == EVERYWHERE)
        plant(p, EDIT_SET, "ln_final.mean");
}
static void outside(Plot *p, const char *scope)
{
    const char *path = arena_printf(&p->arena, "%s.rstd", scope);
    const float *var = planted(p, arena_printf(&p->arena, "%s.var", scope));
    float *out = plant_values(p, path);
    for (size_t i = 0; i < cells_of(p, path); i++)
        out[i] = (float)(1 / (sqrt((double)var[i]) + (double)p->c->eps));
}
static void eps_outside(Plot *p, const Arg *a)
{
    EACH_BLOCK(p, a, l)
    {
        outside(p, path_in(p, l, "ln1"));
        outside(p, path_in(p, l, "ln2"));
    }
    if (a->block == EVERYWHERE)
        outside(p, "ln_final");
}

/* --- places --- */

/* Patches in front, the class token behind; n: each token keeps its own position; m: token 0 is read all the same. */
static void class_last(Plot *p, const Arg *a)
{
    int tokens = vit_tokens(p->c), d = p->c->width;
    const char *path = a->n ? "full_embed" : "tokens";
    const float *x = planted(p, path);
    float *out = plant_values(p, path);
    memcpy(out, x + d, (size_t)((tokens - 1) * d) * sizeof *x);
    memcpy(out + (tokens - 1) * d, x, (size_t)d * sizeof *x);
    if (!a->m)
        read_token(p, &(Arg){.n = -1});
}
static void rope_lost(Plot *p, const Arg *a) /* n: 1 of q alone, 2 of k alone, 3 of both */
{
    EACH_BLOCK(p, a, l)
    {
        if (a->n & 1)
            plant(p, EDIT_REDIRECT, path_in(p, l, "attn.q_turned"))->other = path_in(p, l, "attn.q");
        if (a->n & 2)
            plant(p, EDIT_REDIRECT, path_in(p, l, "attn.k_turned"))->other = path_in(p, l, "attn.k");
    }
}

/* --- attention --- */

static void v_is_k(Plot *p, const Arg *a)
{
    EACH_BLOCK(p, a, l) plant(p, EDIT_REDIRECT, path_in(p, l, "attn.v"))->other = path_in(p, l, "attn.k");
}
static void v_unnormed(Plot *p, const Arg *a)
{
    EACH_BLOCK(p, a, l)
    {
        const VitConfig *c = p->c;
        const float *in = planted(p, path_in(p, l, "resid_pre")),
                    *w = bench_values(&p->s->bench, path_in(p, l, "attn.w_v")),
                    *b = bench_values(&p->s->bench, path_in(p, l, "attn.b_v"));
        int all = c->heads * c->head_dim;
        float *out = plant_values(p, path_in(p, l, "attn.v"));
        for (int t = 0; t < vit_tokens(c); t++)
            for (int o = 0; o < all; o++) {
                double sum = (double)b[o];
                for (int d = 0; d < c->width; d++)
                    sum += (double)w[o * c->width + d] * (double)in[t * c->width + d];
                out[t * all + o] = (float)sum;
            }
    }
}
/* z as [t,h,e] laid down in another order and read as if nothing had happened; n names the order. */
static void merged(Plot *p, const Arg *a)
{
    EACH_BLOCK(p, a, l)
    {
        const char *path = path_in(p, l, "attn.z");
        const float *z = planted(p, path);
        float *out = plant_values(p, path);
        int T = vit_tokens(p->c), H = p->c->heads, E = p->c->head_dim;
        for (int t = 0; t < T; t++)
            for (int h = 0; h < H; h++)
                for (int e = 0; e < E; e++) {
                    const int to[] = {(h * T + t) * E + e, (h * E + e) * T + t, (t * E + e) * H + h,
                                      (e * T + t) * H + h, (e * H + h) * T + t};
                    out[to[a->n]] = z[(t * H + h) * E + e];
                }
    }
}
static void late_scale(Plot *p, const Arg *a) /* n: and it stays before it too */
{
    EACH_BLOCK(p, a, l)
    {
        if (!a->n)
            plant(p, EDIT_SET, path_in(p, l, "attn.scale"))->value = 1;
        plant(p, EDIT_SCALE, path_in(p, l, "attn.pattern"))->factor = p->c->scale;
    }
}
static void scale_lost(Plot *p, const Arg *a)
{
    EACH_BLOCK(p, a, l) plant(p, EDIT_SET, path_in(p, l, "attn.scale"))->value = (float)a->x;
}
static void other_softmax(Plot *p, const Arg *a)
{
    EACH_BLOCK(p, a, l)
    {
        const float *x = planted(p, path_in(p, l, "attn.scores_scaled"));
        float *out = plant_values(p, path_in(p, l, "attn.pattern"));
        int T = vit_tokens(p->c);
        for (int h = 0; h < p->c->heads; h++)
            for (int u = 0; u < T; u++) {
                double sum = 0;
                for (int t = 0; t < T; t++)
                    sum += exp((double)x[(h * T + t) * T + u]);
                for (int t = 0; t < T; t++)
                    out[(h * T + t) * T + u] = (float)(exp((double)x[(h * T + t) * T + u]) / sum);
            }
    }
}
static bool later(const void *context, const int index[DIMS_MAX])
{
    (void)context;
    return index[1] > index[0];
}
static void causal(Plot *p, const Arg *a)
{
    EACH_BLOCK(p, a, l) plant(p, EDIT_MASK, path_in(p, l, "attn.scores_scaled"))->choose = later;
}
static void half(Plot *p, const Arg *a) /* n: the type; m: 1 the softmax alone, 2 its scores */
{
    static const char *const NODES[] = {"scores_scaled", "pattern", "q", "k", "v", "scores_raw", "z"};
    EACH_BLOCK(p, a, l)
    for (size_t i = 0; i < (a->m ? 3 - (size_t)a->m : sizeof NODES / sizeof *NODES); i++)
        plant(p, EDIT_MAP, path_in(p, l, arena_printf(&p->arena, "attn.%s", NODES[i])))->map = a->n == PRECISION_BF16
                                                                                                   ? MAP_ROUND_BF16
                                                                                                   : MAP_ROUND_F16;
}
static void half_steps(Plot *p, const Arg *a) /* of the softmax, n: the type; m: sums after every addition */
{
    const MapFn to = a->n == PRECISION_BF16 ? MAP_ROUND_BF16 : MAP_ROUND_F16;
    EACH_BLOCK(p, a, l)
    {
        const float *s = planted(p, path_in(p, l, "attn.scores_scaled"));
        const size_t keys = (size_t)vit_tokens(p->c), rows = cells_of(p, path_in(p, l, "attn.pattern")) / keys;
        float *share = plant_values(p, path_in(p, l, "attn.pattern"));
        for (size_t row = 0; row < rows; row++, s += keys, share += keys) {
            float most = s[0], sum = 0;
            for (size_t u = 0; u < keys; u++)
                most = s[u] > most ? s[u] : most;
            for (size_t u = 0; u < keys; u++) {
                share[u] = map_apply(to, expf(map_apply(to, map_apply(to, s[u]) - map_apply(to, most))));
                sum = a->m ? map_apply(to, sum + share[u]) : sum + share[u];
            }
            for (size_t u = 0; u < keys; u++)
                share[u] = map_apply(to, share[u] / map_apply(to, sum));
        }
    }
}
static void one_head_off(Plot *p, const Arg *a) /* nobody's cause */
{
    const char *path = path_in(p, a->block, "attn.z");
    const float *z = planted(p, path);
    float *out = plant_values(p, path);
    size_t cells = cells_of(p, path), e = (size_t)p->c->head_dim, h = (size_t)p->c->heads;
    for (size_t i = 0; i < cells; i++)
        out[i] = i / e % h == (size_t)a->n ? z[i] * (float)a->x : z[i];
}

/* --- the residual stream and the MLP --- */

static void normed_residual(Plot *p, const Arg *a) /* n: around the MLP; 2: from the block's input */
{
    EACH_BLOCK(p, a, l)
    {
        const char *path = path_in(p, l, a->n ? "resid_post" : "resid_mid");
        const float *x = planted(p, path_in(p, l,
                                            a->n > 1 ? "resid_pre"
                                            : a->n   ? "ln2.out"
                                                     : "ln1.out")),
                    *y = planted(p, path_in(p, l, a->n ? "mlp.out" : "attn.out"));
        float *out = plant_values(p, path);
        for (size_t i = 0; i < cells_of(p, path); i++)
            out[i] = x[i] + y[i];
    }
}
static void no_residual(Plot *p, const Arg *a) /* n: the sub-layer is left away instead */
{
    EACH_BLOCK(p, a, l)
    {
        plant(p, EDIT_REDIRECT, path_in(p, l, "resid_mid"))->other = path_in(p, l, a->n ? "resid_pre" : "attn.out");
        plant(p, EDIT_REDIRECT, path_in(p, l, "resid_post"))->other = path_in(p, l, a->n ? "resid_mid" : "mlp.out");
    }
}
static void dropout_on(Plot *p, const char *path, double share)
{
    const float *x = planted(p, path);
    float *out = plant_values(p, path);
    uint32_t state = 5;
    for (size_t i = 0; i < cells_of(p, path); i++)
        out[i] = noise(&state) < share ? 0 : (float)((double)x[i] / (1 - share));
}
static void branch_factor(Plot *p, const Arg *a) /* n: 0 the MLP's, 1 attention's, 2 both */
{
    EACH_BLOCK(p, a, l)
    for (int mlp = 0; mlp < 2; mlp++) {
        if (a->n < 2 && a->n == mlp)
            continue;
        const char *sum = path_in(p, l, mlp ? "resid_post" : "resid_mid");
        const float *stream = planted(p, path_in(p, l, mlp ? "resid_mid" : "resid_pre")),
                    *branch = planted(p, path_in(p, l, mlp ? "mlp.out" : "attn.out"));
        float *out = plant_values(p, sum);
        for (size_t i = 0; i < cells_of(p, sum); i++)
            out[i] = (float)((double)stream[i] + a->x * (double)branch[i]);
    }
}
static void lost_norm(Plot *p, const Arg *a) /* n: 1 in front of attention, 2 of the MLP, 3 of both */
{
    EACH_BLOCK(p, a, l)
    {
        if (a->n & 1)
            plant(p, EDIT_REDIRECT, path_in(p, l, "ln1.out"))->other = path_in(p, l, "resid_pre");
        if (a->n & 2)
            plant(p, EDIT_REDIRECT, path_in(p, l, "ln2.out"))->other = path_in(p, l, "resid_mid");
    }
}
static void dropout(Plot *p, const Arg *a)
{
    static const char *const NODES[] = {"mlp.post", "attn.out", "attn.pattern", "mlp.out"};
    if (a->n < 0)
        dropout_on(p, "full_embed", a->x);
    else
        EACH_BLOCK(p, a, l) dropout_on(p, path_in(p, l, NODES[a->n]), a->x);
}
static void other_act(Plot *p,
                      const Arg *a) /* of one block; 0: none, 1: ReLU, 2: LeakyReLU (nobody's cause), 3: tanh */
{
    EACH_BLOCK(p, a, l)
    {
        const char *path = path_in(p, l, "mlp.post");
        const float *pre = planted(p, path_in(p, l, "mlp.pre"));
        float *out = plant_values(p, path);
        for (size_t i = 0; i < cells_of(p, path); i++) {
            const float by[] = {pre[i], pre[i] > 0 ? pre[i] : 0, pre[i] > 0 ? pre[i] : pre[i] * 0.01f,
                                (float)tanh((double)pre[i])};
            out[i] = by[a->n];
        }
    }
}

/* --- the picture --- */

typedef enum Turned { MIRRORED, UPSIDE_DOWN, BGR, NEGATIVE } Turned;
static void turned(Plot *p, const Arg *a)
{
    const VitConfig *c = p->c;
    const float *image = bench_values(&p->s->bench, "image");
    int rows = c->image_h, cols = c->image_w;
    float *x = plant_values(p, "image");
    for (int ch = 0; ch < 3; ch++)
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < cols; k++) {
                int from_c = a->n == BGR ? 2 - ch : ch, from_r = a->n == UPSIDE_DOWN ? rows - 1 - r : r,
                    from_k = a->n == MIRRORED ? cols - 1 - k : k;
                float v = image[(from_c * rows + from_r) * cols + from_k];
                x[(ch * rows + r) * cols + k] = a->n == NEGATIVE ? -v : v;
            }
}
static double key(double x)
{
    x = fabs(x);
    return x < 1 ? (1.25 * x - 2.25) * x * x + 1 : x < 2 ? ((-0.75 * x + 3.75) * x - 6) * x + 3 : 0;
}
/* Bilinear (n = 0) or bicubic at the centres alone, as torch does it without antialias; m: rounded to whole values. */
static void not_smoothed(Plot *p, const Arg *a)
{
    const VitConfig *c = p->c;
    const Image *im = &p->s->picture;
    float *x = plant_values(p, "image");
    for (int ch = 0; ch < 3; ch++)
        for (int r = 0; r < c->image_h; r++)
            for (int k = 0; k < c->image_w; k++) {
                double sy = (r + 0.5) * im->height / c->image_h - 0.5, sx = (k + 0.5) * im->width / c->image_w - 0.5,
                       sum = 0;
                for (int i = (int)floor(sy) - 1; i <= (int)floor(sy) + 2; i++)
                    for (int j = (int)floor(sx) - 1; j <= (int)floor(sx) + 2; j++) {
                        double w = a->n ? key(sy - i) * key(sx - j)
                                        : fmax(0, 1 - fabs(sy - i)) * fmax(0, 1 - fabs(sx - j));
                        int y = i < 0             ? 0
                                : i >= im->height ? im->height - 1
                                                  : i,
                            q = j < 0            ? 0
                                : j >= im->width ? im->width - 1
                                                 : j;
                        sum += w * im->data[(y * im->width + q) * 3 + ch];
                    }
                if (a->m)
                    sum = fmin(255, fmax(0, floor(sum + 0.5)));
                x[(ch * c->image_h + r) * c->image_w + k] = ((float)sum / c->range - c->mean[ch]) / c->std[ch];
            }
}
static void statistics(Plot *p, const Arg *a)
{
    static const double MEAN[] = {0.485, 0.456, 0.406}, STD[] = {0.229, 0.224, 0.225};
    const VitConfig *c = p->c;
    size_t plane = (size_t)c->image_h * (size_t)c->image_w;
    float *x = plant_values(p, "image");
    for (size_t i = 0; i < 3 * plane; i++) {
        double unit = (double)p->s->bench.pixels[i] / 255;
        x[i] = (float)(a->n == 0 ? (unit - MEAN[i / plane]) / STD[i / plane] : a->n == 1 ? unit : 255 * unit);
    }
}
/* The patches' embeddings in another order: by columns, from below, backwards. */
static void patches(Plot *p, const Arg *a) /* m: behind the embedding, when the class token is put in front */
{
    size_t front = a->m ? (size_t)vit_prefix(p->c) * (size_t)p->c->width : 0, bytes = front * sizeof(float);
    const char *path = a->m ? "tokens" : "patch_embed";
    const float *from = planted(p, path) + front;
    float *x = plant_values(p, path);
    memcpy(x, from - front, bytes);
    x += front;
    int rows = p->c->image_h / p->c->patch_h, cols = p->c->image_w / p->c->patch_w, d = p->c->width;
    for (int y = 0; y < rows; y++)
        for (int k = 0; k < cols; k++) {
            const int source[] = {k * cols + y, (rows - 1 - y) * cols + k, rows * cols - 1 - (y * cols + k)};
            memcpy(x + (y * cols + k) * d, from + source[a->n] * d, (size_t)d * sizeof *x);
        }
}
/* A patch flattened row, column, channel. */
static void flattened(Plot *p, const Arg *a)
{
    (void)a;
    const VitConfig *c = p->c;
    const float *w = bench_values(&p->s->bench, "patch_embed.weight");
    float *out = plant_values(p, "patch_embed.weight");
    int h = c->patch_h, k = c->patch_w, flat = 3 * h * k;
    for (int d = 0; d < c->width; d++)
        for (int ch = 0; ch < 3; ch++)
            for (int i = 0; i < h; i++)
                for (int j = 0; j < k; j++)
                    out[d * flat + (ch * h + i) * k + j] = w[d * flat + (i * k + j) * 3 + ch];
}
#endif
