#include "tui/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/address.h"

static const char ANSWER[] = "answer ";

void prompt_open(Prompt *p, const char *text)
{
    utf8_print(p->text, sizeof p->text, "%s", text);
    p->length = p->cursor = (int)strlen(p->text);
    p->full = false;
    p->answers = strncmp(text, ANSWER, strlen(ANSWER)) == 0;
    p->history_at = p->history_count;
    buf_clear(&p->choices);
    p->choice = -1;
    p->seeks = false;
    p->open = true;
}

void prompt_free(Prompt *p)
{
    for (int i = 0; i < p->history_count; i++)
        free(p->history[i]);
    buf_free(&p->choices);
    *p = (Prompt){0};
}

static void insert(Prompt *p, const char *text, int n)
{
    p->full = p->full || p->length + n >= PROMPT_SIZE;
    if (p->full) /* of a text that is too long no later part either */
        return;
    memmove(p->text + p->cursor + n, p->text + p->cursor, (size_t)(p->length - p->cursor) + 1);
    memcpy(p->text + p->cursor, text, (size_t)n);
    p->length += n;
    p->cursor += n;
}

void prompt_paste(Prompt *p, const char *text)
{
    while (*text) {
        uint32_t c = utf8_next(&text);
        char bytes[4];
        if (c == '\n' || c == '\r' || c == '\t')
            c = ' ';
        if (utf8_printable(c))
            insert(p, bytes, (int)utf8_put(bytes, c));
    }
}

/* Where a key leads from the cursor: to the start of the character before or after it, … */
static int before(const Prompt *p)
{
    int i = p->cursor;
    do
        i--;
    while (i > 0 && ((unsigned char)p->text[i] & 0xc0) == 0x80);
    return i < 0 ? 0 : i;
}

static int after(const Prompt *p)
{
    int i = p->cursor;
    if (i >= p->length)
        return p->length;
    do
        i++;
    while (i < p->length && ((unsigned char)p->text[i] & 0xc0) == 0x80);
    return i;
}

/* … of the word before it, … */
static int word_before(const Prompt *p)
{
    int i = p->cursor;
    while (i > 0 && p->text[i - 1] == ' ')
        i--;
    while (i > 0 && p->text[i - 1] != ' ')
        i--;
    return i;
}

/* … of the line, or to its end. */
static int start(const Prompt *p)
{
    (void)p;
    return 0;
}

static int end(const Prompt *p)
{
    return p->length;
}

static void erase(Prompt *p, int from, int to)
{
    int kept = p->answers && strncmp(p->text, ANSWER, strlen(ANSWER)) == 0 ? (int)strlen(ANSWER) : 0;
    from = from > kept ? from : kept;
    if (to <= from)
        return;
    memmove(p->text + from, p->text + to, (size_t)(p->length - to) + 1);
    p->length -= to - from;
    p->cursor = from;
    p->full = false;
}

static void set_text(Prompt *p, const char *text, size_t n)
{
    n = n < PROMPT_SIZE ? n : PROMPT_SIZE - 1;
    memmove(p->text, text, n);
    p->text[n] = 0;
    p->length = p->cursor = (int)strlen(p->text);
    p->full = false;
}

static void remember(Prompt *p)
{
    if (!p->length || (p->history_count && strcmp(p->history[p->history_count - 1], p->text) == 0))
        return;
    if (p->history_count == PROMPT_HISTORY) {
        free(p->history[0]);
        memmove(p->history, p->history + 1, (PROMPT_HISTORY - 1) * sizeof *p->history);
        p->history_count--;
    }
    p->history[p->history_count++] = xstrdup(p->text);
}

/* Remembers what to look for in the history. */
static void begin_search(Prompt *p)
{
    if (!p->seeks)
        snprintf(p->sought, sizeof p->sought, "%s", p->text);
    p->seeks = true;
}

/* The next line of the history that begins with what was typed (anywhere: that has it somewhere in it); behind the last
 * one what was typed itself. */
static void recall(Prompt *p, int by, bool anywhere)
{
    begin_search(p);
    for (int to = p->history_at + by; to >= 0 && to <= p->history_count; to += by) {
        const char *line = to < p->history_count ? p->history[to] : p->sought;
        if (to < p->history_count &&
            (anywhere ? !strstr(line, p->sought) : strncmp(line, p->sought, strlen(p->sought)) != 0))
            continue;
        p->history_at = to;
        set_text(p, line, strlen(line));
        return;
    }
}

static const char *choice_at(const Prompt *p, int i, size_t *n)
{
    const char *line = buf_str(&p->choices);
    for (; *line; line += *n + (line[*n] == '\n')) {
        *n = strcspn(line, "\n");
        if (i-- == 0)
            return line;
    }
    return NULL;
}

static void complete(Prompt *p, int by, const Session *s, const Commands *commands)
{
    size_t n;
    if (p->choice < 0) {
        buf_clear(&p->choices);
        command_complete(s, commands, p->text, &p->choices);
        p->choice = 0;
    } else {
        p->choice += by;
        if (p->choice < 0)
            p->choice = 0;
    }
    const char *line = choice_at(p, p->choice, &n);
    if (!line) {
        p->choice = 0;
        line = choice_at(p, 0, &n);
    }
    if (line)
        set_text(p, line, n);
}

/* --- keys --- */

