package action

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/updates"
	"ollimbot/routines/schedule"
)

// rules say what is wrong with a row of the table; empty if nothing is.
var rules = map[string]func(all []Action, i int) string{
	"its ID is unique in its pane": func(all []Action, i int) string {
		if slices.ContainsFunc(all[:i], func(b Action) bool { return b.ID == all[i].ID && b.Pane == all[i].Pane }) {
			return "there is another one"
		}
		return ""
	},
	"it is whole": func(all []Action, i int) string {
		a := all[i]
		known := a.Pane == Everywhere || slices.Contains(AllPanes, a.Pane)
		if a.Title == "" || a.Short == "" || !strings.Contains(string(a.ID), ".") || !known || strings.HasSuffix(a.Title, ".") || a.Title[:1] != strings.ToUpper(a.Title[:1]) {
			return fmt.Sprintf("it is %+v", a)
		}
		return ""
	},
	"without keys it is quiet and of no pane": func(all []Action, i int) string {
		if a := all[i]; len(a.Keys) == 0 && (a.Pane != Everywhere || !a.Quiet) {
			return "it can be found in the palette alone"
		}
		return ""
	},
	// A title is read at a glance and never cut: the palette shows the pane before it.
	"its title is a few words": func(all []Action, i int) string {
		if n := len(strings.Fields(all[i].Title)); n < 2 || n > 4 || len(all[i].Name()) > 48 {
			return "it is " + all[i].Name()
		}
		return ""
	},
	"its pair is the next row of its pane": func(all []Action, i int) string {
		a := all[i]
		if a.Pair != "" && (i+1 == len(all) || all[i+1].ID != a.Pair || all[i+1].Pane != a.Pane || !all[i+1].Quiet) {
			return string(a.Pair) + " does not follow, or is not quiet"
		}
		return ""
	},
	"a row over another one is off at times and is over something": func(all []Action, i int) string {
		a := all[i]
		if a.Over && (a.Off == nil || a.Pane == Everywhere) {
			return "it would hide the row below it for good"
		}
		for _, k := range a.Keys {
			if below, ok := (Keys{}).ByKey(a.Pane, k, core.Snapshot{}); a.Over && (!ok || below.ID == a.ID) {
				return "below " + k + " is nothing"
			}
		}
		return ""
	},
	"its keys have a name in ASCII": func(all []Action, i int) string {
		if name := all[i].KeyNames(true); strings.ContainsFunc(name, func(r rune) bool { return r > 0x7e }) {
			return name
		}
		return ""
	},
	"its other words can be typed": func(all []Action, i int) string {
		if got := splitWords(strings.ToLower(all[i].Words)); !slices.Equal(got, strings.Fields(all[i].Words)) {
			return all[i].Words
		}
		return ""
	},
	"its own title, name, ID and keys find it": func(all []Action, i int) string {
		a := all[i]
		for _, query := range []string{a.Title, strings.ToUpper(a.Title), " " + a.Name()} {
			if found, m := best(query); found.Title != a.Title || a.Match(query) != m {
				return query + " finds " + found.Name()
			}
		}
		for _, k := range a.Keys {
			if a.Match(k) < keyed || a.Match(KeyName(k, false)) < keyed {
				return "its key " + k + " is a match of " + fmt.Sprint(a.Match(k))
			}
		}
		if a.Match(string(a.ID)) < identical {
			return "its ID is a match of " + fmt.Sprint(a.Match(string(a.ID)))
		}
		return ""
	},
	"a word of its title finds an action that is called so": func(all []Action, i int) string {
		for _, w := range splitWords(strings.ToLower(all[i].Title)) {
			found, _ := best(w)
			names := append(splitWords(strings.ToLower(found.Title)), strings.Fields(found.Words)...)
			if !slices.Contains(append(names, strings.ToLower(found.Short)), w) {
				return w + " finds " + found.Name()
			}
		}
		return ""
	},
	// Without its command a key is gone, and the titles of keys are those of commands.
	"it goes with its command": func(all []Action, i int) string {
		a := all[i]
		if a.Act == "" {
			return ""
		}
		without := slices.DeleteFunc(slices.Clone(command.Table), func(c command.Command) bool { return c.Name == a.Act })
		left := Of(without)
		if len(without) != len(command.Table)-1 || slices.ContainsFunc(left, func(b Action) bool { return b.Act == a.Act }) || len(left) >= len(all) {
			return fmt.Sprintf("without %s, %d of %d keys are left", a.Act, len(left), len(all))
		}
		return ""
	},
}

