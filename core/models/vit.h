/* The Vision Transformer (Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words"), with every knob that public
 * checkpoints have. A configuration and its weights become a graph; nothing else about the model is written down
 * anywhere. */
#ifndef VITRINE_MODELS_VIT_H
#define VITRINE_MODELS_VIT_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/graph/graph.h"
#include "core/models/weights.h"

enum { VIT_CHANNELS_MAX = 16 };

/* Which tokens have a row in the position table. */
typedef enum VitPos {
    VIT_POS_NONE,
    VIT_POS_ALL,              /* every token: prefix tokens (registers too), then patches */
    VIT_POS_BEFORE_REGISTERS, /* cls, dist and patches; the registers are put in after positions were added */
    VIT_POS_PATCHES           /* patches only; prefix tokens are put in front afterwards */
} VitPos;

typedef enum VitPool {
    VIT_POOL_CLS,      /* the answer is read from the cls token */
    VIT_POOL_MEAN,     /* …from the mean of the patch tokens */
    VIT_POOL_CLS_DIST, /* two heads, on cls and on dist; their logits are averaged */
    VIT_POOL_NONE,     /* nothing is read out: the model ends with its tokens */
    VIT_POOL_BOTH,     /* the cls token, and behind it the mean of the patches (DINOv2's classifier) */
    VIT_POOL_ATTENTION /* a learned probe looks at all tokens, an MLP follows (SigLIP, Zhai et al. 2023) */
} VitPool;

/* Rotary positions in two dimensions (Su et al. 2021, Heo et al. 2024): queries and keys of patches are rotated, one
 * pair of numbers at a time, by angles that grow with row and column; tokens of the prefix are not. The first half of
 * the pairs is for one coordinate, the second for the other; pair k of a half is rotated by coordinate /
 * base^(k / (E/4)). Or both coordinates count in every pair, each with a frequency that was learned for
 * this pair, head and block ("mixed"). */
typedef enum VitRope {
    VIT_ROPE_NONE,
    VIT_ROPE_CENTRES, /* the coordinate is the patch's centre from −1 to 1, times 2π (DINOv3) */
    VIT_ROPE_STEPS, /* …the patch's number, + rope_offset, scaled from the grid to the reference grid (EVA-02, timm) */
    VIT_ROPE_LEARNED /* angle = column · f[0] + row · f[1], from the patches' numbers (RoPE-mixed, Heo et al. 2024) */
} VitRope;

/* Relative positions (BEiT, Bao et al. 2022): to every scaled score a bias is added that depends on the head and on how
 * far the token that asks lies from the one looked at, in rows and columns of the grid. */
typedef enum VitBias {
    VIT_BIAS_NONE,
    VIT_BIAS_BLOCKS, /* every block has a table of its own */
    VIT_BIAS_SHARED  /* one table for all blocks */
} VitBias;

/* How a position table is fitted to another grid. */
typedef enum VitFit { VIT_FIT_BICUBIC, VIT_FIT_BILINEAR, VIT_FIT_NEAREST } VitFit;

typedef enum VitInput {
    VIT_INPUT_STANDARD,  /* pixels 0 … 255: x / range, − mean[c], / std[c] */
    VIT_INPUT_PER_IMAGE, /* 2·x / range − 1, − the picture's own mean per channel, / its own RMS (ε = 0.01) */
    VIT_INPUT_READY      /* the input is `image` itself: values that somebody else standardised */
} VitInput;

