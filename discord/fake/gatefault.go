package fake

import "encoding/json"

// Script says how one connection goes. The zero value is a good one.
type Script struct {
	Refuse    int  // HTTP status in place of the upgrade
	NoHello   bool // the socket opens and nothing comes
	HelloOnly bool // HELLO, and then neither an answer nor an ACK
	FirstOp7  bool // the first packet after IDENTIFY or RESUME asks to reconnect
	CloseWith int  // IDENTIFY or RESUME is answered with this close code
	Silent    bool // half-open straight after READY
}

// Connections scripts the next connections, one each.
func (s *Server) Connections(scripts ...Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts = append(s.scripts, scripts...)
}

func (s *Server) takeScript() Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.scripts) == 0 {
		return Script{}
	}
	first := s.scripts[0]
	s.scripts = s.scripts[1:]
	return first
}

// takeOp9 counts down what Op9Loop planned. Callers hold the lock.
func (s *Server) takeOp9() bool {
	if s.op9left == 0 {
		return false
	}
	if s.op9left > 0 {
		s.op9left--
	}
	return true
}

// live are the sockets that are open. Callers hold the lock.
func (s *Server) live() []*socket {
	var out []*socket
	for _, k := range s.sockets {
		if k.info.Closed.IsZero() {
			out = append(out, k)
		}
	}
	return out
}

// everySocket does something to all open sockets under the lock.
func (s *Server) everySocket(do func(*socket)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.live() {
		do(k)
	}
	s.change()
}

// DropSocket resets every gateway connection. Sessions can be resumed.
func (s *Server) DropSocket() {
	s.mu.Lock()
	cut := s.live()
	s.mu.Unlock()
	for _, k := range cut {
		reset(k.ws.NetConn())
	}
}

// GoSilent leaves the open connections half-open: nothing is sent any more, no
// ACK either, and nothing that the client sends arrives, not even its farewell.
// What happens meanwhile is replayed to whoever resumes.
func (s *Server) GoSilent() { s.everySocket(func(k *socket) { k.silent = true }) }

// SendOp7 asks the clients to reconnect and resume.
func (s *Server) SendOp7() {
	s.everySocket(func(k *socket) { k.enqueue(control(opReconnect, nil)) })
}

// Op9 says that the session is invalid. Unless it is resumable, it has ended,
// and the connection waits for another IDENTIFY.
func (s *Server) Op9(resumable bool) {
	s.everySocket(func(k *socket) {
		if !resumable {
			s.forget(k.session)
		}
		k.enqueue(control(opInvalid, resumable))
	})
}

// Op9Loop answers the next n IDENTIFYs and RESUMEs with op 9; below 0 all.
func (s *Server) Op9Loop(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.op9left = n
}

// CloseWith closes the open connections with this code.
func (s *Server) CloseWith(code int) {
	s.everySocket(func(k *socket) { k.enqueue(packet{close: code}) })
}

// EndSessions forgets all sessions, so that the next RESUME fails.
func (s *Server) EndSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, se := range s.sessions {
		s.forget(se)
	}
}

// Dispatch hands an event to all sessions, whatever it says and whether anybody
// asked for it.
func (s *Server) Dispatch(event string, data json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dispatches = append(s.dispatches, Dispatch{Type: event, Data: data, At: s.now()})
	for _, se := range s.sessions {
		se.send(event, data)
	}
	s.change()
}

// Again dispatches the newest event of this type once more under a new number,
// as Discord sometimes does. It reports whether there was one.
func (s *Server) Again(event string) bool {
	s.mu.Lock()
	var data json.RawMessage
	for _, d := range s.dispatches {
		if d.Type == event {
			data = d.Data
		}
	}
	s.mu.Unlock()
	if data == nil {
		return false
	}
	s.Dispatch(event, data)
	return true
}

// Repeat sends the last n packets of each session again, numbers and all.
func (s *Server) Repeat(n int) {
	s.everySocket(func(k *socket) {
		if k.session == nil {
			return
		}
		for _, p := range last(k.session.log, n) {
			k.enqueue(p)
		}
	})
}

// DispatchNumbered sends an event with a number of its own, outside of the
// sequence and unknown to any replay.
func (s *Server) DispatchNumbered(seq int64, event string, data json.RawMessage) {
	s.everySocket(func(k *socket) { k.enqueue(packet{data: dispatchPacket(event, seq, data)}) })
}

// SendRaw sends a frame as it is.
func (s *Server) SendRaw(frame []byte) {
	s.everySocket(func(k *socket) { k.enqueue(packet{data: frame}) })
}
