#include "tui/cli/help.h"

#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/kernels/kernels.h"

enum { VERB_COLUMN = 25, OPTION_COLUMN = 28 };

void help_fill(Buf *out, const char *text, int indent, int column)
{
    help_fill_in(out, text, indent, column, HELP_COLUMNS);
}

void help_fill_in(Buf *out, const char *text, int indent, int column, int width)
{
    while (*text) {
        size_t n = strcspn(text, " ");
        char word[128];
        utf8_take(word, sizeof word, text, n);
        int cells = utf8_cells(word);
        if (column > indent && column + 1 + cells > width) {
            buf_printf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            buf_putc(out, ' ');
            column++;
        }
        buf_add(out, text, n);
        column += cells;
        text += n + strspn(text + n, " ");
    }
    buf_putc(out, '\n');
}

void help_entry(Buf *out, const char *name, const char *text, int indent)
{
    int cells = 2 + utf8_cells(name);
    buf_printf(out, "  %s%*s", name, indent > cells ? indent - cells : 1, "");
    help_fill(out, text, indent, indent > cells ? indent : cells + 1);
}

/* What an option's help begins with where it belongs to verbs, "train, evaluate: …": its length up to the colon; 0 of
 * one that many verbs take. */
static size_t owners(const char *help)
{
    size_t n = strspn(help, "abcdefghijklmnopqrstuvwxyz, -");
    char name[32];
    utf8_take(name, sizeof name, help, strcspn(help, ", :"));
    return help[n] == ':' && verb_find(name) ? n : 0;
}

bool option_is_of(const OptionSpec *o, const Verb *v)
{
    size_t length = strlen(v->name);
    for (const char *part = o->help; part; part = strstr(part, "; "), part = part ? part + 2 : NULL)
        for (size_t n = owners(part), i = 0; i < n; i += strcspn(part + i, ","), i += strspn(part + i, ", "))
            if (strncmp(part + i, v->name, length) == 0 && strchr(",: ", part[i + length]))
                return true;
    return false;
}

bool option_is_common(const OptionSpec *o)
{
    return !owners(o->help);
}

/* Options of one verb with what they do; v NULL: all. */
static void put_options(Buf *out, const Verb *v)
{
    bool any = false;
    for (int i = 0; option_at(i); i++) {
        const OptionSpec *o = option_at(i);
        if (v && !option_is_of(o, v))
            continue;
        buf_puts(out, any ? "" : v ? "Its options\n" : "Options\n");
        any = true;
        char name[64], letter[8] = "    ";
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(name, sizeof name, "%s--%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");
        help_entry(out, name, o->help, OPTION_COLUMN);
    }
    buf_puts(out, any && v ? "\n" : "");
}

/* The names of those that many verbs take, and this one too. */
static void put_common(Buf *out, const Verb *v)
{
    Buf all = {0};
    buf_puts(&all, "Common options (`vitrine --help` says what they do):");
    for (int i = 0; option_at(i); i++) {
        const OptionSpec *o = option_at(i);
        if (!option_is_common(o) || option_is_refused(o, v))
            continue;
        buf_puts(&all, " ");
        if (o->letter)
            buf_printf(&all, "-%c/", o->letter);
        buf_printf(&all, "--%s", o->name);
    }
    help_fill(out, buf_str(&all), 0, 0);
    buf_free(&all);
}

/* Without what may be left away. */
static void put_verb(Buf *out, const Verb *v)
{
    char name[64];
    const char *optional = strstr(v->usage, " [-");
    utf8_print(name, sizeof name, "%.*s", optional ? (int)(optional - v->usage) : 60, v->usage);
    help_entry(out, name, v->summary, VERB_COLUMN);
}

static void put_program(Buf *out)
{
    help_fill(out,
              "Vitrine shows a Transformer at work, for pictures or for words: every number of one forward pass, and "
              "where it came from.",
              0, 0);
    buf_putc(out, '\n');
    help_entry(out, "vitrine [INPUT]",
               "opens the screen; INPUT is a picture file, #N for a drawn picture, #ship and others for a rendered "
               "scene, FILE:tensor for ready values, or a sentence in quotes, which opens in the translator",
               VERB_COLUMN);
    help_entry(out, "vitrine VERB …", "prints, writes, or opens one of these:", VERB_COLUMN);
    buf_putc(out, '\n');
    for (int i = 0; verb_at(i); i++)
        put_verb(out, verb_at(i));
    Buf pages = {0};
    buf_puts(&pages, "`vitrine VERB --help` says more about a verb. `vitrine help PAGE` shows a page: ");
    pages_list(&pages);
    buf_putc(out, '\n');
    help_fill(out, buf_str(&pages), 0, 0);
    buf_putc(out, '\n');
    buf_free(&pages);
    put_options(out, NULL);
    buf_putc(out, '\n');
    help_fill(out,
              "On the screen Space is the next step, ? help, q leaves. Exit status: 0 done, 1 a file or an input is "
              "bad, 2 wrong usage or no terminal, 3 the answer to what was asked is no. If a terminal is ever left in "
              "disorder (after kill -9): type reset, or stty sane.",
              0, 0);
}

void help_text(const Verb *v, Buf *out)
{
    if (!v) {
        put_program(out);
        return;
    }
    buf_printf(out, "vitrine %s\n", v->usage);
    help_fill(out, v->summary, 0, 0);
    buf_putc(out, '\n');
    help_fill(out, v->details, 0, 0);
    buf_printf(out, "\n  %s\n\n", v->example);
    put_options(out, v);
    put_common(out, v);
}

void version_text(Buf *out, const char *source)
{
    static const char *const COMPILER =
#if defined(__clang__)
        "clang " __clang_version__;
#else
        "gcc " __VERSION__;
#endif
    buf_printf(out, "vitrine %s\n", VITRINE_VERSION);
    if (*source)
        buf_printf(out, "source     %s\n", source);
    buf_printf(out, "compiler   %s\nkernels    %s (of", COMPILER, kernels()->isa);
    for (int i = 0; kernels_variant(i); i++)
        buf_printf(out, "%s %s", i ? "," : "", kernels_variant(i)->isa);
    buf_puts(out, " here)\nlibraries  ncurses (the screen), stb (PNG, JPEG, BMP), jansson (JSON), zlib (npz), PCRE2 "
                  "and utf8proc (tokenisers)\n");
}
