/* What tokens are like at every place of a stack: which are alike, along what they differ, how long they are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/session/ask/say.h"
#include "core/session/difference.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/screens.h"

/* The embedding of the stack that the focus is in; the first one where that side has no such stack. */
static int embedding(const Session *s, const Graph *g)
{
    int of = anatomy_of(session_base(s), s->place.path), first = anatomy_next(g, NO_PART, PART_EMBEDDING);
    const char *stack = of == NO_PART ? "" : anatomy_part(session_base(s), of)->stack;
    for (int e = first; e != NO_PART; e = anatomy_next(g, e, PART_EMBEDDING))
        if (strcmp(anatomy_part(g, e)->stack, stack) == 0)
            return e;
    return first;
}

const char *alike_path(const Session *s, Side side, int row, Site site)
{
    const Graph *g = session_graph(s, side);
    int part = row == ALIKE_PIXELS ? anatomy_next(g, NO_PART, PART_INPUT) : embedding(s, g);
    if (part != NO_PART && row > LENS_START)
        part = anatomy_block(g, anatomy_part(g, part)->stack, row);
    return part == NO_PART ? NULL : site_path(g, part, site);
}

int alike_row(const Session *s)
{
    const char *pixels = alike_path(s, SIDE_B, ALIKE_PIXELS, SITE_ALIKE_COSINE);
    return pixels && strcmp(pixels, s->place.path) == 0 ? ALIKE_PIXELS : session_block(s);
}

/* What the lengths are of: the root of the sum of the squares of the pixels. */
static const char *pixels_of(const Graph *g, const char *norm)
{
    NodeId n = norm ? graph_find(g, norm) : NO_NODE;
    for (int i = 0; i < 3 && n != NO_NODE; i++)
        n = graph_node(g, n)->in[0];
    return n == NO_NODE ? NULL : graph_node(g, n)->path;
}

const char *alike_tokens(const Session *s, Side side, int row)
{
    const Graph *g = session_graph(s, side);
    if (row == ALIKE_PIXELS)
        return pixels_of(g, alike_path(s, side, row, SITE_ALIKE_NORM));
    int part = embedding(s, g), block = row == LENS_START ? 0 : row;
    part = part == NO_PART ? NO_PART : anatomy_block(g, anatomy_part(g, part)->stack, block);
    return part == NO_PART ? NULL : site_path(g, part, row == LENS_START ? SITE_RESID_PRE : SITE_BLOCK_OUT);
}

static bool fits_alike(const Graph *g, NodeId n)
{
    return screen_is_site(g, n, SITE_ALIKE_COSINE);
}

/* The tokens' axis, and the same as those compared with. */
static Dims dims_of(const Session *s)
{
    const char *path = alike_path(s, SIDE_B, LENS_START, SITE_ALIKE_COSINE);
    NodeId n = session_node(s, SIDE_B, path);
    return n == NO_NODE ? DIMS_SCALAR : graph_node(session_graph(s, SIDE_B), n)->dims;
}

/* The cursor's number is that of the picked token with itself: the picture is of all others. */
static void follow(Session *s)
{
    Dims d = dims_of(s);
    if (d.n == 2)
        s->place.at[d.axis[1]] = s->place.at[d.axis[0]];
}

static bool pick(Session *s, const Args *a, int i, Err *err)
{
    const Axis *tokens = &session_base(s)->axes[dims_of(s).axis[0]];
    int at;
    char last[64];
    if (a->count <= i)
        return true;
    if (!axis_parse(tokens, a->word[i], &at))
        return err_set(err, "column %d: expected a patch or word such as %s, found '%s'", a->column[i],
                       axis_label(tokens, tokens->n - 1, last, sizeof last), a->word[i]);
    session_set_index(s, dims_of(s).axis[0], at);
    session_sync(s, dims_of(s).axis[0]);
    return true;
}

/* The first place: a picture's pixels. */
static int first_row(const Session *s)
{
    return alike_path(s, SIDE_B, ALIKE_PIXELS, SITE_ALIKE_COSINE) ? ALIKE_PIXELS : LENS_START;
}

/* `alike [start, N, +1] [TOKEN]`; of a picture `alike pixels` too: the usage, which readers of texts see as well, says
 * nothing of pixels. */
