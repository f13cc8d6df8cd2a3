/* The prose of the lessons in the program: a number changed, a number or a name exchanged in it is found out by what
 * its card expects. */
#include "tests/lessons/lessons_test.h"

#include <ctype.h>
#include <strings.h>

#include "core/base/file.h"
#include "core/session/ask/number.h"
#include "lessons/numbers.h"
#include "lessons/sentences.h"

static int faults_of(const LessonFile *f, const char *text)
{
    Lesson l;
    Err err = {{0}};
    Buf said = {0};
    bool whole = lesson_parse(&l, f->name, text, strlen(text), 0, &err);
    int n = whole ? numbers_check(&l, &said) + sentences_check(&l, &said) : 1;
    lesson_free(&l);
    buf_free(&said);
    return n;
}

/* What a reader sees of a line: all of it, or between quotes where it is a statement's. Live values and code are set
 * aside, and what a teacher says may use words. */
typedef struct Seen {
    const char *from, *to;
} Seen;

static int seen_of(const char *line, size_t n, bool fence, Seen out[16])
{
    static const char *const SAID[] = {"able ",    "misconception ", "summary ", "ask ",
                                       "predict ", "right ",         "wrong ",   "hint "};
    const char *end = line + n;
    int count = 0;
    bool said = false;
    for (size_t i = 0; i < sizeof SAID / sizeof *SAID; i++)
        said = said || strncmp(line, SAID[i], strlen(SAID[i])) == 0;
    if ((fence && !said) || (!fence && strncmp(line, "# ", 2) == 0))
        return 0;
    bool inside = !fence;
    for (const char *p = line, *from = line; p <= end && count < 16; p++) {
        bool live = p + 1 < end && p[0] == '{' && p[1] == '{', stop = p == end || live || *p == '`' || *p == '"';
        if (!stop)
            continue;
        if (inside && p > from)
            out[count++] = (Seen){from, p};
        if (p < end && *p == '"' && fence)
            inside = !inside;
        const char *close = live                   ? strstr(p, "}}")
                            : p < end && *p == '`' ? memchr(p + 1, '`', (size_t)(end - p - 1))
                                                   : NULL;
        if (close)
            p = close + live;
        from = p + 1;
    }
    return count;
}

/* The next number of the text: its last digit, or its word. NULL: none. */
static const char *next_number(Seen *at, const char **word)
{
    static const char *const WORDS[] = {"two",     "three",  "four",    "five",   "six",      "seven",
                                        "eight",   "nine",   "ten",     "twelve", "thirteen", "fifteen",
                                        "sixteen", "twenty", "hundred", "half",   "quarter",  "twice"};
    for (const char *p = at->from; p < at->to; p++) {
        bool begins = p == at->from || !isalnum((unsigned char)p[-1]);
        for (size_t i = 0; begins && i < sizeof WORDS / sizeof *WORDS; i++) {
            size_t n = strlen(WORDS[i]);
            if ((size_t)(at->to - p) >= n && strncasecmp(p, WORDS[i], n) == 0 && !isalnum((unsigned char)p[n])) {
                at->from = p + n;
                *word = WORDS[i];
                return p;
            }
        }
        if (!isdigit((unsigned char)*p) || (p + 1 < at->to && isdigit((unsigned char)p[1])))
            continue;
        const char *first = p;
        while (first > at->from && isdigit((unsigned char)first[-1]))
            first--;
        bool name = (first > at->from &&
                     (isalpha((unsigned char)first[-1]) || first[-1] == '_' ||
                      (first - at->from >= 2 && first[-1] == '/' && isalpha((unsigned char)first[-2])))) ||
                    (p + 1 < at->to && isalpha((unsigned char)p[1]) && p[1] != 'e') || strncmp(p + 1, "/√", 4) == 0;
        if (name)
            continue;
        at->from = p + 1;
        *word = NULL;
        return p;
    }
    return NULL;
}

/* Every number of every text, in digits or as a word, changed by itself: what says it no longer stands there, or what
 * stands there nothing says. */
