/* `vitrine show`: values, as a table to read or as a file. `vitrine trace`: every node of the run, by name. */
#include <string.h>
#include <unistd.h>

#include "core/session/address.h"
#include "core/session/ask/export.h"
#include "tui/cli/verbs.h"

static bool show_check(const Options *o, const Link *l, Err *err)
{
    TensorFormat format;
    if (!l->address && !o->at)
        return err_set(
            err, "show what? name a node such as blocks.0.attn.q, a pattern such as 'blocks.0.*', or . for the focus");
    if (!o->output || screen_suffix(o->output))
        return true;
    if (strcmp(o->output, "-") == 0)
        return o->json || !isatty(STDOUT_FILENO) ||
               err_set(
                   err,
                   "-o - writes an array in binary, and standard output is a terminal: leave -o away, or name a file");
    return tensor_format(o->output, &format, err);
}

static bool in_group(const Address *a, const char *path)
{
    size_t n = strlen(a->path);
    return strchr(a->path, '*') ? address_match(a->path, path) : strncmp(a->path, path, n) == 0 && path[n] == '.';
}

/* Several nodes, nothing said about a file: their names and shapes. */
static void list_nodes(const Graph *g, const Address *a, bool all, Buf *out)
{
    bool probes = all || strstr(a->path, "probe") != NULL || strncmp(a->path, "grad", strlen("grad")) == 0;
    bool others = false; /* analyses are meant where nothing else matches */
    size_t left_out = 0;
    for (NodeId n = 0; n < g->count && !probes && !others; n++)
        others = in_group(a, graph_node(g, n)->path) && !(graph_node(g, n)->flags & NODE_PROBE);
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (!in_group(a, node->path))
            continue;
        if ((node->flags & NODE_PROBE) && others) {
            left_out++;
            continue;
        }
        buf_printf(out, "%-44s float32 ", node->path);
        graph_shape_text(g, node->dims, out);
        buf_puts(out, node->op == OP_LEAF && node->leaf.kind == LEAF_TENSOR ? "  weight\n" : "\n");
    }
    if (left_out)
        buf_printf(out, "… and %zu analyses of that name: --all lists them too\n", left_out);
}

static int print(Work *w, Err *err)
{
    Session *s = &w->session;
    Side side = session_side(s);
    Address a;
    if (!address_parse(s, session_graph(s, side == SIDE_A ? SIDE_A : SIDE_B), w->address, &a, err))
        return STATUS_BAD;
    if (a.is_node)
        return export_print(s, side, w->address, w->options->axes, &w->out, err) ? STATUS_DONE : STATUS_BAD;
    if (w->options->axes) {
        err_set(err, "--axes reorders one tensor, and '%s' names several", a.path);
        return STATUS_BAD;
    }
    list_nodes(session_graph(s, side == SIDE_A ? SIDE_A : SIDE_B), &a, w->options->all, &w->out);
    return STATUS_DONE;
}

int show_write(Work *w, Err *err)
{
    const Options *o = w->options;
    Session *s = &w->session;
    Address a;
    TensorFormat format = TF_JSON;
    if (!o->output && !o->json)
        return print(w, err);
    if (!address_parse(s, session_graph(s, session_side(s) == SIDE_A ? SIDE_A : SIDE_B), w->address, &a, err))
        return STATUS_BAD;
    if (!work_to_stdout(w)) {
        if (!tensor_format(o->output, &format, err))
            return STATUS_USAGE;
        w->written = true;
        return export_nodes(s, session_side(s), w->address, o->axes, o->output, format, &w->out, err) ? STATUS_DONE
                                                                                                      : STATUS_BAD;
    }
    if (!o->json)
        format = a.is_node ? TF_NPY : TF_SAFETENSORS;
    return export_nodes(s, session_side(s), w->address, o->axes, "-", format, NULL, err) ? STATUS_DONE : STATUS_BAD;
}

static int show(Work *w, Err *err)
{
    return w->options->output && screen_suffix(w->options->output) ? screen_write(w, err) : show_write(w, err);
}

const Verb VERB_SHOW = {
    .name = "show",
    .usage = "show ADDRESS [-o FILE] [--axes h,t,e]",
    .summary = "the values of a tensor, to read or into a file",
    .details = "Without -o a table with the labels of rows and columns. FILE.npy .npz .csv .json .safetensors save the "
               "values; .svg .png .html .txt .ans draw the screen. A pattern ('blocks.5.*') or a scope (blocks.5) "
               "names several tensors: a list of them, or all in one .npz, .json or .safetensors. -c 'compare a' takes "
               "the values without the edits, -c 'compare diff' the difference.",
    .example = "vitrine show 'blocks.5.attn.q' -m vit/ -i cat.png -o q.npy",
    .flags = VERB_ADDRESS | VERB_JSON,
    .check = show_check,
    .run = show};

/* --- trace --- */

static bool check_trace(const Options *o, const Link *l, Err *err)
{
    TensorFormat format;
    (void)l;
    if (!o->output)
        return err_set(err, "trace needs -o FILE: a name that ends in .safetensors, .npz or .json");
    if (o->at)
        return err_set(err, "trace writes every node and takes no --at; `vitrine show ADDRESS -o FILE` writes some");
    if (strcmp(o->output, "-") == 0)
        return !isatty(STDOUT_FILENO) ||
               err_set(err, "-o - writes a safetensors file, and standard output is a terminal: name a file");
    if (!tensor_format(o->output, &format, err))
        return false;
    return (format != TF_NPY && format != TF_CSV) ||
           err_set(err, "%.200s: a trace is many tensors: end the name in .safetensors, .npz or .json", o->output);
}

static int trace(Work *w, Err *err)
{
    const char *path = w->options->output;
    bool to_stdout = work_to_stdout(w);
    TensorFormat format = w->options->json ? TF_JSON : TF_SAFETENSORS;
    if ((!to_stdout && !tensor_format(path, &format, err)) || !work_complete(w, err))
        return STATUS_BAD;
    w->written = true;
    return export_nodes(&w->session, session_side(&w->session), w->options->gradient ? "** grad.**" : "**", NULL, path,
                        format, to_stdout ? NULL : &w->out, err)
               ? STATUS_DONE
               : STATUS_BAD;
}

const Verb VERB_TRACE = {
    .name = "trace",
    .usage = "trace [INPUT] -o FILE",
    .summary = "every tensor of the run into one file, by name",
    .details = "FILE ends in .safetensors, .npz or .json; the first and the last also say model, input, edits and "
               "trace hash. With edits in -c it is the edited run; with --gradient TARGET the gradients of that cell "
               "with respect to every node are written too, as grad.NODE.",
    .example = "vitrine trace cat.png -m vit/ -c 'set scale off' -o unscaled.safetensors",
    .flags = VERB_JSON,
    .check = check_trace,
    .run = trace};
