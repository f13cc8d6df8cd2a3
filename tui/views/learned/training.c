/* What training left behind, as it grew: how alike the places of patches are at every snapshot (of a text model what
 * the words of one sentence look at), a large map of the chosen one over a film strip of all, and the curves of the
 * run. What was recorded while training is in no trace: no cell here carries a Ref. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/learned/film.h"
#include "core/session/learned/measures.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/heat.h"
#include "tui/views/lattice.h"
#include "tui/views/learned/curves.h"
#include "tui/views/shown.h"

enum {
    SQUARE_MOST = 16,
    THUMB_MOST = 4,
    CURVES_LEAST = 20,
    MAP_LEAST = 8,
    LEGEND = 19, /* "─ with ┄ without" */
    LEGEND_WIDE = 28,
    FIGURE_LINES = 3,
    SCALE_LEAST = 9,
    SCALE_MOST = 40,
    FIGURES_LEAST = 36,
    WORD_WIDE = 9, /* the words beside the map */
    WIDE = 140,
    STATUS_WIDE = 58,
    STATUS_LEAST = 30
};

typedef struct Training {
    const History *run, *twin, *shown; /* shown: the one looked at */
    const PositionFilm *film;          /* of the one looked at, or NULL */
    PositionFilmKind kind;
    bool words;                   /* a text model's: */
    WordFilm text;                /* the head in focus */
    bool map;                     /* is there anything to draw besides the curves? */
    int snapshot, count;          /* the chosen one; count may be 0 */
    int rows, cols, at, row, col; /* patches; the picked one. Of words those that ask, and that are looked at */
    const Axis *p;
} Training;

static bool open_training(const Session *s, Training *out)
{
    Training t = {.run = session_history(s),
                  .twin = session_history_twin(s),
                  .kind = s->look.positions.centred ? FILM_CENTRED : FILM_RAW};
    bool twin = s->look.training.twin && t.twin;
    if (!t.run)
        return false;
    const Graph *g = session_graph(s, SIDE_B);
    int p = graph_role(g, ROLE_PLACE, SEQUENCE_ANY);
    t.shown = twin ? t.twin : t.run;
    t.film = session_film(s, twin);
    t.count = t.shown->snapshot_count;
    t.snapshot = s->look.training.snapshot < 0          ? 0
                 : s->look.training.snapshot >= t.count ? t.count - 1
                                                        : s->look.training.snapshot;
    if (p == AXIS_NONE || (t.film && g->axes[p].n != t.film->rows * t.film->cols))
        t.film = NULL;
    t.words = session_word_film(s, &t.text);
    t.map = t.film || t.words;
    if (t.words) {
        t.rows = t.text.queries;
        t.cols = t.text.keys;
        t.row = t.text.row;
        t.col = word_film_most(&t.text, t.snapshot);
    } else if (t.film) {
        t.p = &g->axes[p];
        t.rows = t.film->rows;
        t.cols = t.film->cols;
        t.at = s->place.at[p] < 0 ? 0 : s->place.at[p] >= t.p->n ? t.p->n - 1 : s->place.at[p];
        axis_patch(t.p, t.at, &t.row, &t.col);
    }
    *out = t;
    return true;
}

static int step_of(const Training *t)
{
    return t->count > 0 ? t->shown->snapshot[t->snapshot].step : 0;
}

/* Where everything goes; h = 0 where there is no room. */
typedef struct Layout {
    Rect map, scale, curves, strip, figures, status; /* scale: under the map; else beside the figures */
    Rect keys;                                       /* the words that are looked at, below their columns */
    int thumb, thumb_w, thumb_h;                     /* cells per patch; size of a thumbnail with its number */
    int first, across, shown;                        /* thumbnails: the first one shown, in a line, in all */
} Layout;

/* Lines that a strip may have: two fifths where it is high. */
static int strip_lines(int h)
{
    return h >= 5 * MAP_LEAST ? h * 2 / 5 : h / 3;
}

