package webhook

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestZZDump(t *testing.T) {
	var b strings.Builder
	for _, f := range []string{
		"{type: text}", "{type: 5}", "{type: []}", "{type: [text]}", "{type: [string, string]}", "{title: 5}", "{description: null}", "{multipleOf: 0}", "{multipleOf: x}", "{maxLength: -1}", "{minLength: -1}", "{minLength: 1.5}",
		"{pattern: 5}", "{pattern: '('}", "{items: x}", "{items: [5]}", "{items: []}", "{required: [1]}", "{required: x}", "{required: [a, a]}", "{properties: [a]}", "{properties: {a: 5}}", "{properties: {a: {properties: {b: {items: {type: 7}}}}}}",
		"{dependencies: {a: [1]}}", "{dependencies: {a: 1}}", "{dependencies: {a: [b, b]}}", "{enum: x}", "{enum: []}", "{enum: [1, 1]}", "{const: null}", "{allOf: []}", "{anyOf: {}}", "{oneOf: [1]}", "{not: 1}", "{if: 1}", "{definitions: {a: {type: x}}}", "{$ref: '#/definitions/a', definitions: {a: {type: string}}, maxLength: x}",
		"{$ref: '#foo'}", "{$ref: 5}", "{$id: 5}", "{$comment: 5}", "{readOnly: 5}", "{examples: 5}", "{contentMediaType: 5}", "{contentEncoding: 5}", "{default: 5}", "{uniqueItems: 5}", "{minimum: x}", "{exclusiveMinimum: true}", "{maxItems: 1.0}", "{maxItems: 1e3}", "{patternProperties: {'(': {}}}", "{patternProperties: {a: 5}}", "{propertyNames: 5}", "{contains: 5}",
		"{additionalItems: 5}", "{additionalProperties: 5}", "{properties: {a: {$ref: '#/required'}}, required: [a]}", "{properties: {a: {$ref: '#/definitions/~2'}}}", "{properties: {a: {$ref: '#/definitions/%zz'}}}", "{definitions: {a: {$ref: '#/definitions/b'}}}", "{$ref: '#'}", "{properties: {a: {$ref: '#/x/y'}}, x: {y: {type: q}}}",
		"{format: 5}", "{$schema: 5}", "{$schema: 'http://json-schema.org/draft-07/schema#'}", "{writeOnly: 5}", "{$id: 'http://x/y', properties: {a: {$ref: '#/definitions/b'}}, definitions: {b: {$id: '#foo', type: string}}}", "{definitions: {b: {$id: 'http://z/', type: string}}}", "{allOf: [{$ref: 'x'}]}", "{$ref: '#/properties', properties: {type: string}}",
	} {
		_, problems := Parse("webhooks/x.md", []byte("---\nid: x\nfields: "+f+"\n---\nGo\n"))
		fmt.Fprintf(&b, "%s\n", f)
		for _, p := range problems {
			fmt.Fprintf(&b, "    %d:%d %s %s\n", p.Line, p.Column, p.Severity, p.Message)
		}
	}
	for _, c := range [][2]string{
		{
			"{properties: {a: false, b: {not: {}}, c: {oneOf: [true, true]}, d: {uniqueItems: true}, e: {multipleOf: 2}, f: {minProperties: 1}, g: {maxProperties: 0}, h: {contains: {type: string}}, i: {items: [true], additionalItems: false}, j: {items: false}}}",
			`{"a":1,"b":1,"c":1,"d":[1,1.0],"e":3,"f":{},"g":{"x":1},"h":[1,2],"i":[1,2,3],"j":[1,2]}`,
		},
		{"{properties: {a: {$ref: '#/definitions/p'}}, definitions: {p: {allOf: [{minLength: 3}, {pattern: x}, {type: [integer, string]}]}}}", `{"a":"h"}`},
		{"{properties: {a: {type: [string, 'null', integer, number]}}, minProperties: 3, propertyNames: {maxLength: 1}, dependencies: {a: [b, c], bbb: {required: [d]}}}", `{"a":{},"bbb":1}`},
		{"{if: {required: [a]}, then: {required: [b, c]}, else: {required: [d]}}", `{"a":1}`},
		{"{if: {required: [a]}, then: {required: [b, c]}, else: {required: [d]}}", `{}`},
		{"{properties: {a: {$ref: '#'}}, additionalProperties: false, required: [a]}", `{"a":{"a":{"b":1}}}`},
		{"{$ref: '#'}", `{"a":1}`},
		{"{properties: {a: {enum: [1.0, x, null, true, [1, {b: 2}]]}, b: {exclusiveMinimum: 1, exclusiveMaximum: 0}, c: {additionalProperties: {type: string}}}}", `{"a":2,"b":1,"c":{"x":1,"y\u0007":2}}`},
		{"{patternProperties: {'^a': {type: string}, 'b$': {maxLength: 1}}, additionalProperties: false}", `{"ab":"xx","ac":1,"c":1}`},
		{"{properties: {a: {items: {maxItems: 1, minItems: 3, items: {minimum: 2, maximum: 1}}}}}", `{"a":[[1,2],[5]]}`},
	} {
		s := parsed(t, "---\nid: x\nfields: "+c[0]+"\n---\nGo\n")
		_, err := s.Check([]byte(c[1]))
		fmt.Fprintf(&b, "%s %s\n", c[0], c[1])
		if r, ok := err.(*RefusedError); ok {
			for _, d := range r.Details {
				fmt.Fprintf(&b, "    %s\n", d)
			}
		}
	}
	if err := os.WriteFile(os.Getenv("DUMP"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
