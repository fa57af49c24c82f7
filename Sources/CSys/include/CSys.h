#pragma once
#include <stdint.h>

#include "CSysCommand.h"
#include "CSysFiles.h"

#include "CSysStore.h"

/// CLOCK_BOOTTIME in nanoseconds: monotonic, and it continues while the machine sleeps.
int64_t csys_boottime_ns(void);
/// CLOCK_REALTIME in nanoseconds since 1970 UTC. For display and HTTP dates only.
int64_t csys_realtime_ns(void);
