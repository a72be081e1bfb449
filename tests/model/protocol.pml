/* A model of the protocol of FORMAT.md ("State slots" to "Recovery"), for the model checker Spin: writers that add, sync,
 * are killed at any moment, close, adopt and recover; a system that writes pages back when it likes, fails to, tells each
 * description of that once, and drops what it could not write; and power cuts. What is checked: whenever a reader that
 * comes by, or a writer that was let in, is answered at all, every key whose add has returned is there ("no" means no);
 * and where nothing went wrong and all have closed, the file is clean.
 *
 * With REMOVES the keys are removed, too: the filter counts. Both writers' keys have one counter in common, and nothing
 * else: a key is answered "no" where that is 0. A key is present from the return of its add to the call of its remove. An
 * owner that recovers adds every key after its mark again. A key that it has removed since is added again or not, as it
 * likes: the row may be gone. It never removes a key again.
 *
 * run.py checks the model as it is, and then with each of the BUGs below, which the checker must find.
 *
 * Left out: tearing of a slot (the rule of two slots makes a torn one look less clean, see power_cut_test.cpp), strict
 * mode, accepting a loss, replacing a file (replacing.pml), and what PROMISES.md leaves out: pages that are dropped
 * before a process that had the file open when they failed has asked, or after a process was killed in a sync, before the
 * next one has synced or opened the file, or where a reader that may not write to the file was told of the failure. */

#ifndef WRITERS
#define WRITERS 2
#endif
#define KEYS 1 /* of each writer; a key is one bit */
#ifndef MOST_KILLS
#define MOST_KILLS 2
#endif
#ifndef MOST_CUTS
#define MOST_CUTS 1
#endif
#ifndef MOST_FAILURES
#define MOST_FAILURES 1
#endif

/* Bugs to seed, one by one. */
#define NONE 0
#define ADOPT_IN_ANY_BOOT 1        /* the boot id is ignored */
#define ADOPT_WHILE_SYNCING 2      /* a process that died in a sync is taken for one that was merely killed */
#define MARK_BEFORE_BODY 3         /* a sync stores the mark first */
#define CLEAN_BEFORE_BODY 4        /* the last writer says clean, and then syncs */
#define EVERY_CLOSE_IS_LAST 5      /* a process that closes does not look for other writers */
#define RECOVERED_SURVIVES 6       /* what a killed recoverer declared is believed by the next one */
#define ANSWER_WHILE_RECOVERING 7  /* recovering is not a state of the file */
#define NO_REWRITE 8               /* a recovery believes that unwritten pages are those that were not synced */
#define RETRY_AFTER_FAILURE 9     /* a sync that failed is not remembered */
#define ADOPT_RECOVERING 10        /* a killed recoverer leaves a file to adopt */
#define JOIN_WITHOUT_LOOKING 11    /* a process that finds an exclusive lock joins, whatever the slot says: it may be a stranger's */
#define END_WITHOUT_SYNC 12        /* an owner is declared without a sync of what it added again */
#define LOCK_FIRST 13              /* a writer has its lock before it is let in */
#define ASK_WITHOUT_FLAG 14        /* a process that is killed with the system's answer leaves no trace of it */
#define JOIN_WITHOUT_ASKING 15     /* a writer is let in next to live ones without asking the system */
#define ASK_DURING_A_SYNC 16       /* a thread takes the answer from another one, which syncs */
#define LEAVE_AFTER_CLOSING 17     /* the writers' lock is let go after the state lock */
#define STRANGER_IS_A_WRITER 18    /* a shared lock counts as a writer's */
/* With REMOVES. */
#define REPLAY_REMOVES 19          /* a recovery removes again what was removed after the mark */
#define REMOVE_WHILE_RECOVERING 20 /* a remove is not refused, and the key's add was lost, and is not added again */
#define REPEAT_REMOVE 21           /* a remove that was interrupted is done again */
#define REPLAY_IF_ABSENT 22        /* a recovery adds again only what seems absent */
#define ADD_LOOKS_FIRST 23         /* a key that seems to be there is not counted */
#define LEAVE_THE_TOP 24           /* a counter that is at its limit is lowered */
#ifndef BUG
#define BUG NONE
#endif

