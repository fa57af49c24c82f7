#define _GNU_SOURCE
#include "CSysWatch.h"

#include <errno.h>
#include <string.h>

#ifdef __linux__
#include <sys/inotify.h>

int csys_watch_open(void) { return inotify_init1(IN_NONBLOCK | IN_CLOEXEC); }

// IN_CREATE is for folders and links, IN_CLOSE_WRITE for files: a file that is being written cannot be sent yet.
int csys_watch_add(int watch, const char *path, int follows) {
  uint32_t mask = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_ATTRIB | IN_ONLYDIR | IN_EXCL_UNLINK;
  return inotify_add_watch(watch, path, mask | (follows ? 0 : IN_DONT_FOLLOW));
}

void csys_watch_remove(int watch, int folder) { inotify_rm_watch(watch, folder); }

// Source: inotify(7). The kernel pads `name` with NULs up to `len`.
int csys_watch_next(const void *buffer, size_t size, size_t *at, csys_watch_event *out) {
  struct inotify_event event;
  if (*at + sizeof event > size) return 0;
  memcpy(&event, (const char *)buffer + *at, sizeof event);
  const char *name = (const char *)buffer + *at + sizeof event;
  if (event.len > size - *at - sizeof event) return 0;
  *at += sizeof event + event.len;
  *out = (csys_watch_event){
      .folder = event.mask & IN_Q_OVERFLOW ? -1 : event.wd,
      .name = event.len ? name : NULL,
      .is_folder = (event.mask & IN_ISDIR) != 0,
      .has_left = (event.mask & IN_MOVED_FROM) != 0,
      .is_over = (event.mask & IN_IGNORED) != 0,
  };
  return 1;
}
#else
int csys_watch_open(void) {
  errno = ENOSYS;
  return -1;
}

int csys_watch_add(int watch, const char *path, int follows) {
  (void)watch, (void)path, (void)follows;
  errno = ENOSYS;
  return -1;
}

void csys_watch_remove(int watch, int folder) { (void)watch, (void)folder; }

int csys_watch_next(const void *buffer, size_t size, size_t *at, csys_watch_event *out) {
  (void)buffer, (void)size, (void)at, (void)out;
  return 0;
}
#endif
