package tui

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"ollimbot/core/talk/notice"
	"ollimbot/tui/pane"
)

// handOverMsg asks for a program to be run on the terminal. Then is called with what it
// ended with, unless the dashboard ends first.
type handOverMsg struct {
	argv []string
	then func(err error)
}

// editorGrace is how long an editor has to end once the dashboard does.
const editorGrace = 2 * time.Second

// edit opens a file of the data directory in the user's editor. Nothing is
// painted and no key is read until it ends; the bot goes on meanwhile.
func (r *root) edit(e pane.Edit) tea.Cmd {
	file, err := r.inside(e.File)
	if err != nil {
		r.say(notice.Alert, err.Error())
		return nil
	}
	if r.o.ReadOnly {
		r.say(notice.Info, textReadOnly)
		return nil
	}
	if r.o.Remote != nil && r.o.Remote.Opened != nil {
		r.o.Remote.Opened(e.File)
	}
	argv := editorArgs(r.programs(), file, e)
	name := filepath.Base(argv[0])
	return r.handOver(argv, func(err error) {
		if err != nil {
			r.say(notice.Alert, editorText(name, err))
		}
	})
}

// handOver gives the terminal to a program until it ends.
func (r *root) handOver(argv []string, then func(err error)) tea.Cmd {
	return func() tea.Msg { return handOverMsg{argv, then} }
}

// programs is the environment of what is started here.
func (r *root) programs() []string {
	if r.o.Remote != nil {
		return r.o.Remote.Programs
	}
	return r.o.Env
}

// inside is the absolute path of a file of the data directory.
func (r *root) inside(file string) (string, error) {
	if r.snap.Root == "" || !filepath.IsLocal(file) {
		return "", errors.New(textNoFile)
	}
	return filepath.Join(r.snap.Root, file), nil
}

// lookAgain reads the terminal's size and paints everything: another program has used it.
func (r *root) lookAgain() {
	r.measure()
	r.screen.Forget()
	r.refresh()
}

// editorArgs are the editor's words: those of VISUAL, else of EDITOR, else vi.
// They are split at spaces and never given to a shell.
func editorArgs(env uv.Environ, file string, e pane.Edit) []string {
	argv := strings.Fields(env.Getenv("VISUAL"))
	if len(argv) == 0 {
		argv = strings.Fields(cmp.Or(strings.TrimSpace(env.Getenv("EDITOR")), "vi"))
	}
	if form := lineArgs[filepath.Base(argv[0])]; form != "" && e.Line > 0 {
		argv = append(argv, fmt.Sprintf(form, e.Line, max(1, e.Column)))
	}
	return append(argv, file)
}

// lineArgs take the editors that are known to the line of a problem, and to the column where
// they can; others just open the file.
var lineArgs = map[string]string{
	"vi": toLine, "ex": toLine, "mg": toLine, "joe": toLine, "jmacs": toLine, "jed": toLine, "ed": toLine,
	"vim": toCursor, "nvim": toCursor, "view": toCursor,
	"nano": "+%[1]d,%[2]d", "pico": "+%[1]d,%[2]d",
	"emacs": toPlace, "emacsclient": toPlace, "micro": toPlace, "kak": toPlace,
}

const toLine, toCursor, toPlace = "+%[1]d", "+call cursor(%[1]d,%[2]d)", "+%[1]d:%[2]d"

// lend runs a program on the terminal and takes the terminal back, however the program
// ended. Nothing is painted and no key is read meanwhile.
func (r *root) lend(argv []string) (err error) {
	if r.keyboard != nil {
		r.keyboard.Stop()
		defer func() { err = errors.Join(err, r.keyboard.Start()) }()
	}
	defer func() {
		if back := r.screen.Open(); back != nil {
			err = errors.Join(err, fmt.Errorf("take the terminal back: %w", back))
		}
	}()
	if err := r.screen.Close(); err != nil {
		return fmt.Errorf("hand the terminal over: %w", err)
	}
	cmd := exec.CommandContext(r.ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = r.o.Output, r.o.Output, r.programs()
	if f, ok := r.o.Input.(*os.File); ok { // anything else would be read on after its end
		cmd.Stdin = f
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = editorGrace
	if r.o.Remote != nil { // the terminal is a pty of ours that is nobody's yet
		// A session of its own, so that its signals reach nobody else. Elsewhere than on
		// Linux the end of the session's leader would close the terminal for us too.
		f, ok := r.o.Input.(term.File)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: ok && term.IsTerminal(f.Fd()) && runtime.GOOS == "linux"}
		return cmd.Run()
	}
	return inForeground(cmd, r.o.Input)
}

// inForeground runs a command as the terminal's foreground group: ctrl+c in an
// editor must not end the bot. The editor cannot be stopped with ctrl+z, since
// nobody could take the terminal from it then. Where in is not the terminal of
// our session the command just runs.
func inForeground(cmd *exec.Cmd, in io.Reader) error {
	f, ok := in.(term.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return cmd.Run()
	}
	tty := int(f.Fd())
	mine, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	if err != nil { // not the terminal that sends us signals
		return cmd.Run()
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: tty}
	signal.Ignore(syscall.SIGTSTP) // the editor inherits that
	defer signal.Reset(syscall.SIGTSTP)
	if err := cmd.Start(); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGTTOU) // else taking the terminal back would stop us
	defer signal.Reset(syscall.SIGTTOU)
	err = cmd.Wait()
	if back := unix.IoctlSetPointerInt(tty, unix.TIOCSPGRP, mine); back != nil && err == nil {
		err = fmt.Errorf("take the terminal's group back: %w", back)
	}
	return err
}
