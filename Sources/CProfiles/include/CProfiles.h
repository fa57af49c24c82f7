#pragma once
#include <stddef.h>

typedef struct {
  const char *_Nonnull name;
  const unsigned char *_Nonnull text;
  size_t length;
} cprofile;

/// The i-th built-in profile in order, or NULL past the last one.
const cprofile *_Nullable cprofile_at(size_t i);
