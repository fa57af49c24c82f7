#include "CDigest.h"

uint32_t cdigest_crc32c(uint32_t crc, const void *bytes, size_t length) {
  const unsigned char *p = bytes;
  crc = ~crc;
  for (size_t i = 0; i < length; i++) {
    crc ^= p[i];
    for (int k = 0; k < 8; k++) crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1)));
  }
  return ~crc;
}
