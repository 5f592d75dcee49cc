package tui

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"ollimbot/core"
	"ollimbot/core/work/fork"
	"ollimbot/tui/settings"
)

// remotely is a dashboard over a connection.
func remotely(o Options) setup {
	o.Remote = &Remote{Host: "attic\x1b[31m"}
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
	must(t, os.WriteFile(filepath.Join(bin, "tmux"), []byte("#!/bin/sh\ntouch "+asked+"\n"), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	env := []string{"TERM=screen-256color", "TMUX=/tmp/x,1,0", "TTY_FORCE=1"}
	detect(Options{Output: os.Stdout, Env: env})
	if _, err := os.Stat(asked); err != nil {
		t.Fatalf("the test asks nobody at all: %v", err)
	}
	must(t, os.Remove(asked))
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

func TestWhatAViewerChoosesIsItsOwn(t *testing.T) {
	main, own := t.TempDir(), filepath.Join(t.TempDir(), "viewer")
	must(t, settings.Save(main, settings.Dashboard{"theme": "light"}))
	for _, want := range []string{"theme light → contrast", "theme contrast → 16"} {
		play(t, remotely(Options{Config: main, Own: own}), func(s *stage) {
			s.press("T")
			s.sees(want)
		})
	}
	if d, _ := settings.Load(main); d["theme"] != "light" {
		t.Errorf("the user's own theme is %q now", d["theme"])
	}
}

func TestTheEditorIsNotForWhoMayOnlyRead(t *testing.T) {
	dir := t.TempDir()
	s := remotely(Options{ReadOnly: true})
	s.change = func(v *core.Snapshot) { v.Root = dir }
	s.options.Remote.Programs = []string{"EDITOR=" + editor(t, "touch "+filepath.Join(dir, "opened")), "PATH=/bin:/usr/bin"}
	play(t, s, func(s *stage) {
		s.press("2")
		s.opens()
		s.sees("read-only")
	})
	if _, err := os.Stat(filepath.Join(dir, "opened")); err == nil {
		t.Error("the editor was opened")
	}
}

func TestTheEditorOfARemoteViewerIsTheBots(t *testing.T) {
	dir := t.TempDir()
	s := remotely(Options{})
	s.change = func(v *core.Snapshot) { v.Root = dir }
	s.env = []string{"EDITOR=" + editor(t, "touch "+filepath.Join(dir, "theirs"))}
	s.options.Remote.Programs = []string{"EDITOR=" + editor(t, "touch "+filepath.Join(dir, "ours")), "PATH=/bin:/usr/bin"}
	play(t, s, func(s *stage) {
		s.press("2")
		s.opens()
	})
	_, theirs := os.Stat(filepath.Join(dir, "theirs"))
	_, ours := os.Stat(filepath.Join(dir, "ours"))
	if theirs == nil || ours != nil {
		t.Errorf("the viewer's own editor ran: %v; the bot's: %v", theirs == nil, ours)
	}
}
