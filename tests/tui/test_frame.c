/* The whole screen at every size, under random commands: nothing is drawn outside its pane, every number on it is the
 * trace's, every key's command exists, every command of the table can be run and refuses nonsense without harm. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/base/utf8.h"
#include "core/models/drawn.h"
#include "core/models/names.h"
#include "core/session/address.h"
#include "core/session/ask/ask.h"
#include "core/session/options.h"
#include "core/session/screens.h"
#include "core/session/screens/laboratory.h"
#include "core/session/state.h"
#include "tests/tui/opened.h"
#include "tui/canvas/cell_look.h"
#include "tui/canvas/export.h"
#include "tui/cli/help.h"
#include "tui/frame.h"
#include "tui/keymap.h"
#include "tui/overlay.h"
#include "tui/prompt.h"

static Session s;
static Commands all;
static Overlay lists;

/* In a terminal's place: what commands asked of it. */
static struct {
    int count;
    UiAct what;
    char text[256];
} asked;

static bool act(struct App *app, UiAct what, const char *text, Err *err)
{
    (void)app;
    (void)err;
    asked.count++;
    asked.what = what;
    snprintf(asked.text, sizeof asked.text, "%s", text);
    return true;
}

static int start(void **state)
{
    (void)state;
    static Ui ui = {.overlay = &lists, .commands = &all, .act = act};
    opened_commands(&all, &ui);
    opened_quick(&s, NULL, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    return 0;
}

static bool run(const char *line)
{
    Err err = {{0}};
    return command_do(&s, &all, line, LINE_FOREIGN | COMMAND_UI, &err);
}

static void draw_as(Canvas *c, int h, int w, bool hint, ColourMode mode, bool light)
{
    canvas_resize(c, h, w);
    canvas_clear(c);
    Frame f = frame_layout(&s, h, w, hint);
    Needs needs = {.count = 0};
    frame_needs(&s, &f, &needs);
    assert_true(session_step(&s, needs.item, needs.count, CLOCK_NEVER));
    assert_true(session_step(&s, needs.item, needs.count, CLOCK_NEVER));
    Paint p = {.s = &s, .c = c, .mode = mode, .light = light};
    FrameState state = {.message = "", .status = "256c"};
    frame_draw(&p, &f, &state);
}

static void draw(Canvas *c, int h, int w, bool hint)
{
    draw_as(c, h, w, hint, MODE_256, false);
}

/* Letters and digits have a contrast of 4.5 on what they stand on: black, white, or the colour of data. */
static void text_is_read(const char *where)
{
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    for (int kind = 0; kind < 6; kind++) {
        ColourMode mode = (ColourMode)(MODE_8 + kind / 2);
        bool light = kind % 2;
        draw_as(&c, 40, 120, true, mode, light);
        for (int i = 0; i < c.h * c.w; i++) {
            const Cell *k = &c.cells[i];
            CellLook l = cell_look(k, mode, false, light);
            if (cell_is_data(k) || l.ch <= ' ' || k->style == STYLE_BORDER || svg_draws(l.ch) ||
                (l.bg == COLOUR_DEFAULT && (mode == MODE_8 || l.fg == COLOUR_DEFAULT)))
                continue; /* lines and surfaces; the theme's 8 colours are test_colour's */
            Colour ground = l.bg != COLOUR_DEFAULT ? l.bg
                            : light                ? 0xffffff
                                                   : 0x000000,
                   ink = l.fg != COLOUR_DEFAULT ? l.fg
                         : light                ? 0x000000
                                                : 0xffffff;
            if (colour_contrast(ink, ground) < 4.5)
                fail_msg("%s: U+%04X at %d,%d is #%06x on #%06x (%s, %d colours)", where, (unsigned)l.ch, i / c.w,
                         i % c.w, (unsigned)ink, (unsigned)ground, light ? "light" : "dark", (int)mode);
        }
    }
    canvas_free(&c);
}

/* Rows that share a drawn row are drawn by their largest, but not that of what is read: its cells are its own. */
static void a_lit_row_has_its_own_values(void **state)
{
    (void)state;
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    c.ascii = true; /* a cell of the screen is one drawn cell */
    assert_true(run("goto blocks.1.attn.pattern[h=0,t=r4c4,u=r4c4]; view formula"));
    draw(&c, 24, 80, false);
    int own = 0, others = 0;
    for (int y = 0; y < c.h; y++)
        for (int x = 0; x < c.w; x++) {
            const Cell *k = &c.cells[y * c.w + x];
            int index[DIMS_MAX];
            const Graph *g = session_graph(&s, SIDE_B);
            const Node *n = k->ref.run ? graph_node(g, k->ref.node) : NULL;
            if (!n || !k->level || strcmp(n->path, "blocks.1.attn.exp") != 0)
                continue;
            dims_unravel(g->axes, n->dims, k->ref.cell, index);
            if (!(k->attrs & ATTR_BOLD))
                others++;
            else if (index[1] == 1 + 4 * 8 + 4)
                own++;
            else
                assert_int_equal(index[2], 1 + 4 * 8 + 4); /* of the lit column */
        }
    assert_true(own > 8 && others > 20);
    canvas_free(&c);
}

/* The printed number that begins at or contains cell x of line y, and the value its Ref names. */
static size_t check_refs(const Canvas *c)
{
    size_t checked = 0;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const Cell *cell = &c->cells[y * c->w + x];
            if (cell->ref.run == SIDE_NONE)
                continue;
            Side side = (Side)cell->ref.run;
            const Graph *g = session_graph(&s, side == SIDE_DIFF ? SIDE_B : side);
            assert_true(cell->ref.node >= 0 && cell->ref.node < g->count);
            assert_true(cell->ref.cell < graph_cells(g, cell->ref.node));
            if (!session_peek(&s, side, graph_node(g, cell->ref.node)->path))
                fail_msg("a cell shows %s, which is not computed", graph_node(g, cell->ref.node)->path);
            checked++;
        }
    return checked;
}

static const char *const PLACES[] = {"goto image",
                                     "goto patch_embed",
                                     "goto pos_embed",
                                     "goto blocks.0.ln1.out",
                                     "goto blocks.1.attn.pattern",
                                     "view sheet",
                                     "view matrix",
                                     "goto blocks.2.attn.scores_raw; view formula",
                                     "goto blocks.1.attn.pattern; view close-up",
                                     "goto blocks.3.ln2.out; view close-up; play next",
                                     "goto blocks.2.mlp.post; view numbers",
                                     "view strip",
                                     "view histogram",
                                     "view heat",
                                     "view positions; view grids",
                                     "view centred",
                                     "goto probs",
                                     "goto logits; view formula",
                                     "goto blocks.0.attn.scale",
                                     "goto ln_final.out"};
enum { PLACE_COUNT = sizeof PLACES / sizeof *PLACES };

static void every_size(void **state)
{
    (void)state;
    static const int SIZES[][2] = {{1, 1},   {1, 80},   {2, 2},   {3, 200},  {5, 20},   {10, 59}, {16, 60},  {23, 79},
                                   {24, 80}, {25, 101}, {40, 10}, {40, 120}, {60, 200}, {80, 30}, {150, 500}};
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    for (int edited = 0; edited < 3; edited++) {
        if (edited)
            run(edited == 1 ? "set scale off; compare sides" : "compare diff");
        for (int p = 0; p < PLACE_COUNT; p++) {
            assert_true(run(PLACES[p]));
            for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
                draw(&c, SIZES[i][0], SIZES[i][1], i % 2);
                size_t refs = check_refs(&c);
                assert_true(refs > 0 || SIZES[i][0] < 10 || SIZES[i][1] < 50);
            }
        }
    }
    canvas_free(&c);
}

static void no_pane_overlaps_another(void **state)
{
    (void)state;
    for (int h = 1; h <= 70; h += 3)
        for (int w = 1; w <= 220; w += 7)
            for (int p = 0; p < PLACE_COUNT; p++) {
                run(PLACES[p]);
                Frame f = frame_layout(&s, h, w, (unsigned)p % 8);
                for (int i = 0; i < f.count; i++) {
                    Rect a = f.pane[i].box;
                    if (f.pane[i].label && strcmp(f.pane[i].label, "B") == 0) /* to be compared, so drawn alike */
                        for (int k = 0; k < i; k++)
                            assert_true(f.pane[k].side != SIDE_A || f.pane[k].box.w == a.w);
                    assert_true(a.y >= 0 && a.x >= 0 && a.y + a.h <= h && a.x + a.w <= w);
                    for (int k = i + 1; k < f.count; k++) {
                        Rect b = f.pane[k].box;
                        assert_true(a.y + a.h <= b.y || b.y + b.h <= a.y || a.x + a.w <= b.x || b.x + b.w <= a.x);
                    }
                    assert_true(!f.footer.h || a.y + a.h <= f.footer.y);
                }
            }
}

