#include "tui/frame.h"

#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/drawn.h"
#include "core/models/names.h"
#include "core/session/play.h"
#include "core/session/screens.h"
#include "core/session/screens/laboratory.h"
#include "tui/keymap.h"
#include "tui/views/answer.h"
#include "tui/views/played.h"
#include "tui/views/shown.h"
#include "tui/views/text/headline.h"

/* Every size at which the arrangement changes. A row of steps is read from the top: with at least so many lines or
 * columns, give so many; a negative number is a share: −3 a third. The last row ends it. */
typedef struct Step {
    int at_least, give;
} Step;
static const Step FOOTER_LINES[] = {{4, 1}, {0, 0}}, ANSWER_LINES[] = {{6, 1}, {0, 0}},
                  HEADER_LINES[] = {{8, 1}, {0, 0}}, HINT_LINES[] = {{18, 1}, {0, 0}},
                  SENTENCE_LINES[] = {{5, 1}, {0, 0}}, SENTENCE_LINES_NARROW[] = {{12, 2}, {5, 1}, {0, 0}};
/* columns: the map of steps by the screen's width, what stands beside the view by what is left */
static const Step STEPS_WIDTH[] = {{180, 50}, {110, 28}, {0, 18}}, SIDE_WIDTH[] = {{150, 44}, {90, 32}, {0, 20}};
/* lines of what goes below a view */
static const Step BELOW_LINES[] = {{50, 17}, {30, 12}, {20, 7}, {0, 0}};
/* below three sides: what A and B answer; a row of attention as a profile, and where there is room the figures of it */
static const Step SIDES_ANSWER[] = {{50, 12}, {34, 8}, {16, 6}, {0, 0}},
                  SIDES_ANSWER_PROFILE[] = {{50, 12}, {25, 6}, {0, 0}},
                  SIDES_PROFILE[] = {{50, 12}, {34, 8}, {16, 6}, {0, 0}}, SIDES_FIGURES[] = {{50, 6}, {0, 0}};
/* beside attention; the cursor: the node, its value or both and A − B, head, both tokens */
static const Step ATTENTION_INFO[] = {{40, 12}, {30, 9}, {0, 0}}, ATTENTION_ANSWER[] = {{23, 8}, {0, 0}},
                  ATTENTION_CURSOR[] = {{16, 7}, {0, 0}}, ATTENTION_CURSOR_SIDES[] = {{16, 9}, {0, 0}};
/* beside any other view */
static const Step BESIDE_ANSWER[] = {{30, 13}, {18, 7}, {12, -3}, {0, 0}},
                  BESIDE_CURSOR[] = {{26, 10}, {10, -2}, {0, 0}};
enum {
    TITLE_BYTES = 512,
    ONE_PANE_WIDTH = 40, /* narrower or lower than that there is one pane */
    ONE_PANE_LINES = 6,
    MAP_WIDTH = 76,       /* from here on the map of steps stands beside, and … */
    MAP_WIDTH_WIDE = 110, /* … beside a view that needs the width */
    SENTENCE_WIDTH = 78,  /* the longest sentence with its margin: a narrower screen wraps it */
    NAMED_WIDTH = 100,    /* the header begins with program and model */
    STATUS_WIDTH = 100,   /* the footer has room for the status */
    HINT_LONG = 115,
    HINT_SHORT = 80,
    INPUT_LEAST = 16,  /* cells of a sentence's name in the header */
    NARROW = 100,      /* below that the footer keeps what can't be guessed */
    AROUND_LINES = 28, /* inside a map of attention: from here on its row goes with it, … */
    PROFILE_LEAST = 7, /* … as a profile of so many lines, */
    PROFILE_MOST = 12,
    HEADS_MOST = 17,   /* in every head, */
    BESIDE_LEAST = 30, /* and over the picture in so many columns */
    LEAVE_LEAST = 40   /* columns of a footer that has room for what q does */
};

static int step_of(const Step *steps, int have)
{
    while (have < steps->at_least)
        steps++;
    return steps->give < 0 ? have / -steps->give : steps->give;
}

