package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

// machine is a test's environment: variables, .env and the zone files.
type machine struct {
	vars      map[string]string
	dotenv    string
	timezone  string
	stale     bool   // the file has not changed since the link was made
	localtime string // target of the link, below a zoneinfo folder
	kept      string // the setting with the zone in use
}

func (m machine) load(t *testing.T, f Flags) (Env, []string, error) {
	t.Helper()
	dir := t.TempDir()
	if m.dotenv != "" {
		write(t, filepath.Join(dir, EnvFile), m.dotenv)
	}
	if f.DataDir == "" && m.vars["OLLIM_DATA_DIR"] == "" {
		f.DataDir = dir
	}
	etc := t.TempDir()
	sys := system{timezone: filepath.Join(etc, "timezone"), localtime: filepath.Join(etc, "localtime")}
	if m.timezone != "" {
		write(t, sys.timezone, m.timezone)
		at := time.Now().Add(time.Hour)
		if m.stale {
			at = at.AddDate(-1, 0, 0)
		}
		testkit.Must(t, os.Chtimes(sys.timezone, at, at))
	}
	if m.localtime != "" {
		target := filepath.Join(etc, "zoneinfo", m.localtime)
		testkit.Must(t, os.MkdirAll(filepath.Dir(target), 0o700))
		write(t, target, "TZif")
		testkit.Must(t, os.Symlink(target, sys.localtime))
	}
	if m.kept != "" {
		testkit.Must(t, os.MkdirAll(filepath.Join(dir, "state"), 0o700))
		write(t, filepath.Join(dir, SettingsFile), fmt.Sprintf(`{"timezone": %q}`, m.kept))
	}
	sys.variable = m.vars["TZ"]
	return loadEnv(func(k string) string { return m.vars[k] }, f, sys)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestTheZoneIsFoundInTheOrderOfTheSpec(t *testing.T) {
	all := machine{
		vars:   map[string]string{"OLLIM_TIMEZONE": "Asia/Tokyo"},
		dotenv: "OLLIM_TIMEZONE=Asia/Kolkata\n", timezone: "Europe/Berlin\n", localtime: "America/New_York",
	}
	tests := []struct {
		name   string
		change func(m *machine, f *Flags)
		want   string
	}{
		{"the flag", func(_ *machine, f *Flags) { f.Timezone = "Africa/Cairo" }, "Africa/Cairo"},
		{"the variable", func(*machine, *Flags) {}, "Asia/Tokyo"},
		{".env", func(m *machine, _ *Flags) { m.vars = nil }, "Asia/Kolkata"},
		{"an empty variable counts as none", func(m *machine, _ *Flags) { m.vars = map[string]string{"OLLIM_TIMEZONE": " "} }, "Asia/Kolkata"},
		{"/etc/timezone", func(m *machine, _ *Flags) { m.vars, m.dotenv = nil, "" }, "Europe/Berlin"},
		{"the zone that the bot keeps", func(m *machine, _ *Flags) { m.vars, m.dotenv, m.kept = nil, "", "Asia/Dubai" }, "Asia/Dubai"},
		{"before it, .env", func(m *machine, _ *Flags) { m.vars, m.kept = nil, "Asia/Dubai" }, "Asia/Kolkata"},
		{"instead of one that is gone, the machine's", func(m *machine, _ *Flags) { m.vars, m.dotenv, m.kept = nil, "", "Mars/Olympus" }, "Europe/Berlin"},
		{"TZ", func(m *machine, _ *Flags) { m.vars, m.dotenv = map[string]string{"TZ": ":Asia/Dubai"}, "" }, "Asia/Dubai"},
		{"a TZ that names no zone", func(m *machine, _ *Flags) { m.vars, m.dotenv = map[string]string{"TZ": "CET-1CEST"}, "" }, "Europe/Berlin"},
		{"an /etc/timezone that the system no longer writes", func(m *machine, _ *Flags) { m.vars, m.dotenv, m.stale = nil, "", true }, "America/New_York"},
		{"/etc/localtime", func(m *machine, _ *Flags) { m.vars, m.dotenv, m.timezone = nil, "", "" }, "America/New_York"},
		{"/etc/localtime with another tree", func(m *machine, _ *Flags) { *m = machine{localtime: "posix/Europe/Paris"} }, "Europe/Paris"},
		{"UTC", func(m *machine, _ *Flags) { *m = machine{} }, "UTC"},
		{"UTC by its name", func(_ *machine, f *Flags) { f.Timezone = "UTC" }, "UTC"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, f := all, Flags{}
			tt.change(&m, &f)
			env, warnings, err := m.load(t, f)
			if err != nil || len(warnings) > 0 || env.ZoneName != tt.want || env.Zone.String() != tt.want {
				t.Errorf("zone %q (%v), warnings %q, error %v, want %s", env.ZoneName, env.Zone, warnings, err, tt.want)
			}
		})
	}
}

