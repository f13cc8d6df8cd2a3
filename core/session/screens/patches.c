/* The sheet of patches: each number of A put into B in turn, exactly and as the gradient foretells it. */
#include "core/session/screens/patches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/models/ledger.h"
#include "core/models/text_model.h"
#include "core/session/address.h"
#include "core/session/ask/ledgers.h"
#include "core/session/ask/say.h"
#include "core/session/edit/edits.h"
#include "core/session/exhibit.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/screens.h"

enum { SLICE_NS = 50000000, TOLD = 12 };

static PatchKind kind_of(const Session *s)
{
    return !s->look.patches.tokens ? PATCH_PARTS : s->look.patches.head ? PATCH_HEAD : PATCH_TOKENS;
}

static Patching *patching_of(const Session *s)
{
    return s->now->pass.patching[kind_of(s)];
}

/* Of a decoder alone, token by token: the tokens before the first that differs are in both the same, and those behind
 * the one that is asked are not seen by it: neither changes anything. False with err: none is left. */
static bool find_tokens(const Session *s, PatchingSetup *out, Err *err)
{
    const Text *a = &s->pinned->input.text[TEXT_TARGET], *b = &s->now->input.text[TEXT_TARGET];
    int first = 0;
    if (out->kind == PATCH_PARTS || model_way(s->now->model) != MODEL_WRITES || s->pinned->lines.count ||
        a->count != b->count)
        return true;
    while (first < b->count && a->word[first] == b->word[first])
        first++;
    out->first = first;
    out->end = clamp(s->look.patches.at, 0, b->count - 1) + 1;
    if (first < out->end)
        return true;
    char here[64] = "", there[64] = "";
    const Graph *g = s->now->pass.base;
    const Axis *t = &g->axes[node_role(g, ledger_answers(g), ROLE_QUERY)];
    return first == b->count
               ? err_set(err, "A and B are the same text: no token of A changes anything in B")
               : err_set(err,
                         "up to '%s', which is asked, A and B are the same: no token of A changes anything there. They "
                         "differ from '%s' on: `goto logits[t=%d]`, then `patching tokens`",
                         axis_label(t, out->end - 1, here, sizeof here), axis_label(t, first, there, sizeof there),
                         first);
}

/* Everything but the number itself; false and err where A and B do not fit. */
static bool setup_of(const Session *s, PatchingSetup *out, Err *err)
{
    if (!session_pinned(s))
        return err_set(err, "patching takes values of A: `pin` keeps this as A, then open another %s",
                       session_input_words(s, SIDE_B)->alike);
    const Graph *g = s->now->pass.base, *from = exhibit_graph(s->pinned);
    NodeId y = ledger_answers(g);
    if (y == NO_NODE || node_role(g, y, ROLE_ANSWER) == AXIS_NONE)
        return err_set(err, "%s", session_no_answer(s, SIDE_B));
    if (s->pinned->model != s->now->model)
        return err_set(err, "A and B are two models: patching takes values of the same one");
    *out = (PatchingSetup){.to = g,
                           .from = from,
                           .to_run = s->now->pass.base_run,
                           .from_run = exhibit_run(s->pinned),
                           .y = graph_node(g, y)->path,
                           .kind = kind_of(s),
                           .head = s->look.patches.head - 1,
                           .pool = s->pool};
    return find_tokens(s, out, err);
}

/* Is there one, begun if need be? False and err where A and B do not fit. */
static bool begun(Session *s, Err *err)
{
    Patching **p = &s->now->pass.patching[kind_of(s)];
    PatchingSetup setup;
    if (!*p && setup_of(s, &setup, err))
        *p = patching_new(&setup, err);
    return *p != NULL;
}

const PatchingResult *session_patching(const Session *s, Err *err)
{
    const Patching *p = patching_of(s);
    PatchingSetup setup;
    if (err)
        *err = (Err){""};
    if (!p && err && setup_of(s, &setup, err))
        patching_fits(&setup, err);
    return p ? patching_result(p) : NULL;
}

