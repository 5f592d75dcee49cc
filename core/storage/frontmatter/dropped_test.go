package frontmatter

import (
	"fmt"
	"testing"
)

// L7: "Take pill #2 of the box" silently became "Take pill".
func TestTextThatYAMLDropsIsFound(t *testing.T) {
	for in, want := range map[string]string{
		"description: Take pill #2 of the box":   "[{description 2 24 #2 of the box}]",
		"description: Take pill # 2 of the box":  "[{description 2 24 # 2 of the box}]",
		"description: Öl #2":                     "[{description 2 17 #2}]",
		"description: #2 of the box":             "[{description 2 14 #2 of the box}]",
		"tags:\n  - pill #2\n  - a":              "[{tags 3 10 #2}]",
		"description: \"Take pill #2\"":          "[]",
		"description: 'Take pill #2' # a remark": "[]",
		"description: C#2":                       "[]",
		"background: true # for now":             "[]",
		"background: true ## for now":            "[]",
		"background: true #for now":              "[{background 2 18 #for now}]",
		"# description: pill #2\nid: a":          "[]",
		"description: |\n  Take pill #2\nid: a":  "[]",
	} {
		data := []byte("---\n" + in + "\n---\nText #2.\n")
		doc, err := Parse(data)
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if got := fmt.Sprint(doc.Dropped); got != want {
			t.Errorf("%q: %s, not %s", in, got, want)
		}
	}
}
