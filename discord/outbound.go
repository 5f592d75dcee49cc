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

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

const (
	// postWithin is how long a post waits for a network before it fails. Its token is then returned, unless the post was
	// sent and not confirmed.
	postWithin = 60 * time.Second
	// maxUpload is Discord's limit of a file, in bytes.
	maxUpload = 10 << 20
)

// Post sends a message, once per nonce, and waits up to a minute for the network. Until the user is known, and after
// the surface has stopped, the error is post.ErrNoChannel; without a response from Discord it is post.ErrUnknown.
// Other errors are from package rest or about a file.
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
	id, err := d.room.deliver(within, m)
	if err == nil {
		d.presence.turnChanged()
		d.state.setFleeting(id, hasFleeting(p))
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

// checkFiles finds files that Discord would refuse.
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
	err := d.room.replace(ctx, string(id), render.Post(p))
	if err == nil {
		d.state.setFleeting(string(id), hasFleeting(p))
	}
	return err
}

// Delete deletes a post. A missing one is not an error.
func (d *Discord) Delete(ctx context.Context, id post.MessageID) error {
	err := d.room.Delete(ctx, id)
	if errors.Is(err, rest.ErrGone) {
		err = nil
	}
	if err == nil {
		d.state.setFleeting(string(id), false)
	}
	return err
}

// Typing shows for some seconds that the bot is typing.
func (d *Discord) Typing(ctx context.Context) error { return d.room.Typing(ctx) }

// Answer starts a growing answer. If the surface has stopped, the answer is only in the
// dashboard.
func (d *Discord) Answer() chat.RemoteAnswer { return d.answers.begin() }

// Approval shows a tool call that needs the user's approval, and later its outcome. It never blocks.
func (d *Discord) Approval(a policy.Approval) { d.cards.update(a) }

// Small shows a short notice, in order with all other messages. It never blocks; a notice
// that is not delivered within two minutes is dropped.
func (d *Discord) Small(text string, buttons ...post.Button) {
	d.notices.put(notice{text: text, buttons: buttons})
}

// Aside is Small without notifying the user's phone.
func (d *Discord) Aside(text string) { d.notices.put(notice{text: text, quiet: true}) }

// Status describes the connection.
func (d *Discord) Status() core.SurfaceStatus {
	now := d.status.standing().SurfaceStatus
	now.State, now.OK = d.status.words()
	return now
}

// OnChange sets f to be called after the status has changed. f must not block.
func (d *Discord) OnChange(f func()) {
	d.status.mu.Lock()
	defer d.status.mu.Unlock()
	d.status.changed = f
}

// farewellTakes is the time reserved for the farewell itself.
const farewellTakes = time.Second

// Farewell delivers the last answers, says goodbye together with the pending notices, and
// ends what outlives Run. It respects ctx.
func (d *Discord) Farewell(ctx context.Context) {
	defer d.refusals.finish()
	defer d.answers.pool.finish()
	defer d.end()
	dm, ok := d.state.known()
	if !ok || d.status.gaveUp() != "" {
		return
	}
	d.answers.pool.idle(ctx, farewellTakes)
	var lines []string
	for n, more := d.notices.next(time.Now()); more; n, more = d.notices.next(time.Now()) {
		if !n.presence {
			lines = append(lines, n.text)
		}
	}
	var left error
	if len(lines) > 0 {
		_, left = d.rest.Send(ctx, dm.Channel, notice{text: strings.Join(lines, "\n")}.message())
	}
	err := d.notices.send(ctx, notice{text: fmt.Sprintf(textFarewell, d.botName()), quiet: true, presence: true})
	if err = errors.Join(left, err); err != nil {
		d.log.Debug("farewell was not delivered", "error", err)
	}
}
