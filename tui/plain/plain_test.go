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

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/absence"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/pane"
	"ollimbot/tui/tuitest"
)

// world is what stories change: the snapshot, and what the bot answers.
type world struct {
	core.Snapshot
	Asks    []policy.Request // become approvals that wait
	Dates   []google.Item    // what a look finds
	Stored  []fork.View      // in the ledger
	Past    command.TaskPast
	Absence absence.Report
	Task    string // a task as the core describes it
	Follows string // of a setting
	Refusal string // what every command gets; "" lets them pass
	Made    bool   // undo removes a task that was added
	Slow    bool   // answers to messages come with bot.answers
}

// bot is a small core.
type bot struct {
	pane.Reader // nil: the rest is not asked for
	mu          sync.Mutex
	world       world
	changed     chan struct{}
	did         []string // the commands that it got, and its looks into the calendars
	answers     chan error
	rings       map[string]*tail.Ring
}

func newBot() *bot {
	return &bot{
		changed: make(chan struct{}, 1), answers: make(chan error), rings: map[string]*tail.Ring{},
		world: world{Task: described, Snapshot: core.Snapshot{
			Zone: time.UTC, Dir: "~/.ollim-bot", Root: "/data",
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
		}},
	}
}

// change lets something happen to the bot.
func (b *bot) change(f func(w *world)) {
	b.mu.Lock()
	f(&b.world)
	for _, r := range b.world.Asks {
		b.world.Approvals = append(slices.Clone(b.world.Approvals), r.Asked(time.Now()))
	}
	b.world.Asks = nil
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// takes gives the commands since the last look.
func (b *bot) takes() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	did := b.did
	b.did = nil
	return did
}

func (b *bot) now() world {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.world
	w.At = time.Now().UTC()
	return w
}

func (b *bot) Snapshot() core.Snapshot { return b.now().Snapshot }

func (b *bot) Changed() <-chan struct{} { return b.changed }

func (b *bot) Look(context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.did = append(b.did, "Look")
	b.world.Day = b.world.Dates
}

func (b *bot) ring(id string) *tail.Ring {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rings[id] == nil {
		b.rings[id] = tail.New(1000)
	}
	return b.rings[id]
}

func (b *bot) Tail(id string, from tail.Cursor) tail.Page { return b.ring(id).Read(from) }

func (b *bot) Describe(context.Context, string) (string, error) { return b.now().Task, nil }

func (b *bot) Runs(context.Context, command.Mark, int) (fork.Page, error) {
	return fork.Page{Runs: b.now().Stored, All: true}, nil
}

func (b *bot) Past(context.Context, string) (command.TaskPast, error) { return b.now().Past, nil }

func (b *bot) Away(context.Context) (absence.Report, error) { return b.now().Absence, nil }

func (b *bot) Do(_ context.Context, c command.Value) (command.Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.did = append(b.did, tuitest.Words(c))
	if b.world.Refusal != "" {
		return command.Outcome{}, errors.New(b.world.Refusal)
	}
	switch c := c.(type) {
	case command.Say:
		if b.world.Slow {
			return command.Outcome{Done: b.answers}, nil
		}
		return command.Outcome{}, nil
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
		case "status ":
			now := b.world.Snapshot
			now.At = time.Now().UTC()
			return command.Outcome{Printed: strings.Join(now.Status(), "\n")}, nil
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
		if b.world.Made {
			return command.Outcome{Message: "so it is", Undo: command.RemoveTask{ID: "bbbb2222", Version: "v1"}}, nil
		}
	case command.SetConfig:
		if b.world.Follows != "" && !c.Sure {
			return command.Outcome{Follows: b.world.Follows}, nil
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

// described is a task as the core describes it.
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

	mu  sync.Mutex
	out strings.Builder
}

func (s *stage) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

// open starts plain mode for a bot.
func open(t *testing.T, b *bot, o Options) *stage {
	ctx, stop := context.WithCancel(context.Background())
	in, w := io.Pipe()
	s := &stage{t: t, bot: b, in: w, ended: make(chan error, 1), stop: stop}
	o.Input, o.Output = in, s
	go func() { s.ended <- Run(ctx, b, o) }()
	return s
}

// close ends it with its context, if it has not ended by itself.
func (s *stage) close() {
	s.stop()
	synctest.Wait()
	select {
	case err := <-s.ended:
		testkit.Must(s.t, err)
	default:
		s.t.Error("it does not end with its context")
	}
}

// hears gives the lines since the last look, after things have settled. None may hold what a terminal would obey.
func (s *stage) hears() []string {
	time.Sleep(2 * gap)
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.out.String()
	s.out.Reset()
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
	for _, l := range lines {
		if strings.ContainsFunc(l, func(r rune) bool { return r < 0x20 || r == 0x7f || r == 0x202e }) {
			s.t.Errorf("wrote %q", l)
		}
	}
	return lines
}

func (s *stage) types(line string) []string {
	s.t.Helper()
	_, err := io.WriteString(s.in, line+"\n")
	testkit.Must(s.t, err)
	return s.hears()
}

// play plays a scene in a bubble.
func play(t *testing.T, o Options, scene func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, newBot(), o)
		s.hears()
		scene(s)
		s.close()
	})
}

func one(t *testing.T, lines []string, words string) {
	t.Helper()
	if len(lines) != 1 || !strings.Contains(lines[0], words) {
		t.Errorf("heard %q, want one line with %q", lines, words)
	}
}

// The reads of real files do not end when they are closed.
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
