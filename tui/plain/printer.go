package plain

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
)

const (
	// maxWidth is the longest line of output, in characters: a screen reader reads a line without a pause. The command
	// "read" prints all of a message.
	maxWidth = 2000
	// maxLines is how many lines of an answer are printed at once: a listener cannot skip
	// them. "more" prints the next ones.
	maxLines = 15
)

// printer collects lines of output, which flush writes at once.
type printer struct {
	w       io.Writer
	snap    *core.Snapshot // for its clock
	buf     bytes.Buffer
	untimed bool     // without times
	piped   bool     // no person types the lines
	missed  string   // why the line is no command as a whole; empty if it is one
	printed int      // lines of the current answer
	rest    []string // the lines that "more" prints next
}

// say prints an event in one line: time, kind, text.
func (p *printer) say(at time.Time, kind, words string) { p.timed(at, kind+": "+words) }

// timed prints a line after its time.
func (p *printer) timed(at time.Time, line string) {
	if !p.untimed {
		p.buf.WriteString(p.snap.Clock(cmp.Or(at, time.Now()), time.TimeOnly) + " ")
	}
	p.whole(clean.Cut(clean.Line(line), maxWidth))
}

// whole prints a clean line without cutting or delaying it.
func (p *printer) whole(line string) { p.buf.WriteString(line + "\n") }

// answer prints the non-empty lines of an answer, up to maxLines.
func (p *printer) answer(text string) {
	for line := range strings.Lines(clean.Text(text)) {
		line = clean.Cut(clean.Line(strings.TrimSpace(line)), maxWidth)
		switch {
		case line == "":
		case p.printed < maxLines:
			p.printed++
			p.whole(line)
		default:
			p.rest = append(p.rest, line)
		}
	}
}

// begin forgets the previous answer.
func (p *printer) begin() { p.printed, p.rest = 0, nil }

// more prints the next lines of the last answer, or all of them.
func (p *printer) more(all bool) {
	lines := p.rest
	switch p.begin(); {
	case len(lines) == 0:
		p.answer("there is no more")
	case all:
		p.printed = -len(lines)
	}
	p.answer(strings.Join(lines, "\n"))
}

// end prints how many lines of an answer are left.
func (p *printer) end() {
	if n := len(p.rest); n > 0 {
		p.whole(fmt.Sprintf(textMore, words.Grouped(uint64(n), "more line")))
	}
}

// fail prints why a command was not executed.
func (p *printer) fail(text string) { p.answer(textError + text) }

// misread notes why a line is no command as a whole. A person reads it before console.offer.
func (p *printer) misread(why string) {
	p.missed = why
	if !p.piped {
		p.fail(why)
	}
}

// usage notes the syntax of a command that the line does not have.
func (p *printer) usage(c command.Command) {
	p.misread(fmt.Sprintf(textUsage, c.Name, c.Usage, cmp.Or(c.Example, c.Name), c.Name))
}

// read prints lines below their title, if they have one, or none if there are no lines.
func (p *printer) read(title string, lines []string, none string) {
	switch {
	case len(lines) == 0 && p.missed == none && p.piped:
		return
	case len(lines) == 0:
		p.answer(none)
		return
	case title == "":
	case len(lines) == 1:
		title += ": "
	default:
		title += ":\n"
	}
	p.answer(title + strings.Join(lines, "\n"))
}

func (p *printer) flush() error {
	if p.buf.Len() == 0 {
		return nil
	}
	defer p.buf.Reset()
	if _, err := p.w.Write(p.buf.Bytes()); err != nil {
		return fmt.Errorf("write a line: %w", err)
	}
	return nil
}
