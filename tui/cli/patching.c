/* `vitrine patching`: what every head, MLP or token of one input changes when it stands in the run on another, all of
 * the sheet `patching` as a page, JSON or CSV. */
#include <math.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/io/chat.h"
#include "core/io/json.h"
#include "core/models/ledger.h"
#include "core/session/screens/patches.h"
#include "core/session/state.h"
#include "tui/cli/verbs.h"

enum { PLACE_CELLS = 30, NAME_BYTES = 128 };

/* A row: what was patched, and what came of it. */
typedef struct Row {
    Buf place, address;
    int block, head, token; /* −1: none */
    double measured, share, gradient;
} Row;

static int index_of(const Graph *g, const PatchPlace *p, AxisRole role)
{
    for (int k = 0; k < p->cells.n; k++)
        if (g->axes[p->cells.range[k].axis].role == role)
            return p->cells.range[k].from;
    return -1;
}

/* share: of the way from B's number to A's; NaN where the two are one. */
static Row row_of(const Session *s, const PatchingResult *r, size_t i)
{
    const Graph *g = s->now->pass.base;
    const PatchPlace *p = &r->place[i];
    const int block = anatomy_block_of(g, p->path);
    const double way = (double)r->from - (double)r->to;
    Row row = {.block = block == NO_PART ? -1 : anatomy_part(g, block)->block,
               .head = index_of(g, p, ROLE_HEAD),
               .token = index_of(g, p, ROLE_QUERY),
               .measured = (double)r->exact[i],
               .share = way < 0 || way > 0 ? (double)r->exact[i] / way : (double)NAN,
               .gradient = (double)r->gradient[i]};
    patches_put_place(s, p, &row.place);
    patches_put_address(s, p, &row.address);
    return row;
}

static void row_free(Row *row)
{
    buf_free(&row->place);
    buf_free(&row->address);
}

/* The two answers whose logits are compared, and the token after which: empty where the model answers once. */
static void name_number(const Session *s, char name[3][NAME_BYTES])
{
    const Graph *g = s->now->pass.base;
    const int t = node_role(g, ledger_answers(g), ROLE_QUERY);
    int row = 0, of = 0, against = 0;
    patches_answers(s, &row, &of, &against);
    axis_label(patches_axis(s), of, name[0], NAME_BYTES);
    axis_label(patches_axis(s), against, name[1], NAME_BYTES);
    *name[2] = 0;
    if (t != AXIS_NONE)
        axis_label(&g->axes[t], row, name[2], NAME_BYTES);
}

static const char *input_of(const Session *s, Side side)
{
    return session_input(s, side)->name;
}

static void put_page(const Session *s, const PatchingResult *r, Buf *out)
{
    char name[3][NAME_BYTES];
    const PatchingError e = patching_error(r);
    name_number(s, name);
    buf_printf(out, "A  %s\nB  %s\nThe logit of %s less that of %s", input_of(s, SIDE_A), input_of(s, SIDE_B), name[0],
               name[1]);
    buf_printf(out, *name[2] ? " after %s: " : ": ", name[2]);
    buf_fixed(out, 0, (double)r->from, 5);
    buf_puts(out, " in A, ");
    buf_fixed(out, 0, (double)r->to, 5);
    buf_puts(out, " in B.\n");
    buf_puts(out, "How much more it is in B with A's value of one part, as a share of A less B, and what\n"
                  "the gradient says it would be.\n");
    patches_put_same(s, r, out);
    buf_printf(out, "%s\n  %-*s%10s %10s %10s %10s\n", r->first ? "\n" : "", PLACE_CELLS, "", "measured", "share",
               "gradient", "off by");
    for (size_t i = 0; i < r->count; i++) {
        Row row = row_of(s, r, i);
        const int pad = PLACE_CELLS - utf8_cells(buf_str(&row.place));
        buf_printf(out, "  %s%*s", buf_str(&row.place), pad > 0 ? pad : 0, "");
        buf_fixed(out, 10, row.measured, 5);
        if (isnan(row.share))
            buf_puts(out, "          –");
        else {
            buf_fixed(out, 9, 100 * row.share, 2);
            buf_puts(out, " %");
        }
        buf_fixed(out, 11, row.gradient, 5);
        buf_fixed(out, 11, row.gradient - row.measured, 5);
        buf_putc(out, '\n');
        row_free(&row);
    }
    buf_puts(out, "\nThe gradient is off by ");
    buf_fixed(out, 0, e.mean, 5);
    buf_puts(out, " on average, where the measured ones are ");
    buf_fixed(out, 0, e.size, 5);
    buf_puts(out, " in size");
    buf_printf(out, isnan(e.correlation) ? ".\n" : "; correlation %.3f.\n", e.correlation);
}

/* −1: there is none. */
static void put_index(Buf *out, const char *key, int i)
{
    json_put(out, key, i < 0 ? "null" : "%d", i);
}

