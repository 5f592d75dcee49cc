package store_test

import (
	"os"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

func TestTheLastValidVersionKeepsItsTimeUntilAnotherOne(t *testing.T) {
	d := storetest.Prepared(t)
	keep := func(text string) {
		t.Helper()
		testkit.Must(t, d.KeepValid("routines/a.md", []byte(text)))
	}
	if _, _, ok := d.Valid("routines/a.md"); ok {
		t.Error("there is a version of nothing")
	}
	keep("one")
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	testkit.Must(t, os.Chtimes(d.Path(store.StateDir+"/valid/routines/a.md"), old, old))
	keep("one")
	if data, at, ok := d.Valid("routines/a.md"); !ok || string(data) != "one" || !at.Equal(old) {
		t.Errorf("%q of %v, %t", data, at, ok)
	}
	keep("two")
	if data, at, ok := d.Valid("routines/a.md"); !ok || string(data) != "two" || at.Equal(old) {
		t.Errorf("%q of %v, %t", data, at, ok)
	}
}

func TestTheVersionsOfFilesThatAreGoneAreForgotten(t *testing.T) {
	d := storetest.Prepared(t)
	for _, rel := range []string{"routines/a.md", "routines/b.md", "prices.yaml"} {
		testkit.Must(t, d.KeepValid(rel, []byte("x")))
	}
	beingWritten := d.Path(store.StateDir + "/valid/routines/.c.md.0123456789abcdef.tmp") // by another goroutine
	testkit.Must(t, os.WriteFile(beingWritten, []byte("x"), 0o600))
	testkit.Must(t, d.PruneValid("routines", func(rel string) bool { return rel == "routines/b.md" }))
	if err := d.PruneValid("missing", func(string) bool { return false }); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(beingWritten); err != nil {
		t.Errorf("a write at the same moment lost its file: %v", err)
	}
	d.Tidy(time.Now().Add(time.Hour))
	if _, err := os.Stat(beingWritten); err == nil {
		t.Error("what a crash left is kept")
	}
	for rel, want := range map[string]bool{"routines/a.md": false, "routines/b.md": true, "prices.yaml": true} {
		if _, _, ok := d.Valid(rel); ok != want {
			t.Errorf("%s: %t", rel, ok)
		}
	}
}
