"""Real URLs, from the lists of packages that apt has on this machine: the files and homepages of Debian's packages, and the
pages that Debian's sites have for each package, source and architecture."""

import subprocess

PAGES = ("https://packages.debian.org/bookworm/{package}", "https://packages.debian.org/bookworm/{arch}/{package}/filelist",
         "https://packages.debian.org/bookworm/{arch}/{package}/download", "https://bugs.debian.org/{package}",
         "https://manpages.debian.org/bookworm/{package}/index.html", "https://screenshots.debian.net/package/{package}",
         "https://snapshot.debian.org/binary/{package}/", "https://packages.debian.org/search?keywords={package}&searchon=names",
         "https://tracker.debian.org/pkg/{source}", "https://bugs.debian.org/src:{source}",
         "https://sources.debian.org/src/{source}/{version}/", "https://snapshot.debian.org/package/{source}/{version}/",
         "https://buildd.debian.org/status/package.php?p={source}&suite=bookworm",
         "https://qa.debian.org/popcon.php?package={source}", "https://security-tracker.debian.org/tracker/source-package/{source}",
         "https://packages.debian.org/source/bookworm/{source}")
OTHER_ARCHITECTURES = ("arm64", "armel", "armhf", "i386", "mips64el", "mipsel", "ppc64el", "s390x")


def _stanzas():
    with subprocess.Popen(["apt-cache", "dumpavail"], stdout=subprocess.PIPE, text=True) as process:
        fields = {}
        for line in process.stdout:
            if line == "\n":
                yield fields
                fields = {}
            elif not line.startswith(" "):
                name, _, value = line.rstrip("\n").partition(": ")
                fields[name] = value
        process.stdout.close()


def _of(fields):
    source, _, version = fields.get("Source", fields["Package"]).partition(" ")
    words = {"package": fields["Package"], "arch": fields["Architecture"], "source": source,
             "version": version.strip("()") or fields["Version"]}
    yield f"https://snapshot.debian.org/archive/debian/20260101T000000Z/{fields['Filename']}"
    if fields.get("Homepage", "").startswith("http"):
        yield fields["Homepage"]
    for page in PAGES:
        yield page.format(**words)
    if words["arch"] != "all":
        for arch in OTHER_ARCHITECTURES:
            yield f"https://packages.debian.org/bookworm/{arch}/{fields['Package']}/download"


def urls(count):
    """Returns at most this number of different URLs, in the order of the lists."""
    found = {}
    stanzas = _stanzas()
    for fields in stanzas:
        if "Filename" in fields:
            found.update(dict.fromkeys(_of(fields)))
        if len(found) >= count:
            break
    stanzas.close()
    return list(found)[:count]


if __name__ == "__main__":
    everything = urls(10**9)
    print(len(everything), *everything[::len(everything) // 30], sep="\n")
