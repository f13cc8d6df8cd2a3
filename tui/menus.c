/* The lists that open over the frame: help, pictures and models, ways to see, things to find. Made from the command and
 * key tables. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/io/llama2c.h"
#include "core/models/drawn.h"
#include "core/session/ask/ask.h"
#include "core/session/input.h"
#include "core/session/options.h"
#include "core/session/screens.h"
#include "tui/cli/help.h"
#include "tui/desk.h"
#include "tui/keymap.h"
#include "tui/overlay.h"
#include "tui/task.h"

enum { KEYS_MOST = 256 };

static void help_tasks(Overlay *o, const Session *s, const Task *on)
{
    Buf text = {0}, changes = {0};
    const char *name;
    if (task_on(on)) {
        char now[160];
        utf8_print(now, sizeof now, "End this task: %.110s", on->text);
        overlay_add(o, now, "q", "task end");
        overlay_about(o, "What you had before comes back.");
    }
    for (int i = 0; (name = task_at(s, on, i, &text, &changes)) != NULL; i++) {
        char line[40];
        utf8_print(line, sizeof line, "task %.30s", name);
        overlay_add(o, buf_str(&text), "", line);
        overlay_about(o, buf_str(&changes));
        buf_clear(&text);
        buf_clear(&changes);
    }
    buf_free(&text);
    buf_free(&changes);
}

/* What the i-th key does here; NULL: nothing, or it stands where an earlier binding of the key does. */
static const KeyBinding *key_here(const Session *s, int i)
{
    for (int j = 0; j < i; j++)
        if (strcmp(keymap_at(j)->key, keymap_at(i)->key) == 0)
            return NULL;
    return keymap_find(s, keymap_at(i)->key);
}

/* What the i-th key means: the help of the first key with its command. */
static const char *meaning(const KeyBinding *const *here, int i)
{
    for (int j = 0; j < i; j++)
        if (here[j] && strcmp(here[j]->command, here[i]->command) == 0)
            return here[j]->help;
    return here[i]->help;
}

/* A key as it is written on keyboards: Shift-Left, Ctrl-D. */
static void put_key(Buf *out, const char *key)
{
    bool shift = strncmp(key, "S-", 2) == 0, control = *key == '^' && key[1];
    buf_printf(out, "%s%s%s", out->len ? " " : "",
               shift     ? "Shift-"
               : control ? "Ctrl-"
                         : "",
               key + (shift     ? 2
                      : control ? 1
                                : 0));
}

/* What can be done, once, with all keys that do it; the arrows together. */
static void help_keys(Overlay *o, const Session *s)
{
    const KeyBinding *here[KEYS_MOST] = {NULL};
    const char *means[KEYS_MOST] = {NULL};
    int count = 0;
    for (; count < KEYS_MOST && keymap_at(count); count++) {
        here[count] = key_here(s, count);
        means[count] = here[count] ? meaning(here, count) : NULL;
    }
    for (int i = 0; i < count; i++) {
        Buf keys = {0};
        for (int j = i; means[i] && j < count; j++)
            if (means[j] && strcmp(means[j], means[i]) == 0) {
                put_key(&keys, here[j]->key);
                if (j > i)
                    means[j] = NULL;
            }
        if (keys.len)
            overlay_add(o, means[i], buf_str(&keys), here[i]->command);
        buf_free(&keys);
    }
}

/* What a command's usage says of pictures alone. */
static void put_usage(const Session *s, const Command *c, char out[200])
{
    static const char *const OF_PICTURES[] = {", picture", " [patch=PATCH]"};
    snprintf(out, 200, "%s", c->usage);
    for (size_t i = 0; session_words(s, SIDE_B) && i < sizeof OF_PICTURES / sizeof *OF_PICTURES; i++) {
        char *at = strstr(out, OF_PICTURES[i]);
        size_t n = strlen(OF_PICTURES[i]);
        if (at)
            memmove(at, at + n, strlen(at + n) + 1);
    }
}

static bool for_pictures(const Session *s, const Command *c)
{
    return session_words(s, SIDE_B) && (c->touches & COMMAND_PICTURES);
}

