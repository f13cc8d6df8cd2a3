/* Learning to write: a decoder alone on a file of text, every stretch of it an example in which each token is to be
 * told from those before it (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"). The words are
 * learned from the same file. Its last tenth is held out. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/dmath.h"
#include "core/base/file.h"
#include "core/base/interval.h"
#include "core/base/rng.h"
#include "core/base/utf8.h"
#include "core/graph/grad.h"
#include "core/io/tokenizer.h"
#include "core/models/family.h"
#include "core/train/texts.h"
#include "core/train/trainer.h"

enum { TEXT_MOST = 32 << 20, TENTH = 10, STRETCH_SEED = 4000, HELD_MOST = 64 << 10 };
enum { TOKENS, ANSWER }; /* inputs */

/* The text as tokens, each the number of a piece of the tokeniser. */
typedef struct Texts {
    int *token;       /* [n] */
    size_t n, learnt; /* the first `learnt` are learnt from */
    size_t *byte;     /* [n + 1]: where each begins in the file */
    int pieces;
    Buf tokenizer;   /* tokenizer.json */
    Buf held;        /* held.txt: the beginning of the text that is held out, so that it can be read again later */
    uint64_t digest; /* of the file */
} Texts;

typedef struct Own {
    TextLook look; /* of the beginning of what is held out */
    size_t *from;  /* [batch]: where each stretch of the step begins */
} Own;

/* A thread's batch: where its stretches begin, and the text. */
typedef struct Batch {
    const Texts *texts;
    size_t from[TEXT_MICRO];
    int length;
} Batch;

/* --- what may be said --- */

#define AT(field) offsetof(Recipe, field)
static const Field RECIPE[] = {
    {"seed", FIELD_SEED, AT(seed), 0, 0, NULL},
    {"steps", FIELD_WHOLE, AT(steps), 1, 10000000, NULL},
    {"batch", FIELD_WHOLE, AT(batch), TEXT_MICRO, 65536, NULL},
    {"rate", FIELD_REAL, AT(rate), 0, 1000, NULL},
    {"warmup", FIELD_WHOLE, AT(warmup), 1, 10000000, NULL},
    {"floor", FIELD_REAL, AT(floor), 0, 1, NULL},
    {"beta1", FIELD_REAL, AT(beta1), 0, 0.999999, NULL},
    {"beta2", FIELD_REAL, AT(beta2), 0, 0.999999, NULL},
    {"epsilon", FIELD_REAL, AT(epsilon), 1e-30, 1, NULL},
    {"muon", FIELD_REAL, AT(muon), 0, 0.9999, NULL},
    {"decay", FIELD_REAL, AT(decay), 0, 1000, NULL},
    {"clip", FIELD_REAL, AT(clip), 0, 1e9, NULL},
    {"average", FIELD_WHOLE, AT(average), 0, 1000, NULL},
    {"average_every", FIELD_WHOLE, AT(average_every), 1, 10000000, NULL},
    {"log_every", FIELD_WHOLE, AT(log_every), 1, 10000000, NULL},
    {"check", FIELD_WHOLE, AT(check), 0, 1000000, NULL},
};

#define OF(field) offsetof(Seq2seqConfig, field)
static const Field MODEL[] = {
    {"words", FIELD_WHOLE, OF(target_words), LEARN_BYTES, LEARN_MOST, NULL},
    {"context", FIELD_WHOLE, OF(positions), 2, 4096, NULL},
    {"width", FIELD_WHOLE, OF(width), 1, 65536, NULL},
    {"layers", FIELD_WHOLE, OF(decoder_layers), 1, SEQ2SEQ_LAYERS_MOST, NULL},
    {"heads", FIELD_WHOLE, OF(heads), 1, 65536, NULL},
    {"mlp", FIELD_WHOLE, OF(mlp), 1, 65536, NULL},
    {"scale", FIELD_SINGLE, OF(scale), -1000, 1000, NULL},
};

static Recipe recipe(int steps)
{
    Recipe r = {.kind = &DECODER_TASK,
                .seed = 1,
                .steps = 1500,
                .batch = 64,
                .schedule = SCHEDULE_COSINE,
                .rate = 1e-2,
                .warmup = 100,
                .floor = 0.02,
                .beta1 = 0.9,
                .beta2 = 0.98,
                .epsilon = 1e-8,
                .muon = 0.95,
                .decay = 0.05,
                .clip = 1,
                .average_every = 20,
                .log_every = 20,
                .check = 64};
    if (steps > 0) {
        r.steps = steps;
        r.warmup = steps < 4 * r.warmup ? (steps + 3) / 4 : r.warmup;
        r.log_every = steps < 20 * r.log_every ? (steps + 19) / 20 : r.log_every;
    }
    return r;
}

