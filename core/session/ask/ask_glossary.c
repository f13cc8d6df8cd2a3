/* `glossary`: the letters of the axes, the names of the nodes, and the words that people use about Transformers. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/graph/anatomy.h"
#include "core/models/names.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/command.h"

static const struct {
    const char *word, *text;
} TERMS[] = {
    {"ablation",
     "Switching a part off and looking at what changes. Heads are switched off at z, before W_O mixes them."},
    {"activation",
     "The function between the two layers of the MLP; also any number that the model computes from its input."},
    {"attention",
     "Every token asks all tokens a question and takes in what they hand over, weighted by how well they fit."},
    {"attention distance", "How far a head looks on average: pixels between patches, weighted by what they give each "
                           "other. The class token and its like are left out, as asking and as looked at, and what is "
                           "left of a row counts as all of it."},
    {"bias", "A learned number that is added whatever the input is."},
    {"block", "One round of the model: attention, then MLP, each adding to the residual stream."},
    {"CLS", "A token without a picture, put in front of the patches. Many models read the answer from it."},
    {"cosine",
     "The dot product of two vectors over both lengths: 1 in the same direction, 0 at right angles, -1 opposite."},
    {"d_k", "The width of one head. Scores are divided by its square root."},
    {"dot product", "Two vectors multiplied number by number and added up: large where both point the same way."},
    {"embedding", "A vector that stands for something: a patch, a place, a word."},
    {"entropy", "How spread a row of shares is, in nats: 0 when one token gets all, ln T when T tokens get the same."},
    {"gradient", "How much one number, an answer or the loss, changes per unit of change of every number before it: "
                 "`gradient logits[o=0]`."},
    {"head", "One of several attentions that run side by side, each with its own question, key and value weights."},
    {"Jacobian",
     "How much each weight of a softmax moves with each score. Its norm is near 0 where one token has all "
     "(hardly a gradient gets through), small where all have the same, and largest, 1/2, where two share all: "
     "sharper rows have a larger one until they saturate."},
    {"key", "What a token offers to be found by: queries are compared with it."},
    {"LayerNorm",
     "Every token's numbers are shifted and scaled to mean 0 and variance 1, then stretched and shifted as learned."},
    {"logit lens",
     "The final norm and the head put behind an earlier block: what the model would answer if it ended there."},
    {"logits", "The scores of the classes before the last softmax. Only their differences matter."},
    {"mask", "Scores set to minus infinity before the softmax: those tokens get a weight of 0."},
    {"MLP", "Two layers with an activation between them, applied to every token by itself."},
    {"patch", "A small piece of the picture, square as a rule. Each becomes one token."},
    {"pattern",
     "The attention weights of a head after the softmax: one row per token that asks, each row adding up to 1."},
    {"position embedding",
     "A vector per place that is added to the token there; without it the model could not tell places apart."},
    {"pre-norm", "The norm stands before attention and MLP; in post-norm models it stands after the addition."},
    {"principal component",
     "A direction in which vectors differ most; the next ones lie at right angles to those before."},
    {"probability",
     "A class' share after the softmax over the logits. How sure the model sounds, not how often it is right."},
    {"query", "What a token asks for: it is compared with the keys of all tokens."},
    {"rank correlation",
     "Do two lists rank things alike? 1 the same order, 0 none in common, -1 the reverse. Spearman's."},
    {"gradient through",
     "How much of the gradient at a row of attention's weights reaches its scores: the one's length over "
     "the other's. A mean over rows leaves out those that no gradient reaches."},
    {"residual stream",
     "The vectors that run through all blocks. Attention and MLP only add to them, nothing is overwritten."},
    {"rollout", "An estimate of what reaches a token through all blocks: attention matrices, each half residual "
                "stream, multiplied. Much of it lies on a bright object whatever was learned: compare it with "
                "weights before any training and with brightness (`vitrine evaluate`)."},
    {"score", "The dot product of a query and a key, before (raw) or after (scaled) it is multiplied by 1/√d_k."},
    {"softmax",
     "Exponentials divided by their sum: any scores become shares that add up to 1; differences become ratios."},
    {"token", "One entry of the list that the model works on: a patch, or one of the extra tokens in front."},
    {"interval", "Where the true share lies, in 95 of 100 such measurements: Wilson's for a share of n pictures; for a "
                 "difference over the same pictures from those that only one of the two names right (McNemar)."},
    {"object's patches",
     "Those that the drawn object covers to more than 8 % of their area. A photograph has none that "
     "are known."},
    {"occlusion",
     "How far the answer's logit falls when a patch is painted grey, before the picture is standardised, so "
     "that the other patches change a little too. Its share on the object counts falls only."},
    {"gradient × input",
     "What each patch's values would add if all were linear. Its share on the object counts patches "
     "that speak for the answer only."},
    {"trace", "Every number of one forward pass. What the screen shows is read from it."},
    {"trace hash",
     "64 bits made from all values of a trace. Other hashes: other traces. Equal ones show equal traces as far "
     "as 64 bits can: by chance once in 18 million million million pairs."},
    {"value", "What a token hands over when it is looked at: values are added with the attention weights."},
    {"√d_k",
     "What it is for: a score adds up d_k products; of independent numbers, as before training, its spread "
     "grows like √d_k, and divided by that it is 1 whatever the width. What taking it away does to a model that "
     "was trained with it is another question: all scores times √d_k is a change of temperature, rows get "
     "sharper and answers change. The twin, trained here without it from the same seed, learned as well: `showcase`, "
     "then i, states "
     "how well."},
    {"weight", "A learned number of the model; also a share of attention in a row of the pattern."},
    {"absmax", "The largest size of all cells that are drawn as one, whatever their sign."},
    {"census", "A count over many pictures: every head switched off in turn, and how much accuracy goes."},
    {"cross entropy", "Minus the log of the share that the right class gets: 0 when the model is sure and right."},
    {"direct slope", "How a number moves with a part through sums alone, LayerNorm's 1/σ and attention kept as they "
                     "are: nodes direct.PATH."},
    {"FLOP", "One multiplication or addition of two numbers; a multiplication and addition in one step counts as two."},
    {"frozen",
     "Kept as it is in this run while something else is asked about: a ledger freezes 1/σ of every LayerNorm, 1/rms of "
     "every RMSNorm."},
    {"GELU", "The usual activation of an MLP: large numbers pass, negative ones become almost 0, smoothly."},
    {"H", "The entropy of a row, in nats."},
    {"held out", "Pictures that the model never learned from: only they show what it can."},
    {"ledger",
     "A logit, or any cell of the residual stream, as the sum of what every part of the model wrote: `ledger`."},
    {"lens", "See logit lens: what the model would answer if it ended behind an earlier block."},
    {"loss", "What training makes small: how surprised the model is by the right class."},
    {"MSA", "Multi-head self-attention: all heads of a block side by side, then W_O."},
    {"nats", "The unit of entropy with natural logarithms: ln 2 nats are one bit."},
    {"rank", "The place in a row sorted by size: rank 1 is the largest."},
    {"raw", "Of scores: before they are multiplied by 1/√d_k."},
    {"remainder", "What rounding leaves between a number and the sum of its entries in a ledger."},
    {"runner-up", "The class with the second largest logit: an answer is explained against it."},
    {"twin", "The same model trained from the same seed without 1/√d_k, for comparing."},
    {"vote", "What the heads wrote into an answer by looking at one patch, for it or against it: ledger.votes."},
    {"batch normalisation", "LayerNorm's older relative: every number is shifted and scaled to mean 0 and variance 1 "
                            "over the examples of a batch, so that one example's result depends on the others."},
    {"class token",
     "CLS: a learned vector without a picture in front of the patches, the same at the start for every picture."},
    {"convolution",
     "A small window of weights slid over the picture: at each stop its numbers are multiplied and added up."},
    {"equivariant", "Change the order of what goes in, and what comes out changes its order in the same way."},
    {"exponential", "exp(x): e = 2.718… to the power x. Adding 1 to x multiplies it by e; it is never negative."},
    {"inductive bias",
     "What a model takes for granted before it has seen any data, such as that near pixels belong together."},
    {"learning rate", "How far the weights go in one step of training; often raised at first (warm-up), then lowered."},
    {"mean", "All numbers added up, over how many they are."},
    {"position", "Where a patch lies: what a position embedding stands for."},
    {"post-norm", "The norm stands behind the addition, as in the first Transformer; in pre-norm models it stands "
                  "before attention and MLP."},
    {"projection",
     "A vector multiplied by a matrix: every number that comes out is a dot product with one row of weights."},
    {"receptive field", "What part of the picture a number can depend on."},
    {"saturation", "A softmax that gives nearly all to one: its weights hardly move any more, whatever the scores do."},
    {"slope", "How much comes out more per unit that goes in more: a nudge at the output over the nudge at the input."},
    {"temperature", "A number by which scores are divided before the softmax: below 1 the largest gains, above 1 the "
                    "shares even out."},
    {"variance", "How far numbers lie from their mean: the mean of the squared distances."},
    {"weighted average",
     "Numbers or vectors, each multiplied by its share and added up, where the shares add up to 1."},
    {"warm-up", "The first steps of training, in which the learning rate is raised from nearly nothing to its peak."},
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

/* The classes that this model names. */
static int put_classes(const Graph *g, const char *word, Buf *out)
{
    int o = graph_role(g, ROLE_ANSWER, SEQUENCE_ANY), index;
    if (o == AXIS_NONE || !g->axes[o].labels || isdigit((unsigned char)*word) || !axis_parse(&g->axes[o], word, &index))
        return 0;
    buf_printf(out, "%s: one of the %d classes that this model names.\n", word, g->axes[o].n);
    return 1;
}

