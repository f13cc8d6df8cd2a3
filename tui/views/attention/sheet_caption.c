#include "tui/views/attention/sheet_caption.h"

#include <math.h>
#include <string.h>

#include "core/base/utf8.h"

enum {
    BRIEFEST = 4,
    NARROW = 30,
    SWATCH = 2, /* columns of a colour */
    RAMP = 11,  /* … of the shortest "0 ▒▒▒▒ most" */
    RAMP_LEAST = 4,
    LOCKED = 22,
    WORDS_MOST = 5 /* lines */
};

/* What is said in words, in this order, as long forms as there is room for; what may be left out first has the lowest
 * rank. */
typedef enum ClauseKind { OF_ROW, OF_LEFT_OUT, OF_CELLS, OF_SCALES, OF_BARS, CLAUSES } ClauseKind;
static const int RANKS[CLAUSES] = {[OF_ROW] = 2, [OF_LEFT_OUT] = 4, [OF_CELLS] = 1, [OF_SCALES] = 3, [OF_BARS] = 5};

typedef struct Caption {
    const Paint *p;
    const Attend *a;
    const Sheet *s;
    ColourScale scale;
    Rect r;          /* its lines, with a blank one where there is room */
    bool locked;     /* one scale for all */
    bool heads;      /* … as the reader chose for this sheet */
    char end[24];    /* that of the scale of the head in focus */
    bool one;        /* … of A − B, whose ends the key has */
    char scales[96]; /* what the key says of its scale, or "" */
    bool placeless;  /* … and that a token has no place on the maps */
    float lost;
    char here[24]; /* "here 40 %", or "" */
    char text[CLAUSES][96], word[64];
} Caption;

/* "2", or "2–3" where cells differ. */
static void put_pool(Buf *out, int n, int cells)
{
    buf_printf(out, n % cells ? "%d–%d" : "%d", n / cells, n / cells + 1);
}

static void put_left_out(Buf *out, const char *what, int first, int shown, int all)
{
    if (shown < all)
        buf_printf(out, "%s%s %d–%d of %d", *buf_str(out) ? ", " : "", what, first, first + shown - 1, all);
}

static void say_left_out(const Sheet *s, int brief, Buf *out)
{
    if (brief >= 2 && s->down < s->blocks && s->across < s->heads) /* which they are stands beside them */
        buf_printf(out, brief > 2 ? "%d/%d × %d/%d" : "%d/%d blocks and %d/%d heads", s->down, s->blocks, s->across,
                   s->heads);
    else if (brief > 2 && s->down < s->blocks)
        buf_printf(out, "%d/%d blocks", s->down, s->blocks);
    else if (s->nameless && s->down == s->blocks) /* no number beside them says what they are */
        buf_printf(out, "down%s: blocks 0–%d", s->folds > 1 ? ", then right" : "", s->blocks - 1);
    else {
        put_left_out(out, "blocks", s->first_block, s->down, s->blocks);
        put_left_out(out, "heads", s->first_head, s->across, s->heads);
    }
}

static void say_cells(const Caption *v, int brief, Buf *out)
{
    const Sheet *s = v->s;
    const HeatSize pixels = heat_fine(v->p, s->size);
    const bool pooled = !s->listed && (s->rows < s->of_rows || s->cols < s->of_cols),
               all = pixels.tall >= s->of_rows && pixels.wide >= s->of_cols;
    char label[32];
    if (pooled && !all) {
        buf_puts(out, "1 cell = ");
        put_pool(out, s->of_rows, s->rows);
        buf_puts(out, "×");
        put_pool(out, s->of_cols, s->cols);
        buf_printf(out, "%s, %s",
                   brief       ? ""
                   : s->matrix ? " tokens"
                               : " patches",
                   colour_scale_pool_word(v->p, &v->scale));
    } else if (pooled && brief < 2 && v->r.w > NARROW)
        buf_puts(out, sheet_placeless(v->a) < 0 ? "every value drawn" : "every patch drawn");
    if (s->matrix)
        buf_printf(out, "%s%s", *buf_str(out) ? "; " : "", brief ? "rows ask" : "rows ask, columns are looked at");
    if (!v->placeless && sheet_placeless(v->a) >= 0)
        buf_printf(out, "%swithout %s", *buf_str(out) ? ", " : "",
                   axis_label(v->a->u_axis, sheet_placeless(v->a), label, sizeof label));
}

