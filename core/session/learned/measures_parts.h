/* Inside core/session only: what is measured about a model, and how far each measurement is. */
#ifndef VITRINE_SESSION_LEARNED_MEASURES_PARTS_H
#define VITRINE_SESSION_LEARNED_MEASURES_PARTS_H
#include "core/eval/batch_run.h"
#include "core/eval/evaluation.h"
#include "core/eval/head_kinds.h"
#include "core/eval/surprise.h"
#include "core/session/learned/decoding.h"
#include "core/session/learned/film.h"
#include "core/session/learned/measures.h"

/* A record of training with what its positions knew at every snapshot. */
typedef struct TrainingRecord {
    History history;
    PositionGrid *grid; /* [snapshots], or NULL where the model has no positions */
    PositionFilm film;  /* zeroed where it has none */
    WordFilmText words; /* of a text model: what its snapshots are of */
    size_t checked;     /* pictures that its accuracies are over; 0 where nobody wrote that down */
    bool there;
} TrainingRecord;

/* One measurement under way. */
typedef struct Measuring {
    Measure measure;
    bool begun, finished;
    int at;           /* the cell being measured; -1: the base */
    Accuracy *exam;   /* of that cell */
    Accuracy *base;   /* the one of all heads and factor 1, done */
    Dataset *dataset; /* the pictures, or sentences, of this round */
    size_t round;
    size_t base_right, *right; /* of all rounds so far, this one included, by cell; what is shown are whole rounds */
    Paired *pair;
    BatchRun *batch;    /* occlusion: one for all cells */
    HeadPlaces *places; /* where heads look */
    Surprise *surprise; /* of a decoder, over its texts */
    HeadKinds *kinds;   /* …of a text model that is no translator with the lexicon's words */
    const Model *model; /* occlusion: what it is of: that model, … */
    float *picture;     /* … the picture as the edits leave it, [cells], … */
    size_t cells;
    bool ready;      /* … standardised already, … */
    EditState lines; /* … and these edits */
    float *logits;   /* occlusion: [1 + patches, classes] */
    size_t items_done;
    bool large;   /* occlusion: one pass takes so long that it must stop in the middle; then */
    bool painted; /* … the next pictures are laid out, and partly computed */
    char problem[sizeof(((Err *)0)->text)]; /* why it came to nothing, or "" */
} Measuring;

struct Measures {
    bool read; /* the records were looked for */
    TrainingRecord own, twin;
    char problem[sizeof(((Err *)0)->text)];
    Pictures *pictures;
    Measuring work[MEASURE_KINDS];
    bool occlusion_settled; /* it is known whose the occlusions are: no, A or B may be another run by now */
    bool occlusion_alike;   /* A and B are the same picture, model and edits: B's occlusion is A's */
    const Measuring *now;   /* the one that was worked on last; NULL: none, since the screen was last worked for */
    struct DecodingWork *decoding;   /* decoding.h; NULL until it is asked for */
    struct NeuronWork *neurons;      /* neurons.h; likewise */
    struct ConfusionWork *confusion; /* screens/confusion.h; likewise */
    struct EncodingWork *encoding;   /* screens/tokens.h; likewise */
};
struct Measures *measures_of(Session *s); /* makes them */
/* Inputs first … first+count-1 that the model on show is examined on. */
Dataset *measures_dataset(Session *s, uint64_t first, size_t count);
/* Windows of the texts of a decoder, at most so many; NULL with err. Why there are none, or NULL. */
Dataset *measures_windows(const Session *s, size_t count, Err *err);
const char *measures_windows_why(const Session *s);

void measures_free_work(Measuring *w); /* zeroed then */

/* --- measures_accuracy.c: measurements over many pictures --- */
void measures_accuracy_begin(Session *s, MeasureKind kind, Measuring *w);
bool measures_accuracy_step(Session *s, MeasureKind kind, Measuring *w, int64_t deadline_ns); /* true: finished */
bool measures_accuracy_complete(const Session *s, const Measure *m); /* over as many pictures as are asked for */
/* --- measures_surprise.c: the factors on the scale, and the heads, of a decoder over its texts --- */
void measures_surprise_begin(const Session *s, MeasureKind kind, Measuring *w);
bool measures_surprise_step(Measuring *w, int64_t deadline_ns); /* true: finished */
/* --- neurons.c --- */
void neurons_drop(struct NeuronWork *w); /* NULL is allowed */
/* --- measures_maps.c: where heads look, and occlusion --- */
void measures_looks_begin(Session *s, Measuring *w);
bool measures_looks_step(Measuring *w, int64_t deadline_ns);
/* Whose is what was measured? Keeps what is still A's or B's, also where they changed places, and drops the rest. */
void measures_occlusion_settle(Session *s);
void measures_occlusion_begin(const Session *s, Side side, Measuring *w);
bool measures_occlusion_step(const Session *s, Side side, Measuring *w, int64_t deadline_ns);
#endif
