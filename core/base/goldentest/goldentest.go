// Package goldentest compares what a program says with a file that is kept of it. It owns
// the flag -update of a test, which writes such files anew. It is imported by tests only, and
// knows nothing of what they hold.
package goldentest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update says that the files are written instead of compared.
var Update = flag.Bool("update", false, "write the files that outputs are compared with")

// Compare compares a file below testdata with what a test has made.
func Compare(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *Update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run the test with -update, and read what it wrote", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); if it is meant, run with -update:\n%s", path, diff)
	}
}