/* brief 0: how far that of the head in focus goes too; 1: so in few words. */
static const char *scales_word(Caption *v, int brief)
{
    static const char *const FORMS[][2] = {{"each on its own scale, here %s", "own, here %s"},
                                           {"each on its own log scale, here %s", "own log, here %s"}};
    if (v->heads)
        return brief ? "one scale" : "one scale for all heads";
    if (v->locked || v->one)
        return "";
    if (v->scale.shared)
        return brief ? "own, one for A and B" : "each on its own scale, one for A and B";
    if (v->s->listed || brief > 1)
        return !brief ? "each row's own, at its right" : v->scale.log ? "own log scales" : "own scales";
    utf8_print(v->word, sizeof v->word, FORMS[v->scale.log][brief], v->end);
    return v->word;
}

/* What stands behind the key, so that it is `comfortable` columns wide at least where it can be. */
static void choose_scales(Caption *v, int comfortable, int least)
{
    const int without = v->s->matrix ? -1 : sheet_placeless(v->a);
    char label[32];
    for (int i = 0; i < 6 && !v->locked && !v->one && !v->heads; i++) {
        const bool last = i == 5; /* with the shortest key */
        v->placeless = without >= 0 && i < 2;
        if (v->scale.shared && i > 2)
            utf8_print(v->scales, sizeof v->scales, " per head%s", i < 4 ? ", A and B" : !last ? ", A+B" : "");
        else if (v->a->v.side == SIDE_DIFF && v->a->in_share &&
                 !v->s->listed) { /* how far that of the head in focus goes */
            char points[24];
            points_text(points, sizeof points, v->scale.high);
            utf8_print(v->scales, sizeof v->scales,
                       i < 1   ? "; own scales, here ±%s%s%s"
                       : i < 5 ? "; own, here ±%s%s%s"
                               : " here ±%s",
                       points, v->placeless ? ", without " : "",
                       v->placeless ? axis_label(v->a->u_axis, without, label, sizeof label) : "");
        } else
            utf8_print(v->scales, sizeof v->scales, "; %s%s%s",
                       scales_word(v, i < 1   ? 0
                                      : i < 3 ? 1
                                              : 2),
                       v->placeless ? ", without " : "",
                       v->placeless ? axis_label(v->a->u_axis, without, label, sizeof label) : "");
        if (i == 3 && !v->scale.shared)
            continue;
        if (utf8_cells(v->scales) + (last ? least : comfortable) <= v->r.w)
            return;
    }
    v->placeless = false;
    *v->scales = '\0';
}

/* Of the model, whatever picture is shown: so of held-out ones is said where there is room. */
static void say_bars(const Caption *v, int brief, Buf *out)
{
    static const char *const FORMS[BRIEFEST + 1] = {
        "▌ left of a head: accuracy points lost without it, ≤%.1f, on held-out pictures",
        "▌ left of a head: accuracy points lost without it, ≤%.1f", "▌ left: model's accuracy lost without it, ≤%.1f",
        "▌ left: accuracy lost without it, ≤%.1f", "▌ to −%.1f points if off"};
    if (v->lost > 0)
        buf_printf(out, FORMS[brief], (double)v->lost);
}

/* Is the token that asks in the title? See the view's. */
static bool titled(const Caption *v)
{
    enum { SIDE_NAME = 3, DIFF_NAME = 18 };
    char t[32], title[128];
    if (v->s->listed || v->s->matrix)
        return false;
    const Attend *a = v->a;
    const int wide = utf8_print(title, sizeof title, "%s[%s=%s], blocks × heads",
                                node_name(graph_node(a->v.graph, a->v.node)), a->t_axis->sym,
                                axis_label(a->t_axis, a->at_t, t, sizeof t)),
              name = v->p->s->compare != COMPARE_SIDES ? 0
                     : a->v.side == SIDE_DIFF          ? DIFF_NAME
                                                       : SIDE_NAME;
    return wide + name + 1 <= v->r.w;
}

static void say(Caption *v, int brief)
{
    char t[32];
    for (int i = 0; i < CLAUSES; i++) {
        Buf out = {0};
        if (i == OF_ROW && !v->s->matrix && !titled(v))
            buf_printf(&out, v->s->listed ? "what \"%s\" looks at" : "what %s looks at",
                       axis_label(v->a->t_axis, v->a->at_t, t, sizeof t));
        if (i == OF_LEFT_OUT)
            say_left_out(v->s, brief, &out);
        if (i == OF_CELLS)
            say_cells(v, brief, &out);
        if (i == OF_SCALES && !*v->scales)
            buf_puts(&out, scales_word(v, brief));
        if (i == OF_BARS)
            say_bars(v, brief, &out);
        utf8_print(v->text[i], sizeof v->text[i], "%s", buf_str(&out));
        buf_free(&out);
    }
}

