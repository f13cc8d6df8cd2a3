#include "tui/views/attention/sheet_fit.h"

#include <limits.h>
#include <math.h>

#include "core/session/learned/measures.h"
#include "tui/views/attention/word_row.h"

enum {
    MAP_LEAST = 2,
    MAP_LEGIBLE = 5,
    MATRIX_LEGIBLE = 4,
    WORDS_FEWEST = 3, /* lines of them, before the key has a blank one above it */
    WORDS_MOST = 16,
    VALUES_MOST = 1 << 20 /* of all matrices: what a frame has time to pool */
};

/* A thumbnail of rows × cols cells. */
static Sheet sized(const Paint *p, const Sheet *from, int rows, int cols, HeatSize size)
{
    Sheet s = *from;
    bool halves = heat_halves(p);
    s.rows = rows;
    s.cols = cols;
    s.size = size;
    s.columns = size.wide;
    s.lines = halves ? (size.tall + 1) / 2 : size.tall;
    s.gap = halves && size.tall % 2 ? 0 : 1; /* half a blank line is a gap */
    return s;
}

static Sheet sized_words(const Paint *p, const Sheet *from, int rows, int cols, int wide, int tall)
{
    Sheet s = sized(p, from, rows, cols, (HeatSize){rows * tall, cols * wide});
    s.wide = wide;
    s.tall = tall;
    return s;
}

float sheet_most_lost(const Session *s)
{
    const Measure *m = session_measure(s, MEASURE_CENSUS, NULL);
    float least = INFINITY;
    for (int i = 0; m && i < m->rows * m->cols; i++)
        least = fminf(least, m->value[i]); /* which passes NaN over */
    return m && m->pair && least < m->base ? 100 * (m->base - least) : 0;
}

int sheet_placeless(const Attend *a)
{
    int row, col;
    for (int u = 0; u < a->u_axis->n; u++)
        if (!attend_place(a, u, &row, &col))
            return u;
    return -1;
}

int sheet_stacked(int blocks, int folds)
{
    return (blocks + folds - 1) / folds;
}

/* Columns between two columns of blocks, beside what is between heads; a number touches no map at its left. */
static int fold(const Sheet *s)
{
    return s->nameless ? 1 : SHEET_LABEL + !s->apart;
}

/* Do so many blocks and heads fit? */
static bool fits(const Sheet *s, int blocks, int heads)
{
    int wide = s->folds * (heads * (s->columns + s->apart) + fold(s)) - fold(s) - s->apart;
    return wide <= s->r.w && sheet_stacked(blocks, s->folds) * (s->lines + s->gap) <= s->r.h + s->gap;
}

/* Matrices of words: the largest squares with which all heads fit, or so many of them. */
static bool choose_words(const Paint *p, const Attend *a, Sheet *s, int blocks, int heads)
{
    for (int size = WORDS_MOST; size > 0 && attend_listed(a); size--)
        for (int wider = 1; wider >= 0; wider--) {
            int wide = heat_halves(p) ? size + wider * size / 2 : 2 * size - 1 + wider;
            Sheet try = sized_words(p, s, a->t_axis->n, a->u_axis->n, wide, size);
            if (fits(&try, blocks, heads)) {
                *s = try;
                s->matrix = true;
                s->of_rows = a->t_axis->n;
                return true;
            }
        }
    return false;
}

/* As many matrices of words as a page has room for: whole ones say more than long lines. */
static bool choose_some_words(const Paint *p, const Attend *a, Sheet *s)
{
    Sheet best = *s;
    int most = 3;
    for (int blocks = s->blocks < SHEET_BLOCKS_MOST ? s->blocks : SHEET_BLOCKS_MOST; blocks >= 1; blocks--)
        for (int heads = s->heads < SHEET_BLOCKS_MOST ? s->heads : SHEET_BLOCKS_MOST;
             heads >= 2 && blocks * heads > most; heads--) {
            Sheet try = *s;
            if (choose_words(p, a, &try, blocks, heads)) {
                most = blocks * heads;
                best = try;
            }
        }
    *s = best;
    return most > 3;
}