func TestEveryRowOfTheTableKeepsTheRules(t *testing.T) {
	for name, breaks := range rules {
		for i, a := range table() {
			if why := breaks(table(), i); why != "" {
				t.Errorf("%s %s: %s: %s", a.Pane, a.ID, name, why)
			}
		}
	}
}

func TestTheTitleOfAKeyIsThatOfItsCommand(t *testing.T) {
	all := slices.Clone(command.Table)
	for i := range all {
		all[i].Key = strings.ToUpper(all[i].Key)
	}
	for i, a := range Of(all) {
		if was := rows()[i].Title; was == "" && (a.Title == "" || a.Title != strings.ToUpper(a.Title)) {
			t.Errorf("%s is called %q, not as its command", a.ID, a.Title)
		}
	}
}

// A letter that means several things in different panes is explained.
func TestALetterMeansOneThingOrTheDocsSayWhy(t *testing.T) {
	data, err := os.ReadFile("../../docs/contributing/keys.md")
	testkit.Must(t, err)
	_, section, _ := strings.Cut(string(data), "\n## One key, one meaning\n")
	section, _, _ = strings.Cut(section, "\n## ")
	means := map[string]Action{}
	for _, a := range table() {
		for _, k := range a.Keys {
			other, taken := means[k]
			if means[k] = a; taken && len(k) == 1 && a.Short != other.Short && !strings.Contains(section, "| `"+k+"` |") {
				t.Errorf("%q is %s and %s, and the docs do not say why", k, a.ID, other.ID)
			}
		}
	}
}

