package dispatch

import (
	"errors"
	"strings"
	"testing"

	"ollimbot/routines"
)

func TestATaskSaysWhatItLacksBeforeItFires(t *testing.T) {
	around := Around{
		Model:  func(name string) error { return errors.New("no provider has it") },
		Skill:  func(name string) bool { return name == "review" },
		Server: func(name string) bool { return name == "files" },
	}
	for name, c := range map[string]struct {
		task routines.Task
		want []string
	}{
		"nothing":        {routines.Task{Model: "opus", Skills: []string{"review"}, Allowed: []string{"mcp__files__read", "mcp__discord__ping_user", "mcp__*", "Read(./**.md)"}}, nil},
		"its model":      {routines.Task{Model: "nowhere/x"}, []string{"nowhere/x cannot be asked (no provider has it)"}},
		"a skill":        {routines.Task{Skills: []string{"review", "gone"}}, []string{`skill "gone"`}},
		"a server, once": {routines.Task{Allowed: []string{"mcp__mail__read", "mcp__mail__send(*)"}}, []string{`MCP server "mail"`}},
	} {
		c.task.Background, c.task.Path = true, "routines/x.md"
		got := Lacks(c.task, around)
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i, w := range c.want {
			if !strings.Contains(got[i].Message, w) || got[i].Severity != routines.Warning || got[i].File != "routines/x.md" {
				t.Errorf("%s: %+v", name, got[i])
			}
		}
	}
	if got := Lacks(routines.Task{Allowed: []string{"mcp__mail__read"}}, around); got != nil {
		t.Errorf("a task of the conversation has its tools: %+v", got)
	}
}
