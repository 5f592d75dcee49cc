package attach

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
)

func TestMain(m *testing.M) {
	binarytest.Answer(binarytest.Hidden{
		"__shell": func([]string) int { return runInBackground() },
		"__viewer": func([]string) int {
			if state, err := term.GetState(os.Stdin.Fd()); err == nil {
				state.Lflag &^= unix.ECHO
				restore(os.Stdin, state)
			}
			return 0
		},
	})
	os.Exit(m.Run())
}

func TestTheTerminalIsGivenBackFromTheBackgroundToo(t *testing.T) {
	testkit.Alone(t)
	device, tty, err := pty.Open()
	testkit.Must(t, err)
	defer device.Close()
	defer tty.Close()
	shell := exec.Command(binarytest.Path(), "__shell")
	shell.Stdin = tty
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := shell.Run(); err != nil {
		t.Errorf("it is stopped: %v", err)
	}
	state, err := term.GetState(tty.Fd())
	testkit.Must(t, err)
	if state.Lflag&unix.ECHO != 0 {
		t.Error("the modes of the terminal are not set")
	}
}

// runInBackground is a shell with one background job, the viewer. It fails if the terminal stops the job.
func runInBackground() (status int) {
	job := exec.Command(binarytest.Path(), "__viewer")
	job.Stdin = os.Stdin
	job.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if job.Start() != nil {
		return 1
	}
	var ended syscall.WaitStatus
	if _, err := syscall.Wait4(job.Process.Pid, &ended, syscall.WUNTRACED, nil); err != nil || ended.Stopped() {
		_ = job.Process.Kill()
		_ = job.Wait()
		return 1
	}
	return ended.ExitStatus()
}
