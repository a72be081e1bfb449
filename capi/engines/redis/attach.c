/* Attached files.  Opening one waits for other processes' locks, in a command briefly; a lookup never waits.  A file is
 * opened with a guard, so a program that truncates it does not end the server. */
#include "attach.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "moment.h"
#include "server.h"
#include "value.h"

#define COMMAND_LOCK_MS 200
#define TURN_PAUSE_NS 1000000000ull /* from one turn of a file to the next */
#define LOG_LOCK_MS 3000 /* while the server reads its log, no client waits, and a doubt would stay for good */

char attach_folder[ATTACH_FOLDER_BYTES];
static struct attachment* first;
/* The server frees values in threads of its own (UNLINK, FLUSHALL ASYNC). */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int num_leaving; /* changes with the lock */

static void enlist(struct attachment* attachment) {
  pthread_mutex_lock(&list_lock);
  attachment->next = first;
  attachment->link = &first;
  if (first != NULL) first->link = &attachment->next;
  first = attachment;
  pthread_mutex_unlock(&list_lock);
}

static void finish_leaving(struct attachment* attachment);
static void wait_for_turn(const struct attachment* attachment);

static void delist(struct attachment* attachment) {
  pthread_mutex_lock(&list_lock);
  finish_leaving(attachment);
  *attachment->link = attachment->next;
  if (attachment->next != NULL) attachment->next->link = attachment->link;
  pthread_mutex_unlock(&list_lock);
}

static void draw(uint64_t* number) {
  do RM_GetRandomBytes((unsigned char*)number, sizeof *number);
  while (*number == 0);
}

static struct attachment* new_attachment(const char* path) {
  struct attachment* attachment = RM_Alloc(sizeof *attachment);
  memset(attachment, 0, sizeof *attachment);
  attachment->path = RM_Alloc(strlen(path) + 1);
  memcpy(attachment->path, path, strlen(path) + 1);
  return attachment;
}

