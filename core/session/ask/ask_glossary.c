/* `glossary`: the letters of the axes, the names of the nodes, and the words that people use about Transformers. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/graph/anatomy.h"
#include "core/models/names.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/command.h"
#include "core/session/place.h"
#include "core/session/screens.h"

static const struct {
    const char *word, *text;
} TERMS[] = {
#define TERM(word, text) {word, text},
#define ALIAS(word, entry)
#include "core/session/ask/glossary.def"
#undef TERM
#undef ALIAS
};
enum { TERM_COUNT = sizeof TERMS / sizeof *TERMS };

static const struct {
    const char *word, *entry;
} ALIASES[] = {
#define TERM(word, text)
#define ALIAS(word, entry) {word, entry},
#include "core/session/ask/glossary.def"
#undef TERM
#undef ALIAS
};

/* "heads" for "head", "Query" for "query". */
static bool same_word(const char *a, const char *b)
{
    size_t n = strlen(b);
    if (n == 1) /* h is a head, H an entropy */
        return strcmp(a, b) == 0;
    return strcasecmp(a, b) == 0 || (strncasecmp(a, b, n) == 0 && strcasecmp(a + n, "s") == 0);
}

/* Is the word one of the term's: "held" of "held out"? */
static bool word_of(const char *term, const char *word)
{
    size_t n = strlen(word), length;
    for (const char *p = term; strchr(term, ' ') && *p; p += length + strspn(p + length, " ")) {
        length = strcspn(p, " ");
        if (n > 2 && (length == n || (n == length + 1 && tolower((unsigned char)word[length]) == 's')) &&
            strncasecmp(p, word, length) == 0)
            return true;
    }
    return false;
}

static int put_matches(bool (*matches)(const char *term, const char *word), const char *word, Buf *out)
{
    int found = 0;
    for (int i = 0; i < TERM_COUNT; i++)
        if (matches(TERMS[i].word, word)) {
            buf_printf(out, "%s: %s\n", TERMS[i].word, TERMS[i].text);
            found++;
        }
    return found;
}

static bool is_term(const char *term, const char *word)
{
    return same_word(word, term);
}

static int put_terms(const char *word, Buf *out)
{
    int found = put_matches(is_term, word, out);
    for (size_t i = 0; !found && i < sizeof ALIASES / sizeof *ALIASES; i++)
        if (same_word(word, ALIASES[i].word))
            found = put_matches(is_term, ALIASES[i].entry, out);
    return found;
}

/* Where the word stands in the texts, by the axes of those who ask: source and target, or the one text there is. */
static int put_texts(const Graph *g, const char *word, Buf *out)
{
    static const struct {
        Sequence sequence;
        const char *text;
    } SPOKEN[] = {{SEQUENCE_SOURCE, "the source"}, {SEQUENCE_TARGET, "the target"}};
    bool two = graph_role(g, ROLE_QUERY, SEQUENCE_SOURCE) != AXIS_NONE &&
               graph_role(g, ROLE_QUERY, SEQUENCE_TARGET) != AXIS_NONE;
    int found = 0, index;
    for (size_t i = 0; i < sizeof SPOKEN / sizeof *SPOKEN; i++) {
        int a = graph_role(g, ROLE_QUERY, SPOKEN[i].sequence);
        if (a == AXIS_NONE || !g->axes[a].labels || !axis_parse(&g->axes[a], word, &index))
            continue;
        if (!found++)
            buf_printf(out, "%s: a word", word);
        buf_printf(out, "%s of %s (%s=%d)", found > 1 ? " and" : "", two ? SPOKEN[i].text : "the text", g->axes[a].sym,
                   index);
    }
    if (found)
        buf_putc(out, '\n');
    return found;
}

/* The classes that this model names, or the words that it reads and writes. */
static int put_classes(const Graph *g, const char *word, Buf *out)
{
    int o = graph_role(g, ROLE_ANSWER, SEQUENCE_ANY), index;
    if (isdigit((unsigned char)*word))
        return 0;
    if (put_texts(g, word, out))
        return 1;
    if (o == AXIS_NONE || !g->axes[o].labels || !axis_parse(&g->axes[o], word, &index))
        return 0;
    bool words = graph_role(g, ROLE_QUERY, SEQUENCE_PICTURE) == AXIS_NONE;
    buf_printf(out, "%s: one of the %d %s\n", word, g->axes[o].n,
               words ? "words that this model can write" : "classes that this model names");
    return 1;
}

static bool axis_is(const Axis *a, const char *word)
{
    return strcmp(a->sym, word) == 0 || same_word(word, a->name);
}

static bool put_axis(const Axis *a, const char *word, Buf *out)
{
    char first[64], last[64];
    if (!axis_is(a, word))
        return false;
    buf_printf(out, "%s (a letter of shapes and addresses): %s, %d of them, %s to %s\n", a->sym, a->name, a->n,
               axis_label(a, 0, first, sizeof first), axis_label(a, a->n - 1, last, sizeof last));
    return true;
}