static int put_axes(const Graph *g, const char *word, Buf *out)
{
    int found = 0;
    for (int i = 0; i < g->axis_count; i++) {
        const Axis *a = &g->axes[i];
        if (strcmp(a->sym, word) != 0 && !same_word(word, a->name))
            continue;
        char first[64], last[64];
        buf_printf(out, "%s (a letter of shapes and addresses): %s, %d of them, %s to %s\n", a->sym, a->name, a->n,
                   axis_label(a, 0, first, sizeof first), axis_label(a, a->n - 1, last, sizeof last));
        found++;
    }
    return found;
}

static bool is_label(const NodeText *t, const char *word)
{
    return same_word(word, t->label) || strcmp(t->symbol, word) == 0;
}

/* Nodes of that name, path or label; of those that every block has, the first. */
static int put_nodes(const Graph *g, const char *word, Buf *out)
{
    const char *seen[16] = {0};
    int found = 0;
    bool label = false; /* of any node; where it is of none, only nodes of that name have their text looked up */
    for (size_t i = 0; !label && node_text_at(i); i++)
        label = is_label(node_text_at(i), word);
    for (NodeId n = 0; n < g->count && found < 16; n++) {
        const Node *node = graph_node(g, n);
        bool named = strcmp(node_name(node), word) == 0 || strcmp(node->path, word) == 0,
             helper = (node->flags & NODE_PROBE) && node->op == OP_LEAF; /* the numbers inside an analysis */
        const NodeText *t = !helper && (named || label) ? node_text(node->path) : NULL;
        if (!t || !(named || is_label(t, word)))
            continue;
        bool known = false;
        for (int i = 0; i < found; i++)
            known = known || strcmp(seen[i], t->pattern) == 0;
        if (known)
            continue;
        seen[found++] = t->pattern;
        buf_puts(out, node->path);
        if (node->dims.n)
            graph_shape_text(g, node->dims, out);
        buf_printf(out, ", %s%s%s: %s\n", t->label, *t->symbol ? ", " : "", t->symbol, t->sentence);
        buf_puts(out, "  ");
        graph_formula(g, n, out);
        buf_putc(out, '\n');
    }
    return found;
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
    if (strcmp(trimmed, "nodes") == 0) {
        put_node_names(g, out);
        return true;
    }
    int found = put_terms(trimmed, out);
    found += put_axes(g, trimmed, out);
    found += put_nodes(g, trimmed, out);
    found += put_classes(g, trimmed, out);
    if (found || put_matches(word_of, trimmed, out))
        return true;
    const char *near = nearest_name(trimmed, term_word, NULL);
    return err_set(err, "the glossary has no '%.60s'%s%s%s", trimmed, near ? "; did you mean '" : "; ",
                   near ? near : "`glossary` lists its words", near ? "'?" : "");
}