/* The lines of a rectangle as one text, words apart by one blank. */
static void text_of(const Canvas *c, Rect r, char *out, size_t size)
{
    size_t n = 0;
    for (int y = r.y; y < r.y + r.h; y++) {
        for (int x = r.x; x < r.x + r.w; x++) {
            uint32_t ch = c->cells[y * c->w + x].ch;
            char bytes[5] = {0};
            utf8_put(bytes, ch ? ch : ' ');
            if ((*bytes == ' ' && (n == 0 || out[n - 1] == ' ')) || n + 5 > size)
                continue;
            memcpy(out + n, bytes, strlen(bytes));
            n += strlen(bytes);
        }
        if (n && out[n - 1] != ' ')
            out[n++] = ' ';
    }
    out[n && out[n - 1] == ' ' ? n - 1 : n] = 0;
}

/* The plain sentence of the step is on screen, all of it, at every size that people work at. */
static void the_sentence_is_always_there(void **state)
{
    (void)state;
    static const int SIZES[][2] = {{16, 60}, {24, 80}, {40, 120}, {60, 200}};
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    int total;
    do {
        for (size_t i = 0; i < 4; i++) {
            draw(&c, SIZES[i][0], SIZES[i][1], false);
            Frame f = frame_layout(&s, SIZES[i][0], SIZES[i][1], false);
            char text[256];
            text_of(&c, f.sentence, text, sizeof text);
            assert_string_equal(text, stages_sentence(&s.stages, s.open, s.place.box));
        }
        run("next");
    } while (session_step_number(&s, &total) < total);
    canvas_free(&c);
}

/* Between A and B: what was measured of B alone has no scale beside it, which would say that A's is 0; and every place
 * of the model is seen at a glance, the number of each cell its own. */
static void what_was_not_measured_is_not_0(void **state)
{
    (void)state;
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    char *text = xmalloc(1 << 16);
    assert_true(run("set scale off") && run("where occlusion"));
    draw(&c, 40, 120, false);
    Frame f = frame_layout(&s, 40, 120, false);
    int sides = 0;
    for (int i = 0; i < f.count; i++) {
        if (f.pane[i].view != view_now(&s))
            continue;
        text_of(&c, f.pane[i].inside, text, 1 << 16);
        assert_null(strstr(text, "all of it is 0"));
        assert_null(strstr(text, "measuring")); /* each side has its map */
        sides++;
    }
    assert_int_equal(sides, 3);
    free(text);
    assert_true(run("alike start"));
    draw(&c, 40, 120, false);
    static const Side SIDES[] = {SIDE_A, SIDE_B, SIDE_DIFF};
    for (int k = 0; k < 3; k++)
        for (int row = LENS_START; row < session_blocks(&s); row++) {
            NodeId n = session_node(&s, SIDES[k], alike_path(&s, SIDES[k], row, SITE_ALIKE_COSINE));
            Ref first = session_ref(SIDES[k], n, 0);
            int cells = 0;
            for (int i = 0; i < c.h * c.w; i++)
                cells += c.cells[i].ref.run == first.run && c.cells[i].ref.node == first.node;
            if (n == NO_NODE || cells == 0)
                fail_msg("side %d: no cell of place %d", k, row);
        }
    canvas_free(&c);
}

/* Two pictures: the header names both, each pane draws and describes its own. One side alone says which it is. */
static void a_pinned_picture_is_named(void **state)
{
    (void)state;
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    char text[1 << 15];
    Err err = {{0}};
    if (!command_do(&s, &all, "pin; open #18; goto first", LINE_OWN, &err))
        fail_msg("%s", err.text);
    draw(&c, 40, 120, false);
    text_of(&c, (Rect){0, 0, 1, 120}, text, sizeof text);
    assert_non_null(strstr(text, "A #17 star B #18 ring"));
    Frame f = frame_layout(&s, 40, 120, false);
    int answers = 0;
    for (int i = 0; i < f.count; i++) {
        if (strcmp(f.pane[i].view->name, "answer") != 0)
            continue;
        text_of(&c, f.pane[i].inside, text, sizeof text);
        assert_non_null(strstr(text, "drawn as: A star, B ring"));
        answers++;
    }
    assert_int_equal(answers, 1);
    text_of(&c, (Rect){0, 0, 40, 120}, text, sizeof text); /* what the pictures leave is the answers': all ten */
    for (size_t i = 0; i < 10; i++)
        assert_non_null(strstr(text, SHAPES_NAMES[i]));
    run("goto blocks.1.attn.pattern; compare a");
    draw(&c, 24, 80, false);
    text_of(&c, (Rect){1, 0, 1, 80}, text, sizeof text);
    assert_non_null(strstr(text, "A pattern["));
    run("compare diff");
    draw(&c, 24, 80, false);
    text_of(&c, (Rect){1, 0, 1, 80}, text, sizeof text);
    assert_non_null(strstr(text, "A − B points of pattern["));
    run("pin off; goto first");
    draw(&c, 24, 80, false);
    text_of(&c, (Rect){0, 0, 2, 80}, text, sizeof text);
    assert_non_null(strstr(text, "#18 ring step 1 of"));
    assert_null(strstr(text, "A "));
    canvas_free(&c);
}

static void keys_are_commands(void **state)
{
    (void)state;
    char first[32];
    Err err = {{0}};
    assert_true(session_open_input(&s, scale_places_input(first, sizeof first), &err));
    for (int i = 0; keymap_at(i); i++) {
        const KeyBinding *k = keymap_at(i);
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(k->command, " "), k->command);
        if (!command_find(&all, name))
            fail_msg("key %s runs '%s', which is no command", k->key, k->command);
        assert_true(*k->help);
        int screens = 0; /* on which it does something; two bindings of one key never share a screen */
        for (int screen = 0; screen < 4 * SCREEN_COUNT; screen++) {
            s.place.screen = (Screen)(screen / 4);
            s.sought.on = screen % 4 == 1; /* n goes on with a search */
            s.look.playing = screen % 4 == 2;
            s.look.ledger.table = screen % 4 == 3; /* v leads back to the river */
            screens += keymap_in_force(&s, k);
            const KeyBinding *found = keymap_find(&s, k->key);
            int same = 0;
            for (int j = 0; keymap_at(j); j++)
                same += strcmp(keymap_at(j)->key, k->key) == 0 && keymap_in_force(&s, keymap_at(j));
            assert_int_equal(same, found != NULL);
        }
        if (!screens)
            fail_msg("key %s never runs '%s'", k->key, k->command);
    }
    s.place.screen = SCREEN_PICTURE;
    s.sought.on = s.look.playing = s.look.ledger.table = false;
    assert_true(session_open_input(&s, "#17", &err));
    const Command *c;
    for (int i = 0; (c = command_at(&all, i)) != NULL; i++) {
        assert_true(*c->usage && *c->summary && *c->group);
        assert_memory_equal(c->usage, c->name, strlen(c->name));
    }
}

/* What the bottom line offers is not refused: x wherever something can be switched off, and only there. */
static void offered_keys_do_something(void **state)
{
    (void)state;
    int offered = 0;
    for (int step = 1; step <= s.stages.steps; step++) {
        char line[32];
        snprintf(line, sizeof line, "step %d", step);
        assert_true(run("goto first") && run(line));
        const KeyBinding *x = keymap_find(&s, "x");
        bool shown = !x->when || x->when(&s), done = run(x->command);
        if (shown != done)
            fail_msg("step %d: x is %s, and %s", step, shown ? "offered" : "not offered", done ? "works" : "refuses");
        offered += shown;
        assert_true(run("reset edits"));
    }
    assert_true(offered > 0 && offered < s.stages.steps);
    assert_true(run("goto first"));
}

static void written(Buf *out)
{
    buf_clear(out);
    session_write(&s, STATE_MODEL | STATE_INPUT | STATE_WHOLE, out);
}

static void same_lines(const char *task, const char *want, const char *got)
{
    for (; *want || *got; want += strcspn(want, "\n") + (*want != 0), got += strcspn(got, "\n") + (*got != 0)) {
        int n = (int)strcspn(want, "\n"), m = (int)strcspn(got, "\n");
        if (n != m || memcmp(want, got, (size_t)n) != 0)
            fail_msg("after task %s: '%.*s', was '%.*s'", task, m, got, n, want);
    }
}

/* Of every task that starts clean: its own edits alone are in force, and when it ends everything is as it was: picture,
 * edits, place, what can be undone, where Backspace leads. */
