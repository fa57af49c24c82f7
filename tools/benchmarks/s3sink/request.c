// The head of a request: the few fields that matter to the sink, all of them bounded.
#include "sink.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void percent_decode(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++, to++) {
    if (*from == '%' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2])) {
      char hex[3] = {from[1], from[2], 0};
      *to = (char)strtol(hex, NULL, 16);
      from += 2;
    } else {
      *to = *from;
    }
  }
  *to = 0;
}

bool query_value(const char *query, const char *name, char *value, size_t size) {
  size_t length = strlen(name);
  for (const char *at = query; *at; at += strcspn(at, "&"), at += *at == '&') {
    if (strncmp(at, name, length) || !strchr("=&", at[length])) continue;
    const char *from = at + length + (at[length] == '=');
    snprintf(value, size, "%.*s", (int)strcspn(from, "&"), from);
    percent_decode(value);
    return true;
  }
  return false;
}

static bool is_named(const char *line, const char *name) { return !strncasecmp(line, name, strlen(name)); }

static void keep_meta(request *rq, const char *line) {
  size_t used = strlen(rq->meta);
  if (used + strlen(line) + 3 < META_MAX) snprintf(rq->meta + used, META_MAX - used, "%s\r\n", line);
}

#define KEEP(field) (void)snprintf(rq->field, sizeof rq->field, "%s", value)

static void take_field(request *rq, char *line) {
  char *colon = strchr(line, ':');
  if (!colon) return;
  const char *value = colon + 1 + strspn(colon + 1, " \t");
  if (is_named(line, "content-length:")) rq->length = atoll(value);
  else if (is_named(line, "expect:")) rq->wants_continue = is_named(value, "100-continue");
  else if (is_named(line, "connection:")) rq->wants_close = is_named(value, "close");
  else if (is_named(line, "transfer-encoding:")) rq->is_chunked = true;
  else if (is_named(line, "authorization:")) rq->is_signed = true;
  else if (is_named(line, "content-md5:")) KEEP(md5);
  else if (is_named(line, "x-amz-content-sha256:")) KEEP(sha256);
  else if (is_named(line, "x-amz-checksum-crc64nvme:")) KEEP(crc64);
  else if (is_named(line, "x-amz-checksum-crc32c:")) KEEP(crc32c);
  else if (is_named(line, "x-amz-checksum-crc32:") || is_named(line, "x-amz-checksum-sha")) KEEP(other_checksum);
  else if (is_named(line, "x-amz-meta-")) keep_meta(rq, line);
}

static bool take_start(request *rq, char *line) {
  char target[sizeof rq->path];
  if (sscanf(line, "%7s %4095s HTTP/1.1", rq->method, target) != 2 || target[0] != '/') return false;
  char *mark = strchr(target, '?');
  if (mark) *mark = 0;
  snprintf(rq->query, sizeof rq->query, "%s", mark ? mark + 1 : "");
  snprintf(rq->path, sizeof rq->path, "%s", target);
  percent_decode(rq->path);
  return true;
}

int parse_request(connection *c) {
  c->head[c->head_length] = 0;
  char *end = strstr(c->head, "\r\n\r\n");
  if (!end) return 0;
  memset(&c->rq, 0, sizeof c->rq);
  bool is_first = true;
  for (char *line = c->head; line < end + 2;) {
    char *next = strstr(line, "\r\n");
    *next = 0;
    if (is_first ? !take_start(&c->rq, line) : (take_field(&c->rq, line), false)) return -1;
    is_first = false;
    line = next + 2;
  }
  // Neither chunked nor aws-chunked bodies are supported.
  if (c->rq.is_chunked || c->rq.length < 0 || is_named(c->rq.sha256, "STREAMING-")) return -1;
  return (int)(end + 4 - c->head);
}
