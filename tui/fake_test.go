package tui

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/absence"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/updates"
	"ollimbot/core/work/week"
	"ollimbot/routines"
	"ollimbot/routines/account"
	"ollimbot/routines/schedule"
	"ollimbot/tui/pane"
)

// bot is a small core: it keeps a snapshot, changes it by commands, and says
// when it has changed.
type bot struct {
	mu      sync.Mutex
	snap    core.Snapshot
	rings   map[string]*tail.Ring
	changed chan struct{}
	did     []command.Value
	reads   int // snapshots taken
	looks   int // how often somebody looked
	active  int // how often it heard of keys
	// takes is how long a command takes; nil means no time.
	takes func(c command.Value) time.Duration
	adds  bool // new tasks are written, and runs begin
	full  bool // nothing can be written
}

func newBot(s core.Snapshot) *bot {
	return &bot{snap: s, rings: map[string]*tail.Ring{}, changed: make(chan struct{}, 1)}
}

func (b *bot) Snapshot() core.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	s := b.snap
	if s.Zone != nil {
		s.At = time.Now().In(s.Zone)
	}
	return s
}

// held is what the bot has, for what runs beside the dashboard.
func (b *bot) held() core.Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.snap
}

func (b *bot) Changed() <-chan struct{} { return b.changed }

func (b *bot) Look(context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks++
}

func (b *bot) Tail(id string, from tail.Cursor) tail.Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r, ok := b.rings[id]; ok {
		return r.Read(from)
	}
	return tail.Page{Next: from}
}

// change lets something happen to the bot. Snapshots that are out stay as they are.
func (b *bot) change(f func(s *core.Snapshot)) {
	b.mu.Lock()
	b.snap.Forks = slices.Clone(b.snap.Forks)
	b.snap.Notices = slices.Clone(b.snap.Notices)
	f(&b.snap)
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

func (b *bot) done() []command.Value {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]command.Value(nil), b.did...)
}

func (b *bot) Do(ctx context.Context, c command.Value) (command.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return command.Outcome{}, err
	}
	if b.takes != nil {
		time.Sleep(b.takes(c))
	}
	b.mu.Lock()
	switch c.(type) {
	case command.UserActive:
		b.active++
	default:
		b.did = append(b.did, c)
	}
	b.mu.Unlock()
	if b.full {
		return command.Outcome{}, errDiskFull
	}
	switch c := c.(type) {
	case command.AddTask:
		if b.adds {
			b.change(func(s *core.Snapshot) {
				s.Schedule.Tasks = append(slices.Clone(s.Schedule.Tasks), schedule.TaskView{ID: "made0001", Title: c.Description, Path: "routines/made.md", Next: s.At.Add(9 * time.Hour)})
			})
			return command.Outcome{Message: "it is written", Undo: command.RemoveTask{ID: "made0001", Made: c}}, nil
		}
	case command.SetBudget:
		if err := budget.Validate(c.Capacity, c.RefillMinutes); err != nil {
			return command.Outcome{}, err
		}
		return b.setBudget(c), nil
	case command.RestoreBudget:
		return b.setBudget(command.SetBudget{Capacity: &c.Capacity, RefillMinutes: &c.RefillMinutes}), nil
	case command.MuteUntil:
		return command.Outcome{Message: "muted"}, nil
	case command.LiftCaps:
		b.change(func(s *core.Snapshot) { s.Money.Lifted = !c.Undo })
		return command.Outcome{Message: "the caps are lifted"}, nil
	case command.Interrupt, command.MarkSeen, command.UserActive:
		return command.Outcome{}, nil
	case command.Answer:
		return b.answer(c)
	case command.ExitFork:
		b.change(func(s *core.Snapshot) { s.Fork = nil })
		return command.Outcome{}, nil
	case command.ResumeFork:
		b.change(func(s *core.Snapshot) { s.Fork = &chat.Banner{Resumed: true, Since: time.Now()} })
		return command.Outcome{Message: "resuming Medication"}, nil
	case command.Say:
		switch {
		case c.Text == "/stop email" && !c.Sure:
			return command.Outcome{Follows: c.Text + ": Stop a run"}, nil
		case c.Text == "/pause for a walk":
			return command.Outcome{}, &command.NoLineError{Why: `no task is called "for a walk"`}
		}
		if c.Text == "/config" {
			const reply = "**Main model**: opus\n**Thinking**: adaptive"
			b.change(func(s *core.Snapshot) {
				s.Chat = append(slices.Clone(s.Chat), transcript.Entry{ID: "c", At: time.Now(), Role: transcript.Notice, Text: reply})
			})
			return command.Outcome{Message: reply}, nil
		}
	case command.SetConfig:
		return command.Outcome{Message: c.Key + " → " + c.Value, Undo: command.SetConfig{Key: c.Key, Value: "off", Sure: true}}, nil
	case command.SetLook:
		return command.Outcome{Message: c.Name + " → " + c.Value}, nil
	case command.Line:
		return command.Outcome{Printed: "all that\nit prints"}, nil
	case command.FireNow:
		if !b.adds {
			panic("a command that panics")
		}
		b.change(func(s *core.Snapshot) {
			s.Forks = append([]fork.View{{ID: "fired001", TaskID: c.ID, Title: "Fired", State: fork.Running, Started: time.Now()}}, s.Forks...)
		})
		return command.Outcome{Message: "it is fired"}, nil
	}
	return command.Outcome{}, errDiskFull
}

