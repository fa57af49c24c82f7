#pragma once
#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli, reflected 82F63B78) of `length` bytes, continued from `crc` (0 to start).
uint32_t cdigest_crc32c(uint32_t crc, const void *_Nullable bytes, size_t length);
