#include "core/session/address.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/models/probes.h"
#include "core/session/ask/ledgers.h"
#include "core/session/command.h"

/* Sign by sign of the pattern, with all places of the path where it may stand at once: no pattern takes longer than
 * their product. */
bool address_match(const char *pattern, const char *path)
{
    bool at[256] = {true}; /* at[i]: the pattern so far takes the first i characters */
    const char *star = strrchr(pattern, '*'), *end = star ? star + 1 : pattern; /* how the path must end: most don't */
    size_t n = strlen(path), tail = strlen(end);
    if (n >= sizeof at || tail > n || memcmp(path + n - tail, end, tail) != 0)
        return false;
    while (*pattern) {
        if (strcmp(pattern, ".*") == 0) { /* at the end: everything below */
            for (size_t i = 0; i < n; i++)
                if (at[i] && path[i] == '.')
                    return true;
            return false;
        }
        if (*pattern == '*') {
            bool any = pattern[1] == '*';
            for (size_t i = 0; i < n; i++)
                at[i + 1] = at[i + 1] || (at[i] && (any || path[i] != '.'));
            pattern += any ? 2 : 1;
            continue;
        }
        for (size_t i = n; i-- > 0;)
            at[i + 1] = at[i] && path[i] == *pattern;
        at[0] = false;
        pattern++;
    }
    return at[n];
}

static const char *node_path(const void *g, int i)
{
    const Graph *graph = g;
    return i < graph->count ? graph_node(graph, i)->path : NULL;
}

static bool is_scope(const Graph *g, const char *text)
{
    size_t n = strlen(text);
    for (NodeId i = 0; i < g->count; i++)
        if (strncmp(graph_node(g, i)->path, text, n) == 0 && graph_node(g, i)->path[n] == '.')
            return true;
    return false;
}

static bool ends_with_name(const char *path, const char *name)
{
    size_t p = strlen(path), n = strlen(name);
    return p > n && path[p - n - 1] == '.' && strcmp(path + p - n, name) == 0;
}

/* "1.pattern": unique in the blocks of that number, whatever is in focus. */
static const char *in_block_number(const Graph *g, const char *name)
{
    char *rest;
    const char *best = NULL;
    long number = strtol(name, &rest, 10);
    int found = 0;
    for (int b = NO_PART; (b = anatomy_next(g, b, PART_BLOCK)) != NO_PART;) {
        const Part *part = anatomy_part(g, b);
        size_t n = strlen(part->scope), length = strlen(rest);
        for (NodeId i = 0; part->block == number && i < g->count; i++) {
            const char *path = graph_node(g, i)->path;
            size_t all = strlen(path);
            if (all < n + length || strncmp(path, part->scope, n) != 0 || path[n] != '.' ||
                strcmp(path + all - length, rest) != 0)
                continue;
            best = path;
            found++;
        }
    }
    return found == 1 ? best : NULL;
}

/* A short name: unique in the focused block (block 0 when the focus is outside), else unique in the model. */
static const char *by_short_name(const Session *s, const Graph *g, const char *name)
{
    if (*name >= '0' && *name <= '9' && name[strspn(name, "0123456789")] == '.')
        return in_block_number(g, name);
    char block[SESSION_PATH];
    int b = anatomy_block_of(g, s->place.path), found = 0;
    b = b == NO_PART ? anatomy_next(g, NO_PART, PART_BLOCK) : b;
    snprintf(block, sizeof block, "%s.", b == NO_PART ? "" : anatomy_part(g, b)->scope);
    const char *best = NULL;
    for (int pass = 0; pass < 3 && !best; pass++) { /* at last among the analyses */
        found = 0;
        for (NodeId i = 0; i < g->count; i++) {
            const char *path = graph_node(g, i)->path;
            if (!ends_with_name(path, name) || (pass < 2 && probes_is(path)) ||
                strncmp(path, "grad.", strlen("grad.")) == 0 || ledger_is_path(path) ||
                (pass == 0 && strncmp(path, block, strlen(block)) != 0))
                continue;
            best = path;
            found++;
        }
        if (found != 1)
            best = NULL;
    }
    return best;
}

