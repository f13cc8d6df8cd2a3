/* `vitrine translate`: a sentence, written word by word. `vitrine write`: a text, carried on word by word. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/byte_text.h"
#include "core/base/mem.h"
#include "core/base/stop.h"
#include "core/base/utf8.h"
#include "core/io/json.h"
#include "core/models/decode.h"
#include "core/session/ask/number.h"
#include "core/session/learned/decoding.h"
#include "core/session/session.h"
#include "core/train/grammar.h"
#include "tui/cli/translate.h"
#include "tui/cli/verbs.h"

enum { NEXT_WORDS = 3 };

static bool check(const Options *o, const Link *l, Err *err)
{
    DecodeOptions how;
    (void)l;
    if (o->word_count < 2 && !o->vocabulary && !o->input)
        return err_set(err, "name a sentence: vitrine translate \"the cat is tired\"");
    if (o->output || o->at)
        return err_set(err, "translate writes on standard output: -o and --at mean nothing here");
    return request_how(o, &how, err);
}

const char *request_word(const Request *r, int number, char digits[16])
{
    if (r->model.target.word && number >= 0 && number < r->model.target.n)
        return r->model.target.word[number];
    snprintf(digits, 16, "w%d", number);
    return digits;
}

/* Word i of the best text, and the step that wrote it. */
static const DecodeNode *written(const Decode *d, int i)
{
    int at = d->best;
    while (d->node[at].length > i + 1)
        at = d->node[at].parent;
    return &d->node[at];
}

static const DecodeNode *step_of(const Decode *d, int i)
{
    return &d->node[written(d, i)->parent];
}

/* As screens have it: ">99.9 %" is not 100. */
static void put_share(Buf *out, int width, float share)
{
    char text[32];
    share_text(text, sizeof text, share);
    buf_printf(out, "%*s", width, text);
}

/* The words with the largest shares in the last row of a step, largest first. */
static int next_words(const Request *r, const DecodeNode *step, int best[NEXT_WORDS], float share[NEXT_WORDS])
{
    int words = r->model.text.target_words, n = 0;
    size_t cells = graph_cells(step->graph, step->nodes.probs);
    const float *p = run_need(step->run, step->nodes.probs) + (cells - (size_t)words);
    for (int w = 0; w < words; w++) {
        int at = n < NEXT_WORDS ? n++ : NEXT_WORDS;
        if (at == NEXT_WORDS && p[w] <= share[NEXT_WORDS - 1])
            continue;
        for (at = at == NEXT_WORDS ? at - 1 : at; at > 0 && p[w] > share[at - 1]; at--) {
            best[at] = best[at - 1];
            share[at] = share[at - 1];
        }
        best[at] = w;
        share[at] = p[w];
    }
    return n;
}

static void pad_to(Buf *out, const char *text, int cells)
{
    int used = utf8_cells(text);
    buf_printf(out, "%s%*s", text, cells > used ? cells - used : 0, "");
}

/* Where words are drawn, beside a word's probability that with which the options had it drawn. */
static void put_drawn(const Request *r, int i, Buf *out)
{
    if (r->how.kind != DECODE_SAMPLE)
        return;
    buf_puts(out, "    ");
    if (step_of(&r->d, i)->draw)
        put_share(out, 8, (float)step_of(&r->d, i)->draw->taken);
    else
        buf_printf(out, "%8s", "");
}

static const char *drawn_head(const Request *r)
{
    return r->how.kind == DECODE_SAMPLE ? "  drawn with" : "";
}

static void put_which(const Request *r, Buf *out)
{
    if (r->how.kind == DECODE_SAMPLE)
        buf_puts(out, "  prob.: as the model has it, at temperature 1; drawn with: by the options\n");
}

