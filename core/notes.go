package core

import (
	"ollimbot/core/notice"
	"ollimbot/routines"
)

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
		b.notices.Add(notice.Warn, text)
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
	b.notices.Add(notice.Warn, text)
	defer b.notify()
	return b.updates.AppendOnce(b.now(), text, kept)
}
