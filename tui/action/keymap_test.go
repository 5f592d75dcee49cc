package action

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/policy"
)

// asked are changes as a user writes them: "app.quit=ctrl+q forks/tail.wrap=q,w view.zoom=".
func asked(text string) (all []Change) {
	for word := range strings.FieldsSeq(text) {
		name, keys, _ := strings.Cut(word, "=")
		c := Change{ID: ID(name)}
		if pane, id, of := strings.Cut(name, "/"); of {
			c.Pane, c.ID = Pane(pane), ID(id)
		}
		if keys != "" {
			c.Keys = strings.Split(keys, ",")
		}
		all = append(all, c)
	}
	return all
}

// changed is the table with changes of which none is refused.
func changed(t *testing.T, text string) Keys {
	t.Helper()
	k, refused := Keys{}.Change(asked(text))
	if len(refused) > 0 {
		t.Fatalf("%s: refused %+v", text, refused)
	}
	return k
}

// What a key means in a pane is written as pane:key=action.
func TestAKeyMeansWhatTheTableAndItsChangesSay(t *testing.T) {
	asks := core.Snapshot{Approvals: []policy.Approval{{ID: "a", Tool: "Bash", Command: "rule"}}}
	for _, c := range []struct {
		name, changes string
		of            core.Snapshot
		means         string
	}{
		{"a key belongs to its pane", "", core.Snapshot{}, "budget:+=budget.capacity-up schedule:k=schedule.up forks:k=forks.up forks:x=forks.stop logs:k=tail.up chat:q=app.quit budget:f="},
		{"the number keys are the panes in order", "", core.Snapshot{}, "logs:1=go.budget logs:2=go.schedule logs:3=go.updates logs:4=go.forks logs:5=go.chat chat:6=go.logs"},
		{"as long as no tool call waits, n is the next match", "", core.Snapshot{}, "chat:y=approval.allow chat:n=tail.next chat:a=approval.always"},
		{"while a tool call waits, keys answer it in the chat alone", "", asks, "chat:y=approval.allow chat:n=approval.deny chat:a=approval.always logs:n=tail.next logs:y="},
		{
			"other keys take the place of the table's, which are free then", "app.quit=ctrl+q forks/tail.wrap=q view.zoom=",
			core.Snapshot{},
			"forks:ctrl+q=app.quit forks:q=tail.wrap forks:w= forks:z= logs:w=tail.wrap",
		},
		{"the table itself does not change", "", core.Snapshot{}, "forks:q=app.quit"},
		{"a change of one pane precedes that of all", "tail.wrap=f7 forks/tail.wrap=f8", core.Snapshot{}, "forks:f8=tail.wrap forks:f7= logs:f7=tail.wrap logs:f8="},
		{"in any order", "forks/tail.wrap=f8 tail.wrap=f7", core.Snapshot{}, "forks:f8=tail.wrap forks:f7= logs:f7=tail.wrap logs:f8="},
		{"two keys may change places", "app.quit=z view.zoom=q", core.Snapshot{}, "chat:z=app.quit chat:q=view.zoom"},
		{"a pane's own key precedes one that works anywhere", "forks/tail.wrap=i", core.Snapshot{}, "forks:i=tail.wrap logs:i=chat.write"},
	} {
		k := changed(t, c.changes)
		for want := range strings.FieldsSeq(c.means) {
			pane, rest, _ := strings.Cut(want, ":")
			key, id, _ := strings.Cut(rest, "=")
			if a, ok := k.ByKey(Pane(pane), key, c.of); string(a.ID) != id || ok != (id != "") {
				t.Errorf("%s: %s in %s is %q, want %q", c.name, key, pane, a.ID, id)
			}
		}
	}
	for _, p := range AllPanes {
		if a, _ := (Keys{}).ByKey(p, "i", core.Snapshot{}); a.ID != ChatWrite {
			t.Errorf("a message cannot be started from %s: i is %q", p, a.ID)
		}
	}
	for old, now := range renamed {
		if a, _ := changed(t, "forks/"+string(old)+"=f7").ByKey(Budget, "f7", core.Snapshot{}); a.ID != now {
			t.Errorf("by its old name, %s gives f7 to %q, want %s", old, a.ID, now)
		}
	}
	if always, _ := Get(Chat, ApprovalAlways); always.Hint(asks) != "this command" || always.Hint(core.Snapshot{}) != "" {
		t.Error("the effect of always is not said")
	}
	if up, _ := Get(Schedule, "schedule.up"); up.KeyNames(false) != "↑ k" {
		t.Errorf("up is named %q", up.KeyNames(false))
	}
}

