/* What Tab offers: names of commands, then what a command takes in that place. Files, addresses, axes and labels are
 * found here; other words come from the command's row. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/command.h"

enum { MOST = 200 };

/* The line up to the cursor, cut where the word that is completed begins. */
typedef struct Typed {
    const char *line;
    size_t from;      /* of the word, in bytes of the line */
    const char *word; /* without an opening quote */
    bool quoted;
    const Command *command; /* NULL: it is the command's own name */
    size_t rest;            /* where the words behind the name begin */
    int index;              /* of the word among them */
} Typed;

static void cut_up(Typed *t, const Commands *c, const char *line)
{
    char name[64] = "";
    size_t start = 0;
    int words = 0;
    bool quoted = false, within = false;
    *t = (Typed){.line = line};
    for (size_t i = 0; line[i]; i++) {
        if (line[i] == '"')
            quoted = !quoted;
        if (line[i] == ';' && !quoted) {
            words = 0;
            within = false;
            start = i + 1;
        } else if (line[i] == ' ' && !quoted)
            within = false;
        else if (!within) {
            within = true;
            words++;
            t->from = i;
            if (words == 1)
                start = i;
        }
    }
    if (!within) {
        t->from = strlen(line);
        words++;
    }
    t->quoted = line[t->from] == '"';
    t->word = line + t->from + t->quoted;
    t->index = words - 2;
    if (words < 2)
        return;
    size_t n = strcspn(line + start, " ");
    utf8_print(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : 0), line + start);
    t->command = command_find(c, name);
    t->rest = start + n + strspn(line + start + n, " ");
}

/* One line: what is typed up to `from`, then the word. */
static void offer(const Typed *t, size_t from, const char *word, size_t n, Buf *out)
{
    buf_printf(out, "%.*s%.*s\n", (int)from, t->line, (int)n, word);
}

/* Words, a line each, that begin with what is typed at `from`, capitals or not. */
static void offer_words(const Typed *t, size_t from, const char *words, Buf *out)
{
    const char *typed = t->line + from;
    size_t length = strlen(typed), n;
    for (const char *w = words; *w; w += n + (w[n] == '\n')) {
        n = strcspn(w, "\n");
        if (n >= length && strncasecmp(w, typed, length) == 0)
            offer(t, from, w, n, out);
    }
}

/* The words that a usage text offers: "compare a, b, diff, off" */
static void usage_words(const char *usage, Buf *out)
{
    const char *p = strchr(usage, ' ');
    for (; p && *p; p += strcspn(p, " ,|[]")) {
        p += strspn(p, " ,|[]");
        size_t n = strcspn(p, " ,|[]"), letters = 0;
        while (letters < n && ((p[letters] >= 'a' && p[letters] <= 'z') || (p[letters] == '-' && letters)))
            letters++;
        if (letters > 1 && (letters == n || p[letters] == '='))
            buf_printf(out, "%.*s\n", (int)(letters + (letters < n)), p);
    }
}

