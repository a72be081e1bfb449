/* A model of filters that grow (a layout with num_slices, FORMAT.md, "A word for later layouts"), for the model checker
 * Spin. The body has slices, each with an end word of its own behind it, and the live page has their number, *slices*.
 * Processes add one key, look it up, grow and copy, are stopped anywhere for any number of growths, and are killed at any
 * moment. A foreign program may cut the file, and grow it again. In three scenes, each with what it needs alone, since
 * together they have too many states:
 *
 * LIVE     an adder, a reader, two growers, one of which may lose its lock, a full disk, and a cut.
 * COPYING  a process that copies the filter, or that supersedes it and then reads it, while others add, sync and grow.
 * DURABLE  power cuts (each page, and the size, as of any moment since the last sync), kills in a sync, an owner that
 *          recovers with its log, another writer, a reader that is stopped through a recovery, a mixture of two moments of
 *          a file, and a cut.
 *
 * The protocol:
 * - A lookup loads slices, reads its bits in the slices before that number, and compares the live word and the end word of
 *   the last one of them. It need not look at slices again: a key whose add has returned before is in one of these.
 * - An add loads slices, too. It sets nothing if an older slice than the last one has the key, and otherwise sets its bits
 *   in the last one. Then it compares, in both cases.
 * - A grower tries the growth lock. Under it, where slices is still what it was when the last slice was found full, it
 *   1. allocates the new slice and its end word, at their place (which the identity tells), without writing zeros;
 *   2. looks whether it still has the lock, which a mapping keeps, and stores the new end word;
 *   3. compares the live word, and the end word of the slice before. A cut before this took that one, and no process stores
 *      it again. A cut after this takes the new one, too. So one end word stands for all slices before it, for growers as
 *      for lookups;
 *   4. looks at the lock again, and raises slices by a compare-and-swap.
 * - A sync loads slices after it was called, and before it syncs the body. Its slot has that number. Every other slot has
 *   the number of the slot before.
 * - Slices of the live page is never less than in the newest slot, and in a clean file it is equal: otherwise the file is
 *   unclean. A process that opens, adopts or syncs a file checks the end word of the last slice of the live page.
 * - A recovery lowers slices only if the end word of the last one is not there, and the newest slot has a known place that
 *   is not here and now: no process that has seen more slices has the file open. It takes the slot's number before it writes
 *   a slot with its own place. To cut the file behind these slices is good for the rate alone, since other bits there are
 *   false positives. It also takes the slot's number if that is larger. In every other case slices stays as it is, and the
 *   end word must be there: otherwise the file is lost. (A lookup that began while slices was lower, and was stopped until
 *   the recovery was over, would miss keys of the slices that it did not see. So would every lookup beside a recovery whose
 *   process takes the inode for another one, since it may ask the system less.) A recovery writes the end word again through
 *   a mapping, by a compare-and-swap of its value with itself.
 *
 * What is checked:
 * - While a file counts as usable, a key whose add has returned is not answered "no", neither by a lookup of one moment nor by
 *   a reader that is stopped between any two of its steps.
 * - A copy has every key that its marks cover, and every key whose add had returned when the copy began. What a process
 *   reads after it has superseded a file has every key whose add was not refused.
 * - A file that no foreign program has cut never looks lost, and an owner can always recover it. No process touches a page
 *   past its end. There is one exception: after a power cut a poisoned file may look lost, since its slot has no place.
 *
 * run.py checks the model as it is, and then with each of the BUGs below, which the checker must find.
 *
 * Left out: the order of loads and stores of one process (fences), when a slice counts as full (a grower may find it full
 * at any moment), and failures to write (protocol.pml). */

/* The scenes. */
#define LIVE 1
#define COPYING 2
#define DURABLE 3
#ifndef SCENE
#define SCENE LIVE
#endif

