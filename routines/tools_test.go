package routines

import (
	"strings"
	"testing"
)

func TestToolPatternsAreJudged(t *testing.T) {
	for _, c := range []struct {
		pattern  string
		severity Severity
		message  string
	}{
		{"", Error, "empty tool pattern"},
		{"  ", Error, "empty tool pattern"},
		{"Bash(*)", Error, "too broad"},
		{"Bash( ** )", Error, "too broad"},
		{"Bash(:*)", Error, "too broad"},
		{"Bash()", Error, "too broad"},
		{"Bash(ls; rm -rf /)", Error, "chaining"},
		{"Bash(ls && rm)", Error, "chaining"},
		{"Bash(cat x | sh)", Error, "chaining"},
		{"Bash(ollim-bot tasks *)", "", ""},
		{"Bash", "", ""},
		{"Write", "", ""},
		{"WebFetch", "", ""},
		{"mcp__discord__ping_user", "", ""},
		{"mcp__docs__*", "", ""},
		{"Read(*)", Warning, "overly broad"},
		{"Write(*)", Warning, "overly broad"},
		{"Read(**)", "", ""},
		{"Read(state/**)", "", ""},
		{"Write(**.md)", "", ""},
		{"Edit(./**.md)", "", ""},
		{"Write(*.json)", "", ""},
		{"Write(notes/**)", "", ""},
		{"Write(**)", Error, "the bot's own files"},
		{"Edit(./**)", Error, "the bot's own files"},
		{"Write(**.json)", Error, "the bot's own files"},
		{"Edit(*/*.json)", Error, "the bot's own files"},
		{"Write(state/**)", Error, "the bot's own files"},
		{"Write(**/state/**)", Error, "the bot's own files"},
		{"Write(./state/ping_budget.json)", Error, "the bot's own files"},
		{"Write(notes/../state/x.md)", Error, "the bot's own files"},
		{"Write(state)", Error, "the bot's own files"},
		{"Edit(**/ping_budget.json)", Error, "the bot's own files"},
		{"Edit(st?te/*)", Error, "the bot's own files"},
		{"Write(/**)", Error, "the bot's own files"},
		{"Write(~/**)", Error, "the bot's own files"},
		{"Write(~/.ollim-bot/state/*)", Error, "the bot's own files"},
		{"Write(//home/*/.ollim-bot/**)", Error, "the bot's own files"},
		{"Write(~/notes/**)", "", ""},
		{"Bash(ls", Warning, "not a tool pattern"},
		{"Read)x(", Warning, "not a tool pattern"},
	} {
		severity, message := CheckTool(c.pattern)
		if severity != c.severity || !strings.Contains(message, c.message) || (severity == "") != (message == "") {
			t.Errorf("%q: %q %q, want %q %q", c.pattern, severity, message, c.severity, c.message)
		}
	}
}

func TestAPatternForTheNameOfAnyStateFileReachesIt(t *testing.T) {
	for name := range strings.FieldsSeq(`bot.pid config.json credentials.json due_times.jsonl fork_messages.json fork_runs.jsonl holds.json inquiries.json mute.json
		pending_updates.json ping_budget.json pings.jsonl schedule.json session_history.jsonl sessions.json settings.json token.json`) {
		if severity, _ := CheckTool("Write(**/" + name + ")"); severity != Error {
			t.Errorf("a run may write %s", name)
		}
	}
}

func TestHostileToolPatternsTakeNoTime(t *testing.T) {
	CheckTool("Write(" + strings.Repeat("**/a*", 10_000) + ")")
}

// T7: MustCompile panicked on a pattern that is not UTF-8.
func TestAGlobOfBytesThatAreNotUTF8IsRead(t *testing.T) {
	for _, pattern := range []string{"\x80", "a\xff*", "**/\xc3"} {
		CheckTool("Read(" + pattern + ")")
		CheckTool("Write(" + pattern + ")")
		if Glob(pattern).MatchString("state/config.json") {
			t.Errorf("%q matches a file of another name", pattern)
		}
	}
	if !Glob("\x80*").MatchString("\x80.md") {
		t.Error("a name that is not UTF-8 is not matched by its own bytes")
	}
}
