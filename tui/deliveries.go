package tui

import (
	"fmt"
	"strings"

	"ollimbot/core"
	"ollimbot/core/clean"
)

// deliveriesPage is what came in from other programs: never what it said.
func deliveriesPage(s *core.Snapshot) *page {
	var out strings.Builder
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
		fmt.Fprintf(&out, "%s  %-24s %6d bytes  %-12s %s\n", at.Format("Jan 2 15:04:05"), name, d.Size, clean.Line(d.Verdict), outcome)
	}
	if len(s.Deliveries) == 0 {
		out.WriteString(textNoDeliveries)
	}
	return newPage(textDeliveries, strings.TrimRight(out.String(), "\n"))
}