#ifndef SLICES
#define SLICES (SCENE == DURABLE -> 2 : 3) /* at most */
#endif
#define MOST_SLICES 3 /* that the arrays have room for */
#ifndef MOST_KILLS
#define MOST_KILLS 1
#endif
#ifndef MOST_CUTS
#define MOST_CUTS 0 /* of the file, by a foreign program */
#endif
#ifndef MOST_POWER_CUTS
#define MOST_POWER_CUTS 0
#endif
#ifndef LOSES_LOCK
#define LOSES_LOCK 0 /* a grower may lose its lock */
#endif
#ifndef STOPPED_READER
#define STOPPED_READER 0 /* there is one; lookups of a single step are made at any moment */
#endif
#ifndef REPLACES
#define REPLACES 0 /* the copier has superseded the file */
#endif
#ifndef TRUNCATES
#define TRUNCATES 1 /* a recovery that lowers slices cuts the file */
#endif
#ifndef MIXES
#define MIXES 0 /* a copy of a file that was in use, under another name, takes its place */
#endif
#ifndef OTHERS_ADD
#define OTHERS_ADD 0 /* the other writer's keys have the key's bits */
#endif

/* Bugs to seed, one by one. */
#define NONE 0
#define PUBLISH_BEFORE_END_WORD 1    /* slices is raised before the end word is stored */
#define PUBLISH_BEFORE_EXTENSION 2   /* ... before the new slice is allocated */
#define CHECK_BEFORE_EXTENSION 3     /* a grower checks the end word before it extends the file */
#define NO_CHECK 4                   /* ... or not at all */
#define NO_LOOK_UNDER_THE_LOCK 5     /* a grower does not look whether another process has grown the file */
#define LOCK_IS_TRUSTED 6            /* a grower does not look whether it still has its lock */
#define STORE_PUBLISHES 7            /* slices is stored, whatever it is by then */
#define EXTENSION_WRITES_ZEROS 8     /* as posix_fallocate does where the filesystem cannot allocate */
#define EXTENSION_SETS_SIZE 9        /* as ftruncate does */
#define ADD_BEFORE_PUBLISHED 10      /* an add takes a slice that has its end word, and is not counted in slices yet */
#define READER_KEEPS_SLICES 11       /* a handle loads slices when it opens the file, and not for each lookup */
#define FIRST_END_WORD_ONLY 12       /* a lookup compares the end word of the first slice */
#define COPY_SLICES_FIRST 13         /* a copy loads slices before it reads the slot */
#define REPLACER_SLICES_FIRST 14     /* a process that supersedes the file loads slices before */
#define QUIET_ADD_COMPARES_ONCE 15   /* an add that sets nothing does not compare again */
#define SYNC_OLD_SLICES 16           /* a slot has slices of the slot before */
#define SYNC_LATE_SLICES 17          /* ... of after the body was synced */
#define ADOPTION_BELIEVES_SLOT 18    /* slices of the live page is lowered to the slot's */
#define RECOVERY_BELIEVES_LIVE 19    /* a recovery of another boot's file, too, leaves slices as they are */
#define RECOVERY_LOWERS_SLICES 20           /* a recovery always takes the slot's slices */
#define RECOVERY_SLOT_FIRST 21       /* a recovery writes its slot before it lowers slices */
#define RECOVERY_RAISES_SLOT 22      /* the first slot of a recovery has slices of the live page */
#define MIXTURE_IS_CLEAN 23          /* no process compares slices of slot and live page */
#define ONLY_MORE_IS_UNCLEAN 24      /* ... or only whether the live page has more of them */
#define RECOVERY_COPIES_END_WORD 25  /* a recovery, which writes all pages again, reads the end word and writes it by pwrite */
#ifndef BUG
#define BUG NONE
#endif

/* The key's bits in each slice, and the end words. Page 2 * i of the body has the bits of slice i, page 2 * i + 1 its end word.
 * Pages past the end of the file are 0. */
bit mem[MOST_SLICES], end_word[MOST_SLICES];
byte length; /* in pages */
byte live;   /* slices of the live page */
#define HAS_END_WORD(slice) (length > 2 * (slice) + 1 && end_word[slice])
#define LOST (!HAS_END_WORD(live - 1))
#define LOOKED_UP (mem[0] || live > 1 && mem[1] || live > 2 && mem[2])
#define FOUND_BEFORE(slice) ((slice) > 0 && mem[0] || (slice) > 1 && mem[1])

