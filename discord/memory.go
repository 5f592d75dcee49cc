package discord

import (
	"log/slog"
	"slices"
	"sync"

	"ollimbot/core/post"
	"ollimbot/core/store"
)

// stateFile is what the surface remembers over a restart.
const stateFile = "state/discord.json"

// keptParts is how many posts of several messages are remembered.
const keptParts = 100

// ShutOut is why the bot could not write to its user when it last tried, as a
// sentence with the cure, or empty. It reads the file only, beside a running bot.
func ShutOut(dir *store.Dir) string {
	var k known
	if _, err := dir.PeekJSON(stateFile, &k); err != nil {
		return "" // the bot itself reports a file that cannot be read
	}
	return k.ShutOut
}

// home is who the bot is and whom it serves.
type home struct {
	App     string `json:"app,omitempty"`
	Owner   string `json:"owner,omitempty"`
	Channel string `json:"channel,omitempty"` // of their direct messages
}

// known is the file.
type known struct {
	home
	// Seen is the newest message that was dealt with here, without the bot having
	// heard it: at the very first start, the newest that there was.
	Seen string `json:"seen,omitempty"`
	// Parts are posts that took several messages, the oldest first.
	Parts []parts `json:"parts,omitempty"`
	// Eyes are messages of the user's that bear the mark of being worked on.
	Eyes []string `json:"eyes,omitempty"`
	// Growing are the bot's messages, the last of an answer each, that an answer
	// still grows in.
	Growing []string `json:"growing,omitempty"`
	// ShutOut is why the bot may not write to its user, or empty.
	ShutOut string `json:"shut_out,omitempty"`
}

// parts are the messages of one post: it goes by the id of the last.
type parts struct {
	Post    string   `json:"post"`
	Earlier []string `json:"earlier"`
}

// memory holds the file. The lock also orders its writes.
type memory struct {
	dir *store.Dir
	log *slog.Logger

	mu    sync.Mutex
	known known
	open  bool // home has been looked up in this process
}

func newMemory(dir *store.Dir, log *slog.Logger) *memory { return &memory{dir: dir, log: log} }

// load reads the file. One that makes no sense is set aside, and what it held is
// asked for again.
func (m *memory) load() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.dir.ReadJSON(stateFile, &m.known); err != nil {
		m.known = known{}
		m.log.Error("what Discord has told before could not be read", "error", err)
	}
}

// home is where messages go; false until it was looked up.
func (m *memory) home() (home, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known.home, m.open
}

// cached is the channel that was opened for this owner by this application.
func (m *memory) cached(app, owner string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known.App != app || m.known.Owner != owner {
		return ""
	}
	return m.known.Channel
}

// settle makes a home the present one.
func (m *memory) settle(h home) {
	m.change(func(k *known) bool {
		m.open = true
		if k.home == h {
			return false
		}
		if k.Channel != h.Channel {
			k.Parts = nil
		}
		k.home = h
		return true
	})
}

// seen is the newest message that was dealt with here.
func (m *memory) seen() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known.Seen
}

// see notes a message as dealt with.
func (m *memory) see(id string) {
	m.change(func(k *known) bool {
		if !post.Later(id, k.Seen) {
			return false
		}
		k.Seen = id
		return true
	})
}

// join remembers that a post took several messages.
func (m *memory) join(ids []string) {
	if len(ids) < 2 {
		return
	}
	m.change(func(k *known) bool {
		last := len(ids) - 1
		k.Parts = append(k.Parts, parts{Post: ids[last], Earlier: slices.Clone(ids[:last])})
		if n := len(k.Parts) - keptParts; n > 0 {
			k.Parts = slices.Delete(k.Parts, 0, n)
		}
		return true
	})
}

// whole is the post that a message is a part of.
func (m *memory) whole(message string) post.MessageID {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.known.Parts {
		if slices.Contains(p.Earlier, message) {
			return post.MessageID(p.Post)
		}
	}
	return post.MessageID(message)
}

// earlier are the messages of a post before the one that it goes by.
func (m *memory) earlier(id post.MessageID) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.known.Parts {
		if p.Post == string(id) {
			return p.Earlier
		}
	}
	return nil
}

// part forgets the earlier messages of a post.
func (m *memory) part(id post.MessageID) {
	m.change(func(k *known) bool {
		before := len(k.Parts)
		k.Parts = slices.DeleteFunc(k.Parts, func(p parts) bool { return p.Post == string(id) })
		return len(k.Parts) != before
	})
}

// shut notes why the bot may not write to its user; empty: it may.
func (m *memory) shut(why string) {
	m.change(func(k *known) bool {
		changed := k.ShutOut != why
		k.ShutOut = why
		return changed
	})
}

// look notes that a message bears the eyes, or no longer.
func (m *memory) look(id string, there bool) {
	m.change(func(k *known) bool { return toggle(&k.Eyes, id, there) })
}

// grows notes that an answer grows in a message, or no longer.
func (m *memory) grows(id string, there bool) {
	m.change(func(k *known) bool { return toggle(&k.Growing, id, there) })
}

// left are the eyes and the growing answers that the program's last end has left.
func (m *memory) left() (eyes, growing []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.known.Eyes), slices.Clone(m.known.Growing)
}

// toggle makes an id part of a list or not; false where nothing has changed.
func toggle(list *[]string, id string, there bool) bool {
	i := slices.Index(*list, id)
	if id == "" || (i >= 0) == there {
		return false
	}
	if there {
		*list = append(*list, id)
		if n := len(*list) - keptParts; n > 0 {
			*list = slices.Delete(*list, 0, n)
		}
	} else {
		*list = slices.Delete(*list, i, i+1)
	}
	return true
}

// change changes the file where do says so. A file that cannot be written is
// logged: what it holds is worth less than the conversation.
func (m *memory) change(do func(*known) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !do(&m.known) {
		return
	}
	if err := m.dir.WriteJSON(stateFile, m.known); err != nil {
		m.log.Error("what Discord has told could not be remembered", "error", err)
	}
}
