/* A model of filters whose keys expire (FORMAT.md, "Epochs"), for the model checker Spin. Processes add one key, look it up,
 * turn and copy, are stopped anywhere for any number of turns, and are killed at any moment. In four scenes, each with what
 * it needs alone, since together they have too many states:
 *
 * LIVE     adders, a reader, and turners by number, one of which may lose its lock.
 * TIMED    turns that are due: a clock that is set forward or back, a system that starts again, and an epoch whose end is
 *          late since the turner was stopped.
 * COPYING  a process that copies the filter while turns are made.
 * DURABLE  power cuts (each page as of any moment since its last sync), an owner that recovers with its log, another writer
 *          that turns and syncs, a reader that is stopped through a recovery, and a mixture of two moments of a file.
 *
 * What is checked, whenever a file counts as usable:
 * - A key whose add has returned is not answered "no" before a turn has begun that ends the last of the E - 1 epochs after
 *   its own one, nor where the file says that it is in an epoch before that. Its own epoch is that of the last load of its
 *   add: a process that is stopped between this load and the return of the add is helped by no rule.
 * - Where turns are made when they are due, a key is not answered "no" before the window is over.
 * - There are no more turns than the time has epochs, and one more for each time that the clock was set forward and counted.
 * - A turn that is over has left nothing of what it cleared, also after a power cut.
 *
 * run.py checks the model as it is, and then with each of the BUGs below, which the checker must find.
 *
 * Left out: the order of loads and stores of one process (fences), failures to write (protocol.pml), and replacing a file
 * (replacing.pml). */

/* The scenes. */
#define LIVE 1
#define TIMED 2
#define COPYING 3
#define DURABLE 4
#ifndef SCENE
#define SCENE LIVE
#endif

#ifndef E
#define E 2 /* epochs: words of a line */
#endif
#ifndef PARTS
#define PARTS 1 /* of a word, each loaded, set and cleared on its own */
#endif
#ifndef TURNS
#define TURNS (E + 1) /* that are made at most */
#endif
#ifndef MOST_KILLS
#define MOST_KILLS 1
#endif
#ifndef MOST_CUTS
#define MOST_CUTS 1
#endif
#ifndef MOST_JUMPS
#define MOST_JUMPS 0
#endif

/* Bugs to seed, one by one. */
#define NONE 0
#define ADDER_LOOKS_ONCE 1        /* an add does not load the epoch again */
#define QUIET_ADDER_LOOKS_ONCE 2  /* ... if it has set no bit */
#define ANY_WORD_WILL_DO 3        /* an add writes nothing if an older word has the key */
#define READER_LOOKS_ONCE 4       /* a lookup does not load the epoch again */
#define NO_CLEARING_BIT 5         /* the epoch does not change when the clearing begins */
#define SMALL_EPOCH 6             /* the epoch is a number of few bits */
#define FROM_IS_NOT_COMPARED 7    /* a turn ends another epoch than the one that the caller has named */
#define LOCK_IS_TRUSTED 8         /* a turner does not look whether it still has its lock */
#define CLEAR_AFTER_TURNING 9     /* the new epoch begins before its words are cleared */
#define DUE_OUTSIDE_THE_LOCK 10   /* whether a turn is due is decided before the lock is taken */
#define SLOT_ONCE 11              /* the slot is not written again after the live page */
#define TIME_OF_DAY_ALONE 12      /* the time since the start of the system does not count */
#define CATCH_UP 13               /* an epoch begins when the one before should have ended */
#define BACK_IS_DUE 14            /* a clock that was set back makes a turn */
#define COPY_EPOCH_FIRST 15       /* a copy takes the epoch before the body */
#define COPY_ONCE 16              /* a copy does not begin again after E - 1 turns */
#define COPY_TIME_OF_A_TURN 17    /* a copy takes the time from a slot that is written again */
#define LIVE_BEFORE_SLOT 18       /* the live page gets the epoch first */
#define SLOT_NOT_SYNCED 19        /* a turn does not make its slots durable */
#define BODY_NOT_SYNCED 20        /* ... nor the cleared words */
#define MIXTURE_IS_CLEAN 21       /* no process compares the epochs of slot and live page */
#define RECOVERY_KEEPS_LIVE 22    /* a recovery begins with the live page's epoch */
#define NUMBER_OF_A_TURN 24       /* a caller that names an epoch has judged by a slot that is written again */
#define RECOVERY_LOWERS 23        /* a recovery takes back the change of the epoch that a turn has begun with */
#ifndef BUG
#define BUG NONE
#endif

