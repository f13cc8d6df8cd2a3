/* Verbs that change the model: set, ablate, skip, mask. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/eval/precision.h"
#include "core/session/edit/verbs.h"
#include "core/session/learned/scale_places.h"
#include "core/session/screens.h"

static bool is_forward(const Graph *g, NodeId n)
{
    return !(graph_node(g, n)->flags & NODE_PROBE);
}

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

static bool scale_edit(EditParse *p, int part, bool off, float factor, const char *cells, Err *err)
{
    const char *path = site_path(p->g, part, SITE_SCALE);
    char text[SESSION_PATH + 64];
    Address one;
    snprintf(text, sizeof text, "%s%s", path, cells);
    if (!address_parse(p->s, p->g, text, &one, err))
        return false;
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
    char pattern[SESSION_PATH] = "**", cells[64] = "";
    if (at) {
        const char *bracket = strchr(at, '[');
        size_t n = bracket ? (size_t)(bracket - at) : strlen(at);
        if (n >= sizeof pattern)
            return err_set(err, "that address is too long");
        snprintf(pattern, sizeof pattern, "%.*s", (int)n, at);
        snprintf(cells, sizeof cells, "%.60s", bracket ? bracket : "");
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
    return err_set(err, "at=%s: no attention there; say at=%s or one head of it", at ? at : "",
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

/* 1/√d_k is what the model was trained with, not another factor? */
static bool scale_is_usual(const Graph *g)
{
    NodeId n = site_node_any(g, SITE_SCALE), q = site_node_any(g, SITE_QUERY);
    int width = node_role(g, q, ROLE_HEAD_WIDTH);
    if (n == NO_NODE || width == AXIS_NONE || graph_node(g, n)->op != OP_LEAF)
        return false;
    return graph_node(g, n)->leaf.data[0] == vit_scale(g->axes[width].n);
}

static bool scale_report(Session *s, const Args *a)
{
    if (a->count != 2 || a->named_count || strcmp(a->word[1], "off") != 0)
        return false;
    if (scale_places_tell(s))
        return true;
    if (scale_is_usual(session_base(s)))
        session_say(s, "Scores are no longer times 1/√d_k: A is before, B is after.  u undoes");
    return scale_is_usual(session_base(s));
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
        return err_set(err, "expected `set ADDRESS NUMBER` or `set scale off`");
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

/* --- ablate --- */

static bool ablate_parse(EditParse *p, const Args *a, Err *err)
{
    Address to;
    char example[SESSION_PATH];
    bool mean = a->count > 1 && strcmp(a->word[1], "mean") == 0, any = false;
    if (a->count < 1 || (a->count > 1 && !mean))
        return err_set(err, "expected `ablate ADDRESS` or `ablate ADDRESS mean`");
    if (!parse_target(p, a->word[0], true, &to, err))
        return false;
    for (NodeId n = 0; n < p->g->count; n++) {
        const Node *node = graph_node(p->g, n);
        if (to.is_node ? strcmp(node->path, to.path) != 0
                       : !strchr(to.path, '*') || !address_match(to.path, node->path) || node->op == OP_LEAF ||
                             !is_forward(p->g, n))
            continue;
        int axis = parse_token_axis(p->g, node->dims);
        if (mean && axis == AXIS_NONE)
            return err_set(err, "%s has no tokens to take a mean over", node->path);
        any = true;
        if (parse_on_picture(p, node->path)) {
            parse_fill_picture(p, &to.cells, 0);
            continue;
        }
        Edit *e = parse_add(p, mean ? EDIT_MEAN : EDIT_ZERO, node->path);
        e->cells = to.cells;
        e->axis = axis;
    }
    return any || err_set(err, "'%s' is a group of nodes: name one, for example %s", to.path,
                          edit_example(p->g, SITE_Z, ROLE_HEAD, example, sizeof example));
}

static bool ablate_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    if (a->count > 1 && strcmp(a->word[1], "mean") != 0)
        return err_set(err, "column %d: expected mean or nothing, found '%s'", a->column[1], a->word[1]);
    return edit_print_address(s, "ablate", a, a->count > 1 ? " mean" : "", line, err);
}

