package action

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/base/goldentest"
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

func TestNoKeyMeansTwoThingsAtATime(t *testing.T) {
	for _, p := range AllPanes {
		seen := map[string]Action{}
		for _, a := range append(Keys{}.Of(Everywhere), Keys{}.Of(p)...) {
			for _, k := range a.Keys {
				// A row may stand over a later one, not over two.
				if other, taken := seen[k]; taken && (!other.Over || a.Over) {
					t.Errorf("%s: %q is %s and %s", p, k, other.ID, a.ID)
				}
				seen[k] = a
			}
		}
	}
}

func TestARowThatStandsOverAnotherSaysWhenItDoesNot(t *testing.T) {
	for _, a := range table() {
		if !a.Over {
			continue
		}
		if a.Off == nil || a.Pane == Everywhere {
			t.Errorf("%s would hide the row below it for good", a.ID)
			continue
		}
		for _, k := range a.Keys {
			below, ok := (Keys{}).ByKey(a.Pane, k, core.Snapshot{})
			if !ok || below.ID == a.ID {
				t.Errorf("%q: %s stands over nothing", k, a.ID)
			}
		}
	}
}

func TestKeysAnswerAToolCallForAsLongAsItWaits(t *testing.T) {
	s := core.Snapshot{Approvals: []policy.Approval{{ID: "a", Tool: "Bash", Command: "rule"}}}
	for key, want := range map[string][2]ID{
		"y": {ApprovalAllow, ApprovalAllow}, "n": {TailNext, ApprovalDeny}, "a": {ApprovalAlways, ApprovalAlways},
	} {
		idle, _ := (Keys{}).ByKey(Chat, key, core.Snapshot{})
		asked, _ := (Keys{}).ByKey(Chat, key, s)
		if got := [2]ID{idle.ID, asked.ID}; got != want {
			t.Errorf("%q is %v, want %v", key, got, want)
		}
		if logs, _ := (Keys{}).ByKey(Logs, key, s); logs.ID == want[1] {
			t.Errorf("%q answers in the logs too", key)
		}
	}
	always, _ := Get(Chat, ApprovalAlways)
	if always.Hint(s) != "this command" || always.Hint(core.Snapshot{}) != "" {
		t.Error("the effect of always is not said")
	}
}

