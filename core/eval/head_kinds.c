#include "core/eval/head_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/graph/anatomy.h"
#include "core/graph/run.h"
#include "core/models/family.h"
#include "core/models/ledger.h"
#include "core/models/text_model.h"

enum { SEED = 20, AROUND = HEAD_KINDS_AROUND, KEPT = 2 * HEAD_KINDS + 1, COPIES = 2 * HEAD_KINDS };
static const double LEAST = HEAD_KIND_POINTS / 100.0;

const char *head_kind_word(HeadKind kind)
{
    static const char *const WORDS[HEAD_KINDS] = {"induction", "previous token", "next token", "sink"};
    return WORDS[kind];
}

const char *head_kind_about(HeadKind kind)
{
    static const char *const ABOUT[HEAD_KINDS] = {"the token behind the first occurrence of its own",
                                                  "the token before", "the token behind",
                                                  "the special or first tokens"};
    return ABOUT[kind];
}

const char *head_kind_control(HeadKind kind)
{
    static const char *const CONTROL[HEAD_KINDS] = {"that place, second half shuffled", "the one before that",
                                                    "the one behind that", "as many tokens right behind the first"};
    return CONTROL[kind];
}

/* One of the two texts: special tokens, the random ones, special tokens. */
typedef struct Row {
    int word[HEAD_KINDS_WORDS], n;
    int first, last; /* of the random ones: first … last − 1 */
} Row;

typedef struct Around {
    int before[AROUND], after[AROUND], before_n, after_n;
} Around;

struct HeadKinds {
    const Model *model;
    Pool *pool;
    size_t texts, done;
    int tokens;
    int *usable, usable_n[2]; /* words of source, then of target, that are no special ones */
    Around around[2];
    Row row[2]; /* source, target of the text being read */
    Graph graph;
    Run *run;
    NodeId *wanted; /* patterns by attention, then what a token would say by attention */
    bool begun, shuffled;
    double *kept; /* [texts, attentions, heads, KEPT] */
    HeadKindsResult r;
};

/* --- texts --- */

static bool listed(const int *word, int n, int w)
{
    for (int i = 0; i < n; i++)
        if (word[i] == w)
            return true;
    return false;
}

/* Special tokens, unused ones and raw bytes are written in brackets: "<s>", "[MASK]", "<0x41>". */
static bool bracketed(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return n > 2 && ((name[0] == '<' && name[n - 1] == '>') || (name[0] == '[' && name[n - 1] == ']'));
}

/* What the model's tokeniser puts around a text: of two tokens one on either side, of one that of an encoder of a
 * translator behind. */
static void find_around(const Model *m, const Vocabulary *v, bool target, Around *out)
{
    int word[AROUND], n = 0;
    bool alone = model_way(m) != (MODEL_READS | MODEL_WRITES);
    if (target && !alone) {
        out->before[out->before_n++] = model_start(m);
        return;
    }
    if (v->cutter && !v->cutter->cut(v->cutter->own, "", AROUND, word, &n, NULL, 0, NULL))
        n = 0;
    for (int i = 0; i < n && word[i] < v->n; i++) {
        bool behind = alone && target ? false : n == 1 ? !alone : 2 * i >= n;
        if (behind)
            out->after[out->after_n++] = word[i];
        else
            out->before[out->before_n++] = word[i];
    }
    if (!n && target && model_starts(m))
        out->before[out->before_n++] = model_start(m);
    if (!n && !target && v->end >= 0)
        out->after[out->after_n++] = v->end;
}

static int find_usable(const Vocabulary *v, const Around *a, int *out)
{
    int n = 0;
    for (int w = 0; w < v->n; w++)
        if (w != v->pad && w != v->start && w != v->end && !listed(a->before, a->before_n, w) &&
            !listed(a->after, a->after_n, w) && !(v->word && bracketed(vocabulary_stored(v)[w])))
            out[n++] = w;
    return n;
}

static const Vocabulary *vocabulary_of(const Model *m, bool target)
{
    return target ? &m->target : &m->source;
}

static bool has_row(const Model *m, bool target)
{
    return model_way(m) & (target ? MODEL_WRITES : MODEL_READS);
}

static void shuffle(Rng *rng, int *word, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = (int)rng_below(rng, (uint32_t)i + 1), t = word[i];
        word[i] = word[k];
        word[k] = t;
    }
}

