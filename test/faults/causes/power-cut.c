/*
 * Watches which bytes and names of one folder a program has made durable, so that a test can take back all others, as a power cut does.
 * Preloaded (LD_PRELOAD). POWER_CUT_ROOT: the folder. POWER_CUT_SHADOW: a folder that holds, afterwards,
 *   <pid>-<number>   the durable content of a file that was opened for writing
 *   names            a line a change of names, in order, tab-separated:
 *     E path id      a file that was there before, first opened for writing: its name is durable
 *     C path id      a file was created        L from to   a second name        R from to   renamed        U path   removed
 *     F path         fsync or fdatasync of a file (or of a folder, which ends in /) has returned
 * Content counts as durable as of the begin of the sync that covers it. Writes through mmap are not seen: nothing here uses them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FDS 65536
#define REAL(type, name, ...) static type (*real)(__VA_ARGS__); if (!real) *(void **)&real = dlsym(RTLD_NEXT, name)

struct range { off_t from, to; struct range *next; };
struct file { dev_t device; ino_t inode; int shadow; char id[48]; char path[PATH_MAX]; int is_folder, is_stream; off_t streamed; struct range *dirty; struct file *next; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file *files;
static struct file *open_files[MAX_FDS];
static int names = -1;
static int next_id;

static const char *root(void) { return getenv("POWER_CUT_ROOT"); }

/* Absolute, below the root; 0 otherwise. */
static int watched(const char *path, char *full) {
  const char *top = root();
  if (!top || !path) return 0;
  if (path[0] == '/') snprintf(full, PATH_MAX, "%s", path);
  else {
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder) || snprintf(full, PATH_MAX, "%s/%s", folder, path) >= PATH_MAX) return 0;
  }
  size_t length = strlen(full);
  while (length > 1 && full[length - 1] == '/') full[--length] = 0;
  size_t wanted = strlen(top);
  return strncmp(full, top, wanted) == 0 && (full[wanted] == '/' || full[wanted] == 0);
}

static ssize_t raw_write(int fd, const void *bytes, size_t count) {
  REAL(ssize_t, "write", int, const void *, size_t);
  return real(fd, bytes, count);
}

static int raw_open(const char *path, int flags, mode_t mode) {
  REAL(int, "open", const char *, int, ...);
  return real(path, flags, mode);
}

static ssize_t raw_pwrite(int fd, const void *bytes, size_t count, off_t at) {
  REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
  return real(fd, bytes, count, at);
}

static void say(const char *kind, const char *first, const char *second) {
  char line[2 * PATH_MAX + 16], path[PATH_MAX];
  if (names < 0) {
    snprintf(path, sizeof path, "%s/names", getenv("POWER_CUT_SHADOW"));
    names = raw_open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  }
  int length = snprintf(line, sizeof line, second ? "%s\t%s\t%s\n" : "%s\t%s\n", kind, first, second);
  if (raw_write(names, line, (size_t)length) != length) abort();
}

static struct file *find(const struct stat *found) {
  for (struct file *file = files; file; file = file->next) if (file->device == found->st_dev && file->inode == found->st_ino) return file;
  return NULL;
}

/* Forgotten when its last name goes: the inode's number may come again. */
static void forget(const char *path) {
  struct stat found;
  if (lstat(path, &found) != 0 || found.st_nlink > 1) return;
  for (struct file **at = &files; *at; at = &(*at)->next) {
    if ((*at)->device != found.st_dev || (*at)->inode != found.st_ino) continue;
    *at = (*at)->next;
    return;
  }
}

static void copy(int from, int to, off_t start, off_t end) {
  static char buffer[1 << 20];
  while (start < end) {
    size_t want = (size_t)(end - start) < sizeof buffer ? (size_t)(end - start) : sizeof buffer;
    ssize_t got = pread(from, buffer, want, start);
    if (got <= 0) return;
    raw_pwrite(to, buffer, (size_t)got, start);
    start += got;
  }
}

