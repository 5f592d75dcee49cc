package frontmatter

import (
	"testing"

	"ollimbot/core/base/testkit"
)

func TestANewKeyGetsTheLineEndsOfItsFile(t *testing.T) {
	for _, eol := range []string{"\n", "\r\n"} {
		data, err := Splice([]byte("---"+eol+"id: a"+eol+"---"+eol+"Text."+eol), []Entry{{"max-chain", 3}, {"skills", []string{"cook"}}})
		testkit.Must(t, err)
		want := "---" + eol + "id: a" + eol + "max-chain: 3" + eol + "skills:" + eol + `  - "cook"` + eol + "---" + eol + "Text." + eol
		if string(data) != want {
			t.Errorf("%q, want %q", data, want)
		}
	}
}
