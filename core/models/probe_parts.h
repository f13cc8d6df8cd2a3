/* What the analyses of a Vision Transformer share while they are appended to its graph. Internal to core/models:
 * probes.c calls the others, one file per kind of analysis. */
#ifndef VITRINE_MODELS_PROBE_PARTS_H
#define VITRINE_MODELS_PROBE_PARTS_H
#include <stdint.h>

#include "core/graph/anatomy.h"
#include "core/models/vit.h"

/* Nodes of one block that analyses begin with. */
typedef struct ProbeBlock {
    int part, attention;            /* of the anatomy */
    NodeId pattern, scores, z, w_o; /* z: what W_O reads */
    NodeId out;                     /* the tokens behind the block */
    NodeId mean_pattern;            /* an analysis itself */
} ProbeBlock;

/* One attention whose rows are asked about: its axes and nodes, and numbers that are there already. */
typedef struct ProbeRows {
    int h, t, u, d;
    int heads;
    NodeId pattern, scores, z, w_o;
    NodeId sum_one; /* 1, where the weights of a row add up to less (a learned sink); NO_NODE: they add up to 1 */
    NodeId two, queries, log_keys; /* 2; how many queries; ln of how many keys, NO_NODE where that is one */
    bool masked;                   /* a row may look at some of the keys: the most that it can have is ln of those */
} ProbeRows;

/* The leaves of a norm of the model, and of a head; NO_NODE where it has none. */
typedef struct ProbeNorm {
    NodeId width, eps, gamma, beta;
    bool rms;
} ProbeNorm;
typedef struct ProbeHead {
    NodeId weight, bias;
} ProbeHead;

typedef struct Probes {
    Graph *g;
    const VitConfig *c;
    const VitNodes *nodes;
    ProbeBlock *block; /* [layers] */
    ProbeNorm final, fc;
    ProbeHead head, head_dist;
    struct {
        int c, i, j, y, x, p, t, u, h, e, d, o; /* the model's; o may be AXIS_NONE */
        int p0, w;                              /* patch compared with, third token */
    } axis;
    /* Numbers, in numbers.probe. log_tokens is NO_NODE where there is one token. */
    NodeId zero, one, two, half, tokens, patches, log_tokens;
    NodeId steps_sq; /* grid.probe.steps_sq[p,p0]: squared distance of two patches in grid steps */
    NodeId distance; /* grid.probe.distance[p,p0]: in pixels */
} Probes;

/* Sets the scope of what is said about a block's attention. */
void probe_scope(Probes *b, int layer);
/* A number that several analyses of text models read, made once, in numbers.probe; leaves that scope behind it. */
NodeId probe_number(Graph *g, const char *name, float value);
/* The node of that path, which must be there. */
NodeId probe_existing(const Graph *g, const char *path);
/* Analyses from `first` on are all there: flags them, notes in the anatomy which they are, and leaves every scope. */
void probe_end(Graph *g, NodeId first, unsigned flags);
/* Large and quickly made again: may be forgotten between frames. Returns n. */
NodeId probe_passing(Graph *g, NodeId n);
/* The patches of axis `from` (tokens that end with all patches) as axis `to`. */
NodeId probe_patches(Graph *g, const char *name, NodeId x, int from, int to);
/* Another axis of the same length and labels. */
int probe_axis(Graph *g, int of, const char *sym, const char *name, AxisRole role);
/* Σ over the axes that out lacks, as NAME_sum, divided by a number: NAME. */
NodeId probe_mean(Graph *g, const char *name, NodeId x, Dims out, NodeId count);

typedef struct CosineNames {
    const char *sq, *sumsq, *norm, *norm_seen, *seen, *dot, *norms, *cosine;
} CosineNames;
typedef struct ProbeCosine {
    NodeId dot, sumsq, cosine; /* [p,p0], [p], [p,p0] */
} ProbeCosine;
/* cos(a, b) = a·b / (|a| |b|) for every pair of rows of x[p,d]; p0: another axis of p's length. */
ProbeCosine probe_cosine(Graph *g, NodeId x, int p, int p0, CosineNames name);

