// Package frontmatter reads, writes and changes markdown files that begin with YAML keys, and reads
// files of YAML or JSON: values with their positions. It owns their syntax and the messages about
// mistakes in it. It must not know what the keys mean, or where the files are.
//
// # Slips, then the YAML library
//
// The library reads everything. Before it does, the lines are searched for the mistakes that people
// make: the library reports where it gave up, not where the mistake is, and reads some of them as
// values. Scalars are text: an unquoted ID such as 12e45678 must not become a number.
package frontmatter
