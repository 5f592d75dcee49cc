package budget

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// plays runs the steps of a story on the bucket and returns what is left at its end, which the file has to say too.
func (p *place) plays(t *testing.T, steps string) string {
	t.Helper()
	now, before := morning, State{}
	var open []*payment // by the messages that were begun
	for step := range strings.SplitSeq(steps, ", ") {
		verb, arg, _ := strings.Cut(step, " ")
		var n, rate int
		_, _ = fmt.Sscan(arg, &n, &rate)
		var err error
		switch verb {
		case "ping", "critical", "refused": // is about to leave, or has no token
			var paid *payment
			if paid, _, err = p.bucket.pay(now, verb == "critical"); (paid == nil) != (verb == "refused") {
				err = errors.Join(err, fmt.Errorf("paid: %v", paid != nil))
			}
			open = append(open, paid)
		case "left":
			open[n].spend()
		case "stayed":
			err = open[n].release(now)
		case "after":
			var d time.Duration
			d, err = time.ParseDuration(arg)
			now = now.Add(d)
		case "set":
			before, _, err = p.bucket.Set(now, &n, &rate)
		case "undo":
			_, err = p.bucket.Restore(now, Settings{before.Capacity, before.RefillRateMinutes, before.Available})
		case "elsewhere": // by another process
			p.bucket.State(now)
			_, _, err = NewBucket(p.dir, pacific, nil).Set(now, &n, nil)
		case "crash":
			p.restart()
		default:
			t.Fatalf("no step %q", step)
		}
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
	s, reserved := p.bucket.State(now)
	if stored := p.stored(t).At(now); stored != s {
		t.Errorf("the file says %+v, want %+v", stored, s)
	}
	return fmt.Sprintf("%.3g of %d, 1 in %d min, today %d and %d critical, %d reserved",
		s.Available, s.Capacity, s.RefillRateMinutes, s.DailyUsed, s.CriticalUsed, reserved)
}

func TestTheBucketPaysForWhatLeavesAndForNothingElse(t *testing.T) {
	one := bucketOf(1, 5, 90)
	for _, c := range []struct {
		name, steps string
		begins      State
		ends        string
	}{
		{"a token is taken before its message leaves", "ping", Default(morning), "4 of 5, 1 in 90 min, today 1 and 0 critical, 1 reserved"},
		{"and stays spent", "ping, left 0, stayed 0, left 0, stayed 0", Default(morning), "4 of 5, 1 in 90 min, today 1 and 0 critical, 0 reserved"},
		{"also after a crash", "ping, crash", Default(morning), "4 of 5, 1 in 90 min, today 1 and 0 critical, 0 reserved"},
		{"if the message stayed, it is given back once", "ping, refused, stayed 0, stayed 0, left 0", one, "1 of 5, 1 in 90 min, today 0 and 0 critical, 0 reserved"},
		{"and pays for another", "ping, stayed 0, ping, refused", one, "0 of 5, 1 in 90 min, today 1 and 0 critical, 1 reserved"},
		{"the bucket has refilled in the meantime", "ping, after 1m, stayed 0", Default(morning), "5 of 5, 1 in 90 min, today 0 and 0 critical, 0 reserved"},
		{"it was muted in the meantime", "ping, set 0 90, stayed 0", Default(morning), "0 of 0, 1 in 90 min, today 0 and 0 critical, 0 reserved"},
		{
			"what stayed yesterday is not in today's counters", "ping, critical, after 24h, ping, critical, stayed 0, stayed 1", Default(morning),
			"5 of 5, 1 in 90 min, today 1 and 1 critical, 1 reserved",
		},
		{"a part of a token pays for nothing", "refused, after 1m, ping", bucketOf(0.99, 5, 90), "0.00111 of 5, 1 in 90 min, today 1 and 0 critical, 1 reserved"},
		{"nor does a muted bucket", "refused, after 24h, refused", bucketOf(0, 0, 1), "0 of 0, 1 in 1 min, today 0 and 0 critical, 0 reserved"},
		{"without a token there is nothing to settle", "refused, left 0, stayed 0", bucketOf(0, 0, 1), "0 of 0, 1 in 1 min, today 0 and 0 critical, 0 reserved"},
		{"critical ones are only counted", "critical, critical, critical, stayed 2", Default(morning), "5 of 5, 1 in 90 min, today 0 and 2 critical, 0 reserved"},
		{"critical ones need no token", "critical, left 0", bucketOf(0, 0, 1), "0 of 0, 1 in 1 min, today 0 and 1 critical, 0 reserved"},
		{"before new settings it refills at the old rate", "after 2h, set 2 10", bucketOf(1, 5, 60), "2 of 2, 1 in 10 min, today 0 and 0 critical, 0 reserved"},
		{"undone, they give back what was cut off", "after 2h, set 2 10, undo", bucketOf(1, 5, 60), "3 of 5, 1 in 60 min, today 0 and 0 critical, 0 reserved"},
		{"undone, a larger bucket loses what no longer fits", "set 5 90, after 24h, undo", bucketOf(2, 2, 90), "2 of 2, 1 in 90 min, today 0 and 0 critical, 0 reserved"},
		{"a muted one is muted again", "set 5 90, after 24h, undo", bucketOf(0, 0, 90), "0 of 0, 1 in 90 min, today 0 and 0 critical, 0 reserved"},
		{"another process is heard at once", "elsewhere 4, elsewhere 3, elsewhere 2", Default(morning), "2 of 2, 1 in 90 min, today 0 and 0 critical, 0 reserved"},
	} {
		if got := newPlace(t, string(c.begins.Encode())).plays(t, c.steps); got != c.ends {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.ends)
		}
	}
}

