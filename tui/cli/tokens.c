/* `vitrine tokens`: a text as the numbers that a model reads. */
#include <stdlib.h>
#include <string.h>

#include "core/base/byte_text.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/io/chat.h"
#include "core/io/json.h"
#include "core/io/tokenizer.h"
#include "tui/cli/verbs.h"

static bool check(const Options *o, const Link *l, Err *err)
{
    (void)l;
    if (!o->model)
        return err_set(err, "whose tokeniser? vitrine tokens -m FOLDER -i TEXT, the folder with tokenizer.json (or "
                            "vocab.json and merges.txt, vocab.txt, or a SentencePiece model)");
    if (!o->input)
        return err_set(err, "which text? -i \"the cat\", or -i - for lines from standard input");
    return !(o->output || o->commands.len || o->at) ||
           err_set(err, "tokens writes on standard output: -o, -c and --at mean nothing here");
}

/* text: what the chat template wrote, or the numbers spell; NULL: as it was given. */
static void put_object(const Tokenizer *t, const Tokens *k, const char *text, Buf *out)
{
    json_open(out, NULL, '{');
    if (text)
        json_put_text(out, "text", text);
    json_open(out, "ids", '[');
    for (size_t i = 0; i < k->n; i++)
        json_put(out, NULL, "%d", k->at[i].id);
    buf_puts(out, "]");
    json_open(out, "pieces", '[');
    for (size_t i = 0; i < k->n; i++)
        json_put_text(out, NULL, tokenizer_piece(t, k->at[i].id));
    buf_puts(out, "]");
    json_put(out, "left_out", "%zu", k->losts);
    buf_puts(out, "}\n");
}

static void put_lost(size_t n, Buf *out)
{
    buf_printf(out, "%zu character%s no piece and %s left out", n, n == 1 ? " has" : "s have", n == 1 ? "is" : "are");
}

static void put_padded(const char *piece, int cells, Buf *out)
{
    buf_printf(out, "%s%*s ", piece, cells > utf8_cells(piece) ? cells - utf8_cells(piece) : 0, "");
}

/* A text's bytes [from, to) in quotes. */
/* A part of a character by its bytes. */
static void put_text(const char *text, size_t from, size_t to, Buf *out)
{
    Buf part = {0}, shown = {0};
    buf_add(&part, text + from, to - from);
    byte_text_shown(buf_str(&part), false, &shown);
    buf_json(out, buf_str(&shown));
    buf_free(&part);
    buf_free(&shown);
}

static void put_head(const Tokenizer *t, Buf *out)
{
    buf_printf(out, "%s, %d pieces\n\n%8s  %-24s %s\n", tokenizer_kind(t), tokenizer_count(t), "id", "piece", "text");
}

/* said: a byte for each of the text, 1 where somebody said it; empty: all of it was given. */
static void put_table(const Tokenizer *t, const char *text, const Buf *said, const Tokens *k, Buf *out)
{
    if (said->len) {
        buf_puts(out, "The chat template's text: ");
        buf_json(out, text);
        buf_puts(out, "\n\n");
    }
    put_head(t, out);
    for (size_t i = 0; i < k->n; i++) {
        const Token *at = &k->at[i];
        buf_printf(out, "%8d  ", at->id);
        put_padded(tokenizer_piece(t, at->id), 24, out);
        if (at->from == at->to)
            buf_puts(out, "(put there by the tokeniser's template)");
        else
            put_text(text, at->from, at->to, out);
        if (said->len && at->from < at->to && !memchr(said->data + at->from, 1, at->to - at->from))
            buf_puts(out, "  (the chat template's)");
        buf_putc(out, '\n');
    }
    const char *signs = byte_text_signs(buf_str(out), false);
    buf_printf(out, *signs ? "\n%s\n" : "%s", signs);
    if (k->losts) {
        buf_putc(out, '\n');
        put_lost(k->losts, out);
        buf_putc(out, '\n');
    }
    if (k->merges)
        buf_printf(
            out,
            "\nThe merges, in the order in which they were done. The rank is the line of the table of merges;\nof all "
            "pairs of neighbours in a piece, the one of the lowest rank becomes one.\n\n%8s  %-14s %-14s %s\n",
            "rank", "left", "right", "text");
    for (size_t i = 0; i < k->merges; i++) {
        const TokenMerge *m = &k->merge[i];
        buf_printf(out, "%8d  ", m->rank);
        put_padded(tokenizer_piece(t, m->left), 14, out);
        put_padded(tokenizer_piece(t, m->right), 14, out);
        put_text(text, m->from, m->to, out);
        buf_putc(out, '\n');
    }
}

static bool encode(const Tokenizer *t, const char *text, size_t length, bool table, Work *w, size_t *lost, Err *err)
{
    Tokens k;
    Buf typed = {0}, chat = {0}, said = {0};
    if (w->options->chat)
        buf_add(&typed, text, length);
    bool ok = w->options->chat ? tokenizer_chat(t, buf_str(&typed), table, &k, &chat, &said, err)
                               : tokenizer_encode(t, text, length, true, table, &k, err);
    text = w->options->chat ? buf_str(&chat) : text;
    if (ok && w->options->json)
        put_object(t, &k, w->options->chat ? text : NULL, &w->out);
    else if (ok && table)
        put_table(t, text, &said, &k, &w->out);
    for (size_t i = 0; ok && !w->options->json && !table && i < k.n; i++)
        buf_printf(&w->out, "%s%d", i ? " " : "", k.at[i].id);
    if (ok && !w->options->json && !table)
        buf_putc(&w->out, '\n');
    *lost += ok ? k.losts : 0;
    if (ok)
        tokens_free(&k);
    buf_free(&typed);
    buf_free(&chat);
    buf_free(&said);
    return ok;
}

