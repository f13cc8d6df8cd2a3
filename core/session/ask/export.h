/* Values of a run as files and as text: one node, a part of one, or all nodes that a pattern names. */
#ifndef VITRINE_SESSION_ASK_EXPORT_H
#define VITRINE_SESSION_ASK_EXPORT_H
#include "core/io/tensors.h"
#include "core/session/session.h"

/* Writes nodes of one side (SIDE_DIFF: A − B) to a file; path "-" is standard output.
 * pattern: an address ("blocks.1.attn.q[h=2]": a single index drops its axis, a range keeps it), a scope ("blocks.1"),
 * or a pattern
 * ("blocks.5.*", "**" for the whole run), or several of them with blanks between ("** grad.**"). Scopes and patterns
 * leave weights and analyses out unless they match nothing else; "probe" in them asks for analyses. axes ("h,t,e", or
 * NULL) reorders the axes of a single tensor. .safetensors and .json carry metadata: model, input, edits, side, and the
 * trace hash once the pass is complete. What is missing is computed, with progress. report (may be NULL) gets "float32
 * [t=197,h=12,e=64]\n" for one tensor, "412 tensors, 48.2 MB\n" for several. */
bool export_nodes(Session *s, Side side, const char *pattern, const char *axes, const char *path, TensorFormat format,
                  Buf *report, Err *err);

/* May the command's file be written? Not where something is there already, unless the line says over=yes. */
bool export_free(const char *path, const char *over, Err *err);

/* The same for reading: numbers with the labels of rows and columns, the middle of large tensors left out, then lowest,
 * mean and highest. The address must name one node. */
bool export_print(Session *s, Side side, const char *address, const char *axes, Buf *out, Err *err);
#endif
