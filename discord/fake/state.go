package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long Wait waits for something that should happen at once. It
// is long because a loaded machine is no fault of the bot.
const patience = 10 * time.Second

// world is what the server remembers. The server's lock guards it.
type world struct {
	ids          int64 // last snowflake
	users        map[string]User
	channels     map[string]*channel
	dms          map[string]string // user id -> channel id
	messages     []*Message        // oldest first, deleted ones too
	place        map[string]int    // message id -> index in messages
	nonces       map[string]noted
	files        map[string]Attachment // path -> file
	interactions []*Interaction
	commands     []Command
	commandPuts  int
	typing       []Typing
	requests     []*Request
	limited      int
}

type channel struct {
	id, guild, user string // user: the other side of a direct message
}

// noted is a nonce that was used.
type noted struct {
	message string
	at      time.Time
}

func newWorld() world {
	return world{
		users: make(map[string]User), channels: make(map[string]*channel), dms: make(map[string]string),
		place: make(map[string]int), nonces: make(map[string]noted), files: make(map[string]Attachment),
	}
}

// State is everything at one instant. What it holds never changes afterwards.
type State struct {
	Messages     []*Message // oldest first; deleted ones are kept
	Requests     []*Request
	Interactions []Interaction
	Connections  []Connection
	Identifies   []Identify
	Resumes      []Resume
	Presences    []string // op 3 payloads
	Dispatches   []Dispatch
	Typing       []Typing
	Commands     []Command
	CommandPuts  int // bulk overwrites
	Limited      int // answers 429 that Options.Limits caused
	Violations   []string
}

// State is the state now.
func (s *Server) State() State {
	st, _ := s.look()
	return st
}

// look returns the state and what is closed at the next change.
func (s *Server) look() (State, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := State{
		Messages: slices.Clone(s.messages), Requests: slices.Clone(s.requests),
		Connections: s.connections(), Identifies: slices.Clone(s.identifies), Resumes: slices.Clone(s.resumes),
		// What is only ever appended to may share its array.
		Presences: slices.Clip(s.presences), Dispatches: slices.Clip(s.dispatches),
		Typing: slices.Clip(s.typing), Commands: slices.Clip(s.commands),
		CommandPuts: s.commandPuts, Limited: s.limited, Violations: slices.Clip(s.violations),
	}
	for _, i := range s.interactions {
		st.Interactions = append(st.Interactions, *i)
	}
	return st, s.changed
}

// Wait returns the first state that satisfies ok. It looks again at every
// change, stops the test after 10 s, and then says what there was instead.
func (s *Server) Wait(t testing.TB, what string, ok func(State) bool) State {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	st, err := s.WaitContext(ctx, what, ok)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// WaitContext is Wait with a deadline of the caller's. The error wraps the one
// of the context and describes the last state.
func (s *Server) WaitContext(ctx context.Context, what string, ok func(State) bool) (State, error) {
	for {
		st, changed := s.look()
		if ok(st) {
			return st, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return st, fmt.Errorf("wait for %s: %w\n%s", what, ctx.Err(), st)
		case <-s.stopped.Done():
			return st, fmt.Errorf("wait for %s: %w", what, errClosed)
		}
	}
}

var errClosed = errors.New("the fake is closed")

// Message is the message with this id, nil without one.
func (st State) Message(id string) *Message {
	for _, m := range slices.Backward(st.Messages) {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// Sent are the standing messages that a user wrote, oldest first. With
// Server.Bot it is what the bot under test has said and not taken back.
func (st State) Sent(by User) []*Message {
	var sent []*Message
	for _, m := range st.Messages {
		if m.Author.ID == by.ID && m.Deleted.IsZero() {
			sent = append(sent, m)
		}
	}
	return sent
}

// Said reports whether a standing message of this user contains the text, in
// its content or in an embed.
func (st State) Said(by User, text string) bool {
	return slices.ContainsFunc(st.Sent(by), func(m *Message) bool { return m.contains(text) })
}

func (m *Message) contains(text string) bool {
	if strings.Contains(m.Content, text) {
		return true
	}
	for _, e := range m.Embeds {
		if strings.Contains(e.Title, text) || strings.Contains(e.Description, text) {
			return true
		}
	}
	return false
}

// Count is how many requests had this method and a path that the pattern
// matches as in Match.PathPrefix.
func (st State) Count(method, pathPrefix string) int {
	n := 0
	for _, r := range st.Requests {
		if r.Method == method && matchesPath(pathPrefix, r.Path) {
			n++
		}
	}
	return n
}

// Up reports whether a connection is past READY or RESUMED and still open.
func (st State) Up() bool {
	return slices.ContainsFunc(st.Connections, func(c Connection) bool { return c.Ready && c.Closed.IsZero() })
}

// String describes the state in a few lines, newest things last.
func (st State) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d connections, %d identifies, %d resumes, %d dispatches, %d requests, %d interactions\n",
		len(st.Connections), len(st.Identifies), len(st.Resumes), len(st.Dispatches), len(st.Requests), len(st.Interactions))
	for _, r := range last(st.Requests, 12) {
		fmt.Fprintf(&b, "  %s %s -> %d %.200s\n", r.Method, r.Path, r.Status, r.Body)
	}
	for _, m := range last(st.Messages, 12) {
		gone := ""
		if !m.Deleted.IsZero() {
			gone = " (deleted)"
		}
		fmt.Fprintf(&b, "  %s%s: %.200q, %d embeds, %d edits\n", m.Author.Username, gone, m.Content, len(m.Embeds), m.Edits())
	}
	for _, v := range last(st.Violations, 5) {
		fmt.Fprintf(&b, "  violation: %s\n", v)
	}
	return b.String()
}

func last[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }
