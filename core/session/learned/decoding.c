#include "core/session/learned/decoding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/models/text_model.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/learned/measures_parts.h"

/* One side's search, twice. */
typedef struct Search {
    /* what it is of */
    const Model *model;
    int *source, count;
    Buf lines; /* of the changes */
    /* how far it is */
    Decoder *kept, *without; /* both are NULL before and after `why` */
    bool kept_done, without_done;
    Decoding found;
} Search;

enum { SEARCHES = 4 }; /* of A and B, each twice */

/* What was on show before or behind an Enter; a NULL: nothing was pinned. */
typedef struct Noted {
    char *b, *a;
    int line, other;
} Noted;

struct DecodingWork {
    Search side[2];
    size_t most;       /* bytes held behind a step */
    char *typed, *ran; /* the text that was on show before a beginning was run, and what was opened then */
    Noted *noted;      /* [noted_count]: a place's number is its index + 1 */
    size_t noted_cap;
    int noted_count;
};

static void free_search(Search *w)
{
    decoder_free(w->kept);
    decoder_free(w->without);
    free(w->source);
    free(w->found.line);
    buf_free(&w->lines);
    buf_free(&w->found.written);
    *w = (Search){0};
}

void decoding_free(struct DecodingWork *w)
{
    if (!w)
        return;
    free_search(&w->side[0]);
    free_search(&w->side[1]);
    free(w->typed);
    free(w->ran);
    for (int i = 0; i < w->noted_count; i++) {
        free(w->noted[i].b);
        free(w->noted[i].a);
    }
    free(w->noted);
    free(w);
}

DecodeOptions decoding_options(const Session *s)
{
    DecodeOptions o = decode_options_default();
    o.kind = (DecodeKind)s->look.decoding.by;
    o.width = s->look.decoding.width;
    o.alpha = s->look.decoding.alpha / 100.0;
    o.temperature = s->look.decoding.temperature / 100.0;
    o.top_k = s->look.decoding.top_k;
    o.top_p = s->look.decoding.top_p / 100.0;
    o.seed = (uint64_t)s->look.decoding.seed;
    return o;
}

const Model *decoding_reads(const Session *s, Side side, Text *read)
{
    const Exhibit *e = session_exhibit(s, side);
    const Model *m = e ? e->model : NULL;
    if (!model_way(m))
        return NULL;
    *read = e->input.text[model_given(m)];
    if (model_way(m) == MODEL_WRITES && read->count && read->word[0] == m->target.start) {
        read->word++;
        read->count--;
    }
    return m;
}

DecodeEdits decoding_edits(const Session *s, Side side)
{
    const Exhibit *e = session_exhibit(s, side);
    const bool plain = !e || (side == SIDE_A && !session_pinned(s));
    return plain ? (DecodeEdits){0} : (DecodeEdits){e->pass.edits, e->pass.edit_count, e->pass.base};
}

/* The lines that a side's changes were made from, and whose values they hold: another list may lie where one was. */
static void put_lines(const Session *s, Side side, Buf *out)
{
    const bool pinned = side == SIDE_A && session_pinned(s);
    const EditState *lines = pinned ? &s->pinned->lines : &s->edits;
    for (int i = 0; i < (decoding_edits(s, side).count ? lines->count : 0); i++)
        buf_printf(out, "%s %p\n", lines->line[i], (void *)lines->values[i]);
}

static bool same_edits(const DecodeEdits *a, const DecodeEdits *b)
{
    return a->count == b->count && (!a->count || (a->edit == b->edit && a->of == b->of));
}

static bool same_how(const DecodeOptions *a, const DecodeOptions *b)
{
    const double x[] = {a->kind, a->width, a->alpha, a->temperature, a->top_k, a->top_p, (double)a->seed},
                 y[] = {b->kind, b->width, b->alpha, b->temperature, b->top_k, b->top_p, (double)b->seed};
    return memcmp(x, y, sizeof x) == 0;
}

static bool is_of(const Search *w, const Session *s, Side side, const Model *m, const Text *read,
                  const DecodeOptions *how)
{
    Buf lines = {0};
    put_lines(s, side, &lines);
    const bool same = strcmp(buf_str(&lines), buf_str(&w->lines)) == 0;
    buf_free(&lines);
    return same && w->model == m && m && w->count == read->count && same_how(&w->found.how, how) &&
           same_edits(&w->found.how.edits, &how->edits) &&
           (!read->count || memcmp(w->source, read->word, (size_t)read->count * sizeof *w->source) == 0);
}

