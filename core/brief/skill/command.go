package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/procgroup"
	"ollimbot/core/storage/store"
)

const (
	// maxBytes is how much of a command's output is kept before it is cleaned and cut.
	maxBytes = 64 << 10
	maxSays  = 300 // characters of the first line on standard error
	// leftBehind is how long a command's own children may keep its output open after it has
	// ended.
	leftBehind = time.Second
	// noExec is the exit code of shells for a program that cannot be started.
	noExec = 126
	// bubblewrap's message for a program that does not exist in the sandbox.
	sandboxSays = "bwrap: execvp "
	noSuchFile  = "No such file or directory"
)

// run runs one command and returns its replacement text.
func (e expander) run(ctx context.Context, line string) string {
	label := clean.Line(line)
	words, err := Words(line)
	if err != nil || len(words) == 0 || words[0] == "" {
		return fmt.Sprintf(textParseError, label)
	}
	if ctx.Err() != nil {
		return fmt.Sprintf(textSkipped, label)
	}
	ctx, cancel := context.WithTimeout(ctx, e.each)
	defer cancel()
	stdout, says, err := e.perform(ctx, words)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return stdout.output()
	case ctx.Err() != nil:
		return fmt.Sprintf(textTimedOut, label)
	case errors.As(err, &exit) && notFoundInside(says, words[0]):
		return fmt.Sprintf(textNotFound, label)
	case errors.As(err, &exit):
		return failed(exit.ExitCode(), label, says)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot), errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf(textNotFound, label)
	}
	return failed(noExec, label, clean.Line(store.Bare(err).Error()))
}

// perform runs a program and its children to the end.
func (e expander) perform(ctx context.Context, words []string) (stdout *head, says string, err error) {
	stdout, stderr := &head{}, &head{}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = e.dir, e.environment(os.Environ())
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, leftBehind
	procgroup.Own(cmd)
	if e.Sandbox != nil {
		defer e.Sandbox(cmd)()
	}
	err = cmd.Run()
	if cmd.Process != nil {
		procgroup.Kill(cmd)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it succeeded, but left a child that was still printing
	}
	return stdout, clean.FirstLine(string(stderr.data), maxSays), err
}

// notFoundInside reports whether a program does not exist in the sandbox, according to
// bubblewrap itself or the shell that sets limits and then starts the program.
func notFoundInside(says, program string) bool {
	if strings.HasPrefix(says, sandboxSays) {
		return strings.HasSuffix(says, noSuchFile)
	}
	shell, ok := strings.CutPrefix(says, program+": ")
	return ok && (strings.HasSuffix(shell, "exec: "+program+": not found") || strings.HasSuffix(shell, program+": "+noSuchFile))
}

func failed(code int, label, says string) string {
	if says == "" {
		return fmt.Sprintf(textFailed, code, label)
	}
	return fmt.Sprintf(textFailedSays, code, label, says)
}

// environment returns a command's environment: the variables for finding programs and the
// user's files, and our own settings except secrets. Our commands use the skill's data
// directory, however the bot was told about it.
func (e expander) environment(environ []string) []string {
	var env []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case name == "PATH", name == "HOME", name == "LANG", name == "TZ" && e.Zone == "":
			env = append(env, v)
		case strings.HasPrefix(name, "OLLIM_") && name != dataDir && !secret(name):
			env = append(env, v)
		}
	}
	if e.Zone != "" {
		env = append(env, "TZ="+e.Zone)
	}
	return append(append(env, e.Env...), dataDir+"="+e.dir)
}

const dataDir = "OLLIM_DATA_DIR"

// secretParts mark a variable as a secret if its name contains one of them.
var secretParts = []string{"TOKEN", "SECRET", "PASS", "KEY", "CREDENTIAL", "AUTH", "COOKIE"}

func secret(name string) bool {
	return slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(strings.ToUpper(name), part) })
}

// head keeps the beginning of a command's output and discards the rest, so that the
// command is not blocked and cannot fill the memory.
type head struct {
	data []byte
	over bool
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), maxBytes-len(h.data))
	h.data = append(h.data, p[:n]...)
	h.over = h.over || n < len(p)
	return len(p), nil
}

// output returns the text for the prompt.
func (h *head) output() string {
	text, cut := h.text()
	if cut {
		text += CutMark
	}
	return text
}

// text returns the beginning of the output, cleaned, and whether the rest is left out.
func (h *head) text() (text string, cut bool) {
	text, cut = Limit(string(h.data))
	return text, cut || h.over
}

// Limit returns the first 2,000 characters of an output, cleaned, and whether the rest is left out.
func Limit(output string) (text string, cut bool) {
	text, n := strings.TrimRight(clean.Text(output), "\n"), 0
	for i := range text {
		if n == maxOutput {
			return text[:i], true
		}
		n++
	}
	return text, false
}

var (
	errQuote     = errors.New("a quote is not closed")
	errBackslash = errors.New("nothing follows the last backslash")
	errNUL       = errors.New("a command cannot hold a zero byte")
)

// Words splits a command line into words as a shell would, without the shell's other
// features: no variables, patterns, pipes or comments. Words are separated by white
// space. '…' is literal; in "…" a backslash escapes a quote and itself; elsewhere it
// escapes any character.
func Words(line string) ([]string, error) {
	if strings.IndexByte(line, 0) >= 0 {
		return nil, errNUL
	}
	var words []string
	var word strings.Builder
	open := false // a word has started, possibly with empty quotes
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\n', '\r':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		case '\\':
			if i++; i == len(line) {
				return nil, errBackslash
			}
			word.WriteByte(line[i])
			open = true
		case '\'', '"':
			n := quoted(&word, line[i:])
			if n == 0 {
				return nil, errQuote
			}
			i += n - 1
			open = true
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// quoted adds the quoted text at the start of s, and returns its length including the
// quotes; 0 if the quote is not closed.
func quoted(word *strings.Builder, s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return i + 1
		case quote == '"' && s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		word.WriteByte(s[i])
	}
	return 0
}
