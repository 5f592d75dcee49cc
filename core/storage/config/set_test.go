package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// tenKeys is what the original writes if nothing was ever set.
const tenKeys = `{"model_main": null, "model_fork": null, "thinking_main": "off", "thinking_fork": "adaptive", ` +
	`"bg_fork_timeout": 1800, "fork_idle_timeout": 10, "permission_mode": "dontAsk", "auto_update": false, ` +
	`"auto_update_interval": 60, "auto_update_hour": 6}` + "\n"

// text returns the content of a file, or empty if it is missing.
func text(t *testing.T, d *store.Dir, file string) string {
	t.Helper()
	data, err := d.Read(file)
	if !errors.Is(err, fs.ErrNotExist) {
		testkit.Must(t, err)
	}
	return string(data)
}

func TestEveryAcceptedValueIsSetAndReadBack(t *testing.T) {
	for _, tt := range []struct {
		name, value, file string // file: its form in the file
		want              func(*Runtime)
	}{
		{"model.main", "Opus", `"model_main": "opus"`, func(r *Runtime) { r.ModelMain = "opus" }},
		{"model_main", " haiku ", `"model_main": "haiku"`, func(r *Runtime) { r.ModelMain = "haiku" }},
		{"model.main", "default", `"model_main": null`, func(r *Runtime) { r.ModelMain = "" }},
		{"model.main", "None", `"model_main": null`, func(r *Runtime) { r.ModelMain = "" }},
		{"model.fork", "", `"model_fork": null`, func(*Runtime) {}},
		{"model.fork", "null", `"model_fork": null`, func(*Runtime) {}},
		{"MODEL.FORK", "SONNET", `"model_fork": "sonnet"`, func(r *Runtime) { r.ModelFork = "sonnet" }},
		{"thinking.main", "adaptive", `"thinking_main": "adaptive"`, func(r *Runtime) { r.ThinkingMain = "adaptive" }},
		{"thinking.main", "08000", `"thinking_main": "8000"`, func(r *Runtime) { r.ThinkingMain = "8000" }},
		{"thinking.fork", "off", `"thinking_fork": "off"`, func(r *Runtime) { r.ThinkingFork = "off" }},
		{"bg_fork_timeout", "60", `"bg_fork_timeout": 60`, func(r *Runtime) { r.BgForkTimeout = time.Minute }},
		{"fork_idle_timeout", "5", `"fork_idle_timeout": 5`, func(r *Runtime) { r.ForkIdleTimeout = 5 * time.Minute }},
		{"permission_mode", "acceptEdits", `"permission_mode": "acceptEdits"`, func(r *Runtime) { r.PermissionMode = "acceptEdits" }},
		{"permission_mode", "default", `"permission_mode": "default"`, func(r *Runtime) { r.PermissionMode = "default" }},
		{"max_background_forks", "2", `"max_background_forks": 2`, func(r *Runtime) { r.MaxBackgroundForks = 2 }},
		{"quiet_hours", "22:00–7:30", `"quiet_hours": "22:00-07:30"`, func(r *Runtime) { r.QuietHours = Quiet{22 * 60, 7*60 + 30} }},
		{"discord_budget", "off", `"discord_budget": false`, func(r *Runtime) { r.DiscordBudget = false }},
		{"promises", "off", `"promises": false`, func(r *Runtime) { r.Promises = false }},
		{"learning", "off", `"learning": false`, func(r *Runtime) { r.Learning = false }},
		{"claude_warm", "0", `"claude_warm": 0`, func(r *Runtime) { r.ClaudeWarm = 0 }},
		{"claude_memory_limit", "512 mb", `"claude_memory_limit": "512MB"`, func(r *Runtime) { r.ClaudeMemoryLimit = 512 << 20 }},
	} {
		t.Run(tt.name+" "+tt.value, func(t *testing.T) {
			d := withConfig(t, `{"model_main": "sonnet"}`)
			want := defaultRuntime()
			want.ModelMain = "sonnet"
			tt.want(&want)
			got, change, err := Set(d, tt.name, tt.value)
			if err != nil || change.Note != "" {
				t.Fatal(err, change)
			}
			read, problems, err := LoadRuntime(d)
			if err != nil || problems != nil {
				t.Fatal(err, problems)
			}
			if diff := cmp.Diff(want, got) + cmp.Diff(want, read); diff != "" {
				t.Error(diff)
			}
			if both := text(t, d, RuntimeFile) + text(t, d, SettingsFile); !strings.Contains(both, tt.file) {
				t.Errorf("the file lacks %s: %s", tt.file, both)
			}
		})
	}
}

