/* Commands that change the model or the picture. Each becomes a line in the list of edits; `undo` takes the last change
 * back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/eval/precision.h"
#include "core/session/address.h"
#include "core/session/command.h"
#include "core/session/edit/edits.h"
#include "core/session/learned/scale_places.h"
#include "core/session/screens.h"

static bool begins_with(const char *line, const char *start)
{
    return strncmp(line, start, strlen(start)) == 0;
}

/* The one change in force in words, where there are words for it. Short: it stands on one line of a small screen.
 * Beside a pinned picture A is not what was before. */
static bool report_words(Session *s)
{
    const char *line = s->edits.line[0];
    char patch[32];
    int block, head, end = 0;
    if (s->pinned.base)
        return false;
    if (strcmp(line, "set scale off") == 0 && scale_places_tell(s))
        return true;
    if (strcmp(line, "set scale off") == 0 && s->model.vit.scale == vit_scale(s->model.vit.head_dim))
        session_say(s, "Scores are no longer times 1/√d_k: A is before, B is after.  u undoes");
    else if (sscanf(line, "ablate blocks.%d.attn.z[h=%d]%n", &block, &head, &end) == 2 && end && !line[end])
        session_say(s, "Head %d of block %d is off: it still looks, what it gathers counts as 0.", head, block);
    else if (sscanf(line, "grey %31s%n", patch, &end) == 1 && !line[end])
        session_say(s, "Patch %s is grey: A is before, B is after.  u undoes", patch);
    else if (begins_with(line, "hide not "))
        return false;
    else if (begins_with(line, "hide ") && !strpbrk(line + 5, " ["))
        session_say(s, "Patch %s is hidden behind the mask token.  u undoes", line + 5);
    else if (begins_with(line, "hide "))
        session_say(s, "Patches are hidden behind the mask token.  u undoes");
    else if (begins_with(line, "shuffle"))
        session_say(s, "Patches are in another order: a token's name is its place.  u undoes");
    else if (strcmp(line, "skip positions") == 0)
        session_say(s, "Positions are no longer added to the tokens.  u undoes");
    else if (sscanf(line, "skip mlp block=%d%n", &block, &end) == 1 && !line[end])
        session_say(s, "Block %d adds nothing from its MLP: A is before, B is after.  u undoes", block);
    else if (sscanf(line, "skip attention block=%d%n", &block, &end) == 1 && !line[end])
        session_say(s, "Block %d adds nothing from attention: A is before, B is after.  u undoes", block);
    else
        return false;
    return true;
}

static void report(Session *s)
{
    if (!s->edits.count) {
        session_say(s, "The model is as it was made again.");
        return;
    }
    if (s->edits.count == 1 && report_words(s))
        return;
    buf_clear(&s->said);
    buf_puts(&s->said, "In force: ");
    for (int i = 0; i < s->edits.count; i++)
        buf_printf(&s->said, "%s%s", i ? "; " : "", s->edits.line[i]);
    buf_puts(&s->said, ".  u undoes");
}

static bool change(Session *s, const char *line, bool toggle, Err *err)
{
    if (!edits_add(s, line, toggle, err))
        return false;
    report(s);
    return true;
}

/* The state without the lines that `goes` picks. */
static bool without(Session *s, bool (*goes)(const char *line, const char *start), const char *start, Err *err)
{
    EditState next = edit_state_copy(&s->edits);
    int before = next.count;
    for (int i = next.count - 1; i >= 0; i--)
        if (goes(next.line[i], start))
            edit_state_remove(&next, i);
    bool ok = before == next.count || edits_apply(s, &next, true, err);
    edit_state_free(&next);
    if (ok)
        report(s);
    return ok;
}

/* "VERB ADDRESS" with the node's whole path: a short name or the focus must not mean another node later. */
static bool full_line(const Session *s, const char *verb, const Args *a, const char *more, char *line, size_t n,
                      Err *err)
{
    Address to;
    if (!address_word(s, s->now.base, a->word[0], a->column[0], &to, err))
        return false;
    const char *bracket = strchr(a->word[0], '[');
    return snprintf(line, n, "%s %s%s%s", verb, to.path, bracket ? bracket : "", more) < (int)n ||
           err_set(err, "that line is too long");
}

