package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// Foreground is the input of the prompt for a task that fires in the main session.
type Foreground struct {
	Now     time.Time
	Task    routines.Task
	Late    time.Time
	Chain   *Chain
	Updates []updates.Update // delivered in this turn
	Skills  []Skill
}

// Chain is a reminder's position in its chain: check Depth+1 of Max+1.
type Chain struct {
	Depth, Max int
	UntilDone  *UntilDone // nil if the chain continues only when its run asks for it
}

// UntilDone is a reminder that repeats by itself.
type UntilDone struct {
	ID    string
	Again int // minutes until the next repetition
	Came  int // how often it has pinged the user
	Since time.Time
}

// final reports whether this is the last check.
func (c Chain) final() bool { return c.Depth >= c.Max }

// Skill is a skill whose text is added to the prompt.
type Skill struct{ Name, Body string }

// ForegroundPrompt returns the whole message of a task that fires in the main session:
// like BackgroundPrompt, without a preamble.
func ForegroundPrompt(f Foreground) string {
	return assemble(assembly{
		now: f.Now, heading: textUpdatesMain, updates: f.Updates,
		task: f.Task, late: f.Late, skills: f.Skills, chain: f.Chain,
	})
}

// assembly contains the parts of both kinds of prompts.
type assembly struct {
	now        time.Time
	heading    string
	updates    []updates.Update
	task       routines.Task
	background bool
	late       time.Time
	preamble   string // may be empty
	skills     []Skill
	chain      *Chain
}

// assemble joins the parts. A routine's tag is on the same line as its text, a reminder's
// on its own line. Blocks are separated by a blank line, and a missing one leaves no gap.
func assemble(a assembly) string {
	var b strings.Builder
	b.Grow(4096 + len(a.task.Body) + 160*len(a.updates))
	writeHeader(&b, a.now, a.heading, a.updates)
	if len(a.updates) == 0 {
		b.WriteByte(' ')
	} else {
		b.WriteString("\n\n")
	}
	b.WriteString(tag(a.task, a.background))
	first, next := " ", "\n\n" // separators before the first block and before the others
	if !a.late.IsZero() {
		b.WriteString("\n" + textLateBefore + cron.ClockOn(a.late, a.now) + textLateAfter)
		first = "\n"
	}
	if a.task.Kind == routines.KindReminder {
		first = "\n"
	}
	if a.preamble != "" {
		b.WriteString(first + a.preamble)
		first = next
	} else if first == "\n" {
		first = next // without a preamble, the body must not look like part of the tag's lines
	}
	if writeSkills(&b, first, a.skills) {
		first = next
	}
	if a.chain != nil && (a.chain.Max > 0 || a.chain.UntilDone != nil) {
		b.WriteString(first)
		writeChain(&b, *a.chain, a.task, a.background)
		first = next
	}
	if a.task.Body != "" {
		b.WriteString(first)
		b.WriteString(a.task.Body)
	}
	return b.String()
}

// tag returns the tag of the fired task. Webhooks always run in the background.
func tag(t routines.Task, background bool) string {
	kind := string(t.Kind)
	if background && t.Kind != routines.KindWebhook {
		kind += "-bg"
	}
	return "[" + kind + ":" + strings.ReplaceAll(clean.Line(t.ID), "]", "") + "]"
}

// writeSkills writes the texts of the skills after before, and reports whether there were
// any.
func writeSkills(b *strings.Builder, before string, skills []Skill) bool {
	wrote := false
	for _, s := range skills {
		body := strings.TrimSpace(clean.Text(s.Body))
		if body == "" {
			continue
		}
		if !wrote {
			b.WriteString(before)
			b.WriteString(textSkills)
		}
		b.WriteString("\n\n### ")
		b.WriteString(clean.Line(s.Name))
		b.WriteByte('\n')
		b.WriteString(body)
		wrote = true
	}
	return wrote
}

// writeChain describes a reminder's position in its chain.
func writeChain(b *strings.Builder, c Chain, t routines.Task, background bool) {
	place := placeInChain(c)
	if c.UntilDone != nil {
		writeUntilDone(b, c)
		return
	}
	if !c.final() {
		b.WriteString(textChainHead + place + textChainMore)
		if t.AllowPing || !background {
			b.WriteString(textChainFollowUp)
		}
		return
	}
	b.WriteString(textChainFinal + place + textChainEnd)
	switch reports := t.Mode != routines.Blocked; {
	case !background:
		b.WriteString(textFinalForeground)
	case t.AllowPing && reports:
		b.WriteString(textFinalPingReport)
	case t.AllowPing:
		b.WriteString(textFinalPing)
	case reports:
		b.WriteString(textFinalReport)
	default:
		b.WriteString(textFinalSilent)
	}
}

// writeUntilDone describes how often a repeating reminder has pinged the user.
func writeUntilDone(b *strings.Builder, c Chain) {
	u := c.UntilDone
	came := textUntilFirst
	if u.Came > 0 {
		came = fmt.Sprintf(textUntilCame, words.Count(u.Came, "time"), cron.Format(u.Since, "2006-01-02 03:04 PM"))
	}
	fmt.Fprintf(b, textUntilHead, placeInChain(c), came)
	if c.final() {
		b.WriteString(textUntilFinal)
	} else {
		fmt.Fprintf(b, textUntilAgain, u.Again)
	}
	fmt.Fprintf(b, textUntilKnown, u.ID)
}

func placeInChain(c Chain) string {
	return "check " + strconv.Itoa(c.Depth+1) + " of " + strconv.Itoa(max(c.Max, c.Depth)+1)
}