const Axis *patches_axis(const Session *s)
{
    const Graph *g = s->now->pass.base;
    NodeId y = ledger_answers(g);
    int o = y == NO_NODE ? AXIS_NONE : node_role(g, y, ROLE_ANSWER);
    return o == AXIS_NONE ? NULL : &g->axes[o];
}

bool patches_answers(const Session *s, int *row, int *of, int *against)
{
    const Graph *g = s->now->pass.base;
    size_t cell, other;
    if (!patching_of(s) || !patching_number(patching_of(s), &cell, &other))
        return false;
    ledger_class(g, ledger_answers(g), other, row, against);
    ledger_class(g, ledger_answers(g), cell, row, of);
    return true;
}

int patches_asked(const Session *s, Sequence sequence)
{
    const Graph *g = s->now->pass.base;
    int row, of, against;
    if (s->place.screen != SCREEN_PATCHES || !patches_answers(s, &row, &of, &against))
        return -1;
    const int axis = node_role(g, ledger_answers(g), ROLE_QUERY);
    return axis != AXIS_NONE && g->axes[axis].sequence == sequence ? row : -1;
}

/* --- the work --- */

static size_t largest_but(const float *x, size_t n, size_t but)
{
    size_t best = but == 0;
    for (size_t i = 0; i < n; i++)
        best = i != but && x[i] > x[best] ? i : best;
    return best;
}

/* The two answers: those that were named, else A's and B's own; where these are the same, it and B's next one. False
 * while an answer is not computed. */
static bool find_number(const Session *s, Patching *patching, int64_t deadline_ns)
{
    PatchingSetup p;
    bool there = setup_of(s, &p, NULL);
    REQUIRE(there);
    NodeId y = graph_find(p.to, p.y), z = graph_find(p.from, p.y);
    size_t answers = (size_t)patches_axis(s)->n, rows = graph_cells(p.to, y) / answers,
           row = (size_t)clamp(s->look.patches.at, 0, (int)rows - 1);
    if (!run_step(p.to_run, y, deadline_ns) || !run_step(p.from_run, z, deadline_ns))
        return false;
    const float *b = run_peek(p.to_run, y) + row * answers, *a = run_peek(p.from_run, z) + row * answers;
    size_t of = s->look.patches.of ? (size_t)s->look.patches.of - 1 : largest_of(a, answers),
           own = largest_of(b, answers),
           against = s->look.patches.against ? (size_t)s->look.patches.against - 1
                     : own == of             ? largest_but(b, answers, of)
                                             : own;
    patching_about(patching, row * answers + of, row * answers + against);
    return true;
}

static bool step_patches(Session *s, int64_t deadline_ns)
{
    size_t cell, against;
    if (!begun(s, NULL))
        return true;
    Patching *p = patching_of(s);
    s->changes++;
    return (patching_number(p, &cell, &against) || find_number(s, p, deadline_ns)) && patching_step(p, deadline_ns);
}

bool patches_measure(Session *s, Err *err)
{
    if (!begun(s, err))
        return false;
    while (!step_patches(s, clock_ns() + SLICE_NS)) {
        const PatchingResult *r = session_patching(s, NULL);
        if (s->progress && !s->progress(s->progress_context, "putting one part of A into B after the other",
                                        r ? (double)r->done / (double)r->count : 0))
            return err_set(err, "cancelled");
    }
    return true;
}

/* --- where one stands --- */

int patches_here(const Session *s, const PatchingResult *r)
{
    int row = clamp(s->look.patches.row, 0, r->rows - 1), col = clamp(s->look.patches.col, 0, r->cols - 1);
    return r->at[row * r->cols + col];
}

/* The attention of a row of parts or of one head, the block of a row of tokens. */
static int part_of_row(const Session *s, int row)
{
    const Graph *g = s->now->pass.base;
    int b = NO_PART;
    if (kind_of(s) != PATCH_TOKENS)
        return anatomy_attention(g, row);
    while (row-- >= 0 && (b = anatomy_next(g, b, PART_BLOCK)) != NO_PART)
        continue;
    return b;
}

