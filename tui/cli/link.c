#include "tui/cli/link.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/session/input.h"
#include "core/session/options.h"
#include "core/session/session.h"
#include "core/session/state.h"
#include "tui/cli/verbs.h"

enum { VERB_APART = 2 }; /* letters that a mistyped verb is off by */

bool link_is_input(const char *word)
{
    char file[1024];
    const char *colon = strrchr(word, ':');
    if (*word == '#')
        return input_scene(word) >= 0 || (word[1] && !word[1 + strspn(word + 1, "0123456789")]);
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
} SHORT[] = {{"scale", "set scale "}, {"shuffle", "shuffle seed="}, {"grad", "gradient "}};

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
    utf8_print(name, sizeof name, "%.*s", equals - word < 30 ? (int)(equals - word) : 30, word);
    const char *command = NULL;
    for (size_t i = 0; i < SHORT_COUNT; i++)
        if (strcmp(SHORT[i].name, name) == 0)
            command = SHORT[i].command;
    bool option = false; /* one way of seeing, by its name */
    const LookOption *look;
    for (int i = 0; (look = look_option_at(i)) != NULL; i++)
        option = option || strcmp(look->name, name) == 0;
    option = option && !command && !command_find(commands, name);
    if (!command && !option && !command_find(commands, name)) {
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
        buf_printf(&l->edits, option ? "option %s " : "%s ", name);
    int depth = 0;
    for (const char *p = equals + 1; *p; p++) {
        depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
        buf_putc(&l->edits, *p == ',' && depth == 0 ? ' ' : *p);
    }
    return true;
}

/* "@1cc1", or "@picture:" and digits. */
static bool add_digits(Link *l, const char *word, Err *err)
{
    const struct {
        const char *what;
        const char **digits;
    } KINDS[] = {{"@picture:", &l->picture}, {"@pinned:", &l->pinned}, {"@model:", &l->model}, {"@", &l->hash}};
    size_t i = 0;
    while (strncmp(word, KINDS[i].what, strlen(KINDS[i].what)) != 0)
        i++;
    const char *digits = word + strlen(KINDS[i].what);
    size_t n = strspn(digits, "0123456789abcdefABCDEF");
    if (n == 0 || n > 16 || digits[n])
        return err_set(err, "'%.40s': expected @ and 1 to 16 digits of a trace hash, 0 to 9 and a to f", word);
    *KINDS[i].digits = digits;
    return true;
}

/* ":matrix/at=h:2,t:5/term=3" */
static bool add_place(Link *l, const char *word, Err *err)
{
    static const char *const NAMES[] = {"at=", "term=", "operand=", "box="};
    if (l->place.len)
        return err_set(err, "'%.60s': one screen is enough", word);
    if (word[strcspn(word, "\"';\n\\")] || !word[1])
        return err_set(err, "'%.60s': expected : and a screen, such as :matrix", word);
    const char *p = word + 1;
    if (*p != '/')
        buf_printf(&l->place, " screen=%.*s", (int)strcspn(p, "/"), p);
    for (p += strcspn(p, "/"); *p; p += strcspn(p, "/")) {
        bool known = false;
        p++;
        for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
            known = known || strncmp(p, NAMES[i], strlen(NAMES[i])) == 0;
        if (!known)
            return err_set(err, "'%.60s': expected at=, term=, operand= or box= behind /", word);
        buf_printf(&l->place, " %.*s", (int)strcspn(p, "/"), p);
    }
    return true;
}

static bool add_word(Link *l, const char *word, bool may_be_input, const Commands *commands, Err *err)
{
    const char *equals = edit_equals(word);
    if (*word == '@')
        return add_digits(l, word, err);
    if (*word == ':')
        return add_place(l, word, err);
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
        if (!word[i][strspn(word[i], " \t\n")])
            return err_set(err,
                           "there is a word with nothing in it: give a text, a picture file or #17, or leave it away");
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
    return !out->place.len || out->address || err_set(err, "a screen stands behind the address that it is of");
}

