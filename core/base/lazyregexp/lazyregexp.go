// Package lazyregexp creates regular expressions that are compiled on first use. Most
// commands of the program need none, and compiling all of them took half a millisecond at
// each start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Pattern returns its expression. It is safe for concurrent use.
type Pattern func() *regexp.Regexp

// New returns a pattern in the syntax of regexp. An invalid pattern panics on first use.
func New(expr string) Pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
