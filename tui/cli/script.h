/* A script: what somebody would do on the screen, a line each, with captions and pauses. It is read once and computes
 * nothing; play.h plays it.
 *
 *   # a comment               title What it is about       (before the first step)
 *   note What the speaker says, beside the step
 *   caption What is seen, with {EXPRESSIONS} that are evaluated when it is played (ask_caption)
 *   pause 4                   the step ends; it is seen for so many seconds
 *   anything else             a command line, as typed after a colon
 */
#ifndef VITRINE_TUI_CLI_SCRIPT_H
#define VITRINE_TUI_CLI_SCRIPT_H
#include <stdbool.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/session/command.h"

/* SCRIPT_IDLE_S: no pause of a cast, or of a script that plays by itself, is longer: a reader who wants more stops it.
 */
enum { SCRIPT_BYTES = 256 * 1024, SCRIPT_STEPS = 500, SCRIPT_IDLE_S = 8 };

typedef struct ScriptLine {
    const char *text;
    int line; /* in the file, from 1 */
} ScriptLine;

typedef struct ScriptStep {
    ScriptLine *commands; /* [count] */
    int count;
    size_t cap;
    ScriptLine caption; /* text "" where there is none */
    const char *notes;  /* lines; "" where there are none */
    double seconds;
} ScriptStep;

typedef struct Script {
    const char *file;  /* as errors name it */
    const char *title; /* "" where it says none */
    ScriptStep *steps; /* [count] */
    int count;
    size_t cap;
    Arena arena;
} Script;

/* Cuts text into steps (script_free later, on failure too). False with "FILE:LINE: what is wrong". */
bool script_parse(Script *s, const char *file, const char *text, Err *err);
bool script_read(Script *s, const char *file, Err *err); /* "-" is standard input */
void script_free(Script *s);

/* The commands of step i, which may touch what is allowed (LINE_…); and its caption as it is now, appended. False
 * with "FILE:LINE: …". */
bool script_run(const Script *s, int i, Session *on, const Commands *c, unsigned allowed, Err *err);
bool script_caption(const Script *s, int i, Session *on, Buf *out, Err *err);

/* The ready-made ones, five minutes each, with notes for the speaker: assets/demos. */
typedef struct Demo {
    const char *name, *text;
} Demo;
const Demo *demo_at(int i); /* NULL past the end */
/* By number from 1 or by name; NULL with an error that lists them. */
const Demo *demo_find(const char *which, Err *err);
bool demo_open(const char *which, Script *s, Err *err); /* script_free later, on failure too */
/* Can it be played with that model (NULL: none was named)? Most are about pictures. False with what to do. */
bool demo_suits(const char *which, const char *model, Err *err);
#endif
