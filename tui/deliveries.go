package tui

import (
	"fmt"
	"strings"

	"ollimbot/core"
	"ollimbot/core/clean"
)

// deliveriesPage is what came in from other programs: never what it said.
func deliveriesPage(s *core.Snapshot) *page {
	var rows []pageRow
	for _, d := range s.Deliveries {
		name := clean.Cut(clean.Line(d.Webhook), 24)
		if name == "" {
			name = textNoSuchHook
		}
		at := d.At
		if s.Zone != nil {
			at = at.In(s.Zone)
		}
		outcome := clean.Line(d.Outcome)
		if d.Count > 1 {
			outcome += fmt.Sprintf(" ×%d", d.Count)
		}
		if len(d.Flagged) > 0 {
			outcome += " (" + clean.Cut(clean.Line(strings.Join(d.Flagged, ", ")), 60) + ")"
		}
		rows = append(rows, pageRow{
			at.Format("Jan _2 15:04:05"),
			fmt.Sprintf("%-24s %6d bytes  %-12s %s", name, d.Size, clean.Line(d.Verdict), outcome),
		})
	}
	if len(s.Deliveries) == 0 {
		rows = append(rows, pageRow{text: textNoDeliveries})
	}
	return newTable(textDeliveries, deliveryColumn, rows)
}

// deliveryColumn is where the name of a webhook begins, behind the time.
const deliveryColumn = 17
