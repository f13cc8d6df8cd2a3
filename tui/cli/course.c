#include "tui/cli/course.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/machine.h"
#include "core/base/stop.h"
#include "core/base/tell.h"

enum { REPORTS = 20 };
#define SAVE_NS 60000000000

bool course_fits(double copies, size_t weights, Err *err)
{
    return machine_holds(copies * (double)weights * sizeof(float), "training",
                         "take a smaller model or a smaller \"batch\"", err);
}

/* What is left of the time, from the steps of this run. */
static void time_left(const Course *c, int done, char *out, size_t n)
{
    int steps = done - c->first, left = c->steps - done;
    double seconds = steps > 0 ? (double)(clock_ns() - c->began) / 1e9 / steps * left : 0;
    if (steps < 2)
        *out = 0;
    else if (seconds < 90)
        snprintf(out, n, "%.0f s left", seconds);
    else
        snprintf(out, n, "%.0f min left", seconds / 60);
}

/* One line for people: on a terminal it is drawn over the last one, else written now and then. */
static bool report(const Course *c, const CourseStep *s)
{
    char line[160], left[32];
    snprintf(line, sizeof line, "step %d of %d  loss %.3f  %s %.3f", s->step, c->steps, s->loss, c->kind->right,
             s->right);
    int every = c->steps / REPORTS > 0 ? c->steps / REPORTS : 1;
    if (!isatty(STDERR_FILENO) && s->step % every == 0) {
        time_left(c, s->step, left, sizeof left);
        char guess[32] = "";
        if (s->guess >= 0)
            snprintf(guess, sizeof guess, "  guess %.3f", s->guess);
        char full[320];
        snprintf(full, sizeof full, "%s%s  gradient %.3f%s%s", line, guess, s->gradient_norm, *left ? "  " : "", left);
        tell_line(full);
    }
    return work_progress(c->w, line, (double)s->step / c->steps);
}

/* Said here: the signal that interrupts ends the program before an error is. */
static int interrupted(const Course *c)
{
    Err said = {{0}};
    stop_take();
    if (c->kind->save(c->trainer, c->place.state, &said))
        err_set(&said, "interrupted after step %d of %d; the same command goes on from there",
                c->kind->steps_done(c->trainer), c->steps);
    work_complain(c->w, said.text);
    return STATUS_BAD;
}

static int finish(const Course *c, Err *err)
{
    bool kept = c->kind->save(c->trainer, c->place.state, NULL); /* what the same command finishes on a full disk */
    if (!c->kind->write(c->trainer, c->folder, err)) {
        size_t n = strlen(err->text);
        if (stop_asked())
            return interrupted(c);
        snprintf(err->text + n, sizeof err->text - n, " The same command then goes on%s.",
                 kept ? " from here" : " from where it last saved");
        return STATUS_BAD;
    }
    c->w->written = true;
    unlink(c->place.state);
    c->kind->tell(c->owner, &c->w->out);
    return STATUS_DONE;
}

int course_run(Course *c, Err *err)
{
    if (c->place.resumes && !c->kind->resume(c->trainer, c->place.state, err))
        return STATUS_BAD;
    c->began = c->saved = clock_ns();
    c->first = c->kind->steps_done(c->trainer);
    if (!c->kind->save(c->trainer, c->place.state, err)) /* the disk takes it, now and so probably later */
        return STATUS_BAD;
    while (c->kind->steps_done(c->trainer) < c->steps) {
        const CourseStep s = c->kind->step(c->trainer);
        if (!isfinite(s.loss) || !isfinite(s.gradient_norm)) {
            err_set(err,
                    "step %d: the loss or its gradient is no number any more; a lower \"rate\" or a longer \"warmup\" "
                    "keeps it small",
                    s.step);
            return STATUS_BAD;
        }
        if (!report(c, &s))
            return interrupted(c);
        if (clock_ns() - c->saved > SAVE_NS) {
            if (!c->kind->save(c->trainer, c->place.state, err))
                return STATUS_BAD;
            c->saved = clock_ns();
        }
    }
    return finish(c, err);
}
