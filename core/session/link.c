
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/models/model.h"
#include "core/session/address.h"
#include "core/session/place.h"
#include "core/session/state.h"

/* ---- what files hold ---- */

/* Does this input come from a file (or a pipe), so that it may be another one next time? */
static bool link_input_needs(const Input *in)
{
    return in->kind == INPUT_PICTURE && *in->path != '#';
}

static bool link_model_needs(const Session *s)
{
    return strcmp(s->model.layout, "bundled") != 0;
}

uint64_t link_input_digest(const Input *in)
{
    uint64_t hash = digest_mix(DIGEST_START, in->ready);
    const Image *im = &in->original;
    if (!im->data)
        return digest_floats(hash, in->values, in->cells);
    hash = digest_mix(digest_mix(digest_mix(hash, (uint64_t)im->width), (uint64_t)im->height), (uint64_t)im->channels);
    return digest_bytes(hash, im->data, image_bytes(im));
}

uint64_t link_model_digest(const Session *s)
{
    return model_digest(&s->model);
}

/* ---- words ---- */

static bool begins(const char *command, size_t n, const char *with)
{
    size_t k = strlen(with);
    return n >= k && strncmp(command, with, k) == 0;
}

static const char OPTION[] = "option ", LEDGER[] = "ledger logits[o=";

/* "option NAME VALUE" of a name that no command has: what stands before the value, else 0. */
static size_t option_only(const char *command, size_t n)
{
    char name[32];
    Commands all = session_command_set();
    size_t length = begins(command, n, OPTION) ? strcspn(command + strlen(OPTION), " ") : 0;
    utf8_print(name, sizeof name, "%.*s", (int)length, command + strlen(OPTION) * (length > 0));
    bool alone = length && length < sizeof name && !command_find(&all, name);
    commands_free(&all);
    return alone ? strlen(OPTION) + length + 1 : 0;
}

/* One command as a word of the short form: "set scale off" scale=off, "ablate A[h=2]" ablate=A[h=2]; false where it has
 * what a word can't carry, or may not: a file. */
static bool put_short_edit(const char *command, size_t n, Buf *out)
{
    static const struct {
        const char *command, *word;
    } FORMS[] = {{"set scale ", "scale="},
                 {"shuffle seed=", "shuffle="},
                 {"gradient ", "grad="},
                 {LEDGER, "ledger="}, /* a class by its name */
                 {"open \"#", "open=#"}};
    size_t verb = strcspn(command, " "), skip = option_only(command, n);
    int depth = 0;
    if (skip)
        buf_printf(out, " %.*s=", (int)(skip - strlen(OPTION) - 1), command + strlen(OPTION));
    if (n == 3 && begins(command, n, "pin")) {
        buf_puts(out, " pin=on");
        return true;
    }
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS && !skip; i++)
        if (begins(command, n, FORMS[i].command)) {
            skip = strlen(FORMS[i].command);
            buf_printf(out, " %s", FORMS[i].word);
        }
    if (skip && begins(command, n, "open "))
        n--; /* its other quote */
    if (!skip && (verb >= n || verb > 28 || begins(command, n, "open ") || begins(command, n, "model ")))
        return false;
    if (!skip) {
        skip = verb + 1;
        buf_printf(out, " %.*s=", (int)verb, command);
    }
    bool class = begins(command, n, LEDGER);
    for (size_t i = skip; i < n; i++) {
        char c = command[i];
        if (class && c == ']') {
            class = false;
            continue;
        }
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (strchr("\"'`$\\", c) || (c == ',' && depth == 0) || (c == ' ' && depth > 0))
            return false;
        if (begins(command + i, n - i, "from=") && !begins(command + i, n - i, "from=a ") &&
            !begins(command + i, n - i, "from=b ") && n - i > strlen("from=a"))
            return false;
        buf_putc(out, c == ' ' ? ',' : c);
    }
    return true;
}

/* " screen=matrix at=h:2,t:5" as " :matrix/at=h:2,t:5"; nothing for nothing. */
static void put_short_place(const char *rest, Buf *out)
{
    static const char SCREEN[] = "screen=";
    const char *p = rest + strspn(rest, " ");
    if (!*p)
        return;
    buf_puts(out, " :");
    if (strncmp(p, SCREEN, strlen(SCREEN)) == 0) {
        p += strlen(SCREEN);
        buf_add(out, p, strcspn(p, " "));
        p += strcspn(p, " ");
    }
    for (; *(p += strspn(p, " ")); p += strcspn(p, " ")) {
        buf_putc(out, '/');
        buf_add(out, p, strcspn(p, " "));
    }
}

/* ---- the address, as short as it can be ---- */

/* A session that was just opened, for reading addresses as the link's reader will. */
static Session *fresh_place(const Session *s)
{
    Session *t = xmalloc(sizeof *t); /* the place alone is changed in it */
    *t = *s;
    session_start_place(t);
    return t;
}

static bool leads_to(const Session *fresh, const Graph *g, const char *text, NodeId n)
{
    Address to;
    return address_parse(fresh, g, text, &to, NULL) && to.is_node && graph_find(g, to.path) == n;
}

