// Package lazyregexp makes regular expressions that are compiled when they are
// first needed: most commands of the program match none, and compiling all of
// them took half a millisecond of each start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Pattern gives its expression. It may be called from any goroutine.
type Pattern func() *regexp.Regexp

// Lazily is a pattern in the syntax of regexp; one that is wrong panics at its
// first use.
func Lazily(expr string) Pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
