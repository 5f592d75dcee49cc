package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// The written bytes are those that the policy has judged: the table of core/safety/policy, which
// also applies to the claude command.
func TestEditMakesWhatTheRulesHaveJudged(t *testing.T) {
	data, err := os.ReadFile("../../../safety/policy/testdata/edits.json")
	testkit.Must(t, err)
	var edits []struct {
		Name, File, Before, After string
		Missing, Told, Varies     bool
		With                      map[string]any
	}
	testkit.Must(t, json.Unmarshal(data, &edits))
	letters := func(s string) string {
		var out []byte
		for _, c := range s {
			out = append(out, byte(c))
		}
		return string(out)
	}
	g := newGround(t, nil)
	for _, e := range edits {
		if !e.Missing {
			g.put(e.File, letters(e.Before))
			g.does("Read", with{"file_path": e.File})
		}
		tool := "Edit"
		if e.With["content"] != nil {
			tool = "Write"
		}
		e.With["file_path"] = e.File
		r := g.call(tool, e.With)
		want := letters(e.After)
		if !e.Told && tool == "Edit" {
			want = letters(e.Before) // calls that the policy cannot predict are not made
		}
		if got := g.has(e.File); e.Told && got != want || !e.Told && tool == "Edit" && (got != want || !r.IsError) {
			t.Errorf("%s: %q, want %q (%s)", e.Name, got, want, r.Text)
		}
	}
}

// An edit replaces one place and leaves the rest unchanged, or does nothing.
func TestPropertyAnEditChangesOnlyItsPlace(t *testing.T) {
	g := newGround(t, nil)
	number := 0
	testkit.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab \n\té\u2028")), 0, 30, -1).Draw(rt, "text")
		old := rapid.StringOfN(rapid.RuneFrom([]rune("ab \n")), 1, 3, -1).Draw(rt, "old")
		change := rapid.StringOfN(rapid.RuneFrom([]rune("xy$&")), 1, 5, -1).Draw(rt, "new")
		number++
		name := fmt.Sprintf("%d.md", number)
		g.put(name, text)
		g.does("Read", with{"file_path": name})
		r := g.call("Edit", with{"file_path": name, "old_string": old, "new_string": change})
		before, after, once := strings.Cut(text, old)
		once = once && strings.Count(text, old) == 1 && !strings.Contains(after, old)
		want := text
		if once {
			want = before + change + after
		}
		if got := g.has(name); got != want || r.IsError == once {
			rt.Fatalf("%q with %q for %q is %q, want %q (%s)", text, change, old, got, want, r.Text)
		}
	})
}
