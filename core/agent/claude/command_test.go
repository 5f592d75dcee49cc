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

// A shell's commands reach the run of their own session, as long as its process lives.
func TestEachSessionsCommandsReachItsOwnRun(t *testing.T) {
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
	for how, end := range map[string]func(agent.Session, *player){
		"closed": func(s agent.Session, _ *player) { testkit.Must(t, s.Close()) },
		"died":   func(s agent.Session, p *player) { p.end(); <-inner(s).done },
		"":       nil,
	} {
		for name, door := range map[string]*control.Server{"main": server, "fork": server, "no door": nil} {
			st := newStage(t, Options{Control: door})
			s, err := st.engine.Open(t.Context(), agent.SessionOptions{Dir: "/", Command: func(_ context.Context, args []string) agent.CommandResult {
				return agent.CommandResult{Stdout: name + ": " + strings.Join(args, " ")}
			}})
			testkit.Must(t, err)
			p := <-st.players
			socket, token := config.Lookup(p.spec.Env, control.SocketVar), config.Lookup(p.spec.Env, control.SessionVar)
			if door == nil {
				if socket+token != "" {
					t.Errorf("without a door the process has %q and %q", socket, token)
				}
				continue
			}
			if r, err := control.Call(socket, token, []string{"reminder", "list"}); err != nil || r.Stdout != name+": reminder list" {
				t.Errorf("the %s session's command gives %+v, %v", name, r, err)
			}
			if end == nil {
				continue
			}
			end(s, p)
			if r, err := control.Call(socket, token, []string{"help"}); err == nil || !strings.Contains(err.Error(), "session has ended") {
				t.Errorf("after it was %s a command gives %+v, %v", how, r, err)
			}
		}
	}
}
