/* The lines of a worked example: axes, matrices, repetition. Formulas are in example_formula.c. */
#include "lessons/example.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/utf8.h"
#include "core/graph/grad.h"
#include "lessons/example_parts.h"
#include "lessons/lesson_parts.h"

enum { EXAMPLE_TEXT = 1024 * 1024 };
static const double EXAMPLE_WORK = 4e9; /* a second or two: a lesson must not freeze the screen */

bool building_error(const Building *b, const char *fmt, ...)
{
    char text[400], file[120], clean[400];
    va_list args;
    va_start(args, fmt);
    utf8_vprint(text, sizeof text, fmt, args);
    va_end(args);
    return err_set(b->err, "%s:%d: %s", utf8_clean(file, sizeof file, b->file), b->line,
                   utf8_clean(clean, sizeof clean, text));
}

bool building_room(Building *b, Dims d, double work)
{
    double cells = 1;
    for (int i = 0; i < d.n; i++)
        cells *= b->g->axes[d.axis[i]].n;
    if (b->g->count + 32 > EXAMPLE_NODES)
        return building_error(b, "more than %d nodes; make the example smaller", EXAMPLE_NODES);
    if (cells > EXAMPLE_CELLS || (double)b->cells + cells > EXAMPLE_CELLS)
        return building_error(b, "more than %d numbers in all; make the axes shorter", EXAMPLE_CELLS);
    b->cells += (size_t)cells;
    b->work += work;
    return b->work < EXAMPLE_WORK ||
           building_error(b, "more than %.0g operations; make the axes shorter", EXAMPLE_WORK);
}

static bool name_ok(const char *name)
{
    size_t n = strlen(name);
    bool ok = n > 0 && n < 48 && isalpha((unsigned char)*name) && name[n - 1] != '.' && !strstr(name, "..");
    for (size_t i = 0; i < n; i++)
        ok = ok && (isalnum((unsigned char)name[i]) || name[i] == '_' || name[i] == '.');
    return ok;
}

static const char *next_word(const char **p, Arena *a)
{
    while (**p == ' ' || **p == '\t')
        (*p)++;
    size_t n = strcspn(*p, " \t");
    const char *word = n ? arena_printf(a, "%.*s", (int)n, *p) : NULL;
    *p += n;
    return word;
}

static bool add_axis(Building *b, const char *words)
{
    Arena *arena = &b->g->arena;
    const char *sym = next_word(&words, arena), *length = next_word(&words, arena), *label;
    char *end = NULL;
    long n = length ? strtol(length, &end, 10) : 0;
    if (!sym || strlen(sym) > 3 || !isalpha((unsigned char)*sym) || !name_ok(sym) || !end || *end || n < 1 ||
        n > EXAMPLE_AXIS)
        return building_error(b, "expected `axis LETTERS LENGTH [LABEL …]`: at most 3 letters, length 1 to %d",
                              EXAMPLE_AXIS);
    if (graph_axis_find(b->g, sym) != AXIS_NONE)
        return building_error(b, "there is an axis '%s' already", sym);
    if (b->g->axis_count == 40)
        return building_error(b, "more than 40 axes");
    const char **labels = arena_alloc(arena, (size_t)n * sizeof *labels);
    long count = 0;
    while ((label = next_word(&words, arena)) != NULL) {
        if (count == n || strlen(label) > 12 || label[strcspn(label, ",;:=[]*\"'")])
            return building_error(b, "axis '%s' has %ld indices: give each a label of at most 12 characters, or none",
                                  sym, n);
        labels[count++] = label;
    }
    if (count && count != n)
        return building_error(b, "axis '%s' has %ld indices and %ld labels", sym, n, count);
    static const struct {
        const char *sym, *name;
    } NAMES[] = {{"t", "token that asks"},
                 {"u", "token looked at"},
                 {"d", "model width"},
                 {"e", "inside a head"},
                 {"h", "head"},
                 {"m", "MLP width"},
                 {"p", "patch"},
                 {"c", "colour channel"},
                 {"y", "row"},
                 {"x", "column"},
                 {"i", "row in a patch"},
                 {"j", "column in a patch"},
                 {"o", "class"}};
    Axis a = {.name = "index", .n = (int)n, .kind = count ? AXIS_CLASS : AXIS_PLAIN, .labels = count ? labels : NULL};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(sym, NAMES[i].sym) == 0)
            a.name = NAMES[i].name;
    memcpy(a.sym, sym, strlen(sym) + 1);
    graph_axis(b->g, a);
    return true;
}

