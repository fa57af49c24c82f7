#include "crc.h"

#include <string.h>

/// Processes eight bytes at a time with eight tables. The register is not inverted here.
static uint64_t by_tables(const crc_tables *t, uint64_t crc, const unsigned char *p, size_t n) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    memcpy(&word, p, 8);
    word ^= crc;
    crc = t->slice[7][word & 255] ^ t->slice[6][(word >> 8) & 255] ^ t->slice[5][(word >> 16) & 255] ^
          t->slice[4][(word >> 24) & 255] ^ t->slice[3][(word >> 32) & 255] ^ t->slice[2][(word >> 40) & 255] ^
          t->slice[1][(word >> 48) & 255] ^ t->slice[0][word >> 56];
  }
#endif
  for (; n > 0; p++, n--) crc = (crc >> 8) ^ t->slice[0][(crc ^ *p) & 255];
  return crc;
}

static uint64_t run(const crc_tables *t, uint64_t crc, const unsigned char *p, size_t n) {
  if (n >= 128 && crc_can_fold()) {
    unsigned char rest[16];
    size_t folded = n & ~(size_t)15;
    crc_fold(t, crc, p, folded, rest);
    crc = by_tables(t, 0, rest, sizeof rest);
    p += folded;
    n -= folded;
  }
  return by_tables(t, crc, p, n);
}

uint32_t cdigest_crc32(uint32_t crc, const void *bytes, size_t length) {
  return ~(uint32_t)run(&crc32_tables, (uint32_t)~crc, bytes, length);
}

uint32_t cdigest_crc32c(uint32_t crc, const void *bytes, size_t length) {
  return ~(uint32_t)run(&crc32c_tables, (uint32_t)~crc, bytes, length);
}

uint64_t cdigest_crc64nvme(uint64_t crc, const void *bytes, size_t length) {
  return ~run(&crc64nvme_tables, ~crc, bytes, length);
}

uint32_t cdigest_crc32_portable(uint32_t crc, const void *bytes, size_t length) {
  return ~(uint32_t)by_tables(&crc32_tables, (uint32_t)~crc, bytes, length);
}

uint32_t cdigest_crc32c_portable(uint32_t crc, const void *bytes, size_t length) {
  return ~(uint32_t)by_tables(&crc32c_tables, (uint32_t)~crc, bytes, length);
}

uint64_t cdigest_crc64nvme_portable(uint64_t crc, const void *bytes, size_t length) {
  return ~by_tables(&crc64nvme_tables, ~crc, bytes, length);
}

bool cdigest_is_accelerated(void) { return crc_can_fold(); }
