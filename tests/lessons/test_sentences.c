/* The prose of the lessons in the program: a number or a name changed or exchanged in it is found out by what its card
 * expects. */
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
    assert_true(tried > 200 && missed * 2 < tried);
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
        {"Its largest is 5.", "5 = x[t=2]", false},
        {"Its largest is 5.", "5 = max(x)", true},
        {"It has more than the other: 5.", "5 = x[t=2]", false},
        {"It has more than the other: 5.", "5 = x[t=2]; x[t=2] > x[t=1]", true},
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
        numbers_list(&l, &now);
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
        cmocka_unit_test(a_number_changed_in_the_text_is_a_fault),
        cmocka_unit_test(numbers_exchanged_are_found_out),
        cmocka_unit_test(words_that_compare_are_held_to_it),
        cmocka_unit_test(the_numbers_stand_as_they_were_written),
    };
    unused();
    return cmocka_run_group_tests_name("sentences", tests, NULL, NULL);
}
