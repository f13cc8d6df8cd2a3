#include "core/session/ask/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/graph/walk.h"
#include "core/session/address.h"
#include "core/session/command.h"

/* Bytes of the minus, of either kind, that text begins with; 0 for none. */
static size_t printed_minus(const char *p)
{
    return *p == '-' ? 1 : strncmp(p, "\xE2\x88\x92", 3) == 0 ? 3 : 0;
}

/* "⁻¹⁴": bytes of it, 0 for none. */
static size_t raised(const char *p, int *power)
{
    static const char *const DIGITS[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    static const char MINUS[] = "⁻";
    size_t n = strncmp(p, MINUS, strlen(MINUS)) == 0 ? strlen(MINUS) : 0, start = n;
    *power = 0;
    for (int d = 0; d < 10 && n - start < 9; d++)
        if (strncmp(p + n, DIGITS[d], strlen(DIGITS[d])) == 0) {
            *power = *power * 10 + d;
            n += strlen(DIGITS[d]);
            d = -1;
        }
    if (start && n > start)
        *power = -*power;
    return n > start ? n : 0;
}

size_t number_printed(const char *text, double *out, double *half)
{
    char digits[64];
    size_t n = printed_minus(text), k = 0;
    bool negative = n > 0;
    int places = 0;
    long exponent = 0;
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
        size_t m = text[n + 1] == '+' ? 1 : printed_minus(text + n + 1);
        bool below = printed_minus(text + n + 1) > 0;
        if (isdigit((unsigned char)text[n + 1 + m])) {
            char *end;
            exponent = strtol(text + n + 1 + m, &end, 10); /* the largest long where it is larger */
            n = (size_t)(end - text);
            if (exponent > 300)
                return 0;
            exponent = below ? -exponent : exponent;
        }
    }
    *out = strtod(digits, NULL) * (negative ? -1 : 1) * dm_pow(10, (double)exponent);
    if (exponent) { /* as it is written, not as a product rounded twice */
        char whole[80];
        snprintf(whole, sizeof whole, "%s%se%ld", negative ? "-" : "", digits, exponent);
        *out = strtod(whole, NULL);
    }
    *half = 0.5 * dm_pow(10, (double)(exponent - places));
    int power;
    size_t high = *out == 10 && !places && !exponent ? raised(text + n, &power) : 0;
    if (high) { /* 10⁻⁷ */
        char whole[16];
        snprintf(whole, sizeof whole, "1e%d", power);
        *out = strtod(whole, NULL);
        *half = 0.5 * *out;
    }
    return n + high;
}

void number_put(double x, int decimals, Buf *out)
{
    char text[64];
    if (x != x) {
        buf_puts(out, "NaN");
        return;
    }
    if (decimals < 0 && x == dm_floor(x) && dm_abs(x) < 1e15) {
        char digits[32];
        int n = utf8_print(digits, sizeof digits, "%.0f", dm_abs(x));
        buf_puts(out, x < 0 ? "−" : "");
        for (int i = 0; i < n; i++) {
            buf_putc(out, digits[i]);
            if ((n - 1 - i) % 3 == 0 && i < n - 1 && n > 4)
                buf_putc(out, ',');
        }
        return;
    }
    if (decimals < 0 || !(dm_abs(x) < 1e15))
        snprintf(text, sizeof text, "%.4g", x);
    else
        utf8_print(text, sizeof text, "%.*f", decimals > 9 ? 9 : decimals, x);
    buf_printf(out, "%s%s", *text == '-' ? "−" : "", text + (*text == '-'));
}

/* CELLS: what one expression may go through; a card shows its values anew with every frame. */
enum { DEPTH = 48, TEXT = 512, CELLS = 1 << 24 };

typedef struct Parser {
    Session *s;
    Side side;
    const char *p;
    int depth;
    size_t cells; /* gone through so far */
    Err *err;
} Parser;

static bool sum_of(Parser *r, double *x);
static bool condition(Parser *r, double *x);

static void blanks(Parser *r)
{
    while (*r->p == ' ' || *r->p == '\n')
        r->p++;
}

static bool expected(Parser *r, const char *what)
{
    return err_set(r->err, "expected %s at '%.40s'", what, *r->p ? r->p : "the end");
}

/* ---- functions of numbers ---- */

