/* Run while building: parses the lessons named on the command line with md4c and writes what it said as C to standard
 * output (recorded.h). The flags are those of markdown.c. */
#include <md4c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/static/recorded.h"

enum { MOST = 1 << 20 };

static char text[MOST], words[MOST];
static unsigned size;
static int words_used, said;

static int place(const char *at, unsigned n)
{
    if (at >= text && at + n <= text + size)
        return (int)(at - text);
    if (words_used + (int)n >= MOST)
        exit(1);
    memcpy(words + words_used, at, n);
    words_used += (int)n;
    return (words_used - (int)n) | RECORDED_ELSEWHERE;
}

static int say(RecordedKind kind, int type, unsigned number, const char *at, unsigned n)
{
    printf("    {%d, %d, %u, %d, %u},\n", (int)kind, type, number, n ? place(at, n) : 0, n);
    said++;
    return 0;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    (void)context;
    if (type == MD_BLOCK_H)
        return say(SAID_ENTER_BLOCK, (int)type, ((MD_BLOCK_H_DETAIL *)detail)->level, "", 0);
    if (type == MD_BLOCK_OL)
        return say(SAID_ENTER_BLOCK, (int)type, ((MD_BLOCK_OL_DETAIL *)detail)->start, "", 0);
    const MD_ATTRIBUTE *info = type == MD_BLOCK_CODE ? &((MD_BLOCK_CODE_DETAIL *)detail)->info : NULL;
    return say(SAID_ENTER_BLOCK, (int)type, 0, info ? info->text : "", info ? info->size : 0);
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    (void)detail, (void)context;
    return say(SAID_LEAVE_BLOCK, (int)type, 0, "", 0);
}

static int enter_span(MD_SPANTYPE type, void *detail, void *context)
{
    (void)context;
    const MD_ATTRIBUTE *href = type == MD_SPAN_A ? &((MD_SPAN_A_DETAIL *)detail)->href : NULL;
    return say(SAID_ENTER_SPAN, (int)type, 0, href ? href->text : "", href ? href->size : 0);
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context)
{
    (void)detail, (void)context;
    return say(SAID_LEAVE_SPAN, (int)type, 0, "", 0);
}

static int take_text(MD_TEXTTYPE type, const MD_CHAR *s, MD_SIZE n, void *context)
{
    (void)context;
    return say(SAID_TEXT, (int)type, 0, s, n);
}

int main(int argc, char **argv)
{
    static RecordedLesson lesson[256];
    const MD_PARSER parser = {.flags = MD_FLAG_NOINDENTEDCODEBLOCKS,
                              .enter_block = enter_block,
                              .leave_block = leave_block,
                              .enter_span = enter_span,
                              .leave_span = leave_span,
                              .text = take_text};
    puts("#include \"lessons/static/recorded.h\"\n\nconst Recorded RECORDED[] = {");
    for (int i = 1; i < argc && i <= 256; i++) {
        FILE *f = fopen(argv[i], "rb");
        size = f ? (unsigned)fread(text, 1, sizeof text, f) : 0;
        if (!f || fclose(f) != 0 || !size || size == sizeof text) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            return 1;
        }
        int first = said;
        if (md_parse(text, size, &parser, NULL) != 0)
            return 1;
        lesson[i - 1] = (RecordedLesson){recorded_hash(text, size), size, first, said - first};
    }
    printf("};\n\nconst char RECORDED_WORDS[] = {");
    for (int i = 0; i < words_used; i++)
        printf("%d, ", (unsigned char)words[i]);
    printf("0};\n\nconst RecordedLesson RECORDED_LESSONS[] = {\n");
    for (int i = 0; i + 1 < argc; i++)
        printf("    {UINT64_C(%llu), %u, %d, %d},\n", (unsigned long long)lesson[i].hash, lesson[i].size,
               lesson[i].first, lesson[i].count);
    printf("};\n\nconst int RECORDED_LESSON_COUNT = %d;\n", argc - 1);
    return ferror(stdout) != 0;
}
