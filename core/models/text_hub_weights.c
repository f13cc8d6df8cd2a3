/* The tensors of a text model from the hub. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/io/tensors.h"
#include "core/models/checkpoint.h"
#include "core/models/family.h"
#include "core/models/text_hub.h"

enum { NAME = 200 };

/* Where a weight lies: in rows [from, from + outputs) of a tensor of `total` outputs, or head by head. */
typedef struct Stored {
    char name[NAME];
    size_t outputs, inputs; /* of the weight; inputs 0: it is a vector */
    size_t total, from;
    size_t head, step; /* not 0: every `head` outputs lie `step` behind those before */
    bool turned;       /* [inputs, outputs] */
} Stored;

typedef struct Reading {
    Model *m;
    const HubFamily *family;
    const TensorFile *file;
    const char *prefix;
    bool *used;
    Err *err;
} Reading;

/* The first %d of the pattern is the block, the second one the expert. */
static void put_name(char out[NAME], const char *prefix, const char *pattern, size_t n, int layer, int expert)
{
    bool bare = *pattern == '/';
    const char *at = pattern + bare, *end = pattern + n;
    utf8_print(out, NAME, "%s", bare ? "" : prefix);
    for (int number = layer; at < end; number = expert) {
        const char *mark = memchr(at, '%', (size_t)(end - at)), *to = mark ? mark : end;
        char *tail = out + strlen(out);
        utf8_print(tail, NAME - strlen(out), "%.*s", (int)(to - at), at);
        tail += strlen(tail);
        if (mark)
            utf8_print(tail, NAME - strlen(out), "%d", number);
        at = mark ? mark + 2 : end;
    }
}

/* A weight of all experts lies in as many tensors. */
static bool of_experts(const WeightPlace *w)
{
    return *w->axes == 'x' && w->rank == 3;
}

/* Outputs and inputs of a weight by its axes: those of q, k and v are [heads, width of a head, inputs], those of all
 * experts [experts, outputs of one, inputs]. */
static void split(const WeightPlace *w, Stored *s)
{
    bool heads = of_experts(w) || (strchr(w->axes, 'e') && (*w->axes == 'h' || *w->axes == 'g'));
    s->outputs = heads && w->rank > 1 ? w->shape[0] * w->shape[1] : w->shape[0];
    s->inputs = w->cells / s->outputs;
    if (w->rank == 1 || (heads && w->rank == 2))
        s->inputs = 0;
}

/* Does what stands behind # have that letter? */
static bool told(const char *how, char letter)
{
    return memchr(how, letter, strcspn(how, "|")) != NULL;
}

/* The part behind #: see HubFamily.names. */
static void find_part(const Reading *k, const WeightPlace *w, const char *how, Stored *s)
{
    const Seq2seqConfig *c = &k->m->text;
    size_t e = (size_t)c->head_dim, q = (size_t)c->heads * e, kv = (size_t)seq2seq_key_heads(c) * e;
    s->total = s->outputs;
    s->turned = told(how, 'T');
    if (*how >= '0' && *how <= '9') {
        const size_t parts = (size_t)(how[2] - '0'), one = of_experts(w) ? w->shape[1] : s->outputs;
        s->total = parts * s->outputs;
        s->from = (size_t)(*how - '0') * one;
        s->head = of_experts(w) ? one : 0;
        s->step = of_experts(w) ? parts * one : 0;
    } else if (*how == 'q' || *how == 'k' || *how == 'v') {
        s->total = q + 2 * kv;
        s->from = *how == 'q' ? 0 : *how == 'k' ? q : q + kv;
        if (told(how, 'H')) {
            s->head = e;
            s->step = 3 * e;
            s->from = (size_t)(*how == 'q' ? 0 : *how == 'k' ? 1 : 2) * e;
        }
    }
}

/* The name of a weight, of several the first that the file has, else the first; how: what stands behind its #. A head
 * of its own has its own bias too, the last name, where the file also has the one that is shared with a tied one. */
static const TensorInfo *find_part_name(const Reading *k, int role, int layer, int expert, char name[NAME],
                                        const char **how)
{
    const char *pattern = k->family->names[role];
    const TensorInfo *t = NULL;
    const bool last = role == SEQ2SEQ_HEAD_B && !k->m->text.tied;
    *name = '\0';
    *how = "";
    for (size_t n; (!t || last) && pattern && *pattern; pattern += strcspn(pattern, "|"), pattern += *pattern == '|') {
        char other[NAME];
        n = strcspn(pattern, "|#");
        put_name(other, k->prefix, pattern, n, layer, expert);
        const TensorInfo *found = tensors_find(k->file, other);
        if (!found && *name)
            continue;
        t = found;
        memcpy(name, other, NAME);
        *how = pattern[n] == '#' ? pattern + n + 1 : "";
    }
    return t;
}