static void put_steps(const Request *r, Buf *out)
{
    for (int i = 0; i < r->d.length; i++) {
        int best[NEXT_WORDS], n;
        float share[NEXT_WORDS];
        const DecodeNode *step = step_of(&r->d, i);
        size_t words = (size_t)r->model.text.target_words, cells = graph_cells(step->graph, step->nodes.probs);
        float own = run_need(step->run, step->nodes.probs)[cells - words + (size_t)r->d.word[i]];
        n = next_words(r, step, best, share);
        buf_printf(out, "  %3d  ", i + 1);
        pad_to(out, request_word(r, r->d.word[i], (char[16]){0}), 14);
        put_share(out, 8, own);
        put_drawn(r, i, out);
        if (written(&r->d, i)->forced) {
            buf_puts(out, "   forced\n");
            continue;
        }
        for (int k = 0, shown = 0; k < n && shown < 2; k++)
            if (best[k] != r->d.word[i]) {
                buf_puts(out, "   ");
                pad_to(out, request_word(r, best[k], (char[16]){0}), 12);
                put_share(out, 7, share[k]);
                shown++;
            }
        buf_putc(out, '\n');
    }
}

/* Was no word that followed it among the best? */
static bool left(const Decode *d, int node)
{
    for (int i = node + 1; i < d->count; i++)
        if (d->node[i].parent == node)
            return false;
    return true;
}

/* The tree of beginnings, a parent above its children. */
static void put_tree(const Request *r, int parent, int depth, Buf *out)
{
    for (int i = 1; i < r->d.count; i++) {
        const DecodeNode *n = &r->d.node[i];
        if (n->parent != parent)
            continue;
        buf_printf(out, "  %*s", depth * 2, "");
        pad_to(out, request_word(r, n->word, (char[16]){0}), 14);
        put_share(out, 8, (float)n->share);
        buf_puts(out, "   log prob. ");
        buf_fixed(out, 8, n->log_share, 3);
        buf_puts(out, "   score ");
        buf_fixed(out, 8, n->score, 3);
        buf_printf(out, "%s\n",
                   i == r->d.best   ? "   best"
                   : n->cut         ? "   cut"
                   : n->ended       ? "   ended"
                   : left(&r->d, i) ? "   left"
                                    : "");
        put_tree(r, i, depth + 1, out);
    }
}

/* A sentence unlike those that it learnt from: said, and one beside it that is like them. */
static void put_outside(const Request *r, Buf *out)
{
    Buf text = {0}, near = {0};
    if (!r->model.trained || !grammar_outside(&r->model, r->source.number, r->source.n, false, out))
        return;
    words_text(&r->model.source, r->source.number, r->source.n, &text);
    if (grammar_nearest(buf_str(&text), &near))
        buf_printf(out, "\nNear it, and like them: vitrine translate \"%s\"", buf_str(&near));
    buf_putc(out, '\n');
    buf_free(&text);
    buf_free(&near);
}

/* The end of the line of costs, and under which changes. */
static void put_kept(const Request *r, Buf *out)
{
    if (r->d.anew)
        buf_puts(out, "; no keys and values kept: a change reaches other tokens than its own");
    else if (r->how.cache)
        buf_printf(out, "; %.0f bytes of keys and values kept", r->d.cost.cache_bytes);
    buf_putc(out, '\n');
    work_put_changes(r->w, out);
    if (r->d.stopped)
        buf_printf(out, "stopped after %d words\n", r->d.length);
}

static void put_numbers(const Vocabulary *v, const int *word, int n, Buf *out)
{
    Buf text = {0};
    words_text(v, word, n, &text);
    byte_text_shown(buf_str(&text), false, out);
    buf_free(&text);
}

