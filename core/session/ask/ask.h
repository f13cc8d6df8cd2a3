/* Answers in words, all from the trace: what the focus is, where a number came from, whether the trace is right. The
 * same text serves the screen, the command line and tests. Each computes what it needs first. */
#ifndef VITRINE_SESSION_ASK_ASK_H
#define VITRINE_SESSION_ASK_ASK_H
#include "core/session/ask/ledgers.h"
#include "core/session/session.h"

/* One or two sentences on the focused cell, row, head or screen. */
bool ask_say(Session *s, Side side, Buf *out, Err *err);
/* All that the screen shows, as lines: place, cursor, sentence, figures, changes, answer; where sides are compared, of
 * both, and how they differ. Whatever it needs is computed. */
bool ask_say_screen(Session *s, Buf *out, Err *err);
/* A caption: text as it is, and for every {EXPRESSION} what the trace has there now:
 *   {EXPRESSION} a number as number.h has them: {probs[o=0]}, {max(probs) - min(probs)}; {EXPRESSION %} as per cent;
 *   {label(ADDRESS)} the last axis' label of the largest; {answer} the class named first; {say}; {learned}, {learned
 *   twin}: the accuracy at the end of the training
 * with A or B before it ({A answer}) of that side, else of what is on show. */
bool ask_caption(Session *s, const char *text, Buf *out, Err *err);

/* The arithmetic of the focused cell. */
typedef struct ExplainLine {
    size_t term; /* index in the engine's order */
    Ref ref[3];  /* its operands */
    float value[3];
    int operands;
    float contribution; /* product or addend */
} ExplainLine;
typedef struct Explanation {
    Side side;
    NodeId node;
    size_t cell;
    float stored, folded; /* equal bit for bit, or the engine is wrong */
    bool equal;
    double second;      /* the same terms in double */
    size_t terms;       /* all of them */
    ExplainLine *lines; /* the largest first; of a maximum by value, else by absolute contribution */
    size_t line_count;
    const float *running; /* [terms]: what the first so many come to, as the engine adds them; of contractions and sums,
                             where all lines were asked for; else NULL */
    float rest;           /* sum of the contributions not listed, in the engine's order; 0 for a maximum */
    Arena arena;
} Explanation;
/* At most `most` lines, by absolute contribution (the engine's order breaks ties). Needs the node's inputs: false while
 * they are missing (a view then draws "computing"); never computes. */
bool ask_explain(const Session *s, Side side, NodeId n, size_t cell, size_t most, Explanation *out);
void explanation_free(Explanation *e);
bool ask_explain_text(Session *s, Side side, const char *path, size_t cell, Buf *out, bool json, Err *err);

/* The chain of largest terms from a cell down to a weight or a pixel. Size of a term is not cause: the text says so. Of
 * a product the first factor is followed (the activation), unless it is a weight, a constant or a share of attention
 * and the second is not; of a difference what is taken from; of a maximum the winner. A term that is the same for every
 * picture is passed over where another one is not, and the step after it says so. Cells that are only moved (views,
 * slices) are looked through. */
typedef struct WhyStep {
    Ref ref;
    float value;
    float share; /* |term| / Σ |terms| of the cell above that it was chosen in; 1 where there was no choice, and for the
                    first */
    Ref left;    /* a larger term that was passed over: its cell; node NO_NODE: none was */
    float left_value;
} WhyStep;
bool ask_why(Session *s, Side side, NodeId n, size_t cell, WhyStep *steps, int most, int *count, Err *err);
/* Why class o and not its strongest rival: opens the ledger of the difference (ledgers.h) and follows the chain from
 * the part that wrote most into it and has to do with the picture. o −1: the answer. */
typedef struct WhyAnswer {
    LedgerTarget of;
    NodeId node;     /* the difference */
    float number;    /* its value */
    float same;      /* how much of it is the same for every picture */
    LedgerLine line; /* the part that the chain begins with */
    LedgerLine head; /* of heads the one that spoke most, */
    int token;       /* … and the token by looking at which most of it was written, −1: no head spoke; */
    float from;      /* so much */
} WhyAnswer;
/* Is it a class' logit or share, of the model as it answers? Then `o` is the class, `row` the token whose it is. */
bool ask_why_of_answer(const Graph *g, NodeId n, size_t cell, int *row, int *o);
/* What spoke most for the number of the ledger on show; and as a sentence or two, which head and which token: in more
 * than so many cells (0: any) without the number itself. */
