/* Commands that read and write files, and those that carry a place or a value out of the program. */
#include <stdio.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/ask/export.h"
#include "core/session/command.h"
#include "core/session/place.h"
#include "core/session/screens/patches.h"
#include "core/session/state.h"

static bool run_open(Session *s, const Args *a, Err *err)
{
    if (a->count < 1 && session_words(s, SIDE_B))
        return err_set(err, "expected the text to read; the one on show is: %.200s", session_input(s, SIDE_B)->name);
    if (a->count < 1)
        return err_set(
            err, "expected a picture file, #17 for a drawn picture, or FILE:tensor for the pixel values of a tensor");
    const int models = s->models;
    bool words = a->count > 1 && session_words(s, SIDE_B); /* as one types a sentence */
    if (a->count > 1 && !words)
        return err_set(err,
                       "column %d: expected one picture; a name with blanks goes between \"quotes\"; for a sentence "
                       "open the `model translator` first",
                       a->column[1]);
    char line[COMMAND_LINE];
    snprintf(line, sizeof line, "%s", a->rest + strspn(a->rest, " "));
    for (size_t n = strlen(line); n && line[n - 1] == ' ';)
        line[--n] = 0;
    if (!session_open_input(s, words ? command_unquoted(line) : a->word[0], err))
        return false;
    const Input *in = session_input(s, SIDE_B);
    char about[SESSION_NOTE];
    const char *note = session_model_note(s, about);
    int query;
    place_last_token(s);
    if (session_pinned(s) && s->compare == COMPARE_OFF) /* what was pinned was pinned to be compared */
        s->compare = COMPARE_SIDES;
    if (in->original.data && !s->model.trained)
        session_say(s, "%s, %d × %d. The model is untrained: its answer means nothing.", in->name, in->original.width,
                    in->original.height);
    else if (in->original.data)
        session_say(s, "%s, %d × %d%s%s%s.%s%s%s", in->name, in->original.width, in->original.height,
                    preprocess_squeezes(&s->model.preprocess, in->original.width, in->original.height)
                        ? ", squeezed (cut it to the model's shape first to keep its own)"
                        : "",
                    s->models != models ? ", opened with " : "", s->models != models ? s->model.name : "",
                    *note ? " Note: " : "", note, *note ? "." : "");
    else if (in->kind == INPUT_TEXT && *note)
        session_say(s, "Note: %s.", note);
    else if (session_goes_on(s, &query))
        session_say(s, "%s: %d token%s read; the cursor is on the last.", in->name, in->text[TEXT_TARGET].count,
                    in->text[TEXT_TARGET].count == 1 ? "" : "s");
    else if (model_way(s->now->model) == MODEL_READS)
        session_say(s, "%s: %d token%s read.%s", in->name, in->text[TEXT_SOURCE].count,
                    in->text[TEXT_SOURCE].count == 1 ? "" : "s",
                    session_compares(s) && site_node_any(session_base(s), SITE_PROBS) == NO_NODE
                        ? " The cosine of its vector with A's stands below."
                        : "");
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
        return err_set(err,
                       "expected a folder with model.safetensors, a .safetensors file, bundled, photos or translator");
    const char *path = strcmp(a->word[0], "bundled") == 0 ? NULL : a->word[0];
    if (!(s->permit & COMMAND_READ) && strcmp(path ? path : "", s->model_path) == 0) /* followed: it is open */
        return true;
    char was[80] = "";
    if (session_words(s, SIDE_B))
        utf8_take(was, sizeof was, session_input(s, SIDE_B)->name, strlen(session_input(s, SIDE_B)->name));
    if (!session_open_model(s, path, err))
        return false;
    s->model_chosen = true;
    const Input *now = session_input(s, SIDE_B);
    bool other = *was && now->kind == INPUT_TEXT && strncmp(was, now->name, strlen(was)) != 0;
    session_say(s, "%s (%s), %d blocks, %d tokens.%s%s", s->model.name, s->model.layout, session_blocks(s),
                session_tokens(s), s->model.trained ? "" : " Untrained: its predictions mean nothing.",
                other ? " The text before is none of its: it has a first one of its own, and `open` takes another."
                      : "");
    return true;
}

