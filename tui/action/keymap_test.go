package action

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
)

func TestOtherKeysTakeThePlaceOfTheTables(t *testing.T) {
	k, refused := Keys{}.Change([]Change{
		{ID: Quit, Keys: []string{"ctrl+q"}},
		{Pane: Forks, ID: TailWrap, Keys: []string{"q"}}, // free now
		{ID: Zoom},
	})
	if len(refused) != 0 {
		t.Fatalf("refused %+v", refused)
	}
	for key, want := range map[string]ID{"ctrl+q": Quit, "q": TailWrap, "w": "", "z": ""} {
		if a, _ := k.ByKey(Forks, key, core.Snapshot{}); a.ID != want {
			t.Errorf("%q is %q, want %q", key, a.ID, want)
		}
	}
	if a, _ := k.ByKey(Logs, "w", core.Snapshot{}); a.ID != TailWrap {
		t.Errorf("the logs lost their key to a change of the forks")
	}
	if a, _ := (Keys{}).ByKey(Forks, "q", core.Snapshot{}); a.ID != Quit {
		t.Error("the table itself has changed")
	}
}

func TestAChangeOfOnePanePrecedesThatOfAllInAnyOrder(t *testing.T) {
	all, one := Change{ID: TailWrap, Keys: []string{"f7"}}, Change{Pane: Forks, ID: TailWrap, Keys: []string{"f8"}}
	for _, order := range [][]Change{{all, one}, {one, all}} {
		k := changed(t, order...)
		for _, c := range []struct {
			pane Pane
			key  string
			want ID
		}{{Forks, "f8", TailWrap}, {Forks, "f7", ""}, {Logs, "f7", TailWrap}, {Logs, "f8", ""}} {
			if a, _ := k.ByKey(c.pane, c.key, core.Snapshot{}); a.ID != c.want {
				t.Errorf("%+v: %s in the %s is %q, want %q", order, c.key, c.pane, a.ID, c.want)
			}
		}
	}
}

func TestAnActionKeepsItsOldName(t *testing.T) {
	for old, now := range renamed {
		k := changed(t, Change{Pane: Forks, ID: old, Keys: []string{"f7"}})
		if a, _ := k.ByKey(Budget, "f7", core.Snapshot{}); a.ID != now {
			t.Errorf("%s gives f7 to %q, want %s", old, a.ID, now)
		}
	}
}

func TestTwoKeysMayChangePlaces(t *testing.T) {
	k, refused := Keys{}.Change([]Change{{ID: Quit, Keys: []string{"z"}}, {ID: Zoom, Keys: []string{"q"}}})
	if len(refused) != 0 {
		t.Fatalf("refused %+v", refused)
	}
	if a, _ := k.ByKey(Chat, "z", core.Snapshot{}); a.ID != Quit {
		t.Errorf("z is %s", a.ID)
	}
}

func TestWhatCannotBeChangedIsSaidAndLeftOut(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []Change
		want    Refusal
	}{
		{"a key that is taken", []Change{{ID: Quit, Keys: []string{"z"}}}, Refusal{0, "z", `"z" for app.quit is taken by view.zoom;`}},
		{"the later of two", []Change{{ID: Quit, Keys: []string{"X1"}}, {ID: Zoom, Keys: []string{"X1"}}}, Refusal{1, "X1", `taken by app.quit;`}},
		{"a key of a pane", []Change{{ID: Quit, Keys: []string{"f"}}}, Refusal{0, "f", `taken by schedule/schedule.fire;`}},
		{"no such action", []Change{{ID: "go.home", Keys: []string{"x"}}}, Refusal{0, "", `no action is called "go.home"`}},
		{"not in this pane", []Change{{Pane: Budget, ID: TailWrap, Keys: []string{"x"}}}, Refusal{0, "", `no action is called "budget/tail.wrap"`}},
		{"what must stay", []Change{{ID: Interrupt, Keys: []string{"x"}}}, Refusal{0, "", `the key of "app.interrupt" cannot be changed`}},
		{"a key that must stay", []Change{{ID: Quit, Keys: []string{"ctrl+c"}}}, Refusal{0, "ctrl+c", `taken by app.interrupt;`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, refused := Keys{}.Change(c.changes)
			if len(refused) != 1 {
				t.Fatalf("refused %+v", refused)
			}
			got := refused[0]
			if got.Index != c.want.Index || got.Key != c.want.Key || !strings.Contains(got.Text, c.want.Text) {
				t.Errorf("refused %+v, want %+v", got, c.want)
			}
			if a, ok := k.Get(Everywhere, c.changes[got.Index].ID); ok {
				own, _ := Get(Everywhere, a.ID)
				if !slices.Equal(a.Keys, own.Keys) {
					t.Errorf("%s has %v after a refusal", a.ID, a.Keys)
				}
			}
		})
	}
}

