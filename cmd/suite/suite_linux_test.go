package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/base/binarytest"
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

// suite runs this test binary as the program in a directory.
func suite(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binarytest.Path(), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asSuite+"=1", "GOFLAGS=", "GOWORK=off")
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
			out, err := suite(t, sample(t, c.body), args...)
			if (err != nil) != c.fails || !strings.Contains(out, c.want) || strings.Contains(out, "=== RUN") && !c.fails {
				t.Errorf("it ends with %v and prints\n%s", err, out)
			}
		})
	}
}

func TestTheSuiteTakesOnlyGoTest(t *testing.T) {
	for _, args := range [][]string{{}, {"go", "vet", "./..."}, {"-skips", "(", "go", "test"}, {"-nonsense"}} {
		if out, err := suite(t, ".", args...); err == nil || err.Error() != "exit status 2" {
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
	r := report{tests: 2, skipped: []skip{{"p.A", "no ssh"}, {"p.B", "tired"}}}
	err := r.refused(regexp.MustCompile("ssh"))
	if got := fmt.Sprint(err); strings.Contains(got, "p.A") || !strings.Contains(got, "p.B: tired") {
		t.Errorf("refused: %s", got)
	}
}
