#include "tui/keymap.h"

#include <string.h>

#define ON(screen) (1u << SCREEN_##screen)
#define ATTENTION (ON(SHEET) | ON(MATRIX) | ON(ROW))
#define TRACED (ON(EXPLAIN) | ON(ANSWER)) /* where people ask what a number came from */
#define BUT(screens) (((1u << SCREEN_COUNT) - 1) & ~(screens))
#define HEADS (ON(HEADS) | ON(CENSUS)) /* blocks are rows, heads are columns */
#define OWN_ARROWS (ON(SCALE) | ON(TRAINING) | ON(LENS) | HEADS)

static const KeyBinding KEYS[] = {
    {"Space", "next", "next", "the next step of the forward pass", 0, 1},
    {"n", "next", NULL, "the next step", 0, 0},
    {"PgDn", "next", NULL, "the next step", 0, 0},
    {"p", "prev", NULL, "the step before", 0, 0},
    {"PgUp", "prev", NULL, "the step before", 0, 0},
    {"g", "goto first", NULL, "the first step", 0, 0},
    {"G", "goto last", NULL, "the last step; 12G: step 12", 0, 0},
    {"Up", "move up", "move", "move the cursor", BUT(OWN_ARROWS), 2},
    {"Down", "move down", NULL, "move the cursor", BUT(OWN_ARROWS), 0},
    {"Left", "move left", NULL, "move the cursor", BUT(OWN_ARROWS), 0},
    {"Right", "move right", NULL, "move the cursor", BUT(OWN_ARROWS), 0},
    {"Up", "move up", "slide", "the factor on more heads: this block's, every block's", ON(SCALE), 2},
    {"Down", "move down", NULL, "the factor on fewer heads: this block's, this head's", ON(SCALE), 0},
    {"Left", "move left", NULL, "a smaller factor on 1/√d_k", ON(SCALE), 0},
    {"Right", "move right", NULL, "a larger factor on 1/√d_k", ON(SCALE), 0},
    {"Up", "move up", "scrub", "the patch before", ON(TRAINING), 2},
    {"Down", "move down", NULL, "the next patch", ON(TRAINING), 0},
    {"Left", "move left", NULL, "the snapshot before", ON(TRAINING), 0},
    {"Right", "move right", NULL, "the next snapshot", ON(TRAINING), 0},
    {"Up", "move up", "head", "the block before", HEADS, 2},
    {"Down", "move down", NULL, "the next block", HEADS, 0},
    {"Left", "move left", NULL, "the head before", HEADS, 0},
    {"Right", "move right", NULL, "the next head", HEADS, 0},
    {"Up", "move up", "move", "behind the block before", ON(LENS), 2},
    {"Down", "move down", NULL, "behind the next block", ON(LENS), 0},
    {"Left", "move left", NULL, "the class before", ON(LENS), 0},
    {"Right", "move right", NULL, "the next class", ON(LENS), 0},
    {"k", "move up", NULL, "as the arrow up", 0, 0},
    {"j", "move down", NULL, "as the arrow down", 0, 0},
    {"h", "move left", NULL, "as the arrow to the left", 0, 0},
    {"l", "move right", NULL, "as the arrow to the right", 0, 0},
    {"Home", "move home", NULL, "to the start of the row", 0, 0},
    {"End", "move end", NULL, "to the end of the row", 0, 0},
    {"0", "move home", NULL, "to the start of the row", 0, 0},
    {"$", "move end", NULL, "to the end of the row", 0, 0},
    {"^D", "move down 8", NULL, "half a page down", 0, 0},
    {"^U", "move up 8", NULL, "half a page up", 0, 0},
    {"H", "head -1", "head", "the head before", 0, 9},
    {"L", "head +1", NULL, "the next head", 0, 0},
    {"K", "block -1", "block", "the block before", 0, 10},
    {"J", "block +1", NULL, "the next block", 0, 0},
    {"S-Left", "head -1", NULL, "the head before", 0, 0},
    {"S-Right", "head +1", NULL, "the next head", 0, 0},
    {"S-Up", "block -1", NULL, "the block before", 0, 0},
    {"S-Down", "block +1", NULL, "the next block", 0, 0},
    {"{", "head -1", NULL, "the head before", 0, 0},
    {"}", "head +1", NULL, "the next head", 0, 0},
    {"[", "block -1", NULL, "the block before", 0, 0},
    {"]", "block +1", NULL, "the next block", 0, 0},
    {"<", "query -1", NULL, "the token before asks", ATTENTION | ON(SCALE), 0},
    {">", "query +1", NULL, "the next token asks", ATTENTION | ON(SCALE), 0},
    {"Enter", "in", "in", "into what is under the cursor: box, tensor, head, row, arithmetic, operand", 0, 3},
    {"Backspace", "back", "back", "to the place before", 0, 4},
    {"Tab", "pane next", NULL, "the next pane", 0, 0},
    {"S-Tab", "pane prev", NULL, "the pane before", 0, 0},
    {"z", "zoom", NULL, "this pane alone, and back", 0, 0},
    {"m", "map", NULL, "the map of all steps, and back", 0, 0},
    {"v", "view next", "view", "another way to see this", 0, 11},
    {"V", "menu view", NULL, "all the ways to see this", 0, 0},
    {"T", "menu learned", "learned", "what it learned: training, filters, heads, where it looked, census, …", 0, 12},
    {"a", "average", NULL, "attention: the mean over all heads, or one head", ATTENTION | ON(WHERE), 0},
    {"+", "pool finer", NULL, "fewer numbers per drawn cell", 0, 0},
    {"-", "pool coarser", NULL, "more numbers per drawn cell", 0, 0},
    {"c", "colours next", NULL, "another colour map", 0, 0},
    {"C", "colours lock", NULL, "keep this colour scale, or free it", 0, 0},
    {"s", "set scale toggle", "√d_k", "take 1/√d_k away, put it back", 0, 5},
    {"x", "ablate", "off", "switch off what the cursor is on: head, patch, sub-layer, positions; again: on", 0, 6},
    {"e", "prompt set . ", NULL, "type a value for the cell", 0, 0},
    {"u", "undo", "undo", "take the last change back", 0, 7},
    {"U", "redo", NULL, "do it again", 0, 0},
    {"b", "compare next", "A/B", "compare: A, B, A − B", 0, 8},
    {"B", "pin", NULL, "keep this as A; open another picture or change something as B", 0, 0},
    {"i", "say", "say", "one or two sentences on what is in focus; again: what it is in general", 0, 8},
    {"w", "why", "why", "the chain of largest terms down to a pixel or weight", TRACED, 8},
    {"w", "why", NULL, "the chain of largest terms down to a pixel or weight", BUT(TRACED), 0},
    {"o", "menu open", NULL, "another picture or model", 0, 0},
    {"/", "menu find", NULL, "find a step, node or class", 0, 0},
    {":", "prompt ", NULL, "type a command; Tab completes", 0, 0},
    {"?", "help", "help", "help: tasks, keys, commands; Enter runs one", 0, 13},
    {"y", "copy", NULL, "the focused value with its address", 0, 0},
    {"Y", "link", NULL, "a command line that opens this very place", 0, 0},
    {"S", "prompt export ", NULL, "save this tensor (.npy .csv) or this screen (.svg .txt)", 0, 0},
    {"%", "mouse", NULL, "mouse off (so that the terminal can select text) or on", 0, 0},
    {"^L", "redraw", NULL, "draw the screen again", 0, 0},
    {"q", "close", NULL, "close what is open; at the end: leave", 0, 0},
};

enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

const KeyBinding *keymap_at(int i)
{
    return i >= 0 && i < (int)KEY_COUNT ? &KEYS[i] : NULL;
}

const KeyBinding *keymap_find(const Session *s, const char *key)
{
    for (int i = 0; i < (int)KEY_COUNT; i++)
        if (strcmp(KEYS[i].key, key) == 0 && (!KEYS[i].screens || (KEYS[i].screens & (1u << s->place.screen))))
            return &KEYS[i];
    return NULL;
}

const char *key_text(const char *key)
{
    static const struct {
        const char *key, *text;
    } TEXT[] = {{"Up", "←↑↓→"}, {"Backspace", "⌫"}, {"H", "H L"}, {"K", "K J"}};
    for (size_t i = 0; i < sizeof TEXT / sizeof *TEXT; i++)
        if (strcmp(TEXT[i].key, key) == 0)
            return TEXT[i].text;
    return key;
}
