#include "core/diff/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"

/* Of what was given only what differs is worth a line. */
static bool is_told(const DiffNamed *n, const DiffRow *row)
{
    return row->state != DIFF_AGREES || graph_node(n->s->graph, row->tensor->node)->op != OP_LEAF;
}

/* Of the column of nodes: as wide as the longest that has a line. */
static int node_cells(const DiffNamed *n)
{
    int cells = 28;
    for (int i = 0; i < n->d->count; i++) {
        int own = utf8_cells(graph_node(n->s->graph, n->d->row[i].tensor->node)->path);
        if (own > cells && is_told(n, &n->d->row[i]))
            cells = own;
    }
    return cells + 2;
}

static bool is_word(const Axis *a)
{
    return a->labels && (a->sequence == SEQUENCE_SOURCE || a->sequence == SEQUENCE_TARGET);
}

void diff_cell(const Graph *g, NodeId n, size_t cell, Buf *out)
{
    const Node *node = graph_node(g, n);
    int index[DIMS_MAX], back;
    buf_puts(out, node->path);
    dims_unravel(g->axes, node->dims, cell, index);
    for (int i = 0; i < node->dims.n; i++) {
        const Axis *a = &g->axes[node->dims.axis[i]];
        char label[64];
        axis_label(a, index[i], label, sizeof label);
        bool word = is_word(a); /* its position is what a script can use */
        if (a->kind == AXIS_CLASS || word || !axis_parse(a, label, &back) || back != index[i])
            snprintf(label, sizeof label, "%d", index[i]);
        buf_printf(out, "%s%s=%s", i ? "," : "[", a->sym, label);
    }
    if (node->dims.n)
        buf_putc(out, ']');
}

bool diff_first_cell(const DiffReport *d, NodeId *n, size_t *cell)
{
    for (int i = 0; i < d->count; i++)
        if (d->row[i].state == DIFF_BEGINS) {
            *n = d->row[i].tensor->node;
            *cell = d->row[i].local.first;
            return true;
        }
    return false;
}

/* " (Ġcat)": the tokens that a cell of a text is at. */
static void put_tokens(const Graph *g, NodeId n, size_t cell, Buf *out)
{
    const Node *node = graph_node(g, n);
    int index[DIMS_MAX], told = 0;
    dims_unravel(g->axes, node->dims, cell, index);
    for (int i = 0; i < node->dims.n; i++) {
        const Axis *a = &g->axes[node->dims.axis[i]];
        char label[64];
        if (a->kind != AXIS_CLASS && is_word(a))
            buf_printf(out, "%s%s", told++ ? ", " : " (", axis_label(a, index[i], label, sizeof label));
    }
    buf_puts(out, told ? ")" : "");
}

static const char *path_of(const DiffNamed *n, const DiffRow *row)
{
    return graph_node(n->s->graph, row->tensor->node)->path;
}

/* What a tensor is called there and how its axes were read, where that needs saying. */
static void put_recorded(const DiffTensor *t, const char *path, Buf *out)
{
    bool other = strcmp(t->name, path) != 0;
    if (other)
        buf_puts(out, t->name);
    if (t->parts > 1)
        buf_printf(out, " part %d of %d", t->part + 1, t->parts);
    if (t->layout.n > 1)
        buf_printf(out, "%s[%s]", other || t->parts > 1 ? " " : "", t->layout.axes);
    if (t->skip)
        buf_puts(out, ", the last token's alone");
    if (t->layout.batch > 1)
        buf_printf(out, ", number %zu of %zu (from 0; --item)", t->item, t->layout.batch);
}

/* The number in so many characters, whatever its size. */
static void put_error(Buf *out, double x)
{
    char text[32];
    if (x == 0)
        snprintf(text, sizeof text, "0");
    else if (x > 1e300)
        snprintf(text, sizeof text, "∞");
    else
        snprintf(text, sizeof text, "%.1e", x);
    buf_printf(out, "%*s%s", 9 - utf8_cells(text), "", text);
}

