/* `ledger`: a number that the residual stream is read out into, split into what every part of the model wrote
 * (core/models/ledger.h), on both sides' graphs; it is looked at, explained, compared and exported as ledger.PATH, and
 * follows every edit. */
#ifndef VITRINE_SESSION_ASK_LEDGERS_H
#define VITRINE_SESSION_ASK_LEDGERS_H
#include "core/session/address.h"
#include "core/session/command.h"

/* Another number takes the place of the one before. False, with the one before still in force, where it can't be
 * split. */
bool ledger_set(Session *s, const LedgerTarget *t, Err *err);
/* The logit of class o less that of its strongest rival on that side: the next one after the answer, the answer for any
 * other class; o −1: of the answer. Where every token has logits: of token `row`, −1 for the one under the data cursor.
 * Computes the logits. False where the model names fewer than two classes. */
bool ledger_rivals(Session *s, Side side, int row, int o, LedgerTarget *t, Err *err);
/* Are these logits, or their shares, whose class is not said, as logits[t=4]? That row's answer is meant then; *row: −1
 * for the one in focus. */
bool ledger_asks_row(const Graph *g, const Address *to, size_t cell, int *row);
/* A class by its name or number; of words also without the mark that a tokeniser puts for the blank in front. */
bool ledger_parse_class(const Session *s, const char *word, int column, int *o, Err *err);
/* Row and class of a cell of the logits, or of their shares. */
void ledger_class(const Graph *g, NodeId n, size_t cell, int *row, int *o);
/* That ledger of the answer on show, unless one is in force. */
bool ledger_answer(Session *s, Err *err);
/* What is known of the ledger of that side; the ledger itself, or NULL. */
const LedgerOn *ledger_on(const Session *s, Side side);
const Ledger *session_ledger(const Session *s, Side side);
/* The ledger of the vote by whose way it was looked at last (LedgerTarget.step), step 0, …, or NULL. */
const Ledger *session_ledger_via(const Session *s, Side side, int step);
/* The head before it that wrote most into that vote (as it speaks, for or against), and the token by looking at which
 * it wrote most of that. From values that are there: false while they are not, or where no head did. */
typedef struct LedgerVia {
    const LedgerEntry *entry; /* of the ledger of the vote */
    int head, token;
    float vote, wrote; /* all of the vote, and that head's part */
} LedgerVia;
bool ledger_via(const Session *s, Side side, int step, LedgerVia *out);
/* The head that the sentence of `why` names and the token, whose axis is returned; NULL: it names none. */
const Axis *ledger_why_named(const Session *s, Side side, const LedgerEntry **e, int *head, int *token);
/* Is the screen of the ledger on show? */
bool ledger_on_show(const Session *s);
/* That token, where e and head are the head it names; else −1. */
int ledger_why_token(const Session *s, Side side, const LedgerEntry *e, int head);
/* What it is of: "logits[o=star] − logits[o=ring]"; appended. */
void ledger_text(const Session *s, Buf *out);
/* The same in short, "star − ring"; of what has no classes, as ledger_text. */
void ledger_text_short(const Session *s, Buf *out);

/* Is it a node of a ledger? It stands only while that is in force. */
bool ledger_is_path(const char *path);
/* The command that makes the one in force, with its line end. */
void ledger_put_command(const Session *s, Buf *out);

/* One line of it as a table: parts in the order of the model. */
typedef struct LedgerLine {
    const LedgerEntry *entry;
    int index;   /* of the entry */
    int line;    /* counted over all of them, in the order of the model */
    int head;    /* −1: the whole entry */
    float value; /* what it wrote */
    NodeId node; /* the cell that has it */
    size_t cell;
    bool same; /* it is the same for every picture */
} LedgerLine;
/* Lines by head, for every entry that has heads, else whole, largest first where sorted. Needs the values: computes
 * them. NULL and err when cancelled; the caller frees. */
LedgerLine *ledger_lines(Session *s, Side side, bool sorted, int *count, Err *err);
/* "block 2 head 3", "block 0 MLP", "patches", "positions", …; appended. */
void ledger_part_text(const Graph *g, const LedgerLine *l, Buf *out);
/* As text or JSON; measured: with what taking each line out does, of what is on show now. */
bool ledger_table(Session *s, Side side, bool measured, Buf *out, bool json, Err *err);

/* The attention in focus, a part of that side's graph: of the last block where none is; of a model with several stacks
 * the last one that wrote, where the one in focus is of a stack that did not. */
int ledger_attention(const Session *s, Side side);
/* The entry of the heads of an attention (a part of that side's graph) or NULL; of the one in focus. */
const LedgerEntry *ledger_heads(const Session *s, Side side, int attention);
const LedgerEntry *ledger_heads_here(const Session *s, Side side);
/* …and of the MLP of the block that this attention is the last one of. */
const LedgerEntry *ledger_mlp(const Session *s, Side side, int attention);
/* Of the MLP that the cursor is on; NULL: it is on a head. */
const LedgerEntry *ledger_mlp_here(const Session *s, Side side);
/* Head or MLP (head −1) number i of a ledger, in the order of the model: of heads one by one. False past the last. */
bool ledger_tributary(const Graph *g, const Ledger *l, int i, const LedgerEntry **e, int *head);
/* Which of them the cursor is on; −1: none. */
int ledger_here(const Session *s, Side side);
/* What is taken out of the pass, one after the other. */
typedef enum LedgerTaken {
    TAKEN_LINES, /* what each line wrote into the token that is read */
    TAKEN_HEADS  /* every head of the ledger, at all tokens: switched off as `ablate` does it */
} LedgerTaken;
/* Measures what taking out the lines (the heads) of the ledger on show does, until the deadline: true when nothing is
 * left. The effects are the exhibit's and go when its graphs change. */
bool ledger_step(Session *s, int64_t deadline_ns);
bool ledger_step_taken(Session *s, LedgerTaken taken, int64_t deadline_ns);
/* How far that is. */
void ledger_measured(const Session *s, LedgerTaken taken, size_t *done, size_t *total);
/* … as a share of what is being measured; 1: nothing is. */
double ledger_measured_share(const Session *s);
/* The measured effect of a line of that side's ledger, NaN where it is not measured (yet). */
float session_ledger_effect(const Session *s, Side side, LedgerTaken taken, const LedgerEntry *e, int head);

/* `why` of an answer (cell *cell of *path), or where a ledger is on show: to its screen, onto the head that spoke most,
 * its votes painted and its token at the cursor, and one sentence that names both. False where one stands there
 * already: *path and *cell are what its head or MLP wrote then, and `rest` gets where its vote for that token came
 * from; or where there is no such ledger. */
bool ledger_why(Session *s, const char **path, size_t *cell, Buf *rest);

bool ledger_command(Session *s, const Args *a, Err *err);
void ledger_complete(const Session *s, int index, Buf *out);
#endif
