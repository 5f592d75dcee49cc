package routines

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func mover(t testing.TB) Mover {
	d := storetest.Prepared(t)
	return Mover{Dir: d, Zone: time.UTC, Inherit: func(string, string, []byte) error { return nil }}
}

func TestAMovedReminderKeepsEverythingElse(t *testing.T) {
	m, now := mover(t), time.Date(2026, 11, 23, 16, 0, 0, 0, time.UTC)
	const file = "---\nid: a # mine\nrun_at: 2026-11-23 15:00\nuntil: done\nmood: good\nmodel: haiku\n---\nCall.\n"
	testkit.Must(t, m.Dir.Write("reminders/x.md", []byte(file)))
	var inherited string
	m.Inherit = func(old, rel string, data []byte) error { inherited = old + rel; return nil }
	was, err := m.Move(now, "a", Task{}, func(r Reminder) (Move, error) { return Move{At: now.Add(time.Hour), Depth: 1}, nil })
	if err != nil || was.Path != "reminders/x.md" || inherited != was.Digest+"reminders/x.md" {
		t.Fatal(was, err, inherited)
	}
	data, _ := m.Dir.Read("reminders/x.md")
	want := "---\nid: a # mine\nrun_at: \"2026-11-23T17:00:00+00:00\"\nuntil: done\nmood: good\nmodel: haiku\nchain-depth: 1\nmax-chain: 5\nfirst-at: \"2026-11-23T15:00:00+00:00\"\n---\nCall.\n"
	if string(data) != want {
		t.Errorf("%s\nwant\n%s", data, want)
	}
	if _, err = m.Move(now, "a", Task{}, func(Reminder) (Move, error) { return Move{Gone: true}, nil }); err != nil || storetest.Text(t, m.Dir, "reminders/x.md") != "" {
		t.Errorf("a reminder that is done is still there: %v", err)
	}
	testkit.Must(t, m.Dir.Write("reminders/x.md", []byte(file)))
	full := errors.New("the disk is full")
	m.Inherit = func(string, string, []byte) error { return full }
	if _, err = m.Move(now, "a", Task{}, func(r Reminder) (Move, error) { return Move{At: now}, nil }); !errors.Is(err, full) {
		t.Error(err)
	}
	if _, err = m.Move(now, "b", Task{Path: "reminders/x.md"}, nil); !errors.Is(err, ErrNoReminder) {
		t.Error(err)
	}
	testkit.Must(t, m.Dir.Write("reminders/x.md", []byte(strings.Replace(file, "2026-11-23 15:00", "soon", 1))))
	if _, err = m.Move(now, "a", Task{}, nil); !errors.Is(err, ErrBroken) {
		t.Error(err)
	}
}

// After any move the file is valid and contains the new values.
func TestPropertyAMoveIsWhatTheFileSays(t *testing.T) {
	m := mover(t)
	testkit.Check(t, func(rt *rapid.T) {
		at := time.Date(2026, 11, 23, 15, 0, 0, 0, time.UTC)
		r := Reminder{RunAt: at, UntilDone: true, MaxChain: rapid.IntRange(1, 4).Draw(rt, "max"), Again: rapid.IntRange(0, 90).Draw(rt, "again"), Task: Task{
			ID: "a", Background: true, Thinking: true, Mode: OnPing, AllowPing: true, Body: "x",
		}}
		testkit.Must(rt, m.Dir.Write("reminders/x.md", FormatReminder(r)))
		for range rapid.IntRange(1, 4).Draw(rt, "moves") {
			to := Move{
				At:    at.Add(time.Duration(rapid.IntRange(1, 9999).Draw(rt, "minutes")) * time.Minute),
				Depth: rapid.IntRange(0, r.MaxChain).Draw(rt, "depth"), Last: rapid.Bool().Draw(rt, "last"),
			}
			if _, err := m.Move(at, "a", Task{Path: "reminders/x.md"}, func(Reminder) (Move, error) { return to, nil }); err != nil {
				rt.Fatal(err)
			}
			data, err := m.Dir.Read("reminders/x.md")
			got, problems := ParseReminder("reminders/x.md", data, time.UTC)
			if err != nil || len(problems) > 0 || !got.UntilDone || !got.RunAt.Equal(to.At) || got.ChainDepth != to.Depth || got.LastWord != to.Last || !got.FirstAt.Equal(at) {
				rt.Fatalf("%+v, %+v, %v\n%s", to, problems, err, data)
			}
		}
	})
}
