package tools

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ollimbot/core/schema"
)

// maxNames is how many files Glob names.
const maxNames = 100

func (b *Box) glob(ctx context.Context, c call) (Result, error) {
	base, rest := fixed(c.Text("pattern"))
	switch folder := c.Text("path"); {
	case filepath.IsAbs(base), strings.HasPrefix(base, "~/"), folder == "":
	default:
		base = folder + "/" + base
	}
	c.Arguments = schema.Arguments{"pattern": rest} // what is judged again
	s, err := b.findAt(ctx, c, "path", cmp.Or(base, "."), false)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	type found struct {
		name string
		at   time.Time
	}
	var all []found
	wanted := globs(rest)
	cut, err := b.walk(ctx, s, func(f file) error {
		if matches(wanted, f.rel) {
			all = append(all, found{b.display(f.full), f.changed()})
		}
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	slices.SortStableFunc(all, func(a, b found) int { return b.at.Compare(a.at) })
	var out strings.Builder
	for _, f := range all[:min(len(all), maxNames)] {
		out.WriteString(f.name + "\n")
	}
	switch {
	case len(all) > maxNames:
		fmt.Fprintf(&out, textMoreNames, maxNames, len(all))
	case len(all) == 0:
		out.WriteString(textNoNames)
	}
	if cut {
		out.WriteString(textWalkCut)
	}
	return Result{Text: out.String()}, nil
}

// fixed parts a glob into folders without signs, and the rest.
func fixed(glob string) (folder, rest string) {
	at := strings.IndexAny(glob, "*?{")
	if at < 0 {
		at = len(glob)
	}
	at = strings.LastIndexByte(glob[:at], '/') + 1
	return glob[:at], strings.TrimPrefix(glob[at:], "./")
}
