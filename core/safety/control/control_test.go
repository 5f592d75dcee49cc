package control

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// served runs a server until the test ends.
func served(t testing.TB, dir string) (s *Server, end func()) {
	t.Helper()
	s = New(Options{Dir: dir, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	testkit.Must(t, s.Open())
	ctx, cancel := context.WithCancel(context.Background())
	var g sync.WaitGroup
	g.Go(func() {
		if err := s.Serve(ctx); err != nil {
			t.Error(err)
		}
	})
	end = sync.OnceFunc(func() { cancel(); g.Wait() })
	t.Cleanup(end)
	return s, end
}

// echo returns a session that answers with its name and its arguments.
func echo(name string) Command {
	return func(_ context.Context, args []string) agent.CommandResult {
		return agent.CommandResult{Stdout: fmt.Sprintf("%s %q", name, args), Stderr: "a warning", Exit: 3}
	}
}

func call(t testing.TB, token *Token, args ...string) agent.CommandResult {
	t.Helper()
	env := token.Env()
	r, err := Call(strings.TrimPrefix(env[0], SocketVar+"="), strings.TrimPrefix(env[1], SessionVar+"="), args)
	testkit.Must(t, err)
	return r
}

func refused(t testing.TB, r agent.CommandResult, part string) {
	t.Helper()
	if r.Exit != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, part) {
		t.Errorf("got %+v, want a refusal that says %q", r, part)
	}
}

func TestACommandArrivesAtItsSessionWordByWord(t *testing.T) {
	s, _ := served(t, t.TempDir())
	one, two := s.Issue(echo("one")), s.Issue(echo("two"))
	args := []string{"reminder", "add", "-m", "it's\ntime\x00 \"now\" ü", ""}
	for name, token := range map[string]*Token{"one": one, "two": two} {
		want := agent.CommandResult{Stdout: fmt.Sprintf("%s %q", name, args), Stderr: "a warning", Exit: 3}
		if diff := cmp.Diff(want, call(t, token, args...)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestATokenCountsUntilItIsRevoked(t *testing.T) {
	s, _ := served(t, t.TempDir())
	refused(t, call(t, s.Issue(nil), "help"), "does not accept commands")
	token := s.Issue(echo("one"))
	if r := call(t, token, "help"); r.Exit != 3 {
		t.Errorf("a token gives %+v", r)
	}
	env := token.Env()
	token.Revoke()
	token.Revoke()
	_, err := Call(strings.TrimPrefix(env[0], SocketVar+"="), strings.TrimPrefix(env[1], SessionVar+"="), []string{"help"})
	if err == nil || !strings.Contains(err.Error(), "the session has ended") {
		t.Errorf("a call of a session that has ended gives %v", err)
	}
}

// A leaked token is useless: its session's door is not visible from other sessions.
func TestATokenCountsAtItsOwnDoorOnly(t *testing.T) {
	s, _ := served(t, t.TempDir())
	one, two := s.Issue(echo("one")), s.Issue(echo("two"))
	path, _ := one.Door()
	r, err := Call(path, two.value, []string{"help"})
	testkit.Must(t, err)
	refused(t, r, "session has ended or is unknown")
}

func TestTheEndOfASessionOrOfItsCallerCancelsACommand(t *testing.T) {
	s, _ := served(t, t.TempDir())
	begun, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	token := s.Issue(func(ctx context.Context, _ []string) agent.CommandResult {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return agent.CommandResult{Stderr: "cancelled"}
	})
	conn := ring(t, token)
	line, err := json.Marshal(request{Token: token.value})
	testkit.Must(t, err)
	_, err = conn.Write(append(line, '\n'))
	testkit.Must(t, err)
	<-begun
	_ = conn.Close()
	<-ended
	done := make(chan agent.CommandResult, 1)
	go func() { done <- call(t, token, "help") }()
	<-begun
	token.Revoke()
	if r := <-done; r.Stderr != "cancelled" {
		t.Errorf("the command ended with %+v", r)
	}
}

func ring(t testing.TB, token *Token) conn {
	t.Helper()
	path, _ := token.Door()
	conn, err := dial(path, time.Now().Add(time.Minute))
	testkit.Must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestAThousandConnectionsOfGarbageDoNoHarm(t *testing.T) {
	s, _ := served(t, t.TempDir())
	token := s.Issue(echo("one"))
	random := make([]byte, 300)
	_, _ = rand.Read(random)
	huge := strings.Repeat("x", maxRequest+5)
	garbage := []string{
		"\n", "GET / HTTP/1.1\r\n\r\n", string(random) + "\n", "[]\n", "null\n", `{"token":""}` + "\n", `{"token":7}` + "\n",
		`{"token":"` + token.value[:42] + `","args":["help"]}` + "\n", `{"token":"` + token.value + `x"}` + "\n",
		strings.Repeat("[", 10_000) + "\n", `{"args":["help"]}` + "\n",
	}
	var all sync.WaitGroup
	room := make(chan struct{}, 50)
	for i := range 1000 {
		text := garbage[i%len(garbage)]
		if i == 500 {
			text = huge
		}
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			conn := ring(t, token)
			_, _ = conn.Write([]byte(text)) // it may be refused before it is complete
			line, _ := bufio.NewReader(conn).ReadBytes('\n')
			var a answer
			if err := json.Unmarshal(line, &a); err != nil || a.Exit != 1 || !strings.HasPrefix(a.Stderr, "ollim-bot: ") {
				t.Errorf("%.40q is answered with %q", text, line)
			}
		})
	}
	all.Wait()
	if r := call(t, token, "help"); r.Exit != 3 {
		t.Errorf("afterwards a command gives %+v", r)
	}
}

func TestAPanicIsAnAnswer(t *testing.T) {
	s, _ := served(t, t.TempDir())
	token := s.Issue(func(context.Context, []string) agent.CommandResult { panic("a fault") })
	for range 2 {
		refused(t, call(t, token, "help"), "internal fault")
	}
}

func TestTheDoorsArePrivateAndGoWithTheBot(t *testing.T) {
	dir := t.TempDir()
	s, end := served(t, dir)
	token := s.Issue(nil)
	path, _ := token.Door()
	for at := path; at != dir; at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", at, info, err)
		}
	}
	end()
	if _, err := os.Lstat(filepath.Join(dir, folderName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("they are still there: %v", err)
	}
	if _, err := Call(path, "x", nil); err == nil || !strings.Contains(err.Error(), "its bot has stopped") {
		t.Errorf("a call to a bot that is gone gives %v", err)
	}
	if got := token.Env(); got != nil {
		t.Errorf("a server that has ended gives the environment %q", got)
	}
}

func TestWhatAKilledBotLeftIsReplaced(t *testing.T) {
	dir := t.TempDir()
	killed, err := openPlace(dir)
	testkit.Must(t, err)
	door, err := openDoor(filepath.Join(killed.folder, "1"))
	testkit.Must(t, err)
	t.Cleanup(func() { _ = door.Close() })
	testkit.Must(t, killed.lock.Close())
	s, _ := served(t, dir)
	if r := call(t, s.Issue(echo("one")), "help"); r.Exit != 3 {
		t.Errorf("got %+v", r)
	}
}

// noDoors returns a folder in which a bot cannot create doors, and the folder it uses instead.
func noDoors(t *testing.T) (dir, runtime string) {
	t.Helper()
	runtime, err := os.MkdirTemp("", "run") // t.TempDir is too long
	testkit.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(runtime) })
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	dir = filepath.Join(t.TempDir(), "file")
	testkit.Must(t, os.WriteFile(dir, nil, 0o600))
	return dir, runtime
}