/* The text by that number; a decoder's is twice as long, its second half in another order where shuffled. */
static void make_row(const HeadKinds *k, bool target, size_t text, bool shuffled, Row *row)
{
    const Around *a = &k->around[target];
    const int *usable = k->usable + (target ? k->usable_n[0] : 0), count = k->usable_n[target], n = k->tokens;
    Rng rng = rng_seed(SEED + target, text);
    *row = (Row){.first = a->before_n};
    memcpy(row->word, a->before, (size_t)a->before_n * sizeof *row->word);
    int *random = row->word + row->first;
    for (int i = 0; i < n;) {
        int w = usable[rng_below(&rng, (uint32_t)count)];
        if (!listed(random, i, w))
            random[i++] = w;
    }
    if (target) {
        memcpy(random + n, random, (size_t)n * sizeof *random);
        if (shuffled)
            shuffle(&rng, random + n, n);
    }
    row->last = row->first + (target ? 2 : 1) * n;
    memcpy(row->word + row->last, a->after, (size_t)a->after_n * sizeof *row->word);
    row->n = row->last + a->after_n;
}

/* --- one attention over one text --- */

/* The text of the queries and that of the keys. */
typedef struct Scene {
    const Row *query, *key;
    bool causal, crosses;
    int window; /* 0: none */
    int half;   /* of a repeated text, 0: it is not repeated */
} Scene;

static Scene scene_of(const HeadKinds *k, int attention)
{
    const Seq2seqConfig *c = &k->model->text;
    const Graph *g = &k->graph;
    NodeId pattern = site_node(g, anatomy_attention(g, attention), SITE_PATTERN);
    bool query = g->axes[node_role(g, pattern, ROLE_QUERY)].sequence == SEQUENCE_TARGET,
         key = g->axes[node_role(g, pattern, ROLE_KEY)].sequence == SEQUENCE_TARGET;
    int block = anatomy_part(g, anatomy_part(g, anatomy_attention(g, attention))->parent)->block;
    return (Scene){.query = &k->row[query],
                   .key = &k->row[key],
                   .causal = query && key,
                   .crosses = query != key,
                   .window = query && key && seq2seq_windowed(c, block) ? c->window : 0,
                   .half = query && key ? k->tokens : 0};
}

static bool sees(const Scene *s, int t, int u)
{
    return u >= 0 && u < s->key->n && (!s->causal || u <= t) && (!s->window || u > t - s->window);
}

static int seen_by(const Scene *s, int t)
{
    int n = 0;
    for (int u = 0; u < s->key->n; u++)
        n += sees(s, t, u);
    return n;
}

/* A window that ends before what is looked for leaves nothing to measure. */
static bool applies(const Scene *s, HeadKind kind)
{
    const int back = kind == HEAD_INDUCTION ? s->half - 1 : kind == HEAD_PREVIOUS ? 1 : 0;
    if (s->window && back >= s->window)
        return false;
    return kind == HEAD_SINK || (!s->crosses && (kind == HEAD_PREVIOUS || s->causal == (kind == HEAD_INDUCTION)));
}

/* Is u a special token of the text, or the first where it has none? */
static bool is_sink(const Row *r, int u)
{
    bool special = r->first > 0 || r->last < r->n;
    return special ? u < r->first || u >= r->last : u == 0;
}

static int sinks_of(const Row *r)
{
    int n = 0;
    for (int u = 0; u < r->n; u++)
        n += is_sink(r, u);
    return n;
}

/* Does token t count for a kind? */
static bool counts(const Scene *s, HeadKind kind, int t)
{
    const Row *r = s->query;
    int inner = r->first > 1 ? r->first : 1; /* the first token is no neighbour: it may be a sink */
    switch (kind) {
    case HEAD_INDUCTION: return s->half && t >= r->first + s->half && t < r->first + 2 * s->half - 1;
    case HEAD_PREVIOUS: return t >= inner + 2 && t < r->last;
    case HEAD_NEXT: return t >= inner && t < r->last - 2;
    default: return s->crosses ? t >= r->first : t >= inner + sinks_of(s->key) && t < r->last;
    }
}

static bool looks_at(const Scene *s, HeadKind kind, bool control, int t, int u)
{
    int inner = s->key->first > 1 ? s->key->first : 1;
    switch (kind) {
    case HEAD_INDUCTION: return u == t - s->half + 1;
    case HEAD_PREVIOUS: return u == t - 1 - control;
    case HEAD_NEXT: return u == t + 1 + control;
    default: return control ? u >= inner && u < inner + sinks_of(s->key) : is_sink(s->key, u);
    }
}

