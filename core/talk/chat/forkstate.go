package chat

import (
	"cmp"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/updates"
)

// interactive is a fork that the user talks to. The running job owns its fields, except
// those below mu.
type interactive struct {
	session agent.Session
	read    *policy.Taint // what the session has read
	topic   string        // cleaned
	named   string        // its topic, or the run that it continues
	resumes string        // the session of a background run that it continues, or empty
	entered time.Time
	card    post.MessageID // the message with its exits, titled title
	title   string
	idle    time.Duration

	// active is the time of the last activity of the user or the agent, prompted when the
	// agent was asked whether to leave. overdue is set once the agent was told to leave.
	active, prompted time.Time
	overdue          bool
	ranBehind        []string        // titles of tasks that ran in the main session behind the fork
	seen             map[string]bool // updates that were shown in this fork
	// taken are the updates that the main session has received behind the fork.
	taken []updates.Update

	mu sync.Mutex
	id string // empty until the engine reports it
	// exit is how the agent wants to leave, report its latest report. saveAsked is set while
	// the user's answer about saving is pending; mode is the fork's own, or empty.
	exit      command.Exit
	report    string
	saveAsked bool
	mode      policy.Mode
}

// forkRequest describes a fork to enter.
type forkRequest struct {
	topic  string
	idle   time.Duration // 0: as configured
	resume string        // session of a background run to continue, or empty
	first  string        // the first prompt, unless it is the standard one of a new fork
	title  string        // the resumed run, for people
	images []agent.Image // sent with the first prompt
	// written is when the user wrote the first prompt, zero if someone else did; label is
	// the label of the first prompt.
	written time.Time
	label   label.Label
}

// forkState is the open interactive fork, if any, and the fork the agent has requested.
type forkState struct {
	mu     sync.Mutex
	fork   *interactive
	wanted *forkRequest // entered after the running turn
}

// current returns the open fork, or nil.
func (s *forkState) current() *interactive {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fork
}

// set opens a fork, or closes it with nil, and drops a request for another.
func (s *forkState) set(f *interactive) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fork, s.wanted = f, nil
}

// request records that the agent wants a fork. It returns false if one is open.
func (s *forkState) request(topic string, minutes int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fork != nil {
		return false
	}
	s.wanted = &forkRequest{topic: topic, idle: time.Duration(minutes) * time.Minute}
	return true
}

// requested reports whether the agent has requested a fork in the running turn.
func (s *forkState) requested() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted != nil
}

// takeRequest returns the fork that the agent has requested, and clears the request.
func (s *forkState) takeRequest() *forkRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.wanted
	s.wanted = nil
	return r
}

// passed records updates that the main session has received: if an open fork replaces it,
// the fork must get them.
func (s *forkState) passed(list []updates.Update) {
	if f := s.current(); f != nil {
		f.taken = append(f.taken, list...)
	}
}

// sessionID returns the id that the engine has reported, or "".
func (f *interactive) sessionID() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.id
}

// learn records the session's id. It returns true for the first one.
func (f *interactive) learn(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.id == "" && id != ""
	f.id = cmp.Or(f.id, id)
	return first
}

// requestExit records how the agent wants to leave once its turn has ended, and its
// report. The later of two requests wins.
func (f *interactive) requestExit(how command.Exit, report string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.exit = how
	f.report = cmp.Or(report, f.report)
}

// exiting returns how the agent wants to leave the fork, empty to stay, and its report.
func (f *interactive) exiting() (how command.Exit, report string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.exit, f.report
}

// askToSave records that the user's answer about saving is pending.
func (f *interactive) askToSave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saveAsked = true
}

// ownMode returns the fork's permission mode; empty if it has none of its own.
func (f *interactive) ownMode() policy.Mode {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mode
}

func (f *interactive) setMode(m policy.Mode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mode = m
}

// Banner is the interactive fork as shown in a dashboard.
type Banner struct {
	Topic   string // cleaned; empty if led by the user
	Resumed bool   // continues a background run: it cannot be saved
	Since   time.Time
	// Asks is true while the agent's request to save the fork is pending.
	Asks bool
}

// Banner is the open fork, or nil.
func (s *forkState) Banner() *Banner {
	f := s.current()
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Banner{Topic: f.topic, Resumed: f.resumes != "", Since: f.entered, Asks: f.saveAsked}
}
