#include "core/train/grammar.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/train/sentences.h"

const int GRAMMAR_INSIDE[GRAMMAR_PLACES] = {EN_GARDEN, EN_FIELD, EN_PARK, EN_FOREST, EN_STREET, EN_TUNNEL};

bool grammar_before(const Adjective *a, const Noun *n)
{
    bool living = n->kind == ANIMAL || n->kind == HUMAN;
    return !(a->en == EN_YOUNG && !living) && !(a->en == EN_NEW && living) && !(a->en == EN_BIG && n->kind == HUMAN);
}

static bool inside(const Noun *n)
{
    for (int i = 0; i < GRAMMAR_PLACES; i++)
        if (GRAMMAR_INSIDE[i] == n->en)
            return true;
    return false;
}

static bool vowel(int word)
{
    return strchr("aeiou", lexicon_english()->word[word][0]) != NULL;
}

int grammar_indefinite(int next)
{
    return vowel(next) ? EN_AN : EN_A;
}

/* --- reading --- */

/* Every rule asks for words one by one, and only for those with which a sentence can still be finished: so the farthest
 * word that was taken is where the text leaves the grammar, and what was asked for there could have stood there. */
typedef struct Reader {
    const int *en;
    int n, at;
    GrammarFit fit;
} Reader;

static bool take(Reader *r, int word)
{
    if (r->at == r->fit.begins)
        r->fit.next[word] = true;
    if (r->at == r->n || r->en[r->at] != word)
        return false;
    if (++r->at > r->fit.begins) {
        r->fit.begins = r->at;
        memset(r->fit.next, 0, sizeof r->fit.next);
    }
    return true;
}

static void finish(Reader *r)
{
    r->fit.whole = r->fit.whole || r->at == r->n;
}

/* What a noun phrase may have, and what it has so far. */
typedef struct Phrase {
    const char *kinds;
    const Noun *other[2];  /* nouns that it is not */
    bool inside;           /* a place that one is in */
    bool vowel, consonant; /* how the word behind its article begins; neither: as it likes */
    const Adjective *before, *after;
} Phrase;

static bool sounds(const Phrase *p, int word)
{
    return !(vowel(word) ? p->consonant : p->vowel);
}

static bool noun_fits(const Phrase *p, const Noun *n)
{
    return strchr(p->kinds, (int)n->kind) && n != p->other[0] && n != p->other[1] && (!p->inside || inside(n)) &&
           (p->before || p->after || sounds(p, n->en)) && (!p->before || grammar_before(p->before, n)) &&
           (!p->after || n->kind != HUMAN);
}

static const Noun *take_noun(Reader *r, const Phrase *p)
{
    for (int i = 0; i < NOUNS; i++)
        if (noun_fits(p, &LEXICON_NOUNS[i]) && take(r, LEXICON_NOUNS[i].en))
            return &LEXICON_NOUNS[i];
    return NULL;
}

/* Can one of the nouns still come? */
static bool has_noun(const Phrase *p)
{
    for (int i = 0; i < NOUNS; i++)
        if (noun_fits(p, &LEXICON_NOUNS[i]))
            return true;
    return false;
}

static void take_adjective(Reader *r, Phrase *p, bool before)
{
    const Adjective *list = before ? LEXICON_BEFORE : LEXICON_AFTER;
    for (int i = 0; i < (before ? BEFORE_NOUN : AFTER_NOUN); i++) {
        Phrase with = *p;
        *(before ? &with.before : &with.after) = &list[i];
        if ((p->before || sounds(p, list[i].en)) && has_noun(&with) && take(r, list[i].en)) {
            *p = with;
            return;
        }
    }
}

/* Its noun; NULL: it is no such phrase. */
static const Noun *noun_phrase(Reader *r, Phrase p, bool definite)
{
    if (!take(r, EN_THE)) {
        p.consonant = !definite && take(r, EN_A);
        p.vowel = !definite && !p.consonant && take(r, EN_AN);
        if (!p.consonant && !p.vowel)
            return NULL;
    }
    take_adjective(r, &p, true);
    take_adjective(r, &p, false);
    return take_noun(r, &p);
}

/* What the reason may be about. */
typedef struct Clause {
    const Noun *subject, *object, *place;
    bool past;
} Clause;

/* "in the park", once in a sentence; false: it begins so and does not go on so. */
static bool place_phrase(Reader *r, Clause *c)
{
    if (c->place || !take(r, EN_IN))
        return true;
    c->place = noun_phrase(r, (Phrase){.kinds = "P", .inside = true, .other = {c->object}}, true);
    return c->place != NULL;
}

/* too tired, of what has one of the kinds */
static bool predicate(Reader *r, const char *kinds)
{
    if (!take(r, EN_TOO) && !take(r, EN_VERY))
        take(r, EN_SO);
    for (; *kinds; kinds++) {
        int count;
        const Adjective *list = lexicon_predicates((NounKind)*kinds, &count);
        for (int i = 0; i < count; i++)
            if (take(r, list[i].en))
                return true;
    }
    return false;
}

