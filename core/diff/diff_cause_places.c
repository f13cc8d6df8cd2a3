/* Mistakes with places: patches flattened or listed otherwise, positions of other tokens, the class token at the end, a
 * position table brought to another grid in another way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

typedef enum PatchOrder { CHANNEL_LAST, COLUMNS_FIRST, CHANNELS_BACK } PatchOrder;

/* The weight that a patch laid out otherwise meets: w[d,c,i,j] with c·i·j in another order. */
static const float *patch_weight(Trial *t, const float *w, PatchOrder order)
{
    const VitConfig *c = t->s->config;
    size_t ch = (size_t)c->channels, h = (size_t)c->patch_h, wide = (size_t)c->patch_w, flat = ch * h * wide,
           rows = (size_t)c->width;
    float *out = arena_alloc(&t->arena, size_mul(size_mul(rows, flat), sizeof *out));
    for (size_t d = 0; d < rows; d++)
        for (size_t k = 0; k < flat; k++) {
            size_t a = k / (h * wide), i = k / wide % h, j = k % wide, from = k;
            switch (order) {
            case CHANNEL_LAST: from = (i * wide + j) * ch + a; break;
            case COLUMNS_FIRST: from = (a * wide + j) * h + i; break;
            case CHANNELS_BACK: from = ((ch - 1 - a) * h + i) * wide + j; break;
            }
            out[d * flat + k] = w[d * flat + from];
        }
    return out;
}

typedef enum Listing { BY_COLUMN, FROM_BELOW, FROM_RIGHT, BACKWARDS, SNAKE, ORDERS } Listing;

/* The patch, numbered row by row, that stands at place p. */
static int listed(Listing how, int p, int rows, int cols)
{
    int y = p / cols, x = p % cols;
    switch (how) {
    case BY_COLUMN: return p % rows * cols + p / rows;
    case FROM_BELOW: return (rows - 1 - y) * cols + x;
    case FROM_RIGHT: return y * cols + cols - 1 - x;
    case BACKWARDS: return rows * cols - 1 - p;
    case SNAKE: return y * cols + (y % 2 ? cols - 1 - x : x);
    default: UNREACHABLE("an order of no kind");
    }
}

void trial_patches(Trial *t)
{
    static const char *const LISTED[ORDERS] = {
        [BY_COLUMN] = "the recording lists the patches column by column",
        [FROM_BELOW] = "the recording lists the rows of patches from the bottom up",
        [FROM_RIGHT] = "the recording lists the patches of a row from right to left",
        [BACKWARDS] = "the recording lists the patches backwards",
        [SNAKE] = "the recording lists every second row of patches backwards"};
    static const char *const TEXTS[] = {
        [CHANNEL_LAST] =
            "the recording flattens a patch as row, column, channel; the weight expects channel, row, column",
        [COLUMNS_FIRST] = "the recording flattens a patch column by column",
        [CHANNELS_BACK] = "the recording has the colour channels in the opposite order (BGR)",
    };
    const Graph *g = t->s->graph;
    const VitConfig *c = t->s->config;
    if (!c)
        return;
    NodeId w = trial_find(t, "patch_embed.weight", 0), embed = graph_find(g, "patch_embed");
    if (!trial_has(t, embed)) /* before its bias */
        embed = graph_find(g, "patch_embed.rows_nobias");
    for (int i = 0; w != NO_NODE && i < 3; i++) {
        trial_begin(t);
        trial_add(t, EDIT_VALUES, graph_node(g, w)->path)->data = patch_weight(t, run_need(t->s->run, w),
                                                                               (PatchOrder)i);
        trial_attempt(t, "%s", TEXTS[i]);
    }
    int axis = embed == NO_NODE ? AXIS_NONE : graph_node(g, embed)->dims.axis[0], rows = c->image_h / c->patch_h,
        cols = c->image_w / c->patch_w;
    if (!trial_has(t, embed) || g->axes[axis].n != rows * cols)
        return;
    for (int k = 0; k < ORDERS; k++) {
        int *index = arena_alloc(&t->arena, size_mul((size_t)(rows * cols), sizeof *index));
        for (int p = 0; p < rows * cols; p++)
            index[p] = listed((Listing)k, p, rows, cols);
        trial_begin(t);
        Edit *e = trial_add(t, EDIT_GATHER, graph_node(g, embed)->path);
        e->axis = axis;
        e->index = index;
        trial_attempt(t, "%s", LISTED[k]);
    }
}

