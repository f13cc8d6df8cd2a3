/* Tensors as text: CSV and JSON. Nine digits bring every float32 back exactly. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/io/tensor_parts.h"

enum { FLUSH = 1 << 16 };

/* %.9g with a point whatever LC_NUMERIC says; non-finite values by the three names given. */
static void put_number(Buf *b, float x, const char *const names[3])
{
    if (!isfinite(x)) {
        buf_puts(b, isnan(x) ? names[0] : names[x < 0 ? 2 : 1]);
        return;
    }
    size_t before = b->len;
    buf_printf(b, "%.9g", (double)x);
    const char *point = localeconv()->decimal_point;
    char *found = strcmp(point, ".") == 0 || !*point ? NULL : strstr(b->data + before, point);
    if (found) {
        size_t n = strlen(point);
        *found = '.';
        memmove(found + 1, found + n, strlen(found + n) + 1);
        b->len -= n - 1;
    }
}

static bool flush(Sink *s, Buf *b, size_t from, Err *err)
{
    if (b->len < from)
        return true;
    bool ok = sink_bytes(s, b->data, b->len, err);
    buf_clear(b);
    return ok;
}

bool csv_write(Sink *s, const TensorOut *t, Err *err)
{
    static const char *const names[3] = {"nan", "inf", "-inf"};
    Buf b = {0};
    const float *x = sink_values(s, t, err);
    size_t width = t->rank ? t->shape[t->rank - 1] : 1, cells = tensor_cells(t);
    bool ok = x != NULL;
    for (size_t i = 0; i < width; i++)
        buf_printf(&b, "%s%zu", i ? "," : "", i);
    buf_putc(&b, '\n');
    for (size_t i = 0; ok && i < cells; i++) {
        put_number(&b, x[i], names);
        buf_putc(&b, (i + 1) % width ? ',' : '\n');
        ok = flush(s, &b, FLUSH, err);
    }
    ok = ok && flush(s, &b, 1, err);
    buf_free(&b);
    return ok;
}

static void put_head(Buf *b, const TensorOut *t)
{
    buf_puts(b, "{\"name\":");
    buf_json(b, t->name);
    buf_puts(b, ",\"shape\":[");
    for (int i = 0; i < t->rank; i++)
        buf_printf(b, "%s%zu", i ? "," : "", t->shape[i]);
    buf_puts(b, "],\"axes\":");
    if (t->axes)
        buf_json(b, t->axes);
    else
        buf_puts(b, "null");
    buf_puts(b, ",\"data\":[");
}

bool json_write(Sink *s, const TensorOut *tensors, size_t count, const char *const *metadata, Err *err)
{
    static const char *const names[3] = {"\"NaN\"", "\"Infinity\"", "\"-Infinity\""};
    Buf b = {0};
    bool ok = true;
    buf_puts(&b, "{\"metadata\":{");
    for (const char *const *m = metadata; m && *m; m += 2) {
        buf_puts(&b, m == metadata ? "" : ",");
        buf_json(&b, m[0]);
        buf_putc(&b, ':');
        buf_json(&b, m[1]);
    }
    buf_puts(&b, "},\"tensors\":[");
    for (size_t i = 0; ok && i < count; i++) {
        buf_puts(&b, i ? ",\n" : "\n");
        put_head(&b, &tensors[i]);
        const float *x = sink_values(s, &tensors[i], err);
        ok = x != NULL;
        for (size_t k = 0, n = tensor_cells(&tensors[i]); ok && k < n; k++) {
            if (k)
                buf_putc(&b, ',');
            put_number(&b, x[k], names);
            ok = flush(s, &b, FLUSH, err);
        }
        buf_puts(&b, "]}");
    }
    buf_puts(&b, "\n]}\n");
    ok = ok && flush(s, &b, 1, err);
    buf_free(&b);
    return ok;
}