static void add_pane(Frame *f, const ViewSpec *view, Rect box, Side side, bool focus, bool steps)
{
    if (f->count == FRAME_PANES || box.h < 1 || box.w < 1)
        return;
    Rect inside = box.h > 2 && box.w > 2 ? rect_inset(box, 1) : (Rect){box.y, box.x, 0, 0};
    f->pane[f->count++] = (Pane){
        .view = view, .box = box, .inside = inside, .side = side, .focus = focus, .steps = steps};
}

static bool on_attention(const Session *s)
{
    return screen_now(s)->group == GROUP_ATTENTION;
}

/* A, B and A − B in three columns, with the figures of attention; below them what both answer. */
static void layout_sides(const Session *s, Frame *f, Rect r)
{
    const ViewSpec *view = view_now(s);
    bool focus = !s->look.steps_focused, figures = view->traits & VIEW_ATTENTION;
    int high = r.h, profile = figures ? step_of(SIDES_PROFILE, high) : 0;
    Rect under = rect_cut(&r, 'b', profile);
    Rect answer = rect_cut(&r, 'b', step_of(profile ? SIDES_ANSWER_PROFILE : SIDES_ANSWER, high));
    int rows = figures ? step_of(SIDES_FIGURES, high) : 0;
    const int width = r.w / 3; /* A and B are drawn alike: A − B has what is left over */
    static const Side SIDES[] = {SIDE_A, SIDE_B, SIDE_DIFF};
    static const char *const LABELS[] = {"A", "B", "A − B"};
    for (int i = 0; i < 3; i++) {
        Rect column = rect_cut(&r, 'l', i < 2 ? width : r.w), figure = rect_cut(&column, 'b', rows);
        add_pane(f, view, column, SIDES[i], focus && i == 1, false);
        f->pane[f->count - 1].label = LABELS[i];
        add_pane(f, &VIEW_FIGURES, figure, SIDES[i], false, false);
    }
    add_pane(f, &VIEW_ANSWER, answer, SIDE_B, false, false);
    add_pane(f, &VIEW_PROFILE, under, SIDE_B, false, false);
}

/* Does the view leave it to a panel beside it what the model answers? */
static bool side_answers(const Session *s, Side side)
{
    return !(view_now(s)->traits & VIEW_CLASSES) && session_node(s, side, shown_site(s, side, SITE_PROBS)) != NO_NODE;
}

static void layout_side_column(const Session *s, Frame *f, Rect r, Side side, bool lesson)
{
    unsigned traits = view_now(s)->traits;
    bool answers = side_answers(s, side);
    if (traits & VIEW_ATTENTION) {
        Rect info = rect_cut(&r, 'b', lesson ? 0 : step_of(ATTENTION_INFO, r.h));
        Rect answer = rect_cut(&r, 'b', answers ? step_of(ATTENTION_ANSWER, r.h) : 0);
        int lines = lesson ? 0 : step_of(session_compares(s) ? ATTENTION_CURSOR_SIDES : ATTENTION_CURSOR, r.h);
        Rect cursor = rect_cut(&r, 'b', lines);
        add_pane(f, &VIEW_ROW_TOP, r, side, false, false);
        add_pane(f, &VIEW_CURSOR, cursor, side, false, false);
        add_pane(f, &VIEW_ANSWER, answer, side, false, false);
        add_pane(f, &VIEW_STEP_INFO, info, side, false, false);
        return;
    }
    Rect answer = rect_cut(&r, 't', lesson ? r.h : answers ? step_of(BESIDE_ANSWER, r.h) : 0);
    Rect cursor = rect_cut(&r, 'b', step_of(BESIDE_CURSOR, r.h));
    add_pane(f, &VIEW_ANSWER, answer, side, false, false);
    add_pane(f, &VIEW_STEP_INFO, r, side, false, false);
    add_pane(f, &VIEW_CURSOR, cursor, side, false, false);
}

