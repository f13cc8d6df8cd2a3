#include "core/graph/anatomy.h"

#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"

static const char *const SITE_NAMES[SITE_COUNT] = {
#define SITE(symbol, name) [SITE_##symbol] = name,
#include "core/graph/anatomy.def"
#undef SITE
};

const char *site_name(Site s)
{
    return SITE_NAMES[s];
}

/* FNV-1a, a byte at a time: the hash of a text is on the way to that of every longer one that begins with it */
static const uint64_t HASH_START = 14695981039346656037u;

static uint64_t hash_more(uint64_t h, char c)
{
    return (h ^ (unsigned char)c) * 1099511628211u;
}

static size_t bucket_of(const Anatomy *a, uint64_t h)
{
    return (size_t)(h ^ (h >> 32)) & (a->buckets - 1);
}

static void put_in_bucket(Anatomy *a, int part)
{
    uint64_t h = HASH_START;
    for (const char *c = a->parts[part].scope; *c; c++)
        h = hash_more(h, *c);
    size_t at = bucket_of(a, h);
    while (a->bucket[at] != NO_PART)
        at = (at + 1) & (a->buckets - 1);
    a->bucket[at] = part;
}

/* The last part that was added with that scope, whose hash is h, or NO_PART. */
static int part_of_scope(const Anatomy *a, const char *scope, size_t n, uint64_t h)
{
    int found = NO_PART;
    for (size_t at = bucket_of(a, h); a->bucket[at] != NO_PART; at = (at + 1) & (a->buckets - 1)) {
        const char *have = a->parts[a->bucket[at]].scope;
        if (strlen(have) == n && memcmp(have, scope, n) == 0)
            found = a->bucket[at] > found ? a->bucket[at] : found;
    }
    return found;
}

static void more_parts(Graph *g, Anatomy *a)
{
    int cap = a->cap ? 2 * a->cap : 32;
    Part *more = arena_alloc(&g->arena, size_mul((size_t)cap, sizeof *more)); /* the old ones are left to the arena */
    if (a->count)
        memcpy(more, a->parts, (size_t)a->count * sizeof *more);
    a->parts = more;
    a->cap = cap;
    a->buckets = 2 * (size_t)cap;
    a->bucket = arena_alloc(&g->arena, size_mul(a->buckets, sizeof *a->bucket));
    for (size_t i = 0; i < a->buckets; i++)
        a->bucket[i] = NO_PART;
    for (int i = 0; i < a->count; i++)
        if (*a->parts[i].scope)
            put_in_bucket(a, i);
}

int anatomy_add(Graph *g, Part p)
{
    if (!g->anatomy) {
        REQUIRE(p.kind == PART_MODEL);
        g->anatomy = arena_alloc(&g->arena, sizeof *g->anatomy);
        *g->anatomy = (Anatomy){0};
    }
    Anatomy *a = g->anatomy;
    REQUIRE(p.parent < a->count);
    if (a->count == a->cap)
        more_parts(g, a);
    p.stack = arena_strdup(&g->arena, p.stack ? p.stack : "");
    p.scope = arena_strdup(&g->arena, p.scope ? p.scope : "");
    p.word = arena_strdup(&g->arena, p.word ? p.word : "");
    memset(p.site, 0, sizeof p.site);
    a->parts[a->count] = p;
    if (*p.scope)
        put_in_bucket(a, a->count);
    return a->count++;
}

static Part *part_at(Graph *g, int part)
{
    REQUIRE(g->anatomy && part >= 0 && part < g->anatomy->count);
    return &g->anatomy->parts[part];
}

void anatomy_note(Graph *g, int part, Site s, NodeId n)
{
    Part *p = part_at(g, part);
    if (n == NO_NODE || (p->site[s] && strcmp(p->site[s], graph_node(g, n)->path) == 0))
        return; /* a name that was noted before outlives the node */
    p->site[s] = graph_node(g, n)->path;
}

void anatomy_note_name(Graph *g, int part, Site s, const char *name)
{
    Part *p = part_at(g, part);
    p->site[s] = arena_printf(&g->arena, "%s%s%s", p->scope, *p->scope ? "." : "", name);
}

void anatomy_copy(Graph *out, const Graph *base)
{
    if (!base->anatomy)
        return;
    int n = base->anatomy->count;
    out->anatomy = arena_alloc(&out->arena, sizeof *out->anatomy);
    *out->anatomy = *base->anatomy; /* scopes and their buckets are the same */
    out->anatomy->parts = arena_alloc(&out->arena, size_mul((size_t)n, sizeof *out->anatomy->parts));
    memcpy(out->anatomy->parts, base->anatomy->parts, (size_t)n * sizeof *base->anatomy->parts);
}

