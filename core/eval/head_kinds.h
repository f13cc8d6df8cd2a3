/* Which heads of a text model are of the kinds that are known by name, measured on texts of random tokens, in which
 * nothing but the place and the repetition can be looked for: induction heads, previous-token heads, and heads whose
 * weight sinks into the first token (Elhage et al. 2021, Olsson et al. 2022; Xiao et al. 2023 for sinks). Each share
 * is a mean over the texts with its interval, beside what uniform attention gives, and beside a control, so that no
 * head gets a name for its place alone. */
#ifndef VITRINE_EVAL_HEAD_KINDS_H
#define VITRINE_EVAL_HEAD_KINDS_H
#include "core/base/pool.h"
#include "core/eval/interval.h"
#include "core/models/model.h"

/* A share of a token's attention weight. A text is HEAD_KINDS_TOKENS tokens (fewer where the model reads or has fewer),
 * all different and none of them special, between the model's own special tokens; what a decoder reads is these twice.
 */
typedef enum HeadKind {
    HEAD_INDUCTION, /* decoder: of a token of the second half, on the token behind its first occurrence. Control: the
                       same places in the same text with its second half shuffled */
    HEAD_PREVIOUS,  /* on the token before. Control: on the one before that */
    HEAD_NEXT,      /* encoder: on the token behind. Control: on the one behind that */
    HEAD_SINK,      /* on the special tokens, on the first token where there are none. Control: on as many tokens right
                       behind the first ones */
    HEAD_KINDS
} HeadKind;

enum {
    HEAD_KINDS_TEXTS = 50,
    HEAD_KINDS_TOKENS = 25,
    HEAD_KINDS_LEAST = 4,
    HEAD_KINDS_AROUND = 16,
    HEAD_KINDS_WORDS = 2 * HEAD_KINDS_TOKENS + 2 * HEAD_KINDS_AROUND
};

/* Arrays by attention (anatomy_attention) and head. */
typedef struct HeadKindsResult {
    size_t texts;                  /* so far */
    int attentions, heads, tokens; /* tokens: of a text, without repetition and special ones */
    bool (*applies)[HEAD_KINDS];   /* [attentions] */
    double (*uniform)[HEAD_KINDS]; /* [attentions] the same share where all that may be looked at weighs the same */
    MeanOver (*share)[HEAD_KINDS]; /* [attentions, heads] */
    MeanOver (*control)[HEAD_KINDS];
    MeanOver *copies; /* [attentions, heads] of a decoder's own attention, where the answer is a ledger's: what the head
                         would write by looking at the token behind the first occurrence raises that token above the
                         text's other ones; the share of the first half's other tokens that raise it less. By chance
                         0.5. mean NaN: not measured */
} HeadKindsResult;

typedef struct HeadKinds HeadKinds;

/* model, which reads texts, and pool must outlive it. NULL with err where its texts are too short. */
HeadKinds *head_kinds_new(const Model *model, size_t texts, Pool *pool, Err *err);
void head_kinds_free(HeadKinds *k);                      /* NULL is allowed */
bool head_kinds_step(HeadKinds *k, int64_t deadline_ns); /* true when done */
size_t head_kinds_done(const HeadKinds *k);              /* texts */
size_t head_kinds_total(const HeadKinds *k);
const HeadKindsResult *head_kinds_result(const HeadKinds *k); /* NULL before two texts are done */
/* The numbers of a text, for whoever measures it again: what the encoder reads, or the decoder, with its second half
 * shuffled or not. Returns how many; 0: the model has none. */
int head_kinds_text(const HeadKinds *k, bool target, size_t text, bool shuffled, int word[HEAD_KINDS_WORDS]);
/* Is that head of the kind? Its share less its interval is above uniform and above the control with its interval, by a
 * tenth of the weight at least. */
bool head_kinds_is(const HeadKindsResult *r, int cell, HeadKind kind);
const char *head_kind_word(HeadKind kind);    /* "induction" */
const char *head_kind_about(HeadKind kind);   /* "on the token behind the first occurrence of its own" */
const char *head_kind_control(HeadKind kind); /* what the control is */
#endif
