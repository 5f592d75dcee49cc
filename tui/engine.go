package tui

import (
	"fmt"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// enginePage is everything about the model and what stands behind it.
func enginePage(s *core.Snapshot) *page {
	e := s.Engine
	var rows []pageRow
	row := func(name, format string, args ...any) {
		rows = append(rows, pageRow{name, clean.Line(fmt.Sprintf(format, args...))})
	}
	row(textEngineName, "%s %s", e.Name, e.Version)
	row(textEngineModel, "%s", e.Model)
	row(textEngineState, "%s", e.State)
	row(textSurfaceName, "%s %s", s.Surface.Name, s.Surface.State)
	if e.Warning != "" {
		row(textEngineWarning, "%s", e.Warning)
	}
	row(textEngineToday, "%s", spentText(e.Today))
	if len(e.Processes) > 0 {
		rows = append(rows, pageRow{}, pageRow{text: textEngineProcesses})
	}
	for _, p := range e.Processes {
		rows = append(rows, pageRow{fmt.Sprintf("  %7d", p.PID), fmt.Sprintf("%-7s  %7s  %6s  %s", clean.Line(p.Use), megabytes(p.Memory),
			since(s.At.Sub(p.Started)), clean.Cut(clean.Line(p.Session), 40))})
	}
	return newTable(textEngineTitle, engineColumn, rows)
}

// engineColumn is where values begin, behind their names and process ids.
const engineColumn = 11

func spentText(u agent.Usage) string {
	if u.Tokens() == 0 {
		return textNothingSpent
	}
	return fmt.Sprintf("%d tokens (%d in, %d out, %d cache read, %d cache write), $%.2f",
		u.Tokens(), u.InputTokens, u.OutputTokens, u.CacheRead, u.CacheWrite, u.CostUSD)
}

func megabytes(n int64) string {
	if n <= 0 {
		return "?"
	}
	return fmt.Sprintf("%d MB", n>>20)
}

func since(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return fmt.Sprintf("%dh%02d", int(d.Hours()), int(d.Minutes())%60)
}
