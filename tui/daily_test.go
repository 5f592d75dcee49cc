package tui

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
)

// A dailyTask is something that people do in the dashboard every day, with the keys that it takes
// from the first screen. docs/keys.md lists the same tasks.
type dailyTask struct {
	name  string
	keys  []string // "text" stands for what is typed
	text  string
	check func(s *stage)
}

var dailyTasks = []dailyTask{
	{"allow one ping more", []string{"1", "+"}, "", shows("capacity 5 → 6")},
	{"mute pings for two hours", []string{":", "text", "enter"}, "mute 2h", shows("→ muted")},
	{"fire the next task", []string{"2", "f"}, "", carries(command.FireNow{ID: "aaaa1111", Stays: true})},
	{"find a task", []string{"2", "/", "text"}, "move", func(s *stage) { s.sees("Move a little"); s.misses("00:28") }},
	{"see a task's runs, pings and cost", []string{"2", "enter"}, "", shows("the last 20 of 120 runs")},
	{"start a new routine or reminder", []string{"2", "n"}, "", shows("A new routine or reminder")},
	{"read a whole update", []string{"3", "enter"}, "", shows("Left Friday")},
	{"discard an update", []string{"3", "x"}, "", discards},
	{"read what the newest run did", []string{"enter"}, "", shows("▸ tail: Email sweep")},
	{"list the runs that are done", []string{"4", "/", "text"}, "is:done", shows("▸ ✓ 31 Dec  Medication")},
	{"change a setting", []string{":", "text", "enter"}, "settings quiet_hours", shows("Quiet hours")},
	{"write to the bot", []string{"i", "text", "enter"}, "hello", carries(command.Say{Text: "hello"})},
	{"see the cost of each task and day", []string{"$"}, "", shows("▸ $ Costs")},
	{"see what happened while away", []string{"A"}, "", shows("▸ A ")},
}

func shows(text string) func(s *stage) { return func(s *stage) { s.sees(text) } }

func carries(want command.Value) func(s *stage) { return func(s *stage) { s.did(want) } }

func discards(s *stage) {
	if _, ok := s.bot.done()[0].(command.DiscardUpdate); !ok {
		s.t.Errorf("it did %v", s.bot.done())
	}
}

func TestTheTasksOfADayTakeAsManyKeysAsTheDocsSay(t *testing.T) {
	data, err := os.ReadFile("../docs/keys.md")
	testkit.Must(t, err)
	for _, task := range dailyTasks {
		t.Run(task.name, func(t *testing.T) {
			shown := make([]string, len(task.keys))
			for i, k := range task.keys {
				shown[i] = "`" + k + "`"
				if k == "text" {
					shown[i] = "`" + task.text + "`"
				}
			}
			if row := fmt.Sprintf("| %s | %s |", task.name, strings.Join(shown, " ")); !strings.Contains(strings.ToLower(string(data)), strings.ToLower(row)) {
				t.Errorf("docs/keys.md does not have the row %q", row)
			}
			play(t, setup{snap: busyForks}, func(s *stage) {
				for _, k := range task.keys {
					if k == "text" {
						s.types(task.text)
					} else {
						s.press(k)
					}
				}
				task.check(s)
			})
		})
	}
}
