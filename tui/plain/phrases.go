package plain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/tail"
	"ollimbot/core/words"
	"ollimbot/routines/cron"
)

// spoken puts words in the place of signs that a screen reader spells, makes gaps
// between columns commas, and drops the marks of markdown. It is for words of the program: what the model or
// the user wrote stays as it is.
func spoken(text string) string {
	signs := strings.NewReplacer(" → ", " to ", " · ", ", ", " — ", ", ", "…", "...", "×", " times ", "|", " or ", "**", "", "`", "")
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "**") { // a setting, and behind it the values that it takes as code
			l = strings.NewReplacer("` `", ", ", " `", " (", "`", ")").Replace(l)
		}
		lines[i] = commas(signs.Replace(l))
	}
	return strings.Join(lines, "\n")
}

// commas makes every gap of two spaces or more a comma, but behind a colon.
func commas(line string) string {
	var parts []string
	for p := range strings.SplitSeq(line, "  ") {
		if p = strings.TrimSpace(p); p != "" {
			parts = append(parts, p)
		}
	}
	return strings.ReplaceAll(strings.Join(parts, ", "), ":, ", ": ")
}

// flat is a text on one line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// count is a number and its noun: "1 ping", "3 pings"; empty for none.
func count(n int, noun string) string {
	if n <= 0 {
		return ""
	}
	return words.Grouped(uint64(n), noun)
}

// joined puts what is not empty side by side.
func joined(parts ...string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, ", ")
}

// clockText is a time of day, with its day where that is not now's: "14:05",
// "tomorrow 09:00", "Friday 09:00", "Friday 4 December 09:00".
func clockText(t, now time.Time, zone *time.Location) string {
	t, now = t.In(zone), now.In(zone)
	clock := cron.Format(t, "15:04")
	switch d := t.Sub(now); {
	case words.SameDay(t, now, zone):
		return clock
	case words.SameDay(t, now.AddDate(0, 0, 1), zone):
		return "tomorrow " + clock
	case words.SameDay(t, now.AddDate(0, 0, -1), zone):
		return "yesterday " + clock
	case d > 0 && d < 6*24*time.Hour:
		return t.Format("Monday ") + clock
	}
	return t.Format("Monday 2 January ") + clock
}

// budgetText says how many pings are left, and when there are more.
func budgetText(s *core.Snapshot, zone *time.Location) string {
	b := s.Budget
	if b.State.Capacity == 0 {
		return "no pings but critical ones: the capacity is 0; budget 5 lets them through"
	}
	text := fmt.Sprintf("%d of %s left, one comes back every %s",
		b.State.Whole(), count(b.State.Capacity, "ping"), words.Every(time.Duration(b.State.RefillRateMinutes)*time.Minute))
	if !b.NextAt.IsZero() {
		text += ", the next at " + clockText(b.NextAt, s.At, zone)
	}
	if !b.FullAt.IsZero() && !b.FullAt.Equal(b.NextAt) {
		text += ", all by " + clockText(b.FullAt, s.At, zone)
	}
	if used := joined(count(b.State.DailyUsed, "ping"), count(b.State.CriticalUsed, "critical ping")); used != "" {
		text += "; " + used + " today"
	}
	if !b.Dry.IsZero() {
		text += "; the one at " + clockText(b.Dry, s.At, zone) + " may find none left"
	}
	return text
}

func mutedText(until, now time.Time, zone *time.Location) string {
	if until.IsZero() {
		return "pings are not muted any more"
	}
	return "pings are muted until " + clockText(until, now, zone) + "; mute off ends it"
}

