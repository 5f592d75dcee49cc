package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

// machine is what Env is read from: flags, variables, .env, the files of the zone and the setting with the zone in use.
type machine struct {
	dir, etc string
	sys      system
	vars     map[string]string
	flags    Flags
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{dir: t.TempDir(), etc: t.TempDir(), vars: map[string]string{}}
	m.sys = system{timezone: filepath.Join(m.etc, "timezone"), localtime: filepath.Join(m.etc, "localtime")}
	m.flags.DataDir = m.dir
	return m
}

func (m *machine) load() (Env, []string, error) {
	m.sys.variable = m.vars["TZ"]
	return loadEnv(func(k string) string { return m.vars[k] }, m.flags, m.sys)
}

// put writes a file, or removes it if it is to be empty.
func put(t *testing.T, path, text string) {
	t.Helper()
	testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	if text == "" {
		testkit.Must(t, os.RemoveAll(path))
		return
	}
	testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestTheEnvironment plays testdata/env.txt: with each load is what the machine gives that is not the default.
func TestTheEnvironment(t *testing.T) {
	goldentest.Stories(t, "env.txt", func(t *testing.T, story string) string {
		m := newMachine(t)
		var out []string
		for line := range strings.Lines(story) {
			line = strings.TrimRight(line, "\n")
			if strings.HasPrefix(line, "#") {
				out = append(out, line)
			}
			if step, is := strings.CutPrefix(line, "> "); is {
				step, _, _ = strings.Cut(step, " → ")
				verb, rest, _ := strings.Cut(step, " ")
				out = append(out, answered(step, m.step(t, verb, unescaped(rest))))
			}
		}
		return strings.Join(out, "\n")
	})
}

// answered is a step with what came of it: behind it, or below it if that is more than a line.
func answered(step string, said []string) string {
	between := "\n"
	if len(said) == 1 && !strings.Contains(said[0], "\n") {
		between = " → "
	}
	return strings.TrimSuffix("> "+step+between+strings.Join(said, "\n"), "\n")
}

func (m *machine) step(t *testing.T, verb, rest string) (out []string) {
	switch verb {
	case "flag":
		m.flags.Timezone = rest
	case "variable":
		name, value, _ := strings.Cut(rest, " ")
		m.vars[name] = value
	case ".env":
		put(t, filepath.Join(m.dir, EnvFile), rest)
	case "kept":
		if rest != "" {
			rest = fmt.Sprintf(`{"timezone": %q}`, rest)
		}
		put(t, filepath.Join(m.dir, SettingsFile), rest)
	case "/etc/timezone":
		put(t, m.sys.timezone, rest)
		if rest != "" { // it is younger than the link
			testkit.Must(t, os.Chtimes(m.sys.timezone, time.Time{}, time.Now().Add(time.Hour)))
		}
	case "stale":
		testkit.Must(t, os.Chtimes(m.sys.timezone, time.Time{}, time.Now().AddDate(-1, 0, 0)))
	case "/etc/localtime":
		put(t, m.sys.localtime, "")
		if rest != "" {
			target := filepath.Join(m.etc, "zoneinfo", rest)
			put(t, target, "TZif")
			testkit.Must(t, os.Symlink(target, m.sys.localtime))
		}
	case "chmod":
		var file, folder os.FileMode
		_, err := fmt.Sscanf(rest, "%o %o", &file, &folder)
		testkit.Must(t, errors.Join(err, os.Chmod(filepath.Join(m.dir, EnvFile), file), os.Chmod(m.dir, folder)))
	case "load":
		env, warnings, err := m.load()
		if err != nil {
			return []string{"error: " + err.Error()}
		}
		if env.Zone.String() != env.ZoneName {
			t.Errorf("the zone %s is called %s", env.Zone, env.ZoneName)
		}
		out = append(out, strings.TrimSpace("zone: "+env.ZoneName+" "+env.ZoneFixed+map[bool]string{true: "kept"}[env.ZoneKept]))
		for _, one := range [][2]string{
			{"user", env.GivenName()}, {"bot", strings.TrimPrefix(env.BotName, "ollim-bot")}, {"token", env.DiscordToken.Reveal()}, {"owner", env.OwnerID},
		} {
			if one[1] != "" {
				out = append(out, one[0]+": "+one[1])
			}
		}
		also := []string{env.DiscordAPI, env.GoogleAPI, strings.TrimPrefix(strconv.Itoa(env.WebhookPort), "0"), env.WebhookSecret.Reveal(), env.Editor, env.Variable("OTHER").Reveal()}
		for _, one := range env.Engine {
			also = append(also, one.Reveal())
		}
		if all := strings.Join(slices.DeleteFunc(also, func(one string) bool { return one == "" }), ", "); all != "" {
			out = append(out, "also: "+all)
		}
		for _, one := range warnings {
			out = append(out, "warning: "+one)
		}
		for _, p := range env.Problems {
			out = append(out, fmt.Sprintf("%s:%d %s: %s", p.File, p.Line, p.Severity, p.Message))
		}
	default:
		t.Fatalf("no step %q", verb)
	}
	for i, line := range out {
		out[i] = strings.NewReplacer(m.etc, "ETC", m.dir, "DATA").Replace(line)
	}
	return out
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

func TestATextThatIsNoEnvFileIsOneErrorAndNothingInItCounts(t *testing.T) {
	m := newMachine(t)
	put(t, filepath.Join(m.dir, EnvFile), "DISCORD_TOKEN=x\n"+strings.Repeat("wrong\n", mostWrong+1))
	env, _, err := m.load()
	want := []routines.Problem{{File: EnvFile, Line: 2, Severity: routines.Error, Message: msgEnvLines}}
	if diff := cmp.Diff(want, env.Problems); diff != "" || err != nil || env.DiscordToken != "" {
		t.Errorf("%s, %v", diff, err)
	}
}

func TestWhatIsWrongWithTheEnvFileIsKnownWithoutLoadingIt(t *testing.T) {
	m := newMachine(t)
	d, text := storetest.At(t, m.dir), "OTHER=x\nwrong\n"
	put(t, d.Path(EnvFile), text)
	want := []routines.Problem{{File: EnvFile, Line: 2, Severity: routines.Error, Message: msgEnvLine}}
	env, _, err := m.load()
	testkit.Must(t, err)
	for name, got := range map[string][]routines.Problem{"the file": EnvProblems(d), "a text": CheckEnv([]byte(text)), "the environment": env.Problems} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if broken := env.Broken(); broken == nil || broken.Error() != ".env, line 2: "+msgEnvLine || (Env{}).Broken() != nil {
		t.Error(broken)
	}
	put(t, d.Path(EnvFile), "")
	testkit.Must(t, os.Mkdir(d.Path(EnvFile), 0o700))
	if got := EnvProblems(d); len(got) != 1 || !strings.HasSuffix(got[0].Message, "/.env: read .env: not a regular file; put a plain text file in its place") {
		t.Errorf("a folder in its place: %v", got)
	}
	if _, _, err := m.load(); err == nil {
		t.Error("a folder in its place is loaded")
	}
}

func TestAVariableOfAnEnvironmentCountsOnceAndTheLastOne(t *testing.T) {
	environ := []string{"A=1", "AB=2", "A=3", "B="}
	for name, want := range map[string]string{"A": "3", "AB": "2", "B": "", "C": ""} {
		if got := Lookup(environ, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if diff := cmp.Diff([]string{"AB=2", "B=", "A=4"}, With(environ, "A", "4")); diff != "" || environ[0] != "A=1" {
		t.Errorf("%s, and the old one is %q", diff, environ)
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

func TestWhatMustAppearNowhereIsKnownByValue(t *testing.T) {
	e := Env{
		DiscordToken: "discord.token", WebhookSecret: "1",
		Engine: []Secret{"ANTHROPIC_API_KEY=sk-from-file", "OLLIM_CLAUDE=/usr/bin/claude", "ANTHROPIC_BASE_URL=http://127.0.0.1"},
		file:   map[string]string{"MY_PASSWORD": " hunter2 ", "MY_NAME": "not secret", "A_KEY": "short"},
	}
	environ := []string{
		"CLAUDE_CODE_OAUTH_TOKEN=oauth-token", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=320000", "PATH=/usr/bin:/bin", "SSH_KEY=not-ours",
		"ANTHROPIC_AUTH_TOKEN=auth-token", "ANTHROPIC_CUSTOM_HEADERS=X-Key: abc", "nonsense", "DISCORD_TOKEN=",
	}
	want := []string{"discord.token", "oauth-token", "auth-token", "X-Key: abc", "sk-from-file", "hunter2"}
	if diff := cmp.Diff(want, e.Secrets(environ)); diff != "" {
		t.Error(diff)
	}
}
