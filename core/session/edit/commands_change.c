/* Commands that change the model or the picture. Each becomes a line in the list of edits, by its verb's row (verbs.h);
 * `undo` takes the last change back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/command.h"
#include "core/session/edit/verbs.h"
#include "core/session/options.h"
#include "core/session/screens/patches.h"

/* The one change in force in words, where there are words for it. Short: it stands on one line of a small screen.
 * Beside a pinned picture A is not what was before. */
static bool report_words(Session *s)
{
    Args a;
    const char *name;
    if (s->edits.count != 1 || session_pinned(s) || !args_parse(&a, s->edits.line[0], &name, NULL))
        return false;
    const EditVerb *v = edit_verb(name, a.count ? a.word[0] : "");
    return v && v->report && v->report(s, &a);
}

/* Where the reader stands A and B are the same: the later step that the change begins at, or NULL. */
static const Box *begins_later(const Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, s->place.path);
    int here = s->stages.boxes[s->place.box].step, first = NO_BOX;
    if (session_pinned(s) || n == NO_NODE || graph_node(g, n)->origin == NO_NODE)
        return NULL;
    for (int i = 0; i < s->stages.count; i++) {
        const Box *b = &s->stages.boxes[i];
        bool changed = b->child == NO_BOX && graph_node(g, b->show)->origin == NO_NODE;
        if (changed && (first == NO_BOX || b->step < s->stages.boxes[first].step))
            first = i;
    }
    for (int up = first; up != NO_BOX && !stages_is_block(&s->stages, up); up = s->stages.boxes[up].parent)
        first = up; /* the step that it is in */
    return first != NO_BOX && s->stages.boxes[first].step > here ? &s->stages.boxes[first] : NULL;
}

/* What was done, and after it where it shows: both on one line of a small screen. */
static void report(Session *s)
{
    if (!s->edits.count) {
        session_say(s, "All changes are undone.");
        return;
    }
    const Box *later = begins_later(s);
    if (!report_words(s)) {
        session_say(s, "In force: ");
        for (int i = 0; i < s->edits.count; i++)
            buf_printf(&s->said, "%s%s", i ? "; " : "", s->edits.line[i]);
        buf_puts(&s->said, ".  u undoes");
    } else if (later) { /* the first part of the sentence: the rest is of what shows here */
        const char *rest = strrchr(buf_str(&s->said), ':');
        rest = rest ? rest : strrchr(buf_str(&s->said), '.');
        session_say(s, "%.*s.", (int)(rest - buf_str(&s->said)), buf_str(&s->said));
    }
    if (later)
        buf_printf(&s->said, " It shows from step %d, %s: %dG", later->step, later->label, later->step);
}

static bool change(Session *s, const char *line, bool toggle, Err *err)
{
    if (!edits_add(s, line, toggle, err))
        return false;
    report(s);
    return true;
}

/* Is `line` the edit `start` itself, of some of its cells, or of a part of it? "ablate blocks.1" is no beginning of
 * "ablate blocks.10.…", nor "set scale" of "set scaled". */
static bool is_of(const char *line, const char *start)
{
    size_t n = strlen(start);
    return !n || (strncmp(line, start, n) == 0 && (!line[n] || strchr("[ .", line[n])));
}

/* The state without the lines that begin so, and with one more (NULL: none). */
static bool without(Session *s, const char *start, const char *more, Err *err)
{
    EditState next = edit_state_copy(&s->edits);
    int before = next.count;
    for (int i = next.count - 1; i >= 0; i--)
        if (is_of(next.line[i], start))
            edit_state_remove(&next, i);
    if (more)
        edit_state_add(&next, more);
    bool ok = (!more && before == next.count) || edits_apply(s, &next, true, err);
    edit_state_free(&next);
    if (ok && more && s->compare == COMPARE_OFF)
        s->compare = COMPARE_SIDES;
    if (ok)
        report(s);
    return ok;
}

/* The line as typed, with the verb's name in front. */
static bool as_typed(const char *name, const Args *a, char line[EDIT_LINE], Err *err)
{
    const char *rest = a->rest + strspn(a->rest, " ");
    return edit_line(line, err, "%s%s%s", name, *rest ? " " : "", rest);
}

