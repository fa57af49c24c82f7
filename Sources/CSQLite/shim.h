#pragma once
#include <sqlite3.h>
#include <stddef.h>

// sqlite3_db_config is variadic, and SQLITE_TRANSIENT a cast pointer: neither comes through to Swift.

static inline int csqlite_config(sqlite3 *_Nonnull db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}

static inline int csqlite_bind_text(sqlite3_stmt *_Nonnull s, int i, const char *_Nonnull text, sqlite3_uint64 length) {
  return sqlite3_bind_text64(s, i, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int csqlite_bind_blob(sqlite3_stmt *_Nonnull s, int i, const void *_Nonnull bytes, sqlite3_uint64 length) {
  return sqlite3_bind_blob64(s, i, bytes, length, SQLITE_TRANSIENT);
}

// sqlite3_config is variadic. Without its statistics SQLite takes no lock and counts nothing at each malloc and free.
// 0, or an error when SQLite was in use before.
static inline int csqlite_disable_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

typedef struct {
  sqlite3_int64 count, sum;
} csqlite_tally;

static inline void csqlite_tally_step(sqlite3_context *_Nonnull context, int n, sqlite3_value *_Nonnull *_Nonnull values) {
  csqlite_tally *tally = (csqlite_tally *)sqlite3_aggregate_context(context, sizeof(csqlite_tally));
  if (tally == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  (void)n;
  tally->count += 1;
  if (__builtin_add_overflow(tally->sum, sqlite3_value_int64(values[0]), &tally->sum))
    sqlite3_result_error(context, "integer overflow", -1);
}

static inline void csqlite_tally_final(sqlite3_context *_Nonnull context) {
  csqlite_tally none = {0, 0};
  csqlite_tally *tally = (csqlite_tally *)sqlite3_aggregate_context(context, 0);
  sqlite3_result_blob(context, tally ? tally : &none, sizeof(csqlite_tally), SQLITE_TRANSIENT);
}

// `tally(x)`: a csqlite_tally of the number of rows, NULLs too, and the sum of their integers. Two thirds of the time
// that count(*) and sum(x) take together. Only for statements of the program, not for views or triggers.
static inline int csqlite_add_tally(sqlite3 *_Nonnull db) {
  int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  return sqlite3_create_function_v2(db, "tally", 1, flags, NULL, NULL, csqlite_tally_step, csqlite_tally_final, NULL);
}
