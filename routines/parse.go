package routines

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/store"
	"ollimbot/routines/cron"
)

// ParseRoutine reads a routine file. rel is its path relative to the data
// directory, zone the zone that the user lives in (nil is UTC). All problems of
// the file come back, in the file's order; while HasErrors of them, the routine
// must not be scheduled.
func ParseRoutine(rel string, data []byte, zone *time.Location) (Routine, []Problem) {
	p := newParser(rel, KindRoutine, data, zone)
	if !p.open() {
		return Routine{Task: Task{Kind: KindRoutine, Path: rel}}, p.problems
	}
	r := Routine{Task: p.task()}
	r.Cron, r.Schedule = p.cron()
	r.RunMissed = p.choice("missed", "note", missedChoices) == "run"
	p.unknownKeys()
	return r, p.finish()
}

// ParseReminder reads a reminder file as ParseRoutine does a routine's. A
// run-at without an offset is a time in zone, with a warning.
func ParseReminder(rel string, data []byte, zone *time.Location) (Reminder, []Problem) {
	p := newParser(rel, KindReminder, data, zone)
	if !p.open() {
		return Reminder{Task: Task{Kind: KindReminder, Path: rel}}, p.problems
	}
	r := Reminder{Task: p.task()}
	r.RunAt = p.runAt()
	r.ChainDepth = p.count("chain-depth")
	r.MaxChain = p.count("max-chain")
	r.ChainParent = p.id("chain-parent")
	if r.ChainDepth > r.MaxChain {
		p.errorAt(p.field("chain-depth"), depthBeyond(r.ChainDepth, r.MaxChain))
	}
	p.unknownKeys()
	return r, p.finish()
}

// HasErrors reports whether any of the problems keeps the file out of the schedule.
func HasErrors(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Error })
}

// parser collects what one file says and what is wrong with it.
type parser struct {
	kind     Kind
	rel      string
	data     []byte
	zone     *time.Location
	doc      store.Document
	problems []Problem
}

func newParser(rel string, kind Kind, data []byte, zone *time.Location) *parser {
	if zone == nil {
		zone = time.UTC
	}
	return &parser{kind: kind, rel: rel, data: data, zone: zone}
}

// open splits the file; without front matter there is nothing else to check.
func (p *parser) open() bool {
	doc, err := store.ParseFrontMatter(p.data)
	if err != nil {
		var syntax *store.SyntaxError
		if errors.As(err, &syntax) {
			p.add(Error, syntax.Line, syntax.Column, syntax.Message)
		} else {
			p.add(Error, 1, 1, err.Error())
		}
		return false
	}
	p.doc = doc
	return true
}

// field is the field of that key, the zero Field where there is none.
func (p *parser) field(key string) store.Field {
	f, _ := p.doc.Get(key)
	return f
}

// finish puts the problems into the file's order.
func (p *parser) finish() []Problem {
	slices.SortStableFunc(p.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p.problems
}

func (p *parser) add(s Severity, line, column int, message string) {
	p.problems = append(p.problems, Problem{
		File: clean.Line(p.rel), Line: line, Column: column, Severity: s, Message: clean.Line(message),
	})
}

// errorAt points at a field's value, or where it has none, at its key.
func (p *parser) errorAt(f store.Field, message string) {
	p.addAt(Error, f, message)
}

func (p *parser) addAt(s Severity, f store.Field, message string) {
	line, column := f.Value.Line, f.Value.Column
	if line == 0 || f.Value.Kind == store.Null {
		line, column = f.Line, f.Column
	}
	p.add(s, max(line, 1), max(column, 1), message)
}

// task reads what both kinds have in common.
func (p *parser) task() Task {
	t := Task{
		Kind:        p.kind,
		ID:          p.id("id"),
		Path:        p.rel,
		Description: p.line("description"),
		Body:        p.body(),
		Background:  p.flag("background", p.kind == KindReminder),
		Model:       p.choice("model", "", models),
		Thinking:    p.flag("thinking", true),
		Isolated:    p.flag("isolated", false),
		Mode:        Mode(p.choice("update-main-session", string(OnPing), modes)),
		AllowPing:   p.flag("allow-ping", true),
		Allowed:     p.list("allowed-tools"),
		Disallowed:  p.list("disallowed-tools"),
		Skills:      p.list("skills"),
		Subagent:    p.line("subagent"),
		TrustInput:  p.flag("trust-input", false),
	}
	if t.ID == "" && !p.given("id") {
		p.missing("id", missingID(p.rel, p.data))
	}
	if t.Allowed != nil && t.Disallowed != nil {
		later := p.field("allowed-tools")
		if f := p.field("disallowed-tools"); f.Line > later.Line {
			later = f
		}
		p.add(Error, later.Line, later.Column, bothToolLists())
		t.Disallowed = nil
	}
	p.checkTools()
	return t
}

// given reports whether the key is there with a value that is not null.
func (p *parser) given(key string) bool {
	f, ok := p.doc.Get(key)
	return ok && f.Value.Kind != store.Null
}

// missing points at an empty key where there is one, else at the file's first line.
func (p *parser) missing(key, message string) {
	f := p.field(key)
	p.add(Error, max(f.Line, 1), max(f.Column, 1), message)
}

func (p *parser) cron() (string, cron.Schedule) {
	f, text, ok := p.scalar("cron")
	if !ok {
		if !p.given("cron") {
			p.missing("cron", missingCron())
		}
		return "", cron.Schedule{}
	}
	s, err := cron.Parse(text)
	var bad *cron.Error
	switch {
	case errors.As(err, &bad):
		p.add(Error, f.Value.Line, textColumn(f.Value)+bad.Column-1, bad.Message)
		return strings.TrimSpace(clean.Line(text)), cron.Schedule{}
	case err != nil:
		p.errorAt(f, err.Error())
	case s.Never():
		p.add(Error, f.Value.Line, textColumn(f.Value), neverFires(s.String()))
	}
	return s.String(), s
}

// textColumn is where the text of a scalar begins: behind its quote.
func textColumn(v store.Value) int {
	if v.Quoted {
		return v.Column + 1
	}
	return v.Column
}

func (p *parser) checkTools() {
	for _, item := range p.field("allowed-tools").Value.Items {
		if severity, message := CheckTool(item.Text); severity != "" && item.Kind == store.Scalar {
			p.add(severity, item.Line, textColumn(item), message)
		}
	}
}
