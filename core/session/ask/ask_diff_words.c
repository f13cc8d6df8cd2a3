/* What a recording of a model of words was made from: its texts as `open` reads them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/io/tensors.h"
#include "core/session/ask/ask_diff.h"
#include "core/session/session.h"

enum { TEMPLATE_MOST = 16 };

/* The numbers that the trace has for a leaf of a text, of one text in a batch: [*n], or NULL where there is none, and
 * then err says why if it is there and can't be read. */
static float *read_leaf(const TensorFile *f, const DiffMap *map, const Graph *g, NodeId leaf, size_t *n,
                        const char **name, Err *err)
{
    for (size_t i = 0; leaf != NO_NODE && i < f->count; i++) {
        DiffTarget to[DIFF_PARTS];
        const TensorInfo *t = &f->tensors[i];
        if (diff_name_targets(map, g, t->name, to) != 1 || to[0].node != leaf || t->cells > 4096 || !t->rank)
            continue;
        size_t batch = t->rank > 1 ? t->shape[0] : 1;
        *name = t->name;
        *n = t->shape[t->rank - 1];
        if (batch * *n != t->cells || map->item >= batch) {
            err_set(err, "%s: '%.100s' holds %zu texts: --item is 0 to %zu", f->path, t->name, batch, batch - 1);
            return NULL;
        }
        float *number = xfloats(t->cells);
        if (tensors_read_f32(f, t, number, err)) {
            memmove(number, number + map->item * *n, *n * sizeof *number);
            return number;
        }
        free(number);
        return NULL;
    }
    return NULL;
}

static bool is_number(float x, float n)
{
    return x >= n && x <= n;
}

/* Where the second of two segments begins by the trace; 0: there is one. False where they are not one behind the
 * other. */
static bool read_segments(const TensorFile *f, const DiffMap *map, const Graph *g, size_t n, size_t *second, Err *err)
{
    size_t count, at = 0, end;
    const char *name;
    Err why = {""};
    float *number = read_leaf(f, map, g, graph_find(g, "encoder.segments"), &count, &name, &why);
    *second = 0;
    if (!number)
        return !*why.text || err_set(err, "%s", why.text);
    while (at < count && is_number(number[at], 0))
        at++;
    for (end = at; end < count && is_number(number[end], 1);)
        end++;
    bool ok = count == n && end == count && (at || !count);
    if (ok)
        *second = at < count ? at : 0;
    else if (count != n)
        err_set(err, "%s: '%.100s' has %zu numbers for %zu tokens", f->path, name, count, n);
    else
        err_set(err, "%s: '%.100s' is %g at position %zu: segments are read here as zeros, then ones", f->path, name,
                (double)number[at ? end : 0], at ? end : 0);
    free(number);
    return ok;
}

/* How the one who recorded adds what is missing, or says it. */
static bool no_words(const TensorFile *f, const Model *m, bool target, Err *err)
{
    const bool reads = model_way(m) & MODEL_READS, writes = model_way(m) & MODEL_WRITES, both = reads && writes;
    return err_set(err, "%s: what it read is not in it: record it as %s%s, or say it with %s", f->path,
                   !both    ? "input_ids"
                   : target ? "tgt"
                            : "src",
                   reads && m->text.segments > 1 ? " (of two segments token_type_ids too)" : "",
                   both     ? "-i \"the cat is tired > le chat\""
                   : writes ? "-i ids:1,2,3"
                            : "-i ids:1,2,3 (two segments: -i \"ids:1,2 | ids:3\")");
}

/* The words that the trace was made from, as what `open` reads: "the cat is tired > le chat". */
static bool put_words(const TensorFile *f, const DiffMap *map, const Graph *g, const Model *m, bool target, Buf *out,
                      Err *err)
{
    const Vocabulary *v = target ? &m->target : &m->source;
    bool numbers = v->cutter ||
                   !v->word; /* all of them as they are: what a tokeniser makes of its own words is another */
    NodeId leaf = graph_find(g, target ? "decoder.tokens" : "encoder.tokens");
    size_t n, second = 0;
    const char *name;
    if (leaf == NO_NODE)
        return true;
    Err why = {""};
    float *number = read_leaf(f, map, g, leaf, &n, &name, &why);
    if (!number)
        return *why.text ? err_set(err, "%s", why.text) : no_words(f, m, target, err);
    bool ok = target || read_segments(f, map, g, n, &second, err);
    const size_t first = target && n && model_starts(m) && number[0] >= (float)model_start(m) &&
                         number[0] <= (float)model_start(m); /* the start, which `open` puts in front */
    buf_puts(out, ok && numbers && first < n ? "ids:" : "");
    for (size_t k = numbers ? first : 0; ok && k < n; k++) {
        int w = number[k] >= 0 && number[k] < (float)v->n ? (int)number[k] : -1;
        if (w < 0)
            ok = err_set(err, "%s: '%.100s' names word %g of %d", f->path, name, (double)number[k], v->n);
        else if (numbers)
            buf_printf(out, "%s%d", k == first ? "" : k == second ? " | ids:" : ",", w);
        else if (w != v->pad && w != v->start && w != v->end)
            buf_printf(out, "%s ", v->word[w]);
    }
    free(number);
    return ok;
}

