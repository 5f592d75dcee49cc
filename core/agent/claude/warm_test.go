package claude

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/fakeapi"
)

// noted is an answer that can be found in a transcript.
var noted = fakeapi.Script(fakeapi.Step{Text: "It is noted."})

// forkOf are the options of a fork, as a background run opens it.
func (r *rig) forkOf(main agent.Session) agent.SessionOptions {
	o := r.options()
	o.Resume, o.Fork = main.ID(), true
	o.Tools = []agent.Tool{whoTool("fork")}
	return o
}

// uses counts the engine's processes by their use.
func uses(e *Engine) (sessions, warm int) {
	for _, p := range e.Status().Processes {
		if p.Use == useWarm {
			warm++
		} else {
			sessions++
		}
	}
	return sessions, warm
}

// warmed waits until a process is ready, and returns its session's id.
func (r *rig) warmed(changed <-chan struct{}) string {
	r.t.Helper()
	late := time.After(soon)
	for {
		r.engine.pool.mu.Lock()
		a := r.engine.pool.ready
		r.engine.pool.mu.Unlock()
		if a != nil {
			return a.s.ID()
		}
		select {
		case <-changed:
		case <-late:
			r.t.Fatal("no process became ready")
		}
	}
}

// warmRig is a rig that keeps one process ready, and what tells of changes.
func warmRig(t *testing.T) (*rig, <-chan struct{}) {
	t.Helper()
	changed := make(chan struct{}, 1)
	r := newRig(t, func(o *Options) { o.Limits = func() Limits { return Limits{Warm: 1} } })
	r.engine.OnChange(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	return r, changed
}

func TestAForkThatWaitsAnswersAtOnceAndCostsNothingBefore(t *testing.T) {
	r, changed := warmRig(t)
	main := r.open()
	say(t, main, "remember the quince "+noted)
	r.written(main.ID(), `"It is noted."`)
	r.engine.Warm(r.forkOf(main))
	waits := r.warmed(changed)
	if n := len(r.requests()); n != 1 {
		t.Errorf("%d requests before anybody has asked", n)
	}
	o := r.forkOf(main)
	began := time.Now()
	fork, err := r.engine.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	opened := time.Since(began)
	h := say(t, fork, "what fruit? "+fakeapi.Script(
		fakeapi.Step{Tool: "mcp__discord__echo", Input: map[string]any{}}, fakeapi.Step{Text: "done"}))
	q := r.requests()
	t.Logf("opened in %s, first request after %s", opened, q[1].Time.Sub(began))
	if opened > 50*time.Millisecond { // a process takes twenty times as long to start
		t.Errorf("opened in %s", opened)
	}
	if fork.ID() != waits || !strings.Contains(string(q[1].Raw), "remember the quince") {
		t.Error("the fork is not the one that waited, or does not know what was said")
	}
	if ends := all[agent.ToolEnd](h); len(ends) != 1 || ends[0].Text != "this is fork" {
		t.Errorf("the run's own tool answers %+v", ends)
	}
	if _, warm := uses(r.engine); warm != 0 {
		t.Error("the process is still counted as one that waits")
	}
}

func TestAForkThatWaitsIsNeverTakenWithAnOlderHistory(t *testing.T) {
	r, changed := warmRig(t)
	main := r.open()
	say(t, main, "remember the quince "+noted)
	r.written(main.ID(), `"It is noted."`)
	r.engine.Warm(r.forkOf(main))
	waits := r.warmed(changed)
	say(t, main, "and the medlar")
	r.written(main.ID(), "medlar")
	fork, err := r.engine.Open(t.Context(), r.forkOf(main))
	if err != nil {
		t.Fatal(err)
	}
	say(t, fork, "what fruit?")
	q := r.requests()
	if fork.ID() == waits || !strings.Contains(string(q[len(q)-1].Raw), "medlar") {
		t.Error("the fork does not know what was said last")
	}
}

func TestWhatWaitsIsTakenOnlyForWhatItWasStartedFor(t *testing.T) {
	r, changed := warmRig(t)
	main := r.open()
	say(t, main, "hello "+noted)
	r.written(main.ID(), `"It is noted."`)
	r.engine.Warm(r.forkOf(main))
	waits := r.warmed(changed)
	for name, change := range map[string]func(*agent.SessionOptions){
		"another model":    func(o *agent.SessionOptions) { o.Settings.Model = "sonnet" },
		"another prompt":   func(o *agent.SessionOptions) { o.SystemPrompt += "!" },
		"other tools":      func(o *agent.SessionOptions) { o.Tools = nil },
		"an id of its own": func(o *agent.SessionOptions) { o.ID = "0b0e7cd2-7a4c-4f0b-9d3e-1f5a7c1d2e3f" },
	} {
		o := r.forkOf(main)
		change(&o)
		s, err := r.engine.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if s.ID() == waits {
			t.Errorf("%s: taken", name)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	// Many at once: one gets it, the others a process of their own.
	ids := make(chan string, 3)
	for range 3 {
		go func() {
			s, err := r.engine.Open(t.Context(), r.forkOf(main))
			if err != nil {
				ids <- err.Error()
				return
			}
			ids <- s.ID()
		}()
	}
	seen := map[string]bool{<-ids: true, <-ids: true, <-ids: true}
	if len(seen) != 3 || !seen[waits] {
		t.Errorf("the sessions are %v, %s waited", seen, waits)
	}
}
