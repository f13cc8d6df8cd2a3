/* `say screen`: all that a screen shows, as lines that can be read aloud: where one is, what the cursor is on, the
 * sentence, the figures that the screen draws, what was changed, the answer. Nothing of it is in a colour or a place.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/models/names.h"
#include "core/session/address.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/ask/closeup.h"
#include "core/session/ask/say.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/object.h"
#include "core/session/learned/where.h"
#include "core/session/screens.h"

enum { TOP_WEIGHTS = 10, TOP_CLASSES = 10, ROW_WHOLE = 16 };

static bool teller_at(Session *s, Side side, const char *path, Buf *out, Err *err, Teller *t)
{
    *t = (Teller){.s = s, .side = side, .g = session_graph(s, side), .out = out, .err = err};
    t->x = teller_values(t, path, &t->n);
    if (t->x)
        t->cell = session_cell(s, side, t->n);
    return t->x != NULL;
}

static const Axis *last_axis(const Teller *t)
{
    Dims d = graph_node(t->g, t->n)->dims;
    return d.n ? &t->g->axes[d.axis[d.n - 1]] : NULL;
}

/* "Step 8 of 25, softmax. … / Screen row: …" */
static void put_place(const Session *s, Buf *out)
{
    int total, step = session_step_number(s, &total);
    const ScreenSpec *screen = screen_now(s);
    const Input *in = session_input(s, SIDE_B);
    buf_printf(out, "%s%s%s.", in->kind == INPUT_TEXT ? "Sentence" : "Picture", *in->name ? " " : "", in->name);
    if (screen->group != GROUP_LEARNED && s->place.box >= 0) {
        const char *sentence = stages_sentence(&s->stages, s->open, s->place.box);
        buf_printf(out, " Step %d of %d, %s.", step, total, s->stages.boxes[s->place.box].label);
        if (sentence && *sentence)
            buf_printf(out, " %s", sentence);
    }
    buf_printf(out, "\nScreen %s: %s.\n", screen->name, screen->about);
}

/* The tensor, its axes, and where the cursor is. */
static void put_focus(const Teller *t)
{
    const Node *n = graph_node(t->g, t->n);
    buf_printf(t->out, "Tensor %s, ", n->path);
    ask_put_count(t->out, graph_cells(t->g, t->n));
    buf_puts(t->out, n->dims.n ? " numbers: " : " number");
    for (int i = 0; i < n->dims.n; i++) {
        const Axis *a = &t->g->axes[n->dims.axis[i]];
        buf_printf(t->out, "%s%s %d (%s)", i ? ", " : "", a->sym, a->n, a->name);
    }
    buf_puts(t->out, ".\nCursor on ");
    address_put(t->g, t->n, t->cell, t->out);
    buf_puts(t->out, ", value ");
    ask_put_number(t->out, t->x[t->cell]);
    buf_puts(t->out, ".\n");
}

/* Indices of x[count], the largest first, at most `most`; the first of equals first. Returns how many. */
static size_t largest_first(const float *x, size_t count, size_t *index, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = n;
        while (at > 0 && x[i] > x[index[at - 1]])
            at--;
        if (at >= most)
            continue;
        n += n < most;
        memmove(index + at + 1, index + at, (n - 1 - at) * sizeof *index);
        index[at] = i;
    }
    return n;
}

/* How much of a row of weights lies on the patches of the drawn object, beside how much of the picture these are. */
static void put_share_on_object(const Teller *t, const float *row, size_t count)
{
    const Exhibit *e = session_exhibit(t->s, t->side);
    const VitConfig *c = model_vit(e->model);
    const Axis *keys = last_axis(t);
    if (!c || !keys || keys->kind != AXIS_TOKEN)
        return;
    int patches = vit_patches(c), on = 0, y, x, across = c->image_w / c->patch_w;
    float *object = xcalloc((size_t)patches, sizeof *object);
    double sum = 0, all = 0;
    if (object_patches(&e->input, e->model, object)) {
        for (int p = 0; p < patches; p++)
            on += object[p] > 0;
        for (size_t i = 0; i < count; i++)
            if (axis_patch(keys, (int)i, &y, &x)) {
                all += (double)row[i];
                sum += object[y * across + x] > 0 ? (double)row[i] : 0;
            }
        if (all > 0)
            buf_printf(t->out,
                       "On the %d of %d patches that show the object lies %.0f %% of what patches get; of the "
                       "picture they are %.0f %%.\n",
                       on, patches, 100 * sum / all, 100.0 * on / patches);
    }
    free(object);
}

