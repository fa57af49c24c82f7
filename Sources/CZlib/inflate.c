#include "include/CZlib.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct czlib_inflater {
  z_stream stream;
};

static struct {
  int (*init)(z_streamp, int, const char *, int);
  int (*inflate)(z_streamp, int);
  int (*reset)(z_streamp);
  int (*end)(z_streamp);
} zlib;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *problem;

static const char *fill(void) {
#ifdef __APPLE__
  const char *name = "libz.1.dylib";
#else
  const char *name = "libz.so.1";
#endif
  void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) {
    const char *detail = dlerror();
    const char *kept = detail == NULL ? NULL : strdup(detail);
    return kept == NULL ? "libz.so.1 cannot be loaded" : kept;
  }
  // POSIX guarantees that the address of a function fits a void pointer: dlsym(3p).
  *(void **)&zlib.init = dlsym(library, "inflateInit2_");
  *(void **)&zlib.inflate = dlsym(library, "inflate");
  *(void **)&zlib.reset = dlsym(library, "inflateReset");
  *(void **)&zlib.end = dlsym(library, "inflateEnd");
  int is_whole = zlib.init != NULL && zlib.inflate != NULL && zlib.reset != NULL && zlib.end != NULL;
  return is_whole ? NULL : "libz.so.1 lacks a function for decompression";
}

static void load(void) { problem = fill(); }

const char *czlib_load(void) {
  pthread_once(&once, load);
  return problem;
}

czlib_inflater *czlib_open(void) {
  czlib_inflater *inflater = calloc(1, sizeof *inflater);
  if (inflater == NULL) return NULL;
  // 16 selects the gzip format, whose checksum and length zlib then compares.
  if (zlib.init(&inflater->stream, MAX_WBITS + 16, ZLIB_VERSION, (int)sizeof(z_stream)) == Z_OK) return inflater;
  free(inflater);
  return NULL;
}

static czlib_verdict verdict(int code) {
  switch (code) {
  // Z_BUF_ERROR: no progress without more input or more room.
  case Z_OK:
  case Z_BUF_ERROR: return CZLIB_MORE;
  case Z_STREAM_END: return CZLIB_END;
  case Z_MEM_ERROR: return CZLIB_NO_MEMORY;
  default: return CZLIB_CORRUPT;
  }
}

czlib_step czlib_inflate(czlib_inflater *inflater, const void *in, size_t in_count, void *out, size_t out_count) {
  uInt in_most = in_count > UINT_MAX ? UINT_MAX : (uInt)in_count;
  uInt out_most = out_count > UINT_MAX ? UINT_MAX : (uInt)out_count;
  z_stream *stream = &inflater->stream;
  stream->next_in = (Bytef *)in;
  stream->avail_in = in_most;
  stream->next_out = out;
  stream->avail_out = out_most;
  int code = zlib.inflate(stream, Z_NO_FLUSH);
  return (czlib_step){verdict(code), in_most - stream->avail_in, out_most - stream->avail_out};
}

void czlib_restart(czlib_inflater *inflater) { zlib.reset(&inflater->stream); }

void czlib_close(czlib_inflater *inflater) {
  zlib.end(&inflater->stream);
  free(inflater);
}
