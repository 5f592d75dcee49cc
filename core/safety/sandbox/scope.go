package sandbox

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"ollimbot/core/storage/config"
)

// Limits of all processes of one start together. A command alone only has limits per process (see
// last), and those add up.
const (
	scopeMemory = "50%" // of the machine's memory; Limits says "half"
	scopeTasks  = 1024  // processes and threads; claude itself has some forty
)

// scopeLimit is how long the first scope may take on a busy machine.
const scopeLimit = 10 * time.Second

// runtimeVar tells systemd-run where the user's systemd is.
const runtimeVar = "XDG_RUNTIME_DIR"

// Limits describes the limits for the user; empty without a sandbox.
func (s State) Limits() string {
	switch {
	case s.Scope:
		return fmt.Sprintf("all commands of a start together: half of the memory, %d processes and threads, by your systemd", scopeTasks)
	case s.Kind != None:
		return "each process by itself: your systemd, which could limit them together, does not answer here"
	}
	return ""
}

// scoped makes a command, which is already in its sandbox, start in a scope of the user's systemd.
// systemd-run becomes the command, so that its process ID and its files stay the same. If that
// systemd is not running at this moment, as after a logout, the command starts unchanged.
func (b *Box) scoped(cmd *exec.Cmd) {
	if b.scope == "" || !b.managed() {
		return
	}
	begin := []string{
		b.scope, "--user", "--scope", "--quiet", "--collect",
		"--property=MemoryMax=" + scopeMemory, "--property=TasksMax=" + strconv.Itoa(scopeTasks), "--",
	}
	if config.Lookup(cmd.Env, runtimeVar) == "" {
		begin = append(begin, b.find("env"), "-u", runtimeVar)
	}
	cmd.Args = slices.Concat(begin, []string{cmd.Path}, cmd.Args[1:])
	cmd.Path, cmd.Env = b.scope, config.With(cmd.Env, runtimeVar, b.o.Runtime)
}

// managed reports whether the user's systemd is running.
func (b *Box) managed() bool {
	if b.o.Runtime == "" {
		return false
	}
	c, err := net.Dial("unix", filepath.Join(b.o.Runtime, "systemd/private"))
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// tryScope tests whether the user's systemd starts scopes with these limits.
func (b *Box) tryScope(ctx context.Context) string {
	trial := &Box{o: b.o, scope: b.find("systemd-run")}
	if trial.scope == "" || b.find("env") == "" || !b.managed() {
		return ""
	}
	err := try(ctx, func(cmd *exec.Cmd) func() { trial.scoped(cmd); return func() {} }, "/", b.find("true"))
	if err != nil {
		return ""
	}
	return trial.scope
}