void patches_row_name(const Session *s, int row, char *out, size_t n)
{
    const Graph *g = s->now->pass.base;
    int part = part_of_row(s, row);
    char name[ATTENTION_NAME];
    *out = 0;
    if (part == NO_PART)
        return;
    const Part *p = anatomy_part(g, part);
    if (p->kind == PART_ATTENTION)
        utf8_print(out, n, "%s", session_attention_name(g, part, name));
    else if (*p->stack)
        utf8_print(out, n, "%.3s %d", p->stack, p->block);
    else
        utf8_print(out, n, "block %d", p->block);
}

/* The axis of the tokens that are patched in that row: those of its stack. */
static int tokens_of_row(const Session *s, int row)
{
    const Graph *g = s->now->pass.base;
    int part = part_of_row(s, row);
    NodeId x = part == NO_PART ? NO_NODE : site_node(g, part, kind_of(s) == PATCH_HEAD ? SITE_Z : SITE_RESID_PRE);
    return x == NO_NODE ? AXIS_NONE : node_role(g, x, ROLE_QUERY);
}

void patches_col_name(const Session *s, int row, int col, bool brief, char *out, size_t n)
{
    const Graph *g = s->now->pass.base;
    if (!s->look.patches.tokens) {
        if (col < session_heads(s))
            utf8_print(out, n, brief ? "h%d" : "head %d", col);
        else
            utf8_print(out, n, "MLP");
        return;
    }
    int t = tokens_of_row(s, row);
    *out = 0;
    col += patching_of(s) ? patching_result(patching_of(s))->first : 0;
    if (t != AXIS_NONE && col < g->axes[t].n)
        axis_label(&g->axes[t], col, out, n);
}

void patches_shape(const Session *s, int *rows, int *cols)
{
    const Graph *g = s->now->pass.base;
    *rows = 0;
    *cols = s->look.patches.tokens ? 0 : session_heads(s) + 1;
    while (part_of_row(s, *rows) != NO_PART) {
        const int t = s->look.patches.tokens ? tokens_of_row(s, *rows) : AXIS_NONE;
        if (t != AXIS_NONE && g->axes[t].n > *cols)
            *cols = g->axes[t].n;
        ++*rows;
    }
}

/* The focus goes to what is patched there, and its head with it. */
static void stand(Session *s)
{
    const PatchingResult *r = session_patching(s, NULL);
    int i = r ? patches_here(s, r) : -1;
    if (i < 0)
        return;
    const PatchPlace *p = &r->place[i];
    snprintf(s->place.path, sizeof s->place.path, "%s", p->path);
    if (r->kind != PATCH_TOKENS && p->cells.n) /* the token stays that whose answer it is about */
        session_set_index(s, p->cells.range[0].axis, p->cells.range[0].from);
    place_find_box(s);
}

static void move_on_patches_sheet(Session *s, int dy, int dx)
{
    if (!begun(s, NULL))
        return;
    const PatchingResult *r = session_patching(s, NULL);
    s->look.patches.row = clamp(s->look.patches.row + dy, 0, r->rows - 1);
    s->look.patches.col = clamp(s->look.patches.col + dx, 0, r->cols - 1);
    stand(s);
}

void patches_put_address(const Session *s, const PatchPlace *p, Buf *out)
{
    const Graph *g = s->now->pass.base;
    buf_puts(out, p->path);
    for (int k = 0; k < p->cells.n; k++)
        buf_printf(out, "%s%s=%d", k ? "," : "[", g->axes[p->cells.range[k].axis].sym, p->cells.range[k].from);
    buf_puts(out, p->cells.n ? "]" : "");
}

void patches_line(const Session *s, const PatchPlace *p, Buf *out)
{
    buf_puts(out, "patch ");
    patches_put_address(s, p, out);
    buf_puts(out, " from=a");
}

/* The cursor of the answer's screen on what was measured: A's answer, in the row that was asked. */
static void stand_on_answer(Session *s)
{
    int row, of, against;
    if (!patches_answers(s, &row, &of, &against))
        find_number(s, patching_of(s), CLOCK_NEVER);
    if (!patches_answers(s, &row, &of, &against))
        return;
    const Graph *g = s->now->pass.base;
    const NodeId y = ledger_answers(g);
    const int asks = node_role(g, y, ROLE_QUERY);
    session_set_index(s, node_role(g, y, ROLE_ANSWER), of);
    if (asks == AXIS_NONE)
        return;
    session_set_index(s, asks, s->look.patches.at);
    session_sync(s, asks);
}

