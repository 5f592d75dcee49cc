package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/mcp"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/webhook"
	"ollimbot/tui/theme"
)

// becomes is a change of the bot that a story names.
func becomes(f func(c *core.Snapshot)) func(s *stage) { return func(s *stage) { s.change(f) } }

func TestPagesAreOpenedReadAndLeftAsTheirStoriesSay(t *testing.T) {
	slow := setup{rings: func(b *bot) { b.takes = func(command.Value) time.Duration { return time.Second } }}
	tell(t, []story{
		{"a prompt is previewed", setup{}, `
			2 p => You are about to fire. | Second line of the prompt. | esc close
			q   => !esc close | stays`},
		{"a login is begun, shown and finished", setup{happen: happening{
			"it is needed": becomes(func(c *core.Snapshot) {
				c.Engine.LoginNeeded, c.Engine.OK, c.Engine.State = true, false, "nobody is logged in: L logs in"
			}),
			"its address comes": becomes(func(c *core.Snapshot) { c.Engine.LoginURL = "https://example.com/authorize?code=true" }),
		}}, `
			L                   => the engine needs no
			(it is needed)      => nobody is logged in: L logs in | L log in
			L                   => Asking for the address | did Login
			(its address comes) => https://example.com/authorize?code=true | paste the code
			enter               => first paste the code that the page shows
			"ab#cd"             => !ab#cd | •••••
			enter               => did Login; Login Code=ab#cd`},
		{"the engine's shows what is behind the model", setup{happen: happening{"it works": becomes(func(c *core.Snapshot) {
			c.Engine.Version, c.Engine.Warning = "2.1.197", "this version was never tried"
			c.Engine.Today = agent.Usage{InputTokens: 1200, OutputTokens: 34, CostUSD: 0.125}
			c.Engine.Processes = []agent.Process{
				{PID: 4711, Session: "0f6a2f0e", Memory: 280 << 20, Started: time.Now().Add(-2 * time.Minute)},
				{PID: 4712, Session: "1f6a2f0e", Started: time.Now()},
			}
		})}}, `
			(it works) E => 2.1.197 | never tried | 1k tokens of prompts | $0.12 | 4711 | 280 MB | 2 min | 1f6a2f0e | ?`},
		{"what came in over webhooks is shown", setup{happen: happening{"webhooks call": becomes(func(c *core.Snapshot) {
			c.Deliveries = []webhook.Delivery{
				{Webhook: "github-ci", At: time.Now(), Size: 412, Verdict: "safe", Outcome: "done", Count: 1},
				{At: time.Now(), Size: 9, Outcome: "refused 401", Count: 3},
				{Webhook: "form", At: time.Now(), Size: 90, Verdict: "held", Flagged: []string{"title"}, Outcome: "held", Count: 1},
			}
		})}}, `
			H                     => No deliveries yet
			esc (webhooks call) H => github-ci | 412 bytes | (unknown) | refused 401 ×3 | held (title)`},
		{"the MCP servers are in the palette", setup{happen: happening{"servers run": becomes(func(c *core.Snapshot) {
			c.Servers = []mcp.State{
				{Name: "notes", Status: mcp.Ready, Tools: 14},
				{Name: "weather", Status: mcp.Failed, Text: "the program has ended (exit status 1)", Calls: []mcp.Call{
					{At: time.Now(), Tool: "forecast", Took: 1500 * time.Millisecond},
					{At: time.Now(), Tool: "alerts", Took: time.Second, Text: "no such city"},
				}},
			}
		})}}, `
			(servers run) : "mcp" enter => MCP servers | notes | ready, 14 tools | weather | exit status 1 | forecast, 1.5s | alerts, 1s: no such city`},
		{"the account of due times is filtered and leads to a run", setup{}, `
			: "account mond" => a day is today, yesterday, a weekday
			"ay" enter => Due times since Mon | 1 of 3 due times ran; 1 was missed while the machine slept; 1 was held | done | missed | held
			=> run f3f3f3f3: done | after 0:41, 1 ping; enter opens it
			/ "is:missed" enter => Medication, routine bbbb2222 | missed: the machine slept | it had no run | !snoozed
			enter          => Medication: it had no run
			esc down down  => held: snoozed, until
			home enter     => !Due times since | 4 Runs`},
		{"the week before is a key away", setup{}, `
			W     => "This week: " | pings
			left  => "Last week: "
			left right right right => "This week: "
			esc   => !"This week: "`},
		{"the form of a task opens from the schedule and from the palette", setup{}, `
			2 e => 2 Schedule | More options… | enter save the file
			esc esc 3 ctrl+p "edit email" => opens its form
			enter => 2 Schedule | More options… | enter save the file`},
		{"the page of a task reads its past, then its prompt", slow, `
			2 enter => !You are about to fire.
			~2500ms => You are about to fire. | the last 20 of 120 runs`},
		{"keys that are typed ahead go into the form that is being read", slow, `
			{2e\t} "Sweep" => loading…
			~2s            => ▸ Title          Sweep`},
		{"and into the prompt", slow, `{2p/second} enter ~2s => /second | 1 found`},
		{"which can be left meanwhile", slow, `2 p esc 3 ~2s => !loading… | !Second line of the prompt. | ▸ 3 Updates`},
		{"one whose reading panics is closed, and says so", setup{rings: func(b *bot) { b.takes = func(command.Value) time.Duration { panic("the page is broken") } }}, `
			2 p => the page is broken | !esc close | stays`},
		{"the day is never zoomed, and what follows it is again", setup{snap: dayAhead}, `
			2 z 0 => !zoomed
			6     => ▸ 6 Logs | zoomed`},
		{"the day has the focus only where it is seen", setup{w: 46, h: 12, snap: aDay}, `
			0         => needs a
			@120x40 0 => → walk
			@46x12    => !→ walk`},
		{"it leads to what failed a minute before midnight", setup{snap: aDay}, `
			z 0        => enter open | ←/→ walk | !zoomed
			home enter => tail: Rent`},
		{"without arrows the help line names keys as the lists do", setup{options: Options{ASCII: true}}, `
			5 i                => up sent before | !^ sent before
			esc 6 & l i n e    => "up/down "`},
		{"the help line names the keys of the tail while it has them", setup{snap: everything, rings: func(b *bot) { b.talk("f1f1f1f1", 60) }}, `
			4       => ↑/↓ select | enter tail
			enter   => ↑/↓ scroll | enter list | !select | !enter tail
			k k     => paused | ◉ 31 Dec  Email sweep
			enter j => tail: Weekly review
			k       => tail: Email sweep`},
	})
	// The day is left as it was entered: by esc, and by the keys that move down and up.
	for size, focused := range map[[2]int]string{{120, 40}: "▸ 2 Schedule", {80, 24}: "▸2 Schedule"} {
		for _, key := range []string{"esc", "j", "k", "down", "up"} {
			tell(t, []story{{key + " leads from the day to the pane before", setup{w: size[0], h: size[1], snap: dayAhead}, `
				2 0 l => → walk | 2 Schedule | !` + focused + `
				` + key + ` => ` + focused + ` | !→ walk`}})
		}
	}
}