/* The key that does what that command does without arguments, or "". */
static void put_key_of(const Session *s, const char *command, Buf *out)
{
    for (int i = 0; !out->len && keymap_at(i); i++)
        if (strcmp(keymap_at(i)->command, command) == 0 && key_here(s, i) == keymap_at(i))
            put_key(out, keymap_at(i)->key);
}

static void help_commands(Overlay *o, const Session *s, const Commands *commands)
{
    static const char *const GROUPS[] = {"go",    "look",  "ask",   "change", "learned",
                                         "learn", "class", "files", "program"};
    for (size_t g = 0; g < sizeof GROUPS / sizeof *GROUPS; g++) {
        overlay_add(o, GROUPS[g], "", NULL);
        const Command *c;
        for (int i = 0; (c = command_at(commands, i)) != NULL; i++) {
            char text[512], line[80], usage[200];
            Buf key = {0};
            if (strcmp(c->group, GROUPS[g]) != 0 || command_find(commands, c->name) != c || for_pictures(s, c))
                continue;
            put_usage(s, c, usage);
            snprintf(text, sizeof text, "%s: %s", usage, c->summary);
            snprintf(line, sizeof line, strchr(c->usage, ' ') ? "prompt %s " : "%s", c->name);
            put_key_of(s, c->name, &key);
            overlay_add(o, text, buf_str(&key), line);
            buf_free(&key);
        }
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_model_folder(const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/model.safetensors", name);
    return file_exists(path);
}

/* With its tokeniser beside it; the tokeniser itself is no model. */
static bool is_llama2c(const char *name)
{
    char tokeniser[4096];
    int words;
    return file_is(name, "bin") && llama2c_beside(name, tokeniser, &words);
}

static void add_found(Overlay *o, const char *name, bool pictures)
{
    char text[300], clean[256];
    Buf command = {0};
    utf8_clean(clean, sizeof clean, name);
    bool model = file_is(name, "safetensors") || is_model_folder(name) || is_llama2c(name);
    if (!model && !(pictures && file_is(name, "png jpg jpeg bmp ppm pgm")))
        return;
    utf8_print(text, sizeof text, "%s %s", model ? "model  " : "picture", clean);
    buf_puts(&command, model ? "model " : "open ");
    command_quote(name, &command);
    overlay_add(o, text, "", buf_str(&command));
    buf_free(&command);
}

static void add_folder(Overlay *o, bool pictures)
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
        add_found(o, names[i], pictures);
        free(names[i]);
    }
    free(names);
}

static void add_scenes(Overlay *o, const Session *s)
{
    const char *first = s->model.seen.mean ? "" : "model photos; ";
    for (int i = 0; input_scene_name(i); i++) {
        char text[80], command[64];
        snprintf(text, sizeof text, "rendered scene #%s", input_scene_name(i));
        snprintf(command, sizeof command, "%sopen #%s", first, input_scene_name(i));
        overlay_add(o, text, "", command);
    }
}

static void add_drawings(Overlay *o, const Session *s)
{
    const char *first = s->model.seen.mean ? "model bundled; " : "";
    bool seen[DRAWN_CLASSES] = {false};
    for (int n = 17, found = 0; found < DRAWN_CLASSES && n < 1000;
         n++) { /* one of every class, from the first picture on */
        int label = drawn_label((uint64_t)n);
        if (seen[label])
            continue;
        seen[label] = true;
        found++;
        char text[80], command[64];
        snprintf(text, sizeof text, "drawing #%d: %s", n, SHAPES_NAMES[label]);
        snprintf(command, sizeof command, "%sopen #%d", first, n);
        overlay_add(o, text, "", command);
    }
    overlay_add(o, "another drawing: any number", ":open #", "prompt open #");
}

static void add_sentences(Overlay *o, const Session *s)
{
    Buf text = {0}, command = {0};
    overlay_add(o, "sentences that it never learned from", "", NULL);
    for (int i = 0; input_sentence(&s->model, i, &text); i++) {
        buf_clear(&command);
        buf_puts(&command, "open ");
        command_quote(buf_str(&text), &command);
        overlay_add(o, buf_str(&text), "", buf_str(&command));
        buf_clear(&text);
    }
    buf_free(&text);
    buf_free(&command);
}

