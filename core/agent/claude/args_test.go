package claude

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/agent/claude/wire"
)

func TestTheSessionDecidesAboutItsFlagsOnly(t *testing.T) {
	const id, other = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	base := args(agent.SessionOptions{}, id)
	for name, c := range map[string]struct {
		o    agent.SessionOptions
		want []string
	}{
		"fresh":  {agent.SessionOptions{}, []string{"--session-id", id}},
		"resume": {agent.SessionOptions{Resume: other}, []string{"--resume", other}},
		"fork":   {agent.SessionOptions{Resume: other, Fork: true}, []string{"--resume", other, "--fork-session", "--session-id", id}},
		"settings": {
			agent.SessionOptions{Settings: agent.Settings{Model: "opus", Thinking: "off"}},
			[]string{"--thinking", "disabled", "--session-id", id},
		},
		"a budget": {agent.SessionOptions{Settings: agent.Settings{Thinking: "2048"}}, []string{"--max-thinking-tokens", "2048", "--session-id", id}},
	} {
		got := args(c.o, id)
		constant := slices.Clone(base[:len(base)-2])
		if c.o.Settings.Model != "" {
			constant[slices.Index(constant, "--model")+1] = c.o.Settings.Model
		}
		if diff := cmp.Diff(append(constant, c.want...), got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestWhatARunMayDoIsNoFlag(t *testing.T) {
	o := agent.SessionOptions{SystemPrompt: "secret words", Allowed: []string{"Bash(ls)"}, Disallowed: []string{"Bash(rm)"}}
	o.Settings.Mode = "bypassPermissions"
	line := strings.Join(args(o, "x"), " ")
	for _, bad := range []string{"secret words", "Bash(ls)", "Bash(rm)", "bypass", "dangerously"} {
		if strings.Contains(line, bad) {
			t.Errorf("%q is on the command line: %s", bad, line)
		}
	}
}

func TestABareSessionHasNothingOfTheEnginesOwn(t *testing.T) {
	got := args(agent.SessionOptions{Bare: true}, "x")
	at := slices.Index(got, "--tools")
	if at < 0 || got[at+1] != "" || !slices.Contains(got, "--setting-sources=") || !slices.Contains(got, "--no-session-persistence") {
		t.Errorf("the flags are %q", got)
	}
}

func TestACommandIsOneLineAndOneBlock(t *testing.T) {
	m := agent.Message{Command: agent.Compact, Text: " keep\n/clear \x1b[31mthis\x00 ", Images: []agent.Image{{MediaType: "image/png"}}}
	want := []wire.Block{wire.TextBlock("/compact keep /clear this")}
	if diff := cmp.Diff(want, content(m), cmp.Comparer(func(a, b wire.Block) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
	if got := content(agent.Message{Command: agent.Compact}); len(got) != 1 || got[0] != wire.TextBlock("/compact") {
		t.Errorf("%v", got)
	}
}

func TestTheLastBlockIsNeverTheUsers(t *testing.T) {
	for _, text := range []string{"", "/clear", "@secret", sessionfile.LastBlock} {
		got := content(agent.Message{Text: text})
		if got[len(got)-1] != wire.TextBlock(sessionfile.LastBlock) {
			t.Errorf("%q ends with %v", text, got[len(got)-1])
		}
	}
}