/* "[t,d]" into axes; *end is behind it. */
static bool read_dims(Building *b, const char *text, Dims *d, const char **end)
{
    *d = DIMS_SCALAR;
    *end = text;
    if (*text != '[')
        return true;
    const char *p = text + 1;
    for (;;) {
        char sym[8];
        size_t n = strcspn(p, ",] ");
        if (n == 0 || n > 3 || d->n == DIMS_MAX)
            return building_error(b, "expected axes such as [t,d] behind the name");
        memcpy(sym, p, n);
        sym[n] = 0;
        int axis = graph_axis_find(b->g, sym);
        if (axis == AXIS_NONE)
            return building_error(b, "there is no axis '%s'; put `axis %s LENGTH` above", sym, sym);
        if (dims_find(*d, axis) >= 0)
            return building_error(b, "axis '%s' stands there twice", sym);
        d->axis[d->n++] = axis;
        p += n;
        if (*p == ']')
            break;
        if (*p != ',')
            return building_error(b, "expected , or ] in the axes");
        p++;
    }
    *end = p + 1;
    return true;
}

/* Rows of numbers; / may only stand where a row of the last axis ends. */
static bool add_matrix(Building *b, const char *name, Dims d, const char *text)
{
    if (!building_room(b, d, 0))
        return false;
    size_t cells = graph_dims_cells(b->g, d), row = d.n ? (size_t)b->g->axes[d.axis[d.n - 1]].n : 1, n = 0;
    float *data = arena_alloc(&b->g->arena, size_mul(cells, sizeof *data));
    for (const char *p = text; *p;) {
        if (*p == ' ' || *p == '\t') {
            p++;
        } else if (*p == '/') {
            if (n == 0 || n % row)
                return building_error(b, "%s: a row ends behind %zu of its %zu numbers", name, n % row, row);
            p++;
        } else {
            char *end;
            double x = strncmp(p, "-inf", 4) == 0 ? 0 : strtod(p, &end);
            bool infinite = strncmp(p, "-inf", 4) == 0;
            if (infinite)
                end = (char *)p + 4;
            if (end == p || (!infinite && isalpha((unsigned char)*p)) || !(x < 1e38 && x > -1e38))
                return building_error(b, "%s: expected a number, found '%.20s'", name, p);
            if (n == cells)
                return building_error(b, "%s: more numbers than its %zu cells", name, cells);
            data[n++] = infinite ? -INFINITY : (float)x;
            p = end;
        }
    }
    if (n != cells)
        return building_error(b, "%s: %zu numbers for %zu cells", name, n, cells);
    graph_leaf(b->g, name, d, (Leaf){LEAF_INPUT, data, "the lesson"});
    return true;
}

static bool add_gradient(Building *b, const char *words)
{
    const char *name = next_word(&words, &b->g->arena);
    NodeId y = name ? graph_find(b->g, name) : NO_NODE;
    if (y == NO_NODE || graph_cells(b->g, y) != 1)
        return building_error(b, "expected `gradient NAME` of a single number that stands above");
    if (b->g->count > EXAMPLE_NODES / 4)
        return building_error(b, "too many nodes for gradients");
    if (graph_find(b->g, "grad.seed") != NO_NODE)
        return building_error(b, "an example has gradients of one number");
    b->work *= 3;
    NodeId seed = grad_seed(b->g, y, 0, "grad.");
    grad_add(b->g, y, seed, NULL, 0, "grad.");
    return true;
}

