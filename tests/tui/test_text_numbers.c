/* Numbers on screens of texts: a colour, a bar and a place say what the number says, and nothing is left out in
 * silence. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/session/ask/ledgers.h"
#include "core/session/learned/decoding.h"
#include "tests/core_models/text_bench.h"
#include "tests/tui/opened.h"
#include "tui/canvas/export.h"
#include "tui/frame.h"
#include "tui/overlay.h"
#include "tui/views/answer.h"
#include "tui/views/shown.h"

static const char SENTENCE[] = "the animal did not cross the street because it was too tired";

static Session s;
static Commands all;
static Overlay lists;
static Canvas c;
static Err error;

static void run(const char *line)
{
    if (!command_do(&s, &all, line, LINE_FOREIGN | COMMAND_UI, &error))
        fail_msg("%s: %s", line, error.text);
}

static int start(void **state)
{
    (void)state;
    static Ui ui = {.overlay = &lists, .commands = &all};
    opened_commands(&all, &ui);
    opened_session(&s, "translator", SENTENCE);
    canvas_init(&c, 1, 1);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    canvas_free(&c);
    overlay_free(&lists);
    commands_free(&all);
    return 0;
}

static void draw(int h, int w)
{
    canvas_resize(&c, h, w);
    canvas_clear(&c);
    Frame f = frame_layout(&s, h, w, true);
    Needs needs = {.count = 0};
    frame_needs(&s, &f, &needs);
    while (!session_step_pass(&s, needs.item, needs.count, CLOCK_NEVER))
        continue;
    Paint p = {.s = &s, .c = &c, .mode = MODE_256};
    FrameState state = {.message = "", .status = "256c"};
    frame_draw(&p, &f, &state);
}

static bool on_screen(const char *text)
{
    Buf whole = {0};
    export_text(&c, &whole);
    const bool found = strstr(buf_str(&whole), text) != NULL;
    buf_free(&whole);
    return found;
}

/* A − B of a text: dark where it is a small part of a nat, the bars on the side and in the colour of the one that is
 * more surprised. */
static void the_difference_of_two_streams(void **state)
{
    (void)state;
    static const char *const COMPARED[] = {"word tired wide", "pin; ablate decoder.blocks.2.cross_attn.z"};
    for (size_t k = 0; k < 2; k++) {
        run(COMPARED[k]);
        run("goto probs[t=10]; view stream; compare sides");
        draw(60, 200);
        const NodeId n = site_node_any(session_graph(&s, SIDE_B), SITE_SURPRISE);
        const char *path = site_path_any(session_graph(&s, SIDE_B), SITE_SURPRISE);
        const float *a = session_need(&s, SIDE_A, path, &error), *b = session_need(&s, SIDE_B, path, &error);
        int grounds = 0, bars = 0, left = c.w, right = 0;
        float most = 1;
        for (size_t i = 0; i < graph_cells(session_graph(&s, SIDE_B), n); i++)
            most = fmaxf(most, fabsf(a[i] - b[i]));
        for (int i = 0; i < c.h * c.w; i++) {
            const Cell *cell = &c.cells[i];
            if (cell->ref.run != SIDE_DIFF || cell->ref.node != n)
                continue;
            const float x = a[cell->ref.cell] - b[cell->ref.cell];
            if (cell->style == STYLE_SIDE_A || cell->style == STYLE_SIDE_B) {
                assert_int_equal(cell->style == STYLE_SIDE_A, x > 0);
                bars++;
                left = x > 0 && i % c.w < left ? i % c.w : left;
                right = x < 0 && i % c.w > right ? i % c.w : right;
            } else if (cell->level) {
                assert_true(cell->level - 1 <= 9 * fabsf(x) / most + 0.5f);
                grounds++;
            }
        }
        assert_true(grounds > 20 && right <= left);
        assert_true(bars > (k ? 20 : 0));
        assert_int_equal(on_screen("il/elle"), k == 0);
        run(k ? "pin off; edits drop 1"
              : "open \"the animal did not cross the street because it was too tired\"; pin off");
    }
}

/* Two rows of a plane share a line of the screen: both words are named, the cursor's first; the sum names its parts. */
static void rows_that_share_a_line(void **state)
{
    (void)state;
    run("reset view; goto decoder.blocks.1.resid_post[t=10]; view heat");
    draw(24, 80);
    assert_true(on_screen("┃l', ") && on_screen("┃pas, ") && on_screen("┃qu'  "));
    const NodeId n = session_node(&s, SIDE_B, s.place.path);
    const Axis *words = &session_graph(&s, SIDE_B)->axes[graph_node(session_graph(&s, SIDE_B), n)->dims.axis[0]];
    int lines = 0;
    for (int y = 6; y < 20; y++) { /* each name beside a line that has some of its row */
        const Cell *k = &c.cells[y * c.w + 19], *of = k + 20;
        const int row = (int)of->ref.cell / 64;
        char label[64];
        if (!of->ref.run || of->ref.node != n || row + 2 >= words->n || k->ch <= 32 || k->ch > 126)
            continue;
        bool near = false;
        for (int i = row - (row > 0); i < row + 2; i++)
            near = near || (uint32_t)axis_label(words, i, label, sizeof label)[0] == k->ch;
        if (!near)
            fail_msg("line %d, row %d: %c", y, row, (int)k->ch);
        lines++;
    }
    assert_true(lines > 8);
    assert_true(on_screen("ln2.out + mlp.out"));
    run("view strip");
    draw(40, 120); /* fewer cells than values: said */
    assert_true(on_screen("below 1 cell = "));
    draw(60, 200);
    assert_false(on_screen("below 1 cell = "));
    run("reset view");
}

