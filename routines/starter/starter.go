// Package starter holds example files: routines that show one feature each, and a first
// profile. It owns only their text and must not know when or whether they fire.
package starter

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed files
var files embed.FS

// File is one example.
type File struct {
	Path string // relative to a data directory, with forward slashes
	Data []byte
}

// Files returns all examples, sorted by path.
func Files() ([]File, error) {
	var list []File
	err := fs.WalkDir(files, "files", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(path)
		if err != nil {
			return err
		}
		list = append(list, File{Path: strings.TrimPrefix(path, "files/"), Data: data})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the example files: %w", err)
	}
	return list, nil
}