static void put_json(const Session *s, const PatchingResult *r, Buf *out)
{
    static const char *const KINDS[] = {[PATCH_PARTS] = "heads", [PATCH_TOKENS] = "tokens", [PATCH_HEAD] = "head"};
    char name[3][NAME_BYTES];
    const PatchingError e = patching_error(r);
    name_number(s, name);
    json_open(out, NULL, '{');
    json_put_text(out, "model", s->model.name);
    json_put_text(out, "a", input_of(s, SIDE_A));
    json_put_text(out, "b", input_of(s, SIDE_B));
    json_put_text(out, "patched", KINDS[r->kind]);
    json_put_text(out, "of", name[0]);
    json_put_text(out, "against", name[1]);
    json_put_text(out, "after", *name[2] ? name[2] : NULL);
    json_put_float(out, "in_a", r->from);
    json_put_float(out, "in_b", r->to);
    json_put(out, "gradient_error", "%.9g", e.mean);
    json_put(out, "correlation", "%.9g", e.correlation);
    json_open(out, "places", '[');
    for (size_t i = 0; i < r->count; i++) {
        Row row = row_of(s, r, i);
        json_line(out);
        json_open(out, NULL, '{');
        json_put_text(out, "place", buf_str(&row.place));
        json_put_text(out, "address", buf_str(&row.address));
        put_index(out, "block", row.block);
        put_index(out, "head", row.head);
        put_index(out, "token", row.token);
        json_put(out, "measured", "%.9g", row.measured);
        json_put(out, "share", isnan(row.share) ? "null" : "%.9g", row.share);
        json_put(out, "gradient", "%.9g", row.gradient);
        json_put(out, "error", "%.9g", row.gradient - row.measured);
        buf_putc(out, '}');
        row_free(&row);
    }
    buf_puts(out, "]}\n");
}

static void put_csv(const Session *s, const PatchingResult *r, Buf *out)
{
    buf_puts(out, "place,address,block,head,token,measured,share,gradient,error\n");
    for (size_t i = 0; i < r->count; i++) {
        Row row = row_of(s, r, i);
        buf_csv(out, buf_str(&row.place));
        buf_putc(out, ',');
        buf_csv(out, buf_str(&row.address));
        buf_putc(out, ',');
        const int index[] = {row.block, row.head, row.token};
        for (int k = 0; k < 3; k++)
            buf_printf(out, index[k] < 0 ? "," : "%d,", index[k]);
        buf_printf(out, "%.9g,", row.measured);
        buf_printf(out, isnan(row.share) ? "," : "%.9g,", row.share);
        buf_printf(out, "%.9g,%.9g\n", row.gradient, row.gradient - row.measured);
        row_free(&row);
    }
}

static bool check(const Options *o, const Link *l, Err *err)
{
    (void)l;
    const int inputs = o->word_count - 1 + (o->input != NULL);
    if (inputs != 2)
        return err_set(err,
                       "%d input%s: patching puts values of one into the run on another: vitrine patching -m FOLDER "
                       "\"a girl named Lily\" \"a boy named Tim\"; a text of several words stands in quotes",
                       inputs, inputs == 1 ? "" : "s");
    return !o->at || err_set(err, "patching takes no --at: -c 'patching tokens head=3' says what is patched");
}

/* The first input pinned as A, the second on show as B, then what -c says, on the sheet. */
static bool open_pair(Work *w, Err *err)
{
    const Options *o = w->options;
    Options bare = *o;
    const char *input[2];
    int n = 0;
    Buf line = {0};
    if (o->input)
        input[n++] = o->input;
    for (int i = 1; n < 2; i++)
        input[n++] = o->chat ? arena_printf(&w->link.arena, "%s%s", CHAT_PREFIX, o->word[i]) : o->word[i];
    bare.commands = (Buf){0};
    w->options = &bare;
    w->link.input = input[0];
    bool ok = work_open(w, LINE_OWN, err);
    w->options = o;
    buf_puts(&line, "open ");
    command_quote(input[1], &line);
    ok = ok && command_do(&w->session, &w->commands, "pin", LINE_OWN, err) &&
         command_do(&w->session, &w->commands, buf_str(&line), LINE_OWN, err) &&
         session_read(&w->session, &w->commands, buf_str(&o->commands), LINE_OWN, err) &&
         patches_open(&w->session, err);
    buf_free(&line);
    return ok;
}

static int patching(Work *w, Err *err)
{
    const char *file = w->options->output;
    Session *s = &w->session;
    if (!open_pair(w, err) || !patches_measure(s, err))
        return STATUS_BAD;
    const PatchingResult *r = session_patching(s, NULL);
    if (file && file_is(file, "csv"))
        put_csv(s, r, &w->out);
    else
        (w->options->json || (file && file_is(file, "json")) ? put_json : put_page)(s, r, &w->out);
    return STATUS_DONE;
}

const Verb VERB_PATCHING = {
    .name = "patching",
    .usage = "patching A B [-c 'patching tokens of=NAME'] [-o FILE.csv] [--json]",
    .summary = "which heads, MLPs or tokens carry a difference between two inputs",
    .details =
        "Every head and MLP of A stands in turn in the run on B, which is computed anew from there: how much more is "
        "the logit of A's answer, less that of B's? share is that divided by the number in A less that in B; gradient "
        "is what one backward pass foretells, and off by is how far it is from the measured one. -c 'patching tokens' "
        "takes the residual stream token by token, 'patching tokens head=3' one head; of=She against=He names the two "
        "answers, and 'goto logits[t=4]; patching' the token after which they are asked, else the last one. It is "
        "measured of B without changes. FILE.csv and FILE.json have all digits, a row for each place.",
    .example = "vitrine patching -m gpt2/ \"a girl named Lily\" \"a boy named Tim\" -o patching.csv",
    .flags = VERB_ALONE | VERB_JSON,
    .check = check,
    .run = patching,
};