/* The one line "set precision P" in force; f32 is none. */
static bool set_precision(Session *s, const Args *a, Err *err)
{
    char line[64];
    Precision p;
    if (!precision_find(a->word[1], &p))
        return err_set(err, "column %d: expected f32, bf16 or f16, found '%s'", a->column[1], a->word[1]);
    snprintf(line, sizeof line, "set precision %s", precision_name(p));
    EditState next = edit_state_copy(&s->edits);
    for (int i = next.count - 1; i >= 0; i--)
        if (begins_with(next.line[i], "set precision "))
            edit_state_remove(&next, i);
    if (p != PRECISION_F32)
        edit_state_add(&next, line);
    bool ok = edits_apply(s, &next, true, err);
    edit_state_free(&next);
    if (ok)
        report(s);
    return ok;
}

static bool run_set(Session *s, const Args *a, Err *err)
{
    char line[512];
    const char *at = args_named(a, "at");
    if (a->count < 2)
        return err_set(
            err,
            "expected `set scale off`, `set scale x2 at=blocks.1[h=2]`, `set precision bf16` or `set ADDRESS NUMBER`");
    if (strcmp(a->word[0], "scale") == 0) {
        if (strcmp(a->word[1], "on") == 0)
            return without(s, begins_with, "set scale ", err);
        if (strcmp(a->word[1], "toggle") == 0) {
            if (edits_has(s, "set scale off"))
                return without(s, begins_with, "set scale ", err);
            return change(s, "set scale off", false, err);
        }
        if (snprintf(line, sizeof line, "set scale %s%s%s", a->word[1], at ? " at=" : "", at ? at : "") >=
            (int)sizeof line)
            return err_set(err, "that line is too long");
        return change(s, line, false, err);
    }
    if (strcmp(a->word[0], "precision") == 0)
        return set_precision(s, a, err);
    Address to;
    if (!address_word(s, s->now.base, a->word[0], a->column[0], &to, err))
        return false;
    Buf full = {0};
    buf_puts(&full, to.path);
    const char *bracket = strchr(a->word[0], '[');
    NodeId n = graph_find(s->now.base, to.path);
    if (bracket)
        buf_puts(&full, bracket);
    else if (to.is_node && !*a->word[0]) { /* the focused cell */
        buf_clear(&full);
        address_put(s->now.base, n, address_cell(s, s->now.base, n, &to.cells), &full);
    } else if (to.is_node && strcmp(a->word[0], ".") == 0) {
        buf_clear(&full);
        address_put(s->now.base, n, address_cell(s, s->now.base, n, &to.cells), &full);
    }
    bool fits = snprintf(line, sizeof line, "set %s %s", buf_str(&full), a->word[1]) < (int)sizeof line;
    buf_free(&full);
    return fits ? change(s, line, false, err) : err_set(err, "that line is too long");
}

/* The patch under the cursor hidden, or shown again, whichever it is not. */
static void hide_focus(const Session *s, char *line, size_t n)
{
    char label[32], other[64];
    int p = session_axis(s->now.base, "p");
    const float *shown = edits_shown(s, SIDE_B);
    bool hidden = shown && shown[s->place.at[p]] == 0.0f;
    axis_label(&s->now.base->axes[p], s->place.at[p], label, sizeof label);
    snprintf(line, n, "hide %s%s", hidden ? "not " : "", label);
    snprintf(other, sizeof other, "hide %s%s", hidden ? "" : "not ", label);
    if (edits_has(s, other)) /* taking that line away does it */
        snprintf(line, n, "%s", other);
}

/* What `x` switches off here: the patch on the picture, the head where there is one, else the sub-layer or node in
 * focus. */
static bool focus_line(const Session *s, char *line, size_t n, Err *err)
{
    int block = session_block(s);
    const char *path = s->place.path;
    const Graph *g = s->now.base;
    ScreenOff off = screen_now(s)->off;
    char label[32];
    if (off == OFF_PATCH) {
        int p = session_axis(g, "p");
        snprintf(line, n, "grey %s", axis_label(&g->axes[p], s->place.at[p], label, sizeof label));
        return true;
    }
    if (off == OFF_HIDDEN) {
        hide_focus(s, line, n);
        return true;
    }
    if (off == OFF_POSITIONS || strcmp(path, "pos_embed") == 0) {
        snprintf(line, n, "skip positions");
        return true;
    }
    if (block < 0 || off == OFF_NOTHING)
        return err_set(err,
                       "nothing here can be switched off: go to a head, a block's part, the picture or the positions");
    NodeId node = session_node(s, SIDE_B, path);
    int h = session_axis(g, "h");
    bool has_head = node != NO_NODE && h >= 0 && dims_find(graph_node(session_graph(s, SIDE_B), node)->dims, h) >= 0;
    if (has_head || off == OFF_HEAD)
        snprintf(line, n, "ablate blocks.%d.attn.z[h=%d]", block, session_head(s));
    else if (strstr(path, ".mlp."))
        snprintf(line, n, "skip mlp block=%d", block);
    else if (strstr(path, ".attn."))
        snprintf(line, n, "skip attention block=%d", block);
    else if (strstr(path, ".ln"))
        snprintf(line, n, "skip layernorm block=%d", block);
    else if (strstr(path, ".resid_mid"))
        snprintf(line, n, "skip attention block=%d", block);
    else if (strstr(path, ".resid_post"))
        snprintf(line, n, "skip mlp block=%d", block);
    else
        snprintf(line, n, "ablate %s", path);
    return true;
}

