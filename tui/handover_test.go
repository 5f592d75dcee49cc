package tui

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/fork"
	"ollimbot/tui/pane"
)

func TestTheEditorIsTheUsersAndNeverAShell(t *testing.T) {
	problem := pane.Edit{Line: 3, Column: 8}
	for _, c := range []struct {
		env  []string
		edit pane.Edit
		want []string
	}{
		{nil, pane.Edit{}, []string{"vi", "/d/a b.md"}},
		{[]string{"EDITOR=nano"}, pane.Edit{}, []string{"nano", "/d/a b.md"}},
		{[]string{"EDITOR=nano", "VISUAL=code --wait"}, problem, []string{"code", "--wait", "/d/a b.md"}},
		{[]string{"EDITOR= "}, problem, []string{"vi", "+3", "/d/a b.md"}},
		{[]string{"EDITOR=micro"}, pane.Edit{Line: 3}, []string{"micro", "+3:1", "/d/a b.md"}},
		{[]string{"EDITOR=sh -c 'rm x'; $HOME"}, pane.Edit{}, []string{"sh", "-c", "'rm", "x';", "$HOME", "/d/a b.md"}},
	} {
		if d := cmp.Diff(c.want, editorArgs(c.env, "/d/a b.md", c.edit)); d != "" {
			t.Errorf("%v (-want +got):\n%s", c.env, d)
		}
	}
	for names, at := range map[string]string{
		"vi ex mg joe jmacs jed ed": "+3", "vim nvim view": "+call cursor(3,8)", "nano pico": "+3,8", "emacs emacsclient micro kak": "+3:8",
	} {
		for _, name := range strings.Fields(names) {
			if got := editorArgs([]string{"EDITOR=/usr/bin/" + name}, "x", problem); got[1] != at {
				t.Errorf("%s begins at %q", name, got[1])
			}
		}
	}
}

func TestOnlyFilesOfTheDataDirectoryAreOpened(t *testing.T) {
	for _, file := range []string{"", "../x", "/etc/passwd", "routines/../../x"} {
		if got, err := fileIn("/d", file); err == nil {
			t.Errorf("%q opens %s", file, got)
		}
	}
	if got, err := fileIn("/d", "routines/a.md"); err != nil || got != "/d/routines/a.md" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := fileIn("", "routines/a.md"); err == nil {
		t.Error("opens a file of no directory")
	}
}

// editor writes a program in the place of an editor.
func editor(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "editor")
	testkit.Program(t, path, "#!/bin/sh\n"+script+"\n")
	return path
}

// remotely is a dashboard over a connection.
func remotely(o Options) setup {
	o.Remote = &Remote{Host: "attic\x1b[31m", OnOpen: func(string) {}}
	return setup{options: o, change: func(s *core.Snapshot) {
		s.Forks = append(s.Forks, fork.View{ID: "f0000001", Title: "Long one", State: fork.Running, Started: s.At})
	}}
}

