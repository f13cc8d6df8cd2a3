#include "tui/overlay.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/utf8.h"
#include "core/session/address.h"

void overlay_close(Overlay *o)
{
    arena_free(&o->arena);
    o->kind = OVERLAY_NONE;
    o->count = o->lines = 0;
    o->chosen = o->number = o->scroll = o->scroll_end = 0;
    o->finds = o->straight = false;
    o->filter[0] = 0;
    o->filtering = false;
    o->more = o->goes_on = o->apart = false;
    o->page = -1;
    buf_clear(&o->text);
}

void overlay_free(Overlay *o)
{
    overlay_close(o);
    free(o->items);
    free(o->line);
    buf_free(&o->text);
    *o = (Overlay){0};
}

void overlay_list(Overlay *o, const char *title)
{
    overlay_close(o);
    o->kind = OVERLAY_LIST;
    utf8_print(o->title, sizeof o->title, "%s", title);
}

void overlay_add(Overlay *o, const char *text, const char *key, const char *command)
{
    o->items = grow(o->items, &o->cap, (size_t)o->count, sizeof *o->items);
    o->items[o->count++] = (Item){arena_strdup(&o->arena, text), arena_strdup(&o->arena, key ? key : ""),
                                  command ? arena_strdup(&o->arena, command) : NULL, "", 0};
}

void overlay_about(Overlay *o, const char *about)
{
    o->items[o->count - 1].about = arena_strdup(&o->arena, about);
}

void overlay_text(Overlay *o, const char *title, const char *text)
{
    overlay_close(o);
    o->kind = OVERLAY_TEXT;
    utf8_print(o->title, sizeof o->title, "%s", title);
    buf_puts(&o->text, text);
}

/* Letters alone are below all others, and the more so the further apart they are: down to MATCH_SCATTERED. */
enum {
    MATCH_LETTERS = FIND_NOT - 1,
    LOOSEST = 40,    /* what their distance costs at most, */
    SAID_ASIDE = 50, /* and what it costs that not the line itself has them */
    MATCH_SCATTERED = MATCH_LETTERS - LOOSEST - SAID_ASIDE,
    MATCH_BEGIN = FIND_WORD + 1,
    MATCH_NAME,
    MATCH_KEY
};

/* The last word of a command is what its line is about: `glossary s`, `view row`, `prompt lesson `. */
static bool names(const char *command, const char *filter)
{
    size_t end = strlen(command), n = strlen(filter);
    while (end && command[end - 1] == ' ')
        end--;
    return end >= n && strncasecmp(command + end - n, filter, n) == 0 && (end == n || command[end - n - 1] == ' ');
}

/* Are those letters in one word of it, in their order? "ptrn" is in "pattern", "b3attn" in "blocks.3.attn". The fewer
 * letters are left out between them, and if they begin a word, and the line's first, the better: at best
 * MATCH_LETTERS. */
static int match_letters(const char *text, const char *letters)
{
    const char *first = text + strspn(text, " "), *behind = first + strcspn(first, " ");
    int best = LOOSEST + 1;
    for (const char *p = text; *p; p++) {
        const bool inside = p > text && isalnum((unsigned char)p[-1]);
        const char *q = p;
        size_t at = 0;
        for (; letters[at] && *q && *q != ' ' && (at || q == p); q++)
            at += tolower((unsigned char)*q) == tolower((unsigned char)letters[at]);
        const int cost = 3 * (int)((size_t)(q - p) - at) + inside + (p >= behind),
                  most = cost < LOOSEST ? cost : LOOSEST;
        best = !letters[at] && at && most < best ? most : best;
    }
    return best > LOOSEST ? FIND_NOT : MATCH_LETTERS - best;
}

/* What the lists call a word that people search for; "" for one that only asks, such as how. */
static const char *meant(const char *word)
{
    static const struct {
        const char *typed, *means;
    } WORDS[] = {{"sqrt", "√d_k"},    {"square", "√d_k"},  {"root", "√d_k"},     {"divide", "√d_k"},
                 {"divided", "√d_k"}, {"scaling", "√d_k"}, {"similar", "alike"}, {"similarity", "alike"},
                 {"why", ""},         {"how", ""},         {"what", ""},         {"does", ""},
                 {"do", ""},          {"is", ""},          {"by", ""},           {"a", ""},
                 {"the", ""}};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strcasecmp(WORDS[i].typed, word) == 0)
            return WORDS[i].means;
    return NULL;
}

