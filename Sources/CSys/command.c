#define _GNU_SOURCE
#include "CSysCommand.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

char *const *csys_environment(void) { return environ; }

static char **process_arguments;

// The C libraries of Linux with dynamic linking, and of macOS, pass the arguments of main() to constructors.
__attribute__((constructor)) static void keep_arguments(int count, char **arguments) {
  if (count > 0) process_arguments = arguments;
}

char *const *csys_arguments(void) { return process_arguments; }

// The limit before it was raised; 0 if it was not raised.
static _Atomic(rlim_t) usual_file_limit;

void csys_raise_file_limit(void) {
  const rlim_t most = 65536;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t usual = limit.rlim_cur, raised = limit.rlim_max < most ? limit.rlim_max : most;
  if (usual >= raised) return;
  limit.rlim_cur = raised;
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) atomic_store(&usual_file_limit, usual);
}

// Programs that use select(2) cannot use descriptors of 1024 and above. posix_spawn(3) cannot set limits: this one may
// be set a moment after the program started, before it can have opened that many.
static void restore_file_limit(pid_t process) {
  struct rlimit limit;
  const rlim_t usual = atomic_load(&usual_file_limit);
  if (usual == 0 || prlimit(process, RLIMIT_NOFILE, NULL, &limit) != 0) return;
  limit.rlim_cur = usual;
  prlimit(process, RLIMIT_NOFILE, &limit, NULL);
}

// A file in memory, so that a program that does not read it blocks nobody.
static int file_of(const void *input, int64_t length) {
  int fd = memfd_create("input", MFD_CLOEXEC);
  if (fd < 0) return -1;
  if (write(fd, input, (size_t)length) == length && lseek(fd, 0, SEEK_SET) == 0) return fd;
  close(fd);
  return -1;
}

static int spawn(pid_t *process, char *const *arguments, int in, int out) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  // Libraries may have opened other descriptors that would be inherited.
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  int error = posix_spawnp(process, arguments[0], &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

pid_t csys_command_start(char *const *arguments, const void *input, int64_t length, int *output) {
  int ends[2], in = file_of(input, length);
  if (in < 0) return -1;
  if (pipe2(ends, O_CLOEXEC) != 0) {
    close(in);
    return -1;
  }
  pid_t process = -1;
  int error = fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? spawn(&process, arguments, in, ends[1]) : errno;
  close(in);
  close(ends[1]);
  if (error == 0) {
    restore_file_limit(process);
    *output = ends[0];
    return process;
  }
  close(ends[0]);
  errno = error;
  return -1;
}

void csys_command_kill(pid_t process) { kill(-process, SIGKILL); }

int csys_command_ended(pid_t process, int *code) {
  int status = 0;
  pid_t ended;
  do ended = waitpid(process, &status, WNOHANG);
  while (ended < 0 && errno == EINTR);
  if (ended == 0) return 0;
  *code = ended == process && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return 1;
}