var errDiskFull = errors.New("write budget: the disk is full; free some space and try again")

// read takes as long as a command.
func (b *bot) read(ctx context.Context) error {
	if b.takes != nil {
		time.Sleep(b.takes(nil))
	}
	return ctx.Err()
}

func (b *bot) Preview(ctx context.Context, _ string) (string, error) {
	return "You are about to fire.\nSecond line of the prompt." + strings.Repeat("\nAnd on it goes.", 40), b.read(ctx)
}

func (b *bot) Describe(ctx context.Context, _ string) (string, error) { return "", b.read(ctx) }

func (b *bot) Past(ctx context.Context, id string) (command.TaskPast, error) {
	return taskPast(id, b.held().At), b.read(ctx)
}

func (b *bot) Costs(ctx context.Context, _ int) (command.CostReport, error) {
	return costReport(b.held().At), b.read(ctx)
}

func (b *bot) Week(ctx context.Context, ago int) (week.Report, error) {
	s := b.held()
	return week.Of(s.At.In(time.UTC), ago, week.Sources{
		Pings: s.Budget.Pings, Promises: func(_, _ time.Time) proposals.Counts { return proposals.Counts{} },
	}), b.read(ctx)
}

func (b *bot) Models(context.Context) ([]command.ModelChoice, error) { return nil, nil }

func (b *bot) Away(ctx context.Context) (absence.Report, error) { return morningAway(), b.read(ctx) }

func (b *bot) DueTimes(ctx context.Context, since time.Time) (command.DueTimes, error) {
	return dueTimes(b.held().At, since), b.read(ctx)
}

// dueTimes are a few due times before now, of which one was missed and one held.
func dueTimes(now, since time.Time) command.DueTimes {
	row := func(id, title string, back time.Duration, fate account.Fate, why string) account.Row {
		return account.Row{Kind: "routine", ID: id, Title: title, Due: now.Add(-back), At: now, Fate: fate, Why: why}
	}
	held := row("aaaa1111", "Email sweep", 26*time.Hour, account.Held, "snoozed")
	held.Until = now.Add(-20 * time.Hour)
	ran := row("aaaa1111", "Email sweep", 2*time.Hour, account.Ran, "")
	return command.DueTimes{
		Report: account.Report{Since: since, Rows: []account.Row{held, row("bbbb2222", "Medication", 25*time.Hour, account.Missed, account.Asleep), ran}},
		Runs: map[account.Key]fork.View{ran.Key(): {
			ID: "f3f3f3f3", Title: "Email sweep", State: fork.Done, Started: ran.Due.Add(time.Second), Ended: ran.Due.Add(42 * time.Second), Pings: 1,
		}},
	}
}

func (b *bot) Runs(ctx context.Context, _ command.Mark, _ int) (fork.Page, error) {
	return fork.Page{All: true}, b.read(ctx)
}

// morningAway is a morning without the user.
func morningAway() absence.Report {
	r := absence.Report{Span: absence.Span{From: day.Add(-4 * time.Hour), To: day}, Sum: absence.Task{Runs: 6, Pings: 1, Failed: 1, Dollars: 0.12}}
	for i, title := range []string{"Check the rent", "Email sweep", "Medication"} {
		r.Tasks = append(r.Tasks, absence.Task{ID: title, Title: title, Runs: i + 1, Run: "f3f3f3f3", Dollars: float64(i) / 100})
		r.Log = append(r.Log, audit.Entry{At: day.Add(-time.Duration(i) * time.Hour), Actor: audit.User, From: "dashboard", Action: audit.BudgetChanged, Detail: "capacity 5 → 6"})
	}
	r.Tasks[0].Failed, r.Tasks[0].Why = 1, "the engine is gone"
	return r
}