static void put_text(const Request *r, Buf *out)
{
    const DecodeCost *c = &r->d.cost;
    if (r->begin.n) {
        put_numbers(&r->model.target, r->begin.number, r->begin.n, out);
        buf_puts(out, " | ");
    }
    put_numbers(&r->model.target, r->d.word, r->d.length, out);
    buf_putc(out, '\n');
    put_outside(r, out);
    buf_printf(out, "\n  word                 prob.%s   next best\n", drawn_head(r));
    put_steps(r, out);
    put_which(r, out);
    if (!r->w->options->model) /* the translator of the program, whose recipe says so */
        buf_puts(out, "  Hardly ever much above 90 %: training gave a tenth of every answer to all words alike (label "
                      "smoothing).\n");
    if (r->w->options->tree) {
        buf_puts(out, "\nbeginnings\n");
        put_tree(r, 0, 0, out);
    }
    buf_printf(out, "\n%d steps, %.0f multiply-adds, %.0f bytes of values", c->steps, c->multiply_adds, c->bytes);
    put_kept(r, out);
    if (decode_cut(&r->d) && r->fills)
        buf_printf(out, "cut at %d words: the model writes no more, and had not come to an end\n", r->d.length);
    else if (decode_cut(&r->d))
        buf_printf(out, "cut at %d words (--words): %s\n", r->d.length, vocabulary_endless(&r->model.target));
    if (*r->source.left_out)
        buf_printf(out, "left out: \"%s\" (not among its words)\n", r->source.left_out);
    if (!r->model.trained)
        buf_puts(out, "the weights come from a seed: what this model writes means nothing\n");
}

static bool goes_on(const char *text, const Buf *before)
{
    return strncmp(text, buf_str(before), before->len) == 0;
}

/* Words that were written, as text. Behind a beginning it is what the text is longer by, with the blank in front where
 * there is one. */
static void put_words(const Request *r, const int *word, int n, Buf *out)
{
    const Words *from = model_way(&r->model) & MODEL_READS ? &r->begin : &r->source;
    const int given = from->n;
    int *all = xcalloc((size_t)(given + n) + 1, sizeof *all);
    Buf before = {0}, text = {0};
    for (int i = 0; i < given; i++)
        all[i] = from->number[i];
    memcpy(all + given, word, (size_t)n * sizeof *all);
    words_text(&r->model.target, all, given, &before);
    words_text(&r->model.target, all, given + n, &text);
    if (goes_on(buf_str(&text), &before))
        buf_puts(out, buf_str(&text) + before.len);
    else
        words_text(&r->model.target, word, n, out);
    buf_free(&before);
    buf_free(&text);
    free(all);
}

void request_answer(const Request *r, Buf *out)
{
    put_words(r, r->d.word, r->d.length, out);
}

static void put_beginning(const Request *r, Buf *out)
{
    put_numbers(model_vocabulary(&r->model), r->source.number, r->source.n, out);
    buf_puts(out, model_way(&r->model) & MODEL_READS ? " | " : " |");
    if (r->begin.n) {
        put_numbers(&r->model.target, r->begin.number, r->begin.n, out);
        buf_puts(out, " |");
    }
}

/* What is new since the last time, in whole characters: a piece of bytes can end within one. One beginning is alive,
 * so that every node follows the one before it. */
static bool print_new(Request *r)
{
    const int n = r->d.count - 1;
    if (n < 1 || r->told == r->d.count)
        return true;
    int *word = xcalloc((size_t)n, sizeof *word);
    Buf text = {0};
    for (int i = 0; i < n; i++)
        word[i] = r->d.node[i + 1].word;
    put_words(r, word, n, &text);
    free(word);
    buf_putc(&text, '\0');
    utf8_mend(text.data);
    if (!r->told)
        put_beginning(r, &r->w->out);
    const char *more = goes_on(text.data, &r->said) ? text.data + r->said.len : "";
    byte_text_shown(more, false, &r->w->out);
    const bool ok = !r->w->out.len || work_print(r->w, &r->unsaid);
    r->closed = !ok && !*r->unsaid.text && !stop_asked();
    if (ok) {
        buf_puts(&r->said, more);
        r->told = r->d.count;
    }
    buf_free(&text);
    return ok;
}

static bool progress(void *context, int words)
{
    Request *r = context;
    char text[48] = "reading";
    if (r->flows && words)
        return print_new(r) && !stop_asked();
    if (words)
        snprintf(text, sizeof text, "writing word %d of at most %d", words + 1, r->how.most);
    return work_progress(r->w, text, (double)words / r->how.most);
}

