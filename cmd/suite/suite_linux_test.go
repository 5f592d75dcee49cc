package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
)

// sample writes a module whose only test has this body, and returns its directory.
func sample(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module sample\n\ngo 1.26\n",
		"sample_test.go": `package sample

import (
	"os"
	"os/exec"
	"testing"
)

var _, _ = os.Getpid, exec.Command

func TestSample(t *testing.T) {
	` + body + `
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// called runs this test binary as the program in a directory.
func called(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binarytest.Path(), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asSuite+"=1", "GOFLAGS=-vet=off", "GOWORK=off") // vetting a sample takes longer than its tests
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const asSuite = "SUITE_TEST_RUNS_MAIN"

func TestMain(m *testing.M) {
	binarytest.Answer(nil)
	if os.Getenv(asSuite) == "1" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTheSuiteFailsForWhatGoTestLetsPass(t *testing.T) {
	testkit.Alone(t)
	if _, err := exec.LookPath("sleep"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body, skips, run, want string
		fails                  bool
	}{
		"nothing":             {body: `t.Log("fine")`, want: "ok  \tsample"},
		"no test":             {run: "TestOfAnotherName", want: "no test has run", fails: true},
		"a failure":           {body: `t.Error("broken")`, want: "broken", fails: true},
		"a panic":             {body: `panic("torn")`, want: "torn", fails: true},
		"a build that fails":  {body: `undefined()`, want: "undefined: undefined", fails: true},
		"a skip":              {body: `t.Skip("no tmux here")`, want: "skipped, which is not allowed here: sample.TestSample: no tmux here", fails: true},
		"a skip that may be":  {body: `t.Skip("no tmux here")`, skips: "tmux|ssh", want: "skipped: sample.TestSample: no tmux here"},
		"a skip that may not": {body: `t.Skip("just so")`, skips: "tmux|ssh", want: "not allowed here: sample.TestSample: just so", fails: true},
		"a file": {
			body: `d, _ := os.MkdirTemp("", "mine"); _ = os.WriteFile(d+"/f", nil, 0o600)`,
			want: "left in the temporary directory by the suite: mine", fails: true,
		},
		"a process": {
			body: `_ = exec.Command("sh", "-c", "sleep 1000 >/dev/null 2>&1 &").Run()`,
			want: "left running by the suite: ", fails: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"go", "test", "-run", cmp.Or(c.run, "."), "./..."}
			if c.skips != "" {
				args = slices.Insert(args, 0, "-skips", c.skips)
			}
			out, err := called(t, sample(t, c.body), args...)
			if (err != nil) != c.fails || !strings.Contains(out, c.want) || strings.Contains(out, "=== RUN") && !c.fails {
				t.Errorf("it ends with %v and prints\n%s", err, out)
			}
		})
	}
}

func TestTheSuiteTakesOnlyGoTest(t *testing.T) {
	testkit.Alone(t)
	for _, args := range [][]string{{}, {"go", "vet", "./..."}, {"-skips", "(", "go", "test"}, {"-nonsense"}} {
		if out, err := called(t, ".", args...); err == nil || err.Error() != "exit status 2" {
			t.Errorf("%q ends with %v and prints %s", args, err, out)
		}
	}
}

func TestTheReasonOfASkipIsWithoutItsPlace(t *testing.T) {
	said := "=== RUN   TestA\n=== PAUSE TestA\n=== CONT  TestA\n    a_test.go:21: no tmux\n        install it\n--- SKIP: TestA (0.00s)\n"
	if got := reason(said); got != "no tmux; install it" {
		t.Errorf("it is %q", got)
	}
}

func TestAllowedSkipsAreThoseWhoseReasonMatches(t *testing.T) {
	r := report{passed: 2, skipped: []skip{{"p.A", "no ssh"}, {"p.B", "tired"}, {"p.C", skippedMark}}}
	err := r.refused(regexp.MustCompile("ssh"))
	if got := fmt.Sprint(err); strings.Contains(got, "p.A") || strings.Contains(got, "p.C") || !strings.Contains(got, "p.B: tired") {
		t.Errorf("refused: %s", got)
	}
}

// markedSample is a module with one plain test and two marked ones. The body of the last is given.
func markedSample(t *testing.T, body string) string {
	t.Helper()
	dir := sample(t, `t.Log("plain")`)
	for name, text := range map[string]string{
		"testkit/testkit.go": `package testkit

import (
	"os"
	"testing"
)

func Alone(t testing.TB) {
	if os.Getenv("OLLIM_TEST_PASS") == "unmarked" {
		t.Skip("` + testkit.SkippedMark + `")
	}
}
`,
		"marked_test.go": `package sample

import (
	"os"
	"testing"

	"sample/testkit"
)

var _ = os.Getpid

func TestMarked(t *testing.T) {
	testkit.Alone(t)
}

func TestByChance(t *testing.T) {
	testkit.Alone(t)
	t.Run("and so on", func(t *testing.T) {
		` + body + `
	})
}
`,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// failsOnce fails the first time that it runs.
const failsOnce = `if _, err := os.Stat("once"); err != nil {
	_ = os.WriteFile("once", nil, 0o600)
	t.Fatal("by chance")
}`

func TestTwoPassesRunEachTestOnce(t *testing.T) {
	testkit.Alone(t)
	dir := markedSample(t, `t.Log("fine")`)
	counts := filepath.Join(t.TempDir(), "counts")
	for _, pass := range []string{passUnmarked, passPrograms} {
		if out, err := called(t, dir, "-pass", pass, "-counts", counts, "go", "test", "./..."); err != nil {
			t.Fatalf("%s: %v\n%s", pass, err, out)
		}
	}
	// TestSample; TestMarked and TestByChance with its subtest.
	if got := read(t, counts); got != "1 0\n3 0\n" {
		t.Errorf("the passes count %q", got)
	}
}

func TestATestThatFailsByChanceIsFlaky(t *testing.T) {
	testkit.Alone(t)
	dir, temp := markedSample(t, failsOnce), t.TempDir()
	counts, flaky := filepath.Join(temp, "counts"), filepath.Join(temp, "flaky")
	out, err := called(t, dir, "-pass", passPrograms, "-counts", counts, "-flaky", flaky, "go", "test", "./...")
	if err != nil || !strings.Contains(out, "by chance") || !strings.Contains(out, "once more: ") {
		t.Errorf("it ends with %v and prints\n%s", err, out)
	}
	if got := read(t, flaky); got != "sample.TestByChance/and_so_on\n" {
		t.Errorf("flaky: %q", got)
	}
	if got := read(t, counts); !strings.HasSuffix(got, " 0\n") {
		t.Errorf("counted: %q", got)
	}
}

func TestATestThatFailsTwiceFails(t *testing.T) {
	testkit.Alone(t)
	for name, body := range map[string]string{"an error": `t.Error("torn")`, "no end": `select {}`} {
		t.Run(name, func(t *testing.T) {
			counts := filepath.Join(t.TempDir(), "counts")
			out, err := called(t, markedSample(t, body), "-pass", passPrograms, "-counts", counts, "go", "test", "-timeout=2s", "./...")
			if err == nil || !strings.Contains(out, "once more: ") {
				t.Errorf("it ends with %v and prints\n%s", err, out)
			}
		})
	}
}

func TestTheFirstPassDoesNotRepeat(t *testing.T) {
	testkit.Alone(t)
	dir := sample(t, failsOnce)
	if out, err := called(t, dir, "-pass", passUnmarked, "go", "test", "./..."); err == nil {
		t.Errorf("a failure passes:\n%s", out)
	}
}

func TestLaidFilesKeepTheirTimesUntilTheyChange(t *testing.T) {
	dir := t.TempDir()
	times := func(texts ...string) (all []time.Time) {
		t.Helper()
		for i, text := range texts {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := lay(dir); err != nil {
			t.Fatal(err)
		}
		for i := range texts {
			info, err := os.Stat(filepath.Join(dir, fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, info.ModTime())
		}
		return all
	}
	first, second := times("one", "two"), times("one", "owt")
	if !first[0].Equal(second[0]) || first[1].Equal(second[1]) || time.Since(second[1]) < 24*time.Hour {
		t.Errorf("%v, then %v", first, second)
	}
}

func TestTheMarkIsThatOfTheTestkit(t *testing.T) {
	if skippedMark != testkit.SkippedMark {
		t.Errorf("a marked test says %q", testkit.SkippedMark)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
