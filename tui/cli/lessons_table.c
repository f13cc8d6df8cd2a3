/* The table of a worked example as a page has it: the numbers of the screen, their points below each other. */
#include <stdlib.h>
#include <string.h>

#include "tui/cli/verbs.h"
#include "tui/views/shown.h"

enum { ROWS = 16, COLUMNS = 10, DIGITS = 10, NUMBER = 24 };

/* Figures of a number behind where its point is or would be: "1.84" has 2, "12" none and not even a point. */
static size_t tail_of(const char *number)
{
    const char *point = strchr(number, '.');
    return point ? strlen(point) : 0;
}

static void put_number(const char *number, size_t tail, Buf *out)
{
    size_t own = tail_of(number);
    buf_puts(out, "<td>");
    for (const char *p = number; *p; p++)
        buf_printf(out, "%.*s", *p == '-' ? 3 : 1, *p == '-' ? "\xE2\x88\x92" : p);
    for (size_t i = own; i < tail; i++) /* as wide as a point, as a figure */
        buf_puts(out, i == 0 ? "\xE2\x80\x88" : "\xE2\x80\x87");
    buf_puts(out, "</td>");
}

static void put_label(const Graph *g, Dims d, size_t joint, const char *tag, Buf *out)
{
    char label[64];
    Buf text = {0};
    if (d.n) {
        shown_axes(g, d, &text);
        buf_printf(&text, " = %s", shown_label(g, d, joint, label, sizeof label));
    }
    buf_printf(out, "<%s>", tag);
    html_text(out, buf_str(&text));
    buf_puts(out, "</th>");
    buf_free(&text);
}

void html_table(const Session *s, Buf *out)
{
    Shown v;
    if (!shown_open(s, SIDE_B, s->place.path, &v) || !v.values)
        return;
    const Graph *g = v.graph;
    Plane plane = plane_make(g, v.node);
    size_t rows = plane.row_count < ROWS ? plane.row_count : ROWS,
           columns = plane.col_count < COLUMNS ? plane.col_count : COLUMNS, tail[COLUMNS] = {0};
    char(*number)[COLUMNS][NUMBER] = xmalloc(ROWS * sizeof *number);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            number_text(number[i][j], NUMBER, v.values[plane_cell(g, v.node, &plane, v.at, i, j)], DIGITS);
            tail[j] = tail_of(number[i][j]) > tail[j] ? tail_of(number[i][j]) : tail[j];
        }
    Buf formula = {0};
    graph_formula(g, v.node, &formula);
    buf_puts(out, "<table><caption>");
    html_text(out, buf_str(&formula));
    if (rows < plane.row_count || columns < plane.col_count)
        buf_printf(out, ": %zu of %zu rows, %zu of %zu columns", rows, plane.row_count, columns, plane.col_count);
    buf_puts(out, "</caption>\n<tr><th></th>");
    for (size_t j = 0; j < columns; j++)
        put_label(g, plane.cols, j, "th scope=\"col\"", out);
    buf_puts(out, "</tr>\n");
    for (size_t i = 0; i < rows; i++) {
        buf_puts(out, "<tr>");
        put_label(g, plane.rows, i, "th scope=\"row\"", out);
        for (size_t j = 0; j < columns; j++)
            put_number(number[i][j], tail[j], out);
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</table>\n");
    buf_free(&formula);
    free(number);
}