/* The text behind what was given, and what each word had as its share. */
static void put_written(const Request *r, Buf *out)
{
    const Decode *d = &r->d;
    Buf text = {0};
    request_answer(r, &text);
    const bool runs = goes_on(buf_str(&text), &r->said);
    if (!r->told)
        put_beginning(r, out);
    buf_puts(out, runs ? "" : "\n");
    byte_text_shown(buf_str(&text) + (runs ? r->said.len : 0), false, out);
    buf_puts(out, "\n\n");
    buf_free(&text);
    if (r->model.target.cutter && r->w->options->input && words_look_numbered(r->w->options->input))
        buf_puts(out, "It was read as a text of digits; by number it is -i ids:464,3290\n\n");
    buf_printf(out, "  word                 prob.%s\n", drawn_head(r));
    for (int i = 0; i < d->length; i++) {
        const DecodeNode *n = written(d, i);
        buf_printf(out, "  %3d  ", i + 1);
        pad_to(out, request_word(r, d->word[i], (char[16]){0}), 14);
        put_share(out, 8, (float)n->share);
        put_drawn(r, i, out);
        buf_puts(out, n->forced ? "   forced\n" : "\n");
    }
    put_which(r, out);
    buf_printf(out, "\n%d steps, %.0f multiply-adds", d->cost.steps, d->cost.multiply_adds);
    put_kept(r, out);
    if (decode_cut(d) && r->fills)
        buf_printf(out,
                   "cut: the model takes %d tokens, and they are all read (%d given, %d written before the last)\n",
                   seq2seq_longest(&r->model.text), seq2seq_longest(&r->model.text) - (d->length - 1), d->length - 1);
    else if (decode_cut(d))
        buf_printf(out, "cut at %d words (--steps): %s\n", d->length, vocabulary_endless(&r->model.target));
}

/* The words of a text, as many on a line as fit. */
static int list_words(Work *w, Err *err)
{
    enum { COLUMNS = 78 };
    Model m;
    if (!text_open(&m, w->options->model, err))
        return STATUS_BAD;
    const Vocabulary *v = model_vocabulary(&m);
    int column = 0, count = 0;
    for (int i = 0; v->word && i < v->n; i++) {
        if (i == v->pad || i == v->start || i == v->end)
            continue;
        int cells = utf8_cells(v->word[i]);
        bool wraps = column + 1 + cells > COLUMNS;
        buf_printf(&w->out, "%s%s", !count++ ? "" : wraps ? "\n" : " ", v->word[i]);
        column = wraps || count == 1 ? cells : column + 1 + cells;
    }
    buf_printf(&w->out, "\n");
    model_free(&m);
    return STATUS_DONE;
}

/* What was computed, all or until it was stopped, is printed by put, or as JSON; all of it is freed. */
static int finish(Request *r, bool ok, void (*put)(const Request *r, Buf *out), Err *err)
{
    const bool kept = !ok && r->d.stopped && stop_asked();
    if (kept)
        stop_take(); /* so that it is written; then the program ends as the signal does */
    if (ok || kept)
        (r->w->options->json ? request_json : put)(r, &r->w->out);
    else if (r->told && !r->closed)
        buf_puts(&r->w->out, "\n");
    if (!ok && !r->closed && r->w->out.len)
        work_print(r->w, &r->unsaid);
    if (*r->unsaid.text || r->closed)
        *err = r->unsaid;
    ok = ok || r->closed;
    buf_free(&r->said);
    work_say_memory(r->w, r->d.needed);
    decode_free(&r->d);
    words_free(&r->begin);
    words_free(&r->source);
    if (!r->lent)
        model_free(&r->model);
    return ok ? STATUS_DONE : STATUS_BAD;
}

/* Is the model's length where the text is cut, and not the number of words that was asked for? */
static void find_room(Request *r)
{
    const int room = decode_room(&r->model, r->source.n) - r->begin.n;
    r->fills = room >= 1 && room < r->how.most;
    r->how.most = r->fills ? room : r->how.most;
}