func TestTheExitsOfAForkDependOnTheFork(t *testing.T) {
	for _, c := range []struct {
		name string
		fork *chat.Banner
		off  []ID
	}{
		{"none", nil, []ID{ForkSave, ForkReport, ForkExit}},
		{"a new one", &chat.Banner{}, []ID{ForksResume}},
		{"a resumed one", &chat.Banner{Resumed: true}, []ID{ForksResume, ForkSave}},
	} {
		s := core.Snapshot{Fork: c.fork, Forks: []fork.View{{State: fork.Done}}}
		var off []ID
		for _, a := range table() {
			if slices.Contains([]ID{ForkSave, ForkReport, ForkExit, ForksResume}, a.ID) && a.Off(s) != "" {
				off = append(off, a.ID)
			}
		}
		if d := cmp.Diff(c.off, off); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestEveryIDIsUniqueInItsPane(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range table() {
		key := string(a.Pane) + " " + string(a.ID)
		if seen[key] {
			t.Errorf("%s stands twice", key)
		}
		seen[key] = true
	}
}

// Without its command a key is gone, and the titles of keys are those of commands.
func TestAKeyGoesWithItsCommand(t *testing.T) {
	for _, a := range table() {
		if a.Act == "" {
			continue
		}
		without := slices.DeleteFunc(slices.Clone(command.Table), func(c command.Command) bool { return c.Name == a.Act })
		if len(without) != len(command.Table)-1 {
			t.Errorf("%s: %d rows are called %q", a.ID, len(command.Table)-len(without), a.Act)
		}
		left := Of(without)
		if i := slices.IndexFunc(left, func(b Action) bool { return b.Act == a.Act }); i >= 0 || len(left) >= len(table()) {
			t.Errorf("without %s, %d of %d keys are left, one of them %d", a.Act, len(left), len(table()), i)
		}
	}
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

// A title is read at a glance and never cut: the palette shows the pane before it.
func TestATitleIsAFewWords(t *testing.T) {
	for _, a := range table() {
		if n := len(strings.Fields(a.Title)); n < 2 || n > 4 {
			t.Errorf("%s: %q has %d words", a.ID, a.Title, n)
		}
		if n := len(a.Name()); n > 48 {
			t.Errorf("%s: %q has %d letters", a.ID, a.Name(), n)
		}
	}
}

// A letter that means several things in different panes is explained.
func TestALetterMeansOneThingOrTheDocsSayWhy(t *testing.T) {
	data, err := os.ReadFile("../../docs/contributing/keys.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "\n## One key, one meaning\n")
	section, _, _ = strings.Cut(section, "\n## ")
	means := map[string]Action{}
	for _, a := range table() {
		for _, k := range a.Keys {
			other, taken := means[k]
			if means[k] = a; !taken || len(k) > 1 || a.Short == other.Short {
				continue
			}
			if !strings.Contains(section, "| `"+k+"` |") {
				t.Errorf("%q is %s and %s, and the docs do not say why", k, a.ID, other.ID)
			}
		}
	}
}

func TestAMessageCanBeStartedFromEveryPane(t *testing.T) {
	for _, p := range AllPanes {
		if a, _ := (Keys{}).ByKey(p, "i", core.Snapshot{}); a.ID != ChatWrite {
			t.Errorf("i in %s is %q", p, a.ID)
		}
	}
	k := changed(t, Change{Pane: Forks, ID: TailWrap, Keys: []string{"i"}})
	if a, _ := k.ByKey(Forks, "i", core.Snapshot{}); a.ID != TailWrap {
		t.Errorf("the pane's own key is %q", a.ID)
	}
}

func TestEveryRowSaysWhatItIs(t *testing.T) {
	for _, a := range table() {
		if len(a.Keys) == 0 && (a.Pane != Everywhere || !a.Quiet) {
			t.Errorf("%s has no keys: only quiet rows without a pane may be in the palette alone", a.ID)
		}
		if a.Title == "" || a.Short == "" || !strings.Contains(string(a.ID), ".") {
			t.Errorf("row %+v is not whole", a)
		}
		if a.Pane != Everywhere && !slices.Contains(AllPanes, a.Pane) {
			t.Errorf("%s: no pane %q", a.ID, a.Pane)
		}
		if strings.HasSuffix(a.Title, ".") || a.Title[:1] != strings.ToUpper(a.Title[:1]) {
			t.Errorf("%s: title %q", a.ID, a.Title)
		}
	}
}

func TestAPairIsTheNextRowOfTheSamePane(t *testing.T) {
	all := table()
	for i, a := range all {
		if a.Pair == "" {
			continue
		}
		if i+1 == len(all) || all[i+1].ID != a.Pair || all[i+1].Pane != a.Pane || !all[i+1].Quiet {
			t.Errorf("%s pairs with %s, which does not follow or is not quiet", a.ID, a.Pair)
		}
	}
}

// marked expects that these rows have a mark, and no others, in the order of the table.
func marked(t *testing.T, has func(a Action) bool, want ...ID) {
	t.Helper()
	var got []ID
	for _, a := range table() {
		if has(a) {
			got = append(got, a.ID)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("marked rows (-want +got):\n%s", d)
	}
}

func TestWhatCostsSomethingIsMarked(t *testing.T) {
	marked(t, func(a Action) bool { return a.Costs },
		ScheduleFire, ScheduleDelete, UpdatesDeliver, ForksAgain, ApprovalAllow, ApprovalAlways, ForkSave, ForkReport, TaskFire, TaskDelete, Quit,
	)
}

func TestWhatChangesTheBotIsMarked(t *testing.T) {
	marked(t, func(a Action) bool { return a.Writes },
		CapacityUp, CapacityDown, RefillDown5, RefillUp5, Exact, Mute, RefillDown1, RefillUp1,
		ScheduleAllow, ScheduleFire, ScheduleNew, ScheduleSnooze, SchedulePause, ScheduleEdit, ScheduleDelete, ScheduleOpen, UpdatesYes, UpdatesOther, UpdatesNo, UpdatesDiscard, UpdatesDeliver, ForksStop, ForksResume, ForksAgain,
		ApprovalAllow, ApprovalDeny, ApprovalAlways, ForkSave, ForkReport, ForkExit, ChatWrite, ChatSend, ChatReply, ChatButtons, TaskFire, TaskEdit, TaskDelete, TaskRestore, TaskOpen, TaskPause, CostsLift,
		SettingsEdit, SettingsPrevious, SettingsNext, Login, SetUp,
	)
}

func TestTheNumberKeysAreThePanesInOrder(t *testing.T) {
	for i, p := range Panes {
		key := string(rune('1' + i))
		a, ok := (Keys{}).ByKey(Logs, key, core.Snapshot{})
		if !ok || !strings.EqualFold(string(a.ID), "go."+string(p)) {
			t.Errorf("%s is %s, want go.%s", key, a.ID, p)
		}
	}
}

func TestAKeyIsLookedUpInItsPane(t *testing.T) {
	for _, c := range []struct {
		pane Pane
		key  string
		want ID
	}{
		{Budget, "+", CapacityUp},
		{Schedule, "k", "schedule.up"},
		{Forks, "k", ForksUp},
		{Forks, "x", ForksStop},
		{Logs, "k", TailUp},
		{Chat, "q", Quit},
		{Budget, "f", ""},
	} {
		a, ok := (Keys{}).ByKey(c.pane, c.key, core.Snapshot{})
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

func TestHintsSayWhenTheBucketWouldBeFull(t *testing.T) {
	at := time.Date(2026, 3, 10, 14, 0, 0, 0, time.UTC)
	s := core.Snapshot{At: at, Zone: time.UTC, Budget: core.BudgetView{State: budget.State{Capacity: 5, Available: 4, RefillRateMinutes: 60, LastRefill: at}}}
	for id, want := range map[ID]string{
		CapacityUp: "5→6, full 16:00", CapacityDown: "5→4", RefillDown5: "60→55, full 14:55", RefillUp5: "60→65, full 15:05",
	} {
		a, _ := Get(Budget, id)
		if got := a.Hint(s); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
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
		why  string // begins with it; empty if it is not off
	}{
		{Schedule, ScheduleDetails, core.Snapshot{}, "nothing is scheduled"},
		{Schedule, ScheduleDetails, core.Snapshot{Schedule: schedule.View{Entries: entry}}, ""},
		{Schedule, ScheduleDetails, core.Snapshot{Schedule: schedule.View{Day: entry}}, ""},
		{Schedule, ScheduleDetails, core.Snapshot{Schedule: schedule.View{Tasks: task}}, ""},
		{Schedule, ScheduleDetails, core.Snapshot{Schedule: schedule.View{Entries: entry, Day: entry}}, ""},
		{Schedule, ScheduleDetails, core.Snapshot{Schedule: schedule.View{Entries: entry, Tasks: task}}, ""},
		{Updates, UpdatesDeliver, core.Snapshot{}, "there is no pending update"},
		{Updates, UpdatesDeliver, core.Snapshot{Updates: pending}, ""},
		{Updates, UpdatesDeliver, core.Snapshot{Updates: pending, Fork: &chat.Banner{}}, "updates go to the main session"},
		{Forks, ForksResume, core.Snapshot{}, "no run has ended yet"},
		{Forks, ForksResume, core.Snapshot{Forks: done}, ""},
		{Forks, ForksResume, core.Snapshot{Forks: done, Fork: &chat.Banner{}}, "the chat is already in a fork"},
		{Chat, ForkSave, core.Snapshot{}, "the chat is not in a fork"},
		{Chat, ForkSave, core.Snapshot{Fork: &chat.Banner{}}, ""},
		{Chat, ForkSave, core.Snapshot{Fork: &chat.Banner{Resumed: true}}, "this fork continues a background run"},
		{Chat, ChatButtons, card(nil), "no card in the chat has buttons"},
		{Chat, ChatButtons, card(&post.Embed{}), "no card in the chat has buttons"},
		{Chat, ChatButtons, card(&post.Embed{Buttons: []post.Button{{Label: "Done"}}}), ""},
	} {
		a, ok := Get(c.pane, c.id)
		if !ok || a.Off == nil {
			t.Fatalf("%s is never off", c.id)
		}
		if got := a.Off(c.of); !strings.HasPrefix(got, c.why) || (got == "") != (c.why == "") {
			t.Errorf("%s is off because %q, want %q", c.id, got, c.why)
		}
	}
}

func TestWhatCannotBeDoneSaysWhy(t *testing.T) {
	empty := core.Snapshot{Budget: core.BudgetView{State: budget.State{Capacity: 0, RefillRateMinutes: 1}}}
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
			continue
		}
		seen++
		if a.Off(empty) == "" {
			t.Errorf("%s can be used where there is nothing", a.ID)
		}
		if why := a.Off(whole); why != "" && a.Off(inFork) != "" {
			t.Errorf("%s is off: %s", a.ID, why)
		}
	}
	if seen < 10 {
		t.Errorf("only %d rows say when they are off", seen)
	}
	buttons, _ := Get(Chat, ChatButtons)
	if buttons.Off(core.Snapshot{Chat: []transcript.Entry{{ID: "c"}, {ID: "d", Embed: &post.Embed{Title: "Plain"}}}}) == "" {
		t.Error("a card without buttons offers some")
	}
	stop, _ := Get(Forks, ForksStop)
	if stop.Off(core.Snapshot{Forks: []fork.View{{State: fork.Done}}}) == "" {
		t.Error("a finished run cannot be stopped")
	}
}

func TestWithoutARunNothingOfTheForksTailCanBeUsed(t *testing.T) {
	one := core.Snapshot{Forks: []fork.View{{ID: "f", State: fork.Done}}}
	for _, a := range (Keys{}).Of(Forks) {
		if !strings.HasPrefix(string(a.ID), "tail.") {
			continue
		}
		if a.Off == nil || a.Off(core.Snapshot{}) == "" || a.Off(one) != "" {
			t.Errorf("%s does not depend on a run", a.ID)
		}
	}
}

func TestKeysAreNamedForPeople(t *testing.T) {
	a, _ := Get(Schedule, "schedule.up")
	if got := a.KeyNames(false); got != "↑ k" {
		t.Errorf("got %q", got)
	}
	for _, a := range table() {
		for _, r := range a.KeyNames(true) {
			if r > 0x7e {
				t.Errorf("%s: %q is not ASCII", a.ID, a.KeyNames(true))
			}
		}
	}
}

func TestDocsKeysHasTheTable(t *testing.T) {
	const path = "../../docs/keys.md"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	words, got, _ := strings.Cut(string(data), "\n## "+Everywhere.Name())
	want := tables()
	if *goldentest.Update {
		if err := os.WriteFile(path, []byte(words+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff("\n## "+Everywhere.Name()+got, want); d != "" {
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

func TestUpdatesAreNotHandedOverInAFork(t *testing.T) {
	deliver, _ := Get(Updates, UpdatesDeliver)
	s := core.Snapshot{Updates: []updates.Update{{Key: "u"}}}
	if why := deliver.Off(s); why != "" {
		t.Errorf("off without a fork: %s", why)
	}
	s.Fork = &chat.Banner{}
	if deliver.Off(s) == "" {
		t.Error("offered in a fork, where the core refuses it")
	}
}

func TestActionsOfNoSelectionMakeTheirCommands(t *testing.T) {
	s := core.Snapshot{Budget: core.BudgetView{State: budget.State{Capacity: 5, RefillRateMinutes: 3}}}
	for id, want := range map[ID]command.SetBudget{
		CapacityUp: {Capacity: new(6)}, CapacityDown: {Capacity: new(4)},
		RefillUp5: {RefillMinutes: new(8)}, RefillDown5: {RefillMinutes: new(1)}, // never below one
		RefillUp1: {RefillMinutes: new(4)}, RefillDown1: {RefillMinutes: new(2)},
	} {
		a, _ := Get(Budget, id)
		if d := cmp.Diff(command.Value(want), a.Make(s)); d != "" {
			t.Errorf("%s (-want +got):\n%s", id, d)
		}
	}
	if a, _ := Get(Updates, UpdatesDeliver); a.Make(s) != (command.DeliverNow{}) {
		t.Errorf("%#v", a.Make(s))
	}
}