/* What a map of attention has no use for goes to its row: as a profile, over the picture, and in every head. */
static void layout_around(const Session *s, Frame *f, Rect *r, Side side)
{
    const ViewSpec *view = view_now(s);
    int h = r->h - 2, w = r->w - 2;
    NodeId n = session_node(s, side, s->place.path);
    bool picture = session_input(s, SIDE_B)->kind == INPUT_PICTURE && n != NO_NODE;
    if (!view->least || h < AROUND_LINES)
        return;
    view->least(s, side, &h, &w);
    int spare = r->h - 2 - h, half = (r->h - 2) / 2;
    spare = spare < half ? spare : half;
    int profile = spare < PROFILE_LEAST ? 0 : spare < 2 * PROFILE_LEAST ? spare : PROFILE_LEAST;
    profile = profile < PROFILE_MOST ? profile : PROFILE_MOST;
    int heads = s->look.average || spare - profile < PROFILE_LEAST ? 0 : spare - profile;
    add_pane(f, &VIEW_OTHER_HEADS, rect_cut(r, 'b', heads < HEADS_MOST ? heads : HEADS_MOST), side, false, false);
    add_pane(f, &VIEW_PROFILE, rect_cut(r, 'b', profile), side, false, false);
    int wide = r->w - 2 - w, least = r->w * 2 / 5;
    wide = wide < least ? wide : least;
    if (view->beside && picture && wide >= BESIDE_LEAST)
        add_pane(f, view->beside, rect_cut(r, 'r', wide), side, false, false);
}

static void layout_main(const Session *s, Frame *f, Rect r, bool side_column, bool lesson)
{
    const ViewSpec *view = view_now(s);
    Side side = session_side(s);
    if (side_column && (!lesson || view->traits & VIEW_ATTENTION || side_answers(s, side))) {
        Rect column = rect_cut(&r, 'r', step_of(SIDE_WIDTH, r.w));
        layout_side_column(s, f, column, side, lesson);
    }
    if (view->below && !s->look.average) /* the same query in the block's other heads */
        add_pane(f, view->below, rect_cut(&r, 'b', step_of(BELOW_LINES, r.h)), side, false, false);
    if (view->below && r.h >= AROUND_LINES && session_input(s, side)->kind != INPUT_TEXT) /* words have their bars */
        add_pane(f, &VIEW_PROFILE, rect_cut(&r, 'b', PROFILE_LEAST), side, false, false);
    layout_around(s, f, &r, side);
    add_pane(f, view, r, side, !s->look.steps_focused, false);
}

Frame frame_layout(const Session *s, int h, int w, unsigned besides)
{
    Frame f = {0};
    Rect r = {0, 0, h, w};
    bool hint = besides & FRAME_HINT;
    f.footer = rect_cut(&r, 'b', besides & FRAME_CARD_BELOW ? 0 : step_of(FOOTER_LINES, h));
    f.answer = rect_cut(&r, 'b', step_of(ANSWER_LINES, h));
    f.sentence = rect_cut(&r, 'b', step_of(w < SENTENCE_WIDTH ? SENTENCE_LINES_NARROW : SENTENCE_LINES, h));
    f.header = rect_cut(&r, 't', step_of(HEADER_LINES, h));
    f.words = rect_cut(&r, 't', headline_lines(s, h));
    f.hint = rect_cut(&r, 't', hint && !s->edits.count ? step_of(HINT_LINES, h) : 0); /* A and B need the line */
    const ViewSpec *view = view_now(s);
    bool wide = view->traits & VIEW_WIDE;
    bool sides = s->compare == COMPARE_SIDES && session_compares(s) && view->sides == SIDES_PANES;
    if (s->look.zoomed || w < ONE_PANE_WIDTH || r.h < ONE_PANE_LINES) {
        bool map = s->look.steps_focused;
        add_pane(&f, map ? &VIEW_STEPS : view, r, session_side(s), true, map);
        return f;
    }
    if (s->look.steps_focused || w >= (sides || wide ? MAP_WIDTH_WIDE : MAP_WIDTH)) {
        Rect column = rect_cut(&r, 'l', step_of(STEPS_WIDTH, w));
        add_pane(&f, &VIEW_STEPS, column, session_side(s), s->look.steps_focused, true);
    }
    bool film = play_shows(s) && w >= MAP_WIDTH;
    Rect from = rect_cut(&r, 'l', film ? step_of(SIDE_WIDTH, r.w) : 0);
    if (sides)
        layout_sides(s, &f, r);
    else
        layout_main(s, &f, r, !film && !wide && !(view->traits & VIEW_TELLS) && w >= MAP_WIDTH, besides & FRAME_LESSON);
    add_pane(&f, &VIEW_PLAYED, from, session_side(s), false, false); /* after what it is lit by */
    return f;
}

