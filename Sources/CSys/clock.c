#define _GNU_SOURCE
#include "CSys.h"

#include <time.h>

static int64_t read_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t csys_boottime_ns(void) { return read_clock(CLOCK_BOOTTIME); }

int64_t csys_awake_ns(void) { return read_clock(CLOCK_MONOTONIC); }

int64_t csys_thread_ns(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

int64_t csys_processor_ns(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

int64_t csys_realtime_ns(void) { return read_clock(CLOCK_REALTIME); }
