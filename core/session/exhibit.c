#include "core/session/exhibit.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/models/probes.h"
#include "core/session/edits.h"
#include "core/session/input.h"

void exhibit_init(Exhibit *e, const Model *m, Input *in, Pool *pool)
{
    *e = (Exhibit){.input = *in};
    *in = (Input){0};
    e->base = xcalloc(1, sizeof *e->base);
    graph_init(e->base);
    VitConfig c = m->vit;
    if (e->input.ready)
        c.input = VIT_INPUT_READY;
    vit_build(e->base, &c, &m->weights, m->class_names, e->input.values, &e->nodes);
    probes_add(e->base, &c, &e->nodes);
    e->base_run = run_new(e->base, NULL, pool);
}

static void free_edited(Exhibit *e)
{
    run_free(e->edited_run);
    if (e->edited)
        graph_free(e->edited);
    free(e->edited);
    arena_free(&e->edit_arena);
    e->edited = NULL;
    e->edited_run = NULL;
    e->edits = NULL;
    e->edit_count = 0;
}

void exhibit_free(Exhibit *e)
{
    free_edited(e);
    run_free(e->base_run);
    if (e->base)
        graph_free(e->base);
    free(e->base);
    input_free(&e->input);
    edit_state_free(&e->lines);
    *e = (Exhibit){0};
}

bool exhibit_edit(Exhibit *e, Edit *edits, int count, Arena *arena, Pool *pool, Err *err)
{
    Graph *edited = NULL;
    if (count > 0) {
        edited = xcalloc(1, sizeof *edited);
        if (!graph_edit(edited, e->base, edits, count, err)) {
            free(edited);
            return false;
        }
    }
    free_edited(e);
    e->edited = edited;
    e->edited_run = edited ? run_new(edited, e->base_run, pool) : NULL;
    e->edits = edits;
    e->edit_count = count;
    e->edit_arena = *arena;
    *arena = (Arena){0};
    return true;
}

const Graph *exhibit_graph(const Exhibit *e)
{
    return e->edited ? e->edited : e->base;
}

Run *exhibit_run(const Exhibit *e)
{
    return e->edited_run ? e->edited_run : e->base_run;
}
