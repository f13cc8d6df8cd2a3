/* `vitrine run`: the answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/byte_text.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/io/json.h"
#include "core/models/text_model.h"
#include "core/session/ask/ask.h"
#include "core/session/difference.h"
#include "core/session/input.h"
#include "tui/cli/verbs.h"

enum { TOP = 10, NAME_CELLS = 24, NAME_BYTES = 512 };

/* One side's answer: values over the classes. Of a model that answers for every word: the row of the word at the
 * cursor, and all rows. */
typedef struct Answer {
    const float *probs, *logits, *rows;
    const Axis *tokens; /* NULL: one answer */
    int row;
} Answer;

typedef struct Ranked {
    int index;
    float p, logit;
} Ranked;

/* The largest first; equal ones in the order of the classes; what is not a number last. */
static int compare_ranked(const void *x, const void *y)
{
    const Ranked *a = x, *b = y;
    float pa = isnan(a->p) ? -1 : a->p, pb = isnan(b->p) ? -1 : b->p;
    if (pa < pb || pa > pb)
        return pa > pb ? -1 : 1;
    if (a->logit < b->logit || a->logit > b->logit) /* probabilities that have run out of digits */
        return a->logit > b->logit ? -1 : 1;
    return a->index - b->index;
}

static bool answer_of(Session *s, Side side, Answer *a, Err *err)
{
    const Graph *g = session_graph(s, side);
    a->logits = session_need(s, side, site_path_any(g, SITE_LOGITS), err);
    a->probs = a->logits ? session_need(s, side, site_path_any(g, SITE_PROBS), err) : NULL;
    if (!a->probs)
        return false;
    NodeId n = site_node_any(g, SITE_PROBS);
    Dims d = graph_node(g, n)->dims;
    size_t words = (size_t)g->axes[d.axis[d.n - 1]].n;
    a->rows = a->probs;
    a->tokens = d.n == 2 && g->axes[d.axis[0]].role == ROLE_QUERY ? &g->axes[d.axis[0]] : NULL;
    a->row = a->tokens ? (int)(session_cell(s, side, n) / words) : 0;
    a->probs += (size_t)a->row * words;
    a->logits += (size_t)a->row * words;
    return true;
}

static const char *class_name(const Session *s, int i, char *out, size_t n)
{
    const Graph *g = session_base(s);
    const Axis *a = &g->axes[graph_role(g, ROLE_ANSWER, SEQUENCE_ANY)];
    char label[NAME_BYTES];
    if (session_words(s, SIDE_B) && !a->labels) { /* a word without a name is called as where it is read */
        utf8_print(out, n, "w%d", i);
        return out;
    }
    return utf8_clean(out, n, axis_label(a, i, label, sizeof label));
}

/* The two largest of a row. */
static void best_two(const float *row, int count, int best[2])
{
    best[0] = best[1] = -1;
    for (int i = 0; i < count; i++) {
        if (best[0] < 0 || row[i] > row[best[0]]) {
            best[1] = best[0];
            best[0] = i;
        } else if (best[1] < 0 || row[i] > row[best[1]])
            best[1] = i;
    }
}

/* After every word that stands there: what the model writes. The row that is listed word by word is marked. */
static void put_steps(const Session *s, int count, const Answer *a, Buf *out)
{
    char token[NAME_BYTES], name[NAME_BYTES], fitted[NAME_BYTES];
    enum { WORD = 14 };
    bool target = a->tokens->sequence == SEQUENCE_TARGET;
    buf_printf(out, "\n      %-*s %-*s %9s   next best\n", WORD, target ? "after" : "at", WORD,
               target ? "writes" : "names", "prob.");
    for (int t = 0; t < a->tokens->n; t++) {
        const float *row = a->rows + (size_t)t * (size_t)count;
        int best[2];
        best_two(row, count, best);
        axis_label(a->tokens, t, token, sizeof token);
        utf8_fit(fitted, sizeof fitted, utf8_clean(name, sizeof name, token), WORD);
        buf_printf(out, "%c%4d %s%*s ", t == a->row ? '>' : ' ', t, fitted, WORD - utf8_cells(fitted), "");
        utf8_fit(fitted, sizeof fitted, class_name(s, best[0], name, sizeof name), WORD);
        buf_printf(out, "%s%*s", fitted, WORD - utf8_cells(fitted), "");
        buf_fixed(out, 10, (double)row[best[0]], 5);
        if (best[1] >= 0) {
            buf_printf(out, "   %s ", class_name(s, best[1], name, sizeof name));
            buf_fixed(out, 0, (double)row[best[1]], 5);
        }
        buf_putc(out, '\n');
    }
    const char *signs = byte_text_signs(buf_str(out), false);
    buf_printf(out, *signs ? "%s\n" : "%s", signs);
}

