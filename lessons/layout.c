#include "lessons/layout.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/utf8.h"
#include "core/session/ask/ask.h"

/* A card is laid out with every frame: so many live values at most. */
enum { LIVE = 32 };

typedef struct Pen {
    Laid *out;
    int width, indent, column; /* column: cells used in the last line */
    bool blank;                /* a blank is due before the next word */
    int choice, live;
} Pen;

static LaidLine *new_line(Pen *p)
{
    Laid *l = p->out;
    l->lines = grow(l->lines, &l->cap, (size_t)l->count, sizeof *l->lines);
    l->lines[l->count] = (LaidLine){.choice = p->choice};
    p->column = p->indent;
    p->blank = false;
    return &l->lines[l->count++];
}

static void put(Pen *p, LaidStyle style, const char *text)
{
    LaidLine *l = &p->out->lines[p->out->count - 1];
    l->parts = grow(l->parts, &l->cap, (size_t)l->count, sizeof *l->parts);
    l->parts[l->count++] = (LaidPart){style, p->column, arena_strdup(&p->out->arena, text)};
    p->column += utf8_cells(text);
}

/* One word, broken where it is longer than a line. Style continues over the blank before it where `same`. */
static void put_word(Pen *p, LaidStyle style, const char *word)
{
    int cells = utf8_cells(word);
    bool percent = *word == '%' && p->column + 1 + cells <= p->width + 2; /* of the number before it */
    bool tail = percent || (!p->blank && cells <= 2); /* a comma behind another style stays, in the margin at worst */
    if (p->column + p->blank + cells > p->width && p->column > p->indent && !tail)
        new_line(p);
    while (p->column + cells > p->width && !tail) {
        char part[256];
        const char *s = word;
        size_t n = 0;
        int room = p->width - p->column;
        while (*s && n < sizeof part - 5) {
            const char *next = s;
            int w = utf8_width(utf8_next(&next));
            if (w > room)
                break;
            room -= w;
            memcpy(part + n, s, (size_t)(next - s));
            n += (size_t)(next - s);
            s = next;
        }
        if (n == 0)
            break;
        part[n] = 0;
        put(p, style, part);
        cells -= utf8_cells(part);
        word = s;
        new_line(p);
    }
    if (p->blank)
        p->column++;
    p->blank = false;
    put(p, style, word);
}

/* Looks no further than that, so that a long text is not measured once for each of its words. */
static bool fits(const char *text, int cells)
{
    while (*text && cells >= 0)
        cells -= utf8_width(utf8_next(&text));
    return cells >= 0;
}

/* Words of a text; blanks at its ends count. Code is kept in one piece where a line holds it. */
static void put_text(Pen *p, LaidStyle style, const char *text)
{
    while (*text) {
        size_t blanks = strspn(text, " \n"), n;
        p->blank = p->blank || (blanks && p->column > p->indent);
        text += blanks;
        n = style == LAID_CODE && fits(text, p->width - p->indent) ? strlen(text) : strcspn(text, " \n");
        if (!n)
            break;
        char *word = arena_printf(&p->out->arena, "%.*s", (int)n, text);
        put_word(p, style, word);
        text += n;
    }
}

static bool put_live(Pen *p, const Player *player, LaidStyle style, const char *text, Err *err)
{
    Buf live = {0};
    for (const char *open = text; (open = strstr(open, "{{")) != NULL; open += 2)
        if (++p->live > LIVE)
            return err_set(err, "more than %d values in {{ }} on this card; cut it in two", LIVE);
    bool ok = player_text(player, text, &live, err);
    if (ok)
        put_text(p, style, buf_str(&live));
    buf_free(&live);
    return ok;
}

static LaidStyle style_of(SpanStyle s)
{
    static const LaidStyle STYLES[] = {[SPAN_PLAIN] = LAID_PLAIN,
                                       [SPAN_TERM] = LAID_TERM,
                                       [SPAN_STRONG] = LAID_STRONG,
                                       [SPAN_CODE] = LAID_CODE,
                                       [SPAN_LINK] = LAID_PLAIN};
    return STYLES[s];
}