typedef struct VitConfig {
    int image_h, image_w, patch_h, patch_w, channels; /* the picture is a whole number of patches high and wide */
    int width;                                        /* d */
    int layers, heads, head_dim, mlp, classes;        /* classes = 0: no head */
    MapFn act;
    float eps;   /* of every norm */
    float scale; /* factor multiplied onto the scores: vit_scale(head_dim) unless the model says otherwise */
    bool cls, dist;
    int registers;
    VitPos pos;
    VitPool pool;
    bool post_norm; /* LayerNorm after the addition (Vaswani et al. 2017) instead of before the sub-layer */
    bool patch_bias, qkv_bias, out_bias, mlp_bias, head_bias;
    bool layer_scale, norm_pre, final_norm, fc_norm;
    bool mask_token;  /* a learned token that can stand for a hidden patch (masked patch prediction) */
    bool reconstruct; /* a linear head from a token to the pixels of its patch, as `image` has them */
    VitInput input;
    float range, mean[VIT_CHANNELS_MAX], std[VIT_CHANNELS_MAX]; /* VIT_INPUT_STANDARD; range is 255 as a rule */
    bool bare_q, bare_k, bare_v;                                /* no bias of that kind although qkv_bias */
    bool gated;       /* the MLP's patterns are multiplied by act(x W_gate + b) (Shazeer 2020) */
    bool hidden_norm; /* LayerNorm over the MLP's hidden numbers (EVA-02) */
    VitRope rope;
    bool rope_half;       /* number e is paired with e + E/2; else neighbours are pairs */
    bool rope_cols_first; /* the first half of the pairs (LEARNED: f[0]) is for the column; else for the row */
    float rope_base, rope_offset;
    int rope_ref_h, rope_ref_w; /* VIT_ROPE_STEPS: the reference grid; 0: none */
    VitBias bias;               /* relative positions: with a cls token and no other token of prefix */
    int project;                /* width of a projection without bias behind the read-out (CLIP); 0: none */
    bool embeds;                /* the read-out is an embedding: what counts is its direction */
    int table_h, table_w;       /* the grid that the position table was made for; 0: the picture's own */
    VitFit fit;                 /* …and how it is fitted to the picture's */
    bool fit_smooth;  /* a grid made smaller is smoothed first (antialias), with Keys' a = −0.5, not −0.75 */
    bool fit_corners; /* corners lie on corners, not borders on borders */
    bool rms_norm;    /* every norm is an RMSNorm (Zhang and Sennrich 2019): no mean is taken off, nothing added */
    bool patch_norm;  /* a norm of every patch's vector, before positions are added */
    bool merged_norm; /* a norm inside attention, of what all heads gathered for a token, before W_O (EVA-02 CLIP) */
    bool branch_norm; /* norms on the branches: z + LN(MSA(z)), z + LN(MLP(z)); nothing is normalised before them */
    bool bare_probe;  /* attention pooling whose probe is the query itself, without norm and MLP behind it (AIMv2) */
} VitConfig;

/* ViT-B/16 at 224 × 224 with 1000 classes: the starting point from which a configuration is made. */
VitConfig vit_config_base(void);
float vit_scale(int head_dim);      /* 1/√head_dim, correctly rounded twice */
int vit_prefix(const VitConfig *c); /* tokens before the patches */
int vit_patches(const VitConfig *c);
int vit_tokens(const VitConfig *c);
size_t vit_values(const VitConfig *c);    /* of a picture: channels · image_h · image_w */
bool vit_resizes(const VitConfig *c);     /* is the position table made for another grid than the picture's? */
bool vit_reads_class(const VitConfig *c); /* is the answer read from the class token, or would it be? */
/* The angle by which pair `pair` < head_dim / 2 of a patch is rotated, in radians; not where the angles are learned. */
double vit_rope_angle(const VitConfig *c, int patch, int pair);
/* VIT_ROPE_LEARNED: what f[0] and f[1] of a pair are multiplied by. */
void vit_rope_place(const VitConfig *c, int patch, int place[2]);
/* The places of that pair's two numbers in a head. */
void vit_rope_pair(const VitConfig *c, int pair, int *first, int *second);
/* Rows of a table of relative positions: one for every distance in rows and columns, then three more. */
int vit_bias_rows(const VitConfig *c);
/* The row that is added where token t asks and u is looked at: (rows from u to t, columns from u to t) row by row, from
 * the most negative; then cls to a patch, a patch to cls, cls to itself. */
