#include "tui/cli/play.h"

#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/session/play.h"
#include "core/session/state.h"
#include "tui/canvas/export.h"
#include "tui/cli/verbs.h"

enum { IDLE_MOST = SCRIPT_IDLE_S * 1000, NAME = 1000 }; /* milliseconds; bytes */

/* The last command of the step if it is one that asks, so that its answer is what is to be seen; else "". `why` of an
 * answer leads to the ledger and says one sentence; run once more it would say more. */
static const char *asked(const Work *w, const ScriptStep *step)
{
    char name[32];
    const char *line = step->count ? step->commands[step->count - 1].text : "", *last = strrchr(line, ';');
    last = last ? last + 1 : line;
    last += strspn(last, " ");
    utf8_print(name, sizeof name, "%.*s", (int)strcspn(last, " "), last);
    const Command *c = command_find(&w->commands, name);
    bool leads = strcmp(last, "why") == 0 && w->overlay.kind == OVERLAY_NONE &&
                 !strchr(buf_str(&w->session.said), '\n');
    return c && !leads && strcmp(c->group, "ask") == 0 ? last : "";
}

/* Runs the commands of step i and evaluates its caption (appended). allowed: as for command_do. False with
 * "FILE:LINE: …"; what was run before stays done. */
static bool play_step(Work *w, const Script *s, int i, unsigned allowed, Buf *caption, Err *err)
{
    buf_clear(&w->session.said);
    overlay_close(&w->overlay);
    if (!script_run(s, i, &w->session, &w->commands, allowed, err))
        return false;
    if (!*asked(w, &s->steps[i]))
        buf_clear(&w->session.said); /* what a change says is not part of the screen, and the caption stands there */
    return script_caption(s, i, &w->session, caption, err);
}

/* Options that change what a screen looks like, as they were given. */
static void put_looks(const Options *o, int width, int height, Buf *out)
{
    buf_printf(out, " --size %dx%d", width, height);
    if (o->colour)
        buf_printf(out, " --colour %s", o->colour);
    if (o->plots)
        buf_printf(out, " --plots %s", o->plots);
    if (o->graphics)
        buf_printf(out, " --graphics %s", o->graphics);
    buf_puts(out, o->ascii ? " --ascii" : "");
    buf_puts(out, o->light ? " --light" : "");
}

void play_given(const Work *w, Buf *out)
{
    const Options *o = w->options;
    buf_puts(out, "vitrine screen");
    for (int i = 1; i < o->word_count; i++) {
        buf_putc(out, ' ');
        buf_shell(out, o->word[i]);
    }
    const struct {
        const char *option, *value;
    } GIVEN[] = {{"-i", o->input},
                 {"-m", o->model},
                 {"--resolution", o->resolution},
                 {"--at", o->at},
                 {"--gradient", o->gradient},
                 {"-c", o->commands.len ? buf_str(&o->commands) : NULL}};
    for (size_t i = 0; i < sizeof GIVEN / sizeof *GIVEN; i++)
        if (GIVEN[i].value) {
            buf_printf(out, " %s ", GIVEN[i].option);
            buf_shell(out, GIVEN[i].value);
        }
    buf_puts(out, o->assume ? " --assume" : "");
    put_looks(o, screen_width(o), screen_height(o), out);
}

/* The command line that draws this screen again, without its end: vitrine screen -i … -c … --size WxH, and whatever
 * else changes how it looks. ask: a command whose answer is seen too, or "". */
static void play_command(const Work *w, const char *ask, int width, int height, Buf *out)
{
    const Session *s = &w->session;
    Buf lines = {0}, joined = {0};
    session_write(s, STATE_TRAIL, &lines);
    for (size_t i = 0; i + 1 < lines.len; i++)
        if (lines.data[i] == '\n')
            buf_puts(&joined, "; ");
        else
            buf_putc(&joined, lines.data[i]);
    for (int frame = 0; frame < s->look.frame; frame++)
        buf_printf(&joined, "%splay next", joined.len ? "; " : "");
    if (*ask)
        buf_printf(&joined, "%s%s", joined.len ? "; " : "", ask);
    buf_puts(out, "vitrine screen");
    if (*s->model_path) {
        buf_puts(out, " -m ");
        buf_shell(out, s->model_path);
    }
    buf_puts(out, " -i ");
    buf_shell(out, session_input(s, SIDE_B)->path);
    if (*s->resolution)
        buf_printf(out, " --resolution %s", s->resolution);
    if (s->assume && *s->model_path)
        buf_puts(out, " --assume");
    if (joined.len) {
        buf_puts(out, " -c ");
        buf_shell(out, buf_str(&joined));
    }
    put_looks(w->options, width, height, out);
    buf_free(&lines);
    buf_free(&joined);
}

