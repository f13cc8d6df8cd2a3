/* Words with their share of a row of attention, as every screen of words draws them: the word on the colour of its
 * share, the number, a bar. */
#ifndef VITRINE_TUI_VIEWS_ATTENTION_WORD_ROW_H
#define VITRINE_TUI_VIEWS_ATTENTION_WORD_ROW_H
#include "tui/views/attention/attend.h"

enum { WORD_MARKS = 2, WORD_SHARE = 8, WORD_BAR = 4 }; /* cells of [ ]; of a number; of the shortest bar */

/* Gives what stands in these cells the ground of a value; what marks the cursor there stays readable. */
void word_ground(const Paint *p, int y, int x, int cells, const ColourScale *scale, float value, Ref ref);
/* Is that cell, of from … end − 1, a blank beside what is written? Without colours a ground is characters, one of them
 * a minus: there it leaves such a blank. */
bool word_beside(const Paint *p, int y, int x, int from, int end);
/* Does a share stand out? Above twice an equal share, a difference by its size; of scores only `largest` does. */
bool word_stands_out(const Attend *a, float value, bool largest);
/* Its rule in a line of words, as long as there is room: "bold: > 15.4 %, twice an equal share"; of scores none. */
void word_rule(const Paint *p, const Attend *a, const char *what, Rect r);

/* Words below each other, in columns where one is too short; `first` is the first one shown. */
typedef struct WordList {
    Rect r;
    int n, columns, lines, wide, first;
    int pitch, word; /* lines of one word; cells of the widest, its marks too */
} WordList;
/* Cells of the widest word that is looked at, or asks: side by side of both sides, so that bars begin alike. In a
 * list `width` cells wide. */
int word_widest(const Session *s, const Attend *a, bool asks, int width);
/* n words; columns of `least` cells beside the word (0: one column), `pitch` lines for a word at most, `here` among
 * them. */
WordList word_list(Rect r, int widest, int n, int here, int least, int pitch);
/* Scrolls a list no further than it takes to show words from … to, if they have room together. */
void word_list_show(WordList *l, int from, int to);
/* At the end of a line, where that is free: "↑3 ↓1", how many words of a list are not seen above and below. */
void word_list_more(const Paint *p, const WordList *l, Rect line);
Rect word_list_at(const WordList *l, int word);     /* empty: not shown */
int word_list_hit(const WordList *l, int y, int x); /* −1: none */

/* What marks a word: [ ] looked at, > < asks; a word that has brackets of its own is looked at between | |. */
char word_mark(const char *label, bool here, bool closes);
/* Word u on its ground (scale NULL: on none), marked as on the maps: "[street]" is looked at, ">it<" asks. */
void word_put(const Paint *p, const Attend *a, const ColourScale *scale, int u, int y, int x, int width);
/* Number and bar of word u in r, as far as there is room; strong where it stands out. */
void word_put_share(const Paint *p, const Attend *a, const ColourScale *scale, int u, float end, Rect r);

/* Masked words behind the last that may be looked at, where they are several: one line of a list for all of them. */
int word_masked_tail(const Attend *a);
/* "13 later tokens: masked"; one of them that the cursor is on stands before it: "[street] and 12 more: masked". */
void word_put_folded(const Paint *p, const Attend *a, const ColourScale *scale, int folded, Rect at, int word);

/* The word as it stands in a text: without "#2" of a second one's label, without the tokeniser's mark of a blank before
 * it ("Ġthe", "▁the") or of none ("##ing"). */
enum { WORD_LABEL = 64 };
const char *word_itself(const Axis *axis, int i, char out[WORD_LABEL]);
/* Has word i + 1 no blank before it? Of words that are no pieces, after an elision alone: "l'animal". */
bool word_joined(const Axis *axis, int i);
/* Words one behind the other, as a sentence is written, in as many lines as it takes; on both sides of those marked
 * (−1: none) a blank for the mark. False where they are too many for r. */
enum { RUNNING_MOST = 128 };
typedef struct Running {
    int n, lines;
    Rect word[RUNNING_MOST];
} Running;
bool running_layout(const Axis *axis, int here, int asks, Rect r, Running *out);
void running_spread(Running *v, Rect r); /* one line of words over all of r, with a few more blanks between them */
int running_hit(const Running *v, int y, int x); /* −1: none */
/* Those looked at, on the ground of what a head's row gives each; the cursor's mark. */
void running_draw(const Paint *p, const Attend *a, int head, const ColourScale *scale, const Running *v);

/* Cells of the widest two names that share a line, with a blank between and behind them: from `least` to `most`. */
int words_paired(const Axis *axis, int first, int count, int least, int most);
/* Lines of labels over or under cells `wide` columns wide, at most so many: one; or a stair, each label on the next
 * line until the first is free again; downwards, as many as the longest word has letters; of cells one column wide, or
 * where these are too many, one line of as many whole words as fit. */
int words_across_lines(const Axis *axis, int wide, int most);
void words_across(const Paint *p, const Axis *axis, int first, int count, int here, int largest, Rect at, int wide);
#endif