int vit_bias_row(const VitConfig *c, int t, int u);
/* How much each of `from` old rows (or columns) counts in each of `to` new ones: out[to,from]. */
void vit_fit_weights(const VitConfig *c, int from, int to, double *out);
/* Is this a model that can be built here? False and one line that names the knob, its value and what it may be. */
bool vit_check(const VitConfig *c, Err *err);

/* The kinds of weights (vit_roles.def). */
typedef enum VitRole {
#define ROLE(symbol, where, name, axes, start, when) VIT_##symbol,
#include "core/models/vit_roles.def"
    VIT_ROLES
} VitRole;

bool vit_role_in_block(VitRole r);
const char *vit_role_name(VitRole r); /* "attn.w_q": its path in the graph, after "blocks.N." for a block's */
const char *vit_role_path(const VitConfig *c, VitRole r); /* …in a model of this configuration: "rms1.gamma" */
const char *vit_norm_word(const VitConfig *c);            /* "LayerNorm" or "RMSNorm" */
const char *vit_role_axes(VitRole r);                     /* "hed" */
bool vit_has(const VitConfig *c, VitRole r);              /* does a model of this configuration have such a weight? */
int vit_role_shape(const VitConfig *c, VitRole r, size_t shape[4]); /* returns the rank, 1 … 4 */
size_t vit_role_cells(const VitConfig *c, VitRole r);
size_t vit_params(const VitConfig *c); /* cells of all weights */

size_t vit_weights_count(const VitConfig *c);
/* The weight of an entry; false: the model has none there. at and data are left to model_weight. */
bool vit_weight_place(const VitConfig *c, size_t i, WeightPlace *p);
/* Entry of a role; layer is ignored for roles of the whole model. */
WeightTensor *vit_weight(const Weights *w, VitRole r, int layer);

/* Nodes that others ask for; NO_NODE where the configuration has none. Everything else is found by name. [b] in front
 * in a batch. */
typedef struct VitNodes {
    NodeId hidden; /* LEAF_INPUT hidden[b,p]: 1 where the mask token stands for the patch, else 0; only with
                      VitBatch.hidden */
    NodeId input; /* LEAF_INPUT: pixels[c,y,i,x,j] 0 … 255, or image[c,y,i,x,j]; memory order is channel, row, column */
    NodeId image;                              /* what the patch projection sees */
    NodeId patch_embed, pos_embed, full_embed; /* patch_embed: before any is hidden */
    NodeId tokens_out;                         /* [t,d] after the last block and the final norm */
    NodeId readout, logits, probs;
    NodeId embedding, embedding_unit; /* what an embedding model ends with, and its direction */
    NodeId guess; /* guess[c,y,i,x,j]: what the reconstruction head says every patch of `image` looks like (probe), or
                     NO_NODE */
} VitNodes;

/* Several pictures at once: every node that depends on the input gets the leading axis b ("picture of the batch"). */
typedef struct VitBatch {
    int pictures;        /* ≥ 1 */
    const float *hidden; /* [pictures, patches] or NULL. Where it is 1, the mask token takes the patch's place before
                            positions are added */
} VitBatch;

/* Appends the model to g (graph_init done). c passed vit_check; w has every weight that c asks for; class_names[o] or
 * NULL; input has channels · image_h · image_w floats. Names, input and weights must outlive the graph. nodes may be
 * NULL. */
void vit_build(Graph *g, const VitConfig *c, const Weights *w, const char *const *class_names, const float *input,
               VitNodes *nodes);
/* The same model for a batch: input has batch.pictures of those, one after the other; batch.hidden, which needs
 * c->mask_token, must outlive the graph too. Nodes have the same names, and cell for cell the same bits as vit_build
 * gives for each picture alone. */
void vit_build_batch(Graph *g, const VitConfig *c, const Weights *w, const char *const *class_names, const float *input,
                     VitBatch batch, VitNodes *nodes);
#endif
