// Package docs holds the user documentation, so that the program can show it
// offline. It owns the files beside it and nothing else; it must not know who
// reads them.
package docs

import "embed"

// FS holds the pages, *.md, without folders.
//
//go:embed *.md
var FS embed.FS
