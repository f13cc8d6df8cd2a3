/* In the place of md4c where the system has no static one: a program in one file plays its own lessons, whose parse was
 * recorded when it was built (recorded.h), and no others, and says so (markdown.c). The name and the arguments are
 * md4c's. */
#include <md4c.h>

#include "lessons/static/recorded.h"

enum { NOT_RECORDED = -2 }; /* md4c itself gives 0 or −1, or what a callback returned, which is 1 here */

static const char *words_at(const Recorded *r, const char *text)
{
    return r->at & RECORDED_ELSEWHERE ? RECORDED_WORDS + (r->at & ~RECORDED_ELSEWHERE) : text + r->at;
}

static int say(const Recorded *r, const char *text, const MD_PARSER *p, void *context)
{
    const MD_ATTRIBUTE attribute = {.text = words_at(r, text), .size = (MD_SIZE)r->size};
    MD_BLOCK_H_DETAIL heading = {.level = r->number};
    MD_BLOCK_OL_DETAIL list = {.start = r->number};
    MD_BLOCK_CODE_DETAIL code = {.info = attribute};
    MD_SPAN_A_DETAIL link = {.href = attribute};
    void *detail = r->kind == SAID_ENTER_BLOCK && r->type == MD_BLOCK_H      ? (void *)&heading
                   : r->kind == SAID_ENTER_BLOCK && r->type == MD_BLOCK_OL   ? (void *)&list
                   : r->kind == SAID_ENTER_BLOCK && r->type == MD_BLOCK_CODE ? (void *)&code
                   : r->kind == SAID_ENTER_SPAN && r->type == MD_SPAN_A      ? (void *)&link
                                                                             : (void *)0;
    switch (r->kind) {
    case SAID_ENTER_BLOCK: return p->enter_block((MD_BLOCKTYPE)r->type, detail, context);
    case SAID_LEAVE_BLOCK: return p->leave_block((MD_BLOCKTYPE)r->type, detail, context);
    case SAID_ENTER_SPAN: return p->enter_span((MD_SPANTYPE)r->type, detail, context);
    case SAID_LEAVE_SPAN: return p->leave_span((MD_SPANTYPE)r->type, detail, context);
    default: return p->text((MD_TEXTTYPE)r->type, words_at(r, text), (MD_SIZE)r->size, context);
    }
}

int md_parse(const MD_CHAR *text, MD_SIZE size, const MD_PARSER *parser, void *context)
{
    uint64_t hash = recorded_hash(text, size);
    for (int i = 0; i < RECORDED_LESSON_COUNT; i++) {
        const RecordedLesson *l = &RECORDED_LESSONS[i];
        if (l->size != size || l->hash != hash)
            continue;
        int status = 0;
        for (int k = 0; k < l->count && !status; k++)
            status = say(&RECORDED[l->first + k], text, parser, context);
        return status;
    }
    return NOT_RECORDED;
}