#ifndef REMOVES
#define REMOVES 0
#endif
#if REMOVES
#define CELL byte
#define TOP (BUG == LEAVE_THE_TOP -> 1 : 3) /* 15 in a file; it stands for any number of keys */
#else
#define CELL bit
#endif

#define BITS (WRITERS * KEYS)
#define CLEAN 1
#define DIRTY 2
#define RECOVERING 3
#define PAUSED 4
#define UNKNOWN_BOOT 0

/* The log of each writer outlives everything: how many of its keys were added (the adds have returned). */
byte added[WRITERS];
/* And how many it has begun to remove: keys that are not present any more. Their positions in the log are after the adds. */
byte gone[WRITERS];
bit interrupted[WRITERS]; /* a remove was begun and has not returned */

/* In memory, and on disk. A page that is not dirty is not written by a sync. */
CELL mem[BITS], disk[BITS];
bit page_dirty[BITS];
typedef Slot { byte state; byte boot; byte mark[WRITERS]; byte recovered; }
Slot slot, slot_on_disk;
bit slot_dirty;
bit poisoned, syncing, recovering;                     /* the live word, and *syncing* behind it */
bit poisoned_on_disk, syncing_on_disk, recovering_on_disk;

byte boot = 1;
bit state_lock, sync_lock;
byte state_lock_of, sync_lock_of; /* the process */
bit writing[WRITERS];             /* holds its writers' lock */
bit let_in[WRITERS], idle[WRITERS];
bit is_open[WRITERS];             /* its description */
bit news[WRITERS];                /* of a failure that it was not told of */
bit unseen;                       /* a failure that none was told of: a new description is */
bit gap[WRITERS];                 /* had the file open at a failure, and was not told, or has not said so yet */
bit stranger, stolen;
bit dead_sync; /* a process was killed in a sync, and the next one that syncs has not said so yet */
bit killed[WRITERS];
byte kills, cuts, failures;

inline copy_slot(to, from) {
  to.state = from.state; to.boot = from.boot; to.recovered = from.recovered;
  to.mark[0] = from.mark[0]; to.mark[1] = from.mark[1];
}

/* The system could not write a page, and takes it for clean. */
inline fails() {
  gap[0] = is_open[0]; gap[1] = is_open[1]; news[0] = is_open[0]; news[1] = is_open[1]; unseen = 1
}
inline is_told(failed) {
  failed = news[me]; if :: news[me] -> news[me] = 0; unseen = 0; gap[me] = gap[me] && let_in[me] :: else fi
}

/* All that is dirty reaches the disk; or the sync fails, some of it did, and the system forgets that the rest did not. */
inline sync_all(failed) {
  if
  :: atomic { d_step { i = 0; do :: i < BITS -> disk[i] = (page_dirty[i] -> mem[i] : disk[i]); page_dirty[i] = 0; i++ :: else -> break od;
     if :: slot_dirty -> copy_slot(slot_on_disk, slot); slot_dirty = 0 :: else fi;
     poisoned_on_disk = poisoned; syncing_on_disk = syncing; recovering_on_disk = recovering; is_told(failed); i = 0 } }
  :: atomic { failures < MOST_FAILURES -> failures++;
     d_step { i = 0; do :: i < BITS -> page_dirty[i] = 0; i++ :: else -> break od; slot_dirty = 0; fails(); is_told(failed); i = 0 } }
  fi
}

inline poison() {
  d_step { if :: BUG != RETRY_AFTER_FAILURE -> poisoned = 1; slot.state = DIRTY; slot.boot = UNKNOWN_BOOT; slot.recovered = 0; slot_dirty = 1 :: else fi; gap[me] = 0; dead_sync = 0 };
  sync_all(failed)
}