static double of_log2(double x)
{
    return dm_log(x) / dm_log(2);
}
static double of_exp(double x)
{
    return x > 700 ? HUGE_VAL : x < -700 ? 0 : dm_exp(x);
}
static double of_log(double x)
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
} OF_NUMBERS[] = {{"sqrt", dm_sqrt}, {"exp", of_exp},     {"log", of_log},   {"log2", of_log2},
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

static bool read_cells(Parser *r, Cells *c)
{
    char text[TEXT];
    blanks(r);
    size_t n = cells_address(r->p);
    if (!n || n >= sizeof text)
        return expected(r, "an address");
    memcpy(text, r->p, n);
    text[n] = 0;
    r->p += n;
    if (!cells_find(r->s, r->side, text, c, r->err))
        return false;
    if (c->count > CELLS - r->cells)
        return err_set(r->err, "%.80s: this expression goes through more than %d numbers; name fewer cells", text,
                       CELLS);
    r->cells += c->count;
    return cells_read(r->s, r->side, text, c, r->err);
}

static bool fold_call(Parser *r, CellsFold *of, double *x)
{
    Cells a;
    if (!read_cells(r, &a))
        return false;
    *x = of(&a);
    return close_bracket(r);
}

static bool pair_call(Parser *r, const char *name, CellsPair *of, double *x)
{
    Cells a, b;
    if (!read_cells(r, &a) || !comma(r) || !read_cells(r, &b))
        return false;
    if (a.count != b.count)
        return err_set(r->err, "%s: %zu cells on one side, %zu on the other", name, a.count, b.count);
    *x = of(&a, &b);
    return close_bracket(r);
}

static bool word_arg(Parser *r, char out[TEXT])
{
    blanks(r);
    size_t n = cells_address(r->p);
    if (n >= TEXT)
        return expected(r, "a name");
    memcpy(out, r->p, n);
    out[n] = 0;
    r->p += n;
    return close_bracket(r);
}

static const char *axis_name(const void *graph, int i)
{
    const Graph *g = graph;
    return i < g->axis_count ? g->axes[i].sym : NULL;
}

static bool of_scope(Parser *r, const char *scope, bool params, double *x)
{
    Cost c = graph_scope_cost(session_graph(r->s, r->side), scope);
    *x = params ? c.params : c.flops;
    return *x > 0 || err_set(r->err, "nothing is named '%.80s', or it has none", scope);
}
static bool of_params(Parser *r, const char *scope, double *x)
{
    return of_scope(r, scope, true, x);
}
static bool of_flops(Parser *r, const char *scope, double *x)
{
    return of_scope(r, scope, false, x);
}
static bool of_at(Parser *r, const char *sym, double *x)
{
    const Graph *shown = session_graph(r->s, SIDE_B);
    int axis = graph_axis_find(shown, sym);
    if (axis != AXIS_NONE) {
        *x = r->s->place.at[axis];
        return true;
    }
    Buf known = {0};
    names_offer(sym, axis_name, shown, &known);
    err_set(r->err, "there is no axis '%.20s' here%s", sym, buf_str(&known));
    buf_free(&known);
    return false;
}
static bool of_on(Parser *r, const char *path, double *x)
{
    Address to;
    if (graph_find(session_graph(r->s, r->side), path) == NO_NODE &&
        !address_parse(r->s, session_graph(r->s, SIDE_B), path, &to, r->err))
        return false;
    *x = strcmp(r->s->place.path, path) == 0;
    return true;
}
static bool of_here(Parser *r, const char *none, double *x)
{
    const char *path = r->s->place.path;
    if (*none)
        return err_set(r->err, "here() is the value under the cursor; of '%.40s' it is cell(ADDRESS, at(AXIS))", none);
    const float *values = session_need(r->s, SIDE_B, path, r->err);
    if (values)
        *x = (double)values[session_cell(r->s, SIDE_B, session_node(r->s, SIDE_B, path))];
    return values != NULL;
}

/* Of a name. */
static const struct {
    const char *name;
    bool (*of)(Parser *r, const char *text, double *x);
} OF_NAMES[] = {{"params", of_params}, {"flops", of_flops}, {"at", of_at}, {"on", of_on}, {"here", of_here}};

static const char *function_name(const void *context, int i)
{
    const int names = sizeof OF_NAMES / sizeof *OF_NAMES, numbers = sizeof OF_NUMBERS / sizeof *OF_NUMBERS;
    (void)context;
    return i < names              ? OF_NAMES[i].name
           : i < names + numbers  ? OF_NUMBERS[i - names].name
           : i == names + numbers ? "cell"
                                  : cells_word(i - names - numbers - 1);
}

static bool min_max(Parser *r, bool max, double *x)
{
    double y;
    if (!sum_of(r, x) || !comma(r) || !sum_of(r, &y))
        return false;
    *x = max == (y > *x) ? y : *x;
    return close_bracket(r);
}

static bool of_cell(Parser *r, double *x)
{
    Cells c;
    double i;
    if (!read_cells(r, &c) || !comma(r) || !sum_of(r, &i))
        return false;
    if (!(i >= 0) || i >= (double)c.count)
        return err_set(r->err, "there is no number %g among %zu, which count from 0", i, c.count);
    *x = cells_at(&c, (size_t)i);
    return close_bracket(r);
}

static bool call(Parser *r, const char *name, double *x)
{
    if (strcmp(name, "cell") == 0)
        return of_cell(r, x);
    size_t address = (blanks(r), cells_address(r->p));
    bool alone = r->p[address + strspn(r->p + address, " ")] == ')'; /* of an address; else of two numbers */
    if (!alone && (strcmp(name, "min") == 0 || strcmp(name, "max") == 0))
        return min_max(r, strcmp(name, "max") == 0, x);
    CellsFold *fold = cells_fold(name);
    if (fold)
        return fold_call(r, fold, x);
    CellsPair *pair = cells_pair(name);
    if (pair)
        return pair_call(r, name, pair, x);
    for (size_t i = 0; i < sizeof OF_NUMBERS / sizeof *OF_NUMBERS; i++)
        if (strcmp(name, OF_NUMBERS[i].name) == 0) {
            double y;
            if (!sum_of(r, &y) || !close_bracket(r))
                return false;
            *x = OF_NUMBERS[i].of(y);
            return true;
        }
    for (size_t i = 0; i < sizeof OF_NAMES / sizeof *OF_NAMES; i++)
        if (strcmp(name, OF_NAMES[i].name) == 0) {
            char text[TEXT];
            return word_arg(r, text) && OF_NAMES[i].of(r, text, x);
        }
    Buf known = {0};
    names_offer(name, function_name, NULL, &known);
    err_set(r->err, "there is no function '%.40s'%s", name, buf_str(&known));
    buf_free(&known);
    return false;
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
        return condition(r, x) && close_bracket(r);
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
        return err_set(r->err, "'%.*s' is %zu numbers: name one cell, or take sum( ), max( ) … of them",
                       (int)(r->p - start), start, c.count);
    *x = cells_at(&c, 0);
    return true;
}

static bool power(Parser *r, double *x)
{
    double y;
    blanks(r);
    size_t n = printed_minus(r->p);
    if (++r->depth > DEPTH)
        return err_set(r->err, "too many brackets inside one another");
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
        return err_set(r->err, "too many brackets inside one another");
    if (!product(r, x))
        return false;
    for (blanks(r); *r->p == '+' || printed_minus(r->p); blanks(r)) {
        bool plus = *r->p == '+';
        r->p += plus ? 1 : printed_minus(r->p);
        if (!product(r, &y))
            return false;
        *x = plus ? *x + y : *x - y;
    }
    r->depth--;
    return true;
}

static bool relation(Parser *r, double *x)
{
    double y;
    if (!sum_of(r, x))
        return false;
    for (blanks(r); *r->p == '<' || *r->p == '>' || *r->p == '='; blanks(r)) {
        char op = *r->p++;
        if (!sum_of(r, &y))
            return false;
        *x = op == '<' ? *x < y : op == '>' ? *x > y : *x == y;
    }
    return true;
}

/* A condition: sums with < > = between them (1 or 0), `and` between those. */
static bool condition(Parser *r, double *x)
{
    double y;
    if (!relation(r, x))
        return false;
    while (strncmp(r->p, "and ", 4) == 0) {
        r->p += 4;
        if (!relation(r, &y))
            return false;
        *x = *x != 0 && y != 0;
    }
    return true;
}

bool number_value(Session *s, Side side, const char *text, double *out, Err *err)
{
    Parser r = {.s = s, .side = side, .p = text, .err = err};
    double x = 0;
    if (!condition(&r, &x))
        return false;
    blanks(&r);
    if (*r.p)
        return err_set(err, "nothing is expected at '%.40s'", r.p);
    *out = x;
    return true;
}

void share_text(char *out, size_t n, float share)
{
    share_text_to(out, n, share, 1);
}

double share_unit(int decimals)
{
    static const double UNITS[] = {0.01, 0.001, 0.0001, 0.00001};
    REQUIRE(decimals >= 0 && decimals < (int)(sizeof UNITS / sizeof *UNITS));
    return UNITS[decimals];
}

void share_text_to(char *out, size_t n, float share, int decimals)
{
    const double size = fabs((double)share), least = share_unit(decimals);
    const char *sign = share < 0 ? "-" : "";
    if (isnan(share))
        snprintf(out, n, "NaN");
    else if (share < 0 && size < 0.0501 * least) /* a digit of it would be 0 */
        snprintf(out, n, "≈0 %%");
    else if (share < 0 && size < least / 2)
        utf8_print(out, n, "%.*f %%", decimals + 1, 100 * (double)share);
    else if (size > 0 && size < least / 2)
        utf8_print(out, n, "<%.*f %%", decimals, 100 * least);
    else if (size < 1 && size >= 1 - least / 2)
        utf8_print(out, n, "%s>%.*f %%", sign, decimals, 100 * (1 - least));
    else
        utf8_print(out, n, "%.*f %%", decimals, 100 * (double)share);
}
