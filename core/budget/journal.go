package budget

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/original"
	"ollimbot/core/store"
)

const (
	journalFile = "state/pings.jsonl"
	journalTurn = "pings"
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
	dir  *store.Dir
	zone *time.Location
	log  *slog.Logger

	// mu guards the fields below.
	mu sync.Mutex
	// seen is what the file was when times was read of it.
	seen  os.FileInfo
	times []time.Time
}

// NewJournal is the journal of a data directory. Nothing is read or written
// yet. Times are written in zone; a nil log is silent.
func NewJournal(d *store.Dir, zone *time.Location, log *slog.Logger) *Journal {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Journal{dir: d, zone: zone, log: log}
}

// Append adds a ping. A journal of more than 1 MiB is first cut to its newest
// quarter.
func (j *Journal) Append(p Ping) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(pingLine{
		At: original.Time(p.At.In(j.zone)), Task: clean.Line(p.Task), Title: clean.Cut(clean.Line(p.Title), 200),
		Kind: clean.Line(p.Kind), Critical: p.Critical, Run: clean.Line(p.Run),
	})
	if err != nil {
		return fmt.Errorf("encode a ping: %w", err)
	}
	err = j.dir.Exclusive(journalTurn, func() error {
		if err := j.prune(); err != nil {
			j.log.Warn("ping journal was not shortened", "error", err)
		}
		return j.dir.Append(journalFile, bytes.TrimSuffix(line.Bytes(), []byte("\n")))
	})
	if err != nil {
		return fmt.Errorf("keep a ping: %w", err)
	}
	return nil
}

// prune cuts a journal that has grown too long.
func (j *Journal) prune() error {
	info, err := os.Stat(j.dir.Path(journalFile))
	if err != nil || info.Size() <= journalLimit {
		return nil //nolint:nilerr // a journal that is not there is short enough
	}
	data, err := j.dir.ReadEnd(journalFile, journalTail)
	if err != nil {
		return err
	}
	return j.dir.Write(journalFile, data)
}

// Hours counts the pings of the 24 hours before now, an element for each hour,
// the oldest first. It reads the file only when it has changed; lines that are
// no pings are passed over.
func (j *Journal) Hours(now time.Time) [24]int {
	var hours [24]int
	for _, at := range j.read() {
		if age := now.Sub(at); age >= 0 && age < 24*time.Hour {
			hours[23-int(age/time.Hour)]++
		}
	}
	return hours
}

func (j *Journal) read() []time.Time {
	info, err := os.Stat(j.dir.Path(journalFile))
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	j.mu.Lock()
	seen, times := j.seen, j.times
	j.mu.Unlock()
	if seen != nil && same(seen, info) {
		return times
	}
	data, err := j.dir.ReadEnd(journalFile, journalTail)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			j.log.Warn("ping journal was not read", "error", err)
		}
		return nil
	}
	times = nil
	for line := range bytes.Lines(data) {
		var p pingLine
		if json.Unmarshal(line, &p) != nil {
			continue
		}
		if at, err := original.ParseTime(p.At, j.zone); err == nil {
			times = append(times, at)
		}
	}
	j.mu.Lock()
	j.seen, j.times = info, times
	j.mu.Unlock()
	return times
}
