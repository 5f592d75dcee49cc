// Package updates stores the messages of background runs for the main session: pending
// updates in state/pending_updates.json. Runs append them, forks read them, and a main
// turn claims them; its delivery is on disk from before the message is sent until it is
// settled. One lock orders the queue and the delivery, in this process and across
// processes: no update is lost or delivered twice.
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

	"ollimbot/core/base/clean"
	"ollimbot/core/base/pycompat"
	"ollimbot/core/safety/label"
)

// rawEntry is one element of the file, valid or not.
type rawEntry = json.RawMessage

// entry is an update with the other fields of its element in the file.
type entry struct {
	Update
	// ts is the time as written in the file, so that a rewrite preserves it.
	ts string
	// extra are unknown keys, which are preserved.
	extra map[string]json.RawMessage
}

func newEntry(at time.Time, message string, by Source, from label.Label) entry {
	at = at.Truncate(time.Microsecond)
	e := entry{Update: Update{At: at, Message: message, Source: by, Label: from}, ts: pycompat.Time(at)}
	e.Key = key(e.ts, message)
	return e
}

// key derives an update's key from its content, so that it survives rewriting and
// restoring.
func key(ts, message string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(ts + "\x00" + message)) // a hash never fails
	return fmt.Sprintf("%016x", h.Sum64())
}

func keys(list []entry) []string {
	out := make([]string, 0, len(list))
	for _, e := range list {
		out = append(out, e.Key)
	}
	return out
}

// setOf returns a set of keys.
func setOf(keys []string) map[string]bool {
	set := make(map[string]bool, len(keys))
	for _, k := range keys {
		set[k] = true
	}
	return set
}

// public returns the updates of entries.
func public(list []entry) []Update {
	out := make([]Update, 0, len(list))
	for _, e := range list {
		out = append(out, e.Update)
	}
	return out
}

// decode converts the elements of a file to entries. An element of another form is shown
// as is rather than lost; only elements without text are left out. info provides the time
// for elements without one.
func (q *Queue) decode(raw []rawEntry, info os.FileInfo) []entry {
	list := make([]entry, 0, len(raw))
	at := info.ModTime().In(q.zone)
	used := make(map[string]int, len(raw))
	fields := map[string]json.RawMessage{} // shared by all elements: a file may have thousands
	for _, r := range raw {
		clear(fields)
		e, ok := decodeEntry(r, fields, at, q.zone)
		if !ok {
			continue
		}
		// Two updates may be equal to the microsecond: their order distinguishes them.
		base := e.Key
		if used[base]++; used[base] > 1 {
			e.Key = base + "-" + strconv.Itoa(used[base])
		}
		at = e.At
		list = append(list, e)
	}
	return list
}

// decodeEntry decodes one element, using an empty map for its fields.
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
	// The original has no such key: its sentinels contain the count as text.
	if n := count(fields["dropped"]); n > 0 {
		e.Dropped = n
	} else {
		e.Dropped = sentinelCount(message)
	}
	delete(fields, "ts")
	delete(fields, "message")
	if raw, labelled := fields["label"]; labelled {
		_ = e.Label.UnmarshalText([]byte(text(raw))) // accepts any text
	}
	if raw, there := fields["run"]; there {
		e.Run = clean.Line(text(raw))
	}
	if raw, there := fields["from"]; there {
		e.From = clean.Line(text(raw))
	}
	delete(fields, "run")
	delete(fields, "from")
	delete(fields, "dropped")
	delete(fields, "label")
	if len(fields) > 0 {
		e.extra = maps.Clone(fields)
	}
	return finish(e, message, at)
}

// count returns a JSON number that is a valid count, and 0 for anything else.
func count(raw json.RawMessage) int {
	if len(raw) == 0 { // most updates have none, and an error takes memory
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

// text returns the value of a JSON string, or the JSON itself for anything else.
func text(raw json.RawMessage) string {
	if len(raw) > 0 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]) // without decoding, at a third of the cost
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// sentinelCount returns the count of a sentinel written by the original program, and 0
// for every other message.
func sentinelCount(message string) int {
	prefix, suffix, _ := strings.Cut(textSentinel, "%d")
	rest, begins := strings.CutPrefix(message, prefix)
	digits, ends := strings.CutSuffix(rest, suffix)
	if !begins || !ends {
		return 0
	}
	return count(json.RawMessage(digits))
}

// encode returns the file's content: a list of objects on one line, formatted as the
// original does, with a final line break.
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
		if e.Run != "" {
			fmt.Fprintf(&b, `, "run": %s`, pycompat.Quote(e.Run))
		}
		if e.From != "" {
			fmt.Fprintf(&b, `, "from": %s`, pycompat.Quote(e.From))
		}
		for _, k := range slices.Sorted(maps.Keys(e.extra)) {
			fmt.Fprintf(&b, ", %s: %s", pycompat.Quote(k), e.extra[k])
		}
		b.WriteByte('}')
	}
	b.WriteString("]\n")
	return []byte(b.String())
}

// Source is what left an update. It is empty for the program itself, and for an update of the original program or an
// older version of this one.
type Source struct {
	Run  string `json:"run,omitempty"`  // the ID of a background run
	From string `json:"from,omitempty"` // the title of its task, or the topic of an interactive fork; cleaned
}

// Update is one pending update.
type Update struct {
	// Key identifies the entry for discarding. It is derived from the content.
	Key     string    `json:"key"`
	At      time.Time `json:"at"`
	Message string    `json:"message"` // cleaned
	Source
	// Label is set if untrusted text went into the message.
	Label label.Label `json:"label,omitempty"`
	// Dropped is the number of dropped updates that a sentinel stands for, else 0.
	Dropped int `json:"dropped"`
}

// All texts of this package for the user or the agent.
const (
	textGone      = "that update is no longer pending: it was delivered or discarded"
	textUnsettled = "the previous delivery is not confirmed yet"
	textEmpty     = "an update needs readable text"
	// textSentinel stands for updates dropped because of the cap; the original uses the same
	// words.
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
