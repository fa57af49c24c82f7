#define _GNU_SOURCE
#include "CSysFiles.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A growing listing.
typedef struct {
  csys_listing *out;
  size_t used, room, slots;
} growing;

static int add(growing *g, const struct dirent64 *d) {
  size_t length = strlen(d->d_name);
  if (g->used + length + 1 > g->room) {
    size_t room = g->room ? g->room * 2 : 4096;
    char *names = realloc(g->out->names, room);
    if (!names) return -1;
    g->out->names = names;
    g->room = room;
  }
  if (g->out->count == g->slots) {
    size_t slots = g->slots ? g->slots * 2 : 128;
    csys_entry *entries = realloc(g->out->entries, slots * sizeof *entries);
    if (!entries) return -1;
    g->out->entries = entries;
    g->slots = slots;
  }
  if (g->used > UINT32_MAX - 512) {
    errno = EOVERFLOW;
    return -1;
  }
  memcpy(g->out->names + g->used, d->d_name, length + 1);
  g->out->entries[g->out->count++] = (csys_entry){(uint32_t)g->used, (uint16_t)length, d->d_type};
  g->used += length + 1;
  return 0;
}

static int is_dots(const char *name) { return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2])); }

static int compare(const void *a, const void *b, void *names) {
  return strcmp((char *)names + ((const csys_entry *)a)->start, (char *)names + ((const csys_entry *)b)->start);
}

// Source: getdents(2). With a buffer of 64 KiB, one call returns about 1,500 names.
int csys_list_directory(int fd, csys_listing *out) {
  memset(out, 0, sizeof *out);
  growing g = {.out = out};
  char *buffer = malloc(65536);
  if (!buffer) return -1;
  ssize_t size;
  int result = 0;
  while (!result && (size = getdents64(fd, buffer, 65536)) != 0) {
    if (size < 0) result = -1;
    for (ssize_t at = 0; !result && at < size;) {
      const struct dirent64 *d = (const struct dirent64 *)(buffer + at);
      if (!is_dots(d->d_name)) result = add(&g, d);
      at += d->d_reclen;
    }
  }
  int code = errno;
  free(buffer);
  if (out->count > 1) qsort_r(out->entries, out->count, sizeof *out->entries, compare, out->names);
  errno = code;
  return result;
}

void csys_free_listing(csys_listing *listing) {
  free(listing->names);
  free(listing->entries);
  memset(listing, 0, sizeof *listing);
}

int csys_open_unnamed(const char *folder) {
  int fd = open(folder, O_RDWR | O_TMPFILE | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  // The file system does not support O_TMPFILE.
  size_t length = strlen(folder);
  char *path = malloc(length + 18);
  if (!path) return -1;
  memcpy(path, folder, length);
  memcpy(path + length, "/transfers-XXXXXX", 18);
  fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) unlink(path);
  free(path);
  return fd;
}
