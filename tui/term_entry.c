#include "tui/term_entry.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"

typedef struct Extended {
    const char *name;
    const char *value; /* NULL: a flag that is set */
} Extended;

typedef struct Entry {
    const char *name;
    const bool *flags;
    const int *numbers;         /* −1 = absent */
    const char *const *strings; /* NULL = absent */
    int flag_count, number_count, string_count;
    Extended extended[4]; /* flags first, then strings */
    int extended_count;
} Entry;

enum { MAGIC_32BIT = 01036, ABSENT = 0xffff };

static void put16(Buf *out, unsigned v)
{
    buf_putc(out, (char)(v & 0xff));
    buf_putc(out, (char)(v >> 8 & 0xff));
}

static void put32(Buf *out, int v)
{
    put16(out, (unsigned)v & 0xffff);
    put16(out, (unsigned)v >> 16);
}

static void put_even(Buf *out, size_t start)
{
    if ((out->len - start) % 2)
        buf_putc(out, '\0');
}

/* Appends offset or ABSENT to offsets and the string to table. */
static void put_string(Buf *offsets, Buf *table, const char *s, size_t base)
{
    put16(offsets, s ? (unsigned)(table->len - base) & 0xffff : ABSENT);
    if (s)
        buf_add(table, s, strlen(s) + 1);
}

static void put_extended(const Entry *e, Buf *out)
{
    Buf offsets = {.data = NULL}, table = {.data = NULL};
    int flags = 0;
    while (flags < e->extended_count && !e->extended[flags].value)
        flags++;
    for (int i = flags; i < e->extended_count; i++)
        put_string(&offsets, &table, e->extended[i].value, 0);
    size_t names = table.len; /* offsets of names count from the end of the values */
    for (int i = 0; i < e->extended_count; i++)
        put_string(&offsets, &table, e->extended[i].name, names);
    put16(out, (unsigned)flags);
    put16(out, 0); /* no numbers */
    put16(out, (unsigned)(e->extended_count - flags));
    put16(out, (unsigned)(offsets.len / 2));
    put16(out, (unsigned)table.len);
    size_t start = out->len;
    for (int i = 0; i < flags; i++)
        buf_putc(out, 1);
    put_even(out, start);
    buf_add(out, offsets.data, offsets.len);
    buf_add(out, table.data, table.len);
    buf_free(&offsets);
    buf_free(&table);
}

/* The compiled form. False when the strings do not fit its 16-bit offsets. */
static bool entry_compile(const Entry *e, Buf *out)
{
    Buf offsets = {.data = NULL}, table = {.data = NULL};
    for (int i = 0; i < e->string_count; i++)
        put_string(&offsets, &table, e->strings[i], 0);
    bool fits = table.len < 0x7fff;
    if (fits) {
        size_t start = out->len, name = strlen(e->name) + 1;
        const int header[] = {MAGIC_32BIT, (int)name, e->flag_count, e->number_count, e->string_count, (int)table.len};
        for (size_t i = 0; i < sizeof header / sizeof *header; i++)
            put16(out, (unsigned)header[i]);
        buf_add(out, e->name, name);
        for (int i = 0; i < e->flag_count; i++)
            buf_putc(out, e->flags[i]);
        put_even(out, start);
        for (int i = 0; i < e->number_count; i++)
            put32(out, e->numbers[i]);
        buf_add(out, offsets.data, offsets.len);
        buf_add(out, table.data, table.len);
        put_even(out, start);
        if (e->extended_count)
            put_extended(e, out);
    }
    buf_free(&offsets);
    buf_free(&table);
    return fits;
}

void entry_base64(const void *data, size_t n, Buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = data;
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)b[i] << 16 | (i + 1 < n ? (uint32_t)b[i + 1] << 8 : 0) | (i + 2 < n ? b[i + 2] : 0);
        for (int k = 0; k < 4; k++)
            buf_putc(out, i + (size_t)k > n ? '=' : digits[v >> (18 - 6 * k) & 63]);
    }
}

static int count_names(const char *const *list)
{
    int n = 0;
    while (list[n])
        n++;
    return n;
}

static bool one_of(const char *name, const char *const *list)
{
    while (*list && strcmp(*list, name))
        list++;
    return *list != NULL;
}

/* What the wish makes of terminfo's string. Semicolons, not colons, in the colours: every terminal that knows them
 * knows this form. */
