/* Which class is taken for which: a model as trained names many labelled pictures. Of the model of photographs that is
 * known; of drawn shapes it is measured a little at a time; of any other model over a folder that somebody names. */
#ifndef VITRINE_SESSION_SCREENS_CONFUSION_H
#define VITRINE_SESSION_SCREENS_CONFUSION_H
#include "core/session/session.h"

struct ConfusionWork;
typedef struct Confusion {
    int classes;
    const size_t *count; /* [classes, classes]: pictures of a class that were given the name of a class; NULL while … */
    size_t pictures;     /* … that is being measured: over how many, */
    double share;        /* and how much of it is done */
    const char *of;      /* "held-out photographs" */
    bool opens;          /* of a folder: its pictures can be opened */
    bool part;           /* … and only one in ten is taken, as what the model learned from may lie there */
} Confusion;

/* False: why (one line) it can't be known of this model. */
bool session_confusion(const Session *s, Confusion *out, const char **why);
/* Path of the picture behind `after` (NULL: the first) of those of class `label` that were named `named`, round and
 * round; NULL where there is none. */
const char *session_confused(const Session *s, int label, int named, const char *after);
/* What a screen may work on (ScreenSpec.work). */
bool measures_step_confusion(Session *s, int64_t deadline_ns);
void confusion_free(struct ConfusionWork *w); /* NULL is allowed */
#endif
