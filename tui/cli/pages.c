/* The pages of docs/, in the program as they lie there, filled into lines for a terminal: headings,
 * paragraphs, lists, tables and blocks that are indented or fenced, which is all of Markdown that they use. */
#include <string.h>

#include "core/base/utf8.h"
#include "tui/cli/help.h"

#define PAGE(symbol, name)                                                                                             \
    extern const char page_##symbol[];                                                                                 \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".global page_" #symbol "\n"                                                                               \
            "page_" #symbol ":\n"                                                                                      \
            ".incbin \"docs/" name ".md\"\n"                                                                           \
            ".byte 0\n"                                                                                                \
            ".popsection\n");
#include "tui/cli/pages.def"
#undef PAGE

static const struct {
    const char *name, *text;
} PAGES[] = {
#define PAGE(symbol, name) {name, page_##symbol},
#include "tui/cli/pages.def"
#undef PAGE
};
enum { PAGE_COUNT = sizeof PAGES / sizeof *PAGES, INDENT = 4, NAME_COLUMN = 28 };

void pages_list(Buf *out)
{
    for (int i = 0; i < PAGE_COUNT; i++)
        buf_printf(out, "%s%s", i == 0 ? "" : i + 1 < PAGE_COUNT ? ", " : " or ", PAGES[i].name);
}

/* Without the marks of emphasis and the targets of links: `code` keeps its quotes. */
static void put_plain(Buf *to, const char *s, size_t n)
{
    bool code = false;
    for (size_t i = 0; i < n; i++) {
        code ^= s[i] == '`';
        if (!code && (s[i] == '*' || s[i] == '['))
            continue;
        if (!code && s[i] == ']' && i + 1 < n && s[i + 1] == '(') {
            i += strcspn(s + i, ")");
            continue;
        }
        buf_putc(to, s[i]);
    }
}

/* The next cell of | a | b | c | from *at on, which begins at 1; false where there is none. */
static bool next_cell(const char *line, size_t n, size_t *at, Buf *cell)
{
    buf_clear(cell);
    if (*at >= n)
        return false;
    size_t from = *at + strspn(line + *at, " "), end = *at + strcspn(line + *at, "|");
    *at = end + 1;
    while (end > from && line[end - 1] == ' ')
        end--;
    if (end > from)
        put_plain(cell, line + from, end - from);
    return true;
}

static int columns_of(const char *line, size_t n)
{
    Buf cell = {0};
    size_t at = 1;
    int columns = 0;
    while (next_cell(line, n, &at, &cell))
        columns++;
    buf_free(&cell);
    return columns;
}

/* The first cell as an entry's name, the second behind it; of three and more each behind its column's name, a line of
 * its own. head: the table's first line, which then is no entry. */
static void put_row(Buf *out, const char *head, const char *line, size_t n, int width)
{
    const size_t head_n = strcspn(head, "\n");
    const bool several = columns_of(head, head_n) > 2;
    if (several && line == head)
        return;
    Buf cell = {0}, column = {0}, text = {0};
    size_t at = 1, head_at = 1;
    next_cell(line, n, &at, &cell);
    next_cell(head, head_n, &head_at, &column);
    buf_puts(out, "  ");
    int cells = 2 + utf8_cells(buf_str(&cell));
    bool below = cells + 2 > NAME_COLUMN;
    if (below)
        help_fill_in(out, buf_str(&cell), 2, 2, width);
    else
        buf_puts(out, buf_str(&cell));
    while (next_cell(line, n, &at, &cell)) {
        next_cell(head, head_n, &head_at, &column);
        if (several && !cell.len)
            continue;
        buf_clear(&text);
        buf_printf(&text, "%s%s%s", several ? buf_str(&column) : "", several ? ": " : "", buf_str(&cell));
        buf_printf(out, "%*s", below ? NAME_COLUMN : NAME_COLUMN - cells, "");
        help_fill_in(out, buf_str(&text), NAME_COLUMN, NAME_COLUMN, width);
        below = true;
    }
    buf_puts(out, below ? "" : "\n");
    buf_free(&cell);
    buf_free(&column);
    buf_free(&text);
}

