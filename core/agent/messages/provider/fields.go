package provider

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines"
)

// file is the parsed providers.yaml and its problems. An entry with an error is left out; the
// others are used.
type file struct {
	entries  []entry
	hears    *transcriber // nil if the file has no transcriber
	problems []routines.Problem
	named    []string // the keys of the file
	broken   bool     // as a whole, so that no keys are known
}

func (f *file) add(line, column int, s routines.Severity, message string) {
	f.problems = append(f.problems, routines.Problem{
		File: File, Line: max(1, line), Column: max(1, column), Severity: s, Message: clean.Line(message),
	})
}

func (f *file) unknown(field frontmatter.Field, known []string, more ...string) {
	f.add(field.Line, field.Column, routines.Warning,
		fmt.Sprintf(textUnknownKey, clean.Cut(clean.Line(field.Key), 40), strings.Join(append(known, more...), ", ")))
}

var variable = lazyregexp.New(`^[A-Z_][A-Z0-9_]{0,63}$`)

func oneOf(v frontmatter.Value, accepted ...string) error {
	if !slices.Contains(accepted, v.Text) {
		return fmt.Errorf(textOneOf, strings.Join(accepted, ", "))
	}
	return nil
}

func boolean(to *bool, v frontmatter.Value) error {
	*to = v.Text == "true"
	return oneOf(v, "true", "false")
}

func word(to *string, v frontmatter.Value) error {
	if v.Text == "" || clean.Line(v.Text) != v.Text || strings.ContainsAny(v.Text, " \t") || len(v.Text) > 120 {
		return errors.New(textWord)
	}
	*to = v.Text
	return nil
}

func list(to *[]string, v frontmatter.Value) error {
	if v.Kind != frontmatter.List {
		return errors.New(textList)
	}
	*to = make([]string, len(v.Items))
	for i, item := range v.Items {
		if err := word(&(*to)[i], item); err != nil {
			return err
		}
	}
	return nil
}

func count(to *int, v frontmatter.Value, least int) error {
	const most = 100_000_000
	n, _ := strconv.Atoi(strings.ReplaceAll(v.Text, "_", "")) // 0 if it is no number, and as large as can be if it is too large
	if n < least || n > most {
		return fmt.Errorf(textCount, least)
	}
	*to = n
	return nil
}
