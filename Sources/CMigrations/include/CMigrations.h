#pragma once
#include <stddef.h>

typedef struct {
  const char *_Nonnull name;
  const unsigned char *_Nonnull sql;
  size_t length;
} cmigration;

/// The i-th migration in order, or NULL past the last one.
const cmigration *_Nullable cmigration_at(size_t i);