/* The largest thumbnails of which all fit, else the smallest, as many as fit around the chosen one. */
static void strip_layout(const Paint *p, const Training *t, Rect r, Layout *l)
{
    bool halves = heat_halves(p);
    for (int k = THUMB_MOST; k >= 1; k--) {
        int lines = (halves ? (t->rows * k + 1) / 2 : t->rows * (k > 1 ? k / 2 : 1)) + 1, wide = t->cols * k + 1;
        int across = (r.w + 1) / wide, down = across ? (t->count + across - 1) / across : 0;
        bool fits = across && down * lines <= strip_lines(r.h) && (halves || k % 2 == 0);
        if (k > 1 && !fits)
            continue;
        l->thumb = k;
        l->thumb_w = wide < 6 ? 6 : wide; /* the number of its step needs room */
        l->thumb_h = lines;
        break;
    }
    int lines = strip_lines(r.h) / l->thumb_h < 1 ? 1 : strip_lines(r.h) / l->thumb_h, down;
    l->across = (r.w + 1) / l->thumb_w < 1 ? 1 : (r.w + 1) / l->thumb_w;
    down = (t->count + l->across - 1) / l->across;
    if (down > 1 && down <= lines) /* lines of the same length */
        l->across = (t->count + down - 1) / down;
    l->shown = l->across * lines > t->count ? t->count : l->across * lines;
    l->first = (int)scroll_first((size_t)t->count, (size_t)t->snapshot, (size_t)l->shown);
}

/* Do two rows share a line? */
static bool paired(const LatticeMap *m)
{
    return m->halves && m->k == 1;
}

/* A text of the record as one reads it, without what a tokeniser writes before a piece. */
typedef struct Recorded {
    Axis axis;
    const char *label[SENTENCE_WORDS + 1];
    char text[SENTENCE_WORDS + 1][WORD_LABEL];
} Recorded;

static void open_words(Recorded *w, const char *const *words, int n)
{
    const Axis axis = {.n = n, .kind = AXIS_CLASS, .labels = words};
    for (int i = 0; i < n; i++)
        w->label[i] = word_itself(&axis, i, w->text[i]);
    w->axis = (Axis){.n = n, .kind = AXIS_CLASS, .labels = w->label};
}

static void open_asks(Recorded *w, const WordFilm *f)
{
    open_words(w, f->texts.target_queries ? f->text->target : f->text->source, f->queries);
}

static void open_keys(Recorded *w, const WordFilm *f)
{
    open_words(w, f->texts.target_keys ? f->text->target : f->text->source, f->keys);
}

/* Columns of a word before the map. */
static int word_wide(const Training *t)
{
    Recorded asks;
    if (!t->words)
        return 0;
    open_asks(&asks, &t->text);
    return shown_axis_widest(&asks.axis, WORD_WIDE - 1) + 1;
}

/* The map; of words in front of it room for those that ask, for two where two rows share a line. */
static LatticeMap map_in(const Paint *p, const Training *t, Rect r)
{
    const int wide = word_wide(t);
    for (int words = 1; t->words && words <= 2; words++) {
        Rect beside = r;
        rect_cut(&beside, 'l', words * wide);
        if (beside.w < WORD_WIDE)
            break;
        LatticeMap m = lattice_map(p, beside, t->rows, t->cols, SQUARE_MOST, t->row, t->col);
        if (m.cols == t->cols && words == 1 + paired(&m))
            return m;
    }
    return lattice_map(p, r, t->rows, t->cols, SQUARE_MOST, t->row, t->col);
}

/* Room under the map for the words that are looked at: for all where there are so many lines, else one for some. */
static Rect keys_under(const Training *t, const LatticeMap *m, Rect r, int lines)
{
    if (!t->words || lines < 1)
        return (Rect){0};
    Recorded keys;
    open_keys(&keys, &t->text);
    const int all = words_across_lines(&keys.axis, m->k, INT_MAX);
    return (Rect){m->r.y + m->r.h, m->r.x, all <= lines ? all : 1, r.x + r.w - m->r.x};
}

