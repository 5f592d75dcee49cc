package policy

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store/storetest"
)

func TestAnApprovedCallWritesTheUsersOwnTextOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, root := newGuard(t)
		taint := NewTaint("mail")
		s := g.Session(Scope{Kind: Main, Rules: everything, Taint: taint, Turn: func() Turn { return Turn{Attended: true} }})
		verdict, always := Allow, 0
		answering(t, g, func(a Approval) Verdict {
			if a.Tool != "" {
				always++
			}
			if !strings.Contains(a.Question, "untrusted text: mail") {
				t.Errorf("the question says %q", a.Question)
			}
			return verdict
		})
		call := func(u agent.ToolUse) bool {
			return s.PreTool(t.Context(), u).Allow && s.Permission(t.Context(), u).Allow
		}
		if !call(writing("notes/a.md", "approved")) {
			t.Fatal("the user has allowed it")
		}
		write(t, filepath.Join(root, "notes", "a.md"), "approved")
		if got := g.reach.fileLabel("notes/a.md"); got != "" {
			t.Errorf("an approved file has the label %q", got)
		}
		if !call(toolUse(toolset.Prefix+toolset.AddReminder, nil)) || taint.LabelOf(toolset.AddReminder) != "" || taint.LabelOf(toolset.AddReminder) != "mail" {
			t.Error("an approval counts once")
		}
		verdict = Deny
		if call(writing("notes/b.md", "denied")) || always != 0 {
			t.Errorf("denied, with %d offers of always", always)
		}
		if taint.Clear(); !call(writing("notes/c.md", "x")) {
			t.Error("the user has answered, and is still asked")
		}
	})
}

// A search, whose own result is labeled, is not refused because of what it is about to read.
func TestACallIsNotLimitedByItself(t *testing.T) {
	g, root := newGuard(t)
	write(t, filepath.Join(root, "downloads", "evil.md"), "x")
	s := g.Session(Scope{Kind: Background, Rules: everything})
	first, second := bash("ls"), bash("ls -l")
	first.ID, second.ID = "1", "2"
	if d := s.PreTool(t.Context(), first); !d.Allow || s.Label() == "" {
		t.Fatalf("%+v, label %q", d, s.Label())
	}
	if d := s.Permission(t.Context(), first); !d.Allow {
		t.Errorf("the permission of the same call: %s", d.Reason)
	}
	if s.PreTool(t.Context(), second).Allow || s.Permission(t.Context(), second).Allow {
		t.Error("the next command is allowed")
	}
}

func TestAFileWhoseWriterOrLabelCannotBeRecordedIsNotWritten(t *testing.T) {
	var said strings.Builder
	g, root := newGuard(t)
	g.o.Log = slog.New(slog.NewTextHandler(&said, nil))
	s := g.Session(Scope{Kind: Background, Session: "run", Rules: everything, Taint: &Taint{Trusted: true}})
	command := bash("date > notes/new.md")
	if d := s.PreTool(t.Context(), command); !d.Allow {
		t.Fatal(d.Reason)
	}
	cannotRecord(t, g)
	const task = "routines/a.md"
	text := taskText(task, "| Go.")
	for _, read := range []label.Label{"", "mail"} {
		s.Reads(read)
		if d := s.PreTool(t.Context(), writing(task, text)); d.Allow || d.Reason != answerUnnoted {
			t.Errorf("a task after %q: %+v", read, d)
		}
	}
	if d := s.PreTool(t.Context(), writing("notes/a.md", "x")); d.Allow || d.Reason != answerUnnoted {
		t.Errorf("a note after mail: %+v", d)
	}
	if s.Written(task, []byte(text)) == nil {
		t.Error("the program may write it")
	}
	// What a command has written is there.
	write(t, filepath.Join(root, "notes", "new.md"), "As the mail says.")
	if s.Hooks(nil).PostTool(t.Context(), command); !strings.Contains(said.String(), "labels of files not recorded") {
		t.Errorf("log:\n%s", said.String())
	}
}

func TestTooManyLabeledFilesCountAsEveryFile(t *testing.T) {
	root := t.TempDir()
	dir := storetest.At(t, root)
	for i := range maxLabeled + 2 {
		write(t, filepath.Join(root, "downloads", time.Duration(i).String()), "x")
	}
	g := New(Options{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	if got := g.reach.searchLabel(g.tree.call(toolUse("Grep", fields{"pattern": "x", "path": "routines", "glob": "*.md"}))); got != "downloads" {
		t.Errorf("%q", got)
	}
}
