/* The picture: the file, what the model receives of it, the patch grid; or the picked patch as numbers. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/preprocess.h"
#include "core/session/edit/edits.h"
#include "tui/views/heat.h"
#include "tui/views/picture/picture.h"
#include "tui/views/spread.h"
#include "tui/views/tensor/tensor.h"

enum { SAMPLES = 4 }; /* across and down, at most: a large photograph must not cost more to draw than a small one */

static int luminance(const int rgb[3])
{
    return (299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2]) / 1000;
}

/* Mean colour of a rectangle of pixels, from a few evenly spaced ones. */
static void mean_colour(const Image *im, int x0, int y0, int x1, int y1, int rgb[3])
{
    long sum[3] = {0, 0, 0}, n = 0;
    int nx = x1 - x0 < SAMPLES ? x1 - x0 : SAMPLES, ny = y1 - y0 < SAMPLES ? y1 - y0 : SAMPLES;
    for (int a = 0; a < ny; a++)
        for (int b = 0; b < nx; b++) {
            int y = y0 + (int)((long)(y1 - y0) * (2 * a + 1) / (2 * ny)),
                x = x0 + (int)((long)(x1 - x0) * (2 * b + 1) / (2 * nx));
            const uint8_t *pixel = im->data + ((size_t)y * (size_t)im->width + (size_t)x) * (size_t)im->channels;
            for (int k = 0; k < 3; k++)
                sum[k] += pixel[im->channels == 3 ? k : 0];
            n++;
        }
    for (int k = 0; k < 3; k++)
        rgb[k] = n ? (int)(sum[k] / n) : 0;
}

/* Of the picture at one of span places across and down. */
static void colour_at(const Image *im, const int place[2], const int span[2], int rgb[3])
{
    int edge[4]; /* x0 y0 x1 y1 */
    const int size[2] = {im->width, im->height};
    for (int k = 0; k < 2; k++) {
        edge[k] = (int)((long)place[k] * size[k] / span[k]);
        edge[k + 2] = (int)((long)(place[k] + 1) * size[k] / span[k]);
        if (edge[k + 2] <= edge[k])
            edge[k + 2] = edge[k] + 1;
    }
    mean_colour(im, edge[0], edge[1], edge[2], edge[3], rgb);
}

typedef struct Behind {
    const Image *im;
    int span[2];
} Behind;

static Colour behind_colour(const void *context, int y, int x)
{
    const Behind *b = context;
    int rgb[3];
    colour_at(b->im, (int[]){x, y}, b->span, rgb);
    return (Colour)rgb[0] << 16 | (Colour)rgb[1] << 8 | (Colour)rgb[2];
}

static void put_pixel(const Paint *p, const Image *im, Rect r, int half, const int place[2], const int span[2])
{
    int rgb[3];
    colour_at(im, place, span, rgb);
    Colour colour = (Colour)rgb[0] << 16 | (Colour)rgb[1] << 8 | (Colour)rgb[2];
    int y = half >= 0 ? place[1] / 2 : place[1];
    canvas_pixel(p->c, r.y + y, r.x + place[0], half, colour, luminance(rgb) * 9 / 255, 0, (Ref){0});
}

void picture_file(const Paint *p, Rect r, const Image *im)
{
    if (!im->data || r.w < 1 || r.h < 1)
        return;
    bool halves = heat_halves(p);
    int room = r.h * 2; /* in half lines, which are about square */
    int span[2] = {r.w, (int)((long)r.w * im->height / im->width)};
    if (span[1] > room) {
        span[1] = room;
        span[0] = (int)((long)room * im->width / im->height);
    }
    span[0] = span[0] < 1 ? 1 : span[0];
    if (!halves)
        span[1] /= 2;
    span[1] = span[1] < 1 ? 1 : span[1];
    for (int y = 0; y < span[1]; y++)
        for (int x = 0; x < span[0]; x++)
            put_pixel(p, im, r, halves ? y % 2 : -1, (int[]){x, y}, span);
    HeatSize fine = heat_fine(p, (HeatSize){span[1], span[0]});
    int rows = fine.tall < im->height ? fine.tall : im->height, cols = fine.wide < im->width ? fine.wide : im->width;
    heat_behind(p, r, rows, cols, (HeatSize){span[1], span[0]}, behind_colour, &(Behind){im, {cols, rows}});
}