static void put_list(const Teller *t, const float *x, const size_t *index, size_t n)
{
    const Axis *a = last_axis(t);
    char label[64];
    for (size_t i = 0; i < n; i++) {
        buf_printf(t->out, "%s%s ", i ? ", " : "", axis_label(a, (int)index[i], label, sizeof label));
        ask_put_short(t->out, x[index[i]]);
    }
    buf_puts(t->out, ".\n");
}

/* The focused row: all of it where it is short, else its largest numbers. */
static bool put_row(const Teller *t, const char *what)
{
    size_t count, index[ROW_WHOLE > TOP_WEIGHTS ? ROW_WHOLE : TOP_WEIGHTS];
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    if (!last_axis(t))
        return true;
    size_t n = count;
    if (count <= ROW_WHOLE) {
        for (size_t i = 0; i < count; i++)
            index[i] = i;
        buf_printf(t->out, "%s along %s: ", what, last_axis(t)->sym);
    } else {
        n = largest_first(row, count, index, TOP_WEIGHTS);
        buf_printf(t->out, "%s along %s, the %zu largest of %zu: ", what, last_axis(t)->sym, n, count);
    }
    put_list(t, row, index, n);
    return true;
}

static bool tell_tensor(const Teller *t)
{
    size_t n = graph_cells(t->g, t->n), low = 0, high = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        low = t->x[i] < t->x[low] ? i : low;
        high = t->x[i] > t->x[high] ? i : high;
        sum += (double)t->x[i];
    }
    buf_puts(t->out, "All of it: from ");
    ask_put_short(t->out, t->x[low]);
    buf_puts(t->out, " at ");
    address_put(t->g, t->n, low, t->out);
    buf_puts(t->out, " to ");
    ask_put_short(t->out, t->x[high]);
    buf_puts(t->out, " at ");
    address_put(t->g, t->n, high, t->out);
    buf_puts(t->out, "; mean ");
    ask_put_short(t->out, (float)(sum / (double)n));
    buf_puts(t->out, ".\n");
    return put_row(t, "The row of the cursor");
}

static bool tell_row(const Teller *t)
{
    size_t count;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    put_row(t, "The row");
    if (site_is(t->g, graph_node(t->g, t->n)->path, SITE_PATTERN))
        put_share_on_object(t, row, count);
    return true;
}

/* One line for every block, one figure for every head: mean over its rows. */
static bool tell_heads(const Teller *t)
{
    const Graph *g = t->g;
    double most = dm_log((double)teller_length(t, ROLE_KEY));
    buf_printf(t->out, "Mean entropy of the rows of every head, in nats, at most %.2f:\n", most);
    for (int part = anatomy_next(g, NO_PART, PART_ATTENTION); part != NO_PART;
         part = anatomy_next(g, part, PART_ATTENTION)) {
        NodeId n;
        const char *path = site_path(g, part, SITE_ENTROPY);
        const float *entropy = path && graph_find(g, path) != NO_NODE ? teller_values(t, path, &n) : NULL;
        if (!entropy)
            continue;
        size_t cells = graph_cells(g, n);
        int heads = teller_length(t, ROLE_HEAD);
        buf_printf(t->out, "%s:", anatomy_part(g, part)->scope);
        for (int h = 0; h < heads; h++) {
            double sum = 0;
            size_t rows = cells / (size_t)heads;
            for (size_t i = 0; i < rows; i++)
                sum += (double)entropy[(size_t)h * rows + i];
            buf_printf(t->out, "%s head %d %.2f", h ? "," : "", h, sum / (double)rows);
        }
        buf_puts(t->out, ".\n");
    }
    return true;
}

static bool tell_matrix(const Teller *t)
{
    return tell_heads(t) && tell_row(t);
}

