// Package schema owns JSON Schema, draft 7: a schema is read once, then held
// against payloads of webhooks and arguments of tools. It knows every assertion
// of the draft and references into the schema itself; formats and content are
// notes to it. It must not know webhooks, tools, YAML, files or networks: it
// takes decoded values, never follows an address, and no problem that it
// reports holds a value of the document it judged. ARCHITECTURE.md says why no
// library does this.
//
// # Why not a library
//
// Payloads of webhooks and arguments of tools are checked by one validator of draft 7; whether a
// schema is well-formed, a schema decides. google/jsonschema-go reports only the first problem,
// as a sentence that quotes the payload; a reference to itself overflows its stack, which no
// recover catches; a schema that doubles at each level never ends; and 0.29 is not a multiple of
// 0.01. santhosh-tekuri/jsonschema knows positions, but costs each start about 4 ms. It is the
// second opinion in the tests.
package schema