enum { BOTH_WIDTH = 56, FILE_WIDTH = 16, LINES_ALL = 10, LINES_SOME = 5, LINES_WORDS = 3 };

/* What is where: the file's picture (w = 0: not shown), the model's picture or numbers, beside these the patch (w = 0),
 * and the lines below. */
typedef struct Parts {
    Rect file, model, patch, words;
} Parts;

static bool resized(const Session *s, Side side)
{
    const Input *in = shown_input(s, side);
    return in->original.data && (in->original.width != in->resized.width || in->original.height != in->resized.height);
}

/* A file of the model's own size is the same picture: it is shown only where there is room to spare. */
static bool shows_file(const Session *s, Side side, Rect r)
{
    return s->look.view == VIEW_HEAT && shown_input(s, side)->original.data && r.h >= LINES_SOME &&
           r.w >= (resized(s, side) ? BOTH_WIDTH : 2 * BOTH_WIDTH);
}

/* Takes a share of the room for the file, from its left or from its top. */
static Parts with_file(Parts parts, bool left, int share)
{
    Rect r = parts.model;
    parts.file = left ? rect_cut(&r, 'l', r.w / share) : rect_cut(&r, 't', r.h / share);
    parts.model = r;
    if (left)
        parts.file.w -= 1;
    else
        parts.file.h -= 1;
    if (parts.file.w < FILE_WIDTH || parts.file.h < FILE_WIDTH / 4)
        parts.file.w = 0;
    return parts;
}

/* Points of the model's picture, and whether it has all of its pixels. */
static int points_of(const Paint *p, Rect r, const Pixels *px, bool *all)
{
    const PictureFit f = picture_fit(p, r, px);
    *all = (f.pitch_y && f.ky >= px->patch_h) || p->c->pixel_h > 1;
    return f.pitch_y ? f.ky * px->rows * f.kx * px->cols : f.span_y * f.span_x;
}

/* The model's picture with all the room; the file's beside it, below it, or away. */
static Parts file_aside(const Paint *p, Parts parts, const Pixels *px)
{
    const PictureFit f = picture_fit(p, parts.model, px);
    const Rect r = parts.model;
    const int right = f.at.x + f.span_x + 1, below = f.at.y + (f.halves ? (f.span_y + 1) / 2 : f.span_y) + 1;
    if (r.x + r.w - right >= FILE_WIDTH)
        parts.file = (Rect){r.y, right, r.h, r.x + r.w - right};
    else if (r.y + r.h - below >= FILE_WIDTH / 4)
        parts.file = (Rect){below, r.x, r.y + r.h - below, r.w};
    return parts;
}

static Parts parts_with(const Paint *p, Rect r, const Pixels *px, int lines)
{
    Parts parts = {.file = {r.y, r.x, r.h, 0}};
    parts.words = rect_cut(&r, 'b', lines);
    parts.model = r;
    if (!shows_file(p->s, px->v.side, r))
        return parts;
    Parts best = with_file(parts, true, 2);
    for (int k = 1; k < 6;
         k++) { /* the split that leaves the model's picture largest; side by side where it makes no difference */
        Parts other = with_file(parts, k < 3, k < 3 ? 2 + k : k - 1);
        if (other.file.w > 0 && picture_fit(p, other.model, px).span_y > picture_fit(p, best.model, px).span_y)
            best = other;
    }
    bool all, whole; /* half as many points again are worth more than the file is */
    const int points = points_of(p, best.model, px, &all), alone = points_of(p, parts.model, px, &whole);
    return !all && 2 * alone >= 3 * points ? file_aside(p, parts, px) : best;
}

/* Hidden patches, and the first of them. */
static int count_hidden(const Session *s, const Pixels *px, int *first)
{
    PictureCover cover = picture_cover(s, px->v.side);
    int n = 0;
    for (int i = px->rows * px->cols - 1; i >= 0; i--)
        if (picture_covers(&cover, i)) {
            *first = i;
            n++;
        }
    return n;
}

/* The line that says where pixels come from, or what is hidden, stays; on both sides, whose pictures are as large. */
static bool needs_line(const Session *s, Side side)
{
    return resized(s, side) || edits_shown(s, SIDE_A) || edits_shown(s, SIDE_B);
}

