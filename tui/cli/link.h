/* What the words of a command line mean: an input, an address, edits and the first digits of a trace hash:
 *   vitrine '#17 blocks.1.attn.pattern[h=2,t=r3c4] scale=off @9f3a'
 * as one argument or as several. */
#ifndef VITRINE_CLI_LINK_H
#define VITRINE_CLI_LINK_H
#include <stdint.h>

#include "core/base/mem.h"
#include "core/session/command.h"

typedef enum LinkFirst {
    LINK_INPUT,  /* the first word may be a file */
    LINK_ADDRESS /* it is an address, unless it begins with # */
} LinkFirst;

typedef struct Link {
    const char *input;   /* NULL: none */
    const char *address; /* NULL: none */
    const char *hash;    /* hexadecimal digits, or NULL */
    Buf edits;           /* commands: "set scale off; ablate blocks.1.attn.z[h=2]" */
    Arena arena;         /* of the strings */
} Link;

/* Sorts words into out (link_free later, on failure too). name=value becomes the command of that name, commas becoming
 * blanks; scale and shuffle have a form of their own. False when a word has no place; the message names the nearest
 * command. */
bool link_parse(Link *out, const char *const *word, int count, LinkFirst first, const Commands *commands, Err *err);
void link_free(Link *l);
/* "#17", an existing file or folder, "-", or FILE:tensor of an existing file. */
bool link_is_input(const char *word);
/* Do the 16 digits of the hash begin with these? */
bool link_hash_agrees(const char *digits, uint64_t hash);
#endif
