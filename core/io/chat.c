#include "core/io/chat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/io/chat_parts.h"
#include "core/io/json.h"

enum { CONFIG = 16 * 1024 * 1024, NESTING = 64, PATH = 1200 };

/* ---- the folder's ---- */

/* "</s>", or {"content": "</s>"}. */
static char *token_of(const Json *config, const char *key)
{
    const Json *j = json_get(config, key);
    const char *text = json_text(j, json_text(json_get(j, "content"), NULL));
    return text ? xstrdup(text) : NULL;
}

/* A text, or a list of named ones, of which the one called default is meant. */
static const char *template_of(const Json *j)
{
    const char *text = json_text(j, NULL);
    for (size_t i = 0; !text && i < json_count(j); i++)
        if (strcmp(json_text(json_get(json_at(j, i), "name"), ""), "default") == 0)
            text = json_text(json_get(json_at(j, i), "template"), NULL);
    return text;
}

bool chat_open(Chat *c, const char *folder, Err *err)
{
    char path[PATH], own[PATH];
    Buf text = {0};
    *c = (Chat){.name = folder};
    snprintf(path, sizeof path, "%s/tokenizer_config.json", folder);
    snprintf(own, sizeof own, "%s/chat_template.jinja", folder);
    Json *config = file_exists(path) ? json_read(path, CONFIG, err) : NULL;
    bool ok = config || !file_exists(path);
    if (ok && file_exists(own))
        ok = file_read(own, CHAT_SOURCE, &text, err);
    else if (ok && template_of(json_get(config, "chat_template")))
        buf_puts(&text, template_of(json_get(config, "chat_template")));
    if (ok && !text.len)
        ok = err_set(
            err,
            "%s has no chat template (chat_template.jinja, or \"chat_template\" in tokenizer_config.json): give "
            "the text as the model reads it, without --chat",
            folder);
    if (ok && text.len > CHAT_SOURCE)
        ok = err_set(err, "%s: a chat template of %zu bytes, more than the %d that are read", folder, text.len,
                     CHAT_SOURCE);
    if (ok) {
        c->source = xstrdup(buf_str(&text));
        c->begin = token_of(config, "bos_token");
        c->end = token_of(config, "eos_token");
        c->unknown = token_of(config, "unk_token");
        c->padding = token_of(config, "pad_token");
    }
    buf_free(&text);
    json_free(config);
    return ok;
}

void chat_free(Chat *c)
{
    free(c->source);
    free(c->begin);
    free(c->end);
    free(c->unknown);
    free(c->padding);
    *c = (Chat){.name = NULL};
}

void chat_text_free(ChatText *t)
{
    buf_free(&t->text);
    buf_free(&t->said);
}

/* ---- what was typed, as turns ---- */

static const char *const ROLES[] = {"system", "user", "assistant"};

/* The role that a turn at s begins with, and its bytes with the colon; −1: none. */
static int role_at(const char *s, size_t *n)
{
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(ROLES[i]);
        if (strncmp(s, ROLES[i], length) == 0 && s[length] == ':') {
            *n = length + 1;
            return i;
        }
    }
    return -1;
}

static bool add_turn(Script *s, Value *list, const char *role, const char *text, size_t n)
{
    ChatTable *turn = script_room(s, 1, sizeof *turn);
    char *said = turn ? script_room(s, n, 1) : NULL;
    if (!said)
        return false;
    if (list->n == CHAT_TURNS)
        return err_set(s->err, "more than %d turns: leave some out", CHAT_TURNS);
    memset(said, 1, n);
    const Value of = value_text(role), words = {.kind = VALUE_TEXT, .text = text, .said = said, .n = n};
    list->item[list->n++] = (Value){.kind = VALUE_TABLE, .table = turn};
    return script_set(s, turn, 0, "role", 4, &of) && script_set(s, turn, 0, "content", 7, &words);
}

static bool turns_of_json(Script *s, const char *typed, Value *list)
{
    Json *j = json_parse("the turns", typed, strlen(typed), s->err);
    bool ok = j != NULL;
    for (size_t i = 0; ok && i < json_count(j); i++) {
        const char *role = json_text(json_get(json_at(j, i), "role"), NULL),
                   *text = json_text(json_get(json_at(j, i), "content"), NULL);
        ok = role && text
                 ? add_turn(s, list, arena_strdup(&s->arena, role), arena_strdup(&s->arena, text), strlen(text))
                 : err_set(s->err, "turn %zu is no {\"role\": …, \"content\": …} of two texts", i);
    }
    if (ok && !list->n)
        ok = err_set(s->err, "there are no turns in it");
    json_free(j);
    return ok;
}

