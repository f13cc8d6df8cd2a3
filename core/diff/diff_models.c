#include "core/diff/diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/eval/ablation.h"
#include "core/models/family.h"
#include "core/models/text_model.h"

typedef struct Settings {
    DiffSetting *out;
    int count;
} Settings;

static void differ(Settings *s, const char *name, const char *ours, const char *theirs)
{
    if (strcmp(ours, theirs) == 0 || s->count == DIFF_SETTINGS)
        return;
    DiffSetting *d = &s->out[s->count++];
    *d = (DiffSetting){.name = name};
    snprintf(d->ours, sizeof d->ours, "%s", ours);
    snprintf(d->theirs, sizeof d->theirs, "%s", theirs);
}

static void differ_number(Settings *s, const char *name, double ours, double theirs)
{
    char a[64], b[64];
    snprintf(a, sizeof a, "%.7g", ours);
    snprintf(b, sizeof b, "%.7g", theirs);
    differ(s, name, a, b);
}

static void differ_channels(Settings *s, const char *name, const float *ours, const float *theirs, int channels)
{
    char text[2][64] = {"", ""};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < channels && i < 4; i++) {
            size_t used = strlen(text[side]);
            snprintf(text[side] + used, sizeof text[side] - used, "%s%.6g", i ? " " : "",
                     (double)(side ? theirs : ours)[i]);
        }
    differ(s, name, text[0], text[1]);
}

static const char *yes(bool on)
{
    return on ? "yes" : "no";
}

static void shapes(Settings *s, const VitConfig *a, const VitConfig *b)
{
    differ_number(s, "picture height", a->image_h, b->image_h);
    differ_number(s, "picture width", a->image_w, b->image_w);
    differ_number(s, "channels", a->channels, b->channels);
    differ_number(s, "patch height", a->patch_h, b->patch_h);
    differ_number(s, "patch width", a->patch_w, b->patch_w);
    differ_number(s, "width", a->width, b->width);
    differ_number(s, "blocks", a->layers, b->layers);
    differ_number(s, "heads", a->heads, b->heads);
    differ_number(s, "width of a head", a->head_dim, b->head_dim);
    differ_number(s, "MLP width", a->mlp, b->mlp);
    differ_number(s, "classes", a->classes, b->classes);
    differ_number(s, "registers", a->registers, b->registers);
}

static void structure(Settings *s, const VitConfig *a, const VitConfig *b)
{
    static const char *const POSITIONS[] = {[VIT_POS_NONE] = "none",
                                            [VIT_POS_ALL] = "every token",
                                            [VIT_POS_BEFORE_REGISTERS] = "all but registers",
                                            [VIT_POS_PATCHES] = "patches only"};
    static const char *const POOLS[] = {[VIT_POOL_CLS] = "class token",
                                        [VIT_POOL_MEAN] = "mean of the patches",
                                        [VIT_POOL_CLS_DIST] = "class and distillation tokens",
                                        [VIT_POOL_NONE] = "none",
                                        [VIT_POOL_BOTH] = "class token and mean of the patches",
                                        [VIT_POOL_ATTENTION] = "attention pooling"};
    static const char *const ROPES[] = {[VIT_ROPE_NONE] = "none",
                                        [VIT_ROPE_CENTRES] = "by the patches' centres",
                                        [VIT_ROPE_STEPS] = "by the patches' numbers",
                                        [VIT_ROPE_LEARNED] = "with learned frequencies"};
    static const char *const BIASES[] = {[VIT_BIAS_NONE] = "none",
                                         [VIT_BIAS_BLOCKS] = "a table for every block",
                                         [VIT_BIAS_SHARED] = "one table for all blocks"};
    differ(s, "rotary positions", ROPES[a->rope], ROPES[b->rope]);
    differ(s, "pairs of a rotation", a->rope_half ? "halves" : "neighbours", b->rope_half ? "halves" : "neighbours");
    differ(s, "relative positions", BIASES[a->bias], BIASES[b->bias]);
    differ(s, "activation", map_name(a->act), map_name(b->act));
    differ(s, "kind of norm", vit_norm_word(a), vit_norm_word(b));
    differ_number(s,
                  a->rms_norm != b->rms_norm ? "ε of the norms"
                  : a->rms_norm              ? "ε of RMSNorm"
                                             : "ε of LayerNorm",
                  (double)a->eps, (double)b->eps);
    differ_number(s, "factor on the scores", (double)a->scale, (double)b->scale);
    differ(s, "norms after the addition", yes(a->post_norm), yes(b->post_norm));
    differ(s, "positions", POSITIONS[a->pos], POSITIONS[b->pos]);
    differ(s, "read out from", POOLS[a->pool], POOLS[b->pool]);
    differ(s, "bias of q, k, v", yes(a->qkv_bias), yes(b->qkv_bias));
    differ(s, "layer scale", yes(a->layer_scale), yes(b->layer_scale));
    differ(s, "norm before the blocks", yes(a->norm_pre), yes(b->norm_pre));
    differ(s, "norm at the end", yes(a->final_norm), yes(b->final_norm));
    differ(s, "norm after the read-out", yes(a->fc_norm), yes(b->fc_norm));
    differ(s, "norms on the branches", yes(a->branch_norm), yes(b->branch_norm));
    differ(s, "norm after the patch embedding", yes(a->patch_norm), yes(b->patch_norm));
    differ(s, "norm inside attention", yes(a->merged_norm), yes(b->merged_norm));
    differ(s, "norm inside the MLP", yes(a->hidden_norm), yes(b->hidden_norm));
}

