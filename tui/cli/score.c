/* `vitrine score`: how probable a text is to a model that writes, token by token; two texts beside each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/io/chat.h"
#include "core/io/json.h"
#include "core/models/decode.h"
#include "core/models/text_model.h"
#include "core/session/ask/ask.h"
#include "core/session/input.h"
#include "tui/cli/verbs.h"

enum { NAME_BYTES = 512, NAME_CELLS = 16, TEXTS_MOST = 2 };

/* A text with −log p of every token but the first, in nats. */
typedef struct Scored {
    char text[NAME_BYTES]; /* for a line */
    char *whole;           /* …and for a record, owned */
    int n;
    int *id;      /* [n] */
    char **token; /* [n], owned */
    double *nats; /* [n]; [0] is 0 */
    double sum;
    size_t bytes; /* of the text behind the first token; 0: not known */
} Scored;

/* A text of one token more than a decoder alone takes: its last one is asked for and not read. */
typedef struct Full {
    Buf read; /* "ids:…" of those before it; empty: the text is read as it stands */
    int last;
} Full;

static void full_of(const Model *m, const char *text, Full *out)
{
    Words w = {0};
    buf_clear(&out->read);
    if (model_way(m) != MODEL_WRITES || !words_parse(&w, &m->target, text, false, NULL))
        return;
    if (w.n > 1 && decode_room(m, w.n) == 0) {
        buf_puts(&out->read, "ids:");
        for (int i = 0; i + 1 < w.n; i++)
            buf_printf(&out->read, "%s%d", i ? "," : "", w.number[i]);
        out->last = w.number[w.n - 1];
    }
    words_free(&w);
}

static void scored_free(Scored *x)
{
    for (int i = 0; x->token && i < x->n; i++)
        free(x->token[i]);
    free(x->token);
    free(x->whole);
    free(x->id);
    free(x->nats);
    *x = (Scored){.n = 0};
}

/* −log of what a softmax over the row gives one of it: log Σ exp(x − max) + max − x. Of the one token that stands in no
 * trace, since the model does not read it. */
static double nats_of(const float *row, size_t count, int which)
{
    double most = (double)row[0], sum = 0;
    for (size_t i = 1; i < count; i++)
        most = (double)row[i] > most ? (double)row[i] : most;
    for (size_t i = 0; i < count; i++)
        sum += (double)row[i] - most > -700 ? dm_exp((double)row[i] - most) : 0;
    return dm_log(sum) + most - (double)row[which];
}

/* The text that is open: token i is what row i − 1 of the logits is asked for; last: one more behind it, or −1. */
static bool score_open(Session *s, const char *typed, int last, Scored *out, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    const Text *text = &session_input(s, SIDE_B)->text[TEXT_TARGET];
    const Model *m = s->now->model;
    const char *stream = site_path_any(g, SITE_SURPRISE); /* the numbers of the screen `stream` */
    const float *nats = stream ? session_need(s, SIDE_B, stream, err) : NULL;
    const bool beyond = last >= 0 || !stream; /* asks for a token that the model does not read: large, so only then */
    const float *logits = beyond ? session_need(s, SIDE_B, site_path_any(g, SITE_LOGITS), err) : NULL;
    if ((stream && !nats) || (beyond && !logits))
        return false;
    Dims d = graph_node(g, site_node_any(g, SITE_LOGITS))->dims;
    size_t words = (size_t)g->axes[d.axis[d.n - 1]].n;
    *out = (Scored){.n = text->count + (last >= 0)};
    char clean[2 * sizeof out->text]; /* where the text is longer, so is this */
    out->whole = xstrdup(last < 0 ? input_whole(session_input(s, SIDE_B)) : typed);
    utf8_fit(out->text, sizeof out->text,
             utf8_clean(clean, sizeof clean, last < 0 ? session_input(s, SIDE_B)->name : typed), -1);
    out->id = xcalloc((size_t)out->n + 1, sizeof *out->id);
    out->token = xcalloc((size_t)out->n + 1, sizeof *out->token);
    out->nats = xcalloc((size_t)out->n + 1, sizeof *out->nats);
    for (int i = 0; i < out->n; i++) {
        char name[NAME_BYTES], number[16];
        const int id = i < text->count ? text->word[i] : last;
        snprintf(number, sizeof number, "w%d", id);
        out->id[i] = id;
        const char *word = m->target.word ? m->target.word[id] : number;
        utf8_clean(name, sizeof name, word);
        out->token[i] = xstrdup(name);
        out->nats[i] = !i                ? 0
                       : i < text->count ? (double)nats[i - 1]
                                         : nats_of(logits + (size_t)(i - 1) * words, words, id);
        out->sum += out->nats[i];
    }
    out->bytes = words_bytes(&m->target, out->id, out->n, 1);
    if (out->n < 2) {
        scored_free(out);
        return err_set(err, "%.200s: a text of one token has no probability: nothing stands before it",
                       session_input(s, SIDE_B)->name);
    }
    return true;
}