/* "user: … | assistant: …", or lines; a text that begins with no role is what the user says. */
static bool turns_of(Script *s, const char *typed, Value *list)
{
    const char *at = typed + strspn(typed, " \t\r\n");
    size_t n = 0, next;
    *list = (Value){.kind = VALUE_LIST, .item = script_room(s, CHAT_TURNS, sizeof(Value))};
    if (!list->item)
        return false;
    if (*at == '[' && at[1 + strspn(at + 1, " \t\r\n")] == '{')
        return turns_of_json(s, at, list);
    int role = role_at(at, &n);
    for (at += n; role < 0 || *at;) {
        size_t length = 0, gap = 0;
        int then = -1;
        for (; at[length] && then < 0; length += then < 0) {
            gap = strncmp(at + length, " | ", 3) == 0 ? 3 : at[length] == '\n';
            then = gap && role >= 0 ? role_at(at + length + gap, &next) : -1;
        }
        size_t blanks = role < 0 ? 0 : strspn(at, " \t");
        blanks = blanks < length ? blanks : length;
        if (!add_turn(s, list, role < 0 ? "user" : ROLES[role], at + blanks, length - blanks))
            return false;
        if (then < 0)
            break;
        at += length + gap + next;
        role = then;
        if (!*at) /* an empty turn is one */
            return add_turn(s, list, ROLES[role], at, 0);
    }
    return list->n || add_turn(s, list, ROLES[role], at, 0);
}

/* ---- the template, cut into texts, values and statements ---- */

static void add_segment(Segments *l, Segment s)
{
    l->at = grow(l->at, &l->cap, l->n, sizeof *l->at);
    l->at[l->n++] = s;
}

/* generation marks what a trainer learns from: it writes nothing. What else Jinja has is refused where it is run: a
 * template may keep it for tools, of which there are none. */
static bool word_of(Script *s, size_t *at, size_t end, Word *out)
{
    static const struct {
        const char *name;
        Word word;
    } WORDS[] = {{"for", WORD_FOR},         {"if", WORD_IF},
                 {"elif", WORD_ELIF},       {"else", WORD_ELSE},
                 {"endif", WORD_ENDIF},     {"endfor", WORD_ENDFOR},
                 {"set", WORD_SET},         {"endset", WORD_ENDSET},
                 {"macro", WORD_MACRO},     {"endmacro", WORD_ENDMACRO},
                 {"generation", WORD_PASS}, {"endgeneration", WORD_PASS},
                 {"break", WORD_BREAK},     {"continue", WORD_CONTINUE},
                 {"do", WORD_OTHER},        {"call", WORD_OTHER},
                 {"endcall", WORD_OTHER},   {"filter", WORD_OTHER},
                 {"endfilter", WORD_OTHER}, {"with", WORD_OTHER},
                 {"endwith", WORD_OTHER}};
    *at = script_skip(s, *at, end);
    size_t n = script_name(s, *at, end);
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (chat_word(s->source + *at, n, WORDS[i].name)) {
            *out = WORDS[i].word;
            if (*out == WORD_OTHER) /* its name is for the message */
                return true;
            *at += n;
            if (*out == WORD_SET && !memchr(s->source + *at, '=', end - *at))
                *out = WORD_CAPTURE;
            return true;
        }
    return script_refuse(s, *at, "the statement '%.*s' is not known here", n < 40 ? (int)n : 40, s->source + *at);
}

/* The end of a tag whose inside begins at `at`; quotes hide it. */
static bool tag_end(Script *s, size_t at, const char *close, size_t *end)
{
    char quote = '\0';
    const bool comment = *close == '#';
    for (size_t i = at; s->source[i]; i++) {
        char c = s->source[i];
        if (!quote && c == close[0] && s->source[i + 1] == close[1]) {
            *end = i;
            return true;
        }
        if (comment)
            continue;
        if (quote && c == '\\' && s->source[i + 1])
            i++;
        else if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '\'' || c == '"')
            quote = c;
    }
    return script_refuse(s, at, "'%s' is missing", close);
}

/* As Hugging Face's programs cut: a statement takes the blanks of its line in front of it and the newline behind it
 * away, a - on either side all blanks. */
static bool cut_source(Script *s, Segments *out)
{
    static const char BLANK[] = " \t\r\n";
    const char *t = s->source;
    size_t from = 0;
    for (size_t at = 0;; at++) {
        const bool tag = t[at] == '{' && t[at + 1] && strchr("{%#", t[at + 1]);
        if (t[at] && !tag)
            continue;
        size_t to = at;
        const bool statement = tag && t[at + 1] != '{';
        if (tag && t[at + 2] == '-')
            while (to > from && strchr(BLANK, t[to - 1]))
                to--;
        else if (statement && t[at + 2] != '+') {
            size_t line = to;
            while (line > from && (t[line - 1] == ' ' || t[line - 1] == '\t'))
                line--;
            to = line == 0 || t[line - 1] == '\n' ? line : to;
        }
        if (!tag && to > from && t[to - 1] == '\n') /* the last newline of a template is none of it */
            to--;
        if (to > from)
            add_segment(out, (Segment){.kind = SEGMENT_TEXT, .from = from, .to = to, .next = -1});
        if (!tag)
            return true;
        size_t inside = at + 2 + (t[at + 2] == '-' || (statement && t[at + 2] == '+')), end = inside;
        const char kind = t[at + 1], *close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
        if (!tag_end(s, inside, close, &end))
            return false;
        from = end + 2;
        Segment g = {.kind = kind == '{' ? SEGMENT_VALUE : SEGMENT_STATEMENT, .from = inside, .to = end, .next = -1};
        const bool minus = end > inside && t[end - 1] == '-';
        g.to -= minus || (end > inside && statement && t[end - 1] == '+');
        if (minus)
            from += strspn(t + from, BLANK);
        else if (statement && t[end - 1] != '+')
            from += t[from] == '\n' ? 1 : t[from] == '\r' && t[from + 1] == '\n' ? 2 : 0;
        if (kind == '%' && !word_of(s, &g.from, g.to, &g.word))
            return false;
        if (kind != '#')
            add_segment(out, g);
        at = from - 1;
    }
}

