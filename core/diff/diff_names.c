#include "core/diff/diff_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"

enum { MAP_BYTES = 1 << 20, NO_BLOCK = -1, BLOCK_DIGITS = 6 };

static const DiffName TABLE[] = {
#define NAME(family_, name_, nodes_) {DIFF_##family_, name_, nodes_},
#include "core/diff/diff_names.def"
#undef NAME
};
enum { TABLE_ROWS = sizeof TABLE / sizeof *TABLE };

/* What programs put in front of a module's name. */
static const char *const PREFIXES[] = {
    "vit.",        "deit.",         "dinov2.",         "model.",       "module.",
    "backbone.",   "base_model.",   "_orig_mod.",      "transformer.", "dinov2_with_registers.",
    "dinov3_vit.", "vision_model.", "visual.",         "trunk.",       "clip.",
    "siglip.",     "beit.",         "data2vec_vision."};

const char *diff_family_name(DiffFamily f)
{
    static const char *const NAMES[DIFF_FAMILIES] = {[DIFF_OURS] = "own names",
                                                     [DIFF_MAP] = "--map",
                                                     [DIFF_HOOKS] = "TransformerLens",
                                                     [DIFF_HF] = "Hugging Face",
                                                     [DIFF_TIMM] = "timm",
                                                     [DIFF_TORCHVISION] = "torchvision",
                                                     [DIFF_OPENAI] = "OpenAI CLIP",
                                                     [DIFF_TORCH] = "PyTorch nn.Transformer",
                                                     [DIFF_MODULES] = "modules of its own program"};
    return NAMES[f];
}

/* Equal but for one number where the pattern has *, and one, of a head, where it has #. */
static bool fits_head(const char *pattern, const char *name, int *block, int *head)
{
    *block = *head = NO_BLOCK;
    for (; *pattern; pattern++) {
        if (*pattern != '*' && *pattern != '#') {
            if (*pattern != *name++)
                return false;
            continue;
        }
        size_t digits = strspn(name, "0123456789");
        if (!digits || digits > BLOCK_DIGITS)
            return false;
        *(*pattern == '#' ? head : block) = atoi(name);
        name += digits;
    }
    return !*name;
}

static bool fits(const char *pattern, const char *name, int *block)
{
    int head;
    return fits_head(pattern, name, block, &head);
}

static int last_block(const Graph *g)
{
    int last = NO_BLOCK;
    for (NodeId n = 0; n < g->count; n++) {
        const char *path = graph_node(g, n)->path;
        const char *at = strstr(path, "blocks.");
        if (at && (at == path || at[-1] == '.') && atoi(at + 7) > last)
            last = atoi(at + 7);
    }
    return last;
}

/* One alternative, "blocks.*.attn.q[t,h,e]", n characters long, with the block filled in. False when the model has no
 * such node. */
static bool find_node(const Graph *g, const char *text, size_t n, int block, DiffTarget *out)
{
    char path[DIFF_PATH] = "";
    size_t used = 0, i = 0;
    for (; i < n && text[i] != '['; i++) {
        int number = text[i] == '<' ? block - 1 : text[i] == '!' ? last_block(g) : block;
        if (used + BLOCK_DIGITS + 2 > sizeof path)
            return false;
        if (strchr("*<!", text[i])) {
            if (number < 0)
                return false;
            used += (size_t)snprintf(path + used, sizeof path - used, "%d", number);
        } else if (text[i] != ' ' && text[i] != '\t')
            path[used++] = text[i];
    }
    path[used] = '\0';
    out->node = graph_find(g, strcmp(path, "pixel_values") == 0 ? "image" : path); /* what everybody else calls it */
    out->axes[0] = '\0';
    if (i < n) {
        size_t length = strcspn(text + i + 1, "]");
        if (i + 1 + length >= n || length >= sizeof out->axes)
            return false;
        memcpy(out->axes, text + i + 1, length);
        out->axes[length] = '\0';
    }
    return out->node != NO_NODE;
}

/* Cuts text of n characters at `at`, which does not stand in brackets: length of the first piece. */
static size_t piece(const char *text, size_t n, char at)
{
    size_t i = 0;
    for (int depth = 0; i < n && (depth || text[i] != at); i++)
        depth += (text[i] == '[') - (text[i] == ']');
    return i;
}

