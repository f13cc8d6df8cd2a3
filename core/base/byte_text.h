/* Pieces of byte-level byte-pair encoding: every byte of a text is written as one printable character (GPT-2's
 * alphabet), so 日 is stored as æĹ¥. Here is that alphabet, and the text that such a piece stands for. */
#ifndef VITRINE_BASE_BYTE_TEXT_H
#define VITRINE_BASE_BYTE_TEXT_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/buf.h"

/* The byte that a character stands for (printable ones are themselves, others lie from U+0100 on); −1: none. */
int char_byte(uint32_t c);
uint32_t byte_char(unsigned char byte); /* …and the character that stands for one */

/* What a piece is called, appended: its text, a blank as Ġ and the end of a line as Ċ, as ASCII pieces have them. Bytes
 * that are no whole character, or one that a line of text can't show (controls, blanks, a mark with nothing to stand
 * on), are numbers, as byte fallback writes them: <0xE6><0x97>, and <0x0D> for CR, which is stored as č. No two pieces
 * get one name. False, nothing appended: the piece is ASCII without controls, or none of this alphabet, and is called
 * as it is stored. */
bool byte_text(const char *piece, Buf *out);

/* A text as somebody reads it, appended: what utf8_clean has no character for its bytes by their numbers; in one line
 * the end of a line is ↵ and a tab its number. */
void byte_text_shown(const char *text, bool one_line, Buf *out);

/* What Ġ and Ċ are, where a text of such names has one of them; else "". brief: in few words. */
const char *byte_text_signs(const char *names, bool brief);

/* Is it a byte by its number, which is no special token ("<s>") though it begins like one? */
static inline bool byte_text_raw(const char *name)
{
    return strncmp(name, "<0x", 3) == 0;
}
#endif