/* Writes the clauses into lines from y on, or only counts them (y < 0): each in one line, else broken between its
 * words. Returns the lines, too many where a word has no room. end: the column behind the last. */
static int flow(const Caption *v, int y, int room, int *end)
{
    enum { NO_ROOM = 1000 };
    int lines = 0, x = 0;
    for (int i = 0; i < CLAUSES; i++) {
        if (!*v->text[i])
            continue;
        if (!lines || x + 2 + utf8_cells(v->text[i]) > room) {
            lines++;
            x = 0;
        } else
            x += y < 0 ? 2 : canvas_text(v->p->c, y + lines - 1, v->r.x + x, 2, STYLE_DIM, "; ");
        for (const char *at = v->text[i]; *at;) {
            char word[sizeof *v->text];
            utf8_print(word, sizeof word, "%.*s", (int)strcspn(at, " "), at);
            const int cells = utf8_cells(word), blank = at > v->text[i] && x > 0;
            if (cells > room)
                return NO_ROOM;
            lines += x + blank + cells > room;
            x = x + blank + cells > room ? 0 : x + blank;
            if (y >= 0)
                canvas_text(v->p->c, y + lines - 1, v->r.x + x, cells,
                            i == OF_BARS && at == v->text[i] ? STYLE_AXIS : STYLE_DIM, word);
            x += cells;
            at += strlen(word);
            at += *at == ' ';
        }
    }
    *end = x;
    return lines;
}

/* Of matrices it is what the rows are. Which blocks there are is said in a free line. */
static int rank(const Caption *v, int clause)
{
    if (clause == OF_LEFT_OUT && v->s->nameless && v->s->down == v->s->blocks)
        return 0;
    return clause == OF_CELLS && v->s->matrix ? RANKS[OF_LEFT_OUT] : RANKS[clause];
}

/* The longest forms of which so many lines have room, without those of the lowest rank where they have none. */
static int choose_words(Caption *v, int lines, int room)
{
    int end, brief = 0, used;
    do {
        say(v, brief);
        used = flow(v, -1, room, &end);
    } while (used > lines && brief++ < BRIEFEST);
    while (used > lines) {
        int least = -1;
        for (int i = 0; i < CLAUSES; i++)
            if (*v->text[i] && (least < 0 || rank(v, i) < rank(v, least)))
                least = i;
        *v->text[least] = '\0';
        used = flow(v, -1, room, &end);
    }
    return used;
}

/* Of A − B, as there are columns left: which colour has more in A, which in B. */
static const struct {
    int wide;
    const char *says[2];
} SIGNS[] = {{26, {" more in A  ", " more in B"}}, {20, {" more in A ", " in B"}}, {11, {"A>B ", "B>A"}}};
enum { SIGNS_COUNT = sizeof SIGNS / sizeof *SIGNS };

static int draw_signs(const Paint *p, const ColourScale *scale, int y, int x, int room)
{
    int form = 0, at = x;
    while (form < SIGNS_COUNT && SIGNS[form].wide > room)
        form++;
    for (int k = 0; k < 2 && scale->high > scale->low && form < SIGNS_COUNT; k++) {
        for (int i = 0; i < SWATCH; i++) { /* the end of the scale is almost white, or black */
            const float value = (k ? scale->low : scale->high) * (float)(i + 1) / SWATCH;
            canvas_pixel(p->c, y, at + i, -1, colour_scale_colour(scale, value), colour_scale_level(scale, value),
                         colour_scale_sign(scale, value), (Ref){0});
        }
        at += SWATCH + canvas_text(p->c, y, at + SWATCH, room - (at - x) - SWATCH, STYLE_DIM, SIGNS[form].says[k]);
    }
    return at - x;
}

/* Of A − B that has one scale: "B>A -58.2 ▒▒▒▒ 58.2 A>B". Returns its columns, of as many as there are; p NULL: the
 * least. */