static void put_row(const DiffNamed *n, const DiffRow *row, int cells, Buf *out)
{
    static const char *const MARK[] = {[DIFF_AGREES] = " ", [DIFF_INHERITS] = ".", [DIFF_BEGINS] = "*"};
    const char *path = path_of(n, row);
    bool rounds = n->o->precision != PRECISION_F32;
    int pad = cells - utf8_cells(path);
    buf_printf(out, "%s %s%*s", MARK[row->state], path, pad > 0 ? pad : 0, "");
    put_error(out, row->through.largest);
    put_error(out, row->through.rms);
    if (isnan(row->through.cosine))
        buf_printf(out, " %8s", "-");
    else
        buf_printf(out, " %8.5f", row->through.cosine);
    put_error(out, row->local.largest);
    put_error(out, row->local.rms);
    if (rounds)
        put_error(out, row->local_rounding.largest);
    buf_puts(out, "  ");
    if (row->state != DIFF_AGREES) {
        Buf cell = {0};
        diff_cell(n->s->graph, row->tensor->node, row->state == DIFF_BEGINS ? row->local.first : row->through.first,
                  &cell);
        buf_printf(out, "%s  ", buf_str(&cell) + strlen(path));
        buf_free(&cell);
    }
    put_recorded(row->tensor, path, out);
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    buf_putc(out, '\n');
}

/* Is the text of that axis recorded? Then it is the one that was read here: of another nothing is compared. */
static bool is_read(const DiffNamed *n, int axis)
{
    const Graph *g = n->s->graph;
    for (int i = 0; i < n->r->count; i++) {
        const Node *node = graph_node(g, n->r->tensor[i].node);
        if (node->op == OP_LEAF && node->leaf.kind == LEAF_INPUT && node->dims.n == 1 &&
            g->axes[node->dims.axis[0]].sequence == g->axes[axis].sequence)
            return true;
    }
    return false;
}

/* What all that could not be compared for its shape has in common; nothing where there is no such tensor. */
static void put_shapes(const DiffNamed *n, const char *before, const char *behind, Buf *out)
{
    const DiffMisfits *m = &n->r->misfits;
    const VitConfig *c = n->s->config;
    if (!m->count)
        return;
    const Axis *a = &n->s->graph->axes[m->axis];
    bool tokens = a->kind == AXIS_TOKEN, heads = a->role == ROLE_HEAD;
    int fewer = a->n - (int)m->there;
    buf_puts(out, before);
    if (heads)
        buf_printf(out,
                   "the recording has %zu head%s, this model has %d: look at the number of heads in the model's "
                   "config.json (`vitrine info` says where it is from) and in the program that was recorded. ",
                   m->there, m->there == 1 ? "" : "s", a->n);
    buf_printf(out, "%d of %d tensors with a name known here have another shape and were not compared: ", m->count,
               m->count + n->r->count);
    const char *name = tokens ? "token" : a->name, *of = strstr(name, " of "); /* "word of the vocabulary" */
    buf_printf(out, "'%s' has %zu %.*s%s%s, here there are %d", m->name, m->there,
               of ? (int)(of - name) : (int)strlen(name), name,
               m->there == 1                ? ""
               : strcmp(name, "class") == 0 ? "es"
                                            : "s",
               of ? of : "", a->n);
    if (tokens && c && fewer > 0 && (fewer == c->registers || fewer == vit_prefix(c) || (fewer == 1 && c->cls)))
        buf_printf(out, ": the recording leaves the %s out",
                   fewer == c->registers ? "registers"
                   : fewer == 1          ? "class token"
                                         : "tokens in front of the patches");
    if (m->first == n->s->graph->count)
        buf_puts(out, ", and as many as that does its decoder read");
    else if (tokens && !c && is_read(n, m->axis))
        buf_puts(out, ", though it read the same text");
    else if (tokens && !c)
        buf_puts(out, ": it read another text; give its numbers with -i ids:1,2,3, or record input_ids");
    buf_puts(out, behind);
}

