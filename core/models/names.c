#include "core/models/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/graph/anatomy.h"

static const NodeText ROWS[] = {
#define NODE(pattern_, label_, symbol_, sentence_) {pattern_, label_, symbol_, sentence_},
#include "core/models/names.def"
#undef NODE
};

static const unsigned char LENGTHS[] = {
#define NODE(pattern_, label_, symbol_, sentence_) sizeof(pattern_) - 1,
#include "core/models/names.def"
#undef NODE
};

/* The last letters of all patterns, as a text: what strcspn passes over sixteen at a time. */
static const char ENDS[] = {
#define NODE(pattern_, label_, symbol_, sentence_) pattern_[sizeof(pattern_) - 2],
#include "core/models/names.def"
#undef NODE
    '\0'};

/* Scopes that are LayerNorms. */
static const char *const NORMS[] = {"ln1",       "ln2",       "ln3",      "ln_final",  "norm_pre", "fc_norm",
                                    "ln_hidden", "pool_norm", "ln_patch", "ln_merged", "ln_embed", "ln_transform",
                                    "ln1_after", "ln2_after", "ln_q",     "ln_k"};

/* …and RMSNorms. */
static const char *const RMS_NORMS[] = {"rms1",       "rms2",       "rms_final", "rms_pre",    "rms_fc",
                                        "rms_hidden", "rms_pool",   "rms_patch", "rms_merged", "rms_embed",
                                        "rms1_after", "rms2_after", "rms_q",     "rms_k",      "rms3"};

static size_t component(const char *path)
{
    return strcspn(path, ".");
}

/* …and attentions. */
static const char *const ATTENTIONS[] = {"attn", "self_attn", "cross_attn"};

/* …and stacks. */
static const char *const STACKS[] = {"encoder", "decoder"};

static bool is_one_of(const char *const *words, size_t count, const char *s, size_t n)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0)
            return true;
    return false;
}

/* One component: the same text, `<ln>`, `<rms>`, `<attn>`, or text with one `*` in it for any text. */
static bool component_fits(const char *pattern, size_t np, const char *s, size_t n)
{
    const char *star = np ? memchr(pattern, '*', np) : NULL;
    if (np == 4 && memcmp(pattern, "<ln>", 4) == 0)
        return is_one_of(NORMS, sizeof NORMS / sizeof *NORMS, s, n);
    if (np == 5 && memcmp(pattern, "<rms>", 5) == 0)
        return is_one_of(RMS_NORMS, sizeof RMS_NORMS / sizeof *RMS_NORMS, s, n);
    if (np == 6 && memcmp(pattern, "<attn>", 6) == 0)
        return is_one_of(ATTENTIONS, sizeof ATTENTIONS / sizeof *ATTENTIONS, s, n);
    if (!star)
        return n == np && memcmp(pattern, s, n) == 0;
    size_t before = (size_t)(star - pattern), after = np - before - 1;
    return n >= before + after && memcmp(pattern, s, before) == 0 && memcmp(star + 1, s + n - after, after) == 0;
}

/* Component by component; "<stack>" takes the name of a stack, or nothing; "**" takes any number of them, none
 * included. */
static bool fits(const char *pattern, const char *path)
{
    for (;;) {
        size_t np = component(pattern), n = component(path);
        if (np == 7 && memcmp(pattern, "<stack>", 7) == 0) {
            pattern += np + 1;
            if (is_one_of(STACKS, sizeof STACKS / sizeof *STACKS, path, n) && path[n])
                path += n + 1;
            continue;
        }
        if (np == 2 && memcmp(pattern, "**", 2) == 0) {
            if (!pattern[np])
                return true;
            for (;; path++) {
                if (fits(pattern + np + 1, path))
                    return true;
                path += component(path);
                if (!*path)
                    return false;
            }
        }
        if (!component_fits(pattern, np, path, n))
            return false;
        pattern += np;
        path += n;
        if (!*pattern || !*path)
            return *pattern == *path;
        pattern++;
        path++;
    }
}

/* Most that end in the same letter are told apart before any wildcard: what stands behind a pattern's last wildcard is
 * how its paths end. */
static bool ends_alike(const char *pattern, size_t np, const char *path, size_t n)
{
    while (np > 0 && n > 0) {
        char c = pattern[--np];
        if (c == '*' || c == '>')
            return true;
        if (c != path[--n])
            return false;
    }
    return true;
}