/* No two numbers of a beginning touch, and the cursor's row is one. */
static void numbers_of_beginnings(void **state)
{
    (void)state;
    static const char *const WAYS[] = {"decode draw 3 temperature=3; move down 2", "decode beam; move down 4"};
    for (size_t way = 0; way < 2; way++)
        for (int w = 80; w <= 200; w += 40) {
            run(WAYS[way]);
            assert_true(decoding_all(&s, &error));
            draw(40, w);
            Buf text = {0};
            int numbers = 0, marked = 0;
            export_text(&c, &text);
            for (const char *at = buf_str(&text); (at = strchr(at, '-')) != NULL; at++)
                if (at[1] >= '0' && at[1] <= '9') {
                    assert_false(at[-1] >= '0' && at[-1] <= '9');
                    numbers++;
                }
            assert_true(numbers > 10);
            buf_free(&text);
            for (int y = 0; y < c.h; y++)
                for (int x = 0; x < c.w; x++) {
                    const Cell *k = &c.cells[y * c.w + x];
                    if (k->ch != '>' || k->style != STYLE_SELECTED)
                        continue;
                    for (int i = 0; i < 24; i++)
                        assert_int_equal(k[i].style, STYLE_SELECTED);
                    marked++;
                }
            assert_int_equal(marked, 1);
            run("option decode-by greedy");
        }
    run("reset view");
}

/* The numbers beside a beginning are those of all its words, wherever the cursor stands in it; those of the words that
 * Enter would run stand below. */
static void the_rows_numbers_are_of_its_words(void **state)
{
    (void)state;
    static const int HIGH[] = {24, 40, 60}, WIDE[] = {80, 120, 200};
    static const char *const FATES[] = {"", "dropped", "cut", "ended", "best"};
    run("decode greedy");
    assert_true(decoding_all(&s, &error));
    const Decoding *d = session_decoding(&s, SIDE_B);
    const DecodeRival *rival = &d->text->node[0].rival[0];
    char over[96], much[32];
    share_text(much, sizeof much, (float)rival->share);
    snprintf(over, sizeof over, "%s %s", session_exhibit(&s, SIDE_B)->model->target.word[rival->word], much);
    for (size_t k = 0; k < sizeof WIDE / sizeof *WIDE; k++) { /* what a greedy choice passed over stands beside it */
        draw(HIGH[k], WIDE[k]);
        assert_true(on_screen(over));
    }
    run("decode beam");
    assert_true(decoding_all(&s, &error));
    d = session_decoding(&s, SIDE_B);
    int parts = 0;
    for (int at = 0; at < d->lines; at++) {
        const DecodingLine *l = &d->line[at];
        int end = at;
        while (end + 1 < d->lines && d->line[end + 1].depth > 0 && d->line[end + 1].depth == d->line[end].depth &&
               d->text->node[d->line[end + 1].node].parent == d->line[end].node)
            end++;
        char command[48], whole[32], part[96], line[1024] = "";
        snprintf(command, sizeof command, "option beginning %d", at + 1);
        snprintf(whole, sizeof whole, "%.3f", d->text->node[d->line[end].node].score);
        snprintf(part, sizeof part, "score %.3f", d->text->node[l->node].score);
        run(command);
        for (size_t k = 0; k < sizeof WIDE / sizeof *WIDE; k++) {
            draw(HIGH[k], WIDE[k]);
            Buf text = {0};
            export_text(&c, &text);
            for (const char *y = buf_str(&text), *to; *y; y = to + (*to != 0)) {
                to = y + strcspn(y, "\n");
                const char *mark = strstr(y, "┃>"); /* behind the settings of the cache */
                if (mark && mark < to && strncmp(mark + strlen("┃>"), " cache", 6) != 0)
                    snprintf(line, sizeof line, "%.*s", (int)(to - mark), mark);
            }
            buf_free(&text);
            if (!strstr(line, whole) || !strstr(line, FATES[d->line[end].fate]))
                fail_msg("%d: %s %s is not in %s", at, whole, FATES[d->line[end].fate], line);
            if (on_screen(part) != (end > at))
                fail_msg("%d of %d, %d columns: %s", at, end, WIDE[k], part);
        }
        parts += end > at;
    }
    assert_true(parts > 5);
    run("option decode-by greedy; reset view");
}

/* A token's number is the one that its address has. */
static void tokens_count_as_addresses_do(void **state)
{
    (void)state;
    static const int HIGH[] = {24, 40, 60}, WIDE[] = {80, 120, 200};
    static const char *const WORDS[] = {"the", "animal", "did", "not", "cross", "the", "street", "because"};
    run("goto encoder.tokens; tokens");
    for (size_t k = 0; k < 3; k++)
        for (int i = 0; i < 8; i++) {
            char command[32], marked[32];
            snprintf(command, sizeof command, "query %d", i);
            snprintf(marked, sizeof marked, ">%3d %s ", i, WORDS[i]);
            run(command);
            draw(HIGH[k], WIDE[k]);
            if (!on_screen(marked))
                fail_msg("%s: no \"%s\"", command, marked);
        }
    run("query 12"); /* the end: the list is scrolled */
    draw(24, 80);
    assert_true(on_screen("> 12 </s>") && on_screen("–12 of 0–12"));
    run("query 0; reset view");
}

/* A number that the film has not come to is said to be so, and stands there once it has. */
static void a_number_that_is_not_there_yet(void **state)
{
    (void)state;
    int waits = 0, there = 0;
    run("reset view; goto decoder.blocks.1.cross_attn.z[t=10]");
    for (int i = 0; i < 5; i++) {
        run("play next");
        draw(40, 120);
        waits += on_screen("z[t=10,h=0,e=0] = not yet");
        there += on_screen("z[t=10,h=0,e=0] = -") || on_screen("z[t=10,h=0,e=0] = 0") ||
                 on_screen("z[t=10,h=0,e=0] = 1");
        assert_false(on_screen("z[t=10,h=0,e=0] = \n") || on_screen("z[t=10,h=0,e=0] =  "));
    }
    assert_true(waits > 0 && there > 0);
    run("reset view");
}