/* because it was too tired, because the street was too wide: never where "it" could be two of a kind */
static void reason(Reader *r, const Clause *c)
{
    const Noun *about[] = {c->subject, c->object, c->place};
    char kinds[4] = "";
    bool animals = c->subject->kind == ANIMAL && c->object->kind == ANIMAL,
         places = c->place && c->object->kind == PLACE;
    if (animals || places || !take(r, EN_BECAUSE))
        return;
    bool again = take(r, EN_THE), person = c->subject->kind == HUMAN;
    for (int i = 0; i < 3; i++)
        if (about[i] && (again ? !*kinds && take(r, about[i]->en) : about[i]->kind != HUMAN))
            kinds[strlen(kinds)] = (char)about[i]->kind;
    if (!again && person && take(r, c->subject->feminine ? EN_SHE : EN_HE))
        memcpy(kinds, "H", 2);
    else if (!again && !take(r, EN_IT))
        return;
    if (*kinds && take(r, c->past ? EN_WAS : EN_IS) && predicate(r, kinds))
        finish(r);
}

/* What is done, and whether it was; NULL: there is no such verb. */
static const Action *verb_phrase(Reader *r, const Noun *subject, bool *past)
{
    bool did = take(r, EN_DID), does = !did && take(r, EN_DOES);
    if ((did || does) && !take(r, EN_NOT))
        return NULL;
    for (int i = 0; i < VERBS; i++) {
        const Action *v = &LEXICON_VERBS[i];
        if (strchr(v->objects, 'h') && subject->kind != HUMAN)
            continue;
        *past = did || (!does && take(r, v->past));
        if (did || does ? take(r, v->base) : *past || take(r, v->third))
            return v;
    }
    return NULL;
}

static void read_sentence(Reader *r)
{
    Clause c = {.subject = NULL};
    if (!place_phrase(r, &c))
        return;
    bool front = c.place != NULL;
    c.subject = noun_phrase(r, (Phrase){.kinds = front ? "AH" : "AHPO"}, false);
    if (!c.subject)
        return;
    if (!front && (take(r, EN_IS) || take(r, EN_WAS))) {
        take(r, EN_NOT);
        if (predicate(r, (char[]){(char)c.subject->kind, '\0'}))
            finish(r);
        return;
    }
    if ((c.subject->kind != ANIMAL && c.subject->kind != HUMAN) || !place_phrase(r, &c))
        return;
    const Action *v = verb_phrase(r, c.subject, &c.past);
    if (v)
        c.object = noun_phrase(r, (Phrase){.kinds = v->objects, .other = {c.subject, c.place}},
                               strchr(v->objects, 'd') != NULL);
    if (!c.object)
        return;
    finish(r);
    if (!place_phrase(r, &c))
        return;
    finish(r);
    reason(r, &c);
}

GrammarFit grammar_fit(const int *en, int n)
{
    Reader r = {.en = en, .n = n};
    read_sentence(&r);
    return r.fit;
}

bool grammar_is_of(const Model *m)
{
    const Vocabulary *own = lexicon_english();
    if (m->source.n != own->n || !m->source.word)
        return false;
    for (int i = 0; i < own->n; i++)
        if (strcmp(m->source.word[i], own->word[i]) != 0)
            return false;
    return true;
}

static void put_words(const int *en, int n, Buf *out)
{
    for (int i = 0; i < n; i++)
        buf_printf(out, "%s%s", i ? " " : "", lexicon_english()->word[en[i]]);
}

bool grammar_outside(const Model *m, const int *words, int n, bool brief, Buf *out)
{
    if (!grammar_is_of(m))
        return false;
    n -= n > 0 && words[n - 1] == EN_END;
    GrammarFit fit = grammar_fit(words, n);
    if (fit.whole)
        return false;
    const char *word = fit.begins < n ? lexicon_english()->word[words[fit.begins]] : NULL;
    if (brief && word)
        buf_printf(out, "unlike its training sentences from \"%s\" on: never measured", word);
    else if (brief)
        buf_puts(out, "its training sentences never end so: never measured");
    else {
        buf_printf(out, "Its training sentences never %s%s%s",
                   !word        ? "end"
                   : fit.begins ? "go on with \""
                                : "begin with \"",
                   word ? word : "", word ? "\"" : "");
        if (fit.begins) {
            buf_puts(out, " after \"");
            put_words(words, fit.begins, out);
            buf_puts(out, "\"");
        }
        buf_puts(out, ": how well it translates such ones was never measured.");
    }
    return true;
}

/* --- what is near --- */

enum { BEAM = 256, TYPED_BYTES = 24 };

