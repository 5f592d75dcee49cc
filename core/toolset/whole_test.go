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
		{"mcp__other__do", `{"x": 1}`, "do({\"x\":1})"},
		{"Other", `{}`, "Other"},
	} {
		if got := Whole(tt.name, json.RawMessage(tt.input)); got != tt.want {
			t.Errorf("%s %s is shown as %q, want %q", tt.name, tt.input, got, tt.want)
		}
	}
	long := Whole("Bash", json.RawMessage(`{"command":"`+strings.Repeat("a", 5000)+`"}`))
	if !strings.Contains(long, "too long") {
		t.Errorf("a call that is cut does not say so: %d characters", len(long))
	}
}
