#pragma once
#include <stdint.h>
#include <sys/types.h>

/// The status of one file.
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

/// The same for an open descriptor. 0, or -1 with errno.
int csys_status_fd(int fd, csys_file_status *_Nonnull out);

/// Opens a file for reading: O_NOFOLLOW, O_NONBLOCK (a FIFO does not block), O_CLOEXEC, O_NOATIME where allowed.
/// A descriptor, or -1 with errno.
int csys_open_source(const char *_Nonnull path);

/// The same for a path of which only the first `root` bytes, a directory, may lead through symbolic links: if a
/// component behind it is one, ELOOP.
int csys_open_source_below(const char *_Nonnull path, size_t root);

/// The same by reference only (O_PATH), for any kind of file: the last component may be a link, which is then opened
/// itself.
int csys_open_path_below(const char *_Nonnull path, size_t root);

/// Whether `path` exists and no component behind its first `root` bytes is a symbolic link. False if this cannot be
/// determined.
int csys_is_direct(const char *_Nonnull path, size_t root);

/// Opens `path`, relative to the directory `root`, if no component of it is a symbolic link; otherwise ELOOP. Uses
/// RESOLVE_NO_SYMLINKS of openat2(2); on kernels before 5.6, and where a container forbids that, it opens one component
/// after another. A descriptor with O_CLOEXEC, or -1 with errno.
int csys_open_without_links(int root, const char *_Nonnull path, int flags);

/// Opens a directory below `dirfd` for listing. A descriptor, or -1 with errno.
int csys_open_directory(int dirfd, const char *_Nonnull name, int follows);

/// Opens `path`, relative to the directory `root`, with openat2(2) and its RESOLVE_BENEATH: neither ".." nor a symbolic
/// link can lead out of `root` (EXDEV). On kernels before 5.6, symbolic links are not followed at all. `path` "" or "."
/// is the root itself. Returns a descriptor with O_CLOEXEC, or -1 with errno.
int csys_open_beneath(int root, const char *_Nonnull path, int flags, uint32_t mode);

/// Renames `from` to `to`, both names in the directory `folder`, unless `to` exists (RENAME_NOREPLACE). 0, or -1 with
/// errno, for example EEXIST. Where the file system has neither that nor hard links, a file that gets the name `to`
/// while this runs is replaced.
int csys_rename_exclusive_in(int folder, const char *_Nonnull from, const char *_Nonnull to);

/// The same from one directory to another on the same file system (EXDEV otherwise). If the file system cannot do it in
/// one step, the file has both names for a moment.
int csys_rename_exclusive_at(int from_folder, const char *_Nonnull from, int to_folder, const char *_Nonnull to);

/// Opens the object `name` in the directory `folder` by reference only (O_PATH), without following a symbolic link. A
/// descriptor, or -1 with errno.
int csys_open_path(int folder, const char *_Nonnull name);

/// One name of a directory.
typedef struct {
  /// Its offset in the names of its listing.
  uint32_t start;
  uint16_t length;
  /// A DT_ constant of readdir(3); DT_UNKNOWN if the file system does not provide it.
  uint8_t type;
} csys_entry;

/// The names in one directory except "." and "..", in the order of their bytes.
typedef struct {
  /// Each followed by a NUL.
  char *_Nullable names;
  csys_entry *_Nullable entries;
  size_t count;
} csys_listing;

/// Lists the directory that is open as `fd`, from its beginning. 0, or -1 with errno; in either case `out` contains
/// what was read. The caller releases it with csys_free_listing.
int csys_list_directory(int fd, csys_listing *_Nonnull out);

void csys_free_listing(csys_listing *_Nonnull listing);

/// Creates a file without a name in the directory `folder`, for reading and writing only by this process. A descriptor,
/// or -1 with errno.
int csys_open_unnamed(const char *_Nonnull folder);

/// Allocates the blocks of the first `length` bytes, without changing the size of the file. 0, even if the file system
/// does not support it; -1 with errno if the bytes cannot be stored.
int csys_preallocate(int fd, int64_t length);

/// Starts writing the file's dirty pages to the disk (sync_file_range(2)) without waiting: this does not make anything
/// durable. 0, even if the file system does not support it; -1 with errno, and fdatasync(2) may then not fail again.
int csys_begin_writing(int fd);

/// Makes a range read as zeros and frees the blocks that are entirely in it; the length of the file is unchanged. 0, or
/// -1 with errno.
int csys_punch_hole(int fd, int64_t offset, int64_t length);

/// The permissions of a file that is created with mode 0666 in the open directory `folder`: what its default ACL gives
/// to owner, mask and others; without one, what umask(2) leaves.
uint32_t csys_new_file_mode(int folder);

/// Gives the open file `to` the POSIX ACL of `from`, which may be open by reference only (O_PATH), and with it other
/// permissions. 1; 0 if `from` has none, and then `to` has none either; -1 with errno.
int csys_copy_acl(int from, int to);

/// Asks the kernel to read a range ahead. Advice only.
void csys_will_need(int fd, int64_t offset, int64_t length);

/// Copies the first `length` bytes of `from` to the beginning of `to`: as a shared clone if the file system supports it
/// (FICLONE), else in the kernel, else through memory. 0, or -1 with errno; EIO when `from` is shorter.
int csys_copy_file(int from, int to, int64_t length);

/// Copies `length` bytes at `offset` of `from` to the same offset in `to`: as a shared clone if the file system
/// supports it (copy_file_range(2) clones aligned ranges, Linux 5.3), else in the kernel, else through memory. 0, or -1
/// with errno; EIO when `from` is shorter.
int csys_copy_range(int from, int to, int64_t offset, int64_t length);
/// The same for `length` bytes from `offset` in `from` to `target` in `to`.
int csys_copy_part(int from, int64_t offset, int to, int64_t target, int64_t length);
