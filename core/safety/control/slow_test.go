package control

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
)

// A pipe replaces the socket, because a synctest bubble's clock does not advance during socket I/O.
func TestASlowCallerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Dir: t.TempDir()})
		ours, theirs := net.Pipe()
		go s.serve(context.Background(), &Token{}, ours)
		if _, err := theirs.Write([]byte(`{"token":`)); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(theirs).ReadBytes('\n')
		var a answer
		if err != nil || json.Unmarshal(line, &a) != nil || !strings.Contains(a.Stderr, "no request arrived within 5s") {
			t.Errorf("it is told %q, %v", line, err)
		}
	})
}

func TestACallerThatDoesNotReadIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Dir: t.TempDir()})
		ours, theirs := net.Pipe()
		done := make(chan struct{})
		go func() { defer close(done); s.serve(context.Background(), &Token{}, ours) }()
		if _, err := theirs.Write([]byte("garbage\n")); err != nil {
			t.Fatal(err)
		}
		<-done
	})
}

func TestACommandThatTakesTooLongIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		token := New(Options{Dir: t.TempDir()}).Issue(func(ctx context.Context, _ []string) agent.CommandResult {
			<-ctx.Done()
			return agent.CommandResult{Exit: 4}
		})
		begun := time.Now()
		if r := token.call(context.Background(), nil); r.Exit != 4 || time.Since(begun) != callLimit {
			t.Errorf("it ended with %+v after %v", r, time.Since(begun))
		}
		token.Revoke()
	})
}
