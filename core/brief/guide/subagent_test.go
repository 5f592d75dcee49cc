package guide

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/store/storetest"
)

// The original's five subagents, with our own command for past sessions.
func TestTheFiveSubagentsHaveTheModelsAndToolsOfTheSpec(t *testing.T) {
	d := installed(t)
	got, problems := Subagents(d)
	if len(problems) > 0 {
		t.Errorf("problems: %+v", problems)
	}
	want := []Subagent{
		{Name: "gmail-reader", Model: "sonnet", Tools: []string{"Bash(ollim-bot gmail *)"}},
		{Name: "history-reviewer", Model: "sonnet", Tools: []string{"Bash(ollim-bot history *)"}},
		{Name: "ollim-bot-guide", Model: "haiku", Tools: []string{
			"mcp__docs__*", "WebFetch", "Read(**.md)", "Glob(**.md)", "Grep(**.md)", "Bash(ollim-bot help)", "Bash(ollim-bot routine list)", "Bash(ollim-bot reminder list)",
		}},
		{Name: "responsiveness-reviewer", Model: "sonnet", Tools: []string{
			"Bash(ollim-bot history *)", "Bash(ollim-bot routine *)", "Bash(ollim-bot reminder *)",
		}},
		{Name: "user-proxy", Model: "haiku", Tools: []string{"Read(**.md)", "Glob(**.md)", "Grep(**.md)", "Bash(ollim-bot history *)"}},
	}
	for i := range want {
		want[i].Path = ".claude/agents/" + want[i].Name + ".md"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A subagent's tools allow everything its text asks it to use.
func TestASubagentsTextNamesOnlyWhatItsToolsAllow(t *testing.T) {
	d := installed(t)
	agents, _ := Subagents(d)
	for _, a := range agents {
		for _, span := range spans(storetest.Text(t, d, a.Path)) {
			switch {
			case strings.HasPrefix(span, "ollim-bot "):
				words := strings.Fields(span)
				if !slices.Contains(a.Tools, "Bash("+span+")") && !slices.Contains(a.Tools, "Bash(ollim-bot "+words[1]+" *)") {
					t.Errorf("%s is asked to run %q and may not", a.Name, span)
				}
			case strings.HasPrefix(span, "mcp__docs__"):
				if !slices.Contains(a.Tools, "mcp__docs__*") {
					t.Errorf("%s is asked to call %s and may not", a.Name, span)
				}
			case strings.HasPrefix(span, toolset.Prefix):
				t.Errorf("%s is asked to call %s: the bot's tools are not for subagents", a.Name, span)
			}
		}
	}
}

func TestSubagentsOfTheUserAreReadAsTheyCome(t *testing.T) {
	d := prepared(t)
	for name, text := range map[string]string{
		"a-list.md":   "---\nname: lister\ntools:\n  - Read\n  - \" Grep(./**.md) \"\n  - \"\"\n---\nx",
		"b-comma.md":  "---\ntools: Read,  WebFetch ,\n---\nx",
		"c-none.md":   "---\nname: bare\nmodel: opus\n---\nx",
		"d-broken.md": "no front matter",
		"e-broad.md":  "---\ntools: Bash(*), Write(**)\n---\nx",
		"f-odd.md":    "---\nname:\n  a: b\ntools:\n  a: b\n---\nx",
		"notes.txt":   "---\ntools: Bash\n---\nx",
	} {
		storetest.Put(t, d, ".claude/agents/"+name, text)
	}
	got, problems := Subagents(d)
	at := func(name string) string { return ".claude/agents/" + name + ".md" }
	want := []Subagent{
		{Name: "lister", Tools: []string{"Read", "Grep(./**.md)"}, Path: at("a-list")},
		{Name: "b-comma", Tools: []string{"Read", "WebFetch"}, Path: at("b-comma")},
		{Name: "bare", Model: "opus", Path: at("c-none")},
		{Name: "e-broad", Tools: []string{"Bash(*)", "Write(**)"}, Path: at("e-broad")},
		{Name: "f-odd", Path: at("f-odd")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var said []string
	for _, p := range problems {
		said = append(said, fmt.Sprintf("%s:%d:%d %s", p.File, p.Line, p.Column, p.Severity))
	}
	if want := []string{at("d-broken") + ":1:1 warning", at("e-broad") + ":2:8 warning", at("e-broad") + ":2:8 warning"}; !slices.Equal(said, want) {
		t.Errorf("problems %q, want %q", said, want)
	}
}
