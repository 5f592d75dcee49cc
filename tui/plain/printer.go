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
	// maxWidth is the longest line of output, in characters: a screen reader reads it in
	// one go. The command "read" prints all of a message.
	maxWidth = 2000
	// maxLines is how many lines of a list are printed: a listener cannot skip them.
	maxLines = 30
)

// printer collects lines of output, which flush writes at once.
type printer struct {
	w    io.Writer
	snap *core.Snapshot // for its clock
	buf  bytes.Buffer
}

// say prints one line: time, kind, words.
func (p *printer) say(at time.Time, kind, words string) {
	p.verbatim(at, kind, clean.Cut(clean.Line(words), maxWidth))
}

// verbatim is say for a line that is clean and short enough.
func (p *printer) verbatim(at time.Time, kind, line string) {
	fmt.Fprintf(&p.buf, "%s %s: %s\n", p.snap.Clock(cmp.Or(at, time.Now()), time.TimeOnly), kind, line)
}

// answer prints each line of the answer to a command.
func (p *printer) answer(kind, text string) {
	now := time.Now()
	for line := range strings.Lines(clean.Text(text)) {
		if line = strings.TrimSpace(line); line != "" {
			p.say(now, kind, line)
		}
	}
}

// fail prints why a command was not carried out.
func (p *printer) fail(text string) { p.answer(kindError, text) }

// usage prints how a command is written.
func (p *printer) usage(c command.Command) {
	p.fail(fmt.Sprintf(textUsage, c.Name, c.Usage, cmp.Or(c.Example, c.Name), c.Name))
}

// read prints the first lines of a list, or none if there are no lines.
func (p *printer) read(kind string, lines []string, none string) {
	if n := len(lines) - maxLines; n > 0 {
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf(textMore, words.Thousands(uint64(n))))
	}
	p.answer(kind, cmp.Or(strings.Join(lines, "\n"), none))
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
