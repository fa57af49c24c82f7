// launch COUNT COMMAND …: runs a command COUNT times in succession, with its stdout on /dev/null. Prints one line for
// each run: wall seconds, user seconds, system seconds, maximum resident KiB, exit status (128 + signal if killed).
//
// It is a separate program because Linux starts a child's `ru_maxrss` with the size of the process that called exec:
// compared with this one (1.5 MiB) everything that is measured is large; and because a start-up of some ms should not
// be timed from Python.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

static int run(char **words) {
  double began = now();
  pid_t pid = vfork();
  if (pid < 0) return perror("launch: vfork"), 70;
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // when this program ends, the command ends, too
    int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    execvp(words[0], words);
    _exit(127);
  }
  int status;
  struct rusage used;
  if (wait4(pid, &status, 0, &used) != pid) return perror("launch: wait4"), 70;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  printf("%.6f %.6f %.6f %ld %d\n", now() - began, seconds(used.ru_utime), seconds(used.ru_stime), used.ru_maxrss, code);
  fflush(stdout);
  return 0;
}

int main(int count, char **words) {
  if (count < 3 || atoi(words[1]) < 1) return fputs("launch COUNT COMMAND …\n", stderr), 64;
  for (int i = 0; i < atoi(words[1]); i++) {
    int failed = run(words + 2);
    if (failed) return failed;
  }
  return 0;
}
