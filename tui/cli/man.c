/* vitrine(1) in roff, from the tables that the program itself works with: nothing in it can go out of date. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/app.h"
#include "tui/cli/help.h"
#include "tui/keymap.h"

/* Text with what roff takes for its own made harmless, and everything beyond ASCII by its code point, so that no
 * formatter has to guess an encoding. A line never begins with a control character. */
static void put_roff(Buf *out, const char *text)
{
    static const struct {
        uint32_t ch;
        const char *escape;
    } ESCAPES[] = {{'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
    if (*text == '.')
        buf_puts(out, "\\&");
    for (uint32_t c; (c = utf8_next(&text)) != 0;) {
        const char *escape = NULL;
        for (size_t i = 0; i < sizeof ESCAPES / sizeof *ESCAPES; i++)
            if (ESCAPES[i].ch == c)
                escape = ESCAPES[i].escape;
        if (escape)
            buf_puts(out, escape);
        else if (c < 0x80)
            buf_putc(out, (char)c);
        else
            buf_printf(out, "\\[u%04X]", (unsigned)c);
    }
}

static void put_section(Buf *out, const char *title)
{
    buf_printf(out, ".SH %s\n", title);
}

static void put_paragraph(Buf *out, const char *text)
{
    buf_puts(out, ".PP\n");
    put_roff(out, text);
    buf_putc(out, '\n');
}

/* A term in bold and what it is. */
static void put_item(Buf *out, const char *term, const char *text)
{
    buf_puts(out, ".TP\n\\fB");
    put_roff(out, term);
    buf_puts(out, "\\fR\n");
    put_roff(out, text);
    buf_putc(out, '\n');
}

static void put_verbs(Buf *out)
{
    put_section(out, "VERBS");
    put_paragraph(out, "They need no terminal. INPUT may also be given by -i, ADDRESS by --at. Edits may follow as in "
                       "a link (below).");
    for (int i = 0; verb_at(i); i++) {
        const Verb *v = verb_at(i);
        char text[2400];
        snprintf(text, sizeof text, "%c%s. %s",
                 v->summary[0] >= 'a' && v->summary[0] <= 'z' ? v->summary[0] - 'a' + 'A' : v->summary[0],
                 v->summary + 1, v->details);
        put_item(out, v->usage, text);
    }
}

static void put_options(Buf *out)
{
    put_section(out, "OPTIONS");
    for (int i = 0; option_at(i); i++) {
        const OptionSpec *o = option_at(i);
        char term[80], letter[8] = "";
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(term, sizeof term, "%s--%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");
        put_item(out, term, o->help);
    }
}

static void put_commands(Buf *out)
{
    static const char *const GROUPS[] = {"go",    "look",  "ask",   "change", "learned",
                                         "learn", "class", "files", "program"};
    Commands own = session_command_set(), all = {0};
    commands_add(&all, app_commands(NULL));
    commands_add_all(&all, &own);
    commands_free(&own);
    put_section(out, "COMMANDS");
    put_paragraph(out, "After : on the screen, and in -c. Several are separated by ; and arguments are word=value. "
                       "Those marked * need the screen.");
    for (size_t g = 0; g < sizeof GROUPS / sizeof *GROUPS; g++) {
        buf_printf(out, ".SS %s\n", GROUPS[g]);
        for (int i = 0; command_at(&all, i); i++) {
            const Command *c = command_at(&all, i);
            char term[400];
            bool shadowed = command_find(&all, c->name) != c; /* the screen's own form of a command */
            if (shadowed || strcmp(c->group, GROUPS[g]) != 0)
                continue;
            snprintf(term, sizeof term, "%s%s", c->usage, c->touches & COMMAND_UI ? " *" : "");
            put_item(out, term, c->summary);
        }
    }
    commands_free(&all);
}

static void put_keys(Buf *out)
{
    put_section(out, "KEYS");
    put_paragraph(out, "Every key is a command.");
    for (int i = 0; keymap_at(i); i++) {
        const KeyBinding *k = keymap_at(i);
        char text[300];
        snprintf(text, sizeof text, "%s (%s)", k->help, k->command);
        put_item(out, k->key, text);
    }
}

typedef struct Entry {
    const char *term, *text;
} Entry;

static void put_entries(Buf *out, const char *title, const Entry *entries, size_t count)
{
    put_section(out, title);
    for (size_t i = 0; i < count; i++)
        put_item(out, entries[i].term, entries[i].text);
}

static void put_addresses(Buf *out)
{
    put_section(out, "ADDRESSES AND LINKS");
    put_paragraph(
        out,
        "An address is a name with indices: blocks.1.attn.pattern[h=2,t=r3c4,u=cls]. The name is a node's path, a "
        "scope (blocks.1), a step's number, or, where several nodes may be meant, a pattern with * (one component) or "
        "** (any). An index is a number from 0, a label (cls, r3c4, star; of a text the word itself), a range 2:5 (5 "
        "is not included) or *. A short name (pattern) is enough where it is unique in the block in focus.");
    put_paragraph(out, "The letters: t token that asks, u token looked at, h head, e width of one head, d width of the "
                       "model, m hidden width of the MLP, p patch, y x its row and column, c colour, i j pixel row and "
                       "column inside a patch, o class.");
    put_paragraph(out, "A link is a command line: vitrine '#17 blocks.1.attn.pattern[h=2,t=r3c4] scale=off @9f3a' is "
                       "input, address, edits and the first digits of the trace hash. An edit name=value is the "
                       "command of that name (ablate=blocks.1.attn.z[h=2], skip=mlp,block=1); scale=off and shuffle=7 "
                       "stand for set scale off and shuffle seed=7.");
}

void man_text(Buf *out)
{
    static const Entry STATUS[] = {
        {"0", "Done."},
        {"1", "An input, a file or a resource is bad; one line on standard error names it and says what to do."},
        {"2", "The command line is wrong, or there is no usable terminal."},
        {"3", "The answer to what was asked is no: verify found a difference, or a link's hash is another."}};
    static const Entry ENVIRONMENT[] = {
        {"NO_COLOR", "If not empty: no colours."},
        {"TERM, COLORTERM",
         "What the terminal can do. COLORTERM=truecolor asks for all colours; over ssh it is not passed on."},
        {"LC_ALL, LC_CTYPE, LANG", "Where the character set is not UTF-8, only ASCII is drawn."},
        {"VITRINE_ISA", "As --isa."},
        {"XDG_STATE_HOME", "Where the place is remembered; ~/.local/state if not set."}};
    static const Entry FILES[] = {
        {"$XDG_STATE_HOME/vitrine/last",
         "The place where the screen was left. --fresh passes it over; it may be deleted at any time."}};
    buf_puts(out, ".TH VITRINE 1 \"\" \"vitrine " VITRINE_VERSION
                  "\" \"User Commands\"\n.SH NAME\nvitrine \\- one forward pass of a Vision Transformer under "
                  "glass\n.SH SYNOPSIS\n.B vitrine\n[\\fIINPUT\\fR] [\\fIOPTIONS\\fR]\n");
    for (int i = 0; verb_at(i); i++) {
        buf_puts(out, ".br\n.B vitrine\n");
        put_roff(out, verb_at(i)->usage);
        buf_puts(out, " [\\fIOPTIONS\\fR]\n");
    }
    put_section(out, "DESCRIPTION");
    put_paragraph(out, "Vitrine sends a picture through a Vision Transformer and keeps every number on the way. On the "
                       "screen the forward pass is walked step by step, any tensor is looked at, the arithmetic of any "
                       "number is followed down to a weight or a pixel, and parts of the model are switched off to see "
                       "what changes. INPUT is a picture (PNG, JPEG, BMP, PPM, PGM), #N for a drawn picture, or "
                       "FILE:tensor for ready values in a safetensors, npy or npz file.");
    put_verbs(out);
    put_options(out);
    put_addresses(out);
    put_commands(out);
    put_keys(out);
    put_entries(out, "EXIT STATUS", STATUS, sizeof STATUS / sizeof *STATUS);
    put_entries(out, "ENVIRONMENT", ENVIRONMENT, sizeof ENVIRONMENT / sizeof *ENVIRONMENT);
    put_entries(out, "FILES", FILES, sizeof FILES / sizeof *FILES);
    put_section(out, "EXAMPLES");
    for (int i = 0; verb_at(i); i++) {
        buf_puts(out, ".PP\n.nf\n");
        put_roff(out, verb_at(i)->example);
        buf_puts(out, "\n.fi\n");
    }
    put_section(out, "NOTES");
    put_paragraph(out, "If a terminal is ever left in disorder, after kill -9 for instance, type reset or stty sane.");
}
