"""The library's messages in the words of each language: the tables from which the bindings translate them.

The library names options as C does ("only num_bits was given"), and a way out as a command of bf ("Recover it (bf recover)").
Each language gets four lists of pairs (the library's words, its own):

    FUNCTIONS  at the beginning of a message, before a colon: the function that was called, "bfs_open"
    QUALIFIED  words of a message about a function, or about bfs_options: fields of bfs_options, and flags
    NAMES      words of any message: fields whose names are not English
    PHRASES    anywhere in a message: what to do, with the call or the option that does it

A word is what is between two spaces, without the punctuation after it, so that a path stays as it is.
"""

import re

# In this order. {replace} and so on are the language's own: Language.ways.
PHRASES = (
    ("or replace it.", "or replace it ({replace}), or open it to add ({open_or_create})."),
    ("or create it first.", "or create it first ({open_or_create})."),
    ("the filter's layout cannot do this", "the filter's layout cannot do this (to remove or count keys, make it with {counting})"),
    ("open it for writing", "open it for writing ({write})"),
    ("Open it for writing", "Open it for writing ({write})"),
    ("Recover it (bf recover) with the keys after the marks, accept the loss, or rebuild it.",
     "Recover it ({recover}) with the keys after the marks, accept the loss ({accept_loss}), or rebuild it."),
    ("(bf recover)", "({recover})"),
    ("Build it (bf build, bfs_build), or create it unpublished, add the keys and publish it.",
     "Build it ({build}), or create it unpublished ({unpublished}), add the keys and publish it ({publish})."),
    ("(bf build)", "({build})"),
    ("(bf finish-filling)", "({finish_filling})"),
    ("(bf seal)", "({seal})"),
    ("(bf seal COPY FILE --force)", "({seal})"),
    ("(bf create --like)", "({like})"),
    ("(bf build --like)", "({like})"),
    ("(bf merge)", "({merge})"),
    ("(bf join)", "({join})"),
    ("(bf turn)", "({turn})"),
    ("(bf create --window 24h)", "({day})"),
    ("Give no window, or a layout that has one.", "Give no window ({window}), or a layout that has one ({window_layout})."),
    ("Give the window: for how long they are kept.", "Give the window, for how long they are kept ({day})."),
    ("Leave the window out, or name another file.", "Leave the window out ({window}), or name another file."),
    ("is not between 0 and 1. Give one such as 0.01.", "is not between 0 and 1. Give one such as 0.01 ({fpr})."),
    ("open the file for shared writing.", "open the file for shared writing ({shared})."),
    ("(bf import)", "({import_foreign})"),
    ("seal it or allow any filesystem.", "seal it ({seal}) or allow any filesystem ({any_filesystem})."),
    ("or allow any filesystem.", "or allow any filesystem ({any_filesystem})."),
    ("Give the secret that it was made with.", "Give the secret that it was made with ({secret})."),
    ("Give the one that it was made with.", "Give the one that it was made with ({secret})."),
    ("needs a secret. Give 16 random bytes.", "needs a secret. Give 16 random bytes ({secret})."),
    ("Open it without one.", "Open it without one ({secret})."),
    ("Give siphash as the hash, or no secret.", "Give siphash as the hash ({hash}), or no secret ({secret})."),
    ("Give siphash a secret instead.", "Give siphash a secret instead ({secret})."),
    ("a file to be like.", "a file to be like ({like})."),
    ("bfs_options: one of seeds and num_seeds is given without the other", "the list of seeds is empty; leave it out"),
    ("the handle was shut", "the filter was closed"),
    ("Give one from 0 to the number of parts less 1.", "Give one from 0 to the number of parts less 1, and the number of parts."),
    ("the mode has bits outside 0777. Give one such as 0640.", "{mode} has bits outside {octal}777. Give one such as {octal}640."),
    ("the filter's hash is external: it takes digests, not keys", "the filter's hash is external: it takes digests, not keys ({digests})"),
    ("; remove it from the flags", "; leave it out"),
    ("; leave it 0", "; leave it out"),
)
ENGLISH = {"capacity", "layout", "hash", "like", "seed", "seeds", "note", "secret", "part", "range", "mode", "threads", "fd"}


def camel(name):
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)


def pascal(name):
    name = re.sub(r"(?:^|_)(\w)", lambda found: found[1].upper(), name)
    return re.sub(r"^Fpr$", "FPR", re.sub(r"Id$", "ID", name))