static int translate(Work *w, Err *err)
{
    if (w->options->vocabulary)
        return list_words(w, err);
    Request r = {.w = w};
    bool ok = request_open(&r, w->options->model, request_sentence, err);
    if (ok)
        find_room(&r);
    ok = ok && decode_run(&r.d, &r.model, r.source.number, r.source.n, &r.how, NULL, progress, &r, err);
    return finish(&r, ok, put_text, err);
}

static bool check_write(const Options *o, const Link *l, Err *err)
{
    DecodeOptions how;
    (void)l;
    if (o->word_count < 2 && !o->input)
        return err_set(err, "name a text to go on from: vitrine write -m gpt2 -i ids:464,3290");
    if (!o->model)
        return err_set(err, "name a model: -m FOLDER of a decoder, such as GPT-2");
    if (o->output || o->at || o->tree || o->vocabulary || o->words)
        return err_set(err, "write writes on standard output: -o, --at, --tree, --vocabulary and --words mean nothing "
                            "here; --steps says how many words");
    return request_how(o, &how, err);
}

static int write_on(Work *w, Err *err)
{
    Request r = {.w = w};
    bool ok = request_open(&r, w->options->model, request_beginning, err);
    r.how.forget = true;
    if (ok)
        find_room(&r);
    r.flows = !w->options->json && r.how.kind != DECODE_BEAM;
    ok = ok && decode_run(&r.d, &r.model, r.source.number, r.source.n, &r.how, NULL, progress, &r, err);
    return finish(&r, ok, put_written, err);
}

const Verb VERB_WRITE = {
    .name = "write",
    .usage = "write -m MODEL -i TEXT [--steps N] [-c COMMANDS]",
    .summary = "carries a text on, or answers it, word by word, with a model of yours",
    .details =
        "The decoder in the folder (`vitrine help models`) reads the text and adds one word at a time, each printed "
        "with its probability, until it writes its end, has written --steps words, or has read as many as it takes. "
        "The text is printed as it is written; Ctrl-C ends it, and what there is by then is kept (of a beam the best "
        "so "
        "far). A "
        "model of an encoder and a decoder (T5, BART, Marian) reads the text and writes another, which "
        "begins with what stands behind a > (\"ids:3,5 > ids:4\"). -i ids:464,3290 gives "
        "them by number. Without options it takes the most probable word every time; --beam 4 keeps the four best "
        "beginnings, --temperature, --top-k and --top-p draw words, starting from a seed; a drawn word has beside its "
        "probability, which is that at temperature 1, the one that it was drawn with. Keys and values of earlier words "
        "are cached; --no-cache computes them again, with the same result bit for bit. With -c the text is "
        "written under the changes that the commands make (a head off, a score's factor, a value patched in); where a "
        "change reaches other tokens than its own, nothing is cached, and that is said.",
    .example = "vitrine write -m gpt2 -i ids:464,3290 --steps 20",
    .flags = VERB_ALONE | VERB_JSON,
    .check = check_write,
    .run = write_on,
};

const Verb VERB_TRANSLATE = {
    .name = "translate",
    .usage = "translate SENTENCE [--beam N] [--no-cache] [-c COMMANDS]",
    .summary = "translates an English sentence into French, word by word",
    .details =
        "The encoder reads the sentence, the decoder writes one word at a time, printed with its probability and the "
        "next two. The translator knows the words of a small grammar; it names a word that it does not know, and the "
        "nearest that it does; --vocabulary lists all. Where a sentence is unlike those that it was trained on, that "
        "is said, with one near to it that is like them. Without options it takes the most probable word every time; "
        "--beam 4 keeps the four best beginnings, --temperature, --top-k and --top-p draw words, starting from a seed. "
        "--tree shows every beginning. Keys and values of earlier words are cached; --no-cache computes them again, "
        "with the same result bit for bit: the counts of multiply-adds and bytes show what the cache saves. With -c it "
        "is written under the changes that the commands make. What stands behind a > is how the translation begins "
        "(\"the cat is tired > la\"). -m FOLDER is another text model.",
    .example = "vitrine translate \"the animal did not cross the street because it was too tired\"",
    .flags = VERB_ALONE | VERB_JSON,
    .check = check,
    .run = translate,
};