/* The patch in force, or no longer, and the answer beside what it was. */
static bool enter_patch(Session *s, Err *err)
{
    if (!session_pinned(s))
        return patches_begin_example(s, err);
    if (!begun(s, err))
        return false;
    const PatchingResult *r = session_patching(s, NULL);
    int i = patches_here(s, r);
    if (i < 0)
        return err_set(err, "nothing is patched there");
    Buf line = {0};
    patches_line(s, &r->place[i], &line);
    bool ok = edits_add(s, buf_str(&line), true, err);
    bool on = ok && edits_has(s, buf_str(&line));
    const char *probs = site_path_any(session_graph(s, SIDE_B), SITE_PROBS);
    if (ok && on && probs)
        ok = session_go(s, probs, SCREEN_ANSWER, err);
    if (ok && on && probs)
        stand_on_answer(s);
    if (ok && on)
        session_say(s, "In force: %s.  u undoes, Backspace leads back to the sheet", buf_str(&line));
    else if (ok)
        session_say(s, "No longer in force: %s", buf_str(&line));
    buf_free(&line);
    return ok;
}

/* What is measured, then what the gradient foretells, then the other table. */
static bool next_patches(Session *s, Err *err)
{
    (void)err;
    s->look.patches.guess = !s->look.patches.guess;
    if (!s->look.patches.guess)
        s->look.patches.tokens = !s->look.patches.tokens;
    return true;
}

/* --- the command --- */

static bool answer_named(const Session *s, const char *word, int *to, Err *err)
{
    int o;
    *to = 0;
    if (!word)
        return true;
    if (!ledger_parse_class(s, word, 1, &o, err))
        return false;
    *to = o + 1;
    return true;
}

bool patches_command(Session *s, const Args *a, Err *err)
{
    const int first = a->count && strcmp(a->word[0], "all") == 0; /* patch all … */
    const char *what = a->count > first ? a->word[first] : "heads", *from = args_named(a, "from");
    bool tokens = strcmp(what, "tokens") == 0,
         worded = a->count == first + 3 && strcmp(a->word[first + 1], "from") == 0;
    const char *named = args_named(a, "head");
    int of, against, head = -1;
    bool relative = false;
    if (!tokens && strcmp(what, "heads") != 0)
        return err_set(err, "column %d: expected heads or tokens, found '%.60s'", a->column[first], what);
    if (a->count > first + 1 && !worded)
        return err_set(err, "column %d: '%.60s' means nothing here", a->column[first + 1], a->word[first + 1]);
    from = worded ? a->word[first + 2] : from;
    const bool turned = from && (strcmp(from, "b") == 0 || strcmp(from, "B") == 0);
    if (from && !turned && strcmp(from, "a") != 0 && strcmp(from, "A") != 0)
        return err_set(err, "values come from A or from B, not from '%.20s'", from);
    if (!answer_named(s, args_named(a, "of"), &of, err) || !answer_named(s, args_named(a, "against"), &against, err))
        return false;
    if (of && of == against)
        return err_set(err, "of and against are the same answer");
    if (named && !tokens)
        return err_set(err, "head=%.20s: one head is patched token by token: `patching tokens head=%.20s`", named,
                       named);
    if (named && (!args_number(named, &head, &relative) || relative || head < 0 || head >= session_heads(s)))
        return err_set(err, "head=%.20s: expected a head, 0 to %d", named, session_heads(s) - 1);
    if (turned && !session_exchange(s, err)) /* values go from what is pinned into what is on show */
        return false;
    const Graph *g = s->now->pass.base;
    if (!patches_axis(s))
        return err_set(err, "%s", session_no_answer(s, SIDE_B));
    int t = node_role(g, ledger_answers(g), ROLE_QUERY), at = t == AXIS_NONE ? 0 : session_index_on(s, g, t);
    s->look.patches.tokens = tokens;
    s->look.patches.head = head + 1;
    s->look.patches.guess = false;
    s->look.patches.of = of;
    s->look.patches.against = against;
    s->look.patches.at = at;
    patches_hint(s);
    s->look.patches.row = 0;
    s->look.patches.col = tokens ? patches_first_token(s) : 0;
    exhibit_drop_patching(s->now, NULL);
    const char *path = site_path_any(session_graph(s, SIDE_B), kind_of(s) == PATCH_TOKENS ? SITE_RESID_PRE : SITE_Z);
    return screen_go(s, SCREEN_PATCHES, path ? path : graph_node(g, ledger_answers(g))->path, err);
}

