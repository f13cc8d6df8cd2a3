/* Drawing a view of a session and reading its numbers back. */
#ifndef VITRINE_TESTS_TUI_VIEWS_DRAWN_H
#define VITRINE_TESTS_TUI_VIEWS_DRAWN_H
#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "tests/tui_views/says.h"
#include "tui/views/shown.h"

static inline void drawn_prepare(Session *s, const ViewSpec *v, Side side, Rect r)
{
    Needs needs = {0};
    v->needs(s, side, r, &needs);
    assert_true(session_step(s, needs.item, needs.count, CLOCK_NEVER));
}

/* Numbers with a Ref are that cell's value; returns how many there were. */
static inline int drawn_numbers(const Session *s, Canvas *c)
{
    int numbers = 0;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w;) {
            const Cell *k = canvas_at(c, y, x++);
            Ref ref = k->ref;
            char text[600], word[600];
            size_t n = 0;
            if (!ref.run)
                continue;
            const Graph *g = shown_graph(s, (Side)ref.run);
            const float *values = session_peek(s, (Side)ref.run, graph_node(g, ref.node)->path);
            assert_non_null(values);
            assert_true(ref.cell < graph_cells(g, ref.node));
            if (k->level)
                continue;
            for (x--; x < c->w && n < sizeof text - 8; x++) {
                k = canvas_at(c, y, x);
                if (k->level || k->ref.run != ref.run || k->ref.node != ref.node || k->ref.cell != ref.cell)
                    break;
                n += utf8_put(text + n, k->ch ? k->ch : ' ');
            }
            text[n] = '\0';
            if (sscanf(text, " %599[^ %]", word) != 1 || !is_number_text(word))
                continue; /* a bar, a mark, an edge, the letter of a name */
            numbers++;
            float shown = strchr(text, '%') ? 100 * values[ref.cell] : values[ref.cell]; /* a share in percent */
            const Shown v = {.side = (Side)ref.run, .graph = g, .node = ref.node};
            if (ref.run == SIDE_DIFF && shown_is_share(&v) && says(word, 100 * values[ref.cell]))
                continue; /* in points */
            if (!says(word, shown))
                fail_msg("%s[%zu] is %.9g, the screen says %s", graph_node(g, ref.node)->path, ref.cell,
                         (double)values[ref.cell], word);
        }
    return numbers;
}
#endif
