/* From a cell, always into the largest term that has something to do with this picture, down to a weight or a pixel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/graph/explain.h"
#include "core/models/names.h"
#include "core/session/address.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/ask/ledgers.h"

enum { WHY_MOST = 1024 };
/* Columns of a chain. */
enum { BLOCK_CELLS = 9, LABEL_CELLS = 15, WHERE_CELLS = 22, BAR_CELLS = 10 };

/* The next cell, what share it has of the sizes of all terms, and a larger one that was left. */
typedef struct Choice {
    NodeId node;
    size_t cell;
    float share;
    NodeId left; /* NO_NODE: none */
    size_t left_cell;
} Choice;

typedef struct Chain {
    const Graph *g;
    const Run *run;
    Vary vary;
} Chain;

static float size_of(float x)
{
    return isnan(x) ? INFINITY : fabsf(x);
}

static float share_of(float part, double all)
{
    return isfinite(all) && all > 0 ? (float)((double)size_of(part) / all) : 1.0f;
}

static bool ends(const Graph *g, NodeId n)
{
    const Node *node = graph_node(g, n);
    return node->op == OP_LEAF && node->leaf.kind != LEAF_INPUT;
}

/* Is it a share of attention, or how a number moves with something? They say how much of what, not what. */
static bool weighs(const Graph *g, NodeId n)
{
    const char *path = graph_node(g, n)->path;
    return site_is(g, path, SITE_PATTERN) || strncmp(path, "direct.", strlen("direct.")) == 0 ||
           (strncmp(path, "ledger.", strlen("ledger.")) == 0 && (strstr(path, ".row") || strstr(path, ".toward")));
}

/* Of a product: the first factor, the activation; the second where the first is a weight, a constant or a share of
 * attention and the second is not, or where the first is the same for every picture and the second is not. */
static int followed_factor(Chain *c, const Term *t)
{
    if (t->operands < 2)
        return 0;
    bool given = ends(c->g, t->node[0]) && !ends(c->g, t->node[1]);
    int k = given || (weighs(c->g, t->node[0]) && !ends(c->g, t->node[1])) ? 1 : 0;
    if (!vary_cell(&c->vary, t->node[k], t->cell[k]) && vary_cell(&c->vary, t->node[1 - k], t->cell[1 - k]))
        k = 1 - k;
    return k;
}

/* The largest term but those in `without`; e->terms where none is left. Of a maximum the one that won. */
static size_t largest_term(const Explain *e, const Run *run, const bool *without, double *all)
{
    bool max = graph_node(e->graph, e->node)->op == OP_MAX;
    size_t best = e->terms;
    float largest = -INFINITY;
    *all = 0;
    for (size_t i = 0; i < e->terms; i++) {
        float c = explain_contribution(e, i, ask_values, run), size = max && !isnan(c) ? c : size_of(c);
        *all += (double)size_of(c);
        if (!without[i] && (best == e->terms || size > largest)) {
            largest = size;
            best = i;
        }
    }
    return best;
}

/* The largest term that depends on the picture; where none does, the largest. A maximum is its winner, whatever it
 * depends on. */
static Choice choose_term(Chain *c, const Explain *e)
{
    bool max = graph_node(c->g, e->node)->op == OP_MAX, *without = xcalloc(e->terms, sizeof *without);
    double all;
    size_t first = largest_term(e, c->run, without, &all), best = first;
    Choice to = {.left = NO_NODE};
    for (bool found = false; !found;) {
        Term t = explain_term(e, best);
        int k = followed_factor(c, &t);
        found = max || vary_cell(&c->vary, t.node[k], t.cell[k]);
        if (!found) {
            without[best] = true;
            best = largest_term(e, c->run, without, &all);
            if (best == e->terms) { /* a cell that is the same for every picture itself */
                best = first;
                found = true;
            }
        }
    }
    Term t = explain_term(e, best), of_first = explain_term(e, first);
    int k = followed_factor(c, &t), l = followed_factor(c, &of_first);
    to.node = t.node[k];
    to.cell = t.cell[k];
    to.share = max ? 1.0f : share_of(explain_contribution(e, best, ask_values, c->run), all);
    to.left = best == first ? NO_NODE : of_first.node[l];
    to.left_cell = of_first.cell[l];
    free(without);
    return to;
}

