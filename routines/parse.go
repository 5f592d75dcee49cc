package routines

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
	"ollimbot/routines/when"
)

// ParseRoutine reads a routine file. rel is its path relative to the data directory. It
// returns all problems in the file's order; if HasErrors is true for them, the routine
// must not be scheduled.
func ParseRoutine(rel string, data []byte) (Routine, []Problem) {
	p, ok := Open(KindRoutine, rel, data)
	if !ok {
		return Routine{Task: Task{Kind: KindRoutine, Path: rel}}, p.problems
	}
	r := Routine{Task: p.Task()}
	r.ID = p.id("id", true)
	r.Cron, r.Schedule = p.recurrence()
	r.Leeway = p.leeway()
	p.checkCron(r.Schedule.Cron, r.Leeway)
	r.RunMissed = p.Choice("missed", "note", "note", "run") == "run"
	r.Late = p.late(r.RunMissed)
	p.UnknownKeys()
	return r, p.Problems()
}

// ParseReminder is ParseRoutine for reminders. A run-at without an offset is a time in
// zone (nil is UTC) and gets a warning.
func ParseReminder(rel string, data []byte, zone *time.Location) (Reminder, []Problem) {
	if zone == nil {
		zone = time.UTC
	}
	p, ok := Open(KindReminder, rel, data)
	if !ok {
		return Reminder{Task: Task{Kind: KindReminder, Path: rel}}, p.problems
	}
	r := Reminder{Task: p.Task()}
	r.ID = p.id("id", true)
	r.RunAt = p.runAt(zone)
	r.Leeway = p.leeway()
	r.ChainDepth = p.count("chain-depth")
	r.MaxChain = p.count("max-chain")
	r.ChainParent = p.id("chain-parent", false)
	p.untilDone(&r, zone)
	r.Ahead = p.ahead(&r)
	p.checkRunAt(&r)
	if r.ChainDepth > r.MaxChain {
		p.AddAt(Error, p.Field("chain-depth"), msgDepthBeyond, r.ChainDepth, r.MaxChain, r.MaxChain)
	}
	p.UnknownKeys()
	return r, p.Problems()
}

// Parse is ParseRoutine or ParseReminder for callers that need only the task.
func Parse(kind Kind, rel string, data []byte, zone *time.Location) (Task, []Problem) {
	if kind == KindReminder {
		r, problems := ParseReminder(rel, data, zone)
		return r.Task, problems
	}
	r, problems := ParseRoutine(rel, data)
	return r.Task, problems
}

// Defaults and limits of a reminder that repeats until done.
const (
	DefaultRounds = 5  // repetitions
	defaultAgain  = 30 // minutes between them
	// MaxAgain is the longest interval in minutes: most of a week.
	MaxAgain = maxCount
	// longestDone is the longest id, which must fit into the buttons' custom ids.
	longestDone = 80
)

// untilDone reads `until: done` and its related keys. If repeating cannot work, the
// reminder fires once.
func (p *File) untilDone(r *Reminder, zone *time.Location) {
	until, again := p.Choice("until", "", "done"), p.count("again")
	last, first := p.flag("last-word", false), p.firstAt(zone)
	switch f := p.Field("until"); {
	case until == "" && again != 0:
		p.AddAt(Warning, p.Field("again"), msgAgainAlone)
		return
	case until == "":
		return
	case !r.Background:
		p.AddAt(Warning, f, msgUntilForeground)
		return
	case !r.AllowPing:
		p.AddAt(Warning, f, msgUntilSilent)
		return
	case len(r.ID) > longestDone:
		p.AddAt(Warning, f, msgUntilLongID, longestDone, len(r.ID))
		return
	}
	r.UntilDone, r.LastWord, r.FirstAt = true, last, first
	r.Again = cmp.Or(again, defaultAgain)
	if p.Field("max-chain").Value.Kind == frontmatter.Null {
		r.MaxChain = max(DefaultRounds, r.ChainDepth)
	}
}

// firstAt reads first-at, which the program writes itself; zero if the key is missing.
func (p *File) firstAt(zone *time.Location) time.Time {
	f, text, ok := p.Text("first-at", "")
	if !ok {
		return time.Time{}
	}
	at, _, err := when.Written(text, zone)
	if err != nil {
		p.addText(Warning, f.Value, msgBadFirstAt, show(text))
	}
	return at
}

func (p *File) cron() (string, cron.Schedule) {
	f, text, ok := p.Text("cron", msgNoCron)
	if !ok {
		return "", cron.Schedule{}
	}
	s, err := cron.Parse(text)
	var bad *cron.Error
	switch {
	case errors.As(err, &bad):
		p.Add(Error, f.Value.Line, textColumn(f.Value)+bad.Column-1, "%s", bad.Message)
		return strings.TrimSpace(clean.Line(text)), cron.Schedule{}
	case err != nil:
		p.AddAt(Error, f, "%v", err)
	case s.Never():
		p.addText(Error, f.Value, msgNeverFires, show(s.String()))
	}
	return s.String(), s
}