/* ---- opening it ---- */

bool link_files(const Link *l, const char *input, const char *model, Err *err)
{
    if (l->model && model && !text_asked(model) && !file_exists(model))
        return err_set(err,
                       "the link's model '%.300s' is not here: put a copy there, or say where it lies with -m; it has "
                       "the digest %.16s",
                       model, l->model);
    if (l->picture && input && strcmp(input, "-") != 0 && !link_is_input(input))
        return err_set(err,
                       "the link's picture '%.300s' is not here: put a copy there, or say where it lies with -i; it "
                       "has the digest %.16s",
                       input, l->picture);
    if (l->model && !model)
        return err_set(err, "the link is about a model with the digest %.16s: say where it lies with -m", l->model);
    if (l->picture && !input)
        return err_set(err, "the link is about a picture with the digest %.16s: say where it lies with -i", l->picture);
    return true;
}

static bool go(Session *s, const Commands *c, const char *verb, const char *address, const char *rest, Err *err)
{
    Buf line = {0};
    buf_printf(&line, "%s ", verb);
    command_quote(address, &line); /* a blank may stand between [ ] */
    buf_puts(&line, rest);
    bool ok = command_do(s, c, buf_str(&line), 0, err);
    buf_free(&line);
    return ok;
}

bool link_go(Session *s, const Commands *c, const char *address, Err *err)
{
    return go(s, c, "goto", address, "", err);
}

bool link_has_place(const Link *l)
{
    return l->place.len && l->address;
}

bool link_place(const Link *l, Session *s, const Commands *c, Err *err)
{
    return go(s, c, "place", l->address, buf_str(&l->place), err);
}

bool link_run(const Link *l, const char *at, Session *s, const Commands *c, Err *err)
{
    const char *start = l->address ? l->address : at;
    bool there = start && link_go(s, c, start, NULL); /* else a change has to make it first */
    if (!session_read(s, c, buf_str(&l->edits), LINE_FOREIGN, err))
        return false;
    if (link_has_place(l))
        return link_place(l, s, c, err);
    if (!start || there || link_go(s, c, start, err))
        return true;
    const char *near = l->address && !strpbrk(start, ".[") ? verb_nearest(start) : NULL;
    return near && utf8_edits(start, strlen(start), near, VERB_APART + 1) <= VERB_APART
               ? err_set(err, "'%.60s' is neither a verb nor a node of this model; did you mean '%s'?", start, near)
               : false;
}

static bool differs(const char *what, const char *name, const char *option, const char *digits, uint64_t digest,
                    Err *err)
{
    return err_set(err,
                   "the link was made with another %s: '%.200s' has the digest %0*llx here, the link's has %s; find "
                   "that one and name it with %s",
                   what, name, LINK_DIGITS, (unsigned long long)(digest >> (64 - 4 * LINK_DIGITS)), digits, option);
}

bool link_agrees(const Link *l, const Session *s, Err *err)
{
    const Input *a = session_input(s, SIDE_A), *b = session_input(s, SIDE_B);
    if (l->model && !link_hash_agrees(l->model, link_model_digest(s)))
        return differs("model", *s->model_path ? s->model_path : "bundled", "-m", l->model, link_model_digest(s), err);
    if (l->picture && !link_hash_agrees(l->picture, link_input_digest(b)))
        return differs("picture", b->path, "-i", l->picture, link_input_digest(b), err);
    if (l->pinned && !link_hash_agrees(l->pinned, link_input_digest(a)))
        return differs("picture to compare with", a->path, "open in its -c", l->pinned, link_input_digest(a), err);
    return true;
}

void link_free(Link *l)
{
    buf_free(&l->edits);
    buf_free(&l->place);
    arena_free(&l->arena);
    *l = (Link){.input = NULL};
}
