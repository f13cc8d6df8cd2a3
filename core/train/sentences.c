#include "core/train/sentences.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/train/grammar.h"

/* What a sentence is made of before it is known whether it belongs to the set. */
typedef struct Draft {
    ParallelSentence s;
    Rng rng;
    bool unseen_pair, unseen_combination, ambiguous;
} Draft;

/* A phrase in both languages. */
typedef struct Phrase {
    int en[12], fr[12], en_n, fr_n;
    int noun; /* place of the noun in en */
} Phrase;

const char *sentence_set_about(SentenceSet s)
{
    static const char *const about[SENTENCE_SETS] = {"learnt from", "like those learnt from", "unseen combinations",
                                                     "unseen noun and adjective"};
    return about[s];
}

/* --- what is held out --- */

/* The finaliser of splitmix64 (Steele, Lea and Flood 2014): whether words are held out together must look random. */
static uint64_t mixed(uint64_t kind, int a, int b, int c)
{
    uint64_t x = (kind << 48 | (uint64_t)a << 32 | (uint64_t)b << 16 | (uint64_t)c) + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static bool pair_held(const Noun *n, const Adjective *a)
{
    return mixed(1, n->en, a->en, 0) % 10 == 0;
}

static bool action_held(const Noun *subject, const Action *v, const Noun *object)
{
    return mixed(2, subject->en, v->base, object->en) % 8 == 0;
}

static bool reason_held(const Noun *subject, const Noun *object, const Adjective *a)
{
    return (subject->en == EN_ANIMAL && object->en == EN_STREET) || mixed(3, subject->en, object->en, a->en) % 8 == 0;
}

/* --- drawing --- */

static bool chance(Draft *d, uint32_t percent)
{
    return rng_below(&d->rng, 100) < percent;
}

/* A noun of one of the kinds; not `other`. */
static const Noun *draw_noun(Draft *d, const char *kinds, const Noun *other)
{
    const Noun *fitting[NOUNS];
    uint32_t n = 0;
    for (int i = 0; i < NOUNS; i++)
        if (strchr(kinds, (int)LEXICON_NOUNS[i].kind) && &LEXICON_NOUNS[i] != other)
            fitting[n++] = &LEXICON_NOUNS[i];
    return fitting[rng_below(&d->rng, n)];
}

/* Places that one is in, not on. */
static const Noun *draw_place(Draft *d, const Noun *other)
{
    for (;;) {
        int word = GRAMMAR_INSIDE[rng_below(&d->rng, GRAMMAR_PLACES)];
        for (int i = 0; i < NOUNS; i++)
            if (LEXICON_NOUNS[i].en == word && &LEXICON_NOUNS[i] != other)
                return &LEXICON_NOUNS[i];
    }
}

static const Action *draw_verb(Draft *d, const Noun *subject)
{
    for (;;) {
        const Action *v = &LEXICON_VERBS[rng_below(&d->rng, VERBS)];
        if (!strchr(v->objects, 'h') || subject->kind == HUMAN)
            return v;
    }
}

static const Adjective *draw_predicate(Draft *d, const Noun *n)
{
    int count;
    const Adjective *list = lexicon_predicates(n->kind, &count);
    return &list[rng_below(&d->rng, (uint32_t)count)];
}

/* An adjective that stands before this noun in French. */
static const Adjective *draw_before(Draft *d, const Noun *n)
{
    for (;;) {
        const Adjective *a = &LEXICON_BEFORE[rng_below(&d->rng, BEFORE_NOUN)];
        if (grammar_before(a, n))
            return a;
    }
}

/* --- phrases --- */

static void en(Phrase *p, int word)
{
    p->en[p->en_n++] = word;
}

static void fr(Phrase *p, int word)
{
    p->fr[p->fr_n++] = word;
}

static void join(Phrase *p, const Phrase *q)
{
    for (int i = 0; i < q->en_n; i++)
        en(p, q->en[i]);
    for (int i = 0; i < q->fr_n; i++)
        fr(p, q->fr[i]);
}

/* The article of a noun phrase; elided where what follows begins with a vowel, de instead of un under negation. */
static int article(const Noun *n, bool definite, bool negated, bool elide)
{
    if (definite)
        return elide ? FR_L_ELIDED : n->feminine ? FR_LA : FR_LE;
    if (negated)
        return elide ? FR_D_ELIDED : FR_DE;
    return n->feminine ? FR_UNE : FR_UN;
}

static int agreeing(const Adjective *a, const Noun *n, bool beside)
{
    return n->feminine ? a->feminine : beside && n->vowel ? a->before_vowel : a->masculine;
}

static Phrase noun_phrase(Draft *d, const Noun *n, bool definite, bool negated, uint32_t adjectives)
{
    Phrase p = {0};
    const Adjective *before = chance(d, adjectives) ? draw_before(d, n) : NULL, *after = NULL;
    if (n->kind != HUMAN && chance(d, adjectives))
        after = &LEXICON_AFTER[rng_below(&d->rng, AFTER_NOUN)];
    d->unseen_pair = d->unseen_pair || (before && pair_held(n, before)) || (after && pair_held(n, after));
    en(&p, EN_THE);
    if (before)
        en(&p, before->en);
    if (after)
        en(&p, after->en);
    p.noun = p.en_n;
    en(&p, n->en);
    if (!definite)
        p.en[0] = grammar_indefinite(p.en[1]);
    fr(&p, article(n, definite, negated, n->vowel && !before));
    if (before)
        fr(&p, agreeing(before, n, true));
    fr(&p, n->fr);
    if (after)
        fr(&p, agreeing(after, n, false));
    return p;
}

static Phrase verb_phrase(const Action *v, bool past, bool negated)
{
    Phrase p = {0};
    if (negated) {
        en(&p, past ? EN_DID : EN_DOES);
        en(&p, EN_NOT);
        en(&p, v->base);
        fr(&p, past || v->vowel ? FR_N_ELIDED : FR_NE);
    } else
        en(&p, past ? v->past : v->third);
    fr(&p, past ? FR_A : v->present);
    if (negated)
        fr(&p, FR_PAS);
    if (past)
        fr(&p, v->participle);
    return p;
}

/* … is very tired / … est très fatigué */
static Phrase to_be(Draft *d, const Noun *n, const Adjective *a, bool past, bool negated)
{
    static const int degree[][2] = {{EN_TOO, FR_TROP}, {EN_VERY, FR_TRES}, {EN_SO, FR_SI}};
    Phrase p = {0};
    d->unseen_pair = d->unseen_pair || pair_held(n, a);
    uint32_t k = rng_below(&d->rng, 4); /* one in four has none */
    en(&p, past ? EN_WAS : EN_IS);
    if (negated) {
        en(&p, EN_NOT);
        fr(&p, FR_N_ELIDED);
    }
    fr(&p, past ? FR_ETAIT : FR_EST);
    if (negated)
        fr(&p, FR_PAS);
    if (k < 3) {
        en(&p, degree[k][0]);
        fr(&p, degree[k][1]);
    }
    en(&p, a->en);
    fr(&p, agreeing(a, n, false));
    return p;
}

/* --- sentences --- */

static void put(ParallelSentence *s, const Phrase *p)
{
    for (int i = 0; i < p->en_n; i++)
        s->en[s->en_n++] = p->en[i];
    for (int i = 0; i < p->fr_n; i++)
        s->fr[s->fr_n++] = p->fr[i];
}

/* because it was too tired / parce qu' il était trop fatigué. The noun itself may be said again. */
static void put_reason(Draft *d, const Noun *about, const Adjective *a, bool past, bool again)
{
    ParallelSentence *s = &d->s;
    Phrase p = {0};
    en(&p, EN_BECAUSE);
    fr(&p, FR_PARCE);
    fr(&p, again ? FR_QUE : FR_QU_ELIDED);
    if (again) {
        en(&p, EN_THE);
        en(&p, about->en);
        fr(&p, article(about, true, false, about->vowel));
        fr(&p, about->fr);
    } else {
        s->pronoun = s->en_n + p.en_n;
        s->fr_pronoun = s->fr_n + p.fr_n;
        en(&p, about->kind != HUMAN ? EN_IT : about->feminine ? EN_SHE : EN_HE);
        fr(&p, about->feminine ? FR_ELLE : FR_IL);
    }
    put(s, &p);
    Phrase be = to_be(d, about, a, past, false);
    put(s, &be);
    s->adjective = s->en_n - 1;
}

/* The cow is very tired. */
static void copula(Draft *d)
{
    const Noun *n = draw_noun(d, "AHPO", NULL);
    bool past = chance(d, 50), negated = chance(d, 30), definite = chance(d, 75);
    Phrase subject = noun_phrase(d, n, definite, false, 20), be = to_be(d, n, draw_predicate(d, n), past, negated);
    put(&d->s, &subject);
    put(&d->s, &be);
}

/* A place phrase goes behind the object, behind the subject, or in front of all; nouns keep their places in the
 * sentence. */
static void put_action(Draft *d, Phrase *subject, const Phrase *verb, Phrase *object, const Phrase *place)
{
    ParallelSentence *s = &d->s;
    uint32_t where = place ? rng_below(&d->rng, 3) : 0;
    int at_subject = subject->noun, at_object = subject->en_n + verb->en_n + object->noun, at_place = -1;
    if (place) {
        Phrase in = {.en = {EN_IN}, .fr = {FR_DANS}, .en_n = 1, .fr_n = 1};
        join(&in, place);
        int shift = in.en_n;
        at_place = 1 + place->noun;
        if (where == 0) {
            at_place += subject->en_n + verb->en_n + object->en_n;
            join(object, &in);
        } else if (where == 1) {
            at_place += subject->en_n;
            at_object += shift;
            join(subject, &in);
        } else {
            at_subject += shift;
            at_object += shift;
            put(s, &in);
        }
    }
    put(s, subject);
    put(s, verb);
    put(s, object);
    s->noun[ABOUT_SUBJECT] = at_subject;
    s->noun[ABOUT_OBJECT] = at_object;
    s->noun[ABOUT_PLACE] = at_place;
}

/* Somebody does something, perhaps somewhere, perhaps for a reason. */
static void action(Draft *d, bool reason)
{
    const Noun *subject = draw_noun(d, "AH", NULL);
    const Action *v = draw_verb(d, subject);
    const Noun *object = draw_noun(d, v->objects, subject), *place = NULL;
    bool past = chance(d, 70), negated = chance(d, 60), definite = chance(d, 75);
    d->unseen_combination = action_held(subject, v, object);
    Phrase s = noun_phrase(d, subject, definite, false, 20), verb = verb_phrase(v, past, negated);
    definite = chance(d, 75) || strchr(v->objects, 'd');
    Phrase o = noun_phrase(d, object, definite, negated, 20), p = {0};
    if (chance(d, 40)) {
        place = draw_place(d, object);
        p = noun_phrase(d, place, true, false, 10);
    }
    if (reason && object->kind == PLACE) /* of two places either could be the wide one */
        place = NULL;
    put_action(d, &s, &verb, &o, place ? &p : NULL);
    if (!reason)
        return;
    d->ambiguous = subject->kind == ANIMAL && object->kind == ANIMAL;
    const Noun *candidates[] = {subject, object, place};
    Antecedent about = (Antecedent)rng_below(&d->rng, place ? 3 : 2);
    const Adjective *a = draw_predicate(d, candidates[about]);
    bool again = chance(d, 15);
    d->unseen_combination = d->unseen_combination || reason_held(subject, object, a);
    put_reason(d, candidates[about], a, past, again);
    d->s.about = again ? ABOUT_NOTHING : about;
}

static bool belongs(const Draft *d, SentenceSet set)
{
    if (d->ambiguous)
        return false;
    switch (set) {
    case SENTENCES_COMBINATIONS: return d->unseen_combination && !d->unseen_pair;
    case SENTENCES_PAIRS: return d->unseen_pair;
    default: return !d->unseen_combination && !d->unseen_pair;
    }
}

void sentence_make(SentenceSet set, uint64_t seed, uint64_t number, ParallelSentence *s)
{
    Rng rng = rng_seed(set == SENTENCES_TRAIN ? seed : 1000003 + (uint64_t)set, number);
    for (;;) {
        Draft d = {.rng = rng, .s.about = ABOUT_NOTHING};
        uint32_t kind = rng_below(&d.rng, 100);
        if (kind < 20)
            copula(&d);
        else
            action(&d, kind >= 45);
        rng = d.rng;
        if (belongs(&d, set)) {
            *s = d.s;
            return;
        }
    }
}

/* --- minimal pairs --- */

typedef struct Pair {
    uint8_t subject, object, verb, first, second; /* numbers in the tables */
} Pair;

static bool fits(const Pair *p)
{
    const Noun *s = &LEXICON_NOUNS[p->subject], *o = &LEXICON_NOUNS[p->object];
    const Action *v = &LEXICON_VERBS[p->verb];
    int count;
    const Adjective *x = &lexicon_predicates(ANIMAL, &count)[p->first], *list = lexicon_predicates(o->kind, &count);
    if (p->second >= count || s->feminine == o->feminine || strchr(v->objects, 'h') ||
        !strchr(v->objects, (int)o->kind))
        return false;
    const Adjective *y = &list[p->second];
    return reason_held(s, o, x) && reason_held(s, o, y) && !pair_held(s, x) && !pair_held(o, y);
}

static bool is_first(const Pair *p)
{
    int count;
    return LEXICON_NOUNS[p->subject].en == EN_ANIMAL && LEXICON_NOUNS[p->object].en == EN_STREET &&
           LEXICON_VERBS[p->verb].base == EN_CROSS && lexicon_predicates(ANIMAL, &count)[p->first].en == EN_TIRED &&
           lexicon_predicates(PLACE, &count)[p->second].en == EN_WIDE;
}

static bool next_pair(Pair *p)
{
    if (++p->second < OF_PLACES)
        return true;
    p->second = 0;
    if (++p->first < OF_LIVING)
        return true;
    p->first = 0;
    if (++p->verb < VERBS)
        return true;
    p->verb = 0;
    if (++p->object < NOUNS)
        return true;
    p->object = 0;
    return ++p->subject < NOUNS;
}
_Static_assert(OF_PLACES >= OF_OBJECTS, "every adjective of an object is tried");

/* All pairs in the order of the tables; list NULL: only counted. */
static int list_pairs(Pair *list)
{
    Pair p = {0};
    int n = 0;
    do {
        const Noun *s = &LEXICON_NOUNS[p.subject], *o = &LEXICON_NOUNS[p.object];
        if (s->kind != ANIMAL || (o->kind != PLACE && o->kind != OBJECT) || !fits(&p))
            continue;
        if (list)
            list[n] = p;
        n++;
    } while (next_pair(&p));
    return n;
}

int sentence_pairs(void)
{
    return list_pairs(NULL);
}

/* the animal did not cross the street because it was too tired */
static void make_pair(const Pair *p, ParallelSentence *s, Antecedent about)
{
    Draft d = {.s.about = about};
    const Noun *nouns[] = {&LEXICON_NOUNS[p->subject], &LEXICON_NOUNS[p->object]};
    int count;
    const Adjective *a = about == ABOUT_SUBJECT ? &lexicon_predicates(ANIMAL, &count)[p->first]
                                                : &lexicon_predicates(nouns[1]->kind, &count)[p->second];
    Phrase subject = noun_phrase(&d, nouns[0], true, false, 0), object = noun_phrase(&d, nouns[1], true, true, 0),
           verb = verb_phrase(&LEXICON_VERBS[p->verb], true, true);
    put_action(&d, &subject, &verb, &object, NULL);
    Phrase reason = {.en = {EN_BECAUSE, EN_IT, EN_WAS, EN_TOO, a->en}, .en_n = 5};
    d.s.pronoun = d.s.en_n + 1;
    d.s.adjective = d.s.en_n + 4;
    d.s.fr_pronoun = d.s.fr_n + 2;
    fr(&reason, FR_PARCE);
    fr(&reason, FR_QU_ELIDED);
    fr(&reason, nouns[about]->feminine ? FR_ELLE : FR_IL);
    fr(&reason, FR_ETAIT);
    fr(&reason, FR_TROP);
    fr(&reason, agreeing(a, nouns[about], false));
    put(&d.s, &reason);
    *s = d.s;
}

/* In the order that is fixed: shuffled, the famous pair first. */
static Pair *ordered_pairs(int *count)
{
    int n = *count = list_pairs(NULL);
    Pair *list = xcalloc((size_t)n + 1, sizeof *list);
    list_pairs(list);
    Rng r = rng_seed(5, 9);
    for (int k = n - 1; k > 0; k--) {
        int j = (int)rng_below(&r, (uint32_t)k + 1);
        Pair swapped = list[k];
        list[k] = list[j];
        list[j] = swapped;
    }
    for (int k = 0; k < n; k++)
        if (is_first(&list[k])) {
            Pair swapped = list[0];
            list[0] = list[k];
            list[k] = swapped;
        }
    return list;
}

void sentence_pair(int i, ParallelSentence pair[2])
{
    int n;
    Pair *list = ordered_pairs(&n);
    REQUIRE(i >= 0 && i < n);
    make_pair(&list[i], &pair[0], ABOUT_SUBJECT);
    make_pair(&list[i], &pair[1], ABOUT_OBJECT);
    free(list);
}

void sentence_pair_list(ParallelSentence *all)
{
    int n;
    Pair *list = ordered_pairs(&n);
    for (int i = 0; i < 2 * n; i++)
        make_pair(&list[i / 2], &all[i], i % 2 ? ABOUT_OBJECT : ABOUT_SUBJECT);
    free(list);
}