/* Columns that a map of words takes with the words in front of it, where the curves have room beside it. */
static int words_wide(const Training *t, int w)
{
    const int wide = word_wide(t) + 2 * t->cols, most = w - CURVES_LEAST - 2;
    return !t->words ? 0 : wide < most ? wide : most;
}

static Layout layout(const Paint *p, const Training *t, Rect r)
{
    Layout l = {0};
    if (r.h > 1)
        l.status = rect_cut(&r, 'b', 1);
    if (t->map && t->count > 0) {
        strip_layout(p, t, r, &l);
        int lines = (l.shown + l.across - 1) / l.across;
        if (r.h - lines * l.thumb_h >= MAP_LEAST) {
            l.strip = rect_cut(&r, 'b', lines * l.thumb_h);
            rect_cut(&r, 'b', r.h > 2 * MAP_LEAST);
        }
        int wide = r.w >= WIDE              ? r.w / 3
                   : r.w > 2 * CURVES_LEAST ? r.w * 45 / 100
                                            : r.w; /* what is over makes the curves wider */
        const int words = words_wide(t, r.w);
        wide = words > wide ? words : wide;
        bool under = r.h > 2 * MAP_LEAST &&
                     wide >= FIGURES_LEAST; /* the figures: the curves get the lines beside them */
        LatticeMap m = map_in(p, t, (Rect){r.y, r.x, r.h - (under ? FIGURE_LINES + 1 : 0), wide});
        int map = m.r.x + m.r.w - r.x;
        Rect left = rect_cut(&r, 'l', under && map < FIGURES_LEAST ? FIGURES_LEAST : map);
        rect_cut(&r, 'l', 2);
        int free = left.h - m.r.h;
        l.keys = keys_under(t, &m, left, free - (under ? FIGURE_LINES + 1 : 0));
        if (under) {
            free -= l.keys.h;
            l.figures = rect_cut(&left, 'b', free > FIGURE_LINES + 1 ? free - 1 : free);
            l.scale = rect_cut(&l.figures, 't', l.figures.h > FIGURE_LINES);
            l.figures.h = FIGURE_LINES;
        }
        l.map = (Rect){left.y, left.x, m.r.h, left.w};
        if (t->words && !l.keys.h && left.y + m.r.h == l.status.y && map + 2 + STATUS_LEAST < l.status.w) {
            l.keys = keys_under(t, &m, left, 1); /* beside the status */
            l.keys.w = rect_cut(&l.status, 'l', map + 2).w - (m.r.x - l.map.x) - 1;
        }
    } else if (!t->map && r.h > 2 * MAP_LEAST)
        l.map = rect_cut(&r, 't', 3); /* why there is none */
    if (t->map && !l.figures.h && r.h > 5)
        l.figures = rect_cut(&r, 'b',
                             r.h > 2 * MAP_LEAST ? FIGURE_LINES + t->words
                             : r.h > MAP_LEAST   ? 2 + t->words
                                                 : 1);
    l.curves = r.w >= CURVES_LEAST ? r : (Rect){0};
    return l;
}

typedef struct Map {
    const Training *t;
    const float *x; /* [rows, cols] */
} Map;

/* What the map of a snapshot shows: how alike the picked place is to each, or who looks at whom. NULL: not made yet. */
static const float *map_of(const Training *t, int snapshot)
{
    if (t->words)
        return word_film_pattern(&t->text, snapshot);
    const PositionFilmFrame *frame = position_film_frame(t->film, snapshot);
    return frame ? frame->cosine[t->kind] + (size_t)t->at * (size_t)t->p->n : NULL;
}

static float map_value(const void *context, int row, int col, Ref *ref)
{
    const Map *m = context;
    (void)ref; /* a record of training is in no trace */
    return m->x[(size_t)row * (size_t)m->t->cols + (size_t)col];
}

