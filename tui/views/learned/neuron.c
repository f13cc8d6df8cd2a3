/* A hidden unit of an MLP: on the left the pictures or sentences that excite it most among many, on the right its
 * activation here, and what it writes into each answer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/learned/measures.h"
#include "tui/views/classes.h"
#include "tui/views/heat.h"
#include "tui/views/learned/neuron_view.h"

enum {
    ASIDE_LEAST = 24,
    ASIDE_MOST = 44,
    NUMBER_LEAST = 4,
    MAP_MOST = 6,
    WORD_MOST = 14,
    TEXT_FROM = 9,   /* lines of what excites it, and of which units a word excites */
    ASIDE_LINES = 6, /* below the words, what it writes, or that it writes no answer */
    UNIT_LINES = 6,  /* of which units a word excites, where what this one writes stands below them */
    ALONE_FROM = 15, /* lines from which they stand there */
    KEY_LEAST = 14,  /* columns of a colour scale */
    END_NAMED = 10,  /* "map ±1.333" */
    END_MOST = 5,    /* and of its end alone */
    HARDLY = 8       /* values below zero that don't reach this part of the largest are as good as none */
};

static bool unit_open(const Session *s, Side side, Unit *out)
{
    Unit u = {.unit = 0};
    if (!shown_open(s, side, neuron_path(s, side, SITE_MLP_POST), &u.post))
        return false;
    const Graph *g = u.post.graph;
    if (!neuron_axes(g, u.post.node, &u.axes))
        return false;
    u.units = u.axes.count;
    u.unit = neuron_at(g, &u.axes, u.post.at);
    u.tokens = &g->axes[u.axes.tokens];
    u.l = lattice_of(u.tokens);
    u.words = u.tokens->kind != AXIS_TOKEN || u.tokens->cols < 1;
    u.has_writes = shown_open(s, side, neuron_path(s, side, SITE_UNIT_WRITES), &u.writes);
    *out = u;
    return true;
}

size_t neuron_cell(const Unit *u, int token)
{
    return (size_t)token * (size_t)u->units + (size_t)u->unit;
}

static float activation(const void *context, int row, int col, Ref *ref)
{
    const Unit *u = context;
    size_t cell = neuron_cell(u, u->l.prefix + row * u->l.cols + col);
    *ref = shown_ref(&u->post, cell);
    return u->post.values[cell];
}

int neuron_token(const Unit *u)
{
    return u->post.at[graph_node(u->post.graph, u->post.node)->dims.axis[0]];
}

/* One scale for all tokens of this input. */
static ColourScale scale_of(const Paint *p, const Unit *u)
{
    float low = 0, high = 0;
    for (int t = 0; t < u->tokens->n; t++) {
        float x = u->post.values[neuron_cell(u, t)];
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    Unit other;
    bool shared = shown_beside(p->s, &u->post, &other.post) && unit_open(p->s, other.post.side, &other) &&
                  other.unit == u->unit;
    for (int t = 0; shared && t < other.tokens->n; t++) { /* of A and B */
        low = fminf(low, other.post.values[neuron_cell(&other, t)]);
        high = fmaxf(high, other.post.values[neuron_cell(&other, t)]);
    }
    if (!shared && u->post.side != SIDE_DIFF && low < 0 &&
        -low < high / HARDLY) /* an activation that hardly goes below 0: from none to most */
        low = 0;
    float most = fmaxf(-low, high);
    return colour_scale_of_range(p, low < 0 || u->post.side == SIDE_DIFF ? -most : 0, most);
}

/* --- its activation here --- */

/* The ends of a scale where there is no room for its colours. */
static void draw_ends(const Paint *p, const ColourScale *s, Rect line)
{
    const char *before = s->low < 0 ? line.w >= END_NAMED ? "map ±" : "±" : "0 … ";
    char high[16];
    const int room = line.w - utf8_cells(before);
    if (room < NUMBER_LEAST || !(s->high > s->low))
        return;
    number_text(high, sizeof high, s->high, room < END_MOST ? room : END_MOST);
    canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "%s%s", before, high);
}

