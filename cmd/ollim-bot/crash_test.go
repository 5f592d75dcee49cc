package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/fault"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/budget"
	"ollimbot/discord/discordtest"
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

// batch is one data directory, the Discord before it and what was done to both.
type batch struct {
	secret string // of its webhooks
	rng    *rand.Rand
	exe    string
	root   string // the data directory
	log    *os.File
	git    bool
	port   int
	cmd    *exec.Cmd // the present life
	fake   *discordtest.Server

	upAfter time.Duration // how long the first start took

	rounds int
	round  int // the present one
	things []*thing
	told   []heard // what the engine was told, read after every kill
	read   int     // bytes of the journal that have been read
	again  int     // so many reminders that were cut off stay, to fire again
	first  float64 // tokens in the bucket at first
	since  time.Time
	tokens float64 // spent, when the bucket was last looked at
	tally  tally
	faults []string
	torn   map[string]bool // lines that a kill has cut off, with their files
}

// thing is one thing that was sent. Its mark stands in whatever comes of it.
type thing struct {
	kind sending
	mark string
	id   string // of the reminder or webhook
	// sent: the message stands at Discord, the file in its folder, the webhook has
	// its 202. moved: a message has moved the plan.
	sent, moved bool
	// kept: it was cut off and stays, to fire again. ended is how often it had been
	// told to the engine when its run was first seen to have ended.
	kept  bool
	ended int
}

// sending is what the harness sends.
type sending string

const (
	aMessage sending = "msg"    // of the user
	aReport  sending = "update" // a background reminder that reports, then says so in a critical ping
	aPing    sending = "ping"   // a background reminder that pings
	aTalk    sending = "fore"   // a foreground reminder
	aHook    sending = "hook"   // a webhook whose run reports
	aPlan    sending = "plan"   // a message that makes the agent add a reminder
	capacity         = 1000     // tokens that the bucket can hold: more than it ever has
	plenty           = 900      // tokens at first, in most batches
	scarce           = 3        // and in the others, which earn one a minute like all
	refill           = 1        // minutes to earn one
	settling         = 15 * time.Second
)

func newBatch(exe, dir string, job crashJob) (*batch, error) {
	b := &batch{
		exe: exe, root: filepath.Join(dir, "data"), git: job.git, rounds: job.rounds,
		rng: rand.New(rand.NewPCG(job.seed, 1)), first: plenty, since: time.Now().UTC().Truncate(time.Microsecond), tally: newTally(),
		torn: map[string]bool{},
	}
	b.again = b.rng.IntN(4)
	if b.rng.IntN(4) == 0 {
		b.first = scarce
	}
	var err error
	b.secret = fmt.Sprintf("a-secret-of-batch-%d", job.seed) // no batch takes what is meant for another
	if b.port, err = freePort(job.seed); err != nil {
		return nil, err
	}
	if b.log, err = os.Create(filepath.Join(dir, "log.txt")); err != nil {
		return nil, err
	}
	if b.fake, err = discordtest.StartProcess(discordtest.Options{Token: fakeToken, NoContract: true}); err != nil {
		return nil, err
	}
	for _, folder := range []string{"reminders", "state", "webhooks"} {
		if err := os.MkdirAll(filepath.Join(b.root, folder), 0o700); err != nil {
			return nil, err
		}
	}
	today := b.since.Format(time.DateOnly)
	begin := budget.State{
		Capacity: capacity, Available: b.first, RefillRateMinutes: refill, LastRefill: b.since,
		CriticalResetDate: today, DailyUsedReset: today,
	}
	return b, b.write("state/ping_budget.json", string(begin.Encode()))
}

