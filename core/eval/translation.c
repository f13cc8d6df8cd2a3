#include "core/eval/evaluation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/eval/ablation.h"
#include "core/eval/batch_run.h"
#include "core/eval/dataset.h"
#include "core/graph/anatomy.h"
#include "core/models/lexicon.h"
#include "core/train/texts.h"

enum { ATTENTIONS_MAX = 64, SLICE_NS = 50000000 };

const char *asking_row_about(AskingRow r)
{
    static const char *const about[] = {"the row of the pronoun", "the row of the adjective",
                                        "the row that chooses il or elle"};
    return about[r];
}

typedef struct Exam {
    Translation *out;
    const Model *m;
    Pool *pool;
    bool (*progress)(void *context, const char *what, double share);
    void *context;
    BatchRun *reader, *off;
    Graph graph;                /* of one sentence */
    int number[ATTENTIONS_MAX]; /* of the attentions whose keys are the source: anatomy_attention */
    int attentions, heads;
    bool *free, *free_off;  /* [2 · pairs]: the right pronoun, written freely; with the head off */
    ParallelSentence *pair; /* [2 · pairs] */
    size_t pairs;
    struct Look *look; /* [2 · pairs][attentions][heads][2] */
} Exam;

/* What one row of a head says about one sentence. */
typedef struct Look {
    float right, other;
    bool largest; /* the largest weight is on the noun that is meant */
} Look;

/* What came out of one sentence. */
typedef struct Outcome {
    bool exact, pronoun, agreement;
} Outcome;

static void open_graph(Exam *e)
{
    const Model *m = e->m;
    const ParallelSentence *s = &e->pair[0];
    Graph *g = &e->graph;
    const Seq2seqInput in = {.source = {s->en, s->en_n, NULL, NULL}, .target = {s->fr, s->fr_n, NULL, NULL}};
    graph_init(g);
    seq2seq_build(g, &m->text, &m->weights, &in, NULL);
    e->heads = m->text.heads;
    for (int i = 0; i < anatomy_attentions(g) && e->attentions < ATTENTIONS_MAX; i++)
        if (!seq2seq_attention_texts(m->text.encoder_layers, i).target_keys)
            e->number[e->attentions++] = i;
}

static int part_of(const Exam *e, int attention)
{
    return anatomy_attention(&e->graph, e->number[attention]);
}

static const char *scope_of(const Exam *e, int attention)
{
    return anatomy_part(&e->graph, part_of(e, attention))->scope;
}

static bool in_encoder(const Exam *e, int attention)
{
    return attention < e->m->text.encoder_layers;
}

/* The model as trained, its patterns watched; or with a head of an attention (anatomy_attention) switched off. */
static BatchRun *open_reader(const Exam *e, int attention, int head, Err *err)
{
    const char *watch[ATTENTIONS_MAX];
    Arena arena = {0};
    Edits edits = {NULL, 0};
    BatchRunSetup setup = {.model = e->m, .graph = &e->graph, .threads = pool_threads(e->pool)};
    if (attention < 0) {
        for (int i = 0; i < e->attentions; i++)
            watch[i] = site_path(&e->graph, part_of(e, i), SITE_PATTERN);
        setup.watch = watch;
        setup.watch_count = e->attentions;
    } else if (!ablation_edits(&arena, &e->graph, (Ablation){.kind = ABLATION_HEAD, .layer = attention, .head = head},
                               &edits))
        UNREACHABLE("a head that the model has not");
    setup.edits = edits.edit;
    setup.edit_count = edits.count;
    BatchRun *r = batch_run_new(&setup, err);
    arena_free(&arena);
    return r;
}

/* Reads n sentences; false when progress stopped it. */
static bool read_all(const Exam *e, BatchRun *r, const ParallelSentence *s, size_t n, SentenceVisit visit,
                     void *context)
{
    for (size_t done = 0; done < n;) {
        done = batch_run_read(r, e->pool, s, done, n, visit, context, clock_ns() + SLICE_NS);
        if (e->progress && !e->progress(e->context, "translating", (double)done / (double)n))
            return false;
    }
    return true;
}

/* The row of head h of an attention's pattern [h, length, length] in which place t asks. */
static const float *row_of(const SentenceRead *v, int attention, int h, int t)
{
    size_t n = (size_t)v->length;
    return sentence_watched(v, attention) + ((size_t)h * n + (size_t)t) * n;
}

static int asking_place(const ParallelSentence *s, AskingRow row)
{
    return row == ASKS_PRONOUN ? s->pronoun : row == ASKS_ADJECTIVE ? s->adjective : s->fr_pronoun;
}

