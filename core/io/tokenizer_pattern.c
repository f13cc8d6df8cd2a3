/* Patterns of a tokeniser's file: a plain text, or a regular expression as the reference's library writes it, matched
 * by PCRE2 with a bound on its work. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/io/tokenizer_parts.h"

/* What Oniguruma, which tokenizer.json's patterns are written for, means by \s and \w, inside a class: PCRE2's \s also
 * has U+180E, its \w no marks. */
#define SPACES "\\t-\\r\\x{85}\\p{Z}"
#define LETTERS                                                                                                        \
    "\\x{24b6}-\\x{24e9}\\x{1f130}-\\x{1f149}\\x{1f150}-\\x{1f169}\\x{1f170}-\\x{1f189}\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{" \
    "Pc}"

/* \p{Han}: to PCRE2 also what is written in the script among others. Returns what is behind the brace. */
static const char *put_script(const char *s, Buf *out)
{
    static const char scripts[] = "Han Hiragana Katakana Hangul Bopomofo Latin Greek Cyrillic Arabic Hebrew Thai "
                                  "Devanagari";
    char name[16] = "";
    size_t not = s[1] == '{' && s[2] == '^', n = s[1] == '{' ? strcspn(s + 2 + not, "}") : 0;
    if (n < sizeof name)
        memcpy(name, s + 2 + not, n);
    buf_printf(out, "\\%c", *s);
    if (n && n < sizeof name && utf8_listed(scripts, name)) {
        buf_printf(out, "{%ssc:%s", not ? "^" : "", name);
        s += 1 + not +n;
    }
    return s;
}

/* Behind a backslash. Of what a class can't hold, \S among others, PCRE2's own is taken. */
static const char *put_escape(const char *s, bool inside, Buf *out)
{
    static const struct {
        const char *letters, *what;
    } own[] = {{"sS", SPACES}, {"wW", LETTERS}, {"hH", "0-9A-Fa-f"}};
    if (*s == 'p' || *s == 'P')
        return put_script(s, out);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        const bool not = *s == own[i].letters[1];
        if ((!not &&*s != *own[i].letters) || (inside && not ))
            continue;
        buf_printf(out, "%s%s%s",
                   inside ? ""
                   : not  ? "[^"
                          : "[",
                   own[i].what,
                   inside                   ? ""
                   : *own[i].letters == 'w' ? "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}]" /* ² ³ ¹ ¼ ½ ¾, there alone */
                                            : "]");
        return s;
    }
    buf_printf(out, "\\%c", *s);
    return s;
}

/* Into PCRE2's own form: classes in classes are one (BLOOM has one); what can't be said so is refused. */
static bool pattern_translate(const char *expression, const char *path, Buf *out, Err *err)
{
    int depth = 0;
    for (const char *s = expression; *s; s++) {
        const char *named = depth && strncmp(s, "[:", 2) == 0 ? strstr(s, ":]") : NULL;
        if (*s == '\\' && s[1])
            s = put_escape(s + 1, depth > 0, out);
        else if (named && (strncmp(s, "[:punct:]", 9) == 0 || strncmp(s, "[:space:]", 9) == 0)) {
            buf_puts(out, s[2] == 'p' ? "\\p{P}\\p{S}" : SPACES);
            s = named + 1;
        } else if (named) { /* [:alpha:] */
            buf_add(out, s, (size_t)(named - s) + 2);
            s = named + 1;
        } else if (depth && (strncmp(s, "[^", 2) == 0 || strncmp(s, "&&", 2) == 0))
            return err_set(err, "%s: the pattern %.80s has a class of what two others share, which is not known here",
                           path, expression);
        else if (depth && *s == '[')
            depth++;
        else if (depth && *s == ']' && --depth)
            continue;
        else if (!depth && *s == '[') {
            const char *first = s + 1 + (s[1] == '^');
            first += *first == ']'; /* a letter of the class */
            buf_add(out, s, (size_t)(first - s));
            s = first - 1;
            depth = 1;
        } else
            buf_putc(out, *s);
    }
    return true;
}

