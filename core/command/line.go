package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
)

// Shell runs a command line in the running bot, for the user: undo is the inverse of what it did, or nil. It blocks until
// the command has ended.
type Shell func(ctx context.Context, args []string) (r agent.CommandResult, undo Value)

// NoLineError means that the words of a Line are no command line: they begin with no command, or the others are not its
// arguments.
type NoLineError struct{ Why string }

func (e *NoLineError) Error() string { return e.Why }

// UsageStatus is the exit status of a command line with wrong arguments.
const UsageStatus = 2

// NotePrefix begins each note of a command line on standard error, where other programs write too.
const NotePrefix = "ollim-bot: "

// Row returns the line's command, and the arguments of its command line.
func (l Line) Row() (c Command, args []string, err error) {
	words, closed := Split(l.Text)
	c, rest, ok := Lead(InShell, words)
	switch {
	case !ok || c.In&InPlain == 0:
		return c, nil, &NoLineError{fmt.Sprintf(textNoCommand, clean.Cut(clean.Line(l.Text), 40))}
	case !closed:
		return c, nil, &NoLineError{textOpenQuote}
	}
	return c, append(strings.Fields(c.Name), rest...), nil
}

// CarryOut runs the line. What it names must exist: "cancel my subscription" is a sentence, not a command.
func (l Line) CarryOut(ctx context.Context, run Shell, in Reading) (Outcome, error) {
	row, args, err := l.Row()
	if err != nil {
		return Outcome{}, err
	}
	given := args[len(strings.Fields(row.Name)):]
	switch flags := slices.ContainsFunc(given, func(a string) bool { return strings.HasPrefix(a, "-") }); {
	case flags || len(given) == 0:
	case row.Takes(Task) || row.Takes(Run) || row.Takes(Update):
		find := in.Find
		in.Find = func(k Kind, text string) (string, error) {
			id, err := find(k, text)
			if err != nil && len(text) == 8 && strings.Trim(text, "0123456789abcdef") == "" { // an ID: the command knows best why there is none
				return text, nil
			}
			return id, err
		}
		if _, _, err := row.Read(strings.Join(given, " "), in); err != nil {
			return Outcome{}, &NoLineError{err.Error()}
		}
	}
	if row.Asks && !l.Sure && len(given) > 0 && !slices.Contains(given, "--help") {
		return Outcome{Follows: clean.Line(l.Text) + ": " + strings.TrimSuffix(row.About, ".")}, nil
	}
	r, undo := run(ctx, args)
	said := strings.TrimSpace(strings.ReplaceAll("\n"+r.Stderr, "\n"+NotePrefix, "\n"))
	switch {
	case r.Exit == UsageStatus:
		return Outcome{}, &NoLineError{said}
	case r.Exit != 0 && r.Stdout == "":
		return Outcome{}, errors.New(cmp.Or(said, textFailed))
	}
	out := Outcome{Printed: strings.Trim(said+"\n"+r.Stdout, "\n"), Undo: undo}
	out.Message, _, _ = strings.Cut(strings.TrimSpace(out.Printed), "\n")
	return out, nil
}

// Split returns the words of a line: blanks separate them, quotes of both kinds keep them together. ok is false if a
// quote is not closed, as in a sentence with an apostrophe.
func Split(line string) (args []string, ok bool) {
	var word strings.Builder
	quote, began := rune(0), false
	end := func() {
		if began {
			args = append(args, word.String())
		}
		word.Reset()
		began = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case !began && (r == '"' || r == '\''):
			quote, began = r, true
		case unicode.IsSpace(r):
			end()
		default:
			began = true
			word.WriteRune(r)
		}
	}
	end()
	return args, quote == 0
}

// Lead returns the command of a place with which a command line begins, and its arguments. Names of two words count
// before those of one.
func Lead(p Place, args []string) (c Command, rest []string, ok bool) {
	for n := min(2, len(args)); n > 0; n-- {
		if c, ok = Find(p, strings.ToLower(strings.Join(args[:n], " "))); ok {
			return c, args[n:], true
		}
	}
	return c, nil, false
}
