/* `vitrine evaluate` of a translator. */
#include <stdio.h>

#include "core/base/utf8.h"
#include "core/eval/translation.h"
#include "core/models/lexicon.h"
#include "core/session/text.h"
#include "tui/cli/evaluate.h"
#include "tui/cli/verbs.h"

enum { COUNT = 1000, LABEL_CELLS = 50 };

static bool progress(void *context, const char *what, double share)
{
    return work_progress(context, what, share);
}

static void tally(Buf *out, const char *text, Tally t)
{
    Interval i = tally_interval(t);
    int pad = LABEL_CELLS - utf8_cells(text);
    buf_printf(out, "  %s%*s%6zu of %-6zu%6.1f %%  (%.1f–%.1f)\n", text, pad > 0 ? pad : 0, "", t.right, t.n,
               100 * tally_share(t), 100 * i.low, 100 * i.high);
}

/* A count that is paired with that of the model as trained. */
static void tally_pair(Buf *out, const char *text, const TallyPair *t)
{
    Interval i = tally_interval(t->tally);
    int pad = LABEL_CELLS - utf8_cells(text);
    buf_printf(out, "  %s%*s%6zu of %-6zu%6.1f %%  (%.1f–%.1f), %.1f ±%.1f less\n", text, pad > 0 ? pad : 0, "",
               t->tally.right, t->tally.n, 100 * tally_share(t->tally), 100 * i.low, 100 * i.high,
               100 * paired_lost(t->pair), 100 * paired_margin(t->pair));
}

static void put_star(Buf *out, const Translation *t, int k)
{
    const Sentence *s = &t->star[k];
    buf_puts(out, "  ");
    words_text(lexicon_english(), s->en, s->en_n, out);
    buf_puts(out, "\n  ");
    words_text(lexicon_french(), t->star_word[k], t->star_words[k], out);
    buf_puts(out, "\n   ");
    for (int i = 0; i < s->en_n; i++)
        if ((double)t->star_row[k][i] >= 0.0005)
            buf_printf(out, " %s %.3f", lexicon_english()->word[s->en[i]], (double)t->star_row[k][i]);
    buf_putc(out, '\n');
}

static void put_table(Buf *out, const Translation *t, const char *name, size_t n)
{
    buf_printf(out, "%s, %zu sentences of each kind; in brackets the 95 %% interval\n\ntranslated without a fault\n",
               name, n);
    for (int k = 0; k < TRANSLATION_SETS; k++)
        tally(out, sentence_set_about((SentenceSet)(k + SENTENCES_LIKE_TRAIN)), t->exact[k]);
    buf_printf(out, "\n%zu pairs that differ in what \"it\" stands for; each word is given the right ones before it\n",
               t->pairs);
    tally(out, "il or elle chosen rightly", t->as_trained.pronoun);
    tally(out, "  …given only what it wrote itself", t->as_trained.freely);
    tally(out, "  …if it were always the same one", t->constant);
    tally(out, "and the adjective agrees", t->as_trained.agreement);
    tally(out, "both sentences without a fault", t->as_trained.both);
    buf_printf(out, "\nThe head that tells best: %s, head %d, %s\n", t->chosen.scope, t->chosen.head,
               asking_row_about(t->chosen.row));
    buf_printf(out,
               "(the best of %d combinations of head and row on half of the pairs%s; measured on the other half)\n",
               t->heads, t->alike ? ", where others do as well" : "");
    tally(out, "largest weight on the noun, subject meant", t->measured.subject);
    tally(out, "largest weight on the noun, object meant", t->measured.object);
    tally(out, "both: it switches with the adjective", t->measured.both);
    buf_printf(out, "    …of a row taken at random %.1f %%, of the middle one of the %d %.1f %%\n", 100 * t->row_mean,
               t->heads, 100 * t->row_middle);
    tally(out, "the same over all pairs, the choosing ones too", t->all.both);
    buf_printf(out, "  mean weight on the noun that is meant %.3f, on the other %.3f\n", t->all.on_right,
               t->all.on_other);
    buf_puts(out, "\nThe same head in other unseen sentences with \"it\"\n");
    tally(out, "largest weight on the noun that is meant", t->wider);
    tally(out, "if it always took the commonest kind of noun", t->wider_base);
    tally(out, "il or elle chosen rightly in them", t->wider_pronoun);
    tally(out, "  …if it were always the same one", t->wider_constant);
    buf_puts(out, "\nWith that head switched off, and how many points less that is over the same sentences\n");
    tally_pair(out, "il or elle chosen rightly in the pairs", &t->pronoun_off);
    tally_pair(out, "  …given only what it wrote itself", &t->freely_off);
    if (t->others)
        buf_printf(
            out, "    …with any other of the %d heads off %.1f %% on average, the least %.1f %%:\n      %s, head %d\n",
            t->others + 1, 100 * t->other_mean, 100 * t->other_least, t->other_scope, t->other_head);
    tally_pair(out, "both sentences without a fault", &t->both_off);
    tally_pair(out, "il or elle in other unseen sentences", &t->wider_pronoun_off);
    tally_pair(out, "unseen combinations without a fault", &t->exact_off);
    buf_puts(out, "  Where it looks is not yet why the answer comes out: other heads may know it too.\n\n");
    put_star(out, t, 0);
    put_star(out, t, 1);
}