static bool settle(void *config, bool scaled, Err *err)
{
    Seq2seqConfig *c = config;
    c->embed_scale = 1;
    return texts_settle(c, scaled, err);
}

/* GPT-2's form (pre-norm, learned positions, GELU, tied) at a size for minutes. */
static void bundled(void *config)
{
    Seq2seqConfig c = seq2seq_config_base();
    c.form = SEQ2SEQ_DECODER_ONLY;
    c.source_words = c.encoder_layers = 0;
    c.target_words = 512;
    c.positions = 64;
    c.learned_positions = true;
    c.width = 128;
    c.heads = 4;
    c.decoder_layers = 4;
    c.mlp = 512;
    c.act = MAP_GELU_TANH;
    c.pre_norm = c.final_norm = c.tied = true;
    c.head_bias = false;
    *(Seq2seqConfig *)config = c;
    settle(config, false, NULL);
}

/* --- the text --- */

static void leave(void *examples)
{
    Texts *x = examples;
    if (!x)
        return;
    free(x->token);
    free(x->byte);
    buf_free(&x->tokenizer);
    buf_free(&x->held);
    free(x);
}

/* Line by line and so, whatever the text's length, in little room. */
static bool encode(Texts *x, const Buf *text, Err *err)
{
    Tokenizer *t = tokenizer_parse("what was learned", buf_str(&x->tokenizer), x->tokenizer.len, err);
    size_t cap = 0, byte_cap = 0, to;
    bool ok = t != NULL;
    enum { LINES = 1 << 18 };
    for (size_t at = 0; ok && at < text->len; at = to) {
        Tokens k = {.at = NULL};
        to = text->len - at > LINES ? at + LINES : text->len;
        while (to < text->len && text->data[to - 1] != '\n')
            to++;
        ok = tokenizer_encode(t, text->data + at, to - at, false, false, &k, err);
        for (size_t i = 0; ok && i < k.n; i++) {
            x->token = grow(x->token, &cap, x->n, sizeof *x->token);
            x->byte = grow(x->byte, &byte_cap, x->n + 1, sizeof *x->byte);
            x->byte[x->n] = at + k.at[i].from;
            x->token[x->n++] = k.at[i].id;
            x->byte[x->n] = at + k.at[i].to;
        }
        tokens_free(&k);
    }
    tokenizer_free(t);
    return ok;
}

/* Another encoding would be learned as marks of what can't be read. */
static bool is_utf8(const Buf *text, const char *path, Err *err)
{
    const char *at = buf_str(text), *end = at + text->len;
    while (at < end) {
        const char *was = at;
        if (!*at)
            at++; /* a character like any other */
        else if (utf8_next(&at) == 0xfffd && memcmp(was, "\xef\xbf\xbd", 3) != 0)
            return err_set(err,
                           "%s: byte %zu is no UTF-8: this is another encoding, or no text. `iconv -f latin1 -t utf-8` "
                           "makes UTF-8 of Latin-1",
                           path, (size_t)(was - buf_str(text)));
    }
    return true;
}

/* A token may end within a character: whole ones. */
static size_t character_at(const Buf *text, size_t at)
{
    while (at < text->len && ((unsigned char)text->data[at] & 0xc0) == 0x80)
        at++;
    return at;
}

static void keep_held(Texts *x, const Buf *text)
{
    const size_t from = character_at(text, x->byte[x->learnt]), left = text->len - from,
                 to = left > HELD_MOST ? character_at(text, from + HELD_MOST) : text->len;
    buf_add(&x->held, text->data + from, to - from);
}

static bool find(const char *path, const Recipe *r, void *config, void **examples,
                 bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    (void)r;
    Seq2seqConfig *c = config;
    Buf text = {0};
    if (!path)
        return err_set(err, "a decoder learns from a text: name its file with --text FILE");
    if (!file_read(path, TEXT_MOST, &text, err))
        return false;
    if (!is_utf8(&text, path, err)) {
        buf_free(&text);
        return false;
    }
    Texts *x = xcalloc(1, sizeof *x);
    x->digest = digest_bytes(DIGEST_START, text.data, text.len);
    x->pieces = tokenizer_learn(text.data, text.len, c->target_words, &x->tokenizer, progress, context, err);
    bool ok = x->pieces && encode(x, &text, err);
    size_t least = TENTH * ((size_t)c->positions + 1);
    x->learnt = x->n - x->n / TENTH;
    if (ok && x->n < least)
        ok = err_set(err, "%s: %zu tokens are too few: stretches of %d need at least %zu. Take a longer text.", path,
                     x->n, c->positions, least);
    c->target_words = x->pieces;
    ok = ok && seq2seq_check(c, err);
    if (ok) {
        keep_held(x, &text);
        *examples = x;
    } else
        leave(x);
    buf_free(&text);
    return ok;
}