const Decoding *session_decoding(const Session *s, Side side)
{
    Text read = {0};
    const Model *m = decoding_reads(s, side, &read);
    DecodeOptions how = decoding_options(s);
    const struct DecodingWork *all = s->measures ? s->measures->decoding : NULL;
    const Search *w = all ? &all->side[session_compares(s) && side == SIDE_A ? 0 : 1] : NULL;
    how.edits = decoding_edits(s, side);
    return w && is_of(w, s, side, m, &read, &how) ? &w->found : NULL;
}

int decoding_line(const Session *s, const Decoding *d)
{
    int line = s->look.decoding.line - 1;
    if (line < 0) /* nobody has chosen one: the first word of what was written */
        for (line = 0; line < d->lines && !d->line[line].best;)
            line++;
    return line < d->lines ? line : d->lines ? d->lines - 1 : 0;
}

const DecodeDraw *decoding_draw(const Session *s, const Decoding *d)
{
    if (!d || !d->done || !d->lines)
        return NULL;
    return d->text->node[d->text->node[d->line[decoding_line(s, d)].node].parent].draw;
}

int decoding_other(const Session *s, const Decoding *d)
{
    const DecodeDraw *draw = decoding_draw(s, d);
    const int i = draw ? s->look.decoding.other - 1 : -1;
    return draw && i >= draw->count ? draw->count - 1 : i;
}

const char *decoding_typed(const Session *s)
{
    const struct DecodingWork *w = s->measures ? s->measures->decoding : NULL;
    return w && w->typed && strcmp(session_input(s, SIDE_B)->path, w->ran) == 0 ? w->typed : NULL;
}

void decoding_keep_typed(Session *s, const char *spec)
{
    struct DecodingWork *w = s->measures ? s->measures->decoding : NULL;
    const char *was = session_input(s, SIDE_B)->path;
    if (!w || !*was)
        return;
    if (!decoding_typed(s)) { /* of a beginning of a beginning the first one stays */
        free(w->typed);
        w->typed = xstrdup(was);
    }
    free(w->ran);
    w->ran = xstrdup(spec);
}

static bool same_text(const char *x, const char *y)
{
    return x && y ? strcmp(x, y) == 0 : x == y;
}

static void note_line(const Session *s, Noted *n)
{
    n->line = s->look.decoding.line;
    n->other = s->look.decoding.other;
}

int decoding_note(Session *s)
{
    struct DecodingWork *w = s->measures ? s->measures->decoding : NULL;
    const char *b = session_input(s, SIDE_B)->path,
               *a = session_pinned(s) && s->pinned->model == s->now->model ? s->pinned->input.path : NULL;
    if (!w || !*b)
        return 0;
    int i = 0;
    while (i < w->noted_count && !(same_text(w->noted[i].b, b) && same_text(w->noted[i].a, a)))
        i++;
    if (i == w->noted_count) {
        w->noted = grow(w->noted, &w->noted_cap, (size_t)i, sizeof *w->noted);
        w->noted[w->noted_count++] = (Noted){.b = xstrdup(b), .a = a ? xstrdup(a) : NULL};
    }
    note_line(s, &w->noted[i]);
    return i + 1;
}

/* B's text beside A's, which Enter has pinned. */
static bool open_both(Session *s, const Noted *n, Err *err)
{
    Input in;
    if (!session_open_input(s, n->a, err) || !input_open(&in, s->now->model, n->b, err) || !session_beside(s, &in, err))
        return false;
    s->compare = s->compare == COMPARE_OFF ? COMPARE_SIDES : s->compare;
    return true;
}

void decoding_return(Session *s, int from, int to)
{
    struct DecodingWork *w = s->measures ? s->measures->decoding : NULL;
    Err err;
    if (!w || to < 1 || to > w->noted_count || to == from)
        return;
    const Noted *n = &w->noted[to - 1];
    const bool had = from > 0 && from <= w->noted_count && w->noted[from - 1].a;
    if (from > 0 && from <= w->noted_count)
        note_line(s, &w->noted[from - 1]);
    if (had && !n->a) { /* what the user pinned stays */
        session_drop(s, s->pinned);
        s->compare = session_compares(s) ? s->compare : COMPARE_OFF;
    }
    if (!(n->a ? open_both(s, n, &err) : session_open_input(s, n->b, &err)))
        session_say(s, "%s", err.text);
    s->look.decoding.line = n->line;
    s->look.decoding.other = n->other;
}