/* The operand to follow of an operation that has no terms to choose from. Of a difference it is the number taken from:
 * what is subtracted in this graph is a level, a mean or a row's maximum, that cancels again or belongs to all cells
 * alike. */
static Choice choose_operand(Chain *c, const Explain *e)
{
    Term t = explain_term(e, 0);
    Op op = graph_node(e->graph, e->node)->op;
    float x[NODE_INPUTS] = {0};
    Choice to = {.share = 1, .left = NO_NODE};
    int k = 0;
    for (int i = 0; i < t.operands; i++)
        x[i] = ask_cell(c->run, t.node[i], t.cell[i]);
    if (op == OP_MUL || op == OP_DIV)
        k = followed_factor(c, &t);
    else if (op == OP_WHERE)
        k = x[0] != 0.0f ? 1 : 2;
    else if (op == OP_ADD || op == OP_SUB) {
        int larger = op == OP_ADD && size_of(x[1]) > size_of(x[0]);
        k = vary_cell(&c->vary, t.node[larger], t.cell[larger]) ||
                    !vary_cell(&c->vary, t.node[1 - larger], t.cell[1 - larger])
                ? larger
                : 1 - larger;
        if (k != larger) {
            to.left = t.node[larger];
            to.left_cell = t.cell[larger];
        }
        to.share = op == OP_ADD ? share_of(x[k], (double)size_of(x[0]) + (double)size_of(x[1])) : 1;
    }
    to.node = t.node[k];
    to.cell = t.cell[k];
    return to;
}

static bool moves(Op op)
{
    return op == OP_VIEW || op == OP_CONCAT || op == OP_SLICE || op == OP_GATHER;
}

bool ask_why(Session *s, Side side, NodeId n, size_t cell, WhyStep *steps, int most, int *count, Err *err)
{
    side = ask_side(side);
    Chain c = {.g = session_graph(s, side), .run = session_run(s, side)};
    WhyStep next = {.share = 1, .left = {.node = NO_NODE}};
    bool ok = true, going = true;
    vary_init(&c.vary, c.g);
    for (*count = 0; going && *count < most;) {
        const Node *node = graph_node(c.g, n);
        ok = going = ask_need_inputs(s, side, n, err);
        if (!ok)
            break;
        if (*count == 0 || !moves(node->op)) { /* a moved cell is the same number under another name: looked through */
            next.ref = session_ref(side, n, cell);
            next.value = run_peek(c.run, n)[cell];
            steps[(*count)++] = next;
            next = (WhyStep){.share = 1, .left = {.node = NO_NODE}};
        }
        Explain e = explain_open(c.g, n, cell);
        going = e.terms > 0; /* a leaf, or a sum of nothing */
        if (!going)
            break;
        bool sums = node->op == OP_CONTRACT || node->op == OP_SUM || node->op == OP_MAX || node->op == OP_SCATTER;
        Choice to = sums ? choose_term(&c, &e) : choose_operand(&c, &e);
        n = to.node;
        cell = to.cell;
        if (moves(node->op))
            continue;
        next.share = to.share;
        if (to.left != NO_NODE) {
            next.left = session_ref(side, to.left, to.left_cell);
            next.left_value = ask_cell(c.run, to.left, to.left_cell);
        }
    }
    vary_free(&c.vary);
    return ok;
}

/* The line of the ledger (heads: one of a head) that speaks most for the number (against it where it is negative) and
 * has to do with the picture; NULL where there is none. */
static const LedgerLine *loudest(const LedgerLine *lines, int count, float number, bool heads)
{
    const LedgerLine *best = NULL;
    for (int i = 0; i < count; i++)
        if (!lines[i].same && (!heads || lines[i].head >= 0) &&
            (!best || (number < 0 ? lines[i].value < best->value : lines[i].value > best->value)))
            best = &lines[i];
    return best;
}