/* Lines of the words above lines of them: of A and B as many, or these do not stand beside each other. */
static int words_lines(const Paint *p, const Attend *a, int wide, int most)
{
    int lines = words_across_lines(a->u_axis, wide, most);
    for (Side side = SIDE_A; p->s->compare == COMPARE_SIDES && side <= SIDE_B; side++) {
        Attend other;
        const int its = side != a->v.side && attend_open(p->s, side, -1, &other)
                            ? words_across_lines(other.u_axis, wide, most)
                            : 0;
        lines = its > lines ? its : lines;
    }
    return lines;
}

/* Where matrices of words have no room: the row in focus in every head, below each other. */
static bool choose_lines(const Paint *p, const Attend *a, Sheet *s)
{
    Rect r = {s->r.y - (s->head_y >= 0), s->r.x + SHEET_LABEL, s->r.h + (s->head_y >= 0), s->r.w - SHEET_LABEL};
    int n = a->u_axis->n, wide = r.w / n, lines = s->blocks * s->heads;
    if (!attend_listed(a) || wide < 1 || lines > r.h)
        return false;
    const int free = r.h - lines, gaps = s->blocks - 1, apart = free - gaps > WORDS_FEWEST ? gaps + 1 : 0;
    int least = words_lines(p, a, wide, free - apart), tall = (r.h - least - s->blocks + 1) / lines;
    wide = wide < WORDS_MOST ? wide : WORDS_MOST;
    tall = clamp(tall, 1, (wide + 1) / 2);
    lines *= tall;
    *s = sized_words(p, s, 1, n, wide, heat_halves(p) ? 2 * tall : tall);
    s->listed = true;
    s->head_y = -1;
    s->under = rect_cut(&r, 't', words_lines(p, a, s->wide, r.h - lines - (lines == s->blocks * s->heads ? apart : 0)));
    s->gap = r.h >= lines + s->blocks - 1;
    s->r = r;
    return true;
}

/* Maps of one row, the largest squares with which so many fit in so many columns of blocks, or as fine as there are
 * pixels for. */
static bool choose_map(const Paint *p, Sheet *s, int blocks, int heads, int folds)
{
    bool halves = heat_halves(p);
    int down = sheet_stacked(blocks, folds), rows = s->of_rows, cols = s->of_cols;
    int apart = (s->r.h + 1) / down - 1, close = s->r.h / down;
    HeatSize room = {halves && close > 1 && !s->touching ? 2 * close - 1 : heat_pixels(p, close),
                     (s->r.w + s->apart - (folds - 1) * fold(s)) / (folds * heads) - s->apart};
    if (apart > 0 && (halves ? 2 * apart > room.tall : apart >= (rows < MAP_LEAST ? rows : MAP_LEAST)))
        room.tall = heat_pixels(p, apart);
    int unit = halves || s->slim ? 1 : 2; /* columns that are as wide as a pixel is high */
    double share = fmin(1, fmin((double)room.tall / rows, (double)room.wide / (cols * unit)));
    int high = (int)(rows * share + 1e-9), wide = (int)(cols * share + 1e-9);
    if (s->flat) {
        high = room.tall > 0;
        wide = room.wide < MAP_LEAST ? 0 : MAP_LEAST;
        room = (HeatSize){high, wide};
    }
    if (high < (rows < MAP_LEAST || s->flat ? 1 : MAP_LEAST) || wide < (cols < MAP_LEAST ? cols : MAP_LEAST))
        return false;
    *s = sized(p, s, high, wide, heat_within(p, room, high, wide, 1));
    s->folds = folds;
    if (!fits(s, blocks, heads))
        s->gap = 0;
    return true;
}

/* All of them, in as many columns of blocks as pool their patches least; of these the largest, then the fewest. */
static bool choose_maps(const Paint *p, Sheet *s)
{
    Sheet best = {0};
    for (int folds = 1; folds <= s->blocks; folds++) {
        Sheet try = *s;
        if (!choose_map(p, &try, s->blocks, s->heads, folds))
            continue;
        int more = try.rows * try.cols - best.rows * best.cols;
        if (more > 0 || (more == 0 && try.size.tall > best.size.tall))
            best = try;
    }
    if (best.rows)
        *s = best;
    return best.rows;
}

