/* What `vitrine evaluate` found about a decoder on texts: how surprising they are, and what each part is worth. */
#include <math.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/io/json.h"
#include "core/models/text_model.h"
#include "tui/cli/evaluate.h"

enum { ACROSS = 5, LABEL = 12, CELL = 13 };
enum { OF_SCALE, OF_BLOCKS }; /* in the order of surprise_parts; of a block then: */
enum { OF_ATTENTION, OF_MLP, OF_HEADS };

static int part(int heads, int block, int which)
{
    return OF_BLOCKS + block * (heads + OF_HEADS) + which;
}

/* "+0.031±0.004", of one window "+0.031"; a dash where the model has no such part or the logits are no numbers. */
static void put_more(Buf *page, MeanOver m, bool one)
{
    char text[48];
    if (isnan(m.mean))
        utf8_print(text, sizeof text, "-");
    else if (one)
        utf8_print(text, sizeof text, "%+.3f", m.mean);
    else
        utf8_print(text, sizeof text,
                   fabs(m.mean) < 99.9995 ? "%+.3f±%.3f"
                   : fabs(m.mean) < 1e5   ? "%+.0f±%.0f"
                                          : "%+.1e±%.0e",
                   m.mean, m.margin);
    buf_printf(page, "%*s%s", CELL - utf8_cells(text) > 1 ? CELL - utf8_cells(text) : 1, "", text);
}

void surprise_page(const Surprise *e, const Model *m, const char *over, Buf *page)
{
    int blocks, heads;
    surprise_parts(m, &blocks, &heads, NULL);
    const MeanOver trained = surprise_trained(e);
    const bool one = surprise_windows(e) == 1;
    buf_printf(page, "%s: tokens asked for: %zu, in ", over, surprise_tokens(e));
    if (one)
        buf_puts(page, "one window, too few for an interval");
    else
        buf_printf(page, "%zu windows; ± 95 %% interval over windows", surprise_windows(e));
    buf_puts(page, "\nsurprise, −log p of the next token: ");
    words_put_rate(trained.mean, one ? (double)NAN : trained.margin, surprise_bytes(e), page);
    buf_putc(page, '\n');
    buf_puts(page, "\nNats more without the scale 1/√d_k");
    put_more(page, surprise_difference(e, OF_SCALE), one);
    buf_printf(page, "\n\nNats more without one sub-layer\n%*s%*s%*s\n", LABEL, "", CELL, "attention", CELL, "MLP");
    for (int b = 0; b < blocks; b++) {
        buf_printf(page, "  block %-*d", LABEL - 8, b);
        put_more(page, surprise_difference(e, part(heads, b, OF_ATTENTION)), one);
        put_more(page, surprise_difference(e, part(heads, b, OF_MLP)), one);
        buf_putc(page, '\n');
    }
    buf_puts(page, "\nNats more without one head (its z is 0)\n");
    for (int first = 0; first < heads; first += ACROSS) {
        const int end = first + ACROSS < heads ? first + ACROSS : heads;
        buf_printf(page, "%*s", LABEL, "");
        for (int h = first; h < end; h++)
            buf_printf(page, "%*s%-3d", CELL - 3, "h", h);
        buf_putc(page, '\n');
        for (int b = 0; b < blocks; b++) {
            buf_printf(page, "  block %-*d", LABEL - 8, b);
            for (int h = first; h < end; h++)
                put_more(page, surprise_difference(e, part(heads, b, OF_HEADS + h)), one);
            buf_putc(page, '\n');
        }
    }
    buf_putc(page, '\n');
}

static void put_number(Buf *out, const char *key, double x)
{
    json_put(out, key, isfinite(x) ? "%.9g" : "null", x);
}

/* [mean, half of its interval, null of one window]: nats more. */
static void put_pair(Buf *out, const char *key, MeanOver m, bool one)
{
    json_open(out, key, '[');
    put_number(out, NULL, m.mean);
    put_number(out, NULL, one ? (double)NAN : m.margin);
    buf_putc(out, ']');
}

void surprise_json(const Surprise *e, const Model *m, const char *over, Buf *out)
{
    static const char *const KEY[] = {"more_without_attention", "more_without_mlp"};
    const bool one = surprise_windows(e) == 1;
    const MeanOver trained = surprise_trained(e);
    const double bytes = surprise_bytes(e);
    int blocks, heads;
    surprise_parts(m, &blocks, &heads, NULL);
    json_line(out);
    json_open(out, "surprise", '{');
    json_put_text(out, "over", over);
    json_put_text(out, "unit", "nats");
    json_put(out, "windows", "%zu", surprise_windows(e));
    json_put(out, "tokens", "%zu", surprise_tokens(e));
    put_number(out, "perplexity", dm_exp(trained.mean));
    put_number(out, "bits_a_byte", bytes > 0 ? trained.mean / bytes / dm_log(2) : (double)NAN);
    put_pair(out, "trained", trained, one);
    put_pair(out, "more_without_scale", surprise_difference(e, OF_SCALE), one);
    for (int which = OF_ATTENTION; which < OF_HEADS; which++) {
        json_open(out, KEY[which], '[');
        for (int b = 0; b < blocks; b++)
            put_pair(out, NULL, surprise_difference(e, part(heads, b, which)), one);
        buf_putc(out, ']');
    }
    json_open(out, "more_without_head", '[');
    for (int b = 0; b < blocks; b++) {
        json_open(out, NULL, '[');
        for (int h = 0; h < heads; h++)
            put_pair(out, NULL, surprise_difference(e, part(heads, b, OF_HEADS + h)), one);
        buf_putc(out, ']');
    }
    buf_puts(out, "]}");
}

void surprise_print(const Surprise *e, const Model *m, const char *over, const char *name, const char *why, bool json,
                    Buf *out)
{
    if (!json) {
        surprise_page(e, m, over, out);
        buf_printf(out, "What kinds of heads it has is left out: %s\n", why);
        return;
    }
    json_open(out, NULL, '{');
    json_put_text(out, "model", name);
    surprise_json(e, m, over, out);
    json_put_text(out, "left_out", why);
    buf_puts(out, "}\n");
}