static void json_steps(const Session *s, int count, const Answer *a, Buf *out)
{
    char name[NAME_BYTES], label[NAME_BYTES];
    json_put(out, "row", "%d", a->row);
    json_open(out, "steps", '[');
    for (int t = 0; t < a->tokens->n; t++) {
        const float *row = a->rows + (size_t)t * (size_t)count;
        int best[2];
        best_two(row, count, best);
        json_line(out);
        json_open(out, NULL, '{');
        json_put_text(out, a->tokens->sequence == SEQUENCE_TARGET ? "after" : "at",
                      utf8_clean(name, sizeof name, axis_label(a->tokens, t, label, sizeof label)));
        json_put_text(out, "word", class_name(s, best[0], name, sizeof name));
        json_put_float(out, "probability", row[best[0]]);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void put_json(Session *s, const Ranked *r, int count, const Answer *a, const Answer *other, uint64_t hash,
                     Buf *out)
{
    char name[NAME_BYTES];
    json_open(out, NULL, '{');
    json_put_text(out, "model", s->model.name);
    json_put_text(out, "input", input_whole(session_input(s, SIDE_B)));
    json_put_bool(out, "trained", s->model.trained);
    char about[SESSION_NOTE];
    float far;
    json_put_text(out, "note", session_model_note(s, about));
    if (s->model.seen.mean && session_seen(s, &far)) { /* of what it learned from */
        json_open(out, "seen", '{');
        json_put_float(out, "distance", far);
        json_put_float(out, "distance_of_95_percent", s->model.seen.limit);
        buf_putc(out, '}');
    }
    work_json_nan(s, out);
    json_open(out, "edits", '[');
    for (int i = 0; i < s->edits.count; i++)
        json_put_text(out, NULL, s->edits.line[i]);
    buf_putc(out, ']');
    if (a->tokens)
        json_steps(s, count, a, out);
    json_open(out, a->tokens ? "words" : "classes", '[');
    for (int i = 0; i < count; i++) {
        int o = r[i].index;
        json_line(out);
        json_open(out, NULL, '{');
        json_put(out, "index", "%d", o);
        json_put_text(out, a->tokens ? "word" : "class", class_name(s, o, name, sizeof name));
        json_put_float(out, "probability", a->probs[o]);
        json_put_float(out, "logit", a->logits[o]);
        if (other) {
            json_put_float(out, "probability_a", other->probs[o]);
            json_put_float(out, "logit_a", other->logits[o]);
        }
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
    json_put(out, "trace_hash", "\"%016llx\"", (unsigned long long)hash);
    buf_puts(out, "}\n");
}

static void put_about(const Session *s, Buf *out)
{
    char name[NAME_BYTES];
    char about[SESSION_NOTE];
    const char *note = session_model_note(s, about);
    const Input *in = session_input(s, SIDE_B);
    char model[160]; /* of a folder, which may be called anything */
    buf_printf(out, "%s, %s%s", in->name, utf8_clean(model, sizeof model, s->model.name),
               !s->model.trained ? ", untrained: the weights come from a seed, its answer means nothing" : "");
    if (s->model.trained && *note)
        buf_printf(out, ": %s", note);
    buf_putc(out, '\n');
    if (ask_nan_begins(s, SIDE_B, out))
        buf_putc(out, '\n');
    if (in->drawn && in->label >= 0 && s->model.drawn_shapes && in->label < session_classes(s))
        buf_printf(out, "drawn as  %s\n", class_name(s, in->label, name, sizeof name));
    for (int i = 0; i < s->edits.count; i++)
        buf_printf(out, "%s%s\n", i ? "          " : "edits     ", s->edits.line[i]);
}

/* What an encoder says of a text as a whole, and of its tokens beside words. */
static void put_whole(Session *s, Buf *out)
{
    const Graph *g = session_graph(s, SIDE_B);
    const Text *text = &session_input(s, SIDE_B)->text[TEXT_SOURCE];
    const float *pair = session_need(s, SIDE_B, site_path_any(g, SITE_PAIR), NULL),
                *replaced = session_need(s, SIDE_B, site_path_any(g, SITE_REPLACED), NULL);
    if (model_way(s->now->model) != MODEL_READS)
        return;
    const Vocabulary *v = model_vocabulary(s->now->model);
    const char *mask = vocabulary_find(v, "[MASK]", 6) >= 0 ? "[MASK]" : "<mask>";
    if (v->cutter && site_node_any(g, SITE_PROBS) != NO_NODE && !text->asked)
        buf_printf(out, "\nNo %s stands in the text: each line is what the model puts at a word that it sees.\n", mask);
    if (pair && text->segment) {
        buf_puts(out, "\nThe second segment follows the first: ");
        buf_fixed(out, 0, (double)pair[0], 5);
        buf_puts(out, ", it does not: ");
        buf_fixed(out, 0, (double)pair[1], 5);
        buf_putc(out, '\n');
    }
    if (replaced)
        buf_puts(out, "\n      token          put in place of another?\n");
    for (int i = 0; replaced && i < text->count; i++) {
        char fitted[NAME_BYTES], name[NAME_BYTES];
        utf8_fit(fitted, sizeof fitted, utf8_clean(name, sizeof name, text->label[i]), 14);
        buf_printf(out, " %4d %s%*s", i, fitted, 14 - utf8_cells(fitted), "");
        buf_fixed(out, 10, (double)replaced[i], 5);
        buf_putc(out, '\n');
    }
}

static void put_text(Session *s, const Ranked *r, int count, const Answer *a, const Answer *other, uint64_t hash,
                     Buf *out)
{
    put_about(s, out);
    if (a->tokens) {
        char token[NAME_BYTES], label[NAME_BYTES];
        put_steps(s, count, a, out);
        buf_printf(out, "\n%s %s", a->tokens->sequence == SEQUENCE_TARGET ? "After" : "At",
                   utf8_clean(token, sizeof token, axis_label(a->tokens, a->row, label, sizeof label)));
        buf_printf(out, " (%s=%d%s); another row: --at '%s[%s=%d]'\n", a->tokens->sym, a->row,
                   a->row + 1 == a->tokens->n ? ", the last token" : "",
                   site_path_any(session_graph(s, SIDE_B), SITE_LOGITS), a->tokens->sym, a->row ? 0 : a->tokens->n - 1);
    }
    buf_printf(out, "\n%-*s  probability      logit%s\n", NAME_CELLS, a->tokens ? "word" : "class",
               other ? "        A: probability      logit" : "");
    for (int i = 0; i < count && i < TOP; i++) {
        char name[NAME_BYTES], fitted[NAME_BYTES];
        int k = r[i].index;
        utf8_fit(fitted, sizeof fitted, class_name(s, k, name, sizeof name), NAME_CELLS);
        int pad = NAME_CELLS - utf8_cells(fitted);
        buf_printf(out, "%s%*s", fitted, pad > 0 ? pad : 0, "");
        buf_fixed(out, 13, (double)a->probs[k], 5);
        buf_printf(out, " %10.5g", (double)a->logits[k]);
        if (other) {
            buf_fixed(out, 22, (double)other->probs[k], 5);
            buf_printf(out, " %10.5g", (double)other->logits[k]);
        }
        buf_putc(out, '\n');
    }
    if (count > TOP)
        buf_printf(out, "and %d more: --json has all\n", count - TOP);
    put_whole(s, out);
    buf_printf(out, "\ntrace hash %016llx\n", (unsigned long long)hash);
}

/* A model without a head: what it hands on instead. */
static int headless(Work *w, uint64_t hash)
{
    const Session *s = &w->session;
    const Graph *g = session_graph(s, SIDE_B);
    float alike;
    NodeId n = site_node_any(session_base(s), SITE_EMBEDDING);
    n = n != NO_NODE ? n : site_node_any(session_base(s), SITE_READOUT);
    n = n != NO_NODE ? n : site_node_any(session_base(s), SITE_TOKENS_OUT);
    const char *path = graph_node(session_base(s), n)->path;
    if (w->options->json) {
        json_open(&w->out, NULL, '{');
        json_put_text(&w->out, "model", s->model.name);
        json_put_text(&w->out, "input", input_whole(session_input(s, SIDE_B)));
        json_put(&w->out, session_words(s, SIDE_B) ? "words" : "classes", "[]");
        json_put_text(&w->out, "features", path);
        json_put(&w->out, "trace_hash", "\"%016llx\"}\n", (unsigned long long)hash);
        return STATUS_DONE;
    }
    put_about(s, &w->out);
    bool words = session_words(s, SIDE_B);
    buf_printf(&w->out, "\nThis model %s. What it has made of the %s is %s ",
               words ? "has no answer in words" : "has no classes", words ? "text" : "picture", path);
    graph_shape_text(g, graph_node(g, session_node(s, SIDE_B, path))->dims, &w->out);
    if (difference_likeness(&w->session, &alike))
        buf_printf(&w->out, ".\nIts cosine with A's is %.5f (1: the same direction, 0: nothing in common)",
                   (double)alike);
    buf_puts(&w->out, ".\n");
    put_whole(&w->session, &w->out);
    buf_printf(&w->out, "\ntrace hash %016llx\n", (unsigned long long)hash);
    return STATUS_DONE;
}

static int run(Work *w, Err *err)
{
    Session *s = &w->session;
    Answer a, other;
    uint64_t hash = 0;
    bool compares = session_compares(s);
    if (!work_complete(w, err))
        return STATUS_BAD;
    int asks = graph_role(session_base(s), ROLE_QUERY, SEQUENCE_TARGET);
    if (asks != AXIS_NONE && !w->options->at && !w->options->commands.len &&
        strstr(session_input(s, SIDE_B)->path, " > ")) /* what is to follow what was written so far */
        session_set_index(s, asks, session_base(s)->axes[asks].n - 1);
    session_hash(s, SIDE_B, &hash);
    if (site_node_any(session_graph(s, SIDE_B), SITE_PROBS) == NO_NODE)
        return headless(w, hash);
    if (!answer_of(s, SIDE_B, &a, err) || (compares && !answer_of(s, SIDE_A, &other, err)))
        return STATUS_BAD;
    int count = session_classes(s);
    Ranked *r = xcalloc((size_t)count, sizeof *r);
    for (int i = 0; i < count; i++)
        r[i] = (Ranked){i, a.probs[i], a.logits[i]};
    qsort(r, (size_t)count, sizeof *r, compare_ranked);
    if (w->options->json)
        put_json(s, r, count, &a, compares ? &other : NULL, hash, &w->out);
    else
        put_text(s, r, count, &a, compares ? &other : NULL, hash, &w->out);
    free(r);
    return STATUS_DONE;
}

const Verb VERB_RUN = {
    .name = "run",
    .usage = "run [INPUT]",
    .summary = "the answer: the most probable classes, with probability and logit",
    .details =
        "With edits, A is the model without them. The last line is the hash of the whole trace: equal hashes are equal "
        "runs, bit for bit. --json lists every class. For a text: what comes after every token, and all words after "
        "the last one (of the translator the first), or after the one that --at names, such as 'logits[t=10]'. For an "
        "encoder: what belongs at every token, and all words at the first [MASK]; --at 'logits[s=3]' is another.",
    .example = "vitrine run cat.png -c 'ablate blocks.1.attn.z[h=2]'",
    .flags = VERB_JSON,
    .run = run};

/* --- embed: texts as vectors --- */

static bool check_embed(const Options *o, const Link *l, Err *err)
{
    (void)l;
    if (!o->model || !(o->input || o->word_count > 1))
        return err_set(err, "which model and text? vitrine embed -m FOLDER -i \"a cat\" \"a dog\"");
    const int texts = o->word_count - 1 + (o->input != NULL);
    if (texts > 2)
        return err_set(err, "%d texts: embed compares two; a text of several words stands in quotes", texts);
    return !(o->output || o->at) || err_set(err, "embed writes on standard output: -o and --at mean nothing here");
}

/* Of one side: its tokens, what each carries of its direction and, beside another text, of the cosine. */
static bool put_embedding(Session *s, Side side, bool json, Buf *out, Err *err)
{
    const Graph *g = session_graph(s, side);
    const Text *text = &session_input(s, side)->text[TEXT_SOURCE];
    const NodeId n = site_node_any(g, SITE_EMBEDDING_UNIT);
    const float *unit = session_need(s, side, site_path_any(g, SITE_EMBEDDING_UNIT), err),
                *y = unit ? session_need(s, side, site_path_any(g, SITE_EMBEDDING), err) : NULL,
                *share = session_need(s, side, site_path_any(g, SITE_CARRIED), NULL);
    size_t width = y ? graph_cells(g, n) : 0, count = 0;
    float *of_cosine = y ? difference_carried(s, side, &count) : NULL;
    const Input *in = session_input(s, side);
    const bool brought = session_exhibit(s, side)->model->text.unit == UNIT_YES;
    double length = 0;
    for (size_t i = 0; i < width; i++)
        length += (double)y[i] * (double)y[i];
    if (json && y) {
        json_open(out, NULL, '{');
        json_put_text(out, "text", input_whole(in));
        json_put_text(out, "note", in->note);
        json_put(out, "length", "%.9g", sqrt(length));
        json_open(out, "direction", '[');
        for (size_t i = 0; i < width; i++)
            json_put_float(out, NULL, unit[i]);
        buf_putc(out, ']');
        json_open(out, "tokens", '[');
    } else if (y)
        buf_printf(out,
                   "%s\n%s%s%d tokens, a vector of %zu numbers\nlength %.5g%s; embedding_unit is it at length 1\n%s",
                   in->name, in->note, *in->note ? "\n" : "", text->count, width, sqrt(length),
                   brought ? " before Normalize" : "",
                   share ? of_cosine ? "\n      token          carries  of the cosine\n"
                                     : "\n      token          carries\n"
                         : "it is the first token's: no other carries a part of it\n");
    for (int i = 0; y && i < text->count; i++) {
        char fitted[NAME_BYTES], name[NAME_BYTES];
        utf8_clean(name, sizeof name, text->label[i]);
        if (json) {
            json_open(out, NULL, '{');
            json_put_text(out, "token", name);
            if (share)
                json_put_float(out, "carries", share[i]);
            if (of_cosine)
                json_put_float(out, "of_cosine", of_cosine[i]);
            buf_putc(out, '}');
        } else if (share) {
            utf8_fit(fitted, sizeof fitted, name, 14);
            buf_printf(out, " %4d %s%*s", i, fitted, 14 - utf8_cells(fitted), "");
            buf_fixed(out, 9, (double)share[i], 5);
            if (of_cosine)
                buf_fixed(out, 11, (double)of_cosine[i], 5);
            buf_putc(out, '\n');
        }
    }
    buf_puts(out, json && y ? "]}" : "");
    free(of_cosine);
    return y != NULL;
}

static int embed(Work *w, Err *err)
{
    const Options *o = w->options;
    Session *s = &w->session;
    const char *other = o->input && o->word_count > 1 ? o->word[1] : o->word_count > 2 ? o->word[2] : NULL;
    float alike;
    w->link.input = o->input ? o->input : o->word[1];
    if (!work_open(w, LINE_OWN, err) || !work_complete(w, err))
        return STATUS_BAD;
    if (!session_words(s, SIDE_B) || site_node_any(session_graph(s, SIDE_B), SITE_EMBEDDING_UNIT) == NO_NODE) {
        if (model_way(s->now->model) == MODEL_READS)
            err_set(err,
                    "%.200s: its modules.json asks for what is not computed here (`vitrine info` has the line), so a "
                    "text has no vector; the mean and the first token are",
                    s->model.name);
        else
            err_set(err, "%.200s makes no vector of a text: encoders do (`vitrine help models`)", s->model.name);
        return STATUS_BAD;
    }
    if (other) {
        session_pin(s, s->now);
        if (!session_open_input(s, other, err) || !work_complete(w, err))
            return STATUS_BAD;
    }
    if (o->json) {
        json_open(&w->out, NULL, '{');
        json_open(&w->out, "texts", '[');
    }
    for (int side = other ? SIDE_A : SIDE_B; side <= SIDE_B; side++) {
        if (!put_embedding(s, (Side)side, o->json, &w->out, err))
            return STATUS_BAD;
        buf_puts(&w->out, side == SIDE_A && !o->json ? "\n" : "");
    }
    bool compares = other && difference_likeness(s, &alike);
    buf_puts(&w->out, o->json ? "]" : "");
    if (compares && o->json)
        json_put_float(&w->out, "cosine", alike);
    else if (compares)
        buf_printf(&w->out, "\ncosine %.5f (1: the same direction, 0: nothing in common)\n", (double)alike);
    if (o->json)
        work_json_nan(s, &w->out);
    else if (ask_nan_begins(s, SIDE_B, &w->out))
        buf_putc(&w->out, '\n');
    buf_puts(&w->out, o->json ? "}\n" : "");
    return STATUS_DONE;
}

const Verb VERB_EMBED = {
    .name = "embed",
    .usage = "embed -m FOLDER -i TEXT [TEXT] [--json]",
    .summary = "a text as a vector, or two and their cosine, and which tokens carry it",
    .details = "For encoders. The vector is made as the folder's modules.json says, or is the mean of the last tokens. "
               "What a token carries is its part of that mean along the text's direction: x·u / (N |y|); all of them "
               "add up to 1. Of a second text's direction, the same adds up to the cosine. Tokens count from 0. --json "
               "has all numbers of the vectors at length 1, and how long each is before that.",
    .example = "vitrine embed -m minilm/ -i \"a cat sleeps\" \"a dog sleeps\"",
    .flags = VERB_ALONE | VERB_JSON,
    .check = check_embed,
    .run = embed,
};
