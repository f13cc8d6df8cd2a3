/* Chat templates: the turns of a talk as the one text that a model learned from, as the folder's own template writes it
 * (chat_template.jinja, else "chat_template" of tokenizer_config.json). A template is a program in Jinja. Run are: if,
 * for, set, macro, namespace, range, strings, whole numbers, lists, tables and comparisons, the methods and filters
 * that the templates of chat models use on texts. All else (dates, calls of tools) is refused by name at its line,
 * where it is reached: what stands in a branch that is not taken does no harm. Work, depth and output are bounded
 * whatever a template says. */
#ifndef VITRINE_IO_CHAT_H
#define VITRINE_IO_CHAT_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/base/err.h"

enum {
    CHAT_SOURCE = 256 * 1024, /* bytes of a template */
    CHAT_TEXT = 1024 * 1024,  /* bytes that it may write */
    CHAT_WORK = 4000000,      /* symbols that it may look at */
    CHAT_TURNS = 256
};

/* What stands in front of a text that is a talk. */
#define CHAT_PREFIX "chat:"

typedef struct Chat {
    const char *name;                      /* for messages */
    char *source;                          /* the template */
    char *begin, *end, *unknown, *padding; /* tokens that it may write; NULL: none */
} Chat;
/* Of a model's folder. False and err: it has none, or it is damaged. */
bool chat_open(Chat *c, const char *folder, Err *err);
void chat_free(Chat *c); /* zeroed allowed */

typedef struct ChatText {
    Buf text;
    Buf said; /* a byte for each: 1 where it is what somebody said, 0 where the template put it */
} ChatText;
/* typed: "user: … | assistant: … | user: …", a turn behind " | " or on a line of its own and begun by system, user or
 * assistant; [{"role": …, "content": …}, …]; or any other text, which is one turn of the user. Where the last turn is
 * not the assistant's, the template is asked to begin its answer. */
bool chat_write(const Chat *c, const char *typed, ChatText *out, Err *err);
void chat_text_free(ChatText *t);
#endif