/* One head, at what it gathers. */
static bool ablate_report(Session *s, const Args *a)
{
    const Graph *g = session_base(s);
    Address to;
    char name[64];
    if (a->count != 1 || !address_parse(s, g, a->word[0], &to, NULL) || !to.is_node || to.cells.n != 1 ||
        !site_is(g, to.path, SITE_Z))
        return false;
    int block = anatomy_block_of(g, to.path), axis = to.cells.range[0].axis, head = to.cells.range[0].from;
    if (block == NO_PART || g->axes[axis].role != ROLE_HEAD || to.cells.range[0].to != head + 1)
        return false;
    session_say(s, "Head %d of %s is off: it still looks, what it gathers counts as 0.", head,
                edit_block_name(g, block, name, sizeof name));
    return true;
}

/* The attention that the reader looks at: that of the node in focus, else the first of its block. */
static int attention_in_focus(const Session *s)
{
    const Graph *g = session_base(s);
    int part = anatomy_of(g, s->place.path), block = anatomy_block_of(g, s->place.path);
    if (part != NO_PART && anatomy_part(g, part)->kind == PART_ATTENTION)
        return part;
    return block == NO_PART ? NO_PART : anatomy_next_in(g, NO_PART, PART_ATTENTION, block);
}

/* The sub-layer or norm that the node in focus is, is in, or is the sum of; NO_PART elsewhere. */
static int sublayer_in_focus(const Session *s)
{
    const Graph *g = session_base(s);
    int part = anatomy_of(g, s->place.path), block = anatomy_block_of(g, s->place.path);
    if (block == NO_PART)
        return NO_PART;
    if (part != block)
        return part;
    for (int i = part + 1; i < anatomy_count(g); i++) {
        const char *sum = site_path(g, i, SITE_SUM);
        if (sum && strcmp(sum, s->place.path) == 0)
            return i;
    }
    return NO_PART;
}

static bool ablate_focus(const Session *s, char line[EDIT_LINE])
{
    const Graph *g = session_graph(s, SIDE_B);
    int attention = attention_in_focus(s), head = graph_role(g, ROLE_HEAD, SEQUENCE_ANY);
    Screen screen = s->place.screen;
    if (attention == NO_PART || screen == SCREEN_PICTURE || screen == SCREEN_WHERE || screen == SCREEN_BLANKS ||
        screen == SCREEN_POSITIONS || screen == SCREEN_LENS)
        return false;
    NodeId n = session_node(s, SIDE_B, s->place.path);
    bool heads = node_role(g, n, ROLE_HEAD) != AXIS_NONE || screen_spec(screen)->group == GROUP_ATTENTION;
    const char *z = site_path(g, attention, SITE_Z);
    if (heads && head != AXIS_NONE && z)
        return edit_line(line, NULL, "ablate %s[%s=%d]", z, g->axes[head].sym, s->place.at[head]);
    return sublayer_in_focus(s) == NO_PART && edit_line(line, NULL, "ablate %s", s->place.path);
}

const EditVerb VERB_ABLATE = {
    .words = "ablate", .parse = ablate_parse, .print = ablate_print, .report = ablate_report, .focus = ablate_focus};

/* --- skip --- */

/* What a line leaves out: `skip WORD [block=N] [stack=NAME]`. */
typedef struct Skip {
    const char *word, *stack; /* stack NULL: of every one */
    int block;                /* NO_BLOCK: of every one */
    bool residual;            /* the way around a sub-layer, not the sub-layer */
} Skip;

static const char SKIP_WORDS[] = "mlp, attention, layernorm, residual or positions";

static bool skip_read(const Graph *g, const Args *a, Skip *k, Err *err)
{
    const char *block = args_named(a, "block");
    *k = (Skip){.word = a->count ? a->word[0] : "", .stack = args_named(a, "stack"), .block = NO_BLOCK};
    k->residual = strcmp(k->word, "residual") == 0;
    bool known = k->residual;
    for (int i = 0; i < anatomy_count(g) && !known; i++)
        known = edit_part_is(anatomy_part(g, i), k->word);
    static const char *const ALWAYS[] = {"mlp", "attention", "layernorm"};
    for (size_t i = 0; i < sizeof ALWAYS / sizeof *ALWAYS; i++)
        known = known || strcmp(k->word, ALWAYS[i]) == 0;
    if (!known || a->count > 1)
        return err_set(err, "expected %s, and perhaps block=N", SKIP_WORDS);
    int blocks = anatomy_blocks(g, k->stack);
    if (k->stack && !blocks)
        return err_set(err, "stack=%.40s: this model has no such stack", k->stack);
    char *end = NULL;
    long n = block ? strtol(block, &end, 10) : 0;
    if (block && (end == block || *end || n < 0 || n > 1000000 || anatomy_block(g, k->stack, (int)n) == NO_PART))
        return err_set(err, "block=%s: blocks go from 0 to %d", block, blocks - 1);
    k->block = block ? (int)n : NO_BLOCK;
    return true;
}

