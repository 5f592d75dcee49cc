package docs

import (
	"cmp"
	"iter"
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

// Search finds the n sections that fit best, the best first. Nothing but words that
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
	scores := x.score(wanted)
	var found []int
	for i := range x.sections {
		if scores[i] > 0 {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	hits := make([]Hit, 0, max(0, min(n, len(found))))
	for _, i := range found[:max(0, min(n, len(found)))] {
		s := &x.sections[i]
		hits = append(hits, Hit{Page: s.page, Heading: s.heading, Excerpt: excerpt(s.body, wanted)})
	}
	return hits
}

// score says how well each section fits: a word counts three times in a heading,
// and the more, the fewer sections hold it.
func (x *index) score(wanted []string) []float64 {
	scores := make([]float64, len(x.sections))
	for _, word := range wanted {
		holds := func(text string) bool {
			for w := range words(text) {
				if strings.HasPrefix(w, word) {
					return true
				}
			}
			return false
		}
		points, n := make([]float64, len(x.sections)), 0.0
		for i, s := range x.sections {
			if holds(s.body) {
				points[i]++
			}
			if holds(s.heading + " " + s.page) {
				points[i] += 3
			}
			if points[i] > 0 {
				n++
			}
		}
		for i := range points {
			scores[i] += points[i] / max(1, n)
		}
	}
	return scores
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

// words are the words of a text in small letters, without the s of a plural and
// what tells nothing. Hyphens and underscores part words, because keys are looked
// for by their parts.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), notWord) {
			if !slices.Contains(tooCommon, word) && !yield(strings.TrimSuffix(word, "s")) {
				return
			}
		}
	}
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// tooCommon are words that tell nothing about a page.
var tooCommon = strings.Fields("a an and are as at be by can do does for from how i in is it its my of on or that the this to what when which with you your")
