/* What a model learned, for the screens: the records of its training, and measurements over many pictures. A
 * measurement is made a little at a time by session_step while its screen is on, is dropped when what it depends on
 * changes, and says over how many pictures it is. Nothing here is drawn before it was measured. */
#ifndef VITRINE_SESSION_LEARNED_MEASURES_H
#define VITRINE_SESSION_LEARNED_MEASURES_H
#include "core/base/interval.h"
#include "core/eval/ablation.h"
#include "core/eval/figures.h"
#include "core/eval/head_kinds.h"
#include "core/models/probe_positions.h"
#include "core/session/learned/film.h"
#include "core/session/session.h"
#include "core/train/history.h"

/* The training run of the model that is open, NULL where none is known; the twin: the same recipe and seed without
 * 1/√d_k. Read when the training screen is first gone to (`training`) or shown: NULL before. */
const History *session_history(const Session *s);
const History *session_history_twin(const Session *s);
/* Is what is open one of the models in the program? Is it the one that has seen photographs? */
bool session_shipped(const Session *s);
bool session_photos(const Session *s);
/* Over how many pictures the accuracies of a run were recorded; 0: not known. */
size_t session_history_checked(const Session *s, bool twin);
/* What the positions of that run (of its twin) learned; NULL where there is no run or it has no positions. Its frames
 * are made by measures_step while the screen `training` is on. */
const PositionFilm *session_film(const Session *s, bool twin);
/* What the positions knew of the grid at that snapshot of either; NULL where there is no such snapshot, or no
 * positions. */
const PositionGrid *session_history_grid(const Session *s, bool twin, int snapshot);
/* One line when there is a record beside the model that can't be read, else NULL. */
const char *session_history_problem(const Session *s);
/* The run that look.training.twin chooses: the model's own, or the twin's where there is one. */
const History *session_history_shown(const Session *s);

/* Of a text model a row stands for an attention (anatomy_attention), a picture for a sentence of unseen combinations,
 * and named right is translated without a fault; it has no read-out and no occlusion.
 * Census, scale and read-out are those of the model as trained, whatever edits are in force: over the first
 * pictures that it never learned from, how many says Measure.pictures. Occlusion is that of what is on show, B, or of
 * the run beside it: this picture, this model, these edits. What was measured of one goes over to the other: where an
 * edit makes a new B, A has the map that B had. */
typedef enum MeasureKind {
    MEASURE_CENSUS,      /* rows: blocks, columns: heads; value: share named right with that head's z set to 0; of a
                          decoder how much its texts surprise it. base: with all heads */
    MEASURE_SCALE,       /* rows: 1, columns: measures_factor; value: share named right with attn.scale of every block
                          multiplied by it; of a decoder how much its texts surprise it. base: at 1 */
    MEASURE_OCCLUSION,   /* rows, columns: the patch grid; value: logit of the answer with that patch grey, as `grey`
                          makes it. base: with none */
    MEASURE_OCCLUSION_A, /* the same of A, where there is one */
    MEASURE_READOUT, /* rows: 1, columns: 2; value: share named right from the class token, from the mean of the patch
                          tokens. base: as it is read */
    MEASURE_LOOKS, /* rows: blocks, columns: heads; value: attention distance in pixels. base: of equal weights. All of
                      it: session_head_places. Of a text model in places of words; of one whose texts are
                      not known how much of it is an induction head, over texts of random tokens: session_head_kinds */
    MEASURE_KINDS
} MeasureKind;

typedef struct Measure {
    int rows, cols;
    float *value; /* [rows, cols]; NaN until that cell is measured */
    float base;   /* NaN until measured */
    /* Of accuracies: how many were named right, and of every finished cell what it loses against the base over the same
     * pictures; NULL for occlusion. For the bundled model these are the shipped figures (core/eval/figures.h), over
     * FIGURES_PICTURES; else they are measured in rounds of MEASURES_ROUND pictures, and after each of them are over
     * more, until they are over LookAt.pictures (MEASURES_PICTURES if not set). */
    size_t base_right, *right;
    Paired *pair;
    /* Of a decoder over its texts (session_texts), of each cell: how much they surprise it, nats a token, and how much
     * more than the base, over the windows that were read; NULL of others. value and base are the same nats then, and
     * pictures counts the windows. */
    MeanOver *nats, *more;
    MeanOver base_nats;
    bool heads;         /* nats: of the census, else of the scale */
    size_t tokens;      /* of those windows that are asked for */
    size_t pictures;    /* over how many every finished cell is; 1 for occlusion */
    bool whole;         /* every cell is there: what was measured once is only measured more exactly from then on */
    size_t done, total; /* forward passes, for progress and time left; equal when nothing is left to do */
    int answer;         /* occlusion: the class whose logit it is, -1 until known */
} Measure;

