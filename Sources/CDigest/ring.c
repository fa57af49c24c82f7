#include "CDigest.h"

#include <string.h>

// Uses words while at least one whole turn of the ring is left, so that the compiler can vectorize the loop.
void cdigest_xor_ring(uint8_t ring[160], uint64_t at, const void *bytes, size_t length) {
  const uint8_t *next = bytes;
  size_t place = at % 160;
  while (length > 0 && place != 0) {
    ring[place] ^= *next++;
    place = (place + 1) % 160;
    length--;
  }
  uint64_t words[20];
  memcpy(words, ring, sizeof words);
  for (; length >= 160; length -= 160, next += 160) {
    for (int i = 0; i < 20; i++) {
      uint64_t word;
      memcpy(&word, next + 8 * i, sizeof word);
      words[i] ^= word;
    }
  }
  memcpy(ring, words, sizeof words);
  for (size_t i = 0; i < length; i++) ring[i] ^= next[i];
}
