#include "core/session/address.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/err.h"
#include "core/models/probes.h"
#include "core/session/place.h"

/* Of letters, digits, _ and whatever is not ASCII. */
static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

int find_match(const char *name, const char *text)
{
    size_t n = strlen(text);
    int best = n ? FIND_NOT : FIND_WORD;
    for (const char *p = name; *p && best < FIND_WORD; p++) {
        size_t i = 0;
        while (i < n && tolower((unsigned char)p[i]) == tolower((unsigned char)text[i]))
            i++;
        if (i < n)
            continue;
        bool starts = p == name || !in_word(p[-1]) || !in_word(*p), ends = !in_word(p[n]) || (n && !in_word(p[n - 1]));
        int match = !starts ? FIND_INSIDE : ends ? FIND_WORD : FIND_START;
        best = match > best ? match : best;
    }
    return best;
}

static bool find_in(const char *name, const char *text)
{
    return find_match(name, text) != FIND_NOT;
}

/* --- cells by their value --- */

static bool find_value(Session *s, const char *text, Err *err)
{
    char op = text[5], *end;
    float limit = strtof(text + 6, &end);
    if ((op != '>' && op != '<') || end == text + 6 || *end)
        return err_set(err, "expected value>NUMBER or value<NUMBER");
    Side side = session_side(s) == SIDE_A ? SIDE_A : SIDE_B;
    const float *v = session_need(s, side, s->place.path, err);
    if (!v)
        return false;
    NodeId n = session_node(s, side, s->place.path);
    const Graph *g = session_graph(s, side);
    size_t cells = graph_cells(g, n), from = session_cell(s, side, n), count = 0;
    for (size_t i = 0; i < cells; i++)
        count += op == '>' ? v[i] > limit : v[i] < limit;
    if (!count)
        return err_set(err, "no cell of %s is %c %g", s->place.path, op, (double)limit);
    bool there = false;
    for (size_t k = 1; k <= cells && !there; k++) {
        size_t i = (from + k) % cells;
        there = (op == '>' ? v[i] > limit : v[i] < limit) &&
                session_point(s, side, graph_node(g, n)->dims, i, s->place.at, err);
    }
    if (!there)
        return false;
    session_say(s, "%zu of %zu cells are %c %g; this is the next one.", count, cells, op, (double)limit);
    return true;
}

/* --- steps, nodes and classes by name: all in one row, boxes first --- */

static int class_axis(const Session *s)
{
    return node_role(session_base(s), site_node_any(session_base(s), SITE_PROBS), ROLE_ANSWER);
}

static int things(const Session *s)
{
    int o = class_axis(s);
    return s->stages.count + (o == AXIS_NONE ? 0 : session_base(s)->axes[o].n);
}

/* What thing number i is called. A step has its label and the last word of its path; a text with a dot is looked for in
 * the whole path. */
static bool is_hit(const Session *s, int i, const char *text, char *name, size_t n)
{
    if (i < s->stages.count) {
        const Box *b = &s->stages.boxes[i];
        const char *dot = strrchr(b->path, '.');
        if (b->child == NO_BOX && b->parent != NO_BOX && s->stages.boxes[b->parent].show == b->show)
            return false; /* the node that stands for the step around it */
        snprintf(name, n, "%s, %s", b->label, b->path);
        return find_in(b->label, text) || find_in(dot && !strchr(text, '.') ? dot + 1 : b->path, text);
    }
    const Axis *o = &session_base(s)->axes[class_axis(s)];
    char label[128];
    snprintf(name, n, "class %s", axis_label(o, i - s->stages.count, label, sizeof label));
    int index;
    return (o->labels && find_in(label, text)) || (axis_parse(o, text, &index) && index == i - s->stages.count);
}

/* Which thing the reader is on. */
static int thing_here(const Session *s)
{
    int o = class_axis(s), last = s->sought.at;
    bool on_class = o != AXIS_NONE && last >= s->stages.count && s->place.screen == SCREEN_ANSWER &&
                    s->place.at[o] == last - s->stages.count;
    return on_class ? last : s->place.box;
}

static bool go_to_thing(Session *s, int i, Err *err)
{
    if (i < s->stages.count) {
        place_push(s);
        place_on_box(s, i);
        return true;
    }
    const Graph *g = session_base(s);
    if (!session_go(s, graph_node(g, site_node_any(g, SITE_PROBS))->path, SCREEN_ANSWER, err))
        return false;
    s->place.at[class_axis(s)] = i - s->stages.count;
    s->place.due = 0;
    return true;
}

/* Lengths are called after the node that they are of: whoever looks for it does not mean them. */
static bool is_called(const Graph *g, NodeId n, const char *text)
{
    const char *path = graph_node(g, n)->path;
    return find_in(path, text) && (!probes_of_step(path) || find_in(text, "length"));
}

/* Nodes without a step of their own: only where no step and no class is called so. The next one from the node in focus.
 */
