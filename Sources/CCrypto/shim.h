#pragma once
// libcrypto for the receiver: it judges what a client sent, so it does not use the client's digests.
#include <openssl/evp.h>
