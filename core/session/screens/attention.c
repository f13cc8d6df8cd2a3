/* Who looks at whom: the sheet of all heads, one head's matrix, one row of it over the picture, and between words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/session/ask/closeup.h"
#include "core/session/ask/say.h"
#include "core/session/input.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/screens.h"
#include "core/session/screens/heads.h"

enum { TOP = 5 };

/* --- coming and going on --- */

static bool fits_row(const Graph *g, NodeId n)
{
    return node_role(g, n, ROLE_QUERY) != AXIS_NONE && node_role(g, n, ROLE_KEY) != AXIS_NONE;
}

/* Words that look at words; patches have a picture to be laid over. */
static bool fits_sentence(const Graph *g, NodeId n)
{
    int asks = node_role(g, n, ROLE_QUERY), keys = node_role(g, n, ROLE_KEY);
    return asks != AXIS_NONE && keys != AXIS_NONE && g->axes[asks].sequence != SEQUENCE_PICTURE &&
           g->axes[asks].sequence != SEQUENCE_NONE && g->axes[keys].sequence != SEQUENCE_PICTURE;
}

/* Who may look at whom at all: its 1 and 0 are a shape. */
static bool fits_matrix(const Graph *g, NodeId n)
{
    return graph_node(g, n)->op == OP_LEAF && fits_sentence(g, n);
}

/* Where a node of attention is shown by itself: as a row over the picture, between words, a mask as a matrix. */
static bool attention_in_focus(const Session *s, Screen *screen)
{
    *screen = session_screen_for(s, s->place.path);
    return *screen == SCREEN_ROW || *screen == SCREEN_SENTENCE || *screen == SCREEN_MATRIX;
}

const char *attention_over_heads(const Session *s, const Graph *g, int block)
{
    char here[SESSION_PATH];
    int part = session_attention(s, g, block);
    const char *pattern = site_path(g, part, SITE_PATTERN);
    bool sum = !s->look.average && s->place.screen == SCREEN_SENTENCE && s->look.sentence.heads == SENTENCE_SUM;
    if (!pattern || (!sum && !s->look.average))
        return NULL;
    session_in_block(g, s->place.path, block < 0 ? session_block(s) : block, here);
    bool other = fits_row(g, graph_find(g, here)) && strcmp(here, pattern) != 0; /* scores, say */
    const char *path = site_path(g, part, sum ? SITE_HEADS_SUM : SITE_MEAN_PATTERN);
    return !other && path && graph_find(g, path) != NO_NODE ? path : NULL;
}

const char *attention_here(const Session *s, Site site)
{
    const Graph *g = session_graph(s, SIDE_B);
    const char *path = site_path(g, session_attention(s, g, -1), site);
    return path && graph_find(g, path) != NO_NODE ? path : NULL;
}

/* false, and says so */
static bool no_attention_here(Err *err)
{
    return err_set(err, "this model has no attention here");
}

/* Attention screens need a node with rows and columns of tokens: the focused block's pattern, if the focus is something
 * else. */
static bool come_attention(Session *s, Screen to, Err *err)
{
    Screen own;
    const char *path = attention_here(s, SITE_PATTERN);
    if (attention_in_focus(s, &own))
        return come_here(s, to, err);
    return path ? session_go(s, path, to, err) : no_attention_here(err);
}

static bool come_sentence(Session *s, Screen to, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    if (graph_role(g, ROLE_QUERY, SEQUENCE_SOURCE) == AXIS_NONE &&
        graph_role(g, ROLE_QUERY, SEQUENCE_TARGET) == AXIS_NONE)
        return err_set(err, "this model reads no words: `view row` lays attention over the picture");
    return come_attention(s, to, err);
}

static bool enter_matrix(Session *s, Err *err)
{
    return come_here(s, SCREEN_MATRIX, err);
}

bool enter_sheet(Session *s, Err *err)
{
    return come_here(s, SCREEN_SHEET, err);
}