void frame_needs(const Session *s, const Frame *f, Needs *out)
{
    for (int i = 0; i < f->count; i++) /* little, and it is seen how far the pass has come */
        if (f->pane[i].steps)
            steps_reached(s, f->pane[i].inside, out);
    for (int map = 0; map < 2; map++) /* the rest of the map waits for what the screen is about */
        for (int i = 0; i < f->count; i++)
            if (f->pane[i].view->needs && f->pane[i].steps == map)
                f->pane[i].view->needs(s, f->pane[i].side, f->pane[i].inside, out);
    needs_add(out, SIDE_A,
              shown_site(s, SIDE_A, SITE_PROBS)); /* the answer is always on screen; it comes last of all */
    needs_add(out, SIDE_B, shown_site(s, SIDE_B, SITE_PROBS));
    needs_add(out, SIDE_B, shown_site(s, SIDE_B, SITE_SEEN_DISTANCE)); /* what the answer is worth stands beside it */
}

static void put_input(const Input *in, int most, Buf *out)
{
    char name[512];
    if (most > 0 && utf8_cells(in->name) > most) { /* its end is in the panes; what comes after it is nowhere else */
        buf_puts(out, utf8_fit(name, sizeof name, in->name, most));
        return;
    }
    buf_printf(out, "%s%s%s%s", in->kind == INPUT_MATRICES ? "example " : "", in->name, in->label >= 0 ? " " : "",
               in->label >= 0 ? SHAPES_NAMES[in->label] : "");
}

static void header_head(const Session *s, bool ranges, Buf *out)
{
    int axis = session_role(s, ROLE_HEAD), heads = axis == AXIS_NONE ? 0 : session_base(s)->axes[axis].n;
    if (attention_over_heads(s, session_graph(s, SIDE_B), -1))
        buf_printf(out, "  %s of %d heads", s->look.average ? "mean" : "sum", heads);
    else
        buf_printf(out, "  head %d", session_head(s));
    if (ranges && !attention_over_heads(s, session_graph(s, SIDE_B), -1))
        buf_printf(out, " of 0–%d", heads - 1);
}

/* "block 1", "decoder 1 of 0–2, cross-attention": which of a block's attentions, where it has two. */
static void header_block(const Session *s, bool ranges, Buf *out)
{
    const Graph *g = session_graph(s, SIDE_B);
    const Part *block = anatomy_part(g, anatomy_block_of(g, s->place.path)),
               *own = anatomy_part(g, anatomy_of(g, s->place.path));
    buf_printf(out, "  %s %d", *block->stack ? block->stack : "block", block->block);
    if (ranges)
        buf_printf(out, " of 0–%d", session_blocks(s) - 1);
    if (*block->stack && own->kind == PART_ATTENTION)
        buf_printf(out, ", %s", own->word);
}

/* Program, model, picture, step, block, head, edits. A pinned picture stands in front of the one on show. words: the
 * input has lines of its own. brief 1: without how many blocks and heads there are; 2: without the pinned picture, or a
 * text's model and symbol, too. most: cells of the input's name; 0: all of it. */
static void header_text(const Session *s, bool named, bool words, int brief, int most, Buf *out)
{
    const char *model = s->now->model ? s->now->model->name : "";
    int total, step = session_step_number(s, &total), block = session_block(s);
    const Box *box = &s->stages.boxes[s->place.box];
    bool ranges = brief < 1, two = brief < 2 && session_pinned(s) &&
                                   strcmp(session_input(s, SIDE_A)->path, session_input(s, SIDE_B)->path) != 0;
    if (named)
        buf_printf(out, " vitrine  %s%s", model, *model && !words ? " " : "");
    else if (words && brief < 2)
        buf_printf(out, " %s", model);
    if (two && !words) {
        buf_puts(out, " A ");
        put_input(session_input(s, SIDE_A), most, out);
        buf_puts(out, "  B");
    }
    if (!words) {
        buf_puts(out, " ");
        put_input(session_input(s, SIDE_B), most, out);
    }
    buf_printf(out, "  step %d of %d: %s", step, total, box->label);
    if (*box->symbol && !(words && brief > 1))
        buf_printf(out, " (%s)", box->symbol);
    if (block >= 0)
        header_block(s, ranges, out);
    if (block >= 0 && on_attention(s))
        header_head(s, ranges, out);
    for (int i = 0; i < s->edits.count; i++)
        buf_printf(out, "%s%s", i ? "; " : "  edit: ", s->edits.line[i]);
}