static void trim(char *line)
{
    size_t n = strlen(line);
    while (n && line[n - 1] == ' ')
        line[--n] = 0;
}

/* Any edit verb: the lines of it away, or one line more. */
static bool run_edit(Session *s, const Args *a, Err *err)
{
    char line[EDIT_LINE];
    const EditVerb *v = edit_verb(a->command->name, a->count ? a->word[0] : "");
    REQUIRE(v);
    int at = strchr(v->words, ' ') ? 1 : 0; /* the word behind the verb's own */
    const char *word = a->count > at ? a->word[at] : "";
    bool toggle = strcmp(word, "toggle") == 0 && v == &VERB_SET_SCALE;
    if (v->none && strcmp(word, v->none) == 0)
        return without(s, v->words, NULL, err);
    if (toggle)
        return change(s, "set scale off", true, err);
    if (!(v->print ? v->print(s, a, line, err) : as_typed(a->command->name, a, line, err)))
        return false;
    trim(line);
    if (strncmp(line, "set ", strlen("set ")) == 0 && edits_in_force(s, line)) {
        float factor;
        const bool times = v == &VERB_SET_SCALE && *word == 'x' && parse_number(word + 1, &factor);
        session_say(s, "Already in force: %s%s.  u undoes", line,
                    times ? ", a multiple of the model's own factor" : "");
        return true;
    }
    if (v->alone)
        return without(s, v->words, line, err);
    return change(s, line, v->twice == TWICE_TOGGLES, err);
}

/* `patch all`: every head, MLP or token of A in turn; else one edit. */
static bool run_patch(Session *s, const Args *a, Err *err)
{
    if (a->count && strcmp(a->word[0], "all") == 0)
        return patches_command(s, a, err);
    return run_edit(s, a, err);
}

static void complete_patch(const Session *s, int index, Buf *out)
{
    (void)s;
    buf_puts(out, index == 0 ? "all\n" : index == 1 ? "heads\ntokens\n" : "");
}

static bool run_ablate(Session *s, const Args *a, Err *err)
{
    char line[EDIT_LINE];
    if (a->count)
        return run_edit(s, a, err);
    return edit_focus(s, line, err) && change(s, line, true, err);
}

static bool run_restore(Session *s, const Args *a, Err *err)
{
    char line[EDIT_LINE];
    if (a->count == 0) {
        if (!edit_focus(s, line, err))
            return false;
        return edits_has(s, line) ? change(s, line, true, err) : err_set(err, "what is in focus is not switched off");
    }
    if (!edit_print_address(s, VERB_ABLATE.words, a, "", line, err))
        return false;
    for (int i = 0; i < s->edits.count; i++)
        if (is_of(s->edits.line[i], line))
            return without(s, line, NULL, err);
    return err_set(err, "column %d: '%s' is not switched off", a->column[0], a->word[0]);
}

static void complete_places(const Session *s, int index, Buf *out)
{
    char label[32];
    int p = edit_place_axis(s);
    (void)index;
    for (int i = 0; p != AXIS_NONE && i < session_base(s)->axes[p].n; i++)
        buf_printf(out, "%s\n", axis_label(&session_base(s)->axes[p], i, label, sizeof label));
}

/* The words for parts of this model: "cross-attention". */
static void complete_parts(const Session *s, int index, Buf *out)
{
    const Graph *g = session_base(s);
    for (int i = 0; index == 0 && i < anatomy_count(g); i++) {
        const Part *p = anatomy_part(g, i);
        char word[64];
        if (p->kind != PART_NORM && (p->kind != PART_ATTENTION || !strchr(p->word, ' ')))
            continue;
        snprintf(word, sizeof word, "%s", p->kind == PART_NORM ? edit_part_own(p) : p->word);
        for (char *c = word; *c; c++)
            *c = *c == ' ' ? '-' : *c;
        if (!strstr(buf_str(out), word))
            buf_printf(out, "%s\n", word);
    }
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
        s->look = look_start();
        return true;
    }
    if (a->count && strcmp(a->word[0], "edits") != 0)
        return err_set(err, "column %d: expected edits or view, found '%s'", a->column[0], a->word[0]);
    return without(s, "", NULL, err);
}