/* What stands below a step's screen. */
static void put_below(const Work *w, const ScriptStep *step, const char *caption, Buf *out)
{
    buf_puts(out, caption);
    buf_puts(out, *caption ? "\n" : "");
    play_command(w, asked(w, step), screen_width(w->options), screen_height(w->options), out);
}

/* "shot-03.svg" of "shot.svg". */
static bool step_name(const char *path, int i, char out[NAME], Err *err)
{
    const char *suffix = file_suffix(path);
    int stem = (int)(strlen(path) - strlen(suffix) - 1);
    return utf8_print(out, NAME, "%.*s-%02d.%s", stem, path, i + 1, suffix) < NAME ||
           err_set(err, "%.200s…: the name is too long", path);
}

bool play_export(Work *w, const Script *s, unsigned allowed, Err *err)
{
    const Options *o = w->options;
    bool files = !work_to_stdout(w), ok = true;
    if (files && file_is(o->output, "cast"))
        return play_cast(w, s, allowed, &w->drawn, err);
    for (int i = 0; ok && i < s->count; i++) {
        Buf caption = {0}, below = {0}, picture = {0};
        char name[NAME] = "";
        ok = work_progress(w, "drawing", (double)i / s->count) || err_set(err, "cancelled");
        ok = ok && play_step(w, s, i, allowed, &caption, err);
        if (w->session.look.playing) /* a still: all of it is there */
            play_end(&w->session);
        ok = ok && (!files || step_name(o->output, i, name, err));
        if (ok) {
            put_below(w, &s->steps[i], buf_str(&caption), &below);
            ok = screen_draw_below(w, files ? name : NULL, buf_str(&below), files ? &picture : &w->drawn, err);
        }
        if (ok && files)
            ok = file_write(name, picture.data, picture.len, err);
        if (ok && files)
            buf_printf(&w->out, "%s  %s\n", name, buf_str(&caption));
        buf_free(&picture);
        buf_free(&below);
        buf_free(&caption);
    }
    w->written = w->written || files;
    return ok;
}

/* --- asciicast v2: a header, then one event a line: [seconds, kind, data] --- */

static void put_event(Buf *out, long ms, const char *kind, const char *data)
{
    buf_printf(out, "[%ld.%03ld, \"%s\", ", ms / 1000, ms % 1000, kind);
    buf_json(out, data);
    buf_puts(out, "]\n");
}

/* The rows of a frame that differ from those of the one before. */
static void put_changes(const Canvas *c, const Options *o, Buf *before, Buf *data)
{
    Buf rows = {0};
    export_ansi(c, o->colour ? screen_mode_of(o, MODE_256) : MODE_256, o->light, &rows);
    const char *old = buf_str(before), *now = buf_str(&rows);
    for (int row = 1; *now; row++) {
        size_t n = strcspn(now, "\n"), was = strcspn(old, "\n");
        if (n != was || memcmp(now, old, n) != 0)
            buf_printf(data, "\033[%d;1H%.*s\033[K", row, (int)n, now);
        now += n + (now[n] != 0);
        old += was + (old[was] != 0);
    }
    buf_free(before);
    *before = rows;
}

/* A frame as what a terminal is sent: home, then the rows, which are kept; no line end behind the last, which would
 * scroll. */
static void put_frame(const Canvas *c, const Options *o, bool first, Buf *kept, Buf *data)
{
    Buf rows = {0};
    export_ansi(c, o->colour ? screen_mode_of(o, MODE_256) : MODE_256, o->light, &rows);
    buf_puts(data, first ? "\033[?25l\033[2J\033[H" : "\033[H");
    for (size_t i = 0; i + 1 < rows.len; i++)
        if (rows.data[i] == '\n')
            buf_puts(data, "\033[K\r\n");
        else
            buf_putc(data, rows.data[i]);
    buf_puts(data, "\033[K");
    buf_free(kept);
    *kept = rows;
}

