package dialog

import (
	"fmt"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/words"
)

// Engine is everything about the model and what stands behind it.
func Engine(s *core.Snapshot) *Page {
	return NewTable(textEngineTitle, engineColumn, EngineRows(s))
}

// EngineRows are the rows of that page.
func EngineRows(s *core.Snapshot) []Row {
	e := s.Engine
	var rows []Row
	row := func(name, format string, args ...any) {
		rows = append(rows, Row{name, clean.Line(fmt.Sprintf(format, args...))})
	}
	row(textEngineName, "%s %s", e.Name, e.Version)
	if e.Model != "" {
		row(textEngineModel, "%s", e.Model)
	}
	row(textEngineState, "%s", e.State)
	row(textSurfaceName, "%s %s", s.Surface.Name, s.Surface.State)
	if e.Warning != "" {
		row(textEngineWarning, "%s", e.Warning)
	}
	row(textEngineToday, "%s  %s", words.Dollars(e.Today.CostUSD), command.Blocks(e.Today))
	if len(e.Processes) > 0 {
		rows = append(rows, Row{}, Row{Text: textEngineProcesses})
	}
	for _, p := range e.Processes {
		memory := "?"
		if p.Memory > 0 {
			memory = words.Memory(p.Memory)
		}
		rows = append(rows, Row{fmt.Sprintf("  %7d", p.PID), fmt.Sprintf("session  %7s  %6s  %s", memory,
			words.Age(s.At.Sub(p.Started)), clean.Cut(clean.Line(p.Session), 40))})
	}
	return rows
}

// engineColumn is where values begin, behind their names and process ids.
const engineColumn = 11