/* Digits and signs alone: a matrix, no formula. */
static bool all_numbers(const char *p)
{
    bool digit = false;
    for (; *p; p++) {
        digit = digit || isdigit((unsigned char)*p);
        if (strncmp(p, "inf", 3) == 0) {
            p += 2;
            digit = true;
        } else if (isalpha((unsigned char)*p) && !(*p == 'e' && digit && isdigit((unsigned char)p[-1]))) {
            return false;
        } else if (strchr("@*(_", *p)) {
            return false;
        }
    }
    return digit;
}

static bool read_line(Building *b, const char *s)
{
    if (strncmp(s, "axis ", 5) == 0)
        return add_axis(b, s + 5);
    if (strncmp(s, "gradient ", 9) == 0)
        return add_gradient(b, s + 9);
    bool model = strncmp(s, "model", 5) == 0 && (!s[5] || s[5] == ' '), decoder = strncmp(s, "decoder ", 8) == 0;
    if (model || decoder) {
        if (b->g->count || b->g->axis_count)
            return building_error(b, "`%s` stands alone in an example", model ? "model" : "decoder");
        return model ? example_model(b, s + 5) : example_decoder(b, s + 8);
    }
    size_t n = strcspn(s, "[ =");
    const char *name = arena_printf(&b->g->arena, "%.*s", (int)n, s), *p;
    Dims d;
    if (!name_ok(name))
        return building_error(b, "expected NAME[axes] = …, found '%.40s'", s);
    if (graph_find(b->g, name) != NO_NODE)
        return building_error(b, "there is a '%s' already", name);
    if (!read_dims(b, s + n, &d, &p))
        return false;
    p += strspn(p, " ");
    if (*p != '=')
        return building_error(b, "expected = behind %s and its axes", name);
    p += 1 + strspn(p + 1, " ");
    bool number = all_numbers(p);
    return number ? add_matrix(b, name, d, p) : formula_add(b, name, d, p);
}

/* repeat NAME FIRST LAST {, or repeat NAME of WORD … {: the lines up to } once for each. Lines keep their numbers by a
 * mark in front of each: "NUMBER:line". */
static bool repeat(Building *b, const char *head, const char **p, int *line, Buf *out)
{
    Arena *arena = &b->g->arena;
    const char *name = next_word(&head, arena), *words[64];
    int count = 0;
    long from = 0, to = -1;
    while (count < 64 && (words[count] = next_word(&head, arena)) != NULL && strcmp(words[count], "{") != 0)
        count++;
    bool of = count > 1 && strcmp(words[0], "of") == 0;
    bool range = !of && count == 2 && sscanf(words[0], "%ld", &from) == 1 && sscanf(words[1], "%ld", &to) == 1;
    if (!name || !name_ok(name) || (!of && (!range || from < 0 || to < from || to - from > 1000)))
        return building_error(b, "expected `repeat NAME FIRST LAST {` or `repeat NAME of WORD … {`");
    const char *start = *p, *before_name = arena_printf(arena, "%s-", name),
               *count_name = arena_printf(arena, "%s#", name);
    int start_line = *line;
    long times = of ? count - 1 : to - from + 1;
    for (long k = 0; k < times; k++) {
        char value[32], before[32], number[32];
        snprintf(value, sizeof value, "%ld", from + k);
        snprintf(before, sizeof before, "%ld", from + k - 1);
        snprintf(number, sizeof number, "%ld", k);
        const Filled fill[] = {{name, of ? words[1 + k] : value}, {count_name, number}, {before_name, before}};
        *p = start;
        *line = start_line;
        for (;;) {
            size_t n = strcspn(*p, "\n"), blank = strspn(*p, " \t");
            if (!**p)
                return building_error(b, "the { of this repeat has no } on a line of its own");
            (*line)++;
            bool end = blank < n && (*p)[blank] == '}';
            if (!end) {
                buf_printf(out, "%d:", *line);
                if (!lesson_fill(out, *p, n, fill, of ? 2 : 3))
                    return building_error(b,
                                          "a line of this repeat, written out, is longer than %d bytes; cut it in two",
                                          LESSON_LINE);
                buf_putc(out, '\n');
            }
            *p += n + ((*p)[n] == '\n');
            if (end)
                break;
            if (out->len > EXAMPLE_TEXT)
                return building_error(b, "the lines repeated are more than an example can have");
        }
    }
    return true;
}

