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

/* | a | b | c |: the first cell as an entry's name, the others behind it. */
static void put_row(Buf *out, const char *line, size_t n, int width)
{
    Buf name = {0}, rest = {0};
    for (size_t at = 1; at < n; at += strcspn(line + at, "|") + 1) {
        size_t from = at + strspn(line + at, " "), end = at + strcspn(line + at, "|");
        while (end > from && line[end - 1] == ' ')
            end--;
        if (end <= from)
            continue;
        Buf *to = at == 1 ? &name : &rest;
        buf_puts(to, to->len ? "   " : "");
        put_plain(to, line + from, end - from);
    }
    buf_puts(out, "  ");
    int cells = 2 + utf8_cells(buf_str(&name));
    if (cells + 2 > NAME_COLUMN) {
        help_fill_in(out, buf_str(&name), 2, 2, width);
        buf_printf(out, "%*s", NAME_COLUMN, "");
    } else
        buf_printf(out, "%s%*s", buf_str(&name), NAME_COLUMN - cells, "");
    help_fill_in(out, buf_str(&rest), NAME_COLUMN, NAME_COLUMN, width);
    buf_free(&name);
    buf_free(&rest);
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
    size_t fence = 0; /* backticks that opened the block, 0 outside one */
    while (*p) {
        size_t n = strcspn(p, "\n"), ticks = strspn(p, "`");
        if (ticks >= 3 && (!fence || ticks == fence))
            fence = fence ? 0 : ticks;
        else if (fence)
            buf_printf(out, "%*s%.*s\n", n ? INDENT : 0, "", (int)n, p);
        else if (*p == '|') {
            if (strspn(p, "|- ") < n)
                put_row(out, p, n, width);
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
