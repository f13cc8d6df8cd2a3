#include "tui/keymap.h"

#include <string.h>

#include "core/models/names.h"
#include "core/session/edit/verbs.h"
#include "core/session/screens.h"
#include "core/session/screens/laboratory.h"

static bool has_head(const Session *s)
{
    return view_now(s)->traits & VIEW_HAS_HEAD;
}

static bool has_undo(const Session *s)
{
    return s->undo_count > 0;
}

static bool can_switch_off(const Session *s)
{
    char line[EDIT_LINE];
    Err none;
    return edit_focus(s, line, &none);
}

static bool has_other_view(const Session *s)
{
    return !drawing_is_only(s);
}

static bool has_root(const Session *s)
{
    return node_factor(session_base(s)) == FACTOR_ROOT;
}

static bool in_block(const Session *s)
{
    return session_block(s) >= 0;
}

static bool in_mlp(const Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    int part = anatomy_of(g, s->place.path);
    return part != NO_PART && (site_path(g, part, SITE_MLP_POST) || site_path(g, part, SITE_EXPERTS_POST));
}

/* Where the screen is of a step, and not of something that all steps have a part in. */
static bool is_of_step(const Session *s)
{
    return !view_now(s)->sentence;
}

static const KeyBinding KEYS[] = {
    {"Space", "next", "next", "the next step of the forward pass", KEY_COUNTS, 1, NULL},
    {"n", "find next", NULL, "the next match of a search; with no search: the next step", WHILE_SEEKING, 0, NULL},
    {"n", "next", NULL, "the next step", KEY_COUNTS, 0, NULL},
    {"PgDn", "next", NULL, "the next step", KEY_COUNTS, 0, NULL},
    {",", "play back", NULL, "play it backwards", 0, 0, NULL},
    {".", "play off", "stop", "while it plays: stop, as any other key does, which then does its own", WHILE_PLAYING, 1,
     NULL},
    {"<", "play slower", "slower", "while it plays: half as fast", WHILE_PLAYING, 2, NULL},
    {">", "play faster", "faster", "while it plays: twice as fast", WHILE_PLAYING, 3, NULL},
    {",", "play back", "backwards", "while it plays: the other way", WHILE_PLAYING, 4, NULL},
    {"p", "prev", "prev", "the step before", KEY_COUNTS, 2, NULL},
    {".", "play", "play", "play the forward pass from here; any key stops it", 0, 2, is_of_step},
    {"PgUp", "prev", NULL, "the step before", KEY_COUNTS, 0, NULL},
    {"g", "goto first", NULL, "the first step", 0, 0, NULL},
    {"G", "goto last", NULL, "the last step; 12G: step 12", KEY_COUNTS_STEP, 0, NULL},
    {"Up", "move up", "move", "move the cursor", KEY_COUNTS, 2, NULL},
    {"Down", "move down", NULL, "move the cursor", KEY_COUNTS, 0, NULL},
    {"Left", "move left", NULL, "move the cursor", KEY_COUNTS, 0, NULL},
    {"Right", "move right", NULL, "move the cursor", KEY_COUNTS, 0, NULL},
    {"k", "move up", NULL, "as the arrow up", KEY_COUNTS, 0, NULL},
    {"j", "move down", NULL, "as the arrow down", KEY_COUNTS, 0, NULL},
    {"h", "move left", NULL, "as the arrow to the left", KEY_COUNTS, 0, NULL},
    {"l", "move right", NULL, "as the arrow to the right", KEY_COUNTS, 0, NULL},
    {"Home", "move home", NULL, "to the start of the row", 0, 0, NULL},
    {"End", "move end", NULL, "to the end of the row", 0, 0, NULL},
    {"0", "move home", NULL, "to the start of the row", 0, 0, NULL},
    {"$", "move end", NULL, "to the end of the row", 0, 0, NULL},
    {"^D", "move down 8", NULL, "half a page down", 0, 0, NULL},
    {"^U", "move up 8", NULL, "half a page up", 0, 0, NULL},
    {"H", "head -1", "head", "the head before", 0, 9, has_head},
    {"L", "head +1", NULL, "the next head", 0, 0, NULL},
    {"E", "neuron", "unit", "an MLP's hidden unit: what excites it, what it writes", 0, 9, in_mlp},
    {"K", "block -1", "block", "the block before", 0, 10, in_block},
    {"J", "block +1", NULL, "the next block", 0, 0, NULL},
    {"S-Left", "head -1", NULL, "the head before", 0, 0, NULL},
    {"S-Right", "head +1", NULL, "the next head", 0, 0, NULL},
    {"S-Up", "block -1", NULL, "the block before", 0, 0, NULL},
    {"S-Down", "block +1", NULL, "the next block", 0, 0, NULL},
    {"{", "head -1", NULL, "the head before", 0, 0, NULL},
    {"}", "head +1", NULL, "the next head", 0, 0, NULL},
    {"[", "block -1", NULL, "the block before", 0, 0, NULL},
    {"]", "block +1", NULL, "the next block", 0, 0, NULL},
    {"<", "query -1", NULL, "the token before asks", VIEW_HAS_HEAD, 0, NULL},
    {">", "query +1", NULL, "the next token asks", VIEW_HAS_HEAD, 0, NULL},
    {"Enter", "in", "in", "open what is under the cursor: box, tensor, head, row, arithmetic, operand", 0, 3, NULL},
    {"Backspace", "back", "back", "to the place before", 0, 4, NULL},
    {"M-Left", "back", NULL, "to the place before", 0, 0, NULL},
    {"F", "forward", NULL, "to where back came from", 0, 0, NULL},
    {"M-Right", "forward", NULL, "to where back came from", 0, 0, NULL},
    {"Tab", "pane next", NULL, "the next pane", 0, 0, NULL},
    {"S-Tab", "pane prev", NULL, "the pane before", 0, 0, NULL},
    {"z", "zoom", NULL, "this pane alone, and back", 0, 0, NULL},
    {"m", "map", NULL, "the map of all steps, and back", 0, 0, NULL},
    {"v", "view next", "view", "another way to see this", 0, 11, has_other_view},
    {"V", "menu view", NULL, "all the ways to see this", 0, 0, NULL},
    {"T", "menu learned", "learned", "what it learned: training, filters, heads, where it looked, census, …", 0, 12,
     NULL},
    {"a", "average", NULL, "attention: the mean over all heads, or one head", VIEW_HAS_MEAN, 0, NULL},
    {"+", "pool finer", NULL, "fewer numbers per drawn cell", 0, 0, NULL},
    {"-", "pool coarser", NULL, "more numbers per drawn cell", 0, 0, NULL},
    {"c", "colours next", NULL, "another colour map", 0, 0, NULL},
    {"r", "colours scale", NULL, "attention: one scale for both sides or all heads, own of each, by powers of ten",
     VIEW_ATTENTION, 0, NULL},
    {"C", "colours lock", NULL, "lock this colour scale, or fit it to each tensor again", 0, 0, NULL},
    {"s", "showcase", "√d_k", "what does √d_k do? Taken away where that changes most", AT_THE_DOOR, 5, NULL},
    {"s", "set scale toggle", "√d_k", "take 1/√d_k away, put it back", 0, 5, has_root},
    {"x", "ablate", "off", "switch off what the cursor is on: head, token, sub-layer, positions; again: on", 0, 6,
     can_switch_off},
    {"e", "prompt set . ", NULL, "type a value for the cell", 0, 0, NULL},
    {"u", "undo", "undo", "undo the last change", 0, 5, has_undo},
    {"U", "redo", NULL, "redo it", 0, 0, NULL},
    {"b", "compare next", "A/B", "compare: A, B, A − B", 0, 8, session_compares},
    {"B", "pin", NULL, "keep this as A; open another one or change something as B", 0, 0, NULL},
    {"i", "say", "say", "one or two sentences on what is in focus; again: what it is in general", KEY_TWICE, 9, NULL},
    {"w", "why", "why", "an answer: which head and token spoke; else, and again: the largest terms down", VIEW_TRACED,
     8, NULL},
    {"w", "why", NULL, "an answer: which head and token spoke; else, and again: the largest terms down", 0, 0, NULL},
    {"M", "menu marks", NULL, "the marked places, and this one to mark", 0, 0, NULL},
    {"o", "menu open", NULL, "another input or model", 0, 0, NULL},
    {"/", "menu find", NULL, "find a step, node or answer; then n and N: the next, the one before", 0, 0, NULL},
    {"N", "find prev", NULL, "the match before", 0, 0, NULL},
    {":", "prompt ", NULL, "type a command; Tab completes", 0, 0, NULL},
    {"?", "help", "help", "help: tasks, keys, commands; Enter runs one", 0, 14, NULL},
    {"^P", "help find", "find", "everything by a few letters: commands, settings, steps, lessons, marks; Enter runs it",
     0, 13, NULL},
    {"F1", "glossary here", NULL, "what the words on this screen mean; the mouse's right button: the one under it", 0,
     0, NULL},
    {"y", "copy", NULL, "copies the focused value with its address; again: its row", 0, 0, NULL},
    {"Y", "link", NULL, "copies a command line that opens this very place", 0, 0, NULL},
    {"S", "prompt export ", NULL, "save this tensor (.npy .csv) or this screen (.svg .txt)", 0, 0, NULL},
    {"%", "mouse", NULL, "mouse off (so that the terminal can select text) or on", 0, 0, NULL},
    {"^L", "redraw", NULL, "draw the screen again", 0, 0, NULL},
    {"t", "lessons", "lesson", "lessons: the one that explains this screen, and all others", 0, 12, NULL},
    {"f", "join", NULL, "a presenter you have joined: look on your own, and follow again", 0, 0, NULL},
    {"P", "present", NULL, "presenter mode for a hall, and back to the same step", 0, 0, NULL},
    {"q", "close", NULL, "close what is open; with nothing open: q again leaves", 0, 0, NULL},
};

enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

/* Binding number *i of the view, which counts *i down by those it has. */
static const KeyBinding *own_at(const ViewSpec *view, int *i)
{
    for (const KeyBinding *k = view->keys; k && k->key; k++)
        if ((*i)-- == 0)
            return k;
    return NULL;
}

const KeyBinding *keymap_at(int i)
{
    if (i < (int)KEY_COUNT)
        return i >= 0 ? &KEYS[i] : NULL;
    i -= KEY_COUNT;
    for (int screen = 0; screen < SCREEN_COUNT; screen++) {
        if (!view_of((Screen)screen)->keys)
            continue;
        bool shared = false; /* two views may have the same keys */
        for (int before = 0; before < screen; before++)
            shared = shared || view_of((Screen)before)->keys == view_of((Screen)screen)->keys;
        const KeyBinding *k = shared ? NULL : own_at(view_of((Screen)screen), &i);
        if (k)
            return k;
    }
    return NULL;
}

const KeyBinding *keymap_here(const Session *s, int i)
{
    if (i < (int)KEY_COUNT)
        return i >= 0 ? &KEYS[i] : NULL;
    i -= KEY_COUNT;
    return own_at(view_now(s), &i);
}

const KeyBinding *keymap_find(const Session *s, const char *key)
{
    const ViewSpec *view = view_now(s);
    for (int i = 0; s->look.playing && i < (int)KEY_COUNT; i++)
        if (strcmp(KEYS[i].key, key) == 0 && (KEYS[i].traits & WHILE_PLAYING))
            return &KEYS[i];
    unsigned traits = view->traits | (s->sought.on ? (unsigned)WHILE_SEEKING : 0) |
                      (scale_places_door(s) ? (unsigned)AT_THE_DOOR : 0);
    const KeyBinding *own = NULL; /* the first of its view that fits now, else that is last */
    for (const KeyBinding *k = view->keys; k && k->key && !(own && (!own->when || own->when(s))); k++)
        own = strcmp(k->key, key) == 0 ? k : own;
    if (own)
        return own;
    for (int i = 0; i < (int)KEY_COUNT; i++)
        if (strcmp(KEYS[i].key, key) == 0 && (!(KEYS[i].traits & VIEW_TRAITS) || (KEYS[i].traits & traits)))
            return &KEYS[i];
    return NULL;
}

bool keymap_in_force(const Session *s, const KeyBinding *k)
{
    return keymap_find(s, k->key) == k;
}

const char *key_text(const char *key)
{
    static const struct {
        const char *key, *text;
    } TEXT[] = {{"Up", "←↑↓→"}, {"Backspace", "⌫"}, {"H", "H L"}, {"K", "K J"}, {"^P", "Ctrl-P"}};
    for (size_t i = 0; i < sizeof TEXT / sizeof *TEXT; i++)
        if (strcmp(TEXT[i].key, key) == 0)
            return TEXT[i].text;
    return key;
}
