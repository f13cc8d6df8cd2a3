/* Inside core/models only: a Vision Transformer being built. vit.c has the blocks and what leads from tokens to the
 * answer, vit_axes.c the axes and where patches are, vit_embed.c what leads from pixels to tokens. */
#ifndef VITRINE_MODELS_VIT_BUILD_H
#define VITRINE_MODELS_VIT_BUILD_H
#include "core/models/nn.h"
#include "core/models/vit.h"

typedef struct Builder {
    Graph *g;
    const VitConfig *c;
    const Weights *w;
    VitBatch batch; /* pictures 0: one picture, and no axis b */
    int layer;      /* the block being built */
    int block;      /* its part */
    struct {
        int b, c, y, i, x, j, p, n, t, u, h, e, d, m, o;
        int cls, dist, reg, rows; /* the prefix tokens of each kind; the tokens that have a position */
        int table;                /* the rows of the position table: rows, where no other grid is fitted */
        int f, g;                 /* the read-out, the embedding */
        int w, s;                 /* relative positions: row of the table, pair of tokens */
        int a, l, k;              /* learned rotations: coordinate, block, pair of numbers */
    } axis;
    int *way;    /* [s] the row of a table of relative positions for every pair of tokens, where the model has them */
    NodeId bias; /* [h,t,u] the same in all blocks, or NO_NODE */
    NnRope rope; /* rotary positions, where the model has them */
    int *partner, *pair; /* [e] the other number of each number's pair; the pair */
} Builder;

void build_axes(Builder *b, const char *const *class_names);
int build_axis(Graph *g, const char *sym, const char *name, AxisRole role, int n); /* labelled by its index */
/* d as it is in this graph for what depends on the picture: behind the axis b where there are several. */
Dims build_dims(const Builder *b, Dims d);
/* The axes of a weight, from the letters of its role. */
Dims build_role_dims(const Builder *b, VitRole r);

/* A weight becomes a leaf where it is first needed, under its own name whatever scope is being filled. */
NodeId build_weight(Builder *b, VitRole r);
/* A norm over d as a part of its own, in scope `name` of the block or model (of an RMSNorm nn_norm_scope(name)). */
NodeId build_norm(Builder *b, const char *name, NodeId x, VitRole gamma, VitRole beta);

/* Sets input and image, returns image. */
NodeId build_input(Builder *b, const float *input, VitNodes *nodes);
/* Sets hidden, patch_embed and pos_embed; returns all tokens with their places. */
NodeId build_embedding(Builder *b, NodeId image, VitNodes *nodes);
/* The leaves of rotary positions, into b->rope. */
void build_rope(Builder *b);
/* Relative positions: which row of a table is whose, and the bias that all blocks share, into b->way and b->bias. */
void build_bias(Builder *b);
#endif
