package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/mcp"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/webhook"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/toast"
	"ollimbot/tui/view"
	"ollimbot/tui/widget"
)

func TestWithoutArrowsTheHelpLineNamesKeysAsTheListsDo(t *testing.T) {
	play(t, setup{options: Options{ASCII: true}}, func(s *stage) {
		s.press("5", "i")
		s.sees("up sent before")
		s.misses("^ sent before")
		s.press("esc", "6", "&", "l", "i", "n", "e")
		s.sees("up/down ")
	})
	for _, name := range []string{"up", "down", "left", "right"} {
		if msg, ok := widget.Key(name); !ok || msg.String() != name {
			t.Errorf("a click on %q is %q", name, msg.String())
		}
	}
}

func TestALoginIsBegunShownAndFinished(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("L")
		s.sees("the engine needs no")
		s.change(func(c *core.Snapshot) {
			c.Engine.LoginNeeded, c.Engine.OK, c.Engine.State = true, false, "nobody is logged in: L logs in"
		})
		s.sees("nobody is logged in: L logs in", "L log in")
		s.press("L")
		s.sees("Asking for the address")
		s.did(command.Login{})
		s.change(func(c *core.Snapshot) { c.Engine.LoginURL = "https://example.com/authorize?code=true" })
		s.sees("https://example.com/authorize?code=true", "paste the code")
		s.press("enter")
		s.sees("first paste the code that the page shows")
		s.types("ab#cd")
		s.misses("ab#cd")
		s.sees("•••••")
		s.press("enter")
		s.did(command.Login{}, command.Login{Code: "ab#cd"})
	})
}

func TestTheEnginePageShowsWhatStandsBehindTheModel(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.change(func(c *core.Snapshot) {
			c.Engine.Version, c.Engine.Warning = "2.1.197", "this version was never tried"
			c.Engine.Today = agent.Usage{InputTokens: 1200, OutputTokens: 34, CostUSD: 0.125}
			c.Engine.Processes = []agent.Process{
				{PID: 4711, Session: "0f6a2f0e", Memory: 280 << 20, Started: time.Now().Add(-2 * time.Minute)},
				{PID: 4712, Session: "1f6a2f0e", Started: time.Now()},
			}
		})
		s.press("E")
		s.sees("2.1.197", "never tried", "1k tokens of prompts", "$0.12", "4711", "280 MB", "2 min", "1f6a2f0e", "?")
	})
}

func TestWhatCameInOverWebhooksIsShown(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("H")
		s.sees("No deliveries yet")
		s.press("esc")
		s.change(func(c *core.Snapshot) {
			c.Deliveries = []webhook.Delivery{
				{Webhook: "github-ci", At: time.Now(), Size: 412, Verdict: "safe", Outcome: "done", Count: 1},
				{At: time.Now(), Size: 9, Outcome: "refused 401", Count: 3},
				{Webhook: "form", At: time.Now(), Size: 90, Verdict: "held", Flagged: []string{"title"}, Outcome: "held", Count: 1},
			}
		})
		s.press("H")
		s.sees("github-ci", "412 bytes", "(unknown)", "refused 401 ×3", "held (title)")
	})
}

func TestTheMCPServersAreInThePalette(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.change(func(c *core.Snapshot) {
			c.Servers = []mcp.State{
				{Name: "notes", Status: mcp.Ready, Tools: 14},
				{Name: "weather", Status: mcp.Failed, Text: "the program has ended (exit status 1)", Calls: []mcp.Call{
					{At: time.Now(), Tool: "forecast", Took: 1500 * time.Millisecond},
					{At: time.Now(), Tool: "alerts", Took: time.Second, Text: "no such city"},
				}},
			}
		})
		s.press(":")
		s.types("mcp")
		s.press("enter")
		s.sees("MCP servers", "notes", "ready, 14 tools", "weather", "exit status 1", "forecast, 1.5s", "alerts, 1s: no such city")
	})
}

func TestTheAccountOfDueTimesIsFilteredAndLeadsToARun(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press(":")
		s.types("account mond")
		s.sees("a day is today, yesterday, a weekday")
		s.types("ay")
		s.press("enter")
		s.sees("Due times since Mon", "1 of 3 due times ran; 1 was missed while the machine slept; 1 was held", "done", "missed", "held",
			"run f3f3f3f3: done", "after 0:41, 1 ping; enter opens it")
		s.press("/")
		s.types("is:missed")
		s.press("enter")
		s.sees("Medication, routine bbbb2222", "missed: the machine slept", "it had no run")
		s.misses("snoozed")
		s.press("enter")
		s.sees("Medication: it had no run")
		s.press("esc", "down", "down")
		s.sees("held: snoozed, until")
		s.press("home", "enter")
		s.misses("Due times since")
		s.sees("4 Runs")
	})
}

func TestTroubleThatIsASentenceLeavesTheTopLineItsWords(t *testing.T) {
	for _, w := range []int{80, 120, 160} {
		play(t, setup{w: w, h: 30}, func(s *stage) {
			s.change(func(c *core.Snapshot) {
				c.Surface = core.SurfaceStatus{Name: "Discord", State: "down since 14:02: " + strings.Repeat("the network is unreachable ", 5)}
				c.Engine.OK, c.Engine.State = false, strings.Repeat("not logged in to Claude ", 6)
			})
			s.sees("✗ Discord is not connected: down since")
			s.press("E")
			s.sees("network is unreachable")
		})
	}
}

func TestALongNoticeGoesOnBelowItsWords(t *testing.T) {
	for w, indent := range map[int]int{100: noticeColumn, 40: 9} {
		r := plainRoot(t, fullDay())
		r.w = w
		r.toasts = toast.List{}
		r.toasts.Report(day, notice.Alert, "the disk is full; free some space and try again, or nothing that was said is kept and all of it is gone")
		lines := inside(r, r.notices())
		if len(lines) < 2 || !strings.HasPrefix(lines[1], " "+widget.Blank(indent)) || strings.HasPrefix(lines[1], widget.Blank(indent+2)) {
			t.Errorf("%d cells: %q", w, lines)
		}
	}
}

// inside is what a dialog draws, without colours.
func inside(r *root, d pane.Dialog) []string {
	lines := d.Draw(r.context(r.focus), r.w-2, r.h-4)
	for i := range lines {
		lines[i] = ansi.Strip(lines[i])
	}
	return lines
}

func TestAnEmptyListHasNoBoxForWhatIsSelected(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		for _, p := range []action.Pane{action.Schedule, action.Updates} {
			r := plainRoot(t, core.Snapshot{At: day, Zone: time.UTC})
			r.w, r.h = size[0], size[1]
			r.setFocus(p)
			for _, column := range r.view().Plan().Columns {
				for _, b := range column.Boxes {
					if b.Pane == action.Detail {
						t.Errorf("%v: %s has no row, and there is a box for it", size, p.Name())
					}
				}
			}
		}
	}
}

func TestTheBoxOfWhatIsSelectedHasATitleWhereTheFilterKeepsNothing(t *testing.T) {
	r := plainRoot(t, fullDay())
	r.w, r.h = 120, 40
	for p, title := range map[action.Pane]string{action.Schedule: "╭─ Schedule ─", action.Updates: "╭─ Update ─"} {
		r.setFocus(p)
		r.panes[p].(interface{ Filter(text string) }).Filter("zzz")
		if screen := strings.Join(view.Frame(r.view()), "\n"); !strings.Contains(screen, title) {
			t.Errorf("%s:\n%s", p.Name(), screen)
		}
	}
}
