/* Every way of seeing that a screen has, as one table: its name, its value as a word, and how the word is read back.
 * What is written here and read again is the same to the bit, so that a state, a link and a replay show the same. */
#ifndef VITRINE_SESSION_OPTIONS_H
#define VITRINE_SESSION_OPTIONS_H
#include "core/session/command.h"

typedef struct LookOption LookOption;
const LookOption *look_option_at(int i); /* NULL past the end */
const char *look_option_name(const LookOption *o);
/* Its value in l as a word, appended. */
void look_option_get(const LookOption *o, const LookAt *l, Buf *out);
/* Sets it; false, with nothing changed, when the word is no value of it or names what is not there. */
bool look_option_set(const LookOption *o, Session *s, const char *word, Err *err);
/* "option NAME VALUE\n" for each that differs between `from` and `to`, with to's value; appended. from NULL: for all.
 */
void look_write(const LookAt *from, const LookAt *to, Buf *out);
/* As at the start. */
LookAt look_start(void);
/* Names of colour maps, the first of which is automatic; NULL past the end. */
const char *look_option_map(int i);

/* `option NAME VALUE` */
bool look_option_command(Session *s, const Args *a, Err *err);
void look_option_complete(const Session *s, int index, Buf *out);
#endif