#define STRANGERS (BUG == STRANGER_IS_A_WRITER || BUG == JOIN_WITHOUT_LOOKING)
#define ANYBODY_WRITES (writing[0] || writing[1] || (STRANGERS && stranger))
#define ANOTHER_WRITES (writing[1 - me] || (STRANGERS && stranger))
#define DIRTY_HERE (slot.state == DIRTY && slot.boot == boot)
#define ADOPTABLE (((slot.state == DIRTY || (BUG == ADOPT_RECOVERING && slot.state == RECOVERING)) && \
                    (slot.boot == boot || BUG == ADOPT_IN_ANY_BOOT) && slot.boot != UNKNOWN_BOOT) && \
                   (!syncing || BUG == ADOPT_WHILE_SYNCING) && !poisoned && (!recovering || BUG == ADOPT_RECOVERING))
#define IN_USE (ANYBODY_WRITES && !poisoned && !recovering && (DIRTY_HERE || BUG == JOIN_WITHOUT_LOOKING))
#define USABLE_CLEAN (slot.state == CLEAN && !poisoned && !recovering)
/* A reader that comes by now is let in and answered, by the bits. Where nobody writes it asks the system, or syncs, first.
 * Next to live writers the library's readers ask, too. The model's do not: it shows that the writers ask often enough. */
#define ANSWERS (USABLE_CLEAN || (IN_USE && !(syncing && !sync_lock) && !dead_sync) || \
                 (ADOPTABLE && !state_lock && !ANYBODY_WRITES && !unseen))
/* A writer that was let in. */
#define HANDLES_ANSWER ((let_in[0] || let_in[1]) && !poisoned && !recovering && !dead_sync)

inline take_state_lock() { atomic { !state_lock -> state_lock = 1; state_lock_of = me } }
inline drop_state_lock() { d_step { state_lock = 0 } }
inline take_sync_lock() { atomic { !sync_lock -> sync_lock = 1; sync_lock_of = me } }
inline drop_sync_lock() { d_step { sync_lock = 0 } }

/* With the sync lock, as a sync is made. */
inline ask(asking) {
  if
  :: syncing -> failed = 1
  :: !syncing && asking ->
     syncing = (BUG != ASK_WITHOUT_FLAG);
     d_step { is_told(failed) };
     if :: !failed -> syncing = 0 :: else fi
  :: else -> failed = 0
  fi
}

/* Next to live writers. */
inline look_beside() {
  if
  :: atomic { !sync_lock -> sync_lock = 1; sync_lock_of = me };
     ask(BUG != JOIN_WITHOUT_ASKING);
     if :: failed -> poison(); bad = 1 :: else fi;
     drop_sync_lock()
  :: d_step { sync_lock -> gap[me] = news[me] } /* it asks later */
  fi
}

inline ask_alone() {
  take_sync_lock();
  ask(true);
  if :: failed -> take_state_lock(); poison(); drop_state_lock(); bad = 1 :: else fi;
  drop_sync_lock()
}

/* sync(owner, mark): mark 1 is the owner's first, and stands for "no key yet". */
inline sync_with_mark(declare) {
  take_sync_lock();
  if
  :: syncing && BUG != RETRY_AFTER_FAILURE -> take_state_lock(); poison(); drop_state_lock(); drop_sync_lock(); bad = 1
  :: else ->
     d_step { syncing = 1; wanted = added[me] + gone[me] + 1 };
     if :: BUG == MARK_BEFORE_BODY -> d_step { slot.mark[me] = wanted; slot_dirty = 1 } :: else fi;
     if :: declare && BUG == END_WITHOUT_SYNC -> failed = 0 :: else -> sync_all(failed) fi;
     take_state_lock();
     if
     :: failed && BUG != RETRY_AFTER_FAILURE -> poison(); bad = 1
     :: else ->
        d_step {
          if :: slot.mark[me] < wanted -> slot.mark[me] = wanted :: else fi;
          if
          :: declare -> slot.recovered = slot.recovered | (1 << me);
             if
             :: slot.state != RECOVERING -> ended = 1
             :: slot.state == RECOVERING && (slot.mark[0] == 0 || (slot.recovered & 1)) && (slot.mark[1] == 0 || (slot.recovered & 2)) ->
                slot.state = DIRTY; slot.recovered = 0; ended = 1
             :: else
             fi
          :: else
          fi;
          slot_dirty = 1 };
        sync_all(failed);
        if
        :: failed && BUG != RETRY_AFTER_FAILURE -> poison(); bad = 1
        :: else -> if :: slot.state == DIRTY -> recovering = 0 :: else fi; syncing = 0
        fi
     fi;
     drop_state_lock();
     drop_sync_lock()
  fi
}