static void tally_json(Buf *out, const char *name, Tally t)
{
    Interval i = tally_interval(t);
    buf_printf(out, ",\"%s\":{\"right\":%zu,\"n\":%zu,\"share\":%.9g,\"low\":%.9g,\"high\":%.9g}", name, t.right, t.n,
               tally_share(t), i.low, i.high);
}

static void pair_json(Buf *out, const char *name, const TallyPair *t)
{
    Interval i = paired_interval(t->pair);
    tally_json(out, name, t->tally);
    buf_printf(out, ",\"%s_lost\":{\"lost\":%zu,\"won\":%zu,\"low\":%.9g,\"high\":%.9g}", name, t->pair.lost,
               t->pair.won, i.low, i.high);
}

static void put_json(Buf *out, const Translation *t, const char *name)
{
    buf_puts(out, "{\"model\":");
    buf_json(out, name);
    tally_json(out, "like_training", t->exact[0]);
    tally_json(out, "unseen_combinations", t->exact[1]);
    tally_json(out, "unseen_pairs", t->exact[2]);
    tally_json(out, "pronoun", t->as_trained.pronoun);
    tally_json(out, "pronoun_freely", t->as_trained.freely);
    tally_json(out, "agreement", t->as_trained.agreement);
    tally_json(out, "both", t->as_trained.both);
    buf_printf(out, ",\"head\":{\"attention\":\"%s\",\"head\":%d,\"row\":\"%s\",\"rows_compared\":%d,\"alike\":%d}",
               t->chosen.scope, t->chosen.head, asking_row_about(t->chosen.row), t->heads, t->alike);
    tally_json(out, "head_subject", t->measured.subject);
    tally_json(out, "head_object", t->measured.object);
    tally_json(out, "head_both", t->measured.both);
    tally_json(out, "head_both_all", t->all.both);
    buf_printf(out, ",\"weight_right\":%.9g,\"weight_other\":%.9g", t->all.on_right, t->all.on_other);
    tally_json(out, "head_wider", t->wider);
    tally_json(out, "head_wider_base", t->wider_base);
    tally_json(out, "wider_pronoun", t->wider_pronoun);
    tally_json(out, "pronoun_constant", t->constant);
    tally_json(out, "wider_pronoun_constant", t->wider_constant);
    buf_printf(
        out,
        ",\"row_mean\":%.9g,\"row_middle\":%.9g,\"other_heads\":%d,\"off_others_mean\":%.9g,\"off_others_least\":%.9g",
        t->row_mean, t->row_middle, t->others, t->other_mean, t->other_least);
    pair_json(out, "off_pronoun", &t->pronoun_off);
    pair_json(out, "off_pronoun_freely", &t->freely_off);
    pair_json(out, "off_both", &t->both_off);
    pair_json(out, "off_wider_pronoun", &t->wider_pronoun_off);
    pair_json(out, "off_unseen_combinations", &t->exact_off);
    buf_puts(out, "}\n");
}

int evaluate_text(Work *w, Err *err)
{
    const Options *o = w->options;
    Model m = {0};
    Translation t;
    char name[200];
    size_t n = o->count ? (size_t)o->count : COUNT;
    if (o->pictures || o->showcase)
        return err_set(err, "a translator is examined on sentences: --pictures and --showcase mean nothing here"),
               STATUS_BAD;
    Pool *pool = pool_new((int)o->threads);
    bool ok = text_open(&m, o->model, err) && translation_run(&t, &m, n, pool, progress, w, err);
    utf8_clean(name, sizeof name, ok ? m.name : "");
    if (ok && o->json)
        put_json(&w->out, &t, name);
    else if (ok)
        put_table(&w->out, &t, name, n);
    model_free(&m);
    pool_free(pool);
    return ok ? STATUS_DONE : STATUS_BAD;
}