/* The token by looking at which a head spoke most for the number. */
static bool find_token(Session *s, Side side, WhyAnswer *a, Err *err)
{
    const Graph *g = session_graph(s, side);
    const float *x = ask_need(s, side, a->head.entry->tokens, err);
    if (!x)
        return false;
    int n = g->axes[node_role(g, a->head.entry->tokens, ROLE_KEY)].n;
    x += (size_t)a->head.head * (size_t)n;
    for (int i = a->token = 0; i < n; i++)
        if (a->number < 0 ? x[i] < x[a->token] : x[i] > x[a->token])
            a->token = i;
    a->from = x[a->token];
    return true;
}

bool ask_why_ledger(Session *s, Side side, WhyAnswer *out, Err *err)
{
    side = ask_side(side);
    int lines;
    *out = (WhyAnswer){.of = s->ledger, .node = NO_NODE, .token = -1};
    const Ledger *l = session_ledger(s, side);
    const float *number = l ? ask_need(s, side, l->value, err) : NULL;
    if (!number)
        return l ? false : err_set(err, "on that side the answer is not a sum of what the blocks wrote");
    out->number = *number;
    LedgerLine *line = ledger_lines(s, side, false, &lines, err);
    if (!line)
        return false;
    for (int i = 0; i < lines; i++)
        out->same += line[i].same ? line[i].value : 0;
    const LedgerLine *best = loudest(line, lines, out->number, false), *head = loudest(line, lines, out->number, true);
    bool ok = best || err_set(err, "nothing in that answer depends on the input");
    if (best) {
        out->node = l->value;
        out->line = *best;
    }
    if (best && head) {
        out->head = *head;
        ok = find_token(s, side, out, err);
    }
    free(line);
    return ok;
}

static void put_sentence(const Session *s, Side side, const WhyAnswer *a, bool of_all, Buf *out)
{
    const Graph *g = session_graph(s, side);
    char label[64];
    const bool part = a->line.value * a->number >= 0 && fabsf(a->line.value) <= fabsf(a->number);
    buf_puts(out, !session_compares(s) ? "Most by " : side == SIDE_A ? "In A most by " : "In B most by ");
    ledger_part_text(g, &a->line, out);
    buf_puts(out, ": ");
    ask_put_short(out, a->line.value);
    if (of_all) {
        buf_puts(out, part ? " of " : "; all together ");
        ask_put_short(out, a->number);
    }
    if (a->token >= 0) {
        const bool most = fabsf(a->from) >= 0.5f * fabsf(a->head.value), other = a->head.line != a->line.line;
        axis_label(&g->axes[node_role(g, a->head.entry->tokens, ROLE_KEY)], a->token, label, sizeof label);
        if (other) {
            buf_puts(out, most ? "; of heads: " : "; ");
            ledger_part_text(g, &a->head, out);
        }
        if (most)
            buf_printf(out, ", from %s", label);
        else { /* a token that gave a small part is no source of the whole */
            if (other) {
                buf_puts(out, ": ");
                ask_put_short(out, a->head.value);
            }
            buf_printf(out, ", %s ", label);
            ask_put_short(out, a->from);
            buf_puts(out, " of it");
        }
    }
    buf_putc(out, '.');
}

void ask_why_sentence(const Session *s, Side side, const WhyAnswer *a, int cells, Buf *out)
{
    Buf text = {0};
    put_sentence(s, side, a, true, &text);
    if (cells && utf8_cells(buf_str(&text)) > cells) {
        buf_clear(&text);
        put_sentence(s, side, a, false, &text);
    }
    buf_puts(out, buf_str(&text));
    buf_free(&text);
}

bool ask_why_answer(Session *s, Side side, int row, int o, WhyAnswer *out, WhyStep *steps, int most, int *count,
                    Err *err)
{
    side = ask_side(side);
    return ledger_rivals(s, side, row, o, &out->of, err) && ledger_set(s, &out->of, err) &&
           ask_why_ledger(s, side, out, err) &&
           ask_why(s, side, out->line.node, out->line.cell, steps, most, count, err);
}