bool patches_open(Session *s, Err *err)
{
    return patches_on_show(s) || patches_command(s, &(Args){.count = 0}, err);
}

/* --- in words --- */

void patches_put_place(const Session *s, const PatchPlace *p, Buf *out)
{
    char row[64], col[64];
    patches_row_name(s, p->row, row, sizeof row);
    patches_col_name(s, p->row, p->col, false, col, sizeof col);
    if (!s->look.patches.tokens && !p->cells.n) /* the block's, not the attention's */
        row[strcspn(row, " ") + 1 + strcspn(row + strcspn(row, " ") + 1, " ")] = 0;
    if (kind_of(s) == PATCH_HEAD)
        buf_printf(out, "%s head %d at %s", row, s->look.patches.head - 1, col);
    else
        buf_printf(out, s->look.patches.tokens ? "the stream into %s at %s" : "%s %s", row, col);
}

static void put_answer(const Session *s, int o, Buf *out)
{
    char label[64];
    buf_puts(out, axis_label(patches_axis(s), o, label, sizeof label));
}

/* "the logit of lo less that of had after er is −1.2 in B, on show, and 3.4 in A, pinned" */
static void put_number(const Session *s, const PatchingResult *r, Buf *out)
{
    int row, of, against;
    if (!patches_answers(s, &row, &of, &against))
        return;
    buf_puts(out, "The logit of ");
    put_answer(s, of, out);
    buf_puts(out, " less that of ");
    put_answer(s, against, out);
    patches_put_after(s, row, out);
    buf_puts(out, " is ");
    ask_put_short(out, r->to);
    buf_puts(out, " in B, on show, and ");
    ask_put_short(out, r->from);
    buf_puts(out, " in A, pinned.");
}

static void put_error(const Session *s, const PatchingResult *r, Buf *out)
{
    PatchingError e = patching_error(r);
    if (!e.n)
        return;
    buf_printf(out, " Over %zu of %zu of them the gradient's number is off by ", e.n, r->count);
    ask_put_short(out, (float)e.mean);
    buf_puts(out, " on average, where the measured ones are ");
    ask_put_short(out, (float)e.size);
    buf_puts(out, " in size; most by ");
    ask_put_short(out, (float)e.most);
    buf_puts(out, " for ");
    patches_put_place(s, &r->place[e.worst], out);
    if (!isnan(e.correlation))
        buf_printf(out, "; their correlation is %.3f", e.correlation);
    buf_putc(out, '.');
}

static bool say_patches(const Teller *t)
{
    Err why;
    if (t->side == SIDE_A && session_pinned(t->s))
        return true; /* it is about both, and said once */
    if (!patches_measure(t->s, &why)) {
        buf_printf(t->out, "%s.", why.text);
        return true;
    }
    const PatchingResult *r = session_patching(t->s, NULL);
    const int i = patches_here(t->s, r);
    if (i >= 0 && !isnan(r->exact[i])) {
        buf_puts(t->out, "With A's value of ");
        patches_put_place(t->s, &r->place[i], t->out);
        buf_puts(t->out, r->exact[i] < 0 ? " in B the difference falls by " : " in B the difference rises by ");
        ask_put_short(t->out, fabsf(r->exact[i]));
        buf_puts(t->out, "; the gradient says ");
        ask_put_short(t->out, r->gradient[i]);
        buf_puts(t->out, ". ");
    } else if (i < 0)
        buf_puts(t->out, "Nothing is patched there. ");
    if (!isnan(r->from))
        put_number(t->s, r, t->out);
    buf_puts(t->out, r->first ? " " : "");
    patches_put_same(t->s, r, t->out);
    return true;
}

