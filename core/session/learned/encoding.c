#include "core/session/learned/encoding.h"

#include <stdlib.h>
#include <string.h>

#include "core/io/chat.h"
#include "core/session/exhibit.h"
#include "core/session/learned/measures_parts.h"

typedef struct Recorded {
    const Model *model; /* what it is of */
    char *path;
    Encoding text[TEXTS];
} Recorded;
struct EncodingWork {
    Recorded side[2];
};

static void free_recorded(Recorded *r)
{
    for (int k = 0; k < TEXTS; k++) {
        Encoding *e = &r->text[k];
        buf_free(&e->text);
        buf_free(&e->said);
        tokens_free(&e->k);
        free(e->of);
        free(e->part);
    }
    free(r->path);
    *r = (Recorded){.model = NULL};
}

void encoding_free(struct EncodingWork *w)
{
    if (!w)
        return;
    free_recorded(&w->side[0]);
    free_recorded(&w->side[1]);
    free(w);
}

/* --- recording --- */

/* k's tokens behind those of out, whose text goes on at byte `shift`. */
static void append(Tokens *out, const Tokens *k, size_t shift)
{
    const size_t n = out->n, merges = out->merges, cut = out->cut.len, rivals = out->rivals;
    for (size_t i = 0; i < k->n; i++) {
        out->at = grow(out->at, &out->cap, out->n, sizeof *out->at);
        Token t = k->at[i];
        out->at[out->n++] = (Token){t.id, t.from + shift, t.to + shift, t.end + cut};
    }
    for (size_t i = 0; i < k->merges; i++) {
        out->merge = grow(out->merge, &out->merge_cap, out->merges, sizeof *out->merge);
        TokenMerge *m = &out->merge[out->merges++];
        *m = k->merge[i];
        m->from += shift;
        m->to += shift;
        m->between += cut;
    }
    for (size_t i = 0; i < k->parts; i++) {
        out->part = grow(out->part, &out->part_cap, out->parts, sizeof *out->part);
        TokenPart *p = &out->part[out->parts++];
        *p = k->part[i];
        p->from += cut;
        p->to += cut;
        p->token += n;
        p->merge += merges;
        p->rival += rivals;
    }
    for (size_t i = 0; i < k->rivals; i++) {
        out->rival = grow(out->rival, &out->rival_cap, out->rivals, sizeof *out->rival);
        out->rival[out->rivals++] = k->rival[i];
    }
    buf_add(&out->normal, k->normal.data, k->normal.len);
    buf_add(&out->cut, k->cut.data, k->cut.len);
}

/* Of two segments each by itself: what stands between and around them was put there. */
static bool record_pair(Encoding *e, const char *typed, const char *bar)
{
    static const char BETWEEN[] = " | ";
    Tokens second;
    buf_puts(&e->text, typed);
    if (!tokenizer_encode(e->by, typed, (size_t)(bar - typed), false, true, &e->k, NULL) ||
        !tokenizer_encode(e->by, bar + 3, strlen(bar + 3), false, true, &second, NULL))
        return false;
    buf_puts(&e->k.normal, BETWEEN);
    append(&e->k, &second, (size_t)(bar - typed) + 3);
    tokens_free(&second);
    return true;
}

static bool record_text(Encoding *e, const Model *m, const char *typed, int text)
{
    const char *bar = text == TEXT_SOURCE && !(model_way(m) & MODEL_WRITES) ? strstr(typed, " | ") : NULL;
    if (strncmp(typed, CHAT_PREFIX, strlen(CHAT_PREFIX)) == 0)
        return tokenizer_chat(e->by, typed + strlen(CHAT_PREFIX), true, &e->k, &e->text, &e->said, NULL);
    if (bar)
        return record_pair(e, typed, bar);
    buf_puts(&e->text, typed);
    return tokenizer_encode(e->by, typed, e->text.len, true, true, &e->k, NULL);
}

/* Which of the recorded tokens each token on show is: they stand in the same order, with a start in front of them or an
 * end behind them that the tokeniser did not write, or tokens between two texts. */
static void align(Encoding *e, const Text *t)
{
    e->of = xcalloc((size_t)t->count + 1, sizeof *e->of);
    e->part = xcalloc(e->k.n + 1, sizeof *e->part);
    for (size_t i = 0; i < e->k.n; i++)
        e->part[i] = -1;
    for (size_t p = 0; p < e->k.parts; p++)
        for (size_t i = 0; i < e->k.part[p].tokens; i++)
            e->part[e->k.part[p].token + i] = (int)p;
    size_t lead = 0; /* as they end, so they begin: what is in front is not the text's */
    for (bool fits = false; !fits && lead <= 1; lead += !fits) {
        fits = (size_t)t->count >= lead;
        for (size_t i = 0; fits && i < e->k.n && i + lead < (size_t)t->count; i++)
            fits = t->word[i + lead] == e->k.at[i].id;
    }
    size_t at = 0;
    for (int i = 0; i < t->count; i++) {
        const bool in = (lead > 1 || (size_t)i >= lead) && at < e->k.n && t->word[i] == e->k.at[at].id;
        e->of[i] = in ? (int)at++ : -1;
    }
}

