#include "tui/cli/script.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/session/ask/ask.h"

enum { SECONDS_MOST = 3600, DEFAULT_SECONDS = 3 };

/* What stands behind the word that a line begins with, or NULL where it begins with another. */
static const char *behind(const char *line, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(line, word, n) != 0 || (line[n] && line[n] != ' '))
        return NULL;
    return line + n + strspn(line + n, " ");
}

static ScriptStep *begin_step(Script *s)
{
    s->steps = grow(s->steps, &s->cap, (size_t)s->count, sizeof *s->steps);
    s->steps[s->count] = (ScriptStep){.caption = {"", 0}, .notes = "", .seconds = DEFAULT_SECONDS};
    return &s->steps[s->count++];
}

static bool parse_pause(const char *text, double *seconds)
{
    char *end;
    size_t digits = strspn(text, "0123456789.");
    *seconds = strtod(text, &end);
    return digits && !text[digits] && end == text + digits && *seconds <= SECONDS_MOST;
}

static void add_note(Script *s, ScriptStep *step, const char *text)
{
    Buf b = {0};
    buf_printf(&b, "%s%s%s", step->notes, *step->notes ? "\n" : "", text);
    step->notes = arena_strdup(&s->arena, buf_str(&b));
    buf_free(&b);
}

/* One line, without its end. *open: the step that it belongs to, NULL between steps. */
static bool take_line(Script *s, ScriptStep **open, const char *text, int line, Err *err)
{
    const char *rest;
    if (!*text || (*text == '#' && (text[1] == ' ' || text[1] == '#' || !text[1])))
        return true;
    if ((rest = behind(text, "title"))) {
        if (s->count || *s->title)
            return err_set(err, "%s:%d: a title stands once, before the first step", s->file, line);
        s->title = arena_strdup(&s->arena, rest);
        return true;
    }
    if (!*open && s->count == SCRIPT_STEPS)
        return err_set(err, "%s:%d: more than %d steps", s->file, line, SCRIPT_STEPS);
    if (!*open)
        *open = begin_step(s);
    ScriptStep *step = *open;
    if ((rest = behind(text, "pause"))) {
        *open = NULL;
        return parse_pause(rest, &step->seconds) ||
               err_set(err, "%s:%d: pause: expected seconds from 0 to %d, found '%.40s'", s->file, line, SECONDS_MOST,
                       rest);
    }
    if ((rest = behind(text, "caption"))) {
        if (*step->caption.text)
            return err_set(err, "%s:%d: the step has a caption already (line %d); `pause` ends a step", s->file, line,
                           step->caption.line);
        step->caption = (ScriptLine){arena_strdup(&s->arena, rest), line};
    } else if ((rest = behind(text, "note")))
        add_note(s, step, rest);
    else {
        step->commands = grow(step->commands, &step->cap, (size_t)step->count, sizeof *step->commands);
        step->commands[step->count++] = (ScriptLine){arena_strdup(&s->arena, text), line};
    }
    return true;
}

bool script_parse(Script *s, const char *file, const char *text, Err *err)
{
    ScriptStep *open = NULL;
    Buf one = {0};
    bool ok = true;
    *s = (Script){.title = ""};
    s->file = arena_strdup(&s->arena, file);
    for (int line = 1; ok && *text; line++) {
        size_t n = strcspn(text, "\n"), from = strspn(text, " \t"), to = n;
        from = from > n ? n : from;
        while (to > from && strchr(" \t\r", text[to - 1]))
            to--;
        buf_clear(&one);
        buf_add(&one, text + from, to - from);
        ok = take_line(s, &open, buf_str(&one), line, err);
        text += n + (text[n] == '\n');
    }
    buf_free(&one);
    return ok && (s->count || err_set(err, "%s: no step in it: command lines, then `pause SECONDS`", s->file));
}

bool script_read(Script *s, const char *file, Err *err)
{
    Buf text = {0};
    *s = (Script){.title = ""};
    bool ok = file_read(file, SCRIPT_BYTES, &text, err) &&
              (strlen(buf_str(&text)) == text.len || err_set(err, "%s: it has a NUL byte, so it is no script", file)) &&
              script_parse(s, file, buf_str(&text), err);
    buf_free(&text);
    return ok;
}

void script_free(Script *s)
{
    for (int i = 0; i < s->count; i++)
        free(s->steps[i].commands);
    free(s->steps);
    arena_free(&s->arena);
    *s = (Script){0};
}

bool script_run(const Script *s, int i, Session *on, const Commands *c, unsigned allowed, Err *err)
{
    const ScriptStep *step = &s->steps[i];
    for (int k = 0; k < step->count; k++)
        if (!command_do(on, c, step->commands[k].text, allowed, err))
            return err_prefix(err, "%s:%d", s->file, step->commands[k].line);
    return true;
}

bool script_caption(const Script *s, int i, Session *on, Buf *out, Err *err)
{
    const ScriptLine *caption = &s->steps[i].caption;
    return ask_caption(on, caption->text, out, err) || err_prefix(err, "%s:%d", s->file, caption->line);
}
