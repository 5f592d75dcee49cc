package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
)

// playName is the variable that turns this test binary into one of the programs
// that the tests start.
const playName = "OLLIM_TEST_PLAY"

// raceExit disables the one-second wait at the exit of programs with the race detector.
const raceExit = "GORACE=atexit_sleep_ms=0"

// longest is how long a played program lives if a test forgets to end it.
const longest = 2 * time.Minute

func TestMain(m *testing.M) {
	binarytest.Answer(binarytest.Hidden{sandbox.HelperArg: sandbox.Helper})
	if name := os.Getenv(playName); name != "" {
		os.Exit(plays[name]())
	}
	os.Exit(m.Run())
}

// plays are the programs, by name; each returns its exit code.
var plays = map[string]func() int{
	"stubborn": stubborn, "diarist": diarist, "parent": parent, "sleeper": sleeper, "heavy": heavy, "bot": bot,
}

// echo is a program that copies its input to its output.
const echo = "exec cat"

// play starts one of the programs, or a script, and stops it with the test.
func play(t testing.TB, name string, env ...string) *Process {
	t.Helper()
	p, err := Start(playSpec(t, name, env...))
	testkit.Must(t, err)
	t.Cleanup(func() {
		if err := p.Stop(hurry(), 0); err != nil {
			t.Error(err)
		}
	})
	return p
}

func playSpec(t testing.TB, name string, env ...string) Spec {
	t.Helper()
	if plays[name] == nil {
		return Spec{Path: script(t, "#!/bin/sh\n"+name+"\n"), Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: t.TempDir()}
	}
	// A test binary that measures its coverage complains without GOCOVERDIR.
	base := []string{playName + "=" + name, raceExit, "GOCOVERDIR=" + t.TempDir()}
	return Spec{Path: binarytest.Path(), Env: append(base, env...), Dir: t.TempDir()}
}

// line reads one line of a program's output.
func line(t testing.TB, r *bufio.Reader) string {
	t.Helper()
	s, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("read a line: %v (so far %q)", err, s)
	}
	return strings.TrimSpace(s)
}

// stubborn ends only on SIGKILL.
func stubborn() int {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	fmt.Println("ready")
	time.Sleep(longest)
	return 0
}

// diarist records its signals, and ends on SIGTERM as claude does.
func diarist() int {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Println("input closed")
	for sig := range signals {
		fmt.Println(sig)
		if sig == syscall.SIGTERM {
			return 143
		}
	}
	return 0
}

// parent starts children as claude's shell does, in their own sessions, and does not end by itself.
// It prints their IDs.
func parent() int {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	for name := range strings.FieldsSeq(os.Getenv("OLLIM_TEST_CHILDREN")) {
		c, err := child(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(c)
	}
	time.Sleep(longest)
	return 0
}

// child starts a play in its own session. The child holds this process's output, so that the pipe
// does not end with this process. One whose name begins with "stranger-" does not get the mark.
func child(name string) (pid int, err error) {
	name, stranger := strings.CutPrefix(name, "stranger-")
	cmd := exec.Command(binarytest.Path())
	cmd.Env = []string{playName + "=" + name, raceExit}
	if !stranger {
		cmd.Env = append(cmd.Env, procgroup.MarkName+"="+os.Getenv(procgroup.MarkName))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = os.Stderr
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	_, err = bufio.NewReader(ready).ReadString('\n')
	return cmd.Process.Pid, err
}

// sleeper waits for any signal.
func sleeper() int {
	fmt.Println("ready")
	time.Sleep(longest)
	return 0
}

// heavy allocates enough memory that the system needs a while to free it.
func heavy() int {
	held := make([]byte, 512<<20)
	for i := range held {
		held[i] = 1
	}
	defer runtime.KeepAlive(held)
	return sleeper()
}

// bot is a program that uses this package and leaves everything behind.
func bot() int {
	p, err := Start(Spec{Path: binarytest.Path(), Env: []string{
		playName + "=parent", "OLLIM_TEST_CHILDREN=sleeper", procgroup.MarkName + "=" + os.Getenv("OLLIM_TEST_MARK"),
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	pid, err := bufio.NewReader(p.Stdout()).ReadString('\n')
	if err != nil {
		return 1
	}
	fmt.Printf("%d\n%s", p.PID(), pid)
	time.Sleep(longest)
	return 0
}
