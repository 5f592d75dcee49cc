package session

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"ollimbot/core/safety/label"
)

const (
	labelsName = "session_labels" // state/session_labels.json
	// maxLabeledSessions and maxSpans limit the file to the newest entries.
	maxLabeledSessions = 2000
	maxSpans           = 20
)

// Labels records which sessions have read untrusted text, and until when the user had not
// answered it. It outlives the program, because sessions do. A main session without an id
// is "". The methods are safe for concurrent use, also by several processes of the bot.
type Labels struct{ keeper }

// span is a period during which a session had a label. An open span has no end.
type span struct {
	Label label.Label `json:"label"`
	From  time.Time   `json:"from"`
	To    time.Time   `json:"to,omitzero"`
}

// Labels returns the labels of all sessions.
func (s *Store) Labels() *Labels { return &Labels{s.labels} }

// Of returns the current label of a session, or "".
func (l *Labels) Of(id string) label.Label {
	last := l.last(l.read()[id])
	if !last.To.IsZero() {
		return ""
	}
	return last.Label
}

// Since returns when a session got its current label; zero if it has none.
func (l *Labels) Since(id string) time.Time {
	last := l.last(l.read()[id])
	if last.closed() {
		return time.Time{}
	}
	return last.From
}

// At returns the label that a session had at a time, or ever if the time is unknown. What
// was said then came from labelled text, even if the user has answered it since.
func (l *Labels) At(id string, at time.Time) label.Label { return l.Past()(id, at) }

// Past is At for many lookups: the file is read once.
func (l *Labels) Past() func(id string, at time.Time) label.Label {
	all := l.read()
	return func(id string, at time.Time) label.Label {
		for _, s := range slices.Backward(all[id]) {
			if at.IsZero() || !at.Before(s.From) && (s.To.IsZero() || at.Before(s.To)) {
				return s.Label
			}
		}
		return ""
	}
}

// Read records that a session is about to read labelled text.
func (l *Labels) Read(now time.Time, id string, from label.Label) error {
	return l.change(func(all map[string][]span) bool {
		last := l.last(all[id])
		if from == "" || !last.closed() {
			return false
		}
		all[id] = append(all[id], span{Label: from, From: now.Round(0).UTC()})
		return true
	})
}

// Clear records that the user has seen and answered what a session read.
func (l *Labels) Clear(now time.Time, id string) error {
	return l.change(func(all map[string][]span) bool {
		if l.last(all[id]).closed() {
			return false
		}
		end(all[id], now)
		return true
	})
}

// end closes the last span. After the clock was set back, the span must still not end
// before its start.
func end(list []span, now time.Time) {
	last := &list[len(list)-1]
	last.To = last.From
	if now.After(last.From) {
		last.To = now.Round(0).UTC()
	}
}

// Follow records that a session continues under another id, for example after a
// compaction.
func (l *Labels) Follow(now time.Time, from, to string) error {
	return l.change(func(all map[string][]span) bool {
		last := l.last(all[from])
		if from == to || last.closed() {
			return false
		}
		end(all[from], now)
		if l.last(all[to]).closed() {
			all[to] = append(all[to], span{Label: last.Label, From: now.Round(0).UTC()})
		}
		if from == "" {
			delete(all, from)
		}
		return true
	})
}

// closed reports whether a new span may start.
func (s span) closed() bool { return s.Label == "" || !s.To.IsZero() }

func (*Labels) last(list []span) span {
	if len(list) == 0 {
		return span{}
	}
	return list[len(list)-1]
}

func (l *Labels) read() map[string][]span {
	all := map[string][]span{}
	l.peek(&all)
	return all
}

func (l *Labels) change(do func(map[string][]span) bool) error {
	err := l.dir.WithLock(l.turn, func() error {
		all := map[string][]span{}
		if err := l.load(&all); err != nil {
			return err
		}
		if all == nil { // the file contained "null"
			all = map[string][]span{}
		}
		if !do(all) {
			return nil
		}
		l.bound(all)
		return l.dir.WriteJSON(l.file, all)
	})
	if err != nil {
		return fmt.Errorf("record what a session has read: %w", err)
	}
	return nil
}

// bound removes the oldest spans and sessions.
func (l *Labels) bound(all map[string][]span) {
	ids := make([]string, 0, len(all))
	for id, list := range all {
		all[id] = list[max(0, len(list)-maxSpans):]
		ids = append(ids, id)
	}
	if len(ids) <= maxLabeledSessions {
		return
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(l.last(all[a]).From.Compare(l.last(all[b]).From), cmp.Compare(a, b))
	})
	for _, id := range ids[:len(ids)-maxLabeledSessions] {
		delete(all, id)
	}
}
