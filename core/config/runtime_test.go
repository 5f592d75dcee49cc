package config

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/store"
)

// withConfig is a data directory with that state/config.json.
func withConfig(t *testing.T, text string) *store.Dir {
	t.Helper()
	d, err := store.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if text != "" {
		if err := d.Write(RuntimeFile, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestEverySettingIsReadFromTheOriginalsFile(t *testing.T) {
	d := withConfig(t, `{"model_main": "Sonnet", "model_fork": null, "thinking_main": 8000, "thinking_fork": "16000",
		"bg_fork_timeout": 60, "fork_idle_timeout": "5", "permission_mode": "acceptEdits", "auto_update": true,
		"auto_update_interval": 30, "auto_update_hour": 0, "quiet_hours": "22:00-07:30", "max_background_forks": 2,
		"claude_warm": 0, "claude_memory_limit": "512MB", "google_calendars": "primary, x@example.com",
		"google_task_list": "MDM4", "never heard of": [1]}`)
	got, problems, err := LoadRuntime(d)
	if err != nil {
		t.Fatal(err)
	}
	want := Runtime{
		ModelMain: "sonnet", ThinkingMain: "8000", ThinkingFork: "16000", BgForkTimeout: time.Minute,
		ForkIdleTimeout: 5 * time.Minute, PermissionMode: "acceptEdits", AutoUpdate: true,
		AutoUpdateInterval: 30 * time.Minute, MaxBackgroundForks: 2, QuietHours: Quiet{From: 22 * 60, To: 7*60 + 30},
		ClaudeMemoryLimit: 512 << 20, GoogleCalendars: "primary,x@example.com", GoogleTaskList: "MDM4",
	}
	if diff := cmp.Diff(want, got); diff != "" || problems != nil {
		t.Error(diff, problems)
	}
}

func TestMissingConfigurationMeansTheDefaults(t *testing.T) {
	for _, text := range []string{"", "{}"} {
		got, problems, err := LoadRuntime(withConfig(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(DefaultRuntime(), got); diff != "" || problems != nil {
			t.Error(diff, problems)
		}
	}
}

func TestBadValuesMeanTheDefaultAndASentence(t *testing.T) {
	for _, tt := range []struct{ key, value, says string }{
		{"model_main", `"gpt"`, "one of: default, haiku, opus, sonnet"},
		{"model_fork", `7`, "one of: default, haiku, opus, sonnet"},
		{"thinking_main", `"loud"`, "off, adaptive or a number"},
		{"thinking_fork", `-1`, "off, adaptive or a number"},
		{"bg_fork_timeout", `0`, "number of seconds from 1"},
		{"bg_fork_timeout", `1e3`, "number of seconds from 1"},
		{"fork_idle_timeout", `"+5"`, "number of minutes from 1"},
		{"permission_mode", `"dontask"`, "dontAsk"},
		{"auto_update", `"perhaps"`, "true or false"},
		{"auto_update_interval", `99999999999999999999`, "whole number"},
		{"auto_update_hour", `24`, "from 0 to 23"},
		{"max_background_forks", `0`, "from 1"},
		{"quiet_hours", `"22:00"`, "22:00-07:30"},
		{"quiet_hours", `"22:00-22:00"`, "22:00-07:30"},
		{"quiet_hours", `["22:00"]`, "22:00-07:30"},
		{"claude_warm", `-1`, "from 0"},
		{"claude_memory_limit", `"lots"`, "4GB"},
		{"claude_memory_limit", `"99999999999GB"`, "4GB"},
		{"claude_memory_limit", `"1KB"`, "at least 64MB"},
		{"claude_memory_limit", `"+4GB"`, "at least 64MB"},
		{"google_calendars", `["primary"]`, "separated by commas"},
		{"google_calendars", `"a,,b"`, "separated by commas"},
		{"google_task_list", `"two words"`, "one word"},
	} {
		t.Run(tt.key+" "+tt.value, func(t *testing.T) {
			got, problems, err := LoadRuntime(withConfig(t, `{"`+tt.key+`": `+tt.value+`}`))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(DefaultRuntime(), got); diff != "" {
				t.Error(diff)
			}
			if len(problems) != 1 || !strings.Contains(problems[0], tt.key+" is ") ||
				!strings.Contains(problems[0], tt.value) || !strings.Contains(problems[0], tt.says) {
				t.Errorf("problems are %q", problems)
			}
		})
	}
}

func TestEarlyVersionsWroteThinkingAsBoolean(t *testing.T) {
	got, problems, err := LoadRuntime(withConfig(t, `{"thinking_main": true, "thinking_fork": false}`))
	if err != nil {
		t.Fatal(err)
	}
	if got.ThinkingMain != "adaptive" || got.ThinkingFork != "off" || problems != nil {
		t.Errorf("main %q, fork %q, %q", got.ThinkingMain, got.ThinkingFork, problems)
	}
}

func TestModelsMayBeGivenAsNothing(t *testing.T) {
	for _, v := range []string{`null`, `""`, `"none"`, `"default"`, `"NULL"`} {
		got, problems, err := LoadRuntime(withConfig(t, `{"model_main": `+v+`}`))
		if err != nil {
			t.Fatal(err)
		}
		if got.ModelMain != "" || problems != nil {
			t.Errorf("%s: %q, %q", v, got.ModelMain, problems)
		}
	}
}

func TestAConfigurationThatIsNoJSONStaysWhereItIsAndIsReported(t *testing.T) {
	d := withConfig(t, "{\"model_main\": \n")
	got, _, err := LoadRuntime(d)
	if diff := cmp.Diff(DefaultRuntime(), got); diff != "" {
		t.Error(diff)
	}
	if err == nil || !strings.Contains(err.Error(), "state/config.json: line 2") {
		t.Fatalf("the error is %v", err)
	}
	if data, err := d.Read(RuntimeFile); err != nil || string(data) != "{\"model_main\": \n" {
		t.Errorf("the file is now %q, %v: half a save must not be moved away", data, err)
	}
}

func TestAnyConfigurationGivesUsableValuesAndCleanSentences(t *testing.T) {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := store.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		values := map[string]any{}
		for _, k := range keys {
			values[k.name] = rapid.OneOf(
				rapid.Map(rapid.String(), func(s string) any { return s }),
				rapid.Map(rapid.Int(), func(n int) any { return n }),
				rapid.Just[any]("\x1b[2Jx"), rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any]([]string{"x"}),
			).Draw(t, k.name)
		}
		if err := d.WriteJSON(RuntimeFile, values); err != nil {
			t.Fatal(err)
		}
		r, problems, err := LoadRuntime(d)
		if err != nil {
			t.Fatal(err)
		}
		if r.BgForkTimeout <= 0 || r.ForkIdleTimeout <= 0 || r.AutoUpdateInterval <= 0 || r.MaxBackgroundForks < 1 ||
			r.AutoUpdateHour < 0 || r.AutoUpdateHour > 23 || r.ClaudeWarm < 0 || r.ClaudeMemoryLimit < 64<<20 ||
			r.PermissionMode == "" || r.ThinkingMain == "" || r.ThinkingFork == "" {
			t.Fatalf("unusable: %+v", r)
		}
		for _, p := range problems {
			if strings.ContainsFunc(p, func(r rune) bool { return r < 0x20 }) {
				t.Fatalf("control characters in %q", p)
			}
		}
	})
}
