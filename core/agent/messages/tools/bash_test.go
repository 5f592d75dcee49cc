package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

func TestTheTemporaryFilesOfASessionCanBeReadUntilItEnds(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	tmp := strings.TrimSpace(g.does("Bash", with{"command": "echo fig > $TMPDIR/f; echo $TMPDIR"}))
	g.hiddenFromSee = func(path string, _ bool) bool { return !strings.HasPrefix(path, g.dir) }
	if got := g.does("Read", with{"file_path": tmp + "/f"}); !strings.Contains(got, "fig") {
		t.Errorf("%q", got)
	}
	testkit.Must(t, g.box.Close())
	if _, err := os.Stat(tmp); err == nil {
		t.Error("the temporary files are still there")
	}
	g.refused("Bash", with{"command": "true"}, "The session has ended")
}

func TestACommandEndsInTimeWithAllThatItHasStarted(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	begun := time.Now()
	g.refused("Bash", with{"command": "echo before; (sleep 60; touch late) & sleep 60", "timeout": 300}, "before\n(ended after ")
	if got := g.does("Bash", with{"command": "sleep 60 & echo done"}); got != "done\n" {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if r := g.run(ctx, "Bash", []byte(`{"command":"echo a; sleep 60"}`)); !r.IsError || r.Text != "a\n"+textInterrupted {
		t.Errorf("%q", r.Text)
	}
	done := make(chan Result)
	go func() {
		done <- g.run(context.Background(), "Bash", []byte(`{"command":"touch begun; sleep 60"}`))
	}()
	for begun := filepath.Join(g.dir, "begun"); ; {
		if _, err := os.Stat(begun); err == nil {
			break
		}
	}
	testkit.Must(t, g.box.Close())
	if r := <-done; !r.IsError {
		t.Errorf("%q", r.Text)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	out, err := exec.Command("pgrep", "-f", g.dir).Output()
	if err == nil && len(out) > 0 {
		t.Errorf("these still run: %s", out)
	}
}

// L8: the folder of a session's temporary files, which is on the disk, holds no more than the one in memory.
func TestACommandCannotFillTheDiskWithTemporaryFiles(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	g.refused("Bash", with{"command": "truncate -s 513M $TMPDIR/big; echo begun; sleep 600"}, "begun\n(ended, because $TMPDIR holds more than 512")
	if got := g.does("Bash", with{"command": "rm $TMPDIR/big; truncate -s 511M $TMPDIR/big; sleep 0.6; echo kept"}); got != "kept\n" {
		t.Errorf("%q", got)
	}
}

func TestALongOutputIsCutInItsMiddle(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	got := g.does("Bash", with{"command": "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last"})
	if len(got) > keptHead+keptTail+100 || !strings.HasPrefix(got, "first\nxxx") || !strings.HasSuffix(got, "xxx\nlast\n") || !strings.Contains(got, "left out here) …") {
		t.Errorf("%d bytes: %.20q … %q", len(got), got, got[len(got)-20:])
	}
}

func TestACommandSeesNoSecretsInItsEnvironment(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, nil)
	g.open(Options{Dir: g.dir, Env: []string{
		"PATH=/usr/bin:/bin", "ANTHROPIC_API_KEY=marigold", "DISCORD_TOKEN=marigold", "HTTPS_PROXY=http://a:marigold@b", "BASH_ENV=" + g.dir + "/evil", "ENV=x",
		"LD_PRELOAD=x", "OLLIM_SESSION=token", "OLLIM_SOCKET=/run/x", "BASH_FUNC_ls%%=() { echo marigold; }", "LC_ALL=C", "TZ=Asia/Kathmandu", "PROMPT_COMMAND=echo marigold",
	}})
	g.put("evil", "echo marigold\n")
	got := g.does("Bash", with{"command": "env; ls /dev/null; set"})
	if strings.Contains(got, "marigold") || strings.Contains(got, "LD_PRELOAD") || !strings.Contains(got, "\n/dev/null\n") {
		t.Errorf("%s", got)
	}
	for _, want := range []string{"OLLIM_SESSION=token\n", "OLLIM_SOCKET=/run/x\n", "LC_ALL=C\n", "TZ=Asia/Kathmandu\n", "OLLIM_DATA_DIR=" + g.dir + "\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
}

// Commands run in the same sandbox as those of claude, and the folder is kept in it.
func TestCommandsRunInTheFence(t *testing.T) {
	testkit.Alone(t)
	g := newGround(t, map[string]string{".env": "marigold", "state/s.json": "marigold", "notes/a.md": "plum\n", "routines/r.md": "x"})
	home := filepath.Dir(g.dir)
	testkit.Must(t, os.MkdirAll(home+"/.ssh", 0o700))
	testkit.Must(t, os.WriteFile(home+"/.ssh/id_rsa", []byte("marigold"), 0o600))
	box := sandboxtest.Box(t, sandbox.Options{Dir: g.dir, Home: home})
	g.open(Options{Dir: g.dir, Sandbox: box.CommandIn, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + home, "OLLIM_SESSION=token"}})
	for i, s := range []struct{ command, want string }{
		{"cat notes/a.md && cd notes", "plum\n"},
		{"pwd; echo fig > b.md", g.dir + "/notes\n"},
		{"cat b.md; echo $OLLIM_SESSION", "fig\ntoken\n"},
		{"echo pear > $TMPDIR/p", textSilent},
		{"cat $TMPDIR/p", "pear\n"},
		{"! grep . ../.env && ! ls ../state/s.json && ! cat ~/.ssh/id_rsa && ! touch ../routines/new.md && ! cat /proc/*/environ | grep -a marigold && echo closed", "closed\n"},
	} {
		got := g.call("Bash", with{"command": s.command})
		if lines := strings.SplitAfter(got.Text, "\n"); got.Text != s.want && (len(lines) < 2 || lines[len(lines)-2] != s.want) || strings.Contains(got.Text, "marigold") {
			t.Errorf("step %d, %s: %q, want %q", i, s.command, got.Text, s.want)
		}
	}
	g.refused("Bash", with{"command": "setsid sleep 100000", "timeout": 400}, "(ended after ")
	if _, err := os.Stat(filepath.Join(g.dir, "routines/new.md")); err == nil {
		t.Error("a routine was written by a shell")
	}
}

func BenchmarkACommand(b *testing.B) {
	g := newGround(b, nil)
	for b.Loop() {
		g.does("Bash", with{"command": "true"})
	}
}

func BenchmarkReadingAFile(b *testing.B) {
	g := newGround(b, map[string]string{"a.md": strings.Repeat("a line of a note\n", 100)})
	for b.Loop() {
		g.does("Read", with{"file_path": "a.md"})
	}
}

func BenchmarkSearchingThousandNotes(b *testing.B) {
	g := newGround(b, nil)
	for i := range 1000 {
		g.put(fmt.Sprintf("notes/%d/%d.md", i%20, i), strings.Repeat("a line of a note\n", 50))
	}
	for b.Loop() {
		g.does("Grep", with{"pattern": "plum", "glob": "*.md"})
	}
}