#if SCENE == DURABLE
bit touched[MOST_SLICES], end_touched[MOST_SLICES]; /* since the last sync: on disk it is one or the other */
byte length_on_disk, live_on_disk;
#define TOUCH(slice) touched[slice] = 1
#define TOUCH_END(slice) end_touched[slice] = 1
#else
#define TOUCH(slice) skip
#define TOUCH_END(slice) skip
#endif

#define CLEAN 1
#define DIRTY 2
#define RECOVERING 3
#define NO_PLACE 0
#define ELSEWHERE 9
typedef Slot { byte slices; byte state; byte boot; /* its place */ bit covers; /* the owner's mark comes after its add */ }
Slot slot;
#if SCENE == DURABLE
Slot slot_on_disk;
bit slot_dirty;
bit poisoned_on_disk, syncing_on_disk, recovering_on_disk;
#endif
bit poisoned, syncing, recovering, superseded;
#define DOUBT (poisoned || recovering || superseded)

#define PROCESSES 2
byte sync_lock, state_lock, growth_lock; /* 0, or the process and 1 */
bit killed[PROCESSES], writing[PROCESSES];
byte kills, cuts, power_cuts, boot = 1;
bit lost_a_lock, mixed;

bit acked;   /* the key's add has returned */
bit reading; /* the reader that is stopped has the file open */

/* A foreign program leaves `pages` of the file. It may make it as long as before, too. */
inline cut_to(pages) {
  i = 0;
  do
  :: i < MOST_SLICES ->
     if :: 2 * i >= pages && mem[i] -> mem[i] = 0; TOUCH(i) :: else fi;
     if :: 2 * i + 1 >= pages && end_word[i] -> end_word[i] = 0; TOUCH_END(i) :: else fi;
     i++
  :: else -> break
  od;
  i = 0
}

/* An add whose comparison fails is refused. Within one step, what is between a look and a store hides nothing: bits only
 * appear, until the file is cut. */
inline add_key() {
  d_step {
    s = live; refused = (poisoned || superseded || LOST);
    if :: BUG == ADD_BEFORE_PUBLISHED && s < SLICES && HAS_END_WORD(s) -> s++ :: else fi };
  d_step {
    if
    :: FOUND_BEFORE(s - 1) || refused -> quiet = 1
    :: !FOUND_BEFORE(s - 1) && !refused && length <= 2 * (s - 1) -> refused = 1; assert(cuts)
    :: !FOUND_BEFORE(s - 1) && !refused && length > 2 * (s - 1) -> if :: !mem[s - 1] -> mem[s - 1] = 1; TOUCH(s - 1) :: else fi
    fi };
  d_step {
    if
    :: !refused && (!poisoned && !superseded && HAS_END_WORD(s - 1) || quiet && BUG == QUIET_ADD_COMPARES_ONCE) -> acked = 1; added = 1
    :: else
    fi;
    s = 0; quiet = 0; refused = 0 }
}

/* The disk may be full: then the file is a little longer, perhaps, and the slice as full as it is. */
inline extend() {
  if
  :: d_step { BUG == EXTENSION_SETS_SIZE ->
       if :: length > 2 * (from + 1) -> cut_to(2 * (from + 1)) :: else fi;
       length = 2 * (from + 1) }
  :: d_step { BUG != EXTENSION_SETS_SIZE ->
       if :: length < 2 * (from + 1) -> length = 2 * (from + 1) :: else fi;
       if :: BUG == EXTENSION_WRITES_ZEROS && mem[from] -> mem[from] = 0 :: else fi }
  :: d_step { length < 2 * (from + 1) -> length++; gives_up = 1 }
  fi
}

/* By pwrite, which makes the file as long as that. */
inline store_end_word() {
  d_step {
    if
    :: growth_lock == me + 1 || BUG == LOCK_IS_TRUSTED ->
       if :: length < 2 * (from + 1) -> length = 2 * (from + 1) :: else fi;
       if :: !end_word[from] -> end_word[from] = 1; TOUCH_END(from) :: else fi
    :: else -> gives_up = 1
    fi }
}