/* What the input is called: "picture", "text". */
static const char *input_word(const Session *s, Side side)
{
    return input_kind_name(session_input(s, side)->kind);
}

static void put_how(const Session *s, Side side, Buf *out)
{
    buf_printf(out,
               "Each line is the largest term of the sum above it; of a product the activation, not the weight; of a "
               "difference the number subtracted from; of attention the value, not the attention weight. A term that "
               "is the same for every %s is passed over and stands in brackets. The percentage is a term's size over "
               "the sizes of all terms of that sum.",
               input_word(s, side));
}

static const char LIMIT[] = "A large term is not yet a cause: others may cancel it. Switch something off to see its "
                            "effect.";

/* Where a step is: "block 1", "dec 2"; outside blocks "answer" where one follows further down, else "input". */
static void put_block(const Graph *g, const WhyStep *steps, int count, char out[BLOCK_CELLS])
{
    int block = NO_PART, further = 0;
    while (further < count && (block = anatomy_block_of(g, graph_node(g, steps[further].ref.node)->path)) == NO_PART)
        further++;
    const Part *part = block == NO_PART ? NULL : anatomy_part(g, block);
    if (part && !further)
        utf8_print(out, BLOCK_CELLS, "%.*s %d", *part->stack ? 3 : 5, *part->stack ? part->stack : "block",
                   part->block);
    else
        utf8_print(out, BLOCK_CELLS, part ? "answer" : "input");
}

/* A cell in words: which step, and where in it: "h=2 t=r3c4 u=r4c3". */
static void put_cell(const Graph *g, NodeId n, size_t cell, const char **label, Buf *where)
{
    const Node *node = graph_node(g, n);
    const NodeText *text = node_text(node->path);
    int index[DIMS_MAX] = {0};
    *label = text ? text->label : node_name(node);
    dims_unravel(g->axes, node->dims, cell, index);
    for (int i = 0; i < node->dims.n; i++) {
        const Axis *a = &g->axes[node->dims.axis[i]];
        char name[64];
        buf_printf(where, "%s%s=%s", i ? " " : "", a->sym, axis_label(a, index[i], name, sizeof name));
    }
}

/* Filled up to so many cells of the screen. */
static void put_column(Buf *out, const char *text, int cells)
{
    char cut[96];
    utf8_fit(cut, sizeof cut, text, cells - 1);
    buf_printf(out, "%s%*s", cut, cells - utf8_cells(cut), "");
}

static void put_bar(Buf *out, float share)
{
    int halves = (int)(share * 2 * BAR_CELLS + 0.5f);
    buf_puts(out, halves ? " " : "");
    for (int i = 0; i + 1 < halves; i += 2)
        buf_puts(out, "━");
    buf_puts(out, halves % 2 ? "╸" : "");
}

/* Step i of so many. */
static void put_step(const Session *s, Side side, const WhyStep *steps, int i, int count, Buf *out)
{
    const Graph *g = session_graph(s, side);
    const WhyStep *step = &steps[i];
    char block[BLOCK_CELLS], last[BLOCK_CELLS] = "";
    const char *label;
    Buf where = {0};
    if (step->left.node != NO_NODE) {
        put_cell(g, step->left.node, step->left.cell, &label, &where);
        buf_printf(out, "%8s(%s, %s, %.4g, is the same for every %s)\n", "", label, buf_str(&where),
                   (double)step->left_value, input_word(s, side));
        buf_clear(&where);
    }
    put_block(g, step, count - i, block);
    if (i)
        put_block(g, step - 1, count - i + 1, last);
    put_cell(g, step->ref.node, step->ref.cell, &label, &where);
    put_column(out, strcmp(block, last) == 0 ? "" : block, BLOCK_CELLS);
    put_column(out, label, LABEL_CELLS);
    put_column(out, buf_str(&where), WHERE_CELLS);
    if (isnan(step->value))
        buf_printf(out, "%10s", "NaN");
    else
        buf_printf(out, "%10.4g", (double)step->value); /* with share and bar 73 columns: inside a box of 78 */
    if (i && step->share < 1.0f) {
        buf_printf(out, step->share < 0.005f ? "  <1 %%" : " %3.0f %%", (double)step->share * 100);
        put_bar(out, step->share);
    }
    buf_putc(out, '\n');
    buf_free(&where);
}

