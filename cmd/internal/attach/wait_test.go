package attach

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"ollimbot/core/base/testkit"
)

// N12: a client that waits says for how long, tries again at once after r, and never waits
// more than five seconds.
func TestAWaitEndsWithOneKey(t *testing.T) {
	testkit.Alone(t)
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close(); _ = slave.Close() })
	was, err := term.GetState(slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	c := &client{o: Options{In: slave, Out: slave, Err: &said}, retry: make(chan struct{}, 1)}
	if _, err := master.WriteString("xr"); err != nil { // typed ahead, without Enter
		t.Fatal(err)
	}
	if !c.wait(t.Context(), time.Hour) {
		t.Error("r does not end the wait")
	}
	if want := "reconnecting in 3600 s, r to retry now"; !strings.Contains(said.String(), want) {
		t.Errorf("says %q, want %q", said.String(), want)
	}
	if is, err := term.GetState(slave.Fd()); err != nil || *is != *was {
		t.Errorf("the terminal is not as it was: %v", err)
	}
	if longestPause > 5*time.Second {
		t.Errorf("it waits up to %s", longestPause)
	}
}
