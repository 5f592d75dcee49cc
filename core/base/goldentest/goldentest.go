// Package goldentest compares a program's output with a golden file. It owns the test
// flag -update, which rewrites such files. Only tests import it, and it knows nothing
// about their contents.
package goldentest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update means that the files are rewritten instead of compared.
var Update = flag.Bool("update", false, "write the files that outputs are compared with")

// Compare compares a file in testdata with a test's output.
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

// Stories plays the stories of a file in testdata, each in a subtest: a line "== TITLE" and its text. play plays a text and returns
// it with what came of it, which has to be the same but for white space around it, or with -update replaces it.
func Stories(t *testing.T, name string, play func(t *testing.T, story string) (got string)) {
	t.Helper()
	path := filepath.Join("testdata", name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for part := range strings.SplitSeq(strings.TrimPrefix(string(data), "== "), "\n== ") {
		title, want, _ := strings.Cut(part, "\n")
		want = strings.TrimSpace(want)
		got := want
		t.Run(title, func(t *testing.T) {
			got = strings.TrimSpace(play(t, want))
			if diff := cmp.Diff(want, got); diff != "" && !*Update {
				t.Errorf("%s (-want +got); if it is meant, run with -update:\n%s", path, diff)
			}
		})
		all = append(all, "== "+title+"\n"+got+"\n")
	}
	if *Update {
		if err := os.WriteFile(path, []byte(strings.Join(all, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var repeats = regexp.MustCompile(`(\d+)×\(((?:[^()×]|\d+×\([^()]*\))*)\)`)

// Repeated writes out what a story repeats: 3×(a#) is a1a2a3. Within it, another 2×(b) can be written.
func Repeated(text string) string {
	return repeats.ReplaceAllStringFunc(text, func(all string) string {
		parts, out := repeats.FindStringSubmatch(all), new(strings.Builder)
		times, _ := strconv.Atoi(parts[1])
		inner := Repeated(parts[2])
		for i := range times {
			out.WriteString(strings.ReplaceAll(inner, "#", strconv.Itoa(i+1)))
		}
		return out.String()
	})
}

// ComparePart compares the part of a page between two texts, each found once, with a test's output. It returns the page.
func ComparePart(t testing.TB, path, head, foot, want string) (page string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), head)
	got, after, found := strings.Cut(rest, foot)
	if !found {
		t.Fatalf("%s has nothing between %q and %q", path, head, foot)
	}
	if *Update {
		if err := os.WriteFile(path, []byte(before+head+want+foot+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is stale (-want +got); run this test with -update:\n%s", path, diff)
	}
	return string(data)
}
