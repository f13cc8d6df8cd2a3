/* JSON: read as a tree (jansson's; no other file includes it), written member by member. Reading is strict: duplicate
 * keys, trailing text, bad UTF-8 rejected. */
#ifndef VITRINE_IO_JSON_H
#define VITRINE_IO_JSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"

typedef struct Json Json; /* a value inside a document; valid until json_free of the document */

/* One document: an object or an array. Nesting to 2048, at most 4 million values; comments, NaN and numbers beyond
 * double rejected; where an integer is beyond int64, all are read as doubles. name is for messages ("vit/config.json:
 * line 3, column 7: …"). NULL and err when it is not one JSON document. */
Json *json_parse(const char *name, const char *text, size_t n, Err *err);
Json *json_read(const char *path, size_t limit, Err *err);
void json_free(Json *document); /* NULL allowed */

/* No name here is one of jansson's own: json_string() and JSON_OBJECT are. */
typedef enum JsonKind { JK_NULL, JK_FALSE, JK_TRUE, JK_NUMBER, JK_STRING, JK_ARRAY, JK_OBJECT } JsonKind;
JsonKind json_kind(const Json *v);                         /* NULL counts as JK_NULL */
const Json *json_get(const Json *object, const char *key); /* NULL when absent or not an object */
size_t json_count(const Json *v);                          /* elements of an array, members of an object, else 0 */
const Json *json_at(const Json *array, size_t i);
/* The members of an object in the order of the text: the first where *key is NULL, else the one behind *key, which a
 * call before set; NULL, with *key NULL, behind the last or where it is no object. */
const Json *json_next(const Json *object, const char **key);
const char *json_text(const Json *v, const char *otherwise); /* otherwise when it is no string */
bool json_number(const Json *v, double *out);                /* integer or real */
bool json_int(const Json *v, int64_t *out);                  /* integers only (2.0 is one) */
bool json_bool(const Json *v, bool otherwise);

/* Writing appends to a text: a member with its key, or an element with key NULL. The comma in front comes by itself.
 * What json_open opened is closed by its other bracket, put as any text. */
void json_open(Buf *out, const char *key, char bracket);
void json_line(Buf *out);                                        /* the next element begins a line */
void json_put_text(Buf *out, const char *key, const char *text); /* null for NULL */
void json_put_float(Buf *out, const char *key, float x);         /* nine digits */
void json_put_bool(Buf *out, const char *key, bool on);
/* As it is; but a number that is none, which JSON cannot write, is one of the texts "NaN", "Infinity", "-Infinity". */
void json_put(Buf *out, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#endif
