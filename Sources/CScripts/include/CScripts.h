#pragma once
#include <stddef.h>

/// The script that a task of Slurm runs, tools/slurm/transfers-array.sh; `*length` becomes its length in bytes.
const unsigned char *_Nonnull cscripts_slurm_task(size_t *_Nonnull length);
