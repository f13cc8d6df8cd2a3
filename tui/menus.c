/* The lists that open over the frame: help, pictures and models, ways to see, things to find. Made from the command and
 * key tables. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/models/drawn.h"
#include "core/session/learned/measures.h"
#include "core/session/screens.h"
#include "tui/keymap.h"
#include "tui/overlay.h"

/* What people want, in their words, and the command line that does it. */
typedef enum TaskFor { ANY_MODEL, OF_PICTURES, OF_WORDS } TaskFor;
static const struct {
    const char *text, *command;
    TaskFor of; /* what the model looks at, where that matters */
} TASKS[] = {
    {"Follow the words through the model, step by step", "goto first", OF_WORDS},
    {"Another word: type the one to change and the one to put there, and compare", "prompt word ", OF_WORDS},
    {"Attention drawn between the words", "view sentence", OF_WORDS},
    {"Every step of writing, with the words that came second", "view writing", OF_WORDS},
    {"Other ways to write it: a beam as a tree with scores, greedy, drawn words", "decode beam", OF_WORDS},
    {"Does a word know of those behind it? Change one of the translation", "prompt word target ", OF_WORDS},
    {"Sinusoids: places as waves, and the rotation onward", "view waves", OF_WORDS},
    {"Encoder and decoder, or one of them: masks and wiring compared", "wiring", OF_WORDS},
    {"Follow the picture through the model, step by step", "goto first", OF_PICTURES},
    {"See why it said this: the answer, then w for the chain of largest terms", "view answer; why", ANY_MODEL},
    {"What does √d_k do? Take it away where that changes most, and compare", "showcase", OF_PICTURES},
    {"…and the typical picture: how much taking it away changes as a rule", "showcase 2", OF_PICTURES},
    {"…and the one where taking it away changes least", "showcase 3", OF_PICTURES},
    {"What does head 2 of block 1 look at?", "goto first; block 1; head 2", ANY_MODEL},
    {"Switch that head off and compare", "goto first; block 1; head 2; ablate; goto z", ANY_MODEL},
    {"All heads of all blocks at once", "view sheet", ANY_MODEL},
    {"What did it learn? Where did it look, which heads matter, …: eight screens", "menu learned", OF_PICTURES},
    {"Other factors than 1/√d_k on a slider, and accuracy along the way", "laboratory", ANY_MODEL},
    {"Which pixel did this number come from? (Enter follows an operand)", "view formula", ANY_MODEL},
    {"My own picture or model", "menu open", ANY_MODEL},
    {"Do patches that lie side by side have similar position embeddings?", "view positions", OF_PICTURES},
    {"Hide a patch of the picture", "view picture; grey r3c4", OF_PICTURES},
    {"Move a patch of the picture to another place", "view picture; prompt swap r3c4 ", OF_PICTURES},
    {"Compare two pictures: keep this one as A, then open another", "pin; menu open", OF_PICTURES},
    {"Take all changes away, and let go of A", "pin off; reset edits", ANY_MODEL},
    {"Save this tensor or this screen", "prompt export ", ANY_MODEL},
    {"Is every number right? Recompute them all", "verify", ANY_MODEL},
    {"What is this model? Sizes, costs, what had to be assumed", "info", ANY_MODEL},
    {"What do the words mean?", "glossary", ANY_MODEL},
    {"Ready-made demonstrations, five minutes each", "demo", ANY_MODEL},
};

static bool reads_words(const Session *s)
{
    return session_input(s, SIDE_B)->kind == INPUT_TEXT;
}

static void help_tasks(Overlay *o, const Session *s)
{
    for (size_t i = 0; i < sizeof TASKS / sizeof *TASKS; i++)
        if (TASKS[i].of != (reads_words(s) ? OF_PICTURES : OF_WORDS))
            overlay_add(o, TASKS[i].text, "", TASKS[i].command);
}

static void help_keys(Overlay *o, const Session *s)
{
    for (int i = 0; keymap_at(i); i++) {
        bool first = true; /* several bindings of one key stand where its first one does */
        for (int j = 0; j < i; j++)
            first = first && strcmp(keymap_at(j)->key, keymap_at(i)->key) != 0;
        const KeyBinding *k = first ? keymap_find(s, keymap_at(i)->key) : NULL;
        if (k)
            overlay_add(o, k->help, k->key, k->command);
    }
}

