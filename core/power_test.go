package core

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/powertest"
	"ollimbot/core/work/fork"

	"github.com/google/go-cmp/cmp"
)

var (
	powerCuts = flag.Int("powercuts", 100, "how many power cuts of a recorded day are replayed")
	faults    = flag.Int("faults", 20, "in how many days a system call fails")
)

// TestNothingPromisedIsLostInAPowerCut records each write, rename and fsync of a day, and
// starts the bot on each possible disk state after a power cut: everything, only what
// fsync has made durable, or any part of the rest.
func TestNothingPromisedIsLostInAPowerCut(t *testing.T) {
	testkit.Alone(t)
	d := newDay(t)
	trace := filepath.Join(t.TempDir(), "trace")
	d.live(powertest.Strace(trace)...)
	f := must(os.Open(trace))(t)
	defer f.Close()
	day := must(powertest.Read(f, d.h.root, d.before, d.witness))(t)
	if len(day.Marks()) < 30 || day.Changes() < 500 {
		t.Fatalf("only %d promises and %d changes were recorded", len(day.Marks()), day.Changes())
	}
	replayed := filepath.Join(t.TempDir(), "replayed")
	testkit.Must(t, day.Cut(replayed, day.Changes(), powertest.Nothing, nil))
	if diff := cmp.Diff(filesIn(t, d.h.root), filesIn(t, replayed)); diff != "" {
		t.Fatalf("the recording is not what the disk holds (-disk +recording):\n%s", diff)
	}
	seed := testkit.Seed(t)
	for i := range *powerCuts {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		at, loss := 1+random.IntN(day.Changes()), powertest.Loss(i%5)
		t.Run(fmt.Sprintf("loss %d behind change %d, seed %d", loss, at, seed), func(t *testing.T) {
			var promises []promised
			was := 0 // how many of these precede the cut
			for _, m := range day.Marks() {
				promises = append(promises, promiseOf(t, m.Text))
				if m.At <= at {
					was++
				}
			}
			root := newHome(t).root
			testkit.Must(t, day.Cut(root, at, loss, random))
			d.startAgain(t, root, promises, was)
		})
	}
}

// TestNothingPromisedIsLostWhenACallFails makes a system call of the day fail, once per
// thread: the disk is full or broken, or no descriptor is left. Everything the bot
// reported as done must hold after the next start.
func TestNothingPromisedIsLostWhenACallFails(t *testing.T) {
	testkit.Alone(t)
	d := newDay(t)
	kinds := []struct {
		call, err string
		most      int // approximate number of these calls per thread
	}{
		{"write", "ENOSPC", 100},
		{"write", "EIO", 100},
		{"fsync", "EIO", 80},
		{"openat", "EMFILE", 300},
		{"renameat", "EIO", 30},
		{"renameat", "ENOSPC", 30},
		{"unlinkat", "EIO", 15},
		{"mkdirat", "ENOSPC", 10},
	}
	seed := testkit.Seed(t)
	for i := range *faults {
		kind := kinds[i%len(kinds)]
		when := 1 + rand.New(rand.NewPCG(seed, uint64(i))).IntN(kind.most)
		t.Run(fmt.Sprintf("%s number %d, %s", kind.call, when, kind.err), func(t *testing.T) {
			for ; ; when++ {
				d := d.again(t)
				promises, ok := d.live("-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace="+kind.call, "-e",
					fmt.Sprintf("inject=%s:error=%s:when=%d", kind.call, kind.err, when))
				if ok {
					d.startAgain(t, d.h.root, promises, len(promises))
					return
				}
			}
		})
	}
}

// day is the data for the process that runs the day.
type day struct {
	t               *testing.T
	h               home
	before, witness string // a copy of the directory, and the file of promises
	port            int
}

func newDay(t *testing.T) *day {
	t.Helper()
	if os.Getenv(dayRoot) != "" {
		liveTheDay(t)
		t.SkipNow()
	}
	if err := exec.CommandContext(t.Context(), "strace", "-o", "/dev/null", "true").Run(); err != nil {
		t.Skipf("needs strace, and the right to trace: %v", err)
	}
	l := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	return (&day{port: l.Addr().(*net.TCPAddr).Port}).again(t)
}

// again returns the same day in another directory.
func (d *day) again(t *testing.T) *day {
	h := newHome(t)
	prepareTheDay(h)
	before := filepath.Join(t.TempDir(), "before")
	testkit.Must(t, os.CopyFS(before, os.DirFS(h.root)))
	return &day{t: t, h: h, before: before, witness: filepath.Join(t.TempDir(), "witness"), port: d.port}
}

