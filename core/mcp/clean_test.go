package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/agent"
)

func TestTheToolsOfAServerAreCleanedForTheModelOrLeftOutWithAReason(t *testing.T) {
	destructive := true
	schema := func(text string) any { return json.RawMessage(text) }
	dot, plain := &sdk.Tool{Name: "a.b", Description: "Dotted."}, &sdk.Tool{Name: "a_b"}
	var heavy []*sdk.Tool // just more than is kept
	for i := range maxKept/maxDescription + 1 {
		heavy = append(heavy, &sdk.Tool{Name: fmt.Sprintf("t%04d", i), Description: strings.Repeat("x", maxDescription)})
	}
	for _, c := range []struct {
		name   string
		listed []*sdk.Tool
		want   []string
	}{
		{"by name", []*sdk.Tool{{Name: "b", Description: " Second.\x1b[1m "}, {Name: "a", Title: "First."}}, []string{"a: First. {\"type\":\"object\"}", "b: Second. {\"type\":\"object\"}"}},
		{
			"what it does",
			[]*sdk.Tool{{Name: "r", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, {Name: "s", Annotations: &sdk.ToolAnnotations{DestructiveHint: &destructive}}},
			[]string{"r (says that it only reads):  {\"type\":\"object\"}", "s (says that it may destroy):  {\"type\":\"object\"}"},
		},
		{"names that become one", []*sdk.Tool{dot, plain}, []string{"a_b:  {\"type\":\"object\"}", "a_b_2e7336dc: Dotted. {\"type\":\"object\"}"}},
		{"the same name twice", []*sdk.Tool{plain, plain}, []string{"a_b:  {\"type\":\"object\"}", "! its tool a_b has the same name as a_b and is left out"}},
		{"no name", []*sdk.Tool{nil, {Description: "x"}}, []string{"! it lists a tool without a name, which is left out", "! it lists a tool without a name, which is left out"}},
		{"a name of other letters", []*sdk.Tool{{Name: "日本"}}, []string{"tool:  {\"type\":\"object\"}"}},
		{
			"arguments",
			[]*sdk.Tool{{Name: "t", InputSchema: schema(`{"properties":{"x\u0007":{"description":"a\u001b[2Jb","enum":["c\u0007",1,null]}}}`)}},
			[]string{`t:  {"properties":{"x":{"description":"ab","enum":["c",1,null]}},"type":"object"}`},
		},
		{"arguments that are no object", []*sdk.Tool{{Name: "l", InputSchema: schema(`[]`)}, {Name: "s", InputSchema: schema(`{"type":"string"}`)}, {Name: "c", InputSchema: func() {}}}, []string{
			"! its tool l is left out: its arguments are described by something that is no object", "! its tool s is left out: its arguments are described by something that is no object",
			"! its tool c is left out: its arguments are described by something that is no object: json: unsupported type: func()",
		}},
		{
			"arguments too long to describe",
			[]*sdk.Tool{{Name: "t", InputSchema: map[string]any{"x": strings.Repeat("x", maxSchema)}}},
			[]string{"! its tool t is left out: its arguments are described in 32792 bytes, more than 32768"},
		},
	} {
		tools, remarks := cleanTools("server", c.listed)
		var got []string
		for _, one := range tools {
			hint := ""
			if h := one.Hint(); h != "" {
				hint = " (" + h + ")"
			}
			got = append(got, fmt.Sprintf("%s%s: %s %s", one.Name, hint, one.Description, one.Schema))
		}
		for _, r := range remarks {
			got = append(got, "! "+r)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	tools, remarks := cleanTools("server", heavy)
	size := maxDescription + len(`{"type":"object"}`)
	want := fmt.Sprintf("it offers %d tools with very long descriptions, of which the first %d are used", len(heavy), maxKept/size)
	if len(tools) != maxKept/size || !slices.Equal(remarks, []string{want}) {
		t.Errorf("of %d bytes each %d tools are used, %v", size, len(tools), remarks)
	}
}

func TestAModelReadsTheTextOfAResultAndTheNamesOfTheRest(t *testing.T) {
	of := func(all ...sdk.Content) *sdk.CallToolResult { return &sdk.CallToolResult{Content: all} }
	text := func(s string) sdk.Content { return &sdk.TextContent{Text: s} }
	long := strings.Repeat("x", maxResult)
	for name, c := range map[string]struct {
		result *sdk.CallToolResult
		want   agent.ToolResult
	}{
		"parts":                {of(text("one\x1b[1m"), text(""), text("two")), agent.ToolResult{Text: "one\ntwo"}},
		"nothing":              {of(), agent.ToolResult{Text: "(no content)"}},
		"an error":             {&sdk.CallToolResult{Content: []sdk.Content{text("no")}, IsError: true}, agent.ToolResult{Text: "no", IsError: true}},
		"a value":              {&sdk.CallToolResult{StructuredContent: map[string]any{"a": 1}}, agent.ToolResult{Text: `{"a":1}`}},
		"both":                 {&sdk.CallToolResult{Content: []sdk.Content{text("a is 1")}, StructuredContent: map[string]any{"a": 1}}, agent.ToolResult{Text: "a is 1"}},
		"the limit":            {of(text(long)), agent.ToolResult{Text: long}},
		"too long":             {of(text(long + "y")), agent.ToolResult{Text: long[:maxResult-1] + "…\n(cut after 100000 characters)"}},
		"a picture":            {of(&sdk.ImageContent{MIMEType: "image/png", Data: make([]byte, 2048)}), agent.ToolResult{Text: "[image, image/png, 2 kB: not shown]"}},
		"a sound":              {of(&sdk.AudioContent{MIMEType: "audio/ogg", Data: make([]byte, 2048)}), agent.ToolResult{Text: "[sound, audio/ogg, 2 kB: not shown]"}},
		"a file":               {of(&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{MIMEType: "a\x07/b", Blob: make([]byte, 2048)}}), agent.ToolResult{Text: "[file, a/b, 2 kB: not shown]"}},
		"its text":             {of(&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{Text: "in\x07side"}}), agent.ToolResult{Text: "inside"}},
		"no file":              {of(&sdk.EmbeddedResource{}), agent.ToolResult{Text: "(no content)"}},
		"a link":               {of(&sdk.ResourceLink{URI: "file:///x", Name: "a\nb"}), agent.ToolResult{Text: "[link a b: file:///x]"}},
		"a kind of the future": {of(struct{ sdk.Content }{}), agent.ToolResult{Text: "[content of a kind that is not known: not shown]"}},
	} {
		if got := result(c.result); got.Text != c.want.Text || got.IsError != c.want.IsError {
			t.Errorf("%s: %.200q, %t", name, got.Text, got.IsError)
		}
	}
}