inline check_end_word() {
  d_step { gives_up = gives_up || poisoned || superseded || !HAS_END_WORD(from - 1) }
}

inline publish() {
  d_step {
    if
    :: (growth_lock == me + 1 || BUG == LOCK_IS_TRUSTED) && live == from || BUG == STORE_PUBLISHES -> live = from + 1
    :: else
    fi }
}

/* `from` is what slices were when the last slice was found full. What a process does under a lock before it changes
 * anything is one step. */
inline grow() {
  if
  :: atomic { from < SLICES && !growth_lock && (live == from || BUG == NO_LOOK_UNDER_THE_LOCK) -> growth_lock = me + 1 };
     if
     :: BUG == CHECK_BEFORE_EXTENSION -> check_end_word()
     :: BUG == PUBLISH_BEFORE_EXTENSION -> check_end_word(); if :: !gives_up -> publish() :: else fi
     :: else
     fi;
     if :: !gives_up -> extend() :: else fi;
     if :: !gives_up && BUG == PUBLISH_BEFORE_END_WORD -> check_end_word(); if :: !gives_up -> publish() :: else fi :: else fi;
     if :: !gives_up -> store_end_word() :: else fi;
     if :: !gives_up && BUG != CHECK_BEFORE_EXTENSION && BUG != NO_CHECK -> check_end_word() :: else fi;
     if :: !gives_up -> publish() :: else fi;
     d_step { if :: growth_lock == me + 1 -> growth_lock = 0 :: else fi; gives_up = 0 }
  :: else
  fi;
  from = 0
}

/* Reads the slices before s in any order; a page past the end answers "maybe", as SIGBUS does under a guard. */
inline read_slice(slice) {
  seen = seen | (1 << slice);
  if
  :: length <= 2 * slice -> assert(cuts || power_cuts || BUG == RECOVERY_LOWERS_SLICES); has = 1
  :: else -> has = has || mem[slice]
  fi
}
inline read_slices() {
  do
  :: d_step { !has && !(seen & 1) -> read_slice(0) }
  :: d_step { !has && s > 1 && !(seen & 2) -> read_slice(1) }
  :: d_step { !has && s > 2 && !(seen & 4) -> read_slice(2) }
  :: has || seen == (1 << s) - 1 -> break
  od
}

inline drop_locks(who) {
  if :: sync_lock == who + 1 -> sync_lock = 0 :: else fi;
  if :: state_lock == who + 1 -> state_lock = 0 :: else fi;
  if :: growth_lock == who + 1 -> growth_lock = 0 :: else fi
}
inline bury(who) { writing[who] = 0; drop_locks(who) }

#if SCENE != DURABLE
#define USABLE (!DOUBT)
proctype Adder(bit syncs) {
  byte s;
  bit quiet, refused, added, covering;
  do
  :: add_key(); added = 0
  :: syncs && acked && !slot.covers -> covering = acked; d_step { slot.covers = covering; covering = 0 }
  od
}

proctype Grower(byte me) {
  byte from, i;
  bit gives_up;
again:
  do :: killed[me] -> d_step { killed[me] = 0; from = 0; i = 0; gives_up = 0 } :: else -> break od;
  {
    do
    :: d_step { live < SLICES -> from = live }; grow()
    od
  } unless { killed[me] };
  goto again
}
#endif

#if SCENE == COPYING
bit copied, copy_has;
proctype Copier() {
  byte s, seen;
  bit has, promised;
  if
  :: BUG == COPY_SLICES_FIRST -> s = live; promised = acked || slot.covers
  :: BUG == REPLACER_SLICES_FIRST -> s = live; superseded = 1
  :: BUG != COPY_SLICES_FIRST && BUG != REPLACER_SLICES_FIRST && REPLACES -> superseded = 1; s = live
  :: BUG != COPY_SLICES_FIRST && BUG != REPLACER_SLICES_FIRST && !REPLACES -> promised = acked || slot.covers; s = live
  fi;
  read_slices();
  atomic {
    assert(has || !promised || !HAS_END_WORD(s - 1));
    copied = REPLACES && HAS_END_WORD(s - 1); copy_has = has }
}
#endif

