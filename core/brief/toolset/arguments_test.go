package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// library compiles a tool's schema with a full implementation of JSON Schema.
func library(t testing.TB, tool string) *jsonschema.Schema {
	t.Helper()
	data, err := schemaFiles.ReadFile("schemas/" + tool + ".json")
	testkit.Must(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	testkit.Must(t, err)
	c := jsonschema.NewCompiler()
	testkit.Must(t, c.AddResource(tool, doc))
	s, err := c.Compile(tool)
	testkit.Must(t, err)
	return s
}

// knownWords are the keywords that faults are worded for.
type knownWords struct {
	Type, Description   string
	Required            []string
	Properties          map[string]*knownWords
	Items               *knownWords
	MinLength, MaxItems int
	Minimum, Maximum    float64
}

func TestEverySchemaIsValidAndFullyChecked(t *testing.T) {
	all, err := schemas()
	testkit.Must(t, err)
	for _, tool := range tools {
		library(t, tool.name)
		data, err := schemaFiles.ReadFile("schemas/" + tool.name + ".json")
		testkit.Must(t, err)
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&knownWords{}); err != nil {
			t.Errorf("%s asks for what no answer explains: %v", tool.name, err)
		}
		if all[tool.name].Validate([]any{}) == nil {
			t.Errorf("%s takes what is no object", tool.name)
		}
	}
}

// Our validation and a full implementation agree on all arguments.
func TestPropertyTheCheckAgreesWithJSONSchema(t *testing.T) {
	compiled := map[string]*jsonschema.Schema{}
	for _, tool := range tools {
		compiled[tool.name] = library(t, tool.name)
	}
	keys := []string{
		"message", "title", "critical", "fields", "buttons", "minutes_from_now", "prompt", "run_at", "delay_minutes",
		"reminder_id", "max_chain", "foreground", "description", "topic", "idle_timeout", "file_path", "user_name", "bot_name", "unknown",
	}
	values := []string{
		`1`, `0`, `-1`, `1.0`, `2.5`, `1e2`, `99999999`, `""`, `"x"`, `"é"`, `null`, `true`, `[]`, `{}`,
		`[{"name":"a","value":"b"}]`, `[{"name":"a"}]`, `[{"name":1,"value":"b","inline":"no"}]`, `[{"label":"a","action":"b","style":1}]`, `[1,2,3,4,5,6]`,
	}
	testkit.Check(t, func(rt *rapid.T) {
		tool := tools[rapid.IntRange(0, len(tools)-1).Draw(rt, "tool")].name
		object := map[string]json.RawMessage{}
		for range rapid.IntRange(0, 5).Draw(rt, "n") {
			object[rapid.SampledFrom(keys).Draw(rt, "key")] = json.RawMessage(rapid.SampledFrom(values).Draw(rt, "value"))
		}
		args, err := json.Marshal(object)
		if err != nil {
			rt.Fatal(err)
		}
		if rapid.IntRange(0, 9).Draw(rt, "other") == 0 {
			args = []byte(rapid.SampledFrom(values).Draw(rt, "whole"))
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
		if err != nil {
			rt.Fatal(err)
		}
		if doc == nil {
			doc = map[string]any{} // null is a call without arguments
		}
		want := compiled[tool].Validate(doc)
		_, got := read(tool, args)
		if (want == nil) != (got == "") {
			rt.Fatalf("%s %s\nlibrary: %v\nours:    %s", tool, args, want, got)
		}
	})
}

func TestOfManyFaultsFiveAreNamed(t *testing.T) {
	var fields []string
	for range 50 {
		fields = append(fields, `{"name":1}`)
	}
	_, got := read(DiscordEmbed, json.RawMessage(fmt.Sprintf(`{"title":1,"fields":[%s]}`, strings.Join(fields, ","))))
	if n := strings.Count(got, ";"); n != 4 || len(got) > 600 {
		t.Errorf("%d faults in %d bytes: %s", n+1, len(got), got)
	}
	if _, got := read(PingUser, json.RawMessage(`{"message":"x"} {}`)); !strings.Contains(got, "cannot be read") {
		t.Errorf("two objects: %q", got)
	}
}
