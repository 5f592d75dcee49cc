package review

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/routines"
)

// change is the n-th change of a server's tools.
func change(n int) routines.Proposal {
	return routines.Proposal{
		Version: strings.Repeat(fmt.Sprintf("%02d", n), 32), Why: "1 tool new", Diff: fmt.Sprintf("new: mcp__weather__send\n+Sends %d.", n),
		What: "change of weather's tools", Text: "The MCP server weather has changed its tools: 1 tool new.",
	}
}

func TestAChangeOfAServersToolsIsAllowedOrRefusedByItsCard(t *testing.T) {
	for _, allow := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			o := open(t)
			runs(t, func(t *testing.T) {
				o.tools["weather"] = change(1)
				o.JudgeServers()
				o.JudgeServers() // the watch on the file
				synctest.Wait()
				if len(o.sent) != 1 || o.sent[0].Embed.Title != "Change of weather's tools" || !strings.HasPrefix(o.sent[0].Text, change(1).Text) {
					t.Fatalf("sent %+v", o.sent)
				}
				if len(o.notes) != 1 || !strings.HasPrefix(o.notes[0], change(1).Text) || !strings.Contains(o.notes[0], "Decide on its card") {
					t.Errorf("noted %q", o.notes)
				}
				if list := o.Beside(); len(list) != 1 || list[0].File != "mcp__weather" || list[0].Message != change(1).Text || list[0].Proposed != change(1) {
					t.Errorf("waiting: %+v", list)
				}
				if _, err := o.allow(t, command.AllowTask{ID: "mcp__weather"}); err == nil {
					t.Error("a change that was not seen is allowed")
				}
				if _, err := o.allow(t, command.AllowTask{ID: "mcp__weather", Version: change(2).Version}); err == nil {
					t.Error("what was not seen is allowed")
				}
				_, press, _ := strings.Cut(o.sent[0].Embed.Buttons[map[bool]int{true: 0, false: 1}[allow]].Action, ":")
				out, err := o.Pressed(t.Context(), allow, press)
				testkit.Must(t, err)
				synctest.Wait()
				want := map[bool]string{true: "allowed weather ", false: "refused weather "}[allow] + change(1).Version
				if fmt.Sprint(o.decided) != "["+want+"]" || len(o.Beside()) != 0 || out.Decision.Subject != "mcp__weather" || len(o.retired) != 1 {
					t.Errorf("decided %q, %+v; retired %v", o.decided, out, o.retired)
				}
				if _, err := o.Pressed(t.Context(), allow, press); err == nil {
					t.Error("it is decided twice")
				}
			})(o)
		})
	}
}

// A server may change its tools each second. The phone rings once an hour.
func TestAServerThatKeepsChangingItsToolsIsACardAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := open(t)
		runs(t, func(t *testing.T) {
			for i := range 130 {
				o.tools["weather"] = change(i % 100)
				o.JudgeServers()
				time.Sleep(time.Minute)
			}
			synctest.Wait()
			if len(o.sent) != 3 || len(o.notes) != 1 || len(o.retired) != 3 {
				t.Errorf("%d cards, %d notes, %d retired", len(o.sent), len(o.notes), len(o.retired))
			}
			if list := o.Beside(); len(list) != 1 || list[0].Version != change(29).Version {
				t.Errorf("waiting: %+v", list)
			}
		})(o)
	})
}

// Cards sent before a restart lose their buttons afterwards if they were decided in the meantime,
// and otherwise work. Changes that began to wait while the bot was not running get a card then.
func TestACardOfAnEarlierStartLosesItsButtonsOnceItIsDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := open(t)
		index, hooks := o.o.Index, o.o.Hooks
		runs(t, func(t *testing.T) {
			o.tools["weather"], o.tools["tickets"] = change(1), change(2)
			o.JudgeServers()
			synctest.Wait()
		})(o)
		delete(o.tools, "weather") // decided by a command
		o.tools["maps"] = change(3)
		o.offline.Store(true) // Discord connects a little later
		o.reopen(index, hooks)
		o.Recover()
		runs(t, func(t *testing.T) {
			synctest.Wait()
			o.offline.Store(false)
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			// Cards are sent by ID: that of tickets was the first, that of weather the second.
			if len(o.sent) != 3 || len(o.retired) != 1 || o.retired[0] != "2" {
				t.Fatalf("%d cards, retired %v", len(o.sent), o.retired)
			}
			_, press, _ := strings.Cut(o.sent[0].Embed.Buttons[0].Action, ":")
			_, err := o.Pressed(t.Context(), true, press)
			testkit.Must(t, err)
			synctest.Wait()
			if len(o.retired) != 2 || o.retired[1] != "1" {
				t.Errorf("retired %v", o.retired)
			}
		})(o)
		time.Sleep(8 * 24 * time.Hour)
		o.reopen(index, hooks)
		o.Recover()
		if len(o.cards.shown) != 0 {
			t.Errorf("still known: %+v", o.cards.shown)
		}
	})
}

// A card that can no longer be reached is given up until the next start.
func TestAButtonIsTakenOffAFewTimesAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := open(t)
		tries := 0
		o.o.Retire = func(context.Context, post.MessageID, string) error { tries++; return post.ErrNoChannel }
		runs(t, func(t *testing.T) {
			o.tools["weather"] = change(1)
			o.JudgeServers()
			synctest.Wait()
			delete(o.tools, "weather")
			o.JudgeServers()
			time.Sleep(24 * time.Hour)
			o.Settle()
			synctest.Wait()
			if tries != 1+len(retirePauses) {
				t.Errorf("%d tries", tries)
			}
		})(o)
	})
}