static bool run_export(Session *s, const Args *a, Err *err)
{
    if (a->count < 1)
        return err_set(err,
                       "expected a file that ends in .npy, .npz, .safetensors, .csv or .json, and perhaps an address");
    TensorFormat format;
    Buf report = {0};
    const char *file = permit_write(s, a->word[0], err);
    if (!file)
        return false;
    if (file_is(a->word[0], "svg html txt ans cast png"))
        return err_set(err,
                       "'%.200s' would be a picture of the screen, and there is none here: `vitrine screen -o FILE` "
                       "draws it; values go to .npy, .npz, .safetensors, .csv or .json",
                       a->word[0]);
    if (a->count == 1 && patches_on_show(s))
        return err_set(err, "this sheet is no tensor: `vitrine patching A B -o %.200s` writes its numbers", a->word[0]);
    if (!tensor_format(file, &format, err) || !export_free(file, args_named(a, "over"), err) ||
        !export_nodes(s, session_side(s), a->count > 1 ? a->word[1] : "", args_named(a, "axes"), file, format, &report,
                      err))
        return false;
    session_say(s, "Wrote %s: %.*s.", file, report.len ? (int)report.len - 1 : 0, buf_str(&report));
    buf_free(&report);
    return true;
}

/* A command line that comes back to this place with this input and these edits. */
static bool run_link(Session *s, const Args *a, Err *err)
{
    Buf link = {0};
    (void)a;
    (void)err;
    link_put(s, &link);
    session_say(s, "%s", buf_str(&link));
    buf_free(&link);
    return true;
}

/* The value in focus, or of an address; `row`: all along the last axis through the one in focus. */
static bool run_copy(Session *s, const Args *a, Err *err)
{
    Side side = ask_side(session_side(s));
    const Graph *g = session_graph(s, side);
    Address to;
    bool row = a->count && strcmp(a->word[0], "row") == 0, named = a->count && !row;
    if (!address_word(s, g, named ? a->word[0] : "", named ? a->column[0] : 1, &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "'%s' is a group of nodes: name one of them", to.path);
    NodeId n = ask_node(s, side, to.path, err);
    const float *x = n == NO_NODE ? NULL : ask_need(s, side, n, err);
    if (!x)
        return false;
    size_t cell = address_cell(s, g, n, &to.cells);
    Buf text = {0};
    Dims d = graph_node(g, n)->dims;
    size_t along = row && d.n ? (size_t)g->axes[d.axis[d.n - 1]].n : 1;
    cell -= cell % along;
    address_put(g, n, cell, &text);
    buf_puts(&text, along > 1 ? " and on =" : " =");
    for (size_t i = 0; i < along; i++)
        buf_printf(&text, " %.9g", (double)x[cell + i]);
    session_say(s, "%s", buf_str(&text));
    buf_free(&text);
    return true;
}

static const Command COMMANDS[] = {
    COMMAND("open", "files", "open FILE, #N, FILE:tensor, \"sentence\"", "open another input; edits stay",
            COMMAND_SESSION | COMMAND_READ | COMMAND_TEXT, run_open, NULL),
    COMMAND("model", "files", "model PATH, bundled, photos, translator",
            "open another model for the same input; edits are dropped", COMMAND_SESSION | COMMAND_READ, run_model,
            NULL),
    COMMAND("export", "files", "export FILE [ADDRESS] [axes=h,t,e] [over=yes]",
            "write values: .npy .npz .safetensors .csv .json", COMMAND_SESSION | COMMAND_WRITE, run_export, NULL),
    COMMAND("link", "files", "link", "print a command line that opens this place again", COMMAND_SESSION, run_link,
            NULL),
    COMMAND("copy", "files", "copy [ADDRESS], row", "copy the value under the cursor with its address, or its row",
            COMMAND_SESSION, run_copy, NULL),
};

CommandTable session_commands_files(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), NULL};
}