#if SCENE == DURABLE
inline copy_slot(to, from) { to.slices = from.slices; to.state = from.state; to.boot = from.boot; to.covers = from.covers }
inline sync_live_page() {
  live_on_disk = live; poisoned_on_disk = poisoned; syncing_on_disk = syncing; recovering_on_disk = recovering
}
inline sync_all() {
  d_step {
    i = 0;
    do :: i < MOST_SLICES -> touched[i] = 0; end_touched[i] = 0; i++ :: else -> break od;
    i = 0;
    length_on_disk = length;
    if :: slot_dirty -> copy_slot(slot_on_disk, slot); slot_dirty = 0 :: else fi;
    sync_live_page() }
}
inline take_sync_lock() { atomic { !sync_lock -> sync_lock = me + 1 } }
inline take_state_lock() { atomic { !state_lock -> state_lock = me + 1 } }
inline drop_state_lock() { d_step { state_lock = 0 } }

#define ANYBODY_WRITES (writing[0] || writing[1])
#define SLICES_AGREE (live == slot.slices || (slot.state == DIRTY && live > slot.slices) || BUG == MIXTURE_IS_CLEAN || \
                      (BUG == ONLY_MORE_IS_UNCLEAN && live < slot.slices))
#define GOOD (!DOUBT && slot.state != RECOVERING && SLICES_AGREE)
#define IN_USE (GOOD && ANYBODY_WRITES && slot.state == DIRTY && slot.boot == boot && !(syncing && !sync_lock))
#define ADOPTABLE (GOOD && !ANYBODY_WRITES && slot.state == DIRTY && slot.boot == boot && !syncing)
#define USABLE ((GOOD && slot.state == CLEAN) || IN_USE || ADOPTABLE)

inline poison() {
  d_step { poisoned = 1; slot.state = DIRTY; slot.boot = NO_PLACE; slot_dirty = 1 };
  sync_all()
}

/* The last part of a sync, under the state lock. A file that was cut meanwhile gets no slot. */
inline write_slot() {
  if
  :: BUG == SYNC_OLD_SLICES || slot.slices > s
  :: else -> slot.slices = s
  fi;
  slot_dirty = 1
}

inline sync_file(with_mark) {
  take_sync_lock();
  if
  :: poisoned || LOST
  :: !poisoned && !LOST && syncing -> take_state_lock(); poison(); drop_state_lock()
  :: else ->
     d_step { syncing = 1; covering = with_mark && acked; s = live };
     sync_all();
     if :: BUG == SYNC_LATE_SLICES -> s = live :: else fi;
     take_state_lock();
     if
     :: LOST -> syncing = 0
     :: else ->
        d_step {
          if :: covering -> slot.covers = 1 :: else fi;
          if :: with_mark && slot.state == RECOVERING -> slot.state = DIRTY :: else fi;
          write_slot() };
        sync_all();
        d_step { if :: slot.state == DIRTY -> recovering = 0 :: else fi; syncing = 0 }
     fi;
     d_step { state_lock = 0; covering = 0; s = 0 }
  fi;
  d_step { sync_lock = 0 }
}

#define SLOT_IS_ELSEWHERES (slot.boot != NO_PLACE && slot.boot != boot)
#define SLICES_ARE_THERE (live >= slot.slices && !LOST)
#define RECOVERABLE (SLICES_ARE_THERE || SLOT_IS_ELSEWHERES && BUG != RECOVERY_BELIEVES_LIVE && HAS_END_WORD(slot.slices - 1))

inline lower_slices() {
  if :: TRUNCATES -> d_step { cut_to(2 * slot.slices); if :: length > 2 * slot.slices -> length = 2 * slot.slices :: else fi } :: else fi;
  live = slot.slices
}

