package post

import (
	"regexp"
	"sync"
)

// Phone returns a text of the program for the phone. The program's sentences are the same in every place; what they quote of the
// system may name a file by its whole path, of which the phone shows the name. The words of the user and of models are never
// passed to it.
func Phone(text string) string { return wholePath().ReplaceAllString(text, "$1$2") }

var wholePath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\w/.~@%+-])(?:~|/[\w.@%+-]+)(?:/[\w.@%+-]+)*/([\w.@%+-]+)`)
})