static void draw_header(const Paint *p, Rect r, bool words)
{
    Buf text = {0};
    for (int brief = 0; brief == 0 || (brief < 3 && utf8_cells(buf_str(&text)) > r.w); brief++) {
        buf_clear(&text);
        header_text(p->s, r.w >= NAMED_WIDTH, words, brief, 0,
                    &text); /* on a small screen the step comes first: the model and the program are known */
    }
    int over = utf8_cells(buf_str(&text)) - r.w, name = utf8_cells(session_input(p->s, SIDE_B)->name);
    if (over > 0 && name > INPUT_LEAST && !words) {
        buf_clear(&text);
        header_text(p->s, r.w >= NAMED_WIDTH, false, 2, name - over > INPUT_LEAST ? name - over : INPUT_LEAST, &text);
    }
    canvas_fill(p->c, r, STYLE_HEADER, ' ');
    canvas_text(p->c, r.y, r.x, r.w, STYLE_HEADER, buf_str(&text));
    buf_free(&text);
}

const char *frame_sentence(const Session *s)
{
    if (view_now(s)->sentence)
        return view_now(s)->sentence;
    const Box *box = &s->stages.boxes[s->place.box];
    NodeId n = session_node(s, SIDE_B, s->place.path);
    const NodeText *t = NULL;
    if (n != NO_NODE && n != box->show) /* inside a step: the node's own sentence */
        t = node_text(s->place.path);
    return t ? t->sentence : stages_sentence(&s->stages, s->open, s->place.box);
}

static int footer_order(const Session *s, const KeyBinding **out, int most)
{
    int n = 0;
    const KeyBinding *k;
    for (int order = 1; order < 20; order++)
        for (int i = 0; (k = keymap_here(s, i)); i++) {
            if (k->footer != order || !keymap_in_force(s, k) || (k->when && !k->when(s)))
                continue;
            if (s->look.playing && !(k->traits & WHILE_PLAYING)) /* they would stop it, and nothing else */
                continue;
            if (n < most)
                out[n++] = k;
        }
    return n;
}

/* What a key is called: a lesson has some of them. "": its card names it. */
static const char *footer_label(const Frame *f, const KeyBinding *k)
{
    static const struct {
        const char *key, *label;
    } LESSON[] = {{"p", ""}, {"Backspace", "card before"}, {"?", "words"}};
    if (f->space && strcmp(k->key, "Space") == 0)
        return f->space;
    for (size_t i = 0; f->space && i < sizeof LESSON / sizeof *LESSON; i++)
        if (strcmp(k->key, LESSON[i].key) == 0)
            return *f->space ? LESSON[i].label : "";
    return k->label;
}

/* Where each footer entry stands; the same walk draws and answers clicks. */
static bool footer_walk(const Paint *p, const Frame *f, Rect r, bool draw, int click_x, const KeyBinding **hit)
{
    const KeyBinding *keys[24];
    int n = footer_order(p->s, keys, 24), x = r.x + 1;
    const char *help = n ? footer_label(f, keys[n - 1]) : "";
    int help_width = *help ? utf8_cells(key_text(keys[n - 1]->key)) + 1 + utf8_cells(help) : 0;
    for (int i = 0; i < n; i++) {
        const char *text = key_text(keys[i]->key), *label = footer_label(f, keys[i]);
        if (!*label)
            continue;
        if (p->c->ascii && strcmp(keys[i]->key, "Up") == 0)
            text = "arrows";
        if (p->c->ascii && strcmp(keys[i]->key, "Backspace") == 0)
            text = "Bksp";
        int kw = utf8_cells(text), lw = utf8_cells(label) + (p->c->ascii && strstr(label, "√") ? 3 : 0);
        bool last = i == n - 1, arrows = strcmp(label, "move") == 0;
        if (arrows && r.w < NARROW)
            continue; /* that arrows move is the first thing anybody tries: the room is for what nobody can guess */
        if (!last && x + kw + 1 + lw + 2 + help_width > r.x + r.w)
            continue; /* help always has its place */
        if (x + kw + 1 + lw > r.x + r.w)
            return false;
        if (draw) {
            canvas_text(p->c, r.y, x, kw, STYLE_KEY, text);
            canvas_text(p->c, r.y, x + kw + 1, lw, STYLE_KEY_TEXT, label);
        } else if (click_x >= x && click_x < x + kw + 1 + lw) {
            *hit = keys[i];
            return true;
        }
        x += kw + 1 + lw + 2;
    }
    return false;
}