/* The row that a token's position is taken from; −1: it gets none. */
typedef enum Shift {
    SUCCESSOR,
    PREDECESSOR,
    FROM_FIRST,
    FIRST_BARE,
    ZERO_BEHIND,
    FROM_END,
    FIRST_FOR_ALL,
    SHIFTS
} Shift;

static int shifted_row(Shift how, int row, int rows)
{
    switch (how) {
    case SUCCESSOR: return (row + 1) % rows;
    case PREDECESSOR: return (row + rows - 1) % rows;
    case FROM_FIRST: return row ? row - 1 : 0;
    case FIRST_BARE: return row - 1;
    case ZERO_BEHIND: return row + 1 < rows ? row + 1 : -1;
    case FROM_END: return rows - 1 - row;
    case FIRST_FOR_ALL: return 0;
    default: UNREACHABLE("a shift of no kind");
    }
}

void trial_positions(Trial *t)
{
    static const char *const TEXTS[SHIFTS] = {
        [SUCCESSOR] = "the recording's positions are shifted by one: each token has its successor's",
        [PREDECESSOR] = "the recording's positions are shifted by one: each token has its predecessor's",
        [FROM_FIRST] =
            "the recording's positions are shifted by one: each token has its predecessor's, the first keeps its own",
        [FIRST_BARE] =
            "the recording's positions are shifted by one: each token has its predecessor's, the first has none",
        [ZERO_BEHIND] =
            "the recording's positions are shifted by one: each token has its successor's, the last has none",
        [FROM_END] = "the recording counts positions backwards: the first token has the last one's",
        [FIRST_FOR_ALL] = "the recording gives every token the first one's position"};
    const Graph *g = t->s->graph;
    for (int k = 0; k < SHIFTS; k++) {
        trial_begin(t);
        for (NodeId n = trial_find(t, "pos_embed", 0); n != NO_NODE; n = trial_find(t, "pos_embed", n + 1)) {
            int rows = g->axes[graph_node(g, n)->dims.axis[0]].n;
            size_t cells = graph_cells(g, n), width = cells / (size_t)rows;
            float *table = arena_alloc(&t->arena, size_mul(cells, sizeof *table));
            const float *own = run_need(t->s->run, n);
            for (int row = 0; row < rows; row++) {
                int from = shifted_row((Shift)k, row, rows);
                if (from >= 0)
                    memcpy(table + (size_t)row * width, own + (size_t)from * width, width * sizeof *table);
            }
            trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = table;
        }
        trial_attempt(t, "%s", TEXTS[k]);
    }
}

/* Of two stacks that have learned positions each: those of the other. */
void trial_other_positions(Trial *t)
{
    static const struct {
        const char *of, *other, *text;
    } WAYS[] = {{"decoder.pos_embed", "encoder.pos_embed",
                 "the recording's decoder adds the encoder's position embeddings"},
                {"encoder.pos_embed", "decoder.pos_embed",
                 "the recording's encoder adds the decoder's position embeddings"}};
    const Graph *g = t->s->graph;
    for (size_t k = 0; k < sizeof WAYS / sizeof *WAYS && t->s->text->learned_positions; k++) {
        const NodeId n = graph_find(g, WAYS[k].of), other = graph_find(g, WAYS[k].other);
        if (n == NO_NODE || other == NO_NODE || !t->in[n] || graph_node(g, other)->op != OP_SLICE)
            continue;
        const NodeId table = graph_node(g, other)->in[0];
        const size_t from = (size_t)t->s->text->first_position * (size_t)t->size.width;
        if (from + graph_cells(g, n) > graph_cells(g, table))
            continue;
        trial_begin(t);
        trial_add(t, EDIT_VALUES, WAYS[k].of)->data = run_need(t->s->run, table) + from;
        trial_attempt(t, "%s", WAYS[k].text);
    }
}

/* The rows of a node in another order. */
static void add_moved(Trial *t, NodeId n, const int *index)
{
    Edit *e = trial_add(t, EDIT_GATHER, graph_node(t->s->graph, n)->path);
    e->axis = graph_node(t->s->graph, n)->dims.axis[0];
    e->index = index;
}