func TestReadingTheBucketWritesNothing(t *testing.T) {
	p := newPlace(t, "")
	s, reserved := p.bucket.State(morning)
	if diff := cmp.Diff(Default(morning), s); diff != "" || reserved != 0 {
		t.Errorf("%d reserved, (-want +got)\n%s", reserved, diff)
	}
	if got := p.content(t); got != "" {
		t.Errorf("a read wrote %q", got)
	}
	const odd = `{"capacity": 3, "available": 1.5}`
	p = newPlace(t, odd)
	p.bucket.State(morning.Add(time.Hour))
	if got := p.content(t); got != odd {
		t.Errorf("a read changed the file to %q", got)
	}
}

func TestWhatIsNotSentCostsNothing(t *testing.T) {
	unreachable := errors.New("no route")
	for name, c := range map[string]struct {
		sent bool
		err  error
		left int
	}{"sent": {true, nil, 4}, "refused": {false, unreachable, 5}, "perhaps": {true, unreachable, 4}} {
		p := newPlace(t, "")
		if unsaved, err := p.bucket.Try(false, func(pay func() error) (bool, error) {
			defer p.breakState(t)
			return c.sent, errors.Join(pay(), c.err)
		}); (unsaved != nil) != !c.sent || !errors.Is(err, c.err) {
			t.Errorf("%s, and nothing can be written: %v, %v", name, unsaved, err)
		}
		p = newPlace(t, "")
		unsaved, err := p.bucket.Try(false, func(pay func() error) (bool, error) { return c.sent, errors.Join(pay(), c.err) })
		if s, reserved := p.bucket.State(time.Now()); unsaved != nil || !errors.Is(err, c.err) || s.Whole() != c.left || reserved != 0 {
			t.Errorf("%s: %v, %v, %v tokens, %d reserved", name, unsaved, err, s.Available, reserved)
		}
	}
	p := newPlace(t, string(bucketOf(0, 0, 1).Encode()))
	var unpaid *UnpaidError
	if _, err := p.bucket.Try(false, func(func() error) (bool, error) { panic("it is sent") }); !errors.As(err, &unpaid) || unpaid.State.Capacity != 0 ||
		err.Error() != "the ping budget has no token left" {
		t.Error(err)
	}
	for name, before := range map[string]func(*place){
		"another process was faster": func(p *place) {
			_, _ = NewBucket(p.dir, pacific, nil).Try(false, func(pay func() error) (bool, error) { return true, pay() })
		},
		"it cannot be written": func(p *place) { p.breakState(t) },
	} {
		p := newPlace(t, string(bucketOf(1, 1, MaxRefill).Encode()))
		unsaved, err := p.bucket.Try(false, func(pay func() error) (bool, error) {
			before(p)
			return pay() == nil, nil
		})
		if broken := name == "it cannot be written"; unsaved != nil || !errors.As(err, &unpaid) || (unpaid.Err != nil) != broken ||
			strings.HasPrefix(err.Error(), "pay for a ping: ") != broken || !broken && unpaid.State.Whole() != 0 {
			t.Errorf("%s: %v, %v", name, unsaved, err)
		}
	}
}

