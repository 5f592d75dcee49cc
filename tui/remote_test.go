package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/work/fork"
)

// remotely is a dashboard over a connection.
func remotely(o Options) setup {
	o.Remote = &Remote{Host: "attic\x1b[31m", OnOpen: func(string) {}}
	return setup{options: o, change: func(s *core.Snapshot) {
		s.Forks = append(s.Forks, fork.View{ID: "f0000001", Title: "Long one", State: fork.Running, Started: s.At})
	}}
}

func TestARemoteDashboardIsLeftAndTheBotGoesOn(t *testing.T) {
	play(t, remotely(Options{}), func(s *stage) {
		s.sees("@attic", "q detach")
		s.press("ctrl+z")
		s.stays()
		s.sees("there is no shell to return to")
		s.press("esc", "q")
		time.Sleep(2 * time.Second) // the reader of a pipe cannot be woken
		s.quits()
	})
	play(t, remotely(Options{}), func(s *stage) {
		s.clickOn("detach")
		s.sees("Detach? The bot keeps running.")
		s.press("esc", "5", "i")
		s.sees("ctrl+c detach")
		s.types("half a thought")
		s.press("esc", "q")
		s.sees("was not sent. Quitting discards")
		s.stays()
	})
}

func TestARemoteTerminalAsksNothingOfThisMachine(t *testing.T) {
	bin := t.TempDir()
	asked := filepath.Join(bin, "asked")
	testkit.Program(t, filepath.Join(bin, "tmux"), "#!/bin/sh\ntouch "+asked+"\n")
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	env := []string{"TERM=screen-256color", "TMUX=/tmp/x,1,0", "TTY_FORCE=1"}
	detect(Options{Output: os.Stdout, Env: env})
	if _, err := os.Stat(asked); err != nil {
		t.Fatalf("the test asks nobody at all: %v", err)
	}
	testkit.Must(t, os.Remove(asked))
	got := detect(Options{Output: os.Stdout, Env: env, Remote: &Remote{}})
	if _, err := os.Stat(asked); err == nil || got.look.Profile != colorprofile.ANSI256 {
		t.Errorf("tmux was asked: %v; %v", err == nil, got.look.Profile)
	}
}

func TestAFloodOfKeysWaits(t *testing.T) {
	play(t, remotely(Options{}), func(s *stage) {
		before := s.writes()
		go func() { _, _ = io.WriteString(s.keys, strings.Repeat("12", 5000)) }() // it ends in the middle
		time.Sleep(10 * time.Second)
		if n := s.writes() - before; n < pace || n > burst+11*pace {
			t.Errorf("10,000 keys within 10 s give %d frames", n)
		}
	})
}

func TestTheEditorIsNotForWhoMayOnlyRead(t *testing.T) {
	s := remotely(Options{ReadOnly: true})
	s.change = func(v *core.Snapshot) { v.Root = t.TempDir() }
	s.options.Remote.Run = func(_ context.Context, argv []string) error { t.Errorf("%q is run", argv); return nil }
	play(t, s, func(s *stage) {
		s.press("2")
		s.opens()
		s.sees("read-only")
	})
}

// The viewer's process runs the editor, which its user has chosen.
func TestTheEditorOfARemoteDashboardIsItsViewers(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		err  error
		want string
	}{{nil, "2 Schedule"}, {exec.ErrNotFound, "nano is not installed: set EDITOR"}, {errors.New("no"), "nano could not be opened: no"}} {
		s := remotely(Options{})
		s.change = func(v *core.Snapshot) { v.Root = dir }
		s.env = []string{"VISUAL=nano -w"}
		var ran, noted []string
		s.options.Remote.Run = func(_ context.Context, argv []string) error { ran = argv; return c.err }
		s.options.Remote.OnOpen = func(file string) { noted = append(noted, file) }
		play(t, s, func(s *stage) {
			s.press("2")
			s.written()
			s.opens()
			if out := s.written(); !strings.Contains(out, "\x1b[?1049l") || strings.LastIndex(out, "\x1b[?1049h") < strings.Index(out, "\x1b[?1049l") {
				t.Errorf("the terminal is not given back and taken again: %q", out)
			}
			s.sees(c.want)
		})
		if want := []string{"nano", "-w", filepath.Join(dir, "routines/email-sweep.md")}; !slices.Equal(ran, want) || len(noted) != 1 {
			t.Errorf("it runs %q, not %q; noted: %q", ran, want, noted)
		}
	}
}

// ctrl+z stops the viewer's process. If the viewer is lost meanwhile, the terminal is its shell's.
func TestARemoteDashboardIsSuspendedByItsViewer(t *testing.T) {
	for _, lost := range []bool{false, true} {
		setup := remotely(Options{})
		var s *stage
		setup.options.Remote.Suspend = func(ctx context.Context) error {
			s.glass.mu.Lock()
			if out := s.glass.raw.String(); !strings.Contains(out, "\x1b[?1049l") {
				t.Errorf("the terminal is not given back: %q", out)
			}
			s.glass.raw.Reset()
			s.glass.mu.Unlock()
			if lost {
				s.stop()
			}
			return ctx.Err()
		}
		play(t, setup, func(st *stage) {
			s = st
			s.written()
			s.press("ctrl+z")
			time.Sleep(2 * time.Second) // the reader of a pipe cannot be woken
			synctest.Wait()
			if taken := strings.Contains(s.written(), "\x1b[?1049h"); taken == lost {
				t.Errorf("the viewer is lost: %v; the terminal is taken again: %v", lost, taken)
			}
		})
	}
}
