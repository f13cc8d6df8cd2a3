#include "tui/views/view.h"

#include <math.h>
#include <string.h>

#include "core/graph/explain.h"
#include "core/models/names.h"
#include "core/session/play.h"
#include "tui/views/explain/explain.h"

/* --- which numbers are the step's --- */

/* The innermost box of a node of that side, or NO_BOX: it has none, as weights. The map is B's. */
static int box_of(const Session *s, Side side, NodeId n)
{
    const Graph *g = shown_graph(s, side), *b = session_graph(s, SIDE_B);
    if (g != b)
        n = n < 0 || n >= g->count ? NO_NODE : session_node(s, SIDE_B, graph_node(g, n)->path);
    return stages_of_node(&s->stages, n);
}

static bool in_step(const Session *s, Side side, NodeId n)
{
    int box = box_of(s, side, n);
    while (box != NO_BOX && box != s->place.box)
        box = s->stages.boxes[box].parent;
    return box != NO_BOX;
}

static bool is_side(const Ref *ref, Side side)
{
    return ref->run == side || ((ref->run == SIDE_A || ref->run == SIDE_B) && side != SIDE_DIFF);
}

/* The number that the screen reads out once more, below its map. */
static Ref focus_of(const Session *s, Side side)
{
    NodeId n = session_node(s, side, s->place.path);
    return n == NO_NODE ? (Ref){0} : session_ref(side, n, session_cell(s, side, n));
}

/* Behind the last "=" of the pane, whose number was taken away. */
static void put_not_yet(const Paint *p, Rect r, int y, int x)
{
    const Cell *equals = x - 2 >= r.x ? canvas_at(p->c, y, x - 2) : NULL;
    if (equals && equals->ch == '=')
        canvas_text(p->c, y, x, r.x + r.w - x, STYLE_DIM, "not yet");
}

/* What of a pane is there while its step is played. */
typedef struct Hiding {
    const Session *s;
    Side side;
    Ref read;    /* the number in focus: read out as soon as it is there */
    bool there;  /* it is */
    Ref written; /* the last number that is */
    Ref last;    /* of the number before: its node … */
    bool own;    /* … is the step's */
    int hidden_y, hidden_x;
} Hiding;

/* Whether a cell's number is one of the step's. */
static bool is_own(Hiding *h, Ref ref)
{
    if (!is_side(&ref, h->side))
        return false;
    if (ref.run != h->last.run || ref.node != h->last.node)
        h->own = in_step(h->s, (Side)ref.run, ref.node);
    h->last = ref;
    return h->own;
}

/* Of one number: kept if there is room for it, else taken off the canvas. */
static bool keep(Hiding *h, Canvas *c, int y, int x, bool below, bool room)
{
    const Ref ref = below ? canvas_at(c, y, x)->below : canvas_at(c, y, x)->ref;
    const bool again = h->read.run && ref_same(ref, h->read);
    if (room || (again && h->there)) {
        h->there |= again;
        h->written = again && !room ? h->written : ref;
        return true;
    }
    if (below)
        canvas_upper(c, y, x);
    else
        cell_put(c, y, x, STYLE_TEXT, ' ');
    if (again && (y > h->hidden_y || (y == h->hidden_y && x < h->hidden_x))) {
        h->hidden_y = y;
        h->hidden_x = x;
    }
    return false;
}

Ref played_hide(const Paint *p, Rect r, Side side, bool by_column)
{
    Hiding h = {.s = p->s, .side = side, .read = focus_of(p->s, side), .hidden_y = -1};
    size_t all = 0, kept = 0;
    double share = play_share(p->s);
    for (int pass = 0; pass < 2; pass++) { /* counted, then taken */
        size_t room = (size_t)ceil(share * (double)all);
        h.last = (Ref){0};
        for (int i = 0; i < (by_column ? r.w : 2 * r.h); i++) { /* a line of half blocks: its upper numbers first */
            const size_t before = kept;
            const bool below = !by_column && i % 2;
            for (int k = 0; k < (by_column ? r.h : r.w); k++) {
                int y = r.y + (by_column ? k : i / 2), x = r.x + (by_column ? i : k);
                const Cell *c = canvas_at(p->c, y, x);
                if (!c || !is_own(&h, below ? c->below : c->ref))
                    continue;
                if (!pass)
                    all++;
                else
                    kept += keep(&h, p->c, y, x, below, (by_column ? before : kept) < room);
            }
        }
    }
    if (h.hidden_y >= 0 && !h.there)
        put_not_yet(p, r, h.hidden_y, h.hidden_x);
    return h.written;
}