bool ask_why_ledger(Session *s, Side side, WhyAnswer *out, Err *err);
void ask_why_sentence(const Session *s, Side side, const WhyAnswer *a, int cells, Buf *out);
bool ask_why_answer(Session *s, Side side, int row, int o, WhyAnswer *out, WhyStep *steps, int most, int *count,
                    Err *err);
/* Of a class' logit or share the chain above. */
bool ask_why_text(Session *s, Side side, const char *path, size_t cell, Buf *out, bool json, Err *err);
/* Where that chain ends, and its length. */
bool ask_why_end(Session *s, Side side, const char *path, size_t cell, Ref *end, int *count, Err *err);

/* One of the routes by which values are derived again, besides the terms: against what was written down a second time,
 * in double, with a bound that says how far float32 may be off. */
typedef struct VerdictRoute {
    size_t nodes, cells, beyond; /* beyond: cells further off than the bound */
    size_t undefined;            /* of those: the error is no number, since NaN or infinity is on either side */
    double worst;                /* the largest error, in units of the bound */
    bool rounded;                /* that is of a map whose bound is correct rounding: half a unit of its last place */
    Ref first;                   /* the first beyond it */
    const char *why;             /* nothing was compared: one line, else NULL */
} VerdictRoute;

/* Re-derives cells by streaming their terms and compares bit for bit: of every node that is made from others, probes
 * and gradients too. sample 0: every cell; then the pass is computed once more and a second hash counts as a difference
 * (without `first`). sample N: N cells of every node, the same ones each time. Then the other routes: maps against
 * their definition (map_exact.h), to the bound stated in kernels.h; gradients against the chain rule (grad.h); the
 * unedited run against the model's equations (direct.h), to 2e-5 of each tensor's largest value.
 * Calls session_trim. False when cancelled before anything could be compared. */
typedef struct Verdict {
    size_t cells, terms, different, nodes;
    size_t probes, made; /* of the nodes: analyses and gradients; not among them: leaves that host procedures made */
    Ref first;           /* the first difference */
    VerdictRoute maps, gradients, model;
    double seconds;
    uint64_t hash;
    bool complete; /* false when it was cancelled on the way */
} Verdict;
bool ask_verify(Session *s, Side side, size_t sample, Verdict *v, Err *err);
bool verdict_holds(const Verdict *v); /* complete, and nothing is different or beyond its bound */
void ask_verify_text(const Session *s, const Verdict *v, Buf *out, bool json);

/* Model, input, sizes, costs, assumptions, machine. */
void ask_info(const Session *s, Buf *out, bool json);
/* Every node with its shape, in the order in which they are computed; of analyses only where all are asked for. */
void ask_nodes(const Session *s, Buf *out, bool all, bool json);
bool ask_glossary(const Session *s, const char *word, Buf *out, Err *err);
/* The same of a word that stands on a screen: entries of that very name, not those of which it is a part, nor nodes
 * that lie elsewhere and are called by a plain word. */
bool ask_glossary_shown(const Session *s, const char *word, Buf *out);
/* Entry number i of the words, NULL past the end; *text is what it says. */
const char *ask_glossary_entry(int i, const char **text);
/* Another word number i that is looked up for an entry, NULL past the end; *entry is that entry's. */
const char *ask_glossary_alias(int i, const char **entry);
/* Is it one of the words that people use about Transformers (no name of a node or an axis)? "heads" is "head". */
bool ask_glossary_term(const char *word);
void ask_glossary_complete(const Session *s, int index, Buf *out);
/* "NaN begins at blocks.3.mlp.post[t=0,m=5]: 1 of its 9216 values", or ∞ at a weight, of what is kept; false without
 * any. */
bool ask_nan_begins(const Session *s, Side side, Buf *out);
#endif
