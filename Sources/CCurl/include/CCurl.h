#pragma once
// libcurl, which is loaded when the first transfer needs it: it loads 25 more libraries, and `status` needs none of
// them. Types and constants are those of its header. Its functions are called by the names below; because the program
// is not linked with libcurl, calls by their original names do not link.
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <stddef.h>

// Required for CURLOPT_PROTOCOLS_STR (7.85.0) and CURLOPT_QUICK_EXIT (7.87.0).
#define CCURL_OLDEST 0x075700
#if LIBCURL_VERSION_NUM < CCURL_OLDEST
#error "libcurl 7.87.0 or newer is required"
#endif

typedef enum __attribute__((enum_extensibility(closed))) ccurl_verdict {
  CCURL_LOADED __attribute__((swift_name("loaded"))),
  CCURL_NOT_FOUND __attribute__((swift_name("notFound"))),
  CCURL_LACKS_FUNCTION __attribute__((swift_name("lacksFunction"))),
  CCURL_TOO_OLD __attribute__((swift_name("tooOld"))),
} ccurl_verdict;

/// The result of loading, and a detail: the message of the dynamic linker, the name of the function, or the version
/// that was found. The detail is NULL on success or when memory is short. It is never freed: a process loads only once.
typedef struct ccurl_outcome {
  ccurl_verdict verdict;
  const char *detail;
} ccurl_outcome;

/// The library that `ccurl_load` loads: the name of libcurl's ABI since 2006.
const char *ccurl_library_name(void);
/// Loads libcurl once; further calls return the outcome of the first. Callable from any thread. All functions after
/// this one and the next may be called only after the verdict CCURL_LOADED.
ccurl_outcome ccurl_load(void);
/// Whether the library `name` would be suitable if `oldest` (as LIBCURL_VERSION_NUM) were required. Does not affect the
/// other functions.
ccurl_outcome ccurl_try(const char *name, unsigned oldest);

typedef size_t (*ccurl_read_callback)(char *buffer, size_t size, size_t count, void *user);
typedef size_t (*ccurl_write_callback)(char *data, size_t size, size_t count, void *user);
typedef curl_socket_t (*ccurl_open_socket_callback)(void *user, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*ccurl_seek_callback)(void *user, curl_off_t offset, int origin);
typedef int (*ccurl_prereq_callback)(void *user, char *remote_ip, char *local_ip, int remote_port, int local_port);

// The same as libcurl's functions of these names.
CURL *ccurl_easy_init(void);
void ccurl_easy_reset(CURL *easy);
void ccurl_easy_cleanup(CURL *easy);
const char *ccurl_easy_strerror(CURLcode code);
CURLM *ccurl_multi_init(void);
CURLMcode ccurl_multi_cleanup(CURLM *multi);
CURLMcode ccurl_multi_add_handle(CURLM *multi, CURL *easy);
CURLMcode ccurl_multi_remove_handle(CURLM *multi, CURL *easy);
CURLMcode ccurl_multi_perform(CURLM *multi, int *running);
/// Waits for the sockets of `multi`, at most `timeout_ms`, or until `ccurl_multi_wakeup`.
CURLMcode ccurl_multi_poll(CURLM *multi, int timeout_ms);
CURLMcode ccurl_multi_wakeup(CURLM *multi);
CURLSH *ccurl_share_init(void);
CURLSHcode ccurl_share_cleanup(CURLSH *share);
struct curl_slist *ccurl_slist_append(struct curl_slist *list, const char *text);
void ccurl_slist_free_all(struct curl_slist *list);

// libcurl's setopt and getinfo are variadic, which Swift cannot call: one typed function for each kind of argument.
CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value);
CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value);
/// libcurl copies the text; NULL unsets the option.
CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value);
/// libcurl keeps the pointer: the list must live until the handle is removed or reset.
CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
CURLcode ccurl_set_read(CURL *easy, ccurl_read_callback callback);
CURLcode ccurl_set_seek(CURL *easy, ccurl_seek_callback callback);
CURLcode ccurl_set_write(CURL *easy, ccurl_write_callback callback);
CURLcode ccurl_set_header(CURL *easy, ccurl_write_callback callback);
/// The callback receives the value of CURLOPT_OPENSOCKETDATA.
CURLcode ccurl_set_open_socket(CURL *easy, ccurl_open_socket_callback callback);
/// CURLOPT_PREREQFUNCTION: called when a connection is established, each time before the request is sent on one.
CURLcode ccurl_set_prereq(CURL *easy, ccurl_prereq_callback callback);
CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value);
CURLSHcode ccurl_share_set_long(CURLSH *share, CURLSHoption option, long value);

/// 0 when the value is unknown.
long ccurl_info_long(CURL *easy, CURLINFO info);
/// Sizes in bytes and times in microseconds; 0 when the value is unknown.
curl_off_t ccurl_info_offset(CURL *easy, CURLINFO info);
/// Owned by the handle; NULL when the value is unknown.
const char *ccurl_info_string(CURL *easy, CURLINFO info);
/// The value of CURLOPT_PRIVATE.
void *ccurl_info_private(CURL *easy);

/// CURL_GLOBAL_DEFAULT; call it before the first thread that uses libcurl. Safe to repeat.
CURLcode ccurl_global_init(void);
/// Resumes a paused transfer. Call it only from the thread that owns the multi handle, not from a callback.
CURLcode ccurl_resume(CURL *easy);
/// Takes the next finished transfer and sets `result` to its outcome; NULL when there is none.
CURL *ccurl_next_done(CURLM *multi, CURLcode *result);

const char *ccurl_version(void);
/// For example `OpenSSL/3.0.17`; NULL without TLS.
const char *ccurl_tls_version(void);
/// The names of the features that libcurl was built with, terminated by NULL; NULL when it is too old to report them
/// (7.87.0).
const char *const *ccurl_feature_names(void);
/// The file of certificate authorities that is used when none is named; NULL without one.
const char *ccurl_default_ca_file(void);
/// The same for a directory.
const char *ccurl_default_ca_path(void);