void decoding_put_how(const DecodeOptions *how, Buf *out)
{
    if (how->kind == DECODE_GREEDY)
        buf_puts(out, "greedy");
    else if (how->kind == DECODE_BEAM)
        buf_printf(out, "beam of %d, alpha %.2f", how->width, how->alpha);
    else {
        buf_printf(out, "drawn, seed %llu, temperature %.2f", (unsigned long long)how->seed, how->temperature);
        if (how->top_k)
            buf_printf(out, ", top-k %d", how->top_k);
        if (how->top_p < 1)
            buf_printf(out, ", top-p %.2f", how->top_p);
    }
}

/* --- the tree as lines --- */

typedef struct Tree {
    Search *w;
    const Decode *d;
    int *first, *next; /* [count]: children in the order in which they were found; −1: none */
    double *worth;     /* [count]: the best score of an end at or under it, or how long what was read of it is */
} Tree;

static void put_line(Tree *t, int node, int depth, bool aside, bool best)
{
    Decoding *found = &t->w->found;
    const DecodeNode *n = &t->d->node[node];
    const Vocabulary *v = &t->w->model->target;
    DecodingLine *l = &found->line[found->lines++];
    *l = (DecodingLine){.node = node, .depth = depth, .aside = aside, .best = best};
    l->fate = node == t->d->best    ? DECODING_BEST
              : n->cut              ? DECODING_CUT
              : n->ended            ? DECODING_ENDED
              : t->first[node] >= 0 ? DECODING_READ
                                    : DECODING_LEFT;
    if (v->word && n->word >= 0 && n->word < v->n)
        utf8_fit(l->word, sizeof l->word, v->word[n->word], -1);
    else
        snprintf(l->word, sizeof l->word, "%d", n->word);
}

/* The child that its column goes on with: the one that is worth most, the first of equals. */
static int trunk_of(const Tree *t, int node)
{
    int trunk = t->first[node];
    for (int c = trunk; c >= 0; c = t->next[c])
        trunk = t->worth[c] > t->worth[trunk] ? c : trunk;
    return trunk;
}

/* What follows a beginning: first all that stands aside of the way that goes on, then that. */
static void put_under(Tree *t, int node, int depth, bool best)
{
    for (int at = node, trunk; (trunk = trunk_of(t, at)) >= 0; at = trunk) {
        for (int c = t->first[at]; c >= 0; c = t->next[c])
            if (c != trunk) {
                put_line(t, c, depth + 1, true, false);
                put_under(t, c, depth + 1, false);
            }
        put_line(t, trunk, depth, false, best);
    }
}

static void make_lines(Search *w)
{
    const Decode *d = w->found.text;
    Tree t = {.w = w, .d = d};
    size_t n = (size_t)d->count;
    int *last = xcalloc(n, sizeof *last);
    t.first = xcalloc(n, sizeof *t.first);
    t.next = xcalloc(n, sizeof *t.next);
    t.worth = xcalloc(n, sizeof *t.worth);
    w->found.line = xcalloc(n, sizeof *w->found.line);
    for (size_t i = 0; i < n; i++) {
        t.first[i] = t.next[i] = last[i] = -1;
        t.worth[i] = d->node[i].ended ? d->node[i].score : -1e9 + d->node[i].length;
    }
    for (int i = 1; i < d->count; i++) {
        int p = d->node[i].parent;
        if (last[p] < 0)
            t.first[p] = i;
        else
            t.next[last[p]] = i;
        last[p] = i;
    }
    for (int i = d->count - 1; i > 0; i--) { /* parents stand before their children */
        double *up = &t.worth[d->node[i].parent];
        *up = t.worth[i] > *up ? t.worth[i] : *up;
    }
    put_under(&t, 0, 0, true);
    free(last);
    free(t.first);
    free(t.next);
    free(t.worth);
}

/* What the lines on the best way say together: pieces joined, without the end. */
static void put_written(Search *w)
{
    Decoding *f = &w->found;
    const Vocabulary *v = &w->model->target;
    int *number = xcalloc((size_t)f->lines + 1, sizeof *number), n = 0;
    for (int i = 0; i < f->lines; i++) {
        int word = f->text->node[f->line[i].node].word;
        if (f->line[i].best && word >= 0 && !vocabulary_ends(v, word) && word != v->start && word != v->pad)
            number[n++] = word;
    }
    words_text(v, number, n, &f->written);
    free(number);
}

/* --- the search --- */