static bool is_block(const char *line)
{
    return *line == '\n' || *line == '|' || *line == '#' || strncmp(line, "    ", INDENT) == 0 ||
           strncmp(line, "- ", 2) == 0 || strncmp(line, "```", 3) == 0;
}

/* A paragraph, or an item of a list, from its first line on; returns behind its last one. */
static const char *put_paragraph(Buf *out, const char *p, int width)
{
    Buf text = {0};
    bool item = strncmp(p, "- ", 2) == 0;
    p += item ? 2 : 0;
    do {
        size_t n = strcspn(p, "\n");
        buf_puts(&text, text.len ? " " : "");
        p += strspn(p, " ");
        n = strcspn(p, "\n");
        put_plain(&text, p, n);
        p += n + (p[n] == '\n');
    } while (*p && !is_block(p));
    int indent = item ? INDENT : 0;
    buf_puts(out, item ? "  - " : "");
    help_fill_in(out, buf_str(&text), indent, indent, width);
    buf_free(&text);
    return p;
}

static void put_page(Buf *out, const char *p, int width)
{
    size_t fence = 0;         /* backticks that opened the block, 0 outside one */
    const char *table = NULL; /* the first line of the one that p is in */
    while (*p) {
        size_t n = strcspn(p, "\n"), ticks = strspn(p, "`");
        table = *p != '|' ? NULL : table ? table : p;
        if (ticks >= 3 && (!fence || ticks == fence))
            fence = fence ? 0 : ticks;
        else if (fence)
            buf_printf(out, "%*s%.*s\n", n ? INDENT : 0, "", (int)n, p);
        else if (*p == '|') {
            if (strspn(p, "|- ") < n)
                put_row(out, table, p, n, width);
        } else if (*p == '#')
            buf_printf(out, "%.*s\n", (int)(n - strspn(p, "# ")), p + strspn(p, "# "));
        else if (*p == '\n' || strncmp(p, "    ", INDENT) == 0)
            buf_printf(out, "%.*s\n", (int)n, p);
        else {
            p = put_paragraph(out, p, width);
            continue;
        }
        p += n + (p[n] == '\n');
    }
}

void page_lesson(Buf *out)
{
    static const char OPEN[] = "````markdown\n", CLOSE[] = "\n````";
    const char *from = strstr(page_lessons, OPEN) + strlen(OPEN);
    buf_add(out, from, (size_t)(strstr(from, CLOSE) + 1 - from));
}

/* From p on, the next heading that stands in no fenced block; NULL: there is none. text: as it is read. */
static const char *next_heading(const char *p, char text[PAGE_HEADING])
{
    size_t fence = 0;
    for (; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        size_t ticks = strspn(p, "`"), marks = strspn(p, "#");
        if (ticks >= 3 && (!fence || ticks == fence))
            fence = fence ? 0 : ticks;
        if (fence || !marks || p[marks] != ' ')
            continue;
        Buf plain = {0};
        put_plain(&plain, p + marks + 1, strcspn(p + marks + 1, "\n"));
        utf8_take(text, PAGE_HEADING, buf_str(&plain), plain.len);
        buf_free(&plain);
        return p;
    }
    return NULL;
}

const char *page_heading(int i, char text[PAGE_HEADING])
{
    for (int k = 0; k < PAGE_COUNT; k++)
        for (const char *p = PAGES[k].text; (p = next_heading(p, text)) != NULL; p += strcspn(p, "\n"))
            if (i-- == 0)
                return PAGES[k].name;
    return NULL;
}

bool page_text(const char *name, const char *heading, int width, Buf *out)
{
    char text[PAGE_HEADING];
    for (int i = 0; i < PAGE_COUNT; i++) {
        if (strcmp(PAGES[i].name, name) != 0)
            continue;
        const char *from = heading ? next_heading(PAGES[i].text, text) : PAGES[i].text;
        while (from && heading && strcmp(text, heading) != 0)
            from = next_heading(from + strcspn(from, "\n"), text);
        if (from)
            put_page(out, from, width);
        return from != NULL;
    }
    return false;
}
