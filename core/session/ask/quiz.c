#include "core/session/ask/quiz.h"

#include <stdio.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/base/utf8.h"

/* Where the pattern of a block lies: its values as [h,t,u]. */
typedef struct Attention {
    const float *x;
    const Axis *t, *u;
    size_t heads, tokens, keys;
} Attention;

static bool attention(Session *s, int block, Attention *a, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    const char *path = session_attention_site(s, g, block, SITE_PATTERN);
    NodeId n = session_node(s, SIDE_B, path);
    if (n == NO_NODE)
        return err_set(err, "this model has no attention to ask about");
    Dims d = graph_node(g, n)->dims;
    if (d.n != 3 || g->axes[d.axis[0]].role != ROLE_HEAD || g->axes[d.axis[0]].n < 2 ||
        g->axes[d.axis[0]].n > QUIZ_ANSWERS)
        return err_set(err, "questions are made for attention with 2 to %d heads", QUIZ_ANSWERS);
    a->x = session_need(s, SIDE_B, path, err);
    a->t = &g->axes[d.axis[1]];
    a->u = &g->axes[d.axis[2]];
    a->heads = (size_t)g->axes[d.axis[0]].n;
    a->tokens = (size_t)a->t->n;
    a->keys = (size_t)a->u->n;
    return a->x != NULL;
}

static size_t largest(const float *row, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = row[i] > row[best] ? i : best;
    return best;
}

/* Which head gives the largest single weight? */
static void ask_heads(const Attention *a, int block, size_t t, Quiz *q)
{
    char label[32];
    float most = -1;
    utf8_print(q->text, sizeof q->text, "Block %d, %s asks: which head gives the largest single weight?", block,
               axis_label(a->t, (int)t, label, sizeof label));
    q->count = (int)a->heads;
    for (size_t h = 0; h < a->heads; h++) {
        const float *row = a->x + (h * a->tokens + t) * a->keys;
        float w = row[largest(row, a->keys)];
        snprintf(q->answer[h], sizeof q->answer[h], "head %zu", h);
        if (w > most) {
            most = w;
            q->right = (int)h;
        }
    }
}

/* Which of the four most looked at gets the most? In the order of the tokens. */
static void ask_tokens(const Attention *a, int block, size_t h, size_t t, Quiz *q)
{
    enum { OFFERED = 4 };
    char label[32];
    const float *row = a->x + (h * a->tokens + t) * a->keys;
    bool taken[4096] = {false};
    size_t best = largest(row, a->keys);
    utf8_print(q->text, sizeof q->text, "Block %d, head %zu, %s asks: which of these gets the most weight?", block, h,
               axis_label(a->t, (int)t, label, sizeof label));
    for (int k = 0; k < OFFERED && k < (int)a->keys; k++) {
        size_t next = a->keys;
        for (size_t u = 0; u < a->keys; u++)
            if (!taken[u] && (next == a->keys || row[u] > row[next]))
                next = u;
        taken[next] = true;
    }
    for (size_t u = 0; u < a->keys; u++)
        if (taken[u]) {
            q->right = u == best ? q->count : q->right;
            utf8_print(q->answer[q->count++], QUIZ_ANSWER, "%s", axis_label(a->u, (int)u, label, sizeof label));
        }
}

bool quiz_make(Session *s, uint32_t seed, Quiz *out, Err *err)
{
    Rng r = rng_seed(seed, 14);
    Attention a = {0};
    int blocks = session_blocks(s), block = blocks > 0 ? (int)rng_below(&r, (uint32_t)blocks) : 0;
    if (!attention(s, block, &a, err))
        return false;
    *out = (Quiz){.right = 0};
    size_t t = rng_below(&r, (uint32_t)a.tokens), h = rng_below(&r, (uint32_t)a.heads);
    if (rng_below(&r, 2) || a.keys > 4096)
        ask_heads(&a, block, t, out);
    else
        ask_tokens(&a, block, h, t, out);
    return true;
}
