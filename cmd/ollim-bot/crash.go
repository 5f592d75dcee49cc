package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"ollimbot/core/storage/store"
	"ollimbot/tui/screen"
)

// crashFile keeps the stack trace of a crash.
const crashFile = store.StateDir + "/crash.log"

// crashScript waits for the program to end. If the runtime has reported a crash, it
// restores the terminal and says where the trace is. It ignores the signals that end
// the program, because it has to outlive it, and TTOU, because it may be in the
// background by then.
const crashScript = `trap '' INT QUIT TERM HUP TTOU
words=$(head -c 200000)
test -n "$words" || exit 0
umask 077
printf '%s\n' "$words" > "$1"
stty "$2" < /dev/tty
printf '%s' "$3"
printf '\r\nollim-bot: internal fault, the program has ended. What happened is in %s\r\n' "$1"`

// watchForCrash restores the terminal after a panic in a goroutine of a library, which
// this program cannot recover: a shell waits next to the dashboard. Without a shell on
// the machine it does nothing. dir is the data directory; forget ends the shell.
func watchForCrash(dir string) (forget func()) {
	nothing := func() {}
	mode := exec.CommandContext(context.Background(), "stty", "-g")
	mode.Stdin = os.Stdin
	before, err := mode.Output()
	if err != nil {
		return nothing
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nothing
	}
	defer func() { _, _ = r.Close(), w.Close() }() // the shell and the runtime have their own ends
	file := filepath.Join(dir, filepath.FromSlash(crashFile))
	c := exec.CommandContext(context.Background(), "sh", "-c", crashScript, "sh", file, strings.TrimSpace(string(before)), screen.Restore)
	c.Stdin, c.Stdout = r, os.Stdout
	if c.Start() != nil {
		return nothing
	}
	if err := debug.SetCrashOutput(w, debug.CrashOptions{}); err != nil {
		_ = w.Close() // the shell sees the end of its input and exits
		_ = c.Wait()
		return nothing
	}
	return func() {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{}) // closes the runtime's end
		_ = w.Close()
		_ = c.Wait()
	}
}
