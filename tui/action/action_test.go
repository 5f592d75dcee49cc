package action

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/budget"
	"ollimbot/core/fork"
	"ollimbot/core/updates"
	"ollimbot/routines"
)

var update = flag.Bool("update", false, "write docs/keys.md")

func TestNoKeyMeansTwoThingsInOnePane(t *testing.T) {
	for _, p := range Panes {
		seen := map[string]ID{}
		for _, a := range append(Of(Everywhere), Of(p)...) {
			for _, k := range a.Keys {
				if other, taken := seen[k]; taken {
					t.Errorf("%s: %q is %s and %s", p, k, other, a.ID)
				}
				seen[k] = a.ID
			}
		}
	}
}

func TestEveryIDIsUniqueInItsPane(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range All() {
		key := string(a.Pane) + " " + string(a.ID)
		if seen[key] {
			t.Errorf("%s stands twice", key)
		}
		seen[key] = true
	}
}

func TestEveryRowSaysWhatItIs(t *testing.T) {
	for _, a := range All() {
		if a.Title == "" || a.Short == "" || len(a.Keys) == 0 || !strings.Contains(string(a.ID), ".") {
			t.Errorf("row %+v is not whole", a)
		}
		if a.Pane != Everywhere && !slices.Contains(Panes, a.Pane) {
			t.Errorf("%s: no pane %q", a.ID, a.Pane)
		}
		if strings.HasSuffix(a.Title, ".") || a.Title[:1] != strings.ToUpper(a.Title[:1]) {
			t.Errorf("%s: title %q", a.ID, a.Title)
		}
	}
}

func TestAPairIsTheNextRowOfTheSamePane(t *testing.T) {
	all := All()
	for i, a := range all {
		if a.Pair == "" {
			continue
		}
		if i+1 == len(all) || all[i+1].ID != a.Pair || all[i+1].Pane != a.Pane || !all[i+1].Quiet {
			t.Errorf("%s pairs with %s, which does not follow or is not quiet", a.ID, a.Pair)
		}
	}
}

func TestWhatChangesTheBotIsMarked(t *testing.T) {
	want := []ID{
		CapacityUp, CapacityDown, RefillDown5, RefillUp5, RefillDown1, RefillUp1, Exact,
		ScheduleFire, UpdatesDiscard, ForksStop, ChatWrite, ChatSend, Undo,
	}
	var got []ID
	for _, a := range All() {
		if a.Writes {
			got = append(got, a.ID)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rows that write (-want +got):\n%s", d)
	}
}

func TestTheNumberKeysAreThePanesInOrder(t *testing.T) {
	for i, p := range Panes {
		key := string(rune('1' + i))
		a, ok := ByKey(Logs, key)
		if !ok || !strings.EqualFold(string(a.ID), "go."+string(p)) {
			t.Errorf("%s is %s, want go.%s", key, a.ID, p)
		}
		if p.Number() != i+1 {
			t.Errorf("%s has the number %d", p, p.Number())
		}
	}
	if Everywhere.Number() != 0 {
		t.Error("Everywhere is no pane")
	}
}

func TestAKeyIsLookedUpInItsPane(t *testing.T) {
	for _, c := range []struct {
		pane Pane
		key  string
		want ID
	}{
		{Budget, "+", CapacityUp},
		{Schedule, "k", ScheduleUp},
		{Forks, "k", ForksStop},
		{Logs, "k", TailUp},
		{Chat, "q", Quit},
		{Budget, "f", ""},
	} {
		a, ok := ByKey(c.pane, c.key)
		if a.ID != c.want || ok != (c.want != "") {
			t.Errorf("%s in %s is %q, want %q", c.key, c.pane, a.ID, c.want)
		}
	}
}

func TestEffectsAreComputedFromTheSnapshot(t *testing.T) {
	s := core.Snapshot{Budget: core.BudgetView{State: budget.State{Capacity: 5, RefillRateMinutes: 3}}}
	for _, c := range []struct {
		id   ID
		want string
	}{
		{CapacityUp, "5→6"},
		{CapacityDown, "5→4"},
		{RefillDown5, "3→1"},
		{RefillUp5, "3→8"},
		{RefillDown1, "3→2"},
		{RefillUp1, "3→4"},
	} {
		a, _ := Get(Budget, c.id)
		if got := a.Hint(s); got != c.want {
			t.Errorf("%s: %q, want %q", c.id, got, c.want)
		}
	}
}

func TestWhatCannotBeDoneSaysWhy(t *testing.T) {
	empty := core.Snapshot{Budget: core.BudgetView{State: budget.State{Capacity: 0, RefillRateMinutes: 1}}}
	whole := core.Snapshot{
		Budget:   core.BudgetView{State: budget.State{Capacity: 1, RefillRateMinutes: 2}},
		Schedule: core.ScheduleView{Entries: []routines.Entry{{ID: "x"}}},
		Updates:  []updates.Update{{Key: "u"}},
		Forks:    []fork.View{{ID: "f", State: fork.Done}, {ID: "g", State: fork.Waiting}},
	}
	seen := 0
	for _, a := range All() {
		if a.Off == nil {
			continue
		}
		seen++
		if a.Off(empty) == "" {
			t.Errorf("%s can be used where there is nothing", a.ID)
		}
		if why := a.Off(whole); why != "" {
			t.Errorf("%s is off: %s", a.ID, why)
		}
	}
	if seen < 10 {
		t.Errorf("only %d rows say when they are off", seen)
	}
	stop, _ := Get(Forks, ForksStop)
	if stop.Off(core.Snapshot{Forks: []fork.View{{State: fork.Done}}}) == "" {
		t.Error("a finished run cannot be stopped")
	}
}

func TestKeysAreNamedForPeople(t *testing.T) {
	a, _ := Get(Schedule, ScheduleUp)
	if got := a.KeyNames(false); got != "↑ k" {
		t.Errorf("got %q", got)
	}
	for _, a := range All() {
		for _, r := range a.KeyNames(true) {
			if r > 0x7e {
				t.Errorf("%s: %q is not ASCII", a.ID, a.KeyNames(true))
			}
		}
	}
}

func TestTheTableCannotBeChangedFromOutside(t *testing.T) {
	All()[0].Title = "changed"
	if All()[0].Title == "changed" {
		t.Error("All gives away the table itself")
	}
}

func TestDocsKeysIsTheTable(t *testing.T) {
	const path = "../../docs/keys.md"
	if *update {
		if err := os.WriteFile(path, []byte(Document()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(got), Document()); d != "" {
		t.Errorf("docs/keys.md is stale; write it with: go test ./tui/action -update\n%s", d)
	}
}