// engineText is everything about the model and what stands behind it.
func engineText(s *core.Snapshot) string {
	e := s.Engine
	lines := []string{engineName(e) + ", " + upDown(e.OK, e.State)}
	if e.Version != "" {
		lines = append(lines, "version "+e.Version)
	}
	if e.Warning != "" && e.Warning != e.State {
		lines = append(lines, "warning: "+e.Warning)
	}
	if e.LoginNeeded {
		lines = append(lines, "nobody is logged in; login begins it")
	}
	lines = append(lines, "today: "+spentText(e.Today))
	for _, p := range e.Processes {
		text := fmt.Sprintf("process %d, session", p.PID)
		if p.Memory > 0 {
			text += fmt.Sprintf(", %d megabytes", p.Memory>>20)
		}
		if !p.Started.IsZero() {
			text += ", for " + words.Long(s.At.Sub(p.Started))
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

func spentText(u agent.Usage) string {
	if u.Tokens() == 0 {
		return textNothingSpent
	}
	return fmt.Sprintf("%s, %.2f dollars", count(u.Tokens(), "token"), u.CostUSD)
}

// tailText is a line of a run's output or of the log: what it is, and its words.
func tailText(l tail.Line) string {
	if l.Kind == tail.Text || l.Kind == tail.Info {
		return l.Text
	}
	return string(l.Kind) + ": " + l.Text
}

// costsText makes sentences of what runs have cost: all of them, then a line for
// each task.
func costsText(o command.Outcome) string {
	lines := []string{sumText(o.Message)}
	for _, t := range o.Costs.Tasks {
		lines = append(lines, costText(t))
	}
	return strings.Join(lines, "\n")
}

// sumText reads "last 7 days: 5 runs, 51k tokens, $0.12".
func sumText(line string) string {
	words := strings.Fields(line)
	for i, w := range words {
		if amount, ok := strings.CutPrefix(w, "$"); ok {
			bare := strings.TrimRight(amount, ";,")
			words[i] = bare + " dollars" + amount[len(bare):]
		}
		if i > 0 && strings.HasPrefix(w, "token") {
			words[i-1] = tokensText(words[i-1])
		}
	}
	return spoken(strings.Join(words, " "))
}

func costText(t command.TaskCost) string {
	title := t.Title
	if t.ID != "" {
		title += " (" + t.ID + ")"
	}
	tokens := strconv.Itoa(t.Tokens)
	switch {
	case t.Tokens >= 999_500:
		tokens = fmt.Sprintf("%.1f million", float64(t.Tokens)/1e6)
	case t.Tokens >= 1000:
		tokens = fmt.Sprintf("%.0f thousand", float64(t.Tokens)/1e3)
	}
	return fmt.Sprintf("%s: %s, %s tokens, %s, %s a run, %.0f percent of all",
		title, count(t.Runs, "run"), tokens, dollarsText(t.Dollars), dollarsText(t.Dollars/float64(max(1, t.Runs))), 100*t.Share)
}

// dollarsText has more digits where few cents would be none.
func dollarsText(d float64) string {
	if d > 0 && d < 0.1 {
		return fmt.Sprintf("%.4f dollars", d)
	}
	return fmt.Sprintf("%.2f dollars", d)
}

// tokensText is a number of tokens in words: "45 thousand", "1.2 million".
func tokensText(n string) string {
	if short, ok := strings.CutSuffix(n, "k"); ok {
		return short + " thousand"
	}
	if short, ok := strings.CutSuffix(n, "M"); ok {
		return short + " million"
	}
	return n
}

// describedText splits what the core tells of a task: rows of a name and a value,
// which become sentences, and below an empty line the text of its file.
func describedText(body string) (about, file string) {
	rows, file, _ := strings.Cut(body, "\n\n")
	title, rows, _ := strings.Cut(rows, "\n")
	lines := []string{title}
	last := ""
	for row := range strings.SplitSeq(rows, "\n") {
		name, value, ok := strings.Cut(strings.TrimSpace(row), "  ")
		switch {
		case strings.HasPrefix(row, " "): // goes on below the row before
			name, value = last, row
		case !ok: // a name that fills its column
			name, value, _ = strings.Cut(strings.TrimSpace(row), " ")
		}
		last = name
		lines = append(lines, name+": "+spoken(strings.TrimSpace(value)))
	}
	return strings.Join(lines, "\n"), file
}