/* Is the sum a number? Else where that ends is said. */
static bool has_number(const Session *s, const Scored *x, Err *err)
{
    Buf where = {0};
    if (!isnan(x->sum))
        return true;
    ask_nan_begins(s, SIDE_B, &where);
    err_set(err, "\"%.60s\" has no probability that is a number. %.300s", x->text, buf_str(&where));
    buf_free(&where);
    return false;
}

static void put_cell(const Scored *x, int i, Buf *out)
{
    char fitted[NAME_BYTES];
    if (i < 0) {
        buf_printf(out, "  %*s", NAME_CELLS + 10, "");
        return;
    }
    utf8_fit(fitted, sizeof fitted, x->token[i], NAME_CELLS);
    buf_printf(out, "  %s%*s", fitted, NAME_CELLS - utf8_cells(fitted), "");
    if (i)
        buf_fixed(out, 10, x->nats[i], 4);
    else
        buf_printf(out, "%10s", "given");
}

/* a − b, with ≈ before it (true) where it is not the difference of the two as they stand beside it. */
static bool put_apart(double a, double b, Buf *out)
{
    Buf left = {0}, right = {0}, apart = {0};
    buf_fixed(&left, 0, a, 4);
    buf_fixed(&right, 0, b, 4);
    buf_fixed(&apart, 0, a - b, 4);
    const double off = strtod(buf_str(&left), NULL) - strtod(buf_str(&right), NULL) - strtod(buf_str(&apart), NULL);
    const bool rounded = fabs(off) > 0.00005;
    buf_printf(out, "%*s%s%s", 11 - (int)apart.len - rounded, "", rounded ? "≈" : "", buf_str(&apart));
    buf_free(&left);
    buf_free(&right);
    buf_free(&apart);
    return rounded;
}

/* Two texts beside each other: `head` tokens are the same in both, and `tail` at the end, where the texts are not
 * equally long. What lies between is other text, row by row as it comes. */
typedef struct Beside {
    int head, tail, rows, middle[TEXTS_MOST];
} Beside;

static Beside beside(const Scored *x, int count)
{
    Beside b = {.rows = x[0].n, .middle = {x[0].n}};
    if (count == 1)
        return b;
    const int least = x[0].n < x[1].n ? x[0].n : x[1].n;
    while (b.head < least && x[0].id[b.head] == x[1].id[b.head])
        b.head++;
    while (b.head + b.tail < least && x[0].id[x[0].n - 1 - b.tail] == x[1].id[x[1].n - 1 - b.tail])
        b.tail++;
    for (int k = 0; k < count; k++)
        b.middle[k] = x[k].n - b.head - b.tail;
    b.rows = x[0].n > x[1].n ? x[0].n : x[1].n;
    return b;
}

/* The token of text k in a row; −1: none. */
static int token_at(const Beside *b, const Scored *x, int k, int row)
{
    const int last = b->rows - b->tail;
    return row >= last ? x[k].n - (b->rows - row) : row < b->head + b->middle[k] ? row : -1;
}

/* Two texts without a start token, of which each is scored given a first token of its own. */
static bool firsts_differ(const Scored x[TEXTS_MOST])
{
    return x[0].id[0] != x[1].id[0];
}

