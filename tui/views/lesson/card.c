/* A card of a lesson, in its frame. */
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

/* What stands where: keys at the bottom, above them what was said, the rest is the card's. A low card has a line in
 * place of its border. */
enum { BORDER_LINES = 12 };
typedef struct CardRects {
    Rect head, text, said, keys;
} CardRects;

static CardRects rects_of(Rect r, const CardSaid *said)
{
    CardRects c = {0};
    bool bare = r.h < BORDER_LINES;
    Rect in = bare ? r : rect_inset(r, 1);
    if (in.w > 4)
        in = (Rect){in.y, in.x + 1, in.h, in.w - 2};
    c.keys = rect_cut(&in, 'b', in.h <= 6 ? 0 : bare ? 1 : wrapped_lines(said->keys, in.w));
    c.head = rect_cut(&in, 't', in.h > 3 ? 1 : 0);
    int below = *said->text ? wrapped_lines(said->text, in.w) + !bare : 0;
    c.said = in;
    c.text = rect_cut(&c.said, 't', below < in.h ? in.h - below : 0);
    return c;
}

/* Where the page that begins with that line ends: behind the card's last line, or before a blank one. */
static int page_end(const Laid *l, int first, int height)
{
    int end = first + height;
    if (end >= l->count)
        return l->count;
    for (int i = end; i > first; i--)
        if (l->lines[i].count == 0)
            return i;
    return end;
}

static int page_after(const Laid *l, int first, int height)
{
    int next = height > 0 ? page_end(l, first, height) : l->count;
    while (next < l->count && l->lines[next].count == 0)
        next++;
    return next < l->count ? next : -1;
}

/* The page on show, its lines in [first, end): that with line said->first, the last one with what was said; or as much
 * as there is room for beside the meaning of the word under the cursor, with that word. */
typedef struct Page {
    int first, end, next; /* next: where the page behind it begins, or −1 */
} Page;

static bool of_question(const Laid *l, int line)
{
    return l->lines[line].count && l->lines[line].parts[0].style == LAID_QUESTION;
}

static bool continues_question(const Laid *l, int line)
{
    return of_question(l, line) && of_question(l, line - 1);
}

static Page page_of(const Laid *l, const LaidTerm *term, const CardSaid *said, CardRects *at)
{
    int whole = at->text.h + (term ? 0 : at->said.h), want = term ? term->line : said->first;
    Page p = {.next = page_after(l, 0, whole)};
    while (p.next >= 0 && p.next <= want) {
        p.first = p.next;
        p.next = page_after(l, p.first, whole);
    }
    if (term) {
        p.end = page_end(l, p.first, at->text.h);
        return p;
    }
    if (p.next >= 0) { /* what was said stands below the last one */
        at->text.h = whole;
        at->said.h = 0;
    } else if (at->said.h && l->count - at->text.h > p.first) {
        p.first = l->count - at->text.h;
        while (p.first + 1 < l->count && continues_question(l, p.first))
            p.first++; /* no last line of a question without its first */
    }
    p.end = page_end(l, p.first, at->text.h);
    return p;
}

int card_next_page(Rect r, const Player *p, const CardSaid *said)
{
    Laid laid;
    CardRects at = rects_of(r, said);
    if (!card_lay(p, at.text.w, &laid, NULL))
        return -1;
    int next = page_of(&laid, NULL, said, &at).next;
    laid_free(&laid);
    return next;
}

void card_draw(Canvas *c, Rect r, const Player *p, const CardSaid *said)
{
    const Card *card = player_card(p);
    bool bordered = r.h >= BORDER_LINES, numbered = p->lesson.number >= 0;
    char title[200];
    Laid laid;
    Err err = {{0}};
    if (numbered)
        utf8_print(title, sizeof title, "%slesson %d  card %d of %d  %.80s", said->again ? "once more: " : "",
                   p->lesson.number, p->card + 1, p->lesson.count, bordered ? p->lesson.title : card->title);
    else
        utf8_print(title, sizeof title, "%.60s  %d of %d  %.80s", p->lesson.title, p->card + 1, p->lesson.count,
                   bordered ? "" : card->title);
    if (bordered && numbered && utf8_cells(title) > r.w - 4) /* which card it is says more than half a title */
        utf8_print(title, sizeof title, "%slesson %d  card %d of %d", said->again ? "once more: " : "",
                   p->lesson.number, p->card + 1, p->lesson.count);
    canvas_fill(c, r, STYLE_TEXT, ' ');
    CardRects at = rects_of(r, said);
    if (bordered) {
        canvas_box(c, r, title, true);
        if (at.head.h)
            canvas_text(c, at.head.y, at.head.x, at.head.w, STYLE_TITLE, card->title);
    } else if (at.head.h) {
        canvas_fill(c, (Rect){r.y, r.x, 1, r.w}, STYLE_HEADER, ' ');
        canvas_text(c, r.y, at.head.x, at.head.w, STYLE_HEADER, title);
    }
    if (at.keys.h)
        canvas_wrap(c, at.keys, STYLE_KEY_TEXT, said->keys);
    if (!card_lay(p, at.text.w, &laid, &err)) {
        canvas_wrap(c, at.text, STYLE_ERROR, err.text);
        return;
    }
    LaidTerm terms[LAID_TERMS];
    int count = said->term >= 0 ? laid_terms(&laid, terms) : 0;
    const LaidTerm *here = count && said->term < count ? &terms[said->term] : NULL;
    if (here)
        laid_mark(&laid, here);
    Page page = page_of(&laid, here, said, &at);
    for (int i = page.first; i < page.end && i - page.first < at.text.h; i++)
        draw_line(c, at.text, at.text.y + i - page.first, &laid.lines[i]);
    if (at.said.h) {
        if (bordered)
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
    CardRects at = rects_of(r, said);
    if (!card_lay(p, at.text.w, &laid, NULL))
        return false;
    Page page = page_of(&laid, NULL, said, &at);
    int line = rect_has(at.text, y, x) ? y - at.text.y + page.first : laid.count;
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
