package discord

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/agent"
	"ollimbot/core/chat"
	"ollimbot/core/clean"
	"ollimbot/core/post"
	"ollimbot/core/store"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
	"ollimbot/discord/stream"
)

const (
	// postWithin is how long a post waits for a network that is gone; then it
	// fails: its token is given back, unless it was sent and got no answer.
	postWithin = 60 * time.Second
	// maxUpload is Discord's limit for a file, in bytes.
	maxUpload = 10 << 20
)

// Post sends a message, once per nonce, and waits up to a minute for the
// network. Before the surface knows its user, and after it has stopped, the error
// is post.ErrNoChannel; where no answer came, post.ErrUnknown. Others are sentences
// of package rest, or about a file.
func (d *Discord) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	if why := d.status.gaveUp(); why != "" {
		return "", fmt.Errorf("%w: "+textStoppedAt, post.ErrNoChannel, why)
	}
	if err := checkFiles(p.Files); err != nil {
		return "", err
	}
	if p.Nonce == "" {
		p.Nonce = store.NewID() + store.NewID()
	}
	m := render.Post(p)
	if m.Content == "" && len(m.Embeds) == 0 && len(m.Files) == 0 {
		return "", errors.New(textEmptyPost)
	}
	m.Before = sync.OnceValue(p.Begin) // the same message may be sent several times
	within, cancel := context.WithTimeout(ctx, postWithin)
	defer cancel()
	id, err := d.deliver(within, m)
	if err == nil {
		return post.MessageID(id), nil
	}
	maybe := errors.Is(err, rest.ErrUnknown)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		err = rest.ErrTransient
	}
	if maybe {
		err = fmt.Errorf("%w: %w", post.ErrUnknown, err)
	}
	return "", err
}

// checkFiles finds files that Discord would refuse before anything is sent.
func checkFiles(paths []string) error {
	for _, path := range paths {
		shown := clean.Line(filepath.Base(path))
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf(textNoFile, shown, errors.Unwrap(err))
		}
		if info.Size() > maxUpload {
			return fmt.Errorf(textLargeFile, shown, float64(info.Size())/(1<<20))
		}
	}
	return nil
}

// Edit replaces a post.
func (d *Discord) Edit(ctx context.Context, id post.MessageID, p post.Post) error {
	return d.dm.do(func(channel string) error { return d.edit(ctx, channel, string(id), render.Post(p)) })
}

// edit replaces a message when it is its turn.
func (d *Discord) edit(ctx context.Context, channel, id string, m rest.Message) error {
	return d.line.Edit(ctx, func(ctx context.Context) error { return d.noteAuth(d.rest.Edit(ctx, channel, id, m)) })
}

// Delete removes a post. One that is gone is no error.
func (d *Discord) Delete(ctx context.Context, id post.MessageID) error {
	if err := d.dm.Delete(ctx, id); !errors.Is(err, rest.ErrGone) {
		return err
	}
	return nil
}

// Typing shows for some seconds that the bot is at work.
func (d *Discord) Typing(ctx context.Context) error { return d.dm.Typing(ctx) }

// deliver sends a message, and tries again while trouble may pass and ctx lasts;
// every try has the nonce of the first. Its error is Discord's last, or ctx's where
// that ended first.
func (d *Discord) deliver(ctx context.Context, m rest.Message) (id string, err error) {
	var tries pauses
	maybe := false
	for {
		err = d.line.Send(ctx, func(ctx context.Context) error {
			id, err = d.dm.post(ctx, m)
			return err
		})
		// At the start the channel is only just being looked up.
		soon := errors.Is(err, post.ErrNoChannel) && d.status.gaveUp() == "" && d.life.Err() == nil
		if maybe = maybe || errors.Is(err, rest.ErrUnknown); maybe && err != nil {
			err = rest.Unknown(err) // an earlier try may be there
		}
		if err == nil || !soon && !passes(err) || ctx.Err() != nil {
			return id, err
		}
		if over, ok := ctx.Deadline(); ok && time.Until(over) < shortPause {
			return id, err
		}
		if tries.wait(ctx) != nil {
			return id, err
		}
	}
}

