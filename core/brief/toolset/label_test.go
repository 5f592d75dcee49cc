package toolset

import (
	"encoding/json"
	"strings"
	"testing"
)

// P13
func TestACallIsAskedAboutInWordsOfWhatAPersonDecides(t *testing.T) {
	for _, tt := range []struct{ name, input, asks, text string }{
		{"mcp__discord__send_file", `{"file_path":"/data/charts/chart.png"}`, "Send you chart.png?", "at /data/charts/chart.png"},
		{"Bash", `{"command":"ls","description":"a harmless look","timeout":5}`, "Run this command?", "ls"},
		{"Bash", `{"command":"ls\nrm -rf ~","run_in_background":true}`, "Run this command?", "ls\nrm -rf ~\nrun_in_background: true"},
		{"Bash", `{"command":"ls \u001b[8m; rm -rf ~"}`, "Run this command?", "ls ; rm -rf ~"},
		{"Write", `{"file_path":"a.md","content":"x\ny"}`, "Write the file at a.md?", "x\ny"},
		{"Edit", `{"file_path":"a.md","old_string":"one\nsame","new_string":"two","replace_all":false}`, "Change the file at a.md?", "-one\n-same\n+two"},
		{"Edit", `{"file_path":"a.md","old_string":"","new_string":"two","replace_all":true}`, "Change the file at a.md?", "+two\nreplace_all: true"},
		{"Read", `{"file_path":"` + strings.Repeat("a", 100) + `"}`, "Read this file?", "at " + strings.Repeat("a", 100)},
		{"WebFetch", `{"url":"https://example.org","prompt":"sum it up"}`, "Open https://example.org?", "prompt: sum it up"},
		{"WebFetch", `{"url":"https://example.org\n/evil"}`, "Open this address?", "https://example.org\n/evil"},
		{"Task", `{"description":"look","prompt":"all of it"}`, "Hand this to a helper: look?", "prompt: all of it"},
		{"mcp__discord__add_reminder", `{"message":"tea","delay_minutes":20}`, "Add the reminder tea?", "delay_minutes: 20"},
		{"mcp__weather__forecast", `{"city":"Bonn","days":[1,2]}`, "Use forecast of weather?", "city: Bonn\ndays: [1,2]"},
		{"mcp__other__send_file", `{"file_path":"x"}`, "Use send_file of other?", "file_path: x"},
		{"mcp__a__b", `{"x":"1\nto: all","to":"one"}`, "Use b of a?", "to: one\nx: 1\n    to: all"}, // no line can pass for another argument
		{"Other", `{}`, "Use Other?", ""},
		{"Other", `no JSON`, "Use Other?", "no JSON"},
	} {
		asks, text := Question(tt.name, json.RawMessage(tt.input), func(p string) string { return "at " + p })
		if asks != tt.asks || text != tt.text {
			t.Errorf("%s %s asks %q with %q, want %q with %q", tt.name, tt.input, asks, text, tt.asks, tt.text)
		}
	}
}

func TestWhatHasToBeAllowedCanBeReadToItsEnd(t *testing.T) {
	content := strings.Repeat("line of a long file\n", 5000)
	input, err := json.Marshal(map[string]string{"file_path": "b.md", "content": content + "the \x1b[31mend"})
	must(t, err)
	as := func(p string) string { return p }
	if _, got := Question("Write", input, as); got != content+"the end" {
		t.Errorf("%d characters are shown, want %d; they end in %q", len(got), len(content)+7, got[max(0, len(got)-40):])
	}
	input, err = json.Marshal(map[string]string{"command": strings.Repeat("ä", maxText)})
	must(t, err)
	if _, got := Question("Bash", input, as); len(got) > maxText+200 || !strings.Contains(got, "more bytes cannot be shown") {
		t.Errorf("of a call without measure %d bytes are shown, ending in %q", len(got), got[max(0, len(got)-80):])
	}
}

func TestACallOfAFoundToolIsShownAsThatTool(t *testing.T) {
	input := json.RawMessage(`{"tool":"mcp__weather__forecast","arguments":{"city":"Bonn"}}`)
	if got := Label(Call, input); got != "weather/forecast" {
		t.Errorf("Label is %s", got)
	}
	if asks, text := Question(Call, input, nil); asks != "Use forecast of weather?" || text != "city: Bonn" {
		t.Errorf("a question shows %q with %q", asks, text)
	}
}
