/* Mistakes with the rotary positions of models of words: another base, another scaling of the frequencies, keys turned
 * to other places. What people write is tried as it is. A number that may be any is searched: on a grid so fine that
 * no angle moves by much more than half a radian from one point to the next, then by golden section around the points
 * where the error is least. Where tokens look back alone that begins with the first few of them, whose angles are
 * small, so that the error has one valley, and goes on with more as the number becomes exact: of a long text the whole
 * is computed for the last steps alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

/* A stretch that turns queries and keys, and what may be spent on it. */
typedef struct Turning {
    int all, few; /* tokens of the text; that a search begins with, the same where it can't be shorter */
    int first;    /* the first that differs, −1 where that is not recorded */
    double left;  /* operations */
} Turning;

/* Are rotations in the stretch, of blocks without a window or of those with one? */
static bool has_turns(const Trial *t, bool local)
{
    return trial_find(t, local ? "rope_cos_local" : "rope_cos", 0) != NO_NODE;
}

static bool open_turning(Trial *t, Turning *r)
{
    static const double LEAST = 2e10, MOST = 4e11, FORWARD = 60; /* operations; so many times the stretch */
    enum { FEW = 8 };
    const Seq2seqConfig *c = t->s->text;
    NodeId n = trial_find(t, "rope_cos", 0);
    n = n == NO_NODE ? trial_find(t, "rope_cos_local", 0) : n;
    if (n == NO_NODE || !t->s->weights || t->base || trial_close(t))
        return false;
    const int all = t->s->graph->axes[graph_node(t->s->graph, n)->dims.axis[0]].n;
    const double left = FORWARD * t->flops;
    *r = (Turning){.all = all, .few = all, .first = -1, .left = left < LEAST ? LEAST : left > MOST ? MOST : left};
    if (c->encoder_layers || !c->decoder_layers)
        return true;
    r->first = trial_first_other(t);
    int few = r->first + r->first / 2 + 4; /* enough of those that differ */
    few = few < FEW ? FEW : few;
    if (r->first >= 0 && 2 * few <= all && c->rope.scaling < ROPE_DYNAMIC)
        r->few = few;
    return true;
}

static bool may_spend(const Trial *t, Turning *r, int tokens)
{
    r->left -= t->flops * tokens / r->all;
    return r->left >= 0 && !t->stopped;
}

/* A number with three digits, "12300", or as many as tell it from another. */
static const char *about(Trial *t, double x, double other)
{
    char digits[32];
    int n = 3;
    do {
        snprintf(digits, sizeof digits, "%.*g", n, x);
    } while (n++ < 7 && dm_abs(strtod(digits, NULL) - other) < 1e-7 * other);
    return arena_printf(&t->arena, "%.10g", strtod(digits, NULL));
}

/* --- a number that may be any --- */

typedef struct Search {
    void (*set)(Seq2seqConfig *c, double x); /* the setting where the unknown is x, */
    double (*number)(double x);              /* and what that is called */
    double low, high;                        /* of x */
    double rate;                             /* an angle moves at most so much with x, times its place */
    double here;                             /* the model's own */
    bool stretches; /* cos and sin too; else the first token, which looks at itself alone from place 0, is as it was */
    TrialFit said;
} Search;

typedef struct Sought {
    Turning *r;
    const Search *search;
    int tokens; /* of the text that is tried */
} Sought;

/* Is what is left of the first few tokens so little that all of them may be explained? */
static bool nearly(const Trial *t, const DiffFigures *f)
{
    enum { ROOM = 2 };
    return f->largest <= ROOM * DIFF_EXPLAINED * t->allowed && f->rms <= ROOM * DIFF_EXPLAINED * t->allowed_rms;
}

static double attempt_sought(Trial *t, const void *context, double x)
{
    const Sought *s = context;
    Seq2seqConfig c = *t->s->text;
    s->search->set(&c, x);
    if (!may_spend(t, s->r, s->tokens))
        return HUGE_VAL;
    if (s->tokens < s->r->all) {
        DiffFigures f;
        return trial_config_short(t, &c, s->tokens, &f) ? f.rms : HUGE_VAL;
    }
    ArenaMark mark = arena_mark(&t->arena);
    double rms = trial_config(t, &c,
                              arena_printf(&t->arena, "%s%s%s", s->search->said.before,
                                           about(t, s->search->number(x), s->search->here), s->search->said.after));
    arena_rewind(&t->arena, mark);
    return rms;
}

