#pragma once
#include <stdint.h>
#include <sys/types.h>

/// Starts a program, found in PATH, without a shell: in its own process group, with default signal handling, and with
/// `length` bytes of `input` as its standard input. Its standard error is discarded. `*output` is set to a nonblocking
/// descriptor for reading its standard output. Returns the process, or -1 with errno.
pid_t csys_command_start(char *const _Nullable *_Nonnull arguments, const void *_Nonnull input, int64_t length,
                         int *_Nonnull output);

/// The arguments of this process, its name first and NULL last, as the system passed them; NULL if it did not.
char *_Nullable const *_Nullable csys_arguments(void);

/// The environment of this process, each as `NAME=value`, NULL last; NULL if it has none. Nothing here changes it.
char *_Nullable const *_Nullable csys_environment(void);

/// Raises the limit of open files of this process to its hard limit, but at most to 65,536: nothing here needs more.
/// Programs started by csys_command_start() get the original limit.
void csys_raise_file_limit(void);

/// Kills all processes in the group of `process`.
void csys_command_kill(pid_t process);

/// Returns 1 when the process has ended, with its exit code in `*code`: 0 to 255, or -1 if a signal ended it or the
/// exit code is unknown. Returns 0 while it runs.
int csys_command_ended(pid_t process, int *_Nonnull code);
