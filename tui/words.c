#include "tui/words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/ask/ask.h"

enum { WORD = 64, MOST_ON_SCREEN = 200, LONGEST = 3 };

/* The entry of a word on a screen; a number has none. */
static bool shown_entry(const Session *s, const Commands *commands, const char *word, Buf *out)
{
    if (!word[strspn(word, "0123456789.")])
        return false;
    if (ask_glossary_shown(s, word, out))
        return true;
    const Command *about = commands ? command_find(commands, word) : NULL;
    if (about)
        buf_printf(out, "%s: %s\n", about->usage, about->summary);
    return about != NULL;
}

bool words_entry(const Session *s, const Commands *commands, const char *word, Buf *out)
{
    return shown_entry(s, commands, word, out) || ask_glossary(s, word, out, NULL);
}

static bool has_entry(const Session *s, const Commands *commands, const char *word)
{
    Buf out = {0};
    bool any = shown_entry(s, commands, word, &out);
    buf_free(&out);
    return any;
}

/* Is a glyph part of a word? Letters of any script, digits, and what stands inside of names. */
static bool in_word(uint32_t ch)
{
    if (ch < 0x80)
        return ch && (isalnum((int)ch) || strchr("_.-'", (int)ch));
    bool drawn = ch >= 0x2500 && ch < 0x2900, arrow = ch >= 0x2190 && ch < 0x2200, other = ch == 0x2026 || ch == 0xb7;
    return !drawn && !arrow && !other && utf8_printable(ch);
}

/* A word of row y as cells [from, to). */
typedef struct Span {
    int from, to;
} Span;

static uint32_t glyph(const Canvas *c, int y, int x)
{
    const Cell *k = &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
    return k->level ? ' ' : k->ch ? k->ch : ' ';
}

/* The word at or behind x; false: there is none any more. */
static bool next_word(const Canvas *c, int y, int x, Span *w)
{
    while (x < c->w && !in_word(glyph(c, y, x)))
        x++;
    *w = (Span){x, x};
    while (w->to < c->w && in_word(glyph(c, y, w->to)))
        w->to++;
    return w->from < c->w;
}

/* Text of the cells, without points, dashes and quotes around it; an apostrophe behind a word is of it: n'. */
static void text_of(const Canvas *c, int y, Span w, char *out, size_t n)
{
    Buf b = {0};
    for (int x = w.from; x < w.to; x++) {
        char bytes[4];
        buf_add(&b, bytes, utf8_put(bytes, glyph(c, y, x)));
    }
    const char *p = buf_str(&b);
    const char *around = *p == '\'' ? ".-'" : ".-";
    p += strspn(p, ".-'");
    utf8_take(out, n, p, strlen(p));
    for (size_t k = strlen(out); k && strchr(around, out[k - 1]); k--)
        out[k - 1] = 0;
    buf_free(&b);
}

/* A letter that stands for a key: "s √d_k", "(s)". */
static bool is_key(const Canvas *c, int y, Span w)
{
    const Cell *k = &c->cells[(size_t)y * (size_t)c->w + (size_t)w.from];
    bool said = w.from > 1 && w.to + 1 < c->w && glyph(c, y, w.from - 1) == ' ' && glyph(c, y, w.from - 2) == ' ' &&
                glyph(c, y, w.to) == ' ' && in_word(glyph(c, y, w.to + 1)); /* of a message: "   s undoes" */
    bool bracketed = w.from > 0 && w.to < c->w && glyph(c, y, w.from - 1) == '(' && glyph(c, y, w.to) == ')';
    return w.to == w.from + 1 && (k->style == STYLE_KEY || (k->style == STYLE_STRONG && (bracketed || said)));
}

/* "A" or "B" in the colour of that side. */
static bool is_side(const Canvas *c, int y, Span w)
{
    Style style = c->cells[(size_t)y * (size_t)c->w + (size_t)w.from].style;
    return w.to == w.from + 1 && (style == STYLE_SIDE_A || style == STYLE_SIDE_B);
}

/* The longest name of words[first …] with an entry; returns how many words it has, 0: not even the first has one. */
static int longest(const Session *s, const Commands *commands, const Canvas *c, int y, const Span *words, int count,
                   char *word, size_t n)
{
    for (int k = is_key(c, y, words[0]) ? 0 : count < LONGEST ? count : LONGEST; k > 0; k--) {
        bool close = true; /* one blank between them */
        for (int i = 1; i < k; i++)
            close = close && words[i].from == words[i - 1].to + 1 && glyph(c, y, words[i - 1].to) == ' ';
        text_of(c, y, (Span){words[0].from, words[k - 1].to}, word, n);
        if (k == 1 && is_side(c, y, words[0]))
            utf8_print(word, n, "A and B");
        if (close && strlen(word) < WORD - 1 && has_entry(s, commands, word))
            return k;
    }
    return 0;
}

