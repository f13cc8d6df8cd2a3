/* The command line cut into options and words: one table from which parsing, --help and the manual page are made. */
#ifndef VITRINE_TUI_CLI_OPTIONS_H
#define VITRINE_TUI_CLI_OPTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/mem.h"

/* Exit status of the program. */
enum {
    STATUS_DONE = 0,
    STATUS_BAD = 1,   /* an input, file or resource is bad */
    STATUS_USAGE = 2, /* the command line is wrong, or there is no usable terminal */
    STATUS_NO = 3     /* the question asked is answered no */
};

enum { OPTION_WORDS = 32 };

typedef struct Options {
    const char *word[OPTION_WORDS]; /* what is no option, in order: the verb, its address, a link's parts */
    int word_count;
    const char *input, *model, *at, *gradient, *output, *isa, *axes, *colour, *plots, *graphics, *difficulty, *series,
        *config, *pictures, *text, *map, *tolerance, *precision, *completion, *require, *item, *script, *cast, *group,
        *name, *join, *resolution;           /* NULL where not given; point into argv */
    Buf commands;                            /* all -c, joined by "; " */
    Arena arena;                             /* of texts that are made of them */
    long threads;                            /* 0: as many as there are cores */
    long sample;                             /* 0: every cell */
    long steps, count;                       /* 0: not given */
    size_t memory;                           /* bytes; 0: not given */
    int width, height;                       /* 0: not given */
    const char *alpha, *temperature, *top_p; /* translate: NULL where not given */
    long beam, top_k, seed, words;           /* translate: 0 where not given, seed −1 */
    bool mask, by_class, showcase, all, open, no_cache, chat, tree, vocabulary, paper, nodes, assume, rehearse;
    bool plain, json, ascii, light, dark, no_mouse, fresh, help, version, man;
    uint64_t given; /* bit i: option_at(i) was typed */
} Options;

typedef enum OptionKind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_COMMANDS,
    OPTION_COUNT,
    OPTION_BYTES,
    OPTION_SIZE
} OptionKind;

typedef struct OptionSpec {
    const char *name;  /* "json": --json */
    char letter;       /* 'o': -o, or 0 */
    const char *value; /* what it takes, "FILE"; NULL for a flag */
    const char *help;  /* one line */
    OptionKind kind;
    size_t offset;       /* of its field in Options */
    long low, high;      /* OPTION_COUNT */
    const char *choices; /* OPTION_TEXT: the words allowed, separated by blanks, or NULL */
} OptionSpec;

const OptionSpec *option_at(int i); /* NULL past the end */

/* Fills o (options_free later, on failure too) from argv[1 …]. Options may stand before, between and after words; "--"
 * ends them; a value follows after a blank, after = (long) or at once (letter). False with one line that names the
 * nearest option. */
bool options_parse(Options *o, int argc, char *const *argv, Err *err);
void options_free(Options *o);
#endif