static void tasks_keep_what_the_reader_has(void **state)
{
    (void)state;
    Buf before = {0}, after = {0}, text = {0}, changes = {0};
    Task task = {.text = ""};
    const char *name;
    assert_true(
        run("open #23; goto blocks.2.attn.pattern[h=1,t=r2c2,u=r2c3]; view matrix; ablate blocks.0.attn.z[h=0]"));
    assert_true(run("set scale off; undo; skip mlp block=1; goto blocks.2.mlp.post"));
    written(&before);
    int undo = s.undo_count, redo = s.redo_count, back = s.back_count, clean = 0;
    for (int i = 0; (name = task_at(&s, &task, i, &text, &changes)) != NULL; i++) {
        Err err = {{0}};
        if (strcmp(name, "reset") == 0 || strcmp(name, "pair") == 0) /* these are about what the reader has */
            continue;
        if (!task_begin(&task, &s, &all, name, &err))
            fail_msg("task %s: %s", name, err.text);
        if (!task_on(&task)) { /* it looks at what is there, or asks */
            written(&before);
            back = s.back_count;
            buf_clear(&changes);
            continue;
        }
        clean++;
        assert_non_null(strstr(buf_str(&changes), "Your 2 changes are set apart"));
        for (int k = 0; k < s.edits.count; k++)
            assert_true(strcmp(s.edits.line[k], "ablate blocks.0.attn.z[h=0]") != 0 &&
                        strcmp(s.edits.line[k], "skip mlp block=1") != 0);
        assert_true(s.undo_count <= 1);
        if (strcmp(name, "off") == 0) {
            assert_string_equal(s.place.path, "blocks.1.attn.z");
            assert_int_equal(session_head(&s), 2);
            assert_int_equal(s.edits.count, 1);
            assert_int_equal(s.compare, COMPARE_SIDES);
        }
        if (strcmp(name, "scale") == 0)
            assert_true(task_begin(&task, &s, &all, "off", &err)); /* the first one's keeping stays */
        if (!task_end(&task, &s, &err))
            fail_msg("task %s does not end: %s", name, err.text);
        written(&after);
        same_lines(name, buf_str(&before), buf_str(&after));
        assert_int_equal(s.undo_count, undo);
        assert_int_equal(s.redo_count, redo);
        assert_int_equal(s.back_count, back);
        buf_clear(&changes);
    }
    assert_true(clean > 8);
    assert_false(task_end(&task, &s, NULL));
    assert_false(task_begin(&task, &s, &all, "nothing", NULL));
    assert_false(task_begin(&task, &s, &all, "word", NULL)); /* of words */
    buf_free(&before);
    buf_free(&after);
    buf_free(&text);
    buf_free(&changes);
}

/* The title says where it goes: down the largest terms to a pixel of this picture. */
static void the_pixel_of_a_number(void **state)
{
    (void)state;
    assert_true(run("goto blocks.1.attn.z[t=r3c4,h=2,e=3]; why end"));
    NodeId n = session_node(&s, SIDE_B, s.place.path);
    assert_true(n != NO_NODE);
    assert_int_equal(graph_node(session_base(&s), n)->op, OP_LEAF);
    assert_int_equal(graph_node(session_base(&s), n)->leaf.kind, LEAF_INPUT);
    assert_non_null(strstr(buf_str(&s.said), "steps along the largest terms from blocks.1.attn.z"));
    assert_null(strchr(buf_str(&s.said), '\n'));
    assert_true(run("back"));
    assert_string_equal(s.place.path, "blocks.1.attn.z");
}

/* The page of keys: no action twice, each with all its keys. */
static void help_lists_an_action_once(void **state)
{
    (void)state;
    Overlay o = {0};
    overlay_help(&o, &s, NULL, &all, 1);
    bool next = false;
    for (int i = 0; i < o.count; i++) {
        for (int k = 0; k < i; k++)
            if (o.items[i].command && o.items[k].command && strcmp(o.items[i].command, o.items[k].command) == 0)
                fail_msg("'%s' stands there twice", o.items[i].command);
            else if (strcmp(o.items[i].text, o.items[k].text) == 0)
                fail_msg("'%s' stands there twice", o.items[i].text);
        next = next || strcmp(o.items[i].key, "Space n PgDn") == 0;
        assert_false(strstr(o.items[i].key, "S-") || strstr(o.items[i].key, "^D")); /* as keyboards have them */
    }
    assert_true(next);
    overlay_free(&o);
}

/* A search finds a key, then a command, then words as words, before letters inside of others. */
static void help_finds_words(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *command;
    } CASES[] = {
        {"s", "set scale toggle"},
        {"t", "lessons"},
        {"through", "task walk"},
        {"lesson", "prompt lesson "},
        {"census", "census"},
        {"picture", "view picture"},
        {"q", "close"},
        {"PgDn", "next"},
        /* and whatever else there is: a mark, a class, a lesson, a setting, a node that no step shows, a screen; words
         * in any order, and letters where no word is found */
        {"camp", "mark \"my camp\" go"},
        {"crescent", "goto probs[o=7]"},
        {"dot product", "lesson dot-product"},
        {"pool-by", "prompt option pool-by "},
        {"q_nobias blocks.2", "goto blocks.2.attn.q_nobias"},
        {"histogram", "view histogram"},
        {"what does sqrt do", "task scale"}, /* what is asked in other words than the lines have */
        {"square root", "task scale"},
        {"b3pattrn", "goto blocks.3.attn.pattern"},
        /* where no word is found the letters that stand closest, of the line rather than of what is said of it */
        {"sftmx", "goto blocks.0.attn.pattern"},
        /* a way of seeing by what its screen is titled then, from any other */
        {"river", "ledger; option ledger-table off"}};
    Overlay o = {0};
    Buf command = {0};
    assert_true(run("goto blocks.0.attn.q")); /* not where s means something else */
    assert_true(run("mark \"my camp\""));
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        overlay_help(&o, &s, NULL, &all, HELP_SEARCH);
        for (const char *p = CASES[i].typed; *p; p++)
            overlay_key(&o, *p == ' ' ? "Space" : (char[]){*p, 0}, &command);
        buf_clear(&command);
        assert_int_equal(overlay_key(&o, "Enter", &command), OVERLAY_RUN);
        if (strcmp(buf_str(&command), CASES[i].command) != 0)
            fail_msg("'%s' finds %s first", CASES[i].typed, buf_str(&command));
    }
    overlay_help(&o, &s, NULL, &all, HELP_SEARCH);
    for (int i = 0; i < o.count; i++) /* its key stands beside a command */
        if (o.items[i].command && strcmp(o.items[i].command, "undo") == 0)
            assert_string_equal(o.items[i].key, "u");
    for (const char *p = "zzxq"; *p; p++)
        overlay_key(&o, (char[]){*p, 0}, &command);
    assert_int_equal(overlay_key(&o, "Enter", &command), OVERLAY_STAYS); /* nothing has those */
    buf_free(&command);
    overlay_free(&o);
}

/* Types that into the search; is the line of that command among what is shown? */
static bool search_shows(Overlay *o, const char *typed, const char *command)
{
    utf8_take(o->filter, sizeof o->filter, typed, strlen(typed));
    Canvas c = {0};
    canvas_init(&c, 8, 20);
    overlay_draw(o, &c); /* arranges the lines */
    canvas_free(&c);
    for (int k = 0; k < o->lines; k++)
        if (o->items[o->line[k]].command && strcmp(o->items[o->line[k]].command, command) == 0)
            return true;
    return false;
}

/* Every word of the glossary, every other name for one and every heading of docs/ is found, and what is found opens. */
static void help_finds_every_word_and_heading(void **state)
{
    const char *word, *about, *page;
    char command[300], heading[PAGE_HEADING];
    Overlay o = {0};
    int headings = 0;
    (void)state;
    overlay_help(&o, &s, NULL, &all, HELP_SEARCH);
    for (int i = 0; (word = ask_glossary_entry(i, &about)) != NULL; i++) {
        snprintf(command, sizeof command, "glossary \"%s\"", word);
        if (!search_shows(&o, word, command) || !run(command) || strstr(buf_str(&s.said), about) == NULL)
            fail_msg("'%s' is not found", word);
    }
    for (int i = 0; (word = ask_glossary_alias(i, &about)) != NULL; i++) {
        snprintf(command, sizeof command, "glossary \"%s\"", word);
        if (!search_shows(&o, word, command) || !run(command))
            fail_msg("'%s' is not found", word);
    }
    for (; (page = page_heading(headings, heading)) != NULL; headings++) {
        Buf text = {0};
        char typed[60];
        snprintf(command, sizeof command, "help page %s \"%s\"", page, heading);
        utf8_take(typed, sizeof typed, heading, strlen(heading));
        if (!search_shows(&o, typed, command))
            fail_msg("'%s' is not found", heading);
        assert_true(page_text(page, heading, 76, &text));
        assert_int_equal(strncmp(buf_str(&text), heading, strlen(heading)), 0);
        for (const char *p = buf_str(&text); *p; p += strcspn(p, "\n") + 1) { /* a paragraph keeps to the box */
            char line[512];
            utf8_take(line, sizeof line, p, strcspn(p, "\n"));
            if (*p != ' ' && strchr(line, ' '))
                assert_in_range(utf8_cells(line), 0, 76);
        }
        buf_free(&text);
    }
    assert_true(headings > 40);
    overlay_free(&o);
}

/* The words of papers and of other programs (TransformerLens, bertviz) lead somewhere: a line says them, and not by
 * their letters alone. */
