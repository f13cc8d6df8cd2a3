#include "tui/cli/link.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"

bool link_is_input(const char *word)
{
    char file[1024];
    const char *colon = strrchr(word, ':');
    if (*word == '#')
        return word[1] && !word[1 + strspn(word + 1, "0123456789")];
    if (strcmp(word, "-") == 0 || file_exists(word))
        return true;
    if (!colon || !colon[1] || (size_t)(colon - word) >= sizeof file)
        return false;
    memcpy(file, word, (size_t)(colon - word));
    file[colon - word] = 0;
    return *file && file_exists(file);
}

bool link_hash_agrees(const char *digits, uint64_t hash)
{
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
    size_t n = strlen(digits);
    if (n > 16)
        return false;
    for (size_t i = 0; i < n; i++)
        if (tolower((unsigned char)digits[i]) != text[i])
            return false;
    return true;
}

/* The = of name=value; those in an address' brackets are its own. */
static const char *edit_equals(const char *word)
{
    const char *equals = strchr(word, '='), *bracket = strchr(word, '[');
    return equals && equals > word && (!bracket || equals < bracket) ? equals : NULL;
}

/* Edits whose command has more words than its name. */
static const struct {
    const char *name, *command;
} SHORT[] = {{"scale", "set scale "}, {"shuffle", "shuffle seed="}};

enum { SHORT_COUNT = sizeof SHORT / sizeof *SHORT };

static const char *edit_name(const void *context, int i)
{
    if (i < (int)SHORT_COUNT)
        return SHORT[i].name;
    const Command *c = command_at(context, i - (int)SHORT_COUNT);
    return c ? c->name : NULL;
}

static bool add_edit(Link *l, const char *word, const char *equals, const Commands *commands, Err *err)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", equals - word < 30 ? (int)(equals - word) : 30, word);
    const char *command = NULL;
    for (size_t i = 0; i < SHORT_COUNT; i++)
        if (strcmp(SHORT[i].name, name) == 0)
            command = SHORT[i].command;
    if (!command && !command_find(commands, name)) {
        const char *near = nearest_name(name, edit_name, commands);
        return err_set(err, "'%.60s': there is no command '%s'%s%s%s", word, name, near ? "; did you mean '" : "",
                       near ? near : "", near ? "'?" : "");
    }
    if (strpbrk(equals + 1, ";\n")) /* one edit is one command */
        return err_set(err, "'%.60s': a link's edit is one command", word);
    buf_puts(&l->edits, l->edits.len ? "; " : "");
    if (command)
        buf_puts(&l->edits, command);
    else
        buf_printf(&l->edits, "%s ", name);
    int depth = 0;
    for (const char *p = equals + 1; *p; p++) {
        depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
        buf_putc(&l->edits, *p == ',' && depth == 0 ? ' ' : *p);
    }
    return true;
}

static bool add_word(Link *l, const char *word, bool may_be_input, const Commands *commands, Err *err)
{
    const char *equals = edit_equals(word);
    if (*word == '@') {
        size_t n = strspn(word + 1, "0123456789abcdefABCDEF");
        if (n == 0 || n > 16 || word[1 + n])
            return err_set(err, "'%.40s': expected @ and 1 to 16 digits of a trace hash, 0 to 9 and a to f", word);
        l->hash = word + 1;
        return true;
    }
    if (may_be_input || *word == '#') {
        if (l->input)
            return err_set(err, "two inputs, '%.80s' and '%.80s': name one", l->input, word);
        l->input = word;
        return true;
    }
    if (equals)
        return add_edit(l, word, equals, commands, err);
    if (l->address)
        return err_set(err, "'%.80s': one address is enough, and '%.80s' is there already", word, l->address);
    l->address = word;
    return true;
}

/* Length of the word at the start of text: up to a blank that is in no brackets. */
static size_t word_length(const char *text)
{
    size_t n = 0;
    for (int depth = 0; text[n] && (depth > 0 || !strchr(" \t\n", text[n])); n++)
        depth += text[n] == '[' ? 1 : text[n] == ']' ? -1 : 0;
    return n;
}

bool link_parse(Link *out, const char *const *word, int count, LinkFirst first, const Commands *commands, Err *err)
{
    *out = (Link){.input = NULL};
    bool may_be_input = first == LINK_INPUT;
    for (int i = 0; i < count; i++) {
        if (may_be_input && link_is_input(word[i])) { /* a file's name may have blanks in it */
            if (!add_word(out, word[i], true, commands, err))
                return false;
            may_be_input = false;
            continue;
        }
        char *part = arena_strdup(&out->arena, word[i]);
        for (part += strspn(part, " \t\n"); *part;) {
            size_t n = word_length(part);
            char *rest = part + n + strspn(part + n, " \t\n");
            part[n] = 0;
            if (!add_word(out, part, may_be_input && link_is_input(part), commands, err))
                return false;
            may_be_input = false;
            part = rest;
        }
    }
    return true;
}

void link_free(Link *l)
{
    buf_free(&l->edits);
    arena_free(&l->arena);
    *l = (Link){.input = NULL};
}
