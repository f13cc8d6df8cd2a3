/* A picture in a panel, patch by patch. */
#include "tui/views/panels.h"
#include "tui/views/spread.h"

typedef struct Tone {
    float low, high; /* dark and bright */
} Tone;

static int byte_of(Tone t, double x)
{
    double range = (double)t.high - (double)t.low, share = range > 0 ? (x - (double)t.low) / range : 0;
    return !(share > 0) ? 0 : share >= 1 ? 255 : (int)(share * 255 + 0.5);
}

/* Rows and columns of pixels, from … to − 1. */
typedef struct Span {
    int top, bottom, left, right;
} Span;

static double mean_of(const Pixels *px, int channel, Span s)
{
    double sum = 0;
    for (int y = s.top; y < s.bottom; y++)
        for (int x = s.left; x < s.right; x++)
            sum += (double)px->v.values[pixels_cell(px, channel, y, x)];
    return sum / ((double)(s.bottom - s.top) * (double)(s.right - s.left));
}

static void put_colour(const Paint *p, const Pixels *px, Tone t, int y, int x, int half, Span s)
{
    int rgb[3], channel = pixels_channel(px);
    for (int k = 0; k < 3; k++) /* anything but three colours is shown as the grey of one channel */
        rgb[k] = byte_of(t, mean_of(px, px->channels == 3 ? k : channel, s));
    int grey = (299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2]) / 1000;
    canvas_pixel(p->c, y, x, half, (Colour)rgb[0] << 16 | (Colour)rgb[1] << 8 | (Colour)rgb[2], grey * 9 / 255, 0,
                 shown_ref(&px->v, pixels_cell(px, channel, (s.top + s.bottom) / 2, (s.left + s.right) / 2)));
}

/* Of n pixels from `first` on, those that unit i of k stands for: at least one. */
static void part_of(int i, int k, int n, int first, int *from, int *to)
{
    *from = first + i * n / k;
    *to = first + (i + 1) * n / k;
    if (*to <= *from)
        *to = *from + 1;
}

void panels_range(const Paint *p, const Pixels *px, float *low, float *high)
{
    *low = 0;
    *high = 255;
    if (!shown_input(p->s, px->v.side)->ready)
        return;
    Spread range = spread_of(px->v.values, px->v.count);
    *low = range.min;
    *high = range.max;
}

void panels_patch(const Paint *p, const LatticeMap *m, const Pixels *px, float low, float high, int row, int col)
{
    int i = row - m->row, j = col - m->col, tall = m->halves ? m->k : m->k > 1 ? m->k / 2 : 1;
    for (int dy = 0; dy < tall; dy++)
        for (int dx = 0; dx < m->k; dx++) {
            int line = i * tall + dy;
            Span s;
            part_of(dy, tall, px->patch_h, row * px->patch_h, &s.top, &s.bottom);
            part_of(dx, m->k, px->patch_w, col * px->patch_w, &s.left, &s.right);
            put_colour(p, px, (Tone){low, high}, m->r.y + (m->halves ? line / 2 : line), m->r.x + j * m->k + dx,
                       m->halves ? line % 2 : -1, s);
        }
}
