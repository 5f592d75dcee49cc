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
	"ollimbot/core/talk/post"
)

// Standing says whether a message leads back to its fork.
type Standing int

// A message is Unknown to the map, Live for seven days, then Expired.
const (
	Unknown Standing = iota
	Live
	Expired
)

// ForkMessage is a message that a fork sent to the user.
type ForkMessage struct {
	ID      post.MessageID
	Session string    // of the fork, which a reply resumes
	Parent  string    // the main session that it came from; empty when isolated
	At      time.Time // when it was recorded, in UTC
}

// ForkMessages remembers which fork sent which message, so that a
// reply to it goes on where the fork ended: state/fork_messages.json. All
// methods are safe for several goroutines, and beside other processes of ours.
// Use NewForkMessages.
//
// The original's message ids are whole numbers. An id that is none, such as one
// of the transcript, stands in a key "id" beside "message_id": 0, which no
// message has there: the original keeps such a record and never finds it.
type ForkMessages struct{ keeper }

// NewForkMessages is the map of a data directory. Nothing is read or written
// yet; a nil log is silent.
func NewForkMessages(d *store.Dir, log *slog.Logger) *ForkMessages {
	return &ForkMessages{newKeeper(d, log, "fork_messages")}
}

// Record remembers the messages of one fork; parent is empty when it was
// isolated. Records older than seven days go. No messages write nothing.
func (m *ForkMessages) Record(now time.Time, ids []post.MessageID, fork, parent string) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id post.MessageID) bool { return id == "" })
	if len(ids) == 0 {
		return nil
	}
	if err := checkFork(fork, parent); err != nil {
		return fmt.Errorf("remember a fork's messages: %w", err)
	}
	err := m.dir.WithLock(m.turn, func() error {
		var list []json.RawMessage
		if err := m.load(&list); err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(raw json.RawMessage) bool { return stale(raw, now) })
		for _, id := range ids {
			list = append(list, spellMessage(ForkMessage{ID: id, Session: fork, Parent: parent, At: now}))
		}
		return m.dir.Write(m.file, encodeList(list))
	})
	if err != nil {
		return fmt.Errorf("remember a fork's messages: %w", err)
	}
	return nil
}

// Lookup finds the fork that sent a message. An expired one is told apart from
// one that no fork sent. It never writes.
func (m *ForkMessages) Lookup(now time.Time, id post.MessageID) (ForkMessage, Standing) {
	var list []json.RawMessage
	m.peek(&list)
	if id == "" {
		return ForkMessage{}, Unknown
	}
	for _, raw := range list {
		f, ts, ok := readMessage(raw)
		if !ok || f.ID != id {
			continue
		}
		if fresh(ts, now) {
			return f, Live
		}
		return f, Expired
	}
	return ForkMessage{}, Unknown
}

func checkFork(fork, parent string) error {
	if parent == "" {
		return checkID(fork)
	}
	if err := checkID(parent); err != nil {
		return err
	}
	return checkID(fork)
}

// readMessage reads one record; false for what is none.
func readMessage(raw json.RawMessage) (f ForkMessage, ts float64, ok bool) {
	o, isObject := asObject(raw)
	ts, hasTime := o.time("ts")
	f.Session, ok = o.text("fork_session_id")
	if !isObject || !hasTime || !ok {
		return f, ts, false
	}
	f.Parent, _ = o.text("parent_session_id")
	f.At = time.UnixMicro(int64(math.Round(ts * 1e6))).UTC()
	if id := string(o["message_id"]); isWhole(id) {
		f.ID = post.MessageID(id)
	} else if id, ours := o.text("id"); ours {
		f.ID = post.MessageID(id)
	}
	return f, ts, f.ID != "" && checkFork(f.Session, f.Parent) == nil
}

// spellMessage is one record as the original spells it.
func spellMessage(f ForkMessage) json.RawMessage {
	o := object{
		"message_id": json.RawMessage("0"), "fork_session_id": rawText(f.Session),
		"parent_session_id": json.RawMessage("null"), "ts": rawTime(stamp(f.At)),
	}
	if f.Parent != "" {
		o["parent_session_id"] = rawText(f.Parent)
	}
	if isWhole(string(f.ID)) {
		o["message_id"] = json.RawMessage(f.ID)
	} else {
		o["id"] = rawText(string(f.ID))
	}
	return json.RawMessage(o.spell("message_id", "fork_session_id", "parent_session_id", "ts"))
}

// isWhole reports whether an id is a number above zero as Discord writes them,
// so that text and number stand for the same.
func isWhole(id string) bool {
	return id != "" && len(id) <= 20 && id[0] != '0' && strings.Trim(id, "0123456789") == ""
}

// encodeList is a list of records on one line, and a line break.
func encodeList(list []json.RawMessage) []byte {
	records := make([]string, len(list))
	for i, raw := range list {
		records[i] = string(raw)
	}
	return []byte("[" + strings.Join(newest(records), ", ") + "]\n")
}

const (
	// keepFor is how long inquiries and messages of forks are good for.
	keepFor = 7 * 24 * time.Hour
	// maxKept bounds each of the two files in bytes, far below what can be read
	// back; the oldest entries make room.
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

// peek reads the file into v for looking. What cannot be read counts as empty
// and stays where it is.
func (k *keeper) peek(v any) {
	if _, err := k.dir.PeekJSON(k.file, v); k.trouble.News(err) {
		k.log.Warn("state file was not read", "file", k.file, "problem", err)
	}
}

// load reads the file into v for a change. A file that is something else is set
// aside; any other trouble is an error, since a write would lose the content.
func (k *keeper) load(v any) error {
	_, err := k.dir.LoadJSON(k.file, v, k.log)
	return err
}

// stamp is a time as the original has it in these files: seconds since 1970.
func stamp(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// fresh reports whether an entry of that time is still good at now. Seven days
// to the moment are over.
func fresh(ts float64, now time.Time) bool { return ts > stamp(now)-keepFor.Seconds() }

// since is the time of an entry, 0 where it has none.
func since(raw json.RawMessage) float64 {
	o, _ := asObject(raw)
	ts, _ := o.time("ts")
	return ts
}

// stale reports whether an entry's time is over. What has no time was written by
// somebody else and is kept.
func stale(raw json.RawMessage, now time.Time) bool {
	o, _ := asObject(raw)
	ts, ok := o.time("ts")
	return ok && !fresh(ts, now)
}

// object is a JSON object whose unknown keys are kept.
type object map[string]json.RawMessage

// asObject reads an object; false for anything else.
func asObject(raw json.RawMessage) (object, bool) {
	var o object
	err := json.Unmarshal(raw, &o)
	return o, err == nil && o != nil
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

// spell is the object on one line: the keys in order first, the others by name.
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

// rawText is a text as JSON.
func rawText(s string) json.RawMessage { return json.RawMessage(pycompat.Quote(s)) }

// rawTime is a number of seconds as JSON.
func rawTime(ts float64) json.RawMessage { return json.RawMessage(pycompat.Float(ts)) }
