/* `vitrine diff`: where another program's forward pass, or another model, first differs from ours, and why. */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/stop.h"
#include "core/base/tell.h"
#include "core/base/utf8.h"
#include "core/eval/ablation.h"
#include "core/session/ask/ask_diff.h"
#include "tui/app.h"
#include "tui/cli/verbs.h"

/* What the words mean: our model, and what it is compared with, one after the other. */
typedef struct Plan {
    const char *model;
    const char *reference[2];
    int count;
} Plan;

/* Of two REFs the model is ours, the first if both are models; two traces are each compared with -m. */
static bool make_plan(const Options *o, Plan *p, Err *err)
{
    const char *const *word = o->word + 1;
    int words = o->word_count - 1;
    *p = (Plan){.model = o->model, .count = 1, .reference = {word[0], words > 1 ? word[1] : NULL}};
    if (words < 2)
        return true;
    bool first = ask_diff_is_model(word[0]), second = ask_diff_is_model(word[1]);
    if ((first || second) && o->model)
        return err_set(err, "two models to compare with: leave out -m %.100s, or name one REF", o->model);
    if (first || second) {
        p->model = word[first ? 0 : 1];
        p->reference[0] = word[first ? 1 : 0];
    } else
        p->count = 2;
    return true;
}

static bool check(const Options *o, const Link *l, Err *err)
{
    double tolerance;
    Precision precision;
    (void)l;
    if (o->word_count < 2 || o->word_count > 3)
        return err_set(err, "diff needs a trace (.safetensors, .npz, a folder of .npy) or a model to compare with, or "
                            "two models: vitrine diff trace.npz -m vit/ -i cat.png");
    if (o->at)
        return err_set(err, "diff finds the place itself and takes no --at");
    if (o->open && o->json)
        return err_set(err, "--open shows the screen, --json prints: choose one");
    if (o->precision && !precision_find(o->precision, &precision))
        return err_set(err, "--precision %.40s: expected f32, bf16 or f16", o->precision);
    return !o->tolerance || diff_tolerance(o->tolerance, &tolerance, err);
}

static bool ask(Work *w, const char *reference, DiffAnswer *answer, Err *err)
{
    const Options *o = w->options;
    DiffAsk a = {.reference = reference,
                 .map = o->map,
                 .precision = o->precision,
                 .require = o->require,
                 .item = o->item,
                 .json = o->json,
                 .bundled = !o->model,
                 .own_input = !o->input && !ask_diff_is_model(reference)};
    return (!o->tolerance || diff_tolerance(o->tolerance, &a.tolerance, err)) &&
           ask_diff(&w->session, &a, &w->out, NULL, answer, err);
}

/* On a terminal lines are broken between words, or the table and the verdict fall apart where it ends; what comes after
 * the first of a row is set in. Elsewhere a row stays a line, for grep. */
static void wrap(Buf *text)
{
    struct winsize size = {.ws_col = 0};
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 40)
        return;
    Buf out = {0};
    for (const char *line = buf_str(text), *next; *line; line = next) {
        size_t n = strcspn(line, "\n");
        next = line + n + (line[n] == '\n');
        bool row = n > 2 && line[1] == ' ' && strchr(" .*", *line);
        int column = 0, indent = row ? 4 : 0;
        for (const char *at = line; at < line + n;) {
            size_t blanks = strspn(at, " "), word = strcspn(at + blanks, " \n");
            char shown[512];
            utf8_take(shown, sizeof shown, at + blanks, word);
            int cells = (int)blanks + utf8_cells(shown);
            if (column > indent && column + cells > size.ws_col) {
                buf_printf(&out, "\n%*s", indent, "");
                column = indent;
                at += blanks;
                cells -= (int)blanks;
                blanks = 0;
            }
            buf_add(&out, at, blanks + word);
            column += cells;
            at += blanks + word;
        }
        buf_puts(&out, line[n] ? "\n" : "");
    }
    buf_free(text);
    *text = out;
}

static int diff(Work *w, Err *err)
{
    const Options *given = w->options;
    Options own = *given;
    Plan p;
    bool same = true;
    if (!make_plan(given, &p, err))
        return STATUS_USAGE;
    own.model = p.model;
    w->options = &own; /* only while it is opened */
    bool ok = work_open(w, LINE_OWN, err);
    w->options = given;
    if (given->json && p.count > 1)
        buf_putc(&w->out, '[');
    for (int i = 0; ok && i < p.count; i++) {
        DiffAnswer answer;
        if (i)
            buf_puts(&w->out, given->json ? "," : "\n\n");
        ok = ask(w, p.reference[i], &answer, err);
        if (ok && answer.stopped)
            stop_take(); /* what has been found is told */
        same = same && ok && answer.same;
    }
    if (given->json && p.count > 1)
        buf_puts(&w->out, "]\n");
    if (!given->json)
        wrap(&w->out);
    return !ok ? STATUS_BAD : same ? STATUS_DONE : STATUS_NO;
}

int diff_open(const Options *o)
{
    Plan p;
    Err err = {{0}};
    Buf line = {0};
    int status = STATUS_USAGE;
    bool ok = check(o, NULL, &err) && options_used(o, &VERB_DIFF, &err) && make_plan(o, &p, &err);
    if (ok && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
        ok = err_set(&err, "--open needs a terminal; without it diff prints");
    if (ok) {
        buf_printf(&line, "%s%sdiff ", buf_str(&o->commands), o->commands.len ? "; " : "");
        command_quote(p.reference[0], &line);
        if (o->map) {
            buf_puts(&line, " map=");
            command_quote(o->map, &line);
        }
        if (o->tolerance)
            buf_printf(&line, " tolerance=%s", o->tolerance);
        if (o->precision)
            buf_printf(&line, " precision=%s", o->precision);
        if (o->require)
            buf_printf(&line, " require=%s", o->require);
        if (o->item)
            buf_printf(&line, " item=%s", o->item);
        if (!o->input && !ask_diff_is_model(p.reference[0]))
            buf_puts(&line, " input=own");
        AppOptions a = verb_screen(o);
        a.model = p.model;
        a.commands = buf_str(&line);
        status = app_main(&a);
    }
    if (*err.text)
        tell(err.text);
    buf_free(&line);
    return status;
}

const Verb VERB_DIFF = {
    .name = "diff",
    .usage = "diff REF [REF2]",
    .summary = "where another program's forward pass, or another model, first differs from this one, and why",
    .details = "REF is a trace (.safetensors, .npz, a folder of .npy files) under the names of Vitrine, "
               "TransformerLens, Hugging Face or timm, or under any others that the lines NAME = NODE[axes] of --map "
               "FILE explain; or a model. Of two REFs the model is what runs here (the first, if both are models); two "
               "traces are each compared with -m. Without -i the trace's own pixel_values are the input. `through` is "
               "the error since the input, `local` the error of one step alone, fed with the recorded values before "
               "it: a difference begins where local is large. Known mistakes are then made here, one after the other, "
               "until one gives the same difference. Exit status: 0 the same, 3 different, 1 a file is bad.",
    .example = "vitrine diff trace.npz -m vit/ -i trace.npz:pixel_values",
    .flags = VERB_JSON | VERB_ALONE,
    .check = check,
    .run = diff};