class Language:
    """`case` makes a name of the language from the library's, "num_bits"; `option` and `flag` are how it gives one."""

    def __init__(self, case, option, flag, ways, names=None, functions=None):
        self.case, self.option, self.flag, self.ways = case, option, flag, ways
        self.names, self.functions = names or {}, functions or {}

    def field_name(self, field):
        return self.names.get(field, self.case(field.removesuffix("_ms")))

    def flag_name(self, name):
        return self.names.get(f"BFS_{name}") or self.flag.format(self.names.get(name.lower(), self.case(name.lower())))

    def function_name(self, name):
        name = name.removeprefix("bfs_")
        if name.startswith("foreign_"):
            name = name.removeprefix("foreign_") + "_foreign"
        return self.functions.get(name, self.case(name))


MODES = {"BFS_READ": 'mode "r"', "BFS_WRITE": 'mode "r+"', "BFS_CREATE": 'mode "a"'}
LANGUAGES = {
    "python": Language(
        str, "{}=", "{}=True",
        {"mode": "permissions=", "octal": "0o", "digests": "add_digest(), contains_digest() and the like",
         "replace": "replace=True", "open_or_create": 'open() with mode "a"', "write": 'mode "r+"',
         "recover": 'open() with mode "r+" and recover=True', "accept_loss": "accept_loss=True", "finish_filling": "finish_filling()",
         "seal": "seal()", "like": "like=", "merge": "merge()", "join": "join()", "turn": "turn()", "import_foreign": "import_foreign()",
         "any_filesystem": "any_filesystem=True", "secret": "secret=", "hash": "hash=",
         "day": "window=86_400", "window": "window=", "window_layout": 'layout="window"', "fpr": "fpr=",
         "shared": 'mode "r+" without exclusive=True',
         "counting": 'layout="counting"', "build": "build()", "unpublished": "unpublished=True", "publish": "publish()"},
        {**MODES, "mode": "permissions", "range": "offset", "BFS_NOFOLLOW": "follow_symlinks=False"}, {"open_memory": "wrap and load"}),
    "node": Language(
        camel, "{}", "{}: true",
        {"mode": "mode", "octal": "0o", "digests": "addDigest(), containsDigest() and the like",
         "replace": "replace: true", "open_or_create": 'mode "a"', "write": 'mode "r+"', "recover": 'mode "r+" with recover: true',
         "accept_loss": "acceptLoss: true", "finish_filling": "finishFilling()", "seal": "copy() with sealed: true", "like": "like",
         "merge": "merge()", "join": "join()", "turn": "turn()", "import_foreign": "importForeign()",
         "any_filesystem": "anyFilesystem: true", "secret": "the option secret", "hash": "the option hash",
         "day": "window: 24 * 3_600_000", "window": "the option window", "window_layout": 'layout: "window"', "fpr": "the option fpr",
         "shared": 'mode "r+" without exclusive: true',
         "counting": 'layout: "counting"', "build": "build()", "unpublished": "unpublished: true", "publish": "publish()"},
        {**MODES, "BFS_NOFOLLOW": "followSymlinks: false"}, {"open_memory": "wrap and load"}),
    "java": Language(
        camel, "{}()", "{}()",
        {"mode": "permissions()", "octal": "0", "digests": "addDigest(), containsDigest() and the like",
         "replace": "replace()", "open_or_create": "Filter.openOrCreate", "write": "new OpenOptions().write()",
         "recover": "new OpenOptions().write().recover()", "accept_loss": "acceptLoss()", "finish_filling": "finishFilling()",
         "seal": "copyTo with new CopyOptions().sealed()", "like": "like()", "merge": "merge()", "join": "Filter.join", "turn": "turn()",
         "import_foreign": "Filter.importForeign", "any_filesystem": "anyFilesystem()", "secret": "secret()", "hash": "hash()",
         "day": "window(Duration.ofHours(24))", "window": "window()", "window_layout": "layout(Layout.WINDOW)", "fpr": "fpr()",
         "shared": "new OpenOptions().write() without exclusive()",
         "counting": "layout(Layout.COUNTING)", "build": "Filter.build", "unpublished": "unpublished()", "publish": "publish()"},
        {"mode": "permissions", "private": "privateCopy", "nofollow": "noFollow", "BFS_READ": "reading", "BFS_CREATE": "openOrCreate"},
        {"open_memory": "wrap and load", "copy": "copyTo", "inspect_foreign": "inspect", "recognize_foreign": "recognize",
         "open with BFS_CREATE": "openOrCreate"}),
    "go": Language(
        pascal, "{}", "{}",
        {"mode": "Mode", "octal": "0o", "digests": "AddDigest, ContainsDigest and the like",
         "replace": "Replace: true", "open_or_create": "OpenOrCreate", "write": "OpenOptions{Write: true}",
         "recover": "OpenOptions{Write: true, Recover: true}", "accept_loss": "AcceptLoss: true", "finish_filling": "FinishFilling",
         "seal": "Copy with CopyOptions{Sealed: true}", "like": "Options.Like", "merge": "Merge", "join": "Join", "turn": "Turn",
         "import_foreign": "ImportForeign", "any_filesystem": "AnyFilesystem: true", "secret": "the option Secret",
         "hash": "the option Hash",
         "day": "Options{Window: 24 * time.Hour}", "window": "the option Window", "window_layout": "Layout: Window", "fpr": "the option FPR",
         "shared": "OpenOptions{Write: true} without Exclusive",
         "counting": "Layout: Counting", "build": "Build", "unpublished": "Unpublished: true", "publish": "Publish"},
        {"nofollow": "NoFollow", "BFS_READ": "reading", "BFS_CREATE": "OpenOrCreate"},
        {"open_memory": "Wrap and Load", "open with BFS_CREATE": "OpenOrCreate"}),
    "rust": Language(
        str, "{}()", "{}(true)",
        {"mode": "mode()", "octal": "0o", "digests": "add_digest(), contains_digest() and the like",
         "replace": "replace(true)", "open_or_create": "open_or_create()", "write": "options().write(true)",
         "recover": "options().write(true).recover(true)", "accept_loss": "accept_loss(true)", "finish_filling": "finish_filling()",
         "seal": "seal()", "like": "like()", "merge": "merge()", "join": "join()", "turn": "turn()", "import_foreign": "import_foreign()",
         "any_filesystem": "any_filesystem(true)", "secret": "secret()", "hash": "hash()",
         "day": "window(Duration::from_secs(86_400))", "window": "window()", "window_layout": "layout(Layout::Window)", "fpr": "fpr()",
         "shared": "options().write(true) without exclusive(true)",
         "counting": "layout(Layout::Counting)", "build": "build()", "unpublished": "unpublished(true)", "publish": "publish()"},
        {"BFS_NOFOLLOW": "follow_symlinks(false)", "BFS_READ": "reading", "BFS_CREATE": "open_or_create"},
        {"open_memory": "wrap and load", "copy": "save", "open with BFS_CREATE": "open_or_create"}),
}


