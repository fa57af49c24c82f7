#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Checksums and digests. All functions may be called from any thread; none blocks, allocates memory implicitly (except
// for hash contexts), or keeps a pointer.

/// CRC-32 (of Ethernet, zip and zlib: reflected EDB88320) of `length` bytes, continued from `crc` (0 to start).
uint32_t cdigest_crc32(uint32_t crc, const void *_Nullable bytes, size_t length);
/// CRC-32C (Castagnoli, reflected 82F63B78) of `length` bytes, continued from `crc` (0 to start).
uint32_t cdigest_crc32c(uint32_t crc, const void *_Nullable bytes, size_t length);
/// CRC-64/NVME (reflected 9A6C9329AC4BC9B5) of `length` bytes, continued from `crc` (0 to start).
uint64_t cdigest_crc64nvme(uint64_t crc, const void *_Nullable bytes, size_t length);

/// The CRC-32 of A followed by B, from the CRC of each and the length of B in bytes.
uint32_t cdigest_crc32_combine(uint32_t crc_a, uint32_t crc_b, uint64_t length_b);
/// The CRC-32C of A followed by B, from the CRC of each and the length of B in bytes.
uint32_t cdigest_crc32c_combine(uint32_t crc_a, uint32_t crc_b, uint64_t length_b);
/// The CRC-64/NVME of A followed by B, from the CRC of each and the length of B in bytes.
uint64_t cdigest_crc64nvme_combine(uint64_t crc_a, uint64_t crc_b, uint64_t length_b);

/// The same as above without special instructions: used on processors that lack them, and as the reference in tests.
uint32_t cdigest_crc32_portable(uint32_t crc, const void *_Nullable bytes, size_t length);
uint32_t cdigest_crc32c_portable(uint32_t crc, const void *_Nullable bytes, size_t length);
uint64_t cdigest_crc64nvme_portable(uint64_t crc, const void *_Nullable bytes, size_t length);
/// True when the CRCs use carry-less multiplication on this processor.
bool cdigest_is_accelerated(void);

/// XORs `length` bytes into a ring of 160 bytes: the first of them at `at` modulo 160. QuickXorHash is computed from
/// it.
void cdigest_xor_ring(uint8_t ring[_Nonnull 160], uint64_t at, const void *_Nullable bytes, size_t length);

/// The cryptographic digests of libcrypto that the ledger can name.
typedef enum __attribute__((enum_extensibility(closed))) cdigest_kind {
  CDIGEST_MD5 __attribute__((swift_name("md5"))),
  CDIGEST_SHA1 __attribute__((swift_name("sha1"))),
  CDIGEST_SHA256 __attribute__((swift_name("sha256"))),
  CDIGEST_SHA512 __attribute__((swift_name("sha512"))),
} cdigest_kind;

/// The length of the longest digest in bytes.
enum { CDIGEST_MAX_LENGTH = 64 };

/// A running digest. Used by one thread at a time.
typedef struct cdigest_hash cdigest_hash;

/// Length of the digest in bytes: 16, 20, 32 or 64.
size_t cdigest_length(cdigest_kind kind);
/// A new context; NULL when memory is exhausted or libcrypto refuses the algorithm. Released by `cdigest_hash_free`.
cdigest_hash *_Nullable cdigest_hash_new(cdigest_kind kind);
/// A copy of the context in the same state; NULL as above.
cdigest_hash *_Nullable cdigest_hash_copy(const cdigest_hash *_Nonnull hash);
/// Adds `length` more bytes. False when libcrypto fails, which it does not for a live context.
bool cdigest_hash_update(cdigest_hash *_Nonnull hash, const void *_Nullable bytes, size_t length);
/// Writes the digest of all bytes added (`cdigest_length` bytes); the context is empty afterwards, like a new one.
bool cdigest_hash_final(cdigest_hash *_Nonnull hash, uint8_t *_Nonnull digest);
void cdigest_hash_free(cdigest_hash *_Nullable hash);

/// The digest of one buffer (`cdigest_length` bytes into `digest`).
bool cdigest_once(cdigest_kind kind, const void *_Nullable bytes, size_t length, uint8_t *_Nonnull digest);
/// HMAC with SHA-256 (RFC 2104): 32 bytes into `mac`.
bool cdigest_hmac_sha256(
    const void *_Nullable key, size_t key_length, const void *_Nullable bytes, size_t length, uint8_t *_Nonnull mac);

/// Lengths for Ed25519 (RFC 8032) in bytes: of a seed or public key, and of a signature.
enum { CDIGEST_ED25519_KEY = 32, CDIGEST_ED25519_SIGNATURE = 64 };

/// Random bytes for a secret, from libcrypto's generator; false when the system provides no entropy.
bool cdigest_random(uint8_t *_Nonnull bytes, size_t length);
/// The public key of a seed.
bool cdigest_ed25519_public(const uint8_t *_Nonnull seed, uint8_t *_Nonnull public_key);
/// Signs `length` bytes with the key of `seed`.
bool cdigest_ed25519_sign(
    const uint8_t *_Nonnull seed, const void *_Nullable bytes, size_t length, uint8_t *_Nonnull signature);
/// Whether the signature of these bytes is valid for this key.
bool cdigest_ed25519_verify(
    const uint8_t *_Nonnull public_key, const void *_Nullable bytes, size_t length, const uint8_t *_Nonnull signature);

/// MD4 (RFC 1320): 16 bytes into `digest`. It proves nothing, because it can be forged; `.zsync` files have it, and
/// libcrypto only in a provider that is not loaded.
void cdigest_md4(const void *_Nullable bytes, size_t length, uint8_t *_Nonnull digest);

/// The rolling checksum of rsync and zsync: in the upper half the sum of the bytes, in the lower half the sum of all
/// sums from each byte to the last; both modulo 65,536.
uint32_t cdigest_block_sum(const uint8_t *_Nonnull bytes, size_t length);

/// The sums of two blocks that follow each other.
typedef struct cdigest_block_sums {
  uint32_t first, second;
} cdigest_block_sums;

/// Sums that are searched for: a bitmap of 2^`bits` slots (``cdigest_block_slot``), at least 64.
typedef struct cdigest_block_filter {
  const uint64_t *_Nonnull slots;
  unsigned bits;
  /// The length of a block is 2^`shift`.
  unsigned shift;
  /// The bits of a sum that count.
  uint32_t mask;
  /// The sums of two consecutive blocks are searched for together.
  bool pairs;
} cdigest_block_filter;

/// The slot of the masked sums of a block and the next one, or 0 for the next.
static inline uint32_t cdigest_block_slot(uint32_t first, uint32_t second, unsigned bits) {
  uint64_t mixed = (first * 0x9E3779B97F4A7C15u) ^ ((second + 1) * 0xC2B2AE3D27D4EB4Fu);
  return (uint32_t)((mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9u >> (64 - bits));
}

/// The first position of a window, from `from` to below `count`, whose block has a searched sum; `count` if there is
/// none. `sums` are those at position 0, and afterwards those at the returned position. Reads `count` bytes and two
/// blocks behind them.
size_t cdigest_find_block(
    const uint8_t *_Nonnull bytes, size_t from, size_t count, const cdigest_block_filter *_Nonnull filter,
    cdigest_block_sums *_Nonnull sums);