#define KNOWS_TIME (SCENE == TIMED || SCENE == COPYING)
#define WINDOW (E - 1) /* an epoch lasts one tick of the clock */
#ifndef MOST_TICKS
#define MOST_TICKS (KNOWS_TIME -> 3 : 0)
#endif
#define PROCESSES 2 /* that may turn */
#ifndef TURNERS
#define TURNERS 2
#endif
#ifndef STOPPED_READER
#define STOPPED_READER 0 /* there is one; lookups of a single step are made at any moment */
#endif

/* The key's bits in each word of its line. Those of a key that was added in epoch 0, and never again, are `old`: in word 0. */
bit mem[E * PARTS];
#if SCENE == DURABLE
bit touched[E * PARTS]; /* since the last sync: on disk it is one or the other */
bit old = 1, old_touched;
#define TOUCH(i) touched[i] = 1
#else
#define TOUCH(i) skip
#endif

#define LOOKED_UP (mem[0] && mem[PARTS - 1] || mem[PARTS] && mem[2 * PARTS - 1] || mem[(E - 1) * PARTS] && mem[E * PARTS - 1])

byte live; /* the epoch of the live page */
#if SCENE == DURABLE
byte live_on_disk;
#endif
#if BUG == NO_CLEARING_BIT
#define EPOCH_WORD (live / 2 * 2)
#elif BUG == SMALL_EPOCH
#define EPOCH_WORD (live % (2 * E))
#else
#define EPOCH_WORD live
#endif

#define CLEAN 1
#define DIRTY 2
#define RECOVERING 3
typedef Slot { byte epoch; byte state; byte boot; bit covers; /* the owner's mark comes after its last add */
               byte turned_at; byte turned_after_boot; bit counts; /* turned_after_boot does, in this boot */ }
Slot slot;
#if SCENE == DURABLE
Slot slot_on_disk;
bit slot_dirty;
bit poisoned_on_disk, syncing_on_disk, recovering_on_disk;
#endif
bit poisoned, syncing, recovering;

byte sync_lock, state_lock; /* 0, or the process and 1 */
bit killed[PROCESSES], writing[PROCESSES], clearing[PROCESSES];
byte kills, cuts, boot = 1;
bit lost_a_lock, mixed, covering;

/* What is promised. */
bit acked;       /* the key's add has returned */
byte own_epoch;  /* of the last one */
byte own_time;
byte begun;      /* the epoch that the last turn ends, and 1 */
byte clock, jumps, turns;
byte offset = 10; /* of the time of day */
#define TIME_OF_DAY (clock + offset)

bit reading;     /* the reader that is stopped has the file open, */
bit sure;        /* and the key was promised all the time since its lookup began */
/* Within one start of the system the time of day does not count. */
#define COUNTED (cuts > 0 -> jumps : 0)
#define EXPIRED(epoch) (begun >= (epoch) + E && live / 2 + 1 >= (epoch) + E)
#define WITHIN_WINDOW(time) (KNOWS_TIME && COUNTED == 0 && clock < (time) + WINDOW)

inline acknowledge() {
  acked = 1; own_epoch = live / 2;
  if :: KNOWS_TIME -> own_time = clock :: else fi;
#if SCENE == DURABLE
  slot.covers = 0; slot_on_disk.covers = 0; covering = 0
#endif
}

/* An add that has to begin again is left here: the next one is the same. */
inline add_key() {
  word = EPOCH_WORD;
#if BUG == ANY_WORD_WILL_DO
  if :: LOOKED_UP -> part = PARTS :: else fi;
#endif
  do
  :: d_step { part < PARTS -> if :: mem[(word / 2) % E * PARTS + part] :: else -> mem[(word / 2) % E * PARTS + part] = 1; TOUCH((word / 2) % E * PARTS + part); wrote = 1 fi; part++ }
  :: part == PARTS -> break
  od;
  atomic {
    if
    :: EPOCH_WORD != word && BUG != ADDER_LOOKS_ONCE && !(BUG == QUIET_ADDER_LOOKS_ONCE && !wrote)
    :: else -> if :: !poisoned -> acknowledge(); added = 1 :: else fi
    fi;
    part = 0; wrote = 0; word = 0 }
}

