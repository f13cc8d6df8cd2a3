/* The frame: the session's screen, the lesson, what is open over them, and the line at the bottom. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/learned/measures.h"
#include "tui/app_parts.h"
#include "tui/canvas/dots.h"
#include "tui/keymap.h"

/* The box after digits: how long one thinks before it opens, its width, where its commands begin, the footer below. */
enum { THOUGHT_NS = 500000000, NEXT_CELLS = 38, NEXT_KEYS = 16, NEXT_ABOVE = 3 };

void app_pass(App *a, const char *text)
{
    utf8_print(a->message, sizeof a->message, "%s", text);
    a->message_is_error = false;
}

void app_say(App *a, bool error, const char *text)
{
    app_pass(a, text);
    a->message_is_error = error;
    messages_add(&a->messages, error, a->message, clock_ns());
}

Paint app_paint(App *a)
{
    bool light = a->presenter.view.on ? a->presenter.view.light : a->terminal->light;
    return (Paint){.s = &a->s, .c = &a->canvas, .mode = a->terminal->mode, .light = light};
}

void app_fit(App *a)
{
    int h, w;
    term_size(&h, &w);
    if (h * w > 1 && (h != a->canvas.h || w != a->canvas.w)) /* without a terminal, told as 1 × 1, it stays */
        canvas_resize(&a->canvas, h, w);
    term_pixels(&h, &w);
    canvas_fine(&a->canvas, h, w);
}

static void status_words(const App *a, char *out, size_t n)
{
    static const char *const MODES[] = {
        [MODE_MONO] = "mono", [MODE_8] = "8 colours", [MODE_256] = "256c", [MODE_TRUE] = "truecolor"};
    snprintf(out, n, "%s%s%s", MODES[a->terminal->mode], a->terminal->ascii ? " ascii" : "",
             a->terminal->has_mouse && !a->terminal->mouse ? " mouse off" : "");
}

Frame app_frame(const App *a)
{
    Rect card, screen;
    if (a->presenter.view.on)
        return present_frame(&a->s, &a->presenter.deck, a->canvas.h - app_question_rows(a), a->canvas.w);
    desk_layout(&a->desk, a->canvas.h, a->canvas.w, &card, &screen);
    int caption = overlay_below(&a->overlay, &a->canvas);
    bool below = (card.h && card.y > screen.y) || caption;
    screen.h -= caption;
    Frame f = frame_layout(&a->s, screen.h, screen.w,
                           (a->hint ? FRAME_HINT : 0) | (card.h ? FRAME_LESSON : 0) | (below ? FRAME_CARD_BELOW : 0));
    if (a->desk.open) {
        const Player *p = &a->desk.player;
        f.space = card.h             ? ""
                  : player_awaits(p) ? "the question"
                  : player_waits(p)  ? "see it change"
                  : player_owes(p)   ? "the answer"
                                     : "next card";
        if (!card.h)
            frame_leave(&f, "leaves the lesson");
    } else if (task_on(&a->ui.task))
        frame_leave(&f, "ends the task");
    return f;
}

static void draw_desk(App *a)
{
    Rect card, screen;
    if (!a->desk.open)
        return;
    desk_layout(&a->desk, a->canvas.h, a->canvas.w, &card, &screen);
    desk_draw(&a->desk, &a->canvas, card);
}

void app_next_tick(App *a, int64_t now, int64_t *wait)
{
    const int64_t left = a->counted + THOUGHT_NS - now;
    const Rollcall *q = &a->follow.question;
    if (q->open && !q->closed) { /* digits are answers, and what was typed before it came lies over it no longer */
        a->touched |= a->counts;
        a->count = 0;
        a->counts = false;
    }
    if (!a->count || a->counts)
        return;
    a->counts = left <= 0;
    a->touched |= a->counts;
    if (left > 0 && (*wait < 0 || left < *wait))
        *wait = left;
}

/* Another key of the same line stands before it. */
static bool is_second(const App *a, int i, const char *line)
{
    char other[80];
    for (int j = 0; j < i; j++)
        if (keymap_in_force(&a->s, keymap_here(&a->s, j)) &&
            app_counted(a, keymap_here(&a->s, j), other, sizeof other) && strcmp(other, line) == 0)
            return true;
    return false;
}

