#include "core/session/ask/explained.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/session/ask/ask_parts.h"

/* What was worked out of: another run, node or cell is another question. */
typedef struct Question {
    const Run *run; /* NULL: nothing was */
    NodeId node;
    size_t cell, most;
} Question;

typedef struct Answers {
    Question explained, closed; /* closed: in close-up */
    Explanation explanation;
    Closeup closeup;
} Answers;

struct Explained {
    Answers side[2]; /* B, A */
};

static Answers *answers_of(const Session *s, Side side)
{
    return s->explained ? &s->explained->side[side == SIDE_A] : NULL;
}

static bool same(const Question *q, const Run *run, NodeId n, size_t cell)
{
    return q->run == run && q->node == n && q->cell == cell;
}

static void explain(Session *s, Answers *a, Side side, Question q)
{
    if (same(&a->explained, q.run, q.node, q.cell) && a->explained.most >= q.most)
        return;
    explanation_free(&a->explanation);
    a->explained = ask_explain(s, side, q.node, q.cell, q.most, &a->explanation) ? q : (Question){0};
}

static void close_up(Session *s, Answers *a, Side side, Question q)
{
    if (same(&a->closed, q.run, q.node, q.cell))
        return;
    closeup_free(&a->closeup);
    a->closed = q;
    if (closeup_open(s, side, q.node, q.cell, &a->closeup) && !closeup_values(s, &a->closeup)) {
        closeup_free(&a->closeup);
        a->closed = (Question){0};
    }
}

void explained_make(Session *s, const Need *need)
{
    Side side = ask_side(need->side);
    NodeId n = session_node(s, side, need->path);
    if (need->what == NEED_VALUES || n == NO_NODE || need->cell >= graph_cells(session_graph(s, side), n))
        return;
    if (!s->explained)
        s->explained = xcalloc(1, sizeof *s->explained);
    Question q = {session_run(s, side), n, need->cell, need->most};
    if (need->what == NEED_CLOSEUP)
        close_up(s, answers_of(s, side), side, q);
    else
        explain(s, answers_of(s, side), side, q);
}

const Explanation *explained_cell(const Session *s, Side side, NodeId n, size_t cell, size_t most)
{
    side = ask_side(side);
    const Answers *a = answers_of(s, side);
    return a && same(&a->explained, session_run(s, side), n, cell) &&
                   (a->explained.most >= most || a->explanation.line_count == a->explanation.terms)
               ? &a->explanation
               : NULL;
}

bool explained_closeup(const Session *s, Side side, NodeId n, size_t cell, const Closeup **out)
{
    side = ask_side(side);
    const Answers *a = answers_of(s, side);
    bool known = a && same(&a->closed, session_run(s, side), n, cell);
    *out = known && a->closeup.count ? &a->closeup : NULL;
    return known;
}

void explained_drop(Session *s)
{
    for (int i = 0; s->explained && i < 2; i++) {
        explanation_free(&s->explained->side[i].explanation);
        closeup_free(&s->explained->side[i].closeup);
    }
    free(s->explained);
    s->explained = NULL;
}
