// The program that tests/bindings/ runs for this language: languages.py there has its interface.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"bfstore.example/bfstore"
)

func keys(prefix, count string) []string {
	number, err := strconv.Atoi(count)
	check(err)
	made := make([]string, number)
	for i := range made {
		made[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return made
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func create(path, capacity string) {
	number, err := strconv.ParseUint(capacity, 10, 64)
	check(err)
	made, err := bfstore.Create(path, bfstore.Options{Capacity: number, FPR: 0.01})
	check(err)
	check(made.Close())
}

func add(path, prefix, count string) {
	opened, err := bfstore.Open(path, bfstore.OpenOptions{Write: true})
	check(err)
	var odd []string
	for i, key := range keys(prefix, count) {
		if i%2 == 0 {
			_, err = opened.AddString(key)
			check(err)
		} else {
			odd = append(odd, key)
		}
	}
	_, err = opened.AddKeys(bfstore.Strings(odd))
	check(err)
	check(opened.Close())
}

func ask(path, prefix, count string) {
	opened, err := bfstore.Open(path)
	check(err)
	list := keys(prefix, count)
	answers, err := opened.ContainsKeys(bfstore.Strings(list), nil)
	check(err)
	text := make([]byte, len(list))
	for i, key := range list {
		maybe, err := opened.ContainsString(key)
		check(err)
		if maybe != answers[i] {
			check(errors.New("one by one and as a batch are not the same"))
		}
		text[i] = '0'
		if maybe {
			text[i] = '1'
		}
	}
	fmt.Println(string(text))
	check(opened.Close())
}

func fail(path string) {
	_, err := bfstore.Open(path)
	var failure *bfstore.Error
	if !errors.As(err, &failure) {
		check(errors.New("opened"))
	}
	fmt.Printf("%d %d %s\n", failure.Code, failure.Errno, strings.TrimPrefix(fmt.Sprintf("%T", err), "*"))
}

func main() {
	words := os.Args[1:]
	switch {
	case len(words) == 3 && words[0] == "create":
		create(words[1], words[2])
	case len(words) == 4 && words[0] == "add":
		add(words[1], words[2], words[3])
	case len(words) == 4 && words[0] == "ask":
		ask(words[1], words[2], words[3])
	case len(words) == 2 && words[0] == "fail":
		fail(words[1])
	default:
		check(errors.New("agree create PATH CAPACITY | add PATH PREFIX COUNT | ask PATH PREFIX COUNT | fail PATH"))
	}
}