static void verbatim(Pen *p, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        new_line(p);
        char *line = arena_printf(&p->out->arena, "%.*s", (int)n, text);
        put(p, LAID_CODE, line);
        text += n + (text[n] == '\n');
    }
}

static bool put_item(Pen *p, const Player *player, const Prose *item, bool first, Err *err)
{
    bool list = item->kind == ITEM_BULLET || item->kind == ITEM_NUMBERED;
    p->indent = 0;
    if (!first && !list)
        new_line(p);
    if (item->kind == ITEM_VERBATIM) {
        for (int k = 0; k < item->count; k++)
            verbatim(p, item->spans[k].text);
        return true;
    }
    new_line(p);
    if (list) {
        char mark[16];
        snprintf(mark, sizeof mark, item->kind == ITEM_BULLET ? "–" : "%d.", item->number);
        put(p, LAID_DIM, mark);
        p->indent = p->column = utf8_cells(mark) + 1;
    } else if (item->kind == ITEM_QUOTE) {
        p->indent = p->column = 2;
    }
    for (int k = 0; k < item->count; k++)
        if (!put_live(p, player, style_of(item->spans[k].style), item->spans[k].text, err))
            return false;
    return true;
}

static bool put_question(Pen *p, const Player *player, const Question *q, Err *err)
{
    const Answer *a = &player->answers[player->card];
    p->indent = 0;
    if (p->out->count) /* a blank line behind the prose */
        new_line(p);
    new_line(p);
    if (!put_live(p, player, LAID_QUESTION, q->text, err))
        return false;
    for (int i = 0; q->kind == QUESTION_CHOICE && i < q->count; i++) {
        char mark[16];
        bool this = a->given && a->choice == i;
        bool judged = !q->predict && (this || (a->told && q->choices[i].right));
        LaidStyle style = !judged ? LAID_CHOICE : q->choices[i].right ? LAID_RIGHT : LAID_WRONG;
        p->choice = i;
        p->indent = 0;
        new_line(p);
        snprintf(mark, sizeof mark, "%s%d", this ? "▸" : " ", i + 1);
        put(p, style, mark);
        p->indent = p->column = 3;
        if (!put_live(p, player, style, q->choices[i].text, err))
            return false;
    }
    p->choice = -1;
    return true;
}

/* "Say what …" behind other words; "GELU …" and "Q and K …" stay. */
static const char *within_sentence(Arena *a, const char *text)
{
    char *own = arena_strdup(a, text);
    if (isupper((unsigned char)own[0]) && islower((unsigned char)own[1]))
        own[0] = (char)tolower((unsigned char)own[0]);
    return own;
}

/* What the lesson is about, what one can do after it, what it builds on. */
static void put_opening(Pen *p, const Lesson *l)
{
    for (int i = 0; i < l->intro.count; i++) {
        new_line(p);
        put_text(p, LAID_PLAIN, l->intro.at[i].text);
    }
    for (int i = 0; i < l->able.count; i++) {
        new_line(p);
        put_text(p, LAID_STRONG, i ? "and " : "After it you can ");
        put_text(p, LAID_PLAIN, within_sentence(&p->out->arena, l->able.at[i].text));
    }
    for (int i = 0; i < l->needs.count; i++) {
        if (i == 0) {
            new_line(p);
            put_text(p, LAID_STRONG, "It builds on: ");
        }
        put_text(p, LAID_PLAIN,
                 arena_printf(&p->out->arena, "%s%s%s", i ? ", " : "", *l->needs.at[i].text <= '9' ? "lesson " : "",
                              l->needs.at[i].text));
    }
}

