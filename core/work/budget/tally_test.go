package budget

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// leave sends a quiet message that arrives.
func leave(t *Tally, limit int) error {
	_, err := t.Quiet(limit, func(pay func() error) (bool, error) {
		err := pay()
		return err == nil, err
	})
	return err
}

func TestACountLeavesOutWhatThereIsNoneOf(t *testing.T) {
	for want, c := range map[string]Count{
		"": {}, "quiet 1 of 3": {Quiet: 1}, "1 essential": {Essential: 1}, "2 essential, quiet 3 of 3": {Essential: 2, Quiet: 3},
	} {
		if got := c.Text(3); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
	if got := (Count{Day: "2026-11-23", Quiet: -1, Essential: -2}).At(morning); got != (Count{Day: "2026-11-23"}) {
		t.Errorf("negative counts: %+v", got)
	}
}

func TestAnEssentialPingIsCountedIfItLeftAndLeavesUncounted(t *testing.T) {
	p := newPlace(t, "")
	lost := errors.New("no network")
	for _, c := range []struct {
		sent bool
		err  error
		want int
	}{{true, nil, 1}, {false, lost, 1}, {true, lost, 2}, {true, nil, 3}} {
		unsaved, err := p.tally.Essential(func(pay func() error) (bool, error) { return c.sent, errors.Join(pay(), c.err) })
		if got := p.tally.At(time.Now()); unsaved != nil || !errors.Is(err, c.err) || got.Essential != c.want || got.Quiet != 0 {
			t.Errorf("sent %v with %v: %+v, %v, %v", c.sent, c.err, got, unsaved, err)
		}
	}
	unsaved, err := p.tally.Essential(func(pay func() error) (bool, error) {
		defer p.breakState(t)
		return false, errors.Join(pay(), lost)
	})
	if unsaved == nil || !errors.Is(err, lost) {
		t.Errorf("what cannot be taken from the count is hidden: %v, %v", unsaved, err)
	}
	sent := false
	unsaved, err = p.tally.Essential(func(pay func() error) (bool, error) {
		sent = pay() == nil
		return sent, nil
	})
	if !sent || unsaved == nil || err != nil {
		t.Errorf("sent %v, %v, %v", sent, unsaved, err)
	}
}

func TestADayHasItsQuietMessagesAlsoAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := storetest.Prepared(t)
		for range 3 {
			testkit.Must(t, leave(NewTally(dir, time.UTC, nil), 3)) // each by a separate process
		}
		tally := NewTally(dir, time.UTC, nil)
		var limit *LimitError
		_, err := tally.Quiet(3, func(func() error) (bool, error) { panic("it is sent") })
		if !errors.As(err, &limit) || limit.Err != nil || err.Error() != "the 3 quiet messages of today are used up" {
			t.Errorf("the fourth: %v", err)
		}
		if got := tally.At(time.Now()).Text(3); got != "quiet 3 of 3" {
			t.Errorf("%q", got)
		}
		if bucket, own := storetest.Text(t, dir, file), storetest.Text(t, dir, tallyFile); bucket != "" || own != `{"day":"2000-01-01","quiet":3,"essential":0}`+"\n" {
			t.Errorf("the files of the bucket and the tally: %q, %q", bucket, own)
		}
		time.Sleep(24 * time.Hour)
		if got := tally.At(time.Now()); got.Quiet != 0 || got.Text(3) != "" {
			t.Errorf("the next day: %+v", got)
		}
		testkit.Must(t, leave(tally, 3))
	})
}