static void help_finds_the_fields_words(void **state)
{
    (void)state;
    static const char *const WORDS[] = {"logit difference",
                                        "logit diff",
                                        "logit differences",
                                        "induction head",
                                        "logit lens",
                                        "activation patching",
                                        "causal tracing",
                                        "perplexity",
                                        "minimal pair",
                                        "unembedding",
                                        "W_U",
                                        "KV cache",
                                        "key-value cache",
                                        "BOS",
                                        "EOS",
                                        "special tokens",
                                        "chat template",
                                        "attention sink",
                                        "residual stream",
                                        "skip connection",
                                        "surprise",
                                        "surprisal",
                                        "log probability",
                                        "logprobs",
                                        "GQA",
                                        "multi-query",
                                        "multi-head attention",
                                        "YaRN",
                                        "ALiBi",
                                        "RoPE",
                                        "direct logit",
                                        "DLA",
                                        "mean ablation",
                                        "previous token head",
                                        "hook_z",
                                        "hook_resid_pre",
                                        "attention pattern",
                                        "attention weights",
                                        "saliency map",
                                        "model view",
                                        "neuron view",
                                        "positional encoding",
                                        "byte-pair encoding",
                                        "subword",
                                        "weight tying",
                                        "next token",
                                        "autoregressive",
                                        "nucleus sampling",
                                        "beam search",
                                        "cross-entropy",
                                        "feed forward",
                                        "SwiGLU",
                                        "mixture of experts",
                                        "sliding window",
                                        "PCA",
                                        "scaled dot-product",
                                        "head importance",
                                        "pre-LN",
                                        "context length",
                                        "MLM",
                                        "tokenization",
                                        "LayerScale",
                                        "transformer",
                                        "quantization"};
    Overlay o = {0};
    overlay_help(&o, &s, NULL, &all, HELP_SEARCH);
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        search_shows(&o, WORDS[i], "");
        if (!o.lines || o.items[o.line[0]].match < FIND_INSIDE)
            fail_msg("'%s' is not found", WORDS[i]);
        if (o.lines > 60)
            fail_msg("'%s' finds %d lines", WORDS[i], o.lines);
    }
    overlay_free(&o);
}

static void help_runs_its_tasks(void **state)
{
    (void)state;
    Overlay o = {0};
    for (int page = 0; page < 3; page++) {
        overlay_help(&o, &s, NULL, &all, page);
        assert_true(o.count > 5);
        int count = o.count;
        for (int i = 0; i < count; i++) {
            char line[256];
            if (!o.items[i].command || page == 2)
                continue;
            snprintf(line, sizeof line, "%s", o.items[i].command);
            Err err = {{0}};
            if (!command_do(&s, &all, line, LINE_OWN | COMMAND_UI, &err) && page == 0)
                fail_msg("task '%s': %s", o.items[i].text, err.text);
            if (session_input(&s, SIDE_B)->kind == INPUT_TEXT) /* one that opens the translator */
                assert_true(run("model bundled; open #17"));
            s.quit = false;
        }
        Canvas c = {0};
        canvas_init(&c, 24, 80);
        canvas_fill(&c, c.clip, STYLE_TEXT, '.');
        overlay_draw(&o, &c);
        int behind = 0;
        for (int i = 0; i < c.h * c.w; i++) { /* what lies behind is dim, the list is not */
            assert_true(i % c.w || c.cells[i].attrs & ATTR_DIM);
            behind += (c.cells[i].attrs & ATTR_DIM) != 0;
        }
        assert_true(behind > 2 * c.h && behind < c.h * c.w / 2);
        canvas_resize(&c, 1, 1);
        overlay_draw(&o, &c);
        canvas_free(&c);
    }
    Buf command = {0};
    overlay_help(&o, &s, NULL, &all, 0);
    assert_int_equal(overlay_key(&o, "/", &command), OVERLAY_RUN); /* a search goes through all pages */
    assert_string_equal(buf_str(&command), "help find");
    buf_clear(&command);
    overlay_help(&o, &s, NULL, &all, 0);
    assert_int_equal(overlay_key(&o, "^P", &command), OVERLAY_RUN); /* as its last line says */
    assert_string_equal(buf_str(&command), "help find");
    buf_clear(&command);
    overlay_help(&o, &s, NULL, &all, HELP_SEARCH);
    for (const char *p = "scale"; *p; p++)
        overlay_key(&o, (char[]){*p, 0}, &command);
    overlay_key(&o, "Backspace", &command);
    overlay_key(&o, "Backspace", &command);
    overlay_key(&o, "Down", &command);
    overlay_key(&o, "Up", &command);
    assert_int_equal(overlay_key(&o, "Enter", &command), OVERLAY_RUN);
    assert_true(command.len > 0);
    buf_free(&command);
    overlay_open_menu(&o, &s);
    assert_true(o.count > 10);
    overlay_find_menu(&o, &s);
    overlay_view_menu(&o, &s);
    overlay_free(&o);
}

/* However much is said, half of the screen stays in sight, and of that the cursor. */
static void what_is_said_leaves_the_cursor_in_sight(void **state)
{
    (void)state;
    Overlay o = {0};
    Canvas c;
    canvas_init(&c, 24, 80);
    for (int y = 1; y < 23; y++) {
        canvas_fill(&c, (Rect){0, 0, 24, 80}, STYLE_TEXT, '.');
        c.cursor_y = y;
        c.cursor_x = 40;
        Buf text = {0};
        for (int i = 0; i < 20; i++)
            buf_puts(&text, "a line\n");
        overlay_text(&o, "", buf_str(&text));
        overlay_draw(&o, &c);
        int seen = 0;
        for (int i = 0; i < 24; i++)
            seen += c.cells[i * 80 + 40].ch == '.';
        assert_int_equal(c.cells[y * 80 + 40].ch, '.');
        assert_true(seen >= 8);
        assert_true(y > 6 || seen == 8); /* two thirds where there is the room */
        Buf command = {0};
        assert_int_equal(overlay_key(&o, "End", &command), OVERLAY_STAYS); /* all of it can be read */
        overlay_draw(&o, &c);
        assert_int_equal(o.scroll, o.scroll_end);
        buf_free(&text);
    }
    overlay_free(&o);
    canvas_free(&c);
}

/* What a row's map says of its marks and colours ends with a sentence, however narrow it is. */
static void a_rows_legend_is_not_cut(void **state)
{
    (void)state;
    Canvas c = {0};
    char line[256];
    int said = 0;
    assert_true(run("goto blocks.1.attn.pattern[h=2,t=r3c4,u=r4c4]; view row"));
    canvas_init(&c, 1, 1);
    for (int w = 70; w < 200; w += 5) {
        draw(&c, 40, w, false);
        Frame f = frame_layout(&s, 40, w, false);
        for (int y = 0; y < c.h; y++)
            for (int i = 0; i < f.count; i++) {
                Rect in = f.pane[i].inside;
                if (f.pane[i].view != view_of(SCREEN_ROW) || y < in.y || y >= in.y + in.h)
                    continue;
                text_of(&c, (Rect){y, in.x, 1, in.w}, line, sizeof line);
                bool legend = strstr(line, "is looked at: its weight") || strstr(line, "> < asks");
                said += legend;
                assert_false(legend && strstr(line, "\xe2\x80\xa6"));
            }
    }
    assert_true(said > 5);
    canvas_free(&c);
}

/* The screens, from their commands; where one is on, the ways of seeing list them too, after its own. */
static void what_was_learned_has_a_list(void **state)
{
    (void)state;
    Overlay o = {0};
    overlay_learned_menu(&o, &s);
    int learned = 0;
    for (int i = 0; i < SCREEN_COUNT; i++)
        learned += screen_spec((Screen)i)->group == GROUP_LEARNED;
    assert_int_equal(o.count, learned);
    for (int i = 0; i < o.count; i++) {
        const Command *c = command_find(&all, o.items[i].command);
        assert_non_null(c);
        assert_string_equal(c->group, "learned");
        const char *said = o.items[i].text +
                           11; /* behind the name: what it is, all of it or up to a mark, on 80 columns */
        size_t n = strlen(said);
        assert_true(n > 10 && strncmp(said, c->summary, n) == 0 && strchr(";:,", c->summary[n]) &&
                    strlen(c->name) < 11);
        assert_in_range(utf8_cells(o.items[i].text), 12, 73);
    }
    run("laboratory");
    overlay_view_menu(&o, &s);
    int listed = 0;
    for (int i = 0; i < o.count; i++)
        listed += o.items[i].command && strcmp(o.items[i].command, "census") == 0;
    assert_int_equal(listed, 1);
    assert_string_equal(o.items[0].command, "laboratory all");
    assert_string_equal(keymap_find(&s, "Right")->help, "a larger factor on 1/√d_k");
    run("goto first");
    assert_string_equal(keymap_find(&s, "Right")->help, "move the cursor");
    overlay_free(&o);
}