/* The words beside the map, and below it. */
static void draw_texts(const Paint *p, const Training *t, const LatticeMap *m, Rect r, Rect keys)
{
    Recorded words;
    const int wide = word_wide(t);
    open_asks(&words, &t->text);
    for (int i = 0; m->r.x > r.x && i < t->rows; i++) {
        const Rect line = lattice_map_patch(m, i, m->col);
        const int second = paired(m) && (i - m->row) % 2 ? wide : 0;
        if (line.h > 0)
            canvas_text(p->c, line.y + (line.h - 1) / 2, r.x + second, wide - 1,
                        i == t->row ? STYLE_STRONG : STYLE_AXIS, words.label[i]);
    }
    open_keys(&words, &t->text);
    words_across(p, &words.axis, m->col, m->cols, t->col, -1, keys, m->k);
}

static void draw_map(const Paint *p, const Training *t, Rect r, Rect keys, const ColourScale *scale, bool focus)
{
    const float *x = map_of(t, t->snapshot);
    if (!x) {
        shown_computing(p, r);
        return;
    }
    LatticeMap m = map_in(p, t, r);
    lattice_map_draw(p, &m, scale, map_value, &(Map){t, x});
    if (t->words)
        draw_texts(p, t, &m, r, keys);
    lattice_map_mark(p, &m, t->row, t->col, "[]!", STYLE_CURSOR, (Ref){0});
    Rect patch = lattice_map_patch(&m, t->row, t->col);
    focus_cursor(p, focus, patch.y + (patch.h > 0 ? (patch.h - 1) / 2 : 0), patch.x);
}

static Rect thumb_rect(const Layout *l, int i)
{
    int k = i - l->first;
    return (Rect){l->strip.y + k / l->across * l->thumb_h, l->strip.x + k % l->across * l->thumb_w, l->thumb_h,
                  l->thumb_w - 1};
}

/* How many snapshots are off either end of the strip, in what its last line leaves. */
static void put_more(const Paint *p, const Training *t, const Layout *l)
{
    const int before = l->first, after = t->count - l->first - l->shown;
    const Rect last = thumb_rect(l, l->first + l->shown - 1);
    char text[48];
    if (before && after)
        snprintf(text, sizeof text, "%d earlier, %d later", before, after);
    else
        snprintf(text, sizeof text, "%d %s", before + after, before ? "earlier" : "later");
    char step[24];
    const int number = snprintf(step, sizeof step, "[%d]", t->shown->snapshot[l->first + l->shown - 1].step),
              end = l->strip.x + l->strip.w, from = last.x + (number < last.w ? number : last.w) + 1;
    int w = (int)strlen(text);
    if (before && after && from > end - w)
        w = snprintf(text, sizeof text, "%d+%d more", before, after);
    else if (from > end - w)
        w = utf8_print(text, sizeof text, before ? "‹%d more" : "%d more›", before + after);
    if (from > end - w)
        w = utf8_print(text, sizeof text, before ? "‹%d" : "%d›", before + after);
    if ((before || after) && from <= end - w)
        canvas_text(p->c, last.y, end - w, w, STYLE_DIM, text);
}

static void draw_strip(const Paint *p, const Training *t, const Layout *l, const ColourScale *scale)
{
    for (int i = l->first; i < l->first + l->shown; i++) {
        Rect r = thumb_rect(l, i), label = rect_cut(&r, 't', 1); /* between the film and the map above it */
        const float *x = map_of(t, i);
        char text[24];
        snprintf(text, sizeof text, i == t->snapshot ? "[%d]" : "%d", t->shown->snapshot[i].step);
        canvas_text(p->c, label.y, label.x, label.w + (i == t->snapshot), i == t->snapshot ? STYLE_CURSOR : STYLE_AXIS,
                    text);
        if (!x) {
            canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "…");
            continue;
        }
        LatticeMap m = lattice_map(p, r, t->rows, t->cols, l->thumb, t->row, t->col);
        lattice_map_draw(p, &m, scale, map_value, &(Map){t, x});
    }
}

/* Accuracy on pictures that the run does not learn from, as last measured; NaN before. */
static float check_of(const Training *t)
{
    for (int row = curves_row(t->shown, step_of(t)); row >= 0; row--)
        if (history_at(t->shown, row, HISTORY_CHECK) >= 0)
            return history_at(t->shown, row, HISTORY_CHECK);
    return NAN;
}