inline take_sync_lock() { atomic { !sync_lock -> sync_lock = me + 1 } }
inline take_state_lock() { atomic { !state_lock -> state_lock = me + 1 } }
inline drop_state_lock() { d_step { state_lock = 0 } }
inline drop_locks() {
  if :: sync_lock == me + 1 -> sync_lock = 0 :: else fi;
  if :: state_lock == me + 1 -> state_lock = 0 :: else fi
}
inline bury(who) {
  writing[who] = 0; clearing[who] = 0;
  if :: sync_lock == who + 1 -> sync_lock = 0 :: else fi;
  if :: state_lock == who + 1 -> state_lock = 0 :: else fi
}

#if SCENE == DURABLE
inline copy_slot(to, from) { to.epoch = from.epoch; to.state = from.state; to.boot = from.boot; to.covers = from.covers }
inline sync_live_page() {
  live_on_disk = live; poisoned_on_disk = poisoned; syncing_on_disk = syncing; recovering_on_disk = recovering
}
inline sync_all() {
  d_step {
    i = 0; do :: i < E * PARTS -> touched[i] = 0; i++ :: else -> break od; i = 0;
    old_touched = 0;
    if :: slot_dirty -> copy_slot(slot_on_disk, slot); slot_dirty = 0 :: else fi;
    sync_live_page() }
}
inline changed_slot() { slot_dirty = 1 }
inline sync_turned_slot() {
  if
  :: BUG == BODY_NOT_SYNCED -> d_step { copy_slot(slot_on_disk, slot); slot_dirty = 0 }
  :: else -> sync_all()
  fi
}
#else
inline sync_all() { skip }
inline changed_slot() { skip }
inline sync_turned_slot() { skip }
#endif

inline poison() {
  d_step { poisoned = 1; slot.state = DIRTY; slot.boot = 0; changed_slot() };
  sync_all()
}

inline begin_epoch_in_slot() {
  if
  :: KNOWS_TIME ->
     slot.turned_at = (BUG == CATCH_UP -> slot.turned_at + 1 : TIME_OF_DAY);
     slot.turned_after_boot = (BUG == CATCH_UP -> slot.turned_after_boot + 1 : clock);
     slot.counts = slot.counts || BUG != CATCH_UP
  :: else
  fi;
  changed_slot()
}

#define DUE (slot.counts && BUG != TIME_OF_DAY_ALONE -> clock > slot.turned_after_boot : \
             (TIME_OF_DAY > slot.turned_at || (BUG == BACK_IS_DUE && TIME_OF_DAY < slot.turned_at)))
#define ONE_EPOCH (live / 2 == slot.epoch || BUG == MIXTURE_IS_CLEAN || BUG == RECOVERY_KEEPS_LIVE)

inline clear_words() {
  do
  :: d_step { clearing[me] && part < PARTS ->
       /* Between this look and the clearing after it the lock stays: that it is kept by a mapping does that. */
       if
       :: sync_lock == me + 1 || BUG == LOCK_IS_TRUSTED ->
          if :: mem[(ended + 1) % E * PARTS + part] -> mem[(ended + 1) % E * PARTS + part] = 0; TOUCH((ended + 1) % E * PARTS + part) :: else fi;
#if SCENE == DURABLE
          if :: (ended + 1) % E == 0 && old -> old = 0; old_touched = 1 :: else fi;
#endif
          part++
       :: else -> clearing[me] = 0; part = 0
       fi }
  :: else -> break
  od
}

/* Ends the epoch `from`, which the caller has read before, or by time the current one if a turn is due. That what a
 * process does under a lock before it changes anything else is one step here hides nothing. */
