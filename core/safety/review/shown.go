package review

import (
	"context"
	"slices"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
)

const (
	// ShownFile contains the cards with buttons, so that the buttons can be removed even after a
	// restart.
	ShownFile = store.StateDir + "/cards.json"
	// shownFor is how long a card is remembered.
	shownFor = 7 * 24 * time.Hour
)

// retirePauses are the pauses after each failed attempt to remove the buttons of a card; then the
// next start tries again. The first attempt may come before Discord is connected.
var retirePauses = []time.Duration{2 * time.Second, 10 * time.Second, time.Minute, 10 * time.Minute}

// shown is a card with buttons.
type shown struct {
	Version string         `json:"version"` // version of its subject
	File    string         `json:"file"`
	Message post.MessageID `json:"message"`
	At      time.Time      `json:"at"`

	tries int
	again time.Time // the next try
}

type shownFile struct {
	Cards []shown `json:"cards"`
}

// recall loads the cards from before the restart, and forgets old ones.
func (d *Desk) recall() {
	var f shownFile
	if _, err := d.o.Dir.ReadJSON(ShownFile, &f); err != nil {
		d.o.Log.Warn("cards of the last start keep their buttons", "error", err)
	}
	d.cards.mu.Lock()
	d.cards.shown = slices.DeleteFunc(f.Cards, func(s shown) bool { return time.Since(s.At) > shownFor })
	d.cards.mu.Unlock()
	for _, h := range d.heldServers() {
		if h.task.Proposed.What != "" && !d.isShown(h) { // it started to wait while the bot was not running
			if note := d.announce(h); note != "" {
				d.o.Note(note)
			}
		}
	}
}

func (d *Desk) isShown(h held) bool {
	d.cards.mu.Lock()
	defer d.cards.mu.Unlock()
	return slices.ContainsFunc(d.cards.shown, func(s shown) bool { return s.Version == h.digest })
}

// show records a card that is shown.
func (d *Desk) show(one shown) {
	d.cards.mu.Lock()
	d.cards.shown = append(d.cards.shown, one)
	d.cards.shown = d.cards.shown[max(0, len(d.cards.shown)-mostCards):]
	d.cards.mu.Unlock()
	d.keep()
}

// keep saves the cards. Only Run calls it.
func (d *Desk) keep() {
	d.cards.mu.Lock()
	f := shownFile{Cards: slices.Clone(d.cards.shown)}
	d.cards.mu.Unlock()
	if err := d.o.Dir.WriteJSON(ShownFile, f); err != nil {
		d.o.Log.Warn("cards will keep their buttons after a restart", "error", err)
	}
}

// retire removes the buttons of changes that are no longer waiting, and returns when to try again.
func (d *Desk) retire(ctx context.Context) (again time.Time) {
	waits := map[string]bool{}
	for _, h := range d.held() {
		waits[h.digest] = true
	}
	d.cards.mu.Lock()
	list := slices.Clone(d.cards.shown)
	d.cards.mu.Unlock()
	changed := false
	for i := range list {
		one := &list[i]
		if waits[one.Version] || one.tries > len(retirePauses) {
			continue
		}
		if time.Now().Before(one.again) {
			again = earlier(again, one.again)
			continue
		}
		if err := d.o.Retire(ctx, one.Message, textCardDecided); err == nil {
			one.Version, changed = "", true
			continue
		}
		if one.tries++; one.tries <= len(retirePauses) {
			one.again = time.Now().Add(retirePauses[one.tries-1])
			again = earlier(again, one.again)
		}
	}
	d.cards.mu.Lock()
	d.cards.shown = slices.DeleteFunc(list, func(s shown) bool { return s.Version == "" })
	d.cards.mu.Unlock()
	if changed {
		d.keep()
	}
	return again
}

// earlier returns the earlier of two times; zero means none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
