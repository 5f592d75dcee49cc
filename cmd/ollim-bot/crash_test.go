package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/fault"
	"ollimbot/core/base/testkit"
)

// `task crash` asks for more kills; testkit.Seed repeats what was done and when.
var (
	crashes = flag.Int("crashes", 20, "how often the program is killed")
)

const (
	// lives is how many kills one data directory sees, at most, before it is
	// counted.
	lives = 20
	// crashWorkers is how many directories are worked on at once. A life mostly
	// waits, so there are more of them than cores.
	crashWorkers = 12
	// keptDirs is how many directories of failed batches are left behind.
	keptDirs = 5
	// mostTold is how many faults are printed one by one.
	mostTold = 25
)

// TestCrashes kills the built program at any moment of its life, its start and
// its end included, while messages, webhooks, reminders and background runs
// keep it busy. What was sent is compared with what arrived outside of it: at
// the fake Discord, in the journal of what the engine was told, at the sender
// of the webhooks. Six kinds are counted; see CONTRIBUTING.md.
func TestCrashes(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	c := &crashCampaign{exe: built(t), seed: testkit.Seed(t), total: newTally()}
	var jobs []crashJob
	size := min(lives, max(5, *crashes/crashWorkers))
	for left := *crashes; left > 0; left -= size {
		n := uint64(len(jobs))
		jobs = append(jobs, crashJob{seed: c.seed + n, rounds: min(size, left), git: n%5 == 1})
	}
	next := make(chan crashJob, len(jobs))
	for _, job := range jobs {
		next <- job
	}
	close(next)
	var g errgroup.Group
	for range crashWorkers { // not subtests: of those only as many run at once as there are cores
		g.Go(fault.Guard("a crash worker", func() error {
			for job := range next {
				if err := c.work(job); err != nil {
					return fmt.Errorf("seed %d: %w", job.seed, err)
				}
			}
			return nil
		}))
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	c.report(t)
}

// crashCampaign is all batches of one test and what they came to.
type crashCampaign struct {
	exe  string
	seed uint64

	mu     sync.Mutex // guards what follows
	total  tally
	faults []string
	kept   int
}

// crashJob is one batch: a directory and how often the program dies over it.
type crashJob struct {
	seed   uint64
	rounds int
	git    bool
}

// work does one batch and takes its numbers in. The directory of a batch with
// faults stays for whoever wants to look.
func (c *crashCampaign) work(job crashJob) (err error) {
	dir, err := os.MkdirTemp("", "ollim-crash-")
	if err != nil {
		return err
	}
	b, err := newBatch(c.exe, dir, job)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.fake.Close(), b.log.Close()) }()
	b.play()
	b.count()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.add(b.tally)
	keep := len(b.faults) > 0 && c.kept < keptDirs
	where := ""
	if keep {
		c.kept++
		where = ", kept in " + dir
	}
	for _, f := range b.faults {
		c.faults = append(c.faults, fmt.Sprintf("seed %d%s: %s", job.seed, where, f))
	}
	if keep {
		return nil
	}
	return os.RemoveAll(dir)
}

// report prints the table and fails the test for what is in its last columns.
func (c *crashCampaign) report(t *testing.T) {
	t.Helper()
	t.Logf("%d kills with seed %d: %s\n%s", *crashes, c.seed, c.total.moments(), c.total)
	for i, f := range c.faults {
		if i == mostTold {
			t.Errorf("and %d more", len(c.faults)-i)
			break
		}
		t.Error(f)
	}
	for _, k := range crashKinds {
		if c.total.rows[k].arrived == 0 && *crashes >= 2*lives {
			t.Errorf("no %s ever arrived: the test looks at nothing", k)
		}
	}
}

// The six kinds that are counted.
const (
	kindUpdates   = "updates"
	kindMessages  = "messages"
	kindPings     = "pings"
	kindTokens    = "tokens"
	kindWebhooks  = "webhooks"
	kindReminders = "reminders"
)

var crashKinds = []string{kindUpdates, kindMessages, kindPings, kindTokens, kindWebhooks, kindReminders}

// row is what became of one kind.
type row struct{ sent, arrived, pending, lost, doubled, corrupt int }

// tally is the table, how the program died, and what was seen that is no fault.
type tally struct {
	rows  map[string]*row
	died  map[string]int
	notes map[string]int
}

func newTally() tally {
	t := tally{rows: map[string]*row{}, died: map[string]int{}, notes: map[string]int{}}
	for _, k := range crashKinds {
		t.rows[k] = &row{}
	}
	return t
}

func (t tally) add(o tally) {
	for k, r := range o.rows {
		s := t.rows[k]
		s.sent, s.arrived, s.pending = s.sent+r.sent, s.arrived+r.arrived, s.pending+r.pending
		s.lost, s.doubled, s.corrupt = s.lost+r.lost, s.doubled+r.doubled, s.corrupt+r.corrupt
	}
	for k, n := range o.died {
		t.died[k] += n
	}
	for k, n := range o.notes {
		t.notes[k] += n
	}
}

// moments says in which part of its life the program died how often.
func (t tally) moments() string {
	var list []string
	for _, m := range []map[string]int{t.died, t.notes} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			list = append(list, fmt.Sprintf("%d %s", m[k], k))
		}
	}
	return strings.Join(list, ", ")
}

func (t tally) String() string {
	var b strings.Builder
	line := func(kind string, cells ...any) {
		b.WriteString(fmt.Sprintf("%12s", kind) + fmt.Sprintf(strings.Repeat("%9v", len(cells)), cells...) + "\n")
	}
	line("kind", "sent", "arrived", "pending", "lost", "doubled", "corrupt")
	for _, k := range crashKinds {
		r := t.rows[k]
		line(k, r.sent, r.arrived, r.pending, r.lost, r.doubled, r.corrupt)
	}
	return b.String()
}
