package dev.bfstore;

/** The numbers of capi/bfstore.h, under their names without BFS_. A test compares each with the header. */
final class Abi {
  /** The version of the header that these are from, as bfs_version_number() has it. */
  static final int BUILT_FOR = 1000;

  static final int OK = 0;

  static final int EINVAL = -1;
  static final int ENOMEM = -2;
  static final int ESYSTEM = -3;
  static final int EBUSY = -4;
  static final int EEXIST = -5;
  static final int ENOENT = -6;
  static final int EACCES = -7;
  static final int EREADONLY = -8;
  static final int ENOSPC = -9;
  static final int EOWNERS = -10;
  static final int EDIGESTONLY = -11;
  static final int ESIZING = -12;
  static final int EINTERNAL = -13;
  static final int EUNSUPPORTED = -14;
  static final int EFORKED = -15;
  static final int EFILESYSTEM = -16;
  static final int EKEY = -17;
  static final int ESHUT = -18;
  static final int EMISMATCH = -19;
  static final int EKEYONLY = -20;
  static final int EPART = -21;
  static final int EUNCLEAN = -100;
  static final int EPOISONED = -101;
  static final int ELOST = -102;
  static final int ERECOVERING = -103;
  static final int ESUPERSEDED = -104;
  static final int EFULL = -105;
  static final int EFAULT = -106;
  static final int ESEALED = -107;
  static final int ENOTSEALED = -108;
  static final int EDAMAGED = -109;
  static final int EFILLING = -110;
  static final int ENOTREGULAR = -200;
  static final int ESYMLINK = -201;
  static final int ETOOSHORT = -202;
  static final int EMAGIC = -203;
  static final int EVERSION = -204;
  static final int EFORM = -205;
  static final int EHEADERSIZE = -206;
  static final int ECHECKSUM = -207;
  static final int ERESERVED = -208;
  static final int EFEATURE = -209;
  static final int ELAYOUT = -210;
  static final int EHASH = -211;
  static final int EPROBES = -212;
  static final int EBITS = -213;
  static final int ECAPACITY = -214;
  static final int EBODY = -215;
  static final int ERECORD = -216;
  static final int ECANARY = -217;
  static final int ESLOTS = -218;
  static final int ELIVEWORD = -219;

  static final int LAYOUT_BLOCKED = 1;
  static final int LAYOUT_CLASSIC = 2;
  static final int LAYOUT_COUNTING = 3;

  static final int HASH_XXH3 = 1;
  static final int HASH_EXTERNAL = 2;
  static final int HASH_SIPHASH = 3;
  static final int HASH_MURMUR3 = 4;
  static final int HASH_MURMUR3_UNSIGNED = 5;
  static final int HASH_JAVA_POLYNOMIAL = 6;
  static final int HASH_JAYBIRD = 7;
  static final int HASH_PYBLOOM_LIVE = 8;

  static final long OPEN_READ = 0x1L;
  static final long OPEN_WRITE = 0x2L;
  static final long OPEN_EXCLUSIVE = 0x4L;
  static final long OPEN_POPULATE = 0x10L;
  static final long OPEN_RANDOM = 0x20L;
  static final long OPEN_COPY = 0x40L;
  static final long OPEN_GUARD = 0x80L;
  static final long OPEN_RECOVER = 0x100L;
  static final long OPEN_ACCEPT_LOSS = 0x200L;
  static final long OPEN_STRICT = 0x400L;
  static final long OPEN_ANY_FILESYSTEM = 0x800L;
  static final long OPEN_LIMIT = 0x1000L;
  static final long OPEN_NOFOLLOW = 0x2000L;
  static final long OPEN_NO_WRITE = 0x4000L;
  static final long OPEN_FOLLOW = 0x8000L;
  static final long OPEN_RANGE = 0x10000L;
  static final long OPEN_VERIFY = 0x20000L;
  static final long OPEN_TOLERATE_DAMAGE = 0x40000L;
  static final long OPEN_BARE = 0x80000L;
  static final long OPEN_FD = 0x4000000L;

  static final long OPTION_SEED = 0x100000L;
  static final long OPTION_REPLACE = 0x200000L;
  static final long OPTION_UNPUBLISHED = 0x400000L;
  static final long OPTION_FILE_ID = 0x8000000L;
  static final long OPTION_TUTORIAL_SIZING = 0x10000000L;
  static final long OPTION_FILLING = 0x800000L;

  static final long STATS_FILL = 0x1000000L;
  static final long STATS_MEMORY = 0x2000000L;

  static final int LOCK_TIMEOUT_DEFAULT = 0;
  static final int LOCK_NO_WAIT = -2; // 4294967294, unsigned
  static final int LOCK_FOREVER = -1; // 4294967295, unsigned

  static final int WRITEBACK_CHECK_DEFAULT = 0;
  static final int WRITEBACK_CHECK_EACH_ADD = -2; // 4294967294, unsigned

  static final int DIFFERS_LAYOUT = 0x1;
  static final int DIFFERS_HASH = 0x2;
  static final int DIFFERS_SEED = 0x4;
  static final int DIFFERS_KEY = 0x8;
  static final int DIFFERS_NUM_PROBES = 0x10;
  static final int DIFFERS_NUM_BITS = 0x20;
  static final int DIFFERS_PART = 0x40;

  static final int KEYS_POINTERS = 1;
  static final int KEYS_PAIRS = 2;
  static final int KEYS_FIXED = 3;
  static final int KEYS_COLUMN32 = 4;
  static final int KEYS_COLUMN64 = 5;
  static final int KEYS_DIGESTS = 6;

  static final int CAN_ADD = 0x1;
  static final int CAN_REMOVE = 0x2;
  static final int CAN_MERGE = 0x4;
  static final int CAN_FOLD = 0x8;
  static final int CAN_GROW = 0x10;
  static final int CAN_EXPIRE = 0x20;
  static final int CAN_INTERSECT = 0x40;

  static final int BITS_LITTLE = 1;
  static final int BITS_BIG = 2;

  private Abi() {}
}
