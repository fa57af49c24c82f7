// The S3 operations that uploading clients need, based on the digests of what arrives.
#include "../../../Sources/CDigest/include/CDigest.h"
#include "sink.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *counter_names[] = {"puts",     "parts",           "creates",           "completes", "heads",     "lists", "others", "refused",        "bytes",
                                      "signed_payloads", "unsigned_payloads", "presigned", "anonymous", "md5s", "crc64s", "other_checksums"};

void begin_body(connection *c) {
  digests *d = &c->sums;
  d->crc64 = 0;
  d->crc32c = 0;
  d->has_crc32c = is_strict && c->rq.crc32c[0];
  d->has_sha256 = is_strict && strlen(c->rq.sha256) == 64;
  c->body_length = 0;
  if (!is_strict) return;
  if (!d->md5) d->md5 = EVP_MD_CTX_new(), d->sha256 = EVP_MD_CTX_new();
  EVP_DigestInit_ex(d->md5, EVP_md5(), NULL);
  if (d->has_sha256) EVP_DigestInit_ex(d->sha256, EVP_sha256(), NULL);
}

void take_body(connection *c, const char *bytes, size_t length) {
  digests *d = &c->sums;
  COUNT_BYTES(length);
  if (!strcmp(c->rq.method, "POST")) {
    if (c->body_length + length > BODY_MAX) return;
    c->body = realloc(c->body, c->body_length + length + 1);
    if (!c->body) abort();
    memcpy(c->body + c->body_length, bytes, length);
    c->body_length += length;
  }
  d->crc64 = cdigest_crc64nvme(d->crc64, bytes, length);
  if (d->has_crc32c) d->crc32c = cdigest_crc32c(d->crc32c, bytes, length);
  if (is_strict) EVP_DigestUpdate(d->md5, bytes, length);
  if (d->has_sha256) EVP_DigestUpdate(d->sha256, bytes, length);
}

static void base64(const unsigned char *bytes, size_t length, char *text) { EVP_EncodeBlock((unsigned char *)text, bytes, (int)length); }

static void big_endian(uint64_t value, size_t length, unsigned char *bytes) {
  for (size_t i = 0; i < length; i++) bytes[i] = (unsigned char)(value >> 8 * (length - 1 - i));
}

static void base64_of(uint64_t value, size_t length, char *text) {
  unsigned char bytes[8];
  big_endian(value, length, bytes);
  base64(bytes, length, text);
}

static void hex(const unsigned char *bytes, size_t length, char *text) {
  for (size_t i = 0; i < length; i++) sprintf(text + 2 * i, "%02x", bytes[i]);
}

