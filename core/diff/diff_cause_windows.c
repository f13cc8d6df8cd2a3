/* Models of words that have two kinds of blocks, with a window and without one, each turned by a base of its own:
 * which blocks are of which kind in the recording, and their rotations exchanged. What every block's rows say is asked
 * of each such mistake: where it changes a block, the block must differ; where it leaves one as it is, it must not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/utf8.h"
#include "core/diff/diff_trial.h"

/* The number of the block whose node that is, −1 of none. */
static int block_at(const char *path)
{
    const char *at = strstr(path, "blocks.");
    return at ? atoi(at + 7) : -1;
}

static int layers_of(const Seq2seqConfig *c)
{
    return c->decoder_layers ? c->decoder_layers : c->encoder_layers;
}

/* What a block's tokens see, and what turns them. */
static bool sees_otherwise(const Seq2seqConfig *a, const Seq2seqConfig *b, int block, int tokens)
{
    int seen[2];
    for (int i = 0; i < 2; i++) {
        const Seq2seqConfig *c = i ? b : a;
        seen[i] = seq2seq_windowed(c, block) && c->window < tokens * seq2seq_window_sides(c) ? c->window : 0;
    }
    return seen[0] != seen[1];
}

static Seq2seqRope rotation_of(const Seq2seqConfig *c, int block)
{
    Seq2seqRope r = c->rope;
    if (seq2seq_windowed(c, block) && r.local_base > 0)
        r = (Seq2seqRope){.base = r.local_base, .width = r.width, .half = r.half};
    r.local_base = 0;
    return r;
}

static bool turns_otherwise(const Seq2seqConfig *a, const Seq2seqConfig *b, int block)
{
    const Seq2seqRope x = rotation_of(a, block), y = rotation_of(b, block);
    return x.base < y.base || x.base > y.base || x.width != y.width || x.half != y.half || x.scaling != y.scaling ||
           x.factor < y.factor || x.factor > y.factor || x.trained < y.trained || x.trained > y.trained ||
           x.stretch < y.stretch || x.stretch > y.stretch;
}

/* What of a block lies between a row and what is recorded before it. */
enum { TURNS = 1, SEES = 2 };

/* of[layers]: that of a row, and whether there is any. */
static bool blocks_of_row(const Trial *t, const DiffRow *row, bool *in, unsigned char *of)
{
    const Graph *g = t->s->graph;
    bool any = false;
    memset(in, 0, (size_t)g->count * sizeof *in);
    memset(of, 0, (size_t)layers_of(t->s->text));
    if (diff_is_gradient(graph_node(g, row->tensor->node)->path))
        return false;
    diff_segment(g, t->r, row->tensor->node, in);
    for (NodeId n = 0; n <= row->tensor->node; n++) {
        const char *path = graph_node(g, n)->path;
        const int block = in[n] ? block_at(path) : -1;
        const int what = block < 0                                                              ? 0
                         : path_ends(path, "attn.q_turned") || path_ends(path, "attn.k_turned") ? TURNS
                         : path_ends(path, "attn.scores_masked")                                ? SEES
                                                                                                : 0;
        if (what)
            of[block] |= (unsigned char)what;
        any = any || what;
    }
    return any;
}

static int tokens_of(const Trial *t)
{
    const Graph *g = t->s->graph;
    NodeId n = graph_find(g, t->s->text->decoder_layers ? "decoder.tokens" : "encoder.tokens");
    return n == NO_NODE ? 0 : (int)graph_cells(g, n);
}

/* Does a step differ where and only where these settings change what lies in front of it? */
static bool rows_suit(const Trial *t, const Seq2seqConfig *c)
{
    const Seq2seqConfig *own = t->s->text;
    const int layers = layers_of(own), tokens = tokens_of(t);
    bool *in = xcalloc((size_t)t->s->graph->count, sizeof *in), suits = true;
    unsigned char *of = xcalloc((size_t)layers + 1, sizeof *of);
    for (int i = 0; i < t->report->count && suits; i++) {
        bool changed = false;
        if (!blocks_of_row(t, &t->report->row[i], in, of))
            continue;
        for (int l = 0; l < layers; l++)
            changed = changed || (of[l] & TURNS && turns_otherwise(own, c, l)) ||
                      (of[l] & SEES && sees_otherwise(own, c, l, tokens));
        suits = changed == (t->report->row[i].state == DIFF_BEGINS);
    }
    free(of);
    free(in);
    return suits;
}