/* key: a line for its colours where there is no room for them beside the number; of no height: there is none. */
static int draw_map(const Paint *p, const Unit *u, Rect r, Rect key, bool focus)
{
    ColourScale scale = scale_of(p, u);
    int at = neuron_token(u), row = at - u->l.prefix;
    char label[64];
    if (r.h < 2)
        return 0;
    LatticeMap m = lattice_map(p, (Rect){r.y, r.x, r.h - 1, r.w}, u->l.rows, u->l.cols, MAP_MOST, 0, 0);
    lattice_map_draw(p, &m, &scale, activation, u);
    int line = m.r.y + m.r.h;
    int used = canvas_printf(p->c, line, r.x, r.w, STYLE_DIM, "%s ", axis_label(u->tokens, at, label, sizeof label));
    if (r.w - used >= 7)
        used += shown_number(p, &u->post, neuron_cell(u, at), line, r.x + used, NEURON_NUMBER, STYLE_STRONG) + 2;
    if (r.w - used >= KEY_LEAST)
        colour_scale_bar(p, &scale, line, r.x + used, r.w - used);
    else if (key.h > 0)
        colour_scale_bar(p, &scale, key.y, key.x, key.w);
    else
        draw_ends(p, &scale, (Rect){line, r.x + used, 1, r.w - used});
    if (row < 0) {
        focus_cursor(p, focus, line, r.x);
        return m.r.h + 1;
    }
    int y = row / u->l.cols, x = row % u->l.cols;
    lattice_map_mark(p, &m, y, x, "[]!", STYLE_CURSOR, shown_ref(&u->post, neuron_cell(u, at)));
    Rect patch = lattice_map_patch(&m, y, x);
    focus_cursor(p, focus, patch.y + (patch.h - 1) / 2, patch.x);
    return m.r.h + 1;
}

/* A line for each word, of more than there are lines the largest: its name, the activation, a bar. */
static int draw_words(const Paint *p, const Unit *u, Rect r, bool focus)
{
    int at = neuron_token(u), word = shown_axis_widest(u->tokens, WORD_MOST) + 2, token[NEURON_LINES];
    const int count = neuron_largest(u, r.h, token);
    float low = 0, high = 0;
    for (int t = 0; t < u->tokens->n; t++) {
        low = fminf(low, u->post.values[neuron_cell(u, t)]);
        high = fmaxf(high, u->post.values[neuron_cell(u, t)]);
    }
    const bool both = u->post.side == SIDE_DIFF || -low * (float)r.w >= high; /* bars on both sides of a zero */
    const float most = fmaxf(-low, high);
    for (int y = 0; y < count; y++) {
        int t = token[y], x = r.x + word;
        char label[64];
        neuron_label(u->tokens, t, label);
        canvas_printf(p->c, r.y + y, r.x, word, t == at ? STYLE_CURSOR : STYLE_TEXT, t == at ? "[%s]" : " %s ", label);
        if (t == at)
            focus_cursor(p, focus, r.y + y, r.x);
        shown_number_right(p, &u->post, neuron_cell(u, t), r.y + y, x, NEURON_NUMBER, STYLE_TEXT);
        x += NEURON_NUMBER + 1;
        float v = u->post.values[neuron_cell(u, t)];
        if (r.x + r.w - x >= NEURON_BAR_LEAST && both)
            canvas_bar_signed(p->c, r.y + y, x, r.x + r.w - x, most > 0 ? (double)v / (double)most : 0, STYLE_TEXT,
                              STYLE_NEGATIVE, shown_ref(&u->post, neuron_cell(u, t)));
        else if (r.x + r.w - x >= NEURON_BAR_LEAST)
            canvas_bar(p->c, r.y + y, x, r.x + r.w - x, most > 0 && v > 0 ? (double)v / (double)most : 0, STYLE_TEXT,
                       shown_ref(&u->post, neuron_cell(u, t)));
    }
    return count;
}

/* --- what it writes --- */

