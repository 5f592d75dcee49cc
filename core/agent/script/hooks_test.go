package script

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

func TestAskGoesThroughHookAndPermission(t *testing.T) {
	tests := map[string]struct {
		hook, permission func(context.Context, agent.ToolUse) agent.Decision
		want             string
	}{
		"allowed": {nil, func(_ context.Context, u agent.ToolUse) agent.Decision {
			return agent.Decision{Digest: u.Digest(), Allow: u.Name == "Bash" && strings.Contains(string(u.Input), "ls")}
		}, `end Bash "(offline engine: allowed, but there is nothing here that could run it)" error=false denied=false`},
		"denied by the user": {nil, func(context.Context, agent.ToolUse) agent.Decision {
			return agent.Decision{Reason: "not today"}
		}, `end Bash "not today" error=true denied=true`},
		"denied by the hook, nobody is asked": {
			func(context.Context, agent.ToolUse) agent.Decision {
				return agent.Decision{Reason: "state/ is write-protected"}
			}, func(context.Context, agent.ToolUse) agent.Decision { panic("asked") },
			`end Bash "state/ is write-protected" error=true denied=true`,
		},
		"nobody to ask": {nil, nil, `end Bash "no one is here to give permission" error=true denied=true`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := open(t, Options{}, agent.SessionOptions{Hooks: agent.Hooks{PreTool: tt.hook}, Permission: tt.permission})
			got, _, err := turnOf(t.Context(), s, scripted(`ask Bash {"command":"ls"}`))
			if err != nil || got[1] != tt.want {
				t.Errorf("got %q, %v", got[1], err)
			}
		})
	}
}

func TestTheHookDeniesBotToolsTooAndPostToolFollowsSuccess(t *testing.T) {
	var after []string
	called := 0
	tool := agent.Tool{Name: "ping_user", Call: func(context.Context, agent.Approved) agent.ToolResult {
		called++
		return agent.ToolResult{Text: "Message sent."}
	}}
	s := open(t, Options{}, agent.SessionOptions{
		Tools: []agent.Tool{tool, echo("discord_embed", true)},
		Hooks: agent.Hooks{
			PreTool: func(_ context.Context, u agent.ToolUse) agent.Decision {
				return agent.Decision{Digest: u.Digest(), Allow: !strings.Contains(string(u.Input), "secret"), Reason: "no"}
			},
			PostTool: func(_ context.Context, u agent.ToolUse) { after = append(after, u.Name) },
		},
	})
	if _, _, err := turnOf(t.Context(), s, scripted(`call ping_user {"message":"secret"}`, `call ping_user {"message":"hi"}`, `call discord_embed {}`)); err != nil {
		t.Fatal(err)
	}
	if called != 1 {
		t.Errorf("the tool ran %d times", called)
	}
	if diff := cmp.Diff([]string{"mcp__discord__ping_user"}, after); diff != "" {
		t.Error(diff)
	}
}

func TestTheStopHookBlocksAndTheTurnGoesOn(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  []string
		asked []bool
	}{
		"with the rest of the script": {
			[]string{"say a", "stop", "say b", "stop", "say never"},
			[]string{"text a\nb", `result "a\nb" interrupted=false error=false`},
			[]bool{false, true},
		},
		"with what it was asked for": {
			[]string{"say a"},
			[]string{"text a", "start report_updates", "end report_updates", `result "" interrupted=false error=false`},
			[]bool{false, true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []bool
			s := open(t, Options{}, agent.SessionOptions{
				Tools: []agent.Tool{echo("report_updates", false)},
				Hooks: agent.Hooks{Stop: func(_ context.Context, again bool) string {
					asked = append(asked, again)
					if again {
						return ""
					}
					return "call report_updates first"
				}},
			})
			got, _, err := turnOf(t.Context(), s, scripted(tt.lines...))
			testkit.Must(t, err)
			for i := range got {
				if strings.HasPrefix(got[i], "start mcp__discord__") || strings.HasPrefix(got[i], "end mcp__discord__") {
					f := strings.Fields(got[i])
					got[i] = f[0] + " " + strings.TrimPrefix(f[1], "mcp__discord__")
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.asked, asked); diff != "" {
				t.Errorf("the hook was asked: %s", diff)
			}
		})
	}
}

func TestAHookThatAlwaysBlocksDoesNotLoopForEver(t *testing.T) {
	s := open(t, Options{}, agent.SessionOptions{Hooks: agent.Hooks{Stop: func(context.Context, bool) string { return "again" }}})
	if _, result, err := turnOf(t.Context(), s, "hello"); err != nil || result.SessionID == "" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestInterruptEndsATurnAtAnyMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Pace: 1}, agent.SessionOptions{Tools: []agent.Tool{{Name: "slow", Call: func(ctx context.Context, _ agent.Approved) agent.ToolResult {
			<-ctx.Done()
			return agent.ToolResult{IsError: true}
		}}}})
		for _, lines := range [][]string{{"wait 10m"}, {"call slow {}"}, {"say a very long story with many words"}, {"think about many many things"}} {
			var wg sync.WaitGroup
			begin := time.Now()
			wg.Go(func() {
				got, result, err := turnOf(t.Context(), s, scripted(lines...))
				if err != nil || !result.Interrupted || result.IsError {
					t.Errorf("%v: got %v, %v", lines, got, err)
				}
			})
			time.Sleep(30 * time.Millisecond)
			testkit.Must(t, s.Interrupt(t.Context()))
			wg.Wait()
			if d := time.Since(begin); d > time.Second {
				t.Errorf("%v: ended after %s", lines, d)
			}
		}
		if err := s.Interrupt(t.Context()); err != nil {
			t.Error("an interrupt of nothing:", err)
		}
		if got, _, err := turnOf(t.Context(), s, scripted("say still here")); err != nil || got[0] != "text still here" {
			t.Errorf("the next turn: %v, %v", got, err)
		}
	})
}

func TestTheContextAndCloseEndATurnWithAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Pace: 1}, agent.SessionOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, result, err := turnOf(ctx, s, scripted("wait 1m")); !errors.Is(err, context.DeadlineExceeded) || result.SessionID != "" {
			t.Errorf("ctx: %+v, %v", result, err)
		}
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() {
			time.Sleep(time.Second)
			if err := errors.Join(s.Close(), s.Close()); err != nil {
				t.Error(err)
			}
		})
		if _, _, err := turnOf(t.Context(), s, scripted("wait 1m")); !errors.Is(err, agent.ErrClosed) {
			t.Errorf("close: %v", err)
		}
		if _, _, err := turnOf(t.Context(), s, "hello"); !errors.Is(err, agent.ErrClosed) {
			t.Errorf("after close: %v", err)
		}
		if err := s.Configure(t.Context(), agent.Settings{Model: "x"}); !errors.Is(err, agent.ErrClosed) {
			t.Errorf("configure after close: %v", err)
		}
	})
}

func TestOneTurnAtATimeAndAConsumerMayLeave(t *testing.T) {
	s := open(t, Options{}, agent.SessionOptions{})
	for _, err := range s.Send(t.Context(), agent.Message{Text: scripted("say a b c")}) {
		if err != nil {
			t.Error(err)
		}
		if _, _, err := turnOf(t.Context(), s, "hello"); !errors.Is(err, agent.ErrTwoTurns) {
			t.Errorf("a second turn: %v", err)
		}
		break
	}
	if got, _, err := turnOf(t.Context(), s, scripted("say d")); err != nil || got[0] != "text d" {
		t.Errorf("after leaving: %v, %v", got, err)
	}
}