func TestWhatCannotBeChangedIsSaidAndLeftOut(t *testing.T) {
	for _, c := range []struct {
		name, changes string
		index         int
		key, text     string
	}{
		{"a key that is taken", "app.quit=z", 0, "z", `"z" for app.quit is taken by view.zoom;`},
		{"the later of two", "app.quit=X1 view.zoom=X1", 1, "X1", `taken by app.quit;`},
		{"a key of a pane", "app.quit=f", 0, "f", `taken by schedule/schedule.fire;`},
		{"no such action", "go.home=x", 0, "", `no action is called "go.home"`},
		{"not in this pane", "budget/tail.wrap=x", 0, "", `no action is called "budget/tail.wrap"`},
		{"what must stay", "app.interrupt=x", 0, "", `the key of "app.interrupt" cannot be changed`},
		{"a key that must stay", "app.quit=ctrl+c", 0, "ctrl+c", `taken by app.interrupt;`},
	} {
		changes := asked(c.changes)
		k, refused := Keys{}.Change(changes)
		if len(refused) != 1 || refused[0].Index != c.index || refused[0].Key != c.key || !strings.Contains(refused[0].Text, c.text) {
			t.Errorf("%s: refused %+v", c.name, refused)
			continue
		}
		a, ok := k.Get(Everywhere, changes[c.index].ID)
		if own, _ := Get(Everywhere, a.ID); ok && !slices.Equal(a.Keys, own.Keys) {
			t.Errorf("%s: %s has %v after the refusal", c.name, a.ID, a.Keys)
		}
	}
}

func TestWhateverIsAskedForNoKeyMeansTwoThings(t *testing.T) {
	clash := func(t interface{ Fatalf(string, ...any) }, k Keys) {
		for _, p := range AllPanes {
			seen := map[string]Action{}
			for _, a := range append(k.Of(Everywhere), k.Of(p)...) {
				for _, key := range a.Keys {
					// A row may be over a later one, not over two.
					if other, taken := seen[key]; taken && (!other.Over || a.Over) {
						t.Fatalf("%s: %q is %s and %s", p, key, other.ID, a.ID)
					}
					seen[key] = a
				}
			}
		}
	}
	clash(t, Keys{})
	testkit.Check(t, func(t *rapid.T) {
		k, _ := Keys{}.Change(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Change {
			return Change{
				Pane: rapid.SampledFrom(append([]Pane{Everywhere}, Panes...)).Draw(t, "pane"),
				ID:   rapid.SampledFrom(table()).Draw(t, "row").ID,
				Keys: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"q", "z", "y", "f", "k", "ctrl+c", "f5", "?"}), 0, 2, rapid.ID).Draw(t, "keys"),
			}
		}), 0, 8).Draw(t, "changes"))
		clash(t, k)
	})
}

func TestKeysAreSpelledAsKeyPressesNameThem(t *testing.T) {
	for name, want := range map[string]string{
		"q": "q", "Q": "Q", "+": "+", "ctrl+p": "ctrl+p", "Ctrl+P": "ctrl+p", "shift+alt+Up": "alt+shift+up",
		"PgDn": "pgdown", "escape": "esc", "F5": "f5", "ctrl++": "ctrl++", "é": "é", "↑": "up", "shift+tab": "shift+tab",
		"ctrl+": "", "hyperdrive": "", "": "", " ": "", "f99": "", "f05": "", "ctrl+ctrl": "", "\x01": "", "shift+a": "A", "qq": "", "alt+esc": "esc",
	} {
		got, ok := Spell(name)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q, %v, want %q", name, got, ok, want)
		}
	}
}

