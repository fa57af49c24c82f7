// The log between record.c and replay.c: events with a kind, the number of a statement, a number, and bytes.
#pragma once
#include <stdint.h>

enum { // kinds
  PREPARE = 'P', // bytes: the SQL, with its NUL
  EXECUTE = 'X', // bytes: the SQL, with its NUL
  BIND_INTEGER = 'I',
  BIND_NULL = 'N',
  BIND_TEXT = 'T',
  BIND_BLOB = 'B',
  BIND_ZERO = 'Z',
  STEP = 'S', // the number is its result
  RESET = 'R',
  FINALIZE = 'F',
};

typedef struct {
  uint8_t kind;
  uint16_t statement;
  uint16_t parameter;
  uint32_t length; // of the bytes that follow
  int64_t number;
} event;