// What costs something and what changes the bot is marked, and nothing else, in the order of the table.
func TestWhatChangesTheBotIsMarked(t *testing.T) {
	for name, c := range map[string]struct {
		has  func(a Action) bool
		want []ID
	}{
		"costs": {func(a Action) bool { return a.Costs }, []ID{
			ScheduleFire, ScheduleDelete, UpdatesDeliver, ForksAgain, ApprovalAllow, ApprovalAlways, ForkSave, ForkReport, TaskFire, TaskDelete, Quit,
		}},
		"writes": {func(a Action) bool { return a.Writes }, []ID{
			CapacityUp, CapacityDown, RefillDown5, RefillUp5, Exact, Mute, RefillDown1, RefillUp1,
			ScheduleAllow, ScheduleFire, ScheduleNew, ScheduleSnooze, SchedulePause, ScheduleEdit, ScheduleDelete, ScheduleOpen,
			UpdatesYes, UpdatesOther, UpdatesNo, UpdatesDiscard, UpdatesDeliver, ForksStop, ForksResume, ForksAgain,
			ApprovalAllow, ApprovalDeny, ApprovalAlways, ForkSave, ForkReport, ForkExit, ChatWrite, ChatSend, ChatReply, ChatButtons,
			TaskFire, TaskEdit, TaskDelete, TaskRestore, TaskOpen, TaskPause, CostsLift, SettingsEdit, SettingsPrevious, SettingsNext, Login, SetUp,
		}},
	} {
		var got []ID
		for _, a := range table() {
			if c.has(a) {
				got = append(got, a.ID)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("what %s (-want +got):\n%s", name, d)
		}
	}
}

// An action of the budget says its effect, and when the bucket would be full.
func TestAnActionWithoutASelectionSaysItsEffectAndMakesItsCommand(t *testing.T) {
	at := time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)
	slow := core.Snapshot{At: at, Zone: time.UTC, Budget: core.BudgetView{State: budget.State{Capacity: 5, Available: 4, RefillRateMinutes: 60, LastRefill: at}}}
	quick := core.Snapshot{Budget: core.BudgetView{State: budget.State{Capacity: 5, RefillRateMinutes: 3}}}
	for _, c := range []struct {
		id          ID
		quick, slow string
		makes       command.SetBudget
	}{
		{CapacityUp, "5→6", "5→6, full 16:00", command.SetBudget{Capacity: new(6)}},
		{CapacityDown, "5→4", "5→4", command.SetBudget{Capacity: new(4)}},
		{RefillDown5, "3→1", "60→55, full 14:55", command.SetBudget{RefillMinutes: new(1)}}, // never below one
		{RefillUp5, "3→8", "60→65, full 15:05", command.SetBudget{RefillMinutes: new(8)}},
		{RefillDown1, "3→2", "60→59, full 14:59", command.SetBudget{RefillMinutes: new(2)}},
		{RefillUp1, "3→4", "60→61, full 15:01", command.SetBudget{RefillMinutes: new(4)}},
	} {
		a, _ := Get(Budget, c.id)
		if got := [2]string{a.Hint(quick), a.Hint(slow)}; got != [2]string{c.quick, c.slow} {
			t.Errorf("%s says %q", c.id, got)
		}
		if d := cmp.Diff(command.Value(c.makes), a.Make(quick)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.id, d)
		}
	}
	for _, c := range []struct {
		pane Pane
		id   ID
		of   core.Snapshot
		hint string
		make command.Value
	}{
		{Updates, UpdatesDeliver, core.Snapshot{Updates: make([]updates.Update, 1)}, "", command.DeliverNow{}},
		{Updates, UpdatesDeliver, core.Snapshot{Updates: make([]updates.Update, 2)}, "all 2", command.DeliverNow{}},
		{Budget, Mute, core.Snapshot{Zone: time.UTC}, "", nil},
		{Budget, Mute, core.Snapshot{Zone: time.UTC, Budget: core.BudgetView{Muted: at}}, "until 14:00", nil},
		{Schedule, ScheduleAllow, core.Snapshot{}, "", nil},
		{Schedule, ScheduleAllow, core.Snapshot{Schedule: schedule.View{Tasks: []schedule.TaskView{{ID: "x", Waits: "it may use Bash"}}}}, "1 in all", nil},
		{Costs, CostsLift, core.Snapshot{}, "", command.LiftCaps{}},
		{Costs, CostsLift, core.Snapshot{Money: money.State{Lifted: true}}, "lifted", command.LiftCaps{Undo: true}},
	} {
		a, _ := Get(c.pane, c.id)
		hint, do := "", command.Value(nil)
		if a.Hint != nil {
			hint = a.Hint(c.of)
		}
		if a.Make != nil {
			do = a.Make(c.of)
		}
		if hint != c.hint || do != c.make {
			t.Errorf("%s says %q and makes %#v", c.id, hint, do)
		}
	}
}

