/* What the model would name after each block, and before the first. */
#include <stdio.h>
#include <string.h>

#include "core/eval/batch_run.h"
#include "core/models/text_model.h"
#include "core/session/ask/say.h"
#include "core/session/learned/measures.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/screens.h"

int lens_blocks(const Session *s, Side side)
{
    const Graph *g = session_graph(s, side);
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_BLOCK)) != NO_PART;)
        if (site_node(g, p, SITE_LENS_PROBS) != NO_NODE)
            return anatomy_blocks(g, anatomy_part(g, p)->stack);
    return session_blocks_on(s, side);
}

static const char *lens_site(const Session *s, Side side, int row, Site lens, Site answer)
{
    const Graph *g = session_graph(s, side);
    int part = anatomy_next(g, NO_PART, PART_EMBEDDING), with = site_part(g, lens);
    if (row >= lens_blocks(s, side))
        return site_path_any(g, answer);
    if (row != LENS_START) /* of two stacks one ends in the answer */
        part = anatomy_block(g, with == NO_PART ? NULL : anatomy_part(g, with)->stack, row);
    return site_node(g, part, lens) == NO_NODE ? NULL : site_path(g, part, lens);
}

const char *lens_path(const Session *s, Side side, int row)
{
    return lens_site(s, side, row, SITE_LENS_PROBS, SITE_PROBS);
}

const char *lens_logits(const Session *s, Side side, int row)
{
    return lens_site(s, side, row, SITE_LENS_LOGITS, SITE_LOGITS);
}

const char *lens_mid(const Session *s, Side side, int row)
{
    bool in_block = row >= 0 && row < lens_blocks(s, side);
    return in_block ? lens_site(s, side, row, SITE_LENS_MID, SITE_LOGITS) : NULL;
}

static bool fits_lens(const Graph *g, NodeId n)
{
    return screen_is_site(g, n, SITE_LENS_PROBS);
}

/* The read-out that the first word names; that of the block in focus where there is none. NULL: the model has none. */
static bool lens_word(const Session *s, const Args *a, const char **path, Err *err)
{
    const char *answer = site_path_any(session_base(s), SITE_PROBS), *word = a->count ? a->word[0] : "";
    int block = session_block(s), last = lens_blocks(s, SIDE_B) - 1;
    bool relative, start = strcmp(word, "start") == 0, end = strcmp(word, "answer") == 0;
    if (*word && !start && !end && (!args_number(word, &block, &relative) || relative || block < 0 || block > last))
        return err_set(err, "column %d: expected start, a block, 0 to %d, or answer, found '%s'", a->column[0], last,
                       word);
    *path = end ? NULL : lens_path(s, SIDE_B, start ? LENS_START : block < 0 || block > last ? last : block);
    *path = *path ? *path : answer;
    return true;
}

static bool tokens_there(Session *s, int on, Err *err)
{
    const Graph *g = session_base(s);
    const NodeId probs = site_node_any(g, SITE_PROBS);
    return !on || (probs != NO_NODE && node_role(g, probs, ROLE_QUERY) != AXIS_NONE) ||
           err_set(err, "this model has one answer, not one behind every token: `lens` shows it block by block");
}

/* Behind every token the word is the one that the model itself names there: no other was asked for. */
static void pick_of_token(Session *s)
{
    if (s->look.lens.tokens && session_need(s, SIDE_B, site_path_any(session_graph(s, SIDE_B), SITE_PROBS), NULL))
        place_on_answer(s);
}

/* `lens [start, N, answer] [CLASS]`, `lens tokens` */
static bool run_lens(Session *s, const Args *a, Err *err)
{
    const Graph *g = session_base(s);
    const char *path = NULL;
    if (a->count == 1 && strcmp(a->word[0], "tokens") == 0) {
        const int block = session_block(s), last = lens_blocks(s, SIDE_B) - 1;
        path = lens_path(s, SIDE_B, block < 0 || block > last ? last : block);
        if (!path)
            return err_set(err, "%s", session_no_answer(s, SIDE_B));
        const bool ok = tokens_there(s, true, err) && screen_go(s, SCREEN_LENS, path, err);
        s->look.lens.tokens = s->look.lens.tokens || ok;
        if (ok)
            pick_of_token(s);
        return ok;
    }
    int o = graph_role(g, ROLE_ANSWER, SEQUENCE_ANY), picked = 0;
    if (!lens_word(s, a, &path, err))
        return false;
    if (!path || session_node(s, SIDE_B, path) == NO_NODE || o == AXIS_NONE)
        return err_set(err, "%s", session_no_answer(s, SIDE_B));
    if (a->count > 1 && !axis_parse(&g->axes[o], a->word[1], &picked))
        return err_set(err, "column %d: there is no class '%s'", a->column[1], a->word[1]);
    const float *probs = a->count > 1 || s->place.screen == SCREEN_LENS
                             ? NULL
                             : session_need(s, SIDE_B, site_path_any(g, SITE_PROBS), err);
    int token = node_role(g, site_node_any(g, SITE_PROBS), ROLE_QUERY);
    if (probs && token != AXIS_NONE) /* of words the row of the word in focus */
        probs += (size_t)s->place.at[token] * (size_t)g->axes[o].n;
    for (int i = 0; probs && i < g->axes[o].n; i++) /* who comes without naming an answer stands on the model's */
        picked = i == 0 || probs[i] > probs[picked] ? i : picked;
    if (!screen_go(s, SCREEN_LENS, path, err))
        return false;
    if (a->count > 1 || probs)
        s->place.at[o] = picked;
    return true;
}