/* Words that begin a sentence, and what was done to so much of the text to get them. */
typedef struct Guess {
    int en[SENTENCE_WORDS], n;
    double cost;
} Guess;

typedef struct Guesses {
    Guess guess[BEAM]; /* the cheapest first; of two that cost the same the one that came first */
    int n;
} Guesses;

static void keep(Guesses *all, const Guess *from, int word, double cost)
{
    Guess g = *from;
    if ((word >= 0 && g.n == SENTENCE_WORDS) || (all->n == BEAM && g.cost + cost >= all->guess[BEAM - 1].cost))
        return;
    if (word >= 0)
        g.en[g.n++] = word;
    g.cost += cost;
    int at = all->n;
    for (int i = 0; i < all->n; i++) {
        if (at == all->n && g.cost < all->guess[i].cost)
            at = i;
        if (g.n != all->guess[i].n || memcmp(g.en, all->guess[i].en, (size_t)g.n * sizeof *g.en) != 0)
            continue;
        if (at == all->n)
            return; /* it is there, and costs no more */
        memmove(&all->guess[i], &all->guess[i + 1], (size_t)(all->n - i - 1) * sizeof g);
        all->n--;
        break;
    }
    if (at == BEAM)
        return;
    int kept = all->n < BEAM ? all->n : BEAM - 1;
    memmove(&all->guess[at + 1], &all->guess[at], (size_t)(kept - at) * sizeof g);
    all->guess[at] = g;
    all->n = kept + 1;
}

/* From 0, the same word, to 1, nothing alike: a word left out or put in costs as much as the most unlike one. */
static double unlike(const char *typed, int word)
{
    const char *own = lexicon_english()->word[word];
    size_t n = strlen(typed), m = strlen(own), longer = n > m ? n : m;
    return strcmp(typed, own) == 0 ? 0 : 0.2 + 0.8 * utf8_edits(typed, n, own, TYPED_BYTES) / (double)longer;
}

/* To each of `from` every word that it can go on with: another beginning that costs one word more. */
static void put_in(const Guesses *from, Guesses *all)
{
    for (int i = 0; i < from->n; i++) {
        GrammarFit fit = grammar_fit(from->guess[i].en, from->guess[i].n);
        for (int w = 0; w < EN_WORDS; w++)
            if (fit.next[w])
                keep(all, &from->guess[i], w, 1);
    }
}

static void read_word(Guesses *all, const char *typed)
{
    Guesses next = {.n = 0};
    for (int i = 0; i < all->n; i++) {
        GrammarFit fit = grammar_fit(all->guess[i].en, all->guess[i].n);
        keep(&next, &all->guess[i], -1, 1);
        for (int w = 0; w < EN_WORDS; w++)
            if (fit.next[w])
                keep(&next, &all->guess[i], w, unlike(typed, w));
    }
    *all = next;
}

/* The next word of a text in small letters; false at the end, and before a translation that was typed behind it. */
static bool next_typed(const char **text, char out[TYPED_BYTES])
{
    static const char letters_and_arrow[] = ">abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
                      *letters = letters_and_arrow + 1;
    *text += strcspn(*text, letters_and_arrow);
    size_t n = strspn(*text, letters), kept = n < TYPED_BYTES - 1 ? n : TYPED_BYTES - 1;
    for (size_t i = 0; i < kept; i++)
        out[i] = (char)((*text)[i] | 0x20);
    out[kept] = '\0';
    *text += n;
    return n > 0;
}

bool grammar_nearest(const char *text, Buf *out)
{
    enum { MISSING = 8 }; /* words at its end: the longest way to a whole sentence is shorter */
    Guesses all = {.n = 1}, start = all;
    char typed[TYPED_BYTES];
    int words = 0;
    for (put_in(&start, &all); next_typed(&text, typed); words++) {
        if (words == SENTENCE_WORDS)
            return false;
        read_word(&all, typed);
        start = all;
        put_in(&start, &all);
    }
    Guess best = {.n = 0};
    for (int k = 0; words && k <= MISSING && all.n; k++) {
        for (int i = 0; i < all.n; i++)
            if (grammar_fit(all.guess[i].en, all.guess[i].n).whole && (!best.n || all.guess[i].cost < best.cost))
                best = all.guess[i];
        start = all;
        all.n = 0;
        put_in(&start, &all);
    }
    put_words(best.en, best.n, out);
    return best.n > 0;
}

bool grammar_suggest(const Model *m, const char *text, const char *command, Err *err)
{
    Buf near = {0};
    char said[sizeof err->text];
    if (grammar_is_of(m) && grammar_nearest(text, &near)) {
        utf8_print(said, sizeof said, "%s", err->text);
        err_set(err, "%s; near it: `%s \"%s\"`", said, command, buf_str(&near));
    }
    buf_free(&near);
    return false;
}
