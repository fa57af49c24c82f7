#include "CDigest.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

bool cdigest_random(uint8_t *bytes, size_t length) { return RAND_priv_bytes(bytes, (int)length) == 1; }

bool cdigest_ed25519_public(const uint8_t *seed, uint8_t *public_key) {
  EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, CDIGEST_ED25519_KEY);
  size_t length = CDIGEST_ED25519_KEY;
  bool made = key != NULL && EVP_PKEY_get_raw_public_key(key, public_key, &length) == 1;
  EVP_PKEY_free(key);
  return made && length == CDIGEST_ED25519_KEY;
}

bool cdigest_ed25519_sign(const uint8_t *seed, const void *bytes, size_t length, uint8_t *signature) {
  EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, CDIGEST_ED25519_KEY);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  size_t written = CDIGEST_ED25519_SIGNATURE;
  bool made = key != NULL && context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestSign(context, signature, &written, bytes, length) == 1;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(key);
  return made && written == CDIGEST_ED25519_SIGNATURE;
}

bool cdigest_ed25519_verify(const uint8_t *public_key, const void *bytes, size_t length, const uint8_t *signature) {
  EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, public_key, CDIGEST_ED25519_KEY);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  bool holds = key != NULL && context != NULL && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) == 1 &&
               EVP_DigestVerify(context, signature, CDIGEST_ED25519_SIGNATURE, bytes, length) == 1;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(key);
  return holds;
}
