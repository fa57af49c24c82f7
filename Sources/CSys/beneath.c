#define _GNU_SOURCE
#include "CSysFiles.h"
#include "CSysStore.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_link(int folder, const char *name) {
  struct stat found;
  return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(found.st_mode);
}

// Opens one component at a time; none may be a symbolic link.
static int open_stepwise(int root, const char *path, int flags, uint32_t mode, uint64_t resolve) {
  int folder = root;
  for (;;) {
    const char *slash = strchr(path, '/');
    char name[256];
    size_t length = slash ? (size_t)(slash - path) : strlen(path);
    int result = -1;
    if (length >= sizeof name) {
      errno = ENAMETOOLONG;
    } else {
      memcpy(name, path, length);
      name[length] = 0;
      if (strcmp(name, "..") == 0) {
        errno = EXDEV;
      } else {
        int step = slash ? O_PATH | O_DIRECTORY | O_CLOEXEC : flags;
        result = openat(folder, name, step | O_NOFOLLOW, mode);
        // O_DIRECTORY reports a link as ENOTDIR, as if nothing had the path.
        if (result < 0 && errno == ENOTDIR && (resolve & RESOLVE_NO_SYMLINKS)) {
          errno = is_link(folder, name) ? ELOOP : ENOTDIR;
        }
      }
    }
    int code = errno;
    if (folder != root) close(folder);
    errno = code;
    if (result < 0 || !slash) return result;
    folder = result;
    path = slash + 1;
  }
}

// Source: openat2(2), since Linux 5.6. Uses the system call, because glibc has no wrapper before 2.43. Containers may
// forbid it with EPERM, which openat2 itself returns only for immutable files, and for O_NOATIME as open(2) does.
static int open_resolved(int root, const char *path, int flags, uint32_t mode, uint64_t resolve) {
  if (path[0] == 0) path = ".";
  flags |= O_CLOEXEC;
  struct open_how how = {.flags = (uint64_t)(unsigned)flags, .mode = flags & O_CREAT ? mode : 0};
  how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0; tries < 100; tries++) {
    long fd = syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd >= 0) return (int)fd;
    // A concurrent rename interfered.
    if (errno != EAGAIN && errno != EINTR) break;
  }
  if (errno != ENOSYS && errno != EPERM) return -1;
  return open_stepwise(root, path, flags, mode, resolve);
}

int csys_open_beneath(int root, const char *path, int flags, uint32_t mode) {
  return open_resolved(root, path, flags, mode, RESOLVE_BENEATH);
}

int csys_open_without_links(int root, const char *path, int flags) {
  return open_resolved(root, path, flags, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

int csys_rename_exclusive_at(int from_folder, const char *from, int to_folder, const char *to) {
  if (renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  if (linkat(from_folder, from, to_folder, to, 0) == 0) return unlinkat(from_folder, from, 0);
  // No hard links: FAT, and most file systems in user space.
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK && errno != EACCES) return -1;
  struct stat found;
  if (fstatat(to_folder, to, &found, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return -1;
  }
  return errno == ENOENT ? renameat(from_folder, from, to_folder, to) : -1;
}

int csys_rename_exclusive_in(int folder, const char *from, const char *to) {
  return csys_rename_exclusive_at(folder, from, folder, to);
}

int csys_open_path(int folder, const char *name) { return openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC); }
