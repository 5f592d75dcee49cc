package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
)

func decoded(t testing.TB, text string) any {
	t.Helper()
	v, err := decode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func compiled(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Compile(decoded(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func TestTheCornersOfTheDraft(t *testing.T) {
	for _, c := range []struct{ schema, fits, fails string }{
		{`true`, `1`, ``},
		{`false`, ``, `1`},
		{`{}`, `null`, ``},
		{`{"type":"integer"}`, `1.0 10e-1 0.5e1 -0 12345678901234567890`, `1.5 "1" true 1e-1`},
		{`{"type":["integer","null"]}`, `null 2`, `2.5 []`},
		{`{"type":"number"}`, `1 1.5`, `"1" null`},
		{`{"const":1}`, `1.0 1e0`, `true "1" 1.0000000000000000000001`},
		{`{"const":false}`, `false`, `0 null`},
		{`{"const":null}`, `null`, `0 "" false`},
		{`{"enum":[{"a":1,"b":[2]}]}`, `{"b":[2.0],"a":1}`, `{"a":1} {"a":1,"b":[2,2]}`},
		{`{"enum":["","n1;"]}`, `"" "n1;"`, `1 []`},
		{`{"minLength":2,"maxLength":2}`, `"éé" "日本" "𝄞𝄞" 5`, `"é" "aaa"`},
		{`{"pattern":"b"}`, `"abc" 1`, `"ac" ""`},
		{`{"minimum":1.5,"maximum":9007199254740992}`, `1.5 "x"`, `1.49999999999999999999 9007199254740993`},
		{`{"exclusiveMinimum":0,"exclusiveMaximum":1}`, `0.5`, `0 1 -0 1.0`},
		{`{"multipleOf":0.01}`, `0.29 1.1 0 -3.07 "x"`, `0.295`},
		{`{"multipleOf":1e-20}`, `1 1e-20`, `1.5e-20`},
		{`{"maxItems":1.0}`, `[1]`, `[1,2]`},
		{`{"required":["a"],"minProperties":1}`, `{"a":null} []`, `{} {"b":1}`},
		{`{"properties":{"a":false}}`, `{"b":1} 1`, `{"a":1}`},
		{`{"properties":{"a":{}},"patternProperties":{"^b":{"type":"null"}},"additionalProperties":false}`, `{"a":1,"b1":null}`, `{"c":1} {"b":1}`},
		{`{"patternProperties":{"a":{"minimum":2},"b":{"maximum":3}}}`, `{"ab":2.5}`, `{"ab":1} {"ab":4}`},
		{`{"additionalProperties":{"type":"null"}}`, `{"a":null}`, `{"a":1}`},
		{`{"propertyNames":{"maxLength":1}}`, `{"a":"long"} "long"`, `{"ab":1}`},
		{`{"propertyNames":false}`, `{}`, `{"a":1}`},
		{`{"dependencies":{"a":["b"],"c":{"maxProperties":1}}}`, `{"a":1,"b":1} {"c":1} {"d":1} 1`, `{"a":1} {"c":1,"d":1}`},
		{`{"items":{"type":"null"},"additionalItems":false}`, `[null,null] []`, `[1]`},
		{`{"items":[{"type":"null"}],"additionalItems":false}`, `[null] []`, `[null,null] [1]`},
		{`{"items":[true],"additionalItems":{"type":"null"}}`, `[1,null] []`, `[1,1]`},
		{`{"additionalItems":false}`, `[1,2]`, ``},
		{`{"items":[true,false]}`, `[1] []`, `[1,2]`},
		{`{"contains":{"minimum":5}}`, `[1,6] {}`, `[] [1]`},
		{`{"uniqueItems":true}`, `[1,true,"1"] [[1],[2]] [{"a":1},{"a":2}] [0,false,null,""]`, `[1,1.0] [[1.0],[1]] [{"a":1,"b":2},{"b":2,"a":1}]`},
		{`{"uniqueItems":false}`, `[1,1]`, ``},
		{`{"not":{"type":"string"}}`, `1`, `"x"`},
		{`{"allOf":[{"minimum":1},{"maximum":2}]}`, `1`, `0 3`},
		{`{"anyOf":[{"type":"null"},{"minimum":2}]}`, `null 2 "x"`, `1`},
		{`{"oneOf":[{"minimum":2},{"multipleOf":2}]}`, `3 0`, `1 4 "x"`},
		{`{"if":{"minimum":10},"then":{"multipleOf":10},"else":{"multipleOf":2}}`, `20 4`, `15 3`},
		{`{"then":false,"else":false}`, `1`, ``},
		{`{"if":true,"else":{"$ref":"#/definitions/lost"}}`, `1`, ``},
		{`{"$ref":"#/definitions/a","definitions":{"a":{"type":"string"}},"const":5,"minLength":9}`, `"x"`, `5`},
		{`{"properties":{"$ref":{"type":"string"}}}`, `{"$ref":"x"}`, `{"$ref":1}`},
		{`{"items":{"$ref":"#/definitions/a~1b~0c%25"},"definitions":{"a/b~c%":{"type":"null"}}}`, `[null]`, `[1]`},
		{`{"items":{"$ref":"#/x/0"},"x":[{"type":"null"}]}`, `[null]`, `[1]`},
		{`{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}},"additionalProperties":false}`, `{"next":{"next":{"v":1}}}`, `{"next":{"next":{"w":1}}}`},
		{`{"$id":"http://example.com/x","properties":{"a":{"$id":"#/properties/a","$ref":"#/definitions/a"}},"definitions":{"a":{"$id":"#a","type":"null"}}}`, `{"a":null}`, `{"a":1}`},
		{`{"format":"email","contentEncoding":"base64","default":7,"examples":[1],"foo":{"type":8}}`, `"no mail"`, ``},
		{`{"definitions":{"a":{"$ref":"#/definitions/lost"}}}`, `1`, ``},
	} {
		s := compiled(t, c.schema)
		for _, side := range []struct {
			list string
			fits bool
		}{{c.fits, true}, {c.fails, false}} {
			d := json.NewDecoder(strings.NewReader(side.list))
			d.UseNumber()
			for d.More() {
				var v any
				if err := d.Decode(&v); err != nil {
					t.Fatalf("%s: %v", side.list, err)
				}
				if problems := s.Validate(v); (len(problems) == 0) != side.fits {
					t.Errorf("%s against %s: %+v", v, c.schema, problems)
				}
			}
		}
	}
}

func TestAProblemSaysWhereAndWhatWasExpected(t *testing.T) {
	s := compiled(t, `{"required":["z"],"additionalProperties":false,"properties":{
		"a":{"items":{"type":["string","null"]}},"b":{"enum":[1,"x"]},"c":{"maxLength":3},"d":{"minimum":1.50},"e":{"pattern":"^x"},"f":{"minItems":2},"g":{"anyOf":[false]}}}`)
	got := s.Validate(decoded(t, `{"a":["x",1],"b":"hush","c":"hush","d":1,"e":"hush","f":[],"g":1,"h":1}`))
	want := []Problem{
		{Path: []string{"a", "1"}, Keyword: "type", Want: []string{"null", "string"}, Kind: "number"},
		{Path: []string{"b"}, Keyword: "enum", Want: []any{json.Number("1"), "x"}},
		{Path: []string{"c"}, Keyword: "maxLength", Want: 3, Count: 4},
		{Path: []string{"d"}, Keyword: "minimum", Want: json.Number("1.50")},
		{Path: []string{"e"}, Keyword: "pattern", Want: "^x"},
		{Path: []string{"f"}, Keyword: "minItems", Want: 2},
		{Path: []string{"g"}, Keyword: "anyOf"},
		{Path: []string{"h"}, Keyword: "additionalProperties"},
		{Path: []string{"z"}, Keyword: "required"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAMistakeOfASchemaHasItsPlaceAndItsReason(t *testing.T) {
	types := []any{"array", "boolean", "integer", "null", "number", "object", "string"}
	wrongType := func(want ...string) Problem { return Problem{Keyword: "type", Want: want, Kind: "number"} }
	atLeast := func(n string) Problem { return Problem{Keyword: "minimum", Want: json.Number(n)} }
	for schema, want := range map[string]Error{
		`5`:                                       {Problem: wrongType("boolean", "object")},
		`{"items":[5]}`:                           {Pointer: "/items/0", Problem: wrongType("boolean", "object")},
		`{"properties":{"a/b":{"type":"text"}}}`:  {Pointer: "/properties/a~1b/type", Problem: Problem{Keyword: "enum", Want: types}},
		`{"type":["null","text"]}`:                {Pointer: "/type/1", Problem: Problem{Keyword: "enum", Want: types}},
		`{"type":["null","null"]}`:                {Pointer: "/type", Problem: Problem{Keyword: "uniqueItems"}},
		`{"maxLength":-1}`:                        {Pointer: "/maxLength", Problem: atLeast("0")},
		`{"maxLength":1.5}`:                       {Pointer: "/maxLength", Problem: wrongType("integer")},
		`{"maximum":1e401}`:                       {Pointer: "/maximum", Problem: Problem{Keyword: False}},
		`{"multipleOf":0}`:                        {Pointer: "/multipleOf", Problem: Problem{Keyword: "exclusiveMinimum", Want: json.Number("0")}},
		`{"enum":[]}`:                             {Pointer: "/enum", Problem: Problem{Keyword: "minItems", Want: 1}},
		`{"enum":[1,1.0]}`:                        {Pointer: "/enum", Problem: Problem{Keyword: "uniqueItems"}},
		`{"required":["a","a"]}`:                  {Pointer: "/required", Problem: Problem{Keyword: "uniqueItems"}},
		`{"allOf":[{"pattern":"(?=a)"}]}`:         {Pointer: "/allOf/0/pattern", Reason: Pattern, Text: "(?=a)"},
		`{"patternProperties":{"(":{}}}`:          {Pointer: "/patternProperties/(", Reason: Pattern, Text: "("},
		`{"not":{"$ref":"http://x/y#/z"}}`:        {Pointer: "/not/$ref", Reason: Remote, Text: "http://x/y#/z"},
		`{"definitions":{"a":{"$ref":"x.json"}}}`: {Pointer: "/definitions/a/$ref", Reason: Remote, Text: "x.json"},
		`{"$ref":"#anchor"}`:                      {Pointer: "/$ref", Reason: Remote, Text: "#anchor"},
		`{"$ref":""}`:                             {Pointer: "/$ref", Reason: Remote},
		`{"$ref":"#/definitions/a"}`:              {Pointer: "/$ref", Reason: Lost, Text: "#/definitions/a"},
		`{"$ref":"#/x/01","x":[true,true]}`:       {Pointer: "/$ref", Reason: Lost, Text: "#/x/01"},
		`{"$ref":"#/required","required":["a"]}`: {
			Pointer: "/required", Problem: Problem{Keyword: "type", Want: []string{"boolean", "object"}, Kind: "array"},
		},
		`{"items":{"$id":"http://x/"}}`: {Pointer: "/items/$id", Reason: ID, Text: "http://x/"},

		`{"$schema":"http://json-schema.org/draft-04/schema#"}`: {
			Pointer: "/$schema", Reason: Draft, Text: "http://json-schema.org/draft-04/schema#",
		},
	} {
		_, err := Compile(decoded(t, schema))
		var got *Error
		if !errors.As(err, &got) {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		if pointer(got.Problem.Path) != got.Pointer && got.Reason == Malformed {
			t.Errorf("%s: the path %q is not %q", schema, got.Problem.Path, got.Pointer)
		}
		got.Problem.Path = nil
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", schema, diff)
		}
		if text := got.Error(); !strings.Contains(text, "#"+want.Pointer) || !strings.Contains(text, want.Text) {
			t.Errorf("%s: %q", schema, text)
		}
	}
	deep := any(true)
	for n := 1; n <= maxDepth+1; n++ {
		deep = map[string]any{"not": deep}
		var wrong *Error
		if _, err := Compile(deep); errors.As(err, &wrong) != (n > maxDepth) || wrong != nil && wrong.Reason != Deep {
			t.Errorf("a schema of %d levels: %v", n, err)
		}
	}
}

func TestAReferenceThatLeadsBackEndsAsAProblem(t *testing.T) {
	for _, text := range []string{
		`{"$ref":"#"}`,
		`{"allOf":[{"$ref":"#/definitions/a"}],"definitions":{"a":{"$ref":"#/definitions/b"},"b":{"allOf":[{"$ref":"#/definitions/a"}]}}}`,
		`{"dependencies":{"a":{"$ref":"#"}}}`,
	} {
		got := compiled(t, text).Validate(decoded(t, `{"a":1}`))
		if len(got) != 1 || got[0].Keyword != "$ref" {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// twins is a schema whose work doubles at each level of the document.
const twins = `{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["b"]},{"properties":{"a":{"$ref":"#"}},"required":["b"],"title":"again"}]}`

func TestASchemaThatDoublesAtEachLevelIsGivenUp(t *testing.T) {
	s := compiled(t, twins)
	document := decoded(t, strings.Repeat(`{"b":1,"a":`, 60)+`{}`+strings.Repeat(`}`, 60))
	want := []Problem{{Keyword: Exhausted}}
	if diff := cmp.Diff(want, s.Validate(document)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	inverse := compiled(t, `{"not":{"$ref":"#/definitions/t"},"definitions":{"t":`+strings.ReplaceAll(twins, `"#"`, `"#/definitions/t"`)+`}}`)
	if diff := cmp.Diff(want, inverse.Validate(document)); diff != "" {
		t.Errorf("giving up is no verdict that could be turned round (-want +got):\n%s", diff)
	}
}

func TestADeepDocumentAndManyProblemsEnd(t *testing.T) {
	s := compiled(t, `{"items":{"$ref":"#"}}`)
	v := any([]any{})
	for range 20000 {
		v = []any{v}
	}
	if problems := s.Validate(v); problems != nil {
		t.Errorf("%+v", problems[0].Keyword)
	}
	for n, want := range map[int]int{maxProblems - 1: maxProblems - 1, maxProblems: maxProblems, maxProblems + 1: maxProblems, 10_000: maxProblems} {
		if got := compiled(t, `{"items":false}`).Validate(make([]any, n)); len(got) != want {
			t.Errorf("%d problems of %d", len(got), n)
		}
	}
}

func TestWhatIsNoJSONFitsNothing(t *testing.T) {
	s := compiled(t, `{}`)
	for _, v := range []any{json.Number("1e999999999"), json.Number("0x3"), json.Number(""), struct{}{}, []string{"3"}, 3} {
		if s.Validate(v) == nil {
			t.Errorf("%v fits", v)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		twins, `{"$ref":"#/definitions/a","definitions":{"a":{"items":[{"$ref":"#"}],"uniqueItems":true}}}`, `{"type":["string"],"pattern":"^a","enum":[1e5]}`,
		`{"properties":{"a":{"multipleOf":0.01,"if":true,"then":{"const":1}}},"dependencies":{"a":["b"]},"propertyNames":{"maxLength":1}}`,
	} {
		f.Add([]byte(text), []byte(`{"a":[1,{"b":"c"}],"b":1e2}`))
	}
	f.Fuzz(func(t *testing.T, schema, document []byte) {
		s, wrongSchema := decode(schema)
		v, wrongDocument := decode(document)
		if wrongSchema != nil || wrongDocument != nil {
			return
		}
		c, err := Compile(s)
		var wrong *Error
		if err != nil {
			if !errors.As(err, &wrong) || wrong.Error() == "" {
				t.Fatalf("%s: %v", schema, err)
			}
			return
		}
		if diff := cmp.Diff(c.Validate(v), c.Validate(v)); diff != "" {
			t.Fatalf("%s is judged in two ways by %s:\n%s", document, schema, diff)
		}
	})
}

func TestArgumentsOfACallAreReadOrTheirFaultsAreNamed(t *testing.T) {
	s, err := Read([]byte(`{"type":"object","required":["a"],"additionalProperties":false,"properties":{
		"a":{"type":"string","minLength":1},"b":{"type":["integer","null"],"minimum":1,"maximum":9},"c":{"enum":["x",2]},"d":{"type":"boolean"},
		"e":{"type":"array","maxItems":1,"items":{"type":"object","required":["n"],"properties":{"n":{"type":"string","maxLength":1}}}}}}`))
	testkit.Must(t, err)
	const invalid = "Error: the arguments of tool are not valid: "
	for args, want := range map[string]string{
		``: invalid + `"a" is missing, add it.`, `null`: invalid + `"a" is missing, add it.`, `[]`: invalid + "the arguments must be one JSON object.",
		`{"a":""}`: invalid + "a must not be empty.", `{"a":"x","b":0}`: invalid + "b must be at least 1.", `{"a":"x","b":10}`: invalid + "b must be at most 9.",
		`{"a":"x","b":"y"}`: invalid + "b must be of type null or integer, not string.", `{"a":"x","c":3}`: invalid + "c must be one of x, 2.",
		`{"a":"x","z":1}`: invalid + "z is no field that is known, leave it out.", `{"a":"x","e":[{"n":"a"},{"n":"b"}]}`: invalid + "e may hold at most 1, not 2.",
		`{"a":"x","e":[{}]}`: invalid + `"n" is missing in e[0], add it.`, `{"a":"x","e":[{"n":"ab"}]}`: invalid + "e[0].n is out of bounds, write it smaller.",
		`{"b":0,"c":3,"d":1,"y":1,"z":1,"zz":1}`: invalid + `"a" is missing, add it; b must be at least 1; c must be one of x, 2; d must be of type boolean, not number; ` +
			"y is no field that is known, leave it out.",
		`{"a":"x"`: "Error: the arguments of tool cannot be read (unexpected EOF). Send one JSON object.",
		`{} {}`:    "Error: the arguments of tool cannot be read (something follows the value). Send one JSON object.",
		`{"a":"` + strings.Repeat("x", 1016) + `"}`: "", `{"a":"` + strings.Repeat("x", 1017) + `"}`: "Error: the arguments of tool are larger than 1 KiB. Shorten them.",
	} {
		if _, problem := s.Arguments("tool", json.RawMessage(args), 1024); problem != want {
			t.Errorf("%.40s: %s\nwant %s", args, problem, want)
		}
	}
	a, problem := s.Arguments("tool", json.RawMessage(`{"a":"x","b":5.0,"d":true,"e":[{"n":"y"}]}`), 1024)
	got := fmt.Sprint(a.Text("a"), a.Text("b"), a.Text("z"), a.Number("b"), a.Number("a"), a.Flag("d"), a.Flag("a"), a.List("e")[0].Text("n"), len(a.List("e")), len(a.List("a")), problem)
	if want := fmt.Sprint("x", "", "", 5, 0, true, false, "y", 1, 0, ""); got != want {
		t.Errorf("read as %s, want %s", got, want)
	}
	for text, reason := range map[string]string{`{`: "unexpected EOF", `{"type":7}`: `schema at "#/type": is not what draft 7 allows`} {
		if _, err := Read([]byte(text)); err == nil || err.Error() != reason {
			t.Errorf("%s is read as a schema: %v", text, err)
		}
	}
}
