package absence

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func dir(t *testing.T) *store.Dir {
	t.Helper()
	d := storetest.Dir(t)
	if err := d.Prepare(); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAfterTheUsersAbsenceTheAgentKnowsHowLongItWas(t *testing.T) {
	d := dir(t)
	keeper := func() *Keeper { return New(d, slog.New(slog.DiscardHandler)) }
	k := keeper()
	if s := k.Span(at(0)); s != (Span{}) {
		t.Errorf("nobody was here yet: %+v", s)
	}
	k.UserActive(at(0))
	k.UserActive(at(10))
	if s := k.Span(at(20)); s != (Span{}) {
		t.Errorf("ten minutes are no absence: %+v", s)
	}
	k = keeper() // like after a restart
	if s, want := k.Span(at(200)), (Span{at(10), at(200)}); s != want {
		t.Errorf("still away: %+v, want %+v", s, want)
	}
	k.UserActive(at(210))
	k.UserActive(at(215))
	for _, k := range []*Keeper{k, keeper()} {
		if s, want := k.Span(at(216)), (Span{at(10), at(210)}); s != want {
			t.Errorf("back: %+v, want %+v", s, want)
		}
	}
}

func TestAPresenceThatCannotBeReadIsNone(t *testing.T) {
	d := dir(t)
	if err := d.Write(fileName, []byte("{torn")); err != nil {
		t.Fatal(err)
	}
	k := New(d, slog.New(slog.DiscardHandler))
	if s := k.Span(noon); s != (Span{}) {
		t.Error(s)
	}
	k.UserActive(noon)
	if s := New(d, slog.New(slog.DiscardHandler)).Span(at(60)); s.From != noon {
		t.Errorf("what is written then counts: %+v", s)
	}
}

func TestWhatHappenedIsSummedUpByTask(t *testing.T) {
	d := dir(t)
	lines := []string{
		`{"id":"00000001","task":"tea","title":"Tea","state":"done","ended":"2026-11-22T12:05:00Z","pings":1,"cost_usd":1}`, // before
		`{"id":"00000002","task":"walk","title":"Walk","state":"done","ended":"2026-11-22T12:20:00Z","tokens":100,"cost_usd":0.25}`,
		`{"id":"00000003","task":"tea","title":"Tea","state":"failed","error":"the engine is gone","ended":"2026-11-22T12:30:00Z","refused":2,"cost_usd":0.5}`,
		`{"id":"00000004","task":"tea","title":"Tea","state":"done","ended":"2026-11-22T12:40:00Z","pings":1,"reports":1}`,
		`{"id":"00000005","task":"mail","title":"Mail","state":"done","ended":"2026-11-22T12:50:00Z","pings":1,"quiet":2}`,
		`{"id":"00000006","task":"walk","title":"Walk","state":"done","ended":"2026-11-22T14:00:00Z"}`, // after
	}
	if err := d.Write("state/fork_runs.jsonl", []byte(strings.Join(lines, "\n")+"\n")); err != nil {
		t.Fatal(err)
	}
	log := audit.New(audit.Options{Dir: d})
	log.Record(at(1), audit.Entry{Actor: audit.Bot, Action: audit.Noted, Detail: "early"})
	log.Record(at(25), audit.Entry{Actor: audit.Bot, Action: audit.Noted, Detail: "Tea was missed"})
	log.Record(at(26), audit.Entry{Actor: audit.User, From: "Discord", Action: audit.ApprovalAnswered, Subject: "Bash"})
	log.Record(at(27), audit.Entry{Actor: audit.Bot, Action: audit.RunHeld, Subject: "tea"})
	log.Record(at(28), audit.Entry{Actor: audit.Bot, Action: audit.RunInFront, Subject: "review"})
	r, err := Sum(d, log, Span{at(10), at(60)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, task := range r.Tasks {
		got = append(got, task.Title+" "+task.Run)
	}
	if s := strings.Join(got, ", "); s != "Tea 00000003, Mail 00000005, Walk 00000002" {
		t.Errorf("tasks: %s", s)
	}
	tea, sum := r.Tasks[0], r.Sum
	if tea.Runs != 2 || tea.Failed != 1 || tea.Refused != 2 || tea.Pings != 1 || tea.Reports != 1 || tea.Why != "the engine is gone" {
		t.Errorf("tea: %+v", tea)
	}
	if sum.Runs != 4 || sum.Pings != 2 || sum.Quiet != 2 || sum.Failed != 1 || sum.Dollars != 0.75 {
		t.Errorf("all: %+v", sum)
	}
	if len(r.Notes) != 1 || r.Notes[0].Detail != "Tea was missed" || len(r.Answers) != 1 || r.Answers[0].From != "Discord" {
		t.Errorf("notes %+v, answers %+v", r.Notes, r.Answers)
	}
	if len(r.Held) != 1 || r.Held[0].Subject != "tea" || len(r.Front) != 1 || r.Front[0].Subject != "review" {
		t.Errorf("held %+v, in the conversation %+v", r.Held, r.Front)
	}
	if len(r.Log) != 5 || r.Log[0].Action != audit.RunInFront {
		t.Errorf("the log, newest first: %+v", r.Log)
	}
}
