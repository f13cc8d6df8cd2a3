/* every.h: how many of its plants a suite tries. PLANTED=all (make planted): each; PLANTED=N (under sanitizers,
 * and with the second compiler): every Nth; else as many as the suite usually does. */
#ifndef VITRINE_TESTS_CORE_DIFF_EVERY_H
#define VITRINE_TESTS_CORE_DIFF_EVERY_H

#include <stdlib.h>
#include <string.h>

static inline int plants_every(int usual)
{
    const char *word = getenv("PLANTED");
    int every = word ? atoi(word) : 0;
    return word && strcmp(word, "all") == 0 ? 1 : every > 0 ? every : usual;
}

#endif
