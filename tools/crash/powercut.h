// What a power cut undoes: the old bytes of every write to a regular file that was not synced since. Part of shim.c.

struct undo {
  dev_t device;
  ino_t inode;
  off_t offset;    /* where `length` old bytes go back to */
  size_t length;
  off_t old_size;  /* the size before the call */
  long number;     /* grows with every write of the process */
  char *path;
  char *bytes;
  struct undo *older;
};

static pthread_mutex_t undo_lock = PTHREAD_MUTEX_INITIALIZER;
static struct undo *newest;
static long last_number;

static char *path_of(int fd, char *buffer, size_t size) {
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, buffer, size - 1);
  buffer[length < 0 ? 0 : length] = 0;
  return buffer;
}

/* Forgets what a finished sync covered: everything of that file up to the write numbered `upto`. */
static void forget_synced(dev_t device, ino_t inode, long upto) {
  for (struct undo **at = &newest; *at;) {
    struct undo *entry = *at;
    if (entry->number <= upto && entry->device == device && entry->inode == inode) {
      *at = entry->older;
      free(entry->path);
      free(entry->bytes);
      free(entry);
    } else {
      at = &entry->older;
    }
  }
}

/* Records the current content of [offset, offset + length). The caller holds undo_lock and then performs the write. */
static void remember(int fd, off_t offset, size_t length) {
  struct stat now;
  char path[4096];
  if (fstat(fd, &now) != 0 || !S_ISREG(now.st_mode)) return;
  struct undo *entry = calloc(1, sizeof *entry);
  if (!entry) abort();
  entry->device = now.st_dev;
  entry->inode = now.st_ino;
  entry->old_size = now.st_size;
  entry->offset = offset;
  entry->path = strdup(path_of(fd, path, sizeof path));
  if (offset < now.st_size) {
    size_t old = (size_t)(now.st_size - offset) < length ? (size_t)(now.st_size - offset) : length;
    entry->bytes = malloc(old ? old : 1);
    ssize_t got = pread(fd, entry->bytes, old, offset);
    if (got < 0) { /* write-only descriptor; closing a second one would drop the program's POSIX locks, so it stays */
      int again = (int)syscall(SYS_openat, AT_FDCWD, entry->path, O_RDONLY | O_CLOEXEC);
      got = again < 0 ? 0 : pread(again, entry->bytes, old, offset);
    }
    entry->length = got < 0 ? 0 : (size_t)got;
  }
  entry->number = ++last_number;
  entry->older = newest;
  newest = entry;
}

/* A renamed or removed name: `lost` held `old` (-1: nothing), and now holds the file that had the name `from`. */
struct moved {
  dev_t device; /* of the folder of `lost` */
  ino_t inode;
  long number;
  char *from, *lost; /* `from` is NULL when the name was removed */
  int old;
  mode_t mode;
  struct moved *older;
};

static struct moved *newest_name;

static void free_name(struct moved *entry) {
  if (entry->old >= 0) syscall(SYS_close, entry->old);
  free(entry->from);
  free(entry->lost);
  free(entry);
}

/* The caller holds undo_lock and then performs the change. */
static void remember_name(const char *from, const char *lost) {
  struct moved *entry = calloc(1, sizeof *entry);
  if (!entry) abort();
  struct stat now;
  char folder[4096];
  snprintf(folder, sizeof folder, "%s", lost);
  char *slash = strrchr(folder, '/');
  if (slash) *slash = 0;
  if (stat(slash ? folder : ".", &now) == 0) {
    entry->device = now.st_dev;
    entry->inode = now.st_ino;
  }
  entry->from = from ? strdup(from) : NULL;
  entry->lost = strdup(lost);
  entry->old = (int)syscall(SYS_openat, AT_FDCWD, lost, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (entry->old >= 0 && (fstat(entry->old, &now) != 0 || !S_ISREG(now.st_mode))) {
    syscall(SYS_close, entry->old);
    entry->old = -1;
  }
  entry->mode = now.st_mode & 07777;
  entry->number = ++last_number;
  entry->older = newest_name;
  newest_name = entry;
}

static void forget_newest_name(void) {
  struct moved *entry = newest_name;
  newest_name = entry->older;
  free_name(entry);
}

/* Forgets the changes of a synced folder. */
static void forget_synced_names(dev_t device, ino_t inode, long upto) {
  for (struct moved **at = &newest_name; *at;) {
    struct moved *entry = *at;
    if (entry->number <= upto && entry->device == device && entry->inode == inode) {
      *at = entry->older;
      free_name(entry);
    } else {
      at = &entry->older;
    }
  }
}

/* Gives the name back to its previous file; as a new file, if that one has no name left. */
static void take_back_name(const struct moved *entry) {
  if (entry->from) syscall(SYS_renameat2, AT_FDCWD, entry->lost, AT_FDCWD, entry->from, 0);
  if (entry->old < 0) return;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, entry->lost, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, entry->mode);
  char bytes[65536];
  off_t at = 0;
  for (ssize_t got; fd >= 0 && (got = pread(entry->old, bytes, sizeof bytes, at)) > 0; at += got)
    syscall(SYS_pwrite64, fd, bytes, (size_t)got, at);
}

/* A thread that touches a mapping whose file has just been shortened waits for the end. */
static void wait_for_the_end(int signal) {
  (void)signal;
  for (;;) pause();
}

static void take_back_unsynced(void) {
  signal(SIGBUS, wait_for_the_end);
  pthread_mutex_lock(&undo_lock); /* for ever: nobody writes any more */
  for (struct moved *entry = newest_name; entry; entry = entry->older) take_back_name(entry);
  for (struct undo *entry = newest; entry; entry = entry->older) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, entry->path, O_WRONLY | O_CLOEXEC);
    struct stat now;
    if (fd < 0 || fstat(fd, &now) != 0 || now.st_ino != entry->inode || now.st_dev != entry->device) continue;
    if (entry->length) syscall(SYS_pwrite64, fd, entry->bytes, entry->length, entry->offset);
    syscall(SYS_ftruncate, fd, entry->old_size);
  }
}