static bool run_ablate(Session *s, const Args *a, Err *err)
{
    char line[512];
    if (a->count == 0)
        return focus_line(s, line, sizeof line, err) && change(s, line, true, err);
    if (a->count > 1 && strcmp(a->word[1], "mean") != 0)
        return err_set(err, "column %d: expected mean or nothing, found '%s'", a->column[1], a->word[1]);
    return full_line(s, "ablate", a, a->count > 1 ? " mean" : "", line, sizeof line, err) &&
           change(s, line, false, err);
}

/* Is `line` the edit `start` itself, of some of its cells, or of a part of it? "ablate blocks.1" is no beginning of
 * "ablate blocks.10.attn.z". */
static bool is_of(const char *line, const char *start)
{
    size_t n = strlen(start);
    return strncmp(line, start, n) == 0 && (!line[n] || strchr("[ .", line[n]));
}

static bool run_restore(Session *s, const Args *a, Err *err)
{
    char line[512];
    if (a->count == 0) {
        if (!focus_line(s, line, sizeof line, err))
            return false;
        return edits_has(s, line) ? change(s, line, true, err) : err_set(err, "what is in focus is not switched off");
    }
    if (!full_line(s, "ablate", a, "", line, sizeof line, err))
        return false;
    for (int i = 0; i < s->edits.count; i++)
        if (is_of(s->edits.line[i], line))
            return without(s, is_of, line, err);
    return err_set(err, "column %d: '%s' is not switched off", a->column[0], a->word[0]);
}

/* The line as typed, with its name in front: skip, shuffle, mask, grey, hide, swap, patch. */
static bool as_typed(Session *s, const char *name, const Args *a, bool toggle, Err *err)
{
    char line[512];
    size_t n = strlen(a->rest);
    while (n && a->rest[n - 1] == ' ')
        n--;
    if (n + strlen(name) + 2 > sizeof line)
        return err_set(err, "that line is too long");
    const char *rest = a->rest + strspn(a->rest, " ");
    snprintf(line, sizeof line, "%s%s%.*s", name, n ? " " : "", (int)(n - (size_t)(rest - a->rest)), rest);
    return change(s, line, toggle, err);
}

static bool run_skip(Session *s, const Args *a, Err *err)
{
    return as_typed(s, "skip", a, true, err);
}

static bool run_shuffle(Session *s, const Args *a, Err *err)
{
    return as_typed(s, "shuffle", a, true, err);
}

static bool run_grey(Session *s, const Args *a, Err *err)
{
    char line[64], label[32];
    int p = session_axis(s->now.base, "p");
    if (a->count || p == AXIS_NONE)
        return as_typed(s, "grey", a, true, err);
    snprintf(line, sizeof line, "grey %s", axis_label(&s->now.base->axes[p], s->place.at[p], label, sizeof label));
    return change(s, line, true, err);
}

static bool run_hide(Session *s, const Args *a, Err *err)
{
    char line[64];
    if (a->count || session_axis(s->now.base, "p") == AXIS_NONE)
        return as_typed(s, "hide", a, true, err);
    hide_focus(s, line, sizeof line);
    return change(s, line, true, err);
}

static void complete_hide(const Session *s, int index, Buf *out)
{
    char label[32];
    int p = session_axis(s->now.base, "p");
    (void)index;
    for (int i = 0; p != AXIS_NONE && i < s->now.base->axes[p].n; i++)
        buf_printf(out, "%s\n", axis_label(&s->now.base->axes[p], i, label, sizeof label));
}

