package tui

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
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
		{[]string{"EDITOR=/usr/bin/nano"}, problem, []string{"/usr/bin/nano", "+3,8", "/d/a b.md"}},
		{[]string{"EDITOR=nvim"}, problem, []string{"nvim", "+call cursor(3,8)", "/d/a b.md"}},
		{[]string{"EDITOR=micro"}, pane.Edit{Line: 3}, []string{"micro", "+3:1", "/d/a b.md"}},
		{[]string{"EDITOR=sh -c 'rm x'; $HOME"}, pane.Edit{}, []string{"sh", "-c", "'rm", "x';", "$HOME", "/d/a b.md"}},
	} {
		if d := cmp.Diff(c.want, editorArgs(c.env, "/d/a b.md", c.edit)); d != "" {
			t.Errorf("%v (-want +got):\n%s", c.env, d)
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

// editor writes a program that stands for an editor.
func editor(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "editor")
	testkit.Program(t, path, "#!/bin/sh\n"+script+"\n")
	return path
}

// opens presses the key and waits for the reader of keys, which a pipe does not
// let go: it takes one more key with it.
func (s *stage) opens() {
	s.t.Helper()
	s.press("o")
	time.Sleep(time.Second)
	synctest.Wait()
}

func edits(t *testing.T, program string, story func(s *stage, dir string)) {
	t.Helper()
	dir := t.TempDir()
	play(t, setup{env: []string{"EDITOR=" + program, "PATH=/bin:/usr/bin"}, change: func(s *core.Snapshot) { s.Root = dir }}, func(s *stage) { story(s, dir) })
}

func TestTheTerminalIsHandedOverAndTakenBack(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	edits(t, editor(t, `echo "$@" > `+seen+`; echo THE-EDITOR`), func(s *stage, dir string) {
		s.press("2")
		s.written()
		s.opens()
		out := s.written()
		leave, words, enter := strings.Index(out, "\x1b[?1049l"), strings.Index(out, "THE-EDITOR"), strings.LastIndex(out, "\x1b[?1049h")
		if leave < 0 || words < leave || enter < words {
			t.Errorf("the editor's words do not stand between leaving and taking the screen: %d %d %d", leave, words, enter)
		}
		if strings.Contains(out[leave:enter], "Ping budget") {
			t.Error("the dashboard paints over the editor")
		}
		if mouse := strings.LastIndex(out, "\x1b[?1000h"); mouse < enter {
			t.Error("the mouse was not taken back")
		}
		got, err := os.ReadFile(seen)
		if err != nil || strings.TrimSpace(string(got)) != filepath.Join(dir, "routines/email-sweep.md") {
			t.Errorf("the editor was given %q (%v)", got, err)
		}
		s.sees("2 Schedule", "Email sweep")
		s.press("1", "1") // keys are read again
		s.sees("▸ 1 Ping budget")
	})
}

func TestAnEditorThatFailsLeavesTheDashboardWhole(t *testing.T) {
	for _, c := range []struct{ name, program, want string }{
		{"ends badly", editor(t, "exit 3"), "ended with exit status 3"},
		{"is missing", "no-such-editor", "no-such-editor is not installed: set EDITOR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			edits(t, c.program, func(s *stage, _ string) {
				s.press("2")
				s.opens()
				s.sees("2 Schedule", c.want)
				s.stays()
				s.press("1", "1")
				s.sees("▸ 1 Ping budget")
			})
		})
	}
}

func TestAnEditorThatIsNotThereIsSaidInWords(t *testing.T) {
	if got := editorText("x\x1b[31m", exec.ErrNotFound); strings.Contains(got, "\x1b") || !strings.Contains(got, "set EDITOR") {
		t.Errorf("got %q", got)
	}
	if got := editorText("vi", errors.New("broken pipe")); got != "vi could not be opened: broken pipe" {
		t.Errorf("got %q", got)
	}
}