// live runs the day under strace with those arguments, and returns the guaranteed states. ok is false if a fault was for the
// runtime of Go itself, which does not survive it.
func (d *day) live(strace ...string) (promises []promised, ok bool) {
	d.t.Helper()
	name, _, _ := strings.Cut(d.t.Name(), "/")
	cmd := exec.CommandContext(d.t.Context(), "strace", append(strace, binarytest.Path(), "-test.run", "^"+name+"$")...)
	cmd.Env = append(os.Environ(), dayRoot+"="+d.h.root, dayWitness+"="+d.witness, dayPort+"="+strconv.Itoa(d.port), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); bytes.Contains(out, []byte("fatal error: runtime: netpoll")) {
		return nil, false
	} else if err != nil {
		d.t.Fatalf("the day: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(must(os.ReadFile(d.witness))(d.t))) {
		promises = append(promises, promiseOf(d.t, line))
	}
	return promises, true
}

func promiseOf(t *testing.T, line string) (p promised) {
	t.Helper()
	testkit.Must(t, json.Unmarshal([]byte(line), &p))
	return p
}

// startAgain starts the bot on a directory and checks the guaranteed states: the first
// was lines of the witness are in the past, and any part of the next may have come true.
func (d *day) startAgain(t *testing.T, root string, promises []promised, was int) {
	var before, next, last promised
	had := map[string]bool{}
	for i, p := range promises {
		switch {
		case p.Digest != "" && i < was:
			had[p.Digest] = true
		case p.Digest != "":
		case i < was:
			before, next, last = p, p, p
		case next.At.Equal(before.At):
			next, last = p, p
		default:
			last = p
		}
	}
	done := doneTasks(t, root)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(next.At))
		p := &powered{h: home{t: t, root: root, zone: d.h.zone}, had: had, heard: func(string) {}}
		end := p.start(d.port)
		got := p.now()
		time.Sleep(time.Hour) // everything that is due
		p.say("w901")
		end()
		heard := p.given()
		c := checks{t}
		for name, want := range before.Facts {
			c.holds(next.Facts[name] != want || got.Facts[name] == want || before.Refused, name+" is, and was promised as", got.Facts[name], want)
		}
		c.holds(got.Used >= before.Used, "pings were paid, and now", before.Used, got.Used)
		for mark, times := range heard {
			// A run that was cut off after its report runs and reports again.
			again := mark[0] == 'u' && done["t"+mark[1:]] || mark[0] == 'w'
			c.holds(times == 1 || !again, mark+" was heard more than once", times)
			c.holds(!slices.Contains(before.Given, mark) && !slices.Contains(before.Heard, mark), mark+" was heard before, and again")
		}
		for _, mark := range before.Pending {
			c.holds(heard[mark] > 0 || !slices.Contains(next.Pending, mark) || slices.Contains(next.Given, mark), mark+" was pending, and is lost")
		}
		cutOff := strings.Count(strings.Join(p.sent, "\n"), "Webhook ci: ")
		for _, mark := range last.Given {
			lost := heard[mark] == 0 && !slices.Contains(next.Given, mark)
			switch {
			case !lost || mark[0] != 'u', mark[1] != '0' && !slices.Contains(before.Taken, mark):
			case mark[1] == '1' && cutOff > 0: // a delivery whose run was cut off is reported
				cutOff--
			default:
				t.Errorf("%s never came", mark)
			}
		}
		kept, _ := filepath.Glob(filepath.Join(root, "state", "*corrupt*"))
		c.holds(len(kept) == 0, "files are corrupt", kept)
		if t.Failed() {
			t.Logf("promised: %+v\nfound: %+v\nheard: %v\nlogged: %s", before, got, heard, p.logged.String())
		}
	})
}

// filesIn returns the contents of all files below a folder except locks, which are empty.
func filesIn(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	testkit.Must(t, fs.WalkDir(os.DirFS(root), ".", func(rel string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(rel, ".lock") {
			return err
		}
		if e.Type() == fs.ModeSymlink {
			files[rel], err = os.Readlink(filepath.Join(root, rel))
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, rel))
		files[rel] = string(data)
		return err
	}))
	return files
}

// doneTasks returns the marks of the tasks whose runs the ledger has as done.
func doneTasks(t *testing.T, root string) map[string]bool {
	done := map[string]bool{}
	for line := range strings.Lines(filesIn(t, root)["state/fork_runs.jsonl"]) {
		var run fork.View
		if json.Unmarshal([]byte(line), &run) == nil && run.State == fork.Done {
			done[marks.FindString(run.Title)] = true
		}
	}
	return done
}
