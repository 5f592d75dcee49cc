package tui

import (
	"os"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/tui/tuitest"
)

// What people do in the dashboard every day takes the keys that docs/keys.md lists, from the first screen.
func TestTheTasksOfADayTakeAsManyKeysAsTheDocsSay(t *testing.T) {
	data, err := os.ReadFile("../docs/keys.md")
	testkit.Must(t, err)
	for _, task := range []struct{ name, keys, then string }{
		{"allow one ping more", `1 +`, "capacity 5 → 6"},
		{"mute pings for two hours", `: "mute 2h" enter`, "→ muted"},
		{"fire the next task", `2 f`, "did FireNow ID=aaaa1111 Stays=true"},
		{"find a task", `2 / "move"`, "Move a little | !00:28"},
		{"see a task's runs, pings and cost", `2 enter`, "the last 20 of 120 runs"},
		{"start a new routine or reminder", `2 n`, "A new routine or reminder"},
		{"read a whole update", `3 enter`, "Left Friday"},
		{"discard an update", `3 x`, "did DiscardUpdate …"},
		{"read what the newest run did", `enter`, "▸ tail: Email sweep"},
		{"list the runs that are done", `4 / "is:done"`, "▸ ✓ 31 Dec  Medication"},
		{"change a setting", `: "settings quiet_hours" enter`, "Quiet hours"},
		{"write to the bot", `i "hello" enter`, "did Say Text=hello"},
		{"see the cost of each task and day", `$`, "▸ $ Costs"},
		{"see what happened while away", `A`, "▸ A "},
	} {
		var shown []string
		for step := range tuitest.Steps(task.keys) {
			for _, k := range step.Inputs {
				shown = append(shown, "`"+strings.Trim(k, `"`)+"`")
			}
		}
		if row := "| " + task.name + " | " + strings.Join(shown, " ") + " |"; !strings.Contains(strings.ToLower(string(data)), strings.ToLower(row)) {
			t.Errorf("docs/keys.md does not have the row %q", row)
		}
		tell(t, []story{{task.name, setup{snap: busyForks}, task.keys + " => " + task.then}})
	}
}
