package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"ollimbot/discord/fake"
)

const initToken = "MTIzNDU2Nzg5.Gabcde.secret-of_the-test"

// walk answers the questions of init from a pipe.
func walk(t *testing.T, root, api string, c initCmd, answers ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	p := &process{
		in: strings.NewReader(strings.Join(answers, "\n")), out: &out, err: &out,
		getenv: func(name string) string {
			return map[string]string{"OLLIM_DATA_DIR": root, "OLLIM_DISCORD_API": api, "TZ": "UTC"}[name]
		},
		environ: func() []string { return nil }, now: time.Now,
	}
	err := c.Run(p)
	if strings.Contains(out.String(), initToken) {
		t.Error("the token is on the screen")
	}
	return out.String(), err
}

func TestInitWritesTheAnswersAndKeepsTheRest(t *testing.T) {
	s := fake.Start(t, fake.Options{Token: initToken})
	root := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	env := filepath.Join(root, ".env")
	if err := os.WriteFile(env, []byte("# mine\nANTHROPIC_API_KEY=abc\nexport OLLIM_TIMEZONE=UTC\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := walk(t, root, s.URL()+"/api/v10", initCmd{}, "Ada", "Olli", "Europe/Berlin", initToken)
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
	if out, err = walk(t, root, s.URL()+"/api/v10", initCmd{}); err != nil || !strings.Contains(out, "keep the one that is set") {
		t.Errorf("%v\n%s", err, out)
	}
	if got, _ := os.ReadFile(env); string(got) != want {
		t.Errorf("%s", got)
	}
}

func TestInitWritesNoTokenThatDiscordRefuses(t *testing.T) {
	s := fake.Start(t, fake.Options{Token: "another"})
	root := filepath.Join(t.TempDir(), "data")
	out, err := walk(t, root, s.URL()+"/api/v10", initCmd{}, "", "", "UTC", initToken)
	if err == nil || !strings.Contains(out, "Reset Token") {
		t.Errorf("%v\n%s", err, out)
	}
	got, _ := os.ReadFile(filepath.Join(root, ".env"))
	if strings.Contains(string(got), "DISCORD_TOKEN") || !strings.Contains(string(got), "OLLIM_TIMEZONE=UTC") {
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
		if out, err := walk(t, root, "", initCmd{Offline: true}, answers...); err == nil {
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
		if out, err := walk(t, root, "", initCmd{Offline: true}, "Ada", "Olli", "UTC", pasted); err != nil {
			t.Errorf("%q: %v\n%s", pasted, err, out)
		}
		if got, _ := os.ReadFile(filepath.Join(root, ".env")); !strings.Contains(string(got), "DISCORD_TOKEN="+initToken+"\n") {
			t.Errorf("%q: %s", pasted, got)
		}
	}
}

func TestInitWithoutANetworkKeepsTheTokenAndSaysThatNobodyHasCheckedIt(t *testing.T) {
	s := fake.Start(t, fake.Options{Token: initToken})
	s.Fault(fake.Match{Times: -1}, fake.Broken(503))
	root := filepath.Join(t.TempDir(), "data")
	out, err := walk(t, root, s.URL()+"/api/v10", initCmd{}, "Ada", "Olli", "UTC", initToken)
	if err == nil || !strings.Contains(err.Error(), "written down unchecked") || strings.Contains(out, "Reset Token, then copy") {
		t.Errorf("%v\n%s", err, out)
	}
	if got, _ := os.ReadFile(filepath.Join(root, ".env")); !strings.Contains(string(got), "DISCORD_TOKEN="+initToken) || !strings.Contains(string(got), "OLLIM_USER_NAME=Ada") {
		t.Errorf("%s", got)
	}
}

func TestInitAtATerminalAsksForTheTokenAgainAndProvesByAHelloThatItReachesItsUser(t *testing.T) {
	s := fake.Start(t, fake.Options{Token: initToken})
	root := filepath.Join(t.TempDir(), "data")
	screen, keys, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	p := &process{
		in: keys, out: keys, err: keys, environ: func() []string { return nil }, now: time.Now,
		getenv: func(name string) string {
			return map[string]string{"OLLIM_DATA_DIR": root, "OLLIM_DISCORD_API": s.URL() + "/api/v10", "TZ": "UTC"}[name]
		},
	}
	done := make(chan error, 1)
	go func() {
		done <- errors.Join((&initCmd{}).Run(p), keys.Close())
	}()
	var seen strings.Builder
	buf := make([]byte, 4096)
	for _, step := range []struct{ question, answer string }{
		{"your name?", "Ada"},
		{"bot's name?", "Olli"},
		{"time zone?", "UTC"},
		{"Discord token?", strings.Repeat("wrong-token.", 3)},
		{"hello in Discord now?", ""},
		{"Discord token?", initToken},
	} {
		at := seen.Len()
		for !strings.Contains(seen.String()[at:], step.question) {
			n, err := screen.Read(buf)
			if err != nil {
				t.Fatalf("waiting for %q: %v\n%s", step.question, err, &seen)
			}
			seen.Write(buf[:n])
		}
		if _, err := screen.WriteString(step.answer + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	for {
		n, err := screen.Read(buf)
		if seen.Write(buf[:n]); err != nil {
			break // the other end is closed
		}
	}
	if err := <-done; err != nil {
		t.Errorf("%v\n%s", err, &seen)
	}
	if text := seen.String(); strings.Count(text, "your name?") != 1 || !strings.Contains(text, "it has written to its owner") || strings.Contains(text, initToken) {
		t.Errorf("%s", text)
	}
	if !s.State().Said(s.Bot(), "is here") {
		t.Error("it has not written")
	}
}

func TestTheDoctorFindsATokenThatDiscordNoLongerKnowsAndAUserWhoCannotBeReached(t *testing.T) {
	s := fake.Start(t, fake.Options{Token: "another"})
	root := filepath.Join(t.TempDir(), "data")
	if _, err := walk(t, root, "", initCmd{Offline: true}, "Ada", "Olli", "UTC", initToken); err != nil {
		t.Fatal(err)
	}
	doctor := func(c interface{ Run(*process) error }) string {
		var out bytes.Buffer
		p := &process{in: strings.NewReader(""), out: &out, err: &out, now: time.Now, environ: func() []string { return nil }, getenv: func(name string) string {
			return map[string]string{"OLLIM_DATA_DIR": root, "OLLIM_DISCORD_API": s.URL() + "/api/v10", "TZ": "UTC"}[name]
		}}
		_ = c.Run(p) // it fails for other reasons too
		return out.String()
	}
	if out := doctor(&doctorCmd{}); !strings.Contains(out, "FAIL  discord: Discord does not know this token: Developer Portal") {
		t.Error(out)
	}
	s.ResetToken(initToken)
	if out := doctor(&doctorCmd{}); !strings.Contains(out, "PASS  discord: the bot is") || len(s.State().Messages) != 0 {
		t.Error(out)
	}
	if err := os.MkdirAll(filepath.Join(root, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "state/discord.json"), []byte(`{"shut_out":"unblock the bot"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []interface{ Run(*process) error }{&doctorCmd{}, &statusCmd{}, &statusCmd{JSON: true}} {
		if out := doctor(c); !strings.Contains(out, "unblock the bot") {
			t.Error(out)
		}
	}
}
