#include "tui/frame.h"

#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/drawn.h"
#include "core/models/names.h"
#include "tui/keymap.h"
#include "tui/views/answer.h"

/* The longest sentence with its margin: a narrower screen wraps it. Below NARROW the footer keeps what can't be
 * guessed. */
enum { SENTENCE_WIDTH = 78, NARROW = 70, FOOTER_ARROWS = 2 };

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
    Screen screen = s->place.screen;
    return screen == SCREEN_SHEET || screen == SCREEN_MATRIX || screen == SCREEN_ROW;
}

/* What was learned, measured over many pictures: these screens need the width, and have their own figures. */
static bool on_learned(const Session *s)
{
    return s->place.screen >= SCREEN_TRAINING;
}

/* A record of training and a measurement over many pictures have no other side, blanks stand beside the truth, and the
 * laboratory has both sides in one table. */
static bool shows_both(const Session *s)
{
    Screen screen = s->place.screen;
    return screen == SCREEN_TRAINING || screen == SCREEN_BLANKS || screen == SCREEN_SCALE || screen == SCREEN_CENSUS;
}

/* A, B and A − B in three columns; below each its figures (attention) and its answer. */
static void layout_sides(const Session *s, Frame *f, Rect r)
{
    bool focus = !s->look.steps_focused, figures = on_attention(s);
    /* on a small screen the picture of attention comes first: the answer of both sides has its line below anyway */
    int answers = s->place.screen == SCREEN_ANSWER || r.h < 16 ? 0 : r.h >= 34 ? 12 : figures && r.h < 24 ? 0 : 6;
    int rows = figures && r.h >= 16 ? (r.h >= 34 ? 8 : 5) : 0;
    static const Side SIDES[] = {SIDE_A, SIDE_B, SIDE_DIFF};
    static const char *const LABELS[] = {"A", "B", "A − B"};
    for (int i = 0; i < 3; i++) {
        Rect column = rect_cut(&r, 'l', r.w / (3 - i));
        Rect answer = rect_cut(&column, 'b', answers), figure = rect_cut(&column, 'b', rows);
        add_pane(f, view_of(s->place.screen), column, SIDES[i], focus && i == 1, false);
        f->pane[f->count - 1].label = LABELS[i];
        add_pane(f, &VIEW_FIGURES, figure, SIDES[i], false, false);
        add_pane(f, &VIEW_ANSWER, answer, SIDES[i], false, false);
    }
}

static void layout_side_column(const Session *s, Frame *f, Rect r, Side side)
{
    bool answers = s->place.screen != SCREEN_ANSWER && session_node(s, side, "probs") != NO_NODE;
    if (on_attention(s)) {
        Rect info = rect_cut(&r, 'b', r.h >= 40 ? 12 : r.h >= 30 ? 9 : 0);
        Rect answer = rect_cut(&r, 'b', answers && r.h >= 26 ? 8 : 0);
        Rect cursor = rect_cut(&r, 'b',
                               r.h < 16 ? 0
                               : session_compares(s)
                                   ? 9
                                   : 7); /* the node, its value or both and A − B, head, both tokens */
        add_pane(f, &VIEW_ROW_TOP, r, side, false, false);
        add_pane(f, &VIEW_CURSOR, cursor, side, false, false);
        add_pane(f, &VIEW_ANSWER, answer, side, false, false);
        add_pane(f, &VIEW_STEP_INFO, info, side, false, false);
        return;
    }
    Rect answer = rect_cut(&r, 't', answers && r.h >= 12 ? (r.h >= 30 ? 13 : r.h / 3) : 0);
    Rect cursor = rect_cut(&r, 'b', r.h >= 10 ? (r.h >= 26 ? 10 : r.h / 2) : 0);
    add_pane(f, &VIEW_ANSWER, answer, side, false, false);
    add_pane(f, &VIEW_STEP_INFO, r, side, false, false);
    add_pane(f, &VIEW_CURSOR, cursor, side, false, false);
}

