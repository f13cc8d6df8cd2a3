/* A worked example: named matrices and formulas, each of which becomes a node of a graph on the real engine, so that
 * every cell of it explains itself, is compared and exported like any other.
 *
 *   axis t 3 cls a b              an axis: letters, length, perhaps a label for every index
 *   X[t,d] = 1 2 / 3 4 / 5 6      a matrix; / ends a row, and a line that begins with / goes on
 *   scale = 0.5                   a single number
 *   q[t,e] = X @ Wq               sums over the axes of X that the result lacks
 *   s[t,u] = raw * scale          + - * / cell by cell
 *   A[t,u] = softmax(s, u)        softmax, normalise(x, AXIS, EPS), sum, max, rename, gather(x, AXIS, i i i),
 *                                 where(m, x, y), slice(x, AXIS, START), concat(x, AXIS, y, AXIS), and every map: exp,
 *                                 gelu, sqrt …
 *   R[n,e] = normal(SEED)         random numbers of mean 0 and variance 1; band(REACH): 1 where row and column are at
 *                                 most that far apart; index(): 0 1 2 …; fill(VALUE)
 *   gradient y                    of the single number y: the nodes grad.NAME
 *   repeat i 1 4 { … }            the lines between for i = 1 … 4: $i is the number, $i- the one before;
 *                                 repeat k of 1 4 16 { … } for these words
 *   model post_norm depth=2 …     instead of all this: the session's model, configured anew (example_model.c)
 *   decoder heads=4 keys=2 WORD … or a small decoder with seeded weights that reads these words (example_decoder.c) */
#ifndef VITRINE_LESSONS_EXAMPLE_H
#define VITRINE_LESSONS_EXAMPLE_H
#include "core/session/session.h"
#include "lessons/lesson.h"

enum { EXAMPLE_NODES = 8192, EXAMPLE_CELLS = 8 * 1024 * 1024, EXAMPLE_AXIS = 4096 };

typedef struct Example {
    char name[24];
    Graph *graph;     /* on the heap; the exhibit's once there is one */
    Exhibit *exhibit; /* the session's: what looks at it, edits and explains it like any other; NULL before */
    Session *session; /* that of the exhibit */
    float *pixels;    /* of a model's input, or NULL */
    size_t cells;     /* numbers in all */
    Model *own;       /* of a `decoder` line, or NULL */
    Arena arena;
} Example;

/* Builds its graph (example_free later, on failure too). m: for `model` lines. False with "FILE:LINE: …". */
bool example_build(Example *e, const char *file, const Worked *w, const Model *m, Err *err);
/* Makes it an exhibit of the session, named like the example; nothing on show changes. */
void example_exhibit(Example *e, Session *s);
/* Takes its exhibit from the session too, which must not show it. */
void example_free(Example *e);
#endif