#if REMOVES
/* One word is changed in one step, whatever other processes do. */
inline add_key(number, looks) {
  d_step { if :: mem[0] < TOP && !(looks && mem[0]) -> mem[0]++; page_dirty[0] = 1 :: else fi }
}
inline lower() {
  d_step { if :: mem[0] > 0 && (mem[0] < TOP || BUG == LEAVE_THE_TOP) -> mem[0]--; page_dirty[0] = 1 :: else fi }
}
#else
inline add_key(number, looks) {
  d_step { if :: !mem[number] -> mem[number] = 1; page_dirty[number] = 1 :: else fi }
}
inline lower() { skip }
#endif

/* Refused in doubt. It looks, and then lowers: another process may poison the file between. */
#define MAY_REMOVE (REMOVES && added[me] > gone[me] && !poisoned && (!recovering || BUG == REMOVE_WHILE_RECOVERING))
inline remove_key() {
  d_step { MAY_REMOVE -> gone[me]++; interrupted[me] = 1 };
  lower();
  interrupted[me] = 0
}

/* Alone, under the state lock: the slot says recovering, then everything is written again. */
inline begin_recovery() {
  was_paused = (slot.state == PAUSED && !poisoned && !syncing);
  recovering = (BUG != ANSWER_WHILE_RECOVERING);
  d_step { slot.state = (BUG == ANSWER_WHILE_RECOVERING -> DIRTY : RECOVERING); slot.boot = boot;
    if :: was_paused || BUG == RECOVERED_SURVIVES :: else -> slot.recovered = 0 fi; slot_dirty = 1 };
  sync_all(failed);
  if
  :: failed -> poison(); bad = 1
  :: else ->
     if
     :: !was_paused && BUG != NO_REWRITE ->
        d_step { i = 0; do :: i < BITS -> page_dirty[i] = (mem[i] != 0); i++ :: else -> break od; i = 0 };
        sync_all(failed)
     :: else
     fi;
     if
     :: failed -> poison(); bad = 1
     :: else -> poisoned = 0; d_step { syncing = 0; dead_sync = 0 }
     fi
  fi
}

inline bury(who) {
  writing[who] = 0; let_in[who] = 0; gap[who] = 0; is_open[who] = 0; news[who] = 0; idle[who] = 0
}