static void layout_main(const Session *s, Frame *f, Rect r, bool side_column)
{
    Side side = session_side(s);
    if (side_column) {
        Rect column = rect_cut(&r, 'r', r.w >= 150 ? 44 : r.w >= 90 ? 32 : 20);
        layout_side_column(s, f, column, side);
    }
    if (s->place.screen == SCREEN_ROW && r.h >= 20 &&
        !s->look.average) { /* the same query in the block's other heads */
        Rect heads = rect_cut(&r, 'b', r.h >= 50 ? 17 : r.h >= 30 ? 12 : 7);
        add_pane(f, &VIEW_HEADS, heads, side, false, false);
    }
    add_pane(f, view_of(s->place.screen), r, side, !s->look.steps_focused, false);
}

Frame frame_layout(const Session *s, int h, int w, bool hint)
{
    Frame f = {0};
    Rect r = {0, 0, h, w};
    f.footer = rect_cut(&r, 'b', h >= 4 ? 1 : 0);
    f.answer = rect_cut(&r, 'b', h >= 6 ? 1 : 0);
    f.sentence = rect_cut(&r, 'b', h < 5 ? 0 : h >= 12 && w < SENTENCE_WIDTH ? 2 : 1);
    f.header = rect_cut(&r, 't', h >= 8 ? 1 : 0);
    f.hint = rect_cut(&r, 't', hint && h >= 18 ? 1 : 0);
    bool explain = s->place.screen == SCREEN_EXPLAIN, study = on_learned(s);
    bool one = explain || (study && shows_both(s));
    bool sides = s->compare == COMPARE_SIDES && session_compares(s) && !one;
    if (s->look.zoomed || w < 40 || r.h < 6) {
        if (s->look.steps_focused)
            add_pane(&f, &VIEW_STEPS, r, session_side(s), true, true);
        else
            add_pane(&f, view_of(s->place.screen), r, session_side(s), true, false);
        return f;
    }
    bool steps = s->look.steps_focused || (w >= 76 && !(w < 110 && (sides || explain || study)));
    if (steps) {
        Rect column = rect_cut(&r, 'l', w >= 180 ? 40 : w >= 110 ? 28 : 18);
        add_pane(&f, &VIEW_STEPS, column, session_side(s), s->look.steps_focused, true);
    }
    if (sides)
        layout_sides(s, &f, r);
    else
        layout_main(s, &f, r, !explain && !study && w >= 76);
    return f;
}

void frame_needs(const Session *s, const Frame *f, Needs *out)
{
    for (int i = 0; i < f->count; i++)
        if (f->pane[i].view->needs)
            f->pane[i].view->needs(s, f->pane[i].side, f->pane[i].inside, out);
    needs_add(out, SIDE_A, "probs"); /* the answer is always on screen; it comes last of all */
    needs_add(out, SIDE_B, "probs");
}

static void put_input(const Input *in, Buf *out)
{
    buf_printf(out, "%s%s%s", in->name, in->label >= 0 ? " " : "", in->label >= 0 ? SHAPES_NAMES[in->label] : "");
}

/* Program, model, picture, step, block, head, edits. A pinned picture stands in front of the one on show. brief 1:
 * without how many blocks and heads there are; 2: without the pinned picture too. */
static void header_text(const Session *s, bool named, int brief, Buf *out)
{
    int total, step = session_step_number(s, &total), block = session_block(s);
    const Box *box = &s->stages.boxes[s->place.box];
    bool ranges = brief < 1, two = brief < 2 && session_pinned(s) &&
                                   strcmp(session_input(s, SIDE_A)->path, session_input(s, SIDE_B)->path) != 0;
    if (named)
        buf_printf(out, " vitrine  %s ", s->model.name);
    buf_puts(out, two ? " A " : " ");
    if (two) {
        put_input(session_input(s, SIDE_A), out);
        buf_puts(out, "  B ");
    }
    put_input(session_input(s, SIDE_B), out);
    buf_printf(out, "  step %d of %d: %s", step, total, box->label);
    if (*box->symbol)
        buf_printf(out, " (%s)", box->symbol);
    if (block >= 0)
        buf_printf(out, "  block %d", block);
    if (block >= 0 && ranges)
        buf_printf(out, " of 0–%d", session_blocks(s) - 1);
    if (block >= 0 && on_attention(s) && s->look.average)
        buf_printf(out, "  mean of %d heads", session_heads(s));
    else if (block >= 0 && on_attention(s))
        buf_printf(out, "  head %d", session_head(s));
    if (block >= 0 && on_attention(s) && !s->look.average && ranges)
        buf_printf(out, " of 0–%d", session_heads(s) - 1);
    for (int i = 0; i < s->edits.count; i++)
        buf_printf(out, "%s%s", i ? "; " : "  edit: ", s->edits.line[i]);
}