/* Stretches of what is held out, one behind the other. */
static size_t stretches(const Texts *x, size_t length)
{
    return (x->n - x->learnt - 1) / length;
}

/* Each token is read about five times, within the recipe's minutes: read thirty times, a text of half a megabyte is
 * known by heart, and what is held out is told worse than after five. */
static void fit(Recipe *r, const void *config, const void *examples, bool said)
{
    enum { PASSES = 5, LEAST = 100 };
    const Texts *x = examples;
    const size_t length = (size_t)((const Seq2seqConfig *)config)->positions, tokens = (size_t)r->batch * length,
                 n = (PASSES * x->learnt + tokens - 1) / tokens, held = stretches(x, length);
    r->check = held < (size_t)r->check ? (int)held : r->check;
    if (!said)
        recipe_shorten(r, n < LEAST ? LEAST : n > (size_t)r->steps ? r->steps : (int)n);
}

/* --- the model --- */

static void open(Trainer *t)
{
    const Seq2seqConfig *c = t->config;
    const Texts *x = t->examples;
    size_t batch = (size_t)t->recipe.batch;
    Own *o = t->own = xcalloc(1, sizeof *o);
    REQUIRE(seq2seq_check(c, NULL) && c->target_words == x->pieces);
    t->model = (Model){.name = "decoder", .target = {.n = x->pieces, .pad = -1, .start = -1, .end = -1}};
    texts_open(t, START_OF_GPT2);
    for (int i = 0; i < t->history.text.target; i++)
        t->history.text.word[i] = x->token[x->learnt + (size_t)i];
    const Seq2seqInput in = {.target = {t->history.text.word, t->history.text.target, NULL, NULL}};
    text_look_open(&o->look, &t->model, &t->history, &in);
    o->from = xcalloc(batch, sizeof *o->from);
}

static void close(Trainer *t)
{
    Own *o = t->own;
    text_look_close(&o->look);
    free(o->from);
    free(o);
}

/* loss = mean of the cross entropy of every token with the one behind it */
static void build(const Trainer *t, int variant, TaskGraph *l)
{
    const int length = t->model.text.positions;
    Graph *g = &l->graph;
    Seq2seqNodes nodes;
    (void)variant;
    l->input[ANSWER] = texts_build(t, 0, length, l, &nodes);
    l->input[TOKENS] = nodes.target;
    l->each = grad_cross_entropy(g, l->logits, l->input[ANSWER], graph_node(g, l->logits)->dims.axis[2]);
    graph_scope(g, "%s", "");
    NodeId sum = graph_reduce(g, "loss_sum", OP_SUM, l->each, DIMS_SCALAR),
           count = graph_const(g, "loss_count", DIMS_SCALAR, (float)(t->recipe.batch * length));
    l->loss = graph_zip(g, "loss_all", OP_DIV, sum, count);
    l->gradient = descent_gradients(g, l->loss, t->model.weights.at, seq2seq_weights_count(&t->model.text));
}

/* --- micro-batches --- */

static void open_bench(const Trainer *t, TaskBench *b)
{
    const Seq2seqConfig *c = &t->model.text;
    size_t cells = size_mul((size_t)TEXT_MICRO * (size_t)c->positions, (size_t)c->target_words);
    Batch *batch = b->own = xcalloc(1, sizeof *batch);
    *batch = (Batch){.texts = t->examples, .length = c->positions};
    b->input[TOKENS] = xfloats(cells);
    b->input[ANSWER] = xfloats(cells);
}

static void fill(TaskBench *b, size_t n)
{
    const Batch *batch = b->own;
    const Texts *x = batch->texts;
    size_t words = (size_t)x->pieces, length = (size_t)batch->length, cells = TEXT_MICRO * length * words;
    memset(b->input[TOKENS], 0, cells * sizeof(float));
    memset(b->input[ANSWER], 0, cells * sizeof(float));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < length; k++) {
            const int *token = &x->token[batch->from[i] + k];
            b->input[TOKENS][(i * length + k) * words + (size_t)token[0]] = 1;
            b->input[ANSWER][(i * length + k) * words + (size_t)token[1]] = 1;
        }
}