/* Mean over the queries of a head's weight on what is looked at; at NULL: where all that is seen gets the same. */
static double share_of(const Scene *s, HeadKind kind, bool control, const float *at, size_t query_step, size_t key_step)
{
    double sum = 0;
    int n = 0;
    for (int t = 0; t < s->query->n; t++) {
        if (!counts(s, kind, t))
            continue;
        n++;
        for (int u = 0; u < s->key->n; u++)
            if (sees(s, t, u) && looks_at(s, kind, control, t, u))
                sum += at ? (double)at[(size_t)t * query_step + (size_t)u * key_step] : 1.0 / seen_by(s, t);
    }
    return n ? sum / n : 0;
}

/* The tokens that count for a kind lie side by side. */
static struct HeadRows rows_of(const Scene *s, HeadKind kind)
{
    struct HeadRows rows = {0, s->query->n - 1};
    while (rows.first < rows.last && !counts(s, kind, rows.first))
        rows.first++;
    while (rows.last > rows.first && !counts(s, kind, rows.last))
        rows.last--;
    return rows;
}

/* Share of the first half's other tokens that would raise the right one less, mean over the queries. reach[h,t,u] */
static double copies_of(const Scene *s, const float *at, size_t query_step, size_t key_step)
{
    double sum = 0;
    int n = 0, first = s->key->first;
    for (int t = 0; t < s->query->n; t++) {
        if (!counts(s, HEAD_INDUCTION, t))
            continue;
        int right = t - s->half + 1;
        float own = at[(size_t)t * query_step + (size_t)right * key_step];
        for (int u = first; u < first + s->half; u++) {
            float other = at[(size_t)t * query_step + (size_t)u * key_step];
            sum += isnan(own) || isnan(other) ? (double)NAN : u == right ? 0 : other < own ? 1 : other > own ? 0 : 0.5;
        }
        n += s->half - 1;
    }
    return n ? sum / n : 0;
}

/* --- the pass --- */

/* The words that are right in the second half, less the mean of the text's other ones. */
static NodeId copying_seed(HeadKinds *k, NodeId y)
{
    Graph *g = &k->graph;
    const Row *r = &k->row[true];
    Dims d = graph_node(g, y)->dims;
    size_t words = (size_t)g->axes[node_role(g, y, ROLE_ANSWER)].n;
    float *seed = arena_alloc(&g->arena, size_mul(graph_cells(g, y), sizeof *seed));
    memset(seed, 0, graph_cells(g, y) * sizeof *seed);
    for (int i = 0; i + 1 < k->tokens; i++)
        for (int j = 0; j < k->tokens; j++)
            seed[(size_t)(r->first + k->tokens + i) * words + (size_t)r->word[r->first + j]] =
                j == i + 1 ? 1.0f : -1.0f / (float)(k->tokens - 1);
    return graph_leaf(g, "copying.seed", d, (Leaf){LEAF_CONST, seed, "which word is right"});
}

/* Of every attention of the decoder's own text what looking at a token would say for the right words: reach[h,t,u]. */
static void add_copying(HeadKinds *k)
{
    Graph *g = &k->graph;
    NodeId y = ledger_answers(g);
    const NodeId *toward;
    if (y == NO_NODE || graph_node(g, y)->dims.n != 2)
        return;
    NodeId known = g->count, seed = copying_seed(k, y);
    if (!ledger_directions(g, y, seed, &toward, NULL))
        return;
    for (int a = 0; a < k->r.attentions; a++) {
        int part = anatomy_attention(g, a);
        NodeId z = site_node(g, part, SITE_Z), pattern = site_node(g, part, SITE_PATTERN);
        if (!scene_of(k, a).half || z == NO_NODE || z >= known || toward[z] == NO_NODE)
            continue;
        graph_scope(g, "copying.%d", a);
        k->wanted[k->r.attentions + a] = graph_contract(g, "reach", toward[z], graph_node(g, z)->in[1],
                                                        DIMS(node_role(g, pattern, ROLE_HEAD),
                                                             node_role(g, pattern, ROLE_QUERY),
                                                             node_role(g, pattern, ROLE_KEY)));
        graph_scope(g, "%s", "");
    }
}

static void begin(HeadKinds *k)
{
    const Model *m = k->model;
    Seq2seqInput in = {0};
    for (int target = 0; target < 2; target++)
        if (has_row(m, target)) {
            make_row(k, target, k->done, k->shuffled, &k->row[target]);
            *(target ? &in.target : &in.source) = (Seq2seqText){.word = k->row[target].word, .n = k->row[target].n};
        }
    graph_init(&k->graph);
    seq2seq_build(&k->graph, &m->text, &m->weights, &in, NULL);
    k->r.attentions = anatomy_attentions(&k->graph);
    k->wanted = xcalloc(2 * (size_t)k->r.attentions + 1, sizeof *k->wanted);
    for (int a = 0; a < k->r.attentions; a++) {
        k->wanted[a] = site_node(&k->graph, anatomy_attention(&k->graph, a), SITE_PATTERN);
        k->wanted[k->r.attentions + a] = NO_NODE;
    }
    if (!k->shuffled && has_row(m, true))
        add_copying(k);
    k->run = run_new(&k->graph, NULL, k->pool);
    k->begun = true;
}

