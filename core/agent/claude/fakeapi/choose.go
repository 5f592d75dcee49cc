package fakeapi

import (
	"net/http"
	"strings"
)

// Push queues answers: each request for the model takes the oldest, whatever
// its prompt says, until none is left.
func (s *Server) Push(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushed = append(s.pushed, steps...)
}

// Answer lets f decide about every request for the model, before queued
// answers and scripts; where it says false they decide. It is called from
// several goroutines at once and must neither block nor end the test (t.Fatal
// works on the test's goroutine only). nil takes it away.
func (s *Server) Answer(f func(Request) (Step, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decide = f
}

// choose finds the answer to a request: Answer's, a queued one, the summary of
// a compaction, the script's, or an echo.
func (s *Server) choose(r Request) Step {
	step := s.find(r)
	if step.PromptTooLong {
		step.Error = http.StatusBadRequest
		if step.ErrMsg == "" {
			step.ErrMsg = textTooLong
		}
	}
	if step.Times > 0 {
		step = s.fail(step)
	}
	for _, b := range step.Blocks {
		switch b.Type {
		case "text", "thinking", "tool_use":
		default:
			return complaint("a step cannot answer with a block of type " + b.Type)
		}
	}
	return step
}

func (s *Server) find(r Request) Step {
	s.mu.Lock()
	decide := s.decide
	s.mu.Unlock()
	if decide != nil {
		if step, ok := decide(r); ok {
			return step
		}
	}
	if step, ok := s.pop(); ok {
		return step
	}
	if strings.Contains(r.Prompt(), compactMark) {
		return Step{Text: summary(r)}
	}
	step, found, err := fromScript(r.Messages)
	switch {
	case err != nil:
		return complaint(err.Error())
	case found:
		return step
	}
	return Step{Text: echo(r)}
}

func (s *Server) pop() (Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pushed) == 0 {
		return Step{}, false
	}
	step := s.pushed[0]
	s.pushed = s.pushed[1:]
	return step, true
}

// fail counts a step's failures: with its faults until there were Times, then
// without.
func (s *Server) fail(step Step) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := step.counter()
	if s.failures[key] >= step.Times {
		return step.healthy()
	}
	s.failures[key]++
	return step
}

// complaint refuses a request that a test has written wrongly.
func complaint(why string) Step {
	return Step{Error: http.StatusBadRequest, ErrMsg: "fakeapi: " + why}
}
