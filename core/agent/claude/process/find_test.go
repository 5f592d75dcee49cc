package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// The cures, at the end of most errors.
const (
	install = "install @anthropic-ai/claude-code from npm on the bot's machine, or set OLLIM_CLAUDE"
	name    = "set OLLIM_CLAUDE to the claude command"
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
	for what, c := range map[string]struct{ named, path, want, err string }{
		"named":                {named, other, named, ""},
		"named from home":      {"~/my-claude", other, named, ""},
		"named, relative":      {"./my-claude", other, named, ""},
		"on the path":          {"", bad + ":" + other, first, ""},
		"nowhere":              {"", home, "", "claude was not found: " + install},
		"no path":              {"", "", "", "claude was not found: " + install},
		"only a relative path": {"", ".:relative", "", "claude was not found: " + install},
		"a link to nothing":    {"", filepath.Dir(gone), "", "claude was not found: " + install},
		"no program":           {"", home + ":" + bad + ":" + filepath.Dir(gone), "", bad + "/claude is not executable: make it executable, or " + name},
		"named, missing":       {filepath.Join(home, "none"), other, "", "there is no " + home + "/none: " + install},
		"named, a folder":      {home, other, "", home + " is a folder: " + name},
		"named, no program":    {bad + "/claude", other, "", bad + "/claude is not executable: make it executable, or " + name},
	} {
		t.Run(what, func(t *testing.T) {
			env := map[string]string{"OLLIM_CLAUDE": c.named, "PATH": c.path, "HOME": home}
			got, err := Find(func(name string) string { return env[name] })
			if c.err == "" && (err != nil || got != c.want) {
				t.Fatalf("got %q, %v", got, err)
			}
			if c.err != "" && (err == nil || err.Error() != c.err) {
				t.Fatalf("got  %v\nwant %s", err, c.err)
			}
			missing := (*NotFoundError)(nil)
			if want := strings.HasSuffix(c.err, install); errors.As(err, &missing) != want {
				t.Errorf("a NotFoundError: %v, want %v", !want, want)
			}
		})
	}
}
