package discord

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/discord/message"
)

// stateFile is the state that survives a restart.
const stateFile = "state/discord.json"

// keptMarks is how many messages of a kind are remembered.
const keptMarks = 100

// ShutOut returns why the bot could not message its user at its last try, with the solution, or empty. It only reads
// the file, so it is safe while a bot runs.
func ShutOut(dir *store.Dir) string {
	var f file
	if _, err := dir.PeekJSON(stateFile, &f); err != nil {
		return "" // the bot reports an unreadable file
	}
	return f.ShutOut
}

// Recorded returns the state of the connection recorded by a running bot; false if the bot has ended. It only reads
// the file.
func Recorded(dir *store.Dir) (Standing, bool) {
	var f file
	if _, err := dir.PeekJSON(stateFile, &f); err != nil {
		return Standing{}, false // the bot reports an unreadable file
	}
	return f.Standing, f.Standing.Name != ""
}

// dmChannel is the bot's application, its owner and their channel.
type dmChannel struct {
	App     string `json:"app,omitempty"`
	Owner   string `json:"owner,omitempty"`
	Channel string `json:"channel,omitempty"` // of the direct messages; empty if they are not open
}

// file is the stored state.
type file struct {
	dmChannel
	// Seen is the newest message that was handled without passing it to the bot: at the very first start, the newest
	// existing one.
	Seen string `json:"seen,omitempty"`
	// Eyes are the user's messages that have the eyes.
	Eyes []string `json:"eyes,omitempty"`
	// Growing are the last messages of answers that are still growing.
	Growing []string `json:"growing,omitempty"`
	// Asked are the open approvals, and Fleeting other messages with buttons that do nothing after
	// a restart.
	Asked    []string `json:"asked,omitempty"`
	Fleeting []string `json:"fleeting,omitempty"`
	// Started is when the last session with the gateway was started.
	Started time.Time `json:"started,omitzero"`
	// Line is the message that shows whether the bot is online.
	Line string `json:"line,omitempty"`
	// ShutOut is why the bot cannot message its user, or empty.
	ShutOut string `json:"shut_out,omitempty"`
	// Standing is the state of the connection; zero after the bot has ended.
	Standing Standing `json:"connection,omitzero"`
}

type state struct {
	dir *store.Dir
	log *slog.Logger

	writing sync.Mutex // orders the writes of the file, before mu

	mu     sync.Mutex
	file   file
	looked bool // the channel was looked up in this process
}

// load reads the file. An invalid one is renamed, and its content is looked up again.
func (s *state) load() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.dir.ReadJSON(stateFile, &s.file); err != nil {
		s.file = file{}
		s.log.Error("Discord's state could not be read", "error", err)
	}
}

// known returns the destination of messages; false until it was looked up.
func (s *state) known() (dmChannel, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.dmChannel, s.looked
}

// dm returns the destination of messages, for callers after the look-up.
func (s *state) dm() dmChannel {
	dm, _ := s.known()
	return dm
}

// cached returns the channel opened by this application for this owner.
func (s *state) cached(app, owner string) string {
	dm, _ := s.known()
	if dm.App != app || dm.Owner != owner {
		return ""
	}
	return dm.Channel
}

// setDM sets the current channel.
func (s *state) setDM(dm dmChannel) {
	s.change(func(f *file) bool {
		changed := f.dmChannel != dm
		s.looked, f.dmChannel = true, dm
		return changed
	})
}

func (s *state) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.Seen
}

// setSeen marks messages up to id as handled.
func (s *state) setSeen(id string) {
	s.change(func(f *file) bool {
		if message.Compare(id, f.Seen) <= 0 {
			return false
		}
		f.Seen = id
		return true
	})
}

// lastStart is when a session with the gateway was last started, or zero.
func (s *state) lastStart() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.Started
}

// setStarted records the start of a session with the gateway.
func (s *state) setStarted(at time.Time) {
	s.change(func(f *file) bool {
		f.Started = at
		return true
	})
}

// line returns the message that shows whether the bot is online, or empty.
func (s *state) line() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.Line
}

func (s *state) setLine(id string) {
	s.change(func(f *file) bool {
		changed := f.Line != id
		f.Line = id
		return changed
	})
}

// setShutOut records why the bot cannot message its user; empty if it can.
func (s *state) setShutOut(why string) {
	s.change(func(f *file) bool {
		changed := f.ShutOut != why
		f.ShutOut = why
		return changed
	})
}

// setStanding records the state of the connection.
func (s *state) setStanding(now Standing) {
	s.change(func(f *file) bool {
		changed := f.Standing.SurfaceStatus != now.SurfaceStatus || !f.Standing.Since.Equal(now.Since)
		f.Standing = now
		return changed
	})
}

// setEyes records that a message has the eyes or lost them.
func (s *state) setEyes(id string, there bool) {
	s.change(func(f *file) bool { return toggle(&f.Eyes, id, there) })
}

// setGrowing records that an answer starts or stops growing in a message.
func (s *state) setGrowing(id string, there bool) {
	s.change(func(f *file) bool { return toggle(&f.Growing, id, there) })
}

// leftovers returns the eyes and growing answers left by the last process.
func (s *state) leftovers() (eyes, growing []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.file.Eyes), slices.Clone(s.file.Growing)
}

// setAsked records that a message asks for an approval or no longer does.
func (s *state) setAsked(id string, there bool) {
	s.change(func(f *file) bool { return toggle(&f.Asked, id, there) })
}

// setFleeting records whether a message has buttons that do nothing after a restart.
func (s *state) setFleeting(id string, there bool) {
	s.change(func(f *file) bool { return toggle(&f.Fleeting, id, there) })
}

// mostDead is how many messages lose their buttons after a restart.
const mostDead = 20

// dead returns the newest messages left by the last process whose buttons do nothing, and forgets
// the others.
func (s *state) dead() (asked, fleeting []string) {
	s.change(func(f *file) bool {
		for _, list := range []*[]string{&f.Asked, &f.Fleeting} {
			*list = slices.Delete(*list, 0, max(0, len(*list)-mostDead))
		}
		asked, fleeting = slices.Clone(f.Asked), slices.Clone(f.Fleeting)
		return false // the next change is saved with this one
	})
	return asked, fleeting
}

// toggle adds an ID to a list or removes it; false if nothing changed.
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

// change writes the file if do returns true, and returns when it is on disk. An error is only logged, because the
// file matters less than the conversation.
func (s *state) change(do func(*file) bool) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	changed := do(&s.file)
	f := s.file
	f.Eyes, f.Growing = slices.Clone(f.Eyes), slices.Clone(f.Growing)
	f.Asked, f.Fleeting = slices.Clone(f.Asked), slices.Clone(f.Fleeting)
	s.mu.Unlock()
	if !changed {
		return
	}
	if err := s.dir.WriteJSON(stateFile, f); err != nil {
		s.log.Error("Discord's state could not be saved", "error", err)
	}
}
