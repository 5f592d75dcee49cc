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

// cards are the messages about files that wait: those to be sent, and those that are shown.
// A card from before a start keeps its buttons, which say then what has become of the file.
type cards struct {
	wake chan struct{} // capacity 1

	mu    sync.Mutex
	queue []held // the newest last
	shown map[string]post.MessageID
}

// put adds the card of a file that waits. It never blocks.
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

// next takes the oldest card.
func (c *cards) next() (h held, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		return h, false
	}
	h, c.queue = c.queue[0], c.queue[1:]
	return h, true
}

// Run sends the cards until ctx ends, and takes the buttons off those that were
// decided. It returns nil.
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

// send shows the card of a file, if it still waits. False means that it has to be sent again.
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

// Settle lets Run look at what was decided, or has changed.
func (d *Desk) Settle() { d.cards.signal() }

// settled forgets the cards of files that do not wait any more, and returns their messages.
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

// diff is what allowing a file would change: an edit, or all of a new file. False means that
// the file is another one by now.
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

// card is the message about a file that waits.
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

// Pressed carries out a button of a card; version is as much of it as the button knows.
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
