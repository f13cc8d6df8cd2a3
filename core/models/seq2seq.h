/* The original Transformer (Vaswani et al. 2017, "Attention Is All You Need") and its two halves: encoder and decoder,
 * decoder alone (the form of GPT), encoder alone (the form of BERT). All three are built from the same parts; which
 * mask an attention has and where its keys and values come from is the only difference. What published models changed
 * since are knobs of Seq2seqConfig (text_hub.c says which family has which). */
#ifndef VITRINE_MODELS_SEQ2SEQ_H
#define VITRINE_MODELS_SEQ2SEQ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/graph/graph.h"
#include "core/models/weights.h"

typedef enum Seq2seqForm {
    SEQ2SEQ_BOTH,         /* a source is read, a target is written: three kinds of attention */
    SEQ2SEQ_DECODER_ONLY, /* one text, every token sees those before it */
    SEQ2SEQ_ENCODER_ONLY  /* one text (the source), every token sees every other; the answer is a word per token */
} Seq2seqForm;

/* How a model knows the order of its tokens. */
typedef enum Seq2seqPos {
    SEQ2SEQ_POS_ADDED, /* a vector per place is added to the embedding */
    SEQ2SEQ_POS_ROPE,  /* queries and keys are rotated (Su et al. 2021) */
    SEQ2SEQ_POS_ALIBI, /* a bias on the scores that grows with the distance (Press et al. 2021) */
    SEQ2SEQ_POS_NONE
} Seq2seqPos;

/* What is done to the frequencies of rotary positions so that texts may be longer than those that were learned from. */
typedef enum RopeScaling {
    ROPE_AS_TRAINED,
    ROPE_LINEAR,  /* all divided by `factor` (Chen et al. 2023) */
    ROPE_LLAMA3,  /* slow ones divided, fast ones left, between them a mixture (Llama 3.1) */
    ROPE_YARN,    /* the same by a ramp over the pairs, and cos and sin times `stretch` (Peng et al. 2023) */
    ROPE_DYNAMIC, /* the base grows with a text that is longer than `trained` ("dynamic NTK") */
    ROPE_LONG     /* each pair has a divisor of its own, others in a text longer than `trained` (Ding et al. 2024) */
} RopeScaling;

enum { ROPE_PAIRS_MOST = 128 }; /* of a head, with ROPE_LONG */

/* Rotary positions: pair k of a head turns by place · base^(−2k/width). */
typedef struct Seq2seqRope {
    float base, local_base; /* local_base: in blocks with a window, unscaled; 0: as the others */
    int width;              /* the first so many numbers of a head are rotated, the others stay; 0: all */
    bool half;              /* number e is paired with e + width/2, else with its neighbour */
    RopeScaling scaling;
    float factor, low, high; /* low, high: ROPE_LLAMA3's factors of the wavelength, ROPE_YARN's slow and fast β */
    float trained;           /* tokens that were learned from */
    float stretch;           /* of cos and sin; 0: 1 */
    bool between;            /* ROPE_YARN: the ramp's ends lie between two pairs, not on whole ones */
    float divisors[2][ROPE_PAIRS_MOST]; /* ROPE_LONG: of every pair in a short text, in a long one */
} Seq2seqRope;

/* Where a norm of queries and keys is taken: not at all, head by head, over all heads together. */
typedef enum HeadNorm { HEAD_NORM_NONE, HEAD_NORM_EACH, HEAD_NORM_ALL } HeadNorm;
/* Attention and MLP one after the other, or side by side: both read the block's input, through norms of their own or
 * through one. */
typedef enum Parallel { PARALLEL_NOT, PARALLEL_TWO_NORMS, PARALLEL_ONE_NORM } Parallel;

/* One vector for a whole text, of the encoder's last tokens (Reimers and Gurevych 2019). */
typedef enum SentencePool { SENTENCE_NONE, SENTENCE_MEAN, SENTENCE_FIRST } SentencePool;

