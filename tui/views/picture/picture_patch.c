/* The picked patch large, beside its numbers: its pixels, the one under the cursor, and what that has of each colour.
 */
#include "tui/views/heat.h"
#include "tui/views/picture/picture.h"

enum { LABEL = 3, NUMBER = 8, NUMBER_BRIEF = 6, NARROW = 12, COLOURS = 3 };

Colour picture_ground(const void *of, size_t cell)
{
    const PictureGround *g = of;
    const Pixels *px = g->px;
    float x = px->v.values[cell];
    if (g->tone.data)
        return colour_scale_colour(&g->tone.scale, x);
    Colour byte = (Colour)picture_byte(&g->tone, x);
    size_t channel = cell / px->stride[0] % (size_t)px->channels;
    if (px->channels != COLOURS)
        return byte << 16 | byte << 8 | byte;
    return byte * 5 / 8 << (8 * (2 - channel)); /* a page of full colours would outshine its digits */
}

typedef struct Parts {
    Rect patch, bars;
    HeatSize size;
} Parts;

static int bars_of(const Pixels *px)
{
    return px->channels == COLOURS ? COLOURS : 1;
}

static Parts parts_of(const Paint *p, Rect r, const Pixels *px)
{
    Parts out = {.patch = r};
    int bars = bars_of(px), height = heat_pixels(p, r.h - bars - 1);
    out.size = heat_within(p, (HeatSize){height, r.w}, px->patch_h, px->patch_w, 1);
    if (out.size.tall > height || out.size.wide > r.w) /* smaller than itself: bars alone */
        out.size = (HeatSize){0, 0};
    out.patch.h = heat_halves(p) ? (out.size.tall + 1) / 2 : out.size.tall;
    out.bars = (Rect){r.y + out.patch.h + (out.patch.h > 0), r.x, bars, r.w};
    return out;
}

static HeatLook patch_look(const void *context, int row, int col)
{
    const PictureGround *l = context;
    const Pixels *px = l->px;
    int y = pixels_patch_row(px) * px->patch_h + row, x = pixels_patch_col(px) * px->patch_w + col;
    Colour c = picture_colour(px, &l->tone, y, x);
    int grey = (int)(299 * (c >> 16) + 587 * (c >> 8 & 0xff) + 114 * (c & 0xff)) / 1000;
    return (HeatLook){.colour = c,
                      .level = grey * 9 / 255,
                      .ref = shown_ref(&px->v, pixels_cell(px, pixels_channel(px), y, x))};
}

static void draw_bar(const Paint *p, const Pixels *px, const PictureTone *tone, int channel, Rect line)
{
    char label[64];
    size_t cell = pixels_cell(px, channel, pixels_row(px), pixels_col(px));
    bool here = channel == pixels_channel(px);
    int number = line.w < NARROW ? NUMBER_BRIEF : NUMBER;
    canvas_printf(p->c, line.y, line.x, LABEL, here ? STYLE_STRONG : STYLE_DIM, "%s",
                  axis_label(&px->v.graph->axes[px->axis[0]], channel, label, sizeof label));
    shown_number_right(p, &px->v, cell, line.y, line.x + LABEL, number - LABEL, here ? STYLE_STRONG : STYLE_TEXT);
    int room = line.w - number - 1, x = line.x + number + 1;
    if (room < 3 || tone->data)
        return;
    canvas_bar(p->c, line.y, x, room, picture_byte(tone, px->v.values[cell]) / 255.0, STYLE_TEXT,
               shown_ref(&px->v, cell));
    for (int i = 0; i < room && p->mode >= MODE_256 && px->channels == COLOURS; i++) {
        Cell *k = canvas_at(p->c, line.y, x + i); /* the colour it is of */
        if (k && k->ch != ' ')
            k->fg = (Colour)0xd0 << (8 * (2 - channel)) | (channel == 2 ? 0x6060 << 8 : 0);
    }
}

void picture_patch(const Paint *p, Rect r, const Pixels *px)
{
    Parts parts = parts_of(p, r, px);
    PictureGround look = {px, picture_tone(p, px)};
    if (parts.patch.h > 0) {
        heat_paint(p, parts.patch, px->patch_h, px->patch_w, parts.size, patch_look, &look);
        heat_mark_cell(p, parts.patch, px->patch_h, px->patch_w, parts.size, pixels_row(px) % px->patch_h,
                       pixels_col(px) % px->patch_w,
                       shown_ref(&px->v, pixels_cell(px, pixels_channel(px), pixels_row(px), pixels_col(px))));
    }
    for (int k = 0; k < parts.bars.h && parts.bars.y + k < r.y + r.h; k++)
        draw_bar(p, px, &look.tone, bars_of(px) == 1 ? pixels_channel(px) : k,
                 (Rect){parts.bars.y + k, parts.bars.x, 1, parts.bars.w});
}

bool picture_patch_hit(const Paint *p, Rect r, const Pixels *px, int y, int x, size_t *cell)
{
    Parts parts = parts_of(p, r, px);
    int row, col;
    if (parts.patch.h < 1 || !heat_hit(p, parts.patch, px->patch_h, px->patch_w, parts.size, y, x, &row, &col))
        return false;
    *cell = pixels_cell(px, pixels_channel(px), pixels_patch_row(px) * px->patch_h + row,
                        pixels_patch_col(px) * px->patch_w + col);
    return true;
}
