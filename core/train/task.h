/* What can be learnt: one file per kind says what its recipes and models may be told, makes micro-batches of its
 * examples, builds the graph of their loss, and says which answers are right. Everything else about training
 * (trainer.h) is the same for all. */
#ifndef VITRINE_TRAIN_TASK_H
#define VITRINE_TRAIN_TASK_H
#include "core/base/pool.h"
#include "core/graph/plan.h"
#include "core/models/family.h"
#include "core/train/descent.h"
#include "core/train/history.h"
#include "core/train/recipe.h"

enum { TASK_INPUTS = 5, TASK_MICRO_MOST = 8, TASK_VARIANTS = 16 };

/* Examples that are not learnt from. */
typedef enum TaskSet {
    TASK_HELD_OUT, /* accuracies are stated on these */
    TASK_CHECK     /* looked at while training */
} TaskSet;

/* A graph over a micro-batch: the model, its loss and the gradient of every weight. */
typedef struct TaskGraph {
    Graph graph;
    float *zeros;              /* what inputs point at until a plan gives them others; owned */
    NodeId input[TASK_INPUTS]; /* leaves, in the order of the kind; NO_NODE: this graph has none */
    NodeId each;               /* cross entropy of every answer, [examples] or [examples, answers] */
    NodeId logits;             /* the examples' axis first */
    NodeId guess_error;        /* a single number: Σ of squared differences of what was hidden; NO_NODE: nothing is */
    NodeId loss;               /* a single number */
    NodeId *gradient;          /* of each entry of the model's weights, NO_NODE where none passes */
} TaskGraph;
void task_graph_free(TaskGraph *g); /* zeroed allowed */

/* A thread's own: plans and the micro-batch that it computes. */
typedef struct TaskBench {
    Plan *learn[TASK_VARIANTS], *answer; /* made when first needed */
    float *input[TASK_INPUTS];           /* what the graph's leaves are given, in the kind's order; owned */
    void *own;                           /* the kind's: which examples these are; one allocation, owned */
} TaskBench;

/* What one micro-batch contributes to the figures of a step. */
typedef struct MicroFigures {
    double loss, guess;
    size_t right;
} MicroFigures;

/* A training in progress: trainer.c's, open to the kinds. */
typedef struct Trainer {
    Recipe recipe;
    void *config; /* of the model: a copy, of the recipe's kind */
    Model model;  /* its weights as they are now; after the last step the average, where the recipe asks for one */
    const void *examples; /* of the kind: not owned */
    void *own;            /* the kind's */
    Pool *pool;
    TaskGraph graph[TASK_VARIANTS]; /* built when first needed, by the thread that steps */
    TaskBench *bench;               /* [threads] */
    int benches;
    Descent descent;
    float *mean;           /* [block]: the sum of averaged weights; NULL where none are averaged */
    int *variant;          /* [micros]: the graph of each micro-batch of this step */
    MicroFigures *figures; /* [micros] */
    History history;
    int width; /* of the model, for the schedule */
    int step;  /* steps done */
    /* of the step in progress: answers that its loss is the mean over; numbers that were hidden */
    double counted, hidden;
} Trainer;

typedef struct TaskKind {
    const char *name;           /* what a recipe's "kind" says; NULL: a recipe that says nothing */
    const char *examples;       /* "pictures" */
    const char *thing;          /* what comes out: "model", "translator" */
    const char *right;          /* its share of right answers on a line: "right", "words right" */
    const char *does;           /* of those held out: "names right" */
    const char *held_out;       /* "held-out pictures" */
    const char *well;           /* "held-out pictures are named right" */
    const char *history, *twin; /* assets: what was recorded of the bundled model's training, of its twin's; or NULL */
    bool film_of_patterns;      /* that record shows attention; else the table of positions */
    const Family *family;       /* of its models */
    unsigned way;               /* …and their way with words (model_way) */
    bool each;                  /* every answer of an example is counted by itself, not the examples without a fault */
    int micro; /* examples whose gradients are computed together; part of the recipe, hence of the bytes */
    Fields recipe_fields, model_fields;
    /* The recipe of the bundled model; with steps > 0 a shorter run of the same kind, for tests and tries. */
    Recipe (*recipe)(int steps);
    /* A model's configuration: VitConfig, Seq2seqConfig. */
    size_t config_bytes;
    void (*bundled)(void *config); /* of the bundled model */
    /* What follows from what was said, and whether that can be built. scaled: the factor on the scores was said. */
    bool (*settle)(void *config, bool scaled, Err *err);
    size_t (*params)(const void *config);
    /* What is learnt from, for the command line: the endless drawn ones, or the folder's, or the file's. False with err
     * where there is none. *examples may stay NULL; config is finished by what they are. */
    bool (*find)(const char *folder, const Recipe *r, void *config, void **examples,
                 bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err);
    void (*leave)(void *examples);
    /* Fits a recipe to them: how many steps, unless that was said, and how many examples are looked at meanwhile; NULL:
     * it stays as it is. */
    void (*fit)(Recipe *r, const void *config, const void *examples, bool said);

    /* t->model of t->config with its first weights, t->descent that lists them, t->width, t->history, t->own. */
    void (*open)(Trainer *t);
    void (*close)(Trainer *t);
    void (*build)(const Trainer *t, int variant, TaskGraph *g);
    void (*bench)(const Trainer *t, TaskBench *b); /* its inputs and own */
    /* The examples of step t->step: t->variant, t->counted and t->hidden. */
    void (*draw)(Trainer *t);
    void (*load)(const Trainer *t, TaskBench *b, size_t micro);
    /* Examples first … first + n - 1 of a set, without answers; in graph `exam_variant`. */
    void (*load_exam)(const Trainer *t, TaskBench *b, TaskSet set, uint64_t first, size_t n);
    int exam_variant;
    /* How many answers example i of the loaded micro-batch has, and how many of them come first in its logits. */
    size_t (*answers)(const TaskBench *b, int i);
    size_t (*right_answers)(const Trainer *t, const TaskBench *b, int i, const float *logits);
    size_t (*held)(const Trainer *t); /* how many are held out; 0: endless */
    /* What the history looks at, of the weights as they are: the mean entropy of every line, and a snapshot. Either
     * may be NULL. */
    void (*look)(Trainer *t, float *lines, Snapshot *s);
    void (*record)(const Model *m, History *out); /* an empty history of one of its models */
    /* What a state must have been made with besides the recipe; and what the folder of the model has besides. */
    void (*identity)(const Trainer *t, Buf *out);
    bool (*write)(const Trainer *t, const char *folder, Err *err);
    void (*tell)(const Trainer *t, Buf *out); /* lines about what was learnt from */
} TaskKind;

extern const TaskKind PICTURES_TASK, SENTENCES_TASK, DECODER_TASK;
/* The kind of a recipe in a file. */
const TaskKind *task_of(const Json *recipe);
/* The kind that makes models of this one's family and way, else the first of its family, or NULL. */
const TaskKind *task_of_model(const Model *m);
bool task_makes(const TaskKind *k, const Model *m); /* is it one of its models, of family and way? */
#endif