bool pattern_regex(Pattern *p, const char *written, const char *path, Err *err)
{
    Buf own = {0};
    if (!pattern_translate(written, path, &own, err)) {
        buf_free(&own);
        return false;
    }
    const char *expression = buf_str(&own);
    int code;
    PCRE2_SIZE at;
    PCRE2_UCHAR why[120];
    *p = (Pattern){.code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
                                         PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &code, &at, NULL)};
    buf_free(&own);
    uint32_t empty = 0;
    if (p->code && pcre2_pattern_info(p->code, PCRE2_INFO_MATCHEMPTY, &empty) == 0 && empty) {
        pattern_free(p);
        return err_set(err, "%s: the pattern %.80s matches where nothing stands, which is not known here", path,
                       written);
    }
    if (p->code) {
        pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE); /* where there is none it is slower, that is all */
        return true;
    }
    pcre2_get_error_message(code, why, sizeof why);
    return err_set(err, "%s: the pattern %.80s can't be read: %s", path, written, (char *)why);
}

bool pattern_read(Pattern *p, const Json *j, const char *path, Err *err)
{
    const char *regex = json_text(json_get(j, "Regex"), NULL), *plain = json_text(json_get(j, "String"), NULL);
    *p = (Pattern){.code = NULL};
    if (regex)
        return pattern_regex(p, regex, path, err);
    if (!plain || !*plain)
        return err_set(err, "%s: a pattern is neither \"Regex\" nor \"String\"", path);
    p->plain = xstrdup(plain);
    return true;
}

void pattern_free(Pattern *p)
{
    pcre2_code_free(p->code);
    free(p->plain);
    *p = (Pattern){.code = NULL};
}

/* What a match may cost, whatever the text: a backtrack each, and the memory of a few megabytes. Of a text so many
 * places may cost more than PATTERN_CHEAP. */
enum { HEAP_MOST = 32768, DEAR_MOST = 100 };

int pattern_dear(size_t part, size_t whole)
{
    return 1 + (int)((double)part / (double)(whole > 0 ? whole : 1) * DEAR_MOST);
}

static int match_from(const Pattern *p, const char *text, size_t length, size_t at, uint32_t how, uint32_t most,
                      pcre2_match_data *found, pcre2_match_context *limits)
{
    pcre2_set_match_limit(limits, most);
    return pcre2_match(p->code, (PCRE2_SPTR)text, length, at, PCRE2_NO_UTF_CHECK | how, found, limits);
}

/* pcre2's limit is of one place; a pattern that is dear at every place would take hours of a long text. So where a
 * place was dear, each by itself. */
static int regex_next(const Pattern *p, const char *text, size_t length, size_t at, int *dear, size_t *from, size_t *to)
{
    pcre2_match_data *found = pcre2_match_data_create(1, NULL);
    pcre2_match_context *limits = pcre2_match_context_create(NULL);
    if (!found || !limits)
        die("out of memory for a pattern");
    pcre2_set_heap_limit(limits, HEAP_MOST);
    int n = match_from(p, text, length, at, 0, PATTERN_CHEAP, found, limits);
    for (size_t k = at; n == PCRE2_ERROR_MATCHLIMIT && k <= length; k++) {
        if (k < length && ((unsigned char)text[k] & 0xc0) == 0x80)
            continue;
        n = match_from(p, text, length, k, PCRE2_ANCHORED, PATTERN_CHEAP, found, limits);
        if (n == PCRE2_ERROR_MATCHLIMIT && --*dear >= 0)
            n = match_from(p, text, length, k, PCRE2_ANCHORED, PATTERN_MOST, found, limits);
        if (n != PCRE2_ERROR_NOMATCH)
            break;
        n = k < length ? PCRE2_ERROR_MATCHLIMIT : n;
    }
    const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(found);
    *from = n > 0 ? ends[0] : length;
    *to = n > 0 ? ends[1] : length;
    pcre2_match_context_free(limits);
    pcre2_match_data_free(found);
    const bool fits = *from >= at && *from <= *to && *to <= length; /* \K can turn a match round */
    return n > 0 && fits ? 1 : n == PCRE2_ERROR_NOMATCH ? 0 : -1;
}

int pattern_next(const Pattern *p, const char *text, size_t length, size_t at, int *dear, size_t *from, size_t *to)
{
    if (p->code)
        return regex_next(p, text, length, at, dear, from, to);
    size_t n = strlen(p->plain);
    for (const char *s = text + at;
         length >= n && s <= text + length - n && (s = memchr(s, *p->plain, (size_t)(text + length - n - s) + 1)); s++)
        if (memcmp(s, p->plain, n) == 0) {
            *from = (size_t)(s - text);
            *to = *from + n;
            return 1;
        }
    return 0;
}
