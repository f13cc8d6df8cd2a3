/* Numbers of a lesson: expressions over the trace.
 *
 *   + - * / ^ ( )  and numbers as they are printed: 150,528, 0.5, 1e-6
 *   blocks.0.attn.pattern[h=1,t=0,u=5]   a cell of the session's model as it is shown now; a: as trained
 *   ex:pattern[t=0,u=1]                  a cell of the worked example ex
 *   sum mean largest smallest var norm argmax entropy cells (ADDRESS)   over all cells of an address; var divides by
 *                                        their number, norm is the length, entropy −Σ x ln x, argmax counts from 0
 *   dot cosine maxdiff (ADDRESS, ADDRESS)
 *   params(SCOPE) flops(SCOPE)           of the model; params() of all of it
 *   at(AXIS)                             where the reader's cursor stands on that axis; on("PATH") 1 where it is on
 * that node sqrt exp ln log2 abs floor ceil round min max erf */
#ifndef VITRINE_LESSONS_NUMBER_H
#define VITRINE_LESSONS_NUMBER_H
#include "core/session/session.h"
#include "lessons/example.h"

typedef struct Scope {
    Session *s;
    const Example *examples;
    int count;
} Scope;

/* False and one line (without file and line) when the text is no expression or what it names is not there. Computes
 * what is missing. */
bool number_value(const Scope *scope, const char *text, double *out, Err *err);
/* A number as printed: digits with , between thousands, one point, an exponent; a minus of either kind. Returns the
 * characters it takes, 0 when text begins with none; *half is half a unit of its last place. */
size_t number_printed(const char *text, double *out, double *half);
/* Does an address name something here? For code in prose. */
bool number_address(const Scope *scope, const char *text, Err *err);
#endif
