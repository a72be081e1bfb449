"""reader.py, and bfstore_reader.h next to it: each file that reader.py opens is opened with the C header too, in every way
that it has. Both refuse it with one code, or give the same facts and answers. A test that imports this as `reader` so
tries both with each of its files.
"""
import reader
import single_header
from reader import *  # pylint: disable=wildcard-import,unused-wildcard-import

# The checks before that of the hash. Of a hash of other programs, which it does not have, the C header says BFR_EHASH where
# reader.py finds a later fault. (BFS_ERESERVED and BFS_EFEATURE may be before it or after.)
BEFORE_THE_HASH = {"BFS_ENOTREGULAR", "BFS_ESYMLINK", "BFS_ETOOSHORT", "BFS_EMAGIC", "BFS_EVERSION", "BFS_EFORM", "BFS_EHEADERSIZE",
                   "BFS_ECHECKSUM", "BFS_ELAYOUT"}


class Disagree(AssertionError):
    pass


def agree(holds, *what):
    if not holds:
        raise Disagree(f"reader.py and bfstore_reader.h disagree: {what}")


def state_of(f):
    """Returns the codes with which a file of this state may be refused; {None} if it is clean."""
    if not f.has_end:  # the C header does not ask whether the file may come from before a power cut
        return {"BFR_ELIVEWORD"}
    for bits, code in ((REPLACED, "ESUPERSEDED"), (POISONED, "EPOISONED"), (RECOVERING, "ERECOVERING")):
        if f.live_word & bits or code == "ERECOVERING" and f.state > 2:
            return {"BFR_" + code}
    if f.live_word & SUPERSEDED:
        return {"BFR_ESUPERSEDED"}
    if not f.of_one_epoch and (f.state != 2 or f.live_epoch != 2 * f.epoch - 1):  # a turn stores its slot first
        return {"BFR_EUNCLEAN"}
    if not f.of_one_number:
        return {"BFR_EUNCLEAN"}
    if not f.clean:  # reader.py does not tell a pair of slots that is not whole
        return {"BFR_EBUSY", "BFR_EUNCLEAN"} if f.state == 2 else {"BFR_EUNCLEAN"}
    return {"BFR_EFILLING" if f.live_word & FILLING else None}


def code_of(function, *arguments):
    """Returns (name of the code or None, the filter or None)."""
    try:
        return None, function(*arguments)
    except single_header.Refused as refused:
        return refused.code, None


def every_way(path, secret):
    """Opens the file as a map, as a copy and in memory: all have one verdict. Returns it, and the copy."""
    local = single_header.ANY_FILESYSTEM
    code, copy = code_of(single_header.open_file, path, secret, local | single_header.COPY)
    mapped, its_map = code_of(single_header.open_file, path, secret, local)
    agree(mapped == code, "mapped", mapped, "copied", code)
    if its_map:
        agree(its_map.health() is None, its_map.health())
        its_map.close()
    if code not in ("BFR_ESYMLINK", "BFR_ENOTREGULAR"):
        with open(path, "rb") as file:
            data = file.read()
        memory, _ = code_of(single_header.open_bytes, data, secret)
        agree(memory == code, "in memory", memory, "copied", code)
    return code, copy


def hash_of(path):
    with open(path, "rb") as file:
        return number(file.read(36)[34:])


class Filter(reader.Filter):
    """A filter of reader.py whose answers are compared with those of the C header: `other`, or None."""
    other = None

    def same_facts(self):
        facts = self.other.facts
        for name in ("layout", "hash", "k", "m", "n", "p", "seed", "epochs", "window_ms", "growth"):
            agree(getattr(facts, name) == getattr(self, name), name, getattr(facts, name), getattr(self, name))
        agree(bytes(facts.file_id) == self.file_id and facts.sealed == (self.seal is not None))
        part, parts, _ = struct.unpack("<IIQ", self.part_of or struct.pack("<IIQ", 0, 1, 0))
        agree((facts.part, facts.num_parts) == (part, parts))

    def digest(self, key):
        digest = super().digest(key)
        agree(not self.other or self.other.digest(key) == digest, "digest", key)
        return digest

    def contains_digest(self, digest):
        try:
            answer = super().contains_digest(digest)
        except Refused as refused:
            agree(not self.other or self.other.contains_digest(digest) == single_header.CODES["BFR" + refused.code[3:]], refused.code)
            raise
        agree(not self.other or self.other.contains_digest(digest) == int(answer), digest, answer)
        return answer

    def contains(self, key):
        answer = super().contains(key)
        agree(not self.other or self.other.contains(key) == int(answer), key, answer)
        return answer


def open_file(path, secret=None):
    try:
        f = reader.open_file(path, secret)
    except Refused as refused:
        code, _ = every_way(path, secret)
        foreign = refused.code not in BEFORE_THE_HASH and hash_of(path) > 3
        allowed = {"BFR" + refused.code[3:]} | ({"BFR_EHASH"} if foreign else set())
        agree(code in allowed, path, code, refused.code)
        raise
    code, f.other = every_way(path, secret)
    agree(code in (state_of(f) if f.hash < 4 else {"BFR_EHASH"}), path, code, f.state, f.clean, f.live_word)
    f.__class__ = Filter
    if f.other:
        f.same_facts()
    return f


def damaged(f):
    found = reader.damaged(f)
    if f.other:
        agree(f.other.verify() == (None if found == ([], True) else "BFR_EDAMAGED"), f.other.verify(), found)
    return found


def tolerate(f):
    f.other = None  # which does not go on with a damaged file
    return reader.tolerate(f)
