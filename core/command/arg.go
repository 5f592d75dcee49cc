package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/routines/when"
)

// Kind is the kind of an argument.
type Kind uint8

// The kinds. A Title is words for which the titles of tasks are offered. A Moment may be "off", which is the zero time.
const (
	Words Kind = iota
	Choice
	Number
	Task
	Run
	Update
	Moment
	Title
)

var things = map[Kind]string{Task: "task", Run: "run", Update: "update"}

// Thing returns what an argument of the kind names: "task", "run" or "update"; "" if it names none of them.
func (k Kind) Thing() string { return things[k] }

// Arg is an argument of a command, and its field on a surface with fields.
type Arg struct {
	Kind        Kind
	Name, About string
	Choices     []string // of a Choice: "value", or "label=value" if the two differ
	Least       int      // of a Number
	Optional    bool
	Ends        string // follows the value in a line
}

// Offered reports whether the bot has offers for what is typed (core.Intake).
func (a Arg) Offered() bool { return a.Kind >= Task }

// Takes reports whether an argument of the command is of a kind.
func (c Command) Takes(k Kind) bool {
	return slices.ContainsFunc(c.Args, func(a Arg) bool { return a.Kind == k })
}

// usage returns the arguments for a help: "TASK [WHEN]".
func usage(args []Arg) string {
	var names []string
	for _, a := range args {
		name := strings.ToUpper(a.Name)
		if a.Optional {
			name = "[" + name + "]"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// Subject is what the arguments of a command mean.
type Subject struct {
	ID    string // of a task, a run or an update
	At    time.Time
	Words string
}

// Reading is what a surface knows about the texts that it reads.
type Reading struct {
	Times when.Reader
	// Find returns the ID of the task, run or update that a text names.
	Find func(k Kind, text string) (id string, err error)
}

// ArgumentError means that a text is not what the command takes.
type ArgumentError struct{ Err error }

func (e *ArgumentError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *ArgumentError) Unwrap() error { return e.Err }

// Read reads the arguments from a line without the command's name. The last one is read first, because a moment is
// recognized at the end of words. note says which day a moment took, where that is easily mistaken. The error is
// an *ArgumentError, or one of Reading.Find.
func (c Command) Read(line string, in Reading) (s Subject, note string, err error) {
	rest := strings.TrimSpace(line)
	for i, a := range slices.Backward(c.Args) {
		switch {
		case rest == "" && a.Optional:
			continue
		case a.Kind == Moment:
			note = in.Times.Note(rest)
			if rest, s.At, err = moment(rest, i == 0, in.Times); err != nil {
				return s, "", &ArgumentError{err}
			}
			continue
		case a.Kind == Task || a.Kind == Run || a.Kind == Update:
			if s.ID, err = in.Find(a.Kind, rest); err != nil {
				return s, "", err
			}
		default:
			s.Words = rest
		}
		rest = ""
	}
	if rest != "" {
		return s, "", &ArgumentError{fmt.Errorf(textTakesNothing, c.Name, rest)}
	}
	return s, note, nil
}

// moment reads a moment at the end of a text, or all of it.
func moment(text string, whole bool, times when.Reader) (rest string, at time.Time, err error) {
	if before, off := strings.CutSuffix(" "+text, " off"); off && (strings.TrimSpace(before) == "") == whole {
		return strings.TrimSpace(before), at, nil
	}
	if whole {
		at, err = times.Moment(text)
		return "", at, err
	}
	if rest, at, err = times.Last(text); err != nil || rest == "" { // the first word at least is none of the moment
		_, err = times.Moment(SkipWords(text, 1))
		err = cmp.Or(err, errors.New(textNothingBefore))
	}
	return strings.TrimSpace(rest), at, err
}
