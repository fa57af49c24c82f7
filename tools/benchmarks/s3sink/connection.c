// Connections: one epoll loop per thread, level-triggered; TLS by OpenSSL on the same sockets.
#define _GNU_SOURCE
#include "sink.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static _Thread_local int poller;
static _Thread_local char *buffer;

static void watch(connection *c, int operation, bool wants_write) {
  struct epoll_event e = {.events = wants_write ? EPOLLOUT : EPOLLIN, .data.ptr = c};
  epoll_ctl(poller, operation, c->fd, &e);
}

static void end(connection *c) {
  if (c->ssl) SSL_free(c->ssl);
  close(c->fd);
  EVP_MD_CTX_free(c->sums.md5);
  EVP_MD_CTX_free(c->sums.sha256);
  free(c->body);
  free(c->out);
  free(c);
}

// Bytes read or written; 0 if it would block; -1 at the end or after an error.
static ssize_t outcome(connection *c, ssize_t n) {
  if (n > 0) return n;
  if (!c->ssl) return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
  int error = SSL_get_error(c->ssl, (int)n);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

static ssize_t receive(connection *c, char *bytes, size_t length) {
  return outcome(c, c->ssl ? SSL_read(c->ssl, bytes, (int)length) : recv(c->fd, bytes, length, 0));
}

// Returns false if the connection is lost.
static bool flush(connection *c) {
  while (c->out_sent < c->out_length) {
    const char *at = c->out + c->out_sent;
    size_t left = c->out_length - c->out_sent;
    ssize_t n = outcome(c, c->ssl ? SSL_write(c->ssl, at, (int)left) : send(c->fd, at, left, 0));
    if (n < 0) return false;
    if (n == 0) return watch(c, EPOLL_CTL_MOD, true), true;
    c->out_sent += (size_t)n;
  }
  if (c->out_length) c->out_length = c->out_sent = 0;
  return true;
}

static const char *reason(int status) {
  switch (status) {
  case 100: return "Continue";
  case 200: return "OK";
  case 204: return "No Content";
  case 400: return "Bad Request";
  case 404: return "Not Found";
  default: return "Not Implemented";
  }
}

static void append(connection *c, const char *bytes, size_t length) {
  c->out = realloc(c->out, c->out_length + length + 1);
  if (!c->out) abort();
  memcpy(c->out + c->out_length, bytes, length);
  c->out_length += length;
}

void answer(connection *c, int status, const char *fields, const char *text) {
  static _Atomic unsigned long number;
  char head[META_MAX + 1024], date[64];
  time_t now = time(NULL);
  strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&now, &(struct tm){0}));
  bool names_length = strstr(fields, "Content-Length:");
  int n = snprintf(head, sizeof head, "HTTP/1.1 %d %s\r\nServer: s3sink\r\nDate: %s\r\nx-amz-request-id: %08lX\r\n%s", status,
                   reason(status), date, ++number, fields);
  if (!names_length && status != 204) n += snprintf(head + n, sizeof head - (size_t)n, "Content-Length: %zu\r\n", strlen(text));
  append(c, head, (size_t)n);
  append(c, "\r\n", 2);
  if (strcmp(c->rq.method, "HEAD")) append(c, text, strlen(text));
}

// Handles the bytes in c->head: heads, and bodies or their beginnings. Returns false if the connection cannot continue.
static bool take_head(connection *c) {
  while (c->head_length && !c->is_in_body) {
    int used = parse_request(c);
    if (used < 0 || (used == 0 && c->head_length == HEAD_MAX)) {
      answer(c, 501, "Connection: close\r\n", "");
      flush(c);
      return false;
    }
    if (used == 0) return true;
    begin_body(c);
    c->left = c->rq.length;
    size_t here = c->head_length - (size_t)used;
    if ((int64_t)here > c->left) here = (size_t)c->left;
    if (c->rq.wants_continue && !here && c->left) append(c, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    if (here) take_body(c, c->head + used, here);
    c->left -= (int64_t)here;
    c->head_length -= (size_t)used + here;
    memmove(c->head, c->head + used + here, c->head_length);
    if (c->left == 0) end_request(c);
    else c->is_in_body = true;
  }
  return true;
}

static bool take_more(connection *c) {
  size_t taken = 0;
  while (taken < 4 * READ_SIZE || (c->ssl && SSL_has_pending(c->ssl))) {
    bool in_body = c->is_in_body;
    size_t room = in_body ? (c->left < READ_SIZE ? (size_t)c->left : READ_SIZE) : HEAD_MAX - c->head_length;
    ssize_t n = receive(c, in_body ? buffer : c->head + c->head_length, room);
    if (n <= 0) return n == 0;
    taken += (size_t)n;
    if (in_body) {
      take_body(c, buffer, (size_t)n);
      if ((c->left -= n) == 0) c->is_in_body = false, end_request(c);
    } else {
      c->head_length += (size_t)n;
      if (!take_head(c)) return false;
    }
    if (c->out_length && (!flush(c) || c->out_length)) return c->out_length > 0;
  }
  return true;
}

// Handles one event of a connection; returns false when the connection has ended.
static bool turn(connection *c, uint32_t events) {
  if (c->ssl && !c->is_ready) {
    int n = SSL_accept(c->ssl);
    if (n != 1) return outcome(c, n) == 0;
    c->is_ready = true;
  }
  if (events & EPOLLOUT) {
    if (!flush(c)) return false;
    if (c->out_length) return true;
    watch(c, EPOLL_CTL_MOD, false);
  }
  return take_more(c) && !(c->rq.wants_close && !c->is_in_body && !c->out_length && c->rq.method[0]);
}

static void welcome(int listener, SSL_CTX *tls) {
  int fd, yes = 1;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    connection *c = calloc(1, sizeof *c);
    if (!c) abort();
    c->fd = fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (tls) {
      c->ssl = SSL_new(tls);
      SSL_set_fd(c->ssl, fd);
    }
    watch(c, EPOLL_CTL_ADD, false);
  }
}

void serve(int listener, SSL_CTX *tls) {
  poller = epoll_create1(EPOLL_CLOEXEC);
  buffer = malloc(READ_SIZE);
  struct epoll_event events[64], own = {.events = EPOLLIN, .data.ptr = NULL};
  if (poller < 0 || !buffer || epoll_ctl(poller, EPOLL_CTL_ADD, listener, &own)) abort();
  for (;;) {
    int n = epoll_wait(poller, events, 64, -1);
    for (int i = 0; i < n; i++) {
      connection *c = events[i].data.ptr;
      if (!c) welcome(listener, tls);
      else if (!turn(c, events[i].events)) end(c);
    }
  }
}