/* From the first few tokens to all of them, `step` being what x may be wrong by. */
static void attempt_longer(Trial *t, Sought *s, double x, double step)
{
    enum { TURNS = 28, LONGER = 4, SURER = 8 };
    const Search *search = s->search;
    for (;;) {
        const double low = x - step > search->low ? x - step : search->low,
                     high = x + step < search->high ? x + step : search->high;
        DiffFigures f;
        x = trial_least(t, low, high, TURNS, attempt_sought, s);
        if (s->tokens == s->r->all)
            return;
        Seq2seqConfig c = *t->s->text;
        search->set(&c, x);
        if (!may_spend(t, s->r, s->tokens) || !trial_config_short(t, &c, s->tokens, &f) || !nearly(t, &f))
            return;
        s->tokens = s->tokens < s->r->all / LONGER ? s->tokens * LONGER : s->r->all;
        step /= SURER;
    }
}

static void attempt_search(Trial *t, Turning *r, const Search *search)
{
    enum { LEAST = 12, MOST = 256, VALLEYS = 3 };
    static const double MOVED = 0.6, LONG = 1e9;
    const double span = search->high - search->low, wanted = span * search->rate * r->few / MOVED,
                 paid = r->left / (2 * t->flops * r->few / r->all), most = paid < MOST ? paid : MOST;
    const int steps = wanted < LEAST ? LEAST : wanted > most ? (int)most : (int)wanted;
    const double step = span / steps, tried = t->attempts;
    double rms[MOST + 1];
    if (trial_close(t) || (r->first == 0 && !search->stretches) || most < LEAST)
        return;
    t->strict = t->fitting = true;
    for (int i = 0; i <= steps; i++)
        rms[i] = attempt_sought(t, &(Sought){r, search, r->few}, search->low + i * step);
    const bool near = trial_close(t); /* what the grid explains is made exact all the same */
    for (int k = 0; k < VALLEYS && (!trial_close(t) || (near && !k)); k++) {
        int best = -1;
        for (int i = 0; i <= steps; i++)
            if (rms[i] < HUGE_VAL && (i == 0 || rms[i] <= rms[i - 1]) && (i == steps || rms[i] <= rms[i + 1]) &&
                (best < 0 || rms[i] < rms[best]))
                best = i;
        if (best < 0)
            break;
        t->fitting = near || t->flops < LONG; /* of a long stretch the first that explains is enough */
        attempt_longer(t, &(Sought){r, search, r->few}, search->low + best * step, step);
        rms[best] = HUGE_VAL;
    }
    t->strict = t->fitting = false;
    t->attempts = tried + 1;
}

/* --- the base --- */

/* An angle p·b^(−x), 0 ≤ x < 1, moves with ln ln b by at most p/e, whatever the base is. */
static double base_of(double x)
{
    return dm_exp(dm_exp(x));
}
static void set_base(Seq2seqConfig *c, double x)
{
    c->rope.base = (float)base_of(x);
}
static void set_local_base(Seq2seqConfig *c, double x)
{
    c->rope.local_base = (float)base_of(x);
}

void trial_usual_bases(Trial *t)
{
    static const float BASES[] = {100, 1000, 10000, 50000, 100000, 500000, 1e6f, 1e7f};
    const Seq2seqConfig *own = t->s->text;
    snprintf(t->id, sizeof t->id, "settings:base");
    for (size_t i = 0; i < sizeof BASES / sizeof *BASES && own->pos == SEQ2SEQ_POS_ROPE; i++) {
        Seq2seqConfig c = *own;
        char text[DIFF_WORDS];
        c.rope.base = BASES[i];
        snprintf(text, sizeof text, "the recording's rotations have base %.10g, here it is %.10g", (double)BASES[i],
                 (double)own->rope.base);
        if (BASES[i] < own->rope.base || BASES[i] > own->rope.base)
            trial_config(t, &c, text);
    }
    if (own->pos != SEQ2SEQ_POS_ROPE || own->width <= own->head_dim)
        return;
    Seq2seqConfig c = *own; /* base^(−2i/width) is that of another base */
    int turned = own->rope.width ? own->rope.width : own->head_dim;
    c.rope.base = (float)dm_exp(dm_log((double)own->rope.base) * turned / own->width);
    snprintf(t->id, sizeof t->id, "settings:frequencies");
    trial_config(t, &c,
                 "the recording's rotary frequencies divide by the width of the model, base^(−2i/d_model), not by the "
                 "head's");
}

