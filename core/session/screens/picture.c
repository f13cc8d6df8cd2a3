/* The picture: the file, what the model receives, the patch grid. */
#include <stddef.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/session/ask/say.h"
#include "core/session/options.h"
#include "core/session/screens.h"

/* A guess is as wide as the picture, but not the picture. */
static bool fits(const Graph *g, NodeId n)
{
    return node_role(g, n, ROLE_CHANNEL) != AXIS_NONE && node_role(g, n, ROLE_PLACE_ROW) != AXIS_NONE &&
           node_role(g, n, ROLE_PIXEL_ROW) != AXIS_NONE && !screen_leads_to(g, n, SITE_GUESS);
}

static bool come(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (session_screen_for(s, s->place.path) == SCREEN_ROW)
        return come_here(s, SCREEN_ROW, err);
    const char *image = site_path_any(g, SITE_IMAGE);
    if (!image)
        return err_set(err, "this model looks at no picture; `goto first` shows the words that it reads");
    return session_go(s, image, to, err);
}

/* The first pixel of the patch, in its first colour. */
static bool enter_pixels(Session *s, Err *err)
{
    static const AxisRole ROLES[] = {ROLE_CHANNEL, ROLE_PIXEL_ROW, ROLE_PIXEL_COL};
    for (size_t i = 0; i < sizeof ROLES / sizeof *ROLES; i++) {
        int axis = session_role(s, ROLES[i]);
        if (axis != AXIS_NONE)
            s->place.at[axis] = 0;
    }
    return session_go(s, s->place.path, SCREEN_TENSOR, err);
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

static bool say_picture(const Teller *t)
{
    const PictureGrid grid = model_grid(session_exhibit(t->s, t->side)->model);
    if (!grid.rows)
        return say_anything(t);
    const Input *in = session_input(t->s, t->side);
    NodeId n = site_node_any(t->g, SITE_INPUT);
    const float *x = n == NO_NODE ? NULL : ask_need(t->s, t->side, n, t->err);
    char patch[64], colour[64];
    if (!x)
        return false;
    buf_printf(t->out,
               "%s: the model receives %d × %d pixels, cut into %d × %d patches of %d × %d. The cursor is on patch %s, "
               "token %d; its mean is ",
               in->name, grid.width, grid.height, grid.columns, grid.rows, grid.patch_w, grid.patch_h,
               teller_label(t, ROLE_PLACE, teller_index(t, ROLE_PLACE), patch),
               grid.prefix + teller_index(t, ROLE_PLACE));
    for (int i = 0; i < teller_length(t, ROLE_CHANNEL); i++) {
        buf_printf(t->out, "%s%s ", i ? ", " : "", teller_label(t, ROLE_CHANNEL, i, colour));
        ask_put_short(t->out, (float)patch_mean(t, x, n, i));
    }
    buf_putc(t->out, '.');
    return true;
}

/* How bright every patch is: the mean of its pixels in all colours. */
static bool tell_picture(const Teller *t)
{
    const PictureGrid grid = model_grid(session_exhibit(t->s, t->side)->model);
    NodeId n = site_node_any(t->g, SITE_INPUT);
    const float *x = grid.rows && n != NO_NODE ? ask_need(t->s, t->side, n, t->err) : NULL;
    if (!grid.rows || n == NO_NODE)
        return true;
    if (!x)
        return false;
    Dims d = graph_node(t->g, n)->dims;
    int patches = grid_patches(&grid), index[DIMS_MAX];
    double *sum = xcalloc((size_t)patches, sizeof *sum);
    float *mean = xcalloc((size_t)patches, sizeof *mean);
    int row = dims_role(t->g, d, ROLE_PLACE_ROW), col = dims_role(t->g, d, ROLE_PLACE_COL);
    if (row != AXIS_NONE && col != AXIS_NONE) {
        size_t cells = graph_cells(t->g, n);
        int across = t->g->axes[col].n;
        for (size_t i = 0; i < cells; i++) {
            dims_unravel(t->g->axes, d, i, index);
            sum[index[dims_find(d, row)] * across + index[dims_find(d, col)]] += (double)x[i];
        }
        for (int p = 0; p < patches; p++)
            mean[p] = (float)(sum[p] / ((double)cells / patches));
        buf_puts(t->out, "How bright every patch is, the mean of its pixels, 0 to 255:\n");
        teller_put_patches(t, mean, t->g->axes[row].n, across);
    }
    free(mean);
    free(sum);
    return true;
}

static const LookOption OPTIONS[] = {{.name = "grid", .kind = OPTION_SWITCH, .at = LOOK(picture.grid), .start = true},
                                     {.name = NULL}};

SCREEN_SPEC(PICTURE, .name = "picture", .about = "the file, what the model receives, the patch grid",
            .command = "view picture", .come = come, .fits = fits, .move = move_on_patches, .enter = enter_pixels,
            .next = next_drawing, .off = OFF_PATCH, .say = say_picture, .tell = tell_picture, .options = OPTIONS);
