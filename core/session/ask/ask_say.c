/* `say`: which sentence fits where the reader stands. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/session/address.h"
#include "core/session/ask/say.h"
#include "core/session/screens.h"

/* Who says it: the row itself, or the screen that is on (ScreenSpec), where that has something to say. */
typedef enum Sayer { BY_NODE, BY_SCREEN, BY_SCREEN_PATTERN, BY_SCREEN_SCORES } Sayer;

/* The first row that fits the node and has a sentence is taken. */
static const struct {
    Sayer by;
    const char *path;
    SayFn *say;
} SAYINGS[] = {
    {BY_NODE, "grad.**", say_gradient},
    {BY_SCREEN, "**", NULL},
    {BY_SCREEN_PATTERN, "blocks.*.attn.pattern", NULL},
    {BY_SCREEN_SCORES, "blocks.*.attn.scores_*", NULL},
    {BY_NODE, "blocks.*.attn.pattern", say_weight},
    {BY_NODE, "blocks.*.attn.scores_*", say_score},
    {BY_NODE, "blocks.*.attn.q", say_head_vector},
    {BY_NODE, "blocks.*.attn.k", say_head_vector},
    {BY_NODE, "blocks.*.attn.v", say_head_vector},
    {BY_NODE, "blocks.*.attn.z", say_head_vector},
    {BY_NODE, "blocks.*.resid_mid", say_residual},
    {BY_NODE, "blocks.*.resid_post", say_residual},
    {BY_NODE, "blocks.*.mlp.post", say_hidden},
    {BY_NODE, "blocks.*.mlp.pre", say_hidden},
    {BY_NODE, "blocks.*.resid_pre", say_token},
    {BY_NODE, "blocks.*.attn.out", say_token},
    {BY_NODE, "blocks.*.mlp.out", say_token},
    {BY_NODE, "blocks.*.ln*.out", say_token},
    {BY_NODE, "full_embed", say_token},
    {BY_NODE, "patch_embed", say_token},
    {BY_NODE, "ln_final.out", say_token},
    {BY_NODE, "logits", say_answer},
    {BY_NODE, "probs", say_answer},
    {BY_NODE, "pixels*", say_pixel},
    {BY_NODE, "image", say_pixel},
    {BY_NODE, "pos.probe.cosine*", say_positions},
    {BY_NODE, "**", say_anything},
};

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

const char *teller_attn(const Teller *t, const char *name, char out[SESSION_PATH])
{
    int block = session_block(t->s);
    snprintf(out, SESSION_PATH, "blocks.%d.attn.%s", block < 0 ? 0 : block, name);
    return out;
}

int teller_index(const Teller *t, const char *sym)
{
    int axis = session_axis(t->g, sym);
    return axis < 0 ? 0 : t->s->place.at[axis];
}

int teller_length(const Teller *t, const char *sym)
{
    int axis = session_axis(t->g, sym);
    return axis < 0 ? 1 : t->g->axes[axis].n;
}

const char *teller_label(const Teller *t, const char *sym, int index, char out[64])
{
    int axis = session_axis(t->g, sym);
    out[0] = 0;
    return axis < 0 ? out : axis_label(&t->g->axes[axis], index, out, 64);
}

void teller_put_token(const Teller *t, const char *sym)
{
    char label[64];
    int axis = session_axis(t->g, sym), row, col, i = teller_index(t, sym);
    bool patch = axis >= 0 && axis_patch(&t->g->axes[axis], i, &row, &col);
    buf_printf(t->out, "%s %s", patch ? "patch" : "token", teller_label(t, sym, i, label));
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

size_t place_of(const float *x, size_t n, size_t i)
{
    size_t place = 1;
    for (size_t k = 0; k < n; k++)
        place += x[k] > x[i];
    return place;
}

double length_of_vector(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return dm_sqrt(sum);
}

static bool say_side(Session *s, Side side, Buf *out, Err *err)
{
    Teller t = {.s = s, .side = side, .g = session_graph(s, side), .out = out, .err = err};
    t.x = teller_values(&t, s->place.path, &t.n);
    if (!t.x)
        return false;
    t.cell = session_cell(s, side, t.n);
    const ScreenSpec *screen = screen_now(s);
    SayFn *const of_screen[] = {
        [BY_SCREEN] = screen->say, [BY_SCREEN_PATTERN] = screen->say_pattern, [BY_SCREEN_SCORES] = screen->say_scores};
    for (size_t i = 0; i < sizeof SAYINGS / sizeof *SAYINGS; i++) {
        SayFn *say_it = SAYINGS[i].by == BY_NODE ? SAYINGS[i].say : of_screen[SAYINGS[i].by];
        if (say_it && address_match(SAYINGS[i].path, s->place.path))
            return say_it(&t);
    }
    UNREACHABLE("a node that nothing can be said about");
}

/* What became of the row of attention in focus: the three figures that stand under both sides. */
static void say_change(Session *s, Buf *out, Err *err)
{
    static const char *const PROBES[] = {"probe.score_variance", "probe.entropy", "probe.largest"};
    bool attention = screen_now(s)->group == GROUP_ATTENTION;
    float x[2][3] = {{0}};
    for (int side = 0; side < 2 && attention; side++) {
        Teller t = {.s = s, .side = side ? SIDE_B : SIDE_A, .err = err};
        t.g = session_graph(s, t.side);
        for (int i = 0; i < 3 && attention; i++) {
            char path[SESSION_PATH];
            teller_attn(&t, PROBES[i], path);
            attention = session_node(s, t.side, path) != NO_NODE && teller_value(&t, path, &x[side][i]);
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
        buf_printf(out, "A: %s\nB: %s", in_a ? buf_str(&a) : "has no such node.", buf_str(&b));
        say_change(s, out, err);
    }
    buf_free(&a);
    buf_free(&b);
    return ok;
}
