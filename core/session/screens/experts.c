/* Who gets which expert: the router's choice for every token of a block with experts. */
#include <stdio.h>
#include <string.h>

#include "core/session/ask/say.h"
#include "core/session/screens.h"

/* The weights of the experts of a part, or NULL. */
static const char *weights_of(const Graph *g, int part)
{
    return part == NO_PART ? NULL : site_path(g, part, SITE_EXPERTS_WEIGHTS);
}

/* `experts`, `experts 3`: of the block in focus, else of the first that has any. */
static bool run_experts(Session *s, const Args *a, Err *err)
{
    const Graph *g = session_base(s);
    const char *path = NULL;
    int block;
    bool relative;
    if (site_part(g, SITE_ROUTER) == NO_PART)
        return err_set(err, "this model has no experts: every block has one MLP");
    if (a->count) {
        if (!args_number(a->word[0], &block, &relative) || relative)
            return err_set(err, "column %d: expected a block's number, found '%.40s'", a->column[0], a->word[0]);
        int of = anatomy_block(g, NULL, block);
        path = of == NO_PART ? NULL : weights_of(g, anatomy_next_in(g, NO_PART, PART_MLP, of));
        if (!path)
            return err_set(err, "column %d: block %d has no experts", a->column[0], block);
    } else {
        const int here = anatomy_block_of(g, s->place.path);
        path = here == NO_PART ? NULL : weights_of(g, anatomy_next_in(g, NO_PART, PART_MLP, here));
        path = path ? path : site_path_any(g, SITE_EXPERTS_WEIGHTS);
    }
    return screen_go(s, SCREEN_EXPERTS, path, err);
}

/* Into the hidden numbers of the expert at the cursor: its MLP. What it wrote is its result times its weight, the
 * result W_down of them. */
static bool enter_expert(Session *s, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = graph_find(g, site_path(g, anatomy_of(g, s->place.path), SITE_EXPERTS_WROTE));
    for (int i = 0; i < 2 && n != NO_NODE; i++) {
        while (graph_node(g, n)->op != OP_MUL && graph_node(g, n)->op != OP_CONTRACT) /* an edit stands before it */
            n = graph_node(g, n)->in[graph_node(g, n)->op == OP_WHERE];
        n = graph_node(g, n)->in[0];
    }
    return session_go(s, graph_node(g, n)->path, SCREEN_TENSOR, err);
}

static const Command OWN = COMMAND("experts", "trace", "experts [BLOCK]",
                                   "which expert each token gets, with its weight", COMMAND_SESSION, run_experts, NULL);

SCREEN_SPEC(EXPERTS, .name = "experts", .about = "tokens by experts: the router's probabilities, and whom it chose",
            .command = "experts", .own = {&OWN, 1, NULL}, .move = move_on_plane, .enter = enter_expert,
            .next = enter_tensor, .words = true, .drawn_alone = true);
