#include "core/session/ask/number.h"

#include <ctype.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/command.h"
#include "core/session/exhibit.h"

/* An address as far as it goes: name, perhaps example: before it, perhaps [ ] behind it. */
size_t cells_address(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.' || p[n] == ':')
        n++;
    if (p[n] == '[') {
        size_t close = strcspn(p + n, "]");
        return p[n + close] ? n + close + 1 : n;
    }
    return n;
}

static const char *example_name(const void *session, int i)
{
    const Session *s = session;
    for (int k = 0; k < s->exhibit_count; k++)
        if (s->exhibits[k]->input.kind == INPUT_MATRICES && i-- == 0)
            return s->exhibits[k]->input.name;
    return NULL;
}

/* What stands before the colon of an address: a side, or a worked example that is among the exhibits. */
static bool side_named(const Session *s, const char *name, size_t n, Side *side, Err *err)
{
    if (n == 1 && (*name == 'a' || *name == 'b')) {
        const RunRow *row = *side >= RUN_FIRST && (size_t)*side < s->run_count ? &s->runs[*side] : NULL;
        if (!row || !row->exhibit)
            *side = *name == 'a' ? SIDE_A : SIDE_B;
        else
            *side = session_run_number(row->exhibit, *name == 'b' && row->exhibit->pass.edited != NULL);
        return true;
    }
    for (int i = 0; i < s->exhibit_count; i++) {
        const Exhibit *e = s->exhibits[i];
        if (e->input.kind != INPUT_MATRICES || strlen(e->input.name) != n || strncmp(e->input.name, name, n) != 0)
            continue;
        *side = session_run_number(e, e->pass.edited != NULL);
        return true;
    }
    char typed[41];
    Buf known = {0};
    utf8_print(typed, sizeof typed, "%.*s", (int)(n < 40 ? n : 40), name);
    if (example_name(s, 0))
        names_offer(typed, example_name, s, &known);
    err_set(err, "there is no example '%s'%s", typed, buf_str(&known));
    buf_free(&known);
    return false;
}

