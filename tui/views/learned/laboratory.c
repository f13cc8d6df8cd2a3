/* The scale laboratory: a factor on 1/√d_k moved by hand, in every block, one block or one head; what it does to one
 * row of attention, to its head, to what is learned through it, to the answer, and to how many pictures are named
 * right. */
#include "tui/views/learned/laboratory.h"

#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"

enum { CURVE_MOST = 34, CURVE_WITHOUT = 2, LIVE_LEAST = 4, CURVE_BEFORE_SCALES = 6 };

Laboratory laboratory_open(const Session *s)
{
    int block = session_block(s);
    Laboratory l = {.block = block < 0 ? 0 : block,
                    .head = session_head(s),
                    .layers = session_blocks(s),
                    .notch = slider_notch(s),
                    .compares = session_compares(s),
                    .everywhere = s->look.laboratory.reach == REACH_ALL};
    int axis = session_role(s, ROLE_HEAD);
    l.heads = axis == AXIS_NONE ? 0 : session_base(s)->axes[axis].n;
    l.measure = session_measure(s, MEASURE_SCALE, &l.why);
    return l;
}

/* Empty rectangles have no room. */
typedef struct Layout {
    Rect reach, curve, figures, answers, live, scales; /* live: in the place of answers, where there is no curve */
} Layout;

static int at_most(int a, int b)
{
    return a < b ? a : b;
}

/* The slider first, then what it does; what is left over makes the curve higher, then shows the factor of every head.
 */
static Layout layout(const Laboratory *l, Rect r)
{
    Layout out = {{0}, {0}, {0}, {0}, {0}, {0}};
    int reach = r.h >= 2, curve = at_most(r.h - reach, 2), left = r.h - reach - curve;
    int figures = left >= 3 ? at_most(left, laboratory_figure_lines(l)) : 0;
    left -= figures;
    int live = l->why && left >= LIVE_LEAST + 2, answers = live ? 0 : at_most(left, laboratory_answer_lines(l));
    left -= answers + (live ? LIVE_LEAST : 0);
    bool wide = r.w >= 9 * (l->heads + 1); /* the columns of laboratory_scales */
    int scales = wide && left >= l->layers + 1 + CURVE_BEFORE_SCALES ? l->layers + 1 : 0;
    left -= scales;
    int gaps = left >= (l->why ? 3 : 9) ? 2 : left >= 6 ? 1 : 0;
    left -= gaps + (scales && left > gaps + 1);
    curve += at_most(left, (l->why ? CURVE_WITHOUT : CURVE_MOST) - curve);
    out.reach = rect_cut(&r, 't', reach);
    out.curve = rect_cut(&r, 't', curve);
    rect_cut(&r, 't', gaps > 0);
    out.figures = rect_cut(&r, 't', figures);
    rect_cut(&r, 't', gaps > 1);
    out.answers = rect_cut(&r, 't', answers);
    if (scales && r.h > scales && !live)
        rect_cut(&r, 't', 1);
    if (live) {
        out.scales = rect_cut(&r, 'b', scales);
        if (scales)
            rect_cut(&r, 'b', 1);
        out.live = r;
        return out;
    }
    out.scales = rect_cut(&r, 't', scales);
    return out;
}

/* --- what the factor is put on --- */

static const char *const REACH_WORDS[REACH_COUNT] = {
    [REACH_ALL] = "all", [REACH_BLOCK] = "block", [REACH_HEAD] = "head"};

static void reach_text(const Laboratory *l, int reach, bool here, char *out, size_t n)
{
    char text[64];
    if (reach == REACH_ALL)
        snprintf(text, sizeof text, "every block");
    else if (reach == REACH_BLOCK)
        snprintf(text, sizeof text, "block %d", l->block);
    else
        snprintf(text, sizeof text, "block %d, head %d", l->block, l->head);
    snprintf(out, n, here ? "[%s]" : " %s ", text);
}

