/* The words of a laid card that the glossary has. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/utf8.h"
#include "core/session/ask/ask.h"
#include "lessons/layout.h"

enum { WORDS = 3 }; /* of a term at most */

/* The part behind (line, part); false at the end. */
static bool next_part(const Laid *l, int *line, int *part)
{
    for (++*part; *line < l->count; ++*line, *part = 0)
        if (*part < l->lines[*line].count)
            return true;
    return false;
}

static bool letter(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* The words of n parts, without what stands before and behind them: "(dot product)," → "dot product". A sign between
 * them ends a term. */
static bool join(const Laid *l, int line, int part, int n, char out[48])
{
    *out = 0;
    for (int i = 0; i < n; i++) {
        if (i && !next_part(l, &line, &part))
            return false;
        const LaidPart *p = &l->lines[line].parts[part];
        if (p->style == LAID_CODE || p->style == LAID_DIM)
            return false;
        const char *s = p->text, *end = s + strlen(s);
        while (*s && !letter(*s))
            s++;
        while (end > s && !letter(end[-1]))
            end--;
        size_t used = strlen(out);
        bool apart = (i && s != p->text) || (i + 1 < n && *end);
        if (end == s || apart || used + (size_t)(end - s) + 2 > 48)
            return false;
        utf8_print(out + used, 48 - used, "%s%.*s", i ? " " : "", (int)(end - s), s);
    }
    return true;
}

static bool known(const LaidTerm *terms, int count, const char *word)
{
    for (int i = 0; i < count; i++) {
        size_t a = strlen(terms[i].word), b = strlen(word), n = a < b ? a : b;
        if (strncasecmp(terms[i].word, word, n) == 0 && (a > b ? a - b : b - a) <= 1)
            return true;
    }
    return false;
}

static int gather(const Laid *l, bool emphasised, LaidTerm *out, int count)
{
    int line = 0, part = -1;
    while (count < LAID_TERMS && next_part(l, &line, &part)) {
        if (emphasised != (l->lines[line].parts[part].style == LAID_TERM))
            continue;
        LaidTerm t = {.line = line, .part = part};
        for (t.count = WORDS; t.count; t.count--)
            if (join(l, line, part, t.count, t.word) && strlen(t.word) > 2 && ask_glossary_term(t.word))
                break;
        if (!t.count)
            continue;
        if (!known(out, count, t.word))
            out[count++] = t;
        for (int i = 1; i < t.count; i++)
            next_part(l, &line, &part);
    }
    return count;
}

int laid_terms(const Laid *l, LaidTerm out[LAID_TERMS])
{
    return gather(l, false, out, gather(l, true, out, 0));
}

void laid_mark(Laid *l, const LaidTerm *t)
{
    int line = t->line, part = t->part;
    for (int i = 0; i < t->count; i++) {
        l->lines[line].parts[part].style = LAID_HERE;
        if (!next_part(l, &line, &part))
            return;
    }
}