/* All parts of a line; 0 unless the model has a node for every one. */
static int find_nodes(const Graph *g, const DiffName *line, int block, DiffTarget out[DIFF_PARTS])
{
    int parts = 0;
    const char *text = line->nodes;
    for (size_t left = strlen(text);; text++, left--) {
        size_t n = piece(text, left, '+'), done = 0;
        bool found = false;
        if (parts == DIFF_PARTS)
            return 0;
        for (size_t alternative; !found && done < n; done += alternative + 1) {
            alternative = piece(text + done, n - done, '|');
            found = find_node(g, text + done, alternative, block, &out[parts]);
        }
        if (!found)
            return 0;
        out[parts].family = line->family;
        out[parts].part = parts;
        parts++;
        text += n;
        left -= n;
        if (!left)
            break;
    }
    for (int i = 0; i < parts; i++)
        out[i].parts = parts;
    return parts;
}

static bool path_is_layer(const char *name)
{
    return strcmp(name, "encoder.layers.*") == 0 || strcmp(name, "decoder.layers.*") == 0;
}

/* Do the blocks of the stack that the name begins with end with a norm (post-norm), or with the addition before it? */
static bool ends_with_norm(const Graph *g, const char *name)
{
    char path[48];
    utf8_print(path, sizeof path, "%.8sblocks.0.ln1.out", name);
    NodeId norm = graph_find(g, path);
    utf8_print(path, sizeof path, "%.8sblocks.0.resid_mid", name);
    return norm > graph_find(g, path);
}

/* Hugging Face's BEiT adds what a sub-layer gives outside of the module `output`, its ViT inside. */
#define BIASED "blocks.0.attn.scores_biased"
static bool adds_elsewhere(const DiffName *line, const Graph *g)
{
    if (line->family == DIFF_TORCH && path_is_layer(line->name))
        return ends_with_norm(g, line->name) == (strstr(line->nodes, "resid_post") != NULL);
    return line->family == DIFF_HF && strcmp(line->name, "encoder.layer.*.output") == 0 && *line->nodes == 'b' &&
           (graph_find(g, BIASED) == NO_NODE) == (strcmp(line->nodes, "blocks.*.resid_post") != 0);
}

/* skip: so many lines that would do are passed over. */
static int look_up(const DiffName *lines, size_t count, const Graph *g, const char *name, int *skip,
                   DiffTarget out[DIFF_PARTS])
{
    int block, head;
    for (size_t i = 0; i < count; i++) {
        if (!fits_head(lines[i].name, name, &block, &head) || adds_elsewhere(&lines[i], g))
            continue;
        if (strcmp(lines[i].nodes, "-") == 0)
            return -1;
        int found = find_nodes(g, &lines[i], block, out);
        for (int k = 0; k < found; k++)
            out[k].head = head + 1;
        if (found && (*skip)-- <= 0)
            return found;
    }
    return 0;
}

/* The name behind one prefix, or NULL. */
static const char *without_prefix(const char *name)
{
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++)
        if (strncmp(name, PREFIXES[i], strlen(PREFIXES[i])) == 0)
            return name + strlen(PREFIXES[i]);
    return NULL;
}

static int look_up_tables(const Graph *g, const char *name, int skip, DiffTarget out[DIFF_PARTS])
{
    for (; name; name = without_prefix(name)) {
        int found = look_up(TABLE, TABLE_ROWS, g, name, &skip, out);
        if (found)
            return found;
    }
    return 0;
}

/* "grad.NAME": the gradients of what NAME means. found: how many that is. */
static int gradients(const Graph *g, int found, DiffTarget out[DIFF_PARTS])
{
    for (int i = 0; i < found; i++) {
        char path[DIFF_PATH];
        snprintf(path, sizeof path, DIFF_GRADIENT "%s", graph_node(g, out[i].node)->path);
        out[i].node = graph_find(g, path);
        if (out[i].node == NO_NODE)
            return 0;
    }
    return found;
}

bool diff_is_gradient(const char *name)
{
    return strncmp(name, DIFF_GRADIENT, sizeof DIFF_GRADIENT - 1) == 0;
}

int diff_name_other(const Graph *g, const char *name, int n, DiffTarget out[DIFF_PARTS])
{
    if (diff_is_gradient(name))
        return gradients(g, look_up_tables(g, name + sizeof DIFF_GRADIENT - 1, n, out), out);
    return look_up_tables(g, name, n, out);
}

