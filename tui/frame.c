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
#include "tui/views/text/headline.h"

enum {
    TITLE_BYTES = 512,
    NAMED_WIDTH = 100,  /* the header begins with program and model */
    STATUS_WIDTH = 100, /* the footer has room for the status */
    HINT_LONG = 115,
    HINT_SHORT = 80,
    INPUT_LEAST = 16, /* cells of a sentence's name in the header */
    NARROW = 100,     /* below that the footer keeps what can't be guessed */
    LEAVE_LEAST = 40  /* columns of a footer that has room for what q does */
};

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

/* What stands outside the forward pass, in another block than the step on the map: a rollout is no step. NULL: none. */
static const Node *header_probe(const Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    const NodeId n = session_node(s, SIDE_B, s->place.path), show = s->stages.boxes[s->place.box].show;
    if (n == NO_NODE || show == NO_NODE || !(graph_node(g, n)->flags & NODE_PROBE))
        return NULL;
    return anatomy_block_of(g, s->place.path) != anatomy_block_of(g, graph_node(g, show)->path) ? graph_node(g, n)
                                                                                                : NULL;
}

/* Program, model, picture, step, block, head, edits. A pinned picture stands in front of the one on show. words: the
 * input has lines of its own. brief 1: without how many blocks and heads there are; 2: without the pinned picture, or a
 * text's symbol, too; 3: without the symbol, or a text's model. most: cells of the input's name; 0: all of it. */
static void header_text(const Session *s, bool named, bool words, int brief, int most, Buf *out)
{
    const char *model = s->now->model ? s->now->model->name : "";
    int total, step = session_step_number(s, &total), block = session_block(s);
    const Box *box = &s->stages.boxes[s->place.box];
    bool ranges = brief < 1, two = brief < 2 && session_pinned(s) &&
                                   strcmp(session_input(s, SIDE_A)->path, session_input(s, SIDE_B)->path) != 0;
    if (named)
        buf_printf(out, " vitrine  %s%s", model, *model && !words ? " " : "");
    else if (words && brief < 3)
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
    const Node *probe = header_probe(s);
    if (probe)
        buf_printf(out, "%s %s", out->len ? " " : "", node_name(probe));
    else
        buf_printf(out, "%s step %d of %d: %s", out->len ? " " : "", step, total, box->label);
    const bool run = session_compares(s) && strchr(box->symbol, 'A'); /* A is a run there, no matrix */
    if (!probe && *box->symbol && !run && brief < (words ? 2 : 3))
        buf_printf(out, " (%s)", box->symbol);
    if (block >= 0)
        header_block(s, ranges, out);
    const bool heads = !probe ||
                       node_role(session_graph(s, SIDE_B), session_node(s, SIDE_B, s->place.path), ROLE_HEAD) !=
                           AXIS_NONE ||
                       attention_over_heads(s, session_graph(s, SIDE_B), -1);
    if (block >= 0 && heads && screen_now(s)->group == GROUP_ATTENTION)
        header_head(s, ranges, out);
    for (int i = 0; i < s->edits.count; i++)
        buf_printf(out, "%s%s", i ? "; " : "  edit: ", s->edits.line[i]);
}