/* With two pairs any change of the second is another base. */
void trial_bases(Trial *t)
{
    enum { PAIRS_LEAST = 3 };
    static const double LOW = 0.3, HIGH = 3.14, RATE = 0.3678794411714423; /* bases of 4 to 10^10; 1/e */
    const Seq2seqConfig *own = t->s->text;
    Turning r;
    if (!open_turning(t, &r) || seq2seq_rope_pairs(own) < PAIRS_LEAST)
        return;
    Search s = {
        .set = set_base, .number = base_of, .low = LOW, .high = HIGH, .rate = RATE, .here = (double)own->rope.base};
    s.said = (TrialFit){"the recording's rotations have base about ",
                        arena_printf(&t->arena, ", here it is %.10g", (double)own->rope.base)};
    snprintf(t->id, sizeof t->id, "settings:base");
    if (has_turns(t, false))
        attempt_search(t, &r, &s);
    s.set = set_local_base;
    s.here = (double)own->rope.local_base;
    s.said = (TrialFit){"the recording's rotations of blocks with a window have base about ",
                        arena_printf(&t->arena, ", here it is %.10g", (double)own->rope.local_base)};
    snprintf(t->id, sizeof t->id, "settings:local_base");
    if (has_turns(t, true))
        attempt_search(t, &r, &s);
}

/* --- rope_scaling --- */

/* A setting as it stands: first of the few tokens where the text is long. */
static void attempt_written(Trial *t, Turning *r, const Seq2seqConfig *c, const char *text)
{
    DiffFigures f;
    if (r->few < r->all && (!may_spend(t, r, r->few) || !trial_config_short(t, c, r->few, &f) || !nearly(t, &f)))
        return;
    if (may_spend(t, r, r->all))
        trial_config(t, c, text);
}

static double inverse(double x)
{
    return 1 / x;
}

static void set_factor(Seq2seqConfig *c, float factor)
{
    c->rope.factor = factor;
    if (c->rope.scaling == ROPE_YARN && c->rope.stretch > 0)
        c->rope.stretch = seq2seq_yarn_stretch(factor);
}

/* Angles follow the factor's inverse. */
static void set_inverse_factor(Seq2seqConfig *c, double x)
{
    c->rope.scaling = c->rope.scaling ? c->rope.scaling : ROPE_LINEAR;
    set_factor(c, (float)(1 / x));
}

static const float FACTORS[] = {2, 4, 8, 16, 32, 40, 64};
enum { FACTORS_COUNT = sizeof FACTORS / sizeof *FACTORS };

static void attempt_factors(Trial *t, Turning *r)
{
    const Seq2seqConfig *own = t->s->text;
    const bool none = own->rope.scaling == ROPE_AS_TRAINED;
    const char *before = none ? "the recording divides all rotary frequencies by "
                              : "the factor of rope_scaling in the recording is ",
               *after = none ? ", as linear rope_scaling does; here they are as trained"
                             : arena_printf(&t->arena, ", here it is %.10g", (double)own->rope.factor);
    snprintf(t->id, sizeof t->id, none ? "rope_scaling:linear" : "rope_scaling:factor");
    for (int i = 0; i < FACTORS_COUNT && own->rope.scaling != ROPE_LONG; i++) {
        Seq2seqConfig c = *own;
        set_inverse_factor(&c, 1 / (double)FACTORS[i]);
        if (none || c.rope.factor < own->rope.factor || c.rope.factor > own->rope.factor)
            attempt_written(t, r, &c, arena_printf(&t->arena, "%s%.10g%s", before, (double)FACTORS[i], after));
    }
    const Search s = {.set = set_inverse_factor,
                      .number = inverse,
                      .low = 1.0 / 512,
                      .high = 1,
                      .rate = 1,
                      .here = (double)own->rope.factor,
                      .stretches = own->rope.stretch > 0,
                      .said = {arena_printf(&t->arena, "%sabout ", before), after}};
    if (own->rope.scaling != ROPE_LONG)
        attempt_search(t, r, &s);
}