/* With one patch named, the patch under the cursor goes there. */
static bool run_swap(Session *s, const Args *a, Err *err)
{
    char line[128], label[32];
    int p = session_axis(s->now.base, "p");
    if (a->count != 1 || p == AXIS_NONE)
        return as_typed(s, "swap", a, false, err);
    snprintf(line, sizeof line, "swap %s %.60s", axis_label(&s->now.base->axes[p], s->place.at[p], label, sizeof label),
             a->word[0]);
    return change(s, line, false, err);
}

static bool run_patch(Session *s, const Args *a, Err *err)
{
    char line[640];
    const char *from = args_named(a, "from");
    if (a->count != 1 || !from)
        return err_set(err, "expected `patch ADDRESS from=FILE` or from=a");
    Buf more = {0};
    buf_printf(&more, strchr(from, ' ') ? " from=\"%s\"" : " from=%s", from);
    bool ok = full_line(s, "patch", a, buf_str(&more), line, sizeof line, err) && change(s, line, false, err);
    buf_free(&more);
    return ok;
}

static bool run_mask(Session *s, const Args *a, Err *err)
{
    char line[512];
    if (a->count && strcmp(a->word[0], "none") == 0)
        return without(s, begins_with, "mask ", err);
    if (a->count != 1 || strcmp(a->word[0], "causal") == 0)
        return as_typed(s, "mask", a, true, err);
    return full_line(s, "mask", a, "", line, sizeof line, err) && change(s, line, true, err);
}

static bool run_undo(Session *s, const Args *a, Err *err)
{
    (void)a;
    if (!edits_undo(s, err))
        return false;
    report(s);
    return true;
}

static bool run_redo(Session *s, const Args *a, Err *err)
{
    (void)a;
    if (!edits_redo(s, err))
        return false;
    report(s);
    return true;
}

static bool run_reset(Session *s, const Args *a, Err *err)
{
    if (a->count && strcmp(a->word[0], "view") == 0) {
        s->look = screen_look_start();
        return true;
    }
    if (a->count && strcmp(a->word[0], "edits") != 0)
        return err_set(err, "column %d: expected edits or view, found '%s'", a->column[0], a->word[0]);
    return without(s, begins_with, "", err);
}

static bool run_edits(Session *s, const Args *a, Err *err)
{
    (void)a;
    (void)err;
    report(s);
    return true;
}

static const Command COMMANDS[] = {
    {"set", "change", "set scale off, on, toggle, xF [at=ADDRESS] | precision f32, bf16, f16 | ADDRESS VALUE",
     "take 1/√d_k away, multiply it, round every stored tensor, or set cells to a value", COMMAND_EDIT, run_set, NULL},
    {"ablate", "change", "ablate [ADDRESS [mean]]",
     "switch off a head (at z, before W_O), token, node; without address: what is in focus", COMMAND_EDIT, run_ablate,
     NULL},
    {"restore", "change", "restore [ADDRESS]", "switch it on again", COMMAND_EDIT, run_restore, NULL},
    {"skip", "change", "skip mlp, attention, layernorm, residual, positions [block=N]", "leave a part out",
     COMMAND_EDIT, run_skip, NULL},
    {"mask", "change", "mask causal, none, ADDRESS", "forbid tokens to look: −∞ before the softmax", COMMAND_EDIT,
     run_mask, NULL},
    {"shuffle", "change", "shuffle [seed=N]", "the patches in another order, before positions are added", COMMAND_EDIT,
     run_shuffle, NULL},
    {"grey", "change", "grey [PATCH]", "paint a patch of the picture grey; without a name: the one under the cursor",
     COMMAND_EDIT, run_grey, NULL},
    {"hide", "change", "hide [PATCH …, not PATCH …, random SHARE [seed=N]]",
     "put the mask token in patches' places; without a name: the patch under the cursor", COMMAND_EDIT, run_hide,
     complete_hide},
    {"swap", "change", "swap [PATCH] PATCH",
     "move a patch of the picture to another's place; without the first: the one under the cursor", COMMAND_EDIT,
     run_swap, NULL},
    {"patch", "change", "patch ADDRESS from=FILE, from=a", "put values of a file or of A in a node's place",
     COMMAND_EDIT, run_patch, NULL},
    {"undo", "change", "undo", "take the last change back", COMMAND_EDIT, run_undo, NULL},
    {"redo", "change", "redo", "do it again", COMMAND_EDIT, run_redo, NULL},
    {"reset", "change", "reset edits, view", "all changes away, or the view as at the start", COMMAND_EDIT, run_reset,
     NULL},
    {"edits", "change", "edits", "list the changes in force", 0, run_edits, NULL},
};

CommandTable session_commands_change(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS)};
}