/* What is allowed where a shorter type is: its rounding is measured, step by step. */
static void put_tolerance(const DiffNamed *n, Buf *out)
{
    double least = HUGE_VAL, most = 0;
    buf_printf(out, "tolerance  %g of a tensor's largest value", n->o->tolerance);
    if (n->o->precision == PRECISION_F32) {
        buf_putc(out, '\n');
        return;
    }
    for (int i = 0; i < n->d->count; i++)
        if (graph_node(n->s->graph, n->d->row[i].tensor->node)->op != OP_LEAF) {
            least = fmin(least, n->d->row[i].allowed);
            most = fmax(most, n->d->row[i].allowed);
        }
    if (most > 0)
        buf_printf(out,
                   ", and three times what rounding to %s makes of each step: from %.1e to %.1e%s\n"
                   "           Smaller differences can't be seen in %s.\n",
                   precision_name(n->o->precision), least, most,
                   n->r->stored == n->o->precision ? ", as the recording is stored so" : "",
                   precision_name(n->o->precision));
    else
        buf_putc(out, '\n');
}

static void put_head(const DiffNamed *n, Buf *out)
{
    const DiffReference *r = n->r;
    buf_printf(out, "here       %s", n->ours);
    if (n->o->precision != PRECISION_F32)
        buf_printf(out, "; every stored tensor rounded to %s", precision_name(n->o->precision));
    buf_printf(out, "\nrecording  %s: %d tensor%s compared (%s)", r->name, r->count, r->count == 1 ? "" : "s",
               diff_family_name(r->family));
    if (r->unknown_count)
        buf_printf(out, ", %d left out; lines NAME = NODE in a file for --map say what they are", r->unknown_count);
    buf_putc(out, '\n');
    for (int i = 0; i < r->unknown_count && i < 8; i++)
        buf_printf(out, "           %s\n", r->unknown[i]);
    if (r->unknown_count > 8)
        buf_printf(out, "           and %d more: --json has all; a file for --map says what they are\n",
                   r->unknown_count - 8);
    put_shapes(n, "shapes     ", "\n", out);
    if (r->unchecked)
        buf_printf(out, "checksums  of %d not tested: the rest of their batch was not read\n", r->unchecked);
    put_tolerance(n, out);
    buf_puts(
        out,
        "\nthrough: error since the input. local: error of this step alone, fed with the recorded values before it.\n"
        "* begins here, . inherited. An error is the largest difference / the tensor's largest value; rms: of all "
        "cells.\n\n");
    buf_printf(out, "  %-*s%9s%9s %8s%9s%9s%s  first cell, recorded as\n", node_cells(n), "node", "through", "rms",
               "cosine", "local", "rms", n->o->precision != PRECISION_F32 ? " rounding" : "");
}

static void put_proposal(const DiffCause *c, Buf *out)
{
    if (!*c->dump || c->steps < 2)
        return;
    if (c->whole)
        buf_printf(out, " What would tell them apart is %s", c->dump);
    else
        buf_printf(out, " To halve the %d steps between, record %s next", c->steps, c->dump);
    if (*c->dump_name && strcmp(c->dump_name, c->dump) != 0)
        buf_printf(out, " (%s)", c->dump_name);
    buf_putc(out, '.');
}

/* "the recording has NaN in 3 of 17 cells where there are numbers here"; nothing where both have the same. */
static void put_nan(const DiffNamed *n, const DiffRow *row, const DiffFigures *f, Buf *out)
{
    const size_t cells = graph_cells(n->s->graph, row->tensor->node), theirs[] = {f->nan_theirs, f->inf_theirs},
                 ours[] = {f->nan_ours, f->inf_ours};
    static const char *const CALLED[] = {"NaN", "∞"};
    for (int k = 0; k < 2 && diff_no_number(n->s->graph, row->tensor->node, f); k++) {
        if (theirs[k])
            buf_printf(out, "%sthe recording has %s in %zu of %zu cells where there are numbers here",
                       out->len ? "; " : "", CALLED[k], theirs[k], cells);
        if (ours[k])
            buf_printf(out, "%s%zu of %zu cells are %s here and not in the recording", out->len ? "; " : "", ours[k],
                       cells, CALLED[k]);
    }
}