static void type(Prompt *p, const char *text)
{
    for (; *text; text++)
        prompt_key(p, *text == ' ' ? "Space" : (char[]){*text, 0}, &s, &all);
}

/* What hands know from a shell: words and ends of lines go, the history is searched by what was typed. */
static void the_prompt_knows_a_shells_keys(void **state)
{
    (void)state;
    Prompt p = {0};
    static const char *const LINES[] = {"set scale off", "goto logits", "set scale on", "view row"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        prompt_open(&p, LINES[i]);
        prompt_key(&p, "Enter", &s, &all);
    }
    prompt_open(&p, "set");
    prompt_key(&p, "Up", &s, &all);
    assert_string_equal(p.text, "set scale on");
    prompt_key(&p, "Up", &s, &all);
    assert_string_equal(p.text, "set scale off");
    prompt_key(&p, "Up", &s, &all); /* no other one begins so */
    assert_string_equal(p.text, "set scale off");
    prompt_key(&p, "Down", &s, &all);
    prompt_key(&p, "Down", &s, &all);
    assert_string_equal(p.text, "set");
    prompt_open(&p, "logits");
    prompt_key(&p, "^R", &s, &all);
    assert_string_equal(p.text, "goto logits");
    prompt_open(&p, "set scale off  ");
    prompt_key(&p, "^W", &s, &all);
    assert_string_equal(p.text, "set scale ");
    prompt_key(&p, "^A", &s, &all);
    prompt_key(&p, "^W", &s, &all);
    assert_string_equal(p.text, "set scale ");
    for (int i = 0; i < 4; i++)
        prompt_key(&p, "Right", &s, &all);
    prompt_key(&p, "^K", &s, &all);
    assert_string_equal(p.text, "set ");
    prompt_free(&p);
}

static void the_prompt_edits_and_completes(void **state)
{
    (void)state;
    Prompt p = {0};
    prompt_open(&p, "");
    type(&p, "got");
    prompt_key(&p, "Tab", &s, &all);
    assert_string_equal(p.text, "goto");
    type(&p, " blocks.1.attn.pat");
    prompt_key(&p, "Tab", &s, &all);
    assert_string_equal(p.text, "goto blocks.1.attn.pattern");
    prompt_key(&p, "Home", &s, &all);
    prompt_key(&p, "Delete", &s, &all);
    type(&p, "é");
    assert_true(strlen(p.text) < PROMPT_SIZE);
    prompt_key(&p, "^U", &s, &all);
    prompt_key(&p, "End", &s, &all);
    prompt_key(&p, "^A", &s, &all);
    prompt_paste(&p, "a\nb\x1b[31m");
    assert_null(strchr(p.text, 27));
    assert_int_equal(prompt_key(&p, "Enter", &s, &all), PROMPT_RUN);
    static const char *const CLOSED[][2] = {{"open \"the cat", "open \"the cat\""},
                                            {"open \"the cat\"", "open \"the cat\""},
                                            {"open \"a \\\" b", "open \"a \\\" b\""}};
    for (size_t i = 0; i < sizeof CLOSED / sizeof *CLOSED; i++) {
        prompt_open(&p, CLOSED[i][0]);
        prompt_key(&p, "Home", &s, &all);
        assert_int_equal(prompt_key(&p, "Enter", &s, &all), PROMPT_RUN);
        assert_string_equal(p.text, CLOSED[i][1]);
    }
    prompt_open(&p, "");
    prompt_key(&p, "Up", &s, &all);
    assert_true(p.length > 0);
    char longer[PROMPT_SIZE * 2];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    Buf hint = {0};
    prompt_paste(&p, longer);
    assert_int_equal(p.length, PROMPT_SIZE - 1);
    prompt_hint(&p, &s, &all, &hint);
    assert_non_null(strstr(buf_str(&hint), "too long: a line takes"));
    buf_clear(&hint);
    prompt_key(&p, "Backspace", &s, &all);
    prompt_hint(&p, &s, &all, &hint);
    assert_null(strstr(buf_str(&hint), "too long"));
    buf_free(&hint);
    prompt_key(&p, "^U", &s, &all); /* a text of the greatest length stands in it whole, with its quotes */
    longer[INPUT_PATH - 1] = 0;
    prompt_paste(&p, "open \"");
    prompt_paste(&p, longer);
    prompt_paste(&p, "\"");
    assert_int_equal(p.length, INPUT_PATH - 1 + 7);
    assert_false(p.full);
    Canvas c = {0};
    canvas_init(&c, 3, 9);
    prompt_draw(&p, &c, (Rect){2, 0, 1, 9}, (Rect){0, 0, 2, 9});
    assert_true(c.cursor_x < 9);
    canvas_free(&c);
    assert_int_equal(prompt_key(&p, "Esc", &s, &all), PROMPT_CANCELLED);
    prompt_free(&p);
}

/* What a click runs is understood, and what it says it does is done: a place named is where the reader then is, and a
 * click changes the place, what is looked at or the edits, or something is said or asked of the app. */
static void click_does(const char *line)
{
    Err err = {{0}};
    Place before = s.place;
    LookAt look = s.look;
    Compare compare = s.compare;
    overlay_close(&lists);
    Overlay list = lists;
    int edits = s.edits.count, acts = asked.count, boxes, boxes_now;
    session_step_number(&s, &boxes); /* those that can be seen: a box may be opened */
    bool ok = command_do(&s, &all, line, LINE_FOREIGN | COMMAND_UI, &err);
    if (!ok && strncmp(line, "ablate", 6) != 0 && strncmp(line, "hide", 4) != 0)
        fail_msg("a click runs '%s': %s", line, err.text);
    const char *named = strncmp(line, "goto ", 5) == 0 ? line + 5 : NULL;
    if (ok && named && strchr(named, '['))
        assert_int_equal(strncmp(s.place.path, named, strcspn(named, "[")), 0);
    session_step_number(&s, &boxes_now);
    bool moved = boxes != boxes_now || memcmp(&before, &s.place, sizeof before) != 0 ||
                 memcmp(&look, &s.look, sizeof look) != 0;
    bool answered = s.said.len > 0 || asked.count > acts || memcmp(&list, &lists, sizeof list) != 0 || s.quit ||
                    s.compare != compare || edits != s.edits.count;
    bool stops = strncmp(line, "move ", 5) == 0 || strcmp(line, "head -1") == 0 || strcmp(line, "block -1") == 0;
    if (named && strncmp(before.path, named, strcspn(named, "[")) == 0) /* perhaps the token it stands on */
        stops = true;
    const char *head = strstr(line, "head ");
    if (ok && head && head[5] >= '0' && head[5] <= '9') { /* perhaps the one it was on */
        assert_int_equal(session_head(&s), atoi(head + 5));
        stops = true;
    }
    if (ok && !moved && !answered && !stops) /* at a border the cursor stays */
        fail_msg("a click runs '%s', and nothing happens at %s", line, before.path);
}

static void clicks_are_commands(void **state)
{
    (void)state;
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    Rng r = rng_seed(3, 3);
    int hits = 0;
    for (int i = 0; i < 1500; i++) {
        int h = i % 3 ? 24 : 40, w = i % 3 ? 80 : 120;
        if (i % 20 == 0)
            run(PLACES[rng_below(&r, PLACE_COUNT)]);
        draw(&c, h, w, false);
        Paint p = {.s = &s, .c = &c, .mode = MODE_256};
        Frame f = frame_layout(&s, h, w, false);
        Buf command = {0};
        if (frame_click(&p, &f, (int)rng_below(&r, (uint32_t)h), (int)rng_below(&r, (uint32_t)w), &command)) {
            char name[32];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(buf_str(&command), " ;"), buf_str(&command));
            if (!command_find(&all, name))
                fail_msg("a click runs '%s'", buf_str(&command));
            click_does(buf_str(&command));
            s.quit = false;
            hits++;
        }
        buf_free(&command);
    }
    assert_true(hits > 300);
    canvas_free(&c);
}

/* A remembered state whose line fails midway: another version's, a damaged file, somebody else's hand. */
static void a_state_is_applied_whole_or_not_at_all(void **state)
{
    (void)state;
    static const char *const BROKEN[] = {
        "ablate blocks.1.attn.z[h=2]; gradient logits[o=1]; goto blocks.2.attn.q; view numbers; goto no.such.node",
        "grey r1c1; compare a; view matrix; \"",
        "pin; grey r2c2; undo; grey r1c1; nonsense",
        "goto blocks.3.mlp.act; export x.npy",
    };
    for (size_t i = 0; i < sizeof BROKEN / sizeof *BROKEN; i++) {
        Err err = {{0}};
        Place place = s.place;
        LookAt look = s.look;
        int undo = s.undo_count;
        assert_false(session_read(&s, &all, BROKEN[i], LINE_FOREIGN, &err));
        assert_true(*err.text);
        assert_int_equal(s.edits.count, 0);
        assert_int_equal(s.undo_count, undo);
        assert_true(!session_edited(&s) && !session_pinned(&s) && s.compare == COMPARE_OFF && !*s.target.path);
        assert_memory_equal(&place, &s.place, sizeof place);
        assert_memory_equal(&look, &s.look, sizeof look);
    }
    Err err = {{0}};
    assert_true(
        session_read(&s, &all, "ablate blocks.1.attn.z[h=2]; goto blocks.2.attn.q; view numbers", LINE_FOREIGN, &err));
    assert_int_equal(s.edits.count, 1);
    assert_string_equal(s.place.path, "blocks.2.attn.q");
}

