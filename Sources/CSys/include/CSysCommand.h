#pragma once
#include <stdint.h>
#include <sys/types.h>

/// Starts a program, found in PATH, without a shell: in a process group of its own, with the standard signals, and with
/// `length` bytes of `input` as its standard input. Its standard error goes nowhere. `*output` becomes a descriptor to
/// read its standard output from, which does not block. The process, or -1 with errno.
pid_t csys_command_start(char *const _Nullable *_Nonnull arguments, const void *_Nonnull input, int64_t length,
                         int *_Nonnull output);

/// Raises the limit of open files of this process to what it may have, and 65,536 at most: nothing here needs more.
/// Programs started by csys_command_start() get the limit that was there before.
void csys_raise_file_limit(void);

/// Ends all processes of the group of `process`.
void csys_command_kill(pid_t process);

/// 1 when the process has ended, with what it returned in `*code`: 0 to 255, or -1 for a signal or where nobody can
/// tell. 0 while it runs.
int csys_command_ended(pid_t process, int *_Nonnull code);
