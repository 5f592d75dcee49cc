package plain

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/absence"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/updates"
	"ollimbot/core/work/week"
	"ollimbot/routines"
	"ollimbot/routines/account"
	"ollimbot/routines/schedule"
	"ollimbot/tui/pane"
)

// bot is a small core: a snapshot that commands and stories change.
type bot struct {
	pane.Reader // nil: nobody asks for the rest
	mu          sync.Mutex
	snap        core.Snapshot
	changed     chan struct{}
	did         []command.Value
	replies     chan error // Done of what is said
	refusal     error      // what every command gets; nil lets them pass
	rings       map[string]*tail.Ring
	fixed       time.Time     // the snapshot's moment; zero is now
	dates       []google.Item // what a look finds
	looks       int
	stored      []fork.View // in the ledger
	past        command.TaskPast
	away        absence.Report
	undo        command.Value // of a new task
	follows     string        // of a setting
}

func newBot() *bot {
	return &bot{
		changed: make(chan struct{}, 1),
		snap: core.Snapshot{
			Zone: time.UTC, Dir: "~/.ollim-bot",
			Engine: core.EngineStatus{Name: "script", Model: "sonnet", State: "ready", OK: true},
			Budget: core.BudgetView{State: budget.State{Capacity: 5, Available: 3.2, RefillRateMinutes: 90}},
			Schedule: schedule.View{
				Entries: []schedule.Entry{{ID: "aaaa1111", Description: "Email sweep"}},
				Tasks: []schedule.TaskView{
					{ID: "aaaa1111", Title: "Email sweep", Kind: routines.KindRoutine, When: "every hour"},
					{ID: "bbbb2222", Title: "Medication", Kind: routines.KindRoutine, Path: "routines/m.md"},
					{ID: "cccc3333", Title: "Medication refill", Kind: routines.KindReminder},
				},
			},
		},
	}
}

func (b *bot) Snapshot() core.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.snap
	if s.At = b.fixed; s.At.IsZero() {
		s.At = time.Now().UTC()
	}
	return s
}

func (b *bot) Changed() <-chan struct{} { return b.changed }

func (b *bot) Look(context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks++
	b.snap.Day = b.dates
}

func (b *bot) Tail(id string, from tail.Cursor) tail.Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.rings[id]; r != nil {
		return r.Read(from)
	}
	return tail.Page{Next: from}
}

// speaks adds lines to the tail of a run or of the log.
func (b *bot) speaks(id string, lines ...tail.Line) {
	b.mu.Lock()
	if b.rings == nil {
		b.rings = map[string]*tail.Ring{}
	}
	if b.rings[id] == nil {
		b.rings[id] = tail.New(1000)
	}
	for _, l := range lines {
		b.rings[id].Add(l)
	}
	b.mu.Unlock()
	b.change(func(*core.Snapshot) {})
}

func (b *bot) change(f func(s *core.Snapshot)) {
	b.mu.Lock()
	b.snap.Chat = slices.Clone(b.snap.Chat)
	f(&b.snap)
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

func (b *bot) Preview(_ context.Context, id string) (string, error) {
	return "Good morning, " + id, nil
}

func (b *bot) Describe(context.Context, string) (string, error) { return described, nil }

func (b *bot) Runs(context.Context, command.Mark, int) (fork.Page, error) {
	return fork.Page{Runs: b.stored, All: true}, nil
}

func (b *bot) Past(context.Context, string) (command.TaskPast, error) { return b.past, nil }

func (b *bot) DueTimes(_ context.Context, since time.Time) (command.DueTimes, error) {
	at := b.snap.At.Add(-time.Hour)
	rows := []account.Row{
		{Kind: "routine", ID: "aaaa1111", Title: "Email sweep", Due: at, At: at, Fate: account.Ran},
		{Kind: "routine", ID: "bbbb2222", Title: "Medication", Due: at, At: at, Fate: account.Missed, Why: account.Asleep},
	}
	return command.DueTimes{Report: account.Report{Since: since, Rows: rows}}, nil
}

func (b *bot) Week(_ context.Context, ago int) (week.Report, error) {
	return week.Of(b.snap.At, ago, week.Sources{
		Pings: b.snap.Budget.Pings, Promises: func(_, _ time.Time) proposals.Counts { return proposals.Counts{Accepted: 3, Kept: 2} },
	}), nil
}

func (b *bot) Models(context.Context) ([]command.ModelChoice, error) { return nil, nil }

func (b *bot) Away(context.Context) (absence.Report, error) { return b.away, nil }

func (b *bot) Costs(_ context.Context, days int) (command.CostReport, error) {
	return command.CostReport{Days: make([]command.CostDay, days)}, nil
}

func (b *bot) Do(_ context.Context, c command.Value) (command.Outcome, error) {
	b.mu.Lock()
	b.did = append(b.did, c)
	refusal := b.refusal
	b.mu.Unlock()
	if refusal != nil {
		return command.Outcome{}, refusal
	}
	switch c := c.(type) {
	case command.Say:
		return command.Outcome{Done: b.replies}, nil
	case command.SetBudget:
		return command.Outcome{Message: "capacity 5 → 6", Undo: command.RestoreBudget{Capacity: 5}}, nil
	case command.Line: // the command line itself is tested with the program
		if row, _, _ := c.Row(); row.Asks && !c.Sure {
			return command.Outcome{Follows: c.Text + ": " + strings.TrimSuffix(row.About, ".")}, nil
		}
		switch c.Text {
		case "costs x", "preview of coming attractions":
			return command.Outcome{}, &command.NoLineError{Why: "costs takes a number of days"}
		case "preview nothing":
			return command.Outcome{}, errors.New("there is no such task")
		case "lift off":
			return command.Outcome{Printed: "caps lifted", Message: "caps lifted", Undo: command.LiftCaps{}}, nil
		}
		return command.Outcome{Printed: "so  it · is"}, nil
	case command.Slash:
		if c.Line == "/pause for a walk" {
			return command.Outcome{}, &command.NoLineError{Why: "there is no command /pause"}
		}
		return command.Outcome{Message: "model     opus"}, nil
	case command.AddTask:
		return command.Outcome{Message: "so it is", Undo: b.undo}, nil
	case command.SetConfig:
		if b.follows != "" && !c.Sure {
			return command.Outcome{Follows: b.follows}, nil
		}
	case command.FireNow:
		if c.ID == "bbbb2222" {
			panic("a command that panics")
		}
	case command.StopFork:
		return command.Outcome{}, errors.New("no run has the id \x1b[31m" + c.Run)
	}
	return command.Outcome{Message: "so it is"}, nil
}

// refuse makes every command fail from now on, or none.
func (b *bot) refuse(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refusal = err
}

func (b *bot) done() []command.Value {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.did)
}

