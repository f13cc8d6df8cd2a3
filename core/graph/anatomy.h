/* What a model is made of, noted by its builder while it builds: parts (a block, an attention, an MLP, a norm …), and
 * which of their nodes is which. Nobody else knows how a model names its nodes: stages, probes, commands, edits,
 * sentences and views ask here, so that a model with two stacks and three kinds of attention is no special case.
 *
 * Notes are paths, not numbers: in a graph made by edits, which has a copy of its base's notes, a name may stand for
 * another node, and a noted node may be absent (a mask that nobody put in). Everything belongs to the graph. */
#ifndef VITRINE_GRAPH_ANATOMY_H
#define VITRINE_GRAPH_ANATOMY_H
#include "core/graph/graph.h"

typedef enum Site {
#define SITE(symbol, name) SITE_##symbol,
#include "core/graph/anatomy.def"
#undef SITE
    SITE_COUNT
} Site;
const char *site_name(Site s); /* for people: "raw scores" */

typedef enum PartKind {
    PART_MODEL,     /* the whole; always part 0 */
    PART_INPUT,     /* what the user put in, until it is what the network sees */
    PART_EMBEDDING, /* input → tokens with positions */
    PART_BLOCK,     /* one round of a stack; its sub-layers and norms are parts inside it */
    PART_NORM,
    PART_ATTENTION,
    PART_MLP,
    PART_READOUT, /* tokens → answer */
    PART_KINDS
} PartKind;

enum { NO_PART = -1, NO_BLOCK = -1 };

typedef struct Part {
    PartKind kind;
    const char *stack; /* "" in a model with one stack, else "encoder", "decoder" */
    const char
        *scope;       /* what the paths of its nodes begin with, without the last dot: "blocks.0.attn"; "" = no scope */
    const char *word; /* for people and commands: "attention", "cross attention", "MLP", "ln1" */
    int block;        /* number within the stack, or NO_BLOCK */
    int parent;       /* the part around it, or NO_PART */
    const char *site[SITE_COUNT]; /* paths, NULL where it has none */
} Part;

typedef struct Anatomy {
    Part *parts;
    int count, cap;
    int *bucket; /* [buckets], a power of two: parts by scope, NO_PART where empty; parts without one are left out */
    size_t buckets;
} Anatomy;

/* --- while building --- */
/* Adds a part, strings copied, sites empty; returns its number. The first one must be PART_MODEL. */
int anatomy_add(Graph *g, Part p);
void anatomy_note(Graph *g, int part, Site s, NodeId n); /* NO_NODE: nothing happens */
/* Notes a name that does not exist yet: what an edit would make. name is that inside the part's scope. */
void anatomy_note_name(Graph *g, int part, Site s, const char *name);

/* Gives an edited graph its base's parts; base must outlive it. */
void anatomy_copy(Graph *out, const Graph *base);

/* --- asking; all of it is legal on a graph without an anatomy, which has no parts --- */
int anatomy_count(const Graph *g);
const Part *anatomy_part(const Graph *g, int part);
/* The next part of that kind after `after` (NO_PART: from the start), or NO_PART. */
int anatomy_next(const Graph *g, int after, PartKind kind);
/* …inside part `within` (a block's norms, attentions …). */
int anatomy_next_in(const Graph *g, int after, PartKind kind, int within);
/* Blocks of a stack; of all stacks where stack is NULL. */
int anatomy_blocks(const Graph *g, const char *stack);
/* Block number `block` of a stack (NULL: of the first stack that has one), or NO_PART. */
int anatomy_block(const Graph *g, const char *stack, int block);
/* Attentions of blocks, numbered from 0 over all stacks in the order of building: how many, which part, and which
 * number a part has (−1: it is none of them). */
int anatomy_attentions(const Graph *g);
int anatomy_attention(const Graph *g, int number); /* NO_PART where there is none */
int anatomy_attention_number(const Graph *g, int part);
/* The innermost part that the node of that path belongs to, and the block around it. Paths of gradients, of nodes that
 * an edit renamed and of probes belong to the node's part that they speak of. NO_PART where there is none. */
int anatomy_of(const Graph *g, const char *path);
int anatomy_block_of(const Graph *g, const char *path);
/* Does the path name a gradient, or a part of one? */
bool anatomy_is_gradient(const char *path);
/* What the node is called inside its block: "attn.scale" of "blocks.0.attn.scale"; the path itself outside blocks. */
const char *anatomy_inside_block(const Graph *g, const char *path);
/* Path of a site, or NULL: the part has no such node. The node itself, or NO_NODE. */
const char *site_path(const Graph *g, int part, Site s);
NodeId site_node(const Graph *g, int part, Site s);
/* The scores of an attention that enter its softmax where nothing is masked: with their bias, where it has one. */
Site site_scores(const Graph *g, int part);
/* The first part that has this site, in the order of building, or NO_PART; its path and node. */
int site_part(const Graph *g, Site s);
const char *site_path_any(const Graph *g, Site s);
NodeId site_node_any(const Graph *g, Site s);
/* Is path that site of any part? */
bool site_is(const Graph *g, const char *path, Site s);
/* …or was it, before an edit took its name (PATH.unedited)? */
bool site_was(const Graph *g, const char *path, Site s);
/* The vocabulary's axis where the cells of n are numbers of words: an input whose embedding picks rows by them.
 * AXIS_NONE of any other node. */
int anatomy_vocabulary(const Graph *g, NodeId n);
/* The same kind of node in another part of the same kind: out (size n) is path with the scope of `from` replaced by
 * that of `to`. False, out empty, when path does not lie in `from`. A gradient stays a gradient. */
bool anatomy_carry(const Graph *g, const char *path, int from, int to, char *out, size_t n);

/* --- axes --- */
/* The axis of that role among `d`, or AXIS_NONE. */
int dims_role(const Graph *g, Dims d, AxisRole role);
int node_role(const Graph *g, NodeId n, AxisRole role);
/* The first axis of that role in the graph's table, of that sequence; SEQUENCE_ANY: of any. AXIS_NONE: there is none.
 */
int graph_role(const Graph *g, AxisRole role, Sequence sequence);
#endif