func TestASentenceNamesTheKeyThatIsBound(t *testing.T) {
	const other, none = "fork.save=f2,f3 view.palette=f1 fork.exit= view.mouse=", "view.palette= fork.exit="
	for _, c := range []struct {
		changes string
		pane    Pane
		id      ID
		want    string // name, at the beginning, badge
	}{
		{"", Chat, ForkSave, "S, S, S"},
		{"", Chat, Mouse, "M, M, M"},
		{"", Chat, TailUp, "↑, ↑, ↑"},
		{"", Forks, TailUp, "shift+↑, shift+↑, shift+↑"},
		{other, Chat, ForkSave, "f2, f2, f2"},
		{other, Chat, ForkExit, "the palette (f1), The palette (f1), f1"},
		{other, Budget, Mouse, "the palette (f1), The palette (f1), f1"},
		{none, Chat, ForkExit, "a key in keys.yaml, A key in keys.yaml, "},
		{"", Budget, ForkSave, "the palette (:), The palette (:), :"}, // not of this pane
	} {
		n := Names{Keys: changed(t, c.changes), Pane: c.pane}
		if got := n.Name(c.id) + ", " + n.Opening(c.id) + ", " + n.Badge(c.id); got != c.want {
			t.Errorf("%s in %s is %q, want %q", c.id, c.pane, got, c.want)
		}
	}
	// A badge is there once, and never empty.
	for changes, want := range map[string]string{"approval.deny= approval.always=": "y :", "approval.deny= approval.always= view.palette=": "y"} {
		n := Names{Keys: changed(t, changes), Pane: Chat}
		if got := strings.Join(n.Badges(ApprovalAllow, ApprovalDeny, ApprovalAlways), " "); got != want {
			t.Errorf("%s: badges %q", changes, got)
		}
	}
}

func TestKeysThatAreReadAgainAreOtherKeys(t *testing.T) {
	k := changed(t, "app.quit=f9")
	copied := k
	if k != copied || k == (Keys{}) || k == changed(t, "app.quit=f8") {
		t.Error("keys cannot be distinguished")
	}
	if refusedOnly, _ := (Keys{}).Change(asked("go.home=x")); refusedOnly != (Keys{}) || changed(t, "") != (Keys{}) {
		t.Error("what changes nothing is not the table")
	}
}

// Whatever is bound, a name is something that a sentence can say.
func TestANameIsNeverEmpty(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		row := rapid.SampledFrom(table())
		var changes []Change
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			a := row.Draw(t, "row")
			changes = append(changes, Change{Pane: a.Pane, ID: a.ID, Keys: rapid.SampledFrom([][]string{nil, {"f7"}, {"↑"}, {"down"}}).Draw(t, "keys")})
		}
		keys, _ := Keys{}.Change(changes)
		a := row.Draw(t, "named")
		n := Names{Keys: keys, Pane: a.Pane, ASCII: rapid.Bool().Draw(t, "ascii")}
		if n.Name(a.ID) == "" || n.Opening(a.ID) == "" || strings.TrimSpace(n.Name(a.ID)) != n.Name(a.ID) {
			t.Fatalf("%s is %q", a.ID, n.Name(a.ID))
		}
		if row, _ := keys.Get(a.Pane, a.ID); len(row.Keys) > 0 && n.Key(a.ID) != KeyName(row.Keys[0], n.ASCII) {
			t.Fatalf("%s is named %q and has %q", a.ID, n.Key(a.ID), row.Keys)
		}
	})
}

func TestTheRowsOfAPaneAreTogetherAndAreNotCopied(t *testing.T) {
	for _, keys := range []Keys{{}, changed(t, "app.quit=ctrl+q")} {
		rows := 0
		for _, p := range append([]Pane{Everywhere}, AllPanes...) {
			rows += len(keys.Of(p))
			if i := slices.IndexFunc(keys.Of(p), func(a Action) bool { return a.Pane != p }); i >= 0 {
				t.Errorf("%s is among the rows of %q", keys.Of(p)[i].ID, p)
			}
			if n := testing.AllocsPerRun(10, func() { _ = keys.Of(p) }); n != 0 {
				t.Errorf("the rows of %q cost %v allocations", p, n)
			}
		}
		if rows != len(table()) {
			t.Errorf("%d of %d rows", rows, len(table()))
		}
	}
}