inline turn(by_number) {
  atomic {
    !sync_lock ->
    ended = slot.epoch;
    if
    :: poisoned || recovering || turns == TURNS
    :: !poisoned && !recovering && turns < TURNS && syncing -> sync_lock = me + 1
    :: !poisoned && !recovering && turns < TURNS && !syncing && (by_number -> from == ended || BUG == FROM_IS_NOT_COMPARED : (BUG == DUE_OUTSIDE_THE_LOCK -> due : DUE)) ->
       sync_lock = me + 1;
       /* No process that was let in may find anything else. */
       assert(live == 2 * ended || live == 2 * ended + 1 || BUG == MIXTURE_IS_CLEAN || BUG == RECOVERY_KEEPS_LIVE);
       if
       :: live == 2 * ended + 1
       :: else -> if :: !by_number -> assert(turns < clock + COUNTED) :: else fi; turns++
       fi;
       live = (BUG == CLEAR_AFTER_TURNING -> 2 * (ended + 1) : 2 * ended + 1);
       if :: begun <= ended -> begun = ended + 1 :: else fi;
       sure = sure && !EXPIRED(own_epoch);
       clearing[me] = 1
    :: else
    fi };
  if
  :: clearing[me] ->
     clear_words();
     if
     :: d_step { clearing[me] && (sync_lock == me + 1 || BUG == LOCK_IS_TRUSTED) -> clearing[me] = 0; part = 0 };
        if :: BUG == LIVE_BEFORE_SLOT -> live = 2 * (ended + 1) :: else fi;
        syncing = 1;
#if SCENE == DURABLE && BUG != BODY_NOT_SYNCED
        sync_all();
#endif
        if
        :: atomic { !state_lock -> state_lock = me + 1; slot.epoch = ended + 1; begin_epoch_in_slot() };
#if SCENE == DURABLE && BUG != SLOT_NOT_SYNCED
           sync_turned_slot();
#endif
           live = 2 * (ended + 1);
           if :: BUG != SLOT_ONCE && KNOWS_TIME -> d_step { begin_epoch_in_slot() } :: else fi;
           d_step { syncing = 0; drop_locks() }
        :: SCENE == DURABLE -> d_step { syncing = 0; drop_locks() } /* the state lock cannot be had in time */
        fi
     :: else -> d_step { clearing[me] = 0; part = 0; drop_locks() }
     fi
  :: !clearing[me] && sync_lock == me + 1 -> take_state_lock(); poison(); d_step { drop_locks() } /* a process died in a sync */
  :: else
  fi;
  ended = 0
}

#if SCENE != DURABLE
#define USABLE true
proctype Adder() {
  byte word, part;
  bit wrote, added;
  do
  :: add_key()
  od
}

proctype Turner(byte me; bit by_number) {
  byte from, ended, part;
  bit due;
  {
    do
    :: if
       :: SCENE == LIVE -> from = live / 2
       :: SCENE != LIVE && by_number -> atomic { DUE && (!syncing || BUG == NUMBER_OF_A_TURN) -> from = live / 2 } /* it sees in the file that the hour is over */
       :: SCENE != LIVE && !by_number -> if :: BUG == DUE_OUTSIDE_THE_LOCK -> due = DUE :: else fi
       fi;
       turn(by_number);
       d_step { from = 0; due = 0 }
    od
  } unless { killed[me] }
}
#endif

#if SCENE == DURABLE
#define IN_ONE_EPOCH (live == 2 * slot.epoch || live == 2 * slot.epoch + 1 || (live + 1 == 2 * slot.epoch && sync_lock) || \
                      BUG == MIXTURE_IS_CLEAN)
#define ANYBODY_WRITES (writing[0] || writing[1])
#define GOOD (!poisoned && !recovering && slot.state != RECOVERING && IN_ONE_EPOCH)
#define IN_USE (GOOD && ANYBODY_WRITES && slot.state == DIRTY && slot.boot == boot && !(syncing && !sync_lock))
#define ADOPTABLE (GOOD && !ANYBODY_WRITES && slot.state == DIRTY && slot.boot == boot && !syncing)
#define USABLE ((GOOD && slot.state == CLEAN) || IN_USE || ADOPTABLE)

inline sync_file(with_mark) {
  take_sync_lock();
  if
  :: poisoned
  :: !poisoned && syncing -> take_state_lock(); poison(); drop_state_lock()
  :: else ->
     d_step { syncing = 1; if :: with_mark -> covering = 1 :: else fi };
     sync_all();
     take_state_lock();
     d_step {
       if :: with_mark && covering -> slot.covers = 1 :: else fi;
       if :: with_mark && slot.state == RECOVERING -> slot.state = DIRTY :: else fi;
       covering = 0; changed_slot() };
     sync_all();
     d_step { if :: slot.state == DIRTY -> recovering = 0 :: else fi; syncing = 0 };
     drop_state_lock()
  fi;
  d_step { drop_locks() }
}

