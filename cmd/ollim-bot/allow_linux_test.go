package main

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
)

// A3: on a terminal `ollim-bot allow` shows what it would approve and takes only an answer to that.
func TestOnATerminalAllowApprovesOnlyWhatItHasShown(t *testing.T) {
	testkit.Alone(t)
	root := t.TempDir()
	dir, err := store.At(root)
	testkit.Must(t, err)
	guard := policy.New(policy.Options{Dir: dir, Zone: time.UTC, Log: slog.New(slog.DiscardHandler)})
	const rel = "routines/w.md"
	agents := func(rights string) {
		text := []byte("---\nid: w0000001\ncron: 0 9 * * *\nbackground: true\nallowed-tools: [" + rights + "]\n---\nTidy.\n")
		testkit.Must(t, errors.Join(os.MkdirAll(filepath.Join(root, "routines"), 0o700), guard.Written(policy.Writer{Kind: "main session"}, rel, text)))
		testkit.Must(t, os.WriteFile(filepath.Join(root, rel), text, 0o600))
	}
	waits := func() bool {
		status := shell(t, built(t), []string{"OLLIM_DATA_DIR=" + root, "HOME=" + root}, "allow")
		return strings.Contains(status.out, rel)
	}
	agents(`"Bash(rm *)"`)
	for _, c := range []struct {
		name          string
		before, after string // what is typed before the question, and after it; DIGEST is what it asks for
		meanwhile     string // what the agent writes while it is asked
		allowed       bool
	}{
		{name: "no", after: "n\n"},
		{name: "a habit", after: "y\n"},
		{name: "typed ahead", before: "y\nyes\n", after: "\n"},
		{name: "what has changed since", after: "DIGEST\n", meanwhile: `Write, "Bash(python3 *)"`},
		{name: "what is shown", after: "DIGEST\n", allowed: true},
	} {
		p, tty := commandOnPty(t, []string{"allow", "w0000001", "--data-dir", root}, "OLLIM_TIMEZONE=UTC")
		testkit.Must(t, tty.Close())
		_, err := io.WriteString(p.device, c.before)
		testkit.Must(t, err)
		testkit.Must(t, p.readUntil("and enter."))
		shown := p.out.String()
		if !strings.Contains(shown, "Tidy.") || !strings.Contains(shown, "Bash(") {
			t.Fatalf("%s: it shows\n%s", c.name, shown)
		}
		_, digest, _ := strings.Cut(shown, "digest ")
		if c.meanwhile != "" {
			agents(c.meanwhile)
		}
		_, err = io.WriteString(p.device, strings.Replace(c.after, "DIGEST", digest[:shortDigest], 1))
		testkit.Must(t, err)
		_ = p.readUntil("") // an error ends it
		if err := p.cmd.Wait(); (err == nil) != c.allowed || waits() == c.allowed {
			t.Errorf("%s: %v, it waits: %v\n%s", c.name, err, waits(), &p.out)
		}
		testkit.Must(t, p.device.Close())
	}
}
