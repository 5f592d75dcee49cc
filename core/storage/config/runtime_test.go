package config

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

// withConfig returns a data directory with this state/config.json.
func withConfig(t *testing.T, text string) *store.Dir {
	t.Helper()
	d := storetest.Dir(t)
	if text != "" {
		testkit.Must(t, d.Write(RuntimeFile, []byte(text)))
	}
	return d
}

func TestEverySettingIsReadFromItsFile(t *testing.T) {
	d := withBoth(t, `{"model_main": "Sonnet", "model_fork": null, "thinking_main": 8000, "thinking_fork": "16000",
		"bg_fork_timeout": 60, "fork_idle_timeout": "5", "permission_mode": "acceptEdits", "auto_update": true,
		"auto_update_interval": 30, "auto_update_hour": 0, "quiet_hours": "22:00-07:30", "morning": "6:30", "evening": "7pm", "quiet_messages": 0, "max_background_forks": 2,
		"claude_warm": 0, "claude_memory_limit": "512MB", "google_calendars": "primary, x@example.com",
		"google_task_list": "MDM4", "never heard of": [1]}`)
	got, problems, err := LoadRuntime(d)
	testkit.Must(t, err)
	want := Runtime{
		ModelMain: "sonnet", ThinkingMain: "8000", ThinkingFork: "16000", BgForkTimeout: time.Minute,
		ForkIdleTimeout: 5 * time.Minute, PermissionMode: "acceptEdits", AutoUpdate: true,
		AutoUpdateInterval: 30 * time.Minute, VoiceLimit: 10 * time.Minute, MaxBackgroundForks: 2, DiscordBudget: true, Promises: true, Learning: true, QuietHours: Quiet{From: 22 * 60, To: 7*60 + 30},
		Morning: 390, Noon: 720, Afternoon: 900, Evening: 1140, Night: 1260,
		DailyCap: math.Inf(1), MonthlyCap: math.Inf(1), TurnCap: 5, ClaudeMemoryLimit: 512 << 20, GoogleCalendars: "primary,x@example.com", GoogleTaskList: "MDM4",
	}
	if diff := cmp.Diff(want, got); diff != "" || problems != nil {
		t.Error(diff, problems)
	}
}

// withBoth returns a data directory in which both files have this content.
func withBoth(t *testing.T, text string) *store.Dir {
	t.Helper()
	d := withConfig(t, text)
	testkit.Must(t, d.Write(SettingsFile, []byte(text)))
	return d
}

