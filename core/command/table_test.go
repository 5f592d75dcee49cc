package command

import (
	"slices"
	"strings"
	"testing"
)

func TestEachWordNamesOneCommandOfItsPlace(t *testing.T) {
	for _, p := range []Place{InPlain, InSlash, InDiscord, InShell, InAgent} {
		seen := map[string]bool{}
		for _, c := range List(p) {
			for _, w := range append([]string{c.Name}, c.Aliases...) {
				if got, ok := Find(p, w); !ok || got.Name != c.Name || seen[w] {
					t.Errorf("%q means %q", w, got.Name)
				}
				seen[w] = true
			}
			if c.About == "" || len(c.About) > 100 && p == InDiscord {
				t.Errorf("what %s does takes 1 to 100 characters", c.Name)
			}
		}
	}
}

func TestExamplesShowWhatACommandNeeds(t *testing.T) {
	for _, c := range List(InPlain) {
		if c.Example != "" && !strings.HasPrefix(c.Example+" ", c.Name+" ") {
			t.Errorf("the example of %s is %q", c.Name, c.Example)
		}
		if c.Usage != "" && c.Example == "" && c.Usage[0] != '[' {
			t.Errorf("the example of %s lacks what it needs", c.Name)
		}
	}
}

func TestEveryCommandOfTheConversationIsCarriedOut(t *testing.T) {
	for _, c := range List(InSlash) {
		if (c.slash == nil) != (c.Name == "help") {
			t.Errorf("nothing carries out /%s", c.Name)
		}
	}
}

// N6: a mistyped slash command gets the nearest one as a suggestion; N20: the other name of
// update works.
func TestAMistypedSlashCommandGetsTheNearest(t *testing.T) {
	for line, want := range map[string]string{"/modell": "did you mean /model?", "/cleer": "did you mean /clear?", "/xyzzy": "there are /attach "} {
		if _, err := (Slash{Line: line}).CarryOut(t.Context(), Host{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	if c, ok := Find(InSlash, "upgrade"); !ok || c.Name != "update" {
		t.Errorf("/upgrade is %q", c.Name)
	}
}

// A2: a command that prints what others may have written labels its reader.
func TestEachCommandOfTheAgentSaysWhatItPrints(t *testing.T) {
	for _, c := range List(InAgent) {
		if c.Prints == 0 {
			t.Errorf("%s: decide which stored text it prints", c.Name)
		}
	}
}

// What a run may still do once it has read a stranger's words.
func TestTheCommandsThatOnlyReadAreThoseOfTheAgentThatWriteNothing(t *testing.T) {
	list := ReadOnly()
	for name, reads := range map[string]bool{
		"help": true, "status": true, "tasks list": true, "gmail read": true, "history search": true, "reminder list": true,
		"tasks add": false, "cal delete": false, "reminder add": false, "routine cancel": false, "reminder done": false, // they write
		"settings": false, "fire": false, "mcp test": false, // the agent has none of these
	} {
		if slices.Contains(list, name) != reads {
			t.Errorf("%s only reads: %v", name, !reads)
		}
	}
}
