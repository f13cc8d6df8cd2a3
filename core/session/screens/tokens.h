/* How the texts on show became tokens, as the model's tokeniser recorded it: what it made of the text before cutting
 * it, the pieces, the merges in their order. Recorded between frames while its screen is on; begun anew when model or
 * text are others. A text that was given by number, or whose words are whole, has no such record. */
#ifndef VITRINE_SESSION_SCREENS_TOKENS_H
#define VITRINE_SESSION_SCREENS_TOKENS_H
#include "core/io/tokenizer.h"
#include "core/session/session.h"

typedef struct Encoding {
    const Tokenizer *by;
    Buf text;   /* what was encoded */
    Buf said;   /* a byte for each: 0 where a chat template put it; empty: there is none */
    Tokens k;   /* with its steps */
    int *of;    /* [tokens of the text on show] its number in k; −1: it was put there */
    int *part;  /* [k.n] of k.part; −1: it was put there */
    bool there; /* false: there is no record, and all of this is empty */
} Encoding;

/* Of a text of side A or B; NULL while it is not there. */
const Encoding *session_encoding(const Session *s, Side side, int text);
/* The text whose tokens are in focus: TEXT_SOURCE or TEXT_TARGET. */
int encoding_text(const Session *s);
/* The rows of the embedding that the tokens of a text fetch; NULL: that text is not there. */
const char *encoding_rows(const Graph *g, int text);
/* The place in k of the token at the cursor; −1: it was put there. *part: its part, or −1. */
int encoding_here(const Session *s, Side side, const Encoding *e, int *part);
/* Why there is none, as a sentence. */
const char *encoding_missing(const Vocabulary *v);
/* Merges of that part that are done on show, of all there are. */
int encoding_done(const Session *s, const Encoding *e, int part);
/* The ends in `cut` of what a part consists of once so many of its merges are done, ascending, those that lie within
 * most / 2 bytes of `focus`; returns how many. */
int encoding_ends(const Encoding *e, int part, int done, size_t focus, size_t *end, int most);
bool encoding_step(Session *s, int64_t deadline_ns); /* ScreenSpec.work */
struct EncodingWork;
void encoding_free(struct EncodingWork *w); /* NULL is allowed */
#endif