/* Before a head is left out: what is between maps goes, then the blocks' numbers and the heads'; in characters, where a
 * square of two halves what fits, first that, at last the second row of a map. */
static bool choose_close(const Paint *p, Sheet *s)
{
    enum { CLOSE = 1, NAMELESS = 2, TOPLESS = 4, SLIM = 8, FLAT = 16 };
    static const int STEPS[] = {CLOSE, CLOSE | NAMELESS, CLOSE | TOPLESS, CLOSE | NAMELESS | TOPLESS},
                     FORMS[] = {0, SLIM, SLIM | FLAT};
    for (int form = !heat_halves(p); form < (heat_halves(p) ? 1 : 3); form++)
        for (int i = heat_halves(p) ? 0 : -1; i < 4; i++) {
            const int gives = FORMS[form] | (i < 0 ? 0 : STEPS[i]);
            Sheet try = *s;
            try.slim = gives & SLIM;
            try.flat = gives & FLAT;
            try.apart = gives & CLOSE ? 0 : s->apart;
            if (gives & NAMELESS && !s->nameless) {
                try.nameless = true;
                try.r.x -= s->margin;
                try.r.w += s->margin;
            }
            if (gives & TOPLESS && s->head_y >= 0) {
                try.head_y = -1;
                try.r.y--;
                try.r.h++;
            }
            if (choose_maps(p, &try)) {
                *s = try;
                return true;
            }
        }
    return false;
}

/* Fine enough to be a map, or half as fine as its patches. */
static bool legible(const Sheet *s)
{
    const int least = s->matrix ? MATRIX_LEGIBLE : MAP_LEGIBLE;
    return (s->rows >= least || 2 * s->rows >= s->of_rows) && (s->cols >= least || 2 * s->cols >= s->of_cols);
}

/* Maps of all heads: of all blocks, however far they must be pooled; of matrices, where these would be hardly more than
 * their mean, of as many blocks as are legible. */
static bool choose_page(const Paint *p, Sheet *s)
{
    Sheet all = *s;
    const bool fit = choose_maps(p, &all) || (!s->matrix && choose_close(p, &all));
    if (fit && s->matrix && !legible(&all)) { /* rather no blank between them than some of them alone */
        Sheet try = *s;
        try.touching = true;
        if (choose_map(p, &try, s->blocks, s->heads, 1) && legible(&try)) {
            *s = try;
            return true;
        }
    }
    for (int blocks = fit && (!s->matrix || legible(&all)) ? 0 : s->blocks - 1; blocks > 0; blocks--) {
        Sheet try = *s;
        if (choose_map(p, &try, blocks, s->heads, 1) && legible(&try)) {
            *s = try;
            return true;
        }
    }
    if (!fit && !heat_halves(p) && !s->slim) { /* in characters a square of two halves what fits */
        Sheet try = *s;
        try.slim = true;
        if (choose_page(p, &try)) {
            *s = try;
            return true;
        }
    }
    if (fit)
        *s = all;
    return fit;
}

/* Where not even the coarsest maps of all heads fit, as many as do. */
static bool choose_some_maps(const Paint *p, Sheet *s)
{
    Sheet best = *s;
    int most = 0;
    for (int heads = s->heads; heads > 0; heads--)
        for (int blocks = s->blocks; blocks * heads > most; blocks--) {
            Sheet try = *s;
            if (choose_map(p, &try, blocks, heads, 1)) {
                most = blocks * heads;
                best = try;
            }
        }
    *s = best;
    return most > 0;
}

/* Matrices of all heads, pooled as far as they must be; false where they are too many values for a frame. */
static bool choose_pooled(const Paint *p, Sheet *s)
{
    Sheet try = *s;
    if (size_mul((size_t)s->of_rows, (size_t)s->of_cols) * (size_t)s->heads > VALUES_MOST / (size_t)s->blocks ||
        !choose_page(p, &try))
        return false;
    *s = try;
    return true;
}

/* Of words: whole matrices, or of fractional size where these are larger; a line for each head, unless they leave a
 * quarter of the room to pooled matrices; some whole ones. */