static bool same_bits(const Decode *a, const Decode *b)
{
    bool same = a->count == b->count && a->best == b->best;
    for (int i = 0; same && i < a->count; i++) {
        const DecodeNode *x = &a->node[i], *y = &b->node[i];
        const double of_x[] = {x->share, x->log_share, x->score}, of_y[] = {y->share, y->log_share, y->score};
        same = x->word == y->word && x->parent == y->parent && memcmp(of_x, of_y, sizeof of_x) == 0;
    }
    return same;
}

static void begin(Search *w, const Session *s, Side side, const Model *m, const Text *read, const DecodeOptions *how)
{
    Err err = {{0}};
    DecodeOptions o = *how;
    free_search(w);
    put_lines(s, side, &w->lines);
    w->model = m;
    w->count = read->count;
    w->source = xcalloc((size_t)read->count + 1, sizeof *w->source);
    if (read->count)
        memcpy(w->source, read->word, (size_t)read->count * sizeof *w->source);
    w->found.how = *how;
    const int room = decode_room(m, w->count);
    w->found.takes = room >= 1 && room < o.most ? seq2seq_longest(&m->text) : 0;
    o.most = w->found.takes ? room : o.most;
    o.forget = true;
    o.memory = s->memory / ((size_t)s->exhibit_count + 1) / SEARCHES;
    o.cache = true;
    w->kept = decoder_new(m, w->source, w->count, &o, NULL, &err);
    o.cache = false;
    w->without = w->kept ? decoder_new(m, w->source, w->count, &o, NULL, &err) : NULL;
    if (!w->without)
        snprintf(w->found.why, sizeof w->found.why, "%s", err.text);
    else
        w->found.text = decoder_text(w->kept);
    w->found.done = !w->without;
}

static void end(Search *w)
{
    const Decode *without = decoder_text(w->without);
    w->found.kept = w->found.text->cost;
    w->found.without = without->cost;
    w->found.cut = decode_cut(w->found.text);
    w->found.same = same_bits(w->found.text, without);
    make_lines(w);
    put_written(w);
    decoder_free(w->without);
    w->without = NULL;
    w->found.done = true;
}

/* A beginning more; true: all is there. */
static bool step(Search *w)
{
    Err err = {{0}};
    DecoderState state = DECODER_MORE;
    if (w->found.done)
        return true;
    if (!w->kept_done)
        w->kept_done = (state = decoder_step(w->kept, &err)) == DECODER_DONE;
    else
        w->without_done = (state = decoder_step(w->without, &err)) == DECODER_DONE;
    if (state == DECODER_FAILED) {
        snprintf(w->found.why, sizeof w->found.why, "%s", err.text);
        w->found.done = true;
    } else if (w->without_done)
        end(w);
    return w->found.done;
}

size_t decoding_held(const Session *s, size_t *most)
{
    const struct DecodingWork *w = s->measures ? s->measures->decoding : NULL;
    size_t held = 0;
    for (int k = 0; w && k < 2; k++)
        held += decoder_held(w->side[k].kept) + decoder_held(w->side[k].without);
    *most = w ? w->most : 0;
    return held;
}

bool decoding_step(Session *s, int64_t deadline_ns)
{
    DecodeOptions how = decoding_options(s);
    struct Measures *all = measures_of(s);
    bool done = true;
    if (!all->decoding) {
        all->decoding = xcalloc(1, sizeof *all->decoding);
        session_budget(s, s->memory); /* what is on show makes room */
    }
    for (int k = session_compares(s) ? 0 : 1; k < 2; k++) {
        Search *w = &all->decoding->side[k];
        const Side side = k ? SIDE_B : SIDE_A;
        Text read;
        const Model *m = decoding_reads(s, side, &read);
        how.edits = decoding_edits(s, side);
        if (!m)
            continue;
        if (!is_of(w, s, side, m, &read, &how)) {
            begin(w, s, side, m, &read, &how);
            s->changes++;
        }
        while (!w->found.done) {
            size_t most, held;
            step(w);
            held = decoding_held(s, &most);
            all->decoding->most = held > most ? held : most;
            s->changes++;
            if (!w->found.done && clock_ns() >= deadline_ns)
                break;
        }
        done = done && w->found.done;
    }
    return done;
}

bool decoding_all(Session *s, Err *err)
{
    while (!decoding_step(s, clock_ns() + 20000000))
        if (s->progress && !s->progress(s->progress_context, "writing", 0))
            return err_set(err, "cancelled");
    const Decoding *d = session_decoding(s, SIDE_B);
    return !d || !*d->why || err_set(err, "%s", d->why);
}