/* Is it an axis of the forward pass, not of an analysis alone? */
static bool is_forward_axis(const Graph *g, int axis)
{
    for (NodeId n = 0; n < g->count; n++)
        for (int i = 0; i < graph_node(g, n)->dims.n && !(graph_node(g, n)->flags & NODE_PROBE); i++)
            if (graph_node(g, n)->dims.axis[i] == axis)
                return true;
    return false;
}

static int put_axes(const Graph *g, const char *word, bool probes, Buf *out)
{
    int found = 0;
    for (int i = 0; i < g->axis_count; i++)
        if (axis_is(&g->axes[i], word) && is_forward_axis(g, i) != probes)
            found += put_axis(&g->axes[i], word, out);
    return found;
}

static bool is_label(const NodeText *t, const char *word)
{
    return same_word(word, t->label) || strcmp(t->symbol, word) == 0;
}

static void put_node(const Graph *g, NodeId n, const NodeText *t, Buf *out)
{
    const Node *node = graph_node(g, n);
    buf_puts(out, node->path);
    if (node->dims.n)
        graph_shape_text(g, node->dims, out);
    buf_printf(out, ", %s%s%s: %s\n  ", t->label, *t->symbol ? ", " : "", node_words(g, t->symbol),
               node_words(g, t->sentence));
    graph_formula(g, n, out);
    buf_putc(out, '\n');
}

/* Nodes of that name, path or label; of those that every block has, the first. */
static int put_nodes(const Graph *g, const char *word, bool probes, Buf *out)
{
    const char *seen[16] = {0};
    const NodeText *labelled[64], *row;
    int found = 0, labels = 0; /* only nodes that may have that label or name have their text looked up */
    for (size_t i = 0; labels < 64 && (row = node_text_at(i)) != NULL; i++)
        if (is_label(row, word))
            labelled[labels++] = row;
    for (NodeId n = 0; n < g->count && found < 16; n++) {
        const Node *node = graph_node(g, n);
        if (((node->flags & NODE_PROBE) != 0) != probes)
            continue;
        bool named = strcmp(node_name(node), word) == 0 || strcmp(node->path, word) == 0,
             helper = node->op == OP_LEAF && ((node->flags & NODE_PROBE) || node->dims.n == 0); /* "one", "two" */
        bool label = false;
        for (int i = 0; !helper && !label && i < labels; i++)
            label = node_text_fits(labelled[i], node->path);
        const NodeText *t = !helper && (named || label) ? node_text(node->path) : NULL;
        if (!t || !(named || is_label(t, word)))
            continue;
        bool known = false;
        for (int i = 0; i < found; i++)
            known = known || strcmp(seen[i], t->pattern) == 0;
        if (known)
            continue;
        seen[found++] = t->pattern;
        put_node(g, n, t, out);
    }
    return found;
}

/* A letter of the node's shape, or what an index on it is called: "h", "R" on c. */
static bool put_axis_of(const Graph *g, Dims d, const char *word, Buf *out)
{
    for (int i = 0; i < d.n; i++) {
        const Axis *a = &g->axes[d.axis[i]];
        int index;
        if (put_axis(a, word, out))
            return true;
        if (a->role == ROLE_CHANNEL && !isdigit((unsigned char)*word) && axis_parse(a, word, &index)) {
            buf_printf(out, "%s: %s=%d of %d, %s\n", word, a->sym, index, a->n, a->name);
            return true;
        }
    }
    return false;
}

/* What the word means where the reader stands: the node in focus, what it is computed from, its letters, a step of the
 * map. The same word may mean other things elsewhere in the model. */
static bool put_here(const Session *s, const Graph *g, const char *word, Buf *out)
{
    NodeId n = session_node(s, SIDE_B, s->place.path);
    const Node *node = n == NO_NODE ? NULL : graph_node(g, n);
    for (int i = -1; node && i < NODE_INPUTS && (i < 0 || node->in[i] != NO_NODE); i++) {
        NodeId of = i < 0 ? n : node->in[i];
        const NodeText *t = node_text(graph_node(g, of)->path);
        if (t && (strcmp(node_name(graph_node(g, of)), word) == 0 || is_label(t, word))) {
            put_node(g, of, t, out);
            return true;
        }
        if (i < 0 && put_axis_of(g, node->dims, word, out))
            return true;
    }
    int block = anatomy_block_of(g, s->place.path), best = NO_BOX, at = place_box(s);
    if (at != NO_BOX && strcmp(s->stages.boxes[at].symbol, word) == 0) { /* in the header */
        buf_printf(out, "%s: %s\n", word, s->stages.boxes[at].sentence);
        return true;
    }
    const char *scope = block == NO_PART ? "" : anatomy_part(g, block)->scope;
    for (int i = 0; i < s->stages.count; i++) {
        const Box *b = &s->stages.boxes[i];
        if (strcmp(b->label, word) != 0 || !*b->sentence || stages_step(&s->stages, b->step) != i)
            continue;
        if (best == NO_BOX || strncmp(b->path, scope, strlen(scope)) == 0)
            best = i;
        if (*scope && strncmp(b->path, scope, strlen(scope)) == 0)
            break;
    }
    if (best != NO_BOX)
        buf_printf(out, "%s, step %d: %s\n", word, s->stages.boxes[best].step, s->stages.boxes[best].sentence);
    return best != NO_BOX;
}

