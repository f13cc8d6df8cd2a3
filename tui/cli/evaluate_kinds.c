/* What `vitrine evaluate` found about the heads of a text model: as a page, and as JSON with the texts themselves. */
#include <math.h>
#include <stdio.h>

#include "core/base/utf8.h"
#include "core/io/json.h"
#include "core/session/session.h"
#include "tui/cli/evaluate.h"

enum { ACROSS = 6, LABEL = 14, CELL = 11 };

/* What attentions are called: a graph of the model reading its shortest text. */
static void open_names(Graph *g, const Model *m, const HeadKinds *k)
{
    int source[HEAD_KINDS_WORDS], target[HEAD_KINDS_WORDS];
    const Seq2seqInput in = {.source = {.word = source, .n = head_kinds_text(k, false, 0, false, source)},
                             .target = {.word = target, .n = head_kinds_text(k, true, 0, false, target)}};
    graph_init(g);
    seq2seq_build(g, &m->text, &m->weights, &in, NULL);
}

static bool any(const HeadKindsResult *r, HeadKind kind)
{
    bool there = false;
    for (int a = 0; a < r->attentions; a++)
        there = there || r->applies[a][kind];
    return there;
}

static void name_of(const Graph *g, int attention, char out[ATTENTION_NAME])
{
    session_attention_name(g, anatomy_attention(g, attention), out);
}

/* "63.1±1.9": a share and its interval, of one text none; a star where the head is of the kind; "–": it can't be. */
static void put_share(Buf *page, MeanOver m, bool one, bool is)
{
    char text[48];
    if (isnan(m.mean))
        snprintf(text, sizeof text, "– ");
    else if (one)
        utf8_print(text, sizeof text, "%.1f ", 100 * m.mean);
    else
        utf8_print(text, sizeof text, "%.1f±%.1f%s", 100 * m.mean, 100 * m.margin, is ? "*" : " ");
    buf_printf(page, "%*s%s", CELL - utf8_cells(text), "", text);
}

/* Does a window keep that attention from looking so far back? */
static bool too_far(const HeadKindsResult *r, int attention, int kind)
{
    return kind == HEAD_INDUCTION && !r->applies[attention][kind] && head_kinds_twice(r, attention);
}

static void put_rows(Buf *page, const Graph *g, const HeadKindsResult *r, int kind)
{
    for (int first = 0; first < r->heads; first += ACROSS) {
        int end = first + ACROSS < r->heads ? first + ACROSS : r->heads;
        buf_printf(page, "%*s", LABEL, "");
        for (int h = first; h < end; h++)
            buf_printf(page, "%*s%-3d", CELL - 3, "h", h);
        buf_putc(page, '\n');
        for (int a = 0; a < r->attentions; a++) {
            char name[ATTENTION_NAME];
            if (kind == HEAD_KINDS ? isnan(r->copies[a * r->heads].mean) : !r->applies[a][kind] && !too_far(r, a, kind))
                continue;
            name_of(g, a, name);
            buf_printf(page, "  %-*s", LABEL - 2, name);
            for (int h = first; h < end; h++) {
                int cell = a * r->heads + h;
                const MeanOver none = {.mean = (double)NAN};
                put_share(page,
                          kind == HEAD_KINDS    ? r->copies[cell]
                          : too_far(r, a, kind) ? none
                                                : r->share[cell][kind],
                          r->texts == 1, kind != HEAD_KINDS && head_kinds_is(r, cell, (HeadKind)kind));
            }
            buf_putc(page, '\n');
        }
    }
}

static void put_page(const Graph *g, const HeadKindsResult *r, const char *name, Buf *page)
{
    buf_printf(page,
               r->texts == 1
                   ? "%s, %zu text of %d random tokens; percent of a token's attention, too few for an interval\n"
                   : "%s, %zu texts of %d random tokens; percent of a token's attention, ± 95 %% interval\n"
                     "* the kind it is: above uniform attention and above the control by 10 points\n",
               name, r->texts, r->tokens);
    bool copies = false;
    for (HeadKind kind = 0; kind < HEAD_KINDS; kind++) {
        double low = 1, high = 0, control = 0;
        int of = 0, is = 0;
        for (int i = 0; i < r->attentions * r->heads; i++) {
            int a = i / r->heads;
            if (!r->applies[a][kind])
                continue;
            low = r->uniform[a][kind] < low ? r->uniform[a][kind] : low;
            high = r->uniform[a][kind] > high ? r->uniform[a][kind] : high;
            control = r->control[i][kind].mean > control ? r->control[i][kind].mean : control;
            of++;
            is += head_kinds_is(r, i, kind);
        }
        if (!any(r, kind))
            continue;
        buf_printf(page, "\n%s: on %s\n  uniform %.1f", head_kind_word(kind), head_kind_about(kind), 100 * low);
        if (high - low >= 0.0005)
            buf_printf(page, " to %.1f", 100 * high);
        buf_printf(page, "; control (%s) %.1f at most\n", head_kind_control(kind), 100 * control);
        put_rows(page, g, r, (int)kind);
        for (int a = 0, far = 0; a < r->attentions && !far; a++) {
            far = too_far(r, a, (int)kind);
            buf_puts(page, far ? "  –: its window ends before that place\n" : "");
        }
        if (!is && r->texts > 1)
            buf_printf(page, "  none of %d head%s is of this kind\n", of, of == 1 ? "" : "s");
    }
    for (int i = 0; i < r->attentions * r->heads; i++)
        copies = copies || !isnan(r->copies[i].mean);
    if (copies) {
        buf_puts(page, "\ncopying: looking at a token raises that token more than so many percent of the\n"
                       "  text's others do; by chance 50\n");
        put_rows(page, g, r, HEAD_KINDS);
    }
}

