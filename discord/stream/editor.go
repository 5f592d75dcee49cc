package stream

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strconv"
	"time"

	"ollimbot/core/talk/post"
	"ollimbot/discord/rest"
)

const (
	// firstPause is the pause after the first failed try; it doubles each time, up to
	// longestPause.
	firstPause = 500 * time.Millisecond
	// typingPatience limits how long the typing indicator may delay the text.
	typingPatience = 1500 * time.Millisecond
	// freeLosses is the number of deleted messages that are replaced: if the user deletes another one, the answer is
	// unwanted.
	freeLosses = 1
	// shutPause is the time between tries to reach a user whose settings exclude the bot, because Discord counts each
	// refusal.
	shutPause = 30 * time.Second
)

// slot is a message of the answer.
type slot struct {
	page  page
	nonce string
	// id is empty until the channel confirms the message. Until then it is sent with the
	// same text and nonce, because it may already exist.
	id post.MessageID
	// shown is the message's text in the channel; empty if unknown.
	shown string
	// silent means that the message did not notify, stop that it has a button to stop the answer.
	silent, stop bool
}

// editor updates the messages to show the answer, with one call at a time. It belongs to one goroutine.
type editor struct {
	a       *Answer
	o       Options
	nonce   string
	sent    int // number of nonces used
	slots   []slot
	layouts []*layout
	// doomed are messages to delete before anything else, so that nothing is shown twice.
	doomed []post.MessageID
	// moved is when the messages last changed, typed when the typing indicator was last set.
	moved, typed time.Time
	// failures counts consecutive failures, losses all messages that were replaced.
	failures, losses int
	hurried          bool  // failures were reset when the answer ended
	rang             bool  // a message has notified
	complete         bool  // a.sent is closed
	trouble          error // the last error
}

func newEditor(a *Answer) *editor {
	e := &editor{a: a, o: a.o, nonce: rand.Text()[:16], moved: time.Now()}
	if !e.o.StatusLine {
		e.moved = e.moved.Add(-typingEvery) // it types from the start
	}
	return e
}

// view is the intended state of the messages.
type view struct {
	pages []page
	tick  time.Time
	ended bool
	// notifies means that the first words still have to notify.
	notifies bool
}

// newest returns the newest state of the answer.
func (e *editor) newest() view {
	s, notifies := e.a.sketch(e.rang)
	v := view{tick: s.tick, ended: s.ended, notifies: notifies}
	if time.Now().Before(s.sentence) {
		v.tick = s.sentence
		for _, slot := range e.slots {
			v.pages = append(v.pages, slot.page)
		}
		return v
	}
	v.pages, e.layouts = pagesOf(s, e.layouts)
	if most := e.o.Messages; most > 0 && len(v.pages) > most {
		v.pages = v.pages[:most]
		if s.ended {
			v.pages = append(v.pages, page{text: textInFile, file: s.text(), section: -1})
		} else if s.status == "" {
			s.status = subtext(textWritingOn)
		}
	}
	if s.status == "" && !s.ended && e.rang && len(v.pages) == 0 && len(e.slots) > 0 {
		s.status = statusText(textWorking, 0) // the words were retracted, and better ones follow
	}
	// A message whose text was removed shows the status at once; a status that is not due does not cause a new message.
	if s.status != "" && (!s.early || len(v.pages) == 0 && len(e.slots) > 0) {
		v.pages = append(v.pages, page{text: s.status, section: -1})
	}
	for i := range min(len(e.slots), len(v.pages)) {
		e.show(v.pages[i])
	}
	return v
}

// run works until the answer is complete and shown, or ctx ends.
func (e *editor) run(ctx context.Context) {
	for ctx.Err() == nil {
		v := e.newest()
		if n := len(e.slots); v.ended && len(v.pages) <= n && (n == 0 || e.slots[n-1].id != "") {
			e.allSent()
		}
		work := e.work(v)
		if work == nil {
			if e.refused() {
				e.trouble = ErrRefused
			}
			if v.ended || e.refused() {
				break
			}
			e.wait(ctx, v.tick)
			continue
		}
		if e.backOff(ctx, work(ctx)); final(e.trouble) {
			break // the channel refuses everything
		}
	}
	if ctx.Err() == nil {
		for _, s := range e.slots {
			e.settled(s.id)
		}
	}
	e.report()
}

// allSent reports that no message is left to send.
func (e *editor) allSent() {
	if !e.complete {
		e.complete = true
		close(e.a.sent)
	}
}

