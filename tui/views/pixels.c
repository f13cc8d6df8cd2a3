#include "tui/views/pixels.h"

enum { C, Y, I, X, J };

bool pixels_open(const Session *s, Side side, const char *path, Pixels *out)
{
    static const AxisRole ROLES[] = {ROLE_CHANNEL, ROLE_PLACE_ROW, ROLE_PIXEL_ROW, ROLE_PLACE_COL, ROLE_PIXEL_COL};
    if (!shown_open(s, side, path, &out->v))
        return false;
    const Graph *g = out->v.graph;
    Dims d = graph_node(g, out->v.node)->dims;
    int length[5];
    if (d.n != 5)
        return false;
    for (int k = 0; k < 5; k++) {
        out->axis[k] = dims_role(g, d, ROLES[k]);
        if (out->axis[k] == AXIS_NONE)
            return false;
        out->stride[k] = dims_stride(g->axes, d, out->axis[k]);
        length[k] = g->axes[out->axis[k]].n;
    }
    out->channels = length[C];
    out->rows = length[Y];
    out->cols = length[X];
    out->patch_h = length[I];
    out->patch_w = length[J];
    return true;
}

const char *pixels_input(const Session *s, Side side)
{
    return shown_site(s, side, SITE_INPUT);
}

int pixels_height(const Pixels *p)
{
    return p->rows * p->patch_h;
}

int pixels_width(const Pixels *p)
{
    return p->cols * p->patch_w;
}

int pixels_row(const Pixels *p)
{
    return p->v.at[p->axis[Y]] * p->patch_h + p->v.at[p->axis[I]];
}

int pixels_col(const Pixels *p)
{
    return p->v.at[p->axis[X]] * p->patch_w + p->v.at[p->axis[J]];
}

int pixels_patch_row(const Pixels *p)
{
    return p->v.at[p->axis[Y]];
}

int pixels_patch_col(const Pixels *p)
{
    return p->v.at[p->axis[X]];
}

int pixels_channel(const Pixels *p)
{
    return p->v.at[p->axis[C]];
}

size_t pixels_cell(const Pixels *p, int channel, int row, int col)
{
    return (size_t)channel * p->stride[C] + (size_t)(row / p->patch_h) * p->stride[Y] +
           (size_t)(row % p->patch_h) * p->stride[I] + (size_t)(col / p->patch_w) * p->stride[X] +
           (size_t)(col % p->patch_w) * p->stride[J];
}