static void draw_answer(const Paint *p, const Unit *u, size_t o, float most, Rect line)
{
    const Graph *g = u->writes.graph;
    const Dims d = graph_node(g, u->writes.node)->dims;
    const Axis *answers = &g->axes[d.axis[d.n - 1]];
    size_t cell = (size_t)u->unit * (size_t)answers->n + o;
    char label[64];
    int name = shown_axis_widest(answers, WORD_MOST);
    int word = line.w - NEURON_NUMBER - 2 - name > NEURON_BAR_LEAST ? name : line.w - NEURON_NUMBER - 1,
        x = line.x + word + 1;
    const char *own = neuron_label(answers, (int)o, label);
    char blank[72]; /* a word's beginning and a piece of the same letters are two */
    utf8_print(blank, sizeof blank, "%s%s", neuron_begins(answers, (int)o) ? " " : "", own);
    canvas_label(p->c, line.y, line.x, word, STYLE_TEXT, blank);
    shown_number_right(p, &u->writes, cell, line.y, x, NEURON_NUMBER, STYLE_TEXT);
    x += NEURON_NUMBER + 1;
    float v = u->writes.values[cell];
    if (line.x + line.w - x >= NEURON_BAR_LEAST && most > 0)
        canvas_bar_signed(p->c, line.y, x, line.x + line.w - x, (double)v / (double)most, STYLE_TEXT, STYLE_NEGATIVE,
                          shown_ref(&u->writes, cell));
}

/* What a unit writes is of its weights: an edit of the run leaves A and B alike in it, and there is nothing to say. */
static bool writes_alike(const Unit *u)
{
    if (u->post.side != SIDE_DIFF || !u->has_writes || !u->writes.values)
        return false;
    size_t n = u->writes.count / (size_t)u->units;
    for (size_t i = 0; i < n; i++)
        if (u->writes.values[(size_t)u->unit * n + i] != 0)
            return false;
    return true;
}

/* All answers where they have room, else the largest and the smallest. */
static void draw_writes(const Paint *p, const Unit *u, Rect r)
{
    if (r.h < 2 || writes_alike(u))
        return;
    const size_t all = u->has_writes ? u->writes.count / (size_t)u->units : 0;
    if (!u->has_writes) {
        const char *why = "No answer is read from what this MLP writes without further norms or blocks.";
        canvas_wrap(p->c, r, STYLE_DIM,
                    canvas_wrap_rows(p->c, r.w, why) <= r.h ? why : "It writes no answer: norms and blocks follow.");
        return;
    }
    const Rect head = rect_cut(&r, 't', 1);
    neuron_draw_writes_head(p, head, all > (size_t)r.h ? all - (size_t)r.h : 0, u->words);
    if (!u->writes.values) {
        shown_computing(p, r);
        return;
    }
    const Graph *g = u->writes.graph;
    const Dims d = graph_node(g, u->writes.node)->dims;
    size_t n = (size_t)g->axes[d.axis[d.n - 1]].n;
    const float *row = u->writes.values + (size_t)u->unit * n;
    size_t top = n <= (size_t)r.h ? n : ((size_t)r.h + 1) / 2, which = classes_best(row, n);
    size_t low = 0;
    float most = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmaxf(most, fabsf(row[i]));
        low = row[i] < row[low] ? i : low;
    }
    for (size_t i = 0; i < top && which < n; i++, which = classes_next(row, n, which))
        draw_answer(p, u, which, most, (Rect){r.y + (int)i, r.x, 1, r.w});
    for (int i = r.h - 1; n > (size_t)r.h && i >= (int)top; i--) { /* the smallest from below */
        draw_answer(p, u, low, most, (Rect){r.y + i, r.x, 1, r.w});
        size_t above = n;
        for (size_t k = 0; k < n; k++)
            if ((row[k] > row[low] || (row[k] == row[low] && k > low)) && (above == n || row[k] < row[above]))
                above = k;
        low = above < n ? above : low;
    }
}

/* A and B have one model's pictures, measured as trained: they stand beside A − B. */
static bool excites_here(const Session *s, Side side)
{
    return !session_compares(s) || s->compare != COMPARE_SIDES || side == SIDE_DIFF;
}