void overlay_open_menu(Overlay *o, const Session *s)
{
    overlay_list(o, "Open");
    overlay_add(o, "in this folder", "", NULL);
    int before = o->count;
    add_folder(o, !session_words(s, SIDE_B));
    if (o->count == before)
        overlay_add(o,
                    session_words(s, SIDE_B) ? "no model here: type a path"
                                             : "no picture (png jpg bmp ppm pgm) and no model here: type a path",
                    ":open", session_words(s, SIDE_B) ? "prompt model " : "prompt open ");
    overlay_add(o, "in the program", "", NULL);
    if (strcmp(s->model_path, "translator") != 0)
        overlay_add(o, "model   translator: English into French", "", "model translator");
    if (strcmp(s->model_path, "photos") != 0)
        overlay_add(o, "model   photos: names photographs", "", "model photos");
    if (*s->model_path)
        overlay_add(o, "model   shapes-vit: names drawn shapes", "", "model bundled");
    if (session_words(s, SIDE_B)) {
        overlay_add(o, "another sentence", ":open \"", "prompt open \"");
        if (strcmp(s->model_path, "translator") == 0)
            add_sentences(o, s);
    } else {
        add_drawings(o, s);
        add_scenes(o, s);
    }
}

/* How many bytes of a summary fit a line of a list on 80 columns: it is cut before what explains it further. */
static int brief(const char *summary)
{
    enum { ROOM = 62 };
    size_t n = strcspn(summary, ";:");
    for (size_t i = n; utf8_cells(summary) > ROOM && i-- && n > ROOM;)
        n = summary[i] == ',' ? i : n;
    return (int)(utf8_cells(summary) > ROOM ? n : strlen(summary));
}

/* The screens of what was learned, with their commands. */
static void add_learned(Overlay *o, const Session *s)
{
    for (int i = 0; i < SCREEN_COUNT; i++) {
        const ScreenSpec *screen = screen_spec((Screen)i);
        char text[160];
        if (screen->group != GROUP_LEARNED || for_pictures(s, screen->own.commands) ||
            (screen->empty && screen->empty(s)))
            continue;
        const char *summary = screen->own.commands->summary;
        utf8_print(text, sizeof text, "%-10s %.*s", screen->own.commands->name, brief(summary), summary);
        overlay_add(o, text, "", screen->own.commands->name);
    }
}

void overlay_learned_menu(Overlay *o, const Session *s)
{
    overlay_list(o, "What it learned");
    add_learned(o, s);
}

static void add_own_ways(Overlay *o, const Session *s)
{
    for (const ViewWay *way = view_now(s)->ways; way && way->text; way++)
        overlay_add(o, way->text, "", way->command);
}

/* The ways of seeing that a screen is titled by, such as the ledger's river, from wherever one stands. */
static void add_every_way(Overlay *o, const Session *s)
{
    for (int i = 0; i < SCREEN_COUNT; i++) {
        const ScreenSpec *screen = screen_spec((Screen)i);
        const bool apart = (screen->words && !session_words(s, SIDE_B)) || (screen->empty && screen->empty(s)) ||
                           (screen->own.commands && for_pictures(s, screen->own.commands));
        for (const ViewWay *way = view_of((Screen)i)->ways; !apart && way && way->text; way++) {
            char text[160], command[160];
            utf8_print(text, sizeof text, "%s: %s", screen->name, way->text);
            snprintf(command, sizeof command, "%s; %s", screen->command, way->command);
            overlay_add(o, text, "", command);
        }
    }
}