// freePort is one below those that the system gives to outgoing connections, and
// another one for each batch that runs at the same time: their seeds follow each
// other.
func freePort(seed uint64) (int, error) {
	for i := range uint64(100) {
		port := 10000 + int((seed+7919*i)%20000)
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("no port is free")
}

// must ends the batch where the harness itself cannot go on: its worker turns
// the panic into an error.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// write puts a file there in one step, as an editor does.
func (b *batch) write(rel, text string) error {
	path := filepath.Join(b.root, rel)
	part := filepath.Join(b.root, "..", "part-"+filepath.Base(rel))
	return errors.Join(os.WriteFile(part, []byte(text), 0o600), os.Rename(part, path))
}

func (b *batch) note(format string, args ...any) {
	_, _ = fmt.Fprintf(b.log, time.Now().UTC().Format("15:04:05.000")+" == "+format+"\n", args...)
}

// atTheEnd is the round in which all is counted.
const atTheEnd = -1

// fault is something that may not happen.
func (b *batch) fault(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	b.note("FAULT %s", text)
	if b.round != atTheEnd {
		text = fmt.Sprintf("round %d: %s", b.round, text)
	}
	b.faults = append(b.faults, text)
}

// add makes a thing with a mark of its own: the dot keeps 1 from being in 12.
func (b *batch) add(kind sending) *thing {
	n := len(b.things)
	x := &thing{kind: kind, mark: fmt.Sprintf("%s-%d.", kind, n), id: fmt.Sprintf("%08x", 0xc0000000+n)}
	if kind == aHook {
		x.id = fmt.Sprintf("hook-%d", n)
	}
	b.things = append(b.things, x)
	return x
}

// start starts the program; its log goes to the batch's.
func (b *batch) start() {
	path := "PATH="
	if b.git {
		path = "PATH=" + os.Getenv("PATH")
	}
	cmd := exec.Command(b.exe, "run", "--headless", "--engine", "script", "--pace", b.pace())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // killed with what it has started
	tmp := filepath.Dir(b.root)
	cmd.Env = []string{
		path, "HOME=" + tmp, "TMPDIR=" + tmp, "OLLIM_DATA_DIR=" + b.root, "OLLIM_TIMEZONE=UTC",
		"DISCORD_TOKEN=" + fakeToken, "OLLIM_DISCORD_API=" + b.fake.URL() + "/api/v10",
		"OLLIM_USER_NAME=Sam", "OLLIM_BOT_NAME=Ollie", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		fmt.Sprintf("WEBHOOK_PORT=%d", b.port), "WEBHOOK_SECRET=" + b.secret,
	}
	cmd.Stdout, cmd.Stderr = b.log, b.log
	must(cmd.Start())
	b.cmd = cmd
}

// pace is how long the engine takes: no time at all, or some milliseconds for a
// call, so that a kill finds turns of every length.
func (b *batch) pace() string { return []string{"0", "0", "0.02", "0.1"}[b.rng.IntN(4)] }

// play is all lives of a batch and the last one, which ends by itself.
func (b *batch) play() {
	b.born()
	for b.round = range b.rounds {
		b.live()
		b.inspect()
	}
	b.settle()
	b.inspect()
}

// reminder is a reminder's file.
func reminder(x *thing, at time.Time, background bool, lines ...string) string {
	return fmt.Sprintf("---\nid: %q\nrun-at: %q\nbackground: %v\nisolated: %v\nupdate-main-session: \"freely\"\ndescription: %q\n---\n%s\n\n```script\n%s\n```\n",
		x.id, at.UTC().Format(time.RFC3339Nano), background, background, x.mark, x.mark, strings.Join(lines, "\n"))
}

var runAtLine = lazyregexp.New(`(?m)^run-at: "?([^"\n]*)"?$`)

// plans are the reminder files of the agent that wait, by their marks.
func (b *batch) plans() map[string]string {
	found := map[string]string{}
	for _, f := range b.files("reminders/*.md") {
		if mark := planMark().FindString(stored(f)); mark != "" { // it may be gone by now
			found[mark] = f
		}
	}
	return found
}

var (
	planMark = lazyregexp.New(`plan-\d+\.`)
	idLine   = lazyregexp.New(`(?m)^id: "?([^"\n]+)"?$`)
)
