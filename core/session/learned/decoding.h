/* How a text is written, as the screen `decoding` asks: greedy, by a beam or drawn from a seed. Every beginning that
 * was looked at with its share and score, and the same search with keys and values kept and without, to count what
 * keeping saves. A and B write each under its own changes. Made a beginning at a time by session_step while its screen
 * is on; begun anew when model, text, options or changes are others. */
#ifndef VITRINE_SESSION_LEARNED_DECODING_H
#define VITRINE_SESSION_LEARNED_DECODING_H
#include "core/models/decode.h"
#include "core/session/command.h"

/* What was found of a beginning. */
typedef enum DecodingFate { DECODING_READ, DECODING_LEFT, DECODING_CUT, DECODING_ENDED, DECODING_BEST } DecodingFate;

/* A line of the tree. The way to the best text under a beginning goes on in its own column, below the others that were
 * looked at, which stand one column further in. */
typedef struct DecodingLine {
    int node;          /* of the search */
    int depth;         /* column */
    bool aside;        /* the first of a column */
    bool best;         /* on the way to the text that was written */
    DecodingFate fate; /* of its last word */
    char word[32];
} DecodingLine;

typedef struct Decoding {
    DecodeOptions how;
    const Decode *text;       /* the search; its best and word are set when all is done */
    DecodeCost kept, without; /* what it computed with keys and values kept, and without */
    bool cut;                 /* the best text had not come to an end (decode_cut) */
    int takes;                /* as many tokens as the model takes, where that is what a text is cut at; else 0 */
    bool same;                /* words, shares and scores of both are the same bits */
    DecodingLine *line;
    int lines;
    Buf written; /* the best text, as one reads it */
    bool done;
    char why[sizeof(((Err *)0)->text)]; /* why there is none, or "" */
} Decoding;

/* As the options say: what a search would be made with now. */
DecodeOptions decoding_options(const Session *s);
/* The text model that a side shows, and the text that it reads: without the start, which the search puts there. NULL:
 * it shows none. */
const Model *decoding_reads(const Session *s, Side side, Text *read);
/* The changes that a side writes under. */
DecodeEdits decoding_edits(const Session *s, Side side);
/* Of side A or B; NULL while nothing of it is there. */
const Decoding *session_decoding(const Session *s, Side side);
/* The text that was on show before a beginning was run, while that is still on show; else NULL. */
const char *decoding_typed(const Session *s);
/* A beginning is about to be run, by opening that; what is on show is the typed text, or a beginning itself. */
void decoding_keep_typed(Session *s, const char *spec);
/* Notes the texts on show and the line at the cursor, for Place.text: two places with other numbers have other texts.
 * 0: this one could not be opened again. */
int decoding_note(Session *s);
/* From a place into one with another number: its texts come on show again, its line to the cursor. */
void decoding_return(Session *s, int from, int to);
/* The line that the cursor is on, from 0 on; the option counts them from 1 on. */
int decoding_line(const Session *s, const Decoding *d);
/* What the word at the cursor was drawn from; NULL: it was not drawn. */
const DecodeDraw *decoding_draw(const Session *s, const Decoding *d);
/* The one of them that the cursor is on; −1: it is on the word itself. */
int decoding_other(const Session *s, const Decoding *d);
/* "beam of 4, α 0.60", appended. */
void decoding_put_how(const DecodeOptions *how, Buf *out);
/* What the screen works on (ScreenSpec.work). */
bool decoding_step(Session *s, int64_t deadline_ns);
/* Bytes of values that the searches hold now, and the most that they held behind a step; 0 where there is none. Their
 * share of what the session may keep (session_budget) is that of an exhibit, as long as they are there. */
size_t decoding_held(const Session *s, size_t *most);
/* For commands and tests: to the end. */
bool decoding_all(Session *s, Err *err);
/* `decode [greedy, beam, draw] …` */
bool decoding_command(Session *s, const Args *a, Err *err);
struct DecodingWork;
void decoding_free(struct DecodingWork *w); /* NULL is allowed */
#endif
