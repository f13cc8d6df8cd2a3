#include "core/session/command.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/play.h"
#include "core/session/screens.h"
#include "core/session/state.h"

static void check(const Commands *c, const Command *row)
{
    size_t n = strlen(row->name);
    REQUIRE(n && row->touches && *row->group && *row->summary && row->run);
    REQUIRE(strncmp(row->usage, row->name, n) == 0 && (!row->usage[n] || row->usage[n] == ' '));
    const Command *old = command_find(c, row->name);
    REQUIRE(!old || ((old->touches | row->touches) & COMMAND_SHADOWS));
}

void commands_add(Commands *c, CommandTable t)
{
    for (int i = 0; i < t.count; i++) {
        check(c, &t.commands[i]);
        for (int k = 0; k < i; k++)
            REQUIRE(strcmp(t.commands[k].name, t.commands[i].name) != 0);
    }
    c->table = grow(c->table, &c->cap, (size_t)c->count, sizeof *c->table);
    c->table[c->count++] = t;
}

void commands_add_all(Commands *c, const Commands *more)
{
    for (int i = 0; i < more->count; i++)
        commands_add(c, more->table[i]);
}

void commands_free(Commands *c)
{
    free(c->table);
    *c = (Commands){0};
}

Commands session_command_set(void)
{
    Commands c = {0};
    const CommandTable own[] = {session_commands_go(),    session_commands_look(),   session_commands_ask(),
                                session_commands_words(), session_commands_change(), session_commands_files()};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        commands_add(&c, own[i]);
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (screen_spec((Screen)i)->own.count)
            commands_add(&c, screen_spec((Screen)i)->own);
    commands_add(&c, session_commands_state());
    return c;
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

static const Command *find(const Commands *c, const char *name, void **context)
{
    for (int t = 0; t < c->count; t++)
        for (int i = 0; i < c->table[t].count; i++)
            if (strcmp(c->table[t].commands[i].name, name) == 0) {
                *context = c->table[t].context;
                return &c->table[t].commands[i];
            }
    return NULL;
}

const Command *command_find(const Commands *c, const char *name)
{
    void *context;
    return find(c, name, &context);
}

const char *args_named(const Args *a, const char *name)
{
    for (int i = 0; i < a->named_count; i++)
        if (strcmp(a->named[i].name, name) == 0)
            return a->named[i].value;
    return NULL;
}

bool args_number(const char *word, int *value, bool *relative)
{
    char *end;
    long v = strtol(word, &end, 10);
    *relative = *word == '+' || *word == '-';
    if (end == word || *end || v > 100000 || v < -100000)
        return false;
    *value = (int)v;
    return true;
}

/* word=value, unless the = is inside an address' brackets. */
static char *named_split(char *word)
{
    char *equals = strchr(word, '='), *bracket = strchr(word, '[');
    return equals && equals > word && (!bracket || equals < bracket) ? equals : NULL;
}

char *command_unquoted(char *text)
{
    size_t n = strlen(text);
    if (n < 3 || *text != '\'' || text[n - 1] != '\'')
        return text;
    for (size_t i = 1; i + 1 < n; i++) /* 'a' and 'b' */
        if (text[i] == '\'' && (text[i - 1] == ' ' || text[i + 1] == ' '))
            return text;
    text[n - 1] = 0;
    return text + 1;
}

static void add_word(Args *a, char *word, int column, bool quoted)
{
    word = quoted ? word : command_unquoted(word);
    char *equals = quoted ? NULL : named_split(word);
    if (a->count == COMMAND_ARGS || a->named_count == COMMAND_ARGS)
        a->beyond = a->beyond ? a->beyond : column;
    else if (equals) {
        *equals = 0;
        a->named[a->named_count].name = word;
        a->named[a->named_count].value = command_unquoted(equals + 1);
        a->named[a->named_count++].column = column;
    } else {
        a->word[a->count] = word;
        a->column[a->count++] = column;
    }
}

/* The sign that p stands for inside quotes, and how many bytes it takes there: an escape or itself. */
static size_t quoted_sign(const char *p, char *sign)
{
    char hex[3] = {0}, byte;
    size_t bytes = 1;
    byte = *p;
    if (*p == '\\' && (p[1] == '"' || p[1] == '\\')) {
        byte = p[1];
        bytes = 2;
    } else if (*p == '\\' && p[1] == 'x' && isxdigit((unsigned char)p[2]) && isxdigit((unsigned char)p[3])) {
        memcpy(hex, p + 2, 2);
        byte = (char)strtol(hex, NULL, 16);
        bytes = 4;
    }
    *sign = byte ? byte : *p; /* no word has a NUL in it */
    return byte ? bytes : 1;
}

/* What stands from p on, behind a quote, goes to *to on, which moves behind it; what follows the quote that closes it,
 * or NULL where none does. */
static char *unquote(char *p, char **to)
{
    while (*p && *p != '"')
        p += quoted_sign(p, (*to)++);
    return *p ? p + 1 : NULL;
}

size_t command_length(const char *p)
{
    size_t n = 0;
    bool quoted = false;
    char sign;
    while (p[n] && ((p[n] != ';' && p[n] != '\n') || quoted)) {
        size_t bytes = quoted ? quoted_sign(p + n, &sign) : 1;
        quoted ^= p[n] == '"';
        n += bytes;
    }
    return n;
}

bool command_quotes_open(const char *p)
{
    bool quoted = false;
    for (char sign; *p; p += quoted ? quoted_sign(p, &sign) : 1)
        quoted ^= *p == '"';
    return quoted;
}

void command_quote(const char *text, Buf *out)
{
    buf_putc(out, '"');
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            buf_printf(out, "\\%c", *text);
        else if (iscntrl((unsigned char)*text))
            buf_printf(out, "\\x%02x", (unsigned char)*text);
        else
            buf_putc(out, *text);
    buf_putc(out, '"');
}

bool args_parse(Args *a, const char *line, const char **name, Err *err)
{
    *a = (Args){0};
    *name = "";
    if (strlen(line) >= sizeof a->text)
        return err_set(err, "that command is longer than %zu bytes", sizeof a->text - 1);
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
        bool quoted = *p == '"';
        if (quoted) {
            p = unquote(p + 1, &to);
            if (!p)
                return err_set(err, "column %d: the quote that opens here is not closed", column);
        } else {
            while (p && *p && *p != ' ' && *p != '\t')
                if (*p == '"' && to > word && to[-1] == '=')
                    p = unquote(p + 1, &to);
                else
                    *to++ = *p++;
            if (!p)
                return err_set(err, "column %d: a quote in this word is not closed", column);
            p += *p != 0;
        }
        *to = 0;
        if (first) {
            *name = word;
            size_t at = (size_t)(p - a->text);
            a->rest = at <= strlen(line) ? line + at : "";
            if (strcmp(word, "prompt") == 0) /* what it types is not finished: a quote may stay open */
                return true;
        } else
            add_word(a, word, column, quoted);
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

const char *nearest_name(const char *typed, const char *(*name)(const void *context, int i), const void *context)
{
    const char *best = NULL, *candidate;
    size_t n = strlen(typed);
    int best_distance = (int)n / 2 + 1;
    for (int i = 0; (candidate = name(context, i)) != NULL; i++) {
        int d = n && strncmp(candidate, typed, n) == 0 ? 1 : utf8_edits(typed, n, candidate, best_distance);
        if (d < best_distance) {
            best = candidate;
            best_distance = d;
        }
    }
    return best;
}

void names_offer(const char *typed, const char *(*name)(const void *context, int i), const void *context, Buf *out)
{
    const char *near = nearest_name(typed, name, context), *word;
    if (near)
        buf_printf(out, "; did you mean %s? They are", near);
    else
        buf_puts(out, "; they are");
    for (int i = 0; (word = name(context, i)) != NULL; i++)
        buf_printf(out, " %s", word);
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

/* The most words of a usage: of its alternatives, and of what stands in brackets. Up to its end or a closing bracket.
 */
static int usage_words(const char **p)
{
    int most = 0, here = 0;
    while (**p && **p != ']') {
        size_t n = strcspn(*p, " ,[]");
        here += n > 0 && !memchr(*p, '=', n);
        *p += n;
        if (**p == '[') {
            ++*p;
            here += usage_words(p);
            *p += **p == ']';
        } else if (**p == ',' || **p == ' ') {
            most = here > most ? here : most;
            here = **p == ',' ? 0 : here;
            ++*p;
        }
    }
    return here > most ? here : most;
}

/* Nor a word behind those that the command takes: `zoom map` would zoom. What is called by name may be of any length.
 */
static bool words_known(const Command *c, const Args *a, Err *err)
{
    static const char *const LONG[] = {"TEXT", "WORD", "NAME", "FILE", "PATH", "…", "|"};
    for (size_t i = 0; i < sizeof LONG / sizeof *LONG; i++)
        if (c->touches & COMMAND_TEXT || strstr(c->usage, LONG[i]))
            return true;
    const char *p = c->usage + strlen(c->name);
    int most = usage_words(&p);
    return a->count <= most || err_set(err, "column %d: '%.20s' means nothing here; it is: %s%s", a->column[most],
                                       a->word[most], c->usage, strcmp(c->usage, c->name) == 0 ? ", alone" : "");
}

/* What hands that come from elsewhere type: `12` goes to step 12, `q` quits. */
static const char *meant(const char *name, const char *line, char out[64])
{
    bool number = *name && name[strspn(name, "0123456789")] == 0;
    if (!number && strcmp(name, "q") != 0)
        return line;
    utf8_print(out, 64, "%s%.40s", number ? "step " : "quit", number ? name : "");
    return out;
}

/* What the line lacks that the command's row says. */
static bool may(const Session *s, const Command *c, Err *err)
{
    static const struct {
        unsigned touch;
        const char *why;
    } LACKS[] = {{COMMAND_UI, "'%s' needs the screen"},
                 {COMMAND_EDIT, "'%s' changes the model: it is not allowed here"},
                 {COMMAND_WRITE,
                  "what '%s' writes is a file: files are neither read nor written here (the line is not your own)"},
                 {COMMAND_PROCESS, "'%s' is for the reader alone to say (typed, or behind -c)"}};
    for (size_t i = 0; i < sizeof LACKS / sizeof *LACKS; i++)
        if (c->touches & ~s->permit & LACKS[i].touch)
            return err_set(err, LACKS[i].why, c->name);
    return true;
}

static bool do_one(Session *s, const Commands *c, const char *line, Err *err)
{
    Args a;
    const char *name;
    char other[64];
    if (!args_parse(&a, line, &name, err))
        return false;
    if (!*name)
        return true;
    const char *now = meant(name, line, other);
    if (now != line && !args_parse(&a, now, &name, err))
        return false;
    const Command *command = find(c, name, &a.context);
    if (!command) {
        NameList names = {c};
        const char *near = nearest_name(name, command_name, &names);
        for (int i = 0; i < SCREEN_COUNT; i++) /* a screen by its own name */
            if (strcmp(screen_name((Screen)i), name) == 0 && screen_spec((Screen)i)->command)
                near = screen_spec((Screen)i)->command;
        return err_set(err, "there is no command '%.60s'%s%s%s", name, near ? "; did you mean '" : "", near ? near : "",
                       near ? "'?" : "; `help` lists them");
    }
    if (!may(s, command, err))
        return false;
    if (a.beyond && !(command->touches & COMMAND_TEXT))
        return err_set(err, "%s: column %d: more words than any command takes", name, a.beyond);
    a.command = command;
    buf_clear(&s->said);
    Err inner = {{0}};
    if (strcmp(name, "play") != 0) /* nobody acts on what moves */
        play_stop(s);
    unsigned before = s->permit;
    s->permit &= command->touches; /* whatever its words are */
    bool ok = named_known(command, &a, &inner) && words_known(command, &a, &inner) && command->run(s, &a, &inner);
    s->permit = before;
    s->changes++;
    return ok || err_set(err, "%s: %s", name, inner.text);
}

static bool do_lines(Session *s, const Commands *c, const char *line, Err *err)
{
    char one[COMMAND_LINE];
    for (const char *p = line; *p;) {
        size_t n = command_length(p);
        if (n >= sizeof one)
            return err_set(err, "that command is longer than %zu bytes", sizeof one - 1);
        memcpy(one, p, n);
        one[n] = 0;
        p += n + (p[n] != 0);
        LogMark before = log_mark(s);
        bool ok = do_one(s, c, one, err);
        log_changes(s, &before, one, ok);
        if (!ok)
            return false;
    }
    return true;
}

bool command_do(Session *s, const Commands *c, const char *line, unsigned allowed, Err *err)
{
    unsigned before = s->permit;
    s->permit &= allowed; /* a command that runs others gives them no more than it has */
    bool ok = do_lines(s, c, line, err);
    s->permit = before;
    return ok;
}

static const char *permit(const Session *s, const char *word, unsigned touch, Err *err)
{
    if (s->permit & touch)
        return word;
    err_set(err, "'%.200s' is a file: files are neither read nor written here (the line is not your own)", word);
    return NULL;
}

const char *permit_read(const Session *s, const char *word, Err *err)
{
    if (strncmp(word, PERMIT_CLASS, strlen(PERMIT_CLASS)) != 0)
        return permit(s, word, COMMAND_READ, err);
    if (s->lend)
        return s->lend(s->lend_context, word, err);
    err_set(err, "'%.200s' is of a class, and nobody is followed", word);
    return NULL;
}

const char *permit_write(const Session *s, const char *word, Err *err)
{
    return permit(s, word, COMMAND_WRITE, err);
}

void permit_class(Session *s, const char *(*fn)(void *context, const char *word, Err *err), void *context)
{
    s->lend = fn;
    s->lend_context = context;
}
