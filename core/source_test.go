package core

import (
	"testing"
	"time"

	"ollimbot/core/talk/notice"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
)

func TestTheSourceOfAnUpdateIsTheOnlyRunThatFits(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 30, 0, time.UTC)
	red := fork.View{ID: "1", Title: "Red", Reports: 1, Started: at.Add(-time.Minute), Ended: at.Add(time.Second)}
	with := func(f fork.View, change func(*fork.View)) fork.View {
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		runs []fork.View
		want string
	}{
		"no run":                       {nil, ""},
		"one that ran then":            {[]fork.View{red}, "Red"},
		"one that still runs":          {[]fork.View{with(red, func(f *fork.View) { f.Ended = time.Time{} })}, "Red"},
		"one that began in its second": {[]fork.View{with(red, func(f *fork.View) { f.Started = at.Add(300 * time.Millisecond) })}, "Red"},
		"one that has not reported":    {[]fork.View{with(red, func(f *fork.View) { f.Reports = 0 })}, ""},
		"one that was over":            {[]fork.View{with(red, func(f *fork.View) { f.Ended = at.Add(-time.Second) })}, ""},
		"one that came later":          {[]fork.View{with(red, func(f *fork.View) { f.Started = at.Add(time.Second) })}, ""},
		"one that waits":               {[]fork.View{with(red, func(f *fork.View) { f.Started = time.Time{} })}, ""},
		"two of one title":             {[]fork.View{red, with(red, func(f *fork.View) { f.ID = "2" })}, "Red"},
		"two":                          {[]fork.View{red, with(red, func(f *fork.View) { f.Title = "Blue" })}, ""},
	} {
		s := Snapshot{Forks: c.runs}
		if got := s.Source(updates.Update{At: at, Message: "rep"}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The program leaves updates too, and reports them at once.
func TestWhatTheProgramHasLeftComesFromNoRun(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 30, 0, time.UTC)
	s := Snapshot{
		Forks:   []fork.View{{ID: "1", Title: "Red", Reports: 1, Started: at.Add(-time.Minute)}},
		Notices: []notice.Notice{{Text: "The file a.md is wrong."}},
	}
	if got := s.Sourced(updates.Update{At: at, Message: "The file\na.md is wrong."}); got != "The file\na.md is wrong." {
		t.Errorf("it reads %q", got)
	}
}

func TestASourceIsNotSaidTwice(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 30, 0, time.UTC)
	s := Snapshot{Forks: []fork.View{{ID: "1", Title: "Inbox", Reports: 1, Started: at.Add(-time.Minute)}}}
	for message, want := range map[string]string{"inbox: two letters": "inbox: two letters", "two letters": "Inbox: two letters"} {
		if got := s.Sourced(updates.Update{At: at, Message: message}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
