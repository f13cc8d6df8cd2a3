#include "lessons/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/graph/walk.h"
#include "core/session/address.h"

enum { DEPTH = 48, TEXT = 512 };

typedef struct Parser {
    const Scope *scope;
    const char *p;
    int depth;
    Err *err;
} Parser;

static bool sum_of(Parser *r, double *x);

static void blanks(Parser *r)
{
    while (*r->p == ' ' || *r->p == '\n')
        r->p++;
}

static bool expected(Parser *r, const char *what)
{
    return err_set(r->err, "expected %s at '%.40s'", what, *r->p ? r->p : "the end");
}

/* ---- numbers as they are printed ---- */

static size_t minus(const char *p)
{
    return *p == '-' ? 1 : strncmp(p, "\xE2\x88\x92", 3) == 0 ? 3 : 0;
}

size_t number_printed(const char *text, double *out, double *half)
{
    char digits[64];
    size_t n = minus(text), k = 0;
    bool negative = n > 0;
    int places = 0, exponent = 0;
    if (!isdigit((unsigned char)text[n]))
        return 0;
    while (k < 40) {
        bool comma = text[n] == ',' && isdigit((unsigned char)text[n + 1]) && isdigit((unsigned char)text[n + 2]) &&
                     isdigit((unsigned char)text[n + 3]) && !isdigit((unsigned char)text[n + 4]);
        if (isdigit((unsigned char)text[n]))
            digits[k++] = text[n];
        else if (!comma || places)
            break;
        n++;
    }
    if (text[n] == '.' && isdigit((unsigned char)text[n + 1])) {
        digits[k++] = '.';
        for (n++; isdigit((unsigned char)text[n]) && k < 60; n++, places++)
            digits[k++] = text[n];
    }
    digits[k] = 0;
    if (text[n] == 'e') {
        size_t m = text[n + 1] == '+' ? 1 : minus(text + n + 1);
        bool below = minus(text + n + 1) > 0;
        if (isdigit((unsigned char)text[n + 1 + m])) {
            char *end;
            exponent = (int)strtol(text + n + 1 + m, &end, 10) * (below ? -1 : 1);
            n = (size_t)(end - text);
        }
    }
    if (exponent > 300 || exponent < -300)
        return 0;
    *out = strtod(digits, NULL) * (negative ? -1 : 1) * dm_pow(10, exponent);
    if (exponent) { /* as it is written, not as a product rounded twice */
        char whole[80];
        snprintf(whole, sizeof whole, "%s%se%d", negative ? "-" : "", digits, exponent);
        *out = strtod(whole, NULL);
    }
    *half = 0.5 * dm_pow(10, exponent - places);
    return n;
}

/* ---- cells ---- */

/* What an address names: some cells of one node. */
typedef struct Cells {
    const Graph *g;
    const float *x;
    NodeId node;
    Selection chosen;
    size_t count;
} Cells;

static const Example *find_example(const Scope *scope, const char *name, size_t n)
{
    for (int i = 0; i < scope->count; i++)
        if (strlen(scope->examples[i].name) == n && strncmp(scope->examples[i].name, name, n) == 0)
            return &scope->examples[i];
    return NULL;
}

/* An address as far as it goes: name, perhaps example: before it, perhaps [ ] behind it. */
static size_t address_length(const char *p)
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

static bool resolve(const Scope *scope, const char *text, const char **path, Cells *c, Side *side, Run **run,
                    Address *to, Err *err)
{
    const char *colon = strchr(text, ':'), *bracket = strchr(text, '[');
    *side = SIDE_B;
    *run = NULL;
    *path = text;
    if (colon && (!bracket || colon < bracket)) {
        const Example *e = find_example(scope, text, (size_t)(colon - text));
        *path = colon + 1;
        if (colon - text == 1 && (*text == 'a' || *text == 'b'))
            *side = *text == 'a' ? SIDE_A : SIDE_B;
        else if (!e)
            return err_set(err, "there is no example '%.*s'", (int)(colon - text), text);
        else
            *run = e->run;
        c->g = e && *run ? e->graph : session_graph(scope->s, *side);
    } else {
        c->g = session_graph(scope->s, SIDE_B);
    }
    if (!address_parse(scope->s, c->g, *path, to, err))
        return false;
    if (!to->is_node)
        return err_set(err, "'%.80s' names several nodes", *path);
    c->node = graph_find(c->g, to->path);
    c->chosen = to->cells;
    return true;
}

