package docs

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode"

	"ollimbot/core/clean"
)

// Hit is a section that fits a search.
type Hit struct {
	Page    string // its name
	Heading string // the section's heading; empty before the first one
	Excerpt string // the lines around the words, at most 320 characters
}

// maxQuery is how many words of a search count.
const maxQuery = 16

// Search finds the n sections that fit best, the best first. A word counts the
// more, the fewer sections hold it, and most in a heading. Nothing but words that
// occur nowhere gives no hits. Equal searches have equal answers.
func (l *Library) Search(query string, n int) []Hit {
	x, err := l.load()
	if err != nil {
		return nil
	}
	var wanted []string
	for word := range words(query) {
		if !slices.Contains(wanted, word) && len(wanted) < maxQuery {
			wanted = append(wanted, word)
		}
	}
	type scored struct {
		score float64
		at    int
	}
	var found []scored
	weights := x.weights(wanted)
	for i := range x.sections {
		if score := x.sections[i].score(wanted, weights); score > 0 {
			found = append(found, scored{score, i})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	hits := make([]Hit, 0, max(0, min(n, len(found))))
	for _, f := range found[:max(0, min(n, len(found)))] {
		s := &x.sections[f.at]
		hits = append(hits, Hit{Page: s.page, Heading: s.heading, Excerpt: excerpt(s.body, wanted)})
	}
	return hits
}

// weights say how telling each word is.
func (x *index) weights(wanted []string) []float64 {
	list := make([]float64, len(wanted))
	for i, word := range wanted {
		n := 0
		for j := range x.sections {
			if x.sections[j].words[word]+x.sections[j].titled[word] > 0 {
				n++
			}
		}
		if n > 0 {
			list[i] = math.Log(1 + float64(len(x.sections))/float64(n))
		}
	}
	return list
}

// score is the sum over the words, each with diminishing returns, so that a
// section with several of them goes before one that repeats a single word.
func (s *section) score(wanted []string, weights []float64) float64 {
	const inHeading, typical = 3, 120
	total := 0.0
	for i, word := range wanted {
		times := float64(s.words[word])
		part := times / (times + 0.5 + float64(s.length)/typical)
		if s.titled[word] > 0 {
			part += inHeading
		}
		total += weights[i] * part
	}
	return total
}

// excerpt is the part of a body with the most of the words.
func excerpt(body string, wanted []string) string {
	lines := strings.Split(body, "\n")
	best, at := -1, 0
	for i, line := range lines {
		n := 0
		for word := range words(line) {
			if slices.Contains(wanted, word) {
				n++
			}
		}
		if n > best {
			best, at = n, i
		}
	}
	var b strings.Builder
	for _, line := range lines[at:] {
		if b.Len() >= maxExcerpt {
			break
		}
		b.WriteString(line + " ")
	}
	return clean.Cut(clean.Line(b.String()), maxExcerpt)
}

// words are the words of a text in small letters, without endings: "routines"
// and "routine" are one word. Hyphens and underscores part words, because keys
// are looked for by their parts.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), notWord) {
			if stem := stem(word); stem != "" && !yield(stem) {
				return
			}
		}
	}
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// stem takes the commonest endings of English words away. What it leaves need
// be no word, only the same for all forms of one.
func stem(word string) string {
	if tooCommon[word] {
		return ""
	}
	for _, ending := range []string{"ing", "ed", "es", "s", "e"} {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) >= 3 {
			return rest
		}
	}
	return word
}

// tooCommon are words that tell nothing about a page.
var tooCommon = map[string]bool{
	"a": true, "an": true, "and": true, "are": true, "as": true, "at": true, "be": true, "by": true, "can": true, "do": true,
	"does": true, "for": true, "from": true, "how": true, "i": true, "in": true, "is": true, "it": true, "its": true,
	"my": true, "of": true, "on": true, "or": true, "that": true, "the": true, "this": true, "to": true, "what": true,
	"when": true, "which": true, "with": true, "you": true, "your": true,
}