/* One part of a block: a sub-layer gives nothing; a norm gives what it reads; a sum gives the sub-layer's result alone.
 */
static bool skip_part(EditParse *p, const Skip *k, int part)
{
    const Part *of = anatomy_part(p->g, part);
    const char *out = of->site[SITE_OUT];
    Site at = k->residual ? SITE_SUM : SITE_OUT;
    if ((!k->residual && !edit_part_is(of, k->word)) || site_node(p->g, part, at) == NO_NODE)
        return false;
    if (!k->residual && of->kind != PART_NORM) {
        parse_add(p, EDIT_ZERO, out);
        return true;
    }
    const char *other = k->residual ? out : of->site[SITE_IN];
    if (!other || graph_find(p->g, other) == NO_NODE)
        return false;
    parse_add(p, EDIT_REDIRECT, of->site[at])->other = arena_strdup(p->arena, other);
    return true;
}

/* The addition that brings positions in is left out. */
static bool skip_positions(EditParse *p, Err *err)
{
    NodeId full = site_node_any(p->g, SITE_EMBEDDED), pos = site_node_any(p->g, SITE_POSITIONS);
    if (full == NO_NODE || pos == NO_NODE)
        return err_set(err, "this model has no position embeddings to leave out");
    for (NodeId n = 0; n < p->g->count; n++) {
        const Node *node = graph_node(p->g, n);
        if (node->op == OP_ADD && (node->in[0] == pos || node->in[1] == pos)) {
            NodeId other = node->in[0] == pos ? node->in[1] : node->in[0];
            parse_add(p, EDIT_REDIRECT, node->path)->other = arena_strdup(p->arena, graph_node(p->g, other)->path);
            return true;
        }
    }
    return err_set(err, "this model adds no position embeddings");
}

static bool skip_parse(EditParse *p, const Args *a, Err *err)
{
    Skip k;
    bool any = false;
    if (a->count && strcmp(a->word[0], "positions") == 0)
        return skip_positions(p, err);
    if (!skip_read(p->g, a, &k, err))
        return false;
    for (int b = NO_PART; (b = anatomy_next(p->g, b, PART_BLOCK)) != NO_PART;) {
        const Part *block = anatomy_part(p->g, b);
        if ((k.block != NO_BLOCK && block->block != k.block) || (k.stack && strcmp(block->stack, k.stack) != 0))
            continue;
        for (int i = b + 1; i < anatomy_count(p->g); i++)
            if (anatomy_part(p->g, i)->parent == b)
                any = skip_part(p, &k, i) || any;
    }
    return any || err_set(err, "this model has no %s to leave out", k.word);
}

/* A block without a stack is one of the stack in focus. */
static bool skip_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    const Graph *g = session_base(s);
    const char *block = args_named(a, "block"), *stack = args_named(a, "stack"), *word = a->count ? a->word[0] : "";
    if (a->count && strcmp(word, "positions") == 0)
        return edit_line(line, err, "skip positions");
    int first = anatomy_next(g, NO_PART, PART_BLOCK), focus = anatomy_block_of(g, s->place.path);
    if (block && !stack && first != NO_PART)
        stack = anatomy_part(g, focus == NO_PART ? first : focus)->stack;
    bool one = anatomy_blocks(g, NULL) == anatomy_blocks(g, stack); /* one stack needs no name */
    const char *quote = strchr(word, ' ') ? "\"" : "";
    return edit_line(line, err, "skip %s%s%s%s%s%s%s", quote, word, quote, block ? " block=" : "", block ? block : "",
                     one || !stack ? "" : " stack=", one || !stack ? "" : stack);
}