static const char *wished(const EntryWish *w, const char *name, const char *value)
{
    static const char *const palette[] = {"initc", "initp", "oc", "setf", "setb", NULL}, *const screens[] = {"smcup",
                                                                                                             "rmcup",
                                                                                                             NULL};
    static const struct {
        int colours;
        const char *name, *value;
    } colour[] = {
        {ENTRY_TRUE, "setaf", "\033[38;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%dm"},
        {ENTRY_TRUE, "setab", "\033[48;2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;%p1%{255}%&%dm"},
        {ENTRY_TRUE, "op", "\033[39;49m"},
        {ENTRY_256, "setaf", "\033[38;5;%p1%dm"},
        {ENTRY_256, "setab", "\033[48;5;%p1%dm"},
        {ENTRY_256, "op", "\033[39;49m"},
    };
    for (size_t i = 0; i < sizeof colour / sizeof *colour; i++)
        if (colour[i].colours == w->colours && !strcmp(colour[i].name, name))
            return colour[i].value;
    if ((w->colours && one_of(name, palette)) || (w->no_altscreen && one_of(name, screens)))
        return NULL;
    return w->sgr_mouse && !strcmp(name, "kmous") ? "\033[<" : value;
}

bool entry_private(const EntrySource *s, const EntryWish *w, Buf *out)
{
    Arena a = {.blocks = NULL};
    Entry e = {.name = w->name,
               .flag_count = count_names(s->flag_names),
               .number_count = count_names(s->number_names),
               .string_count = count_names(s->string_names)};
    bool *flags = arena_alloc(&a, size_mul((size_t)e.flag_count, sizeof *flags));
    int *numbers = arena_alloc(&a, size_mul((size_t)e.number_count, sizeof *numbers));
    const char **strings = arena_alloc(&a, size_mul((size_t)e.string_count, sizeof *strings));
    for (int i = 0; i < e.flag_count; i++) /* ccc: the palette must not be changed */
        flags[i] = s->flag(s->flag_names[i]) > 0 && !(w->colours && !strcmp(s->flag_names[i], "ccc"));
    for (int i = 0; i < e.number_count; i++) {
        int n = s->number(s->number_names[i]);
        numbers[i] = n < 0 ? -1 : n;
        if (w->colours && !strcmp(s->number_names[i], "colors"))
            numbers[i] = w->colours;
        if (w->colours && !strcmp(s->number_names[i], "pairs"))
            numbers[i] = 65536;
    }
    for (int i = 0; i < e.string_count; i++)
        strings[i] = wished(w, s->string_names[i], s->string(s->string_names[i]));
    e.flags = flags;
    e.numbers = numbers;
    e.strings = strings;
    const char *mouse = w->sgr_mouse ? "\033[?1006;1000%?%p1%{1}%=%th%el%;" : s->string("XM");
    if (w->colours || s->flag("AX") > 0)
        e.extended[e.extended_count++] = (Extended){.name = "AX"};
    if (w->colours == ENTRY_TRUE || (!w->colours && s->flag("RGB") > 0))
        e.extended[e.extended_count++] = (Extended){.name = "RGB"};
    if (mouse)
        e.extended[e.extended_count++] = (Extended){.name = "XM", .value = mouse};
    Buf bytes = {.data = NULL};
    bool ok = entry_compile(&e, &bytes);
    if (ok) {
        buf_puts(out, "b64:");
        entry_base64(bytes.data, bytes.len, out);
    }
    buf_free(&bytes);
    arena_free(&a);
    return ok;
}

void entry_unpadded(char *out, size_t size, const char *s)
{
    size_t n = strlen(out);
    while (s && *s && n + 1 < size) {
        const char *end = strncmp(s, "$<", 2) ? NULL : strchr(s, '>');
        if (end)
            s = end + 1;
        else
            out[n++] = *s++;
    }
    out[n] = '\0';
}

/* --- a description where the machine has none: what xterm and nearly every terminal since understand --- */

int own_describes(const char *term)
{
    static const struct {
        const char *name;
        int colours;
    } known[] = {{"xterm-kitty", 256}, {"xterm", 8},  {"screen", 8},    {"tmux", 8},      {"linux", 8},
                 {"rxvt", 8},          {"putty", 8},  {"mintty", 256},  {"konsole", 256}, {"gnome", 256},
                 {"vte", 256},         {"st-", 256},  {"contour", 256}, {"rio", 256},     {"iterm", 256},
                 {"alacritty", 256},   {"foot", 256}, {"wezterm", 256}, {"ghostty", 256}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(term, known[i].name, strlen(known[i].name)))
            return strstr(term, "256color") ? 256 : known[i].colours;
    return 0;
}

