/* The one command language: `goto blocks.2.attn.pattern[h=1,t=r3c4]`, `set scale off`, `view numbers`. Commands are
 * registered in const tables (the session's own here, the screen's in tui); help, completion, the footer and the man
 * page are made from the tables. */
#ifndef VITRINE_SESSION_COMMAND_H
#define VITRINE_SESSION_COMMAND_H
#include "core/session/session.h"

/* What a line may do; and, as a command's flags, what all of it needs. Files are a matter of the argument, not of the
 * command (`open #17` touches none, `patch … from=FILE` does): permit.h. */
enum {
    COMMAND_EDIT = 1,   /* changes the model: recorded for undo */
    COMMAND_FILE = 2,   /* may read and write files: not in links and lessons */
    COMMAND_UI = 4,     /* needs a screen */
    COMMAND_SHADOWS = 8 /* flag only: stands before another table's command of that name (the screen's own `export`) */
};

enum { COMMAND_ARGS = 16 };

/* A command line cut into words. word=value arguments are kept apart. Text stays valid while the Args lives. */
typedef struct Args {
    char text[1024];
    const char *word[COMMAND_ARGS]; /* positional, after the command's name */
    int column[COMMAND_ARGS];       /* where each began in the line, from 1, for error messages */
    int count;
    struct {
        const char *name, *value;
        int column;
    } named[COMMAND_ARGS];
    int named_count;
    const char *rest;              /* everything after the command's name, as typed */
    const struct Command *command; /* whose arguments these are, and … */
    void *context;                 /* … its table's: what the session's own commands have no need of */
} Args;
const char *args_named(const Args *a, const char *name); /* NULL when absent */

typedef struct Command Command;
struct Command {
    const char *name;
    const char *group;   /* go, look, ask, change, files, program */
    const char *usage;   /* "ablate ADDRESS [mean]" */
    const char *summary; /* one line: what it does */
    unsigned flags;
    bool (*run)(Session *s, const Args *a, Err *err); /* text for the reader goes to s->said */
    /* Completion words for argument number `index` (0 …), one per line appended to out; NULL: addresses where usage
     * says ADDRESS. */
    void (*complete)(const Session *s, int index, Buf *out);
};

typedef struct CommandTable {
    const Command *commands;
    int count;
    void *context; /* handed to its commands; must outlive the table's use */
} CommandTable;

/* The session's own tables. */
CommandTable session_commands_go(void);
CommandTable session_commands_look(void);
CommandTable session_commands_ask(void);
CommandTable session_commands_change(void);
CommandTable session_commands_files(void);
CommandTable session_commands_words(void);

/* Every table that is in use: the session's, and that of the screen. Where two have a command of one name, the earlier
 * table's is meant. */
typedef struct Commands {
    CommandTable *table;
    int count;
    size_t cap;
} Commands;
/* Adds a table behind those that are there. It must be sound (a bug of ours otherwise): every command has a name, a
 * group, a summary, a usage that begins with the name, and something to run; and no name is there already, unless one
 * of the two is a COMMAND_SHADOWS. */
void commands_add(Commands *c, CommandTable t);
void commands_add_all(Commands *c, const Commands *more);
void commands_free(Commands *c);    /* accepts a zeroed one */
Commands session_command_set(void); /* the session's own; commands_free later */
/* Cuts a line into words; "quotes" keep blanks together, around a word or behind an =. False when a quote is not closed
 * or there are too many words. */
bool args_parse(Args *a, const char *line, const char **name, Err *err);
const Command *command_find(const Commands *c, const char *name);
/* i-th command over all tables, NULL past the end. */
const Command *command_at(const Commands *c, int i);

/* Runs one line; several commands may be separated by `;` or line ends. Errors say what was expected and where: "column
 * 9: …". allowed: flags that may be used here (COMMAND_EDIT | COMMAND_FILE | COMMAND_UI). On failure what earlier
 * commands of the line did stays done; state.h has a form that does all or nothing. What changed is logged (log.h). */
bool command_do(Session *s, const Commands *c, const char *line, unsigned allowed, Err *err);
/* Completions of the last word of `line`, whole lines to put in its place, one per line of out, best first; at most
 * 200. */
void command_complete(const Session *s, const Commands *c, const char *line, Buf *out);
/* The nearest known name to a mistyped one, or NULL. */
const char *nearest_name(const char *typed, const char *(*name)(const void *context, int i), const void *context);
#endif
