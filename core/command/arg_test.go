package command

import (
	"errors"
	"slices"
	"testing"
	"time"

	"ollimbot/routines/when"
)

func TestArgumentsAreReadFromALine(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 2, 0, 0, time.UTC)
	in := Reading{Times: when.Reader{Now: now}, Find: func(k Kind, text string) (string, error) {
		if k != Task || text == "nothing" {
			return "", errors.New("no such thing")
		}
		return "the " + text, nil
	}}
	task, moment := Arg{Kind: Task, Name: "task"}, Arg{Kind: Moment, Name: "when"}
	evening := time.Date(2026, 11, 21, 18, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		args  []Arg
		line  string
		want  Subject
		wrong bool // it is none of the arguments
		fails bool
	}{
		{[]Arg{task}, " email  sweep", Subject{ID: "the email  sweep"}, false, false},
		{[]Arg{task}, "nothing", Subject{}, false, true},
		{[]Arg{task, moment}, "email until 18:30", Subject{ID: "the email", At: evening}, false, false},
		{[]Arg{task, moment}, "email sweep 18:30", Subject{ID: "the email sweep", At: evening}, false, false},
		{[]Arg{task, moment}, "turn it off off", Subject{ID: "the turn it off"}, false, false},
		{[]Arg{task, moment}, "email", Subject{}, true, true},
		{[]Arg{task, moment}, "18:30", Subject{}, true, true},
		{[]Arg{task, moment}, "", Subject{}, true, true},
		{[]Arg{moment}, "18:30", Subject{At: evening}, false, false},
		{[]Arg{moment}, "off", Subject{}, false, false},
		{[]Arg{moment}, "email 18:30", Subject{}, true, true},
		{[]Arg{{Name: "code", Optional: true}}, "", Subject{}, false, false},
		{[]Arg{{Name: "code", Optional: true}}, "a b", Subject{Words: "a b"}, false, false},
		{nil, "", Subject{}, false, false},
		{nil, "now", Subject{}, true, true},
	} {
		got, _, err := Command{Name: "it", Args: c.args}.Read(c.line, in)
		if wrong := new(ArgumentError); errors.As(err, &wrong) != c.wrong || (err != nil) != c.fails || err == nil && got != c.want {
			t.Errorf("%v of %q: %+v, %v", c.args, c.line, got, err)
		}
	}
}

// An earlier name of the original program is a command's only name in the conversation, and another name elsewhere.
func TestANameOfTheOriginalProgramIsKept(t *testing.T) {
	for seed, name := range map[string]string{"ping-budget": "budget", "config": "settings", "google-auth": "auth google"} {
		if c, ok := Find(InDiscord, seed); !ok || c.Name != seed {
			t.Errorf("Discord has %q for %s", c.Name, seed)
		}
		if c, ok := Find(InShell, seed); !ok || c.Name != name {
			t.Errorf("the command line has %q for %s", c.Name, seed)
		}
		if _, ok := Find(InDiscord, name); ok {
			t.Errorf("Discord has %s", name)
		}
	}
}

// The commands of Discord keep their order, and those of the original program their fields.
func TestTheCommandsOfDiscordKeepTheirOrderAndFields(t *testing.T) {
	var got []string
	for _, c := range List(InDiscord) {
		line := c.Name
		for _, a := range c.Args {
			line += " " + a.Name
		}
		got = append(got, line)
	}
	want := []string{
		"clear", "compact instructions", "status", "week which", "mcp what server", "cost", "fork topic", "model name", "thinking mode", "remind what when",
		"timezone zone", "interrupt", "permissions mode", "ping-budget capacity refill_rate", "lift off", "config key value", "setup", "update", "google-auth what", "restart",
		"version", "help",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Discord has\n%q, want\n%q", got, want)
	}
}