/* A shell's keys; all but those of the history end a search through it. */
static const struct {
    const char *keys;
    int (*to)(const Prompt *p); /* what the cursor moves to, or is erased up to; NULL: of the history */
    bool erases;
    int by; /* lines of the history */
    bool anywhere;
} KEYS[] = {{"Left", before, false, 0, false},     {"Right", after, false, 0, false},
            {"Home ^A", start, false, 0, false},   {"End ^E", end, false, 0, false},
            {"Backspace", before, true, 0, false}, {"Delete ^D", after, true, 0, false},
            {"^U", start, true, 0, false},         {"^K", end, true, 0, false},
            {"^W", word_before, true, 0, false},   {"Up", NULL, false, -1, false},
            {"Down", NULL, false, 1, false},       {"^R", NULL, false, -1, true}};

/* A key of the table, or a character that stands for itself. */
static void edit(Prompt *p, const char *key)
{
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        if (utf8_listed(KEYS[i].keys, key)) {
            p->seeks = p->seeks && !KEYS[i].to;
            int to = KEYS[i].to ? KEYS[i].to(p) : 0;
            if (!KEYS[i].to)
                recall(p, KEYS[i].by, KEYS[i].anywhere);
            else if (KEYS[i].erases)
                erase(p, to < p->cursor ? to : p->cursor, to > p->cursor ? to : p->cursor);
            else
                p->cursor = to;
            return;
        }
    key = strcmp(key, "Space") == 0 ? " " : key;
    const char *rest = key;
    uint32_t c = utf8_next(&rest);
    p->seeks = false;
    if (c && !*rest && utf8_printable(c))
        insert(p, key, (int)(rest - key));
}

PromptResult prompt_key(Prompt *p, const char *key, const Session *s, const Commands *commands)
{
    if (utf8_listed("Tab S-Tab", key)) {
        complete(p, key[0] == 'T' ? 1 : -1, s, commands);
        return PROMPT_GOES_ON;
    }
    p->choice = -1;
    buf_clear(&p->choices);
    if (strcmp(key, "Enter") == 0) {
        p->seeks = false;
        if (command_quotes_open(p->text)) { /* one that the line opened itself, before a text */
            p->cursor = p->length;
            insert(p, "\"", 1);
        }
        remember(p);
        p->open = false;
        return PROMPT_RUN;
    }
    if (utf8_listed("Esc ^C ^G", key) || (strcmp(key, "Backspace") == 0 && !p->length)) {
        p->seeks = p->open = false;
        return PROMPT_CANCELLED;
    }
    edit(p, key);
    return PROMPT_GOES_ON;
}

const char *prompt_first(int i)
{
    static const char *const FIRST[] = {"goto softmax", "set scale off", "undo", "find logits", "lesson 4", "help"};
    return i >= 0 && (size_t)i < sizeof FIRST / sizeof *FIRST ? FIRST[i] : NULL;
}

void prompt_hint(const Prompt *p, const Session *s, const Commands *commands, Buf *out)
{
    char name[32];
    size_t n = strcspn(p->text, " ");
    const float *v = session_peek(s, SIDE_B, s->place.path);
    if (p->full) {
        buf_printf(out, "too long: a line takes %d bytes, the rest is not in it. Ctrl-U empties it", PROMPT_SIZE - 1);
        return;
    }
    if (p->answers) {
        buf_puts(out, "Enter answers  Esc leaves the question open");
        return;
    }
    if (!p->length) {
        for (int i = 0; prompt_first(i); i++)
            buf_printf(out, "%s%s", i ? "  " : "try  ", prompt_first(i));
        buf_puts(out, "  Tab: all");
        return;
    }
    if (strncmp(p->text, "set . ", 6) == 0 && v) {
        NodeId node = session_node(s, SIDE_B, s->place.path);
        buf_puts(out, "a number such as 0 for ");
        address_put_focus(s, out);
        buf_printf(out, ", now %.6g", (double)v[session_cell(s, SIDE_B, node)]);
        return;
    }
    utf8_print(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : 0), p->text);
    const Command *c = command_find(commands, name);
    if (c && p->text[n])
        buf_printf(out, "%s: %s", c->usage, c->summary);
}

void prompt_draw(const Prompt *p, Canvas *c, Rect line, Rect above)
{
    canvas_fill(c, line, STYLE_PROMPT, ' ');
    canvas_text(c, line.y, line.x, 1, STYLE_PROMPT, ":");
    char front[PROMPT_SIZE];
    utf8_print(front, sizeof front, "%.*s", p->cursor, p->text);
    int room = line.w - 2, at = utf8_cells(front), skip = at >= room ? at - room + 1 : 0;
    const char *text = p->text;
    for (int cells = 0; *text && cells < skip;) { /* a long line scrolls */
        const char *next = text;
        cells += utf8_width(utf8_next(&next));
        text = next;
    }
    canvas_text(c, line.y, line.x + 1, line.w - 1, STYLE_PROMPT, text);
    c->cursor_y = line.y;
    c->cursor_x = line.x + 1 + at - skip;
    int count = 0, first;
    size_t n = 0;
    while (choice_at(p, count, &n))
        count++;
    if (p->choice < 0 || count < 2 || above.h < 1)
        return;
    int rows = count < above.h ? count : above.h < 10 ? above.h : 10;
    first = p->choice - rows + 1 > 0 ? p->choice - rows + 1 : 0;
    for (int i = 0; i < rows && first + i < count; i++) {
        char word[PROMPT_SIZE];
        const char *choice = choice_at(p, first + i, &n);
        utf8_print(word, sizeof word, " %.*s", (int)n, choice);
        Rect r = {above.y + above.h - rows + i, above.x, 1, above.w < 60 ? above.w : 60};
        canvas_fill(c, r, first + i == p->choice ? STYLE_SELECTED : STYLE_PROMPT, ' ');
        canvas_text(c, r.y, r.x, r.w, first + i == p->choice ? STYLE_SELECTED : STYLE_PROMPT, word);
    }
}