func TestWhereNoDoorCanBeMadeTheyAreInAFolderOfTheirOwn(t *testing.T) {
	dir, runtime := noDoors(t)
	folders := func() []string {
		found, err := filepath.Glob(filepath.Join(runtime, "*"))
		testkit.Must(t, err)
		return found
	}
	killed, err := openPlace(dir) // and never closed
	testkit.Must(t, err)
	s, end := served(t, dir)
	token := s.Issue(echo("one"))
	path, _ := token.Door()
	if r := call(t, token, "help"); r.Exit != 3 || !strings.HasPrefix(path, runtime) {
		t.Errorf("got %+v over %s", r, path)
	}
	if got := folders(); len(got) != 1 || got[0] == killed.folder {
		t.Errorf("beside it there are %q", got)
	}
	if info, err := os.Stat(folders()[0]); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder has the mode %v, %v", info.Mode(), err)
	}
	end()
	if got := folders(); len(got) != 0 {
		t.Errorf("what is left: %q", got)
	}
}

// The directory of a killed demo is never used again, so a bot with any other directory removes its
// folder.
func TestAFolderOfAKilledBotIsSweptByTheNext(t *testing.T) {
	dir, _ := noDoors(t)
	killed, err := openPlace(dir + "-killed")
	testkit.Must(t, err)
	if !strings.HasSuffix(killed.folder, folderName) {
		t.Fatalf("it is in %s", killed.folder)
	}
	folder, err := freshFolder(dir + "-killed")
	testkit.Must(t, err)
	p, err := take(folder)
	testkit.Must(t, err)
	testkit.Must(t, p.lock.Close())
	living := filepath.Join(t.TempDir(), "file")
	testkit.Must(t, os.WriteFile(living, nil, 0o600))
	alive, _ := served(t, living)
	served(t, dir)
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the killed one is still there: %v", err)
	}
	if r := call(t, alive.Issue(echo("one")), "help"); r.Exit != 3 {
		t.Errorf("the other bot that runs answers %+v", r)
	}
}

func TestNoDoorMeansNoVariables(t *testing.T) {
	var none *Server
	token := none.Issue(echo("one"))
	token.Revoke()
	if env := append(token.Env(), New(Options{Dir: t.TempDir()}).Issue(nil).Env()...); len(env) != 0 {
		t.Errorf("the environment gets %q", env)
	}
}

func BenchmarkACallThroughTheDoor(b *testing.B) {
	s, _ := served(b, b.TempDir())
	token := s.Issue(echo("one"))
	for b.Loop() {
		call(b, token, "reminder", "list")
	}
}
