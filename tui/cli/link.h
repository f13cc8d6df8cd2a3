/* What the words of a command line mean: an input, an address, a screen, edits and the first digits of a trace hash:
 *   vitrine '#17 blocks.1.attn.pattern[h=2,t=r3c4] :matrix scale=off @9f3a'
 * as one argument or as several. It is somebody else's text: it changes the model, goes to a place, and touches no file
 * but the input and the model that the command line itself names. */
#ifndef VITRINE_TUI_CLI_LINK_H
#define VITRINE_TUI_CLI_LINK_H
#include <stdint.h>

#include "core/base/mem.h"
#include "core/session/command.h"

typedef enum LinkFirst {
    LINK_INPUT,  /* the first word may be a file */
    LINK_ADDRESS /* it is an address, unless it begins with # */
} LinkFirst;

typedef struct Link {
    const char *input;                    /* NULL: none */
    const char *address;                  /* NULL: none */
    const char *hash;                     /* hexadecimal digits, or NULL */
    const char *picture, *pinned, *model; /* the same of what comes from files (core/session/state.h), or NULL */
    Buf place;   /* what the screen and the cursor are beside the address: " screen=matrix at=h:2", or nothing */
    Buf edits;   /* commands: "set scale off; ablate blocks.1.attn.z[h=2]" */
    Arena arena; /* of the strings */
} Link;

/* Sorts words into out (link_free later, on failure too). name=value becomes the command of that name, commas becoming
 * blanks; scale and shuffle have a form of their own. False when a word has no place; the message names the nearest
 * command. */
bool link_parse(Link *out, const char *const *word, int count, LinkFirst first, const Commands *commands, Err *err);
void link_free(Link *l);
/* "#17", an existing file or folder, "-", or FILE:tensor of an existing file. */
bool link_is_input(const char *word);
/* Is what the link needs there? input and model as they will be opened; NULL: the program's own. False, with a message
 * that names the file, where it is not. */
bool link_files(const Link *l, const char *input, const char *model, Err *err);
/* To the place; changes; and the place again, which a change may have had to make. at: another one to start at, or
 * NULL. */
bool link_run(const Link *l, const char *at, Session *s, const Commands *c, Err *err);
/* Does it say a screen, which its changes may have had to make? To it. */
bool link_has_place(const Link *l);
bool link_place(const Link *l, Session *s, const Commands *c, Err *err);
/* `goto` that address. */
bool link_go(Session *s, const Commands *c, const char *address, Err *err);
/* Are picture and model those that the link was made with? False, with a message that names the one that is not. */
bool link_agrees(const Link *l, const Session *s, Err *err);
/* Do the 16 digits of the hash begin with these? */
bool link_hash_agrees(const char *digits, uint64_t hash);
#endif
