package toolset

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
	"ollimbot/core/base/visible"
)

// inData returns where a path of the data directory leads.
func inData(p string) string { return visible.Path(strings.TrimPrefix(p, "/data/")) }

// P13
func TestACallIsAskedAboutInWordsOfWhatAPersonDecides(t *testing.T) {
	for _, tt := range []struct{ name, input, asks, text string }{
		{"mcp__discord__send_file", `{"file_path":"/data/charts/chart.png"}`, "Send you chart.png?", "⟦file_path:⟧ charts/chart.png"},
		{"Bash", `{"command":"ls","description":"a harmless look","timeout":5}`, "Run this command?", "ls\n⟦timeout:⟧ 5"},
		{"Bash", `{"command":"ls\nrm -rf ~","run_in_background":true}`, "Run this command?", "ls\nrm -rf ~\n⟦run_in_background:⟧ true"},
		{"Bash", `{"command":"ls \u001b[8m; rm -rf ~"}`, "Run this command?", `ls ⟦\x1b⟧[8m; rm -rf ~`},
		{"Bash", `{"command":""}`, "Run this command?", `⟦command:⟧ ""`},
		{"Write", `{"file_path":"a.md","content":"x\ny"}`, "Write the file a.md?", "x\ny⟦no line break at the end⟧"},
		{"Write", `{"file_path":"/data/a.md","content":"x\ny\n"}`, "Write the file a.md?", "x\ny"},
		{"Write", `{"file_path":"b/../a.md","content":""}`, "Write the file b/../a.md?", "⟦an empty file⟧"},
		{"Write", `{"file_path":"a.md","content":"\n"}`, "Write the file a.md?", "⟦one line break⟧"},
		{"Write", `{"file_path":"a.md","content":"Likes tea.\udb40\udc41\n"}`, "Write the file a.md?", "Likes tea.⟦U+E0041⟧"},
		{"Edit", `{"file_path":"a.md","old_string":"one\nsame","new_string":"two","replace_all":false}`, "Change the file a.md?", "-one\n-same\n+two"},
		{"Edit", `{"file_path":"a.md","old_string":"","new_string":"two\n","replace_all":true}`, "Change the file a.md?", "-\n+two⟦\\n⟧\n⟦replace_all:⟧ true"},
		{"Read", `{"file_path":"` + strings.Repeat("a", 100) + `"}`, "Read this file?", "⟦file_path:⟧ " + strings.Repeat("a", 100)},
		{"Read", `{"file_path":"a\nb"}`, `Read the file a⟦\n⟧b?`, ""},
		{"WebFetch", `{"url":"https://example.org","prompt":"sum it up"}`, "Open https://example.org?", "⟦prompt:⟧ sum it up"},
		{"WebFetch", `{"url":"https://ex\u0430mple.org"}`, "Open https://ex⟦U+0430⟧mple.org?", ""},
		{"WebFetch", `{"url":"https://example.org\n/evil"}`, "Open this address?", "⟦url:⟧ https://example.org\n/evil"},
		{"Task", `{"description":"look","prompt":"all of it"}`, "Hand this to a helper: look?", "⟦prompt:⟧ all of it"},
		{"mcp__discord__add_reminder", `{"prompt":"tea","delay_minutes":20}`, "Add the reminder tea?", "⟦delay_minutes:⟧ 20"},
		{"mcp__discord__add_reminder", `{"prompt":"a\nb"}`, "Add this reminder?", "⟦prompt:⟧ a\nb"},
		{"mcp__discord__cancel_reminder", `{"reminder_id":"a1"}`, "Cancel the reminder a1?", ""},
		{"mcp__discord__cancel_reminder", `{}`, "Cancel this reminder?", ""},
		{"mcp__discord__update_names", `{"user_name":"Sam","bot_name":"Bo"}`, "Change these names?", "⟦bot_name:⟧ Bo\n⟦user_name:⟧ Sam"},
		{"mcp__discord__send_file", `{}`, "Send you this file?", ""},
		{"Read", `{"file_path":"b.md"}`, "Read the file b.md?", ""},
		{"Write", `{"content":"x\n"}`, "Write this file?", "x"},
		{"Edit", `{}`, "Change this file?", ""},
		{"Grep", `{"pattern":"tea","path":"notes"}`, "Search files for tea?", "⟦path:⟧ notes"},
		{"Grep", `{}`, "Search files for this?", ""},
		{"Glob", `{"pattern":"*.md"}`, "List the files *.md?", ""},
		{"Glob", `{}`, "List these files?", ""},
		{"WebSearch", `{"query":"tea"}`, "Search the web for tea?", ""},
		{"WebSearch", `{"query":"` + strings.Repeat("a", 80) + `"}`, "Search the web for " + strings.Repeat("a", 80) + "?", ""},
		{"WebSearch", `{"query":"` + strings.Repeat("a", 81) + `"}`, "Search the web for this?", "⟦query:⟧ " + strings.Repeat("a", 81)},
		{"Task", `{}`, "Hand this to a helper?", ""},
		{"Agent", `{"description":"look"}`, "Hand this to a helper: look?", ""},
		{"Agent", `{}`, "Hand this to a helper?", ""},
		{"Skill", `{"skill":"tidy"}`, "Use the skill tidy?", ""},
		{"Skill", `{}`, "Use this skill?", ""},
		{"mcp__weather__forecast", `{"city":"Bonn","days":[1,2]}`, "Use forecast of weather?", "⟦city:⟧ Bonn\n⟦days:⟧ [1,2]"},
		{"mcp__weather__forecast", `{"city":"true","days":9007199254740993}`, "Use forecast of weather?", "⟦city:⟧ \"true\"\n⟦days:⟧ 9007199254740993"},
		{"mcp__other__send_file", `{"file_path":"x"}`, "Use send_file of other?", "⟦file_path:⟧ x"},
		{"mcp__a__b", `{"x":"1\n⟦to:⟧ all","to":"one"}`, "Use b of a?", "⟦to:⟧ one\n⟦x:⟧ 1\n⟦U+27E6⟧to:⟦U+27E7⟧ all"}, // no line can pass for another argument
		{"Other", `{}`, "Use Other?", ""},
		{"Other", `no JSON`, "Use Other?", "⟦unreadable arguments⟧no JSON"},
	} {
		asks, text := Question(tt.name, json.RawMessage(tt.input), inData)
		if asks != tt.asks || text != tt.text {
			t.Errorf("%s %s asks %q with %q, want %q with %q", tt.name, tt.input, asks, text, tt.asks, tt.text)
		}
	}
}

