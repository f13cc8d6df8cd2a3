/* `say`: which sentence fits where the reader stands. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/session/address.h"
#include "core/session/ask/say.h"

enum { ANY_SCREEN = -1 };

/* The first row that fits the screen and the node is taken. */
static const struct {
    int screen;
    const char *path;
    SayFn *say;
} SAYINGS[] = {
    {ANY_SCREEN, "grad.**", say_gradient},
    {SCREEN_TRAINING, "**", say_training},
    {SCREEN_FILTERS, "**", say_filters},
    {SCREEN_HEADS, "**", say_heads},
    {SCREEN_SCALE, "**", say_scale},
    {SCREEN_CENSUS, "**", say_census},
    {SCREEN_PICTURE, "**", say_picture},
    {SCREEN_ANSWER, "**", say_answer},
    {SCREEN_POSITIONS, "**", say_positions},
    {SCREEN_WHERE, "**", say_where},
    {SCREEN_LENS, "**", say_lens},
    {SCREEN_BLANKS, "**", say_blanks},
    {SCREEN_SHEET, "**", say_sheet},
    {SCREEN_MATRIX, "blocks.*.attn.pattern", say_matrix},
    {SCREEN_ROW, "blocks.*.attn.pattern", say_row},
    {SCREEN_MATRIX, "blocks.*.attn.scores_*", say_score_row},
    {SCREEN_ROW, "blocks.*.attn.scores_*", say_score_row},
    {ANY_SCREEN, "blocks.*.attn.pattern", say_weight},
    {ANY_SCREEN, "blocks.*.attn.scores_*", say_score},
    {ANY_SCREEN, "blocks.*.attn.q", say_head_vector},
    {ANY_SCREEN, "blocks.*.attn.k", say_head_vector},
    {ANY_SCREEN, "blocks.*.attn.v", say_head_vector},
    {ANY_SCREEN, "blocks.*.attn.z", say_head_vector},
    {ANY_SCREEN, "blocks.*.resid_mid", say_residual},
    {ANY_SCREEN, "blocks.*.resid_post", say_residual},
    {ANY_SCREEN, "blocks.*.mlp.post", say_hidden},
    {ANY_SCREEN, "blocks.*.mlp.pre", say_hidden},
    {ANY_SCREEN, "blocks.*.resid_pre", say_token},
    {ANY_SCREEN, "blocks.*.attn.out", say_token},
    {ANY_SCREEN, "blocks.*.mlp.out", say_token},
    {ANY_SCREEN, "blocks.*.ln*.out", say_token},
    {ANY_SCREEN, "full_embed", say_token},
    {ANY_SCREEN, "patch_embed", say_token},
    {ANY_SCREEN, "ln_final.out", say_token},
    {ANY_SCREEN, "logits", say_answer},
    {ANY_SCREEN, "probs", say_answer},
    {ANY_SCREEN, "pixels*", say_pixel},
    {ANY_SCREEN, "image", say_pixel},
    {ANY_SCREEN, "pos.probe.cosine*", say_positions},
    {ANY_SCREEN, "**", say_anything},
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
    for (size_t i = 0; i < sizeof SAYINGS / sizeof *SAYINGS; i++)
        if ((SAYINGS[i].screen == ANY_SCREEN || SAYINGS[i].screen == (int)s->place.screen) &&
            address_match(SAYINGS[i].path, s->place.path))
            return SAYINGS[i].say(&t);
    UNREACHABLE("a node that nothing can be said about");
}

/* What became of the row of attention in focus: the three figures that stand under both sides. */
static void say_change(Session *s, Buf *out, Err *err)
{
    static const char *const PROBES[] = {"probe.score_variance", "probe.entropy", "probe.largest"};
    bool attention = s->place.screen == SCREEN_SHEET || s->place.screen == SCREEN_MATRIX ||
                     s->place.screen == SCREEN_ROW;
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