static void refuse(connection *c, int status, const char *code) {
  char text[256];
  COUNT(refused);
  snprintf(text, sizeof text, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s</Message></Error>", code, code);
  answer(c, status, "Content-Type: application/xml\r\n", text);
}

static void count_integrity(const request *rq) {
  char ignored[8];
  if (strlen(rq->sha256) == 64) COUNT(signed_payloads);
  else if (rq->is_signed) COUNT(unsigned_payloads);
  else if (query_value(rq->query, "X-Amz-Signature", ignored, sizeof ignored)) COUNT(presigned);
  else COUNT(anonymous);
  if (rq->md5[0]) COUNT(md5s);
  if (rq->crc64[0]) COUNT(crc64s);
  if (rq->crc32c[0] || rq->other_checksum[0]) COUNT(other_checksums);
}

// Computes length, digests and ETag of a body that arrived completely; returns the S3 error code if it is not what the
// client announced.
static const char *judge_body(connection *c, stored *value) {
  const request *rq = &c->rq;
  digests *d = &c->sums;
  char text[80] = "";
  value->size = rq->length;
  value->crc64 = d->crc64;
  base64_of(d->crc64, 8, text);
  if (rq->crc64[0] && strcmp(rq->crc64, text)) return "BadDigest";
  if (!is_strict) {
    unsigned char md5[24];
    bool has_md5 = strlen(rq->md5) == 24 && EVP_DecodeBlock(md5, (const unsigned char *)rq->md5, 24) == 18;
    if (has_md5) hex(md5, 16, value->etag), memcpy(value->md5, md5, 16);
    else snprintf(value->etag, sizeof value->etag, "%016lx-1", d->crc64), big_endian(d->crc64, 8, value->md5);
    return NULL;
  }
  EVP_DigestFinal_ex(d->md5, value->md5, NULL);
  hex(value->md5, 16, value->etag);
  base64(value->md5, 16, text);
  if (rq->md5[0] && strcmp(rq->md5, text)) return "BadDigest";
  base64_of(d->crc32c, 4, text);
  if (d->has_crc32c && strcmp(rq->crc32c, text)) return "BadDigest";
  if (d->has_sha256) {
    unsigned char sha256[32];
    EVP_DigestFinal_ex(d->sha256, sha256, NULL);
    hex(sha256, 32, text);
    if (strcmp(rq->sha256, text)) return "XAmzContentSHA256Mismatch";
  }
  return rq->other_checksum[0] ? "NotImplemented" : NULL;
}

static void put(connection *c) {
  char id[64], number[16] = "0", fields[256], crc[16];
  stored value = {0};
  count_integrity(&c->rq);
  const char *error = judge_body(c, &value);
  if (error) return refuse(c, 400, error);
  if (query_value(c->rq.query, "uploadId", id, sizeof id)) {
    query_value(c->rq.query, "partNumber", number, sizeof number);
    if (!upload_part(id, atoi(number), &value)) return refuse(c, 404, "NoSuchUpload");
    COUNT(parts);
  } else {
    object_put(c->rq.path, c->rq.meta, &value);
    COUNT(puts);
  }
  base64_of(value.crc64, 8, crc);
  int used = snprintf(fields, sizeof fields, "ETag: \"%s\"\r\n", value.etag);
  // As S3 does: a client that sent a checksum gets it back.
  if (c->rq.crc64[0]) snprintf(fields + used, sizeof fields - (size_t)used, "x-amz-checksum-crc64nvme: %s\r\n", crc);
  answer(c, 200, fields, "");
}

static void create(connection *c) {
  char id[24], text[512];
  upload_begin(c->rq.path, c->rq.meta, id);
  COUNT(creates);
  snprintf(text, sizeof text, "<?xml version=\"1.0\"?><InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id);
  answer(c, 200, "Content-Type: application/xml\r\n", text);
}

static void complete(connection *c, const char *id) {
  char text[512], crc[16];
  stored value;
  if (!c->body_length) return refuse(c, 400, "MalformedXML");
  c->body[c->body_length] = 0;
  const char *error = upload_complete(id, c->rq.path, c->body, &value);
  if (error) return refuse(c, strcmp(error, "NoSuchUpload") ? 400 : 404, error);
  base64_of(value.crc64, 8, crc);
  if (c->rq.crc64[0] && strcmp(c->rq.crc64, crc)) return refuse(c, 400, "BadDigest");
  COUNT(completes);
  snprintf(text, sizeof text,
           "<?xml version=\"1.0\"?><CompleteMultipartUploadResult><ETag>&quot;%s&quot;</ETag><ChecksumCRC64NVME>%s</ChecksumCRC64NVME>"
           "<ChecksumType>FULL_OBJECT</ChecksumType></CompleteMultipartUploadResult>",
           value.etag, crc);
  answer(c, 200, "Content-Type: application/xml\r\n", text);
}

static void head(connection *c, bool is_bucket) {
  char fields[META_MAX + 512], meta[META_MAX], when[64], crc[16];
  stored value;
  time_t time;
  COUNT(heads);
  if (is_bucket) return answer(c, 200, "", "");
  if (!object_get(c->rq.path, &value, meta, &time)) return answer(c, 404, "", "");
  base64_of(value.crc64, 8, crc);
  strftime(when, sizeof when, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&time, &(struct tm){0}));
  snprintf(fields, sizeof fields, "Content-Length: %ld\r\nETag: \"%s\"\r\nLast-Modified: %s\r\nx-amz-checksum-crc64nvme: %s\r\n%s", (long)value.size,
           value.etag, when, crc, meta);
  answer(c, 200, fields, "");
}

static void list(connection *c, const char *bucket) {
  char prefix[1024] = "", token[32] = "";
  COUNT(lists);
  query_value(c->rq.query, "prefix", prefix, sizeof prefix);
  bool goes_on = query_value(c->rq.query, "continuation-token", token, sizeof token) || query_value(c->rq.query, "marker", token, sizeof token);
  long next = goes_on ? atol(token) : -1;
  char *contents = objects_list(bucket, prefix, &next), *text = NULL;
  char more[160] = "<IsTruncated>false</IsTruncated>";
  if (next >= 0) {
    snprintf(more, sizeof more, "<IsTruncated>true</IsTruncated><NextMarker>%ld</NextMarker><NextContinuationToken>%ld</NextContinuationToken>", next, next);
  }
  text = malloc(strlen(contents) + 512);
  if (!text) abort();
  sprintf(text, "<?xml version=\"1.0\"?><ListBucketResult>%s%s</ListBucketResult>", more, contents);
  answer(c, 200, "Content-Type: application/xml\r\n", text);
  free(text);
  free(contents);
}

// What the benchmark requests: see main.c.
static void tell(connection *c) {
  if (!strcmp(c->rq.path, "/-/reset")) {
    objects_reset();
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) counted[i] = 0;
    return answer(c, 200, "", "");
  }
  char *text = NULL, *at;
  if (!strcmp(c->rq.path, "/-/objects")) {
    text = objects_dump();
  } else {
    at = text = malloc(1024);
    if (!text) abort();
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) at += sprintf(at, "%s %ld\n", counter_names[i], counted[i]);
  }
  answer(c, 200, "", text);
  free(text);
}