static void a_number_changed_in_the_text_is_a_fault(void **state)
{
    (void)state;
    LessonFile f;
    int tried = 0, missed = 0;
    for (int i = 0; lesson_at(i, &f); i++) {
        bool fence = false;
        assert_int_equal(faults_of(&f, f.text), 0);
        for (const char *line = f.text; *line; line += strcspn(line, "\n") + 1) {
            size_t n = strcspn(line, "\n");
            Seen seen[16];
            if (strncmp(line, "```", 3) == 0) {
                fence = !fence;
                continue;
            }
            int parts = seen_of(line, n, fence, seen);
            for (int k = 0; k < parts; k++)
                for (const char *at, *word; (at = next_number(&seen[k], &word)) != NULL;) {
                    size_t before = (size_t)(at - f.text), length = word ? strlen(word) : 1;
                    Buf other = {0};
                    buf_add(&other, f.text, before);
                    if (word)
                        buf_puts(&other, strcmp(word, "eleven") == 0 ? "twelve" : "eleven");
                    else
                        buf_putc(&other, (char)(*at == '9' ? '1' : *at + 1));
                    buf_puts(&other, at + length);
                    tried++;
                    missed += !faults_of(&f, buf_str(&other));
                    buf_free(&other);
                }
        }
    }
    print_message("%d numbers changed, %d not found out by what their card says\n", tried, missed);
    assert_true(tried > 1000 && missed * 20 < tried);
}

/* The bytes of the number in digits at p, which begins a word; 0: none. */
static size_t digits_at(const char *line, const char *p)
{
    double x, half;
    bool begins = p == line || p[-1] == ' ' || p[-1] == '(';
    size_t n = begins ? number_printed(p, &x, &half) : 0;
    return n && !isalnum((unsigned char)p[n]) && p[n] != '/' && p[n] != '-' ? n : 0;
}

/* Two neighbouring numbers of a card's prose that its expectations give a value, exchanged. */
static void numbers_exchanged_are_found_out(void **state)
{
    (void)state;
    LessonFile f;
    int tried = 0, missed = 0;
    for (int i = 0; lesson_at(i, &f); i++) {
        bool fence = false;
        for (const char *line = f.text; *line; line += strcspn(line, "\n") + 1) {
            const char *first = NULL, *end = line + strcspn(line, "\n");
            size_t first_n = 0;
            fence ^= strncmp(line, "```", 3) == 0;
            for (const char *p = line; !fence && *line != '#' && *line != '`' && p < end; p++) {
                size_t n = digits_at(line, p);
                if (!n)
                    continue;
                if (first && (n != first_n || strncmp(first, p, n) != 0)) {
                    Buf other = {0};
                    buf_add(&other, f.text, (size_t)(first - f.text));
                    buf_add(&other, p, n);
                    buf_add(&other, first + first_n, (size_t)(p - first) - first_n);
                    buf_add(&other, first, first_n);
                    buf_puts(&other, p + n);
                    tried++;
                    missed += !faults_of(&f, buf_str(&other));
                    buf_free(&other);
                }
                first = p;
                first_n = n;
                p += n - 1;
            }
        }
    }
    print_message("%d pairs of numbers exchanged, %d not found out by what their card says\n", tried, missed);
    assert_true(tried > 750);
    assert_int_equal(missed, 0);
}

typedef struct Named {
    const char *text[64], *kind[64];
    int count;
} Named;

/* Names of cells that the lesson's expectations have: tokens, classes, "head 1", "block 0". */
static void names_of(const Lesson *l, Named *out)
{
    out->count = 0;
    for (int c = 0; c < l->count; c++)
        for (int e = 0; e < l->cards[c].expect_count; e++)
            for (int side = 0; side < 2; side++) {
                const Expectation *x = &l->cards[c].expect[e];
                char name[64], kind[8];
                for (const char *p = side ? x->right : x->left; sentences_name(&p, name, kind);) {
                    bool known = false;
                    for (int k = 0; k < out->count; k++)
                        known = known || strcmp(out->text[k], name) == 0;
                    if (!known && out->count < 64) {
                        out->kind[out->count] = xstrdup(kind);
                        out->text[out->count++] = xstrdup(name);
                    }
                }
            }
}