static void put_json_number(Buf *out, double x)
{
    json_put(out, NULL, isnan(x) ? "null" : "%.9g", x);
}

/* Means or margins [attentions, heads]; kind HEAD_KINDS: of copying. */
static void put_matrix(Buf *out, const char *key, const HeadKindsResult *r, const MeanOver (*of)[HEAD_KINDS], int kind,
                       bool margin)
{
    json_open(out, key, '[');
    for (int a = 0; a < r->attentions; a++) {
        json_open(out, NULL, '[');
        for (int h = 0; h < r->heads; h++) {
            int cell = a * r->heads + h;
            const MeanOver *m = of ? &of[cell][kind] : &r->copies[cell];
            bool there = of ? r->applies[a][kind] : !isnan(r->copies[cell].mean);
            put_json_number(out, !there || (margin && r->texts == 1) ? (double)NAN : margin ? m->margin : m->mean);
        }
        buf_putc(out, ']');
    }
    buf_putc(out, ']');
}

static void put_kind(Buf *out, const HeadKindsResult *r, HeadKind kind)
{
    json_line(out);
    json_open(out, head_kind_word(kind), '{');
    json_put_text(out, "on", head_kind_about(kind));
    json_put_text(out, "control_on", head_kind_control(kind));
    json_open(out, "uniform", '[');
    for (int a = 0; a < r->attentions; a++)
        put_json_number(out, r->applies[a][kind] ? r->uniform[a][kind] : (double)NAN);
    buf_putc(out, ']');
    put_matrix(out, "share", r, (const MeanOver(*)[HEAD_KINDS])r->share, (int)kind, false);
    put_matrix(out, "margin", r, (const MeanOver(*)[HEAD_KINDS])r->share, (int)kind, true);
    put_matrix(out, "control", r, (const MeanOver(*)[HEAD_KINDS])r->control, (int)kind, false);
    put_matrix(out, "control_margin", r, (const MeanOver(*)[HEAD_KINDS])r->control, (int)kind, true);
    json_open(out, "found", '[');
    for (int i = 0; i < r->attentions * r->heads; i++)
        if (head_kinds_is(r, i, kind))
            json_put(out, NULL, "[%d,%d]", i / r->heads, i % r->heads);
    buf_puts(out, "]}");
}

static void put_texts(Buf *out, const char *key, const HeadKinds *k, bool target, bool shuffled)
{
    int word[HEAD_KINDS_WORDS];
    json_line(out);
    json_open(out, key, '[');
    for (size_t i = 0; i < head_kinds_done(k); i++) {
        int n = head_kinds_text(k, target, i, shuffled, word);
        json_open(out, NULL, '[');
        for (int t = 0; t < n; t++)
            json_put(out, NULL, "%d", word[t]);
        buf_putc(out, ']');
    }
    buf_putc(out, ']');
}

static void put_json(const Graph *g, const HeadKinds *k, const Surprise *e, const char *over, const Model *m,
                     const char *name, Buf *out)
{
    const HeadKindsResult *r = head_kinds_result(k);
    char label[ATTENTION_NAME];
    json_open(out, NULL, '{');
    json_put_text(out, "model", name);
    if (e)
        surprise_json(e, m, over, out);
    json_put(out, "texts", "%zu", r->texts);
    json_put(out, "tokens", "%d", r->tokens);
    json_put(out, "heads", "%d", r->heads);
    json_open(out, "attentions", '[');
    for (int a = 0; a < r->attentions; a++) {
        name_of(g, a, label);
        json_put_text(out, NULL, label);
    }
    buf_putc(out, ']');
    for (HeadKind kind = 0; kind < HEAD_KINDS; kind++)
        if (any(r, kind))
            put_kind(out, r, kind);
    json_line(out);
    json_open(out, "copying", '{');
    json_put(out, "chance", "0.5");
    put_matrix(out, "share", r, NULL, HEAD_KINDS, false);
    put_matrix(out, "margin", r, NULL, HEAD_KINDS, true);
    buf_putc(out, '}');
    if (model_way(m) & MODEL_READS)
        put_texts(out, "read", k, false, false);
    if (model_way(m) & MODEL_WRITES) {
        put_texts(out, "written", k, true, false);
        put_texts(out, "written_shuffled", k, true, true);
    }
    buf_puts(out, "}\n");
}

void kinds_print(const HeadKinds *k, const Surprise *e, const char *over, const Model *m, const char *name, bool json,
                 Buf *out)
{
    Graph g;
    open_names(&g, m, k);
    if (json)
        put_json(&g, k, e, over, m, name, out);
    else {
        if (e)
            surprise_page(e, m, over, out);
        put_page(&g, head_kinds_result(k), name, out);
    }
    graph_free(&g);
}