static void get(connection *c, const char *bucket, bool is_bucket) {
  char ignored[8];
  if (!is_bucket) return refuse(c, 501, "NotImplemented");
  if (query_value(c->rq.query, "location", ignored, sizeof ignored)) {
    return answer(c, 200, "Content-Type: application/xml\r\n", "<?xml version=\"1.0\"?><LocationConstraint></LocationConstraint>");
  }
  if (query_value(c->rq.query, "uploads", ignored, sizeof ignored)) return refuse(c, 501, "NotImplemented");
  list(c, bucket);
}

void end_request(connection *c) {
  const char *method = c->rq.method, *key = strchr(c->rq.path + 1, '/');
  char id[64], bucket[64];
  bool is_bucket = !key || !key[1];
  snprintf(bucket, sizeof bucket, "%.*s", (int)strcspn(c->rq.path + 1, "/"), c->rq.path + 1);
  if (!strcmp(bucket, "-")) return tell(c);
  bool has_id = query_value(c->rq.query, "uploadId", id, sizeof id);
  if (!strcmp(method, "PUT") && is_bucket) answer(c, 200, "", "");
  else if (!strcmp(method, "PUT")) put(c);
  else if (!strcmp(method, "POST") && has_id) complete(c, id);
  else if (!strcmp(method, "POST") && query_value(c->rq.query, "uploads", id, sizeof id)) create(c);
  else if (!strcmp(method, "HEAD")) head(c, is_bucket);
  else if (!strcmp(method, "GET")) get(c, bucket, is_bucket);
  else if (!strcmp(method, "DELETE") && has_id) upload_abort(id) ? answer(c, 204, "", "") : refuse(c, 404, "NoSuchUpload");
  else if (!strcmp(method, "DELETE")) object_delete(c->rq.path), answer(c, 204, "", "");
  else COUNT(others), refuse(c, 501, "NotImplemented");
}
