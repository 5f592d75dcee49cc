package setup

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/agent/messages/dialect/dialecttest"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

const initToken = "MTIzNDU2Nzg5.Gabcde.secret-of_the-test"

// machine is where init sets a bot up: its data directory, and the addresses of an Ollama and a Discord.
type machine struct {
	t               *testing.T
	root            string
	ollama, discord string
}

// newMachine keeps init from offering the models of a server that runs beside the test.
func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, root: filepath.Join(t.TempDir(), "data")}
	m.file(provider.File, "# none\n")
	return m
}

// withDiscord is a machine with a Discord that knows a token.
func withDiscord(t *testing.T, token string) (*machine, *discordtest.Server) {
	t.Helper()
	m, s := newMachine(t), discordtest.Start(t, discordtest.Options{Token: token})
	m.discord = s.URL() + "/api/v10"
	return m, s
}

func (m *machine) file(name, text string) {
	m.t.Helper()
	testkit.Must(m.t, errors.Join(os.MkdirAll(m.root, 0o700), os.WriteFile(filepath.Join(m.root, name), []byte(text), 0o600)))
}

// read is a file of the data directory, "" if there is none.
func (m *machine) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(m.root, name))
	return string(data)
}

func (m *machine) process(in io.Reader, out io.Writer) *console.Process {
	return &console.Process{
		In: in, Out: out, Err: out, Environ: func() []string { return nil }, Now: time.Now,
		Getenv: func(name string) string {
			return map[string]string{"OLLAMA_HOST": m.ollama, "OLLIM_DATA_DIR": m.root, "OLLIM_DISCORD_API": m.discord, "TZ": "UTC"}[name]
		},
	}
}

// init answers the questions of init from a pipe.
func (m *machine) init(c Cmd, answers ...string) (string, error) {
	m.t.Helper()
	var out bytes.Buffer
	err := c.Run(m.process(strings.NewReader(strings.Join(answers, "\n")), &out))
	if strings.Contains(out.String(), initToken) {
		m.t.Error("the token is on the screen")
	}
	return out.String(), err
}

