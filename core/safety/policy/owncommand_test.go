package policy

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

// ran is a runner that records its calls.
type ran struct {
	by   []Scope
	args [][]string
}

func (r *ran) run(_ context.Context, by *Session, args []string) agent.CommandResult {
	r.by, r.args = append(r.by, by.Scope()), append(r.args, args)
	return agent.CommandResult{Stdout: "done\n"}
}

func TestACommandNeedsTheRightsOfItsSession(t *testing.T) {
	g, _ := newGuard(t)
	main := Scope{Kind: Main, Session: "main session", Rules: Rules{Allowed: MainTools()}}
	plain := Scope{Kind: Background, Session: "aaaa0001", Rules: Rules{Allowed: BackgroundTools()}}
	wide := Scope{Kind: Background, Session: "aaaa0002", Rules: Rules{
		Allowed: []string{"Bash(ollim-bot routine *)"}, Disallowed: []string{"Bash(ollim-bot routine cancel *)"},
	}}
	for _, c := range []struct {
		args string // with bars between the words
		may  []string
	}{
		{"help", []string{"main session", "aaaa0001"}},
		{"reminder|list", []string{"main session"}},
		{"reminder|add|-m|it's time; rm -rf $HOME `x` \"y\"|--delay|5", []string{"main session"}},
		{"history|search|two\nlines", []string{"main session"}},
		{"routine|list", []string{"main session", "aaaa0002"}},
		{"routine|add|-m|x|--cron|* * * * *", []string{"main session", "aaaa0002"}},
		{"routine|cancel|aaaa0003", []string{"main session"}},
		{"routine list", nil}, // one word that looks like two
		{"help|;|reminder|list", nil},
		{"budget|set|--capacity|99", nil},
		{"", nil},
	} {
		args := strings.Split(c.args, "|")
		for _, s := range []Scope{main, plain, wide} {
			var r ran
			got := g.Session(s).Command(r.run)(t.Context(), args)
			if slices.Contains(c.may, s.Session) {
				if got.Exit != 0 || got.Stdout != "done\n" || len(r.args) != 1 || r.by[0].Session != s.Session {
					t.Errorf("%q of %s gives %+v", args, s.Session, got)
				} else if diff := cmp.Diff(args, r.args[0]); diff != "" {
					t.Error(diff)
				}
				continue
			}
			if len(r.args) != 0 || got.Exit != 1 || !strings.HasPrefix(got.Stderr, "ollim-bot: ") {
				t.Errorf("%q of %s was run, or refused without a reason: %+v", args, s.Session, got)
			}
		}
	}
}

func TestWhatTheUserHasPermittedIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGuard(t)
		s := g.Session(Scope{Kind: Main, Session: "main session", Mode: func() Mode { return Ask }})
		verdict := Allow
		asked := answering(t, g, func(Approval) Verdict { return verdict })
		var r ran
		command := s.Command(r.run)
		typed := bash(`ollim-bot "routine"  cancel aaaa0003`)
		if d := s.Permission(t.Context(), typed); !d.Allow || len(*asked) != 1 {
			t.Fatalf("the shell call: %+v after %v", d, *asked)
		}
		args := []string{"routine", "cancel", "aaaa0003"}
		if got := command(t.Context(), args); got.Exit != 0 || len(*asked) != 1 {
			t.Errorf("what was permitted gives %+v after %v", got, *asked)
		}
		if got := command(t.Context(), args); got.Exit != 0 || len(*asked) != 2 {
			t.Errorf("the same once more gives %+v after %v", got, *asked)
		}
		verdict = Deny
		if got := command(t.Context(), args); got.Exit != 1 || len(*asked) != 3 {
			t.Errorf("an answer to the question before was kept: %+v after %v", got, *asked)
		}
		verdict = Allow
		s.Permission(t.Context(), typed)
		verdict = Deny
		if got := command(t.Context(), []string{"routine", "cancel", "aaaa0004"}); got.Exit != 1 || len(*asked) != 5 {
			t.Errorf("other words than were permitted give %+v after %v", got, *asked)
		}
		time.Sleep(grantFor)
		if got := command(t.Context(), args); got.Exit != 1 || len(*asked) != 6 {
			t.Errorf("a yes of ten minutes ago gives %+v after %v", got, *asked)
		}
	})
}

func TestAForbiddenCommandIsForbiddenInAnyQuotes(t *testing.T) {
	g, _ := newGuard(t)
	s := g.Session(Scope{Rules: Rules{Allowed: []string{"Bash"}, Disallowed: []string{"Bash(ollim-bot reminder cancel *)"}}})
	s.permits.grant(s.g.tree.call(bash(`ollim-bot reminder "cancel" aaaa0001`))) // as if a mode had allowed it
	var r ran
	if got := s.Command(r.run)(t.Context(), []string{"reminder", "cancel", "aaaa0001"}); got.Exit != 1 || len(r.args) != 0 {
		t.Errorf("it gives %+v", got)
	}
}

func TestTheHelpKnowsWhatTheRulesAllow(t *testing.T) {
	main, background := Compile("/x", Rules{Allowed: MainTools()}), Compile("/x", Rules{Allowed: BackgroundTools()})
	for name, want := range map[string][2]bool{
		"help": {true, true}, "reminder add": {true, false}, "history search": {true, false},
		"routine list": {true, false}, "routine cancel": {true, false}, "routine add": {true, false}, "status": {false, false},
	} {
		got := [2]bool{main.MayRun(strings.Fields(name)), background.MayRun(strings.Fields(name))}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestQuotedWordsAreReadBackByAShell(t *testing.T) {
	testkit.Alone(t)
	sh, err := exec.LookPath("sh")
	testkit.Must(t, err)
	testkit.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.StringMatching(`[a-z \t\n'"\\$`+"`"+`*?~;|&<>(){}\[\]#!=ü-]{0,8}`), 1, 4).Draw(t, "words")
		line := quoted(append([]string{"printf", `%s\0`}, list...))
		out, err := exec.Command(sh, "-c", line).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, list) {
			t.Fatalf("a shell reads %q as %q", line, got)
		}
		if back, ok := plainWords(line); ok && !slices.Equal(back[2:], list) {
			t.Fatalf("words reads %q as %q", line, back)
		}
	})
}

// Every line that words accepts as plain is read in the same way by a shell. It may reject others.
func TestPlainCommandLinesAreReadAsAShellDoes(t *testing.T) {
	testkit.Alone(t)
	sh, err := exec.LookPath("sh")
	testkit.Must(t, err)
	plain := 0
	testkit.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[ab \t\r\n\x{a0}\x{85}'"\\$*~#=;|ü-]{1,12}`).Draw(t, "line")
		want, ok := plainWords(line)
		if !ok {
			return
		}
		plain++
		out, err := exec.Command(sh, "-c", `printf '%s\0' `+line).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, want) {
			t.Fatalf("a shell reads %q as %q, words as %q", line, got, want)
		}
	})
	if _, assigns := plainWords("A=b ls"); plain == 0 || assigns {
		t.Errorf("%d lines were plain; one with a variable: %v", plain, assigns)
	}
}