enum { SEQ2SEQ_LAYERS_MOST = 1024, SEQ2SEQ_PAIR = 2 };
/* How large what a model has may be. */
enum {
    SEQ2SEQ_WIDTH_MOST = 1 << 16,
    SEQ2SEQ_HEADS_MOST = 1024,
    SEQ2SEQ_HEAD_MOST = 1 << 14,
    SEQ2SEQ_MLP_MOST = 1 << 18,
    SEQ2SEQ_WORDS_MOST = 1 << 20,
    SEQ2SEQ_POSITIONS_MOST = 1 << 24,
    SEQ2SEQ_EPS_MOST = 1
};

/* Several MLPs in the place of one, of which a router chooses a few for every token (Shazeer et al. 2017): those with
 * the largest probabilities, of equal ones that with the lower number. What the chosen ones make is added, each times
 * its probability. */
typedef struct Seq2seqExperts {
    int count, chosen; /* of a block, for a token; count 0: every block has one MLP */
    int width;         /* hidden numbers of one */
    int shared;        /* …of one more that every token has, times a sigmoid of its own; 0: there is none */
    bool normalised;   /* the probabilities of the chosen are divided by their sum */
    uint32_t dense[SEQ2SEQ_LAYERS_MOST / 32]; /* blocks of the decoder with one MLP all the same: bit by bit */
} Seq2seqExperts;

/* A zeroed knob is that of the original Transformer. */
typedef struct Seq2seqConfig {
    Seq2seqForm form;
    int source_words, target_words; /* sizes of the vocabularies; 0 where the form has none */
    int width, heads, head_dim, mlp;
    int key_heads; /* grouped queries (Ainslie et al. 2023): head h reads keys and values of number h·key_heads/heads;
                      0: as many as heads */
    int encoder_layers, decoder_layers;
    MapFn act;
    float eps;         /* of every norm */
    float scale;       /* multiplied onto the scores: 1/√head_dim as a rule */
    float embed_scale; /* multiplied onto embeddings: √width as a rule */
    float read_scale;  /* multiplied onto what the answer is read from; 0: 1 */
    Seq2seqPos pos;
    bool learned_positions; /* SEQ2SEQ_POS_ADDED: a table; else sinusoids, for any length */
    bool halves;            /* …all sines of a place first, then all cosines (Marian); else in turn */
    int positions;      /* rows of that table behind the first `first_position`; without SEQ2SEQ_POS_ADDED: how long a
                               text may be, 0 where nothing says so */
    int first_position; /* the row of the first token */
    Seq2seqRope rope;
    bool pre_norm;   /* norm before each sub-layer instead of after the addition */
    bool after_norm; /* norm of what a sub-layer gives, before it is added: with pre_norm a second one, else the only */
    bool final_norm; /* one more after each stack */
    bool embed_norm; /* one more of the embedding */
    bool rms_norm;   /* norms are RMSNorm */
    bool bare_norm;  /* LayerNorm without β */
    bool gamma_plus; /* norms stretch by 1 + γ */
    bool cross_own;  /* cross-attention looks at the decoder's own tokens: no model does, a mistaken program may */
    HeadNorm head_norm;
    Parallel parallel;
    bool sinks;                 /* every head of a decoder alone has a learned score besides those of the keys, which
                                   softmax counts and nothing is read from (OpenAI 2025, gpt-oss) */
    bool gated;                 /* act(x W_gate) · (x W_up) in the MLP */
    Seq2seqExperts experts;     /* of a decoder alone, all of them gated and without biases */
    float clip;                 /* of a decoder alone: queries, keys and values go no farther from 0, as their linear
                                   layers give them; 0: they go as far as they do */
    float alibi_most;           /* the last head's slope is 2^−this; 0: 2^−8 */
    float score_cap, logit_cap; /* cap · tanh(x / cap) of the scaled scores, of the logits; 0: none */
    int window; /* a token sees so many tokens, itself the last of them, in an encoder half as many to either side of
                   itself; 0: all */
    uint32_t windowed[SEQ2SEQ_LAYERS_MOST / 32]; /* …in these blocks of a model of one stack: bit by bit */
    bool tied;                                   /* the answer's weights are the embedding's */
    bool shared;       /* of both stacks: one embedding for what is read and what is written */
    int distances;     /* rows of a table of distances between tokens for each stack, added to the scores of its own
                          attention in all blocks: ranges of growing width, in an encoder half of them to either side;
                          0: none */
    int distance_most; /* …from there on all are alike */
    int word_width;    /* of a stack alone: the words' vectors are so wide and projected to the model's width (ELECTRA),
                     * and what is read from a decoder is projected back (OPT 350M); 0: as wide as the model */
    bool head_bias, qkv_bias, out_bias, mlp_bias;
    /* Of an encoder alone (Devlin et al. 2018, "BERT"). */
    int segments;        /* rows of a table of segments, added to the words; 0: none */
    bool wordless;       /* no answer in words */
    bool transform;      /* in front of the answer LN(act(x W + b)), act by transform_act */
    bool transform_bare; /* …without b */
    MapFn transform_act;
    bool first_bare; /* pre_norm: the first attention reads the embedding, which has a norm already, as it is */
    bool pooler;     /* tanh(x W + b) of the first token */
    bool pair;       /* …and from that whether the second segment follows the first */
    bool replaced;   /* for every token whether it was put in place of another (Clark et al. 2020, "ELECTRA") */
    SentencePool sentence;
    enum { UNIT_UNSAID, UNIT_NO, UNIT_YES } unit; /* is that vector brought to length 1? By modules.json, if it says */
} Seq2seqConfig;