/* The lines of words give way where the picture's patches can be larger without one of them. */
static Parts parts_of(const Paint *p, Rect r, const Pixels *px)
{
    int most = r.h >= LINES_ALL ? LINES_WORDS : r.h >= LINES_SOME ? 1 : 0;
    Parts best = parts_with(p, r, px, most);
    for (int lines = most - 1; lines >= (needs_line(p->s, px->v.side) ? 2 : 1) && p->s->look.view == VIEW_HEAT;
         lines--) {
        Parts parts = parts_with(p, r, px, lines);
        if (picture_fit(p, parts.model, px).span_y > picture_fit(p, best.model, px).span_y + px->rows - 1)
            best = parts;
    }
    return best;
}

/* The picked patch: its channels and pixel rows by its pixel columns; as a strip all of it in the order that the
 * projection reads. */
static Tensor patch_of(const Pixels *px, View view)
{
    Dims rows = {.n = 2, .axis = {px->axis[0], px->axis[2]}}, cols = {.n = 1, .axis = {px->axis[4]}};
    if (view == VIEW_STRIP)
        return tensor_plane(&px->v, DIMS_SCALAR, (Dims){.n = 3, .axis = {px->axis[0], px->axis[2], px->axis[4]}});
    return tensor_plane(&px->v, rows, cols);
}

/* The patch itself beside its numbers, which have what they need first, but not all where there are many. */
static void cut_patch(const Paint *p, Parts *parts, const Pixels *px)
{
    enum { GAP = 2, LEAST = 10, MOST = 64 };
    Tensor t = patch_of(px, VIEW_NUMBERS);
    int room = parts->model.w, used = TENSOR_NUMBERS.wide(p, parts->model, &t), left = room - used - GAP;
    if (p->s->look.view != VIEW_NUMBERS || room < 3 * LEAST)
        return;
    int wide = left > MOST ? MOST : left >= px->patch_w && left >= LEAST ? left : room / 3;
    parts->patch = rect_cut(&parts->model, 'r', wide > LEAST ? wide : LEAST);
    rect_cut(&parts->model, 'r', GAP);
    used = TENSOR_NUMBERS.wide(p, parts->model, &t);
    parts->patch.x = parts->model.x + used + GAP;
}

/* "r3c4  pixel y 21 x 27   R 231  G 224  B 89", the values tagged. */
static void draw_pixel_line(const Paint *p, Rect line, const Pixels *px)
{
    int x = line.x, end = line.x + line.w, row = pixels_row(px), col = pixels_col(px);
    if (line.w >= 56)
        x += canvas_printf(p->c, line.y, x, end - x, STYLE_TEXT, "patch r%dc%d, pixel y %d x %d", pixels_patch_row(px),
                           pixels_patch_col(px), row, col);
    else if (line.w >= 36) /* words go before digits do */
        x += canvas_printf(p->c, line.y, x, end - x, STYLE_TEXT, "r%dc%d y%d x%d", pixels_patch_row(px),
                           pixels_patch_col(px), row, col);
    else if (line.w >= 26)
        x += canvas_printf(p->c, line.y, x, end - x, STYLE_TEXT, "r%dc%d", pixels_patch_row(px), pixels_patch_col(px));
    bool colours = px->channels == 3, narrow = end - x < 22; /* "R 141  G 133  B 120", or without half of the blanks */
    for (int k = 0; k < (colours ? 3 : 1); k++) {
        int channel = colours ? k : pixels_channel(px);
        char label[64];
        axis_label(&px->v.graph->axes[px->axis[0]], channel, label, sizeof label);
        x += canvas_printf(p->c, line.y, x, end - x, STYLE_DIM, "%s%s%s",
                           x == line.x ? ""
                           : narrow    ? " "
                                       : "  ",
                           label, narrow ? "" : " ");
        Style style = channel == pixels_channel(px) ? STYLE_STRONG : STYLE_TEXT;
        x += shown_number(p, &px->v, pixels_cell(px, channel, row, col), line.y, x, end - x, style);
    }
}