/* The wheel moves the cursor of the pane under it, over the map the steps; nowhere else it does anything. */
static void the_wheel_moves_what_is_under_it(void **state)
{
    (void)state;
    run("goto blocks.1.attn.pattern");
    Frame f = frame_layout(&s, 40, 120, false);
    bool steps = false, other = false;
    for (int i = 0; i < f.count; i++)
        for (int by = -1; by <= 1; by += 2) {
            const Pane *pane = &f.pane[i];
            Buf command = {0};
            assert_true(frame_wheel(&f, pane->box.y, pane->box.x, by, &command));
            const char *wanted = pane->steps ? by > 0 ? "next" : "prev" : by > 0 ? "move down" : "move up";
            assert_string_equal(buf_str(&command), wanted);
            steps |= pane->steps;
            other |= !pane->steps;
            buf_clear(&command);
            assert_true(frame_wheel(&f, pane->box.y + pane->box.h - 1, pane->box.x + pane->box.w - 1, by, &command));
            assert_string_equal(buf_str(&command), wanted);
            buf_free(&command);
        }
    assert_true(steps && other);
    Buf none = {0};
    assert_false(frame_wheel(&f, f.header.y, 3, 1, &none));
    assert_false(frame_wheel(&f, f.answer.y, 3, -1, &none));
    assert_false(frame_wheel(&f, f.footer.y, 3, 1, &none));
    assert_int_equal(none.len, 0);
    int step, total, key = session_role(&s, ROLE_KEY), at = s.place.at[key], cols = session_base(&s)->axes[key].cols;
    assert_true(run("move down")); /* over a row of attention: a patch row down */
    assert_int_equal(s.place.at[key], at + cols);
    step = session_step_number(&s, &total);
    assert_true(run("next"));
    assert_int_equal(session_step_number(&s, &total), step + 1);
}

static void lacks(const ScreenSpec *screen, bool there, const char *what)
{
    if (!there)
        fail_msg("screen %s (core/session/screens and its VIEW_): %s", screen->name, what);
}

/* Every screen has all that the frame and the commands ask of it. */
static void every_row_is_complete(void **state)
{
    (void)state;
    for (int i = 0; i < SCREEN_COUNT; i++) {
        const ScreenSpec *screen = screen_spec((Screen)i);
        const ViewSpec *view = view_of((Screen)i);
        assert_true(screen->name && *screen->name);
        lacks(screen, screen->about && *screen->about, "has no .about");
        lacks(screen, screen->move && screen->enter && screen->next && screen->command,
              "lacks .move, .enter, .next or .command");
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(screen->command, " "), screen->command);
        lacks(screen, command_find(&all, name) != NULL, "its .command is no command");
        lacks(screen, (screen->come != NULL) == (strcmp(name, "view") == 0),
              "has .come although a command of its own leads there, or lacks it for `view`");
        lacks(screen, screen->say || !screen->say_pattern == !screen->say_scores, "says patterns or scores, not both");
        lacks(screen, strcmp(view->name, screen->name) == 0, "the view has another name");
        lacks(screen, view->draw && view->needs && view->click && view->title,
              "the view lacks draw, needs, click or title");
        lacks(screen, screen->group != GROUP_LEARNED || (view->traits & VIEW_WIDE),
              "GROUP_LEARNED needs the trait VIEW_WIDE");
        lacks(screen, (screen->group == GROUP_ATTENTION) == !!(view->traits & VIEW_ATTENTION),
              "GROUP_ATTENTION and the trait VIEW_ATTENTION go together");
        lacks(screen, !view->sentence || utf8_cells(view->sentence) <= 76, "its sentence has more than 76 cells");
        for (const ViewWay *way = view->ways; way && way->text; way++) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(way->command, " "), way->command);
            lacks(screen, command_find(&all, name) != NULL, "one of its ways is no command");
        }
        for (int j = 0; j < i; j++)
            assert_true(view_of((Screen)j) != view);
    }
}

/* A frame does not wait for its values: every screen, alone, in pairs, as a difference, with none there yet. */
static void nothing_is_computed_yet(void **state)
{
    static const char *const MODELS[] = {NULL, "translator"}, *const COMPARE[] = {"off", "sides", "diff"};
    (void)state;
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    for (int m = 0; m < 2; m++) {
        session_free(&s);
        opened_quick(&s, MODELS[m], NULL);
        assert_true(run("set scale off"));
        for (int i = 0; i < SCREEN_COUNT * 3; i++) {
            static const int SIZES[][2] = {{24, 80}, {40, 120}};
            if (!run(screen_spec((Screen)(i / 3))->command))
                continue;
            char line[32];
            snprintf(line, sizeof line, "compare %s", COMPARE[i % 3]);
            assert_true(run(line));
            for (int k = 0; k < 2; k++) {
                canvas_resize(&c, SIZES[k][0], SIZES[k][1]);
                canvas_clear(&c);
                Frame f = frame_layout(&s, c.h, c.w, false);
                Paint p = {.s = &s, .c = &c, .mode = MODE_256};
                frame_draw(&p, &f, &(FrameState){.message = "", .status = ""});
            }
        }
    }
    canvas_free(&c);
}

/* From anywhere its command leads to every screen that this model has, and all of its options come back by reset. A
 * screen for words says on a model of pictures why not, and nothing moves. */
static void reach_screens(bool words)
{
    LookAt start = look_start();
    for (int i = 0; i < SCREEN_COUNT; i++) {
        const ScreenSpec *screen = screen_spec((Screen)i);
        assert_true(run("goto last"));
        assert_true(run("goto first"));
        Err err = {{0}};
        Place before = s.place;
        bool ok = command_do(&s, &all, screen->command, LINE_FOREIGN | COMMAND_UI, &err);
        if (i == SCREEN_EXPERTS && site_part(session_base(&s), SITE_ROUTER) == NO_PART) { /* its model has some */
            assert_false(ok);
            assert_non_null(strstr(err.text, "no experts"));
            continue;
        }
        if (screen->words != words && !ok) {
            assert_true(*err.text);
            assert_memory_equal(&s.place, &before, sizeof before);
            continue;
        }
        if (screen->words && !words)
            fail_msg("'%s' leads somewhere on a model of pictures", screen->command);
        if (words && !screen->words)
            continue;
        if (!ok)
            fail_msg("'%s' does not lead to %s: %s", screen->command, screen->name, err.text);
        assert_int_equal(s.place.screen, i);
        assert_int_not_equal(session_node(&s, SIDE_B, s.place.path), NO_NODE);
        text_is_read(screen->name);
        for (const LookOption *o = screen->options; o && o->name; o++) {
            assert_int_equal(look_option_number(o, &start), o->start);
            look_option_put(o, &s.look, !o->start);
            assert_int_equal(look_option_number(o, &s.look), !o->start);
        }
    }
    assert_true(run("reset view"));
    for (int i = 0; i < SCREEN_COUNT; i++)
        for (const LookOption *o = screen_spec((Screen)i)->options; o && o->name; o++)
            assert_int_equal(look_option_number(o, &s.look), o->start);
}

static void every_screen_is_reached(void **state)
{
    (void)state;
    reach_screens(false);
    session_free(&s);
    opened_quick(&s, "translator", NULL);
    reach_screens(true);
}

/* Tokens by experts at every size, with one switched off beside, and with nothing computed yet; Enter leads
 * into that expert's numbers. */
static void experts_of_a_model(void **state)
{
    (void)state;
    static const int SIZES[][2] = {{1, 1}, {5, 20}, {10, 59}, {24, 80}, {40, 120}, {60, 200}};
    session_free(&s);
    opened_quick(&s, "tests/data/families/words_mixtral", "ids:3,4,5,6,7,8,9,10,11,12");
    assert_true(run("experts 1") && s.place.screen == SCREEN_EXPERTS);
    for (int edited = 0; edited < 2; edited++) {
        for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
            Canvas c = {0};
            Frame f = frame_layout(&s, SIZES[i][0], SIZES[i][1], false);
            Paint p = {.s = &s, .c = &c, .mode = MODE_256};
            canvas_init(&c, SIZES[i][0], SIZES[i][1]);
            frame_draw(&p, &f, &(FrameState){.message = "", .status = ""});
            canvas_free(&c);
        }
        assert_true(run("move right 2") && run("ablate"));
    }
    int expert = s.place.at[node_role(session_graph(&s, SIDE_B), session_node(&s, SIDE_B, s.place.path), ROLE_EXPERT)];
    assert_true(run("in") && s.place.screen == SCREEN_TENSOR);
    NodeId n = session_node(&s, SIDE_B, s.place.path);
    assert_int_equal(s.place.at[node_role(session_graph(&s, SIDE_B), n, ROLE_EXPERT)], expert);
    assert_true(node_role(session_graph(&s, SIDE_B), n, ROLE_HIDDEN) != AXIS_NONE);
}