int diff_name_targets(const DiffMap *map, const Graph *g, const char *name, DiffTarget out[DIFF_PARTS])
{
    int none = 0, found = map ? look_up(map->line, map->count, g, name, &none, out) : 0;
    if (found)
        return found;
    NodeId own = graph_find(g, name);
    if (own != NO_NODE) {
        out[0] = (DiffTarget){.family = DIFF_OURS, .node = own, .parts = 1};
        return 1;
    }
    if (diff_is_gradient(name)) {
        found = diff_name_targets(map, g, name + sizeof DIFF_GRADIENT - 1, out);
        return found < 0 ? found : gradients(g, found, out);
    }
    return look_up_tables(g, name, 0, out);
}

/* --- what the program that recorded calls a node --- */

/* Hugging Face has two models below encoder.layer.*: ViT with BEiT, and DINOv2 with its factors behind each sub-layer,
 * which BEiT has too; and two
 * kinds below encoder.layers.*: CLIP with SigLIP, and AIMv2 with its RMSNorms. A line is of a model by a node that it
 * has or lacks. */
#define FACTORS "blocks.0.attn.scaled_out"
#define RMS "blocks.0.rms1.out"
static bool is_of_model(const DiffName *line, const Graph *g)
{
    static const struct {
        const char *begins, *node;
        bool there;
    } OF[] = {{"encoder.layer.*.layernorm_", FACTORS, false},
              {"encoder.layer.*.intermediate", FACTORS, false},
              {"encoder.layer.*.output", FACTORS, false},
              {"encoder.layer.*.norm", FACTORS, true},
              {"encoder.layer.*.mlp", FACTORS, true},
              {"encoder.layer.*.drop_path", FACTORS, true},
              {"encoder.layers.*.layer_norm", RMS, false},
              {"encoder.layers.*.self_attn", RMS, false},
              {"encoder.layers.*.mlp", RMS, false},
              {"encoder.layers.*.rms_norm", RMS, true},
              {"encoder.layers.*.attention", RMS, true},
              {"encoder.layers.*.ffn", RMS, true},
              {"head", "pool.out", true}};
    if (strcmp(line->nodes, "blocks.*.mlp.pre") == 0 && strcmp(line->name, "blocks.*.mlp.fc1") == 0)
        return graph_find(g, "blocks.0.mlp.gate") == NO_NODE; /* else it holds both */
    for (size_t i = 0; i < sizeof OF / sizeof *OF; i++)
        if (line->family == DIFF_HF && strncmp(line->name, OF[i].begins, strlen(OF[i].begins)) == 0)
            return OF[i].there == (graph_find(g, OF[i].node) != NO_NODE &&
                                   (strcmp(OF[i].node, FACTORS) != 0 || graph_find(g, BIASED) == NO_NODE));
    return true;
}

/* The line that a recorded name was read by, and how many bytes stand before what the line says. */
static const DiffName *line_of(const DiffMap *map, const Graph *g, const char *name, int *front)
{
    int block;
    DiffTarget to[DIFF_PARTS];
    *front = 0;
    for (size_t i = 0; map && i < map->count; i++)
        if (fits(map->line[i].name, name, &block))
            return &map->line[i];
    for (const char *rest = name; rest; rest = without_prefix(rest))
        for (size_t i = 0; i < TABLE_ROWS; i++)
            if (fits(TABLE[i].name, rest, &block) && find_nodes(g, &TABLE[i], block, to)) {
                *front = (int)(rest - name);
                return &TABLE[i];
            }
    return NULL;
}

static size_t stem(const char *name)
{
    return strcspn(name, "*");
}

static bool same_stem(const DiffName *a, const DiffName *b)
{
    size_t n = stem(a->name);
    return a->family == b->family && n == stem(b->name) && strncmp(a->name, b->name, n) == 0;
}

