package budget

import (
	"fmt"
	"log/slog"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/pycompat"
	"ollimbot/core/store"
)

const (
	journalFile = "state/pings.jsonl"
	// journalTail is how much of the journal's end is read: some 1,500 pings,
	// far more than a day has.
	journalTail = 256 << 10
	// journalLimit is the size at which the journal is cut to its tail.
	journalLimit = 1 << 20
)

// Ping is one message that reached the user from a background run.
type Ping struct {
	At       time.Time
	Task     string // the task's id
	Title    string // what people call the task
	Kind     string // "ping" or "embed"
	Critical bool
	Run      string // the run's id
}

// pingLine is a Ping as the file holds it.
type pingLine struct {
	At       string `json:"at"`
	Task     string `json:"task"`
	Title    string `json:"title"`
	Kind     string `json:"kind"`
	Critical bool   `json:"critical"`
	Run      string `json:"run"`
}

// Journal keeps what was sent in state/pings.jsonl, a line for each ping. Use
// NewJournal; all methods are safe for several goroutines.
type Journal struct {
	lines store.Log[pingLine]
	zone  *time.Location
	log   *slog.Logger
	times *store.Cached[[]time.Time]
}

// NewJournal is the journal of a data directory. Nothing is read or written
// yet. Times are written in zone; a nil log is silent.
func NewJournal(d *store.Dir, zone *time.Location, log *slog.Logger) *Journal {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Journal{
		lines: store.Log[pingLine]{Dir: d, Rel: journalFile, Limit: journalLimit, Keep: journalTail},
		zone:  zone, log: log, times: store.NewCached[[]time.Time](d, journalFile),
	}
}

// Append adds a ping. A journal of 1 MiB is first cut to its newest quarter.
func (j *Journal) Append(p Ping) error {
	err := j.lines.Append(pingLine{
		At: pycompat.Time(p.At.In(j.zone)), Task: clean.Line(p.Task), Title: clean.Cut(clean.Line(p.Title), 200),
		Kind: clean.Line(p.Kind), Critical: p.Critical, Run: clean.Line(p.Run),
	})
	if err != nil {
		return fmt.Errorf("keep a ping: %w", err)
	}
	return nil
}

// Hours counts the pings of the 24 hours before now, an element for each hour,
// the oldest first. It reads the file only when it has changed; lines that are
// no pings are passed over.
func (j *Journal) Hours(now time.Time) [24]int {
	times, err := j.times.Load(j.read)
	if err != nil {
		j.log.Warn("ping journal was not read", "error", err)
	}
	var hours [24]int
	for _, at := range times {
		if age := now.Sub(at); age >= 0 && age < 24*time.Hour {
			hours[23-int(age/time.Hour)]++
		}
	}
	return hours
}

func (j *Journal) read() (times []time.Time, err error) {
	list, _, err := j.lines.Newest(journalTail)
	for _, p := range list {
		if at, err := pycompat.ParseTime(p.At, j.zone); err == nil {
			times = append(times, at)
		}
	}
	return times, err
}
