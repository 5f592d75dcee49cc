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
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/fault"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/budget"
	"ollimbot/discord/discordtest"
)

// `task crash` asks for more kills; testkit.Seed repeats what was done and when.
var crashes = flag.Int("crashes", 20, "how often the program is killed")

const (
	lives        = 20 // kills that one data directory sees at most, before it is counted
	crashWorkers = 12 // directories at once: a life mostly waits, so there are more of them than cores
	keptDirs     = 5  // directories of failed batches that are left behind
	mostPrinted  = 25 // faults that are printed one by one
)

// TestAKillAtAnyMomentLosesAndRepeatsNothing kills the built program at any moment of its life, its start and its end included, while messages, webhooks,
// reminders and background runs keep it busy. What was sent is compared with what arrived outside of it: at the fake
// Discord, in the journal of the engine's input, at the sender of the webhooks. Six kinds are counted; see CONTRIBUTING.md.
func TestAKillAtAnyMomentLosesAndRepeatsNothing(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	c := &crashCampaign{exe: built(t), total: tally{}}
	seed, size := testkit.Seed(t), min(lives, max(5, *crashes/crashWorkers))
	var g errgroup.Group // not subtests: of those only as many run at once as there are cores
	g.SetLimit(crashWorkers)
	for n, left := uint64(0), *crashes; left > 0; n, left = n+1, left-size {
		job := crashJob{seed: seed + n, rounds: min(size, left), git: n%5 == 1}
		g.Go(fault.Guard("a crash worker", func() error { return c.work(job) }))
	}
	testkit.Must(t, g.Wait())
	t.Logf("%d kills with seed %d:\n%s", *crashes, seed, c.total)
	for _, f := range c.faults[:min(mostPrinted, len(c.faults))] {
		t.Error(f)
	}
	if more := len(c.faults) - mostPrinted; more > 0 {
		t.Errorf("and %d more", more)
	}
	for _, k := range crashKinds {
		if c.total[k+" arrived"] == 0 && *crashes >= 2*lives {
			t.Errorf("no %s ever arrived: the test looks at nothing", k)
		}
	}
}

// crashCampaign is all batches of one test and what they came to.
type crashCampaign struct {
	exe string

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

// work does one batch and takes its numbers in. The directory of a batch with faults is kept to be looked at.
func (c *crashCampaign) work(job crashJob) error {
	dir := sure(os.MkdirTemp("", "ollim-crash-"))
	b := newBatch(c.exe, dir, job)
	b.play()
	b.count()
	must(errors.Join(b.fake.Close(), b.log.Close()))
	c.mu.Lock()
	defer c.mu.Unlock()
	for what, n := range b.tally {
		c.total[what] += n
	}
	where := ""
	if len(b.faults) > 0 && c.kept < keptDirs {
		c.kept++
		where = ", kept in " + dir
	}
	for _, f := range b.faults {
		c.faults = append(c.faults, fmt.Sprintf("seed %d%s: %s", job.seed, where, f))
	}
	if where != "" {
		return nil
	}
	return os.RemoveAll(dir)
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

// tally counts what became of all that was sent, as in "pings lost", and what was seen that is no fault.
type tally map[string]int

func (t tally) String() string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&b, "%6d %s\n", t[what], what)
	}
	return b.String()
}

// batch is one data directory, the Discord before it and what was done to both.
type batch struct {
	crashJob
	exe     string
	root    string // the data directory
	secret  string // of its webhooks
	port    int
	rng     *rand.Rand
	log     *os.File
	fake    *discordtest.Server
	cmd     *exec.Cmd     // the present life
	upAfter time.Duration // how long the first start took

	round  int // the present one
	things []*thing
	inputs []input // of the engine, read after every kill
	read   int     // bytes of their journal that have been read
	again  int     // so many reminders that were cut off stay, to fire again
	first  float64 // tokens in the bucket at first
	since  time.Time
	tokens int // spent, when the bucket was last looked at
	tally  tally
	faults []string
	torn   map[string]bool // lines that a kill has cut off, with their files
}

// thing is one thing that was sent. Its mark is in whatever comes of it.
type thing struct {
	kind sending
	mark string
	id   string // of the reminder or webhook
	// sent: the message is at Discord, the file in its folder, the webhook has its 202. moved: a message has moved the plan.
	sent, moved bool
	// kept: it was cut off and stays, to fire again. ended is how often the engine had it when its run was first seen to have ended.
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

func newBatch(exe, dir string, job crashJob) *batch {
	b := &batch{
		crashJob: job, exe: exe, root: filepath.Join(dir, "data"), rng: rand.New(rand.NewPCG(job.seed, 1)), first: plenty,
		since: time.Now().UTC().Truncate(time.Microsecond), tally: tally{}, torn: map[string]bool{},
		secret: fmt.Sprintf("a-secret-of-batch-%d", job.seed), // no batch takes what is meant for another
		port:   freePort(job.seed), log: sure(os.Create(filepath.Join(dir, "log.txt"))),
		fake: sure(discordtest.StartProcess(discordtest.Options{Token: fakeToken, NoContract: true})),
	}
	b.again = b.rng.IntN(4)
	if b.rng.IntN(4) == 0 {
		b.first = scarce
	}
	for _, folder := range []string{"reminders", "state", "webhooks"} {
		must(os.MkdirAll(filepath.Join(b.root, folder), 0o700))
	}
	today := b.since.Format(time.DateOnly)
	begin := budget.State{
		Capacity: capacity, Available: b.first, RefillRateMinutes: refill, LastRefill: b.since, CriticalResetDate: today, DailyUsedReset: today,
	}
	must(b.write("state/ping_budget.json", string(begin.Encode())))
	return b
}

// freePort is one below those that the system gives to outgoing connections, and another one for each batch that runs at
// the same time: their seeds follow each other.
func freePort(seed uint64) int {
	for i := uint64(0); ; i++ {
		port := 10000 + int((seed+7919*i)%20000)
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			must(l.Close())
			return port
		}
	}
}

// must ends the batch where the harness itself cannot continue: its worker turns the panic into an error.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func sure[T any](value T, err error) T {
	must(err)
	return value
}

// write puts a file there in one step, as an editor does.
func (b *batch) write(rel, text string) error {
	part := filepath.Join(b.root, "..", "part-"+filepath.Base(rel))
	return errors.Join(os.WriteFile(part, []byte(text), 0o600), os.Rename(part, filepath.Join(b.root, rel)))
}

func (b *batch) note(format string, args ...any) {
	_, _ = fmt.Fprintf(b.log, time.Now().UTC().Format("15:04:05.000")+" == "+format+"\n", args...)
}

// atTheEnd is the round in which all is counted.
const atTheEnd = -1

// fault counts what may not happen, if it has happened, and says what it was.
func (b *batch) fault(what string, n int, format string, args ...any) {
	if n <= 0 {
		return
	}
	b.tally[what] += n
	text := fmt.Sprintf(format, args...)
	b.note("FAULT %s", text)
	if b.round != atTheEnd {
		text = fmt.Sprintf("round %d: %s", b.round, text)
	}
	b.faults = append(b.faults, text)
}

// wrong is a fault that is of no kind.
func (b *batch) wrong(format string, args ...any) {
	b.fault("other faults", 1, format, args...)
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