int own_flag(const char *name)
{
    return utf8_listed("am km mir msgr xenl AX", name);
}

int own_number(const char *name)
{
    static const struct {
        const char *name;
        int value;
    } numbers[] = {{"cols", 80}, {"lines", 24}, {"it", 8}, {"colors", 8}, {"pairs", 64}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(numbers[i].name, name))
            return numbers[i].value;
    return -1;
}

/* ECMA-48, DEC's cursor and keypad modes, xterm's screens, mouse and keys, in the language of terminfo(5). */
const char *own_string(const char *name)
{
    static const struct {
        const char *name, *value;
    } strings[] = {{"bel", "\a"},
                   {"bold", "\033[1m"},
                   {"cbt", "\033[Z"},
                   {"civis", "\033[?25l"},
                   {"clear", "\033[H\033[2J"},
                   {"cnorm", "\033[?25h"},
                   {"cr", "\r"},
                   {"csr", "\033[%i%p1%d;%p2%dr"},
                   {"cub", "\033[%p1%dD"},
                   {"cub1", "\b"},
                   {"cud", "\033[%p1%dB"},
                   {"cud1", "\n"},
                   {"cuf", "\033[%p1%dC"},
                   {"cuf1", "\033[C"},
                   {"cuu", "\033[%p1%dA"},
                   {"cuu1", "\033[A"},
                   {"cup", "\033[%i%p1%d;%p2%dH"},
                   {"dim", "\033[2m"},
                   {"dl", "\033[%p1%dM"},
                   {"dl1", "\033[M"},
                   {"dch", "\033[%p1%dP"},
                   {"dch1", "\033[P"},
                   {"ich", "\033[%p1%d@"},
                   {"ech", "\033[%p1%dX"},
                   {"ed", "\033[J"},
                   {"el", "\033[K"},
                   {"el1", "\033[1K"},
                   {"home", "\033[H"},
                   {"hpa", "\033[%i%p1%dG"},
                   {"vpa", "\033[%i%p1%dd"},
                   {"ht", "\t"},
                   {"il", "\033[%p1%dL"},
                   {"il1", "\033[L"},
                   {"ind", "\n"},
                   {"ri", "\033M"},
                   {"rc", "\0338"},
                   {"sc", "\0337"},
                   {"rev", "\033[7m"},
                   {"smso", "\033[7m"},
                   {"rmso", "\033[27m"},
                   {"smul", "\033[4m"},
                   {"rmul", "\033[24m"},
                   {"sgr0", "\033[0m"},
                   {"op", "\033[39;49m"},
                   {"setaf", "\033[3%p1%dm"},
                   {"setab", "\033[4%p1%dm"},
                   {"smcup", "\033[?1049h"},
                   {"rmcup", "\033[?1049l"},
                   {"smkx", "\033[?1h\033="},
                   {"rmkx", "\033[?1l\033>"},
                   {"kcuu1", "\033OA"},
                   {"kcud1", "\033OB"},
                   {"kcuf1", "\033OC"},
                   {"kcub1", "\033OD"},
                   {"khome", "\033OH"},
                   {"kend", "\033OF"},
                   {"kpp", "\033[5~"},
                   {"knp", "\033[6~"},
                   {"kich1", "\033[2~"},
                   {"kdch1", "\033[3~"},
                   {"kbs", "\177"},
                   {"kcbt", "\033[Z"},
                   {"kf1", "\033OP"},
                   {"kf2", "\033OQ"},
                   {"kf3", "\033OR"},
                   {"kf4", "\033OS"},
                   {"kf5", "\033[15~"},
                   {"kf6", "\033[17~"},
                   {"kf7", "\033[18~"},
                   {"kf8", "\033[19~"},
                   {"kf9", "\033[20~"},
                   {"kf10", "\033[21~"},
                   {"kf11", "\033[23~"},
                   {"kf12", "\033[24~"},
                   {"kmous", "\033[<"},
                   {"u7", "\033[6n"},
                   {"u9", "\033[c"},
                   {"XM", "\033[?1006;1000%?%p1%{1}%=%th%el%;"}};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (!strcmp(strings[i].name, name))
            return strings[i].value;
    return NULL;
}