proctype Writer(byte me) {
  byte i, wanted;
  bit failed, bad, must_replay, was_paused, ended;
again:
  do
  :: killed[me] -> atomic { killed[me] = 0; bury(me); if :: state_lock && state_lock_of == me -> state_lock = 0 :: else fi; if :: sync_lock && sync_lock_of == me -> sync_lock = 0 :: else fi; i = 0 }
  :: else -> break
  od;
  {
    bad = 0; must_replay = 0; failed = 0; ended = 0;
    /* open for writing */
    d_step { idle[me] = 0; is_open[me] = 1; news[me] = unseen };
    take_state_lock();
    if :: BUG == LOCK_FIRST -> writing[me] = 1 :: else fi;
    if
    :: IN_USE && !(BUG == LOCK_FIRST && !ANOTHER_WRITES) -> look_beside()
    :: !IN_USE && ANOTHER_WRITES && slot.state == RECOVERING && slot.boot == boot && recovering && !poisoned ->
       look_beside(); must_replay = 1
    :: !ANOTHER_WRITES && USABLE_CLEAN ->
       d_step { syncing = 0; dead_sync = 0; slot.state = DIRTY; slot.boot = boot; slot_dirty = 1 };
       sync_all(failed);
       if :: failed -> poison(); bad = 1 :: else fi
    :: !ANOTHER_WRITES && !USABLE_CLEAN && ADOPTABLE ->
       syncing = 1;
       sync_all(failed);
       if :: failed -> poison(); bad = 1 :: else -> d_step { syncing = 0; recovering = 0; if :: slot.state == RECOVERING -> slot.state = DIRTY :: else fi; slot.boot = boot; slot_dirty = 1 }; sync_all(failed); if :: failed -> poison(); bad = 1 :: else fi fi
    :: !ANOTHER_WRITES && !USABLE_CLEAN && !ADOPTABLE ->
       begin_recovery();
       must_replay = 1
    :: else -> bad = 1 /* busy: another time */
    fi;
    d_step { if :: !bad -> writing[me] = 1; let_in[me] = 1 :: else -> writing[me] = 0 fi };
    drop_state_lock();
    if :: bad -> goto leave :: else fi;

#if REMOVES
    if :: BUG == REPEAT_REMOVE && interrupted[me] -> lower(); interrupted[me] = 0 :: else fi;
#endif
    if
    :: must_replay ->
#if REMOVES
       if :: BUG == REMOVE_WHILE_RECOVERING && MAY_REMOVE -> remove_key() :: true fi;
#endif
       i = (slot.mark[me] == 0 -> 0 : slot.mark[me] - 1);
       do
       :: i < added[me] -> add_key(me * KEYS + i, BUG == REPLAY_IF_ABSENT); i++
       :: i < added[me] && gone[me] > i -> i++ /* its row is gone */
       :: i >= added[me] && i < added[me] + gone[me] && BUG == REPLAY_REMOVES -> lower(); i++
       :: i >= added[me] && !(i < added[me] + gone[me] && BUG == REPLAY_REMOVES) -> break
       od;
       i = 0;
       sync_with_mark(1);
       if :: bad -> goto leave :: else fi
    :: else
    fi;
    /* An owner stores a mark before it adds, each time it opens the file: the one that it finds there may have been
     * written by a life of its own that was killed before the slot was durable. */
    sync_with_mark(0);
    if :: bad -> goto leave :: else fi;

    do
    :: added[me] < KEYS && !poisoned -> add_key(me * KEYS + added[me], BUG == ADD_LOOKS_FIRST); d_step { if :: !poisoned -> added[me]++ :: else fi }
    :: MAY_REMOVE -> remove_key()
    :: sync_with_mark(0); if :: bad -> goto leave :: else fi
    :: MOST_FAILURES > 0 && !poisoned -> ask_alone(); if :: bad -> goto leave :: else fi /* now and then */
    :: break
    od;

leave:
    if
    :: writing[me] ->
       /* close */
       if :: MOST_FAILURES > 0 && ANOTHER_WRITES && !poisoned -> ask_alone() :: else fi;
       take_state_lock();
       if
       :: (ANOTHER_WRITES && BUG != EVERY_CLOSE_IS_LAST) || poisoned
       :: else ->
          take_sync_lock();
          if
          :: syncing && BUG != RETRY_AFTER_FAILURE -> poison()
          :: else ->
             syncing = 1;
             if :: BUG == CLEAN_BEFORE_BODY -> d_step { slot.state = (slot.state == RECOVERING -> PAUSED : CLEAN); slot_dirty = 1; slot_on_disk.state = slot.state; slot_on_disk.boot = slot.boot } :: else fi;
             sync_all(failed);
             if
             :: failed && BUG != RETRY_AFTER_FAILURE -> poison()
             :: else ->
                d_step { if :: slot.state == RECOVERING -> slot.state = PAUSED :: slot.state == DIRTY -> slot.state = CLEAN; recovering = 0 :: else fi; slot_dirty = 1 };
                sync_all(failed);
                if :: failed && BUG != RETRY_AFTER_FAILURE -> poison() :: else -> syncing = 0 fi
             fi
          fi;
          drop_sync_lock()
       fi;
       if :: BUG != LEAVE_AFTER_CLOSING -> writing[me] = 0 :: else fi;
       drop_state_lock()
    :: else
    fi;
    d_step { bury(me); idle[me] = 1 }
  } unless { killed[me] };
  goto again
}

