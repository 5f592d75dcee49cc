package toolset

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

const (
	// maxWanted is the maximum number of search words used.
	maxWanted = 16
	// maxSplit is the maximum number of tools whose words are kept.
	maxSplit = 20_000
)

// Search returns the tools that match a query, best first. of returns the name of a tool and its description. A word
// counts four times in a name, and more if fewer tools have it. The whole name of a tool finds it alone.
func Search[T any](known *Splits, tools []T, of func(T) (name, about string), query string) (best []T) {
	query = strings.TrimSpace(query)
	if i := slices.IndexFunc(tools, func(t T) bool { name, _ := of(t); return name == query }); i >= 0 {
		return tools[i : i+1]
	}
	type entry struct {
		tool  T
		of    splitTool
		score float64
	}
	list := make([]entry, len(tools))
	for i, t := range tools {
		name, about := of(t)
		list[i] = entry{tool: t, of: known.of(name, about)}
	}
	wanted := parts(query)
	for _, word := range wanted[:min(len(wanted), maxWanted)] {
		points, n := make([]float64, len(list)), 0.0
		for i, e := range list {
			begins := func(s string) bool { return strings.HasPrefix(s, word) }
			if slices.ContainsFunc(e.of.name, begins) {
				points[i] += 4
			}
			if slices.ContainsFunc(e.of.about, begins) {
				points[i]++
			}
			if points[i] > 0 {
				n++
			}
		}
		for i := range points {
			list[i].score += points[i] / max(1, n)
		}
	}
	list = slices.DeleteFunc(list, func(e entry) bool { return e.score == 0 })
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(b.score, a.score) })
	for _, e := range list {
		best = append(best, e.tool)
	}
	return best
}

// Splits caches the words of tools for Search. The zero value is empty. It is safe for concurrent use.
type Splits struct {
	mu sync.Mutex
	by map[string]splitTool // by name
}

// splitTool is a tool split into words.
type splitTool struct {
	name, about []string
	description string // the source of about
}

// of returns the words of a tool. They are recomputed after its description changes.
func (s *Splits) of(name, about string) splitTool {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.by[name]
	if ok && one.description == about {
		return one
	}
	if s.by == nil || len(s.by) > maxSplit { // servers come and go
		s.by = map[string]splitTool{}
	}
	one = splitTool{once(parts(name)), once(parts(about)), about}
	s.by[name] = one
	return one
}

// once removes duplicate words from a list.
func once(words []string) []string {
	slices.Sort(words)
	return slices.Clip(slices.Compact(words))
}

// parts splits a text into words, in lower case and without a plural s. getForecast and
// get_forecast give the same words.
func parts(text string) (list []string) {
	var b strings.Builder
	was := ' '
	for _, r := range text {
		if unicode.IsUpper(r) && unicode.IsLower(was) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		was = r
	}
	apart := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for word := range strings.FieldsFuncSeq(b.String(), apart) {
		if word = strings.TrimSuffix(word, "s"); word != "" && word != "mcp" {
			list = append(list, word)
		}
	}
	return list
}
