package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"

	"ollimbot/core/storage/store"
	"ollimbot/tui/screen"
)

// crashFile keeps the stack trace of a crash.
const crashFile = store.StateDir + "/crash.log"

// crashScript waits for the program to end, and then restores the terminal. If the runtime
// has reported a crash, it says where the trace is. It ignores the signals that end or stop
// the program, because it has to outlive it, and TTOU, because it is in the background.
const crashScript = `trap '' INT QUIT TERM HUP TSTP TTOU
words=$(head -c 200000)
stty "$2" <&1
printf '%s' "$3"
if test -z "$words"; then
	printf '\r\nollim-bot: the program was killed\r\n'
	exit 0
fi
umask 077
if printf '%s\n' "$words" > "$1"; then
	printf '\r\nollim-bot: internal fault, the program has ended. What happened is in %s\r\n' "$1"
else
	printf '\r\nollim-bot: internal fault, the program has ended:\r\n'
	printf '%s\n' "$words"
fi`

// watchForCrash restores the terminal where the program cannot: after an unrecoverable panic in a library's
// goroutine, and after SIGKILL. A shell waits next to the program. Without a shell on the machine it does nothing.
// dir is the data directory; forget ends the shell.
//
// Call it before the terminal is taken, and start once after the first frame, which does not
// wait for the shell.
func watchForCrash(dir string) (start, forget func()) {
	mode, err := sttyMode(os.Stdin)
	if err != nil {
		return func() {}, func() {}
	}
	stop := func() {}
	var starting sync.WaitGroup
	start = func() {
		starting.Go(func() { stop = startWatcher(filepath.Join(dir, filepath.FromSlash(crashFile)), mode) })
	}
	return start, func() {
		starting.Wait()
		stop()
	}
}

// startWatcher starts the shell.
func startWatcher(file, mode string) (stop func()) {
	nothing := func() {}
	r, w, err := os.Pipe()
	if err != nil {
		return nothing
	}
	defer func() { _, _ = r.Close(), w.Close() }() // the shell and the runtime have their own ends
	c := exec.CommandContext(context.Background(), "sh", "-c", crashScript, "sh", file, mode, screen.Restore)
	c.Stdin, c.Stdout = r, os.Stdout
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}                      // what kills or stops the program's group is not meant for it
	silent := func() { _ = debug.SetCrashOutput(nil, debug.CrashOptions{}) } // closes the runtime's end
	if debug.SetCrashOutput(w, debug.CrashOptions{}) != nil {
		return nothing
	}
	if c.Start() != nil {
		silent()
		return nothing
	}
	return func() {
		_ = c.Process.Kill() // before its input ends, which would be a crash
		_ = c.Wait()
		silent()
	}
}