/* The largest ones, measured to the end. */
static bool tell_patches(const Teller *t)
{
    Session *s = t->s;
    if ((t->side == SIDE_A && session_pinned(s)) || !begun(s, NULL))
        return say_patches(t);
    if (!patches_measure(s, t->err))
        return false;
    const PatchingResult *r = session_patching(s, NULL);
    put_number(s, r, t->out);
    put_error(s, r, t->out);
    buf_printf(t->out,
               "\nHow much it rises with A's value in B, measured, and what the gradient says; the largest %d:\n",
               (int)r->count < TOLD ? (int)r->count : TOLD);
    float *size = xfloats(r->count);
    size_t index[TOLD];
    for (size_t i = 0; i < r->count; i++)
        size[i] = fabsf(r->exact[i]);
    size_t count = largest_first(size, r->count, index, TOLD);
    free(size);
    for (size_t i = 0; i < count; i++) {
        patches_put_place(s, &r->place[index[i]], t->out);
        buf_puts(t->out, ": ");
        ask_put_short(t->out, r->exact[index[i]]);
        buf_puts(t->out, ", ");
        ask_put_short(t->out, r->gradient[index[i]]);
        buf_puts(t->out, ".\n");
    }
    return true;
}

/* Another number is measured anew. */
static bool answer_there(Session *s, int value, Err *err)
{
    const Axis *a = patches_axis(s);
    if (value < 0 || (a && value > a->n))
        return err_set(err, "there is no such answer");
    exhibit_drop_patching(s->now, NULL);
    return true;
}

static bool at_there(Session *s, int value, Err *err)
{
    (void)value;
    (void)err;
    exhibit_drop_patching(s->now, NULL);
    return true;
}

static bool head_there(Session *s, int value, Err *err)
{
    if (value < 0 || value > session_heads(s))
        return err_set(err, "there is no such head");
    exhibit_drop_patching(s->now, NULL);
    return true;
}

static bool cell_there(Session *s, int value, Err *err)
{
    (void)s;
    return value >= 0 || err_set(err, "there is no such cell");
}

static const LookOption OPTIONS[] = {{"patch-tokens", OPTION_SWITCH, LOOK(patches.tokens), NULL, NULL, 0},
                                     {"patch-head", OPTION_NUMBER, LOOK(patches.head), NULL, head_there, 0},
                                     {"patch-gradient", OPTION_SWITCH, LOOK(patches.guess), NULL, NULL, 0},
                                     {"patch-row", OPTION_NUMBER, LOOK(patches.row), NULL, cell_there, 0},
                                     {"patch-column", OPTION_NUMBER, LOOK(patches.col), NULL, cell_there, 0},
                                     {"patch-of", OPTION_NUMBER, LOOK(patches.of), NULL, answer_there, 0},
                                     {"patch-against", OPTION_NUMBER, LOOK(patches.against), NULL, answer_there, 0},
                                     {"patch-at", OPTION_NUMBER, LOOK(patches.at), NULL, at_there, 0},
                                     {.name = NULL}};

static void complete_patches(const Session *s, int index, Buf *out)
{
    (void)s;
    buf_puts(out, index == 0 ? "heads\ntokens\n" : "");
}

static const Command OWN = COMMAND("patching", "learned", "patching [heads, tokens] [head=N] [of=NAME] [against=NAME]",
                                   "what every head, MLP or token of A, or head N token by token, changes when it "
                                   "stands in B, and what the gradient says; of, against: the two answers",
                                   COMMAND_SESSION, patches_command, complete_patches);

SCREEN_SPEC(PATCHES, .name = "patching", .about = "what every part of A changes when it stands in B",
            .group = GROUP_LEARNED, .command = "patching", .own = {&OWN, 1, NULL}, .move = move_on_patches_sheet,
            .enter = enter_patch, .next = next_patches, .off = OFF_NOTHING, .work = step_patches, .say = say_patches,
            .tell = tell_patches, .options = OPTIONS);