static size_t alike(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

/* How near a line is to the names of a recording: names it read itself, names that begin alike up to the block's
 * number, how much of the line the likest of them has, names of its family; and what stands in front of those. */
typedef struct Nearness {
    int score[4];
    char front[48];
} Nearness;

static Nearness nearness(const DiffName *line, const DiffMap *map, const Graph *g, const DiffNaming *naming)
{
    Nearness n = {{0}, ""};
    enum { FAR = 1000 }; /* a dropout has the value of what is before it, and may be called twice */
    bool star = line->name[stem(line->name)] != '\0', own_front = false;
    int length = (int)strlen(line->name);
    for (int i = 0; i < naming->count; i++) {
        int front;
        const char *name = naming->name[i] + (diff_is_gradient(naming->name[i]) ? sizeof DIFF_GRADIENT - 1 : 0);
        const DiffName *read = line_of(map, g, name, &front);
        if (!read || read->family != line->family)
            continue;
        bool stems = star ? same_stem(read, line) : !read->name[stem(read->name)];
        int likeness = stems ? 2 * (int)alike(read->name, line->name) - length : -FAR;
        likeness -= read != line && strstr(line->name, "drop") ? FAR : 0;
        n.score[0] += read == line;
        n.score[1] += star && stems;
        n.score[2] = n.score[3]++ && likeness < n.score[2] ? n.score[2] : likeness;
        if ((stems && !own_front) || !*n.front) {
            own_front = stems && front > 0;
            utf8_print(n.front, sizeof n.front, "%.*s", front, name);
        }
    }
    return n;
}

static bool is_nearer(const Nearness *a, const Nearness *b)
{
    for (size_t i = 0; i < sizeof a->score / sizeof *a->score; i++)
        if (a->score[i] != b->score[i])
            return a->score[i] > b->score[i];
    return false;
}

/* The node whose values a residual stream before a block has: the one behind it. */
static NodeId behind_views(const Graph *g, NodeId n)
{
    for (const Node *x = graph_node(g, n); x->op == OP_VIEW && dims_equal(graph_node(g, x->in[0])->dims, x->dims);
         x = graph_node(g, n))
        n = x->in[0];
    return n;
}

/* The line's name for node n of that block, "" where it is none. */
static void name_by(const DiffName *line, const DiffMap *map, const Graph *g, NodeId n, int block, const char *front,
                    char *out, size_t size)
{
    const char *star = strchr(line->name, '*');
    DiffTarget to[DIFF_PARTS];
    for (int b = block; b <= block + 1; b++) { /* a line may name a block by the one behind it */
        if (star)
            utf8_print(out, size, "%s%.*s%d%s", front, (int)(star - line->name), line->name, b, star + 1);
        else
            snprintf(out, size, "%s%s", front, line->name);
        int parts = diff_name_targets(map, g, out, to);
        for (int other = 1; parts > 0; other++) {
            for (int k = 0; k < parts; k++)
                if (to[k].node == n || (strchr(line->nodes, '<') && behind_views(g, to[k].node) == behind_views(g, n)))
                    return;
            parts = to[0].family > DIFF_MAP ? diff_name_other(g, out, other, to) : 0;
        }
    }
    *out = '\0';
}

static void nearest_name(const DiffName *lines, size_t count, const DiffMap *map, const Graph *g, NodeId n,
                         const DiffNaming *naming, Nearness *best, char *out, size_t size)
{
    const char *path = graph_node(g, n)->path, *blocks = strstr(path, "blocks.");
    int block = blocks && (blocks == path || blocks[-1] == '.') ? atoi(blocks + 7) : 0;
    for (size_t i = 0; i < count; i++) {
        char name[DIFF_PATH];
        if (!*lines[i].name || strchr(lines[i].name, '#') || strcmp(lines[i].nodes, "-") == 0 ||
            !is_of_model(&lines[i], g))
            continue;
        name_by(&lines[i], map, g, n, block, "", name, sizeof name);
        if (!*name)
            continue;
        Nearness here = nearness(&lines[i], map, g, naming);
        if (!here.score[3] || (*out && !is_nearer(&here, best)))
            continue;
        char fronted[DIFF_PATH];
        name_by(&lines[i], map, g, n, block, here.front, fronted, sizeof fronted);
        *best = here;
        snprintf(out, size, "%s", *fronted ? fronted : name);
    }
}

bool diff_name_of(const DiffNaming *naming, const DiffMap *map, const Graph *g, NodeId n, char *out, size_t size)
{
    const char *path = graph_node(g, n)->path;
    size_t prefix = sizeof DIFF_GRADIENT - 1;
    *out = '\0';
    if (diff_is_gradient(path)) {
        NodeId of = graph_find(g, path + prefix);
        if (of == NO_NODE || size <= prefix || !diff_name_of(naming, map, g, of, out + prefix, size - prefix))
            return false;
        memcpy(out, DIFF_GRADIENT, prefix);
        return true;
    }
    Nearness best = {{0}, ""};
    if (map)
        nearest_name(map->line, map->count, map, g, n, naming, &best, out, size);
    nearest_name(TABLE, TABLE_ROWS, map, g, n, naming, &best, out, size);
    return *out != '\0';
}

/* --- the user's own table --- */

static char *trimmed(char *s)
{
    s += strspn(s, " \t\r");
    for (size_t n = strlen(s); n && strchr(" \t\r", s[n - 1]);)
        s[--n] = '\0';
    return s;
}

/* Does any block give the line a meaning? */
static bool means_something(const Graph *g, const DiffName *line)
{
    DiffTarget to[DIFF_PARTS];
    if (strcmp(line->nodes, "-") == 0)
        return true;
    for (int block = 0; block <= last_block(g) + 1; block++)
        if (find_nodes(g, line, block, to))
            return true;
    return find_nodes(g, line, NO_BLOCK, to) > 0;
}

/* Names the node meant where its last word is another's: blocks.*.attn.query, blocks.*.attn.q. */
static bool no_such_nodes(const Graph *g, const DiffName *line, const char *file, int number, Err *err)
{
    char path[DIFF_PATH], pattern[DIFF_PATH] = "";
    size_t used = 0;
    for (const char *s = line->nodes; *s && !strchr("[|+ \t", *s) && used + 2 < sizeof path; s++)
        path[used++] = strchr("*<!", *s) ? '0' : *s;
    path[used] = '\0';
    const char *near = NULL, *blocks;
    int least = (int)used / 2 + 1;
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        int edits = node->flags & NODE_PROBE ? least : utf8_edits(path, used, node->path, least);
        near = edits < least ? node->path : near;
        least = edits < least ? edits : least;
    }
    blocks = near ? strstr(near, "blocks.0.") : NULL;
    if (blocks)
        utf8_print(pattern, sizeof pattern, "%.*sblocks.*%s", (int)(blocks - near), near, blocks + 8);
    return err_set(err, "%s: line %d: this model has no '%.120s'%s%s%s `vitrine info --nodes` lists them", file, number,
                   line->nodes, near ? "; did you mean " : "",
                   blocks ? pattern
                   : near ? near
                          : "",
                   near ? "?" : ";");
}