inline recover_file() {
  lowers = !SLICES_ARE_THERE && SLOT_IS_ELSEWHERES && BUG != RECOVERY_BELIEVES_LIVE || BUG == RECOVERY_LOWERS_SLICES;
  recovering = 1;
  if :: lowers && BUG != RECOVERY_SLOT_FIRST -> lower_slices() :: else fi;
  d_step {
    slot.state = RECOVERING; slot.boot = boot; slot_dirty = 1;
    if :: BUG == RECOVERY_RAISES_SLOT -> slot.slices = live :: else fi };
  sync_all();
  if :: lowers && BUG == RECOVERY_SLOT_FIRST -> lower_slices() :: else fi;
  if
  :: BUG == RECOVERY_COPIES_END_WORD ->
     s = HAS_END_WORD(live - 1);
     d_step {
       if :: s && length < 2 * live -> length = 2 * live :: else fi;
       if :: s && !end_word[live - 1] -> end_word[live - 1] = 1; TOUCH_END(live - 1) :: else fi;
       s = 0 }
  :: else
  fi;
  d_step { poisoned = 0; syncing = 0; lowers = 0 }
}

inline close_file() {
  take_state_lock();
  if
  :: writing[1 - me] || poisoned || LOST
  :: else ->
     take_sync_lock();
     if
     :: syncing -> poison()
     :: else ->
        d_step { syncing = 1; s = live };
        sync_all();
        if
        :: LOST
        :: else ->
           d_step { if :: slot.state == DIRTY -> slot.state = CLEAN :: else fi; write_slot(); s = 0 };
           sync_all();
           syncing = 0
        fi
     fi
  fi;
  d_step { s = 0; bury(me) }
}

/* Process 0 is the owner of all keys: it alone adds, and recovers. */
proctype Writer(byte me) {
  byte i, s, from;
  bit quiet, refused, added, covering, gives_up, lowers, must_replay;
again:
  do
  :: killed[me] -> d_step { killed[me] = 0; i = 0; s = 0; from = 0; quiet = 0; refused = 0; added = 0; covering = 0; gives_up = 0; lowers = 0; must_replay = 0 }
  :: else -> break
  od;
  {
    take_state_lock();
    if
    :: IN_USE && !LOST
    :: GOOD && !ANYBODY_WRITES && slot.state == CLEAN && !LOST ->
       d_step { syncing = 0; slot.state = DIRTY; slot.boot = boot; slot_dirty = 1 };
       sync_all()
    :: ADOPTABLE && !LOST ->
       syncing = 1;
       sync_all();
       if :: BUG == ADOPTION_BELIEVES_SLOT -> live = slot.slices :: else fi;
       syncing = 0
    :: me == 0 && !ANYBODY_WRITES && !(GOOD && slot.state == CLEAN) -> /* strict, if it is adoptable */
       if
       :: RECOVERABLE -> recover_file(); must_replay = 1
       :: else -> assert(cuts || mixed || slot.boot == NO_PLACE); drop_state_lock(); goto again
       fi
    :: else -> drop_state_lock(); goto again
    fi;
    d_step { writing[me] = 1 };
    drop_state_lock();
    if
    :: must_replay ->
       added = (!acked || slot.covers);
       do
       :: !added && !poisoned && !LOST -> add_key()
       :: !poisoned && live < SLICES -> from = live; grow()
       :: added || poisoned || LOST -> break
       od;
       sync_file(1);
       must_replay = 0; added = 0
    :: else
    fi;
    do
    :: me == 0 && !acked && !poisoned -> add_key(); added = 0
    :: d_step { live < SLICES -> from = live }; grow()
    :: OTHERS_ADD && me == 1 && !poisoned -> s = live; d_step { if :: length > 2 * (s - 1) && !mem[s - 1] -> mem[s - 1] = 1; TOUCH(s - 1) :: else fi; s = 0 }
    :: sync_file(me == 0)
    :: break
    od;
    close_file()
  } unless { killed[me] };
  goto again
}
#endif

/* A lookup. One that found the key, or whose file is in doubt, is left here: the next one is the same. */
#if STOPPED_READER
proctype Reader() {
  byte s, seen, kept;
  bit has;
  kept = live;
  do
  :: d_step { acked && (reading || USABLE) -> reading = 1; s = (BUG == READER_KEEPS_SLICES -> kept : live) };
     read_slices();
     atomic {
       assert(has || !reading || DOUBT || !HAS_END_WORD((BUG == FIRST_END_WORD_ONLY -> 0 : s - 1)));
       s = 0; seen = 0; has = 0 }
  od
}
#endif