const char *complete_kinds(const char *name)
{
    static const struct {
        const char *name, *kinds;
    } KINDS[] = {{"open", "png jpg jpeg bmp ppm pgm pnm npy npz safetensors"},
                 {"model", "safetensors npz json"},
                 {"diff", "npz npy safetensors"},
                 {"patch from=", "npy npz safetensors"},
                 {"neuron", "txt"}, /* beside folders of pictures */
                 {"lesson", "md"},
                 {"check", "md"},
                 {"present", "md txt"},
                 {"record", "md"}};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (strcmp(KINDS[i].name, name) == 0)
            return KINDS[i].kinds;
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* One name of a folder: a folder with its slash. */
static void offer_file(const Typed *t, size_t from, const char *path, Buf *out)
{
    Buf word = {0};
    bool is_folder = file_is_dir(path), quote = strchr(path, ' ') != NULL;
    buf_printf(&word, "%s%s%s", quote ? "\"" : "", path, is_folder ? "/" : quote ? "\"" : "");
    offer(t, from, buf_str(&word), word.len, out);
    buf_free(&word);
}

/* Names in the folder that begin with what is typed: of those kinds (NULL: any), and folders; all where there are none
 * of those. Names that the command language can't carry, and hidden ones that nobody asked for, are left out.
 */
static void offer_files(const Typed *t, size_t from, const char *typed, const char *kinds, Buf *out)
{
    char folder[1024], path[2048];
    char **names = NULL;
    size_t count = 0, cap = 0, meant = 0;
    const char *slash = strrchr(typed, '/'), *start = slash ? slash + 1 : typed;
    size_t n = (size_t)(start - typed), length = strlen(start);
    if (n >= sizeof folder)
        return;
    utf8_print(folder, sizeof folder, "%.*s", (int)n, typed);
    DIR *d = opendir(n ? folder : ".");
    for (struct dirent *e; d && count < 5000 && (e = readdir(d)) != NULL;) {
        bool carried = e->d_name[0] != '.' || *start == '.';
        for (const char *p = e->d_name; *p && carried;)
            carried = !strchr("\";", *p) && utf8_printable(utf8_next(&p));
        if (!carried || strncmp(e->d_name, start, length) != 0)
            continue;
        names = grow(names, &cap, count, sizeof *names);
        names[count++] = xstrdup(e->d_name);
        snprintf(path, sizeof path, "%s%s", folder, e->d_name);
        meant += kinds && (file_is(path, kinds) || file_is_dir(path));
    }
    if (d)
        closedir(d);
    if (count)
        qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s%s", folder, names[i]);
        if (!meant || file_is(path, kinds) || file_is_dir(path))
            offer_file(t, from, path, out);
        free(names[i]);
    }
    free(names);
}

/* NAME[axis=label,…]: what may stand behind the last bracket, comma or equals sign. */
static void offer_cells(const Session *s, const Typed *t, const char *bracket, Buf *out)
{
    char name[SESSION_PATH];
    Address to;
    size_t n = (size_t)(bracket - t->word);
    const Graph *g = session_graph(s, SIDE_B);
    const char *item = bracket + 1, *comma = strrchr(item, ','), *equals;
    if (n >= sizeof name)
        return;
    utf8_print(name, sizeof name, "%.*s", (int)n, t->word);
    if (!address_parse(s, g, name, &to, NULL) || !to.is_node)
        return;
    item = comma ? comma + 1 : item;
    equals = strchr(item, '=');
    Dims d = graph_node(g, graph_find(g, to.path))->dims;
    Buf words = {0};
    for (int i = 0; i < d.n; i++) {
        const Axis *a = &g->axes[d.axis[i]];
        char given[24], label[64];
        utf8_print(given, sizeof given, "%.20s=", a->sym);
        const char *there = strstr(bracket, given);
        bool before = there && there < item && (there[-1] == '[' || there[-1] == ',');
        if (!equals && !before)
            buf_printf(&words, "%s\n", given);
        for (int k = 0; equals && strncmp(item, given, strlen(given)) == 0 && k < a->n && k < 4 * MOST; k++)
            buf_printf(&words, "%s\n", axis_label(a, k, label, sizeof label));
    }
    offer_words(t, (size_t)((equals ? equals + 1 : item) - t->line), buf_str(&words), out);
    buf_free(&words);
}

/* Names of nodes, part by part; short ones too. */
static void offer_addresses(const Session *s, const Typed *t, size_t from, Buf *out)
{
    const char *typed = t->line + from, *bracket = strchr(typed, '[');
    Buf words = {0};
    if (bracket) {
        Typed inside = *t;
        inside.word = typed;
        offer_cells(s, &inside, bracket, out);
        return;
    }
    address_complete(s, typed, &words);
    offer_words(t, from, buf_str(&words), out);
    buf_free(&words);
}

