/* What can be said of the picture, of places in it, and of the answer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/models/drawn.h"
#include "core/session/ask/say.h"
#include "core/session/difference.h"

static const Input *input_of(const Teller *t)
{
    return session_input(t->s, t->side);
}

/* Mean of the patch at the cursor in one colour; x has the cells of dims [c,y,i,x,j]. */
static double patch_mean(const Teller *t, const float *x, NodeId n, int colour)
{
    Dims d = graph_node(t->g, n)->dims;
    int index[DIMS_MAX] = {colour, teller_index(t, ROLE_PLACE_ROW), 0, teller_index(t, ROLE_PLACE_COL), 0};
    int high = teller_length(t, ROLE_PIXEL_ROW), wide = teller_length(t, ROLE_PIXEL_COL);
    double sum = 0;
    for (index[2] = 0; index[2] < high; index[2]++)
        for (index[4] = 0; index[4] < wide; index[4]++)
            sum += (double)x[dims_ravel(t->g->axes, d, index)];
    return sum / ((double)high * wide);
}

bool say_picture(const Teller *t)
{
    const VitConfig *c = model_vit(session_exhibit(t->s, t->side)->model);
    if (!c)
        return say_anything(t);
    const Input *in = input_of(t);
    NodeId n = site_node_any(t->g, SITE_INPUT);
    const float *x = n == NO_NODE ? NULL : ask_need(t->s, t->side, n, t->err);
    char patch[64], colour[64];
    if (!x)
        return false;
    buf_printf(t->out,
               "%s: the model receives %d × %d pixels, cut into %d × %d patches of %d × %d. The cursor is on patch %s, "
               "token %d; its mean is ",
               in->name, c->image_h, c->image_w, c->image_h / c->patch_h, c->image_w / c->patch_w, c->patch_h,
               c->patch_w, teller_label(t, ROLE_PLACE, teller_index(t, ROLE_PLACE), patch),
               vit_prefix(c) + teller_index(t, ROLE_PLACE));
    for (int i = 0; i < teller_length(t, ROLE_CHANNEL); i++) {
        buf_printf(t->out, "%s%s ", i ? ", " : "", teller_label(t, ROLE_CHANNEL, i, colour));
        ask_put_short(t->out, (float)patch_mean(t, x, n, i));
    }
    buf_putc(t->out, '.');
    return true;
}

bool say_pixel(const Teller *t)
{
    if (graph_node(t->g, t->n)->op == OP_LEAF)
        return say_anything(t);
    char colour[64];
    int y = teller_index(t, ROLE_PLACE_ROW) * teller_length(t, ROLE_PIXEL_ROW) + teller_index(t, ROLE_PIXEL_ROW),
        x = teller_index(t, ROLE_PLACE_COL) * teller_length(t, ROLE_PIXEL_COL) + teller_index(t, ROLE_PIXEL_COL);
    NodeId n = site_node_any(t->g, SITE_INPUT);
    const float *pixels = n == NO_NODE ? NULL : ask_need(t->s, t->side, n, t->err);
    if (graph_node(t->g, t->n)->dims.n < 5 || !pixels)
        return say_anything(t);
    buf_printf(t->out, "The pixel in row %d, column %d, colour %s, of the picture as the model receives it is ", y, x,
               teller_label(t, ROLE_CHANNEL, teller_index(t, ROLE_CHANNEL), colour));
    ask_put_short(t->out, pixels[session_cell(t->s, t->side, n)]);
    buf_printf(t->out, " of 0 to 255; %s makes it ", node_name(graph_node(t->g, t->n)));
    ask_put_short(t->out, t->x[t->cell]);
    buf_putc(t->out, '.');
    return true;
}