func TestRefusedNumbersChangeNothing(t *testing.T) {
	p := newPlace(t, "")
	const (
		capacities = " out of range: choose 0 to 1000 tokens (0 mutes all but critical pings)"
		rates      = " out of range: choose 1 to 10080 minutes for one token (the bucket must refill; to stop pings set the capacity to 0)"
		tokens     = " tokens cannot be restored: choose 0 or more"
	)
	for _, c := range []struct {
		capacity, refill int
		why              string
	}{
		{-1, 90, "capacity -1 is" + capacities},
		{maxCapacity + 1, 90, "capacity 1001 is" + capacities},
		{5, 0, "refill 0 is" + rates},
		{5, -90, "refill -90 is" + rates},
		{5, MaxRefill + 1, "refill 10081 is" + rates},
	} {
		if _, _, err := p.bucket.Set(morning, &c.capacity, &c.refill); err == nil || err.Error() != c.why {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for why, old := range map[string]Settings{
		"capacity -1 is" + capacities: {-1, 90, 1}, "refill 0 is" + rates: {5, 0, 1}, "-1" + tokens: {5, 90, -1}, "NaN" + tokens: {5, 90, math.NaN()},
		"+Inf" + tokens: {5, 90, math.Inf(1)},
	} {
		if _, err := p.bucket.Restore(morning, old); err == nil || err.Error() != why {
			t.Errorf("%+v: %v, want %s", old, err, why)
		}
	}
	if got := p.content(t); got != "" {
		t.Errorf("the file was written: %q", got)
	}
	for _, c := range [][2]int{{0, minRefill}, {maxCapacity, MaxRefill}} {
		_, s, err := p.bucket.Set(morning, &c[0], &c[1])
		again, failed := p.bucket.Restore(morning, Settings{Capacity: c[0], RefillMinutes: c[1]})
		if err != nil || failed != nil || s.Capacity != c[0] || s.RefillRateMinutes != c[1] || again != s {
			t.Errorf("%v is refused: %+v, %v, then %+v, %v", c, s, err, again, failed)
		}
	}
}

func TestAChangeOfTheSettingsIsInTheJournal(t *testing.T) {
	p := newPlace(t, "")
	two, none, rate := 2, 0, 30
	before, _, err := p.bucket.Set(morning.Add(999).UTC(), &two, &rate) // the file has microseconds, and the zone
	testkit.Must(t, err)
	_, _, err = p.bucket.Set(at(60), &none, nil)
	testkit.Must(t, err)
	_, err = p.bucket.Restore(at(120), Settings{Capacity: before.Capacity, RefillMinutes: before.RefillRateMinutes, Available: before.Available})
	testkit.Must(t, err)
	want := []Mark{
		{At: morning, Before: 5, Left: 2, Capacity: 2, Refill: 30},
		{At: at(60), Before: 2, Capacity: 0, Refill: 30},
		{At: at(120), Left: 5, Capacity: 5, Refill: 90},
	}
	if diff := cmp.Diff(want, p.journal.Set()); diff != "" || len(p.journal.Recent()) != 0 {
		t.Errorf("%s; pings %+v", diff, p.journal.Recent())
	}
	if want := string(before.At(at(120)).Encode()); p.content(t) != want {
		t.Errorf("the file says %s, want %s", p.content(t), want)
	}
}

func TestACorruptFileIsKeptAsideAndReported(t *testing.T) {
	p := newPlace(t, "}garbage")
	for range 3 {
		if s, _ := p.bucket.State(morning); s != Default(morning) {
			t.Errorf("state %+v, want defaults", s)
		}
	}
	if n := strings.Count(p.logged.String(), "level=WARN"); n != 1 {
		t.Errorf("reading reported it %d times:\n%s", n, p.logged)
	}
	NewBucket(p.dir, pacific, nil).State(morning) // without a log
	if got := p.content(t); got != "}garbage" {
		t.Errorf("reading changed it to %q", got)
	}
	_, _, err := p.bucket.pay(morning, true)
	testkit.Must(t, err)
	kept, err := filepath.Glob(p.dir.Path(file) + ".corrupt-*")
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept aside: %q, %v", kept, err)
	}
	if data, err := os.ReadFile(kept[0]); err != nil || string(data) != "}garbage" {
		t.Errorf("kept aside: %q, %v", data, err)
	}
	if s := p.stored(t); s.CriticalUsed != 1 || s.Capacity != DefaultCapacity {
		t.Errorf("the new file says %+v", s)
	}
}

func TestAFileThatCannotBeReadIsNotWrittenOver(t *testing.T) {
	p := newPlace(t, "")
	testkit.Must(t, os.MkdirAll(p.dir.Path("state"), 0o700))
	secret := filepath.Join(t.TempDir(), "gone")
	testkit.Must(t, os.Symlink(filepath.Join(secret, "loop"), p.dir.Path(file)))
	if err := os.Symlink(secret, secret); err != nil { // a loop: ELOOP, also for root
		t.Fatal(err)
	}
	unsaved, err := p.bucket.Try(true, func(pay func() error) (bool, error) { return true, pay() })
	if unsaved == nil || err != nil { // it is sent anyway
		t.Errorf("a file that cannot be read was replaced: %v, %v", unsaved, err)
	}
	if s, _ := p.bucket.State(morning); s != Default(morning) || strings.Count(p.logged.String(), "level=WARN") != 1 {
		t.Errorf("state %+v, want defaults; log:\n%s", s, p.logged)
	}
}

func TestManyRunsNeverSpendMoreThanThereIs(t *testing.T) {
	p := newPlace(t, string(bucketOf(4.5, 5, 90).Encode()))
	var granted, spent atomic.Int64
	var g errgroup.Group
	for i := range 16 {
		g.Go(func() error {
			p, _, err := p.bucket.pay(morning, false)
			if err != nil || p == nil {
				return err
			}
			granted.Add(1)
			if i%4 == 3 {
				return p.release(morning)
			}
			spent.Add(1)
			p.spend()
			return nil
		})
	}
	testkit.Must(t, g.Wait())
	s := p.stored(t)
	if spent.Load() > 4 || s.Available != 4.5-float64(spent.Load()) || s.DailyUsed != int(spent.Load()) {
		t.Errorf("%d granted, %d spent, %+v", granted.Load(), spent.Load(), s)
	}
	if _, reserved := p.bucket.State(morning); reserved != 0 {
		t.Errorf("%d tokens stay reserved", reserved)
	}
}

// The bucket compared with a model, with a crash at any step. A token is taken before its
// message and returned only by a release, so that no crash creates a token.
func TestNoSequenceOfReservationsAndCrashesGivesATokenAway(t *testing.T) {
	p := newPlace(t, "")
	testkit.Check(t, func(rt *rapid.T) {
		capacity := rapid.IntRange(0, 4).Draw(rt, "capacity")
		if err := p.dir.Write(file, bucketOf(float64(capacity), capacity, MaxRefill).Encode()); err != nil {
			rt.Fatal(err)
		}
		b := NewBucket(p.dir, pacific, nil)
		tokens, used := capacity, 0
		var open []*payment
		rt.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				r, _, err := b.pay(morning, false)
				if err != nil || (r != nil) != (tokens >= 1) {
					t.Fatalf("%d tokens: %v, %v", tokens, r != nil, err)
				}
				if r != nil {
					open, tokens, used = append(open, r), tokens-1, used+1
				}
			},
			"settle": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				if rapid.Bool().Draw(t, "spend") {
					open[0].spend()
				} else {
					if err := open[0].release(morning); err != nil {
						t.Fatal(err)
					}
					tokens, used = tokens+1, used-1
				}
				open = open[1:]
			},
			"crash": func(*rapid.T) { b, open = NewBucket(p.dir, pacific, nil), nil },
			"": func(t *rapid.T) {
				s, reserved := b.State(morning)
				if s.Whole() != tokens || reserved != len(open) || s.DailyUsed != used {
					t.Fatalf("%+v, %d reserved; want %d tokens, %d reserved, %d used", s, reserved, tokens, len(open), used)
				}
			},
		})
	})
}

