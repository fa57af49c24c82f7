#pragma once
#include <stdint.h>

#include "CSysCommand.h"
#include "CSysFiles.h"

#include "CSysStore.h"
#include "CSysWatch.h"

/// CLOCK_BOOTTIME in nanoseconds: monotonic, and continues while the machine is suspended.
int64_t csys_boottime_ns(void);
/// CLOCK_MONOTONIC in nanoseconds: the same without the time in which the machine was suspended (Linux).
int64_t csys_awake_ns(void);
/// CLOCK_THREAD_CPUTIME_ID in nanoseconds: user and system time of the calling thread.
int64_t csys_thread_ns(void);
/// CLOCK_PROCESS_CPUTIME_ID in nanoseconds: user and system time of all threads of this process.
int64_t csys_processor_ns(void);
/// CLOCK_REALTIME in nanoseconds since 1970 UTC. For display and HTTP dates only.
int64_t csys_realtime_ns(void);