/* The weights of the step, here, that hold NaN or ∞. Returns how many; two are told. */
static int put_broken(const DiffNamed *n, NodeId node, Buf *out)
{
    enum { TOLD = 2 };
    const Graph *g = n->s->graph;
    bool *in = xcalloc((size_t)g->count, sizeof *in);
    int weights = 0;
    diff_segment(g, n->r, node, in);
    for (NodeId i = 0; i <= node; i++) {
        const Node *w = graph_node(g, i);
        if (!in[i] || w->op != OP_LEAF || w->leaf.kind != LEAF_TENSOR)
            continue;
        const float *x = run_need(n->s->run, i);
        size_t cells = graph_cells(g, i), bad = 0;
        for (size_t k = 0; k < cells; k++)
            bad += isfinite(x[k]) ? 0 : 1;
        if (bad && weights++ < TOLD)
            buf_printf(out, " The weight %s has NaN or ∞ in %zu of its %zu numbers here.", w->path, bad, cells);
    }
    free(in);
    if (weights > TOLD)
        buf_printf(out, " So have %d more.", weights - TOLD);
    return weights;
}

/* "31 of the 183 that the model computes, from patch_embed to logits" */
static void put_coverage(const DiffNamed *n, Buf *out)
{
    const DiffCoverage *c = &n->d->coverage;
    buf_printf(out, "%d of the %d that the model computes", c->nodes, c->of);
    if (c->nodes == 1)
        buf_printf(out, ", %s", graph_node(n->s->graph, c->last)->path);
    else if (c->nodes)
        buf_printf(out, ", from %s to %s", graph_node(n->s->graph, c->first)->path,
                   graph_node(n->s->graph, c->last)->path);
}

static void put_gap(const DiffNamed *n, Buf *out)
{
    const DiffCoverage *c = &n->d->coverage;
    if (c->unreadable)
        buf_printf(out, " %d more are NaN or ∞ throughout, here and in the recording, and tell nothing.",
                   c->unreadable);
    if (!c->output && c->nodes)
        buf_printf(out, " Nothing after %s was compared: --require %s refuses a recording without the answer.",
                   graph_node(n->s->graph, c->last)->path, graph_node(n->s->graph, c->end)->path);
}

static void put_stored(const DiffNamed *n, Buf *out)
{
    if (n->r->looks != PRECISION_F32 && n->o->precision == PRECISION_F32)
        buf_printf(
            out,
            "%sEvery recorded value is exactly a %s, though stored longer: if the recording computed so, compare "
            "with --precision %s. ",
            n->d->same ? " " : "", precision_name(n->r->looks), precision_name(n->r->looks));
}

/* A word that other programs may use for something else: neither a part of a module tree nor a name for the answer. */
static bool is_bare(const DiffTensor *t, const Node *node)
{
    return *t->name && !strchr(t->name, '.') && t->family != DIFF_MAP && strcmp(node->path, "logits") != 0;
}

/* "recorded 0.0428, here 0.191"; with as many digits as tell them apart. */
static void put_values(const DiffRow *row, Buf *out)
{
    char recorded[32], here[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(recorded, sizeof recorded, "%.*g", digits, (double)row->recorded);
        snprintf(here, sizeof here, "%.*g", digits, (double)row->here);
        if (strcmp(recorded, here) != 0)
            break;
    }
    buf_printf(out, "recorded %s, here %s", recorded, here);
}

/* Are other blocks off by more than the mistake leaves in this one? Then they may have it, below what is allowed. */
static bool is_faint(const DiffCause *c)
{
    static const double MORE = 4;
    return c->whole && c->faint > MORE * c->after.largest && c->faint > DIFF_LEAST;
}

