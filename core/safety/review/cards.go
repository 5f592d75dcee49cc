package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/visible"
	"ollimbot/core/command"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/routines"
)

const (
	// cardDiff limits the diff on a card, in UTF-16 units: Discord takes 2,000.
	cardDiff = 1200
	// cardVersion is how many characters of a version are in the ID of a button.
	cardVersion = 32
	// cardAgain is the pause after a card that could not be sent.
	cardAgain = time.Minute
	// mostCards is the maximum number of cards waiting to be sent, and of cards remembered.
	mostCards = 50
)

// cards are the messages about what awaits approval: those to be sent, and those that are shown.
type cards struct {
	wake chan struct{} // capacity 1

	mu    sync.Mutex
	queue []queued // the newest last
	shown []shown  // the newest last
	// turns are when the last cards about servers' tools were or will be sent, by ID.
	turns map[string]time.Time
}

// queued is a card to be sent once it is due.
type queued struct {
	held
	due time.Time
}

// put queues a card. It replaces one about an earlier version of the same thing, and keeps its turn.
// It never blocks.
func (c *cards) put(h held, due time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.queue, func(q queued) bool { return q.file == h.file }); i >= 0 {
		if old := c.queue[i].due; old.Before(due) {
			due = old
		}
		c.queue = slices.Delete(c.queue, i, i+1)
	}
	if c.queue = append(c.queue, queued{h, due}); len(c.queue) > mostCards {
		c.queue = c.queue[1:]
	}
	c.signal()
}

// turn returns when the next card about a server's tools may be sent; zero means now.
func (c *cards) turn(h held, now time.Time) (due time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.turns[h.file]
	switch {
	case last.After(now): // one is waiting for its turn
		return last
	case last.Add(toolsPause).After(now):
		due = last.Add(toolsPause)
		c.turns[h.file] = due
		return due
	case c.turns == nil:
		c.turns = map[string]time.Time{}
	}
	c.turns[h.file] = now
	return due
}

// signal wakes Run.
func (c *cards) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// next removes and returns the oldest card that is due. Without one it returns when the next card
// is due.
func (c *cards) next(now time.Time) (h held, ok bool, due time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, q := range c.queue {
		if !q.due.After(now) {
			c.queue = slices.Delete(c.queue, i, i+1)
			return q.held, true, due
		}
		due = earlier(due, q.due)
	}
	return h, false, due
}

// Run sends the cards until ctx ends, and removes the buttons of those that were decided, including
// cards from before a restart. It returns nil.
func (d *Desk) Run(ctx context.Context) error {
	for {
		again := d.retire(ctx)
		if next := d.endApprovals(time.Now()); !next.IsZero() {
			again = earlier(again, next)
		}
		h, ok, due := d.nextCard(time.Now())
		if ok {
			if !d.send(ctx, h) {
				d.cards.put(h, time.Now().Add(cardAgain))
			}
			continue
		}
		if !again.IsZero() {
			due = earlier(due, again)
		}
		var timer <-chan time.Time
		if !due.IsZero() {
			timer = time.After(time.Until(due))
		}
		select {
		case <-d.cards.wake:
		case <-timer:
		case <-ctx.Done():
			return nil
		}
	}
}

// nextCard returns the next card that is due and whose file is still waiting in that version. A new
// version of the same thing comes before or after it, never in between, so it takes over the turn.
func (d *Desk) nextCard(now time.Time) (h held, ok bool, due time.Time) {
	d.judging.Lock()
	defer d.judging.Unlock()
	for {
		if h, ok, due = d.cards.next(now); !ok {
			return h, ok, due
		}
		if one, waits := d.heldIn(h.file); waits && one.digest == h.digest {
			return h, true, due
		}
	}
}

