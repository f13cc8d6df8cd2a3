/* Inside core/io and core/models, and for lists of models: the files of llama2.c, a program by Karpathy. A model is one
 * .bin: seven whole numbers, then all weights as float32 in an order that they give (export.py and run.c, versions 0
 * and 1). Its tokeniser is another: pieces with scores. Both are known by nothing but that their length fits. */
#ifndef VITRINE_IO_LLAMA2C_H
#define VITRINE_IO_LLAMA2C_H
#include "core/io/tensors.h"

/* Do these first n bytes of a file of `size` bytes begin such a model? */
bool llama2c_is(const uint8_t *head, size_t n, uint64_t size);
/* Of a file that is none: true, with what to do in err, where it begins like one of another length, or like a
 * tokeniser. `path` as it may be shown. */
bool llama2c_refuse(const char *path, const uint8_t *head, size_t n, uint64_t size, Err *err);
/* Reader of tensors.c: the tensors are called as in the state dict that the file was made from; metadata is the
 * config.json that the file stands for, with the model_type "llama2.c". */
bool llama2c_read_header(TensorFile *f, Err *err);
/* The tokeniser beside such a model in a file: tok512.bin for 512 words, or tokenizer.bin. False where there is none,
 * or the file is no such model: *words is 0 then, else the number of its words. */
bool llama2c_beside(const char *model, char path[4096], int *words);
/* The tokenizer.json that a file of `words` pieces stands for. A merge is worth the score of what it makes; where
 * several are worth the same the order is that of the pieces. */
bool llama2c_tokenizer(Buf *json, const char *path, int words, Err *err);
#endif