static int match_any(const Item *item, const char *word)
{
    const char *const SAID[] = {item->text, item->command, item->about};
    int best = FIND_NOT;
    for (size_t i = 0; i < sizeof SAID / sizeof *SAID; i++) {
        int match = find_match(SAID[i], word);
        const int letters = match == FIND_NOT ? match_letters(SAID[i], word) : FIND_NOT;
        match = letters == FIND_NOT ? match : letters - (i ? SAID_ASIDE : 0);
        best = best == FIND_NOT || (match != FIND_NOT && match > best) ? match : best;
    }
    return best;
}

/* A word, or what it is called elsewhere: "heads" is found in "head", hook_z (TransformerLens') in z; but those that
 * have it as it was typed stand before these. */
static int match_word(const Item *item, const char *word)
{
    char one[64];
    const size_t n = strlen(word);
    int match = match_any(item, word), other = FIND_NOT;
    utf8_take(one, sizeof one, word, n > 3 && tolower((unsigned char)word[n - 1]) == 's' ? n - 1 : n);
    if (match < FIND_INSIDE && strlen(one) < n)
        other = match_any(item, one);
    if (match < FIND_INSIDE && strncasecmp(word, "hook_", strlen("hook_")) == 0 &&
        match_any(item, word + strlen("hook_")) == FIND_WORD)
        other = FIND_START;
    return other < FIND_INSIDE ? match : other > FIND_START ? FIND_START : other;
}

/* How well a line says that: the worst of its words counts, each in the text where it is found best. */
static int match_said(const Item *item, const char *filter)
{
    int least = FIND_WORD;
    for (size_t n; *(filter += strspn(filter, " ")) && least != FIND_NOT; filter += n) {
        char word[64];
        n = strcspn(filter, " ");
        utf8_take(word, sizeof word, filter, n);
        const char *means = meant(word);
        int best = match_word(item, word), other = !means ? FIND_NOT : *means ? match_word(item, means) : MATCH_LETTERS;
        best = best == FIND_NOT || (other != FIND_NOT && other > best) ? other : best;
        least = best == FIND_NOT || best < least ? best : least;
    }
    return least;
}

/* How well a line matches the filter: its key, its name, its first word, words of what it says, the beginnings or parts
 * of them, their letters. */
static int match_of(const Overlay *o, const Item *item)
{
    size_t n = strlen(o->filter), length;
    if (!item->command)
        return FIND_NOT;
    for (const char *p = item->key; *p; p += length + (p[length] == ' ')) {
        length = strcspn(p, " ");
        if (length == n && strncmp(p, o->filter, n) == 0)
            return MATCH_KEY;
    }
    if (names(item->command, o->filter))
        return MATCH_NAME;
    if (strncasecmp(item->text, o->filter, n) == 0 && find_match(item->text, o->filter) == FIND_WORD)
        return MATCH_BEGIN;
    char apart[sizeof o->filter]; /* cross-entropy is cross entropy */
    snprintf(apart, sizeof apart, "%s", o->filter);
    for (char *p = apart; (p = strchr(p, '-')) != NULL;)
        *p = ' ';
    const int match = match_said(item, o->filter), other = match_said(item, apart);
    return match < FIND_INSIDE && other >= FIND_INSIDE ? other : match;
}

/* Does a line begin with what was typed, whatever it is indented by? */
static bool begins(const Overlay *o, const Item *item)
{
    return strncasecmp(item->text + strspn(item->text, " "), o->filter, strlen(o->filter)) == 0;
}

/* Which lines are shown, and in which order: without a filter as they were added; of those that match as well the ones
 * that begin with it first; letters alone where no word is found, the closest first. */