/* Is nothing known of it but this text? Then what it writes stands at the left, and all lines here are its words'. */
static bool text_alone(const Session *s, const Unit *u, int lines)
{
    const char *why = NULL;
    return lines >= ALONE_FROM && u->words && u->post.values && u->post.side != SIDE_DIFF &&
           excites_here(s, u->post.side) && !session_neuron(s, &why) && why;
}

/* Lines of its activations here: of a map between A and B twice the least where that fits, before what it writes. */
static int here_lines(const Paint *p, const Unit *u, Rect r)
{
    int twice = (heat_halves(p) ? u->l.rows : 2 * u->l.rows) + 1, most = r.h * 3 / 5;
    if (text_alone(p->s, u, r.h) || (u->words && !u->has_writes && u->tokens->n + ASIDE_LINES > r.h))
        return r.h;
    if (u->words && most < r.h - ASIDE_LINES - 1) /* all words before more of what it writes */
        return clamp(u->tokens->n, most, r.h - ASIDE_LINES - 1);
    return !u->words && session_compares(p->s) && most < twice && twice <= r.h ? twice : most;
}

/* A − B alone is arranged as A and B are, its map at the right of what excites it: not where nothing is known of that.
 */
static bool diff_alone(const Session *s, Side side)
{
    const char *why = NULL;
    return side == SIDE_DIFF && s->compare != COMPARE_SIDES && (session_neuron(s, &why) || !why);
}

static void draw_excites(const Paint *p, const Unit *u, Rect r);

static void draw_aside(const Paint *p, const Unit *u, Rect r, bool focus)
{
    Rect head = rect_cut(&r, 't', 1);
    Rect here = r;
    here.h = here_lines(p, u, r);
    const bool alone = text_alone(p->s, u, r.h);
    int used = canvas_text(p->c, head.y, head.x, head.w, STYLE_STRONG,
                           u->words ? "in this sentence" : "in this picture");
    if (!u->post.values) {
        shown_computing(p, r);
        return;
    }
    if (u->words && u->tokens->n > here.h) {
        char some[48];
        utf8_print(some, sizeof some, ", the %d largest of %d", here.h, u->tokens->n);
        if (utf8_cells(some) > head.w - used)
            utf8_print(some, sizeof some, ", top %d of %d", here.h, u->tokens->n);
        canvas_text(p->c, head.y, head.x + used, head.w - used, STYLE_DIM, some);
    }
    bool pictures = u->post.side == SIDE_DIFF && !diff_alone(p->s, SIDE_DIFF) && (writes_alike(u) || !u->has_writes),
         right = false;
    Rect beside = r;
    if (pictures && !u->words && r.h - here.h < 4) { /* no room below the map */
        LatticeMap m = lattice_map(p, (Rect){r.y, r.x, here.h - 1, r.w}, u->l.rows, u->l.cols, MAP_MOST, 0, 0);
        rect_cut(&beside, 'l', m.r.w + 1);
        right = beside.w >= NEURON_THUMB;
        here.w = right ? m.r.w : here.w;
    }
    used = u->words ? draw_words(p, u, here, focus)
                    : draw_map(p, u, here, (Rect){here.y + here.h, here.x, right && r.h > here.h, here.w}, focus);
    if (pictures) {
        Rect below = r;
        rect_cut(&below, 't', used + (r.h - used > 4));
        if (right && beside.w < NEURON_BOTH_SAID) /* "A and B" stands below it */
            canvas_text(p->c, head.y, beside.x, beside.w, STYLE_STRONG, "excites");
        if (right || below.h > 3)
            draw_excites(p, u, right ? beside : below);
        return;
    }
    rect_cut(&r, 't', used + (r.h - used > 4));
    if (!alone)
        draw_writes(p, u, r);
}

/* --- what excites it --- */

