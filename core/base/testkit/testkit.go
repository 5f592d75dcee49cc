// Package testkit is what tests of all packages share: the mark of those that start programs, the
// seeds of random ones, what the machine must have, and how a test ends that cannot go on. It knows nothing of the bot. Only tests import it.
package testkit

import (
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	// passVar names the pass of a suite that runs in two: Unmarked skips the marked tests. The other
	// pass selects them by name (cmd/suite).
	passVar = "OLLIM_TEST_PASS"
	// Unmarked is the pass of the tests that need no program.
	Unmarked = "unmarked"

	// machineVar lists the programs that the machine has for the tests, with versions and digests. If it is set,
	// none of them may be missing. Tests that start programs read it, so that Go's test cache forgets
	// their results when a program changes.
	machineVar = "OLLIM_TEST_MACHINE"

	// stageVar names the stage of the campaign that runs.
	stageVar = "OLLIM_TEST_STAGE"

	// seedVar chooses the seed of random tests: a number, or Clock. Without it the name of the test determines it.
	seedVar = "OLLIM_TEST_SEED"
	// Clock draws a new seed in each run.
	Clock = "clock"
)

// SkippedMark is why a marked test skips itself in the first pass.
const SkippedMark = "starts programs, listens or uses a terminal: it has a pass of its own"

// Alone marks a test that starts a program, listens on a socket or uses a terminal. The gate runs such tests one
// package after another. It must be the first statement of the test function:
// that is how cmd/suite finds them.
func Alone(t testing.TB) {
	t.Helper()
	_ = os.Getenv(machineVar)
	if os.Getenv(passVar) == Unmarked {
		t.Skip(SkippedMark)
	}
}

// Needs returns the path of a program. Without it the test is skipped, or fails on a machine that should have it.
func Needs(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		Missing(t, program)
	}
	return path
}

// Missing skips a test for want of something, or fails it on a machine that should have it.
func Missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(machineVar) != "" {
		t.Fatalf("needs %s, and %s says that everything is installed", what, machineVar)
	}
	t.Skipf("needs %s", what)
}

// Campaign skips a test that is too long, or changes too much of the machine, for anything but a stage of the campaign.
func Campaign(t testing.TB, stage string) {
	t.Helper()
	if os.Getenv(stageVar) != stage {
		t.Skipf("belongs to the campaign: .ci/campaign %s runs it", stage)
	}
}

// Must ends a test, or a check of rapid's, after an error that it does not expect.
func Must(t interface {
	Helper()
	Fatal(args ...any)
}, err error,
) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Program writes a program to a path, in place of one that may be running. A plain write is not enough: a program that is open for
// writing cannot start ("text file busy"), and a child that another test starts at that moment has the file open for a while, too.
func Program(t testing.TB, path, text string) string {
	t.Helper()
	written := path + ".written"
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	Must(t, os.WriteFile(written, []byte(text), 0o700))
	Must(t, os.Rename(written, path))
	return path
}

// Seed returns the seed of a random test and logs it: by default one that depends on the test's name
// only, so that each run does the same.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := seedOf(t.Name(), os.Getenv(seedVar), time.Now)
	t.Logf("seed %d (%s=%d repeats it)", seed, seedVar, seed)
	return seed
}

func seedOf(name, wish string, now func() time.Time) uint64 {
	if n, err := strconv.ParseUint(wish, 10, 64); err == nil {
		return n
	}
	if wish == Clock {
		return uint64(now().UnixNano())
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// Rand returns a source of random numbers from the test's seed.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), 1))
}

var (
	seeding sync.Mutex // from setting rapid's seed until rapid has read it
	// asked is whether the seed was given with rapid's own flag.
	asked = sync.OnceValue(func() bool {
		f := flag.Lookup("rapid.seed")
		return f.Value.String() != f.DefValue
	})
)

// Check checks a property with rapid, from the seed of this test.
func Check(t testing.TB, property func(*rapid.T)) {
	t.Helper()
	if asked() {
		rapid.Check(t, property)
		return
	}
	seed := Seed(t)
	seeding.Lock()
	// rapid reads its seed before it calls the property for the first time.
	unlock := sync.OnceFunc(seeding.Unlock)
	defer unlock()
	if err := flag.Set("rapid.seed", strconv.FormatUint(max(seed, 1), 10)); err != nil { // 0 means a random one
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		unlock()
		property(r)
	})
}

// Property is Check for t.Run.
func Property(property func(*rapid.T)) func(*testing.T) {
	return func(t *testing.T) { Check(t, property) }
}