/* Rows are what would be named before the first block, −1, after each block, and the answer itself. */
static void move_in_lens(Session *s, int dy, int dx)
{
    const Graph *g = session_graph(s, SIDE_B);
    int last = lens_blocks(s, SIDE_B) - 1, block = session_block(s);
    const char *start = lens_path(s, SIDE_B, LENS_START);
    int here = start && strcmp(s->place.path, start) == 0 ? LENS_START : block < 0 ? last + 1 : block;
    int row = clamp(here + dy, start ? LENS_START : 0, last + 1);
    const char *path = row > last ? NULL : lens_path(s, SIDE_B, row);
    path = path ? path : site_path_any(g, SITE_PROBS);
    move_axis(s, s->look.lens.tokens ? ROLE_QUERY : ROLE_ANSWER, dx);
    if (path)
        snprintf(s->place.path, sizeof s->place.path, "%s", path);
    place_find_box(s);
    pick_of_token(s);
}

/* Where every block ends in a norm (Vaswani et al. 2017) there is none behind the last one, and the lens has none. */
static bool has_last_norm(const Graph *g)
{
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_NORM)) != NO_PART;)
        if (anatomy_part(g, p)->block == NO_BLOCK && site_path(g, p, SITE_IN) &&
            site_is(g, site_path(g, p, SITE_IN), SITE_BLOCK_OUT))
            return true;
    return false;
}

/* What the row below the others is, where there is one. */
static void say_other(const Teller *t)
{
    if (!site_path_any(t->g, SITE_OTHER_PROBS) || t->s->look.lens.tokens)
        return;
    const bool mean = readout_used(session_exhibit(t->s, t->side)->model) == READOUT_CLASS_TOKEN;
    buf_printf(t->out, " The row below the answer is what the head names from %s instead of %s.",
               mean ? "the mean of the patches" : "the class token",
               mean ? "the class token" : "the mean of the patches");
}

static bool say_lens(const Teller *t)
{
    char best[64], here[64];
    int block = session_block(t->s), picked = teller_index(t, ROLE_ANSWER);
    size_t count;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count); /* of a text: that of the word at the cursor */
    size_t top = largest_of(row, count);
    bool readout = site_is(t->g, t->s->place.path, SITE_PROBS);
    const char *end = has_last_norm(t->g) ? "its own last norm and head" : "its own head";
    if (readout)
        buf_puts(t->out, "The answer names ");
    else if (block < 0)
        buf_printf(t->out, "Without any block, only with %s, the model would name ", end);
    else
        buf_printf(t->out, "If the model ended after block %d, with %s, it would name ", block, end);
    buf_printf(t->out, "%s with probability ", teller_label(t, ROLE_ANSWER, (int)top, best));
    ask_put_short(t->out, row[top]);
    if ((int)top != picked) {
        buf_printf(t->out, "; %s has ", teller_label(t, ROLE_ANSWER, picked, here));
        ask_put_short(t->out, t->x[t->cell]);
    }
    buf_putc(t->out, '.');
    const int blocks = lens_blocks(t->s, t->side), lens = readout ? blocks : block + 1; /* −1: before the first */
    char share[48];
    if (session_lens_known(t->s, blocks) && lens <= blocks && session_as_trained(t->s, t->side)) {
        const size_t over = session_figures_over(t->s), right = session_figure(t->s, FIGURE_LENS, lens).right;
        buf_printf(t->out, " Read out there, it names %s of %zu held-out %s right.",
                   measure_share_text(right, over, share, sizeof share), over, session_measured_over(t->s));
    }
    say_other(t);
    return true;
}

static const LookOption OPTIONS[] = {{"lens-tokens", OPTION_SWITCH, LOOK(lens.tokens), NULL, tokens_there, 0},
                                     {.name = NULL}};

static const Command OWN = COMMAND("lens", "learned", "lens [start, N, answer, tokens] [NAME]",
                                   "show what the model would name after each block, and by its other read-out",
                                   COMMAND_SESSION, run_lens, NULL);

SCREEN_SPEC(LENS, .name = "lens", .about = "what the model would name after each block, and by its other read-out",
            .group = GROUP_LEARNED, .shipped = true, .command = "lens", .own = {&OWN, 1, NULL}, .fits = fits_lens,
            .move = move_in_lens, .enter = enter_arithmetic, .next = enter_tensor, .off = OFF_NOTHING,
            .work = measures_step_readout, .say = say_lens, .tell = tell_answer, .options = OPTIONS);