/* Tokens that stand in another order, index[row there] the row here; turned: with their rotations. Behind a tensor that
 * shows that they do, they are read where they stand. */
static void attempt_moved(Trial *t, const int *index, int rows, bool turned, const char *text)
{
    static const char *const ROTATIONS[] = {"rope_cos", "rope_sin"};
    NodeId embed = trial_find(t, "full_embed", 0), readout = trial_find(t, "readout", 0),
           tokens = embed == NO_NODE && readout != NO_NODE ? trial_tokens_read(t, readout) : NO_NODE;
    if (embed == NO_NODE && !trial_found(t, text))
        return;
    trial_begin(t);
    for (size_t k = 0; turned && k < sizeof ROTATIONS / sizeof *ROTATIONS; k++) {
        NodeId n = trial_find(t, ROTATIONS[k], 0);
        if (n == NO_NODE)
            return;
        add_moved(t, n, index);
    }
    if (embed != NO_NODE)
        add_moved(t, embed, index);
    if (trial_has(t, tokens) && graph_cells(t->s->graph, tokens) == (size_t)rows * (size_t)t->size.width) {
        int *back = arena_alloc(&t->arena, size_mul((size_t)rows, sizeof *back));
        for (int i = 0; i < rows; i++)
            back[index[i]] = i;
        add_moved(t, tokens, back);
    }
    trial_attempt(t, "%s", text);
}

/* Registers behind the patches, or in front of the class token. */
static void registers_last(Trial *t)
{
    static const struct {
        const char *text;
        bool first;
    } WAYS[] = {{"the registers stand last in the recording, after the patches", false},
                {"the registers stand first in the recording, in front of the class token", true}};
    int registers = t->s->config->registers, prefix = vit_prefix(t->s->config), front = prefix - registers,
        rows = vit_tokens(t->s->config);
    for (size_t k = 0; k < sizeof WAYS / sizeof *WAYS; k++) {
        int *index = arena_alloc(&t->arena, size_mul((size_t)rows, sizeof *index)), at = 0;
        for (int i = 0; WAYS[k].first && i < registers; i++)
            index[at++] = front + i;
        for (int i = 0; i < front; i++)
            index[at++] = i;
        for (int i = prefix; i < rows; i++)
            index[at++] = i;
        for (int i = 0; !WAYS[k].first && i < registers; i++)
            index[at++] = front + i;
        if (WAYS[k].first && !front)
            continue;
        attempt_moved(t, index, rows, false, WAYS[k].text);
        if (!WAYS[k].first) /* those in front move no patch */
            attempt_moved(t, index, rows, true, WAYS[k].text);
    }
}

/* Patches first, the class token behind them: positions in the order of the table, or each with its token. */
void trial_class_last(Trial *t)
{
    static const struct {
        const char *node, *text;
        bool read; /* …and the answer is read where it stands */
    } WAYS[] = {{"tokens", "the class token stands last in the recording, after the patches", true},
                {"tokens", "the class token stands last in the recording, and the first token is read out", false},
                {"full_embed", "the class token stands last in the recording, each token with its own position", true},
                {"full_embed",
                 "the class token stands last in the recording, each token with its own position, and the first token "
                 "is read out",
                 false}};
    const Graph *g = t->s->graph;
    const VitConfig *c = t->s->config;
    if (c && c->registers)
        registers_last(t);
    if (!c || !c->cls || vit_prefix(c) != 1)
        return;
    for (size_t k = 0; k < sizeof WAYS / sizeof *WAYS; k++) {
        NodeId n = trial_find(t, WAYS[k].node, 0), readout = trial_find(t, "readout", 0);
        if (n == NO_NODE || (!WAYS[k].read && readout == NO_NODE))
            continue;
        int axis = graph_node(g, n)->dims.axis[0], rows = g->axes[axis].n;
        int *index = arena_alloc(&t->arena, size_mul((size_t)rows, sizeof *index)),
            *back = arena_alloc(&t->arena, size_mul((size_t)rows, sizeof *back));
        for (int i = 0; i < rows; i++) {
            index[i] = (i + 1) % rows;
            back[i] = (i + rows - 1) % rows;
        }
        trial_begin(t);
        Edit *e = trial_add(t, EDIT_GATHER, graph_node(g, n)->path);
        e->axis = axis;
        e->index = index;
        NodeId tokens = readout == NO_NODE ? NO_NODE : trial_tokens_read(t, readout);
        if (WAYS[k].read && tokens != NO_NODE && c->pool == VIT_POOL_CLS) {
            e = trial_add(t, EDIT_GATHER, graph_node(g, tokens)->path);
            e->axis = axis;
            e->index = back;
        }
        trial_attempt(t, "%s", WAYS[k].text);
    }
}

