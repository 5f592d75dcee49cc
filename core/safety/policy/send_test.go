package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"ollimbot/core/base/testkit"
)

// The user gets files that the session may read, and others only after approving.
func TestAFileGoesOutOnlyWhereItMayBeRead(t *testing.T) {
	base := t.TempDir()
	testkit.Must(t, os.MkdirAll(filepath.Join(base, ".ssh"), 0o700))
	for _, tt := range []struct {
		path  string
		kind  Kind
		mode  Mode
		want  string // "sent", "asked" or a part of the refusal
		again string // the same after the user has said "always"
	}{
		{"data/notes/a.md", Main, DontAsk, "sent", "sent"},
		{"data/notes/a.md", Background, DontAsk, "sent", "sent"},
		{"data/notes/a.png", Main, DontAsk, "asked", "sent"},
		{"data/notes/a.png", Interactive, Ask, "asked", "sent"},
		{"data/notes/a.png", Main, BypassPermissions, "sent", "sent"},
		{"data/notes/a.png", Background, BypassPermissions, "may read", "may read"},
		{"data/downloads/a.pdf", Main, DontAsk, "sent", "sent"},
		{"outside.md", Main, DontAsk, "asked", "asked"},
		{"outside.md", Interactive, BypassPermissions, "asked", "asked"},
		{"outside.md", Background, DontAsk, "outside", "outside"},
		{"data/state/token.json", Main, BypassPermissions, "state/", "state/"},
		{"data/.env", Main, BypassPermissions, ".env", ".env"},
		{".ssh/id_ed25519", Main, BypassPermissions, "keys", "keys"},
		{".ssh/id_ed25519", Background, DontAsk, "keys", "keys"},
		{"data/.git/config", Main, Ask, ".git", ".git"},
	} {
		synctest.Test(t, func(t *testing.T) {
			g, _ := guardAt(t, filepath.Join(base, "data"))
			full, asked := filepath.Join(base, tt.path), false
			answering(t, g, func(a Approval) Verdict {
				asked = true
				at := full
				if rel, inside := strings.CutPrefix(full, base+"/data/"); inside {
					at = rel
				}
				if offers := a.Scope() != ""; offers != strings.HasPrefix(full, base+"/data/") {
					t.Errorf("%s: always is offered: %t", full, offers)
				}
				if want := "Send you " + filepath.Base(full) + "?"; a.Question != want || a.Text != "⟦file_path:⟧ "+at { // P13
					t.Errorf("asked %q with %q, want %q with %q", a.Question, a.Text, want, at)
				}
				return Always
			})
			rules := Rules{Allowed: MainTools()}
			if tt.kind == Background {
				rules.Allowed = BackgroundTools()
			}
			s := g.Session(Scope{Kind: tt.kind, Rules: rules, Mode: func() Mode { return tt.mode }})
			for _, want := range []string{tt.want, tt.again} {
				asked = false
				got := s.Send(t.Context(), full)
				switch {
				case asked && got == "":
					got = "asked"
				case got == "":
					got = "sent"
				}
				if !strings.Contains(got, want) {
					t.Errorf("%s, kind %d, %s: %s, want %s", tt.path, tt.kind, tt.mode, got, want)
				}
			}
		})
	}
}

// Allowing a tool that reads files, or send_file itself, allows sending files of the data directory.
func TestARememberedApprovalAllowsSendingFilesOfTheDataDirectory(t *testing.T) {
	base := t.TempDir()
	for _, tool := range []string{"Read", "mcp__discord__send_file", "Bash"} {
		g, root := guardAt(t, filepath.Join(base, "data"))
		g.Allow(tool)
		asked := answering(t, g, Deny.always)
		s := g.Session(Scope{Rules: Rules{Allowed: MainTools()}})
		inside := s.Send(t.Context(), filepath.Join(root, "notes", "a.png"))
		if sent := inside == ""; sent == (tool == "Bash") || sent != (len(*asked) == 0) {
			t.Errorf("%s allowed: %q, asked %d times", tool, inside, len(*asked))
		}
		if outside := s.Send(t.Context(), filepath.Join(base, "a.png")); outside == "" || len(*asked) == 0 {
			t.Errorf("%s allowed: a file outside is sent without asking", tool)
		}
	}
}