/* A line for each sentence around the word that excites it. */
static void draw_sentences(const Paint *p, const NeuronShown *n, Rect r)
{
    for (int k = 0; k < n->count && k < r.h; k++) {
        char number[32];
        int x = r.x + NEURON_NUMBER + 1, token = n->hit[k].token, from = token, room = r.x + r.w - x;
        number_text(number, sizeof number, n->hit[k].value, NEURON_NUMBER);
        canvas_right(p->c, r.y + k, r.x, NEURON_NUMBER, STYLE_TEXT, number);
        int left = room / 2 - (int)strlen(neuron_word(n, k, token)) - 1;
        while (from > 0 && left > (int)strlen(neuron_word(n, k, from - 1)) + 1)
            left -= (int)strlen(neuron_word(n, k, --from)) + 1;
        x += canvas_text(p->c, r.y + k, x, from > 0, STYLE_DIM, "…");
        for (int t = from; t < neuron_words(n, k) && x < r.x + r.w; t++) {
            const char *word = neuron_word(n, k, t);
            x += canvas_text(p->c, r.y + k, x, r.x + r.w - x, t == token ? STYLE_SELECTED : STYLE_TEXT, word) + 1;
        }
    }
}

static void draw_excites(const Paint *p, const Unit *u, Rect r)
{
    const char *why, *over = neuron_over(p->s);
    const NeuronShown *n = session_neuron(p->s, &why);
    if (!n && why && u->post.values && u->post.side != SIDE_DIFF && r.h > 4) {
        const bool brief = u->words && canvas_wrap_rows(p->c, r.w, why) > 1;
        rect_cut(&r, 't',
                 canvas_wrap(p->c, r, STYLE_DIM,
                             !brief                                        ? why
                             : model_way(p->s->now->model) == MODEL_WRITES ? "no other texts are known: --text FILE"
                                                                           : "no other texts in its words are known"));
        if (!u->words || r.h <= TEXT_FROM) {
            neuron_draw_units(p, u, r);
            return;
        }
        const bool alone = text_alone(p->s, u, r.h);
        rect_cut(&r, 't', neuron_draw_own_text(p, u, (Rect){r.y, r.x, r.h / (alone ? 3 : 2), r.w}));
        rect_cut(&r, 't', 1);
        neuron_draw_units(p, u, rect_cut(&r, 't', alone ? UNIT_LINES : r.h));
        rect_cut(&r, 't', 1);
        draw_writes(p, u, r);
        return;
    }
    Rect head = rect_cut(&r, 't', 1), foot = rect_cut(&r, 'b', r.h > 4);
    canvas_text(p->c, head.y, head.x, head.w, STYLE_STRONG, neuron_excites_says(u, n, r.w));
    if (!n) {
        canvas_wrap(p->c, r, STYLE_DIM, why ? why : "measured while you look; `:neuron measure` waits for all of it");
        return;
    }
    int drawn = n->count;
    if (!n->count)
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "none: it is at most 0 for all");
    else if (n->window_tokens)
        neuron_draw_windows(p, n, r);
    else if (u->words)
        draw_sentences(p, n, r);
    else
        drawn = neuron_draw_pictures(p, u, n, r);
    if (foot.h && n->done < n->total)
        canvas_printf(p->c, foot.y, foot.x, foot.w, STYLE_DIM, "of %zu %s so far, %zu to come; model as trained",
                      n->done, over, n->total - n->done);
    else if (foot.h) {
        char text[128], rest[32] = "";
        if (n->count && n->count < NEURON_PICTURES && (size_t)n->count < n->total && !u->words && !n->window_tokens)
            utf8_print(rest, sizeof rest, ", %zu at most 0", n->total - (size_t)n->count);
        if (drawn < n->count)
            utf8_print(rest, sizeof rest, ", %d of %d shown", drawn, n->count);
        utf8_print(text, sizeof text, "of %zu %s%s; model as trained", n->done, over, rest);
        if (utf8_cells(text) > foot.w)
            utf8_print(text, sizeof text, "of %zu %s%s", n->done, over, rest);
        if (utf8_cells(text) > foot.w)
            utf8_print(text, sizeof text, "of %zu %s", n->done, over);
        if (utf8_cells(text) <= foot.w)
            canvas_text(p->c, foot.y, foot.x, foot.w, STYLE_DIM, text);
    }
}

/* --- the view --- */

