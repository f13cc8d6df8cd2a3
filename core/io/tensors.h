/* Named arrays in files: safetensors, npy and npz, read strictly and written whole or not at all. */
#ifndef VITRINE_IO_TENSORS_H
#define VITRINE_IO_TENSORS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/mem.h"

enum { TENSOR_RANK_MAX = 8 };

/* DT_OTHER (float8, complex, text, …): the file opens, the tensor can be named but not read. */
typedef enum Dtype {
    DT_F64,
    DT_F32,
    DT_F16,
    DT_BF16,
    DT_I64,
    DT_I32,
    DT_I16,
    DT_I8,
    DT_U64,
    DT_U32,
    DT_U16,
    DT_U8,
    DT_BOOL,
    DT_OTHER
} Dtype;

typedef struct TensorInfo {
    const char *name;
    Dtype dtype;
    const char *type; /* what safetensors calls it: "F32", "F8_E4M3"; NULL elsewhere */
    int rank;
    size_t shape[TENSOR_RANK_MAX];
    size_t cells;
    bool columns;                   /* stored column by column (Fortran order): the first axis runs fastest */
    uint64_t offset, bytes;         /* of the data, from the start of the file; inside a zip as if it were stored */
    const struct NpzMember *member; /* inside a zip: how to get at them; else NULL */
} TensorInfo;

/* A file of named tensors, header read and checked, data still on disk. A zeroed struct is closed and valid. */
typedef struct TensorFile {
    char *path;
    int fd;                /* -1 for a folder of .npy files and for bytes in memory */
    const uint8_t *memory; /* tensors_open_bytes: the whole file; not owned */
    uint64_t size;
    TensorInfo *tensors; /* in the order of their data; a folder's by name; owned, like what they name */
    size_t count;
    const TensorInfo **by_name; /* [count], for tensors_find */
    struct TensorFile *shards;  /* [shard_count]: the files of a model in several; tensors lists theirs in this order */
    int shard_count;
    char *metadata; /* safetensors __metadata__, the config.json of a llama2.c model, as JSON text, or NULL */
    Arena arena;
    bool nameless; /* npz: one name may be empty, as torch calls the root of a module tree */
} TensorFile;

/* By content: safetensors, llama2.c's .bin (llama2c.h), .npz (stored members; deflated ones through zlib), .npy (one
 * tensor named "array"), or a folder of .npy files. Recognises and names a git-LFS pointer, a PyTorch pickle
 * (.pt/.pth/.bin: says how to convert to safetensors), a truncated download, HTML. All rules of the reference
 * safetensors reader and stricter: duplicate keys, holes, overlaps, ranks > 8, names > 1024 bytes rejected. Of a zip
 * (zip64 too) its directory and the beginning of every member are read, however large the members are; encryption is
 * refused, and members that are no .npy are passed over. On failure *f is zeroed. */
bool tensors_open(TensorFile *f, const char *path, Err *err);
/* A model in several safetensors files, by its index (model.safetensors.index.json): every tensor of the index must be
 * in the file it names, and every tensor of these files in the index. */
bool tensors_open_shards(TensorFile *f, const char *path, Err *err);
/* A safetensors file that is in memory already and stays there until tensors_close; name is for messages. */
bool tensors_open_bytes(TensorFile *f, const char *name, const void *bytes, size_t n, Err *err);
void tensors_close(TensorFile *f);
const TensorInfo *tensors_find(const TensorFile *f, const char *name);
/* Reads one tensor as float32 (F64 rounds to nearest; F16, BF16 exact; integers and bools converted) into out[cells],
 * row by row however the file stores it.
 * In a zip the member's checksum is tested. Ends with "cancelled" when somebody asks to stop. */
bool tensors_read_f32(const TensorFile *f, const TensorInfo *t, float *out, Err *err);
/* The bits of one of 16-bit numbers, as they are. */
bool tensors_read_16(const TensorFile *f, const TensorInfo *t, uint16_t *out, Err *err);
/* Its first `cells` numbers only: a picture of a batch. Of a zip no more than these is inflated, and no checksum is
 * tested unless they are all: who shows them says so (tensors_unchecked). */
bool tensors_read_first_f32(const TensorFile *f, const TensorInfo *t, float *out, size_t cells, Err *err);
/* Has the tensor a checksum that reading its first `cells` numbers does not test? */
bool tensors_unchecked(const TensorInfo *t, size_t cells);
/* The same as double: everything exact except integers beyond 2^53. */
bool tensors_read_f64(const TensorFile *f, const TensorInfo *t, double *out, Err *err);
const char *dtype_name(Dtype d); /* "F32" …, as in safetensors */
size_t dtype_size(Dtype d);      /* bytes; 0 for DT_OTHER */

/* Exact, NaN payloads kept. */
float f16_to_f32(uint16_t h);
float bf16_to_f32(uint16_t h);
uint16_t f32_to_f16(float x); /* to nearest even; beyond 65504: infinity */
uint16_t f32_to_bf16(float x);

/* Writing: tensors are announced first, then their data follow in the same order. */
typedef enum TensorFormat { TF_SAFETENSORS, TF_NPZ, TF_NPY, TF_CSV, TF_JSON } TensorFormat;
/* Format by suffix (.safetensors .npz .npy .csv .json); false with a message that lists them. */
bool tensor_format(const char *path, TensorFormat *f, Err *err);

/* An axis and what its cells are called. */
typedef struct TensorAxis {
    const char *name;         /* "t" */
    const char *const *label; /* [its length] */
} TensorAxis;

typedef struct TensorOut {
    const char *name;
    int rank;
    size_t shape[TENSOR_RANK_MAX];
    const char *axes;       /* "[t=65,h=4,e=16]": kept in safetensors metadata and JSON; may be NULL */
    const float *data;      /* or NULL: tensors_write_each asks for it */
    const TensorAxis *axis; /* [rank], for CSV; NULL: its rows have no labels, its columns numbers */
} TensorOut;
/* The values of tensor i, asked for once and in order; they need to last until the next is asked for. NULL with err:
 * writing stops. */
typedef const float *TensorValues(void *context, size_t i, Err *err);
/* safetensors: F32, keys in the order given, after __metadata__ (with "axes:NAME" for each tensor that has axes).
 * npz: stored, fixed date. csv: %.9g, so that every float reads back the same; nan, inf, -inf. json:
 * {"metadata":{…},"tensors":[{"name","shape","axes","data"}]}, data flat in C order, non-finite numbers as the
 * strings "NaN", "Infinity", "-Infinity". Two tensors of one name are refused. path "-" with an explicit format goes
 * to standard output. .npy and .csv take exactly one tensor (csv: rows of the last axis behind a column for each
 * other one with its label, a first line with the axes' names and the labels or numbers of the last one). metadata:
 * key/value pairs ended by NULL, for safetensors and json; may be NULL. */
bool tensors_write(const char *path, TensorFormat f, const TensorOut *tensors, size_t count,
                   const char *const *metadata, Err *err);
/* The same bytes where not all tensors are in memory at once. */
bool tensors_write_each(const char *path, TensorFormat f, const TensorOut *tensors, size_t count,
                        const char *const *metadata, TensorValues *values, void *context, Err *err);
/* The same bytes into memory (for tests and for exports through another channel). */
bool tensors_encode(Buf *out, TensorFormat f, const TensorOut *tensors, size_t count, const char *const *metadata,
                    Err *err);
#endif
