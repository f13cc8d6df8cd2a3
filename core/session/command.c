#include "core/session/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/address.h"
#include "core/session/learned/measures.h"

Commands session_command_set(void)
{
    return (Commands){.table = {session_commands_go(), session_commands_look(), session_commands_ask(),
                                session_commands_change(), session_commands_files(), session_commands_learned()},
                      .count = 6};
}

const Command *command_at(const Commands *c, int i)
{
    for (int t = 0; t < c->count; t++) {
        if (i < c->table[t].count)
            return &c->table[t].commands[i];
        i -= c->table[t].count;
    }
    return NULL;
}

const Command *command_find(const Commands *c, const char *name)
{
    const Command *command;
    for (int i = 0; (command = command_at(c, i)) != NULL; i++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}

const char *args_named(const Args *a, const char *name)
{
    for (int i = 0; i < a->named_count; i++)
        if (strcmp(a->named[i].name, name) == 0)
            return a->named[i].value;
    return NULL;
}

/* word=value, unless the = is inside an address' brackets. */
static char *named_split(char *word)
{
    char *equals = strchr(word, '='), *bracket = strchr(word, '[');
    return equals && equals > word && (!bracket || equals < bracket) ? equals : NULL;
}

static bool add_word(Args *a, char *word, int column, bool quoted, Err *err)
{
    char *equals = quoted ? NULL : named_split(word);
    if (a->count == COMMAND_ARGS || a->named_count == COMMAND_ARGS)
        return err_set(err, "column %d: more words than any command takes", column);
    if (equals) {
        *equals = 0;
        a->named[a->named_count].name = word;
        a->named[a->named_count].value = equals + 1;
        a->named[a->named_count++].column = column;
    } else {
        a->word[a->count] = word;
        a->column[a->count++] = column;
    }
    return true;
}

bool args_parse(Args *a, const char *line, const char **name, Err *err)
{
    *a = (Args){0};
    *name = "";
    if (strlen(line) >= sizeof a->text)
        return err_set(err, "that command is longer than %zu characters", sizeof a->text - 1);
    snprintf(a->text, sizeof a->text, "%s", line);
    a->rest = "";
    char *p = a->text;
    for (bool first = true;;) {
        while (*p == ' ' || *p == '\t')
            p++;
        if (!*p)
            return true;
        char *word = p, *to = p;
        int column = (int)(p - a->text) + 1;
        bool quoted = *p == '"', inside = false;
        if (quoted) {
            word = ++p;
            while (*p && *p != '"')
                p++;
            if (!*p)
                return err_set(err, "column %d: the quote that opens here is not closed", column);
            *p++ = 0;
        } else {
            while (*p && (inside || (*p != ' ' && *p != '\t'))) {
                bool quote = *p == '"' && (inside || (to > word && to[-1] == '='));
                inside ^= quote;
                if (!quote)
                    *to++ = *p;
                p++;
            }
            if (inside)
                return err_set(err, "column %d: a quote in this word is not closed", column);
            p += *p != 0;
            *to = 0;
        }
        if (first) {
            *name = word;
            size_t at = (size_t)(p - a->text);
            a->rest = at <= strlen(line) ? line + at : "";
        } else if (!add_word(a, word, column, quoted, err))
            return false;
        first = false;
    }
}

typedef struct NameList {
    const Commands *commands;
} NameList;

static const char *command_name(const void *context, int i)
{
    const Command *c = command_at(((const NameList *)context)->commands, i);
    return c ? c->name : NULL;
}

/* Levenshtein distance, cut off: good enough to find a slip of the finger. */
static int distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    int row[64];
    if (n >= 60 || m >= 60)
        return strcmp(a, b) ? 99 : 0;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int best = change < row[j] + 1 ? change : row[j] + 1;
            row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
        }
    }
    return row[m];
}

const char *nearest_name(const char *typed, const char *(*name)(const void *context, int i), const void *context)
{
    const char *best = NULL, *candidate;
    int best_distance = (int)strlen(typed) / 2 + 1;
    for (int i = 0; (candidate = name(context, i)) != NULL; i++) {
        int d = strncmp(candidate, typed, strlen(typed)) == 0 && *typed ? 1 : distance(typed, candidate);
        if (d < best_distance) {
            best = candidate;
            best_distance = d;
        }
    }
    return best;
}