static bool add_line(DiffMap *m, char *text, const Graph *g, const char *file, int number, Err *err)
{
    char *equals = strstr(text, " = ");
    if (!equals && (equals = strchr(text, '=')) == NULL)
        return err_set(err, "%s: line %d: expected NAME = NODE[axes], such as layer.*.q = blocks.*.attn.q[h,t,e]", file,
                       number);
    char *nodes = equals + 1 + (equals[0] == ' ');
    *equals = '\0';
    DiffName line = {.family = DIFF_MAP, .name = trimmed(text), .nodes = trimmed(nodes)};
    if (!*line.name || !*line.nodes)
        return err_set(err,
                       "%s: line %d: expected NAME = NODE[axes], or NAME = - for a tensor that is not to be compared",
                       file, number);
    if (!means_something(g, &line))
        return no_such_nodes(g, &line, file, number, err);
    m->line = grow(m->line, &m->cap, m->count, sizeof *m->line);
    m->line[m->count++] = line;
    return true;
}

bool diff_map_parse(DiffMap *m, const char *name, const char *text, const Graph *g, Err *err)
{
    *m = (DiffMap){.count = 0};
    int number = 1;
    for (char *line = arena_strdup(&m->arena, text), *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line = trimmed(line);
        if (*line && *line != '#' && !add_line(m, line, g, name, number, err)) {
            diff_map_free(m);
            return false;
        }
    }
    return true;
}

void diff_map_modules(DiffMap *m, const char *lines, const Graph *g)
{
    for (char *line = arena_strdup(&m->arena, lines), *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (add_line(m, line, g, "", 0, NULL))
            m->line[m->count - 1].family = DIFF_MODULES;
    }
}

bool diff_map_read(DiffMap *m, const char *path, const Graph *g, Err *err)
{
    Buf text = {0};
    *m = (DiffMap){.count = 0};
    bool ok = file_read(path, MAP_BYTES, &text, err);
    if (ok && memchr(buf_str(&text), 0, text.len))
        ok = err_set(err, "%s: a map is a text file of lines NAME = NODE", path);
    ok = ok && diff_map_parse(m, path, buf_str(&text), g, err);
    buf_free(&text);
    return ok;
}

void diff_map_free(DiffMap *m)
{
    free(m->line);
    arena_free(&m->arena);
    *m = (DiffMap){.count = 0};
}