def functions(abi, language):
    """The longer one of two that begin alike comes first."""
    yield "bfs_open with BFS_CREATE", language.functions.get("open with BFS_CREATE", 'open with mode "a"')
    yield "bfs_open with a range", language.function_name("bfs_open") + " with a range"
    yield from ((one.name, language.function_name(one.name)) for one in abi.functions)


def option_fields(abi):
    struct, = (one for one in abi.structs if one.name == "bfs_options")
    names = {field.name for field in struct.fields}
    lengths = {"struct_bytes", "num_seeds", *(name for name in names if name.removesuffix("_bytes") in names - {name})}
    return [field.name for field in struct.fields if field.name not in lengths]


def qualified(abi, language):
    yield from ((f"bfs_options.{name}", language.option.format(language.field_name(name))) for name in option_fields(abi))
    yield from ((one.name, language.flag_name(one.name.removeprefix("BFS_"))) for one in abi.constants if one.bits == 64)


def names(abi, language):
    every = ((name, language.field_name(name)) for name in option_fields(abi) if name not in ENGLISH and not name.endswith("_ms"))
    return ((name, own) for name, own in every if name != own)


def phrases(language):
    return ((theirs, own.format(**language.ways)) for theirs, own in PHRASES)


def tables(abi, language):
    """Yields (name, words, pairs)."""
    own = LANGUAGES[language]
    yield "FUNCTIONS", "At the beginning of a message.", list(functions(abi, own))
    yield "QUALIFIED", "Words of a message about a function or about options.", list(qualified(abi, own))
    yield "NAMES", "Words of any message.", list(names(abi, own))
    yield "PHRASES", "Anywhere in a message.", list(phrases(own))
