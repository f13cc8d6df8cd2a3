/* What `set` changes: the scale of attention, the precision of stored tensors, cells. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/eval/ablation.h"
#include "core/models/names.h"
#include "core/session/edit/verbs.h"
#include "core/session/screens/laboratory.h"

/* --- set scale --- */

/* Does the attention `part`, its scale, or a part around it bear that name or match that pattern? */
static bool part_matches(const Graph *g, int part, const char *pattern)
{
    if (address_match(pattern, site_path(g, part, SITE_SCALE)))
        return true;
    for (; part != NO_PART; part = anatomy_part(g, part)->parent) {
        const char *scope = anatomy_part(g, part)->scope;
        if (*scope && address_match(pattern, scope))
            return true;
    }
    return false;
}

static bool of_scale_line(const Edit *e, const char *path)
{
    return strcmp(e->path, path) == 0 && strncmp(e->origin, EDIT_SCALE_LINE, sizeof EDIT_SCALE_LINE - 1) == 0;
}

/* A factor stands in place of an earlier one: takes the cells of `path` away from the `set scale` edits so far. Of a
 * range in the middle of an earlier one what is before and behind it stays. */
static void take_cells(EditParse *p, const char *path, const Selection *cells)
{
    for (int i = p->count - 1; i >= 0; i--) {
        Edit *e = &p->edits[i];
        if (!of_scale_line(e, path) || cells->n > 1 || e->cells.n > 1)
            continue;
        const int axis = cells->n ? cells->range[0].axis : AXIS_NONE;
        int from = 0, to = cells->n ? p->g->axes[axis].n : 0;
        if (cells->n && e->cells.n) {
            from = e->cells.range[0].from;
            to = e->cells.range[0].to;
        }
        const int pieces[2][2] = {{from, cells->n && cells->range[0].from < to ? cells->range[0].from : to},
                                  {cells->n && cells->range[0].to > from ? cells->range[0].to : from, to}};
        const Edit was = *e;
        if (cells->n && (cells->range[0].from >= to || cells->range[0].to <= from))
            continue; /* another head */
        memmove(e, e + 1, (size_t)(p->count - i - 1) * sizeof *e);
        p->count--;
        for (int k = 1; k >= 0 && cells->n; k--) {
            if (pieces[k][0] >= pieces[k][1])
                continue;
            parse_add(p, was.kind, path);
            e = &p->edits[i];
            memmove(e + 1, e, (size_t)(p->count - i - 1) * sizeof *e);
            *e = was;
            e->cells = (Selection){.n = 1, .range = {{axis, pieces[k][0], pieces[k][1]}}};
        }
    }
}

static bool scale_edit(EditParse *p, int part, bool off, float factor, const char *cells, Err *err)
{
    const char *path = site_path(p->g, part, SITE_SCALE);
    char text[SESSION_PATH + 64];
    Address one;
    snprintf(text, sizeof text, "%s%s", path, cells);
    if (!address_parse(p->s, p->g, text, &one, err))
        return false;
    take_cells(p, path, &one.cells);
    Edit *e = parse_add(p, off ? EDIT_SET : EDIT_SCALE, path);
    e->cells = one.cells;
    e->factor = factor;
    e->value = 1; /* no factor at all */
    return true;
}

static bool scale_parse(EditParse *p, const Args *a, Err *err)
{
    const char *how = a->count > 1 ? a->word[1] : "", *at = args_named(a, "at");
    float factor = 1;
    bool off = strcmp(how, "off") == 0, any = false;
    if (!off && (*how != 'x' || !parse_number(how + 1, &factor) || !isfinite(factor)))
        return err_set(err, "expected `set scale off`, `on` or a factor such as x2, found '%s'", how);
    if (off && node_factor(p->g) == FACTOR_ONE)
        return err_set(err,
                       "this model has no factor on its scores to take away: it is 1; `set scale x0.5` puts one on");
    char pattern[SESSION_PATH] = "**", cells[64] = "";
    if (at) {
        const char *bracket = strchr(at, '[');
        size_t n = bracket ? (size_t)(bracket - at) : strlen(at);
        if (n >= sizeof pattern)
            return err_set(err, "that address is too long");
        utf8_print(pattern, sizeof pattern, "%.*s", (int)n, at);
        utf8_print(cells, sizeof cells, "%.60s", bracket ? bracket : "");
    }
    for (int i = NO_PART; (i = anatomy_next(p->g, i, PART_ATTENTION)) != NO_PART;) {
        if (site_node(p->g, i, SITE_SCALE) == NO_NODE || !part_matches(p->g, i, pattern))
            continue;
        if (!scale_edit(p, i, off, factor, cells, err))
            return false;
        any = true;
    }
    if (any)
        return true;
    int block = anatomy_next(p->g, NO_PART, PART_BLOCK);
    Address none;
    if (at && !address_parse(p->s, p->g, at, &none, err))
        return err_prefix(err, "at=%s: no attention there", at);
    if (!at)
        return err_set(err, "%s has no factor on its scores to change",
                       p->s->now->model ? "this model" : "this worked example");
    return err_set(err, "at=%s: no attention there; say at=%s or one head of it", at,
                   block == NO_PART ? "NODE" : anatomy_part(p->g, block)->scope);
}

