/* Verbs that take parts of the model away: ablate, skip, mask. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/session/edit/verbs.h"
#include "core/session/screens.h"

static bool is_forward(const Graph *g, NodeId n)
{
    return !(graph_node(g, n)->flags & NODE_PROBE);
}

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

/* One head, at what it gathers; one expert, at what it writes. */
static bool ablate_report(Session *s, const Args *a)
{
    const Graph *g = session_base(s);
    Address to;
    char name[64];
    if (a->count != 1 || !address_parse(s, g, a->word[0], &to, NULL) || !to.is_node || to.cells.n != 1 ||
        !(site_is(g, to.path, SITE_Z) || site_is(g, to.path, SITE_EXPERTS_WROTE)))
        return false;
    int block = anatomy_block_of(g, to.path), axis = to.cells.range[0].axis, head = to.cells.range[0].from;
    AxisRole role = g->axes[axis].role;
    if (block == NO_PART || (role != ROLE_HEAD && role != ROLE_EXPERT) || to.cells.range[0].to != head + 1)
        return false;
    if (role == ROLE_EXPERT)
        session_say(s, "Expert %d of %s is off: the router still chooses it, what it writes counts as 0.", head,
                    edit_block_name(g, block, name, sizeof name));
    else
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
    const ScreenSpec *screen = screen_now(s);
    if (attention == NO_PART || (screen->off != OFF_FOCUS && screen->off != OFF_HEAD))
        return false;
    NodeId n = session_node(s, SIDE_B, s->place.path);
    int expert = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_EXPERT);
    const char *wrote = expert == AXIS_NONE ? NULL : site_path(g, anatomy_of(g, s->place.path), SITE_EXPERTS_WROTE);
    if (wrote)
        return edit_line(line, NULL, "ablate %s[%s=%d]", wrote, g->axes[expert].sym, s->place.at[expert]);
    bool heads = node_role(g, n, ROLE_HEAD) != AXIS_NONE || screen->group == GROUP_ATTENTION;
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
    bool whole;               /* every sub-layer of a block */
} Skip;

/* What the norms of this model are, as the command calls them. */
static const char *norm_word(const Graph *g)
{
    return site_path_any(g, SITE_NORM_MEAN_SQUARE) ? "rmsnorm" : "layernorm";
}

static bool skip_read(const Graph *g, const Args *a, Skip *k, Err *err)
{
    const char *block = args_named(a, "block");
    *k = (Skip){.word = a->count ? a->word[0] : "", .stack = args_named(a, "stack"), .block = NO_BLOCK};
    k->residual = strcmp(k->word, "residual") == 0;
    k->whole = strcmp(k->word, "block") == 0;
    bool known = k->residual || k->whole;
    for (int i = 0; i < anatomy_count(g) && !known; i++)
        known = edit_part_is(anatomy_part(g, i), k->word);
    static const char *const ALWAYS[] = {"mlp", "attention", "layernorm", "rmsnorm"};
    for (size_t i = 0; i < sizeof ALWAYS / sizeof *ALWAYS; i++)
        known = known || strcmp(k->word, ALWAYS[i]) == 0;
    if (!known || a->count > 1)
        return err_set(err, "expected block, mlp, attention, %s, residual or positions, and perhaps block=N",
                       norm_word(g));
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
    bool meant = k->residual || (k->whole ? of->kind != PART_NORM : edit_part_is(of, k->word));
    if (!meant || site_node(p->g, part, at) == NO_NODE)
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
    if (block == NO_PART)
        return false;
    edit_block_name(g, block, name, sizeof name);
    name[0] = (char)(name[0] >= 'a' && name[0] <= 'z' ? name[0] - 'a' + 'A' : name[0]);
    if (k.whole) {
        session_say(s, "%s is off: its attention and MLP add nothing.  u undoes", name);
        return true;
    }
    for (int i = block + 1; i < anatomy_count(g); i++) {
        const Part *p = anatomy_part(g, i);
        if (p->parent != block || k.residual || !edit_part_is(p, k.word))
            continue;
        if (p->kind == PART_NORM && strcmp(edit_part_own(p), k.word) != 0)
            session_say(s, "%s: every %s passes on what it reads: A is before, B is after.  u undoes", name,
                        p->site[SITE_NORM_MEAN_SQUARE] ? "RMSNorm" : "LayerNorm");
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
    ScreenOff off = screen_now(s)->off;
    bool positions = off == OFF_POSITIONS || site_is(g, s->place.path, SITE_POSITIONS) ||
                     (site_is(g, s->place.path, SITE_EMBEDDED) && site_node_any(g, SITE_POSITIONS) != NO_NODE);
    bool whole = stages_is_block(&s->stages, s->place.box) && off == OFF_FOCUS;
    int block = anatomy_block_of(g, s->place.path), part = whole ? block : sublayer_in_focus(s);
    if (off == OFF_PATCH || off == OFF_HIDDEN)
        return false;
    if (positions)
        return edit_line(line, NULL, "skip positions");
    if (part == NO_PART || off == OFF_NOTHING)
        return false;
    const Part *p = anatomy_part(g, part), *b = anatomy_part(g, block);
    bool one = anatomy_next_in(g, part, p->kind, block) == NO_PART &&
               anatomy_next_in(g, NO_PART, p->kind, block) == part; /* the only one of its kind in the block */
    const char *word = whole                  ? "block"
                       : p->kind == PART_NORM ? one ? edit_part_kind(p) : edit_part_own(p)
                       : p->kind == PART_MLP ? "mlp"
                       : one                  ? "attention"
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
    bool biased = site_path_any(p->g, SITE_SCORES_BIASED) != NULL;
    edit_example(p->g, biased ? SITE_SCORES_BIASED : SITE_SCORES_SCALED, ROLE_KEY, example, sizeof example);
    if (a->count < 1)
        return err_set(err, "expected causal, none, or an address such as %s", example);
    if (!is_causal && !address_parse(p->s, p->g, a->word[0], &to, err))
        return false;
    for (int i = NO_PART; (i = anatomy_next(p->g, i, PART_ATTENTION)) != NO_PART;) {
        const char *path = site_path(p->g, i, site_scores(p->g, i));
        if (!path || graph_find(p->g, path) == NO_NODE ||
            (!is_causal && strcmp(path, to.path) != 0 && !address_match(to.path, path)))
            continue;
        Edit *e = parse_add(p, EDIT_MASK, path);
        e->cells = to.cells;
        e->choose = is_causal ? causal : NULL;
        any = true;
    }
    return any ||
           err_set(err, "a mask goes onto %s scores, for example `mask %s`", biased ? "biased" : "scaled", example);
}

static bool mask_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    if (a->count != 1 || strcmp(a->word[0], "causal") == 0)
        return edit_line(line, err, "mask%s%s", a->count ? " " : "", a->count ? a->word[0] : "");
    return edit_print_address(s, "mask", a, "", line, err);
}

const EditVerb VERB_MASK = {
    .words = "mask", .twice = TWICE_TOGGLES, .parse = mask_parse, .print = mask_print, .none = "none"};