static void put_table(const Scored *x, int count, Buf *out)
{
    bool rounded = false;
    const Beside b = beside(x, count);
    for (int k = 0; k < count; k++)
        buf_printf(out, "%s%s\n", count == 1 ? "" : k ? "B  " : "A  ", x[k].text);
    buf_printf(out, "\n      ");
    for (int k = 0; k < count; k++)
        buf_printf(out, "  %-*s    −log p", NAME_CELLS, count == 1 ? "token" : k ? "B" : "A");
    buf_puts(out, count > 1 ? "      A − B\n" : "\n");
    for (int i = 0; i < b.rows; i++) {
        const int at[TEXTS_MOST] = {token_at(&b, x, 0, i), count > 1 ? token_at(&b, x, 1, i) : -1};
        const bool both = at[0] >= 0 && at[1] >= 0, other = count > 1 && (!both || x[0].id[at[0]] != x[1].id[at[1]]);
        buf_printf(out, "%c%5d", other ? '*' : ' ', i);
        for (int k = 0; k < count; k++)
            put_cell(&x[k], at[k], out);
        /* where one has a token more, what follows in the two is not of the same place until they meet again */
        if (both && at[0] && at[1] && (x[0].n == x[1].n || i <= b.head || i >= b.rows - b.tail))
            rounded = put_apart(x[0].nats[at[0]], x[1].nats[at[1]], out) || rounded;
        while (out->len && out->data[out->len - 1] == ' ')
            out->data[--out->len] = '\0';
        buf_putc(out, '\n');
    }
    buf_putc(out, '\n');
    for (int k = 0; k < count; k++) {
        const int asked = x[k].n - 1;
        buf_puts(out, count == 1 ? "−log p " : k ? "B  −log p " : "A  −log p ");
        buf_fixed(out, 0, x[k].sum, 4);
        buf_printf(out, " nats over %d token%s: ", asked, asked == 1 ? "" : "s");
        words_put_rate(x[k].sum / asked, (double)NAN, (double)x[k].bytes / asked, out);
        buf_putc(out, '\n');
    }
    if (count == 1)
        return;
    if (rounded)
        buf_puts(out, "≈: A − B of the numbers as they are, not as they are rounded here.\n");
    double apart = x[1].sum - x[0].sum;
    if (!(dm_abs(apart) > 0))
        buf_puts(out, "A and B are equally probable");
    else {
        buf_printf(out, "%s is the more probable by ", apart >= 0 ? "A" : "B");
        buf_fixed(out, 0, dm_abs(apart), 4);
        buf_puts(out, " nats");
    }
    if (dm_abs(apart) > 0 && dm_abs(apart) < 40)
        buf_printf(out, ": %.4g times", dm_exp(dm_abs(apart)));
    buf_puts(out, x[0].n != x[1].n ? ". They are not equally long: each further token makes a text less probable.\n"
                                   : ".\n");
    if (firsts_differ(x))
        buf_puts(out, "Their first tokens differ and are not counted: compared is what follows them.\n");
}

static void put_json(const Work *w, const Scored *x, int count, Buf *out)
{
    json_open(out, NULL, '{');
    json_put_text(out, "model", w->session.model.name);
    work_json_nan(&w->session, out); /* of the text that is open: the last one */
    work_json_changes(w, out);
    json_open(out, "texts", '[');
    for (int k = 0; k < count; k++) {
        json_open(out, NULL, '{');
        json_put_text(out, "text", x[k].whole);
        json_put(out, "nats", "%.9g", x[k].sum);
        json_put(out, "per_token", "%.9g", x[k].sum / (x[k].n - 1));
        const double perplexity = dm_exp(x[k].sum / (x[k].n - 1));
        json_put(out, "perplexity", isfinite(perplexity) ? "%.9g" : "null", perplexity);
        json_put(out, "bits_a_byte", x[k].bytes ? "%.9g" : "null", x[k].sum / (double)x[k].bytes / dm_log(2));
        json_open(out, "tokens", '[');
        for (int i = 0; i < x[k].n; i++) {
            json_open(out, NULL, '{');
            json_put_text(out, "token", x[k].token[i]);
            json_put(out, "id", "%d", x[k].id[i]);
            json_put(out, "nats", i ? "%.9g" : "null", x[k].nats[i]);
            buf_putc(out, '}');
        }
        buf_puts(out, "]}");
    }
    buf_puts(out, "]");
    if (count > 1)
        json_put_bool(out, "first_tokens_differ", firsts_differ(x));
    if (count > 1)
        json_put(out, "difference", "%.9g", x[0].sum - x[1].sum);
    buf_puts(out, "}\n");
}

