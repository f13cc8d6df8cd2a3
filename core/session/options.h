/* Every way of seeing that a screen has, as one table: its name, its value as a word, and how the word is read back.
 * What is written here and read again is the same to the bit, so that a state, a link and a replay show the same. */
#ifndef VITRINE_SESSION_OPTIONS_H
#define VITRINE_SESSION_OPTIONS_H
#include "core/session/command.h"

typedef enum LookOptionKind {
    OPTION_SWITCH,
    OPTION_WORD,
    OPTION_NUMBER,
    OPTION_HUNDREDTHS,
    OPTION_MAP,
    OPTION_RANGE
} LookOptionKind;

typedef struct LookOption {
    const char *name; /* "snapshot" */
    LookOptionKind kind;
    size_t at; /* of a bool or an int in LookAt; unused by OPTION_RANGE. OPTION_HUNDREDTHS: written 0.60, kept as 60 */
    const char *(*word)(int i);                     /* OPTION_WORD: names of its values, NULL past the end */
    bool (*there)(Session *s, int value, Err *err); /* NULL: every value is */
    int start;                                      /* what it is at first and after `restart` */
} LookOption;

/* Those of every screen, then each screen's own, in the order of screens. */
const LookOption *look_option_at(int i); /* NULL past the end */
/* Its value as a number: of a switch 0 or 1, of a word its place. Not for maps and ranges. */
int look_option_number(const LookOption *o, const LookAt *l);
void look_option_put(const LookOption *o, LookAt *l, int value);
/* Sets it; false, with nothing changed, when the word is no value of it or names what is not there. */
bool look_option_set(const LookOption *o, Session *s, const char *word, Err *err);
/* "option NAME VALUE\n" for each that differs between `from` and `to`, with to's value; appended. from NULL: for all.
 */
void look_write(const LookAt *from, const LookAt *to, Buf *out);
/* The number of that word among the values of an option of words or of maps; −1: it is none. */
int look_option_value(const char *option, const char *word);
/* As at the start. */
LookAt look_start(void);
/* Names of colour maps, the first of which is automatic; NULL past the end. */
const char *look_option_map(int i);

/* `option NAME VALUE` */
bool look_option_command(Session *s, const Args *a, Err *err);
void look_option_complete(const Session *s, int index, Buf *out);
#endif
