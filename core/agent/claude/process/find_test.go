package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

func TestTheCommandIsFoundWhereTheUserPutIt(t *testing.T) {
	home, other, bad := t.TempDir(), t.TempDir(), t.TempDir()
	named, first := filepath.Join(home, "my-claude"), filepath.Join(other, "claude")
	write(t, named, "#!/bin/sh\n", 0o755)
	write(t, first, "#!/bin/sh\n", 0o755)
	write(t, filepath.Join(bad, "claude"), "#!/bin/sh\n", 0o644)
	t.Chdir(home)
	gone := filepath.Join(t.TempDir(), "claude")
	testkit.Must(t, os.Symlink(filepath.Join(home, "removed"), gone))
	for name, c := range map[string]struct{ named, path, want, err string }{
		"named":                {named, other, named, ""},
		"named from home":      {"~/my-claude", other, named, ""},
		"named, relative":      {"./my-claude", other, named, ""},
		"on the path":          {"", bad + ":" + other, first, ""},
		"nowhere":              {"", home, "", "claude was not found: install @anthropic-ai/claude-code from npm on the bot's machine, or set OLLIM_CLAUDE"},
		"no path":              {"", "", "", "claude was not found"},
		"only a relative path": {"", ".:relative", "", "claude was not found"},
		"a link to nothing":    {"", filepath.Dir(gone), "", "claude was not found"},
		"no program":           {"", home + ":" + bad, "", "claude is not executable: make it executable"},
		"named, missing":       {filepath.Join(home, "none"), other, "", "none: install @anthropic-ai"},
		"named, a folder":      {home, other, "", "is a folder: set OLLIM_CLAUDE"},
		"named, no program":    {filepath.Join(bad, "claude"), other, "", "is not executable: make it executable"},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"OLLIM_CLAUDE": c.named, "PATH": c.path, "HOME": home}
			got, err := Find(func(name string) string { return env[name] })
			if c.err == "" && (err != nil || got != c.want) {
				t.Fatalf("got %q, %v", got, err)
			}
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("got  %v\nwant %s", err, c.err)
			}
			missing := (*NotFoundError)(nil)
			if want := strings.Contains(c.err, "install") || strings.Contains(c.err, "was not found"); errors.As(err, &missing) != want {
				t.Errorf("a NotFoundError: %v, want %v", !want, want)
			}
		})
	}
}
