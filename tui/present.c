#include "tui/present.h"

#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/play.h"
#include "core/session/screens.h"
#include "tui/canvas/letters.h"
#include "tui/views/shown.h"

enum {
    ROW_HEIGHT = 30,   /* on fewer rows a matrix is too small for a hall: one row over the picture instead */
    SIDES_WIDTH = 72,  /* from here on A and B stand side by side, and … */
    DIFF_WIDTH = 120,  /* … A − B with them */
    CAPTION_SHARE = 3, /* a caption takes a third of the screen at most */
    FROM_SHARE = 4,    /* of the film: what a step is made from has a quarter */
    VALUE_LARGE = 120, /* from this width on the pointer's digits are twice as large */
    VALUE_CELLS = 8,
    HEADER_NUMBER = 12 /* cells of "12/13" */
};

/* ---- keys ---- */

static const PresentKey KEYS[] = {
    {"Space Enter n l j → ↓ PgDn, a click", "the next step"},
    {"Backspace p h k ← ↑ PgUp", "the step before"},
    {"12G g G", "step 12, the first, the last"},
    {". , < >", "play what can move, stop it; backwards; slower, faster"},
    {"b", "blank, and back"},
    {"H J K L, Shift-arrows", "the pointer: a crosshair, its value in large digits"},
    {"P", "to the ordinary screen, and back to the very same step"},
    {":ask \"…\" A B", "asks who follows; Space shows the answers, :votes adds hands"},
    {":share, :share off", "lets others follow (vitrine join NAME), ends it"},
    {"vitrine notes", "on a second terminal: your notes, the next step, a clock"},
    {"q", "leave; it asks first"},
};

const PresentKey *present_keys(int *count)
{
    *count = sizeof KEYS / sizeof *KEYS;
    return KEYS;
}

static const struct {
    const char *keys, *command;
} MEANS[] = {{"Space Enter n l j Right Down PgDn Click ^D", "present next"},
             {"p h k Left Up PgUp ^U Backspace", "present prev"},
             {"g", "present go 1"},
             {"G", "present go last"},
             {".", "play"},
             {"<", "play slower"},
             {">", "play faster"},
             {"b", "blank"},
             {"P", "present off"},
             {"q", "present leave"},
             {"H S-Left", "move left"},
             {"L S-Right", "move right"},
             {"K S-Up", "move up"},
             {"J S-Down", "move down"},
             {"?", "present keys"},
             {"Esc Tab S-Tab F5 S-F5 F1 F2 F3 F4 F6 F7 F8 F9 F10 F11 F12 Home End Delete WheelUp WheelDown RightClick",
              ""}};

bool present_key(const Present *v, const char *key, int count, Buf *command)
{
    if (v->blank) { /* whoever looks at nothing wants to see something first */
        buf_puts(command, "blank off");
        return true;
    }
    if (count && strcmp(key, "G") == 0) {
        buf_printf(command, "present go %d", count);
        return true;
    }
    for (size_t i = 0; i < sizeof MEANS / sizeof *MEANS; i++)
        if (utf8_listed(MEANS[i].keys, key)) {
            buf_puts(command, MEANS[i].command);
            return true;
        }
    return false;
}

void present_kind(const Session *s, char out[SESSION_PATH])
{
    char path[SESSION_PATH];
    if (screen_now(s)->group == GROUP_LEARNED) { /* their scales are their own */
        out[0] = 0;
        return;
    }
    session_in_block(session_graph(s, SIDE_B), s->place.path, 0, path);
    snprintf(out, SESSION_PATH, "%s", path);
}

/* ---- arrangement ---- */

/* Rows that text takes wrapped at `width` cells; a line end begins a new one. */
static int rows_of(const char *text, int width)
{
    int rows = 0, used = 0;
    while (*text) {
        if (*text == '\n') {
            rows++;
            used = 0;
            text++;
            continue;
        }
        char word[256];
        size_t n = strcspn(text, " \n");
        utf8_take(word, sizeof word, text, n);
        int cells = utf8_cells(word);
        bool wraps = used && used + 1 + cells > width;
        rows += wraps;
        used = wraps || !used ? cells : used + 1 + cells;
        text += n + (text[n] == ' ');
    }
    return rows + (used > 0);
}

static const char *caption_of(const Session *s, const Deck *d)
{
    return d->open ? buf_str(&d->caption) : frame_sentence(s);
}

/* On a low screen a row over the picture is what can be seen from the last bench. */
static const ViewSpec *view_for(const Session *s, int h)
{
    NodeId n = session_node(s, SIDE_B, s->place.path);
    bool fits = n != NO_NODE && s->place.screen == SCREEN_MATRIX && session_input(s, SIDE_B)->kind == INPUT_PICTURE &&
                screen_spec(SCREEN_ROW)->fits(session_graph(s, SIDE_B), n);
    return h < ROW_HEIGHT && fits ? view_of(SCREEN_ROW) : view_now(s);
}