static bool read_cells(Parser *r, Cells *c)
{
    char text[TEXT];
    blanks(r);
    size_t n = address_length(r->p);
    if (!n || n >= sizeof text)
        return expected(r, "an address");
    memcpy(text, r->p, n);
    text[n] = 0;
    r->p += n;
    const char *path;
    Side side;
    Run *run;
    Address to;
    if (!resolve(r->scope, text, &path, c, &side, &run, &to, r->err))
        return false;
    c->x = run ? run_need(run, c->node) : session_need(r->scope->s, side, to.path, r->err);
    if (!c->x)
        return false;
    c->count = 1;
    Dims d = graph_node(c->g, c->node)->dims;
    for (int i = 0; i < d.n; i++) {
        int length = c->g->axes[d.axis[i]].n;
        for (int k = 0; k < c->chosen.n; k++)
            if (c->chosen.range[k].axis == d.axis[i])
                length = c->chosen.range[k].to - c->chosen.range[k].from;
        c->count *= (size_t)length;
    }
    return true;
}

/* The i-th chosen cell, row by row. */
static double cell_at(const Cells *c, size_t i)
{
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
    return (double)c->x[dims_ravel(c->g->axes, d, index)];
}

/* ---- functions of cells ---- */

static double cells_sum(const Cells *c)
{
    double s = 0;
    for (size_t i = 0; i < c->count; i++)
        s += cell_at(c, i);
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
        if (sign * cell_at(c, i) > sign * cell_at(c, best))
            best = i;
    return best;
}
static double cells_largest(const Cells *c)
{
    return cell_at(c, extreme(c, 1));
}
static double cells_smallest(const Cells *c)
{
    return cell_at(c, extreme(c, -1));
}
static double cells_argmax(const Cells *c)
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
        s += (cell_at(c, i) - mean) * (cell_at(c, i) - mean);
    return s / (double)c->count;
}
static double cells_norm(const Cells *c)
{
    double s = 0;
    for (size_t i = 0; i < c->count; i++)
        s += cell_at(c, i) * cell_at(c, i);
    return dm_sqrt(s);
}
static double cells_entropy(const Cells *c)
{
    double s = 0;
    for (size_t i = 0; i < c->count; i++)
        s -= cell_at(c, i) > 1e-300 ? cell_at(c, i) * dm_log(cell_at(c, i)) : 0;
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
        s += cell_at(c, i) != 0;
    return s;
}

static double pair_dot(const Cells *a, const Cells *b)
{
    double s = 0;
    for (size_t i = 0; i < a->count; i++)
        s += cell_at(a, i) * cell_at(b, i);
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
        double d = dm_abs(cell_at(a, i) - cell_at(b, i));
        most = d > most || d != d ? d : most;
    }
    return most;
}
static double pair_distance(const Cells *a, const Cells *b)
{
    double s = 0;
    for (size_t i = 0; i < a->count; i++)
        s += (cell_at(a, i) - cell_at(b, i)) * (cell_at(a, i) - cell_at(b, i));
    return dm_sqrt(s);
}

static const struct {
    const char *name;
    double (*of)(const Cells *c);
    double (*pair)(const Cells *a, const Cells *b);
} OF_CELLS[] = {{"sum", cells_sum, NULL},         {"mean", cells_mean, NULL},
                {"largest", cells_largest, NULL}, {"smallest", cells_smallest, NULL},
                {"argmax", cells_argmax, NULL},   {"argmin", cells_argmin, NULL},
                {"var", cells_var, NULL},         {"norm", cells_norm, NULL},
                {"entropy", cells_entropy, NULL}, {"cells", cells_count, NULL},
                {"nonzero", cells_nonzero, NULL}, {"dot", NULL, pair_dot},
                {"cosine", NULL, pair_cosine},    {"maxdiff", NULL, pair_maxdiff},
                {"distance", NULL, pair_distance}};

/* ---- functions of numbers ---- */