static bool skip_report(Session *s, const Args *a)
{
    const Graph *g = session_base(s);
    Skip k;
    char name[64];
    if (a->count && strcmp(a->word[0], "positions") == 0) {
        session_say(s, "Positions are no longer added to the tokens.  u undoes");
        return true;
    }
    if (!skip_read(g, a, &k, NULL) || k.block == NO_BLOCK)
        return false;
    int block = anatomy_block(g, k.stack, k.block);
    for (int i = block + 1; block != NO_PART && i < anatomy_count(g); i++) {
        const Part *p = anatomy_part(g, i);
        if (p->parent != block || k.residual || !edit_part_is(p, k.word))
            continue;
        edit_block_name(g, block, name, sizeof name);
        name[0] = (char)(name[0] >= 'a' && name[0] <= 'z' ? name[0] - 'a' + 'A' : name[0]);
        if (p->kind == PART_NORM && strcmp(edit_part_own(p), k.word) != 0)
            session_say(s, "%s: every LayerNorm passes on what it reads: A is before, B is after.  u undoes", name);
        else if (p->kind == PART_NORM)
            session_say(s, "%s: %s passes on what it reads: A is before, B is after.  u undoes", name, k.word);
        if (p->kind == PART_NORM)
            return true;
        session_say(s, "%s adds nothing from %s%s: A is before, B is after.  u undoes", name,
                    p->kind == PART_MLP ? "its " : "", p->word);
        return true;
    }
    return false;
}

static bool skip_focus(const Session *s, char line[EDIT_LINE])
{
    const Graph *g = session_base(s);
    Screen screen = s->place.screen;
    bool positions = screen == SCREEN_POSITIONS || site_is(g, s->place.path, SITE_POSITIONS) ||
                     (site_is(g, s->place.path, SITE_EMBEDDED) && site_node_any(g, SITE_POSITIONS) != NO_NODE);
    int part = sublayer_in_focus(s), block = anatomy_block_of(g, s->place.path);
    if (screen == SCREEN_PICTURE || screen == SCREEN_WHERE || screen == SCREEN_BLANKS)
        return false;
    if (positions)
        return edit_line(line, NULL, "skip positions");
    if (part == NO_PART || screen == SCREEN_LENS)
        return false;
    const Part *p = anatomy_part(g, part), *b = anatomy_part(g, block);
    bool one = anatomy_next_in(g, part, p->kind, block) == NO_PART &&
               anatomy_next_in(g, NO_PART, p->kind, block) == part; /* the only one of its kind in the block */
    const char *word = p->kind == PART_NORM  ? one ? "layernorm" : edit_part_own(p)
                        : p->kind == PART_MLP ? "mlp"
                       : one                 ? "attention"
                                             : p->word;
    const char *quote = strchr(word, ' ') ? "\"" : "";
    return edit_line(line, NULL, "skip %s%s%s block=%d%s%s", quote, word, quote, b->block, *b->stack ? " stack=" : "",
                     b->stack);
}

const EditVerb VERB_SKIP = {.words = "skip",
                            .twice = TWICE_TOGGLES,
                            .parse = skip_parse,
                            .print = skip_print,
                            .report = skip_report,
                            .focus = skip_focus};

/* --- mask --- */

static bool causal(const void *context, const int index[DIMS_MAX])
{
    (void)context;
    return index[1] > index[0]; /* a token may not look at later ones */
}

static bool mask_parse(EditParse *p, const Args *a, Err *err)
{
    Address to = {{0}, {0}, false};
    char example[SESSION_PATH];
    bool is_causal = a->count && strcmp(a->word[0], "causal") == 0, any = false;
    edit_example(p->g, SITE_SCORES_SCALED, ROLE_KEY, example, sizeof example);
    if (a->count < 1)
        return err_set(err, "expected causal, none, or an address such as %s", example);
    if (!is_causal && !address_parse(p->s, p->g, a->word[0], &to, err))
        return false;
    for (int i = NO_PART; (i = anatomy_next(p->g, i, PART_ATTENTION)) != NO_PART;) {
        const char *path = site_path(p->g, i, SITE_SCORES_SCALED);
        if (!path || graph_find(p->g, path) == NO_NODE ||
            (!is_causal && strcmp(path, to.path) != 0 && !address_match(to.path, path)))
            continue;
        Edit *e = parse_add(p, EDIT_MASK, path);
        e->cells = to.cells;
        e->choose = is_causal ? causal : NULL;
        any = true;
    }
    return any || err_set(err, "a mask goes onto scaled scores, for example `mask %s`", example);
}

static bool mask_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    if (a->count != 1 || strcmp(a->word[0], "causal") == 0)
        return edit_line(line, err, "mask%s%s", a->count ? " " : "", a->count ? a->word[0] : "");
    return edit_print_address(s, "mask", a, "", line, err);
}

const EditVerb VERB_MASK = {
    .words = "mask", .twice = TWICE_TOGGLES, .parse = mask_parse, .print = mask_print, .none = "none"};
