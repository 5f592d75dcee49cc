package claude

import (
	"context"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/safety/control"
	"ollimbot/core/storage/config"
)

// commands is an engine with a control socket, over played processes.
func commands(t *testing.T) *stage {
	t.Helper()
	server := control.New(control.Options{Dir: t.TempDir(), Log: testLog(t)})
	must(t, server.Open())
	ctx, cancel := context.WithCancel(context.Background())
	var g sync.WaitGroup
	g.Go(func() {
		if err := server.Serve(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); g.Wait() })
	return newStage(t, Options{Control: server})
}

// answering is a session whose commands are answered with its name.
func answering(name string) agent.SessionOptions {
	return agent.SessionOptions{Dir: "/", Command: func(_ context.Context, args []string) agent.CommandResult {
		return agent.CommandResult{Stdout: name + ": " + strings.Join(args, " ")}
	}}
}

// calls has the process's shell call one of our commands.
func (p *player) calls(t *testing.T, args ...string) agent.CommandResult {
	t.Helper()
	r, err := control.Call(config.Lookup(p.env, control.SocketVar), config.Lookup(p.env, control.SessionVar), args)
	must(t, err)
	return r
}

func TestEachSessionsCommandsReachItsOwnRun(t *testing.T) {
	st := commands(t)
	for _, name := range []string{"main", "fork"} {
		s, err := st.engine.Open(t.Context(), answering(name))
		must(t, err)
		p := <-st.players
		if r := p.calls(t, "reminder", "list"); r.Stdout != name+": reminder list" {
			t.Errorf("the %s session's command gives %+v", name, r)
		}
		if name == "main" {
			continue
		}
		must(t, s.Close())
		if r := p.calls(t, "reminder", "list"); r.Exit != 1 || !strings.Contains(r.Stderr, "session has ended") {
			t.Errorf("after its end it gives %+v", r)
		}
	}
}

func TestAProcessThatDiesTakesItsTokenAlong(t *testing.T) {
	st := commands(t)
	s, err := st.engine.Open(t.Context(), answering("main"))
	must(t, err)
	p := <-st.players
	p.end()
	<-inner(s).done
	if r := p.calls(t, "help"); r.Exit != 1 || !strings.Contains(r.Stderr, "session has ended") {
		t.Errorf("it gives %+v", r)
	}
}

func TestWithoutASocketAProcessCarriesNothingOfIt(t *testing.T) {
	st := newStage(t, Options{})
	if _, err := st.engine.Open(t.Context(), answering("main")); err != nil {
		t.Fatal(err)
	}
	p := <-st.players
	if socket, token := config.Lookup(p.env, control.SocketVar), config.Lookup(p.env, control.SessionVar); socket+token != "" {
		t.Errorf("it has the socket %q and the token %q", socket, token)
	}
}
