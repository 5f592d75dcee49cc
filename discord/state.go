package discord

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/discord/message"
)

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
	// Started is when a session with the gateway was started last.
	Started time.Time `json:"started,omitzero"`
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

// lastStart is when a session with the gateway was started last, or zero.
func (s *state) lastStart() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.Started
}

// setStarted notes when a session with the gateway is started.
func (s *state) setStarted(at time.Time) {
	s.change(func(f *file) bool {
		f.Started = at
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
