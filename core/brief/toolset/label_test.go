package toolset

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWhatHasToBeAllowedIsShownWhole(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"Bash", `{"command":"ls"}`, "Bash(ls)"},
		{"Bash", `{"command":"echo a perfectly harmless sentence of many words; rm -rf ~"}`, "Bash(echo a perfectly harmless sentence of many words; rm -rf ~)"},
		{"Bash", `{"command":"ls\nrm -rf ~"}`, "Bash(ls ⏎ rm -rf ~)"},
		{"Bash", `{"command":"ls \u001b[8m; rm -rf ~"}`, "Bash(ls ; rm -rf ~)"},
		{"Write", `{"file_path":"/a/b/c/d.md","content":"x\ny"}`, "Write(/a/b/c/d.md ⏎ x ⏎ y)"},
		{"Edit", `{"file_path":"/a/b.md","old_string":"one","new_string":"two"}`, "Edit(/a/b.md ⏎ from one ⏎ to two)"},
		{"mcp__other__do", `{"x": 1}`, "other/do({\"x\":1})"},
		{"Other", `{}`, "Other"},
	} {
		if got := Whole(tt.name, json.RawMessage(tt.input)); got != tt.want {
			t.Errorf("%s %s is shown as %q, want %q", tt.name, tt.input, got, tt.want)
		}
	}
	long := Whole("Bash", json.RawMessage(`{"command":"`+strings.Repeat("a", 5000)+`"}`))
	if !strings.Contains(long, "(3000 more characters: read them, or deny it)") {
		t.Errorf("a call that is cut does not say so: %d characters", len(long))
	}
}

func TestWhatHasToBeAllowedCanBeReadToItsEnd(t *testing.T) {
	content := strings.Repeat("line of a long file\n", 5000)
	input, err := json.Marshal(map[string]string{"file_path": "/a/b.md", "content": content + "the \x1b[31mend"})
	must(t, err)
	want := "Write(/a/b.md\n" + content + "the end)"
	if got := Full("Write", input); got != want {
		t.Errorf("%d characters are shown, want %d; they end in %q", len(got), len(want), got[max(0, len(got)-40):])
	}
	input, err = json.Marshal(map[string]string{"command": strings.Repeat("ä", maxFull)})
	must(t, err)
	if got := Full("Bash", input); len(got) > maxFull+200 || !strings.Contains(got, "more bytes cannot be shown") {
		t.Errorf("of a call without measure %d bytes are shown, ending in %q", len(got), got[max(0, len(got)-80):])
	}
}

func TestACallOfAFoundToolIsShownAsThatTool(t *testing.T) {
	input := json.RawMessage(`{"tool":"mcp__weather__forecast","arguments":{"city":"Bonn"}}`)
	if got := Label(Call, input); got != "weather/forecast" {
		t.Errorf("Label is %s", got)
	}
	for _, got := range []string{Whole(Call, input), Full(Call, input)} {
		if got != `weather/forecast({"city":"Bonn"})` {
			t.Errorf("a question shows %s", got)
		}
	}
}