/* Where the picked word looks by then, and how evenly the head does: the first lines that there is room for. used:
 * cells of the last one. */
static int draw_words(const Paint *p, const Training *t, Rect r, int *used)
{
    const WordFilm *f = &t->text;
    const float *row = word_film_pattern(f, t->snapshot) + (size_t)f->row * (size_t)f->keys;
    Recorded asks, keys;
    open_asks(&asks, f);
    open_keys(&keys, f);
    *used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_TEXT, "\"%s\" looks most at \"%s\", %.2f", asks.label[f->row],
                          keys.label[t->col], (double)row[t->col]);
    /* the plot's is another: of all heads, over batches */
    static const char *const FORMS[] = {"entropy of this head on this text: %.2f of the most; plot: all heads, batches",
                                        "this head on this text: entropy %.2f; plot: batches",
                                        "entropy on this text %.2f of the most", "entropy on this text %.2f"};
    const double entropy = (double)t->shown->snapshot[t->snapshot]
                               .entropy[f->attention * f->history->text.heads + f->head];
    char text[96];
    for (size_t k = 0; k < sizeof FORMS / sizeof *FORMS; k++)
        if (utf8_print(text, sizeof text, FORMS[k], entropy) <= r.w)
            break;
    if (r.h > 1)
        *used = canvas_text(p->c, r.y + 1, r.x, r.w, STYLE_TEXT, text);
    return r.h > 1 ? 2 : 1;
}

static int put_check(const Paint *p, const Training *t, Rect r, float check)
{
    size_t n = session_history_checked(p->s, t->shown == t->twin);
    char share[48], text[96];
    measure_share_text((size_t)((double)check * (double)n + 0.5), n, share, sizeof share);
    const char *what = !t->words ? "check pictures" : t->shown->text.source ? "unseen sentences" : "held-out tokens";
    if (!n)
        utf8_print(text, sizeof text, "right on %s: %.1f %%", what, 100 * (double)check);
    else {
        utf8_print(text, sizeof text, "right of %zu %s: %s", n, what, share);
        if (utf8_cells(text) > r.w)
            utf8_print(text, sizeof text, "right of %zu: %s", n, share);
    }
    return canvas_text(p->c, r.y, r.x, r.w, STYLE_TEXT, text);
}

/* What the colours of the map and the film are. */
static void put_scale(const Paint *p, const Training *t, Rect r, const ColourScale *scale)
{
    static const char *const WHAT[] = {"cosine ", "weight "};
    const char *what = WHAT[t->words];
    const int used = r.w >= SCALE_LEAST + (int)strlen(what) ? canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, what) : 0,
              left = r.w - used;
    colour_scale_bar(p, scale, r.y, r.x + used, left < SCALE_MOST ? left : SCALE_MOST);
}

/* How well the places know the grid, and what the model is worth by then: the first that there is room for. */
static void draw_figures(const Paint *p, const Training *t, const Layout *l, const ColourScale *scale)
{
    const PositionGrid *g = session_history_grid(p->s, t->shown == t->twin, t->snapshot);
    const Rect r = l->figures;
    float check = check_of(t);
    const bool wide = r.w >= 44, middle = r.w >= FIGURES_LEAST;
    int used = 0, y = r.y + (t->words ? draw_words(p, t, r, &used) : 0);
    if (g)
        used = canvas_printf(p->c, y++, r.x, r.w, STYLE_TEXT,
                             r.w >= 62 ? "the most alike place is beside: %.0f %% (chance %.0f), corner %.0f (%.0f)"
                             : wide    ? "the most alike is beside: %.0f %% (chance %.0f)"
                             : middle  ? "most alike beside: %.0f %% (chance %.0f)"
                                       : "all: beside %.0f %% (chance %.0f)",
                             100 * g->near4, 100 * g->chance4, 100 * g->near8, 100 * g->chance8);
    double rank = !g ? (double)NAN : t->kind == FILM_CENTRED ? g->rank_centred : g->rank;
    if (!isnan(rank) && y < r.y + r.h)
        used = canvas_printf(p->c, y++, r.x, r.w, STYLE_TEXT,
                             r.w >= 62 ? "of all places, rank correlation of alike and near: %.2f"
                             : middle  ? "rank correlation alike/near: %.2f"
                                       : "all: rank correlation %.2f",
                             rank);
    const int end = r.y + r.h - (t->words && !l->scale.h && r.h > 2); /* the colours have a line of their own */
    if (!isnan(check) && y < end)
        used = put_check(p, t, (Rect){y++, r.x, 1, r.w}, check);
    if (y < r.y + r.h) /* a line is free */
        used = 0;
    const Rect last = {r.y + r.h - 1, r.x + used + (used > 0), 1, r.w - used - (used > 0)};
    if (l->scale.h)
        put_scale(p, t, l->scale, scale);
    else if (last.w >= SCALE_LEAST)
        put_scale(p, t, last, scale);
}