/* Tokens, and numbers of an embedding, that have no place are told. */
static void what_has_no_place(void **state)
{
    (void)state;
    run("tokens");
    draw(24, 80);
    const int wide = session_graph(&s, SIDE_B)->axes[graph_role(session_graph(&s, SIDE_B), ROLE_WIDTH, SEQUENCE_ANY)].n;
    const NodeId n = session_node(&s, SIDE_B, s.place.path);
    int seen = 0;
    for (int i = 0; i < c.h * c.w; i++)
        seen += c.cells[i].ref.run && i / c.w == 12 && c.cells[i].ref.node == n;
    char text[64];
    snprintf(text, sizeof text, "1–%d of %d", seen, wide);
    if (seen <= 0 || seen >= wide || !on_screen(text))
        fail_msg("%s is not said", text);
    run("lens tokens");
    draw(18, 60);
    assert_true(on_screen(" of 15"));
    draw(60, 200);
    assert_false(on_screen("tokens 1–"));
    run("option lens-tokens off; reset view");
}

/* A drawing's key is seen with it, and all of it where the screen is as high; what has no room is scrolled to. */
static void a_drawing_is_seen_whole(void **state)
{
    (void)state;
    static const int HIGH[] = {16, 24, 30, 40, 60}, WIDE[] = {80, 80, 80, 120, 200};
    int whole = 0;
    run("wiring");
    overlay_text(&lists, "", buf_str(&s.said));
    for (size_t k = 0; k < sizeof HIGH / sizeof *HIGH; k++) {
        draw(HIGH[k], WIDE[k]);
        overlay_draw(&lists, &c);
        assert_true(on_screen("[Encoder, decoder]"));
        if (HIGH[k] >= 24)
            assert_true(on_screen("[ ] this model") && on_screen("is seen, · masked"));
        whole += lists.scroll_end == 0;
        assert_true(lists.scroll_end == 0 || HIGH[k] < 40);
        Buf command = {0};
        const bool more = lists.scroll_end > 0;
        assert_int_equal(overlay_key(&lists, "End", &command), more ? OVERLAY_STAYS : OVERLAY_PASSED);
        if (more) {
            overlay_draw(&lists, &c);
            assert_int_equal(lists.scroll, lists.scroll_end);
            assert_true(on_screen("q closes"));
            lists.scroll = 0;
        } else
            overlay_text(&lists, "", buf_str(&s.said));
    }
    assert_int_equal(whole, 2);
    overlay_close(&lists);
}

/* Words of a list that is scrolled are counted where they are: above it, below it, or both. */
static void words_that_are_not_seen(void **state)
{
    (void)state;
    enum { WORDS = 15 };
    for (int t = 0; t < WORDS; t++) {
        char line[64];
        snprintf(line, sizeof line, "reset view; goto decoder.tokens[t=%d]", t);
        run(line);
        draw(18, 80);
        const NodeId n = session_node(&s, SIDE_B, "decoder.tokens");
        int first = WORDS, last = -1;
        for (int i = 0; i < c.h * c.w; i++) {
            const Ref *ref = &c.cells[i].ref;
            const int word = (int)ref->cell;
            if (!ref->run || ref->node != n)
                continue;
            first = word < first ? word : first;
            last = word > last ? word : last;
        }
        const int above = first, below = WORDS - 1 - last;
        assert_true(above + below > 0 && above + below < WORDS - 3);
        if (above && below)
            snprintf(line, sizeof line, "%d above, %d below", above, below);
        else
            snprintf(line, sizeof line, above ? "%d above" : "%d more", above ? above : below);
        if (!on_screen(line))
            fail_msg("t=%d, %d to %d: no \"%s\"", t, first, last, line);
    }
    run("reset view");
}

/* What a part of a step costs is said beside what the list of steps has for all of it. */
static void a_part_of_a_step_costs_less(void **state)
{
    (void)state;
    run("reset view; goto encoder.tokens");
    assert_true(s.stages.boxes[s.place.box].cost.flops == 832); /* 13 words, 64 wide: times √D */
    draw(60, 200);
    assert_true(on_screen("0 FLOP of the step's 832 FLOP, 52 B"));
    run("goto encoder.blocks.0.self_attn.pattern"); /* all of its step */
    draw(60, 200);
    assert_false(on_screen("of the step's"));
}

/* The light line of the cursor's row ends where its bar begins. */
static void nothing_light_behind_a_bar(void **state)
{
    (void)state;
    int rows = 0;
    run("goto probs[t=10]; word tired wide; view writing");
    draw(60, 200);
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x < c.w; x++) {
            const Cell *k = &c.cells[y * c.w + x];
            if (k->style != STYLE_SELECTED || k->ch != '>' || k[3].ch != ' ' || k[4].ch != 'q')
                continue;
            int last = 0, bar = 0; /* the cells of a number, and of its bar */
            for (int i = 0; k[i].ch != 0x2502 && k[i].ch != 0x2503; i++) {
                last = k[i].ref.run ? i : last;
                bar += k[i].ref.run && k[i].ch == 0x2588;
            }
            assert_true(bar > 3);
            for (int i = last + 1; k[i].ch != 0x2502 && k[i].ch != 0x2503; i++)
                assert_int_not_equal(k[i].style, STYLE_SELECTED);
            rows++;
        }
    assert_int_equal(rows, 2); /* A and B */
    run("pin off; reset edits; reset view");
    assert_true(session_open_input(&s, SENTENCE, &error));
}

