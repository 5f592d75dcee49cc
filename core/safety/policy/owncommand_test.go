package policy

import (
	"context"
	"os/exec"
	"regexp"
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
type ran struct{ by, args []string }

func (r *ran) run(_ context.Context, by *Session, args []string) agent.CommandResult {
	r.by, r.args = append(r.by, by.Scope().Session), append(r.args, strings.Join(args, "|"))
	return agent.CommandResult{Stdout: "done\n"}
}

func TestACommandNeedsTheRightsOfItsSession(t *testing.T) {
	g, _ := newGuard(t)
	sessions := map[string]Scope{
		"main": {Kind: Main, Rules: Rules{Allowed: MainTools()}},
		"run":  {Kind: Background, Rules: Rules{Allowed: BackgroundTools()}},
		"wide": {Kind: Background, Rules: Rules{Allowed: []string{"Bash(ollim-bot routine *)"}, Disallowed: []string{"Bash(ollim-bot routine cancel *)"}}},
	}
	refusal := regexp.MustCompile(`\Aollim-bot: Bash [^\n]*\.\n\z`)
	for args, may := range map[string][]string{ // with bars between the words
		"help":          {"main", "run"},
		"reminder|list": {"main"},
		"reminder|add|-m|it's time; rm -rf $HOME `x` \"y\"|--delay|5": {"main"},
		"history|search|two\nlines":                                   {"main"},
		"routine|list":                                                {"main", "wide"},
		"routine|add|-m|x|--cron|* * * * *":                           {"main", "wide"},
		"routine|cancel|aaaa0003":                                     {"main"},
		"routine list":                                                nil, // one word that looks like two
		"help|;|reminder|list":                                        nil,
		"budget|set|--capacity|99":                                    nil,
		"":                                                            nil,
	} {
		for name, scope := range sessions {
			var r ran
			scope.Session = name
			got := g.Session(scope).Command(r.run)(t.Context(), strings.Split(args, "|"))
			want := ran{}
			if slices.Contains(may, name) {
				want = ran{by: []string{name}, args: []string{args}}
			}
			if diff := cmp.Diff(want, r, cmp.AllowUnexported(r)); diff != "" {
				t.Errorf("%q of %s: %s", args, name, diff)
			}
			if ran := got.Exit == 0 && got.Stdout == "done\n"; ran != (want.by != nil) || !ran && !refusal.MatchString(got.Stderr) {
				t.Errorf("%q of %s gives %+v", args, name, got)
			}
		}
	}
}

func TestWhatTheUserHasPermittedIsNotAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := guardAt(t, t.TempDir())
		s := g.Session(Scope{Kind: Main, Session: "main session", Mode: func() Mode { return Ask }})
		var verdict Verdict
		asked := answering(t, g, func(Approval) Verdict { return verdict })
		permit := func() { s.Permission(t.Context(), bash(`ollim-bot "routine"  cancel aaaa0003`)) }
		for _, c := range []struct {
			name    string
			before  func()
			of      string
			verdict Verdict
			exit    int
			asks    int // with the question of the shell call
		}{
			{"what was permitted", permit, "aaaa0003", Allow, 0, 1},
			{"the same once more", func() {}, "aaaa0003", Allow, 0, 1},
			{"after an answer to the question before", func() {}, "aaaa0003", Deny, 1, 1},
			{"other words than were permitted", permit, "aaaa0004", Deny, 1, 2},
			{"a yes of ten minutes ago", func() { time.Sleep(grantFor) }, "aaaa0003", Deny, 1, 1},
		} {
			*asked, verdict = nil, Allow
			c.before()
			verdict = c.verdict
			var r ran
			if got := s.Command(r.run)(t.Context(), []string{"routine", "cancel", c.of}); got.Exit != c.exit || len(*asked) != c.asks {
				t.Errorf("%s gives %+v after %v", c.name, got, *asked)
			}
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