/* The system writes a page when it likes; a process is killed; the power fails. */
active proctype World() {
  byte i;
  do
  :: d_step { slot_dirty -> copy_slot(slot_on_disk, slot); slot_dirty = 0 }
  :: d_step { page_dirty[0] -> disk[0] = mem[0]; page_dirty[0] = 0 }
  :: d_step { page_dirty[1] -> disk[1] = mem[1]; page_dirty[1] = 0 }
  :: d_step { failures < MOST_FAILURES && page_dirty[0] -> failures++; page_dirty[0] = 0; fails() }
  :: d_step { failures < MOST_FAILURES && page_dirty[1] -> failures++; page_dirty[1] = 0; fails() }
  :: d_step { MOST_FAILURES > 0 && !gap[0] && !gap[1] && !page_dirty[0] && mem[0] != disk[0] -> mem[0] = disk[0] }
  :: d_step { MOST_FAILURES > 0 && !gap[0] && !gap[1] && !page_dirty[1] && mem[1] != disk[1] -> mem[1] = disk[1] }
  :: d_step { BUG == ASK_DURING_A_SYNC && news[0] && sync_lock && sync_lock_of == 0 -> news[0] = 0; unseen = 0; stolen = 1 }
  :: d_step { BUG == ASK_DURING_A_SYNC && stolen -> stolen = 0; poisoned = 1; gap[0] = 0 }
  :: d_step { STRANGERS && !stranger -> stranger = 1 }
  :: d_step { stranger -> stranger = 0 }
  :: d_step { poisoned_on_disk != poisoned || syncing_on_disk != syncing || recovering_on_disk != recovering ->
       poisoned_on_disk = poisoned; syncing_on_disk = syncing; recovering_on_disk = recovering }
  :: d_step { kills < MOST_KILLS && !killed[0] -> kills++; killed[0] = 1; bury(0); if :: state_lock && state_lock_of == 0 -> state_lock = 0 :: else fi; if :: sync_lock && sync_lock_of == 0 -> sync_lock = 0; dead_sync = syncing :: else fi }
  :: d_step { kills < MOST_KILLS && !killed[1] -> kills++; killed[1] = 1; bury(1); if :: state_lock && state_lock_of == 1 -> state_lock = 0 :: else fi; if :: sync_lock && sync_lock_of == 1 -> sync_lock = 0; dead_sync = syncing :: else fi }
  :: d_step { cuts < MOST_CUTS -> cuts++; boot++;
       killed[0] = 1; killed[1] = 1; bury(0); bury(1); unseen = 0; stolen = 0; dead_sync = 0; state_lock = 0; sync_lock = 0;
       i = 0; do :: i < BITS -> mem[i] = disk[i]; page_dirty[i] = 0; i++ :: else -> break od;
       copy_slot(slot, slot_on_disk); slot_dirty = 0;
       poisoned = poisoned_on_disk; syncing = syncing_on_disk; recovering = recovering_on_disk; i = 0 }
  od
}

#if REMOVES
#define COMPLETE (mem[0] || (added[0] <= gone[0] && added[1] <= gone[1]))
#else
#define COMPLETE ((added[0] == 0 || mem[0]) && (added[1] == 0 || mem[KEYS]))
#endif

/* Always there: every answer is right. */
active proctype Reader() {
  do
  :: atomic { (ANSWERS || HANDLES_ANSWER) && !COMPLETE && !gap[0] && !gap[1] -> assert(false) }
  :: atomic { idle[0] && idle[1] && slot.state != CLEAN && kills == 0 && cuts == 0 && failures == 0 -> assert(false) }
  od
}

init {
  atomic { slot.state = CLEAN; slot_on_disk.state = CLEAN; run Writer(0); run Writer(1) }
}
