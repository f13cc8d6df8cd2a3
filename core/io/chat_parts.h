/* Inside core/io: a chat template while it runs (chat.h). */
#ifndef VITRINE_IO_CHAT_PARTS_H
#define VITRINE_IO_CHAT_PARTS_H
#include "core/base/mem.h"
#include "core/io/chat.h"

typedef enum ValueKind {
    VALUE_UNDEFINED,
    VALUE_NONE,
    VALUE_BOOL,
    VALUE_NUMBER,
    VALUE_TEXT,
    VALUE_LIST,
    VALUE_TABLE,
    VALUE_MACRO /* number: where it stands among the segments */
} ValueKind;
struct ChatTable;
typedef struct Value {
    ValueKind kind;
    long long number; /* of a bool 0 or 1 */
    const char *text; /* [n] */
    const char *said; /* [n]: 1 where somebody said it; NULL: nobody did */
    size_t n;         /* bytes, or items */
    struct Value *item;
    struct ChatTable *table;
} Value;
typedef struct ChatField {
    const char *name;
    size_t length;
    Value value;
} ChatField;
typedef struct ChatTable {
    ChatField *field; /* in the script's arena */
    size_t n, cap;
} ChatTable;

/* ---- the template, cut into texts, values and statements ---- */

typedef enum SegmentKind { SEGMENT_TEXT, SEGMENT_VALUE, SEGMENT_STATEMENT } SegmentKind;
/* Those in front of WORD_ELIF may begin what has an end. */
typedef enum Word {
    WORD_FOR,
    WORD_IF,
    WORD_MACRO,
    WORD_CAPTURE, /* set NAME … endset */
    WORD_ELIF,
    WORD_ELSE,
    WORD_ENDFOR,
    WORD_ENDIF,
    WORD_ENDMACRO,
    WORD_ENDSET,
    WORD_SET,
    WORD_BREAK,
    WORD_CONTINUE,
    WORD_PASS,
    WORD_OTHER /* Jinja has it; it is not run */
} Word;
typedef struct Segment {
    SegmentKind kind;
    Word word;
    size_t from, to; /* of the source: the text, the value, what stands behind the word */
    int next;        /* for, if, elif, else: the branch behind it, or the end */
} Segment;
typedef struct Segments {
    Segment *at;
    size_t n, cap;
} Segments;

/* A template that runs. Whatever is made lives until its end, and `held` counts it. */
typedef struct Script {
    const Chat *chat;
    const char *source;
    Arena arena;
    size_t held; /* bytes */
    long work;   /* symbols looked at */
    ChatTable names;
    size_t frame;   /* names from here on are those of the innermost loop or macro; 0: of the template */
    size_t globals; /* inside of one: so many names are the template's */
    int loops;      /* that are under way, in this macro */
    Word leaving;   /* WORD_BREAK, WORD_CONTINUE: the innermost one; else 0 */
    int depth;      /* macros that are under way, … */
    int deep;       /* …and the brackets around their calls */
    const Segments *segments;
    ChatText *out;
    Err *err;
} Script;

/* Room for count × size bytes; NULL and err where a template holds too much. */
void *script_room(Script *s, size_t count, size_t size);
bool script_work(Script *s, size_t symbols); /* false and err where it takes too much */
/* err: at that place of the template. Returns false. */
bool script_refuse(Script *s, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Sets a name of the innermost loop; a table's member. */
bool script_set(Script *s, ChatTable *t, size_t first, const char *name, size_t length, const Value *v);
const Value *table_get(const ChatTable *t, const char *name, size_t length); /* the last of that name; NULL */
Value value_text(const char *text);
Value value_number(long long x);
Value value_bool(bool x);
bool value_true(const Value *v);
bool value_equal(Script *s, size_t at, const Value *a, const Value *b, bool *is);  /* false: refused */
bool value_is(const Value *v, const char *name, size_t n, bool *is);               /* false: no such test */
long long value_length(const Value *v);                                            /* characters, or items */
Value value_letters(const Value *v, long long from, long long to);                 /* …by characters */
bool value_print(Script *s, size_t at, const Value *v, Value *out);                /* as Jinja prints it */
bool value_join(Script *s, size_t at, const Value *a, const Value *b, Value *out); /* both printed */
bool value_in(Script *s, size_t at, const Value *list, const Value *v, bool *is);
enum { CHAT_ARGUMENTS = 8 };
/* (a, b, key=c): at most CHAT_ARGUMENTS. The first byte behind the bracket is next. */
typedef struct ChatArguments {
    Value value[CHAT_ARGUMENTS];
    const char *key[CHAT_ARGUMENTS];
    size_t key_length[CHAT_ARGUMENTS];
    int n;
} ChatArguments;
/* Methods and filters: those of one name do the same. *known: is it one, of such a value? */
bool value_apply(Script *s, size_t at, const char *name, size_t n, const Value *v, const ChatArguments *a, bool *known,
                 Value *out);
/* range(to), range(from, to), range(from, to, step): a list. */
bool value_range(Script *s, size_t at, const ChatArguments *a, Value *out);
/* What was written, as a value; `from` is freed. */
bool value_written(Script *s, ChatText *from, Value *out);
bool chat_word(const char *name, size_t n, const char *word); /* are the n bytes that word? */

bool script_write(Script *s); /* all segments, written to s->out */
/* What a macro of the template writes. */
bool script_call(Script *s, size_t at, const Value *macro, const ChatArguments *a, Value *out);
/* An expression in source[*at, end): *at ends behind it. */
bool script_value(Script *s, size_t *at, size_t end, Value *out);
/* Behind blanks; a name's bytes there, 0: none. */
size_t script_skip(const Script *s, size_t at, size_t end);
size_t script_name(const Script *s, size_t at, size_t end);
#endif
