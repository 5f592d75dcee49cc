package fake

import (
	"net/http"
	"strings"
	"time"
)

// Match says which requests a fault concerns.
type Match struct {
	Method string // empty: any
	// PathPrefix is compared with the path behind /api/vN, as
	// "/channels/*/messages": a segment * stands for any one. Files have their
	// path "/attachments/…". Empty: any.
	PathPrefix string
	Times      int // how many requests; 0 is one, below 0 all
	// AfterStored lets the request take effect before the plan is carried out:
	// the message is stored, and the client does not hear of it.
	AfterStored bool
}

// Plan says what a matched request gets. Delay and Hold come first; with
// neither Status nor Cut the real answer follows.
type Plan struct {
	Status  int
	Headers map[string]string
	Body    string
	Delay   time.Duration
	Cut     bool   // the connection ends without an answer; a file ends in its middle
	Hold    string // the request waits until Release is called with this key
}

func (p Plan) answers() bool { return p.Status != 0 || p.Cut }

func (p Plan) answer() answer {
	a := answer{status: p.Status, raw: []byte(p.Body), cut: p.Cut, header: make(http.Header)}
	for k, v := range p.Headers {
		a.header.Set(k, v)
	}
	return a
}

type fault struct {
	match Match
	plan  Plan
	left  int // below 0: no end
}

// Fault plans what happens to the next requests that match. Faults are tried in
// the order of their making; a used up one is gone. The function that it
// returns lifts the fault early.
func (s *Server) Fault(m Match, p Plan) (lift func()) {
	f := &fault{match: m, plan: p, left: m.Times}
	if f.left == 0 {
		f.left = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		f.left = 0
	}
}

// NoFaults lifts all of them.
func (s *Server) NoFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

func (s *Server) takeFault(method, path string) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.left == 0 || f.match.Method != "" && f.match.Method != method || !matchesPath(f.match.PathPrefix, path) {
			continue
		}
		if f.left > 0 {
			f.left--
		}
		return f
	}
	return nil
}

// matchesPath compares whole segments, but for the pattern's last one, which
// may be the beginning of a segment.
func matchesPath(prefix, path string) bool {
	want, got := strings.Split(strings.TrimPrefix(prefix, "/"), "/"), strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(want) > len(got) {
		return false
	}
	for i, w := range want {
		if w == "*" || w == got[i] {
			continue
		}
		if i < len(want)-1 || !strings.HasPrefix(got[i], w) {
			return false
		}
	}
	return true
}

// hold is the channel that Release closes.
func (s *Server) hold(key string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds[key] == nil {
		s.holds[key] = make(chan struct{})
	}
	return s.holds[key]
}

// Release lets the requests go on that a plan holds under this key, and those
// that come later.
func (s *Server) Release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.holds[key]
	if c == nil {
		c = make(chan struct{})
		s.holds[key] = c
	}
	select {
	case <-c:
	default:
		close(c)
	}
}