static bool choose_listed(const Paint *p, const Attend *a, Sheet *s)
{
    Sheet pooled = *s;
    pooled.matrix = true;
    pooled.of_rows = a->t_axis->n;
    pooled.apart = 2;
    const bool whole = choose_words(p, a, s, s->blocks, s->heads);
    Sheet lines = *s;
    const bool listed = !whole && choose_lines(p, a, &lines);
    const int used = s->blocks * (s->heads * lines.lines + lines.gap) + lines.under.h;
    if (listed && 4 * used > 3 * s->r.h) {
        *s = lines;
        return true;
    }
    bool can = choose_pooled(p, &pooled);
    if (!can || pooled.cols < pooled.of_cols) { /* every column counts */
        pooled.apart = 1;
        can = choose_pooled(p, &pooled);
    }
    if (listed && !(can && legible(&pooled))) {
        *s = lines;
        return true;
    }
    if (!can)
        return whole || choose_some_words(p, a, s);
    if (!whole || 4 * pooled.size.tall > 5 * s->size.tall)
        *s = pooled;
    return true;
}

/* The most detail with which all heads fit; else so much of it that a few do, scrolled. */
static void choose(const Paint *p, const Attend *a, Sheet *s)
{
    if (attend_listed(a) ? choose_listed(p, a, s) : choose_page(p, s))
        return;
    if (choose_some_maps(p, s))
        return;
    *s = sized_words(p, s, a->u.rows, a->u.cols, 1, 1);
}

/* Matrices that begin and end dark run into each other else. */
static void choose_gaps(Sheet *s)
{
    Sheet try = *s;
    try.gap = try.apart = 2;
    if (fits(&try, s->blocks, s->heads)) {
        *s = try;
        return;
    }
    try.gap = 1;
    for (int apart = 2; apart >= 1; apart--) {
        try.apart = apart;
        if (fits(&try, s->down, s->across)) {
            *s = try;
            return;
        }
    }
}

/* A bar at the left of a map stands at its own, not between two. */
static void choose_apart(Sheet *s)
{
    Sheet try = *s;
    try.apart = 2;
    if (fits(&try, s->down, s->across))
        *s = try;
}

/* Words at the margins of their matrices, where there is room for whole ones. */
static void choose_margins(const Paint *p, const Attend *a, Sheet *s)
{
    int word = shown_axis_widest(a->t_axis, INT_MAX) + 1, lines = words_across_lines(a->u_axis, s->wide, INT_MAX);
    if ((!heat_halves(p) || s->tall % 2 == 0) && s->wide && s->heads * (s->columns + 1) - 1 + word <= s->r.w)
        s->beside = rect_cut(&s->r, 'l', word);
    if (s->wide > 1 && s->blocks * (s->lines + s->gap) - s->gap + lines <= s->r.h)
        s->under = rect_cut(&s->r, 'b', s->r.h - s->blocks * (s->lines + s->gap) + s->gap);
    s->under.h = s->under.h < lines ? s->under.h : lines;
}

static int window(int all, int room, int size)
{
    int n = room / size;
    return n < 1 ? 1 : n > all ? all : n;
}

/* What margins leave. */
static Sheet sheet_room(Rect r, int blocks, const Attend *a)
{
    Sheet s = {.blocks = blocks,
               .heads = a->heads,
               .of_rows = a->u.rows,
               .of_cols = a->u.cols,
               .head_y = -1,
               .caption_y = -1,
               .folds = 1,
               .apart = 1};
    if (r.h > 3)
        s.caption_y = r.y + --r.h;
    if (r.h > 2) {
        s.head_y = r.y++;
        r.h--;
    }
    s.margin = r.w > SHEET_LABEL + 4 ? SHEET_LABEL : 0;
    rect_cut(&r, 'l', s.margin);
    s.r = r;
    return s;
}

/* Where bars stand beside maps, one line for them and one for the colours, if all maps then still are legible. */
static void choose_key(const Paint *p, const Attend *a, Sheet *s)
{
    const int stacked = sheet_stacked(s->blocks, s->folds), used = stacked * (s->lines + s->gap) - s->gap;
    if (s->matrix || s->listed || !a->pattern || used < s->r.h || s->caption_y < 0 || sheet_most_lost(p->s) <= 0)
        return;
    Sheet try = *s;
    try.folds = 1;
    try.slim = false;
    try.r.h--;
    choose(p, a, &try);
    if (legible(&try) && fits(&try, s->blocks, s->heads))
        *s = try;
}