/* word=value: the value, where the usage says what it is. */
static bool offer_value(const Session *s, const Typed *t, Buf *out)
{
    const char *equals = strchr(t->word, '='), *bracket = strchr(t->word, '[');
    char kind[64];
    if (!equals || (bracket && bracket < equals) || equals - t->word > 40)
        return false;
    size_t from = (size_t)(equals + 1 - t->line);
    utf8_print(kind, sizeof kind, "%.*sFILE", (int)(equals + 1 - t->word), t->word);
    if (strstr(t->command->usage, kind)) {
        char name[128];
        utf8_print(name, sizeof name, "%s %.*s", t->command->name, (int)(equals + 1 - t->word), t->word);
        offer_files(t, from, equals + 1, complete_kinds(name), out);
    }
    utf8_print(kind, sizeof kind, "%.*sADDRESS", (int)(equals + 1 - t->word), t->word);
    if (strstr(t->command->usage, kind))
        offer_addresses(s, t, from, out);
    return true;
}

static void offer_names(const Typed *t, const Commands *c, Buf *out)
{
    Buf names = {0};
    const Command *command;
    for (int i = 0; (command = command_at(c, i)) != NULL; i++)
        if (command_find(c, command->name) == command)
            buf_printf(&names, "%s\n", command->name);
    offer_words(t, t->from, buf_str(&names), out);
    buf_free(&names);
}

/* Entries of several words, by all that is typed behind the command's name: "glossary attention dis". */
static void offer_phrases(const Session *s, const Typed *t, Buf *out)
{
    Buf words = {0}, phrases = {0};
    size_t n;
    t->command->complete(s, 0, &words);
    for (const char *w = buf_str(&words); *w; w += n + (w[n] == '\n')) {
        n = strcspn(w, "\n");
        if (memchr(w, ' ', n))
            buf_printf(&phrases, "%.*s\n", (int)n, w);
    }
    offer_words(t, t->rest, buf_str(&phrases), out);
    buf_free(&words);
    buf_free(&phrases);
}

/* Is the word a file's or folder's name? FOLDER in second place is behind the word `measure`. */
static bool offers_files(const Typed *t)
{
    static const char MEASURE[] = "measure ";
    const char *usage = t->command->usage;
    if (t->index == 1)
        return strstr(usage, " FOLDER]") && strncmp(t->line + t->rest, MEASURE, strlen(MEASURE)) == 0;
    return t->index == 0 && (strstr(usage, " FILE") || strstr(usage, "[FILE") || strstr(usage, " PATH"));
}

static void offer_arguments(const Session *s, const Commands *c, const Typed *t, Buf *out)
{
    const char *usage = t->command->usage;
    const bool files = offers_files(t);
    if (offer_value(s, t, out))
        return;
    if (files)
        offer_files(t, t->from, t->word, complete_kinds(t->command->name), out);
    if (!t->quoted) {
        Buf words = {0};
        if (t->command->complete)
            t->command->complete(s, t->index, &words);
        usage_words(usage, &words);
        offer_words(t, t->from, buf_str(&words), out);
        buf_free(&words);
    }
    if (t->command->complete && t->index > 0)
        offer_phrases(s, t, out);
    if (strstr(usage, "COMMAND"))
        offer_names(t, c, out);
    if (!files && strstr(usage, "ADDRESS") && !t->quoted)
        offer_addresses(s, t, t->from, out);
}

void command_complete(const Session *s, const Commands *c, const char *line, Buf *out)
{
    Typed t;
    Buf all = {0};
    cut_up(&t, c, line);
    if (t.index < 0)
        offer_names(&t, c, &all);
    else if (t.command)
        offer_arguments(s, c, &t, &all);
    const char *p = buf_str(&all);
    for (int count = 0; *p && count < MOST; count++) {
        size_t n = strcspn(p, "\n") + 1;
        const char *same = buf_str(out);
        while ((same = strstr(same, "\n")) != NULL && strncmp(same + 1, p, n) != 0)
            same++;
        if (!same && strncmp(buf_str(out), p, n) != 0) /* once, whoever offers it */
            buf_add(out, p, n);
        p += n;
    }
    buf_free(&all);
}
