#define _GNU_SOURCE
#include "CSysFiles.h"
#include "CSysStore.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

// Source: statfs(2) and linux/magic.h.
const char *csys_unsafe_filesystem(const char *path) {
  struct statfs s;
  if (statfs(path, &s) != 0) return 0;
  switch ((uint32_t)s.f_type) {
  case 0x00006969: return "NFS";
  case 0x0000517B: return "SMB";
  case 0xFF534D42: return "CIFS";
  case 0xFE534D42: return "SMB";
  case 0x01021997: return "9P";
  case 0x65735546: return "FUSE";
  case 0x00C36400: return "Ceph";
  case 0x5346414F: return "AFS";
  case 0x6B414653: return "AFS";
  case 0x73757245: return "Coda";
  case 0x0000564C: return "NCP";
  case 0x0BD00BD0: return "Lustre";
  case 0x47504653: return "GPFS";
  case 0x01161970: return "GFS2";
  case 0x7461636F: return "OCFS2";
  default: return 0;
  }
}

void csys_boot_id(char out[37]) {
  memset(out, 0, 37);
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (read(fd, out, 36) != 36) memset(out, 0, 37);
  close(fd);
}

int64_t csys_birth_ns(const char *path) {
  struct statx x;
  if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &x) != 0 || !(x.stx_mask & STATX_BTIME)) return -1;
  return x.stx_btime.tv_sec * 1000000000 + x.stx_btime.tv_nsec;
}

int64_t csys_birth_ns_fd(int fd) {
  struct statx x;
  if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &x) != 0 || !(x.stx_mask & STATX_BTIME)) return -1;
  return x.stx_btime.tv_sec * 1000000000 + x.stx_btime.tv_nsec;
}

int csys_set_attribute(const char *path, const char *name, const void *value, size_t size) {
  return setxattr(path, name, value, size, 0);
}

int64_t csys_attribute(const char *path, const char *name, void *value, size_t size) {
  return getxattr(path, name, value, size);
}

// A file system that does not support the flag returns EINVAL: then link(2), which never replaces, does the same in two
// steps.
int csys_rename_exclusive(const char *from, const char *to) { return csys_rename_exclusive_in(AT_FDCWD, from, to); }

int64_t csys_free_bytes(const char *path) {
  struct statvfs s;
  if (statvfs(path, &s) != 0) return -1;
  return (int64_t)s.f_bavail * (int64_t)s.f_frsize;
}

// Source: adjtimex(2); with modes = 0 it changes nothing and needs no privilege.
int csys_clock_is_synchronized(void) {
  struct timex t = {.modes = 0};
  int state = adjtimex(&t);
  return state < 0 ? -1 : state != TIME_ERROR && (t.status & STA_UNSYNC) == 0;
}

// Source: fcntl(2), "Open file description locks".
int csys_lock_byte(int descriptor, int takes) {
  struct flock lock = {.l_type = takes ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
  return fcntl(descriptor, F_OFD_SETLK, &lock);
}

uint64_t csys_device(uint32_t major, uint32_t minor) { return makedev(major, minor); }

// Source: linux/magic.h; FS_CASEFOLD_FL of linux/fs.h is a flag of each folder (ext4, F2FS, bcachefs, tmpfs). XFS with
// ascii-ci, which is deprecated, is not recognised.
int csys_ignores_case(int descriptor) {
  struct statfs s;
  if (fstatfs(descriptor, &s) != 0) return -1;
  int flags = 0;
  switch ((uint32_t)s.f_type) {
  case 0x0000EF53:  // ext2, ext3, ext4
  case 0xF2F52010:  // F2FS
  case 0xCA451A4E:  // bcachefs
  case 0x01021994:  // tmpfs
    return ioctl(descriptor, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_CASEFOLD_FL) != 0;
  case 0x9123683E:  // Btrfs
  case 0x58465342:  // XFS
  case 0x794C7630:  // overlayfs
  case 0x858458F6:  // ramfs
    return 0;
  default: return -1;
  }
}
