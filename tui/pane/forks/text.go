package forks

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/work/fork"
)

// textLabeled marks a run that has read untrusted text, with its label: its tools that act are disabled.
const textLabeled = "untrusted input: %s"

const (
	textEnded = "this run has already ended"

	textLives     = "this run has not ended yet"
	textNoSession = "this run never reached the engine, so there is nothing to continue"
	textLivesYet  = "its task is already running: wait for it, or stop it"
	textNoTask    = "this run has no task to fire"

	textEmpty = "No background runs yet."
	textTeach = "When a routine or reminder fires, its run appears here with its full output."
	textLate  = "late"

	textNoneUnseen = "every failed run has been seen"

	textDamaged = "part of the run history is damaged: those runs are missing, the others are shown"

	textNoneShown = "No run matches. Esc removes the filter."
	textForgotten = "No output of this run is recorded."
	textWaits     = "It starts as soon as a running fork ends."
)

// counts is the state next to the title: "2 running · 1 waiting · 1 failed". unseen is how
// many have failed and were not looked at.
func counts(s *core.Snapshot, unseen int) string {
	running, waiting := fork.Count(s.Forks)
	var out []string
	switch {
	case running > 0 && s.MaxForks > 0 && running >= s.MaxForks:
		out = append(out, fmt.Sprintf("all %d running", running))
	case running > 0:
		out = append(out, fmt.Sprintf("%d running", running))
	}
	if waiting > 0 {
		out = append(out, fmt.Sprintf("%d waiting", waiting))
	}
	if unseen > 0 {
		out = append(out, fmt.Sprintf("%d failed", unseen))
	}
	if len(out) == 0 && len(s.Forks) > 0 {
		return "none running"
	}
	return strings.Join(out, " · ")
}

// queued returns the position of a waiting run.
func queued(s *core.Snapshot, f fork.View) string {
	running, _ := fork.Count(s.Forks)
	place := "next in the queue"
	if f.Position > 1 {
		place = fmt.Sprintf("%d. in the queue", f.Position)
	}
	if running == 0 {
		return place
	}
	return fmt.Sprintf("%s (%d run)", place, running)
}

// stopText names what would be lost.
func stopText(f fork.View, now time.Time) string {
	if f.State == fork.Waiting {
		return fmt.Sprintf("Remove %q from the queue? It has not started and will not run this time.", f.Title)
	}
	spent := ""
	if f.Tools > 0 {
		spent = ", made " + words.Grouped(uint64(f.Tools), "tool call")
	}
	if cost := f.Spent(); cost != "" {
		spent += " and spent " + cost
	}
	lost := "What it has found so far is lost."
	if f.Reports+f.Pings+f.Quiet > 0 {
		lost = "Its pings and reports stay; the rest is lost."
	}
	return fmt.Sprintf("Stop %q? It has run %s%s. %s", f.Title, words.Elapsed(now.Sub(f.Started)), spent, lost)
}

func leaveWords(f fork.View) string {
	if f.State == fork.Waiting {
		return "leave it waiting"
	}
	return "leave it running"
}