/* The caller holds the lock. */
static void opened(int fd, const char *full, int flags, int existed) {
  struct stat found;
  if (fd < 0 || fd >= MAX_FDS || fstat(fd, &found) != 0) return;
  int is_folder = S_ISDIR(found.st_mode);
  if (!is_folder && (!S_ISREG(found.st_mode) || (flags & O_ACCMODE) == O_RDONLY)) return;
  struct file *file = find(&found);
  if (!file) {
    file = calloc(1, sizeof *file);
    file->device = found.st_dev;
    file->inode = found.st_ino;
    file->is_folder = is_folder;
    file->shadow = -1;
    if (!is_folder) {
      char path[PATH_MAX];
      snprintf(file->id, sizeof file->id, "%d-%d", (int)getpid(), next_id++);
      snprintf(path, sizeof path, "%s/%s", getenv("POWER_CUT_SHADOW"), file->id);
      file->shadow = raw_open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
      /* What O_TRUNC takes away would still be there after a power cut; everything here truncates only what it made anew. */
      if (existed && !(flags & O_TRUNC)) {
        char self[64];
        snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
        int reader = raw_open(self, O_RDONLY | O_CLOEXEC, 0);
        copy(reader, file->shadow, 0, found.st_size);
        syscall(SYS_close, reader);
      }
      say(existed ? "E" : "C", full, file->id);
    }
    file->next = files;
    files = file;
  }
  snprintf(file->path, sizeof file->path, "%s", full);
  open_files[fd] = file;
}

/* Checked against the descriptor: some are closed by system calls that are not seen here, and come again as something else. */
static struct file *file_of(int fd) {
  struct file *file = fd >= 0 && fd < MAX_FDS ? open_files[fd] : NULL;
  struct stat found;
  if (!file || (fstat(fd, &found) == 0 && found.st_dev == file->device && found.st_ino == file->inode)) return file;
  open_files[fd] = NULL;
  return NULL;
}