/* The length that was trained with, for scalings that count from it. */
static void attempt_trained(Trial *t, Turning *r)
{
    enum { SHORTEST = 4, LONGEST = 20 }; /* powers of two */
    const Seq2seqConfig *own = t->s->text;
    const RopeScaling s = own->rope.scaling;
    snprintf(t->id, sizeof t->id, "rope_scaling:original_length");
    for (int i = SHORTEST; i <= LONGEST && (s == ROPE_LLAMA3 || s == ROPE_YARN || s == ROPE_DYNAMIC); i++) {
        Seq2seqConfig c = *own;
        c.rope.trained = (float)(1 << i);
        if (c.rope.trained < own->rope.trained || c.rope.trained > own->rope.trained)
            attempt_written(t, r, &c,
                            arena_printf(&t->arena,
                                         "the recording's rope_scaling counts from an original length of %d tokens, "
                                         "here it is %.10g",
                                         1 << i, (double)own->rope.trained));
    }
}

/* One that the folder does not have, as models that are published have it. */
static void attempt_kinds(Trial *t, Turning *r)
{
    static const struct {
        RopeScaling scaling;
        const char *name, *id;
        float low, high;
    } KINDS[] = {{ROPE_LLAMA3, "llama3", "rope_scaling:llama3", 1, 4}, {ROPE_YARN, "yarn", "rope_scaling:yarn", 1, 32}};
    enum { SHORTEST = 11, LONGEST = 17, LENGTHS = LONGEST - SHORTEST + 3 };
    const Seq2seqConfig *own = t->s->text;
    if (own->rope.scaling != ROPE_AS_TRAINED)
        return;
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
        for (int i = 0; i < FACTORS_COUNT * LENGTHS; i++) {
            Seq2seqConfig c = *own;
            const int at = i % LENGTHS, length = at == 0   ? own->positions
                                                 : at == 1 ? (int)((float)own->positions / FACTORS[i / LENGTHS])
                                                           : 1 << (SHORTEST + at - 2);
            if (length < 1 || (at > 1 && length == own->positions))
                continue;
            c.rope.scaling = KINDS[k].scaling;
            c.rope.low = KINDS[k].low;
            c.rope.high = KINDS[k].high;
            c.rope.trained = (float)length;
            c.rope.stretch = KINDS[k].scaling == ROPE_YARN ? 1 : 0; /* it goes with the factor */
            set_factor(&c, FACTORS[i / LENGTHS]);
            snprintf(t->id, sizeof t->id, "%s", KINDS[k].id);
            attempt_written(t, r, &c,
                            arena_printf(&t->arena,
                                         "the recording has rope_scaling \"%s\" with factor %.10g and an original "
                                         "length of %d tokens, here there is none",
                                         KINDS[k].name, (double)c.rope.factor, length));
        }
}

void trial_scalings(Trial *t)
{
    Turning r;
    if (!open_turning(t, &r) || !has_turns(t, false))
        return;
    const double tried = t->attempts;
    t->strict = true;
    attempt_trained(t, &r);
    attempt_kinds(t, &r);
    attempt_factors(t, &r);
    t->strict = false;
    t->attempts = tried + 1;
}

/* --- keys at other places --- */

/* Keys turned to the place behind or before their own: cos and sin (its sign as stored) of a ± f, f being row 1's. */
void trial_keys_moved(Trial *t)
{
    const Graph *g = t->s->graph;
    if (path_ends(graph_node(g, t->target->node)->path, "attn.k_turned") &&
        trial_row_beside(t, "attn.q_turned") != BESIDE_AGREES) /* else so may q be */
        return;
    for (int by = 1; by >= -1; by -= 2) {
        trial_begin(t);
        for (NodeId n = trial_find(t, "attn.k_cos", 0); n != NO_NODE; n = trial_find(t, "attn.k_cos", n + 1)) {
            const char *path = graph_node(g, n)->path;
            const NodeId seen[2] = {trial_beside(t, path, "attn.cos_seen"), trial_beside(t, path, "attn.sin_seen")};
            size_t cells = seen[0] == NO_NODE || seen[1] == NO_NODE ? 0 : graph_cells(g, seen[0]);
            Dims d = graph_node(g, n)->dims;
            size_t rows = (size_t)g->axes[d.axis[0]].n, width = cells / rows;
            if (rows < 2 || !width || graph_cells(g, seen[1]) != cells)
                continue;
            const float *c = run_need(t->s->run, seen[0]), *s = run_need(t->s->run, seen[1]);
            float *out[2];
            for (int k = 0; k < 2; k++)
                out[k] = arena_alloc(&t->arena, size_mul(cells, sizeof *out[k]));
            for (size_t i = 0; i < cells; i++) {
                size_t e = i % width; /* row 0 holds what all are stretched by */
                double one = (double)c[e], cf = (double)c[width + e] / one, sf = by * (double)s[width + e] / one;
                out[0][i] = (float)((double)c[i] * cf - (double)s[i] * sf);
                out[1][i] = (float)((double)s[i] * cf + (double)c[i] * sf);
            }
            for (int k = 0; k < 2; k++)
                trial_add(t, EDIT_VALUES, graph_node(g, seen[k])->path)->data = out[k];
        }
        trial_attempt(t, by > 0 ? "the recording rotates k to one position further on than q"
                                : "the recording rotates k to one position before that of q");
    }
}

