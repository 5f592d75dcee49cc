package dispatch

import (
	"errors"
	"strings"
	"testing"

	"ollimbot/core/work/google"
	"ollimbot/routines"
)

func TestATaskSaysWhatItLacksBeforeItFires(t *testing.T) {
	around := Around{
		Model:  func(name string) error { return errors.New("no provider has it") },
		Skill:  func(name string) bool { return name == "review" },
		Server: func(name string) bool { return name == "files" },
	}
	none := google.State{Kind: google.NotSetUp, Why: "log in first"}
	part := google.State{Kind: google.Connected, Scopes: []string{string(google.Tasks), string(google.Calendar)}}
	all := []string{"Bash(ollim-bot help)", "Bash(ollim-bot tasks:*)", "Bash(ollim-bot cal today)", "Agent(gmail-reader)", "Bash(ollim-bot gmail *)"}
	for name, c := range map[string]struct {
		task  routines.Task
		login google.State
		want  []string
	}{
		"nothing": {
			routines.Task{Model: "opus", Skills: []string{"review"}, Allowed: []string{"mcp__files__read", "mcp__discord__ping_user", "mcp__*", "Read(./**.md)", "Bash(ollim-bot *)"}},
			none, nil,
		},
		"its model":       {routines.Task{Model: "nowhere/x"}, none, []string{"no model: it cannot run: its model nowhere/x cannot be asked (no provider has it)"}},
		"a skill":         {routines.Task{Skills: []string{"review", "gone"}}, none, []string{`no skill: it runs without the skill "gone"`}},
		"a server, once":  {routines.Task{Allowed: []string{"mcp__mail__read", "mcp__mail__send(*)"}}, none, []string{`no server: it runs without the MCP server "mail"`}},
		"a login, once":   {routines.Task{Allowed: all}, none, []string{"no login: it runs without your Google tasks, calendar, mail: log in first"}},
		"the mail of one": {routines.Task{Allowed: all}, part, []string{"no login: it runs without your Google mail: you have not allowed access to mail: allow it with /google-auth mail"}},
		"two parts of one": {
			routines.Task{Allowed: all},
			google.State{Kind: google.Connected, Scopes: []string{string(google.Calendar)}},
			[]string{"your Google tasks: you have not allowed access to tasks", "your Google mail: you have not allowed access to mail"},
		},
		"no login needed":  {routines.Task{Allowed: all[:3]}, part, nil},
		"Google is away":   {routines.Task{Allowed: all}, google.State{Kind: google.Unreachable, Why: "no network"}, nil},
		"a login that was": {routines.Task{Allowed: all[1:2]}, google.State{Kind: google.Lapsed, Why: "it has expired"}, []string{"no login: it runs without your Google tasks: it has expired"}},
	} {
		c.task.Background, c.task.Path = true, "routines/x.md"
		around.Google = c.login
		got := Lacks(c.task, around)
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i, w := range c.want {
			if !strings.Contains(got[i].Lacks+": "+got[i].Message, w) || got[i].Severity != routines.Warning || got[i].File != "routines/x.md" {
				t.Errorf("%s: %+v", name, got[i])
			}
		}
	}
	if got := Lacks(routines.Task{Allowed: []string{"mcp__mail__read"}}, around); got != nil {
		t.Errorf("a task of the conversation has its tools: %+v", got)
	}
}
