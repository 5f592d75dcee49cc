package script

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first needed, so
// that a command which never plays a prompt does not pay for it.
type pattern func() *regexp.Regexp

func lazily(expr string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
