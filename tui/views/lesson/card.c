/* A card of a lesson, in its frame. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "lessons/layout.h"
#include "tui/views/lesson/lesson_views.h"

static Style style_of(LaidStyle s)
{
    static const Style STYLES[] = {
        [LAID_PLAIN] = STYLE_TEXT, [LAID_TERM] = STYLE_KEY,        [LAID_STRONG] = STYLE_STRONG,
        [LAID_CODE] = STYLE_KEY,   [LAID_QUESTION] = STYLE_STRONG, [LAID_CHOICE] = STYLE_TEXT,
        [LAID_RIGHT] = STYLE_GOOD, [LAID_WRONG] = STYLE_ERROR,     [LAID_DIM] = STYLE_DIM};
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
        snprintf(word, sizeof word, "%.*s", (int)n, text);
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

void card_draw(Canvas *c, Rect r, const Player *p, const CardSaid *said)
{
    const Card *card = player_card(p);
    char title[200];
    Laid laid;
    Err err = {{0}};
    if (p->lesson.number >= 0)
        snprintf(title, sizeof title, "lesson %d  card %d of %d  %.80s", p->lesson.number, p->card + 1, p->lesson.count,
                 p->lesson.title);
    else
        snprintf(title, sizeof title, "%.60s  %d of %d", p->lesson.title, p->card + 1, p->lesson.count);
    canvas_fill(c, r, STYLE_TEXT, ' ');
    Rect in = canvas_box(c, r, title, true);
    if (in.w > 4)
        in = (Rect){in.y, in.x + 1, in.h, in.w - 2};
    Rect keys = rect_cut(&in, 'b', in.h > 6 ? wrapped_lines(said->keys, in.w) : 0);
    if (keys.h)
        canvas_wrap(c, keys, STYLE_KEY_TEXT, said->keys);
    Rect head = rect_cut(&in, 't', in.h > 3 ? 1 : 0);
    if (head.h)
        canvas_text(c, head.y, head.x, head.w, STYLE_TITLE, card->title);
    int below = *said->text ? wrapped_lines(said->text, in.w) + 1 : 0;
    if (below > in.h)
        below = in.h;
    Rect foot = rect_cut(&in, 'b', below);
    if (!card_lay(p, in.w, &laid, &err)) {
        canvas_wrap(c, in, STYLE_ERROR, err.text);
        return;
    }
    int first = laid.count > in.h ? laid.count - in.h : 0;
    for (int i = first; i < laid.count; i++)
        draw_line(c, in, in.y + i - first, &laid.lines[i]);
    if (first && !below && in.h) /* nothing was said yet: the beginning comes first */
        for (int i = 0; i < in.h; i++) {
            canvas_fill(c, (Rect){in.y + i, in.x, 1, in.w}, STYLE_TEXT, ' ');
            draw_line(c, in, in.y + i, &laid.lines[i]);
        }
    if (below) {
        foot.y++;
        foot.h--;
        canvas_wrap(c, foot, said->right ? STYLE_GOOD : said->wrong ? STYLE_WARNING : STYLE_STRONG, said->text);
    }
    laid_free(&laid);
}