/* The base model's structure at a small size: sinusoids, post-norm, ReLU, biases, tied output. */
Seq2seqConfig seq2seq_config_base(void);
bool seq2seq_has_encoder(const Seq2seqConfig *c);
bool seq2seq_has_decoder(const Seq2seqConfig *c);
int seq2seq_key_heads(const Seq2seqConfig *c);
float seq2seq_root(int n, bool inverse); /* √n or 1/√n */
/* Words of the vocabulary that the answer is in. */
int seq2seq_answer_words(const Seq2seqConfig *c);
/* On how many sides of itself a token has a window: 1, before it, or 2. */
int seq2seq_window_sides(const Seq2seqConfig *c);
/* Has that block of a model of one stack a window? */
bool seq2seq_windowed(const Seq2seqConfig *c, int layer);
/* Has that block of the decoder experts? */
bool seq2seq_has_experts(const Seq2seqConfig *c, int layer);
/* The most tokens that a text may have. */
int seq2seq_longest(const Seq2seqConfig *c);
/* Can this be built here? False and one line that names the knob, its value and what it may be. */
bool seq2seq_check(const Seq2seqConfig *c, Err *err);
/* The same, but for the memory that its weights take as floats: of a file that may have them in 16 bits. */
bool seq2seq_possible(const Seq2seqConfig *c, Err *err);
/* The same for a text of so many tokens. */
bool seq2seq_check_length(const Seq2seqConfig *c, int source, int target, Err *err);

typedef enum Seq2seqRole {
#define ROLE(symbol, where, name, axes, start, when) SEQ2SEQ_##symbol,
#include "core/models/seq2seq_roles.def"
    SEQ2SEQ_ROLES
} Seq2seqRole;