func TestARefusedValueSaysWhatIsAcceptedAndWritesNothing(t *testing.T) {
	for _, tt := range []struct{ name, value, says string }{
		{"model_main", "local/", "model_main: must be default, haiku, opus, sonnet, or a model with its provider such as local/qwen3"},
		{"engine", "gpt", "engine: must be one of: auto, claude, messages, script"},
		{"fallback", "claude,claude", "fallback: must be engines (claude, messages, script) or models with their providers such as local/qwen3, separated by commas, each once; or none"},
		{"model_main", "gpt", "model_main: must be default, haiku, opus, sonnet, or a model with its provider such as local/qwen3"},
		{"thinking.main", "loud", "thinking_main: must be off, adaptive or a number of tokens"},
		{"thinking.main", "true", "thinking_main: must be off"},
		{"thinking.fork", "0", "thinking_fork: must be off"},
		{"thinking.fork", "-1", "thinking_fork: must be off"},
		{"bg_fork_timeout", "0", "bg_fork_timeout: must be a whole number of seconds from 1"},
		{"bg_fork_timeout", "1_000", "whole number of seconds"},
		{"bg_fork_timeout", "30m", "whole number of seconds"},
		{"fork_idle_timeout", "٣", "whole number of minutes"},
		{"fork_idle_timeout", strings.Repeat("9", 1<<20), "whole number of minutes"},
		{"permission_mode", "dontask", "permission_mode: must be one of: acceptEdits, bypassPermissions, default, dontAsk"},
		{"max_background_forks", "0", "whole number from 1 to 100"},
		{"quiet_hours", "25:00-26:00", "22:00-07:30, or off"},
		{"claude_memory_limit", "1MB", "at least 64MB"},
		{"sandbox", "on", "one of: auto, off"},
		{"sandbox_visible", "notes", "absolute paths"},
		{"sandbox_visible", "/a,", "absolute paths"},
		{"sandbox_visible", "/a\x1b[2J", "absolute paths"},
		{"update.source", "/srv", "was removed and has no effect: /update says"},
		{"dialy_cap", "5", `unknown key "dialy_cap", did you mean "daily_cap"?`}, // N6
		{"thinking.frok", "off", `did you mean "thinking_fork"?`},
		{"colour\x1b[2J", "red", `unknown key "colour": the keys are model_main, model_fork, thinking_main`},
		{"", "red", `unknown key "": the keys are`},
	} {
		t.Run(tt.name+" "+tt.value[:min(len(tt.value), 9)], func(t *testing.T) {
			d := withConfig(t, "")
			_, _, err := Set(d, tt.name, tt.value)
			if err == nil || !strings.Contains(err.Error(), tt.says) || len(err.Error()) > 600 || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%v", err)
			}
			if _, err := d.Read(RuntimeFile); err == nil {
				t.Error("a file was written")
			}
		})
	}
}

