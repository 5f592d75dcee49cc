package budget

import (
	"bytes"
	"errors"
	"log/slog"
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

// place is a data directory with a bucket.
type place struct {
	dir    *store.Dir
	bucket *Bucket
	logged *bytes.Buffer
}

func newPlace(t testing.TB, content string) place {
	t.Helper()
	d := storetest.Dir(t)
	if content != "" {
		must(t, d.Write(file, []byte(content)))
	}
	logged := &bytes.Buffer{}
	return place{d, NewBucket(d, pacific, slog.New(slog.NewTextHandler(logged, nil))), logged}
}

func (p place) content(t testing.TB) string {
	t.Helper()
	return storetest.Text(t, p.dir, file)
}

// stored returns the file's state, which must be valid.
func (p place) stored(t testing.TB) State {
	t.Helper()
	s, problems := Decode([]byte(p.content(t)), morning())
	if len(problems) > 0 {
		t.Fatalf("the file has problems: %q", problems)
	}
	return s
}

func reserve(t testing.TB, b *Bucket, want bool) *payment {
	t.Helper()
	return reserveAt(t, b, morning(), want)
}

func reserveAt(t testing.TB, b *Bucket, now time.Time, want bool) *payment {
	t.Helper()
	p, _, err := b.pay(now, false)
	if err != nil || (p != nil) != want {
		t.Fatalf("reserve: %v, %v, want %v", p != nil, err, want)
	}
	return p
}

func critical(t testing.TB, b *Bucket, now time.Time) *payment {
	t.Helper()
	p, _, err := b.pay(now, true)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReadingTheBucketWritesNothing(t *testing.T) {
	p := newPlace(t, "")
	s, reserved := p.bucket.State(morning())
	if diff := cmp.Diff(Default(morning()), s); diff != "" || reserved != 0 {
		t.Errorf("%d reserved, (-want +got)\n%s", reserved, diff)
	}
	if got := p.content(t); got != "" {
		t.Errorf("a read wrote %q", got)
	}
	const odd = `{"capacity": 3, "available": 1.5}`
	p = newPlace(t, odd)
	p.bucket.State(morning().Add(time.Hour))
	if got := p.content(t); got != odd {
		t.Errorf("a read changed the file to %q", got)
	}
}

func release(t testing.TB, p *payment, now time.Time) {
	t.Helper()
	must(t, p.release(now))
}

func TestAReservedTokenIsMissingFromTheFileAndStaysSpent(t *testing.T) {
	p := newPlace(t, "")
	r := reserve(t, p.bucket, true)
	if s, reserved := p.bucket.State(morning()); s.Available != 4 || reserved != 1 {
		t.Errorf("reserved: %v tokens, %d reserved", s.Available, reserved)
	}
	if s := p.stored(t); s.Available != 4 || s.DailyUsed != 1 {
		t.Errorf("before it is sent the file says %+v", s)
	}
	for range 2 {
		r.spend()
		release(t, r, morning())
	}
	if s, reserved := p.bucket.State(morning()); s.Available != 4 || s.DailyUsed != 1 || reserved != 0 {
		t.Errorf("spent: %+v, %d reserved", s, reserved)
	}
	if s := p.stored(t); s.Available != 4 || s.DailyUsed != 1 {
		t.Errorf("the file says %+v", s)
	}
}

func TestAReleasedTokenCanBeReservedAgain(t *testing.T) {
	p := newPlace(t, string(bucketOf(1, 5, 90).Encode()))
	r := reserve(t, p.bucket, true)
	reserve(t, p.bucket, false)
	release(t, r, morning())
	release(t, r, morning())
	r.spend()
	if s := p.stored(t); s.Available != 1 || s.DailyUsed != 0 {
		t.Errorf("a released token was spent: %+v", s)
	}
	reserve(t, p.bucket, true)
	reserve(t, p.bucket, false)
}

func TestARefundFitsIntoTheBucketAsItIsByThen(t *testing.T) {
	p := newPlace(t, "")
	r := reserve(t, p.bucket, true)
	release(t, r, morning().Add(time.Minute)) // it has refilled in the meantime
	if s := p.stored(t); s.Available != 5 {
		t.Errorf("%v tokens in a bucket of 5", s.Available)
	}
	r = reserve(t, p.bucket, true)
	muted := 0
	if _, _, err := p.bucket.Set(morning(), &muted, nil); err != nil {
		t.Fatal(err)
	}
	release(t, r, morning())
	if s := p.stored(t); s.Available != 0 {
		t.Errorf("%v tokens in a muted bucket", s.Available)
	}
}

func TestARefundAfterMidnightLeavesTheNewDaysCountersAlone(t *testing.T) {
	p := newPlace(t, "")
	plain, urgent := reserve(t, p.bucket, true), critical(t, p.bucket, morning())
	tomorrow := morning().Add(24 * time.Hour)
	reserveAt(t, p.bucket, tomorrow, true)
	critical(t, p.bucket, tomorrow)
	release(t, plain, tomorrow)
	release(t, urgent, tomorrow)
	if s := p.stored(t); s.DailyUsed != 1 || s.CriticalUsed != 1 || s.Available != 5 {
		t.Errorf("%+v", s)
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
		unsaved, err := p.bucket.Try(false, func(pay func() error) (bool, error) { return c.sent, errors.Join(pay(), c.err) })
		if s, reserved := p.bucket.State(time.Now()); unsaved != nil || !errors.Is(err, c.err) || s.Whole() != c.left || reserved != 0 {
			t.Errorf("%s: %v, %v, %v tokens, %d reserved", name, unsaved, err, s.Available, reserved)
		}
	}
	p := newPlace(t, string(bucketOf(0, 0, 1).Encode()))
	var unpaid *UnpaidError
	if _, err := p.bucket.Try(false, func(func() error) (bool, error) { panic("it is sent") }); !errors.As(err, &unpaid) || unpaid.State.Capacity != 0 {
		t.Error(err)
	}
}

func TestAPartOfATokenCannotBeReserved(t *testing.T) {
	p := newPlace(t, string(bucketOf(0.99, 5, 90).Encode()))
	reserve(t, p.bucket, false)
	reserveAt(t, p.bucket, morning().Add(time.Minute), true) // the token is complete by then
}

func TestAMutedBucketReservesNothing(t *testing.T) {
	p := newPlace(t, string(bucketOf(0, 0, 1).Encode()))
	reserveAt(t, p.bucket, morning().Add(24*time.Hour), false)
}

func TestCriticalPingsAreCountedAndCostNothing(t *testing.T) {
	p := newPlace(t, "")
	var last *payment
	for range 3 {
		last = critical(t, p.bucket, morning())
	}
	release(t, last, morning()) // it was refused
	if s := p.stored(t); s.CriticalUsed != 2 || s.DailyUsed != 0 || s.Available != 5 {
		t.Errorf("%+v", s)
	}
}

func TestSetRefillsAtTheOldRateFirst(t *testing.T) {
	p := newPlace(t, string(bucketOf(1, 5, 60).Encode()))
	later := morning().Add(2 * time.Hour)
	capacity, rate := 2, 10
	before, after, err := p.bucket.Set(later, &capacity, &rate)
	must(t, err)
	if before.Available != 3 || before.Capacity != 5 || after.Available != 2 || after.Capacity != 2 || after.RefillRateMinutes != 10 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if s := p.stored(t); s != after {
		t.Errorf("the file says %+v, want %+v", s, after)
	}
	restored, err := p.bucket.Restore(later, Settings{before.Capacity, before.RefillRateMinutes, before.Available})
	if err != nil || restored != before {
		t.Errorf("restored %+v, %v, want %+v", restored, err, before)
	}
}

func TestRefusedNumbersChangeNothing(t *testing.T) {
	p := newPlace(t, "")
	for _, n := range []int{-1, maxCapacity + 1} {
		if _, _, err := p.bucket.Set(morning(), &n, nil); err == nil {
			t.Errorf("capacity %d was taken", n)
		}
	}
	zero := 0
	if _, _, err := p.bucket.Set(morning(), nil, &zero); err == nil {
		t.Error("refill 0 was taken")
	}
	for _, old := range []Settings{{-1, 90, 1}, {5, 0, 1}, {5, 90, -1}} {
		if _, err := p.bucket.Restore(morning(), old); err == nil {
			t.Errorf("%+v was restored", old)
		}
	}
	if got := p.content(t); got != "" {
		t.Errorf("the file was written: %q", got)
	}
}

func TestAChangeByAnotherProcessIsSeenAtOnce(t *testing.T) {
	p := newPlace(t, "")
	other := NewBucket(p.dir, pacific, nil)
	capacity := 2
	for want := 5; want > 2; want-- {
		if got, _ := p.bucket.State(morning()); got.Capacity != want {
			t.Errorf("capacity %d, want %d", got.Capacity, want)
		}
		capacity = want - 1
		if _, _, err := other.Set(morning(), &capacity, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACorruptFileIsKeptAsideAndReported(t *testing.T) {
	p := newPlace(t, "}garbage")
	for range 3 {
		if s, _ := p.bucket.State(morning()); s != Default(morning()) {
			t.Errorf("state %+v, want defaults", s)
		}
	}
	if n := strings.Count(p.logged.String(), "level=WARN"); n != 1 {
		t.Errorf("reading reported it %d times:\n%s", n, p.logged)
	}
	if got := p.content(t); got != "}garbage" {
		t.Errorf("reading changed it to %q", got)
	}
	critical(t, p.bucket, morning())
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
	must(t, os.MkdirAll(p.dir.Path("state"), 0o700))
	secret := filepath.Join(t.TempDir(), "gone")
	must(t, os.Symlink(filepath.Join(secret, "loop"), p.dir.Path(file)))
	if err := os.Symlink(secret, secret); err != nil { // a loop: ELOOP, also for root
		t.Fatal(err)
	}
	unsaved, err := p.bucket.Try(true, func(pay func() error) (bool, error) { return true, pay() })
	if unsaved == nil || err != nil { // it is sent anyway
		t.Errorf("a file that cannot be read was replaced: %v, %v", unsaved, err)
	}
	if s, _ := p.bucket.State(morning()); s != Default(morning()) {
		t.Errorf("state %+v, want defaults", s)
	}
}

func TestManyRunsNeverSpendMoreThanThereIs(t *testing.T) {
	p := newPlace(t, string(bucketOf(4.5, 5, 90).Encode()))
	var granted, spent atomic.Int64
	var g errgroup.Group
	for i := range 16 {
		g.Go(func() error {
			p, _, err := p.bucket.pay(morning(), false)
			if err != nil || p == nil {
				return err
			}
			granted.Add(1)
			if i%4 == 3 {
				return p.release(morning())
			}
			spent.Add(1)
			p.spend()
			return nil
		})
	}
	must(t, g.Wait())
	s := p.stored(t)
	if spent.Load() > 4 || s.Available != 4.5-float64(spent.Load()) || s.DailyUsed != int(spent.Load()) {
		t.Errorf("%d granted, %d spent, %+v", granted.Load(), spent.Load(), s)
	}
	if _, reserved := p.bucket.State(morning()); reserved != 0 {
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
				r, _, err := b.pay(morning(), false)
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
					if err := open[0].release(morning()); err != nil {
						t.Fatal(err)
					}
					tokens, used = tokens+1, used-1
				}
				open = open[1:]
			},
			"crash": func(*rapid.T) { b, open = NewBucket(p.dir, pacific, nil), nil },
			"": func(t *rapid.T) {
				s, reserved := b.State(morning())
				if s.Whole() != tokens || reserved != len(open) || s.DailyUsed != used {
					t.Fatalf("%+v, %d reserved; want %d tokens, %d reserved, %d used", s, reserved, tokens, len(open), used)
				}
			},
		})
	})
}

func BenchmarkStateOfAnUnchangedFile(b *testing.B) {
	p := newPlace(b, string(bucketOf(3, 5, 90).Encode()))
	b.ReportAllocs()
	for b.Loop() {
		if s, _ := p.bucket.State(morning()); s.Available != 3 {
			b.Fatalf("%+v", s)
		}
	}
}