static const char *positions_of(const Seq2seqConfig *c)
{
    static const char *const WORDS[] = {
        [SEQ2SEQ_POS_ROPE] = "rotary", [SEQ2SEQ_POS_ALIBI] = "ALiBi", [SEQ2SEQ_POS_NONE] = "none"};
    return c->pos != SEQ2SEQ_POS_ADDED ? WORDS[c->pos] : c->learned_positions ? "learned" : "sinusoids";
}

/* What came after the original Transformer. */
static void newer_settings(Settings *s, const Seq2seqConfig *a, const Seq2seqConfig *b)
{
    static const char *const HEAD_NORMS[] = {"none", "in every head", "over all heads"};
    static const char *const PARALLEL[] = {"no", "with two norms", "with one norm"};
    differ(s, "positions", positions_of(a), positions_of(b));
    differ_number(s, "heads of keys and values", seq2seq_key_heads(a), seq2seq_key_heads(b));
    differ_number(s, "base of the rotations", (double)a->rope.base, (double)b->rope.base);
    differ_number(s, "numbers of a head that are rotated", seq2seq_rotated(a), seq2seq_rotated(b));
    differ(s, "pairs of a rotation", a->rope.half ? "halves" : "neighbours", b->rope.half ? "halves" : "neighbours");
    differ_number(s, "factor of the rotations' scaling", (double)a->rope.factor, (double)b->rope.factor);
    differ_number(s, "tokens from which the rotations' scaling counts", (double)a->rope.trained,
                  (double)b->rope.trained);
    differ(s, "kind of norm", a->rms_norm ? "RMSNorm" : "LayerNorm", b->rms_norm ? "RMSNorm" : "LayerNorm");
    differ(s, "norms have a beta", yes(!a->bare_norm), yes(!b->bare_norm));
    differ(s, "a norm of the embedding", yes(a->embed_norm), yes(b->embed_norm));
    differ(s, "norms stretch by 1 + gamma", yes(a->gamma_plus), yes(b->gamma_plus));
    differ(s, "norms behind the sub-layers", yes(a->after_norm), yes(b->after_norm));
    differ(s, "norms of queries and keys", HEAD_NORMS[a->head_norm], HEAD_NORMS[b->head_norm]);
    differ(s, "attention and MLP side by side", PARALLEL[a->parallel], PARALLEL[b->parallel]);
    differ(s, "learned sinks of the heads", yes(a->sinks), yes(b->sinks));
    differ(s, "gated MLP", yes(a->gated), yes(b->gated));
    differ_number(s, "window", a->window, b->window);
    differ(s, "a norm before the first attention", yes(!a->first_bare), yes(!b->first_bare));
    differ_number(s, "soft cap of the scores", (double)a->score_cap, (double)b->score_cap);
    differ_number(s, "soft cap of the logits", (double)a->logit_cap, (double)b->logit_cap);
}