static bool check(const Options *o, const Link *l, Err *err)
{
    (void)l;
    const int texts = o->word_count - 1 + (o->input != NULL);
    if (!o->model || texts < 1)
        return err_set(err, "which model and text? vitrine score -m FOLDER \"the cats sleep\" \"the cats sleeps\"");
    if (texts > TEXTS_MOST)
        return err_set(err, "%d texts: score compares two; a text of several words stands in quotes", texts);
    return !(o->output || o->at) || err_set(err, "score writes on standard output: -o and --at mean nothing here");
}

static int score(Work *w, Err *err)
{
    const Options *o = w->options;
    Session *s = &w->session;
    const char *text[TEXTS_MOST];
    Scored scored[TEXTS_MOST] = {{.n = 0}};
    int texts = 0, count = 0;
    if (o->input)
        text[texts++] = o->input;
    for (int i = 1; i < o->word_count && texts < TEXTS_MOST; i++)
        text[texts++] = o->chat ? arena_printf(&w->link.arena, "%s%s", CHAT_PREFIX, o->word[i]) : o->word[i];
    Full full = {.last = -1};
    Model alone = {0};
    Err other = {.text = ""};
    w->link.input = text[0];
    bool ok = work_open(w, LINE_OWN, err);
    if (!ok && text_open(&alone, o->model, &other)) { /* perhaps by its last token only */
        full_of(&alone, text[0], &full);
        model_free(&alone);
        if (full.read.len) {
            w->link.input = buf_str(&full.read);
            commands_free(&w->commands);
            *err = other;
            ok = work_open(w, LINE_OWN, err);
        }
    }
    const Model *m = ok ? s->now->model : NULL;
    if (ok && !(model_way(m) & MODEL_WRITES))
        ok = err_set(err,
                     model_way(m) ? "%.200s: an encoder reads all of a text at once and gives none a probability: "
                                    "`vitrine run` names what belongs at a [MASK]"
                                  : "%.200s looks at pictures: score is for models that write",
                     s->model.name);
    for (; ok && count < texts; count += ok) {
        if (count)
            full_of(m, text[count], &full);
        ok = (!count || session_open_input(s, full.read.len ? buf_str(&full.read) : text[count], err)) &&
             work_complete(w, err) && score_open(s, text[count], full.read.len ? full.last : -1, &scored[count], err) &&
             has_number(s, &scored[count], err);
    }
    if (ok && o->json)
        put_json(w, scored, count, &w->out);
    else if (ok) {
        put_table(scored, count, &w->out);
        if (ask_nan_begins(s, SIDE_B, &w->out)) /* of the text that is open: the last one */
            buf_putc(&w->out, '\n');
        work_put_changes(w, &w->out);
    }
    if (ok && !o->json && !s->model.trained)
        buf_puts(&w->out, "the weights come from a seed: these probabilities mean nothing\n");
    for (int i = 0; i < TEXTS_MOST; i++)
        scored_free(&scored[i]);
    w->link.input = text[0];
    buf_free(&full.read);
    return ok ? STATUS_DONE : STATUS_BAD;
}

const Verb VERB_SCORE = {
    .name = "score",
    .usage = "score -m FOLDER TEXT [TEXT] [-c COMMANDS] [--json]",
    .summary = "how probable a text is, token by token, or which of two is the more probable",
    .details =
        "For models that write. Each token's −log p is what the model, having read those before it, gives it: the "
        "logarithm of a softmax over the logits before it, in nats; a token's mean is said as a perplexity, e to that, "
        "and in bits a byte of the text as well, which models with other tokens share. The first token is given: the "
        "start token, or "
        "where the model puts none in front the text's own first. The sum is −log of the text's probability, without "
        "a start token given the first token; beside a second text that differs in a word (a minimal pair) the rows "
        "say where they part and, where one has more tokens, where they meet again: * marks other tokens, A − B what "
        "that costs. Of a model with an encoder it is the probability of the answer: \"the cat is tired > le chat est "
        "fatigué\". With -c it is scored under the changes that the commands make.",
    .example = "vitrine score -m gpt2/ \"the keys are here\" \"the keys is here\"",
    .flags = VERB_ALONE | VERB_JSON,
    .check = check,
    .run = score,
};