static bool tell_answer(const Teller *t)
{
    Teller logits;
    const char *path = teller_model(t, SITE_PROBS), *raw = teller_model(t, SITE_LOGITS);
    Teller p;
    size_t index[TOP_CLASSES];
    char label[64];
    if (graph_find(t->g, path) == NO_NODE || graph_find(t->g, raw) == NO_NODE)
        return true;
    if (!teller_at(t->s, t->side, path, t->out, t->err, &p) || !teller_at(t->s, t->side, raw, t->out, t->err, &logits))
        return false;
    size_t count; /* of a text: the row of the word at the cursor */
    const float *shares = teller_row(&p, p.x, p.n, p.cell, &count);
    const float *scores = teller_row(&logits, logits.x, logits.n, logits.cell, &count);
    size_t n = largest_first(shares, count, index, TOP_CLASSES);
    for (size_t i = 0; i < n; i++) {
        buf_printf(t->out, "%zu. %s: probability ", i + 1,
                   axis_label(last_axis(&p), (int)index[i], label, sizeof label));
        ask_put_short(t->out, shares[index[i]]);
        buf_puts(t->out, ", logit ");
        ask_put_short(t->out, scores[index[i]]);
        buf_puts(t->out, ".\n");
    }
    return true;
}

static bool tell_arithmetic(const Teller *t)
{
    return ask_explain_text(t->s, t->side, graph_node(t->g, t->n)->path, t->cell, t->out, false, t->err);
}

/* The lines of a close-up, each at the place of the row that the cursor is on; then the terms. */
static bool tell_closeup(const Teller *t)
{
    Closeup c;
    if (!ask_need_inputs(t->s, t->side, t->n, t->err))
        return false;
    if (!closeup_open(t->s, t->side, t->n, t->cell, &c))
        return tell_arithmetic(t);
    bool ok = true;
    for (int i = 0; ok && i < c.count; i++)
        ok = c.line[i].given ? ask_need(t->s, t->side, c.line[i].node, t->err) != NULL
                             : ask_need_inputs(t->s, t->side, c.line[i].node, t->err);
    size_t index = closeup_index_here(t->s, &c);
    if (ok && closeup_values(t->s, &c))
        for (int i = 0; i < c.count; i++) {
            const CloseupLine *l = &c.line[i];
            static const char *const WHAT[] = {"", "products for ", "sum so far, towards "};
            buf_printf(t->out, "%s%s", WHAT[l->what], node_name(graph_node(c.graph, l->node)));
            if (l->count > 1)
                buf_printf(t->out, ", number %zu of %zu", index + 1, l->count);
            buf_puts(t->out, ": ");
            ask_put_number(t->out, l->value[l->count > 1 ? index : 0]);
            buf_puts(t->out, ".\n");
        }
    closeup_free(&c);
    return ok && tell_arithmetic(t);
}

/* A number for every patch, a line for every row of patches. Every figure is of the trace. */
static void put_patches(const Teller *t, const float *x, int rows, int cols)
{
    for (int y = 0; y < rows; y++) {
        buf_printf(t->out, "r%d:", y);
        for (int c = 0; c < cols; c++) {
            buf_putc(t->out, ' ');
            ask_put_short(t->out, x[y * cols + c]);
        }
        buf_putc(t->out, '\n');
    }
}

static bool tell_where(const Teller *t)
{
    const VitConfig *c = model_vit(session_exhibit(t->s, t->side)->model);
    const char *path = where_path(t->s, t->side, (WhereMethod)t->s->look.where.method);
    NodeId n;
    if (!c || session_node(t->s, t->side, path) == NO_NODE || t->s->look.where.method == WHERE_OCCLUSION)
        return true;
    const float *x = teller_values(t, path, &n);
    if (!x)
        return false;
    int patches = vit_patches(c);
    size_t from = graph_cells(t->g, n) == (size_t)patches
                      ? 0
                      : session_cell(t->s, t->side, n) / (size_t)patches * (size_t)patches;
    buf_printf(t->out, "%s, a number for every patch:\n", path);
    put_patches(t, x + from, c->image_h / c->patch_h, c->image_w / c->patch_w);
    return true;
}

