#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "functions.h"

ccurl_functions ccurl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ccurl_outcome outcome;

static ccurl_outcome because(ccurl_verdict verdict, const char *detail) {
  return (ccurl_outcome){verdict, detail == NULL ? NULL : strdup(detail)};
}

/// The library is never closed, because OpenSSL and others register handlers that run when a thread or the process
/// ends.
static ccurl_outcome fill(ccurl_functions *functions, const char *name, unsigned oldest) {
  void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) return because(CCURL_NOT_FOUND, dlerror());
  // POSIX guarantees that the address of a function fits a void pointer: dlsym(3p).
#define LOOK_UP(function)                                                                                              \
  if ((*(void **)&functions->function = dlsym(library, "curl_" #function)) == NULL)                                    \
    return because(CCURL_LACKS_FUNCTION, "curl_" #function);
  CCURL_FUNCTIONS(LOOK_UP)
  const curl_version_info_data *version = functions->version_info(CURLVERSION_NOW);
  if (version->version_num < oldest) return because(CCURL_TOO_OLD, version->version);
  return because(CCURL_LOADED, NULL);
}

static void load(void) { outcome = fill(&ccurl, ccurl_library_name(), CCURL_OLDEST); }

ccurl_outcome ccurl_load(void) {
  pthread_once(&once, load);
  return outcome;
}

ccurl_outcome ccurl_try(const char *name, unsigned oldest) {
  ccurl_functions functions;
  return fill(&functions, name, oldest);
}

const char *ccurl_library_name(void) {
#ifdef __APPLE__
  return "libcurl.4.dylib";
#else
  return "libcurl.so.4";
#endif
}