/* --- whole sentences --- */

static void see_outcome(void *outcomes, size_t i, const SentenceRead *v)
{
    const ParallelSentence *s = v->s;
    Outcome o = {.exact = true, .pronoun = true, .agreement = true};
    for (int t = 0; t <= s->fr_n; t++) {
        bool right = sentence_first_word(v, t) == text_batch_answer(s, t);
        o.exact = o.exact && right;
        if (s->about != ABOUT_NOTHING && t == s->fr_pronoun)
            o.pronoun = right;
        if (s->about != ABOUT_NOTHING && (t == s->fr_pronoun || t == s->fr_n - 1))
            o.agreement = o.agreement && right;
    }
    ((Outcome *)outcomes)[i] = o;
}

static bool outcomes(const Exam *e, BatchRun *r, const ParallelSentence *s, size_t n, Outcome *out)
{
    return read_all(e, r, s, n, see_outcome, out);
}

static void count(Tally *t, bool right)
{
    t->right += right;
    t->n++;
}

/* --- a sentence written freely, each word given what was written before it --- */

typedef struct Freely {
    ParallelSentence *s;          /* fr: what is written so far, and behind it what was read instead */
    const size_t *which;          /* of the pairs' sentences each is */
    const ParallelSentence *pair; /* as they are right */
    int *written;                 /* words that are its own */
    bool *done, *right;           /* [2 · pairs] */
} Freely;

/* Goes on for as long as what it read is what it would have written. The first il or elle decides. */
static void see_writing(void *freely, size_t i, const SentenceRead *v)
{
    Freely *f = freely;
    const ParallelSentence *s = v->s;
    size_t which = f->which[i];
    ParallelSentence *own = &f->s[i];
    const ParallelSentence *pair = &f->pair[which / 2 * 2];
    int right = pair[which % 2].fr[pair[which % 2].fr_pronoun],
        other = pair[!(which % 2)].fr[pair[!(which % 2)].fr_pronoun];
    for (int t = f->written[i]; t <= s->fr_n; t++) {
        int word = sentence_first_word(v, t);
        f->right[which] = word == right;
        f->done[i] = word == right || word == other || word == FR_END || t == SENTENCE_WORDS - 1;
        if (f->done[i])
            return;
        bool as_read = t < s->fr_n && s->fr[t] == word;
        own->fr[t] = word;
        own->fr_n = t < own->fr_n ? own->fr_n : t + 1;
        f->written[i] = t + 1;
        if (!as_read)
            return;
    }
}

/* right[2 · pairs]: does it write the right one of il and elle, with no word given? */
static bool write_freely(const Exam *e, BatchRun *r, Tally *tally, bool *right)
{
    size_t n = 2 * e->pairs, *which = xcalloc(n + 1, sizeof *which);
    Freely f = {.pair = e->pair, .which = which, .right = right};
    f.s = xcalloc(n + 1, sizeof *f.s);
    f.written = xcalloc(n + 1, sizeof *f.written);
    f.done = xcalloc(n + 1, sizeof *f.done);
    for (size_t i = 0; i < n; i++) {
        f.s[i] = e->pair[i];
        which[i] = i;
    }
    size_t left = n;
    bool ok = true;
    while (ok && left) {
        size_t kept = 0;
        ok = read_all(e, r, f.s, left, see_writing, &f);
        for (size_t i = 0; i < left; i++)
            if (!f.done[i]) {
                f.s[kept] = f.s[i];
                which[kept] = which[i];
                f.written[kept++] = f.written[i];
            }
        memset(f.done, 0, left * sizeof *f.done);
        left = kept;
    }
    *tally = (Tally){0, 0};
    for (size_t i = 0; ok && i < n; i++)
        count(tally, right[i]);
    free(f.s);
    free(f.written);
    free(f.done);
    free(which);
    return ok;
}

/* out[2 · pairs]: what came of each. */
static bool pair_figures(Exam *e, BatchRun *r, PairFigures *f, Outcome *o)
{
    bool ok = outcomes(e, r, e->pair, 2 * e->pairs, o);
    *f = (PairFigures){0};
    for (size_t i = 0; ok && i < 2 * e->pairs; i++) {
        count(&f->pronoun, o[i].pronoun);
        count(&f->agreement, o[i].agreement);
        count(&f->exact, o[i].exact);
        if (i % 2)
            count(&f->both, o[i].exact && o[i - 1].exact);
    }
    return ok;
}

static void count_pair(TallyPair *t, bool before, bool now)
{
    count(&t->tally, now);
    t->pair.n++;
    t->pair.lost += before && !now;
    t->pair.won += !before && now;
}