/* How bright every patch is: the mean of its pixels in all colours. */
static bool tell_picture(const Teller *t)
{
    const VitConfig *c = model_vit(session_exhibit(t->s, t->side)->model);
    NodeId n = site_node_any(t->g, SITE_INPUT);
    const float *x = c && n != NO_NODE ? ask_need(t->s, t->side, n, t->err) : NULL;
    if (!c || n == NO_NODE)
        return true;
    if (!x)
        return false;
    Dims d = graph_node(t->g, n)->dims;
    int patches = vit_patches(c), index[DIMS_MAX];
    double *sum = xcalloc((size_t)patches, sizeof *sum);
    float *mean = xcalloc((size_t)patches, sizeof *mean);
    int row = dims_role(t->g, d, ROLE_PLACE_ROW), col = dims_role(t->g, d, ROLE_PLACE_COL);
    if (row != AXIS_NONE && col != AXIS_NONE) {
        size_t cells = graph_cells(t->g, n);
        int across = t->g->axes[col].n;
        for (size_t i = 0; i < cells; i++) {
            dims_unravel(t->g->axes, d, i, index);
            sum[index[dims_find(d, row)] * across + index[dims_find(d, col)]] += (double)x[i];
        }
        for (int p = 0; p < patches; p++)
            mean[p] = (float)(sum[p] / ((double)cells / patches));
        buf_puts(t->out, "How bright every patch is, the mean of its pixels, 0 to 255:\n");
        put_patches(t, mean, t->g->axes[row].n, across);
    }
    free(mean);
    free(sum);
    return true;
}

static bool tell_census(const Teller *t)
{
    const char *why;
    const Measure *m = session_measure(t->s, MEASURE_CENSUS, &why);
    if (!m || why)
        return true; /* the sentence has said so */
    const Graph *g = session_base(t->s);
    buf_printf(t->out, "Points of accuracy lost without each head, over %zu held-out %s, with 95 %% intervals:\n",
               m->pictures, session_measured_over(t->s));
    for (int b = 0; b < m->rows; b++) {
        char name[ATTENTION_NAME];
        buf_printf(t->out, "%s:", session_attention_name(g, anatomy_attention(g, b), name));
        for (int h = 0; h < m->cols; h++) {
            int cell = b * m->cols + h;
            if (isnan(m->value[cell]) || !m->pair)
                buf_printf(t->out, "%s head %d not measured yet", h ? "," : "", h);
            else
                buf_printf(t->out, "%s head %d %.1f ±%.1f", h ? "," : "", h, 100 * paired_lost(m->pair[cell]),
                           100 * paired_margin(m->pair[cell]));
        }
        buf_puts(t->out, ".\n");
    }
    return true;
}

/* Every step on a line: after which word which one is written. */
static bool tell_writing(const Teller *t)
{
    NodeId n;
    const float *probs = teller_values(t, teller_model(t, SITE_PROBS), &n);
    if (!probs)
        return false;
    Dims d = graph_node(t->g, n)->dims;
    const Axis *tokens = &t->g->axes[d.axis[0]], *words = &t->g->axes[d.axis[d.n - 1]];
    char token[64], word[64];
    for (int i = 0; d.n == 2 && i < tokens->n; i++) {
        const float *row = probs + (size_t)i * (size_t)words->n;
        size_t best = largest_of(row, (size_t)words->n);
        buf_printf(t->out, "%d. after %s: %s ", i + 1, axis_label(tokens, i, token, sizeof token),
                   axis_label(words, (int)best, word, sizeof word));
        ask_put_short(t->out, row[best]);
        buf_puts(t->out, ".\n");
    }
    return true;
}

static bool tell_sentence_only(const Teller *t)
{
    (void)t;
    return true;
}

/* A table and the arithmetic of one of its cells. */
static bool tell_worked(const Teller *t)
{
    return tell_tensor(t) && tell_arithmetic(t);
}

static SayFn *const TELL[SCREEN_COUNT] = {
    [SCREEN_PICTURE] = tell_picture,      [SCREEN_TENSOR] = tell_tensor,        [SCREEN_BESIDE] = tell_tensor,
    [SCREEN_SHEET] = tell_heads,          [SCREEN_MATRIX] = tell_matrix,        [SCREEN_ROW] = tell_row,
    [SCREEN_POSITIONS] = tell_tensor,     [SCREEN_WORKED] = tell_worked,        [SCREEN_EXPLAIN] = tell_arithmetic,
    [SCREEN_CLOSEUP] = tell_closeup,      [SCREEN_ANSWER] = tell_answer,        [SCREEN_TRAINING] = tell_sentence_only,
    [SCREEN_FILTERS] = tell_tensor,       [SCREEN_HEADS] = tell_heads,          [SCREEN_WHERE] = tell_where,
    [SCREEN_LENS] = tell_answer,          [SCREEN_LABORATORY] = tell_matrix,    [SCREEN_CENSUS] = tell_census,
    [SCREEN_BLANKS] = tell_sentence_only, [SCREEN_LEDGER] = tell_sentence_only, [SCREEN_SENTENCE] = tell_matrix,
    [SCREEN_WAVES] = tell_tensor,         [SCREEN_WRITING] = tell_writing,      [SCREEN_DECODING] = tell_decoding};

