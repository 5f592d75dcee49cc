package session

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
)

// Standing says whether a message can be traced to its fork.
type Standing int

// A message is Unknown unless it was recorded, Live for seven days, then Expired.
const (
	Unknown Standing = iota
	Live
	Expired
)

// ForkMessage is a message that a fork sent to the user.
type ForkMessage struct {
	ID      post.MessageID
	Session string    // of the fork, resumed by a reply
	Parent  string    // the main session it branched off from; empty when isolated
	At      time.Time // when it was recorded, in UTC
}

// ForkMessages records which fork sent which message, so that a reply continues that
// fork: state/fork_messages.json. Its methods are safe for concurrent use, also by
// several processes of the bot. Use NewForkMessages.
//
// The original's message ids are whole numbers. Any other id, such as one of the
// transcript, is stored in a key "id" next to "message_id": 0, which no message has. The
// original preserves such a record and never matches it.
type ForkMessages struct{ keeper }

// NewForkMessages returns the records of a data directory without reading or writing
// anything. A nil log discards.
func NewForkMessages(d *store.Dir, log *slog.Logger) *ForkMessages {
	return &ForkMessages{newKeeper(d, log, "fork_messages")}
}

// Record adds the messages of one fork; parent is empty if the fork was isolated. It
// removes records older than fourteen days. Without messages it writes nothing.
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
		// For another seven days, a reply learns why it continues nothing.
		list = slices.DeleteFunc(list, func(raw json.RawMessage) bool { return stale(raw, now.Add(-keepFor)) })
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

// Lookup finds the fork that sent a message. It never writes.
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

// readMessage reads one record; false for anything else.
func readMessage(raw json.RawMessage) (f ForkMessage, ts float64, ok bool) {
	o := asObject(raw)
	ts, hasTime := o.time("ts")
	f.Session, ok = o.text("fork_session_id")
	if !hasTime || !ok {
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

// spellMessage encodes one record as the original does.
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

// isWhole reports whether an id is a positive number as Discord writes them, for which
// text and number are equivalent.
func isWhole(id string) bool {
	return id != "" && len(id) <= 20 && id[0] != '0' && strings.Trim(id, "0123456789") == ""
}

// encodeList encodes a list of records on one line, with a line break.
func encodeList(list []json.RawMessage) []byte {
	records := make([]string, len(list))
	for i, raw := range list {
		records[i] = string(raw)
	}
	return []byte("[" + strings.Join(newest(records), ", ") + "]\n")
}
