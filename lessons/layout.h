/* A card as lines of a given width: prose, its question, the answers. The same lines stand on the screen, on paper and
 * in the check that a card fits. */
#ifndef VITRINE_LESSONS_LAYOUT_H
#define VITRINE_LESSONS_LAYOUT_H
#include "lessons/play.h"

typedef enum LaidStyle {
    LAID_PLAIN,
    LAID_TERM,
    LAID_STRONG,
    LAID_CODE,
    LAID_QUESTION,
    LAID_CHOICE,
    LAID_RIGHT,
    LAID_WRONG,
    LAID_DIM,
    LAID_HERE /* a term under the cursor */
} LaidStyle;

typedef struct LaidPart {
    LaidStyle style;
    int column; /* where it begins, in cells */
    const char *text;
} LaidPart;

typedef struct LaidLine {
    LaidPart *parts;
    int count;
    size_t cap;
    int choice; /* the answer whose line it is, or -1 */
} LaidLine;

typedef struct Laid {
    LaidLine *lines;
    int count;
    size_t cap;
    Arena arena;
} Laid;

/* The card the player is on (laid_free later, on success). False where a live value cannot be had. */
bool card_lay(const Player *p, int width, Laid *out, Err *err);
/* A word of the card that the glossary has: `count` parts from that one on, perhaps over a line's end. */
typedef struct LaidTerm {
    char word[48];
    int line, part, count;
} LaidTerm;
/* Each once: those that the card emphasises first, then the others, in reading order. Returns how many, most at most.
 */
enum { LAID_TERMS = 16 };
int laid_terms(const Laid *l, LaidTerm out[LAID_TERMS]);
/* That one becomes LAID_HERE. */
void laid_mark(Laid *l, const LaidTerm *t);
void laid_free(Laid *l);
/* Plain text, a line each. */
void laid_text(const Laid *l, Buf *out);
#endif
