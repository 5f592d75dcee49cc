package tui

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"ollimbot/core/talk/notice"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
)

// handOverMsg runs a program on the terminal.
type handOverMsg func()

// handOver runs a program on the dashboard's terminal. Then is called with how it ended,
// unless the dashboard ends first.
func (r *root) handOver(argv []string, then func(err error)) tea.Cmd {
	return func() tea.Msg {
		return handOverMsg(func() {
			err := r.terminal.lend(r.ctx, argv)
			r.takeBack()
			if r.ctx.Err() == nil {
				then(err)
			}
		})
	}
}

// goTo ends the dashboard, or leaves it for the demo or the setup. It asks first if runs
// would end with it, or if something written would be lost.
func (r *root) goTo(where pane.Leave) tea.Cmd {
	if q := dialog.Leaving(r.context(r.focus), r.unsaved(), where); q != nil {
		r.open(q)
		return nil
	}
	return r.exit(where)
}

// exit leaves the dashboard, or hands the terminal over.
func (r *root) exit(where pane.Leave) tea.Cmd {
	switch where {
	case pane.SetUp:
		return r.handOver(r.o.Init, r.setUp)
	case pane.Demo:
		r.o.Demo()
	case pane.Stay, pane.Quit:
	}
	return tea.Quit
}

// ExitError is the end of a program that has failed, such as an *exec.ExitError. Its text is the status.
type ExitError interface {
	error
	ExitCode() int
}

// setUp restarts the bot with what Options.Init has written, or says that nothing was.
func (d *dashboard) setUp(err error) {
	switch ended := ExitError(nil); {
	case err == nil:
		d.o.Restart()
	case errors.As(err, &ended):
		d.say(notice.Warn, textSetUpLeft)
	default:
		d.say(notice.Warn, textSetUpFailed+err.Error())
	}
}

// editorArgs is the command line of the editor: VISUAL, else EDITOR, else vi. It is split
// at spaces and never given to a shell.
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

// lineArgs open a file at the line of a problem, and at the column where the editor can.
// Other editors just open the file.
var lineArgs = map[string]string{
	"vi": toLine, "ex": toLine, "mg": toLine, "joe": toLine, "jmacs": toLine, "jed": toLine, "ed": toLine,
	"vim": toCursor, "nvim": toCursor, "view": toCursor,
	"nano": "+%[1]d,%[2]d", "pico": "+%[1]d,%[2]d",
	"emacs": toPlace, "emacsclient": toPlace, "micro": toPlace, "kak": toPlace,
}

const toLine, toCursor, toPlace = "+%[1]d", "+call cursor(%[1]d,%[2]d)", "+%[1]d:%[2]d"

// fileIn is the absolute path of a file of the data directory.
func fileIn(root, file string) (string, error) {
	if root == "" || !filepath.IsLocal(file) {
		return "", errors.New(textNoFile)
	}
	return filepath.Join(root, file), nil
}