static int text_settings(const Seq2seqConfig *a, const Seq2seqConfig *b, DiffSetting out[DIFF_SETTINGS])
{
    static const char *const FORMS[] = {[SEQ2SEQ_BOTH] = "encoder and decoder",
                                        [SEQ2SEQ_DECODER_ONLY] = "decoder alone",
                                        [SEQ2SEQ_ENCODER_ONLY] = "encoder alone"};
    Settings s = {.out = out};
    differ(&s, "form", FORMS[a->form], FORMS[b->form]);
    differ_number(&s, "words of the source", a->source_words, b->source_words);
    differ_number(&s, "words of the target", a->target_words, b->target_words);
    differ_number(&s, "width", a->width, b->width);
    differ_number(&s, "heads", a->heads, b->heads);
    differ_number(&s, "width of a head", a->head_dim, b->head_dim);
    differ_number(&s, "MLP width", a->mlp, b->mlp);
    differ_number(&s, "blocks of the encoder", a->encoder_layers, b->encoder_layers);
    differ_number(&s, "blocks of the decoder", a->decoder_layers, b->decoder_layers);
    differ(&s, "activation", map_name(a->act), map_name(b->act));
    differ_number(&s, "ε of LayerNorm", (double)a->eps, (double)b->eps);
    differ_number(&s, "factor on the scores", (double)a->scale, (double)b->scale);
    differ_number(&s, "factor on the embeddings", (double)a->embed_scale, (double)b->embed_scale);
    newer_settings(&s, a, b);
    differ(&s, "LayerNorm after the addition", yes(!a->pre_norm), yes(!b->pre_norm));
    differ(&s, "LayerNorm at the end", yes(a->final_norm), yes(b->final_norm));
    differ(&s, "answer's weights are the embedding's", yes(a->tied), yes(b->tied));
    return s.count;
}

int diff_settings(const Model *ours, const Model *theirs, DiffSetting out[DIFF_SETTINGS])
{
    const VitConfig *a = &ours->vit, *b = &theirs->vit;
    Settings s = {.out = out};
    char how[2][160];
    if (model_way(ours))
        return text_settings(&ours->text, &theirs->text, out);
    shapes(&s, a, b);
    structure(&s, a, b);
    differ(&s, "standardised by", a->input == VIT_INPUT_PER_IMAGE ? "the picture itself" : "mean and deviation",
           b->input == VIT_INPUT_PER_IMAGE ? "the picture itself" : "mean and deviation");
    if (a->input == VIT_INPUT_STANDARD && b->input == VIT_INPUT_STANDARD && a->channels == b->channels) {
        differ_number(&s, "pixels divided by", (double)a->range, (double)b->range);
        differ_channels(&s, "pixel mean", a->mean, b->mean, a->channels);
        differ_channels(&s, "pixel standard deviation", a->std, b->std, a->channels);
    }
    differ(&s, "picture", preprocess_text(&ours->preprocess, how[0], sizeof how[0]),
           preprocess_text(&theirs->preprocess, how[1], sizeof how[1]));
    return s.count;
}

/* --- weights --- */

static bool is_rounded(const float *exact, const float *rounded, size_t cells)
{
    for (size_t i = 0; i < cells; i++) {
        float bf, f16;
        precision_round(PRECISION_BF16, &exact[i], &bf, 1);
        precision_round(PRECISION_F16, &exact[i], &f16, 1);
        if (rounded[i] != bf && rounded[i] != f16)
            return false;
    }
    return true;
}

static void note(DiffWeights *w, const char *path, const char *what, int lines, Buf *out)
{
    if (!w->different++)
        snprintf(w->first, sizeof w->first, "%s", path);
    if (out && w->different <= lines)
        buf_printf(out, "  %-28s %s\n", path, what);
}

static void compare_weight(DiffWeights *w, const WeightTensor *a, const WeightTensor *b, size_t cells, const char *path,
                           double tolerance, int lines, Buf *out)
{
    Arena room = {0};
    const float *x = weight_all_floats(a, cells, &room), *y = weight_all_floats(b, cells, &room);
    DiffFigures f = diff_figures(x, y, cells, tolerance);
    bool rounded = f.any && (is_rounded(x, y, cells) || is_rounded(y, x, cells));
    arena_free(&room);
    w->compared++;
    if (!f.any)
        return;
    char what[120];
    utf8_print(what, sizeof what, "largest error %.1e, rms %.1e, cosine %.5f%s", f.largest, f.rms, f.cosine,
               rounded ? " (rounding)" : "");
    w->rounded = w->rounded && rounded;
    note(w, path, what, lines, out);
}

