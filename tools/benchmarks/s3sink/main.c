// s3sink: an S3 server for benchmarks that is faster than its clients. It keeps only the length and the digests of each
// body, and forgets them all at the end.
//
// Usage: s3sink --port N [--strict] [--threads 1|2] [--tls CERT KEY]
//
// What its answers prove:
//   plain     computes the CRC-64/NVME of every body and part as it arrives (about 0.1 CPU s a GiB), checks
//             x-amz-checksum-crc64nvme if it was sent, and answers with it. Checks nothing else: not Content-MD5, not
//             x-amz-content-sha256, no signature. The ETag is the client's own Content-MD5 if it sent one (so that
//             clients which compare it are content), else made of the CRC: it proves nothing.
//   --strict  also computes the MD5 (the ETag, as S3 does), and checks Content-MD5, x-amz-content-sha256 with a digest,
//             x-amz-checksum-crc32c, the parts' ETags, their order and the least size of a part. Refuses checksums that
//             it cannot check.
// Neither checks signatures, versions, permissions or names of buckets.
//
// Besides S3 it answers: GET /-/objects (one line an object: key, bytes, CRC-64/NVME in hex, ETag), GET /-/counters,
// POST /-/reset. Not supported: reading objects back, ListParts, aws-chunked bodies.
#include "sink.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool is_strict;
_Atomic long counted[sizeof(counters) / sizeof(long)];

static _Noreturn void fail(const char *what) {
  perror(what);
  exit(70);
}

static int listen_on(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  // One listening socket per thread: the kernel distributes the connections.
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
  if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 1024)) fail("s3sink: listen");
  return fd;
}

static SSL_CTX *make_tls(const char *certificate, const char *key) {
  SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
  if (!tls || SSL_CTX_use_certificate_chain_file(tls, certificate) != 1 || SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1) {
    fputs("s3sink: cannot use the certificate and key\n", stderr);
    exit(78);
  }
  SSL_CTX_set_read_ahead(tls, 1);
  SSL_CTX_set_default_read_buffer_len(tls, 64 << 10);
  return tls;
}

typedef struct {
  int listener;
  SSL_CTX *tls;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  serve(w->listener, w->tls);
  return NULL;
}

int main(int count, char **words) {
  int port = 0, threads = 1;
  SSL_CTX *tls = NULL;
  for (int i = 1; i < count; i++) {
    if (!strcmp(words[i], "--port") && i + 1 < count) port = atoi(words[++i]);
    else if (!strcmp(words[i], "--threads") && i + 1 < count) threads = atoi(words[++i]);
    else if (!strcmp(words[i], "--strict")) is_strict = true;
    else if (!strcmp(words[i], "--tls") && i + 2 < count) tls = make_tls(words[i + 1], words[i + 2]), i += 2;
    else return fprintf(stderr, "s3sink: unknown argument \"%s\"; see the head of main.c\n", words[i]), 64;
  }
  if (port < 1 || port > 65535 || threads < 1 || threads > 2) return fputs("s3sink: --port 1-65535, --threads 1-2\n", stderr), 64;
  signal(SIGPIPE, SIG_IGN);
  worker workers[2];
  pthread_t thread;
  for (int i = 0; i < threads; i++) workers[i] = (worker){listen_on(port), tls};
  if (threads == 2 && pthread_create(&thread, NULL, work, &workers[1])) fail("s3sink: thread");
  work(&workers[0]);
}