int anatomy_count(const Graph *g)
{
    return g->anatomy ? g->anatomy->count : 0;
}

const Part *anatomy_part(const Graph *g, int part)
{
    REQUIRE(part >= 0 && part < anatomy_count(g));
    return &g->anatomy->parts[part];
}

int anatomy_next(const Graph *g, int after, PartKind kind)
{
    for (int i = after + 1; i < anatomy_count(g); i++)
        if (g->anatomy->parts[i].kind == kind)
            return i;
    return NO_PART;
}

int anatomy_next_in(const Graph *g, int after, PartKind kind, int within)
{
    int i = after;
    while ((i = anatomy_next(g, i, kind)) != NO_PART)
        if (g->anatomy->parts[i].parent == within)
            return i;
    return NO_PART;
}

int anatomy_blocks(const Graph *g, const char *stack)
{
    int n = 0;
    for (int i = NO_PART; (i = anatomy_next(g, i, PART_BLOCK)) != NO_PART;)
        n += !stack || strcmp(g->anatomy->parts[i].stack, stack) == 0;
    return n;
}

int anatomy_block(const Graph *g, const char *stack, int block)
{
    for (int i = NO_PART; (i = anatomy_next(g, i, PART_BLOCK)) != NO_PART;) {
        const Part *p = &g->anatomy->parts[i];
        if (p->block == block && (!stack || strcmp(p->stack, stack) == 0))
            return i;
    }
    return NO_PART;
}

static bool of_block(const Graph *g, int attention)
{
    return g->anatomy->parts[attention].block != NO_BLOCK;
}

int anatomy_attentions(const Graph *g)
{
    int n = 0;
    for (int i = NO_PART; (i = anatomy_next(g, i, PART_ATTENTION)) != NO_PART;)
        n += of_block(g, i);
    return n;
}

int anatomy_attention(const Graph *g, int number)
{
    for (int i = NO_PART; (i = anatomy_next(g, i, PART_ATTENTION)) != NO_PART;)
        if (of_block(g, i) && number-- == 0)
            return i;
    return NO_PART;
}

int anatomy_attention_number(const Graph *g, int part)
{
    int n = 0;
    for (int i = NO_PART; (i = anatomy_next(g, i, PART_ATTENTION)) != NO_PART;) {
        if (i == part)
            return of_block(g, i) ? n : -1;
        n += of_block(g, i);
    }
    return -1;
}

static const char GRAD[] = "grad.";

bool anatomy_is_gradient(const char *path)
{
    return strncmp(path, GRAD, strlen(GRAD)) == 0;
}

/* A path without what gradients and edits put around it: the node that it speaks of. */
static void plain_path(const char *path, const char **begin, size_t *n)
{
    static const char *const AROUND[] = {GRAD, "direct.", "ledger."}, *const ENDS[] = {".unedited", ".edit_"},
                             VIA[] = "via.";
    size_t skip = 0;
    for (size_t i = 0; i < sizeof AROUND / sizeof *AROUND; i++)
        if (strncmp(path, AROUND[i], strlen(AROUND[i])) == 0)
            skip = strlen(AROUND[i]);
    while (skip && strncmp(path + skip, VIA, strlen(VIA)) == 0) /* of a ledger of a vote, or of a vote in that */
        skip += strlen(VIA);
    *begin = path + skip;
    const char *end = skip ? strstr(*begin, ".from.") : NULL;
    *n = end ? (size_t)(end - *begin) : strlen(*begin);
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        const char *at = strstr(*begin, ENDS[i]);
        if (at && (size_t)(at - *begin) < *n)
            *n = (size_t)(at - *begin);
    }
}

static bool equals(const char *text, const char *path, size_t n)
{
    return strlen(text) == n && memcmp(text, path, n) == 0;
}

int anatomy_of(const Graph *g, const char *path)
{
    size_t n;
    if (!g->anatomy)
        return NO_PART;
    plain_path(path, &path, &n);
    int found = NO_PART; /* the longest scope that it begins with */
    uint64_t h = HASH_START;
    for (size_t end = 1; end <= n; end++) {
        h = hash_more(h, path[end - 1]);
        int part = end == n || path[end] == '.' ? part_of_scope(g->anatomy, path, end, h) : NO_PART;
        found = part != NO_PART ? part : found;
    }
    if (found != NO_PART)
        return found;
    for (int i = 0; i < g->anatomy->count; i++) {
        const Part *p = &g->anatomy->parts[i];
        for (int s = 0; s < SITE_COUNT && !*p->scope; s++)
            if (p->site[s] && *p->site[s] == *path && equals(p->site[s], path, n))
                return i;
    }
    return 0;
}

