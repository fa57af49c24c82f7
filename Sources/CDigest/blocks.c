#include "CDigest.h"

#include <string.h>

static uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

static uint32_t word(const uint8_t *bytes, int i) {
  const uint8_t *p = bytes + 4 * i;
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

// The three rounds of RFC 1320 section 3.4 over 64 bytes.
static void mix(uint32_t state[4], const uint8_t *bytes) {
  static const int shifts[3][4] = {{3, 7, 11, 19}, {3, 5, 9, 13}, {3, 9, 11, 15}};
  static const int order[3][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15}, {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15}};
  uint32_t words[16], a = state[0], b = state[1], c = state[2], d = state[3];
  for (int i = 0; i < 16; i++) words[i] = word(bytes, i);
  for (int i = 0; i < 16; i++) {
    uint32_t next = rotated(a + ((b & c) | (~b & d)) + words[order[0][i]], shifts[0][i % 4]);
    a = d, d = c, c = b, b = next;
  }
  for (int i = 0; i < 16; i++) {
    uint32_t most = (b & c) | (b & d) | (c & d);
    uint32_t next = rotated(a + most + words[order[1][i]] + 0x5A827999, shifts[1][i % 4]);
    a = d, d = c, c = b, b = next;
  }
  for (int i = 0; i < 16; i++) {
    uint32_t next = rotated(a + (b ^ c ^ d) + words[order[2][i]] + 0x6ED9EBA1, shifts[2][i % 4]);
    a = d, d = c, c = b, b = next;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

void cdigest_md4(const void *bytes, size_t length, uint8_t *digest) {
  uint32_t state[4] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};
  const uint8_t *next = bytes;
  size_t left = length;
  for (; left >= 64; left -= 64, next += 64) mix(state, next);
  uint8_t end[128] = {0};
  if (left > 0) memcpy(end, next, left);
  end[left] = 0x80;
  size_t size = left < 56 ? 64 : 128;
  for (int i = 0; i < 8; i++) end[size - 8 + i] = (uint8_t)((uint64_t)length * 8 >> 8 * i);
  for (size_t at = 0; at < size; at += 64) mix(state, end + at);
  for (int i = 0; i < 16; i++) digest[i] = (uint8_t)(state[i / 4] >> 8 * (i % 4));
}

uint32_t cdigest_block_sum(const uint8_t *bytes, size_t length) {
  uint16_t a = 0, b = 0;
  for (size_t i = 0; i < length; i++) {
    a += bytes[i];
    b += (uint16_t)((length - i) * bytes[i]);
  }
  return (uint32_t)a << 16 | b;
}

/// The sum of a block that begins a byte later.
static uint32_t moved(uint32_t sum, unsigned shift, uint8_t old, uint8_t new) {
  uint16_t a = (uint16_t)((sum >> 16) - old + new);
  uint16_t b = (uint16_t)(sum - ((uint32_t)old << shift) + a);
  return (uint32_t)a << 16 | b;
}

static bool holds(const cdigest_block_filter *filter, const cdigest_block_sums *sums) {
  uint32_t second = filter->pairs ? sums->second & filter->mask : 0;
  uint32_t slot = cdigest_block_slot(sums->first & filter->mask, second, filter->bits);
  return (filter->slots[slot / 64] >> slot % 64 & 1) != 0;
}

size_t cdigest_find_block(
    const uint8_t *bytes, size_t from, size_t count, const cdigest_block_filter *filter, cdigest_block_sums *sums) {
  size_t length = (size_t)1 << filter->shift;
  for (size_t at = 0;; at++) {
    if (at >= count) return at;
    if (at >= from && holds(filter, sums)) return at;
    sums->first = moved(sums->first, filter->shift, bytes[at], bytes[at + length]);
    if (filter->pairs) {
      sums->second = moved(sums->second, filter->shift, bytes[at + length], bytes[at + 2 * length]);
    }
  }
}
