// Package updates keeps what background runs have to say to the main session:
// pending updates in state/pending_updates.json. They are appended by runs,
// peeked by forks, and claimed by a main turn, whose delivery is on disk from
// before the message is sent until it is settled. One lock orders the queue and
// the delivery, in this process and beside others: never lost, never twice.
package updates

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ollimbot/core/base/pycompat"
	"ollimbot/core/safety/label"
)

// rawEntry is one element of the file, whatever it may be.
type rawEntry = json.RawMessage

// entry is an update with what the file holds beside it.
type entry struct {
	Update
	// ts is the time as the file spells it, so that a rewrite keeps its bytes.
	ts string
	// extra are keys of others, which are kept.
	extra map[string]json.RawMessage
}

func newEntry(at time.Time, message string, from label.Label) entry {
	at = at.Truncate(time.Microsecond)
	e := entry{Update: Update{At: at, Message: message, Label: from}, ts: pycompat.Time(at)}
	e.Key = key(e.ts, message)
	return e
}

// key identifies an update by its content: rewriting and restoring keep it.
func key(ts, message string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(ts + "\x00" + message)) // a hash takes everything
	return fmt.Sprintf("%016x", h.Sum64())
}

func keys(list []entry) []string {
	out := make([]string, 0, len(list))
	for _, e := range list {
		out = append(out, e.Key)
	}
	return out
}

// setOf makes a set of keys.
func setOf(keys []string) map[string]bool {
	set := make(map[string]bool, len(keys))
	for _, k := range keys {
		set[k] = true
	}
	return set
}

// public are the updates of entries.
func public(list []entry) []Update {
	out := make([]Update, 0, len(list))
	for _, e := range list {
		out = append(out, e.Update)
	}
	return out
}

// decode makes entries of a file's elements. What is not an update as we know
// it is shown as it stands rather than lost; only what has no text is left out.
// info gives the time of an element that has none.
func (q *Queue) decode(raw []rawEntry, info os.FileInfo) []entry {
	list := make([]entry, 0, len(raw))
	at := info.ModTime().In(q.zone)
	used := make(map[string]int, len(raw))
	fields := map[string]json.RawMessage{} // one for all: a file may have thousands
	for _, r := range raw {
		clear(fields)
		e, ok := decodeEntry(r, fields, at, q.zone)
		if !ok {
			continue
		}
		// Two updates may be equal to the microsecond: their order tells them apart.
		base := e.Key
		if used[base]++; used[base] > 1 {
			e.Key = base + "-" + strconv.Itoa(used[base])
		}
		at = e.At
		list = append(list, e)
	}
	return list
}

// decodeEntry reads one element, with an empty map for its fields.
func decodeEntry(raw rawEntry, fields map[string]json.RawMessage, fallback time.Time, zone *time.Location) (entry, bool) {
	if json.Unmarshal(raw, &fields) != nil || fields == nil /* null */ {
		return finish(entry{ts: pycompat.Time(fallback)}, text(raw), fallback)
	}
	e := entry{ts: text(fields["ts"])}
	at, err := pycompat.ParseTime(e.ts, zone)
	if err != nil {
		at, e.ts = fallback, pycompat.Time(fallback)
	}
	message := text(fields["message"])
	// The original knows no such key: its sentinels tell their count in words.
	if n := count(fields["dropped"]); n > 0 {
		e.Dropped = n
	} else {
		e.Dropped = sentinelCount(message)
	}
	delete(fields, "ts")
	delete(fields, "message")
	if raw, labelled := fields["label"]; labelled {
		_ = e.Label.UnmarshalText([]byte(text(raw))) // reads any text
	}
	delete(fields, "dropped")
	delete(fields, "label")
	if len(fields) > 0 {
		e.extra = maps.Clone(fields)
	}
	return finish(e, message, at)
}

// count is a JSON number that counts something; anything else is 0.
func count(raw json.RawMessage) int {
	if len(raw) == 0 {
		return 0
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil {
		return 0
	}
	return max(n, 0)
}

func finish(e entry, message string, at time.Time) (entry, bool) {
	e.At, e.Message = at, tidy(message)
	e.Key = key(e.ts, e.Message)
	return e, e.Message != ""
}

// text is a JSON string's value, or the JSON itself of anything else.
func text(raw json.RawMessage) string {
	if len(raw) > 0 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]) // as it is spelled, for a third of the cost
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// sentinelCount reads the count of a sentinel that the original wrote; 0 for
// every other message.
func sentinelCount(message string) int {
	prefix, suffix, _ := strings.Cut(textSentinel, "%d")
	rest, ok := strings.CutPrefix(message, prefix)
	if !ok {
		return 0
	}
	digits, ok := strings.CutSuffix(rest, suffix)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// encode is the file's content: a list of objects on one line, spelled as the
// original spells them, and a line break.
func encode(list []entry) []byte {
	var b strings.Builder
	b.WriteByte('[')
	for i, e := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{"ts": %s, "message": %s`, pycompat.Quote(e.ts), pycompat.Quote(e.Message))
		if e.Dropped > 0 {
			fmt.Fprintf(&b, `, "dropped": %d`, e.Dropped)
		}
		if e.Label != "" {
			fmt.Fprintf(&b, `, "label": %s`, pycompat.Quote(string(e.Label)))
		}
		for _, k := range slices.Sorted(maps.Keys(e.extra)) {
			fmt.Fprintf(&b, ", %s: %s", pycompat.Quote(k), e.extra[k])
		}
		b.WriteByte('}')
	}
	b.WriteString("]\n")
	return []byte(b.String())
}

// Update is one pending update.
type Update struct {
	// Key identifies the entry for discarding: derived from its content.
	Key     string    `json:"key"`
	At      time.Time `json:"at"`
	Message string    `json:"message"` // cleaned
	// Label is set if untrusted text went into the message.
	Label label.Label `json:"label,omitempty"`
	// Dropped is the count of updates that a cap sentinel stands for, else 0.
	Dropped int `json:"dropped"`
}

// Every word of this package that a user or the agent may read.
const (
	textGone      = "that update is no longer pending: it was delivered or discarded"
	textUnsettled = "the previous delivery is not confirmed yet"
	textEmpty     = "an update needs readable text"
	// textSentinel stands for updates that the cap dropped; the original writes
	// the same words.
	textSentinel = "(%d earlier update(s) omitted — cap reached)"
)

// Labels joins the labels of updates.
func Labels(list []Update) label.Label {
	var joined label.Label
	for _, u := range list {
		joined = label.Join(joined, u.Label)
	}
	return joined
}
