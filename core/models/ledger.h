/* The ledger of a number that the residual stream is read out into (a logit, a logit less another, a cell of the
 * stream): what every part of the model wrote into it, as nodes behind the forward pass. Elhage et al. 2021, "A
 * Mathematical Framework for Transformer Circuits", direct paths.
 *
 * The stream is a sum, and what follows it is linear but for LayerNorm's division: with every 1/√(variance + ε) on the
 * way kept as it is in this run ("frozen"), the number is exactly the sum of what was written. What attention looks at,
 * and what an MLP answers, is taken as it is too: an entry is what its part wrote, not what would be without it.
 *
 * `direct.PATH` (grad.h's rules, names and shapes) says how the number moves with PATH, frozen as above.
 * `ledger.PATH` is what PATH wrote, for every part where a way back through the sums ends:
 *   ledger.blocks.N.attn.z   all heads of a block, as the sum of .heads[h], each the sum of .tokens[h,u]: what head h
 *                            wrote by looking at token u, its weight (.row[h,u]) times what that token's value says for
 *                            the number (.reach[h,u]); where several tokens are read, .reach[h,t,u] and their sum
 *   ledger.blocks.N.mlp.out_nobias (.out where it has no bias)   the MLP
 *   ledger.blocks.N.mlp.mixed   an MLP with experts; .experts[x] what each of them wrote, .shared the shared one
 *   ledger.patch_embed.out_nobias  the patches, as the sum of .rows[y,x]
 *   ledger.decoder.embed   the word that stands where the number is read
 *   ledger.pos_embed, ledger.cls, …   positions (.rows) and tokens that are learned
 *   ledger.blocks.N.attn.b_o, ledger.ln_final.beta, ledger.head.bias, …   biases
 *   and the values that an edit put in.
 * ledger.tokens[u] sums .tokens over heads and blocks (those that look at the same tokens as the last one does),
 * ledger.votes[p] is its part on patches; where some look at another text, ledger.tokens_too[u] sums theirs. ledger.sum
 * adds up all entries: first what is neither head nor MLP, then these from block 0 on, so that what stands so far is a
 * node behind each of them (.so_far); ledger.value is the number, ledger.remainder what
 * rounding left between the two. */
#ifndef VITRINE_MODELS_LEDGER_H
#define VITRINE_MODELS_LEDGER_H
#include <stdint.h>

#include "core/base/err.h"
#include "core/graph/graph.h"

typedef enum LedgerKind {
    LEDGER_HEADS,     /* the heads of a block: `tokens`, `heads` and `total` are there */
    LEDGER_MLP,       /* … of an MLP: `total` alone */
    LEDGER_PATCHES,   /* `rows`[y,x] */
    LEDGER_WORDS,     /* the words' vectors: `total` alone, of the one that is read */
    LEDGER_POSITIONS, /* `rows`, one for each row of the table */
    LEDGER_LEARNED,   /* a learned token, mask token or bias: the same for every picture; total alone */
    LEDGER_PUT_IN     /* values that an edit put in */
} LedgerKind;

typedef struct LedgerEntry {
    LedgerKind kind;
    int layer; /* −1 outside blocks */
    NodeId part;
    NodeId total, heads, tokens, rows; /* NO_NODE where it has none */
    NodeId experts, shared;            /* of an MLP with experts: [x], and the shared one's */
    NodeId so_far;                     /* the sum up to this entry */
} LedgerEntry;

typedef struct Ledger {
    NodeId y;
    size_t cell, against; /* the number is y's cell, less its cell `against` where that is not LEDGER_ALONE */
    int token;            /* the token that is read, where one alone is, else −1 */
    NodeId value, sum, remainder;
    NodeId start;                     /* the sum of what is neither head nor MLP; NO_NODE: nothing is */
    NodeId tokens, tokens_too, votes; /* NO_NODE where no head is looked through */
    LedgerEntry *entry;               /* [count]; the graph's arena */
    int count;
} Ledger;
#define LEDGER_ALONE SIZE_MAX

/* One step further down: what the parts before a head wrote into that head's vote for the number by looking at one
 * token (.tokens[head,token] of entry e of a ledger that is there), through the value that it read there: another
 * ledger of the same form, as ledger.via.PATH and direct.via.PATH, whose value is that vote. Norms and what attention
 * looks at are taken as they are: why the head looked there is in none of it. step 1, …, LEDGER_STEPS: e is of the
 * ledger of step − 1 (0: of ledger_add's), and each has a `via.` more in its paths. False, with nothing appended, where
 * a value is no sum of what was written. */
enum { LEDGER_STEPS = 4 };
bool ledger_add_via(Graph *g, const LedgerEntry *e, int head, int token, int step, Ledger *out, Err *err);
/* The node whose cells a ledger of the answer is of: the logits, or where a soft cap squeezes them, which is no sum,
 * the scores before it, of which a larger one is a larger logit. NO_NODE where the model has no answer. */
NodeId ledger_answers(const Graph *g);
/* How the number that seed (of y's dims, any cells of any tokens) makes of y moves with every part, frozen as above:
 * *direct as grad_add_given returns it, `direct.PATH`. False, with nothing appended, where it is no sum. */
bool ledger_directions(Graph *g, NodeId y, NodeId seed, const NodeId **direct, Err *err);
/* Is it a head's or an MLP's? */
bool ledger_flows(const LedgerEntry *e);
/* Is it written token by token, so that of one that alone is read only that one's counts? */
bool ledger_by_token(const Graph *g, const LedgerEntry *e);
/* Appends the ledger of a graph that a builder made, or of one edited from it; a run of the graph that exists already
 * needs run_extend. False, with nothing appended, and err says why, where the number can not be split. */
bool ledger_add(Graph *g, NodeId y, size_t cell, size_t against, Ledger *out, Err *err);
#endif