// send shows a card. sent is false if it has to be sent again.
func (d *Desk) send(ctx context.Context, h held) (sent bool) {
	diff, ok := d.diff(h)
	if !ok {
		return true
	}
	p := card(h, diff)
	p.Kind, p.Cause = post.KindNews, h.file
	message, err := d.o.Post(ctx, p)
	if err != nil && !errors.Is(err, post.ErrUnknown) {
		d.o.Log.Debug("the card of a waiting file was not shown", "error", err)
		return false
	}
	if message != "" {
		d.show(shown{Version: h.digest, File: h.file, Message: message, At: time.Now().Round(0)})
	}
	return true
}

// Settle makes Run check which files were decided or have changed.
func (d *Desk) Settle() { d.cards.signal() }

// diff returns the change that allowing a file would make: an edit, or all of a new file. ok is
// false if the file has changed since.
func (d *Desk) diff(h held) (diff string, ok bool) {
	if h.task.Script != "" && !h.edits() {
		return d.o.Files.Scripts.Diff(h.task.Check), true
	}
	data, err := d.o.Dir.Read(h.file)
	switch {
	case h.edits():
		diff = h.task.Proposed.Diff
	case err != nil || routines.Digest(data) != h.digest:
		return "", false
	default:
		diff = "+" + strings.ReplaceAll(routines.Pictured(data), "\n", "\n+")
	}
	return diff + d.script(h, data), true
}

// script returns the script that a waiting routine would run before each fire, to follow the picture
// of its file. What stays as it was is not shown.
func (d *Desk) script(h held, data []byte) string {
	if h.task.Kind != routines.KindRoutine {
		return ""
	}
	t, _ := routines.ParseRoutine(h.file, data)
	if t.Check == "" || h.edits() && t.Check == h.task.Check && t.Says == h.task.Says {
		return ""
	}
	if shown := d.o.Files.Scripts.Shown(t.Check); shown != "" {
		return "\n" + shown
	}
	return ""
}

// card returns the message about a file that waits for approval.
func card(h held, diff string) post.Post {
	more, whole := "", ""
	short, cut := visible.Excerpt(visible.Fenced(diff), cardDiff)
	if cut {
		more, whole = textCardCut, diff
	}
	version := h.digest[:cardVersion]
	says, title := fmt.Sprintf(textCardNew, clean.Line(h.why)), fmt.Sprintf(textCardTitleNew, h.title)
	no := post.Button{Label: textCardWait, Style: "secondary", Action: "dismiss:"}
	if h.task.Script != "" {
		says, title = fmt.Sprintf(textCardScript, clean.Line(h.why)), fmt.Sprintf(textCardTitleScript, h.title)
	}
	footer := clean.Line(h.file)
	if strings.HasPrefix(h.file, toolsPrefix) { // no file
		footer = ""
	}
	if h.edits() {
		says, title = h.task.Proposed.Says(), h.task.Proposed.Title(h.title)
		no = post.Button{Label: textCardRefuse, Style: "danger", Action: post.EditRefuse + ":" + version}
	}
	return post.Post{
		Nonce: "edit" + version[:20], Source: h.title, Whole: whole,
		Text: fmt.Sprintf(textCardText, clean.Line(says), short, more),
		Embed: &post.Embed{Title: title, Color: "yellow", Footer: footer, Buttons: []post.Button{
			{Label: textCardAllow, Style: "success", Action: post.EditAllow + ":" + version}, no,
		}},
	}
}

// Pressed handles a button of a card. version is the part of it in the button's ID.
func (d *Desk) Pressed(ctx context.Context, allow bool, version string) (command.Outcome, error) {
	for _, h := range d.held() {
		switch {
		case len(version) < cardVersion || !strings.HasPrefix(h.digest, version):
		case allow:
			return d.allow(ctx, command.AllowTask{ID: h.file, Version: h.digest})
		default:
			return d.refuse(ctx, command.RefuseEdit{ID: h.file, Version: h.digest})
		}
	}
	return command.Outcome{}, errors.New(textEditGone)
}

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
