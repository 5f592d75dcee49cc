package review

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/routines"
)

const (
	// cardDiff and cardLines limit the diff on a card, in characters and lines: Discord takes
	// 2,000 characters.
	cardDiff  = 1200
	cardLines = 40
	// cardVersion is how much of a version is in the ID of a button.
	cardVersion = 32
	// cardAgain is the pause after a card that could not be sent.
	cardAgain = time.Minute
	// mostCards is how many cards wait to be sent at most.
	mostCards = 50
)

// cards are the messages about edits that wait: those to be sent, and those that are shown.
// A card from before a start keeps its buttons, which say then what has become of the edit.
type cards struct {
	wake chan struct{} // capacity 1

	mu    sync.Mutex
	queue []routines.Task // the newest last
	shown map[string]post.MessageID
}

// put adds the card of a task whose proposal waits. It never blocks.
func (c *cards) put(t routines.Task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.queue = append(c.queue, t); len(c.queue) > mostCards {
		c.queue = c.queue[1:]
	}
	c.signal()
}

// signal wakes Run.
func (c *cards) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// next takes the oldest card.
func (c *cards) next() (t routines.Task, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return t, false
	}
	t, c.queue = c.queue[0], c.queue[1:]
	return t, true
}

// Run sends the cards until ctx ends, and takes the buttons off those of edits that were
// decided. It returns nil.
func (d *Desk) Run(ctx context.Context) error {
	for {
		var again <-chan time.Time
		for _, message := range d.settled() {
			d.o.Retire(ctx, message, textCardDecided)
		}
		if t, ok := d.cards.next(); ok && !d.send(ctx, t) {
			d.cards.put(t)
			again = time.After(cardAgain)
		} else if ok {
			continue
		}
		wake := d.cards.wake
		if again != nil {
			wake = nil
		}
		select {
		case <-wake:
		case <-again:
		case <-ctx.Done():
			return nil
		}
	}
}

// send shows the card of an edit, if it still waits. False means that it has to be sent again.
func (d *Desk) send(ctx context.Context, t routines.Task) (sent bool) {
	if now, ok := d.proposedIn(t.Path); !ok || now.Proposed.Version != t.Proposed.Version {
		return true
	}
	message, err := d.o.Post(ctx, card(t))
	if err != nil && !errors.Is(err, post.ErrUnknown) {
		d.o.Log.Debug("an edit that waits was not shown", "error", err)
		return false
	}
	d.cards.mu.Lock()
	defer d.cards.mu.Unlock()
	if d.cards.shown == nil {
		d.cards.shown = map[string]post.MessageID{}
	}
	d.cards.shown[t.Proposed.Version] = message
	return true
}

// Settle lets Run look at what was decided, or has changed.
func (d *Desk) Settle() { d.cards.signal() }

// settled forgets the cards of edits that do not wait any more, and returns their messages.
func (d *Desk) settled() (list []post.MessageID) {
	waits := map[string]bool{}
	for _, t := range d.proposed() {
		waits[t.Proposed.Version] = true
	}
	d.cards.mu.Lock()
	defer d.cards.mu.Unlock()
	for version, message := range d.cards.shown {
		if !waits[version] {
			delete(d.cards.shown, version)
			list = append(list, message)
		}
	}
	return list
}

// proposed are the tasks and webhooks in whose files an edit waits.
func (d *Desk) proposed() (list []routines.Task) {
	for _, t := range d.o.Index.Set().Tasks() {
		if t.Proposed.Version != "" {
			list = append(list, *t)
		}
	}
	for _, s := range d.o.Hooks.Now().InForce {
		if s.Proposed.Version != "" {
			list = append(list, s.Task)
		}
	}
	return list
}

// proposedIn is the one at a path.
func (d *Desk) proposedIn(rel string) (t routines.Task, ok bool) {
	for _, t := range d.proposed() {
		if t.Path == rel {
			return t, true
		}
	}
	return t, false
}

// card is the message about an edit that waits.
func card(t routines.Task) post.Post {
	diff, more := strings.ReplaceAll(t.Proposed.Diff, "```", "'''"), ""
	lines := strings.Split(clean.Cut(diff, cardDiff), "\n")
	short := strings.Join(lines[:min(len(lines), cardLines)], "\n")
	if short != diff {
		more = textCardCut
	}
	version := t.Proposed.Version[:cardVersion]
	return post.Post{
		Nonce: "edit" + version[:20], Source: t.Title(),
		Text: fmt.Sprintf(textCardText, clean.Line(t.Path), clean.Line(t.Proposed.Why), short, more),
		Embed: &post.Embed{Title: fmt.Sprintf(textCardTitle, t.Title()), Color: "yellow", Buttons: []post.Button{
			{Label: textCardAllow, Style: "success", Action: post.EditAllow + ":" + version},
			{Label: textCardRefuse, Style: "danger", Action: post.EditRefuse + ":" + version},
		}},
	}
}

// Pressed carries out a button of a card; version is as much of it as the button knows.
func (d *Desk) Pressed(ctx context.Context, allow bool, version string) (command.Outcome, error) {
	for _, t := range d.proposed() {
		switch whole := t.Proposed.Version; {
		case len(version) < cardVersion || !strings.HasPrefix(whole, version):
		case allow:
			return d.allow(ctx, command.AllowTask{ID: t.Path, Version: whole})
		default:
			return d.refuse(ctx, command.RefuseEdit{ID: t.Path, Version: whole})
		}
	}
	return command.Outcome{}, errors.New(textEditGone)
}