/* --- what they are made from --- */

enum { VISITED = 64 };

typedef struct Origin {
    const Session *s;
    Side side;
    const Graph *graph;
    NodeId visited[VISITED];
    int visits;
    LitOperand of[NODE_INPUTS];
    int count;
    Dims along; /* axes that are read whole */
} Origin;

static void add_source(Origin *o, NodeId n, size_t cell)
{
    for (int i = 0; i < o->count; i++)
        if (o->of[i].node == n)
            return;
    if (o->count < NODE_INPUTS)
        o->of[o->count++] = (LitOperand){n, cell};
}

/* From a number of the step through the step's own operations, along their first terms, to what it was given. */
static void trace(Origin *o, NodeId n, size_t cell)
{
    for (int i = 0; i < o->visits; i++)
        if (o->visited[i] == n)
            return;
    if (o->visits == VISITED)
        return;
    o->visited[o->visits++] = n;
    Dims reduced = graph_reduced(o->graph, n);
    if (dims_minus(reduced, o->along).n + o->along.n <= DIMS_MAX)
        o->along = dims_union(o->along, reduced);
    Explain e = explain_open(o->graph, n, cell);
    Term term = {0};
    if (e.terms)
        term = explain_term(&e, 0);
    for (int k = 0; k < term.operands; k++)
        if (in_step(o->s, o->side, term.node[k]))
            trace(o, term.node[k], term.cell[k]);
        else if (box_of(o->s, o->side, term.node[k]) != NO_BOX)
            add_source(o, term.node[k], term.cell[k]);
}

/* Of the number that was written last, else of the one in focus. False where that side has no such node. */
static bool origin_open(const Session *s, Side side, Ref written, Origin *o)
{
    *o = (Origin){.s = s, .side = side, .graph = shown_graph(s, side), .along = DIMS_SCALAR};
    NodeId n = session_node(s, side, s->place.path);
    if (n == NO_NODE)
        return false;
    bool known = written.run == side && written.node >= 0 && written.node < o->graph->count;
    trace(o, known ? written.node : n, known ? written.cell : session_cell(s, side, n));
    if (stages_is_block(&s->stages, s->place.box)) /* all of it goes into every number */
        for (int i = 0; i < o->count; i++) {
            Dims d = graph_node(o->graph, o->of[i].node)->dims;
            if (dims_minus(d, o->along).n + o->along.n <= DIMS_MAX)
                o->along = dims_union(o->along, d);
        }
    return true;
}

static Side values_of(Side side)
{
    return side == SIDE_A ? SIDE_A : SIDE_B;
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    (void)focus;
    Origin o;
    if (!origin_open(p->s, values_of(side), p->written, &o))
        return;
    if (!o.count) {
        canvas_wrap(p->c, r, STYLE_DIM, "It begins here.");
        return;
    }
    Rect arrow = rect_cut(&r, 'r', 1);
    canvas_glyph(p->c, arrow.y + arrow.h / 2, arrow.x, STYLE_STRONG, 0x2192);
    explain_lit(p, r, o.side, o.along, o.of, o.count);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    Origin o;
    if (origin_open(s, values_of(side), (Ref){0}, &o))
        for (int i = 0; i < o.count; i++)
            needs_add(out, o.side, graph_node(o.graph, o.of[i].node)->path);
}

/* "from queries, keys"; shorter "q, k". */
static void title(const Session *s, Side side, Buf *out)
{
    Origin o;
    if (!origin_open(s, values_of(side), (Ref){0}, &o))
        return;
    for (int brief = 0; brief < 2; brief++) {
        buf_puts(out, !o.count ? "" : brief ? "\n" : "from ");
        for (int i = 0; i < o.count; i++) {
            const Node *n = graph_node(o.graph, o.of[i].node);
            const NodeText *text = node_text(n->path);
            buf_printf(out, "%s%s", i ? ", " : "", text && !brief ? text->label : node_name(n));
        }
    }
}

const ViewSpec VIEW_PLAYED = {.name = "from", .draw = draw, .needs = needs, .title = title};