func TestTheFirstReasonWhyAnActionIsOffIsGiven(t *testing.T) {
	entry, task := []schedule.Entry{{ID: "x"}}, []schedule.TaskView{{ID: "x"}}
	card := func(e *post.Embed) core.Snapshot { return core.Snapshot{Chat: []transcript.Entry{{ID: "c", Embed: e}}} }
	done, pending := []fork.View{{ID: "f", State: fork.Done}}, []updates.Update{{Key: "u"}}
	for _, c := range []struct {
		pane Pane
		id   ID
		of   core.Snapshot
		why  string // empty if it is not off
	}{
		{Schedule, ScheduleDetails, core.Snapshot{}, "nothing is scheduled"},
		{Schedule, ScheduleDetails, core.Snapshot{Schedule: schedule.View{Entries: entry}}, ""},
		{Schedule, ScheduleDetails, core.Snapshot{Schedule: schedule.View{Day: entry}}, ""},
		{Schedule, ScheduleDetails, core.Snapshot{Schedule: schedule.View{Tasks: task}}, ""},
		{Schedule, ScheduleDetails, core.Snapshot{Schedule: schedule.View{Entries: entry, Day: entry}}, ""},
		{Schedule, ScheduleDetails, core.Snapshot{Schedule: schedule.View{Entries: entry, Tasks: task}}, ""},
		{Updates, UpdatesDeliver, core.Snapshot{}, "there is no pending update"},
		{Updates, UpdatesDeliver, core.Snapshot{Updates: pending}, ""},
		{Updates, UpdatesDeliver, core.Snapshot{Updates: pending, Fork: &chat.Banner{}}, "updates go to the main session; leave the fork first"},
		{Forks, ForksResume, core.Snapshot{}, "no run has ended yet"},
		{Forks, ForksResume, core.Snapshot{Forks: done}, ""},
		{Forks, ForksResume, core.Snapshot{Forks: done, Fork: &chat.Banner{}}, "the chat is already in a fork; leave it first"},
		{Forks, ForksResume, core.Snapshot{Forks: done, Fork: &chat.Banner{Resumed: true}}, "the chat is already in a fork; leave it first"},
		{Forks, ForksStop, core.Snapshot{Forks: done}, "no run is waiting or running"},
		{Chat, ForkSave, core.Snapshot{}, "the chat is not in a fork"},
		{Chat, ForkSave, core.Snapshot{Fork: &chat.Banner{}}, ""},
		{Chat, ForkSave, core.Snapshot{Fork: &chat.Banner{Resumed: true}}, "this fork continues a background run; report or exit instead"},
		{Chat, ForkReport, core.Snapshot{}, "the chat is not in a fork"},
		{Chat, ForkReport, core.Snapshot{Fork: &chat.Banner{Resumed: true}}, ""},
		{Chat, ForkExit, core.Snapshot{}, "the chat is not in a fork"},
		{Chat, ForkExit, core.Snapshot{Fork: &chat.Banner{Resumed: true}}, ""},
		{Chat, ChatButtons, card(nil), "no card in the chat has buttons"},
		{Chat, ChatButtons, card(&post.Embed{Title: "Plain"}), "no card in the chat has buttons"},
		{Chat, ChatButtons, card(&post.Embed{Buttons: []post.Button{{Label: "Done"}}}), ""},
	} {
		a, ok := Get(c.pane, c.id)
		if !ok || a.Off == nil {
			t.Fatalf("%s is never off", c.id)
		}
		if got := a.Off(c.of); got != c.why {
			t.Errorf("%s is off because %q, want %q", c.id, got, c.why)
		}
	}
}

func TestWhatNeedsSomethingIsOffWhereThereIsNothing(t *testing.T) {
	empty := core.Snapshot{Budget: core.BudgetView{State: budget.State{Capacity: 0, RefillRateMinutes: 1}}}
	one := core.Snapshot{Forks: []fork.View{{ID: "f", State: fork.Done}}}
	whole := core.Snapshot{
		Budget:   core.BudgetView{State: budget.State{Capacity: 1, RefillRateMinutes: 2}},
		Schedule: schedule.View{Entries: []schedule.Entry{{ID: "x"}}, Tasks: []schedule.TaskView{{ID: "x", Waits: "it may use Bash"}}},
		Updates:  []updates.Update{{Key: "u"}}, Proposals: []proposals.Proposal{{ID: "p"}},
		Forks: []fork.View{{ID: "f", State: fork.Done}, {ID: "g", State: fork.Waiting}},

		Approvals: []policy.Approval{{ID: "a", Tool: "Bash", Command: "rule"}},
		Chat:      []transcript.Entry{{ID: "c", Embed: &post.Embed{Buttons: []post.Button{{Label: "Done"}}}}},
		Engine:    core.EngineStatus{LoginNeeded: true},
		Money:     money.State{Today: money.Span{Cap: 2}},
	}
	inFork := whole
	inFork.Fork = &chat.Banner{}
	seen := 0
	for _, a := range table() {
		if a.Off == nil {
			if a.Pane == Forks && strings.HasPrefix(string(a.ID), "tail.") {
				t.Errorf("%s does not depend on a run", a.ID)
			}
			continue
		}
		seen++
		switch why := a.Off(whole); {
		case a.Off(empty) == "":
			t.Errorf("%s can be used where there is nothing", a.ID)
		case why != "" && a.Off(inFork) != "":
			t.Errorf("%s is off: %s", a.ID, why)
		case a.Pane == Forks && strings.HasPrefix(string(a.ID), "tail.") && a.Off(one) != "":
			t.Errorf("%s is off beside a run", a.ID)
		}
	}
	if seen < 10 {
		t.Errorf("only %d rows say when they are off", seen)
	}
}