static bool scale_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    const char *at = args_named(a, "at");
    (void)s;
    if (a->count < 2)
        return err_set(err, "expected `set scale off`, on, toggle or a factor such as x2, and perhaps at=BLOCK");
    return edit_line(line, err, "set scale %s%s%s", a->word[1], at ? " at=" : "", at ? at : "");
}

static bool scale_report(Session *s, const Args *a)
{
    float factor;
    if (a->count == 2 && a->word[1][0] == 'x' && parse_number(a->word[1] + 1, &factor)) {
        const char *at = args_named(a, "at");
        char times[48];
        snprintf(times, sizeof times, "%.9g times", (double)factor);
        session_say(s, "The factor is %s the model's own%s%s: A is before, B is after.  u undoes",
                    factor == 2.0F ? "twice" : times, at ? " at " : "", at ? at : "");
        return true;
    }
    if (a->count != 2 || a->named_count || strcmp(a->word[1], "off") != 0)
        return false;
    if (scale_places_tell(s))
        return true;
    const bool root = node_factor(session_base(s)) == FACTOR_ROOT;
    if (root)
        session_say(s, "Scores are no longer times 1/√d_k: A is before, B is after.  u undoes");
    return root;
}

const EditVerb VERB_SET_SCALE = {
    .words = "set scale", .parse = scale_parse, .print = scale_print, .report = scale_report, .none = "on"};

/* --- set precision --- */

/* Every stored tensor rounded behind what computes it; edits of later lines stand behind the rounding. */
static bool precision_parse(EditParse *p, const Args *a, Err *err)
{
    Precision precision;
    if (a->count != 2 || !precision_find(a->word[1], &precision))
        return err_set(err, "expected `set precision f32`, bf16 or f16");
    for (NodeId n = 0; n < p->g->count && precision != PRECISION_F32; n++)
        if (precision_rounds(p->g, n))
            parse_add(p, EDIT_MAP, graph_node(p->g, n)->path)->map = precision_edit(p->g, n, precision).map;
    return true;
}

static bool precision_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    Precision p;
    (void)s;
    if (a->count != 2)
        return err_set(err, "expected `set precision f32`, bf16 or f16");
    if (!precision_find(a->word[1], &p))
        return err_set(err, "column %d: expected f32, bf16 or f16, found '%s'", a->column[1], a->word[1]);
    return edit_line(line, err, "set precision %s", precision_name(p));
}

const EditVerb VERB_SET_PRECISION = {
    .words = "set precision", .alone = true, .parse = precision_parse, .print = precision_print, .none = "f32"};

/* --- set ADDRESS VALUE --- */

static bool set_parse(EditParse *p, const Args *a, Err *err)
{
    Address to;
    float value;
    if (a->count < 2 || !parse_number(a->word[1], &value))
        return err_set(err, "expected `set ADDRESS NUMBER`, `set scale off` or `set scale x2`");
    if (!parse_target(p, a->word[0], false, &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "'%s' is a group of nodes: name one", to.path);
    if (parse_on_picture(p, to.path)) {
        parse_fill_picture(p, &to.cells, value);
        return true;
    }
    Edit *e = parse_add(p, EDIT_SET, to.path);
    e->cells = to.cells;
    e->value = value;
    return true;
}

/* What else `set` takes than an address. */
static const char *set_word(const void *context, int i)
{
    static const char *const WORDS[] = {"scale", "precision"};
    (void)context;
    return i < (int)(sizeof WORDS / sizeof *WORDS) ? WORDS[i] : NULL;
}

static bool set_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    char example[SESSION_PATH];
    Address to;
    if (a->count < 2) {
        int block = anatomy_next(session_base(s), NO_PART, PART_BLOCK);
        snprintf(example, sizeof example, "%s",
                 block == NO_PART ? "NODE" : anatomy_part(session_base(s), block)->scope);
        return err_set(err,
                       "expected `set scale off`, `set scale x2 at=%s`, `set precision bf16` or `set ADDRESS NUMBER`",
                       example);
    }
    if (!address_word(s, session_base(s), a->word[0], a->column[0], &to, err)) {
        const char *near = nearest_name(a->word[0], set_word, NULL);
        return near ? err_set(err, "column %d: there is no '%.40s' to set; did you mean %s?", a->column[0], a->word[0],
                              near)
                    : false;
    }
    const char *bracket = strchr(a->word[0], '[');
    bool here = to.is_node && (!*a->word[0] || strcmp(a->word[0], ".") == 0); /* the focused cell */
    if (!here)
        return edit_line(line, err, "set %s%s %s", to.path, bracket ? bracket : "", a->word[1]);
    Buf full = {0};
    NodeId n = graph_find(session_base(s), to.path);
    address_put(session_base(s), n, address_cell(s, session_base(s), n, &to.cells), &full);
    bool ok = edit_line(line, err, "set %s %s", buf_str(&full), a->word[1]);
    buf_free(&full);
    return ok;
}

const EditVerb VERB_SET = {.words = "set", .parse = set_parse, .print = set_print};