/* Draws the three, or (draw false) says which stands at x; -1 for none. */
static int reach_walk(const Paint *p, Rect r, const Laboratory *l, bool draw, int at)
{
    int x = r.x;
    if (r.w >= 60) {
        static const char LEAD[] = "a factor on the scale of ";
        if (draw)
            canvas_text(p->c, r.y, x, r.w, STYLE_DIM, LEAD);
        x += (int)strlen(LEAD);
    }
    for (int i = 0; i < REACH_COUNT; i++) {
        char text[80];
        bool here = i == p->s->look.laboratory.reach;
        reach_text(l, i, here, text, sizeof text);
        int cells = utf8_cells(text);
        if (x + cells > r.x + r.w)
            break;
        if (draw)
            canvas_text(p->c, r.y, x, cells, here ? STYLE_CURSOR : STYLE_TEXT, text);
        else if (at >= x && at < x + cells)
            return i;
        x += cells;
    }
    return -1;
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    (void)side; /* both are shown */
    Laboratory l = laboratory_open(p->s);
    Layout at = layout(&l, r);
    if (at.reach.h)
        reach_walk(p, at.reach, &l, true, 0);
    laboratory_curve(p, at.curve, &l, focus);
    laboratory_figures(p, at.figures, &l);
    laboratory_answers(p, at.answers, &l);
    laboratory_live(p, at.live, &l);
    laboratory_scales(p, at.scales, &l);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)side, (void)r;
    for (int k = SIDE_A; k <= SIDE_B; k++)
        needs_add(out, (Side)k, shown_site(s, (Side)k, SITE_PROBS));
    for (int k = SIDE_A; k <= SIDE_B; k++)
        needs_add(out, (Side)k, shown_attention(s, (Side)k, session_block(s), SITE_PATTERN));
    laboratory_figure_needs(s, out);
    for (int b = 0; b < session_blocks(s); b++)
        for (int k = SIDE_A; k <= SIDE_B; k++)
            needs_add(out, (Side)k, shown_attention(s, (Side)k, b, SITE_SCALE));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    (void)side;
    Laboratory l = laboratory_open(p->s);
    Layout at = layout(&l, r);
    char path[SESSION_PATH];
    int block, head, reach = rect_has(at.reach, y, x) ? reach_walk(p, at.reach, &l, false, x) : -1;
    int notch = rect_has(at.curve, y, x) ? laboratory_notch(p->s, at.curve, x) : -1;
    if (reach >= 0)
        buf_printf(command, "laboratory %s", REACH_WORDS[reach]);
    else if (notch >= 0)
        buf_printf(command, "laboratory %d", notch);
    else if (laboratory_figure_at(p->s, at.figures, &l, y, x, path))
        buf_printf(command, "goto %s", path);
    else if (laboratory_scale_at(at.scales, &l, y, x, &block, &head))
        buf_printf(command, "block %d; head %d", block, head);
    else
        return false;
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    char what[64];
    (void)side;
    buf_printf(out, "scale laboratory: attn.scale × %.3g in %s", (double)slider_factor(s),
               slider_text(s, what, sizeof what));
}

static const ViewWay WAYS[] = {{"all        the factor in every block", "laboratory all"},
                               {"block      in this block alone", "laboratory block"},
                               {"head       in this head alone", "laboratory head"},
                               {"trained    every factor as it was trained", "set scale on"},
                               {NULL, NULL}};

static const KeyBinding KEYS[] = {{"Up", "move up", "slide", "the factor on more heads: this block's, every block's",
                                   KEY_COUNTS, 2, NULL},
                                  {"Down", "move down", NULL, "the factor on fewer heads: this block's, this head's",
                                   KEY_COUNTS, 0, NULL},
                                  {"Left", "move left", NULL, "a smaller factor on 1/√d_k", KEY_COUNTS, 0, NULL},
                                  {"Right", "move right", NULL, "a larger factor on 1/√d_k", KEY_COUNTS, 0, NULL},
                                  {.key = NULL}};

VIEW_SPEC(LABORATORY, .name = "laboratory", .traits = VIEW_HAS_HEAD | VIEW_WIDE, .sides = SIDES_TOGETHER,
          .sentence = "Scores are multiplied by this factor: small makes rows even, large sharp.", .ways = WAYS,
          .keys = KEYS);
