package claudetest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// says returns a message with one text.
func says(role, text string) Message {
	return Message{Role: role, Text: text, Blocks: []Block{{Type: "text", Text: text}}}
}

func TestTheHistorySaysWhichStepIsNext(t *testing.T) {
	script := Script(Step{Text: "first"}, Step{Text: "second"}, Step{Text: "third"})
	inner := Script(Step{Text: "inner"})
	result := func(text string) Message {
		return Message{Role: "user", Blocks: []Block{{Type: "tool_result", Text: text}}}
	}
	for _, c := range []struct {
		name    string
		history []Message
		want    string // the text of the step; empty for none
	}{
		{"the begin", []Message{says("user", "please "+script+" now")}, "first"},
		{"one round of a tool loop", []Message{says("user", script), says("assistant", "a"), result("ok")}, "second"},
		{"two rounds", []Message{says("user", script), says("assistant", "a"), result("ok"), says("assistant", "b"), result("ok")}, "third"},
		{"behind the last step", []Message{says("user", Script(Step{Text: "only"})), says("assistant", "a"), says("user", "and?")}, ""},
		{"a prompt without a script continues", []Message{says("user", script), says("assistant", "a"), says("user", "and?")}, "second"},
		{"the newest script counts", []Message{says("user", script), says("assistant", "a"), says("user", inner)}, "inner"},
		{"an old script does not come back", []Message{says("user", script), says("assistant", "a"), says("user", inner), says("assistant", "b")}, ""},
		{"a result of a tool is no script", []Message{says("user", script), says("assistant", "a"), result(inner)}, "second"},
		{"an answer is no script", []Message{says("user", script), says("assistant", inner)}, "second"},
		{"a reminder is no script", []Message{says("user", script), says("system", inner)}, "first"},
		{"the last of two in one text", []Message{says("user", script+" and "+inner)}, "inner"},
		{"a script inside a script", []Message{says("user", Script(Step{Text: "outer", Tool: "Agent", Input: map[string]any{"prompt": inner}}))}, "outer"},
		{"a script in a string of JSON", []Message{says("user", `{"quoted":"`+strings.ReplaceAll(inner, `"`, `\"`)+`"}`)}, ""},
		{"the begin of a quoted script", []Message{says("user", "you said: "+script[:20])}, ""},
		{"the begin of a script before a whole one", []Message{says("user", "@@[ is how it begins: "+inner)}, "inner"},
		{"a good one after a bad one", []Message{says("user", `@@[{"txt":"x"}]@@`+"\n"+inner)}, "inner"},
		{"a part of a patch", []Message{says("user", "@@ -1,2 +1,2 @@ func main() {")}, ""},
		{"nothing", nil, ""},
	} {
		got, found, err := fromScript(c.history)
		if err != nil || found != (c.want != "") || got.Text != c.want {
			t.Errorf("%s: got %q, %v, %v; want %q", c.name, got.Text, found, err, c.want)
		}
	}
}

func TestAMisspeltScriptIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		`@@[{"txt":"x"}]@@`:                             "txt",
		`@@[{"text":1}]@@`:                              "text",
		`@@[{"text":"x"},]@@`:                           "script",
		`@@[{"retry_after":"soon"}]@@`:                  "soon",
		Script(Step{Text: "good"}) + ` @@[{"bad":1}]@@`: "bad",
	} {
		if _, _, err := fromScript([]Message{says("user", text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, it must name %q", text, err, want)
		}
	}
	s := &Server{failures: map[string]int{}}
	r := Request{Messages: []Message{says("user", `@@[{"txt":"x"}]@@`)}}
	if step := s.choose(r); step.Error != 400 || !strings.HasPrefix(step.ErrMsg, "fakeapi: ") {
		t.Errorf("it is answered with %+v", step)
	}
	bad := Script(Step{Tool: "Bash", Input: map[string]any{"x": func() {}}})
	if _, _, err := fromScript([]Message{says("user", bad)}); err == nil {
		t.Errorf("an input that is no JSON was taken as a script: %s", bad)
	}
}

// TestAScriptComesOutOfAPromptAsItWentIn writes random steps into a prompt and reads them back.
func TestAScriptComesOutOfAPromptAsItWentIn(t *testing.T) {
	testkit.Check(t, func(r *rapid.T) {
		str := rapid.StringMatching(`([a-z <>&"\\\n@\]\[{}ä🙂]|]@@|@@\[)*`)
		var steps []Step
		for range rapid.IntRange(1, 4).Draw(r, "steps") {
			s := Step{
				Text: str.Draw(r, "text"), Thinking: str.Draw(r, "thinking"),
				Error: rapid.IntRange(0, 599).Draw(r, "error"), DropAfter: rapid.IntRange(-1, 3).Draw(r, "drop"),
			}
			if rapid.Bool().Draw(r, "tool") {
				s.Tool, s.Input = "Agent", map[string]any{"prompt": Script(Step{Text: str.Draw(r, "inner")})}
			}
			steps = append(steps, s)
		}
		around := rapid.StringMatching(`[a-z (){}"@\n]*`).Filter(func(s string) bool { return !strings.HasSuffix(s, "@") })
		text := around.Draw(r, "before") + Script(steps...) + " " + around.Draw(r, "after")
		history := []Message{says("user", text)}
		for i, want := range steps {
			got, found, err := fromScript(history)
			if err != nil || !found {
				r.Fatalf("step %d of %q: %v, %v", i, text, found, err)
			}
			if d := cmp.Diff(want, got); d != "" {
				r.Fatalf("step %d (-written +read):\n%s", i, d)
			}
			history = append(history, says("assistant", "x"))
		}
	})
}

func TestPiecesAreWholeRunesOfAtLeastTheirSize(t *testing.T) {
	testkit.Check(t, func(r *rapid.T) {
		text := rapid.StringOfN(rapid.Rune(), 0, 2000, -1).Draw(r, "text")
		size := rapid.IntRange(0, 30).Draw(r, "size")
		list := pieces(text, size)
		if strings.Join(list, "") != text {
			r.Fatalf("the pieces of %q are %q", text, list)
		}
		for i, p := range list {
			if !utf8.ValidString(p) || i < len(list)-1 && len(p) < size || size > 0 && len(p) > size+utf8.UTFMax {
				r.Fatalf("piece %d of size %d is %q", i, size, p)
			}
		}
		if size == 0 && len(list) > 201 {
			r.Fatalf("%d bytes became %d pieces", len(text), len(list))
		}
	})
}

func TestACompactionGetsASummaryWhateverTheScriptSays(t *testing.T) {
	s := &Server{failures: map[string]int{}}
	history := []Message{
		says("user", Script(Step{Text: "one"}, Step{Text: "two"})), says("assistant", "one"),
		says("user", "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."),
	}
	if got := s.choose(Request{Messages: history}); !strings.Contains(got.Text, "<summary>\nA conversation of 3 messages") {
		t.Errorf("the answer is %q", got.Text)
	}
	later := append(history, says("user", "go on"))
	if got := s.choose(Request{Messages: later}); got.Text != "two" {
		t.Errorf("after the compaction: %q", got.Text)
	}
}
