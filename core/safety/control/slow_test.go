package control

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// A pipe replaces the socket, because a synctest bubble's clock does not advance during socket I/O.
func TestASlowCallerIsGivenUpAndSoIsOneThatDoesNotRead(t *testing.T) {
	for text, says := range map[string]string{`{"token":`: "no request arrived within 5s", "garbage\n": ""} {
		synctest.Test(t, func(t *testing.T) {
			s := New(Options{Dir: t.TempDir()})
			ours, theirs := net.Pipe()
			done := make(chan struct{})
			go func() { defer close(done); s.serve(context.Background(), &Token{}, ours) }()
			_, err := theirs.Write([]byte(text))
			testkit.Must(t, err)
			if says != "" {
				line, err := bufio.NewReader(theirs).ReadString('\n')
				if err != nil || !strings.Contains(line, says) {
					t.Errorf("it gets %q, %v", line, err)
				}
			}
			<-done
		})
	}
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
