/* `say`: which sentence fits where the reader stands; and `say screen`, all that a screen shows as lines that can be
 * read aloud: where one is, what the cursor is on, the sentence, the figures that the screen draws, what was changed,
 * the answer. Nothing of it is in a colour or a place. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/session/address.h"
#include "core/session/ask/say.h"
#include "core/session/input.h"
#include "core/session/screens.h"

enum { ANY_PART = -1 };
enum { TOP_WEIGHTS = 10, ROW_WHOLE = 16 };

/* Where the screen itself has nothing to say (ScreenSpec), the first row that fits the node is taken. A site fits in
 * any part of that kind. */
static const struct {
    Site site;
    int part; /* a PartKind, or ANY_PART */
    SayFn *say;
} SAYINGS[] = {
    {SITE_PATTERN, ANY_PART, say_weight},
    {SITE_SCORES_RAW, ANY_PART, say_score},
    {SITE_SCORES_SCALED, ANY_PART, say_score},
    {SITE_SCORES_BIASED, ANY_PART, say_score},
    {SITE_BIAS, ANY_PART, say_bias},
    {SITE_ANGLE, ANY_PART, say_angle},
    {SITE_SCORES_MASKED, ANY_PART, say_score},
    {SITE_QUERY, ANY_PART, say_head_vector},
    {SITE_KEY, ANY_PART, say_head_vector},
    {SITE_VALUE, ANY_PART, say_head_vector},
    {SITE_Z, ANY_PART, say_head_vector},
    {SITE_RESID_MID, PART_BLOCK, say_residual},
    {SITE_RESID_POST, PART_BLOCK, say_residual},
    {SITE_MLP_POST, ANY_PART, say_hidden},
    {SITE_MLP_PRE, ANY_PART, say_hidden},
    {SITE_ROUTER, ANY_PART, say_experts},
    {SITE_ROUTER_PROBS, ANY_PART, say_experts},
    {SITE_EXPERTS_CHOSEN, ANY_PART, say_experts},
    {SITE_EXPERTS_WEIGHTS, ANY_PART, say_experts},
    {SITE_RESID_PRE, PART_BLOCK, say_token},
    {SITE_OUT, ANY_PART, say_token},
    {SITE_EMBEDDED, ANY_PART, say_token},
    {SITE_EMBED, ANY_PART, say_token},
    {SITE_LOGITS, ANY_PART, say_answer},
    {SITE_PROBS, ANY_PART, say_answer},
    {SITE_EMBEDDING, ANY_PART, say_embedding},
    {SITE_EMBEDDING_UNIT, ANY_PART, say_embedding},
    {SITE_POSITION_COSINE, ANY_PART, say_positions},
    {SITE_POSITION_COSINE_CENTRED, ANY_PART, say_positions},
};

/* Is the node the picture on its way to what the network sees? */
static bool is_picture(const Teller *t)
{
    Dims d = graph_node(t->g, t->n)->dims;
    NodeId image = site_node_any(t->g, SITE_IMAGE);
    return image != NO_NODE && t->n <= image && dims_equal(d, graph_node(t->g, image)->dims);
}

static bool is_site(const Teller *t, int part, Site site)
{
    const char *path = site_path(t->g, part, site);
    return path && strcmp(path, t->s->place.path) == 0;
}

static SayFn *saying(const Teller *t)
{
    const char *path = t->s->place.path;
    int part = anatomy_of(t->g, path);
    if (anatomy_is_gradient(path))
        return say_gradient;
    const ScreenSpec *screen = screen_now(t->s);
    if (screen->say)
        return screen->say;
    if (screen->say_pattern && is_site(t, part, SITE_PATTERN))
        return screen->say_pattern;
    if (screen->say_scores && (is_site(t, part, SITE_SCORES_RAW) || is_site(t, part, SITE_SCORES_SCALED) ||
                               is_site(t, part, SITE_SCORES_BIASED) || is_site(t, part, SITE_SCORES_MASKED)))
        return screen->say_scores;
    for (size_t i = 0; i < sizeof SAYINGS / sizeof *SAYINGS; i++)
        if (is_site(t, part, SAYINGS[i].site) &&
            (SAYINGS[i].part == ANY_PART || anatomy_part(t->g, part)->kind == (PartKind)SAYINGS[i].part))
            return SAYINGS[i].say;
    return is_picture(t) ? say_pixel : say_anything;
}

const float *teller_values(const Teller *t, const char *path, NodeId *n)
{
    *n = ask_node(t->s, t->side, path, t->err);
    return *n == NO_NODE ? NULL : ask_need(t->s, t->side, *n, t->err);
}