/* Positions as other programs make them: sines in one half and cosines in the other, or counted from 1. */
static void add_sinusoids(Trial *t, NodeId pos, bool halves, int first)
{
    Dims d = graph_node(t->s->graph, pos)->dims;
    int rows = t->s->graph->axes[d.axis[0]].n, width = t->s->graph->axes[d.axis[1]].n;
    size_t cells = graph_cells(t->s->graph, pos);
    float *table = arena_alloc(&t->arena, size_mul(cells, sizeof *table)), *row = xfloats((size_t)width);
    seq2seq_sinusoids(first, rows, width, table);
    for (int r = 0; halves && r < rows; r++) {
        float *at = table + (size_t)r * (size_t)width;
        memcpy(row, at, (size_t)width * sizeof *row);
        for (int i = 0; i < width; i++)
            at[i / 2 + (i % 2 ? (width + 1) / 2 : 0)] = row[i];
    }
    free(row);
    trial_add(t, EDIT_VALUES, graph_node(t->s->graph, pos)->path)->data = table;
}

void trial_sinusoids(Trial *t)
{
    static const char *const TEXTS[] = {"the recording's positions have all sines first, then all cosines",
                                        "the recording counts positions from 1",
                                        "the recording counts positions from 1, all sines first, then all cosines"};
    for (int k = 0; t->s->text && !t->s->text->learned_positions && k < 3; k++) {
        trial_begin(t);
        for (NodeId n = trial_find(t, "pos_embed", 0); n != NO_NODE; n = trial_find(t, "pos_embed", n + 1))
            add_sinusoids(t, n, k != 1, k > 0);
        trial_attempt(t, "%s", TEXTS[k]);
    }
}

static void attempt_fit(Trial *t, const VitConfig *c, const char *text)
{
    static const char *const NAMES[] = {"pos_fit.row_weights", "pos_fit.col_weights"};
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (size_t k = 0; k < 2; k++) {
        NodeId n = trial_find(t, NAMES[k], 0);
        if (n == NO_NODE)
            return;
        Dims d = graph_node(g, n)->dims;
        size_t cells = graph_cells(g, n);
        double *exact = xcalloc(cells, sizeof *exact);
        float *weights = arena_alloc(&t->arena, size_mul(cells, sizeof *weights));
        vit_fit_weights(c, g->axes[d.axis[1]].n, g->axes[d.axis[0]].n, exact);
        for (size_t i = 0; i < cells; i++)
            weights[i] = (float)exact[i];
        free(exact);
        trial_add(t, EDIT_VALUES, NAMES[k])->data = weights;
    }
    trial_attempt(t, "%s", text);
}

void trial_fitted(Trial *t)
{
    static const struct {
        VitFit fit;
        bool smooth, corners;
        const char *text;
    } WAYS[] = {{VIT_FIT_BICUBIC, false, false, "bicubic, without antialias"},
                {VIT_FIT_BICUBIC, true, false, "bicubic, with antialias"},
                {VIT_FIT_BICUBIC, false, true, "bicubic, corners aligned"},
                {VIT_FIT_BILINEAR, false, false, "bilinear, without antialias"},
                {VIT_FIT_BILINEAR, true, false, "bilinear, with antialias"},
                {VIT_FIT_BILINEAR, false, true, "bilinear, corners aligned"},
                {VIT_FIT_NEAREST, false, false, "with the nearest position"}};
    const VitConfig *own = t->s->config;
    char text[DIFF_WORDS];
    if (!own || !vit_resizes(own))
        return;
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        VitConfig c = *own;
        c.fit = WAYS[i].fit;
        c.fit_smooth = WAYS[i].smooth;
        c.fit_corners = WAYS[i].corners;
        snprintf(text, sizeof text, "the recording fits the position table to this grid %s", WAYS[i].text);
        if (c.fit != own->fit || c.fit_smooth != own->fit_smooth || c.fit_corners != own->fit_corners)
            attempt_fit(t, &c, text);
    }
}
