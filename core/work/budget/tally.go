package budget

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"ollimbot/core/storage/store"
)

// tallyFile is private to this program: the file of the bucket may have only the keys that
// the original program knows.
const (
	tallyFile = "state/ping_tally.json"
	tallyTurn = "ping_tally"
)

// Count is how many messages of a day cost no token, the critical ones aside.
type Count struct {
	Day   string `json:"day"`   // in the configured zone
	Quiet int    `json:"quiet"` // left without a sound
	// Essential are the first pings of essential tasks.
	Essential int `json:"essential"`
}

// At is the count of now's day.
func (c Count) At(now time.Time) Count {
	if today := now.Format(time.DateOnly); c.Day != today {
		return Count{Day: today}
	}
	c.Quiet, c.Essential = max(c.Quiet, 0), max(c.Essential, 0)
	return c
}

// Text is "2 essential, quiet 1 of 3"; what there was none of is left out.
func (c Count) Text(limit int) string {
	var parts []string
	if c.Essential > 0 {
		parts = append(parts, fmt.Sprintf(textEssential, c.Essential))
	}
	if c.Quiet > 0 {
		parts = append(parts, fmt.Sprintf(textQuietOf, c.Quiet, limit))
	}
	return strings.Join(parts, ", ")
}

// Tally keeps the Count in the data directory. It is not part of the bucket: nothing that it
// counts takes a token, or brings one back. Use NewTally; all methods are safe for several
// goroutines, and beside other processes of ours.
type Tally struct {
	dir     *store.Dir
	zone    *time.Location
	log     *slog.Logger
	count   *store.Cached[Count]
	trouble store.Trouble
}

// NewTally is the tally of a data directory. Nothing is read or written yet. Days go by zone;
// a nil log is silent.
func NewTally(d *store.Dir, zone *time.Location, log *slog.Logger) *Tally {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Tally{dir: d, zone: zone, log: log, count: store.NewCached[Count](d, tallyFile)}
}

// At is the count of the day of now. It never writes; a file that cannot be read counts as
// empty and is logged once.
func (t *Tally) At(now time.Time) Count {
	c, err := t.count.Load(func() (c Count, err error) {
		_, err = t.dir.PeekJSON(tallyFile, &c)
		return c, err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if t.trouble.News(err) && err != nil {
		t.log.Warn("the tally of pings could not be read", "file", tallyFile, "error", err)
	}
	return c.At(now.In(t.zone))
}

// LimitError is why a quiet message was not sent: the day's are used up, or cannot be counted.
type LimitError struct {
	Limit int
	Err   error // why it could not be counted; nil where none is left
}

func (l *LimitError) Error() string {
	if l.Err != nil {
		return l.Err.Error()
	}
	return fmt.Sprintf(textQuietUsed, l.Limit)
}

// Unwrap is why the message could not be counted.
func (l *LimitError) Unwrap() error { return l.Err }

// Quiet sends a message without a sound, as Bucket.Try sends a ping, if the day has fewer than
// limit of them. Its error is a *LimitError or that of send.
func (t *Tally) Quiet(limit int, send Sending) (unsaved, err error) {
	if t.At(time.Now()).Quiet >= limit {
		return nil, &LimitError{Limit: limit}
	}
	return attempt(send, func() (settle settlement, unsaved, refused error) {
		counted := false
		day, err := t.change(func(c *Count) {
			if counted = c.Quiet < limit; counted { // else somebody was faster
				c.Quiet++
			}
		})
		if err != nil || !counted {
			return nil, nil, &LimitError{Limit: limit, Err: err}
		}
		return t.settle(day, func(c *Count) { c.Quiet-- }), nil, nil
	})
}

// Essential sends a ping that the budget cannot refuse. It goes out also where it cannot be
// counted, which unsaved says.
func (t *Tally) Essential(send Sending) (unsaved, err error) {
	return attempt(send, func() (settle settlement, unsaved, refused error) {
		day, err := t.change(func(c *Count) { c.Essential++ })
		if err != nil {
			return nil, err, nil
		}
		return t.settle(day, func(c *Count) { c.Essential-- }), nil, nil
	})
}

// settle takes a message that was not sent out of the count of its day.
func (t *Tally) settle(day string, back func(*Count)) settlement {
	var done atomic.Bool
	return func(sent bool) error {
		if done.Swap(true) || sent {
			return nil
		}
		_, err := t.change(func(c *Count) {
			if c.Day == day {
				back(c)
			}
		})
		return err
	}
}

// change applies do to the count of today and writes it, all alone.
func (t *Tally) change(do func(*Count)) (day string, err error) {
	err = t.dir.WithLock(tallyTurn, func() error {
		var c Count
		if _, err := t.dir.LoadJSON(tallyFile, &c, t.log); err != nil {
			return err
		}
		c = c.At(time.Now().In(t.zone))
		day = c.Day
		before := c
		if do(&c); c == before {
			return nil
		}
		return t.dir.WriteJSON(tallyFile, c)
	})
	if err != nil {
		return day, fmt.Errorf("count a message: %w", err)
	}
	return day, nil
}
