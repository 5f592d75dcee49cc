package toolset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
)

// folder returns a data directory with files to send and others that must not be sent.
func folder(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Must(t, err)
	for name, text := range map[string]string{
		"notes/week.md": "plan", "empty.md": "", ".env": "DISCORD_TOKEN=x", "state/token.json": "{}", "state/forks/tail.jsonl": "{}",
		"states.md": "of mind", ".env.example": "names only",
	} {
		path := filepath.Join(root, name)
		testkit.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		testkit.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

func link(t *testing.T, target, name string) {
	t.Helper()
	testkit.Must(t, os.Symlink(target, name))
}

func sized(t *testing.T, path string, bytes int64) {
	t.Helper()
	f, err := os.Create(path)
	testkit.Must(t, err)
	testkit.Must(t, f.Truncate(bytes))
	testkit.Must(t, f.Close())
}

func anything(string) string { return "" }

func nothing(full string) string { return "Not " + full }

func TestAFileIsFoundWhereverTheAgentNamesIt(t *testing.T) {
	root, home := folder(t), folder(t)
	t.Setenv("HOME", home)
	link(t, filepath.Join(root, "notes", "week.md"), filepath.Join(root, "link.md"))
	sized(t, filepath.Join(root, "large.bin"), maxFile)
	week := filepath.Join(root, "notes", "week.md")
	for path, want := range map[string]string{
		"notes/week.md":              week,
		"./notes/../notes/week.md":   week,
		week:                         week,
		"link.md":                    week,
		"~/notes/week.md":            filepath.Join(home, "notes", "week.md"),
		home + "/state/token.json":   filepath.Join(home, "state", "token.json"), // not in the data directory
		"states.md":                  filepath.Join(root, "states.md"),
		".env.example":               filepath.Join(root, ".env.example"),
		"large.bin":                  filepath.Join(root, "large.bin"),
		root + "/state/../states.md": filepath.Join(root, "states.md"),
	} {
		got, problem := File(root, path, anything)
		if got != want || problem != "" {
			t.Errorf("%s: %q, %s", path, got, problem)
		}
	}
	if got := FileSent(week); got != "File sent: week.md" {
		t.Errorf("%q", got)
	}
}

func TestAFileThatMustNotBeSentIsRefusedWithTheReason(t *testing.T) {
	root := folder(t)
	link(t, filepath.Join(root, "state", "token.json"), filepath.Join(root, "innocent.json"))
	link(t, "nowhere", filepath.Join(root, "dangling"))
	link(t, "loop", filepath.Join(root, "loop"))
	sized(t, filepath.Join(root, "large.bin"), maxFile+1)
	testkit.Must(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	const missing = "file not found or not a regular file"
	for path, want := range map[string]string{
		"nothing.md": missing, "notes": missing, "pipe": missing, "dangling": missing, "loop": missing, "\x00": missing, "~nobody/x": missing,
		"notes/week.md/x": missing, "state": missing, strings.Repeat("x", 5000): missing, "../" + filepath.Base(root) + "/nothing": missing,
		"innocent.json": "was not sent. Not " + filepath.Join(root, "state", "token.json"), // the guard sees its real location
		"empty.md":      "is empty",
		"large.bin":     "has 26 MB, which exceeds the limit of 25 MB",
	} {
		got, problem := File(root, path, nothing)
		if got != "" || !strings.HasPrefix(problem, "Error: ") || !strings.Contains(problem, want) {
			t.Errorf("%.60q: %q, %.200s", path, got, problem)
		}
	}
	if _, problem := File(root, "a\x1b[31m\nb", anything); strings.ContainsAny(problem, "\x1b\n") {
		t.Errorf("%q", problem)
	}
}

func TestASurfaceThatTakesNothingIsNoActiveChannel(t *testing.T) {
	if a := NotSent(post.ErrNoChannel); !a.IsError || a.Text != TextNoChannel {
		t.Errorf("%+v", a)
	}
	for err, text := range map[error]string{os.ErrDeadlineExceeded: textNotSent, post.ErrUnknown: textPerhaps} {
		if a := NotSent(err); !a.IsError || a.Text != fmt.Sprintf(text, err) {
			t.Errorf("%+v", a)
		}
	}
}