/* "chequered: r3c4 hidden": what the model does not get, though its pixels are there. False where nothing is hidden. */
static bool draw_hidden_line(const Paint *p, Rect line, const Pixels *px)
{
    char what[32], text[120];
    int first = 0, n = count_hidden(p->s, px, &first);
    const char *how = p->s->look.view != VIEW_HEAT ? "" : heat_halves(p) ? "chequered: " : "?: ";
    if (!n)
        return false;
    snprintf(what, sizeof what, "%d patches", n);
    if (n == 1)
        snprintf(what, sizeof what, "r%dc%d", first / px->cols, first % px->cols);
    bool diff = px->v.side == SIDE_DIFF;
    snprintf(text, sizeof text, "%s%s hidden%s", how, what,
             diff ? " on one side" : ": the next step has the mask token there");
    if (utf8_cells(text) > line.w)
        snprintf(text, sizeof text, "%s%s hidden", how, what);
    canvas_text(p->c, line.y, line.x, line.w, STYLE_EDITED, text);
    return true;
}

/* Of A − B. */
static bool all_same(const Pixels *px)
{
    Spread s = spread_of(px->v.values, px->v.count);
    return s.finite == s.count && s.min == 0 && s.max == 0;
}

/* A difference has no colour of its own: one channel of it is shown as data. "A−B of R  -49.5 ▒▒▒▒ 49.5" */
static void draw_difference_line(const Paint *p, Rect line, const Pixels *px)
{
    enum { BAR_LEAST = 16 };
    char label[64], most[16];
    if (all_same(px))
        return;
    const ColourScale scale = picture_tone(p, px).scale;
    const char *channel = axis_label(&px->v.graph->axes[px->axis[0]], pixels_channel(px), label, sizeof label);
    const bool bar = line.w >= utf8_cells(channel) + 9 + BAR_LEAST;
    number_text(most, sizeof most, scale.high, 6); /* as far as below 0 */
    if (!bar)
        canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "A−B of %s, ±%s", channel, most);
    else {
        rect_cut(&line, 'l', canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "A−B of %s  ", channel));
        colour_scale_bar(p, &scale, line.y, line.x, line.w);
    }
}

/* Where in the file this pixel comes from. */
static void draw_source_line(const Paint *p, Rect line, const Pixels *px)
{
    const Session *s = p->s;
    const Input *in = shown_input(s, px->v.side);
    if (draw_hidden_line(p, line, px))
        return;
    if (px->v.side == SIDE_DIFF) { /* of two pictures, perhaps */
        draw_difference_line(p, line, px);
        return;
    }
    if (!in->original.data) {
        canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, "values as given, stretched to their range to be seen");
        return;
    }
    const Model *m = session_exhibit(s, px->v.side)->model;
    const Preprocess *how = m ? &m->preprocess : &s->model.preprocess;
    SourceRect from = preprocess_source(how, in->original.width, in->original.height, pixels_col(px), pixels_row(px));
    if (!resized(s, px->v.side))
        canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM,
                    line.w < 20   ? "not resized"
                    : line.w < 50 ? "nothing was resized"
                                  : "it has the model's size: nothing was resized");
    else {
        char text[120];
        if (utf8_print(text, sizeof text,
                       line.w < 60 ? "x %.1f–%.1f, y %.1f–%.1f of %d×%d"
                                   : "from x %.1f–%.1f, y %.1f–%.1f of the file's %d×%d",
                       from.x0, from.x1, from.y0, from.y1, in->original.width, in->original.height) > line.w)
            utf8_print(text, sizeof text, "file: %d×%d", in->original.width, in->original.height);
        canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, text);
    }
}

/* "patch r3c3: 108 numbers; rows 0–13 of 18; in the order c i j": what the table leaves out comes first. */
static void put_patch(const Paint *p, Rect r, const Pixels *px, Buf *out)
{
    Buf rows = {0};
    Tensor t = patch_of(px, p->s->look.view);
    if (p->s->look.view == VIEW_NUMBERS)
        TENSOR_NUMBERS.caption(p, r, &t, &rows);
    buf_printf(out, "patch r%dc%d: %d numbers%s%s; in the order c i j", pixels_patch_row(px), pixels_patch_col(px),
               px->channels * px->patch_h * px->patch_w, rows.len ? "; " : "", buf_str(&rows));
    buf_free(&rows);
}

