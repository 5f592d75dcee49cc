package command

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

func TestQuotesKeepWordsTogether(t *testing.T) {
	for line, want := range map[string][]string{
		`fire email`: {"fire", "email"}, `  a  "b c" 'd "e' `: {"a", "b c", `d "e`}, `a ""`: {"a", ""}, `I don't know`: {"I", "don't", "know"}, "": nil,
		"a\u00a0b\nc": {"a", "b", "c"},
	} {
		if got, ok := Split(line); !ok || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", line, got, ok)
		}
	}
	if _, ok := Split(`say "hello`); ok {
		t.Error("an open quote is closed")
	}
	testkit.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-z \t"]{0,8}`)).Draw(rt, "words")
		line := ""
		for _, w := range words {
			line += " '" + w + "'"
		}
		if got, ok := Split(line); !ok || !slices.Equal(got, words) && len(words) > 0 {
			rt.Errorf("%q: %q", line, got)
		}
	})
}

func TestALineIsCarriedOutByTheCommandLine(t *testing.T) {
	var ran []string
	result, undo := agent.CommandResult{Stdout: "one\ntwo\n", Stderr: "ollim-bot: a note\n"}, Value(LiftCaps{})
	run := func(_ context.Context, args []string) (agent.CommandResult, Value) {
		ran = args
		return result, undo
	}
	in := Reading{Find: func(_ Kind, text string) (string, error) {
		if text != "email" {
			return "", errors.New("there is no " + text)
		}
		return "aaaa1111", nil
	}}
	out, err := Line{Text: `WEBHOOKS --json`}.CarryOut(t.Context(), run, in)
	if err != nil || strings.Join(ran, " ") != "WEBHOOKS --json" && strings.Join(ran, " ") != "webhook list --json" {
		t.Errorf("ran %q, %v", ran, err)
	}
	if out.Printed != "a note\none\ntwo" || out.Message != "a note" || out.Undo != undo {
		t.Errorf("%+v", out)
	}
	var no *NoLineError
	for _, line := range []string{"hello there", "run", `fire "x`, ""} { // run starts a bot
		ran = nil
		if _, err := (Line{Text: line}).CarryOut(t.Context(), run, in); !errors.As(err, &no) || ran != nil {
			t.Errorf("%q: %v, ran %q", line, err, ran)
		}
	}
	for _, line := range []string{"pause for a walk", "stop worrying about that", "preview of coming attractions", "cancel my subscription"} {
		ran = nil
		if _, err := (Line{Text: line}).CarryOut(t.Context(), run, in); !errors.As(err, &no) || ran != nil {
			t.Errorf("%q: %v, ran %q", line, err, ran)
		}
	}
	result = agent.CommandResult{Stderr: "ollim-bot: it takes a number\n", Exit: UsageStatus}
	if _, err := (Line{Text: "costs x"}).CarryOut(t.Context(), run, in); !errors.As(err, &no) || no.Why != "it takes a number" {
		t.Errorf("%v", err)
	}
	result = agent.CommandResult{Stderr: "ollim-bot: no such task\n", Exit: 1}
	if _, err := (Line{Text: "fire email"}).CarryOut(t.Context(), run, in); err == nil || errors.As(err, &no) || err.Error() != "no such task" {
		t.Errorf("%v", err)
	}
}

// Each thing is named by its ID, the beginning of it, its title or words of it, everywhere in the same way.
func TestThingsAreNamedByIDAndWords(t *testing.T) {
	things := []Thing{
		{ID: "aaaa1111", Title: "Email sweep"},
		{ID: "bbbb2222", Title: "Medication"},
		{ID: "cccc3333", Title: "Medication refill"},
		{ID: "dddd4444", Title: "bbbb2222"},
		{ID: "eeee5555", Title: "Email sweep", Off: true},
	}
	for text, want := range map[string]string{
		"medication": "bbbb2222", "REFILL medic": "cccc3333", "cccc": "cccc3333", "bbbb2222": "bbbb2222", "email": "aaaa1111", "medic": "", "ccc": "", "dentist": "",
	} {
		if got, err := PickOne("task", things, text, false); (err == nil) != (want != "") || got.ID != want {
			t.Errorf("%q names %+v, %v", text, got, err)
		}
	}
	if _, err := PickOne("task", things, "medic", false); err == nil || err.Error() != `"medic" names 2 tasks: Medication (bbbb2222); Medication refill (cccc3333)` {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]string{"email": "aaaa1111", "dentist": "dentist", "medic": ""} {
		if got, err := PickOrText("task", things, text, false); (err == nil) != (want != "") || got.ID != want {
			t.Errorf("%q names %+v or is an ID, %v", text, got, err)
		}
	}
	twice := []Thing{{ID: "r2", Title: "Tea"}, {ID: "r1", Title: "Tea"}}
	if got, err := PickOne("run", twice, "tea", true); err != nil || got.ID != "r2" {
		t.Errorf("%+v, %v", got, err)
	}
}

// What removes or stops something asks wherever a line is typed: the row decides.
func TestALineThatRemovesOrStopsSomethingAsksFirst(t *testing.T) {
	ran := 0
	run := func(context.Context, []string) (agent.CommandResult, Value) { ran++; return agent.CommandResult{}, nil }
	in := Reading{Find: func(Kind, string) (string, error) { return "aaaa1111", nil }}
	var asking []string
	for _, c := range List(InPlain) {
		if !c.Asks {
			continue
		}
		asking = append(asking, c.Name)
		if c.In&InShell == 0 || c.In&InDiscord != 0 {
			t.Errorf("%s asks where no line is carried out", c.Name)
		}
		ran = 0
		out, err := Line{Text: c.Name + " email"}.CarryOut(t.Context(), run, in)
		if err != nil || ran > 0 || !strings.HasPrefix(out.Follows, c.Name+" email: ") {
			t.Errorf("%s: %+v, %v, ran %d times", c.Name, out, err, ran)
		}
		if _, err := Sure(Line{Text: c.Name + " email"}).(Line).CarryOut(t.Context(), run, in); err != nil || ran != 1 {
			t.Errorf("%s, sure: %v, ran %d times", c.Name, err, ran)
		}
		h := Host{Line: func(ctx context.Context, l Line) (Outcome, error) { return l.CarryOut(ctx, run, in) }}
		if out, err := (Slash{Line: "/" + c.Name + " email"}).CarryOut(t.Context(), h); err != nil || out.Follows == "" || ran != 1 {
			t.Errorf("/%s: %+v, %v, ran %d times", c.Name, out, err, ran)
		}
	}
	if want := "stop routine cancel reminder cancel cancel tasks delete cal delete"; strings.Join(asking, " ") != want {
		t.Errorf("%q ask, want %q", asking, want)
	}
}