static double of_log2(double x)
{
    return dm_log(x) / dm_log(2);
}
static double of_exp(double x)
{
    return x > 700 ? HUGE_VAL : x < -700 ? 0 : dm_exp(x);
}
static double of_ln(double x)
{
    return x > 0 ? dm_log(x) : x == 0 ? -HUGE_VAL : (double)NAN;
}
static double of_round(double x)
{
    return dm_floor(x + 0.5);
}
static double of_ceil(double x)
{
    return -dm_floor(-x);
}

static const struct {
    const char *name;
    double (*of)(double x);
} OF_NUMBERS[] = {{"sqrt", dm_sqrt}, {"exp", of_exp},     {"ln", of_ln},     {"log2", of_log2},
                  {"abs", dm_abs},   {"floor", dm_floor}, {"ceil", of_ceil}, {"round", of_round}};

static bool close_bracket(Parser *r)
{
    blanks(r);
    if (*r->p != ')')
        return expected(r, ")");
    r->p++;
    return true;
}

static bool comma(Parser *r)
{
    blanks(r);
    if (*r->p != ',')
        return expected(r, ", and a second operand");
    r->p++;
    return true;
}

static bool cells_call(Parser *r, size_t which, double *x)
{
    Cells a, b;
    if (!read_cells(r, &a))
        return false;
    if (!OF_CELLS[which].pair) {
        *x = OF_CELLS[which].of(&a);
        return close_bracket(r);
    }
    if (!comma(r) || !read_cells(r, &b))
        return false;
    if (a.count != b.count)
        return err_set(r->err, "%s: %zu cells on one side, %zu on the other", OF_CELLS[which].name, a.count, b.count);
    *x = OF_CELLS[which].pair(&a, &b);
    return close_bracket(r);
}

static bool word_arg(Parser *r, char out[TEXT])
{
    blanks(r);
    size_t n = address_length(r->p);
    if (n >= TEXT)
        return expected(r, "a name");
    memcpy(out, r->p, n);
    out[n] = 0;
    r->p += n;
    return close_bracket(r);
}

/* params(scope), flops(scope), at(axis), on(path); *known false: another name. */
static bool trace_call(Parser *r, const char *name, double *x, bool *known)
{
    char text[TEXT];
    Session *s = r->scope->s;
    const Graph *g = session_graph(s, SIDE_B);
    bool params = strcmp(name, "params") == 0, flops = strcmp(name, "flops") == 0, at = strcmp(name, "at") == 0,
         on = strcmp(name, "on") == 0;
    *known = params || flops || at || on;
    if (!*known)
        return false;
    if (!word_arg(r, text))
        return false;
    if (at) {
        int axis = session_axis(g, text);
        if (axis == AXIS_NONE)
            return err_set(r->err, "the model has no axis '%.20s'", text);
        *x = s->place.at[axis];
        return true;
    }
    if (on) {
        if (graph_find(g, text) == NO_NODE)
            return err_set(r->err, "there is no node '%.80s'", text);
        *x = strcmp(s->place.path, text) == 0;
        return true;
    }
    Cost c = graph_scope_cost(g, text);
    *x = params ? c.params : c.flops;
    return *x > 0 || err_set(r->err, "nothing is named '%.80s', or it has none", text);
}

static bool min_max(Parser *r, bool max, double *x)
{
    double y;
    if (!sum_of(r, x) || !comma(r) || !sum_of(r, &y))
        return false;
    *x = max == (y > *x) ? y : *x;
    return close_bracket(r);
}

static bool call(Parser *r, const char *name, double *x)
{
    for (size_t i = 0; i < sizeof OF_CELLS / sizeof *OF_CELLS; i++)
        if (strcmp(name, OF_CELLS[i].name) == 0)
            return cells_call(r, i, x);
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        return min_max(r, strcmp(name, "max") == 0, x);
    for (size_t i = 0; i < sizeof OF_NUMBERS / sizeof *OF_NUMBERS; i++)
        if (strcmp(name, OF_NUMBERS[i].name) == 0) {
            double y;
            if (!sum_of(r, &y) || !close_bracket(r))
                return false;
            *x = OF_NUMBERS[i].of(y);
            return true;
        }
    bool known, ok = trace_call(r, name, x, &known);
    return known ? ok : err_set(r->err, "there is no function '%.40s'", name);
}