static int draw_points(const Paint *p, const ColourScale *scale, int y, int x, int room)
{
    enum { CELLS_LEAST = 4, CELLS_MOST = 16 };
    char left[48], right[48], low[24], high[24];
    points_text(low, sizeof low, scale->low);
    points_text(high, sizeof high, scale->high);
    utf8_print(left, sizeof left, "B>A %s ", low);
    utf8_print(right, sizeof right, " %s A>B", high);
    if (p && utf8_cells(left) + utf8_cells(right) + CELLS_LEAST > room) {
        utf8_print(left, sizeof left, "%s ", low);
        utf8_print(right, sizeof right, " %s", high);
    }
    const int ends = utf8_cells(left) + utf8_cells(right);
    if (!p || ends + CELLS_LEAST > room)
        return p ? 0 : ends + CELLS_LEAST;
    const int cells = room - ends < CELLS_MOST ? room - ends : CELLS_MOST, from = x + utf8_cells(left);
    canvas_text(p->c, y, x, room, STYLE_DIM, left);
    for (int i = 0; i < cells; i++) {
        const float value = scale->low + (scale->high - scale->low) * (float)i / (float)(cells - 1);
        canvas_pixel(p->c, y, from + i, -1, colour_scale_colour(scale, value), colour_scale_level(scale, value),
                     colour_scale_sign(scale, value), (Ref){0});
    }
    canvas_text(p->c, y, from + cells, room, STYLE_DIM, right);
    return ends + cells;
}

/* "0 ▒▒▒▒ most" of maps that have a scale each. */
static int draw_ramp(const Paint *p, const ColourScale *scale, int y, int x, int room, const char *most, int least)
{
    enum { CELLS_MOST = 16 };
    const int ends = 3 + utf8_cells(most), cells = room - ends < CELLS_MOST ? room - ends : CELLS_MOST;
    if (cells < least || scale->is_signed)
        return 0;
    canvas_text(p->c, y, x, 1, STYLE_DIM, "0");
    for (int i = 0; i < cells; i++) {
        const float value = scale->low + (scale->high - scale->low) * (float)i / (float)(cells - 1);
        canvas_pixel(p->c, y, x + 2 + i, -1, colour_scale_colour(scale, value), colour_scale_level(scale, value), 0,
                     (Ref){0});
    }
    return 3 + cells + canvas_text(p->c, y, x + 3 + cells, room - 3 - cells, STYLE_DIM, most);
}

/* What the colours mean, and behind it, as far as there is room, whose scale that is. */
static void draw_key(const Caption *v, int y, int x, int room)
{
    int used = 0;
    if (v->locked || v->heads) {
        if (room >= LOCKED)
            colour_scale_bar(v->p, &v->scale, y, x, room);
        else
            canvas_text(v->p->c, y, x, room, STYLE_DIM, "one scale");
        return;
    }
    if (v->one) {
        draw_points(v->p, &v->scale, y, x, room);
        return;
    }
    const int words = utf8_cells(v->scales);
    used = v->a->v.side == SIDE_DIFF ? draw_signs(v->p, &v->scale, y, x, room - words)
           : *v->here                ? draw_ramp(v->p, &v->scale, y, x, room - words, v->here, SWATCH)
                                     : draw_ramp(v->p, &v->scale, y, x, room - words, "most", RAMP_LEAST);
    if (used)
        canvas_text(v->p->c, y, x + used, words, STYLE_DIM, v->scales);
}

/* Below lines of words, where there is one line for it: whose row they are, what the colours mean, and where the words'
 * names have no room, from which to which they go. */
static void draw_ends(const Caption *v)
{
    static const char *const FORMS[] = {"what \"%s\" looks at: %s … %s",
                                        "%s looks at %s … %s",
                                        "row %s: %s … %s",
                                        "row %s: %s…%s",
                                        "what \"%s\" looks at",
                                        "row %s"};
    enum { FORMS_COUNT = sizeof FORMS / sizeof *FORMS, NAMED = FORMS_COUNT - 2 };
    const Attend *a = v->a;
    char t[32], first[32], last[32], text[160];
    const bool told = v->s->r.w - v->s->columns > SHEET_NUMBER; /* by a number at its right */
    axis_label(a->t_axis, a->at_t, t, sizeof t);
    static const char BOTH[] = "row's most of A, B";
    const bool both = told && v->scale.shared && RAMP + utf8_cells(BOTH) - utf8_cells("most") <= v->r.w;
    const char *most = both ? BOTH : told ? "most" : "row's most"; /* rather whose than which row */
    const int ramp = RAMP + utf8_cells(most) - utf8_cells("most");
    int used = v->r.w;
    axis_label(a->u_axis, 0, first, sizeof first);
    axis_label(a->u_axis, a->u_axis->n - 1, last, sizeof last);
    for (int i = v->s->under.h ? NAMED : 0; i < FORMS_COUNT && used + 1 + ramp > v->r.w; i++) {
        utf8_print(text, sizeof text, FORMS[i], t, first, last);
        used = utf8_cells(text);
    }
    used = both ? 0 : canvas_text(v->p->c, v->s->caption_y, v->r.x, v->r.w, STYLE_DIM, text);
    used += !used ? 0 : used + 2 + ramp > v->r.w ? 1 : 2;
    draw_ramp(v->p, &v->scale, v->s->caption_y, v->r.x + used, v->r.w - used, most, RAMP_LEAST);
}