static void end(HeadKinds *k)
{
    if (!k->begun)
        return;
    run_free(k->run);
    graph_free(&k->graph);
    free(k->wanted);
    k->graph = (Graph){0};
    k->wanted = NULL;
    k->run = NULL;
    k->begun = false;
}

static double *kept_of(const HeadKinds *k, size_t text, int attention, int head)
{
    return k->kept + ((text * (size_t)k->r.attentions + (size_t)attention) * (size_t)k->r.heads + (size_t)head) * KEPT;
}

/* Where the rows of a head lie in a node over heads, queries and keys. */
typedef struct Steps {
    size_t head, query, key;
} Steps;

static Steps steps_of(const Graph *g, NodeId n)
{
    Dims d = graph_node(g, n)->dims;
    return (Steps){dims_stride(g->axes, d, dims_role(g, d, ROLE_HEAD)),
                   dims_stride(g->axes, d, dims_role(g, d, ROLE_QUERY)),
                   dims_stride(g->axes, d, dims_role(g, d, ROLE_KEY))};
}

static void keep_attention(HeadKinds *k, int a)
{
    const Graph *g = &k->graph;
    const Scene s = scene_of(k, a);
    const NodeId reach = k->wanted[k->r.attentions + a];
    const Steps p = steps_of(g, k->wanted[a]), c = reach == NO_NODE ? (Steps){0, 0, 0} : steps_of(g, reach);
    const float *pattern = run_peek(k->run, k->wanted[a]), *says = reach == NO_NODE ? NULL : run_peek(k->run, reach);
    for (int h = 0; h < k->r.heads; h++) {
        double *to = kept_of(k, k->done, a, h);
        const float *at = pattern + (size_t)h * p.head;
        for (HeadKind kind = 0; kind < HEAD_KINDS; kind++) {
            if (!applies(&s, kind))
                continue;
            if (!k->shuffled)
                to[kind] = share_of(&s, kind, false, at, p.query, p.key);
            if (k->shuffled == (kind == HEAD_INDUCTION))
                to[HEAD_KINDS + kind] = share_of(&s, kind, kind != HEAD_INDUCTION, at, p.query, p.key);
        }
        if (!k->shuffled)
            to[COPIES] = says ? copies_of(&s, says + (size_t)h * c.head, c.query, c.key) : (double)NAN;
        int nan = says && !k->shuffled && isnan(to[COPIES]) ? k->r.attentions : -1;
        for (HeadKind kind = 0; kind < HEAD_KINDS; kind++)
            nan = applies(&s, kind) && !k->shuffled && isnan(to[kind]) ? a : nan;
        if (nan >= 0 && (k->r.nan < 0 || nan < k->r.nan))
            k->r.nan = nan;
    }
    for (HeadKind kind = 0; kind < HEAD_KINDS && !k->shuffled; kind++) {
        k->r.applies[a][kind] = applies(&s, kind);
        k->r.uniform[a][kind] = share_of(&s, kind, false, NULL, 0, 0);
        k->r.rows[a][kind] = rows_of(&s, kind);
    }
}

static void publish(HeadKinds *k)
{
    HeadKindsResult *r = &k->r;
    size_t step = (size_t)r->attentions * (size_t)r->heads * KEPT;
    r->texts = k->done;
    for (int i = 0; i < r->attentions * r->heads; i++) {
        const double *x = kept_of(k, 0, i / r->heads, i % r->heads);
        for (HeadKind kind = 0; kind < HEAD_KINDS; kind++) {
            r->share[i][kind] = mean_over(x + kind, k->done, step);
            r->control[i][kind] = mean_over(x + HEAD_KINDS + kind, k->done, step);
        }
        r->copies[i] = mean_over(x + COPIES, k->done, step);
    }
}

bool head_kinds_step(HeadKinds *k, int64_t deadline_ns)
{
    const bool decodes = has_row(k->model, true);
    while (k->done < k->texts) {
        if (!k->begun)
            begin(k);
        for (int i = 0; i < 2 * k->r.attentions; i++)
            if (k->wanted[i] != NO_NODE && !run_step(k->run, k->wanted[i], deadline_ns))
                return false;
        for (int a = 0; a < k->r.attentions; a++)
            keep_attention(k, a);
        end(k);
        bool whole = k->shuffled || !decodes;
        k->shuffled = !whole;
        k->done += whole;
        if (whole)
            publish(k);
        if (clock_ns() >= deadline_ns)
            return k->done == k->texts;
    }
    return true;
}