bool ask_diff_take_words(Session *s, const DiffAsk *a, const DiffMap *map, Err *err)
{
    const Model *m = s->now->model;
    const Graph *g = session_graph(s, SIDE_B);
    TensorFile f = {0};
    Buf spec = {0};
    if (!tensors_open(&f, a->reference, err))
        return false;
    const bool encoder = model_way(m) & MODEL_READS, decoder = model_way(m) & MODEL_WRITES;
    bool ok = !encoder || put_words(&f, map, g, m, false, &spec, err);
    if (encoder && decoder)
        buf_puts(&spec, "> ");
    ok = ok && (!decoder || put_words(&f, map, g, m, true, &spec, err));
    tensors_close(&f);
    ok = ok && session_open_input(s, buf_str(&spec), err);
    buf_free(&spec);
    return ok;
}

/* The tokens of the text that the template did not put there, which a recording may have read alone. What the template
 * makes of no text at all stands in front and behind. */
void ask_diff_find_bare(Session *s, DiffMap *map)
{
    const Model *m = s->now->model;
    const Vocabulary *v = model_vocabulary(m);
    const Input *in = session_input(s, SIDE_B);
    const Text *t = &in->text[model_given(m)];
    int around[TEMPLATE_MOST], n = 0, front = 0;
    Buf ids = {0};
    if (!v->cutter || t->segment || strncmp(in->name, "ids:", 4) == 0 ||
        !v->cutter->cut(v->cutter->own, "", TEMPLATE_MOST, around, &n, NULL, 0, NULL) || n < 1 || n >= t->count)
        return;
    while (front < n && t->word[front] == around[front])
        front++;
    for (int i = front; i < t->count - (n - front); i++)
        buf_printf(&ids, "%s%d", ids.len ? "," : "", t->word[i]);
    map->bare = (size_t)(t->count - n);
    map->bare_ids = arena_strdup(&map->arena, buf_str(&ids));
    buf_free(&ids);
}

/* --- the template, where the numbers were recorded --- */

/* What the tokeniser puts around a text: `front` of the numbers before it, the rest behind. */
typedef struct Template {
    int number[TEMPLATE_MOST], front, count;
} Template;

static bool find_template(const Vocabulary *v, Template *out)
{
    int with[2 * TEMPLATE_MOST], n = 0;
    *out = (Template){.count = 0};
    if (!v->cutter || !v->cutter->cut(v->cutter->own, "", TEMPLATE_MOST, out->number, &out->count, NULL, 0, NULL) ||
        !v->cutter->cut(v->cutter->own, "a", 2 * TEMPLATE_MOST, with, &n, NULL, 0, NULL) || n <= out->count)
        return false;
    while (out->front < out->count && with[out->front] == out->number[out->front])
        out->front++;
    const int behind = out->count - out->front;
    return out->count && memcmp(with + n - behind, out->number + out->front, (size_t)behind * sizeof *with) == 0;
}

/* How often those numbers stand at that end of a text, at most twice. */
static int times(const Text *t, const int *number, int n, bool behind)
{
    int count = 0;
    for (; count < 2 && (count + 1) * n <= t->count; count++) {
        const int *at = t->word + (behind ? t->count - (count + 1) * n : count * n);
        if (memcmp(at, number, (size_t)n * sizeof *number) != 0)
            break;
    }
    return count;
}

static void put_names(const Vocabulary *v, const int *number, int n, const char *where, Buf *out)
{
    buf_puts(out, out->len ? " and " : "");
    for (int i = 0; i < n; i++)
        if (v->word && number[i] >= 0 && number[i] < v->n)
            buf_printf(out, "`%s`", v->word[number[i]]);
        else
            buf_printf(out, "%d", number[i]);
    buf_printf(out, " %s", where);
}

void ask_diff_look_at_ids(Session *s, char *out, size_t size)
{
    const Model *m = s->now->model;
    const Vocabulary *v = model_vocabulary(m);
    Template around;
    Buf lacks = {0}, twice = {0};
    Text t = session_input(s, SIDE_B)->text[model_given(m)];
    if (model_given(m) == TEXT_TARGET && model_starts(m) && t.count) { /* which opening puts in front of anything */
        t.word++;
        t.count--;
    }
    if (!find_template(v, &around))
        return;
    for (int end = 0; end < 2; end++) {
        const int *number = around.number + (end ? around.front : 0),
                  n = end ? around.count - around.front : around.front, count = n ? times(&t, number, n, end) : 1;
        if (count != 1)
            put_names(v, number, n, end ? "behind" : "in front", count ? &twice : &lacks);
    }
    if (lacks.len)
        utf8_print(out, size,
                   "But the ids lack %.100s, which the folder's own tokeniser puts there, so both sides read the text "
                   "without: make the ids with it (add_special_tokens=True) and record again.",
                   buf_str(&lacks));
    else if (twice.len)
        utf8_print(out, size,
                   "But the ids have %.100s twice, where the folder's own tokeniser puts it once: leave one out "
                   "(add_special_tokens=False where the text has it already) and record again.",
                   buf_str(&twice));
    buf_free(&lacks);
    buf_free(&twice);
}