static void draw_header(const Paint *p, Rect r, bool words, const char *follows)
{
    Buf text = {0};
    int cells = follows ? utf8_cells(follows) : 0;
    if (cells) {
        Rect end = rect_cut(&r, 'r', cells + 2 < r.w / 2 ? cells + 2 : r.w / 2);
        canvas_fill(p->c, end, STYLE_SELECTED, ' ');
        canvas_text(p->c, end.y, end.x + 1, end.w - 1, STYLE_SELECTED, follows);
    }
    for (int brief = 0; brief == 0 || (brief < 4 && utf8_cells(buf_str(&text)) > r.w); brief++) {
        buf_clear(&text);
        header_text(p->s, r.w >= NAMED_WIDTH, words, brief, 0,
                    &text); /* on a small screen the step comes first: the model and the program are known */
    }
    int over = utf8_cells(buf_str(&text)) - r.w, name = utf8_cells(session_input(p->s, SIDE_B)->name);
    if (over > 0 && name > INPUT_LEAST && !words) {
        buf_clear(&text);
        header_text(p->s, r.w >= NAMED_WIDTH, false, 3, name - over > INPUT_LEAST ? name - over : INPUT_LEAST, &text);
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
    return t ? node_words(session_graph(s, SIDE_B), t->sentence) : stages_sentence(&s->stages, s->open, s->place.box);
}

static int footer_order(const Session *s, const KeyBinding **out, int most)
{
    int n = 0;
    const KeyBinding *k;
    for (int order = 1; order < 20; order++)
        for (int i = 0; (k = keymap_here(s, i)); i++) {
            if (k->footer != order || !keymap_in_force(s, k) || (k->when && !k->when(s)))
                continue;
            if (s->look.playing && !(k->traits & WHILE_PLAYING)) /* its own are few; the others stop it first */
                continue;
            if (n < most)
                out[n++] = k;
        }
    return n;
}

/* What the footer calls a key; a lesson calls some by other names. "": its card names it. */
static const char *footer_label(const Frame *f, const KeyBinding *k)
{
    static const struct {
        const char *key, *label;
    } LESSON[] = {{"p", ""}, {".", ""}, {"Backspace", "card before"}, {"?", "words"}};
    if (f->space && strcmp(k->key, "Space") == 0)
        return f->space;
    for (size_t i = 0; f->space && i < sizeof LESSON / sizeof *LESSON; i++)
        if (strcmp(k->key, LESSON[i].key) == 0)
            return *f->space ? LESSON[i].label : "";
    return k->label;
}

/* Where each footer entry stands; the same walk draws and answers clicks. *end: the column behind the last one. */
static bool footer_walk(const Paint *p, const Frame *f, Rect r, bool draw, int click_x, const KeyBinding **hit,
                        int *end)
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
        const bool plays = strcmp(label, "play") == 0 && session_compares(p->s); /* what compares them comes first */
        if ((arrows || plays) && r.w < NARROW)
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
        *end = x + kw + 1 + lw;
        x = *end + 2;
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

/* What a node is, but nothing is learned by a model that nobody has trained. */
static void put_sentence(const Session *s, const char *text, Buf *out)
{
    static const char LEARNED[] = "Learned: ";
    const size_t skip = s->now->model && !s->now->model->trained && strncmp(text, LEARNED, sizeof LEARNED - 1) == 0
                            ? sizeof LEARNED - 1
                            : 0;
    buf_putc(out, skip && text[skip] >= 'a' && text[skip] <= 'z' ? (char)(text[skip] - 'a' + 'A') : text[skip]);
    buf_puts(out, *text ? text + skip + 1 : "");
}

/* A narrow screen has two lines for it. A message takes from the panes above what it needs, half the screen at most:
 * what to do about it often stands at its end. */
static void draw_sentence(const Paint *p, Rect r, const FrameState *state)
{
    bool message = state->message && *state->message;
    Style style = message && state->message_is_error ? STYLE_ERROR : message ? STYLE_STRONG : STYLE_SENTENCE;
    Buf sentence = {0};
    if (!message)
        put_sentence(p->s, frame_sentence(p->s), &sentence);
    const char *text = message ? state->message : buf_str(&sentence);
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
    buf_free(&sentence);
}

/* For somebody new: the ways on from here. */
static const char *hint_text(const Session *s, int width)
{
    if (model_way(s->now->model) == MODEL_WRITES) /* desk_lists.c: first_lesson */
        return width >= HINT_LONG ? "One real run, every number computed here: walk on (Space) · write (:decode) · "
                                    "another text (o) · lesson 26 (t)"
               : width >= HINT_SHORT ? "Walk on (Space) · let it write (:decode) · another text (o) · lesson 26 (t)"
                                     : "walk on (Space) · write (:decode) · lesson 26 (t)";
    if (session_words(s, SIDE_B))
        return width >= HINT_LONG    ? "One real run of a small Transformer, every number computed here. Space: what "
                                       "happens next. t: lesson 16, how it reads and writes."
               : width >= HINT_SHORT ? "One real run of a Transformer. Space: what happens next. t: lesson 16."
                                     : "A real run of a Transformer. t: lesson 16.";
    if (scale_places_door(s))
        return width >= HINT_LONG ? "One real run of a small Vision Transformer: walk (Space) or play it (.) · what "
                                    "does √d_k do (s) · lesson 0 (t)"
               : width >= HINT_SHORT ? "Walk through it (Space), play it (.) · what does √d_k do (s) · lesson 0 (t)"
                                     : "walk on (Space) · what is √d_k (s) · lesson 0 (t)";
    return width >= HINT_LONG ? "One real run of a Vision Transformer, every number computed here: walk on (Space) · "
                                "lesson 0 (t) · tasks and keys (?)"
           : width >= HINT_SHORT ? "One real run, every number computed here: walk on (Space) · lesson 0 (t)"
                                 : "walk on (Space) · lesson 0 (t) · tasks, keys (?)";
}

/* Shortens a title from its end: cuts what follows a comma, what is in brackets, or the last word. */
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

/* A title has a line for each of its forms, the longest first: takes the first that fits, or as much of the last as
 * does. */
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
    Ref written = played_hide(p, pane->inside, pane->side, pane->view == &VIEW_PROFILE);
    if (written.run && (pane->focus || !p->written.run))
        p->written = written;
}

void frame_draw(const Paint *paint, const Frame *f, const FrameState *state)
{
    Paint own = *paint, *p = &own;
    Canvas *c = p->c;
    if (f->header.h)
        draw_header(p, f->header, f->words.h > 0, state->follows);
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
        if (pane->view->title_in)
            pane->view->title_in(p, pane->inside, pane->side, &forms);
        else if (pane->view->title)
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
        const int status = state->status ? utf8_cells(state->status) : 0;
        int end = f->footer.x;
        if (f->leave.w) {
            canvas_text(c, f->leave.y, f->leave.x + 1, 1, STYLE_KEY, "q");
            canvas_text(c, f->leave.y, f->leave.x + 3, f->leave.w - 3, STYLE_KEY_TEXT, f->leave_text);
        }
        footer_walk(p, f, f->footer, true, 0, NULL, &end);
        if (status && f->footer.w > STATUS_WIDTH + status && end + status + 3 < f->footer.x + f->footer.w) /* last */
            canvas_right(c, f->footer.y, f->footer.x, f->footer.w - 1, STYLE_DIM, state->status);
    }
}

const KeyBinding *frame_key(const Paint *p, const Frame *f, int y, int x)
{
    const KeyBinding *hit = NULL;
    int end;
    return f->footer.h && rect_has(f->footer, y, x) && footer_walk(p, f, f->footer, false, x, &hit, &end) ? hit : NULL;
}

void frame_leave(Frame *f, const char *text)
{
    f->leave_text = text;
    f->leave = rect_cut(&f->footer, 'r', f->footer.w > LEAVE_LEAST ? utf8_cells(text) + 4 : 0);
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