/* The longest of them that begins at p; -1: none. */
static int name_at(const Named *n, const char *line, const char *p)
{
    int best = -1;
    for (int k = 0; k < n->count && (p == line || !isalnum((unsigned char)p[-1])); k++) {
        size_t size = strlen(n->text[k]);
        if (strncasecmp(p, n->text[k], size) == 0 && !isalnum((unsigned char)p[size]) && p[size] != '_' &&
            (best < 0 || size > strlen(n->text[best])))
            best = k;
    }
    return best;
}

/* Two neighbouring names in a paragraph of a card, exchanged: street and animal, head 0 and head 1. */
static void names_exchanged_are_found_out(void **state)
{
    (void)state;
    LessonFile f;
    int tried = 0, missed = 0;
    for (int i = 0; lesson_at(i, &f); i++) {
        Lesson l;
        Named names;
        Err err = {{0}};
        bool fence = false, card = false;
        assert_true(lesson_parse(&l, f.name, f.text, f.size, 0, &err));
        names_of(&l, &names);
        lesson_free(&l);
        for (const char *line = f.text; *line; line += strcspn(line, "\n") + 1) {
            const char *at = NULL, *end = line + strcspn(line, "\n");
            int before = -1;
            fence ^= strncmp(line, "```", 3) == 0;
            card = card || strncmp(line, "## ", 3) == 0;
            for (const char *p = line; card && !fence && *line != '#' && *line != '`' && p < end; p++) {
                const char *live = strncmp(p, "{{", 2) == 0 ? strstr(p, "}}") : NULL;
                int name = live ? -1 : name_at(&names, line, p);
                p = live ? live + 1 : p;
                if (name < 0)
                    continue;
                const char *one = before < 0 ? "" : names.text[before], *two = names.text[name];
                if (before >= 0 && before != name && strcmp(names.kind[before], names.kind[name]) == 0) {
                    Buf other = {0};
                    buf_add(&other, f.text, (size_t)(at - f.text));
                    buf_puts(&other, two);
                    buf_add(&other, at + strlen(one), (size_t)(p - at) - strlen(one));
                    buf_puts(&other, one);
                    buf_puts(&other, p + strlen(two));
                    tried++;
                    missed += !faults_of(&f, buf_str(&other));
                    buf_free(&other);
                }
                before = name;
                at = p;
                p += strlen(two) - 1;
            }
        }
        for (int k = 0; k < names.count; k++) {
            free((char *)(uintptr_t)names.text[k]);
            free((char *)(uintptr_t)names.kind[k]);
        }
    }
    print_message("%d pairs of names exchanged, %d not found out by what their card says\n", tried, missed);
    assert_true(tried > 40);
    assert_int_equal(missed, 0);
}

