/* Kills or fails an unmodified program at its n-th persistence call.
 *
 * Build:  cc -shared -fPIC -O1 -Wall -Wextra -Werror -o shim.so shim.c -ldl -lpthread
 * Use:    LD_PRELOAD=./shim.so SHIM_KILL_BEFORE=17 PROGRAM ...
 *
 * Calls are counted from 1, over all threads, in the classes in SHIM_CLASSES (comma separated; default "file"):
 *   file  write, writev, pwrite*, copy_file_range, ftruncate*, fallocate on regular files; fsync, fdatasync,
 *         sync_file_range; rename*, link*, unlink*, mkdir*; open* with O_CREAT or O_TRUNC
 *   net   write, writev, send, sendto, sendmsg, sendfile on internet sockets
 * Writes to pipes, terminals, event descriptors and AF_UNIX sockets change no persistent state, and never count.
 *
 *   SHIM_COUNT=FILE       writes the number of calls to FILE when the program exits by itself
 *   SHIM_LOG=FILE         appends one line per call: number, class, name, path
 *   SHIM_PATH=TEXT        file calls count only when the path contains TEXT
 *   SHIM_KILL_BEFORE=N    SIGKILL instead of the N-th call
 *   SHIM_KILL_AFTER=N     SIGKILL after the N-th call has returned
 *   SHIM_POWER=1          the kill is a power cut: unsynced writes to regular files are undone first, newest first.
 *                         Names (create, rename, unlink) are kept, as a journalling file system would mostly do;
 *                         reordering is not simulated.
 *   SHIM_POWER_NAMES=TEXT also undoes renames and removals of names that contain TEXT, unless their folder was synced
 *                         since. New names stay.
 *   SHIM_FAIL_AT=N        the N-th call fails with errno SHIM_ERRNO (default 5, EIO)
 *   SHIM_FAIL_FROM=N      that one and all later ones fail, or with
 *   SHIM_FAIL_COUNT=M     only this many. With ENOSPC names can still be removed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CLASS_NONE = 0, CLASS_FILE = 1, CLASS_NET = 2 };

static int classes = CLASS_FILE;
static long kill_before, kill_after, fail_at, fail_from, fail_count;
static int fail_errno = EIO, power;
static const char *path_filter, *count_path, *power_names;
static int log_fd = -1;
static atomic_long calls, file_calls, net_calls;

#define REAL(name) ((__typeof__(&name))real_##name())
#define DECLARE_REAL(name)                                                                                             \
  static void *real_##name(void) {                                                                                     \
    static _Atomic(void *) address;                                                                                    \
    void *found = atomic_load(&address);                                                                               \
    if (!found) {                                                                                                      \
      found = dlsym(RTLD_NEXT, #name);                                                                                 \
      atomic_store(&address, found);                                                                                   \
    }                                                                                                                  \
    return found;                                                                                                      \
  }

DECLARE_REAL(write) DECLARE_REAL(writev) DECLARE_REAL(pwrite) DECLARE_REAL(pwritev) DECLARE_REAL(pwritev2)
DECLARE_REAL(send) DECLARE_REAL(sendto) DECLARE_REAL(sendmsg) DECLARE_REAL(sendfile) DECLARE_REAL(copy_file_range)
DECLARE_REAL(fsync) DECLARE_REAL(fdatasync) DECLARE_REAL(sync_file_range) DECLARE_REAL(ftruncate)
DECLARE_REAL(fallocate) DECLARE_REAL(posix_fallocate) DECLARE_REAL(rename) DECLARE_REAL(renameat)
DECLARE_REAL(renameat2) DECLARE_REAL(link) DECLARE_REAL(linkat) DECLARE_REAL(unlink) DECLARE_REAL(unlinkat)
DECLARE_REAL(mkdir) DECLARE_REAL(mkdirat) DECLARE_REAL(openat) DECLARE_REAL(syscall)

static long number(const char *name) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void start(void) {
  const char *chosen = getenv("SHIM_CLASSES");
  if (chosen && *chosen)
    classes = (strstr(chosen, "file") ? CLASS_FILE : 0) | (strstr(chosen, "net") ? CLASS_NET : 0);
  kill_before = number("SHIM_KILL_BEFORE");
  kill_after = number("SHIM_KILL_AFTER");
  fail_at = number("SHIM_FAIL_AT");
  fail_from = number("SHIM_FAIL_FROM");
  fail_count = number("SHIM_FAIL_COUNT");
  if (number("SHIM_ERRNO")) fail_errno = (int)number("SHIM_ERRNO");
  power = number("SHIM_POWER") != 0;
  power_names = getenv("SHIM_POWER_NAMES");
  path_filter = getenv("SHIM_PATH");
  count_path = getenv("SHIM_COUNT");
  const char *log_path = getenv("SHIM_LOG");
  if (log_path && *log_path)
    log_fd = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

__attribute__((destructor)) static void finish(void) {
  if (!count_path || !*count_path) return;
  char text[96];
  int length = snprintf(text, sizeof text, "%ld file=%ld net=%ld\n", atomic_load(&calls), atomic_load(&file_calls),
                        atomic_load(&net_calls));
  int fd = (int)syscall(SYS_openat, AT_FDCWD, count_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || length < 0) return;
  syscall(SYS_write, fd, text, (size_t)length);
  syscall(SYS_close, fd);
}

#include "powercut.h"

/* ---- the gate that every call passes ---- */

