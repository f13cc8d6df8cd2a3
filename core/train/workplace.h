/* The folder that a model is trained in: one training at a time, tried before the first step, tidied of what a killed
 * run left. */
#ifndef VITRINE_TRAIN_WORKPLACE_H
#define VITRINE_TRAIN_WORKPLACE_H
#include <stdbool.h>

#include "core/base/err.h"

enum { WORKPLACE_PATH = 1100 };

/* A zeroed Workplace has fd 0 and is not open: initialise with WORKPLACE_NONE. */
typedef struct Workplace {
    int fd;                     /* of the folder; the lock hangs on it and ends with the process, however that ends */
    char state[WORKPLACE_PATH]; /* what an interrupted training goes on from */
    bool resumes;               /* it is there */
    bool made;                  /* the folder was not there before: an empty one is taken away again */
    char folder[WORKPLACE_PATH];
} Workplace;
#define WORKPLACE_NONE                                                                                                 \
    {                                                                                                                  \
        .fd = -1                                                                                                       \
    }

/* Makes the folder if need be and takes it. An error, with nothing to close: it can't be made or written to, holds a
 * finished model, or another training is at work in it. Where the disk knows no locks there is none. */
bool workplace_open(Workplace *w, const char *folder, Err *err);
void workplace_close(Workplace *w);
#endif
