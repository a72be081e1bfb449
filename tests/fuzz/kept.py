"""The kept inputs of the fuzzers, an archive for each target: kept/TARGET.tar.gz. Equal inputs make equal archives: names
are in order, and times and owners are zero.

    kept.py unpack ARCHIVE FOLDER    the folder has these inputs afterwards, and no others
    kept.py pack FOLDER ARCHIVE      the archive has the files of the folder afterwards, and no others
    kept.py add ARCHIVE FILE...      the archive has these files, too

An archive that is damaged or has no inputs is an error, and so is a folder without files.
"""
import gzip
import io
import os
import pathlib
import shutil
import sys
import tarfile
import zlib


class KeptError(Exception):
    """An error whose text names the archive or the folder."""


def read(archive):
    """Returns {name: bytes} of all inputs."""
    try:
        # Read as a whole, so that gzip's checksum is compared before any input is used.
        tar = tarfile.open(fileobj=io.BytesIO(gzip.decompress(pathlib.Path(archive).read_bytes())), mode="r:")
        inputs = {member.name: tar.extractfile(member).read() for member in tar if member.isreg()}
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise KeptError(f"{archive}: {error}") from error
    strange = [name for name in inputs if name in (".", "..") or "/" in name]
    if strange:
        raise KeptError(f"{archive}: {strange[0]} is not the name of an input")
    if not inputs:
        raise KeptError(f"{archive}: has no inputs")
    return inputs


def write(archive, inputs):
    if not inputs:
        raise KeptError(f"{archive}: there are no inputs for it")
    tar_bytes, packed = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar_bytes, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(inputs):
            member = tarfile.TarInfo(name)
            member.size = len(inputs[name])
            tar.addfile(member, io.BytesIO(inputs[name]))
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as file:
        file.write(tar_bytes.getvalue())
    new = pathlib.Path(f"{archive}.new")
    new.write_bytes(packed.getvalue())
    os.replace(new, archive)


def files_of(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir() if path.is_file()}


def unpack(archive, folder):
    inputs, folder = read(archive), pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in inputs.items():
        (folder / name).write_bytes(content)


def add(archive, *paths):
    inputs = read(archive) if pathlib.Path(archive).exists() else {}
    write(archive, inputs | {pathlib.Path(path).name: pathlib.Path(path).read_bytes() for path in paths})


def main(arguments):
    match arguments:
        case ["unpack", archive, folder]:
            unpack(archive, folder)
        case ["pack", folder, archive]:
            write(archive, files_of(folder))
        case ["add", archive, *paths] if paths:
            add(archive, *paths)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (KeptError, OSError) as problem:
        sys.exit(str(problem))
