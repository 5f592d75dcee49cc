package routines

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store/storetest"
)

func TestSlugsFollowTheSpec(t *testing.T) {
	for in, want := range map[string]string{
		"Hello World": "hello-world", "Check email & summarize!": "check-email-summarize", "a---b   c": "a-b-c",
		"  --hello--  ": "hello", "": "", "日本語": "", "Überblick 2": "berblick-2",
		strings.Repeat("a", 60):              strings.Repeat("a", 50),
		strings.Repeat("a", 49) + " b":       strings.Repeat("a", 49),
		strings.Repeat("ab ", 30):            strings.TrimSuffix(strings.Repeat("ab-", 17)[:50], "-"),
		"../../etc/passwd":                   "etc-passwd",
		"K (Kelvin) is lowered to a plain k": "k-kelvin-is-lowered-to-a-plain-k",
	} {
		if got := slug(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestSlugsAreFitForFileNames(t *testing.T) {
	shape := regexp.MustCompile(`^([a-z0-9]+(-[a-z0-9]+)*)?$`)
	testkit.Check(t, func(t *rapid.T) {
		s := slug(rapid.String().Draw(t, "text"))
		if !shape.MatchString(s) || len(s) > 50 || slug(s) != s {
			t.Fatalf("%q", s)
		}
	})
}

func TestAFileIsFoundForEachItem(t *testing.T) {
	d := storetest.Prepared(t)
	item := func(id string) string {
		return string(frontmatter.Format([]frontmatter.Entry{{Key: "id", Value: id}}, "x"))
	}
	storetest.Put(t, d, "routines/water.md", item("aaaa0000"))
	storetest.Put(t, d, "routines/water-2.md", "no front matter")
	storetest.Put(t, d, "routines/water-3.md", "---\nid: 12345678\n---\nx\n")
	for _, tt := range []struct{ id, text, want string }{
		{"aaaa0000", "Water!", "routines/water.md"},
		{"12345678", "Water!", "routines/water-3.md"},
		{"bbbb0000", "Water!", "routines/water-bbbb0000.md"},
		{"bbbb0000", "日本語", "routines/bbbb0000.md"},
		{"bbbb0000", "Tea", "routines/tea.md"},
		{"../../x", "", "routines/x.md"},
	} {
		if got, err := fileName(d, "routines", tt.id, tt.text); err != nil || got != tt.want {
			t.Errorf("%s, %q: %s, %v, want %s", tt.id, tt.text, got, err, tt.want)
		}
	}
	if got, err := fileName(d, "routines", "..", "…"); err != nil || !regexp.MustCompile(`^routines/[0-9a-f]{8}\.md$`).MatchString(got) {
		t.Errorf("%q, %v", got, err)
	}
}