/* In one line, where no words say whose scale it is: how far that of the head in focus goes. Returns the blanks between
 * the words, which end there, and the key. */
static int choose_here(Caption *v, int end)
{
    const float most = 100 * v->scale.high;
    if (*v->text[OF_SCALES] || v->locked || v->heads || v->a->v.side == SIDE_DIFF || !v->a->in_share || most < 0.1F)
        return end ? 2 : 0;
    utf8_print(v->here, sizeof v->here, "here %.*f %%", most < 9.95F, (double)most);
    const int blank = end > 0, least = end + blank + 3 + SWATCH + utf8_cells(v->here);
    if (least > v->r.w)
        *v->here = '\0';
    return *v->here && least + RAMP_LEAST - SWATCH >= v->r.w ? blank : end ? 2 : 0;
}

/* The first line below the maps, and the words under them. */
static int below(const Sheet *s)
{
    const int down = s->folds > 1 ? sheet_stacked(s->blocks, s->folds) : s->down;
    const Rect low = sheet_thumb(s, s->first_block + down - 1, s->listed ? s->heads - 1 : s->first_head);
    const int words = s->listed || !s->under.h ? 0 : s->under.y + s->under.h;
    return low.y + low.h > words ? low.y + low.h : words;
}

bool sheet_caption(const Paint *p, const Attend *a, const Sheet *s, const ColourScale *one, Rect r, float lost)
{
    if (s->caption_y < 0)
        return false;
    int top = below(s), lines = s->caption_y - top + 1;
    Caption v = {.p = p, .a = a, .s = s, .r = r, .lost = lost, .locked = p->s->look.locked};
    Attend here = *a;
    here.placed = !s->matrix; /* as it is drawn */
    v.scale = one ? *one : attend_scale(p, &here, !s->matrix);
    v.heads = one && sheet_scale_of_heads(p->s);
    v.one = one && !v.locked && !v.heads;
    char high[16];
    number_text(high, sizeof high, v.scale.high, 5);
    utf8_print(v.end, sizeof v.end, v.scale.is_signed ? "±%s" : "to %s", high);
    const bool diff = a->v.side == SIDE_DIFF, key = v.locked || v.heads || diff || (a->whole > 0 && !v.scale.is_signed);
    const int least = v.locked || v.heads ? LOCKED
                      : v.one             ? draw_points(NULL, &v.scale, 0, 0, 0)
                      : diff              ? SIGNS[SIGNS_COUNT - 1].wide
                                          : RAMP;
    if (s->listed && lines == 2) /* or it would be taken for one of them */
        lines--;
    if (s->listed && lines < 2 && a->whole > 0 && !v.scale.is_signed && !v.locked && !v.heads) {
        draw_ends(&v);
        return false;
    }
    const bool all = s->down == s->blocks && s->across == s->heads;
    if (lines < 2 && diff && !v.one && !v.locked && !v.heads && a->in_share &&
        all) { /* rather the end of its scale than words */
        choose_scales(&v, least, least);
        draw_key(&v, s->caption_y, r.x, r.w);
        return false;
    }
    if (lines < 2 || !key) { /* side by side, or words alone */
        int end = 0, used = choose_words(&v, lines < 2 ? 1 : lines, key ? r.w - least - 2 : r.w);
        if ((lost > 0 && !*v.text[OF_BARS]) || (!all && !*v.text[OF_LEFT_OUT])) /* cannot be understood without */
            used = choose_words(&v, 1, r.w);
        flow(&v, s->caption_y - (used > 0 ? used - 1 : 0), r.w, &end);
        if (key) {
            end += choose_here(&v, end);
            draw_key(&v, s->caption_y, r.x + end, r.w - end);
        }
        return *v.text[OF_BARS];
    }
    choose_scales(&v, diff ? SIGNS[1].wide : RAMP + 4, least);
    const bool apart = lines > 3 || (s->listed && lines > 2);
    int words = lines - 1 - apart, end;
    words = words > WORDS_MOST ? WORDS_MOST : words;
    choose_words(&v, words, r.w);
    draw_key(&v, top + apart, r.x, r.w);
    flow(&v, top + apart + 1, r.w, &end);
    return *v.text[OF_BARS];
}