bool cells_find(const Session *s, Side side, const char *text, Cells *out, Err *err)
{
    const char *colon = strchr(text, ':'), *bracket = strchr(text, '[');
    Address to;
    if (colon && (!bracket || colon < bracket)) {
        if (!side_named(s, text, (size_t)(colon - text), &side, err))
            return false;
        text = colon + 1;
    }
    const Graph *g = session_graph(s, side);
    if (!address_parse(s, g, text, &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "'%.80s' names several nodes", text);
    *out = (Cells){.g = g, .side = side, .node = graph_find(g, to.path), .chosen = to.cells, .count = 1};
    if (out->node == NO_NODE)
        return err_set(err, "there is no node '%.80s' on that side", to.path);
    Dims d = graph_node(g, out->node)->dims;
    for (int i = 0; i < d.n; i++) {
        int length = g->axes[d.axis[i]].n;
        for (int k = 0; k < out->chosen.n; k++)
            if (out->chosen.range[k].axis == d.axis[i])
                length = out->chosen.range[k].to - out->chosen.range[k].from;
        out->count *= (size_t)length;
    }
    return true;
}

bool cells_read(Session *s, Side side, const char *text, Cells *out, Err *err)
{
    if (!cells_find(s, side, text, out, err))
        return false;
    out->x = session_need(s, out->side, graph_node(out->g, out->node)->path, err);
    return out->x != NULL;
}

size_t cells_index(const Cells *c, size_t i)
{
    if (!c->chosen.n)
        return i;
    Dims d = graph_node(c->g, c->node)->dims;
    int index[DIMS_MAX];
    for (int a = d.n - 1; a >= 0; a--) {
        int from = 0, length = c->g->axes[d.axis[a]].n;
        for (int k = 0; k < c->chosen.n; k++)
            if (c->chosen.range[k].axis == d.axis[a]) {
                from = c->chosen.range[k].from;
                length = c->chosen.range[k].to - from;
            }
        index[a] = from + (int)(i % (size_t)length);
        i /= (size_t)length;
    }
    return dims_ravel(c->g->axes, d, index);
}

double cells_at(const Cells *c, size_t i)
{
    return (double)c->x[cells_index(c, i)];
}

static double cells_sum(const Cells *c)
{
    double s = 0;
    for (size_t i = 0; i < c->count; i++)
        s += cells_at(c, i);
    return s;
}
static double cells_mean(const Cells *c)
{
    return cells_sum(c) / (double)c->count;
}
static size_t extreme(const Cells *c, double sign)
{
    size_t best = 0;
    for (size_t i = 1; i < c->count; i++)
        if (sign * cells_at(c, i) > sign * cells_at(c, best))
            best = i;
    return best;
}
static double cells_max(const Cells *c)
{
    return cells_at(c, extreme(c, 1));
}
static double cells_min(const Cells *c)
{
    return cells_at(c, extreme(c, -1));
}
double cells_argmax(const Cells *c)
{
    return (double)extreme(c, 1);
}
static double cells_argmin(const Cells *c)
{
    return (double)extreme(c, -1);
}
static double cells_var(const Cells *c)
{
    double mean = cells_mean(c), s = 0;
    for (size_t i = 0; i < c->count; i++)
        s += (cells_at(c, i) - mean) * (cells_at(c, i) - mean);
    return s / (double)c->count;
}
static double cells_norm(const Cells *c)
{
    double s = 0;
    for (size_t i = 0; i < c->count; i++)
        s += cells_at(c, i) * cells_at(c, i);
    return dm_sqrt(s);
}
static double cells_entropy(const Cells *c)
{
    double s = 0;
    for (size_t i = 0; i < c->count; i++)
        s -= cells_at(c, i) > 1e-300 ? cells_at(c, i) * dm_log(cells_at(c, i)) : 0;
    return s;
}
static double cells_count(const Cells *c)
{
    return (double)c->count;
}
static double cells_nonzero(const Cells *c)
{
    double s = 0;
    for (size_t i = 0; i < c->count; i++)
        s += cells_at(c, i) != 0;
    return s;
}

static double pair_dot(const Cells *a, const Cells *b)
{
    double s = 0;
    for (size_t i = 0; i < a->count; i++)
        s += cells_at(a, i) * cells_at(b, i);
    return s;
}
static double pair_cosine(const Cells *a, const Cells *b)
{
    return pair_dot(a, b) / (cells_norm(a) * cells_norm(b));
}
static double pair_maxdiff(const Cells *a, const Cells *b)
{
    double most = 0;
    for (size_t i = 0; i < a->count; i++) {
        double d = dm_abs(cells_at(a, i) - cells_at(b, i));
        most = d > most || d != d ? d : most;
    }
    return most;
}
static double pair_distance(const Cells *a, const Cells *b)
{
    double s = 0;
    for (size_t i = 0; i < a->count; i++)
        s += (cells_at(a, i) - cells_at(b, i)) * (cells_at(a, i) - cells_at(b, i));
    return dm_sqrt(s);
}

static const struct {
    const char *word;
    double (*of)(const Cells *c);
} FOLDS[] = {{"sum", cells_sum},         {"mean", cells_mean},     {"max", cells_max},        {"min", cells_min},
             {"argmax", cells_argmax},   {"argmin", cells_argmin}, {"var", cells_var},        {"norm", cells_norm},
             {"entropy", cells_entropy}, {"count", cells_count},   {"nonzero", cells_nonzero}};

static const struct {
    const char *word;
    double (*of)(const Cells *a, const Cells *b);
} PAIRS[] = {{"dot", pair_dot}, {"cosine", pair_cosine}, {"maxdiff", pair_maxdiff}, {"distance", pair_distance}};

CellsFold *cells_fold(const char *word)
{
    for (size_t i = 0; i < sizeof FOLDS / sizeof *FOLDS; i++)
        if (strcmp(FOLDS[i].word, word) == 0)
            return FOLDS[i].of;
    return NULL;
}

CellsPair *cells_pair(const char *word)
{
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++)
        if (strcmp(PAIRS[i].word, word) == 0)
            return PAIRS[i].of;
    return NULL;
}

const char *cells_word(int i)
{
    const int folds = sizeof FOLDS / sizeof *FOLDS, pairs = sizeof PAIRS / sizeof *PAIRS;
    return i < folds ? FOLDS[i].word : i < folds + pairs ? PAIRS[i - folds].word : NULL;
}
