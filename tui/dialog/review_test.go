package dialog

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/tui/pane"
)

func TestAnEditIsShownWithItsChangesAndDecidedByOneKey(t *testing.T) {
	edit := routines.Proposal{Version: "v1", Why: "it may use Bash", Diff: "@@ -1 +1 @@\n-old\n+new"}
	for key, want := range map[rune]command.Value{
		'y': command.AllowTask{ID: "a", Version: "v1"}, 'r': command.RefuseEdit{ID: "a", Version: "v1"}, 'q': nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := NewReview("Water", "a", edit)
			press := tea.KeyPressMsg{Code: key, Text: string(key)}
			if a := r.Take(pane.Context{}, press); a.Do != nil {
				t.Errorf("%c decides before the page was seen", key)
			}
			time.Sleep(grace)
			if a := r.Take(pane.Context{}, press); a.Do != want || !a.Close {
				t.Errorf("%c: %+v", key, a)
			}
			text := ReviewText(edit)
			if !strings.Contains(text, "it may use Bash") || !strings.HasSuffix(text, "-old\n+new") {
				t.Errorf("the page says %q", text)
			}
		})
	}
}
