// Package procgroup makes a command and all its children end together. It owns process
// groups and must not know what runs in them.
//
// # Children outside of the group are found by a mark
//
// A process group and the kernel's parent-death signal do not reach processes that a command starts in sessions of their own,
// nor does a parent once it has died. A sandbox with a process namespace ends them; without one they survive the command, and
// a kill -9 of the bot. So every command carries a mark in its environment, which its children inherit, and the processes with
// that mark are ended with it.
package procgroup

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// MarkName is the variable that every command carries and its children inherit. Its value is the mark of the environment
// given to Mark, if it has one, a slash, and a word that is unique to the command.
const MarkName = "OLLIM_CLAUDE_PROCESS"

const textLeft = "processes that were left behind do not end (%s): end them by hand"

// Mark returns an environment with a mark that is unique to one command, so that its end never affects the children of another
// one.
func Mark(env []string) (marked []string, mark string) {
	mark = strings.ReplaceAll(markIn(env), "\x00", "") + "/" + rand.Text()
	marked = slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, MarkName+"=") })
	return append(marked, MarkName+"="+mark), mark
}

// markIn returns the mark of an environment, or "".
func markIn(env []string) (mark string) {
	for _, v := range env {
		if m, ok := strings.CutPrefix(v, MarkName+"="); ok {
			mark = m
		}
	}
	return mark
}

// Own gives a command a process group, so that its children end when its context does,
// and a session, so that none of them can reach the dashboard's terminal. A bubblewrap
// killed during startup leaves its child waiting forever; the group kills that too. It adds
// a mark to the command's environment, for Kill.
func Own(cmd *exec.Cmd) {
	cmd.Env, _ = Mark(cmd.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

// Kill kills all processes that a command of Own has left running.
func Kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an ended group is fine
	if mark := markIn(cmd.Env); mark != "" {
		_, _ = Collect(func(own string) bool { return own == mark }) // what does not end was killed
	}
}
