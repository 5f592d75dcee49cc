package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines/when"
)

// tenKeys is what the original writes if nothing was ever set.
const tenKeys = `{"model_main": null, "model_fork": null, "thinking_main": "off", "thinking_fork": "adaptive", ` +
	`"bg_fork_timeout": 1800, "fork_idle_timeout": 10, "permission_mode": "dontAsk", "auto_update": false, ` +
	`"auto_update_interval": 60, "auto_update_hour": 6}` + "\n"

// TestSettings plays testdata/settings.txt: with a line with ">" is what is read from the files, what has changed in them, and what the
// user is answered.
func TestSettings(t *testing.T) {
	goldentest.Stories(t, "settings.txt", func(t *testing.T, story string) string {
		d := storetest.Dir(t)
		var out []string
		for line := range strings.Lines(story) {
			if step, is := strings.CutPrefix(strings.TrimRight(line, "\n"), "> "); is {
				step, _, _ = strings.Cut(step, " → ")
				out = append(out, answered(step, settingsStep(t, d, unescaped(strings.Replace(step, "TEN", tenKeys, 1)))))
			}
		}
		return keptAt.ReplaceAllString(strings.ReplaceAll(strings.Join(out, "\n"), d.Root(), "DATA"), "TIME")
	})
}

var (
	keptAt = regexp.MustCompile(`\d{8}T\d{6}|\b20\d\d-\d\d-\d\d\b`)
	escape = regexp.MustCompile(`\\(?:[nr\\]|x[0-9a-f]{2}|u[0-9a-f]{4})`)
)

// unescaped reads line breaks and control characters that are written as in Go.
func unescaped(line string) string {
	return escape.ReplaceAllStringFunc(line, func(one string) string {
		text, _ := strconv.Unquote(`"` + one + `"`)
		return text
	})
}

func settingsStep(t *testing.T, d *store.Dir, step string) (out []string) {
	verb, rest, _ := strings.Cut(step, " ")
	name, value, _ := strings.Cut(rest, " ")
	switch verb {
	case "file":
		testkit.Must(t, d.Write(name, []byte(value)))
	case "read":
		data, err := d.Read(name)
		if errors.Is(err, fs.ErrNotExist) {
			return []string{"there is none"}
		}
		testkit.Must(t, err)
		if text, whole := strings.CutSuffix(string(data), "\n"); whole {
			return []string{text}
		}
		out = append(out, string(data)+" (without a line end)")
	case "load":
		r, problems, err := LoadRuntime(d)
		for _, l := range Show(r) {
			if !l.Default {
				out = append(out, l.Key+": "+l.Text)
			}
		}
		for _, p := range problems {
			out = append(out, fmt.Sprintf("%s:%d %s: %s", p.File, p.Line, p.Severity, p.Message))
		}
		if err != nil {
			out = append(out, err.Error())
		}
	case "set":
		before := members(t, d)
		r, c, err := Set(d, name, value)
		if err != nil {
			out = append(out, err.Error())
			break
		}
		if out = append(out, fmt.Sprintf("%s: %s → %s (%s → %s)", c.Key, c.Before, c.After, c.Was, c.Is)); c.Note != "" {
			out = append(out, c.Note)
		}
		for _, member := range members(t, d) {
			if !slices.Contains(before, member) {
				out = append(out, member)
			}
		}
		if read, problems, err := LoadRuntime(d); read != r && len(problems) == 0 || err != nil {
			t.Errorf("%s: it is read as %+v, %v, want %+v", step, read, err, r)
		}
	case "show":
		r, _, err := LoadRuntime(d)
		testkit.Must(t, err)
		if name != "" {
			l, err := ShowOne(r, name)
			if err != nil {
				return []string{err.Error()}
			}
			return []string{fmt.Sprintf("%s, %s, may be %q and nothing else: %t", l, l.Long, l.Choices, l.Closed)}
		}
		for _, l := range Show(r) {
			out = append(out, l.String()+", "+l.Long)
		}
	case "overview": // with the settings of other places, which say what they are about
		r, _, err := LoadRuntime(d)
		testkit.Must(t, err)
		var others []Line
		for _, s := range Settings {
			if _, err := ShowOne(r, s.Key); err != nil {
				others = append(others, Line{Key: s.Key, Long: s.About})
			}
		}
		return strings.Split(Overview(r, others...), "\n")
	case "valid": // a version that was read before
		testkit.Must(t, d.KeepValid(name, []byte(value)))
	default:
		t.Fatalf("no step %q", step)
	}
	return out
}

// members are the members of both files: of the original's without one what its first save writes.
func members(t *testing.T, d *store.Dir) (all []string) {
	for _, rel := range []string{RuntimeFile, SettingsFile} {
		data, err := d.Read(rel)
		var values map[string]json.RawMessage
		if err != nil || json.Unmarshal(data, &values) != nil || values == nil {
			if rel == SettingsFile {
				continue
			}
			testkit.Must(t, json.Unmarshal([]byte(tenKeys), &values))
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			all = append(all, fmt.Sprintf("%s has %q: %s", rel, key, values[key]))
		}
	}
	return all
}

func TestSettersAtOnceLoseNothing(t *testing.T) {
	d := storetest.Dir(t)
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

func TestAnEndlessNumberIsRefusedInASentence(t *testing.T) {
	if _, _, err := Set(storetest.Dir(t), "fork_idle_timeout", strings.Repeat("9", 1<<20)); err == nil || len(err.Error()) > 600 {
		t.Errorf("%v", err)
	}
}

func TestForksThinkLikeTheConversationUnlessSetOtherwise(t *testing.T) {
	for set, want := range map[string]string{"adaptive": "8000", "off": "off", "1000": "1000"} {
		if got := (Runtime{ThinkingFork: set}).ForkThinking("8000"); got != want {
			t.Errorf("%s: %q", set, got)
		}
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

func TestAFileOfSettingsIsCheckedAsItWouldBeRead(t *testing.T) {
	for text, rel := range map[string]string{`{"quiet_hours": 7}`: SettingsFile, `{"bg_fork_timeout": "x"}`: RuntimeFile, "{": SettingsFile, "[": RuntimeFile} {
		d := storetest.Dir(t)
		storetest.Put(t, d, rel, text)
		_, want, _ := LoadRuntime(d)
		if diff := cmp.Diff(want, Check(rel, []byte(text))); diff != "" || len(want) != 1 {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestEverySettingIsInItsGroupAndTheDayHasItsTimes(t *testing.T) {
	n := 0
	for _, group := range Groups {
		for _, line := range InGroup(defaultRuntime(), group) {
			if n++; line.About.Group != group || TakesModel(line.Key) != slices.Contains([]string{"model_main", "model_fork", "fallback"}, line.Key) {
				t.Errorf("%s is among %s, and takes a model: %v", line.Key, group, TakesModel(line.Key))
			}
		}
	}
	if day := (Runtime{Morning: 1, Noon: 2, Afternoon: 3, Evening: 4, Night: 5}).Day(); n != len(Show(defaultRuntime())) || day != (when.Day{Morning: 1, Noon: 2, Afternoon: 3, Evening: 4, Night: 5}) {
		t.Errorf("%d settings, and a day of %+v", n, day)
	}
}