/* What every screen offers, whatever is in focus. */
static void add_views(Overlay *o, const Session *s)
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
                 {"row", "attention: one row over the input"},
                 {"formula", "the arithmetic of this number"},
                 {"positions", "similarity of position embeddings"},
                 {"answer", "what it answers, with probabilities"}};
    const bool words = session_words(s, SIDE_B);
    for (size_t i = 0; i < sizeof VIEWS / sizeof *VIEWS; i++) {
        char text[128], command[32];
        if (words && (strcmp(VIEWS[i].word, "picture") == 0 || strcmp(VIEWS[i].word, "positions") == 0))
            continue;
        snprintf(text, sizeof text, "%-10s %s", VIEWS[i].word, VIEWS[i].text);
        snprintf(command, sizeof command, "view %s", VIEWS[i].word);
        overlay_add(o, text, "", command);
    }
    for (int i = 0; words && i < SCREEN_COUNT; i++) {
        const ScreenSpec *spec = screen_spec((Screen)i);
        char text[160];
        snprintf(text, sizeof text, "%-10s %s", spec->name, spec->about);
        if (spec->words)
            overlay_add(o, text, "", spec->command);
    }
}

void overlay_view_menu(Overlay *o, const Session *s)
{
    bool learned = screen_now(s)->group == GROUP_LEARNED;
    overlay_list(o, "Ways to see this");
    if (learned) {
        add_own_ways(o, s);
        overlay_add(o, "what it learned", "T", NULL);
        add_learned(o, s);
        overlay_add(o, "this very node", "", NULL);
    }
    add_views(o, s);
    if (!learned)
        add_own_ways(o, s);
    if (!learned)
        overlay_add(o, "learned    what the model learned: more screens", "T", "menu learned");
}

/* The words of the texts: each leads into the tensor in focus if that has words, else to where the model reads it. */
static void add_words(Overlay *o, const Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId focus = session_node(s, SIDE_B, s->place.path);
    Dims here = focus == NO_NODE ? (Dims){.n = 0} : graph_node(g, focus)->dims;
    for (NodeId n = 0; n < g->count; n++) {
        int axis = anatomy_vocabulary(g, n) == AXIS_NONE ? AXIS_NONE : node_role(g, n, ROLE_QUERY);
        for (int i = 0; axis != AXIS_NONE && i < g->axes[axis].n; i++) {
            const Axis *a = &g->axes[axis];
            char text[160], command[SESSION_PATH + 160], label[100];
            bool asks = false, seen = false;
            for (int k = 0; k < here.n; k++) {
                const Axis *has = &g->axes[here.axis[k]];
                asks |= has->role == ROLE_QUERY && has->sequence == a->sequence;
                seen |= has->role == ROLE_KEY && has->sequence == a->sequence;
            }
            axis_label(a, i, label, sizeof label);
            utf8_print(text, sizeof text, "%s, word %d of the %s", label, i,
                       a->sequence == SEQUENCE_SOURCE ? "source" : "target");
            if (seen || asks)
                utf8_print(command, sizeof command, "%s %s", seen ? "looked" : "query", label);
            else
                utf8_print(command, sizeof command, "goto %s[%s=%d]", graph_node(g, n)->path, a->sym, i);
            overlay_add(o, text, "", command);
        }
    }
}

/* Words, steps and answers. */
static void add_places(Overlay *o, const Session *s)
{
    if (session_words(s, SIDE_B))
        add_words(o, s);
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
        utf8_print(text, sizeof text, "%s %s", session_words(s, SIDE_B) ? "next word" : "class", clean);
        utf8_print(command, sizeof command, "goto %.100s[%s=%d]", graph_node(g, probs)->path, g->axes[axis].sym, i);
        overlay_add(o, text, "", command);
    }
}

void overlay_find_menu(Overlay *o, const Session *s)
{
    overlay_list(o, "Find: type a part of the name");
    add_places(o, s);
    o->filtering = o->finds = true;
}

/* What can be set, as it is now. */
static void add_settings(Overlay *o, const Session *s)
{
    Buf lines = {0};
    look_write(NULL, &s->look, &lines);
    for (const char *p = buf_str(&lines); *p; p += strcspn(p, "\n") + 1) {
        char text[120], line[100];
        const char *value = strchr(p + strcspn(p, " ") + 1, ' ');
        utf8_take(text, sizeof text, p, strcspn(p, "\n"));
        utf8_print(line, sizeof line, "prompt %.*s ", (int)(value - p), p);
        overlay_add(o, text, "", line);
    }
    buf_free(&lines);
}

