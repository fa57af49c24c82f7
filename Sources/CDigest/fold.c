#include "crc.h"

// Folding by carry-less multiplication: Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ",
// Intel 2009. Eight independent lanes hide the latency of the multiplication.

#if defined(__x86_64__)
#include <immintrin.h>

#define CLMUL __attribute__((target("pclmul,sse4.1")))

bool crc_can_fold(void) { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"); }

CLMUL static inline __m128i carry(__m128i lane, __m128i step, __m128i next) {
  __m128i first = _mm_clmulepi64_si128(lane, step, 0x00);
  __m128i second = _mm_clmulepi64_si128(lane, step, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, second), next);
}

CLMUL static inline __m128i load(const unsigned char *p) { return _mm_loadu_si128((const __m128i *)p); }

CLMUL void crc_fold(
    const crc_tables *t, uint64_t crc, const unsigned char *p, size_t n, unsigned char out[16]) {
  __m128i by8 = _mm_set_epi64x((long long)t->by8.high, (long long)t->by8.low);
  __m128i by1 = _mm_set_epi64x((long long)t->by1.high, (long long)t->by1.low);
  __m128i lane[8];
  for (int i = 0; i < 8; i++) lane[i] = load(p + 16 * i);
  lane[0] = _mm_xor_si128(lane[0], _mm_set_epi64x(0, (long long)crc));
  for (p += 128, n -= 128; n >= 128; p += 128, n -= 128)
    for (int i = 0; i < 8; i++) lane[i] = carry(lane[i], by8, load(p + 16 * i));
  __m128i sum = lane[0];
  for (int i = 1; i < 8; i++) sum = carry(sum, by1, lane[i]);
  for (; n >= 16; p += 16, n -= 16) sum = carry(sum, by1, load(p));
  _mm_storeu_si128((__m128i *)out, sum);
}

#else

bool crc_can_fold(void) { return false; }

void crc_fold(
    const crc_tables *tables, uint64_t crc, const unsigned char *bytes, size_t length, unsigned char out[16]) {
  (void)tables, (void)crc, (void)bytes, (void)length, (void)out;
  __builtin_trap();
}

#endif
