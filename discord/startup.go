package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/store"
	"ollimbot/discord/message"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// lookUp finds out who the bot is, whom it serves and where they talk, for as
// long as that takes: Discord may be out of reach. Its error is one that only a
// person can mend.
func (d *Discord) lookUp(ctx context.Context) error {
	return d.retry(ctx, func() error {
		err := d.lookOnce(ctx)
		if err == nil || ctx.Err() == nil && passes(err) {
			d.status.unreachable(err)
		}
		return err
	})
}

// retry tries until it works, trouble has come that does not pass by itself, or ctx
// has ended.
func (d *Discord) retry(ctx context.Context, try func() error) error {
	var tries pauses
	for {
		err := d.noteAuth(try())
		if err == nil || ctx.Err() != nil || !passes(err) || tries.wait(ctx) != nil {
			return err
		}
	}
}

func (d *Discord) lookOnce(ctx context.Context) error {
	app, err := d.rest.Application(ctx)
	if err != nil {
		return err
	}
	owner, err := ownerOf(app, d.o.OwnerID)
	if err != nil {
		return err
	}
	dm := dmChannel{App: app.ID, Owner: owner, Channel: d.state.cached(app.ID, owner)}
	if dm.Channel == "" {
		dm.Channel, err = d.openDM(ctx, owner)
		switch {
		case errors.Is(err, rest.ErrCannotDM): // commands work, and the user may write first
			d.noteReach(err)
		case err != nil:
			return err
		}
	}
	if dm.Channel != "" && d.bot.LastReceived(name) == "" && d.state.seen() == "" {
		if err := d.firstStart(ctx, &dm); err != nil {
			return err
		}
	}
	d.state.setDM(dm)
	return nil
}

// ownerOf is whom the bot obeys.
func ownerOf(app rest.App, chosen string) (string, error) {
	switch {
	case chosen != "":
		return chosen, nil
	case message.IsID(app.OwnerID):
		return app.OwnerID, nil
	}
	return "", errors.New(textNoOwner)
}

func (d *Discord) openDM(ctx context.Context, owner string) (string, error) {
	channel, err := d.rest.OpenDM(ctx, owner)
	if errors.Is(err, rest.ErrInvalid) || errors.Is(err, rest.ErrGone) || errors.Is(err, rest.ErrNoChannel) {
		return "", fmt.Errorf(textWrongOwner, owner)
	}
	return channel, err
}

// firstStart draws the line below which nothing is answered: what was written
// before the bot was first here was not written to it. It is drawn before the
// gateway opens, so that nothing falls between.
func (d *Discord) firstStart(ctx context.Context, dm *dmChannel) error {
	list, err := d.rest.After(ctx, dm.Channel, "", 1)
	if errors.Is(err, rest.ErrNoChannel) {
		if dm.Channel, err = d.openDM(ctx, dm.Owner); err != nil {
			return err
		}
		list, err = d.rest.After(ctx, dm.Channel, "", 1)
	}
	if err != nil {
		return err
	}
	newest := "0"
	if len(list) > 0 {
		newest = list[len(list)-1].ID
	}
	d.state.setSeen(newest)
	return nil
}

// reopen asks for the channel again: the one that was remembered is gone.
func (d *Discord) reopen(ctx context.Context) error {
	dm := d.state.dm()
	channel, err := d.openDM(ctx, dm.Owner)
	if err != nil {
		return err
	}
	dm.Channel = channel
	d.state.setDM(dm)
	return nil
}

// reachEvery is how often it is tried to open direct messages that Discord
// refuses. The user's first message opens them at once.
const reachEvery = 5 * time.Minute

// retryDM goes on asking for the direct messages with a user who cannot be written
// to: what is missing is in their hands, and may come at any time.
func (d *Discord) retryDM(ctx context.Context) error {
	for {
		if d.state.dm().Channel != "" || sleep(ctx, reachEvery) != nil {
			return nil
		}
		if d.state.dm().Channel == "" && d.noteAuth(d.reopen(ctx)) == nil {
			d.Small(fmt.Sprintf(textHello, d.botName())) // only this shows whether it may write
		}
	}
}

// finishLeftovers ends what the program's last end has left: eyes below messages that nobody
// works on, and answers that stopped in the middle of a word.
func (d *Discord) finishLeftovers(ctx context.Context) error {
	channel := d.state.dm().Channel
	eyes, growing := d.state.leftovers()
	for _, id := range eyes {
		d.unmark(ctx, id)
	}
	for _, id := range growing {
		d.cutShort(ctx, channel, id)
	}
	return nil
}

// cutShort marks an answer that will not go on.
func (d *Discord) cutShort(ctx context.Context, channel, id string) {
	err := d.retry(ctx, func() error {
		said, err := d.rest.Text(ctx, channel, id)
		if err == nil {
			room := render.MaxContent - render.Length(textCutShort)
			err = d.edit(ctx, channel, id, rest.Message{Content: render.Cut(said, room) + textCutShort})
		}
		return err
	})
	if err == nil || !passes(err) {
		d.state.setGrowing(id, false)
	}
}

