package schedule

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
	"ollimbot/routines/account"
	"ollimbot/routines/leeway"
	"ollimbot/routines/watch"
)

const (
	idA = "a"
	idB = "b"
	day = 24 * time.Hour
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
	return &room{t: t, root: root, dir: storetest.At(t, root)}
}

// made returns a schedule whose options a test has changed: by default it has a silent log and nothing to do.
func made(d *store.Dir, change func(*Options)) *Schedule {
	o := Options{
		Dir: d, Zone: time.UTC, Log: slog.New(slog.DiscardHandler), Note: func(string) {}, Changed: func() {},
		Inherit: func(string, string, []byte) error { return nil }, Fire: func(context.Context, Due) error { return nil },
	}
	o.Troubles = func(_ routines.Kind, words func(bool) string) {
		if text := words(false); text != "" {
			o.Note(text)
		}
	}
	if change != nil {
		change(&o)
	}
	if o.Index == nil {
		o.Index = routines.NewIndex(o.Dir, o.Zone)
	}
	s := New(o)
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

// task writes the file of "a 5 * * * *; missed: run" or "b @ 02 09:00; body: call home", a routine or a reminder.
// "copy/a" is the task a in the file copy.md.
func (r *room) task(words string) {
	r.t.Helper()
	name, rest, _ := strings.Cut(words, " ")
	id := name[strings.LastIndex(name, "/")+1:]
	name, _, _ = strings.Cut(name, "/")
	parts := strings.Split(rest, "; ")
	runAt, reminder := strings.CutPrefix(parts[0], "@ ")
	var keys []string
	body := map[bool]string{false: "water", true: "call"}[reminder]
	for _, key := range parts[1:] {
		if text, ok := strings.CutPrefix(key, "body: "); ok {
			body = text
		} else {
			keys = append(keys, key)
		}
	}
	if reminder {
		r.put("reminders/"+name+".md", reminderText(id, r.at(runAt).Format(time.RFC3339), body, keys...))
	} else {
		r.put("routines/"+name+".md", routineText(id, parts[0], body, keys...))
	}
}

// at parses a moment of the bubble's first month: "15:04", "02 15:04" or "02 15:04:05".
func (r *room) at(text string) time.Time {
	r.t.Helper()
	if !strings.Contains(text, " ") {
		text = "01 " + text
	}
	if strings.Count(text, ":") == 1 {
		text += ":00"
	}
	at, err := time.Parse("2006-01-02 15:04:05", "2000-01-"+text)
	testkit.Must(r.t, err)
	return at
}

// hour is the shortest text that at reads.
func hour(at time.Time) string {
	return strings.TrimPrefix(strings.TrimSuffix(at.UTC().Format("02 15:04:05"), ":00"), "01 ")
}

func routineText(id, cron, body string, extra ...string) string {
	return fmt.Sprintf("---\nid: %q\ncron: %q\n%s---\n%s\n", id, cron, lines(extra), body)
}

func reminderText(id, runAt, body string, extra ...string) string {
	return fmt.Sprintf("---\nid: %q\nrun-at: %q\n%s---\n%s\n", id, runAt, lines(extra), body)
}

// lines are the keys of a task in the background, unless they say otherwise.
func lines(list []string) string {
	text := strings.Join(list, "\n") + "\n"
	if !strings.Contains(text, "background:") {
		text = "background: true\n" + strings.TrimPrefix(text, "\n")
	}
	return text
}

// night is a loop in a bubble over a real directory. The bubble's clock starts at
// midnight on 1 January 2000, a Saturday, in UTC.
type night struct {
	*room
	loop *Schedule
	stop func() // ends the loop and waits for it

	mu      sync.Mutex
	shift   time.Duration // of the wall clock
	fires   []fired
	names   []string // of the fires
	notes   []string
	commits []string
	reports []string // of routines that keep failing
	asked   []string // about the runs of reminders
	log     bytes.Buffer
	changed int // calls of Changed
	mark    int // of them, at an earlier step
	before  Hold
	purse   *purse // nil: nothing costs anything
	tickets []string
	waits   string // why every task needs approval
	kept    string // a text that stays in force while edits of it wait
	edits   map[string]string
	block   func() // what Changed waits for
	work    map[string]func(ctx context.Context, d Due) error
	facts   leeway.Facts
	ended   func(id string, runAt, since time.Time) bool // nil: no run is known to have ended
	disk    map[string][]byte                            // what a kill leaves; nil: nothing is killed
}

// fired is a fire: the time of the bubble, and how want describes it.
type fired struct {
	at   time.Time
	text string
}

// inBubble runs a test of the loop in a synctest bubble.
func inBubble(t *testing.T, test func(n *night)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &night{room: newRoom(t), stop: func() {}, work: map[string]func(context.Context, Due) error{}, edits: map[string]string{}}
		defer func() { n.stop() }()
		test(n)
	})
}

func (n *night) clock() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().UTC().Add(n.shift)
}