static void log_line(long n, int class, const char *name, const char *path, const char *what) {
  char line[4400];
  int length = snprintf(line, sizeof line, "%ld %s %s %s%s\n", n, class == CLASS_NET ? "net" : "file", name,
                        path ? path : "-", what);
  if (log_fd >= 0 && length > 0)
    syscall(SYS_write, log_fd, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

static void die(long n, int class, const char *name, const char *path) {
  if (power) take_back_unsynced();
  log_line(n, class, name, path, power ? " POWER CUT" : " KILLED");
  for (;;) syscall(SYS_kill, getpid(), SIGKILL);
}

static int class_of(int fd) {
  struct stat now;
  if (fstat(fd, &now) != 0) return CLASS_NONE;
  if (S_ISREG(now.st_mode)) return CLASS_FILE;
  if (!S_ISSOCK(now.st_mode)) return CLASS_NONE;
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) return CLASS_NONE;
  return address.ss_family == AF_INET || address.ss_family == AF_INET6 ? CLASS_NET : CLASS_NONE;
}

struct pass {
  long n;
  int class;
  int refused;
  const char *name;
};

/* Counts the call; does not return at the kill point; `refused` says that the call must fail with errno set. */
static struct pass enter(int class, const char *name, int fd, const char *path) {
  struct pass pass = {0, class, 0, name};
  char buffer[4096];
  if (!(classes & class)) return pass;
  if (fd >= 0 && class == CLASS_FILE && !path && (path_filter || log_fd >= 0)) path = path_of(fd, buffer, sizeof buffer);
  if (class == CLASS_FILE && path_filter && (!path || !strstr(path, path_filter))) return pass;
  pass.n = atomic_fetch_add(&calls, 1) + 1;
  atomic_fetch_add(class == CLASS_NET ? &net_calls : &file_calls, 1);
  if (pass.n == kill_before) die(pass.n, class, name, path);
  pass.refused = pass.n == fail_at || (fail_from && pass.n >= fail_from && (!fail_count || pass.n < fail_from + fail_count));
  if (fail_errno == ENOSPC && strncmp(name, "unlink", 6) == 0) pass.refused = 0;
  if (log_fd >= 0) log_line(pass.n, class, name, path, pass.refused ? " FAILED" : "");
  if (pass.refused) errno = fail_errno;
  return pass;
}

static void leave(struct pass pass) {
  if (!pass.n || pass.n != kill_after) return;
  die(pass.n, pass.class, pass.name, NULL);
}

/* A call that changes no bytes of a regular file. */
#define PLAIN(result_type, class, fd, path, name, call)                                                                \
  struct pass pass = enter(class, name, fd, path);                                                                     \
  if (pass.refused) return -1;                                                                                         \
  result_type result = call;                                                                                           \
  int saved = errno;                                                                                                   \
  leave(pass);                                                                                                         \
  errno = saved;                                                                                                       \
  return result;

/* A call that writes `length` bytes at `offset`; -1 is the descriptor's own position. */
#define WRITES(fd, at, count, name, call)                                                                              \
  int class = class_of(fd);                                                                                            \
  struct pass pass = enter(class, name, fd, NULL);                                                                     \
  if (pass.refused) return -1;                                                                                         \
  int undoable = power && class == CLASS_FILE;                                                                         \
  if (undoable) {                                                                                                      \
    pthread_mutex_lock(&undo_lock);                                                                                    \
    remember(fd, write_position(fd, at), count);                                                                       \
  }                                                                                                                    \
  ssize_t result = call;                                                                                               \
  int saved = errno;                                                                                                   \
  if (undoable) pthread_mutex_unlock(&undo_lock);                                                                      \
  leave(pass);                                                                                                         \
  errno = saved;                                                                                                       \
  return result;

static off_t write_position(int fd, off_t at) {
  if (at >= 0) return at;
  struct stat now;
  if ((fcntl(fd, F_GETFL) & O_APPEND) && fstat(fd, &now) == 0) return now.st_size;
  return lseek(fd, 0, SEEK_CUR);
}

static size_t total(const struct iovec *parts, int count) {
  size_t sum = 0;
  for (int i = 0; i < count; i++) sum += parts[i].iov_len;
  return sum;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  WRITES(fd, -1, length, "write", REAL(write)(fd, bytes, length))
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  WRITES(fd, -1, total(parts, count), "writev", REAL(writev)(fd, parts, count))
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  WRITES(fd, at, length, "pwrite", REAL(pwrite)(fd, bytes, length, at))
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  WRITES(fd, at, length, "pwrite64", REAL(pwrite)(fd, bytes, length, at))
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  WRITES(fd, at, total(parts, count), "pwritev", REAL(pwritev)(fd, parts, count, at))
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
  WRITES(fd, at, total(parts, count), "pwritev64", REAL(pwritev)(fd, parts, count, at))
}
ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags) {
  WRITES(fd, at, total(parts, count), "pwritev2", REAL(pwritev2)(fd, parts, count, at, flags))
}
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t length, unsigned flags) {
  WRITES(to, to_at ? *to_at : -1, length, "copy_file_range",
         REAL(copy_file_range)(from, from_at, to, to_at, length, flags))
}
ssize_t sendfile(int to, int from, off_t *at, size_t length) {
  WRITES(to, -1, length, "sendfile", REAL(sendfile)(to, from, at, length))
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
  PLAIN(ssize_t, class_of(fd), fd, NULL, "send", REAL(send)(fd, bytes, length, flags))
}
ssize_t sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t size) {
  PLAIN(ssize_t, class_of(fd), fd, NULL, "sendto", REAL(sendto)(fd, bytes, length, flags, to, size))
}
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  PLAIN(ssize_t, class_of(fd), fd, NULL, "sendmsg", REAL(sendmsg)(fd, message, flags))
}

