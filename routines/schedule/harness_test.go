package schedule

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
	"ollimbot/routines/leeway"
	"ollimbot/routines/watch"
)

// room is a data directory in a test.
type room struct {
	t    testing.TB
	root string
	dir  *store.Dir
}

func newRoom(t testing.TB) *room {
	t.Helper()
	root := t.TempDir()
	d := storetest.At(t, root)
	return &room{t: t, root: root, dir: d}
}

// made fills in the options that a test leaves out: a silent log and no callbacks.
func made(o Options) *Schedule {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Index == nil {
		o.Index = routines.NewIndex(o.Dir, o.Zone)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Troubles == nil {
		o.Troubles = func(_ routines.Kind, words func(bool) string) {
			if text := words(false); text != "" {
				o.Note(text)
			}
		}
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	if o.Inherit == nil {
		o.Inherit = func(string, string, []byte) error { return nil }
	}
	return New(o)
}

// schedule returns a schedule over the directory that is not running.
func (r *room) schedule() *Schedule {
	s := made(Options{Dir: r.dir})
	s.index.Scan()
	return s
}

// put writes a file in place, like an editor without temporary files.
func (r *room) put(rel, text string) {
	r.t.Helper()
	path := filepath.Join(r.root, rel)
	testkit.Must(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(r.t, os.WriteFile(path, []byte(text), 0o600))
}

func (r *room) remove(rel string) {
	r.t.Helper()
	testkit.Must(r.t, os.RemoveAll(filepath.Join(r.root, rel)))
}

func routineText(id, cron, body string, extra ...string) string {
	return fmt.Sprintf("---\nid: %q\ncron: %q\nbackground: true\n%s---\n%s\n", id, cron, lines(extra), body)
}

func reminderText(id, runAt, body string, extra ...string) string {
	return fmt.Sprintf("---\nid: %q\nrun-at: %q\nbackground: true\n%s---\n%s\n", id, runAt, lines(extra), body)
}

func lines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, "\n") + "\n"
}

// night is a loop in a bubble over a real directory. The bubble's clock starts at
// midnight on 1 January 2000, a Saturday, in UTC.
type night struct {
	*room
	loop *Schedule
	stop func() // ends the loop and waits for it

	mu      sync.Mutex
	shift   time.Duration // of the wall clock
	form    string        // the format of the recorded fire times
	fired   []string
	notes   []string
	added   []string
	gone    []string
	log     bytes.Buffer // warnings
	starts  []time.Time  // bubble time of each fire
	tickets []string
	changed int                         // calls of Changed
	purse   Purse                       // nil: nothing costs anything
	judge   func(*routines.Task) string // nil: no task needs approval
	work    func(ctx context.Context, d Due) error
	facts   leeway.Facts
	ended   func(id string, runAt, since time.Time) bool // nil: no run is known to have ended
	failing func(context.Context, routines.Task, string, bool)
}

func newNight(t *testing.T) *night {
	n := &night{room: newRoom(t), form: "02 15:04:05", work: func(context.Context, Due) error { return nil }}
	n.stop = func() {}
	t.Cleanup(func() { n.stop() })
	return n
}

func (n *night) clock() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().UTC().Add(n.shift)
}

// changes returns the number of calls of Changed.
func (n *night) changes() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.changed
}

func (n *night) known(time.Time, time.Time) leeway.Facts {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.facts
}

// knows sets the facts about the user.
func (n *night) knows(facts leeway.Facts) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.facts = facts
}

// jump sets the wall clock, like a suspension or a manual change.
func (n *night) jump(by time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shift += by
}

// start runs a loop over the current directory.
func (n *night) start() {
	n.stop()
	index := routines.NewIndex(n.dir, time.UTC)
	index.JudgeBy(n.judge)
	log := slog.New(slog.NewTextHandler(&n.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	n.loop = made(Options{Log: log, Dir: n.dir, Index: index, Fire: n.fire, Note: n.note, Commits: n, Purse: n.purse, Ended: n.ended, Facts: n.known, Failing: n.failing, Changed: func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.changed++
	}})
	n.loop.index.Scan()
	n.loop.now = n.clock
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	loop := n.loop
	go func() { done <- loop.Run(ctx) }()
	n.stop = func() {
		cancel()
		if err := <-done; err != nil {
			n.t.Errorf("run: %v", err)
		}
		n.stop = func() {}
	}
	synctest.Wait()
}

func (n *night) fire(ctx context.Context, d Due) error {
	words := fmt.Sprintf("%s %s %s", n.clock().Format(n.form), d.Task().ID, d.At.Format("02 15:04:05"))
	if d.Late {
		words += " late"
	}
	if d.Missed > 0 {
		words += fmt.Sprintf(" +%d", d.Missed)
	}
	n.mu.Lock()
	n.fired = append(n.fired, words)
	n.starts = append(n.starts, time.Now())
	n.tickets = append(n.tickets, d.Ticket)
	work := n.work
	n.mu.Unlock()
	return work(ctx, d)
}

func (n *night) note(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notes = append(n.notes, text)
}

func (n *night) Add(rel, message string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.added = append(n.added, rel+": "+message)
}

func (n *night) Remove(rel, message string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = append(n.gone, rel+": "+message)
}

// does sets the work of later fires.
func (n *night) does(work func(ctx context.Context, d Due) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.work = work
}

// look makes the loop read the disk.
func (n *night) look() {
	n.loop.Apply(watch.Batch{Full: true})
	synctest.Wait()
}

func (n *night) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// want compares the fires, "day h:m:s id day h:m:s [late] [+missed]": when it fired,
// which task, and when it was due.
func (n *night) want(fires ...string) {
	n.t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if diff := cmp.Diff(fires, n.fired); diff != "" {
		n.t.Errorf("fires (-want +got):\n%s", diff)
	}
}

func (n *night) wantNotes(notes ...string) {
	n.t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if diff := cmp.Diff(notes, n.notes); diff != "" {
		n.t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// inBubble runs a test of the loop in a synctest bubble.
func inBubble(t *testing.T, test func(n *night)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newNight(t)) })
}

const (
	idA = "aaaaaaaa"
	idB = "bbbbbbbb"
)
