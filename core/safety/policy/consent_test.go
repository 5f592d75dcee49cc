package policy

import (
	"strings"
	"testing"

	"ollimbot/core/agent"
)

// asking returns a session that asks about every call, and the questions, which are answered with a verdict.
func asking(t *testing.T, v Verdict) (s *Session, asked *[]Approval) {
	t.Helper()
	g, _ := newGuard(t)
	asked = answering(t, g, v.always)
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