func TestAWrongZoneIsAnErrorWithAnExample(t *testing.T) {
	for _, name := range []string{"Pacific", "Local", "../../etc/passwd", "PST8PDT7", "\x1b[2J"} {
		_, _, err := machine{}.load(t, Flags{Timezone: name})
		if err == nil || !strings.Contains(err.Error(), "--timezone") || !strings.Contains(err.Error(), "Europe/Berlin") ||
			strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, _, err := machine{dotenv: "OLLIM_TIMEZONE=Mars\n"}.load(t, Flags{})
	if err == nil || !strings.Contains(err.Error(), `OLLIM_TIMEZONE: there is no time zone "Mars"`) {
		t.Error(err)
	}
}

func TestAWrongZoneOfTheMachineIsPassedOver(t *testing.T) {
	env, warnings, err := machine{timezone: "Mars\n", localtime: "Europe/Paris"}.load(t, Flags{})
	if err != nil || env.ZoneName != "Europe/Paris" || len(warnings) != 1 || !strings.Contains(warnings[0], "Mars") {
		t.Errorf("%q, %q, %v", env.ZoneName, warnings, err)
	}
}

func TestRealVariablesGoBeforeTheFile(t *testing.T) {
	before := os.Getenv("OLLIM_BOT_NAME")
	m := machine{
		vars: map[string]string{"OLLIM_USER_NAME": "Sam", "DISCORD_TOKEN": ""},
		dotenv: "# names\nOLLIM_USER_NAME=Other\nexport OLLIM_BOT_NAME=\"Ol lie\"\nDISCORD_TOKEN=' abc '\n" +
			"OLLIM_DATA_DIR=/elsewhere\n",
	}
	env, warnings, err := m.load(t, Flags{})
	if err != nil || env.UserName != "Sam" || env.BotName != "Ol lie" || env.DiscordToken.Reveal() != "abc" {
		t.Errorf("%+v, token %q, %v", env, env.DiscordToken.Reveal(), err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "OLLIM_DATA_DIR") {
		t.Errorf("warnings are %q", warnings)
	}
	if os.Getenv("OLLIM_BOT_NAME") != before {
		t.Error("the process's environment was changed")
	}
}

func TestNamesHaveDefaultsAndAreCleaned(t *testing.T) {
	env, _, err := machine{}.load(t, Flags{})
	if err != nil || env.UserName != "you" || env.BotName != "ollim-bot" || env.DiscordToken != "" {
		t.Errorf("%+v, %v", env, err)
	}
	env, _, err = machine{vars: map[string]string{"OLLIM_USER_NAME": "S\x1b[31mam\n" + strings.Repeat("x", 200)}}.load(t, Flags{})
	if err != nil || !strings.HasPrefix(env.UserName, "Sam x") || len([]rune(env.UserName)) > 80 {
		t.Errorf("%q, %v", env.UserName, err)
	}
}

func TestTheDataDirectoryComesFromFlagVariableOrHome(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, tt := range []struct{ flag, variable, want string }{
		{"~/a", "/b", filepath.Join(home, "a")},
		{"", "/b/../c", "/c"},
		{"", "", filepath.Join(home, ".ollim-bot")},
	} {
		env, _, err := loadEnv(func(k string) string {
			return map[string]string{"OLLIM_DATA_DIR": tt.variable}[k]
		}, Flags{DataDir: tt.flag}, system{})
		if err != nil || env.DataDir != tt.want {
			t.Errorf("%q, %v, want %q", env.DataDir, err, tt.want)
		}
	}
}

// Q1: one malformed line takes nothing but itself.
func TestAWrongLineOfTheEnvFileIsAProblemAndTheOthersCount(t *testing.T) {
	for _, tt := range []struct {
		text  string
		lines []int
	}{
		{"OLLIM_USER_NAME=Sam\nthis is wrong\nDISCORD_TOKEN=hunter2\n", []int{2}},
		{"A=\"open\nDISCORD_TOKEN=hunter2\n", []int{1}},
		{"DISCORD_TOKEN=hunter2\n\nB-C=x\n", []int{3}},
		{"one\nDISCORD_TOKEN=hunter2\n\nA='x\nB-C=x\n", []int{1, 4, 5}},
	} {
		env, warnings, err := machine{dotenv: tt.text}.load(t, Flags{})
		if err != nil || len(warnings) > 0 || env.DiscordToken.Reveal() != "hunter2" || len(env.Problems) != len(tt.lines) {
			t.Errorf("%q: %+v, %q, %v", tt.text, env.Problems, warnings, err)
			continue
		}
		for i, p := range env.Problems {
			if p.Line != tt.lines[i] || p.File != EnvFile || p.Severity != routines.Error || strings.Contains(p.Message, "hunter2") {
				t.Errorf("%q: %+v", tt.text, p)
			}
		}
	}
}

func TestATextThatIsNoEnvFileIsOneErrorAndNothingInItCounts(t *testing.T) {
	env, _, err := machine{dotenv: "DISCORD_TOKEN=x\n" + strings.Repeat("wrong\n", mostWrong+1)}.load(t, Flags{})
	want := []routines.Problem{{File: EnvFile, Line: 2, Severity: routines.Error, Message: msgEnvLines}}
	if diff := cmp.Diff(want, env.Problems); diff != "" || err != nil || env.DiscordToken != "" {
		t.Errorf("%s, %v", diff, err)
	}
}

func TestAnEnvFileIsWarnedAboutIfOthersCanReachIt(t *testing.T) {
	for mode, problems := range map[os.FileMode]int{0o755: 1, 0o700: 0} {
		dir := t.TempDir()
		path := filepath.Join(dir, EnvFile)
		write(t, path, "DISCORD_TOKEN=x\n")
		testkit.Must(t, errors.Join(os.Chmod(path, 0o644), os.Chmod(dir, mode)))
		env, warnings, err := loadEnv(func(string) string { return "" }, Flags{DataDir: dir}, system{})
		if err != nil || len(warnings) > 0 || len(env.Problems) != problems || problems == 1 && !strings.Contains(env.Problems[0].Message, "set its mode to 600") {
			t.Errorf("%o: %+v, %q, %v", mode, env.Problems, warnings, err)
		}
	}
}

func TestTheEnvFileNeverPanicsNorLeaks(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.SampledFrom([]string{
			"A", "=", "\n", "\"", "'", "$", "{", "}", "#", " ", "export ", "hunter2", "\\", ":", "é", "\x00", "\xff",
		})).Draw(t, "text")
		_, problems := parseEnv([]byte(strings.Join(text, "")))
		if strings.Contains(fmt.Sprint(problems), "hunter2") {
			t.Fatal(problems)
		}
	})
}

func TestSecretsPrintAsHidden(t *testing.T) {
	s := Secret("hunter2")
	j, err := json.Marshal(map[string]any{"a": s, "b": &s, "c": Env{DiscordToken: s}})
	testkit.Must(t, err)
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "token", s, "env", Env{DiscordToken: s})
	env := Env{DiscordToken: s}
	out := fmt.Sprintf("%s %v %+v %#v %q %x %s %+v %#v %s", s, s, s, s, s, s, j, env, env, b.String())
	if strings.Contains(out, "hunter2") || strings.Contains(out, "68756e74657232") {
		t.Errorf("it shows in %s", out)
	}
	if s.Reveal() != "hunter2" {
		t.Errorf("it was lost: %q", s.Reveal())
	}
}