/* A step's name in the reader's list of chapters: its caption's first sentence, else its first command. */
static void put_marker(const ScriptStep *step, const char *caption, long ms, Buf *out)
{
    char label[80];
    const char *text = *caption ? caption : step->count ? step->commands[0].text : "";
    const char *stop = strstr(text, ". ");
    int n = stop ? (int)(stop - text) : (int)strlen(text);
    utf8_print(label, sizeof label, "%.*s", n, text);
    if (n >= (int)sizeof label) { /* not in the middle of a character */
        size_t end = strlen(label);
        while (end && label[end] != ' ')
            end--;
        label[end] = 0;
    }
    put_event(out, ms, "m", label);
}

/* What plays by itself goes on for the step's time, frame by frame, from *ms on; `play to` as far as it leads, and the
 * step's time comes behind that. *ms: then. */
static bool put_film(Work *w, const char *caption, long *ms, long pause, Buf *kept, Buf *out, Err *err)
{
    Session *s = &w->session;
    bool ok = true, arrives = s->look.playing && s->look.until;
    long at = *ms;
    while (ok && s->look.playing && (at + play_wait(s) < *ms + pause || arrives)) {
        at += play_wait(s);
        Canvas c = {.h = 0};
        Buf data = {0};
        s->look.playing = play_frame(s);
        ok = screen_compose(w, screen_height(w->options) - CAST_CAPTION_ROWS, CAST_CAPTION_ROWS, caption, &c, err);
        if (ok)
            put_changes(&c, w->options, kept, &data);
        if (ok && data.len)
            put_event(out, at, "o", buf_str(&data));
        buf_free(&data);
        canvas_free(&c);
    }
    *ms = (arrives ? at : *ms) + pause;
    return ok;
}

bool play_cast(Work *w, const Script *s, unsigned allowed, Buf *out, Err *err)
{
    const Options *o = w->options;
    long ms = 0;
    bool ok = true;
    buf_printf(out,
               "{\"version\": 2, \"width\": %d, \"height\": %d, \"idle_time_limit\": %d, \"title\": ", screen_width(o),
               screen_height(o), IDLE_MOST / 1000);
    buf_json(out, *s->title ? s->title : "Vitrine");
    buf_puts(out, ", \"env\": {\"TERM\": \"xterm-256color\"}}\n");
    for (int i = 0; ok && i < s->count; i++) {
        const ScriptStep *step = &s->steps[i];
        Buf caption = {0}, data = {0}, kept = {0};
        Canvas c = {.h = 0};
        ok = work_progress(w, "recording", (double)i / s->count) || err_set(err, "cancelled");
        ok = ok && play_step(w, s, i, allowed, &caption, err) &&
             screen_compose(w, screen_height(o) - CAST_CAPTION_ROWS, CAST_CAPTION_ROWS, buf_str(&caption), &c, err);
        if (ok) {
            long pause = (long)(step->seconds * 1000 + 0.5);
            pause = pause < IDLE_MOST ? pause : IDLE_MOST;
            put_frame(&c, o, i == 0, &kept, &data);
            put_event(out, ms, "o", buf_str(&data));
            put_marker(step, buf_str(&caption), ms, out);
            ok = put_film(w, buf_str(&caption), &ms, pause, &kept, out, err);
        }
        canvas_free(&c);
        buf_free(&kept);
        buf_free(&data);
        buf_free(&caption);
    }
    put_event(out, ms, "o", "\033[?25h\r\n");
    return ok;
}

bool play_plain(Work *w, const Script *s, unsigned allowed, Err *err)
{
    bool ok = true;
    if (*s->title)
        buf_printf(&w->out, "%s\n", s->title);
    for (int i = 0; ok && i < s->count; i++) {
        Buf caption = {0};
        const ScriptStep *step = &s->steps[i];
        ok = play_step(w, s, i, allowed, &caption, err);
        if (ok) {
            buf_printf(&w->out, "\n%d. %s\n", i + 1, buf_str(&caption));
            for (int k = 0; k < step->count; k++)
                buf_printf(&w->out, "    %s\n", step->commands[k].text);
            if (*step->notes)
                buf_printf(&w->out, "Speaker: %s\n", step->notes);
        }
        session_trim(&w->session);
        buf_free(&caption);
    }
    return ok;
}