inline recover_file() {
  d_step { recovering = 1; slot.state = RECOVERING; slot.boot = boot; changed_slot() };
  sync_all();
  /* What a turn has begun stays begun: a reader may have loaded the epoch before. */
  d_step {
    if
    :: BUG == RECOVERY_KEEPS_LIVE
    :: BUG != RECOVERY_KEEPS_LIVE && live == 2 * slot.epoch + 1 && BUG != RECOVERY_LOWERS
    :: else -> live = 2 * slot.epoch
    fi };
  d_step { poisoned = 0; syncing = 0 }
}

inline close_file() {
  take_state_lock();
  if
  :: writing[1 - me] || poisoned
  :: else ->
     take_sync_lock();
     if
     :: syncing -> poison()
     :: else ->
        syncing = 1;
        sync_all();
        d_step { if :: slot.state == DIRTY -> slot.state = CLEAN :: else fi; changed_slot() };
        sync_all();
        syncing = 0
     fi
  fi;
  d_step { writing[me] = 0; drop_locks() }
}

/* Process 0 is the owner of all keys: it alone adds, and recovers. */
proctype Writer(byte me) {
  byte i, word, part, from, ended;
  bit wrote, added, due, must_replay;
again:
  do
  :: killed[me] -> atomic { killed[me] = 0; i = 0; word = 0; part = 0; from = 0; ended = 0; wrote = 0; added = 0; must_replay = 0 }
  :: else -> break
  od;
  {
    take_state_lock();
    if
    :: IN_USE
    :: GOOD && !ANYBODY_WRITES && slot.state == CLEAN ->
       d_step { syncing = 0; slot.state = DIRTY; slot.boot = boot; changed_slot() };
       sync_all()
    :: ADOPTABLE ->
       syncing = 1;
       sync_all();
       syncing = 0
    :: me == 0 && !ANYBODY_WRITES && !(GOOD && slot.state == CLEAN) -> /* strict, if it is adoptable */
       recover_file();
       must_replay = 1
    :: else -> drop_state_lock(); goto again
    fi;
    d_step { writing[me] = 1 };
    drop_state_lock();
    if
    :: must_replay ->
       added = (!acked || slot.covers);
       do :: !added && !poisoned -> add_key() :: else -> break od;
       sync_file(1);
       must_replay = 0
    :: else
    fi;
    do
    :: me == 0 && !poisoned -> add_key(); added = 0
    :: sync_file(me == 0)
    :: me == 1 -> from = live / 2; turn(1); from = 0
    :: break
    od;
    close_file()
  } unless { killed[me] };
  goto again
}
#endif

/* A lookup. It takes the words one after the other, in an order in which few turns do harm; answers of a file that is in doubt do not count. One that has to begin
 * again is left here, as one that found the key: the next one is the same. */
#if STOPPED_READER
proctype Reader() {
  byte word, i, time;
  bit has;
  do
  :: d_step { acked && !EXPIRED(own_epoch) && (reading || USABLE) ->
       sure = 1; time = own_time; reading = 1; word = EPOCH_WORD; i = 0; has = 0 };
     do
     :: d_step { i < E * PARTS && !(has && i % PARTS == 0) -> has = mem[E * PARTS - 1 - i] && (has || i % PARTS == 0); i++ }
     :: else -> break
     od;
     atomic {
       assert(has || !reading || (EPOCH_WORD != word && BUG != READER_LOOKS_ONCE) || poisoned || recovering ||
              !(sure || WITHIN_WINDOW(time)));
       sure = 0; time = 0; has = 0; i = 0; word = 0 }
  od
}
#endif