/* --- places counted from another than 0 --- */

/* The first token's queries or keys of a block as they are turned at place `first`: the largest error of that. */
static double first_row(const Trial *t, const float *plain, const float *theirs, bool local, int heads, int first)
{
    const Seq2seqConfig *c = t->s->text;
    const size_t width = (size_t)c->head_dim;
    const double stretch = c->rope.stretch > 0 && !(local && c->rope.local_base > 0) ? (double)c->rope.stretch : 1;
    const int tokens = (int)(graph_cells(t->s->graph, t->target->node) / ((size_t)heads * width));
    double worst = 0;
    for (int k = 0; k < seq2seq_rope_pairs(c); k++) {
        const double angle = first * seq2seq_rope_rate(c, local, k, tokens), cos = stretch * dm_cos(angle),
                     sin = stretch * dm_sin(angle);
        int one, two;
        seq2seq_rope_pair(c, k, &one, &two);
        for (int h = 0; h < heads; h++) {
            const double x = (double)plain[(size_t)h * width + (size_t)one],
                         y = (double)plain[(size_t)h * width + (size_t)two],
                         left = dm_abs(x * cos - y * sin - (double)theirs[(size_t)h * width + (size_t)one]),
                         right = dm_abs(y * cos + x * sin - (double)theirs[(size_t)h * width + (size_t)two]);
            worst = left > worst ? left : worst;
            worst = right > worst ? right : worst;
        }
    }
    return worst;
}

/* cos and sin of all tokens from place `first` on. */
static void add_places(Trial *t, bool local, int first)
{
    const Graph *g = t->s->graph;
    const Seq2seqConfig *c = t->s->text;
    const double stretch = c->rope.stretch > 0 && !(local && c->rope.local_base > 0) ? (double)c->rope.stretch : 1;
    for (int part = 0; part < 2; part++) {
        static const char *const LEAVES[2][2] = {{"rope_cos", "rope_sin"}, {"rope_cos_local", "rope_sin_local"}};
        const NodeId n = trial_find(t, LEAVES[local][part], 0);
        if (n == NO_NODE)
            return;
        const size_t cells = graph_cells(g, n), width = (size_t)c->head_dim, rows = cells / width;
        float *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
        for (size_t i = 0; i < cells; i++)
            out[i] = part ? 0 : 1;
        for (int k = 0; k < seq2seq_rope_pairs(c); k++) {
            int one, two;
            seq2seq_rope_pair(c, k, &one, &two);
            for (size_t r = 0; r < rows; r++) {
                const double angle = ((double)r + first) * seq2seq_rope_rate(c, local, k, (int)rows),
                             x = stretch * (part ? dm_sin(angle) : dm_cos(angle));
                out[r * width + (size_t)two] = (float)x;
                out[r * width + (size_t)one] = (float)(part ? -x : x);
            }
        }
        trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = out;
    }
}

/* Scores see the distance of two tokens alone: only what is turned itself shows from where it is counted. Which place
 * the first token has is told by its own row. */
