/* The list of lines → graph edits, each line by its verb's row; and what those rows share. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/session/edit/verbs.h"
#include "core/session/exhibit.h"

Edit *parse_add(EditParse *p, EditKind kind, const char *path)
{
    p->edits = grow(p->edits, &p->cap, (size_t)p->count, sizeof *p->edits);
    Edit *e = &p->edits[p->count++];
    *e = (Edit){.kind = kind, .path = arena_strdup(p->arena, path), .origin = p->origin};
    return e;
}

bool parse_number(const char *text, float *out)
{
    char *end;
    *out = kernel_canonical(strtof(text, &end));
    return end != text && !*end;
}

/* What the sub-layer or norm of that scope gives, or NULL: there is no such part. */
static const char *part_result(const Graph *g, const char *scope)
{
    for (int i = 0; i < anatomy_count(g); i++) {
        const Part *p = anatomy_part(g, i);
        if (*p->scope && strcmp(p->scope, scope) == 0 && site_node(g, i, SITE_OUT) != NO_NODE)
            return site_path(g, i, SITE_OUT);
    }
    return NULL;
}

bool parse_target(EditParse *p, const char *text, bool parts, Address *a, Err *err)
{
    if (!address_parse(p->s, p->g, text, a, err))
        return false;
    const char *path = parts && !a->is_node ? part_result(p->g, a->path) : NULL;
    if (path) {
        snprintf(a->path, sizeof a->path, "%s", path);
        a->is_node = true;
    }
    return true;
}

int parse_token_axis(const Graph *g, Dims d)
{
    for (int i = 0; i < d.n; i++)
        if (g->axes[d.axis[i]].role == ROLE_QUERY || g->axes[d.axis[i]].role == ROLE_PLACE)
            return d.axis[i];
    return dims_role(g, d, ROLE_KEY); /* keys and values: the tokens looked at */
}

static bool parse_line(EditParse *p, const EditState *lines, int i, Err *err)
{
    Args a;
    const char *name;
    p->origin = arena_strdup(p->arena, lines->line[i]);
    p->values = &lines->values[i];
    if (!args_parse(&a, lines->line[i], &name, err))
        return false;
    const EditVerb *v = edit_verb(name, a.count ? a.word[0] : "");
    return v ? v->parse(p, &a, err) : err_set(err, "'%s' is not an edit", lines->line[i]);
}

bool edits_parse(const Session *s, const EditState *lines, Arena *arena, Edit **edits, int *count, Err *err)
{
    Graph model = *session_base(s); /* gradients are made from edits, not edited */
    model.count = exhibit_pass(s->now)->base_count;
    EditParse p = {.s = s, .g = &model, .arena = arena};
    bool ok = true;
    for (int i = 0; ok && i < lines->count; i++)
        ok = parse_line(&p, lines, i, err);
    *count = p.count;
    *edits = arena_alloc(arena, size_mul((size_t)p.count + 1, sizeof **edits));
    if (p.count)
        memcpy(*edits, p.edits, (size_t)p.count * sizeof **edits);
    free(p.edits);
    return ok;
}