/* Are its rows picked by the words of the input? */
static bool is_table(const Graph *g, NodeId leaf)
{
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_EMBEDDING)) != NO_PART;) {
        NodeId n = site_node(g, p, SITE_EMBED);
        if (n != NO_NODE && graph_node(g, n)->op == OP_GATHER && graph_node(g, n)->in[0] == leaf)
            return true;
    }
    return false;
}

static void put_end(const Session *s, Side side, const WhyStep *last, Buf *out)
{
    const Graph *g = session_graph(s, side);
    const Node *n = graph_node(g, last->ref.node);
    if (n->op != OP_LEAF)
        return;
    buf_puts(out, "The last is ");
    ask_put_leaf(s, side, last->ref.node, last->ref.cell, out);
    if (n->leaf.kind != LEAF_TENSOR && n->leaf.kind != LEAF_CONST)
        buf_puts(out, ".\n");
    else if (is_table(g, last->ref.node))
        buf_puts(out, ", in the row of the word that stands there.\n");
    else
        buf_printf(out, ": the same for every %s.\n", input_word(s, side));
}

/* One that is no number has no largest part: where it begins is said. */
static void put_answer(const Session *s, Side side, const WhyAnswer *answer, Buf *out)
{
    ledger_text(s, out);
    if (isnan(answer->number)) {
        buf_puts(out, " = NaN.\n\n");
        return;
    }
    buf_printf(out, " = %.5g.\n", (double)answer->number);
    ask_why_sentence(s, side, answer, 0, out);
    buf_printf(out, " %.3g is the same for every %s.\n", (double)answer->same, input_word(s, side));
    buf_puts(out, "`ledger` lists all parts, and what is lost without each, which is not what it wrote:\n"
                  "later parts read it too.\n\n");
}

static void put_value(float value, Buf *out)
{
    if (isnan(value))
        buf_puts(out, " = NaN\n");
    else
        buf_printf(out, " = %.4g\n", (double)value);
}

/* The cell, where the chain leads, and at which step it says least: a small screen shows little more. */
static void put_head(const Session *s, Side side, const WhyStep *steps, int count, Buf *out)
{
    const Graph *g = session_graph(s, side);
    const WhyStep *last = &steps[count - 1], *least = last;
    const char *label;
    Buf where = {0};
    address_put(g, steps->ref.node, steps->ref.cell, out);
    put_value(steps->value, out);
    for (int i = 1; i < count; i++)
        least = steps[i].share < least->share ? &steps[i] : least;
    if (count > 1) {
        put_cell(g, last->ref.node, last->ref.cell, &label, &where);
        buf_printf(out, "The largest terms of its sums lead back to %s %s", label, buf_str(&where));
        put_value(last->value, out);
    }
    if (count > 1 && least->share < 1) {
        put_cell(g, least->ref.node, least->ref.cell, &label, &where);
        buf_printf(out, "The weakest of %d links: %s, %.2g %% of its sum.\n", count - 1, label,
                   (double)least->share * 100);
    }
    buf_free(&where);
}

static void put_text(const Session *s, Side side, const WhyAnswer *answer, const WhyStep *steps, int count, Buf *out)
{
    if ((isnan(steps->value) || (answer && isnan(answer->number))) && ask_nan_begins(s, side, out))
        buf_puts(out, ".\n");
    if (answer)
        put_answer(s, side, answer, out);
    put_head(s, side, steps, count, out);
    put_column(out, "in", BLOCK_CELLS);
    put_column(out, "step", LABEL_CELLS);
    put_column(out, "cell", WHERE_CELLS);
    buf_puts(out, "     value  of its sum\n");
    for (int i = 0; i < count; i++)
        put_step(s, side, steps, i, count, out);
    put_end(s, side, &steps[count - 1], out);
    put_how(s, side, out);
    buf_printf(out, "\n%s\n", LIMIT);
}