enum {
    MEASURES_ROUND = 500, /* after so many there are figures to look at */
    MEASURES_PICTURES = 5000,
    MEASURES_FACTORS = ABLATION_FACTORS,
    MEASURES_TILES_ACROSS = 8,
    MEASURES_WINDOWS = 50 /* of a decoder's texts, at most */
};                        /* tiles: how many the up and down keys pass over on the screen `filters` */
/* Factor number i on attn.scale in the scale laboratory (ablation_factor). */
float measures_factor(const Session *s, int i);
/* NULL while nothing of it is there; why (may be NULL): one line when it cannot be measured for this model, else NULL.
 */
const Measure *session_measure(const Session *s, MeasureKind kind, const char **why);
/* Where every head looks over those pictures or sentences; NULL until all of it is measured. */
const HeadPlacesResult *session_head_places(const Session *s);
/* …of one that is measured on random tokens; NULL until two texts are read. Over how many it says. */
const HeadKindsResult *session_head_kinds(const Session *s);
/* Is the model that is open measured so? */
bool session_kinds_apply(const Session *s);
/* What a decoder is measured on: "held.txt", "your text". */
const char *session_texts(const Session *s);
/* What is measured over: "pictures", "photographs", "sentences". */
const char *session_measured_over(const Session *s);
/* "99.1 % (98.8–99.4)": a share that was measured, with its 95 % interval; returns out. */
const char *measure_share_text(size_t right, size_t pictures, char *out, size_t n);
/* Of nats: does what cell i surprises more differ from 0 by more than its interval? Of one window nothing does. */
bool measure_more_differs(const Measure *m, int i);
/* Census: which places among all heads this one can have, 1 the most missed, of those that are measured. */
void measure_places(const Measure *m, int cell, int *first, int *last);
/* For commands and tests: measures until every cell is over so many pictures, or to the end, with the session's
 * progress. False when cancelled or impossible. */
bool session_measure_all(Session *s, MeasureKind kind, size_t pictures, Err *err);

/* Called by session_step: works on what the screen that is on shows. True when there is nothing left to do. */
bool measures_step(Session *s, int64_t deadline_ns);
/* How far what the screen works on is, in forward passes; false: it measures nothing that is counted so. */
bool measures_progress(const Session *s, size_t *done, size_t *total);
/* … as a share, or that of the ledger's losses; 1: nothing is measured. */
double measures_share(const Session *s);
/* Of the bundled model: the shipped figures are there at once. */
void measures_take_shipped(Session *s);
/* What a screen may work on (ScreenSpec.work). */
bool measures_step_film(Session *s, int64_t deadline_ns);
bool measures_step_occlusion(Session *s, int64_t deadline_ns);
bool measures_step_readout(Session *s, int64_t deadline_ns);
bool measures_step_scale(Session *s, int64_t deadline_ns);
bool measures_step_census(Session *s, int64_t deadline_ns); /* and where heads look, of the bundled model */
bool measures_step_looks(Session *s, int64_t deadline_ns);
/* Reads the records of training, if that was not done yet. */
void measures_read_history(Session *s);
bool measures_history_read(const Session *s); /* …was done */
/* The same; its film stands at the last snapshot then, which is the model that is on show. */
void measures_open_history(Session *s);
/* Called when model, picture or edits changed: drops what depended on them. */
typedef enum StudyChange { MEASURES_MODEL, MEASURES_INPUT, MEASURES_EDITS } StudyChange;
void measures_changed(Session *s, StudyChange what);
void measures_free(Session *s);

/* Figures of the picture models in the program, as they were measured over many pictures (core/eval/figures.h).
 */

/* Are they of the model that is open? */
bool session_figures_known(const Session *s);
/* Of the one that is open, and over how many pictures its figures are. */
Figure session_figure(const Session *s, FigureKind kind, int i);
size_t session_figures_over(const Session *s);
/* Are those of the lens of that model, which has so many blocks? */
bool session_lens_known(const Session *s, int blocks);
/* "of 21 named with 90 to 99 %, 100.0 % (84.5–100.0) are right": what an answer of that probability was worth among
 * the held-out photographs; false, out "", where that is not known of the model that a side shows. */
enum { SURE_TEXT = 120 };
bool session_sure_text(const Session *s, Side side, float probability, char out[SURE_TEXT]);
#endif
