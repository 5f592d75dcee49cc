package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// library compiles a schema with a full implementation of the draft.
func library(schema any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	if err := c.AddResource("test:///schema", schema); err != nil {
		return nil, err
	}
	return c.Compile("test:///schema")
}

// flat returns the problems found by the library as path and keyword. As in our code,
// everything that fails in a choice between schemas is one problem.
func flat(e *jsonschema.ValidationError) []string {
	at := pointer(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		var list []string
		for _, c := range e.Causes {
			list = append(list, flat(c)...)
		}
		return list
	case *kind.Required:
		var list []string
		for _, name := range k.Missing {
			list = append(list, at+pointer([]string{name})+" required")
		}
		return list
	case *kind.AdditionalProperties:
		var list []string
		for _, name := range k.Properties {
			list = append(list, at+pointer([]string{name})+" additionalProperties")
		}
		return list
	case *kind.PropertyNames:
		return []string{"propertyNames"} // the library modifies its path afterwards
	case *kind.Dependency:
		return []string{at + " dependencies"}
	case *kind.Not:
		return []string{at + " not"}
	case *kind.RefCycle:
		return []string{at + " $ref"}
	}
	return []string{at + " " + strings.Join(e.ErrorKind.KeywordPath(), "/")}
}

func ours(problems []Problem) []string {
	var list []string
	for _, p := range problems {
		if p.Keyword == "propertyNames" {
			list = append(list, p.Keyword)
			continue
		}
		list = append(list, pointer(p.Path)+" "+p.Keyword)
	}
	return list
}

func sorted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// Names, texts and numbers come from small sets, so that schemas and documents often
// match.
var (
	someNamesOfTests = []string{"a", "b", "ab", "~/", "é"}
	someTexts        = []string{"", "a", "ab", "é", "日本語", "abab", "1"}
	someNumbers      = []string{"0", "-0", "1", "1.0", "10e-1", "2", "3", "-1", "1.5", "0.1", "0.3", "1e3", "9007199254740993", "9007199254740992", "1e-20"}
	someCounts       = []string{"0", "1", "2", "2.0", "3"}
	somePatterns     = []string{"a", "^a", "b$", "^$", "^.{2}$", "é"}
	someReferences   = []string{"#", "#/definitions/p", "#/definitions/q", "#/properties/a", "#/definitions/%70", "#/allOf/0", "#/properties/~0~1", "#/definitions/lost"}
	keywordsOfTests  = []string{
		"type", "type", "enum", "const", "properties", "properties", "required", "additionalProperties", "patternProperties",
		"propertyNames", "minProperties", "maxProperties", "dependencies", "items", "items", "additionalItems", "contains",
		"minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "multipleOf", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "definitions", "title", "default",
	}
)

func drawValue(t *rapid.T, depth int) any {
	most := 6
	if depth <= 0 {
		most = 4
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.SampledFrom(someTexts).Draw(t, "text")
	case 3, 4:
		return json.Number(rapid.SampledFrom(someNumbers).Draw(t, "number"))
	case 5:
		list := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "names") {
		object[rapid.SampledFrom(someNamesOfTests).Draw(t, "name")] = drawValue(t, depth-1)
	}
	return object
}

func drawSchema(t *rapid.T, depth int) any {
	if depth <= 0 || rapid.IntRange(0, 9).Draw(t, "plain") == 0 {
		return rapid.SampledFrom([]any{true, false, map[string]any{}, map[string]any{"type": "string"}, map[string]any{"type": "integer"}}).Draw(t, "leaf")
	}
	schema := map[string]any{}
	for range rapid.IntRange(1, 4).Draw(t, "keywords") {
		k := rapid.SampledFrom(keywordsOfTests).Draw(t, "keyword")
		if k == "items" {
			schema["additionalItems"] = drawSchema(t, depth-1)
		}
		if k == "if" {
			schema["then"], schema["else"] = drawSchema(t, depth-1), drawSchema(t, depth-1)
		}
		schema[k] = drawKeyword(t, k, depth)
	}
	beside(schema)
	return schema
}

// beside removes what the library, unlike the draft, does not ignore next to a reference.
func beside(schema map[string]any) {
	if _, ok := schema["$ref"].(string); ok {
		for _, keyword := range []string{"const", "contains", "propertyNames", "if"} {
			delete(schema, keyword)
		}
	}
}

