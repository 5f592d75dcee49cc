package setup

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"ollimbot/core/base/testkit"
)

// echoes reports whether a terminal shows what is typed.
func echoes(t *testing.T, f *os.File) bool {
	t.Helper()
	mode, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	testkit.Must(t, err)
	return mode.Lflag&unix.ECHO != 0
}

func TestInitAtATerminalAsksForTheTokenAgainAndProvesByAHelloThatItReachesItsUser(t *testing.T) {
	testkit.Alone(t)
	m := newMachine(t)
	m.withDiscord(initToken)
	screen, keys, err := pty.Open()
	testkit.Must(t, err)
	defer screen.Close()
	done := make(chan error, 1)
	go func() {
		done <- errors.Join((&Cmd{}).Run(m.process(keys, keys)), keys.Close())
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
		_, err := screen.WriteString(step.answer + "\n")
		testkit.Must(t, err)
	}
	_, _ = io.Copy(&seen, screen) // until the other end is closed
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
	if !m.discord.State().Said(m.discord.Bot(), "is here") {
		t.Error("it has not written")
	}
}
