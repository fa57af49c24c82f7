#pragma once
#include "CCurl.h"

/// All functions of libcurl that are called, without their prefix.
#define CCURL_FUNCTIONS(X)                                                                                             \
  X(easy_init) X(easy_reset) X(easy_cleanup) X(easy_strerror) X(easy_setopt) X(easy_getinfo) X(easy_pause)             \
  X(multi_init) X(multi_cleanup) X(multi_add_handle) X(multi_remove_handle) X(multi_perform) X(multi_poll)             \
  X(multi_wakeup) X(multi_setopt) X(multi_info_read) X(share_init) X(share_cleanup) X(share_setopt)                    \
  X(slist_append) X(slist_free_all) X(global_init) X(version_info)

#define CCURL_MEMBER(name) __typeof__(curl_##name) *name;
typedef struct ccurl_functions {
  CCURL_FUNCTIONS(CCURL_MEMBER)
} ccurl_functions;

/// Filled by `ccurl_load`, constant afterwards.
extern ccurl_functions ccurl;
