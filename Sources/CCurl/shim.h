#pragma once
// libcurl's setopt and getinfo are variadic, which Swift cannot call: one typed inline function for each kind of argument.
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <stddef.h>

// Needed: CURLOPT_PROTOCOLS_STR (7.85.0) and CURLOPT_QUICK_EXIT (7.87.0).
#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87.0 or newer is needed"
#endif

typedef size_t (*ccurl_read_callback)(char *buffer, size_t size, size_t count, void *user);
typedef size_t (*ccurl_write_callback)(char *data, size_t size, size_t count, void *user);
typedef int (*ccurl_seek_callback)(void *user, curl_off_t offset, int origin);

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
/// libcurl copies the text.
static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}
/// libcurl keeps the pointer: the list must live until the handle is removed or reset.
static inline CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_set_read(CURL *easy, ccurl_read_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_READFUNCTION, callback);
}
static inline CURLcode ccurl_set_seek(CURL *easy, ccurl_seek_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}
static inline CURLcode ccurl_set_write(CURL *easy, ccurl_write_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, callback);
}
static inline CURLcode ccurl_set_header(CURL *easy, ccurl_write_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, callback);
}

/// 0 when libcurl does not know.
static inline long ccurl_info_long(CURL *easy, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
/// Sizes in bytes and times in microseconds; 0 when libcurl does not know.
static inline curl_off_t ccurl_info_offset(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
/// Owned by the handle; NULL when libcurl does not know.
static inline const char *ccurl_info_string(CURL *easy, CURLINFO info) {
  char *value = NULL;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}
/// What CURLOPT_PRIVATE was set to.
static inline void *ccurl_info_private(CURL *easy) {
  char *value = NULL;
  return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

/// CURL_GLOBAL_DEFAULT; call it before the first thread of libcurl's. Safe to repeat.
static inline CURLcode ccurl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

/// Ends every pause of a transfer. Only from the thread that owns the multi handle, not from a callback.
static inline CURLcode ccurl_resume(CURL *easy) { return curl_easy_pause(easy, CURLPAUSE_CONT); }

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}
static inline CURLSHcode ccurl_share_set_long(CURLSH *share, CURLSHoption option, long value) {
  return curl_share_setopt(share, option, value);
}

/// Takes the next finished transfer; NULL when there is none. `result` is then how it ended.
static inline CURL *ccurl_next_done(CURLM *multi, CURLcode *result) {
  int left = 0;
  for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
    if (message->msg == CURLMSG_DONE) {
      *result = message->data.result;
      return message->easy_handle;
    }
  }
  return NULL;
}

static inline const char *ccurl_library_version(void) { return curl_version_info(CURLVERSION_NOW)->version; }
/// For example `OpenSSL/3.0.17`; NULL without TLS.
static inline const char *ccurl_tls_version(void) { return curl_version_info(CURLVERSION_NOW)->ssl_version; }

/// The names of what libcurl was built with, ended by NULL; NULL when it is too old to tell (7.87.0).
static inline const char *const *ccurl_feature_names(void) {
  curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
  return info->age >= CURLVERSION_ELEVENTH ? info->feature_names : NULL;
}
/// The file of certificate authorities that is used when none is named; NULL without one.
static inline const char *ccurl_default_ca_file(void) {
  curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
  return info->age >= CURLVERSION_SEVENTH ? info->cainfo : NULL;
}
/// The same for a directory.
static inline const char *ccurl_default_ca_path(void) {
  curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
  return info->age >= CURLVERSION_SEVENTH ? info->capath : NULL;
}
