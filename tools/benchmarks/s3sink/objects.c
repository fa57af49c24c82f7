// What was stored: objects by key, and uploads with their parts, as counts and digests. One lock for everything.
#define _GNU_SOURCE
#include "../../../Sources/CDigest/include/CDigest.h"
#include "sink.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 16, PARTS_MAX = 10000, LIST_MAX = 1000, PART_MIN = 5 << 20 };

typedef struct entry {
  struct entry *next; // in its hash bucket
  char *key, *meta;
  stored value;
  time_t when;
  bool is_deleted;
} entry;

typedef struct upload {
  struct upload *next;
  char id[24], *key, *meta;
  stored *parts; // by number - 1; without an ETag if missing
  int room;
} upload;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *buckets[BUCKETS], **all; // `all` in the order of their first PUT
static long all_count, all_room;
static upload *uploads;

static void *grown(void *old, size_t size) {
  void *new = realloc(old, size);
  if (!new) abort();
  return new;
}

static entry **slot(const char *key) {
  uint64_t hash = 14695981039346656037u; // FNV-1a
  for (const char *c = key; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  entry **at = &buckets[hash % BUCKETS];
  while (*at && strcmp((*at)->key, key)) at = &(*at)->next;
  return at;
}

static void put(const char *key, const char *meta, const stored *value) {
  entry **at = slot(key);
  if (!*at) {
    *at = calloc(1, sizeof(entry));
    if (!*at) abort();
    (*at)->key = strdup(key);
    if (all_count == all_room) all = grown(all, sizeof *all * (size_t)(all_room = all_room ? 2 * all_room : 1024));
    all[all_count++] = *at;
  }
  entry *e = *at;
  free(e->meta);
  *e = (entry){e->next, e->key, strdup(meta), *value, time(NULL), false};
}

void object_put(const char *key, const char *meta, const stored *value) {
  pthread_mutex_lock(&lock);
  put(key, meta, value);
  pthread_mutex_unlock(&lock);
}

bool object_get(const char *key, stored *value, char *meta, time_t *when) {
  pthread_mutex_lock(&lock);
  entry *e = *slot(key);
  bool is_there = e && !e->is_deleted;
  if (is_there) {
    *value = e->value;
    *when = e->when;
    snprintf(meta, META_MAX, "%s", e->meta);
  }
  pthread_mutex_unlock(&lock);
  return is_there;
}

void object_delete(const char *key) {
  pthread_mutex_lock(&lock);
  entry *e = *slot(key);
  if (e) e->is_deleted = true;
  pthread_mutex_unlock(&lock);
}

static upload **find_upload(const char *id) {
  upload **at = &uploads;
  while (*at && strcmp((*at)->id, id)) at = &(*at)->next;
  return at;
}

static void forget(upload **at) {
  upload *u = *at;
  *at = u->next;
  free(u->key);
  free(u->meta);
  free(u->parts);
  free(u);
}

void upload_begin(const char *key, const char *meta, char id[24]) {
  static unsigned long number;
  upload *u = calloc(1, sizeof *u);
  if (!u) abort();
  u->key = strdup(key);
  u->meta = strdup(meta);
  pthread_mutex_lock(&lock);
  snprintf(u->id, sizeof u->id, "upload-%lu", ++number);
  strcpy(id, u->id);
  u->next = uploads;
  uploads = u;
  pthread_mutex_unlock(&lock);
}

bool upload_part(const char *id, int number, const stored *value) {
  if (number < 1 || number > PARTS_MAX) return false;
  pthread_mutex_lock(&lock);
  upload *u = *find_upload(id);
  if (u && number > u->room) {
    u->parts = grown(u->parts, sizeof(stored) * (size_t)(number + 64));
    memset(u->parts + u->room, 0, sizeof(stored) * (size_t)(number + 64 - u->room));
    u->room = number + 64;
  }
  if (u) u->parts[number - 1] = *value;
  pthread_mutex_unlock(&lock);
  return u;
}

bool upload_abort(const char *id) {
  pthread_mutex_lock(&lock);
  upload **at = find_upload(id);
  bool is_there = *at;
  if (is_there) forget(at);
  pthread_mutex_unlock(&lock);
  return is_there;
}

// The text of an element after `*at`, which moves past it; false if there is none before `end`.
static bool element(const char **at, const char *end, const char *name, char *text, size_t size) {
  char tag[32];
  snprintf(tag, sizeof tag, "<%s>", name);
  const char *from = strstr(*at, tag);
  if (!from || from >= end) return false;
  from += strlen(tag);
  snprintf(text, size, "%.*s", (int)strcspn(from, "<"), from);
  *at = from;
  return true;
}

// Strips the quotes, which may be literal or entities.
static void bare(char *etag) {
  char *to = etag;
  for (const char *from = etag; *from;) {
    if (*from == '"') from++;
    else if (!strncmp(from, "&quot;", 6)) from += 6;
    else if (!strncmp(from, "&#34;", 5)) from += 5;
    else *to++ = *from++;
  }
  *to = 0;
}

// Appends the parts that `xml` names to `list`, in its order; returns their number, or -1 with `*error` set.
static int named_parts(const upload *u, const char *xml, stored *list, const char **error) {
  int count = 0, last = 0;
  for (const char *at = xml; (at = strstr(at, "<Part>"));) {
    const char *end = strstr(at, "</Part>"), *in = at;
    char number[16], etag[128];
    if (!end || !element(&in, end, "PartNumber", number, sizeof number)) return *error = "MalformedXML", -1;
    in = at;
    if (!element(&in, end, "ETag", etag, sizeof etag)) return *error = "MalformedXML", -1;
    bare(etag);
    int n = atoi(number);
    if (n <= last || count == PARTS_MAX) return *error = "InvalidPartOrder", -1;
    if (n > u->room || !u->parts[n - 1].etag[0] || strcmp(u->parts[n - 1].etag, etag)) return *error = "InvalidPart", -1;
    if (is_strict && count && list[count - 1].size < PART_MIN) return *error = "EntityTooSmall", -1;
    list[count++] = u->parts[(last = n) - 1];
    at = end;
  }
  if (!count) *error = "MalformedXML";
  return count ? count : -1;
}

static stored assembled(const stored *parts, int count) {
  stored whole = {0};
  unsigned char md5[16];
  EVP_MD_CTX *sum = EVP_MD_CTX_new();
  EVP_DigestInit_ex(sum, EVP_md5(), NULL);
  for (int i = 0; i < count; i++) {
    whole.crc64 = cdigest_crc64nvme_combine(whole.crc64, parts[i].crc64, (uint64_t)parts[i].size);
    whole.size += parts[i].size;
    EVP_DigestUpdate(sum, parts[i].md5, sizeof parts[i].md5);
  }
  EVP_DigestFinal_ex(sum, md5, NULL);
  EVP_MD_CTX_free(sum);
  char *at = whole.etag;
  for (int i = 0; i < 16; i++) at += sprintf(at, "%02x", md5[i]);
  snprintf(at, sizeof whole.etag - 32, "-%d", count);
  return whole;
}

const char *upload_complete(const char *id, const char *key, const char *xml, stored *value) {
  const char *error = NULL;
  stored *list = malloc(sizeof *list * PARTS_MAX);
  if (!list) abort();
  pthread_mutex_lock(&lock);
  upload **at = find_upload(id);
  int count = -1;
  if (!*at || strcmp((*at)->key, key)) error = "NoSuchUpload";
  else count = named_parts(*at, xml, list, &error);
  if (count > 0) {
    *value = assembled(list, count);
    put(key, (*at)->meta, value);
    forget(at);
  }
  pthread_mutex_unlock(&lock);
  free(list);
  return error;
}

void objects_reset(void) {
  pthread_mutex_lock(&lock);
  for (long i = 0; i < all_count; i++) {
    free(all[i]->key);
    free(all[i]->meta);
    free(all[i]);
  }
  all_count = 0;
  memset(buckets, 0, sizeof buckets);
  while (uploads) forget(&uploads);
  pthread_mutex_unlock(&lock);
}

char *objects_dump(void) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  pthread_mutex_lock(&lock);
  for (long i = 0; i < all_count; i++) {
    const entry *e = all[i];
    if (e->is_deleted) continue;
    fprintf(out, "%s\t%ld\t%016lx\t%s\n", e->key, (long)e->value.size, e->value.crc64, e->value.etag);
  }
  pthread_mutex_unlock(&lock);
  fclose(out);
  return text;
}

char *objects_list(const char *bucket, const char *prefix, long *token) {
  char *text, start[2048], when[32];
  size_t size;
  snprintf(start, sizeof start, "/%s/%s", bucket, prefix);
  FILE *out = open_memstream(&text, &size);
  pthread_mutex_lock(&lock);
  long i = *token < 0 ? 0 : *token, count = 0;
  for (; i < all_count && count < LIST_MAX; i++) {
    const entry *e = all[i];
    if (e->is_deleted || strncmp(e->key, start, strlen(start))) continue;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S.000Z", gmtime_r(&e->when, &(struct tm){0}));
    // Keys of benchmarks contain no character that XML would need escaped.
    fprintf(out, "<Contents><Key>%s</Key><LastModified>%s</LastModified><ETag>&quot;%s&quot;</ETag><Size>%ld</Size></Contents>",
            e->key + strlen(bucket) + 2, when, e->value.etag, (long)e->value.size);
    count++;
  }
  *token = i < all_count ? i : -1;
  pthread_mutex_unlock(&lock);
  fclose(out);
  return text;
}
