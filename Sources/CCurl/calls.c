#include "functions.h"

CURL *ccurl_easy_init(void) { return ccurl.easy_init(); }
void ccurl_easy_reset(CURL *easy) { ccurl.easy_reset(easy); }
void ccurl_easy_cleanup(CURL *easy) { ccurl.easy_cleanup(easy); }
const char *ccurl_easy_strerror(CURLcode code) { return ccurl.easy_strerror(code); }

CURLM *ccurl_multi_init(void) { return ccurl.multi_init(); }
CURLMcode ccurl_multi_cleanup(CURLM *multi) { return ccurl.multi_cleanup(multi); }
CURLMcode ccurl_multi_add_handle(CURLM *multi, CURL *easy) { return ccurl.multi_add_handle(multi, easy); }
CURLMcode ccurl_multi_remove_handle(CURLM *multi, CURL *easy) { return ccurl.multi_remove_handle(multi, easy); }
CURLMcode ccurl_multi_perform(CURLM *multi, int *running) { return ccurl.multi_perform(multi, running); }
CURLMcode ccurl_multi_poll(CURLM *multi, int timeout_ms) { return ccurl.multi_poll(multi, NULL, 0, timeout_ms, NULL); }
CURLMcode ccurl_multi_wakeup(CURLM *multi) { return ccurl.multi_wakeup(multi); }

CURLSH *ccurl_share_init(void) { return ccurl.share_init(); }
CURLSHcode ccurl_share_cleanup(CURLSH *share) { return ccurl.share_cleanup(share); }

struct curl_slist *ccurl_slist_append(struct curl_slist *list, const char *text) {
  return ccurl.slist_append(list, text);
}
void ccurl_slist_free_all(struct curl_slist *list) { ccurl.slist_free_all(list); }

CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) { return ccurl.easy_setopt(easy, option, value); }
CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return ccurl.easy_setopt(easy, option, value);
}
CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
  return ccurl.easy_setopt(easy, option, value);
}
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return ccurl.easy_setopt(easy, option, value);
}
CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return ccurl.easy_setopt(easy, option, value);
}
CURLcode ccurl_set_read(CURL *easy, ccurl_read_callback callback) {
  return ccurl.easy_setopt(easy, CURLOPT_READFUNCTION, callback);
}
CURLcode ccurl_set_seek(CURL *easy, ccurl_seek_callback callback) {
  return ccurl.easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}
CURLcode ccurl_set_write(CURL *easy, ccurl_write_callback callback) {
  return ccurl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, callback);
}
CURLcode ccurl_set_header(CURL *easy, ccurl_write_callback callback) {
  return ccurl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, callback);
}
CURLcode ccurl_set_open_socket(CURL *easy, ccurl_open_socket_callback callback) {
  return ccurl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}
CURLcode ccurl_set_prereq(CURL *easy, ccurl_prereq_callback callback) {
  return ccurl.easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}
CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return ccurl.multi_setopt(multi, option, value);
}
CURLSHcode ccurl_share_set_long(CURLSH *share, CURLSHoption option, long value) {
  return ccurl.share_setopt(share, option, value);
}

long ccurl_info_long(CURL *easy, CURLINFO info) {
  long value = 0;
  return ccurl.easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
curl_off_t ccurl_info_offset(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  return ccurl.easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
const char *ccurl_info_string(CURL *easy, CURLINFO info) {
  char *value = NULL;
  return ccurl.easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}
void *ccurl_info_private(CURL *easy) {
  char *value = NULL;
  return ccurl.easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

CURLcode ccurl_global_init(void) { return ccurl.global_init(CURL_GLOBAL_DEFAULT); }
CURLcode ccurl_resume(CURL *easy) { return ccurl.easy_pause(easy, CURLPAUSE_CONT); }

CURL *ccurl_next_done(CURLM *multi, CURLcode *result) {
  int left = 0;
  for (CURLMsg *message; (message = ccurl.multi_info_read(multi, &left)) != NULL;) {
    if (message->msg == CURLMSG_DONE) {
      *result = message->data.result;
      return message->easy_handle;
    }
  }
  return NULL;
}

static const curl_version_info_data *facts(void) { return ccurl.version_info(CURLVERSION_NOW); }

const char *ccurl_version(void) { return facts()->version; }
const char *ccurl_tls_version(void) { return facts()->ssl_version; }
const char *const *ccurl_feature_names(void) {
  return facts()->age >= CURLVERSION_ELEVENTH ? facts()->feature_names : NULL;
}
const char *ccurl_default_ca_file(void) { return facts()->age >= CURLVERSION_SEVENTH ? facts()->cainfo : NULL; }
const char *ccurl_default_ca_path(void) { return facts()->age >= CURLVERSION_SEVENTH ? facts()->capath : NULL; }
