package main

import (
	"errors"
	"fmt"

	"ollimbot/core/clean"
	"ollimbot/core/words"
	"ollimbot/routines"
)

type restoreCmd struct {
	ID string `arg:"" optional:"" help:"The task's id; without one, what can be put back is listed."`
}

// Run puts back the file of a task that was removed within the last day, or
// lists such tasks.
func (c *restoreCmd) Run(p *process) error {
	at, err := p.open()
	if err != nil {
		return err
	}
	if c.ID == "" {
		return p.lines(removedLines(at)...)
	}
	t, err := routines.RestoreTask(at.dir, at.now, c.ID)
	if errors.Is(err, routines.ErrNotRemoved) {
		return fmt.Errorf("%s: %w: ollim-bot restore lists what can be put back", clean.Line(c.ID), err)
	}
	if err != nil {
		return err
	}
	p.commit(at, t.Path, fmt.Sprintf("restore %s %s", t.Kind, t.ID))
	return p.printf("restored %s: %s -- %s\n", t.ID, clean.Line(t.Path), described(t))
}

func removedLines(at place) []string {
	var lines []string
	for _, r := range routines.RemovedTasks(at.dir, at.now) {
		lines = append(lines, fmt.Sprintf("  %s  %-8s  %-14s  %s", r.ID, r.Kind, words.Ago(at.now.Sub(r.At)), r.Title()))
	}
	if len(lines) == 0 {
		return []string{"nothing was removed within the last day"}
	}
	return lines
}