static void draw_header(const Paint *p, Rect r)
{
    Buf text = {0};
    for (int brief = 0; brief == 0 || (brief < 3 && utf8_cells(buf_str(&text)) > r.w); brief++) {
        buf_clear(&text);
        header_text(p->s, r.w >= 100, brief,
                    &text); /* on a small screen the step comes first: the model and the program are known */
    }
    canvas_fill(p->c, r, STYLE_HEADER, ' ');
    canvas_text(p->c, r.y, r.x, r.w, STYLE_HEADER, buf_str(&text));
    buf_free(&text);
}

/* What a screen of on_learned is about, at most 76 cells. That of blanks is a step like any other. */
static const char *const LEARNED[SCREEN_COUNT] = {
    [SCREEN_TRAINING] = "What training left behind, snapshot by snapshot, recorded while it ran.",
    [SCREEN_FILTERS] = "What each number of a patch's vector looks for in its pixels, as a picture.",
    [SCREEN_HEADS] = "How far every head looks in this picture, and how evenly.",
    [SCREEN_WHERE] = "Four answers to where it looked; a known object tells them apart.",
    [SCREEN_LENS] = "What the model would answer if it ended here, block by block.",
    [SCREEN_SCALE] = "Softmax sees scores times this factor: small makes rows even, large sharp.",
    [SCREEN_CENSUS] = "Every head switched off in turn: how many more pictures are named wrong.",
};

static const char *sentence_of(const Session *s)
{
    if (on_learned(s) && LEARNED[s->place.screen])
        return LEARNED[s->place.screen];
    static const char *const STUDIES[SCREEN_COUNT] = {
        /* of the screen as a whole, where no node's own fits */
        [SCREEN_TRAINING] = "How alike the places of patches are, from the first step to the last.",
        [SCREEN_HEADS] = "Local heads look near the patch that asks, global ones at all of the picture.",
    };
    if (STUDIES[s->place.screen])
        return STUDIES[s->place.screen];
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
    for (int order = 1; order < 20; order++)
        for (int i = 0; keymap_at(i); i++) {
            const KeyBinding *k = keymap_at(i);
            bool heads = k->command[0] == 'h' && k->command[1] == 'e' &&
                         k->command[2] == 'a'; /* head: only where there are heads */
            if (k->footer != order || (k->screens && !(k->screens & (1u << s->place.screen))) ||
                (heads && !on_attention(s) && s->place.screen != SCREEN_SCALE) ||
                (strcmp(k->command, "compare next") == 0 && !session_compares(s)) ||
                (strcmp(k->command, "undo") == 0 && !s->undo_count) ||
                (strncmp(k->command, "block", 5) == 0 && session_block(s) < 0))
                continue;
            if (n < most)
                out[n++] = k;
        }
    return n;
}