// work returns the next step, or nil. Earlier messages have priority, so that the answer has no gap for long.
func (e *editor) work(v view) func(context.Context) error {
	n := len(e.slots)
	switch {
	case len(e.doomed) > 0:
		return e.remove
	case e.refused():
		return nil
	case n > 0 && e.slots[n-1].id == "":
		return func(ctx context.Context) error { return e.send(ctx, n) }
	case e.outdated(v) >= 0:
		return func(ctx context.Context) error { return e.o.Line.Edit(ctx, e.edit) }
	case len(v.pages) > n:
		return func(ctx context.Context) error { return e.send(ctx, len(v.pages)) }
	case len(v.pages) < n:
		return func(context.Context) error { e.drop(len(v.pages)); return nil }
	}
	return nil
}

// outdated returns the first message with an outdated text, or -1.
func (e *editor) outdated(v view) int {
	for i := range min(len(e.slots), len(v.pages)) {
		s, p := e.slots[i], v.pages[i]
		if s.shown != p.text || s.stop && !e.stops(v, i) {
			return i
		}
	}
	return -1
}

// stops reports whether a page has a button to stop the answer: the last one, while the answer grows.
func (e *editor) stops(v view, i int) bool {
	return !e.o.StatusLine && !v.ended && i == len(v.pages)-1
}

// edit updates the first outdated message.
func (e *editor) edit(ctx context.Context) error {
	v := e.newest()
	i := e.outdated(v)
	if i < 0 {
		return nil
	}
	s := &e.slots[i]
	s.page = v.pages[i]
	// A file needs its own message, which replaces the status, and so do words that notify.
	if s.page.file != "" || s.silent && e.rings(v, s.page) {
		e.drop(i)
		return nil
	}
	stop := e.stops(v, i)
	err := e.o.Channel.Edit(ctx, s.id, Page{Text: s.page.text, Stop: stop, ID: e.o.ID})
	switch {
	case err == nil:
		s.shown, s.stop, e.moved = s.page.text, stop, time.Now()
	case errors.Is(err, rest.ErrGone):
		e.lose(i)
		return nil
	case errors.Is(err, rest.ErrOldEdit):
		e.drop(i)
		return nil
	default:
		s.shown = ""
	}
	return err
}

// refused reports whether the user does not want the answer.
func (e *editor) refused() bool { return e.losses > freeLosses }

// lose drops a deleted message and those after it, which are sent again in order. A refused answer stays unchanged,
// except for a status, which would stay forever.
func (e *editor) lose(i int) {
	e.settled(e.slots[i].id)
	e.slots[i].id = ""
	e.losses++
	if n := len(e.slots); !e.refused() {
		e.drop(i)
	} else if e.slots[n-1].page.status() {
		e.drop(n - 1)
	}
}

// settled says that a message, if it was sent, grows no more.
func (e *editor) settled(id post.MessageID) {
	if id != "" {
		e.o.Growing(id, false)
	}
}

// drop removes the messages from the i-th on.
func (e *editor) drop(i int) {
	for _, s := range e.slots[i:] {
		e.settled(s.id)
		if s.id != "" {
			e.doomed = append(e.doomed, s.id)
		}
	}
	e.slots = slices.Delete(e.slots, i, len(e.slots))
}

// remove deletes one of the doomed messages.
func (e *editor) remove(ctx context.Context) error {
	err := e.o.Channel.Delete(ctx, e.doomed[0])
	if err != nil && !errors.Is(err, rest.ErrGone) && !final(err) {
		return err
	}
	e.doomed = e.doomed[1:]
	e.moved = time.Now()
	return nil
}

