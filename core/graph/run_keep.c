/* What a run may forget: derived values between frames, and under a memory budget whatever nobody reads. Forgetting
 * never changes a value: it is computed again, with the same bits, from what stayed. */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/graph/run_state.h"

/* When room must be made, an eighth of the budget more is: looking for what to forget costs time. */
enum { SPARE = 8 };

void run_join(Run *r)
{
    Family *f = r->family = r->base ? r->base->family : xcalloc(1, sizeof *f);
    f->runs = grow(f->runs, &f->cap, f->count, sizeof *f->runs);
    f->runs[f->count++] = r;
}

void run_leave(Run *r)
{
    Family *f = r->family;
    size_t at = 0;
    while (f->runs[at] != r)
        at++;
    f->count--;
    for (; at < f->count; at++)
        f->runs[at] = f->runs[at + 1];
    if (r->base)
        return;
    free(f->runs);
    free(f);
}

/* Marks what the run reads to get from what is there to what it wants: values asked for, those of the forward pass that
 * are to come, and those that the job reads. What it reads of its base is marked there, hence later. */
static void mark_run(Run *r)
{
    const Graph *g = r->graph;
    for (int i = 0; i < r->node_count; i++) {
        const Node *node = graph_node(g, r->nodes[i].id);
        for (int k = 0; k < op_inputs(node->op); k++)
            r->slots[node->in[k]].keep = true;
    }
    for (NodeId n = r->known - 1; n >= 0; n--) {
        Slot *s = &r->slots[n];
        const Node *node = graph_node(g, n);
        NodeId shared = run_shared(r, n);
        bool to_come = !s->been && shared == NO_NODE && run_is_forward(r, n);
        s->keep = s->keep || s->asked || to_come;
        if (!s->keep || s->ready)
            continue;
        if (shared != NO_NODE)
            r->base->slots[shared].keep = true;
        for (int k = 0; shared == NO_NODE && k < op_inputs(node->op); k++)
            if (!leaf_read_as_stored(g, n, k))
                r->slots[node->in[k]].keep = true;
    }
}

static void mark(Family *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (NodeId n = 0; n < f->runs[i]->known; n++)
            f->runs[i]->slots[n].keep = false;
    for (size_t i = f->count; i-- > 0;) /* what was edited before what it was edited from */
        mark_run(f->runs[i]);
}

typedef struct Candidate {
    uint64_t used;
    Run *run;
    NodeId node;
} Candidate;

static int oldest_first(const void *a, const void *b)
{
    uint64_t x = ((const Candidate *)a)->used, y = ((const Candidate *)b)->used;
    return x < y ? -1 : x > y;
}

/* Forgets what is not marked until no more than `most` bytes are held. */
static void forget_down_to(Family *f, size_t most)
{
    size_t count = 0, all = 0;
    for (size_t i = 0; i < f->count; i++)
        all += (size_t)f->runs[i]->known;
    Candidate *c = xmalloc(size_mul(all, sizeof *c));
    for (size_t i = 0; i < f->count; i++) {
        Run *r = f->runs[i];
        run_hash_some(r);
        for (NodeId n = 0; n < r->known; n++)
            if (r->slots[n].ready && !r->slots[n].keep && !(graph_node(r->graph, n)->flags & NODE_CHECKPOINT))
                c[count++] = (Candidate){r->slots[n].used, r, n};
    }
    qsort(c, count, sizeof *c, oldest_first);
    for (size_t i = 0; i < count && f->held > most; i++)
        run_forget(c[i].run, c[i].node);
    free(c);
}

void run_make_room(Run *r, size_t bytes)
{
    Family *f = r->family;
    if (!f->limit || (f->held <= f->limit && bytes <= f->limit - f->held))
        return;
    size_t most = f->limit - f->limit / SPARE;
    mark(f);
    forget_down_to(f, bytes < most ? most - bytes : 0);
}

void run_trim(Run *r)
{
    Family *f = r->family;
    mark(f);
    if (f->limit && f->held > f->limit)
        forget_down_to(f, f->limit);
    for (size_t i = 0; i < f->count; i++) {
        Run *member = f->runs[i];
        for (NodeId n = 0; n < member->known; n++) {
            Slot *s = &member->slots[n];
            const Node *node = graph_node(member->graph, n);
            if (((node->flags & NODE_DERIVED) || node->op == OP_LEAF) && s->ready && !s->keep)
                run_forget(member, n);
            s->asked = false;
        }
    }
}

void run_budget(Run *r, size_t bytes)
{
    r->family->limit = bytes;
}

size_t run_peak_bytes(const Run *r)
{
    return r->family->peak;
}
