package notes

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
)

// desk is Notes over a temporary directory. Its zone is two hours ahead of UTC.
type desk struct {
	*Notes
	dir    *store.Dir
	logged strings.Builder
	seen   [][]string // the pending updates at each call of Changed
}

func open(t *testing.T) *desk {
	dir, zone := storetest.Prepared(t), time.FixedZone("here", 2*60*60)
	d := &desk{dir: dir}
	log := slog.New(slog.NewTextHandler(&d.logged, nil))
	d.Notes = &Notes{
		Zone: zone, Log: log, Audit: audit.New(audit.Options{Dir: dir}), Updates: updates.NewQueue(dir, zone, log),
		Notices: notice.NewBoard(zone, func(s string) string { return s }, func() {}),
		Changed: func() { d.seen = append(d.seen, d.pending()) },
	}
	return d
}

func (d *desk) pending() (list []string) {
	for _, u := range d.Updates.Peek() {
		list = append(list, u.Message)
	}
	return list
}

func (d *desk) shown() (list []string) {
	for _, n := range d.Notices.All() {
		list = append(list, string(n.Level)+" "+n.Text)
	}
	return list
}

func (d *desk) recorded(t *testing.T) []audit.Entry {
	t.Helper()
	list, _, err := d.Audit.Read(10)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestANoteIsShownPendingAndRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t)
		d.Add("a fire was missed")
		if got := d.shown(); !slices.Equal(got, []string{"warning a fire was missed"}) {
			t.Errorf("shown: %q", got)
		}
		if len(d.seen) != 1 || !slices.Equal(d.seen[0], []string{"a fire was missed"}) {
			t.Errorf("pending when something changed: %q", d.seen)
		}
		list := d.recorded(t)
		if len(list) != 1 || list[0].Actor != audit.Bot || list[0].Action != audit.Noted || list[0].Detail != "a fire was missed" {
			t.Errorf("recorded: %+v", list)
		}
		at := d.Updates.Peek()[0].At
		if d.logged.Len() > 0 {
			t.Errorf("logged %s", &d.logged)
		}
		if _, offset := at.Zone(); !at.Equal(time.Now()) || offset != 2*60*60 {
			t.Errorf("pending since %v", at)
		}
	})
}

func TestWhatOnlyTheAgentReadsIsNotShown(t *testing.T) {
	d := open(t)
	d.Tell("the user refused it")
	if got := d.shown(); len(got) != 0 || !slices.Equal(d.pending(), []string{"the user refused it"}) || len(d.seen) != 1 {
		t.Errorf("shown %q, pending %q, changed %d times", got, d.pending(), len(d.seen))
	}
}

func TestALeftNotePendsOnceAndIsSavedBeforeItCanBeRead(t *testing.T) {
	d := open(t)
	for range 2 {
		saved := 0
		err := d.Leave("a fire was missed", func() {
			saved++
			if len(d.seen) > 1 {
				t.Error("called after the change")
			}
		})
		if err != nil || saved != 1 {
			t.Errorf("saved %d times, %v", saved, err)
		}
		d.seen = d.seen[:1]
	}
	if got := d.pending(); len(got) != 1 || len(d.recorded(t)) != 0 {
		t.Errorf("pending %q, recorded %v", got, d.recorded(t))
	}
}

// An empty text cannot be saved as an update.
func TestANoteThatCannotBeSavedIsAnErrorOrLogged(t *testing.T) {
	d := open(t)
	if err := d.Leave("", func() { t.Error("saved") }); err == nil || len(d.seen) != 1 || d.logged.Len() != 0 {
		t.Errorf("%v, changed %d times, logged %s", err, len(d.seen), &d.logged)
	}
	if d.Add(""); !strings.Contains(d.logged.String(), "level=ERROR") {
		t.Errorf("logged %s", &d.logged)
	}
}

func TestTroublesReplaceEachOtherByKindUntilTheyAreMended(t *testing.T) {
	d := open(t)
	say := func(text string) func(bool) string { return func(bool) string { return text } }
	d.Troubles(routines.KindRoutine, say("a.md: no cron"))
	d.Troubles(routines.KindReminder, say("b.md: no time"))
	d.Troubles(routines.KindRoutine, func(unread bool) string {
		if !unread {
			return "" // there is no update to replace
		}
		return "a.md and c.md: no cron"
	})
	if got := d.shown(); len(got) != 0 {
		t.Errorf("shown %q, beside the list of problems", got)
	}
	if got, want := d.pending(), []string{"b.md: no time", "a.md and c.md: no cron"}; !slices.Equal(got, want) {
		t.Errorf("pending %q, want %q", got, want)
	}
	d.Troubles(routines.KindRoutine, say(""))
	if got, want := d.pending(), []string{"b.md: no time"}; !slices.Equal(got, want) || len(d.seen) != 4 {
		t.Errorf("mended: pending %q, want %q; changed %d times", got, want, len(d.seen))
	}
	if d.logged.Len() > 0 {
		t.Errorf("logged %s", &d.logged)
	}
}

func TestTroublesThatCannotBeSavedAreLogged(t *testing.T) {
	d := open(t)
	if err := os.MkdirAll(d.dir.Path("state/.pending_updates.lock"), 0o700); err != nil { // blocks the lock
		t.Fatal(err)
	}
	d.Troubles(routines.KindRoutine, func(bool) string { return "a.md: no cron" })
	if len(d.seen) != 1 {
		t.Errorf("changed %d times", len(d.seen))
	}
	if !strings.Contains(d.logged.String(), "a pending update about files could not be saved") {
		t.Errorf("logged %s", &d.logged)
	}
}