/* Sentences that numbers alone let pass. */
static void words_that_compare_are_held_to_it(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expect;
        bool sound;
    } CARDS[] = {
        {"It rises from 0.9859 to 0.9994.", "0.9859 = probs[o=star]; 0.9994 = a:probs[o=star]", true},
        {"It falls from 0.9994 to 0.9859.", "0.9994 = a:probs[o=star]; 0.9859 = probs[o=star]", true},
        {"It falls from 0.9859 to 0.9994.", "0.9859 = probs[o=star]; 0.9994 = a:probs[o=star]", false},
        {"It rises from 0.9994 to 0.9859.", "0.9859 = probs[o=star]; 0.9994 = a:probs[o=star]", false},
        {"It takes 0.4 of one, 0.1 of another.", "0.4 = z[t=0]; 0.1 = z[t=1]", true},
        {"It takes 0.1 of one, 0.4 of another.", "0.4 = z[t=0]; 0.1 = z[t=1]", false},
        {"A row of mean 0 and variance 1.", "0 = mean(x); 1 = var(x)", true},
        {"A row of mean 1 and variance 0.", "0 = mean(x); 1 = var(x)", false},
        {"A row of mean 1 and variance 0.", "1 = var(x); 0 = mean(x)", false},
        {"Its highest is 5, and they grow.", "5 = x[t=2]", false},
        {"Its largest is 5.", "5 = x[t=2]", false},
        {"Its largest is 5.", "5 = max(x)", true},
        {"It has more than the other: 5.", "5 = x[t=2]", false},
        {"It has more than the other: 5.", "5 = x[t=2]; x[t=2] > x[t=1]", true},
        {"The street gets 0.2, the animal 0.7.", "0.2 = w[u=street]; 0.7 = w[u=animal]", true},
        {"The animal gets 0.2, the street 0.7.", "0.2 = w[u=street]; 0.7 = w[u=animal]", false},
        {"0.7 is what the animal gets. The street gets nothing.", "0.7 = w[u=animal]; w[u=street] = w[u=was]", true},
        {"0.7 is what the street gets. The animal gets nothing.", "0.7 = w[u=animal]; w[u=street] = w[u=was]", false},
        {"Head 1 has 0.4, head 2 has 0.6.", "0.4 = z[h=1]; 0.6 = z[h=2]", true},
        {"Head 2 has 0.4, head 1 has 0.6.", "0.4 = z[h=1]; 0.6 = z[h=2]", false},
        {"Star is ahead of arrow by 7.5.", "7.5 = logits[o=star] - logits[o=arrow]", true},
        {"Arrow is ahead of star by 7.5.", "7.5 = logits[o=star] - logits[o=arrow]", false},
        {"It says star, with 0.9, and not frame.", "0.9 = probs[o=star]; probs[o=frame] < probs[o=star]", true},
        {"From 0 to 9, and 9 is more than 0.", "0 = x[t=0]; 9 = max(x)", true},
        {"From 9 to 0, and 9 is more than 0.", "0 = x[t=0]; 9 = max(x)", false},
        {"It is 3 and 1, then −1 and 3.", "3 = x[t=0]; 1 = x[t=1]; −1 = y[t=0]; 3 = y[t=1]", true},
        {"It is 3 and 1, then 3 and −1.", "3 = x[t=0]; 1 = x[t=1]; −1 = y[t=0]; 3 = y[t=1]", false},
        {"Of 64 the 49 are met.", "64 = count(x); 49 = count(y)", true},
        {"Of 49 the 64 are met.", "64 = count(x); 49 = count(y)", false},
    };
    for (size_t i = 0; i < sizeof CARDS / sizeof *CARDS; i++) {
        Buf text = {0};
        buf_printf(&text, "# Words\n\n## One\n\n%s\n\n```vitrine\nexpect %s\n```\n", CARDS[i].text, CARDS[i].expect);
        LessonFile f = {.name = "words.md"};
        if ((faults_of(&f, buf_str(&text)) == 0) != CARDS[i].sound)
            fail_msg("%s (%s)", CARDS[i].text, CARDS[i].expect);
        buf_free(&text);
    }
}

/* What is left, a number changed into another that the card says as well: the numbers of all cards in their order are
 * kept. Where they are meant to change, build/numbers.txt is what they are now. */
static void the_numbers_stand_as_they_were_written(void **state)
{
    (void)state;
    LessonFile f;
    Buf now = {0}, kept = {0};
    Err err = {{0}};
    for (int i = 0; lesson_at(i, &f); i++) {
        Lesson l;
        assert_true(lesson_parse(&l, f.name, f.text, f.size, 0, &err));
        for (int card = -1; card < l.count; card++) { /* "05 3 0.14 four …" */
            buf_printf(&now, "%.2s %d", l.file, card + 1);
            numbers_of(&l, card, &now);
            buf_putc(&now, '\n');
        }
        lesson_free(&l);
    }
    assert_true(file_read("tests/data/lessons/numbers.txt", 1 << 20, &kept, &err));
    const char *a = buf_str(&now), *b = buf_str(&kept);
    if (strcmp(a, b) != 0) {
        file_write("build/numbers.txt", a, now.len, &err);
        while (*a && *a == *b)
            a++, b++;
        while (a > buf_str(&now) && a[-1] != '\n')
            a--;
        fail_msg("a lesson has other numbers than tests/data/lessons/numbers.txt, first in: %.*s; where that is meant, "
                 "build/numbers.txt has the new ones",
                 (int)strcspn(a, "\n"), a);
    }
    buf_free(&now);
    buf_free(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_changed_in_the_text_is_a_fault), cmocka_unit_test(numbers_exchanged_are_found_out),
        cmocka_unit_test(names_exchanged_are_found_out),           cmocka_unit_test(words_that_compare_are_held_to_it),
        cmocka_unit_test(the_numbers_stand_as_they_were_written),
    };
    unused();
    return cmocka_run_group_tests_name("sentences", tests, NULL, NULL);
}
