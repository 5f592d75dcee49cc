package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheWholeConfigurationIsShownWithKeysUnitsAndOffers(t *testing.T) {
	var got []string
	for _, l := range Show(defaultRuntime()) {
		got = append(got, l.String())
		if !l.Default { // W11: "(default)" itself was shown as the user's value
			t.Errorf("%s is not its default", l.Key)
		}
	}
	want := []string{
		"**model_main**: (default) `opus` `sonnet` `haiku` `default`",
		"**model_fork**: (inherit main) `opus` `sonnet` `haiku` `default`",
		"**thinking_main**: off (default) `off` `adaptive` `tokens`",
		"**thinking_fork**: adaptive (default) `off` `adaptive` `tokens`",
		"**bg_fork_timeout**: 1800s (default) `seconds`",
		"**fork_idle_timeout**: 10m (default) `minutes`",
		"**permission_mode**: dontAsk (default) `acceptEdits` `bypassPermissions` `default` `dontAsk`",
		"**google_calendars**: primary (default) `primary` `id,id`",
		"**google_task_list**: @default (default) `@default` `id`",
		"**engine**: auto (default) `auto` `claude` `messages` `script`",
		"**fallback**: none (default) `local/qwen3` `messages` `none`",
		"**voice_language**: auto (default) `de` `auto`",
		"**voice_limit**: 10m (default) `minutes`",
		"**max_background_forks**: 4 (default) `1-100`",
		"**quiet_hours**: off (default) `22:00-07:30` `off`",
		"**morning**: 8:00 (default) `7:00`",
		"**noon**: 12:00 (default) `12:30`",
		"**afternoon**: 15:00 (default) `14:00`",
		"**evening**: 18:00 (default) `19:00`",
		"**night**: 21:00 (default) `22:00`",
		"**quiet_messages**: 3 (default) `0-20`",
		"**daily_cap**: off (default) `5` `off`",
		"**monthly_cap**: off (default) `60` `off`",
		"**turn_cap**: $5.00 (default) `2` `off`",
		"**status_line**: off (default) `on` `off`",
		"**claude_warm**: 1 (default) `0-16`",
		"**claude_memory_limit**: 4GB (default) `4GB` `512MB`",
		"**sandbox**: auto (default) `auto` `off`",
		"**sandbox_network**: off (default) `on` `off` `host,host`",
		"**sandbox_visible**: none (default) `~/notes` `~/site:rw` `none`",
		"**webhook_hosts**: any (default) `hooks.example.org` `any`",
		"**discord_budget**: on (default) `on` `off`",
		"**promises**: on (default) `on` `off`",
		"**learning**: on (default) `on` `off`",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAValueOtherThanTheDefaultIsShownPlainly(t *testing.T) {
	r := Runtime{
		ModelMain: "opus", ModelFork: "haiku", ThinkingMain: "8000", ThinkingFork: "31999", BgForkTimeout: time.Minute,
		ForkIdleTimeout: time.Hour, PermissionMode: "default", AutoUpdate: true, AutoUpdateInterval: 5 * time.Minute,
		AutoUpdateHour: 0, GoogleCalendars: "a,b", GoogleTaskList: "x", Engine: "script", Fallback: "claude", VoiceLanguage: "de", VoiceLimit: 2 * time.Minute, MaxBackgroundForks: 1,
		QuietHours: Quiet{22 * 60, 7*60 + 30}, QuietMessages: 1, DailyCap: 0, MonthlyCap: 12.5, TurnCap: 3, StatusLine: true, ClaudeWarm: 0, ClaudeMemoryLimit: 1536 << 20,
		Sandbox: "off", SandboxNetwork: "on", SandboxVisible: "/srv", WebhookHosts: "hooks.example.org",
		Morning: 390, Noon: 750, Afternoon: 840, Evening: 1170, Night: 1320,
	}
	want := []string{
		"opus", "haiku", "8k budget", "31k budget", "60s", "60m", "default", "a,b", "x", "script", "claude", "de", "2m", "1",
		"22:00-07:30", "6:30", "12:30", "14:00", "19:30", "22:00", "1", "$0.00", "$12.50", "$3.00", "on", "0", "1536MB", "off", "on", "/srv", "hooks.example.org", "off", "off", "off",
	}
	long := []string{
		"opus", "haiku", "up to 8,000 tokens", "up to 31,999 tokens", "1 minute", "1 hour", "default", "a,b", "x", "script", "claude", "de", "2 minutes", "1 run",
		"22:00-07:30", "6:30", "12:30", "14:00", "19:30", "22:00", "1 message", "$0.00 a day", "$12.50 a month", "$3.00 a turn", "on", "0", "1536 MB", "off", "on", "/srv", "hooks.example.org", "off", "off", "off",
	}
	var got, full []string
	for _, l := range Show(r) {
		got, full = append(got, l.Value), append(full, l.Long)
		if one, err := ShowOne(r, l.Key); err != nil || l.Default || !cmp.Equal(one, l) || strings.Contains(one.String(), "(default)") {
			t.Errorf("%+v, %+v, %v", l, one, err)
		}
	}
	if diff := cmp.Diff([][]string{want, long}, [][]string{got, full}); diff != "" {
		t.Error(diff)
	}
	r.ThinkingMain = "999"
	if l, err := ShowOne(r, "thinking_main"); err != nil || l.Value != "999 tokens budget" {
		t.Errorf("a budget below a thousand reads %q, %v", l.Value, err)
	}
}

func TestShowingAnUnknownKeyListsTheKeys(t *testing.T) {
	_, err := ShowOne(defaultRuntime(), "model")
	if err == nil {
		t.Fatal("no error")
	}
	for _, k := range keys {
		if strings.Contains(err.Error(), k.name) == k.unused {
			t.Errorf("%v lacks %s", err, k.name)
		}
	}
}
