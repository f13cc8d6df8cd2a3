/* What an examination found, row by row: a line of a page and a member of a JSON object at once. Internal to
 * tui/cli. */
#ifndef VITRINE_TUI_CLI_ROWS_H
#define VITRINE_TUI_CLI_ROWS_H
#include "core/base/buf.h"
#include "core/base/interval.h"

enum { ROWS_MOST = 64, ROWS_LABEL = 42 };
typedef struct Rows {
    Buf page;                /* written to directly where a line is no row; rows_end ends a line */
    Buf json;                /* members, one after the other; written to directly behind rows_key */
    size_t begin[ROWS_MOST]; /* where each of the n members begins */
    int n;
    bool tight; /* the object is one line without blanks */
    bool one;   /* measured on one of them, too few for an interval: margins are null */
} Rows;

/* Begins a member: its value is to be added to r->json. */
void rows_key(Rows *r, const char *key);
/* Members that the page does not have. NaN and NULL: null. Lists are [rows, cols], 0: no such axis. */
void rows_number(Rows *r, const char *key, double x);
void rows_text(Rows *r, const char *key, const char *text);
void rows_numbers(Rows *r, const char *key, const double *x, int rows, int cols);
void rows_cells(Rows *r, const char *key, int rows, int cols, void (*put)(Buf *out, const void *of, int i),
                const void *of);
/* And with the margin of each, as "KEY_margin" in the same member. */
void rows_means(Rows *r, const char *key, const MeanOver *x, int rows, int cols);
/* "\"KEY_SUFFIX\": [low,high]", in the member that was begun last. */
void rows_interval(Rows *r, const char *key, const char *suffix, Interval i);
/* "  99.1 % (98.9–99.3) " behind a label, and as a member the share and its interval. n 0: null, and nothing on the
 * page. */
void rows_share(Rows *r, const char *key, const char *label, size_t right, size_t n);
/* Right of n, in words and as an object; with pair also how many points less than the model as trained. */
void rows_tally(Rows *r, const char *key, const char *label, Tally t, const Paired *pair);

/* Of the page alone: */
void page_label(Buf *page, const char *text, int cells); /* filled up to so many cells */
void page_share(Buf *page, size_t right, size_t n);
void page_end(Buf *page); /* ends a line, without blanks at its end */

/* The page, or the members in this order: keys with a blank between them, every member's; not all need be there. Frees
 * what r holds. */
void rows_print(Rows *r, const char *order, bool json, Buf *out);
#endif
