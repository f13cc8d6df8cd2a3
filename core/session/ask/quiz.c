#include "core/session/ask/quiz.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/base/utf8.h"
#include "core/session/ask/number.h"
#include "core/session/command.h"

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
    *out = (Quiz){.seed = seed};
    size_t t = rng_below(&r, (uint32_t)a.tokens), h = rng_below(&r, (uint32_t)a.heads);
    if (rng_below(&r, 2) || a.keys > 4096)
        ask_heads(&a, block, t, out);
    else
        ask_tokens(&a, block, h, t, out);
    return true;
}

/* --- asked on the spot --- */

static uint32_t mix(uint32_t hash, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

uint32_t quiz_seed(const char *text, const char *const *answer, int count)
{
    uint32_t hash = mix(mix(2166136261u, text, strlen(text)), "\xff", 1);
    for (int i = 0; i < count; i++)
        hash = mix(mix(hash, answer[i], strlen(answer[i])), "\xff", 1);
    return hash | (QUIZ_MADE + 1u);
}

bool quiz_ask(Quiz *q, const char *text, const char *const *answer, int count, const char *key, Err *err)
{
    Quiz new = {.right = -1, .count = count};
    if (count < 2 || count > QUIZ_ANSWERS)
        return err_set(err, "a question has 2 to %d answers: %s", QUIZ_ANSWERS, QUIZ_EXAMPLE);
    if (!*text || strlen(text) >= QUIZ_TEXT)
        return err_set(err, "a question has 1 to %d characters", QUIZ_TEXT - 1);
    utf8_clean(new.text, sizeof new.text, text);
    for (int i = 0; i < count; i++) {
        if (!*answer[i] || strlen(answer[i]) >= QUIZ_ANSWER)
            return err_set(err, "answer %d: 1 to %d characters", i + 1, QUIZ_ANSWER - 1);
        utf8_clean(new.answer[i], sizeof new.answer[i], answer[i]);
    }
    if (snprintf(new.key, sizeof new.key, "%s", key) >= (int)sizeof new.key)
        return err_set(err, "an expression has at most %d characters", QUIZ_TEXT - 1);
    new.seed = quiz_seed(text, answer, count);
    *q = new;
    return true;
}

/* Is every answer a digit, and none twice? */
static bool names_itself(const Quiz *q)
{
    unsigned seen = 0;
    for (int i = 0; i < q->count; i++) {
        const char *a = q->answer[i];
        if (*a < '0' || *a > '9' || a[1] || (seen & 1u << (*a - '0')))
            return false;
        seen |= 1u << (*a - '0');
    }
    return true;
}

int quiz_choice(const Quiz *q, int digit)
{
    bool named = names_itself(q);
    for (int i = 0; i < q->count; i++)
        if (digit == (named ? q->answer[i][0] - '0' : i + 1))
            return i;
    return -1;
}

const char *quiz_name(const Quiz *q, int i, char out[QUIZ_ANSWER + 16])
{
    if (names_itself(q))
        snprintf(out, QUIZ_ANSWER + 16, "%s", q->answer[i]);
    else
        snprintf(out, QUIZ_ANSWER + 16, "%d. %s", i + 1, q->answer[i]);
    return out;
}

/* --- settling --- */

typedef enum SettleBy { SETTLE_RIGHT, SETTLE_MOST, SETTLE_LEAST, SETTLE_NOT } SettleBy;

/* Which of them the word is; *expression: what stands behind its =. */
static SettleBy settle_by(const char *word, const char **expression)
{
    static const char *const WORDS[] = {[SETTLE_RIGHT] = "right=", [SETTLE_MOST] = "most=", [SETTLE_LEAST] = "least="};
    for (int i = 0; i < SETTLE_NOT; i++) {
        *expression = word + strlen(WORDS[i]);
        if (strncmp(word, WORDS[i], strlen(WORDS[i])) == 0)
            return (SettleBy)i;
    }
    return SETTLE_NOT;
}

bool quiz_is_key(const char *word)
{
    return settle_by(word, &(const char *){NULL}) != SETTLE_NOT;
}

/* Of what is on show; where that is a worked example that has no such thing, of the model behind it, as trained. */
static bool valued(Session *s, const char *expression, double *x, Err *err)
{
    Err behind;
    if (number_value(s, session_side(s), expression, x, err))
        return true;
    for (int i = 0; !s->now->model && i < s->exhibit_count; i++)
        if (s->exhibits[i]->model == &s->model)
            return number_value(s, session_run_number(s->exhibits[i], false), expression, x, &behind);
    return false;
}

static bool settle_digit(Quiz *q, Session *s, const char *expression, Err *err)
{
    double x;
    if (!valued(s, expression, &x, err)) {
        err_prefix(err, "right= wants the digit in front of the right answer, or an expression that comes to it");
        return false;
    }
    if (!(x >= 0 && x <= 9) || (double)(int)x != x)
        return err_set(err, "right=%.120s is %g: it has to come to the digit in front of an answer", expression, x);
    int right = quiz_choice(q, (int)x);
    if (right < 0)
        return err_set(err, "right= is no digit in front of an answer: %.100s", expression);
    q->right = right;
    q->valued = false;
    return true;
}

/* The value of the expression with $ for that answer. */
static bool value_of(Session *s, const char *expression, const char *answer, double *x, Err *err)
{
    Buf text = {0};
    for (const char *p = expression; *p; p++)
        if (*p == '$')
            buf_puts(&text, answer);
        else
            buf_putc(&text, *p);
    bool ok = valued(s, buf_str(&text), x, err);
    buf_free(&text);
    if (ok && *x != *x)
        ok = err_set(err, "the expression has no value for the answer %.60s", answer);
    return ok;
}

bool quiz_settle(Quiz *q, Session *s, Err *err)
{
    double x[QUIZ_ANSWERS];
    const char *expression;
    int best = 0, equals = 0;
    SettleBy by = settle_by(q->key, &expression);
    if (by == SETTLE_NOT)
        return true;
    if (by == SETTLE_RIGHT)
        return settle_digit(q, s, expression, err);
    if (!strchr(expression, '$'))
        return err_set(err, "an expression with most= or least= has a $ in it, which stands for the answer");
    for (int i = 0; i < q->count; i++) {
        if (!value_of(s, expression, q->answer[i], &x[i], err))
            return false;
        if (i && x[i] == x[best])
            equals++;
        else if (i && (by == SETTLE_MOST ? x[i] > x[best] : x[i] < x[best])) {
            best = i;
            equals = 0;
        }
    }
    memcpy(q->value, x, (size_t)q->count * sizeof *x);
    q->valued = true;
    q->right = equals ? -1 : best;
    return true;
}

bool quiz_words(Quiz *q, Session *s, const Args *words, Err *err)
{
    char key[COMMAND_LINE] = "";
    const char *number = words->count ? NULL : args_named(words, "seed");
    int seed;
    bool relative;
    if (number && (!args_number(number, &seed, &relative) || relative || seed < 1))
        return err_set(err, "seed=N, a number from 1 to 100000");
    if (number)
        return quiz_make(s, (uint32_t)seed, q, err);
    for (int i = 0; i < words->named_count && !quiz_is_key(key); i++)
        snprintf(key, sizeof key, "%s=%s", words->named[i].name, words->named[i].value);
    if (!quiz_ask(q, words->word[0], words->word + 1, words->count - 1, key, err))
        return false;
    Quiz tried = *q;
    return quiz_settle(&tried, s, err);
}

/* --- receipts --- */

static unsigned check_of(const char *text, size_t n)
{
    uint32_t hash = mix(2166136261u, text, n);
    return (hash ^ hash >> 16) & 0xffff;
}

void receipt_put(const Receipt *r, char out[RECEIPT_TEXT])
{
    int n = snprintf(out, RECEIPT_TEXT, "v1-%08x-%d-%016llx-", r->seed, r->answer, (unsigned long long)r->hash);
    snprintf(out + n, RECEIPT_TEXT - (size_t)n, "%04x", check_of(out, (size_t)n));
}

/* So many hexadecimal digits at *p, and what must stand behind them. */
static bool digits(const char **p, int n, char behind, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < n; i++, ++*p) {
        if (!isxdigit((unsigned char)**p))
            return false;
        *value = *value << 4 | (uint64_t)(**p <= '9' ? **p - '0' : **p - 'a' + 10);
    }
    return *(*p)++ == behind;
}

bool receipt_read(Receipt *r, const char *text, Err *err)
{
    char low[RECEIPT_TEXT];
    uint64_t seed, answer, hash, check;
    size_t n = strlen(text);
    if (n >= sizeof low)
        return err_set(err, "a receipt has 35 characters, this has %zu", n);
    for (size_t i = 0; i <= n; i++)
        low[i] = (char)tolower((unsigned char)text[i]);
    const char *p = low + 3;
    if (strncmp(low, "v1-", 3) != 0 || !digits(&p, 8, '-', &seed) || !digits(&p, 1, '-', &answer) ||
        !digits(&p, 16, '-', &hash) || !digits(&p, 4, '\0', &check))
        return err_set(err, "'%.63s' is no receipt: v1-, 8 digits, the answer, 16 digits and 4, with - between them",
                       text);
    if (check != check_of(low, n - 4))
        return err_set(err, "the receipt has a typing error: its last four digits do not fit the others");
    *r = (Receipt){(uint32_t)seed, (int)answer, hash};
    return true;
}