/* Stretches that begin anywhere in what is learnt from. */
static void draw(Trainer *t)
{
    Own *o = t->own;
    const Texts *x = t->examples;
    size_t batch = (size_t)t->recipe.batch, length = (size_t)t->model.text.positions;
    for (size_t i = 0; i < batch; i++) {
        Rng rng = rng_seed(t->recipe.seed + STRETCH_SEED, (uint64_t)t->step * batch + i);
        o->from[i] = (size_t)rng_below(&rng, (uint32_t)(x->learnt - length));
    }
    for (size_t i = 0; i < t->descent.micros; i++)
        t->variant[i] = 0;
    t->counted = (double)(batch * length);
    t->hidden = 0;
}

static void load(const Trainer *t, TaskBench *b, size_t micro)
{
    const Own *o = t->own;
    memcpy(((Batch *)b->own)->from, o->from + micro * TEXT_MICRO, TEXT_MICRO * sizeof *o->from);
    fill(b, TEXT_MICRO);
}

static size_t held(const Trainer *t)
{
    return stretches(t->examples, (size_t)t->model.text.positions);
}

static void load_exam(const Trainer *t, TaskBench *b, TaskSet set, uint64_t first, size_t n)
{
    const Texts *x = t->examples;
    Batch *batch = b->own;
    (void)set;
    for (size_t i = 0; i < n; i++)
        batch->from[i] = x->learnt + (size_t)((first + i) % held(t)) * (size_t)batch->length;
    fill(b, n);
}

static size_t answers(const TaskBench *b, int i)
{
    (void)i;
    return (size_t)((const Batch *)b->own)->length;
}

static size_t right_answers(const Trainer *t, const TaskBench *b, int i, const float *logits)
{
    const Batch *batch = b->own;
    int words = t->model.text.target_words;
    size_t right = 0;
    for (size_t k = 0; k < (size_t)batch->length; k++)
        right += descent_largest(logits + k * (size_t)words, words) == batch->texts->token[batch->from[i] + k + 1];
    return right;
}

static void record(const Model *m, History *out)
{
    const int longest = seq2seq_longest(&m->text);
    history_init_text(out, &m->text, 0, longest < HISTORY_WORDS ? longest : HISTORY_WORDS);
}

static void identity(const Trainer *t, Buf *out)
{
    buf_printf(out, "text %016llx\n", (unsigned long long)((const Texts *)t->examples)->digest);
}

static bool write(const Trainer *t, const char *folder, Err *err)
{
    char path[1100];
    const Texts *x = t->examples;
    snprintf(path, sizeof path, "%s/tokenizer.json", folder);
    if (!file_write(path, buf_str(&x->tokenizer), x->tokenizer.len, err))
        return false;
    snprintf(path, sizeof path, "%s/" TRAINER_HELD, folder);
    return file_write(path, buf_str(&x->held), x->held.len, err);
}

/* --- what it has learned --- */

/* Over stretches. */
typedef struct Held {
    double *nats, *bytes; /* [stretches]: by the model */
    double sum;           /* of nats */
    double base, all;     /* sums: nats by how often each token comes in what was learnt from; bytes */
    size_t stretches, tokens;
} Held;

static void hold(const Trainer *t, const Plan *p, const TaskBench *b, size_t n, const double *surprise, Held *h)
{
    const Batch *batch = b->own;
    const Texts *x = batch->texts;
    const float *each = plan_values(p, t->graph[0].each);
    for (size_t i = 0; i < n; i++) {
        const size_t length = (size_t)batch->length, first = batch->from[i] + 1;
        double nats = 0, bytes = (double)(x->byte[first + length] - x->byte[first]);
        for (size_t k = 0; k < length; k++) {
            nats += (double)each[i * length + k];
            h->base += surprise[x->token[first + k]];
        }
        h->sum += nats;
        h->nats[h->stretches] = nats;
        h->bytes[h->stretches++] = bytes;
        h->all += bytes;
        h->tokens += length;
    }
}

/* How surprising each piece is by how often it comes in what is learnt from, a half added to each. */
static double *surprises(const Texts *x)
{
    double *s = xcalloc((size_t)x->pieces, sizeof *s);
    for (size_t i = 0; i < x->learnt; i++)
        s[x->token[i]]++;
    for (int v = 0; v < x->pieces; v++)
        s[v] = -dm_log((s[v] + 0.5) / ((double)x->learnt + 0.5 * x->pieces));
    return s;
}