/* Every branch finds the one behind it. */
static bool match(Script *s, Segments *l)
{
    static const struct {
        bool opens;
        Word of; /* what it ends */
    } WORDS[] = {[WORD_FOR] = {true, 0},
                 [WORD_IF] = {true, 0},
                 [WORD_MACRO] = {true, 0},
                 [WORD_CAPTURE] = {true, 0},
                 [WORD_ENDFOR] = {.of = WORD_FOR},
                 [WORD_ENDIF] = {.of = WORD_IF},
                 [WORD_ENDMACRO] = {.of = WORD_MACRO},
                 [WORD_ENDSET] = {.of = WORD_CAPTURE}};
    int open[NESTING], n = 0, first[NESTING];
    for (size_t i = 0; i < l->n; i++) {
        Segment *g = &l->at[i];
        if (g->kind != SEGMENT_STATEMENT || g->word >= WORD_SET)
            continue;
        if (g->word < WORD_ELIF && WORDS[g->word].opens) {
            if (n == NESTING)
                return script_refuse(s, g->from, "more than %d statements inside each other", NESTING);
            first[n] = open[n] = (int)i;
            n++;
            continue;
        }
        const bool branch = g->word == WORD_ELIF || g->word == WORD_ELSE;
        const Segment *begun = n ? &l->at[first[n - 1]] : NULL, *last = n ? &l->at[open[n - 1]] : NULL;
        const bool fits = begun &&
                          (!branch ? WORDS[g->word].of == begun->word
                                   : last->word != WORD_ELSE &&
                                         (begun->word == WORD_IF || (begun->word == WORD_FOR && g->word == WORD_ELSE)));
        if (!fits)
            return script_refuse(s, g->from, "an end or a branch of nothing");
        l->at[open[n - 1]].next = (int)i;
        open[n - 1] = (int)i;
        n -= !branch;
    }
    return !n || script_refuse(s, l->at[first[n - 1]].from, "a statement that does not end");
}

/* ---- all of it ---- */

/* What Hugging Face's programs give a template; there are no tools and no documents, and no clock. */
static bool set_names(Script *s, const Value *turns)
{
    const Chat *c = s->chat;
    const Value *last = turns->n ? table_get(turns->item[turns->n - 1].table, "role", 4) : NULL;
    const bool answer = last && last->n == 9 && memcmp(last->text, "assistant", 9) == 0;
    const Value none = {.kind = VALUE_NONE};
    const struct {
        const char *name;
        Value v;
    } of[] = {{"messages", *turns},
              {"add_generation_prompt", value_bool(!answer)},
              {"bos_token", value_text(c->begin)},
              {"eos_token", value_text(c->end)},
              {"unk_token", value_text(c->unknown)},
              {"pad_token", value_text(c->padding)},
              {"tools", none},
              {"documents", none}};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof of / sizeof *of; i++)
        ok = of[i].v.kind == VALUE_UNDEFINED || script_set(s, &s->names, 0, of[i].name, strlen(of[i].name), &of[i].v);
    return ok;
}

bool chat_write(const Chat *c, const char *typed, ChatText *out, Err *err)
{
    Err own = {""};
    Script s = {.chat = c, .source = c->source, .out = out, .err = err ? err : &own};
    Segments l = {0};
    Value turns;
    s.segments = &l;
    *out = (ChatText){.text = {0}};
    bool ok = turns_of(&s, typed, &turns) && cut_source(&s, &l) && match(&s, &l) && set_names(&s, &turns) &&
              script_write(&s);
    if (ok && memchr(buf_str(&out->text), 0, out->text.len))
        ok = err_set(s.err, "%s: the chat template writes a byte 0", c->name);
    if (ok && !out->text.len)
        ok = err_set(s.err, "%s: the chat template writes nothing of these turns", c->name);
    free(l.at);
    arena_free(&s.arena);
    if (!ok)
        chat_text_free(out);
    return ok;
}