static int synced(int fd, struct pass pass, int (*sync)(int)) {
  struct stat now;
  long upto = 0;
  int known = power && fstat(fd, &now) == 0;
  if (known) {
    pthread_mutex_lock(&undo_lock);
    upto = last_number; /* what is written while the sync runs may or may not be covered: it counts as unsynced */
    pthread_mutex_unlock(&undo_lock);
  }
  int result = sync(fd);
  int saved = errno;
  if (known && result == 0) {
    pthread_mutex_lock(&undo_lock);
    forget_synced(now.st_dev, now.st_ino, upto);
    forget_synced_names(now.st_dev, now.st_ino, upto);
    pthread_mutex_unlock(&undo_lock);
  }
  leave(pass);
  errno = saved;
  return result;
}
int fsync(int fd) {
  struct pass pass = enter(CLASS_FILE, "fsync", fd, NULL);
  return pass.refused ? -1 : synced(fd, pass, REAL(fsync));
}
int fdatasync(int fd) {
  struct pass pass = enter(CLASS_FILE, "fdatasync", fd, NULL);
  return pass.refused ? -1 : synced(fd, pass, REAL(fdatasync));
}
int sync_file_range(int fd, off64_t at, off64_t length, unsigned flags) {
  PLAIN(int, CLASS_FILE, fd, NULL, "sync_file_range", REAL(sync_file_range)(fd, at, length, flags))
}

