package skill

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"unicode/utf8"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
)

// nothingNew is the exit status of a check that found no reason to run.
const nothingNew = 1

// CutMark follows a text that was cut, in a prompt.
const CutMark = "\n" + textTruncated

// Verdict is the result of a routine's check.
type Verdict struct {
	Skip bool // there is no reason to run
	// Found is the check's output, cleaned and limited (Limit); only for a run.
	Found string
	// Cut means that it was longer, and Odd that it was not UTF-8 text.
	Cut, Odd bool
	// Failed is why the check could not decide; the routine then runs.
	Failed string
}

// Check runs the check of a routine, for at most eachTime: exit status 0 runs the
// routine, 1 does not. Any other result runs it too, because a broken check must not
// silence a routine.
func Check(ctx context.Context, d *store.Dir, how How, line string) Verdict {
	words, err := Words(line)
	if err != nil || len(words) == 0 || words[0] == "" {
		return Verdict{Failed: fmt.Sprintf(textParseError, clean.Line(line))}
	}
	ctx, cancel := context.WithTimeout(ctx, eachTime)
	defer cancel()
	stdout, says, err := expander{How: how, dir: d.Root()}.perform(ctx, words)
	var exit *exec.ExitError
	switch {
	case err == nil:
		text, cut := stdout.text()
		if stdout.over {
			stdout.data = clean.Whole(stdout.data)
		}
		return Verdict{Found: text, Cut: cut, Odd: !utf8.Valid(stdout.data)}
	case ctx.Err() != nil:
		return Verdict{Failed: fmt.Sprintf(textTimedOut, clean.Line(line))}
	case !errors.As(err, &exit):
		return Verdict{Failed: failed(noExec, clean.Line(line), clean.Line(store.Bare(err).Error()))}
	case exit.ExitCode() == nothingNew && !notFoundInside(says, words[0]):
		return Verdict{Skip: true}
	}
	return Verdict{Failed: failed(exit.ExitCode(), clean.Line(line), says)}
}