/* So many that a text of them, a decoder's twice, can be read and has no token twice; err where they are too few. */
static bool choose_tokens(HeadKinds *k, Err *err)
{
    const Seq2seqConfig *c = &k->model->text;
    int longest = seq2seq_longest(c);
    k->tokens = HEAD_KINDS_TOKENS;
    if (!model_way(k->model))
        return err_set(err, "heads are measured on texts of random tokens, which this model does not read");
    for (int target = 0; target < 2; target++) {
        if (!has_row(k->model, target))
            continue;
        const Around *a = &k->around[target];
        int room = (longest - a->before_n - a->after_n) / (target ? 2 : 1);
        k->tokens = room < k->tokens ? room : k->tokens;
        k->tokens = k->usable_n[target] < k->tokens ? k->usable_n[target] : k->tokens;
    }
    return k->tokens >= HEAD_KINDS_LEAST ||
           err_set(
               err,
               "heads are measured on texts of random tokens, %d at least and no token twice; this model has room or "
               "words for %d",
               HEAD_KINDS_LEAST, k->tokens > 0 ? k->tokens : 0);
}

HeadKinds *head_kinds_new(const Model *model, size_t texts, Pool *pool, Err *err)
{
    const Seq2seqConfig *c = &model->text;
    HeadKinds *k = xcalloc(1, sizeof *k);
    *k = (HeadKinds){.model = model, .pool = pool, .texts = texts};
    k->usable = xcalloc((size_t)model->source.n + (size_t)model->target.n + 1, sizeof *k->usable);
    for (int target = 0; target < 2; target++)
        if (has_row(model, target)) {
            const Vocabulary *v = vocabulary_of(model, target);
            find_around(model, v, target, &k->around[target]);
            k->usable_n[target] = find_usable(v, &k->around[target], k->usable + (target ? k->usable_n[0] : 0));
        }
    if (!choose_tokens(k, err)) {
        head_kinds_free(k);
        return NULL;
    }
    begin(k); /* how many attentions there are */
    k->r.heads = c->heads;
    k->r.tokens = k->tokens;
    size_t a = (size_t)k->r.attentions, cells = size_mul(a, (size_t)k->r.heads);
    k->kept = xcalloc(size_mul(size_mul(texts, cells), KEPT) + 1, sizeof *k->kept);
    k->r.applies = xcalloc(a + 1, sizeof *k->r.applies);
    k->r.uniform = xcalloc(a + 1, sizeof *k->r.uniform);
    k->r.rows = xcalloc(a + 1, sizeof *k->r.rows);
    k->r.share = xcalloc(cells + 1, sizeof *k->r.share);
    k->r.control = xcalloc(cells + 1, sizeof *k->r.control);
    k->r.nan = -1;
    k->r.copies = xcalloc(cells + 1, sizeof *k->r.copies);
    return k;
}

void head_kinds_free(HeadKinds *k)
{
    if (!k)
        return;
    end(k);
    free(k->usable);
    free(k->kept);
    free(k->r.applies);
    free(k->r.uniform);
    free(k->r.rows);
    free(k->r.share);
    free(k->r.control);
    free(k->r.copies);
    free(k);
}

int head_kinds_text(const HeadKinds *k, bool target, size_t text, bool shuffled, int word[HEAD_KINDS_WORDS])
{
    Row row;
    if (!has_row(k->model, target))
        return 0;
    make_row(k, target, text, shuffled, &row);
    memcpy(word, row.word, (size_t)row.n * sizeof *word);
    return row.n;
}

size_t head_kinds_done(const HeadKinds *k)
{
    return k->done;
}

const HeadKindsResult *head_kinds_result(const HeadKinds *k)
{
    return k->r.texts > 1 || (k->r.texts && k->r.texts == k->texts) ? &k->r : NULL;
}

bool head_kinds_twice(const HeadKindsResult *r, int attention)
{
    return r->applies[attention][HEAD_INDUCTION] ||
           (r->applies[attention][HEAD_PREVIOUS] && !r->applies[attention][HEAD_NEXT]);
}

bool head_kinds_is(const HeadKindsResult *r, int cell, HeadKind kind)
{
    int a = cell / r->heads;
    double least = r->share[cell][kind].mean - r->share[cell][kind].margin;
    double control = r->control[cell][kind].mean + r->control[cell][kind].margin;
    return r->texts > 1 && r->applies[a][kind] && least > r->uniform[a][kind] + LEAST && least > control + LEAST;
}
