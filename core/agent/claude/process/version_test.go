package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
)

func TestTheVersionIsReadFromTheCommandsAnswer(t *testing.T) {
	testkit.Alone(t)
	other := func(said string) string {
		return fmt.Sprintf(" is not Claude Code, it answered %q to --version: %s", said, name)
	}
	fails := func(how string) string {
		return " --version failed (claude ended with exit code " + how + "): try it in a terminal, or install @anthropic-ai/claude-code from npm again"
	}
	for what, c := range map[string]struct{ script, want, err string }{
		"the real one":   {`echo "2.1.197 (Claude Code)"`, "2.1.197", ""},
		"a beta":         {`echo "2.2.0-beta.1 (Claude Code)"`, "2.2.0-beta.1", ""},
		"warnings":       {`echo "deprecated" >&2; echo "2.1.200 (Claude Code)"`, "2.1.200", ""},
		"with the flag":  {`[ "$1" = --version ] && echo "2.1.197 (Claude Code)"`, "2.1.197", ""},
		"another":        {`echo "claude-chat 1.0"`, "", other("claude-chat 1.0")},
		"nonsense":       {`printf '\033[2Jboo (Claude Code)\nx'`, "", other("boo (Claude Code) x")},
		"nothing":        {`exit 0`, "", " is not Claude Code, it answered nothing to --version: " + name},
		"a failure":      {`echo "no room" >&2; exit 7`, "", fails("7: no room")},
		"without an end": {`exec yes`, "", other(strings.Repeat("y ", 39) + "y…")},
		"many words":     {`printf %0100d 7`, "", other(strings.Repeat("0", 79) + "…")},
		"a key":          {`echo "bad $KEY" >&2; exit 1`, "", fails("1: bad [hidden]")},
		"two lines":      {`echo "2.1.197 (Claude Code)"; echo more`, "", other("2.1.197 (Claude Code) more")},
	} {
		t.Run(what, func(t *testing.T) {
			path := script(t, "#!/bin/sh\n"+c.script+"\n")
			got, err := Version(t.Context(), path, []string{"PATH=" + os.Getenv("PATH"), "KEY=0123456789"})
			if c.err == "" && (err != nil || got != c.want) {
				t.Fatalf("got %q, %v", got, err)
			}
			if c.err != "" && (err == nil || err.Error() != path+c.err) {
				t.Errorf("got  %v\nwant %s%s", err, path, c.err)
			}
		})
	}
}

func TestACommandThatDoesNotAnswerIsEndedWithItsChildren(t *testing.T) {
	testkit.Alone(t)
	s := playSpec(t, "parent", "OLLIM_TEST_CHILDREN=sleeper")
	_, err := askVersion(t.Context(), s, 500*time.Millisecond)
	if want := s.Path + " --version did not answer within 500ms: try it in a terminal, or install @anthropic-ai/claude-code from npm again"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if _, err := askVersion(hurry(), s, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	missing := (*NotFoundError)(nil)
	if _, err := Version(t.Context(), "/nowhere/claude", nil); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
}

func TestAVersionIsCheckedAgainstTheOldestThatWorks(t *testing.T) {
	for v, want := range map[string]string{
		Newest(): "", Oldest(): "", "2.1.198": "", "2.1.1000": "", "2.10.0": "", "3.0.0": "", "2.1.198-beta": "", "2.1.197+build": "", "2.1.198-!": "", "2.1.198-~": "",
		"2.1.196": "too old", "2.1.0": "too old", "1.9.999": "too old", "2.1.197-beta.1": "too old", "0.0.0": "too old",
		"": "not a version", "2.1": "not a version", "2.1.x": "not a version", "2.1.-1": "not a version", "v2.1.0": "not a version",
		"2.1.99999999999999999999": "not a version", "2.1.0.1": "not a version", "2.1.0\n": "not a version", "2.1.0-": "not a version", "2.1.0-b c": "not a version", "2.1.0-\x7f": "not a version", "+2.1.0": "not a version",
	} {
		err := CheckVersion(v)
		whole := map[string]string{
			"too old":       "claude " + v + " is too old, 2.1.197 or newer is needed: install @anthropic-ai/claude-code@2.1.332 from npm",
			"not a version": fmt.Sprintf("%q is not a version of Claude Code: install @anthropic-ai/claude-code from npm", clean.Line(v)),
		}[want]
		if (err == nil) != (want == "") || err != nil && err.Error() != whole {
			t.Errorf("%q: got %v, want %q", v, err, whole)
		}
		if errors.Is(err, ErrTooOld) != (want == "too old") {
			t.Errorf("%q: is ErrTooOld: %v", v, errors.Is(err, ErrTooOld))
		}
	}
	for v, want := range map[string]bool{Oldest(): false, Newest(): false, "2.1.300": false, "2.1.333": true, "3.0.0": true} {
		if Untried(v) != want {
			t.Errorf("%s is untried: %v", v, !want)
		}
	}
	for v, want := range map[string]string{
		"2.1.197": "2.1.197: opus is claude-opus-4-8", "2.1.239": "2.1.197: opus is claude-opus-4-8", "2.1.240": "2.1.240: opus is claude-opus-5",
		"2.1.330": "2.1.330: opus is claude-opus-5-5; thinking cannot be switched off", "3.0.0": "2.1.332: opus is claude-opus-5-5; thinking cannot be switched off",
	} {
		if like := Like(v); like.Version+": "+like.String() != want {
			t.Errorf("%s is taken for %s: %s, want %s", v, like.Version, like, want)
		}
	}
	for v, want := range map[string]bool{Newest(): true, "2.1.0": true, "2.2.0": false, "3.1.332": false, "": false} {
		if Patch(v) != want {
			t.Errorf("%s is a patch: %v", v, !want)
		}
	}
}

func TestVersionsAreOrderedByTheirNumbers(t *testing.T) {
	part := rapid.IntRange(0, 12)
	testkit.Check(t, func(r *rapid.T) {
		var a, b [3]int
		for i := range 3 {
			a[i], b[i] = part.Draw(r, "a"), part.Draw(r, "b")
		}
		text := func(p [3]int) string { return fmt.Sprintf("%d.%d.%d", p[0], p[1], p[2]) }
		weight := func(p [3]int) int { return p[0]*10_000 + p[1]*100 + p[2] }
		if got, want := less(text(a), text(b)), weight(a) < weight(b); got != want {
			r.Fatalf("%v before %v: %v", a, b, got)
		}
	})
}
