// # Why not a library
//
// Payloads of webhooks and arguments of tools are checked by one validator of draft 7; whether a
// schema is well-formed, a schema decides. google/jsonschema-go reports only the first problem,
// as a sentence that quotes the payload; a reference to itself overflows its stack, which no
// recover catches; a schema that doubles at each level never ends; and 0.29 is not a multiple of
// 0.01. santhosh-tekuri/jsonschema knows positions, but costs each start about 4 ms. It is the
// second opinion in the tests.
package schema
