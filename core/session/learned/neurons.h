/* What excites a hidden unit, for its screen: the inputs that do so most among many, as far as they were measured. The
 * model is the one as trained. */
#ifndef VITRINE_SESSION_LEARNED_NEURONS_H
#define VITRINE_SESSION_LEARNED_NEURONS_H
#include "core/eval/dataset.h"
#include "core/session/session.h"
#include "core/train/sentences.h"

/* One input, its largest activation, and the token that has it. */
typedef struct NeuronHit {
    size_t item;
    int token;
    float value;
} NeuronHit;

enum { NEURON_HITS = 24, NEURON_PICTURES = 12, NEURON_WINDOWS = 200, NEURON_OF = 160 };

typedef struct NeuronShown {
    int mlp, unit;      /* number of the MLP in the order of building, and of the unit */
    size_t done, total; /* inputs that were measured, and that will be */
    int count;          /* of the hits, all above 0, the most exciting first */
    NeuronHit hit[NEURON_HITS];
    int label[NEURON_HITS];                 /* classes of the pictures */
    const char *file[NEURON_HITS];          /* … or, of a folder that somebody named, where they were read from */
    uint8_t *picture[NEURON_HITS];          /* [height, width, 3] */
    ParallelSentence sentence[NEURON_HITS]; /* of a text model */
    bool words, target;                     /* its inputs are sentences; its words are the target's */
    int window[NEURON_HITS][WINDOW_TOKENS]; /* … or windows of a decoder's texts, of so many tokens; 0: they are not */
    int window_tokens;
    const Vocabulary *vocabulary; /* of those */
    int height, width;
} NeuronShown;

/* Axes of an MLP's hidden numbers: [tokens,units], of several experts [tokens,experts,units], whose units are counted
 * through, expert by expert; count: of all. */
typedef struct NeuronAxes {
    int tokens, experts, units, count; /* experts: AXIS_NONE where there is one MLP */
} NeuronAxes;
/* post: NO_NODE is allowed. False where it has other axes. */
bool neuron_axes(const Graph *g, NodeId post, NeuronAxes *out);
/* The unit that indices stand at, and the other way round. */
int neuron_at(const Graph *g, const NeuronAxes *a, const int *at);
void neuron_put(const Graph *g, const NeuronAxes *a, int unit, int *at);

/* The unit in focus: of the MLP that the place is in, else of the first; false where the model has none. */
bool neuron_here(const Session *s, int *part, int *unit);
/* Path of a site of that MLP on a side. */
const char *neuron_path(const Session *s, Side side, Site site);
/* NULL before anything was measured; why (may be NULL): a line when nothing can be, else NULL. */
const NeuronShown *session_neuron(const Session *s, const char **why);
/* How many of the inputs excite it less than that, of those that were measured. */
size_t session_neuron_below(const Session *s, float value);
/* What is measured: "held-out pictures"; what somebody named: "pictures of birds". */
const char *neuron_over(const Session *s);
/* Name of a hit's file, NULL where its class is known instead. */
const char *neuron_file(const NeuronShown *n, int hit);
/* What token t of a window adds to its text, blanks and line ends as they are. */
void neuron_piece(const NeuronShown *n, int hit, int token, Buf *out);
/* The word of a sentence that has token t: of the lexicon, or the end, or the start. */
const char *neuron_word(const NeuronShown *n, int hit, int token);
int neuron_words(const NeuronShown *n, int hit); /* tokens that it read */
/* A screen's work. */
bool measures_step_neurons(Session *s, int64_t deadline_ns);
/* Measures to the end, with the session's progress; false when cancelled or impossible. */
bool session_measure_neurons(Session *s, Err *err);
/* The same over the pictures of a folder (dataset_folder), or of a decoder over the windows of a text. Until the model
 * changes, or another is named, they are what is measured. Where it can't be read what was measured stays. */
bool session_measure_neurons_of(Session *s, const char *path, Err *err);
#endif