static void arrange(Overlay *o)
{
    bool words = false;
    o->lines = 0;
    for (int k = 0; k < o->count; k++)
        o->items[k].match = *o->filter ? match_of(o, &o->items[k]) : FIND_INSIDE;
    for (int match = MATCH_KEY; match > FIND_NOT || (match >= MATCH_SCATTERED && !words); match--) {
        words = match == FIND_NOT ? o->lines > 0 : words;
        for (int k = 0; k < 2 * o->count; k++) {
            const Item *item = &o->items[k % o->count];
            if (match != FIND_NOT && item->match == match && begins(o, item) == (k < o->count)) {
                o->line = grow(o->line, &o->line_cap, (size_t)o->lines, sizeof *o->line);
                o->line[o->lines++] = k % o->count;
            }
        }
    }
}

static const Item *item_on(const Overlay *o, int line)
{
    return &o->items[o->line[line]];
}

/* The i-th line that is shown and can be chosen. */
static const Item *chosen_item(const Overlay *o, int i)
{
    for (int k = 0; k < o->lines; k++)
        if (item_on(o, k)->command && i-- == 0)
            return item_on(o, k);
    return NULL;
}

static int choices(const Overlay *o)
{
    int n = 0;
    for (int k = 0; k < o->lines; k++)
        n += item_on(o, k)->command != NULL;
    return n;
}

static OverlayResult run_item(Overlay *o, int i, Buf *command)
{
    const Item *item = chosen_item(o, i);
    if (!item)
        return OVERLAY_STAYS;
    buf_puts(command, item->command);
    utf8_print(o->sought, sizeof o->sought, "%s", o->finds ? o->filter : "");
    overlay_close(o);
    return OVERLAY_RUN;
}

/* How far a key moves in a text or a list; 0: it does not. */
static int moves_by(const char *key)
{
    enum { ALL = 1000000 };
    static const struct {
        const char *key;
        int by;
    } KEYS[] = {{"Down", 1},   {"j", 1},    {"Up", -1},     {"k", -1},   {"PgDn", 10}, {"^D", 10},
                {"PgUp", -10}, {"^U", -10}, {"Home", -ALL}, {"g", -ALL}, {"End", ALL}, {"G", ALL}};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if (strcmp(key, KEYS[i].key) == 0)
            return KEYS[i].by;
    return 0;
}

static int moved(int from, int by, int last)
{
    int to = from + by > last ? last : from + by;
    return to < 0 ? 0 : to;
}

static OverlayResult text_key(Overlay *o, const char *key)
{
    int by = moves_by(key);
    if (by && (o->scroll_end || by == 1 || by == -1)) {
        o->scroll = moved(o->scroll, by, o->scroll_end);
        return OVERLAY_STAYS;
    }
    bool only_closes = strcmp(key, "q") == 0 || strcmp(key, "Esc") == 0 || strcmp(key, "Enter") == 0 ||
                       strcmp(key, "Backspace") == 0;
    overlay_close(o);
    return only_closes ? OVERLAY_CLOSED : OVERLAY_PASSED;
}

static OverlayResult filter_key(Overlay *o, const char *key)
{
    size_t n = strlen(o->filter);
    if (strcmp(key, "Backspace") == 0) {
        if (n)
            o->filter[n - 1] = 0;
        utf8_mend(o->filter);
        o->filtering = n || o->finds || o->page == HELP_SEARCH;
    } else if (n + strlen(key) < sizeof o->filter &&
               (strlen(key) == 1 || (unsigned char)*key >= 0x80 || strcmp(key, "Space") == 0))
        snprintf(o->filter + n, sizeof o->filter - n, "%s", strcmp(key, "Space") == 0 ? " " : key);
    o->chosen = 0;
    return OVERLAY_STAYS;
}

/* The first line whose text begins with that number and a point; -1: none does. */
static int numbered(const Overlay *o, int number)
{
    char front[16];
    snprintf(front, sizeof front, "%d. ", number);
    for (int i = 0; i < choices(o); i++)
        if (strncmp(chosen_item(o, i)->text, front, strlen(front)) == 0)
            return i;
    return -1;
}

/* To the line that has the number typed so far, or, where none has, this digit alone. */
static void digit_key(Overlay *o, int typed, int digit)
{
    int line = typed && typed < 1000 ? numbered(o, o->number = typed * 10 + digit) : -1;
    if (line < 0)
        line = numbered(o, o->number = digit);
    if (line >= 0)
        o->chosen = line;
}