/* Beside each other too A and B say how far the written word is ahead, and of which. */
static void two_sides_have_rivals(void **state)
{
    (void)state;
    run("goto probs[t=10]; word tired wide; view writing");
    for (int side = SIDE_A; side <= SIDE_B; side++)
        for (int small = 0; small < 2; small++) {
            const Graph *g = session_graph(&s, (Side)side);
            const NodeId margin = site_node_any(g, SITE_MARGIN);
            const float *x = session_need(&s, (Side)side, site_path_any(g, SITE_MARGIN), &error);
            const uint16_t run_of = session_ref((Side)side, margin, 0).run;
            int rows = 0, elle = 0;
            draw(small ? 24 : 40, small ? 80 : 120);
            for (int y = 0; y < c.h; y++)
                for (int i = 0; i + 8 < c.w; i++) {
                    const Cell *k = &c.cells[y * c.w + i];
                    if (k->ref.run != run_of || k->ref.node != margin || k[-1].ref.node == margin)
                        continue;
                    char text[16];
                    number_text(text, sizeof text, x[k->ref.cell], 5);
                    for (int d = 0; text[d]; d++)
                        assert_int_equal(k[d].ch, text[d]);
                    rows++;
                    elle += k->ref.cell == 10 && k[6].ch == 'e' && k[7].ch == 'l' && k[8].ch == 'l';
                }
            assert_int_equal(rows, small ? 8 : 15);
            assert_int_equal(elle, side == SIDE_A); /* what B writes is the rival of what A does */
        }
    run("pin off; reset edits; reset view");
    assert_true(session_open_input(&s, SENTENCE, &error));
}

/* Beside a row's weights stand the scores that the softmax made them of: each word's own, its bar to the side of its
 * sign; of a masked word none. With a cap they are the capped ones: their exponentials give the weights. */
static void see_scores(const char *line, int least)
{
    run(line);
    const Graph *g = session_graph(&s, SIDE_B);
    const NodeId pattern = session_node(&s, SIDE_B, s.place.path);
    const Dims d = graph_node(g, pattern)->dims;
    const size_t words = (size_t)g->axes[d.axis[d.n - 1]].n, at = session_cell(&s, SIDE_B, pattern) / words;
    const float *weight = session_need(&s, SIDE_B, s.place.path, &error), *x = NULL;
    double sum = 0, exps[32] = {0};
    draw(40, 120);
    int numbers = 0;
    for (int y = 0; y < c.h; y++) {
        int before = 0, behind = 0, from = -1;
        size_t cell = 0;
        for (int i = 60; i < 88; i++) {
            const Cell *k = &c.cells[y * c.w + i];
            if (!k->ref.run || k->ref.node == pattern || k->ref.cell / words != at)
                continue;
            cell = k->ref.cell;
            x = session_need(&s, SIDE_B, graph_node(g, k->ref.node)->path, &error);
            from = from < 0 && (k->ch == '-' || (k->ch >= '0' && k->ch <= '9')) ? i : from;
            before += k->style == STYLE_NEGATIVE;
            behind += k->style == STYLE_TEXT && k->ch >= 0x2580;
        }
        if (from < 0)
            continue;
        char text[16];
        number_text(text, sizeof text, x[cell], 8);
        for (int k = 0; text[k]; k++)
            assert_int_equal(c.cells[y * c.w + from + k].ch, text[k]);
        assert_true(x[cell] < 0 ? behind == 0 : before == 0);
        exps[cell % words] = exp((double)x[cell]);
        sum += exps[cell % words];
        numbers++;
    }
    assert_true(numbers >= least);
    for (size_t u = 0; u < words; u++)
        assert_true(fabs(exps[u] / sum - (double)weight[at * words + u]) < 1e-5);
    draw(24, 80); /* no room: weights alone */
    for (int y = 4; y < 18; y++)
        for (int i = 20; i < 59; i++)
            assert_true(!c.cells[y * c.w + i].ref.run || c.cells[y * c.w + i].ref.node == pattern);
    run("reset view");
}

static void a_row_has_its_scores(void **state)
{
    (void)state;
    see_scores("goto decoder.blocks.2.cross_attn.pattern[h=0,t=7]; view row", 13);
    see_scores("goto decoder.blocks.1.self_attn.pattern[h=0,t=7]; view row", 8);
    session_free(&s);
    opened_session(&s, "tests/data/families/words_gemma2", "ids:5,12,7,3");
    see_scores("goto pattern; query w3; view row", 2);
    session_free(&s);
    opened_session(&s, "translator", SENTENCE);
}

/* A word between the bars of two sides that only one reads has its side's colour; those of both have none. */
static void a_word_of_one_side(void **state)
{
    (void)state;
    int own = 0, both = 0;
    run("goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=6]; word tired wide; view matrix; compare sides");
    draw(40, 120);
    for (int y = 30; y < c.h; y++)
        for (int x = 0; x + 2 < c.w; x++) {
            const Cell *k = &c.cells[y * c.w + x];
            if (k[0].ch == '/' && x > 1 && k[1].ch == 'w')
                own += k[-1].style == STYLE_SIDE_A && k[-2].ch == 't' && k[1].style == STYLE_SIDE_B;
            if (k[0].ch == 't' && k[1].ch == 'o' && k[2].ch == 'o')
                both += k[0].style == STYLE_AXIS && k[2].style == STYLE_AXIS;
        }
    assert_int_equal(own, 1);
    assert_int_equal(both, 1);
    run("pin off; reset edits; reset view");
    assert_true(session_open_input(&s, SENTENCE, &error));
}

