package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// A reader of the repository can follow what it refers to: a page of docs/, a Go file or a test
// that is cited exists, and nothing is cited that lies elsewhere.
func TestWhatIsCitedCanBeRead(t *testing.T) {
	page := regexp.MustCompile(`docs/(?:contributing/)?[a-z-]+\.md`)
	// A citation may be spread over two lines.
	elsewhere := regexp.MustCompile(`\b(?:spec|design|claude-` + `cli|discord-` + `api)\s+[0-9]+(?:\.[0-9]+)*\b|\bdecisions?,?\s+[A-C][0-9]{1,2}\b|\([A-C][0-9]{1,2}\)`)
	code := regexp.MustCompile("`([\\w./-]+\\.go)`|\\b((?:Test|Benchmark)[A-Z]\\w+)\\b")
	root := filepath.Join("..", "..")
	sources := sourcesOf(t, root)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".md", ".yml":
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		documents := filepath.Ext(path) == ".md" && filepath.Base(path) != "CHANGELOG.md"
		lines := strings.Split(string(bytes.ToValidUTF8(text, nil)), "\n")
		prose := proseOf(path, lines)
		for _, at := range elsewhere.FindAllStringIndex(prose, -1) {
			t.Errorf("%s:%d cites %q, which is not in the repository: say it in place", path, 1+strings.Count(prose[:at[0]], "\n"), prose[at[0]:at[1]])
		}
		for i, line := range lines {
			if documents {
				for _, cited := range code.FindAllStringSubmatch(line, -1) {
					want := "/" + cited[1] + "\n"
					if cited[1] == "" {
						want = "\nfunc " + cited[2] + "("
					}
					if !strings.Contains(sources, want) {
						t.Errorf("%s:%d cites %s, which does not exist", path, i+1, cited[0])
					}
				}
			}
			for _, cited := range page.FindAllString(line, -1) {
				if _, err := os.Stat(filepath.Join(root, cited)); err != nil {
					t.Errorf("%s:%d cites %s, which does not exist", path, i+1, cited)
				}
			}
		}
		return nil
	})
	testkit.Must(t, err)
}

// proseOf returns the text of a page or the comments of a Go file, with the line breaks.
func proseOf(path string, lines []string) string {
	if !strings.HasSuffix(path, ".go") {
		return strings.Join(lines, "\n")
	}
	comments := make([]string, len(lines))
	for i, line := range lines {
		_, comments[i], _ = strings.Cut(line, "//")
	}
	return strings.Join(comments, "\n")
}

// sourcesOf are the names of all Go files, each on a line with a slash in front, and the
// lines of all tests.
func sourcesOf(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		b.WriteString(filepath.ToSlash(path) + "\n")
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	testkit.Must(t, err)
	return b.String()
}