// send sends messages until there are upTo, in one turn: no other writer's messages come
// between them.
func (e *editor) send(ctx context.Context, upTo int) error {
	if len(e.slots) == 0 && e.o.After != nil {
		select {
		case <-e.o.After:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := e.o.Line.acquire(ctx); err != nil {
		return err
	}
	defer e.o.Line.release()
	for {
		before := len(e.slots)
		open := before > 0 && e.slots[before-1].id == ""
		if !open && before >= upTo {
			return nil
		}
		if err := e.o.Line.sendNext(ctx, e.sendOne); err != nil {
			return err
		}
		if len(e.slots) == before && !open {
			return nil // nothing left to send
		}
	}
}

// sendOne sends the next message, or the unconfirmed one.
func (e *editor) sendOne(ctx context.Context) error {
	n := len(e.slots)
	if n == 0 || e.slots[n-1].id != "" {
		v := e.newest()
		if len(v.pages) <= n || e.outdated(v) >= 0 {
			return nil // earlier messages have priority
		}
		e.sent++
		e.slots = append(e.slots, slot{
			page: v.pages[n], nonce: e.nonce + "-" + strconv.Itoa(e.sent), silent: !e.rings(v, v.pages[n]),
			stop: v.pages[n].status() && e.stops(v, n), // short answers end before they are edited
		})
		e.show(v.pages[n])
	}
	s := &e.slots[len(e.slots)-1]
	id, err := e.o.Channel.Send(ctx, Page{Text: s.page.text, File: s.page.file, Silent: s.silent, Stop: s.stop, ID: e.o.ID}, s.nonce)
	switch {
	case err == nil:
		s.id, s.shown, e.moved = id, s.page.text, time.Now()
		e.rang = e.rang || !s.silent
		e.o.Growing(id, true)
		if n > 0 && e.slots[n-1].id != id {
			e.settled(e.slots[n-1].id)
		}
	case errors.Is(err, rest.ErrGone): // an earlier try succeeded, and the user deleted the message
		e.slots = e.slots[:len(e.slots)-1]
	}
	return err
}

// rings reports whether a page notifies when it is sent: the first with words of the
// answer, or the status line.
func (e *editor) rings(v view, p page) bool {
	return v.notifies && (e.o.StatusLine || !p.note && !p.status())
}

// show fixes the parts before a page, which are now visible.
func (e *editor) show(p page) {
	if p.section >= 0 {
		e.layouts[p.section].show(p.part)
	}
}

// backOff waits after a failure, longer each time.
func (e *editor) backOff(ctx context.Context, err error) {
	if ctx.Err() != nil && err != nil {
		if e.trouble == nil {
			e.trouble = err
		}
		return
	}
	e.trouble = err
	switch {
	case err == nil:
		e.failures = 0
		return
	case final(err):
		return
	}
	kick := e.kick()
	if kick == nil && !e.hurried { // the answer has ended, so little time is left
		e.hurried, e.failures = true, 0
	}
	pause := min(firstPause<<min(e.failures, 10), longestPause)
	e.failures++
	if limited, ok := errors.AsType[*rest.LimitedError](err); ok {
		pause = max(pause, limited.After)
	}
	if errors.Is(err, rest.ErrCannotDM) {
		pause, kick = shutPause, nil
	}
	_ = sleep(ctx, pause, kick)
}

// kick is closed when the answer ends. It is nil afterwards, so that pauses are not cut
// short.
func (e *editor) kick() <-chan struct{} {
	select {
	case <-e.a.ending:
		return nil
	default:
		return e.a.ending
	}
}

// wait waits for a change and lets more arrive before it is shown. During silence it sets
// the typing indicator.
func (e *editor) wait(ctx context.Context, tick time.Time) {
	due := e.typingDue()
	until := due
	if !tick.IsZero() && tick.Before(until) {
		until = tick
	}
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-e.a.wake:
		_ = sleep(ctx, flushAfter, e.a.ending)
	case <-t.C:
		if until.Equal(due) {
			e.typing(ctx)
		}
	case <-ctx.Done():
	}
}

// typingDue is when the typing indicator is due.
func (e *editor) typingDue() time.Time {
	due, again := e.moved.Add(typingEvery/4), e.typed.Add(typingEvery)
	if again.After(due) {
		return again
	}
	return due
}

func (e *editor) typing(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, typingPatience)
	defer cancel()
	e.typed = time.Now()
	if err := e.o.Channel.Typing(ctx); err != nil {
		e.o.Log.Debug("typing indicator was not set", "error", err)
	}
}

// report logs an answer that is not fully shown.
func (e *editor) report() {
	v := e.newest()
	if e.work(v) == nil && !e.refused() {
		return
	}
	e.o.Log.Warn("answer was not fully shown", "messages", len(e.ids()), "wanted", len(v.pages), "ended", v.ended, "error", e.trouble)
}

// ids returns the visible messages of the answer, without a status.
func (e *editor) ids() []post.MessageID {
	var out []post.MessageID
	for _, s := range e.slots {
		if s.id != "" && !s.page.status() {
			out = append(out, s.id)
		}
	}
	return out
}