static void draw_words(const Paint *p, const Parts *parts, const Pixels *px)
{
    Rect left = parts->words;
    View view = p->s->look.view;
    if (left.h < 1)
        return;
    draw_pixel_line(p, rect_cut(&left, 'b', 1), px);
    if (left.h < 1)
        return;
    if (left.h > 1 || needs_line(p->s, px->v.side))
        draw_source_line(p, rect_cut(&left, 'b', 1), px);
    if (left.h < 1)
        return;
    Buf text = {0};
    if (view == VIEW_HISTOGRAM)
        buf_puts(&text, "all values of the picture");
    else if (view != VIEW_HEAT)
        put_patch(p, parts->model, px, &text);
    else {
        static const char HINT[] = "v: this patch as numbers";
        if (px->v.side == SIDE_DIFF && all_same(px))
            buf_puts(&text, count_hidden(p->s, px, &(int){0})
                                ? left.w < 23 ? "0: equal pixels" : "0: the pixels are equal"
                            : left.w < 24 ? "0: A, B the same"
                                          : "0: A and B are the same");
        else
            picture_caption(p, parts->model, px, &text);
        if ((int)(text.len + 3 + strlen(HINT)) <= left.w)
            buf_printf(&text, "%s%s", text.len ? "   " : "", HINT);
        else if (!text.len)
            buf_puts(&text, "v: numbers");
    }
    shown_clauses(p, left.y, left.x, left.w, STYLE_AXIS, buf_str(&text));
    buf_free(&text);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Pixels px;
    View view = p->s->look.view;
    if (!pixels_open(p->s, side, pixels_input(p->s, side), &px))
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "the input is no picture");
    else if (!px.v.values)
        shown_computing(p, r);
    else {
        Parts parts = parts_of(p, r, &px);
        if (parts.file.w > 0)
            picture_file(p, parts.file, &shown_input(p->s, side)->original);
        if (view == VIEW_HEAT)
            picture_model(p, parts.model, &px, focus);
        else {
            Tensor t = patch_of(&px, view);
            PictureGround ground = {&px, picture_tone(p, &px)};
            t.tint = picture_ground;
            t.tint_of = &ground;
            cut_patch(p, &parts, &px);
            tensor_how(view)->draw(p, parts.model, &t, focus);
            if (parts.patch.w > 0)
                picture_patch(p, parts.patch, &px);
        }
        draw_words(p, &parts, &px);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    needs_add(out, side, pixels_input(s, side));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Pixels px, focus;
    size_t cell;
    View view = p->s->look.view;
    if (!pixels_open(p->s, side, pixels_input(p->s, side), &px) || !px.v.values)
        return false;
    Parts parts = parts_of(p, r, &px);
    cut_patch(p, &parts, &px);
    if (!rect_has(parts.model, y, x) && !rect_has(parts.patch, y, x))
        return false;
    Tensor t = patch_of(&px, view);
    if (rect_has(parts.patch, y, x) ? !picture_patch_hit(p, parts.patch, &px, y, x, &cell)
        : view == VIEW_HEAT         ? !picture_hit(p, parts.model, &px, y, x, &cell)
                                    : !tensor_how(view)->hit(p, parts.model, &t, y, x, &cell))
        return false;
    /* a picture in focus stays in focus: the standardised one has the same axes */
    bool same = pixels_open(p->s, side, p->s->place.path, &focus);
    click_cell(p, same ? &focus.v : &px.v, cell, command);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    Pixels px;
    if (!pixels_open(s, side, pixels_input(s, side), &px)) {
        buf_puts(out, "picture");
        return;
    }
    const Image *file = &shown_input(s, side)->original;
    char size[64];
    const Model *m = session_exhibit(s, side)->model;
    const Preprocess *how = m ? &m->preprocess : &s->model.preprocess;
    if (resized(s, side))
        snprintf(size, sizeof size, "%d×%d → %d×%d%s", file->width, file->height, pixels_width(&px), pixels_height(&px),
                 preprocess_squeezes(how, file->width, file->height) ? ", squeezed" : "");
    else
        snprintf(size, sizeof size, "picture %d×%d", pixels_width(&px), pixels_height(&px));
    buf_printf(out, "%s, %d×%d patches of %d×%d\n%s, %d×%d patches\n%s\npicture", size, px.cols, px.rows, px.patch_w,
               px.patch_h, size, px.cols, px.rows, size);
}

static int uses(const Session *s, Side side, int h, int w)
{
    Pixels px;
    if (s->look.view != VIEW_HEAT || !pixels_open(s, side, pixels_input(s, side), &px))
        return h;
    const int picture = (int)((long)w * pixels_height(&px) / pixels_width(&px) + 1) / 2; /* a cell is two high */
    return picture + LINES_WORDS < h ? picture + LINES_WORDS : h;
}

VIEW_SPEC(PICTURE, .name = "picture", .uses = uses);
