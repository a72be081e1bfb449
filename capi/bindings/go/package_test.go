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

// program returns the program in README.
func program(t *testing.T) string {
	text := string(must[[]byte](t)(os.ReadFile("README.md")))
	found := regexp.MustCompile("(?s)\n```go\n(.*?)```").FindAllStringSubmatch(text, -1)
	equal(t, len(found), 1)
	return found[0][1]
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
	ok(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(program(t)), 0o600))
	run(nil, "go", "mod", "init", "program.example/program")
	run(nil, "go", "get", module+"@"+version)
	const want = "true false [true false] <nil>\ntrue\n"

	shared := []string{"CGO_CFLAGS=-O2 -g", "CGO_LDFLAGS=", "LD_LIBRARY_PATH=" + os.Getenv("BFSTORE_SHARED")} // by pkg-config
	run(shared, "go", "build", "-o", "program")
	equal(t, run(shared, "./program"), want)
	ok(t, os.Remove(filepath.Join(folder, "users.bf")))
	equal(t, strings.Contains(run(shared, "ldd", "program"), "libbfstore.so.0"), true)

	run(nil, "go", "build", "-tags", "bfstore_static", "-o", "program")
	equal(t, run(nil, "./program"), want)
	equal(t, strings.Contains(run(nil, "ldd", "program"), "libbfstore"), false)

	pure := `package main
		import ("fmt"; "bfstore.example/bfstore/reader")
		func main() {
			users, err := reader.Open("users.bf", reader.Options{})
			if err != nil { panic(err) }
			fmt.Println(users.ContainsString("alice")); fmt.Println(users.ContainsString("zoe"))
		}`
	ok(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(pure), 0o600))
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
