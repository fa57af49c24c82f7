#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// One event in a watched folder.
typedef struct {
  /// The number of the folder; -1 when events were lost.
  int folder;
  /// The name in the folder that the event concerns; NULL for the folder itself. Valid as long as the buffer.
  const char *_Nullable name;
  /// `name` is a folder.
  uint8_t is_folder;
  /// `name` no longer exists: it was moved away.
  uint8_t has_left;
  /// The folder is no longer watched: it was deleted, unmounted, or removed with csys_watch_remove().
  uint8_t is_over;
} csys_watch_event;

/// Returns a nonblocking descriptor for watching folders (inotify_init1(2)), or -1 with errno: EMFILE beyond
/// fs.inotify.max_user_instances, ENOSYS where there is no inotify.
int csys_watch_open(void);

/// Watches a folder, but not the folders below it: for names that appear, files that were written, changed permissions
/// or times, and folders that are moved away. Returns its number, which is the same for a folder that is watched
/// already; -1 with errno, ENOSPC beyond fs.inotify.max_user_watches. `follows` a symbolic link, otherwise fails with
/// ENOTDIR.
int csys_watch_add(int watch, const char *_Nonnull path, int follows);

/// Stops watching a folder; an event reports this, as for a folder that was deleted.
void csys_watch_remove(int watch, int folder);

/// Takes the event at `*at` from a buffer filled by read(2), and moves `*at` past it. 0 when there is none.
int csys_watch_next(const void *_Nonnull buffer, size_t size, size_t *_Nonnull at, csys_watch_event *_Nonnull out);