// aDay is a day on which everything has happened that the top line says.
func aDay(at time.Time) core.Snapshot {
	s := withForks(busyDay(at))
	s.Forks = append(s.Forks, fork.View{ID: "bad00001", Title: "Rent", State: fork.Failed, Started: at.Add(-time.Hour), Ended: at.Add(-time.Minute)})
	s.Ended = s.Forks[len(s.Forks)-1:]
	s.Failures = s.Ended
	s.Approvals = []policy.Approval{{ID: "a1", Label: "Run this command? x", Tool: "Bash", Asked: at, Until: at.Add(time.Hour)}}
	s.Engine.Today.CostUSD = 1.09
	return s
}

func TestTheTopLineSaysWhatIsWrongAsItsStoriesSay(t *testing.T) {
	trouble := happening{
		"all is down": becomes(func(c *core.Snapshot) {
			c.Surface = core.SurfaceStatus{Name: "Discord", State: "down since 14:02: " + strings.Repeat("the network is unreachable ", 5)}
			c.Engine.OK, c.Engine.State = false, strings.Repeat("not logged in to Claude ", 6)
		}),
		"no model": becomes(func(c *core.Snapshot) { c.Engine.Offline = true }),
	}
	for _, w := range []int{80, 120, 160} {
		tell(t, []story{{"trouble that is a sentence leaves it its words", setup{w: w, h: 30, happen: trouble}, `
			(all is down) => ✗ Discord is not connected: down since
			E             => network is unreachable`}})
	}
	tell(t, []story{
		{"N2: no model is connected", setup{w: 120, h: 24, happen: trouble}, `
			=> !No model
			(no model) ~1s => top: No model is connected`},
		{"N2: in 46 cells, too", setup{w: 46, h: 24, happen: trouble}, `
			=> !No model
			(no model) ~1s => top: No model is conn`},
		{"Poster 11: who has seen the strip for a day needs a word only, and again what comes next", sized(160, 12), `
			(pings are off)        => 1 + lets pings through
			~23h (the bot changes) => lets pings through
			~2h (the bot changes)  => !lets pings through | begins: "  muted  Nothing is due within a day; "
			(pings are on)         => !" muted "
			(pings are off)        => 1 + lets pings through`},
	})
}