OverlayResult overlay_key(Overlay *o, const char *key, Buf *command)
{
    arrange(o);
    int last = choices(o) - 1, typed = o->number;
    o->number = 0;
    if (o->kind == OVERLAY_TEXT)
        return text_key(o, key);
    if (!o->filtering && isdigit((unsigned char)*key) && !key[1]) {
        digit_key(o, typed, *key - '0');
        return OVERLAY_STAYS;
    }
    if (strcmp(key, "Enter") == 0)
        return run_item(o, o->chosen, command);
    if (strcmp(key, "Esc") == 0 && o->filtering && !o->finds &&
        !o->straight) { /* the search in the list, not the list */
        o->filtering = false;
        o->filter[0] = 0;
        o->chosen = 0;
        return OVERLAY_STAYS;
    }
    if (strcmp(key, "Esc") == 0 || strcmp(key, "^C") == 0 || (strcmp(key, "q") == 0 && !o->filtering)) {
        overlay_close(o);
        return OVERLAY_CLOSED;
    }
    int by = o->filtering && (strlen(key) == 1 || (unsigned char)*key >= 0x80) ? 0 : moves_by(key);
    if (by)
        o->chosen = moved(o->chosen, by, last);
    else if (!o->filtering &&
             (strcmp(key, "?") == 0 || ((strcmp(key, "/") == 0 || strcmp(key, "^P") == 0) && o->page >= 0))) {
        buf_puts(command, *key == '?' ? "help next" : "help find");
        return OVERLAY_RUN;
    } else if (strcmp(key, "/") == 0 && !o->filtering)
        o->filtering = true;
    else if (o->filtering)
        return filter_key(o, key);
    return OVERLAY_STAYS;
}

/* A table's line that is too long for the box loses the blanks between its columns before it is broken. */
static void squeeze(char *line)
{
    char *to = line;
    for (const char *from = line; *from; from++)
        if (from - line < 3 || from[0] != ' ' || from[-1] != ' ' || from[-2] != ' ')
            *to++ = *from;
    *to = 0;
}

/* The line of the page that begins at p, as it goes into `width` cells; returns where the next one begins. */
static const char *page_line(const char *p, int width, char line[1024])
{
    size_t n = strcspn(p, "\n");
    utf8_take(line, 1024, p, n);
    if (utf8_cells(line) > width)
        squeeze(line);
    return p + n + (p[n] == '\n');
}

static int page_rows(const Overlay *o, const Canvas *c, int width)
{
    char line[1024];
    int rows = 0;
    for (const char *p = buf_str(&o->text); *p;) {
        p = page_line(p, width, line);
        rows += *line ? canvas_wrap_rows(c, width, line) : 1;
    }
    return rows;
}

/* What is said of a list's line: its own words, or the whole of it where it is cut. */
static const char *about_of(const Item *item, int width)
{
    const bool cut = item->command && utf8_cells(item->text) > width - 3 - utf8_cells(item->key);
    return *item->about || !cut ? item->about : item->text;
}

/* Lines below a list for what its chosen line will do: as many as the longest needs, so that the box stays; a few for
 * the rest of a cut one. */
static int about_rows(const Overlay *o, const Canvas *c, int width)
{
    enum { FEW = 3 };
    int most = 0;
    for (int i = 0; o->kind == OVERLAY_LIST && i < o->count; i++) {
        int rows = canvas_wrap_rows(c, width, about_of(&o->items[i], width));
        rows = rows > FEW && !*o->items[i].about ? FEW : rows;
        most = rows > most ? rows : most;
    }
    return c->h >= 16 ? most : 0;
}

/* Lines of a screen on which a box of sentences has half of them at most, two thirds where the cursor's cell stays in
 * sight; on which it stands apart if it may. TALL: on which it has two thirds where all of it is seen then. */
enum { SAID_FROM = 16, APART_FROM = 24, TALL = 36 };

/* Is it a drawing with its key? It is of the model, and of no cell that has to stay in sight. */
static bool draws(const Overlay *o)
{
    return o->kind == OVERLAY_TEXT && !o->goes_on && strstr(buf_str(&o->text), "┌");
}

