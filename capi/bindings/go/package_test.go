// The module is packed, put into an empty module without a network, used by README's program, and removed.

package bfstore_test

import (
	"archive/zip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bfstore.example/bfstore"
	"bfstore.example/bfstore/reader"
)

const module = "bfstore.example/bfstore"

// pack makes a proxy of files that has only this module.
func pack(t *testing.T, version string) (proxy string) {
	proxy = t.TempDir()
	folder := filepath.Join(proxy, module, "@v")
	ok(t, os.MkdirAll(folder, 0o700))
	ok(t, os.WriteFile(filepath.Join(folder, version+".info"), []byte(`{"Version":"`+version+`"}`), 0o600))
	ok(t, os.WriteFile(filepath.Join(folder, version+".mod"), must[[]byte](t)(os.ReadFile("go.mod")), 0o600))
	ok(t, os.WriteFile(filepath.Join(folder, "list"), []byte(version+"\n"), 0o600))
	file := must[*os.File](t)(os.Create(filepath.Join(folder, version+".zip")))
	packed := zip.NewWriter(file)
	add := func(name, from string) {
		must[int](t)(must[io.Writer](t)(packed.Create(module + "@" + version + "/" + name)).Write(must[[]byte](t)(os.ReadFile(from))))
	}
	add("LICENSE", filepath.Join(root, "LICENSE"))
	ok(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			add(path, path)
		}
		return err
	}))
	ok(t, packed.Close())
	ok(t, file.Close())
	return proxy
}

// programs returns the programs in README: the package's, and the reader's.
func programs(t *testing.T) (one, plain string) {
	text := string(must[[]byte](t)(os.ReadFile("README.md")))
	found := regexp.MustCompile("(?s)\n```go\n(.*?)```").FindAllStringSubmatch(text, -1)
	equal(t, len(found), 2)
	return found[0][1], found[1][1]
}

// said is what README's first program prints.
const said = "true false [true false]\n"

// TestTheProgramInREADMERunsTwiceAndInFourProcessesAtOnce: the processes make the file, open it, add to it and close it
// at once. In every second round the file is there.
func TestTheProgramInREADMERunsTwiceAndInFourProcessesAtOnce(t *testing.T) {
	source := filepath.Join(t.TempDir(), "main.go")
	built := filepath.Join(t.TempDir(), "program")
	one, _ := programs(t)
	ok(t, os.WriteFile(source, []byte(one), 0o600))
	words, err := exec.Command("go", "build", "-trimpath", "-o", built, source).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, words)
	}
	folder := t.TempDir()
	for times := 0; times < 2; times++ {
		together(t, built, folder, 1)
	}
	succeeded := 0
	for round := 0; round < 40; round++ {
		if round%2 == 0 {
			folder = t.TempDir()
		}
		succeeded += together(t, built, folder, 4)
	}
	equal(t, succeeded, 160)
}

// together runs the program in several processes at once, and returns how many printed what they should. Then the file
// is clean, and has the keys.
func together(t *testing.T, program, folder string, processes int) (succeeded int) {
	commands := make([]*exec.Cmd, processes)
	outputs := make([]strings.Builder, processes)
	for i := range commands {
		commands[i] = exec.Command(program)
		commands[i].Dir, commands[i].Stdout, commands[i].Stderr = folder, &outputs[i], &outputs[i]
		ok(t, commands[i].Start())
	}
	for i, command := range commands {
		if err := command.Wait(); err != nil || outputs[i].String() != said {
			t.Errorf("%v: %s", err, outputs[i].String())
		} else {
			succeeded++
		}
	}
	file := must[*reader.Filter](t)(reader.Open(filepath.Join(folder, "users.bf"), reader.Options{})) // only a clean one
	defer file.Close()
	for _, key := range []string{"alice", "bob", "carol"} {
		equal(t, must[bool](t)(file.ContainsString(key)), true, key)
	}
	return succeeded
}

func TestTheModuleIsInstalledUsedAndRemoved(t *testing.T) {
	fetched := filepath.Join(os.Getenv("GOMODCACHE"), "cache", "download")
	if _, err := os.Stat(fetched); err != nil {
		t.Skip("the modules that the reader needs were not fetched")
	}
	version := "v" + bfstore.Version()
	folder := t.TempDir()
	run := func(more []string, words ...string) string {
		command := exec.Command(words[0], words[1:]...)
		command.Dir = folder
		command.Env = append(os.Environ(), "GOFLAGS=-mod=mod -modcacherw -trimpath", "GOMODCACHE="+filepath.Join(folder, "modules"),
			"GOPROXY=file://"+pack(t, version)+",file://"+fetched)
		command.Env = append(command.Env, more...)
		said, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", words, err, said)
		}
		return string(said)
	}
	one, plain := programs(t)
	ok(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(one), 0o600))
	run(nil, "go", "mod", "init", "program.example/program")
	run(nil, "go", "get", module+"@"+version)

	shared := []string{"CGO_CFLAGS=-O2 -g", "CGO_LDFLAGS=", "LD_LIBRARY_PATH=" + os.Getenv("BFSTORE_SHARED")} // by pkg-config
	run(shared, "go", "build", "-tags", "bfstore_shared", "-o", "program")
	equal(t, run(shared, "./program"), said)
	equal(t, strings.Contains(run(shared, "ldd", "program"), "libbfstore.so.0"), true)

	run(nil, "go", "build", "-o", "program")
	equal(t, run(nil, "./program"), said)
	equal(t, strings.Contains(run(nil, "ldd", "program"), "libbfstore"), false)

	ok(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(plain), 0o600))
	run([]string{"CGO_ENABLED=0"}, "go", "build", "-o", "program")
	equal(t, run(nil, "./program"), "true <nil>\nfalse <nil>\n")

	run(nil, "go", "get", module+"@none")
	run(nil, "go", "clean", "-modcache")
	if text := string(must[[]byte](t)(os.ReadFile(filepath.Join(folder, "go.mod")))); strings.Contains(text, module) {
		t.Fatal(text)
	}
	if _, err := os.Stat(filepath.Join(folder, "modules", module+"@"+version)); err == nil {
		t.Fatal("the module is still there")
	}
}
