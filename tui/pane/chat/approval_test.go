package chat

import (
	"strings"
	"testing"

	"ollimbot/core/safety/policy"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// N2: however small the card is, it shows how a call begins and how it ends.
func TestACardShowsBothEndsOfACall(t *testing.T) {
	call := "Bash: curl example.com; " + strings.Repeat("echo harmless; ", 100) + "touch /tmp/evil"
	c := pane.Context{Theme: theme.New(theme.Options{})}
	for w := 20; w < 120; w += 7 {
		for most := 1; most < 6; most++ {
			rows, cut := callRows(c, policy.Approval{Label: call, Text: call}, w, most)
			all := strings.Join(rows, "")
			if !cut || len(rows) > most || !strings.HasPrefix(all, "Bash: cu") && !strings.HasPrefix(all, "The ") || !strings.HasSuffix(all, "evil") {
				t.Errorf("%d cells, %d rows: cut %v\n%s", w, most, cut, strings.Join(rows, "\n"))
			}
			for _, row := range rows {
				if widget.Cells(row) > w {
					t.Errorf("%d cells: %q", w, row)
				}
			}
		}
	}
}