/* Where two runs exist and one is shown, the main pane says which. */
static const char *main_label(const Session *s, const Pane *pane)
{
    static const char *const LABELS[] = {[SIDE_A] = "A", [SIDE_B] = "B", [SIDE_DIFF] = "A − B"};
    const ViewSpec *view = view_now(s);
    return session_compares(s) && view->sides != SIDES_TOGETHER && pane->view == view ? LABELS[pane->side] : NULL;
}

/* A narrow screen has two lines for it. A message takes from the panes above what it needs, half the screen at most:
 * what to do about it often stands at its end. */
static void draw_sentence(const Paint *p, Rect r, const FrameState *state)
{
    bool message = state->message && *state->message;
    Style style = message && state->message_is_error ? STYLE_ERROR : message ? STYLE_STRONG : STYLE_SENTENCE;
    const char *text = message ? state->message : frame_sentence(p->s);
    int rows = message && r.h ? canvas_wrap_rows(p->c, r.w - 1, text) : r.h;
    if (rows > r.h) {
        rows = rows > p->c->h / 2 ? p->c->h / 2 : rows;
        r.y -= rows - r.h;
        r.h = rows;
        canvas_fill(p->c, r, STYLE_TEXT, ' ');
    }
    rect_cut(&r, 'l', 1);
    if (r.h > 1)
        canvas_wrap(p->c, r, style, text);
    else if (r.h)
        canvas_text(p->c, r.y, r.x, r.w, style, text);
}

/* For somebody new: the ways on from here. */
static const char *hint_text(const Session *s, int width)
{
    if (session_words(s, SIDE_B))
        return width >= HINT_LONG
                   ? "One real run of a small Transformer, every number computed here. Space: what happens next. "
                     "t: lesson 16, how it reads and writes."
               : width >= HINT_SHORT ? "One real run of a Transformer. Space: what happens next. t: lesson 16."
                                     : "A real run of a Transformer. t: lesson 16.";
    if (scale_places_door(s))
        return width >= HINT_LONG ? "One real run of a small Vision Transformer: walk (Space) or play it (.) · what "
                                    "does √d_k do (s) · "
                                    "lesson 0 (t)"
               : width >= HINT_SHORT ? "Walk through it (Space), play it (.) · what does √d_k do (s) · lesson 0 (t)"
                                     : "walk on (Space) · what is √d_k (s) · lesson 0 (t)";
    return width >= HINT_LONG ? "One real run of a Vision Transformer, every number computed here: walk on (Space) · "
                                "lesson 0 (t) · tasks and keys (?)"
           : width >= HINT_SHORT ? "One real run, every number computed here: walk on (Space) · lesson 0 (t)"
                                 : "walk on (Space) · lesson 0 (t) · tasks, keys (?)";
}

/* Cuts what is said last off a title: what stands behind a comma, in brackets, or the last word. */
static bool shorten(char *title)
{
    char *cut = NULL, *bracket = strchr(title, '[');
    for (char *p = title; *p && p != bracket; p++)
        cut = *p == ',' ? p : cut;
    cut = cut ? cut : bracket ? bracket : strrchr(title, ' ');
    if (!cut || cut == title)
        return false;
    do
        *cut = 0;
    while (--cut > title && *cut == ' ');
    return true;
}

/* A title has a line for each of its forms, each shorter than the one before: the first that fits, or what does of the
 * last. */
