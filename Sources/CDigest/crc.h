#pragma once
#include "CDigest.h"

// All CRCs are reflected: bit 0 of a register holds the highest power of x. A 32-bit CRC is in the low half of its
// 64-bit variable.

/// Constants that shift 128 bits of message by a distance d: x^(d+63) and x^(d-1) modulo the polynomial, reflected in
/// 64 bits. The exponents are one too low, because a reflected carry-less product has one power too many.
typedef struct fold_step {
  uint64_t low, high;
} fold_step;

/// Everything that depends on the polynomial; filled when the library is loaded.
typedef struct crc_tables {
  /// slice[k][b]: the CRC register after byte b and k zero bytes.
  uint64_t slice[8][256];
  /// x^(8 * 2^k) modulo the polynomial.
  uint64_t zeros[64];
  /// For distances of eight blocks of 16 bytes, and of one.
  fold_step by8, by1;
} crc_tables;

extern crc_tables crc32_tables, crc32c_tables, crc64nvme_tables;

/// Folds `length` (a multiple of 16, at least 128) bytes into 16 that have the same CRC when the register starts at
/// zero.
void crc_fold(const crc_tables *tables, uint64_t crc, const unsigned char *bytes, size_t length, unsigned char out[16]);
bool crc_can_fold(void);