Sheet sheet_fit(const Paint *p, Rect r, const Attend *a, int block)
{
    Sheet s = sheet_room(r, session_blocks_on(p->s, a->v.side), a);
    if (!attend_listed(a) && a->pattern &&
        sheet_most_lost(p->s) > 0) { /* a bar between two maps touches its own alone */
        Sheet try = s;
        try.apart = 2;
        choose(p, a, &try);
        s.apart += try.rows && legible(&try) && fits(&try, try.blocks, try.heads);
    }
    choose(p, a, &s);
    choose_key(p, a, &s);
    bool all = s.listed || s.folds > 1;
    s.down = all ? s.blocks : window(s.blocks, s.r.h + s.gap, s.lines + s.gap);
    s.across = all ? s.heads : window(s.heads, s.r.w + s.apart, s.columns + s.apart);
    if (s.matrix && attend_listed(a))
        choose_margins(p, a, &s);
    if (s.matrix && s.folds == 1)
        choose_gaps(&s);
    if (!s.matrix && !s.listed)
        choose_apart(&s);
    s.first_block = (int)scroll_first((size_t)s.blocks, (size_t)block, (size_t)s.down);
    s.first_head = (int)scroll_first((size_t)s.heads, (size_t)a->head, (size_t)s.across);
    return s;
}

Rect sheet_thumb(const Sheet *s, int block, int head)
{
    if (s->listed)
        return (Rect){s->r.y + (block * s->heads + head) * s->lines + block * s->gap, s->r.x, s->lines, s->columns};
    int below = s->folds > 1 ? sheet_stacked(s->blocks, s->folds) : s->down, i = block - s->first_block;
    return (Rect){s->r.y + i % below * (s->lines + s->gap),
                  s->r.x + i / below * (s->heads * (s->columns + s->apart) + fold(s)) +
                      (head - s->first_head) * (s->columns + s->apart),
                  s->lines, s->columns};
}

bool sheet_scale_of_heads(const Session *s)
{
    return s->look.range == RANGE_HEADS && s->compare != COMPARE_SIDES && !s->look.locked;
}

bool sheet_scale(const Paint *p, const Attend *a, const Sheet *s, ColourScale *out)
{
    Attend of;
    bool any = false;
    const bool heads = sheet_scale_of_heads(p->s);
    if (!heads && (a->v.side != SIDE_DIFF || !a->in_share || !attend_listed(a)))
        return false;
    const int block = heads ? 0 : s->first_block, blocks = heads ? s->blocks : block + s->down,
              head = heads ? 0 : s->first_head, end = heads ? s->heads : head + s->across;
    for (int b = block; b < blocks; b++)
        for (int h = head; attend_open(p->s, a->v.side, b, &of) && of.v.values && h < of.heads && h < end; h++) {
            of.head = h;
            of.placed = heads && !s->matrix; /* as it is drawn */
            const ColourScale own = attend_scale(p, &of, !s->matrix);
            const float low = any ? fminf(out->low, own.low) : own.low,
                        high = any ? fmaxf(out->high, own.high) : own.high;
            *out = own;
            out->low = low;
            out->high = high;
            out->root = false;
            any = true;
        }
    if (heads && any) {
        const float range[] = {out->low, out->high};
        const bool points = out->points;
        *out = colour_scale_for(p, a->v.side, a->v.node, range, 2); /* signed where one of them is */
        out->points = points;
    }
    return any;
}

int sheet_detail(const Session *s, const Attend *a, int h, int w)
{
    Canvas none = {0};
    Sheet sheet = sheet_room((Rect){0, 0, h, w}, session_blocks_on(s, a->v.side), a);
    choose(&(Paint){.s = s, .c = &none, .mode = MODE_256}, a, &sheet);
    const bool all = sheet.listed || sheet.folds > 1 || fits(&sheet, sheet.blocks, sheet.heads);
    return all ? sheet.rows * sheet.cols : 0;
}