bool words_at(const Session *s, const Commands *commands, const Canvas *c, int y, int x, char *word, size_t n)
{
    Span words[256];
    int count = 0, at = -1;
    if (y < 0 || y >= c->h || x < 0 || x >= c->w || !in_word(glyph(c, y, x)))
        return false;
    for (int from = 0; count < 256 && next_word(c, y, from, &words[count]); from = words[count++].to)
        if (x >= words[count].from && x < words[count].to)
            at = count;
    for (int first = at - LONGEST + 1; at >= 0 && first <= at; first++) {
        int k = first < 0 ? 0 : longest(s, commands, c, y, words + first, count - first, word, n);
        if (first + k > at)
            return true;
    }
    return false;
}

/* Does a line say that already? Ten classes are explained once. */
static bool explained(const Overlay *o, const char *means)
{
    for (int i = 0; i < o->count; i++)
        if (strlen(o->items[i].text) > strlen(means) &&
            strcmp(o->items[i].text + strlen(o->items[i].text) - strlen(means), means) == 0)
            return true;
    return false;
}

/* One line of the list: the word, then what fits of what it means. */
static void add(Overlay *o, const Session *s, const Commands *commands, const char *word)
{
    Buf about = {0}, text = {0};
    char command[WORD + 16];
    if (shown_entry(s, commands, word, &about)) {
        const char *means = strstr(buf_str(&about), ": ");
        int pad = 18 - utf8_cells(word);
        about.data[strcspn(about.data, "\n")] = 0;
        if (means && explained(o, means + 2)) {
            buf_free(&about);
            return;
        }
        buf_printf(&text, "%s%*s  %s", word, pad > 0 ? pad : 0, "", means ? means + 2 : "");
        snprintf(command, sizeof command, "glossary %s", word);
        overlay_add(o, buf_str(&text), "", command);
    }
    buf_free(&about);
    buf_free(&text);
}

static bool known_before(char (*words)[WORD], int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (strcasecmp(words[i], word) == 0)
            return true;
    return false;
}

/* The words of a screen, in the order in which they stand there; what the cursor is on comes first. */
static void add_screen(Overlay *o, const Session *s, const Commands *commands, const Canvas *c)
{
    char(*seen)[WORD] = xcalloc(MOST_ON_SCREEN, sizeof *seen);
    int count = 0;
    if (c->cursor_y >= 0 && words_at(s, commands, c, c->cursor_y, c->cursor_x, seen[0], WORD))
        add(o, s, commands, seen[count++]);
    for (int y = 0; y < c->h; y++) {
        Span words[256];
        int n = 0;
        for (int from = 0; n < 256 && next_word(c, y, from, &words[n]);)
            from = words[n++].to;
        for (int i = 0; i < n && count < MOST_ON_SCREEN;) {
            char word[WORD];
            int k = longest(s, commands, c, y, words + i, n - i, word, sizeof word);
            if (k && !known_before(seen, count, word)) {
                add(o, s, commands, word);
                snprintf(seen[count++], WORD, "%s", word);
            }
            i += k ? k : 1;
        }
    }
    free(seen);
}

static int by_word(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

void words_menu(Overlay *o, const Session *s, const Commands *commands, const Canvas *c)
{
    const char *text, *words[512];
    int count = 0;
    overlay_list(o, c ? "What the words here mean" : "Glossary");
    if (c) {
        Overlay page = {0}; /* the words are read before the list lies over them */
        overlay_list(&page, "");
        add_screen(&page, s, commands, c);
        overlay_add(o, "on this screen", "", NULL);
        for (int i = 0; i < page.count; i++)
            overlay_add(o, page.items[i].text, "", page.items[i].command);
        overlay_free(&page);
        overlay_add(o, "all words", "", NULL);
    }
    while (count < 512 && (words[count] = ask_glossary_entry(count, &text)) != NULL)
        count++;
    qsort(words, (size_t)count, sizeof *words, by_word);
    for (int i = 0; i < count; i++)
        add(o, s, NULL, words[i]);
}
