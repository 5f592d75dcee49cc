package setup

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// echoes reports whether a terminal shows what is typed.
func echoes(t *testing.T, f *os.File) bool {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return mode.Lflag&unix.ECHO != 0
}

func TestInitAtATerminalAsksForTheTokenAgainAndProvesByAHelloThatItReachesItsUser(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{Token: initToken})
	root := filepath.Join(t.TempDir(), "data")
	asksAboutNoServer(t, root)
	screen, keys, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	p := &console.Process{
		In: keys, Out: keys, Err: keys, Environ: func() []string { return nil }, Now: time.Now,
		Getenv: func(name string) string {
			return map[string]string{"OLLIM_DATA_DIR": root, "OLLIM_DISCORD_API": s.URL() + "/api/v10", "TZ": "UTC"}[name]
		},
	}
	done := make(chan error, 1)
	go func() {
		done <- errors.Join((&Cmd{}).Run(p), keys.Close())
	}()
	var seen strings.Builder
	buf := make([]byte, 4096)
	for _, step := range []struct{ question, answer string }{
		{"your name?", "Ada"},
		{"bot's name?", "Olli"},
		{"time zone?", "UTC"},
		{"Discord token?", strings.Repeat("wrong-token.", 3)},
		{"Discord token?", initToken},
		{"test message in Discord now", ""},
	} {
		at := seen.Len()
		for !strings.Contains(seen.String()[at:], step.question) {
			n, err := screen.Read(buf)
			if err != nil {
				t.Fatalf("waiting for %q: %v\n%s", step.question, err, &seen)
			}
			seen.Write(buf[:n])
		}
		for strings.HasPrefix(step.question, "Discord token") && echoes(t, keys) { // as fast as no user types
			runtime.Gosched()
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
	invited, asked := strings.Index(seen.String(), "private servers"), strings.Index(seen.String(), "test message in Discord now")
	if invited < 0 || asked < invited { // P14
		t.Errorf("the invitation is not shown before the question:\n%s", &seen)
	}
	if !s.State().Said(s.Bot(), "is here") {
		t.Error("it has not written")
	}
}