static bool run_alike(Session *s, const Args *a, Err *err)
{
    int here = alike_row(s), last = session_blocks(s) - 1, row, first = first_row(s);
    const char *word = a->count ? a->word[0] : "", *path;
    bool relative = false, pixels = strcmp(word, "pixels") == 0, start = pixels || strcmp(word, "start") == 0;
    here = here != LENS_START || s->place.screen == SCREEN_ALIKE ? here : last;
    row = pixels ? ALIKE_PIXELS : start ? LENS_START : here;
    if (*word && !start && !args_number(word, &row, &relative))
        return err_set(err, "column %d: expected %sstart or a block, 0 to %d, found '%s'", a->column[0],
                       first == ALIKE_PIXELS ? "pixels, " : "", last, word);
    row = relative ? clamp(here + row, first, last) : row;
    path = row < first || row > last ? NULL : alike_path(s, SIDE_B, row, SITE_ALIKE_COSINE);
    if (!path && dims_of(s).n != 2)
        return err_set(err, "this model has no tokens to compare");
    if (!path && pixels)
        return err_set(err, "column %d: this model sees no pixels", a->column[0]);
    if (!path)
        return err_set(err, "column %d: there is no block %d: they go from 0 to %d", a->column[0], row, last);
    char kept[SESSION_PATH];
    snprintf(kept, sizeof kept, "%s", path);
    Place before = s->place;
    if (pick(s, a, 1, err) && screen_go(s, SCREEN_ALIKE, kept, err)) {
        follow(s);
        place_find_box(s);
        return true;
    }
    s->place = before;
    return false;
}

/* Of words, which stand below each other, left and right lead to another place. */
static void move_alike(Session *s, int dy, int dx)
{
    Dims d = dims_of(s);
    const Axis *tokens = &session_base(s)->axes[d.axis[0]];
    if (tokens->kind == AXIS_PATCH)
        move_on_grid(s, tokens->role, dy, dx);
    else {
        int row = clamp(alike_row(s) + dx, first_row(s), session_blocks(s) - 1);
        snprintf(s->place.path, sizeof s->place.path, "%s", alike_path(s, SIDE_B, row, SITE_ALIKE_COSINE));
        place_find_box(s);
        s->place.at[d.axis[0]] = clamp(s->place.at[d.axis[0]] + dy, 0, tokens->n - 1);
        session_sync(s, d.axis[0]);
    }
    follow(s);
}

static size_t most_alike(const float *row, size_t count, size_t self, int sign)
{
    size_t best = self ? 0 : count > 1;
    for (size_t i = 0; i < count; i++)
        best = i != self && (float)sign * row[i] > (float)sign * row[best] ? i : best;
    return best;
}

/* Into the cosine with the token that is most alike. */
static bool enter_alike(Session *s, Err *err)
{
    Dims d = dims_of(s);
    size_t n = (size_t)session_base(s)->axes[d.axis[0]].n, self = (size_t)s->place.at[d.axis[0]];
    const float *x = session_need(s, SIDE_B, s->place.path, err);
    if (!x)
        return false;
    s->place.at[d.axis[1]] = (int)most_alike(x + self * n, n, self, 1);
    return session_go(s, s->place.path, SCREEN_EXPLAIN, err);
}