static const TensorInfo *find_name(const Reading *k, int role, int layer, int expert, char name[NAME])
{
    const char *how;
    return find_part_name(k, role, layer, expert, name, &how);
}

static Stored stored(const Reading *k, const WeightPlace *w, int expert)
{
    const char *how;
    Stored s = {.total = 0};
    find_part_name(k, w->role, w->layer, expert, s.name, &how);
    split(w, &s);
    find_part(k, w, how, &s);
    return s;
}

/* In how many tensors a weight lies: that of all experts in as many, or in one (transformers 5). */
static int tensors_of(const Reading *k, const WeightPlace *w)
{
    char name[NAME];
    const TensorInfo *t = of_experts(w) ? find_name(k, w->role, w->layer, 0, name) : NULL;
    return of_experts(w) && !(t && t->rank == 3) ? (int)w->shape[0] : 1;
}

/* The part of a weight that one tensor has. */
static WeightPlace part_of(const Reading *k, const WeightPlace *w, int expert)
{
    WeightPlace one = *w;
    if (tensors_of(k, w) == 1)
        return one;
    one.axes++;
    one.rank--;
    memmove(one.shape, one.shape + 1, (size_t)one.rank * sizeof *one.shape);
    one.cells /= w->shape[0];
    one.data = w->data ? w->data + one.cells * (size_t)expert : NULL;
    one.half = w->half ? w->half + one.cells * (size_t)expert : NULL;
    return one;
}

static bool has_shape(const TensorInfo *t, const WeightPlace *w, const Stored *s)
{
    if (t->rank == w->rank && memcmp(t->shape, w->shape, (size_t)w->rank * sizeof *w->shape) == 0 && !s->turned)
        return true; /* none of its axes is merged */
    if (of_experts(w))
        return t->rank == 3 && t->shape[0] == w->shape[0] && t->shape[0] * t->shape[1] == s->total &&
               t->shape[2] == s->inputs;
    if (!s->inputs)
        return t->cells == s->total && (t->rank == 1 || (t->rank == 2 && t->shape[0] == 1));
    return t->rank == 2 && t->shape[s->turned] == s->total && t->shape[!s->turned] == s->inputs;
}

static bool check_tensor(const Reading *k, const WeightPlace *w, int expert)
{
    Stored s = stored(k, w, expert);
    const TensorInfo *t = *s.name ? tensors_find(k->file, s.name) : NULL;
    if (!*s.name)
        return err_set(k->err, "%s: config.json asks for a weight that %s stores nowhere", k->file->path,
                       k->family->layout);
    if (!t && w->role == SEQ2SEQ_HEAD_W && !k->family->told)
        return err_set(
            k->err,
            "%s: '%s', the weights of the answer, is missing; where they are those of the words, config.json "
            "has \"tie_word_embeddings\": true",
            k->file->path, s.name);
    if (!t)
        return err_set(k->err, "%s: '%s' is missing", k->file->path, s.name);
    if (t->dtype > DT_BF16)
        return err_set(k->err,
                       "%s: '%s' is %s; weights must be F32, F16, BF16 or F64 (a quantised model has to be "
                       "converted back)",
                       k->file->path, s.name, t->type ? t->type : dtype_name(t->dtype));
    if (has_shape(t, w, &s))
        return true;
    Buf shape = {0};
    for (int i = 0; i < t->rank; i++)
        buf_printf(&shape, "%s%zu", i ? " × " : "", t->shape[i]);
    if (of_experts(w)) {
        err_set(k->err, "%s: '%s' is %s; config.json asks for %zu × %zu × %zu", k->file->path, s.name, buf_str(&shape),
                w->shape[0], s.total / w->shape[0], s.inputs);
        buf_free(&shape);
        return false;
    }
    bool q = w->role == SEQ2SEQ_DEC_W_Q, kv = w->role == SEQ2SEQ_DEC_W_K || w->role == SEQ2SEQ_DEC_W_V;
    err_set(k->err, "%s: '%s' is %s; config.json asks for %zu × %zu%s", k->file->path, s.name, buf_str(&shape),
            s.turned ? s.inputs : s.total,
            s.turned   ? s.total
            : s.inputs ? s.inputs
                       : 1,
            s.total != s.outputs ? ""
            : q                  ? " (heads × head_dim, and the width: num_attention_heads, head_dim, hidden_size)"
            : kv                 ? " (heads × head_dim, and the width: num_key_value_heads, head_dim, hidden_size)"
                                 : "");
    buf_free(&shape);
    return false;
}

static bool check_weight(const Reading *k, const WeightPlace *w)
{
    bool ok = true;
    for (int i = 0; ok && i < tensors_of(k, w); i++) {
        const WeightPlace part = part_of(k, w, i);
        ok = check_tensor(k, &part, i);
    }
    return ok;
}

