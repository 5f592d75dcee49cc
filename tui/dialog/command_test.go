package dialog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

func enters(p *Palette, r *desk) pane.Answer {
	return p.key(r.Context, tea.KeyPressMsg{Code: tea.KeyEnter})
}

func TestACommandLineIsCarriedOut(t *testing.T) {
	r := newDesk(action.Forks)
	seven, sixty := 7, 60
	for line, want := range map[string]pane.Answer{
		"capacity 7":  {Do: command.SetBudget{Capacity: &seven}},
		"refill 60":   {Do: command.SetBudget{RefillMinutes: &sixty}},
		"theme dark":  {Look: map[string]string{"theme": "dark"}},
		"layout chat": {Look: map[string]string{"layout": "chat"}},
		"mute 2h":     {Do: command.MuteUntil{Until: now(r.Context).Add(2 * time.Hour)}},
		"mute off":    {Do: command.MuteUntil{}},
	} {
		want.Close = true
		if d := cmp.Diff(want, enters(ask(r, line), r)); d != "" {
			t.Errorf("%s (-want +got):\n%s", line, d)
		}
	}
}

func TestAWrongArgumentSaysWhatIsAllowedAndDoesNothing(t *testing.T) {
	r := newDesk(action.Forks)
	for line, why := range map[string]string{
		"capacity x": textNoCapacity, "capacity -1": "capacity", "refill 0": "refill", "mute banana": `I do not understand "banana"`,
		"theme pink": "auto, dark, light, contrast, 16",
	} {
		p := ask(r, line)
		if got := p.why(p.shown[0]); !strings.Contains(got, why) {
			t.Errorf("%s is off: %q, want %q", line, got, why)
		}
		if a := enters(p, r); a.Do != nil || a.Close || a.Look != nil {
			t.Errorf("%s does %+v", line, a)
		}
	}
	r.ReadOnly = true
	if a := enters(ask(r, "capacity 7"), r); a.Do != nil {
		t.Errorf("read-only does %+v", a)
	}
}

func TestAnArgumentIsCompleted(t *testing.T) {
	r := newDesk(action.Forks)
	p := ask(r, "capac")
	for p.shown[p.list.At].kind != textACommand {
		p.move(1)
	}
	if a := enters(p, r); a.Close || p.query.Text() != "capacity " {
		t.Errorf("enter writes %q and gives %+v", p.query.Text(), a)
	}
	p = ask(r, "theme d")
	p.key(r.Context, tea.KeyPressMsg{Code: tea.KeyTab})
	if p.query.Text() != "theme dark" {
		t.Errorf("tab writes %q", p.query.Text())
	}
}

func TestThePaletteNeverOpensOnWhatIsDisabled(t *testing.T) {
	r := newDesk(action.Updates)
	p := ask(r, "")
	if why := p.why(p.shown[0]); why != "" {
		t.Errorf("it opens on %q, which is off: %s", p.shown[0].name, why)
	}
	last := ""
	for _, it := range p.shown {
		if why := p.why(it); last != "" && why == "" {
			t.Errorf("%q comes after what is disabled", it.name)
		} else {
			last = why
		}
	}
}

func TestRunsAreFoundByTheirDayAndTheirState(t *testing.T) {
	r := newDesk(action.Forks)
	r.Snap.At = time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC) // a Wednesday
	r.Snap.Zone = time.UTC
	at := func(days int) time.Time { return r.Snap.At.AddDate(0, 0, -days) }
	r.Snap.Schedule.Tasks = []schedule.TaskView{{ID: "m", Title: "Medication", Kind: routines.KindRoutine}}
	r.Snap.Forks = []fork.View{
		{ID: "1", Title: "Medication", State: fork.Done, Started: at(0), Ended: at(0), Refused: 1},
		{ID: "2", Title: "Plants", State: fork.Failed, Started: at(1), Ended: at(1)},
		{ID: "3", Title: "Rent", State: fork.Done, Started: at(1), Ended: at(1)},
	}
	for query, want := range map[string]string{
		"runs failed tuesday": "runs failed tuesday", "tuesday": "Plants", "yesterday": "Plants", "day yesterday": "day yesterday", "runs refused": "runs refused",
		"refused": "Go to ping budget", "why": "Go to ping budget", "do not disturb": "Ping budget: Mute", "medic": "Open Medication", "detach": "Quit the dashboard",
	} {
		p := ask(r, query)
		if len(p.shown) == 0 {
			t.Errorf("%q finds nothing", query)
			continue
		}
		if got := p.shown[0].name; !strings.HasPrefix(got, want) {
			t.Errorf("%q finds %q first, want %q", query, got, want)
		}
	}
	p := ask(r, "day yesterday")
	if n := len(p.shown) - 1; n != 2 {
		t.Errorf("yesterday has %d runs", n)
	}
	// Poster 12: enter opens the filtered list.
	if a := p.run(p.context, 0); a.Focus != action.Forks || a.Query != "yesterday" || !a.Zoom {
		t.Errorf("enter opens %+v", a)
	}
}

// A line of the command line is carried out as in a shell; what changes nothing, also where the dashboard is read-only.
func TestAPaletteTakesALineOfTheCommandLine(t *testing.T) {
	r := newDesk(action.Forks)
	for text, want := range map[string]string{
		"budget set --capacity 7": "budget set --capacity 7", `reminder add -m "call mum" --delay 5`: `reminder add -m "call mum" --delay 5`,
		"history search dentist": "history search dentist", "routine list": "routine list",
	} {
		if a := enters(ask(r, text), r); a.Do != (command.Line{Text: want}) {
			t.Errorf("%s: enter gives %+v", text, a)
		}
	}
	for _, text := range []string{"pause for a walk", "what is left for today?", "mute the children"} {
		p := ask(r, text)
		for p.shown[p.list.At].name != fmt.Sprintf(textSend, text) {
			if p.why(p.shown[p.list.At]) == "" {
				t.Fatalf("%s: enter does %q", text, p.shown[p.list.At].name)
			}
			p.move(1)
		}
		if a := enters(p, r); a.Do != (command.Say{Text: text}) || !a.Close {
			t.Errorf("%s: enter gives %+v", text, a)
		}
	}
	p := ask(r, "history se")
	if first := p.shown[0]; first.name != "history search" || first.fill != "history search " {
		t.Errorf("it is completed as %+v", first)
	}
	r.ReadOnly = true
	if a := enters(ask(r, "routine list"), r); a.Do == nil {
		t.Error("a list changes nothing")
	}
	if a := enters(ask(r, "routine cancel x"), r); a.Do != nil {
		t.Errorf("a read-only dashboard carries out %+v", a.Do)
	}
}