// described is a task as the core tells of it.
const described = `Email sweep
routine   aaaa1111 · routines/email.md
runs      in the background
may use   Read, Glob
when      every hour (0 * * * *)
next      Sat 2000-01-01 01:00, in 1 h
          Sat 2000-01-01 02:00, in 2 h

---
id: aaaa1111
---
Look.
`

// stage is plain mode between two pipes, in a bubble.
type stage struct {
	t     *testing.T
	bot   *bot
	in    *io.PipeWriter
	ended chan error
	stop  context.CancelFunc

	begins []string // what was written at the start

	mu  sync.Mutex
	out strings.Builder
}

func (s *stage) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

// play plays a story at a terminal.
func play(t *testing.T, o Options, story func(s *stage)) {
	t.Helper()
	o.Typed = true
	through(t, o, story)
}

func through(t *testing.T, o Options, story func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		in, w := io.Pipe()
		s := &stage{t: t, bot: newBot(), in: w, ended: make(chan error, 1), stop: stop}
		o.Input, o.Output = in, s
		go func() { s.ended <- Run(ctx, s.bot, o) }()
		s.begins = s.hears()
		story(s)
		stop()
		synctest.Wait()
		select {
		case err := <-s.ended:
			if err != nil {
				t.Errorf("ended with %v", err)
			}
		default:
			t.Error("it does not end with its context")
		}
	})
}

// hears gives what was written since the last look, after things have settled.
func (s *stage) hears() []string {
	s.t.Helper()
	time.Sleep(2 * gap)
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.out.String()
	s.out.Reset()
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func (s *stage) types(line string) []string {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
	return s.hears()
}

// did expects the commands that the bot has carried out.
func (s *stage) did(want ...command.Value) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.bot.done()); diff != "" {
		s.t.Errorf("commands (-want +got):\n%s", diff)
	}
}

// change lets something happen to the bot, and returns what was written about it.
func (s *stage) change(f func(n *core.Snapshot)) []string {
	s.t.Helper()
	s.bot.change(f)
	return s.hears()
}

// one expects a single line that holds the words.
func (s *stage) one(lines []string, words string) {
	s.t.Helper()
	if len(lines) != 1 || !strings.Contains(lines[0], words) {
		s.t.Errorf("heard %q, want one line with %q", lines, words)
	}
}