/* Tokens that are signs are no punctuation of a title. */
static void signs_stand_in_quotes(void **state)
{
    (void)state;
    static const char *const SIGNS[] = {"!",  "#", "$", "%", "&", "*", "+", ",", "-", ".",
                                        "..", ":", ";", "=", "?", "@", "^", "_", "~"};
    const Session old = s;
    Seq2seqConfig config = text_variant(0);
    for (size_t i = 1; i < TEXT_VARIANT_COUNT && config.form != SEQ2SEQ_DECODER_ONLY; i++)
        config = text_variant(i);
    Model m;
    text_model_seeded(&m, &config, 5);
    assert_true((size_t)config.target_words <= sizeof SIGNS / sizeof *SIGNS);
    m.target.word = SIGNS;
    if (!session_init_model(&s, &m, NULL, 1, &error))
        fail_msg("%s", error.text);
    run("ledger");
    draw(40, 120);
    Buf title = {0};
    ledger_text_short(&s, &title);
    int quotes = 0;
    for (const char *at = buf_str(&title); *at; at++)
        quotes += *at == '"';
    assert_int_equal(quotes, 4);
    assert_true(on_screen(buf_str(&title)));
    buf_free(&title);
    session_free(&s);
    s = old;
    run("goto probs[t=10]; ledger");
    ledger_text_short(&s, &title); /* words need none */
    assert_null(strchr(buf_str(&title), '"'));
    buf_free(&title);
    run("ledger off; reset view");
}

/* Over the rows of a close-up the tallest bar has its name; no bar touches one of the row below. */
static void bars_of_a_close_up(void **state)
{
    (void)state;
    static const int SIZES[][2] = {{24, 80}, {40, 120}, {60, 200}};
    run("goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=6]; view close-up");
    const NodeId n = session_node(&s, SIDE_B, s.place.path),
                 of = graph_node(session_graph(&s, SIDE_B), n)->in[0]; /* exp */
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        draw(SIZES[i][0], SIZES[i][1]);
        int named = -1, below = 0, bars = 0, ruler = 0;
        while (ruler + 1 < c.h * c.w && c.cells[ruler].ch != 0x25be)
            ruler++;
        for (int y = ruler / c.w; y + 1 < c.h; y++)
            for (int x = 0; x < c.w; x++) {
                const Cell *k = &c.cells[y * c.w + x], *next = k + c.w;
                if (y == ruler / c.w && k->ch == 'a' && k[1].ch == 'n')
                    named = x;
                if (!k->ref.run || (k->ref.node != n && k->ref.node != of) || k->ch < 0x2581 || k->ch > 0x2588)
                    continue;
                below += k->ref.node == n && k->ref.cell % 13 == 1 && x == named && k->ch == 0x2588;
                bars++;
                assert_true(k->ref.node == n || next->ref.node == of || next->ch != 0x2588);
            }
        if (named < 0 || !below || bars < 26)
            fail_msg("%d lines: named at %d, %d below, of %d", c.h, named, below, bars);
    }
    run("reset view");
}

/* Of two rows in a line that of the cursor is marked, in its half of it, and it has its name. */
static void half_a_line_is_marked(void **state)
{
    (void)state;
    int halves[2] = {0};
    for (int t = 0; t < 15; t++) {
        char line[100], label[64];
        snprintf(line, sizeof line, "goto decoder.blocks.2.self_attn.pattern[h=2,t=%d]; view matrix", t);
        run(line);
        draw(24, 80);
        const NodeId n = session_node(&s, SIDE_B, s.place.path);
        const Graph *g = session_graph(&s, SIDE_B);
        axis_label(&g->axes[graph_node(g, n)->dims.axis[1]], t, label, sizeof label);
        int marks = 0;
        for (int i = 0; i + 1 < c.h * c.w; i++) {
            const Cell *k = &c.cells[i];
            const bool lower = k->ch == 0x2584;
            if (k->style != STYLE_STRONG || (k->ch != 0x2580 && !lower) || k[1].ref.node != n || !k[1].ref.run)
                continue;
            assert_int_equal(k[1].ref.cell / 15 % 15, t - lower); /* a cell has the Ref of its upper half */
            int at = i;
            while (at > i - 12 && c.cells[at].style != STYLE_CURSOR)
                at--;
            while (at > 0 && c.cells[at - 1].style == STYLE_CURSOR)
                at--;
            assert_int_equal(c.cells[at].ch, (unsigned char)label[0] < 128 ? label[0] : 0xe9);
            halves[lower]++;
            marks++;
        }
        assert_int_equal(marks, 1);
    }
    assert_true(halves[0] == 8 && halves[1] == 7);
    run("reset view");
}

/* Where a panel has no room for its words' numbers, a line says what their grounds mean. */
static void grounds_have_a_scale(void **state)
{
    (void)state;
    run("goto encoder.blocks.1.self_attn.pattern; word tired wide; view sentence; compare sides");
    draw(24, 80);
    assert_true(on_screen("B>A ") && on_screen(" A>B"));
    int ends = 0;
    for (int i = 2; i < 21 * c.w; i++) /* behind the colours of A and of B how much full colour is */
        ends += c.cells[i].ch == '%' && c.cells[i - 2].ch >= '0' && c.cells[i - 2].ch <= '9' &&
                c.cells[i - c.w].ch == ' ' && c.cells[i + c.w].ch != '%' && c.cells[i - 12].level > 0;
    assert_int_equal(ends, 2);
    run("pin off; reset edits; reset view");
    assert_true(session_open_input(&s, SENTENCE, &error));
}

/* Where the screen has a byte-level tokeniser's sign, the line of the answer says what it is, unless a panel does. */
static void signs_are_told(void **state)
{
    (void)state;
    Paint p = {.s = &s, .c = &c, .mode = MODE_256};
    for (int k = 0; k < 3; k++) {
        canvas_resize(&c, 24, 120);
        canvas_clear(&c);
        if (k)
            canvas_text(&c, 3, 0, 120, STYLE_TEXT, k == 1 ? "Ġof" : "Ġof  Ġ: a blank, Ċ: a line's end");
        answer_line(&p, 22, 0, 120);
        bool said = false;
        for (int x = 0; x < 120; x++)
            said = said || canvas_at(&c, 22, x)->ch == 0x10a;
        assert_int_equal(said, k == 1);
    }
}