// Reserved tokens are missing from the file, whichever writes fail and wherever the
// process dies; released ones are not, if that could be written.
func TestTheFileFollowsItsArithmeticWhateverWritesFail(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	testkit.Check(t, func(rt *rapid.T) {
		p := newPlace(t, string(bucketOf(3, 4, 30).Encode()))
		now, want := morning, bucketOf(3, 4, 30)
		var open []*payment
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(rt, "minutes")) * time.Minute)
			want = want.At(now)
			full := rapid.Bool().Draw(rt, "disk is full")
			step := rapid.SampledFrom([]string{"reserve", "reserve", "spend", "release", "critical", "crash"}).Draw(rt, "step")
			do := func() error {
				switch {
				case step == "reserve":
					r, _, err := p.bucket.pay(now, false)
					ok := r != nil
					if there := want.Whole() >= 1; ok != (there && !full) || (err != nil) != (there && full) ||
						err != nil && !strings.Contains(err.Error(), "free some space") {
						rt.Fatalf("reserve: %v, %v with %d tokens", ok, err, want.Whole())
					}
					if ok {
						want.spend()
						open = append(open, r)
					}
				case step == "critical":
					if _, _, err := p.bucket.pay(now, true); err == nil {
						want.CriticalUsed++
					}
				case step == "crash":
					p.bucket, open = NewBucket(p.dir, pacific, nil), nil
				case len(open) == 0:
				case step == "spend":
					open[0].spend()
					open = open[1:]
				default:
					if open[0].release(now) == nil {
						want.Available = min(want.Available+1, 4)
						want.DailyUsed--
					}
					open = open[1:]
				}
				return nil
			}
			if !full {
				_ = do() // it stops the test itself
			} else if err := storetest.FullDisk(t, do); err != nil {
				rt.Fatal(err)
			}
			s, reserved := p.bucket.State(now)
			stored := p.stored(t).At(now)
			if math.Abs(s.Available-want.Available) > 1e-6 || s.DailyUsed != want.DailyUsed || s.CriticalUsed != want.CriticalUsed ||
				reserved != len(open) || stored != s {
				rt.Fatalf("after %s: %+v with %d reserved, want %+v with %d; the file says %+v", step, s, reserved, want, len(open), stored)
			}
		}
	})
}