static void add_marks(Overlay *o, const Session *s)
{
    for (int i = 0; i < s->mark_count; i++) {
        char text[256];
        Buf line = {0};
        utf8_print(text, sizeof text, "mark %s: %s", s->marks[i].name, s->marks[i].place.path);
        buf_puts(&line, "mark ");
        command_quote(s->marks[i].name, &line);
        buf_puts(&line, " go");
        overlay_add(o, text, "", buf_str(&line));
        buf_free(&line);
    }
}

void overlay_marks_menu(Overlay *o, const Session *s)
{
    overlay_list(o, "Marks");
    add_marks(o, s);
    overlay_add(o, s->mark_count ? "mark this place too" : "nothing is marked yet: mark this place", ":mark",
                "prompt mark ");
}

/* Nodes that no step of the list shows. */
static void add_nodes(Overlay *o, const Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    for (NodeId n = 0; n < g->count; n++) {
        char line[SESSION_PATH + 8];
        bool listed = false;
        for (int i = 0; i < s->stages.count; i++)
            listed = listed || s->stages.boxes[i].show == n;
        snprintf(line, sizeof line, "goto %s", graph_node(g, n)->path);
        if (!listed)
            overlay_add(o, graph_node(g, n)->path, "", line);
    }
}

/* What words mean and where the pages of docs/ speak of something, each found by its own name. The quotes keep a word
 * from being taken for the name of what can be done. */
static void add_texts(Overlay *o)
{
    const char *word, *about, *page;
    char line[2 * PAGE_HEADING], text[2 * PAGE_HEADING], heading[PAGE_HEADING];
    for (int i = 0; (word = ask_glossary_entry(i, &about)) != NULL; i++) {
        utf8_print(text, sizeof text, "glossary: %s", word);
        utf8_print(line, sizeof line, "glossary \"%s\"", word);
        overlay_add(o, text, "", line);
    }
    for (int i = 0; (word = ask_glossary_alias(i, &about)) != NULL; i++) {
        utf8_print(text, sizeof text, "glossary: %s, see %s", word, about);
        utf8_print(line, sizeof line, "glossary \"%s\"", word);
        overlay_add(o, text, "", line);
    }
    for (int i = 0; (page = page_heading(i, heading)) != NULL; i++) {
        utf8_print(text, sizeof text, "page %s: %s", page, heading);
        utf8_print(line, sizeof line, "help page %s \"%s\"", page, heading);
        overlay_add(o, text, "", line);
    }
}

void overlay_help(Overlay *o, const Session *s, const Task *on, const Commands *commands, int page)
{
    char title[80];
    const bool straight = page == HELP_SEARCH && (o->kind != OVERLAY_LIST || o->page < 0);
    page = page == HELP_SEARCH ? page : page % HELP_PAGES;
    if (page == 0)
        snprintf(title, sizeof title, "Help 1 of 3: what do you want to do?");
    else if (page == 1)
        snprintf(title, sizeof title, "Help 2 of 3: keys on this screen (%s)", screen_name(s->place.screen));
    else
        snprintf(title, sizeof title,
                 page == 2 ? "Help 3 of 3: commands (type them after a colon)"
                           : "Everything: tasks, keys, commands, settings, steps, lessons, words, pages");
    overlay_list(o, title);
    if (page == 0 || page == HELP_SEARCH)
        help_tasks(o, s, on);
    if (page == 0) {
        overlay_add(o, "All keys here", "?", "help keys");
        overlay_add(o, "All commands", "? ?", "help commands");
    }
    if (page == 1 || page == HELP_SEARCH)
        help_keys(o, s);
    if (page == 2 || page == HELP_SEARCH)
        help_commands(o, s, commands);
    if (page == HELP_SEARCH) {
        add_marks(o, s);
        add_views(o, s);
        add_places(o, s);
        desk_add_lessons(o);
        add_settings(o, s);
        add_nodes(o, s);
        add_every_way(o, s);
        add_texts(o);
    }
    o->filtering = page == HELP_SEARCH;
    o->straight = straight;
    o->page = page;
}
