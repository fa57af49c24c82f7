// The S3 sink of the benchmarks: see main.c for what it is and what it checks.
#pragma once
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { HEAD_MAX = 32768, BODY_MAX = 4 << 20, META_MAX = 2048, READ_SIZE = 256 << 10 };

// Counts of requests since the last reset, in the order of the names in main.c.
typedef struct {
  long puts, parts, creates, completes, heads, lists, others, refused, bytes;
  long signed_payloads, unsigned_payloads, presigned, anonymous, md5s, crc64s, other_checksums;
} counters;
extern _Atomic long counted[sizeof(counters) / sizeof(long)];
#define COUNT(field) (counted[offsetof(counters, field) / sizeof(long)]++)
#define COUNT_BYTES(n) (counted[offsetof(counters, bytes) / sizeof(long)] += (long)(n))

extern bool is_strict;

typedef struct {
  char method[8], path[4096], query[2048]; // the path decoded, the query not
  int64_t length;                          // of the body
  bool wants_continue, wants_close, is_signed, is_chunked;
  // Field values as received; empty if absent.
  char sha256[80], md5[32], crc64[24], crc32c[16], other_checksum[16], meta[META_MAX];
} request;

// The digests of one body: always CRC-64/NVME; in strict mode also the others, if the client named them or the ETag is
// made of them.
typedef struct {
  uint64_t crc64;
  uint32_t crc32c;
  EVP_MD_CTX *md5, *sha256;
  bool has_crc32c, has_sha256;
} digests;

typedef struct connection {
  int fd;
  SSL *ssl;
  bool is_ready, is_in_body;
  size_t head_length;
  request rq;
  int64_t left; // of the body
  digests sums;
  char *body; // kept for POST only
  size_t body_length;
  char *out;
  size_t out_length, out_sent;
  char head[HEAD_MAX + 1];
} connection;

// connection.c
void serve(int listener, SSL_CTX *tls);
// Sends one whole answer; `fields` are lines that end with \r\n, `text` is sent with its length.
void answer(connection *c, int status, const char *fields, const char *text);

// request.c: parses the head in c->head; returns its length in bytes, 0 if it is incomplete, -1 if it is invalid.
int parse_request(connection *c);
// The decoded value of a name in the query; returns false if it is absent.
bool query_value(const char *query, const char *name, char *value, size_t size);
void percent_decode(char *text);

// s3.c
void begin_body(connection *c);
void take_body(connection *c, const char *bytes, size_t length);
void end_request(connection *c);

// objects.c: what was stored, as counts and digests; locked inside.
typedef struct {
  int64_t size;
  uint64_t crc64;
  unsigned char md5[16];
  char etag[48];
} stored;
void objects_reset(void);
void object_put(const char *key, const char *meta, const stored *value);
// Returns false if there is none. `meta` has META_MAX bytes.
bool object_get(const char *key, stored *value, char *meta, time_t *when);
void object_delete(const char *key);
void upload_begin(const char *key, const char *meta, char id[24]);
bool upload_part(const char *id, int number, const stored *value);
bool upload_abort(const char *id);
// NULL if it succeeded, with the object in `value`; otherwise the S3 error code. `xml` is the body of the request.
const char *upload_complete(const char *id, const char *key, const char *xml, stored *value);
// Lines of key, size, CRC and ETag of all objects, separated by tabs; malloc'ed.
char *objects_dump(void);
// The <Contents> of a listing, at most 1000; malloc'ed. `token` is where to begin, and afterwards where to continue, -1
// at the end.
char *objects_list(const char *bucket, const char *prefix, long *token);
