package dev.bfstore;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A bfs_filter, and the count of its users. Every call enters and leaves; the last one to leave a closed handle frees
 * it. So no call uses freed memory, and close() does not wait for lookups.
 *
 * The count is spread over lanes, each in its own cache lines, so that threads do not wait for each other's line. A
 * thread always has the same lane.
 */
final class Handle implements Runnable {
  private static final System.Logger LOGGER = System.getLogger("dev.bfstore");
  private static final VarHandle LANE = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int LANES = 16;
  private static final int WIDTH = 16; // longs in two cache lines, since processors fetch lines in pairs

  private static final int OPEN = 0;
  private static final int PUBLISHING = 1;
  private static final int CLOSED = 2;

  final String name;
  final boolean mayBlock;
  private final Library library;
  private final long filter;
  /** Stands for the memory of a filter that load() copied: such a filter cannot be shut either. */
  static final Object LOADED = new Object();

  private final Object memory; // for a filter in a buffer; null: a file
  private final long[] users = new long[(LANES + 1) * WIDTH];
  private volatile int state = OPEN;
  private boolean abandoned; // written before state is CLOSED
  private boolean freed; // guarded by users

  Handle(Library library, long filter, String name, Object memory, boolean mayBlock) {
    this.library = library;
    this.filter = filter;
    this.name = name;
    this.memory = memory;
    this.mayBlock = mayBlock;
  }

  /** Begins a call; returns its lane, for leave(). */
  @SuppressWarnings("deprecation") // Thread.threadId() came with Java 19
  int enter() {
    int lane = ((int) Thread.currentThread().getId() & (LANES - 1)) * WIDTH + WIDTH;
    LANE.getAndAdd(users, lane, 1L);
    if (state != OPEN) {
      throw refused(lane);
    }
    return lane;
  }

  private RuntimeException refused(int lane) {
    int found = state;
    leave(lane);
    return found == PUBLISHING
        ? new IllegalStateException(name + ": another thread is publishing this filter, and needs it for itself")
        : closed();
  }

  private BfstoreException closed() {
    return BfstoreException.of(Abi.ESHUT, 0, name + ": the filter was closed; open the path again");
  }

  long filter() {
    return filter;
  }

  boolean isClosed() {
    return state == CLOSED;
  }

  void leave(int lane) {
    LANE.getAndAdd(users, lane, -1L);
    if (state == CLOSED) {
      freeIfUnused();
    }
  }

  private long inUse() {
    long sum = 0;
    for (int lane = 1; lane <= LANES; lane++) {
      sum += (long) LANE.getVolatile(users, lane * WIDTH);
    }
    return sum;
  }

  /** Returns true to the one caller that has to free the filter: no call uses it except `own` calls of the caller. */
  private boolean mayFree(int own) {
    synchronized (users) {
      boolean mine = !freed && inUse() == own;
      freed |= mine;
      return mine;
    }
  }

  private void freeIfUnused() {
    if (!mayFree(0)) {
      return;
    }
    if (abandoned) {
      library.bfs_abandon(filter);
    } else {
      library.bfs_close(filter, 0); // it was shut before, which reported any error
    }
  }

  /**
   * Closes the filter. If other threads are in calls, it shuts the filter now, and the last of them frees it. This call
   * counts as a user meanwhile, so that no other call frees the filter first and drops the error.
   */
  synchronized void close() {
    if (state == CLOSED) {
      return;
    }
    LANE.getAndAdd(users, WIDTH, 1L);
    state = CLOSED;
    try (Scratch scratch = Scratch.take(library)) {
      BfstoreException.check(end(scratch.error), scratch.error);
    } finally {
      leave(WIDTH);
    }
  }

  private int end(Struct.Value error) {
    if (mayFree(1)) {
      return library.bfs_close(filter, error.address());
    }
    return memory != null ? Abi.OK : library.bfs_shut(filter, error.address()); // a buffer cannot be shut
  }

  synchronized void abandon() {
    if (state == CLOSED) {
      return;
    }
    abandoned = true;
    state = CLOSED;
    freeIfUnused();
  }

  /** Publishes the filter, which needs the handle alone. */
  synchronized void publish() {
    if (state == CLOSED) {
      throw closed();
    }
    state = PUBLISHING;
    try (Scratch scratch = Scratch.take(library)) {
      if (inUse() != 0) {
        throw new IllegalStateException(name + ": publish() needs the filter for itself, and another thread uses it");
      }
      BfstoreException.check(library.bfs_publish(filter, scratch.error.address()), scratch.error);
    } finally {
      state = OPEN;
    }
  }

  /** The cleaner calls this when no thread has the filter any more. */
  @Override
  public void run() {
    if (state != CLOSED) {
      LOGGER.log(System.Logger.Level.WARNING,
          "{0}: a filter was not closed. Nothing that was added is lost, and nothing is synced", name);
      abandon();
    }
  }
}