static bool enter_row(Session *s, Err *err)
{
    Screen own;
    if (!attention_in_focus(s, &own))
        own = SCREEN_ROW;
    return come_here(s, own == SCREEN_MATRIX ? SCREEN_SENTENCE : own, err);
}

/* The head's own pattern. */
bool enter_pattern(Session *s, Err *err)
{
    const char *path = attention_here(s, SITE_PATTERN);
    if (!path)
        return no_attention_here(err);
    s->look.average = false;
    return session_go(s, path, session_screen_for(s, path), err);
}

/* The arithmetic of what is shown: of the mean or the sum over the heads, where it is that. */
static bool enter_weight(Session *s, Err *err)
{
    const char *all = attention_over_heads(s, session_graph(s, SIDE_B), -1);
    if (!all)
        return enter_arithmetic(s, err);
    if (!session_go(s, all, SCREEN_EXPLAIN, err))
        return false;
    s->place.screen = closeup_there(s) ? SCREEN_CLOSEUP : SCREEN_EXPLAIN;
    return true;
}

/* One head, all of them, their sum; then the matrix, from which one comes back. */
static bool next_sentence(Session *s, Err *err)
{
    s->look.sentence.heads = (s->look.sentence.heads + 1) % SENTENCE_HEADS;
    return s->look.sentence.heads != SENTENCE_ONE || come_here(s, SCREEN_MATRIX, err);
}

/* The same kind of node in another block, where that block has it. */
static void move_to_block(Session *s, int block)
{
    char path[SESSION_PATH];
    session_in_block(session_graph(s, SIDE_B), s->place.path, block, path);
    if (session_node(s, SIDE_B, path) == NO_NODE)
        return;
    place_carry(s, path);
}

/* Heads of all blocks: blocks are rows. */
static void move_on_heads(Session *s, int dy, int dx)
{
    move_axis(s, ROLE_HEAD, dx);
    if (dy)
        move_to_block(s, clamp(session_block(s) + dy, 0, session_blocks(s) - 1));
}

static void move_on_keys(Session *s, int dy, int dx)
{
    move_on_grid(s, ROLE_KEY, dy, dx);
}

static void move_on_matrix(Session *s, int dy, int dx)
{
    move_axis(s, ROLE_QUERY, dy);
    move_axis(s, ROLE_KEY, dx);
}

/* --- what it says --- */

static double highest_entropy(const Teller *t)
{
    return dm_log((double)teller_length(t, ROLE_KEY));
}

/* Mean over the rows of one head. */
static double mean_entropy(const float *entropy, int head, int rows)
{
    double sum = 0;
    for (int i = 0; i < rows; i++)
        sum += (double)entropy[head * rows + i];
    return sum / rows;
}

static bool say_sheet(const Teller *t)
{
    NodeId n;
    const float *entropy = teller_values(t, teller_site(t, SITE_ENTROPY), &n);
    if (!entropy)
        return false;
    int heads = teller_length(t, ROLE_HEAD), rows = teller_length(t, ROLE_QUERY), sharp = 0, flat = 0,
        block = session_block(t->s);
    for (int h = 1; h < heads; h++) {
        sharp = mean_entropy(entropy, h, rows) < mean_entropy(entropy, sharp, rows) ? h : sharp;
        flat = mean_entropy(entropy, h, rows) > mean_entropy(entropy, flat, rows) ? h : flat;
    }
    int at = teller_index(t, ROLE_HEAD);
    buf_printf(t->out,
               "Block %d: head %d has the sharpest rows (mean entropy %.2f of at most %.2f nats), head %d the flattest "
               "(%.2f); head %d has %.2f.",
               block < 0 ? 0 : block, sharp, mean_entropy(entropy, sharp, rows), highest_entropy(t), flat,
               mean_entropy(entropy, flat, rows), at, mean_entropy(entropy, at, rows));
    const HeadPlacesResult *r = session_head_places(t->s);
    return r && r->places == HEAD_PLACES ? say_head_over_pictures(t) : true;
}

