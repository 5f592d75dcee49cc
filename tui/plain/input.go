package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/muesli/cancelreader"

	"ollimbot/core/command"
)

// maxLine is the longest command, in bytes.
const maxLine = 64 << 10

// input joins lines that end in a backslash. Two backslashes at the end stand for one.
type input struct {
	begun string // at most one line more than maxLine
}

// add adds a line and reports whether the command continues in the next one.
func (in *input) add(line string) (continues bool) {
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	line, continues = strings.CutSuffix(line, `\`)
	if len(in.begun) <= maxLine {
		in.begun += strings.TrimRightFunc(line, unicode.IsSpace) + "\n"
	}
	return continues && !strings.HasSuffix(line, `\`)
}

// end returns the whole command. False means that it was too long.
func (in *input) end() (text string, ok bool) {
	text, in.begun = in.begun, ""
	return strings.TrimSpace(text), len(text) <= maxLine // readLine may have cut it
}

// readLines sends the lines of the input until its end or the end of ctx, and closes
// the channel.
func readLines(ctx context.Context, from io.Reader, lines chan<- string) error {
	defer close(lines)
	if from == nil {
		<-ctx.Done()
		return nil
	}
	in, stop := interruptible(ctx, from)
	defer stop()
	r := bufio.NewReaderSize(in, 4096)
	for {
		line, err := readLine(r)
		if line != "" { // an empty line still has its line break
			select {
			case lines <- line:
			case <-ctx.Done():
				return nil
			}
		}
		switch {
		case err == nil:
		case ctx.Err() != nil, errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed), errors.Is(err, io.ErrClosedPipe):
			return nil
		default:
			return fmt.Errorf("read a command: %w", err)
		}
	}
}

// readLine reads a line of any length and keeps its first maxLine bytes.
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		b.Write(part[:min(len(part), maxLine-b.Len())])
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b.String(), err
		}
	}
}

// interruptible makes a Read of the input end with ctx. Closing a terminal does not wake its reader, so files are
// polled; other inputs are closed.
func interruptible(ctx context.Context, in io.Reader) (io.Reader, func()) {
	r, err := cancelreader.NewReader(in)
	if err != nil {
		return in, func() {}
	}
	stop := context.AfterFunc(ctx, func() {
		if c, ok := in.(io.Closer); !r.Cancel() && ok {
			_ = c.Close() // nothing can be done if the input does not close
		}
	})
	return r, func() { stop(); _ = r.Close() }
}

// request is a command of the user and the text after its name.
type request struct {
	command.Command
	rest string
}

// howMany reads a number of lines or days, at least 1; an empty text is the default n.
func howMany(text string, n int) (int, bool) {
	if text == "" {
		return n, true
	}
	n, err := strconv.Atoi(text)
	return min(n, 10_000), err == nil && n > 0
}

// countFirst reads a number of lines, n by default, before a filter.
func countFirst(text string, n int) (most int, filter string) {
	first, rest := command.CutWord(text)
	if most, ok := howMany(first, n); ok && first != "" {
		return most, rest
	}
	return n, text
}

// cutAt cuts a line before and after a word.
func cutAt(line, word string) (before, after string) {
	before, after, _ = strings.Cut(" "+line+" ", " "+word+" ")
	return strings.TrimSpace(before), strings.TrimSpace(after)
}