/* The screens of words at every size, with a word changed beside what it was, and with a head off. */
static void words_at_every_size(void **state)
{
    (void)state;
    static const int SIZES[][2] = {{1, 1}, {5, 20}, {10, 59}, {16, 60}, {24, 80}, {40, 120}, {60, 200}, {150, 500}};
    static const char *const AT[] = {"goto encoder.blocks.1.self_attn.pattern",
                                     "option heads all",
                                     "option heads sum",
                                     "average on",
                                     "average off; option heads one; view matrix",
                                     "goto decoder.blocks.2.cross_attn.pattern[t=qu']",
                                     "view matrix",
                                     "goto decoder.blocks.0.self_attn.scores_masked",
                                     "goto decoder.causal_mask",
                                     "view waves; onward 4; move right 9",
                                     "goto decoder.pos_embed; view waves",
                                     "view writing; query qu'",
                                     "decode beam 4; move down 12",
                                     "decode draw 3 temperature=2",
                                     "goto probs; view answer"};
    session_free(&s);
    Err err = {{0}};
    opened_quick(&s, "translator", NULL);
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    for (int pass = 0; pass < 3; pass++) {
        if (pass == 1)
            assert_true(command_do(&s, &all, "word tired wide", LINE_OWN, &err));
        else if (pass == 2)
            assert_true(run("ablate decoder.blocks.2.cross_attn.z[h=0]; compare diff"));
        for (size_t k = 0; k < sizeof AT / sizeof *AT; k++) {
            if (!command_do(&s, &all, AT[k], LINE_FOREIGN | COMMAND_UI, &err))
                fail_msg("%s: %s", AT[k], err.text);
            for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
                draw(&c, SIZES[i][0], SIZES[i][1], false);
                assert_true(check_refs(&c) > 0 || s.place.screen == SCREEN_DECODING || SIZES[i][0] < 10 ||
                            SIZES[i][1] < 50);
            }
        }
    }
    canvas_free(&c);
}

/* A line that is longer than a page takes loses whole characters. */
static void pages_are_cut_between_characters(void **state)
{
    (void)state;
    Overlay o = {0};
    Canvas c;
    Buf text = {0};
    for (int i = 0; i < 1022; i++)
        buf_putc(&text, 'a');
    buf_puts(&text, "\xc3\xa9\n"); /* é, of which there is room for one byte */
    overlay_text(&o, "Long", buf_str(&text));
    canvas_init(&c, 60, 140);
    canvas_clear(&c);
    overlay_draw(&o, &c);
    for (int i = 0; i < c.h * c.w; i++)
        assert_true(c.cells[i].ch != 0xfffd && c.cells[i].ch != '?');
    canvas_free(&c);
    overlay_free(&o);
    buf_free(&text);
}

/* The cursor moves along the list of answers as it is drawn: by size, and by change where A and B are compared. */
static void answers_in_their_order(void **state)
{
    (void)state;
    static const char *const SETUP[] = {"goto probs", "set scale off; goto probs; move top",
                                        "compare sides; goto logits; view answer; move top"};
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    for (size_t k = 0; k < sizeof SETUP / sizeof *SETUP; k++) {
        Err err = {{0}};
        assert_true(session_read(&s, &all, SETUP[k], LINE_OWN | COMMAND_UI, &err));
        draw(&c, 40, 120, false);
        assert_true(run("move top"));
        draw(&c, 40, 120, false);
        int pitch = 0; /* lines of a class: several where all have room for them */
        for (int i = 0; i < 4; i++) {
            int y = c.cursor_y;
            assert_true(run("move down"));
            draw(&c, 40, 120, false);
            pitch = i ? pitch : c.cursor_y - y;
            assert_true(pitch >= 1 && pitch <= 3);
            assert_int_equal(c.cursor_y, y + pitch);
        }
        int y = c.cursor_y;
        assert_true(run("move up 2"));
        draw(&c, 40, 120, false);
        assert_int_equal(c.cursor_y, y - 2 * pitch);
    }
    canvas_free(&c);
}

/* A title says less where there is no room; it is not cut in a word, and the third column has its numbers. */
static void narrow_columns(void **state)
{
    (void)state;
    static const char *const SCREENS[] = {
        "goto image", "goto blocks.1.mlp.post", "view matrix", "view row", "ledger", "lens", "heads",
        "view sheet", "goto blocks.1.ln1",      "goto probs"};
    Canvas c = {0};
    Buf text = {0};
    canvas_init(&c, 1, 1);
    assert_true(run("set scale off"));
    assert_true(run("compare sides"));
    for (size_t k = 0; k < 2 * sizeof SCREENS / sizeof *SCREENS; k++) {
        assert_true(run("goto blocks.1.attn.pattern"));
        assert_true(run(SCREENS[k / 2]));
        draw(&c, 24, 80, false);
        for (int y = 1; y < 22; y++)
            for (int x = 0; x < 80; x++) /* the horizontal line that a title stands in */
                if (x < 78 && canvas_at(&c, y, x)->ch == 0x2026 &&
                    (canvas_at(&c, y, x + 2)->ch == 0x2510 || canvas_at(&c, y, x + 2)->ch == 0x2513))
                    fail_msg("%s: a title ends in … in line %d", SCREENS[k / 2], y);
        assert_true(run("pane next")); /* with the map beside */
    }
    export_text(&c, &text);
    assert_non_null(strstr(buf_str(&text), "A−B"));
    buf_free(&text);
    canvas_free(&c);
}

/* An ellipsis that stands for text left out; between two numbers it means from … to. */
static bool is_cut(const Canvas *c, Rect r)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            if (canvas_at((Canvas *)c, y, x)->ch == 0x2026 &&
                (x + 1 == r.x + r.w || canvas_at((Canvas *)c, y, x + 1)->ch != ' '))
                return true;
    return false;
}

/* In three panes no caption or key ends in an ellipsis: an … behind a letter and before two blanks or the frame. Lists
 * of names, which say in full what is under the cursor, are not captions. */
static void captions_of_three_panes(void **state)
{
    (void)state;
    static const char *const SCREENS[] = {"goto image; view picture",
                                          "goto blocks.1.mlp.post; view heat",
                                          "goto blocks.1.mlp.post; view strip",
                                          "goto blocks.1.attn.pattern; view matrix",
                                          "goto blocks.1.attn.pattern; view row",
                                          "goto blocks.1.attn.pattern; view sheet",
                                          "goto blocks.1.mlp.post; view histogram",
                                          "ledger",
                                          "lens",
                                          "alike",
                                          "heads",
                                          "where rollout",
                                          "goto image; view positions",
                                          "filters components",
                                          "filters filters",
                                          "neuron 2.20 r3c3; neuron measure",
                                          "goto logits; view answer"};
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    assert_true(run("set scale off; compare sides"));
    for (size_t k = 0; k < sizeof SCREENS / sizeof *SCREENS; k++) {
        Err err = {{0}};
        if (!session_read(&s, &all, SCREENS[k], LINE_OWN | COMMAND_UI, &err))
            fail_msg("%s: %s", SCREENS[k], err.text);
        draw(&c, 40, 120, false);
        for (int y = 3; y < 30; y++)
            for (int x = 29; x + 2 < 120; x++) {
                const uint32_t before = canvas_at(&c, y, x - 1)->ch, behind = canvas_at(&c, y, x + 1)->ch;
                const bool letter = (before | 32) >= 'a' && (before | 32) <= 'z';
                if (canvas_at(&c, y, x)->ch == 0x2026 && letter && (behind == 0x2502 || behind == 0x2503))
                    fail_msg("%s: line %d is cut at column %d", SCREENS[k], y, x);
            }
    }
    canvas_free(&c);
}

/* Tables of A and B have no A − B beside them where that would halve the heads: its list is below A's then, once. */
static void tables_have_their_difference(void **state)
{
    (void)state;
    Canvas c = {0};
    Err err = {{0}};
    char text[1 << 15];
    canvas_init(&c, 1, 1);
    if (!session_read(&s, &all, "pin; open #3; ledger; option ledger-table on; set scale off; compare sides",
                      LINE_OWN | COMMAND_UI, &err))
        fail_msg("%s", err.text);
    static const int SIZES[][2] = {{40, 120}, {60, 200}};
    for (size_t i = 0; i < 2; i++) {
        draw(&c, SIZES[i][0], SIZES[i][1], false);
        text_of(&c, c.clip, text, sizeof text);
        const char *at = strstr(text, "the largest A − B");
        if (!at || strstr(at + 1, "the largest A − B"))
            fail_msg("%d columns:\n%s", SIZES[i][1], text);
    }
    canvas_free(&c);
}