static int open_watched(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  char full[PATH_MAX];
  if (!watched(path, full)) return real(path, flags, mode);
  pthread_mutex_lock(&lock);
  struct stat before;
  int existed = stat(full, &before) == 0;
  int fd = real(path, flags, mode);
  int error = errno;
  opened(fd, full, flags, existed);
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, #name, const char *, int, ...); \
    va_list rest; va_start(rest, flags); mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; va_end(rest); \
    return open_watched(real, path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    REAL(int, #name, int, const char *, int, ...); \
    va_list rest; va_start(rest, flags); mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; va_end(rest); \
    if (folder != AT_FDCWD && path[0] != '/') return real(folder, path, flags, mode); \
    return open(path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

int close(int fd) {
  REAL(int, "close", int);
  if (file_of(fd)) {
    pthread_mutex_lock(&lock);
    open_files[fd] = NULL;
    pthread_mutex_unlock(&lock);
  }
  return real(fd);
}

/* What goes through a stream is written inside of the C library; streams are only appended to here. */
#define FOPEN(name) \
  FILE *name(const char *path, const char *mode) { \
    REAL(FILE *, #name, const char *, const char *); \
    char full[PATH_MAX]; \
    if (mode[0] == 'r' || !watched(path, full)) return real(path, mode); \
    pthread_mutex_lock(&lock); \
    struct stat before; \
    int existed = stat(full, &before) == 0; \
    FILE *stream = real(path, mode); \
    if (stream) { \
      opened(fileno(stream), full, O_WRONLY | (mode[0] == 'w' ? O_TRUNC : 0), existed); \
      struct file *file = file_of(fileno(stream)); \
      if (file) { file->is_stream = 1; file->streamed = mode[0] == 'a' && existed ? before.st_size : 0; } \
    } \
    pthread_mutex_unlock(&lock); \
    return stream; \
  }
FOPEN(fopen)
FOPEN(fopen64)

int fclose(FILE *stream) {
  REAL(int, "fclose", FILE *);
  int fd = fileno(stream);
  if (file_of(fd)) {
    pthread_mutex_lock(&lock);
    open_files[fd] = NULL;
    pthread_mutex_unlock(&lock);
  }
  return real(stream);
}

static void wrote(int fd, off_t from, ssize_t count) {
  struct file *file = file_of(fd);
  if (!file || count <= 0) return;
  pthread_mutex_lock(&lock);
  struct range *last = file->dirty;
  if (last && from >= last->from && from <= last->to) {
    if (from + count > last->to) last->to = from + count;
  } else {
    struct range *range = malloc(sizeof *range);
    *range = (struct range){ from, from + count, file->dirty };
    file->dirty = range;
  }
  pthread_mutex_unlock(&lock);
}

/* A plain write goes where the position is, or to the end. */
static off_t end_of(int fd) { return lseek(fd, 0, SEEK_CUR); }

ssize_t write(int fd, const void *bytes, size_t count) {
  ssize_t done = raw_write(fd, bytes, count);
  if (file_of(fd) && done > 0) { int error = errno; wrote(fd, end_of(fd) - done, done); errno = error; }
  return done;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  ssize_t done = real(fd, parts, count);
  if (file_of(fd) && done > 0) { int error = errno; wrote(fd, end_of(fd) - done, done); errno = error; }
  return done;
}

#define PWRITE(name) \
  ssize_t name(int fd, const void *bytes, size_t count, off_t at) { \
    REAL(ssize_t, #name, int, const void *, size_t, off_t); \
    ssize_t done = real(fd, bytes, count, at); \
    wrote(fd, at, done); \
    return done; \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

#define PWRITEV(name) \
  ssize_t name(int fd, const struct iovec *parts, int count, off_t at) { \
    REAL(ssize_t, #name, int, const struct iovec *, int, off_t); \
    ssize_t done = real(fd, parts, count, at); \
    wrote(fd, at, done); \
    return done; \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)

static void take_over(int fd, struct file *file) {
  struct stat found;
  char self[64];
  if (file->is_folder || fstat(fd, &found) != 0) return;
  struct range *dirty = file->dirty;
  file->dirty = NULL;
  if (file->is_stream) {
    dirty = malloc(sizeof *dirty);
    *dirty = (struct range){ file->streamed, found.st_size, NULL };
    file->streamed = found.st_size;
  }
  snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
  int reader = raw_open(self, O_RDONLY | O_CLOEXEC, 0);
  while (dirty) {
    struct range *range = dirty;
    copy(reader, file->shadow, range->from, range->to < found.st_size ? range->to : found.st_size);
    dirty = range->next;
    free(range);
  }
  syscall(SYS_close, reader);
  static int (*cut)(int, off_t);
  if (!cut) *(void **)&cut = dlsym(RTLD_NEXT, "ftruncate");
  cut(file->shadow, found.st_size);
}

static int sync_watched(int (*real)(int), int fd) {
  struct file *file = file_of(fd);
  if (!file) return real(fd);
  pthread_mutex_lock(&lock);
  take_over(fd, file);
  pthread_mutex_unlock(&lock);
  int done = real(fd);
  int error = errno;
  if (done == 0) {
    char path[PATH_MAX + 2];
    pthread_mutex_lock(&lock);
    snprintf(path, sizeof path, file->is_folder ? "%s/" : "%s", file->path);
    say("F", path, NULL);
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return done;
}

int fsync(int fd) { REAL(int, "fsync", int); return sync_watched(real, fd); }
int fdatasync(int fd) { REAL(int, "fdatasync", int); return sync_watched(real, fd); }

static void renamed(const char *from, const char *to) {
  struct stat found;
  if (lstat(to, &found) != 0) return;
  struct file *file = find(&found);
  if (file) snprintf(file->path, sizeof file->path, "%s", to);
  say("R", from, to);
}

int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  char a[PATH_MAX], b[PATH_MAX];
  if (!watched(from, a) || !watched(to, b)) return real(from, to);
  pthread_mutex_lock(&lock);
  struct stat one, other;
  if (stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_ino != other.st_ino) forget(b);
  int done = real(from, to);
  int error = errno;
  if (done == 0) renamed(a, b);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}

int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  char full[PATH_MAX];
  if (!watched(path, full)) return real(path);
  pthread_mutex_lock(&lock);
  forget(full);
  int done = real(path);
  int error = errno;
  if (done == 0) say("U", full, NULL);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}

int remove(const char *path) {
  struct stat found;
  if (lstat(path, &found) == 0 && S_ISDIR(found.st_mode)) return rmdir(path);
  return unlink(path);
}

int unlinkat(int folder, const char *path, int flags) {
  REAL(int, "unlinkat", int, const char *, int);
  return folder == AT_FDCWD && !(flags & AT_REMOVEDIR) ? unlink(path) : real(folder, path, flags);
}

int link(const char *from, const char *to) {
  REAL(int, "link", const char *, const char *);
  char a[PATH_MAX], b[PATH_MAX];
  if (!watched(from, a) || !watched(to, b)) return real(from, to);
  pthread_mutex_lock(&lock);
  int done = real(from, to);
  int error = errno;
  if (done == 0) say("L", a, b);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
