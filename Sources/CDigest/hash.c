#include "CDigest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

struct cdigest_hash {
  EVP_MD_CTX *context;
  cdigest_kind kind;
};

static const char *const names[] = {"MD5", "SHA1", "SHA256", "SHA512"};
static EVP_MD *fetched[sizeof names / sizeof *names];

/// The algorithm, looked up once: an implicit fetch at every init costs more than hashing a short string. Two threads
/// may fetch the same one at the same time; the loser's is freed.
static const EVP_MD *algorithm(cdigest_kind kind) {
  EVP_MD *known = __atomic_load_n(&fetched[kind], __ATOMIC_ACQUIRE);
  if (known != NULL) return known;
  EVP_MD *mine = EVP_MD_fetch(NULL, names[kind], "-fips");  // MD5 is compared, not trusted: FIPS mode must not forbid it
  if (mine == NULL) return NULL;
  if (__atomic_compare_exchange_n(&fetched[kind], &known, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return mine;
  EVP_MD_free(mine);
  return known;
}

size_t cdigest_length(cdigest_kind kind) {
  switch (kind) {
  case CDIGEST_MD5: return 16;
  case CDIGEST_SHA1: return 20;
  case CDIGEST_SHA256: return 32;
  case CDIGEST_SHA512: return 64;
  }
  __builtin_unreachable();
}

static bool begin(cdigest_hash *hash) {
  const EVP_MD *md = algorithm(hash->kind);
  return md != NULL && EVP_DigestInit_ex(hash->context, md, NULL) == 1;
}

static cdigest_hash *allocate(cdigest_kind kind) {
  cdigest_hash *hash = malloc(sizeof *hash);
  if (hash == NULL) return NULL;
  hash->kind = kind;
  hash->context = EVP_MD_CTX_new();
  if (hash->context != NULL) return hash;
  free(hash);
  return NULL;
}

cdigest_hash *cdigest_hash_new(cdigest_kind kind) {
  cdigest_hash *hash = allocate(kind);
  if (hash == NULL || begin(hash)) return hash;
  cdigest_hash_free(hash);
  return NULL;
}

cdigest_hash *cdigest_hash_copy(const cdigest_hash *hash) {
  cdigest_hash *copy = allocate(hash->kind);
  if (copy == NULL || EVP_MD_CTX_copy_ex(copy->context, hash->context) == 1) return copy;
  cdigest_hash_free(copy);
  return NULL;
}

bool cdigest_hash_update(cdigest_hash *hash, const void *bytes, size_t length) {
  return length == 0 || EVP_DigestUpdate(hash->context, bytes, length) == 1;
}

bool cdigest_hash_final(cdigest_hash *hash, uint8_t *digest) {
  return EVP_DigestFinal_ex(hash->context, digest, NULL) == 1 && begin(hash);
}

void cdigest_hash_free(cdigest_hash *hash) {
  if (hash == NULL) return;
  EVP_MD_CTX_free(hash->context);
  free(hash);
}

bool cdigest_once(cdigest_kind kind, const void *bytes, size_t length, uint8_t *digest) {
  const EVP_MD *md = algorithm(kind);
  return md != NULL && EVP_Digest(bytes, length, digest, NULL, md, NULL) == 1;
}

bool cdigest_hmac_sha256(const void *key, size_t key_length, const void *bytes, size_t length, uint8_t *mac) {
  const EVP_MD *md = algorithm(CDIGEST_SHA256);
  // To libcrypto, a NULL key means "the previous key".
  return md != NULL && HMAC(md, key == NULL ? "" : key, (int)key_length, bytes, length, mac, NULL) != NULL;
}