static int cut_to(int fd, off_t size, const char *name) {
  struct pass pass = enter(CLASS_FILE, name, fd, NULL);
  if (pass.refused) return -1;
  struct stat now;
  int undoable = power && fstat(fd, &now) == 0 && S_ISREG(now.st_mode);
  if (undoable) {
    pthread_mutex_lock(&undo_lock);
    remember(fd, size < now.st_size ? size : now.st_size, size < now.st_size ? (size_t)(now.st_size - size) : 0);
  }
  int result = REAL(ftruncate)(fd, size);
  int saved = errno;
  if (undoable) pthread_mutex_unlock(&undo_lock);
  leave(pass);
  errno = saved;
  return result;
}
int ftruncate(int fd, off_t size) { return cut_to(fd, size, "ftruncate"); }
int ftruncate64(int fd, off64_t size) { return cut_to(fd, size, "ftruncate64"); }

int fallocate(int fd, int mode, off_t at, off_t length) {
  PLAIN(int, CLASS_FILE, fd, NULL, "fallocate", REAL(fallocate)(fd, mode, at, length))
}
int posix_fallocate(int fd, off_t at, off_t length) {
  struct pass pass = enter(CLASS_FILE, "posix_fallocate", fd, NULL);
  if (pass.refused) return fail_errno; /* this one returns the error, it does not set errno */
  int result = REAL(posix_fallocate)(fd, at, length);
  leave(pass);
  return result;
}

/* A name relative to a folder, as a path. */
static const char *full_path(int folder, const char *path, char *buffer, size_t size) {
  if (folder == AT_FDCWD || !path || path[0] == '/') return path;
  path_of(folder, buffer, size);
  size_t length = strlen(buffer);
  snprintf(buffer + length, size - length, "/%s", path);
  return buffer;
}

/* A call that gives `to` to the file with the name `from`, or removes `from` when `to` is NULL. */
#define CHANGES_NAMES(d1, from, d2, to, name, call)                                                                    \
  char buffer_from[4096], buffer_to[4096];                                                                             \
  const char *full_from = full_path(d1, from, buffer_from, sizeof buffer_from);                                        \
  const char *full_to = to ? full_path(d2, to, buffer_to, sizeof buffer_to) : NULL;                                    \
  struct pass pass = enter(CLASS_FILE, name, -1, full_to ? full_to : full_from);                                       \
  if (pass.refused) return -1;                                                                                         \
  const char *lost = full_to ? full_to : full_from;                                                                    \
  int undoable = power && power_names && strstr(lost, power_names);                                                    \
  if (undoable) {                                                                                                      \
    pthread_mutex_lock(&undo_lock);                                                                                    \
    remember_name(full_to ? full_from : NULL, lost);                                                                   \
  }                                                                                                                    \
  int result = call;                                                                                                   \
  int saved = errno;                                                                                                   \
  if (undoable) {                                                                                                      \
    if (result != 0) forget_newest_name();                                                                             \
    pthread_mutex_unlock(&undo_lock);                                                                                  \
  }                                                                                                                    \
  leave(pass);                                                                                                         \
  errno = saved;                                                                                                       \
  return result;

