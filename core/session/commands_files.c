/* Commands that read and write files, and those that carry a place or a value out of the program. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/file.h"
#include "core/session/address.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/ask/export.h"
#include "core/session/command.h"
#include "core/session/permit.h"
#include "core/session/state.h"

static bool run_open(Session *s, const Args *a, Err *err)
{
    if (a->count < 1)
        return err_set(err, "expected a picture file, #17 for a drawn picture, or FILE:tensor for ready values");
    if (a->count > 1)
        return err_set(err, "column %d: expected one input; put a name with blanks between \"quotes\"", a->column[1]);
    if (!session_open_input(s, a->word[0], err))
        return false;
    const Input *in = session_input(s, SIDE_B);
    const char *note = session_model_note(s);
    if (session_pinned(s) && s->compare == COMPARE_OFF) /* what was pinned was pinned to be compared */
        s->compare = COMPARE_SIDES;
    if (in->original.data && !s->model.trained)
        session_say(s, "%s, %d × %d. The model is untrained: its answer means nothing.", in->name, in->original.width,
                    in->original.height);
    else if (in->original.data)
        session_say(s, "%s, %d × %d.%s%s%s", in->name, in->original.width, in->original.height, *note ? " Note: " : "",
                    note, *note ? "." : "");
    else if (in->kind == INPUT_TEXT)
        session_say(s, "%s: %d words read, %d written.", in->name, in->text[TEXT_SOURCE].count,
                    in->text[TEXT_TARGET].count);
    else
        session_say(s, "%s: ready values.", in->name);
    return true;
}

static bool run_model(Session *s, const Args *a, Err *err)
{
    if (a->count != 1)
        return err_set(err, "expected a folder with model.safetensors, a .safetensors file, or bundled");
    if (!session_open_model(s, strcmp(a->word[0], "bundled") == 0 ? NULL : a->word[0], err))
        return false;
    session_say(s, "%s (%s), %d blocks, %d tokens.%s", s->model.name, s->model.layout, session_blocks(s),
                session_tokens(s), s->model.trained ? "" : " Untrained: its predictions mean nothing.");
    return true;
}

static bool is_screen_file(const char *path)
{
    static const char *const SUFFIXES[] = {"svg", "html", "txt", "ans", "cast", "png"};
    for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES; i++)
        if (strcasecmp(file_suffix(path), SUFFIXES[i]) == 0)
            return true;
    return false;
}

static bool run_export(Session *s, const Args *a, Err *err)
{
    if (a->count < 1)
        return err_set(err,
                       "expected a file that ends in .npy, .npz, .safetensors, .csv or .json, and perhaps an address");
    TensorFormat format;
    Buf report = {0};
    if (is_screen_file(a->word[0]))
        return err_set(err,
                       "'%.200s' would be a picture of the screen, and there is none here: `vitrine screen -o FILE` "
                       "draws it; values go to .npy, .npz, .safetensors, .csv or .json",
                       a->word[0]);
    if (!tensor_format(a->word[0], &format, err) || !permit_file(s, a->word[0], err) ||
        !export_free(a->word[0], args_named(a, "over"), err) ||
        !export_nodes(s, session_side(s), a->count > 1 ? a->word[1] : "", args_named(a, "axes"), a->word[0], format,
                      &report, err))
        return false;
    session_say(s, "Wrote %s: %.*s.", a->word[0], report.len ? (int)report.len - 1 : 0, buf_str(&report));
    buf_free(&report);
    return true;
}

/* In single quotes, as a shell wants it. */
static void put_quoted(Buf *out, const char *text)
{
    buf_putc(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, *text);
    buf_putc(out, '\'');
}

/* One command as a word of the short form: "set scale off" scale=off, "ablate A[h=2]" ablate=A[h=2]; false where it has
 * what a word can't carry. */
