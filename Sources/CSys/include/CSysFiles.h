#pragma once
#include <stdint.h>
#include <sys/types.h>

/// What the kernel says about one file.
typedef struct {
  int64_t size;
  /// Nanoseconds since 1970 UTC.
  int64_t mtime_ns;
  int64_t ctime_ns;
  uint64_t inode;
  uint64_t device;
  uint32_t mode;
} csys_file_status;

/// statx(2) of `name` below the directory `dirfd` without following a symbolic link (or following it when `follows`).
/// 0, or -1 with errno.
int csys_status_at(int dirfd, const char *_Nonnull name, int follows, csys_file_status *_Nonnull out);

/// The same of an open descriptor. 0, or -1 with errno.
int csys_status_fd(int fd, csys_file_status *_Nonnull out);

/// Opens a file for reading: O_NOFOLLOW, O_NONBLOCK (a FIFO does not block), O_CLOEXEC, O_NOATIME where allowed.
/// A descriptor, or -1 with errno.
int csys_open_source(const char *_Nonnull path);

/// Opens a directory below `dirfd` for listing. A descriptor, or -1 with errno.
int csys_open_directory(int dirfd, const char *_Nonnull name, int follows);

/// Asks the kernel to read a range ahead. Advice only.
void csys_will_need(int fd, int64_t offset, int64_t length);
