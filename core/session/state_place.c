/* The place as a line: `place ADDRESS …`, written and read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/learned/measures.h"
#include "core/session/place.h"
#include "core/session/screens.h"
#include "core/session/state_parts.h"

/* Where the address of node n with these cells leads a session just opened. */
static Place plain_place(const Session *s, NodeId n, size_t cell)
{
    Session *t = xmalloc(sizeof *t); /* the place alone is changed in it */
    const Graph *g = session_graph(s, SIDE_B);
    Dims d = graph_node(g, n)->dims;
    int index[DIMS_MAX];
    *t = *s;
    session_start_place(t);
    dims_unravel(g->axes, d, cell, index);
    for (int i = 0; i < d.n; i++) {
        t->place.at[d.axis[i]] = index[i];
        session_sync(t, d.axis[i]);
    }
    for (int i = 0; i < d.n; i++) /* two axes of the node may be one to the cursor */
        t->place.at[d.axis[i]] = index[i];
    snprintf(t->place.path, sizeof t->place.path, "%s", graph_node(g, n)->path);
    t->place.screen = session_screen_for(s, t->place.path);
    t->place.box = place_box(t);
    Place place = t->place;
    free(t);
    return place;
}

/* "h" where it is the first axis of that letter, else its number. */
static void put_axis(const Graph *g, int axis, Buf *out)
{
    if (graph_axis_find(g, g->axes[axis].sym) == axis)
        buf_puts(out, g->axes[axis].sym);
    else
        buf_printf(out, "%d", axis);
}

/* What the address of the place does not say: " screen=matrix at=h:2,t:5". */
static void put_place_rest(const Session *s, NodeId n, Buf *out)
{
    const Graph *g = session_graph(s, SIDE_B);
    const Place *p = &s->place;
    Place plain = plain_place(s, n, session_cell(s, SIDE_B, n));
    if (p->screen != plain.screen)
        buf_printf(out, " screen=%s", screen_name(p->screen));
    bool any = false;
    for (int i = 0; i < g->axis_count && i < SESSION_AXES; i++)
        if (p->at[i] != plain.at[i]) {
            buf_puts(out, any ? "," : " at=");
            put_axis(g, i, out);
            buf_printf(out, ":%d", p->at[i]);
            any = true;
        }
    if (p->term)
        buf_printf(out, " term=%zu", p->term);
    if (p->operand)
        buf_printf(out, " operand=%d", p->operand);
    if (p->box != plain.box && p->box < s->stages.count)
        buf_printf(out, " box=%s", s->stages.boxes[p->box].path);
}

void state_put_place(const Session *s, Buf *address, Buf *rest)
{
    NodeId n = session_node(s, SIDE_B, s->place.path);
    if (n == NO_NODE)
        return;
    address_put(session_graph(s, SIDE_B), n, session_cell(s, SIDE_B, n), address);
    put_place_rest(s, n, rest);
}

/* The first place of the trail in the history; back_count where there is none. */
static int trail_begins(const Session *s)
{
    int from = s->back_count;
    while (screen_now(s)->group == GROUP_ARITHMETIC && from > 0 &&
           screen_spec(s->back[from - 1].screen)->group == GROUP_ARITHMETIC)
        from--;
    return from;
}

bool session_has_trail(const Session *s)
{
    return trail_begins(s) < s->back_count;
}

void state_put_trail(const Session *s, Buf *lines)
{
    Session *t = xmalloc(sizeof *t); /* the place alone is changed in it */
    const int from = trail_begins(s);
    *t = *s;
    for (int i = from; i <= s->back_count; i++) {
        Buf address = {0}, rest = {0};
        t->place = i < s->back_count ? s->back[i] : s->place;
        state_put_place(t, &address, &rest);
        if (address.len)
            buf_printf(lines, "place %s%s%s\n", buf_str(&address), buf_str(&rest), i > from ? " after=last" : "");
        buf_free(&address);
        buf_free(&rest);
    }
    free(t);
}

static bool parse_index(const char **p, int *value)
{
    char *end;
    long n = strtol(*p, &end, 10);
    bool ok = **p >= '0' && **p <= '9' && n <= 1000000000;
    *value = ok ? (int)n : 0;
    *p = end;
    return ok;
}

/* "h:2,t:5" */
static bool parse_at(const Graph *g, const char *text, int *at, Err *err)
{
    for (const char *p = text; *p; p += *p == ',') {
        char sym[8];
        size_t n = strcspn(p, ":,");
        int axis, value;
        if (!n || n >= sizeof sym || p[n] != ':')
            return err_set(err, "at=%.60s: expected AXIS:INDEX,…", text);
        utf8_print(sym, sizeof sym, "%.*s", (int)n, p);
        const char *number = sym;
        if (!parse_index(&number, &axis) || *number)
            axis = graph_axis_find(g, sym);
        p += n + 1;
        if (axis < 0 || axis >= g->axis_count || axis >= SESSION_AXES)
            return err_set(err, "at=%.60s: there is no axis '%s'", text, sym);
        if (!parse_index(&p, &value) || (*p && *p != ',') || value >= g->axes[axis].n)
            return err_set(err, "at=%.60s: %s goes from 0 to %d", text, g->axes[axis].sym, g->axes[axis].n - 1);
        at[axis] = value;
    }
    return true;
}

static bool parse_screen(const Session *s, const char *word, Place *p, Err *err)
{
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (strcmp(screen_name((Screen)i), word) == 0) {
            bool attention = screen_spec((Screen)i)->group == GROUP_ATTENTION;
            if (attention && screen_spec(session_screen_for(s, p->path))->group != GROUP_ATTENTION)
                return err_set(err, "screen=%s: %s has no rows of tokens that look at tokens", word, p->path);
            p->screen = (Screen)i;
            return true;
        }
    return err_set(err, "there is no screen '%.40s'", word);
}

static bool parse_count(const Args *a, const char *name, int most, int *value, Err *err)
{
    const char *text = args_named(a, name), *p = text;
    return !text || (parse_index(&p, value) && !*p && *value <= most) ||
           err_set(err, "%s=%.40s: expected a number up to %d", name, text, most);
}

bool state_place_command(Session *s, const Args *a, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    const char *at = args_named(a, "at"), *screen = args_named(a, "screen"), *box = args_named(a, "box");
    Address to;
    if (a->count != 1)
        return err_set(err, "expected one address");
    if (!address_word(s, g, a->word[0], a->column[0], &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "column %d: '%s' is a group of nodes: name one", a->column[0], to.path);
    NodeId n = graph_find(g, to.path);
    Place p = plain_place(s, n, address_cell(s, g, n, &to.cells));
    int term = 0, index = NO_BOX;
    if ((screen && !parse_screen(s, screen, &p, err)) || (at && !parse_at(g, at, p.at, err)) ||
        !parse_count(a, "term", 1000000000, &term, err) ||
        !parse_count(a, "operand", p.screen == SCREEN_CLOSEUP ? PLACE_OPERANDS - 1 : NODE_INPUTS - 1, &p.operand, err))
        return false;
    if (box && (index = stages_find(&s->stages, box)) == NO_BOX)
        return err_set(err, "there is no box '%.80s'", box);
    p.box = box ? index : p.box;
    p.term = (size_t)term;
    if (p.screen == SCREEN_TRAINING)
        measures_read_history(s);
    if (args_named(a, "after")) /* down from the place before */
        place_push(s);
    s->place = p;
    if (box)
        place_open(s);
    else
        place_find_box(s);
    s->changes++;
    return true;
}
