/* A line for each head: how many places away it looks, and what share of its weight lies where. A measurement over
 * sentences and in no trace: no cell carries a Ref. */
#include "tui/views/attention/heads_words.h"

#include "core/base/utf8.h"
#include "core/session/screens/heads.h"
#include "tui/views/attention/word_row.h"

enum { LABEL = 16, AWAY = 14, SHARE = 8, SHARE_WIDE = 16, MARK = 2, WORDS_LINES = 4, BAR_LEAST = 6 };

static const char *const PLACES[WORD_PLACES] = {[WORD_ITSELF] = "itself",
                                                [WORD_BEFORE] = "before",
                                                [WORD_AFTER] = "after",
                                                [WORD_MARK] = "ends",
                                                [WORD_FARTHER] = "farther"};

typedef struct Layout {
    Rect header, list, foot, words;
    int share, first, here, lines; /* share: columns of one place */
} Layout;

static Layout layout(const Session *s, Rect r)
{
    int each = session_heads(s) + 1; /* the last one is what weights all alike would give */
    Layout l = {.lines = head_words_rows(s) * each, .here = head_words_row(s) * each + session_head(s)};
    if (r.h > 2)
        l.header = rect_cut(&r, 't', 1);
    if (r.h > 3 * WORDS_LINES) {
        l.words = rect_cut(&r, 'b', r.h > 5 * WORDS_LINES ? WORDS_LINES : 1);
        rect_cut(&r, 'b', r.h > 5 * WORDS_LINES);
    }
    if (r.h > WORDS_LINES)
        l.foot = rect_cut(&r, 'b', 1);
    l.list = r;
    if (l.lines < r.h)
        l.foot.y -= r.h - l.lines;
    if (l.lines < r.h && l.words.h) /* what explains the list follows it */
        l.words.y -= r.h - l.lines - 1;
    l.share = (r.w - LABEL - AWAY) / WORD_PLACES;
    l.share = l.share > SHARE_WIDE ? SHARE_WIDE : l.share;
    l.first = (int)scroll_first((size_t)l.lines, (size_t)l.here, (size_t)r.h);
    return l;
}

static void draw_header(const Paint *p, const Layout *l)
{
    int y = l->header.y, x = l->header.x + LABEL;
    canvas_fill(p->c, l->header, STYLE_HEADER, ' ');
    canvas_text(p->c, y, l->header.x + 1, LABEL - 2, STYLE_HEADER, "head");
    canvas_right(p->c, y, x, AWAY - 2, STYLE_HEADER, "words away");
    for (int k = 0; k < WORD_PLACES && l->share >= SHARE; k++)
        canvas_right(p->c, y, x + AWAY + k * l->share, SHARE - 1, STYLE_HEADER, PLACES[k]);
}

/* The share on the ground of what it is above uniform attention's, and beside it a bar where there is room; strong
 * where it is what the head is for. */
static void draw_share(const Paint *p, const Layout *l, int y, int x, double share, double even, bool most, Style style)
{
    char text[16];
    utf8_print(text, sizeof text, "%.0f %%", 100 * share);
    ColourScale scale = colour_scale_of_range(p, 0, 1);
    canvas_right(p->c, y, x, SHARE - 1, most ? STYLE_STRONG : style, text);
    word_ground(p, y, x, SHARE - 1, &scale, (float)(share > even ? share - even : 0), (Ref){0});
    if (l->share - SHARE >= BAR_LEAST)
        canvas_bar(p->c, y, x + SHARE, l->share - SHARE - 1, share, most ? STYLE_STRONG : style, (Ref){0});
}

/* What a head would show that looks at all it may look at alike. */
static void draw_even(const Paint *p, const Layout *l, const HeadPlacesResult *r, int attention, int y)
{
    char text[32], name[ATTENTION_NAME];
    int x = l->list.x;
    canvas_printf(p->c, y, x, LABEL + AWAY - 2, STYLE_DIM, " %s uniform",
                  session_attention_name(session_base(p->s), anatomy_attention(session_base(p->s), attention), name));
    if (!r)
        return;
    utf8_print(text, sizeof text, "%.1f   ", r->uniform[attention]);
    canvas_right(p->c, y, x + LABEL, AWAY - 2, STYLE_DIM, text);
    for (int k = 0; k < WORD_PLACES && l->share >= SHARE; k++)
        draw_share(p, l, y, x + LABEL + AWAY + k * l->share, r->even[attention][k], 1, false, STYLE_DIM);
}