func TestFilesOfEveryAgeAreRead(t *testing.T) {
	same := func(*Runtime) {}
	for _, c := range []struct {
		name, config, settings string
		want                   func(*Runtime)
		says                   string
	}{
		{"none", "", "", same, ""},
		{"empty ones", "{}", "{}", same, ""},
		{"early versions wrote thinking as a boolean", `{"thinking_main": true, "thinking_fork": false}`, "", func(r *Runtime) { r.ThinkingMain, r.ThinkingFork = "adaptive", "off" }, ""},
		{"a model may be null", `{"model_main": null, "model_fork": "NULL"}`, "", same, ""},
		{"or nothing", `{"model_main": "", "model_fork": "none"}`, "", same, ""},
		{"or the default", `{"model_main": "default"}`, "", same, ""},
		// The original drops unknown keys when it writes its file, so ours are in another.
		{"a setting of ours outlives a save of the original", tenKeys, `{"claude_warm": 3}`, func(r *Runtime) { r.ClaudeWarm = 3 }, ""},
		{
			"an earlier version's setting is kept and says what replaces it", "", `{"update_source": "/srv", "engine": "script"}`, func(r *Runtime) { r.Engine = "script" },
			"update_source was removed and has no effect: /update says how this installation gets a newer program; delete its line",
		},
	} {
		d := withConfig(t, c.config)
		if c.settings != "" {
			testkit.Must(t, d.Write(SettingsFile, []byte(c.settings)))
		}
		got, problems, err := LoadRuntime(d)
		want := defaultRuntime()
		c.want(&want)
		var says []routines.Problem
		if c.says != "" {
			says = []routines.Problem{{File: SettingsFile, Line: 1, Severity: routines.Warning, Message: c.says}}
		}
		if diff := cmp.Diff(want, got) + cmp.Diff(says, problems); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
}

func TestBadValuesMeanTheDefaultAndASentence(t *testing.T) {
	for _, tt := range []struct{ key, value, says string }{
		{"model_main", `"gpt"`, "default, haiku, opus, sonnet, or a model with its provider"},
		{"model_fork", `7`, "default, haiku, opus, sonnet, or a model with its provider"},
		{"thinking_main", `"loud"`, "off, adaptive or a number"},
		{"thinking_fork", `-1`, "off, adaptive or a number"},
		{"bg_fork_timeout", `0`, "number of seconds from 1"},
		{"bg_fork_timeout", `1e3`, "number of seconds from 1"},
		{"fork_idle_timeout", `"+5"`, "number of minutes from 1"},
		{"permission_mode", `"dontask"`, "dontAsk"},
		{"max_background_forks", `0`, "from 1"},
		{"quiet_hours", `"22:00"`, "22:00-07:30"},
		{"quiet_hours", `"22:00-22:00"`, "22:00-07:30"},
		{"quiet_hours", `["22:00"]`, "22:00-07:30"},
		{"claude_warm", `-1`, "from 0"},
		{"claude_memory_limit", `"lots"`, "4GB"},
		{"claude_memory_limit", `"99999999999GB"`, "4GB"},
		{"claude_memory_limit", `"1KB"`, "at least 64MB"},
		{"claude_memory_limit", `"+4GB"`, "at least 64MB"},
	} {
		t.Run(tt.key+" "+tt.value, func(t *testing.T) {
			got, problems, err := LoadRuntime(withBoth(t, `{"`+tt.key+`": `+tt.value+`}`))
			testkit.Must(t, err)
			if diff := cmp.Diff(defaultRuntime(), got); diff != "" {
				t.Error(diff)
			}
			if len(problems) != 1 || !strings.Contains(problems[0].Message, tt.key+" is ") ||
				!strings.Contains(problems[0].Message, tt.value) || !strings.Contains(problems[0].Message, tt.says) {
				t.Errorf("problems are %+v", problems)
			}
		})
	}
}

func TestOneFileThatIsNoJSONTakesTheOtherNothing(t *testing.T) {
	d := withConfig(t, `{"model_main": `)
	testkit.Must(t, d.Write(SettingsFile, []byte(`{"claude_warm": 0}`)))
	if r, _, err := LoadRuntime(d); r.ClaudeWarm != 0 || err == nil || !strings.Contains(err.Error(), RuntimeFile) {
		t.Errorf("%+v, %v", r, err)
	}
}

// A setting that is not used yet is neither offered nor reported, and keeps its value.
func TestASettingThatNothingReadsIsKeptAndNotOffered(t *testing.T) {
	d := withConfig(t, `{"auto_update": "perhaps", "auto_update_hour": 30}`)
	if _, problems, err := LoadRuntime(d); problems != nil || err != nil {
		t.Error(problems, err)
	}
	if _, _, err := Set(d, "model.main", "opus"); err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{`"auto_update": "perhaps"`, `"auto_update_hour": 30`} {
		if !strings.Contains(text(t, d, RuntimeFile), kept) {
			t.Errorf("%s is gone: %s", kept, text(t, d, RuntimeFile))
		}
	}
	for _, name := range []string{"auto_update", "auto_update_interval", "auto_update_hour"} {
		_, _, setErr := Set(d, name, "1")
		_, showErr := ShowOne(defaultRuntime(), name)
		for _, err := range []error{setErr, showErr} {
			if err == nil || !strings.Contains(err.Error(), name+" has no effect in this version") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	_, err := ShowOne(defaultRuntime(), "colour")
	if strings.Contains(err.Error(), "auto_update") {
		t.Error(err)
	}
}

func TestAConfigurationThatIsNoJSONStaysWhereItIsAndIsReported(t *testing.T) {
	d := withConfig(t, "{\"model_main\": \n")
	got, _, err := LoadRuntime(d)
	if diff := cmp.Diff(defaultRuntime(), got); diff != "" {
		t.Error(diff)
	}
	if err == nil || !strings.Contains(err.Error(), "state/config.json: line 1") {
		t.Fatalf("the error is %v", err)
	}
	if data, err := d.Read(RuntimeFile); err != nil || string(data) != "{\"model_main\": \n" {
		t.Errorf("the file is now %q, %v: half a save must not be moved away", data, err)
	}
}

func TestAnyConfigurationGivesUsableValuesAndCleanSentences(t *testing.T) {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	testkit.Must(t, err)
	d := storetest.At(t, dir)
	testkit.Check(t, func(t *rapid.T) {
		values := map[string]any{}
		for _, k := range keys {
			values[k.name] = rapid.OneOf(
				rapid.Map(rapid.String(), func(s string) any { return s }),
				rapid.Map(rapid.Int(), func(n int) any { return n }),
				rapid.Just[any]("\x1b[2Jx"), rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any]([]string{"x"}),
			).Draw(t, k.name)
		}
		testkit.Must(t, errors.Join(d.WriteJSON(RuntimeFile, values), d.WriteJSON(SettingsFile, values)))
		r, problems, err := LoadRuntime(d)
		testkit.Must(t, err)
		if r.BgForkTimeout <= 0 || r.ForkIdleTimeout <= 0 || r.AutoUpdateInterval <= 0 || r.MaxBackgroundForks < 1 ||
			r.AutoUpdateHour < 0 || r.AutoUpdateHour > 23 || r.ClaudeWarm < 0 || r.ClaudeMemoryLimit < 64<<20 ||
			r.PermissionMode == "" || r.ThinkingMain == "" || r.ThinkingFork == "" {
			t.Fatalf("unusable: %+v", r)
		}
		for _, p := range problems {
			if strings.ContainsFunc(p.Message, func(r rune) bool { return r < 0x20 }) {
				t.Fatalf("control characters in %q", p.Message)
			}
		}
	})
}

func TestForksThinkLikeTheConversationUnlessToldOtherwise(t *testing.T) {
	for set, want := range map[string]string{"adaptive": "8000", "off": "off", "1000": "1000"} {
		if got := (Runtime{ThinkingFork: set}).ForkThinking("8000"); got != want {
			t.Errorf("%s: %q", set, got)
		}
	}
}