static void add(Frame *f, const ViewSpec *view, Rect r, Side side, const char *label, bool focus)
{
    Rect inside = r;
    if (label)
        rect_cut(&inside, 't', 1);
    f->pane[f->count++] = (Pane){
        .view = view, .box = r, .inside = inside, .side = side, .focus = focus, .label = label};
}

Frame present_frame(const Session *s, const Deck *d, int h, int w)
{
    Frame f = {0};
    Rect r = {0, 0, h, w};
    if (deck_is_title(d, d->at)) {
        f.sentence = r;
        return f;
    }
    f.header = rect_cut(&r, 't', h >= 12 ? 1 : 0);
    int rows = rows_of(caption_of(s, d), w - 2), most = h / CAPTION_SHARE;
    f.sentence = rect_cut(&r, 'b', rows < most ? rows : most);
    rect_cut(&r, 'b', h >= 20 ? 1 : 0);
    const ViewSpec *view = view_for(s, h);
    Rect from = rect_cut(&r, 'l', play_shows(s) && w >= SIDES_WIDTH ? w / FROM_SHARE : 0);
    if (s->compare == COMPARE_SIDES && session_compares(s) && view->sides == SIDES_PANES && w >= SIDES_WIDTH) {
        int columns = w >= DIFF_WIDTH ? 3 : 2;
        for (int i = 0; i < columns; i++) {
            static const Side SIDES[] = {SIDE_A, SIDE_B, SIDE_DIFF};
            static const char *const LABELS[] = {"A", "B", "A − B"};
            Rect column = rect_cut(&r, 'l', r.w / (columns - i));
            rect_cut(&column, 'r', i + 1 < columns ? 1 : 0);
            add(&f, view, column, SIDES[i], LABELS[i], i == 1);
        }
    } else
        add(&f, view, r, session_side(s), NULL, true);
    if (from.w)
        add(&f, &VIEW_PLAYED, from, session_side(s), NULL, false);
    return f;
}

/* ---- drawing ---- */

static void draw_header(const Paint *p, Rect r, const Deck *d)
{
    int total, step = session_step_number(p->s, &total);
    Buf left = {0}, right = {0};
    if (d->open && *d->title)
        buf_puts(&left, d->title);
    else
        buf_printf(&left, "%s  %s", session_input(p->s, SIDE_B)->name, p->s->stages.boxes[p->s->place.box].label);
    for (int i = 0; i < p->s->edits.count; i++)
        buf_printf(&left, "%s%s", i ? "; " : "   changed: ", p->s->edits.line[i]);
    if (d->open)
        buf_printf(&right, "%d/%d", d->at + 1, d->count);
    else
        buf_printf(&right, "%d/%d", step, total);
    canvas_label(p->c, r.y, r.x + 1, r.w - HEADER_NUMBER, STYLE_STRONG, buf_str(&left));
    canvas_right(p->c, r.y, r.x, r.w - 1, STYLE_STRONG, buf_str(&right));
    buf_free(&left);
    buf_free(&right);
}

/* Text from the first row on; what is too long ends in its last row. */
static void draw_text(const Paint *p, Rect r, const char *text)
{
    int end = r.y + r.h;
    rect_cut(&r, 'l', 1);
    while (*text && r.y < end) {
        char line[2048];
        size_t n = strcspn(text, "\n");
        utf8_take(line, sizeof line, text, n);
        r.h = end - r.y;
        int used = *line ? canvas_wrap(p->c, r, STYLE_STRONG, line) : 1;
        r.y += used < 1 ? 1 : used;
        text += n + (text[n] == '\n');
    }
}

/* Lines through the pointer over what is no data, and marks at the pane's edges: the data stays as it is. */
static void draw_crosshair(Canvas *c, Rect r)
{
    int y = c->cursor_y, x = c->cursor_x;
    if (!rect_has(r, y, x))
        return;
    for (int i = r.x; i < r.x + r.w; i++) {
        Cell *k = canvas_at(c, y, i);
        if (k && !k->level && k->ch == ' ')
            canvas_glyph(c, y, i, STYLE_STRONG, c->ascii ? '-' : 0x2500);
    }
    for (int i = r.y; i < r.y + r.h; i++) {
        Cell *k = canvas_at(c, i, x);
        if (k && !k->level && k->ch == ' ')
            canvas_glyph(c, i, x, STYLE_STRONG, c->ascii ? '|' : 0x2502);
    }
    canvas_glyph(c, y, r.x, STYLE_STRONG, c->ascii ? '>' : 0x25b8);
    canvas_glyph(c, r.y, x, STYLE_STRONG, c->ascii ? 'v' : 0x25be);
}