/* Every line once, with its number in front and what it repeats written out. */
static bool unfold(Building *b, const Worked *w, Buf *out)
{
    const char *p = w->text;
    for (int line = w->line; *p;) {
        size_t n = strcspn(p, "\n"), blank = strspn(p, " \t");
        b->line = ++line;
        const char *s = arena_printf(&b->g->arena, "%.*s", (int)(n > blank ? n - blank : 0),
                                     p + (blank < n ? blank : n));
        p += n + (p[n] == '\n');
        if (strncmp(s, "repeat ", 7) == 0) {
            if (!repeat(b, s + 7, &p, &line, out))
                return false;
        } else {
            buf_printf(out, "%d:%s\n", line, s);
        }
    }
    return true;
}

/* Lines that begin with / belong to the matrix above. */
static bool read_lines(Building *b, const char *text)
{
    Buf whole = {0};
    bool ok = true;
    for (const char *p = text; ok && *p;) {
        size_t n = strcspn(p, "\n");
        const char *body = memchr(p, ':', n);
        int line = (int)strtol(p, NULL, 10);
        size_t m = n - (size_t)(body + 1 - p);
        body++;
        while (m && (*body == ' ' || *body == '\t')) {
            body++;
            m--;
        }
        bool more = m && *body == '/';
        if (!more && whole.len) {
            ok = read_line(b, buf_str(&whole));
            buf_clear(&whole);
        }
        if (!ok)
            break;
        if (m && *body != '#') {
            if (!whole.len)
                b->line = line;
            buf_add(&whole, body, m);
            buf_putc(&whole, ' ');
        }
        p += n + (p[n] == '\n');
    }
    if (ok && whole.len)
        ok = read_line(b, buf_str(&whole));
    buf_free(&whole);
    return ok;
}

bool example_build(Example *e, const char *file, const Worked *w, const Model *m, Err *err)
{
    *e = (Example){.graph = xcalloc(1, sizeof *e->graph)};
    snprintf(e->name, sizeof e->name, "%s", w->name);
    graph_init(e->graph);
    graph_scope(e->graph, "%s", "");
    Building b = {.e = e, .g = e->graph, .file = file, .model = m, .line = w->line, .err = err};
    Buf lines = {0};
    bool ok = unfold(&b, w, &lines) && read_lines(&b, buf_str(&lines));
    buf_free(&lines);
    e->cells = b.cells;
    if (ok && !e->graph->count) {
        b.line = w->line;
        ok = building_error(&b, "the example '%s' is empty", w->name);
    }
    return ok;
}

void example_exhibit(Example *e, Session *s)
{
    REQUIRE(!e->exhibit);
    Input in = {.kind = INPUT_MATRICES, .label = -1};
    snprintf(in.name, sizeof in.name, "%s", e->name);
    e->session = s;
    e->exhibit = session_add_graph(s, e->graph, &in);
}

void example_free(Example *e)
{
    if (e->exhibit) {
        session_drop(e->session, e->exhibit);
    } else if (e->graph) {
        graph_free(e->graph);
        free(e->graph);
    }
    free(e->pixels);
    if (e->own)
        model_free(e->own);
    free(e->own);
    arena_free(&e->arena);
    *e = (Example){0};
}