/* Every step of both models at 80x24, with the hint above it and without: what is said of the step is cut nowhere. */
static void no_formula_is_cut(void **state)
{
    (void)state;
    Canvas c = {0};
    int shown = 0;
    canvas_init(&c, 1, 1);
    for (int model = 0; model < 2; model++) {
        if (model) {
            session_free(&s);
            opened_quick(&s, "translator", "the cat is tired");
        }
        for (int step = 1; step <= s.stages.steps; step++) {
            char line[32];
            snprintf(line, sizeof line, "goto step %d", step);
            assert_true(run(line));
            for (unsigned hint = 0; hint < 2; hint++) {
                draw(&c, 24, 80, hint);
                Frame f = frame_layout(&s, 24, 80, hint);
                for (int i = 0; i < f.count; i++) {
                    shown += f.pane[i].view == &VIEW_STEP_INFO;
                    if (f.pane[i].view == &VIEW_STEP_INFO && is_cut(&c, f.pane[i].inside))
                        fail_msg("%s at %s: cut", line, s.place.path);
                }
            }
        }
    }
    assert_true(shown > 40);
    canvas_free(&c);
}

/* A bare line names commands that run as they stand, a command its usage, `set .` the cell that gets the value. */
static void the_prompt_says_what_to_type(void **state)
{
    (void)state;
    Prompt p = {0};
    Buf hint = {0};
    for (int model = 0; model < 2; model++) {
        if (model) {
            session_free(&s);
            opened_quick(&s, "translator", "the cat is tired");
        }
        assert_true(run("goto q"));
        prompt_open(&p, "");
        buf_clear(&hint);
        prompt_hint(&p, &s, &all, &hint);
        assert_in_range(utf8_cells(buf_str(&hint)), 40, 79);
        for (int i = 0; prompt_first(i); i++) {
            assert_non_null(strstr(buf_str(&hint), prompt_first(i)));
            if (!run(prompt_first(i)))
                fail_msg("%s", prompt_first(i));
        }
        assert_true(run("goto q"));
        session_need(&s, SIDE_B, s.place.path, NULL);
        prompt_open(&p, "set . ");
        buf_clear(&hint);
        prompt_hint(&p, &s, &all, &hint);
        assert_non_null(strstr(buf_str(&hint), "a number such as 0 for "));
        assert_non_null(strstr(buf_str(&hint), s.place.path));
        prompt_paste(&p, "0");
        assert_true(run(p.text));
        assert_true(run("undo"));
    }
    prompt_open(&p, "compare ");
    buf_clear(&hint);
    prompt_hint(&p, &s, &all, &hint);
    assert_non_null(strstr(buf_str(&hint), "compare [a, b, diff"));
    buf_free(&hint);
    prompt_free(&p);
}

/* The keys of the film, of the path and of the search are in the last line, before those that one knows; what the
 * terminal can do stands where room is left. */
static void footers_name_what_leads_on(void **state)
{
    static const struct {
        const char *line;
        int h, w;
        const char *says[5], *not_said;
    } SCREENS[] = {{"goto softmax", 24, 80, {". play", "Enter in", "? help"}, "256c"},
                   {"goto softmax", 16, 60, {". play", "Enter in", "? help"}, "256c"},
                   {"ledger", 24, 80, {"w why", "v table", "? help"}, ". play"},
                   {"ledger", 40, 120, {"w why", "v table", "x off", "K J block", "? help"}, "256c"},
                   {"ledger; option ledger-table on", 24, 80, {"w why", "v river", "? help"}, "v table"},
                   {"goto image", 40, 120, {". play", "v view", "t lesson", "? help"}, "256c"},
                   {"goto softmax", 60, 200, {". play", "Ctrl-P find", "t lesson", "? help", "256c"}, "256colours"},
                   {"pin; open #3; goto softmax; compare sides", 24, 80, {"b A/B", "? help"}, ". play"}};
    (void)state;
    Canvas c = {0};
    canvas_init(&c, 1, 1);
    for (size_t i = 0; i < sizeof SCREENS / sizeof *SCREENS; i++) {
        assert_true(run(SCREENS[i].line));
        draw(&c, SCREENS[i].h, SCREENS[i].w, false);
        char last[1024];
        text_of(&c, (Rect){c.h - 1, 0, 1, c.w}, last, sizeof last);
        for (int k = 0; k < 5 && SCREENS[i].says[k]; k++)
            if (!strstr(last, SCREENS[i].says[k]))
                fail_msg("%s at %dx%d: no \"%s\" in: %s", SCREENS[i].line, c.w, c.h, SCREENS[i].says[k], last);
        if (strstr(last, SCREENS[i].not_said))
            fail_msg("%s at %dx%d: \"%s\" in: %s", SCREENS[i].line, c.w, c.h, SCREENS[i].not_said, last);
    }
    canvas_free(&c);
}

/* What is lit beside a step that is played is said whole, in the narrow pane too. */
static void a_played_step_says_what_is_lit(void **state)
{
    (void)state;
    Canvas c = {0};
    int said = 0, total = 0;
    canvas_init(&c, 1, 1);
    assert_true(run("goto first; play"));
    do {
        draw(&c, 40, 120, false);
        Frame f = frame_layout(&s, 40, 120, false);
        for (int i = 0; i < f.count; i++) {
            char text[1 << 14];
            text_of(&c, f.pane[i].inside, text, sizeof text);
            const char *lit = strstr(text, "lit: its row and column");
            said += lit != NULL;
            if (lit && strstr(text, "the…"))
                fail_msg("cut: %.60s", lit);
        }
    } while (run("next; play") && session_step_number(&s, &total) < 8);
    assert_true(said > 0);
    canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_state_is_applied_whole_or_not_at_all, start, stop),
        cmocka_unit_test_setup_teardown(a_lit_row_has_its_own_values, start, stop),
        cmocka_unit_test_setup_teardown(every_size, start, stop),
        cmocka_unit_test_setup_teardown(no_pane_overlaps_another, start, stop),
        cmocka_unit_test_setup_teardown(the_sentence_is_always_there, start, stop),
        cmocka_unit_test_setup_teardown(what_was_not_measured_is_not_0, start, stop),
        cmocka_unit_test_setup_teardown(a_pinned_picture_is_named, start, stop),
        cmocka_unit_test_setup_teardown(keys_are_commands, start, stop),
        cmocka_unit_test_setup_teardown(offered_keys_do_something, start, stop),
        cmocka_unit_test_setup_teardown(help_lists_an_action_once, start, stop),
        cmocka_unit_test_setup_teardown(help_finds_words, start, stop),
        cmocka_unit_test_setup_teardown(help_finds_every_word_and_heading, start, stop),
        cmocka_unit_test_setup_teardown(help_finds_the_fields_words, start, stop),
        cmocka_unit_test_setup_teardown(help_runs_its_tasks, start, stop),
        cmocka_unit_test_setup_teardown(tasks_keep_what_the_reader_has, start, stop),
        cmocka_unit_test_setup_teardown(the_pixel_of_a_number, start, stop),
        cmocka_unit_test(what_is_said_leaves_the_cursor_in_sight),
        cmocka_unit_test_setup_teardown(a_rows_legend_is_not_cut, start, stop),
        cmocka_unit_test_setup_teardown(what_was_learned_has_a_list, start, stop),
        cmocka_unit_test_setup_teardown(the_prompt_edits_and_completes, start, stop),
        cmocka_unit_test_setup_teardown(the_prompt_knows_a_shells_keys, start, stop),
        cmocka_unit_test_setup_teardown(clicks_are_commands, start, stop),
        cmocka_unit_test_setup_teardown(the_wheel_moves_what_is_under_it, start, stop),
        cmocka_unit_test(pages_are_cut_between_characters),
        cmocka_unit_test_setup_teardown(every_row_is_complete, start, stop),
        cmocka_unit_test_setup_teardown(words_at_every_size, start, stop),
        cmocka_unit_test_setup_teardown(nothing_is_computed_yet, start, stop),
        cmocka_unit_test_setup_teardown(every_screen_is_reached, start, stop),
        cmocka_unit_test_setup_teardown(experts_of_a_model, start, stop),
        cmocka_unit_test_setup_teardown(answers_in_their_order, start, stop),
        cmocka_unit_test_setup_teardown(captions_of_three_panes, start, stop),
        cmocka_unit_test_setup_teardown(tables_have_their_difference, start, stop),
        cmocka_unit_test_setup_teardown(narrow_columns, start, stop),
        cmocka_unit_test_setup_teardown(no_formula_is_cut, start, stop),
        cmocka_unit_test_setup_teardown(the_prompt_says_what_to_type, start, stop),
        cmocka_unit_test_setup_teardown(footers_name_what_leads_on, start, stop),
        cmocka_unit_test_setup_teardown(a_played_step_says_what_is_lit, start, stop),
    };
    return cmocka_run_group_tests_name("tui", tests, NULL, NULL);
}
