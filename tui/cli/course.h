/* What every training on the command line is: its folder, the lines that say how far it is, what is kept meanwhile, and
 * what is said when it is interrupted or the disk is full. Pictures and texts differ only in their trainer. */
#ifndef VITRINE_TUI_CLI_COURSE_H
#define VITRINE_TUI_CLI_COURSE_H
#include "core/train/workplace.h"
#include "tui/cli/work.h"

/* A step as it is told. */
typedef struct CourseStep {
    int step; /* steps done */
    double loss, gradient_norm, right;
    double guess; /* of hidden patches; −1: none */
} CourseStep;

/* A trainer, as functions over it. */
typedef struct CourseKind {
    const char *right; /* what its share of right answers is called: "words right" */
    CourseStep (*step)(void *trainer);
    int (*steps_done)(const void *trainer);
    bool (*save)(const void *trainer, const char *path, Err *err);
    bool (*resume)(void *trainer, const char *path, Err *err);
    bool (*write)(const void *trainer, const char *folder, Err *err);
    void (*tell)(void *owner, Buf *out); /* of the finished model; owner as below */
} CourseKind;

typedef struct Course {
    Work *w;
    const CourseKind *kind;
    void *trainer, *owner;
    const char *folder;
    int steps; /* of the recipe */
    Workplace place;
    /* of the run in progress */
    int64_t began, saved;
    int first; /* step it began at */
} Course;

/* Goes on from what was interrupted in c->place, which is open, to the last step; an exit status. */
int course_run(Course *c, Err *err);
/* Refuses what the machine has no memory for: `copies` of all weights, in float32. */
bool course_fits(double copies, size_t weights, Err *err);
#endif