// pictured draws calls that resemble one another: the same tools, arguments and pieces of text.
func pictured() *rapid.Generator[agent.ToolUse] {
	piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"a", "echo ", "\n", "-", "+", " ", "\x1b]", "\a", "\u200b", "\u202e", "\U000e0041", "⟦timeout:⟧ 5", "\n⟦timeout:⟧ 5", "true", "5", "\"a\"", "⏎",
		"⟦no line break at the end⟧", `\x1b`, "U+200B", "/", "../", "\ufffd", "e\u0301", "é", "\u0430", "null", "{}", "[]", "a\nb",
	}))
	text := rapid.Map(rapid.SliceOfN(piece, 0, 4), func(list []string) any { return strings.Join(list, "") })
	value := rapid.OneOf(text, text, rapid.SampledFrom([]any{true, nil, 5, 5.5, []any{"a", "b"}, []any{"a\",\"b"}, map[string]any{"a": "b"}, int64(1) << 60}))
	keys := []string{"command", "file_path", "content", "old_string", "new_string", "url", "timeout", "prompt", "replace_all", "a", "a:⟧ b⟦", "\\x1b", ""}
	names := []string{"Bash", "Write", "Edit", "MultiEdit", "Read", "WebFetch", "Grep", "Agent", "mcp__discord__send_file", "mcp__discord__add_reminder", "mcp__a__b", "mcp__a__c"}
	return rapid.Custom(func(t *rapid.T) agent.ToolUse {
		name := rapid.SampledFrom(names).Draw(t, "tool")
		input, err := json.Marshal(rapid.MapOfN(rapid.SampledFrom(keys), value, 0, 4).Draw(t, "input"))
		if err != nil {
			t.Fatal(err)
		}
		return agent.ToolUse{Name: name, Input: input}
	})
}

// A0: two different calls never have the same picture.
func TestDifferentCallsHaveDifferentPictures(t *testing.T) {
	known, calls := map[string]agent.ToolUse{}, 0
	testkit.Check(t, func(t *rapid.T) {
		for _, u := range rapid.SliceOfN(pictured(), 1, 30).Draw(t, "calls") {
			calls++
			asks, text := Question(u.Name, u.Input, visible.Path)
			if clean.Text(asks+"\n"+text) != asks+"\n"+text || strings.TrimSpace(asks) != asks || strings.TrimSpace(text) != text {
				t.Fatalf("%s %s is changed where it is shown: %q, %q", u.Name, u.Input, asks, text)
			}
			picture := asks + "\x00" + text
			if other, ok := known[picture]; ok && other.Digest() != u.Digest() {
				t.Fatalf("%s %s looks like %s %s: %q", u.Name, u.Input, other.Name, other.Input, picture)
			}
			known[picture] = u
		}
	})
	t.Logf("%d calls with %d pictures", calls, len(known))
}

func TestWhatHasToBeAllowedCanBeReadToItsEnd(t *testing.T) {
	for _, content := range []string{
		strings.Repeat("line of a long file\n", 5000) + "the end\n", strings.Repeat("echo harmless ; ", 12_500), "a" + strings.Repeat("\u0301", 10_000) + "\x00\r",
	} {
		input, err := json.Marshal(map[string]string{"file_path": "b.md", "content": content})
		testkit.Must(t, err)
		want := visible.Text(strings.TrimSuffix(content, "\n"))
		if _, got := Question("Write", input, inData); !strings.HasPrefix(got, want) || len(got) < len(content)-1 {
			t.Errorf("%d characters are shown, want %d; they end in %q", len(got), len(want), got[max(0, len(got)-40):])
		}
	}
}

func TestACallOfAFoundToolIsShownAsThatTool(t *testing.T) {
	input := json.RawMessage(`{"tool":"mcp__weather__forecast","arguments":{"city":"Bonn"}}`)
	if got := Label(Call, input); got != "weather/forecast" {
		t.Errorf("Label is %s", got)
	}
	if asks, text := Question(Call, input, nil); asks != "Use forecast of weather?" || text != "⟦city:⟧ Bonn" {
		t.Errorf("a question shows %q with %q", asks, text)
	}
}