/* Does the screen end above it? */
static bool ends_above(const Overlay *o, const Canvas *c)
{
    return o->kind == OVERLAY_TEXT && !*o->title && c->h >= SAID_FROM &&
           (o->goes_on || (o->apart && !draws(o) && c->h >= APART_FROM));
}

/* As many lines as there are above or below the cursor, but `most` at most and `least` in any case. */
static int clamp_lines(int least, int above, int below, int most)
{
    const int room = above > below ? above : below, lines = room < most ? room : most;
    return lines > least ? lines : least;
}

static Rect box_of(const Overlay *o, const Canvas *c)
{
    int w = c->w < 84 ? c->w - 2 : 82, lines = o->kind == OVERLAY_TEXT ? page_rows(o, c, w - 2) : o->lines;
    lines += !lines;
    lines += about_rows(o, c, w - 2);
    const int most = draws(o) ? c->h : c->h - 2;
    int h = lines + 3 < most ? lines + 3 : most;
    h = h < 3 ? (c->h < 3 ? c->h : 3) : h;
    w = w < 3 ? c->w : w;
    Rect r = {.y = (c->h - h) / 2, .x = (c->w - w) / 2, .h = h, .w = w};
    if (o->kind != OVERLAY_TEXT || *o->title || c->h < SAID_FROM || draws(o))
        return r;
    /* What was said leaves what it speaks of in sight, and stands where the cursor is not. */
    int half = c->h >= TALL && h <= 2 * c->h / 3 ? h : c->h / 2 - 1;
    if (ends_above(o, c) && !o->goes_on) /* the rest is scrolled to, so that the screen keeps its lines */
        half = c->h / 3;
    else if (!o->goes_on && h > half) /* two thirds, as long as the cursor's cell stays beside it */
        half = clamp_lines(half, c->cursor_y - 1, c->h - 2 - c->cursor_y, 2 * c->h / 3);
    r.h = h < half ? h : half;
    r.y = c->h - r.h - (h < half ? 3 : 1);
    if (ends_above(o, c))
        r.y = c->h - r.h;
    else if (c->cursor_y >= r.y && c->cursor_y < r.y + r.h)
        r.y = 1;
    return r;
}

int overlay_below(const Overlay *o, const Canvas *c)
{
    return ends_above(o, c) ? box_of(o, c).h : 0;
}

/* First line of a list that keeps the chosen one in view. */
static int first_line(const Overlay *o, int rows)
{
    int line = 0, choice = 0;
    while (line < o->lines && !(item_on(o, line)->command && choice++ == o->chosen))
        line++;
    return line >= rows ? line - rows + 1 : 0;
}

static void draw_text(Overlay *o, Canvas *c, Rect r)
{
    char line[1024];
    int rows = page_rows(o, c, r.w), y = 0;
    o->scroll_end = rows > r.h ? rows - r.h : 0;
    o->scroll = o->scroll > o->scroll_end ? o->scroll_end : o->scroll;
    for (const char *p = buf_str(&o->text); *p && y < o->scroll + r.h;) {
        p = page_line(p, r.w, line);
        int used = *line ? canvas_wrap_rows(c, r.w, line) : 1;
        canvas_wrap(c, (Rect){r.y + y - o->scroll, r.x, used, r.w}, STYLE_TEXT, line);
        y += used;
    }
}

/* What the keys do, and how much is out of sight. */
static void draw_foot_of_text(const Overlay *o, Canvas *c, Rect foot)
{
    char more[64] = "";
    int below = o->scroll_end - o->scroll;
    if (o->scroll_end)
        snprintf(more, sizeof more, below ? "↑↓ scroll, %d more %s below   " : "↑↓ scroll, this is the end   ", below,
                 below == 1 ? "line" : "lines");
    canvas_printf(c, foot.y, foot.x, foot.w, STYLE_DIM, "%s%sq closes", more,
                  o->goes_on ? "Space goes on   "
                  : o->more  ? "i what it is in general   "
                             : "");
}