/* Lines "keys TAB command", one for each that takes a count. */
static void put_next(const App *a, Buf *out)
{
    const KeyBinding *k, *more;
    char line[80], other[80];
    if (a->presenter.view.on) {
        buf_printf(out, "G\tpresent go %d\n", a->count);
        return;
    }
    for (int i = 0; (k = keymap_here(&a->s, i)) != NULL; i++) {
        if (!keymap_in_force(&a->s, k) || !app_counted(a, k, line, sizeof line) || is_second(a, i, line))
            continue;
        buf_puts(out, k->key);
        for (int j = i + 1; (more = keymap_here(&a->s, j)) != NULL; j++)
            if (keymap_in_force(&a->s, more) && app_counted(a, more, other, sizeof other) && strcmp(other, line) == 0)
                buf_printf(out, " %s", more->key);
        buf_printf(out, "\t%s\n", line);
    }
}

void app_draw_next(App *a)
{
    Canvas *c = &a->canvas;
    Buf rows = {0};
    char title[32];
    int h = 3;
    put_next(a, &rows);
    buf_puts(&rows, "Esc\tno number");
    for (const char *p = buf_str(&rows); *p; p++)
        h += *p == '\n';
    snprintf(title, sizeof title, "%d …", a->count);
    Rect box = {c->h - h - NEXT_ABOVE, c->w - NEXT_CELLS - 1, h, NEXT_CELLS};
    if (box.y >= 0 && box.x >= 0) {
        canvas_fill(c, box, STYLE_TEXT, ' ');
        Rect in = canvas_box(c, box, title, true);
        for (const char *p = buf_str(&rows); in.h > 0; rect_cut(&in, 't', 1)) {
            char keys[64], line[80];
            size_t n = strcspn(p, "\t"), m = strcspn(p, "\n");
            utf8_take(keys, sizeof keys, p, n);
            utf8_take(line, sizeof line, p + n + 1, m - n - 1);
            canvas_text(c, in.y, in.x + 1, in.w - 1, STYLE_KEY, keys);
            canvas_text(c, in.y, in.x + NEXT_KEYS, in.w - NEXT_KEYS, STYLE_TEXT, line);
            p += m + (p[m] == '\n');
        }
    }
    buf_free(&rows);
}

/* The command line and lists lie over whatever is drawn. */
static void draw_over(App *a)
{
    Canvas *c = &a->canvas;
    if (!a->presenter.view.on || !a->presenter.view.blank)
        app_draw_question(a);
    if (a->count && a->counts && a->overlay.kind == OVERLAY_NONE)
        app_draw_next(a);
    overlay_draw(&a->overlay, c);
    if (a->prompt.open) {
        Rect line = {c->h - 1, 0, 1, c->w}, above = {0, 0, c->h - 1, c->w};
        Buf hint = {0};
        prompt_hint(&a->prompt, &a->s, &a->commands, &hint);
        if (hint.len && above.h > 0) {
            canvas_fill(c, (Rect){above.h - 1, 0, 1, c->w}, STYLE_TEXT, ' ');
            canvas_text(c, above.h - 1, 1, c->w - 1, STYLE_KEY_TEXT, buf_str(&hint));
        }
        buf_free(&hint);
        prompt_draw(&a->prompt, c, line, above);
    }
    term_draw(c);
}

void app_draw_line(App *a, const char *text)
{
    Canvas *c = &a->canvas;
    Rect line = {c->h - 1, 0, 1, c->w};
    canvas_fill(c, line, STYLE_TEXT, ' ');
    canvas_text(c, line.y, 1, c->w - 1, STYLE_STRONG, text);
    term_draw(c);
}

