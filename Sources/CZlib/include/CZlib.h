#pragma once
// Decompression of gzip (RFC 1952) with zlib, which is loaded when the first compressed file is read: no other command
// needs it.
#include <stddef.h>

typedef enum __attribute__((enum_extensibility(closed))) czlib_verdict {
  /// It needs more input, or more room for output.
  CZLIB_MORE __attribute__((swift_name("more"))),
  /// The end of a member of the file, whose checksum and length are right.
  CZLIB_END __attribute__((swift_name("end"))),
  CZLIB_CORRUPT __attribute__((swift_name("corrupt"))),
  CZLIB_NO_MEMORY __attribute__((swift_name("noMemory"))),
} czlib_verdict;

typedef struct czlib_step {
  czlib_verdict verdict;
  /// Bytes taken from the input, and bytes written to the output.
  size_t taken, given;
} czlib_step;

typedef struct czlib_inflater czlib_inflater;

/// NULL on success, or why zlib cannot be loaded: a static text, or one that is never freed. Callable from any thread.
const char *czlib_load(void);
/// NULL if memory is short. Only after `czlib_load` has returned NULL, like all functions below.
czlib_inflater *czlib_open(void);
czlib_step czlib_inflate(czlib_inflater *inflater, const void *in, size_t in_count, void *out, size_t out_count);
/// Begins with the next member of the file.
void czlib_restart(czlib_inflater *inflater);
void czlib_close(czlib_inflater *inflater);
