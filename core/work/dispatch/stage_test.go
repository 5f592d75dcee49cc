package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/attention"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/notes"
	"ollimbot/core/talk/notice"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/core/work/updates"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// runs simulates background runs that end at once.
type runs struct {
	jobs    []fork.Job
	prompts []string
	views   []fork.View
	stopped []string
	end     fork.View // the outcome of each run
	fails   error
}

func (r *runs) Do(ctx context.Context, j fork.Job) (fork.View, error) {
	r.jobs = append(r.jobs, j)
	if j.Prompt != nil {
		r.prompts = append(r.prompts, j.Prompt(ctx))
	}
	return r.end, r.fails
}

func (r *runs) Put(v fork.View) error {
	if i := slices.IndexFunc(r.views, func(old fork.View) bool { return old.ID == v.ID }); i >= 0 {
		r.views[i] = v
		return nil
	}
	r.views = append(r.views, v)
	return nil
}

func (r *runs) Place() int { return 0 }

func (r *runs) Stop(id string) error {
	r.stopped = append(r.stopped, id)
	return nil
}

// talk simulates a conversation that runs tasks at once.
type talk struct {
	prompts []string
	retired []string
	err     error
}

func (c *talk) RunTask(_ context.Context, build chat.Prompt, _ schedule.Due) error {
	c.prompts = append(c.prompts, build(time.Now(), nil))
	return c.err
}

func (c *talk) Retire(_ context.Context, _ post.MessageID, why string) {
	c.retired = append(c.retired, why)
}

// settled records the settled tickets.
type settled []string

func (s *settled) Afford(context.Context, routines.Task) (string, bool) { return "", false }

func (s *settled) Settle(ticket string) { *s = append(*s, ticket) }

// stage is a dispatcher in a temporary directory, with runs and a conversation that only
// record their requests.
type stage struct {
	d        *Dispatcher
	dir      *store.Dir
	index    *routines.Index
	schedule *schedule.Schedule
	updates  *updates.Queue
	runs     *runs
	talk     *talk
	settled  *settled
	busy     bool
	settings config.Runtime
}

func newStage(t *testing.T, files map[string]string) *stage {
	t.Helper()
	dir, log, zone := storetest.Prepared(t), slog.New(slog.DiscardHandler), time.UTC
	for rel, text := range files {
		storetest.Put(t, dir, rel, text)
	}
	settings, _, err := config.LoadRuntime(dir)
	testkit.Must(t, err)
	s := &stage{
		dir: dir, index: routines.NewIndex(dir, zone), updates: updates.NewQueue(dir, zone, log),
		runs: &runs{}, talk: &talk{}, settled: &settled{}, settings: settings,
	}
	load := func() *config.Runtime { return &s.settings }
	client, err := google.New(google.Options{Dir: dir})
	testkit.Must(t, err)
	board := notice.NewBoard(zone, func(s string) string { return s }, func() {})
	guard := policy.New(policy.Options{Dir: dir, Zone: zone, Log: log, Base: func() []string { return nil }})
	s.schedule = schedule.New(schedule.Options{Dir: dir, Index: s.index, Zone: zone, Log: log, Inherit: guard.Inherit})
	journal := budget.NewJournal(dir, zone, log)
	decisions := audit.New(audit.Options{Dir: dir, Log: log})
	prompts := &Prompts{
		Zone: zone, Budget: budget.NewBucket(dir, zone, log), Tally: budget.NewTally(dir, zone, log), Journal: journal, Updates: s.updates, Guard: guard, Schedule: s.schedule,
		Google: google.NewAccount(google.AccountOptions{Client: client, Zone: zone, Log: log, Config: load}),
		Attention: &attention.Attention{
			Zone: zone, Config: load, Mute: schedule.NewMute(dir, log), Talking: func() (bool, time.Time) { return s.busy, time.Time{} },
		},
		Skills: &Skills{Dir: dir, Log: log, Guard: guard},
	}
	hooks := webhook.NewIndex(dir)
	hooks.Scan()
	s.d = New(Options{
		Zone: zone, Log: log, Index: s.index, Hooks: hooks, Schedule: s.schedule, Runs: s.runs, Chat: s.talk, Money: s.settled,
		Guard: guard, Prompts: prompts, Notices: board, Audit: decisions,
		Notes: &notes.Notes{Zone: zone, Log: log, Audit: decisions, Notices: board, Updates: s.updates, Changed: func() {}},
	})
	s.index.Scan()
	return s
}

// due returns a task of the index, due now.
func (s *stage) due(t *testing.T, id string) schedule.Due {
	t.Helper()
	d, ok := s.schedule.DueAt(id, s.d.now())
	if !ok {
		t.Fatalf("no task %s: %+v", id, s.index.Set().Problems)
	}
	d.Ticket = "ticket"
	return d
}

var errTurn = errors.New("the turn failed")
