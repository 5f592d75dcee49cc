package pane_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/tui/pane"
	settingspage "ollimbot/tui/pane/settings"
	"ollimbot/tui/settings"
)

func settingsPage(key string, on change) *stage {
	s := open("settings")
	s.c.Chosen = settings.Dashboard{}
	s.next(func(c *core.Snapshot) {
		c.Config = config.Runtime{PermissionMode: "dontAsk", ThinkingMain: "off", ThinkingFork: "adaptive", MaxBackgroundForks: 4, DailyCap: 2, TurnCap: 5}
		if on != nil {
			on(c)
		}
	})
	s.Pane.(*settingspage.Page).Show(s.c, key)
	s.Sync(s.c)
	return s
}

func TestSettingsAreChangedAsTheirStoriesSay(t *testing.T) {
	model := func(name string) change { return func(c *core.Snapshot) { c.Config.ModelMain = name } }
	for _, c := range []struct {
		key   string
		on    change
		steps string
	}{
		{"quiet_hours", nil, `
			               => ─ Quiet hours ─ | ─ ollim-bot settings quiet_hours ─ | during these hours. | " For example 22:00-07:30." | " [off] "
			settings.edit >"late" => form: late | form: must be a start and an end such as 22:00-07:30, or off
			>enter         => nothing | stays open
			>backspace >backspace >backspace >backspace >"23:00-06:00" => form: Only critical pings are delivered during these hours.
			>enter         => sends SetConfig Key=quiet_hours Value=23:00-06:00
			settings.edit >enter => nothing | closes`},
		// What only accepts its choices is chosen, not written.
		{"permission_mode", nil, `
			settings.edit => form: acceptEdits | form: bypassPermissions | form: ▸ dontAsk
			>up >enter    => sends SetConfig Key=permission_mode Value=default`},
		{"budget.capacity", nil, `
			settings.edit >"x"   => form: "x" is not a whole number
			>backspace >"7" >enter => sends SetBudget Capacity=7`},
		{"model_main", nil, `
			<sonnet]> => does SetConfig Key=model_main Value=sonnet
			settings.find "only critical" => ▸ Quiet hours | 1 of | " settings"
			enter <Quiet hours> => opens`},
		// Typing 1 over "off" gives 1: the old value is selected when the form opens.
		{"monthly_cap", func(c *core.Snapshot) { c.Config.MonthlyCap = math.Inf(1) }, `
			settings.edit >"1" >enter => sends SetConfig Key=monthly_cap Value=1
			settings.edit >{1} >enter => sends SetConfig Key=monthly_cap Value=1`},
		{"daily_cap", nil, `settings.edit >right >"5" >enter => sends SetConfig Key=daily_cap Value=25`},
		// The next choice is set, and the one before; examples are no choices.
		{"model_main", nil, `
			settings.next     => does SetConfig Key=model_main Value=opus
			settings.previous => does SetConfig Key=model_main Value=haiku`},
		{"thinking_fork", nil, `
			settings.next     => does SetConfig Key=thinking_fork Value=off
			settings.previous => does SetConfig Key=thinking_fork Value=off`},
		{"dashboard.theme", nil, `
			settings.next     => does SetLook Name=theme Value=dark Was=auto
			settings.previous => does SetLook Name=theme Value=16 Was=auto`},
		{"dashboard.bell", nil, `
			settings.next     => does SetLook Name=bell Value=notify Was=bell
			settings.previous => does SetLook Name=bell Value=off Was=bell`},
		{"dashboard.title", nil, `
			settings.next     => does SetLook Name=title Value=off Was=on
			settings.previous => does SetLook Name=title Value=off Was=on`},
		{"google_task_list", nil, `
			settings.next     => does | opens
			settings.previous => does | opens`},
		// A model is chosen from what the servers have, as soon as they have answered.
		{"model_main", nil, `
			settings.edit => form: opus | form: Another
			>load         => form: ▸ default | form: local/gemma3:4b
			>enter        => nothing | closes`},
		{"model_main", model("haiku"), `
			settings.edit >load => form: ▸ haiku
			>enter              => nothing | closes`},
		{"model_main", model("local/qwen3:8b"), `
			settings.edit >load => form: ▸ local/qwen3:8b
			>enter              => nothing | closes`},
		{"model_main", model("far/wise"), `
			settings.edit >load => form: ▸ Another | form: local/gemma3:4b
			>enter              => nothing`},
		{"fallback", nil, `
			settings.edit >load >down => form: ▸ local/qwen3:8b | form: 8.2B, calls tools | form: It needs 2.2 GB.
			>enter                    => sends SetConfig Key=fallback Value=local/qwen3:8b
			settings.edit >{other}    => form: must be engines
			>load >backspace >backspace >backspace >backspace >backspace >{messages} >enter => sends SetConfig Key=fallback Value=messages`},
	} {
		t.Run(c.key, func(t *testing.T) {
			(&player{stage: settingsPage(c.key, c.on), t: t, w: 118, h: 36}).plays(c.steps)
		})
	}
	tell(t, []story{
		{"the title of a page without a state has none", "settings", nil, `=> state:`, nil},
		{"the schedule is filtered, until that ends", "schedule", nil, `
			@100x14 => Check email | Weekly review
			schedule.find "email" => Check email | " /email" | " of " | !Weekly review
			enter esc             => Weekly review`, nil},
		{"and the updates", "updates", nil, `
			@100x14 => Email triage | pinged at 8:00
			updates.find "landlord plumber" => Email triage | " /landlord plumber" | " of " | !pinged at 8:00
			enter esc                       => pinged at 8:00`, nil},
	})
}

// servers are models that are known once their servers were asked.
type servers struct{ pane.Reader }

func (servers) Models(context.Context) ([]command.ModelChoice, error) {
	return []command.ModelChoice{
		{Name: "local/qwen3:8b", About: "8.2B, calls tools", Means: "It needs 2.2 GB."}, {Name: "local/gemma3:4b", About: "calls no tools"},
	}, nil
}

// The page is in groups, has words for values, and shows a long value in full.
func TestTheSettingsAreInGroupsWithTheirUnits(t *testing.T) {
	s := settingsPage("sandbox_network", nil)
	hosts := "api.github.com,*.example.org,localhost:8080,files.pythonhosted.org,registry.npmjs.org"
	s.next(func(c *core.Snapshot) {
		c.Config.SandboxNetwork, c.Config.BgForkTimeout, c.Config.DailyCap = hosts, 30*time.Minute, 5
	})
	s.Sync(s.c)
	screen := s.screen(118, 60)
	for _, name := range settings.Names {
		if about, ok := config.About("dashboard." + name); !ok || about.Group != "Appearance" {
			t.Errorf("%s is not on the page", name)
		}
	}
	at := 0
	for _, group := range config.Groups {
		i := strings.Index(screen, "─ "+group+" ─")
		if i < at {
			t.Errorf("%s is not at its place:\n%s", group, screen)
		}
		at = i
	}
	has(t, screen, "30 minutes", "$5.00 a day", "5 pings", "Runs at once")
	if small := strings.Join(strings.Fields(s.screen(78, 20)), ""); !strings.Contains(small, strings.ReplaceAll(hosts, " ", "")) {
		t.Errorf("the long value is cut:\n%s", s.screen(78, 20))
	}
}