/* A rollout is no step and has no heads: the line on top says neither, and its row is not drawn twice. */
static void a_rollout_is_no_step(void **state)
{
    (void)state;
    run("goto probs; where rollout");
    draw(40, 120);
    assert_true(on_screen("  rollout  ") && !on_screen(": probs (p)") && !on_screen("self-attention  head ") &&
                !on_screen("every head"));
    assert_true(on_screen("largest weights"));
    run("where attention; option one-head on; where attention");
    draw(40, 120);
    assert_true(on_screen(": softmax") && on_screen("self-attention  head ") && on_screen("every head"));
    run("option one-head off; reset view");
}

/* Where the texts differ is seen however far from the cursor; points say what they are points of. */
static void where_texts_differ_is_seen(void **state)
{
    (void)state;
    run("goto decoder.tokens[t=14]; pin; word animal horse; map");
    draw(24, 80);
    assert_true(on_screen("  2  animal") && on_screen("  2  cheval") && on_screen("  2  other"));
    draw(40, 120);
    Shown of[3]; /* A, B, A − B: beside a word that both write by how many points one is surer of it */
    const char *path = shown_site(&s, SIDE_B, SITE_PROBS);
    for (int k = 0; k < 3; k++)
        assert_true(shown_open(&s, k == 0 ? SIDE_A : k == 1 ? SIDE_B : SIDE_DIFF, path, &of[k]) && of[k].values);
    const Text *a = &session_exhibit(&s, SIDE_A)->input.text[TEXT_TARGET],
               *b = &session_exhibit(&s, SIDE_B)->input.text[TEXT_TARGET];
    const size_t words = (size_t)s.model.target.n;
    int points = 0;
    for (int t = 1; t < a->count && t < b->count; t++) {
        const size_t cell = (size_t)(t - 1) * words + (size_t)a->word[t];
        bool drawn = false;
        for (int i = 0; i < c.h * c.w; i++)
            drawn |= c.cells[i].ref.run && ref_same(c.cells[i].ref, shown_ref(&of[2], cell));
        assert_true(drawn == (a->word[t] == b->word[t]));
        points += drawn;
    }
    assert_true(points > 5 && on_screen("points"));
    run("goto probs; view answer; compare diff");
    draw(60, 200);
    assert_true(on_screen("A names") && on_screen("of the word that moved most"));
    run("pin off; reset edits; reset view");
    assert_true(session_open_input(&s, SENTENCE, &error));
}

/* Has what differs more at least as strong a colour, in whichever head it is? */
static bool on_one_scale(void)
{
    float least[256], most[256];
    int cells = 0;
    for (int i = 0; i < 256; i++) {
        least[i] = INFINITY;
        most[i] = -1;
    }
    for (int i = 0; i < c.h * c.w; i++) {
        const Cell *k = &c.cells[i];
        char path[SESSION_PATH];
        if (k->ref.run != SIDE_DIFF || !k->level)
            continue;
        snprintf(path, sizeof path, "%s", graph_node(session_graph(&s, SIDE_B), k->ref.node)->path);
        if (!strstr(path, "self_attn.pattern"))
            continue;
        const float *x = session_peek(&s, SIDE_DIFF, path), size = x ? fabsf(x[k->ref.cell]) : NAN;
        least[k->level] = fminf(least[k->level], size);
        most[k->level] = fmaxf(most[k->level], size);
        cells++;
    }
    for (int i = 0, below = 0; i < 256; below = most[i] >= 0 ? i : below, i++)
        if (cells == 0 || (i > 0 && most[below] > least[i]))
            return false;
    return true;
}

/* A sheet of A | B says what it is and which colour is whose; of a long text it uses the room that it has. */
static void a_sheet_of_words(void **state)
{
    (void)state;
    run("goto decoder.blocks.2.cross_attn.pattern[h=2,t=10,r=6]; word tired wide; view sheet; compare sides");
    draw(40, 120);
    assert_true(on_screen("row's most of A, B") && on_screen("A>B") && on_screen("B>A"));
    draw(24, 80);
    assert_true((on_screen("A>B") && on_screen("B>A")) || (on_screen("more in A") && on_screen(" in B")));
    run("goto encoder.blocks.1.self_attn.pattern; view sheet");
    draw(40, 120); /* beside each line of A and of B its most, for its colours are its own */
    int told[SIDE_DIFF + 1] = {0};
    for (int i = 5 * c.w; i < 22 * c.w; i++)
        told[c.cells[i].ch == '%' ? c.cells[i].ref.run : 0]++;
    assert_true(told[SIDE_A] == 12 && told[SIDE_B] == 12);
    assert_true(on_one_scale() && on_screen("B>A -") && on_screen(" A>B"));
    draw(23, 80); /* rather no blank lines than a block less */
    assert_false(on_screen("↕"));
    run("goto encoder.blocks.1.self_attn.pattern[h=0,s=11]; view sheet");
    draw(23, 80); /* one line for the colours: how far those of the head in focus go, on either side */
    float far = 0;
    for (Side side = SIDE_A; side <= SIDE_B; side++) {
        const float *x = session_peek(&s, side, s.place.path);
        const Graph *g = session_graph(&s, side);
        const int *axis = graph_node(g, session_node(&s, side, s.place.path))->dims.axis;
        for (int i = 0; x && i < g->axes[axis[1]].n * g->axes[axis[2]].n; i++)
            far = fmaxf(far, x[i]);
    }
    char here[32];
    snprintf(here, sizeof here, "here %.0f %%", 100 * (double)far);
    assert_true(on_screen(here));
    draw(24, 80); /* the row below is of a word on either side, its bars have a scale */
    assert_true(on_screen("tired/wide") && on_screen("max "));
    assert_true(on_screen("…/w")); /* and between their bars, under the cursor too */
    run("pin off; reset edits; reset view; goto encoder.blocks.1.self_attn.pattern[s=0]; view sheet");
    draw(24, 80); /* one line for whose row and the colours; blocks and heads are told apart */
    assert_true(on_screen("what \"the\" looks at  0 ") && on_screen("most") && on_screen("b1 h0"));
    assert_true(
        session_open_input(&s, "the animal did not cross the street because it was too tired because it was too tired",
                           &error));
    run("goto encoder.blocks.1.self_attn.pattern[s=0,h=0]; view sheet");
    draw(24, 80); /* beside each line how much the word has that has most */
    int shares = 0;
    for (int i = 3; i < 21 * c.w; i++) {
        const Cell *k = &c.cells[i];
        shares += k->ch == '%' && k[-1].ch == ' ' && k[-2].ch >= '0' && k[-2].ch <= '9' && k[-2].ref.run &&
                  i % c.w < 60;
    }
    assert_int_equal(shares, 12);
    Buf many = {0};
    for (int i = 0; i < 7; i++)
        buf_puts(&many, "the animal was too tired because ");
    assert_true(session_open_input(&s, buf_str(&many), &error));
    buf_free(&many);
    run("goto encoder.blocks.1.self_attn.pattern; view sheet");
    draw(40, 120);
    const NodeId n = session_node(&s, SIDE_B, s.place.path);
    const size_t words =
        (size_t)session_graph(&s, SIDE_B)->axes[graph_node(session_graph(&s, SIDE_B), n)->dims.axis[1]].n;
    size_t last = 0, first = words;
    for (int i = 0; i < c.h * c.w; i++)
        if (c.cells[i].ref.run && c.cells[i].ref.node == n && c.cells[i].level) {
            const size_t row = c.cells[i].ref.cell / words % words;
            first = row < first ? row : first;
            last = row > last ? row : last;
        }
    assert_true(words > 36 && first < words / 4 && last > words / 2);
    run("reset view");
    assert_true(session_open_input(&s, SENTENCE, &error));
}

