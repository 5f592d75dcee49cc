package git

import (
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// live plays the changes of some runs of the bot, each of which sets a reminder and removes one
// that has fired.
func live(t testing.TB, d *store.Dir, g *Recorder, from, runs int) {
	t.Helper()
	const pending = 20
	name := func(n int) string { return fmt.Sprintf("reminders/look-after-the-thing-number-%d.md", n) }
	for n := from; n < from+runs; n++ {
		id := fmt.Sprintf("%08x", n*7919)
		body := "---\nid: \"" + id + "\"\nrun-at: \"2026-11-22T09:00:00-08:00\"\nbackground: true\n---\nLook after the thing.\n"
		testkit.Must(t, d.Write(name(n), []byte(body)))
		g.Add(name(n), "add reminder "+id)
		testkit.Must(t, d.Remove(name(n-pending)))
		g.Remove(name(n-pending), "remove reminder "+id)
		if !g.work(t.Context()) {
			t.Fatal("a commit was not made")
		}
	}
}

// onDisk returns the size of the history, in bytes of whole blocks.
func onDisk(t testing.TB, d *store.Dir) int64 {
	t.Helper()
	var sum int64
	err := filepath.WalkDir(d.Path(".git"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && err == nil {
			sum += stat.Blocks * 512
		}
		return err
	})
	testkit.Must(t, err)
	return sum
}

// runsAYear is the number of runs for which the limit is 200 MB a year.
const runsAYear = 100 * 365

func TestAYearOfCommitsStaysSmall(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	live(t, d, g, 0, 30)
	r, _, _ := g.locate("a.md")
	testkit.Must(t, r.pack(t.Context()))
	before := onDisk(t, d)
	live(t, d, g, 30, 30)
	testkit.Must(t, r.pack(t.Context()))
	if year := (onDisk(t, d) - before) / 30 * runsAYear; year > 100<<20 {
		t.Errorf("a year takes %d MB", year>>20)
	}
	if n := r.loose(); n > 0 || log.Len() > 0 {
		t.Errorf("%d loose objects, logged %s", n, log)
	}
	if got := git(t, d, "fsck", "--full"); strings.Contains(got, "error") || strings.Contains(got, "missing") {
		t.Error(got)
	}
	if got := git(t, d, "rev-list", "--count", "HEAD"); got != "100" {
		t.Errorf("%s commits", got)
	}
}

func TestPackingBeginsByItselfAndKeepsWhatIsDangling(t *testing.T) {
	testkit.Alone(t)
	d, g, log := gitRepo(t)
	blob := git(t, d, "hash-object", "-w", "--literally", "-t", "blob", ".git/HEAD")
	g.packAt = 200
	for i := range 300 {
		put(t, d, fmt.Sprintf("skills/s%d.md", i), fmt.Sprint(i))
	}
	git(t, d, "add", "-A")
	git(t, d, "-c", "gc.auto=0", "commit", "-qm", "many")
	r, _, _ := g.locate("a.md")
	if n := r.loose(); n < 100 {
		t.Fatalf("only %d loose objects", n)
	}
	put(t, d, "a.md", "x")
	g.Add("a.md", "add a")
	if !g.work(t.Context()) || log.Len() > 0 {
		t.Errorf("logged %s", log)
	}
	if n := r.loose(); n > 20*16/10 {
		t.Errorf("%d loose objects are left", n)
	}
	if got := git(t, d, "cat-file", "-t", blob); got != "blob" {
		t.Errorf("what nothing refers to is gone: %q", got)
	}
}

// BenchmarkAYearOfHistory extrapolates from 600 runs.
func BenchmarkAYearOfHistory(b *testing.B) {
	const runs = 300
	for b.Loop() {
		d := storetest.Dir(b)
		g := New(d, slog.New(slog.DiscardHandler))
		testkit.Must(b, g.Init(b.Context()))
		live(b, d, g, 0, runs)
		r, _, _ := g.locate("a.md")
		testkit.Must(b, r.pack(b.Context()))
		before := onDisk(b, d)
		live(b, d, g, runs, runs)
		loose := onDisk(b, d) - before
		testkit.Must(b, r.pack(b.Context()))
		b.ReportMetric(float64((onDisk(b, d)-before)/runs*runsAYear)/1e6, "MB/year")
		b.ReportMetric(float64(loose/runs*runsAYear)/1e6, "MB/year-unpacked")
	}
}