/* What a curve and the number beside it are: of which steps, in as many words as there is room for beside the legend of
 * a twin, if need be instead of it; returns the cells. Nothing where no batch is recorded by then. */
static int put_means(const Paint *p, const Training *t, Rect r)
{
    static const char *const TEXT[] = {"  (means of the recorded batches of steps %d–%d)", "  means of steps %d–%d",
                                       "  mean %d–%d"};
    char text[64];
    const int legend[] = {LEGEND_WIDE, LEGEND, 0}, row = curves_row(t->shown, step_of(t)),
              first = row < CURVES_MEAN ? 0 : row + 1 - CURVES_MEAN;
    for (size_t k = t->twin ? 0 : 2; row >= 0 && k < sizeof legend / sizeof *legend; k++)
        for (size_t i = 0; i < sizeof TEXT / sizeof *TEXT; i++) {
            utf8_print(text, sizeof text, TEXT[i], (int)history_at(t->shown, first, HISTORY_STEP),
                       (int)history_at(t->shown, row, HISTORY_STEP));
            if (utf8_cells(text) + legend[k] <= r.w)
                return canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, text);
        }
    return 0;
}

static void draw_status(const Paint *p, const Training *t, Rect r)
{
    if (!t->count)
        return;
    int used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG,
                             r.w >= STATUS_WIDE + (t->twin ? LEGEND_WIDE : 0) ? "recorded while training, step %d"
                                                                              : "step %d",
                             step_of(t));
    used += canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, "  %d of %d", t->snapshot + 1, t->count);
    used += put_means(p, t, (Rect){r.y, r.x + used, 1, r.w - used});
    if (!t->twin || r.w - used < LEGEND)
        return;
    bool wide = r.w - used >= LEGEND_WIDE;
    used += canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_SIDE_A, wide ? "   ─ with 1/√d_k" : "  ─ with");
    canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_SIDE_B, wide ? "   ┄ without" : "  ┄ without");
}

