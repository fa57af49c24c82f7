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
