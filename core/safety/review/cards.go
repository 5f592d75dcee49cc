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
	// cardVersion is how many characters of a version are in the ID of a button.
	cardVersion = 32
	// cardAgain is the pause after a card that could not be sent.
	cardAgain = time.Minute
	// mostCards is the maximum number of cards waiting to be sent.
	mostCards = 50
)

// cards are the messages about files that wait for approval: those to be sent, and those that are
// shown. A card from before a restart keeps its buttons; pressing one then reports the state of the
// file.
type cards struct {
	wake chan struct{} // capacity 1

	mu    sync.Mutex
	queue []held // newest last
	shown map[string]post.MessageID
}

// put queues the card of a file that waits for approval. It never blocks.
func (c *cards) put(h held) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.queue = append(c.queue, h); len(c.queue) > mostCards {
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

// next removes and returns the oldest card.
func (c *cards) next() (h held, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return h, false
	}
	h, c.queue = c.queue[0], c.queue[1:]
	return h, true
}

// Run sends the cards until ctx ends, and removes the buttons of files that were decided. It
// returns nil.
func (d *Desk) Run(ctx context.Context) error {
	for {
		var again <-chan time.Time
		for _, message := range d.settled() {
			d.o.Retire(ctx, message, textCardDecided)
		}
		if h, ok := d.cards.next(); ok && !d.send(ctx, h) {
			d.cards.put(h)
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

// send shows the card of a file if the file is still waiting. sent is false if it has to be sent
// again.
func (d *Desk) send(ctx context.Context, h held) (sent bool) {
	if now, ok := d.heldIn(h.file); !ok || now.digest != h.digest {
		return true
	}
	diff, ok := d.diff(h)
	if !ok {
		return true
	}
	message, err := d.o.Post(ctx, card(h, diff))
	if err != nil && !errors.Is(err, post.ErrUnknown) {
		d.o.Log.Debug("a file that waits was not shown", "error", err)
		return false
	}
	d.cards.mu.Lock()
	defer d.cards.mu.Unlock()
	if d.cards.shown == nil {
		d.cards.shown = map[string]post.MessageID{}
	}
	d.cards.shown[h.digest] = message
	return true
}

// Settle makes Run check which files were decided or have changed.
func (d *Desk) Settle() { d.cards.signal() }

// settled forgets the cards of files that are no longer waiting, and returns their messages.
func (d *Desk) settled() (list []post.MessageID) {
	waits := map[string]bool{}
	for _, h := range d.held() {
		waits[h.digest] = true
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

// diff returns the change that allowing a file would make: an edit, or all of a new file. ok is
// false if the file has changed since.
func (d *Desk) diff(h held) (diff string, ok bool) {
	if h.edits() {
		return h.task.Proposed.Diff, true
	}
	data, err := d.o.Dir.Read(h.file)
	if err != nil || routines.Digest(data) != h.digest {
		return "", false
	}
	return "+" + strings.ReplaceAll(strings.TrimRight(clean.Text(string(data)), "\n"), "\n", "\n+"), true
}

// card returns the message about a file that waits for approval.
func card(h held, diff string) post.Post {
	diff, more := strings.ReplaceAll(diff, "```", "'''"), ""
	lines := strings.Split(clean.Cut(diff, cardDiff), "\n")
	short := strings.Join(lines[:min(len(lines), cardLines)], "\n")
	if short != diff {
		more = textCardCut
	}
	version := h.digest[:cardVersion]
	says, title := fmt.Sprintf(textCardNew, clean.Line(h.why)), textCardTitleNew
	no := post.Button{Label: textCardWait, Style: "secondary", Action: "dismiss:"}
	if h.edits() {
		says, title = h.task.Proposed.Says(), textCardTitle
		no = post.Button{Label: textCardRefuse, Style: "danger", Action: post.EditRefuse + ":" + version}
	}
	return post.Post{
		Nonce: "edit" + version[:20], Source: h.title,
		Text: fmt.Sprintf(textCardText, clean.Line(h.file), clean.Line(says), short, more),
		Embed: &post.Embed{Title: fmt.Sprintf(title, h.title), Color: "yellow", Buttons: []post.Button{
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
