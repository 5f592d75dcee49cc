package setup

import (
	"bytes"
	"errors"
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

// asksAboutNoServer keeps init from offering the models of a server that runs beside the test.
func asksAboutNoServer(t *testing.T, root string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(root, 0o700), os.WriteFile(filepath.Join(root, provider.File), []byte("# none\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// walk answers the questions of init from a pipe.
func walk(t *testing.T, root, api string, c Cmd, answers ...string) (string, error) {
	t.Helper()
	asksAboutNoServer(t, root)
	return walkBeside(t, "", root, api, c, answers...)
}

// walkBeside does so on a machine with Ollama at an address.
func walkBeside(t *testing.T, ollama, root, api string, c Cmd, answers ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	p := &console.Process{
		In: strings.NewReader(strings.Join(answers, "\n")), Out: &out, Err: &out,
		Getenv: func(name string) string {
			return map[string]string{"OLLAMA_HOST": ollama, "OLLIM_DATA_DIR": root, "OLLIM_DISCORD_API": api, "TZ": "UTC"}[name]
		},
		Environ: func() []string { return nil }, Now: time.Now,
	}
	err := c.Run(p)
	if strings.Contains(out.String(), initToken) {
		t.Error("the token is on the screen")
	}
	return out.String(), err
}

func TestInitWritesTheAnswersAndKeepsTheRest(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{Token: initToken})
	root := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	env := filepath.Join(root, ".env")
	if err := os.WriteFile(env, []byte("# mine\nANTHROPIC_API_KEY=abc\nexport OLLIM_TIMEZONE=UTC\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := walk(t, root, s.URL()+"/api/v10", Cmd{}, "Ada", "Olli", "Europe/Berlin", initToken)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"ok  the bot is", "session starts are left", "client_id=" + s.Bot().ID, "ollim-bot run"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if len(s.State().Messages) != 0 {
		t.Error("it has written to somebody")
	}
	want := "# mine\nANTHROPIC_API_KEY=abc\nexport OLLIM_TIMEZONE=Europe/Berlin\nOLLIM_USER_NAME=Ada\nOLLIM_BOT_NAME=Olli\nDISCORD_TOKEN=" + initToken + "\n"
	if got, _ := os.ReadFile(env); string(got) != want {
		t.Errorf("%s", got)
	}
	if info, err := os.Stat(env); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	// Again, with nothing but enter: everything stays.
	if out, err = walk(t, root, s.URL()+"/api/v10", Cmd{}); err != nil || !strings.Contains(out, "keep the one that is set") {
		t.Errorf("%v\n%s", err, out)
	}
	if got, _ := os.ReadFile(env); string(got) != want {
		t.Errorf("%s", got)
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
	for answer, want := range map[string]string{"": "qwen3:8b", "yes": "qwen3:8b", "2": "gemma3:4b", "gemma3:4b": "gemma3:4b", "no": "", "nomic-embed-text:latest": "", "3": ""} {
		root := filepath.Join(t.TempDir(), "data")
		out, err := walkBeside(t, server.URL, root, "", Cmd{Offline: true}, "Ada", "Olli", "UTC", "", answer)
		for _, line := range []string{
			"Ollama at " + server.URL + " has 2 models that can chat:\n  1. qwen3:8b: 8.2B, 5.0 GB, up to 40,960 tokens, calls tools\n  2. gemma3:4b: ",
			"calls no tools: it can talk", "Left out, because they cannot chat: nomic-embed-text:latest.",
		} {
			if !strings.Contains(out, line) {
				t.Errorf("%q: no %q in\n%s", answer, line, out)
			}
		}
		file, missing := os.ReadFile(filepath.Join(root, "providers.yaml"))
		if want == "" {
			if missing == nil || answer == "no" && err != nil || answer != "no" && (err == nil || !strings.Contains(err.Error(), "a number from 1 to 2")) {
				t.Errorf("%q: %s, %v", answer, file, err)
			}
			continue
		}
		first, _, _ := strings.Cut(string(file), "window")
		if err != nil || !strings.HasSuffix(first, "    - name: \""+want+"\"\n      ") || !strings.Contains(out, want+" will run with 16,384 tokens of context") {
			t.Errorf("%q: %v\n%s\n%s", answer, err, file, out)
		}
	}
}

func TestInitWritesNoTokenThatDiscordRefuses(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{Token: "another"})
	root := filepath.Join(t.TempDir(), "data")
	out, err := walk(t, root, s.URL()+"/api/v10", Cmd{}, "", "", "Europe/Oslo", initToken)
	if err == nil || !strings.Contains(out, "Reset Token") {
		t.Errorf("%v\n%s", err, out)
	}
	got, _ := os.ReadFile(filepath.Join(root, ".env"))
	if strings.Contains(string(got), "DISCORD_TOKEN") || !strings.Contains(string(got), "OLLIM_TIMEZONE=Europe/Oslo") {
		t.Errorf("%s", got)
	}
}

func TestInitFromAPipeEndsAtAWrongAnswer(t *testing.T) {
	for _, answers := range [][]string{
		{"Ada", "Olli", "Nowhere/At-all"},
		{"Ada", "Olli", "UTC", "two words"},
		{"Ada", "Olli", "UTC", "short"},
		{"Ada$(x)`", "Olli", "UTC", ""},
	} {
		root := filepath.Join(t.TempDir(), "data")
		if out, err := walk(t, root, "", Cmd{Offline: true}, answers...); err == nil {
			t.Errorf("%q was taken\n%s", answers, out)
		}
		if data, err := os.ReadFile(filepath.Join(root, ".env")); err == nil {
			t.Errorf("%q: written: %s", answers, data)
		}
	}
}

func TestInitUnderstandsATokenHoweverItWasCopied(t *testing.T) {
	for _, pasted := range []string{
		"Bot " + initToken, `"` + initToken + `"`, "DISCORD_TOKEN=" + initToken, "export DISCORD_TOKEN='" + initToken + "'", "`" + initToken + "`  ",
	} {
		root := filepath.Join(t.TempDir(), "data")
		if out, err := walk(t, root, "", Cmd{Offline: true}, "Ada", "Olli", "UTC", pasted); err != nil {
			t.Errorf("%q: %v\n%s", pasted, err, out)
		}
		if got, _ := os.ReadFile(filepath.Join(root, ".env")); !strings.Contains(string(got), "DISCORD_TOKEN="+initToken+"\n") {
			t.Errorf("%q: %s", pasted, got)
		}
	}
}

func TestInitWithoutANetworkKeepsTheTokenAndSaysThatNobodyHasCheckedIt(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{Token: initToken})
	s.Fault(discordtest.Match{Times: -1}, discordtest.Broken(503))
	root := filepath.Join(t.TempDir(), "data")
	out, err := walk(t, root, s.URL()+"/api/v10", Cmd{}, "Ada", "Olli", "UTC", initToken)
	if err == nil || !strings.Contains(err.Error(), "saved unchecked") || strings.Contains(out, "Reset Token, then copy") {
		t.Errorf("%v\n%s", err, out)
	}
	if got, _ := os.ReadFile(filepath.Join(root, ".env")); !strings.Contains(string(got), "DISCORD_TOKEN="+initToken) || !strings.Contains(string(got), "OLLIM_USER_NAME=Ada") {
		t.Errorf("%s", got)
	}
}
