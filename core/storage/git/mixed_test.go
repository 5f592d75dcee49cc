package git

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func TestEachOfAFewCommitsSaysWhatHappenedToItsOwnFile(t *testing.T) {
	testkit.Alone(t)
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	d := storetest.Prepared(t)
	g := New(d, slog.New(slog.DiscardHandler))
	testkit.Must(t, g.Init(t.Context()))
	ended, stop := context.WithCancel(t.Context())
	stop() // Run commits what is pending, and returns
	for _, rel := range []string{"notes.md", "old.md"} {
		testkit.Must(t, os.WriteFile(d.Path(rel), []byte("first"), 0o600))
		g.Add(rel, "write "+rel)
	}
	testkit.Must(t, g.Run(ended))
	testkit.Must(t, d.Remove("old.md"))
	testkit.Must(t, os.WriteFile(d.Path("notes.md"), []byte("second"), 0o600))
	g.Remove("old.md", "forget old.md")
	g.Add("notes.md", "rewrite notes.md")
	testkit.Must(t, g.Run(ended))
	out, err := exec.Command("git", "-C", d.Root(), "log", "--format=%s").CombinedOutput()
	if want := "rewrite notes.md\nforget old.md\nwrite old.md\nwrite notes.md\n"; err != nil || string(out) != want {
		t.Errorf("the log is %q, want %q, %v", out, want, err)
	}
}
