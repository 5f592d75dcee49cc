package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
)

// TestEveryLinkOfTheDocumentsLeadsSomewhere follows the relative links of README, docs and
// the pages for contributors, anchors included.
func TestEveryLinkOfTheDocumentsLeadsSomewhere(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	testkit.Must(t, err)
	inside, err := filepath.Glob(filepath.Join(root, "docs", "contributing", "*.md"))
	testkit.Must(t, err)
	if len(pages) < 20 || len(inside) < 5 {
		t.Fatalf("%d and %d pages in docs; the test looks in the wrong place", len(pages), len(inside))
	}
	pages = append(pages, inside...)
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"} {
		pages = append(pages, filepath.Join(root, name))
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range pages {
		for _, found := range link.FindAllStringSubmatch(withoutCode(t, page), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(found[1], "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, found[1])
			} else if anchor != "" && !anchors(t, target)[anchor] {
				t.Errorf("%s links to %s: that page has no such heading", page, found[1])
			}
		}
	}
}

// anchors are the headings of a page as a forge names them in addresses.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	drop := regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	found := map[string]bool{}
	for line := range strings.Lines(withoutCode(t, page)) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			found[strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), ""), " ", "-")] = true
		}
	}
	return found
}

// withoutCode is a page without its fenced blocks.
func withoutCode(t *testing.T, page string) string {
	t.Helper()
	data, err := os.ReadFile(page)
	testkit.Must(t, err)
	return regexp.MustCompile("(?s)\n *```.*?\n *```").ReplaceAllString(string(data), "")
}