func TestASaveWritesItsKeyAndKeepsWhatElseIsThere(t *testing.T) {
	sonnet := strings.Replace(tenKeys, "null", `"sonnet"`, 1)
	const theirs = "{\n \"zeta\": {\"b\": 1, \"a\": \"\\u00e9\"},\n \"bg_fork_timeout\": \"soon\",\n" +
		" \"thinking_fork\": true, \"quiet_hours\": \"\", \"alpha\": [1, 2]\n}\n"
	for _, c := range []struct {
		name, config, settings string // the original's file and ours; "" where there is none
		key, value, change     string
		saved, ours            string
	}{
		{"a default of ours that no file has is not written", "", "", "claude_warm", "1", "1 → 1", "", ""},
		{"the first save writes exactly the original's ten keys", "", "", "permission_mode", "dontAsk", "dontAsk → dontAsk", tenKeys, ""},
		{"what is set already leaves the original's bytes", sonnet, "", "model.main", "sonnet", "sonnet → sonnet", sonnet, ""},
		{"null counts as an empty file", "null", "", "bg_fork_timeout", "60", "1800 → 60", strings.Replace(tenKeys, "1800", "60", 1), ""},
		{
			"a key of ours that is in its file stays when set to its default", "", `{"max_background_forks": 2, "new": 1}`,
			"max_background_forks", "4", "2 → 4", "", `{"max_background_forks": 4, "new": 1}` + "\n",
		},
		{"no other key is touched, not even a wrong one", theirs, "", "model.fork", "opus", "default → opus", `{
  "model_main": null,
  "model_fork": "opus",
  "thinking_main": "off",
  "thinking_fork": true,
  "bg_fork_timeout": "soon",
  "fork_idle_timeout": 10,
  "permission_mode": "dontAsk",
  "auto_update": false,
  "auto_update_interval": 60,
  "auto_update_hour": 6,
  "quiet_hours": "",
  "alpha": [
    1,
    2
  ],
  "zeta": {
    "b": 1,
    "a": "\u00e9"
  }
}
`, ""},
	} {
		d := withConfig(t, c.config)
		if c.settings != "" {
			testkit.Must(t, d.Write(SettingsFile, []byte(c.settings)))
		}
		_, change, err := Set(d, c.key, c.value)
		if got := change.Before + " → " + change.After; err != nil || change.Note != "" || got != c.change {
			t.Errorf("%s: %s, %+v, %v", c.name, got, change, err)
		}
		if diff := cmp.Diff(c.saved, text(t, d, RuntimeFile)) + cmp.Diff(c.ours, text(t, d, SettingsFile)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

func TestAFileThatIsNoJSONIsSetAsideAndSaid(t *testing.T) {
	for _, broken := range []string{"{\"model_main\": \n", "", "[1]", "\"sonnet\""} {
		d := withConfig(t, "x")
		testkit.Must(t, d.Write(RuntimeFile, []byte(broken)))
		r, c, err := Set(d, "model.main", "opus")
		if err != nil || r.ModelMain != "opus" {
			t.Fatal(r, err)
		}
		_, kept, found := strings.Cut(c.Note, "kept as ")
		kept, _, _ = strings.Cut(kept, " ")
		if !found {
			t.Fatalf("%q: nothing was said: %q", broken, c.Note)
		}
		if data, err := d.Read(kept); err != nil || string(data) != broken {
			t.Errorf("%q was kept as %q, %v", broken, data, err)
		}
		if want := strings.Replace(tenKeys, "null", `"opus"`, 1); text(t, d, RuntimeFile) != want {
			t.Error(text(t, d, RuntimeFile))
		}
	}
}

func TestAFolderInTheFilesPlaceIsAnErrorOrSetAside(t *testing.T) {
	d := withConfig(t, "")
	testkit.Must(t, d.Write(RuntimeFile+"/x", []byte("x")))
	_, c, err := Set(d, "model.main", "opus")
	if err != nil || !strings.Contains(c.Note, "kept as") {
		t.Error(c, err)
	}
}

func TestSettersAtOnceLoseNothing(t *testing.T) {
	d := withConfig(t, "")
	sets := map[string]string{
		"model.main": "opus", "model.fork": "haiku", "bg_fork_timeout": "7", "claude_warm": "3",
		"quiet_hours": "1:00-2:00", "fork_idle_timeout": "9", "thinking.main": "9000", "sandbox": "off",
	}
	var g errgroup.Group
	for name, value := range sets {
		other, err := store.At(d.Root()) // as another process would see it
		testkit.Must(t, err)
		g.Go(func() error { _, _, err := Set(other, name, value); return err })
	}
	testkit.Must(t, g.Wait())
	r, problems, err := LoadRuntime(d)
	want := defaultRuntime()
	want.ModelMain, want.ModelFork, want.BgForkTimeout, want.ClaudeWarm = "opus", "haiku", 7*time.Second, 3
	want.QuietHours, want.ForkIdleTimeout, want.ThinkingMain, want.Sandbox = Quiet{60, 120}, 9*time.Minute, "9000", "off"
	if diff := cmp.Diff(want, r); diff != "" || err != nil || problems != nil {
		t.Error(diff, err, problems)
	}
}

// drawValue returns a text that the key accepts.
func drawValue(t *rapid.T, k key) string {
	number := func(low, high int) string { return fmt.Sprint(rapid.IntRange(low, high).Draw(t, "n")) }
	switch {
	case strings.HasPrefix(k.name, "model"):
		return rapid.SampledFrom([]string{"opus", "Sonnet", "haiku", "", "null", "local/Qwen3:8b"}).Draw(t, "model")
	case strings.HasPrefix(k.name, "thinking"):
		return rapid.SampledFrom([]string{"off", "adaptive", number(1, 100000)}).Draw(t, "thinking")
	case k.name == "permission_mode":
		return rapid.SampledFrom(k.offers).Draw(t, "mode")
	case k.name == "status_line":
		return rapid.SampledFrom([]string{"on", "off", "yes", "0"}).Draw(t, "switch")
	case k.name == "engine":
		return rapid.SampledFrom([]string{"auto", "Claude", "messages", "script"}).Draw(t, "engine")
	case k.name == "fallback":
		return rapid.SampledFrom([]string{"none", "", "claude", "local/qwen3, messages"}).Draw(t, "fallback")
	case k.name == "voice_language":
		return rapid.SampledFrom([]string{"auto", "", "de", "YUE"}).Draw(t, "language")
	case k.name == "discord_budget" || k.name == "promises" || k.name == "learning":
		return rapid.SampledFrom([]string{"on", "OFF", "1", "no"}).Draw(t, "switch")
	case k.name == "sandbox":
		return rapid.SampledFrom([]string{"auto", "off", "OFF"}).Draw(t, "sandbox")
	case k.name == "sandbox_visible":
		return rapid.SampledFrom([]string{"none", "", "/srv", "~/a b:rw, /srv/c"}).Draw(t, "paths")
	case k.name == "sandbox_network":
		return rapid.SampledFrom([]string{"on", "off", "1", "no", "api.github.com, *.Example.org,localhost:8080"}).Draw(t, "network")
	case k.name == "timezone":
		return rapid.SampledFrom([]string{"Europe/Berlin", "tokyo", "new york", "machine"}).Draw(t, "zone")
	case k.name == "quiet_hours":
		return rapid.SampledFrom([]string{"off", "22:00-07:30", "0:00-5:05"}).Draw(t, "quiet")
	case slices.Contains([]string{"morning", "noon", "afternoon", "evening", "night"}, k.name):
		return rapid.SampledFrom([]string{"7:00", "07:30", "9pm", "23:59"}).Draw(t, "clock")
	case k.name == "claude_memory_limit":
		return number(64<<20, 1<<40)
	case k.name == "quiet_messages":
		return number(0, 20)
	case k.name == "claude_warm":
		return number(0, 16)
	}
	return number(1, 100)
}

func TestSettingBeforeTakesAnyChangeBack(t *testing.T) {
	dir := t.TempDir()
	testkit.Check(t, func(t *rapid.T) {
		d := storetest.At(t, dir)
		start, _, err := LoadRuntime(d)
		testkit.Must(t, err)
		k := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(keys), func(k key) bool { return k.unused })).Draw(t, "key")
		r, c, err := Set(d, rapid.SampledFrom([]string{k.name, strings.Replace(k.name, "_", ".", 1)}).Draw(t, "name"), drawValue(t, k))
		testkit.Must(t, err)
		if read, problems, err := LoadRuntime(d); err != nil || problems != nil || read != r {
			t.Fatalf("%+v was returned, %+v read, %v, %v", r, read, problems, err)
		}
		if line, err := ShowOne(r, c.Key); err != nil || line.Value != c.Is {
			t.Fatalf("%+v, change %+v, %v", line, c, err)
		}
		back, c2, err := Set(d, c.Key, c.Before)
		if err != nil || back != start || c2.Before != c.After || c2.Is != c.Was {
			t.Fatalf("back to %+v from %+v: %+v, %v", start, c, c2, err)
		}
	})
}

func TestEveryFieldHasExactlyOneKey(t *testing.T) {
	typ := reflect.TypeFor[Runtime]()
	if len(keys) != typ.NumField() {
		t.Errorf("%d keys for %d fields", len(keys), typ.NumField())
	}
	other := Runtime{
		ModelMain: "opus", ModelFork: "opus", ThinkingMain: "1", ThinkingFork: "1", BgForkTimeout: time.Hour,
		ForkIdleTimeout: time.Hour, PermissionMode: "default", AutoUpdate: true, AutoUpdateInterval: time.Minute,
		AutoUpdateHour: 1, GoogleCalendars: "x", GoogleTaskList: "x", Engine: "messages", Fallback: "script", VoiceLanguage: "de", VoiceLimit: time.Minute, MaxBackgroundForks: 9, QuietHours: Quiet{1, 2}, Timezone: "Asia/Tokyo",
		Morning: 1, Noon: 2, Afternoon: 3, Evening: 4, Night: 5,
		DailyCap: 2.5, MonthlyCap: 0, TurnCap: 2, StatusLine: true, ClaudeWarm: 9, ClaudeMemoryLimit: 64 << 20, Sandbox: "off", SandboxNetwork: "a.example.org", SandboxVisible: "/srv:rw",
		WebhookHosts: "hooks.example.org",
	}
	seen := map[string]bool{}
	for i, k := range keys {
		r := defaultRuntime()
		if !k.parse(&r, k.text(other)) {
			t.Errorf("%s does not take its own text %q", k.name, k.text(other))
		}
		for f := range typ.NumField() {
			changed := !reflect.DeepEqual(reflect.ValueOf(r).Field(f).Interface(), reflect.ValueOf(defaultRuntime()).Field(f).Interface())
			if changed != (f == i) {
				t.Errorf("%s: field %s changed: %v", k.name, typ.Field(f).Name, changed)
			}
		}
		if seen[k.name] {
			t.Errorf("%s is there twice", k.name)
		}
		seen[k.name] = true
	}
}

func TestTheNetworkIsASwitchOrAListOfHosts(t *testing.T) {
	d := storetest.At(t, t.TempDir())
	for value, wants := range map[string]struct{ is, file string }{
		"on": {"on", "true"}, "off": {"", "false"}, "1": {"on", "true"}, "No": {"", "false"},
		" api.GitHub.com , *.example.org,localhost:8080": {"api.github.com,*.example.org,localhost:8080", `"api.github.com,*.example.org,localhost:8080"`},
	} {
		if _, _, err := Set(d, "sandbox_network", "on"); err != nil {
			t.Fatal(err)
		}
		r, _, err := Set(d, "sandbox.network", value)
		data, rerr := d.Read(SettingsFile)
		if err != nil || rerr != nil || r.SandboxNetwork != wants.is || string(data) != `{"sandbox_network": `+wants.file+"}\n" {
			t.Errorf("%q is %q in %s, %v, %v", value, r.SandboxNetwork, data, err, rerr)
		}
	}
}

func TestAListOfHostsThatIsWrongIsRefusedAndTheOldOneStays(t *testing.T) {
	d := storetest.At(t, t.TempDir())
	if _, _, err := Set(d, "sandbox_network", "api.github.com"); err != nil {
		t.Fatal(err)
	}
	for value, wants := range map[string]string{
		"api.github.com, *.com":       `sandbox_network: "*.com" is too wide`,
		"https://api.github.com/repo": `sandbox_network: "https://api.github.com/repo" is more than a host`,
		"on, api.github.com":          "sandbox_network: on must be the only entry",
		"localhost:x":                 "the port must be a number",
		"*":                           "for the whole network set it to on",
		"enable":                      "sandbox_network: must be on, off, or the hosts to reach",
		"":                            "sandbox_network: must be on, off, or the hosts to reach",
	} {
		_, _, err := Set(d, "sandbox_network", value)
		if err == nil || !strings.Contains(err.Error(), wants) {
			t.Errorf("%q: %v", value, err)
		}
		if r, problems, err := LoadRuntime(d); r.SandboxNetwork != "api.github.com" || problems != nil || err != nil {
			t.Errorf("after %q it is %q, %v, %v", value, r.SandboxNetwork, problems, err)
		}
	}
	testkit.Must(t, d.Write(SettingsFile, []byte(`{"sandbox_network": "api.github.com, *.com"}`)))
	r, problems, err := LoadRuntime(d)
	if err != nil || r.SandboxNetwork != "" || len(problems) != 1 || !strings.Contains(problems[0].Message, `"*.com" is too wide`) {
		t.Errorf("a file by hand gives %q, %+v, %v", r.SandboxNetwork, problems, err)
	}
}

// The zone in .env counts before the setting, so a change changes both; what else is there stays.
func TestAChangedZoneIsChangedInEnvToo(t *testing.T) {
	dir := t.TempDir()
	d := storetest.At(t, dir)
	write(t, filepath.Join(dir, EnvFile), "# mine\nexport OLLIM_TIMEZONE=Europe/Berlin\nOLLIM_BOT_NAME=Olli\n")
	r, c, err := Set(d, "timezone", "new york")
	if err != nil || r.Timezone != "America/New_York" || c.Before != "Europe/Berlin" || c.After != "America/New_York" {
		t.Fatalf("%q, %+v, %v", r.Timezone, c, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, EnvFile))
	testkit.Must(t, err)
	if string(data) != "# mine\nexport OLLIM_TIMEZONE=America/New_York\nOLLIM_BOT_NAME=Olli\n" {
		t.Errorf(".env is\n%s", data)
	}
	env, _, err := LoadEnv(func(string) string { return "" }, Flags{DataDir: dir})
	if err != nil || env.ZoneName != "America/New_York" || env.ZoneKept || env.ZoneFixed != "" {
		t.Errorf("%s, %v, %q, %v", env.ZoneName, env.ZoneKept, env.ZoneFixed, err)
	}
	if _, _, err := Set(d, "timezone", "Mars"); err == nil || !strings.Contains(err.Error(), "Europe/Berlin") {
		t.Error(err)
	}
}