static void put_json(const Session *s, Side side, const WhyAnswer *answer, const WhyStep *steps, int count, Buf *out)
{
    const Graph *g = session_graph(s, side);
    const WhyStep *last = &steps[count - 1];
    Buf of = {0}, end = {0}, how = {0};
    json_open(out, NULL, '{');
    if (answer) {
        ledger_text(s, &of);
        json_put_text(out, "of", buf_str(&of));
        json_put_float(out, "number", answer->number);
        Buf sentence = {0};
        ask_why_sentence(s, side, answer, 0, &sentence);
        json_put_text(out, "sentence", buf_str(&sentence));
        buf_free(&sentence);
        char key[40];
        snprintf(key, sizeof key, "same_for_every_%s", input_word(s, side));
        json_put_float(out, key, answer->same);
    }
    json_open(out, "chain", '[');
    for (int i = 0; i < count; i++) {
        json_line(out);
        json_open(out, NULL, '{');
        ask_json_address(out, "address", g, steps[i].ref);
        json_put_float(out, "value", steps[i].value);
        json_put_float(out, "share", steps[i].share);
        if (steps[i].left.node != NO_NODE)
            ask_json_address(out, "passed_over", g, steps[i].left);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
    if (graph_node(g, last->ref.node)->op == OP_LEAF)
        ask_put_leaf(s, side, last->ref.node, last->ref.cell, &end);
    put_how(s, side, &how);
    json_put_text(out, "ends_at", buf_str(&end));
    json_put_text(out, "how", buf_str(&how));
    json_put_text(out, "limit", LIMIT);
    buf_puts(out, "}\n");
    buf_free(&of);
    buf_free(&end);
    buf_free(&how);
}

bool ask_why_of_answer(const Graph *g, NodeId n, size_t cell, int *row, int *o)
{
    const char *path = graph_node(g, n)->path;
    if (!site_is(g, path, SITE_LOGITS) && !site_is(g, path, SITE_PROBS))
        return false;
    ledger_class(g, n, cell, row, o);
    return graph_cells(g, n) > 1;
}

/* The chain of a cell: of a class' number against its runner-up (*contrast), of any other from the cell itself. */
static bool chain_of(Session *s, Side side, const char *path, size_t cell, WhyAnswer *answer, bool *contrast,
                     WhyStep *steps, int *count, Err *err)
{
    NodeId n = ask_node(s, side, path, err);
    int row, o;
    *count = 0;
    *contrast = n != NO_NODE && ask_why_of_answer(session_graph(s, side), n, cell, &row, &o) &&
                ask_why_answer(s, side, row, o, answer, steps, WHY_MOST, count, NULL);
    return n != NO_NODE && (*contrast || ask_why(s, side, n, cell, steps, WHY_MOST, count, err));
}

bool ask_why_text(Session *s, Side side, const char *path, size_t cell, Buf *out, bool json, Err *err)
{
    side = ask_side(side);
    int count;
    bool contrast;
    Arena arena = {0};
    WhyAnswer answer;
    WhyStep *steps = arena_alloc(&arena, size_mul(WHY_MOST, sizeof *steps));
    bool ok = chain_of(s, side, path, cell, &answer, &contrast, steps, &count, err);
    if (ok && json)
        put_json(s, side, contrast ? &answer : NULL, steps, count, out);
    else if (ok)
        put_text(s, side, contrast ? &answer : NULL, steps, count, out);
    arena_free(&arena);
    return ok;
}

bool ask_why_end(Session *s, Side side, const char *path, size_t cell, Ref *end, int *count, Err *err)
{
    side = ask_side(side);
    bool contrast;
    Arena arena = {0};
    WhyAnswer answer;
    WhyStep *steps = arena_alloc(&arena, size_mul(WHY_MOST, sizeof *steps));
    bool ok = chain_of(s, side, path, cell, &answer, &contrast, steps, count, err);
    if (ok)
        *end = steps[*count - 1].ref;
    arena_free(&arena);
    return ok;
}
