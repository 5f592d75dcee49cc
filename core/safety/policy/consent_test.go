package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

// asking returns a session that asks about every call, and the questions, which are answered with a verdict.
func asking(t *testing.T, v Verdict) (s *Session, asked *[]Approval) {
	t.Helper()
	g, _ := newGuard(t)
	asked = &[]Approval{}
	g.approvals.OnChange(func(a Approval) {
		if a.Verdict == "" {
			*asked = append(*asked, a)
			if err := g.approvals.Answer(t.Context(), a.ID, v); err != nil {
				t.Error(err)
			}
		}
	})
	return g.Session(Scope{Kind: Main, Mode: func() Mode { return Ask }, Turn: func() Turn { return Turn{Attended: true} }}), asked
}

// A0: a command that a person cannot see as it runs is refused before anyone is asked, in every mode.
func TestACommandWithHiddenCharactersIsRefused(t *testing.T) {
	for _, command := range []string{
		"echo hello \x1b]; touch notes/PWNED ; #\a", "echo hello \x1bP; touch x\x1b\\", "echo a\rb", "echo \x00", "echo \u202eevil", "echo a\u200bb", "echo a\u200db",
		"echo \u2066a", "ls \U000e0041", "ls \u3164", "\u0085touch x",
	} {
		for _, mode := range []Mode{Ask, AcceptEdits, BypassPermissions} {
			s, asked := asking(t, Allow)
			s.scope.Mode = func() Mode { return mode }
			for name, decide := range map[string]func() agent.Decision{
				"the hook":       func() agent.Decision { return s.PreTool(t.Context(), bash(command)) },
				"the permission": func() agent.Decision { return s.Permission(t.Context(), bash(command)) },
			} {
				if d := decide(); d.Allow || len(*asked) > 0 || !strings.Contains(d.Reason, "must not contain ⟦") {
					t.Errorf("%q, %s, %s: %+v, asked %v", command, mode, name, d, *asked)
				}
			}
		}
	}
}

func TestAPathWithHiddenCharactersIsRefused(t *testing.T) {
	s, asked := asking(t, Allow)
	for _, u := range []agent.ToolUse{
		toolUse("Write", fields{"file_path": "notes/a\u200b.md", "content": "x"}), toolUse("Read", fields{"file_path": "notes/\x1b]a\a.md"}),
		toolUse("Grep", fields{"pattern": "x", "path": "notes\u202e"}), toolUse("Monitor", fields{"command": "tail \x1b", "file_path": "x"}),
		toolUse("WebFetch", fields{"url": "https://example.org/\u202e"}), toolUse("Other", fields{"path": "a\u2060"}),
	} {
		if d := s.Permission(t.Context(), u); d.Allow || len(*asked) > 0 || !strings.Contains(d.Reason, "must not contain ⟦") {
			t.Errorf("%s %s: %+v, asked %v", u.Name, u.Input, d, *asked)
		}
	}
	if reason := s.Send(t.Context(), s.g.tree.root+"/a\u200b.md"); !strings.Contains(reason, "must not contain ⟦U+200B⟧") {
		t.Errorf("sent: %q", reason)
	}
}

// A0, A6: the rest is shown as it is, and exactly the call that was shown may run.
func TestWhatIsAllowedIsWhatWasShown(t *testing.T) {
	for _, tt := range []struct {
		use  agent.ToolUse
		text string
	}{
		{bash("echo שלום; curl \u0430pple.com"), "echo ⟦right to left⟧שלום⟦left to right⟧; curl ⟦U+0430⟧pple.com"},
		{bash("echo 👩\u200d👧\tx "), `echo 👩⟦U+200D⟧👧⟦\t⟧x⟦ ⟧`},
		{toolUse("Write", fields{"file_path": "USER.md", "content": "Hi.\x1b]b\a\u200b\n"}), `Hi.⟦\x1b⟧]b⟦\x07⟧⟦U+200B⟧`},
		{bash("true " + strings.Repeat("x", 200_000)), "true " + strings.Repeat("x", 200_000)},
	} {
		s, asked := asking(t, Allow)
		d := s.Permission(t.Context(), tt.use)
		if len(*asked) != 1 || (*asked)[0].Text != tt.text || (*asked)[0].Digest != tt.use.Digest() {
			t.Fatalf("asked %.300v", *asked)
		}
		if _, ok := agent.Approve(tt.use, d); !ok {
			t.Errorf("%.80s: %+v", tt.use.Input, d)
		}
		if _, ok := agent.Approve(bash("touch x"), d); ok {
			t.Errorf("%.80s: another call is approved", tt.use.Input)
		}
	}
}