static bool put_short_edit(const char *command, size_t n, Buf *out)
{
    static const char SCALE[] = "set scale ";
    size_t verb = strcspn(command, " "), skip = sizeof SCALE - 1;
    bool scale = n > skip && strncmp(command, SCALE, skip) == 0;
    int depth = 0;
    if (verb >= n || verb > 28 || (strncmp(command, "set ", 4) == 0 && !scale) || strncmp(command, "shuffle", 7) == 0)
        return false;
    if (scale)
        buf_puts(out, " scale=");
    else
        buf_printf(out, " %.*s=", (int)verb, command);
    for (size_t i = scale ? skip : verb + 1; i < n; i++) {
        char c = command[i];
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (strchr("\"'`$\\", c) || (c == ',' && depth == 0) || (c == ' ' && (depth > 0 || scale)))
            return false;
        buf_putc(out, c == ' ' ? ',' : c);
    }
    return true;
}

/* '#17 ADDRESS scale=off @1cc1': a drawn picture, the model of the program, and edits that are words. */
static bool put_short_link(Session *s, const char *address, const char *rest, Buf *out)
{
    const char *input = session_input(s, SIDE_B)->path;
    uint64_t hash;
    if (strcmp(s->model.layout, "bundled") != 0 || *input != '#' || strpbrk(address, " '"))
        return false;
    Buf edits = {0};
    bool ok = true;
    for (const char *p = rest; ok && *p;) {
        size_t n = strcspn(p, ";");
        ok = put_short_edit(p, n, &edits);
        p += n + strspn(p + n, "; ");
    }
    if (ok)
        buf_printf(out, "vitrine '%s %s%s", input, address, buf_str(&edits));
    if (ok && session_hash(s, SIDE_B, &hash))
        buf_printf(out, " @%04llx", (unsigned long long)(hash >> 48));
    if (ok)
        buf_putc(out, '\'');
    buf_free(&edits);
    return ok;
}

/* A command line that comes back to this place with this input and these edits. */
static bool run_link(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    Buf link = {0}, part = {0}, rest = {0};
    uint64_t hash;
    session_write_link(s, &part, &rest);
    if (!put_short_link(s, buf_str(&part), buf_str(&rest), &link)) {
        buf_puts(&link, "vitrine ");
        put_quoted(&link, session_input(s, SIDE_B)->path);
        if (strcmp(s->model.layout, "bundled") != 0) {
            buf_puts(&link, " -m ");
            put_quoted(&link, s->model_path);
        }
        buf_puts(&link, " --at ");
        put_quoted(&link, buf_str(&part));
        if (rest.len) {
            buf_puts(&link, " -c ");
            put_quoted(&link, buf_str(&rest));
        }
        if (session_hash(s, SIDE_B, &hash))
            buf_printf(&link, " @%08llx", (unsigned long long)(hash >> 32));
    }
    session_say(s, "%s", buf_str(&link));
    buf_free(&link);
    buf_free(&part);
    buf_free(&rest);
    return true;
}

static bool run_copy(Session *s, const Args *a, Err *err)
{
    Side side = ask_side(session_side(s));
    const Graph *g = session_graph(s, side);
    Address to;
    if (!address_word(s, g, a->count ? a->word[0] : "", a->count ? a->column[0] : 1, &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "'%s' is a group of nodes: name one of them", to.path);
    NodeId n = ask_node(s, side, to.path, err);
    const float *x = n == NO_NODE ? NULL : ask_need(s, side, n, err);
    if (!x)
        return false;
    size_t cell = address_cell(s, g, n, &to.cells);
    Buf text = {0};
    address_put(g, n, cell, &text);
    buf_printf(&text, " = %.9g", (double)x[cell]);
    session_say(s, "%s", buf_str(&text));
    buf_free(&text);
    return true;
}

static const Command COMMANDS[] = {
    {"open", "files", "open FILE, #N, FILE:tensor, \"sentence\"", "another picture or sentence; the edits stay", 0,
     run_open, NULL},
    {"model", "files", "model PATH, bundled", "another model for the same picture; the edits are dropped", 0, run_model,
     NULL},
    {"export", "files", "export FILE [ADDRESS] [axes=h,t,e] [over=yes]",
     "write values: .npy .npz .safetensors .csv .json", 0, run_export, NULL},
    {"link", "files", "link", "a command line that comes back to this place", 0, run_link, NULL},
    {"copy", "files", "copy [ADDRESS]", "the value under the cursor with its address", 0, run_copy, NULL},
};

CommandTable session_commands_files(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), NULL};
}