/* Where a mistake that explains it is: in these steps, in this block alone. */
static void put_places(const DiffCause *c, Buf *out)
{
    if (*c->places)
        buf_printf(out, " It explains %s too.", c->places);
    if (c->rows > 1)
        buf_printf(out, " The same step differs in %d blocks.", c->rows);
    else if (c->block >= 0 && c->agreeing > 0 && is_faint(c))
        buf_printf(
            out,
            " In block %d alone it is beyond what is allowed; in %s the same step is off by up to %.2g, which is "
            "more than rounding makes: the mistake may be there too.",
            c->block, c->agreeing == 1 ? "the other recorded block" : "the other recorded blocks", c->faint);
    else if (c->block >= 0 && c->agreeing > 0)
        buf_printf(out, " Only in block %d: the same step of %s agrees.", c->block,
                   c->agreeing == 1 ? "the other recorded block" : "the other recorded blocks");
}

static void put_unexplained(const DiffNamed *n, const DiffCause *c, bool nan, bool given, Buf *out)
{
    NodeId node = n->d->row[c->row].tensor->node;
    const bool known = n->s->config || n->s->text;
    if (c->stopped)
        buf_printf(out, " The search for its cause was stopped after %d mistakes.", c->tried);
    else if (nan)
        buf_puts(out, put_broken(n, node, out) || given
                          ? ""
                          : " No mistake that is tried makes NaN or ∞: look at this step's numbers.");
    else if (!given && known && c->steps > 1)
        buf_printf(
            out,
            " Between it and the tensors recorded before it lie %d steps, and none of the mistakes that were tried "
            "explains it.",
            c->steps);
    else if (!given) {
        buf_puts(out, known ? " None of the mistakes that were tried explains it; the step is "
                            : " No mistakes are tried in a model of this family; the step is ");
        graph_formula(n->s->graph, node, out);
        buf_putc(out, '.');
    }
}

static void put_cause(const DiffNamed *n, const DiffCause *c, bool first, Buf *out)
{
    const DiffRow *row = &n->d->row[c->row];
    const DiffFigures *f = c->accumulated ? &row->through : &row->local;
    Buf cell = {0}, nan = {0};
    diff_cell(n->s->graph, row->tensor->node, f->first, &cell);
    put_tokens(n->s->graph, row->tensor->node, f->first, &cell);
    bool given = graph_node(n->s->graph, row->tensor->node)->op == OP_LEAF,
         spread = !c->accumulated && f->largest <= row->allowed;
    char error[200];
    put_nan(n, row, f, &nan);
    if (nan.len)
        snprintf(error, sizeof error, "%s", buf_str(&nan));
    else if (spread)
        snprintf(error, sizeof error, "the tensor's rms error %.2g, allowed %.2g", f->rms, row->allowed_rms);
    else
        snprintf(error, sizeof error, "the tensor's largest error %.2g, allowed %.2g", f->largest, c->allowed);
    if (c->accumulated)
        buf_printf(out,
                   "Different: at %s small errors have added up to more than is allowed (%s), though each single step "
                   "is within it.",
                   buf_str(&cell), error);
    else {
        buf_printf(out, "%s%s %s: ", first ? "Different: " : "", buf_str(&cell),
                   given   ? "is a given value that differs"
                   : first ? "differs first"
                           : "differs too, whatever came before");
        put_values(row, out);
        buf_printf(out, " (%s).", error);
    }
    buf_free(&cell);
    if (*c->where)
        buf_printf(out, " Where: %s.", c->where);
    if (*c->text && c->whole) {
        buf_printf(out, " Likely cause: %s. With the same mistake here the error%s falls from %.2g to %.2g.", c->text,
                   c->partial ? " of those rows" : "", spread ? f->rms : f->largest,
                   spread ? c->after.rms : c->after.largest);
        if (*c->also)
            buf_printf(out, " The recording can't tell it from another: %s.", c->also);
    } else if (c->factor < 0 || c->factor > 0) {
        buf_printf(out, " Recorded is %.*g times what is here, in every cell. No mistake that was tried explains it.",
                   c->allowed < 1e-3 ? 5 : 3, c->factor);
    } else if (*c->text && c->after.largest < c->before.largest)
        buf_printf(out,
                   " None of the mistakes that were tried explains it. The nearest: %s; with it here the error falls "
                   "from %.2g to %.2g, and %.2g is allowed.",
                   c->text, c->before.largest, c->after.largest, c->allowed);
    else
        put_unexplained(n, c, nan.len > 0, given, out);
    if (c->unpaired && !c->stopped)
        buf_puts(out, " Not tried, as the model is large: two mistakes at once, but for the pairs that came nearest.");
    if (!c->whole && !given && is_bare(row->tensor, graph_node(n->s->graph, row->tensor->node)))
        buf_printf(out,
                   " If '%s' is something else there, a file for --map says so: `%s = NODE`, or `%s = -` to leave it "
                   "out.",
                   row->tensor->name, row->tensor->name, row->tensor->name);
    buf_free(&nan);
    put_places(c, out);
    put_proposal(c, out);
}