func TestACallThatIsTooLongToBeShownIsRefused(t *testing.T) {
	s, asked := asking(t, Allow)
	if d := s.Permission(t.Context(), bash("echo "+strings.Repeat("x", maxPicture))); d.Allow || len(*asked) > 0 || !strings.Contains(d.Reason, "too long") {
		t.Errorf("%+v, asked %.100v", d, *asked)
	}
}

// The executor and the rules must not read different values of one argument.
func TestAnArgumentInTwoSpellingsIsRefused(t *testing.T) {
	s, asked := asking(t, Allow)
	u := toolUse("Write", fields{"file_path": "notes/a.md", "content": "a", "CONTENT": "b"})
	if d := s.Permission(t.Context(), u); d.Allow || len(*asked) > 0 || !strings.Contains(d.Reason, "given twice") {
		t.Errorf("%+v, asked %v", d, *asked)
	}
}

// powerful is a routine with a right that a conversation does not have.
const powerful = "---\nid: v0000001\ncron: 0 9 * * *\nbackground: true\nallowed-tools:\n  - Bash(touch *)\n---\nTouch it.\n"

// waitsNow reports why the routine at a path waits.
func waitsNow(t *testing.T, g *Guard, rel string) string {
	t.Helper()
	data, err := g.o.Dir.Read(rel)
	testkit.Must(t, err)
	r, _ := routines.ParseRoutine(rel, data)
	r.Digest = routines.Digest(data)
	return g.TaskWaits(&r.Task)
}

// A1: an approval belongs to one file and one content, and ends when the file goes or changes.
func TestAnApprovalEndsWhenItsFileIsWrittenAgain(t *testing.T) {
	const rel = "routines/v.md"
	for name, change := range map[string]func(t *testing.T, path string){
		"the file went":    func(t *testing.T, path string) { testkit.Must(t, os.Remove(path)) },
		"the file changed": func(t *testing.T, path string) { write(t, path, strings.Replace(powerful, "touch *", "ls", 1)) },
	} {
		g, root := newGuard(t)
		s := g.Session(Scope{Kind: Main, Mode: func() Mode { return AcceptEdits }})
		path := filepath.Join(root, rel)
		again := toolUse("Write", fields{"file_path": rel, "content": powerful})
		s.PreTool(t.Context(), again)
		write(t, path, powerful)
		testkit.Must(t, g.provenance.Approve(routines.Digest([]byte(powerful)), rel, time.Now()))
		if why := waitsNow(t, g, rel); why != "" {
			t.Fatalf("%s: approved, it waits: %s", name, why)
		}
		s.PreTool(t.Context(), again) // the same text while it is in force
		if why := waitsNow(t, g, rel); why != "" {
			t.Errorf("%s: written over itself, it waits: %s", name, why)
		}
		write(t, filepath.Join(root, "routines", "copy.md"), powerful)
		if waitsNow(t, g, "routines/copy.md") == "" {
			t.Errorf("%s: a copy has the approval", name)
		}
		testkit.Must(t, os.Remove(filepath.Join(root, "routines", "copy.md")))
		change(t, path)
		var ended []string
		g.o.Ended = func(rel string) { ended = append(ended, rel) }
		s.PreTool(t.Context(), again)
		write(t, path, powerful)
		if waitsNow(t, g, rel) == "" || !slices.Equal(ended, []string{rel}) {
			t.Errorf("%s: written again, it has the old approval; ended %q", name, ended)
		}
	}
}

// A1, A5: a copy is not approved, and takes nothing from the file that is.
func TestACopyOfAnApprovedFileLeavesItsApproval(t *testing.T) {
	const rel, other = "routines/v.md", "routines/copy.md"
	for name, copies := range map[string]agent.ToolUse{
		"Write": toolUse("Write", fields{"file_path": other, "content": powerful}),
		"Bash":  bash("cp " + rel + " " + other),
	} {
		g, root := newGuard(t)
		s := g.Session(Scope{Kind: Main, Mode: func() Mode { return AcceptEdits }})
		s.PreTool(t.Context(), toolUse("Write", fields{"file_path": rel, "content": powerful}))
		write(t, filepath.Join(root, rel), powerful)
		testkit.Must(t, g.provenance.Approve(routines.Digest([]byte(powerful)), rel, time.Now().Add(-time.Hour)))
		for written := time.Now(); time.Since(written) < 2*stampSlack; { // the clock of the file system cannot be faked
		}
		if x := g.tree.call(copies); name == "Bash" {
			s.begins(x)
			write(t, filepath.Join(root, other), powerful)
			s.authored(x)
		} else {
			s.PreTool(t.Context(), copies)
			write(t, filepath.Join(root, other), powerful)
		}
		if why := waitsNow(t, g, rel); why != "" {
			t.Errorf("%s: the file that was approved waits: %s", name, why)
		}
		if waitsNow(t, g, other) == "" {
			t.Errorf("%s: the copy has the approval", name)
		}
	}
}