static const char *term_word(const void *context, int i)
{
    (void)context;
    return i < TERM_COUNT ? TERMS[i].word : NULL;
}

static void put_all(const Graph *g, Buf *out)
{
    buf_puts(out, "Words:");
    for (int i = 0; i < TERM_COUNT; i++)
        buf_printf(out, "%s %s", i ? "," : "", TERMS[i].word);
    buf_puts(out, ".\nLetters:");
    for (int i = 0; i < g->axis_count; i++)
        buf_printf(out, "%s %s %s", i ? "," : "", g->axes[i].sym, g->axes[i].name);
    buf_puts(out, ".\nEvery node's name, short or whole, is an entry too; `glossary nodes` lists them.\n");
}

/* Names of the forward pass, each once: what all blocks have stands with a * for the block's number. */
static void put_node_names(const Graph *g, Buf *out)
{
    enum { WIDTH = 72 }; /* a line is what a screen can fold */
    size_t line = 0;
    buf_puts(out, "Nodes of this model (* is the number of a block):\n");
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (node->flags & NODE_PROBE)
            continue;
        int part = anatomy_block_of(g, node->path);
        const Part *block = part == NO_PART ? NULL : anatomy_part(g, part);
        if (block && block->block != 0)
            continue;
        size_t scope = block ? strlen(block->scope) : 0, stem = scope;
        while (stem && block->scope[stem - 1] >= '0' && block->scope[stem - 1] <= '9')
            stem--;
        size_t length = stem + strlen(node->path + scope) + 3;
        bool fits = line && line + length < WIDTH;
        buf_printf(out, "%s%.*s%s%s",
                   fits   ? ", "
                   : line ? ",\n"
                          : "",
                   (int)stem, node->path, block ? "*" : "", node->path + scope);
        line = fits ? line + length : length;
    }
    buf_puts(out, ".\n");
}

const char *ask_glossary_entry(int i, const char **text)
{
    *text = i >= 0 && i < TERM_COUNT ? TERMS[i].text : NULL;
    return *text ? TERMS[i].word : NULL;
}

const char *ask_glossary_alias(int i, const char **entry)
{
    *entry = i >= 0 && i < (int)(sizeof ALIASES / sizeof *ALIASES) ? ALIASES[i].entry : NULL;
    return *entry ? ALIASES[i].word : NULL;
}

void ask_glossary_complete(const Session *s, int index, Buf *out)
{
    (void)s;
    for (int i = 0; index == 0 && i < TERM_COUNT; i++)
        buf_printf(out, "%s\n", TERMS[i].word);
}

bool ask_glossary_term(const char *word)
{
    for (int i = 0; i < TERM_COUNT; i++)
        if (same_word(word, TERMS[i].word))
            return true;
    return false;
}

/* Everything of that name. On a screen a plain word ("in", "row") is no node that lies elsewhere. */
static bool entries(const Session *s, const char *word, bool shown, Buf *out)
{
    const Graph *g = session_graph(s, SIDE_B);
    bool nodes = !shown || !word[0] || !word[1] || word[strspn(word, "abcdefghijklmnopqrstuvwxyz")];
    if (put_here(s, g, word, out)) {
        put_matches(is_term, word, out);
        return true;
    }
    int found = 0, terms = put_terms(word, out);
    for (int probes = 0; probes < 2 && !found; probes++) { /* an analysis' names are meant where the pass has none */
        found += put_axes(g, word, probes, out);
        found += nodes ? put_nodes(g, word, probes, out) : 0;
    }
    found += terms + put_classes(g, word, out);
    return found > 0;
}

bool ask_glossary_shown(const Session *s, const char *word, Buf *out)
{
    return entries(s, word, true, out);
}

bool ask_glossary(const Session *s, const char *word, Buf *out, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    char trimmed[128];
    while (isspace((unsigned char)*word))
        word++;
    if (strlen(word) >= sizeof trimmed)
        return err_set(err, "that is longer than any entry of the glossary");
    snprintf(trimmed, sizeof trimmed, "%s", word);
    for (size_t n = strlen(trimmed); n && isspace((unsigned char)trimmed[n - 1]); n--)
        trimmed[n - 1] = 0;
    if (!*trimmed) {
        put_all(g, out);
        return true;
    }
    if (strcmp(trimmed, "screen") == 0) { /* the one that is on, and the entry of its name */
        const ScreenSpec *screen = screen_now(s);
        buf_printf(out, "%s, this screen: %s\n", screen->name, screen->about);
        put_terms(screen->name, out);
        return true;
    }
    if (strcmp(trimmed, "nodes") == 0) {
        put_node_names(g, out);
        return true;
    }
    if (entries(s, trimmed, false, out) || put_matches(word_of, trimmed, out))
        return true;
    const char *near = nearest_name(trimmed, term_word, NULL);
    return err_set(err, "the glossary has no '%.60s'%s%s%s", trimmed, near ? "; did you mean '" : "; ",
                   near ? near : "`glossary` lists its words", near ? "'?" : "");
}