void trial_counted(Trial *t)
{
    enum { FARTHEST = 1 << 17 };
    const Graph *g = t->s->graph;
    const char *path = graph_node(g, t->target->node)->path;
    const bool query = path_ends(path, "attn.q_turned");
    const Seq2seqConfig *c = t->s->text;
    const TrialBeside beside = trial_row_beside(t, query ? "attn.k_turned" : "attn.q_turned");
    if ((!query && !path_ends(path, "attn.k_turned")) || t->base || t->target->skip || !c ||
        c->pos != SEQ2SEQ_POS_ROPE || (beside == BESIDE_AGREES && !query))
        return;
    const bool local = trial_find(t, "rope_cos_local", 0) != NO_NODE;
    const NodeId turned = graph_node(g, t->target->node)->op == OP_ADD ? graph_node(g, t->target->node)->in[0]
                                                                       : NO_NODE,
                 plain = turned == NO_NODE ? NO_NODE : graph_node(g, turned)->in[0];
    const float *x = plain == NO_NODE ? NULL : trial_known(t, plain);
    const int heads = query ? c->heads : seq2seq_key_heads(c);
    if (!x || graph_cells(g, plain) != graph_cells(g, t->target->node))
        return;
    double largest = 0;
    for (size_t i = 0; i < (size_t)heads * (size_t)c->head_dim; i++)
        largest = dm_abs((double)x[i]) > largest ? dm_abs((double)x[i]) : largest;
    for (int k = 1; k < 2 * FARTHEST; k++) { /* 1, −1, 2, … */
        const int first = k % 2 ? k / 2 + 1 : -k / 2;
        if (first_row(t, x, t->target->values, local, heads, first) > 100 * t->allowed * largest)
            continue;
        snprintf(t->id, sizeof t->id, "settings:first_place");
        trial_begin(t);
        add_places(t, local, first);
        trial_attempt(t, "the recording counts rotary positions%s from %d, here they are counted from 0",
                      beside == BESIDE_DIFFERS ? ""
                      : query                  ? " of q"
                                               : " of k",
                      first);
        if (trial_close(t))
            return;
    }
}

/* --- the order of a head's rows --- */

/* x [(heads e), inner]: Meta's order has the two numbers of a pair side by side, Hugging Face's a half apart; those
 * that are not turned stay. */
static const float *reordered(Trial *t, const float *x, size_t cells, size_t inner, bool to_meta)
{
    const Seq2seqConfig *c = t->s->text;
    const size_t width = (size_t)c->head_dim, turned = c->rope.width ? (size_t)c->rope.width : width;
    float *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
    for (size_t row = 0; row < cells / inner; row++) {
        const size_t e = row % width, meta = e % (turned / 2) * 2 + e / (turned / 2), other = e < turned ? meta : e;
        memcpy(out + (to_meta ? row - e + other : row) * inner, x + (to_meta ? row : row - e + other) * inner,
               inner * sizeof *out);
    }
    return out;
}

unsigned trial_add_permuted(Trial *t, int way, const char **text)
{
    static const char *const ENDS[] = {"self_attn.w_q", "self_attn.b_q", "self_attn.w_k", "self_attn.b_k"};
    static const char *const TEXTS[TRIAL_PERMUTED] = {
#define IN_METAS(of)                                                                                                   \
    "the rows of " of " stand in Meta's order in the recording, pair by pair: the permutation of Llama's conversion "  \
    "is missing"
#define PERMUTED(of)                                                                                                   \
    "the rows of " of " are permuted in the recording, as in Llama's conversion from Meta's order, and not here"
        IN_METAS("W_Q and W_K"), PERMUTED("W_Q and W_K"), IN_METAS("W_Q"),
        PERMUTED("W_Q"),         IN_METAS("W_K"),         PERMUTED("W_K")};
    const Seq2seqConfig *c = t->s->text;
    unsigned added = 0;
    *text = TEXTS[way];
    if (!c || c->pos != SEQ2SEQ_POS_ROPE || (c->rope.width ? c->rope.width : c->head_dim) < 4)
        return 0;
    for (int i = way < 4 ? 0 : 2; i < (way / 2 == 1 ? 2 : 4); i++)
        for (NodeId n = trial_find(t, ENDS[i], 0); n != NO_NODE; n = trial_find(t, ENDS[i], n + 1)) {
            trial_add(t, EDIT_VALUES, graph_node(t->s->graph, n)->path)->data = reordered(t, run_need(t->s->run, n),
                                                                                          graph_cells(t->s->graph, n),
                                                                                          i % 2 ? 1 : (size_t)c->width,
                                                                                          way % 2 == 0);
            added |= i < 2 ? TRIAL_PERMUTED_Q : TRIAL_PERMUTED_K;
        }
    return added;
}

void trial_permuted(Trial *t)
{
    static const unsigned ALL[] = {TRIAL_PERMUTED_Q | TRIAL_PERMUTED_K, TRIAL_PERMUTED_Q, TRIAL_PERMUTED_K};
    for (int way = 0; way < TRIAL_PERMUTED; way++) {
        const char *text;
        trial_begin(t);
        if (trial_add_permuted(t, way, &text) == ALL[way / 2])
            trial_attempt(t, "%s", text);
    }
}
