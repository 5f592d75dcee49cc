package action

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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
		{Keys{}, Budget, ForkSave, [3]string{"the palette (ctrl+p)", "The palette (ctrl+p)", "ctrl+p"}}, // not of this pane
	} {
		n := Names{Keys: c.keys, Pane: c.pane}
		if got := [3]string{n.Name(c.id), n.Opening(c.id), n.Badge(c.id)}; got != c.want {
			t.Errorf("%s in %s is %q, want %q", c.id, c.pane, got, c.want)
		}
	}
}

func TestBadgesStandOnceAndNeverEmpty(t *testing.T) {
	n := Names{Keys: changed(t, Change{ID: ApprovalDeny}, Change{ID: ApprovalAlways}), Pane: Chat}
	if got := n.Badges(ApprovalAllow, ApprovalDeny, ApprovalAlways); !slices.Equal(got, []string{"y", "ctrl+p"}) {
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
	rows := All()
	rapid.Check(t, func(t *rapid.T) {
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