static void draw_all(const Paint *p, const Training *t, Rect r, bool focus)
{
    Layout l = layout(p, t, r);
    ColourScale scale = colour_scale_of_range(p, t->words ? 0 : -1, 1); /* a share, or a cosine */
    char name[ATTENTION_NAME], title[ATTENTION_NAME + 16] = "";
    if (t->words)
        utf8_print(title, sizeof title, "entropy, %s",
                   session_attention_name(session_graph(p->s, SIDE_B), t->text.part, name));
    Curves curves = {.run = t->run,
                     .twin = t->twin,
                     .on_twin = t->shown == t->twin,
                     .step = step_of(t),
                     .line = t->words ? t->text.attention : -1,
                     .name = title};
    if (t->map && t->count)
        draw_map(p, t, l.map, l.keys, &scale, focus);
    else if (l.map.h)
        canvas_wrap(p->c, l.map, STYLE_DIM,
                    "This run has no table of position embeddings: only its figures were recorded.");
    if (l.strip.h) {
        draw_strip(p, t, &l, &scale);
        put_more(p, t, &l);
    }
    if (l.curves.h)
        curves_draw(p, l.curves, &curves);
    if (l.figures.h)
        draw_figures(p, t, &l, &scale);
    if (l.status.h)
        draw_status(p, t, l.status);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Training t;
    (void)side;
    if (open_training(p->s, &t))
        draw_all(p, &t, r, focus);
    else
        canvas_wrap(p->c, r, STYLE_TEXT,
                    "No record of this model's training is known. `vitrine train -o FOLDER` makes a model with one: "
                    "history.safetensors beside its weights.");
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)s, (void)side, (void)r, (void)out; /* the session makes the film while this screen is on */
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Training t;
    (void)side;
    if (!open_training(p->s, &t) || !t.map || !t.count)
        return false;
    Layout l = layout(p, &t, r);
    for (int i = l.first; l.strip.h && i < l.first + l.shown; i++)
        if (rect_has(thumb_rect(&l, i), y, x)) {
            buf_printf(command, "training %d", i);
            return true;
        }
    LatticeMap m = map_in(p, &t, l.map);
    int row, col;
    char label[32];
    if (!rect_has(l.map, y, x) || !lattice_map_hit(&m, y, x, &row, &col))
        return false;
    if (t.words) {
        int axis = session_role(p->s, ROLE_QUERY); /* the sentence that is open may be a shorter one */
        bool there = axis != AXIS_NONE && row < session_base(p->s)->axes[axis].n;
        if (there)
            buf_printf(command, "query %d", row);
        return there;
    }
    buf_printf(command, "training patch=%s", axis_label(t.p, row * t.cols + col, label, sizeof label));
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    Training t;
    char label[32], name[ATTENTION_NAME];
    (void)side;
    if (!open_training(s, &t)) {
        buf_puts(out, "training");
        return;
    }
    buf_printf(out, "training%s", !t.twin ? "" : t.shown == t.twin ? " without 1/√d_k" : " with 1/√d_k");
    if (t.words) { /* the text on show may be another one */
        session_attention_name(session_graph(s, SIDE_B), t.text.part, name);
        Recorded asks, keys;
        open_asks(&asks, &t.text);
        open_keys(&keys, &t.text);
        buf_printf(out, ": %s head %d, \"%s\" of the recorded text at [%s]\ntraining: %s head %d, %s at [%s]", name,
                   t.text.head, asks.label[t.row], keys.label[t.col], name, t.text.head, asks.label[t.row],
                   keys.label[t.col]);
    }
    if (t.film)
        buf_printf(out, ": positions like %s, cosine, %s", axis_label(t.p, t.at, label, sizeof label),
                   t.kind == FILM_CENTRED ? "mean removed" : "raw");
}

static const ViewWay WAYS[] = {{"raw        cosine of the embeddings as they are", "view raw"},
                               {"centred    cosine after the mean embedding is removed", "view centred"},
                               {"own        the run of this model", "training own"},
                               {"twin       the same run without 1/√d_k", "training twin"},
                               {"first      before the first step", "training first"},
                               {"last       the model that is open", "training last"},
                               {NULL, NULL}};

static const KeyBinding KEYS[] = {{"Up", "move up", "scrub", "the patch or word before", KEY_COUNTS, 2, NULL},
                                  {"Down", "move down", NULL, "the next patch or word", KEY_COUNTS, 0, NULL},
                                  {"Left", "move left", NULL, "the snapshot before", KEY_COUNTS, 0, NULL},
                                  {"Right", "move right", NULL, "the next snapshot", KEY_COUNTS, 0, NULL},
                                  {".", "play", "play", "snapshot by snapshot; any key stops it", 0, 3, NULL},
                                  {.key = NULL}};

VIEW_SPEC(TRAINING, .name = "training", .traits = VIEW_WIDE, .sides = SIDES_TOGETHER,
          .sentence = "Snapshots of the model, recorded while it was trained.", .ways = WAYS, .keys = KEYS);
