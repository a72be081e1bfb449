/* A model of replacing a file that may have another name (FORMAT.md, "Replacing a file"), for the model checker Spin: one
 * process replaces it, may fail and may be killed at any moment; the power may fail; others open the old file, by its path
 * and by its other name, at any moment, and clear what a dead replacer left. What is checked: once another file has the
 * path, no process that opens the old one, or has it open, is answered by it.
 *
 * run.py checks the model as it is, and then with each of the BUGs below, which the checker must find. */

/* Bugs to seed, one by one. */
#define NONE 0
#define ONE_BIT 1              /* there is no replaced bit */
#define SAID_AFTER_ONLY 2      /* where there are more names, replaced is set after the renaming alone */
#define NOT_ON_DISK 3          /* it is not synced before the renaming */
#define OPENER_CLEARS_IT 4     /* an opener clears replaced, too */
#define UNLINKED_GOES_ON 5     /* superseded is cleared where the file has no name */
#define LETS_GO_TOO_EARLY 6    /* the state lock is let go before the renaming */
#ifndef BUG
#define BUG NONE
#endif
#ifndef MOST_KILLS
#define MOST_KILLS 1
#endif
#ifndef MOST_CUTS
#define MOST_CUTS 1
#endif

bit hard_link;              /* the other name is a hard link; or else it is a mount of the single file */
bit renamed;                /* another file has the path */
bit superseded, replaced, superseded_on_disk, replaced_on_disk;
bit state_lock, state_lock_of_replacer;
bit killed, gone;           /* the old file, with the last of its names, by a power cut */
byte kills, cuts;

#define HAS_A_NAME (!renamed || hard_link)

proctype Replacer() {
  {
    atomic { !state_lock -> state_lock = 1; state_lock_of_replacer = 1 };
    superseded = 1;
    if
    :: hard_link && BUG != ONE_BIT && BUG != SAID_AFTER_ONLY ->
       replaced = 1;
       if :: BUG != NOT_ON_DISK -> d_step { replaced_on_disk = replaced; superseded_on_disk = superseded } :: else fi
    :: else
    fi;
    if :: BUG == LETS_GO_TOO_EARLY -> d_step { state_lock = 0; state_lock_of_replacer = 0 } :: else fi;
    if
    :: renamed = 1; /* durably: the folder is synced */
       if :: BUG != ONE_BIT -> d_step { superseded = 1; replaced = 1 } :: else fi
    :: d_step { superseded = 0; replaced = 0 } /* the renaming failed */
    fi;
    d_step { if :: state_lock_of_replacer -> state_lock = 0; state_lock_of_replacer = 0 :: else fi }
  } unless { killed }
}

/* By its path, or by its other name: under the state lock it clears what a dead replacer left. */
active proctype Opener() {
  do
  :: atomic { !state_lock && !gone -> state_lock = 1 };
     if
     :: superseded && (HAS_A_NAME || BUG == UNLINKED_GOES_ON) && (!replaced || BUG == OPENER_CLEARS_IT) ->
        d_step { superseded = 0; if :: BUG == OPENER_CLEARS_IT -> replaced = 0 :: else fi }
     :: else
     fi;
     d_step { state_lock = 0 }
  od
}

active proctype World() {
  do
  :: d_step { superseded_on_disk != superseded -> superseded_on_disk = superseded; replaced_on_disk = replaced }
  :: d_step { replaced_on_disk != replaced -> superseded_on_disk = superseded; replaced_on_disk = replaced }
  :: d_step { kills < MOST_KILLS && !killed -> kills++; killed = 1;
       if :: state_lock_of_replacer -> state_lock = 0; state_lock_of_replacer = 0 :: else fi }
  :: d_step { cuts < MOST_CUTS && !state_lock -> cuts++; killed = 1; gone = !HAS_A_NAME;
       superseded = superseded_on_disk; replaced = replaced_on_disk }
  :: d_step { cuts < MOST_CUTS && state_lock_of_replacer -> cuts++; killed = 1; gone = !HAS_A_NAME; state_lock = 0;
       state_lock_of_replacer = 0; superseded = superseded_on_disk; replaced = replaced_on_disk }
  od
}

/* Lookups look at the live word, and so do adds, after their bits are set. What is said between the renaming and the bit
 * that follows it, no one can tell from before: superseded is set all the time. */
active proctype Reader() {
  do
  :: atomic { renamed && !gone && !superseded && !replaced -> assert(false) }
  od
}

init {
  atomic { if :: hard_link = 1 :: hard_link = 0 fi; run Replacer() }
}
