package main

import (
	"fmt"
	"strings"

	"ollimbot/core/words"
)

type doctorCmd struct {
	JSON bool `name:"json" help:"Answer as JSON."`
}

// The levels of a finding.
const (
	pass = "PASS"
	warn = "WARN"
	bad  = "FAIL"
)

// finding is one line of the doctor.
type finding struct {
	Section string `json:"section"`
	Level   string `json:"level"`
	Label   string `json:"label"`
	Message string `json:"message"`
}

// doctorAnswer is the JSON answer.
type doctorAnswer struct {
	Checks   []finding `json:"checks"`
	Passed   int       `json:"passed"`
	Warnings int       `json:"warnings"`
	Failures int       `json:"failures"`
}

// report collects findings, section by section.
type report struct {
	section string
	answer  doctorAnswer
}

func (r *report) add(level, label, format string, args ...any) {
	r.answer.Checks = append(r.answer.Checks, finding{r.section, level, label, fmt.Sprintf(format, args...)})
	switch level {
	case pass:
		r.answer.Passed++
	case warn:
		r.answer.Warnings++
	default:
		r.answer.Failures++
	}
}

// Run checks everything that the bot stands on and changes nothing; a failure
// makes the command fail.
func (c *doctorCmd) Run(p *process) error {
	at, err := p.open()
	if err != nil {
		return err
	}
	r := &report{}
	for _, section := range []struct {
		title string
		check func(*report, place)
	}{
		{"ENVIRONMENT", checkEnvironment},
		{"DISCORD", checkDiscord},
		{"CLAUDE", p.checkClaude},
		{"SANDBOX", p.checkSandbox},
		{"DATA DIRECTORY", checkDataDir},
		{"TIMEZONE & SCHEDULING", checkZone},
		{"ROUTINES", p.checkRoutines},
		{"REMINDERS", p.checkReminders},
		{"TOOL POLICY", p.checkTools},
		{"AGENT FILES", checkAgentFiles},
		{"STATE FILES", checkState},
		{"DISK", checkDisk},
	} {
		r.section = section.title
		section.check(r, at)
	}
	if c.JSON {
		err = p.json(r.answer)
	} else {
		err = p.lines(doctorLines(r.answer)...)
	}
	if err == nil && r.answer.Failures > 0 {
		return errSilent
	}
	return err
}

func doctorLines(a doctorAnswer) []string {
	var lines []string
	section := ""
	for _, f := range a.Checks {
		if f.Section != section {
			if section != "" {
				lines = append(lines, "")
			}
			section = f.Section
			lines = append(lines, section)
		}
		lines = append(lines, fmt.Sprintf("  %s  %s: %s", f.Level, f.Label, strings.ReplaceAll(f.Message, "\n", " ")))
	}
	return append(lines, "", fmt.Sprintf("SUMMARY: %d passed, %s, %s",
		a.Passed, words.Count(a.Warnings, "warning"), words.Count(a.Failures, "failure")))
}