/* The leaves of that part, a norm. */
ProbeNorm probe_norm_of(const Graph *g, int part);
/* That norm of x over axis d: (x − mean) / √(variance + ε) · γ + β, as nodes PREFIX_sum … PREFIX_out. */
NodeId probe_norm(Graph *g, const char *prefix, NodeId x, int d, ProbeNorm norm);
/* Appends it in the scope that is set; returns the mean pattern. */
NodeId probe_rows(Graph *g, const ProbeRows *r);
void probe_attention(Probes *b, int layer);
void probe_rollout(Probes *b);
/* A square of tokens that ask and tokens that are looked at, and a third axis of their length. */
typedef struct ProbeRollout {
    int t, u, w;
    NodeId zero, half, identity; /* identity: probe_half_identity's */
} ProbeRollout;
/* ½ on the diagonal: token number less token number is 0 there. In this way nothing of T² cells exists before it is
 * looked at. In the scope that is set. */
NodeId probe_half_identity(Graph *g, const ProbeRollout *r);
/* The rollout through one block more, in the scope that is set; before: through those before it, or NO_NODE. */
NodeId probe_rollout_through(Graph *g, const ProbeRollout *r, NodeId mean, NodeId before);
void probe_text_places(Graph *g);   /* of every stack of a text model; behind its attentions' analyses */
void probe_text_gradient(Graph *g); /* behind gradients: times the words' vectors, a number for every token */
void probe_grid(Probes *b);         /* makes steps_sq and distance */
void probe_distance(Probes *b, int layer);
void probe_find_answer(Probes *b); /* fills the norms and heads: before any node is appended, for the search's sake */
void probe_lens(Probes *b, int layer); /* −1: before the first block; else after its attention, and after it */
/* The stream that a block's MLP is added to: the tokens after attention, behind its norm where it has one. NO_NODE: the
 * block has no MLP. */
NodeId probe_before_mlp(const Graph *g, int block);
void probe_other_readout(Probes *b);
void probe_places(Probes *b);
void probe_fit(Probes *b);
enum { ALIKE_COMPONENTS = 3 };
void probe_alike(Graph *g); /* of every stack */
void probe_alike_pixels(Probes *b);
void probe_lengths(Graph *g); /* behind all that the map of steps shows */
/* Of an MLP: weight, the answer's; norm: the one between its block and the answer, NULL where there is none. */
void probe_neurons(Graph *g, int part, NodeId weight, const ProbeNorm *norm);
void probe_filters(Probes *b);
void probe_guess(Probes *b);
void probe_where(Probes *b);
void probe_gradient_through(Graph *g); /* behind gradients; see probes_gradient_add */

/* --- principal components (probe_components.c) --- */

enum {
    COMPONENTS_MAX = 28,
    COMPONENTS_SIDE = 2048
}; /* as many as the paper's figure shows; the larger of the smaller sides taken */

typedef struct Components {
    const float *x; /* [rows, cols] */
    float *out;     /* [count, cols] */
    int rows, cols, count;
    int n;              /* the smaller side: order of the matrix */
    int stage, at;      /* what is being done, and how far it is */
    double *mean, *row; /* [cols] */
    double *a;          /* [n, n]: the matrix, then the reflections, vector k in row k behind the diagonal */
    double *diagonal, *beside, *reflect; /* [n] */
    double *small, *large;               /* [count, n], [count, cols]: vectors found so far */
    double *work;                        /* [6, n] */
} Components;

/* How many components x[rows, cols] has that are worth a look, at most COMPONENTS_MAX; 0 where that takes too much
 * room. */
int components_count(size_t rows, size_t cols);
/* x stays the caller's and must not change until components_make is through; out[count, cols] receives the result.
 * Scratch is the arena's. count is components_count's. */
void components_init(Components *p, Arena *arena, const float *x, int rows, int cols, float *out);
/* Goes on until the deadline (clock_ns); true when out is filled: orthonormal rows, largest variance first, the number
 * of largest size in each positive. Rows that do not differ have no variance: any orthonormal vectors. NaN where x is
 * not finite. */
bool components_make(Components *p, int64_t deadline_ns);
#endif
