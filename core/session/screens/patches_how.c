/* What to do for a sheet of patches where nothing is pinned: the commands for the input on show. */
#include <stdio.h>

#include "core/models/text_model.h"
#include "core/session/screens/patches.h"

/* The text with another word, the next of the vocabulary: of names the last one ("word tired hungry keep"), of numbers
 * or pieces that of the token that is asked; or the next of the drawn pictures. */
static void put_other(const Session *s, Buf *out)
{
    const Model *m = s->now->model;
    const Vocabulary *v = model_vocabulary(m);
    const Text *text = s->now->input.text, *t = &text[model_given(m)];
    const bool named = v && v->word && !v->cutter && t->label,
               both = text[TEXT_SOURCE].count && text[TEXT_TARGET].count;
    int n = 17, i = t->count - 1;
    while (named && i > 0 && *t->label[i] == '<') /* put there by the reader */
        i--;
    if (i < 0) {
        const bool drawn = sscanf(s->now->input.name, "#%d", &n) == 1 && n > 0 && n < 9999;
        buf_printf(out, "open #%d", drawn ? n + 1 : 18);
        return;
    }
    if (!named && both) {
        buf_puts(out, "open TEXT");
        return;
    }
    i = named ? i : clamp(s->look.patches.at, 0, t->count - 1);
    const int next = t->word[i] + 1, other = next < v->n && !(named && *v->word[next] == '<') ? next : next - 2;
    if (named)
        buf_printf(out, "word %s %s%s", t->label[i], v->word[other], both ? " keep" : "");
    for (int k = 0; !named && k < t->count; k++)
        buf_printf(out, "%s%d", k ? "," : "open ids:", k == i ? other : t->word[k]);
}

void patches_put_how(const Session *s, Buf *out)
{
    if (!patches_axis(s) || (session_pinned(s) && s->pinned->model == s->now->model))
        return;
    Buf other = {0};
    put_other(s, &other);
    buf_printf(out,
               "Patching puts one value that the model computed for A into its run on B, computes what follows anew, "
               "and sees how far B's answer moves towards A's. A is what you pin; B is what is on show then, another "
               "%s, of the same model.%s\n \n"
               "Try, with what is on show now as A:\n"
               ":pin; %s; patching heads\n:pin; %s; patching tokens\n \n"
               "Drawn then: a row for each block, a column for each head and the MLP (or for each token); in each cell "
               "how much the logit of A's answer, less that of B's, rises with A's value there, measured; and a second "
               "sheet of what the gradient foretells.",
               session_input_words(s, SIDE_B)->alike,
               s->edits.count ? " (The A beside an edit is B itself without it.)" : "", buf_str(&other),
               buf_str(&other));
    buf_free(&other);
}