static Rect aside_of(const Session *s, Side side, Rect *r)
{
    if ((side == SIDE_DIFF && !diff_alone(s, side)) || !excites_here(s, side))
        return rect_cut(r, 'r', r->w);
    int wide = r->w * 2 / 5;
    wide = wide < ASIDE_LEAST ? ASIDE_LEAST : wide > ASIDE_MOST ? ASIDE_MOST : wide;
    Rect aside = rect_cut(r, 'r', wide < r->w ? wide : r->w);
    rect_cut(r, 'r', 2);
    return aside;
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Unit u;
    if (!unit_open(p->s, side, &u)) {
        canvas_wrap(p->c, r, STYLE_DIM,
                    side == SIDE_DIFF ? "A and B have no such unit to subtract." : "This model has no MLP.");
        return;
    }
    Rect aside = aside_of(p->s, side, &r);
    draw_aside(p, &u, aside, focus);
    if (r.w >= ASIDE_LEAST / 2 && r.h > 1)
        draw_excites(p, &u, r);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    needs_add(out, side, neuron_path(s, side, SITE_MLP_POST));
    needs_add(out, side, neuron_path(s, side, SITE_UNIT_WRITES));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Unit u;
    int row, col, token = -1;
    char label[64];
    if (!unit_open(p->s, side, &u) || !u.post.values)
        return false;
    Rect aside = aside_of(p->s, side, &r);
    rect_cut(&aside, 't', 1);
    aside.h = here_lines(p, &u, aside);
    if (!rect_has(aside, y, x))
        return false;
    if (u.words) {
        int tokens[NEURON_LINES];
        token = y - aside.y < neuron_largest(&u, aside.h, tokens) ? tokens[y - aside.y] : -1;
    } else {
        LatticeMap m = lattice_map(p, (Rect){aside.y, aside.x, aside.h - 1, aside.w}, u.l.rows, u.l.cols, MAP_MOST, 0,
                                   0);
        if (lattice_map_hit(&m, y, x, &row, &col))
            token = u.l.prefix + row * u.l.cols + col;
    }
    if (token < 0 || token >= u.tokens->n)
        return false;
    if (token == neuron_token(&u))
        buf_puts(command, "in");
    else
        buf_printf(command, "neuron %d %s", u.unit % u.post.graph->axes[u.axes.units].n,
                   u.words ? "" : axis_label(u.tokens, token, label, sizeof label));
    if (u.words && token != neuron_token(&u))
        buf_printf(command, "%d", token);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    Unit u;
    if (!unit_open(s, side, &u)) {
        buf_puts(out, "hidden unit");
        return;
    }
    const Graph *g = u.post.graph;
    const Part *part = anatomy_part(g, anatomy_block_of(g, graph_node(g, u.post.node)->path));
    const int units = g->axes[u.axes.units].n, unit = u.unit % units;
    if (u.axes.experts != AXIS_NONE)
        buf_printf(out, "hidden unit %d of 0–%d, expert %d of %s%sblock %d\nexpert %d, unit %d", unit, units - 1,
                   u.unit / units, part->stack, *part->stack ? " " : "", part->block, u.unit / units, unit);
    else
        buf_printf(out, "hidden unit %d of 0–%d, MLP of %s%sblock %d\nunit %d of 0–%d", unit, units - 1, part->stack,
                   *part->stack ? " " : "", part->block, unit, units - 1);
}

static const KeyBinding KEYS[] = {{"L", "neuron +1", NULL, "the next unit", 0, 0, NULL},
                                  {"H", "neuron -1", "unit", "the unit before", 0, 9, NULL},
                                  {"}", "neuron +1", NULL, "the next unit", 0, 0, NULL},
                                  {"{", "neuron -1", NULL, "the unit before", 0, 0, NULL},
                                  {"E", "neuron +1", NULL, "the next unit", 0, 0, NULL},
                                  {.key = NULL}};

VIEW_SPEC(NEURON, .name = "neuron", .traits = VIEW_WIDE,
          .sentence = "What excites a hidden unit of an MLP most, its map here, what it writes.", .keys = KEYS);
