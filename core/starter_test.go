package core

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/command"
)

// N5: the starter routines are installed next to existing files, which stay unchanged.
func TestTheStarterRoutinesAreInstalledBesideWhatIsThere(t *testing.T) {
	const mine, moved = "---\nid: \"cccc1001\"\ncron: \"0 9 * * *\"\n---\nMine.\n", "---\nid: \"a11ce002\"\ncron: \"0 7 * * *\"\n---\nMy medication.\n"
	running(t, func(h home) {
		h.write("routines/good-night.md", mine)
		h.write("routines/pills.md", moved) // a renamed starter routine
	}, func(h home, b *Bot) {
		out := do(t, b, command.AddStarters{})
		if want := "4 starter routines installed: Inbox sweep, Morning plan, Move a little, Weekly review"; out.Message != want {
			t.Errorf("says %q, want %q", out.Message, want)
		}
		if !strings.Contains(out.Decision.Detail, "Weekly review") {
			t.Errorf("the audit log gets %+v", out.Decision)
		}
		set := b.Index().Set()
		if len(set.Routines) != 6 || len(set.Problems) != 0 {
			t.Errorf("%d routines are scheduled, problems %+v", len(set.Routines), set.Problems)
		}
		for name, want := range map[string]string{"good-night.md": mine, "pills.md": moved} {
			if got, err := os.ReadFile(filepath.Join(h.root, "routines", name)); err != nil || string(got) != want {
				t.Errorf("%s was changed: %q, %v", name, got, err)
			}
		}
		if h.has("routines/medication.md") {
			t.Error("a routine that was renamed is installed again")
		}
		if out := do(t, b, command.AddStarters{}); out.Message != "the starter routines are already installed" || out.Decision.Action != "" {
			t.Errorf("a second time: %+v", out)
		}
	})
}