/* The cells of the row in focus that are drawn in lines of the screen. */
static int seen_in_row(void)
{
    const NodeId n = session_node(&s, SIDE_B, s.place.path);
    const Graph *g = session_graph(&s, SIDE_B);
    const size_t words = (size_t)g->axes[graph_node(g, n)->dims.axis[2]].n, row = session_cell(&s, SIDE_B, n) / words;
    bool seen[32] = {false};
    int count = 0;
    for (int i = 3 * c.w; i < c.h * c.w; i++) {
        const Cell *k = &c.cells[i];
        if (k->ref.run && k->ref.node == n && k->ref.cell / words == row && i % c.w > 20 && i % c.w < c.w - 22 &&
            !seen[k->ref.cell % words]) {
            seen[k->ref.cell % words] = true;
            count++;
        }
    }
    return count;
}

/* Of a row the masked words are one line, so that all that it may look at are seen; no other one is left out in
 * silence. */
static void no_word_is_left_out(void **state)
{
    (void)state;
    for (int t = 2; t < 13; t++) {
        char line[100];
        snprintf(line, sizeof line, "goto decoder.blocks.2.self_attn.pattern[h=2,t=%d,u=14]; view row", t);
        run(line);
        draw(24, 80);
        assert_int_equal(seen_in_row(), t + 2); /* and the cursor's, masked */
        char more[16];
        snprintf(line, sizeof line, "and %d more: masked", 13 - t);
        snprintf(more, sizeof more, "+%d: masked", 13 - t);
        assert_true(on_screen(line) || on_screen(more));
    }
    run("goto decoder.blocks.2.self_attn.scores_raw[h=2,t=5,u=0]; reset view");
    for (int h = 16, whole = 0; h < 28; h++) {
        draw(h, 80);
        const int seen = seen_in_row();
        bool told = seen == 15;
        for (int above = 0; above <= 15 - seen && !told; above++) {
            char up[16], down[16];
            utf8_print(up, sizeof up, "\u2191%d ", above);
            utf8_print(down, sizeof down, "\u2193%d ", 15 - seen - above);
            told = (!above || on_screen(up)) && (above == 15 - seen || on_screen(down));
        }
        whole += seen == 15;
        if (!told && h > 16)
            fail_msg("%d lines: %d of 15 seen", h, seen);
        assert_true(h < 25 || whole > 0);
    }
    run("reset view");
}

/* What uniform attention would give is said by the name of those above it. */
static void uniform_has_its_name(void **state)
{
    (void)state;
    s.look.pictures = MEASURES_ROUND;
    run("heads");
    for (int down = 0; down < 36; down += 7) {
        int lines = 0;
        draw(24, 80);
        for (int y = 1; y < c.h; y++)
            for (int x = 0; x + 12 < c.w; x++) {
                const Cell *k = &c.cells[y * c.w + x], *above = k - c.w;
                if (k->style != STYLE_DIM || k[0].ch != 'u' || k[1].ch != 'n' || k[2].ch != 'i' || k[3].ch != 'f')
                    continue;
                if (above[0].ch != 'h' || above[1].ch != '3') /* the first line */
                    continue;
                for (int i = 1; i < 12 && k[-i].ch != '>' && above[-i].ch != '>'; i++)
                    assert_int_equal(k[-i].ch, above[-i].ch);
                lines++;
            }
        assert_true(lines > 0);
        for (int i = 0; i < 7; i++)
            run("move down");
    }
    run("reset view");
}

/* A number of a likeness has one ground, above and below its digits. */
static void one_ground_for_a_number(void **state)
{
    (void)state;
    run("goto encoder.blocks.1.resid_post[s=0]; alike");
    draw(40, 120);
    int numbers = 0;
    for (int y = 0; y + 1 < c.h; y++)
        for (int x = 0; x < c.w; x++) {
            const Cell *k = &c.cells[y * c.w + x], *below = k + c.w;
            if (!k->ref.run || k->ch != '.' || below->ref.run != k->ref.run || below->ref.node != k->ref.node ||
                below->ref.cell != k->ref.cell)
                continue;
            assert_int_equal(k->bg, below->bg);
            numbers++;
        }
    assert_true(numbers > 20);
    assert_true(on_screen("centred cosine to \"the\""));
    static const int SIZES[][2] = {{16, 60}, {24, 80}, {40, 120}, {60, 200}};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) { /* the mean is said to be taken away */
        draw(SIZES[i][0], SIZES[i][1]);
        assert_true(on_screen("centred cosine to \"the\"") ||
                    on_screen("cosine to \"the\", the mean of all taken away"));
    }
    run("reset view");
}