// with changes what the loop's callbacks read.
func (n *night) with(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

// start runs a loop over the current directory.
func (n *night) start() {
	n.stop()
	n.loop = made(n.dir, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(&n.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		o.Index, o.Fire, o.Commits = routines.NewIndex(n.dir, time.UTC), n.fire, n
		o.Index.JudgeBy(n.judge)
		o.Index.KeepBy(func(version string) string { return n.edits[version] })
		o.Note = func(text string) { n.with(func() { n.notes = append(n.notes, text) }) }
		o.Facts = func(time.Time, time.Time) (f leeway.Facts) { n.with(func() { f = n.facts }); return f }
		o.Changed = func() {
			n.with(func() { n.changed++ })
			if n.block != nil {
				n.block()
			}
		}
		o.Failing = func(_ context.Context, t routines.Task, why string, paused bool) {
			n.with(func() { n.reports = append(n.reports, fmt.Sprintf("%s %s %v", t.ID, why, paused)) })
		}
		if n.purse != nil {
			o.Purse = n.purse
		}
		if ended := n.ended; ended != nil {
			o.Ended = func(id string, runAt, since time.Time) bool {
				n.with(func() { n.asked = append(n.asked, id+" "+hour(runAt)) })
				return ended(id, runAt, since)
			}
		}
	})
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

// judge says why a task needs approval: what the agent has written, or all if a story says so, but what is good.
func (n *night) judge(t *routines.Task) string {
	switch {
	case strings.Contains(t.Body, "agent"):
		return "it may do more"
	case strings.Contains(t.Body, "good"):
		return ""
	}
	return n.waits
}

func (n *night) fire(ctx context.Context, d Due) error {
	now, id := hour(n.clock()), d.Task().ID
	text := now + " " + id
	if d.Early != nil {
		text += " (" + strings.TrimSuffix(d.Early.Long()+" before: "+d.Early.Text, ": ") + ")"
	}
	if due := hour(d.At); due != now {
		text += " of " + due
	}
	if d.Missed > 0 {
		text += fmt.Sprintf(" +%d", d.Missed)
	}
	for _, is := range []struct {
		so   bool
		word string
	}{{d.Late, " late"}, {d.ByHand, " by hand"}, {d.Reminder != nil && d.Reminder.LastWord, " last"}, {!d.Broke.IsZero(), " broke until " + hour(d.Broke)}} {
		if is.so {
			text += is.word
		}
	}
	n.mu.Lock()
	n.fires = append(n.fires, fired{time.Now(), text})
	n.names, n.tickets = append(n.names, d.Fire()), append(n.tickets, d.Ticket)
	if n.disk != nil {
		n.snap()
	}
	work := n.work[id]
	if work == nil {
		work = n.work[""]
	}
	n.mu.Unlock()
	if work == nil {
		return nil
	}
	return work(ctx, d)
}

// snap remembers what a kill at this moment would leave.
func (n *night) snap() {
	n.disk = map[string][]byte{}
	for _, pattern := range []string{recordFile, account.File, "routines/*.md", "reminders/*.md"} {
		paths, _ := filepath.Glob(n.dir.Path(pattern))
		for _, path := range paths {
			n.disk[path], _ = os.ReadFile(path)
		}
	}
}

func (n *night) Add(rel, message string) {
	n.with(func() { n.commits = append(n.commits, rel+": "+message) })
}

func (n *night) Remove(rel, message string) { n.Add(rel, message) }

// look makes the loop read the disk.
func (n *night) look() {
	n.loop.Apply(watch.Batch{Full: true})
	synctest.Wait()
}

func (n *night) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// jump sets the wall clock, like a suspension or a manual change.
func (n *night) jump(by time.Duration) { n.with(func() { n.shift += by }) }

// fired lists the fires: when each was, its task and, where it differs, when it was due, as "10:00:05 a of 09:00 late".
func (n *night) fired() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	slices.SortStableFunc(n.fires, func(a, b fired) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.text, b.text)) })
	var got []string
	for _, f := range n.fires {
		got = append(got, f.text)
	}
	return strings.Join(got, ", ")
}

func (n *night) want(fires string) {
	n.t.Helper()
	n.wantText("fires", fires, n.fired())
}

// wantText compares texts, in which … is any text.
func (n *night) wantText(what, want, got string) {
	n.t.Helper()
	parts := strings.Split(want, "…")
	rest, ok := strings.CutPrefix(got, parts[0])
	for i, part := range parts[1:] {
		if i == len(parts)-2 && part == "" {
			rest = ""
		} else if i == len(parts)-2 {
			rest = rest[max(0, len(rest)-len(part)):]
		}
		at := strings.Index(rest, part)
		ok = ok && at >= 0
		rest = rest[max(0, at)+min(len(part), len(rest)):]
	}
	if !ok || rest != "" {
		n.t.Errorf("%s:\n  %s\nwant\n  %s", what, got, want)
	}
}

func (n *night) wantFile(rel string, there bool) {
	n.t.Helper()
	if _, err := os.Stat(n.dir.Path(rel)); (err == nil) != there {
		n.t.Errorf("%s is there: %v, want %v", rel, err == nil, there)
	}
}

// account returns what became of each due time: "09:00 a done".
func (n *night) account() string {
	n.t.Helper()
	past, err := account.New(n.dir).Read(n.clock())
	if err != nil {
		return "cannot be read"
	}
	if past.Damaged > 0 {
		n.t.Errorf("%d rows of the account are damaged", past.Damaged)
	}
	var list []string
	for _, row := range past.Rows {
		words := hour(row.Due) + " " + row.ID
		if i := strings.Index(row.Title, " ("); i > 0 {
			words += row.Title[i:]
		}
		words = strings.TrimSpace(words + " " + string(row.Fate) + " " + row.Why)
		if row.Late {
			words += " late"
		}
		list = append(list, words)
	}
	return strings.Join(list, ", ")
}