static void draw_foot_of_list(const Overlay *o, Canvas *c, Rect foot, int room)
{
    char where[48] = "";
    if (o->lines > room)
        snprintf(where, sizeof where, " %d of %d", o->chosen + 1, choices(o));
    canvas_right(c, foot.y, foot.x, foot.w, STYLE_DIM, where);
    foot.w -= utf8_cells(where);
    if (o->filtering)
        canvas_printf(c, foot.y, foot.x, foot.w, STYLE_PROMPT, "find: %s_   Enter %s, Esc %s", o->filter,
                      o->page < 0 ? "takes it" : "runs it", o->finds || o->straight ? "closes" : "ends the search");
    else
        canvas_text(c, foot.y, foot.x, foot.w, STYLE_DIM,
                    o->page < 0    ? "↑↓ choose   Enter takes it   / find   q closes"
                    : foot.w >= 64 ? "↑↓  Enter runs it  / Ctrl-P find anything  ? next page  q closes"
                                   : "↑↓  Enter  / Ctrl-P find  ? next page  q closes");
}

static void draw_list(const Overlay *o, Canvas *c, Rect r)
{
    int line = -first_line(o, r.h), choice = 0;
    for (int k = 0; k < o->lines; k++) {
        const Item *item = item_on(o, k);
        bool here = item->command && choice == o->chosen;
        if (line >= 0 && line < r.h) {
            int y = r.y + line, kw = utf8_cells(item->key);
            if (here)
                canvas_fill(c, (Rect){y, r.x, 1, r.w}, STYLE_SELECTED, ' ');
            Style style = here ? STYLE_SELECTED : item->command ? STYLE_TEXT : STYLE_TITLE;
            canvas_text(c, y, r.x, 2, style, here ? "▸" : " ");
            canvas_text(c, y, r.x + 2, r.w - 3 - kw, style, item->text);
            canvas_right(c, y, r.x, r.w, here ? STYLE_SELECTED : STYLE_KEY, item->key);
            if (here) {
                c->cursor_y = y;
                c->cursor_x = r.x;
            }
        }
        choice += item->command != NULL;
        line++;
    }
    if (!choice && o->filter[0])
        canvas_text(c, r.y, r.x + 2, r.w - 2, STYLE_DIM, "nothing with that in it; Backspace takes letters back");
}

void overlay_draw(Overlay *o, Canvas *c)
{
    if (o->kind == OVERLAY_LIST) /* its keys are its own: what lies behind waits */
        canvas_attr(c, c->clip, ATTR_DIM);
    if (o->kind == OVERLAY_NONE)
        return;
    arrange(o);
    Rect box = box_of(o, c);
    canvas_fill(c, box, STYLE_TEXT, ' ');
    Rect in = canvas_box(c, box, o->title, true);
    if (in.h < 1 || in.w < 4)
        return;
    Rect foot = in.h > 1 ? rect_cut(&in, 'b', 1) : (Rect){0};
    Rect about = rect_cut(&in, 'b', about_rows(o, c, in.w));
    const Item *item = about.h ? chosen_item(o, o->chosen) : NULL;
    if (item)
        canvas_wrap(c, about, STYLE_SENTENCE, about_of(item, in.w));
    Rect old = canvas_clip(c, in);
    if (o->kind == OVERLAY_TEXT)
        draw_text(o, c, in);
    else
        draw_list(o, c, in);
    c->clip = old;
    if (foot.h && o->kind == OVERLAY_TEXT)
        draw_foot_of_text(o, c, foot);
    else if (foot.h)
        draw_foot_of_list(o, c, foot, in.h);
}

OverlayResult overlay_click(Overlay *o, const Canvas *c, int y, int x, Buf *command)
{
    arrange(o);
    Rect box = box_of(o, c), in = rect_inset(box, 1);
    if (!rect_has(box, y, x) || o->kind == OVERLAY_TEXT) {
        overlay_close(o);
        return OVERLAY_CLOSED;
    }
    if (in.h > 1)
        rect_cut(&in, 'b', 1);
    rect_cut(&in, 'b', about_rows(o, c, in.w));
    int line = y - in.y + first_line(o, in.h), choice = 0;
    for (int k = 0; k < o->lines && rect_has(in, y, x); k++) {
        if (line-- == 0)
            return item_on(o, k)->command ? run_item(o, choice, command) : OVERLAY_STAYS;
        choice += item_on(o, k)->command != NULL;
    }
    return OVERLAY_STAYS;
}
