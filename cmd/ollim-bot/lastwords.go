package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"ollimbot/core/store"
	"ollimbot/tui/screen"
)

// lastWordsFile keeps what the runtime said when the program broke.
const lastWordsFile = store.StateDir + "/crash.log"

// lastWordsScript waits for the program's end. Where the runtime has said why,
// the terminal is put back as it was before the dashboard, and the user is told.
// It outlives the program and ignores what ends that: TTOU, because by then it
// may stand in the background.
const lastWordsScript = `trap '' INT QUIT TERM HUP TTOU
words=$(head -c 200000)
test -n "$words" || exit 0
umask 077
printf '%s\n' "$words" > "$1"
stty "$2" < /dev/tty
printf '%s' "$3"
printf '\r\nollim-bot: internal fault, the program has ended. What happened is in %s\r\n' "$1"`

// lastWords keeps the terminal whole where a panic ends the program that nobody
// could catch, in a goroutine of a library: a shell waits beside the dashboard.
// On a machine without one nothing is done. dir is the data directory; forget ends
// the shell.
func lastWords(dir string) (forget func()) {
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
	defer func() { _, _ = r.Close(), w.Close() }() // the shell and the runtime have ends of their own
	file := filepath.Join(dir, filepath.FromSlash(lastWordsFile))
	c := exec.CommandContext(context.Background(), "sh", "-c", lastWordsScript, "sh", file, strings.TrimSpace(string(before)), screen.Restore)
	c.Stdin, c.Stdout = r, os.Stdout
	if c.Start() != nil {
		return nothing
	}
	if err := debug.SetCrashOutput(w, debug.CrashOptions{}); err != nil {
		_ = w.Close() // it sees the end and goes
		_ = c.Wait()
		return nothing
	}
	return func() {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{}) // closes the runtime's end
		_ = w.Close()
		_ = c.Wait()
	}
}
