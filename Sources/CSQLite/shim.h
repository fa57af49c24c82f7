#pragma once
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

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
  sqlite3_int64 count, sum, nulls;
} csqlite_tally;

// The sum of sizes that servers and lists declare: at the largest integer it stays there.
static inline void csqlite_tally_step(sqlite3_context *_Nonnull context, int n, sqlite3_value *_Nonnull *_Nonnull values) {
  csqlite_tally *tally = (csqlite_tally *)sqlite3_aggregate_context(context, sizeof(csqlite_tally));
  if (tally == NULL) {
    sqlite3_result_error_nomem(context);
    return;
  }
  (void)n;
  tally->count += 1;
  tally->nulls += sqlite3_value_type(values[0]) == SQLITE_NULL;
  sqlite3_int64 value = sqlite3_value_int64(values[0]);
  if (__builtin_add_overflow(tally->sum, value, &tally->sum)) tally->sum = value < 0 ? INT64_MIN : INT64_MAX;
}

static inline void csqlite_tally_final(sqlite3_context *_Nonnull context) {
  csqlite_tally none = {0, 0, 0};
  csqlite_tally *tally = (csqlite_tally *)sqlite3_aggregate_context(context, 0);
  sqlite3_result_blob(context, tally ? tally : &none, sizeof(csqlite_tally), SQLITE_TRANSIENT);
}

static inline void csqlite_sum_bytes_final(sqlite3_context *_Nonnull context) {
  csqlite_tally *tally = (csqlite_tally *)sqlite3_aggregate_context(context, 0);
  sqlite3_result_int64(context, tally ? tally->sum : 0);
}

// `tally(x)`: a csqlite_tally of the number of rows, NULLs too, the sum of their integers, and the number of NULLs. Two
// thirds of the time that count(*) and sum(x) take together. `sum_bytes(x)`: the same sum alone, where sum(x) would
// fail with an overflow; 0 for no rows. Only for statements of the program, not for views or triggers.
static inline int csqlite_add_sums(sqlite3 *_Nonnull db) {
  int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  int code =
      sqlite3_create_function_v2(db, "tally", 1, flags, NULL, NULL, csqlite_tally_step, csqlite_tally_final, NULL);
  if (code != SQLITE_OK) return code;
  return sqlite3_create_function_v2(
      db, "sum_bytes", 1, flags, NULL, NULL, csqlite_tally_step, csqlite_sum_bytes_final, NULL);
}

// Where bytes are gathered: `length` counts them also when there is no room for them any more.
typedef struct {
  unsigned char *_Nonnull bytes;
  size_t capacity, length;
} csqlite_buffer;

static inline void csqlite_append(csqlite_buffer *_Nonnull buffer, const void *_Nullable bytes, size_t length) {
  if (length != 0 && buffer->length + length <= buffer->capacity)
    __builtin_memcpy(buffer->bytes + buffer->length, bytes, length);
  buffer->length += length;
}

// The head of an item of CBOR in its shortest form: RFC 8949 section 4.2.1.
static inline void csqlite_append_cbor_head(csqlite_buffer *_Nonnull buffer, unsigned major, sqlite3_uint64 value) {
  unsigned char head[9];
  unsigned width = value < 24 ? 0 : value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFFFFFF ? 4 : 8;
  unsigned extra = width == 0 ? (unsigned)value : width == 1 ? 24 : width == 2 ? 25 : width == 4 ? 26 : 27;
  head[0] = (unsigned char)(major << 5 | extra);
  for (unsigned i = 0; i < width; i++) head[1 + i] = (unsigned char)(value >> (8 * (width - 1 - i)));
  csqlite_append(buffer, head, 1 + width);
}

static inline void csqlite_append_cbor_integer(csqlite_buffer *_Nonnull buffer, sqlite3_int64 value) {
  if (value < 0) csqlite_append_cbor_head(buffer, 1, (sqlite3_uint64)(-1 - value));
  else csqlite_append_cbor_head(buffer, 0, (sqlite3_uint64)value);
}

static inline void csqlite_append_cbor_real(csqlite_buffer *_Nonnull buffer, double value) {
  unsigned char item[9] = {0xFB};
  sqlite3_uint64 bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  for (int n = 0; n < 8; n++) item[1 + n] = (unsigned char)(bits >> (8 * (7 - n)));
  csqlite_append(buffer, item, sizeof item);
}

// A value as an item of CBOR: an integer, text, a byte string or null. A real number, which no STRICT table of ours
// holds, is one of 64 bits.
static inline void csqlite_append_cbor_value(csqlite_buffer *_Nonnull buffer, sqlite3_value *_Nonnull value) {
  int type = sqlite3_value_type(value);
  if (type == SQLITE_INTEGER) {
    csqlite_append_cbor_integer(buffer, sqlite3_value_int64(value));
  } else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
    const void *bytes = type == SQLITE_TEXT ? (const void *)sqlite3_value_text(value) : sqlite3_value_blob(value);
    size_t length = (size_t)sqlite3_value_bytes(value);
    csqlite_append_cbor_head(buffer, type == SQLITE_TEXT ? 3 : 2, length);
    csqlite_append(buffer, bytes, length);
  } else if (type == SQLITE_FLOAT) {
    csqlite_append_cbor_real(buffer, sqlite3_value_double(value));
  } else {
    csqlite_append(buffer, "\xF6", 1);
  }
}

static inline void csqlite_leaf(sqlite3_context *_Nonnull context, int n, sqlite3_value *_Nonnull *_Nonnull values) {
  csqlite_buffer *buffer = (csqlite_buffer *)sqlite3_user_data(context);
  buffer->length = 0;
  csqlite_append_cbor_head(buffer, 4, (sqlite3_uint64)n);
  for (int i = 0; i < n; i++) csqlite_append_cbor_value(buffer, values[i]);
  sqlite3_result_int64(context, (sqlite3_int64)buffer->length);
}

// `leaf(…)`: replaces the content of the buffer by an array of its arguments in CBOR, and returns its length. An
// argument costs a third of what a column of the row costs, because each call for a column has to check for failures.
// Only for statements of the program, not for views or triggers.
static inline int csqlite_add_leaf(sqlite3 *_Nonnull db, csqlite_buffer *_Nonnull buffer) {
  return sqlite3_create_function_v2(
    db, "leaf", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, buffer, csqlite_leaf, NULL, NULL, NULL);
}

// The columns of the current row from `first` on as items of CBOR: integers, texts, byte strings and null. What a
// STRICT table cannot hold, a real number, is one of 64 bits.
static inline void csqlite_append_cbor_row(csqlite_buffer *_Nonnull buffer, sqlite3_stmt *_Nonnull row, int first, int count) {
  for (int i = first; i < first + count; i++) {
    int type = sqlite3_column_type(row, i);
    if (type == SQLITE_INTEGER) {
      csqlite_append_cbor_integer(buffer, sqlite3_column_int64(row, i));
    } else if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
      const void *bytes = type == SQLITE_TEXT ? (const void *)sqlite3_column_text(row, i) : sqlite3_column_blob(row, i);
      size_t length = (size_t)sqlite3_column_bytes(row, i);
      csqlite_append_cbor_head(buffer, type == SQLITE_TEXT ? 3 : 2, length);
      csqlite_append(buffer, bytes, length);
    } else if (type == SQLITE_FLOAT) {
      csqlite_append_cbor_real(buffer, sqlite3_column_double(row, i));
    } else {
      csqlite_append(buffer, "\xF6", 1);
    }
  }
}
