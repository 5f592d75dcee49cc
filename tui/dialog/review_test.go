package dialog

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
)

func TestAnEditIsShownWithItsChangesAndDecidedByOneKey(t *testing.T) {
	edit := routines.Proposal{Version: "v1", Why: "it may use Bash", Diff: "@@ -1 +1 @@\n-old\n+new"}
	for key, want := range map[rune]command.Value{
		'y': command.AllowTask{ID: "a", Version: "v1"}, 'r': command.RefuseEdit{ID: "a", Version: "v1"}, 'q': nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := NewReview("Water", "a", edit)
			press := tea.KeyPressMsg{Code: key, Text: string(key)}
			if a := r.Update(pane.Context{}, press); a.Do != nil || a.Copy != "" {
				t.Errorf("%c does something before the page was seen", key)
			}
			time.Sleep(grace)
			if a := r.Update(pane.Context{}, press); a.Do != want || !a.Close {
				t.Errorf("%c: %+v", key, a)
			}
		})
	}
}

// What an edit would gain and the keys that decide are at the top, however long the diff is.
func TestAnEditsPageBeginsWithWhatItGainsAndTheKeys(t *testing.T) {
	edit := routines.Proposal{Version: "v1", Why: "it may use Bash(rm *); the agent that wrote it may not", Diff: strings.Repeat("+line\n", 100)}
	if text := ReviewText(edit); !strings.HasPrefix(text, "With the agent's edit, it may use Bash(rm *); the agent that wrote it may not.") || !strings.HasSuffix(text, edit.Diff) {
		t.Errorf("without a screen it says %q", text)
	}
	r := NewReview("Water", "a", edit)
	c := pane.Context{Theme: theme.New(theme.Options{Plain: true})}
	for _, size := range [][2]int{{118, 38}, {78, 22}} {
		top := strings.Join(r.Draw(c, size[0], size[1])[:5], "\n")
		for _, want := range []string{"it may use Bash(rm *)", "y allows", "r refuses", "esc decides later"} {
			if !strings.Contains(top, want) {
				t.Errorf("at %v the page lacks %q:\n%s", size, want, top)
			}
		}
	}
	for i, want := range []string{"allow", "refuse", "decide later"} {
		if got := r.Hint()[i].Help().Desc; got != want {
			t.Errorf("hint %d is %q", i, got)
		}
	}
	for _, b := range r.Hint()[1:] {
		if slices.Contains(b.Keys(), "y") {
			t.Errorf("y is also %q", b.Help().Desc)
		}
	}
}