func BenchmarkStateOfAnUnchangedFile(b *testing.B) {
	p := newPlace(b, string(bucketOf(3, 5, 90).Encode()))
	b.ReportAllocs()
	for b.Loop() {
		if s, _ := p.bucket.State(morning); s.Available != 3 {
			b.Fatalf("%+v", s)
		}
	}
}

// morning is the beginning of most tests, on a Monday.
var (
	pacific = time.FixedZone("PST", -8*3600)
	morning = time.Date(2026, 11, 23, 9, 0, 0, 0, pacific)
)

func at(minutes int) time.Time { return morning.Add(time.Duration(minutes) * time.Minute) }

// bucketOf returns a bucket of that morning.
func bucketOf(available float64, capacity, rate int) State {
	s := Default(morning)
	s.Available, s.Capacity, s.RefillRateMinutes = available, capacity, rate
	return s
}

// place is a data directory with all that this package keeps there.
type place struct {
	dir     *store.Dir
	bucket  *Bucket
	journal *Journal
	tally   *Tally
	logged  *bytes.Buffer
}

// newPlace returns a place whose bucket's file has this content; without content there is no file.
func newPlace(t testing.TB, content string) *place {
	t.Helper()
	p := &place{dir: storetest.Prepared(t), logged: &bytes.Buffer{}}
	if content != "" {
		storetest.Put(t, p.dir, file, content)
	}
	p.restart()
	return p
}

// restart leaves only what is on the disk.
func (p *place) restart() {
	log := slog.New(slog.NewTextHandler(p.logged, nil))
	p.bucket, p.journal, p.tally = NewBucket(p.dir, pacific, log), NewJournal(p.dir, pacific, log), NewTally(p.dir, pacific, log)
}

func (p *place) content(t testing.TB) string {
	t.Helper()
	return storetest.Text(t, p.dir, file)
}

// stored returns the file's state, which must be valid.
func (p *place) stored(t testing.TB) State {
	t.Helper()
	s, problems := Decode([]byte(p.content(t)), morning)
	if len(problems) > 0 {
		t.Fatalf("the file has problems: %q", problems)
	}
	return s
}

// append adds pings to the journal.
func (p *place) append(t testing.TB, pings ...Ping) {
	t.Helper()
	for _, ping := range pings {
		testkit.Must(t, p.journal.Append(ping))
	}
}
