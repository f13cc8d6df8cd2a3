/* `vitrine receipt`: what somebody's answer was about, and whether it is right, without asking anybody. */
#include <stdio.h>
#include <string.h>

#include "core/session/ask/quiz.h"
#include "core/session/ask/receipt.h"
#include "tui/cli/verbs.h"
#include "tui/rollcall.h"

static bool check(const Options *o, const Link *l, Err *err)
{
    Receipt r;
    (void)l;
    if (o->word_count < 2)
        return err_set(err, "which receipt? vitrine receipt v1-…");
    return receipt_read(&r, o->word[1], err);
}

/* The words of a question that was asked on the spot. */
static bool words(Work *w, const Receipt *r, Err *err)
{
    const Options *o = w->options;
    int count = o->word_count - 3;
    if (count < 2 || count > ROLLCALL_ANSWERS)
        return err_set(err, "a question has 2 to %d answers", ROLLCALL_ANSWERS);
    if (rollcall_seed(o->word[2], o->word + 3, count) != r->seed)
        return err_set(err, "the receipt is for another question than \"%.100s\"", o->word[2]);
    if (r->answer < 1 || r->answer > count)
        return err_set(err, "that question has no answer %d", r->answer);
    buf_printf(&w->out, "question  %s\nanswer    %d: %s\n", o->word[2], r->answer, o->word[2 + r->answer]);
    return true;
}

/* A question made from the trace is made again. */
static bool made(Work *w, const Receipt *r, Err *err)
{
    Quiz q;
    if (!quiz_make(&w->session, r->seed, &q, err))
        return false;
    if (r->answer < 1 || r->answer > q.count)
        return err_set(err, "the question made from seed %u has no answer %d", r->seed, r->answer);
    buf_printf(&w->out, "question  %s\nanswer    %d: %s\n", q.text, r->answer, q.answer[r->answer - 1]);
    if (r->answer - 1 == q.right)
        buf_puts(&w->out, "right     yes\n");
    else
        buf_printf(&w->out, "right     no: %s\n", q.answer[q.right]);
    return true;
}

static int receipt(Work *w, Err *err)
{
    Receipt r;
    uint64_t hash;
    const Options *o = w->options;
    if (!receipt_read(&r, o->word[1], err) || !work_open(w, COMMAND_EDIT | COMMAND_FILE, err) || !work_complete(w, err))
        return STATUS_BAD;
    if (!session_hash(&w->session, SIDE_B, &hash)) {
        err_set(err, "this run has no trace hash");
        return STATUS_BAD;
    }
    buf_printf(&w->out, "receipt   well formed\nabout     trace hash %016llx: %s\n", (unsigned long long)r.hash,
               hash == r.hash ? "this run" : "another run than this one");
    if (hash != r.hash) {
        err_set(err,
                "the answer was given about another picture, model or edit: name them with -i, -m and -c (this "
                "run has %016llx)",
                (unsigned long long)hash);
        return STATUS_NO;
    }
    if (!(o->word_count > 2 ? words(w, &r, err) : made(w, &r, err)))
        return STATUS_NO;
    return STATUS_DONE;
}

const Verb VERB_RECEIPT = {
    .name = "receipt",
    .usage = "receipt RECEIPT [QUESTION ANSWERS] [-i INPUT] [-c COMMANDS]",
    .summary = "what an answer was, about which run, and whether it is right",
    .details =
        "A receipt has the seed of a question, the number of the answer and the trace hash of the run that it was "
        "given about, at most 60 characters. The run is made again: #17 without edits, or what -i, -m and -c say. A "
        "question that was made from the trace (ask seed=N) is made again too and graded; the words of one that was "
        "asked on the spot have to be given. It is no signature: anybody can write one who knows the answer.",
    .example = "vitrine receipt v1-00000007-2-1cc1e37e9104eb92-518e",
    .flags = VERB_ALONE,
    .check = check,
    .run = receipt};
