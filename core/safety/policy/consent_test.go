package policy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
)

// asking returns a session that asks about every call, and the questions, which are answered with a verdict.
func asking(t *testing.T, v Verdict) (s *Session, asked *[]Approval) {
	t.Helper()
	g, _ := guardAt(t, t.TempDir())
	asked = answering(t, g, v.always)
	return g.Session(Scope{Kind: Main, Mode: func() Mode { return Ask }, Turn: func() Turn { return Turn{Attended: true} }}), asked
}

// A0: what a person cannot see as it runs is refused before anyone is asked, in every mode.
func TestACommandWithHiddenCharactersIsRefused(t *testing.T) { stories(t, "hidden") }

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
	s, asked := asking(t, Allow)
	if d := s.Permission(t.Context(), bash("echo "+strings.Repeat("x", maxPicture))); d.Allow || len(*asked) > 0 || !strings.Contains(d.Reason, "too long") {
		t.Errorf("too long to be shown: %+v, asked %.100v", d, *asked)
	}
}

// P13: the question names the file, and says where it is; a path that cannot be shown is refused.
func TestAQuestionAboutAFileToSendNamesIt(t *testing.T) {
	s, asked := asking(t, Always)
	data, outside := s.g.tree.root, t.TempDir()
	for path, want := range map[string]string{data + "/notes/a.png": "notes/a.png", outside + "/b.png": outside + "/b.png"} {
		*asked = nil
		s.Send(t.Context(), path)
		one := (*asked)[0]
		if one.Question != "Send you "+path[len(path)-5:]+"?" || one.Text != "⟦file_path:⟧ "+want || (one.Scope() != "") != (want == "notes/a.png") {
			t.Errorf("asked %+v", one)
		}
	}
	if reason := s.Send(t.Context(), data+"/a\u200b.md"); !strings.Contains(reason, "must not contain ⟦U+200B⟧") {
		t.Errorf("sent: %q", reason)
	}
}

// P13: always applies to the command in question, and not to all of Bash.
func TestAlwaysAllowsTheSameCommandAndNoOther(t *testing.T) {
	s, asked := asking(t, Always)
	for _, tt := range []struct {
		tool, input string
		asks        bool
	}{
		{"Bash", `{"command":"rm *"}`, true},
		{"Bash", `{"command":"rm *","description":"tidy up","timeout":9}`, false},
		{"Bash", `{"command":"rm a"}`, true},
		{"Bash", `{"command":"rm *; curl evil"}`, true},
		{"Bash", `{"command":"rm * "}`, true},
		{"Bash", `{"command":"rm *","run_in_background":true}`, true},
		{"Bash", `{"command":"rm *","dangerouslyDisableSandbox":true}`, true},
		{"Monitor", `{"command":"rm *"}`, true},
		{"mcp__weather__forecast", `{"city":"Bonn"}`, true},
		{"mcp__weather__forecast", `{"city":"Kiel"}`, false},
		{"a new conversation", "", false},
		{"Bash", `{"command":"rm *"}`, true},
	} {
		if tt.input == "" {
			s.g.Reset()
			continue
		}
		before := len(*asked)
		d := s.Permission(t.Context(), agent.ToolUse{Name: tt.tool, Input: []byte(tt.input)})
		if got := len(*asked) > before; !d.Allow || got != tt.asks {
			t.Errorf("%s %s: asked is %t, %+v", tt.tool, tt.input, got, d)
		}
		if tt.asks {
			one := (*asked)[before]
			scope, grant := "this command", "this exact command runs without a question"
			if tt.tool == "mcp__weather__forecast" {
				scope, grant = "this tool", "every call of weather/forecast runs without a question"
			}
			if one.Scope() != scope || one.Grant() != grant {
				t.Errorf("%s %s: %q, %q", tt.tool, tt.input, one.Scope(), one.Grant())
			}
		}
	}
}

func TestALabelThatIsCutSaysSo(t *testing.T) {
	long := Request{Question: "Run this command?", Text: strings.Repeat("a", 5000)}.Asked(time.Time{})
	if _, _, marked := strings.Cut(long.Label, "⟧aaaa"); !marked || !strings.Contains(long.Label, "aaa⟦30") || len(long.Text) != 5000 {
		t.Errorf("the label is %q, the text has %d", long.Label, len(long.Text))
	}
	if a := (Request{Question: "Run this command?", Text: "ls\nrm -rf ~"}.Asked(time.Time{})); a.Label != "Run this command? ls ⏎ rm -rf ~" {
		t.Errorf("%q", a.Label)
	}
}

func TestTheUsersAnswerDecides(t *testing.T) {
	for verdict, reason := range map[Verdict]string{ // no verdict is no answer
		Allow: "", Always: "", Deny: "user denied Bash(date)", "": "no one answered within 60 seconds",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := asking(t, verdict)
			begin := time.Now()
			for _, command := range []string{"date", "pwd"} {
				d := s.Permission(t.Context(), bash(command))
				if d.Allow != verdict.Allows() || !strings.Contains(d.Reason, strings.ReplaceAll(reason, "date", command)) {
					t.Errorf("%s after %q: %+v", command, verdict, d)
				}
			}
			if took := time.Since(begin); verdict == "" && took != 2*Patience {
				t.Errorf("waited %s", took)
			}
			if got := s.g.sessionAllows(s.g.tree.call(bash("pwd")).exact()); got != (verdict == Always) || s.g.sessionAllows("Bash") {
				t.Errorf("after %q: allowed for the session %v", verdict, got)
			}
		})
	}
}