/* "Answer of A: star .999, arrow 5.3e-4, cross 3.3e-5." */
static bool put_answer(Session *s, Side side, const char *who, Buf *out, Err *err)
{
    const char *path = site_path_any(session_graph(s, side), SITE_PROBS);
    Teller t;
    size_t index[3];
    if (!path || graph_find(session_graph(s, side), path) == NO_NODE)
        return true;
    if (!teller_at(s, side, path, out, err, &t))
        return false;
    size_t count;
    const float *row = teller_row(&t, t.x, t.n, t.cell, &count);
    size_t n = largest_first(row, count, index, 3);
    buf_printf(out, "Answer%s: ", who);
    put_list(&t, row, index, n);
    return true;
}

/* How the tensor in focus differs between A and B: in the mean, and where most. */
static bool put_difference(Session *s, Buf *out, Err *err)
{
    char why[SESSION_WHY];
    const char *problem = session_diff_why(s, s->place.path, why);
    Teller a, b;
    if (problem) {
        buf_printf(out, "No difference of this tensor: %s.\n", problem);
        return true;
    }
    if (!teller_at(s, SIDE_A, s->place.path, out, err, &a) || !teller_at(s, SIDE_B, s->place.path, out, err, &b))
        return false;
    size_t n = graph_cells(b.g, b.n), most = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)a.x[i] - (double)b.x[i]);
        most = d > fabs((double)a.x[most] - (double)b.x[most]) ? i : most;
        sum += d;
    }
    if (sum == 0) {
        buf_puts(out, "Difference: this tensor is the same in A and B.\n");
        return true;
    }
    buf_puts(out, "Difference: ");
    ask_put_short(out, (float)(sum / (double)n));
    buf_puts(out, " in the mean of absolute values; the largest at ");
    address_put(b.g, b.n, most, out);
    buf_puts(out, ", from ");
    ask_put_short(out, a.x[most]);
    buf_puts(out, " in A to ");
    ask_put_short(out, b.x[most]);
    buf_puts(out, " in B. At the cursor from ");
    ask_put_short(out, a.x[a.cell]);
    buf_puts(out, " to ");
    ask_put_short(out, b.x[b.cell]);
    buf_puts(out, ".\n");
    return true;
}

static bool put_side(Session *s, Side side, Buf *out, Err *err)
{
    Teller t;
    return teller_at(s, side, s->place.path, out, err, &t) && TELL[s->place.screen](&t);
}

bool ask_say_screen(Session *s, Buf *out, Err *err)
{
    bool compares = session_compares(s) && s->compare != COMPARE_OFF;
    Side side = ask_side(session_side(s));
    Teller t;
    put_place(s, out);
    if (!teller_at(s, side, s->place.path, out, err, &t))
        return false;
    put_focus(&t);
    for (int i = 0; i < s->edits.count; i++)
        buf_printf(out, "%s%s%s", i ? "; " : "Changed: ", s->edits.line[i], i + 1 == s->edits.count ? ".\n" : "");
    if (compares) {
        const char *first = session_input(s, SIDE_A)->name;
        buf_printf(out, "Compared: A is %s, B is as changed.\n",
                   !session_pinned(s) ? "as trained"
                   : *first           ? first
                                      : "what was there at first");
    }
    if (!ask_say(s, compares ? SIDE_DIFF : session_side(s), out, err))
        return false;
    if (out->len && out->data[out->len - 1] != '\n')
        buf_putc(out, '\n');
    if (!compares)
        return put_side(s, side, out, err) && put_answer(s, side, "", out, err);
    bool in_a = session_node(s, SIDE_A, s->place.path) != NO_NODE;
    buf_puts(out, "A, in figures:\n");
    if (!in_a)
        buf_puts(out, "has no such tensor.\n");
    else if (!put_side(s, SIDE_A, out, err))
        return false;
    buf_puts(out, "B, in figures:\n");
    return put_side(s, SIDE_B, out, err) && put_difference(s, out, err) && put_answer(s, SIDE_A, " of A", out, err) &&
           put_answer(s, SIDE_B, " of B", out, err);
}