static bool read_tensor(Reading *k, const WeightPlace *w, int expert)
{
    Stored s = stored(k, w, expert);
    const TensorInfo *t = tensors_find(k->file, s.name);
    k->used[t - k->file->tensors] = true;
    if (!expert)
        w->at->origin = arena_strdup(&k->m->arena, s.name);
    if (t->cells == w->cells && !s.turned)
        return w->half ? tensors_read_16(k->file, t, w->half, k->err) : tensors_read_f32(k->file, t, w->data, k->err);
    uint16_t *halves = w->half ? xmalloc(size_mul(t->cells, sizeof *halves)) : NULL;
    float *all = w->half ? NULL : xfloats(t->cells);
    const size_t inputs = s.inputs ? s.inputs : 1;
    bool ok = halves ? tensors_read_16(k->file, t, halves, k->err) : tensors_read_f32(k->file, t, all, k->err);
    for (size_t o = 0; ok && o < s.outputs; o++) {
        size_t row = s.from + (s.step ? o / s.head * s.step + o % s.head : o);
        for (size_t i = 0; i < inputs; i++) {
            const size_t from = s.turned && s.inputs ? i * s.total + row : row * inputs + i;
            if (halves)
                w->half[o * inputs + i] = halves[from];
            else
                w->data[o * inputs + i] = all[from];
        }
    }
    free(halves);
    free(all);
    return ok;
}

/* Matrices stay in the 16 bits that their file has them in. */
static LeafForm form_of(void *reading, const WeightPlace *w)
{
    const Reading *k = reading;
    if (w->rank < 2 || (w->start != START_FAN && w->start != START_SHARP))
        return LEAF_FLOATS;
    Dtype all = DT_F32;
    for (int i = 0; i < tensors_of(k, w); i++) {
        char name[NAME];
        const TensorInfo *t = find_name(k, w->role, w->layer, i, name);
        if (!t || (i && t->dtype != all))
            return LEAF_FLOATS;
        all = t->dtype;
    }
    return all == DT_BF16 ? LEAF_BF16 : all == DT_F16 ? LEAF_F16 : LEAF_FLOATS;
}

static bool read_weight(Reading *k, const WeightPlace *w)
{
    bool ok = true;
    for (int i = 0; ok && i < tensors_of(k, w); i++) {
        const WeightPlace part = part_of(k, w, i);
        ok = read_tensor(k, &part, i);
    }
    if (tensors_of(k, w) > 1)
        w->at->origin = arena_printf(&k->m->arena, "%s and %d more", w->at->origin, tensors_of(k, w) - 1);
    return ok;
}

/* Is what the file has under such a name what the program makes it be? */
static bool check_same(const Reading *k, const char *names, bool places)
{
    const Seq2seqConfig *c = &k->m->text;
    const size_t width = (size_t)c->width;
    const char *word;
    for (size_t n; list_next(&names, &word, &n);) {
        char name[NAME];
        put_name(name, k->prefix, word, n, 0, 0);
        const TensorInfo *t = tensors_find(k->file, name);
        if (!t || k->used[t - k->file->tensors])
            continue;
        const WeightTensor *shared = seq2seq_weight(&k->m->text, &k->m->weights, seq2seq_embed_role(c, true), 0);
        bool fits = t->rank == 2 && t->shape[1] == width && t->dtype <= DT_BF16 && t->shape[0] <= INT_MAX &&
                    (places || t->shape[0] == (size_t)c->target_words);
        Arena room = {0};
        const float *same = fits && !places ? weight_all_floats(shared, t->cells, &room) : NULL;
        float *x = fits ? xfloats(t->cells) : NULL, *turns = xfloats(width);
        fits = fits && tensors_read_f32(k->file, t, x, k->err);
        for (size_t i = 0; fits && i < t->cells; i++) {
            if (places && i % width == 0)
                seq2seq_sinusoids((int)(i / width), 1, c->width, turns);
            float less = x[i] - (places ? turns[seq2seq_sinusoid_column(c, (int)(i % width))] : same[i]),
                  most = places ? 1e-2f : 0; /* as rounded to 16 bits */
            fits = less <= most && -less <= most;
        }
        free(x);
        free(turns);
        arena_free(&room);
        if (!fits)
            return err_set(k->err, "%s: '%s' is not %s, as %s has it", k->file->path, name,
                           places ? "the sinusoids" : "the one table of words", k->family->layout);
        k->used[t - k->file->tensors] = true;
    }
    return true;
}

static const char TOWER[] = "vision_tower.* multi_modal_projector.* model.vision_tower.* model.multi_modal_projector.*";

