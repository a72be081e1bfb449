"""A control group whose processes may use little memory."""
import os


def hierarchy():
    """Returns the folder of control groups that limit memory, and the name of a group's file with the limit; or None."""
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
        for line in mounts:
            place, _, kind = line.partition(" - ")
            folder, kind = place.split()[4], kind.split()
            if kind[0] == "cgroup" and "memory" in kind[2].split(","):
                return folder, "memory.limit_in_bytes"
            if kind[0] == "cgroup2" and "memory" in _read(os.path.join(folder, "cgroup.subtree_control")).split():
                return folder, "memory.max"
    return None


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def limited(test, limit_bytes):
    """Makes a group that ends with the test. Returns what a process calls to enter it. Skips the test if there can be none."""
    found = hierarchy()
    if found is None:
        test.skipTest("no control groups that limit memory are mounted here")
    group = os.path.join(found[0], f"bfstore-test-{os.getpid()}")
    try:
        os.mkdir(group)
        test.addCleanup(os.rmdir, group)
        with open(os.path.join(group, found[1]), "w", encoding="utf-8") as limit:
            limit.write(str(limit_bytes))
    except OSError as error:
        test.skipTest(f"a control group can not be made here: {error}")

    def enter():
        with open(os.path.join(group, "cgroup.procs"), "w", encoding="utf-8") as members:
            members.write(str(os.getpid()))
    return enter


def forget(path):
    """Puts a file on the disk, and out of memory."""
    descriptor = os.open(path, os.O_RDWR)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