// stateFile is what the surface remembers over a restart.
const stateFile = "state/discord.json"

// keptMarks is how many messages of a kind are remembered.
const keptMarks = 100

// ShutOut is why the bot could not write to its user when it last tried, as a
// sentence with the cure, or empty. It reads the file only, beside a running bot.
func ShutOut(dir *store.Dir) string {
	var f file
	if _, err := dir.PeekJSON(stateFile, &f); err != nil {
		return "" // the bot itself reports a file that cannot be read
	}
	return f.ShutOut
}

// dmChannel is who the bot is, whom it serves, and where they talk.
type dmChannel struct {
	App     string `json:"app,omitempty"`
	Owner   string `json:"owner,omitempty"`
	Channel string `json:"channel,omitempty"` // of their direct messages; empty where they are not open
}

// file is what is remembered.
type file struct {
	dmChannel
	// Seen is the newest message that was dealt with here, without the bot having
	// heard it: at the very first start, the newest that there was.
	Seen string `json:"seen,omitempty"`
	// Eyes are messages of the user's that bear the mark of being worked on.
	Eyes []string `json:"eyes,omitempty"`
	// Growing are the bot's messages, the last of an answer each, that an answer
	// still grows in.
	Growing []string `json:"growing,omitempty"`
	// ShutOut is why the bot may not write to its user, or empty.
	ShutOut string `json:"shut_out,omitempty"`
}

// state holds the file.
type state struct {
	dir *store.Dir
	log *slog.Logger

	writing sync.Mutex // orders the writes of the file, before mu

	mu     sync.Mutex
	file   file
	looked bool // the channel has been looked up in this process
}

// load reads the file. One that makes no sense is set aside, and what it held is
// asked for again.
func (s *state) load() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.dir.ReadJSON(stateFile, &s.file); err != nil {
		s.file = file{}
		s.log.Error("what Discord has told before could not be read", "error", err)
	}
}

// known is where messages go; false until it was looked up.
func (s *state) known() (dmChannel, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.dmChannel, s.looked
}

// dm is where messages go, for whoever begins after it was looked up.
func (s *state) dm() dmChannel {
	dm, _ := s.known()
	return dm
}

// cached is the channel that was opened for this owner by this application.
func (s *state) cached(app, owner string) string {
	dm, _ := s.known()
	if dm.App != app || dm.Owner != owner {
		return ""
	}
	return dm.Channel
}

// setDM makes a channel the present one.
func (s *state) setDM(dm dmChannel) {
	s.change(func(f *file) bool {
		changed := f.dmChannel != dm
		s.looked, f.dmChannel = true, dm
		return changed
	})
}

// seen is the newest message that was dealt with here.
func (s *state) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.Seen
}

// setSeen notes a message as dealt with.
func (s *state) setSeen(id string) {
	s.change(func(f *file) bool {
		if message.Compare(id, f.Seen) <= 0 {
			return false
		}
		f.Seen = id
		return true
	})
}

// setShutOut notes why the bot may not write to its user; empty: it may.
func (s *state) setShutOut(why string) {
	s.change(func(f *file) bool {
		changed := f.ShutOut != why
		f.ShutOut = why
		return changed
	})
}

// setEyes notes that a message bears the eyes, or no longer.
func (s *state) setEyes(id string, there bool) {
	s.change(func(f *file) bool { return toggle(&f.Eyes, id, there) })
}

// setGrowing notes that an answer grows in a message, or no longer.
func (s *state) setGrowing(id string, there bool) {
	s.change(func(f *file) bool { return toggle(&f.Growing, id, there) })
}

// leftovers are the eyes and the growing answers that the program's last end has left.
func (s *state) leftovers() (eyes, growing []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.file.Eyes), slices.Clone(s.file.Growing)
}

// toggle makes an id part of a list or not; false where nothing has changed.
func toggle(list *[]string, id string, there bool) bool {
	i := slices.Index(*list, id)
	if id == "" || (i >= 0) == there {
		return false
	}
	if there {
		*list = append(*list, id)
		*list = slices.Delete(*list, 0, max(0, len(*list)-keptMarks))
	} else {
		*list = slices.Delete(*list, i, i+1)
	}
	return true
}

// change changes the file where do says so, and returns when that is on the
// disk. A file that cannot be written is logged: what it holds is worth less than
// the conversation.
func (s *state) change(do func(*file) bool) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	changed := do(&s.file)
	f := s.file
	f.Eyes, f.Growing = slices.Clone(f.Eyes), slices.Clone(f.Growing)
	s.mu.Unlock()
	if !changed {
		return
	}
	if err := s.dir.WriteJSON(stateFile, f); err != nil {
		s.log.Error("what Discord has told could not be remembered", "error", err)
	}
}