/* Every tensor belongs to a weight, or to something that is known to take no part. */
static bool check_rest(const Reading *k)
{
    const char *head = k->family->names[SEQ2SEQ_HEAD_W];
    for (size_t i = 0; i < k->file->count; i++) {
        const char *name = k->file->tensors[i].name;
        if (k->used[i] || list_has(k->family->useless, name) || (k->family->inside && list_has(TOWER, name)))
            continue;
        if (list_has(k->family->beside, name)) {
            model_assume(k->m, "%s is left out: the answer that it belongs to is not computed here", name);
            continue;
        }
        if (!k->m->text.tied || !head || strcmp(name, head + 1) != 0)
            return err_set(k->err, "%s: '%s' belongs to no part of the model that config.json describes", k->file->path,
                           name);
        model_assume(k->m, "%s is left out: config.json says that the answer has the words' own vectors", name);
    }
    return true;
}

/* Which answers an encoder has, and of a model of both stacks what its file has of the answer. */
static void find_answers(const Reading *k)
{
    Seq2seqConfig *c = &k->m->text;
    char name[NAME];
    if (c->form == SEQ2SEQ_BOTH) {
        if (c->head_bias && !find_name(k, SEQ2SEQ_HEAD_B, 0, 0, name)) {
            c->head_bias = false;
            model_assume(k->m, "the file has no %s: no bias is added to the logits", name);
        }
        /* newer programs of T5 write that all are tied, and the answer's own weights beside it */
        c->tied = c->tied && !(c->distances && !(c->read_scale > 0) && find_name(k, SEQ2SEQ_HEAD_W, 0, 0, name));
    }
    if (c->form != SEQ2SEQ_ENCODER_ONLY)
        return;
    /* a classifier may have the layer in front of the answer under the same name, and no answer in words */
    c->transform = find_name(k, SEQ2SEQ_TRANSFORM_W, 0, 0, name) &&
                   (!c->head_bias || find_name(k, SEQ2SEQ_HEAD_B, 0, 0, name));
    c->wordless = !c->transform;
    c->pooler = find_name(k, SEQ2SEQ_POOLER_W, 0, 0, name) != NULL;
    c->pair = c->pooler && find_name(k, SEQ2SEQ_PAIR_W, 0, 0, name);
    c->replaced = find_name(k, SEQ2SEQ_REPLACED_W, 0, 0, name) != NULL;
}

static uint64_t bytes_of(const Model *m)
{
    uint64_t n = 0;
    for (WeightPlace w = {0}; model_weight(m, &w);)
        n += w.cells * sizeof(float);
    return n;
}

bool hub_weights(Model *m, const char *folder, const HubFamily *f, ModelProgress progress, void *context, Err *err)
{
    TensorFile file;
    if (!(file_is_dir(folder) ? checkpoint_open_tensors(&file, &m->arena, folder, err)
                              : tensors_open(&file, folder, err)))
        return false;
    Reading k = {.m = m, .family = f, .file = &file, .prefix = f->prefix ? f->prefix : "", .err = err};
    char first[NAME];
    /* as a model with a picture tower calls its text part, in transformers 4 and 5 */
    static const char *const PARTS[] = {"language_model.model.", "model.language_model."};
    for (int i = 0; f->inside && i < 2 && !find_name(&k, SEQ2SEQ_TARGET_EMBED, 0, 0, first); i++)
        k.prefix = PARTS[i];
    if (f->prefix && !find_name(&k, (int)seq2seq_embed_role(&m->text, seq2seq_has_decoder(&m->text)), 0, 0, first))
        k.prefix = ""; /* a model saved without its head */
    if (f->other && !find_name(&k, SEQ2SEQ_SOURCE_EMBED, 0, 0, first) &&
        !find_name(&k, SEQ2SEQ_TARGET_EMBED, 0, 0, first))
        k.family = f = f->other;
    if (!f->told)
        find_answers(&k);
    k.used = xcalloc(file.count + 1, sizeof *k.used);
    m->family = &FAMILY_TEXT;
    m->layout = f->layout;
    bool ok = true;
    for (WeightPlace w = {0}; ok && model_weight(m, &w);)
        ok = check_weight(&k, &w);
    uint64_t done = 0, all = 0;
    ok = ok && model_alloc_stored(m, &FAMILY_TEXT, form_of, &k, err);
    if (ok)
        all = bytes_of(m);
    for (WeightPlace w = {0}; ok && model_weight(m, &w); done += w.cells * sizeof(float)) {
        ok = read_weight(&k, &w);
        if (ok && progress && !progress(context, done, all))
            ok = err_set(err, "cancelled");
    }
    ok = ok &&
         check_same(&k,
                    m->text.shared ? f->copies
                    : f->copies    ? "/lm_head.weight"
                                   : NULL,
                    false) &&
         check_same(&k, f->sinusoids, true) && check_rest(&k);
    free(k.used);
    tensors_close(&file);
    return ok;
}