static void help_commands(Overlay *o, const Commands *commands)
{
    static const char *const GROUPS[] = {"go",    "look",  "ask",   "change", "learned",
                                         "learn", "class", "files", "program"};
    for (size_t g = 0; g < sizeof GROUPS / sizeof *GROUPS; g++) {
        overlay_add(o, GROUPS[g], "", NULL);
        const Command *c;
        for (int i = 0; (c = command_at(commands, i)) != NULL; i++) {
            char text[512], line[80];
            if (strcmp(c->group, GROUPS[g]) != 0 || command_find(commands, c->name) != c)
                continue;
            snprintf(text, sizeof text, "%s: %s", c->usage, c->summary);
            snprintf(line, sizeof line, strchr(c->usage, ' ') ? "prompt %s " : "%s", c->name);
            overlay_add(o, text, "", line);
        }
    }
}

void overlay_help(Overlay *o, const Session *s, const Commands *commands, int page)
{
    char title[80];
    page = page == HELP_SEARCH ? page : page % HELP_PAGES;
    if (page == 0)
        snprintf(title, sizeof title, "Help 1 of 3: what do you want to do?");
    else if (page == 1)
        snprintf(title, sizeof title, "Help 2 of 3: keys on this screen (%s)", screen_name(s->place.screen));
    else
        snprintf(title, sizeof title,
                 page == 2 ? "Help 3 of 3: commands (type them after a colon)"
                           : "Help: tasks, keys and commands with these letters");
    overlay_list(o, title);
    if (page == 0 || page == HELP_SEARCH)
        help_tasks(o, s);
    if (page == 0) {
        overlay_add(o, "All keys here", "?", "help keys");
        overlay_add(o, "All commands", "? ?", "help commands");
    }
    if (page == 1 || page == HELP_SEARCH)
        help_keys(o, s);
    if (page == 2 || page == HELP_SEARCH)
        help_commands(o, commands);
    o->filtering = page == HELP_SEARCH;
    o->page = page;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_picture(const char *name)
{
    static const char *const SUFFIX[] = {"png", "jpg", "jpeg", "bmp", "ppm", "pgm"};
    for (size_t i = 0; i < sizeof SUFFIX / sizeof *SUFFIX; i++)
        if (strcasecmp(file_suffix(name), SUFFIX[i]) == 0)
            return true;
    return false;
}

static bool is_model_folder(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/model.safetensors", name);
    return file_exists(path);
}

static void add_found(Overlay *o, const char *name)
{
    char text[300], clean[256], command[300];
    utf8_clean(clean, sizeof clean, name);
    bool model = strcasecmp(file_suffix(name), "safetensors") == 0 || is_model_folder(name);
    if (strlen(name) > 250 || strpbrk(name, "\";\n") || (!model && !is_picture(name)))
        return; /* a name the command language can't carry is opened from the shell */
    snprintf(text, sizeof text, "%s %s", model ? "model  " : "picture", clean);
    snprintf(command, sizeof command, "%s \"%s\"", model ? "model" : "open", name);
    overlay_add(o, text, "", command);
}

static void add_folder(Overlay *o)
{
    char **names = NULL;
    size_t cap = 0, count = 0;
    DIR *d = file_folder(".");
    for (struct dirent *e; d && count < 5000 && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') {
            names = grow(names, &cap, count, sizeof *names);
            names[count++] = xstrdup(e->d_name);
        }
    if (d)
        closedir(d);
    if (count)
        qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        add_found(o, names[i]);
        free(names[i]);
    }
    free(names);
}

void overlay_open_menu(Overlay *o, const Session *s)
{
    overlay_list(o, "Open");
    overlay_add(o, "in this folder", "", NULL);
    int before = o->count;
    add_folder(o);
    if (o->count == before)
        overlay_add(o, "no picture (png jpg bmp ppm pgm) and no model here: type a path", ":open", "prompt open ");
    overlay_add(o, "in the program", "", NULL);
    if (strcmp(s->model.layout, "bundled") != 0)
        overlay_add(o, "model   shapes-vit, the one in the program", "", "model bundled");
    bool seen[DRAWN_CLASSES] = {false};
    for (int n = 17, found = 0; found < DRAWN_CLASSES && n < 1000;
         n++) { /* one of every class, from the first picture on */
        int label = drawn_label((uint64_t)n);
        if (seen[label])
            continue;
        seen[label] = true;
        found++;
        char text[80], command[32];
        snprintf(text, sizeof text, "drawing #%d: %s", n, SHAPES_NAMES[label]);
        snprintf(command, sizeof command, "open #%d", n);
        overlay_add(o, text, "", command);
    }
    overlay_add(o, "another drawing: any number", ":open #", "prompt open #");
}

