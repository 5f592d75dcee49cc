package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/pycompat"
	"ollimbot/core/storage/store"
)

const (
	// keepFor is how long inquiries and messages of forks are kept.
	keepFor = 7 * 24 * time.Hour
	// maxKept is the maximum size of either file in bytes, far below what can be read; the
	// oldest entries are dropped.
	maxKept = 1 << 20
)

// keeper reads and writes one file of entries that expire.
type keeper struct {
	dir  *store.Dir
	log  *slog.Logger
	file string
	turn string // the name of the file's lock

	trouble *store.Trouble // with the file
}

func newKeeper(d *store.Dir, log *slog.Logger, name string) keeper {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return keeper{dir: d, log: log, file: "state/" + name + ".json", turn: name, trouble: &store.Trouble{}}
}

// peek reads the file into v without changing it. An unreadable file counts as empty and
// is left in place.
func (k *keeper) peek(v any) {
	if _, err := k.dir.PeekJSON(k.file, v); k.trouble.News(err) {
		k.log.Warn("state file was not read", "file", k.file, "problem", err)
	}
}

// load reads the file into v for a change. A file with other content is set aside; other
// problems are errors, because a write would lose the content.
func (k *keeper) load(v any) error {
	_, err := k.dir.LoadJSON(k.file, v, k.log)
	return err
}

// stamp converts a time to the original's format in these files: seconds since 1970.
func stamp(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// fresh reports whether an entry of that time is less than seven days old.
func fresh(ts float64, now time.Time) bool { return ts > stamp(now)-keepFor.Seconds() }

// since returns the time of an entry, 0 if it has none.
func since(raw json.RawMessage) float64 {
	ts, _ := asObject(raw).time("ts")
	return ts
}

// stale reports whether an entry has expired. An entry without a time was written by
// another program and is kept.
func stale(raw json.RawMessage, now time.Time) bool {
	ts, ok := asObject(raw).time("ts")
	return ok && !fresh(ts, now)
}

// object is a JSON object whose unknown keys are preserved.
type object map[string]json.RawMessage

// asObject reads an object; anything else has no keys.
func asObject(raw json.RawMessage) (o object) {
	_ = json.Unmarshal(raw, &o)
	return o
}

func (o object) text(key string) (string, bool) {
	var s *string
	if json.Unmarshal(o[key], &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// time is a number of seconds that a time.Time can hold.
func (o object) time(key string) (float64, bool) {
	var f *float64
	if json.Unmarshal(o[key], &f) != nil || f == nil || math.Abs(*f) > 1e11 {
		return 0, false
	}
	return *f, true
}

// spell encodes the object on one line: first the keys in order, then the others by name.
func (o object) spell(order ...string) string {
	var b strings.Builder
	add := func(key string) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: %s", pycompat.Quote(key), o[key])
	}
	for _, key := range order {
		if _, ok := o[key]; ok {
			add(key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(order, key) {
			add(key)
		}
	}
	return "{" + b.String() + "}"
}

// newest drops entries from the front until the rest fits in maxKept bytes.
func newest(entries []string) []string {
	total, first := 0, len(entries)
	for first > 0 {
		if total += len(entries[first-1]) + len(", "); total > maxKept {
			break
		}
		first--
	}
	return entries[first:]
}

// rawText encodes a text as JSON.
func rawText(s string) json.RawMessage { return json.RawMessage(pycompat.Quote(s)) }

// rawTime encodes a number of seconds as JSON.
func rawTime(ts float64) json.RawMessage { return json.RawMessage(pycompat.Float(ts)) }