ScoreFactor node_factor(const Graph *g)
{
    NodeId n = site_node_any(g, SITE_SCALE), q = site_node_any(g, SITE_QUERY);
    const int width = q == NO_NODE ? AXIS_NONE : node_role(g, q, ROLE_HEAD_WIDTH);
    while (n != NO_NODE && graph_node(g, n)->op != OP_LEAF) /* what an edit put in place of it */
        n = graph_node(g, n)->in[0];
    if (n == NO_NODE || width == AXIS_NONE || !graph_node(g, n)->leaf.data)
        return FACTOR_NONE;
    const double x = (double)graph_node(g, n)->leaf.data[0], of_root = x * x * g->axes[width].n - 1;
    return of_root > -1e-5 && of_root < 1e-5 ? FACTOR_ROOT : x >= 1 && x <= 1 ? FACTOR_ONE : FACTOR_OTHER;
}

const char *node_words(const Graph *g, const char *text)
{
    static const struct {
        const char *root, *one, *other;
    } WORDS[] = {
        {"1/√d_k", "1", "f"},
        {"q kᵀ/√d_k", "q kᵀ", "f q kᵀ"},
        {"q kᵀ/√d_k+b", "q kᵀ+b", "f q kᵀ+b"},
        {"1/√d_k: with it, scores of independent q and k have a spread of 1.",
         "1: this model was trained with its scores as they are.",
         "The factor on scores that this model was trained with: not 1/√d_k."},
        {"Each score times the factor: larger scores make sharper rows of attention.",
         "Each score times 1: this model has no factor on its scores.", NULL},
    };
    static const struct {
        const char *plain, *with_sinks;
    } SINKS[] = {
        {"Each exponential over its row's sum: attention weights. Each row adds to 1.",
         "Each exponential over its row's sum: weights. The sink takes the rest up to 1."},
        {"Every row of scores becomes weights that add up to 1: who looks at whom.",
         "Every row of scores becomes weights: who looks at whom. A sink takes the rest."},
        {"What a row of attention adds up to: 1 but for rounding.",
         "What a row of attention adds up to: 1 less what the head's sink takes."},
        {"The largest score of a row; taking it away keeps exp from overflowing.", "The largest score of a row."},
        {"Scores minus the row's largest: at most 0, and the result is the same.",
         "Scores minus the larger of the row's largest and the sink: at most 0."},
        {"The exponentials of a row added up.", "The exponentials of a row and of the head's sink added up."},
        {"Each weight times its logarithm: the terms of the entropy.",
         "Each share times its logarithm: the terms of the entropy."},
    };
    const bool sinks = text && site_node_any(g, SITE_SINKS) != NO_NODE;
    for (size_t i = 0; sinks && i < sizeof SINKS / sizeof *SINKS; i++)
        if (strcmp(SINKS[i].plain, text) == 0)
            return SINKS[i].with_sinks;
    for (size_t i = 0; text && i < sizeof WORDS / sizeof *WORDS; i++)
        if (strcmp(WORDS[i].root, text) == 0) {
            const ScoreFactor f = node_factor(g);
            const char *other = f == FACTOR_ONE ? WORDS[i].one : f == FACTOR_OTHER ? WORDS[i].other : NULL;
            return other ? other : text;
        }
    return text;
}

const NodeText *node_text_at(size_t i)
{
    return i < sizeof ROWS / sizeof *ROWS ? &ROWS[i] : NULL;
}

bool node_text_fits(const NodeText *t, const char *path)
{
    return ends_alike(t->pattern, strlen(t->pattern), path, strlen(path)) && fits(t->pattern, path);
}

const NodeText *node_text(const char *path)
{
    const size_t n = strlen(path);
    const char may_end[] = {n ? path[n - 1] : '*', '*', '>', '\0'};
    for (size_t i = strcspn(ENDS, may_end); i < sizeof ROWS / sizeof *ROWS; i += 1 + strcspn(ENDS + i + 1, may_end))
        if (ends_alike(ROWS[i].pattern, LENGTHS[i], path, n) && fits(ROWS[i].pattern, path))
            return &ROWS[i];
    return NULL;
}