static const char *behind_block(const char *path)
{
    const char *at = strstr(path, "blocks.");
    return at ? at + 7 + strspn(at + 7, "0123456789") : path;
}

/* The same step of a block of the other kind, where it differs; NULL where it doesn't, or is not recorded. */
static const DiffRow *row_of_other_kind(const Trial *t)
{
    const char *own = graph_node(t->s->graph, t->target->node)->path;
    const int block = block_at(own);
    for (int i = 0; i < t->report->count && block >= 0; i++) {
        const DiffRow *row = &t->report->row[i];
        const char *path = graph_node(t->s->graph, row->tensor->node)->path;
        if (row->state == DIFF_BEGINS && block_at(path) >= 0 && strcmp(behind_block(path), behind_block(own)) == 0 &&
            seq2seq_windowed(t->s->text, block) != seq2seq_windowed(t->s->text, block_at(path)))
            return row;
    }
    return NULL;
}

/* The mistake made in front of another row. */
typedef void MakeThere(Trial *t, const void *mistake);
static bool explains_row(const Trial *t, const DiffRow *row, MakeThere *make, const void *mistake)
{
    Trial there = trial_new(t->s, t->r, t->o, NULL, row);
    trial_open(&there);
    utf8_print(there.what, sizeof there.what, "%s", t->what);
    there.share = t->share;
    make(&there, mistake);
    const bool close = trial_close(&there);
    trial_free(&there);
    return close;
}

static void make_config(Trial *t, const void *config)
{
    trial_config(t, config, "the same there");
}

bool trial_blocks_suit(const Trial *t, const Seq2seqConfig *c)
{
    const Seq2seqConfig *own = t->s->text;
    bool other = false;
    for (int l = 0; l < layers_of(own); l++)
        other = other || turns_otherwise(own, c, l) || sees_otherwise(own, c, l, tokens_of(t));
    if (!t->report || !own->window || t->base || !other || layers_of(own) != layers_of(c))
        return true;
    if (!rows_suit(t, c))
        return false;
    const DiffRow *row = row_of_other_kind(t);
    return !row || explains_row(t, row, make_config, c);
}

/* --- which blocks have a window --- */

static void put_window(Seq2seqConfig *c, int block, bool on)
{
    const uint32_t bit = (uint32_t)1 << block % 32;
    c->windowed[block / 32] = (c->windowed[block / 32] & ~bit) | (on ? bit : 0);
}

/* Every n-th block sees all tokens, the others have a window; from: the first that does. False where no block does. */
static bool every_nth(Seq2seqConfig *c, int n, int from)
{
    for (int i = 0; i < layers_of(c); i++)
        put_window(c, i, i % n != from);
    return from < layers_of(c);
}

static bool same_windows(const Seq2seqConfig *a, const Seq2seqConfig *b)
{
    bool same = true;
    for (int i = 0; i < layers_of(a); i++)
        same = same && seq2seq_windowed(a, i) == seq2seq_windowed(b, i);
    return same;
}

/* Windows that repeat after another number of blocks: the last of every so many has none, or the first. */
static void attempt_periods(Trial *t)
{
    enum { MOST = 12 };
    const Seq2seqConfig *own = t->s->text;
    const char *here = "here other blocks do";
    snprintf(t->id, sizeof t->id, "settings:window_period");
    for (int said = 0; said < 2; said++) /* first which it is here */
        for (int i = 0; i < 2 * (MOST - 1); i++) {
            const int n = 2 + i / 2, from = i % 2 ? 0 : n - 1;
            Seq2seqConfig c = *own;
            if (!every_nth(&c, n, from) || same_windows(&c, own) == (said > 0))
                continue;
            const char *nth = n > 3 ? arena_printf(&t->arena, "%dth", n) : n == 3 ? "3rd" : "2nd";
            if (!said)
                here = arena_printf(&t->arena, "here every %s from %d on", nth, from);
            else
                trial_config(t, &c,
                             arena_printf(&t->arena,
                                          "every %s block from %d on sees all tokens in the recording, the others have "
                                          "a window; %s",
                                          nth, from, here));
        }
}