int anatomy_block_of(const Graph *g, const char *path)
{
    int i = anatomy_of(g, path);
    while (i != NO_PART && g->anatomy->parts[i].kind != PART_BLOCK)
        i = g->anatomy->parts[i].parent;
    return i;
}

const char *anatomy_inside_block(const Graph *g, const char *path)
{
    int block = anatomy_block_of(g, path);
    size_t n = block == NO_PART ? 0 : strlen(g->anatomy->parts[block].scope);
    return n && strncmp(path, g->anatomy->parts[block].scope, n) == 0 && path[n] == '.' ? path + n + 1 : path;
}

const char *site_path(const Graph *g, int part, Site s)
{
    return part == NO_PART ? NULL : anatomy_part(g, part)->site[s];
}

Site site_scores(const Graph *g, int part)
{
    return site_path(g, part, SITE_SCORES_BIASED) ? SITE_SCORES_BIASED : SITE_SCORES_SCALED;
}

NodeId site_node(const Graph *g, int part, Site s)
{
    const char *path = site_path(g, part, s);
    return path ? graph_find(g, path) : NO_NODE;
}

int site_part(const Graph *g, Site s)
{
    for (int i = 0; i < anatomy_count(g); i++)
        if (g->anatomy->parts[i].site[s])
            return i;
    return NO_PART;
}

const char *site_path_any(const Graph *g, Site s)
{
    return site_path(g, site_part(g, s), s);
}

NodeId site_node_any(const Graph *g, Site s)
{
    return site_node(g, site_part(g, s), s);
}

bool site_is(const Graph *g, const char *path, Site s)
{
    for (int i = 0; i < anatomy_count(g); i++)
        if (g->anatomy->parts[i].site[s] && strcmp(g->anatomy->parts[i].site[s], path) == 0)
            return true;
    return false;
}

int anatomy_vocabulary(const Graph *g, NodeId n)
{
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_EMBEDDING)) != NO_PART;) {
        NodeId embed = site_node(g, p, SITE_EMBED);
        int words = anatomy_part(g, p)->parent;
        if (embed == NO_NODE || graph_node(g, embed)->op != OP_GATHER || words == NO_PART ||
            site_node(g, words, SITE_INPUT) != n)
            continue;
        return graph_node(g, graph_node(g, embed)->in[0])->dims.axis[0];
    }
    return AXIS_NONE;
}

bool site_was(const Graph *g, const char *path, Site s)
{
    const char *edit = strstr(path, ".unedited");
    size_t n = edit ? (size_t)(edit - path) : strlen(path);
    for (int i = 0; i < anatomy_count(g); i++) {
        const char *site = g->anatomy->parts[i].site[s];
        if (site && strlen(site) == n && memcmp(site, path, n) == 0)
            return true;
    }
    return false;
}

bool anatomy_carry(const Graph *g, const char *path, int from, int to, char *out, size_t n)
{
    const char *begin;
    size_t length, scope = strlen(anatomy_part(g, from)->scope);
    plain_path(path, &begin, &length);
    *out = 0;
    if (length < scope || memcmp(begin, anatomy_part(g, from)->scope, scope) != 0)
        return false;
    int written = utf8_print(out, n, "%.*s%s%s", (int)(begin - path), path, anatomy_part(g, to)->scope, begin + scope);
    if (written < 0 || (size_t)written >= n) {
        *out = 0;
        return false;
    }
    return true;
}

int dims_role(const Graph *g, Dims d, AxisRole role)
{
    for (int i = 0; i < d.n; i++)
        if (g->axes[d.axis[i]].role == role)
            return d.axis[i];
    return AXIS_NONE;
}

int node_role(const Graph *g, NodeId n, AxisRole role)
{
    return n == NO_NODE ? AXIS_NONE : dims_role(g, graph_node(g, n)->dims, role);
}

int graph_role(const Graph *g, AxisRole role, Sequence sequence)
{
    for (int i = 0; i < g->axis_count; i++)
        if (g->axes[i].role == role && (sequence == SEQUENCE_ANY || g->axes[i].sequence == sequence))
            return i;
    return AXIS_NONE;
}
