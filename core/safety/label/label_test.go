package label

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestALabelNamesItsOriginAndItsPath(t *testing.T) {
	l := From("webhook build").Via("run 4f2a").Via("update")
	if l != "webhook build → run 4f2a → update" || l.Origin() != "webhook build" {
		t.Errorf("%q from %q", l, l.Origin())
	}
	if l := From("a\x1b[1m→b").Via(" "); l != "a->b → …" {
		t.Errorf("steps that have an arrow, or nothing: %q", l)
	}
	if again := l.Via("update"); again != l {
		t.Errorf("the same step twice: %q", again)
	}
}

func TestTheUsersOwnTextHasNoLabelWhateverItPasses(t *testing.T) {
	if l := Label("").Via("run 4f2a"); l != "" || l.Origin() != "" || l.Steps() != nil {
		t.Errorf("%q", l)
	}
	if l := Join("", "", ""); l != "" {
		t.Errorf("joined %q", l)
	}
}

func TestALongPathKeepsItsOriginAndItsLatestSteps(t *testing.T) {
	l := From("mail")
	for i := range 1000 {
		l = l.Via("hop " + strings.Repeat("x", i%90))
	}
	steps := l.Via("last").Steps()
	if len(steps) != maxSteps || steps[0] != "mail" || steps[1] != gap || steps[maxSteps-1] != "last" {
		t.Errorf("%q", steps)
	}
}

func TestAStoredLabelIsCleaned(t *testing.T) {
	for text, want := range map[string]Label{
		``:                            "",
		"  ":                          "",
		"mail":                        "mail",
		"the payload of a webhook":    "the payload of a webhook",
		"mail→run 1 →  → update":      "mail → run 1 → update",
		"\x1b[31mmail\n → \u202eupd":  "mail → upd",
		"\x1b[2J":                     gap,
		strings.Repeat("m", 1000):     Label(strings.Repeat("m", maxStep-1) + "…"),
		strings.Repeat("a → b → ", 9): "a → … → a → b → a → b → a → b",
	} {
		l := From("another")
		if err := l.UnmarshalText([]byte(text)); err != nil || l != want {
			t.Errorf("%q: %q, want %q, %v", text, l, want, err)
		}
		if n := len(l.Steps()); n > maxSteps {
			t.Errorf("%q: %d steps", text, n)
		}
	}
}

// However labels are joined or passed on, one labeled part labels the whole, and storing a label
// changes nothing.
func TestLabelsAreNeverLost(t *testing.T) {
	step := rapid.StringN(0, 80, -1)
	some := rapid.Custom(func(t *rapid.T) Label {
		if rapid.Bool().Draw(t, "own") {
			return ""
		}
		return From(step.Draw(t, "source"))
	})
	testkit.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(some, 0, 4).Draw(t, "labels")
		joined := Join(list...)
		labeled := false
		for _, l := range list {
			labeled = labeled || l != ""
		}
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			joined = joined.Via(step.Draw(t, "step"))
		}
		if (joined != "") != labeled {
			t.Fatalf("%q of %q", joined, list)
		}
		data, err := json.Marshal(joined)
		var stored Label
		if err != nil || json.Unmarshal(data, &stored) != nil || stored != joined {
			t.Fatalf("%q was stored as %s and read as %q, %v", joined, data, stored, err)
		}
	})
}