/* A name in a block that the model does not have: which ones it has. */
static bool block_missing(const Graph *g, const char *name, Err *err)
{
    for (int b = NO_PART; (b = anatomy_next(g, b, PART_BLOCK)) != NO_PART;) {
        const Part *block = anatomy_part(g, b);
        size_t n = strlen(block->scope);
        while (n && isdigit((unsigned char)block->scope[n - 1]))
            n--;
        const char *number = strncmp(name, block->scope, n) == 0 ? name + n : name; /* "blocks.9.mlp", "9.mlp" */
        size_t digits = strspn(number, "0123456789");
        if (!digits || (number[digits] && number[digits] != '.'))
            continue;
        long asked = strtol(number, NULL, 10);
        int count = anatomy_blocks(g, block->stack);
        if (asked >= count)
            return err_set(err, "there is no block %.*s: %s%sblocks go from 0 to %d", (int)digits, number, block->stack,
                           *block->stack ? " " : "", count - 1);
    }
    return true;
}

/* The last words of nodes' paths, for what was meant by a short name. */
static const char *short_name(const void *g, int i)
{
    const char *path = node_path(g, i), *dot = path ? strrchr(path, '.') : NULL;
    return dot ? dot + 1 : path;
}

/* The paths that end in the word that the name ends in: who writes attn.q means self_attn.q and no norm's square. */
typedef struct Ending {
    const Graph *g;
    const char *word;
} Ending;

static const char *same_ending(const void *ending, int i)
{
    const Ending *e = ending;
    const char *path = node_path(e->g, i), *dot = path ? strrchr(path, '.') : NULL;
    return !path ? NULL : dot && strcmp(dot, e->word) == 0 ? path : "";
}

/* A picture model's "blocks.1.attn.pattern" where the blocks are a decoder's or an encoder's: by what stands behind. */
static const char *other_stack(const Graph *g, const char *name, const char *word)
{
    const char *best = NULL;
    int least = (int)strlen(name) / 2 + 1;
    for (NodeId i = 0; word && strncmp(name, "blocks.", strlen("blocks.")) == 0 && i < g->count; i++) {
        const char *path = graph_node(g, i)->path, *blocks = strstr(path, ".blocks."), *dot = strrchr(path, '.');
        int d = blocks && strcmp(dot, word) == 0 ? utf8_edits(name, strlen(name), blocks + 1, least) : least;
        if (d < least) {
            best = path;
            least = d;
        }
    }
    return best;
}

static bool has_gradients(const Graph *g)
{
    NodeId n = 0;
    while (n < g->count && strncmp(graph_node(g, n)->path, "grad.", 5) != 0)
        n++;
    return n < g->count;
}