// dmWriter writes into the direct messages: the stream.Channel of an answer.
type dmWriter struct{ d *Discord }

// channel is where. Before it is known, and after the surface has stopped, its
// error is post.ErrNoChannel.
func (w dmWriter) channel() (string, error) {
	dm, ok := w.d.state.known()
	switch {
	case w.d.status.gaveUp() != "":
		return "", errors.Join(post.ErrNoChannel, stream.ErrRefused)
	case !ok:
		return "", post.ErrNoChannel
	case dm.Channel == "":
		return "", rest.ErrCannotDM
	}
	return dm.Channel, nil
}

// post sends one message.
func (w dmWriter) post(ctx context.Context, m rest.Message) (string, error) {
	channel, err := w.channel()
	if err != nil {
		return "", err
	}
	id, err := w.d.rest.Send(ctx, channel, m)
	if errors.Is(err, rest.ErrNoChannel) { // another one is open by now, or can be
		if err = w.d.reopen(ctx); err == nil {
			id, err = w.d.rest.Send(ctx, w.d.state.dm().Channel, m)
		}
	}
	w.d.noteReach(w.d.noteAuth(err))
	return id, err
}

// Send sends a message of an answer.
func (w dmWriter) Send(ctx context.Context, p stream.Page, nonce string) (post.MessageID, error) {
	m := rest.Message{Content: p.Text, Nonce: nonce}
	if p.File != "" {
		m.Files = []rest.File{{Name: textAnswerFile, Read: func() ([]byte, error) { return []byte(p.File), nil }}}
	}
	id, err := w.post(ctx, m)
	return post.MessageID(id), err
}

// do does something to a message there.
func (w dmWriter) do(f func(channel string) error) error {
	channel, err := w.channel()
	if err != nil {
		return err
	}
	return w.d.noteAuth(f(channel))
}

// Edit replaces its text; the answer stands in line by itself.
func (w dmWriter) Edit(ctx context.Context, id post.MessageID, text string) error {
	return w.do(func(channel string) error {
		return w.d.rest.Edit(ctx, channel, string(id), rest.Message{Content: text})
	})
}

// Delete removes it.
func (w dmWriter) Delete(ctx context.Context, id post.MessageID) error {
	return w.do(func(channel string) error { return w.d.rest.Delete(ctx, channel, string(id)) })
}

// Typing shows that the bot writes.
func (w dmWriter) Typing(ctx context.Context) error {
	return w.do(func(channel string) error { return w.d.rest.Typing(ctx, channel) })
}

var _ stream.Channel = dmWriter{}

const (
	// shownWithin is how long an answer that has ended goes on trying to arrive.
	shownWithin = 10 * time.Minute
	// maxMessages is how many messages an answer has before it goes on as a file.
	maxMessages = 5
)

// Answer begins an answer that grows. One that cannot be shown, because the
// surface has stopped, is swallowed: the dashboard has it.
func (d *Discord) Answer() chat.RemoteAnswer {
	if d.status.gaveUp() != "" || d.life.Err() != nil {
		return noAnswer{}
	}
	d.turnChanged()
	return &answer{Answer: stream.New(d.life, stream.Options{
		Channel: d.dm, Log: d.log, Line: d.line, Messages: maxMessages,
		Growing: func(id post.MessageID, there bool) { d.state.setGrowing(string(id), there) },
	}), d: d}
}

// answer is an answer whose end nobody waits for: Farewell does.
type answer struct {
	*stream.Answer
	d *Discord
}

// End finishes the answer beside the turn that made it.
func (a *answer) End(emptyIsFine bool, shown func(ids []post.MessageID)) {
	a.d.turnChanged()
	finish := func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, shownWithin)
		defer cancel()
		shown(a.Answer.End(ctx, emptyIsFine))
	}
	if !a.d.answers.begin(finish) {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		finish(over) // returns as soon as a request that is under way does
	}
}

