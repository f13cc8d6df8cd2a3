/* draw [svg] <TABLE: many screens in one process, as `vitrine screen` draws them one at a time (tests/e2e/cli.sh looks
 * that it does). Each line is NAME|MODEL|INPUT|ADDRESS|COMMANDS|SIZES|OPTIONS; the options have no blanks in them. One
 * session draws all sizes of a line: NAME-WxH.txt, NAME-WxH-256.ans and NAME-WxH-mono.ans, or NAME-WxH.svg alone. What
 * can't be drawn is said, and the exit status is 1. */
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "tui/cli/verbs.h"

enum { FIELDS = 7, MOST_OPTIONS = 16, LINE = 2000 };

typedef struct Shot {
    char *field[FIELDS]; /* name, model, input, address, commands, sizes, options */
} Shot;

/* Cuts a line at its bars; false where it has too few. */
static bool cut(char *line, Shot *out)
{
    line[strcspn(line, "\n")] = 0;
    for (int i = 0; i < FIELDS; i++) {
        out->field[i] = line;
        line = line ? strchr(line, '|') : NULL;
        if (line)
            *line++ = 0;
    }
    return out->field[FIELDS - 1] != NULL;
}

static bool parse(const Shot *shot, Options *o, Err *err)
{
    char *arg[8 + MOST_OPTIONS] = {"vitrine", "-m", shot->field[1], "-i", shot->field[2]};
    int n = 5;
    for (char *word = strtok(shot->field[6], " "); word && n < 5 + MOST_OPTIONS; word = strtok(NULL, " "))
        arg[n++] = word;
    if (!options_parse(o, n, arg, err))
        return false;
    buf_puts(&o->commands, shot->field[4]);
    return true;
}

/* What is drawn with these colours, into NAME-WxH and a suffix. */
static bool save(Work *w, Options *o, const char *name, const char *suffix, const char *colour, Err *err)
{
    char path[LINE];
    const char *given = o->colour;
    bool lists = w->overlay.kind != OVERLAY_NONE;
    snprintf(path, sizeof path, "%s-%dx%d%s", name, o->width, o->height, suffix);
    o->output = path;
    o->colour = given ? given : colour;
    buf_clear(&w->drawn);
    bool ok = screen_write(w, err) == STATUS_DONE && file_write(path, buf_str(&w->drawn), w->drawn.len, err);
    o->output = NULL;
    o->colour = given;
    if (!lists) /* what was said is laid out anew for every width */
        overlay_close(&w->overlay);
    return ok;
}

static bool shoot(const Shot *shot, bool svg, Err *err)
{
    Options o = {0};
    Work w = {.options = &o, .address = shot->field[3]};
    const char *name = shot->field[0];
    bool ok = parse(shot, &o, err) && work_open(&w, LINE_REPLAY | COMMAND_UI, err);
    for (char *size = shot->field[5]; ok && sscanf(size, "%dx%d", &o.width, &o.height) == 2;
         size += strspn(size, " ")) {
        if (svg)
            ok = save(&w, &o, name, ".svg", NULL, err);
        else
            ok = save(&w, &o, name, ".txt", NULL, err) && save(&w, &o, name, "-256.ans", "256", err) &&
                 save(&w, &o, name, "-mono.ans", "mono", err);
        size += strcspn(size, " ");
    }
    work_close(&w, true);
    options_free(&o);
    return ok;
}

int main(int argc, char **argv)
{
    char line[LINE];
    bool svg = argc > 1 && strcmp(argv[1], "svg") == 0, ok = true;
    while (fgets(line, sizeof line, stdin)) {
        Shot shot;
        Err err = {{0}};
        if (!cut(line, &shot))
            err_set(&err, "a line has fewer than %d fields", FIELDS);
        else if (shoot(&shot, svg, &err))
            continue;
        printf("%s: %s\n", shot.field[0], err.text);
        ok = false;
    }
    return ok ? 0 : 1;
}