// Poster 11: what keeps all pings or runs back is a coloured strip, with the key that mends it.
func TestTheTopLineHasAMarkOnlyIfSomethingIsWrong(t *testing.T) {
	look := theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	open, _ := look.Ends(theme.Match)
	for name, c := range map[string]struct {
		change        func(*core.Snapshot)
		begins, words string
		strip         bool
	}{
		"all quiet":     {func(*core.Snapshot) {}, " All quiet. 3 pings today.", "", false},
		"not logged in": {func(s *core.Snapshot) { s.Engine.OK, s.Engine.State = false, "not logged in" }, " ✗ script cannot answer: not logged in.", "", false},
		"muted":         {func(s *core.Snapshot) { s.Budget.Muted = day.Add(time.Hour) }, "", "1 m lets pings through", true},
		"off":           {func(s *core.Snapshot) { s.Budget.State.Capacity = 0 }, "", "1 + lets pings through", true},
		"no model":      {func(s *core.Snapshot) { s.Engine.Offline = true }, "", "Z opens", true},
	} {
		s := busyDay(day)
		c.change(&s)
		line := Frame(still{snap: s}, FrameOptions{Width: 160, Height: 45, Theme: look})[0]
		if plain := ansi.Strip(line); !strings.HasPrefix(plain, c.begins) || !strings.Contains(plain, c.words) || strings.HasPrefix(line, open) != c.strip {
			t.Errorf("%s: %q", name, line)
		}
	}
}

func TestPanesAndTheirBoxesAreWhereTheirStoriesSay(t *testing.T) {
	none := func(at time.Time) core.Snapshot { return core.Snapshot{At: at, Zone: time.UTC} }
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		tell(t, []story{{"a list without rows has no box for what is selected", setup{w: size[0], h: size[1], snap: none}, `
			2 => !╭─ Schedule ─
			3 => !╭─ Update ─`}})
	}
	column := 0
	tell(t, []story{
		{"but one that is filtered has it", setup{snap: busyForks}, `
			2 / "zzz" => ╭─ Schedule ─
			esc esc 3 / "zzz" => ╭─ Update ─`},
		{"tab leads from a page to beside where it was opened, and nothing is behind it", setup{snap: dayAhead}, `
			2 0 tab => ▸ 3 Updates
			esc 2 $ tab => ▸ 3 Updates | !▸ $ Costs
			esc     => ▸ 3 Updates`},
		{"the page of a selected run's task is left to the run", setup{snap: busyForks}, `
			4 K => routines/email-sweep.md | esc back
			esc => ▸ 4 Runs`},
		{"a longer title makes no column wider", setup{happen: happening{
			"it is measured": func(s *stage) { column, _ = s.find("5 Chat") },
			"titles grow": becomes(func(c *core.Snapshot) {
				c.Schedule.Tasks, c.Schedule.Entries = slices.Clone(c.Schedule.Tasks), slices.Clone(c.Schedule.Entries)
				c.Schedule.Tasks[0].Title, c.Schedule.Entries[0].Description = strings.Repeat("a title ", 8), strings.Repeat("a title ", 8)
			}),
			"it has its width": func(s *stage) {
				if x, _ := s.find("5 Chat"); x != column {
					s.t.Errorf("the next column begins at %d, not at %d:\n%s", x, column, s.screen())
				}
			},
		}}, `
			(it is measured) (titles grow) => a title a title
			(it has its width)`},
		{"a long notice continues below its words", setup{w: 100, h: 30, options: Options{Notice: "the disk is full; free some space and try again, or nothing that was said is kept and all of it is gone"}}, `
			!      => the disk is full; free | "│                   kept"
			@40x10 => the disk is full; free some │ | "│          kept and all of it is gone "`},
	})
}