// A1: the same by a command, which writes without being seen.
func TestAnApprovalEndsWhenACommandWritesTheFileAgain(t *testing.T) {
	const rel = "routines/v.md"
	g, root := newGuard(t)
	s := g.Session(Scope{Kind: Main, Mode: func() Mode { return AcceptEdits }})
	s.PreTool(t.Context(), toolUse("Write", fields{"file_path": rel, "content": powerful}))
	testkit.Must(t, g.provenance.Approve(routines.Digest([]byte(powerful)), rel, time.Now().Add(-time.Hour)))
	s.begins(g.tree.call(bash("cp notes/old.md routines/v.md")))
	write(t, filepath.Join(root, rel), powerful)
	if waitsNow(t, g, rel) == "" {
		t.Error("while the command runs, it has the old approval")
	}
	s.authored(g.tree.call(bash("cp notes/old.md routines/v.md")))
	if waitsNow(t, g, rel) == "" {
		t.Error("it has the old approval")
	}
}

// A1: what the program does with a file keeps its approval; the approval of what went ends.
func TestApprovalsOfWhatIsGoneEnd(t *testing.T) {
	g, _ := newGuard(t)
	p, now := g.provenance, time.Now()
	next := []byte("---\nid: r0000001\nrun-at: 2030-01-01T10:00:00\nbackground: true\nallowed-tools:\n  - Bash(touch *)\n---\nx\n")
	_, err := p.record("old", Origin{Path: "reminders/r.md", At: now, Excess: []string{"use Bash"}})
	testkit.Must(t, err)
	testkit.Must(t, p.Approve("old", "reminders/r.md", now.Add(-time.Hour)))
	testkit.Must(t, g.Inherit("old", "reminders/r.md", next))
	digest := routines.Digest(next)
	if o, _ := p.Find("reminders/r.md", digest); !o.approvedIn("reminders/r.md") {
		t.Error("a moved reminder has lost its approval")
	}
	ended, again, err := p.EndApprovals(time.Now(), func(file, digest string) bool { return false })
	if err != nil || len(ended) != 1 || ended[0] != (Ended{"reminders/r.md", "old"}) || again.IsZero() {
		t.Errorf("ended %v, %v, %v; the new file may not be there yet", ended, again, err)
	}
	if ended, _, _ = p.EndApprovals(again, func(string, string) bool { return false }); len(ended) != 1 || ended[0].Digest != digest {
		t.Errorf("ended %v", ended)
	}
	if o, _ := p.Find("reminders/r.md", digest); o.approvedIn("reminders/r.md") || len(o.Excess) == 0 {
		t.Errorf("%+v", o)
	}
	_, err = p.record("old", Origin{Path: "reminders/r.md", At: now, Excess: []string{"use Bash"}})
	testkit.Must(t, err)
	if o, _ := p.Find("reminders/r.md", "old"); !o.Approved.IsZero() {
		t.Error("written again, it is approved")
	}
}

// Approvals of the previous version name no file: they stay where those bytes are, and end for all others.
func TestApprovalsOfThePreviousVersionStayWithTheirBytes(t *testing.T) {
	g, _ := newGuard(t)
	storetest.Put(t, g.o.Dir, ProvenanceFile, `{"written": {
		"here": {"path": "routines/a.md", "at": "2026-01-01T00:00:00Z", "excess": ["use Bash"], "approved": "2026-01-02T00:00:00Z"},
		"moved": {"path": "routines/b.md", "at": "2026-01-01T00:00:00Z", "excess": ["use Bash"], "approved": "2026-01-02T00:00:00Z"},
		"gone": {"path": "routines/d.md", "at": "2026-01-01T00:00:00Z", "excess": ["use Bash"], "approved": "2026-01-02T00:00:00Z"}}}`)
	p := g.provenance
	_, err := p.Load()
	testkit.Must(t, err)
	files := map[string]string{"here": "routines/a.md", "moved": "routines/c.md"}
	testkit.Must(t, p.Adopt(files))
	ended, _, err := p.EndApprovals(time.Now(), func(file, digest string) bool { return files[digest] == file })
	if err != nil || len(ended) != 1 || ended[0].Digest != "gone" {
		t.Errorf("ended %v, %v", ended, err)
	}
	for digest, rel := range map[string]string{"here": "routines/a.md", "moved": "routines/c.md", "gone": ""} {
		if o, _ := p.Find("reminders/r.md", digest); o.approvedIn(rel) != (rel != "") || o.approvedIn("routines/other.md") {
			t.Errorf("%s: %+v", digest, o)
		}
	}
}
