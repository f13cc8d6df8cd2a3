/* The one command language: `goto blocks.2.attn.pattern[h=1,t=r3c4]`, `set scale off`, `view numbers`. Commands are
 * registered in const tables (the session's own here, the screen's in tui); help, completion, the footer and the man
 * page are made from the tables. */
#ifndef VITRINE_SESSION_COMMAND_H
#define VITRINE_SESSION_COMMAND_H
#include "core/session/session.h"

/* What a command touches, said in its row; and what a line may touch, by where it comes from. A command runs where the
 * line may touch all that its row says, and touches nothing else, whatever its arguments are: this is the only place
 * where that is decided. Files to read alone are asked for word by word (permit_read): `open #17` reads none. */
enum {
    COMMAND_SESSION = 1,    /* place, look, what is on show */
    COMMAND_EDIT = 2,       /* … and the model: recorded for undo */
    COMMAND_UI = 4,         /* the screen, which it needs */
    COMMAND_READ = 8,       /* files that its words name, to read … */
    COMMAND_WRITE = 16,     /* … and to write */
    COMMAND_PROCESS = 32,   /* the program itself: leaves it, types for its reader, lets others in or follows them */
    COMMAND_PICTURES = 128, /* no touch: only for models that look at pictures; no list of a text model has it */
    COMMAND_TEXT = 256,     /* no touch: its words may be a text, of any number of them; `rest` has them all */
    COMMAND_SHADOWS = 64, /* no touch: stands before another table's command of that name (the screen's own `export`) */

    LINE_FOREIGN = COMMAND_SESSION | COMMAND_EDIT, /* followed, of a link, a lesson, a demonstration: somebody else's */
    LINE_REPLAY = LINE_FOREIGN | COMMAND_READ, /* the state as it was written down; a script that the reader named */
    LINE_OWN = LINE_REPLAY | COMMAND_WRITE | COMMAND_PROCESS /* typed, -c, a key. All three: | COMMAND_UI on a screen */
};

/* COMMAND_LINE: an input's path, each of its bytes escaped (command_quote), and what stands around it. */
enum { COMMAND_ARGS = 16, COMMAND_LINE = 4 * INPUT_PATH + 512 };

/* A command line cut into words. word=value arguments are kept apart. Text stays valid while the Args lives. */
typedef struct Args {
    char text[COMMAND_LINE];
    const char *word[COMMAND_ARGS]; /* positional, after the command's name */
    int column[COMMAND_ARGS];       /* where each began in the line, from 1, for error messages */
    int count;
    int beyond; /* column of the first word that there was no room for; 0: there was */
    struct {
        const char *name, *value;
        int column;
    } named[COMMAND_ARGS];
    int named_count;
    const char *rest;              /* everything after the command's name, as typed */
    const struct Command *command; /* whose arguments these are, and … */
    void *context;                 /* … its table's: what the session's own commands have no need of */
} Args;
/* Without the apostrophes around all of it, as a shell has them: 'the cat'. In place. */
char *command_unquoted(char *text);
const char *args_named(const Args *a, const char *name); /* NULL when absent */
/* A word such as 3, +1, -2; relative: it has a sign. False where it is none, or beyond 100000. */
bool args_number(const char *word, int *value, bool *relative);

typedef struct Command Command;
struct Command {
    const char *name;
    const char *group;   /* go, look, ask, change, files, program */
    const char *usage;   /* "ablate ADDRESS [mean]" */
    const char *summary; /* one line: what it does */
    unsigned touches;
    bool (*run)(Session *s, const Args *a, Err *err); /* text for the reader goes to s->said */
    /* Completion words for argument number `index` (0 …), one per line appended to out; NULL: addresses where usage
     * says ADDRESS. */
    void (*complete)(const Session *s, int index, Buf *out);
};

/* A row of a table: in the order of the fields. One that does not say what it touches does not compile. */
#define COMMAND(name, group, usage, summary, touches, run, complete)                                                   \
    {                                                                                                                  \
        name, group, usage, summary, (touches) + 0 * sizeof(char[(touches) ? 1 : -1]), run, complete                   \
    }

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
/* Cuts a line into words; "quotes" keep blanks together, around a word or behind an =; in them \" and \\ stand for the
 * sign alone, \xHH for a byte, any other backslash for itself. False when a quote is not closed or there are too many
 * words. */
bool args_parse(Args *a, const char *line, const char **name, Err *err);
/* Bytes of the first command of lines: up to a `;` or line end outside quotes. */
size_t command_length(const char *lines);
/* Does a quote that opens in the line not close? */
bool command_quotes_open(const char *line);
/* text in quotes, as one word whatever bytes it has; appended. */
void command_quote(const char *text, Buf *out);
const Command *command_find(const Commands *c, const char *name);
/* i-th command over all tables, NULL past the end. */
const Command *command_at(const Commands *c, int i);

/* Runs one line; several commands may be separated by `;` or line ends. Errors say what was expected and where: "column
 * 9: …". allowed: what it may touch (LINE_…, perhaps with COMMAND_UI). On failure what earlier
 * commands of the line did stays done; state.h has a form that does all or nothing. What changed is logged. */
bool command_do(Session *s, const Commands *c, const char *line, unsigned allowed, Err *err);
/* The kinds of file ("png jpg") that a command or a verb of that name reads, or its word ("patch from="); NULL: any. */
const char *complete_kinds(const char *name);
/* Completions of the last word of `line`, whole lines to put in its place, one per line of out, best first; at most
 * 200. */
void command_complete(const Session *s, const Commands *c, const char *line, Buf *out);
/* The nearest known name to a mistyped one, or NULL. */
const char *nearest_name(const char *typed, const char *(*name)(const void *context, int i), const void *context);
/* "; did you mean NEAREST? They are A B C …", or without the first part where none is near. */
void names_offer(const char *typed, const char *(*name)(const void *context, int i), const void *context, Buf *out);

/* --- files that a line names. A lesson, a link or a presenter's line is somebody else's text: it reads no file and
 * writes none, whichever command or argument would. Every word of a command that becomes a file passes here, and
 * nowhere else; what is opened is the path that is given back, never the word --- */

/* The file to read that this word of a command names, or NULL where the line or the command may read none. word "-"
 * (standard input) counts as one. */
const char *permit_read(const Session *s, const char *word, Err *err);
/* The same of a file to write; a word of a class is none. */
const char *permit_write(const Session *s, const char *word, Err *err);
/* What comes with a class is called by words that begin so, by digest, and never names a file of the reader's. */
#define PERMIT_CLASS "class:"
/* Who brings them: fn says which file such a word means, until its next call, or why none (NULL). fn NULL: nobody. */
void permit_class(Session *s, const char *(*fn)(void *context, const char *word, Err *err), void *context);
#endif
