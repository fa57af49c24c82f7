#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// One thing that happened in a watched folder.
typedef struct {
  /// Which folder; -1 when events were lost.
  int folder;
  /// What is called so in it; NULL when it happened to the folder itself. Valid as long as the buffer.
  const char *_Nullable name;
  /// `name` is a folder.
  uint8_t is_folder;
  /// `name` is no longer there: it was moved away.
  uint8_t has_left;
  /// The folder is no longer watched: it was deleted, unmounted, or given up.
  uint8_t is_over;
} csys_watch_event;

/// A descriptor for watching folders, which does not block (inotify_init1(2)). -1 with errno: EMFILE beyond
/// fs.inotify.max_user_instances, ENOSYS where there is no inotify.
int csys_watch_open(void);

/// Watches a folder, and not the folders below it: what appears in it, was written to, or has other permissions or
/// times, and which folders leave it. Its number, which is the same for a folder that is watched already; -1 with
/// errno, ENOSPC beyond fs.inotify.max_user_watches. `follows` a symbolic link, or ends in ENOTDIR.
int csys_watch_add(int watch, const char *_Nonnull path, int follows);

/// Gives up a folder; an event that says so follows, as for one that was deleted.
void csys_watch_remove(int watch, int folder);

/// Takes the event at `*at` of what read(2) brought, and moves `*at` behind it. 0 when there is none.
int csys_watch_next(const void *_Nonnull buffer, size_t size, size_t *_Nonnull at, csys_watch_event *_Nonnull out);