/* Where each footer entry stands; the same walk draws and answers clicks. */
static bool footer_walk(const Paint *p, Rect r, bool draw, int click_x, const KeyBinding **hit)
{
    const KeyBinding *keys[24];
    int n = footer_order(p->s, keys, 24), x = r.x + 1;
    const KeyBinding *help = n ? keys[n - 1] : NULL;
    int help_width = help ? utf8_cells(key_text(help->key)) + 1 + utf8_cells(help->label) : 0;
    for (int i = 0; i < n; i++) {
        const char *text = key_text(keys[i]->key);
        if (p->c->ascii && strcmp(keys[i]->key, "Up") == 0)
            text = "arrows";
        if (p->c->ascii && strcmp(keys[i]->key, "Backspace") == 0)
            text = "Bksp";
        int kw = utf8_cells(text),
            lw = utf8_cells(keys[i]->label) + (p->c->ascii && strstr(keys[i]->label, "√") ? 3 : 0);
        bool last = i == n - 1, arrows = keys[i]->footer == FOOTER_ARROWS;
        if (arrows && r.w < NARROW)
            continue; /* that arrows move is the first thing anybody tries: the room is for what nobody can guess */
        if (!last && x + kw + 1 + lw + 2 + help_width > r.x + r.w)
            continue; /* help always has its place */
        if (x + kw + 1 + lw > r.x + r.w)
            return false;
        if (draw) {
            canvas_text(p->c, r.y, x, kw, STYLE_KEY, text);
            canvas_text(p->c, r.y, x + kw + 1, lw, STYLE_KEY_TEXT, keys[i]->label);
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
    return session_compares(s) && !shows_both(s) && pane->view == view_of(s->place.screen) ? LABELS[pane->side] : NULL;
}

/* A narrow screen has two lines for it. */
static void draw_sentence(const Paint *p, Rect r, const FrameState *state)
{
    bool message = state->message && *state->message;
    Style style = message && state->message_is_error ? STYLE_ERROR : message ? STYLE_STRONG : STYLE_SENTENCE;
    const char *text = message ? state->message : sentence_of(p->s);
    rect_cut(&r, 'l', 1);
    if (r.h > 1)
        canvas_wrap(p->c, r, style, text);
    else if (r.h)
        canvas_text(p->c, r.y, r.x, r.w, style, text);
}

/* For somebody new, who begins at the first step or at a row of attention. */
static const char *hint_text(const Session *s, int width)
{
    int total;
    if (session_step_number(s, &total) > 1)
        return width >= 115 ? "This is one real run of a small Vision Transformer. s: take 1/√d_k away and see why it "
                              "is there. g: from the pixels on."
               : width >= 80 ? "A real run of a Vision Transformer. s: take 1/√d_k away. g: from the pixels on."
                             : "A real run. s: take 1/√d_k away. g: to the pixels.";
    return width >= 115 ? "This is one real run of a small Vision Transformer, every number computed here. Space: what "
                          "happens first. ?: help."
           : width >= 80 ? "One real run of a small Vision Transformer. Space: what happens first. ?: help."
                         : "A real run of a Vision Transformer. Space: next. ?: help.";
}

void frame_draw(const Paint *p, const Frame *f, const FrameState *state)
{
    Canvas *c = p->c;
    if (f->header.h)
        draw_header(p, f->header);
    if (f->hint.h)
        canvas_text(c, f->hint.y, f->hint.x + 1, f->hint.w - 1, STYLE_STRONG, hint_text(p->s, f->hint.w));
    for (int i = 0; i < f->count; i++) {
        const Pane *pane = &f->pane[i];
        Buf title = {0};
        const char *label = pane->label ? pane->label : main_label(p->s, pane);
        if (label)
            buf_printf(&title, "%s  ", label);
        if (pane->view->title)
            pane->view->title(p->s, pane->side, &title);
        canvas_box(c, pane->box, buf_str(&title), pane->focus);
        buf_free(&title);
        Rect old = canvas_clip(c, pane->inside);
        if (pane->inside.h > 0 && pane->inside.w > 0)
            pane->view->draw(p, pane->inside, pane->side, pane->focus);
        c->clip = old;
    }
    draw_sentence(p, f->sentence, state);
    if (f->answer.h)
        answer_line(p, f->answer.y, f->answer.x, f->answer.w);
    if (f->footer.h) {
        int status = state->status ? utf8_cells(state->status) : 0;
        Rect keys = f->footer;
        if (status && keys.w > 100 + status) {
            keys.w -= status + 2;
            canvas_right(c, f->footer.y, f->footer.x, f->footer.w - 1, STYLE_DIM, state->status);
        }
        footer_walk(p, keys, true, 0, NULL);
    }
}

bool frame_click(const Paint *p, const Frame *f, int y, int x, Buf *command)
{
    const KeyBinding *hit = NULL;
    if (f->footer.h && rect_has(f->footer, y, x) && footer_walk(p, f->footer, false, x, &hit) && hit) {
        buf_puts(command, hit->command);
        return true;
    }
    for (int i = 0; i < f->count; i++) {
        const Pane *pane = &f->pane[i];
        if (rect_has(pane->inside, y, x))
            return pane->view->click && pane->view->click(p, pane->inside, pane->side, y, x, command);
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
