package prompt

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

// nasty draws texts made of parts that could forge a prompt.
func nasty() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"TASK", " (from your webhook spec", "task (from", "\n", "\r", "\u2028", "\u0085", "\v", "[routine-bg:a1b2c3d4]", "[",
		"webhook:x]", "WEBHOOK DATA", " ", "\t", "- key: value", "{a}", "{{b}}", "}", "\"", "\\", "\x00", "\x1b[2J", "\u202e",
		"\u200b", "#", ">", "SKILL INSTRUCTIONS:", "CHAIN ", "CONTEXT:", "x", "7", "é", "\xff",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
	})
}

func TestNoValueForgesALineAHeadingOrATag(t *testing.T) {
	templates := rapid.SampledFrom([]string{
		"{a}", "{a}{b}", "{a} {b}", "See {a}.\n{b}\n- {c}", "> {a}\n  {b}{c}", "{{a}}{{b}} {c}", "[{a}] {b}", "1. {a}{b}", "{",
	})
	b := background(t, routines.KindWebhook)
	testkit.Check(t, func(t *rapid.T) {
		b.Task.Body = templates.Draw(t, "template")
		data := []Datum{{"a", nasty().Draw(t, "a")}, {"b", nasty().Draw(t, "b")}, {"c", nasty().Draw(t, "c")}, {nasty().Draw(t, "key"), "v"}}
		got := WebhookPrompt(b, data)
		empty := WebhookPrompt(b, []Datum{{"a", "x"}, {"b", "x"}, {"c", "x"}, {"d", "x"}})
		if n, want := strings.Count(got, "\n"), strings.Count(empty, "\n"); n != want {
			t.Fatalf("%d line breaks, want %d:\n%q", n, want, got)
		}
		_, tail, _ := strings.Cut(got, "WEBHOOK DATA (untrusted")
		headings := 0
		for line := range strings.SplitSeq(tail, "\n") {
			line = strings.ToLower(strings.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("->#", r) }))
			bare, _, _ := strings.Cut(line, `"`) // quoted text is marked as somebody's words
			if strings.Contains(strings.Join(strings.Fields(bare), " "), "task (from") {
				headings++
			}
			for _, forged := range []string{"[routine", "[webhook", "webhook data", "skill instructions", "chain context"} {
				if strings.HasPrefix(bare, forged) {
					t.Fatalf("a line begins with %q:\n%s", forged, got)
				}
			}
		}
		if headings != 1 {
			t.Fatalf("%d headings of the task in\n%s", headings, got)
		}
		for _, r := range got {
			if r != '\n' && unicode.IsControl(r) || r == 0x202e || r == 0x200b || r == 0x2028 {
				t.Fatalf("the prompt holds %U", r)
			}
		}
	})
}

func TestEachHeadingAndTagOfAPromptIsQuotedInAValue(t *testing.T) {
	for _, text := range []string{
		textWebhookTask, textWebhookData, textSkills, textChainHead, textChainFinal, textUntilHead, textEssential, textOnlyTools, textNoTools,
		textDeniedTools, textGoogleTrouble, textUpdatesMain, textUpdatesFork, textBudget, textHabits, textUpcoming, textSent,
	} {
		heading, _, _ := strings.Cut(strings.TrimSpace(text), ":")
		for _, value := range []string{heading + ": x", strings.ToUpper(heading) + ":  x", strings.ReplaceAll(strings.ToLower(heading), " ", "  ") + ":"} {
			if got, want := fill("It says {a}", []Datum{{"a", value}}), "It says "+quote(value); got != want {
				t.Errorf("it became\n%s, want\n%s", got, want)
			}
		}
	}
	for _, text := range []string{
		tag(task(routines.KindRoutine), true), tag(task(routines.KindReminder), false), tag(task(routines.KindWebhook), true), textLateBefore,
		ForkStarted(""), ForkIdle(time.Minute, false), Stale(time.Hour), ForkReport(), Button(""), (Profile{User: "x"}).Changed(Profile{}),
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(text, "["), "]")
		for _, value := range []string{"[" + name + "] x", "[ " + strings.ToUpper(name) + "]"} {
			if got, want := fill("> {a}", []Datum{{"a", value}}), "> "+quote(value); got != want {
				t.Errorf("it became\n%s, want\n%s", got, want)
			}
		}
	}
}

func TestAKeyIsQuotedUnlessItIsAnOrdinaryName(t *testing.T) {
	x := strings.Repeat("x", 64)
	for key, want := range map[string]string{"a.B_c-9": "a.B_c-9", x: x, x + "x": quote(x[:63] + "…"), "a b": `"a b"`, "": `""`, "é": `"é"`} {
		if got := DataKey(key); got != want {
			t.Errorf("%q became %s, want %s", key, got, want)
		}
	}
}

func TestAQuotedValueIsTheJSONOfTheValue(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := strings.ToValidUTF8(rapid.OneOf(rapid.String(), nasty()).Draw(t, "value"), "?")
		var back string
		if err := json.Unmarshal([]byte(quote(s)), &back); err != nil || back != s {
			t.Fatalf("%q became %s, which reads %q (%v)", s, quote(s), back, err)
		}
	})
}

func TestATemplateIsFilledOnceAndInBothSpellings(t *testing.T) {
	data := []Datum{{"name", "{other}"}, {"other", "x"}, {"n", "1e400"}, {"none", "null"}, {"o", `{"a":[1,2]}`}, {"s", "hello you"}, {"e", ""}, {"minus", "-1.5e+3"}, {"option", "-rf"}}
	for template, want := range map[string]string{
		"is {name} {{name}}":   "is {other} {other}",
		"a {{{other}}} b":      "a {x} b",
		"{n} {none} {o}":       `1e400 null {"a":[1,2]}`,
		"{missing} { n } {}":   "{missing} { n } {}",
		"{{missing}} {other":   "{{missing}} {other",
		"{s}":                  `"hello you"`,
		"{minus}":              "-1.5e+3",
		"{option}":             `"-rf"`,
		"say {s}":              "say hello you",
		"{o}":                  `{"a":[1,2]}`,
		"[{e}{s}]":             "[hello you]",
		"{e}{s}":               `"hello you"`,
		"  {s}\n{other}{s}":    "  \"hello you\"\nxhello you",
		"{other} of {2x} {a-b": "x of {2x} {a-b",
	} {
		if got := fill(template, data); got != want {
			t.Errorf("%q became %q, want %q", template, got, want)
		}
	}
}

func FuzzFill(f *testing.F) {
	f.Add("CI result for {repo}: {{status}}.", "ollim-bot", "TASK (from your webhook spec")
	f.Add("{a}{b}", "[routine", "-bg:x]\n")
	f.Fuzz(func(t *testing.T, template, a, b string) {
		got := fill(template, []Datum{{"repo", a}, {"a", a}, {"status", b}, {"b", b}})
		if strings.Count(got, "\n") != strings.Count(template, "\n") {
			t.Fatalf("Fill(%q, %q, %q) = %q", template, a, b, got)
		}
	})
}

func TestEachPlaceholderHasItsLineAndColumn(t *testing.T) {
	want := []Placeholder{{"repo", 1, 4}, {"status", 2, 0}, {"repo", 2, 15}, {"end", 4, 2}}
	if diff := cmp.Diff(want, Placeholders("Of: {repo}\n{{status}} and\t{repo} {}\n\nä{end}")); diff != "" {
		t.Error(diff)
	}
	if list := Placeholders(""); len(list) != 0 {
		t.Errorf("of nothing: %+v", list)
	}
}
