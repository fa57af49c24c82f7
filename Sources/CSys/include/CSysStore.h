#pragma once
#include <stddef.h>
#include <stdint.h>

/// The name of the file system of `path` if SQLite's WAL mode is not safe on it (it needs memory shared between
/// processes on one machine, and working file locks): `NFS`, `SMB`, … ; NULL when it is safe or unknown.
const char *_Nullable csys_unsafe_filesystem(const char *_Nonnull path);

/// Writes the identifier of this boot (36 characters and a NUL) to `out`; an empty string when there is none.
void csys_boot_id(char out[_Nonnull 37]);

/// The creation time of the file at `path`, in nanoseconds since 1970 UTC; -1 when its file system does not record it.
/// It cannot be set, and a copy has its own.
int64_t csys_birth_ns(const char *_Nonnull path);

/// The same for the open file `fd`.
int64_t csys_birth_ns_fd(int fd);

/// Stores `value` as the extended attribute `name` of the file at `path`. 0, or -1 with errno, for example ENOTSUP.
int csys_set_attribute(
  const char *_Nonnull path, const char *_Nonnull name, const void *_Nonnull value, size_t size);

/// Reads it; the number of bytes, or -1 with errno, for example ENODATA.
int64_t csys_attribute(const char *_Nonnull path, const char *_Nonnull name, void *_Nonnull value, size_t size);

/// Renames `from` to `to` unless `to` exists (RENAME_NOREPLACE). 0, or -1 with errno, for example EEXIST.
int csys_rename_exclusive(const char *_Nonnull from, const char *_Nonnull to);

/// Bytes that an unprivileged user can still write in the file system of `path`; -1 when it is unknown.
int64_t csys_free_bytes(const char *_Nonnull path);

/// Whether the clock of this machine is synchronized: 1, 0, or -1 when it is unknown.
int csys_clock_is_synchronized(void);

/// The device number of `major` and `minor`, as in st_dev.
uint64_t csys_device(uint32_t major, uint32_t minor);

/// Takes the open file description lock on the first byte of the file, or releases it when `takes` is 0; does not wait.
/// 0, or -1 with errno: EAGAIN when another open file description holds it.
int csys_lock_byte(int descriptor, int takes);

/// Whether names that differ only in case are the same file in the open folder `descriptor`: 1 or 0 if its file system
/// is known to tell, -1 if it has to be tried. Writes nothing.
int csys_ignores_case(int descriptor);