/* `edits drop N`: one line away, whichever verb's it is. */
static bool drop(Session *s, const Args *a, Err *err)
{
    char *end = NULL;
    long n = a->count > 1 ? strtol(a->word[1], &end, 10) : 0;
    if (a->count != 2 || strcmp(a->word[0], "drop") != 0)
        return err_set(err, "expected nothing, or drop and the number of a change");
    if (end == a->word[1] || *end || n < 1 || n > s->edits.count)
        return err_set(err, "column %d: there is no change '%s': %d are in force", a->column[1], a->word[1],
                       s->edits.count);
    EditState next = edit_state_copy(&s->edits);
    edit_state_remove(&next, (int)n - 1);
    bool ok = edits_apply(s, &next, true, err);
    edit_state_free(&next);
    return ok;
}

static bool run_edits(Session *s, const Args *a, Err *err)
{
    if (a->count && !drop(s, a, err))
        return false;
    report(s);
    return true;
}

static const Command COMMANDS[] = {
    COMMAND("set", "change", "set scale off, on, toggle, xF [at=ADDRESS] | precision f32, bf16, f16 | ADDRESS VALUE",
            "take 1/√d_k away, multiply it, round every stored tensor, or set cells to a value", COMMAND_EDIT, run_edit,
            NULL),
    COMMAND("ablate", "change", "ablate [ADDRESS [mean]]",
            "switch off a head (at z, before W_O), token, node; without address: what is in focus", COMMAND_EDIT,
            run_ablate, NULL),
    COMMAND("restore", "change", "restore [ADDRESS]", "switch it on again", COMMAND_EDIT, run_restore, NULL),
    COMMAND("skip", "change",
            "skip block, mlp, attention, layernorm, rmsnorm, ln1, residual, positions [block=N] [stack=NAME]",
            "leave a part out", COMMAND_EDIT, run_edit, complete_parts),
    COMMAND("mask", "change", "mask causal, none, ADDRESS", "forbid tokens to look: −∞ before the softmax",
            COMMAND_EDIT, run_edit, NULL),
    COMMAND("shuffle", "change", "shuffle [seed=N]", "put the patches into another order, before positions are added",
            COMMAND_EDIT | COMMAND_PICTURES, run_edit, NULL),
    COMMAND("grey", "change", "grey [PATCH]",
            "paint a patch of the picture grey; without a name: the one under the cursor",
            COMMAND_EDIT | COMMAND_PICTURES, run_edit, complete_places),
    COMMAND("hide", "change", "hide [PATCH …, not PATCH …, random SHARE [seed=N]]",
            "replace patches by the mask token; without a name: the patch under the cursor",
            COMMAND_EDIT | COMMAND_PICTURES, run_edit, complete_places),
    COMMAND("swap", "change", "swap [PATCH] PATCH",
            "move a patch of the picture to another's place; without the first: the one under the cursor",
            COMMAND_EDIT | COMMAND_PICTURES, run_edit, complete_places),
    COMMAND("patch", "change", "patch ADDRESS from=FILE, from=FILE:TENSOR, from=a | all [heads, tokens]",
            "replace the values of a node, a head or a token by those of a file or of A; all: see patching",
            COMMAND_EDIT | COMMAND_READ, run_patch, complete_patch),
    COMMAND("undo", "change", "undo", "undo the last change", COMMAND_EDIT, run_undo, NULL),
    COMMAND("redo", "change", "redo", "redo the change that was undone last", COMMAND_EDIT, run_redo, NULL),
    COMMAND("reset", "change", "reset edits, view", "undo all changes, or show the view as at the start", COMMAND_EDIT,
            run_reset, NULL),
    COMMAND("edits", "change", "edits [drop N]", "list the changes in force, or undo one of them", COMMAND_EDIT,
            run_edits, NULL),
};

CommandTable session_commands_change(void)
{
    return (CommandTable){COMMANDS, (int)(sizeof COMMANDS / sizeof *COMMANDS), NULL};
}
