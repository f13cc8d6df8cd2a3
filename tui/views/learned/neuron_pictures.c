/* The pictures that excite a hidden unit most. */
#include <math.h>
#include <stdio.h>

#include "core/base/utf8.h"
#include "tui/views/heat.h"
#include "tui/views/learned/neuron_view.h"

enum {
    THUMB_MOST = 32,
    NUMBER_LEAST = 4, /* digits give way to the name of a class */
    WORD_MOST = 14
};

typedef struct Thumb {
    const NeuronShown *n;
    int k, rows, cols;
} Thumb;

static HeatLook thumb_look(const void *context, int row, int col)
{
    const Thumb *t = context;
    const NeuronShown *n = t->n;
    int y0 = row * n->height / t->rows, y1 = (row + 1) * n->height / t->rows, x0 = col * n->width / t->cols,
        x1 = (col + 1) * n->width / t->cols;
    unsigned sum[3] = {0}, count = 0;
    for (int y = y0; y < (y1 > y0 ? y1 : y0 + 1); y++)
        for (int x = x0; x < (x1 > x0 ? x1 : x0 + 1); x++, count++)
            for (int c = 0; c < 3; c++)
                sum[c] += n->picture[t->k][3 * (y * n->width + x) + c];
    for (int c = 0; c < 3; c++)
        sum[c] /= count;
    return (HeatLook){.colour = sum[0] << 16 | sum[1] << 8 | sum[2],
                      .level = (int)((299 * sum[0] + 587 * sum[1] + 114 * sum[2]) * 9 / 255000)};
}

static Colour thumb_colour(const void *context, int row, int col)
{
    return thumb_look(context, row, col).colour;
}

static const char *thumb_name(const Unit *u, const NeuronShown *n, int k, char label[64])
{
    int axis = graph_role(u->post.graph, ROLE_ANSWER, SEQUENCE_ANY);
    if (neuron_file(n, k))
        return utf8_fit(label, 64, neuron_file(n, k), WORD_MOST);
    return axis == AXIS_NONE ? "" : axis_label(&u->post.graph->axes[axis], n->label[k], label, 64);
}

/* Of the longest name of their classes. */
static int thumb_name_cells(const Unit *u, const NeuronShown *n)
{
    char label[64];
    int most = 0;
    for (int k = 0; k < n->count; k++) {
        int cells = utf8_cells(thumb_name(u, n, k, label));
        most = cells > most ? cells : most;
    }
    return most;
}

/* The picture, the patch that excites it, and below, in `room` cells, how much and its class: in one line, or in
 * two. */
static void draw_thumb(const Paint *p, const Unit *u, const NeuronShown *n, int k, Rect r, int room, int said)
{
    const int tall = heat_pixels(p, r.h - said);
    HeatSize size = heat_within(p, (HeatSize){tall, r.w}, n->height, n->width, 1);
    Thumb t = {n, k, n->height, n->width};
    if (size.tall > tall || size.wide > r.w) { /* smaller than itself */
        int side = tall < r.w / (heat_halves(p) ? 1 : 2) ? tall : r.w / (heat_halves(p) ? 1 : 2);
        size = (HeatSize){side, side * (heat_halves(p) ? 1 : 2)};
        t.rows = size.tall;
        t.cols = size.wide;
    }
    Rect at = {r.y, r.x, heat_halves(p) ? (size.tall + 1) / 2 : size.tall, size.wide};
    heat_paint(p, at, t.rows, t.cols, size, thumb_look, &t);
    heat_behind(p, at, n->height, n->width, size, thumb_colour, &(Thumb){n, k, n->height, n->width});
    int token = n->hit[k].token - u->l.prefix;
    char number[32], of[64];
    const char *label = thumb_name(u, n, k, of);
    int digits = said > 1 ? room : room - thumb_name_cells(u, n) - 1; /* as many for each */
    number_text(number, sizeof number, n->hit[k].value, clamp(digits, NUMBER_LEAST, NEURON_NUMBER));
    if (digits < NEURON_NUMBER && fabsf(n->hit[k].value) < 0.01F) /* "9e-3" */
        utf8_print(number, sizeof number, "%.0f%s", (double)n->hit[k].value * 1000, "e-3");
    bool named = room - utf8_cells(number) > NUMBER_LEAST || utf8_cells(label) < room - utf8_cells(number);
    canvas_printf(p->c, at.y + at.h, r.x, room, STYLE_TEXT, "%s %s", number, named && said < 2 ? label : "");
    if (said > 1)
        canvas_text(p->c, at.y + at.h + 1, r.x, room, STYLE_TEXT, label);
    if (token < 0)
        canvas_text(p->c, at.y, at.x, at.w, STYLE_CURSOR, axis_label(u->tokens, n->hit[k].token, of, sizeof of));
    else
        heat_mark_cell(p, at, u->l.rows, u->l.cols, size, token / u->l.cols, token % u->l.cols, (Ref){0});
}

int neuron_draw_pictures(const Paint *p, const Unit *u, const NeuronShown *n, Rect r)
{
    int best = 0, across = 1;
    for (int k = 1; k <= n->count; k++) { /* so many a line that they are largest */
        int down = (n->count + k - 1) / k, high = heat_pixels(p, r.h / down - 1),
            wide = (r.w / k - 1) / (heat_halves(p) ? 1 : 2), side = high < wide ? high : wide;
        side = side < THUMB_MOST ? side : THUMB_MOST;
        if (side > best) {
            best = side;
            across = k;
        }
    }
    best = best < NEURON_THUMB ? NEURON_THUMB : best;
    int lines = (heat_halves(p) ? (best + 1) / 2 : best) + 1, columns = best * (heat_halves(p) ? 1 : 2), said = 1, k;
    across = (r.w + 1) / (columns + 1) < across ? (r.w + 1) / (columns + 1) : across;
    const int name = thumb_name_cells(u, n), named = r.w / (NUMBER_LEAST + 2 + name);
    if (named > 1 && named < across) { /* rather fewer than half a name, unless it has a line of its own */
        const bool below = name < r.w / across && (n->count + across - 1) / across * (lines + 1) <= r.h;
        lines += below;
        said += below;
        across = below ? across : named;
    }
    for (k = 0; across > 0 && k < n->count && (k / across + 1) * lines <= r.h; k++)
        draw_thumb(p, u, n, k, (Rect){r.y + k / across * lines, r.x + k % across * (r.w / across), lines, columns},
                   r.w / across - (across > 1), said);
    return k;
}