static bool go_on_nodes(Session *s, int by, Err *err)
{
    const Graph *g = session_base(s);
    NodeId here = graph_find(g, s->place.path), to = NO_NODE;
    int hits = 0, number = 0;
    here = here == NO_NODE ? 0 : here;
    for (NodeId k = 1; k <= g->count && to == NO_NODE; k++) {
        NodeId i = ((here + by * k) % g->count + g->count) % g->count;
        to = is_called(g, i, s->sought.text) ? i : NO_NODE;
    }
    if (to == NO_NODE)
        return err_set(err, "no step, node or class is called '%.40s': try a part of its name", s->sought.text);
    for (NodeId i = 0; i < g->count; i++) {
        hits += is_called(g, i, s->sought.text);
        number = i == to ? hits : number;
    }
    const char *path = graph_node(g, to)->path;
    if (!session_go(s, path, session_screen_for(s, path), err))
        return false;
    s->sought.on = true;
    session_say(s, "%d of %d nodes with '%s': %s.%s", number, hits, s->sought.text, path,
                hits > 1 ? "  n next, N before" : "");
    return true;
}

/* The next hit from where one is, round at the end; which of how many it is. */
static bool go_on(Session *s, int by, Err *err)
{
    char name[256];
    int count = things(s), hits = 0, number = 0, to = -1, here = thing_here(s);
    for (int k = 1; k <= count && to < 0; k++) {
        int i = ((here + by * k) % count + count) % count;
        to = is_hit(s, i, s->sought.text, name, sizeof name) ? i : -1;
    }
    if (to < 0)
        return go_on_nodes(s, by, err);
    for (int i = 0; i < count; i++) {
        hits += is_hit(s, i, s->sought.text, name, sizeof name);
        number = i == to ? hits : number;
    }
    is_hit(s, to, s->sought.text, name, sizeof name);
    if (!go_to_thing(s, to, err))
        return false;
    s->sought.at = to;
    s->sought.on = true;
    session_say(s, "%d of %d with '%s': %s.%s", number, hits, s->sought.text, name,
                hits > 1 ? "  n next, N before" : "");
    return true;
}

static int root_of(const Stages *st, int box)
{
    while (box != NO_BOX && st->boxes[box].parent != NO_BOX)
        box = st->boxes[box].parent;
    return box;
}

enum { AS_LABEL, AS_SYMBOL, AS_WORD, NAMINGS };

static bool is_called_so(const Session *s, int i, const char *text, int naming)
{
    char label[128];
    if (i >= s->stages.count) {
        axis_label(&session_base(s)->axes[class_axis(s)], i - s->stages.count, label, sizeof label);
        return naming == AS_LABEL && strcasecmp(label, text) == 0;
    }
    const Box *b = &s->stages.boxes[i];
    const char *dot = strrchr(b->path, '.');
    switch (naming) {
    case AS_LABEL: return strcasecmp(b->label, text) == 0;
    case AS_SYMBOL: return strcmp(b->symbol, text) == 0 || strcmp(dot ? dot + 1 : b->path, text) == 0;
    default: return find_match(b->label, text) == FIND_WORD;
    }
}

bool find_named(Session *s, const char *text, bool label, Err *err)
{
    int count = things(s), here = s->place.box, root = root_of(&s->stages, here);
    for (int pass = 0; pass < 2 * (label ? AS_LABEL + 1 : NAMINGS) && *text; pass++) /* in this block, anywhere */
        for (int k = 0; k < count; k++) {
            int i = (here + k) % count;
            bool own = i < s->stages.count && root_of(&s->stages, i) == root;
            if ((own || pass % 2) && is_called_so(s, i, text, pass / 2))
                return go_to_thing(s, i, err);
        }
    return err_set(err, "nothing here is called '%.40s'", text);
}

void find_begin(Session *s, const char *text)
{
    snprintf(s->sought.text, sizeof s->sought.text, "%s", text);
    s->sought.on = *text != 0;
    s->sought.at = s->place.box;
    int o = class_axis(s);
    if (s->place.screen == SCREEN_ANSWER && o != AXIS_NONE)
        s->sought.at = s->stages.count + s->place.at[o];
}

bool find_command(Session *s, const Args *a, Err *err)
{
    if (a->count < 1)
        return err_set(err, "expected a word of a step, a node, a class, or value>0.3");
    const char *text = a->word[0];
    bool next = strcmp(text, "next") == 0, again = a->count == 1 && (next || strcmp(text, "prev") == 0);
    if (strncmp(text, "value", 5) == 0 && (text[5] == '>' || text[5] == '<'))
        return find_value(s, text, err);
    if (again && !*s->sought.text)
        return err_set(err, "nothing was searched for yet: press / or type `find TEXT`");
    if (again)
        return go_on(s, next ? 1 : -1, err);
    char before[sizeof s->sought.text];
    snprintf(before, sizeof before, "%s", s->sought.text);
    snprintf(s->sought.text, sizeof s->sought.text, "%s", text);
    if (go_on(s, 1, err))
        return true;
    snprintf(s->sought.text, sizeof s->sought.text, "%s", before);
    return false;
}

void find_complete(const Session *s, int index, Buf *out)
{
    char label[128];
    int o = class_axis(s);
    for (int i = 0; index == 0 && i < s->stages.count; i++)
        if (!strchr(s->stages.boxes[i].label, ' '))
            buf_printf(out, "%s\n", s->stages.boxes[i].label);
    for (int i = 0; index == 0 && o != AXIS_NONE && i < session_base(s)->axes[o].n; i++)
        buf_printf(out, "%s\n", axis_label(&session_base(s)->axes[o], i, label, sizeof label));
}
