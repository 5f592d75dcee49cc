package core

import (
	"sync"

	"ollimbot/core/clean"
	"ollimbot/routines"
)

// keptNotices is how many notices a dashboard can look back on.
const keptNotices = 100

// noticeBoard keeps the newest notices. The zero value is ready.
type noticeBoard struct {
	mu sync.Mutex
	// list is never changed in place, so that snapshots may share it.
	list []Notice
	seq  uint64
}

func (n *noticeBoard) all() []Notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.list
}

// notice tells the user something at once, as a toast.
func (b *Bot) notice(level Level, text string) {
	n := &b.notices
	n.mu.Lock()
	n.seq++
	old := n.list
	if len(old) >= keptNotices {
		old = old[len(old)-keptNotices+1:]
	}
	n.list = append(append(make([]Notice, 0, len(old)+1), old...),
		Notice{Seq: n.seq, At: b.now(), Level: level, Text: clean.Line(b.o.Book.Redact(text))})
	n.mu.Unlock()
	b.notify()
}

// note is what the schedule has to tell: a pending update for the main session
// and a notice for the user (missed routines, invalid files, skipped fires).
func (b *Bot) note(text string) {
	if err := b.leave(text, nil); err != nil {
		b.log.Error("a pending update could not be saved", "error", err)
	}
}

// noteTroubles keeps the update about files that are not in force up to date: one
// that has been mended before anybody was told is no longer told of.
func (b *Bot) noteTroubles(kind routines.Kind, words func(unread bool) string) {
	if text := words(false); text != "" {
		b.notice(Warn, text)
	}
	if err := b.updates.Replace(b.now(), string(kind)+" files", words); err != nil {
		b.log.Error("a pending update about files could not be saved", "error", err)
	}
	b.notify()
}

// leave is note for whoever tries again after an error or a crash. What was said
// before and is not delivered yet is not said twice; kept, which may be nil, is
// called when it is on the disk and before a turn can take it.
func (b *Bot) leave(text string, kept func()) error {
	b.notice(Warn, text)
	defer b.notify()
	return b.updates.AppendOnce(b.now(), text, kept)
}