void attachment_free(struct attachment* attachment) {
  if (attachment == NULL) return;
  if (attachment->link != NULL) delist(attachment);
  wait_for_turn(attachment);
  bfs_close(attachment->filter, NULL);
  RM_Free(attachment->path);
  RM_Free(attachment);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

int attachment_is_allowed(const char* path) {
  return attach_folder[0] != 0 && strncmp(path, attach_folder, strlen(attach_folder)) == 0 &&
         strstr(path, "/..") == NULL;
}

/* The library's SIGBUS handler, which it installs once, with the first guarded file.  CONFIG SET crash-log-enabled
 * makes the server set the signal again, which would remove the guard. */
static struct sigaction guard;

static int open_guarded(struct attachment* attachment, uint64_t flags, const bfs_options* options, bfs_error* error) {
  struct sigaction before, after;
  sigaction(SIGBUS, NULL, &before);
  int code = bfs_open(attachment->path, flags | BFS_GUARD, options, &attachment->filter, error);
  sigaction(SIGBUS, NULL, &after);
  if (after.sa_sigaction != before.sa_sigaction) guard = after;
  return code;
}

void attachments_guard(void) {
  if (guard.sa_sigaction != NULL) sigaction(SIGBUS, &guard, NULL);
}

static int open_file(struct attachment* attachment, uint64_t flags, uint32_t lock_ms, bfs_error* error) {
  bfs_options options = BFS_OPTIONS_INIT;
  flags |= attachment->state.reads ? BFS_READ | BFS_FOLLOW : BFS_WRITE;
  options.lock_timeout_ms = lock_ms;
  return open_guarded(attachment, flags, &options, error);
}

/* Compares the path with the open file.  Another program may have moved or removed the file, which its handles do not
 * notice. */
static int ask_path(struct attachment* attachment) {
  struct stat found = {.st_ino = 0};
  int is_known = stat(attachment->path, &found) == 0;
  attachment->is_there = bfs_is_current(attachment->filter, NULL) == 1;
  attachment->device = found.st_dev;
  attachment->inode = is_known && attachment->is_there ? found.st_ino : 0;
  return attachment->is_there;
}

/* Answers as ask_path(), with one system call if nothing changed. */
static int is_at_path(struct attachment* attachment) {
  struct stat found;
  return (attachment->inode != 0 && stat(attachment->path, &found) == 0 && found.st_ino == attachment->inode &&
          found.st_dev == attachment->device) ||
         ask_path(attachment);
}

static void close_file(struct attachment* attachment) {
  wait_for_turn(attachment);
  bfs_close(attachment->filter, NULL);
  attachment->filter = NULL;
}

static uint64_t owner_in_turn(const struct attachment_state* state) { return state->owner + state->turn; }

/* Makes everything durable, and stores how far the server's adds are in the file. */
static int sync_at(struct attachment* attachment, uint64_t position, bfs_error* error) {
  const struct attachment_state* state = &attachment->state;
  const bfs_owner_mark mark = {.owner = owner_in_turn(state), .mark = position, .epoch = state->epoch};
  return bfs_sync(attachment->filter, &mark, error);
}

/* Makes the file know the owner.  Mark 0 changes no mark of this epoch. */
static int make_known(struct attachment* attachment, bfs_error* error) {
  int code = BFS_OK;
  if (!attachment->state.reads) code = sync_at(attachment, 0, error);
  attachment->known = code == BFS_OK;
  return code;
}

void attachment_doubt(struct attachment* attachment) {
  close_file(attachment);
  attachment->state.doubted = 1;
}

struct attachment* attachment_open(const char* path, int reads, bfs_error* error) {
  struct attachment* attachment = new_attachment(path);
  attachment->state.reads = (uint64_t)reads;
  draw(&attachment->state.owner);
  draw(&attachment->state.epoch);
  if (open_file(attachment, 0, COMMAND_LOCK_MS, error) != BFS_OK || make_known(attachment, error) != BFS_OK) {
    attachment_free(attachment);
    return NULL;
  }
  bfs_statistics facts = attachment_statistics(attachment);
  memcpy(attachment->state.file_id, facts.file_id, sizeof facts.file_id);
  enlist(attachment);
  return attachment;
}

/* Returns whether this is the file that has every key up to the position.  A file attached for reading needs no proof:
 * the path says which file it is. */
static int is_trusted(const struct attachment* attachment) {
  const struct attachment_state* state = &attachment->state;
  bfs_statistics facts = attachment_statistics(attachment);
  if (state->reads) return 1;
  if (memcmp(facts.file_id, state->file_id, sizeof facts.file_id) != 0) return 0;
  return state->position == 0 ||
         bfs_get_mark(attachment->filter, owner_in_turn(state), state->epoch) >= state->position;
}

static int refuse(const struct attachment* attachment, const char* why, bfs_error* error) {
  snprintf(error->message, sizeof error->message, "%s: %s", attachment->path, why);
  return VALUE_IN_DOUBT;
}

static int open_again(struct attachment* attachment, bfs_error* error) {
  int code;
  if (!attachment_is_allowed(attachment->path)) return refuse(attachment, "not in the ATTACH_FOLDER", error);
  code = open_file(attachment, 0, LOG_LOCK_MS, error);
  attachment->recovers =
      !attachment->state.reads && (code == BFS_EUNCLEAN || code == BFS_EPOISONED || code == BFS_ERECOVERING);
  if (attachment->recovers) code = open_file(attachment, BFS_RECOVER, LOG_LOCK_MS, error);
  if (code == BFS_OK && !is_trusted(attachment))
    return refuse(attachment, "not the file that was attached, or without its last keys", error);
  return code == BFS_OK ? make_known(attachment, error) : code;
}

struct attachment* attachment_restore(const char* path, const struct attachment_state* state, int is_own_log) {
  struct attachment* attachment = new_attachment(path);
  bfs_error error = BFS_ERROR_INIT;
  attachment->state = *state;
  if (!is_own_log) attachment->state.doubted = 1;
  if (!attachment->state.doubted && open_again(attachment, &error) != BFS_OK) {
    RM_Log(NULL, "warning", "BF.ATTACH: every answer is maybe: %s", error.message);
    close_file(attachment);
    /* Adds at the end of the log may be missing (appendfsync everysec, a snapshot), and then only the right file has
     * them.  The server must not trust an older file later: so the next snapshot or log records the doubt. */
    attachment->state.doubted = !state->reads;
  }
  enlist(attachment);
  return attachment;
}

/* Records that the server's log has been read: the file has again what it lacked.  If other owners add to the file, it
 * is recovered when the last of them has said so. */
static void finish_recovery(struct attachment* attachment) {
  bfs_owner_mark marks[64];
  int64_t count = bfs_list_marks(attachment->filter, marks, 64, NULL);
  int code = 1;
  int64_t i;
  for (i = 0; i < count && i < 64; ++i)
    if (marks[i].owner - attachment->state.owner < 2)
      code = bfs_finish_recovery(attachment->filter, marks[i].owner, NULL);
  if (count == 0) code = bfs_finish_recovery(attachment->filter, owner_in_turn(&attachment->state), NULL);
  if (code < 0) RM_Log(NULL, "warning", "%s: not recovered: %s", attachment->path, bfs_strerror(code));
  attachment->recovers = 0;
}

void attachments_loaded(void) {
  struct attachment* attachment;
  pthread_mutex_lock(&list_lock);
  for (attachment = first; attachment != NULL; attachment = attachment->next) {
    if (attachment->filter == NULL) continue;
    if (attachment->recovers) finish_recovery(attachment);
    attachment->state.turn ^= 1;
    draw(&attachment->state.epoch);
    /* The file may have adds that the log lacks.  So the next snapshot or log asks for a mark that no older state of
     * the file has, even if the log has no adds; and the server follows no other file. */
    ++attachment->state.position;
  }
  pthread_mutex_unlock(&list_lock);
}

/* --- Keys --------------------------------------------------------------------------------------------------------- */

/* Checks the path, once in each command.  A new file there has what its maker added: it is ours only if the server
 * added nothing, or only reads.  Otherwise every answer is "maybe" while the path lacks our file. */
static void follow(struct attachment* attachment) {
  bfs_filter* old = attachment->filter;
  if (attachment->looked == server_command()) return;
  attachment->looked = server_command();
  attachment->is_there = is_at_path(attachment);
  if (attachment->state.reads || attachment->state.position != 0) return;
  if (attachment->is_there && bfs_health(old) != BFS_ESUPERSEDED) return;
  wait_for_turn(attachment);
  if (open_file(attachment, 0, COMMAND_LOCK_MS, NULL) != BFS_OK) {
    attachment->filter = old; /* until the next try */
    return;
  }
  bfs_close(old, NULL);
  attachment->known = 0;
  ask_path(attachment);
  bfs_statistics facts = attachment_statistics(attachment);
  memcpy(attachment->state.file_id, facts.file_id, sizeof facts.file_id);
}

/* Returns whether the file may answer, and take keys. */
static int is_ours(struct attachment* attachment) {
  if (attachment->filter != NULL) follow(attachment);
  return attachment->filter != NULL && attachment->is_there;
}

int attachment_add(struct attachment* attachment, const char* key, size_t key_bytes) {
  int code;
  if (!is_ours(attachment)) return VALUE_IN_DOUBT;
  if (!attachment->known) {
    code = make_known(attachment, NULL);
    if (code != BFS_OK) return code;
  }
  code = bfs_add(attachment->filter, key, key_bytes);
  if (code >= 0) ++attachment->state.position;
  return code;
}

int attachment_contains(struct attachment* attachment, const char* key, size_t key_bytes) {
  return !is_ours(attachment) || bfs_contains(attachment->filter, key, key_bytes) != 0;
}

int attachment_count(struct attachment* attachment, const char* key, size_t key_bytes) {
  return is_ours(attachment) ? bfs_count(attachment->filter, key, key_bytes) : VALUE_IN_DOUBT;
}

bfs_statistics attachment_statistics(const struct attachment* attachment) {
  bfs_statistics facts = BFS_STATISTICS_INIT;
  if (attachment->filter != NULL) bfs_stats(attachment->filter, 0, &facts, NULL);
  return facts;
}

const char* attachment_state(struct attachment* attachment) {
  int code;
  if (attachment->filter == NULL) return "in doubt";
  follow(attachment);
  code = bfs_health(attachment->filter);
  if (code != BFS_OK) return bfs_strerror(code);
  return attachment->is_there ? "good" : "in doubt: the path does not have the file";
}

size_t attachment_memory(const struct attachment* attachment) {
  return sizeof *attachment + strlen(attachment->path) + 1;
}

/* --- Durability --------------------------------------------------------------------------------------------------- */

/* A failed sync poisons the file: every answer is "maybe" from then on.  The library refuses a sync in the child of a
 * fork; the process that forked does it. */
void attachment_sync(struct attachment* attachment) {
  const struct attachment_state* state = &attachment->state;
  int code;
  if (attachment->filter == NULL || state->reads) return;
  code = sync_at(attachment, state->position, NULL);
  if (code != BFS_OK && code != BFS_EFORKED)
    RM_Log(NULL, "warning", "%s: not synced: %s", attachment->path, bfs_strerror(code));
}

/* An owner that never comes back would occupy one of 64 places in the file, and a recovery would wait for it. */
static void drop_owners(struct attachment* attachment) {
  bfs_owner_mark marks[64];
  int64_t i, count;
  if (attachment->filter == NULL || attachment->state.reads) return;
  attachment->known = 0;
  count = bfs_list_marks(attachment->filter, marks, 64, NULL);
  for (i = 0; i < count && i < 64; ++i) {
    if (marks[i].owner - attachment->state.owner >= 2) continue;
    if (bfs_drop_owner(attachment->filter, marks[i].owner, NULL) != BFS_OK)
      RM_Log(NULL, "notice", "%s: still knows this server", attachment->path);
  }
}

static void set_leaves(struct attachment* attachment, int leaves) {
  num_leaving += leaves - attachment->leaves;
  attachment->leaves = leaves;
}

void attachment_leave(struct attachment* attachment) {
  pthread_mutex_lock(&list_lock);
  set_leaves(attachment, 1);
  pthread_mutex_unlock(&list_lock);
}

void attachment_stay(struct attachment* attachment) {
  pthread_mutex_lock(&list_lock);
  set_leaves(attachment, 0);
  pthread_mutex_unlock(&list_lock);
}

static void finish_leaving(struct attachment* attachment) {
  if (!attachment->leaves) return;
  drop_owners(attachment);
  set_leaves(attachment, 0);
}

void attachments_left(void) {
  struct attachment* attachment;
  pthread_mutex_lock(&list_lock);
  for (attachment = first; attachment != NULL; attachment = attachment->next) finish_leaving(attachment);
  pthread_mutex_unlock(&list_lock);
}

int attachments_are_leaving(void) { return num_leaving != 0; }

void attachments_sync(void) {
  struct attachment* attachment;
  pthread_mutex_lock(&list_lock);
  for (attachment = first; attachment != NULL; attachment = attachment->next) attachment_sync(attachment);
  pthread_mutex_unlock(&list_lock);
}

void attachments_close(void) {
  struct attachment* attachment;
  pthread_mutex_lock(&list_lock);
  for (attachment = first; attachment != NULL; attachment = attachment->next) {
    attachment_sync(attachment);
    close_file(attachment);
  }
  pthread_mutex_unlock(&list_lock);
}

/* --- Epochs ------------------------------------------------------------------------------------------------------- */

/* One thread at a time ends an epoch of the file `turning`, and uses nothing of it but its handle.  Syncs of that
 * handle wait for the turn (in the library).  To close it, all other threads (the main one, and those in which the
 * server frees values) join the thread first.  The thread takes no lock of this module. */
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER; /* taken after list_lock */
static struct attachment* turning;
static pthread_t turner;
static _Atomic int is_turned;
static _Atomic pid_t turning_process;

static void* turn(void* turned) {
  struct attachment* attachment = turned;
  attachment->turned = bfs_turn(attachment->filter, BFS_IF_DUE, NULL);
  is_turned = 1;
  return NULL;
}

/* The caller has turn_lock. */
static void join_turner(void) {
  pthread_join(turner, NULL);
  const int code = turning->turned;
  if (code < 0 && code != BFS_EBUSY) /* busy: another process syncs the file, or turns it */
    RM_Log(NULL, "warning", "%s: no epoch ended: %s", turning->path, bfs_strerror(code));
  turning = NULL;
}

/* The child of a fork has neither the thread nor, if another one had it, the lock.  It does not turn, sync or free. */
static void wait_for_turn(const struct attachment* attachment) {
  if (getpid() != turning_process) return;
  pthread_mutex_lock(&turn_lock);
  if (turning == attachment) join_turner();
  pthread_mutex_unlock(&turn_lock);
}

/* A file that refuses (on an overlay filesystem) is not asked again. */
static int is_due(const struct attachment* attachment, uint64_t now) {
  if (attachment->filter == NULL || attachment->state.reads || attachment->recovers) return 0;
  if (attachment->turned == BFS_EUNSUPPORTED) return 0;
  if (attachment->began_to_turn != 0 && now - attachment->began_to_turn < TURN_PAUSE_NS) return 0;
  return attachment_statistics(attachment).turn_due != 0;
}

/* Returns the one that waits for the longest time, so that a file with short epochs delays no other one. */
static struct attachment* find_due(uint64_t now) {
  struct attachment *attachment, *found = NULL;
  for (attachment = first; attachment != NULL; attachment = attachment->next)
    if ((found == NULL || attachment->began_to_turn < found->began_to_turn) && is_due(attachment, now))
      found = attachment;
  return found;
}

/* The server's signals are for its own threads; a fault in a file that was truncated is for this one. */
static void begin_turn(struct attachment* attachment, uint64_t now) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  sigdelset(&blocked, SIGBUS);
  sigdelset(&blocked, SIGSEGV);
  turning_process = getpid();
  is_turned = 0;
  attachment->began_to_turn = now;
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  if (pthread_create(&turner, NULL, turn, attachment) == 0) turning = attachment;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void turn_next(void) {
  const uint64_t now = moment_now().nanoseconds;
  struct attachment* due;
  if (turning != NULL && is_turned) join_turner();
  if (turning != NULL) return;
  due = find_due(now);
  if (due != NULL) begin_turn(due, now);
}

/* If a thread that frees an attachment has the locks, it may wait for a turn.  The main thread comes again. */
int attachments_turn(void) {
  int is_under_way = 1;
  if (pthread_mutex_trylock(&list_lock) != 0) return is_under_way;
  if (pthread_mutex_trylock(&turn_lock) == 0) {
    turn_next();
    is_under_way = turning != NULL;
    pthread_mutex_unlock(&turn_lock);
  }
  pthread_mutex_unlock(&list_lock);
  return is_under_way;
}

int attachment_turn(struct attachment* attachment, uint64_t from_epoch, bfs_error* error) {
  if (!is_ours(attachment)) return VALUE_IN_DOUBT;
  if (attachment_statistics(attachment).window_ms == 0) return VALUE_NO_WINDOW;
  return bfs_turn(attachment->filter, from_epoch, error);
}

/* --- Bytes and text ----------------------------------------------------------------------------------------------- */

int attachment_state_is_good(const struct attachment_state* state) {
  return state->turn <= 1 && state->reads <= 1 && state->doubted <= 1;
}

void attachment_write_state(const struct attachment_state* state, char* text) {
  int at = snprintf(text, ATTACHMENT_STATE_BYTES, "%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":",
                    state->owner, state->epoch, state->turn, state->position, state->doubted);
  size_t i;
  for (i = 0; i < sizeof state->file_id; ++i) at += snprintf(text + at, 3, "%02x", state->file_id[i]);
}

int attachment_read_state(const char* text, struct attachment_state* state) {
  int at = 0;
  size_t i;
  memset(state, 0, sizeof *state);
  if (sscanf(text, "%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%n", &state->owner, &state->epoch,
             &state->turn, &state->position, &state->doubted, &at) != 5 ||
      at == 0 || !attachment_state_is_good(state) || strlen(text + at) != 2 * sizeof state->file_id)
    return 0;
  for (i = 0; i < sizeof state->file_id; ++i) {
    if (sscanf(text + at + 2 * i, "%2hhx", &state->file_id[i]) != 1) return 0;
  }
  return 1;
}