bool teller_value(const Teller *t, const char *path, float *value)
{
    NodeId n;
    const float *x = teller_values(t, path, &n);
    if (x)
        *value = x[session_cell(t->s, t->side, n)];
    return x != NULL;
}

bool teller_there(const Teller *t, const char *path, float *value)
{
    return path && session_node(t->s, t->side, path) != NO_NODE && teller_value(t, path, value);
}

/* The attention of the teller's node, of its block, or of the first block. */
static int attention_of(const Teller *t)
{
    int part = anatomy_of(t->g, t->s->place.path), block = anatomy_block_of(t->g, t->s->place.path);
    if (part != NO_PART && anatomy_part(t->g, part)->kind == PART_ATTENTION)
        return part;
    return block == NO_PART ? anatomy_next(t->g, NO_PART, PART_ATTENTION)
                            : anatomy_next_in(t->g, NO_PART, PART_ATTENTION, block);
}

const char *teller_site(const Teller *t, Site site)
{
    const char *path = site_path(t->g, attention_of(t), site);
    return path ? path : "";
}

const char *teller_model(const Teller *t, Site site)
{
    const char *path = site_path_any(t->g, site);
    return path ? path : "";
}

static int teller_axis(const Teller *t, AxisRole role)
{
    int axis = node_role(t->g, t->n, role);
    return axis == AXIS_NONE ? graph_role(t->g, role, SEQUENCE_ANY) : axis;
}

int teller_on(const Teller *t, int axis)
{
    int at[SESSION_AXES];
    return axis < 0 ? 0 : session_at(t->s, t->side, at)[axis];
}

int teller_index(const Teller *t, AxisRole role)
{
    return teller_on(t, teller_axis(t, role));
}

int teller_length(const Teller *t, AxisRole role)
{
    int axis = teller_axis(t, role);
    return axis < 0 ? 1 : t->g->axes[axis].n;
}

const char *teller_label(const Teller *t, AxisRole role, int index, char out[64])
{
    int axis = teller_axis(t, role);
    out[0] = 0;
    return axis < 0 ? out : axis_label(&t->g->axes[axis], index, out, 64);
}

void teller_put_token_of(const Teller *t, int axis)
{
    char label[64] = "";
    int row, col, i = teller_on(t, axis);
    bool patch = axis >= 0 && axis_patch(&t->g->axes[axis], i, &row, &col);
    buf_printf(t->out, "%s %s", patch ? "patch" : "token",
               axis < 0 ? label : axis_label(&t->g->axes[axis], i, label, sizeof label));
}

void teller_put_token(const Teller *t, AxisRole role)
{
    teller_put_token_of(t, teller_axis(t, role));
}

const float *teller_row(const Teller *t, const float *values, NodeId n, size_t cell, size_t *count)
{
    Dims d = graph_node(t->g, n)->dims;
    *count = d.n ? (size_t)t->g->axes[d.axis[d.n - 1]].n : 1;
    return values + cell / *count * *count;
}

size_t largest_of(const float *x, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (x[i] > x[best] || (isnan(x[best]) && !isnan(x[i])))
            best = i;
    return best;
}

size_t rank_of(const float *x, size_t n, size_t i)
{
    size_t rank = 1;
    for (size_t k = 0; k < n; k++)
        rank += x[k] > x[i];
    return rank;
}

double length_of_vector(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return dm_sqrt(sum);
}

bool teller_at(Session *s, Side side, const char *path, Buf *out, Err *err, Teller *t)
{
    *t = (Teller){.s = s, .side = side, .g = session_graph(s, side), .out = out, .err = err};
    t->x = teller_values(t, path, &t->n);
    if (t->x)
        t->cell = session_cell(s, side, t->n);
    return t->x != NULL;
}

static bool say_side(Session *s, Side side, Buf *out, Err *err)
{
    Teller t;
    return teller_at(s, side, s->place.path, out, err, &t) && saying(&t)(&t);
}

/* What became of the row of attention in focus: the three figures that stand under both sides. Where one side ends
 * before the cursor nothing became of it. */