/* What lines in grey are is said beside the value of the one in colour; a unit whose writing no answer is read from has
 * no list of answers begun. */
static void nothing_is_half_said(void **state)
{
    (void)state;
    run("goto decoder.blocks.2.cross_attn.pattern; training");
    draw(40, 120);
    bool grey = false;
    for (int y = 0; y < c.h; y++) {
        bool legend = false, value = false;
        for (int x = 0; x + 4 < c.w; x++) {
            const Cell *k = &c.cells[y * c.w + x];
            legend |= k->ch == 'g' && k[1].ch == 'r' && k[2].ch == 'e' && k[3].ch == 'y' && k->style == STYLE_DIM;
            value |= k->style == STYLE_SIDE_B && k->ch == '.';
        }
        grey = grey || (legend && value);
    }
    assert_true(grey);
    run("goto encoder.blocks.0.mlp.post; neuron 0");
    draw(25, 80);
    assert_false(on_screen("per unit of activation"));
    assert_true(on_screen("blocks follow") || on_screen("norms or"));
    run("reset view");
}

/* A word as a value is whole, whatever else has room; a head's name and the scale beside it are two things; and what
 * moved most has its number beside its bar. */
static void words_are_not_cut(void **state)
{
    (void)state;
    run("word tired wide; goto encoder.tokens[s=11]; view heat; compare sides");
    draw(40, 120);
    assert_true(on_screen(" = tired"));
    assert_true(on_screen(" = wide"));
    run("goto probs[t=10]; view answer");
    draw(40, 120);
    assert_true(on_screen("points"));
    assert_true(on_screen(" 89.2")); /* of trop: fatigué or large */
    run("pin off; word wide tired; pin off; goto probs[t=10]; why");
    for (int w = 100; w <= 200; w += 10) {
        draw(w < 150 ? 40 : 60, w);
        const bool named = on_screen("head 2, animal");
        Buf whole = {0};
        export_text(&c, &whole);
        const char *at = strstr(buf_str(&whole), "head 2, anim"); /* the whole word, before its scale */
        assert_true(!at || strncmp(at, "head 2, animal", 14) == 0);
        buf_free(&whole);
        assert_true(named || w < 120);
    }
    run("reset");
}

/* Where a token may not look nothing is drawn: 0 has a colour. */
static void masked_is_blank(void **state)
{
    (void)state;
    run("goto decoder.blocks.1.self_attn.pattern; view matrix");
    draw(60, 200);
    const NodeId n = session_node(&s, SIDE_B, s.place.path);
    const int words = 15;
    int drawn = 0;
    for (int i = 0; i < c.h * c.w; i++) {
        const Cell *k = &c.cells[i];
        if (k->ref.node != n || !k->ref.run || k->ch != ' ' || k->bg == COLOUR_DEFAULT || k->style != STYLE_TEXT)
            continue;
        assert_true((int)k->ref.cell % words <= (int)k->ref.cell / words % words);
        drawn++;
    }
    assert_true(drawn > words * (words + 1) / 2);
    assert_true(on_screen("blank: masked"));
    run("reset");
}

/* A and B as numbers beside each other on 80 columns: all heads of both. */
static void tables_of_two_sides_have_all_heads(void **state)
{
    (void)state;
    run("word tired wide; ledger; option ledger-table on; compare sides");
    draw(24, 80);
    assert_true(on_screen("  h0    h1    h2    h3   MLP"));
    assert_false(on_screen("####"));
    assert_false(on_screen("room for heads"));
    run("option ledger-table off");
    draw(24, 80);
    assert_true(on_screen("A − B"));
    run("reset");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_difference_of_two_streams),
                                       cmocka_unit_test(rows_that_share_a_line),
                                       cmocka_unit_test(numbers_of_beginnings),
                                       cmocka_unit_test(the_rows_numbers_are_of_its_words),
                                       cmocka_unit_test(tokens_count_as_addresses_do),
                                       cmocka_unit_test(a_number_that_is_not_there_yet),
                                       cmocka_unit_test(a_drawing_is_seen_whole),
                                       cmocka_unit_test(what_has_no_place),
                                       cmocka_unit_test(words_that_are_not_seen),
                                       cmocka_unit_test(a_part_of_a_step_costs_less),
                                       cmocka_unit_test(nothing_light_behind_a_bar),
                                       cmocka_unit_test(two_sides_have_rivals),
                                       cmocka_unit_test(a_row_has_its_scores),
                                       cmocka_unit_test(a_word_of_one_side),
                                       cmocka_unit_test(signs_stand_in_quotes),
                                       cmocka_unit_test(bars_of_a_close_up),
                                       cmocka_unit_test(half_a_line_is_marked),
                                       cmocka_unit_test(grounds_have_a_scale),
                                       cmocka_unit_test(signs_are_told),
                                       cmocka_unit_test(a_rollout_is_no_step),
                                       cmocka_unit_test(where_texts_differ_is_seen),
                                       cmocka_unit_test(a_sheet_of_words),
                                       cmocka_unit_test(no_word_is_left_out),
                                       cmocka_unit_test(uniform_has_its_name),
                                       cmocka_unit_test(one_ground_for_a_number),
                                       cmocka_unit_test(nothing_is_half_said),
                                       cmocka_unit_test(words_are_not_cut),
                                       cmocka_unit_test(masked_is_blank),
                                       cmocka_unit_test(tables_of_two_sides_have_all_heads)};
    return cmocka_run_group_tests(tests, start, stop);
}