/* Where a weight stands: once in the model, or once in every block of a stack. */
typedef enum Seq2seqWhere {
    SEQ2SEQ_OUTPUT,
    SEQ2SEQ_ENCODER,
    SEQ2SEQ_DECODER,
    SEQ2SEQ_ENCODER_BLOCK,
    SEQ2SEQ_DECODER_BLOCK
} Seq2seqWhere;
Seq2seqWhere seq2seq_role_where(Seq2seqRole r);
const char *seq2seq_role_name(Seq2seqRole r); /* "self_attn.w_q" */
const char *seq2seq_role_axes(Seq2seqRole r);
/* Has the model such a weight, in that block of its stack? */
bool seq2seq_has_in(const Seq2seqConfig *c, Seq2seqRole r, int layer);
size_t seq2seq_role_cells(const Seq2seqConfig *c, Seq2seqRole r);
/* How often the role stands in the model: 1, or the blocks of its stack that have it. 0 where none has. */
int seq2seq_role_count(const Seq2seqConfig *c, Seq2seqRole r);
/* "decoder.blocks.2" or "encoder" or "": the scope of the role's leaf; and its path. */
void seq2seq_role_scope(Seq2seqRole r, int layer, char *out, size_t n);
void seq2seq_role_path(Seq2seqRole r, int layer, char *out, size_t n);
size_t seq2seq_params(const Seq2seqConfig *c);
size_t seq2seq_params_active(const Seq2seqConfig *c); /* without those of experts that are not chosen for a token */

size_t seq2seq_weights_count(const Seq2seqConfig *c);
/* The i-th of so many, role by role, block by block; false: the model has none there (vit_weight_place). */
bool seq2seq_weight_place(const Seq2seqConfig *c, size_t i, WeightPlace *p);
WeightTensor *seq2seq_weight(const Seq2seqConfig *c, const Weights *w, Seq2seqRole r, int layer);

/* A text: numbers of words in the vocabulary, and what to call each on its axis ("it", "the#2"); labels may be NULL. */
typedef struct Seq2seqText {
    const int *word;
    int n;
    const char *const *label;
    const int *segment; /* [n] rows of the table of segments; NULL: all the first */
} Seq2seqText;

typedef struct Seq2seqInput {
    Seq2seqText source, target; /* n = 0 where the form has none; the target begins with the word that means start */
    const float *padding;       /* [source.n]: 1 for a word, 0 for padding that nobody may look at; NULL: no padding */
    const char *const *source_vocabulary, *const *target_vocabulary; /* names for the axes of words, or NULL */
} Seq2seqInput;

/* The text at whose words the answer stands: the target, or where none is written the source. */
Seq2seqText *seq2seq_answered(const Seq2seqConfig *c, Seq2seqInput *in);

/* Nodes that others ask for; NO_NODE where the form has none. Everything else is found by name. */
typedef struct Seq2seqNodes {
    NodeId source, target; /* LEAF_INPUT: numbers of the words [s], [t]; in a batch one-hot [b,s,a], [b,t,v] */
    NodeId padding;        /* LEAF_INPUT [r]; in a batch [b,r] */
    NodeId memory;         /* [s,d]: what the encoder hands over */
    NodeId decoded;        /* [t,d]: what the answer is read from */
    NodeId logits, probs;  /* [t,v]; of an encoder alone [s,a] */
} Seq2seqNodes;

/* Appends the model to g (graph_init done). c passed the checks; w has every weight that c asks for. Weights and
 * labels must outlive the graph; words are copied. nodes may be NULL. */
void seq2seq_build(Graph *g, const Seq2seqConfig *c, const Weights *w, const Seq2seqInput *in, Seq2seqNodes *nodes);

/* The encoder of a model that has one, and nothing behind it: what a decoder reads step after step is made once. Sets
 * source, padding and memory. */
void seq2seq_build_encoder(Graph *g, const Seq2seqConfig *c, const Weights *w, const Seq2seqInput *in,
                           Seq2seqNodes *nodes);

/* Several texts at once, for learning: words come as one-hot rows, so that a plan can be given others (plan_leaf), and
 * the embedding is a contraction that picks the row, the same value as GATHER's but for −0. Same names, and cell for
 * cell the same values as seq2seq_build gives for each text alone, padded to these lengths. */
