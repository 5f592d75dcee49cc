package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// welcomed is the first start, and left notes what it led to.
func welcomed(t *testing.T, o Options) (on setup, left *string) {
	t.Helper()
	left = new(string)
	o.Config, o.Welcome = config(t), true
	if o.Demo != nil {
		o.Demo = func() { *left += "demo" }
	}
	if o.Restart != nil {
		o.Restart = func() { *left += "restart" }
	}
	return setup{options: o, env: []string{"PATH=/bin:/usr/bin"}, happen: happening{"the program ends": func(*stage) {
		time.Sleep(time.Second)
		synctest.Wait()
	}}}, left
}

func TestTheWelcomeIsUsedAsItsStoriesSay(t *testing.T) {
	names := filepath.Join(t.TempDir(), "names")
	offers := func(script string) Options {
		return Options{Demo: func() {}, Restart: func() {}, Init: []string{editor(t, script), "init"}}
	}
	for _, c := range []struct {
		name  string
		o     Options
		steps string
		leads string
	}{
		{"the demo is a key away", Options{Demo: func() {}}, `
			  => Welcome | see it live
			d => quits | given back`, "demo"},
		{"and a click", Options{Demo: func() {}}, `
			<1,1>                 => Welcome
			<see it live: a demo> => quits`, "demo"},
		{"what is written is not dropped for it", Options{Demo: func() {}}, `
			esc 5 i x esc ctrl+p "demo" enter => not sent | n stay | y quit and discard it
			ctrl+c => stays
			ctrl+p "demo" enter ~1s y => quits`, "demo"},
		{"S15: q is the key that quits, but here it closes the welcome only", Options{}, `
			q => !write your first routine | !Quit | Ping budget | stays`, ""},
		{"the set-up runs on the terminal, and the bot starts again", offers("echo $1 > " + names), `
			=> set it up: four questions
			i (the program ends)`, "restart"},
		{"a set-up that was left changes nothing", offers("exit 3"), `
			i (the program ends) => Welcome | setup was cancelled`, ""},
		{"the palette leads to the demo", offers("exit 0"), `
			esc ctrl+p "demo" => ▸ Watch the demo
			enter (the program ends)`, "demo"},
		{"and to the set-up", offers("exit 0"), `
			esc ctrl+p "set up" => ▸ Set the bot up
			enter (the program ends)`, "restart"},
		{"by another name, too", offers("exit 0"), `
			esc ctrl+p "init" => ▸ Set the bot up
			enter (the program ends)`, "restart"},
		{"every key does something, and esc leads back", Options{}, `
			    => !see it live | !set it up
			d ? => Keys | Everywhere
			esc => !Everywhere | Welcome
			esc => !Welcome`, ""},
		{"only what is offered is a key", Options{ReadOnly: true, Demo: func() {}, Restart: func() {}, Init: []string{"/bin/true"}}, `
			      => !set it up
			i ~1s => Welcome`, ""},
		{"the first routine is filled in and saved with one key", Options{}, `
			n     => Your first routine | Plan the day | at 09:00
			enter => did AddTask Cron=0 9 * * mon-fri Description=Plan the day Message=… | !Welcome | ▸ 2 Schedule`, ""},
		{"the starter routines are shown before they are installed", Options{}, `
			s     => Starter routines | Morning plan | Weekly review | Good night | install them | not now
			~1s y => did AddStarters`, ""},
		{"on a small screen, too", Options{}, `
			@80x24 s => Starter routines | Morning plan | Weekly review | Good night | install them | not now
			~1s y    => did AddStarters`, ""},
		{"the notice of a first start is in it and not over it", Options{Notice: "no model: a script plays it"}, `
			@80x24 => once: no model: a script plays it
			esc    => !no model
			!      => warning | no model: a script plays it`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			on, left := welcomed(t, c.o)
			play(t, on, func(s *stage) { s.plays(on.happen, c.steps) })
			if *left != c.leads {
				t.Errorf("it leads to %q, not %q", *left, c.leads)
			}
		})
	}
	if got, err := os.ReadFile(names); err != nil || string(got) != "init\n" {
		t.Errorf("asked %q, %v", got, err)
	}
}

// N4 and N5: the welcome begins with what to do first, and opens again until it was dismissed.
func TestTheWelcomeOpensAtEachStartUntilItWasDismissed(t *testing.T) {
	on, _ := welcomed(t, Options{})
	tell(t, []story{
		{"the first", on, `
			    => write your first routine | install starter routines | connect a model: Claude or an API key; and Discord
			c   => Connect a model | npm install -g @anthropic-ai/claude-code | ANTHROPIC_API_KEY | ollim-bot init
			esc => Welcome`},
		{"the second", on, `
			    => Welcome
			esc => !Welcome`},
		{"the third", on, `
			=> !Welcome
			ctrl+p "welcome" enter => write your first routine`},
	})
}

func TestWhereTheDemoIsNotOfferedThePaletteSaysWhy(t *testing.T) {
	for _, c := range []struct {
		o          Options
		query, why string
	}{
		{Options{}, "demo", "not available here; run ollim-bot demo in a shell"},
		{Options{}, "setup", "not available here; run ollim-bot init in a shell"},
		{Options{Init: []string{"init"}}, "setup", "not available here; run ollim-bot init in a shell"},
		{Options{InDemo: true}, "demo", "this is the demo"},
		{Options{InDemo: true}, "setup", "not available here; run ollim-bot init in a shell"},
		{Options{ReadOnly: true}, "setup", "the dashboard is read-only"},
	} {
		tell(t, []story{{c.query + ": " + c.why, setup{options: c.o}, fmt.Sprintf(`
			ctrl+p %q => off: %s
			enter => stays`, c.query, c.why)}})
	}
}

// N5: where there is little room the blank lines go, then the last answers, and what is
// left is whole.
func TestTheWelcomeFitsOnASmallScreen(t *testing.T) {
	most := []string{"write your first routine", "install starter routines", "connect a model", "set it up", "see it live", "every key"}
	for _, c := range []struct{ w, h, answers int }{{40, 10, 4}, {60, 12, 6}, {60, 18, 6}, {80, 24, 6}, {120, 40, 6}} {
		o := Options{Config: config(t), Welcome: true, Notice: "no model", Demo: func() {}, Init: []string{"x"}, Restart: func() {}}
		play(t, setup{w: c.w, h: c.h, options: o}, func(s *stage) {
			s.sees(slices.Concat([]string{"Welcome", "assistant that reaches out", "look around", "╭", "╯"}, most[:c.answers])...)
			s.misses(most[c.answers:]...)
			for _, l := range s.rows() {
				left, right := strings.Index(l, "│  "), strings.LastIndex(l, "  │")
				if left >= 0 && right > left && strings.Contains(l[left:right], "…") {
					t.Errorf("cut: %q", l)
				}
			}
			for range c.answers {
				s.press("down")
			}
			s.sees("▸ esc look around")
			s.press("down")
			s.sees("▸ n   write your first routine")
		})
	}
}