static bool no_such_node(const Graph *g, const char *name, Err *err)
{
    if (!block_missing(g, name, err))
        return false;
    const char *dot = strrchr(name, '.');
    const char *near = other_stack(g, name, dot);
    near = near || !dot ? near : nearest_name(name, same_ending, &(Ending){g, dot});
    near = near && *near ? near : nearest_name(name, dot ? node_path : short_name, g);
    for (int n = 0; near && strcmp(near, name) == 0 && n < g->count; n++) /* several end so: one of them, whole */
        near = strcmp(short_name(g, n), name) == 0 ? node_path(g, n) : near;
    if (strncmp(name, "grad.", 5) == 0 && !has_gradients(g))
        return err_set(err,
                       "there is no node '%.100s'%s%s%s; a gradient needs a target: --gradient "
                       "logits[o=0], on the screen `gradient logits[o=0]`",
                       name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return err_set(err, "there is no node '%.100s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "",
                   near ? "'?" : ": `find` looks for parts of names");
}

static bool parse_name(const Session *s, const Graph *g, const char *name, Address *out, Err *err)
{
    out->is_node = true;
    if (!*name || strcmp(name, ".") == 0) {
        snprintf(out->path, sizeof out->path, "%s", s->place.path);
        return true;
    }
    if (strlen(name) >= sizeof out->path)
        return err_set(err, "that name is longer than any node's");
    snprintf(out->path, sizeof out->path, "%s", name);
    if (strchr(name, '*')) {
        out->is_node = false;
        for (NodeId i = 0; i < g->count; i++)
            if (address_match(name, graph_node(g, i)->path))
                return true;
        return err_set(err, "no node matches '%s'", name);
    }
    if (graph_find(g, name) != NO_NODE)
        return true;
    if (name[strspn(name, "0123456789")] == 0) {
        int box = strlen(name) < 6 ? stages_step(&s->stages, atoi(name)) : NO_BOX;
        if (box == NO_BOX)
            return err_set(err, "there is no step %s: steps go from 1 to %d", name, s->stages.steps);
        snprintf(out->path, sizeof out->path, "%s",
                 graph_node(session_graph(s, SIDE_B), s->stages.boxes[box].show)->path);
        return true;
    }
    const char *path = by_short_name(s, g, name);
    if (path) {
        snprintf(out->path, sizeof out->path, "%s", path);
        return true;
    }
    if (is_scope(g, name)) {
        out->is_node = false;
        return true;
    }
    return no_such_node(g, name, err);
}

static int find_axis(const Graph *g, Dims d, const char *sym)
{
    for (int i = 0; i < d.n; i++)
        if (strcmp(g->axes[d.axis[i]].sym, sym) == 0)
            return d.axis[i];
    return AXIS_NONE;
}

static bool parse_range(const Graph *g, int axis, const char *value, Selection *cells, Err *err)
{
    const Axis *a = &g->axes[axis];
    int from = 0, to = a->n;
    char first[64];
    const char *colon = strchr(value, ':');
    char low[32], high[32], end[16];
    axis_label(a, 0, low, sizeof low);
    axis_label(a, a->n - 1, high, sizeof high);
    if (strcmp(value, "*") == 0)
        return true;
    if (colon) {
        utf8_print(first, sizeof first, "%.*s", (int)(colon - value), value);
        snprintf(end, sizeof end, "%d", a->n);
        bool whole = !colon[1] || strcmp(colon + 1, end) == 0; /* up to the end */
        if ((*first && !axis_parse(a, first, &from)) || (!whole && !axis_parse(a, colon + 1, &to)))
            return err_set(err, "%s=%.40s: %s goes from %s to %s (0 to %d); in a range a:b the index b is not included",
                           a->sym, value, a->sym, low, high, a->n - 1);
        if (from >= to)
            return err_set(err, "%s=%.40s: an empty range; in a:b the index b is not included", a->sym, value);
    } else {
        if (!*value)
            return err_set(err, "%s=: no value; a word with , or ] in it is given by its number, 0 to %d", a->sym,
                           a->n - 1);
        if (!axis_parse(a, value, &from))
            return err_set(err,
                           strcmp(low, "0") == 0 ? "%s=%.40s: %s (%s) goes from %s to %s"
                                                 : "%s=%.40s: %s (%s) goes from %s to %s, or 0 to %d",
                           a->sym, value, a->sym, a->name, low, high, a->n - 1);
        to = from + 1;
    }
    cells->range[cells->n].axis = axis;
    cells->range[cells->n].from = from;
    cells->range[cells->n++].to = to;
    return true;
}

static bool parse_cells(const Graph *g, const char *path, char *text, int column, Selection *cells, Err *err)
{
    Dims d = graph_node(g, graph_find(g, path))->dims;
    char *close = strchr(text, ']');
    int at = 0; /* a value alone is that of the axis at its place */
    if (!close || close[1])
        return err_set(err, "column %d: expected ] at the end of the address%s", column + (int)strlen(text) + 1,
                       close ? "; a word with ] in it is given by its number" : "");
    *close = 0;
    for (char *item = text; item && *item;) {
        char *next = strchr(item, ','), *equals;
        if (next)
            *next++ = 0;
        while (*item == ' ')
            item++;
        equals = strchr(item, '=');
        if (!equals && (!*item || at >= d.n))
            return err_set(err, "column %d: expected axis=value, found '%.40s'", column + (int)(item - text) + 1, item);
        if (equals)
            *equals = 0;
        int axis = equals ? find_axis(g, d, item) : d.axis[at];
        if (axis == AXIS_NONE) {
            Buf shape = {0};
            graph_shape_text(g, d, &shape);
            err_set(err, "column %d: %s has no axis '%.10s': it is %s", column + (int)(item - text) + 1, path, item,
                    buf_str(&shape));
            buf_free(&shape);
            return false;
        }
        for (int i = 0; i < cells->n; i++)
            if (cells->range[i].axis == axis)
                return err_set(err, "column %d: %s is given twice", column + (int)(item - text) + 1, g->axes[axis].sym);
        if (!parse_range(g, axis, equals ? equals + 1 : item, cells, err))
            return err_prefix(err, "column %d", column + (int)(item - text) + 1);
        item = next;
        at++;
    }
    return true;
}

bool address_parse(const Session *s, const Graph *g, const char *text, Address *out, Err *err)
{
    char copy[512];
    if (strlen(text) >= sizeof copy)
        return err_set(err, "that address is too long");
    snprintf(copy, sizeof copy, "%s", text);
    char *bracket = strchr(copy, '[');
    Address a = {{0}, {0}, false};
    if (bracket)
        *bracket = 0;
    if (!parse_name(s, g, copy, &a, err))
        return false;
    if (bracket && !a.is_node)
        return err_set(err, "'%s' is a group of nodes: name one node before [ ]", copy);
    if (a.is_node && graph_find(g, a.path) == NO_NODE)
        return err_set(err, "'%s' belongs to a change, not to the model itself", a.path);
    if (bracket && !parse_cells(g, a.path, bracket + 1, (int)(bracket - copy) + 1, &a.cells, err))
        return false;
    *out = a;
    return true;
}

bool address_word(const Session *s, const Graph *g, const char *text, int column, Address *out, Err *err)
{
    int inside, used = 0;
    if (address_parse(s, g, text, out, err))
        return true;
    if (!err || sscanf(err->text, "column %d: %n", &inside, &used) != 1 || !used)
        return err_prefix(err, "column %d", column);
    char rest[sizeof err->text];
    utf8_print(rest, sizeof rest, "%s", err->text + used);
    return err_set(err, "column %d: %s", column + inside - 1, rest);
}

void address_put_index(const Axis *a, int index, Buf *out)
{
    char label[64];
    int back;
    axis_label(a, index, label, sizeof label);
    if (label[strcspn(label, " \t\r\n,;:=[]*\"'\\")] || !axis_parse(a, label, &back) ||
        back != index) /* "tench, Tinca" */
        buf_printf(out, "%d", index);
    else
        buf_puts(out, label);
}

void address_put(const Graph *g, NodeId n, size_t cell, Buf *out)
{
    const Node *node = graph_node(g, n);
    int index[DIMS_MAX];
    dims_unravel(g->axes, node->dims, cell, index);
    buf_puts(out, node->path);
    for (int i = 0; i < node->dims.n; i++) {
        const Axis *a = &g->axes[node->dims.axis[i]];
        buf_printf(out, "%s%s=", i ? "," : "[", a->sym);
        address_put_index(a, index[i], out);
    }
    if (node->dims.n)
        buf_putc(out, ']');
}

void address_put_focus(const Session *s, Buf *out)
{
    NodeId n = session_node(s, SIDE_B, s->place.path);
    if (n == NO_NODE)
        buf_puts(out, s->place.path);
    else
        address_put(session_graph(s, SIDE_B), n, session_cell(s, SIDE_B, n), out);
}

size_t address_cell(const Session *s, const Graph *g, NodeId n, const Selection *cells)
{
    Dims d = graph_node(g, n)->dims;
    int index[DIMS_MAX];
    for (int i = 0; i < d.n; i++) {
        index[i] = session_index_on(s, g, d.axis[i]);
        for (int k = 0; k < cells->n; k++)
            if (cells->range[k].axis == d.axis[i])
                index[i] = cells->range[k].from;
    }
    return dims_ravel(g->axes, d, index);
}

void address_complete(const Session *s, const char *text, Buf *out)
{
    const Graph *g = session_graph(s, SIDE_B);
    size_t n = strlen(text);
    char last[SESSION_PATH] = "";
    for (NodeId i = 0; i < g->count;
         i++) { /* component by component, so that a model with thousands of nodes completes too */
        const char *path = graph_node(g, i)->path;
        if (strncmp(path, text, n) != 0 || probes_is(path))
            continue;
        const char *dot = strchr(path + n, '.');
        char word[SESSION_PATH];
        utf8_print(word, sizeof word, "%.*s", dot ? (int)(dot - path) + 1 : (int)strlen(path), path);
        if (strcmp(word, last) != 0 && (!out->data || !strstr(out->data, word)))
            buf_printf(out, "%s\n", word);
        snprintf(last, sizeof last, "%s", word);
    }
    for (NodeId i = 0; i < g->count && n && !strchr(text, '.'); i++) { /* "pattern" for that of the block in focus */
        const char *dot = strrchr(graph_node(g, i)->path, '.');
        char line[SESSION_PATH];
        if (!dot || strncmp(dot + 1, text, n) != 0 || by_short_name(s, g, dot + 1) != graph_node(g, i)->path)
            continue;
        snprintf(line, sizeof line, "\n%s\n", dot + 1);
        if (!out->data || !strstr(out->data, line))
            buf_printf(out, "%s\n", dot + 1);
    }
}