static void fit_title(const char *forms, int room, char out[TITLE_BYTES])
{
    for (size_t n;; forms += n + 1) {
        n = strcspn(forms, "\n");
        utf8_take(out, TITLE_BYTES, forms, n);
        if (utf8_cells(out) <= room || !forms[n])
            break;
    }
    while (utf8_cells(out) > room && shorten(out))
        continue;
}

void frame_pane(Paint *p, const Pane *pane)
{
    view_draw(pane->view, p, pane->inside, pane->side, pane->focus);
    if (!play_shows(p->s) || pane->view == &VIEW_PLAYED)
        return;
    Ref written = played_hide(p, pane->inside, pane->side);
    if (written.run && (pane->focus || !p->written.run))
        p->written = written;
}

void frame_draw(const Paint *paint, const Frame *f, const FrameState *state)
{
    Paint own = *paint, *p = &own;
    Canvas *c = p->c;
    if (f->header.h)
        draw_header(p, f->header, f->words.h > 0);
    headline_draw(p, f->words);
    if (f->hint.h)
        canvas_text(c, f->hint.y, f->hint.x + 1, f->hint.w - 1, STYLE_STRONG, hint_text(p->s, f->hint.w));
    for (int i = 0; i < f->count; i++) {
        const Pane *pane = &f->pane[i];
        Buf forms = {0};
        char title[TITLE_BYTES], label[16] = "";
        const char *side = pane->label ? pane->label : main_label(p->s, pane);
        if (side)
            snprintf(label, sizeof label, "%s  ", side);
        if (pane->view->title)
            pane->view->title(p->s, pane->side, &forms);
        fit_title(buf_str(&forms), pane->box.w - 4 - utf8_cells(label), title);
        buf_clear(&forms);
        buf_printf(&forms, "%s%s", label, title);
        canvas_box(c, pane->box, buf_str(&forms), pane->focus);
        buf_free(&forms);
        frame_pane(p, pane);
    }
    draw_sentence(p, f->sentence, state);
    if (f->answer.h)
        answer_line(p, f->answer.y, f->answer.x, f->answer.w);
    if (f->footer.h) {
        int status = state->status ? utf8_cells(state->status) : 0;
        Rect keys = f->footer;
        if (f->leave.w) {
            canvas_text(c, f->leave.y, f->leave.x, 1, STYLE_KEY, "q");
            canvas_text(c, f->leave.y, f->leave.x + 2, f->leave.w - 2, STYLE_KEY_TEXT, f->leave_text);
        }
        if (status && keys.w > STATUS_WIDTH + status) {
            keys.w -= status + 2;
            canvas_right(c, f->footer.y, f->footer.x, f->footer.w - 1, STYLE_DIM, state->status);
        }
        footer_walk(p, f, keys, true, 0, NULL);
    }
}

const KeyBinding *frame_key(const Paint *p, const Frame *f, int y, int x)
{
    const KeyBinding *hit = NULL;
    return f->footer.h && rect_has(f->footer, y, x) && footer_walk(p, f, f->footer, false, x, &hit) ? hit : NULL;
}

void frame_leave(Frame *f, const char *text)
{
    f->leave_text = text;
    f->leave = rect_cut(&f->footer, 'r', f->footer.w > LEAVE_LEAST ? utf8_cells(text) + 3 : 0);
}

bool frame_click(const Paint *p, const Frame *f, int y, int x, Buf *command)
{
    if (rect_has(f->leave, y, x)) {
        buf_puts(command, "close");
        return true;
    }
    const KeyBinding *hit = frame_key(p, f, y, x);
    if (hit) {
        buf_puts(command, hit->command);
        return true;
    }
    if (headline_click(p, f->words, y, x, command))
        return true;
    for (int i = 0; i < f->count; i++) {
        const Pane *pane = &f->pane[i];
        if (rect_has(pane->inside, y, x))
            return view_click(pane->view, p, pane->inside, pane->side, y, x, command);
    }
    return false;
}

bool frame_wheel(const Frame *f, int y, int x, int by, Buf *command)
{
    for (int i = 0; i < f->count; i++)
        if (rect_has(f->pane[i].box, y, x)) {
            if (f->pane[i].steps)
                buf_puts(command, by > 0 ? "next" : "prev");
            else
                buf_printf(command, "move %s", by > 0 ? "down" : "up");
            return true;
        }
    return false;
}