bool say_positions(const Teller *t)
{
    bool centred = t->s->place.screen == SCREEN_POSITIONS ? t->s->look.positions.centred
                                                          : strstr(t->s->place.path, "centred") != NULL;
    const char *path = teller_model(t, centred ? SITE_POSITION_COSINE_CENTRED : SITE_POSITION_COSINE);
    char here[64], most[64], least[64];
    NodeId n = graph_find(t->g, path);
    if (n == NO_NODE) {
        buf_puts(t->out, "This model has no table of position embeddings for patches.");
        return true;
    }
    const float *x = ask_need(t->s, t->side, n, t->err);
    if (!x)
        return false;
    size_t count, self = (size_t)teller_index(t, ROLE_PLACE), best = self ? 0 : 1, worst = 0;
    const float *row = teller_row(t, x, n, self * (size_t)teller_length(t, ROLE_PLACE), &count);
    for (size_t i = 0; i < count; i++) {
        best = i != self && row[i] > row[best] ? i : best;
        worst = row[i] < row[worst] ? i : worst;
    }
    if (count < 2) {
        buf_puts(t->out, "There is one patch only: nothing to compare its place with.");
        return true;
    }
    buf_printf(t->out, "The place of patch %s is most like that of %s (cosine ",
               teller_label(t, ROLE_PLACE, (int)self, here), teller_label(t, ROLE_PLACE, (int)best, most));
    ask_put_short(t->out, row[best]);
    buf_printf(t->out, ") and least like that of %s (", teller_label(t, ROLE_PLACE, (int)worst, least));
    ask_put_short(t->out, row[worst]);
    buf_printf(t->out, ")%s.", centred ? ", with the mean of all places taken away" : "");
    return true;
}

bool say_embedding(const Teller *t)
{
    NodeId n;
    float alike;
    const float *x = teller_values(t, teller_model(t, SITE_EMBEDDING), &n);
    double sum = 0;
    if (!x)
        return false;
    for (size_t i = 0; i < graph_cells(t->g, n); i++)
        sum += (double)x[i] * (double)x[i];
    buf_printf(t->out, "The picture is a vector of %zu numbers and of length ", graph_cells(t->g, n));
    ask_put_short(t->out, (float)dm_sqrt(sum));
    buf_puts(t->out, "; what counts is its direction.");
    if (difference_likeness(t->s, &alike)) {
        buf_puts(t->out, " Its cosine with A's is ");
        ask_put_short(t->out, alike);
        buf_puts(t->out, ": 1 is the same direction, 0 nothing in common.");
    }
    return true;
}

static void put_class(const Teller *t, size_t o, const float *probs)
{
    char label[64];
    bool named = t->s->model.class_names != NULL;
    buf_printf(t->out, "%s%s ", named ? "" : "class ", teller_label(t, ROLE_ANSWER, (int)o, label));
    ask_put_short(t->out, probs[o]);
}

bool say_answer(const Teller *t)
{
    NodeId n;
    const float *probs = teller_values(t, teller_model(t, SITE_PROBS), &n);
    const Input *in = input_of(t);
    const char *note = session_model_note(t->s);
    if (!probs)
        return false;
    if (node_role(t->g, n, ROLE_QUERY) != AXIS_NONE) /* a row for every word: the one at the cursor */
        return say_writing(t);
    size_t classes = graph_cells(t->g, n), first = largest_of(probs, classes), shown = classes < 3 ? classes : 3;
    buf_puts(t->out, "The answer is ");
    put_class(t, first, probs);
    for (size_t k = 2, last = first; k <= shown;
         k++) { /* the next in order: the largest that is smaller, or equal and further on */
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < classes; i++) {
            bool after = probs[i] < probs[last] || (probs[i] == probs[last] && i > last);
            if (i != first && after && (next == SIZE_MAX || probs[i] > probs[next]))
                next = i;
        }
        if (next == SIZE_MAX)
            break;
        buf_puts(t->out, k == 2 ? ", then " : " and ");
        put_class(t, next, probs);
        last = next;
    }
    buf_putc(t->out, '.');
    if (in->drawn && in->label >= 0 && in->label < DRAWN_CLASSES)
        buf_printf(t->out, " What was drawn is %s %s.", SHAPES_NAMES[in->label][0] == 'a' ? "an" : "a",
                   SHAPES_NAMES[in->label]);
    if (strcmp(note, "untrained") == 0)
        buf_puts(t->out, " The model is untrained: the arithmetic is exact, the answer means nothing.");
    else if (*note)
        buf_printf(t->out, " Note: %s.", note);
    return true;
}