static bool next_alike(Session *s, Err *err)
{
    if (session_base(s)->axes[dims_of(s).axis[0]].kind != AXIS_PATCH)
        return err_set(err, "cosine, colour and length of a word stand side by side: there is no other view");
    s->look.alike.first = (s->look.alike.first + 1) % ALIKE_FIRSTS;
    return true;
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The longest of all tokens, those in front of the patches too, beside the median. */
static bool say_norms(const Teller *t, int row)
{
    NodeId n;
    char label[64];
    const float *x = teller_values(t, alike_path(t->s, t->side, row, SITE_ALIKE_NORM), &n);
    if (!x)
        return false;
    size_t count = graph_cells(t->g, n), top = largest_of(x, count);
    float *sorted = xmalloc(size_mul(count, sizeof *sorted));
    memcpy(sorted, x, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    float median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    free(sorted);
    buf_printf(t->out, " The longest vector is that of %s, ",
               axis_label(&t->g->axes[graph_node(t->g, n)->dims.axis[0]], (int)top, label, sizeof label));
    ask_put_short(t->out, x[top]);
    buf_puts(t->out, "; the median is ");
    ask_put_short(t->out, median);
    buf_putc(t->out, '.');
    return true;
}

static bool say_alike(const Teller *t)
{
    Dims d = graph_node(t->g, t->n)->dims;
    const Axis *tokens = &t->g->axes[d.axis[0]];
    size_t self = (size_t)teller_on(t, d.axis[0]), count;
    const float *row = teller_row(t, t->x, t->n, self * (size_t)tokens->n, &count);
    size_t best = most_alike(row, count, self, 1), least = most_alike(row, count, self, -1);
    int at = alike_row(t->s);
    char label[64];
    if (count < 2) {
        buf_puts(t->out, "There is one token only: nothing to compare it with.");
        return true;
    }
    if (at == ALIKE_PIXELS)
        buf_puts(t->out, "Of the pixels alone");
    else
        buf_printf(t->out, at < 0 ? "Before block %d" : "After block %d", at < 0 ? 0 : at);
    buf_printf(t->out, ", the mean of all taken away, %s is most like ",
               axis_label(tokens, (int)self, label, sizeof label));
    buf_printf(t->out, "%s (cosine ", axis_label(tokens, (int)best, label, sizeof label));
    ask_put_short(t->out, row[best]);
    buf_printf(t->out, ") and least like %s (", axis_label(tokens, (int)least, label, sizeof label));
    ask_put_short(t->out, row[least]);
    buf_puts(t->out, "). Of all that the tokens differ by, three components hold ");
    for (int k = 0; k < 3; k++) {
        float share;
        if (!teller_value(t, alike_path(t->s, t->side, at, (Site)(SITE_ALIKE_SHARE + k)), &share))
            return false;
        buf_printf(t->out, "%s%.0f %%", k == 2 ? " and " : k ? ", " : "", 100 * (double)share);
    }
    buf_putc(t->out, '.');
    return say_norms(t, at);
}

/* The numbers that the picked token's colour is made of: how far it went along each direction. */
static void say_picked(const Session *s, const char *path, Buf *out)
{
    const Dims d = dims_of(s);
    const Axis *tokens = &session_base(s)->axes[d.axis[0]];
    const int at = s->place.at[d.axis[0]];
    char label[64];
    buf_printf(out, " The change of %s, less the mean change, along these directions, in the tokens' own units:",
               axis_label(tokens, at, label, sizeof label));
    for (int k = 0; k < 3; k++) {
        buf_puts(out, k ? ", " : " ");
        ask_put_short(out, difference_changed(s, path, (Site)(SITE_ALIKE_COMPONENT + k))[at]);
    }
    buf_putc(out, '.');
}

/* Along what tokens changed in different ways from A to B, and which one changed most. */
static void say_changed(Session *s, Buf *out)
{
    const char *path = alike_tokens(s, SIDE_DIFF, alike_row(s));
    NodeId n = session_node(s, SIDE_DIFF, path);
    if (n == NO_NODE || !difference_changed_step(s, path, CLOCK_NEVER))
        return;
    const Axis *tokens = &session_graph(s, SIDE_B)->axes[graph_node(session_graph(s, SIDE_B), n)->dims.axis[0]];
    const float *length = difference_changed(s, path, SITE_ALIKE_NORM);
    const size_t most = largest_of(length, (size_t)tokens->n);
    char label[64];
    if (length[most] == 0) {
        buf_puts(out, "\nFrom A to B no token changed there.");
        return;
    }
    buf_printf(out, "\nFrom A to B %s changed most, by ", axis_label(tokens, (int)most, label, sizeof label));
    ask_put_short(out, length[most]);
    buf_puts(out, " in length. Of all that the changes differ by, components hold");
    for (int k = 0; k < 3; k++) {
        const double share = (double)difference_changed(s, path, (Site)(SITE_ALIKE_SHARE + k))[0];
        if (!isnan(share)) /* nothing was left to share out */
            buf_printf(out, "%s %.0f %%", k ? "," : "", 100 * share);
    }
    buf_putc(out, '.');
    say_picked(s, path, out);
}

static const char *first_word(int i)
{
    static const char *const WORDS[] = {"cosine", "colours", "lengths"};
    return i < ALIKE_FIRSTS ? WORDS[i] : NULL;
}

static const LookOption OPTIONS[] = {
    {.name = "alike-first", .kind = OPTION_WORD, .at = LOOK(alike.first), .word = first_word}, {.name = NULL}};

static const Command OWN = COMMAND("alike", "learned", "alike [start, N, +1, -1] [TOKEN]",
                                   "show which tokens are alike before and after each block, and how they differ",
                                   COMMAND_SESSION, run_alike, NULL);

SCREEN_SPEC(ALIKE, .name = "alike", .about = "which tokens are alike, block by block", .group = GROUP_LEARNED,
            .command = "alike", .own = {&OWN, 1, NULL}, .fits = fits_alike, .move = move_alike, .enter = enter_alike,
            .next = next_alike, .off = OFF_PATCH, .say = say_alike, .say_change = say_changed, .tell = tell_tensor,
            .options = OPTIONS);
