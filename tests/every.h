/* every.h: how many of its cases a suite tries. PLANTED=all (make planted): each; PLANTED=N (under sanitizers, and with
 * the second compiler): every Nth; else as many as the suite usually does. */
#ifndef VITRINE_TESTS_EVERY_H
#define VITRINE_TESTS_EVERY_H

#include <stdlib.h>
#include <string.h>

static inline int cases_every(int usual)
{
    const char *word = getenv("PLANTED");
    int every = word ? atoi(word) : 0;
    return word && strcmp(word, "all") == 0 ? 1 : every > 0 ? every : usual;
}

#endif
