/* The pages of docs/, in the program as they lie there, filled into lines of 79 columns for a terminal: headings,
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
static void put_row(Buf *out, const char *line, size_t n)
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
    if (utf8_cells(buf_str(&name)) + 4 > NAME_COLUMN) {
        buf_puts(out, "  ");
        help_fill(out, buf_str(&name), 2, 2);
        buf_printf(out, "%*s", NAME_COLUMN, "");
        help_fill(out, buf_str(&rest), NAME_COLUMN, NAME_COLUMN);
    } else
        help_entry(out, buf_str(&name), buf_str(&rest), NAME_COLUMN);
    buf_free(&name);
    buf_free(&rest);
}

static bool is_block(const char *line)
{
    return *line == '\n' || *line == '|' || *line == '#' || strncmp(line, "    ", INDENT) == 0 ||
           strncmp(line, "- ", 2) == 0 || strncmp(line, "```", 3) == 0;
}

/* A paragraph, or an item of a list, from its first line on; returns behind its last one. */
static const char *put_paragraph(Buf *out, const char *p)
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
    if (item)
        help_entry(out, "-", buf_str(&text), INDENT);
    else
        help_fill(out, buf_str(&text), 0, 0);
    buf_free(&text);
    return p;
}

static void put_page(Buf *out, const char *p)
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
                put_row(out, p, n);
        } else if (*p == '#')
            buf_printf(out, "%.*s\n", (int)(n - strspn(p, "# ")), p + strspn(p, "# "));
        else if (*p == '\n' || strncmp(p, "    ", INDENT) == 0)
            buf_printf(out, "%.*s\n", (int)n, p);
        else {
            p = put_paragraph(out, p);
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

bool page_text(const char *name, Buf *out)
{
    for (int i = 0; i < PAGE_COUNT; i++)
        if (strcmp(PAGES[i].name, name) == 0) {
            put_page(out, PAGES[i].text);
            return true;
        }
    return false;
}
