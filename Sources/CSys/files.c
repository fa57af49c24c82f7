#define _GNU_SOURCE
#include "CSysFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
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

static const int source_flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW;

int csys_open_source(const char *path) {
  int fd = open(path, source_flags | O_NOATIME);
  if (fd < 0 && errno == EPERM) fd = open(path, source_flags);
  return fd;
}

static int open_below(const char *path, size_t root, int flags) {
  char folder[PATH_MAX];
  if (root >= sizeof folder || root > strlen(path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(folder, path, root);
  folder[root] = 0;
  int above = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (above < 0) return -1;
  path += root;
  while (*path == '/') path++;
  int fd = csys_open_without_links(above, path, flags);
  int code = errno;
  close(above);
  errno = code;
  return fd;
}

int csys_open_source_below(const char *path, size_t root) {
  int fd = open_below(path, root, source_flags | O_NOATIME);
  if (fd < 0 && errno == EPERM) fd = open_below(path, root, source_flags);
  return fd;
}

int csys_open_path_below(const char *path, size_t root) { return open_below(path, root, O_PATH | O_NOFOLLOW); }

int csys_is_direct(const char *path, size_t root) {
  int fd = open_below(path, root, O_PATH);
  if (fd < 0) return 0;
  struct stat found;
  int is_direct = fstat(fd, &found) == 0 && !S_ISLNK(found.st_mode);
  close(fd);
  return is_direct;
}

int csys_open_directory(int dirfd, const char *name, int follows) {
  return openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW));
}

void csys_will_need(int fd, int64_t offset, int64_t length) { posix_fadvise(fd, offset, length, POSIX_FADV_WILLNEED); }

int csys_preallocate(int fd, int64_t length) {
  while (length > 0 && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, length) != 0) {
    if (errno == EINTR) continue;
    // Anything else says that it cannot allocate: EOPNOTSUPP, EINVAL (old NFS), EPERM (a sandbox), ENODEV …
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO ? -1 : 0;
  }
  return 0;
}

int csys_begin_writing(int fd) {
#ifdef SYNC_FILE_RANGE_WRITE
  if (sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) == 0) return 0;
  if (errno != ENOSYS && errno != ESPIPE && errno != EINVAL) return -1;
#endif
  return 0;
}

int csys_punch_hole(int fd, int64_t offset, int64_t length) {
  return length == 0 ? 0 : fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

// umask(2) cannot be read without setting it for all threads. Source: proc(5), since Linux 4.7.
static uint32_t process_umask(void) {
  char line[256];
  unsigned mask = 022;
  FILE *status = fopen("/proc/self/status", "re");
  if (status == NULL) return mask;
  while (fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "Umask: %o", &mask) == 1) break;
  }
  fclose(status);
  return mask;
}

// An ACL as the value of an attribute. Source: <linux/posix_acl_xattr.h>; all numbers are little endian.
enum { ACL_VERSION = 2, ACL_HEADER = 4, ACL_ENTRY = 8 };
enum { ACL_USER_OBJ = 0x01, ACL_GROUP_OBJ = 0x04, ACL_MASK = 0x10, ACL_OTHER = 0x20 };
// The longest attribute (XATTR_SIZE_MAX of <linux/limits.h>).
enum { LONGEST_ACL = 65536 };

// The kernel applies no umask then, and keeps of the mode what the ACL allows (acl(5), "OBJECT CREATION").
uint32_t csys_new_file_mode(int folder) {
  uint32_t mode = 0666 & ~process_umask(), owner = 0, group = 0, others = 0, has_mask = 0;
  unsigned char *acl = malloc(LONGEST_ACL);
  if (acl == NULL) return mode & 0600;
  ssize_t size = fgetxattr(folder, "system.posix_acl_default", acl, LONGEST_ACL);
  if (size >= ACL_HEADER + 3 * ACL_ENTRY && acl[0] == ACL_VERSION) {
    for (ssize_t at = ACL_HEADER; at + ACL_ENTRY <= size; at += ACL_ENTRY) {
      uint32_t tag = acl[at] | (uint32_t)acl[at + 1] << 8, rights = acl[at + 2] & 6;
      if (tag == ACL_USER_OBJ) owner = rights;
      if (tag == ACL_OTHER) others = rights;
      if (tag == ACL_MASK || (tag == ACL_GROUP_OBJ && !has_mask)) group = rights;
      if (tag == ACL_MASK) has_mask = 1;
    }
    mode = owner << 6 | group << 3 | others;
  }
  free(acl);
  return mode;
}

static int has_no_acl(void) { return errno == ENODATA || errno == EOPNOTSUPP || errno == ENOSYS; }

int csys_copy_acl(int from, int to) {
  static const char name[] = "system.posix_acl_access";
  // The descriptor of a reference has no fgetxattr(2).
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", from);
  void *acl = malloc(LONGEST_ACL);
  if (acl == NULL) return -1;
  ssize_t size = getxattr(path, name, acl, LONGEST_ACL);
  int result = -1;
  if (size > 0) {
    if (fsetxattr(to, name, acl, (size_t)size, 0) == 0) result = 1;
  } else if (size == 0 || has_no_acl()) {
    if (fremovexattr(to, name) == 0 || has_no_acl()) result = 0;
  }
  int code = errno;
  free(acl);
  errno = code;
  return result;
}

static int copy_through_memory(int from, int64_t offset, int to, int64_t target, int64_t length) {
  char buffer[65536];
  for (int64_t done = 0; done < length;) {
    size_t wanted = length - done < (int64_t)sizeof buffer ? (size_t)(length - done) : sizeof buffer;
    ssize_t got = pread(from, buffer, wanted, offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) return -1;
    for (ssize_t put = 0; put < got;) {
      ssize_t n = pwrite(to, buffer + put, (size_t)(got - put), target + done + put);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return -1;
      put += n;
    }
    done += got;
  }
  return 0;
}

int csys_copy_file(int from, int to, int64_t length) {
  if (ioctl(to, FICLONE, from) == 0) return 0;
  return csys_copy_range(from, to, 0, length);
}

int csys_copy_range(int from, int to, int64_t offset, int64_t length) {
  return csys_copy_part(from, offset, to, offset, length);
}

int csys_copy_part(int from, int64_t offset, int to, int64_t target, int64_t length) {
  off_t read_at = offset, write_at = target, end = offset + length;
  while (read_at < end) {
    ssize_t n = copy_file_range(from, &read_at, to, &write_at, (size_t)(end - read_at), 0);
    if (n < 0 && errno == EINTR) continue;
    // Not supported between these file systems or by an old kernel. If there is an error, the slow way reports it.
    if (n <= 0) return copy_through_memory(from, read_at, to, write_at, end - read_at);
  }
  return 0;
}
