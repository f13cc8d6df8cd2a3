#include "core/session/edit/verbs.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/exhibit.h"

/* Of two rows that fit a line the earlier is meant: `set scale` before `set`. */
static const EditVerb *const VERBS[] = {&VERB_SET_SCALE, &VERB_SET_PRECISION, &VERB_SET,     &VERB_ABLATE,
                                        &VERB_SKIP,      &VERB_MASK,          &VERB_SHUFFLE, &VERB_GREY,
                                        &VERB_HIDE,      &VERB_SWAP,          &VERB_PATCH};

const EditVerb *edit_verb_at(int i)
{
    return i >= 0 && i < (int)(sizeof VERBS / sizeof *VERBS) ? VERBS[i] : NULL;
}

const EditVerb *edit_verb(const char *name, const char *first)
{
    const EditVerb *v;
    for (int i = 0; (v = edit_verb_at(i)) != NULL; i++) {
        size_t n = strcspn(v->words, " ");
        if (strncmp(v->words, name, n) == 0 && !name[n] && (!v->words[n] || strcmp(v->words + n + 1, first) == 0))
            return v;
    }
    return NULL;
}

bool edit_focus(const Session *s, char line[EDIT_LINE], Err *err)
{
    const EditVerb *v;
    for (int i = 0; (v = edit_verb_at(i)) != NULL; i++)
        if (v->focus && v->focus(s, line))
            return true;
    if (!s->now->model)
        return err_set(err, "this worked example has no part to switch off; `set ADDRESS NUMBER` changes a cell of it");
    return err_set(err, "nothing here can be switched off: go to a head, a block's part, the picture or the positions");
}

bool edit_line(char line[EDIT_LINE], Err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = utf8_vprint(line, EDIT_LINE, fmt, ap);
    va_end(ap);
    return (n >= 0 && n < EDIT_LINE) || err_set(err, "that line is too long");
}

bool edit_print_address(const Session *s, const char *verb, const Args *a, const char *more, char line[EDIT_LINE],
                        Err *err)
{
    Address to;
    if (!address_word(s, session_base(s), a->word[0], a->column[0], &to, err))
        return false;
    const char *bracket = strchr(a->word[0], '[');
    return edit_line(line, err, "%s %s%s%s", verb, to.path, bracket ? bracket : "", more);
}

const char *edit_block_name(const Graph *g, int block, char *out, size_t n)
{
    const Part *p = anatomy_part(g, block);
    snprintf(out, n, "%s%sblock %d", p->stack, *p->stack ? " " : "", p->block);
    return out;
}

/* "MLP" is "mlp", "cross attention" is "cross-attention". */
static bool same_word(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        int x = *a == ' ' ? '-' : tolower((unsigned char)*a), y = *b == ' ' ? '-' : tolower((unsigned char)*b);
        if (x != y)
            return false;
    }
    return *a == *b;
}

const char *edit_part_own(const Part *p)
{
    const char *dot = strrchr(p->scope, '.');
    return dot ? dot + 1 : p->scope;
}

const char *edit_part_kind(const Part *p)
{
    static const char *const KINDS[PART_KINDS] = {
        [PART_ATTENTION] = "attention", [PART_MLP] = "mlp", [PART_NORM] = "layernorm"};
    return p->site[SITE_NORM_MEAN_SQUARE] ? "rmsnorm" : KINDS[p->kind];
}

bool edit_part_is(const Part *p, const char *word)
{
    const char *kind = edit_part_kind(p);
    return kind && (same_word(kind, word) || same_word(p->word, word) || same_word(edit_part_own(p), word));
}

int edit_place_axis(const Session *s)
{
    return graph_role(session_base(s), ROLE_PLACE, SEQUENCE_ANY);
}

bool edit_place_label(const Session *s, char *out, size_t n)
{
    int axis = edit_place_axis(s);
    *out = 0;
    if (axis != AXIS_NONE)
        axis_label(&session_base(s)->axes[axis], s->place.at[axis], out, n);
    return axis != AXIS_NONE;
}

const char *edit_example(const Graph *g, Site site, AxisRole role, char *out, size_t n)
{
    const char *path = site_path_any(g, site);
    int axis = node_role(g, site_node_any(g, site), role);
    *out = 0;
    if (path && axis != AXIS_NONE) {
        char label[32];
        axis_label(&g->axes[axis], 0, label, sizeof label);
        snprintf(out, n, "%s[%s=%s]", path, g->axes[axis].sym, label);
    } else if (path)
        snprintf(out, n, "%s", path);
    return out;
}

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
    if (a.beyond)
        return err_set(err, "column %d: more words than any edit takes", a.beyond);
    const EditVerb *v = edit_verb(name, a.count ? a.word[0] : "");
    return v ? v->parse(p, &a, err) : err_set(err, "'%s' is not an edit", lines->line[i]);
}

bool edits_parse(const Session *s, const EditState *lines, Arena *arena, Edit **edits, int *count, Err *err)
{
    Graph model = *session_base(s); /* gradients are made from edits, not edited */
    model.count = s->now->pass.base_count;
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