proctype World() {
  byte i, pages;
  do
  :: atomic { USABLE && acked && !LOST && !LOOKED_UP -> assert(false) }
  :: atomic { USABLE && LOST && !cuts && !mixed -> assert(false) }
#if SCENE == COPYING
  :: atomic { copied && acked && !copy_has -> assert(false) }
#endif
  :: d_step { kills < MOST_KILLS && !killed[0] -> kills++; killed[0] = 1; bury(0) }
  :: d_step { SCENE != COPYING && kills < MOST_KILLS && !killed[1] -> kills++; killed[1] = 1; bury(1) }
  :: d_step { LOSES_LOCK && !lost_a_lock && growth_lock == 1 -> lost_a_lock = 1; growth_lock = 0 }
  :: atomic { cuts < MOST_CUTS -> cuts++;
       do :: pages + 1 < length -> pages++ :: break od;
       i = 0;
       d_step { cut_to(pages) };
#if SCENE == DURABLE
       d_step {
         do :: i < MOST_SLICES -> if :: 2 * i >= pages -> touched[i] = 0 :: else fi; if :: 2 * i + 1 >= pages -> end_touched[i] = 0 :: else fi; i++ :: else -> break od;
         i = 0;
         if :: length_on_disk > pages -> length_on_disk = pages :: else fi };
#endif
       if :: length = pages :: true fi;
       pages = 0 }
#if SCENE == DURABLE
  :: d_step { power_cuts < MOST_POWER_CUTS && live != live_on_disk -> sync_live_page() }
  :: atomic { power_cuts < MOST_POWER_CUTS ->
       d_step { power_cuts++; boot++; killed[0] = 1; killed[1] = 1; bury(0); bury(1); reading = 0;
         if :: length_on_disk < length -> pages = length; length = length_on_disk :: else -> pages = length_on_disk fi };
       do :: length < pages -> length++ :: break od;
       pages = 0;
       do
       :: i < MOST_SLICES ->
          if :: touched[i] -> mem[i] = 0 :: touched[i] -> mem[i] = 1 :: else fi;
          if :: end_touched[i] -> end_word[i] = 0 :: end_touched[i] -> end_word[i] = 1 :: else fi;
          i++
       :: else -> break
       od;
       i = 0;
       d_step {
         cut_to(length);
         do :: i < MOST_SLICES -> touched[i] = 0; end_touched[i] = 0; i++ :: else -> break od;
         i = 0;
         length_on_disk = length };
       if :: slot_dirty -> copy_slot(slot, slot_on_disk) :: slot_dirty -> copy_slot(slot_on_disk, slot) :: else fi;
       slot_dirty = 0;
       if
       :: d_step { live = live_on_disk; poisoned = poisoned_on_disk; syncing = syncing_on_disk; recovering = recovering_on_disk }
       :: d_step { sync_live_page() }
       fi }
  :: atomic { MIXES && !mixed && slot.state == CLEAN && !slot_dirty && !ANYBODY_WRITES && !state_lock && live == slot.slices ->
       mixed = 1; slot.boot = ELSEWHERE; slot_on_disk.boot = ELSEWHERE; reading = 0;
       if :: live > 1 -> live-- :: live < SLICES -> live++ fi;
       d_step { sync_live_page() } }
#endif
  od
}

init {
  atomic {
    run World();
    live = 1; length = 2; end_word[0] = 1; slot.slices = 1; slot.state = CLEAN;
#if SCENE == DURABLE
    live_on_disk = 1; length_on_disk = 2; slot_on_disk.slices = 1; slot_on_disk.state = CLEAN;
    run Writer(0); run Writer(1);
#else
    run Adder(SCENE == COPYING); run Grower(0);
#if SCENE == COPYING
    if :: REPLACES -> run Adder(0) :: else fi;
    run Copier();
#else
    run Grower(1);
#endif
#endif
#if STOPPED_READER
    run Reader()
#endif
  }
}
