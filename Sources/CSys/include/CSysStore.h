#pragma once
#include <stddef.h>
#include <stdint.h>

/// The name of the file system that holds `path` when SQLite's WAL mode is not safe on it (it needs memory shared
/// between processes on one machine, and locks that hold): `NFS`, `SMB`, … ; NULL when it is safe or cannot be known.
const char *_Nullable csys_unsafe_filesystem(const char *_Nonnull path);

/// Writes the identifier of this boot (36 characters and a NUL) to `out`; an empty string when there is none.
void csys_boot_id(char out[_Nonnull 37]);