static void say_change(Session *s, Buf *out, Err *err)
{
    static const Site PROBES[] = {SITE_SCORE_VARIANCE, SITE_ENTROPY, SITE_LARGEST};
    bool attention = screen_now(s)->group == GROUP_ATTENTION;
    if (screen_now(s)->say_change)
        screen_now(s)->say_change(s, out);
    float x[2][3] = {{0}};
    for (int side = 0; side < 2 && attention; side++) {
        Teller t = {.s = s, .side = side ? SIDE_B : SIDE_A, .err = err};
        t.g = session_graph(s, t.side);
        for (int i = 0; i < 3 && attention; i++) {
            const char *path = teller_site(&t, PROBES[i]);
            NodeId n = session_node(s, t.side, path);
            attention = n != NO_NODE && session_cell_there(s, t.side, n) && teller_value(&t, path, &x[side][i]);
        }
    }
    if (!attention || memcmp(x[0], x[1], sizeof x[0]) == 0)
        return;
    static const char *const WORDS[] = {"\nFrom A to B the variance of the scores goes from ",
                                        ", the entropy of the weights from ", ", the largest weight from "};
    for (int i = 0; i < 3; i++) {
        buf_puts(out, WORDS[i]);
        ask_put_short(out, x[0][i]);
        buf_puts(out, " to ");
        ask_put_short(out, x[1][i]);
    }
    buf_putc(out, '.');
}

bool ask_say(Session *s, Side side, Buf *out, Err *err)
{
    if (side != SIDE_DIFF || !session_compares(s))
        return say_side(s, ask_side(side), out, err);
    Buf a = {0}, b = {0};
    bool in_a = session_node(s, SIDE_A, s->place.path) != NO_NODE;
    bool ok = (!in_a || say_side(s, SIDE_A, &a, err)) && say_side(s, SIDE_B, &b, err);
    if (ok) {
        if (!in_a || a.len) /* what is about both is said once */
            buf_printf(out, "A: %s\nB: ", in_a ? buf_str(&a) : "has no such node.");
        buf_puts(out, buf_str(&b));
        say_change(s, out, err);
    }
    buf_free(&a);
    buf_free(&b);
    return ok;
}

/* --- `say screen` --- */

const Axis *teller_last_axis(const Teller *t)
{
    Dims d = graph_node(t->g, t->n)->dims;
    return d.n ? &t->g->axes[d.axis[d.n - 1]] : NULL;
}

/* "Step 8 of 25, softmax. … / Screen row: …" */
static void put_where(const Session *s, Buf *out)
{
    int total, step = session_step_number(s, &total);
    const ScreenSpec *screen = screen_now(s);
    const Input *in = session_input(s, SIDE_B);
    buf_printf(out, "%s%s%s.", session_input_words(s, SIDE_B)->said, *in->name ? " " : "", in->name);
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

size_t largest_first(const float *x, size_t count, size_t *index, size_t most)
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

static void put_list(const Teller *t, const float *x, const size_t *index, size_t n)
{
    const Axis *a = teller_last_axis(t);
    char label[64];
    for (size_t i = 0; i < n; i++) {
        buf_printf(t->out, "%s%s ", i ? ", " : "", axis_label(a, (int)index[i], label, sizeof label));
        ask_put_short(t->out, x[index[i]]);
    }
    buf_puts(t->out, ".\n");
}

void teller_put_row(const Teller *t, const char *what)
{
    size_t count, index[ROW_WHOLE > TOP_WEIGHTS ? ROW_WHOLE : TOP_WEIGHTS];
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    if (!teller_last_axis(t))
        return;
    size_t n = count;
    if (count <= ROW_WHOLE) {
        for (size_t i = 0; i < count; i++)
            index[i] = i;
        buf_printf(t->out, "%s along %s: ", what, teller_last_axis(t)->sym);
    } else {
        n = largest_first(row, count, index, TOP_WEIGHTS);
        buf_printf(t->out, "%s along %s, the %zu largest of %zu: ", what, teller_last_axis(t)->sym, n, count);
    }
    put_list(t, row, index, n);
}

void teller_put_patches(const Teller *t, const float *x, int rows, int cols)
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
    return teller_at(s, side, s->place.path, out, err, &t) && (!screen_now(s)->tell || screen_now(s)->tell(&t));
}

bool ask_say_screen(Session *s, Buf *out, Err *err)
{
    bool compares = session_compares(s) && s->compare != COMPARE_OFF;
    Side side = ask_side(session_side(s));
    Teller t;
    put_where(s, out);
    if (!teller_at(s, side, s->place.path, out, err, &t))
        return false;
    put_focus(&t);
    for (int i = 0; i < s->edits.count; i++)
        buf_printf(out, "%s%s%s", i ? "; " : "Changed: ", s->edits.line[i], i + 1 == s->edits.count ? ".\n" : "");
    if (compares) {
        const Input *a = session_input(s, SIDE_A), *b = session_input(s, SIDE_B);
        const char *first = a->name, *then = b->name;
        const bool other = session_pinned(s) && *then && strcmp(input_whole(a), input_whole(b)) != 0;
        buf_printf(out, "Compared: A is %s, B is %s%s.\n",
                   !session_pinned(s) ? "as trained"
                   : *first           ? first
                                      : "what was there at first",
                   other ? then : "as changed", other && s->edits.count ? ", as changed" : "");
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