func TestInitWritesTheAnswersAndKeepsTheRest(t *testing.T) {
	testkit.Alone(t)
	m, s := withDiscord(t, initToken)
	m.file(".env", "# mine\nANTHROPIC_API_KEY=abc\nexport OLLIM_TIMEZONE=UTC\n")
	const want = "# mine\nANTHROPIC_API_KEY=abc\nexport OLLIM_TIMEZONE=Europe/Berlin\nOLLIM_USER_NAME=Ada\nOLLIM_BOT_NAME=Olli\nDISCORD_TOKEN=" + initToken + "\n"
	for _, c := range []struct{ answers, says []string }{
		{[]string{"Ada", "Olli", "Europe/Berlin", initToken}, []string{"ok  the bot is", "session starts are left", "client_id=" + s.Bot().ID, "ollim-bot run"}},
		{nil, []string{"keep the one that is set"}}, // with nothing but enter everything stays
	} {
		out, err := m.init(Cmd{}, c.answers...)
		testkit.Must(t, err)
		for _, part := range c.says {
			if !strings.Contains(out, part) {
				t.Errorf("%q: no %q in\n%s", c.answers, part, out)
			}
		}
		if got := m.read(".env"); got != want {
			t.Errorf("%q: it has written\n%s", c.answers, got)
		}
	}
	if len(s.State().Messages) != 0 {
		t.Error("it has written to somebody")
	}
	if info, err := os.Stat(filepath.Join(m.root, ".env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// E1: init took the first name of Ollama's list, and showed nothing of what it can do.
func TestInitListsTheModelsOfTheMachineAndTakesTheChosenOne(t *testing.T) {
	testkit.Alone(t)
	server := dialecttest.Start(t, dialecttest.Options{Models: []dialecttest.Model{
		{Name: "nomic-embed-text:latest", Can: []string{"embedding"}},
		{Name: "gemma3:4b", Can: []string{"completion", "vision"}, Window: 131_072, Size: 3 << 30},
		{Name: "qwen3:8b", Can: []string{"completion", "tools"}, Window: 40_960, Size: 5 << 30},
	}})
	for answer, want := range map[string]string{
		"": "qwen3:8b", "yes": "qwen3:8b", "2": "gemma3:4b", "gemma3:4b": "gemma3:4b", "no": "", "nomic-embed-text:latest": "", "3": "",
	} {
		m := &machine{t: t, root: filepath.Join(t.TempDir(), "data"), ollama: server.URL}
		out, err := m.init(Cmd{Offline: true}, "Ada", "Olli", "UTC", "", answer)
		for _, line := range []string{
			"Ollama at " + server.URL + " has 2 models that can chat:\n  1. qwen3:8b: 8.2B, 5.0 GB, up to 40,960 tokens, calls tools\n  2. gemma3:4b: ",
			"calls no tools: it can talk", "Left out, because they cannot chat: nomic-embed-text:latest.",
		} {
			if !strings.Contains(out, line) {
				t.Errorf("%q: no %q in\n%s", answer, line, out)
			}
		}
		file := m.read("providers.yaml")
		switch first, _, _ := strings.Cut(file, "window"); {
		case answer == "no" && err == nil && file == "":
		case want == "" && file == "" && err != nil && strings.Contains(err.Error(), "a number from 1 to 2"):
		case want != "" && err == nil && strings.HasSuffix(first, "    - name: \""+want+"\"\n      ") &&
			strings.Contains(out, want+" will run with 16,384 tokens of context"):
		default:
			t.Errorf("%q: %v\n%s\n%s", answer, err, file, out)
		}
	}
}

func TestInitWritesNoTokenThatDiscordRefuses(t *testing.T) {
	testkit.Alone(t)
	m, _ := withDiscord(t, "another")
	out, err := m.init(Cmd{}, "", "", "Europe/Oslo", initToken)
	if err == nil || !strings.Contains(out, "Reset Token") {
		t.Errorf("%v\n%s", err, out)
	}
	if got := m.read(".env"); strings.Contains(got, "DISCORD_TOKEN") || !strings.Contains(got, "OLLIM_TIMEZONE=Europe/Oslo") {
		t.Errorf("it has written\n%s", got)
	}
}

func TestInitWithoutANetworkKeepsTheTokenAndSaysThatItIsUnchecked(t *testing.T) {
	testkit.Alone(t)
	m, s := withDiscord(t, initToken)
	s.Fault(discordtest.Match{Times: -1}, discordtest.Broken(503))
	out, err := m.init(Cmd{}, "Ada", "Olli", "UTC", initToken)
	if err == nil || !strings.Contains(err.Error(), "saved unchecked") || strings.Contains(out, "Reset Token, then copy") {
		t.Errorf("%v\n%s", err, out)
	}
	if got := m.read(".env"); !strings.Contains(got, "DISCORD_TOKEN="+initToken) || !strings.Contains(got, "OLLIM_USER_NAME=Ada") {
		t.Errorf("it has written\n%s", got)
	}
}

// A wrong answer ends it from a pipe, and nothing is written; a token is understood however it was copied.
func TestInitFromAPipeTakesTheseAnswersOnly(t *testing.T) {
	for _, c := range []struct {
		answers []string
		taken   bool
	}{
		{[]string{"Ada", "Olli", "Nowhere/At-all"}, false},
		{[]string{"Ada", "Olli", "UTC", "two words"}, false},
		{[]string{"Ada", "Olli", "UTC", "short"}, false},
		{[]string{"Ada$(x)`", "Olli", "UTC", ""}, false},
		{[]string{"Ada", "Olli", "UTC", "Bot " + initToken}, true},
		{[]string{"Ada", "Olli", "UTC", `"` + initToken + `"`}, true},
		{[]string{"Ada", "Olli", "UTC", "DISCORD_TOKEN=" + initToken}, true},
		{[]string{"Ada", "Olli", "UTC", "export DISCORD_TOKEN='" + initToken + "'"}, true},
		{[]string{"Ada", "Olli", "UTC", "`" + initToken + "`  "}, true},
	} {
		m := newMachine(t)
		out, err := m.init(Cmd{Offline: true}, c.answers...)
		got := m.read(".env")
		if (err == nil) != c.taken || strings.Contains(got, "DISCORD_TOKEN="+initToken+"\n") != c.taken || !c.taken && got != "" {
			t.Errorf("%q: %v\n%s\nand has written\n%s", c.answers, err, out, got)
		}
	}
}