static bool primary(Parser *r, double *x)
{
    double half;
    blanks(r);
    size_t n = isdigit((unsigned char)*r->p) ? number_printed(r->p, x, &half) : 0;
    if (n) {
        r->p += n;
        return true;
    }
    if (*r->p == '(') {
        r->p++;
        return sum_of(r, x) && close_bracket(r);
    }
    if (!isalpha((unsigned char)*r->p))
        return expected(r, "a number, an address or (");
    char name[32];
    for (n = 0; isalnum((unsigned char)r->p[n]); n++)
        ;
    if (r->p[n] == '(' && n < sizeof name) {
        memcpy(name, r->p, n);
        name[n] = 0;
        r->p += n + 1;
        return call(r, name, x);
    }
    Cells c;
    const char *start = r->p;
    if (!read_cells(r, &c))
        return false;
    if (c.count != 1)
        return err_set(r->err, "'%.*s' is %zu numbers: name one cell, or take sum( ), largest( ) … of them",
                       (int)(r->p - start), start, c.count);
    *x = cell_at(&c, 0);
    return true;
}

static bool power(Parser *r, double *x)
{
    double y;
    blanks(r);
    size_t n = minus(r->p);
    if (++r->depth > DEPTH)
        return err_set(r->err, "brackets too deep");
    if (n) {
        r->p += n;
        if (!power(r, x))
            return false;
        *x = -*x;
    } else {
        if (!primary(r, x))
            return false;
        blanks(r);
        if (*r->p == '^') {
            r->p++;
            if (!power(r, &y))
                return false;
            bool whole = y == dm_floor(y) && dm_abs(y) <= 64;
            double base = *x, out = 1;
            for (int i = 0; whole && i < (int)dm_abs(y); i++)
                out *= base;
            if (!whole && base <= 0)
                return err_set(r->err, "a power of a number that is not above 0");
            *x = whole ? y < 0 ? 1 / out : out : dm_pow(base, y);
        }
    }
    r->depth--;
    return true;
}

static bool product(Parser *r, double *x)
{
    double y;
    if (!power(r, x))
        return false;
    for (blanks(r); *r->p == '*' || *r->p == '/'; blanks(r)) {
        char op = *r->p++;
        if (!power(r, &y))
            return false;
        *x = op == '*' ? *x * y : *x / y;
    }
    return true;
}

static bool sum_of(Parser *r, double *x)
{
    double y;
    if (++r->depth > DEPTH)
        return err_set(r->err, "brackets too deep");
    if (!product(r, x))
        return false;
    for (blanks(r); *r->p == '+' || minus(r->p); blanks(r)) {
        bool plus = *r->p == '+';
        r->p += plus ? 1 : minus(r->p);
        if (!product(r, &y))
            return false;
        *x = plus ? *x + y : *x - y;
    }
    r->depth--;
    return true;
}

/* A condition: sums with < > = between them (1 or 0), `and` between conditions. */
static bool condition(Parser *r, double *x)
{
    if (!sum_of(r, x))
        return false;
    for (;;) {
        blanks(r);
        char op = *r->p;
        double y;
        if (op == '<' || op == '>' || op == '=') {
            r->p++;
            if (!sum_of(r, &y))
                return false;
            *x = op == '<' ? *x < y : op == '>' ? *x > y : *x == y;
        } else if (strncmp(r->p, "and ", 4) == 0) {
            r->p += 4;
            if (!condition(r, &y))
                return false;
            *x = *x != 0 && y != 0;
        } else {
            return true;
        }
    }
}

bool number_value(const Scope *scope, const char *text, double *out, Err *err)
{
    Parser r = {scope, text, 0, err};
    double x = 0;
    if (!condition(&r, &x))
        return false;
    blanks(&r);
    if (*r.p)
        return err_set(err, "nothing is expected at '%.40s'", r.p);
    *out = x;
    return true;
}

bool number_address(const Scope *scope, const char *text, Err *err)
{
    Cells c;
    Address to;
    const char *path;
    Side side;
    Run *run;
    if (address_length(text) != strlen(text))
        return err_set(err, "'%.60s' is no address", text);
    return resolve(scope, text, &path, &c, &side, &run, &to, err);
}
