package claude

import (
	"context"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/control"
	"ollimbot/core/storage/config"
)

// commands returns an engine with doors for commands, over played processes.
func commands(t *testing.T) *stage {
	t.Helper()
	server := control.New(control.Options{Dir: t.TempDir(), Log: testLog(t)})
	testkit.Must(t, server.Open())
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

// answering returns options for a session whose commands are answered with its name.
func answering(name string) agent.SessionOptions {
	return agent.SessionOptions{Dir: "/", Command: func(_ context.Context, args []string) agent.CommandResult {
		return agent.CommandResult{Stdout: name + ": " + strings.Join(args, " ")}
	}}
}

// calls makes the process's shell call one of the bot's commands.
func (p *player) calls(t *testing.T, args ...string) agent.CommandResult {
	t.Helper()
	r, err := control.Call(config.Lookup(p.spec.Env, control.SocketVar), config.Lookup(p.spec.Env, control.SessionVar), args)
	testkit.Must(t, err)
	return r
}

// isShut checks that the process's shell cannot reach the bot.
func (p *player) isShut(t *testing.T) {
	t.Helper()
	r, err := control.Call(config.Lookup(p.spec.Env, control.SocketVar), config.Lookup(p.spec.Env, control.SessionVar), []string{"help"})
	if err == nil || !strings.Contains(err.Error(), "session has ended") {
		t.Errorf("after its end a command gives %+v, %v", r, err)
	}
}

func TestEachSessionsCommandsReachItsOwnRun(t *testing.T) {
	st := commands(t)
	for _, name := range []string{"main", "fork"} {
		s, err := st.engine.Open(t.Context(), answering(name))
		testkit.Must(t, err)
		p := <-st.players
		if r := p.calls(t, "reminder", "list"); r.Stdout != name+": reminder list" {
			t.Errorf("the %s session's command gives %+v", name, r)
		}
		if name == "main" {
			continue
		}
		testkit.Must(t, s.Close())
		p.isShut(t)
	}
}

func TestAProcessThatDiesTakesItsTokenAlong(t *testing.T) {
	st := commands(t)
	s, err := st.engine.Open(t.Context(), answering("main"))
	testkit.Must(t, err)
	p := <-st.players
	p.end()
	<-inner(s).done
	p.isShut(t)
}

func TestWithoutADoorAProcessCarriesNothingOfIt(t *testing.T) {
	st := newStage(t, Options{})
	if _, err := st.engine.Open(t.Context(), answering("main")); err != nil {
		t.Fatal(err)
	}
	p := <-st.players
	if door, token := config.Lookup(p.spec.Env, control.SocketVar), config.Lookup(p.spec.Env, control.SessionVar); door+token != "" {
		t.Errorf("it has the door %q and the token %q", door, token)
	}
}