#if SCENE == COPYING
/* The copy's word with label x is the youngest that the key is in: the copy takes it for the word of epoch x. */
proctype Copier() {
  byte i, word, first, epoch, time, at, label, turned;
  bit has, settled, copied[E];
again:
  atomic { acked && !EXPIRED(own_epoch) -> epoch = own_epoch; time = own_time; first = live };
  word = first;
  do
  :: i < E -> d_step { copied[i] = mem[i]; i++ }
  :: else -> break
  od;
  do
  :: if :: BUG != COPY_EPOCH_FIRST -> word = live :: else fi;
     settled = !syncing || poisoned || BUG == COPY_TIME_OF_A_TURN;
     atomic { /* a clean slot is of no turn: a killed closer may have left *syncing* set */
       if
       :: (settled || slot.state == CLEAN) && (slot.epoch == word / 2 || BUG == COPY_EPOCH_FIRST) -> turned = slot.turned_after_boot; break
       :: else
       fi }
  od;
  if :: word / 2 - first / 2 >= E - 1 && BUG != COPY_ONCE -> d_step { i = 0; epoch = 0; time = 0; first = 0; word = 0; turned = 0; settled = 0 }; goto again :: else fi;
  d_step {
    at = (word / 2 + 1 > E -> word / 2 + 1 - E : 0);
    do
    :: at <= word / 2 -> if :: copied[at % E] -> has = 1; label = at :: else fi; at++
    :: else -> break
    od;
    if
    :: word < 2 * (epoch + E - 1) + 1 ->
       assert(has && label >= epoch);
       /* Nor is it cleared too early there: the turn that ends epoch word / 2 is due one tick after `turned`. */
       assert((turned < clock -> clock : turned + 1) + label + E - 1 - word / 2 >= time + WINDOW || BUG == COPY_EPOCH_FIRST)
    :: else
    fi;
    /* What was added in the epoch in which the copy began is not what it loses first. */
    assert(!(epoch == first / 2) || label + E - 1 > word / 2) }
}
#endif

active proctype World() {
  byte i;
  do
  :: atomic { USABLE && acked && (!EXPIRED(own_epoch) || WITHIN_WINDOW(own_time)) && !LOOKED_UP -> assert(false) }
  :: atomic { kills < MOST_KILLS && !killed[0] -> d_step { kills++; killed[0] = 1; bury(0) } }
  :: atomic { kills < MOST_KILLS && !killed[1] -> d_step { kills++; killed[1] = 1; bury(1) } }
#if SCENE == LIVE
  :: d_step { !lost_a_lock && clearing[0] && sync_lock == 1 -> lost_a_lock = 1; sync_lock = 0 }
#endif
#if SCENE == TIMED || SCENE == COPYING
  :: d_step { clock < MOST_TICKS -> clock++ }
  :: d_step { jumps < MOST_JUMPS && offset == 10 -> jumps++; offset = 15 }
  :: d_step { MOST_JUMPS > 0 && offset == 10 -> offset = 5 }
  :: d_step { cuts < MOST_CUTS && !sync_lock && !syncing -> cuts++; slot.counts = 0 } /* the system starts again */
#endif
#if SCENE == DURABLE
  :: d_step { cuts < MOST_CUTS && live != live_on_disk -> sync_live_page() }
  :: atomic { cuts < MOST_CUTS ->
       d_step { cuts++; boot++; killed[0] = 1; killed[1] = 1; bury(0); bury(1); reading = 0; sure = 0 };
       do
       :: i < E * PARTS -> if :: touched[i] -> mem[i] = 0 :: touched[i] -> mem[i] = 1 :: else fi; touched[i] = 0; i++
       :: else -> break
       od;
       i = 0;
       if :: old_touched -> old = 1 :: true fi;
       old_touched = 0;
       if :: slot_dirty -> copy_slot(slot, slot_on_disk) :: slot_dirty -> copy_slot(slot_on_disk, slot) :: else fi;
       slot_dirty = 0;
       if
       :: d_step { live = live_on_disk; poisoned = poisoned_on_disk; syncing = syncing_on_disk; recovering = recovering_on_disk }
       :: d_step { sync_live_page() }
       fi }
  :: d_step { MOST_CUTS > 0 && !mixed && slot.state == CLEAN && !ANYBODY_WRITES && !state_lock && live == 2 * slot.epoch ->
       mixed = 1; live = live + 2; reading = 0; sure = 0 }
  :: atomic { USABLE && acked && !EXPIRED(own_epoch) && !LOOKED_UP -> assert(false) }
  :: atomic { USABLE && live / 2 >= E && live / 2 < 2 * E && old -> assert(false) }
#endif
  od
}

init {
  atomic {
#if SCENE == DURABLE
    slot.state = CLEAN; slot.covers = 1; slot_on_disk.state = CLEAN; slot_on_disk.covers = 1;
    run Writer(0); run Writer(1);
#if STOPPED_READER
    run Reader()
#endif
#else
    slot.turned_at = 10; slot.counts = 1;
    run Adder(); run Turner(0, SCENE == LIVE); 
    if :: TURNERS > 1 -> run Turner(1, SCENE == LIVE || SCENE == TIMED) :: else fi;
#if SCENE == COPYING
    run Copier()
#else
#if STOPPED_READER
    run Reader()
#endif
#endif
#endif
  }
}
