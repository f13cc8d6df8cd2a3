/* `vitrine trace`: every node of the run, by name. */
#include <string.h>
#include <unistd.h>

#include "core/session/ask/export.h"
#include "tui/cli/verbs.h"

static bool check(const Options *o, const Link *l, Err *err)
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
    .details = "FILE ends in .safetensors, .npz or .json; the first and the last also say model, "
               "input, edits and trace hash. With edits in -c it is the edited run; with --gradient TARGET the "
               "gradients of that cell with respect to every node are written too, as grad.NODE.",
    .example = "vitrine trace cat.png -m vit/ -c 'set scale off' -o unscaled.safetensors",
    .flags = VERB_JSON,
    .check = check,
    .run = trace};