static void record(Recorded *r, const Exhibit *x)
{
    Arena arena = {0};
    free_recorded(r);
    r->model = x->model;
    r->path = xstrdup(x->input.path);
    for (int k = 0; k < TEXTS; k++) {
        const Vocabulary *v = k == TEXT_SOURCE ? &x->model->source : &x->model->target;
        const char *typed = v->cutter ? text_typed(x->model, r->path, k, &arena) : NULL;
        Encoding *e = &r->text[k];
        if (!typed || !x->input.text[k].count || strncmp(typed + strspn(typed, " \t\n\r"), "ids:", 4) == 0)
            continue;
        e->by = v->cutter->own;
        e->there = record_text(e, x->model, typed, k);
        if (e->there)
            align(e, &x->input.text[k]);
    }
    arena_free(&arena);
}

static const Exhibit *exhibit_of(const Session *s, int k)
{
    const Exhibit *x = session_exhibit(s, k ? SIDE_B : SIDE_A);
    return x && model_way(x->model) && x->input.kind == INPUT_TEXT ? x : NULL;
}

static bool is_of(const Recorded *r, const Exhibit *x)
{
    return r->path && r->model == x->model && strcmp(r->path, x->input.path) == 0;
}

bool encoding_step(Session *s, int64_t deadline_ns)
{
    struct Measures *all = measures_of(s);
    (void)deadline_ns;
    if (!all->encoding)
        all->encoding = xcalloc(1, sizeof *all->encoding);
    for (int k = session_pinned(s) ? 0 : 1; k < 2; k++) {
        const Exhibit *x = exhibit_of(s, k);
        if (x && !is_of(&all->encoding->side[k], x)) {
            record(&all->encoding->side[k], x);
            s->changes++;
        }
    }
    return true;
}

/* --- reading --- */

const Encoding *session_encoding(const Session *s, Side side, int text)
{
    const int k = session_pinned(s) && side == SIDE_A ? 0 : 1;
    const Exhibit *x = exhibit_of(s, k);
    const struct EncodingWork *w = s->measures ? s->measures->encoding : NULL;
    return x && w && is_of(&w->side[k], x) ? &w->side[k].text[text] : NULL;
}

int encoding_text(const Session *s)
{
    NodeId n = session_node(s, SIDE_B, s->place.path);
    int axis = n == NO_NODE ? AXIS_NONE : node_role(session_graph(s, SIDE_B), n, ROLE_QUERY);
    const Sequence sequence = axis == AXIS_NONE ? SEQUENCE_TARGET : session_graph(s, SIDE_B)->axes[axis].sequence;
    return sequence == SEQUENCE_SOURCE ? TEXT_SOURCE : TEXT_TARGET;
}

int encoding_here(const Session *s, Side side, const Encoding *e, int *part)
{
    const Graph *g = session_graph(s, side);
    NodeId n = session_node(s, side, s->place.path);
    int axis = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_QUERY), at[SESSION_AXES];
    *part = -1;
    if (axis == AXIS_NONE || !e || !e->there)
        return -1;
    int j = e->of[session_at(s, side, at)[axis]];
    *part = j >= 0 ? e->part[j] : -1;
    return j;
}

int encoding_done(const Session *s, const Encoding *e, int part)
{
    const int merges = part < 0 ? 0 : (int)e->k.part[part].merges, step = s->look.tokens.step;
    return step <= 0 || step > merges ? merges : step - 1;
}

static int by_size(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

int encoding_ends(const Encoding *e, int part, int done, size_t focus, size_t *end, int most)
{
    const TokenPart *p = &e->k.part[part];
    const size_t reach = (size_t)most / 2, low = focus > reach ? focus - reach : 0;
    int n = 0;
    for (size_t i = 0; i < p->tokens; i++)
        if (e->k.at[p->token + i].end > low && e->k.at[p->token + i].end <= focus + reach && n < most)
            end[n++] = e->k.at[p->token + i].end;
    for (size_t i = (size_t)done; i < p->merges; i++) { /* those still to be done: it is not yet one */
        const size_t between = e->k.merge[p->merge + i].between;
        if (between > low && between <= focus + reach && n < most)
            end[n++] = between;
    }
    qsort(end, (size_t)n, sizeof *end, by_size);
    return n;
}