func drawKeyword(t *rapid.T, keyword string, depth int) any {
	inner := func() any { return drawSchema(t, depth-1) }
	switch keyword {
	case "title":
		return "some words"
	case "uniqueItems":
		return rapid.Bool().Draw(t, "flag")
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return json.Number(rapid.SampledFrom(someNumbers).Draw(t, "number"))
	case "multipleOf":
		return json.Number(rapid.SampledFrom([]string{"1", "0.1", "0.5", "2", "1e-20", "3e2"}).Draw(t, "positive"))
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return json.Number(rapid.SampledFrom(someCounts).Draw(t, "count"))
	case "pattern":
		return rapid.SampledFrom(somePatterns).Draw(t, "pattern")
	case "required":
		return drawNames(t)
	case "enum":
		list := []any{drawValue(t, 1)}
		if second := drawValue(t, 1); string(appendCanonical(nil, second)) != string(appendCanonical(nil, list[0])) {
			list = append(list, second)
		}
		return list
	case "type":
		all := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"array", "boolean", "integer", "null", "number", "object", "string"}), 1, 3, rapid.ID[string]).Draw(t, "types")
		if len(all) == 1 {
			return all[0]
		}
		return anys(all)
	case "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "additionalItems":
		return inner()
	case "allOf", "anyOf", "oneOf":
		return []any{inner(), inner()}
	case "items":
		if rapid.Bool().Draw(t, "several") {
			return []any{inner(), inner()}
		}
		return inner()
	case "definitions":
		return map[string]any{"p": inner(), "q": inner()}
	case "properties":
		return drawNamed(t, someNamesOfTests, inner)
	case "patternProperties":
		return drawNamed(t, somePatterns, inner)
	case "dependencies":
		return drawNamed(t, someNamesOfTests, func() any {
			if rapid.Bool().Draw(t, "list") {
				return drawNames(t)
			}
			return inner()
		})
	case "$ref":
		return rapid.SampledFrom(someReferences).Draw(t, "reference")
	}
	return drawValue(t, 1)
}

func drawNames(t *rapid.T) any {
	return anys(rapid.SliceOfNDistinct(rapid.SampledFrom(someNamesOfTests), 0, 2, rapid.ID[string]).Draw(t, "names"))
}

func drawNamed(t *rapid.T, names []string, inner func() any) any {
	object := map[string]any{}
	for range rapid.IntRange(1, 3).Draw(t, "schemas") {
		object[rapid.SampledFrom(names).Draw(t, "name")] = inner()
	}
	return object
}

func anys(list []string) []any {
	all := []any{}
	for _, one := range list {
		all = append(all, one)
	}
	return all
}

// drawRoot draws a schema whose references may have targets.
func drawRoot(t *rapid.T) any {
	root := drawSchema(t, 3)
	object, ok := root.(map[string]any)
	if !ok {
		return root
	}
	if _, has := object["definitions"]; !has {
		object["definitions"] = drawKeyword(t, "definitions", 3)
	}
	return object
}

func shown(t *rapid.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Both find the same problems at the same places, for any schema and document.
func TestPropertyOurVerdictIsThatOfTheDraft(t *testing.T) {
	seen := map[string]int{}
	testkit.Check(t, func(t *rapid.T) {
		schema := drawRoot(t)
		mine, err := Compile(schema)
		theirs, theirErr := library(schema)
		if (err == nil) != (theirErr == nil) {
			t.Fatalf("%s\nours: %v\nthe library: %v", shown(t, schema), err, theirErr)
		}
		if err != nil {
			seen["refused schemas"]++
			return
		}
		for range 5 {
			document := drawValue(t, 3)
			problems := mine.Validate(document)
			if len(problems) == 1 && problems[0].Keyword == Exhausted {
				continue // the library would take just as many steps
			}
			var want []string
			var wrong *jsonschema.ValidationError
			if err := theirs.Validate(document); errors.As(err, &wrong) {
				want = flat(wrong)
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sorted(want), sorted(ours(problems))); diff != "" || (len(want) == 0) != (len(problems) == 0) {
				t.Fatalf("%s\n%s\n(-library +ours):\n%s", shown(t, schema), shown(t, document), diff)
			}
			for _, w := range sorted(want) {
				seen[w[strings.LastIndexByte(w, ' ')+1:]]++
			}
			if len(want) == 0 {
				seen["valid"]++
			}
		}
	})
	t.Log(seen)
	if !t.Failed() && (seen["valid"] == 0 || len(seen) < 5) {
		t.Errorf("the property saw too little: %v", seen)
	}
}

// Both reject the same schemas, wherever the invalid part is.
func TestPropertyWhatWeReadIsWhatTheDraftAllows(t *testing.T) {
	all := append(slices.Clone(keywordsOfTests), "title", "$comment", "readOnly", "writeOnly", "examples", "contentMediaType", "contentEncoding", "description", "other")
	taken, refused := 0, 0
	testkit.Check(t, func(t *rapid.T) {
		root, ok := drawRoot(t).(map[string]any)
		if !ok {
			return
		}
		holder := root
		for range rapid.IntRange(0, 3).Draw(t, "levels") {
			for _, key := range slices.Sorted(maps.Keys(holder)) {
				if inner, ok := holder[key].(map[string]any); ok && rapid.Bool().Draw(t, "into "+key) {
					holder = inner
					break
				}
			}
		}
		junk := drawValue(t, 2)
		if text, ok := junk.(string); ok && text != "" {
			junk = rapid.SampledFrom([]string{"(", "string", "#/definitions/p", "#/title"}).Draw(t, "words")
		}
		holder[rapid.SampledFrom(all).Draw(t, "where")] = junk
		beside(holder)
		if words, ok := holder["$ref"].(string); ok && !strings.HasPrefix(words, "#") {
			return // the library would resolve it
		}
		_, err := Compile(root)
		_, theirErr := library(root)
		if (err == nil) != (theirErr == nil) {
			t.Fatalf("%s\nours: %v\nthe library: %v", shown(t, root), err, theirErr)
		}
		if err == nil {
			taken++
		} else {
			refused++
		}
	})
	if !t.Failed() && (taken == 0 || refused == 0) {
		t.Errorf("%d were taken and %d refused: the property saw too little", taken, refused)
	}
	t.Logf("%d taken, %d refused", taken, refused)
}
