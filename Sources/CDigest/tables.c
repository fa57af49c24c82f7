#include "crc.h"

crc_tables crc32_tables, crc32c_tables, crc64nvme_tables;

typedef struct polynomial {
  uint64_t reflected;
  int width;
} polynomial;

static const polynomial ieee = {0xEDB88320u, 32};
static const polynomial castagnoli = {0x82F63B78u, 32};
static const polynomial nvme = {0x9A6C9329AC4BC9B5u, 64};

/// Processes one zero bit of message: multiplies the register by x.
static uint64_t times_x(polynomial p, uint64_t a) { return (a >> 1) ^ (p.reflected & (0 - (a & 1))); }

static uint64_t multiply(polynomial p, uint64_t a, uint64_t b) {
  uint64_t product = 0;
  for (int bit = p.width - 1; bit >= 0; bit--) {
    product ^= b & (0 - ((a >> bit) & 1));
    b = times_x(p, b);
  }
  return product;
}

static uint64_t one(polynomial p) { return (uint64_t)1 << (p.width - 1); }

/// x^n, in the upper bits of 64, so that both widths can be folded in the same way.
static uint64_t fold_constant(polynomial p, unsigned n) {
  uint64_t power = one(p);
  while (n-- > 0) power = times_x(p, power);
  return power << (64 - p.width);
}

static void fill(crc_tables *t, polynomial p) {
  for (unsigned byte = 0; byte < 256; byte++) {
    uint64_t crc = byte;
    for (int k = 0; k < 8; k++) crc = times_x(p, crc);
    t->slice[0][byte] = crc;
  }
  for (unsigned byte = 0; byte < 256; byte++)
    for (int k = 1; k < 8; k++) {
      uint64_t crc = t->slice[k - 1][byte];
      t->slice[k][byte] = (crc >> 8) ^ t->slice[0][crc & 255];
    }
  t->zeros[0] = one(p);
  for (int k = 0; k < 8; k++) t->zeros[0] = times_x(p, t->zeros[0]);
  for (int k = 1; k < 64; k++) t->zeros[k] = multiply(p, t->zeros[k - 1], t->zeros[k - 1]);
  t->by8 = (fold_step){fold_constant(p, 1024 + 63), fold_constant(p, 1024 - 1)};
  t->by1 = (fold_step){fold_constant(p, 128 + 63), fold_constant(p, 128 - 1)};
}

// Filled at load time and not on first use: this takes some microseconds, and avoids a lock on the read path.
__attribute__((constructor)) static void fill_tables(void) {
  fill(&crc32_tables, ieee);
  fill(&crc32c_tables, castagnoli);
  fill(&crc64nvme_tables, nvme);
}

static uint64_t combine(const crc_tables *t, polynomial p, uint64_t a, uint64_t b, uint64_t length_b) {
  for (int k = 0; length_b != 0; k++, length_b >>= 1)
    if (length_b & 1) a = multiply(p, t->zeros[k], a);
  return a ^ b;
}

uint32_t cdigest_crc32_combine(uint32_t crc_a, uint32_t crc_b, uint64_t length_b) {
  return (uint32_t)combine(&crc32_tables, ieee, crc_a, crc_b, length_b);
}

uint32_t cdigest_crc32c_combine(uint32_t crc_a, uint32_t crc_b, uint64_t length_b) {
  return (uint32_t)combine(&crc32c_tables, castagnoli, crc_a, crc_b, length_b);
}

uint64_t cdigest_crc64nvme_combine(uint64_t crc_a, uint64_t crc_b, uint64_t length_b) {
  return combine(&crc64nvme_tables, nvme, crc_a, crc_b, length_b);
}