/* The screens of what was learned, from the table of their commands. */
static void add_learned(Overlay *o)
{
    CommandTable t = session_commands_learned();
    for (int i = 0; i < t.count; i++) {
        char text[160];
        if (strcmp(t.commands[i].group, "learned") != 0)
            continue;
        snprintf(text, sizeof text, "%-10s %s", t.commands[i].name, t.commands[i].summary);
        overlay_add(o, text, "", t.commands[i].name);
    }
}

void overlay_learned_menu(Overlay *o, const Session *s)
{
    (void)s;
    overlay_list(o, "What it learned");
    add_learned(o);
}

static void add_own_ways(Overlay *o, const Session *s)
{
    for (const ViewWay *way = view_now(s)->ways; way && way->text; way++)
        overlay_add(o, way->text, "", way->command);
}

void overlay_view_menu(Overlay *o, const Session *s)
{
    static const struct {
        const char *word, *text;
    } VIEWS[] = {{"heat", "colours: one cell of the tensor, one cell of colour"},
                 {"numbers", "the numbers themselves"},
                 {"strip", "one row as a strip"},
                 {"histogram", "how the values are spread"},
                 {"tensor", "this tensor as rows × columns"},
                 {"picture", "over the picture"},
                 {"sheet", "attention: blocks × heads"},
                 {"matrix", "attention: one head, who looks at whom"},
                 {"row", "attention: one row over the picture"},
                 {"formula", "the arithmetic of this number"},
                 {"positions", "similarity of position embeddings"},
                 {"answer", "classes and their probabilities"}};
    bool learned = screen_now(s)->group == GROUP_LEARNED;
    overlay_list(o, "Ways to see this");
    if (learned) {
        add_own_ways(o, s);
        overlay_add(o, "what it learned", "T", NULL);
        add_learned(o);
        overlay_add(o, "this very node", "", NULL);
    }
    for (size_t i = 0; i < sizeof VIEWS / sizeof *VIEWS; i++) {
        char text[128], command[32];
        snprintf(text, sizeof text, "%-10s %s", VIEWS[i].word, VIEWS[i].text);
        snprintf(command, sizeof command, "view %s", VIEWS[i].word);
        overlay_add(o, text, "", command);
    }
    for (int i = 0; reads_words(s) && i < SCREEN_COUNT; i++) {
        const ScreenSpec *spec = screen_spec((Screen)i);
        char text[160];
        snprintf(text, sizeof text, "%-10s %s", spec->name, spec->about);
        if (spec->words)
            overlay_add(o, text, "", spec->command);
    }
    if (!learned)
        add_own_ways(o, s);
    if (!learned)
        overlay_add(o, "learned    what the model learned: eight more screens", "T", "menu learned");
}

void overlay_find_menu(Overlay *o, const Session *s)
{
    overlay_list(o, "Find: type a part of the name");
    for (int i = 0; i < s->stages.count; i++) {
        const Box *b = &s->stages.boxes[i];
        char text[256], command[SESSION_PATH + 16];
        int pad = 16 - utf8_cells(b->label); /* "+ √D" is more bytes than columns */
        snprintf(text, sizeof text, "%*s%s%*s %s", b->depth * 2, "", b->label, pad > 0 ? pad : 0, "", b->path);
        snprintf(command, sizeof command, "goto %s", graph_node(session_graph(s, SIDE_B), b->show)->path);
        overlay_add(o, text, "", command);
    }
    const Graph *g = session_base(s);
    NodeId probs = site_node_any(g, SITE_PROBS);
    int axis = node_role(g, probs, ROLE_ANSWER);
    for (int i = 0; axis != AXIS_NONE && i < g->axes[axis].n && g->axes[axis].labels; i++) {
        char text[160], command[160], label[100], clean[100];
        utf8_clean(clean, sizeof clean, axis_label(&g->axes[axis], i, label, sizeof label));
        snprintf(text, sizeof text, "class %s", clean);
        snprintf(command, sizeof command, "goto %.100s[%s=%d]", graph_node(g, probs)->path, g->axes[axis].sym, i);
        overlay_add(o, text, "", command);
    }
    o->filtering = o->finds = true;
}