/* How often the commoner of il and elle (or of ils and elles …) is right in these sentences, always taken. */
static Tally constant_pronoun(const ParallelSentence *s, size_t n)
{
    size_t *of = xcalloc((size_t)FR_WORDS, sizeof *of), most = 0;
    for (size_t i = 0; i < n; i++)
        of[text_batch_answer(&s[i], s[i].fr_pronoun)]++;
    for (size_t w = 0; w < (size_t)FR_WORDS; w++)
        most = of[w] > most ? of[w] : most;
    free(of);
    return (Tally){most, n};
}

static ParallelSentence *make_set(SentenceSet set, size_t n)
{
    ParallelSentence *s = xcalloc(n + 1, sizeof *s);
    for (size_t i = 0; i < n; i++)
        sentence_make(set, 0, i, &s[i]);
    return s;
}

static bool examine_set(Exam *e, BatchRun *r, SentenceSet set, size_t n, Outcome *o, Tally *exact)
{
    ParallelSentence *s = make_set(set, n);
    bool ok = outcomes(e, r, s, n, o);
    *exact = (Tally){0, 0};
    for (size_t i = 0; ok && i < n; i++)
        count(exact, o[i].exact);
    free(s);
    return ok;
}

/* --- who looks at the antecedent --- */

/* Looks are kept as [attention][head][row kind]; a cross-attention has one kind of row, an encoder's two. */
static Look *look_at(const Exam *e, size_t sentence, int attention, int h, int kind)
{
    return &e->look[(sentence * (size_t)e->attentions + (size_t)attention) * (size_t)e->heads * 2 + (size_t)h * 2 +
                    (size_t)kind];
}

static AskingRow kind_of(const Exam *e, int attention, int kind)
{
    return !in_encoder(e, attention) ? ASKS_CHOICE : kind ? ASKS_ADJECTIVE : ASKS_PRONOUN;
}

static void see_pair(void *exam, size_t i, const SentenceRead *v)
{
    Exam *e = exam;
    const ParallelSentence *s = v->s;
    int right = s->noun[s->about], other = s->noun[s->about == ABOUT_SUBJECT ? ABOUT_OBJECT : ABOUT_SUBJECT];
    for (int a = 0; a < e->attentions; a++)
        for (int h = 0; h < e->heads; h++)
            for (int k = 0; k < (in_encoder(e, a) ? 2 : 1); k++) {
                const float *row = row_of(v, a, h, asking_place(s, kind_of(e, a, k)));
                *look_at(e, i, a, h, k) = (Look){row[right], row[other], batch_run_largest(row, s->en_n + 1) == right};
            }
}

/* Figures of one head's row over the pairs first, first + step … */
static HeadFound figures_of(const Exam *e, int attention, int h, int kind, size_t first, size_t step)
{
    HeadFound f = {.head = h, .row = kind_of(e, attention, kind)};
    double right = 0, other = 0;
    snprintf(f.scope, sizeof f.scope, "%s", scope_of(e, attention));
    for (size_t p = first; p < e->pairs; p += step) {
        const Look *a = look_at(e, 2 * p, attention, h, kind), *b = look_at(e, 2 * p + 1, attention, h, kind);
        count(&f.subject, a->largest);
        count(&f.object, b->largest);
        count(&f.both, a->largest && b->largest);
        right += (double)a->right + (double)b->right;
        other += (double)a->other + (double)b->other;
    }
    f.on_right = f.both.n ? right / (double)(2 * f.both.n) : 0;
    f.on_other = f.both.n ? other / (double)(2 * f.both.n) : 0;
    return f;
}

