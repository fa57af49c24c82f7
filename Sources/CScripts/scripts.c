#include "CScripts.h"

// Clang knows #embed in every C standard, and only says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char slurm_task[] = {
#embed "../../tools/slurm/transfers-array.sh"
};

const unsigned char *cscripts_slurm_task(size_t *length) {
  *length = sizeof slurm_task;
  return slurm_task;
}
