package budget

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

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

// ping begins an ordinary message, and returns nil if there is no token.
func (p *place) ping(t testing.TB, now time.Time) *payment {
	t.Helper()
	paid, _, err := p.bucket.pay(now, false)
	testkit.Must(t, err)
	return paid
}
