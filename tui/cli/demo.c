/* `vitrine demo`: the ready-made scripts, listed, read, exported; on a terminal they are played on the screen. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "tui/app.h"
#include "tui/cli/play.h"
#include "tui/cli/script.h"
#include "tui/cli/verbs.h"

/* The ready-made scripts as they lie in assets/demos; the assembler copies the bytes in. */

#define DEMO(symbol, name)                                                                                             \
    extern const char demo_##symbol[];                                                                                 \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".global demo_" #symbol "\n"                                                                               \
            "demo_" #symbol ":\n"                                                                                      \
            ".incbin \"assets/demos/" name ".txt\"\n"                                                                  \
            ".byte 0\n"                                                                                                \
            ".popsection\n");
#include "tui/cli/demos.def"
#undef DEMO

static const Demo DEMOS[] = {
#define DEMO(symbol, name) {name, demo_##symbol},
#include "tui/cli/demos.def"
#undef DEMO
};
enum { DEMO_COUNT = sizeof DEMOS / sizeof *DEMOS };

const Demo *demo_at(int i)
{
    return i >= 0 && i < DEMO_COUNT ? &DEMOS[i] : NULL;
}

const Demo *demo_find(const char *which, Err *err)
{
    char *end;
    long number = strtol(which, &end, 10);
    if (*which >= '0' && *which <= '9' && !*end && number >= 1 && number <= DEMO_COUNT)
        return &DEMOS[number - 1];
    for (int i = 0; i < DEMO_COUNT; i++)
        if (strcmp(DEMOS[i].name, which) == 0)
            return &DEMOS[i];
    err_set(err, "there is no demo '%.60s': name one of 1 to %d, or its word; `demo` lists them", which, DEMO_COUNT);
    return NULL;
}

bool demo_open(const char *which, Script *s, Err *err)
{
    const Demo *d = demo_find(which, err);
    *s = (Script){.title = ""};
    return d && script_parse(s, d->name, d->text, err);
}

/* Does it open the model that it is about? */
static bool brings_model(const Script *s)
{
    return s->count && s->steps[0].count && strncmp(s->steps[0].commands[0].text, "model ", strlen("model ")) == 0;
}

bool demo_suits(const char *which, const char *model, Err *err)
{
    Script s;
    if (!model || !text_asked(model) || !demo_open(which, &s, err))
        return true;
    const bool ok = brings_model(&s) ||
                    err_set(err,
                            "demo %.60s is about pictures, and %.200s reads texts: leave -m out, or "
                            "name a model of pictures",
                            which, model);
    script_free(&s);
    return ok;
}

/* A line each, appended. */
static void demo_list(Buf *out)
{
    for (int i = 0; i < DEMO_COUNT; i++) {
        Script s;
        if (script_parse(&s, DEMOS[i].name, DEMOS[i].text, NULL))
            buf_printf(out, "%d  %-13s %s, %d steps\n", i + 1, DEMOS[i].name, s.title, s.count);
        script_free(&s);
    }
}

/* What the speaker says, of all of them. */
static void demo_notes(Buf *out)
{
    for (int i = 0; i < DEMO_COUNT; i++) {
        Script s;
        if (script_parse(&s, DEMOS[i].name, DEMOS[i].text, NULL)) {
            buf_printf(out, "%s%d  %s: %s\n", i ? "\n" : "", i + 1, DEMOS[i].name, s.title);
            for (int k = 0; k < s.count; k++)
                for (const char *p = s.steps[k].notes; *p; p += strcspn(p, "\n"), p += *p == '\n') {
                    buf_printf(out, p == s.steps[k].notes ? "  %2d. " : "      ", k + 1);
                    buf_printf(out, "%.*s\n", (int)strcspn(p, "\n"), p);
                }
        }
        script_free(&s);
    }
}

static bool is_notes(const Options *o)
{
    return o->word_count == 2 && strcmp(o->word[1], "notes") == 0;
}

enum { ALLOWED = LINE_FOREIGN | COMMAND_UI };

static const char *which(const Work *w)
{
    return w->options->word_count > 1 ? w->options->word[1] : NULL;
}

static int play(Work *w, Script *s, Err *err)
{
    Buf cast = {0};
    const Options *o = w->options;
    if (!work_open(w, LINE_OWN | COMMAND_UI, err))
        return STATUS_BAD;
    bool ok;
    if (o->cast)
        ok = play_cast(w, s, ALLOWED, &cast, err) && file_write(o->cast, cast.data, cast.len, err);
    else if (o->output && strcmp(o->output, "-") != 0)
        ok = play_export(w, s, ALLOWED, err);
    else
        ok = play_plain(w, s, ALLOWED, err);
    buf_free(&cast);
    return ok ? STATUS_DONE : STATUS_BAD;
}

static int demo(Work *w, Err *err)
{
    Script s;
    if (!which(w)) {
        demo_list(&w->out);
        buf_puts(&w->out, "`vitrine demo N` plays one: Space goes on. `vitrine demo notes` is what the speaker says, "
                          "`vitrine present NAME` shows it in a hall.\n");
        return STATUS_DONE;
    }
    if (is_notes(w->options)) {
        demo_notes(&w->out);
        return STATUS_DONE;
    }
    int status = demo_open(which(w), &s, err) ? play(w, &s, err) : STATUS_USAGE;
    script_free(&s);
    return status;
}

static bool check(const Options *o, const Link *l, Err *err)
{
    (void)l;
    bool cast = o->output && strcmp(file_suffix(o->output), "cast") == 0;
    if (o->word_count > 2)
        return err_set(err, "demo: one at a time, '%.60s' is too many", o->word[2]);
    if (o->word_count > 1 && !is_notes(o) && !demo_find(o->word[1], err))
        return false;
    if (o->word_count > 1 && !is_notes(o) && !demo_suits(o->word[1], o->model, err))
        return false;
    if (o->cast && o->output)
        return err_set(err, "--cast and -o: one of them");
    if (o->height && o->height <= CAST_CAPTION_ROWS && (o->cast || cast))
        return err_set(err, "--size: a cast needs more than %d rows", CAST_CAPTION_ROWS);
    if (o->output && strcmp(o->output, "-") != 0 && !cast && !screen_suffix(o->output))
        return err_set(err, "%.200s: expected a name that ends in .svg, .png, .html, .txt, .ans or .cast", o->output);
    return true;
}

/* Where there is a screen to play it on. */
static bool screen(const Options *o, AppOptions *a)
{
    a->input = o->input ? o->input : "#17";
    a->demo = o->word[1];
    return o->word_count == 2 && !is_notes(o) && !o->plain && !o->output && !o->cast && isatty(STDIN_FILENO) &&
           isatty(STDOUT_FILENO);
}

const Verb VERB_DEMO = {
    .name = "demo",
    .usage = "demo [N or notes] [--cast FILE, -o FILE]",
    .summary = "ready-made demonstrations of five minutes, with notes for the speaker",
    .details = "Without N: the list; notes: what the speaker says, of all of them. On a terminal demonstration N is "
               "played on the screen; into a pipe, or with --plain, its captions, notes and commands are written. -o "
               "NAME.svg draws every step, --cast NAME records an asciicast. Every number in a caption is evaluated "
               "when it is played; -i and -m choose another picture or model.",
    .example = "vitrine demo 2",
    .flags = VERB_ALONE,
    .check = check,
    .screen = screen,
    .run = demo};
