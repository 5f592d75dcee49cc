package plain

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/policy"
)

// long is a call that would write a file, as the desk has it: its label on one
// line and its text as it is.
func long(lines int) policy.Approval {
	text := "notes/plan.md"
	for i := range lines {
		text += fmt.Sprintf("\n    line %d of the plan", i+1)
	}
	return policy.Approval{
		ID: "x", Tool: "Write", Label: "Write(" + strings.ReplaceAll(text, "\n", " ⏎ ") + ")", Text: "Write(" + text + ")",
	}
}

func TestALongCallIsNamedAndReadWholeWhenAsked(t *testing.T) {
	for name, asked := range map[string]func() policy.Approval{
		"its text": func() policy.Approval { return long(30) },
		"its label, where there is no text": func() policy.Approval {
			a := long(30)
			a.Text = ""
			return a
		},
		"a text without the tool": func() policy.Approval {
			a := long(30)
			a.Text = strings.TrimSuffix(strings.TrimPrefix(a.Text, "Write("), ")")
			return a
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, Options{}, func(s *stage) {
				s.hears()
				a := asked()
				a.Until = time.Now().Add(time.Minute)
				s.bot.change(func(n *core.Snapshot) { n.Approvals = []policy.Approval{a} })
				const short = "Write: notes/plan.md, 31 lines, "
				for _, got := range [][]string{s.hears(), s.types("waits")} {
					s.one(got, short)
					if strings.Contains(got[0], "⏎") || strings.Contains(got[0], "of the plan") || !strings.Contains(got[0], "waits 1 reads it") {
						t.Errorf("heard %q", got[0])
					}
				}
				got := s.types("waits 1")
				if len(got) != 33 || !strings.HasSuffix(got[1], "approval: notes/plan.md") ||
					!strings.HasSuffix(got[31], "approval:     line 30 of the plan") || !strings.Contains(got[32], "allow 1, always 1 or deny 1") {
					t.Errorf("waits 1 says\n%s", strings.Join(got, "\n"))
				}
				s.bot.change(func(n *core.Snapshot) { n.Approvals = nil })
				s.one(s.hears(), "number 1 waits no longer: "+short)
				s.one(s.types("waits 1"), "no tool call waits for you")
			})
		})
	}
}

func TestAShortCallIsSaidWhole(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.hears()
		s.bot.change(func(n *core.Snapshot) {
			n.Approvals = []policy.Approval{{ID: "x", Tool: "Bash", Label: "Bash(ls -la)"}}
		})
		got := s.hears()
		s.one(got, ": Bash: ls -la; allow 1, always 1 or deny 1")
		s.hasLines(s.types("waits 1"), "number 1", "approval: ls -la", "allow 1")
		s.hasLines(s.types("waits 7"), "number 1 waits")
	})
}

// Whatever a call would do, the lines of waits N hold all of it, in order.
func TestNothingOfACallIsLeftOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := clean.Text(rapid.StringOf(rapid.SampledFrom([]rune("ab ä\n(⏎)"))).Draw(t, "text"))
		text += strings.Repeat(rapid.SampledFrom([]string{"", "x", "wide ", "\n"}).Draw(t, "tail"), rapid.IntRange(0, 3*maxWords).Draw(t, "times"))
		c := call{policy.Approval{Tool: "Bash", Label: "Bash(x)", Text: "Bash(" + text + ")"}, 1}
		var whole strings.Builder
		for _, l := range c.lines() {
			if n := len([]rune(l)); n > maxWords {
				t.Fatalf("a line has %d characters", n)
			}
			if l == textBlank {
				l = ""
			}
			whole.WriteString(l)
		}
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") } // spaces at ends are not heard
		if got, want := bare(whole.String()), bare(text); got != want {
			t.Fatalf("reads %q of %q", got, want)
		}
	})
}

func TestInterruptSaysThatNothingRuns(t *testing.T) {
	play(t, Options{}, func(s *stage) {
		s.hears()
		s.one(s.types("interrupt"), "error: no answer is being given")
		s.one(s.types("/interrupt"), "error: no answer is being given")
		if did := s.bot.done(); len(did) != 0 {
			t.Errorf("did %+v", did)
		}
		s.bot.change(func(n *core.Snapshot) { n.Busy = true })
		s.hears()
		s.one(s.types("interrupt"), "ok: so it is")
		s.one(s.types("/Interrupt"), "ok: so it is")
		if want := []command.Value{command.Interrupt{}, command.Interrupt{}}; !slices.Equal(s.bot.done(), want) {
			t.Errorf("did %+v", s.bot.done())
		}
	})
	play(t, Options{ReadOnly: true}, func(s *stage) {
		s.hears()
		s.one(s.types("/interrupt"), "this is read-only")
	})
}