typedef struct Seq2seqBatch {
    int texts, source, target; /* ≥ 1 where the form has it, else 0 */
    const float *zeros;        /* seq2seq_batch_zeros floats, not owned */
} Seq2seqBatch;
size_t seq2seq_batch_zeros(const Seq2seqConfig *c, Seq2seqBatch b);
void seq2seq_build_batch(Graph *g, const Seq2seqConfig *c, const Weights *w, Seq2seqBatch b, Seq2seqNodes *nodes);

/* What is kept from the steps before when words are written one by one (the KV cache), per block of the decoder. */
typedef struct Seq2seqKept {
    const float *k, *v;             /* [past, h, e] of self-attention (g, e where queries are grouped), rotated */
    const float *cross_k, *cross_v; /* [source, h, e] */
} Seq2seqKept;

/* The decoder alone, over a memory that was computed before. With `kept`, only the last token of target is computed:
 * all before it are in the cache. The cells are the same bits as those of the last row without it. */
typedef struct Seq2seqStep {
    Seq2seqText source, target;
    const float *memory;     /* [source.n, d]; not read with kept. NULL in a decoder alone */
    const float *padding;    /* as in Seq2seqInput */
    const Seq2seqKept *kept; /* [decoder_layers] or NULL */
    const char *const *target_vocabulary;
} Seq2seqStep;
void seq2seq_build_step(Graph *g, const Seq2seqConfig *c, const Weights *w, const Seq2seqStep *step,
                        Seq2seqNodes *nodes);

/* PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same (section 3.5): rows first … first+rows-1 of
 * out[rows, width]. Computed in double, rounded once. */
void seq2seq_sinusoids(int first, int rows, int width, float *out);
/* The column of them that column i of a model's positions is. */
int seq2seq_sinusoid_column(const Seq2seqConfig *c, int i);
/* By how much pair k of a head turns from one token to the next in a text of so many tokens; local: in a block with a
 * window. */
double seq2seq_rope_rate(const Seq2seqConfig *c, bool local, int k, int tokens);
/* Does a text one token shorter turn by the same angles? Else its keys are no use to this one. */
bool seq2seq_rope_lasts(const Seq2seqConfig *c, int tokens);
/* The numbers of a head that pair k of so many is made of. */
int seq2seq_rope_pairs(const Seq2seqConfig *c);
int seq2seq_rotated(const Seq2seqConfig *c); /* numbers of a head that are rotated */
void seq2seq_rope_pair(const Seq2seqConfig *c, int k, int *first, int *second);
float seq2seq_yarn_stretch(float factor); /* 0.1 ln(factor) + 1 (YaRN, section 3.4) */
/* √(1 + ln(factor) / ln(trained)) (LongRoPE, section 3.4) */
float seq2seq_long_stretch(float factor, float trained);
/* ALiBi: what head h takes off a score for every token between the two (Press et al. 2021, section 3): 
 * 2^(−most·(h+1)/n) for n heads, `most` 8 in the paper; where n is no power of two those of the next lower one, then
 * every second of twice as many. */
double seq2seq_alibi_slope(int heads, int h, double most);
double seq2seq_alibi_most(const Seq2seqConfig *c);
/* The row of a table of distances for a key that lies so many tokens `behind` the query (T5's ranges, Raffel et al.
 * 2020): in an encoder half of the rows are for keys behind it, in a decoder none are; of those for a side one row a
 * step up to half of them, then by the logarithm up to distance_most. */
int seq2seq_distance_row(const Seq2seqConfig *c, bool decoder, int behind);
/* The table that words of a stack are looked up in. */
Seq2seqRole seq2seq_embed_role(const Seq2seqConfig *c, bool decoder);
/* How wide a word's vector is. */
int seq2seq_word_width(const Seq2seqConfig *c);
/* Which of the two texts asks, and which is looked at, in an attention by that number of a model of both stacks; a text
 * that looks at itself in the decoder sees nothing that comes later. */
typedef struct Seq2seqTexts {
    bool target_queries, target_keys;
} Seq2seqTexts;
Seq2seqTexts seq2seq_attention_texts(int encoder_layers, int number);
#endif