// answer settles an approval, as the core does: the first answer counts.
func (b *bot) answer(c command.Answer) (command.Outcome, error) {
	known := false
	b.change(func(s *core.Snapshot) {
		n := len(s.Approvals)
		s.Approvals = slices.DeleteFunc(slices.Clone(s.Approvals), func(a policy.Approval) bool { return a.ID == c.ID })
		known = len(s.Approvals) < n
	})
	if !known {
		return command.Outcome{}, &policy.AnsweredError{Approval: policy.Approval{Label: "Run this command? rm x", Verdict: policy.Deny}}
	}
	return command.Outcome{Message: string(c.Verdict)}, nil
}

func (b *bot) setBudget(c command.SetBudget) command.Outcome {
	var was budget.State
	var now int
	b.change(func(s *core.Snapshot) {
		was = s.Budget.State
		if c.Capacity != nil {
			s.Budget.State.Capacity = *c.Capacity
		}
		if c.RefillMinutes != nil {
			s.Budget.State.RefillRateMinutes = *c.RefillMinutes
		}
		now = s.Budget.State.Capacity
	})
	return command.Outcome{
		Message: fmt.Sprintf("capacity %d → %d", was.Capacity, now),
		Undo:    command.RestoreBudget{Capacity: was.Capacity, RefillMinutes: was.RefillRateMinutes, Available: was.Available},
	}
}

// taskPast is how a task has gone that mostly goes well.
func taskPast(id string, at time.Time) command.TaskPast {
	past := command.TaskPast{
		File: command.TaskFile{Task: routines.Task{Kind: routines.KindRoutine, ID: id, Path: "routines/x.md", Body: "Look around.", Mode: routines.OnPing, Digest: "v1"}, Cron: "0 9 * * *"},
		Rate: fork.Rate{Runs: 120, Pings: 48}, Answers: budget.Answers{Pings: 48, Answered: 40, Median: 4 * time.Minute},
		Next: []command.NextFire{{At: at.Add(time.Hour), Verdict: command.VerdictSure}, {At: at.Add(25 * time.Hour), Verdict: command.VerdictShort}},
	}
	for i := range 20 {
		v := fork.View{
			ID: fmt.Sprintf("%08x", i), Title: "Medication", State: fork.Done, Pings: i % 2, Usage: agent.Usage{CostUSD: float64(i) / 100},
			Started: at.Add(time.Duration(i-20) * time.Hour), Ended: at.Add(time.Duration(i-20)*time.Hour + time.Duration(i)*time.Second),
		}
		if i == 3 {
			v.State, v.Error = fork.Failed, "the command ended with status 1"
		}
		past.Runs = append(past.Runs, v)
	}
	return past
}

func cost(dollars float64) money.Sum {
	return money.Total(money.Row{Used: agent.Usage{CostUSD: dollars}})
}

// costReport are a few days with more tasks than a screen shows.
func costReport(at time.Time) command.CostReport {
	r := command.CostReport{At: at, Money: money.State{Today: money.Span{Spent: cost(1), Cap: 2}, Month: money.Span{Spent: cost(9), Cap: math.Inf(1)}}}
	for i := range 30 {
		r.Days = append(r.Days, command.CostDay{Date: at.AddDate(0, 0, i-29), Dollars: float64(i % 5)})
	}
	for i := range 40 {
		r.Tasks = append(r.Tasks, command.TaskCost{
			Kind: routines.KindRoutine, ID: fmt.Sprintf("e%07d", i), Title: fmt.Sprintf("Task %d", i), Runs: i + 4, Dollars: float64(40 - i), Mean: 0.5, Days: make([]float64, 30),
		})
	}
	return r
}

// day is a moment for pictures: a Tuesday, two minutes past two.
var day = time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)

