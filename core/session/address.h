/* The one address grammar: name[axis=value,…]. A name is a node path, a scope ("blocks.1", "blocks.1.mlp"), a step
 * number ("12"), or a pattern with `*` where patterns are allowed; a value is a label (cls, r3c4, star), a number, a
 * range 2:5 (5 not included) or `*`; without its axis and = it is that of the axis at its place, so that
 * 1.pattern[2,r3c4] says blocks.1.attn.pattern[h=2,t=r3c4]. Blocks, heads and tokens are numbered from 0. */
#ifndef VITRINE_SESSION_ADDRESS_H
#define VITRINE_SESSION_ADDRESS_H
#include "core/session/command.h"
#include "core/session/session.h"

typedef struct Address {
    char path[SESSION_PATH]; /* node path; "" = the focus */
    Selection cells;         /* ranges over the node's axes; n = 0: all */
    bool is_node;            /* false: a scope or a pattern */
} Address;

/* Text → address on a graph; "" and "." are the focus. Short names are accepted where they are unique in the focused
 * block
 * ("pattern" = "blocks.<focus>.attn.pattern") or, with its number in front, in a block ("1.pattern"). Errors name the
 * column and the nearest existing name or the axis' range.
 */
bool address_parse(const Session *s, const Graph *g, const char *text, Address *out, Err *err);
/* The same for a word of a command line that begins at `column`: errors name the column of the line. */
bool address_word(const Session *s, const Graph *g, const char *text, int column, Address *out, Err *err);
/* The focus (or a node and cell) as text: "blocks.1.attn.pattern[h=2,t=r3c4,u=r4c3]"; appended. address_parse reads it
 * back: a label that it could not read, or that two indices share, is written as its number. */
void address_put(const Graph *g, NodeId n, size_t cell, Buf *out);
/* The value of one axis as it stands there. */
void address_put_index(const Axis *a, int index, Buf *out);
void address_put_focus(const Session *s, Buf *out);
/* Does a path match a pattern with * (any run of characters without '.') and ** (any)? A trailing ".*" also matches
 * deeper paths. */
bool address_match(const char *pattern, const char *path);
/* The first cell of a selection in a node's dims. */
size_t address_cell(const Session *s, const Graph *g, NodeId n, const Selection *cells);
/* Paths of graph nodes (and scopes) that begin with text, one per line. */
void address_complete(const Session *s, const char *text, Buf *out);

/* `find`: steps, nodes and classes by a part of their name, one hit after the other; or cells by their value. */

bool find_command(Session *s, const Args *a, Err *err);
void find_complete(const Session *s, int index, Buf *out);
/* Goes to what the screen calls so, a step by its label on the map, its symbol or its node, or a class: in the reader's
 * own block first, then onwards; whole names before words of them, capitals or not. label: by its label alone. False:
 * nothing is called so. */
bool find_named(Session *s, const char *text, bool label, Err *err);
/* From here on `find next` and `find prev` look for that text: it was chosen from a list. "": nothing is looked for. */
void find_begin(Session *s, const char *text);
/* How a name has that in it, capitals or not: best as a word of its own, or as the beginning of one. "": as a word. */
enum { FIND_NOT, FIND_INSIDE, FIND_START, FIND_WORD };
int find_match(const char *name, const char *text);
#endif