// noAnswer is an answer that nobody sees.
type noAnswer struct{}

func (noAnswer) Append(string)                            {}
func (noAnswer) Rewind(int)                               {}
func (noAnswer) Tool(string, bool)                        {}
func (noAnswer) Status(string)                            {}
func (noAnswer) Compacting(agent.Compacting)              {}
func (noAnswer) End(_ bool, shown func([]post.MessageID)) { shown(nil) }

// Notices are worth little after a while, and few of many.
const (
	noticeWithin = 2 * time.Minute
	maxNotices   = 50
)

// notice is a short word of the program. A quiet one does not make the user's
// phone ring.
type notice struct {
	text  string
	at    time.Time
	quiet bool
	nonce string
}

func (n notice) message() rest.Message {
	m := render.Small(n.text)
	m.Nonce = n.nonce
	if n.quiet {
		m.Flags |= discordgo.MessageFlagsSuppressNotifications
	}
	return m
}

// notices wait for the network, in order.
type notices struct {
	mu   sync.Mutex
	list []notice
	wake chan struct{} // has room for one
}

// put adds a notice, unless the same one is the newest already. The oldest makes
// room for it where there are too many.
func (q *notices) put(n notice) {
	n.text = strings.TrimSpace(n.text)
	if n.text == "" {
		return
	}
	n.at, n.nonce = time.Now(), "n"+store.NewID()+store.NewID()
	q.mu.Lock()
	if last := len(q.list) - 1; last < 0 || q.list[last].text != n.text {
		if q.list = append(q.list, n); len(q.list) > maxNotices {
			q.list = q.list[1:]
		}
	}
	q.mu.Unlock()
	signal(q.wake)
}

// next is the oldest notice that is worth sending.
func (q *notices) next(now time.Time) (notice, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) > 0 {
		n := q.list[0]
		q.list = q.list[1:]
		if now.Sub(n.at) < noticeWithin {
			return n, true
		}
	}
	return notice{}, false
}

// Small shows a short notice in order with everything else. It never blocks; a
// notice that is not delivered within two minutes is dropped.
func (d *Discord) Small(text string) { d.notices.put(notice{text: text}) }

// sendNotices sends the notices, each while it is worth it.
func (d *Discord) sendNotices(ctx context.Context) error {
	for ctx.Err() == nil {
		n, ok := d.notices.next(time.Now())
		if !ok {
			select {
			case <-d.notices.wake:
			case <-ctx.Done():
			}
			continue
		}
		within, cancel := context.WithDeadline(ctx, n.at.Add(noticeWithin))
		if _, err := d.deliver(within, n.message()); err != nil {
			d.log.Debug("a notice was dropped", "error", err)
		}
		cancel()
	}
	return nil
}

// farewellTakes is kept of the time for the farewell itself.
const farewellTakes = time.Second

// Farewell lets the last answers arrive, says goodbye, with the notices that were
// still on their way, and ends what has outlived Run. It respects ctx.
func (d *Discord) Farewell(ctx context.Context) {
	defer d.refusals.finish()
	defer d.answers.finish()
	defer d.end()
	dm, ok := d.state.known()
	if !ok || d.status.gaveUp() != "" {
		return
	}
	d.answers.idle(ctx, farewellTakes)
	var lines []string
	for n, more := d.notices.next(time.Now()); more; n, more = d.notices.next(time.Now()) {
		lines = append(lines, n.text)
	}
	last := notice{text: strings.Join(append(lines, fmt.Sprintf(textFarewell, d.botName())), "\n"), quiet: len(lines) == 0}
	if _, err := d.rest.Send(ctx, dm.Channel, last.message()); err != nil {
		d.log.Debug("nobody heard the farewell", "error", err)
	}
}