func TestDocsKeysHasTheTable(t *testing.T) {
	const path = "../../docs/keys.md"
	data, err := os.ReadFile(path)
	testkit.Must(t, err)
	words, got, _ := strings.Cut(string(data), "\n## "+Everywhere.Name())
	want := tables()
	if *goldentest.Update {
		testkit.Must(t, os.WriteFile(path, []byte(words+want), 0o644))
	} else if d := cmp.Diff("\n## "+Everywhere.Name()+got, want); d != "" {
		t.Errorf("docs/keys.md is stale; write its tables with: go test ./tui/action -update\n%s", d)
	}
}

// tables are what docs/keys.md has behind its words: a row for each key, with what it does in which pane.
func tables() string {
	var b strings.Builder
	for i, panes := range [][]Pane{{Everywhere}, AllPanes} {
		var keys []string
		meanings := map[string][]meaning{}
		for _, p := range panes {
			for _, a := range (Keys{}).Of(p) {
				k := codes(a.Keys)
				if i == 1 && len(meanings[k]) == 0 || i == 0 && !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
				meanings[k] = with(meanings[k], a, p)
			}
		}
		b.WriteString("\n## " + [...]string{Everywhere.Name(), "In a pane"}[i] + "\n\n| Keys | Action |\n|---|---|\n")
		for _, k := range keys {
			list := make([]string, len(meanings[k]))
			for n, m := range meanings[k] {
				list[n] = m.String()
			}
			b.WriteString("| " + k + " | " + strings.Join(list, "; ") + " |\n")
		}
	}
	return b.String()
}

// A meaning is what a key does in one pane or in several.
type meaning struct {
	verb             string // the action's name without its subject
	writes           bool
	own              bool // the subject is the pane itself
	titles, subjects []string
	panes            []string // if it is not
}

// with adds an action to the meanings of its keys. Actions of several panes with the same verb are one meaning.
func with(list []meaning, a Action, p Pane) []meaning {
	subject, verb, _ := strings.Cut(string(a.ID), ".")
	own := p == Everywhere || subject == string(p)
	at := slices.IndexFunc(list, func(m meaning) bool { return p != Everywhere && m.verb == verb && m.writes == a.Writes && m.own == own })
	if at < 0 {
		at, list = len(list), append(list, meaning{verb: verb, writes: a.Writes, own: own})
	}
	m := &list[at]
	title := strings.ToLower(a.Title[:1]) + a.Title[1:]
	if !slices.Contains(m.titles, title) {
		m.titles = append(m.titles, title)
	}
	if !slices.Contains(m.subjects, subject) {
		m.subjects = append(m.subjects, subject)
	}
	if !own {
		m.panes = append(m.panes, p.Name())
	}
	return list
}

// String writes a meaning as in "Chat: allow tool call * `approval.allow`".
func (m meaning) String() string {
	text := strings.Join(m.titles, ", ") + " "
	if len(m.panes) > 0 {
		text = strings.Join(m.panes, ", ") + ": " + text
	}
	if m.writes {
		text += "* "
	}
	subject := strings.Join(m.subjects, ",")
	if len(m.subjects) > 1 {
		subject = "{" + subject + "}"
	}
	return text + "`" + subject + "." + m.verb + "`"
}

// codes writes keys as Markdown code.
func codes(keys []string) string {
	if len(keys) == 0 {
		return "palette"
	}
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = "`" + KeyName(k, true) + "`"
	}
	return strings.Join(out, " ")
}