void diff_verdict(const DiffNamed *n, Buf *out)
{
    const DiffReport *d = n->d;
    double through = 0, local = 0;
    int given = 0;
    for (int i = 0; i < d->count; i++) {
        given += graph_node(n->s->graph, d->row[i].tensor->node)->op == OP_LEAF;
        through = d->row[i].through.largest > through ? d->row[i].through.largest : through;
        local = d->row[i].local.largest > local ? d->row[i].local.largest : local;
    }
    if (d->same) {
        buf_printf(out, d->count == 1 ? "Same: the %d tensor compared (" : "Same: each of the %d tensors compared (",
                   d->count);
        if (given)
            buf_printf(out, "%d given, and ", given);
        put_coverage(n, out);
        buf_printf(out, ") follows from its inputs (largest error %.2g; since the input %.2g).", local, through);
        if (*d->hint.text)
            buf_printf(out,
                       " But %s is off by more than rounding makes (error %.2g; the median of all steps is %.2g). It "
                       "looks as if %s: with the same mistake here the error falls to %.2g.",
                       graph_node(n->s->graph, d->row[d->hint.row].tensor->node)->path,
                       d->row[d->hint.row].local.largest, d->usual, d->hint.text, d->hint.after.largest);
        if (*d->note)
            buf_printf(out, " %s", d->note);
        put_gap(n, out);
        put_stored(n, out);
        while (out->len && out->data[out->len - 1] == ' ')
            out->data[--out->len] = '\0';
        return;
    }
    put_stored(n, out);
    put_shapes(n, "Different in shape: ", ".", out);
    for (int i = 0; i < d->cause_count; i++) {
        if (i || n->r->misfits.count)
            buf_putc(out, '\n');
        put_cause(n, &d->cause[i], i == 0 && !n->r->misfits.count, out);
    }
    if (d->rounding && d->begins + d->inherits)
        buf_puts(out,
                 " All that differs is within what float32 makes of adding in another order: the tolerance asked for "
                 "is below that.");
    if (d->unsearched)
        buf_printf(out, " %d more tensor%s and %s not looked into.", d->unsearched,
                   d->unsearched == 1 ? " differs" : "s differ", d->unsearched == 1 ? "was" : "were");
    buf_puts(out, " Compared: ");
    put_coverage(n, out);
    buf_putc(out, '.');
    put_gap(n, out);
}

void diff_table(const DiffNamed *n, Buf *out)
{
    put_head(n, out);
    for (int i = 0; i < n->d->count; i++)
        if (is_told(n, &n->d->row[i]))
            put_row(n, &n->d->row[i], node_cells(n), out);
    buf_putc(out, '\n');
}