/* "block 1", "blocks 1, 4": of the blocks where a and b are not the same those that have a window in a; NULL: none. */
static const char *blocks_with(Arena *arena, const Seq2seqConfig *a, const Seq2seqConfig *b)
{
    Buf out = {0};
    int count = 0;
    for (int i = 0; i < layers_of(a); i++)
        if (seq2seq_windowed(a, i) && !seq2seq_windowed(b, i))
            buf_printf(&out, "%s%d", count++ ? ", " : "", i);
    const char *said = count ? arena_printf(arena, "block%s %.80s", count > 1 ? "s" : "", buf_str(&out)) : NULL;
    buf_free(&out);
    return said;
}

/* Those blocks are of the other kind that differ, as far as they are recorded one by one. */
static void attempt_flipped(Trial *t)
{
    const Seq2seqConfig *own = t->s->text;
    const int layers = layers_of(own);
    Seq2seqConfig c = *own;
    bool *in = xcalloc((size_t)t->s->graph->count, sizeof *in);
    unsigned char *of = xcalloc((size_t)layers + 1, sizeof *of);
    for (int i = 0; t->report && i < t->report->count; i++) {
        int count = 0, block = 0;
        if (t->report->row[i].state != DIFF_BEGINS || !blocks_of_row(t, &t->report->row[i], in, of))
            continue;
        for (int l = 0; l < layers; l++)
            if (of[l]) {
                count++;
                block = l;
            }
        if (count == 1)
            put_window(&c, block, !seq2seq_windowed(own, block));
    }
    free(of);
    free(in);
    if (same_windows(&c, own))
        return;
    const char *more = blocks_with(&t->arena, &c, own), *fewer = blocks_with(&t->arena, own, &c);
    snprintf(t->id, sizeof t->id, "settings:window_blocks");
    const char *text = more && fewer ? arena_printf(&t->arena,
                                                    "the recording has a window in %s and none in %s; here it is "
                                                    "the other way round",
                                                    more, fewer)
                       : more
                           ? arena_printf(&t->arena, "the recording has a window in %s, where there is none here", more)
                           : arena_printf(&t->arena, "the recording has no window in %s, where there is one here",
                                          fewer);
    trial_config(t, &c, text);
}

void trial_window_blocks(Trial *t)
{
    if (!t->s->text->window || trial_close(t))
        return;
    attempt_periods(t);
    if (!trial_close(t))
        attempt_flipped(t);
}

/* --- what turns them --- */

/* Are rotations in the stretch? */
static bool has_turns(const Trial *t)
{
    return trial_find(t, "rope_cos", 0) != NO_NODE || trial_find(t, "rope_cos_local", 0) != NO_NODE;
}

/* What one kind of blocks turns by, scaling and all, for the other. */
static void make_exchanged(Trial *t, const void *nothing)
{
    static const char *const NAMES[] = {"rope_cos", "rope_sin"};
    const Graph *g = t->s->graph;
    const char *scope = t->s->text->decoder_layers ? "decoder" : "encoder";
    (void)nothing;
    trial_begin(t);
    for (int k = 0; k < 2; k++) {
        const char *all = arena_printf(&t->arena, "%s.%s", scope, NAMES[k]),
                   *local = arena_printf(&t->arena, "%s_local", all);
        trial_add(t, EDIT_VALUES, all)->data = run_need(t->s->run, graph_find(g, local));
        trial_add(t, EDIT_VALUES, local)->data = run_need(t->s->run, graph_find(g, all));
    }
    trial_attempt(t, "the recording rotates blocks with a window as those without one, and those without one as those "
                     "with: their rotations are exchanged");
}

void trial_exchanged(Trial *t)
{
    const Seq2seqConfig *own = t->s->text;
    if (own->pos != SEQ2SEQ_POS_ROPE || !(own->rope.local_base > 0) || !own->window || !has_turns(t))
        return;
    Seq2seqConfig c = *own;
    c.rope.base = own->rope.local_base;
    c.rope.local_base = own->rope.base;
    if (t->report && !rows_suit(t, &c))
        return;
    snprintf(t->id, sizeof t->id, "settings:bases_exchanged");
    const DiffRow *row = t->report ? row_of_other_kind(t) : NULL;
    if (!row || explains_row(t, row, make_exchanged, NULL))
        make_exchanged(t, NULL);
    if (own->rope.scaling != ROPE_AS_TRAINED)
        trial_config(t, &c,
                     "the bases of the recording's rotations are exchanged: blocks with a window have that of those "
                     "without one");
}