bool card_lay(const Player *player, int width, Laid *out, Err *err)
{
    *out = (Laid){0};
    Pen p = {.out = out, .width = width < 10 ? 8 : width - 2, .choice = -1};
    const Card *c = player_card(player);
    bool ok = c != NULL;
    Buf said = {0};
    if (ok && player->opens && player->card == 0)
        put_opening(&p, &player->lesson);
    ok = ok && player_prediction(player, &said, err);
    if (ok && said.len) {
        new_line(&p);
        put_text(&p, LAID_STRONG, buf_str(&said));
    }
    buf_free(&said);
    for (int i = 0; ok && i < c->item_count; i++)
        ok = (player->hall && c->items[i].kind == ITEM_QUOTE) ||
             put_item(&p, player, &c->items[i], out->count == 0, err);
    if (ok && c->question)
        ok = put_question(&p, player, c->question, err);
    if (!ok)
        laid_free(out);
    return ok;
}

void laid_free(Laid *l)
{
    for (int i = 0; i < l->count; i++)
        free(l->lines[i].parts);
    free(l->lines);
    arena_free(&l->arena);
    *l = (Laid){0};
}

void laid_text(const Laid *l, Buf *out)
{
    for (int i = 0; i < l->count; i++) {
        int column = 0;
        for (int k = 0; k < l->lines[i].count; k++) {
            const LaidPart *part = &l->lines[i].parts[k];
            buf_printf(out, "%*s%s", part->column - column, "", part->text);
            column = part->column + utf8_cells(part->text);
        }
        buf_putc(out, '\n');
    }
}

/* --- the words of a laid card that the glossary has --- */

enum { WORDS = 3 }; /* of a term at most */

/* The part behind (line, part); false at the end. */
static bool next_part(const Laid *l, int *line, int *part)
{
    for (++*part; *line < l->count; ++*line, *part = 0)
        if (*part < l->lines[*line].count)
            return true;
    return false;
}

static bool letter(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* The words of n parts, without what stands before and behind them: "(dot product)," → "dot product". A sign between
 * them ends a term. */
static bool join(const Laid *l, int line, int part, int n, char out[48])
{
    *out = 0;
    for (int i = 0; i < n; i++) {
        if (i && !next_part(l, &line, &part))
            return false;
        const LaidPart *p = &l->lines[line].parts[part];
        if (p->style == LAID_CODE || p->style == LAID_DIM)
            return false;
        const char *s = p->text, *end = s + strlen(s);
        while (*s && !letter(*s))
            s++;
        while (end > s && !letter(end[-1]))
            end--;
        size_t used = strlen(out);
        bool apart = (i && s != p->text) || (i + 1 < n && *end);
        if (end == s || apart || used + (size_t)(end - s) + 2 > 48)
            return false;
        utf8_print(out + used, 48 - used, "%s%.*s", i ? " " : "", (int)(end - s), s);
    }
    return true;
}

static bool known(const LaidTerm *terms, int count, const char *word)
{
    for (int i = 0; i < count; i++) {
        size_t a = strlen(terms[i].word), b = strlen(word), n = a < b ? a : b;
        if (strncasecmp(terms[i].word, word, n) == 0 && (a > b ? a - b : b - a) <= 1)
            return true;
    }
    return false;
}

static int gather(const Laid *l, bool emphasised, LaidTerm *out, int count)
{
    int line = 0, part = -1;
    while (count < LAID_TERMS && next_part(l, &line, &part)) {
        if (emphasised != (l->lines[line].parts[part].style == LAID_TERM))
            continue;
        LaidTerm t = {.line = line, .part = part};
        for (t.count = WORDS; t.count; t.count--)
            if (join(l, line, part, t.count, t.word) && strlen(t.word) > 2 && ask_glossary_term(t.word))
                break;
        if (!t.count)
            continue;
        if (!known(out, count, t.word))
            out[count++] = t;
        for (int i = 1; i < t.count; i++)
            next_part(l, &line, &part);
    }
    return count;
}

int laid_terms(const Laid *l, LaidTerm out[LAID_TERMS])
{
    return gather(l, false, out, gather(l, true, out, 0));
}

void laid_mark(Laid *l, const LaidTerm *t)
{
    int line = t->line, part = t->part;
    for (int i = 0; i < t->count; i++) {
        l->lines[line].parts[part].style = LAID_HERE;
        if (!next_part(l, &line, &part))
            return;
    }
}
