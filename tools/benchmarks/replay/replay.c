// replay LOG DATABASE: gives SQLite what record.c has recorded, in a program that does nothing else. The database must
// be in the state in which the recording began, so every step must end as it did then. Prints the wall and CPU seconds
// of all steps and binds from the first transaction on, and the number of commits. With a third argument: for each
// statement its runs, its share of the time in steps, wall microseconds a run, and the beginning of its text, the most
// expensive first.
#include "log.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *db;
enum { MOST = 4096 };
static sqlite3_stmt *statements[MOST];
static struct cost {
  double seconds;
  long runs;
  char sql[100];
} costs[MOST];

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static _Noreturn void stop(const char *what, const char *text) {
  fprintf(stderr, "replay: %s \"%.80s\": %s\n", what, text, db ? sqlite3_errmsg(db) : "");
  exit(70);
}

static char *load(const char *path, size_t *size) {
  FILE *file = fopen(path, "r");
  if (!file || fseek(file, 0, SEEK_END)) stop("cannot read", path);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size + 1);
  if (!bytes || fread(bytes, 1, *size, file) != *size) stop("cannot read", path);
  fclose(file);
  return bytes;
}

static int bind(const event *e, const char *bytes, sqlite3_stmt *s) {
  switch (e->kind) {
  case BIND_INTEGER: return sqlite3_bind_int64(s, e->parameter, e->number);
  case BIND_NULL: return sqlite3_bind_null(s, e->parameter);
  case BIND_ZERO: return sqlite3_bind_zeroblob(s, e->parameter, (int)e->number);
  // As in the program: SQLite makes its own copy.
  case BIND_TEXT: return sqlite3_bind_text64(s, e->parameter, bytes, e->length, SQLITE_TRANSIENT, SQLITE_UTF8);
  default: return sqlite3_bind_blob64(s, e->parameter, bytes, e->length, SQLITE_TRANSIENT);
  }
}

static void one_line(const char *sql, char *text, size_t size) {
  size_t used = 0;
  for (; *sql && used + 1 < size; sql++) {
    bool is_space = *sql == ' ' || *sql == '\n';
    if (!is_space || (used && text[used - 1] != ' ')) text[used++] = is_space ? ' ' : *sql;
  }
  text[used] = 0;
}

static int dearer(const void *a, const void *b) {
  double difference = ((const struct cost *)b)->seconds - ((const struct cost *)a)->seconds;
  return (difference > 0) - (difference < 0);
}

static void show_costs(void) {
  double all = 0;
  for (int i = 0; i < MOST; i++) all += costs[i].seconds;
  qsort(costs, MOST, sizeof *costs, dearer);
  for (int i = 0; i < MOST && costs[i].seconds > all / 200; i++) {
    printf("%7ld runs %5.1f %% %8.1f us  %s\n", costs[i].runs, 100 * costs[i].seconds / all, costs[i].seconds / (double)costs[i].runs * 1e6, costs[i].sql);
  }
}

static void play(const event *e, const char *bytes) {
  sqlite3_stmt **s = &statements[e->statement];
  switch (e->kind) {
  case PREPARE:
    if (sqlite3_prepare_v3(db, bytes, -1, SQLITE_PREPARE_PERSISTENT, s, NULL)) stop("cannot prepare", bytes);
    break;
  case EXECUTE: sqlite3_exec(db, bytes, NULL, NULL, NULL); break;
  case STEP: {
    double began = seconds(CLOCK_MONOTONIC);
    if (sqlite3_step(*s) != e->number) stop("unexpected result of", sqlite3_sql(*s));
    struct cost *cost = &costs[e->statement];
    cost->seconds += seconds(CLOCK_MONOTONIC) - began;
    if (!cost->runs++) one_line(sqlite3_sql(*s), cost->sql, sizeof cost->sql);
    break;
  }
  case RESET: sqlite3_reset(*s); break;
  case FINALIZE:
    sqlite3_finalize(*s);
    *s = NULL;
    break;
  default:
    if (bind(e, bytes, *s)) stop("cannot bind", sqlite3_sql(*s));
  }
}

int main(int count, char **words) {
  if (count < 3) return fputs("replay LOG DATABASE [each]\n", stderr), 64;
  size_t size, at = 0;
  char *log = load(words[1], &size);
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); // as in the program
  if (sqlite3_open_v2(words[2], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)) stop("cannot open", words[2]);
  double wall = 0, cpu = 0;
  long commits = 0;
  while (at < size) {
    event e;
    memcpy(&e, log + at, sizeof e);
    const char *bytes = log + at + sizeof e;
    at += sizeof e + e.length;
    const char *sql = e.kind == STEP ? sqlite3_sql(statements[e.statement]) : "";
    if (!wall && !strcmp(sql, "BEGIN IMMEDIATE")) wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    commits += !strcmp(sql, "COMMIT");
    play(&e, bytes);
  }
  if (count > 3) return show_costs(), 0;
  printf("wall_s %.6f\ncpu_s %.6f\ncommits %ld\n", seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, commits);
  return 0;
}
