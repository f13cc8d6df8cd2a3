/* Rows: each writes its line of the page and its member of the JSON. */
#include "tui/cli/rows.h"

#include <math.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/utf8.h"

enum { TALLY_LABEL = 50 };

static void put_number(Buf *out, double x)
{
    if (isfinite(x))
        buf_printf(out, "%.9g", x);
    else
        buf_puts(out, "null");
}

static void put_key(Rows *r, const char *key, const char *suffix)
{
    buf_printf(&r->json, "\"%s%s\"%s", key, suffix, r->tight ? ":" : ": ");
}

void rows_key(Rows *r, const char *key)
{
    REQUIRE(r->n < ROWS_MOST);
    r->begin[r->n++] = r->json.len;
    put_key(r, key, "");
}

void rows_number(Rows *r, const char *key, double x)
{
    rows_key(r, key);
    put_number(&r->json, x);
}

void rows_text(Rows *r, const char *key, const char *text)
{
    rows_key(r, key);
    if (text)
        buf_json(&r->json, text);
    else
        buf_puts(&r->json, "null");
}

static void put_cells(Buf *out, int rows, int cols, void (*put)(Buf *out, const void *of, int i), const void *of)
{
    if (!of) {
        buf_puts(out, "null");
        return;
    }
    buf_puts(out, rows ? "[" : "");
    for (int i = 0; i < (rows ? rows : 1); i++) {
        buf_puts(out, i ? "," : "");
        buf_puts(out, cols ? "[" : "");
        for (int k = 0; k < (cols ? cols : 1); k++) {
            buf_puts(out, k ? "," : "");
            put(out, of, cols ? i * cols + k : i);
        }
        buf_puts(out, cols ? "]" : "");
    }
    buf_puts(out, rows ? "]" : "");
}

void rows_cells(Rows *r, const char *key, int rows, int cols, void (*put)(Buf *out, const void *of, int i),
                const void *of)
{
    rows_key(r, key);
    put_cells(&r->json, rows, cols, put, of);
}

static void number_at(Buf *out, const void *of, int i)
{
    put_number(out, ((const double *)of)[i]);
}

void rows_numbers(Rows *r, const char *key, const double *x, int rows, int cols)
{
    rows_cells(r, key, rows, cols, number_at, x);
}

static void mean_at(Buf *out, const void *of, int i)
{
    put_number(out, ((const MeanOver *)of)[i].mean);
}

static void margin_at(Buf *out, const void *of, int i)
{
    put_number(out, ((const MeanOver *)of)[i].margin);
}

void rows_means(Rows *r, const char *key, const MeanOver *x, int rows, int cols)
{
    rows_cells(r, key, rows, cols, mean_at, x);
    buf_puts(&r->json, r->tight ? "," : ",\n  ");
    put_key(r, key, "_margin");
    put_cells(&r->json, rows, cols, margin_at, r->one ? NULL : x);
}

void rows_interval(Rows *r, const char *key, const char *suffix, Interval i)
{
    buf_puts(&r->json, ",\n  ");
    put_key(r, key, suffix);
    buf_printf(&r->json, "[%.9g,%.9g]", i.low, i.high);
}

void page_label(Buf *page, const char *text, int cells)
{
    buf_printf(page, "  %s%*s", text, cells > utf8_cells(text) ? cells - utf8_cells(text) : 0, "");
}

void page_share(Buf *page, size_t right, size_t n)
{
    Interval i = interval_wilson(right, n);
    char between[40];
    utf8_print(between, sizeof between, "(%.1f–%.1f)", 100 * i.low, 100 * i.high);
    buf_printf(page, "%6.1f %% %s%*s", n ? 100 * (double)right / (double)n : 0, between, 13 - utf8_cells(between), "");
}

void page_end(Buf *page)
{
    while (page->len && page->data[page->len - 1] == ' ')
        page->data[--page->len] = 0;
    buf_putc(page, '\n');
}

void rows_share(Rows *r, const char *key, const char *label, size_t right, size_t n)
{
    rows_number(r, key, n ? (double)right / (double)n : (double)NAN);
    if (!n)
        return;
    rows_interval(r, key, "_interval", interval_wilson(right, n));
    page_label(&r->page, label, ROWS_LABEL);
    page_share(&r->page, right, n);
}

void rows_tally(Rows *r, const char *key, const char *label, Tally t, const Paired *pair)
{
    Interval i = tally_interval(t);
    rows_key(r, key);
    buf_printf(&r->json, "{\"right\":%zu,\"n\":%zu,\"share\":%.9g,\"low\":%.9g,\"high\":%.9g}", t.right, t.n,
               tally_share(t), i.low, i.high);
    page_label(&r->page, label, TALLY_LABEL);
    buf_printf(&r->page, "%6zu of %-6zu%6.1f %%  (%.1f–%.1f)", t.right, t.n, 100 * tally_share(t), 100 * i.low,
               100 * i.high);
    if (pair) {
        i = paired_interval(*pair);
        buf_printf(&r->json, ",\"%s_lost\":{\"lost\":%zu,\"won\":%zu,\"low\":%.9g,\"high\":%.9g}", key, pair->lost,
                   pair->won, i.low, i.high);
        buf_printf(&r->page, ", %.1f ±%.1f less", 100 * paired_lost(*pair), 100 * paired_margin(*pair));
    }
    page_end(&r->page);
}

/* The number of that key, or −1: there is none. */
static int member(const Rows *r, const char *key, size_t n)
{
    for (int i = 0; i < r->n; i++) {
        const char *at = r->json.data + r->begin[i] + 1;
        if (strncmp(at, key, n) == 0 && at[n] == '"')
            return i;
    }
    return -1;
}

/* Stops the program with the key of a row that the order does not name. */
static void require_all(const Rows *r, const bool *put)
{
    for (int i = 0; i < r->n; i++) {
        char what[80];
        const char *key = r->json.data + r->begin[i] + 1;
        utf8_print(what, sizeof what, "the key '%.*s' in the order", (int)strcspn(key, "\""), key);
        if (!put[i])
            require_failed(what, __FILE__, __LINE__);
    }
}

void rows_print(Rows *r, const char *order, bool json, Buf *out)
{
    bool put[ROWS_MOST] = {false};
    const size_t start = out->len;
    if (!json)
        buf_puts(out, buf_str(&r->page));
    for (const char *key = order; json && *key; key += strspn(key, " ")) {
        size_t n = strcspn(key, " ");
        int i = member(r, key, n);
        if (i >= 0) {
            size_t end = i + 1 < r->n ? r->begin[i + 1] : r->json.len;
            buf_puts(out, out->len > start ? r->tight ? "," : ",\n  " : r->tight ? "{" : "{\n  ");
            buf_add(out, r->json.data + r->begin[i], end - r->begin[i]);
            put[i] = true;
        }
        key += n;
    }
    if (json) {
        require_all(r, put);
        buf_puts(out, r->tight ? "}\n" : "\n}\n");
    }
    buf_free(&r->page);
    buf_free(&r->json);
}
