#define _GNU_SOURCE
#include "CSysFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int status(int dirfd, const char *name, int flags, csys_file_status *out) {
  struct statx x;
  unsigned mask = STATX_TYPE | STATX_MODE | STATX_SIZE | STATX_MTIME | STATX_CTIME | STATX_INO;
  if (statx(dirfd, name, flags, mask, &x) != 0) return -1;
  out->size = (int64_t)x.stx_size;
  out->mtime_ns = x.stx_mtime.tv_sec * 1000000000 + x.stx_mtime.tv_nsec;
  out->ctime_ns = x.stx_ctime.tv_sec * 1000000000 + x.stx_ctime.tv_nsec;
  out->inode = x.stx_ino;
  out->device = makedev(x.stx_dev_major, x.stx_dev_minor);
  out->mode = x.stx_mode;
  return 0;
}

int csys_status_at(int dirfd, const char *name, int follows, csys_file_status *out) {
  return status(dirfd, name, follows ? 0 : AT_SYMLINK_NOFOLLOW, out);
}

int csys_status_fd(int fd, csys_file_status *out) { return status(fd, "", AT_EMPTY_PATH, out); }

int csys_open_source(const char *path) {
  int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW;
  int fd = open(path, flags | O_NOATIME);
  if (fd < 0 && errno == EPERM) fd = open(path, flags);
  return fd;
}

int csys_open_directory(int dirfd, const char *name, int follows) {
  return openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW));
}

void csys_will_need(int fd, int64_t offset, int64_t length) { posix_fadvise(fd, offset, length, POSIX_FADV_WILLNEED); }