static void draw_head(const Paint *p, const Layout *l, const HeadPlacesResult *r, int attention, int head, int y,
                      bool here)
{
    const Graph *g = session_base(p->s);
    int x = l->list.x, cell = attention * session_heads(p->s) + head;
    char name[ATTENTION_NAME], text[32];
    if (here)
        canvas_fill(p->c, (Rect){y, x, 1, LABEL - 1}, STYLE_SELECTED, ' ');
    canvas_printf(p->c, y, x, LABEL - 1, here ? STYLE_SELECTED : STYLE_AXIS, "%s%s h%d", here ? ">" : " ",
                  session_attention_name(g, anatomy_attention(g, attention), name), head);
    if (!r)
        return;
    MeanOver d = r->distance[cell];
    utf8_print(text, sizeof text, "%.1f ±%.1g", d.mean, d.margin);
    canvas_right(p->c, y, x + LABEL, AWAY - 2, here ? STYLE_STRONG : STYLE_TEXT, text);
    const int most = head_places_most(r, cell);
    for (int k = 0; k < WORD_PLACES && l->share >= SHARE; k++)
        draw_share(p, l, y, x + LABEL + AWAY + k * l->share, r->share[cell][k].mean, r->even[attention][k], most == k,
                   STYLE_TEXT);
}

/* How many lines have no room, and what the colours say. */
static void draw_foot(const Paint *p, const Layout *l)
{
    const int above = l->first, below = l->lines - l->first - l->list.h;
    const Rect r = l->foot;
    int used = 0;
    if (above && below > 0)
        used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM, "%d lines above, %d below   ", above, below);
    else if (above || below > 0)
        used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM, above ? "%d lines above   " : "%d more lines   ",
                             above ? above : below);
    canvas_text(p->c, l->foot.y, l->foot.x + used, l->foot.w - used, STYLE_DIM,
                "ground: above uniform; bold: the most above");
}

static void draw_line(const Paint *p, const Layout *l, const HeadPlacesResult *r, int line, int y)
{
    int each = session_heads(p->s) + 1;
    if (line % each == each - 1)
        draw_even(p, l, r, line / each, y);
    else
        draw_head(p, l, r, line / each, line % each, y, line == l->here);
}

void heads_words_draw(const Paint *p, Rect r, bool focus)
{
    const char *why;
    const Measure *m = session_measure(p->s, MEASURE_LOOKS, &why);
    const HeadPlacesResult *result = session_head_places(p->s);
    Layout l = layout(p->s, r);
    Buf words = {0};
    if (!why && session_kinds_apply(p->s)) {
        heads_kinds_draw(p, r, focus);
        return;
    }
    if (why) { /* no table without a number */
        buf_printf(&words, "Heads over many sentences: %s. `view sheet` shows all heads on the text that is open.",
                   why);
        canvas_wrap(p->c, r, STYLE_TEXT, buf_str(&words));
        buf_free(&words);
        return;
    }
    if (l.header.h)
        draw_header(p, &l);
    for (int i = l.first; i < l.lines && i < l.first + l.list.h; i++) {
        draw_line(p, &l, result, i, l.list.y + i - l.first);
        if (i == l.here)
            focus_cursor(p, focus, l.list.y + i - l.first, l.list.x);
    }
    if (l.foot.h)
        draw_foot(p, &l);
    if (!result)
        canvas_printf(p->c, l.list.y, l.list.x + LABEL, l.list.w - LABEL, STYLE_DIM, "measuring, %zu of %zu sentences",
                      m ? m->done : 0, m ? m->total : 0);
    if (l.words.h == 1 && result && m) /* the row has the rest of it */
        buf_printf(&words, "means over %zu sentences, model as trained; i says this head in words", m->total);
    else
        head_words_put(p->s, head_words_row(p->s), session_head(p->s), &words);
    canvas_wrap(p->c, l.words, STYLE_TEXT, buf_str(&words));
    buf_free(&words);
}

bool heads_words_click(const Paint *p, Rect r, int y, int x, Buf *command)
{
    const char *why;
    session_measure(p->s, MEASURE_LOOKS, &why);
    if (!why && session_kinds_apply(p->s))
        return heads_kinds_click(p, r, y, x, command);
    Layout l = layout(p->s, r);
    int i = l.first + y - l.list.y, each = session_heads(p->s) + 1;
    if (why || !rect_has(l.list, y, x) || i >= l.lines || i % each == each - 1)
        return false;
    if (i == l.here)
        buf_puts(command, "in");
    else
        buf_printf(command, "attention %d; head %d", i / each, i % each);
    return true;
}
