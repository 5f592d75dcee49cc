package schema

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The official suite of draft 7: json-schema-org/JSON-Schema-Test-Suite at 83e866b4, without its optional part (MIT). What
// differs is one decision: a reference never leaves its document, so schemas with addresses of their own are refused.
func TestTheOfficialSuiteOfTheDraft(t *testing.T) {
	data, err := os.ReadFile("testdata/draft7-suite.json")
	if err != nil {
		t.Fatal(err)
	}
	var files []struct {
		File  string
		Cases []struct {
			Description string
			Schema      json.RawMessage
			Tests       [][3]json.RawMessage // description, data, valid
		}
	}
	if err := json.Unmarshal(data, &files); err != nil {
		t.Fatal(err)
	}
	agree, refused := 0, 0
	for _, f := range files {
		for _, c := range f.Cases {
			s, err := Compile(decoded(t, string(c.Schema)))
			if err != nil {
				refused++
				if !strings.Contains(err.Error(), "leads out of the schema") && !strings.Contains(err.Error(), "moves what references mean") {
					t.Errorf("%s: %s: %v", f.File, c.Description, err)
				}
				continue
			}
			for _, one := range c.Tests {
				if got, want := len(s.Validate(decoded(t, string(one[1])))) == 0, string(one[2]) == "true"; got != want {
					t.Errorf("%s: %s, %s: valid %v, want %v", f.File, c.Description, one[0], got, want)
				}
				agree++
			}
		}
	}
	if agree != 854 || refused != 28 {
		t.Errorf("%d tests were compared, and %d schemas refused; want 854 and 28", agree, refused)
	}
}