static void held_free(Held *h)
{
    free(h->nats);
    free(h->bytes);
}

/* Over stretches of what is held out, or as many of what was learnt from. To be freed with held_free. */
static Held examine(const Trainer *t, bool learnt, size_t most)
{
    Held h = {.stretches = 0};
    TaskBench b = {.own = NULL};
    const TaskGraph *g = &t->graph[0];
    const Texts *x = t->examples;
    const Seq2seqConfig *c = t->config;
    double *surprise = surprises(x);
    size_t all = held(t), n;
    all = all < most ? all : most;
    h.nats = xcalloc(all, sizeof *h.nats);
    h.bytes = xcalloc(all, sizeof *h.bytes);
    open_bench(t, &b);
    Plan *p = plan_new(&g->graph, &g->each, 1);
    plan_leaf(p, g->input[TOKENS], b.input[TOKENS]);
    plan_leaf(p, g->input[ANSWER], b.input[ANSWER]);
    for (size_t at = 0; at < all; at += n) {
        n = all - at < TEXT_MICRO ? all - at : TEXT_MICRO;
        load_exam(t, &b, TASK_HELD_OUT, at, n);
        for (size_t i = 0; learnt && i < n; i++)
            ((Batch *)b.own)->from[i] = (at + i) * (x->learnt - (size_t)c->positions) / all;
        if (learnt)
            fill(&b, n);
        plan_compute(p);
        hold(t, p, &b, n, surprise, &h);
    }
    plan_free(p);
    for (int i = 0; i < TASK_INPUTS; i++)
        free(b.input[i]);
    free(b.own);
    free(surprise);
    return h;
}

static void tell(const Trainer *t, Buf *out)
{
    enum { STRETCHES = 400 };
    const Texts *x = t->examples;
    const double bit = dm_log(2.0), reads = (double)t->recipe.steps * t->counted / (double)x->learnt;
    Held h = examine(t, false, STRETCHES), own = examine(t, true, h.stretches);
    const MeanOver told = ratio_over(h.nats, h.bytes, h.stretches),
                   learnt = ratio_over(own.nats, own.bytes, own.stretches);
    buf_printf(
        out, "the text: %zu tokens of %d pieces, %.2f bytes each; nine tenths are learnt from, each read %.1f times\n",
        x->n, x->pieces, (double)x->byte[x->n] / (double)x->n, reads);
    buf_printf(out, "held out: %.3f ", told.mean / bit);
    if (h.stretches > 1)
        buf_printf(out, "± %.3f bits a byte over %zu stretches", told.margin / bit, h.stretches);
    else
        buf_puts(out, "bits a byte over one stretch, too few for an interval");
    const double each = h.sum / (double)h.tokens;
    buf_printf(out, " (%zu tokens: %.3f nats a token", h.tokens, each);
    if (each < 40)
        buf_printf(out, ", perplexity %.4g", dm_exp(each));
    buf_printf(out, "); by how often each token comes alone %.3f; as much of what was learnt from %.3f\n",
               h.base / h.all / bit, learnt.mean / bit);
    if (learnt.mean < 0.75 * told.mean && reads > 6)
        buf_printf(
            out,
            "it knows part of the text by heart: fewer steps (--steps %d), or a longer text, tell the rest better\n",
            (int)(t->recipe.steps * 5 / reads) + 1);
    held_free(&h);
    held_free(&own);
}

const TaskKind DECODER_TASK = {
    .name = "decoder",
    .examples = "stretches of text",
    .thing = "decoder",
    .right = "tokens right",
    .does = "guesses right",
    .held_out = "held-out tokens",
    .well = "held-out tokens are guessed right",
    .film_of_patterns = true,
    .family = &FAMILY_TEXT,
    .each = true,
    .micro = TEXT_MICRO,
    .recipe_fields = {RECIPE, sizeof RECIPE / sizeof *RECIPE, true},
    .model_fields = {MODEL, sizeof MODEL / sizeof *MODEL, true},
    .recipe = recipe,
    .config_bytes = sizeof(Seq2seqConfig),
    .bundled = bundled,
    .settle = settle,
    .params = texts_params,
    .find = find,
    .leave = leave,
    .fit = fit,
    .open = open,
    .close = close,
    .build = build,
    .bench = open_bench,
    .draw = draw,
    .load = load,
    .load_exam = load_exam,
    .answers = answers,
    .right_answers = right_answers,
    .held = held,
    .look = text_look,
    .record = record,
    .way = MODEL_WRITES,
    .identity = identity,
    .write = write,
    .tell = tell,
};
