package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestASeedComesFromTheNameFromTheClockOrFromAWish(t *testing.T) {
	now := func() time.Time { return time.Unix(0, 4711) }
	byName := seedOf("TestX", "", now)
	if byName != seedOf("TestX", "", time.Now) || byName == seedOf("TestY", "", now) {
		t.Error("the seed of a name is not that of this name alone")
	}
	if got := seedOf("TestX", Clock, now); got != 4711 {
		t.Errorf("by the clock: %d", got)
	}
	if got := seedOf("TestX", "12", now); got != 12 {
		t.Errorf("by a wish: %d", got)
	}
}

// drawn returns the numbers that a property draws.
func drawn(t *testing.T) (all []int) {
	t.Helper()
	Check(t, func(r *rapid.T) { all = append(all, rapid.IntRange(0, 1<<40).Draw(r, "n")) })
	return all
}

func TestAPropertyDrawsTheSameInEachRun(t *testing.T) {
	t.Setenv(seedVar, "")
	first, second := drawn(t), drawn(t)
	if !slices.Equal(first, second) {
		t.Error("two runs of one property differ")
	}
	t.Setenv(seedVar, "12")
	if slices.Equal(first, drawn(t)) {
		t.Error("the seed that was asked for changes nothing")
	}
}

func TestPropertiesSideBySideKeepTheirOwnSeeds(t *testing.T) {
	t.Setenv(seedVar, "")
	var runs [2][2][]int
	for i := range runs {
		t.Run("round", func(t *testing.T) {
			for j, name := range []string{"a", "b"} {
				// Named alike in both rounds, but for the number that Go appends.
				t.Run(name, func(t *testing.T) { runs[i][j] = drawn(t) })
			}
		})
	}
	if slices.Equal(runs[0][0], runs[0][1]) {
		t.Error("two properties draw the same")
	}
}

// probe is the test passed to the code under test; it records whether it was skipped.
type probe struct {
	testing.TB
	skipped bool
}

func (p *probe) Helper() {}

func (p *probe) Skip(...any) { p.skipped = true; runtime.Goexit() }

func (p *probe) Skipf(string, ...any) { p.Skip() }

// skips reports whether a test body skips its test.
func skips(t *testing.T, body func(testing.TB)) bool {
	t.Helper()
	p := &probe{TB: t}
	var running sync.WaitGroup
	running.Go(func() { body(p) })
	running.Wait()
	return p.skipped
}

func TestAMarkedTestSkipsItselfInTheFirstPassOnly(t *testing.T) {
	t.Setenv(passVar, Unmarked)
	if !skips(t, Alone) {
		t.Error("it runs beside others")
	}
	t.Setenv(passVar, "")
	if skips(t, Alone) {
		t.Error("a plain run leaves it out")
	}
}

func TestAProgramThatIsMissingSkipsWhereNothingIsPromised(t *testing.T) {
	t.Setenv(machineVar, "")
	t.Setenv("PATH", t.TempDir())
	if !skips(t, func(t testing.TB) { Needs(t, "a-program") }) {
		t.Error("it went on without the program")
	}
}

func TestATestOfTheCampaignRunsInItsStageOnly(t *testing.T) {
	for stage, want := range map[string]bool{"": true, "siege": true, "systemd": false} {
		t.Setenv(stageVar, stage)
		if got := skips(t, func(t testing.TB) { Campaign(t, "systemd") }); got != want {
			t.Errorf("in stage %q it is skipped: %v", stage, got)
		}
	}
}

// TestNoRandomTestHasASeedOfItsOwn keeps chance out of the gate: what draws numbers takes its seed from here.
func TestNoRandomTestHasASeedOfItsOwn(t *testing.T) {
	unseeded := regexp.MustCompile(`\brapid\.(Check|MakeCheck)\(|\brand\.(Int|Uint|Float|Perm|Shuffle|N\()|PCG\(uint64\(time\.`)
	marked := regexp.MustCompile(`testkit\.Alone\(`)
	first := regexp.MustCompile(`(?m)^func (Test|Fuzz|Benchmark)\w+\(\w+ \*testing\.[TFB]\) \{\n\ttestkit\.Alone\(`)
	root, seen := filepath.Join("..", "..", ".."), 0
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if e.IsDir() && e.Name() == ".git" { // differs from clone to clone, so Go's test cache would not know the tree again
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") || strings.Contains(path, filepath.Join("base", "testkit")) {
			return err
		}
		seen++
		text, err := os.ReadFile(path)
		if m := unseeded.Find(text); m != nil {
			t.Errorf("%s: %s draws by chance: take testkit.Check or testkit.Seed", path, m)
		}
		if all, ok := marked.FindAll(text, -1), first.FindAll(text, -1); len(all) != len(ok) {
			t.Errorf("%s: testkit.Alone has to be the first statement of a test: %d of %d are", path, len(ok), len(all))
		}
		return err
	})
	if err != nil || seen < 100 {
		t.Errorf("%d files were read: %v", seen, err)
	}
}

func TestAProgramCanStartAsSoonAsItIsWritten(t *testing.T) {
	Alone(t)
	for range 8 {
		dir := t.TempDir()
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 50 {
				if out, err := exec.Command(Program(t, filepath.Join(dir, "program"), "#!/bin/sh\necho here\n")).Output(); string(out) != "here\n" {
					t.Fatal(string(out), err)
				}
			}
		})
	}
}
