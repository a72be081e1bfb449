// Which events of Suricata name a domain on a list of indicators? The list is a file of DCSO's bloom (Go), flor or poppy.
//
//	tail -F eve.json | go run eve_alerts.go indicators.bloom    prints each event that may be an alert, as it comes
//
// It runs in a module that requires bfstore.example/bfstore, such as capi/bindings/go: go run ../../examples/eve_alerts.go. With
// evil.example also www.evil.example is on the list. All processes that ask share one map of it. When another file replaces it
// (written whole, then renamed), the next alert comes from that one.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"bfstore.example/bfstore"
)

type named struct {
	RRName, SNI, Hostname string
	Queries               []named // of DNS, since Suricata 8
}

type event struct{ DNS, TLS, HTTP named }

func open(path string) *bfstore.Filter {
	list, err := bfstore.OpenForeign(path, bfstore.ForeignForm{Format: "dcso"}, bfstore.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return list
}

// isAlert reports whether the list may have a domain of the event, or one that it is a part of.
func isAlert(list *bfstore.Filter, one *event) bool {
	for _, has := range append(one.DNS.Queries, one.DNS, one.TLS, one.HTTP) {
		for rest := strings.ToLower(has.RRName + has.SNI + has.Hostname); rest != ""; _, rest, _ = strings.Cut(rest, ".") {
			if maybe, _ := list.ContainsString(rest); maybe { // true with an error, too
				return true
			}
		}
	}
	return false
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: eve_alerts indicators.bloom <eve.json")
	}
	list := open(os.Args[1])
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var one event
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			log.Printf("%v in: %s", err, lines.Text())
		}
		for isAlert(list, &one) {
			if current, err := list.IsCurrent(); current || err != nil {
				fmt.Println(lines.Text())
				break
			}
			list.Close() // a file that was replaced says "maybe" to everything
			list = open(os.Args[1])
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