func TestWhatHappensIsOneLineEach(t *testing.T) {
	play(t, Options{Notice: "the offline engine answers"}, func(s *stage) {
		if got := s.begins; len(got) != 3 || got[0] != "All quiet. Nothing is due within a day; 3 pings left." ||
			!strings.Contains(got[1], "in plain mode") || !strings.Contains(got[2], "the offline engine answers") {
			t.Errorf("it begins with %q", got)
		}
		for _, c := range []struct {
			change func(n *core.Snapshot)
			want   string
		}{
			{func(n *core.Snapshot) {
				n.Chat = append(n.Chat, transcript.Entry{ID: "1", Role: transcript.Ping, Source: "Medication", Text: "Did you\ntake it?"})
			}, "ping: Medication: Did you take it?"},
			{func(n *core.Snapshot) {
				n.Chat = append(n.Chat, transcript.Entry{ID: "2", Role: transcript.Ping, Critical: true, Text: "Now"})
			}, "critical ping: Now"},
			{func(n *core.Snapshot) {
				n.Forks = []fork.View{{ID: "f1", Title: "Email sweep", State: fork.Running}}
			}, "run: Email sweep, running"},
			{func(n *core.Snapshot) {
				n.Forks = []fork.View{{ID: "f1", Title: "Email sweep", State: fork.Failed, Error: "no net"}}
			}, "run: Email sweep, failed, no net"},
			{func(n *core.Snapshot) {
				n.Forks = []fork.View{{ID: "f2", Title: "Tea", State: fork.Done, Pings: 1, Reports: 2, Refused: 1}}
			}, "run: Tea, 1 ping, ping refused, 2 reports"},
			{func(n *core.Snapshot) { n.Updates = []updates.Update{{Key: "u", Message: "Two letters."}} }, "update: Two letters."},
			{func(n *core.Snapshot) { n.Notices = []notice.Notice{{Seq: 1, Level: notice.Warn, Text: "late"}} }, "warning: late"},
			{func(n *core.Snapshot) { n.Engine.OK, n.Engine.State = false, "no login" }, "engine: script sonnet, down, no login"},
			{func(n *core.Snapshot) {
				n.Schedule.Problems = []routines.Problem{{File: "a.md", Line: 3, Column: 8, Message: "bad minute"}}
			}, "problem: a.md:3:8: bad minute"},
			{func(n *core.Snapshot) { n.Budget.State.Capacity = 6 }, "budget: 3 of 6 pings left, one comes back every 90 min"},
		} {
			s.bot.change(c.change)
			s.one(s.hears(), c.want)
		}
	})
}

func TestAnAnswerThatGrowsIsSaidOnceAndWhole(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		for _, text := range []string{"I", "I look", "I look at it."} {
			s.bot.change(func(n *core.Snapshot) {
				n.Chat = []transcript.Entry{{ID: "1", Role: transcript.Bot, Text: text, Streaming: true}}
			})
			if got := s.hears(); got[0] != "" {
				t.Errorf("said %q of an answer that still grows", got)
			}
		}
		s.bot.change(func(n *core.Snapshot) {
			n.Chat = []transcript.Entry{{ID: "1", Role: transcript.Bot, Text: "I look at it.\n- done"}}
		})
		s.one(s.hears(), "bot: I look at it. - done")
		if got := s.types("read"); len(got) != 2 || !strings.HasSuffix(got[1], "- done") {
			t.Errorf("read says %q", got)
		}
	})
}

func TestWhereNothingWasSaidThereIsNothingToRead(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.one(s.types("read"), "no matching message")
		s.one(s.types("day"), "nothing fires in the next 24 hours; list names all tasks")
		s.hasLines(s.types("help dance"), "; the groups of commands are overview, tasks, runs", textToAgent)
	})
}

func TestTheEndOfTheInputWaitsForTheAnswer(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.replies = make(chan error)
		s.hears()
		s.types("say hello")
		_ = s.in.Close()
		synctest.Wait()
		if len(s.ended) != 0 {
			t.Fatal("it has ended before the answer came")
		}
		s.bot.change(func(n *core.Snapshot) {
			n.Chat = []transcript.Entry{{ID: "1", Role: transcript.Bot, Text: "Hello."}}
		})
		close(s.bot.replies)
		s.one(s.hears(), "bot: Hello.")
		if len(s.ended) != 1 {
			t.Error("it goes on after the end of its input")
		}
	})
}

func TestNothingIsWrittenThatATerminalWouldObey(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.bot.change(func(n *core.Snapshot) {
			n.Chat = []transcript.Entry{{ID: "1", Role: transcript.Bot, Text: "a\x1b]0;owned\x07\u202eb\rc"}}
			n.Notices = []notice.Notice{{Seq: 1, Level: notice.Info, Text: "\x1b[2Jgone"}}
		})
		for _, line := range s.hears() {
			if strings.ContainsFunc(line, func(r rune) bool { return r < 0x20 || r == 0x7f || r == 0x202e }) {
				t.Errorf("wrote %q", line)
			}
		}
	})
}

// The rest is about real files, whose reads do not end when they are closed.

func TestARealPipeEndsWithTheContext(t *testing.T) {
	in, w, err := os.Pipe()
	testkit.Must(t, err)
	defer func() { _ = in.Close(); _ = w.Close() }()
	out, screen, err := os.Pipe()
	testkit.Must(t, err)
	defer func() { _ = out.Close(); _ = screen.Close() }()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, newBot(), Options{Input: in, Output: screen}) }()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.Contains(lines.Text(), "All quiet") || !lines.Scan() {
		t.Fatalf("it begins with %q", lines.Text())
	}
	if _, err := io.WriteString(w, strings.Repeat("x", 3*maxLine)+"\nruns\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"error: this is too long", "no runs yet"} {
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Fatalf("heard %q, want %q", lines.Text(), want)
		}
	}
	stop() // while it reads
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
