#pragma once
#include <sqlite3.h>

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