func TestAQuietMessageThatDidNotLeaveIsNotCounted(t *testing.T) {
	dir := storetest.Prepared(t)
	tally := NewTally(dir, time.UTC, nil)
	lost := errors.New("no network")
	if _, err := tally.Quiet(1, func(pay func() error) (bool, error) { return false, errors.Join(pay(), lost) }); !errors.Is(err, lost) {
		t.Error(err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = tally.Quiet(1, func(pay func() error) (bool, error) { _ = pay(); panic("out of paper") })
	}()
	if got := tally.At(time.Now()).Quiet; got != 0 {
		t.Errorf("%d counted", got)
	}
	// A message that may have arrived stays counted.
	unknown := errors.New("no answer")
	if _, err := tally.Quiet(1, func(pay func() error) (bool, error) { return true, errors.Join(pay(), unknown) }); !errors.Is(err, unknown) {
		t.Error(err)
	}
	if err := leave(tally, 1); err == nil {
		t.Error("a message that may have arrived was given back")
	}
}

func TestASettlementOfYesterdayTakesNothingFromToday(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tally := NewTally(storetest.Prepared(t), time.UTC, nil)
		_, _ = tally.Quiet(3, func(pay func() error) (bool, error) {
			testkit.Must(t, pay())
			time.Sleep(24 * time.Hour)
			testkit.Must(t, leave(tally, 3))
			return false, errors.New("no network")
		})
		if got := tally.At(time.Now()).Quiet; got != 1 {
			t.Errorf("%d counted today", got)
		}
	})
}

// Days use the configured zone, even if they have 23 or 25 hours.
func TestTheDayIsTheZonesOverAChangeOfTheClock(t *testing.T) {
	for day, hours := range map[string]int{"2026-03-29": 23, "2026-10-25": 25, "2026-11-27": 24} {
		berlin, err := time.LoadLocation("Europe/Berlin")
		testkit.Must(t, err)
		begin, err := time.ParseInLocation(time.DateOnly, day, berlin)
		testkit.Must(t, err)
		c := Count{Day: day, Quiet: 2}
		end := begin.Add(time.Duration(hours) * time.Hour)
		if c.At(begin).Quiet != 2 || c.At(end.Add(-time.Second).In(berlin)).Quiet != 2 || c.At(end.In(berlin)).Quiet != 0 || c.At(begin.Add(-time.Second)).Quiet != 0 {
			t.Errorf("%s does not end after %d hours", day, hours)
		}
	}
}

func TestADamagedTallyIsKeptAsideAndCountsFromZero(t *testing.T) {
	p := newPlace(t, "")
	if p.tally.At(time.Now()); p.logged.Len() > 0 {
		t.Errorf("a tally that is not there yet is logged: %s", p.logged)
	}
	storetest.Put(t, p.dir, tallyFile, `{"day": 7`)
	for range 2 {
		if got := p.tally.At(time.Now()).Quiet; got != 0 || strings.Count(p.logged.String(), "could not be read") != 1 {
			t.Errorf("%d, log:\n%s", got, p.logged)
		}
	}
	testkit.Must(t, leave(p.tally, 1))
	if err := leave(p.tally, 1); err == nil {
		t.Error("the limit does not hold after a damaged file")
	}
}

// breakState leaves no place to write to.
func (p *place) breakState(t *testing.T) {
	t.Helper()
	testkit.Must(t, os.RemoveAll(p.dir.Path("state")))
	testkit.Must(t, os.WriteFile(p.dir.Path("state"), nil, 0o600)) // not a folder
}

func TestWithoutACountNoQuietMessageLeaves(t *testing.T) {
	p := newPlace(t, "")
	p.breakState(t)
	sent := false
	_, err := p.tally.Quiet(3, func(pay func() error) (bool, error) {
		err := pay()
		sent = err == nil
		return sent, err
	})
	var limit *LimitError
	if sent || !errors.As(err, &limit) || limit.Err == nil {
		t.Errorf("sent %v, %v", sent, err)
	}
}

// However many processes send quiet messages at once, a day never exceeds the limit, and
// the bucket keeps its tokens.
func TestPropertyManyNeverLeaveMoreThanTheLimit(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		root := storetest.Prepared(t)
		limit, tries := rapid.IntRange(0, 4).Draw(rt, "limit"), rapid.IntRange(1, 8).Draw(rt, "tries")
		left := make([]bool, tries)
		var group errgroup.Group
		for i := range tries {
			group.Go(func() error {
				dir, err := store.At(root.Root())
				if err != nil {
					return err
				}
				left[i] = leave(NewTally(dir, time.UTC, nil), limit) == nil
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			rt.Fatal(err)
		}
		n := 0
		for _, l := range left {
			if l {
				n++
			}
		}
		if got := NewTally(root, time.UTC, nil).At(time.Now()).Quiet; n != min(limit, tries) || got != n {
			rt.Fatalf("%d left, %d counted, limit %d", n, got, limit)
		}
	})
}
