// Package schema implements JSON Schema, draft 7: a schema is compiled once, then
// validates webhook payloads and tool arguments. It supports every assertion of the draft
// and references within the schema itself; formats and content are annotations only. It
// must not know webhooks, tools, YAML, files or networks: it takes decoded values, never
// resolves an address, and its problems never contain a value of the validated document.
// ARCHITECTURE.md says why no library is used.
//
// # Why not a library
//
// Webhook payloads and tool arguments are checked by a single draft 7 validator; whether
// a schema is well-formed is itself checked with a schema. google/jsonschema-go reports
// only the first problem, as a sentence that quotes the payload; a self-reference
// overflows its stack, which recover cannot catch; a schema that doubles at each level
// never terminates; and 0.29 is not a multiple of 0.01. santhosh-tekuri/jsonschema
// reports positions, but costs about 4 ms at each start. It is the second opinion in the
// tests.
package schema