// recurrence reads cron and the keys that narrow and bound it.
func (p *File) recurrence() (string, recur.Recurrence) {
	expr, s := p.cron()
	r, ok := recur.Of(s), true
	for _, key := range recur.Names() {
		f, text, given := p.entries(key)
		if !given {
			continue
		}
		if err := when.SetKey(&r, key, text); err != nil {
			p.AddAt(Error, f, "%s is %s; %v", key, show(text), err)
			ok = false
		}
	}
	if !ok || s.String() == "" {
		return expr, recur.Of(s)
	}
	checked, err := recur.Checked(r)
	var bad *recur.Error
	if errors.As(err, &bad) {
		p.AddAt(Error, p.Field(bad.Key), "%v", err)
		return expr, recur.Of(s)
	}
	if f := p.Field(recur.KeyEvery); checked.Every.N > 1 && r.From.IsZero() {
		p.AddAt(Warning, f, msgEveryFrom, checked.Anchor().Words(), checked.Anchor())
	}
	return expr, checked
}

// entries reads a key that takes one text or a list of texts, which it joins.
func (p *File) entries(key string) (f frontmatter.Field, text string, ok bool) {
	if f = p.Field(key); f.Value.Kind != frontmatter.List {
		return p.Text(key, "")
	}
	return f, strings.Join(p.list(key), ", "), true
}

// ahead reads what a reminder says before it is due. Of two at one minute the first counts.
func (p *File) ahead(r *Reminder) (list []when.Ahead) {
	f := p.Field("ahead")
	var texts []string
	switch f.Value.Kind {
	case frontmatter.Null:
		return nil
	case frontmatter.List:
		texts = p.aheadItems(f)
	default:
		_, text, ok := p.Text("ahead", "")
		if !ok {
			return nil
		}
		texts = []string{text}
	}
	list, err := when.ReadAhead(strings.Join(texts, "\n"))
	if err != nil {
		p.AddAt(Error, f, "ahead is %s; %v", show(strings.Join(texts, "; ")), err)
		return nil
	}
	if !r.AllowPing {
		p.AddAt(Warning, f, msgAheadSilent)
		return nil
	}
	seen := map[int64]when.Ahead{}
	return slices.DeleteFunc(list, func(a when.Ahead) bool {
		minute := a.Before(r.RunAt).Truncate(time.Minute).Unix()
		first, twice := seen[minute]
		if twice {
			p.AddAt(Warning, f, msgAheadTwice, first.Long(), a.Long())
		} else {
			seen[minute] = a
		}
		return twice
	})
}

// aheadItems are the entries of the list. YAML reads "1 day: The dentist" without quotes as a key and
// its value.
func (p *File) aheadItems(f frontmatter.Field) (texts []string) {
	for _, item := range f.Value.Items {
		switch {
		case item.Kind == frontmatter.Scalar:
			texts = append(texts, oneLine.Replace(item.Text))
		case item.Kind == frontmatter.Map && len(item.Fields) == 1 && item.Fields[0].Value.Kind == frontmatter.Scalar:
			texts = append(texts, item.Fields[0].Key+": "+oneLine.Replace(item.Fields[0].Value.Text))
		default:
			p.Add(Error, item.Line, item.Column, msgNotAnItem, "ahead")
		}
	}
	return texts
}

// The range of late.
const (
	leastLate = time.Minute
	mostLate  = 31 * 24 * time.Hour
)

// late reads how old a missed fire may be that still runs.
func (p *File) late(runs bool) time.Duration {
	f, text, ok := p.Text("late", "")
	if !ok {
		return UsualLate
	}
	d, err := ReadLate(text)
	switch {
	case err != nil:
		p.AddAt(Error, f, "late is %s; %v", show(text), err)
		return UsualLate
	case !runs:
		p.AddAt(Warning, f, msgLateAlone)
	}
	return d
}

// ReadLate reads how late a missed fire may still run: "2 hours", "at most 2 hours late".
func ReadLate(text string) (time.Duration, error) {
	text = strings.TrimSpace(strings.ToLower(text))
	text = strings.TrimSuffix(strings.TrimPrefix(text, "at most "), " late")
	d, err := when.Span(text)
	if err == nil && (d < leastLate || d > mostLate) {
		err = errors.New(msgLateRange)
	}
	return d, err
}

// LateWords says how late a missed fire may still run: "at most 2 hours late".
func LateWords(d time.Duration) string { return "at most " + when.Ahead{Rest: d}.Long() + " late" }

// runAtLayout is how run-at is written: with an offset and, if needed, microseconds, the
// finest resolution the original program reads.
const runAtLayout = "2006-01-02T15:04:05.999999-07:00"

// The range of years for reminders.
const (
	firstYear = 1900
	lastYear  = 9999
)

// errNoYear is the reason why a time is none for a reminder. It follows the quoted text.
var errNoYear = fmt.Errorf("is not in the years %d to %d", firstYear, lastYear)

// runAt reads a reminder's time, in the configured zone.
func (p *File) runAt(zone *time.Location) time.Time {
	f, text, ok := p.Text("run-at", msgNoRunAt)
	if !ok {
		return time.Time{}
	}
	at, naive, err := when.Written(text, zone)
	if err == nil && (at.Year() < firstYear || at.Year() > lastYear) {
		err = errNoYear
	}
	if err != nil {
		p.addText(Error, f.Value, msgBadRunAt, show(text), err)
		return time.Time{}
	}
	if naive {
		p.addText(Warning, f.Value, msgNaiveRunAt, at.Location(), at.Format(runAtLayout))
	}
	return at
}
