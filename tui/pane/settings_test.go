package pane_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	settingspage "ollimbot/tui/pane/settings"
	"ollimbot/tui/settings"
)

func settingsPage(t *testing.T, key string) *stage {
	t.Helper()
	s := open("settings")
	s.c.Chosen = settings.Dashboard{}
	s.next(func(c *core.Snapshot) {
		c.Config = config.Runtime{PermissionMode: "dontAsk", ThinkingMain: "off", ThinkingFork: "adaptive", MaxBackgroundForks: 4, DailyCap: 2, TurnCap: 5}
	})
	s.Pane.(*settingspage.Page).Show(s.c, key)
	return s
}

func TestSettingsAreChangedAsTheirStoriesSay(t *testing.T) {
	for key, steps := range map[string]string{
		"quiet_hours": `
			               => ─ Quiet hours ─ | ─ ollim-bot settings quiet_hours ─ | during these hours. | " For example 22:00-07:30." | " [off] "
			settings.edit >"late" => form: late | form: must be a start and an end such as 22:00-07:30, or off
			>enter         => nothing | stays open
			>backspace >backspace >backspace >backspace >"23:00-06:00" => form: Only critical pings are delivered during these hours.
			>enter         => sends SetConfig Key=quiet_hours Value=23:00-06:00
			settings.edit >enter => nothing | closes`,
		// What only accepts its choices is chosen, not written.
		"permission_mode": `
			settings.edit => form: acceptEdits | form: bypassPermissions | form: ▸ dontAsk
			>up >enter    => sends SetConfig Key=permission_mode Value=default`,
		"budget.capacity": `
			settings.edit >"x"   => form: "x" is not a whole number
			>backspace >"7" >enter => sends SetBudget Capacity=7`,
		"model_main": `
			<sonnet]> => does SetConfig Key=model_main Value=sonnet
			settings.find "only critical" => ▸ Quiet hours | 1 of | " settings"
			enter <Quiet hours> => opens`,
	} {
		t.Run(key, func(t *testing.T) {
			(&player{stage: settingsPage(t, key), t: t, w: 118, h: 36}).plays(steps)
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

var enter = tea.KeyPressMsg{Code: tea.KeyEnter}

func TestTheNextChoiceOfASettingIsSet(t *testing.T) {
	for key, want := range map[string][2]command.Value{
		"model_main":       {command.SetConfig{Key: "model_main", Value: "opus"}, command.SetConfig{Key: "model_main", Value: "haiku"}},
		"thinking_fork":    {command.SetConfig{Key: "thinking_fork", Value: "off"}, command.SetConfig{Key: "thinking_fork", Value: "off"}},
		"dashboard.theme":  {command.SetLook{Name: "theme", Value: "dark", Was: "auto"}, command.SetLook{Name: "theme", Value: "16", Was: "auto"}},
		"dashboard.bell":   {command.SetLook{Name: "bell", Value: "notify", Was: "bell"}, command.SetLook{Name: "bell", Value: "off", Was: "bell"}},
		"dashboard.title":  {command.SetLook{Name: "title", Value: "off", Was: "on"}, command.SetLook{Name: "title", Value: "off", Was: "on"}},
		"google_task_list": {nil, nil}, // examples are no choices
	} {
		for i, id := range []action.ID{action.SettingsNext, action.SettingsPrevious} {
			if a := settingsPage(t, key).do(id); !reflect.DeepEqual(a.Do, want[i]) {
				t.Errorf("%s, %s: %+v, want %+v", key, id, a.Do, want[i])
			}
		}
	}
}

// Typing 1 over "off" gives 1: the old value is selected when the form opens.
func TestANewValueReplacesTheOldOne(t *testing.T) {
	for _, first := range []tea.Msg{tea.KeyPressMsg{Code: '1', Text: "1"}, tea.PasteMsg{Content: "1"}} {
		s := settingsPage(t, "monthly_cap")
		s.next(func(c *core.Snapshot) { c.Config.MonthlyCap = math.Inf(1) })
		s.Sync(s.c)
		form := s.do(action.SettingsEdit).Open
		form.Update(s.c, first)
		if want := (command.SetConfig{Key: "monthly_cap", Value: "1"}); form.Update(s.c, enter).Send != want {
			t.Errorf("%v does not replace off", first)
		}
	}
	s := settingsPage(t, "daily_cap")
	form := s.do(action.SettingsEdit).Open
	form.Update(s.c, tea.KeyPressMsg{Code: tea.KeyRight}) // no longer selected
	form.Update(s.c, tea.KeyPressMsg{Code: '5', Text: "5"})
	if want := (command.SetConfig{Key: "daily_cap", Value: "25"}); form.Update(s.c, enter).Send != want {
		t.Error("a moved caret does not keep the old value")
	}
}

// servers are models that are known once their servers were asked.
type servers struct{ pane.Reader }

func (servers) Models(context.Context) ([]command.ModelChoice, error) {
	return []command.ModelChoice{
		{Name: "local/qwen3:8b", About: "8.2B, calls tools", Means: "It needs 2.2 GB."}, {Name: "local/gemma3:4b", About: "calls no tools"},
	}, nil
}

func TestAModelIsChosenFromWhatTheServersHave(t *testing.T) {
	for now, first := range map[string]string{"": "default", "haiku": "haiku", "local/qwen3:8b": "local/qwen3:8b", "far/wise": "Another"} {
		s := settingsPage(t, "model_main")
		s.next(func(c *core.Snapshot) { c.Config.ModelMain = now })
		a := s.do(action.SettingsEdit)
		has(t, strings.Join(a.Open.Draw(s.c, 100, 20), "\n"), "opus", "Another")
		a.Load(t.Context(), servers{})(s.c)
		has(t, strings.Join(a.Open.Draw(s.c, 100, 20), "\n"), "▸ "+first, "local/gemma3:4b")
		if got := a.Open.Update(s.c, enter); got.Send != nil || first != "Another" && !got.Close {
			t.Errorf("%q: enter sends %+v", now, got)
		}
	}
	s := settingsPage(t, "fallback")
	a := s.do(action.SettingsEdit)
	a.Load(t.Context(), servers{})(s.c)
	a.Open.Update(s.c, tea.KeyPressMsg{Code: tea.KeyDown})
	has(t, strings.Join(a.Open.Draw(s.c, 100, 20), "\n"), "▸ local/qwen3:8b", "8.2B, calls tools", "It needs 2.2 GB.")
	if want := (command.SetConfig{Key: "fallback", Value: "local/qwen3:8b"}); a.Open.Update(s.c, enter).Send != want {
		t.Errorf("it does not send %+v", want)
	}
	a = s.do(action.SettingsEdit)
	a.Open.Update(s.c, tea.PasteMsg{Content: "nobody"})
	has(t, strings.Join(a.Open.Draw(s.c, 100, 20), "\n"), "must be engines")
	a.Load(t.Context(), servers{})(s.c) // what is being typed stays
	for range len("nobody") {
		a.Open.Update(s.c, tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	a.Open.Update(s.c, tea.PasteMsg{Content: "messages"})
	if want := (command.SetConfig{Key: "fallback", Value: "messages"}); a.Open.Update(s.c, enter).Send != want {
		t.Errorf("it does not send %+v", want)
	}
}

// The page is in groups, has words for values, and shows a long value in full.
func TestTheSettingsAreInGroupsWithTheirUnits(t *testing.T) {
	s := settingsPage(t, "sandbox_network")
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