// A pipe does not let the reader of keys go: it takes a moment, and one more key with it.
func TestTheTerminalIsHandedOverAndTakenBackAsItsStoriesSay(t *testing.T) {
	dir, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
	in := func(s setup, program string) setup {
		s.change, s.env = func(c *core.Snapshot) { c.Root = dir }, []string{"EDITOR=" + program, "PATH=/bin:/usr/bin"}
		s.happen = happening{
			"the editor has it alone": func(s *stage) {
				s.out = s.written()
				_, alone, left := strings.Cut(s.out, "\x1b[?1049l")
				if alone, _, _ = strings.Cut(alone, "\x1b[?1049h"); !left || strings.Contains(alone, "Ping budget") {
					s.t.Error("the dashboard paints over the editor")
				}
			},
		}
		return s
	}
	var ran, noted []string
	viewed := func(err error) setup {
		s := remotely(Options{})
		s.options.Remote.Run = func(_ context.Context, argv []string) error { ran = append(ran, argv...); return err }
		s.options.Remote.OnOpen = func(file string) { noted = append(noted, file) }
		return in(s, "nano -w")
	}
	reads := remotely(Options{ReadOnly: true})
	reads.options.Remote.Run = func(_ context.Context, argv []string) error { t.Errorf("%q is run", argv); return nil }
	signalled := remotely(Options{})
	var signals chan os.Signal
	lose := func() {}
	signalled.options.Remote.Suspend = func(ctx context.Context) error {
		lose()
		return ctx.Err()
	}
	signalled.rings = func(*bot) {
		signals = make(chan os.Signal, 1)
		signalled.options.Remote.Signals = signals
	}
	signalled.happen = happening{
		"it will be lost":        func(s *stage) { lose = s.stop },
		"its shell stops it":     func(*stage) { signals <- syscall.SIGTSTP },
		"its shell continues it": func(*stage) { signals <- syscall.SIGCONT },
		"its window has changed": func(*stage) { signals <- syscall.SIGWINCH },
	}
	const and = `wrote \x1b[?1049l … \x1b[?1049h`
	tell(t, []story{
		{"to an editor", in(setup{}, editor(t, `echo "$@" > `+seen+`; echo THE-EDITOR`)), `
			2 (it settles) o ~1s (the editor has it alone) => wrote \x1b[?1049l … THE-EDITOR … \x1b[?1049h … \x1b[?1000h | 2 Schedule | Email sweep
			1 1 => ▸ 1 Ping budget`},
		{"one that ends badly is named", in(setup{}, editor(t, "exit 3")), `
			2 o ~1s => 2 Schedule | ended with exit status 3 | stays
			1 1     => ▸ 1 Ping budget`},
		{"and one that is missing, with the way to another", in(setup{}, "no-such-editor"), `
			2 o ~1s => 2 Schedule | no-such-editor is not installed: set EDITOR | stays
			1 1     => ▸ 1 Ping budget`},
		{"who may only read has no editor", in(reads, "nano"), `2 o ~1s => read-only`},
		{"the viewer's process runs the editor that its user has chosen", viewed(nil), `2 (it settles) o ~1s => ` + and + ` | 2 Schedule`},
		{"it may be missing there", viewed(exec.ErrNotFound), `2 (it settles) o ~1s => ` + and + ` | nano is not installed: set EDITOR`},
		{"or fail", viewed(errors.New("no")), `2 (it settles) o ~1s => ` + and + ` | nano could not be opened: no`},
		{"its process is stopped by ctrl+z", signalled, `2 (it settles) ctrl+z ~2s => ` + and + ` | 2 Schedule`},
		{"and if it is lost meanwhile, the terminal is its shell's", signalled, `(it settles) (it will be lost) ctrl+z ~2s => wrote \x1b[?1049l | unwritten: \x1b[?1049h`},
		{"a viewer is detached, and the bot runs on", remotely(Options{}), `
			       => @attic | q detach
			ctrl+z => stays | there is no shell to return to
			esc q ~2s => quits`},
		{"and heeds the signals of its viewer", signalled, `
			(it settles) (its shell continues it) ~1s => ` + and + ` … Email sweep
			(it settles) (its window has changed) ~1s => wrote Email sweep
			(it settles) (its shell stops it) ~2s => ` + and},
		{"a click asks first", remotely(Options{}), `
			<detach> => Detach? The bot keeps running.
			esc 5 i  => ctrl+c detach
			"half a thought" esc q => was not sent. Quitting discards | stays`},
	})
	file := filepath.Join(dir, "routines/email-sweep.md")
	if got, err := os.ReadFile(seen); err != nil || strings.TrimSpace(string(got)) != file {
		t.Errorf("the editor was given %q (%v)", got, err)
	}
	if want := slices.Repeat([]string{"nano", "-w", file}, 3); !slices.Equal(ran, want) || len(noted) != 3 {
		t.Errorf("the viewer runs %q, not %q; noted: %q", ran, want, noted)
	}
	if got := editorText("x\x1b[31m", exec.ErrNotFound); strings.Contains(got, "\x1b") {
		t.Errorf("the name of an editor reaches the terminal as %q", got)
	}
}

func TestARemoteTerminalAsksNothingOfThisMachine(t *testing.T) {
	bin := t.TempDir()
	asked := filepath.Join(bin, "asked")
	testkit.Program(t, filepath.Join(bin, "tmux"), "#!/bin/sh\ntouch "+asked+"\n")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	env := []string{"TERM=screen-256color", "TMUX=/tmp/x,1,0", "TTY_FORCE=1"}
	detect(Options{Output: os.Stdout, Env: env})
	if _, err := os.Stat(asked); err != nil {
		t.Fatalf("the test asks no program at all: %v", err)
	}
	testkit.Must(t, os.Remove(asked))
	got := detect(Options{Output: os.Stdout, Env: env, Remote: &Remote{}})
	if _, err := os.Stat(asked); err == nil || got.look.Profile != colorprofile.ANSI256 {
		t.Errorf("tmux was asked: %v; %v", err == nil, got.look.Profile)
	}
}