DiffWeights diff_weights(const Model *ours, const Model *theirs, double tolerance, int lines, Buf *out)
{
    DiffWeights w = {.rounded = true};
    WeightPlace a = {0}, b = {0};
    char path[160];
    for (bool more = model_weight(ours, &a), others = model_weight(theirs, &b); more || others;) {
        bool here = more && (!others || a.order <= b.order), there = others && (!more || b.order <= a.order);
        ours->family->weight_path(ours, here ? &a : &b, path, sizeof path);
        if (here && there && a.cells == b.cells)
            compare_weight(&w, a.at, b.at, a.cells, path, tolerance, lines, out);
        else {
            w.rounded = false;
            note(&w, path, !there ? "only here" : !here ? "only there" : "of another size", lines, out);
        }
        more = here ? model_weight(ours, &a) : more;
        others = there ? model_weight(theirs, &b) : others;
    }
    w.rounded = w.rounded && w.different;
    return w;
}

/* --- how far two tensors are apart --- */

/* The difference of two cells: 0 for equal infinities and NaN in both, ∞ where only one is a number. */
static double apart(float a, float b)
{
    if (isfinite(a) && isfinite(b))
        return fabs((double)a - (double)b);
    return a == b || (isnan(a) && isnan(b)) ? 0 : HUGE_VAL;
}

DiffFigures diff_figures(const float *ours, const float *theirs, size_t cells, double tolerance)
{
    DiffFigures f = {.cosine = 1};
    double scale = 0, squares = 0, ours2 = 0, theirs2 = 0, dot = 0, most = 0;
    for (size_t i = 0; i < cells; i++)
        if (isfinite(theirs[i]) && fabs((double)theirs[i]) > scale)
            scale = fabs((double)theirs[i]);
    for (size_t i = 0; scale == 0 && i < cells; i++) /* a reference of zeros: relative to what we have instead */
        if (isfinite(ours[i]) && fabs((double)ours[i]) > most)
            most = fabs((double)ours[i]);
    scale = scale > 0 ? scale : most;
    for (size_t i = 0; i < cells; i++) {
        double d = apart(ours[i], theirs[i]);
        if (d > f.largest) {
            f.largest = d;
            f.worst = i;
        }
        if (!f.any && d > tolerance * scale) {
            f.any = true;
            f.first = i;
        }
        squares += d * d;
        f.nan_ours += isnan(ours[i]) && !isnan(theirs[i]);
        f.nan_theirs += isnan(theirs[i]) && !isnan(ours[i]);
        f.inf_ours += isinf(ours[i]) && isfinite(theirs[i]);
        f.inf_theirs += isinf(theirs[i]) && isfinite(ours[i]);
        if (!isfinite(ours[i]) || !isfinite(theirs[i]))
            continue;
        f.numbers++;
        ours2 += (double)ours[i] * (double)ours[i];
        theirs2 += (double)theirs[i] * (double)theirs[i];
        dot += (double)ours[i] * (double)theirs[i];
    }
    if (scale > 0 && f.largest > 0) {
        double base = theirs2 > 0 ? theirs2 : ours2;
        f.largest /= scale;
        f.rms = base > 0 ? sqrt(squares / base) : HUGE_VAL;
    }
    if (f.nan_ours || f.nan_theirs)
        f.cosine = (double)NAN;
    else if (ours2 > 0 || theirs2 > 0)
        f.cosine = ours2 > 0 && theirs2 > 0 ? dot / sqrt(ours2 * theirs2) : 0;
    return f;
}

DiffFigures diff_tensor_figures(const float *ours, const DiffTensor *t, size_t cells, double tolerance)
{
    DiffFigures f = diff_figures(ours + t->skip, t->values + t->skip, cells - t->skip, tolerance);
    f.first += t->skip;
    f.worst += t->skip;
    return f;
}
