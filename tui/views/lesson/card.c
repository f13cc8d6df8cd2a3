/* A card of a lesson, in its frame. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "lessons/layout.h"
#include "tui/views/lesson/lesson_views.h"

static Style style_of(LaidStyle s)
{
    static const Style STYLES[] = {
        [LAID_PLAIN] = STYLE_TEXT,   [LAID_TERM] = STYLE_KEY,        [LAID_STRONG] = STYLE_STRONG,
        [LAID_CODE] = STYLE_KEY,     [LAID_QUESTION] = STYLE_STRONG, [LAID_CHOICE] = STYLE_TEXT,
        [LAID_RIGHT] = STYLE_GOOD,   [LAID_WRONG] = STYLE_ERROR,     [LAID_DIM] = STYLE_DIM,
        [LAID_HERE] = STYLE_SELECTED};
    return STYLES[s];
}

static void draw_line(Canvas *c, Rect r, int y, const LaidLine *l)
{
    for (int i = 0; i < l->count; i++)
        if (l->parts[i].column < r.w)
            canvas_text(c, y, r.x + l->parts[i].column, r.w - l->parts[i].column, style_of(l->parts[i].style),
                        l->parts[i].text);
}

static int wrapped_lines(const char *text, int width)
{
    int lines = 0, column = width + 1;
    while (*text) {
        size_t n = strcspn(text, " \n");
        char word[256];
        utf8_take(word, sizeof word, text, n);
        int cells = utf8_cells(word);
        if (column + (column > 0) + cells > width) {
            lines++;
            column = cells;
        } else {
            column += 1 + cells;
        }
        text += n;
        text += strspn(text, " \n");
    }
    return lines;
}

/* What stands where: keys at the bottom, above them what was said, the rest is the card's. */
typedef struct CardRects {
    Rect head, text, said, keys;
} CardRects;

static CardRects rects_of(Rect in, const CardSaid *said)
{
    CardRects c = {0};
    if (in.w > 4)
        in = (Rect){in.y, in.x + 1, in.h, in.w - 2};
    c.keys = rect_cut(&in, 'b', in.h > 6 ? wrapped_lines(said->keys, in.w) : 0);
    c.head = rect_cut(&in, 't', in.h > 3 ? 1 : 0);
    int below = *said->text ? wrapped_lines(said->text, in.w) + 1 : 0;
    c.said = rect_cut(&in, 'b', below < in.h ? below : in.h);
    c.text = in;
    return c;
}

/* First line that is drawn: the end, once something was said; the beginning before; the word under the cursor always.
 */
static int first_line(const Laid *l, const LaidTerm *term, Rect text, Rect said)
{
    int over = l->count > text.h ? l->count - text.h : 0;
    if (term)
        return term->line < text.h ? 0 : term->line < over ? term->line : over;
    return said.h ? over : 0;
}

void card_draw(Canvas *c, Rect r, const Player *p, const CardSaid *said)
{
    const Card *card = player_card(p);
    char title[200];
    Laid laid;
    Err err = {{0}};
    if (p->lesson.number >= 0)
        utf8_print(title, sizeof title, "lesson %d  card %d of %d  %.80s", p->lesson.number, p->card + 1,
                   p->lesson.count, p->lesson.title);
    else
        utf8_print(title, sizeof title, "%.60s  %d of %d", p->lesson.title, p->card + 1, p->lesson.count);
    canvas_fill(c, r, STYLE_TEXT, ' ');
    CardRects at = rects_of(canvas_box(c, r, title, true), said);
    if (at.keys.h)
        canvas_wrap(c, at.keys, STYLE_KEY_TEXT, said->keys);
    if (at.head.h)
        canvas_text(c, at.head.y, at.head.x, at.head.w, STYLE_TITLE, card->title);
    if (!card_lay(p, at.text.w, &laid, &err)) {
        canvas_wrap(c, at.text, STYLE_ERROR, err.text);
        return;
    }
    LaidTerm terms[LAID_TERMS];
    int count = said->term >= 0 ? laid_terms(&laid, terms) : 0;
    const LaidTerm *here = count && said->term < count ? &terms[said->term] : NULL;
    if (here)
        laid_mark(&laid, here);
    int first = first_line(&laid, here, at.text, at.said);
    for (int i = first; i < laid.count && i - first < at.text.h; i++)
        draw_line(c, at.text, at.text.y + i - first, &laid.lines[i]);
    if (at.said.h) {
        rect_cut(&at.said, 't', 1);
        canvas_wrap(c, at.said, said->right ? STYLE_GOOD : said->wrong ? STYLE_WARNING : STYLE_STRONG, said->text);
    }
    laid_free(&laid);
}

/* Is (line, x) on that word? */
static bool on_term(const Laid *l, const LaidTerm *t, int line, int x)
{
    int at = t->line, part = t->part;
    for (int i = 0; i < t->count && at < l->count; i++) {
        const LaidPart *p = &l->lines[at].parts[part];
        if (at == line && x >= p->column && x < p->column + utf8_cells(p->text))
            return true;
        for (part++; at < l->count && part >= l->lines[at].count; part = 0)
            at++;
    }
    return false;
}

bool card_click(Rect r, const Player *p, const CardSaid *said, int y, int x, Buf *command)
{
    Laid laid;
    if (r.h < 3 || r.w < 3)
        return false;
    CardRects at = rects_of(rect_inset(r, 1), said);
    if (!rect_has(at.text, y, x) || !card_lay(p, at.text.w, &laid, NULL))
        return false;
    int line = y - at.text.y + first_line(&laid, NULL, at.text, at.said);
    LaidTerm terms[LAID_TERMS];
    int count = laid_terms(&laid, terms);
    if (line < laid.count && laid.lines[line].choice >= 0)
        buf_printf(command, "answer %d", laid.lines[line].choice + 1);
    for (int i = 0; !command->len && i < count; i++)
        if (on_term(&laid, &terms[i], line, x - at.text.x))
            buf_printf(command, "glossary %s", terms[i].word);
    laid_free(&laid);
    return command->len > 0;
}
