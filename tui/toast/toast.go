// Package toast keeps the dashboard's messages to its user: the newest ones as toasts,
// which show for a few seconds, and the last 200 in a list. It must not know where or how
// toasts are drawn.
package toast

import (
	"slices"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/talk/notice"
)

// Toast is one message.
type Toast struct {
	At    time.Time
	Level notice.Level
	Text  string // one line

	shown time.Time // when it began to show
	over  bool      // it shows no longer
	reply bool      // it answers the user; the next reply replaces it
}

// times are how long a toast shows, and after how long the next key ends it because it
// has been read.
var times = map[notice.Level]struct{ long, read time.Duration }{
	notice.Info:  {4 * time.Second, 1500 * time.Millisecond},
	notice.Warn:  {8 * time.Second, 3 * time.Second},
	notice.Alert: {8 * time.Second, 3 * time.Second},
}

func (t Toast) shows(now time.Time) bool { return !t.over && now.Sub(t.shown) < times[t.Level].long }

const (
	kept  = 200
	fresh = 10 * time.Second // older notices are listed but do not show
)

// List is the messages, oldest first. The zero List is ready to use.
type List struct {
	all []Toast
	seq uint64 // of the last notice heard
}

// Reply answers the user. It replaces the reply before it: what that one said, "u undoes",
// may no longer be true.
func (l *List) Reply(now time.Time, level notice.Level, text string) {
	l.end(now, func(t Toast) bool { return t.reply && t.Level == notice.Info })
	l.add(now, Toast{At: now, Level: level, Text: text, reply: true})
}

// Report says something that is no reply.
func (l *List) Report(now time.Time, level notice.Level, text string) {
	l.add(now, Toast{At: now, Level: level, Text: text})
}

// Record lists a message that is shown elsewhere.
func (l *List) Record(now time.Time, level notice.Level, text string) {
	l.add(now, Toast{At: now, Level: level, Text: text, over: true})
}

// Hear reports the notices of a snapshot that are new.
func (l *List) Hear(now time.Time, notices []notice.Notice, snapshot time.Time) {
	for _, n := range notices {
		if n.Seq > l.seq {
			l.seq = n.Seq
			l.add(now, Toast{At: n.At, Level: n.Level, Text: n.Text, over: snapshot.Sub(n.At) > fresh})
		}
	}
}

func (l *List) add(now time.Time, t Toast) {
	t.shown, t.Text = now, clean.Line(t.Text)
	l.all = append(l.all, t)
	l.all = slices.Delete(l.all, 0, max(0, len(l.all)-kept))
}

func (l *List) end(now time.Time, ends func(Toast) bool) {
	for i, t := range l.all {
		l.all[i].over = t.over || t.shows(now) && ends(t)
	}
}

// Showing are the toasts that show now, oldest first.
func (l *List) Showing(now time.Time) (out []Toast) {
	for _, t := range l.all {
		if t.shows(now) {
			out = append(out, t)
		}
	}
	return out
}

// Read ends the toasts that the user has had time to read.
func (l *List) Read(now time.Time) {
	l.end(now, func(t Toast) bool { return now.Sub(t.shown) >= times[t.Level].read })
}

// Dismiss ends every toast.
func (l *List) Dismiss(now time.Time) { l.end(now, func(Toast) bool { return true }) }

// All are the messages, oldest first.
func (l *List) All() []Toast { return l.all }