/* "ids:12,5", "ids:12,5 | ids:7": the numbers themselves. `id` has room for one for each byte of the text. */
static bool read_ids(const Tokenizer *t, const char *text, int *id, size_t *n, Err *err)
{
    static const char BETWEEN[] = " \t\r\n,|>";
    const int count = tokenizer_count(t);
    *n = 0;
    for (const char *at = text + strspn(text, BETWEEN); *at; at += strspn(at, BETWEEN)) {
        const size_t digits = strspn(at, "0123456789");
        if (strncmp(at, "ids:", 4) == 0) {
            at += 4;
            continue;
        }
        const long k = digits && digits < 10 ? strtol(at, NULL, 10) : count;
        if (!digits)
            return err_set(err, "behind ids: there are numbers, such as \"ids:%d\": \"%.20s\" is none", count - 1, at);
        if (k >= count || !tokenizer_piece(t, (int)k))
            return err_set(err, "there is no piece %.*s: this tokeniser's are 0 to %d", digits < 20 ? (int)digits : 20,
                           at, count - 1);
        id[(*n)++] = (int)k;
        at += digits;
    }
    return *n || err_set(err, "behind ids: there are numbers, such as \"ids:%d\"", count - 1);
}

/* Tokens by number: nothing is cut, each is shown with what it spells. */
static bool show_ids(const Tokenizer *t, const char *text, Work *w, Err *err)
{
    size_t n;
    int *id = xmalloc((strlen(text) + 1) * sizeof *id);
    Tokens k = {0};
    Buf all = {0};
    const bool ok = read_ids(t, text, id, &n, err);
    if (ok) {
        tokenizer_decode(t, id, n, true, &all);
        k.at = xcalloc(n, sizeof *k.at);
        k.n = n;
        for (size_t i = 0; i < n; i++)
            k.at[i].id = id[i];
    }
    if (ok && w->options->json)
        put_object(t, &k, buf_str(&all), &w->out);
    else if (ok) {
        buf_puts(&w->out, "The text of these numbers: ");
        buf_json(&w->out, buf_str(&all));
        buf_puts(&w->out, "\n\n");
        put_head(t, &w->out);
    }
    for (size_t i = 0; ok && !w->options->json && i < n; i++) {
        Buf one = {0};
        tokenizer_decode(t, &id[i], 1, true, &one);
        buf_printf(&w->out, "%8d  ", id[i]);
        put_padded(tokenizer_piece(t, id[i]), 24, &w->out);
        buf_json(&w->out, buf_str(&one));
        buf_putc(&w->out, '\n');
        buf_free(&one);
    }
    free(k.at);
    free(id);
    buf_free(&all);
    return ok;
}

/* A model that has no tokeniser because its words are whole: what lists them. */
static void say_whole_words(const char *model, Err *err)
{
    Model m;
    if (!text_open(&m, model, NULL))
        return;
    if (m.target.word && !m.target.cutter)
        err_set(err,
                "%.200s cuts no words into pieces: `vitrine translate --vocabulary -m %.200s` lists those it knows",
                m.name, model);
    model_free(&m);
}

static int tokens(Work *w, Err *err)
{
    const Options *o = w->options;
    Buf in = {0}, said = {0};
    size_t lost = 0;
    const size_t front = o->chat && strcmp(o->input, "-") != 0 ? strlen(CHAT_PREFIX) : 0;
    const char *typed = o->input + front;
    bool lines = strcmp(o->input, "-") == 0, ok = true;
    Tokenizer *t = tokenizer_open(o->model, err);
    if (!t) {
        say_whole_words(o->model, err);
        return STATUS_BAD;
    }
    if (!lines && !o->chat && strncmp(typed + strspn(typed, " "), "ids:", 4) == 0)
        ok = show_ids(t, typed, w, err);
    else if (!lines)
        ok = encode(t, typed, strlen(typed), !o->json, w, &lost, err);
    else
        ok = file_read("-", TOKENIZER_TEXT, &in, err);
    for (size_t at = 0, n; ok && lines && at < in.len; at += n + 1) {
        const char *end = memchr(in.data + at, '\n', in.len - at);
        n = end ? (size_t)(end - in.data) - at : in.len - at;
        ok = work_progress(w, "encoding", (double)at / (double)in.len) &&
             encode(t, in.data + at, n, false, w, &lost, err);
    }
    if (ok && lines && lost) {
        put_lost(lost, &said);
        work_complain(w, buf_str(&said));
    }
    buf_free(&said);
    buf_free(&in);
    tokenizer_free(t);
    return ok ? STATUS_DONE : STATUS_BAD;
}

const Verb VERB_TOKENS = {
    .name = "tokens",
    .usage = "tokens -m FOLDER -i TEXT [--chat] [--json]",
    .summary = "a text as the numbers that a model reads, piece by piece",
    .details =
        "The folder's tokenizer.json decides (BPE with bytes or byte fallback, WordPiece, Unigram, whole words), else "
        "vocab.json with merges.txt, vocab.txt, or a SentencePiece model: spiece.model, tokenizer.model, or source.spm "
        "with vocab.json. Each token is shown with its piece and the text that it stands for; of byte-pair encoding "
        "also the merges, in the order in which they were done. -i ids:12,5 shows the pieces of these numbers. -i - "
        "reads lines from standard input and writes one "
        "line of numbers for each; with --json each is an object with ids and pieces. --chat writes turns as the "
        "folder's chat template has them (\"user: … | assistant: … | user: …\") and shows what of it is the "
        "template's. What the file asks for and is not known here is refused by name.",
    .example = "vitrine tokens -m gpt2/ -i \"The cat doesn't sleep.\"",
    .flags = VERB_ALONE | VERB_JSON,
    .words = 1,
    .check = check,
    .run = tokens,
};
