// A preload library that records every statement that a program gives to SQLite, with its values and steps, so that
// replay.c can do the same in C. It records one connection: the one that says BEGIN IMMEDIATE; others are left out.
// RECORD_TO names the log.
#define _GNU_SOURCE
#include "log.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };
static sqlite3_stmt *statements[MOST];
static FILE *log_file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool is_inside; // SQLite calls itself

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

// Every connection has its own log in memory until it is clear which one writes.
typedef struct {
  sqlite3 *db;
  char *text;
  size_t size;
  FILE *out;
  bool writes;
} journal;
static journal journals[64];

static journal *journal_of(sqlite3 *db) {
  for (int i = 0; i < 64; i++) {
    if (journals[i].db == db) return &journals[i];
    if (journals[i].db) continue;
    journals[i].db = db;
    journals[i].out = open_memstream(&journals[i].text, &journals[i].size);
    return &journals[i];
  }
  abort();
}

static void note(sqlite3 *db, uint8_t kind, int statement, int parameter, int64_t number, const void *bytes, size_t length) {
  if (is_inside) return;
  pthread_mutex_lock(&lock);
  journal *j = journal_of(db);
  event e = {kind, (uint16_t)statement, (uint16_t)parameter, (uint32_t)length, number};
  fwrite(&e, sizeof e, 1, j->out);
  if (length) fwrite(bytes, length, 1, j->out);
  if (kind == PREPARE && strstr(bytes, "BEGIN IMMEDIATE")) j->writes = true;
  pthread_mutex_unlock(&lock);
}

static int number_of(sqlite3_stmt *s) {
  for (int i = 0; i < MOST; i++) {
    if (statements[i] == s) return i;
  }
  return MOST;
}

static int take(sqlite3_stmt *s) {
  pthread_mutex_lock(&lock);
  int i = number_of(NULL);
  if (i == MOST) abort();
  statements[i] = s;
  pthread_mutex_unlock(&lock);
  return i;
}

static void prepared(sqlite3 *db, const char *sql, int length, sqlite3_stmt *s) {
  if (is_inside || !s) return;
  char *text = length < 0 ? strdup(sql) : strndup(sql, (size_t)length);
  note(db, PREPARE, take(s), 0, 0, text, strlen(text) + 1);
  free(text);
}

int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int length, sqlite3_stmt **s, const char **tail) {
  int code = REAL(sqlite3_prepare_v2)(db, sql, length, s, tail);
  if (code == SQLITE_OK) prepared(db, sql, length, *s);
  return code;
}

int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int length, unsigned flags, sqlite3_stmt **s, const char **tail) {
  int code = REAL(sqlite3_prepare_v3)(db, sql, length, flags, s, tail);
  if (code == SQLITE_OK) prepared(db, sql, length, *s);
  return code;
}

int sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *context, char **error) {
  note(db, EXECUTE, 0, 0, 0, sql, strlen(sql) + 1);
  bool before = is_inside;
  is_inside = true;
  int code = REAL(sqlite3_exec)(db, sql, row, context, error);
  is_inside = before;
  return code;
}

#define NOTE(kind, parameter, number, bytes, length) note(sqlite3_db_handle(s), kind, number_of(s), parameter, number, bytes, length)

int sqlite3_bind_int64(sqlite3_stmt *s, int i, sqlite3_int64 value) {
  NOTE(BIND_INTEGER, i, value, NULL, 0);
  return REAL(sqlite3_bind_int64)(s, i, value);
}

int sqlite3_bind_null(sqlite3_stmt *s, int i) {
  NOTE(BIND_NULL, i, 0, NULL, 0);
  return REAL(sqlite3_bind_null)(s, i);
}

int sqlite3_bind_zeroblob(sqlite3_stmt *s, int i, int length) {
  NOTE(BIND_ZERO, i, length, NULL, 0);
  return REAL(sqlite3_bind_zeroblob)(s, i, length);
}

int sqlite3_bind_text64(sqlite3_stmt *s, int i, const char *text, sqlite3_uint64 length, void (*end)(void *), unsigned char encoding) {
  NOTE(BIND_TEXT, i, 0, text, length);
  return REAL(sqlite3_bind_text64)(s, i, text, length, end, encoding);
}

int sqlite3_bind_blob64(sqlite3_stmt *s, int i, const void *bytes, sqlite3_uint64 length, void (*end)(void *)) {
  NOTE(BIND_BLOB, i, 0, bytes, length);
  return REAL(sqlite3_bind_blob64)(s, i, bytes, length, end);
}

int sqlite3_step(sqlite3_stmt *s) {
  bool before = is_inside;
  is_inside = true;
  int code = REAL(sqlite3_step)(s);
  is_inside = before;
  NOTE(STEP, 0, code, NULL, 0);
  return code;
}

int sqlite3_reset(sqlite3_stmt *s) {
  if (s) NOTE(RESET, 0, 0, NULL, 0);
  return REAL(sqlite3_reset)(s);
}

int sqlite3_finalize(sqlite3_stmt *s) {
  int number = s ? number_of(s) : MOST;
  if (number < MOST && !is_inside) {
    NOTE(FINALIZE, 0, 0, NULL, 0);
    statements[number] = NULL;
  }
  return REAL(sqlite3_finalize)(s);
}

__attribute__((destructor)) static void save(void) {
  const char *path = getenv("RECORD_TO");
  log_file = path ? fopen(path, "w") : NULL;
  for (int i = 0; i < 64 && journals[i].db; i++) {
    fflush(journals[i].out);
    if (journals[i].writes && log_file) fwrite(journals[i].text, journals[i].size, 1, log_file);
  }
  if (log_file) fclose(log_file);
}
