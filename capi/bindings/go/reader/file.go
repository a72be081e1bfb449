//go:build linux

// The file of a filter: the allowed filesystems, and the reads before it is mapped.

package reader

import (
	"os"
	"syscall"
	"time"

	"github.com/zeebo/xxh3"
)

// Filesystems of the kernel that keep one page cache for all processes (linux/magic.h). On others, such as networks and
// overlays, a reader might see an older file than the one that a writer adds to.
var local = map[uint32]string{0xef53: "ext4", 0x58465342: "xfs", 0x9123683e: "btrfs", 0x01021994: "tmpfs", 0xf2f52010: "f2fs",
	0x858458f6: "ramfs", 0x2fc12fc1: "zfs", 0x4d44: "vfat", 0xca451a4e: "bcachefs"}

type file struct {
	*os.File
	path  string
	bytes uint64
	facts syscall.Stat_t
}

func openFile(path string) (*file, error) {
	opened, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, failed(path, "opening", err.(*os.PathError).Err)
	}
	made := &file{File: opened, path: path}
	err = syscall.Fstat(int(opened.Fd()), &made.facts)
	if err == nil && made.facts.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = notRegular.of(path)
	} else if err != nil {
		err = failed(path, "asking what it is", err)
	} else if made.bytes = uint64(made.facts.Size); made.bytes < headerBytes {
		err = tooShort.of(path)
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return made, nil
}

func (f *file) mayBeHere() error {
	var facts syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &facts); err != nil {
		return failed(f.path, "asking for its filesystem", err)
	}
	if local[uint32(facts.Type)] == "" {
		return filesystem.of(f.path)
	}
	return nil
}

func (f *file) read(into []byte, offset uint64) error {
	if _, err := f.ReadAt(into, int64(offset)); err != nil {
		return failed(f.path, "reading", err)
	}
	return nil
}

// admit checks the file by the checklist. A slot that another process is writing looks torn for a moment: so it tries
// again.
func (f *file) admit() (*identity, error) {
	for tries := 0; ; tries++ {
		is, broken, err := f.look()
		if err != nil {
			return nil, err
		}
		if broken == nil {
			return is, nil
		}
		if tries == 5 || *broken != unclean && *broken != badSlots {
			return nil, broken.of(f.path)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// look reads the header and the end word through the descriptor.
func (f *file) look() (*identity, *kind, error) {
	header, end := make([]byte, headerBytes), make([]byte, 8)
	if err := f.read(header, 0); err != nil {
		return nil, nil, err
	}
	is, broken := readIdentity(header[:page], f.bytes)
	if broken != nil {
		return nil, broken, nil
	}
	if err := f.mayBeHere(); err != nil {
		return nil, nil, err
	}
	if err := f.read(end, is.endAt); err != nil {
		return nil, nil, err
	}
	return is, is.judge(header, u64(end)), nil
}

// verify compares a sealed file with its checksums.
func (f *file) verify(is *identity) error {
	if is.seal == nil {
		return notSealed.of(f.path)
	}
	sums := make([]byte, 8*is.seal.chunks)
	if err := f.read(sums, is.seal.sumsAt); err != nil {
		return err
	}
	if xxh3.HashSeed(sums, is.salt()) != is.seal.sumsSum {
		return damaged.of(f.path)
	}
	chunk := make([]byte, chunkBytes)
	for i := uint64(0); i < is.seal.chunks; i++ {
		if left := is.bodyBytes - i*chunkBytes; left < chunkBytes {
			chunk = chunk[:left]
		}
		if err := f.read(chunk, is.bodyAt+i*chunkBytes); err != nil {
			return err
		}
		if xxh3.HashSeed(chunk, is.salt()+i) != u64(sums[8*i:]) {
			return damaged.of(f.path)
		}
	}
	return nil
}