void app_draw(App *a)
{
    char status[64];
    app_fit(a);
    Canvas *c = &a->canvas;
    canvas_clear(c);
    c->ascii = a->terminal->ascii;
    canvas_plots(c, a->terminal->plots);
    if (a->shows_join) {
        app_draw_join(a);
        term_draw(c);
        return;
    }
    if (a->presenter.view.on) {
        app_draw_presented(a);
        draw_over(a);
        return;
    }
    Paint p = app_paint(a);
    double share;
    bool again = session_again(&a->s, &share);
    if (a->halted)
        a->pace = (Pace){0};
    if (!again && (share = session_progress_share(&a->s)) >= 1)
        share = measures_share(&a->s);
    p.seconds_left = a->halted ? 0 : pace_left(&a->pace, share, clock_ns());
    Frame f = app_frame(a);
    status_words(a, status, sizeof status);
    FrameState state = {.message = a->message, .message_is_error = a->message_is_error, .status = status};
    Rect card, screen;
    char lesson[120];
    desk_layout(&a->desk, c->h, c->w, &card, &screen);
    if (a->desk.open && !card.h && !*a->message) {
        snprintf(lesson, sizeof lesson, "Card %d of %d. Tab shows it again.", a->desk.player.card + 1,
                 a->desk.player.lesson.count);
        state.message = lesson;
    }
    Buf follows = {0}, header = {0};
    if (a->question.open && !*a->message)
        state.message = a->question.closed ? "Space: on. The question is closed."
                                           : "A question is open: Space shows the answers.";
    if (a->follow.joined) {
        if (*a->message && !a->follow.asks) /* … and how to come back, beside whatever is said */
            buf_printf(&follows, a->follow.following ? "%s" : "%s  f: back to %s.", a->message, a->follow.who);
        else
            follow_line(&a->follow, &follows);
        state.message = buf_str(&follows);
        follow_header(&a->follow, c->w, &header);
        state.follows = buf_str(&header);
    }
    if (screen.h > 0)
        frame_draw(&p, &f, &state);
    draw_desk(a);
    draw_over(a);
    buf_free(&follows);
    buf_free(&header);
}

void app_show_said(App *a)
{
    const char *said = buf_str(&a->s.said);
    if (!*said)
        return;
    const char *end = strchr(said, '\n');
    int lines = a->presenter.view.on ? 1 : app_frame(a).sentence.h;
    int room = lines * (a->canvas.w - 2) -
               (lines > 1 ? a->canvas.w / 4 : 0); /* a wrapped line ends before its last column */
    bool one_line = !a->boxed && (!end || !end[1]) && utf8_cells(said) <= room;
    if (one_line) {
        if (end)
            a->s.said.data[end - said] = 0;
        app_say(a, false, said);
    } else {
        overlay_text(&a->overlay, "", said);
        a->overlay.apart = view_now(&a->s) == &VIEW_LEDGER;
        messages_add(&a->messages, false, said, clock_ns());
    }
    buf_clear(&a->s.said);
}

/* --- all that was said in this run --- */

static const SaidLine *at(const Messages *m, int i)
{
    return &m->line[(m->first + i) % MESSAGES_MOST];
}

void messages_add(Messages *m, bool error, const char *text, int64_t now)
{
    if (!*text)
        return;
    SaidLine *last = m->count ? &m->line[(m->first + m->count - 1) % MESSAGES_MOST] : NULL;
    if (last && last->error == error && strcmp(last->text, text) == 0) {
        last->times++;
        return;
    }
    if (!m->count)
        m->began = now;
    SaidLine *to = &m->line[(m->first + m->count) % MESSAGES_MOST];
    if (m->count == MESSAGES_MOST) {
        free(to->text);
        m->first = (m->first + 1) % MESSAGES_MOST;
    } else
        m->count++;
    *to = (SaidLine){xstrdup(text), error, now, 1};
}

void messages_put(const Messages *m, Buf *out)
{
    for (int i = 0; i < m->count; i++) {
        const SaidLine *l = at(m, i);
        int seconds = (int)((l->at - m->began) / 1000000000);
        buf_printf(out, "%3d:%02d  %s", seconds / 60, seconds % 60, l->error ? "refused: " : "");
        for (const char *p = l->text; *p; p++) /* a page stays one entry */
            buf_putc(out, *p == '\n' ? ' ' : *p);
        if (l->times > 1)
            buf_printf(out, " (%d times)", l->times);
        buf_putc(out, '\n');
    }
}

void messages_free(Messages *m)
{
    for (int i = 0; i < m->count; i++)
        free(m->line[(m->first + i) % MESSAGES_MOST].text);
    *m = (Messages){.count = 0};
}