// busyDay is a snapshot with something in every pane.
func busyDay(at time.Time) core.Snapshot {
	return core.Snapshot{
		At: at, Started: at.Add(-3 * time.Hour), Zone: time.UTC, Dir: "~/.ollim-bot",
		Engine:    core.EngineStatus{Name: "script", Model: "sonnet", State: "ready", OK: true},
		Surface:   core.SurfaceStatus{Name: "chat pane", State: "up", OK: true},
		Routines:  12,
		Reminders: 4,
		MaxForks:  4,
		Budget: core.BudgetView{
			State: budget.State{
				Capacity: 5, Available: 3.2, RefillRateMinutes: 90, LastRefill: at,
				DailyUsed: 2, CriticalUsed: 1, DailyUsedReset: "2026-03-10", CriticalResetDate: "2026-03-10",
			},
			Status: "3/5 available (refills 1 every 90 min, next in 72 min)",
			NextAt: at.Add(72 * time.Minute), FullAt: at.Add(162 * time.Minute),
			Hours: [24]int{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 1, 0, 0, 1},
		},
		Schedule: schedule.View{
			Window: "next 3h",
			Entries: []schedule.Entry{
				{ID: "aaaa1111", FireTime: at.Add(28 * time.Minute), Label: "2:30 PM", Description: "Email sweep", FilePath: "routines/email-sweep.md", Kind: routines.KindRoutine},
				{ID: "bbbb2222", FireTime: at.Add(73 * time.Minute), Label: "3:15 PM", Description: "Move a little", FilePath: "routines/move.md", Kind: routines.KindRoutine, Silent: true},
				{ID: "cccc3333", FireTime: at.Add(2 * time.Hour), Label: "4:02 PM", Description: "Check the oven (check 2 of 5)", FilePath: "reminders/oven.md", Kind: routines.KindReminder},
			},
			Tasks: []schedule.TaskView{
				{ID: "aaaa1111", Title: "Email sweep", Path: "routines/email-sweep.md", Kind: routines.KindRoutine, When: "daily at 2:30 PM", Next: at.Add(28 * time.Minute)},
				{ID: "bbbb2222", Title: "Move a little", Path: "routines/move.md", Kind: routines.KindRoutine, When: "every hour", Next: at.Add(73 * time.Minute), Silent: true},
				{ID: "cccc3333", Title: "Check the oven (check 2 of 5)", Path: "reminders/oven.md", Kind: routines.KindReminder, Label: "chain 2/5", Next: at.Add(2 * time.Hour)},
			},
		},
		Updates: []updates.Update{
			{Key: "u1", At: at.Add(-15 * time.Minute), Message: "Email triage: 2 need an answer today, 9 archived."},
			{Key: "u2", At: at.Add(-3 * time.Hour), Message: "The parcel is at the shop."},
		},
		Chat: []transcript.Entry{
			{ID: "1", At: at.Add(-5 * time.Minute), Role: transcript.User, Text: "what's left today?"},
			{ID: "2", At: at.Add(-4 * time.Minute), Role: transcript.Bot, Text: "Two things: the **email** and a walk."},
		},
	}
}

// withForks adds a running, a waiting and a finished run.
func withForks(s core.Snapshot) core.Snapshot {
	s.Forks = []fork.View{
		{ID: "f1f1f1f1", Kind: routines.KindRoutine, TaskID: "aaaa1111", Title: "Email sweep", State: fork.Running, Queued: s.At, Started: s.At.Add(-12 * time.Second), Timeout: 30 * time.Minute, Activity: "gmail unread", Tools: 1, Lines: 3},
		{ID: "f2f2f2f2", Kind: routines.KindRoutine, TaskID: "dddd4444", Title: "Weekly review", State: fork.Waiting, Position: 1, Queued: s.At},
		{ID: "f3f3f3f3", Kind: routines.KindReminder, TaskID: "eeee5555", Title: "Medication", State: fork.Done, Started: s.At.Add(-time.Hour), Ended: s.At.Add(-59 * time.Minute), Pings: 1, Reports: 1},
	}
	return s
}

func busyForks(at time.Time) core.Snapshot { return withForks(busyDay(at)) }

// talk puts lines into a tail.
func (b *bot) talk(id string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.rings[id]
	if !ok {
		r = tail.New(1000)
		b.rings[id] = r
	}
	for i := range n {
		r.Add(tail.Line{At: day, Kind: tail.Text, Text: fmt.Sprintf("line %d of the tail", i)})
	}
}

// still is a core that does not live: one snapshot, and what reads beside it, which may be nil.
type still struct {
	pane.Reader // nil: nothing but a task is read for a picture
	snap        core.Snapshot
	read        func(id string, from tail.Cursor) tail.Page
}

func (s still) Past(_ context.Context, id string) (command.TaskPast, error) {
	return taskPast(id, s.snap.At), nil
}

func (still) Preview(context.Context, string) (string, error) {
	return "You are about to fire." + strings.Repeat("\nAnd on it goes.", 40), nil
}

func (s still) Snapshot() core.Snapshot { return s.snap }
func (still) Changed() <-chan struct{}  { return nil }
func (still) Look(context.Context)      {}

func (s still) Tail(id string, from tail.Cursor) tail.Page {
	if s.read == nil {
		return tail.Page{Next: from}
	}
	return s.read(id, from)
}

func (still) Do(context.Context, command.Value) (command.Outcome, error) {
	return command.Outcome{}, errors.New("nothing can be done in a picture")
}
