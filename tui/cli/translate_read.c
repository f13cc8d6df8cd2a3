/* What `translate` and `write` read: how words are chosen, and the text, by options and words of the command line. */
#include <stdlib.h>
#include <string.h>

#include "core/train/grammar.h"
#include "tui/cli/translate.h"

enum { SENTENCE_BYTES = 4096 };

static bool number(const char *option, const char *text, double low, double high, double *out, Err *err)
{
    char *end;
    if (!text)
        return true;
    double x = strtod(text, &end);
    if (end == text || *end || !(x >= low && x <= high))
        return err_set(err, "--%s %.40s: expected a number from %g to %g", option, text, low, high);
    *out = x;
    return true;
}

bool request_how(const Options *o, DecodeOptions *how, Err *err)
{
    bool draws = o->temperature || o->top_k || o->top_p;
    *how = decode_options_default();
    if (draws && o->beam)
        return err_set(
            err, "--beam keeps the best beginnings, --temperature, --top-k and --top-p draw: give one or the other");
    if (o->alpha && !o->beam)
        return err_set(err, "--alpha is a beam's length penalty: give --beam too");
    if (o->seed >= 0 && !draws)
        return err_set(err, "--seed is for drawing words: give --temperature, --top-k or --top-p too");
    how->kind = o->beam ? DECODE_BEAM : draws ? DECODE_SAMPLE : DECODE_GREEDY;
    how->cache = !o->no_cache;
    how->width = o->beam ? (int)o->beam : how->width;
    how->top_k = (int)o->top_k;
    how->seed = o->seed >= 0 ? (uint64_t)o->seed : 1;
    how->most = o->words ? (int)o->words : o->steps ? (int)o->steps : how->most;
    if (o->steps > DECODE_WORDS_MAX) /* "at most": no model takes as many, and where it is full is said (find_room) */
        how->most = DECODE_WORDS_MAX;
    return number("alpha", o->alpha, 0, 10, &how->alpha, err) &&
           number("temperature", o->temperature, 0, 1000, &how->temperature, err) &&
           number("top-p", o->top_p, 1e-9, 1, &how->top_p, err) && decode_options_check(how, err);
}

/* -i and the words after the verb, one text whether they were quoted or not. */
static void put_typed(const Request *r, Buf *out)
{
    const Options *o = r->w->options;
    buf_puts(out, o->input ? o->input : "");
    for (int i = 1; i < o->word_count; i++)
        buf_printf(out, "%s%s", out->len ? " " : "", o->word[i]);
}

/* What is read, and behind a > how the answer begins. */
static bool read_texts(Request *r, const char *typed, Err *err)
{
    const bool reads = model_way(&r->model) & MODEL_READS;
    Arena arena = {0};
    const char *source = reads ? text_typed(&r->model, typed, TEXT_SOURCE, &arena) : typed,
               *begin = reads ? text_typed(&r->model, typed, TEXT_TARGET, &arena) : NULL;
    bool ok = words_parse(&r->source, model_vocabulary(&r->model), source, reads, err);
    if (ok && begin && begin[strspn(begin, " ")])
        ok = text_begin(&r->model, begin, &r->begin, err);
    r->how.begin = r->begin.number;
    r->how.begin_n = r->begin.n;
    arena_free(&arena);
    return ok;
}

bool request_sentence(Request *r, Err *err)
{
    Buf text = {0};
    put_typed(r, &text);
    const unsigned way = model_way(&r->model);
    if (way != (MODEL_READS | MODEL_WRITES)) {
        buf_free(&text);
        return err_set(err,
                       way == MODEL_READS
                           ? "%.200s: an encoder writes nothing: `vitrine run -m` shows what it reads"
                           : "%.200s reads no other text to translate: `vitrine write -m` carries one on",
                       r->model.name);
    }
    bool ok = text.len < SENTENCE_BYTES || err_set(err, "a sentence may have %d bytes", (int)SENTENCE_BYTES);
    const Vocabulary *v = model_vocabulary(&r->model);
    if (ok && !v->word && strncmp(buf_str(&text), "ids:", 4) != 0)
        ok = err_set(err, "%.200s: its words have no names; `vitrine run -i \"3 5 4\"` gives them by number",
                     r->model.name);
    if (ok && !read_texts(r, buf_str(&text), err))
        ok = grammar_suggest(&r->model, buf_str(&text), "vitrine translate", err);
    buf_free(&text);
    return ok;
}

bool request_beginning(Request *r, Err *err)
{
    if (model_way(&r->model) == MODEL_READS)
        return err_set(err, "%.200s: an encoder writes nothing: `vitrine run -m` shows what it reads from a text",
                       r->model.name);
    Buf text = {0};
    put_typed(r, &text);
    bool ok = read_texts(r, buf_str(&text), err);
    buf_free(&text);
    return ok;
}

/* The same with -c: the commands are done on a screen of that text, and the changes that they leave are in force. */
static bool read_changed(Request *r, Err *err)
{
    Work *w = r->w;
    const Session *s = &w->session;
    Buf text = {0};
    Text read = {0};
    put_typed(r, &text);
    words_free(&r->source);
    model_free(&r->model);
    r->lent = true;
    const Options *asked = w->options;
    Options named = *asked; /* a sentence is opened by the translator, whatever else it could be */
    named.model = asked->model ? asked->model : "translator";
    w->options = &named;
    w->link.input = buf_str(&text);
    bool ok = work_open(w, LINE_OWN, err);
    w->link.input = NULL;
    w->options = asked;
    buf_free(&text);
    const Model *m = ok ? decoding_reads(s, SIDE_B, &read) : NULL;
    if (ok && (!m || !(model_way(m) & MODEL_WRITES)))
        ok = err_set(err, "%.200s writes nothing: name a decoder with -m", s->model.name);
    if (!ok)
        return false;
    r->model = *m;
    words_set(&r->source, (model_way(m) & MODEL_READS) ? &m->source : &m->target, read.word, read.count);
    r->how.edits = decoding_edits(s, SIDE_B);
    return true;
}

bool request_open(Request *r, const char *model, bool (*read)(Request *r, Err *err), Err *err)
{
    const Options *o = r->w->options;
    bool ok = request_how(o, &r->how, err) && text_open(&r->model, model, err) && read(r, err) &&
              (!o->commands.len || read_changed(r, err));
    r->how.memory = work_memory(r->w);
    return ok;
}