/* The value under the pointer, large, at the right above the caption. */
static void draw_value(const Paint *p, Rect r, Side side)
{
    Shown v;
    const ViewSpec *view = view_now(p->s);
    const char *path = view->cursor ? view->cursor(p->s, side) : NULL;
    char text[32];
    if (!shown_open(p->s, side, path ? path : p->s->place.path, &v) || !v.values)
        return;
    number_full_text(text, sizeof text, v.values[v.cell], VALUE_CELLS);
    int scale = p->c->w >= VALUE_LARGE || p->c->ascii ? 2 : 1;
    int tall = letters_rows(scale), wide = letters_columns(text, scale);
    if (tall + 2 > r.h || wide + 2 > r.w)
        return;
    Rect box = {r.y + r.h - tall - 1, r.x + r.w - wide - 2, tall + 1, wide + 2};
    canvas_fill(p->c, box, STYLE_STRONG, ' ');
    letters_line(p->c, box.y, box.x + 1, wide, STYLE_STRONG, text, scale);
    canvas_ref(p->c, box.y, box.x, box.w, shown_ref(&v, v.cell));
}

/* Black on white, or white on black: whatever is no data gets the ground and loses its dimness. */
static void contrast(Canvas *c, bool light)
{
    for (int i = 0; i < c->h * c->w; i++) {
        Cell *k = &c->cells[i];
        if (k->fg == COLOUR_DEFAULT && k->bg == COLOUR_DEFAULT && !k->level) {
            bool marked = k->style == STYLE_SELECTED || k->style == STYLE_CURSOR;
            k->style = (uint8_t)(marked ? k->style : k->ch == ' ' ? STYLE_TEXT : STYLE_STRONG);
            k->bg = light ? 0xffffff : 0x000000;
        }
    }
}

static void draw_panes(const Paint *paint, const Frame *f, const Present *v)
{
    Paint own = *paint, *p = &own;
    own.hall = true;
    for (int i = 0; i < f->count; i++) {
        const Pane *pane = &f->pane[i];
        if (pane->label)
            canvas_text(p->c, pane->box.y, pane->box.x + 1, pane->box.w - 2, STYLE_STRONG, pane->label);
        if (pane->inside.h < 1 || pane->inside.w < 1)
            continue;
        Rect old = canvas_clip(p->c, pane->inside);
        frame_pane(p, pane);
        if (v->pointer && pane->focus) {
            draw_crosshair(p->c, pane->inside);
            draw_value(p, pane->inside, pane->side);
        }
        p->c->clip = old;
    }
}

/* Over the header, its number apart: a caption stays whole. Without one, in the last row. */
static void draw_line(Canvas *c, const Frame *f, const PresentLine *line)
{
    Rect r = f->header.h ? (Rect){f->header.y, 0, 1, c->w - HEADER_NUMBER} : (Rect){c->h - 1, 0, 1, c->w};
    int rows = canvas_wrap_rows(c, r.w - 2, line->text);
    r.h = f->header.h && rows > 1 ? 2 : 1;
    canvas_fill(c, r, STYLE_TEXT, ' ');
    canvas_wrap(c, (Rect){r.y, 1, r.h, r.w - 2}, line->error ? STYLE_ERROR : STYLE_STRONG, line->text);
}

void present_draw(const Paint *p, const Frame *f, const Present *v, const Deck *d, const PresentLine *line)
{
    Canvas *c = p->c;
    Rect all = {0, 0, c->h, c->w};
    if (!v->blank && deck_is_title(d, d->at)) {
        if (!letters_fill(c, rect_inset(all, 1), STYLE_STRONG, d->title))
            canvas_wrap(c, rect_inset(all, 2), STYLE_STRONG, d->title);
    } else if (!v->blank) {
        if (f->header.h)
            draw_header(p, f->header, d);
        draw_panes(p, f, v);
        draw_text(p, f->sentence, caption_of(p->s, d));
    }
    if (*line->text && !v->blank)
        draw_line(c, f, line);
    if (!v->pointer || v->blank)
        c->cursor_y = c->cursor_x = -1;
    contrast(c, p->light);
}

/* ---- time ---- */

void present_count(Present *v, const Deck *d, int64_t now)
{
    if (v->spent && d->open && d->at >= 0 && v->entered)
        v->spent[d->at] += (double)(now - v->entered) / 1e9;
    v->entered = now;
}

void present_times(const Present *v, const Deck *d, Buf *out)
{
    double total = 0;
    for (int i = 0; d->open && v->spent && i < d->count; i++) {
        int seconds = (int)(v->spent[i] + 0.5);
        total += v->spent[i];
        buf_printf(out, "%4d  %2d:%02d  ", i + 1, seconds / 60, seconds % 60);
        if (deck_seconds(d, i) > 0)
            buf_printf(out, "(%g s in the file)  ", deck_seconds(d, i));
        deck_label(d, i, out);
        buf_putc(out, '\n');
    }
    buf_printf(out, "      %2d:%02d  in all\n", (int)(total + 0.5) / 60, (int)(total + 0.5) % 60);
}