/* A mistyped word=value must not be passed over: `set scale off ad=blocks.1` would change every block. */
static bool named_known(const Command *c, const Args *a, Err *err)
{
    if (strstr(c->usage, "TEXT") || strstr(c->usage, "WORD")) /* anything may be typed there */
        return true;
    for (int i = 0; i < a->named_count; i++) {
        size_t n = strlen(a->named[i].name);
        const char *p = c->usage;
        while (p && (strncmp(p, a->named[i].name, n) != 0 || p[n] != '='))
            p = (p = strpbrk(p, " [,")) ? p + 1 : NULL;
        if (!p)
            return err_set(err, "column %d: '%.40s=' means nothing here; it is: %s", a->named[i].column,
                           a->named[i].name, c->usage);
    }
    return true;
}

static bool do_one(Session *s, const Commands *c, const char *line, unsigned allowed, Err *err)
{
    Args a;
    const char *name;
    if (!args_parse(&a, line, &name, err))
        return false;
    if (!*name)
        return true;
    const Command *command = command_find(c, name);
    if (!command) {
        NameList names = {c};
        const char *near = nearest_name(name, command_name, &names);
        return err_set(err, "there is no command '%.60s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "",
                       near ? "'?" : "; `help` lists them");
    }
    if ((command->flags & COMMAND_FILE) && !(allowed & COMMAND_FILE))
        return err_set(err, "'%s' reads or writes files: it is not allowed here", name);
    if ((command->flags & COMMAND_UI) && !(allowed & COMMAND_UI))
        return err_set(err, "'%s' needs the screen", name);
    buf_clear(&s->said);
    Err inner = {{0}};
    bool ok = named_known(command, &a, &inner) && command->run(s, &a, &inner);
    s->changes++;
    return ok || err_set(err, "%s: %s", name, inner.text);
}

bool command_do(Session *s, const Commands *c, const char *line, unsigned allowed, Err *err)
{
    char one[1024];
    for (const char *p = line; *p;) {
        size_t n = 0;
        bool quoted = false;
        while (p[n] && (p[n] != ';' || quoted)) {
            quoted ^= p[n] == '"';
            n++;
        }
        if (n >= sizeof one)
            return err_set(err, "that command is longer than %zu characters", sizeof one - 1);
        memcpy(one, p, n);
        one[n] = 0;
        p += n + (p[n] == ';');
        if (!do_one(s, c, one, allowed, err))
            return false;
    }
    return true;
}

/* The words that a usage text offers at one place: "compare a, b, diff, off" */
static void usage_words(const char *usage, Buf *out)
{
    const char *p = strchr(usage, ' ');
    for (; p && *p; p += strcspn(p, " ,|[]")) {
        p += strspn(p, " ,|[]");
        size_t n = strcspn(p, " ,|[]");
        bool lower = n > 0;
        for (size_t i = 0; i < n; i++)
            lower = lower && ((p[i] >= 'a' && p[i] <= 'z') || p[i] == '=');
        if (lower)
            buf_printf(out, "%.*s\n", (int)n, p);
    }
}

void command_complete(const Session *s, const Commands *c, const char *line, Buf *out)
{
    const char *last = strrchr(line, ' '), *prefix = last ? last + 1 : line;
    size_t head = (size_t)(prefix - line);
    Buf words = {0};
    if (!last) {
        const Command *command;
        for (int i = 0; (command = command_at(c, i)) != NULL; i++)
            buf_printf(&words, "%s\n", command->name);
    } else {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " "), line);
        const Command *command = command_find(c, name);
        int index = 0;
        for (const char *p = line; p < prefix; p++)
            index += *p == ' ';
        if (command && command->complete)
            command->complete(s, index - 1, &words);
        if (command) {
            usage_words(command->usage, &words);
            if (strstr(command->usage, "ADDRESS"))
                address_complete(s, prefix, &words);
        }
    }
    int count = 0;
    for (const char *w = buf_str(&words); *w && count < 200; w += strcspn(w, "\n") + 1) {
        size_t n = strcspn(w, "\n");
        if (n >= strlen(prefix) && strncmp(w, prefix, strlen(prefix)) == 0) {
            buf_printf(out, "%.*s%.*s\n", (int)head, line, (int)n, w);
            count++;
        }
        if (!w[n])
            break;
    }
    buf_free(&words);
}