func TestWhateverIsAskedForNoKeyMeansTwoThings(t *testing.T) {
	ids := []ID{}
	for _, a := range table() {
		ids = append(ids, a.ID)
	}
	testkit.Check(t, func(t *rapid.T) {
		changes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Change {
			return Change{
				Pane: rapid.SampledFrom(append([]Pane{Everywhere}, Panes...)).Draw(t, "pane"),
				ID:   rapid.SampledFrom(ids).Draw(t, "id"),
				Keys: rapid.SliceOfN(rapid.SampledFrom([]string{"q", "z", "y", "f", "k", "ctrl+c", "f5", "?"}), 0, 2).Draw(t, "keys"),
			}
		}), 0, 8).Draw(t, "changes")
		k, _ := Keys{}.Change(changes)
		for _, p := range Panes {
			rows := append(k.Of(Everywhere), k.Of(p)...)
			for i, a := range rows {
				for _, b := range rows[:i] {
					for _, key := range a.Keys {
						if slices.Contains(b.Keys, key) && (!b.Over || a.Over) {
							t.Fatalf("%s: %q is %s and %s", p, key, b.ID, a.ID)
						}
					}
				}
			}
		}
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

func changed(t *testing.T, changes ...Change) Keys {
	t.Helper()
	k, refused := Keys{}.Change(changes)
	if len(refused) > 0 {
		t.Fatalf("refused %+v", refused)
	}
	return k
}

func TestASentenceNamesTheKeyThatIsBound(t *testing.T) {
	other := changed(t, Change{ID: ForkSave, Keys: []string{"f2", "f3"}}, Change{ID: Palette, Keys: []string{"f1"}}, Change{ID: ForkExit}, Change{ID: Mouse})
	none := changed(t, Change{ID: Palette}, Change{ID: ForkExit})
	for _, c := range []struct {
		keys Keys
		pane Pane
		id   ID
		want [3]string // name, at the beginning, badge
	}{
		{Keys{}, Chat, ForkSave, [3]string{"S", "S", "S"}},
		{Keys{}, Chat, Mouse, [3]string{"M", "M", "M"}},
		{Keys{}, Chat, TailUp, [3]string{"↑", "↑", "↑"}},
		{Keys{}, Forks, TailUp, [3]string{"shift+↑", "shift+↑", "shift+↑"}},
		{other, Chat, ForkSave, [3]string{"f2", "f2", "f2"}},
		{other, Chat, ForkExit, [3]string{"the palette (f1)", "The palette (f1)", "f1"}},
		{other, Budget, Mouse, [3]string{"the palette (f1)", "The palette (f1)", "f1"}},
		{none, Chat, ForkExit, [3]string{"a key in keys.yaml", "A key in keys.yaml", ""}},
		{Keys{}, Budget, ForkSave, [3]string{"the palette (:)", "The palette (:)", ":"}}, // not of this pane
	} {
		n := Names{Keys: c.keys, Pane: c.pane}
		if got := [3]string{n.Name(c.id), n.Opening(c.id), n.Badge(c.id)}; got != c.want {
			t.Errorf("%s in %s is %q, want %q", c.id, c.pane, got, c.want)
		}
	}
}

func TestBadgesStandOnceAndNeverEmpty(t *testing.T) {
	n := Names{Keys: changed(t, Change{ID: ApprovalDeny}, Change{ID: ApprovalAlways}), Pane: Chat}
	if got := n.Badges(ApprovalAllow, ApprovalDeny, ApprovalAlways); !slices.Equal(got, []string{"y", ":"}) {
		t.Errorf("badges %q", got)
	}
	n.Keys = changed(t, Change{ID: ApprovalDeny}, Change{ID: ApprovalAlways}, Change{ID: Palette})
	if got := n.Badges(ApprovalDeny, ApprovalAlways); len(got) != 0 {
		t.Errorf("badges %q", got)
	}
}

func TestKeysThatAreReadAnewAreOtherKeys(t *testing.T) {
	k := changed(t, Change{ID: Quit, Keys: []string{"f9"}})
	copied := k
	if k != copied || k == (Keys{}) || k == changed(t, Change{ID: Quit, Keys: []string{"f8"}}) {
		t.Error("keys cannot be told apart")
	}
	if refusedOnly, _ := (Keys{}).Change([]Change{{ID: "go.home", Keys: []string{"x"}}}); refusedOnly != (Keys{}) || changed(t) != (Keys{}) {
		t.Error("what changes nothing is not the table")
	}
}

// Whatever is bound, a name is something that a sentence can say.
func TestANameIsNeverEmpty(t *testing.T) {
	rows := table()
	testkit.Check(t, func(t *rapid.T) {
		var changes []Change
		for range rapid.IntRange(0, 20).Draw(t, "changes") {
			a := rapid.SampledFrom(rows).Draw(t, "row")
			changes = append(changes, Change{Pane: a.Pane, ID: a.ID, Keys: rapid.SampledFrom([][]string{nil, {"f7"}, {"↑"}, {"down"}}).Draw(t, "keys")})
		}
		keys, _ := Keys{}.Change(changes)
		a := rapid.SampledFrom(rows).Draw(t, "named")
		n := Names{Keys: keys, Pane: a.Pane, ASCII: rapid.Bool().Draw(t, "ascii")}
		if n.Name(a.ID) == "" || n.Opening(a.ID) == "" || strings.TrimSpace(n.Name(a.ID)) != n.Name(a.ID) {
			t.Fatalf("%s is %q", a.ID, n.Name(a.ID))
		}
		if row, _ := keys.Get(a.Pane, a.ID); len(row.Keys) > 0 && n.Key(a.ID) != KeyName(row.Keys[0], n.ASCII) {
			t.Fatalf("%s is named %q and has %q", a.ID, n.Key(a.ID), row.Keys)
		}
	})
}
