package budget

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"ollimbot/core/storage/store"
)

// tallyFile is private to this program: the bucket's file may have only the keys of the
// original program.
const (
	tallyFile = "state/ping_tally.json"
	tallyTurn = "ping_tally"
)

// Count counts the messages of a day that cost no token, except critical ones.
type Count struct {
	Day   string `json:"day"`   // in the configured zone
	Quiet int    `json:"quiet"` // sent without a sound
	// Essential are the first pings of essential tasks.
	Essential int `json:"essential"`
}

// At returns the count for now's day.
func (c Count) At(now time.Time) Count {
	if today := now.Format(time.DateOnly); c.Day != today {
		return Count{Day: today}
	}
	c.Quiet, c.Essential = max(c.Quiet, 0), max(c.Essential, 0)
	return c
}

// Text returns "2 essential, quiet 1 of 3", leaving out zeros.
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

// Tally keeps the Count in the data directory. It is separate from the bucket: counting
// here neither takes nor returns a token. Use NewTally. Its methods are safe for
// concurrent use, also by several processes of the program.
type Tally struct {
	dir     *store.Dir
	zone    *time.Location
	log     *slog.Logger
	count   *store.Cached[Count]
	trouble store.Trouble
}

// NewTally returns the tally of a data directory without reading or writing anything.
// Days use zone; a nil log discards.
func NewTally(d *store.Dir, zone *time.Location, log *slog.Logger) *Tally {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Tally{dir: d, zone: zone, log: log, count: store.NewCached[Count](d, tallyFile)}
}

// At returns the count for now's day. It never writes. An unreadable file counts as empty
// and is logged once.
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

// LimitError is returned for a quiet message that was not sent: the day's limit is used
// up, or could not be counted.
type LimitError struct {
	Limit int
	Err   error // why it could not be counted; nil if none is left
}

func (l *LimitError) Error() string {
	if l.Err != nil {
		return l.Err.Error()
	}
	return fmt.Sprintf(textQuietUsed, l.Limit)
}

// Unwrap returns why the message could not be counted.
func (l *LimitError) Unwrap() error { return l.Err }

// Quiet sends a silent message, as Bucket.Try sends a ping, if fewer than limit were sent
// today. The error is a *LimitError or that of send.
func (t *Tally) Quiet(limit int, send Sending) (unsaved, err error) {
	if t.At(time.Now()).Quiet >= limit {
		return nil, &LimitError{Limit: limit}
	}
	return attempt(send, func() (settle settlement, unsaved, refused error) {
		counted := false
		day, err := t.change(func(c *Count) {
			if counted = c.Quiet < limit; counted { // otherwise another process was faster
				c.Quiet++
			}
		})
		if err != nil || !counted {
			return nil, nil, &LimitError{Limit: limit, Err: err}
		}
		return t.settle(day, func(c *Count) { c.Quiet-- }), nil, nil
	})
}

// Essential sends a ping that the budget cannot refuse. It is sent even if it cannot be
// counted; unsaved is then the reason.
func (t *Tally) Essential(send Sending) (unsaved, err error) {
	return attempt(send, func() (settle settlement, unsaved, refused error) {
		day, err := t.change(func(c *Count) { c.Essential++ })
		if err != nil {
			return nil, err, nil
		}
		return t.settle(day, func(c *Count) { c.Essential-- }), nil, nil
	})
}

// settle removes an unsent message from the count of its day.
func (t *Tally) settle(day string, back func(*Count)) settlement {
	return func(sent bool) error {
		if sent {
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

// change applies do to today's count and writes it, under one lock.
func (t *Tally) change(do func(*Count)) (day string, err error) {
	err = t.dir.WithLock(tallyTurn, func() error {
		var c Count
		if _, err := t.dir.LoadJSON(tallyFile, &c, t.log); err != nil {
			return err
		}
		c = c.At(time.Now().In(t.zone))
		day = c.Day
		do(&c)
		return t.dir.WriteJSON(tallyFile, c)
	})
	if err != nil {
		return day, fmt.Errorf("count a message: %w", err)
	}
	return day, nil
}