/* "1.pattern" where that is enough, else the path. */
static void put_short_path(const Session *fresh, const Graph *g, NodeId n, Buf *out)
{
    const char *path = graph_node(g, n)->path;
    int block = anatomy_block_of(g, path);
    const char *rest = anatomy_inside_block(g, path);
    bool inside = block != NO_PART && rest != path;
    for (const char *p = rest + strlen(rest); p > rest; p--) {
        char name[SESSION_PATH];
        if (p[-1] != '.' && p - 1 != rest)
            continue;
        snprintf(name, sizeof name, "%s", p[-1] == '.' ? p : rest);
        if (inside)
            snprintf(name, sizeof name, "%d.%s", anatomy_part(g, block)->block, p[-1] == '.' ? p : rest);
        if (leads_to(fresh, g, name, n)) {
            buf_puts(out, name);
            return;
        }
    }
    buf_puts(out, path);
}

static void put_short_address(const Session *s, NodeId n, size_t cell, Buf *out)
{
    const Graph *g = session_graph(s, SIDE_B);
    Session *fresh = fresh_place(s);
    Selection none = {0};
    Dims d = graph_node(g, n)->dims;
    int index[DIMS_MAX], start[DIMS_MAX], count = d.n;
    dims_unravel(g->axes, d, cell, index);
    dims_unravel(g->axes, d, address_cell(fresh, g, n, &none), start);
    while (count && index[count - 1] == start[count - 1])
        count--;
    put_short_path(fresh, g, n, out);
    for (int i = 0; i < count; i++) {
        buf_putc(out, i ? ',' : '[');
        address_put_index(&g->axes[d.axis[i]], index[i], out);
    }
    if (count)
        buf_putc(out, ']');
    free(fresh);
}

/* ---- the link ---- */

static void put_digits(Buf *out, const char *what, uint64_t value, int digits)
{
    buf_printf(out, " @%s%0*llx", what, digits, (unsigned long long)(value >> (64 - 4 * digits)));
}

/* The digests of whatever is not in the program. */
static void put_digests(const Session *s, Buf *out)
{
    const Input *a = session_pinned(s) ? session_input(s, SIDE_A) : NULL, *b = session_input(s, SIDE_B);
    if (link_input_needs(b))
        put_digits(out, "picture:", link_input_digest(b), LINK_DIGITS);
    if (a && link_input_needs(a) && strcmp(a->path, b->path) != 0)
        put_digits(out, "pinned:", link_input_digest(a), LINK_DIGITS);
    if (link_model_needs(s))
        put_digits(out, "model:", link_model_digest(s), LINK_DIGITS);
}

/* Everything behind the input as words, where words can carry it. */
static bool put_words(const Session *s, NodeId n, const char *place, const char *rest, Buf *out)
{
    bool ok = true;
    put_short_address(s, n, session_cell(s, SIDE_B, n), out);
    if (strpbrk(buf_str(out), " '"))
        return false;
    put_short_place(place, out);
    for (const char *p = rest; ok && *p;) {
        size_t length = strcspn(p, "\n");
        ok = put_short_edit(p, length, out);
        p += length + (p[length] == '\n');
    }
    for (const char *p = buf_str(out); ok && *p;) { /* a vocabulary's words may hold anything */
        uint32_t c = utf8_next(&p);
        ok = c != 0xfffd && utf8_printable(c);
    }
    return ok;
}

/* -i, -m and what belongs to them; a drawn picture is the first word instead. */
static void put_opened(const Session *s, bool input, Buf *out)
{
    if (input && *session_input(s, SIDE_B)->path) { /* else the first one of its family */
        buf_puts(out, " -i ");
        buf_shell(out, session_input(s, SIDE_B)->path);
    }
    if (*s->model_path) {
        buf_puts(out, " -m ");
        buf_shell(out, s->model_path);
    }
    if (*s->resolution)
        buf_printf(out, " --resolution %s", s->resolution);
    if (*s->model_path && s->assume && link_model_needs(s))
        buf_puts(out, " --assume");
}

/* What no word can carry stands behind options: the user's own line, which may read files. */
static void put_options(const Session *s, Buf *out)
{
    Buf address = {0}, rest = {0};
    session_write_link(s, &address, &rest);
    buf_puts(out, " --at ");
    buf_shell(out, buf_str(&address));
    if (rest.len) {
        buf_puts(out, " -c ");
        buf_shell(out, buf_str(&rest));
    }
    buf_free(&address);
    buf_free(&rest);
}

void link_put(const Session *s, Buf *out)
{
    Buf place = {0}, lines = {0}, words = {0};
    const Input *in = session_input(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, s->place.path);
    uint64_t hash;
    bool drawn = in->kind == INPUT_PICTURE && *in->path == '#', own = !link_input_needs(in) && !link_model_needs(s);
    session_write_words(s, &place, &lines);
    bool short_form = n != NO_NODE && !session_has_trail(s) &&
                      put_words(s, n, buf_str(&place), buf_str(&lines), &words);
    buf_puts(out, "vitrine");
    put_opened(s, !drawn, out);
    if (drawn || short_form)
        buf_printf(out, " '%s%s%s", drawn ? in->path : "", drawn && short_form ? " " : "",
                   short_form ? buf_str(&words) : "'");
    if (!short_form)
        put_options(s, out);
    if (session_hash(s, SIDE_B, &hash))
        put_digits(out, "", hash, own && short_form ? LINK_SHORT : LINK_DIGITS);
    put_digests(s, out);
    if (short_form)
        buf_putc(out, '\'');
    buf_free(&place);
    buf_free(&lines);
    buf_free(&words);
}