int rename(const char *from, const char *to) {
  CHANGES_NAMES(AT_FDCWD, from, AT_FDCWD, to, "rename", REAL(rename)(from, to))
}
int renameat(int d1, const char *from, int d2, const char *to) {
  CHANGES_NAMES(d1, from, d2, to, "renameat", REAL(renameat)(d1, from, d2, to))
}
int renameat2(int d1, const char *from, int d2, const char *to, unsigned flags) {
  CHANGES_NAMES(d1, from, d2, to, "renameat2", REAL(renameat2)(d1, from, d2, to, flags))
}
int unlink(const char *path) {
  const char *none = NULL;
  CHANGES_NAMES(AT_FDCWD, path, AT_FDCWD, none, "unlink", REAL(unlink)(path))
}
int unlinkat(int fd, const char *path, int flags) {
  const char *none = NULL;
  CHANGES_NAMES(fd, path, AT_FDCWD, none, "unlinkat", REAL(unlinkat)(fd, path, flags))
}
int link(const char *from, const char *to) { PLAIN(int, CLASS_FILE, -1, to, "link", REAL(link)(from, to)) }
int linkat(int d1, const char *from, int d2, const char *to, int flags) {
  PLAIN(int, CLASS_FILE, -1, to, "linkat", REAL(linkat)(d1, from, d2, to, flags))
}
int mkdir(const char *path, mode_t mode) { PLAIN(int, CLASS_FILE, -1, path, "mkdir", REAL(mkdir)(path, mode)) }
int mkdirat(int fd, const char *path, mode_t mode) {
  char buffer[4096];
  const char *full = full_path(fd, path, buffer, sizeof buffer);
  PLAIN(int, CLASS_FILE, -1, full, "mkdirat", REAL(mkdirat)(fd, path, mode))
}

static int opened(int directory, const char *path, int flags, mode_t mode, const char *name) {
  int changes = (flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE;
  char buffer[4096];
  const char *full = changes ? full_path(directory, path, buffer, sizeof buffer) : path;
  PLAIN(int, changes ? CLASS_FILE : CLASS_NONE, -1, full, name, REAL(openat)(directory, path, flags, mode))
}
#define MODE_ARGUMENT(flags)                                                                                           \
  mode_t mode = 0;                                                                                                     \
  if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) {                                                     \
    va_list rest;                                                                                                      \
    va_start(rest, flags);                                                                                             \
    mode = va_arg(rest, mode_t);                                                                                       \
    va_end(rest);                                                                                                      \
  }
int open(const char *path, int flags, ...) {
  MODE_ARGUMENT(flags)
  return opened(AT_FDCWD, path, flags, mode, "open");
}
int open64(const char *path, int flags, ...) {
  MODE_ARGUMENT(flags)
  return opened(AT_FDCWD, path, flags, mode, "open64");
}
int openat(int directory, const char *path, int flags, ...) {
  MODE_ARGUMENT(flags)
  return opened(directory, path, flags, mode, "openat");
}
int openat64(int directory, const char *path, int flags, ...) {
  MODE_ARGUMENT(flags)
  return opened(directory, path, flags, mode, "openat64");
}
int creat(const char *path, mode_t mode) {
  return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode, "creat");
}

/* openat2 has no function before glibc 2.43. Calls by this file itself pass here, too. */
long syscall(long which, ...) {
  va_list rest;
  va_start(rest, which);
  long a[6];
  for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
  va_end(rest);
  const struct open_how *how = which == SYS_openat2 ? (const struct open_how *)a[2] : NULL;
  if (!how || !(how->flags & (O_CREAT | O_TRUNC))) return REAL(syscall)(which, a[0], a[1], a[2], a[3], a[4], a[5]);
  char buffer[4096];
  const char *path = full_path((int)a[0], (const char *)a[1], buffer, sizeof buffer);
  PLAIN(long, CLASS_FILE, -1, path, "openat2", REAL(syscall)(which, a[0], a[1], a[2], a[3], a[4], a[5]))
}