static int larger_first(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* "gives its largest weight, .212, to r4c3; the 5 largest of 65 weights carry 63.1 %" */
static void put_row(const Teller *t, const float *row, size_t count)
{
    char label[64];
    size_t best = largest_of(row, count), top = count < TOP ? count : TOP;
    float *sorted = xmalloc(size_mul(count, sizeof *sorted));
    double sum = 0;
    memcpy(sorted, row, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, larger_first);
    for (size_t i = 0; i < top; i++)
        sum += (double)sorted[i];
    free(sorted);
    bool hidden = top < count && sum >= 0.9995; /* what is left out is not nothing */
    buf_puts(t->out, "gives its largest weight, ");
    ask_put_short(t->out, row[best]);
    buf_printf(t->out, ", to %s; the %zu largest of %zu weights carry %s%.1f %%",
               teller_label(t, ROLE_KEY, (int)best, label), top, count, hidden ? ">" : "", hidden ? 99.9 : sum * 100);
}

static void put_head(const Teller *t)
{
    if (t->s->look.average)
        buf_printf(t->out, "The mean of the %d heads of block %d", teller_length(t, ROLE_HEAD), session_block(t->s));
    else
        buf_printf(t->out, "Head %d of block %d", teller_index(t, ROLE_HEAD), session_block(t->s));
}

/* Is every score of the focused row −∞? A row of zeros may also have been set. False when cancelled. */
static bool masked_everywhere(const Teller *t, bool *masked)
{
    NodeId n = graph_find(t->g, teller_site(t, SITE_SCORES_MASKED));
    *masked = n != NO_NODE;
    if (!*masked)
        return true;
    const float *x = ask_need(t->s, t->side, n, t->err);
    size_t count;
    if (!x)
        return false;
    const float *row = teller_row(t, x, n, session_cell(t->s, t->side, n), &count);
    for (size_t i = 0; i < count; i++)
        *masked = *masked && isinf(row[i]) && row[i] < 0;
    return true;
}

/* Was this node of the block made as the model makes it? An edit may have put something else there. */
static bool as_made(const Teller *t, Site site)
{
    NodeId n = graph_find(t->g, teller_site(t, site));
    return n != NO_NODE && !(graph_node(t->g, n)->flags & NODE_EDITED);
}

static bool say_row(const Teller *t)
{
    NodeId n = t->n;
    const float *x = t->s->look.average ? teller_values(t, teller_site(t, SITE_MEAN_PATTERN), &n) : t->x;
    float entropy = 0;
    if (!x || (!t->s->look.average && !teller_value(t, teller_site(t, SITE_ENTROPY), &entropy)))
        return false;
    size_t count;
    const float *row = teller_row(t, x, n, session_cell(t->s, t->side, n), &count);
    put_head(t);
    buf_puts(t->out, ", for query ");
    teller_put_token(t, ROLE_QUERY);
    if (row[largest_of(row, count)] == 0.0f) {
        bool masked;
        if (!masked_everywhere(t, &masked))
            return false;
        buf_printf(t->out, ", gives no weight to any token%s.", masked ? ": the row is masked everywhere" : "");
        return true;
    }
    buf_puts(t->out, ", ");
    put_row(t, row, count);
    if (!t->s->look.average)
        buf_printf(t->out, " (entropy %.2f of at most %.2f nats)", (double)entropy, highest_entropy(t));
    buf_putc(t->out, '.');
    if (!t->s->look.average)
        say_without_scale(t);
    return true;
}

static bool say_matrix(const Teller *t)
{
    char from[64], to[64];
    NodeId n;
    size_t rows = (size_t)teller_length(t, ROLE_QUERY), cols = (size_t)teller_length(t, ROLE_KEY);
    const float *entropy = teller_values(t, teller_site(t, SITE_ENTROPY), &n);
    if (!entropy)
        return false;
    if (!t->s->look.average) {
        const float *head = t->x + t->cell / (rows * cols) * (rows * cols);
        size_t best = largest_of(head, rows * cols);
        put_head(t);
        buf_printf(t->out, ": its %zu rows have a mean entropy of %.2f of at most %.2f nats; its largest weight, ",
                   rows, mean_entropy(entropy, teller_index(t, ROLE_HEAD), (int)rows), highest_entropy(t));
        ask_put_short(t->out, head[best]);
        buf_printf(t->out, ", goes from %s to %s. ", teller_label(t, ROLE_QUERY, (int)(best / cols), from),
                   teller_label(t, ROLE_KEY, (int)(best % cols), to));
    }
    return say_row(t);
}

/* "In head 2 of block 1, asked from patch r3c4," */
static void put_row_asked(const Teller *t)
{
    buf_printf(t->out, "In head %d of block %d, for query ", teller_index(t, ROLE_HEAD), session_block(t->s));
    teller_put_token(t, ROLE_QUERY);
    buf_puts(t->out, ", ");
}

bool say_weight(const Teller *t)
{
    char label[64];
    float score, exponential, sum;
    bool masks = graph_find(t->g, teller_site(t, SITE_SCORES_MASKED)) != NO_NODE, sinks = *teller_site(t, SITE_SINKS);
    Site scores = site_scores(t->g, anatomy_of(t->g, t->s->place.path));
    if (!teller_value(t, teller_site(t, masks ? SITE_SCORES_MASKED : scores), &score) ||
        !teller_value(t, teller_site(t, SITE_EXP), &exponential) ||
        !teller_value(t, teller_site(t, SITE_EXP_SUM), &sum))
        return false;
    size_t count;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    put_row_asked(t);
    buf_printf(t->out, "%s gets a weight of ", teller_label(t, ROLE_KEY, teller_index(t, ROLE_KEY), label));
    ask_put_short(t->out, t->x[t->cell]);
    buf_printf(t->out, ", rank %zu of %zu in its row. Its score is ",
               rank_of(row, count, (size_t)(t->x + t->cell - row)), count);
    ask_put_short(t->out, score);
    buf_puts(t->out, sinks ? ", the exponential of score minus the larger of row maximum and sink is "
                           : ", the exponential of score minus row maximum is ");
    ask_put_short(t->out, exponential);
    buf_puts(t->out, sinks ? ", and the exponentials of the row and of the head's sink add up to "
                           : ", and the exponentials of the row add up to ");
    ask_put_short(t->out, sum);
    buf_putc(t->out, '.');
    return true;
}

bool say_score(const Teller *t)
{
    char label[64];
    float raw, scaled, scale, weight, with_bias = 0;
    bool biased = graph_find(t->g, teller_site(t, SITE_SCORES_BIASED)) != NO_NODE;
    if (biased && !teller_value(t, teller_site(t, SITE_SCORES_BIASED), &with_bias))
        return false;
    if (!teller_value(t, teller_site(t, SITE_SCORES_RAW), &raw) ||
        !teller_value(t, teller_site(t, SITE_SCORES_SCALED), &scaled) ||
        !teller_value(t, teller_site(t, SITE_SCALE), &scale) || !teller_value(t, teller_site(t, SITE_PATTERN), &weight))
        return false;
    size_t count;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    put_row_asked(t);
    buf_printf(t->out, "%s has a raw score of ", teller_label(t, ROLE_KEY, teller_index(t, ROLE_KEY), label));
    ask_put_short(t->out, raw);
    if (as_made(t, SITE_SCORES_SCALED)) {
        buf_puts(t->out, "; times ");
        ask_put_short(t->out, scale);
        buf_puts(t->out, " it is ");
    } else
        buf_puts(t->out, "; the scaled score was changed to ");
    ask_put_short(t->out, scaled);
    if (biased) {
        buf_puts(t->out, "; with the relative position bias it is ");
        ask_put_short(t->out, with_bias);
    }
    if (isinf(t->x[t->cell]))
        buf_puts(t->out, ", and it is masked");
    else
        buf_printf(t->out, ", rank %zu of %zu in its row", rank_of(row, count, (size_t)(t->x + t->cell - row)), count);
    buf_puts(t->out, as_made(t, SITE_PATTERN) ? "; softmax makes it a weight of " : "; its weight is ");
    ask_put_short(t->out, weight);
    buf_putc(t->out, '.');
    return true;
}

static bool say_score_row(const Teller *t)
{
    char high[64], low[64];
    float variance;
    if (!teller_value(t, teller_site(t, SITE_SCORE_VARIANCE), &variance))
        return false;
    size_t count, best, worst = SIZE_MAX;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    /* of raw scores, those that a mask leaves: the others enter no softmax */
    const float *left = session_peek(t->s, t->side, teller_site(t, SITE_SCORES_MASKED));
    left = left && left != t->x ? left + (row - t->x) : NULL;
    best = largest_of(row, count);
    for (size_t i = 0; left && i < count; i++)
        if (!isfinite(left[best]) || (isfinite(left[i]) && row[i] > row[best]))
            best = i;
    for (size_t i = 0; i < count; i++)
        if (isfinite(row[i]) && (!left || isfinite(left[i])) && (worst == SIZE_MAX || row[i] < row[worst]))
            worst = i;
    put_row_asked(t);
    if (worst == SIZE_MAX) {
        buf_puts(t->out, "every score is masked.");
        return true;
    }
    buf_printf(t->out, "the largest score is that of %s (", teller_label(t, ROLE_KEY, (int)best, high));
    ask_put_short(t->out, row[best]);
    buf_printf(t->out, ") and the smallest that of %s (", teller_label(t, ROLE_KEY, (int)worst, low));
    ask_put_short(t->out, row[worst]);
    buf_puts(t->out, "). What enters the softmax has a variance of ");
    ask_put_short(t->out, variance);
    buf_puts(t->out, " in this row.");
    return true;
}

/* --- what it tells --- */

/* How much of a row of weights lies on the patches of the drawn object, beside how much of the picture these are. */
static void put_share_on_object(const Teller *t, const float *row, size_t count)
{
    const Exhibit *e = session_exhibit(t->s, t->side);
    const PictureGrid grid = model_grid(e->model);
    const Axis *keys = teller_last_axis(t);
    if (!grid.rows || !keys || keys->kind != AXIS_TOKEN)
        return;
    int patches = grid_patches(&grid), on = 0, y, x, across = grid.columns;
    float *object = xcalloc((size_t)patches, sizeof *object);
    double sum = 0, all = 0;
    if (object_patches(&e->input, e->model, object)) {
        for (int p = 0; p < patches; p++)
            on += object[p] > 0;
        for (size_t i = 0; i < count; i++)
            if (axis_patch(keys, (int)i, &y, &x)) {
                all += (double)row[i];
                sum += object[y * across + x] > 0 ? (double)row[i] : 0;
            }
        if (all > 0)
            buf_printf(t->out,
                       "On the %d of %d patches that show the object lies %.0f %% of what patches get; of the "
                       "picture they are %.0f %%.\n",
                       on, patches, 100 * sum / all, 100.0 * on / patches);
    }
    free(object);
}

static bool tell_row(const Teller *t)
{
    size_t count;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    teller_put_row(t, "The row");
    if (site_is(t->g, graph_node(t->g, t->n)->path, SITE_PATTERN))
        put_share_on_object(t, row, count);
    return true;
}

/* One line for every block, one figure for every head: mean over its rows. */
bool tell_heads(const Teller *t)
{
    const Graph *g = t->g;
    double most = dm_log((double)teller_length(t, ROLE_KEY));
    buf_printf(t->out, "Mean entropy of the rows of every head, in nats, at most %.2f:\n", most);
    for (int part = anatomy_next(g, NO_PART, PART_ATTENTION); part != NO_PART;
         part = anatomy_next(g, part, PART_ATTENTION)) {
        NodeId n;
        const char *path = site_path(g, part, SITE_ENTROPY);
        const float *entropy = path && graph_find(g, path) != NO_NODE ? teller_values(t, path, &n) : NULL;
        if (!entropy)
            continue;
        size_t cells = graph_cells(g, n);
        int heads = teller_length(t, ROLE_HEAD);
        buf_printf(t->out, "%s:", anatomy_part(g, part)->scope);
        for (int h = 0; h < heads; h++) {
            double sum = 0;
            size_t rows = cells / (size_t)heads;
            for (size_t i = 0; i < rows; i++)
                sum += (double)entropy[(size_t)h * rows + i];
            buf_printf(t->out, "%s head %d %.2f", h ? "," : "", h, sum / (double)rows);
        }
        buf_puts(t->out, ".\n");
    }
    return true;
}

bool tell_matrix(const Teller *t)
{
    return tell_heads(t) && tell_row(t);
}

static const char *overlay_word(int i)
{
    static const char *const WORDS[ROW_OVERLAYS] = {"off", "numbers"};
    return i < ROW_OVERLAYS ? WORDS[i] : NULL;
}

static const char *heads_word(int i)
{
    static const char *const WORDS[] = {"one", "all", "sum"};
    _Static_assert(sizeof WORDS / sizeof *WORDS == SENTENCE_HEADS, "a word for each");
    return i < SENTENCE_HEADS ? WORDS[i] : NULL;
}

static const LookOption ROW_OPTIONS[] = {
    {.name = "overlay", .kind = OPTION_WORD, .at = LOOK(row.overlay), .word = overlay_word}, {.name = NULL}};
static const LookOption SENTENCE_OPTIONS[] = {
    {.name = "heads", .kind = OPTION_WORD, .at = LOOK(sentence.heads), .word = heads_word}, {.name = NULL}};

/* What the program knows of heads without measuring. */
static bool take_losses(Session *s, int64_t deadline_ns)
{
    (void)deadline_ns;
    measures_take_shipped(s);
    return true;
}

SCREEN_SPEC(SHEET, .name = "sheet", .about = "blocks × heads as thumbnails", .group = GROUP_ATTENTION,
            .command = "view sheet", .come = come_attention, .move = move_on_heads, .enter = enter_matrix,
            .next = enter_matrix, .work = take_losses, .off = OFF_HEAD, .say = say_sheet, .tell = tell_heads,
            .head_scales = true, .drawn_alone = true);

SCREEN_SPEC(MATRIX, .name = "matrix", .about = "one head's scores or pattern, [t,u]", .group = GROUP_ATTENTION,
            .command = "view matrix", .come = come_attention, .fits = fits_matrix, .move = move_on_matrix,
            .enter = enter_row, .next = enter_row, .off = OFF_HEAD, .say_pattern = say_matrix,
            .say_scores = say_score_row, .tell = tell_matrix, .drawn_alone = true);

SCREEN_SPEC(SENTENCE, .name = "sentence", .about = "attention drawn between words: a head, all heads, their sum",
            .group = GROUP_ATTENTION, .command = "view sentence", .come = come_sentence, .words = true,
            .fits = fits_sentence, .move = move_on_matrix, .enter = enter_weight, .next = next_sentence,
            .off = OFF_HEAD, .say_pattern = say_row, .say_scores = say_score_row, .tell = tell_matrix,
            .options = SENTENCE_OPTIONS, .drawn_alone = true);

SCREEN_SPEC(ROW, .name = "row", .about = "one row of the pattern, laid over the input", .group = GROUP_ATTENTION,
            .command = "view row", .come = come_attention, .fits = fits_row, .move = move_on_keys,
            .enter = enter_weight, .next = enter_tensor, .off = OFF_HEAD, .say_pattern = say_row,
            .say_scores = say_score_row, .tell = tell_row, .options = ROW_OPTIONS, .drawn_alone = true);