static bool better(const HeadFound *a, const HeadFound *b)
{
    return a->both.right != b->both.right ? a->both.right > b->both.right
                                          : a->on_right - a->on_other > b->on_right - b->on_other;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What a row that nobody chose shows, over the pairs that the choice is measured on. */
static void rows_on_the_rest(Exam *e)
{
    Translation *t = e->out;
    double *share = xcalloc((size_t)t->heads, sizeof *share);
    int n = 0;
    for (int a = 0; a < e->attentions; a++)
        for (int h = 0; h < e->heads; h++)
            for (int k = 0; k < (in_encoder(e, a) ? 2 : 1); k++)
                share[n++] = tally_share(figures_of(e, a, h, k, 1, 2).both);
    qsort(share, (size_t)n, sizeof *share, ascending);
    t->row_mean = 0;
    for (int i = 0; i < n; i++)
        t->row_mean += share[i] / n;
    t->row_middle = (share[(n - 1) / 2] + share[n / 2]) / 2;
    free(share);
}

/* Chosen on the pairs of even number; measured on the odd ones, so that choosing does not flatter. */
static void choose_head(Exam *e)
{
    Translation *t = e->out;
    int best_a = 0, best_h = 0, best_k = 0;
    t->heads = 0;
    for (int a = 0; a < e->attentions; a++)
        for (int h = 0; h < e->heads; h++)
            for (int k = 0; k < (in_encoder(e, a) ? 2 : 1); k++) {
                HeadFound f = figures_of(e, a, h, k, 0, 2);
                if (t->heads++ == 0 || better(&f, &t->chosen)) {
                    t->chosen = f;
                    best_a = a;
                    best_h = h;
                    best_k = k;
                }
            }
    t->alike = 0;
    for (int a = 0; a < e->attentions; a++)
        for (int h = 0; h < e->heads; h++)
            for (int k = 0; k < (in_encoder(e, a) ? 2 : 1); k++)
                t->alike += figures_of(e, a, h, k, 0, 2).both.right >= t->chosen.both.right;
    t->alike--;
    rows_on_the_rest(e);
    t->measured = figures_of(e, best_a, best_h, best_k, 1, 2);
    t->all = figures_of(e, best_a, best_h, best_k, 0, 1);
}

static int attention_of(const Exam *e, const HeadFound *f)
{
    for (int a = 0; a < e->attentions; a++)
        if (strcmp(scope_of(e, a), f->scope) == 0)
            return a;
    UNREACHABLE("a head of no attention");
}

/* Every sentence of unseen combinations whose "it" could stand for more than one noun. */
typedef struct Wider {
    Exam *e;
    bool *found;
    int attention;
} Wider;

static void see_wider(void *wider, size_t i, const SentenceRead *v)
{
    Wider *w = wider;
    const ParallelSentence *s = v->s;
    const HeadFound *f = &w->e->out->chosen;
    const float *row = row_of(v, w->attention, f->head, asking_place(s, f->row));
    w->found[i] = batch_run_largest(row, s->en_n + 1) == s->noun[s->about];
}

static bool look_wider(Exam *e, size_t n)
{
    Translation *t = e->out;
    ParallelSentence *s = make_set(SENTENCES_COMBINATIONS, n);
    size_t kept = 0, of[3] = {0};
    for (size_t i = 0; i < n; i++)
        if (s[i].about != ABOUT_NOTHING && s[i].en[s[i].pronoun] == EN_IT) {
            of[s[i].about]++;
            s[kept++] = s[i];
        }
    bool *found = xcalloc(kept + 1, sizeof *found);
    Outcome *o = xcalloc(kept + 1, sizeof *o), *off = xcalloc(kept + 1, sizeof *off);
    Wider w = {e, found, attention_of(e, &t->chosen)};
    bool ok = read_all(e, e->reader, s, kept, see_wider, &w);
    for (size_t i = 0; ok && i < kept; i++)
        count(&t->wider, found[i]);
    size_t commonest = of[0] > of[1] ? of[0] : of[1];
    t->wider_base = (Tally){commonest > of[2] ? commonest : of[2], kept};
    t->wider_constant = constant_pronoun(s, kept);
    ok = ok && outcomes(e, e->reader, s, kept, o) && outcomes(e, e->off, s, kept, off);
    for (size_t i = 0; ok && i < kept; i++) {
        count(&t->wider_pronoun, o[i].pronoun);
        count_pair(&t->wider_pronoun_off, o[i].pronoun, off[i].pronoun);
    }
    free(off);
    free(o);
    free(found);
    free(s);
    return ok;
}

static void see_star(void *exam, size_t i, const SentenceRead *v)
{
    Exam *e = exam;
    const ParallelSentence *s = v->s;
    Translation *t = e->out;
    const float *row = row_of(v, attention_of(e, &t->chosen), t->chosen.head, asking_place(s, t->chosen.row));
    memcpy(t->star_row[i], row, (size_t)(s->en_n + 1) * sizeof *row);
    for (int w = 0; w <= s->fr_n; w++)
        t->star_word[i][w] = sentence_first_word(v, w);
    t->star_words[i] = s->fr_n;
}

/* The pairs once more with the chosen head off, and with every other one, which is what a head costs that nobody chose.
 */
static bool heads_off(Exam *e, const Outcome *trained, Outcome *o, Err *err)
{
    Translation *t = e->out;
    const Graph *g = &e->graph;
    int attentions = anatomy_attentions(g); /* the decoder's own too, which saw no source */
    for (int i = 0; i < attentions * e->heads; i++) {
        const char *scope = anatomy_part(g, anatomy_attention(g, i / e->heads))->scope;
        int h = i % e->heads;
        bool chosen = h == t->chosen.head && strcmp(scope, t->chosen.scope) == 0;
        PairFigures f;
        BatchRun *r = open_reader(e, i / e->heads, h, err);
        bool ok = r && pair_figures(e, r, &f, o);
        for (size_t k = 0; ok && chosen && k < 2 * e->pairs; k++) {
            count_pair(&t->pronoun_off, trained[k].pronoun, o[k].pronoun);
            if (k % 2)
                count_pair(&t->both_off, trained[k].exact && trained[k - 1].exact, o[k].exact && o[k - 1].exact);
        }
        ok = ok && (!chosen || write_freely(e, r, &f.freely, e->free_off));
        for (size_t k = 0; ok && chosen && k < 2 * e->pairs; k++)
            count_pair(&t->freely_off, e->free[k], e->free_off[k]);
        batch_run_free(r);
        if (!ok)
            return false;
        if (chosen)
            continue;
        double share = tally_share(f.pronoun);
        t->other_mean += share;
        if (!t->others || share < t->other_least) {
            t->other_least = share;
            t->other_head = h;
            snprintf(t->other_scope, sizeof t->other_scope, "%s", scope);
        }
        t->others++;
    }
    t->other_mean /= t->others ? t->others : 1;
    return true;
}

static bool examine_with(Exam *e, size_t n, Outcome *trained, Outcome *now, Err *err)
{
    Translation *t = e->out;
    if (!(e->reader = open_reader(e, -1, 0, err)))
        return false;
    for (int set = SENTENCES_LIKE_TRAIN; set < SENTENCE_SETS; set++)
        if (!examine_set(e, e->reader, (SentenceSet)set, n, now, &t->exact[set - SENTENCES_LIKE_TRAIN]))
            return false;
    if (!read_all(e, e->reader, e->pair, 2 * e->pairs, see_pair, e) ||
        !pair_figures(e, e->reader, &t->as_trained, trained) ||
        !write_freely(e, e->reader, &t->as_trained.freely, e->free))
        return false;
    t->constant = constant_pronoun(e->pair, 2 * e->pairs);
    choose_head(e);
    memcpy(t->star, e->pair, sizeof t->star);
    if (!(e->off = open_reader(e, e->number[attention_of(e, &t->chosen)], t->chosen.head, err)) ||
        !read_all(e, e->reader, t->star, 2, see_star, e) || !heads_off(e, trained, now, err))
        return false;
    Tally exact;
    if (!examine_set(e, e->reader, SENTENCES_COMBINATIONS, n, trained, &exact) ||
        !examine_set(e, e->off, SENTENCES_COMBINATIONS, n, now, &exact))
        return false;
    for (size_t i = 0; i < n; i++)
        count_pair(&t->exact_off, trained[i].exact, now[i].exact);
    return look_wider(e, n);
}

static bool examine(Exam *e, size_t n, Err *err)
{
    size_t most = n > 2 * e->pairs ? n : 2 * e->pairs;
    Outcome *trained = xcalloc(most + 1, sizeof *trained), *now = xcalloc(most + 1, sizeof *now);
    bool ok = examine_with(e, n, trained, now, err);
    free(trained);
    free(now);
    return ok;
}

bool translation_run(Translation *t, const Model *m, size_t count_of_each, Pool *pool,
                     bool (*progress)(void *context, const char *what, double share), void *context, Err *err)
{
    Exam e = {.out = t, .m = m, .pool = pool, .progress = progress, .context = context};
    const char *why = dataset_unsuited_sentences(m);
    if (why)
        return err_set(err, "%s", why);
    *t = (Translation){0};
    t->pairs = e.pairs = (size_t)sentence_pairs();
    e.pair = xcalloc(2 * e.pairs, sizeof *e.pair);
    sentence_pair_list(e.pair);
    open_graph(&e);
    e.look = xcalloc(2 * e.pairs * (size_t)e.attentions * (size_t)e.heads * 2, sizeof *e.look);
    e.free = xcalloc(2 * e.pairs + 1, sizeof *e.free);
    e.free_off = xcalloc(2 * e.pairs + 1, sizeof *e.free_off);
    bool ok = examine(&e, count_of_each, err);
    if (!ok && err && !*err->text)
        err_set(err, "interrupted");
    batch_run_free(e.reader);
    batch_run_free(e.off);
    graph_free(&e.graph);
    free(e.look);
    free(e.pair);
    free(e.free);
    free(e.free_off);
    return ok;
}
